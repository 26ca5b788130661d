#include "geometry/cloth_mesh.h"

#include "geometry/outline.h"
#include "geometry/shape_mesh.h"
#include "geometry/shapes.h"
#include "geometry/thin_meshes.h"

#include <math.h>
#include <string.h>

// ---- In the plane ----

// A closed line under way: its last vertex is joined to the first at the end.
typedef struct Loop {
  FloMesh *mesh;
  double cell;
} Loop;

// The points of a side without its end.
static FloStatus add_side(const Loop *loop, const double a[2], const double b[2], FloError *error) {
  size_t n = flo_cells_along(hypot(b[0] - a[0], b[1] - a[1]), loop->cell);
  for (size_t k = 0; k < n; ++k) {
    double s = (double)k / (double)n;
    const double point[3] = {a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), 0};
    FLO_TRY(flo_mesh_add_vertex(loop->mesh, point, NULL, error));
  }
  return FLO_OK;
}

static FloStatus join_segments(const Loop *loop, FloError *error) {
  uint32_t n = (uint32_t)loop->mesh->n_vertices;
  for (uint32_t k = 0; k < n; ++k)
    FLO_TRY(flo_mesh_add_triangle(loop->mesh, k, (k + 1) % n, (k + 1) % n, error));
  return FLO_OK;
}

static FloStatus add_outline(const Loop *loop, const double *points, size_t n, FloError *error) {
  FLO_TRY(flo_cell_check(loop->cell, flo_outline_length(points, n) * loop->cell, error));
  bool is_clockwise = flo_outline_area(points, n) < 0;
  for (size_t k = 0; k < n; ++k) {
    size_t from = is_clockwise ? n - 1 - k : k, to = is_clockwise ? (2 * n - 2 - k) % n : (k + 1) % n;
    FLO_TRY(add_side(loop, points + 2 * from, points + 2 * to, error));
  }
  return join_segments(loop, error);
}

enum { LEAST_CIRCLE_SIDES = 8 };

static FloStatus add_circle(const Loop *loop, double radius, FloError *error) {
  FLO_TRY(flo_cell_check(loop->cell, 2 * FLO_PI * radius * loop->cell, error));
  size_t n = flo_max_size(flo_cells_along(2 * FLO_PI * radius, loop->cell), LEAST_CIRCLE_SIDES);
  for (size_t k = 0; k < n; ++k) {
    double angle = 2 * FLO_PI * (double)k / (double)n;
    const double point[3] = {radius * cos(angle), radius * sin(angle), 0};
    FLO_TRY(flo_mesh_add_vertex(loop->mesh, point, NULL, error));
  }
  return join_segments(loop, error);
}

static FloStatus make_line(const FloShape *shape, double cell, FloMesh *mesh, FloError *error) {
  const Loop loop = {mesh, cell};
  FloShape line = *shape;
  line.size[1] = 0;
  if (shape->kind == FLO_SHAPE_SHEET) return flo_mesh_thin(&line, cell, mesh, error);
  if (shape->kind == FLO_SHAPE_SPHERE) return add_circle(&loop, shape->radius, error);
  if (shape->kind == FLO_SHAPE_OUTLINE) return add_outline(&loop, shape->points, shape->n_points, error);
  double x = shape->size[0] / 2, y = shape->size[1] / 2;
  const double corners[] = {-x, -y, x, -y, x, y, -x, y};
  return add_outline(&loop, corners, 4, error);
}

// ---- In space ----

// After welding, such triangles have neither area nor inside.
static void drop_twin_corners(FloMesh *mesh) {
  size_t n = 0;
  for (size_t k = 0; k < mesh->n_triangles; ++k) {
    if (flo_mesh_has_twin_corners(mesh, k)) continue;
    memmove(flo_mesh_triangle(mesh, n++), flo_mesh_triangle(mesh, k), 3 * sizeof(uint32_t));
  }
  mesh->n_triangles = n;
}

static FloStatus make_given(const FloShape *shape, FloMesh *mesh, FloError *error) {
  FLO_TRY(flo_shape_mesh(shape, 1, 0, mesh, error));
  FLO_TRY(flo_mesh_weld(mesh, error));
  drop_twin_corners(mesh);
  if (mesh->n_triangles == 0)
    return flo_fail(error, FLO_BAD_INPUT, "cloth: the triangles of the mesh have no area");
  return flo_mesh_weld(mesh, error); // drops vertices that only those triangles used
}

// Flat faces have few triangles, whatever the fineness. So their long sides are halved.
static FloStatus make_surface(const FloShape *shape, double cell, FloMesh *mesh, FloError *error) {
  FloMassProperties shell;
  FLO_TRY(flo_cell_check(cell, 0, error));
  FLO_TRY(flo_shape_mesh(shape, cell, 0, mesh, error));
  flo_mesh_shell_mass(mesh, 1, 1, &shell);
  FLO_TRY(flo_cell_check(cell, shell.volume, error));
  return flo_mesh_halve_sides(mesh, 1.5 * cell, error);
}

FloStatus flo_shape_cloth_mesh(const FloShape *shape, int dim, double cell, FloMesh *mesh, FloError *error) {
  if (shape->cell > 0) cell = shape->cell;
  if (shape->kind == FLO_SHAPE_TANK)
    return flo_fail(error, FLO_BAD_INPUT, "cloth: a tank cannot be one; use a box, a bag or a mesh");
  if (dim == 2) return make_line(shape, cell, mesh, error);
  if (flo_shape_is_thin(shape)) return flo_mesh_thin(shape, cell, mesh, error);
  if (shape->kind == FLO_SHAPE_MESH) return make_given(shape, mesh, error);
  return make_surface(shape, cell, mesh, error);
}
