// Smoothing after Taubin 1995: a step towards the middle of the neighbours, then a somewhat longer step back.
// It removes bumps and keeps larger shapes. Vertices of drops, threads and rims move less, because smoothing
// would destroy their shape (weights as in Löschner and others 2023). Volume that a part loses is restored by
// a shift along its normals.
#include "surface/polish.h"

#include "base/parallel.h"
#include "base/vecmath.h"

#include <string.h>

static const double step_in = 0.5, step_out = -0.52;
// Longest way of a vertex, in cells: the two sides of a film never meet.
static const double farthest_move = 0.8;

enum { N_LIMIT_STEPS = 4, N_VOLUME_ROUNDS = 2 };

typedef struct Sums {
  double volume, area;
} Sums;

typedef struct Polish {
  const FloSurfaceDef *def;
  FloSurfaceMesh *surface;
  const float *thickness;
  const uint32_t *part; // of each vertex
  int threads;
  double step;       // of the current half round
  uint32_t *first;   // corners around each vertex: [first[v], first[v + 1])
  uint32_t *corners; // 3 triangle + k
  double *start;     // triples: where vertices began
  double *next;      // triples: where they go
  Sums *begun, *now; // of each part
  uint32_t *origin;  // of each part: a vertex of it
  double *shift;     // of each part, along its normals [m]
  FloBuffer buffer;
} Polish;

static FloMesh *mesh_of(const Polish *polish) { return &polish->surface->mesh; }

// ---- Neighbours ----

// Lists the corners around each vertex. The mesh is closed, so the corners that follow them are all
// neighbours of the vertex, each once.
static void list_corners(Polish *polish) {
  const FloMesh *mesh = mesh_of(polish);
  const uint32_t *corners = mesh->triangles.data;
  size_t n = mesh->n_vertices, n_corners = 3 * mesh->n_triangles;
  memset(polish->first, 0, (n + 2) * sizeof *polish->first);
  for (size_t k = 0; k < n_corners; ++k) ++polish->first[corners[k] + 2];
  for (size_t v = 2; v < n + 2; ++v) polish->first[v] += polish->first[v - 1];
  for (size_t k = 0; k < n_corners; ++k) polish->corners[polish->first[corners[k] + 1]++] = (uint32_t)k;
  for (size_t v = n; v > 0; --v) polish->origin[polish->part[v - 1]] = (uint32_t)(v - 1);
}

static const double *next_point(const Polish *polish, uint32_t corner, unsigned k) {
  return flo_mesh_corner(mesh_of(polish), corner / 3, (int)((corner % 3 + k) % 3));
}

static void vertex_normal(const Polish *polish, size_t vertex, double normal[3]) {
  const double *p = flo_mesh_vertex(mesh_of(polish), vertex);
  vec_set(normal, 0, 0, 0);
  for (uint32_t k = polish->first[vertex]; k < polish->first[vertex + 1]; ++k) {
    double a[3], b[3], cross[3];
    vec_sub(next_point(polish, polish->corners[k], 1), p, a);
    vec_sub(next_point(polish, polish->corners[k], 2), p, b);
    vec_cross(a, b, cross);
    vec_add(normal, cross, normal);
  }
  double length = vec_length(normal);
  if (length > 0)
    vec_scale(normal, 1 / length, normal);
  else
    vec_set(normal, 0, 0, 1); // the triangles of this vertex cancel out, so any direction serves
}

// ---- Limits ----

static void region_slope(const FloSignedField *region, const double point[3], double value, double step,
                         double slope[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    double beside[3];
    vec_copy(point, beside);
    beside[axis] += step;
    slope[axis] = (region->value(region->context, beside) - value) / step;
  }
}

// Moves a point back into the region along the gradient, and into the box along the axes.
static void limit_point(const FloSurfaceDef *def, double point[3]) {
  for (int round = 0; def->region && round < N_LIMIT_STEPS; ++round) {
    double slope[3], value = def->region->value(def->region->context, point);
    if (value <= 0) break;
    region_slope(def->region, point, value, 1e-3 * def->cell, slope);
    double square = vec_dot(slope, slope);
    if (!(square > 1e-6)) break;
    vec_add_scaled(point, slope, -fmin(value / square, def->cell), point);
  }
  for (int axis = 0; def->has_box && axis < 3; ++axis)
    point[axis] = fmin(fmax(point[axis], def->box_low[axis]), def->box_high[axis]);
}

// ---- Moving ----

static void move_vertex(const Polish *polish, size_t vertex, const double way[3]) {
  const double *from = flo_mesh_vertex(mesh_of(polish), vertex), *start = polish->start + 3 * vertex;
  double move[3], most = farthest_move * polish->def->cell, *to = polish->next + 3 * vertex;
  vec_add(from, way, to);
  vec_sub(to, start, move);
  double length = vec_length(move);
  if (length > most) vec_add_scaled(start, move, most / length, to);
  limit_point(polish->def, to);
}

static void smooth_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Polish *polish = context;
  for (size_t v = begin; v < end; ++v) {
    const double *p = flo_mesh_vertex(mesh_of(polish), v);
    double sum[3] = {0}, n = (double)(polish->first[v + 1] - polish->first[v]);
    for (uint32_t k = polish->first[v]; k < polish->first[v + 1]; ++k) {
      double edge[3];
      vec_sub(next_point(polish, polish->corners[k], 1), p, edge);
      vec_add(sum, edge, sum);
    }
    vec_scale(sum, polish->step * (double)polish->thickness[v] / n, sum);
    move_vertex(polish, v, sum);
  }
}

static void shift_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Polish *polish = context;
  for (size_t v = begin; v < end; ++v) {
    double normal[3];
    vertex_normal(polish, v, normal);
    vec_scale(normal, polish->shift[polish->part[v]], normal);
    move_vertex(polish, v, normal);
  }
}

// Moves all vertices at once: each sees the others at their old places.
static void move_all(Polish *polish, FloRangeFn move) {
  FloMesh *mesh = mesh_of(polish);
  size_t n = mesh->n_vertices;
  flo_parallel_for(polish->threads, n, flo_parallel_grain(n), move, polish);
  memcpy(mesh->vertices.data, polish->next, n * sizeof(double[3]));
}

// ---- Volume ----

// Volumes are taken about a vertex of the part itself, so that parts far from the origin lose no precision.
static void measure(const Polish *polish, Sums *sums) {
  const FloMesh *mesh = mesh_of(polish);
  memset(sums, 0, polish->surface->n_components * sizeof *sums);
  for (size_t t = 0; t < mesh->n_triangles; ++t) {
    uint32_t part = polish->part[flo_mesh_triangle(mesh, t)[0]];
    double a[3], b[3], c[3], cross[3];
    vec_sub(flo_mesh_corner(mesh, t, 0), polish->start + 3 * (size_t)polish->origin[part], a);
    vec_sub(flo_mesh_corner(mesh, t, 1), flo_mesh_corner(mesh, t, 0), b);
    vec_sub(flo_mesh_corner(mesh, t, 2), flo_mesh_corner(mesh, t, 0), c);
    vec_cross(b, c, cross);
    sums[part].volume += vec_dot(cross, a) / 6;
    sums[part].area += vec_length(cross) / 2;
  }
}

static void restore_volume(Polish *polish) {
  const double most = 0.5 * polish->def->cell;
  for (int round = 0; round < N_VOLUME_ROUNDS; ++round) {
    measure(polish, polish->now);
    for (size_t k = 0; k < polish->surface->n_components; ++k) {
      double missing = polish->begun[k].volume - polish->now[k].volume;
      double shift = polish->now[k].area > 0 ? missing / polish->now[k].area : 0;
      polish->shift[k] = fmin(fmax(shift, -most), most);
    }
    move_all(polish, shift_range);
  }
}

static void smooth(Polish *polish) {
  for (int round = 0; round < polish->def->smoothing; ++round) {
    polish->step = step_in;
    move_all(polish, smooth_range);
    polish->step = step_out;
    move_all(polish, smooth_range);
  }
  if (polish->def->smoothing > 0) restore_volume(polish);
}

// ---- Normals ----

static void normal_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Polish *polish = context;
  for (size_t v = begin; v < end; ++v) {
    double normal[3];
    vertex_normal(polish, v, normal);
    for (int axis = 0; axis < 3; ++axis) flo_surface_normal(polish->surface, v)[axis] = (float)normal[axis];
  }
}

static void add_up(const Polish *polish) {
  FloSurfaceMesh *surface = polish->surface;
  surface->volume = surface->area = 0;
  measure(polish, polish->now);
  for (size_t k = 0; k < surface->n_components; ++k)
    surface->volume += polish->now[k].volume, surface->area += polish->now[k].area;
}

// ---- All together ----

static FloStatus reserve(Polish *polish, FloError *error) {
  FloMesh *mesh = mesh_of(polish);
  size_t n = mesh->n_vertices, n_parts = polish->surface->n_components;
  size_t doubles = 6 * n + 5 * n_parts, integers = n + 2 + 3 * mesh->n_triangles + n_parts;
  FLO_TRY(flo_buffer_reserve(mesh->memory, &polish->surface->normals, n * sizeof(float[3]), 0, error));
  FLO_TRY(flo_buffer_reserve(mesh->memory, &polish->buffer, 8 * doubles + 4 * integers, 0, error));
  polish->start = polish->buffer.data;
  polish->next = polish->start + 3 * n;
  polish->begun = (Sums *)(polish->next + 3 * n);
  polish->now = polish->begun + n_parts;
  polish->shift = (double *)(polish->now + n_parts);
  polish->first = (uint32_t *)(polish->shift + n_parts);
  polish->corners = polish->first + n + 2;
  polish->origin = polish->corners + 3 * mesh->n_triangles;
  return FLO_OK;
}

FloStatus flo_surface_polish(const FloSurfaceDef *def, FloSurfaceMesh *surface, const FloSurfaceNotes *notes,
                             FloError *error) {
  Polish polish = {.def = def,
                   .surface = surface,
                   .thickness = notes->thickness.data,
                   .part = notes->part.data,
                   .threads = def->threads > 0 ? def->threads : flo_parallel_default_threads()};
  FLO_TRY(reserve(&polish, error));
  size_t n = surface->mesh.n_vertices;
  for (size_t v = 0; v < n; ++v) limit_point(def, flo_mesh_vertex(&surface->mesh, v));
  memcpy(polish.start, surface->mesh.vertices.data, n * sizeof(double[3]));
  list_corners(&polish);
  measure(&polish, polish.begun);
  smooth(&polish);
  flo_parallel_for(polish.threads, n, flo_parallel_grain(n), normal_range, &polish);
  add_up(&polish);
  flo_buffer_free(surface->mesh.memory, &polish.buffer);
  return FLO_OK;
}
