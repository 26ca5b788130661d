#include "render/camera.h"

#include "base/core.h"

#include <stdlib.h>

static const float default_view = 30;            // degrees, vertical
static const float azimuth = 27, elevation = 23; // degrees of the automatic view

static float radians(float degrees) { return degrees * (float)FLO_PI / 180; }

static V3 from_doubles(const double p[3]) { return v3((float)p[0], (float)p[1], (float)p[2]); }

static void set_axes(FloLens *lens, V3 forward, V3 up) {
  lens->forward = v3_normalize(forward);
  // If the camera looks along `up`, any direction across it serves as the upper edge of the picture.
  if (v3_length(v3_cross(lens->forward, up)) < 1e-4f) up = v3(up.y, up.z, up.x);
  lens->right = v3_normalize(v3_cross(lens->forward, up));
  lens->up = v3_cross(lens->right, lens->forward);
}

static void set_opening(FloLens *lens, float half_height) {
  lens->half_height = half_height;
  lens->half_width = half_height * (float)lens->width / (float)lens->height;
}

// ---- Automatic framing ----

static V3 bounds_corner(FloBounds b, int k) {
  return v3(k & 1 ? b.high.x : b.low.x, k & 2 ? b.high.y : b.low.y, k & 4 ? b.high.z : b.low.z);
}

// Where the eye must be along one screen axis. In lens coordinates an eye at (e, d) sees a point (x, z) if -a
// (z - d) <= x - e <= b (z - d). With A = max(x - b z) and B = max(-x - a z) over all points this means e - b
// d >= A and -e - a d >= B, so d <= -(A + B) / (a + b). This depth is returned. With the final depth, `e` may
// lie anywhere between A + b d and -B - a d; the middle centres the scene.
typedef struct Span {
  float a, b, A, B;
} Span;

static float span_depth(Span s) { return -(s.A + s.B) / (s.a + s.b); }
static float span_middle(Span s, float depth) { return 0.5f * (s.A + s.b * depth - s.B - s.a * depth); }

static Span span_of(FloBounds bounds, V3 across, V3 forward, float a, float b) {
  Span s = {a, b, -INFINITY, -INFINITY};
  for (int k = 0; k < 8; k++) {
    V3 corner = bounds_corner(bounds, k);
    float x = v3_dot(corner, across), z = v3_dot(corner, forward);
    s.A = fmaxf(s.A, x - b * z), s.B = fmaxf(s.B, -x - a * z);
  }
  return s;
}

static void frame_bounds(FloLens *lens, FloBounds bounds, FloMargins m) {
  const float w = lens->half_width, h = lens->half_height;
  Span x = span_of(bounds, lens->right, lens->forward, w * (1 - 2 * m.left), w * (1 - 2 * m.right));
  Span y = span_of(bounds, lens->up, lens->forward, h * (1 - 2 * m.bottom), h * (1 - 2 * m.top));
  float depth = fminf(span_depth(x), span_depth(y));
  lens->eye = v3_scale(lens->forward, depth);
  lens->eye = v3_mad(lens->eye, lens->right, span_middle(x, depth));
  lens->eye = v3_mad(lens->eye, lens->up, span_middle(y, depth));
}

// The longer horizontal side runs across the picture; x if both are about equal.
static V3 side_axis(int up, V3 size) {
  int first = up == 0 ? 1 : 0, second = 3 - up - first;
  return v3_axis(v3_get(size, second) > 1.2f * v3_get(size, first) ? second : first);
}

static void look_by_itself(FloLens *lens, int up_axis, FloBounds bounds, FloMargins margins) {
  V3 up = v3_axis(up_axis), side = side_axis(up_axis, v3_sub(bounds.high, bounds.low));
  V3 front = v3_cross(side, up);
  V3 level = v3_mad(v3_scale(front, cosf(radians(azimuth))), side, sinf(radians(azimuth)));
  V3 towards = v3_mad(v3_scale(level, cosf(radians(elevation))), up, sinf(radians(elevation)));
  set_axes(lens, v3_scale(towards, -1), up);
  set_opening(lens, tanf(radians(0.5f * default_view)));
  frame_bounds(lens, bounds, margins);
}

// ---- Given cameras and flat views ----

// The field of view of a given camera is meant for pictures of 16:9. A narrower picture shows the same from
// left to right and more above and below, so that the scene is not cut off at its sides.
static void set_told_opening(FloLens *lens, float half_height) {
  const float usual = 16.0f / 9, aspect = (float)lens->width / (float)lens->height;
  set_opening(lens, half_height * fmaxf(1, usual / aspect));
}

static void look_as_told(FloLens *lens, const FloCamera *camera, int up_axis) {
  V3 from = from_doubles(camera->from), forward = v3_sub(from_doubles(camera->look_at), from);
  float view = camera->field_of_view > 0 ? (float)camera->field_of_view : default_view;
  lens->eye = from;
  set_axes(lens, v3_length(forward) > 0 ? forward : v3_axis((up_axis + 1) % 3), v3_axis(up_axis));
  set_told_opening(lens, tanf(radians(0.5f * fminf(view, 170))));
}

// Fits the bounds into a flat view whose axes are set. Returns the middle of what is seen.
static V3 frame_flat(FloLens *lens, FloBounds b, FloMargins m) {
  V3 size = v3_sub(b.high, b.low), centre = v3_scale(v3_add(b.low, b.high), 0.5f);
  float across = fabsf(v3_dot(size, lens->right)), upright = fabsf(v3_dot(size, lens->up));
  float free_x = 1 - m.left - m.right, free_y = 1 - m.bottom - m.top,
        aspect = (float)lens->width / (float)lens->height;
  set_opening(lens, 0.5f * fmaxf(upright / free_y, across / (free_x * aspect)));
  centre = v3_mad(centre, lens->up, lens->half_height * (m.top - m.bottom));
  return v3_mad(centre, lens->right, lens->half_width * (m.right - m.left));
}

static void look_flat(FloLens *lens, const FloCamera *camera, int up_axis, FloBounds b, FloMargins m) {
  lens->is_flat = true;
  set_axes(lens, v3(0, 0, -1), up_axis == 0 ? v3(1, 0, 0) : v3(0, 1, 0));
  V3 centre = frame_flat(lens, b, m);
  if (camera->is_set) {
    V3 line = v3_sub(from_doubles(camera->from), from_doubles(camera->look_at));
    float view = camera->field_of_view > 0 ? (float)camera->field_of_view : default_view;
    centre = from_doubles(camera->look_at);
    if (v3_length(line) > 0) set_told_opening(lens, v3_length(line) * tanf(radians(0.5f * fminf(view, 170))));
  }
  lens->eye = v3_mad(centre, lens->forward, -(b.high.z - b.low.z + 4 * lens->half_height));
}

FloLens flo_lens_create_flat(int flat, int up, FloBounds bounds, FloMargins margins, int width, int height) {
  FloLens lens = {.is_flat = true, .width = width, .height = height};
  const int axis = abs(flat) - 1;
  FLO_ASSERT(axis >= 0 && axis < 3);
  // If the view runs along `up`, the axis after next is up in the picture: y if z is up.
  set_axes(&lens, v3_scale(v3_axis(axis), flat > 0 ? -1 : 1), v3_axis(axis == up ? (up + 2) % 3 : up));
  V3 centre = frame_flat(&lens, bounds, margins);
  lens.eye =
      v3_mad(centre, lens.forward, -(v3_length(v3_sub(bounds.high, bounds.low)) + 4 * lens.half_height));
  return lens;
}

FloLens flo_lens_create(const FloCamera *camera, int dim, int up, FloBounds bounds, FloMargins margins,
                        int width, int height) {
  FloLens lens = {.width = width, .height = height};
  if (dim == 2)
    look_flat(&lens, camera, up, bounds, margins);
  else if (camera->is_set)
    look_as_told(&lens, camera, up);
  else
    look_by_itself(&lens, up, bounds, margins);
  return lens;
}

// ---- Rays and points ----

void flo_lens_ray(const FloLens *lens, float x, float y, V3 *origin, V3 *direction) {
  float across = (2 * x / (float)lens->width - 1) * lens->half_width;
  float upright = (1 - 2 * y / (float)lens->height) * lens->half_height;
  V3 offset = v3_mad(v3_scale(lens->right, across), lens->up, upright);
  *origin = lens->is_flat ? v3_add(lens->eye, offset) : lens->eye;
  *direction = lens->is_flat ? lens->forward : v3_normalize(v3_add(lens->forward, offset));
}

void flo_lens_project(const FloLens *lens, V3 point, float *x, float *y, float *depth) {
  V3 offset = v3_sub(point, lens->eye);
  *depth = v3_dot(offset, lens->forward);
  float scale = lens->is_flat ? 1 : 1 / *depth;
  *x = 0.5f * (float)lens->width * (1 + v3_dot(offset, lens->right) * scale / lens->half_width);
  *y = 0.5f * (float)lens->height * (1 - v3_dot(offset, lens->up) * scale / lens->half_height);
}
