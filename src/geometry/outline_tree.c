// Distances to a polygon of many sides: a tree of boxes over runs of sides that follow each other.
#include "geometry/outline.h"

#include <math.h>

enum { SIDES_PER_LEAF = 4, STACK_SIZE = 72 }; // a level leaves one node on the stack

typedef struct Box {
  double low[2], high[2];
} Box;

static const Box *boxes_of(const FloOutlineTree *tree) { return tree->boxes.data; }

static const double *corner_at(const FloOutlineTree *tree, size_t k) {
  return tree->points + 2 * (k < tree->n_points ? k : 0);
}

// ---- Making ----

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

static double squared_distance(const FloOutlineTree *tree, const double p[2]) {
  const Box *boxes = boxes_of(tree);
  size_t stack[STACK_SIZE], n_waiting = 1;
  double nearest = INFINITY;
  stack[0] = 0;
  while (n_waiting > 0) {
    size_t node = stack[--n_waiting];
    // A hair's breadth more, because the distance to the box is rounded.
    if (!(squared_distance_to_box(&boxes[node], p) <= nearest * (1 + 1e-12))) continue;
    if (node >= tree->n_leaves - 1) {
      nearest = fmin(nearest, squared_distance_to_leaf(tree, node - (tree->n_leaves - 1), p));
      continue;
    }
    size_t left = 2 * node + 1, right = left + 1;
    bool is_left_nearer =
        squared_distance_to_box(&boxes[left], p) <= squared_distance_to_box(&boxes[right], p);
    stack[n_waiting++] = is_left_nearer ? right : left;
    stack[n_waiting++] = is_left_nearer ? left : right;
  }
  return nearest;
}

// ---- Inside and outside ----

// The sides of a node are a run from one corner to another.
static void find_run(const FloOutlineTree *tree, size_t node, size_t *first, size_t *end) {
  size_t left = node, right = node;
  while (left < tree->n_leaves - 1) left = 2 * left + 1, right = 2 * right + 2;
  *first = flo_min_size((left - (tree->n_leaves - 1)) * SIDES_PER_LEAF, tree->n_points);
  *end = flo_min_size((right - (tree->n_leaves - 1) + 1) * SIDES_PER_LEAF, tree->n_points);
}

static bool is_crossed_oddly(const FloOutlineTree *tree, size_t first, size_t end, const double p[2]) {
  bool is_odd = false;
  for (size_t k = first; k < end; ++k)
    is_odd ^= flo_side_is_crossed(corner_at(tree, k), corner_at(tree, k + 1), p);
  return is_odd;
}

// As flo_outline_contains. A run that lies to the right as a whole is crossed oddly if its ends are on either
// side of the ray.
static bool contains(const FloOutlineTree *tree, const double p[2]) {
  const Box *boxes = boxes_of(tree);
  size_t stack[STACK_SIZE], n_waiting = 1;
  bool is_inside = false;
  stack[0] = 0;
  while (n_waiting > 0) {
    size_t node = stack[--n_waiting], first, end;
    const Box *box = &boxes[node];
    if (!(box->low[1] <= p[1] && box->high[1] > p[1] && box->high[0] > p[0])) continue;
    bool is_leaf = node >= tree->n_leaves - 1;
    if (!is_leaf && box->low[0] <= p[0]) {
      stack[n_waiting++] = 2 * node + 1, stack[n_waiting++] = 2 * node + 2;
      continue;
    }
    find_run(tree, node, &first, &end);
    if (box->low[0] > p[0])
      is_inside ^= (corner_at(tree, first)[1] > p[1]) != (corner_at(tree, end)[1] > p[1]);
    else
      is_inside ^= is_crossed_oddly(tree, first, end, p);
  }
  return is_inside;
}

double flo_outline_tree_distance(const FloOutlineTree *tree, const double p[2]) {
  double distance = sqrt(squared_distance(tree, p));
  return contains(tree, p) ? -distance : distance;
}
