#include "geometry/moving_tree.h"

#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF_SIZE = 4, GRAIN = 256, MOST_LEVELS = 32 };

// ---- Making ----

typedef struct Seed {
  double centre[3];
  uint32_t element;
} Seed;

static int compare_axis(const void *a, const void *b, int axis) {
  const Seed *p = a, *q = b;
  if (p->centre[axis] != q->centre[axis]) return p->centre[axis] < q->centre[axis] ? -1 : 1;
  return p->element < q->element ? -1 : p->element > q->element;
}
static int compare_x(const void *a, const void *b) { return compare_axis(a, b, 0); }
static int compare_y(const void *a, const void *b) { return compare_axis(a, b, 1); }
static int compare_z(const void *a, const void *b) { return compare_axis(a, b, 2); }

// The first element of node `k` of a level.
static size_t first_of(const FloMovingTree *tree, int level, size_t k) { return tree->n * k >> level; }

// Sorts the elements of a node along the longest axis of their centres.
static void sort_node(Seed *seeds, size_t n) {
  static int (*const compare[])(const void *, const void *) = {compare_x, compare_y, compare_z};
  FloMovingBox box = flo_empty_box;
  int axis = 0;
  for (size_t k = 0; k < n; ++k) flo_box_add(&box, seeds[k].centre);
  for (int k = 1; k < 3; ++k)
    if (box.high[k] - box.low[k] > box.high[axis] - box.low[axis]) axis = k;
  if (n > 1) qsort(seeds, n, sizeof *seeds, compare[axis]);
}

static void sort_seeds(const FloMovingTree *tree, Seed *seeds) {
  for (int level = 0; level < tree->n_levels; ++level)
    for (size_t k = 0; k < (size_t)1 << level; ++k) {
      const size_t begin = first_of(tree, level, k);
      sort_node(seeds + begin, first_of(tree, level, k + 1) - begin);
    }
}

static Seed seed_of(const double *rest, const uint32_t *corners, int n_corners, size_t element) {
  Seed seed = {.element = (uint32_t)element};
  for (int c = 0; c < n_corners; ++c)
    for (int axis = 0; axis < 3; ++axis)
      seed.centre[axis] += rest[3 * corners[c] + (uint32_t)axis] / n_corners;
  return seed;
}

static void take_order(FloMovingTree *tree, const Seed *seeds, const uint32_t *corners) {
  const size_t width = (size_t)tree->n_corners;
  for (size_t k = 0; k < tree->n; ++k) {
    ((uint32_t *)tree->order.data)[k] = seeds[k].element;
    memcpy((uint32_t *)tree->corners.data + width * k, corners + width * seeds[k].element,
           width * sizeof *corners);
  }
}

static FloStatus reserve(FloMovingTree *tree, FloMemory *memory, FloError *error) {
  const size_t n_nodes = (size_t)2 << tree->n_levels, width = (size_t)tree->n_corners;
  FLO_TRY(flo_buffer_reserve(memory, &tree->order, tree->n * sizeof(uint32_t) + 1, 0, error));
  FLO_TRY(flo_buffer_reserve(memory, &tree->corners, tree->n * width * sizeof(uint32_t) + 1, 0, error));
  return flo_buffer_reserve(memory, &tree->boxes, (tree->n + n_nodes) * sizeof(FloMovingBox), 0, error);
}

FloStatus flo_moving_tree_make(FloMovingTree *tree, FloMemory *memory, const double *rest,
                               const uint32_t *corners, size_t n, int n_corners, FloError *error) {
  FloBuffer room = {0};
  tree->n = n, tree->n_corners = n_corners;
  for (tree->n_levels = 0; n >> tree->n_levels > LEAF_SIZE;) ++tree->n_levels;
  FLO_TRY(reserve(tree, memory, error));
  FLO_TRY(flo_buffer_reserve(memory, &room, n * sizeof(Seed) + 1, 0, error));
  Seed *seeds = room.data;
  for (size_t k = 0; k < n; ++k) seeds[k] = seed_of(rest, corners + (size_t)n_corners * k, n_corners, k);
  sort_seeds(tree, seeds);
  take_order(tree, seeds, corners);
  flo_buffer_free(memory, &room);
  return FLO_OK;
}

void flo_moving_tree_free(FloMovingTree *tree, FloMemory *memory) {
  flo_buffer_free(memory, &tree->order);
  flo_buffer_free(memory, &tree->corners);
  flo_buffer_free(memory, &tree->boxes);
}

// ---- Boxes ----

static FloMovingBox *element_box(const FloMovingTree *tree, size_t k) {
  return (FloMovingBox *)tree->boxes.data + k;
}
static FloMovingBox *node_box(const FloMovingTree *tree, size_t node) {
  return (FloMovingBox *)tree->boxes.data + tree->n + node;
}
static size_t first_node(int level) { return ((size_t)1 << level) - 1; }

static void add_box(FloMovingBox *box, const FloMovingBox *other) {
  flo_box_add(box, other->low);
  flo_box_add(box, other->high);
}

typedef struct Refit {
  const FloMovingTree *tree;
  const double *from, *to;
  int level;
} Refit;

static void element_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Refit *refit = context;
  const size_t width = (size_t)refit->tree->n_corners;
  for (size_t k = begin; k < end; ++k) {
    FloMovingBox *box = element_box(refit->tree, k);
    const uint32_t *corners = (const uint32_t *)refit->tree->corners.data + width * k;
    *box = flo_empty_box;
    for (size_t c = 0; c < width; ++c) {
      flo_box_add(box, refit->from + 3 * corners[c]);
      flo_box_add(box, refit->to + 3 * corners[c]);
    }
  }
}

// An empty box adds nothing, since low corners are only compared with low ones.
static void join_boxes(FloMovingBox *box, const FloMovingBox *other) {
  if (other->low[0] <= other->high[0]) add_box(box, other);
}

static void fit_node(const FloMovingTree *tree, int level, size_t k) {
  FloMovingBox *box = node_box(tree, first_node(level) + k);
  *box = flo_empty_box;
  if (level == tree->n_levels) {
    for (size_t e = first_of(tree, level, k); e < first_of(tree, level, k + 1); ++e)
      join_boxes(box, element_box(tree, e));
    return;
  }
  const size_t child = 2 * (first_node(level) + k) + 1;
  join_boxes(box, node_box(tree, child));
  join_boxes(box, node_box(tree, child + 1));
}

static void node_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Refit *refit = context;
  for (size_t k = begin; k < end; ++k) fit_node(refit->tree, refit->level, k);
}

void flo_moving_tree_refit(FloMovingTree *tree, const double *from, const double *to, int threads) {
  Refit refit = {.tree = tree, .from = from, .to = to};
  flo_parallel_for(threads, tree->n, GRAIN, element_range, &refit);
  for (refit.level = tree->n_levels; refit.level >= 0; --refit.level)
    flo_parallel_for(threads, (size_t)1 << refit.level, GRAIN, node_range, &refit);
}

FloMovingBox flo_moving_tree_box(const FloMovingTree *tree) {
  return tree->n > 0 ? *node_box(tree, 0) : flo_empty_box;
}

// ---- Visits ----

typedef struct Place {
  int level;
  size_t k;
} Place;

void flo_moving_tree_visit(const FloMovingTree *tree, const FloMovingBox *box,
                           void (*visit)(void *context, uint32_t element), void *context) {
  Place stack[MOST_LEVELS + 2];
  int n = 0;
  if (tree->n > 0) stack[n++] = (Place){0, 0};
  while (n > 0) {
    const Place at = stack[--n];
    if (!flo_boxes_meet(node_box(tree, first_node(at.level) + at.k), box)) continue;
    if (at.level < tree->n_levels) {
      stack[n++] = (Place){at.level + 1, 2 * at.k + 1};
      stack[n++] = (Place){at.level + 1, 2 * at.k};
      continue;
    }
    for (size_t e = first_of(tree, at.level, at.k); e < first_of(tree, at.level, at.k + 1); ++e)
      if (flo_boxes_meet(element_box(tree, e), box)) visit(context, ((const uint32_t *)tree->order.data)[e]);
  }
}

// ---- The nearest element ----

static double square_distance(const FloMovingBox *box, const double x[3]) {
  double square = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double away = fmax(fmax(box->low[axis] - x[axis], x[axis] - box->high[axis]), 0);
    square += away * away;
  }
  return square;
}

// A node that must be searched, unless something nearer is found first.
typedef struct Waiting {
  Place at;
  double square;
} Waiting;

static Waiting wait_for(const FloMovingTree *tree, const double x[3], int level, size_t k) {
  return (Waiting){{level, k}, square_distance(node_box(tree, first_node(level) + k), x)};
}

// The nearer child is searched first.
static int open_node(const FloMovingTree *tree, const double x[3], Place at, Waiting *stack, int n) {
  const Waiting first = wait_for(tree, x, at.level + 1, 2 * at.k),
                second = wait_for(tree, x, at.level + 1, 2 * at.k + 1);
  const bool is_swapped = second.square < first.square;
  stack[n] = is_swapped ? first : second;
  stack[n + 1] = is_swapped ? second : first;
  return n + 2;
}

double flo_moving_tree_nearest(const FloMovingTree *tree, const double x[3],
                               double (*measure)(void *context, uint32_t element, double least),
                               void *context) {
  Waiting stack[MOST_LEVELS + 2];
  double least = INFINITY;
  int n = 0;
  if (tree->n > 0) stack[n++] = wait_for(tree, x, 0, 0);
  while (n > 0) {
    const Waiting top = stack[--n];
    if (!(top.square < least)) continue;
    if (top.at.level < tree->n_levels) {
      n = open_node(tree, x, top.at, stack, n);
      continue;
    }
    for (size_t e = first_of(tree, top.at.level, top.at.k); e < first_of(tree, top.at.level, top.at.k + 1);
         ++e)
      if (square_distance(element_box(tree, e), x) < least)
        least = measure(context, ((const uint32_t *)tree->order.data)[e], least);
  }
  return least;
}
