#include "geometry/flood.h"

#include "base/vecmath.h"

#include <string.h>

typedef struct Spreading {
  const FloFlood *flood;
  unsigned char *is_known; // a bit for each point
  FloPoints reached;       // numbers of the points from which fluid spreads, as first coordinates
} Spreading;

static size_t number_of(const FloFlood *flood, const long index[3]) {
  return ((size_t)index[2] * (size_t)flood->n[1] + (size_t)index[1]) * (size_t)flood->n[0] + (size_t)index[0];
}

static void index_of(const FloFlood *flood, size_t number, long index[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    index[axis] = (long)(number % (size_t)flood->n[axis]);
    number /= (size_t)flood->n[axis];
  }
}

static FloStatus escapes(const double x[3], FloError *error) {
  return flo_fail(
      error, FLO_BAD_INPUT,
      "fill: fluid would run out near (%.4g, %.4g, %.4g); close the vessel there or lower the level", x[0],
      x[1], x[2]);
}

// Visits a point. If that is the first visit and the point is free, it is filled, and fluid spreads from it.
static FloStatus visit(Spreading *spreading, const long at[3], FloError *error) {
  const FloFlood *flood = spreading->flood;
  long index[3] = {at[0], at[1], at[2]};
  double x[3];
  flo_fluid_lattice_point(&flood->lattice, index, x);
  for (int axis = 0; axis < flood->dim; ++axis) {
    if (index[axis] >= 0 && index[axis] < flood->n[axis]) continue;
    if (!flood->wraps[axis]) return flood->is_free(flood->context, x) ? escapes(x, error) : FLO_OK;
    index[axis] = (index[axis] + flood->n[axis]) % flood->n[axis];
  }
  flo_fluid_lattice_point(&flood->lattice, index, x);
  size_t number = number_of(flood, index);
  if (spreading->is_known[number / 8] >> number % 8 & 1) return FLO_OK;
  spreading->is_known[number / 8] |= (unsigned char)(1 << number % 8);
  if (!flood->is_free(flood->context, x)) return FLO_OK;
  FLO_TRY(flood->fill(flood->context, x, error));
  return flo_points_add(&spreading->reached, (double)number, 0, 0, error);
}

// The neighbours of a lattice point: one step along each axis, or in hexagonal packing all points as near as
// the next one in the row.
static int find_neighbours(const FloFlood *flood, const long here[3], long there[26][3]) {
  int n = 0, reach_z = flood->dim == 3;
  double x[3], y[3], between[3], nearest = 1.01 * flood->lattice.step[0];
  flo_fluid_lattice_point(&flood->lattice, here, x);
  for (int axis = 0; axis < flood->dim && flood->packing == FLO_FLUID_CUBIC; ++axis)
    for (int side = -1; side <= 1; side += 2) {
      for (int k = 0; k < 3; ++k) there[n][k] = here[k] + (k == axis ? side : 0);
      ++n;
    }
  for (long k = -reach_z; k <= reach_z && flood->packing == FLO_FLUID_HEXAGONAL; ++k)
    for (long j = -1; j <= 1; ++j)
      for (long i = -1; i <= 1; ++i) {
        const long at[3] = {here[0] + i, here[1] + j, here[2] + k};
        flo_fluid_lattice_point(&flood->lattice, at, y);
        vec_sub(y, x, between);
        if ((i || j || k) && vec_length(between) < nearest) memcpy(there[n++], at, sizeof at);
      }
  return n;
}

static FloStatus spread(Spreading *spreading, const long start[3], FloError *error) {
  const FloPoints *reached = &spreading->reached;
  FLO_TRY(visit(spreading, start, error));
  for (size_t next = 0; next < reached->count; ++next) {
    long here[3], there[26][3];
    index_of(spreading->flood, (size_t)flo_points_at(reached, next)[0], here);
    int n = find_neighbours(spreading->flood, here, there);
    for (int k = 0; k < n; ++k) FLO_TRY(visit(spreading, there[k], error));
  }
  return FLO_OK;
}

FloStatus flo_flood_spread(const FloFlood *flood, const long start[3], FloMemory *memory, size_t *n_reached,
                           FloError *error) {
  FloBuffer known = {0};
  size_t n_bytes = (size_t)flood->n[0] * (size_t)flood->n[1] * (size_t)flood->n[2] / 8 + 1;
  FLO_TRY(flo_buffer_reserve(memory, &known, n_bytes, 0, error));
  memset(known.data, 0, n_bytes);
  Spreading spreading = {.flood = flood, .is_known = known.data, .reached = {.memory = memory}};
  FloStatus status = spread(&spreading, start, error);
  *n_reached = spreading.reached.count;
  flo_points_free(&spreading.reached);
  flo_buffer_free(memory, &known);
  return status;
}
