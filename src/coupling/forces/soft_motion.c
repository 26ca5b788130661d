#include "coupling/forces/soft_motion.h"

// The change in an iteration is only a part of the error that is left.
#define LEFT 0.4

FloStatus flo_soft_motion_prepare(FloSoftMotion *motion, FloWorld *world, FloError *error) {
  motion->is_used = false, motion->change = 0;
  for (size_t k = 0; k < world->bodies.count && !motion->is_used; ++k)
    motion->is_used = flo_body_is_soft(&flo_bodies(world)[k]);
  if (!motion->is_used) return FLO_OK;
  FLO_TRY(flo_buffer_reserve_zeros(&world->memory, &motion->buffer, 3 * world->nodes.count * sizeof(double),
                                   error));
  motion->last = motion->buffer.data;
  return FLO_OK;
}

void flo_soft_motion_free(FloSoftMotion *motion, FloMemory *memory) {
  flo_buffer_free(memory, &motion->buffer);
}

static double note_body(FloSoftMotion *motion, const FloBody *body, const double *velocities, size_t stride) {
  double square = 0;
  for (size_t k = body->first_node; k < body->first_node + body->n_nodes; ++k) {
    const double *now = velocities + stride * k;
    double change[3];
    vec_sub(now, motion->last + 3 * k, change);
    vec_copy(now, motion->last + 3 * k);
    square += vec_dot(change, change);
  }
  return sqrt(square / (double)body->n_nodes);
}

void flo_soft_motion_note(FloSoftMotion *motion, const FloWorld *world, const double *velocities,
                          size_t stride) {
  motion->change = 0;
  for (size_t k = 0; motion->is_used && k < world->bodies.count; ++k)
    if (flo_body_is_soft(&flo_bodies(world)[k]))
      motion->change = fmax(motion->change, note_body(motion, &flo_bodies(world)[k], velocities, stride));
}

double flo_soft_motion_residual(const FloSoftMotion *motion, const FloWorld *world, double dt, double speed,
                                const double shares[2]) {
  const double fall = dt * vec_length(world->def.gravity),
               may = LEFT * fmax(shares[0] * fall, shares[1] * speed);
  return motion->change > 0 ? motion->change / fmax(may, 1e-30) : 0;
}
