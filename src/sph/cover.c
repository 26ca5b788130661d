#include "sph/cover.h"

#include "base/parallel.h"
#include "base/vecmath.h"

#include <string.h>

// Cells of the grid in the reach, and points of the ball. Points lie halfway between each other's cells, so
// that all nodes of a block share them.
enum { CELLS_PER_REACH = 6, POINTS_PER_REACH_2D = 12, POINTS_PER_REACH_3D = 6 };

// A share below this, or as near to one, does not say how deep a point is.
#define LEAST_SHARE 1e-4

static int points_per_reach(int dim) { return dim == 3 ? POINTS_PER_REACH_3D : POINTS_PER_REACH_2D; }

// Points in a row that covers a block and the balls around its nodes.
static int row_length(int dim) {
  return FLO_COVER_CELLS * points_per_reach(dim) / CELLS_PER_REACH + 2 * points_per_reach(dim);
}
enum { MAX_POINTS = 4096 };

// ---- Creation and end ----

// The offset of a point of the ball from its node along an axis.
static double offset_of(const FloCover *cover, int index, int axis) {
  const int dim = cover->sheets.kernel.dim;
  return axis < dim ? (index - points_per_reach(dim) + 0.5) * cover->fineness : 0;
}

// Weights of the points of a cube around the ball, which add up to one. Outside of the ball they are zero.
static FloStatus weigh_points(FloCover *cover, FloMemory *memory, FloError *error) {
  const int dim = cover->sheets.kernel.dim, n = 2 * points_per_reach(dim), size = n * n * (dim == 3 ? n : 1);
  double sum = 0;
  FLO_TRY(flo_buffer_reserve(memory, &cover->weights, (size_t)size * sizeof(float), 0, error));
  float *weights = cover->weights.data;
  for (int k = 0; k < size; ++k) {
    const double at[3] = {offset_of(cover, k % n, 0), offset_of(cover, k / n % n, 1),
                          offset_of(cover, k / (n * n), 2)};
    weights[k] = (float)flo_cover_kernel(&cover->sheets, vec_length(at));
    sum += (double)weights[k];
  }
  for (int k = 0; k < size; ++k) weights[k] /= (float)sum;
  return FLO_OK;
}

// A cover has its memory only once it is complete: one that could not be made can be made again.
FloStatus flo_cover_init(FloCover *cover, const FloKernelForm *kernel, double spacing, FloMemory *memory,
                         FloError *error) {
  *cover = (FloCover){.sheets = flo_cover_sheets(kernel, spacing)};
  cover->cell = cover->sheets.reach / CELLS_PER_REACH;
  cover->fineness = cover->sheets.reach / points_per_reach(kernel->dim);
  cover->nodes_per_block = FLO_COVER_NODES * FLO_COVER_NODES * (kernel->dim == 3 ? FLO_COVER_NODES : 1);
  cover->least = flo_cover_depth_of(&cover->sheets, LEAST_SHARE);
  FLO_TRY(weigh_points(cover, memory, error));
  cover->memory = memory;
  return FLO_OK;
}

void flo_cover_free(FloCover *cover) {
  FloBuffer *buffers[] = {&cover->weights, &cover->keys, &cover->depths, &cover->table};
  for (size_t k = 0; cover->memory && k < FLO_COUNT_OF(buffers); ++k)
    flo_buffer_free(cover->memory, buffers[k]);
}

// ---- The depth at a node, from the solid ----

// Written so that compilers find vector instructions for it.
static inline float inside_part(float distance) {
  const float part = 0.5F - distance, least = part > 0 ? part : 0;
  return least < 1 ? least : 1;
}

float flo_cover_part(float distance) { return inside_part(distance); }

// The parts of all small cells around the nodes of a block that are inside and left.
static void find_parts(const FloCover *cover, const FloCoverKey *key, const FloCoverOwners *owners,
                       float *parts) {
  const int dim = cover->sheets.kernel.dim, row = row_length(dim), n = points_per_reach(dim);
  double x[3] = {0};
  for (int k = 0; k < row * row * (dim == 3 ? row : 1); ++k) {
    const int index[3] = {k % row, k / row % row, k / (row * row)};
    for (int axis = 0; axis < dim; ++axis)
      x[axis] = cover->cell * FLO_COVER_CELLS * key->block[axis] + cover->fineness * (index[axis] - n + 0.5);
    parts[k] = inside_part((float)(flo_solid_distance(key->of.solid, x) / cover->fineness));
    if (key->of.owner && parts[k] > 0)
      parts[k] = owners->leave(owners->context, key->of.owner, x, cover->fineness, parts[k]);
  }
}

enum { MAX_LANES = 2 * POINTS_PER_REACH_2D };

// Adds a row of points: weight times the part that the solid covers beyond a half space. `distance` is that
// of the half space at the first point, and grows by `slope` from point to point, in sizes of a small cell.
static void add_row(const float *weights, const float *parts, float distance, float slope, int n,
                    float *lanes) {
  for (int k = 0; k < n; ++k) lanes[k] += weights[k] * (parts[k] - inside_part(distance + slope * (float)k));
}

// What the solid covers beyond the half space that touches it: errors of the sum cancel.
static double cover_beyond(const FloCover *cover, const float *parts, double distance,
                           const double normal[3]) {
  const int dim = cover->sheets.kernel.dim, n = 2 * points_per_reach(dim), row = row_length(dim);
  const float *weights = cover->weights.data;
  float lanes[MAX_LANES] = {0};
  double sum = 0;
  for (int k = 0; k < n * (dim == 3 ? n : 1); ++k) {
    if (!(weights[k * n + n / 2] > 0)) continue; // all of the row is outside of the ball
    const double at[3] = {offset_of(cover, 0, 0), offset_of(cover, k % n, 1), offset_of(cover, k / n, 2)};
    add_row(weights + k * n, parts + row * (k % n + row * (k / n)),
            (float)((distance + vec_dot(normal, at)) / cover->fineness), (float)normal[0], n, lanes);
  }
  for (int k = 0; k < n; ++k) sum += (double)lanes[k];
  return sum;
}

static double find_depth(const FloCover *cover, const FloSolid *solid, const double x[3],
                         const float *parts) {
  const FloCoverSheets *sheets = &cover->sheets;
  const double distance = flo_solid_distance(solid, x);
  double normal[3];
  if (fabs(distance) >= sheets->reach) return distance;
  flo_solid_normal(solid, x, normal);
  const double share = flo_cover_share(sheets, distance) + cover_beyond(cover, parts, distance, normal);
  if (share < LEAST_SHARE) return fmax(distance, cover->least);
  if (share > 1 - LEAST_SHARE) return fmin(distance, -cover->least);
  return flo_cover_depth_of(sheets, share);
}

// ---- Blocks ----

static FloCoverKey key_at(const FloCover *cover, FloCovering of, const double local[3], double in_block[3]) {
  FloCoverKey key = {.of = of};
  for (int axis = 0; axis < cover->sheets.kernel.dim; ++axis) {
    const double at = local[axis] / (FLO_COVER_CELLS * cover->cell), whole = floor(at);
    key.block[axis] = (int32_t)whole;
    in_block[axis] = (at - whole) * FLO_COVER_CELLS;
  }
  return key;
}

static uint64_t hash_of(const FloCoverKey *key) {
  uint64_t hash = (uint64_t)(uintptr_t)key->of.solid + key->of.owner;
  for (int axis = 0; axis < 3; ++axis) {
    hash = (hash ^ (uint32_t)key->block[axis]) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

static bool is_same(const FloCoverKey *a, const FloCoverKey *b) {
  return a->of.solid == b->of.solid && a->of.owner == b->of.owner && a->block[0] == b->block[0] &&
         a->block[1] == b->block[1] && a->block[2] == b->block[2];
}

// The place of a key in the table: where it is, or where it belongs.
static uint32_t *place_of(const FloCover *cover, const FloCoverKey *key) {
  const FloCoverKey *keys = cover->keys.data;
  uint32_t *table = cover->table.data;
  size_t at = hash_of(key) & (cover->table_size - 1);
  while (table[at] && !is_same(&keys[table[at] - 1], key)) at = (at + 1) & (cover->table_size - 1);
  return &table[at];
}

enum { FIRST_TABLE_SIZE = 1024 };

// At most half of the table is used. A table that finds no room to grow stays as it is.
static FloStatus grow_table(FloCover *cover, FloError *error) {
  const size_t old = cover->table_size * sizeof(uint32_t),
               size = cover->table_size ? 2 * cover->table_size : FIRST_TABLE_SIZE;
  if (2 * (cover->n_blocks + 1) <= cover->table_size) return FLO_OK;
  FLO_TRY(flo_buffer_reserve(cover->memory, &cover->table, size * sizeof(uint32_t), old, error));
  memset(cover->table.data, 0, size * sizeof(uint32_t));
  cover->table_size = size;
  for (size_t k = 0; k < cover->n_blocks; ++k)
    *place_of(cover, (const FloCoverKey *)cover->keys.data + k) = (uint32_t)(k + 1);
  return FLO_OK;
}

// Each buffer on its own: the last call may have had room for one of them only.
static FloStatus make_room(FloCover *cover, size_t size, FloBuffer *buffer, FloError *error) {
  const size_t n = cover->n_blocks, more = n + n / 2 + 64;
  if ((n + 1) * size <= buffer->capacity) return FLO_OK;
  return flo_buffer_reserve(cover->memory, buffer, more * size, n * size, error);
}

static FloStatus add_block(FloCover *cover, const FloCoverKey *key, FloError *error) {
  FLO_TRY(grow_table(cover, error));
  FLO_TRY(make_room(cover, cover->nodes_per_block * sizeof(float), &cover->depths, error));
  FLO_TRY(make_room(cover, sizeof *key, &cover->keys, error));
  ((FloCoverKey *)cover->keys.data)[cover->n_blocks++] = *key;
  *place_of(cover, key) = (uint32_t)cover->n_blocks;
  return FLO_OK;
}

FloStatus flo_cover_need(FloCover *cover, FloCovering of, const double local[3], FloError *error) {
  double in_block[3];
  const FloCoverKey key = key_at(cover, of, local, in_block);
  if (cover->table_size && *place_of(cover, &key)) return FLO_OK;
  return add_block(cover, &key, error);
}

static void fill_block(FloCover *cover, const FloCoverOwners *owners, size_t block) {
  const FloCoverKey *key = (const FloCoverKey *)cover->keys.data + block;
  const int dim = cover->sheets.kernel.dim, row = row_length(dim),
            step = points_per_reach(dim) / CELLS_PER_REACH;
  float parts[MAX_POINTS], *depths = (float *)cover->depths.data + block * cover->nodes_per_block;
  find_parts(cover, key, owners, parts);
  for (int k = 0; k < (int)cover->nodes_per_block; ++k) {
    const int index[3] = {k % FLO_COVER_NODES, k / FLO_COVER_NODES % FLO_COVER_NODES,
                          k / (FLO_COVER_NODES * FLO_COVER_NODES)};
    double x[3] = {0};
    for (int axis = 0; axis < dim; ++axis)
      x[axis] = cover->cell * ((double)key->block[axis] * FLO_COVER_CELLS + index[axis]);
    depths[k] = (float)find_depth(cover, key->of.solid, x,
                                  parts + step * (index[0] + row * (index[1] + row * index[2])));
  }
}

typedef struct Filling {
  FloCover *cover;
  const FloCoverOwners *owners;
} Filling;

static void fill_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Filling *in = context;
  for (size_t k = begin; k < end; ++k) fill_block(in->cover, in->owners, in->cover->n_filled + k);
}

void flo_cover_fill(FloCover *cover, const FloCoverOwners *owners, int threads) {
  Filling filling = {cover, owners};
  flo_parallel_for(threads, cover->n_blocks - cover->n_filled, 1, fill_range, &filling);
  cover->n_filled = cover->n_blocks;
}

void flo_cover_forget(FloCover *cover) {
  cover->n_blocks = cover->n_filled = 0;
  if (cover->table_size) memset(cover->table.data, 0, cover->table_size * sizeof(uint32_t));
}

// ---- Interpolation ----

// Along x between two nodes at each of the corners in y and z; then along y, then along z.
double flo_cover_depth(const FloCover *cover, FloCovering of, const double local[3], double gradient[3]) {
  double at[3] = {0}, value = 0;
  size_t cell[3] = {0};
  const FloCoverKey key = key_at(cover, of, local, at);
  const float *nodes =
      (const float *)cover->depths.data + (*place_of(cover, &key) - 1) * cover->nodes_per_block;
  for (int axis = 0; axis < cover->sheets.kernel.dim; ++axis) {
    cell[axis] = at[axis] >= FLO_COVER_CELLS ? FLO_COVER_CELLS - 1 : (size_t)at[axis];
    at[axis] -= (double)cell[axis];
  }
  vec_set(gradient, 0, 0, 0);
  for (size_t corner = 0; corner < (cover->sheets.kernel.dim == 3 ? 8u : 4u); ++corner) {
    const size_t up[3] = {corner & 1, corner >> 1 & 1, corner >> 2};
    const size_t node =
        cell[0] + up[0] + FLO_COVER_NODES * (cell[1] + up[1] + FLO_COVER_NODES * (cell[2] + up[2]));
    double share[3] = {1, 1, 1}, depth = (double)nodes[node];
    for (int axis = 0; axis < cover->sheets.kernel.dim; ++axis)
      share[axis] = up[axis] ? at[axis] : 1 - at[axis];
    value += share[0] * share[1] * share[2] * depth;
    for (int axis = 0; axis < cover->sheets.kernel.dim; ++axis)
      gradient[axis] +=
          (up[axis] ? 1 : -1) * share[(axis + 1) % 3] * share[(axis + 2) % 3] * depth / cover->cell;
  }
  return value;
}
