// Rows of densities: of fluid particles, (21)-(24), and of wet samples.
//
//   fluid    g_i = (V0 W(0) + V0 sum_j W_ij + sum_b V_b W_ib)/r - 1,   r: this sum of settled fluid
//   samples  g_b = V0 sum_j W_bj/r + covered_b + sum V W over other solids - 1
//
// The second kind is not in the paper. With the boundary field there are no rows of samples, and the sum over
// samples in the first kind is the share of the kernel that solids cover; see near_solids.c. Such rows carry
// half of the pressure at a wall, and rows of feet carry the other half; see feet.c.
#include "coupling/constraint/constraint.h"

#include <string.h>

FloStatus flo_constraint_reserve(FloWorld *world, FloConstraint *c, FloConstraintBuffer which, size_t size,
                                 size_t keep, FloError *error) {
  FloBuffer *buffer = &c->buffers[which];
  return flo_buffer_reserve(&world->memory, buffer, size > buffer->capacity ? size + size / 2 : size, keep,
                            error);
}

// ---- Which rows there are ----

static bool is_wet(const FloWorld *world, const FloConstraint *c, FloSet set, size_t i) {
  const FloPairs *pairs = flo_pairs_of(world, set, FLO_SET_FLUID);
  return pairs->slot_count[i / FLO_BLOCK] > 0 && pairs->row_count[i] > 0 &&
         flo_wet_sample_is_wet(&c->wet_samples, world, set, i);
}

static FloStatus list_wet(FloWorld *world, FloConstraint *c, FloSet set, size_t first, size_t *n,
                          FloError *error) {
  *n = 0;
  if (world->sets[set].count == 0 || c->n_fluid == 0 || !flo_constraint_has_samples(world)) return FLO_OK;
  FLO_TRY(flo_wet_samples_prepare(&c->wet_samples, world, set, error));
  for (size_t i = 0; i < world->sets[set].count; ++i) *n += is_wet(world, c, set, i);
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_WET_SAMPLES, (first + *n) * 4, first * 4, error));
  c->wet = c->buffers[FLO_CONSTRAINT_WET_SAMPLES].data;
  for (size_t i = 0, k = first; i < world->sets[set].count; ++i)
    if (is_wet(world, c, set, i)) c->wet[k++] = (uint32_t)i;
  return FLO_OK;
}

static FloStatus look_at_surfaces(FloWorld *world, FloConstraint *c, FloError *error) {
  FLO_TRY(flo_constraint_find_near(world, c, error));
  FLO_TRY(flo_constraint_find_distances(world, c, error));
  if (!flo_constraint_has_field(world)) return FLO_OK;
  FLO_TRY(flo_constraint_find_feet(world, c, error));
  return flo_constraint_find_cover(world, c, error);
}

static FloStatus list_rows(FloWorld *world, FloConstraint *c, FloError *error) {
  c->n_feet = 0, c->n_distances = 0;
  FLO_TRY(list_wet(world, c, FLO_SET_BOUNDARY, 0, &c->n_walls, error));
  FLO_TRY(list_wet(world, c, FLO_SET_RIGID, c->n_walls, &c->n_bodies, error));
  if (!flo_constraint_has_samples(world)) FLO_TRY(look_at_surfaces(world, c, error));
  c->n_rows = flo_constraint_first_distance(c) + c->n_distances;
  return FLO_OK;
}

// ---- Links ----

// Neighbour k of row i.
typedef struct Neighbour {
  size_t j;
  float g[3];
} Neighbour;

static inline Neighbour neighbour(const FloPairs *pairs, size_t i, int32_t k) {
  const FloPairSlot *slot = pairs->slots + pairs->slot_begin[i / FLO_BLOCK] + k;
  size_t lane = i % FLO_BLOCK;
  return (Neighbour){(size_t)slot->index[lane], {slot->gx[lane], slot->gy[lane], slot->gz[lane]}};
}

static int32_t n_neighbours(const FloPairs *pairs, size_t i) {
  return i < pairs->n_rows && pairs->slot_count[i / FLO_BLOCK] > 0 ? pairs->row_count[i] : 0;
}

static inline float dot(const float a[3], const float b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void add_scaled(const float g[3], float scale, float sum[3]) {
  for (int axis = 0; axis < 3; ++axis) sum[axis] += scale * g[axis];
}

// Links of a sample to the fluid around it; `own` gets the opposite sum.
static void link_fluid(const FloWorld *world, const FloConstraint *c, FloSet set, size_t i, FloLink *links,
                       float own[3]) {
  const FloPairs *pairs = flo_pairs_of(world, set, FLO_SET_FLUID);
  const float scale = (float)(c->rest_volume / c->rest_sum);
  for (int32_t k = 0, n = n_neighbours(pairs, i); k < n; ++k) {
    const Neighbour near = neighbour(pairs, i, k);
    links[k] = (FloLink){{-scale * near.g[0], -scale * near.g[1], -scale * near.g[2]}, (uint32_t)near.j};
    add_scaled(near.g, scale, own);
  }
}

// Adds the gradient of a particle's density by the samples of a set; returns the rate by their given motion.
static float add_samples(const FloWorld *world, const FloConstraint *c, FloSet set, size_t i, float own[3]) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_FLUID, set);
  const FloParticles *b = &world->sets[set];
  float rate = 0;
  for (int32_t k = 0, n = n_neighbours(pairs, i); k < n; ++k) {
    const Neighbour near = neighbour(pairs, i, k);
    const float scale = b->volume[near.j] / (float)c->rest_sum;
    const float v[3] = {b->vx[near.j], b->vy[near.j], b->vz[near.j]};
    add_scaled(near.g, scale, own);
    rate -= scale * dot(near.g, v);
  }
  return rate;
}

// Links among a block of fluid particles and their neighbours.
static void link_block(const FloWorld *world, const FloConstraint *c, size_t block) {
  FloLink *rows[FLO_BLOCK];
  const size_t first = block * FLO_BLOCK, n = flo_min_size(FLO_BLOCK, c->n_fluid - first);
  for (size_t lane = 0; lane < n; ++lane) rows[lane] = c->links + c->link_begin[first + lane];
  flo_passes()->link_block(flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_FLUID), block,
                           (float)(c->rest_volume / c->rest_sum), rows);
}

// Adds what solids do to the particle's own link.
static void link_particle(const FloWorld *world, FloConstraint *c, size_t i) {
  FloLink *links = c->links + c->link_begin[i];
  c->wall_rate[i] = 0;
  if (flo_constraint_has_field(world)) c->wall_rate[i] = flo_constraint_add_cover(world, c, i, links[0].g);
  if (!flo_constraint_has_samples(world)) return;
  c->wall_rate[i] = add_samples(world, c, FLO_SET_BOUNDARY, i, links[0].g);
  add_samples(world, c, FLO_SET_RIGID, i, links[0].g); // their motion is not given; see touches.c
}

static FloSet set_of(const FloConstraint *c, size_t row) {
  return row < c->n_fluid + c->n_walls ? FLO_SET_BOUNDARY : FLO_SET_RIGID;
}

static void link_sample(const FloWorld *world, FloConstraint *c, size_t row) {
  const FloSet set = set_of(c, row);
  const size_t i = c->wet[row - c->n_fluid];
  const FloParticles *b = &world->sets[set];
  const float v[3] = {b->vx[i], b->vy[i], b->vz[i]};
  float own[3] = {0};
  link_fluid(world, c, set, i, c->links + c->link_begin[row], own);
  c->wall_rate[row] = set == FLO_SET_BOUNDARY ? dot(own, v) : 0;
  c->violation[row] =
      (float)(c->rest_volume / c->rest_sum) * flo_pairs_of(world, set, FLO_SET_FLUID)->kernel_sum[i] -
      flo_wet_sample_room(&c->wet_samples, world, set, i);
}

// ---- Densities ----

static void measure_density(FloWorld *world, FloConstraint *c, size_t i) {
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  const float volume = (float)c->rest_volume, self = (float)flo_kernel_w(&world->kernel, 0);
  float share = volume * (self + flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_FLUID)->kernel_sum[i]);
  if (flo_constraint_has_samples(world)) {
    share += flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_BOUNDARY)->kernel_sum[i];
    if (world->sets[FLO_SET_RIGID].count)
      share += flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID)->kernel_sum[i];
  }
  share /= (float)c->rest_sum;
  if (flo_constraint_has_field(world)) share += flo_constraint_cover_share(c, i);
  p->density[i] = share * p->mass[i] / volume;
  c->violation[i] = share - 1;
}

// ---- All rows ----

typedef struct RowWork {
  FloWorld *world;
  FloConstraint *c;
} RowWork;

static uint32_t count_links(const FloWorld *world, const FloConstraint *c, size_t row) {
  if (row < c->n_fluid)
    return 1 + (uint32_t)n_neighbours(flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_FLUID), row);
  if (row >= flo_constraint_first_distance(c)) return 1;
  if (row >= flo_constraint_first_foot(c))
    return count_links(world, c, flo_constraint_contact(c, row)->particle);
  return (uint32_t)n_neighbours(flo_pairs_of(world, set_of(c, row), FLO_SET_FLUID), c->wet[row - c->n_fluid]);
}

static void make_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const RowWork *work = context;
  FloConstraint *c = work->c;
  for (size_t row = begin; row < end; ++row) {
    if (row < c->n_fluid && row % FLO_BLOCK == 0) link_block(work->world, c, row / FLO_BLOCK);
    if (row < c->n_fluid)
      measure_density(work->world, c, row), link_particle(work->world, c, row);
    else if (row < flo_constraint_first_foot(c))
      link_sample(work->world, c, row);
    else if (row < flo_constraint_first_distance(c))
      flo_constraint_link_foot(work->world, c, row);
    else
      flo_constraint_link_distance(work->world, c, row);
    flo_links_pad(c->links + c->link_begin[row], count_links(work->world, c, row));
  }
}

// Links lie in memory in the order in which the sweeps read them.
static FloStatus place_links(FloWorld *world, FloConstraint *c, FloError *error) {
  size_t n = 0;
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_LINK_BEGIN, c->n_rows * 4 + 4, 0, error));
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_LINK_COUNT, c->n_rows * 4 + 4, 0, error));
  FLO_TRY(
      flo_constraint_reserve(world, c, FLO_CONSTRAINT_HEADS, (c->n_rows + 1) * sizeof(FloRowHead), 0, error));
  c->link_begin = c->buffers[FLO_CONSTRAINT_LINK_BEGIN].data;
  c->heads = c->buffers[FLO_CONSTRAINT_HEADS].data;
  c->link_count = c->buffers[FLO_CONSTRAINT_LINK_COUNT].data;
  for (size_t k = 0; k < c->n_rows; ++k) {
    const size_t row = c->order[k];
    c->link_begin[row] = (uint32_t)n, c->link_count[row] = flo_links_padded(count_links(world, c, row));
    n += c->link_count[row];
  }
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_LINKS, n * sizeof(FloLink), 0, error));
  c->links = c->buffers[FLO_CONSTRAINT_LINKS].data;
  return FLO_OK;
}

FloStatus flo_constraint_make_rows(FloWorld *world, FloConstraint *c, FloError *error) {
  static const FloArrayDef array_defs[] = {FLO_CONSTRAINT_ARRAYS(FLO_ARRAY_DEF)};
  RowWork work = {world, c};
  FLO_TRY(list_rows(world, c, error));
  const FloArraySizes sizes = {world->sets, c->n_rows};
  FLO_TRY(flo_arrays_reserve(array_defs, FLO_COUNT_OF(array_defs), &sizes, &world->memory, c->array_buffers,
                             c->arrays, error));
  FLO_TRY(flo_constraint_colour(world, c, error));
  FLO_TRY(place_links(world, c, error));
  flo_parallel_for(world->threads, c->n_rows, 128 * FLO_BLOCK, make_range, &work);
  return flo_constraint_find_touches(world, c, error);
}

// ---- What rows want ----

static double touch_rate(const FloConstraint *c, size_t position, const double *motion) {
  double rate = 0;
  if (position < c->n_coloured) return 0;
  for (uint32_t t = c->touch_begin[position - c->n_coloured];
       t < c->touch_begin[position - c->n_coloured + 1]; ++t)
    for (int k = 0; k < 6; ++k) rate += c->touches[t].j[k] * motion[6 * c->touches[t].node + (size_t)k];
  return rate;
}

static double touch_response(const FloConstraint *c, size_t position) {
  double response = 0;
  if (position < c->n_coloured) return 0;
  for (uint32_t t = c->touch_begin[position - c->n_coloured];
       t < c->touch_begin[position - c->n_coloured + 1]; ++t)
    for (int k = 0; k < 6; ++k) response += c->touches[t].j[k] * c->touches[t].reply[k];
  return response;
}

// (15) where something is compressed. An open gap may close within the step, and no further.
static double wanted(const FloWorld *world, const FloConstraint *c, size_t row, double rate) {
  const double g = (double)c->violation[row];
  const bool is_density = row < c->n_fluid, is_distance = row >= flo_constraint_first_distance(c);
  const bool is_equality = is_density && world->params[FLO_CONSTRAINT_BILATERAL] != 0;
  if (g < 0 && !is_equality) return -g / c->dt;
  return c->xi * (-4 * g / c->dt + (is_distance ? fmax(rate, 0) : rate));
}

// Sigma = 4 epsilon xi/dt^2, (20) corrected. epsilon = 1/(m c^2) for fluid with the speed of sound c. If it
// is not given, the highest pressure compresses fluid by this share.
#define YIELD 1e-4

static double softness(const FloWorld *world, const FloConstraint *c, size_t row) {
  const double mass = (double)world->sets[FLO_SET_FLUID].mass[c->links[c->link_begin[row]].particle];
  double epsilon = world->params[FLO_CONSTRAINT_EPSILON];
  if (row >= flo_constraint_first_distance(c)) return 0;
  if (epsilon == 0) epsilon = c->expected.peak > 0 ? YIELD / (mass * c->expected.peak) : 0;
  return 4 * epsilon * c->xi / (c->dt * c->dt);
}

static double link_response(const FloConstraint *c, size_t row) {
  return (double)flo_passes()->links_response(c->links + c->link_begin[row], c->link_count[row], c->velocity);
}

static void want_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const RowWork *work = context;
  FloConstraint *c = work->c;
  for (size_t position = begin; position < end; ++position) {
    const size_t row = c->order[position];
    const double rate = (double)flo_constraint_rate(c, c->before, row) + (double)c->wall_rate[row] +
                        touch_rate(c, position, c->bodies.motion_before);
    const double response = link_response(c, row) + touch_response(c, position);
    c->softness[row] = (float)softness(work->world, c, row);
    c->response[row] = response > 0 ? (float)response + c->softness[row] : 0;
    c->wanted[row] = (float)(wanted(work->world, c, row, rate) - (double)c->wall_rate[row]);
    c->heads[position] = (FloRowHead){.first_link = c->link_begin[row],
                                      .n_links = c->link_count[row],
                                      .wanted = c->wanted[row],
                                      .softness = c->softness[row],
                                      .inverse = response > 0 ? 1 / c->response[row] : 0};
  }
}

void flo_constraint_want(const FloWorld *world, FloConstraint *c) {
  RowWork work = {(FloWorld *)world, c};
  flo_parallel_for(world->threads, c->n_rows, 1024, want_range, &work);
}
