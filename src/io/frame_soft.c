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
  uint32_t *body;
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
  for (size_t k = 0; k < n; k++) all->body[first + k] = (uint32_t)index;
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
                  .body = malloc(n * sizeof(uint32_t)),
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
                         .arrays = {{"body", FLO_VTK_U32, 1, all.body},
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

// The body of each vertex. Files of earlier versions have shorter numbers.
typedef struct Owners {
  const uint32_t *all;
  const uint16_t *all_short;
} Owners;

static Owners find_owners(const FloVtkPoints *points) {
  return (Owners){flo_vtk_find(points, "body", FLO_VTK_U32, 1), flo_vtk_find(points, "body", FLO_VTK_U16, 1)};
}

static uint32_t owner_of(const Owners *owners, size_t vertex) {
  return owners->all ? owners->all[vertex] : owners->all_short[vertex];
}

static bool is_part_of(const Part *part, uint32_t vertex) {
  return vertex >= part->first && vertex < part->first + part->count;
}

// Goes on to the vertices and triangles of the next body. They follow each other in the order of bodies.
// False if a triangle reaches beyond its body.
static bool find_next(const FloVtkPoints *points, const Owners *owners, Part *part) {
  part->first += part->count, part->first_triangle += part->triangle_count;
  part->count = part->triangle_count = 0;
  while (part->first + part->count < points->count &&
         owner_of(owners, part->first + part->count) == owner_of(owners, part->first))
    part->count++;
  for (size_t t = part->first_triangle; t < points->n_triangles; t++, part->triangle_count++) {
    const uint32_t *corners = points->triangles + 3 * t;
    if (!is_part_of(part, corners[0])) return true;
    if (!is_part_of(part, corners[1]) || !is_part_of(part, corners[2])) return false;
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

static FloStatus fail_order(const char *path, size_t body, FloError *error) {
  return flo_fail(error, FLO_BAD_INPUT, "%s: damaged: triangles of body %zu are not in order", path, body);
}

static FloStatus split(const FloVtkPoints *points, const char *path, FloFrame *frame, FloError *error) {
  const Owners owners = find_owners(points);
  const bool has_body = owners.all || owners.all_short;
  const float *rest = flo_vtk_find(points, "rest", FLO_VTK_F32, 3),
              *stretch = flo_vtk_find(points, "stretch", FLO_VTK_F32, 1);
  if (!has_body || !rest || !stretch)
    return flo_fail(error, FLO_BAD_INPUT, "%s: has no array '%s', which flotsam writes", path,
                    !has_body ? "body"
                    : !rest   ? "rest"
                              : "stretch");
  Part part = {0};
  for (size_t next = 0; part.first + part.count < points->count;) {
    const size_t body = owner_of(&owners, part.first + part.count);
    if (body < next || body >= frame->n_bodies || !find_next(points, &owners, &part))
      return fail_order(path, body, error);
    FLO_TRY(copy_part(points, rest, stretch, &part, &frame->bodies[body], error));
    next = body + 1;
  }
  const bool is_whole = part.first_triangle + part.triangle_count == points->n_triangles;
  return is_whole ? FLO_OK : fail_order(path, owner_of(&owners, part.first), error);
}

FloStatus flo_frame_read_soft(const char *path, FloFrame *frame, FloError *error) {
  FloVtkPoints points;
  FLO_TRY(flo_vtk_read(path, &points, error));
  FloStatus status = split(&points, path, frame, error);
  flo_vtk_free(&points);
  return status;
}
