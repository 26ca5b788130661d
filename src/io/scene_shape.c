// Shapes: their figures, where they stand, and how many particles they take.
#include <math.h>
#include <stdlib.h>

#include "base/core.h"
#include "base/vecmath.h"
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

double flo_scene_shape_volume(const FloShape *shape, int dim) {
  const double *size = shape->size;
  double r = shape->radius;
  if (shape->kind == FLO_SHAPE_SPHERE) return dim == 2 ? FLO_PI * r * r : 4.0 / 3 * FLO_PI * r * r * r;
  if (shape->kind == FLO_SHAPE_CYLINDER) return FLO_PI * r * r * size[0];
  return dim == 2 ? size[0] * size[1] : size[0] * size[1] * size[2];
}

double flo_scene_shape_surface(const FloShape *shape, int dim) {
  const double *size = shape->size;
  double r = shape->radius;
  if (shape->kind == FLO_SHAPE_SPHERE) return dim == 2 ? 2 * FLO_PI * r : 4 * FLO_PI * r * r;
  if (shape->kind == FLO_SHAPE_CYLINDER) return 2 * FLO_PI * r * (r + size[0]);
  if (dim == 2) return 2 * (size[0] + size[1]);
  return 2 * (size[0] * size[1] + size[1] * size[2] + size[2] * size[0]);
}

FloStatus flo_scene_count(FloSceneContext *context, double n_particles) {
  context->n_particles += n_particles;
  if (context->n_particles <= FLO_SCENE_MAX_PARTICLES) return FLO_OK;
  return flo_scene_fail(context, "%s about %.3g particles, the limit is %.0f; a larger spacing needs fewer",
                        context->n_particles > n_particles ? "up to here the scene needs" : "needs",
                        context->n_particles, FLO_SCENE_MAX_PARTICLES);
}

// ---- Figures ----

// Edge lengths, or one number for all edges.
static void read_edges(const json_t *value, int dim, double size[3]) {
  for (int k = 0; k < dim; k++)
    size[k] = json_number_value(json_is_array(value) ? json_array_get(value, (size_t)k) : value);
}

static FloStatus read_figure(FloSceneContext *context, json_t *object, int up, FloShape *shape) {
  *shape = (FloShape){.up = up, .closed = json_is_true(json_object_get(object, "closed"))};
  const json_t *box = json_object_get(object, "box"), *tank = json_object_get(object, "tank");
  const json_t *cylinder = json_object_get(object, "cylinder");
  if (box || tank) {
    shape->kind = box ? FLO_SHAPE_BOX : FLO_SHAPE_TANK;
    read_edges(box ? box : tank, context->dim, shape->size);
  } else if (cylinder) {
    shape->kind = FLO_SHAPE_CYLINDER;
    shape->radius = json_number_value(json_array_get(cylinder, 0));
    shape->size[0] = json_number_value(json_array_get(cylinder, 1));
    if (context->dim == 2)
      return flo_scene_fail(context, "a cylinder needs three dimensions; use a sphere for a disc");
  } else {
    shape->kind = FLO_SHAPE_SPHERE;
    shape->radius = flo_json_number(object, "sphere");
  }
  if (json_object_get(object, "closed") && !tank)
    return flo_scene_fail(context, "'closed' makes sense for a tank only");
  return FLO_OK;
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

static void read_place(const FloSceneContext *context, json_t *object, const FloShape *shape,
                       double position[3]) {
  double half[3];
  flo_shape_half_extent(shape, context->dim, half);
  if (json_object_get(object, "base")) {
    flo_json_vector(object, "base", position);
    position[shape->up] += half[shape->up];
  } else if (json_object_get(object, "at") ||
             (shape->kind != FLO_SHAPE_TANK && !json_object_get(object, "corner"))) {
    flo_json_vector(object, "at", position);
  } else {
    flo_json_vector(object, "corner", position);
    vec_add(position, half, position);
  }
}

FloStatus flo_scene_read_shape(FloSceneContext *context, json_t *object, int up, FloShape *shape,
                               FloPose *pose) {
  *pose = flo_pose_identity();
  size_t mark = flo_scene_enter(context, "shape");
  FLO_TRY(read_figure(context, json_object_get(object, "shape"), up, shape));
  flo_scene_leave(context, mark);
  read_place(context, object, shape, pose->position);
  json_t *rotation = json_object_get(object, "rotate");
  if (!rotation) return FLO_OK;
  mark = flo_scene_enter(context, "rotate");
  FLO_TRY(flo_scene_read_rotation(context, rotation, pose->rotation));
  flo_scene_leave(context, mark);
  return FLO_OK;
}
