// The words of the scene format as data: one table per kind of JSON object. The same tables check a scene,
// fill in its defaults, suggest the right word for a wrong one, and describe the format to readers and to
// other programs.
#ifndef FLO_IO_SCENE_TABLES_H
#define FLO_IO_SCENE_TABLES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// What a value may be; several may be joined. Every number may also be text: an expression over the scene's
// constants.
typedef enum FloSceneType {
  FLO_SCENE_NUMBER = 1 << 0,
  FLO_SCENE_INTEGER = 1 << 1,
  FLO_SCENE_BOOLEAN = 1 << 2,
  FLO_SCENE_TEXT = 1 << 3,
  FLO_SCENE_NAME = 1 << 4,   // short text that may head a column or name a file
  FLO_SCENE_PAIR = 1 << 5,   // two numbers
  FLO_SCENE_VECTOR = 1 << 6, // as many numbers as the scene has dimensions
  FLO_SCENE_TRIPLE = 1 << 7, // three numbers, whatever the dimension
  FLO_SCENE_FIELD = 1 << 8,  // a vector whose components may be expressions in x, y and z
  FLO_SCENE_OBJECT = 1 << 9, // described by `table`
  FLO_SCENE_LIST = 1 << 10,  // of objects described by `table`
  FLO_SCENE_MAP =
      1 << 11, // names, each with an object described by `table`, or with a number if that is NULL
  FLO_SCENE_SPECIAL = 1 << 12, // gone before the tables are consulted; code of its own reads it
  FLO_SCENE_COUNTS = 1 << 13,  // as many whole numbers as the scene has dimensions
  FLO_SCENE_POINTS = 1 << 14,  // a list of pairs of numbers
} FloSceneType;

typedef struct FloSceneRange {
  double low, high;
  bool is_open;       // low itself is not permitted
  bool includes_zero; // zero is permitted as well, wherever low may be
} FloSceneRange;

// What becomes of a value when the thing it belongs to is moved and turned as a whole, as an instance or as
// part of a group.
typedef enum FloSceneFrame {
  FLO_FRAME_NONE,      // it stays as it is
  FLO_FRAME_PLACE,     // where a shape stands: see flo_scene_read_shape
  FLO_FRAME_POINT,     // moved and turned
  FLO_FRAME_DIRECTION, // turned
  FLO_FRAME_AXES,      // letters of axes: turned with a group
  FLO_FRAME_UPRIGHT,   // turned; if there is none, it is the direction against gravity
  FLO_FRAME_TURN,      // a rotation: the thing's is put on top
} FloSceneFrame;

typedef struct FloSceneKey {
  const char *name;
  unsigned types;      // FloSceneType, joined
  FloSceneRange range; // of each number in the value
  const char *unit;    // NULL: none
  const char *help;
  bool is_required;
  const char *fallback;       // JSON text that stands for a missing value; NULL: nothing does
  json_t *(*library)(void);   // or a default that the library itself chooses
  const char *const *choices; // permitted words, NULL behind the last; NULL: any
  const struct FloSceneTable *table;
  FloSceneFrame frame;
} FloSceneKey;

enum { FLO_SCENE_MAX_ALTERNATIVES = 24 };

typedef struct FloSceneTable {
  const char *name; // what the object is, as in "a fluid"
  const FloSceneKey *keys;
  size_t n_keys;
  // Keys of which an object must have exactly one, may have at most one, must have at least one.
  const char *exactly_one[FLO_SCENE_MAX_ALTERNATIVES];
  const char *at_most_one[FLO_SCENE_MAX_ALTERNATIVES];
  const char *at_least_one[FLO_SCENE_MAX_ALTERNATIVES];
  // The same again, for keys that have nothing to do with those above.
  const char *also_exactly_one[FLO_SCENE_MAX_ALTERNATIVES];
  const char *also_at_most_one[FLO_SCENE_MAX_ALTERNATIVES];
  bool has_parameters; // further keys are the parameters of the chosen method
} FloSceneTable;

// The whole scene. Every other table is reached from here.
extern const FloSceneTable flo_scene_table;

// NULL if the table has no such key.
const FloSceneKey *flo_scene_find_key(const FloSceneTable *table, const char *name);

#endif
