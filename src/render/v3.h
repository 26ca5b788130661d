// Three floats: points, directions and linear colours of the renderer. Names are short because formulas
// consist of them.
#ifndef FLO_RENDER_V3_H
#define FLO_RENDER_V3_H

#include <math.h>

// Unlike fminf and fmaxf, plain comparisons compile to one instruction. If one argument is NaN, the second is
// returned.
static inline float flo_minf(float a, float b) { return a < b ? a : b; }
static inline float flo_maxf(float a, float b) { return a > b ? a : b; }

typedef struct V3 {
  float x, y, z;
} V3;

static inline V3 v3(float x, float y, float z) { return (V3){x, y, z}; }
static inline V3 v3_add(V3 a, V3 b) { return (V3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline V3 v3_sub(V3 a, V3 b) { return (V3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline V3 v3_mul(V3 a, V3 b) { return (V3){a.x * b.x, a.y * b.y, a.z * b.z}; }
static inline V3 v3_scale(V3 a, float s) { return (V3){a.x * s, a.y * s, a.z * s}; }
static inline V3 v3_mad(V3 a, V3 b, float s) { return v3_add(a, v3_scale(b, s)); } // a + b s
static inline V3 v3_mix(V3 a, V3 b, float t) { return v3_mad(v3_scale(a, 1 - t), b, t); }
static inline float v3_dot(V3 a, V3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline float v3_length(V3 a) { return sqrtf(v3_dot(a, a)); }

static inline V3 v3_cross(V3 a, V3 b) {
  return (V3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// Zero stays zero.
static inline V3 v3_normalize(V3 a) {
  float length = v3_length(a);
  return length > 0 ? v3_scale(a, 1 / length) : a;
}

static inline V3 v3_axis(int axis) { return (V3){axis == 0, axis == 1, axis == 2}; }
static inline float v3_get(V3 a, int axis) { return axis == 0 ? a.x : axis == 1 ? a.y : a.z; }
static inline V3 v3_min(V3 a, V3 b) {
  return (V3){flo_minf(a.x, b.x), flo_minf(a.y, b.y), flo_minf(a.z, b.z)};
}
static inline V3 v3_max(V3 a, V3 b) {
  return (V3){flo_maxf(a.x, b.x), flo_maxf(a.y, b.y), flo_maxf(a.z, b.z)};
}

// Two directions that complete the unit vector n to a right-handed frame: start from the axis least along n.
static inline void v3_frame(V3 n, V3 *s, V3 *t) {
  V3 aside = fabsf(n.x) < 0.57f ? v3(1, 0, 0) : v3(0, 1, 0);
  *s = v3_normalize(v3_cross(aside, n));
  *t = v3_cross(n, *s);
}

static inline float flo_clamp01(float a) { return a < 0 ? 0 : a > 1 ? 1 : a; }
static inline float flo_smooth_step(float low, float high, float a) {
  float t = flo_clamp01((a - low) / (high - low));
  return t * t * (3 - 2 * t);
}

// An axis-aligned box; empty while low > high.
typedef struct FloBounds {
  V3 low, high;
} FloBounds;

static inline FloBounds flo_bounds_empty(void) {
  return (FloBounds){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}
static inline int flo_bounds_is_empty(FloBounds b) { return !(b.low.x <= b.high.x); }
static inline FloBounds flo_bounds_add(FloBounds b, V3 point) {
  return (FloBounds){v3_min(b.low, point), v3_max(b.high, point)};
}
static inline FloBounds flo_bounds_union(FloBounds a, FloBounds b) {
  return (FloBounds){v3_min(a.low, b.low), v3_max(a.high, b.high)};
}

#endif
