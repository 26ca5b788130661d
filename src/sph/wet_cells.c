#include "sph/wet_cells.h"

#include <string.h>

// Cells beyond this count as one; so they are wet if any of them is.
#define FARTHEST ((int64_t)1 << 19)
// Boxes of more cells than this count as wet: to look at all of them would take too long.
#define MOST_CELLS 512

void flo_wet_cells_begin(FloWetCells *cells, const FloDomain *domain, double width) {
  cells->domain = *domain;
  cells->count = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const bool is_periodic = axis < domain->dim && domain->periodic[axis];
    const double period = domain->high[axis] - domain->low[axis];
    cells->n_around[axis] = is_periodic ? (int64_t)fmax(fmin(floor(period / width), FARTHEST), 1) : 0;
    cells->width[axis] = is_periodic ? period / (double)cells->n_around[axis] : width;
    cells->last[axis] = INT64_MIN;
  }
  if (cells->size) memset(cells->table.data, 0, cells->size * sizeof(uint64_t));
}

void flo_wet_cells_free(FloWetCells *cells) {
  if (cells->memory) flo_buffer_free(cells->memory, &cells->table);
}

// ---- Cells ----

static int64_t wrap(const FloWetCells *cells, int axis, int64_t index) {
  const int64_t n = cells->n_around[axis];
  if (axis >= cells->domain.dim) return 0;
  if (n) return (index % n + n) % n;
  return index < -FARTHEST ? -FARTHEST : index > FARTHEST ? FARTHEST : index;
}

// Not yet wrapped around a periodic axis.
static int64_t index_of(const FloWetCells *cells, int axis, double x) {
  const double from = cells->n_around[axis] ? cells->domain.low[axis] : 0, most = 1e15;
  return (int64_t)fmax(-most, fmin(floor((x - from) / cells->width[axis]), most));
}

static uint64_t key_of(const FloWetCells *cells, const int64_t cell[3]) {
  uint64_t key = (uint64_t)1 << 63;
  for (int axis = 0; axis < 3; ++axis)
    key |= (uint64_t)(wrap(cells, axis, cell[axis]) + FARTHEST) << (21 * axis);
  return key;
}

static size_t place_of(const FloWetCells *cells, uint64_t key) {
  const uint64_t *table = cells->table.data;
  size_t place = (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & (cells->size - 1);
  while (table[place] && table[place] != key) place = (place + 1) & (cells->size - 1);
  return place;
}

static bool has_cell(const FloWetCells *cells, const int64_t cell[3]) {
  return cells->count && ((const uint64_t *)cells->table.data)[place_of(cells, key_of(cells, cell))];
}

static void put_key(FloWetCells *cells, uint64_t key) {
  uint64_t *slot = (uint64_t *)cells->table.data + place_of(cells, key);
  cells->count += *slot == 0;
  *slot = key;
}

// ---- Adding ----

enum { LEAST_SIZE = 1024, MOST_ADDED = 27 };

// Makes room for the cells around one more, in a table that is at most half full.
static FloStatus make_room(FloWetCells *cells, FloError *error) {
  const size_t n_before = cells->size;
  FloBuffer before = cells->table;
  if (2 * (cells->count + MOST_ADDED) <= n_before) return FLO_OK;
  FloBuffer next = {0};
  const size_t size = n_before ? 2 * n_before : LEAST_SIZE;
  FLO_TRY(flo_buffer_reserve_zeros(cells->memory, &next, size * sizeof(uint64_t), error));
  cells->table = next, cells->size = size, cells->count = 0;
  for (size_t k = 0; k < n_before; ++k)
    if (((const uint64_t *)before.data)[k]) put_key(cells, ((const uint64_t *)before.data)[k]);
  flo_buffer_free(cells->memory, &before);
  return FLO_OK;
}

static void add_around(FloWetCells *cells, const int64_t centre[3]) {
  const int reach = cells->domain.dim == 3;
  for (int64_t z = -reach; z <= reach; ++z)
    for (int64_t y = -1; y <= 1; ++y)
      for (int64_t x = -1; x <= 1; ++x)
        put_key(cells, key_of(cells, (const int64_t[3]){centre[0] + x, centre[1] + y, centre[2] + z}));
}

FloStatus flo_wet_cells_add(FloWetCells *cells, const double x[3], FloError *error) {
  int64_t cell[3];
  if (!vec_is_finite(x)) return FLO_OK; // the step reports it
  for (int axis = 0; axis < 3; ++axis) cell[axis] = index_of(cells, axis, x[axis]);
  // Particles that follow each other in memory are mostly in the same cell.
  if (!memcmp(cell, cells->last, sizeof cell)) return FLO_OK;
  FLO_TRY(make_room(cells, error));
  memcpy(cells->last, cell, sizeof cell);
  add_around(cells, cell);
  return FLO_OK;
}

// ---- Asking ----

bool flo_wet_cells_are_near(const FloWetCells *cells, const double low[3], const double high[3]) {
  int64_t from[3], to[3], cell[3];
  double n = 1;
  for (int axis = 0; axis < 3; ++axis) {
    from[axis] = index_of(cells, axis, low[axis]), to[axis] = index_of(cells, axis, high[axis]);
    if (axis >= cells->domain.dim) from[axis] = to[axis] = 0;
    n *= (double)(to[axis] - from[axis] + 1);
  }
  if (n > MOST_CELLS) return cells->count > 0;
  for (cell[2] = from[2]; cell[2] <= to[2]; ++cell[2])
    for (cell[1] = from[1]; cell[1] <= to[1]; ++cell[1])
      for (cell[0] = from[0]; cell[0] <= to[0]; ++cell[0])
        if (has_cell(cells, cell)) return true;
  return false;
}
