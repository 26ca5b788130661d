#include "geometry/thin_meshes.h"

#include "geometry/solid_meshes.h"

#include <math.h>

static const double row_height = 0.86602540378443864676; // of equilateral triangles, per side

size_t flo_cells_along(double length, double cell) { return flo_max_size((size_t)lround(length / cell), 1); }

FloStatus flo_cell_check(double cell, double area, FloError *error) {
  if (!(cell > 0) || !isfinite(cell))
    return flo_fail(error, FLO_BAD_INPUT, "cloth: the cell must be a positive length, got %g m", cell);
  double n = area / (cell * cell * row_height / 2), larger = cell * sqrt(n / FLO_MOST_CLOTH_TRIANGLES);
  if (n <= FLO_MOST_CLOTH_TRIANGLES) return FLO_OK;
  return flo_fail(
      error, FLO_BAD_INPUT,
      "cloth: with triangle sides of %g m it would have %.2g triangles; at most %.0e can be handled, "
      "so make the cell at least %.2g m",
      cell, n, FLO_MOST_CLOTH_TRIANGLES, larger);
}

// ---- Sheet ----

static FloStatus add_line(double length, double cell, FloMesh *mesh, FloError *error) {
  uint32_t first = (uint32_t)mesh->n_vertices;
  FLO_TRY(flo_cell_check(cell, length * cell, error));
  size_t n = flo_cells_along(length, cell);
  for (size_t k = 0; k <= n; ++k) {
    const double point[3] = {length * ((double)k / (double)n - 0.5), 0, 0};
    FLO_TRY(flo_mesh_add_vertex(mesh, point, NULL, error));
  }
  for (uint32_t k = first; k < first + n; ++k) FLO_TRY(flo_mesh_add_triangle(mesh, k, k + 1, k + 1, error));
  return FLO_OK;
}

// Cuts a square along one of its diagonals; a is its low corner, b the corner above it.
static FloStatus add_square(FloMesh *mesh, uint32_t a, uint32_t b, bool is_rising, FloError *error) {
  FLO_TRY(flo_mesh_add_triangle(mesh, a, a + 1, is_rising ? b + 1 : b, error));
  return flo_mesh_add_triangle(mesh, is_rising ? a : a + 1, b + 1, b, error);
}

// A grid whose diagonals alternate. So it is as stiff along one diagonal as along the other.
static FloStatus add_sheet(const double size[2], double cell, FloMesh *mesh, FloError *error) {
  if (!(size[1] > 0)) return add_line(size[0], cell, mesh, error);
  uint32_t first = (uint32_t)mesh->n_vertices;
  FLO_TRY(flo_cell_check(cell, (size[0] + cell) * (size[1] + cell), error));
  size_t n_x = flo_cells_along(size[0], cell), n_y = flo_cells_along(size[1], cell);
  for (size_t j = 0; j <= n_y; ++j)
    for (size_t i = 0; i <= n_x; ++i) {
      const double point[3] = {size[0] * ((double)i / (double)n_x - 0.5),
                               size[1] * ((double)j / (double)n_y - 0.5), 0};
      FLO_TRY(flo_mesh_add_vertex(mesh, point, NULL, error));
    }
  for (size_t j = 0; j < n_y; ++j)
    for (size_t i = 0; i < n_x; ++i) {
      uint32_t a = first + (uint32_t)(j * (n_x + 1) + i), b = a + (uint32_t)n_x + 1;
      FLO_TRY(add_square(mesh, a, b, (i + j) % 2 == 0, error));
    }
  return FLO_OK;
}

// ---- Rings ----

// Rings that are stitched as they come, from low to high.
typedef struct Stack {
  FloMesh *mesh;
  double cell, radius;
  FloMeshRing last;
  uint32_t n_rings;
} Stack;

static FloStatus add_ring(Stack *stack, double radius, double z, size_t n, uint32_t half_steps,
                          FloError *error) {
  const FloMeshRing ring = {(uint32_t)stack->mesh->n_vertices, (uint32_t)n, half_steps};
  for (size_t k = 0; k < n; ++k) {
    double angle = FLO_PI * (double)(2 * k + half_steps) / (double)n;
    const double point[3] = {radius * cos(angle), radius * sin(angle), z};
    FLO_TRY(flo_mesh_add_vertex(stack->mesh, point, NULL, error));
  }
  if (stack->n_rings++ > 0) FLO_TRY(flo_mesh_stitch_rings(stack->mesh, stack->last, ring, error));
  stack->last = ring;
  return FLO_OK;
}

static FloStatus add_pole(Stack *stack, double z, FloError *error) {
  return add_ring(stack, 0, z, 1, 0, error);
}

// Every other ring is turned by half a step, so that triangles are equilateral.
static FloStatus add_turned_ring(Stack *stack, double radius, double z, size_t least, FloError *error) {
  size_t n = flo_max_size(flo_cells_along(2 * FLO_PI * radius, stack->cell), least);
  return add_ring(stack, radius, z, n, stack->n_rings % 2, error);
}

enum { LEAST_SIDES = 6, LEAST_POLE_SIDES = 5, LEAST_DOME_RINGS = 2 };

static FloStatus add_tube(Stack *stack, double length, FloError *error) {
  size_t n = length > 0 ? flo_cells_along(length, row_height * stack->cell) : 0;
  for (size_t k = 0; k <= n; ++k) {
    double z = n > 0 ? length * ((double)k / (double)n - 0.5) : 0;
    FLO_TRY(add_turned_ring(stack, stack->radius, z, LEAST_SIDES, error));
  }
  return FLO_OK;
}

// The rings of a half ball between its pole and its equator, without both.
static FloStatus add_dome(Stack *stack, double equator, bool is_up, FloError *error) {
  size_t n = flo_cells_along(FLO_PI / 2 * stack->radius, row_height * stack->cell);
  n = flo_max_size(n, LEAST_DOME_RINGS);
  for (size_t k = 1; k < n; ++k) {
    double angle = FLO_PI / 2 * (double)(is_up ? k : n - k) / (double)n, height = stack->radius * sin(angle);
    FLO_TRY(add_turned_ring(stack, stack->radius * cos(angle), equator + (is_up ? height : -height),
                            LEAST_POLE_SIDES, error));
  }
  return FLO_OK;
}

// Ring k has 6 k sides: a hexagon of equilateral triangles that was made round.
static FloStatus add_disc(Stack *stack, FloError *error) {
  FLO_TRY(flo_cell_check(stack->cell, FLO_PI * pow(stack->radius + stack->cell, 2), error));
  size_t n = flo_cells_along(stack->radius, stack->cell);
  for (size_t k = n; k > 0; --k)
    FLO_TRY(add_ring(stack, stack->radius * (double)k / (double)n, 0, 6 * k, 0, error));
  return add_pole(stack, 0, error);
}

static FloStatus add_hose(Stack *stack, double length, FloError *error) {
  FLO_TRY(flo_cell_check(stack->cell, (2 * FLO_PI * stack->radius + stack->cell) * (length + stack->cell),
                         error));
  return add_tube(stack, length, error);
}

static FloStatus add_bag(Stack *stack, double length, bool is_closed, FloError *error) {
  double r = stack->radius;
  FLO_TRY(flo_cell_check(stack->cell, 2 * FLO_PI * (r + stack->cell) * (2 * r + length), error));
  FLO_TRY(add_pole(stack, -length / 2 - r, error));
  FLO_TRY(add_dome(stack, -length / 2, false, error));
  FLO_TRY(add_tube(stack, length, error));
  if (!is_closed) return FLO_OK;
  FLO_TRY(add_dome(stack, length / 2, true, error));
  return add_pole(stack, length / 2 + r, error);
}

FloStatus flo_mesh_thin(const FloShape *shape, double cell, FloMesh *mesh, FloError *error) {
  if (shape->cell > 0) cell = shape->cell;
  Stack stack = {.mesh = mesh, .cell = cell, .radius = shape->radius};
  switch (shape->kind) {
  case FLO_SHAPE_SHEET:
    return add_sheet(shape->size, cell, mesh, error);
  case FLO_SHAPE_DISC:
    return add_disc(&stack, error);
  case FLO_SHAPE_HOSE:
    return add_hose(&stack, shape->size[0], error);
  default:
    return add_bag(&stack, shape->size[0], shape->closed, error);
  }
}
