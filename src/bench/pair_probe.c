// The pair-operator probe: the number of particle iterations per second of an implicit pressure solver that
// this machine can do with a simple data layout, limited by memory.
//
// Particles are on a cubic lattice with noise. All particles within two spacings are neighbours: about 30.
// Cells of 2 x 2 x 2 particles follow a Morton curve, and each cell is a block of eight lanes. A block has as
// many slots as its longest list; shorter lists are padded with zero gradients. One iteration is a sweep that
// gathers pressures and one that gathers accelerations.
#include "base/memory.h"
#include "base/parallel.h"
#include "bench/probe_kernels.h"
#include "bench/probes.h"

#include <math.h>

enum { LANES = FLO_PROBE_LANES, BLOCKS_PER_CHUNK = 128, REACH = 2, MAX_LIST = 128 };

#define SUPPORT 2.0f // in spacings
#define NOISE   0.2f // the largest shift along each axis, in spacings

enum { CELLS, RANK, POSITION, BEGIN, SLOTS, PRESSURE, AX, AY, AZ, N_BUFFERS };

struct FloPairProbe {
  FloMemory memory;
  FloBuffer buffers[N_BUFFERS];
  FloProbeFields fields;
  int width; // cells along each axis
  size_t n_blocks, n_pairs;
  int32_t (*cells)[3]; // coordinates, along the curve
  uint32_t *rank;      // of cell (x, y, z) along the curve
  float (*position)[3];
  uint32_t *begin;
  FloProbeSlot *slots;
};

size_t flo_pair_probe_particles(const FloPairProbe *probe) { return probe->n_blocks * LANES; }
size_t flo_pair_probe_pairs(const FloPairProbe *probe) { return probe->n_pairs; }
size_t flo_pair_probe_bytes(const FloPairProbe *probe) {
  return probe->begin[probe->n_blocks] * sizeof(FloProbeSlot);
}

// ---- Order: particle `lane` of cell c is number rank(c) LANES + lane ----

static uint32_t *rank_at(const FloPairProbe *probe, int x, int y, int z) {
  return probe->rank + ((size_t)z * (size_t)probe->width + (size_t)y) * (size_t)probe->width + x;
}

// Every third bit of a Morton code, from bit `axis` on.
static int32_t unpack_axis(uint64_t code, int axis) {
  int32_t coordinate = 0;
  for (int bit = 0; bit < 21; ++bit) coordinate |= (int32_t)(code >> (3 * bit + axis) & 1) << bit;
  return coordinate;
}

// The curve fills a cube whose side is a power of two; cells outside the lattice are skipped.
static void rank_cells(FloPairProbe *probe) {
  uint32_t next = 0;
  for (uint64_t code = 0; next < probe->n_blocks; ++code) {
    int32_t x = unpack_axis(code, 0), y = unpack_axis(code, 1), z = unpack_axis(code, 2);
    if (x >= probe->width || y >= probe->width || z >= probe->width) continue;
    *rank_at(probe, x, y, z) = next;
    probe->cells[next][0] = x, probe->cells[next][1] = y, probe->cells[next][2] = z;
    next++;
  }
}

// The lattice point of a particle, and the particle of a lattice point.
static void point_of(const FloPairProbe *probe, size_t block, int lane, int at[3]) {
  for (int axis = 0; axis < 3; ++axis) at[axis] = 2 * probe->cells[block][axis] + (lane >> axis & 1);
}

static size_t particle_at(const FloPairProbe *probe, const int at[3]) {
  int lane = (at[0] & 1) | (at[1] & 1) << 1 | (at[2] & 1) << 2;
  return (size_t)*rank_at(probe, at[0] / 2, at[1] / 2, at[2] / 2) * LANES + (size_t)lane;
}

// ---- Positions ----

// A pseudo-random number in [-1, 1) (splitmix64).
static float noise_of(uint64_t k) {
  k = (k + 1) * 0x9e3779b97f4a7c15u;
  k = (k ^ k >> 30) * 0xbf58476d1ce4e5b9u;
  k = (k ^ k >> 27) * 0x94d049bb133111ebu;
  return (float)((k ^ k >> 31) >> 40) * 0x1p-23f - 1;
}

static void place_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloPairProbe *probe = context;
  for (size_t i = begin * LANES; i < end * LANES; ++i) {
    int at[3];
    point_of(probe, i / LANES, (int)(i % LANES), at);
    for (size_t axis = 0; axis < 3; ++axis)
      probe->position[i][axis] = (float)at[axis] + NOISE * noise_of(4 * i + axis);
    probe->fields.p[i] = 0.5f + 0.5f * noise_of(4 * i + 3);
    probe->fields.ax[i] = probe->fields.ay[i] = probe->fields.az[i] = 0;
  }
}

// ---- Pairs ----

static float squared_distance(const float *a, const float *b) {
  float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return x * x + y * y + z * z;
}

// Finds the neighbours of particle i; returns their number. With this noise, no particle farther than REACH
// lattice points is a neighbour.
static size_t collect(const FloPairProbe *probe, size_t i, int32_t list[MAX_LIST]) {
  int at[3], low[3], high[3], to[3];
  size_t count = 0;
  point_of(probe, i / LANES, (int)(i % LANES), at);
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = at[axis] < REACH ? 0 : at[axis] - REACH;
    high[axis] = at[axis] + REACH < 2 * probe->width ? at[axis] + REACH : 2 * probe->width - 1;
  }
  for (to[2] = low[2]; to[2] <= high[2]; ++to[2])
    for (to[1] = low[1]; to[1] <= high[1]; ++to[1])
      for (to[0] = low[0]; to[0] <= high[0]; ++to[0]) {
        size_t j = particle_at(probe, to);
        if (j != i && squared_distance(probe->position[i], probe->position[j]) < SUPPORT * SUPPORT)
          list[count++] = (int32_t)j;
      }
  return count;
}

// Stores the number of slots of block b in begin[b + 1], and sums the pairs.
static void count_range(const void *context, size_t begin, size_t end, double *n_pairs) {
  const FloPairProbe *probe = context;
  int32_t list[MAX_LIST];
  for (size_t block = begin; block < end; ++block) {
    size_t longest = 0;
    for (size_t lane = 0; lane < LANES; ++lane) {
      size_t count = collect(probe, block * LANES + lane, list);
      longest = flo_max_size(longest, count);
      *n_pairs += (double)count;
    }
    probe->begin[block + 1] = (uint32_t)longest;
  }
}

static void set_pair(const FloPairProbe *probe, size_t i, int32_t j, FloProbeSlot *slot) {
  size_t lane = i % LANES;
  const float *a = probe->position[i], *b = probe->position[j];
  float r = sqrtf(squared_distance(a, b)), q = 1 - r / SUPPORT, f = -q * q / r;
  slot->index[lane] = j;
  slot->gx[lane] = f * (a[0] - b[0]), slot->gy[lane] = f * (a[1] - b[1]), slot->gz[lane] = f * (a[2] - b[2]);
}

static void fill_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const FloPairProbe *probe = context;
  int32_t list[MAX_LIST];
  for (size_t i = begin * LANES; i < end * LANES; ++i) {
    FloProbeSlot *slots = probe->slots + probe->begin[i / LANES];
    size_t count = collect(probe, i, list), n_slots = probe->begin[i / LANES + 1] - probe->begin[i / LANES];
    for (size_t k = 0; k < count; ++k) set_pair(probe, i, list[k], &slots[k]);
    for (size_t k = count; k < n_slots; ++k) {
      size_t lane = i % LANES;
      slots[k].index[lane] = (int32_t)i;
      slots[k].gx[lane] = slots[k].gy[lane] = slots[k].gz[lane] = 0;
    }
  }
}

// ---- Create and destroy ----

static FloStatus reserve(FloPairProbe *probe, int which, size_t size, FloError *error) {
  return flo_buffer_reserve(&probe->memory, &probe->buffers[which], size, 0, error);
}

static FloStatus reserve_particles(FloPairProbe *probe, FloError *error) {
  size_t blocks = probe->n_blocks, n = blocks * LANES;
  FLO_TRY(reserve(probe, CELLS, blocks * sizeof *probe->cells, error));
  FLO_TRY(reserve(probe, RANK, blocks * sizeof *probe->rank, error));
  FLO_TRY(reserve(probe, POSITION, n * sizeof *probe->position, error));
  FLO_TRY(reserve(probe, BEGIN, (blocks + 1) * sizeof *probe->begin, error));
  for (int which = PRESSURE; which <= AZ; ++which) FLO_TRY(reserve(probe, which, n * sizeof(float), error));
  probe->cells = probe->buffers[CELLS].data;
  probe->rank = probe->buffers[RANK].data;
  probe->position = probe->buffers[POSITION].data;
  probe->begin = probe->buffers[BEGIN].data;
  probe->fields = (FloProbeFields){.n_blocks = blocks,
                                   .begin = probe->begin,
                                   .p = probe->buffers[PRESSURE].data,
                                   .ax = probe->buffers[AX].data,
                                   .ay = probe->buffers[AY].data,
                                   .az = probe->buffers[AZ].data};
  return FLO_OK;
}

static FloStatus build(FloPairProbe *probe, int threads, FloError *error) {
  double n_pairs;
  FLO_TRY(reserve_particles(probe, error));
  rank_cells(probe);
  flo_parallel_for(threads, probe->n_blocks, BLOCKS_PER_CHUNK, place_range, probe);
  flo_parallel_sum(threads, probe->n_blocks, count_range, probe, 1, &n_pairs);
  probe->n_pairs = (size_t)n_pairs;
  probe->begin[0] = 0;
  for (size_t block = 0; block < probe->n_blocks; ++block) probe->begin[block + 1] += probe->begin[block];
  FLO_TRY(reserve(probe, SLOTS, flo_pair_probe_bytes(probe), error));
  probe->fields.slots = probe->slots = probe->buffers[SLOTS].data;
  flo_parallel_for(threads, probe->n_blocks, BLOCKS_PER_CHUNK, fill_range, probe);
  // The sweeps need only the operator.
  for (int which = CELLS; which <= POSITION; ++which) flo_buffer_free(&probe->memory, &probe->buffers[which]);
  return FLO_OK;
}

FloStatus flo_pair_probe_create(size_t n, int threads, FloPairProbe **out, FloError *error) {
  FloMemory memory;
  flo_memory_init(&memory, NULL);
  *out = NULL;
  FloPairProbe *probe = flo_memory_allocate(&memory, sizeof *probe);
  if (!probe) return flo_fail(error, FLO_NO_MEMORY, "out of memory for a probe");
  size_t width = flo_max_size((size_t)lround(cbrt((double)n) / 2), 1);
  *probe = (FloPairProbe){.memory = memory, .width = (int)width, .n_blocks = width * width * width};
  FloStatus status = build(probe, threads, error);
  if (status == FLO_OK)
    *out = probe;
  else
    flo_pair_probe_destroy(probe);
  return status;
}

void flo_pair_probe_destroy(FloPairProbe *probe) {
  if (!probe) return;
  for (int which = 0; which < N_BUFFERS; ++which) flo_buffer_free(&probe->memory, &probe->buffers[which]);
  FloMemory last = probe->memory;
  flo_memory_release(&last, probe, sizeof *probe);
}

// ---- Running ----

typedef struct Sweeps {
  const FloProbeFields *fields;
  const FloProbeKernels *kernels;
  int threads, iterations;
} Sweeps;

static void accelerate_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Sweeps *sweeps = context;
  sweeps->kernels->accelerate(sweeps->fields, begin, end);
}

static void correct_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Sweeps *sweeps = context;
  sweeps->kernels->correct(sweeps->fields, begin, end);
}

static void iterate(void *context) {
  const Sweeps *sweeps = context;
  for (int k = 0; k < sweeps->iterations; ++k) {
    flo_parallel_for(sweeps->threads, sweeps->fields->n_blocks, BLOCKS_PER_CHUNK, accelerate_range, context);
    flo_parallel_for(sweeps->threads, sweeps->fields->n_blocks, BLOCKS_PER_CHUNK, correct_range, context);
  }
}

FloTimes flo_pair_probe_run(FloPairProbe *probe, int threads, int iterations, int repeats) {
  Sweeps sweeps = {&probe->fields, flo_probe_kernels(), threads, iterations};
  FloTimes times = flo_times_measure(repeats, iterate, &sweeps);
  return (FloTimes){times.best / iterations, times.median / iterations};
}
