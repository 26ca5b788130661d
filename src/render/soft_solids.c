#include "render/soft_solids.h"

#include "base/core.h"
#include "geometry/outline.h"

#include <stdlib.h>
#include <string.h>

bool flo_soft_is_shown(const FloFrameBody *placed) { return placed && placed->vertices; }

static V3 triple(const float *list, size_t k) { return v3(list[3 * k], list[3 * k + 1], list[3 * k + 2]); }

// ---- Surfaces ----

static void add_vertices(const FloFrameBody *body, V3 shift, FloSolids *out) {
  for (size_t k = 0; k < body->n_vertices; k++) {
    const V3 point = v3_add(triple(body->vertices, k), shift);
    out->bounds = flo_bounds_add(out->bounds, point);
    if (!out->vertices) continue;
    out->vertices[out->n_vertices + k] = point;
    out->normals[out->n_vertices + k] = v3(0, 0, 0);
    out->marks[out->n_vertices + k] = triple(body->rest, k);
  }
}

// Normals are weighted by the areas of triangles.
static void add_triangle(const FloFrameBody *body, size_t t, uint32_t owner, FloSolids *out) {
  if (out->triangles) {
    uint32_t *corners = out->triangles[out->n_triangles];
    for (size_t k = 0; k < 3; k++) corners[k] = body->triangles[3 * t + k] + (uint32_t)out->n_vertices;
    out->owners[out->n_triangles] = owner;
    const V3 origin = out->vertices[corners[0]];
    const V3 normal =
        v3_cross(v3_sub(out->vertices[corners[1]], origin), v3_sub(out->vertices[corners[2]], origin));
    for (int k = 0; k < 3; k++) out->normals[corners[k]] = v3_add(out->normals[corners[k]], normal);
  }
  out->n_triangles++;
}

static void add_surface(const FloFrameBody *body, uint32_t owner, V3 shift, FloSolids *out) {
  add_vertices(body, shift, out);
  for (size_t t = 0; t < body->n_triangles; t++) add_triangle(body, t, owner, out);
  for (size_t k = 0; out->normals && k < body->n_vertices; k++) {
    V3 *normal = &out->normals[out->n_vertices + k];
    *normal = v3_length(*normal) > 0 ? v3_normalize(*normal) : v3(0, 0, 1);
  }
  out->n_vertices += body->n_vertices;
}

// ---- Surfaces with edges ----

static bool is_segment(const uint32_t *corners) { return corners[1] == corners[2]; }

static bool has_segments(const FloFrameBody *body) {
  return body->n_triangles > 0 && is_segment(body->triangles);
}

// The border of an elastic body in the plane: from each vertex to the next, in two arrays of n_vertices.
typedef struct Border {
  uint32_t *next, *loop; // of each vertex: the vertex that follows; the vertices of the present loop in order
  double *points;        // of the loop, pairs
  uint32_t *triangles;   // of the loop, numbers in it
} Border;

static FloStatus allocate_border(const FloFrameBody *body, Border *border, FloError *error) {
  const size_t n = body->n_vertices + 1;
  *border = (Border){.next = malloc(n * sizeof(uint32_t)),
                     .loop = malloc(n * sizeof(uint32_t)),
                     .points = malloc(n * sizeof(double[2])),
                     .triangles = malloc(n * sizeof(uint32_t[3]))};
  if (!border->next || !border->loop || !border->points || !border->triangles)
    return flo_fail(error, FLO_NO_MEMORY, "no memory to draw a body of %zu vertices", body->n_vertices);
  for (size_t k = 0; k < body->n_vertices; k++) border->next[k] = UINT32_MAX;
  for (size_t k = 0; k < body->n_triangles; k++)
    border->next[body->triangles[3 * k]] = body->triangles[3 * k + 1];
  return FLO_OK;
}

static void free_border(Border *border) {
  free(border->next);
  free(border->loop);
  free(border->points);
  free(border->triangles);
}

// Takes the loop through a vertex. Returns the number of its vertices.
static size_t take_loop(const FloFrameBody *body, Border *border, uint32_t vertex) {
  size_t n = 0;
  while (border->next[vertex] != UINT32_MAX) {
    const uint32_t next = border->next[vertex];
    border->loop[n] = vertex, border->next[vertex] = UINT32_MAX;
    for (size_t axis = 0; axis < 2; axis++)
      border->points[2 * n + axis] = (double)body->vertices[3 * (size_t)vertex + axis];
    n++, vertex = next;
  }
  return n;
}

static FloStatus fill_loop(Border *border, size_t n, FloMesh *mesh, FloError *error) {
  if (n < 3) return FLO_OK;
  FLO_TRY(flo_outline_cut(border->points, n, mesh->memory, border->triangles, error));
  for (const uint32_t *t = border->triangles; t < border->triangles + 3 * (n - 2); t += 3)
    FLO_TRY(flo_mesh_add_triangle(mesh, border->loop[t[0]], border->loop[t[1]], border->loop[t[2]], error));
  return FLO_OK;
}

// In the plane, the area inside the border.
static FloStatus fill_border(const FloFrameBody *body, FloMesh *mesh, FloError *error) {
  Border border;
  FloStatus status = allocate_border(body, &border, error);
  for (uint32_t k = 0; status == FLO_OK && k < body->n_vertices; k++)
    status = fill_loop(&border, take_loop(body, &border, k), mesh, error);
  free_border(&border);
  return status;
}

FloStatus flo_soft_crease(const FloFrameBody *body, FloCreased *creased, FloError *error) {
  uint32_t ignored;
  for (size_t k = 0; k < body->n_vertices; k++) {
    const V3 p = triple(body->vertices, k);
    FLO_TRY(flo_mesh_add_vertex(&creased->mesh, (const double[3]){(double)p.x, (double)p.y, (double)p.z},
                                &ignored, error));
  }
  if (has_segments(body)) FLO_TRY(fill_border(body, &creased->mesh, error));
  for (const uint32_t *t = body->triangles; t < body->triangles + 3 * body->n_triangles; t += 3)
    if (!is_segment(t)) FLO_TRY(flo_mesh_add_triangle(&creased->mesh, t[0], t[1], t[2], error));
  return flo_creased_complete(creased, error);
}

// Each triangle has vertices of its own.
static void add_corner(const FloFrameBody *body, size_t vertex, size_t corner, V3 shift, V3 normal,
                       FloSolids *out) {
  const V3 point = v3_add(triple(body->vertices, vertex), shift);
  out->bounds = flo_bounds_add(out->bounds, point);
  if (out->vertices) {
    out->vertices[out->n_vertices] = point;
    out->normals[out->n_vertices] = normal;
    out->marks[out->n_vertices] = triple(body->rest, vertex);
    out->triangles[out->n_triangles][corner] = (uint32_t)out->n_vertices;
  }
  out->n_vertices++;
}

static void add_creased(const FloFrameBody *body, uint32_t owner, V3 shift, const FloCreased *creased,
                        FloSolids *out) {
  for (size_t t = 0; t < creased->mesh.n_triangles; t++) {
    const uint32_t *corners = flo_mesh_triangle(&creased->mesh, t);
    for (size_t k = 0; k < 3; k++) add_corner(body, corners[k], k, shift, creased->normals[3 * t + k], out);
    if (out->owners) out->owners[out->n_triangles] = owner;
    out->n_triangles++;
  }
}

// ---- Sides ----

static void add_side(const FloFrameBody *body, uint32_t from, uint32_t to, V3 shift, FloSolids *out) {
  const FloEdge edge = {v3_add(triple(body->vertices, from), shift),
                        v3_add(triple(body->vertices, to), shift)};
  out->bounds = flo_bounds_add(flo_bounds_add(out->bounds, edge.a), edge.b);
  if (out->edges) out->edges[out->n_edges] = edge;
  out->n_edges++;
}

static void add_sides(const FloFrameBody *body, V3 shift, FloSolids *out) {
  for (size_t t = 0; t < body->n_triangles; t++) {
    const uint32_t *corners = body->triangles + 3 * t;
    for (int k = 0; k < (is_segment(corners) ? 1 : 3); k++)
      add_side(body, corners[k], corners[(k + 1) % 3], shift, out);
  }
}

void flo_soft_add(const FloFrameBody *body, uint32_t owner, V3 shift, bool is_outlined,
                  const FloCreased *creased, FloSolids *out) {
  if (is_outlined || has_segments(body)) add_sides(body, shift, out);
  if (is_outlined) return;
  if (creased->normals)
    add_creased(body, owner, shift, creased, out);
  else if (!has_segments(body))
    add_surface(body, owner, shift, out);
}

// ---- Checks ----

float flo_soft_check(const FloSceneBody *body, const FloFrameBody *placed) {
  const float along = 16; // checks along the longest side
  const bool is_cloth = body->def.kind == FLO_BODY_CLOTH;
  if (!flo_soft_is_shown(placed)) return 0;
  if (strcmp(body->look, "checked") != 0 && !(is_cloth && body->look[0] == 0)) return 0;
  FloBounds bounds = flo_bounds_empty();
  for (size_t k = 0; k < placed->n_vertices; k++) bounds = flo_bounds_add(bounds, triple(placed->rest, k));
  const V3 size = v3_sub(bounds.high, bounds.low);
  return fmaxf(size.x, fmaxf(size.y, size.z)) / along;
}

// The material is divided into cubes of two shades. Surfaces through the origin of the shape run through the
// middle of cubes.
float flo_solids_shade(const FloSolids *s, uint32_t triangle, float u, float v) {
  const float dark = 0.55f, check = s->checks ? s->checks[s->owners[triangle]] : 0;
  if (!(check > 0)) return 1;
  const uint32_t *corner = s->triangles[triangle];
  const V3 p = v3_scale(v3_mad(v3_mad(v3_scale(s->marks[corner[0]], 1 - u - v), s->marks[corner[1]], u),
                               s->marks[corner[2]], v),
                        1 / check);
  const int n = (int)floorf(p.x + 0.5f) + (int)floorf(p.y + 0.5f) + (int)floorf(p.z + 0.5f);
  return n & 1 ? dark : 1;
}
