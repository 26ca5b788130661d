// The steps from a scene's file to its description, in the order in which scene.c takes them.
#ifndef FLO_IO_SCENE_STEPS_H
#define FLO_IO_SCENE_STEPS_H

#include "io/scene_context.h"
#include "io/scene_tables.h"

// ---- From the file to checked JSON (scene_file.c, scene_resolve.c, scene_write.c) ----

// The JSON object in context->file; the caller releases it.
FloStatus flo_scene_read_file(FloSceneContext *context, json_t **root);
// Changes the scene as the options say: first the size, then each "path=value". Takes "sizes" out.
FloStatus flo_scene_apply_options(FloSceneContext *context, json_t *root, const FloSceneOptions *options);
// Checks every value against the tables, puts numbers in place of expressions and writes the defaults, in
// place.
FloStatus flo_scene_resolve(FloSceneContext *context, json_t *root);
// A number in place: `value` may be a number or an expression; `replacement` is a new value, or NULL to keep
// it.
FloStatus flo_scene_resolve_number(FloSceneContext *context, json_t *value, FloSceneRange range,
                                   json_t **replacement);
// JSON text with short lists on one line and the shortest digits that mean the same number; free() it. NULL:
// no memory.
char *flo_scene_write(const json_t *root);

// ---- From checked JSON to the description ----

typedef struct FloSceneMaterial {
  FloMaterialDef def; // its name points to `name`
  char name[64];
} FloSceneMaterial;

typedef struct FloSceneFluid {
  FloFluidDef def;         // def.material is set while building
  size_t material;         // index
  FloExpression *field[3]; // components of the velocity that depend on the place
} FloSceneFluid;

typedef struct FloSceneEmitter {
  FloEmitterDef def;
  size_t material;
} FloSceneEmitter;

typedef struct FloSceneParameter {
  const char *name; // the method's own text
  double value;
} FloSceneParameter;

struct FloSceneParts {
  FloSceneMaterial *materials;
  FloSceneFluid *fluids;
  FloSceneEmitter *emitters;
  FloSinkDef *sinks;
  FloSceneParameter *parameters;
  size_t n_materials, n_fluids, n_emitters, n_sinks, n_parameters;
};

// Each reads its keys of the checked `root` into `scene`, and may write further defaults back.
FloStatus flo_scene_read_world(FloSceneContext *, json_t *root, const FloSceneOptions *, FloScene *scene);
FloStatus flo_scene_read_method(FloSceneContext *, json_t *root, const FloSceneOptions *, FloScene *scene);
FloStatus flo_scene_read_boundaries(FloSceneContext *, json_t *root, FloScene *scene);
FloStatus flo_scene_read_fluids(FloSceneContext *, json_t *root, FloScene *scene);
FloStatus flo_scene_read_probes(FloSceneContext *, json_t *root, FloScene *scene);

// Shape and pose from "shape", "at", "corner", "base" and "rotate" of `object`.
FloStatus flo_scene_read_shape(FloSceneContext *, json_t *object, int up, FloShape *shape, FloPose *pose);
FloStatus flo_scene_read_rotation(FloSceneContext *, json_t *object, double rotation[4]);
// "start" and "end"; without an end, *end stays as it is.
FloStatus flo_scene_read_span(FloSceneContext *, json_t *object, double *start, double *end);
// Space inside [m³, 2D m²] and skin [m², 2D m] of a shape.
double flo_scene_shape_volume(const FloShape *shape, int dim);
double flo_scene_shape_surface(const FloShape *shape, int dim);
// Adds to the estimated number of particles; fails where that is beyond all sense.
FloStatus flo_scene_count(FloSceneContext *, double n_particles);

// ---- Small readers of checked JSON; a missing value reads as zero, false or NULL ----

double flo_json_number(const json_t *object, const char *key);
const char *flo_json_text(const json_t *object, const char *key);
void flo_json_vector(const json_t *object, const char *key, double vector[3]);
// n zeroed elements of `size` bytes, at least one; NULL: no memory.
void *flo_scene_allocate(size_t n, size_t size);

#endif
