// Distances to a polygon of many sides: a tree of boxes over runs of sides that follow each other.
#include "geometry/outline.h"

#include <math.h>

enum { SIDES_PER_LEAF = 4 };

typedef struct Box {
  double low[2], high[2];
} Box;

static const Box *boxes_of(const FloOutlineTree *tree) { return tree->boxes.data; }

static const double *corner_at(const FloOutlineTree *tree, size_t k) {
  return tree->points + 2 * (k < tree->n_points ? k : 0);
}

static bool is_leaf(const FloOutlineTree *tree, size_t node) { return node >= tree->n_leaves - 1; }

// ---- Building ----

static Box leaf_box(const FloOutlineTree *tree, size_t leaf) {
  Box box = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
  size_t first = leaf * SIDES_PER_LEAF, end = flo_min_size(first + SIDES_PER_LEAF, tree->n_points);
  for (size_t k = first; first < end && k <= end; ++k)
    for (int axis = 0; axis < 2; ++axis) {
      box.low[axis] = fmin(box.low[axis], corner_at(tree, k)[axis]);
      box.high[axis] = fmax(box.high[axis], corner_at(tree, k)[axis]);
    }
  return box;
}

// Node k has the children 2 k + 1 and 2 k + 2; the leaves are the last ones, in the order of the sides.
FloStatus flo_outline_tree_build(FloOutlineTree *tree, const double *points, size_t n, FloMemory *memory,
                                 FloError *error) {
  size_t n_leaves = 1;
  while (n_leaves * SIDES_PER_LEAF < n) n_leaves *= 2;
  *tree = (FloOutlineTree){.memory = memory, .points = points, .n_points = n, .n_leaves = n_leaves};
  FLO_TRY(flo_buffer_reserve(memory, &tree->boxes, (2 * n_leaves - 1) * sizeof(Box), 0, error));
  Box *boxes = tree->boxes.data;
  for (size_t leaf = 0; leaf < n_leaves; ++leaf) boxes[n_leaves - 1 + leaf] = leaf_box(tree, leaf);
  for (size_t k = n_leaves - 1; k-- > 0;)
    for (int axis = 0; axis < 2; ++axis) {
      boxes[k].low[axis] = fmin(boxes[2 * k + 1].low[axis], boxes[2 * k + 2].low[axis]);
      boxes[k].high[axis] = fmax(boxes[2 * k + 1].high[axis], boxes[2 * k + 2].high[axis]);
    }
  return FLO_OK;
}

void flo_outline_tree_free(FloOutlineTree *tree) {
  if (tree->memory) flo_buffer_free(tree->memory, &tree->boxes);
  tree->n_points = 0;
}

void flo_outline_tree_bounds(const FloOutlineTree *tree, double low[2], double high[2]) {
  for (int axis = 0; axis < 2; ++axis)
    low[axis] = boxes_of(tree)->low[axis], high[axis] = boxes_of(tree)->high[axis];
}

// ---- Distances ----

static double squared_distance_to_box(const Box *box, const double p[2]) {
  double sum = 0;
  for (int axis = 0; axis < 2; ++axis) {
    double d = fmax(fmax(box->low[axis] - p[axis], p[axis] - box->high[axis]), 0);
    sum += d * d;
  }
  return sum;
}

static double squared_distance_to_leaf(const FloOutlineTree *tree, size_t leaf, const double p[2]) {
  size_t first = leaf * SIDES_PER_LEAF, end = flo_min_size(first + SIDES_PER_LEAF, tree->n_points);
  double nearest = INFINITY;
  for (size_t k = first; k < end; ++k)
    nearest = fmin(nearest, flo_side_squared_distance(corner_at(tree, k), corner_at(tree, k + 1), p));
  return nearest;
}

// The least of `nearest` and the squared distances to the sides below a node.
static double nearest_below(const FloOutlineTree *tree, size_t node, const double p[2], double nearest) {
  const Box *boxes = boxes_of(tree);
  // The margin is for rounding in the distance to the box.
  if (!(squared_distance_to_box(&boxes[node], p) <= nearest * (1 + 1e-12))) return nearest;
  if (is_leaf(tree, node))
    return fmin(nearest, squared_distance_to_leaf(tree, node - (tree->n_leaves - 1), p));
  size_t near = 2 * node + 1, far = near + 1;
  if (squared_distance_to_box(&boxes[far], p) < squared_distance_to_box(&boxes[near], p))
    near = far, far = 2 * node + 1;
  nearest = nearest_below(tree, near, p, nearest);
  return nearest_below(tree, far, p, nearest);
}

// ---- Inside and outside ----

// The sides of a node are a run from one corner to another.
static void find_run(const FloOutlineTree *tree, size_t node, size_t *first, size_t *end) {
  size_t left = node, right = node;
  while (!is_leaf(tree, left)) left = 2 * left + 1, right = 2 * right + 2;
  *first = flo_min_size((left - (tree->n_leaves - 1)) * SIDES_PER_LEAF, tree->n_points);
  *end = flo_min_size((right - (tree->n_leaves - 1) + 1) * SIDES_PER_LEAF, tree->n_points);
}

static bool is_crossed_oddly(const FloOutlineTree *tree, size_t first, size_t end, const double p[2]) {
  bool is_odd = false;
  for (size_t k = first; k < end; ++k)
    is_odd ^= flo_side_is_crossed(corner_at(tree, k), corner_at(tree, k + 1), p);
  return is_odd;
}

// Whether the ray from the point along x crosses the sides below a node an odd number of times.
static bool is_crossed_oddly_below(const FloOutlineTree *tree, size_t node, const double p[2]) {
  const Box *box = &boxes_of(tree)[node];
  size_t first, end;
  if (!(box->low[1] <= p[1] && box->high[1] > p[1] && box->high[0] > p[0])) return false;
  if (!is_leaf(tree, node) && box->low[0] <= p[0])
    return is_crossed_oddly_below(tree, 2 * node + 1, p) != is_crossed_oddly_below(tree, 2 * node + 2, p);
  find_run(tree, node, &first, &end);
  if (box->low[0] <= p[0]) return is_crossed_oddly(tree, first, end, p);
  // The whole run lies to the right of the point, so only its ends matter: they are on one side of the ray or
  // on both.
  return (corner_at(tree, first)[1] > p[1]) != (corner_at(tree, end)[1] > p[1]);
}

double flo_outline_tree_distance(const FloOutlineTree *tree, const double p[2]) {
  double distance = sqrt(nearest_below(tree, 0, p, INFINITY));
  return is_crossed_oddly_below(tree, 0, p) ? -distance : distance;
}
