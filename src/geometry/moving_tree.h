// A tree of boxes over elements whose vertices move: triangles, segments or edges. It is made once, from the
// state at rest, and refitted whenever the vertices have moved. Elements that are near at rest stay near
// while the surface bends and folds, so the tree stays good.
#ifndef FLO_GEOMETRY_MOVING_TREE_H
#define FLO_GEOMETRY_MOVING_TREE_H

#include "base/memory.h"

#include <math.h>

typedef struct FloMovingBox {
  double low[3], high[3]; // [m]
} FloMovingBox;

// A complete binary tree: the children of node k are 2 k + 1 and 2 k + 2. Nodes of one level share the
// elements evenly.
typedef struct FloMovingTree {
  size_t n;          // elements
  int n_corners;     // of each
  int n_levels;      // below the root
  FloBuffer order;   // elements in the order of the leaves, uint32_t
  FloBuffer corners; // of elements in this order, uint32_t
  FloBuffer boxes;   // of elements in this order, then of nodes; FloMovingBox
} FloMovingTree;

static const FloMovingBox flo_empty_box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static inline void flo_box_add(FloMovingBox *box, const double x[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    box->low[axis] = fmin(box->low[axis], x[axis]);
    box->high[axis] = fmax(box->high[axis], x[axis]);
  }
}
static inline void flo_box_grow(FloMovingBox *box, double by) {
  for (int axis = 0; axis < 3; ++axis) box->low[axis] -= by, box->high[axis] += by;
}
static inline bool flo_boxes_meet(const FloMovingBox *a, const FloMovingBox *b) {
  return a->low[0] <= b->high[0] && b->low[0] <= a->high[0] && a->low[1] <= b->high[1] &&
         b->low[1] <= a->high[1] && a->low[2] <= b->high[2] && b->low[2] <= a->high[2];
}

// Copies the corners. Zeros are an empty tree, which can be freed.
FloStatus flo_moving_tree_make(FloMovingTree *tree, FloMemory *memory, const double *rest,
                               const uint32_t *corners, size_t n, int n_corners, FloError *error);
void flo_moving_tree_free(FloMovingTree *tree, FloMemory *memory);
// Finds the boxes of elements whose vertices move in straight lines, three numbers each.
void flo_moving_tree_refit(FloMovingTree *tree, const double *from, const double *to, int threads);
// Around everything.
FloMovingBox flo_moving_tree_box(const FloMovingTree *tree);
// Calls `visit` for each element whose box meets this one, always in the same order.
void flo_moving_tree_visit(const FloMovingTree *tree, const FloMovingBox *box,
                           void (*visit)(void *context, uint32_t element), void *context);
// The square of the distance of x from the nearest element, or INFINITY. `measure` returns that of one
// element if it is less than `least`, or else `least`.
double flo_moving_tree_nearest(const FloMovingTree *tree, const double x[3],
                               double (*measure)(void *context, uint32_t element, double least),
                               void *context);

#endif
