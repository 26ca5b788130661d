// Filling a vessel: fluid spreads from a point through all free space, up to its level.
#include "base/pose.h"
#include "geometry/endless.h"
#include "geometry/flood.h"
#include "world/world.h"

#include <string.h>

// A vessel with more lattice points than this is taken for a mistake.
static const double max_cells = 4e8;

typedef struct Fill {
  FloWorld *world;
  const FloFillDef *def;
  FloFlood flood;
  FloPoints *points;
  FloGrid earlier; // existing fluid
  FloSolidsNear near;
} Fill;

// ---- The lattice: fluid begins half a spacing from the walls, for any position of the seed ----

// Half a spacing from the low corner of a tank.
static void low_corner(const FloWorld *world, const FloBody *tank, double low[3]) {
  vec_set(low, 0, 0, 0);
  for (int axis = 0; axis < world->def.dim; ++axis)
    low[axis] = -tank->solid->shape.size[axis] / 2 + world->def.spacing / 2;
  pose_to_world(&tank->state.pose, low, low);
}

static double nearest_solid(const FloWorld *world, const double x[3]) {
  double nearest = INFINITY;
  for (size_t k = 0; k < world->bodies.count; ++k)
    nearest = fmin(nearest, flo_world_distance(world, &flo_bodies(world)[k], x));
  return nearest;
}

// The point where a ray from the seed against an axis hits a solid. Each step is as long as the distance to
// the nearest solid. -INFINITY if it hits none above `low`.
static double find_wall(const Fill *fill, int axis, double low) {
  double x[3], touch = 1e-9 * fill->world->def.spacing;
  vec_copy(fill->def->seed, x);
  for (int n_steps = 0; x[axis] > low && n_steps < 1000; ++n_steps) {
    double clear = nearest_solid(fill->world, x);
    x[axis] -= fmax(clear, 0);
    if (clear < touch) return x[axis];
  }
  return -INFINITY;
}

// Moves an anchor to half a spacing, plus whole steps, from the walls that the rays from the seed hit, if
// there are any.
static void anchor_at_walls(const Fill *fill, const double low[3], double anchor[3]) {
  for (int axis = 0; axis < fill->world->def.dim; ++axis) {
    double step = fill->flood.lattice.step[axis], wall = find_wall(fill, axis, low[axis]);
    if (fill->world->def.periodic[axis] || !isfinite(wall)) continue;
    double first = wall + fill->world->def.spacing / 2;
    anchor[axis] = first + step * round((fill->def->seed[axis] - first) / step);
  }
}

// A lattice point near the seed; all others are counted from it.
static void anchor_lattice(const Fill *fill, const double lowest[3], double anchor[3]) {
  const FloWorld *world = fill->world;
  const double *seed = fill->def->seed, *step = fill->flood.lattice.step;
  double low[3];
  vec_copy(seed, anchor);
  for (size_t k = 0; k < world->bodies.count; ++k) {
    if (!flo_posed_is_in_tank(&flo_bodies(world)[k], seed)) continue;
    low_corner(world, &flo_bodies(world)[k], low);
    for (int axis = 0; axis < world->def.dim; ++axis)
      anchor[axis] = low[axis] + step[axis] * round((seed[axis] - low[axis]) / step[axis]);
    return;
  }
  anchor_at_walls(fill, lowest, anchor);
}

// The box around all solids, extended up to the level. Outside of it nothing holds fluid.
static void bound_solids(const Fill *fill, double low[3], double high[3]) {
  const FloWorld *world = fill->world;
  const FloParticles *b = &world->sets[FLO_SET_BOUNDARY];
  const double *x[3] = {b->x, b->y, b->z};
  for (int axis = 0; axis < world->def.dim; ++axis) {
    low[axis] = INFINITY, high[axis] = -INFINITY;
    for (size_t i = 0; i < b->count; ++i)
      low[axis] = fmin(low[axis], x[axis][i]), high[axis] = fmax(high[axis], x[axis][i]);
    if (world->def.periodic[axis])
      low[axis] = world->def.domain_low[axis], high[axis] = world->def.domain_high[axis];
  }
  if (!world->def.periodic[fill->def->up]) high[fill->def->up] = fmax(high[fill->def->up], fill->def->level);
}

// Finds the index of the anchor along an axis of the lattice, and the number of points. In hexagonal packing
// odd rows and planes are shifted. So the anchor gets an even index and stays where it is.
static void count_points(Fill *fill, int axis, double low, double high, double anchor, long *start) {
  double step = fill->flood.lattice.step[axis];
  *start = (long)floor((anchor - low) / step + 1e-6);
  if (fill->def->packing == FLO_FLUID_HEXAGONAL) *start += *start & 1;
  fill->flood.lattice.origin[axis] = anchor - (double)*start * step;
  fill->flood.n[axis] = fill->flood.wraps[axis] ? lround((high - low) / step)
                                                : *start + 1 + (long)floor((high - anchor) / step + 1e-6);
}

static FloStatus lay_lattice(Fill *fill, long start[3], FloError *error) {
  const FloWorld *world = fill->world;
  double low[3] = {0}, high[3] = {0}, anchor[3], cells = 1;
  memcpy(fill->flood.wraps, world->def.periodic, sizeof fill->flood.wraps);
  fill->flood.lattice = flo_fluid_lattice(fill->def->packing, world->def.dim, world->def.spacing);
  // Hexagonal packing never wraps.
  if (fill->def->packing == FLO_FLUID_CUBIC)
    FLO_TRY(flo_fluid_lattice_fit(&world->domain, fill->flood.wraps, fill->def->up, world->def.spacing,
                                  fill->flood.lattice.step, error));
  bound_solids(fill, low, high);
  anchor_lattice(fill, low, anchor);
  vec_copy(anchor, fill->flood.lattice.origin);
  for (int axis = 0; axis < 3; ++axis) {
    fill->flood.n[axis] = 1, start[axis] = 0;
    if (axis >= world->def.dim) continue;
    if (!(anchor[axis] > low[axis] && anchor[axis] < high[axis]))
      return flo_fail(
          error, FLO_BAD_INPUT,
          "fill: the seed (%g, %g, %g) lies outside of all solids, so nothing would hold the fluid",
          fill->def->seed[0], fill->def->seed[1], fill->def->seed[2]);
    count_points(fill, axis, low[axis], high[axis], anchor[axis], &start[axis]);
    cells *= (double)fill->flood.n[axis];
  }
  if (cells <= max_cells) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "fill: the vessel spans %.3g particles, more than %.0e; use a larger spacing", cells,
                  max_cells);
}

// ---- Spreading ----

static bool is_free(void *context, const double x[3]) {
  Fill *fill = context;
  const FloWorld *world = fill->world;
  double s = world->def.spacing;
  // Layers that are not one spacing apart cannot end at every level: take the number that ends nearest to it.
  double below =
      fill->flood.lattice.step[fill->def->up] == s || fill->def->packing == FLO_FLUID_HEXAGONAL ? 0.5 : 0;
  return x[fill->def->up] <= fill->def->level - below * s + 1e-6 * s &&
         !flo_world_is_in_solid(world, x, FLO_FLUID_CLEARANCE * s, &fill->near);
}

// Existing fluid is not filled again, but fluid spreads through it.
static FloStatus put_fluid(void *context, const double x[3], FloError *error) {
  Fill *fill = context;
  if (flo_grid_is_near(&fill->earlier, x, FLO_FLUID_APART * fill->world->def.spacing)) return FLO_OK;
  return flo_points_add(fill->points, x[0], x[1], x[2], error);
}

static FloStatus fill_vessel(Fill *fill, FloError *error) {
  long start[3];
  size_t n_reached;
  FLO_TRY(lay_lattice(fill, start, error));
  FLO_TRY(flo_flood_spread(&fill->flood, start, &fill->world->memory, &n_reached, error));
  if (n_reached > 0) return FLO_OK;
  return flo_fail(
      error, FLO_BAD_INPUT,
      "fill: at the seed (%g, %g, %g) there is no room; it must be in the free space, below the level",
      fill->def->seed[0], fill->def->seed[1], fill->def->seed[2]);
}

static FloStatus check_fill(const FloWorld *world, const FloFillDef *def, FloError *error) {
  FLO_TRY(flo_world_check_material(world, def->material, error));
  FLO_TRY(flo_packing_check(def->packing, error));
  bool is_periodic = world->def.periodic[0] || world->def.periodic[1] || world->def.periodic[2];
  if (is_periodic && def->packing == FLO_FLUID_HEXAGONAL)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "fill: rows of hexagonal packing do not meet across the faces of a periodic box; use cubic");
  if (!vec_is_finite(def->seed) || !vec_is_finite(def->velocity) || !isfinite(def->level))
    return flo_fail(error, FLO_BAD_INPUT, "fill: seed, level and velocity must be finite");
  if (def->up < 0 || def->up >= world->def.dim)
    return flo_fail(error, FLO_BAD_INPUT, "fill: up must be one of the %d axes, got %d", world->def.dim,
                    def->up);
  if (world->sets[FLO_SET_BOUNDARY].count == 0)
    return flo_fail(error, FLO_BAD_INPUT, "fill: there are no solids to hold the fluid; add them first");
  return FLO_OK;
}

FloStatus flo_world_add_fill(FloWorld *world, const FloFillDef *def, size_t *n_added, FloError *error) {
  FLO_NEED(world, error);
  FLO_NEED(def, error);
  FLO_TRY(check_fill(world, def, error));
  FloPoints points = {.memory = &world->memory};
  Fill fill = {.world = world, .def = def, .points = &points};
  fill.flood = (FloFlood){.dim = world->def.dim,
                          .packing = def->packing,
                          .is_free = is_free,
                          .fill = put_fluid,
                          .context = &fill};
  flo_grid_init(&fill.earlier, &world->lattice, &world->memory);
  FloStatus status = flo_grid_build(&fill.earlier, &world->sets[FLO_SET_FLUID], NULL, world->threads, error);
  if (status == FLO_OK) status = fill_vessel(&fill, error);
  flo_grid_free(&fill.earlier);
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  size_t first = fluid->count;
  if (status == FLO_OK) status = flo_particles_add(fluid, points.count, error);
  for (size_t k = 0; status == FLO_OK && k < points.count; ++k)
    flo_world_put_particle(world, first + k, def->material.index, flo_points_at(&points, k), def->velocity);
  if (status == FLO_OK) {
    if (n_added) *n_added = points.count;
    flo_world_note_added(world);
  }
  flo_points_free(&points);
  return status;
}
