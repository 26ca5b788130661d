// Each brick collects the particles around it and sums them node by node, row by row. No two threads write to
// the same place, and every sum has the order of the particles.
#include "surface/field.h"

#include "base/parallel.h"
#include "base/vecmath.h"

#include <string.h>

// In spacings. Narrower kernels leave every particle visible as a bump; wider ones blur details.
static const double kernel_radius = 2;

// Sums at the nodes of a brick, lengths in kernel radii.
typedef struct Sums {
  float weight[FLO_BRICK_NODES];
  float x[FLO_BRICK_NODES], y[FLO_BRICK_NODES], z[FLO_BRICK_NODES]; // sums of weight times offset
  float nearest[FLO_BRICK_NODES];                                   // least squared distance of a particle
} Sums;

double flo_level_set_influence(const FloSurfaceDef *def) {
  if (def->kernel == FLO_SURFACE_ANISOTROPIC) return flo_kernel_shape_influence(def);
  return fmax(kernel_radius * def->spacing, 2 * def->radius);
}

// ---- Distance to the mean (eq. 34) ----

static void add_row(Sums *sums, size_t row, float x, float y, float z, float step) {
  const float square = y * y + z * z;
  for (size_t i = 0; i < FLO_BRICK; ++i) {
    float dx = x - (float)i * step, distance = dx * dx + square;
    float near = 1 - distance;
    near = near > 0 ? near : 0;
    float w = near * near * near;
    sums->weight[row + i] += w;
    sums->x[row + i] += w * dx;
    sums->y[row + i] += w * y;
    sums->z[row + i] += w * z;
    sums->nearest[row + i] = distance < sums->nearest[row + i] ? distance : sums->nearest[row + i];
  }
}

// First and last of eight nodes, `step` apart, that are nearer than `reach` to x.
static void node_span(float x, float reach, float step, int *first, int *last) {
  float low = ceilf((x - reach) / step), high = floorf((x + reach) / step);
  *first = low < 0 ? 0 : low > FLO_BRICK ? FLO_BRICK : (int)low;
  *last = high > FLO_BRICK - 1 ? FLO_BRICK - 1 : high < -1 ? -1 : (int)high;
}

static void add_particle(Sums *sums, float x, float y, float z, float step) {
  int first_y, last_y, first_z, last_z;
  node_span(y, 1, step, &first_y, &last_y);
  node_span(z, 1, step, &first_z, &last_z);
  for (int k = first_z; k <= last_z; ++k)
    for (int j = first_y; j <= last_y; ++j) {
      float dy = y - (float)j * step, dz = z - (float)k * step;
      if (dy * dy + dz * dz < 1) add_row(sums, (size_t)(k * FLO_BRICK + j) * FLO_BRICK, x, dy, dz, step);
    }
}

// Between two drops the mean of their particles lies in the air, where eq. 34 would find fluid. The distance
// of the surface from particles is therefore limited to a little more than sqrt(3)/2 spacings, its distance
// on a lattice.
static double farthest_surface(const FloSurfaceDef *def) { return fmax(def->spacing, 1.8 * def->radius); }

double flo_level_set_reach(const FloSurfaceDef *def) {
  return def->kernel == FLO_SURFACE_ANISOTROPIC ? flo_kernel_shape_influence(def) : farthest_surface(def);
}

static void finish_mean(const FloSurfaceDef *def, const Sums *sums, float *values) {
  const double influence = flo_level_set_influence(def);
  const float scale = (float)(influence / def->cell), radius = (float)(def->radius / def->cell),
              farthest = (float)(farthest_surface(def) / def->cell);
  for (size_t k = 0; k < FLO_BRICK_NODES; ++k) {
    float w = sums->weight[k], offset = scale, beyond = scale;
    if (w > 1e-20f) {
      float x = sums->x[k] / w, y = sums->y[k] / w, z = sums->z[k] / w;
      offset = scale * sqrtf(x * x + y * y + z * z) - radius;
      beyond = scale * sqrtf(sums->nearest[k]) - farthest;
    }
    values[k] = offset > beyond ? offset : beyond;
  }
}

static void evaluate_mean(const FloLevelSet *set, const FloNearby *nearby, float *values) {
  Sums sums;
  memset(&sums, 0, sizeof sums);
  for (size_t k = 0; k < FLO_BRICK_NODES; ++k) sums.nearest[k] = 1;
  const double influence = flo_level_set_influence(set->def);
  const float shrink = (float)(1 / influence), step = (float)(set->bricks->cell / influence);
  for (size_t k = 0; k < nearby->count; ++k)
    add_particle(&sums, nearby->x[k] * shrink, nearby->y[k] * shrink, nearby->z[k] * shrink, step);
  finish_mean(set->def, &sums, values);
}

// ---- Sum of anisotropic kernels ----

static void add_shape_row(float *sum, const FloKernelShape *shape, float x, float y, float z, float step) {
  const float *g = shape->matrix;
  const float u0 = g[3] * y + g[5] * z, v0 = g[1] * y + g[4] * z, w0 = g[4] * y + g[2] * z;
  for (size_t i = 0; i < FLO_BRICK; ++i) {
    float dx = x - (float)i * step;
    float u = g[0] * dx + u0, v = g[3] * dx + v0, w = g[5] * dx + w0;
    float near = 1 - (u * u + v * v + w * w);
    near = near > 0 ? near : 0;
    sum[i] += shape->weight * near * near * near;
  }
}

static void add_shape(float *sums, const FloKernelShape *shape, const float centre[3], float step) {
  int first_y, last_y, first_z, last_z;
  node_span(centre[1], shape->reach, step, &first_y, &last_y);
  node_span(centre[2], shape->reach, step, &first_z, &last_z);
  for (int k = first_z; k <= last_z; ++k)
    for (int j = first_y; j <= last_y; ++j)
      add_shape_row(sums + (k * FLO_BRICK + j) * FLO_BRICK, shape, centre[0], centre[1] - (float)j * step,
                    centre[2] - (float)k * step, step);
}

static void evaluate_shapes(const FloLevelSet *set, const FloNearby *nearby, float *values) {
  const float step = (float)set->bricks->cell, level = (float)flo_kernel_shape_level();
  memset(values, 0, FLO_BRICK_NODES * sizeof *values);
  for (size_t k = 0; k < nearby->count; ++k) {
    const FloKernelShape *shape = &set->shapes[nearby->index[k]];
    const float centre[3] = {nearby->x[k] + shape->shift[0], nearby->y[k] + shape->shift[1],
                             nearby->z[k] + shape->shift[2]};
    add_shape(values, shape, centre, step);
  }
  // Across a flat surface the sum of kernels (1 - q^2)^3 is like (1 - q^2)^4. Its fourth root is nearly
  // linear between two nodes, so that linear interpolation finds the crossing.
  const float scale = (float)(set->def->spacing / set->def->cell);
  for (size_t k = 0; k < FLO_BRICK_NODES; ++k) values[k] = scale * (1 - sqrtf(sqrtf(values[k] / level)));
}

// ---- Bricks ----

// Takes the larger of the two fields at each node, which is the field of their intersection.
static void clip_brick(const FloSurfaceDef *def, const double corner[3], float *values) {
  if (!def->has_box && !def->region) return;
  for (size_t k = 0; k < FLO_BRICK_NODES; ++k) {
    const double at[3] = {(double)(k % FLO_BRICK), (double)(k / FLO_BRICK % FLO_BRICK),
                          (double)(k / FLO_BRICK / FLO_BRICK)};
    double point[3];
    vec_add_scaled(corner, at, def->cell, point);
    if (values[k] < 2) values[k] = fmaxf(values[k], (float)(flo_surface_clip(def, point) / def->cell));
  }
}

typedef struct Round {
  FloLevelSet *set;
  const uint32_t *wanted;
} Round;

static void evaluate_range(void *context, size_t begin, size_t end, int thread) {
  const Round *round = context;
  const FloLevelSet *set = round->set;
  const FloBricks *bricks = set->bricks;
  FloNearby *nearby = &bricks->nearby[thread];
  const double width = (FLO_BRICK - 1) * bricks->cell;
  for (size_t k = begin; k < end; ++k) {
    size_t brick = round->wanted[k];
    long place[3];
    double low[3], high[3];
    flo_bricks_unpack(bricks, bricks->keys[brick], place);
    flo_bricks_corner(bricks, place, low);
    vec_add(low, (const double[3]){width, width, width}, high);
    flo_bricks_gather(bricks, place, low, high, bricks->influence, low, nearby);
    float *values = flo_bricks_values(bricks, brick);
    (set->shapes ? evaluate_shapes : evaluate_mean)(set, nearby, values);
    clip_brick(set->def, low, values);
  }
}

// ---- Kernel shapes ----

static void want_shapes(FloLevelSet *set, const uint32_t *wanted, size_t n_wanted) {
  const FloBricks *bricks = set->bricks;
  long ring = bricks->ring;
  for (size_t w = 0; w < n_wanted; ++w) {
    long place[3];
    flo_bricks_unpack(bricks, bricks->keys[wanted[w]], place);
    for (long k = -ring; k <= ring; ++k)
      for (long j = -ring; j <= ring; ++j)
        for (long i = -ring; i <= ring; ++i) {
          long near = flo_bricks_find_occupied(bricks, (long[3]){place[0] + i, place[1] + j, place[2] + k});
          if (near != FLO_NO_BRICK && !set->has_shapes[near]) set->has_shapes[near] = 1;
        }
  }
}

static void shape_range(void *context, size_t begin, size_t end, int thread) {
  FloLevelSet *set = context;
  for (size_t k = begin; k < end; ++k)
    if (set->has_shapes[k] == 1) {
      flo_kernel_shapes_find(set, k, &set->bricks->nearby[thread]);
      set->has_shapes[k] = 2;
    }
}

static void find_shapes(FloLevelSet *set, const uint32_t *wanted, size_t n_wanted) {
  if (!set->shapes) return;
  want_shapes(set, wanted, n_wanted);
  flo_parallel_for(set->bricks->threads, set->bricks->n_occupied, 4, shape_range, set);
}

// ---- Rounds ----

// Gives the wanted bricks a place for their values.
static FloStatus assign_slots(FloLevelSet *set, size_t *n_wanted, FloError *error) {
  FloBricks *bricks = set->bricks;
  size_t n = 0, before = bricks->n_slots;
  for (size_t k = 0; k < bricks->n_bricks; ++k) n += bricks->states[k] == FLO_BRICK_WANTED;
  const size_t each = sizeof(float[FLO_BRICK_NODES]);
  FLO_TRY(flo_bricks_check_memory(bricks, (before + n) * each, error));
  FLO_TRY(flo_buffer_reserve(bricks->memory, &bricks->values, (before + n) * each, before * each, error));
  FLO_TRY(flo_buffer_reserve(bricks->memory, &set->wanted, n * sizeof(uint32_t), 0, error));
  *n_wanted = 0;
  for (size_t k = 0; k < bricks->n_bricks; ++k)
    if (bricks->states[k] == FLO_BRICK_WANTED) {
      ((uint32_t *)set->wanted.data)[(*n_wanted)++] = (uint32_t)k;
      bricks->slots[k] = (uint32_t)bricks->n_slots++;
      bricks->states[k] = FLO_BRICK_EVALUATED;
    }
  return FLO_OK;
}

// The nodes of a brick at its side towards a neighbour: [first, last] along an axis.
static void side_span(long step, size_t *first, size_t *last) {
  *first = step > 0 ? FLO_BRICK - 1 : 0;
  *last = step < 0 ? 0 : FLO_BRICK - 1;
}

static bool has_outer_node(const float *values, const long step[3]) {
  size_t first[3], last[3];
  for (int axis = 0; axis < 3; ++axis) side_span(step[axis], &first[axis], &last[axis]);
  for (size_t k = first[2]; k <= last[2]; ++k)
    for (size_t j = first[1]; j <= last[1]; ++j)
      for (size_t i = first[0]; i <= last[0]; ++i)
        if (values[(k * FLO_BRICK + j) * FLO_BRICK + i] >= 0) return true;
  return false;
}

// Wants neighbours that were considered deep inside although there is air beside them.
static bool want_neighbours(FloBricks *bricks, size_t brick) {
  bool is_any = false;
  long place[3];
  flo_bricks_unpack(bricks, bricks->keys[brick], place);
  for (int d = 0; d < 27; ++d) {
    const long step[3] = {d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1};
    long beside =
        flo_bricks_find(bricks, (long[3]){place[0] + step[0], place[1] + step[1], place[2] + step[2]});
    if (beside == FLO_NO_BRICK || bricks->states[beside] != FLO_BRICK_INSIDE) continue;
    if (!has_outer_node(flo_bricks_values(bricks, brick), step)) continue;
    bricks->states[beside] = FLO_BRICK_WANTED;
    is_any = true;
  }
  return is_any;
}

static bool want_more(FloLevelSet *set, size_t n_wanted) {
  bool is_any = false;
  for (size_t k = 0; k < n_wanted; ++k)
    is_any = want_neighbours(set->bricks, ((const uint32_t *)set->wanted.data)[k]) || is_any;
  return is_any;
}

FloStatus flo_level_set_evaluate(FloLevelSet *set, FloError *error) {
  size_t n_wanted;
  do {
    FLO_TRY(assign_slots(set, &n_wanted, error));
    find_shapes(set, set->wanted.data, n_wanted);
    Round round = {set, set->wanted.data};
    flo_parallel_for(set->bricks->threads, n_wanted, 4, evaluate_range, &round);
  } while (want_more(set, n_wanted));
  return FLO_OK;
}

FloStatus flo_level_set_init(FloLevelSet *set, FloBricks *bricks, const FloSurfaceDef *def, FloError *error) {
  *set = (FloLevelSet){.bricks = bricks, .def = def};
  if (def->kernel != FLO_SURFACE_ANISOTROPIC) return FLO_OK;
  FLO_TRY(
      flo_buffer_reserve(bricks->memory, &set->shape_buffer, bricks->count * sizeof *set->shapes, 0, error));
  FLO_TRY(flo_buffer_reserve(bricks->memory, &set->flag_buffer, bricks->n_occupied, 0, error));
  set->shapes = set->shape_buffer.data;
  set->has_shapes = set->flag_buffer.data;
  memset(set->has_shapes, 0, bricks->n_occupied);
  return FLO_OK;
}

void flo_level_set_free(FloLevelSet *set) {
  flo_buffer_free(set->bricks->memory, &set->shape_buffer);
  flo_buffer_free(set->bricks->memory, &set->flag_buffer);
  flo_buffer_free(set->bricks->memory, &set->wanted);
}
