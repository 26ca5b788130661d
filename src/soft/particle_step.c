// A step of an elastic solid of particles; see particles.h.
#include "base/vecmath.h"
#include "soft/body.h"
#include "soft/particles.h"

#include <string.h>

// Share of the length at which a step becomes unstable. Deformation makes a body a little stiffer, and the
// eigenvalues are estimates.
static const double SAFETY = 0.8;

// Symplectic Euler with friction is stable as long as w^2 h^2/4 + s h/2 < 1.
double flo_particles_longest_step(const FloSoftParticles *p) {
  const double w = p->pace, s = p->slow;
  return SAFETY * (sqrt(s * s / 4 + w) - s / 2) * 2 / w;
}

static size_t count_steps(const FloSoftParticles *p, double dt) {
  return (size_t)fmax(ceil(dt / flo_particles_longest_step(p) * (1 - 1e-9)), 1);
}

// Impulses on components that are held; they do not move those.
static void push(FloSoft *soft, const double *impulses, double share) {
  FloSoftParticles *p = soft->particles;
  for (size_t k = 0; k < 3 * soft->n; ++k)
    if (flo_soft_is_held(soft, k))
      soft->reaction[k] -= share * impulses[k];
    else
      p->end_v[k] += share * impulses[k] / soft->mass[k / 3];
}

// Finds the end of the step from its start. Friction of the first short step counts with the velocities
// before all impulses. So further impulses do not change its forces, which `has_forces` says are there.
static void run(FloSoft *soft, bool has_forces, int threads) {
  FloSoftParticles *p = soft->particles;
  const size_t n_steps = count_steps(p, soft->dt), n = 3 * soft->n;
  const double h = soft->dt / (double)n_steps;
  memcpy(p->end, soft->x, n * sizeof(double));
  memcpy(p->end_v, soft->start, n * sizeof(double));
  memset(soft->reaction, 0, n * sizeof(double));
  push(soft, soft->impulses, 1);
  flo_particles_unite(soft, p->end, p->end_v);
  for (size_t step = 0; step < n_steps; ++step) {
    if (step > 0 || n_steps > 1 || !has_forces)
      flo_particles_push(p, p->end, step == 0 ? soft->start : p->end_v, threads);
    push(soft, p->forces, h);
    flo_particles_unite(soft, p->end, p->end_v);
    flo_particles_drift(soft, h, p->end, p->end_v);
  }
  for (size_t k = 0; k < n; ++k)
    soft->v[k] =
        n_steps == 1 || flo_soft_is_held(soft, k) ? p->end_v[k] : (p->end[k] - soft->x[k]) / soft->dt;
}

static FloStatus check(const FloSoft *soft, const double *impulses, FloError *error) {
  for (size_t k = 0; k < 3 * soft->n; ++k)
    if (!isfinite(impulses[k]) || !isfinite(soft->v[k]))
      return flo_fail(error, FLO_DIVERGED,
                      "particle %zu of an elastic body has a velocity or impulse that is not finite; use a "
                      "shorter step",
                      k / 3);
  return FLO_OK;
}

FloStatus flo_particles_begin(FloSoft *soft, const double *impulses, double dt, int threads,
                              FloError *error) {
  soft->dt = dt;
  FLO_TRY(check(soft, impulses, error));
  memcpy(soft->start, soft->v, 3 * soft->n * sizeof *soft->v);
  memcpy(soft->impulses, impulses, 3 * soft->n * sizeof *impulses);
  run(soft, false, threads);
  return check(soft, impulses, error);
}

// Adds impulses. True if there are any.
static bool take(FloSoft *soft, const double *impulses) {
  bool has_any = false;
  for (size_t k = 0; k < 3 * soft->n; ++k)
    has_any = has_any || impulses[k] != 0, soft->impulses[k] += impulses[k];
  return has_any;
}

FloStatus flo_particles_settle(FloSoft *soft, const double *impulses, int threads, FloError *error) {
  FLO_TRY(check(soft, impulses, error));
  if (take(soft, impulses)) run(soft, true, threads);
  return check(soft, impulses, error);
}

FloStatus flo_particles_end(FloSoft *soft, const double *impulses, int threads, FloError *error) {
  FLO_TRY(flo_particles_settle(soft, impulses, threads, error));
  memcpy(soft->x, soft->particles->end, 3 * soft->n * sizeof *soft->x);
  memcpy(soft->v, soft->particles->end_v, 3 * soft->n * sizeof *soft->v);
  soft->dt = 0;
  return FLO_OK;
}
