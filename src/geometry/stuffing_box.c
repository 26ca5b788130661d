// Boxes, whose faces a lattice of cells fits exactly.
#include "geometry/stuffing.h"

#include <math.h>

typedef struct Grid {
  const double *low, *high;
  size_t n[3];    // cells
  uint32_t first; // vertex
  int dim;
} Grid;

static FloStatus add_vertices(const Grid *grid, FloElements *elements, FloError *error) {
  size_t index[3];
  for (index[2] = 0; index[2] <= grid->n[2]; ++index[2])
    for (index[1] = 0; index[1] <= grid->n[1]; ++index[1])
      for (index[0] = 0; index[0] <= grid->n[0]; ++index[0]) {
        double point[3] = {0};
        for (int axis = 0; axis < grid->dim; ++axis) {
          double share = (double)index[axis] / (double)grid->n[axis];
          point[axis] = (1 - share) * grid->low[axis] + share * grid->high[axis];
        }
        FLO_TRY(flo_elements_add_vertex(elements, point, NULL, error));
      }
  return FLO_OK;
}

// Corner `bits` of a cell lies at its high end along x, y, z where bits 0, 1, 2 are set.
static uint32_t corner_of(const Grid *grid, const size_t cell[3], uint32_t bits) {
  size_t i = cell[0] + (bits & 1), j = cell[1] + (bits >> 1 & 1), k = cell[2] + (bits >> 2 & 1);
  return grid->first + (uint32_t)((k * (grid->n[1] + 1) + j) * (grid->n[0] + 1) + i);
}

// One tetrahedron in the middle and four at corners. A mirrored cell has the other four corners cut off.
static const uint32_t tetrahedra[5][4] = {
    {0, 3, 5, 6}, {1, 0, 3, 5}, {2, 0, 3, 6}, {4, 0, 5, 6}, {7, 3, 5, 6}};
static const uint32_t triangles[2][3] = {{0, 1, 3}, {0, 3, 2}};

static FloStatus add_cell(const Grid *grid, const size_t cell[3], FloElements *elements, FloError *error) {
  uint32_t mirror = (cell[0] + cell[1] + cell[2]) % 2;
  for (int k = 0; k < (grid->dim == 3 ? 5 : 2); ++k) {
    uint32_t corners[4];
    for (int c = 0; c <= grid->dim; ++c)
      corners[c] = corner_of(grid, cell, (grid->dim == 3 ? tetrahedra[k][c] : triangles[k][c]) ^ mirror);
    FLO_TRY(flo_elements_add(elements, corners, error));
  }
  return FLO_OK;
}

FloStatus flo_stuff_box(const double low[3], const double high[3], double cell, FloElements *elements,
                        FloError *error) {
  Grid grid = {low, high, {1, 1, 0}, (uint32_t)elements->n_vertices, elements->dim};
  for (int axis = 0; axis < elements->dim; ++axis)
    grid.n[axis] = flo_max_size((size_t)lround((high[axis] - low[axis]) / cell), 1);
  FLO_TRY(add_vertices(&grid, elements, error));
  size_t at[3], n_layers = flo_max_size(grid.n[2], 1);
  for (at[2] = 0; at[2] < n_layers; ++at[2])
    for (at[1] = 0; at[1] < grid.n[1]; ++at[1])
      for (at[0] = 0; at[0] < grid.n[0]; ++at[0]) FLO_TRY(add_cell(&grid, at, elements, error));
  return FLO_OK;
}
