// The steps from a scene's file to its description, in the order in which scene.c takes them.
#ifndef FLO_IO_SCENE_STEPS_H
#define FLO_IO_SCENE_STEPS_H

#include "geometry/mesh.h"
#include "io/files.h"
#include "io/particle_file.h"
#include "io/scene_context.h"
#include "io/scene_tables.h"

// ---- From the file to checked JSON (scene_file.c, scene_resolve.c, scene_write.c) ----

// The JSON object in context->file or in a text; the caller releases it, also after a failure.
FloStatus flo_scene_read_file(FloSceneContext *context, json_t **root);
FloStatus flo_scene_read_text(FloSceneContext *context, const char *text, size_t length, json_t **root);
// Takes "include" out and merges what it names into `root`, which wins where both have something to say.
FloStatus flo_scene_include(FloSceneContext *context, json_t *root);
// Changes the scene as the options say: first the size, then each "path=value". Takes "sizes" out.
FloStatus flo_scene_apply_options(FloSceneContext *context, json_t *root, const FloSceneOptions *options);
// Fails if a size is asked for (`name` not NULL) that is not among those of the scene.
FloStatus flo_scene_check_size(FloSceneContext *context, json_t *sizes, const char *name);
// Checks every value against the tables, makes instances and places groups, puts numbers in place of
// expressions and writes the defaults, in place.
FloStatus flo_scene_resolve(FloSceneContext *context, json_t *root);
// The same for one object that a table describes, and two of its checks alone.
FloStatus flo_scene_resolve_object(FloSceneContext *context, json_t *object, const FloSceneTable *table);
FloStatus flo_scene_check_known(FloSceneContext *context, json_t *object, const FloSceneTable *table);
FloStatus flo_scene_check_alternatives(FloSceneContext *context, json_t *object, const FloSceneTable *table);
// A number in place: `value` may be a number or an expression; `replacement` is a new value, or NULL to keep
// it.
FloStatus flo_scene_resolve_number(FloSceneContext *context, json_t *value, FloSceneRange range,
                                   json_t **replacement);
// JSON text with short lists on one line and the shortest digits that mean the same number; free() it. NULL:
// no memory.
char *flo_scene_write(const json_t *root);

// ---- Many of a kind (scene_instances.c, scene_groups.c, scene_move.c) ----

// One of many: where it stands as seen from the entry's place, and how it is turned about its own.
typedef struct FloSceneInstance {
  double offset[3], rotation[4];
} FloSceneInstance;

// Makes the entries of `root` what their instances and groups say; "groups" and "place" are gone afterwards.
FloStatus flo_scene_expand(FloSceneContext *context, json_t *root);
// The key of `entry` that asks for instances ("grid", ...), or NULL.
const char *flo_scene_instancing(const json_t *entry);
// Where the instances of `entry` stand; counted against the scene's limit before memory is taken. Without a
// key that asks for instances there is one. The caller frees them.
FloStatus flo_scene_place_instances(FloSceneContext *context, json_t *entry, const FloSceneTable *table,
                                    FloSceneInstance **instances, size_t *n_instances);
// Counts entries that are about to be made; fails where there are too many.
FloStatus flo_scene_count_instances(FloSceneContext *context, double n_more);

// Moves a checked entry as a whole: a point p of it comes to R p + t with the rotation R and position t of
// `move`. Velocities that are expressions of x, y and z are carried along (`moves_fields`), or stay what they
// are in the world.
FloStatus flo_scene_move(FloSceneContext *context, json_t *entry, const FloSceneTable *table,
                         const FloPose *move, bool moves_fields);
// Where a checked entry stands: its shape's centre, or "at"; and how it is turned.
FloStatus flo_scene_read_pose(FloSceneContext *context, json_t *entry, const FloSceneTable *table,
                              FloShape *shape, FloPose *pose);
// The text as new JSON text with each of the names, where it stands as a whole word, replaced by a value.
json_t *flo_scene_substitute(const char *text, size_t n, const char *const names[],
                             const char *const values[]);

// ---- From checked JSON to the description ----

typedef struct FloSceneMaterial {
  FloMaterialDef def; // its name points to `name`
  char name[64];
  FloMaterialId id; // valid in the world that flo_scene_build made last
} FloSceneMaterial;

typedef struct FloSceneFluid {
  FloFluidDef def;         // def.material is set while building
  size_t material;         // index
  size_t n_particles;      // once built
  FloExpression *field[3]; // components of the velocity that depend on the place
} FloSceneFluid;

// When an emitter or a sink acts: its own span, or what events make of it. One span at least.
typedef struct FloSceneSpans {
  double (*list)[2]; // start and end of each, rising; NULL: the definition's own
  size_t n;
} FloSceneSpans;

typedef struct FloSceneFill {
  FloFillDef def; // def.material is set while building
  size_t material;
  size_t n_particles; // once built
} FloSceneFill;

typedef struct FloSceneParticles {
  FloParticleFile file;
  size_t material;
} FloSceneParticles;

typedef struct FloSceneEmitter {
  FloEmitterDef def;
  size_t material;
  FloSceneSpans spans;
} FloSceneEmitter;

typedef struct FloSceneSink {
  FloSinkDef def;
  FloSceneSpans spans;
} FloSceneSink;

typedef struct FloSceneParameter {
  const char *name; // the method's own text
  double value;
} FloSceneParameter;

// Space inside, skin and box of a shape.
typedef struct FloSceneMeasures {
  double volume, surface, low[3], high[3];
} FloSceneMeasures;

// What shapes point to, shared by those that are alike; and what was measured of them.
typedef struct FloSceneAttachment {
  struct FloSceneAttachment *next;
  char *text;      // letters, or the path of a mesh
  double *numbers; // heights of a heightfield, points of an outline
  size_t n_numbers;
  bool has_measures; // of `shape`
  FloShape shape;
  FloSceneMeasures measures;
  double scale;     // of a mesh
  FloMemory memory; // of the mesh
  FloMesh mesh;     // as it was read and mended
  FloTriangles triangles;
  char problems[512]; // what is wrong with the mesh; empty: nothing
} FloSceneAttachment;

struct FloSceneParts {
  FloSceneAttachment *attachments; // a list
  FloSceneMaterial *materials;
  FloSceneFluid *fluids, *added; // there from the start; added by events
  FloSceneFill *fills;
  FloSceneParticles *particles; // of each file
  FloSceneEmitter *emitters;
  FloSceneSink *sinks;
  FloSceneParameter *parameters;
  size_t n_materials, n_fluids, n_added, n_fills, n_particle_files, n_emitters, n_sinks, n_parameters;
  json_t *origins; // as in FloSceneContext, for messages while building
};

// Each reads its keys of the checked `root` into `scene`, and may write further defaults back.
FloStatus flo_scene_read_world(FloSceneContext *, json_t *root, const FloSceneOptions *, FloScene *scene);
FloStatus flo_scene_read_method(FloSceneContext *, json_t *root, const FloSceneOptions *, FloScene *scene);
FloStatus flo_scene_read_materials(FloSceneContext *, json_t *root, FloScene *scene);
// Boundaries and bodies, in this order, are the scene's bodies.
FloStatus flo_scene_read_bodies(FloSceneContext *, json_t *root, FloScene *scene);
FloStatus flo_scene_read_fluids(FloSceneContext *, json_t *root, FloScene *scene);
FloStatus flo_scene_read_events(FloSceneContext *, json_t *root, FloScene *scene);
FloStatus flo_scene_read_probes(FloSceneContext *, json_t *root, FloScene *scene);

// Whether a method is one that is announced but not there yet.

// A fluid that is added by the event of this number; the next of parts->added.
FloStatus flo_scene_read_added(FloSceneContext *, json_t *object, size_t event, FloScene *scene);
// Where the height of an emitter's window points unless the scene says so: up, or if the stream goes there,
// along the next axis.
void flo_scene_default_upright(const double direction[3], int up, double upright[3]);
// Estimates the particles that emitters will make, once it is known when they run.
FloStatus flo_scene_count_emitted(FloSceneContext *, FloScene *scene);
// The material of an entry: a named one, or that which it describes, called after its owner.
FloStatus flo_scene_find_material(FloSceneContext *, json_t *object, const char *owner, size_t owner_index,
                                  struct FloSceneParts *parts, size_t *index);
// The entry's name, or `kind` and its number; kept in `names`, where no other may have it, and in the entry.
FloStatus flo_scene_read_name(FloSceneContext *, json_t *entry, size_t index, const char *kind,
                              const char *plural, json_t *names, char name[64]);

// Shape and pose from "shape", "at", "corner", "base" and "rotate" of `object`.
FloStatus flo_scene_read_shape(FloSceneContext *, json_t *object, int up, FloShape *shape, FloPose *pose);
FloStatus flo_scene_read_rotation(FloSceneContext *, json_t *object, double rotation[4]);
// "start" and "end"; without an end, *end stays as it is.
FloStatus flo_scene_read_span(FloSceneContext *, json_t *object, double *start, double *end);
FloStatus flo_scene_read_figure(FloSceneContext *, json_t *object, int up, double spacing, FloShape *shape);
// The file that the text `key` of `object` names: beside the scene, unless the path begins at the root.
// Written back in full, so that the resolved scene finds it from anywhere.
FloStatus flo_scene_find_file(FloSceneContext *, json_t *object, const char *key, char path[FLO_PATH_SIZE]);
void flo_scene_free_attachments(FloSceneAttachment *first);
// Corners of the box around a shape, in its own frame (of a tank: around its inner space).
FloStatus flo_scene_shape_bounds(FloSceneContext *, const FloShape *shape, double low[3], double high[3]);
// Space inside [m³, 2D m²] and skin [m², 2D m] of a shape.
double flo_scene_shape_volume(const FloShape *shape, int dim);
double flo_scene_shape_surface(const FloShape *shape, int dim);
// The same, measured once for all shapes that are alike.
double flo_scene_volume(FloSceneContext *, const FloShape *shape);
double flo_scene_surface(FloSceneContext *, const FloShape *shape);
// A new attachment of the scene; NULL: no memory.
FloSceneAttachment *flo_scene_attach(FloSceneContext *context);
// The next of those attachments that are looked through to share what is alike: the newest few, since a scene
// may have very many that all differ. NULL: no more. Begin with `after` NULL and *n_seen 0.
FloSceneAttachment *flo_scene_recent(FloSceneContext *context, FloSceneAttachment *after, size_t *n_seen);
// Adds to the estimated number of particles; fails where that is beyond all sense.
FloStatus flo_scene_count(FloSceneContext *, double n_particles);

// ---- Small readers of checked JSON; a missing value reads as zero, false or NULL ----

double flo_json_number(const json_t *object, const char *key);
const char *flo_json_text(const json_t *object, const char *key);
void flo_json_vector(const json_t *object, const char *key, double vector[3]);
// n zeroed elements of `size` bytes, at least one; NULL: no memory.
void *flo_scene_allocate(size_t n, size_t size);

#endif
