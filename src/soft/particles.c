// Makes elastic solids of particles; see particles.h.
#include "soft/particles.h"

#include "base/vecmath.h"
#include "soft/body.h"

#include <string.h>

// Support of the kernel in cells, and zeta.
static const double SUPPORT = 2, HOLD = 0.1;
// Friction that is always there, as a share of the time in which sound crosses a cell.
static const double LEAST_FRICTION = 0.05;
// A body is too thin where the smallest part of M is below this share of the mean.
static const double FLAT = 1e-3;

// ---- Weights ----

// |W'| / r of the cubic spline.
static double slope_of(int dim, double support, double r) {
  const double h = support / 2, q = r / h;
  const double norm =
      dim == 2 ? 10 / (7 * 3.14159265358979323846 * pow(h, 4)) : 1 / (3.14159265358979323846 * pow(h, 5));
  if (q >= 2) return 0;
  return norm * (q < 1 ? 3 - 2.25 * q : 0.75 * (2 - q) * (2 - q) / q);
}

// ---- Neighbours: particles sorted into cells as wide as the support ----

typedef struct Cells {
  double low[3];
  size_t n[3];
  FloBuffer begin, items; // size_t, uint32_t
} Cells;

static size_t cell_along(const Cells *cells, const FloSoftParticles *p, int axis, double x) {
  return flo_min_size((size_t)fmax((x - cells->low[axis]) / p->support, 0), cells->n[axis] - 1);
}

static size_t cell_of(const Cells *cells, const FloSoftParticles *p, const double x[3]) {
  size_t cell = 0;
  for (int axis = 2; axis >= 0; --axis) cell = cell * cells->n[axis] + cell_along(cells, p, axis, x[axis]);
  return cell;
}

static void lay_out(Cells *cells, const FloSoftParticles *p) {
  double high[3] = {-INFINITY, -INFINITY, -INFINITY};
  vec_set(cells->low, INFINITY, INFINITY, INFINITY);
  for (size_t k = 0; k < 3 * p->n; ++k) {
    cells->low[k % 3] = fmin(cells->low[k % 3], p->rest[k]);
    high[k % 3] = fmax(high[k % 3], p->rest[k]);
  }
  for (int axis = 0; axis < 3; ++axis)
    cells->n[axis] = (size_t)((high[axis] - cells->low[axis]) / p->support) + 1;
}

static FloStatus sort_into(Cells *cells, const FloSoftParticles *p, FloMemory *memory, FloError *error) {
  lay_out(cells, p);
  const size_t n_cells = cells->n[0] * cells->n[1] * cells->n[2];
  FLO_TRY(flo_buffer_reserve_zeros(memory, &cells->begin, (n_cells + 2) * sizeof(size_t), error));
  FLO_TRY(flo_buffer_reserve(memory, &cells->items, p->n * sizeof(uint32_t) + 1, 0, error));
  size_t *begin = cells->begin.data;
  for (size_t k = 0; k < p->n; ++k) begin[cell_of(cells, p, p->rest + 3 * k) + 2]++;
  for (size_t c = 0; c < n_cells; ++c) begin[c + 2] += begin[c + 1];
  for (size_t k = 0; k < p->n; ++k)
    ((uint32_t *)cells->items.data)[begin[cell_of(cells, p, p->rest + 3 * k) + 1]++] = (uint32_t)k;
  return FLO_OK;
}

// Its neighbours are counted, and listed if there is room for them.
static void find_in_cell(FloSoftParticles *p, const Cells *cells, size_t cell, size_t i, size_t *count) {
  const size_t *begin = cells->begin.data;
  for (size_t k = begin[cell]; k < begin[cell + 1]; ++k) {
    const uint32_t j = ((const uint32_t *)cells->items.data)[k];
    double way[3];
    vec_sub(p->rest + 3 * (size_t)j, p->rest + 3 * i, way);
    const double r = vec_length(way), slope = slope_of(p->dim, p->support, r);
    if (j == i || !(slope > 0)) continue;
    if (p->others) {
      p->others[p->begin[i] + *count] = j;
      p->weights[p->begin[i] + *count] = p->volumes[i] * p->volumes[j] * slope;
    }
    ++*count;
  }
}

static size_t find_neighbours(FloSoftParticles *p, const Cells *cells, size_t i) {
  size_t from[3], to[3], count = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const size_t at = cell_along(cells, p, axis, p->rest[3 * i + (size_t)axis]);
    from[axis] = at > 0 ? at - 1 : 0, to[axis] = flo_min_size(at + 1, cells->n[axis] - 1);
  }
  for (size_t z = from[2]; z <= to[2]; ++z)
    for (size_t y = from[1]; y <= to[1]; ++y)
      for (size_t x = from[0]; x <= to[0]; ++x)
        find_in_cell(p, cells, (z * cells->n[1] + y) * cells->n[0] + x, i, &count);
  return count;
}

static FloStatus list_neighbours(FloSoft *soft, FloSoftParticles *p, const Cells *cells, FloError *error) {
  FLO_TRY(flo_soft_array(soft, p->n + 1, sizeof *p->begin, &p->begin, error));
  for (size_t i = 0; i < p->n; ++i) p->begin[i + 1] = p->begin[i] + find_neighbours(p, cells, i);
  FLO_TRY(flo_soft_array(soft, p->begin[p->n], sizeof *p->weights, &p->weights, error));
  FLO_TRY(flo_soft_array(soft, p->begin[p->n], sizeof *p->others, &p->others, error));
  for (size_t i = 0; i < p->n; ++i) find_neighbours(p, cells, i);
  return FLO_OK;
}

// ---- Corrections ----

static void find_spread(const FloSoftParticles *p, size_t i, double m[9]) {
  memset(m, 0, 9 * sizeof *m);
  for (size_t k = p->begin[i]; k < p->begin[i + 1]; ++k) {
    double way[3];
    vec_sub(p->rest + 3 * (size_t)p->others[k], p->rest + 3 * i, way);
    for (int e = 0; e < 9; ++e) m[e] += p->weights[k] / p->volumes[i] * way[e / 3] * way[e % 3];
  }
  if (p->dim == 2) m[8] = 1;
}

// The inverse of a symmetric matrix. False if it is almost singular.
static bool invert(int dim, const double m[9], double out[9]) {
  double c[9];
  vec_cross(m + 3, m + 6, c), vec_cross(m + 6, m, c + 3), vec_cross(m, m + 3, c + 6);
  const double determinant = vec_dot(m, c), mean = (m[0] + m[4] + (dim == 3 ? m[8] : 0)) / dim;
  if (!(determinant > FLAT * pow(mean, dim))) return false;
  for (int e = 0; e < 9; ++e) out[e] = c[e] / determinant;
  return true;
}

static FloStatus find_corrections(FloSoftParticles *p, FloError *error) {
  for (size_t i = 0; i < p->n; ++i) {
    double m[9];
    const double *x = p->rest + 3 * i;
    find_spread(p, i, m);
    if (!invert(p->dim, m, p->corrections + 9 * i))
      return flo_fail(error, FLO_BAD_INPUT,
                      "elastic: near (%g, %g, %g) of its shape the body is only one particle thick; use a "
                      "smaller 'cell', or a cloth",
                      x[0], x[1], x[2]);
    if (p->is_plain) memcpy(p->corrections + 9 * i, m, sizeof m);
  }
  return FLO_OK;
}

// ---- All of it ----

// Pairs that resist along their lines of centres make a solid with a shear modulus of a tenth of their
// stiffness, in the plane of an eighth.
static void find_material(FloSoftParticles *p, const FloElasticDef *elastic, double density, double cell) {
  const double nu = elastic->poisson;
  p->mu = elastic->young / (2 * (1 + nu)), p->lambda = 2 * p->mu * nu / (1 - 2 * nu);
  p->hold = p->is_plain ? 0 : HOLD * elastic->young / p->dim;
  const double crossing = cell / sqrt((p->lambda + 2 * p->mu) / density);
  p->friction = (elastic->damping + LEAST_FRICTION * crossing) * p->mu * (p->dim == 3 ? 10 : 8);
}

static FloStatus make_arrays(FloSoft *soft, FloSoftParticles *p, FloError *error) {
  double **const threes[] = {&p->rest, &p->forces, &p->end, &p->end_v, &p->drift};
  for (size_t k = 0; k < FLO_COUNT_OF(threes); ++k)
    FLO_TRY(flo_soft_array(soft, 3 * p->n, sizeof(double), threes[k], error));
  FLO_TRY(flo_soft_array(soft, p->n, sizeof(double), &p->volumes, error));
  FLO_TRY(flo_soft_array(soft, p->n, sizeof(double), &p->energies, error));
  FLO_TRY(flo_soft_array(soft, 9 * p->n, sizeof(double), &p->corrections, error));
  return flo_soft_array(soft, 9 * p->n, sizeof(double), &p->stresses, error);
}

FloStatus flo_particles_make(FloSoft *soft, const double *volumes, double cell, const FloElasticDef *elastic,
                             FloSoftParticles *particles, FloError *error) {
  Cells cells = {.n = {0}};
  *particles = (FloSoftParticles){.dim = soft->dim,
                                  .n = soft->n,
                                  .support = SUPPORT * cell,
                                  .is_plain = elastic->form == FLO_ELASTIC_PLAIN_PARTICLES};
  find_material(particles, elastic, soft->mass[0] / volumes[0], cell);
  FLO_TRY(make_arrays(soft, particles, error));
  memcpy(particles->rest, soft->x, 3 * soft->n * sizeof(double));
  memcpy(particles->volumes, volumes, soft->n * sizeof(double));
  FloStatus status = sort_into(&cells, particles, soft->memory, error);
  if (status == FLO_OK) status = list_neighbours(soft, particles, &cells, error);
  flo_buffer_free(soft->memory, &cells.begin);
  flo_buffer_free(soft->memory, &cells.items);
  FLO_TRY(status);
  FLO_TRY(find_corrections(particles, error));
  return flo_particles_find_pace(particles, soft->mass, soft->memory, error);
}
