#include "tubes.h"

#include "base/vecmath.h"

#include <stdlib.h>
#include <string.h>

// In spacings.
#define TUBE_RADIUS 0.2

void app_joint_carry(const FloScene *scene, const FloFrame *frame, size_t body, const double start[3],
                     bool is_direction, double out[3]) {
  double local[3];
  vec_copy(start, out);
  if (body == SIZE_MAX) return;
  const FloPose *from = &scene->bodies[body].def.pose,
                *to = flo_frame_pose(frame->bodies, scene->bodies, body);
  if (!is_direction) vec_sub(start, from->position, out);
  quat_rotate_back(from->rotation, out, local);
  quat_rotate(to->rotation, local, out);
  if (!is_direction) vec_add(out, to->position, out);
}

bool app_joint_is_rod(const FloSceneJoint *joint) {
  const FloJointKind kind = joint->def.kind;
  return kind == FLO_JOINT_DISTANCE || kind == FLO_JOINT_ROPE || kind == FLO_JOINT_SPRING;
}

static bool is_drawn(const FloScene *scene, const FloFrame *frame, const bool *acts, size_t k) {
  if (!app_joint_is_rod(&scene->joints[k])) return false;
  if (acts) return acts[k];
  return k >= frame->n_joints || frame->joints[k].is_active;
}

// The rotation that turns z to a unit vector; in two dimensions x.
static void find_rotation(int dim, const double direction[3], double rotation[4]) {
  const double z[3] = {0, 0, 1}, x[3] = {1, 0, 0};
  double axis[3];
  if (dim == 2) {
    quat_from_axis_angle(z, atan2(direction[1], direction[0]), rotation);
    return;
  }
  vec_cross(z, direction, axis);
  quat_from_axis_angle(vec_length(axis) > 1e-9 ? axis : x, acos(fmax(-1, fmin(1, direction[2]))), rotation);
}

static FloSceneBody make_tube(const FloScene *scene, const FloFrame *frame, const FloSceneJoint *joint) {
  FloSceneBody tube = {.def = flo_default_body_def()};
  const double radius = TUBE_RADIUS * scene->world.spacing;
  double from[3], to[3], way[3];
  app_joint_carry(scene, frame, joint->of[1], joint->def.at, false, from);
  app_joint_carry(scene, frame, joint->has_to ? joint->of[0] : SIZE_MAX, joint->def.to_at, false, to);
  vec_sub(to, from, way);
  const double length = fmax(vec_length(way), 1e-3 * radius); // both ends may be in the same place
  vec_scale(way, 1 / length, way);
  if (scene->world.dim == 2)
    tube.def.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {length, 2 * radius, 0}};
  else
    tube.def.shape = (FloShape){.kind = FLO_SHAPE_CYLINDER, .radius = radius, .size = {length, 0, 0}};
  vec_add(from, to, tube.def.pose.position);
  vec_scale(tube.def.pose.position, 0.5, tube.def.pose.position);
  find_rotation(scene->world.dim, way, tube.def.pose.rotation);
  strcpy(tube.name, joint->name);
  strcpy(tube.look, joint->def.kind == FLO_JOINT_ROPE ? "wood" : "steel");
  return tube;
}

static FloStatus reserve(const FloScene *scene, const FloFrame *frame, size_t n, AppTubes *tubes,
                         FloError *error) {
  tubes->bodies = calloc(n, sizeof *tubes->bodies);
  if (frame->bodies) tubes->placed = calloc(n, sizeof *tubes->placed);
  if (!tubes->bodies || (frame->bodies && !tubes->placed)) {
    app_tubes_free(tubes);
    return flo_fail(error, FLO_NO_MEMORY, "no memory for the pictures of %zu bodies", n);
  }
  if (scene->n_bodies) memcpy(tubes->bodies, scene->bodies, scene->n_bodies * sizeof *tubes->bodies);
  if (tubes->placed) memcpy(tubes->placed, frame->bodies, scene->n_bodies * sizeof *tubes->placed);
  return FLO_OK;
}

FloStatus app_tubes_make(const FloScene *scene, const FloFrame *frame, const bool *acts, AppTubes *tubes,
                         FloError *error) {
  size_t n = 0;
  *tubes = (AppTubes){.n_bodies = scene->n_bodies};
  for (size_t k = 0; k < scene->n_joints; ++k) n += is_drawn(scene, frame, acts, k);
  if (n == 0) return FLO_OK;
  FLO_TRY(reserve(scene, frame, scene->n_bodies + n, tubes, error));
  for (size_t k = 0; k < scene->n_joints; ++k) {
    if (!is_drawn(scene, frame, acts, k)) continue;
    const size_t at = tubes->n_bodies++;
    tubes->bodies[at] = make_tube(scene, frame, &scene->joints[k]);
    if (tubes->placed) tubes->placed[at].state.pose = tubes->bodies[at].def.pose;
  }
  return FLO_OK;
}

void app_tubes_free(AppTubes *tubes) {
  free(tubes->bodies);
  free(tubes->placed);
  *tubes = (AppTubes){0};
}
