#include "sph/arrays.h"

#include "sph/pairs.h"

FloStatus flo_arrays_reserve(const FloArrayDef *defs, size_t n, const FloArraySizes *sizes, FloMemory *memory,
                             FloBuffer *buffers, float **arrays, FloError *error) {
  for (size_t k = 0; k < n; ++k) {
    size_t count = defs[k].set == FLO_NO_SET ? sizes->n_rows : sizes->sets[defs[k].set].capacity;
    FLO_TRY(flo_buffer_reserve(memory, &buffers[k], (count + FLO_BLOCK) * defs[k].width * sizeof(float), 0,
                               error));
    arrays[k] = buffers[k].data;
  }
  return FLO_OK;
}
