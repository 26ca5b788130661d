// Filling a vessel: fluid spreads from a point through all free space, up to its level.
#include "base/pose.h"
#include "world/world.h"

#include <string.h>

// A vessel with more lattice points than this is taken for a mistake.
static const double max_cells = 4e8;

typedef struct Fill {
  FloWorld *world;
  const FloFillDef *def;
  FloFluidLattice lattice;
  long n[3]; // points along the axes
  bool wraps[3];
  unsigned char *is_known; // a bit for each point
  FloPoints *points;
  FloGrid earlier; // existing fluid
  FloSolidsNear near;
} Fill;

static void point_at(const Fill *fill, const long index[3], double x[3]) {
  flo_fluid_lattice_point(&fill->lattice, index, x);
}

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
    double step = fill->lattice.step[axis], wall = find_wall(fill, axis, low[axis]);
    if (fill->world->def.periodic[axis] || !isfinite(wall)) continue;
    double first = wall + fill->world->def.spacing / 2;
    anchor[axis] = first + step * round((fill->def->seed[axis] - first) / step);
  }
}

// A lattice point near the seed; all others are counted from it.
static void anchor_lattice(const Fill *fill, const double lowest[3], double anchor[3]) {
  const FloWorld *world = fill->world;
  const double *seed = fill->def->seed, *step = fill->lattice.step;
  double low[3];
  vec_copy(seed, anchor);
  for (size_t k = 0; k < world->bodies.count; ++k) {
    if (!flo_world_is_in_tank(world, &flo_bodies(world)[k], seed)) continue;
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

// ---- Lattices that are continuous across periodic faces ----

// Distances may differ from the spacing by this share; more would show in the density.
#define MAX_STRETCH 0.05

// The number of steps that fits a period best.
static long count_steps(double period, double spacing) {
  double ratio = period / spacing;
  long n = (long)floor(ratio);
  return n < 1 || ratio / (double)n - 1 > 1 - ratio / (double)(n + 1) ? n + 1 : n;
}

static FloStatus fit_axis(const FloWorld *world, int axis, double *step, FloError *error) {
  double s = world->def.spacing, period = world->def.domain_high[axis] - world->def.domain_low[axis];
  double fitting = period / (double)count_steps(period, s);
  if (fabs(fitting / s - 1) > MAX_STRETCH)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "the period of %g m along %c is no multiple of the spacing, %g m, so that particles would "
        "crowd at the seam; the nearest spacing that fits is %.6g m",
        period, "xyz"[axis], s, fitting);
  // If it fits except for rounding, the step does not change.
  *step = fabs(fitting / s - 1) > 1e-9 ? fitting : s;
  return FLO_OK;
}

FloStatus flo_world_fit_lattice(const FloWorld *world, const bool wraps[3], int up, double step[3],
                                FloError *error) {
  int free_axis = -1;
  double s = world->def.spacing, stretch = 1;
  vec_set(step, s, s, s);
  for (int axis = 0; axis < world->def.dim; ++axis) {
    if (wraps[axis]) FLO_TRY(fit_axis(world, axis, &step[axis], error));
    if (!wraps[axis] && (free_axis < 0 || axis == up || free_axis != up)) free_axis = axis;
    stretch *= step[axis] / s;
  }
  if (free_axis >= 0) step[free_axis] = s / stretch;
  return FLO_OK;
}

// Finds the index of the anchor along an axis of the lattice, and the number of points. In hexagonal packing
// odd rows and planes are shifted. So the anchor gets an even index and stays where it is.
static void count_points(Fill *fill, int axis, double low, double high, double anchor, long *start) {
  double step = fill->lattice.step[axis];
  *start = (long)floor((anchor - low) / step + 1e-6);
  if (fill->def->packing == FLO_FLUID_HEXAGONAL) *start += *start & 1;
  fill->lattice.origin[axis] = anchor - (double)*start * step;
  fill->n[axis] = fill->wraps[axis] ? lround((high - low) / step)
                                    : *start + 1 + (long)floor((high - anchor) / step + 1e-6);
}

static FloStatus lay_lattice(Fill *fill, long start[3], FloError *error) {
  const FloWorld *world = fill->world;
  double low[3] = {0}, high[3] = {0}, anchor[3], cells = 1;
  memcpy(fill->wraps, world->def.periodic, sizeof fill->wraps);
  fill->lattice = flo_fluid_lattice(fill->def->packing, world->def.dim, world->def.spacing);
  // Hexagonal packing never wraps.
  if (fill->def->packing == FLO_FLUID_CUBIC)
    FLO_TRY(flo_world_fit_lattice(world, fill->wraps, fill->def->up, fill->lattice.step, error));
  bound_solids(fill, low, high);
  anchor_lattice(fill, low, anchor);
  vec_copy(anchor, fill->lattice.origin);
  for (int axis = 0; axis < 3; ++axis) {
    fill->n[axis] = 1, start[axis] = 0;
    if (axis >= world->def.dim) continue;
    if (!(anchor[axis] > low[axis] && anchor[axis] < high[axis]))
      return flo_fail(
          error, FLO_BAD_INPUT,
          "fill: the seed (%g, %g, %g) lies outside of all solids, so nothing would hold the fluid",
          fill->def->seed[0], fill->def->seed[1], fill->def->seed[2]);
    count_points(fill, axis, low[axis], high[axis], anchor[axis], &start[axis]);
    cells *= (double)fill->n[axis];
  }
  if (cells <= max_cells) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "fill: the vessel spans %.3g particles, more than %.0e; use a larger spacing", cells,
                  max_cells);
}

// ---- Spreading ----

static size_t number_of(const Fill *fill, const long index[3]) {
  return ((size_t)index[2] * (size_t)fill->n[1] + (size_t)index[1]) * (size_t)fill->n[0] + (size_t)index[0];
}

static void index_of(const Fill *fill, size_t number, long index[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    index[axis] = (long)(number % (size_t)fill->n[axis]);
    number /= (size_t)fill->n[axis];
  }
}

static bool is_free(Fill *fill, const double x[3]) {
  const FloWorld *world = fill->world;
  double s = world->def.spacing;
  // Layers that are not one spacing apart cannot end at every level: take the number that ends nearest to it.
  double below =
      fill->lattice.step[fill->def->up] == s || fill->def->packing == FLO_FLUID_HEXAGONAL ? 0.5 : 0;
  return x[fill->def->up] <= fill->def->level - below * s + 1e-6 * s &&
         !flo_world_is_in_solid(world, x, FLO_FLUID_CLEARANCE * s, &fill->near);
}

static FloStatus escapes(const double x[3], FloError *error) {
  return flo_fail(
      error, FLO_BAD_INPUT,
      "fill: fluid would run out near (%.4g, %.4g, %.4g); close the vessel there or lower the level", x[0],
      x[1], x[2]);
}

// Visits a point. If that is the first visit and the point is free, it is filled, and fluid spreads from it.
static FloStatus visit(Fill *fill, long index[3], FloPoints *queue, FloError *error) {
  double x[3];
  point_at(fill, index, x);
  for (int axis = 0; axis < fill->world->def.dim; ++axis) {
    if (index[axis] >= 0 && index[axis] < fill->n[axis]) continue;
    if (!fill->wraps[axis]) return is_free(fill, x) ? escapes(x, error) : FLO_OK;
    index[axis] = (index[axis] + fill->n[axis]) % fill->n[axis];
  }
  point_at(fill, index, x);
  size_t number = number_of(fill, index);
  if (fill->is_known[number / 8] >> number % 8 & 1) return FLO_OK;
  fill->is_known[number / 8] |= (unsigned char)(1 << number % 8);
  if (!is_free(fill, x)) return FLO_OK;
  // Existing fluid is not filled again, but fluid spreads through it.
  if (!flo_grid_is_near(&fill->earlier, x, FLO_FLUID_APART * fill->world->def.spacing))
    FLO_TRY(flo_points_add(fill->points, x[0], x[1], x[2], error));
  return flo_points_add(queue, (double)number, 0, 0, error);
}

// The neighbours of a lattice point: one step along each axis, or in hexagonal packing all points as near as
// the next one in the row.
static int find_neighbours(const Fill *fill, const long here[3], long there[26][3]) {
  int n = 0, reach_z = fill->world->def.dim == 3;
  double x[3], y[3], between[3], nearest = 1.01 * fill->lattice.step[0];
  point_at(fill, here, x);
  for (int axis = 0; axis < fill->world->def.dim && fill->def->packing == FLO_FLUID_CUBIC; ++axis)
    for (int side = -1; side <= 1; side += 2) {
      for (int k = 0; k < 3; ++k) there[n][k] = here[k] + (k == axis ? side : 0);
      ++n;
    }
  for (long k = -reach_z; k <= reach_z && fill->def->packing == FLO_FLUID_HEXAGONAL; ++k)
    for (long j = -1; j <= 1; ++j)
      for (long i = -1; i <= 1; ++i) {
        const long at[3] = {here[0] + i, here[1] + j, here[2] + k};
        point_at(fill, at, y);
        vec_sub(y, x, between);
        if ((i || j || k) && vec_length(between) < nearest) memcpy(there[n++], at, sizeof at);
      }
  return n;
}

static FloStatus spread(Fill *fill, long start[3], FloPoints *queue, FloError *error) {
  FLO_TRY(visit(fill, start, queue, error));
  if (queue->count == 0)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "fill: at the seed (%g, %g, %g) there is no room; it must be in the free space, below the level",
        fill->def->seed[0], fill->def->seed[1], fill->def->seed[2]);
  for (size_t next = 0; next < queue->count; ++next) {
    long here[3], there[26][3];
    index_of(fill, (size_t)flo_points_at(queue, next)[0], here);
    int n = find_neighbours(fill, here, there);
    for (int k = 0; k < n; ++k) FLO_TRY(visit(fill, there[k], queue, error));
  }
  return FLO_OK;
}

static FloStatus fill_vessel(Fill *fill, FloError *error) {
  long start[3];
  FloBuffer known = {0};
  FloMemory *memory = &fill->world->memory;
  FLO_TRY(lay_lattice(fill, start, error));
  size_t n_bytes = (size_t)fill->n[0] * (size_t)fill->n[1] * (size_t)fill->n[2] / 8 + 1;
  FLO_TRY(flo_buffer_reserve(memory, &known, n_bytes, 0, error));
  memset(known.data, 0, n_bytes);
  fill->is_known = known.data;
  FloPoints queue = {.memory = memory};
  FloStatus status = spread(fill, start, &queue, error);
  flo_points_free(&queue);
  flo_buffer_free(memory, &known);
  return status;
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
  FLO_TRY(check_fill(world, def, error));
  FloPoints points = {.memory = &world->memory};
  Fill fill = {.world = world, .def = def, .points = &points};
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
