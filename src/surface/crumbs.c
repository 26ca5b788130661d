// Removes parts of a surface that are too small or too thin. A wall may be thinner than the distance by which
// the surface reaches beyond its particles; then a sheet without particles is left on the other side of the
// wall.
#include "surface/polish.h"

#include "base/vecmath.h"

#include <string.h>

typedef struct Parts {
  FloSurfaceMesh *surface;
  FloCrumb limits;
  double *volume;   // of the part whose smallest vertex this is [m^3]
  double *area;     // of the same [m^2]
  uint32_t *part;   // of each vertex: the smallest vertex in it
  uint32_t *number; // of each vertex that stays
} Parts;

static void join_vertices(Parts *parts) {
  const FloMesh *mesh = &parts->surface->mesh;
  for (size_t v = 0; v < mesh->n_vertices; ++v)
    parts->part[v] = (uint32_t)v, parts->volume[v] = parts->area[v] = 0;
  for (size_t t = 0; t < mesh->n_triangles; ++t) {
    const uint32_t *corners = flo_mesh_triangle(mesh, t);
    flo_mesh_join_sets(parts->part, corners[0], corners[1]);
    flo_mesh_join_sets(parts->part, corners[0], corners[2]);
  }
  for (size_t v = 0; v < mesh->n_vertices; ++v) parts->part[v] = flo_mesh_find_set(parts->part, (uint32_t)v);
}

// Volumes are taken about a vertex of the part itself, so that parts far from the origin lose no precision.
static void add_measures(Parts *parts) {
  const FloMesh *mesh = &parts->surface->mesh;
  for (size_t t = 0; t < mesh->n_triangles; ++t) {
    uint32_t part = parts->part[flo_mesh_triangle(mesh, t)[0]];
    double edges[3][3], normal[3];
    for (int k = 0; k < 3; ++k) vec_sub(flo_mesh_corner(mesh, t, k), flo_mesh_vertex(mesh, part), edges[k]);
    vec_cross(edges[0], edges[1], normal);
    parts->volume[part] += vec_dot(normal, edges[2]) / 6;
    for (int k = 1; k < 3; ++k) vec_sub(edges[k], edges[0], edges[k]);
    vec_cross(edges[1], edges[2], normal);
    parts->area[part] += 0.5 * vec_length(normal);
  }
}

static bool is_crumb(const Parts *parts, size_t vertex) {
  const uint32_t part = parts->part[vertex];
  const double volume = fabs(parts->volume[part]);
  return volume < parts->limits.volume || 2 * volume < parts->limits.thickness * parts->area[part];
}

static void drop_triangles(Parts *parts) {
  FloMesh *mesh = &parts->surface->mesh;
  size_t n = 0;
  for (size_t t = 0; t < mesh->n_triangles; ++t) {
    const uint32_t *from = flo_mesh_triangle(mesh, t);
    if (is_crumb(parts, from[0])) continue;
    uint32_t *to = flo_mesh_triangle(mesh, n++);
    for (int k = 0; k < 3; ++k) to[k] = parts->number[from[k]];
  }
  mesh->n_triangles = n;
}

static void move_vertex(Parts *parts, FloSurfaceNotes *notes, size_t from, size_t to) {
  FloMesh *mesh = &parts->surface->mesh;
  float *thickness = notes->thickness.data;
  memmove(flo_mesh_vertex(mesh, to), flo_mesh_vertex(mesh, from), sizeof(double[3]));
  memmove(flo_surface_velocity(parts->surface, to), flo_surface_velocity(parts->surface, from),
          sizeof(float[3]));
  thickness[to] = thickness[from];
}

static void drop_parts(Parts *parts, FloSurfaceNotes *notes) {
  FloMesh *mesh = &parts->surface->mesh;
  uint32_t *of_part = notes->part.data;
  size_t n = 0;
  parts->surface->n_components = 0;
  for (size_t v = 0; v < mesh->n_vertices; ++v) {
    if (is_crumb(parts, v)) continue;
    // The smallest vertex of a part comes first.
    bool is_first = parts->part[v] == v;
    uint32_t part =
        is_first ? (uint32_t)parts->surface->n_components++ : of_part[parts->number[parts->part[v]]];
    of_part[n] = part;
    parts->number[v] = (uint32_t)n;
    move_vertex(parts, notes, v, n++);
  }
  drop_triangles(parts);
  mesh->n_vertices = n;
}

FloStatus flo_surface_drop_crumbs(FloSurfaceMesh *surface, FloSurfaceNotes *notes, FloCrumb limits,
                                  FloError *error) {
  FloBuffer buffer = {0};
  size_t n = surface->mesh.n_vertices;
  FLO_TRY(flo_buffer_reserve(surface->mesh.memory, &buffer, n * (2 * sizeof(double) + 2 * sizeof(uint32_t)),
                             0, error));
  FloStatus status = flo_buffer_reserve(surface->mesh.memory, &notes->part, n * sizeof(uint32_t), 0, error);
  Parts parts = {.surface = surface, .limits = limits, .volume = buffer.data};
  parts.area = parts.volume + n;
  parts.part = (uint32_t *)(parts.area + n);
  parts.number = parts.part + n;
  if (status == FLO_OK) {
    join_vertices(&parts);
    add_measures(&parts);
    drop_parts(&parts, notes);
  }
  flo_buffer_free(surface->mesh.memory, &buffer);
  return status;
}
