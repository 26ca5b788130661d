#include "sph/passes.h"

bool flo_simd_is_avx2(void) {
#ifdef FLO_HAS_AVX2
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

const FloPasses *flo_passes(void) {
#ifdef FLO_HAS_AVX2
  if (flo_simd_is_avx2()) return flo_passes_avx2();
#endif
  return flo_passes_generic();
}

const char *flo_simd_name(void) { return flo_passes()->name; }
