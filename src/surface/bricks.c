#include "surface/bricks.h"

#include "base/parallel.h"
#include "base/vecmath.h"
#include "sph/radix.h"

#include <string.h>

enum { MAX_BITS = 20, MARGIN = 4 };

void flo_bricks_free(FloBricks *bricks) {
  FloBuffer *all[] = {&bricks->values, &bricks->sorted,  &bricks->velocity_buffer, &bricks->occupied,
                      &bricks->listed, &bricks->scratch, &bricks->nearby_buffer};
  for (size_t k = 0; k < FLO_COUNT_OF(all); ++k) flo_buffer_free(bricks->memory, all[k]);
}

// ---- Keys ----

static uint64_t pack(const FloBricks *bricks, const long place[3]) {
  return ((uint64_t)place[2] << bricks->bits[1] | (uint64_t)place[1]) << bricks->bits[0] | (uint64_t)place[0];
}

void flo_bricks_unpack(const FloBricks *bricks, uint64_t key, long place[3]) {
  place[0] = (long)(key & ((1ULL << bricks->bits[0]) - 1));
  key >>= bricks->bits[0];
  place[1] = (long)(key & ((1ULL << bricks->bits[1]) - 1));
  place[2] = (long)(key >> bricks->bits[1]);
}

static long find_key(const uint64_t *keys, size_t n, uint64_t key) {
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (keys[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low < n && keys[low] == key ? (long)low : FLO_NO_BRICK;
}

static bool is_on_lattice(const FloBricks *bricks, const long place[3]) {
  for (int axis = 0; axis < 3; ++axis)
    if (place[axis] < 0 || place[axis] >= 1L << bricks->bits[axis]) return false;
  return true;
}

long flo_bricks_find(const FloBricks *bricks, const long place[3]) {
  if (!is_on_lattice(bricks, place)) return FLO_NO_BRICK;
  return find_key(bricks->keys, bricks->n_bricks, pack(bricks, place));
}

long flo_bricks_find_occupied(const FloBricks *bricks, const long place[3]) {
  if (!is_on_lattice(bricks, place)) return FLO_NO_BRICK;
  return find_key(bricks->occupied_keys, bricks->n_occupied, pack(bricks, place));
}

void flo_bricks_corner(const FloBricks *bricks, const long place[3], double corner[3]) {
  for (int axis = 0; axis < 3; ++axis)
    corner[axis] = bricks->origin[axis] + (double)(place[axis] * FLO_BRICK) * bricks->cell;
}

static void place_of(const FloBricks *bricks, const double point[3], long place[3]) {
  for (int axis = 0; axis < 3; ++axis)
    place[axis] = (long)floor((point[axis] - bricks->origin[axis]) / (FLO_BRICK * bricks->cell));
}

// ---- The lattice ----

static bool is_kept(const FloSurfaceInput *input, size_t k) { return !input->keep || input->keep[k]; }

static void bound(const FloSurfaceInput *input, double low[3], double high[3]) {
  vec_set(low, INFINITY, INFINITY, INFINITY);
  vec_set(high, -INFINITY, -INFINITY, -INFINITY);
  for (size_t k = 0; k < input->count; ++k)
    for (int axis = 0; is_kept(input, k) && axis < 3; ++axis) {
      low[axis] = fmin(low[axis], input->positions[3 * k + (size_t)axis]);
      high[axis] = fmax(high[axis], input->positions[3 * k + (size_t)axis]);
    }
}

// Nodes stand at multiples of the cell, wherever the particles are: a body of water that drifts on does not
// flicker because its lattice moves along.
static FloStatus lay_lattice(FloBricks *bricks, const double low[3], const double high[3], FloError *error) {
  const double brick = FLO_BRICK * bricks->cell;
  for (int axis = 0; axis < 3; ++axis) {
    bricks->origin[axis] = (floor(low[axis] / brick) - MARGIN - bricks->ring) * brick;
    double n = ceil((high[axis] - bricks->origin[axis]) / brick) + MARGIN + bricks->ring;
    if (!(n < 1 << MAX_BITS))
      return flo_fail(error, FLO_BAD_INPUT,
                      "surface: the particles reach from %g to %g m along %c, more than %.3g m, which is all "
                      "that cells of %g m can span; take larger cells or leave out what has flown away",
                      low[axis], high[axis], "xyz"[axis], (double)(1 << MAX_BITS) * brick, bricks -> cell);
    for (bricks->bits[axis] = 1; n > (double)(1L << bricks->bits[axis]);) ++bricks->bits[axis];
  }
  return FLO_OK;
}

// ---- Sorting ----

typedef struct Sorting {
  FloBricks *bricks;
  const FloSurfaceInput *input;
  uint64_t *keys;
  uint32_t *order;
} Sorting;

static void key_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Sorting *sorting = context;
  for (size_t k = begin; k < end; ++k) {
    long place[3];
    place_of(sorting->bricks, sorting->input->positions + 3 * (size_t)sorting->order[k], place);
    sorting->keys[k] = pack(sorting->bricks, place);
  }
}

static void copy_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Sorting *sorting = context;
  FloBricks *bricks = sorting->bricks;
  for (size_t k = begin; k < end; ++k) {
    size_t from = sorting->order[k];
    memcpy(bricks->positions + 3 * k, sorting->input->positions + 3 * from, sizeof(double[3]));
    if (bricks->velocities)
      memcpy(bricks->velocities + 3 * k, sorting->input->velocities + 3 * from, sizeof(float[3]));
  }
}

static FloStatus reserve_sorted(FloBricks *bricks, const FloSurfaceInput *input, FloError *error) {
  FloMemory *memory = bricks->memory;
  FLO_TRY(flo_buffer_reserve(memory, &bricks->sorted, bricks->count * sizeof(double[3]), 0, error));
  bricks->positions = bricks->sorted.data;
  if (!input->velocities) return FLO_OK;
  FLO_TRY(flo_buffer_reserve(memory, &bricks->velocity_buffer, bricks->count * sizeof(float[3]), 0, error));
  bricks->velocities = bricks->velocity_buffer.data;
  return FLO_OK;
}

static int key_bits(const FloBricks *bricks) { return bricks->bits[0] + bricks->bits[1] + bricks->bits[2]; }

// The sorted keys stay in the scratch buffer.
static FloStatus sort_particles(FloBricks *bricks, const FloSurfaceInput *input, FloError *error) {
  size_t n = bricks->count, n_order = (n + 1) / 2 * 2;
  FLO_TRY(reserve_sorted(bricks, input, error));
  FLO_TRY(flo_buffer_reserve(bricks->memory, &bricks->scratch, 8 * n + 4 * n_order + flo_radix_scratch(n), 0,
                             error));
  Sorting sorting = {.bricks = bricks, .input = input, .keys = bricks->scratch.data};
  sorting.order = (uint32_t *)(sorting.keys + n);
  for (size_t k = 0, next = 0; k < input->count; ++k)
    if (is_kept(input, k)) sorting.order[next++] = (uint32_t)k;
  size_t grain = flo_parallel_grain(n);
  flo_parallel_for(bricks->threads, n, grain, key_range, &sorting);
  flo_radix_sort(sorting.keys, sorting.order, n, key_bits(bricks), sorting.order + n_order, bricks->threads);
  flo_parallel_for(bricks->threads, n, grain, copy_range, &sorting);
  bricks->order = sorting.order;
  return FLO_OK;
}

static void count_octants(FloBricks *bricks, size_t brick) {
  long place[3];
  double corner[3];
  flo_bricks_unpack(bricks, bricks->occupied_keys[brick], place);
  flo_bricks_corner(bricks, place, corner);
  memset(bricks->octants[brick], 0, sizeof bricks->octants[brick]);
  for (size_t k = bricks->first[brick]; k < bricks->first[brick + 1]; ++k) {
    unsigned octant = 0;
    for (unsigned axis = 0; axis < 3; ++axis)
      if (bricks->positions[3 * k + axis] - corner[axis] >= FLO_BRICK / 2 * bricks->cell)
        octant |= 1U << axis;
    ++bricks->octants[brick][octant];
  }
}

static FloStatus find_occupied(FloBricks *bricks, FloError *error) {
  const uint64_t *keys = bricks->scratch.data;
  size_t n = 0;
  for (size_t k = 0; k < bricks->count; ++k) n += k == 0 || keys[k] != keys[k - 1];
  FLO_TRY(flo_buffer_reserve(bricks->memory, &bricks->occupied, n * (8 + sizeof *bricks->octants + 4) + 4, 0,
                             error));
  bricks->n_occupied = n;
  bricks->occupied_keys = bricks->occupied.data;
  bricks->octants = (uint32_t(*)[8])(bricks->occupied_keys + n);
  bricks->first = (uint32_t *)(bricks->octants + n);
  size_t next = 0;
  for (size_t k = 0; k < bricks->count; ++k)
    if (k == 0 || keys[k] != keys[k - 1]) {
      bricks->occupied_keys[next] = keys[k];
      bricks->first[next++] = (uint32_t)k;
    }
  bricks->first[n] = (uint32_t)bricks->count;
  for (size_t k = 0; k < n; ++k) count_octants(bricks, k);
  return FLO_OK;
}

FloStatus flo_bricks_init(FloBricks *bricks, const FloSurfaceDef *def, double influence,
                          const FloSurfaceInput *input, FloMemory *memory, FloError *error) {
  *bricks = (FloBricks){.memory = memory,
                        .threads = def->threads > 0 ? def->threads : flo_parallel_default_threads(),
                        .cell = def->cell,
                        .influence = influence};
  bricks->ring = (int)ceil((influence + 1.5 * def->cell) / (FLO_BRICK * def->cell));
  for (size_t k = 0; k < input->count; ++k) bricks->count += is_kept(input, k);
  if (bricks->count == 0) return FLO_OK;
  double low[3], high[3];
  bound(input, low, high);
  FLO_TRY(lay_lattice(bricks, low, high, error));
  FLO_TRY(sort_particles(bricks, input, error));
  return find_occupied(bricks, error);
}

// ---- Which bricks ----

static size_t ring_volume(const FloBricks *bricks) {
  size_t width = 2 * (size_t)bricks->ring + 1;
  return width * width * width;
}

// The k-th place around another one.
static void ring_place(const FloBricks *bricks, const long centre[3], size_t k, long place[3]) {
  size_t width = 2 * (size_t)bricks->ring + 1;
  const size_t parts[3] = {k % width, k / width % width, k / width / width};
  for (int axis = 0; axis < 3; ++axis) place[axis] = centre[axis] + (long)parts[axis] - bricks->ring;
}

// Keys of all bricks around those with particles, sorted, without doubles.
static FloStatus list_keys(FloBricks *bricks, FloError *error) {
  size_t volume = ring_volume(bricks), n = bricks->n_occupied * volume, n_values = (n + 1) / 2 * 2;
  FLO_TRY(flo_buffer_reserve(bricks->memory, &bricks->scratch, 8 * n + 4 * n_values + flo_radix_scratch(n), 0,
                             error));
  uint64_t *keys = bricks->scratch.data;
  uint32_t *values = (uint32_t *)(keys + n);
  memset(values, 0, 4 * n_values);
  for (size_t brick = 0; brick < bricks->n_occupied; ++brick) {
    long centre[3], place[3];
    flo_bricks_unpack(bricks, bricks->occupied_keys[brick], centre);
    for (size_t k = 0; k < volume; ++k) {
      ring_place(bricks, centre, k, place);
      keys[brick * volume + k] = pack(bricks, place);
    }
  }
  flo_radix_sort(keys, values, n, key_bits(bricks), values + n_values, bricks->threads);
  size_t n_listed = 0;
  for (size_t k = 0; k < n; ++k)
    if (k == 0 || keys[k] != keys[k - 1]) keys[n_listed++] = keys[k];
  bricks->n_bricks = n_listed;
  return FLO_OK;
}

static FloStatus take_keys(FloBricks *bricks, FloError *error) {
  size_t n = bricks->n_bricks;
  FLO_TRY(flo_buffer_reserve(bricks->memory, &bricks->listed, n * (8 + 4 + 1), 0, error));
  bricks->keys = bricks->listed.data;
  bricks->slots = (uint32_t *)(bricks->keys + n);
  bricks->states = (uint8_t *)(bricks->slots + n);
  memcpy(bricks->keys, bricks->scratch.data, 8 * n);
  bricks->order = NULL;
  flo_buffer_free(bricks->memory, &bricks->scratch);
  return FLO_OK;
}

// How many particles are in an eighth of a brick, by its coordinates in eighths.
static uint32_t octant_count(const FloBricks *bricks, const long eighth[3]) {
  long place[3] = {eighth[0] >> 1, eighth[1] >> 1, eighth[2] >> 1};
  long brick = flo_bricks_find_occupied(bricks, place);
  if (brick == FLO_NO_BRICK) return 0;
  return bricks->octants[brick][(eighth[0] & 1) | (eighth[1] & 1) << 1 | (eighth[2] & 1) << 2];
}

static uint32_t brick_count(const FloBricks *bricks, const long place[3]) {
  long brick = flo_bricks_find_occupied(bricks, place);
  return brick == FLO_NO_BRICK ? 0 : bricks->first[brick + 1] - bricks->first[brick];
}

// Whether every part around and in a brick holds at least half of the particles it has room for. Small parts
// vary too much to tell, so that these are eighths of bricks or whole ones.
typedef struct Fullness {
  bool is_by_octant;
  double least; // particles of a part
} Fullness;

static Fullness make_fullness(const FloBricks *bricks, const FloSurfaceDef *def) {
  double eighth = FLO_BRICK / 2 * bricks->cell / def->spacing;
  bool is_by_octant = eighth >= 1.5;
  double part = is_by_octant ? eighth : 2 * eighth;
  return (Fullness){is_by_octant, fmax(0.5 * part * part * part, 1)};
}

static bool is_deep_inside(const FloBricks *bricks, const Fullness *fullness, const long place[3]) {
  const long scale = fullness->is_by_octant ? 2 : 1, begin = -1, end = scale + 1;
  for (long k = begin; k < end; ++k)
    for (long j = begin; j < end; ++j)
      for (long i = begin; i < end; ++i) {
        const long part[3] = {scale * place[0] + i, scale * place[1] + j, scale * place[2] + k};
        uint32_t n = fullness->is_by_octant ? octant_count(bricks, part) : brick_count(bricks, part);
        if (n < fullness->least) return false;
      }
  return true;
}

double flo_surface_clip(const FloSurfaceDef *def, const double point[3]) {
  double distance = -INFINITY;
  for (int axis = 0; def->has_box && axis < 3; ++axis)
    distance = fmax(distance, fmax(def->box_low[axis] - point[axis], point[axis] - def->box_high[axis]));
  if (def->region) distance = fmax(distance, def->region->value(def->region->context, point));
  return distance;
}

// Whether the limits of box and region pass a brick by; slopes up to one and a half are allowed for.
static bool is_unclipped(const FloBricks *bricks, const FloSurfaceDef *def, const long place[3]) {
  double centre[3];
  flo_bricks_corner(bricks, place, centre);
  for (int axis = 0; axis < 3; ++axis) centre[axis] += FLO_BRICK / 2 * bricks->cell;
  return flo_surface_clip(def, centre) < -1.5 * sqrt(3) * (FLO_BRICK / 2 + 1) * bricks->cell;
}

typedef struct Survey {
  FloBricks *bricks;
  const FloSurfaceDef *def;
  Fullness fullness;
} Survey;

static void judge_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Survey *survey = context;
  for (size_t k = begin; k < end; ++k) {
    long place[3];
    flo_bricks_unpack(survey->bricks, survey->bricks->keys[k], place);
    bool is_inside = is_deep_inside(survey->bricks, &survey->fullness, place) &&
                     is_unclipped(survey->bricks, survey->def, place);
    survey->bricks->states[k] = is_inside ? FLO_BRICK_INSIDE : FLO_BRICK_WANTED;
  }
}

// ---- Neighbourhoods ----

static void raise_nearby(const void *context, size_t begin, size_t end, double *most) {
  const FloBricks *bricks = context;
  for (size_t k = begin; k < end; ++k) {
    long centre[3], place[3];
    size_t n = 0;
    flo_bricks_unpack(bricks, bricks->keys[k], centre);
    for (size_t part = 0; part < ring_volume(bricks); ++part) {
      ring_place(bricks, centre, part, place);
      n += brick_count(bricks, place);
    }
    most[0] = fmax(most[0], (double)n);
  }
}

// Scratch for the largest neighbourhood, so that nothing is allocated while threads are at work.
static FloStatus reserve_nearby(FloBricks *bricks, FloError *error) {
  double most;
  flo_parallel_max(bricks->threads, bricks->n_bricks, raise_nearby, bricks, 1, &most);
  size_t room = ((size_t)most + 15) / 16 * 16, each = sizeof(FloNearby) + 16 * room;
  size_t n_threads = (size_t)bricks->threads;
  FLO_TRY(flo_buffer_reserve(bricks->memory, &bricks->nearby_buffer, n_threads * each, 0, error));
  bricks->nearby = bricks->nearby_buffer.data;
  float *data = (float *)(bricks->nearby + n_threads);
  for (size_t k = 0; k < n_threads; ++k, data += 4 * room)
    bricks->nearby[k] = (FloNearby){
        .x = data, .y = data + room, .z = data + 2 * room, .index = (uint32_t *)(data + 3 * room)};
  return FLO_OK;
}

typedef struct Catch {
  const double *low, *high, *origin;
  double reach;
} Catch;

static void gather_brick(const FloBricks *bricks, size_t brick, const Catch *net, FloNearby *nearby) {
  for (uint32_t k = bricks->first[brick]; k < bricks->first[brick + 1]; ++k) {
    const double *p = bricks->positions + 3 * (size_t)k;
    double square = 0;
    for (int axis = 0; axis < 3; ++axis) {
      double beyond = fmax(fmax(net->low[axis] - p[axis], p[axis] - net->high[axis]), 0);
      square += beyond * beyond;
    }
    if (square >= net->reach * net->reach) continue;
    nearby->x[nearby->count] = (float)(p[0] - net->origin[0]);
    nearby->y[nearby->count] = (float)(p[1] - net->origin[1]);
    nearby->z[nearby->count] = (float)(p[2] - net->origin[2]);
    nearby->index[nearby->count++] = k;
  }
}

void flo_bricks_gather(const FloBricks *bricks, const long place[3], const double low[3],
                       const double high[3], double reach, const double origin[3], FloNearby *nearby) {
  const Catch net = {low, high, origin, reach};
  nearby->count = 0;
  for (size_t k = 0; k < ring_volume(bricks); ++k) {
    long beside[3];
    ring_place(bricks, place, k, beside);
    long brick = flo_bricks_find_occupied(bricks, beside);
    if (brick != FLO_NO_BRICK) gather_brick(bricks, (size_t)brick, &net, nearby);
  }
}

FloStatus flo_bricks_list(FloBricks *bricks, const FloSurfaceDef *def, FloError *error) {
  FLO_TRY(list_keys(bricks, error));
  FLO_TRY(take_keys(bricks, error));
  Survey survey = {bricks, def, make_fullness(bricks, def)};
  flo_parallel_for(bricks->threads, bricks->n_bricks, 64, judge_range, &survey);
  return reserve_nearby(bricks, error);
}
