#include "sph/grid.h"

#include "base/parallel.h"
#include "sph/radix.h"

#include <math.h>
#include <string.h>

// Limit of cell coordinates. Three of them fit a 64-bit key. A particle outside is treated as lost.
enum { MAX_CELL = 1 << 20 };

enum { FIXED_BITS = 28 };

bool flo_lattice_set_reach(FloLattice *lattice, double reach) {
  double width = reach * lattice->support;
  int32_t n[3];
  for (int axis = 0; axis < 3; ++axis) {
    n[axis] = (int32_t)fmin(floor(lattice->period[axis] / width), MAX_CELL);
    // With two cells, the left and the right neighbour would be the same cell, and its particles found twice.
    if (lattice->period[axis] > 0 && n[axis] < 3) return false;
  }
  for (int axis = 0; axis < 3; ++axis) {
    lattice->n_periodic[axis] = n[axis];
    lattice->cell[axis] = n[axis] ? lattice->period[axis] / n[axis] : width;
  }
  return true;
}

FloStatus flo_lattice_init(FloLattice *lattice, int dim, double support, const double low[3],
                           const double high[3], FloError *error) {
  *lattice = (FloLattice){.dim = dim, .support = support};
  for (int axis = 0; axis < 3; ++axis) {
    double period = high[axis] - low[axis], unit = support / (1 << FIXED_BITS);
    if (period > 0) {
      if (floor(period / support) < 3)
        return flo_fail(error, FLO_BAD_INPUT,
                        "the domain repeats along %c every %g m, but must be at least three kernel supports "
                        "(3 x %g m) long; make it longer or the spacing finer",
                        "xyz"[axis], period, support);
      lattice->origin[axis] = low[axis], lattice->period[axis] = period;
      unit = period / (ceil(period / (support * 16)) * 4294967296.0);
    }
    lattice->to_fixed[axis] = 1 / unit;
    lattice->to_support[axis] = (float)(unit / support);
  }
  bool has_room = flo_lattice_set_reach(lattice, 1);
  FLO_ASSERT(has_room);
  return FLO_OK;
}

static int32_t wrap_cell(int32_t cell, int32_t n) {
  if (n == 0) return cell;
  cell %= n;
  return cell < 0 ? cell + n : cell;
}

void flo_grid_cell_of(const FloLattice *lattice, const double point[3], int32_t cell[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    double c = floor((point[axis] - lattice->origin[axis]) / lattice->cell[axis]);
    // Written so that NaN counts as out of reach too.
    cell[axis] = fabs(c) < MAX_CELL ? wrap_cell((int32_t)c, lattice->n_periodic[axis]) : INT32_MAX;
  }
}

bool flo_grid_is_cell(int32_t coordinate) { return fabs((double)coordinate) < MAX_CELL; }

void flo_grid_init(FloGrid *grid, const FloLattice *lattice, FloMemory *memory) {
  *grid = (FloGrid){.lattice = lattice, .memory = memory};
}

void flo_grid_free(FloGrid *grid) {
  flo_buffers_free(grid->memory, grid->buffers, FLO_COUNT_OF(grid->buffers));
}

enum { FIXED, CELL, ORDER, SORTED_X, SORTED_Y, SORTED_Z, CELL_X, CELL_BEGIN, ROWS, ROW_TABLE, KEYS, SCRATCH };

static FloStatus reserve(FloGrid *grid, int which, size_t size, FloError *error) {
  return flo_buffer_reserve(grid->memory, &grid->buffers[which], size, 0, error);
}

static FloStatus reserve_all(FloGrid *grid, size_t n, FloError *error) {
  // Eight-wide loads of the sorted coordinates may overrun the end.
  size_t padded = n + 16;
  FLO_TRY(reserve(grid, FIXED, padded * 16, error));
  FLO_TRY(reserve(grid, CELL, padded * 12, error));
  FLO_TRY(reserve(grid, ORDER, padded * 4, error));
  for (int k = SORTED_X; k <= SORTED_Z; ++k) FLO_TRY(reserve(grid, k, padded * 4, error));
  FLO_TRY(reserve(grid, KEYS, padded * 8, error));
  FLO_TRY(reserve(grid, SCRATCH, flo_radix_scratch(padded), error));
  grid->fixed = grid->buffers[FIXED].data;
  grid->cell = grid->buffers[CELL].data;
  grid->order = grid->buffers[ORDER].data;
  grid->sorted_x = grid->buffers[SORTED_X].data;
  grid->sorted_y = grid->buffers[SORTED_Y].data;
  grid->sorted_z = grid->buffers[SORTED_Z].data;
  return FLO_OK;
}

// ---- Cells and fixed-point coordinates, in store order ----

typedef struct Bounds {
  int32_t low[3], high[3];
  size_t lost; // first particle outside the limit, or SIZE_MAX
} Bounds;

typedef struct Locate {
  FloGrid *grid;
  const FloParticles *particles;
  const float *weight;
  size_t grain;
  Bounds bounds[FLO_MAX_CHUNKS];
} Locate;

int32_t flo_grid_fixed_point(const FloLattice *lattice, int axis, double x) {
  return (int32_t)(uint32_t)(uint64_t)llrint((x - lattice->origin[axis]) * lattice->to_fixed[axis]);
}

static void locate_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Locate *locate = context;
  const FloParticles *particles = locate->particles;
  const FloLattice *lattice = locate->grid->lattice;
  Bounds b = {{INT32_MAX, INT32_MAX, INT32_MAX}, {INT32_MIN, INT32_MIN, INT32_MIN}, SIZE_MAX};
  for (size_t i = begin; i < end; ++i) {
    double point[3] = {particles->x[i], particles->y[i], particles->z[i]};
    int32_t *cell = locate->grid->cell + 3 * i, *fixed = locate->grid->fixed + 4 * i;
    flo_grid_cell_of(lattice, point, cell);
    float weight = locate->weight ? locate->weight[i] : 1;
    memcpy(fixed + 3, &weight, sizeof weight);
    for (int axis = 0; axis < 3; ++axis) {
      if (cell[axis] == INT32_MAX) {
        if (i < b.lost) b.lost = i;
        continue;
      }
      fixed[axis] = flo_grid_fixed_point(lattice, axis, point[axis]);
      if (cell[axis] < b.low[axis]) b.low[axis] = cell[axis];
      if (cell[axis] > b.high[axis]) b.high[axis] = cell[axis];
    }
  }
  locate->bounds[begin / locate->grain] = b;
}

static FloStatus locate_all(FloGrid *grid, const FloParticles *particles, const float *weight, int threads,
                            Bounds *all, FloError *error) {
  Locate locate = {
      .grid = grid, .particles = particles, .weight = weight, .grain = flo_parallel_grain(grid->count)};
  flo_parallel_for(threads, grid->count, locate.grain, locate_range, &locate);
  *all = locate.bounds[0];
  for (size_t chunk = 0; chunk * locate.grain < grid->count; ++chunk) {
    const Bounds *b = &locate.bounds[chunk];
    if (b->lost != SIZE_MAX)
      return flo_fail(error, FLO_DIVERGED, "particle %u is lost: its position is (%g, %g, %g)",
                      particles->id[b->lost], particles->x[b->lost], particles->y[b->lost],
                      particles->z[b->lost]);
    for (int axis = 0; axis < 3; ++axis) {
      if (b->low[axis] < all->low[axis]) all->low[axis] = b->low[axis];
      if (b->high[axis] > all->high[axis]) all->high[axis] = b->high[axis];
    }
  }
  return FLO_OK;
}

// ---- Keys: row along a Morton curve over (y, z), then x; as few bits as the extent needs ----

typedef struct Keys {
  const FloGrid *grid;
  uint64_t *keys;
  int32_t low[3];
  int x_bits;
} Keys;

static uint64_t spread_bits(uint64_t a) { // ...cba -> ...0c0b0a
  a = (a | a << 16) & 0x0000ffff0000ffffu;
  a = (a | a << 8) & 0x00ff00ff00ff00ffu;
  a = (a | a << 4) & 0x0f0f0f0f0f0f0f0fu;
  a = (a | a << 2) & 0x3333333333333333u;
  return (a | a << 1) & 0x5555555555555555u;
}

static void key_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Keys *k = context;
  for (size_t i = begin; i < end; ++i) {
    const int32_t *cell = k->grid->cell + 3 * i;
    uint64_t row = spread_bits((uint32_t)(cell[1] - k->low[1])) | spread_bits((uint32_t)(cell[2] - k->low[2]))
                                                                      << 1;
    k->keys[i] = row << k->x_bits | (uint32_t)(cell[0] - k->low[0]);
    k->grid->order[i] = (uint32_t)i;
  }
}

static int bit_length(int32_t a) {
  int bits = 0;
  for (; a > 0; a >>= 1) ++bits;
  return bits;
}

static void make_keys(FloGrid *grid, const Bounds *bounds, int threads, int *n_bits) {
  int extent[3];
  for (int axis = 0; axis < 3; ++axis) extent[axis] = bit_length(bounds->high[axis] - bounds->low[axis]);
  Keys keys = {.grid = grid, .keys = grid->buffers[KEYS].data, .x_bits = extent[0]};
  memcpy(keys.low, bounds->low, sizeof keys.low);
  // In 2D the Morton curve has no second coordinate, and its odd bits are always zero.
  int row_bits =
      extent[2] ? 2 * (extent[1] > extent[2] ? extent[1] : extent[2]) : 2 * extent[1] - (extent[1] > 0);
  *n_bits = extent[0] + row_bits;
  flo_parallel_for(threads, grid->count, flo_parallel_grain(grid->count), key_range, &keys);
}

// ---- Sorted coordinates, cells and rows ----

typedef struct Gather {
  FloGrid *grid;
  const uint64_t *keys; // sorted
  size_t grain;
  size_t descents[FLO_MAX_CHUNKS], cells[FLO_MAX_CHUNKS]; // counts; later the first cell of each chunk
} Gather;

static void gather_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Gather *gather = context;
  FloGrid *grid = gather->grid;
  size_t descents = 0, cells = 0;
  for (size_t k = begin; k < end; ++k) {
    const int32_t *fixed = grid->fixed + 4 * (size_t)grid->order[k];
    grid->sorted_x[k] = fixed[0], grid->sorted_y[k] = fixed[1], grid->sorted_z[k] = fixed[2];
    descents += k > 0 && grid->order[k] < grid->order[k - 1];
    cells += k == 0 || gather->keys[k] != gather->keys[k - 1];
  }
  gather->descents[begin / gather->grain] = descents;
  gather->cells[begin / gather->grain] = cells;
}

static void cell_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Gather *gather = context;
  FloGrid *grid = gather->grid;
  size_t c = gather->cells[begin / gather->grain];
  for (size_t k = begin; k < end; ++k)
    if (k == 0 || gather->keys[k] != gather->keys[k - 1]) {
      grid->cell_begin[c] = (uint32_t)k;
      grid->cell_x[c++] = grid->cell[3 * (size_t)grid->order[k]];
    }
}

static FloStatus make_cells(FloGrid *grid, int threads, FloError *error) {
  Gather gather = {.grid = grid, .keys = grid->buffers[KEYS].data, .grain = flo_parallel_grain(grid->count)};
  flo_parallel_for(threads, grid->count, gather.grain, gather_range, &gather);
  size_t n_cells = 0;
  grid->n_descents = 0;
  for (size_t chunk = 0; chunk * gather.grain < grid->count; ++chunk) {
    size_t cells = gather.cells[chunk];
    gather.cells[chunk] = n_cells;
    n_cells += cells;
    grid->n_descents += gather.descents[chunk];
  }
  FLO_TRY(reserve(grid, CELL_X, (n_cells + 1) * 4, error));
  FLO_TRY(reserve(grid, CELL_BEGIN, (n_cells + 1) * 4, error));
  grid->cell_x = grid->buffers[CELL_X].data, grid->cell_begin = grid->buffers[CELL_BEGIN].data;
  flo_parallel_for(threads, grid->count, gather.grain, cell_range, &gather);
  grid->n_cells = n_cells;
  grid->cell_begin[n_cells] = (uint32_t)grid->count;
  return FLO_OK;
}

static size_t row_slot(const FloGrid *grid, int32_t y, int32_t z) {
  uint64_t h = ((uint64_t)(uint32_t)y << 32 | (uint32_t)z) * 0x9e3779b97f4a7c15u;
  return (size_t)(h >> 32) & (grid->row_table_size - 1);
}

static void enter_row(FloGrid *grid, size_t row) {
  size_t slot = row_slot(grid, grid->rows[row].y, grid->rows[row].z);
  while (grid->row_table[slot]) slot = (slot + 1) & (grid->row_table_size - 1);
  grid->row_table[slot] = (uint32_t)row + 1;
}

const FloCellRow *flo_grid_find_row(const FloGrid *grid, int32_t y, int32_t z) {
  if (grid->row_table_size == 0) return NULL;
  for (size_t slot = row_slot(grid, y, z); grid->row_table[slot];
       slot = (slot + 1) & (grid->row_table_size - 1)) {
    const FloCellRow *row = &grid->rows[grid->row_table[slot] - 1];
    if (row->y == y && row->z == z) return row;
  }
  return NULL;
}

static const int32_t *coordinates_of_cell(const FloGrid *grid, size_t c) {
  return grid->cell + 3 * (size_t)grid->order[grid->cell_begin[c]];
}

static bool starts_row(const FloGrid *grid, size_t c) {
  if (c == 0) return true;
  const int32_t *before = coordinates_of_cell(grid, c - 1), *here = coordinates_of_cell(grid, c);
  return before[1] != here[1] || before[2] != here[2];
}

static FloStatus make_rows(FloGrid *grid, FloError *error) {
  size_t n_rows = 0;
  for (size_t c = 0; c < grid->n_cells; ++c) n_rows += starts_row(grid, c);
  FLO_TRY(reserve(grid, ROWS, (n_rows + 1) * sizeof(FloCellRow), error));
  grid->rows = grid->buffers[ROWS].data;
  grid->n_rows = n_rows;
  size_t row = 0;
  for (size_t c = 0; c < grid->n_cells; ++c)
    if (starts_row(grid, c)) {
      const int32_t *cell = coordinates_of_cell(grid, c);
      grid->rows[row++] = (FloCellRow){cell[1], cell[2], (uint32_t)c};
    }
  grid->rows[n_rows] = (FloCellRow){.cells = (uint32_t)grid->n_cells};

  grid->row_table_size = 16;
  while (grid->row_table_size < 2 * n_rows) grid->row_table_size *= 2;
  FLO_TRY(reserve(grid, ROW_TABLE, grid->row_table_size * 4, error));
  grid->row_table = grid->buffers[ROW_TABLE].data;
  memset(grid->row_table, 0, grid->row_table_size * 4);
  for (row = 0; row < n_rows; ++row) enter_row(grid, row);
  return FLO_OK;
}

// Builds everything else from cells and coordinates.
static FloStatus make_index(FloGrid *grid, const Bounds *bounds, int threads, FloError *error) {
  int n_bits;
  make_keys(grid, bounds, threads, &n_bits);
  flo_radix_sort(grid->buffers[KEYS].data, grid->order, grid->count, n_bits, grid->buffers[SCRATCH].data,
                 threads);
  FLO_TRY(make_cells(grid, threads, error));
  return make_rows(grid, error);
}

static FloStatus begin_build(FloGrid *grid, size_t count, FloError *error) {
  grid->count = count;
  FLO_TRY(reserve_all(grid, count, error));
  grid->n_cells = grid->n_rows = grid->row_table_size = grid->n_descents = 0;
  return FLO_OK;
}

FloStatus flo_grid_build(FloGrid *grid, const FloParticles *particles, const float *weight, int threads,
                         FloError *error) {
  Bounds bounds;
  FLO_TRY(begin_build(grid, particles->count, error));
  if (grid->count == 0) return FLO_OK;
  FLO_TRY(locate_all(grid, particles, weight, threads, &bounds, error));
  return make_index(grid, &bounds, threads, error);
}

// ---- Saving and restoring ----

void flo_grid_save(const FloGrid *grid, int32_t *fixed, int32_t *cells) {
  // Only the sorted coordinates are those of the lists; a refresh has updated the others.
  for (size_t k = 0; k < grid->count; ++k) {
    int32_t *f = fixed + 3 * (size_t)grid->order[k];
    f[0] = grid->sorted_x[k], f[1] = grid->sorted_y[k], f[2] = grid->sorted_z[k];
  }
  memcpy(cells, grid->cell, grid->count * 12);
}

FloStatus flo_grid_restore(FloGrid *grid, size_t count, const int32_t *fixed, const int32_t *cells,
                           int threads, FloError *error) {
  Bounds bounds = {{INT32_MAX, INT32_MAX, INT32_MAX}, {INT32_MIN, INT32_MIN, INT32_MIN}, SIZE_MAX};
  const float weight = 1;
  FLO_TRY(begin_build(grid, count, error));
  if (count == 0) return FLO_OK;
  memcpy(grid->cell, cells, count * 12);
  for (size_t i = 0; i < count; ++i) {
    memcpy(grid->fixed + 4 * i, fixed + 3 * i, 12);
    memcpy(grid->fixed + 4 * i + 3, &weight, sizeof weight);
    for (int axis = 0; axis < 3; ++axis) {
      int32_t c = cells[3 * i + (size_t)axis];
      if (c < bounds.low[axis]) bounds.low[axis] = c;
      if (c > bounds.high[axis]) bounds.high[axis] = c;
    }
  }
  return make_index(grid, &bounds, threads, error);
}

// ---- Refreshing ----

typedef struct Refresh {
  FloGrid *grid;
  const FloParticles *particles;
} Refresh;

// Loops in the order of the cells, which still hold the earlier positions. Each particle occurs once, so no
// two calls write to the same place.
static void refresh_range(const void *context, size_t begin, size_t end, double *partial) {
  const Refresh *refresh = context;
  const FloGrid *grid = refresh->grid;
  const FloParticles *p = refresh->particles;
  const FloLattice *lattice = grid->lattice;
  float most = 0;
  for (size_t k = begin; k < end; ++k) {
    size_t i = grid->order[k];
    const double now[3] = {p->x[i], p->y[i], p->z[i]};
    const int32_t before[3] = {grid->sorted_x[k], grid->sorted_y[k], grid->sorted_z[k]};
    int32_t *fixed = grid->fixed + 4 * i;
    float moved2 = 0;
    for (int axis = 0; axis < 3; ++axis) {
      fixed[axis] = flo_grid_fixed_point(lattice, axis, now[axis]);
      uint32_t units = (uint32_t)fixed[axis] - (uint32_t)before[axis];
      float moved = (float)(int32_t)units * lattice->to_support[axis];
      moved2 += moved * moved;
    }
    most = moved2 > most ? moved2 : most;
  }
  partial[0] = (double)most;
}

double flo_grid_refresh(FloGrid *grid, const FloParticles *particles, int threads) {
  Refresh refresh = {grid, particles};
  double most2 = 0;
  flo_parallel_max(threads, grid->count, refresh_range, &refresh, 1, &most2);
  return sqrt(fmax(most2, 0));
}

// ---- Sorting the particles by cells ----

typedef struct Reorder {
  FloGrid *grid;
  int32_t *fixed, *cell; // copies in the old order
} Reorder;

static void reorder_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Reorder *r = context;
  for (size_t k = begin; k < end; ++k) {
    size_t i = r->grid->order[k];
    memcpy(r->grid->fixed + 4 * k, r->fixed + 4 * i, 16);
    memcpy(r->grid->cell + 3 * k, r->cell + 3 * i, 12);
  }
}

static void number_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloGrid *grid = context;
  for (size_t k = begin; k < end; ++k) grid->order[k] = (uint32_t)k;
}

FloStatus flo_grid_sort_particles(FloGrid *grid, FloParticles *particles, int threads, FloError *error) {
  size_t n = grid->count, grain = flo_parallel_grain(n);
  if (grid->n_descents == 0) return FLO_OK;
  FLO_TRY(flo_particles_permute(particles, grid->order, n, threads, error));
  // The sort no longer needs its scratch memory, so the copies use it.
  FLO_TRY(reserve(grid, SCRATCH, flo_max_size(flo_radix_scratch(n + 16), n * 28), error));
  Reorder r = {.grid = grid, .fixed = grid->buffers[SCRATCH].data};
  r.cell = r.fixed + 4 * n;
  memcpy(r.fixed, grid->fixed, n * 16);
  memcpy(r.cell, grid->cell, n * 12);
  flo_parallel_for(threads, n, grain, reorder_range, &r);
  flo_parallel_for(threads, n, grain, number_range, grid);
  grid->n_descents = 0;
  return FLO_OK;
}

// ---- Walking ----

static void find_rows(FloWalker *walker, const FloGrid *grid) {
  const FloLattice *lattice = grid->lattice;
  int reach_z = lattice->dim == 3;
  walker->n_rows = 0;
  for (int32_t dz = -reach_z; dz <= reach_z; ++dz)
    for (int32_t dy = -1; dy <= 1; ++dy) {
      const FloCellRow *row = flo_grid_find_row(grid, wrap_cell(walker->cell[1] + dy, lattice->n_periodic[1]),
                                                wrap_cell(walker->cell[2] + dz, lattice->n_periodic[2]));
      if (!row) continue;
      walker->rows[walker->n_rows++] = row;
    }
}

// First cell of the row with x >= x_low, by bisection.
static uint32_t lower_bound(const FloGrid *grid, const FloCellRow *row, int32_t x_low) {
  uint32_t low = row[0].cells, high = row[1].cells;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (grid->cell_x[middle] < x_low)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void add_range(FloWalker *walker, const FloGrid *grid, uint32_t first_cell, uint32_t end_cell) {
  if (first_cell == end_cell) return;
  walker->begin[walker->n_ranges] = grid->cell_begin[first_cell];
  walker->end[walker->n_ranges++] = grid->cell_begin[end_cell];
}

// Cells within reach along one row. They are contiguous except at the seam of a periodic axis.
static void find_ranges_in_row(FloWalker *walker, const FloGrid *grid, int k, bool can_advance) {
  const FloCellRow *row = walker->rows[k];
  const int32_t *cell_x = grid->cell_x;
  int32_t low = walker->cell[0] - 1, high = walker->cell[0] + 1, n = grid->lattice->n_periodic[0];
  uint32_t end = row[1].cells;
  uint32_t first = can_advance ? walker->first[k] : lower_bound(grid, row, low);
  uint32_t last = can_advance ? walker->last[k] : first;
  while (first < end && cell_x[first] < low) ++first;
  while (last < end && cell_x[last] <= high) ++last;
  walker->first[k] = first, walker->last[k] = last;
  add_range(walker, grid, first, last);
  if (n == 0) return;
  if (low < 0) add_range(walker, grid, lower_bound(grid, row, low + n), end);
  if (high >= n) add_range(walker, grid, row->cells, lower_bound(grid, row, high - n + 1));
}

bool flo_walker_move(FloWalker *walker, const FloGrid *grid, const int32_t cell[3]) {
  bool same_row = walker->is_valid && cell[1] == walker->cell[1] && cell[2] == walker->cell[2];
  if (same_row && cell[0] == walker->cell[0]) return false;
  bool can_advance = same_row && cell[0] > walker->cell[0];
  memcpy(walker->cell, cell, sizeof walker->cell);
  walker->is_valid = true;
  if (!same_row) find_rows(walker, grid);
  walker->n_ranges = 0;
  for (int k = 0; k < walker->n_rows; ++k) find_ranges_in_row(walker, grid, k, can_advance);
  return true;
}

bool flo_grid_is_near(const FloGrid *grid, const double x[3], double apart) {
  FloWalker walker = {0};
  int32_t cell[3], at[3];
  if (grid->count == 0) return false;
  flo_grid_cell_of(grid->lattice, x, cell);
  if (cell[0] == INT32_MAX || cell[1] == INT32_MAX || cell[2] == INT32_MAX) return false;
  for (int axis = 0; axis < 3; ++axis) at[axis] = flo_grid_fixed_point(grid->lattice, axis, x[axis]);
  flo_walker_move(&walker, grid, cell);
  for (int range = 0; range < walker.n_ranges; ++range)
    for (uint32_t k = walker.begin[range]; k < walker.end[range]; ++k) {
      const int32_t there[3] = {grid->sorted_x[k], grid->sorted_y[k], grid->sorted_z[k]};
      double d[3];
      for (int axis = 0; axis < 3; ++axis)
        d[axis] =
            (double)(int32_t)((uint32_t)at[axis] - (uint32_t)there[axis]) / grid->lattice->to_fixed[axis];
      if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < apart * apart) return true;
    }
  return false;
}
