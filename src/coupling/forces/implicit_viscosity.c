// Viscosity as an implicit step. The viscous force of a pair is that of pair.h (Monaghan 2005, eq. 8.8; the
// form of Weiler et al. 2018: A Physically Consistent Implicit Viscosity Solver for SPH Fluids). It acts
// along the line of centres, so that momentum and angular momentum are conserved. With the forces -K v of all
// pairs and masses M, the step is
//
//   (M + dt K) v = M v*,
//
// where v* are the velocities without viscosity. K is symmetric and positive semidefinite at any positions.
// The unknowns are the velocities of fluid particles and the six velocities of each node of a body. The
// velocities of walls, and of particles that an emitter guides, are given. So friction at solids is part of
// the same system, and a light body in honey needs no shorter steps than honey itself.
//
// The system is solved by conjugate gradients for the change v - v*, which is accurate even if the change is
// small. The preconditioner is M^-1, on purpose. Then each iterate is a sum of terms M^-1 K x, that is, of
// pairwise impulses. So both momenta are conserved to rounding after any number of iterations. Blocks of the
// diagonal of K would not have this property, and would help little, since they are nearly the same
// everywhere. For the same reason iterations start from no change rather than from that of the last step.
// They end at a share of the first residual.
//
// A method whose pressures are found after viscosity gives the impulses b of a guess, and may solve again
// when it knows them better. The change x of velocities fulfils
//
//   (M + dt K) x = b + (what the last solution lacked, or -dt K v* at first),
//
// and M x - b is the impulse of viscosity, again a sum over pairs. The impulses b must not act on v* before:
// K would turn pressures that nearly balance into huge forces, and rounding would change momenta.
#include "coupling/forces/implicit_viscosity.h"

#include "base/parallel.h"
#include "base/vecmath.h"
#include "solve/conjugate_gradients.h"

#include <math.h>
#include <string.h>

enum { BLOCKS_PER_CHUNK = 64 };

// Rounding error of velocities: no residual need be smaller than this share of them.
#define ROUNDING 1e-6

bool flo_implicit_viscosity_is_needed(const FloWorld *world, double choice, double dt) {
  if (world->sets[FLO_SET_FLUID].count == 0 || choice == FLO_VISCOSITY_EXPLICIT) return false;
  return choice == FLO_VISCOSITY_IMPLICIT || dt > flo_viscosity_max_dt(world);
}

double flo_implicit_viscosity_max_dt(const FloWorld *world, double choice) {
  return choice == FLO_VISCOSITY_EXPLICIT ? flo_viscosity_max_dt(world) : INFINITY;
}

// ---- Preparation ----

static const FloArrayDef array_defs[] = {FLO_VISCOUS_ARRAYS(FLO_ARRAY_DEF)};

static FloStatus reserve(FloImplicitViscosity *v, FloWorld *world, FloError *error) {
  FLO_TRY(flo_arrays_reserve(array_defs, FLO_COUNT_OF(array_defs), &(FloArraySizes){world->sets, 0},
                             &world->memory, v->array_buffers, v->arrays, error));
  double **const sixes[] = {&v->node_start, &v->node_change,   &v->node_residue, &v->node_impulse,
                            &v->node_way,   &v->node_momentum, &v->node_image,   &v->node_other};
  size_t each = 6 * world->nodes.count, size = (each * FLO_COUNT_OF(sixes) + 1) * sizeof(double);
  FLO_TRY(flo_buffer_reserve(&world->memory, &v->nodes, size, 0, error));
  memset(v->nodes.data, 0, size);
  for (size_t k = 0; k < FLO_COUNT_OF(sixes); ++k) *sixes[k] = (double *)v->nodes.data + k * each;
  return FLO_OK;
}

static void stop_walls(FloImplicitViscosity *v, const FloWorld *world) {
  for (size_t i = 0; i < world->sets[FLO_SET_BOUNDARY].count; ++i) {
    float *q = v->still_walls + 4 * i;
    q[0] = q[1] = q[2] = 0, q[3] = v->walls[4 * i + 3];
  }
}

// Whether viscosity moves a node.
static bool is_free(const FloImplicitViscosity *v, const FloNode *node) {
  return !node->is_held && !v->has_led_bodies;
}

FloStatus flo_implicit_viscosity_prepare(FloImplicitViscosity *v, FloWorld *world, double dt, float *velocity,
                                         const float *walls, const float *zeros, FloError *error) {
  v->dt = dt, v->start = velocity, v->walls = walls, v->zeros = zeros;
  FLO_TRY(reserve(v, world, error));
  FLO_TRY(flo_viscosity_prepare(&v->coefficients, world, 0, true, error));
  FLO_TRY(flo_body_rows_prepare(&v->bodies, world, error));
  v->n_fluid = world->sets[FLO_SET_FLUID].count;
  v->n_nodes = v->bodies.is_used ? world->nodes.count : 0;
  stop_walls(v, world);
  if (v->n_nodes) flo_world_read_motions(world, v->node_start);
  return FLO_OK;
}

void flo_implicit_viscosity_free(FloImplicitViscosity *v, FloMemory *memory) {
  flo_buffers_free(memory, v->array_buffers, FLO_COUNT_OF(v->array_buffers));
  flo_buffer_free(memory, &v->nodes);
  flo_buffer_free(memory, &v->coefficients.each);
  flo_body_rows_free(&v->bodies, memory);
}

// ---- Viscous forces ----

typedef struct Forces {
  FloWorld *world;
  const FloImplicitViscosity *viscosity;
  const float *velocity, *walls; // quadruples
  float *force;                  // quadruples: out
} Forces;

static FloSolidForces solid_forces(const Forces *forces, FloSet set, const float *solid) {
  const FloImplicitViscosity *v = forces->viscosity;
  return (FloSolidForces){.pairs = flo_pairs_of(forces->world, FLO_SET_FLUID, set),
                          .fluid = forces->velocity,
                          .solid = solid,
                          .solid_pressure = v->zeros,
                          .all = v->coefficients.all,
                          .coefficients = v->coefficients.is_single ? NULL : v->coefficients.each.data,
                          .force = forces->force};
}

static void fluid_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Forces *forces = context;
  FloSolidForces walls = solid_forces(forces, FLO_SET_BOUNDARY, forces->walls),
                 bodies = solid_forces(forces, FLO_SET_RIGID, forces->viscosity->bodies.motion);
  FloFluidForces among = {.pairs = flo_pairs_of(forces->world, FLO_SET_FLUID, FLO_SET_FLUID),
                          .state = forces->velocity,
                          .all = walls.all,
                          .coefficients = walls.coefficients,
                          .force = forces->force};
  flo_passes()->fluid_forces(&among, begin, end);
  flo_passes()->solid_forces_on_fluid(&walls, begin, end);
  if (forces->viscosity->n_nodes) flo_passes()->solid_forces_on_fluid(&bodies, begin, end);
}

// Finds forces on fluid (`force`) and on bodies (wrenches) for the given velocities.
static void compute_forces(FloImplicitViscosity *v, FloWorld *world, const float *velocity,
                           const double *motions, const float *walls, float *force) {
  Forces forces = {world, v, velocity, walls, force};
  if (v->n_nodes) flo_world_spread_motions(world, motions, v->bodies.motion);
  flo_each_block(world, FLO_SET_FLUID, FLO_SET_FLUID, fluid_range, &forces);
  if (!v->n_nodes) return;
  flo_body_rows_sweep(&v->bodies, world, solid_forces(&forces, FLO_SET_RIGID, NULL));
  flo_world_gather_wrenches(world, v->bodies.force, v->bodies.wrenches);
}

// ---- The operator ----

typedef struct Work {
  FloWorld *world;
  FloImplicitViscosity *viscosity;
  const float *mass;    // of fluid particles [kg]
  const uint16_t *held; // by emitters
  float *force;
  const float *other; // quadruples: impulses of others since the last solution; NULL: none [N s]
  float dt, alpha, beta;
} Work;

static Work begin_work(FloImplicitViscosity *v, FloWorld *world) {
  const FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  return (Work){.world = world, .viscosity = v, .mass = fluid->mass, .held = fluid->held, .dt = (float)v->dt};
}

static void image_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  const FloImplicitViscosity *v = work->viscosity;
  for (size_t i = begin; i < end; ++i)
    for (size_t k = 4 * i; k < 4 * i + 4; ++k)
      v->image[k] = work->held[i] ? 0 : work->mass[i] * v->way[k] - work->dt * v->image[k];
}

static void for_fluid(const Work *work, FloRangeFn range) {
  flo_each_particle(work->world, FLO_SET_FLUID, range, (void *)work);
}

void flo_implicit_viscosity_apply(FloImplicitViscosity *v, FloWorld *world) {
  Work work = begin_work(v, world);
  compute_forces(v, world, v->way, v->node_way, v->still_walls, v->image);
  for_fluid(&work, image_range);
  for (size_t k = 0; k < 6 * v->n_nodes; ++k)
    v->node_image[k] = v->node_momentum[k] - v->dt * v->bodies.wrenches[k];
}

// ---- Conjugate gradients ----

// The first residual is the impulse of viscosity at the velocities without it.
static void first_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  const FloImplicitViscosity *v = work->viscosity;
  for (size_t k = 4 * begin; k < 4 * end; ++k) v->residue[k] = work->dt * v->image[k];
}

// Impulses of others join the residual.
static void begin_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  const FloImplicitViscosity *v = work->viscosity;
  for (size_t i = begin; i < end; ++i)
    for (size_t k = 4 * i; k < 4 * i + 4; ++k) {
      if (work->other) v->residue[k] += work->other[k];
      if (work->held[i]) v->residue[k] = 0;
      v->change[k] = v->way[k] = 0;
    }
}

// In double, since the squares of the momenta of tiny drops are too small for a float.
static double dot_quads(const float *a, const float *b) {
  return (double)a[0] * (double)b[0] + (double)a[1] * (double)b[1] + (double)a[2] * (double)b[2];
}

static void sum_residue(const void *context, size_t begin, size_t end, double *sums) {
  const Work *work = context;
  const float *residue = work->viscosity->residue;
  for (size_t i = begin; i < end; ++i)
    sums[0] += dot_quads(residue + 4 * i, residue + 4 * i) / (double)work->mass[i];
}

static void sum_motion(const void *context, size_t begin, size_t end, double *sums) {
  const Work *work = context;
  const float *start = work->viscosity->start;
  for (size_t i = begin; i < end; ++i)
    sums[0] += dot_quads(start + 4 * i, start + 4 * i) * (double)work->mass[i];
}

static void sum_way(const void *context, size_t begin, size_t end, double *sums) {
  const FloImplicitViscosity *v = ((const Work *)context)->viscosity;
  for (size_t i = begin; i < end; ++i) {
    const float *a = v->way + 4 * i, *b = v->image + 4 * i;
    sums[0] += dot_quads(a, b);
  }
}

static double dot_nodes(size_t n_nodes, const double *a, const double *b) {
  double sum = 0;
  for (size_t k = 0; k < 6 * n_nodes; ++k) sum += a[k] * b[k];
  return sum;
}

static double sum_fluid(const Work *work, FloSumFn add) {
  double sum;
  flo_parallel_sum(work->world->threads, work->viscosity->n_fluid, add, work, 1, &sum);
  return sum;
}

// r . M^-1 r.
static double measure(void *context) {
  const Work *work = context;
  const FloImplicitViscosity *v = work->viscosity;
  double sum = sum_fluid(work, sum_residue);
  for (size_t k = 0; k < v->n_nodes; ++k) {
    const FloNode *node = flo_node_at(work->world, k);
    double velocities[6];
    if (!is_free(v, node)) continue;
    flo_node_apply(node, v->node_residue + 6 * k, velocities);
    sum += dot_nodes(1, v->node_residue + 6 * k, velocities);
  }
  return sum;
}

static void turn_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  const FloImplicitViscosity *v = work->viscosity;
  for (size_t i = begin; i < end; ++i)
    for (size_t k = 4 * i; k < 4 * i + 4; ++k)
      v->way[k] = v->residue[k] / work->mass[i] + work->beta * v->way[k];
}

// The next direction is the residual over the mass, made conjugate to the last direction.
static void turn(void *context, double beta) {
  Work *work = context;
  FloImplicitViscosity *v = work->viscosity;
  work->beta = (float)beta;
  for_fluid(work, turn_range);
  for (size_t k = 0; k < v->n_nodes; ++k) {
    const FloNode *node = flo_node_at(work->world, k);
    double velocities[6];
    if (!is_free(v, node)) continue;
    flo_node_apply(node, v->node_residue + 6 * k, velocities);
    for (size_t row = 6 * k; row < 6 * k + 6; ++row) {
      v->node_way[row] = velocities[row - 6 * k] + beta * v->node_way[row];
      v->node_momentum[row] = v->node_residue[row] + beta * v->node_momentum[row];
    }
  }
}

static void go_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  const FloImplicitViscosity *v = work->viscosity;
  for (size_t k = 4 * begin; k < 4 * end; ++k) {
    v->change[k] += work->alpha * v->way[k];
    v->residue[k] -= work->alpha * v->image[k];
  }
}

static void go(void *context, double alpha) {
  Work *work = context;
  FloImplicitViscosity *v = work->viscosity;
  work->alpha = (float)alpha;
  for_fluid(work, go_range);
  for (size_t k = 0; k < 6 * v->n_nodes; ++k) {
    v->node_change[k] += alpha * v->node_momentum[k];
    v->node_residue[k] -= alpha * v->node_image[k];
  }
}

static double apply(void *context) {
  const Work *work = context;
  FloImplicitViscosity *v = work->viscosity;
  flo_implicit_viscosity_apply(v, work->world);
  return sum_fluid(work, sum_way) + dot_nodes(v->n_nodes, v->node_way, v->node_image);
}

static void tell_unsolved(const Work *work) {
  FloImplicitViscosity *v = work->viscosity;
  if (!flo_is_told(++v->n_unsolved)) return;
  flo_world_log(work->world, FLO_LOG_WARNING,
                "at %.4g s implicit viscosity ends after %d iterations with a residual of %.2g (%zu such "
                "steps so far); raise `viscosity_iterations`, or use a shorter time step",
                work->world->time, v->iterations, v->residual, v->n_unsolved);
}

static void solve(Work *work) {
  FloImplicitViscosity *v = work->viscosity;
  const FloLinearSystem system = {work, measure, turn, apply, go};
  const FloGradientLimits limits = {.tolerance = v->tolerance,
                                    .least_square = ROUNDING * ROUNDING * sum_fluid(work, sum_motion),
                                    .max_iterations = v->max_iterations};
  FloSolveReport report = flo_conjugate_gradients(&system, &limits);
  v->iterations = report.iterations, v->residual = report.residual;
  if (report.iterations >= v->max_iterations && report.residual > v->tolerance) tell_unsolved(work);
}

// ---- The step ----

static void finish_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  const float per_dt = 1 / work->dt;
  const FloImplicitViscosity *v = work->viscosity;
  for (size_t i = begin; i < end; ++i)
    for (size_t k = 4 * i; k < 4 * i + 4; ++k) {
      const float other = work->other && !work->held[i] ? work->other[k] : 0,
                  gain = work->mass[i] * v->change[k] - other;
      v->start[k] += v->change[k];
      work->force[k] += per_dt * gain;
    }
}

// The reported force on a node is the impulse that it gets over dt, even if the solution is not exact. Along
// axes where fluid cannot move the node, the force includes the residual, so that it is the whole force of
// the fluid.
static void push_body(FloImplicitViscosity *v, FloWorld *world, size_t k) {
  const double *change = v->node_change + 6 * k, *other = v->node_other + 6 * k,
               *rest = v->node_residue + 6 * k;
  double gain[6], motion[6], *impulse = v->node_impulse + 6 * k;
  const FloNode *node = flo_node_at(world, k);
  for (size_t row = 0; row < 6; ++row) {
    const bool is_borne = !is_free(v, node) || node->locks[row];
    gain[row] = change[row] - other[row], impulse[row] += gain[row];
    v->bodies.wrenches[6 * k + row] = (impulse[row] + (is_borne ? rest[row] : 0)) / v->dt;
  }
  if (!is_free(v, node)) return;
  flo_node_push(world, k, gain, gain + 3);
  flo_node_apply(node, change, motion);
  for (size_t row = 0; row < 6; ++row) v->node_start[6 * k + row] += motion[row];
}

// Impulses on nodes that changed their motions since the last solution.
static void find_other(FloImplicitViscosity *v, const FloWorld *world, const double *motions) {
  for (size_t k = 0; k < v->n_nodes; ++k) {
    const FloNode *node = flo_node_at(world, k);
    double change[6], *other = v->node_other + 6 * k;
    for (size_t row = 0; row < 6; ++row) change[row] = motions[6 * k + row] - v->node_start[6 * k + row];
    vec_scale(change, is_free(v, node) ? node->mass : 0, other);
    mat_apply(node->inertia, change + 3, other + 3);
    if (!is_free(v, node)) vec_set(other + 3, 0, 0, 0);
  }
}

// From the residual.
static void solve_all(Work *work) {
  FloImplicitViscosity *v = work->viscosity;
  for_fluid(work, begin_range);
  for (size_t k = 0; k < 6 * v->n_nodes; ++k) v->node_change[k] = v->node_way[k] = v->node_momentum[k] = 0;
  solve(work);
  for_fluid(work, finish_range);
  for (size_t k = 0; k < v->n_nodes; ++k) push_body(v, work->world, k);
}

FloStatus flo_implicit_viscosity_step(FloImplicitViscosity *v, FloWorld *world, double dt, const float *other,
                                      float *velocity, float *force, const float *walls, const float *zeros,
                                      FloError *error) {
  FLO_TRY(flo_implicit_viscosity_prepare(v, world, dt, velocity, walls, zeros, error));
  Work work = begin_work(v, world);
  work.force = force, work.other = other;
  compute_forces(v, world, v->start, v->node_start, v->walls, v->image);
  for_fluid(&work, first_range);
  for (size_t k = 0; k < 6 * v->n_nodes; ++k) v->node_residue[k] = dt * v->bodies.wrenches[k];
  solve_all(&work);
  return FLO_OK;
}

void flo_implicit_viscosity_again(FloImplicitViscosity *v, FloWorld *world, const float *other,
                                  double *motions, float *force) {
  Work work = begin_work(v, world);
  work.force = force, work.other = other;
  find_other(v, world, motions);
  for (size_t k = 0; k < 6 * v->n_nodes; ++k) v->node_residue[k] += v->node_other[k];
  solve_all(&work);
  for (size_t k = 0; k < 6 * v->n_nodes; ++k)
    if (is_free(v, flo_node_at(world, k / 6))) motions[k] = v->node_start[k];
}
