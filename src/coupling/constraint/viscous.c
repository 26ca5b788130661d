// What a step starts from: the unknowns of the last step, and viscosity.
//
// Viscosity is implicit where steps are long. It minimises Rayleigh's dissipation together with the inertia
// of fluid and bodies (forces/implicit_viscosity.h). The first solution has the pressures of the last step as
// a guess of the rows' impulses; passes.c then solves both as one system.
#include "coupling/constraint/constraint.h"

// ---- Unknowns to start from ----

static void start_wet(const FloWorld *world, FloConstraint *c, FloSet set, size_t first, size_t n,
                      float share) {
  const FloParticles *samples = &world->sets[set];
  const float *kept = samples->extra[FLO_CONSTRAINT_WET];
  for (size_t k = first; k < first + n; ++k)
    c->p[c->n_fluid + k] = share * kept[c->wet[k]] * samples->volume[c->wet[k]];
}

// The part of the last force along each normal.
static void start_distances(const FloWorld *world, FloConstraint *c, float share) {
  float *const *push = (float *const *)world->sets[FLO_SET_FLUID].extra + FLO_CONSTRAINT_PUSH;
  float *p = c->p + flo_constraint_first_distance(c);
  for (size_t k = 0; k < c->n_distances; ++k) {
    const float *n = c->contacts[k].normal;
    const uint32_t i = c->contacts[k].particle;
    p[k] = share * fmaxf(push[0][i] * n[0] + push[1][i] * n[1] + push[2][i] * n[2], 0);
  }
}

void flo_constraint_start_unknowns(const FloWorld *world, FloConstraint *c, double share) {
  const float *warm = world->sets[FLO_SET_FLUID].extra[FLO_CONSTRAINT_WARM];
  const float per_force = (float)(share * c->dt), per_pressure = (float)(share * c->dt * c->rest_volume);
  for (size_t i = 0; i < c->n_fluid; ++i) c->p[i] = per_pressure * warm[i];
  start_wet(world, c, FLO_SET_BOUNDARY, 0, c->n_walls, per_force);
  start_wet(world, c, FLO_SET_RIGID, c->n_walls, c->n_bodies, per_force);
  flo_constraint_start_feet(c);
  start_distances(world, c, per_force);
}

// Where viscosity is implicit, all of them: it removes the velocities by which the missing part would
// otherwise show in the next step, and pressures would stay too low.
double flo_constraint_warmth(const FloWorld *world, const FloConstraint *c) {
  const double warmth = world->params[FLO_CONSTRAINT_WARM_START];
  return warmth > 0 && c->forces.is_implicit ? 1 : warmth;
}

// ---- Viscosity ----

typedef struct Guess {
  FloConstraint *c;
  const FloParticles *fluid;
} Guess;

// The rows' impulses are felt by viscosity.
static void guess_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Guess *guess = context;
  FloConstraint *c = guess->c;
  for (size_t i = begin; i < end; ++i)
    for (size_t k = 4 * i; k < 4 * i + 4; ++k) {
      const bool is_moved = !guess->fluid->held[i] && k < 4 * i + 3;
      c->felt[k] = c->force[k], c->viscous[k] = c->start[k];
      c->other[k] = is_moved ? (float)c->dt * c->force[k] : 0;
    }
}

static void finish_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Guess *guess = context;
  FloConstraint *c = guess->c;
  for (size_t k = 4 * begin; k < 4 * end; ++k)
    c->start[k] = c->viscous[k] - c->other[k] / guess->fluid->mass[k / 4];
}

FloStatus flo_constraint_make_viscous(FloWorld *world, FloConstraint *c, FloError *error) {
  Guess guess = {c, &world->sets[FLO_SET_FLUID]};
  if (!c->forces.is_implicit) return FLO_OK;
  flo_constraint_start_unknowns(world, c, 1);
  flo_constraint_find_forces(world, c);
  flo_each_particle(world, FLO_SET_FLUID, guess_range, &guess);
  flo_implicit_guess_bodies(world, c->dt);
  FLO_TRY(flo_forces_solve_viscous(&c->forces, world, c->dt, c->other, c->viscous, c->explicit_force, error));
  flo_implicit_guess_bodies(world, -c->dt);
  flo_each_particle(world, FLO_SET_FLUID, finish_range, &guess);
  return FLO_OK;
}
