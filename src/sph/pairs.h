// The pair operator. For each particle of one set (the rows) it lists the neighbours in a set (the columns)
// with their kernel gradients. It is computed once a step and used by many sweeps. The lists of neighbours
// may serve several steps.
//
// Rows are grouped in blocks of FLO_BLOCK, side by side in SIMD lanes. A block has as many slots as its
// longest list; a slot holds one neighbour of each row. Shorter lists are padded with a valid index and a
// zero gradient. These add nothing, so a sweep needs no masks. Each lane sums its own row in a fixed order:
// there are no atomics and no races, and results have the same bits for any number of threads.
#ifndef FLO_SPH_PAIRS_H
#define FLO_SPH_PAIRS_H

#include "sph/grid.h"
#include "sph/kernel_form.h"

#include <stdatomic.h>

// Eight-wide stores may overrun the end of a list.
enum { FLO_BLOCK = 8, FLO_LIST_OVERRUN = 16 };

// Slots that a thread claims at a time.
enum { FLO_SLAB_SLOTS = 1024 };

typedef struct FloPairSlot {
  int32_t index[FLO_BLOCK];                          // column
  float gx[FLO_BLOCK], gy[FLO_BLOCK], gz[FLO_BLOCK]; // grad W_ij with respect to x_i [1/m^(dim+1)]
} FloPairSlot;

// Particles that may be neighbours of those in one cell: positions relative to the cell's middle, in
// supports.
typedef struct FloCandidates {
  size_t count;
  int32_t middle[3];         // of the cell, in fixed point
  float *x, *y, *z, *square; // |c|^2
  int32_t *index;
} FloCandidates;

// What a thread needs while it builds.
typedef struct FloPairSlab {
  size_t next, end;       // slots it may use before it asks for more
  size_t n_pairs;         // found within the support
  size_t most_candidates; // of a cell; more than the capacity below means that there was no room
  int32_t *lists;         // FLO_BLOCK lists, each with room for all candidates,
  size_t stride;          // this far apart
  FloCandidates candidates;
  char pad[64]; // keeps the slabs of two threads out of one cache line
} FloPairSlab;

typedef struct FloPairs {
  size_t n_rows, n_blocks;
  uint32_t *slot_begin, *slot_count; // per block
  FloPairSlot *slots;
  float *viscous;       // FLO_BLOCK per slot: 1/(F l^2), see pair.h [m^(dim)]; NULL if not asked for
  float length2, least; // l^2 [m^2] and eta^2/l^2 of pair.h
  float *kernel_sum;    // per row: sum of the columns' weights times W_ij
  int32_t *row_count;   // per row: how many columns it lists
  size_t n_pairs;       // within the support
  size_t n_slots, slot_capacity;
  _Atomic size_t n_claimed;
  FloPairSlab *slabs; // per thread
  size_t candidate_capacity;
  FloBuffer buffers[8];
  FloMemory *memory;
} FloPairs;

// What to build.
typedef struct FloPairsSpec {
  const FloGrid *rows, *columns; // the same grid: a particle is not its own neighbour
  FloKernelForm kernel;
  double reach; // list columns up to this distance, in supports: 1, or more to use the lists several times
  bool with_viscous;
  const uint32_t *groups; // per particle of one set: those of the same group are no neighbours; or NULL
  int threads;
} FloPairsSpec;

void flo_pairs_init(FloPairs *pairs, FloMemory *memory);
void flo_pairs_free(FloPairs *pairs);
FloStatus flo_pairs_build(FloPairs *pairs, const FloPairsSpec *spec, FloError *error);
// Computes sums and gradients anew from the grids' present positions, with the lists as they are: right as
// long as no two particles have come nearer than `reach - 1` supports allow.
void flo_pairs_refill(FloPairs *pairs, const FloPairsSpec *spec);

#endif
