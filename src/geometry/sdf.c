// How the grid is filled: every fourth node first, exactly, then block by block what lies between them.
// Blocks near the surface are exact node by node; others are interpolated between their eight corners, which
// costs a sixty-fourth.
#include "geometry/sdf.h"

#include "base/parallel.h"
#include "base/vecmath.h"

#include <math.h>

enum { BLOCK = 4 }; // cells along the side of a block

static const double max_nodes = 67108864; // 2^26

// Every node of a block lies within sqrt(3) BLOCK/2 cells of a corner. If that corner is this many cells from
// the surface, the node is more than 4.5 cells from it.
static const double near_cells = 8;

// ---- The grid ----

static size_t node_index(const FloSdf *sdf, size_t i, size_t j, size_t k) {
  return i + sdf->n[0] * (j + sdf->n[1] * k);
}

static float *values_of(const FloSdf *sdf) { return sdf->values.data; }

static double count_nodes(const double extent[3], double cell, int margin) {
  double count = 1;
  for (int axis = 0; axis < 3; ++axis)
    count *= BLOCK * ceil((ceil(extent[axis] / cell) + 2 * margin) / BLOCK) + 1;
  return count;
}

// Whole blocks along every axis, the mesh in the middle.
static void lay_grid(FloSdf *sdf, const FloBvh *bvh, double cell, int margin) {
  const FloBvhNode *root = bvh->nodes.data;
  double extent[3];
  vec_sub(root->high, root->low, extent);
  while (count_nodes(extent, cell, margin) > max_nodes) cell *= 1.01;
  sdf->cell = cell;
  for (int axis = 0; axis < 3; ++axis) {
    double n_blocks = fmax(ceil((ceil(extent[axis] / cell) + 2 * margin) / BLOCK), 1);
    sdf->n[axis] = BLOCK * (size_t)n_blocks + 1;
    sdf->low[axis] = (root->low[axis] + root->high[axis]) / 2 - n_blocks * BLOCK / 2 * cell;
  }
}

static void node_point(const FloSdf *sdf, const size_t index[3], double p[3]) {
  for (int axis = 0; axis < 3; ++axis) p[axis] = sdf->low[axis] + sdf->cell * (double)index[axis];
}

// ---- Filling ----

// A place at which the distance to the surface (or less) and the winding number are known.
typedef struct Witness {
  double point[3];
  double distance, winding;
} Witness;

typedef struct Filling {
  FloSdf *sdf;
  const FloBvh *bvh;
  Witness *corners; // of the blocks
  size_t n_blocks[3];
} Filling;

static Witness *corner_at(const Filling *f, size_t i, size_t j, size_t k) {
  return &f->corners[i + (f->n_blocks[0] + 1) * (j + (f->n_blocks[1] + 1) * k)];
}

static void fill_corners(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Filling *f = context;
  const size_t nx = f->n_blocks[0] + 1, ny = f->n_blocks[1] + 1;
  for (size_t k = begin; k < end; ++k) {
    size_t index[3] = {BLOCK * (k % nx), BLOCK * (k / nx % ny), BLOCK * (k / nx / ny)};
    Witness *corner = &f->corners[k];
    FloClosest closest = {0};
    node_point(f->sdf, index, corner->point);
    flo_bvh_closest(f->bvh, corner->point, INFINITY, &closest);
    corner->distance = closest.distance;
    corner->winding = flo_bvh_winding(f->bvh, corner->point);
  }
}

typedef struct Block {
  size_t first[3], end[3]; // its nodes; the far side belongs to the next block, if there is one
  const Witness *corners[8];
  Witness last;   // the last node whose winding number was computed
  double nearest; // the least distance of a corner [m]
} Block;

static Block make_block(const Filling *f, size_t number) {
  const size_t place[3] = {number % f->n_blocks[0], number / f->n_blocks[0] % f->n_blocks[1],
                           number / f->n_blocks[0] / f->n_blocks[1]};
  Block block = {.nearest = INFINITY};
  for (int axis = 0; axis < 3; ++axis) {
    bool is_last = place[axis] + 1 == f->n_blocks[axis];
    block.first[axis] = BLOCK * place[axis];
    block.end[axis] = block.first[axis] + BLOCK + is_last;
  }
  for (size_t c = 0; c < 8; ++c) {
    block.corners[c] = corner_at(f, place[0] + (c & 1), place[1] + (c >> 1 & 1), place[2] + (c >> 2));
    block.nearest = fmin(block.nearest, block.corners[c]->distance);
  }
  block.last = *block.corners[0];
  return block;
}

// Interpolating the distance d between nodes h apart makes it too large by at most 3/8 h^2 / d, because no
// second derivative of a distance exceeds 1/d; that much is taken off.
static double interpolate_corners(const Filling *f, const Block *block, const size_t index[3]) {
  double sum = 0, cell = f->sdf->cell;
  for (int c = 0; c < 8; ++c) {
    double weight = 1;
    for (int axis = 0; axis < 3; ++axis) {
      double t = (double)(index[axis] - block->first[axis]) / BLOCK;
      weight *= c >> axis & 1 ? t : 1 - t;
    }
    sum += weight * block->corners[c]->distance;
  }
  double least = block->nearest - sqrt(3) * BLOCK / 2 * cell;
  return sum - 0.375 * BLOCK * BLOCK * cell * cell / least;
}

// Whether a witness knows the sign at `point`. Away from the surface the winding number w is harmonic; where
// it stays within [0, 1], Harnack's inequality bounds it at distance r of a witness that is R from the
// surface:  w <= w_witness R (R + r)/(R - r)^2,  and 1 - w likewise. A closed mesh has 0 or 1 everywhere, so
// that nearly every witness will do; before the holes of an open one some have to be asked anew. The tree's
// own error is counted as 0.01.
static bool knows_sign(const Witness *witness, const double point[3]) {
  double d[3], w = witness->winding, big = witness->distance;
  vec_sub(point, witness->point, d);
  double small = vec_length(d), doubt = fmax(fmin(w, 1 - w), 0.01);
  return small < big && doubt * big * (big + small) < 0.4 * (big - small) * (big - small);
}

static bool is_node_inside(const Filling *f, Block *block, const size_t index[3], const double point[3],
                           double distance) {
  int nearest = 0;
  for (int axis = 0; axis < 3; ++axis)
    nearest |= 2 * (index[axis] - block->first[axis]) > BLOCK ? 1 << axis : 0;
  if (knows_sign(block->corners[nearest], point)) return block->corners[nearest]->winding > 0.5;
  if (knows_sign(&block->last, point)) return block->last.winding > 0.5;
  vec_copy(point, block->last.point);
  block->last.distance = distance, block->last.winding = flo_bvh_winding(f->bvh, point);
  return block->last.winding > 0.5;
}

// `bound` is a distance that is not exceeded; it makes the search short.
static double node_value(const Filling *f, Block *block, const size_t index[3], double bound) {
  double point[3];
  FloClosest closest = {.distance = bound};
  node_point(f->sdf, index, point);
  if (block->nearest < near_cells * f->sdf->cell)
    flo_bvh_closest(f->bvh, point, bound, &closest);
  else
    closest.distance = interpolate_corners(f, block, index);
  return is_node_inside(f, block, index, point, closest.distance) ? -closest.distance : closest.distance;
}

static void fill_block(const Filling *f, size_t number) {
  Block block = make_block(f, number);
  size_t index[3];
  double cell = f->sdf->cell, start = block.corners[0]->distance;
  for (index[2] = block.first[2]; index[2] < block.end[2]; ++index[2])
    for (index[1] = block.first[1]; index[1] < block.end[1]; ++index[1]) {
      // From the corner to the start of the row, then from node to node: the distance changes no faster.
      double bound = start + cell * (double)(index[1] - block.first[1] + index[2] - block.first[2]);
      for (index[0] = block.first[0]; index[0] < block.end[0]; ++index[0]) {
        double value = node_value(f, &block, index, bound * (1 + 1e-9));
        values_of(f->sdf)[node_index(f->sdf, index[0], index[1], index[2])] = (float)value;
        bound = fabs(value) + cell;
      }
    }
}

static void fill_blocks(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  for (size_t k = begin; k < end; ++k) fill_block(context, k);
}

static FloStatus fill(FloSdf *sdf, const FloBvh *bvh, int threads, FloError *error) {
  Filling filling = {.sdf = sdf, .bvh = bvh};
  size_t n_corners = 1, n_blocks = 1;
  for (int axis = 0; axis < 3; ++axis) {
    filling.n_blocks[axis] = (sdf->n[axis] - 1) / BLOCK;
    n_corners *= filling.n_blocks[axis] + 1, n_blocks *= filling.n_blocks[axis];
  }
  FloBuffer corners = {0};
  FLO_TRY(flo_buffer_reserve(sdf->memory, &corners, n_corners * sizeof(Witness), 0, error));
  filling.corners = corners.data;
  flo_parallel_for(threads, n_corners, 64, fill_corners, &filling);
  flo_parallel_for(threads, n_blocks, 16, fill_blocks, &filling);
  flo_buffer_free(sdf->memory, &corners);
  return FLO_OK;
}

static FloStatus check_request(const FloBvh *bvh, double cell, int margin, FloError *error) {
  if (!bvh->n_nodes) return flo_fail(error, FLO_BAD_INPUT, "distance grid: the mesh has no triangles");
  if (!(cell > 0) || !isfinite(cell))
    return flo_fail(error, FLO_BAD_INPUT, "distance grid: the cell must be positive, got %g", cell);
  if (margin < 1 || margin > 128)
    return flo_fail(error, FLO_BAD_INPUT, "distance grid: the margin must be 1 to 128 cells, got %d", margin);
  return FLO_OK;
}

FloStatus flo_sdf_build(FloSdf *sdf, const FloBvh *bvh, double cell, int margin, int threads,
                        FloError *error) {
  *sdf = (FloSdf){.memory = bvh->mesh->memory};
  FLO_TRY(check_request(bvh, cell, margin, error));
  lay_grid(sdf, bvh, cell, margin);
  size_t n_nodes = sdf->n[0] * sdf->n[1] * sdf->n[2];
  FloStatus status = flo_buffer_reserve(sdf->memory, &sdf->values, n_nodes * sizeof(float), 0, error);
  if (status == FLO_OK) status = fill(sdf, bvh, threads, error);
  if (status != FLO_OK) flo_sdf_free(sdf);
  return status;
}

void flo_sdf_free(FloSdf *sdf) {
  if (sdf->memory) flo_buffer_free(sdf->memory, &sdf->values);
}

// ---- Reading ----

typedef struct Place {
  size_t first;    // index of the low node of the cell
  double t[3];     // place within the cell, 0 to 1
  double distance; // to the grid, for points outside
} Place;

static Place find_place(const FloSdf *sdf, const double point[3]) {
  Place place = {0};
  size_t index[3];
  double square = 0;
  for (int axis = 0; axis < 3; ++axis) {
    double end = (double)(sdf->n[axis] - 1), x = (point[axis] - sdf->low[axis]) / sdf->cell;
    double inside = x > 0 ? (x < end ? x : end) : 0; // NaN goes to 0
    square += (x - inside) * (x - inside);
    index[axis] = flo_min_size((size_t)inside, sdf->n[axis] - 2);
    place.t[axis] = inside - (double)index[axis];
  }
  place.distance = sqrt(square) * sdf->cell;
  place.first = node_index(sdf, index[0], index[1], index[2]);
  return place;
}

static void read_cell(const FloSdf *sdf, const Place *place, double v[8]) {
  size_t row = sdf->n[0], sheet = row * sdf->n[1];
  for (size_t c = 0; c < 8; ++c)
    v[c] = (double)values_of(sdf)[place->first + (c & 1) + (c >> 1 & 1) * row + (c >> 2) * sheet];
}

static double mix(double a, double b, double t) { return a + t * (b - a); }

double flo_sdf_distance(const FloSdf *sdf, const double point[3]) {
  Place place = find_place(sdf, point);
  double v[8];
  read_cell(sdf, &place, v);
  double low = mix(mix(v[0], v[1], place.t[0]), mix(v[2], v[3], place.t[0]), place.t[1]);
  double high = mix(mix(v[4], v[5], place.t[0]), mix(v[6], v[7], place.t[0]), place.t[1]);
  return mix(low, high, place.t[2]) + place.distance;
}

void flo_sdf_normal(const FloSdf *sdf, const double point[3], double normal[3]) {
  Place place = find_place(sdf, point);
  double v[8];
  read_cell(sdf, &place, v);
  // Differences along one axis, interpolated along the other two.
  for (int axis = 0; axis < 3; ++axis) {
    int one = 1 << axis, b = (axis + 1) % 3, c = (axis + 2) % 3;
    double at[4];
    for (int k = 0; k < 4; ++k) {
      int corner = (k & 1 ? 1 << b : 0) | (k & 2 ? 1 << c : 0);
      at[k] = v[corner | one] - v[corner];
    }
    normal[axis] = mix(mix(at[0], at[1], place.t[b]), mix(at[2], at[3], place.t[b]), place.t[c]);
  }
  double length = vec_length(normal);
  vec_scale(normal, length > 0 ? 1 / length : 0, normal);
}
