#include "render/clip.h"

#include "base/core.h"

#include <stdlib.h>
#include <string.h>

// Points with side * (coordinate - limit) >= 0 stay.
typedef struct Plane {
  int axis;
  float limit, side;
} Plane;

static float height_over(Plane plane, V3 point) {
  return plane.side * (v3_get(point, plane.axis) - plane.limit);
}

// ---- Triangles ----

// Triangles that were collected; new vertices are added to those of the solids.
typedef struct Cut {
  FloSolids *solids;
  uint32_t (*triangles)[3];
  uint32_t *owners;
  size_t count;
} Cut;

static void keep(Cut *cut, uint32_t owner, uint32_t i, uint32_t j, uint32_t k) {
  memcpy(cut->triangles[cut->count], (uint32_t[3]){i, j, k}, sizeof *cut->triangles);
  cut->owners[cut->count++] = owner;
}

// A new vertex where the side from i to j, whose heights have different signs, meets the plane.
static uint32_t cross_side(FloSolids *s, Plane plane, uint32_t i, uint32_t j) {
  float hi = height_over(plane, s->vertices[i]), hj = height_over(plane, s->vertices[j]);
  float share = hi / (hi - hj);
  s->vertices[s->n_vertices] = v3_mix(s->vertices[i], s->vertices[j], share);
  s->normals[s->n_vertices] = v3_mix(s->normals[i], s->normals[j], share);
  s->marks[s->n_vertices] = v3_mix(s->marks[i], s->marks[j], share);
  return (uint32_t)s->n_vertices++;
}

static void cut_triangle(Cut *cut, Plane plane, const uint32_t t[3], uint32_t owner) {
  int n_inside = 0, inside = 0, outside = 0; // inside, outside: one such corner
  for (int k = 0; k < 3; k++) {
    bool is_inside = height_over(plane, cut->solids->vertices[t[k]]) >= 0;
    n_inside += is_inside;
    if (is_inside)
      inside = k;
    else
      outside = k;
  }
  if (n_inside == 0) return;
  if (n_inside == 3) {
    keep(cut, owner, t[0], t[1], t[2]);
    return;
  }
  // Turn the triangle so that the corner which is alone on its side comes first.
  int first = n_inside == 1 ? inside : outside;
  uint32_t a = t[first], b = t[(first + 1) % 3], c = t[(first + 2) % 3];
  uint32_t ab = cross_side(cut->solids, plane, a, b), ac = cross_side(cut->solids, plane, a, c);
  if (n_inside == 1) {
    keep(cut, owner, a, ab, ac);
  } else {
    keep(cut, owner, ab, b, c);
    keep(cut, owner, ab, c, ac);
  }
}

static bool grow_vertices(FloSolids *s) {
  size_t most = s->n_vertices + 2 * s->n_triangles + 2;
  V3 *vertices = realloc(s->vertices, most * sizeof *vertices);
  if (vertices) s->vertices = vertices;
  V3 *normals = realloc(s->normals, most * sizeof *normals);
  if (normals) s->normals = normals;
  V3 *marks = realloc(s->marks, most * sizeof *marks);
  if (marks) s->marks = marks;
  return vertices && normals && marks;
}

static bool cut_triangles(FloSolids *s, Plane plane) {
  Cut cut = {.solids = s};
  if (!grow_vertices(s)) return false;
  cut.triangles = malloc((2 * s->n_triangles + 1) * sizeof *cut.triangles);
  cut.owners = malloc((2 * s->n_triangles + 1) * sizeof *cut.owners);
  if (!cut.triangles || !cut.owners) {
    free(cut.triangles);
    free(cut.owners);
    return false;
  }
  for (size_t k = 0; k < s->n_triangles; k++) cut_triangle(&cut, plane, s->triangles[k], s->owners[k]);
  free(s->triangles);
  free(s->owners);
  s->triangles = cut.triangles, s->owners = cut.owners, s->n_triangles = cut.count;
  return true;
}

// ---- Edges ----

static void cut_edges(FloSolids *s, Plane plane) {
  size_t count = 0;
  for (size_t k = 0; k < s->n_edges; k++) {
    FloEdge edge = s->edges[k];
    float ha = height_over(plane, edge.a), hb = height_over(plane, edge.b);
    if (ha < 0 && hb < 0) continue;
    V3 middle = ha == hb ? edge.a : v3_mix(edge.a, edge.b, ha / (ha - hb));
    if (ha < 0) edge.a = middle;
    if (hb < 0) edge.b = middle;
    s->edges[count++] = edge;
  }
  s->n_edges = count;
}

static void find_bounds(FloSolids *s) {
  s->bounds = flo_bounds_empty();
  for (size_t k = 0; k < s->n_triangles; k++)
    for (int j = 0; j < 3; j++) s->bounds = flo_bounds_add(s->bounds, s->vertices[s->triangles[k][j]]);
  for (size_t k = 0; k < s->n_edges; k++)
    s->bounds = flo_bounds_add(flo_bounds_add(s->bounds, s->edges[k].a), s->edges[k].b);
}

FloStatus flo_solids_clip(FloSolids *solids, int axis, float low, float high, FloError *error) {
  const Plane planes[] = {{axis, low, 1}, {axis, high, -1}};
  for (size_t k = 0; k < FLO_COUNT_OF(planes); k++) {
    if (!cut_triangles(solids, planes[k]))
      return flo_fail(error, FLO_NO_MEMORY, "no memory to draw %zu triangles", solids->n_triangles);
    cut_edges(solids, planes[k]);
  }
  find_bounds(solids);
  return FLO_OK;
}
