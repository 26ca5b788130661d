// The surfaces of bodies that change their shape, in frames and in files.
#include "base/core.h"
#include "bodies/body.h"
#include "geometry/mesh_stretch.h"
#include "io/frame.h"
#include "io/vtk.h"

#include <stdlib.h>
#include <string.h>

void flo_frame_free_surface(FloFrameBody *body) {
  free(body->vertices);
  free(body->rest);
  free(body->stretch);
  free(body->triangles);
  body->vertices = body->rest = body->stretch = NULL;
  body->triangles = NULL;
}

static FloStatus allocate(FloFrameBody *body, FloError *error) {
  body->vertices = calloc(body->n_vertices + 1, sizeof(float[3]));
  body->rest = calloc(body->n_vertices + 1, sizeof(float[3]));
  body->stretch = calloc(body->n_vertices + 1, sizeof(float));
  body->triangles = calloc(body->n_triangles + 1, sizeof(uint32_t[3]));
  if (body->vertices && body->rest && body->stretch && body->triangles) return FLO_OK;
  flo_frame_free_surface(body);
  return flo_fail(error, FLO_NO_MEMORY, "no memory for a surface of %zu vertices", body->n_vertices);
}

static FloStretched surface_of(const FloFrameBody *body) {
  return (FloStretched){body->rest, body->vertices, body->n_vertices, body->triangles, body->n_triangles};
}

void flo_frame_normals(const FloFrameBody *body, float *normals) {
  const FloStretched surface = surface_of(body);
  flo_mesh_smooth_normals(&surface, normals);
}

bool flo_frame_has_soft(const FloFrame *frame) {
  for (size_t k = 0; k < frame->n_bodies; k++)
    if (frame->bodies[k].vertices) return true;
  return false;
}

// ---- From a world ----

FloStatus flo_frame_take_surface(const FloBody *body, FloFrameBody *to, FloError *error) {
  if (!body->kind->vertices) return FLO_OK;
  const double *now = body->kind->vertices(body, &to->n_vertices), *rest = body->kind->rest(body);
  const uint32_t *triangles = body->kind->triangles(body, &to->n_triangles);
  FLO_TRY(allocate(to, error));
  for (size_t k = 0; k < 3 * to->n_vertices; k++) {
    to->vertices[k] = (float)now[k];
    to->rest[k] = (float)rest[k];
  }
  memcpy(to->triangles, triangles, to->n_triangles * sizeof(uint32_t[3]));
  float *room = malloc((to->n_vertices + 1) * sizeof *room);
  if (!room) return flo_fail(error, FLO_NO_MEMORY, "no memory for %zu vertices", to->n_vertices);
  const FloStretched surface = surface_of(to);
  flo_mesh_stretch(&surface, room, to->stretch);
  free(room);
  return FLO_OK;
}

// ---- All surfaces of a frame as one ----

typedef struct Joined {
  size_t n_vertices, n_triangles;
  float *positions, *rest, *normals, *stretch;
  uint16_t *body;
  uint32_t *triangles;
} Joined;

static void discard(Joined *all) {
  free(all->positions);
  free(all->rest);
  free(all->normals);
  free(all->stretch);
  free(all->body);
  free(all->triangles);
}

static void append(Joined *all, const FloFrameBody *body, size_t index) {
  const size_t first = all->n_vertices, n = body->n_vertices;
  memcpy(all->positions + 3 * first, body->vertices, n * sizeof(float[3]));
  memcpy(all->rest + 3 * first, body->rest, n * sizeof(float[3]));
  memcpy(all->stretch + first, body->stretch, n * sizeof(float));
  flo_frame_normals(body, all->normals + 3 * first);
  for (size_t k = 0; k < n; k++) all->body[first + k] = (uint16_t)index;
  for (size_t k = 0; k < 3 * body->n_triangles; k++)
    all->triangles[3 * all->n_triangles + k] = body->triangles[k] + (uint32_t)first;
  all->n_vertices += n, all->n_triangles += body->n_triangles;
}

static FloStatus join(const FloFrame *frame, Joined *all, FloError *error) {
  size_t n = 1, n_triangles = 1;
  for (size_t k = 0; k < frame->n_bodies; k++)
    n += frame->bodies[k].n_vertices, n_triangles += frame->bodies[k].n_triangles;
  *all = (Joined){.positions = malloc(n * sizeof(float[3])),
                  .rest = malloc(n * sizeof(float[3])),
                  .normals = malloc(n * sizeof(float[3])),
                  .stretch = malloc(n * sizeof(float)),
                  .body = malloc(n * sizeof(uint16_t)),
                  .triangles = malloc(n_triangles * sizeof(uint32_t[3]))};
  if (!all->positions || !all->rest || !all->normals || !all->stretch || !all->body || !all->triangles)
    return flo_fail(error, FLO_NO_MEMORY, "no memory for surfaces of %zu vertices", n);
  for (size_t k = 0; k < frame->n_bodies; k++)
    if (frame->bodies[k].vertices) append(all, &frame->bodies[k], k);
  return FLO_OK;
}

FloStatus flo_frame_write_soft(const FloFrame *frame, const char *path, FloError *error) {
  Joined all;
  FloStatus status = join(frame, &all, error);
  FloVtkPoints points = {.time = frame->time,
                         .count = all.n_vertices,
                         .positions = all.positions,
                         .triangles = all.triangles,
                         .n_triangles = all.n_triangles,
                         .n_arrays = 4,
                         .arrays = {{"body", FLO_VTK_U16, 1, all.body},
                                    {"rest", FLO_VTK_F32, 3, all.rest},
                                    {"normal", FLO_VTK_F32, 3, all.normals},
                                    {"stretch", FLO_VTK_F32, 1, all.stretch}}};
  if (status == FLO_OK) status = flo_vtk_write(path, &points, error);
  discard(&all);
  return status;
}

// ---- From a file ----

typedef struct Part {
  size_t first, count;                   // vertices of a body
  size_t first_triangle, triangle_count; // and its triangles
} Part;

// Vertices and triangles of a body follow each other; a triangle belongs to the body of its first corner, and
// must not reach beyond it.
static bool find_part(const FloVtkPoints *points, const uint16_t *body, uint16_t index, Part *part) {
  *part = (Part){0};
  while (part->first < points->count && body[part->first] != index) part->first++;
  while (part->first + part->count < points->count && body[part->first + part->count] == index) part->count++;
  const size_t end = part->first + part->count;
  for (size_t t = 0; t < points->n_triangles; t++) {
    const uint32_t *corners = points->triangles + 3 * t;
    if (corners[0] < part->first || corners[0] >= end) continue;
    if (part->triangle_count == 0) part->first_triangle = t;
    if (part->first_triangle + part->triangle_count != t) return false;
    for (int k = 1; k < 3; k++)
      if (corners[k] < part->first || corners[k] >= end) return false;
    part->triangle_count++;
  }
  return true;
}

static FloStatus copy_part(const FloVtkPoints *points, const float *rest, const float *stretch,
                           const Part *part, FloFrameBody *body, FloError *error) {
  flo_frame_free_surface(body);
  body->n_vertices = part->count, body->n_triangles = part->triangle_count;
  FLO_TRY(allocate(body, error));
  memcpy(body->vertices, points->positions + 3 * part->first, part->count * sizeof(float[3]));
  memcpy(body->rest, rest + 3 * part->first, part->count * sizeof(float[3]));
  memcpy(body->stretch, stretch + part->first, part->count * sizeof(float));
  for (size_t k = 0; k < 3 * part->triangle_count; k++)
    body->triangles[k] = points->triangles[3 * part->first_triangle + k] - (uint32_t)part->first;
  return FLO_OK;
}

static FloStatus split(const FloVtkPoints *points, const char *path, FloFrame *frame, FloError *error) {
  const uint16_t *body = flo_vtk_find(points, "body", FLO_VTK_U16, 1);
  const float *rest = flo_vtk_find(points, "rest", FLO_VTK_F32, 3),
              *stretch = flo_vtk_find(points, "stretch", FLO_VTK_F32, 1);
  if (!body || !rest || !stretch)
    return flo_fail(error, FLO_BAD_INPUT, "%s: has no array '%s', which flotsam writes", path,
                    !body   ? "body"
                    : !rest ? "rest"
                            : "stretch");
  for (size_t k = 0; k < frame->n_bodies; k++) {
    Part part;
    if (!find_part(points, body, (uint16_t)k, &part))
      return flo_fail(error, FLO_BAD_INPUT, "%s: damaged: triangles of body %zu are not in order", path, k);
    if (part.count > 0) FLO_TRY(copy_part(points, rest, stretch, &part, &frame->bodies[k], error));
  }
  return FLO_OK;
}

FloStatus flo_frame_read_soft(const char *path, FloFrame *frame, FloError *error) {
  FloVtkPoints points;
  FLO_TRY(flo_vtk_read(path, &points, error));
  FloStatus status = split(&points, path, frame, error);
  flo_vtk_free(&points);
  return status;
}
