// Separators are found without coordinates. Four landmarks are block rows far from each other. For a sheet
// they are its corners. Distances to the landmarks, in steps along the graph, are combined to a few
// *potentials*, for instance the distance to two corners minus that to the other two. The block rows at which
// a potential passes a threshold are a separator. Of all potentials and thresholds the best is taken: that
// with the least n_separator / (n_below n_above).
#include "solve/block_order.h"

#include <string.h>

enum { N_LANDMARKS = 4, N_POTENTIALS = 8, LEAF = 64, MOST_DENSE = 4096 };

typedef struct Range {
  size_t begin, end;
} Range;

typedef struct Dissection {
  const FloBlockMatrix *matrix;
  FloMemory *memory;
  uint32_t *order, *where;          // where[order[k]] = k
  uint32_t *distances[N_LANDMARKS]; // UINT32_MAX where not in use
  uint32_t *local, *queue;          // local: UINT32_MAX where not in use
  int32_t *potential, *best;        // of each block row
  int32_t threshold;                // of the best
  double score;                     // of the best
  size_t n_separator;               // of the best
  size_t *n_at, *n_passing;         // for each value of a potential
  FloBuffer arrays, leaf_room;
  FloList ranges; // Range: still to be ordered
} Dissection;

// The weights of the distances in each potential.
static const int weights[N_POTENTIALS][N_LANDMARKS] = {{1, -1, 0, 0},  {0, 0, 1, -1}, {1, -1, 1, -1},
                                                       {1, -1, -1, 1}, {1, 0, 0, 0},  {0, 1, 0, 0},
                                                       {0, 0, 1, 0},   {0, 0, 0, 1}};

// ---- Ranges of the order ----

static void swap(Dissection *d, size_t i, size_t k) {
  uint32_t a = d->order[i], b = d->order[k];
  d->order[i] = b, d->order[k] = a;
  d->where[b] = (uint32_t)i, d->where[a] = (uint32_t)k;
}

static FloStatus push(Dissection *d, size_t begin, size_t end, FloError *error) {
  if (begin == end) return FLO_OK;
  return flo_list_append(d->memory, &d->ranges, &(Range){begin, end}, sizeof(Range), error);
}

// ---- Distances ----

// Fills distances from `start` within the range, and the queue in the order of distance. Returns how many
// block rows were reached.
static size_t measure(Dissection *d, Range range, uint32_t start, uint32_t *distances) {
  const FloBlockMatrix *matrix = d->matrix;
  size_t n = 0;
  distances[start] = 0;
  d->queue[n++] = start;
  for (size_t at = 0; at < n; ++at) {
    uint32_t i = d->queue[at];
    for (size_t k = matrix->begin[i]; k < matrix->begin[i + 1]; ++k) {
      uint32_t j = matrix->columns[k];
      if (distances[j] != UINT32_MAX || d->where[j] < range.begin || d->where[j] >= range.end) continue;
      distances[j] = distances[i] + 1;
      d->queue[n++] = j;
    }
  }
  return n;
}

static void forget(Dissection *d, Range range, uint32_t *distances) {
  for (size_t k = range.begin; k < range.end; ++k) distances[d->order[k]] = UINT32_MAX;
}

// The block row whose nearest landmark, of the first n, is farthest.
static uint32_t farthest(const Dissection *d, Range range, int n) {
  uint32_t best = d->order[range.begin], most = 0;
  for (size_t k = range.begin; k < range.end; ++k) {
    uint32_t i = d->order[k], least = d->distances[0][i];
    for (int l = 1; l < n; ++l)
      if (d->distances[l][i] < least) least = d->distances[l][i];
    if (least > most) most = least, best = i;
  }
  return best;
}

// The range is connected.
static void find_landmarks(Dissection *d, Range range) {
  size_t n = measure(d, range, d->order[range.begin], d->distances[0]);
  uint32_t next = d->queue[n - 1];
  forget(d, range, d->distances[0]);
  for (int l = 0; l < N_LANDMARKS; ++l) {
    measure(d, range, next, d->distances[l]);
    next = farthest(d, range, l + 1);
  }
}

// ---- Separators ----

// The potential's values begin at zero; returns how many values there are.
static size_t fill_potential(Dissection *d, Range range, const int *weight, int sign) {
  int32_t low = INT32_MAX, high = INT32_MIN;
  for (size_t k = range.begin; k < range.end; ++k) {
    uint32_t i = d->order[k];
    int32_t sum = 0;
    for (int l = 0; l < N_LANDMARKS; ++l) sum += sign * weight[l] * (int32_t)d->distances[l][i];
    d->potential[i] = sum;
    low = sum < low ? sum : low, high = sum > high ? sum : high;
  }
  for (size_t k = range.begin; k < range.end; ++k) d->potential[d->order[k]] -= low;
  return (size_t)(high - low) + 1;
}

// The least potential of a block row's neighbours in the range.
static int32_t least_neighbour(const Dissection *d, Range range, uint32_t i, const int32_t *potential) {
  int32_t least = potential[i];
  for (size_t k = d->matrix->begin[i]; k < d->matrix->begin[i + 1]; ++k) {
    uint32_t j = d->matrix->columns[k];
    if (d->where[j] >= range.begin && d->where[j] < range.end && potential[j] < least) least = potential[j];
  }
  return least;
}

// A block row is in the separator of threshold t if its potential is at least t and that of a neighbour is
// less. So it is in those of a range of thresholds; n_passing has the changes where such ranges begin and
// end, modulo 2^64.
static void count_passing(Dissection *d, Range range, size_t n_values) {
  memset(d->n_at, 0, (n_values + 1) * sizeof *d->n_at);
  memset(d->n_passing, 0, (n_values + 1) * sizeof *d->n_passing);
  for (size_t k = range.begin; k < range.end; ++k) {
    uint32_t i = d->order[k];
    d->n_at[d->potential[i]]++;
    d->n_passing[least_neighbour(d, range, i, d->potential) + 1]++;
    d->n_passing[d->potential[i] + 1]--;
  }
}

// Returns true if a threshold of the present potential is the best so far.
static bool try_thresholds(Dissection *d, Range range, size_t n_values) {
  bool is_better = false;
  size_t below = 0, passing = 0, n = range.end - range.begin;
  for (size_t t = 1; t < n_values; ++t) {
    below += d->n_at[t - 1], passing += d->n_passing[t];
    size_t above = n - below - passing;
    if (below == 0 || above == 0) continue;
    double score = (double)passing / ((double)below * (double)above);
    if (score >= d->score) continue;
    d->score = score, d->threshold = (int32_t)t, d->n_separator = passing;
    is_better = true;
  }
  return is_better;
}

// False if there is none, or if more than half of the block rows are in it and minimum degree is possible.
static bool find_separator(Dissection *d, Range range) {
  d->score = 1e300;
  find_landmarks(d, range);
  // With the other sign the separator is on the other side of the threshold.
  for (int p = 0; p < 2 * N_POTENTIALS; ++p) {
    size_t n_values = fill_potential(d, range, weights[p / 2], p % 2 ? -1 : 1);
    count_passing(d, range, n_values);
    if (!try_thresholds(d, range, n_values)) continue;
    int32_t *best = d->potential;
    d->potential = d->best, d->best = best;
  }
  for (int l = 0; l < N_LANDMARKS; ++l) forget(d, range, d->distances[l]);
  size_t n = range.end - range.begin;
  return d->score < 1e300 && (2 * d->n_separator <= n || n > MOST_DENSE);
}

// Below, above, separator.
static int side(const Dissection *d, Range range, uint32_t i) {
  if (d->best[i] < d->threshold) return 0;
  return least_neighbour(d, range, i, d->best) < d->threshold ? 2 : 1;
}

static FloStatus split(Dissection *d, Range range, FloError *error) {
  size_t n = range.end - range.begin, count = 0, ends[3];
  for (int part = 0; part < 3; ++part) {
    for (size_t k = range.begin; k < range.end; ++k)
      if (side(d, range, d->order[k]) == part) d->queue[count++] = d->order[k];
    ends[part] = range.begin + count;
  }
  memcpy(d->order + range.begin, d->queue, n * sizeof *d->order);
  for (size_t k = range.begin; k < range.end; ++k) d->where[d->order[k]] = (uint32_t)k;
  FLO_TRY(push(d, range.begin, ends[0], error));
  return push(d, ends[0], ends[1], error);
}

// ---- The whole ----

// Moves the block rows that are connected with the first one to the front; returns their end.
static size_t gather_component(Dissection *d, Range range) {
  size_t n = measure(d, range, d->order[range.begin], d->distances[0]);
  for (size_t k = 0; k < n; ++k) {
    d->distances[0][d->queue[k]] = UINT32_MAX;
    swap(d, range.begin + k, d->where[d->queue[k]]);
  }
  return range.begin + n;
}

// A part without a separator is nearly dense. If it is large, then its order is of no importance.
static FloStatus order_range(Dissection *d, Range range, FloError *error) {
  size_t end = gather_component(d, range), n = end - range.begin;
  FLO_TRY(push(d, end, range.end, error));
  range.end = end;
  if (n > LEAF && find_separator(d, range)) return split(d, range, error);
  if (n > MOST_DENSE) return FLO_OK;
  return flo_block_order_leaf(d->matrix, d->memory, d->order + range.begin, n, d->local, &d->leaf_room,
                              error);
}

static FloStatus order_all(Dissection *d, FloError *error) {
  FLO_TRY(push(d, 0, d->matrix->n, error));
  while (d->ranges.count) {
    Range range = FLO_LIST(d->ranges, Range)[--d->ranges.count];
    FLO_TRY(order_range(d, range, error));
  }
  return FLO_OK;
}

// A potential has at most 4 n values.
static FloStatus reserve(Dissection *d, FloError *error) {
  size_t n = d->matrix->n + 1, n_values = 4 * n + 2;
  FLO_TRY(flo_buffer_reserve(d->memory, &d->arrays,
                             2 * n_values * sizeof(size_t) + (N_LANDMARKS + 5) * n * sizeof(uint32_t), 0,
                             error));
  d->n_at = d->arrays.data, d->n_passing = d->n_at + n_values;
  uint32_t *next = (uint32_t *)(d->n_passing + n_values);
  memset(next, 0xff, (N_LANDMARKS + 1) * n * sizeof *next);
  for (int l = 0; l < N_LANDMARKS; ++l, next += n) d->distances[l] = next;
  d->local = next, d->queue = next + n, d->where = next + 2 * n;
  d->potential = (int32_t *)(next + 3 * n), d->best = (int32_t *)(next + 4 * n);
  return FLO_OK;
}

FloStatus flo_block_order(const FloBlockMatrix *matrix, FloMemory *memory, uint32_t *order, FloError *error) {
  Dissection d = {.matrix = matrix, .memory = memory, .order = order};
  FLO_TRY(reserve(&d, error));
  for (size_t i = 0; i < matrix->n; ++i) order[i] = d.where[i] = (uint32_t)i;
  FloStatus status = order_all(&d, error);
  flo_buffer_free(memory, &d.arrays);
  flo_buffer_free(memory, &d.leaf_room);
  flo_buffer_free(memory, &d.ranges.buffer);
  return status;
}
