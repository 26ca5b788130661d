#include "coupling/forces/body_rows.h"

#include "base/parallel.h"
#include "base/vecmath.h"

enum { MOTION, FORCE, WRENCHES };

enum { BODIES_PER_CHUNK = 4 };

static FloStatus reserve(FloBodyRows *rows, FloWorld *world, FloError *error) {
  const size_t n_quads = 4 * (world->sets[FLO_SET_RIGID].capacity + FLO_BLOCK) * sizeof(float);
  const size_t n_wrenches = 6 * (world->bodies.count + 1) * sizeof(double);
  FLO_TRY(flo_buffer_reserve(&world->memory, &rows->buffers[MOTION], n_quads, 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &rows->buffers[FORCE], n_quads, 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &rows->buffers[WRENCHES], n_wrenches, 0, error));
  rows->motion = rows->buffers[MOTION].data;
  rows->force = rows->buffers[FORCE].data;
  rows->wrenches = rows->buffers[WRENCHES].data;
  return FLO_OK;
}

static FloPairsSpec describe(const FloWorld *world) {
  return (FloPairsSpec){.rows = &world->grids[FLO_SET_RIGID],
                        .columns = &world->grids[FLO_SET_FLUID],
                        .kernel = world->kernel,
                        .reach = world->lists.reach,
                        .with_viscous = true,
                        .threads = world->threads};
}

FloStatus flo_body_rows_build(FloBodyRows *rows, FloWorld *world, FloError *error) {
  const FloPairsSpec spec = describe(world);
  rows->is_built = world->sets[FLO_SET_RIGID].count > 0 && world->sets[FLO_SET_FLUID].count > 0;
  if (!rows->is_built) return FLO_OK;
  if (!rows->pairs.memory) flo_pairs_init(&rows->pairs, &world->memory);
  FLO_TRY(reserve(rows, world, error));
  return flo_pairs_build(&rows->pairs, &spec, error);
}

void flo_body_rows_refill(FloBodyRows *rows, FloWorld *world) {
  const FloPairsSpec spec = describe(world);
  if (rows->is_built) flo_pairs_refill(&rows->pairs, &spec);
}

void flo_body_rows_free(FloBodyRows *rows, FloMemory *memory) {
  if (rows->pairs.memory) flo_pairs_free(&rows->pairs);
  for (size_t k = 0; k < FLO_COUNT_OF(rows->buffers); ++k) flo_buffer_free(memory, &rows->buffers[k]);
}

typedef struct Work {
  FloWorld *world;
  FloBodyRows *rows;
  const double *motions;
} Work;

static void arm_of(const FloParticles *samples, size_t i, const FloBody *body, double arm[3]) {
  const double x[3] = {samples->x[i], samples->y[i], samples->z[i]};
  vec_sub(x, body->rigid.position, arm);
}

static void spread_body(const Work *work, size_t k) {
  const FloBody *body = &flo_bodies(work->world)[k];
  const FloParticles *samples = &work->world->sets[FLO_SET_RIGID];
  const double *motion = work->motions + 6 * k, per_volume = 1 / flo_world_rest_volume(work->world);
  if (body->kind != FLO_BODY_DYNAMIC) return;
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    double arm[3], turn[3];
    float *q = work->rows->motion + 4 * i;
    arm_of(samples, i, body, arm);
    vec_cross(motion + 3, arm, turn);
    for (int axis = 0; axis < 3; ++axis) q[axis] = (float)(motion[axis] + turn[axis]);
    q[3] = (float)((double)samples->volume[i] * per_volume);
  }
}

static void gather_body(const Work *work, size_t k) {
  const FloBody *body = &flo_bodies(work->world)[k];
  const FloParticles *samples = &work->world->sets[FLO_SET_RIGID];
  double *wrench = work->rows->wrenches + 6 * k;
  for (int row = 0; row < 6; ++row) wrench[row] = 0;
  if (body->kind != FLO_BODY_DYNAMIC) return;
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    const float *f = work->rows->force + 4 * i;
    double force[3] = {(double)f[0], (double)f[1], (double)f[2]}, arm[3], torque[3];
    arm_of(samples, i, body, arm);
    vec_cross(arm, force, torque);
    vec_add(wrench, force, wrench);
    vec_add(wrench + 3, torque, wrench + 3);
  }
}

static void spread_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  for (size_t k = begin; k < end; ++k) spread_body(context, k);
}

static void gather_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  for (size_t k = begin; k < end; ++k) gather_body(context, k);
}

void flo_body_rows_spread(FloBodyRows *rows, FloWorld *world, const double *motions) {
  Work work = {world, rows, motions};
  flo_parallel_for(world->threads, world->bodies.count, BODIES_PER_CHUNK, spread_range, &work);
}

void flo_body_rows_gather(FloBodyRows *rows, FloWorld *world) {
  Work work = {world, rows, NULL};
  flo_parallel_for(world->threads, world->bodies.count, BODIES_PER_CHUNK, gather_range, &work);
}
