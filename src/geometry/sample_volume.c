// Lattices of particles inside a mesh.
#include "geometry/sample.h"

#include "base/vecmath.h"

#include <math.h>

static const double max_points = 1e9;

// Rows along x; every other row and every other plane may be shifted. One point per spacing^3 in either
// packing: in the hexagonal one (hcp) nearest neighbours are a = 2^(1/6) spacings apart, rows a sqrt(3)/2 and
// planes a sqrt(2/3).
typedef struct Grid {
  double low[3], step[3];
  size_t n[3];
  double shift_row, shift_plane[2];
} Grid;

static Grid lay_grid(const FloVolumeOptions *options, const double low[3], const double high[3],
                     double clearance) {
  double s = options->spacing, a = s * pow(2, 1.0 / 6);
  Grid grid = {.step = {s, s, s}};
  if (options->lattice == FLO_PACKING_HEXAGONAL) {
    vec_set(grid.step, a, a * sqrt(3) / 2, a * sqrt(2.0 / 3));
    grid.shift_row = a / 2, grid.shift_plane[0] = a / 2, grid.shift_plane[1] = a / (2 * sqrt(3));
  }
  for (int axis = 0; axis < 3; ++axis) {
    grid.low[axis] = low[axis] + clearance;
    // A millionth of a spacing is forgiven, so that a box of ten spacings holds ten particles.
    double room = high[axis] - low[axis] - 2 * clearance;
    grid.n[axis] = room < -1e-6 * s ? 0 : (size_t)floor(room / grid.step[axis] + 1e-6) + 1;
  }
  return grid;
}

static void grid_point(const Grid *grid, const size_t index[3], double p[3]) {
  for (int axis = 0; axis < 3; ++axis) p[axis] = grid->low[axis] + (double)index[axis] * grid->step[axis];
  // Rows and planes alternate between two places.
  double shift = (index[1] % 2 ? grid->shift_row : 0) + (index[2] % 2 ? grid->shift_plane[0] : 0);
  p[0] += fmod(shift, grid->step[0]);
  if (index[2] % 2) p[1] += grid->shift_plane[1];
}

static double exact_depth(const FloBvh *bvh, const double p[3]) {
  FloClosest closest;
  if (!flo_bvh_closest(bvh, p, INFINITY, &closest)) return -INFINITY;
  return flo_bvh_winding(bvh, p) > 0.5 ? closest.distance : -closest.distance;
}

// The grid of distances, which is interpolated, decides where it cannot be mistaken.
static bool is_deep_enough(const FloInside *inside, const double p[3], double clearance) {
  double depth = inside->sdf ? -flo_sdf_distance(inside->sdf, p) : 0;
  bool is_sure = inside->sdf && (!inside->bvh || fabs(depth - clearance) > inside->sdf->cell);
  if (!is_sure) depth = exact_depth(inside->bvh, p);
  return depth >= clearance * (1 - 1e-6);
}

static void find_bounds(const FloInside *inside, double low[3], double high[3]) {
  if (inside->bvh) {
    flo_mesh_bounds(inside->bvh->mesh, low, high);
    return;
  }
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = inside->sdf->low[axis];
    high[axis] = low[axis] + (double)(inside->sdf->n[axis] - 1) * inside->sdf->cell;
  }
}

static FloStatus check_count(const double low[3], const double high[3], double spacing, FloError *error) {
  double count = 1;
  if (!(spacing > 0) || !isfinite(spacing))
    return flo_fail(error, FLO_BAD_INPUT, "sampling: the spacing must be positive, got %g", spacing);
  for (int axis = 0; axis < 3; ++axis) count *= (high[axis] - low[axis]) / spacing + 1;
  if (count <= max_points) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "sampling: the shape spans %.3g particles, more than the %.0e that can be handled; make it "
                  "smaller or the spacing larger",
                  count, max_points);
}

FloStatus flo_sample_volume(const FloInside *inside, const FloVolumeOptions *options, FloPoints *points,
                            FloError *error) {
  double low[3], high[3], s = options->spacing;
  FLO_ASSERT(inside->bvh || inside->sdf);
  find_bounds(inside, low, high);
  FLO_TRY(check_count(low, high, s, error));
  double clearance = options->has_no_clearance ? 0 : options->clearance > 0 ? options->clearance : s / 2;
  Grid grid = lay_grid(options, low, high, clearance);
  size_t index[3];
  for (index[2] = 0; index[2] < grid.n[2]; ++index[2])
    for (index[1] = 0; index[1] < grid.n[1]; ++index[1])
      for (index[0] = 0; index[0] < grid.n[0]; ++index[0]) {
        double p[3];
        grid_point(&grid, index, p);
        if (is_deep_enough(inside, p, clearance)) FLO_TRY(flo_points_add(points, p[0], p[1], p[2], error));
      }
  return FLO_OK;
}
