// How the grid is filled: every eighth node first, exactly, then every fourth, then the nodes in between.
// Nodes near the surface are exact. Nodes far from it are interpolated from the coarser level, less the most
// by which interpolation may be too large. Nodes between every fourth are kept only near the surface.
#include "geometry/sdf.h"

#include "base/parallel.h"
#include "base/vecmath.h"
#include "geometry/sdf_near.h"
#include "geometry/sdf_signs.h"

#include <math.h>

enum {
  BLOCK = FLO_SDF_BLOCK, // cells along the side of a block
  LARGE = 2              // blocks along the side of a large block
};

static const double max_nodes = 67108864; // 2^26

// A block is far if all of its points are at least this many cells from the surface. Interpolation then
// subtracts at most 6/4.2 = 1.43 cells (see excess_of_interpolation), a third of the distance.
static const double near_cells = 4.2;
// The same for large blocks. There a tenth of the distance at the corners is subtracted.
static const double large_near_cells = 13;
// If all corners are this far away, the block is far, and interpolation leaves at least two thirds of the
// distance.
static const double far_cells = 10;
// The share of the distance that interpolation must leave in the middle of a far block.
static const double least_share = 0.65;

// ---- The grid ----

static double blocks_along(double extent, double cell, int margin) {
  return ceil((ceil(extent / cell) + 2 * margin + 2) / BLOCK);
}

static double count_nodes(const double extent[3], double cell, int margin) {
  double count = 1;
  for (int axis = 0; axis < 3; ++axis) count *= BLOCK * blocks_along(extent[axis], cell, margin);
  return count;
}

// Lays out whole blocks along every axis, with a node in the middle of the mesh: a symmetric mesh gets
// symmetric values.
static void lay_grid(FloSdf *sdf, const FloBvh *bvh, double cell, int margin) {
  const FloBvhNode *root = bvh->nodes.data;
  double extent[3];
  vec_sub(root->high, root->low, extent);
  while (count_nodes(extent, cell, margin) > max_nodes) cell *= 1.01;
  sdf->cell = cell;
  for (int axis = 0; axis < 3; ++axis) {
    double n = BLOCK * blocks_along(extent[axis], cell, margin);
    sdf->n[axis] = (size_t)n;
    sdf->low[axis] = (root->low[axis] + root->high[axis]) / 2 - n / 2 * cell;
  }
}

static void node_point(const FloSdf *sdf, const size_t index[3], double p[3]) {
  for (int axis = 0; axis < 3; ++axis) p[axis] = sdf->low[axis] + sdf->cell * (double)index[axis];
}

// A box of nodes, blocks or corners; numbers run fastest along x.
typedef struct Lattice {
  size_t n[3];
} Lattice;

static Lattice blocks_of(const FloSdf *sdf) {
  return (Lattice){{sdf->n[0] / BLOCK, sdf->n[1] / BLOCK, sdf->n[2] / BLOCK}};
}

static Lattice corners_of(const FloSdf *sdf) {
  return (Lattice){{sdf->n[0] / BLOCK + 1, sdf->n[1] / BLOCK + 1, sdf->n[2] / BLOCK + 1}};
}

// The corners of large blocks: enough that every corner of a block lies in a large block.
static Lattice large_corners_of(const FloSdf *sdf) {
  Lattice corners = corners_of(sdf), large;
  for (int axis = 0; axis < 3; ++axis) large.n[axis] = (corners.n[axis] - 1) / LARGE + 2;
  return large;
}

static size_t size_of(Lattice lattice) { return lattice.n[0] * lattice.n[1] * lattice.n[2]; }

static size_t number_of(Lattice lattice, const size_t index[3]) {
  return index[0] + lattice.n[0] * (index[1] + lattice.n[1] * index[2]);
}

static void index_of(Lattice lattice, size_t number, size_t index[3]) {
  index[0] = number % lattice.n[0];
  index[1] = number / lattice.n[0] % lattice.n[1];
  index[2] = number / lattice.n[0] / lattice.n[1];
}

// The eight values around a cell of a lattice.
static void read_corners(const float *values, Lattice lattice, const size_t cell[3], double v[8]) {
  size_t first = number_of(lattice, cell), row = lattice.n[0], sheet = row * lattice.n[1];
  for (size_t c = 0; c < 8; ++c)
    v[c] = (double)values[first + (c & 1) + (c >> 1 & 1) * row + (c >> 2) * sheet];
}

static double mix(double a, double b, double t) { return a + t * (b - a); }

static double mix_corners(const double v[8], const double t[3]) {
  double low = mix(mix(v[0], v[1], t[0]), mix(v[2], v[3], t[0]), t[1]);
  double high = mix(mix(v[4], v[5], t[0]), mix(v[6], v[7], t[0]), t[1]);
  return mix(low, high, t[2]);
}

// ---- Every eighth node and every fourth ----

typedef struct Filling {
  FloSdf *sdf;
  const FloBvh *bvh;
  FloSdfSigns signs;
  float *distances; // unsigned distances at the corners of blocks: exact near the surface, lower bounds
                    // elsewhere
  FloBuffer large;  // floats: distances of the corners of large blocks
  FloBuffer prisms, near_blocks;
  FloBuffer middles; // floats: distances of the middles of near blocks
} Filling;

// The nearest point found for the last place of a row bounds the search for the next.
static double next_distance(const FloBvh *bvh, const double point[3], FloClosest *last) {
  double d[3], bound = INFINITY;
  if (last->distance > 0) {
    vec_sub(point, last->point, d);
    bound = vec_length(d) * (1 + 1e-9);
  }
  flo_bvh_closest(bvh, point, bound, last);
  return last->distance;
}

// The same at a corner of blocks, which `index` counts in steps of `stride` nodes.
static double corner_distance(const Filling *f, const size_t index[3], size_t stride, FloClosest *last) {
  const size_t node[3] = {stride * index[0], stride * index[1], stride * index[2]};
  double point[3];
  node_point(f->sdf, node, point);
  return next_distance(f->bvh, point, last);
}

static void fill_large(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Filling *f = context;
  FloClosest last = {0};
  for (size_t number = begin; number < end; ++number) {
    size_t index[3];
    index_of(large_corners_of(f->sdf), number, index);
    ((float *)f->large.data)[number] = (float)corner_distance(f, index, BLOCK * LARGE, &last);
  }
}

// Interpolating the distance d between nodes h apart makes it too large by at most 3/8 h^2 / d, because no
// second derivative of a distance exceeds 1/d.
static double excess_of_interpolation(double h, double least_distance) {
  return 0.375 * h * h / least_distance;
}

static double least_of(const double v[8]) {
  double least = v[0];
  for (int c = 1; c < 8; ++c) least = fmin(least, v[c]);
  return least;
}

// A lower bound: every point of a cube lies within half its diagonal of a corner.
static double least_in_cube(const double v[8], double side) { return least_of(v) - sqrt(3) / 2 * side; }

// A lower bound of the distance at a corner, from the corners of the large block around it; negative if the
// surface is near.
static double far_distance(const Filling *f, const size_t corner[3]) {
  double v[8], t[3], side = BLOCK * LARGE * f->sdf->cell;
  size_t block[3];
  for (int axis = 0; axis < 3; ++axis) {
    block[axis] = corner[axis] / LARGE;
    t[axis] = (double)(corner[axis] % LARGE) / LARGE;
  }
  read_corners(f->large.data, large_corners_of(f->sdf), block, v);
  double least = least_in_cube(v, side);
  if (least < large_near_cells * f->sdf->cell) return -1;
  return mix_corners(v, t) - excess_of_interpolation(side, least);
}

static void fill_corners(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Filling *f = context;
  FloClosest last = {0};
  for (size_t number = begin; number < end; ++number) {
    size_t index[3];
    index_of(corners_of(f->sdf), number, index);
    double distance = far_distance(f, index);
    if (distance < 0) distance = corner_distance(f, index, BLOCK, &last);
    f->distances[number] = (float)distance;
  }
}

// ---- Which blocks are near ----

// Whether all of a block has the sign of its middle node. Away from the surface the winding number w is
// harmonic. Where it stays within [0, 1], Harnack's inequality bounds it. At distance r from a place that is
// R from the surface,  w <= w_there R (R + r)/(R - r)^2,  and the same holds for 1 - w. A closed mesh has 0
// or 1 everywhere; in front of the holes of an open one a block may have both signs. The tree's own error is
// taken as 0.01.
static bool has_one_sign(const Filling *f, const size_t block[3], double distance) {
  if (!flo_sdf_signs_has_holes(&f->signs)) return true;
  const size_t middle[3] = {BLOCK * block[0] + BLOCK / 2, BLOCK * block[1] + BLOCK / 2,
                            BLOCK * block[2] + BLOCK / 2};
  double w = flo_sdf_signs_winding(&f->signs, middle), r = sqrt(3) / 2 * BLOCK * f->sdf->cell;
  double doubt = fmax(fmin(w, 1 - w), 0.01);
  return r < distance && doubt * distance * (distance + r) < 0.4 * (distance - r) * (distance - r);
}

// Whether a block is near. The corners decide if they can; otherwise the distance of the middle is computed
// and kept. Where the distance has a ridge, interpolation would leave too little of it, so the block counts
// as near.
static bool is_near(const Filling *f, const size_t block[3], double *distance) {
  double v[8], cell = f->sdf->cell, half = sqrt(3) / 2 * BLOCK * cell, middle[3];
  read_corners(f->distances, corners_of(f->sdf), block, v);
  *distance = least_in_cube(v, BLOCK * cell);
  if (least_of(v) >= far_cells * cell && has_one_sign(f, block, *distance)) return false;
  FloClosest closest;
  for (int axis = 0; axis < 3; ++axis)
    middle[axis] = f->sdf->low[axis] + BLOCK * cell * ((double)block[axis] + 0.5);
  // Far from the surface the corners have only lower bounds.
  double bound = least_of(v) < far_cells * cell ? (least_of(v) + half) * (1 + 1e-6) : INFINITY;
  flo_bvh_closest(f->bvh, middle, bound, &closest);
  *distance = closest.distance;
  double interpolated = mix_corners(v, (const double[3]){0.5, 0.5, 0.5}) -
                        excess_of_interpolation(BLOCK * cell, near_cells * cell);
  return *distance < near_cells * cell + half || interpolated < least_share * *distance ||
         !has_one_sign(f, block, *distance);
}

static void mark_near(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Filling *f = context;
  uint32_t *places = f->sdf->places.data;
  for (size_t number = begin; number < end; ++number) {
    size_t block[3];
    double distance;
    index_of(blocks_of(f->sdf), number, block);
    places[number] = is_near(f, block, &distance) ? 0 : FLO_SDF_FAR;
    ((float *)f->middles.data)[number] = (float)distance;
  }
}

static FloStatus number_near(Filling *f, FloError *error) {
  FloSdf *sdf = f->sdf;
  uint32_t *places = sdf->places.data;
  size_t n_blocks = size_of(blocks_of(sdf));
  for (size_t k = 0; k < n_blocks; ++k)
    if (places[k] != FLO_SDF_FAR) places[k] = (uint32_t)sdf->n_near++;
  FLO_TRY(flo_buffer_reserve(sdf->memory, &f->near_blocks, (sdf->n_near + 1) * sizeof(uint32_t), 0, error));
  uint32_t *blocks = f->near_blocks.data;
  for (size_t k = 0; k < n_blocks; ++k)
    if (places[k] != FLO_SDF_FAR) blocks[places[k]] = (uint32_t)k;
  size_t size = sdf->n_near * FLO_SDF_BLOCK_NODES * sizeof(float);
  return flo_buffer_reserve(sdf->memory, &sdf->values, size, 0, error);
}

// ---- Near blocks ----

static void fill_near_block(const Filling *f, size_t place) {
  size_t block[3], first[3];
  double low[3], distances[FLO_SDF_BLOCK_NODES];
  float *values = (float *)f->sdf->values.data + FLO_SDF_BLOCK_NODES * place;
  uint32_t number = ((uint32_t *)f->near_blocks.data)[place];
  index_of(blocks_of(f->sdf), number, block);
  for (int axis = 0; axis < 3; ++axis) first[axis] = BLOCK * block[axis];
  node_point(f->sdf, first, low);
  // The middle of the block's nodes lies half a cell's diagonal from the middle of the block.
  double bound = (double)((float *)f->middles.data)[number] + sqrt(3) / 2 * f->sdf->cell;
  flo_sdf_block_distances(f->bvh, f->prisms.data, low, f->sdf->cell, bound * (1 + 1e-6), distances);
  for (size_t node = 0; node < FLO_SDF_BLOCK_NODES; ++node) {
    const size_t index[3] = {first[0] + node % BLOCK, first[1] + node / BLOCK % BLOCK,
                             first[2] + node / BLOCK / BLOCK};
    bool is_inside = flo_sdf_signs_is_inside(&f->signs, index);
    values[node] = (float)(is_inside ? -distances[node] : distances[node]);
  }
}

static void fill_near(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  for (size_t place = begin; place < end; ++place) fill_near_block(context, place);
}

// ---- Far blocks ----

// Subtracts beforehand what interpolation in the far blocks around a corner may add, and sets the sign. All
// points of a far block are at least near_cells away, and at least the corner's distance less the diagonal.
static void finish_corners(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Filling *f = context;
  double side = BLOCK * f->sdf->cell;
  for (size_t number = begin; number < end; ++number) {
    size_t index[3];
    index_of(corners_of(f->sdf), number, index);
    for (int axis = 0; axis < 3; ++axis) index[axis] *= BLOCK;
    double distance = (double)f->distances[number];
    double least = fmax(distance - sqrt(3) * side, near_cells * f->sdf->cell);
    distance = fmax(distance - excess_of_interpolation(side, least), 0);
    f->distances[number] = (float)(flo_sdf_signs_is_inside(&f->signs, index) ? -distance : distance);
  }
}

// ---- Building ----

static FloStatus allocate_levels(Filling *f, FloError *error) {
  FloSdf *sdf = f->sdf;
  size_t n_large = size_of(large_corners_of(sdf)), n_corners = size_of(corners_of(sdf));
  FLO_TRY(flo_buffer_reserve(sdf->memory, &f->large, n_large * sizeof(float), 0, error));
  FLO_TRY(flo_buffer_reserve(sdf->memory, &sdf->corners, n_corners * sizeof(float), 0, error));
  FLO_TRY(
      flo_buffer_reserve(sdf->memory, &sdf->places, size_of(blocks_of(sdf)) * sizeof(uint32_t), 0, error));
  FLO_TRY(flo_buffer_reserve(sdf->memory, &f->middles, size_of(blocks_of(sdf)) * sizeof(float), 0, error));
  f->distances = sdf->corners.data;
  return flo_sdf_make_prisms(f->bvh->mesh, &f->prisms, error);
}

static FloStatus fill(Filling *f, int threads, FloError *error) {
  const FloSdf *sdf = f->sdf;
  FLO_TRY(allocate_levels(f, error));
  flo_parallel_for(threads, size_of(large_corners_of(sdf)), 64, fill_large, f);
  flo_parallel_for(threads, size_of(corners_of(sdf)), 256, fill_corners, f);
  flo_parallel_for(threads, size_of(blocks_of(sdf)), 256, mark_near, f);
  FLO_TRY(number_near(f, error));
  flo_parallel_for(threads, sdf->n_near, 16, fill_near, f);
  flo_parallel_for(threads, size_of(corners_of(sdf)), 1024, finish_corners, f);
  return FLO_OK;
}

static FloStatus fill_with_signs(FloSdf *sdf, const FloBvh *bvh, int threads, FloError *error) {
  Filling f = {.sdf = sdf, .bvh = bvh};
  // The corners of the last blocks lie one node beyond the grid.
  const size_t n[3] = {sdf->n[0] + 1, sdf->n[1] + 1, sdf->n[2] + 1};
  FLO_TRY(flo_sdf_signs_init(&f.signs, bvh, sdf->low, sdf->cell, n, error));
  FloStatus status = fill(&f, threads, error);
  flo_sdf_signs_free(&f.signs);
  flo_buffer_free(sdf->memory, &f.large);
  flo_buffer_free(sdf->memory, &f.prisms);
  flo_buffer_free(sdf->memory, &f.near_blocks);
  flo_buffer_free(sdf->memory, &f.middles);
  return status;
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
  FloStatus status = fill_with_signs(sdf, bvh, threads, error);
  if (status != FLO_OK) flo_sdf_free(sdf);
  return status;
}

void flo_sdf_free(FloSdf *sdf) {
  if (!sdf->memory) return;
  flo_buffer_free(sdf->memory, &sdf->places);
  flo_buffer_free(sdf->memory, &sdf->values);
  flo_buffer_free(sdf->memory, &sdf->corners);
}

// ---- Reading ----

typedef struct Place {
  size_t index[3]; // of the low node of the cell
  double t[3];     // place within the cell, 0 to 1
  double distance; // to the grid, for points outside
} Place;

static Place find_place(const FloSdf *sdf, const double point[3]) {
  Place place;
  double square = 0;
  for (int axis = 0; axis < 3; ++axis) {
    double end = (double)(sdf->n[axis] - 1), x = (point[axis] - sdf->low[axis]) / sdf->cell;
    double inside = x > 0 ? (x < end ? x : end) : 0; // NaN goes to 0
    square += (x - inside) * (x - inside);
    place.index[axis] = flo_min_size((size_t)inside, sdf->n[axis] - 2);
    place.t[axis] = inside - (double)place.index[axis];
  }
  place.distance = sqrt(square) * sdf->cell;
  return place;
}

// Computes the eight nodes of a cell in a far block from the corners of the block; `index` is its low node.
static void read_far_cell(const FloSdf *sdf, const size_t block[3], const size_t index[3], double v[8]) {
  double corners[8];
  read_corners(sdf->corners.data, corners_of(sdf), block, corners);
  for (size_t c = 0; c < 8; ++c) {
    const double t[3] = {(double)(index[0] % BLOCK + (c & 1)) / BLOCK,
                         (double)(index[1] % BLOCK + (c >> 1 & 1)) / BLOCK,
                         (double)(index[2] % BLOCK + (c >> 2)) / BLOCK};
    v[c] = mix_corners(corners, t);
  }
}

double flo_sdf_node(const FloSdf *sdf, const size_t index[3]) {
  const size_t block[3] = {index[0] / BLOCK, index[1] / BLOCK, index[2] / BLOCK};
  uint32_t place = ((uint32_t *)sdf->places.data)[number_of(blocks_of(sdf), block)];
  if (place != FLO_SDF_FAR) {
    const float *values = (float *)sdf->values.data + FLO_SDF_BLOCK_NODES * (size_t)place;
    return (double)values[index[0] % BLOCK + BLOCK * (index[1] % BLOCK + BLOCK * (index[2] % BLOCK))];
  }
  double corners[8];
  const double t[3] = {(double)(index[0] % BLOCK) / BLOCK, (double)(index[1] % BLOCK) / BLOCK,
                       (double)(index[2] % BLOCK) / BLOCK};
  read_corners(sdf->corners.data, corners_of(sdf), block, corners);
  return mix_corners(corners, t);
}

// A cell within one block is read at once. A cell between blocks is read node by node, because some of these
// may be near.
static void read_cell(const FloSdf *sdf, const size_t index[3], double v[8]) {
  const size_t block[3] = {index[0] / BLOCK, index[1] / BLOCK, index[2] / BLOCK};
  const size_t in[3] = {index[0] % BLOCK, index[1] % BLOCK, index[2] % BLOCK};
  if (in[0] < BLOCK - 1 && in[1] < BLOCK - 1 && in[2] < BLOCK - 1) {
    uint32_t place = ((uint32_t *)sdf->places.data)[number_of(blocks_of(sdf), block)];
    if (place == FLO_SDF_FAR) {
      read_far_cell(sdf, block, index, v);
      return;
    }
    const float *values = (float *)sdf->values.data + FLO_SDF_BLOCK_NODES * (size_t)place;
    read_corners(values, (Lattice){{BLOCK, BLOCK, BLOCK}}, in, v);
    return;
  }
  for (size_t c = 0; c < 8; ++c)
    v[c] = flo_sdf_node(sdf,
                        (const size_t[3]){index[0] + (c & 1), index[1] + (c >> 1 & 1), index[2] + (c >> 2)});
}

double flo_sdf_distance(const FloSdf *sdf, const double point[3]) {
  Place place = find_place(sdf, point);
  double v[8];
  read_cell(sdf, place.index, v);
  return mix_corners(v, place.t) + place.distance;
}

void flo_sdf_normal(const FloSdf *sdf, const double point[3], double normal[3]) {
  Place place = find_place(sdf, point);
  double v[8];
  read_cell(sdf, place.index, v);
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
