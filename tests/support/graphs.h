// Patterns of sparse block matrices, and positive definite numbers for them.
#ifndef TEST_SUPPORT_GRAPHS_H
#define TEST_SUPPORT_GRAPHS_H

#include "solve/block_matrix.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Graph {
  uint32_t n, n_pairs, capacity;
  uint32_t *pairs;
} Graph;

static inline void graph_free(Graph *g) { free(g->pairs); }

static inline void graph_link(Graph *g, uint32_t a, uint32_t b) {
  if (g->n_pairs == g->capacity) {
    g->capacity = 2 * g->capacity + 16;
    g->pairs = realloc(g->pairs, 2 * g->capacity * sizeof *g->pairs);
  }
  g->pairs[2 * g->n_pairs] = a, g->pairs[2 * g->n_pairs++ + 1] = b;
}

static inline Graph graph_path(uint32_t n) {
  Graph g = {.n = n};
  for (uint32_t i = 1; i < n; ++i) graph_link(&g, i - 1, i);
  return g;
}

static inline Graph graph_loop(uint32_t n) {
  Graph g = graph_path(n);
  graph_link(&g, n - 1, 0);
  return g;
}

// The hub is the first.
static inline Graph graph_star(uint32_t n) {
  Graph g = {.n = n};
  for (uint32_t i = 1; i < n; ++i) graph_link(&g, i, 0);
  return g;
}

static inline Graph graph_complete(uint32_t n) {
  Graph g = {.n = n};
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = 0; j < i; ++j) graph_link(&g, i, j);
  return g;
}

// A box of vertices; each is linked with those at the given offsets that there are.
static inline Graph graph_lattice(const int size[3], const int (*offsets)[3], int n_offsets) {
  Graph g = {.n = (uint32_t)(size[0] * size[1] * size[2])};
  for (int i = 0; i < (int)g.n; ++i) {
    int at[3] = {i % size[0], i / size[0] % size[1], i / size[0] / size[1]};
    for (int o = 0; o < n_offsets; ++o) {
      int to[3], is_inside = 1;
      for (int axis = 0; axis < 3; ++axis) {
        to[axis] = at[axis] + offsets[o][axis];
        is_inside &= to[axis] >= 0 && to[axis] < size[axis];
      }
      if (is_inside) graph_link(&g, (uint32_t)i, (uint32_t)(to[0] + size[0] * (to[1] + size[1] * to[2])));
    }
  }
  return g;
}

// A sheet of triangles with bending: 13 blocks in a row.
static inline Graph graph_sheet(int width, int height) {
  static const int offsets[6][3] = {{1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 1, 0}, {1, 2, 0}, {1, -1, 0}};
  return graph_lattice((int[3]){width, height, 1}, offsets, 6);
}

// Cubes cut into six tetrahedra each: 15 blocks in a row.
static inline Graph graph_tetrahedra(int a, int b, int c) {
  static const int offsets[7][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0},
                                    {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
  return graph_lattice((int[3]){a, b, c}, offsets, 7);
}

static inline Graph graph_random(uint32_t n, uint32_t n_pairs, uint64_t seed) {
  Graph g = {.n = n};
  Random random = {seed};
  for (uint32_t k = 0; k < n_pairs; ++k) graph_link(&g, random_below(&random, n), random_below(&random, n));
  return g;
}

// The same graph with its vertices renumbered at random.
static inline void graph_shuffle(Graph *g, uint64_t seed) {
  Random random = {seed};
  uint32_t *order = malloc((g->n + 1) * sizeof *order);
  random_order(&random, order, g->n);
  for (uint32_t k = 0; k < 2 * g->n_pairs; ++k) g->pairs[k] = order[g->pairs[k]];
  free(order);
}

// a += u v^T.
static inline void add_outer(double *a, const double u[3], const double v[3]) {
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) a[3 * r + c] += u[r] * v[c];
}

// A random square of a linear form of two vertices for each pair, and a small square for each number.
static inline void fill_positive(FloBlockMatrix *matrix, const Graph *g, uint64_t seed, double least) {
  Random random = {seed};
  flo_block_matrix_clear(matrix);
  for (size_t i = 0; i < g->n; ++i)
    for (int axis = 0; axis < 3; ++axis) flo_block_matrix_at(matrix, i, i)[4 * axis] = least;
  for (uint32_t k = 0; k < 3 * g->n_pairs; ++k) {
    uint32_t i = g->pairs[k / 3 * 2], j = g->pairs[k / 3 * 2 + 1];
    double u[3], v[3];
    for (int axis = 0; axis < 3; ++axis)
      u[axis] = random_between(&random, -1, 1), v[axis] = i == j ? 0 : random_between(&random, -1, 1);
    add_outer(flo_block_matrix_at(matrix, i, i), u, u);
    if (i == j) continue;
    add_outer(flo_block_matrix_at(matrix, j, j), v, v);
    add_outer(flo_block_matrix_at(matrix, i, j), u, v);
    add_outer(flo_block_matrix_at(matrix, j, i), v, u);
  }
}

#endif
