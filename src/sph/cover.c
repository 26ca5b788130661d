#include "sph/cover.h"

#include "base/parallel.h"
#include "base/vecmath.h"

#include <stdlib.h>
#include <string.h>

// Cells of the grid, and points of the ball, in a support.
enum { CELLS_PER_SUPPORT = 6, POINTS_PER_SUPPORT_2D = 12, POINTS_PER_SUPPORT_3D = 6 };

// A share below this, or as near to one, does not say how deep a point is.
#define LEAST_SHARE 1e-4
// Probes around a point that differ from a plane by less than this share of a support see a plane.
#define FLATNESS 1e-4

// ---- Half spaces ----

// Over a plane at distance t from the centre of a kernel: the integral of W, and of r W', which is -dim over
// all of space.
typedef struct PlaneIntegrals {
  double kernel, stress;
} PlaneIntegrals;

static PlaneIntegrals integrate(const FloKernelForm *kernel, double t) {
  enum { N = 256 };
  const double far = sqrt(fmax(kernel->support * kernel->support - t * t, 0)), step = far / N;
  PlaneIntegrals sum = {0};
  for (int k = 0; k < N; ++k) {
    const double u = (k + 0.5) * step, r = hypot(t, u), area = (kernel->dim == 3 ? 2 * FLO_PI * u : 2) * step;
    sum.kernel += flo_kernel_w(kernel, r) * area;
    sum.stress -= flo_kernel_gradient(kernel, r) * r * r * area / kernel->dim;
  }
  return sum;
}

// Integrates from far away to the centre by the trapezium rule. Then the value at the centre becomes a half.
static void accumulate(const double *slopes, double step, float *sums) {
  double sum[FLO_COVER_TABLE + 1] = {0};
  for (int k = FLO_COVER_TABLE - 1; k >= 0; --k) sum[k] = sum[k + 1] + step * (slopes[k] + slopes[k + 1]) / 2;
  for (int k = 0; k <= FLO_COVER_TABLE; ++k) sums[k] = (float)(0.5 * sum[k] / sum[0]);
}

static void tabulate(FloCover *cover) {
  const double step = cover->kernel.support / FLO_COVER_TABLE;
  double kernel[FLO_COVER_TABLE + 1], stress[FLO_COVER_TABLE + 1];
  for (int k = 0; k <= FLO_COVER_TABLE; ++k) {
    const PlaneIntegrals at = integrate(&cover->kernel, k * step);
    kernel[k] = at.kernel, stress[k] = at.stress, cover->steepness[k] = (float)at.kernel;
  }
  accumulate(kernel, step, cover->share);
  accumulate(stress, step, cover->stress);
}

static double look_up(const FloCover *cover, const float *table, double distance) {
  const double at = distance / cover->kernel.support * FLO_COVER_TABLE;
  if (at >= FLO_COVER_TABLE) return 0;
  const int k = (int)at;
  return (double)table[k] + (at - k) * (double)(table[k + 1] - table[k]);
}

// F.
static double half_space_share(const FloCover *cover, double depth) {
  const double share = look_up(cover, cover->share, fabs(depth));
  return depth < 0 ? 1 - share : share;
}

double flo_cover_share(const FloCover *cover, double depth) {
  return half_space_share(cover, depth + cover->inset);
}

double flo_cover_steepness(const FloCover *cover, double depth) {
  return look_up(cover, cover->steepness, fabs(depth + cover->inset));
}

double flo_cover_stress(const FloCover *cover, double depth) {
  const double share = look_up(cover, cover->stress, fabs(depth + cover->inset));
  return depth + cover->inset < 0 ? 1 - share : share;
}

// The depth of the half space that covers this share.
static double depth_of(const FloCover *cover, double share) {
  double low = -cover->kernel.support, high = cover->kernel.support;
  for (int k = 0; k < 40; ++k) {
    const double middle = (low + high) / 2;
    *(half_space_share(cover, middle) > share ? &low : &high) = middle;
  }
  return low;
}

// ---- Creation and end ----

static bool add_offset(FloCover *cover, const int index[3]) {
  float *quad = (float *)cover->offsets.data + 4 * cover->n_offsets;
  double at[3];
  for (int axis = 0; axis < 3; ++axis)
    at[axis] = axis < cover->kernel.dim ? (index[axis] + 0.5) * cover->fineness : 0;
  const double weight = flo_kernel_w(&cover->kernel, vec_length(at));
  if (!(weight > 0)) return false;
  for (int axis = 0; axis < 3; ++axis) quad[axis] = (float)at[axis];
  quad[3] = (float)weight;
  cover->n_offsets++;
  return true;
}

static FloStatus place_offsets(FloCover *cover, FloMemory *memory, FloError *error) {
  const int dim = cover->kernel.dim, n = dim == 3 ? POINTS_PER_SUPPORT_3D : POINTS_PER_SUPPORT_2D,
            deep = dim == 3 ? n : 0;
  const size_t size = (size_t)(2 * n * 2 * n * (deep ? 2 * deep : 1)) * 4 * sizeof(float);
  double sum = 0;
  cover->fineness = cover->kernel.support / n;
  FLO_TRY(flo_buffer_reserve(memory, &cover->offsets, size, 0, error));
  for (int z = -deep; z < (deep ? deep : 1); ++z)
    for (int y = -n; y < n; ++y)
      for (int x = -n; x < n; ++x) add_offset(cover, (const int[3]){x, y, z});
  float *quads = cover->offsets.data;
  for (size_t k = 0; k < cover->n_offsets; ++k) sum += (double)quads[4 * k + 3];
  for (size_t k = 0; k < cover->n_offsets; ++k) quads[4 * k + 3] /= (float)sum;
  return FLO_OK;
}

// See cover.h.
static double find_inset(const FloCover *cover, double spacing) {
  const FloKernelForm *kernel = &cover->kernel;
  double sum = 0;
  for (int k = 1; k * spacing < kernel->support; ++k) sum += flo_kernel_sheet_sum(kernel, spacing, k);
  return depth_of(cover, sum * pow(spacing, kernel->dim)) - spacing / 2;
}

// A cover has its memory only once it is complete: one that could not be made can be made again.
FloStatus flo_cover_init(FloCover *cover, const FloKernelForm *kernel, double spacing, FloMemory *memory,
                         FloError *error) {
  *cover = (FloCover){.kernel = *kernel, .cell = kernel->support / CELLS_PER_SUPPORT};
  cover->nodes_per_block = FLO_COVER_NODES * FLO_COVER_NODES * (kernel->dim == 3 ? FLO_COVER_NODES : 1);
  tabulate(cover);
  cover->inset = find_inset(cover, spacing);
  FLO_TRY(place_offsets(cover, memory, error));
  cover->memory = memory;
  return FLO_OK;
}

void flo_cover_free(FloCover *cover) {
  FloBuffer *buffers[] = {&cover->offsets, &cover->keys, &cover->depths, &cover->table};
  for (size_t k = 0; cover->memory && k < FLO_COUNT_OF(buffers); ++k)
    flo_buffer_free(cover->memory, buffers[k]);
}

// ---- The depth at a point, from the solid ----

// Whether the solid looks like a half space from here.
static bool is_flat(const FloCover *cover, const FloSolid *solid, const double x[3], double distance,
                    const double normal[3]) {
  const double reach = cover->kernel.support;
  const int deepest = cover->kernel.dim == 3 ? 1 : 0;
  for (int k = 0; k < 27; ++k) {
    const int way[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
    const int n = abs(way[0]) + abs(way[1]) + abs(way[2]);
    if (abs(way[2]) > deepest || n == 0) continue;
    double to[3] = {way[0], way[1], way[2]}, there[3];
    vec_scale(to, reach / sqrt(n), to);
    vec_add(x, to, there);
    if (fabs(flo_solid_distance(solid, there) - distance - vec_dot(normal, to)) > FLATNESS * reach)
      return false;
  }
  return true;
}

// The part of a small cell that is inside.
static double inside_part(double distance, double size) { return fmin(fmax(0.5 - distance / size, 0), 1); }

// What the solid covers beyond the half space that touches it: errors of the sum cancel.
static double cover_beyond(const FloCover *cover, const FloSolid *solid, const double x[3], double distance,
                           const double normal[3]) {
  const float *quads = cover->offsets.data;
  double sum = 0;
  for (size_t k = 0; k < cover->n_offsets; ++k) {
    const float *quad = quads + 4 * k;
    const double to[3] = {(double)quad[0], (double)quad[1], (double)quad[2]};
    double there[3];
    vec_add(x, to, there);
    sum += (double)quad[3] * (inside_part(flo_solid_distance(solid, there), cover->fineness) -
                              inside_part(distance + vec_dot(normal, to), cover->fineness));
  }
  return sum;
}

static double find_depth(const FloCover *cover, const FloSolid *solid, const double x[3]) {
  const double distance = flo_solid_distance(solid, x), least = depth_of(cover, LEAST_SHARE);
  double normal[3];
  if (fabs(distance) >= cover->kernel.support) return distance;
  flo_solid_normal(solid, x, normal);
  if (is_flat(cover, solid, x, distance, normal)) return distance;
  const double share = half_space_share(cover, distance) + cover_beyond(cover, solid, x, distance, normal);
  if (share < LEAST_SHARE) return fmax(distance, least);
  if (share > 1 - LEAST_SHARE) return fmin(distance, -least);
  return depth_of(cover, share);
}

// ---- Blocks ----

static FloCoverKey key_at(const FloCover *cover, const FloSolid *solid, const double local[3],
                          double in_block[3]) {
  FloCoverKey key = {.solid = solid};
  for (int axis = 0; axis < cover->kernel.dim; ++axis) {
    const double at = local[axis] / (FLO_COVER_CELLS * cover->cell), whole = floor(at);
    key.block[axis] = (int32_t)whole;
    in_block[axis] = (at - whole) * FLO_COVER_CELLS;
  }
  return key;
}

static uint64_t hash_of(const FloCoverKey *key) {
  uint64_t hash = (uint64_t)(uintptr_t)key->solid;
  for (int axis = 0; axis < 3; ++axis) {
    hash = (hash ^ (uint32_t)key->block[axis]) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

static bool is_same(const FloCoverKey *a, const FloCoverKey *b) {
  return a->solid == b->solid && a->block[0] == b->block[0] && a->block[1] == b->block[1] &&
         a->block[2] == b->block[2];
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

FloStatus flo_cover_need(FloCover *cover, const FloSolid *solid, const double local[3], FloError *error) {
  double in_block[3];
  const FloCoverKey key = key_at(cover, solid, local, in_block);
  if (cover->table_size && *place_of(cover, &key)) return FLO_OK;
  return add_block(cover, &key, error);
}

static void fill_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloCover *cover = context;
  for (size_t node = begin; node < end; ++node) {
    const size_t all = cover->n_filled * cover->nodes_per_block + node, k = all % cover->nodes_per_block;
    const FloCoverKey *key = (const FloCoverKey *)cover->keys.data + all / cover->nodes_per_block;
    const size_t index[3] = {k % FLO_COVER_NODES, k / FLO_COVER_NODES % FLO_COVER_NODES,
                             k / (FLO_COVER_NODES * FLO_COVER_NODES)};
    double x[3] = {0};
    for (int axis = 0; axis < cover->kernel.dim; ++axis)
      x[axis] = cover->cell * ((double)key->block[axis] * FLO_COVER_CELLS + (double)index[axis]);
    ((float *)cover->depths.data)[all] = (float)find_depth(cover, key->solid, x);
  }
}

void flo_cover_fill(FloCover *cover, int threads) {
  const size_t n_new = cover->n_blocks - cover->n_filled;
  flo_parallel_for(threads, n_new * cover->nodes_per_block, 64, fill_range, cover);
  cover->n_filled = cover->n_blocks;
}

// ---- Interpolation ----

// Along x between two nodes at each of the corners in y and z; then along y, then along z.
double flo_cover_depth(const FloCover *cover, const FloSolid *solid, const double local[3],
                       double gradient[3]) {
  double at[3] = {0}, value = 0;
  size_t cell[3] = {0};
  const FloCoverKey key = key_at(cover, solid, local, at);
  const float *nodes =
      (const float *)cover->depths.data + (*place_of(cover, &key) - 1) * cover->nodes_per_block;
  for (int axis = 0; axis < cover->kernel.dim; ++axis) {
    cell[axis] = at[axis] >= FLO_COVER_CELLS ? FLO_COVER_CELLS - 1 : (size_t)at[axis];
    at[axis] -= (double)cell[axis];
  }
  vec_set(gradient, 0, 0, 0);
  for (size_t corner = 0; corner < (cover->kernel.dim == 3 ? 8u : 4u); ++corner) {
    const size_t up[3] = {corner & 1, corner >> 1 & 1, corner >> 2};
    const size_t node =
        cell[0] + up[0] + FLO_COVER_NODES * (cell[1] + up[1] + FLO_COVER_NODES * (cell[2] + up[2]));
    double share[3] = {1, 1, 1}, depth = (double)nodes[node];
    for (int axis = 0; axis < cover->kernel.dim; ++axis) share[axis] = up[axis] ? at[axis] : 1 - at[axis];
    value += share[0] * share[1] * share[2] * depth;
    for (int axis = 0; axis < cover->kernel.dim; ++axis)
      gradient[axis] +=
          (up[axis] ? 1 : -1) * share[(axis + 1) % 3] * share[(axis + 2) % 3] * depth / cover->cell;
  }
  return value;
}
