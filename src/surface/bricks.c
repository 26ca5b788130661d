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

FloStatus flo_bricks_check_memory(const FloBricks *bricks, size_t more, FloError *error) {
  const double gigabyte = 1e9, needed = (double)bricks->memory->bytes + (double)more;
  if (bricks->memory_limit == 0 || needed <= (double)bricks->memory_limit) return FLO_OK;
  return flo_fail(error, FLO_NO_MEMORY,
                  "surface: %zu particles with cells of %g m need at least %.3g GB of memory, and %.3g GB is "
                  "the limit; take larger cells",
                  bricks->count, bricks->cell, needed / gigabyte, (double)bricks->memory_limit / gigabyte);
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

// The first key that is not smaller than `key`.
static size_t lower_bound(const uint64_t *keys, size_t n, uint64_t key) {
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (keys[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static long find_key(const uint64_t *keys, size_t n, uint64_t key) {
  size_t at = lower_bound(keys, n, key);
  return at < n && keys[at] == key ? (long)at : FLO_NO_BRICK;
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

// ---- Around a brick ----

// The number of rows of bricks around a brick. Rows run along x, and the particles of a row are one run.
static size_t ring_rows(const FloBricks *bricks) {
  size_t width = 2 * (size_t)bricks->ring + 1;
  return width * width;
}

// The particles of a row: begin <= particle < end.
static void find_row(const FloBricks *bricks, const long place[3], size_t row, size_t *begin, size_t *end) {
  const size_t width = 2 * (size_t)bricks->ring + 1;
  long first[3] = {place[0] - bricks->ring, place[1] + (long)(row % width) - bricks->ring,
                   place[2] + (long)(row / width) - bricks->ring};
  *begin = *end = 0;
  long last = place[0] + bricks->ring, end_of_lattice = 1L << bricks->bits[0];
  if (first[0] < 0) first[0] = 0;
  if (last >= end_of_lattice) last = end_of_lattice - 1;
  if (first[0] > last || !is_on_lattice(bricks, first)) return;
  const uint64_t key = pack(bricks, first), past = key + (uint64_t)(last - first[0]) + 1;
  size_t k = lower_bound(bricks->occupied_keys, bricks->n_occupied, key);
  *begin = bricks->first[k];
  while (k < bricks->n_occupied && bricks->occupied_keys[k] < past) ++k;
  *end = bricks->first[k];
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

// Nodes lie at multiples of the cell, wherever the particles are. If the lattice moved with the particles,
// the surface of a drifting body of water would flicker.
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
                        .memory_limit = def->memory_limit,
                        .influence = influence};
  bricks->ring = (int)ceil((influence + 2 * def->cell) / (FLO_BRICK * def->cell));
  FLO_ASSERT(bricks->ring <= FLO_MAX_RING);
  for (size_t k = 0; k < input->count; ++k) bricks->count += is_kept(input, k);
  if (bricks->count == 0) return FLO_OK;
  double low[3], high[3];
  bound(input, low, high);
  FLO_TRY(lay_lattice(bricks, low, high, error));
  FLO_TRY(sort_particles(bricks, input, error));
  return find_occupied(bricks, error);
}

// ---- The list of bricks ----

// Lists the sorted keys and all keys up to `ring` strides beside them, sorted and without duplicates. Returns
// their number; with `out` NULL it only counts. The copies to be merged exist only as positions in the one
// list: with small cells there would be hundreds of copies of each brick.
static size_t spread_keys(const uint64_t *keys, size_t n, int ring, uint64_t stride, uint64_t *out) {
  enum { MOST = 2 * FLO_MAX_RING + 1 };
  size_t at[MOST] = {0}, count = 0;
  const int width = 2 * ring + 1;
  const uint64_t back = (uint64_t)ring * stride;
  for (;;) {
    uint64_t least = UINT64_MAX;
    for (int d = 0; d < width; ++d) {
      uint64_t key = at[d] < n ? keys[at[d]] - back + (uint64_t)d * stride : UINT64_MAX;
      least = key < least ? key : least;
    }
    if (least == UINT64_MAX) return count;
    for (int d = 0; d < width; ++d)
      if (at[d] < n && keys[at[d]] - back + (uint64_t)d * stride == least) ++at[d];
    if (out) out[count] = least;
    ++count;
  }
}

// Lists the keys of all bricks around those with particles: spreads along one axis after the other.
static FloStatus list_keys(FloBricks *bricks, FloError *error) {
  const uint64_t *keys = bricks->occupied_keys;
  size_t n = bricks->n_occupied;
  FloBuffer before = {0};
  int shift = 0;
  bricks->order = NULL;
  flo_buffer_free(bricks->memory, &bricks->scratch);
  for (int axis = 0; axis < 3; shift += bricks->bits[axis++]) {
    const uint64_t stride = 1ULL << shift;
    FloBuffer after = {0};
    size_t n_after = spread_keys(keys, n, bricks->ring, stride, NULL);
    FloStatus status = flo_bricks_check_memory(bricks, n_after * sizeof *keys, error);
    if (status == FLO_OK)
      status = flo_buffer_reserve(bricks->memory, &after, n_after * sizeof *keys, 0, error);
    if (status == FLO_OK) spread_keys(keys, n, bricks->ring, stride, after.data);
    flo_buffer_free(bricks->memory, &before);
    FLO_TRY(status);
    before = after, keys = after.data, n = n_after;
  }
  bricks->scratch = before;
  bricks->n_bricks = n;
  return FLO_OK;
}

static FloStatus take_keys(FloBricks *bricks, FloError *error) {
  size_t n = bricks->n_bricks, size = n * (8 + 4 + 1);
  FLO_TRY(flo_bricks_check_memory(bricks, size, error));
  FLO_TRY(flo_buffer_reserve(bricks->memory, &bricks->listed, size, 0, error));
  bricks->keys = bricks->listed.data;
  bricks->slots = (uint32_t *)(bricks->keys + n);
  bricks->states = (uint8_t *)(bricks->slots + n);
  memcpy(bricks->keys, bricks->scratch.data, 8 * n);
  flo_buffer_free(bricks->memory, &bricks->scratch);
  return FLO_OK;
}

// Number of particles in an eighth of a brick, given by its coordinates in eighths.
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

// The fullness test: whether every part in and around a brick holds at least half of the particles it has
// room for. The counts of small parts vary too much, so a part is an eighth of a brick, a brick, or a cube of
// eight bricks, depending on the spacing.
typedef enum PartKind { part_octant, part_brick, part_cube } PartKind;

typedef struct Fullness {
  PartKind kind;
  double least;          // least number of particles in a part
  const uint32_t *cubes; // for each listed brick: particles in it and in the seven behind it along the axes
} Fullness;

static Fullness make_fullness(const FloBricks *bricks, const FloSurfaceDef *def) {
  const double narrowest = 1.5, eighth = FLO_BRICK / 2 * bricks->cell / def->spacing;
  PartKind kind = eighth >= narrowest ? part_octant : 2 * eighth >= narrowest ? part_brick : part_cube;
  double part = eighth * (double)(1 << kind);
  return (Fullness){.kind = kind, .least = fmax(0.5 * part * part * part, 1)};
}

static uint32_t cube_count(const FloBricks *bricks, const uint32_t *cubes, const long place[3]) {
  long brick = flo_bricks_find(bricks, place);
  return brick == FLO_NO_BRICK ? 0 : cubes[brick];
}

static uint32_t part_count(const FloBricks *bricks, const Fullness *fullness, const long part[3]) {
  if (fullness->kind == part_octant) return octant_count(bricks, part);
  return fullness->kind == part_brick ? brick_count(bricks, part) : cube_count(bricks, fullness->cubes, part);
}

// Parts begin at these places along an axis, in octants or bricks: from one part before the brick to one
// after it.
static bool is_deep_inside(const FloBricks *bricks, const Fullness *fullness, const long place[3]) {
  static const long starts[][4] = {{-1, 0, 1, 2}, {-1, 0, 1}, {-2, 0, 1}};
  const long *start = starts[fullness->kind], scale = fullness->kind == part_octant ? 2 : 1;
  const int n = fullness->kind == part_octant ? 4 : 3;
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const long part[3] = {scale * place[0] + start[i], scale * place[1] + start[j],
                              scale * place[2] + start[k]};
        if (part_count(bricks, fullness, part) < fullness->least) return false;
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

// Whether a brick is out of reach of the limits of box and region. A slope of the region's field up to 1.5 is
// allowed for.
static bool is_unclipped(const FloBricks *bricks, const FloSurfaceDef *def, const long place[3]) {
  double centre[3];
  flo_bricks_corner(bricks, place, centre);
  for (int axis = 0; axis < 3; ++axis) centre[axis] += FLO_BRICK / 2 * bricks->cell;
  return flo_surface_clip(def, centre) < -1.5 * sqrt(3) * (FLO_BRICK / 2 + 1) * bricks->cell;
}

typedef struct Survey {
  FloBricks *bricks;
  const FloSurfaceDef *def;
  double reach; // [m] no surface is farther than this from particles
  Fullness fullness;
  uint32_t *cubes;
} Survey;

static void count_cubes(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Survey *survey = context;
  for (size_t brick = begin; brick < end; ++brick) {
    long place[3];
    flo_bricks_unpack(survey->bricks, survey->bricks->keys[brick], place);
    survey->cubes[brick] = 0;
    for (int k = 0; k < 8; ++k)
      survey->cubes[brick] += brick_count(
          survey->bricks, (long[3]){place[0] + (k & 1), place[1] + (k >> 1 & 1), place[2] + (k >> 2)});
  }
}

// Whether a particle is so near to a brick that its nodes, or those beside them, may be in the fluid.
static bool is_near(const Survey *survey, const long place[3]) {
  const FloBricks *bricks = survey->bricks;
  const double reach = survey->reach + 2 * bricks->cell, width = (FLO_BRICK - 1) * bricks->cell;
  double low[3];
  flo_bricks_corner(bricks, place, low);
  for (size_t row = 0; row < ring_rows(bricks); ++row) {
    size_t begin, end;
    find_row(bricks, place, row, &begin, &end);
    for (size_t k = begin; k < end; ++k) {
      double square = 0;
      for (size_t axis = 0; axis < 3; ++axis) {
        double p = bricks->positions[3 * k + axis] - low[axis];
        double beyond = p < 0 ? -p : p > width ? p - width : 0;
        square += beyond * beyond;
      }
      if (square < reach * reach) return true;
    }
  }
  return false;
}

static void judge_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Survey *survey = context;
  for (size_t k = begin; k < end; ++k) {
    long place[3];
    flo_bricks_unpack(survey->bricks, survey->bricks->keys[k], place);
    bool is_inside = is_deep_inside(survey->bricks, &survey->fullness, place) &&
                     is_unclipped(survey->bricks, survey->def, place);
    survey->bricks->states[k] = is_inside                ? FLO_BRICK_INSIDE
                                : is_near(survey, place) ? FLO_BRICK_WANTED
                                                         : FLO_BRICK_FAR;
  }
}

// Drops bricks with air all around.
static void drop_far(FloBricks *bricks) {
  size_t n = 0;
  for (size_t k = 0; k < bricks->n_bricks; ++k) {
    if (bricks->states[k] == FLO_BRICK_FAR) continue;
    bricks->keys[n] = bricks->keys[k];
    bricks->states[n++] = bricks->states[k];
  }
  bricks->n_bricks = n;
}

static FloStatus judge(Survey *survey, FloError *error) {
  FloBricks *bricks = survey->bricks;
  FloBuffer buffer = {0};
  if (survey->fullness.kind == part_cube) {
    FLO_TRY(flo_bricks_check_memory(bricks, bricks->n_bricks * sizeof(uint32_t), error));
    FLO_TRY(flo_buffer_reserve(bricks->memory, &buffer, bricks->n_bricks * sizeof(uint32_t), 0, error));
    survey->cubes = buffer.data;
    survey->fullness.cubes = survey->cubes;
    flo_parallel_for(bricks->threads, bricks->n_bricks, 64, count_cubes, survey);
  }
  flo_parallel_for(bricks->threads, bricks->n_bricks, 64, judge_range, survey);
  flo_buffer_free(bricks->memory, &buffer);
  drop_far(bricks);
  return FLO_OK;
}

// ---- Neighbourhoods ----

static void raise_nearby(const void *context, size_t begin, size_t end, double *most) {
  const FloBricks *bricks = context;
  for (size_t k = begin; k < end; ++k) {
    long place[3];
    size_t n = 0;
    flo_bricks_unpack(bricks, bricks->keys[k], place);
    for (size_t row = 0; row < ring_rows(bricks); ++row) {
      size_t first, last;
      find_row(bricks, place, row, &first, &last);
      n += last - first;
    }
    most[0] = fmax(most[0], (double)n);
  }
}

// Reserves scratch for the largest neighbourhood, so that threads allocate nothing.
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

static void gather_row(const FloBricks *bricks, size_t begin, size_t end, const Catch *net,
                       FloNearby *nearby) {
  for (size_t k = begin; k < end; ++k) {
    const double *p = bricks->positions + 3 * k;
    double square = 0;
    for (int axis = 0; axis < 3; ++axis) {
      double beyond = fmax(fmax(net->low[axis] - p[axis], p[axis] - net->high[axis]), 0);
      square += beyond * beyond;
    }
    if (square >= net->reach * net->reach) continue;
    nearby->x[nearby->count] = (float)(p[0] - net->origin[0]);
    nearby->y[nearby->count] = (float)(p[1] - net->origin[1]);
    nearby->z[nearby->count] = (float)(p[2] - net->origin[2]);
    nearby->index[nearby->count++] = (uint32_t)k;
  }
}

void flo_bricks_gather(const FloBricks *bricks, const long place[3], const double low[3],
                       const double high[3], double reach, const double origin[3], FloNearby *nearby) {
  const Catch net = {low, high, origin, reach};
  nearby->count = 0;
  for (size_t row = 0; row < ring_rows(bricks); ++row) {
    size_t begin, end;
    find_row(bricks, place, row, &begin, &end);
    gather_row(bricks, begin, end, &net, nearby);
  }
}

FloStatus flo_bricks_list(FloBricks *bricks, const FloSurfaceDef *def, double reach, FloError *error) {
  FLO_ASSERT(reach <= bricks->influence);
  FLO_TRY(list_keys(bricks, error));
  FLO_TRY(take_keys(bricks, error));
  Survey survey = {.bricks = bricks, .def = def, .reach = reach, .fullness = make_fullness(bricks, def)};
  FLO_TRY(judge(&survey, error));
  return reserve_nearby(bricks, error);
}
