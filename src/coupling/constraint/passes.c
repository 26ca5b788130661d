// Viscosity and rows as one system. The velocities v after the step fulfil
//
//   M (v - v*) = -G^T p - dt K v,   with the rows' conditions on v and p,
//
// where v* are the velocities without rows and viscosity, and K is that of Rayleigh's dissipation v . K v/2
// (forces/implicit_viscosity.h). Without K the rows are those of solve.c, and without rows conjugate
// gradients find v. Passes solve both in turn, and each starts from the other's impulses. A pass
//
//   1. solves (M + dt K) v = M v* - G^T p,
//   2. notes what each row lacks at this v: r = u - softness p - wanted,
//   3. solves the rows with the impulses of viscosity as they are.
//
// It ends the step if r is small. Otherwise the next pass starts from unknowns that take into account how
// viscosity will answer. Let S be what rows measure per unit of all unknowns, G (M + dt K)^-1 G^T. Step 3
// finds p + (G M^-1 G^T)^-1 r, which moves viscous fluid too little: by 1/(1 + nu dt k^2) for waves of number
// k. Cahouet and Chabard 1988 (Some fast 3D finite element solvers for the generalized Stokes problem) add
// the other limit, in which nothing but viscosity acts,
//
//   S^-1 = (G M^-1 G^T)^-1 + 3 rho nu dt V.
//
// 3 nu is what resists compression in the viscosity of pairs along their lines of centres. So the number of
// passes depends little on viscosity and size. Rows still obey p >= 0. The last passes are mixed (mixing.c).
//
// A step that ends although viscosity and rows disagree is counted and told of. Its residual shows by how
// much densities are off.
#include "base/parallel.h"
#include "coupling/constraint/constraint.h"

#include <math.h>
#include <string.h>

enum { ROWS_PER_CHUNK = 4096 };

// The last pass may still change pressures, and velocities of bodies, by this share of their size.
#define UNSEEN 0.01

// Rows are solved to this share of the tolerance, so that their own errors do not keep both from agreeing.
#define SHARE_OF_ROWS 0.25

typedef struct Passes {
  FloWorld *world;
  FloConstraint *c;
  // How much viscosity and rows disagree: about densities, and about pressures and velocities of bodies as
  // shares of their size.
  double density, pressure, motion;
} Passes;

// ---- How viscosity stiffens rows ----

// 3 rho nu dt of a particle.
static double thickness(const FloWorld *world, const FloConstraint *c, uint32_t particle) {
  const FloMaterial *material = &flo_materials(world)[world->sets[FLO_SET_FLUID].material[particle]];
  return 3 * material->density * material->viscosity * c->dt;
}

static double volume_of(const FloWorld *world, const FloConstraint *c, size_t row) {
  if (row < c->n_fluid || row >= flo_constraint_first_foot(c)) return c->rest_volume;
  const FloSet set = row < c->n_fluid + c->n_walls ? FLO_SET_BOUNDARY : FLO_SET_RIGID;
  return (double)world->sets[set].volume[c->wet[row - c->n_fluid]];
}

// What many rows move at once yields to each of them, so they share it.
static double yield_of_nodes(const FloConstraint *c, size_t position) {
  const uint32_t *begin = c->touch_begin + (position - c->n_coloured);
  double yield = 0;
  for (uint32_t t = begin[0]; t < begin[1]; ++t)
    for (int k = 0; k < 6; ++k) yield += c->touches[t].j[k] * c->touches[t].reply[k];
  return (double)(c->n_rows - c->n_coloured) * yield;
}

// Where viscosities differ, thin fluid yields first.
static double stiffness_of(const FloWorld *world, const FloConstraint *c, size_t position) {
  const size_t row = c->order[position];
  double weights = 0, yield = 0;
  if (row >= flo_constraint_first_distance(c) || !(c->response[row] > 0)) return 0;
  for (uint32_t n = c->link_begin[row], end = n + c->link_count[row]; n < end; ++n) {
    const float *g = c->links[n].g;
    const double weight = (double)(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    if (weight > 0) weights += weight, yield += weight / thickness(world, c, c->links[n].particle);
  }
  if (!(weights > 0)) return 0;
  yield /= weights * volume_of(world, c, row);
  return 1 / (position < c->n_coloured ? yield : yield + yield_of_nodes(c, position));
}

static void stiffness_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Passes *passes = context;
  FloConstraint *c = passes->c;
  for (size_t position = begin; position < end; ++position)
    c->stiffness[c->order[position]] = (float)stiffness_of(passes->world, c, position);
}

// ---- What rows lack ----

static void lack_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloConstraint *c = ((const Passes *)context)->c;
  for (size_t position = begin; position < end; ++position) {
    const size_t row = c->order[position];
    c->lack[row] = flo_constraint_rate_at(c, position) - c->softness[row] * c->p[row] - c->wanted[row];
  }
}

enum { SUM_LACKS, SUM_CHANGES, SUM_UNKNOWNS, N_SUMS };

// A row that does not push lacks nothing if it opens. Distances count in spacings.
static void add_lacks(const void *context, size_t begin, size_t end, double *sums) {
  const Passes *passes = context;
  const FloConstraint *c = passes->c;
  const double per_spacing = 1 / passes->world->def.spacing;
  for (size_t row = begin; row < end; ++row) {
    const double p = (double)c->p[row], r = (double)c->lack[row],
                 unit = row < flo_constraint_first_distance(c) ? 1 : per_spacing,
                 lack = unit * fmax(r, -p * (double)c->response[row]),
                 change = fmax(r * (double)c->stiffness[row], -p);
    sums[SUM_LACKS] += lack * lack, sums[SUM_CHANGES] += change * change, sums[SUM_UNKNOWNS] += p * p;
  }
}

// Notes what rows lack at the velocities that viscosity has found. Bodies may have others: before the first
// pass, contacts and joints do not act on them yet. Returns whether viscosity and rows agree about densities,
// as `tolerance` has it, and about pressures.
static bool do_rows_agree(Passes *passes) {
  FloConstraint *c = passes->c;
  FloWorld *world = passes->world;
  double sums[N_SUMS] = {0};
  double *motion = c->bodies.motion;
  if (c->forces.implicit.n_nodes) c->bodies.motion = c->forces.implicit.node_start;
  flo_parallel_for(world->threads, c->n_rows, ROWS_PER_CHUNK, lack_range, passes);
  c->bodies.motion = motion;
  flo_parallel_sum(world->threads, c->n_rows, add_lacks, passes, N_SUMS, sums);
  const double unknowns = sums[SUM_UNKNOWNS];
  passes->density = c->n_rows ? c->dt * sqrt(sums[SUM_LACKS] / (double)c->n_rows) : 0;
  passes->pressure = sums[SUM_CHANGES] > 0 ? sqrt(sums[SUM_CHANGES] / unknowns) : 0;
  return passes->density <= world->params[FLO_CONSTRAINT_TOLERANCE] && passes->pressure <= UNSEEN;
}

// The same for bodies, when rows, contacts and joints were solved.
static bool do_bodies_agree(Passes *passes) {
  const FloImplicitViscosity *v = &passes->c->forces.implicit;
  const double least =
      passes->world->params[FLO_CONSTRAINT_TOLERANCE] * passes->world->def.spacing / passes->c->dt;
  bool do_agree = true;
  passes->motion = 0;
  for (size_t k = 0; k < v->n_nodes; ++k) {
    const double *now = passes->c->bodies.motion + 6 * k, *viscous = v->node_start + 6 * k;
    const FloNode *node = flo_node_at(passes->world, k);
    double change[6];
    for (int row = 0; row < 6; ++row) change[row] = now[row] - viscous[row];
    const double off = flo_node_speed(node, change), speed = flo_node_speed(node, now);
    if (off <= fmax(least, UNSEEN * speed)) continue;
    do_agree = false, passes->motion = fmax(passes->motion, off / fmax(speed, least));
  }
  return do_agree;
}

// ---- Passes ----

static void stiffen_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloConstraint *c = ((const Passes *)context)->c;
  for (size_t row = begin; row < end; ++row) {
    const float more = c->p[row] + c->stiffness[row] * c->lack[row];
    c->move[row] = more > 0 ? more : 0;
  }
}

// Impulses of rows since the last solution. They are formed anew from the unknowns, so that they are equal
// and opposite to rounding.
static void other_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Passes *passes = context;
  FloConstraint *c = passes->c;
  for (size_t k = 4 * begin; k < 4 * end; ++k) {
    c->other[k] = k % 4 < 3 ? (float)c->dt * (c->force[k] - c->felt[k]) : 0;
    c->felt[k] = c->force[k];
  }
}

static void velocity_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Passes *passes = context;
  for (size_t i = begin; i < end; ++i)
    memcpy(passes->c->velocity + 4 * i, passes->c->viscous + 4 * i, 3 * sizeof(float));
}

static void make_viscous(Passes *passes) {
  FloConstraint *c = passes->c;
  FloWorld *world = passes->world;
  flo_parallel_for(world->threads, c->n_rows, ROWS_PER_CHUNK, stiffen_range, passes);
  flo_constraint_mix(world, c);
  flo_constraint_push_moves(world, c);
  flo_constraint_find_forces(world, c);
  flo_each_particle(world, FLO_SET_FLUID, other_range, passes);
  flo_implicit_viscosity_again(&c->forces.implicit, world, c->other, c->bodies.motion, c->explicit_force);
  flo_each_particle(world, FLO_SET_FLUID, velocity_range, passes);
  flo_implicit_begin_reactions(world);
}

static void tell_disagreement(const Passes *passes, int n_passes) {
  FloConstraint *c = passes->c;
  if (!flo_is_told(++c->n_disagreements)) return;
  flo_world_log(
      passes->world, FLO_LOG_WARNING,
      "at %.4g s viscosity and pressures do not agree after %d passes: densities by %.2g, pressures by %.2g "
      "and "
      "velocities of bodies by %.2g of their size (%zu such steps so far); raise `passes`, or use a shorter "
      "time step",
      passes->world->time, n_passes, passes->density, passes->pressure, passes->motion, c->n_disagreements);
}

FloSolveReport flo_constraint_iterate_viscous(FloWorld *world, FloConstraint *c, const FloIterating *how) {
  Passes passes = {.world = world, .c = c};
  FloIterating next = *how;
  FloSolveReport report = {0};
  const int n = (int)world->params[FLO_CONSTRAINT_PASSES];
  bool do_agree = false;
  next.is_continued = true, next.tolerance = SHARE_OF_ROWS * how->tolerance;
  flo_parallel_for(world->threads, c->n_rows, ROWS_PER_CHUNK, stiffness_range, &passes);
  flo_constraint_begin_mixing(c);
  flo_constraint_push_start(world, c);
  for (int k = 0; k < n && !do_agree; ++k) {
    if (k > 0) make_viscous(&passes);
    do_agree = do_rows_agree(&passes);
    const FloSolveReport last = flo_constraint_iterate(world, c, &next);
    report = (FloSolveReport){report.iterations + last.iterations, fmax(last.residual, passes.density)};
    do_agree = do_bodies_agree(&passes) && do_agree;
  }
  if (!do_agree) tell_disagreement(&passes, n);
  return report;
}
