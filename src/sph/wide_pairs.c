// Building the pair operator: lists the neighbours of each row of a block, then computes their gradients side
// by side. If the lists are still valid, only the second part is done.
#include "sph/wide.h" // first: it defines the types that the others use

#include "sph/kernel.h"
#include "sph/wide_passes.h"

#include <math.h>
#include <string.h>

// The neighbour test expands the square of a distance, with an error of a few 1e-6 supports. A neighbour that
// it misses for that reason would have a gradient below 1e-10 of the usual one. Lattice neighbours at exactly
// one support are left out on purpose.
#define TEST_MARGIN 1e-5f

// Relative to the middle of the cell, candidates are at most one and a half cells away on each side. A domain
// of three cells can still represent that range when it wraps.
static int32_t fixed_middle(const FloLattice *lattice, int axis, int32_t cell) {
  return flo_grid_fixed_point(lattice, axis, lattice->origin[axis] + (cell + 0.5) * lattice->cell[axis]);
}

// A box around rows of one cell, in supports from the cell's middle.
typedef struct RowBox {
  float low[3], high[3];
} RowBox;

static bool is_same_cell(const FloGrid *rows, size_t i, size_t k) {
  return memcmp(rows->cell + 3 * i, rows->cell + 3 * k, 3 * sizeof *rows->cell) == 0;
}

static void offset_of_row(const FloGrid *rows, const FloLattice *lattice, size_t i, const int32_t middle[3],
                          float at[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    uint32_t offset = (uint32_t)rows->fixed[4 * i + (size_t)axis] - (uint32_t)middle[axis];
    at[axis] = (float)(int32_t)offset * lattice->to_support[axis];
  }
}

// The box of row i and of the rows after it in the same cell.
static RowBox bound_rows(const FloGrid *rows, const FloLattice *lattice, size_t i, const int32_t middle[3]) {
  RowBox box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (size_t k = i; k < rows->count && is_same_cell(rows, i, k); ++k) {
    float at[3];
    offset_of_row(rows, lattice, k, middle, at);
    for (int axis = 0; axis < 3; ++axis) {
      box.low[axis] = at[axis] < box.low[axis] ? at[axis] : box.low[axis];
      box.high[axis] = at[axis] > box.high[axis] ? at[axis] : box.high[axis];
    }
  }
  return box;
}

WIDE_INLINE WideF beyond(const RowBox *box, int axis, WideF c) {
  return wide_max(wide_max(wide_set(box->low[axis]) - c, c - wide_set(box->high[axis])), wide_set(0));
}

static void store_candidates(const FloCandidates *to, size_t n, WideF x, WideF y, WideF z, WideI index,
                             unsigned bits) {
  wide_compress((int32_t *)to->x + n, (WideI)x, bits);
  wide_compress((int32_t *)to->y + n, (WideI)y, bits);
  wide_compress((int32_t *)to->z + n, (WideI)z, bits);
  wide_compress((int32_t *)to->square + n, (WideI)wide_fma(x, x, wide_fma(y, y, z * z)), bits);
  wide_compress(to->index + n, index, bits);
}

// Copies the particles in the walker's ranges that are within reach of row i, or of the rows after it in the
// same cell, into one list for all these rows. A third or more of the particles in the cells around are out
// of reach.
static void load_candidates(const FloPairsSpec *spec, const FloWalker *walker, size_t i, FloCandidates *out,
                            size_t capacity) {
  const FloGrid *columns = spec->columns;
  const FloLattice *lattice = columns->lattice;
  size_t n = 0, needed = 0;
  for (int range = 0; range < walker->n_ranges; ++range) needed += walker->end[range] - walker->begin[range];
  out->count = needed;
  if (needed > capacity || needed == 0) return;
  for (int axis = 0; axis < 3; ++axis) out->middle[axis] = fixed_middle(lattice, axis, walker->cell[axis]);
  const RowBox box = bound_rows(spec->rows, lattice, i, out->middle);
  const WideF limit = wide_set((float)(spec->reach * spec->reach) * (1 + TEST_MARGIN));
  const WideI x = wide_set_int(out->middle[0]), y = wide_set_int(out->middle[1]),
              z = wide_set_int(out->middle[2]), lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  const WideF sx = wide_set(lattice->to_support[0]), sy = wide_set(lattice->to_support[1]);
  const WideF sz = wide_set(lattice->to_support[2]);
  // Copies of the pointers, which the compiler would otherwise load again after each store.
  const FloCandidates to = *out;
  const int32_t *from_x = columns->sorted_x, *from_y = columns->sorted_y, *from_z = columns->sorted_z;
  const int32_t *order = (const int32_t *)columns->order;
  for (int range = 0; range < walker->n_ranges; ++range) {
    size_t begin = walker->begin[range], count = walker->end[range] - begin;
    for (size_t k = 0; k < count; k += FLO_LANES) {
      WideF cx = wide_from_int(wide_subtract(wide_load_int(from_x + begin + k), x)) * sx;
      WideF cy = wide_from_int(wide_subtract(wide_load_int(from_y + begin + k), y)) * sy;
      WideF cz = wide_from_int(wide_subtract(wide_load_int(from_z + begin + k), z)) * sz;
      WideF dx = beyond(&box, 0, cx), dy = beyond(&box, 1, cy), dz = beyond(&box, 2, cz);
      WideI is_near = (WideI)(wide_fma(dx, dx, wide_fma(dy, dy, dz * dz)) < limit);
      unsigned bits = wide_bits(is_near & (WideI)(lanes < wide_set_int((int32_t)(count - k))));
      store_candidates(&to, n, cx, cy, cz, wide_load_int(order + begin + k), bits);
      n += (size_t)__builtin_popcount(bits);
    }
  }
  out->count = n;
  // Lanes that read past the end find NaN, which is never within reach.
  wide_store(out->square + n, wide_set(NAN));
}

// Writes the neighbours of row i to `list`, which has space for all candidates; returns their number.
// The test |c - a|^2 < R^2 is done as |c|^2 - 2 a.c < R^2 - |a|^2.
static size_t collect_neighbours(const FloPairsSpec *spec, const FloCandidates *candidates, size_t i,
                                 int32_t *restrict list) {
  float at[3];
  offset_of_row(spec->rows, spec->columns->lattice, i, candidates->middle, at);
  const float square = at[0] * at[0] + at[1] * at[1] + at[2] * at[2];
  const WideF x = wide_set(-2 * at[0]), y = wide_set(-2 * at[1]), z = wide_set(-2 * at[2]);
  const WideF limit = wide_set((float)(spec->reach * spec->reach) * (1 - TEST_MARGIN) - square);
  // -1 is no valid index: if the columns are another set, there is no self to leave out.
  const WideI self = wide_set_int(spec->rows == spec->columns ? (int32_t)i : -1);
  size_t count = 0;
  for (size_t k = 0; k < candidates->count; k += FLO_LANES) {
    WideF t = wide_fma(z, wide_load(candidates->z + k), wide_load(candidates->square + k));
    t = wide_fma(x, wide_load(candidates->x + k), wide_fma(y, wide_load(candidates->y + k), t));
    WideI index = wide_load_int(candidates->index + k);
    unsigned bits = wide_bits((WideI)(t < limit) & (WideI)(index != self));
    wide_compress(list + count, index, bits);
    count += (size_t)__builtin_popcount(bits);
  }
  return count;
}

static size_t drop_own_group(const uint32_t *groups, size_t i, int32_t *list, size_t count) {
  size_t kept = 0;
  for (size_t k = 0; k < count; ++k)
    if (groups[list[k]] != groups[i]) list[kept++] = list[k];
  return kept;
}

// The place of the next `n` slots; SIZE_MAX if the operator is full (the request is still counted).
static size_t claim_slots(FloPairs *pairs, FloPairSlab *slab, size_t n) {
  if (slab->next + n > slab->end) {
    size_t size = n > FLO_SLAB_SLOTS ? n : FLO_SLAB_SLOTS;
    slab->next = atomic_fetch_add(&pairs->n_claimed, size);
    slab->end = slab->next + size;
  }
  size_t begin = slab->next;
  slab->next += n;
  return begin + n <= pairs->slot_capacity ? begin : SIZE_MAX;
}

typedef struct BlockLists {
  int32_t *lists; // `stride` apart
  size_t stride, longest;
  int32_t counts[FLO_BLOCK];
} BlockLists;

// Computes kernel sums and gradients of a block whose lists are in its slots. Returns how many of the listed
// neighbours are within the support. `kernel` and `with_viscous` are constants where this is inlined.
WIDE_INLINE size_t fill_block(FloPairs *pairs, const FloPairsSpec *spec, size_t block, FloKernel kernel,
                              bool with_viscous) {
  const FloLattice *lattice = spec->columns->lattice;
  const float *columns = (const float *)spec->columns->fixed;
  const WideF gradient_scale = wide_set((float)(spec->kernel.sigma / spec->kernel.support));
  const WideF sigma = wide_set((float)spec->kernel.sigma), zero = wide_set(0);
  const WideF limit = wide_set(1 - TEST_MARGIN);
  const WideF length2 = wide_set((float)pow(spec->kernel.viscous_length / spec->kernel.support, 2));
  const WideF sx = wide_set(lattice->to_support[0]), sy = wide_set(lattice->to_support[1]);
  const WideF sz = wide_set(lattice->to_support[2]);
  const WideI counts = wide_load_int(pairs->row_count + block * FLO_BLOCK);

  WideF here[4], sum = zero;
  wide_load_rows((const float *)spec->rows->fixed, block, pairs->n_rows, here);
  size_t first = pairs->slot_begin[block], n_pairs = 0;
  for (size_t k = 0; k < pairs->slot_count[block]; ++k) {
    FloPairSlot *slot = pairs->slots + first + k;
    WideF there[4];
    wide_gather4(columns, slot->index, there);
    WideF dx = wide_from_int(wide_subtract((WideI)here[0], (WideI)there[0])) * sx;
    WideF dy = wide_from_int(wide_subtract((WideI)here[1], (WideI)there[1])) * sy;
    WideF dz = wide_from_int(wide_subtract((WideI)here[2], (WideI)there[2])) * sz;
    WideF q2 = wide_fma(dx, dx, wide_fma(dy, dy, dz * dz));
    KernelShape shape = kernel_shape(kernel, wide_sqrt(q2));
    WideI is_pair = (WideI)(counts > wide_set_int((int32_t)k)) & (WideI)(q2 < limit);
    n_pairs += (size_t)__builtin_popcount(wide_bits(is_pair));
    sum = wide_fma(wide_select(is_pair, shape.w, zero), there[3], sum);
    WideF f = wide_select(is_pair, shape.f, zero), g = f * gradient_scale;
    wide_store(slot->gx, g * dx);
    wide_store(slot->gy, g * dy);
    wide_store(slot->gz, g * dz);
    if (!with_viscous) continue;
    WideF d = 1 / (sigma * f * length2);
    wide_store(pairs->viscous + (first + k) * FLO_BLOCK, wide_select((WideI)(f < zero), d, zero));
  }
  wide_store(pairs->kernel_sum + block * FLO_BLOCK, sum * sigma);
  return n_pairs;
}

static size_t fill_block_of_kernel(FloPairs *pairs, const FloPairsSpec *spec, size_t block) {
#define CASE(kernel)                                                                                         \
  case kernel:                                                                                               \
    return spec->with_viscous ? fill_block(pairs, spec, block, kernel, true)                                 \
                              : fill_block(pairs, spec, block, kernel, false)
  switch (spec->kernel.kernel) {
    CASE(FLO_KERNEL_CUBIC_SPLINE);
    CASE(FLO_KERNEL_WENDLAND_C2);
    CASE(FLO_KERNEL_WENDLAND_C4);
    CASE(FLO_KERNEL_QUINTIC);
    CASE(FLO_KERNEL_POLY6);
    CASE(FLO_KERNEL_SPIKY);
    CASE(FLO_KERNEL_VISCOSITY);
  default:
    return 0;
  }
#undef CASE
}

// Pads the shorter lists of a block with a valid index: the last one of the same list, since it is in the
// cache.
static void pad_lists(const BlockLists *block) {
  for (int lane = 0; lane < FLO_BLOCK; ++lane) {
    int32_t *list = block->lists + (size_t)lane * block->stride;
    int32_t count = block->counts[lane], filler = count ? list[count - 1] : 0;
    for (size_t k = (size_t)count; k < block->longest; k += FLO_LANES)
      wide_store_int(list + k, wide_set_int(filler));
  }
}

static void collect_block(FloPairs *pairs, const FloPairsSpec *spec, FloPairSlab *slab, FloWalker *walker,
                          size_t block, BlockLists *lists) {
  *lists = (BlockLists){.lists = slab->lists, .stride = slab->stride};
  for (size_t lane = 0; lane < FLO_BLOCK; ++lane) {
    size_t i = block * FLO_BLOCK + lane, count = 0;
    if (i >= pairs->n_rows) break;
    if (flo_walker_move(walker, spec->columns, spec->rows->cell + 3 * i)) {
      load_candidates(spec, walker, i, &slab->candidates, pairs->candidate_capacity);
      if (slab->candidates.count > slab->most_candidates) slab->most_candidates = slab->candidates.count;
    }
    // Too many candidates: the operator will be built again with more memory; see flo_pairs_build.
    if (slab->candidates.count <= pairs->candidate_capacity && slab->candidates.count)
      count = collect_neighbours(spec, &slab->candidates, i, slab->lists + lane * lists->stride);
    if (spec->groups) count = drop_own_group(spec->groups, i, slab->lists + lane * lists->stride, count);
    lists->counts[lane] = (int32_t)count;
    if (count > lists->longest) lists->longest = count;
  }
}

// Copies the lists of a block into its own slots; false if there is no space for them.
static bool store_lists(FloPairs *pairs, FloPairSlab *slab, size_t block, const BlockLists *lists) {
  pairs->slot_begin[block] = pairs->slot_count[block] = 0;
  wide_store(pairs->kernel_sum + block * FLO_BLOCK, wide_set(0));
  wide_store_int(pairs->row_count + block * FLO_BLOCK, wide_load_int(lists->counts));
  if (lists->longest == 0) return false;
  size_t first = claim_slots(pairs, slab, lists->longest);
  if (first == SIZE_MAX) return false;
  pad_lists(lists);
  for (size_t k = 0; k < lists->longest; k += FLO_LANES) {
    WideI rows[FLO_BLOCK];
    for (size_t lane = 0; lane < FLO_BLOCK; ++lane)
      rows[lane] = wide_load_int(lists->lists + lane * lists->stride + k);
    wide_transpose(rows);
    for (size_t j = 0; j < flo_min_size(FLO_LANES, lists->longest - k); ++j)
      wide_store_int(pairs->slots[first + k + j].index, rows[j]);
  }
  pairs->slot_begin[block] = (uint32_t)first;
  pairs->slot_count[block] = (uint32_t)lists->longest;
  return true;
}

void FLO_WIDE(build_pairs)(FloPairs *pairs, const FloPairsSpec *spec, FloPairSlab *slab, size_t begin,
                           size_t end) {
  FloWalker walker = {0};
  for (size_t block = begin; block < end; ++block) {
    BlockLists lists;
    collect_block(pairs, spec, slab, &walker, block, &lists);
    if (store_lists(pairs, slab, block, &lists)) slab->n_pairs += fill_block_of_kernel(pairs, spec, block);
  }
}

void FLO_WIDE(refill_pairs)(FloPairs *pairs, const FloPairsSpec *spec, FloPairSlab *slab, size_t begin,
                            size_t end) {
  for (size_t block = begin; block < end; ++block)
    if (pairs->slot_count[block]) slab->n_pairs += fill_block_of_kernel(pairs, spec, block);
}
