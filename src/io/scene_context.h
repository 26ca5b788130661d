// Shared by all steps of reading a scene: the current place in the file, the constants, and functions for
// errors.
#ifndef FLO_IO_SCENE_CONTEXT_H
#define FLO_IO_SCENE_CONTEXT_H

#include <jansson.h>

#include "io/expression.h"
#include "io/scene.h"

enum {
  FLO_SCENE_MAX_CHAIN = 32, // largest length of a chain of constants that refer to one another
  FLO_SCENE_MAX_LIST = 65535,
  FLO_SCENE_MAX_CONSTANTS = 1000,
  FLO_SCENE_MAX_INSTANCES = 100000,
};

#define FLO_SCENE_MAX_PARTICLES 2e8

typedef struct FloSceneContext {
  const char *file;
  char path[512]; // JSON path of the current value, such as /materials/water/density
  size_t path_length;
  FloError *error;
  bool has_failed; // the message is already written; callers only return the status

  // Origins of values that were moved: a map from JSON path to [file, path, note]. Entries of included files,
  // instances and parts of groups have one.
  json_t *origins;
  json_t *files; // owns the names of included files
  bool refuses_includes;

  int dim, up;
  double spacing;                          // [m]
  struct FloSceneAttachment **attachments; // of the scene
  // The instance that is being made: expressions may use its number i and the count n; count 0: none.
  size_t instance, n_instances;
  double n_instances_made; // in the whole scene so far
  json_t *constants;       // borrowed; expressions are replaced by numbers when they are evaluated
  const char *chain[FLO_SCENE_MAX_CHAIN]; // constants that are being evaluated
  size_t n_chain;

  json_t *material_names, *body_names, *joint_names, *emitter_names, *sink_names,
      *probe_names;   // name -> index
  double n_particles; // estimated so far
} FloSceneContext;

// Fails with FLO_BAD_INPUT and "file: path: text".
__attribute__((format(printf, 2, 3))) FloStatus flo_scene_fail(FloSceneContext *context, const char *format,
                                                               ...);
FloStatus flo_scene_no_memory(FloSceneContext *context);
// Returns an error of the library, with file and path put before its text.
FloStatus flo_scene_pass_on(FloSceneContext *context, FloStatus status, const FloError *cause);
// Fails with "unknown <what> 'word', did you mean ...?"; the keys of `names` are the permitted words.
FloStatus flo_scene_unknown(FloSceneContext *context, const char *what, const char *word, json_t *names);
// Fails with "there is no 'word' in <where>, did you mean ...? (there is: ...)<more>", all of the keys of
// `names`.
FloStatus flo_scene_no_name(FloSceneContext *context, const char *where, const char *word, json_t *names,
                            const char *more);

// Whether `word`, made of letters, digits and _, occurs in a text as a whole word.
bool flo_text_has_word(const char *text, const char *word);
// Adds to a text of `size` bytes, as far as there is room. The separator is added only if there is text
// already.
void flo_text_append(char *text, size_t size, const char *separator, const char *more);

// Go down to a key or an entry of a list; pass the result of `enter` to `leave`. After an error `leave` is
// not needed.
size_t flo_scene_enter(FloSceneContext *context, const char *key);
size_t flo_scene_enter_index(FloSceneContext *context, size_t index);
void flo_scene_leave(FloSceneContext *context, size_t mark);

// Visits the entries of a list in a loop: `for (FloSceneEntries at = flo_scene_entries(c, list);
// flo_scene_next(c, &at);)`. Inside the loop messages name the entry.
typedef struct FloSceneEntries {
  const json_t *list;
  json_t *entry;
  size_t index; // of the entry
  size_t mark;  // path of the list
} FloSceneEntries;

FloSceneEntries flo_scene_entries(const FloSceneContext *context, const json_t *list);
bool flo_scene_next(FloSceneContext *context, FloSceneEntries *entries);

// A place in the file, stored while messages name another one.
typedef struct FloScenePlace {
  char path[512];
  size_t path_length;
} FloScenePlace;

// Goes to the entry `name` of the map `key` at the top of the file. Returns the previous place, for going
// back.
FloScenePlace flo_scene_go_to(FloSceneContext *context, const char *key, const char *name);
void flo_scene_go_back(FloSceneContext *context, const FloScenePlace *place);

// Stores that the value at `place` came from `path` in `file`. Messages add `note`, which may be "", after
// the path.
FloStatus flo_scene_set_origin(FloSceneContext *context, const char *place, json_t *origin);
// The origin of the current value: a new [file, path, note]. Messages add the note, which may be "", after
// the path.
json_t *flo_scene_origin(const FloSceneContext *context, const char *note);
// The file of the current value.
const char *flo_scene_file_at(const FloSceneContext *context);
// Removes the origins of the value at `place` and of everything in it.
void flo_scene_forget_origins(FloSceneContext *context, const char *place);

// Evaluates every constant in `constants`, in place. Fails for cycles and for names with another meaning in
// expressions.
FloStatus flo_scene_evaluate_constants(FloSceneContext *context, json_t *constants);
// Compiles text that may use the constants and, if `has_position`, x, y and z.
FloStatus flo_scene_compile(FloSceneContext *context, const char *text, bool has_position,
                            FloExpression **out);
// The finite value of an expression over the constants.
FloStatus flo_scene_evaluate(FloSceneContext *context, const char *text, double *value);

#endif
