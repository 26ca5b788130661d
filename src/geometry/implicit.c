#include "geometry/implicit.h"

#include "base/vecmath.h"

// ---- Frames ----

// Centre and radius of a ball around the primitive.
static double primitive_ball(const FloPrimitive *primitive, double centre[3]) {
  const double *radii = primitive->radii;
  vec_copy(primitive->a, centre);
  switch (primitive->kind) {
  case FLO_PRIMITIVE_ROUND_CONE: {
    double axis[3];
    vec_sub(primitive->b, primitive->a, axis);
    vec_add_scaled(primitive->a, axis, 0.5, centre);
    return vec_length(axis) / 2 + fmax(radii[0], radii[1]);
  }
  case FLO_PRIMITIVE_ELLIPSOID:
    return fmax(radii[0], fmax(radii[1], radii[2]));
  case FLO_PRIMITIVE_TORUS:
    return radii[0] + radii[1];
  default:
    return radii[0];
  }
}

static FloPrimitiveFrame frame_of(const FloPrimitive *primitive) {
  FloPrimitiveFrame frame = {0};
  double angle = vec_length(primitive->turn);
  frame.is_turned = angle > 0;
  if (frame.is_turned) quat_from_axis_angle(primitive->turn, angle, frame.rotation);
  frame.radius = primitive_ball(primitive, frame.centre);
  return frame;
}

void flo_implicit_prepare(FloImplicit *implicit, FloPrimitiveFrame *frames) {
  for (size_t k = 0; k < implicit->n_primitives; ++k) frames[k] = frame_of(&implicit->primitives[k]);
  implicit->frames = frames;
}

// ---- Primitives ----

// Works in the plane of the axis and the point. The nearest sphere has its centre where the normal of the
// cone through the point meets the axis.
static double round_cone_value(const FloPrimitive *cone, const double point[3]) {
  double axis[3], from_a[3], from_b[3];
  vec_sub(cone->b, cone->a, axis);
  vec_sub(point, cone->a, from_a);
  vec_sub(point, cone->b, from_b);
  double length = vec_length(axis), narrowing = cone->radii[0] - cone->radii[1];
  double to_a = vec_length(from_a) - cone->radii[0], to_b = vec_length(from_b) - cone->radii[1];
  if (length <= fabs(narrowing)) return fmin(to_a, to_b); // one sphere holds the other
  double s = narrowing / length, c = sqrt(1 - s * s), along = vec_dot(from_a, axis) / length;
  double across = sqrt(fmax(vec_dot(from_a, from_a) - along * along, 0));
  double centre = along - across * s / c;
  if (centre <= 0) return to_a;
  if (centre >= length) return to_b;
  return across * c + along * s - cone->radii[0];
}

static void turn_back(const FloPrimitive *primitive, const FloPrimitiveFrame *frame, const double point[3],
                      double out[3]) {
  vec_sub(point, primitive->a, out);
  if (frame->is_turned) quat_rotate_back(frame->rotation, out, out);
}

// The level function divided by the length of its gradient: the distance to first order (Taubin 1994).
static double ellipsoid_value(const FloPrimitive *ellipsoid, const FloPrimitiveFrame *frame,
                              const double point[3]) {
  double p[3], level = 0, steepness = 0;
  const double *radii = ellipsoid->radii;
  turn_back(ellipsoid, frame, point, p);
  for (int axis = 0; axis < 3; ++axis) {
    double q = p[axis] / radii[axis];
    level += q * q;
    steepness += q * q / (radii[axis] * radii[axis]);
  }
  level = sqrt(level), steepness = sqrt(steepness);
  if (steepness <= 0) return -fmin(radii[0], fmin(radii[1], radii[2]));
  return level * (level - 1) / steepness;
}

static double torus_value(const FloPrimitive *torus, const FloPrimitiveFrame *frame, const double point[3]) {
  double p[3];
  turn_back(torus, frame, point, p);
  double across = sqrt(p[0] * p[0] + p[1] * p[1]) - torus->radii[0];
  return sqrt(across * across + p[2] * p[2]) - torus->radii[1];
}

static double value_in_frame(const FloPrimitive *primitive, const FloPrimitiveFrame *frame,
                             const double point[3]) {
  double p[3], from_a[3];
  vec_copy(point, p);
  if (primitive->is_mirrored) p[1] = fabs(p[1]);
  switch (primitive->kind) {
  case FLO_PRIMITIVE_ROUND_CONE:
    return round_cone_value(primitive, p);
  case FLO_PRIMITIVE_ELLIPSOID:
    return ellipsoid_value(primitive, frame, p);
  case FLO_PRIMITIVE_TORUS:
    return torus_value(primitive, frame, p);
  default:
    vec_sub(p, primitive->a, from_a);
    return vec_length(from_a) - primitive->radii[0];
  }
}

double flo_primitive_value(const FloPrimitive *primitive, const double point[3]) {
  FloPrimitiveFrame frame = frame_of(primitive);
  return value_in_frame(primitive, &frame, point);
}

// ---- Blending ----

// The quadratic smooth minimum. Where a and b differ by less than `width`, a parabola joins them with a
// continuous slope. It lies at most width/4 below both (Quilez, "Smooth minimum", 2013; after Dekkers et al.
// 2004).
static double smooth_minimum(double a, double b, double width) {
  double overlap = width > 0 ? fmax(width - fabs(a - b), 0) / width : 0;
  return fmin(a, b) - overlap * overlap * width / 4;
}

// Whether a part is so far away that adding it changes nothing. The test uses the ball around the part, which
// is cheaper than the part's own value. That value is at least half the distance.
static bool is_out_of_reach(const FloPrimitive *primitive, const FloPrimitiveFrame *frame,
                            const double point[3], double value) {
  double offset[3], away = value + primitive->blend, least = (away > 0 ? 2 * away : 0) + frame->radius;
  vec_sub(point, frame->centre, offset);
  if (primitive->is_mirrored) offset[1] = fabs(point[1]) - frame->centre[1];
  return !primitive->is_subtracted && vec_dot(offset, offset) > least * least;
}

double flo_implicit_value(const FloImplicit *implicit, const double point[3]) {
  double value = INFINITY;
  for (size_t k = 0; k < implicit->n_primitives; ++k) {
    const FloPrimitive *primitive = &implicit->primitives[k];
    FloPrimitiveFrame own;
    const FloPrimitiveFrame *frame =
        implicit->frames ? &implicit->frames[k] : (own = frame_of(primitive), &own);
    if (k > 0 && is_out_of_reach(primitive, frame, point, value)) continue;
    double other = value_in_frame(primitive, frame, point);
    if (k == 0)
      value = other;
    else if (primitive->is_subtracted)
      value = -smooth_minimum(-value, other, primitive->blend);
    else
      value = smooth_minimum(value, other, primitive->blend);
  }
  return value;
}

// ---- Bounds ----

void flo_implicit_bounds(const FloImplicit *implicit, double low[3], double high[3]) {
  double bulge = 0; // each blend may push the surface out by a quarter of its width
  vec_set(low, INFINITY, INFINITY, INFINITY);
  vec_set(high, -INFINITY, -INFINITY, -INFINITY);
  for (size_t k = 0; k < implicit->n_primitives; ++k) {
    const FloPrimitive *primitive = &implicit->primitives[k];
    double centre[3], radius = primitive_ball(primitive, centre);
    if (primitive->is_subtracted) continue;
    bulge = fmax(bulge, primitive->blend / 4);
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = fmin(low[axis], centre[axis] - radius);
      high[axis] = fmax(high[axis], centre[axis] + radius);
    }
    if (primitive->is_mirrored) low[1] = fmin(low[1], -centre[1] - radius);
    if (primitive->is_mirrored) high[1] = fmax(high[1], radius - centre[1]);
  }
  for (int axis = 0; axis < 3; ++axis) low[axis] -= bulge, high[axis] += bulge;
}
