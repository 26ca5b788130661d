// Shapes: their geometry, poses, and numbers of particles.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/core.h"
#include "base/vecmath.h"
#include "geometry/outline.h"
#include "geometry/shape_mesh.h"
#include "geometry/shapes.h"
#include "io/scene_steps.h"

// ---- Small readers ----

double flo_json_number(const json_t *object, const char *key) {
  return json_number_value(json_object_get(object, key));
}

const char *flo_json_text(const json_t *object, const char *key) {
  return json_string_value(json_object_get(object, key));
}

void flo_json_vector(const json_t *object, const char *key, double vector[3]) {
  const json_t *list = json_object_get(object, key);
  for (size_t k = 0; k < 3; k++) vector[k] = json_number_value(json_array_get(list, k));
}

void *flo_scene_allocate(size_t n, size_t size) { return calloc(n ? n : 1, size); }

// ---- Measures ----

// For a shape without a formula, measured on a coarse mesh.
static FloStatus measure_mesh(const FloShape *shape, FloSceneMeasures *out, FloError *error) {
  FloMemory memory;
  FloMesh mesh;
  FloMassProperties solid, shell;
  double extent = 2 * (shape->radius + shape->radius2);
  for (int axis = 0; axis < 3; ++axis) extent = fmax(extent, shape->size[axis]);
  flo_memory_init(&memory, NULL);
  flo_mesh_init(&mesh, &memory);
  FloStatus status = flo_shape_mesh(shape, extent / 20, 0, &mesh, error);
  if (status == FLO_OK) {
    flo_mesh_bounds(&mesh, out->low, out->high);
    flo_mesh_mass(&mesh, 1, &solid);
    flo_mesh_shell_mass(&mesh, 1, 1, &shell);
    out->volume = fabs(solid.mass), out->surface = shell.mass;
  }
  flo_mesh_free(&mesh);
  return status;
}

double flo_scene_shape_volume(const FloShape *shape, int dim) {
  const double *size = shape->size;
  double r = shape->radius;
  FloSceneMeasures m;
  if (!flo_shape_has_formula(shape)) return measure_mesh(shape, &m, NULL) == FLO_OK ? m.volume : 0;
  if (shape->kind == FLO_SHAPE_SPHERE) return dim == 2 ? FLO_PI * r * r : 4.0 / 3 * FLO_PI * r * r * r;
  if (shape->kind == FLO_SHAPE_CYLINDER) return FLO_PI * r * r * size[0];
  if (shape->kind == FLO_SHAPE_OUTLINE) return fabs(flo_outline_area(shape->points, shape->n_points));
  return dim == 2 ? size[0] * size[1] : size[0] * size[1] * size[2];
}

double flo_scene_shape_surface(const FloShape *shape, int dim) {
  const double *size = shape->size;
  double r = shape->radius;
  FloSceneMeasures m;
  if (!flo_shape_has_formula(shape)) return measure_mesh(shape, &m, NULL) == FLO_OK ? m.surface : 0;
  if (shape->kind == FLO_SHAPE_SPHERE) return dim == 2 ? 2 * FLO_PI * r : 4 * FLO_PI * r * r;
  if (shape->kind == FLO_SHAPE_CYLINDER) return 2 * FLO_PI * r * (r + size[0]);
  if (shape->kind == FLO_SHAPE_OUTLINE) return flo_outline_length(shape->points, shape->n_points);
  if (dim == 2) return 2 * (size[0] + size[1]);
  return 2 * (size[0] * size[1] + size[1] * size[2] + size[2] * size[0]);
}

// Equal shapes point to the same attachments, so comparing the pointers is enough.
static bool is_alike(const FloShape *a, const FloShape *b) {
  for (int axis = 0; axis < 3; axis++)
    if (a->size[axis] != b->size[axis]) return false;
  return a->kind == b->kind && a->radius == b->radius && a->radius2 == b->radius2 && a->closed == b->closed &&
         a->hollow == b->hollow && a->up == b->up && a->text == b->text && a->heights == b->heights &&
         a->n_heights[0] == b->n_heights[0] && a->n_heights[1] == b->n_heights[1] && a->mesh == b->mesh &&
         a->points == b->points && a->n_points == b->n_points;
}

// For a shape without a formula: uses a stored result, or measures it.
static FloStatus measure(FloSceneContext *context, const FloShape *shape, FloSceneMeasures *out,
                         FloError *error) {
  size_t n_seen = 0;
  for (FloSceneAttachment *a = NULL; (a = flo_scene_recent(context, a, &n_seen));) {
    if (!a->has_measures || !is_alike(&a->shape, shape)) continue;
    *out = a->measures;
    return FLO_OK;
  }
  FLO_TRY(measure_mesh(shape, out, error));
  FloSceneAttachment *made = context->attachments ? flo_scene_attach(context) : NULL;
  if (!made) return FLO_OK; // it will be measured again
  made->has_measures = true;
  made->shape = *shape;
  made->measures = *out;
  return FLO_OK;
}

double flo_scene_volume(FloSceneContext *context, const FloShape *shape) {
  FloSceneMeasures m;
  if (flo_shape_has_formula(shape)) return flo_scene_shape_volume(shape, context->dim);
  return measure(context, shape, &m, NULL) == FLO_OK ? m.volume : 0;
}

double flo_scene_surface(FloSceneContext *context, const FloShape *shape) {
  FloSceneMeasures m;
  if (flo_shape_has_formula(shape)) return flo_scene_shape_surface(shape, context->dim);
  return measure(context, shape, &m, NULL) == FLO_OK ? m.surface : 0;
}

// The largest mesh of the scene, if it is so large that its unit is doubtful; NULL: none.
static const FloSceneAttachment *find_huge_mesh(const FloSceneContext *context, double *largest) {
  const double huge = 100; // [m]
  const FloSceneAttachment *found = NULL;
  *largest = huge;
  for (const FloSceneAttachment *a = context->attachments ? *context->attachments : NULL; a; a = a->next) {
    double low[3], high[3], extent = 0;
    if (!a->mesh.n_triangles) continue;
    flo_mesh_bounds(&a->mesh, low, high);
    for (int axis = 0; axis < 3; axis++) extent = fmax(extent, high[axis] - low[axis]);
    if (extent <= *largest) continue;
    *largest = extent;
    found = a;
  }
  return found;
}

FloStatus flo_scene_count(FloSceneContext *context, double n_particles) {
  context->n_particles += n_particles;
  if (context->n_particles <= FLO_SCENE_MAX_PARTICLES) return FLO_OK;
  double largest;
  const FloSceneAttachment *huge = find_huge_mesh(context, &largest);
  char hint[512] = "";
  if (huge)
    snprintf(hint, sizeof hint,
             "; the mesh %.200s is %.4g m large: if it was drawn in millimetres, give it \"scale\": %g",
             huge->text, largest, 0.001 * huge->scale);
  return flo_scene_fail(
      context, "%s about %.3g particles, but the limit is %.0f; use a larger spacing, which needs fewer%s",
      context->n_particles > n_particles ? "the scene up to here needs" : "needs", context->n_particles,
      FLO_SCENE_MAX_PARTICLES, hint);
}

// ---- Places ----

FloStatus flo_scene_read_rotation(FloSceneContext *context, json_t *object, double rotation[4]) {
  double axis[3];
  flo_json_vector(object, "axis", axis);
  size_t mark = flo_scene_enter(context, "axis");
  if (vec_length(axis) == 0) return flo_scene_fail(context, "must not be zero");
  if (context->dim == 2 && (axis[0] != 0 || axis[1] != 0))
    return flo_scene_fail(context, "must be along z in a two-dimensional scene");
  flo_scene_leave(context, mark);
  quat_from_axis_angle(axis, flo_json_number(object, "angle") * FLO_PI / 180, rotation);
  return FLO_OK;
}

FloStatus flo_scene_shape_bounds(FloSceneContext *context, const FloShape *shape, double low[3],
                                 double high[3]) {
  if (flo_shape_has_formula(shape) || shape->kind == FLO_SHAPE_OUTLINE) {
    flo_shape_bounds(shape, context->dim, low, high);
    return FLO_OK;
  }
  FloError cause;
  FloSceneMeasures m;
  FloStatus status = measure(context, shape, &m, &cause);
  if (status != FLO_OK) return flo_scene_pass_on(context, status, &cause);
  vec_copy(m.low, low);
  vec_copy(m.high, high);
  return FLO_OK;
}

static FloStatus read_place(FloSceneContext *context, json_t *object, const FloShape *shape,
                            double position[3]) {
  double low[3], high[3];
  bool has_base = json_object_get(object, "base"), has_corner = json_object_get(object, "corner");
  bool is_cornered = has_corner || (shape->kind == FLO_SHAPE_TANK && !json_object_get(object, "at"));
  flo_json_vector(object, has_base ? "base" : is_cornered ? "corner" : "at", position);
  // Done for shapes placed by their centre too: a shape that cannot be measured cannot be made.
  FLO_TRY(flo_scene_shape_bounds(context, shape, low, high));
  if (!has_base && !is_cornered) return FLO_OK;
  for (int axis = 0; axis < context->dim; axis++) {
    bool is_side = has_base && axis != shape->up;
    position[axis] -= is_side ? (low[axis] + high[axis]) / 2 : low[axis];
  }
  return FLO_OK;
}

FloStatus flo_scene_read_shape(FloSceneContext *context, json_t *object, int up, FloShape *shape,
                               FloPose *pose) {
  *pose = flo_pose_identity();
  size_t mark = flo_scene_enter(context, "shape");
  FLO_TRY(flo_scene_read_figure(context, json_object_get(object, "shape"), up, context->spacing, shape));
  flo_scene_leave(context, mark);
  FLO_TRY(read_place(context, object, shape, pose->position));
  json_t *rotation = json_object_get(object, "rotate");
  if (!rotation) return FLO_OK;
  mark = flo_scene_enter(context, "rotate");
  FLO_TRY(flo_scene_read_rotation(context, rotation, pose->rotation));
  flo_scene_leave(context, mark);
  return FLO_OK;
}
