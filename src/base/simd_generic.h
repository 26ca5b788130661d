// The wide-float vocabulary for any machine: eight lanes by the compiler's vector types.
//
// Another instruction set needs one more header with the same names, such as simd_avx2.h. Square roots and
// divisions are correctly rounded in all of them. The same instruction set therefore gives the same bits on
// every processor.
#ifndef FLO_BASE_SIMD_GENERIC_H
#define FLO_BASE_SIMD_GENERIC_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { FLO_LANES = 8 };

typedef float WideF __attribute__((vector_size(32)));
typedef int32_t WideI __attribute__((vector_size(32)));
typedef uint32_t WideU __attribute__((vector_size(32)));

#define WIDE_INLINE static inline __attribute__((always_inline, unused))

WIDE_INLINE WideF wide_set(float a) { return (WideF){a, a, a, a, a, a, a, a}; }
WIDE_INLINE WideI wide_set_int(int32_t a) { return (WideI){a, a, a, a, a, a, a, a}; }

WIDE_INLINE WideF wide_load(const float *from) {
  WideF a;
  memcpy(&a, from, sizeof a);
  return a;
}

WIDE_INLINE WideI wide_load_int(const int32_t *from) {
  WideI a;
  memcpy(&a, from, sizeof a);
  return a;
}

WIDE_INLINE void wide_store(float *to, WideF a) { memcpy(to, &a, sizeof a); }
WIDE_INLINE void wide_store_int(int32_t *to, WideI a) { memcpy(to, &a, sizeof a); }
WIDE_INLINE WideF wide_fma(WideF a, WideF b, WideF c) { return a * b + c; }
WIDE_INLINE WideF wide_from_int(WideI a) { return __builtin_convertvector(a, WideF); }

// a - b modulo 2^32.
WIDE_INLINE WideI wide_subtract(WideI a, WideI b) { return (WideI)((WideU)a - (WideU)b); }

// a where mask is all ones, b where it is zero.
WIDE_INLINE WideF wide_select(WideI mask, WideF a, WideF b) {
  return (WideF)(((WideI)a & mask) | ((WideI)b & ~mask));
}

WIDE_INLINE WideF wide_max(WideF a, WideF b) { return wide_select(a > b, a, b); }

WIDE_INLINE WideF wide_sqrt(WideF a) {
  for (int lane = 0; lane < FLO_LANES; ++lane) a[lane] = sqrtf(a[lane]);
  return a;
}

// One bit per lane that is all ones.
WIDE_INLINE unsigned wide_bits(WideI mask) {
  unsigned bits = 0;
  for (int lane = 0; lane < FLO_LANES; ++lane) bits |= (unsigned)(mask[lane] & 1) << lane;
  return bits;
}

// Stores the lanes of `a` whose bit is set, one after the other. It may write up to eight elements.
WIDE_INLINE void wide_compress(int32_t *to, WideI a, unsigned bits) {
  for (int lane = 0; lane < FLO_LANES; ++lane)
    if (bits >> lane & 1) *to++ = a[lane];
}

// Gathers element index[lane] of an array of quadruples. Part k of the elements becomes out[k].
WIDE_INLINE void wide_gather4(const float *quads, const int32_t *index, WideF out[4]) {
  for (int lane = 0; lane < FLO_LANES; ++lane) {
    float quad[4]; // copied byte by byte: the quadruples may hold integers
    memcpy(quad, quads + 4 * (size_t)index[lane], sizeof quad);
    for (int part = 0; part < 4; ++part) out[part][lane] = quad[part];
  }
}

// The inverse of wide_gather4, to quadruples that lie one after the other.
WIDE_INLINE void wide_store4(float *quads, const WideF in[4]) {
  for (int lane = 0; lane < FLO_LANES; ++lane)
    for (int part = 0; part < 4; ++part) memcpy(quads + 4 * lane + part, (const float *)&in[part] + lane, 4);
}

// Two quadruples side by side.
WIDE_INLINE WideF wide_load_quads(const float *low, const float *high) {
  WideF a;
  memcpy(&a, low, 16);
  memcpy((char *)&a + 16, high, 16);
  return a;
}

// `high` first: if both are the same, it keeps the lower one.
WIDE_INLINE void wide_store_quads(WideF a, float *low, float *high) {
  memcpy(high, (char *)&a + 16, 16);
  memcpy(low, &a, 16);
}

// The fourth part of each quadruple, in all of its parts.
WIDE_INLINE WideF wide_fourth(WideF a) { return (WideF){a[3], a[3], a[3], a[3], a[7], a[7], a[7], a[7]}; }

// The sum of the first three parts of two quadruples.
WIDE_INLINE float wide_sum_vectors(WideF a) { return (a[0] + a[4]) + (a[1] + a[5]) + (a[2] + a[6]); }

// Eight by eight: lane j of row i becomes lane i of row j.
WIDE_INLINE void wide_transpose(WideI rows[8]) {
  for (int i = 0; i < FLO_LANES; ++i)
    for (int j = 0; j < i; ++j) {
      int32_t a = rows[i][j];
      rows[i][j] = rows[j][i], rows[j][i] = a;
    }
}

// Element index[lane] of an array.
WIDE_INLINE WideF wide_gather(const float *array, const int32_t *index) {
  WideF out;
  for (int lane = 0; lane < FLO_LANES; ++lane) out[lane] = array[index[lane]];
  return out;
}

// ---- Doubles: four lanes ----

typedef double WideD __attribute__((vector_size(32)));

WIDE_INLINE WideD wide_set_double(double a) { return (WideD){a, a, a, a}; }

WIDE_INLINE WideD wide_load_double(const double *from) {
  WideD a;
  memcpy(&a, from, sizeof a);
  return a;
}

// Four floats.
WIDE_INLINE WideD wide_load_single(const float *from) { return (WideD){from[0], from[1], from[2], from[3]}; }

WIDE_INLINE void wide_store_double(double *to, WideD a) { memcpy(to, &a, sizeof a); }
WIDE_INLINE WideD wide_fma_double(WideD a, WideD b, WideD c) { return a * b + c; }

#endif
