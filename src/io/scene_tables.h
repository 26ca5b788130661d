// The keys of the scene format as data: one table per kind of JSON object. The tables are used to check a
// scene, to fill in defaults, to suggest the right word for a wrong one, and to describe the format to people
// and other programs.
#ifndef FLO_IO_SCENE_TABLES_H
#define FLO_IO_SCENE_TABLES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// The permitted types of a value; several may be combined. Every number may also be text: an expression over
// the scene's constants.
typedef enum FloSceneType {
  FLO_SCENE_NUMBER = 1 << 0,
  FLO_SCENE_INTEGER = 1 << 1,
  FLO_SCENE_BOOLEAN = 1 << 2,
  FLO_SCENE_TEXT = 1 << 3,
  FLO_SCENE_NAME = 1 << 4,   // short text that can be the name of a column or a file
  FLO_SCENE_PAIR = 1 << 5,   // two numbers
  FLO_SCENE_VECTOR = 1 << 6, // as many numbers as the scene has dimensions
  FLO_SCENE_TRIPLE = 1 << 7, // three numbers, whatever the dimension
  FLO_SCENE_FIELD = 1 << 8,  // a vector whose components may be expressions in x, y and z
  FLO_SCENE_OBJECT = 1 << 9, // described by `table`
  FLO_SCENE_LIST =
      1 << 10, // of objects described by `table`; a word of `choices` is short for { word: true }
  FLO_SCENE_MAP =
      1 << 11, // names, each with an object described by `table`, or with a number if that is NULL
  FLO_SCENE_SPECIAL = 1 << 12, // read by separate code and removed before the tables are used
  FLO_SCENE_COUNTS = 1 << 13,  // as many whole numbers as the scene has dimensions
  FLO_SCENE_POINTS = 1 << 14,  // a list of pairs of numbers
  FLO_SCENE_CORNERS = 1 << 15, // two opposite corners of a box, each a vector
  FLO_SCENE_COLOUR = 1 << 16,  // text such as "#3355ff"; with FLO_SCENE_TEXT the words of `choices`, too
} FloSceneType;

typedef struct FloSceneRange {
  double low, high;
  bool is_open;       // low itself is not permitted (only values above it)
  bool includes_zero; // zero is permitted too, even if it is below low
} FloSceneRange;

// How a value changes when its entry is moved and rotated as a whole, as an instance or as part of a group.
typedef enum FloSceneFrame {
  FLO_FRAME_NONE,      // it does not change
  FLO_FRAME_PLACE,     // position of a shape: see flo_scene_read_shape
  FLO_FRAME_POINT,     // moved and turned
  FLO_FRAME_BOX,       // two corners: moved, and turned by right angles only
  FLO_FRAME_DIRECTION, // turned
  FLO_FRAME_AXES,      // letters of axes: turned with a group
  FLO_FRAME_UPRIGHT,   // rotated; if missing, it is the direction against gravity
  FLO_FRAME_TURN,      // a rotation: combined with that of the entry
} FloSceneFrame;

typedef struct FloSceneKey {
  const char *name;
  unsigned types;      // FloSceneType, joined
  FloSceneRange range; // of each number in the value
  const char *unit;    // NULL: none
  const char *help;
  bool is_required;
  const char *fallback;       // default as JSON text; NULL: no default
  json_t *(*library)(void);   // or a function that returns the library's default
  const char *const *choices; // permitted words, ended by NULL; NULL: any text
  const struct FloSceneTable *table;
  FloSceneFrame frame;
} FloSceneKey;

enum { FLO_SCENE_MAX_ALTERNATIVES = 28 };

typedef struct FloSceneTable {
  const char *name; // what the object is, as in "a fluid"
  const FloSceneKey *keys;
  size_t n_keys;
  // Keys of which an object must have exactly one, may have at most one, must have at least one.
  const char *exactly_one[FLO_SCENE_MAX_ALTERNATIVES];
  const char *at_most_one[FLO_SCENE_MAX_ALTERNATIVES];
  const char *at_least_one[FLO_SCENE_MAX_ALTERNATIVES];
  // The same for a second, independent group of keys.
  const char *also_exactly_one[FLO_SCENE_MAX_ALTERNATIVES];
  const char *also_at_most_one[FLO_SCENE_MAX_ALTERNATIVES];
  bool has_parameters; // further keys are the parameters of the chosen method
} FloSceneTable;

// The whole scene. Every other table is reached from here.
extern const FloSceneTable flo_scene_table;
// A joint.
extern const FloSceneTable flo_scene_joint_table;

// NULL if the table has no such key.
const FloSceneKey *flo_scene_find_key(const FloSceneTable *table, const char *name);

#endif
