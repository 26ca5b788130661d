// Forces of elastic solids of particles; see particles.h. Each particle gathers from its neighbours, so sums
// have the same order for any number of threads.
#include "base/parallel.h"
#include "base/vecmath.h"
#include "soft/particles.h"
#include "soft/rotation.h"

#include <string.h>

enum { GRAIN = 128 };

typedef struct Sweep {
  FloSoftParticles *p;
  const double *x, *v;
} Sweep;

// out = a b, with matrices of three rows.
static void multiply(const double a[9], const double b[9], double out[9]) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

// out = a^T b.
static void multiply_back(const double a[9], const double b[9], double out[9]) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
}

// ---- Deformation and stress ----

// The sum of c x_ij X_ij^T / V_i.
static void find_spread(const FloSoftParticles *p, const double *x, size_t i, double sum[9]) {
  const double *here = x + 3 * i, *rest = p->rest + 3 * i;
  memset(sum, 0, 9 * sizeof *sum);
  for (size_t k = p->begin[i]; k < p->begin[i + 1]; ++k) {
    const size_t j = 3 * (size_t)p->others[k];
    double now[3], then[3];
    vec_sub(x + j, here, now);
    vec_sub(p->rest + j, rest, then);
    vec_scale(then, p->weights[k] / p->volumes[i], then);
    for (int row = 0; row < 3; ++row) vec_add_scaled(sum + 3 * row, then, now[row], sum + 3 * row);
  }
  if (p->dim == 2) sum[8] = 1;
}

// The deformation of a particle: its gradient F, the rotation in it, and the strain seen without it.
typedef struct Strain {
  double f[9], r[9], e[9];
} Strain;

static void find_strain(const FloSoftParticles *p, const double *x, size_t i, Strain *s) {
  double spread[9];
  find_spread(p, x, i, spread);
  multiply(spread, p->corrections + 9 * i, s->f);
  flo_rotation_in(p->dim, s->f, s->r);
  multiply_back(s->r, s->f, s->e);
  for (int e = 0; e < 9; e += 4) s->e[e] -= 1;
}

// (11): the gradient u of displacements without correction, and Green's strain.
static void find_plain_strain(const FloSoftParticles *p, const double *x, size_t i, Strain *s) {
  double u[9], square[9];
  find_spread(p, x, i, s->f);
  flo_rotation_in(p->dim, s->f, s->r);
  multiply_back(s->r, s->f, u);
  for (int e = 0; e < 9; ++e) u[e] -= p->corrections[9 * i + (size_t)e];
  multiply_back(u, u, square);
  for (int e = 0; e < 9; ++e) s->e[e] = (u[e] + u[3 * (e % 3) + e / 3] + square[e]) / 2;
  for (int e = 0; e < 9; ++e) s->f[e] = u[e] + (e % 4 == 0); // as the paper uses it in (12)
}

// 2 mu e + lambda tr e.
static void find_stress(const FloSoftParticles *p, const double e[9], double s[9]) {
  const double pressure = p->lambda * (e[0] + e[4] + e[8]);
  for (int k = 0; k < 9; ++k) s[k] = 2 * p->mu * e[k] + (k % 4 == 0 ? pressure : 0);
}

// Q, with which a particle pushes its neighbours.
static void find_push(FloSoftParticles *p, const double *x, size_t i) {
  Strain strain;
  double s[9], turned[9], *q = p->stresses + 9 * i;
  if (p->is_plain) {
    find_plain_strain(p, x, i, &strain);
    find_stress(p, strain.e, s);
    multiply(strain.f, s, turned);
    multiply(strain.r, turned, q);
    return;
  }
  find_strain(p, x, i, &strain);
  find_stress(p, strain.e, s);
  multiply(strain.r, s, turned);
  multiply(turned, p->corrections + 9 * i, q);
  for (int e = 0; e < 9; ++e) q[e] -= p->hold * strain.f[e];
}

static void find_pushes(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Sweep *sweep = context;
  for (size_t i = begin; i < end; ++i) find_push(sweep->p, sweep->x, i);
}

// ---- Forces ----

static double along(const double way[3], const double change[3]) {
  const double square = vec_dot(way, way);
  return square > 0 ? vec_dot(way, change) / square : 0;
}

static void add_pair(const Sweep *sweep, size_t i, size_t k, double force[3]) {
  const FloSoftParticles *p = sweep->p;
  const size_t j = p->others[k];
  double now[3], then[3], change[3], q[9], pull[3];
  vec_sub(sweep->x + 3 * j, sweep->x + 3 * i, now);
  vec_sub(sweep->v + 3 * j, sweep->v + 3 * i, change);
  vec_sub(p->rest + 3 * j, p->rest + 3 * i, then);
  for (int e = 0; e < 9; ++e) q[e] = p->stresses[9 * i + (size_t)e] + p->stresses[9 * j + (size_t)e];
  mat_apply(q, then, pull);
  vec_add_scaled(pull, now, 2 * p->hold + p->friction * along(now, change), pull);
  vec_add_scaled(force, pull, p->weights[k], force);
}

static void gather_forces(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Sweep *sweep = context;
  const FloSoftParticles *p = sweep->p;
  for (size_t i = begin; i < end; ++i) {
    double force[3] = {0};
    for (size_t k = p->begin[i]; k < p->begin[i + 1]; ++k) add_pair(sweep, i, k, force);
    vec_copy(force, p->forces + 3 * i);
  }
}

void flo_particles_push(FloSoftParticles *p, const double *x, const double *v, int threads) {
  Sweep sweep = {p, x, v};
  flo_parallel_for(threads, p->n, GRAIN, find_pushes, &sweep);
  flo_parallel_for(threads, p->n, GRAIN, gather_forces, &sweep);
}

// ---- Energy ----

static double unseen_energy(const FloSoftParticles *p, const double *x, size_t i, const double f[9]) {
  double sum = 0;
  for (size_t k = p->begin[i]; k < p->begin[i + 1]; ++k) {
    const size_t j = 3 * (size_t)p->others[k];
    double now[3], then[3], seen[3];
    vec_sub(x + j, x + 3 * i, now);
    vec_sub(p->rest + j, p->rest + 3 * i, then);
    mat_apply(f, then, seen);
    vec_sub(now, seen, now);
    sum += p->weights[k] * vec_dot(now, now);
  }
  return p->hold / 2 * sum;
}

static void find_energies(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Sweep *sweep = context;
  const FloSoftParticles *p = sweep->p;
  for (size_t i = begin; i < end; ++i) {
    Strain s;
    double stress[9], sum = 0;
    (p->is_plain ? find_plain_strain : find_strain)(p, sweep->x, i, &s);
    find_stress(p, s.e, stress);
    for (int e = 0; e < 9; ++e) sum += stress[e] * s.e[e] / 2;
    p->energies[i] = p->volumes[i] * sum + (p->is_plain ? 0 : unseen_energy(p, sweep->x, i, s.f));
  }
}

double flo_particles_energy(FloSoftParticles *p, const double *x, int threads) {
  Sweep sweep = {p, x, x};
  double sum = 0;
  flo_parallel_for(threads, p->n, GRAIN, find_energies, &sweep);
  for (size_t i = 0; i < p->n; ++i) sum += p->energies[i];
  return sum;
}

// ---- The fastest oscillation ----

enum { POWER_ITERATIONS = 60 };

// Scales u to unit length and returns its length before.
static double normalise(double *u, size_t n) {
  double square = 0;
  for (size_t k = 0; k < n; ++k) square += u[k] * u[k];
  const double length = sqrt(square);
  for (size_t k = 0; k < n && length > 0; ++k) u[k] /= length;
  return length;
}

// Fills u with numbers of both signs that follow no pattern of the body.
static void start_power(const FloSoftParticles *p, double *u) {
  uint32_t bits = 1;
  for (size_t k = 0; k < 3 * p->n; ++k) {
    bits = bits * 1664525u + 1013904223u;
    u[k] = p->dim == 2 && k % 3 == 2 ? 0 : (double)bits / 4294967296.0 - 0.5;
  }
  normalise(u, 3 * p->n);
}

// M^-1 times the forces that u causes as a small displacement, or as a velocity.
static void answer(FloSoftParticles *p, const double *masses, bool is_velocity, double *u, double *x) {
  const double size = is_velocity ? 1 : 1e-5 * p->support;
  for (size_t k = 0; k < 3 * p->n; ++k) x[k] = p->rest[k] + (is_velocity ? 0 : size * u[k]);
  double *v = p->end_v;
  for (size_t k = 0; k < 3 * p->n; ++k) v[k] = is_velocity ? u[k] : 0;
  flo_particles_push(p, x, v, 1);
  for (size_t k = 0; k < 3 * p->n; ++k) u[k] = -p->forces[k] / (masses[k / 3] * size);
}

// Power iteration. A few per cent below the true value, which the length of steps allows for.
static double largest_eigenvalue(FloSoftParticles *p, const double *masses, bool is_velocity, double *u) {
  double value = 0;
  start_power(p, u);
  for (int k = 0; k < POWER_ITERATIONS; ++k) {
    answer(p, masses, is_velocity, u, p->end);
    value = normalise(u, 3 * p->n);
  }
  return value;
}

FloStatus flo_particles_find_pace(FloSoftParticles *p, const double *masses, FloMemory *memory,
                                  FloError *error) {
  FloBuffer buffer = {0};
  FLO_TRY(flo_buffer_reserve(memory, &buffer, 3 * p->n * sizeof(double) + 1, 0, error));
  p->pace = largest_eigenvalue(p, masses, false, buffer.data);
  p->slow = largest_eigenvalue(p, masses, true, buffer.data);
  flo_buffer_free(memory, &buffer);
  return FLO_OK;
}
