#include "coupling/forces/implicit_pressure.h"

#include "coupling/forces/step_limit.h"

void flo_expect_fluid(const FloWorld *world, FloExpectations *expected) {
  expected->speed = fmax(expected->speed, flo_world_expected_speed(world));
  if (!(expected->peak > 0)) expected->peak = flo_peak_expect(world); // what was measured is better
}

double flo_implicit_max_dt(const FloWorld *world, const FloExpectations *expected, int first_force_param,
                           const char **limited_by) {
  const double forces = flo_forces_max_dt(world, first_force_param, limited_by),
               pressure = flo_peak_stable_dt(world, expected->peak);
  if (pressure < forces) *limited_by = "pressure";
  return fmin(pressure, forces);
}

double flo_implicit_artificial_viscosity(const FloWorld *world, const FloExpectations *expected,
                                         double alpha) {
  return alpha * world->kernel.support / 2 * fmax(expected->speed, flo_surface_tension_speed(world));
}

double flo_implicit_correction(const FloWorld *world, double correction_time, double dt) {
  const double g = vec_length(world->def.gravity);
  const double time = correction_time * sqrt(world->def.spacing / (g > 0 ? g : 1));
  return time > 0 ? 1 - exp(-dt / time) : 1;
}

typedef struct Motion {
  const float *pressure, *velocity;
} Motion;

enum { SUM_SPEEDS = 3, SUM_WEIGHTS, N_MOTION_SUMS };

static void add_motion(const void *context, size_t begin, size_t end, double *sums) {
  const Motion *in = context;
  for (size_t i = begin; i < end; ++i) {
    const double p = (double)in->pressure[i] * (double)in->pressure[i];
    for (size_t axis = 0; axis < 3; ++axis) {
      double v = (double)in->velocity[4 * i + axis];
      sums[axis] += p * v;
      sums[SUM_SPEEDS] += p * v * v;
    }
    sums[SUM_WEIGHTS] += p;
  }
}

double flo_implicit_motion(const FloWorld *world, const float *pressure, const float *velocity, double dt) {
  const Motion in = {pressure, velocity};
  double sums[N_MOTION_SUMS], square = 0;
  flo_parallel_sum(world->threads, world->sets[FLO_SET_FLUID].count, add_motion, &in, N_MOTION_SUMS, sums);
  if (!(sums[SUM_WEIGHTS] > 0)) return 0;
  for (int axis = 0; axis < 3; ++axis) square += sums[axis] * sums[axis];
  double spread = sums[SUM_SPEEDS] / sums[SUM_WEIGHTS] - square / (sums[SUM_WEIGHTS] * sums[SUM_WEIGHTS]);
  return spread > 0 ? sqrt(spread) * dt / world->def.spacing : 0;
}

// A volume error e in each row of a column of height h means that the pressure at its foot is wrong by rho e
// h^2/(2 dt^2). It may be wrong by this share of rho g h, or by more if that changes velocities by less than
// a share of what they are.
#define COMMON_TOLERANCE        0.4
#define COMMON_MOTION_TOLERANCE 0.04

double flo_implicit_common_share(const FloWorld *world, const FloExpectations *expected, double common,
                                 double motion, double dt) {
  const double g = vec_length(world->def.gravity), height = g > 0 ? expected->peak / g : 0;
  const double unseen =
      fmax(COMMON_TOLERANCE * g * dt * dt, COMMON_MOTION_TOLERANCE * motion * world->def.spacing);
  return height > 0 ? fabs(common) * height / (2 * unseen) : 0;
}

// There is room if a particle has less than its rest density around it. A hole of a single particle, which is
// no free surface, leaves 0.92 of that.
FloStatus flo_implicit_check_room(const FloWorld *world, FloError *error) {
  static const float full = 0.9f;
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const float volume = (float)flo_world_rest_volume(world);
  bool is_closed = p->count > 0;
  for (int axis = 0; axis < world->def.dim; ++axis) is_closed = is_closed && world->def.periodic[axis];
  for (size_t i = 0; is_closed && i < p->count; ++i) is_closed = p->density[i] * volume > full * p->mass[i];
  if (!is_closed) return FLO_OK;
  return flo_fail(
      error, FLO_UNSUPPORTED,
      "method '%s': at %g s %zu particles of fluid fill a domain that repeats along all axes, but "
      "pressures need a free surface; leave a layer empty, or use method 'wcsph'",
      world->method->name, flo_world_time(world), p->count);
}

typedef struct Reading {
  const FloParticles *fluid;
  float *quads;
} Reading;

static void read_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Reading *reading = context;
  const FloParticles *p = reading->fluid;
  for (size_t i = begin; i < end; ++i) {
    float *q = reading->quads + 4 * i;
    q[0] = p->vx[i], q[1] = p->vy[i], q[2] = p->vz[i], q[3] = 0;
  }
}

void flo_implicit_read_velocities(const FloWorld *world, float *quads) {
  Reading reading = {&world->sets[FLO_SET_FLUID], quads};
  flo_each_particle(world, FLO_SET_FLUID, read_range, &reading);
}

// An impact in the last step says nothing about this one. So the guess is no larger than what it is for: to
// hold bodies against their weight.
void flo_implicit_guess_bodies(FloWorld *world, double dt) {
  const double g = vec_length(world->def.gravity);
  for (size_t k = 0; k < world->nodes.count; ++k) {
    const FloNode *node = flo_node_at(world, k);
    const double force = vec_length(node->reaction), share = force > 0 ? fmin(1, node->mass * g / force) : 0;
    double impulse[3], turn[3];
    vec_scale(node->reaction, share * dt, impulse);
    vec_scale(node->reaction + 3, share * dt, turn);
    flo_node_push(world, k, impulse, turn);
  }
}

static void momentum_of(const FloNode *node, double momentum[6]) {
  vec_scale(node->velocity, node->mass, momentum);
  mat_apply(node->inertia, node->angular_velocity, momentum + 3);
}

void flo_implicit_begin_reactions(FloWorld *world) {
  for (size_t k = 0; k < world->nodes.count; ++k)
    momentum_of(flo_node_at(world, k), flo_node_at(world, k)->reaction);
}

static void end_reactions(FloWorld *world, double dt) {
  for (size_t k = 0; k < world->nodes.count; ++k) {
    double end[6], *reaction = flo_node_at(world, k)->reaction;
    momentum_of(flo_node_at(world, k), end);
    for (int row = 0; row < 6; ++row) reaction[row] = (end[row] - reaction[row]) / dt;
  }
}

FloStatus flo_implicit_move(FloWorld *world, const float *force, const float *velocity, const float *walls,
                            double dt, FloError *error) {
  FLO_TRY(flo_world_integrate(world, force, dt, error));
  flo_world_note_approach(world, velocity, walls);
  world->max_acceleration = 0; // pressure is implicit: strong forces need no shorter steps
  FLO_TRY(flo_world_advance_bodies(world, dt, error));
  end_reactions(world, dt);
  return FLO_OK;
}
