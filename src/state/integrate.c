// Motion of fluid: symplectic Euler, in parts that methods call one by one or together.
#include "base/parallel.h"
#include "base/vecmath.h"
#include "state/keep_out.h"
#include "state/state.h"

// clang-format off
#include "sph/real_scalar.h" // first: it defines the type that the next one uses
#include "sph/particle.h"
// clang-format on

typedef struct Integrate {
  FloWorld *world;
  const float *force;
  float dt, gravity[3];
  double dt_exact;
  float speed2_limit;
  float kept; // share of a velocity that remains after the step
  size_t grain;
  struct {
    float speed2, acceleration2;
    size_t bad; // first particle with a velocity that is not plausible, or SIZE_MAX
  } chunks[FLO_MAX_CHUNKS];
} Integrate;

static inline void add_kick(float *v, float *rest, float kick) {
  ParticleVelocity sum = particle_kick((ParticleVelocity){*v, *rest}, kick);
  *v = sum.value, *rest = sum.rest;
}

static void kick(const Integrate *in, FloParticles *p, size_t i) {
  const float *f = in->force + 4 * i;
  float per_mass = 1 / p->mass[i];
  bool is_held = p->held[i] != 0;
  p->ax[i] = is_held ? 0 : f[0] * per_mass + in->gravity[0];
  p->ay[i] = is_held ? 0 : f[1] * per_mass + in->gravity[1];
  p->az[i] = is_held ? 0 : f[2] * per_mass + in->gravity[2];
  add_kick(&p->vx[i], &p->vx_low[i], in->dt * p->ax[i]);
  add_kick(&p->vy[i], &p->vy_low[i], in->dt * p->ay[i]);
  add_kick(&p->vz[i], &p->vz_low[i], in->dt * p->az[i]);
}

static void brake(const Integrate *in, FloParticles *p, size_t i) {
  p->vx[i] *= in->kept, p->vx_low[i] *= in->kept;
  p->vy[i] *= in->kept, p->vy_low[i] *= in->kept;
  p->vz[i] *= in->kept, p->vz_low[i] *= in->kept;
}

static void kick_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Integrate *in = context;
  FloParticles *p = &in->world->sets[FLO_SET_FLUID];
  for (size_t i = begin; i < end; ++i) kick(in, p, i);
  for (size_t i = begin; i < end && in->kept < 1; ++i) brake(in, p, i);
}

static void drift(const Integrate *in, FloParticles *p, size_t i) {
  p->x[i] += in->dt_exact * ((double)p->vx[i] + (double)p->vx_low[i]);
  p->y[i] += in->dt_exact * ((double)p->vy[i] + (double)p->vy_low[i]);
  p->z[i] += in->dt_exact * ((double)p->vz[i] + (double)p->vz_low[i]);
}

// Whether the particle was lost before this step. A particle that is shot past the walls in this step is not
// lost, but bad.
static bool was_lost(const Integrate *in, const FloParticles *p, size_t i) {
  const double x[3] = {p->x[i] - in->dt_exact * (double)p->vx[i], p->y[i] - in->dt_exact * (double)p->vy[i],
                       p->z[i] - in->dt_exact * (double)p->vz[i]};
  return flo_world_is_lost(in->world, x);
}

// Finds the highest speed and acceleration of a chunk, and its first bad particle.
static void survey(Integrate *in, const FloParticles *p, size_t begin, size_t end) {
  float speed2 = 0, acceleration2 = 0;
  size_t bad = SIZE_MAX;
  for (size_t i = begin; i < end; ++i) {
    float v2 = p->vx[i] * p->vx[i] + p->vy[i] * p->vy[i] + p->vz[i] * p->vz[i];
    float a2 = p->ax[i] * p->ax[i] + p->ay[i] * p->ay[i] + p->az[i] * p->az[i];
    // Written so that NaN is bad too.
    bool is_bad = !(v2 < in->speed2_limit);
    if ((is_bad || v2 > speed2) && was_lost(in, p, i)) continue;
    if (is_bad && i < bad) bad = i;
    speed2 = v2 > speed2 ? v2 : speed2;
    acceleration2 = a2 > acceleration2 ? a2 : acceleration2;
  }
  in->chunks[begin / in->grain].speed2 = speed2;
  in->chunks[begin / in->grain].acceleration2 = acceleration2;
  in->chunks[begin / in->grain].bad = bad;
}

static void integrate_range(void *context, size_t begin, size_t end, int thread) {
  Integrate *in = context;
  FloParticles *p = &in->world->sets[FLO_SET_FLUID];
  if (in->force) {
    kick_range(context, begin, end, thread);
    flo_world_keep_out(in->world, begin, end, in->dt_exact);
  }
  for (size_t i = begin; i < end; ++i) drift(in, p, i);
  survey(in, p, begin, end);
}

static void wrap_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloWorld *world = context;
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  double *coordinates[3] = {p->x, p->y, p->z};
  for (int axis = 0; axis < world->def.dim; ++axis) {
    if (!world->def.periodic[axis]) continue;
    double low = world->def.domain_low[axis], high = world->def.domain_high[axis], *x = coordinates[axis];
    for (size_t i = begin; i < end; ++i)
      if (!(x[i] >= low && x[i] < high)) {
        x[i] -= floor((x[i] - low) / (high - low)) * (high - low);
        // Just below `low` the sum above may round up to `high` itself.
        if (x[i] >= high) x[i] = low;
      }
  }
}

// Names the first field, in the order of computation, that is not finite.
static FloStatus report_divergence(FloWorld *world, size_t i, double dt, FloError *error) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  world->divergence.particle = i;
  const struct {
    const char *name;
    double value;
  } fields[] = {
      {"density", (double)p->density[i]},
      {"pressure", (double)p->pressure[i]},
      {"acceleration", sqrt(pow((double)p->ax[i], 2) + pow((double)p->ay[i], 2) + pow((double)p->az[i], 2))}};
  for (size_t k = 0; k < FLO_COUNT_OF(fields); ++k)
    if (!isfinite(fields[k].value))
      return flo_fail(error, FLO_DIVERGED,
                      "at %g s the %s of particle %u became %g near (%g, %g, %g); try a shorter time step or "
                      "more viscosity",
                      world->time, fields[k].name, p->id[i], fields[k].value, p->x[i], p->y[i], p->z[i]);
  double speed = sqrt(pow((double)p->vx[i], 2) + pow((double)p->vy[i], 2) + pow((double)p->vz[i], 2));
  return flo_fail(
      error, FLO_DIVERGED,
      "at %g s the velocity of particle %u became %g m/s near (%g, %g, %g): %.2g spacings in one step; "
      "try a shorter time step or more viscosity",
      world->time, p->id[i], speed, p->x[i], p->y[i], p->z[i], speed * dt / world->def.spacing);
}

// Damping while fluid settles. It is critical for an oscillation as slow as free fall from the surface to the
// floor. Stronger damping would keep particles from finding their places; weaker damping would let waves run.
static double kept_share(const FloWorld *world, double dt) {
  if (world->time >= 0) return 1;
  double height = fmax(flo_world_fall_height(world), world->def.spacing);
  return exp(-2 * sqrt(vec_length(world->def.gravity) / height) * dt);
}

static Integrate describe_step(FloWorld *world, const float *force, double dt) {
  Integrate in = {.world = world,
                  .force = force,
                  .dt = (float)dt,
                  .dt_exact = dt,
                  .kept = (float)kept_share(world, dt),
                  .grain = flo_parallel_grain(world->sets[FLO_SET_FLUID].count)};
  for (int axis = 0; axis < 3; ++axis) in.gravity[axis] = (float)world->def.gravity[axis];
  // A particle that crosses a whole support in one step passes its neighbours without any interaction.
  in.speed2_limit = (float)pow(world->kernel.support / dt, 2);
  return in;
}

void flo_world_kick(FloWorld *world, const float *force, double dt) {
  Integrate in = describe_step(world, force, dt);
  flo_parallel_for(world->threads, world->sets[FLO_SET_FLUID].count, in.grain, kick_range, &in);
}

static FloStatus take_survey(FloWorld *world, const Integrate *in, size_t n, FloError *error) {
  float speed2 = 0, acceleration2 = 0;
  for (size_t chunk = 0; chunk * in->grain < n; ++chunk) {
    if (in->chunks[chunk].bad != SIZE_MAX)
      return report_divergence(world, in->chunks[chunk].bad, in->dt_exact, error);
    speed2 = fmaxf(speed2, in->chunks[chunk].speed2);
    acceleration2 = fmaxf(acceleration2, in->chunks[chunk].acceleration2);
  }
  world->max_speed = world->max_approach = sqrt((double)speed2);
  world->max_acceleration = sqrt((double)acceleration2);
  return FLO_OK;
}

static FloStatus advance_fluid(FloWorld *world, const float *force, double dt, FloError *error) {
  double since = flo_seconds();
  size_t n = world->sets[FLO_SET_FLUID].count;
  Integrate in = describe_step(world, force, dt);
  flo_parallel_for(world->threads, n, in.grain, integrate_range, &in);
  if (force) flo_epoch_note(world, &world->epochs.clearances);
  FLO_TRY(take_survey(world, &in, n, error));
  if (world->def.periodic[0] || world->def.periodic[1] || world->def.periodic[2])
    flo_parallel_for(world->threads, n, in.grain, wrap_range, world);
  flo_world_stage_done(world, FLO_STAGE_INTEGRATE, since);
  return FLO_OK;
}

FloStatus flo_world_drift(FloWorld *world, double dt, FloError *error) {
  return advance_fluid(world, NULL, dt, error);
}

FloStatus flo_world_reserve_motion(FloWorld *world, FloError *error) {
  const size_t n = world->sets[FLO_SET_FLUID].count, n_rigid = world->sets[FLO_SET_RIGID].count,
               n_blocks = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_FLUID)->n_blocks;
  FloBuffer *fastest = &world->approach_buffers[0], *samples = &world->approach_buffers[1];
  FLO_TRY(flo_world_prepare_meetings(world, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &world->wall_rooms, n * sizeof(FloWallRoom), 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, fastest, (n_blocks + 1) * sizeof(float), 0, error));
  return flo_buffer_reserve(&world->memory, samples, (n_rigid + FLO_BLOCK) * 4 * sizeof(float), 0, error);
}

FloStatus flo_world_integrate(FloWorld *world, const float *force, double dt, FloError *error) {
  return advance_fluid(world, force, dt, error);
}
