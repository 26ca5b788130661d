// Candidates are judged by sums of the kernel over a grid of cells.
//
// w(q) is the cubic spline with w(0) = 1, q = r/H and H = 2 spacings, so that W = 8/(pi H^3) w. Akinci et al.
// 2013 (section 2.3) want the number density between 3.6/H^3 and 10/H^3 - with 1/H^3 for their Gamma and
// their h being H: they put samples h/2 apart and draw delta for h = 1 - that is  1.41 < sum w < 3.93,  the
// sample's own 1 included. A flat square lattice of one spacing has 1 + 4 w(1/2) + 4 w(0.71) = 2.20, or
// 5.6/H^3, in the middle of that range (whose geometric mean is 6); a cubic lattice that fills space has
// 8/H^3.
#include "geometry/thinner.h"

#include "base/vecmath.h"

#include <math.h>
#include <string.h>

static const double max_samples = 1e9;
static const float least_sum = 1.46f;   // of w, 3.7/H^3
static const float largest_sum = 3.86f; // 9.8/H^3

const FloRepairRound flo_repair_rounds[FLO_REPAIR_ROUNDS] = {
    {{0.5, 0.5, 1.7, true}, 0.5},
    {{0.35, 0.35, 2.2, true}, 0.25},
    {{0.1, 0.1, 2.8, true}, 0.125},
    // For specks that lie alone and have nothing but their corners to offer.
    {{0.02, 0.02, 2.8, true}, 0.125}};

#define NONE     UINT32_MAX // no block
#define MAX_MARK UINT8_MAX  // or more; such a mark stays

enum { LANES = 4, MAX_VISITS = 256, N_AROUND = 27, N_GROUPS = 2, N_PARTS = 2 };

typedef float Lanes __attribute__((vector_size(16)));
typedef int32_t LaneMask __attribute__((vector_size(16)));

static inline Lanes in_all_lanes(float a) { return (Lanes){a, a, a, a}; }
// a where the mask is all ones, 0 elsewhere.
static inline Lanes lanes_where(LaneMask mask, Lanes a) { return (Lanes)((LaneMask)a & mask); }
// a, with one lane replaced. As a whole: a processor that is to read what was just written in parts waits.
static inline Lanes lanes_with(Lanes a, int lane, float value) {
  LaneMask is_lane = (LaneMask){0, 1, 2, 3} == lane;
  return (Lanes)(((LaneMask)a & ~is_lane) | ((LaneMask)in_all_lanes(value) & is_lane));
}
// A compiler makes one instruction of it.
static inline Lanes lanes_sqrt(Lanes a) {
  return (Lanes){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])};
}
static inline float lanes_sum(Lanes a) { return a[0] + a[1] + (a[2] + a[3]); }
static inline bool is_any_lane(LaneMask mask) {
  typedef int64_t Halves __attribute__((vector_size(16)));
  return (((Halves)mask)[0] | ((Halves)mask)[1]) != 0;
}

// Up to four samples of one cell, so that a vector unit takes them at once: a line of the cache with what
// every candidate nearby needs. Places are in cells from the low corner of the cell; those of lanes without a
// sample are far away.
typedef struct Block {
  Lanes x, y, z;
  Lanes sum; // of w over all samples, their own included
} Block;

// The rest of it.
typedef struct BlockInfo {
  LaneMask layer;
  uint32_t samples[LANES]; // their numbers
  uint64_t cell;
  uint32_t next;      // block of the same bucket
  uint16_t n;         // samples
  uint16_t is_marked; // bit k: marks were set around the k-th
} BlockInfo;

typedef struct Sample {
  double point[3];
  uint32_t triangle;
  uint32_t slot; // block and lane
} Sample;

// The blocks around a cell, found group by group: those of the cell itself, where most candidates that are
// refused are refused, and those of the 26 around it. It is kept for the candidates that follow in the same
// cell.
typedef struct Neighbourhood {
  uint64_t cell;
  size_t n_blocks; // of the thinner when it was found; more would make it out of date
  int n_groups;    // found so far
  int ends[N_GROUPS];
  uint32_t blocks[MAX_VISITS];
  uint8_t around[MAX_VISITS]; // in which of the cells around
  Lanes w[MAX_VISITS];        // for the candidate at hand
} Neighbourhood;

struct FloThinner {
  FloMemory *memory;
  FloBuffer samples, blocks, infos;
  size_t n_samples, n_blocks;
  // Cells one H wide. A bucket holds all cells whose number is the same modulo the number of buckets: small
  // grids are indexed directly, large ones hashed.
  FloBuffer tables;  // what the next three point into
  uint32_t *heads;   // first block of each bucket
  uint32_t *is_near; // per bucket: bit k if the k-th of the cells around has samples
  // For each part of a cell, one spacing wide: how many weak samples need company there, at most MAX_MARK.
  // Parts share marks as cells share buckets.
  uint8_t *marks;
  bool has_marks;
  double reach;              // of the marks, in parts
  uint64_t mask, mark_mask;  // number of buckets and of marks, less 1
  double last_cell[3];       // along each axis; the first is 1
  uint64_t row, sheet;       // the number of a cell is x + row y + sheet z
  uint64_t around[N_AROUND]; // what to add to the number of a cell for those around it, itself first
  Lanes shifts[N_AROUND][3]; // the same in steps along the axes
  double low[3], per_cell;
  Neighbourhood last;
  // The layer and the rule at work.
  int layer;
  float near, hopeless; // distances from other samples that are too short, and also for a second try [H]
  float max_sum;
  bool must_help;
};

static Sample *samples_of(const FloThinner *thinner) { return thinner->samples.data; }
static Block *blocks_of(const FloThinner *thinner) { return thinner->blocks.data; }
static BlockInfo *infos_of(const FloThinner *thinner) { return thinner->infos.data; }

// ---- Cells ----

// Where a point is along an axis, in cells.
static inline double cell_coordinate(const FloThinner *thinner, const double p[3], int axis) {
  return (p[axis] - thinner->low[axis]) * thinner->per_cell + 1;
}

// Faster than floor(), which is a call on many machines.
static inline int64_t floor_of(double x) {
  int64_t whole = (int64_t)x;
  return whole - (x < (double)whole);
}

// Clamping brings points nearer together, never apart: neighbours stay within one cell.
static inline int64_t cell_index(const FloThinner *thinner, double coordinate, int axis) {
  double last = thinner->last_cell[axis], from_first = coordinate > 1 ? coordinate : 1;
  return (int64_t)(from_first < last ? from_first : last);
}

// A point as its cell and the place in it.
typedef struct Place {
  uint64_t cell;
  float at[3];
} Place;

static inline Place place_of(const FloThinner *thinner, const double p[3]) {
  double x = cell_coordinate(thinner, p, 0), y = cell_coordinate(thinner, p, 1),
         z = cell_coordinate(thinner, p, 2);
  int64_t i = cell_index(thinner, x, 0), j = cell_index(thinner, y, 1), k = cell_index(thinner, z, 2);
  return (Place){(uint64_t)i + thinner->row * (uint64_t)j + thinner->sheet * (uint64_t)k,
                 {(float)(x - (double)i), (float)(y - (double)j), (float)(z - (double)k)}};
}

// One row of cells beyond the first and the last stays empty, so that all cells have neighbours.
static void lay_cells(FloThinner *thinner, const double low[3], const double high[3], double spacing) {
  thinner->per_cell = 0.5 / spacing;
  for (int axis = 0; axis < 3; ++axis) {
    thinner->low[axis] = low[axis];
    thinner->last_cell[axis] = floor((high[axis] - low[axis]) * thinner->per_cell) + 1;
  }
  thinner->row = (uint64_t)thinner->last_cell[0] + 2;
  thinner->sheet = thinner->row * ((uint64_t)thinner->last_cell[1] + 2);
  // The cell itself is number 0, whose entries are zeros.
  for (int64_t k = 0, n = 1; k < N_AROUND; ++k) {
    int64_t x = k % 3 - 1, y = k / 3 % 3 - 1, z = k / 9 - 1;
    if (!x && !y && !z) continue;
    const float steps[3] = {(float)x, (float)y, (float)z};
    for (int axis = 0; axis < 3; ++axis) thinner->shifts[n][axis] = in_all_lanes(steps[axis]);
    thinner->around[n++] = (uint64_t)x + (uint64_t)y * thinner->row + (uint64_t)z * thinner->sheet;
  }
}

// Two megabytes come in one huge page (see memory.c), which takes less time than a quarter of them in small
// ones.
static FloStatus reserve(FloThinner *thinner, FloBuffer *buffer, size_t size, FloError *error) {
  const size_t huge = 2 << 20;
  return flo_buffer_reserve(thinner->memory, buffer, size > huge / 4 && size < huge ? huge : size, 0, error);
}

// Buckets for all cells, or for as many as can be expected to have samples.
static FloStatus reserve_cells(FloThinner *thinner, double n_expected, FloError *error) {
  double n_cells = (double)thinner->sheet * (thinner->last_cell[2] + 2);
  double wanted = fmin(n_cells, n_expected + 4096);
  size_t n_buckets = 64, n_samples = (size_t)(n_expected + 64);
  while ((double)n_buckets < wanted && n_buckets < (1u << 30)) n_buckets *= 2;
  size_t n_marks = n_buckets * N_PARTS * N_PARTS * N_PARTS;
  thinner->mask = n_buckets - 1, thinner->mark_mask = n_marks - 1;
  FLO_TRY(reserve(thinner, &thinner->tables, 2 * n_buckets * sizeof(uint32_t) + n_marks, error));
  thinner->heads = thinner->tables.data, thinner->is_near = thinner->heads + n_buckets;
  thinner->marks = (uint8_t *)(thinner->is_near + n_buckets);
  FLO_TRY(reserve(thinner, &thinner->samples, n_samples * sizeof(Sample), error));
  FLO_TRY(reserve(thinner, &thinner->blocks, n_samples / 2 * sizeof(Block), error));
  return reserve(thinner, &thinner->infos, n_samples / 2 * sizeof(BlockInfo), error);
}

// ---- Making ----

FloStatus flo_thinner_create(FloThinner **out, FloMemory *memory, const double low[3], const double high[3],
                             double spacing, double n_expected, FloError *error) {
  *out = NULL;
  FloThinner *thinner = flo_memory_allocate(memory, sizeof *thinner);
  if (!thinner)
    return flo_fail(error, FLO_NO_MEMORY, "out of memory: %zu bytes more were needed", sizeof *thinner);
  memset(thinner, 0, sizeof *thinner);
  thinner->memory = memory;
  lay_cells(thinner, low, high, spacing);
  FloStatus status = reserve_cells(thinner, n_expected, error);
  if (status != FLO_OK) {
    flo_thinner_destroy(thinner);
    return status;
  }
  thinner->has_marks = true; // whatever the memory holds
  flo_thinner_clear(thinner);
  *out = thinner;
  return FLO_OK;
}

void flo_thinner_destroy(FloThinner *thinner) {
  if (!thinner) return;
  FloBuffer *buffers[] = {&thinner->samples, &thinner->blocks, &thinner->infos, &thinner->tables};
  for (size_t k = 0; k < FLO_COUNT_OF(buffers); ++k) flo_buffer_free(thinner->memory, buffers[k]);
  flo_memory_release(thinner->memory, thinner, sizeof *thinner);
}

static void clear_marks(FloThinner *thinner) {
  if (thinner->has_marks) memset(thinner->marks, 0, thinner->mark_mask + 1);
  thinner->has_marks = false;
}

void flo_thinner_clear(FloThinner *thinner) {
  thinner->n_samples = thinner->n_blocks = 0;
  thinner->last.n_blocks = SIZE_MAX;
  memset(thinner->heads, 0xff, (thinner->mask + 1) * sizeof(uint32_t));
  memset(thinner->is_near, 0, (thinner->mask + 1) * sizeof(uint32_t));
  clear_marks(thinner);
}

void flo_thinner_set_rule(FloThinner *thinner, int layer, const FloThinRule *rule) {
  thinner->layer = layer, thinner->max_sum = (float)rule->max_sum, thinner->must_help = rule->must_help;
  thinner->near = (float)(rule->min_distance / 2);
  thinner->hopeless = (float)(fmin(rule->min_distance, rule->retry_distance) / 2);
}

// ---- Judging ----

// What the samples around a candidate add up to, lane by lane.
typedef struct Tally {
  Lanes sum, sum_in_layer; // of w, without the candidate's own
  LaneMask too_near;       // within the rule's distance
  LaneMask hopeless;       // within the least distance, or filled by the candidate
} Tally;

// Finds the next group of blocks; false if there are too many.
static bool find_group(const FloThinner *thinner, Neighbourhood *around) {
  static const uint32_t groups[N_GROUPS] = {1, 0x7fffffe};
  const uint32_t *heads = thinner->heads, near = thinner->is_near[around->cell & thinner->mask];
  const BlockInfo *infos = infos_of(thinner);
  int n = around->n_groups ? around->ends[around->n_groups - 1] : 0;
  for (uint32_t bits = near & groups[around->n_groups]; bits; bits &= bits - 1) {
    int turn = __builtin_ctz(bits);
    uint64_t cell = around->cell + thinner->around[turn];
    for (uint32_t k = heads[cell & thinner->mask]; k != NONE; k = infos[k].next) {
      if (infos[k].cell != cell) continue; // another one of the same bucket
      if (n == MAX_VISITS) return false;
      around->blocks[n] = k, around->around[n] = (uint8_t)turn, ++n;
    }
  }
  around->ends[around->n_groups++] = n;
  return true;
}

// The squares of the distances from a place to the samples of the k-th block around it.
static inline Lanes squares_to_block(const FloThinner *thinner, const Neighbourhood *around,
                                     const Lanes at[3], int k) {
  const Block *block = &blocks_of(thinner)[around->blocks[k]];
  const Lanes *shift = thinner->shifts[around->around[k]];
  Lanes dx = block->x + shift[0] - at[0], dy = block->y + shift[1] - at[1], dz = block->z + shift[2] - at[2];
  return dx * dx + dy * dy + dz * dz;
}

// Adds the samples of blocks `begin` to `end`. Only a third of them is within reach, which no processor can
// guess: there are no branches on it, and what is out of reach adds zero. The first layer is alone, and its
// sum need not be told from that of all.
static inline void add_blocks(const FloThinner *thinner, Neighbourhood *around, const Lanes at[3], int begin,
                              int end, bool is_alone, Tally *total) {
  const float near = thinner->near, hopeless = thinner->hopeless;
  Tally tally = *total;
  for (int k = begin; k < end; ++k) {
    Lanes q = lanes_sqrt(squares_to_block(thinner, around, at, k));
    // w(q) = 2 (1-q)^3 - (1-2q)^3, truncated powers
    Lanes a = 1 - q, b = a - q;
    a = lanes_where(a > 0, a), b = lanes_where(b > 0, b);
    Lanes cube = a * a * a, w = cube + cube - b * b * b;
    around->w[k] = w;
    tally.sum += w;
    tally.too_near |= q < near;
    tally.hopeless |= (q < hopeless) | (blocks_of(thinner)[around->blocks[k]].sum + w > largest_sum);
    if (!is_alone)
      tally.sum_in_layer += lanes_where(infos_of(thinner)[around->blocks[k]].layer == thinner->layer, w);
  }
  if (is_alone) tally.sum_in_layer = tally.sum;
  *total = tally;
}

// Whether a weak sample is within a spacing of a place: most candidates that must help fail here, for a third
// of the price of a judgement. Finds all groups.
static bool is_help(const FloThinner *thinner, Neighbourhood *around, const Lanes at[3]) {
  LaneMask is_helped = {0};
  while (around->n_groups < N_GROUPS)
    if (!find_group(thinner, around)) return false;
  for (int k = 0; k < around->ends[N_GROUPS - 1]; ++k)
    is_helped |= (squares_to_block(thinner, around, at, k) < 0.25f) &
                 (blocks_of(thinner)[around->blocks[k]].sum < least_sum);
  return is_any_lane(is_helped);
}

// The sum of w at an accepted candidate goes to `sum`.
static FloVerdict judge(FloThinner *thinner, const Place *place, float *sum) {
  const Lanes at[3] = {in_all_lanes(place->at[0]), in_all_lanes(place->at[1]), in_all_lanes(place->at[2])};
  Neighbourhood *around = &thinner->last;
  if (around->cell != place->cell || around->n_blocks != thinner->n_blocks)
    around->cell = place->cell, around->n_blocks = thinner->n_blocks, around->n_groups = 0;
  if (thinner->must_help && !is_help(thinner, around, at)) return FLO_REFUSED;
  Tally tally = {0};
  for (int group = 0, begin = 0; group < N_GROUPS; begin = around->ends[group++]) {
    if (group == around->n_groups && !find_group(thinner, around)) return FLO_REFUSED;
    if (thinner->layer == 0)
      add_blocks(thinner, around, at, begin, around->ends[group], true, &tally);
    else
      add_blocks(thinner, around, at, begin, around->ends[group], false, &tally);
    // Too much already?
    *sum = lanes_sum(tally.sum);
    if (is_any_lane(tally.hopeless) || *sum > largest_sum - 1 ||
        lanes_sum(tally.sum_in_layer) > thinner->max_sum)
      return FLO_REFUSED;
  }
  return is_any_lane(tally.too_near) ? FLO_TOO_NEAR : FLO_ACCEPTED;
}

// ---- Where company is needed ----

// A box of parts, both ends included. Their numbers run over the whole grid, as those of cells do.
typedef struct Parts {
  int64_t first[3], last[3];
} Parts;

static uint8_t *mark_at(const FloThinner *thinner, int64_t x, int64_t y, int64_t z) {
  uint64_t row = N_PARTS * thinner->row, sheet = N_PARTS * N_PARTS * thinner->sheet;
  uint64_t number = (uint64_t)x + row * (uint64_t)y + sheet * (uint64_t)z;
  return &thinner->marks[number & thinner->mark_mask];
}

// Adds `change` to all marks that a cube around a sample touches.
static void change_marks(const FloThinner *thinner, const Sample *sample, int change) {
  Parts parts;
  for (int axis = 0; axis < 3; ++axis) {
    double middle = N_PARTS * cell_coordinate(thinner, sample->point, axis);
    parts.first[axis] = floor_of(middle - thinner->reach);
    parts.last[axis] = floor_of(middle + thinner->reach);
  }
  for (int64_t z = parts.first[2]; z <= parts.last[2]; ++z)
    for (int64_t y = parts.first[1]; y <= parts.last[1]; ++y)
      for (int64_t x = parts.first[0]; x <= parts.last[0]; ++x) {
        uint8_t *mark = mark_at(thinner, x, y, z);
        if (*mark < MAX_MARK) *mark = (uint8_t)(*mark + change);
      }
}

// Bit k: the k-th sample of a block is weak and of the layer at work.
static uint16_t find_weak(const FloThinner *thinner, size_t number) {
  const BlockInfo *info = &infos_of(thinner)[number];
  LaneMask is_weak = (blocks_of(thinner)[number].sum < least_sum) & (info->layer == thinner->layer);
  uint16_t bits = 0;
  if (!is_any_lane(is_weak)) return 0;
  for (int lane = 0; lane < info->n; ++lane) bits |= (uint16_t)((is_weak[lane] & 1) << lane);
  return bits;
}

size_t flo_thinner_mark_weak(FloThinner *thinner, double reach) {
  size_t n_weak = 0;
  clear_marks(thinner);
  thinner->reach = reach;
  for (size_t k = 0; k < thinner->n_blocks; ++k) {
    BlockInfo *info = &infos_of(thinner)[k];
    info->is_marked = find_weak(thinner, k);
    for (int lane = 0; lane < LANES; ++lane) {
      if (!(info->is_marked >> lane & 1)) continue;
      ++n_weak;
      change_marks(thinner, &samples_of(thinner)[info->samples[lane]], 1);
    }
  }
  thinner->has_marks = n_weak > 0;
  return n_weak;
}

// Removes the marks around those of a block that are weak no longer.
static void unmark_helped(const FloThinner *thinner, uint32_t number) {
  BlockInfo *info = &infos_of(thinner)[number];
  for (uint32_t lane = 0; info->is_marked && lane < LANES; ++lane) {
    if (!(info->is_marked >> lane & 1) || blocks_of(thinner)[number].sum[lane] < least_sum) continue;
    info->is_marked ^= (uint16_t)(1u << lane);
    change_marks(thinner, &samples_of(thinner)[info->samples[lane]], -1);
  }
}

bool flo_thinner_is_marked(const FloThinner *thinner, const double point[3]) {
  return *mark_at(thinner, floor_of(N_PARTS * cell_coordinate(thinner, point, 0)),
                  floor_of(N_PARTS * cell_coordinate(thinner, point, 1)),
                  floor_of(N_PARTS * cell_coordinate(thinner, point, 2))) != 0;
}

bool flo_thinner_is_box_marked(const FloThinner *thinner, const double low[3], const double high[3]) {
  Parts parts;
  for (int axis = 0; axis < 3; ++axis) {
    parts.first[axis] = floor_of(N_PARTS * cell_coordinate(thinner, low, axis));
    parts.last[axis] = floor_of(N_PARTS * cell_coordinate(thinner, high, axis));
  }
  for (int64_t z = parts.first[2]; z <= parts.last[2]; ++z)
    for (int64_t y = parts.first[1]; y <= parts.last[1]; ++y)
      for (int64_t x = parts.first[0]; x <= parts.last[0]; ++x)
        if (*mark_at(thinner, x, y, z)) return true;
  return false;
}

// ---- Accepting ----

static FloStatus grow(const FloThinner *thinner, FloBuffer *buffer, size_t count, size_t size,
                      FloError *error) {
  if ((count + 1) * size <= buffer->capacity) return FLO_OK;
  return flo_buffer_reserve(thinner->memory, buffer, (2 * count + 64) * size, count * size, error);
}

// A new block for the cell of the candidate at hand, perhaps its first. The neighbourhood stays up to date.
static FloStatus add_block(FloThinner *thinner, uint64_t cell, bool is_first, uint32_t *number,
                           FloError *error) {
  Neighbourhood *around = &thinner->last;
  uint32_t *head = &thinner->heads[cell & thinner->mask];
  FLO_TRY(grow(thinner, &thinner->blocks, thinner->n_blocks, sizeof(Block), error));
  FLO_TRY(grow(thinner, &thinner->infos, thinner->n_blocks, sizeof(BlockInfo), error));
  *number = (uint32_t)thinner->n_blocks++;
  blocks_of(thinner)[*number] = (Block){.x = in_all_lanes(1e6f)};
  infos_of(thinner)[*number] = (BlockInfo){.cell = cell, .next = *head};
  *head = *number;
  for (int k = 0; is_first && k < N_AROUND; ++k)
    thinner->is_near[(cell - thinner->around[k]) & thinner->mask] |= 1u << k;
  int *end = &around->ends[N_GROUPS - 1];
  if (*end == MAX_VISITS) return FLO_OK;
  around->blocks[*end] = *number, around->around[*end] = 0, ++*end;
  around->n_blocks = thinner->n_blocks;
  return FLO_OK;
}

// A lane for a new sample of the cell, in its newest block or in a new one.
static FloStatus find_slot(FloThinner *thinner, uint64_t cell, uint32_t *slot, FloError *error) {
  uint32_t number = thinner->heads[cell & thinner->mask];
  const BlockInfo *infos = infos_of(thinner);
  bool is_first = true;
  for (; number != NONE; number = infos[number].next) {
    if (infos[number].cell != cell) continue; // another one of the same bucket
    if (infos[number].n < LANES) break;
    is_first = false;
  }
  if (number == NONE) FLO_TRY(add_block(thinner, cell, is_first, &number, error));
  *slot = LANES * number + (uint32_t)infos_of(thinner)[number].n++;
  return FLO_OK;
}

static FloStatus accept(FloThinner *thinner, const double point[3], uint32_t triangle, const Place *place,
                        float sum, FloError *error) {
  const Neighbourhood *around = &thinner->last;
  if ((double)thinner->n_samples >= max_samples)
    return flo_fail(error, FLO_BAD_INPUT, "mesh: more than %.0e samples; make the spacing larger",
                    max_samples);
  const int n_around = around->ends[N_GROUPS - 1];
  for (int k = 0; k < n_around; ++k) blocks_of(thinner)[around->blocks[k]].sum += around->w[k];
  for (int k = 0; thinner->must_help && k < n_around; ++k) unmark_helped(thinner, around->blocks[k]);
  uint32_t slot;
  FLO_TRY(grow(thinner, &thinner->samples, thinner->n_samples, sizeof(Sample), error));
  FLO_TRY(find_slot(thinner, place->cell, &slot, error));
  Block *block = &blocks_of(thinner)[slot / LANES];
  int lane = slot % LANES;
  block->x = lanes_with(block->x, lane, place->at[0]), block->y = lanes_with(block->y, lane, place->at[1]);
  block->z = lanes_with(block->z, lane, place->at[2]), block->sum = lanes_with(block->sum, lane, 1 + sum);
  BlockInfo *info = &infos_of(thinner)[slot / LANES];
  info->layer[lane] = thinner->layer, info->samples[lane] = (uint32_t)thinner->n_samples;
  Sample *sample = &samples_of(thinner)[thinner->n_samples++];
  vec_copy(point, sample->point);
  sample->triangle = triangle, sample->slot = slot;
  return FLO_OK;
}

FloStatus flo_thinner_offer(FloThinner *thinner, const double point[3], uint32_t triangle,
                            FloVerdict *verdict, FloError *error) {
  Place place = place_of(thinner, point);
  float sum;
  *verdict = judge(thinner, &place, &sum);
  return *verdict == FLO_ACCEPTED ? accept(thinner, point, triangle, &place, sum, error) : FLO_OK;
}

size_t flo_thinner_count(const FloThinner *thinner) { return thinner->n_samples; }

FloSurfacePoint flo_thinner_sample(const FloThinner *thinner, size_t k) {
  const Sample *sample = &samples_of(thinner)[k];
  return (FloSurfacePoint){{sample->point[0], sample->point[1], sample->point[2]}, sample->triangle};
}
