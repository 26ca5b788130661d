// What every step of reading a scene shares: where in the file it is, the constants, and how to fail.
#ifndef FLO_IO_SCENE_CONTEXT_H
#define FLO_IO_SCENE_CONTEXT_H

#include <jansson.h>

#include "io/expression.h"
#include "io/scene.h"

enum {
  FLO_SCENE_MAX_CHAIN = 32, // constants that refer to one another
  FLO_SCENE_MAX_LIST = 65535,
  FLO_SCENE_MAX_CONSTANTS = 1000,
  FLO_SCENE_MAX_INSTANCES = 100000,
};

#define FLO_SCENE_MAX_PARTICLES 2e8

typedef struct FloSceneContext {
  const char *file;
  char path[512]; // JSON path of the value at hand, such as /materials/water/density
  size_t path_length;
  FloError *error;
  bool has_failed; // the message is written; callers only pass the status on

  // Where values came from that were not always where they are now: from JSON path to [file, path, note].
  // Entries of included files, instances and parts of groups have one.
  json_t *origins;
  json_t *files; // owns the names of included files
  bool refuses_includes;

  int dim, up;
  double spacing;                          // [m]
  struct FloSceneAttachment **attachments; // of the scene
  // The instance that is being made: expressions may use its number i and their count n; count 0: none.
  size_t instance, n_instances;
  double n_instances_made;                // in the whole scene so far
  json_t *constants;                      // borrowed; values become numbers as they are worked out
  const char *chain[FLO_SCENE_MAX_CHAIN]; // constants being worked out now
  size_t n_chain;

  json_t *material_names, *body_names, *emitter_names, *sink_names, *probe_names; // name -> index
  double n_particles;                                                             // estimated so far
} FloSceneContext;

// Fails with FLO_BAD_INPUT and "file: path: text".
__attribute__((format(printf, 2, 3))) FloStatus flo_scene_fail(FloSceneContext *context, const char *format,
                                                               ...);
FloStatus flo_scene_no_memory(FloSceneContext *context);
// Passes on a failure of the library, with file and path put before its text.
FloStatus flo_scene_pass_on(FloSceneContext *context, FloStatus status, const FloError *cause);
// Fails with "unknown <what> 'word', did you mean ...?"; the keys of `names` are the words that would have
// been right.
FloStatus flo_scene_unknown(FloSceneContext *context, const char *what, const char *word, json_t *names);
// Fails with "there is no 'word' in <where>, did you mean ...? (there is: ...)<more>", all of the keys of
// `names`.
FloStatus flo_scene_no_name(FloSceneContext *context, const char *where, const char *word, json_t *names,
                            const char *more);

// Whether `word`, of letters, digits and _, stands in a text on its own, not as part of a longer one.
bool flo_text_has_word(const char *text, const char *word);
// Adds to a text of `size` bytes, as far as there is room; the separator only where there is text already.
void flo_text_append(char *text, size_t size, const char *separator, const char *more);

// Step down to a key or an entry of a list; `leave` takes what `enter` returned. After a failure `leave` is
// not needed.
size_t flo_scene_enter(FloSceneContext *context, const char *key);
size_t flo_scene_enter_index(FloSceneContext *context, size_t index);
void flo_scene_leave(FloSceneContext *context, size_t mark);

// Visits the entries of a list in a loop: `for (FloSceneEntries at = flo_scene_entries(c, list);
// flo_scene_next(c, &at);)`. Inside of the loop messages name the entry.
typedef struct FloSceneEntries {
  const json_t *list;
  json_t *entry;
  size_t index; // of the entry
  size_t mark;  // where the list is
} FloSceneEntries;

FloSceneEntries flo_scene_entries(const FloSceneContext *context, const json_t *list);
bool flo_scene_next(FloSceneContext *context, FloSceneEntries *entries);

// A place in the file, kept while messages name another.
typedef struct FloScenePlace {
  char path[512];
  size_t path_length;
} FloScenePlace;

// Goes to the entry `name` of the map `key` at the top of the file. Returns where it was before, for going
// back.
FloScenePlace flo_scene_go_to(FloSceneContext *context, const char *key, const char *name);
void flo_scene_go_back(FloSceneContext *context, const FloScenePlace *place);

// Remembers that the value at `place` stood in `file` at `path` before; `note`, which may be "", is put
// behind the path in messages.
FloStatus flo_scene_set_origin(FloSceneContext *context, const char *place, json_t *origin);
// Where the value at hand stood in the first place: a new [file, path, note]. The note, which may be "", is
// put behind the path in messages.
json_t *flo_scene_origin(const FloSceneContext *context, const char *note);
// The file in which the value at hand stands.
const char *flo_scene_file_at(const FloSceneContext *context);
// Takes away the origins of the value at `place` and of everything in it.
void flo_scene_forget_origins(FloSceneContext *context, const char *place);

// Works out every constant in `constants`, in place. Cycles and names that mean something else already are
// failures.
FloStatus flo_scene_evaluate_constants(FloSceneContext *context, json_t *constants);
// Compiles text that may use the constants and, where `has_position`, x, y and z.
FloStatus flo_scene_compile(FloSceneContext *context, const char *text, bool has_position,
                            FloExpression **out);
// The finite value of an expression over the constants.
FloStatus flo_scene_evaluate(FloSceneContext *context, const char *text, double *value);

#endif
