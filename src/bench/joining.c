#include "bench/joining.h"

#include "state/state.h"

#include <stdlib.h>

#define SPACING 0.1 // [m]

static const char *const shapes[FLO_JOINING_COUNT] = {"one chain", "chains of 100", "tree"};

// ---- Bodies and hinges ----

// The number of the body that body k hangs on; SIZE_MAX: the world.
static size_t parent_of(FloJoiningKind kind, size_t k) {
  if (kind == FLO_JOINING_TREE) return k == 0 ? SIZE_MAX : (k - 1) / 2;
  if (kind == FLO_JOINING_CHAINS && k % 100 == 0) return SIZE_MAX;
  return k == 0 ? SIZE_MAX : k - 1;
}

// Bodies are far from each other, so that there is nothing but joints. Hinges of neighbours have different
// axes.
static FloStatus add_link(FloWorld *world, size_t k, FloBodyId to, FloBodyId *id, FloError *error) {
  FloBodyDef body = flo_default_body_def();
  FloJointDef hinge = flo_default_joint_def();
  body.kind = FLO_BODY_DYNAMIC, body.density = 1000;
  body.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = SPACING};
  const double at[3] = {(double)(k % 100), (double)(k / 100 % 100), (double)(k / 10000)};
  for (int axis = 0; axis < 3; ++axis) body.pose.position[axis] = 10 * SPACING * at[axis];
  FLO_TRY(flo_world_add_body(world, &body, id, error));
  hinge.kind = FLO_JOINT_HINGE, hinge.body = *id, hinge.to = to;
  for (int axis = 0; axis < 3; ++axis) {
    hinge.at[axis] = body.pose.position[axis] - 5 * SPACING * (axis == 0);
    hinge.axis[axis] = (size_t)axis == k % 3;
  }
  return flo_world_add_joint(world, &hinge, NULL, error);
}

static FloStatus add_links(FloWorld *world, FloJoiningKind kind, size_t n, FloBodyId *ids, FloError *error) {
  for (size_t k = 0; k < n; ++k) {
    const size_t parent = parent_of(kind, k);
    FLO_TRY(add_link(world, k, parent == SIZE_MAX ? (FloBodyId){0} : ids[parent], &ids[k], error));
  }
  return FLO_OK;
}

static FloStatus make_world(FloJoiningKind kind, size_t n, FloWorld **world, FloError *error) {
  FloWorldDef def = flo_default_world_def();
  def.method = "monolithic", def.spacing = SPACING, def.threads = 1;
  FLO_TRY(flo_world_create(&def, world, error));
  FloBodyId *ids = calloc(n, sizeof *ids);
  if (!ids) return flo_fail(error, FLO_NO_MEMORY, "out of memory for %zu joints", n);
  FloStatus status = add_links(*world, kind, n, ids, error);
  free(ids);
  return status;
}

// ---- Measuring ----

typedef struct Work {
  FloWorld *world;
  double *velocities;
} Work;

static void factorise(void *context) {
  Work *work = context;
  flo_joints_factorise(&work->world->joints);
}

static void solve(void *context) {
  Work *work = context;
  const size_t n = 6 * work->world->joints.members.count;
  for (size_t k = 0; k < n; ++k) work->velocities[k] = (double)(k % 7) - 3;
  flo_world_solve_joints(work->world, work->velocities);
}

static FloStatus measure(FloWorld *world, int repeats, FloJoiningResult *result, FloError *error) {
  const double dt = 1e-3;
  FLO_TRY(flo_world_begin_joints(world, dt, error));
  FLO_TRY(flo_world_weigh_joints(world, dt, NULL, NULL, error));
  Work work = {world, calloc(6 * world->joints.members.count, sizeof(double))};
  if (!work.velocities) return flo_fail(error, FLO_NO_MEMORY, "out of memory for velocities");
  result->joints = world->joints.list.count, result->rows = world->joints.n_rows;
  result->factorise = flo_times_measure(repeats, factorise, &work);
  result->solve = flo_times_measure(repeats, solve, &work);
  free(work.velocities);
  return FLO_OK;
}

FloStatus flo_joining_measure(FloJoiningKind kind, size_t joints, int repeats, FloJoiningResult *result,
                              FloError *error) {
  FloWorld *world = NULL;
  *result = (FloJoiningResult){.shape = shapes[kind]};
  FloStatus status = make_world(kind, joints, &world, error);
  if (status == FLO_OK) status = measure(world, repeats, result, error);
  flo_world_destroy(world);
  return status;
}
