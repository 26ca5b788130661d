// Makes soft bodies, and holds their state.
#include "soft/soft.h"

#include "base/vecmath.h"
#include "soft/bending.h"
#include "soft/body.h"
#include "soft/membrane.h"
#include "soft/patches.h"
#include "soft/solid.h"
#include "soft/strand.h"

#include <string.h>

// ---- Memory ----

FloStatus flo_soft_array(FloSoft *soft, size_t n, size_t element_size, void *array, FloError *error) {
  FloBuffer buffer = {0};
  FLO_TRY(flo_buffer_reserve_zeros(soft->memory, &buffer, n * element_size + 1, error));
  FloStatus status = flo_list_append(soft->memory, &soft->arrays, &buffer, sizeof buffer, error);
  if (status) flo_buffer_free(soft->memory, &buffer);
  if (!status) *(void **)array = buffer.data;
  return status;
}

static FloStatus make_arrays(FloSoft *soft, FloError *error) {
  double **const threes[] = {&soft->x,     &soft->v,   &soft->start,    &soft->impulses, &soft->gradient,
                             &soft->trial, &soft->way, &soft->reaction, &soft->ahead};
  for (size_t k = 0; k < FLO_COUNT_OF(threes); ++k)
    FLO_TRY(flo_soft_array(soft, 3 * soft->n, sizeof(double), threes[k], error));
  FLO_TRY(flo_soft_array(soft, 12 * soft->n, sizeof(double), &soft->room, error));
  FLO_TRY(flo_soft_array(soft, soft->n, sizeof(double), &soft->mass, error));
  FLO_TRY(flo_soft_array(soft, soft->n, sizeof(double), &soft->size, error));
  FLO_TRY(flo_soft_array(soft, soft->n, sizeof *soft->held, &soft->held, error));
  return flo_soft_array(soft, soft->n, sizeof(bool), &soft->fixed, error);
}

FloStatus flo_soft_create(int dim, size_t n_vertices, const double *x, FloMemory *memory, FloSoft **soft,
                          FloError *error) {
  FLO_ASSERT(dim == 2 || dim == 3);
  *soft = flo_memory_allocate(memory, sizeof **soft);
  if (!*soft) return flo_fail(error, FLO_NO_MEMORY, "not enough memory for a soft body");
  **soft = (FloSoft){.memory = memory, .dim = dim, .n = n_vertices, .is_refixed = true};
  flo_block_matrix_init(&(*soft)->matrix, memory);
  FloStatus status = make_arrays(*soft, error);
  if (status) {
    flo_soft_destroy(*soft, memory), *soft = NULL;
    return status;
  }
  memcpy((*soft)->x, x, 3 * n_vertices * sizeof *x);
  return FLO_OK;
}

void flo_soft_destroy(FloSoft *soft, FloMemory *memory) {
  if (!soft) return;
  for (size_t k = 0; k < soft->arrays.count; ++k)
    flo_buffer_free(memory, FLO_LIST(soft->arrays, FloBuffer) + k);
  flo_buffer_free(memory, &soft->arrays.buffer);
  flo_buffer_free(memory, &soft->groups.buffer);
  flo_block_factor_destroy(soft->factor, memory);
  flo_block_matrix_free(&soft->matrix);
  flo_memory_release(memory, soft, sizeof *soft);
}

// ---- Elements ----

static FloStatus check_corners(const FloSoft *soft, const uint32_t *corners, size_t n, size_t each,
                               const char *what, FloError *error) {
  for (size_t k = 0; k < n * each; ++k)
    if (corners[k] >= soft->n)
      return flo_fail(error, FLO_BAD_INPUT, "%s %zu names vertex %u, but there are only %zu vertices", what,
                      k / each, corners[k], soft->n);
  return FLO_OK;
}

// The place of an element, for messages.
static FloStatus refuse_element(const FloSoft *soft, const char *what, size_t k, uint32_t corner,
                                const char *why, FloError *error) {
  const double *p = soft->x + 3 * (size_t)corner;
  return flo_fail(error, FLO_BAD_INPUT, "%s %zu, near (%g, %g, %g), %s; mend the mesh", what, k, p[0], p[1],
                  p[2], why);
}

static FloStatus check_triangles(const FloSoft *soft, const uint32_t *triangles, size_t n, FloError *error) {
  FLO_TRY(check_corners(soft, triangles, n, 3, "triangle", error));
  for (size_t k = 0; k < n; ++k) {
    FloFlat flat;
    flo_flatten(soft->x, triangles + 3 * k, (double[]){1, 1}, &flat);
    if (!(flat.area > 0) || !isfinite(1 / flat.area))
      return refuse_element(soft, "triangle", k, triangles[3 * k], "has no area", error);
  }
  return FLO_OK;
}

FloStatus flo_soft_add_cloth(FloSoft *soft, const uint32_t *triangles, size_t n_triangles,
                             const FloClothDef *cloth, FloError *error) {
  FLO_ASSERT(soft->dim == 3);
  FloSheet sheet;
  FLO_TRY(flo_sheet_read(cloth, &sheet, error));
  FLO_TRY(check_triangles(soft, triangles, n_triangles, error));
  FLO_TRY(flo_soft_add_membrane(soft, triangles, n_triangles, &sheet, error));
  return flo_soft_add_bending(soft, triangles, n_triangles, &sheet, error);
}

static FloStatus check_segments(const FloSoft *soft, const uint32_t *segments, size_t n, FloError *error) {
  FLO_TRY(check_corners(soft, segments, n, 2, "segment", error));
  for (size_t k = 0; k < n; ++k) {
    double way[3];
    vec_sub(soft->x + 3 * (size_t)segments[2 * k + 1], soft->x + 3 * (size_t)segments[2 * k], way);
    if (!(vec_length(way) > 0))
      return refuse_element(soft, "segment", k, segments[2 * k], "has no length", error);
  }
  return FLO_OK;
}

FloStatus flo_soft_add_strand(FloSoft *soft, const uint32_t *segments, size_t n_segments,
                              const FloClothDef *cloth, FloError *error) {
  FLO_ASSERT(soft->dim == 2);
  FloSheet sheet;
  FLO_TRY(flo_sheet_read(cloth, &sheet, error));
  FLO_TRY(check_segments(soft, segments, n_segments, error));
  FLO_TRY(flo_soft_add_segments(soft, segments, n_segments, &sheet, error));
  return flo_soft_add_knees(soft, segments, n_segments, &sheet, error);
}

static FloStatus check_elastic(double density, const FloElasticDef *elastic, FloError *error) {
  if (!(density > 0 && isfinite(density)))
    return flo_fail(error, FLO_BAD_INPUT, "elastic solid: density is %g; it must be above 0", density);
  if (!(elastic->young > 0 && isfinite(elastic->young)))
    return flo_fail(error, FLO_BAD_INPUT, "elastic solid: young is %g; it must be above 0", elastic->young);
  if (!(elastic->poisson >= 0 && elastic->poisson <= 0.49))
    return flo_fail(error, FLO_BAD_INPUT, "elastic solid: poisson is %g; it must be between 0 and 0.49",
                    elastic->poisson);
  if (!(elastic->damping >= 0 && isfinite(elastic->damping)))
    return flo_fail(error, FLO_BAD_INPUT, "elastic solid: damping is %g; it must be at least 0",
                    elastic->damping);
  return FLO_OK;
}

FloStatus flo_soft_add_solid(FloSoft *soft, const uint32_t *elements, size_t n_elements, double density,
                             const FloElasticDef *elastic, FloError *error) {
  size_t corners = (size_t)soft->dim + 1;
  const char *what = soft->dim == 2 ? "triangle" : "tetrahedron";
  FLO_TRY(check_elastic(density, elastic, error));
  FLO_TRY(check_corners(soft, elements, n_elements, corners, what, error));
  for (size_t k = 0; k < n_elements; ++k) {
    double volume = flo_soft_element_volume(soft, elements + corners * k);
    if (!(volume > 0) || !isfinite(1 / volume))
      return refuse_element(soft, what, k, elements[corners * k], "has no volume or is inside out", error);
    for (size_t i = 0; i < corners; ++i)
      soft->mass[elements[corners * k + i]] += density * volume / (double)corners;
  }
  return flo_soft_add_volume(soft, elements, n_elements, elastic, error);
}

FloStatus flo_soft_add_particles(FloSoft *soft, const double *volumes, double cell, double density,
                                 const FloElasticDef *elastic, FloError *error) {
  FLO_TRY(check_elastic(density, elastic, error));
  for (size_t k = 0; k < soft->n; ++k) {
    soft->mass[k] = density * volumes[k];
    if (!(soft->mass[k] > 0))
      return flo_fail(error, FLO_BAD_INPUT, "particle %zu of an elastic solid has no volume; mend the mesh",
                      k);
  }
  FLO_TRY(flo_soft_array(soft, 1, sizeof *soft->particles, &soft->particles, error));
  return flo_particles_make(soft, volumes, cell, elastic, soft->particles, error);
}

// ---- The matrix ----

static size_t count_pairs(const FloSoft *soft) {
  size_t count = 0;
  for (size_t g = 0; g < soft->groups.count; ++g) {
    const FloSoftGroup *group = flo_soft_group(soft, g);
    for (size_t k = 0; k < group->n; ++k) {
      size_t n = group->begin[k + 1] - group->begin[k];
      count += n * (n - 1) / 2;
    }
  }
  return count;
}

static size_t add_pairs(const FloSoftGroup *group, size_t k, uint32_t *pairs) {
  size_t count = 0;
  for (size_t a = group->begin[k]; a < group->begin[k + 1]; ++a)
    for (size_t b = group->begin[k]; b < a; ++b)
      pairs[2 * count] = group->vertices[a], pairs[2 * count++ + 1] = group->vertices[b];
  return count;
}

static FloStatus build_matrix(FloSoft *soft, FloError *error) {
  FloBuffer buffer = {0};
  size_t n_pairs = 0;
  FLO_TRY(flo_buffer_reserve(soft->memory, &buffer, count_pairs(soft) * 2 * sizeof(uint32_t) + 1, 0, error));
  for (size_t g = 0; g < soft->groups.count; ++g)
    for (size_t k = 0; k < flo_soft_group(soft, g)->n; ++k)
      n_pairs += add_pairs(flo_soft_group(soft, g), k, (uint32_t *)buffer.data + 2 * n_pairs);
  FloStatus status = flo_block_matrix_build(&soft->matrix, soft->n, buffer.data, n_pairs, error);
  flo_buffer_free(soft->memory, &buffer);
  return status;
}

// ---- Finishing ----

static FloStatus check_masses(const FloSoft *soft, FloError *error) {
  for (size_t i = 0; i < soft->n; ++i)
    if (!(soft->mass[i] > 0))
      return flo_fail(error, FLO_BAD_INPUT,
                      "vertex %zu of a soft body belongs to no element; remove it from the mesh", i);
  return FLO_OK;
}

// The mean distance of vertices that share an element.
static double mean_cell(const FloSoft *soft) {
  double sum = 0;
  size_t n = 0;
  for (size_t i = 0; i < soft->n; ++i)
    for (size_t k = soft->matrix.begin[i]; k < soft->matrix.begin[i + 1]; ++k, ++n) {
      double way[3];
      vec_sub(soft->x + 3 * (size_t)soft->matrix.columns[k], soft->x + 3 * i, way);
      sum += vec_length(way);
    }
  return n ? sum / (double)n : 1;
}

FloStatus flo_soft_finish(FloSoft *soft, FloError *error) {
  FLO_TRY(check_masses(soft, error));
  if (soft->particles) return FLO_OK;
  FLO_TRY(build_matrix(soft, error));
  for (size_t g = 0; g < soft->groups.count; ++g)
    FLO_TRY(flo_soft_colour_group(soft, flo_soft_group(soft, g), error));
  soft->cell = mean_cell(soft);
  FLO_TRY(flo_block_factor_create(&soft->matrix, soft->memory, &soft->factor, error));
  return flo_block_factor_keep_single(soft->factor, error);
}

// ---- State ----

size_t flo_soft_count(const FloSoft *soft) { return soft->n; }
double *flo_soft_positions(FloSoft *soft) { return soft->x; }
double *flo_soft_velocities(FloSoft *soft) { return soft->v; }
const double *flo_soft_masses(const FloSoft *soft) { return soft->mass; }
bool flo_soft_is_fixed(const FloSoft *soft, size_t vertex) { return soft->fixed[vertex]; }

void flo_soft_hold(FloSoft *soft, size_t vertex, const bool axes[3]) {
  uint8_t held = (uint8_t)(axes[0] | axes[1] << 1 | axes[2] << 2);
  soft->is_refixed = soft->is_refixed || soft->held[vertex] != held;
  soft->held[vertex] = held, soft->fixed[vertex] = held == 7;
}

void flo_soft_fix(FloSoft *soft, size_t vertex, bool is_fixed) {
  flo_soft_hold(soft, vertex, (bool[]){is_fixed, is_fixed, is_fixed});
}

void flo_soft_reaction(const FloSoft *soft, size_t vertex, double impulse[3]) {
  vec_copy(soft->reaction + 3 * vertex, impulse);
}

void flo_soft_refix(FloSoft *soft) {
  if (!soft->is_refixed) return;
  for (size_t g = 0; g < soft->groups.count; ++g) {
    const FloSoftGroup *group = flo_soft_group(soft, g);
    if (group->form->refix) group->form->refix(group, soft->fixed);
  }
  soft->is_refixed = soft->is_factored = false;
}

double flo_soft_longest_step(const FloSoft *soft) {
  return soft->particles ? flo_particles_longest_step(soft->particles) : INFINITY;
}

double flo_soft_energy(FloSoft *soft) {
  FloSoftPlace place = {soft->x, 0};
  double energy = 0;
  if (soft->particles) return flo_particles_energy(soft->particles, soft->x, 1);
  flo_soft_refix(soft);
  for (size_t g = 0; g < soft->groups.count; ++g)
    energy += flo_soft_group_energy(flo_soft_group(soft, g), &place, 1);
  return energy;
}
