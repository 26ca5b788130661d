// The iterations: projected Jacobi (4.1), and the nonsmooth nonlinear conjugate gradient method made
// from it (Algorithm 2). All sums are formed in a fixed order.
#include "base/parallel.h"
#include "coupling/monolithic.h"

#include <string.h>

enum { BLOCKS_PER_CHUNK = 64, ROWS_PER_CHUNK = 1024, CHUNKS_AT_ONCE = 16 };

typedef struct Solve {
  FloWorld *world;
  FloMonolithic *mono;
  float relaxation, contact_relaxation, beta;
  bool is_restart;
  bool has_yields; // of this iteration, to be refined
} Solve;

// ---- From unknowns to velocities ----

// Force, torque and number of active contacts of one chunk of touches.
static void sum_chunk(const FloMonolithic *mono, const FloTouchChunk *chunk, double sums[7]) {
  for (int k = 0; k < 7; ++k) sums[k] = 0;
  for (uint32_t n = chunk->begin; n < chunk->end; ++n) {
    const FloTouch *t = &mono->touches[mono->touch_order[n]];
    if (t->row < mono->n_fluid) {
      double p = (double)mono->pressure[t->row];
      for (int k = 0; k < 6; ++k) sums[k] += p * (double)t->j[k];
      continue;
    }
    const FloContact *contact = &mono->contacts[t->row - mono->n_fluid];
    double p = (double)contact->pressure, torque[3];
    double arm[3] = {(double)t->arm[0], (double)t->arm[1], (double)t->arm[2]};
    double lambda[3] = {(double)contact->friction[0], (double)contact->friction[1],
                        (double)contact->friction[2]};
    vec_cross(arm, lambda, torque);
    for (int axis = 0; axis < 3; ++axis) {
      sums[axis] += p * (double)t->j[axis] + (double)t->weight * lambda[axis];
      sums[axis + 3] +=
          p * (double)t->j[axis + 3] + torque[axis] + (double)t->weight * (double)contact->torque[axis];
    }
    sums[6] += contact->pressure > 0 || contact->error < 0;
  }
}

static void chunk_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloMonolithic *mono = ((Solve *)context)->mono;
  for (size_t k = begin; k < end; ++k)
    sum_chunk(mono, &mono->chunks[k], mono->chunk_sums + FLO_CHUNK_SUMS * k);
}

// (3.11b) and (3.11c).
static void move_partner(const FloWorld *world, const FloMonolithic *mono, size_t k) {
  FloPartner *partner = &mono->partners[k];
  const FloRigid *rigid = &flo_bodies(world)[k].rigid;
  double spin[3];
  mat_apply(rigid->inverse_inertia, partner->torque, spin);
  for (int axis = 0; axis < 3; ++axis) {
    partner->velocity[axis] =
        partner->start[axis] + mono->dt * rigid->inverse_mass[axis] * partner->force[axis];
    partner->angular_velocity[axis] = partner->turn_start[axis] + mono->dt * spin[axis];
    partner->motion[axis] = (float)partner->velocity[axis];
    partner->motion[axis + 3] = (float)partner->angular_velocity[axis];
  }
}

static void apply_to_bodies(Solve *solve) {
  FloWorld *world = solve->world;
  FloMonolithic *mono = solve->mono;
  flo_parallel_for(world->threads, mono->n_chunks, CHUNKS_AT_ONCE, chunk_range, solve);
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloPartner *partner = &mono->partners[k];
    vec_set(partner->force, 0, 0, 0);
    vec_set(partner->torque, 0, 0, 0);
    partner->n_active = 0;
  }
  for (size_t k = 0; k < mono->n_chunks; ++k) {
    FloPartner *partner = &mono->partners[mono->chunks[k].body];
    vec_add(partner->force, mono->chunk_sums + FLO_CHUNK_SUMS * k, partner->force);
    vec_add(partner->torque, mono->chunk_sums + FLO_CHUNK_SUMS * k + 3, partner->torque);
    partner->n_active += mono->chunk_sums[FLO_CHUNK_SUMS * k + 6];
  }
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (flo_bodies(world)[k].kind == FLO_BODY_DYNAMIC) move_partner(world, mono, k);
}

// Pressure force (3.15), split into what the neighbours' pressures do and what the particle's own does, whose
// sum of gradients is known; and the velocity that follows.
static void fluid_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  FloMonolithic *mono = solve->mono;
  const FloPairs *pairs = &solve->world->fluid_fluid;
  const FloSweep sweep = {pairs, mono->pressure, mono->force};
  const float *mass = solve->world->sets[FLO_SET_FLUID].mass;
  const uint16_t *held = solve->world->sets[FLO_SET_FLUID].held;
  const float volume = (float)mono->rest_volume, dt = (float)mono->dt;
  flo_passes()->gradient(&sweep, begin, end);
  for (size_t i = begin * FLO_BLOCK; i < flo_min_size(end * FLO_BLOCK, mono->n_fluid); ++i) {
    float *f = mono->force + 4 * i, *v = mono->velocity + 4 * i, p = mono->pressure[i];
    const float *g = mono->steep + 4 * i, *start = mono->start + 4 * i;
    float per_mass = held[i] ? 0 : dt / mass[i];
    for (int axis = 0; axis < 4; ++axis) {
      f[axis] = -volume * (volume * f[axis] + p * g[axis]);
      v[axis] = start[axis] + per_mass * f[axis];
    }
  }
}

void flo_monolithic_apply(FloWorld *world, FloMonolithic *mono) {
  Solve solve = {.world = world, .mono = mono};
  apply_to_bodies(&solve);
  flo_parallel_for(world->threads, world->fluid_fluid.n_blocks, BLOCKS_PER_CHUNK, fluid_range, &solve);
}

// ---- From velocities to errors ----

static float along(const FloTouch *t, const float motion[6]) {
  float sum = 0;
  for (int k = 0; k < 6; ++k) sum += t->j[k] * motion[k];
  return sum;
}

// What bodies do to the volume of the fluid next to them.
static void coupled_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloMonolithic *mono = ((Solve *)context)->mono;
  float scale = (float)(mono->dt / mono->rest_volume);
  for (size_t n = begin; n < end; ++n) {
    uint32_t row = mono->coupled[n];
    float sum = 0;
    for (uint32_t k = mono->fluid_touch_begin[n]; k < mono->fluid_touch_begin[n + 1]; ++k)
      sum += along(&mono->touches[k], mono->partners[mono->touches[k].body].motion);
    mono->source[row] = mono->own_source[row] + scale * sum;
  }
}

// (3.14).
static void error_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  FloMonolithic *mono = solve->mono;
  const FloSweep sweep = {&solve->world->fluid_fluid, mono->velocity, mono->error};
  const float volume = (float)mono->rest_volume, dt = (float)mono->dt;
  flo_passes()->divergence(&sweep, begin, end);
  for (size_t i = begin * FLO_BLOCK; i < flo_min_size(end * FLO_BLOCK, mono->n_fluid); ++i) {
    const float *g = mono->steep + 4 * i, *v = mono->velocity + 4 * i;
    float own = v[0] * g[0] + v[1] * g[1] + v[2] * g[2];
    mono->error[i] = mono->source[i] - dt * (own - volume * mono->error[i]);
  }
}

static float dot3(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// (3.10) and (3.21), the latter with the weights and arms of the mirrored forces (3.22): the matrix is then
// symmetric, and the velocity is that of the two bodies at one point.
static void evaluate_contact(const FloMonolithic *mono, FloContact *contact) {
  float sum = 0, v[3] = {contact->bias[0] - contact->wall[0], contact->bias[1] - contact->wall[1],
                         contact->bias[2] - contact->wall[2]};
  for (uint32_t k = contact->first; k < contact->first + contact->count; ++k) {
    const FloTouch *t = &mono->touches[k];
    const float *m = mono->partners[t->body].motion, *omega = m + 3, *arm = t->arm;
    sum += along(t, m);
    v[0] += t->weight * m[0] + omega[1] * arm[2] - omega[2] * arm[1];
    v[1] += t->weight * m[1] + omega[2] * arm[0] - omega[0] * arm[2];
    v[2] += t->weight * m[2] + omega[0] * arm[1] - omega[1] * arm[0];
  }
  contact->error = contact->gap + (float)mono->dt / contact->volume * sum;
  float normal = dot3(v, contact->normal);
  for (int axis = 0; axis < 3; ++axis) contact->velocity[axis] = v[axis] - normal * contact->normal[axis];
}

// How fast the bodies of a contact turn against each other.
static void evaluate_spin(const FloMonolithic *mono, FloContact *contact) {
  for (int axis = 0; axis < 3; ++axis) contact->spin[axis] = -contact->wall_spin[axis];
  for (uint32_t k = contact->first; k < contact->first + contact->count; ++k) {
    const FloTouch *t = &mono->touches[k];
    for (int axis = 0; axis < 3; ++axis)
      contact->spin[axis] += t->weight * mono->partners[t->body].motion[axis + 3];
  }
}

static void contact_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloMonolithic *mono = ((Solve *)context)->mono;
  for (size_t k = begin; k < end; ++k) {
    evaluate_contact(mono, &mono->contacts[k]);
    if (mono->contacts[k].roll_limit > 0) evaluate_spin(mono, &mono->contacts[k]);
  }
}

void flo_monolithic_evaluate(FloWorld *world, FloMonolithic *mono) {
  Solve solve = {.world = world, .mono = mono};
  flo_parallel_for(world->threads, mono->n_coupled, 1024, coupled_range, &solve);
  flo_parallel_for(world->threads, world->fluid_fluid.n_blocks, BLOCKS_PER_CHUNK, error_range, &solve);
  flo_parallel_for(world->threads, mono->n_contacts, ROWS_PER_CHUNK, contact_range, &solve);
}

// ---- Diagonals with relaxation ----

// Several rows push one body at once, and each must know it. Giving every row a share of the body's mass
// (Tonge et al. 2012), in equal parts to contacts and in parts that suit them to fluid rows, keeps the
// iteration stable; with contacts alone it is the contact count of (4.5).
static double contact_share(const FloPartner *partner) {
  return fmax(partner->n_active, 1) * (partner->fluid_load > 0 ? 2 : 1);
}

// Along locked axes a contact cannot move anything. One whose normal lies mostly along them, so that the body
// could give way only sideways, or by what rounding leaves, carries no pressure. Without locks a body can
// always do more than just move along the normal.
#define LEAST_RESPONSE 0.25

static double free_response(const FloWorld *world, const FloTouch *t) {
  double square = (double)(t->j[0] * t->j[0] + t->j[1] * t->j[1] + t->j[2] * t->j[2]);
  return square / flo_bodies(world)[t->body].rigid.mass;
}

static void share_contact(const FloWorld *world, const FloMonolithic *mono, FloContact *contact) {
  double diagonal = 0, slip = 0, slip_alone = 0, response = 0, unlocked = 0, spin = 0, spin_alone = 0;
  for (uint32_t k = contact->first; k < contact->first + contact->count; ++k) {
    const FloTouch *t = &mono->touches[k];
    double share = contact_share(&mono->partners[t->body]);
    diagonal += share * (double)t->response;
    slip += share * (double)t->slip;
    slip_alone += (double)t->slip;
    spin += share * (double)t->spin;
    spin_alone += (double)t->spin;
    response += (double)t->response;
    unlocked += free_response(world, t);
  }
  if (response < LEAST_RESPONSE * unlocked) diagonal = 0;
  contact->diagonal = (float)(mono->dt * mono->dt / (double)contact->volume * diagonal);
  contact->slip_diagonal = (float)(mono->dt * slip_alone);
  contact->slip_share = slip > 0 ? (float)(slip_alone / slip) : 0;
  contact->spin_diagonal = (float)(mono->dt * spin_alone);
  contact->spin_share = spin > 0 ? (float)(spin_alone / spin) : 0;
}

static void share_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  for (size_t k = begin; k < end; ++k) share_contact(solve->world, solve->mono, &solve->mono->contacts[k]);
}

// Bodies besides the main one are shared like contacts are; see below for the main one. Once a step: the
// loads of fluid do not depend on the unknowns.
static void share_fluid(const FloMonolithic *mono) {
  for (size_t n = 0; n < mono->n_coupled; ++n) {
    double load = 0;
    for (uint32_t k = mono->fluid_touch_begin[n]; k < mono->fluid_touch_begin[n + 1]; ++k)
      if (!mono->touches[k].is_main) load += 2 * mono->partners[mono->touches[k].body].fluid_load;
    mono->diagonal[mono->coupled[n]] *= (float)(1 + load);
  }
}

// ---- How bodies give way to fluid ----
//
// All fluid rows around a light body would push it at once, each as if it were alone. But the matrix of those
// rows is a diagonal D plus c J M^-1 J^T of rank six, which can be inverted (Woodbury):
//   (D + c J M^-1 J^T)^-1 e = D^-1 e - D^-1 J y,   y = (M/c + J^T D^-1 J)^-1 J^T D^-1 e
// with c = dt^2/V0, over the rows that are active now. Six numbers for each body, and a light body slows the
// iteration no more than fluid does.

static bool is_active(const FloMonolithic *mono, uint32_t row) {
  return mono->pressure[row] > 0 || mono->error[row] < 0;
}

enum {
  N_YIELD_SUMS = 6 + 21
}; // J^T D^-1 e and the upper half of J^T D^-1 J; they follow the first seven sums

// Whether a row would be clamped if the body yielded as it is known to.
static bool lets_go(const Solve *solve, const FloTouch *t) {
  const FloMonolithic *mono = solve->mono;
  float error = mono->error[t->row] - along(t, mono->partners[t->body].yield);
  return solve->has_yields && !(mono->pressure[t->row] > solve->relaxation * error / mono->diagonal[t->row]);
}

static void sum_yield(const Solve *solve, const FloTouchChunk *chunk, double sums[N_YIELD_SUMS]) {
  const FloMonolithic *mono = solve->mono;
  for (int k = 0; k < N_YIELD_SUMS; ++k) sums[k] = 0;
  for (uint32_t n = chunk->begin; n < chunk->end; ++n) {
    const FloTouch *t = &mono->touches[mono->touch_order[n]];
    if (t->row >= mono->n_fluid || !t->is_main || !is_active(mono, t->row)) continue;
    if (!(mono->diagonal[t->row] > 0)) continue;
    if (lets_go(solve, t)) {
      double lost = (double)(mono->pressure[t->row] / solve->relaxation);
      for (int i = 0; i < 6; ++i) sums[i] += (double)t->j[i] * lost;
      continue;
    }
    double per_diagonal = 1 / (double)mono->diagonal[t->row], *matrix = sums + 6;
    for (int i = 0; i < 6; ++i) {
      double j = (double)t->j[i] * per_diagonal;
      sums[i] += j * (double)mono->error[t->row];
      for (int k = i; k < 6; ++k) *matrix++ += j * (double)t->j[k];
    }
  }
}

static void yield_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloMonolithic *mono = ((Solve *)context)->mono;
  for (size_t k = begin; k < end; ++k)
    if (mono->partners[mono->chunks[k].body].has_fluid)
      sum_yield(context, &mono->chunks[k], mono->chunk_sums + FLO_CHUNK_SUMS * k + 7);
}

static void swap_rows(double a[6][6], double b[6], int i, int k) {
  double kept = b[i];
  b[i] = b[k], b[k] = kept;
  for (int column = 0; column < 6; ++column) {
    kept = a[i][column];
    a[i][column] = a[k][column], a[k][column] = kept;
  }
}

// Solves a x = b, with pivots; x is left in b.
static void solve_six(double a[6][6], double b[6]) {
  for (int i = 0; i < 6; ++i) {
    int pivot = i;
    for (int k = i + 1; k < 6; ++k)
      if (fabs(a[k][i]) > fabs(a[pivot][i])) pivot = k;
    swap_rows(a, b, i, pivot);
    for (int row = i + 1; row < 6; ++row) {
      double factor = a[row][i] / a[i][i];
      for (int k = i; k < 6; ++k) a[row][k] -= factor * a[i][k];
      b[row] -= factor * b[i];
    }
  }
  for (int i = 5; i >= 0; --i) {
    for (int k = i + 1; k < 6; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
}

// Times M^-1 of a body and a number.
static void mobility(const FloRigid *rigid, double scale, const double v[6], double out[6]) {
  mat_apply(rigid->inverse_inertia, v + 3, out + 3);
  for (int axis = 0; axis < 3; ++axis) {
    out[axis] = scale * rigid->inverse_mass[axis] * v[axis];
    out[axis + 3] *= scale;
  }
}

void flo_monolithic_give_way(const FloRigid *rigid, double scale, const double sums[27], double y[6]) {
  double a[6][6], full[6][6];
  const double *upper = sums + 6;
  for (int i = 0; i < 6; ++i)
    for (int k = i; k < 6; ++k) full[i][k] = full[k][i] = *upper++;
  mobility(rigid, scale, sums, y);
  for (int column = 0; column < 6; ++column) {
    double moved[6];
    mobility(rigid, scale, full[column], moved); // symmetric: a row is a column
    for (int i = 0; i < 6; ++i) a[i][column] = moved[i] + (i == column);
  }
  solve_six(a, y);
}

// A body that has contacts as well gives only half of its mass to fluid.
static void find_yield(const FloMonolithic *mono, const FloRigid *rigid, FloPartner *partner,
                       const double sums[N_YIELD_SUMS]) {
  double y[6], scale = mono->dt * mono->dt / mono->rest_volume * (partner->n_active > 0 ? 2 : 1);
  flo_monolithic_give_way(rigid, scale, sums, y);
  for (int k = 0; k < 6; ++k) partner->yield[k] = (float)y[k];
}

static void find_yields_once(Solve *solve) {
  FloMonolithic *mono = solve->mono;
  FloWorld *world = solve->world;
  flo_parallel_for(world->threads, mono->n_chunks, CHUNKS_AT_ONCE, yield_range, solve);
  for (size_t k = 0; k < mono->n_chunks;) {
    uint32_t body = mono->chunks[k].body;
    bool has_fluid = mono->partners[body].has_fluid;
    double sums[N_YIELD_SUMS] = {0};
    for (; k < mono->n_chunks && mono->chunks[k].body == body; ++k)
      for (size_t i = 0; i < N_YIELD_SUMS && has_fluid; ++i)
        sums[i] += mono->chunk_sums[FLO_CHUNK_SUMS * k + 7 + i];
    if (has_fluid) find_yield(mono, &flo_bodies(world)[body].rigid, &mono->partners[body], sums);
  }
}

// A row whose pressure is clamped does not do what the others count on, and a body far lighter than a fluid
// particle would be thrown by what is missing. So the yields are found again, with the rows that the last
// ones clamp: these lose all of their pressure, D dp = -D p in place of -(e - J y), and no more.
static void find_yields(Solve *solve) {
  enum { ROUNDS = 3 };
  if (solve->mono->n_coupled == 0) return;
  for (int k = 0; k < ROUNDS; ++k) {
    solve->has_yields = k > 0;
    find_yields_once(solve);
  }
}

// ---- Projected Jacobi ----

enum { SUM_SQUARE, SUM_RESIDUAL, SUM_ACTIVE, SUM_PRESSURE, N_SUMS };

// Fischer-Burmeister: zero exactly where pressure and error are not negative and one of them is zero.
static double complementarity(double error, double pressure) {
  return fabs(error + pressure - sqrt(error * error + pressure * pressure));
}

// What the main body's yielding leaves of the errors of coupled rows that are active.
static void correct_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloMonolithic *mono = ((Solve *)context)->mono;
  for (size_t n = begin; n < end; ++n) {
    uint32_t row = mono->coupled[n];
    mono->corrected[n] = mono->error[row];
    for (uint32_t k = mono->fluid_touch_begin[n]; k < mono->fluid_touch_begin[n + 1]; ++k)
      if (mono->touches[k].is_main && is_active(mono, row))
        mono->corrected[n] -= along(&mono->touches[k], mono->partners[mono->touches[k].body].yield);
  }
}

// (4.1a) for fluid. The square is that of the move in the norm of the matrix, in joule, so that those of
// pressures and of friction may be added.
static void propose_fluid(const void *context, size_t begin, size_t end, double *sums) {
  const Solve *solve = context;
  FloMonolithic *mono = solve->mono;
  const uint16_t *held = solve->world->sets[FLO_SET_FLUID].held;
  for (size_t i = begin; i < end; ++i) {
    float p = mono->pressure[i], d = mono->diagonal[i], error = mono->error[i];
    float moved = held[i] || !(d > 0) ? 0 : p - solve->relaxation * error / d;
    mono->move[i] = (moved > 0 ? moved : 0) - p;
    if (held[i]) continue;
    sums[SUM_SQUARE] -= (double)(mono->move[i] * error);
    if (p > 0 || error < 0) {
      sums[SUM_RESIDUAL] += complementarity((double)error, (double)(p * d));
      sums[SUM_PRESSURE] += (double)(p * d);
      sums[SUM_ACTIVE] += 1;
    }
  }
}

// The same again for rows next to bodies, which know more.
static void propose_coupled(const void *context, size_t begin, size_t end, double *sums) {
  const Solve *solve = context;
  FloMonolithic *mono = solve->mono;
  for (size_t n = begin; n < end; ++n) {
    uint32_t i = mono->coupled[n];
    float p = mono->pressure[i], d = mono->diagonal[i], error = mono->error[i];
    if (solve->world->sets[FLO_SET_FLUID].held[i] || !(d > 0)) continue;
    float moved = p - solve->relaxation * mono->corrected[n] / d, before = mono->move[i];
    mono->move[i] = (moved > 0 ? moved : 0) - p;
    sums[SUM_SQUARE] -= (double)((mono->move[i] - before) * error);
    if (!(p > 0 || error < 0)) continue;
    sums[SUM_RESIDUAL] += complementarity((double)error, (double)(p * d));
    sums[SUM_ACTIVE] += 1;
  }
}

static void clamp_length(float v[3], float longest) {
  float length = sqrtf(dot3(v, v));
  if (length <= longest) return;
  for (int axis = 0; axis < 3; ++axis) v[axis] *= longest / length;
}

// A step of a multiplier of three parts that is at most `longest`: friction, or the torque against rolling.
static void propose_bounded(const float now[3], const float velocity[3], float step, float longest,
                            float move[3]) {
  float wanted[3];
  for (int axis = 0; axis < 3; ++axis) wanted[axis] = now[axis] - step * velocity[axis];
  clamp_length(wanted, longest);
  for (int axis = 0; axis < 3; ++axis) move[axis] = wanted[axis] - now[axis];
}

// (4.1b). The paper clamps the step first (4.8), since fast contacts would run ahead of slow ones; but then a
// contact that slides needs as many iterations as its body has contacts to reach its limit. With shares of
// mass the plain step is stable, and such a contact is at its limit at once.
static void propose_friction(FloContact *c, float relaxation, float moved) {
  float step = c->slip_diagonal > 0 ? relaxation * c->slip_share / c->slip_diagonal : 0;
  propose_bounded(c->friction, c->velocity, step, c->cone * moved, c->friction_move);
  if (!(c->roll_limit > 0)) return;
  step = c->spin_diagonal > 0 ? relaxation * c->spin_share / c->spin_diagonal : 0;
  propose_bounded(c->torque, c->spin, step, c->roll_limit * moved, c->torque_move);
}

// How far a contact still slips in a step although its friction could hold it, or pulls the wrong way, in
// spacings. All contacts of a body lack friction together, so the shared diagonal tells what that does.
static double friction_residual(const FloMonolithic *mono, const FloContact *contact, double spacing) {
  float lack[3];
  if (!(contact->slip_share > 0)) return 0;
  float diagonal = contact->slip_diagonal / contact->slip_share;
  propose_bounded(contact->friction, contact->velocity, 1 / diagonal, contact->cone * contact->pressure,
                  lack);
  return (double)(sqrtf(dot3(lack, lack)) * diagonal) * mono->dt / spacing;
}

// The same for rolling, as the way that the sample is turned by.
static double rolling_residual(const FloMonolithic *mono, const FloContact *contact, double spacing) {
  float lack[3];
  const float *arm = mono->touches[contact->first].arm;
  if (!(contact->roll_limit > 0 && contact->spin_share > 0)) return 0;
  float diagonal = contact->spin_diagonal / contact->spin_share;
  propose_bounded(contact->torque, contact->spin, 1 / diagonal, contact->roll_limit * contact->pressure,
                  lack);
  return (double)(sqrtf(dot3(lack, lack) * dot3(arm, arm)) * diagonal) * mono->dt / spacing;
}

static void propose_contacts(const void *context, size_t begin, size_t end, double *sums) {
  const Solve *solve = context;
  const FloMonolithic *mono = solve->mono;
  for (size_t k = begin; k < end; ++k) {
    FloContact *c = &mono->contacts[k];
    float p = c->pressure,
          moved = c->diagonal > 0 ? p - solve->contact_relaxation * c->error / c->diagonal : 0;
    if (!(moved > 0)) moved = 0;
    c->pressure_move = moved - p;
    propose_friction(c, solve->contact_relaxation, moved);
    sums[SUM_SQUARE] -= (double)(c->volume * c->pressure_move * c->error) +
                        mono->dt * (double)dot3(c->friction_move, c->velocity);
    if (c->roll_limit > 0) sums[SUM_SQUARE] -= mono->dt * (double)dot3(c->torque_move, c->spin);
    if (!(p > 0 || c->error < 0)) continue;
    double residual = complementarity((double)c->error, (double)(p * c->diagonal)) +
                      friction_residual(mono, c, solve->world->def.spacing) +
                      rolling_residual(mono, c, solve->world->def.spacing);
    sums[SUM_RESIDUAL] += residual;
    sums[SUM_ACTIVE] += 1;
  }
}

static FloResidual propose(Solve *solve) {
  FloMonolithic *mono = solve->mono;
  int threads = solve->world->threads;
  double fluid[N_SUMS], coupled[N_SUMS], contacts[N_SUMS];
  find_yields(solve);
  flo_parallel_for(threads, mono->n_coupled, 4096, correct_range, solve);
  flo_parallel_for(threads, mono->n_contacts, ROWS_PER_CHUNK, share_range, solve);
  flo_parallel_sum(threads, mono->n_fluid, propose_fluid, solve, N_SUMS, fluid);
  flo_parallel_sum(threads, mono->n_coupled, propose_coupled, solve, N_SUMS, coupled);
  flo_parallel_sum(threads, mono->n_contacts, propose_contacts, solve, N_SUMS, contacts);
  double n_contacts = fmax(contacts[SUM_ACTIVE], 1);
  return (FloResidual){.fluid = fmax(fluid[SUM_RESIDUAL] / fmax(fluid[SUM_ACTIVE], 1),
                                     coupled[SUM_RESIDUAL] / fmax(coupled[SUM_ACTIVE], 1)),
                       .contact = contacts[SUM_RESIDUAL] / n_contacts,
                       .pressure = fluid[SUM_PRESSURE] / fmax(fluid[SUM_ACTIVE], 1),
                       .square = mono->rest_volume * (fluid[SUM_SQUARE] + coupled[SUM_SQUARE]) +
                                 contacts[SUM_SQUARE]};
}

// ---- Conjugate directions ----

// x + move + beta way, projected again: the conjugate step knows nothing of the limits.
static void advance_fluid(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  FloMonolithic *mono = solve->mono;
  const float beta = solve->beta;
  for (size_t i = begin; i < end; ++i) {
    float way = beta * mono->way[i] + mono->move[i], p = mono->pressure[i] + way;
    mono->way[i] = solve->is_restart ? 0 : way;
    mono->pressure[i] = p > 0 ? p : 0;
  }
}

static void advance_torque(const Solve *solve, FloContact *c) {
  for (int axis = 0; axis < 3; ++axis) {
    float way = solve->beta * c->torque_way[axis] + c->torque_move[axis];
    c->torque_way[axis] = solve->is_restart ? 0 : way;
    c->torque[axis] += way;
  }
  clamp_length(c->torque, c->roll_limit * c->pressure);
}

static void advance_contact(const Solve *solve, FloContact *c) {
  float way = solve->beta * c->pressure_way + c->pressure_move, p = c->pressure + way;
  c->pressure_way = solve->is_restart ? 0 : way;
  c->pressure = p > 0 ? p : 0;
  for (int axis = 0; axis < 3; ++axis) {
    float turn = solve->beta * c->friction_way[axis] + c->friction_move[axis];
    c->friction_way[axis] = solve->is_restart ? 0 : turn;
    c->friction[axis] += turn;
  }
  float normal = dot3(c->friction, c->normal);
  for (int axis = 0; axis < 3; ++axis) c->friction[axis] -= normal * c->normal[axis];
  clamp_length(c->friction, c->cone * c->pressure);
  if (c->roll_limit > 0) advance_torque(solve, c);
}

static void advance_contacts(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  for (size_t k = begin; k < end; ++k) advance_contact(solve, &solve->mono->contacts[k]);
}

static void choose_beta(Solve *solve, double square, double square_before) {
  bool is_conjugate =
      (int)solve->world->params[FLO_MONO_SOLVER] == FLO_SOLVER_NNCG && square_before > 0 && square > 0;
  double beta = is_conjugate ? square / square_before : 0; // Fletcher-Reeves
  solve->is_restart = beta > 1;
  solve->beta = beta > 1 ? 0 : (float)beta;
}

static void advance(Solve *solve, double square, double square_before) {
  FloMonolithic *mono = solve->mono;
  choose_beta(solve, square, square_before);
  flo_parallel_for(solve->world->threads, mono->n_fluid, 4096, advance_fluid, solve);
  flo_parallel_for(solve->world->threads, mono->n_contacts, ROWS_PER_CHUNK, advance_contacts, solve);
}

// ---- All of it ----

static bool is_contact_small(const FloWorld *world, const FloMonolithic *mono, double residual) {
  // What gravity moves things by in a step, in spacings; without gravity, as little as hardly shows.
  double fall = fmax(vec_length(world->def.gravity) * mono->dt * mono->dt / world->def.spacing, 1e-5);
  return residual <= world->params[FLO_MONO_CONTACT_TOLERANCE] * fall;
}

static bool is_fluid_small(const FloWorld *world, const FloMonolithic *mono, const FloResidual *r) {
  const double *params = world->params;
  // What a step leaves adds up until as much is taken back.
  double lasting = params[FLO_MONO_TOLERANCE] * mono->correction;
  // Where pressures are small, as in still water and short steps, a small error of volume is a large one of
  // pressure.
  return r->fluid <= fmin(lasting, params[FLO_MONO_PRESSURE_TOLERANCE] * r->pressure);
}

// Where fluid has found its pressures and contacts have not, these go on alone, at a small part of the cost:
// bodies move as the fluid's pressures and the contacts make them. What that does to the fluid the next
// iteration of all sees. At most `most` sweeps, which are taken off it.
static void settle_contacts(Solve *solve, int *most) {
  enum { AT_ONCE = 32 };
  FloMonolithic *mono = solve->mono;
  int threads = solve->world->threads;
  double before = 0, sums[N_SUMS];
  for (int k = 0; k<AT_ONCE && * most> 0; ++k, --*most) {
    apply_to_bodies(solve);
    flo_parallel_for(threads, mono->n_contacts, ROWS_PER_CHUNK, contact_range, solve);
    flo_parallel_for(threads, mono->n_contacts, ROWS_PER_CHUNK, share_range, solve);
    flo_parallel_sum(threads, mono->n_contacts, propose_contacts, solve, N_SUMS, sums);
    if (is_contact_small(solve->world, mono, sums[SUM_RESIDUAL] / fmax(sums[SUM_ACTIVE], 1))) return;
    choose_beta(solve, sums[SUM_SQUARE], before);
    before = sums[SUM_SQUARE];
    flo_parallel_for(threads, mono->n_contacts, ROWS_PER_CHUNK, advance_contacts, solve);
  }
}

void flo_monolithic_solve(FloWorld *world, FloMonolithic *mono) {
  Solve solve = {.world = world, .mono = mono, .relaxation = (float)world->params[FLO_MONO_RELAXATION]};
  // Shares of mass bound the largest eigenvalue by one, so contacts need half as much caution as fluid.
  solve.contact_relaxation = 2 * solve.relaxation;
  int least = (int)world->params[FLO_MONO_MIN_ITERATIONS], most = (int)world->params[FLO_MONO_MAX_ITERATIONS];
  int most_alone = 10 * most;
  double before = 0;
  FloResidual residual = {0};
  memset(mono->way, 0, mono->n_fluid * sizeof(float));
  mono->was_converged = 0;
  for (int k = 0;; ++k) {
    flo_monolithic_apply(world, mono);
    flo_monolithic_evaluate(world, mono);
    if (k == 0) {
      // Who is active at first is known only now.
      apply_to_bodies(&solve);
      share_fluid(mono);
    }
    residual = propose(&solve);
    world->iterations = k;
    bool is_fluid_done = is_fluid_small(world, mono, &residual),
         are_contacts_done = is_contact_small(world, mono, residual.contact);
    mono->was_converged = is_fluid_done && are_contacts_done;
    if ((mono->was_converged != 0 && k >= least) || k >= most) break;
    if (is_fluid_done && !are_contacts_done && mono->n_fluid > 0 && most_alone > 0) {
      settle_contacts(&solve, &most_alone);
      before = 0;
      continue;
    }
    advance(&solve, residual.square, before);
    before = residual.square;
  }
  world->residual = fmax(residual.fluid, residual.contact);
}
