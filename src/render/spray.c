#include "render/spray.h"

#include "base/core.h"

#include <math.h>
#include <stdlib.h>

// Particles are sorted by the cells of a lattice of `reach`. Cells of a row follow each other, so the
// neighbours of a particle are in nine runs.
typedef struct Place {
  uint64_t cell;
  uint32_t particle;
} Place;

enum { BITS = 21 };
static const uint64_t row_step = (uint64_t)1 << BITS, plane_step = (uint64_t)1 << 2 * BITS;

typedef struct Lattice {
  const double *positions;
  Place *places;
  size_t n;
  double low[3], reach;
} Lattice;

static int compare_places(const void *a, const void *b) {
  const Place *p = a, *q = b;
  if (p->cell != q->cell) return p->cell < q->cell ? -1 : 1;
  return (p->particle > q->particle) - (p->particle < q->particle);
}

// All cells beyond the lattice's million count as one: particles that far out are compared with more
// particles, never with fewer.
static uint64_t cell_of(const Lattice *l, const double *p) {
  uint64_t cell = 0;
  for (int axis = 2; axis >= 0; axis--) {
    double index = 1 + floor((p[axis] - l->low[axis]) / l->reach), last = (double)(row_step - 2);
    cell = cell << BITS | (uint64_t)fmin(index, last);
  }
  return cell;
}

static size_t first_from(const Lattice *l, uint64_t cell) {
  size_t low = 0, high = l->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (l->places[middle].cell < cell)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool is_near(const Lattice *l, size_t a, size_t b) {
  const double *p = l->positions + 3 * a, *q = l->positions + 3 * b;
  double x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
  return x * x + y * y + z * z <= l->reach * l->reach;
}

static bool has_few(const Lattice *l, size_t k, size_t most) {
  const Place *place = &l->places[k];
  size_t count = 0;
  for (uint64_t z = 0; z < 3; z++)
    for (uint64_t y = 0; y < 3; y++) {
      uint64_t middle = place->cell + z * plane_step + y * row_step - plane_step - row_step;
      for (size_t j = first_from(l, middle - 1); j < l->n && l->places[j].cell <= middle + 1; j++) {
        count += is_near(l, place->particle, l->places[j].particle);
        if (count > most + 1) return false; // the count includes the particle itself
      }
    }
  return true;
}

FloStatus flo_spray_mark(const double *positions, size_t n, double reach, size_t most, bool *is_alone,
                         FloError *error) {
  Lattice l = {positions, malloc((n + 1) * sizeof *l.places), n, {INFINITY, INFINITY, INFINITY}, reach};
  if (!l.places) return flo_fail(error, FLO_NO_MEMORY, "no memory to find drops among %zu particles", n);
  for (size_t k = 0; k < 3 * n; k++) l.low[k % 3] = fmin(l.low[k % 3], positions[k]);
  for (size_t k = 0; k < n; k++) l.places[k] = (Place){cell_of(&l, positions + 3 * k), (uint32_t)k};
  qsort(l.places, n, sizeof *l.places, compare_places);
  for (size_t k = 0; k < n; k++) is_alone[l.places[k].particle] = has_few(&l, k, most);
  free(l.places);
  return FLO_OK;
}
