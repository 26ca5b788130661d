// Builds the tree of boxes by the binned surface area heuristic (Wald 2007), along the longest axis of the
// triangles' centroids.
#include "base/vecmath.h"
#include "geometry/bvh_tree.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LEAF_SIZE = 4, N_BINS = 16 };

static const double max_far_coordinate =
    1e40; // a limit: the far field of the winding number needs the seventh power

typedef struct Box {
  double low[3], high[3];
} Box;

typedef struct Builder {
  FloBvh *bvh;
  const Box *boxes; // of the triangles
} Builder;

typedef struct Task {
  uint32_t node, begin, end;
  int depth;
} Task;

static const Box empty_box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

// Low corners are compared with low ones and high with high ones, so that an empty box changes nothing.
static void box_add(Box *box, const double low[3], const double high[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    box->low[axis] = low[axis] < box->low[axis] ? low[axis] : box->low[axis];
    box->high[axis] = high[axis] > box->high[axis] ? high[axis] : box->high[axis];
  }
}

static void box_add_point(Box *box, const double p[3]) { box_add(box, p, p); }
static void box_add_box(Box *box, const Box *other) { box_add(box, other->low, other->high); }

static double box_half_area(const Box *box) {
  double e[3];
  vec_sub(box->high, box->low, e);
  return e[0] >= 0 ? e[0] * e[1] + e[1] * e[2] + e[2] * e[0] : 0;
}

// Halving before adding avoids an overflow.
static double centroid(const Box *box, int axis) { return box->low[axis] / 2 + box->high[axis] / 2; }

typedef struct Split {
  int axis;
  double low, scale; // bin of a centroid: (centroid - low) scale
  int bin;           // the last bin of the left side; negative: no useful split
} Split;

static int bin_of(const Split *split, const Box *box) {
  int bin = (int)((centroid(box, split->axis) - split->low) * split->scale);
  return bin < N_BINS ? bin : N_BINS - 1;
}

static Split choose_axis(const Builder *builder, const Task *task) {
  Box centroids = empty_box;
  const uint32_t *order = bvh_order(builder->bvh);
  for (uint32_t k = task->begin; k < task->end; ++k) {
    const Box *box = &builder->boxes[order[k]];
    box_add_point(&centroids, (double[3]){centroid(box, 0), centroid(box, 1), centroid(box, 2)});
  }
  double extent[3];
  vec_sub(centroids.high, centroids.low, extent);
  int axis = extent[0] >= extent[1] ? 0 : 1;
  axis = extent[2] > extent[axis] ? 2 : axis;
  double scale = N_BINS / extent[axis];
  // The bins are of no use if all centroids are in one place, or too close or too far apart for the quotient.
  bool is_useless = !(extent[axis] > 0) || !isfinite(extent[axis]) || !isfinite(scale);
  return (Split){axis, centroids.low[axis], scale, is_useless ? -1 : 0};
}

// The cheapest of the 15 planes between the bins.
static void choose_plane(const Builder *builder, const Task *task, Split *split) {
  Box boxes[N_BINS], box = empty_box;
  uint32_t counts[N_BINS] = {0}, count = 0;
  double costs[N_BINS];
  for (int bin = 0; bin < N_BINS; ++bin) boxes[bin] = empty_box;
  for (uint32_t k = task->begin; k < task->end; ++k) {
    const Box *triangle = &builder->boxes[bvh_order(builder->bvh)[k]];
    int bin = bin_of(split, triangle);
    box_add_box(&boxes[bin], triangle);
    ++counts[bin];
  }
  for (int bin = N_BINS - 1; bin > 0; --bin) {
    box_add_box(&box, &boxes[bin]);
    count += counts[bin];
    costs[bin - 1] = count ? count * box_half_area(&box) : INFINITY;
  }
  double best = INFINITY;
  box = empty_box, count = 0, split->bin = -1;
  for (int bin = 0; bin < N_BINS - 1; ++bin) {
    box_add_box(&box, &boxes[bin]);
    count += counts[bin];
    double cost = costs[bin] + count * box_half_area(&box);
    if (count && cost < best) best = cost, split->bin = bin;
  }
}

static uint32_t partition(const Builder *builder, const Task *task, const Split *split) {
  uint32_t *order = builder->bvh->order.data, left = task->begin;
  for (uint32_t k = task->begin; k < task->end; ++k) {
    uint32_t triangle = order[k];
    if (bin_of(split, &builder->boxes[triangle]) > split->bin) continue;
    order[k] = order[left];
    order[left++] = triangle;
  }
  return left;
}

// Returns where the range is cut in two.
static uint32_t split_range(const Builder *builder, const Task *task) {
  uint32_t middle = task->begin + (task->end - task->begin) / 2;
  if (task->depth >= FLO_BVH_MEDIAN_DEPTH) return middle;
  Split split = choose_axis(builder, task);
  if (split.bin >= 0) choose_plane(builder, task, &split);
  return split.bin < 0 ? middle : partition(builder, task, &split);
}

static void fill_node(const Builder *builder, const Task *task) {
  FloBvh *bvh = builder->bvh;
  FloBvhNode *node = (FloBvhNode *)bvh->nodes.data + task->node;
  Box box = empty_box;
  for (uint32_t k = task->begin; k < task->end; ++k) box_add_box(&box, &builder->boxes[bvh_order(bvh)[k]]);
  vec_copy(box.low, node->low), vec_copy(box.high, node->high);
  node->first = task->begin, node->count = task->end - task->begin;
}

static void build_nodes(Builder *builder) {
  FloBvh *bvh = builder->bvh;
  Task stack[FLO_BVH_STACK_SIZE];
  int height = 0;
  stack[height++] = (Task){0, 0, (uint32_t)bvh->mesh->n_triangles, 0};
  bvh->n_nodes = 1;
  while (height) {
    Task task = stack[--height];
    fill_node(builder, &task);
    if (task.end - task.begin <= LEAF_SIZE) continue;
    uint32_t middle = split_range(builder, &task), child = (uint32_t)bvh->n_nodes;
    FloBvhNode *node = (FloBvhNode *)bvh->nodes.data + task.node;
    node->first = child, node->count = 0;
    bvh->n_nodes += 2;
    stack[height++] = (Task){child + 1, middle, task.end, task.depth + 1};
    stack[height++] = (Task){child, task.begin, middle, task.depth + 1};
  }
}

static FloStatus fill_boxes(const FloMesh *mesh, double max_coordinate, Box *boxes, FloError *error) {
  for (uint32_t k = 0; k < mesh->n_triangles; ++k) {
    FloBvhCorners t = bvh_corners(mesh, k);
    const double *corners[3] = {t.a, t.b, t.c};
    boxes[k] = empty_box;
    for (int corner = 0; corner < 3; ++corner) {
      for (int axis = 0; axis < 3; ++axis)
        if (!(fabs(corners[corner][axis]) <= max_coordinate))
          return flo_fail(error, FLO_BAD_INPUT,
                          "mesh: triangle %u has a corner at (%g, %g, %g); coordinates must be finite and "
                          "at most %.0e",
                          k, corners[corner][0], corners[corner][1], corners[corner][2], max_coordinate);
      box_add_point(&boxes[k], corners[corner]);
    }
  }
  return FLO_OK;
}

// Makes room for the largest possible number of nodes.
static FloStatus allocate_tree(FloBvh *bvh, size_t n, FloError *error) {
  FloMemory *memory = bvh->mesh->memory;
  if (2 * n >= UINT32_MAX) return flo_fail(error, FLO_BAD_INPUT, "mesh: %zu triangles are too many", n);
  FLO_TRY(flo_buffer_reserve(memory, &bvh->nodes, 2 * n * sizeof(FloBvhNode), 0, error));
  return flo_buffer_reserve(memory, &bvh->order, n * sizeof(uint32_t), 0, error);
}

// Shrinks the array of nodes: with several triangles in a leaf about a third of the largest number is used.
static FloStatus give_back_room(FloBvh *bvh, FloError *error) {
  FloMemory *memory = bvh->mesh->memory;
  FloBuffer large = bvh->nodes;
  size_t size = bvh->n_nodes * sizeof(FloBvhNode);
  bvh->nodes = (FloBuffer){0};
  FloStatus status = flo_buffer_reserve(memory, &bvh->nodes, size, 0, error);
  if (status == FLO_OK) memcpy(bvh->nodes.data, large.data, size);
  flo_buffer_free(memory, &large);
  return status;
}

// `boxes` is room for one box for each triangle. The dipoles use it as scratch after the nodes are built.
static FloStatus build_tree(FloBvh *bvh, bool has_dipoles, void *boxes, FloError *error) {
  const FloMesh *mesh = bvh->mesh;
  FLO_TRY(fill_boxes(mesh, has_dipoles ? max_far_coordinate : DBL_MAX, boxes, error));
  FLO_TRY(allocate_tree(bvh, mesh->n_triangles, error));
  for (uint32_t k = 0; k < mesh->n_triangles; ++k) ((uint32_t *)bvh->order.data)[k] = k;
  build_nodes(&(Builder){bvh, boxes});
  FLO_TRY(give_back_room(bvh, error));
  if (!has_dipoles) return FLO_OK;
  FLO_TRY(flo_buffer_reserve(mesh->memory, &bvh->dipoles, bvh->n_nodes * sizeof(FloBvhDipole), 0, error));
  flo_bvh_fill_dipoles(bvh, boxes);
  return FLO_OK;
}

static FloStatus build(FloBvh *bvh, const FloMesh *mesh, bool has_dipoles, FloError *error) {
  *bvh = (FloBvh){.mesh = mesh};
  if (!mesh->n_triangles) return FLO_OK;
  FloBuffer boxes = {0};
  FloStatus status = flo_buffer_reserve(mesh->memory, &boxes, mesh->n_triangles * sizeof(Box), 0, error);
  if (status == FLO_OK) status = build_tree(bvh, has_dipoles, boxes.data, error);
  flo_buffer_free(mesh->memory, &boxes);
  if (status != FLO_OK) flo_bvh_free(bvh);
  return status;
}

FloStatus flo_bvh_build(FloBvh *bvh, const FloMesh *mesh, FloError *error) {
  return build(bvh, mesh, true, error);
}

FloStatus flo_bvh_build_boxes(FloBvh *bvh, const FloMesh *mesh, FloError *error) {
  return build(bvh, mesh, false, error);
}

void flo_bvh_free(FloBvh *bvh) {
  if (!bvh->mesh) return;
  flo_buffer_free(bvh->mesh->memory, &bvh->nodes);
  flo_buffer_free(bvh->mesh->memory, &bvh->dipoles);
  flo_buffer_free(bvh->mesh->memory, &bvh->order);
  bvh->n_nodes = 0;
}
