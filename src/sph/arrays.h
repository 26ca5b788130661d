// Arrays of floats that a method keeps beside the fields of particles. Each is named in a table: which set it
// goes with, and how many floats a particle has in it. A device can make the same arrays from the same table.
//
//   #define MY_ARRAYS(X) X(pressure, FLO_SET_FLUID, 1) X(force, FLO_SET_FLUID, 4)
//   typedef struct Mine { FLO_ARRAYS(MY_ARRAYS); } Mine;
//   static const FloArrayDef defs[] = {MY_ARRAYS(FLO_ARRAY_DEF)};
//   const FloArraySizes sizes = {sets};
//   flo_arrays_reserve(defs, FLO_COUNT_OF(defs), &sizes, memory, mine->array_buffers, mine->arrays, error);
//
// Then mine->pressure and mine->force are the arrays; their number in the table is their handle in
// mine->arrays.
#ifndef FLO_SPH_ARRAYS_H
#define FLO_SPH_ARRAYS_H

#include "sph/particles.h"

typedef struct FloArrayDef {
  const char *name;
  int set;      // a FloSet, or FLO_NO_SET
  size_t width; // floats per particle or row
} FloArrayDef;

// An array of this set has as many entries as the method says.
enum { FLO_NO_SET = FLO_SET_COUNT };

typedef struct FloArraySizes {
  const FloParticles *sets;
  size_t n_rows; // of arrays of no set
} FloArraySizes;

#define FLO_ARRAY_DEF(name, set, width)    {#name, set, width},
#define FLO_ARRAY_MEMBER(name, set, width) float *name;
#define FLO_ARRAY_ONE(name, set, width)    +1

// Members of a struct: an array for each entry of the table, by name and by number, and their memory.
#define FLO_ARRAYS(TABLE)                                                                                    \
  union {                                                                                                    \
    struct {                                                                                                 \
      TABLE(FLO_ARRAY_MEMBER)                                                                                \
    };                                                                                                       \
    float *arrays[0 TABLE(FLO_ARRAY_ONE)];                                                                   \
  };                                                                                                         \
  FloBuffer array_buffers[0 TABLE(FLO_ARRAY_ONE)]

// Makes room for all particles that the sets can hold, and a block more, so that eight-wide loads may overrun
// the end.
FloStatus flo_arrays_reserve(const FloArrayDef *defs, size_t n, const FloArraySizes *sizes, FloMemory *memory,
                             FloBuffer *buffers, float **arrays, FloError *error);

#endif
