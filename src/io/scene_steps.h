// The steps from a scene's file to its description, in the order in which scene.c calls them.
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
// Removes "include" and merges the included files into `root`. Values of `root` replace those of included
// files.
FloStatus flo_scene_include(FloSceneContext *context, json_t *root);
// Applies the options: first the size, then each "path=value". Removes "sizes".
FloStatus flo_scene_apply_options(FloSceneContext *context, json_t *root, const FloSceneOptions *options);
// Fails if `name` is not NULL and not one of the scene's sizes.
FloStatus flo_scene_check_size(FloSceneContext *context, json_t *sizes, const char *name);
// Checks every value against the tables, makes instances, places groups, replaces expressions by numbers and
// writes the defaults, all in place.
FloStatus flo_scene_resolve(FloSceneContext *context, json_t *root);
// The same for one object that a table describes; then two of its checks on their own.
FloStatus flo_scene_resolve_object(FloSceneContext *context, json_t *object, const FloSceneTable *table);
FloStatus flo_scene_check_known(FloSceneContext *context, json_t *object, const FloSceneTable *table);
FloStatus flo_scene_check_alternatives(FloSceneContext *context, json_t *object, const FloSceneTable *table);
// Evaluates `value`, a number or an expression. `replacement` receives a new value, or NULL if it stays.
FloStatus flo_scene_resolve_number(FloSceneContext *context, json_t *value, FloSceneRange range,
                                   json_t **replacement);
// JSON text with short lists on one line and the fewest digits that give the same number; free() it. NULL: no
// memory.
char *flo_scene_write(const json_t *root);

// ---- Instances and groups (scene_instances.c, scene_groups.c, scene_move.c) ----

// One instance: its position relative to the entry's, and its rotation about its own position.
typedef struct FloSceneInstance {
  double offset[3], rotation[4];
} FloSceneInstance;

// Replaces the entries of `root` by their instances and the parts of placed groups. Removes "groups" and
// "place".
FloStatus flo_scene_expand(FloSceneContext *context, json_t *root);
// The key of `entry` that makes instances ("grid", ...), or NULL.
const char *flo_scene_instancing(const json_t *entry);
// The instances of `entry`. Their number is checked against the scene's limit before memory is allocated.
// Without a key that makes instances there is one. The caller frees them.
FloStatus flo_scene_place_instances(FloSceneContext *context, json_t *entry, const FloSceneTable *table,
                                    FloSceneInstance **instances, size_t *n_instances);
// Counts entries before they are made; fails if there are too many.
FloStatus flo_scene_count_instances(FloSceneContext *context, double n_more);

// Moves a checked entry as a whole: a point p becomes R p + t, with the rotation R and position t of `move`.
// If `moves_fields`, velocities that are expressions in x, y and z move with it; otherwise they stay fixed in
// the world.
FloStatus flo_scene_move(FloSceneContext *context, json_t *entry, const FloSceneTable *table,
                         const FloPose *move, bool moves_fields);
// The pose of a checked entry: its shape's centre or "at", and its rotation.
FloStatus flo_scene_read_pose(FloSceneContext *context, json_t *entry, const FloSceneTable *table,
                              FloShape *shape, FloPose *pose);
// A new JSON text in which each of the names, as a whole word, is replaced by a value.
json_t *flo_scene_substitute(const char *text, size_t n, const char *const names[],
                             const char *const values[]);

// ---- From checked JSON to the description ----

typedef struct FloSceneMaterial {
  FloMaterialDef def; // its name points to `name`
  char name[64];
  bool has_colour; // in pictures
  uint8_t colour[3];
  FloMaterialId id; // valid in the world that flo_scene_build made last
} FloSceneMaterial;

// Where two fluids meet.
typedef struct FloSceneInterface {
  size_t one, other; // materials
  double tension;    // [N/m]
} FloSceneInterface;

typedef struct FloSceneFluid {
  FloFluidDef def;         // def.material is set while building
  size_t material;         // index
  size_t n_particles;      // once built
  FloExpression *field[3]; // components of the velocity that depend on the position
} FloSceneFluid;

// The time intervals of an emitter or a sink: its own, or those from events. At least one.
typedef struct FloSceneSpans {
  double (*list)[2]; // start and end of each, in rising order; NULL: the definition's own
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

// Volume, surface area and box of a shape.
typedef struct FloSceneMeasures {
  double volume, surface, low[3], high[3];
} FloSceneMeasures;

// Data that shapes point to, shared by equal shapes; and measured values of them.
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
  FloMesh mesh;     // as read and mended
  FloTriangles triangles;
  char problems[512]; // defects of the mesh; empty: none
} FloSceneAttachment;

struct FloSceneParts {
  FloSceneAttachment *attachments; // a list
  FloSceneMaterial *materials;
  FloSceneInterface *interfaces;
  FloSceneFluid *fluids, *added; // those from the start; those added by events
  FloSceneFill *fills;
  FloSceneParticles *particles; // of each file
  FloSceneEmitter *emitters;
  FloSceneSink *sinks;
  FloSceneParameter *parameters;
  size_t n_materials, n_interfaces, n_fluids, n_added, n_fills, n_particle_files, n_emitters, n_sinks,
      n_parameters;
  json_t *origins; // as in FloSceneContext, for messages while building
};

// Each reads its keys of the checked `root` into `scene`, and may write further defaults back.
FloStatus flo_scene_read_world(FloSceneContext *, json_t *root, const FloSceneOptions *, FloScene *scene);
FloStatus flo_scene_read_method(FloSceneContext *, json_t *root, const FloSceneOptions *, FloScene *scene);
FloStatus flo_scene_read_materials(FloSceneContext *, json_t *root, FloScene *scene);
// After materials (scene_interfaces.c).
FloStatus flo_scene_read_interfaces(FloSceneContext *, json_t *root, FloScene *scene);
// Boundaries and bodies, in this order, are the scene's bodies.
FloStatus flo_scene_read_bodies(FloSceneContext *, json_t *root, FloScene *scene);
// Whether the keys of a body make it a cloth or an elastic body.
extern const char *const flo_scene_resamplings[];   // in the order of FloResampling
extern const char *const flo_scene_elastic_forms[]; // in the order of FloElasticForm
bool flo_scene_asks_for_soft(const json_t *object);
// What makes a body a cloth or an elastic body, and its pins (scene_soft.c). Its material has been found.
FloStatus flo_scene_read_soft(FloSceneContext *, json_t *object, FloSceneBody *body, const FloScene *scene);
// The pins that an event releases get its time.
FloStatus flo_scene_unpin(FloSceneContext *, const FloSceneEvent *event, FloSceneBody *body);
// Fails with the place and the time of an event.
FloStatus flo_scene_fail_event(FloSceneContext *, const FloSceneEvent *event, const char *what);
// Whether the kind of a joint has an axis.
bool flo_scene_joint_has_axis(const json_t *object);
// After bodies; gears after the joints that they drive.
FloStatus flo_scene_read_joints(FloSceneContext *, json_t *root, FloScene *scene);
void flo_scene_free_joints(FloScene *scene);
// The changes of an event become part of the joints.
FloStatus flo_scene_read_joint_event(FloSceneContext *, const json_t *object, const FloSceneEvent *event,
                                     FloScene *scene);
FloStatus flo_scene_read_fluids(FloSceneContext *, json_t *root, FloScene *scene);
FloStatus flo_scene_read_events(FloSceneContext *, json_t *root, FloScene *scene);
FloStatus flo_scene_read_probes(FloSceneContext *, json_t *root, FloScene *scene);

// Whether a method is planned but not available yet.

// The fluid that an event adds; `event` is its number. It becomes the next of parts->added.
FloStatus flo_scene_read_added(FloSceneContext *, json_t *object, size_t event, FloScene *scene);
// The default direction of the height of an emitter's opening: up, or the next axis if the stream goes up.
void flo_scene_default_upright(const double direction[3], int up, double upright[3]);
// Estimates the particles that emitters will make; their time intervals must be known.
FloStatus flo_scene_count_emitted(FloSceneContext *, FloScene *scene);
// The material of an entry: a named one, or an inline one, which is named after its owner.
FloStatus flo_scene_find_material(FloSceneContext *, json_t *object, const char *owner, size_t owner_index,
                                  struct FloSceneParts *parts, size_t *index);
// The entry's name, or `kind` and its number. Stored in `names`, where it must be unique, and in the entry.
FloStatus flo_scene_read_name(FloSceneContext *, json_t *entry, size_t index, const char *kind,
                              const char *plural, json_t *names, char name[64]);

// Shape and pose from "shape", "at", "corner", "base" and "rotate" of `object`.
FloStatus flo_scene_read_shape(FloSceneContext *, json_t *object, int up, FloShape *shape, FloPose *pose);
FloStatus flo_scene_read_rotation(FloSceneContext *, json_t *object, double rotation[4]);
// Reads "start" and "end"; without an end, *end stays unchanged.
FloStatus flo_scene_read_span(FloSceneContext *, json_t *object, double *start, double *end);
FloStatus flo_scene_read_figure(FloSceneContext *, json_t *object, int up, double spacing, FloShape *shape);
// The file that the text `key` of `object` names. A relative path starts at the scene's folder. The full path
// is written back, so that the resolved scene works from any folder.
FloStatus flo_scene_find_file(FloSceneContext *, json_t *object, const char *key, char path[FLO_PATH_SIZE]);
void flo_scene_free_attachments(FloSceneAttachment *first);
// The corners of the box around a shape, in its own frame (of a tank: around its inner space).
FloStatus flo_scene_shape_bounds(FloSceneContext *, const FloShape *shape, double low[3], double high[3]);
// Volume [m³, 2D m²] and surface area [m², 2D m] of a shape.
double flo_scene_shape_volume(const FloShape *shape, int dim);
double flo_scene_shape_surface(const FloShape *shape, int dim);
// The same, measured once for all equal shapes.
double flo_scene_volume(FloSceneContext *, const FloShape *shape);
double flo_scene_surface(FloSceneContext *, const FloShape *shape);
// A new attachment of the scene; NULL: no memory.
FloSceneAttachment *flo_scene_attach(FloSceneContext *context);
// The next attachment to compare with, for sharing equal data. Only the newest few are compared, because a
// scene may have very many different ones. NULL: no more. Begin with `after` NULL and *n_seen 0.
FloSceneAttachment *flo_scene_recent(FloSceneContext *context, FloSceneAttachment *after, size_t *n_seen);
// Adds to the estimated number of particles; fails if it becomes larger than the limit.
FloStatus flo_scene_count(FloSceneContext *, double n_particles);

// ---- Small readers of checked JSON; a missing value reads as zero, false or NULL ----

double flo_json_number(const json_t *object, const char *key);
const char *flo_json_text(const json_t *object, const char *key);
void flo_json_vector(const json_t *object, const char *key, double vector[3]);
// n zeroed elements of `size` bytes, at least one; NULL: no memory.
void *flo_scene_allocate(size_t n, size_t size);

#endif
