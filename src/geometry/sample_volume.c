// Lattices of points inside a mesh.
#include "geometry/sample.h"

#include "base/parallel.h"
#include "base/vecmath.h"
#include "geometry/shapes.h"

#include <math.h>

static const double max_points = 1e9;

// ---- Lattices ----

// The part of a lattice that lies in a box, beginning at its low corner.
typedef struct Lattice {
  FloFluidLattice all;
  size_t n[3];
} Lattice;

static Lattice make_lattice(const FloVolumeOptions *options) {
  bool is_hexagonal = options->packing == FLO_PACKING_HEXAGONAL;
  return (Lattice){
      .all = flo_fluid_lattice(is_hexagonal ? FLO_FLUID_HEXAGONAL : FLO_FLUID_CUBIC, 3, options->spacing)};
}

static void lattice_point(const Lattice *lattice, size_t i, size_t j, size_t k, double p[3]) {
  flo_fluid_lattice_point(&lattice->all, (const long[3]){(long)i, (long)j, (long)k}, p);
}

static FloStatus place_lattice(Lattice *lattice, const double low[3], const double high[3], double spacing,
                               double clearance, FloError *error) {
  double n[3];
  for (int axis = 0; axis < 3; ++axis) {
    const double step = lattice->all.step[axis];
    lattice->all.origin[axis] = low[axis] + fmax(clearance, spacing / 2);
    // The tolerance is a millionth of a step: a box of forty spacings must get forty points in spite of
    // rounding.
    double extent = high[axis] - clearance - lattice->all.origin[axis];
    n[axis] = extent < -1e-6 * step ? 0 : floor(extent / step + 1e-6) + 1;
  }
  if (!(n[0] * n[1] * n[2] <= max_points))
    return flo_fail(
        error, FLO_BAD_INPUT,
        "mesh: filling its box would take %.3g particles, more than the %.0e that can be handled; "
        "make the spacing larger",
        n[0] * n[1] * n[2], max_points);
  for (int axis = 0; axis < 3; ++axis) lattice->n[axis] = (size_t)n[axis];
  return FLO_OK;
}

// ---- Inside and outside ----

typedef struct Filling {
  const FloInside *inside;
  const Lattice *lattice;
  double clearance;
  double tolerance;
  size_t layer;
  uint8_t *is_inside; // of the points of the layer
} Filling;

static bool is_inside_tree(const Filling *f, const double p[3]) {
  FloClosest closest;
  double nearest = f->clearance - f->tolerance;
  if (nearest > 0 && flo_bvh_closest(f->inside->bvh, p, nearest, &closest)) return false;
  return flo_bvh_winding(f->inside->bvh, p) > 0.5;
}

static bool is_point_inside(const Filling *f, const double p[3]) {
  const FloSdf *sdf = f->inside->sdf;
  if (!sdf) return is_inside_tree(f, p);
  double depth = -flo_sdf_distance(sdf, p), excess = depth - f->clearance;
  if (!f->inside->bvh) return excess >= -f->tolerance;
  // An interpolated distance is an average of values at most one cell away, so it is wrong by less than a
  // cell. Far from the surface, depths are underestimated.
  if (excess > sdf->cell) return true;
  if (excess < -sdf->cell && depth < 3 * sdf->cell) return false;
  return is_inside_tree(f, p);
}

static void fill_rows(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Filling *f = context;
  for (size_t j = begin; j < end; ++j)
    for (size_t i = 0; i < f->lattice->n[0]; ++i) {
      double p[3];
      lattice_point(f->lattice, i, j, f->layer, p);
      f->is_inside[i + f->lattice->n[0] * j] = is_point_inside(f, p);
    }
}

static FloStatus fill_layer(Filling *f, int threads, FloPoints *points, FloError *error) {
  const Lattice *lattice = f->lattice;
  flo_parallel_for(threads, lattice->n[1], 1, fill_rows, f);
  for (size_t j = 0; j < lattice->n[1]; ++j)
    for (size_t i = 0; i < lattice->n[0]; ++i) {
      double p[3];
      if (!f->is_inside[i + lattice->n[0] * j]) continue;
      lattice_point(lattice, i, j, f->layer, p);
      FLO_TRY(flo_points_add(points, p[0], p[1], p[2], error));
    }
  return FLO_OK;
}

// ---- Bounds ----

// Extends the bounds to where the interpolated distance changes its sign between a node and the next along
// each axis.
static void widen_bounds(const FloSdf *sdf, const size_t index[3], double low[3], double high[3]) {
  double a = flo_sdf_node(sdf, index);
  for (int axis = 0; axis < 3; ++axis) {
    size_t next[3] = {index[0], index[1], index[2]};
    if (++next[axis] == sdf->n[axis]) continue;
    double b = flo_sdf_node(sdf, next);
    if ((a < 0) == (b < 0)) continue;
    double x = sdf->low[axis] + sdf->cell * ((double)index[axis] + a / (a - b));
    low[axis] = fmin(low[axis], x), high[axis] = fmax(high[axis], x);
  }
}

static void find_grid_bounds(const FloSdf *sdf, double low[3], double high[3]) {
  size_t index[3];
  vec_set(low, INFINITY, INFINITY, INFINITY), vec_set(high, -INFINITY, -INFINITY, -INFINITY);
  for (index[2] = 0; index[2] < sdf->n[2]; ++index[2])
    for (index[1] = 0; index[1] < sdf->n[1]; ++index[1])
      for (index[0] = 0; index[0] < sdf->n[0]; ++index[0]) widen_bounds(sdf, index, low, high);
}

static void find_bounds(const FloInside *inside, double low[3], double high[3]) {
  if (!inside->bvh) {
    find_grid_bounds(inside->sdf, low, high);
    return;
  }
  const FloBvhNode *root = inside->bvh->nodes.data;
  vec_copy(root->low, low), vec_copy(root->high, high);
}

static FloStatus check_options(const FloVolumeOptions *options, FloError *error) {
  if (!(options->spacing > 0) || !isfinite(options->spacing))
    return flo_fail(error, FLO_BAD_INPUT, "mesh: the spacing of particles must be positive, got %g",
                    options->spacing);
  if (!isfinite(options->clearance))
    return flo_fail(error, FLO_BAD_INPUT, "mesh: the clearance of particles must be finite, got %g",
                    options->clearance);
  return FLO_OK;
}

FloStatus flo_sample_volume(const FloInside *inside, const FloVolumeOptions *options, FloPoints *points,
                            FloError *error) {
  FLO_ASSERT(inside->bvh || inside->sdf);
  FLO_TRY(check_options(options, error));
  if (inside->bvh && !inside->bvh->n_nodes) return FLO_OK;
  double low[3], high[3], clearance = options->clearance < 0 ? options->spacing / 2 : options->clearance;
  find_bounds(inside, low, high);
  Lattice lattice = make_lattice(options);
  FLO_TRY(place_lattice(&lattice, low, high, options->spacing, clearance, error));
  // The values of the grid are floats, which need a larger tolerance.
  double tolerance = (inside->bvh ? 1e-6 : 1e-4) * options->spacing;
  FloBuffer is_inside = {0};
  FLO_TRY(flo_buffer_reserve(points->memory, &is_inside, lattice.n[0] * lattice.n[1], 0, error));
  Filling filling = {inside, &lattice, clearance, tolerance, 0, is_inside.data};
  FloStatus status = FLO_OK;
  for (; status == FLO_OK && filling.layer < lattice.n[2]; ++filling.layer)
    status = fill_layer(&filling, options->threads > 0 ? options->threads : 1, points, error);
  flo_buffer_free(points->memory, &is_inside);
  return status;
}
