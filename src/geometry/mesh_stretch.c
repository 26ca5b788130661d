#include "geometry/mesh_stretch.h"

#include "base/vecmath.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef struct Sides {
  double a[3], b[3]; // from the first corner to the two others
} Sides;

static Sides sides_of(const float *vertices, const uint32_t corners[3]) {
  Sides s;
  for (int k = 0; k < 3; ++k) {
    const double origin = (double)vertices[3 * (size_t)corners[0] + (size_t)k];
    s.a[k] = (double)vertices[3 * (size_t)corners[1] + (size_t)k] - origin;
    s.b[k] = (double)vertices[3 * (size_t)corners[2] + (size_t)k] - origin;
  }
  return s;
}

static double area_of(const Sides *s) {
  double normal[3];
  vec_cross(s->a, s->b, normal);
  return vec_length(normal) / 2;
}

// The larger eigenvalue of inverse(G) H, the metrics of the sides at rest and now, is the square of the
// largest stretch.
static double largest_stretch(const Sides *rest, const Sides *now) {
  const double g[3] = {vec_dot(rest->a, rest->a), vec_dot(rest->a, rest->b), vec_dot(rest->b, rest->b)};
  const double h[3] = {vec_dot(now->a, now->a), vec_dot(now->a, now->b), vec_dot(now->b, now->b)};
  const double det_g = g[0] * g[2] - g[1] * g[1], det_h = h[0] * h[2] - h[1] * h[1];
  const double trace = (g[2] * h[0] - 2 * g[1] * h[1] + g[0] * h[2]) / det_g, det = det_h / det_g;
  return sqrt(fmax(trace / 2 + sqrt(fmax(trace * trace / 4 - det, 0)), 0));
}

static double stretch_of(const Sides *rest, const Sides *now, bool is_segment) {
  return is_segment ? vec_length(now->a) / vec_length(rest->a) : largest_stretch(rest, now);
}

static bool is_segment(const uint32_t corners[3]) { return corners[1] == corners[2]; }

void flo_mesh_stretch(const FloStretched *s, float *room, float *stretch) {
  memset(room, 0, s->n_vertices * sizeof *room);
  memset(stretch, 0, s->n_vertices * sizeof *stretch);
  for (size_t t = 0; t < s->n_triangles; ++t) {
    const uint32_t *corners = s->triangles + 3 * t;
    const bool is_line = is_segment(corners);
    const Sides rest = sides_of(s->rest, corners), now = sides_of(s->now, corners);
    const double weight = is_line ? vec_length(rest.a) : area_of(&rest);
    if (!(weight > 0)) continue;
    const double value = stretch_of(&rest, &now, is_line);
    for (int k = 0; k < (is_line ? 2 : 3); ++k) {
      room[corners[k]] += (float)weight;
      stretch[corners[k]] += (float)(weight * value);
    }
  }
  for (size_t v = 0; v < s->n_vertices; ++v) stretch[v] = room[v] > 0 ? stretch[v] / room[v] : 1;
}

// Its length is twice the area, or the length of a segment.
static void normal_of(const Sides *s, bool is_line, double normal[3]) {
  if (is_line)
    vec_set(normal, -s->a[1], s->a[0], 0);
  else
    vec_cross(s->a, s->b, normal);
}

void flo_mesh_smooth_normals(const FloStretched *s, float *normals) {
  memset(normals, 0, s->n_vertices * sizeof(float[3]));
  for (size_t t = 0; t < s->n_triangles; ++t) {
    const uint32_t *corners = s->triangles + 3 * t;
    const bool is_line = is_segment(corners);
    const Sides now = sides_of(s->now, corners);
    double normal[3];
    normal_of(&now, is_line, normal);
    for (int k = 0; k < (is_line ? 2 : 3); ++k)
      for (size_t axis = 0; axis < 3; ++axis) normals[3 * (size_t)corners[k] + axis] += (float)normal[axis];
  }
  for (size_t v = 0; v < s->n_vertices; ++v) {
    float *n = normals + 3 * v;
    const float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int axis = 0; axis < 3; ++axis) n[axis] = length > 0 ? n[axis] / length : 0;
  }
}
