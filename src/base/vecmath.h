// Vectors of three doubles and unit quaternions (x, y, z, w).
#ifndef FLO_BASE_VECMATH_H
#define FLO_BASE_VECMATH_H

#include <math.h>
#include <stdbool.h>

static inline void vec_set(double out[3], double x, double y, double z) {
  out[0] = x, out[1] = y, out[2] = z;
}
static inline void vec_copy(const double a[3], double out[3]) { vec_set(out, a[0], a[1], a[2]); }
static inline void vec_add(const double a[3], const double b[3], double out[3]) {
  vec_set(out, a[0] + b[0], a[1] + b[1], a[2] + b[2]);
}
static inline void vec_sub(const double a[3], const double b[3], double out[3]) {
  vec_set(out, a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}
static inline void vec_scale(const double a[3], double s, double out[3]) {
  vec_set(out, a[0] * s, a[1] * s, a[2] * s);
}
static inline void vec_add_scaled(const double a[3], const double b[3], double s, double out[3]) {
  vec_set(out, a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]);
}
static inline double vec_dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline double vec_length(const double a[3]) { return sqrt(vec_dot(a, a)); }
static inline void vec_cross(const double a[3], const double b[3], double out[3]) {
  vec_set(out, a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]);
}
static inline bool vec_is_finite(const double a[3]) {
  return isfinite(a[0]) && isfinite(a[1]) && isfinite(a[2]);
}

static inline void quat_copy(const double a[4], double out[4]) {
  for (int k = 0; k < 4; ++k) out[k] = a[k];
}

static inline void quat_normalise(double q[4]) {
  double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int k = 0; k < 4; ++k) q[k] /= length;
}

// The rotation b followed by a.
static inline void quat_multiply(const double a[4], const double b[4], double out[4]) {
  double x = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
  double y = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0];
  double z = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3];
  double w = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
  out[0] = x, out[1] = y, out[2] = z, out[3] = w;
}

static inline void quat_conjugate(const double q[4], double out[4]) {
  out[0] = -q[0], out[1] = -q[1], out[2] = -q[2], out[3] = q[3];
}

// `axis` need not have unit length.
static inline void quat_from_axis_angle(const double axis[3], double angle, double out[4]) {
  double s = sin(angle / 2) / vec_length(axis);
  out[0] = axis[0] * s, out[1] = axis[1] * s, out[2] = axis[2] * s, out[3] = cos(angle / 2);
}

static inline void quat_rotate(const double q[4], const double v[3], double out[3]) {
  double t[3], u[3];
  vec_cross(q, v, t);
  vec_scale(t, 2, t);
  vec_cross(q, t, u);
  vec_set(out, v[0] + q[3] * t[0] + u[0], v[1] + q[3] * t[1] + u[1], v[2] + q[3] * t[2] + u[2]);
}

static inline void quat_rotate_back(const double q[4], const double v[3], double out[3]) {
  double inverse[4];
  quat_conjugate(q, inverse);
  quat_rotate(inverse, v, out);
}
// The rotation that leads from a to b.
static inline void quat_between(const double a[4], const double b[4], double out[4]) {
  double back[4];
  quat_conjugate(a, back);
  quat_multiply(b, back, out);
}
// Axis times angle, along the shortest arc.
static inline void quat_to_vector(const double q[4], double out[3]) {
  double sign = q[3] < 0 ? -1 : 1, sine = vec_length(q);
  double angle = 2 * atan2(sine, fabs(q[3]));
  vec_scale(q, sine > 0 ? sign * angle / sine : 0, out);
}

// A matrix of three rows times a vector.
static inline void mat_apply(const double m[9], const double v[3], double out[3]) {
  double x = m[0] * v[0] + m[1] * v[1] + m[2] * v[2];
  double y = m[3] * v[0] + m[4] * v[1] + m[5] * v[2];
  double z = m[6] * v[0] + m[7] * v[1] + m[8] * v[2];
  out[0] = x, out[1] = y, out[2] = z;
}

#endif
