// The wide-float vocabulary with AVX2, FMA and BMI2; see simd_generic.h for what each word means.
#ifndef FLO_BASE_SIMD_AVX2_H
#define FLO_BASE_SIMD_AVX2_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

enum { FLO_LANES = 8 };

typedef __m256 WideF;
typedef int32_t WideI __attribute__((vector_size(32)));
typedef uint32_t WideU __attribute__((vector_size(32)));

#define WIDE_INLINE static inline __attribute__((always_inline, unused))

WIDE_INLINE WideF wide_set(float a) { return _mm256_set1_ps(a); }
WIDE_INLINE WideI wide_set_int(int32_t a) { return (WideI)_mm256_set1_epi32(a); }
WIDE_INLINE WideF wide_load(const float *from) { return _mm256_loadu_ps(from); }
WIDE_INLINE WideI wide_load_int(const int32_t *from) {
  return (WideI)_mm256_loadu_si256((const __m256i *)from);
}
WIDE_INLINE void wide_store(float *to, WideF a) { _mm256_storeu_ps(to, a); }
WIDE_INLINE void wide_store_int(int32_t *to, WideI a) { _mm256_storeu_si256((__m256i *)to, (__m256i)a); }
WIDE_INLINE WideF wide_fma(WideF a, WideF b, WideF c) { return _mm256_fmadd_ps(a, b, c); }
WIDE_INLINE WideF wide_from_int(WideI a) { return _mm256_cvtepi32_ps((__m256i)a); }
WIDE_INLINE WideI wide_subtract(WideI a, WideI b) { return (WideI)((WideU)a - (WideU)b); }
WIDE_INLINE WideF wide_select(WideI mask, WideF a, WideF b) { return _mm256_blendv_ps(b, a, (WideF)mask); }
WIDE_INLINE WideF wide_max(WideF a, WideF b) { return _mm256_max_ps(a, b); }
WIDE_INLINE WideF wide_sqrt(WideF a) { return _mm256_sqrt_ps(a); }
WIDE_INLINE unsigned wide_bits(WideI mask) { return (unsigned)_mm256_movemask_ps((WideF)mask); }

// For each set of lanes: the numbers of its lanes in rising order, one byte each. The table has 2 kB and
// stays in the nearest cache.
#define FLO_LANE(bits, k)                                                                                    \
  ((bits) >> (k)&1u ? (uint64_t)(k) << 8 * __builtin_popcount((bits) & ((1u << (k)) - 1)) : 0)
#define FLO_CHOICE(bits)                                                                                     \
  (FLO_LANE(bits, 1) | FLO_LANE(bits, 2) | FLO_LANE(bits, 3) | FLO_LANE(bits, 4) | FLO_LANE(bits, 5) |       \
   FLO_LANE(bits, 6) | FLO_LANE(bits, 7))
#define FLO_CHOICES4(b)  FLO_CHOICE(b), FLO_CHOICE(b + 1u), FLO_CHOICE(b + 2u), FLO_CHOICE(b + 3u)
#define FLO_CHOICES16(b) FLO_CHOICES4(b), FLO_CHOICES4(b + 4u), FLO_CHOICES4(b + 8u), FLO_CHOICES4(b + 12u)
#define FLO_CHOICES64(b)                                                                                     \
  FLO_CHOICES16(b), FLO_CHOICES16(b + 16u), FLO_CHOICES16(b + 32u), FLO_CHOICES16(b + 48u)
static const uint64_t wide_choices[256] __attribute__((unused)) = {FLO_CHOICES64(0u), FLO_CHOICES64(64u),
                                                                   FLO_CHOICES64(128u), FLO_CHOICES64(192u)};

WIDE_INLINE void wide_compress(int32_t *to, WideI a, unsigned bits) {
  __m256i order = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(wide_choices + bits)));
  _mm256_storeu_si256((__m256i *)to, _mm256_permutevar8x32_epi32((__m256i)a, order));
}

// Eight 16-byte loads and a transpose: several times faster than four gather instructions.
WIDE_INLINE void wide_gather4(const float *quads, const int32_t *index, WideF out[4]) {
#define FLO_PAIR_OF_QUADS(a, b)                                                                              \
  _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(quads + 4 * (size_t)(uint32_t)index[a])),         \
                       _mm_loadu_ps(quads + 4 * (size_t)(uint32_t)index[b]), 1)
  WideF q04 = FLO_PAIR_OF_QUADS(0, 4), q15 = FLO_PAIR_OF_QUADS(1, 5);
  WideF q26 = FLO_PAIR_OF_QUADS(2, 6), q37 = FLO_PAIR_OF_QUADS(3, 7);
#undef FLO_PAIR_OF_QUADS
  WideF xy01 = _mm256_unpacklo_ps(q04, q15), zw01 = _mm256_unpackhi_ps(q04, q15);
  WideF xy23 = _mm256_unpacklo_ps(q26, q37), zw23 = _mm256_unpackhi_ps(q26, q37);
  out[0] = _mm256_shuffle_ps(xy01, xy23, 0x44);
  out[1] = _mm256_shuffle_ps(xy01, xy23, 0xee);
  out[2] = _mm256_shuffle_ps(zw01, zw23, 0x44);
  out[3] = _mm256_shuffle_ps(zw01, zw23, 0xee);
}

WIDE_INLINE void wide_store4(float *quads, const WideF in[4]) {
  WideF xy_low = _mm256_unpacklo_ps(in[0], in[1]), xy_high = _mm256_unpackhi_ps(in[0], in[1]);
  WideF zw_low = _mm256_unpacklo_ps(in[2], in[3]), zw_high = _mm256_unpackhi_ps(in[2], in[3]);
  WideF q04 = _mm256_shuffle_ps(xy_low, zw_low, 0x44), q15 = _mm256_shuffle_ps(xy_low, zw_low, 0xee);
  WideF q26 = _mm256_shuffle_ps(xy_high, zw_high, 0x44), q37 = _mm256_shuffle_ps(xy_high, zw_high, 0xee);
  _mm256_storeu_ps(quads, _mm256_permute2f128_ps(q04, q15, 0x20));
  _mm256_storeu_ps(quads + 8, _mm256_permute2f128_ps(q26, q37, 0x20));
  _mm256_storeu_ps(quads + 16, _mm256_permute2f128_ps(q04, q15, 0x31));
  _mm256_storeu_ps(quads + 24, _mm256_permute2f128_ps(q26, q37, 0x31));
}

WIDE_INLINE WideF wide_load_quads(const float *low, const float *high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
}

WIDE_INLINE void wide_store_quads(WideF a, float *low, float *high) {
  _mm_storeu_ps(high, _mm256_extractf128_ps(a, 1));
  _mm_storeu_ps(low, _mm256_castps256_ps128(a));
}

WIDE_INLINE WideF wide_fourth(WideF a) { return _mm256_permute_ps(a, 0xff); }

WIDE_INLINE float wide_sum_vectors(WideF a) {
  __m128 both = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  __m128 xy = _mm_add_ss(both, _mm_movehdup_ps(both));
  return _mm_cvtss_f32(_mm_add_ss(xy, _mm_movehl_ps(both, both)));
}

WIDE_INLINE void wide_transpose(WideI rows[8]) {
  __m256 r[8], t[8];
  for (int k = 0; k < 8; ++k) r[k] = (__m256)rows[k];
  for (int k = 0; k < 8; k += 2) {
    t[k] = _mm256_unpacklo_ps(r[k], r[k + 1]);
    t[k + 1] = _mm256_unpackhi_ps(r[k], r[k + 1]);
  }
  for (int k = 0; k < 8; k += 4) {
    r[k] = _mm256_shuffle_ps(t[k], t[k + 2], 0x44);
    r[k + 1] = _mm256_shuffle_ps(t[k], t[k + 2], 0xee);
    r[k + 2] = _mm256_shuffle_ps(t[k + 1], t[k + 3], 0x44);
    r[k + 3] = _mm256_shuffle_ps(t[k + 1], t[k + 3], 0xee);
  }
  for (int k = 0; k < 4; ++k) {
    rows[k] = (WideI)_mm256_permute2f128_ps(r[k], r[k + 4], 0x20);
    rows[k + 4] = (WideI)_mm256_permute2f128_ps(r[k], r[k + 4], 0x31);
  }
}

WIDE_INLINE WideF wide_gather(const float *array, const int32_t *index) {
  return _mm256_i32gather_ps(array, _mm256_loadu_si256((const __m256i *)index), 4);
}

// ---- Doubles ----

typedef __m256d WideD;

WIDE_INLINE WideD wide_set_double(double a) { return _mm256_set1_pd(a); }
WIDE_INLINE WideD wide_load_double(const double *from) { return _mm256_loadu_pd(from); }
WIDE_INLINE WideD wide_load_single(const float *from) { return _mm256_cvtps_pd(_mm_loadu_ps(from)); }
WIDE_INLINE void wide_store_double(double *to, WideD a) { _mm256_storeu_pd(to, a); }
WIDE_INLINE WideD wide_fma_double(WideD a, WideD b, WideD c) { return _mm256_fmadd_pd(a, b, c); }

#endif
