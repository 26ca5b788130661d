// Surface tension between two fluids, in 2D: the energy of an interface is its tension times its length.
//
// The outline of each fluid where it faces the other is found as in coupling/forces/surface_links.c: two
// particles of it are linked if a disc of radius ALPHA touches both, holds no other particle of their fluid,
// and holds particles of the other fluid. Each link pulls its ends together. Each outline has the share of
// the tension that its fluid has of the density of both, so that light particles are not accelerated more.
// One outline runs half a spacing inside the interface, the other one outside. Their errors of curvature
// cancel where densities are equal, and otherwise leave up to s/(2 R).
//
// The force is minus the gradient of the energy, along the line between the two ends, and both find it from
// the same numbers. So linear and angular momentum are conserved to rounding, and a drop at rest has no
// currents.
//
// The paper has (26) to (28) instead, with the divergence (33) of unit normals. Its force is not symmetric,
// so that a drop drives itself about. The symmetric form of it, the divergence of the stress
// sigma (|n| I - n n/|n|), draws particles together along the interface, which boils: a drop of 20 particles
// across, at rest, has currents of 0.2 to 0.6 sqrt(sigma/(rho R)). The energy that counts pairs of different
// particles opens a gap between the fluids where no pressure closes it, and then lacks nine tenths of its
// tension.
#include "coupling/unified/unified.h"

#include "base/vecmath.h"

#include <math.h>

// As in surface_links.c and surface_near.c, in spacings: radius of the disc; how far particles see each
// other, whatever the kernel; a link pulls fully above this length, and not at all below the least; how much
// particles count as moved, so that no two cases on a lattice are a tie.
#define ALPHA      1.25
#define REACH      2.0
#define LEAST_LINK 0.3
#define WHOLE_LINK 0.6
#define UNTIE      1e-4

enum { MOST_NEAR = 256 };

typedef struct Around {
  const FloWorld *world;
  const FloUnified *unified;
  double scale[2], reach; // metres per unit of fixed point; how far they see each other [m]
  double alpha;           // [m]
  size_t self, near[MOST_NEAR], count;
} Around;

// ---- Strengths ----

// A material may be removed, or not be in use yet.
static bool is_between_fluids(const FloWorld *world, const FloInterface *interface) {
  const FloMaterial *m = flo_materials(world);
  return m[interface->one].is_fluid && m[interface->other].is_fluid;
}

double flo_unified_most_tension(const FloWorld *world) {
  const FloInterface *all = FLO_LIST(world->interfaces, FloInterface);
  double most = 0;
  for (size_t k = 0; k < world->interfaces.count; ++k)
    if (is_between_fluids(world, &all[k])) most = fmax(most, all[k].tension);
  return most;
}

// As flo_surface_tension_max_dt, with the lightest fluid that has an interface.
double flo_unified_capillary_dt(const FloWorld *world) {
  const FloInterface *all = FLO_LIST(world->interfaces, FloInterface);
  const FloMaterial *m = flo_materials(world);
  const double s3 = pow(world->def.spacing, 3);
  double dt = INFINITY;
  for (size_t k = 0; k < world->interfaces.count; ++k) {
    const double least = fmin(m[all[k].one].density, m[all[k].other].density);
    if (all[k].tension > 0 && is_between_fluids(world, &all[k]))
      dt = fmin(dt, 0.25 * sqrt(least * s3 / (2 * FLO_PI * all[k].tension)));
  }
  return dt;
}

FloStatus flo_unified_prepare_tensions(FloWorld *world, FloUnified *unified, FloError *error) {
  const FloInterface *all = FLO_LIST(world->interfaces, FloInterface);
  const size_t n = world->materials.count;
  FLO_TRY(flo_buffer_reserve(&world->memory, &unified->tension_buffer, n * n * sizeof(double), 0, error));
  double *tensions = unified->tensions = unified->tension_buffer.data;
  for (size_t k = 0; k < n * n; ++k) tensions[k] = 0;
  for (size_t k = 0; k < world->interfaces.count; ++k)
    tensions[all[k].one * n + all[k].other] = tensions[all[k].other * n + all[k].one] = all[k].tension;
  return FLO_OK;
}

static double tension_between(const Around *around, size_t i, size_t j) {
  const uint16_t *material = around->world->sets[FLO_SET_FLUID].material;
  return around->unified->tensions[material[i] * around->world->materials.count + material[j]];
}

static bool is_like(const Around *around, size_t i, size_t j) {
  const uint16_t *material = around->world->sets[FLO_SET_FLUID].material;
  return material[i] == material[j];
}

// ---- Places ----

// From a to b. The difference wraps around as the coordinates do.
static void offset(const Around *around, size_t a, size_t b, double d[2]) {
  const int32_t *fixed = around->world->grids[FLO_SET_FLUID].fixed;
  for (size_t axis = 0; axis < 2; ++axis)
    d[axis] = around->scale[axis] *
              (double)(int32_t)((uint32_t)fixed[4 * b + axis] - (uint32_t)fixed[4 * a + axis]);
}

// A number between -1/2 and 1/2 that belongs to a particle.
static double aside_of(const Around *around, size_t i, uint32_t axis) {
  uint32_t x = (2 * around->world->sets[FLO_SET_FLUID].id[i] + axis + 1) * 0x9e3779b1U;
  x ^= x >> 15, x *= 0x85ebca77U, x ^= x >> 13;
  return (double)x / 4294967296.0 - 0.5;
}

static void untied_offset(const Around *around, size_t a, size_t b, double d[2]) {
  const double size = UNTIE * around->world->def.spacing;
  offset(around, a, b, d);
  for (uint32_t axis = 0; axis < 2; ++axis)
    d[axis] += size * (aside_of(around, b, axis) - aside_of(around, a, axis));
}

static bool is_near(const Around *around, size_t a, size_t b) {
  double d[2];
  offset(around, a, b, d);
  return hypot(d[0], d[1]) < around->reach;
}

static bool look_around(Around *around, size_t i) {
  const FloPairs *pairs = flo_pairs_of(around->world, FLO_SET_FLUID, FLO_SET_FLUID);
  const FloPairSlot *slot = pairs->slots + pairs->slot_begin[i / FLO_BLOCK];
  around->self = i, around->count = 0;
  for (int32_t k = 0; k < pairs->row_count[i]; ++k) {
    const size_t j = (size_t)slot[k].index[i % FLO_BLOCK];
    if (!is_near(around, i, j)) continue;
    if (around->count == MOST_NEAR) return false;
    around->near[around->count++] = j;
  }
  return true;
}

// ---- Links ----

// How much of the tension the outline of the first particle's fluid bears.
static double share_of(const Around *around, size_t i, size_t j) {
  const float *mass = around->world->sets[FLO_SET_FLUID].mass;
  return (double)mass[i] / ((double)mass[i] + (double)mass[j]);
}

// The share of the tension with the fluid that the disc on one side of a link holds; 0 if it holds the link's
// own fluid, or nothing. `centre` is as seen from particle `from`. Only particles near both ends count, which
// each end knows.
static double tension_of_side(const Around *around, size_t from, size_t other, const double centre[2]) {
  double most = 0;
  for (size_t k = 0; k < around->count; ++k) {
    const size_t j = around->near[k];
    double d[2];
    if (j == other || !is_near(around, other, j)) continue;
    untied_offset(around, from, j, d);
    if (!(hypot(d[0] - centre[0], d[1] - centre[1]) < around->alpha)) continue;
    if (is_like(around, from, j)) return 0;
    most = fmax(most, share_of(around, from, j) * tension_between(around, from, j));
  }
  return most;
}

// The same for both sides of the link to another particle.
static double tension_of_link(const Around *around, size_t other) {
  const size_t from = around->self < other ? around->self : other,
               to = around->self < other ? other : around->self;
  double d[2], sum = 0;
  untied_offset(around, from, to, d);
  const double length = hypot(d[0], d[1]);
  if (!(length > 0 && length < 2 * around->alpha)) return 0;
  const double height = sqrt(around->alpha * around->alpha - length * length / 4) / length;
  for (int side = -1; side <= 1; side += 2) {
    const double centre[2] = {d[0] / 2 - side * height * d[1], d[1] / 2 + side * height * d[0]};
    sum += tension_of_side(around, from, other, centre);
  }
  return sum;
}

static double gate(double q) {
  q = fmin(fmax((q - LEAST_LINK) / (WHOLE_LINK - LEAST_LINK), 0), 1);
  return q * q * (3 - 2 * q);
}

// Adds the pull of a link to `force`, and its virial.
static void pull(const Around *around, size_t other, double force[4]) {
  const double tension = tension_of_link(around, other);
  double d[2];
  if (!(tension > 0)) return;
  offset(around, around->self, other, d);
  const double length = hypot(d[0], d[1]), size = tension * gate(length / around->world->def.spacing);
  if (!(size > 0)) return;
  for (int axis = 0; axis < 2; ++axis) force[axis] += size * d[axis] / length;
  force[3] -= size * length;
}

typedef struct Work {
  Around around;
  FloUnified *unified;
  _Atomic bool is_crowded;
} Work;

static void pull_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Work *work = context;
  Around around = work->around;
  for (size_t i = begin; i < end; ++i) {
    double force[4] = {0};
    if (!(work->unified->is_meeting[i] > 0)) continue;
    if (!look_around(&around, i)) work->is_crowded = true;
    for (size_t k = 0; k < around.count; ++k)
      if (is_like(&around, i, around.near[k])) pull(&around, around.near[k], force);
    for (size_t k = 0; k < 4; ++k) work->unified->force[4 * i + k] += (float)force[k];
  }
}

FloStatus flo_unified_pull(FloWorld *world, FloUnified *unified, FloError *error) {
  Work work = {.around = {.world = world, .unified = unified}, .unified = unified};
  work.around.reach = fmin(REACH * world->def.spacing, world->kernel.support);
  work.around.alpha = ALPHA * world->def.spacing;
  for (int axis = 0; axis < 2; ++axis) work.around.scale[axis] = 1 / world->lattice.to_fixed[axis];
  if (unified->phases.n < 2 || !(flo_unified_most_tension(world) > 0)) return FLO_OK;
  flo_each_particle(world, FLO_SET_FLUID, pull_range, &work);
  if (!work.is_crowded) return FLO_OK;
  return flo_fail(
      error, FLO_DIVERGED,
      "a particle has more than %d neighbours, too many to find where fluids meet; a shorter time "
      "step may help",
      (int)MOST_NEAR);
}
