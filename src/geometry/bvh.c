#include "geometry/bvh.h"

#include "base/vecmath.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
  LEAF_SIZE = 4,
  N_BINS = 16,
  MEDIAN_DEPTH = 48, // below it nodes are halved, so that the depth is bounded
  STACK_SIZE = 128   // one node per level waits, and no tree is deeper than MEDIAN_DEPTH + 32
};

static const double max_far_coordinate = 1e40; // the far field of the winding number needs the seventh power

typedef struct Box {
  double low[3], high[3];
} Box;

static const FloBvhNode *nodes_of(const FloBvh *bvh) { return bvh->nodes.data; }
static const uint32_t *order_of(const FloBvh *bvh) { return bvh->order.data; }

typedef struct Corners {
  const double *a, *b, *c;
} Corners;

static Corners corners_of(const FloMesh *mesh, uint32_t triangle) {
  const uint32_t *t = flo_mesh_triangle(mesh, triangle);
  return (Corners){flo_mesh_vertex(mesh, t[0]), flo_mesh_vertex(mesh, t[1]), flo_mesh_vertex(mesh, t[2])};
}

// ---- Building: binned surface area heuristic (Wald 2007) along the longest axis of the centroids ----

typedef struct Builder {
  FloBvh *bvh;
  const Box *boxes; // of the triangles
} Builder;

typedef struct Task {
  uint32_t node, begin, end;
  int depth;
} Task;

// Places in the order of triangles.
typedef struct Range {
  uint32_t begin, end;
} Range;

static const Box empty_box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

// Low from low and high from high: an empty box changes nothing.
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

// Halves first: their sum does not overflow.
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
  const uint32_t *order = order_of(builder->bvh);
  for (uint32_t k = task->begin; k < task->end; ++k) {
    const Box *box = &builder->boxes[order[k]];
    box_add_point(&centroids, (double[3]){centroid(box, 0), centroid(box, 1), centroid(box, 2)});
  }
  double extent[3];
  vec_sub(centroids.high, centroids.low, extent);
  int axis = extent[0] >= extent[1] ? 0 : 1;
  axis = extent[2] > extent[axis] ? 2 : axis;
  double scale = N_BINS / extent[axis];
  // Centroids in one place, or so close or so far apart that the quotient is of no use.
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
    const Box *triangle = &builder->boxes[order_of(builder->bvh)[k]];
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

// Where the range is cut in two.
static uint32_t split_range(const Builder *builder, const Task *task) {
  uint32_t middle = task->begin + (task->end - task->begin) / 2;
  if (task->depth >= MEDIAN_DEPTH) return middle;
  Split split = choose_axis(builder, task);
  if (split.bin >= 0) choose_plane(builder, task, &split);
  return split.bin < 0 ? middle : partition(builder, task, &split);
}

static void sum_dipole(const FloBvh *bvh, const Range *range, const FloBvhNode *node, FloBvhDipole *dipole) {
  double total = 0, centre[3] = {0}, normal[3] = {0};
  for (uint32_t k = range->begin; k < range->end; ++k) {
    Corners t = corners_of(bvh->mesh, order_of(bvh)[k]);
    double ab[3], ac[3], n[3], middle[3];
    vec_sub(t.b, t.a, ab), vec_sub(t.c, t.a, ac);
    vec_cross(ab, ac, n);
    vec_add(t.a, t.b, middle), vec_add(middle, t.c, middle);
    double area = vec_length(n) / 2;
    vec_add_scaled(normal, n, 0.5, normal);
    vec_add_scaled(centre, middle, area / 3, centre);
    total += area;
  }
  vec_add(node->low, node->high, dipole->centre);
  vec_scale(dipole->centre, 0.5, dipole->centre);
  if (total > 0) vec_scale(centre, 1 / total, dipole->centre);
  vec_copy(normal, dipole->normal);
}

// Which components the symmetric moments hold, and how often each occurs in the full tensor.
static const uint8_t pairs[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
static const uint8_t triples[10][3] = {{0, 0, 0}, {0, 0, 1}, {0, 0, 2}, {0, 1, 1}, {0, 1, 2},
                                       {0, 2, 2}, {1, 1, 1}, {1, 1, 2}, {1, 2, 2}, {2, 2, 2}};
static const double pair_counts[6] = {1, 2, 2, 1, 2, 1};
static const double triple_counts[10] = {1, 3, 3, 3, 6, 3, 1, 3, 3, 1};

// Adds the integrals of n x and n x x over a triangle, x from the centre. Over a triangle of unit area, with
// the centroid m, that of x x is  (9 m m + sum over the corners of x x)/12.
static void add_moments(const Corners *t, FloBvhDipole *dipole) {
  double x[3][3], ab[3], ac[3], n[3], m[3], squares[3][3];
  const double *corners[3] = {t->a, t->b, t->c};
  for (int k = 0; k < 3; ++k) vec_sub(corners[k], dipole->centre, x[k]);
  vec_sub(x[1], x[0], ab), vec_sub(x[2], x[0], ac);
  vec_cross(ab, ac, n);
  for (int i = 0; i < 3; ++i) m[i] = (x[0][i] + x[1][i] + x[2][i]) / 3;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      squares[i][j] = (9 * m[i] * m[j] + x[0][i] * x[0][j] + x[1][i] * x[1][j] + x[2][i] * x[2][j]) / 12;
  for (int k = 0; k < 6; ++k)
    dipole->first[k] += (n[pairs[k][0]] * m[pairs[k][1]] + n[pairs[k][1]] * m[pairs[k][0]]) / 4;
  for (int k = 0; k < 10; ++k) {
    const uint8_t *c = triples[k];
    dipole->second[k] +=
        (n[c[0]] * squares[c[1]][c[2]] + n[c[1]] * squares[c[0]][c[2]] + n[c[2]] * squares[c[0]][c[1]]) / 6;
  }
}

static void measure_dipole(const FloBvh *bvh, const Range *range, FloBvhDipole *dipole) {
  double square = 0;
  memset(dipole->first, 0, sizeof dipole->first);
  memset(dipole->second, 0, sizeof dipole->second);
  for (uint32_t k = range->begin; k < range->end; ++k) {
    Corners t = corners_of(bvh->mesh, order_of(bvh)[k]);
    add_moments(&t, dipole);
    const double *corners[3] = {t.a, t.b, t.c};
    for (int corner = 0; corner < 3; ++corner) {
      double d[3];
      vec_sub(corners[corner], dipole->centre, d);
      square = fmax(square, vec_dot(d, d));
    }
  }
  dipole->radius = sqrt(square);
}

static void fill_node(const Builder *builder, const Task *task) {
  FloBvh *bvh = builder->bvh;
  FloBvhNode *node = (FloBvhNode *)bvh->nodes.data + task->node;
  Box box = empty_box;
  for (uint32_t k = task->begin; k < task->end; ++k) box_add_box(&box, &builder->boxes[order_of(bvh)[k]]);
  vec_copy(box.low, node->low), vec_copy(box.high, node->high);
  node->first = task->begin, node->count = task->end - task->begin;
}

static void build_nodes(Builder *builder) {
  FloBvh *bvh = builder->bvh;
  Task stack[STACK_SIZE];
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

// Children come after their parents: backwards, the places of a node are those of its children.
static void fill_dipoles(FloBvh *bvh, Range *ranges) {
  const FloBvhNode *nodes = nodes_of(bvh);
  for (size_t k = bvh->n_nodes; k-- > 0;) {
    uint32_t first = nodes[k].first;
    ranges[k] = nodes[k].count ? (Range){first, first + nodes[k].count}
                               : (Range){ranges[first].begin, ranges[first + 1].end};
    FloBvhDipole *dipole = (FloBvhDipole *)bvh->dipoles.data + k;
    sum_dipole(bvh, &ranges[k], &nodes[k], dipole);
    measure_dipole(bvh, &ranges[k], dipole);
  }
}

static FloStatus fill_boxes(const FloMesh *mesh, double max_coordinate, Box *boxes, FloError *error) {
  for (uint32_t k = 0; k < mesh->n_triangles; ++k) {
    Corners t = corners_of(mesh, k);
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

// Room for as many nodes as there may be.
static FloStatus allocate_tree(FloBvh *bvh, size_t n, FloError *error) {
  FloMemory *memory = bvh->mesh->memory;
  if (2 * n >= UINT32_MAX) return flo_fail(error, FLO_BAD_INPUT, "mesh: %zu triangles are too many", n);
  FLO_TRY(flo_buffer_reserve(memory, &bvh->nodes, 2 * n * sizeof(FloBvhNode), 0, error));
  return flo_buffer_reserve(memory, &bvh->order, n * sizeof(uint32_t), 0, error);
}

// Leaves of several triangles make do with a third of the nodes there might be.
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

// `boxes` is room for a box for each triangle; it serves the dipoles as scratch when these are done with.
static FloStatus build_tree(FloBvh *bvh, bool has_dipoles, void *boxes, FloError *error) {
  const FloMesh *mesh = bvh->mesh;
  FLO_TRY(fill_boxes(mesh, has_dipoles ? max_far_coordinate : DBL_MAX, boxes, error));
  FLO_TRY(allocate_tree(bvh, mesh->n_triangles, error));
  for (uint32_t k = 0; k < mesh->n_triangles; ++k) ((uint32_t *)bvh->order.data)[k] = k;
  build_nodes(&(Builder){bvh, boxes});
  FLO_TRY(give_back_room(bvh, error));
  if (!has_dipoles) return FLO_OK;
  FLO_TRY(flo_buffer_reserve(mesh->memory, &bvh->dipoles, bvh->n_nodes * sizeof(FloBvhDipole), 0, error));
  fill_dipoles(bvh, boxes);
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

// ---- Boxes ----

static bool is_touching(const FloBvhNode *node, const double low[3], const double high[3]) {
  return node->low[0] <= high[0] && node->high[0] >= low[0] && node->low[1] <= high[1] &&
         node->high[1] >= low[1] && node->low[2] <= high[2] && node->high[2] >= low[2];
}

bool flo_bvh_visit_box(const FloBvh *bvh, const double low[3], const double high[3],
                       bool (*visit)(uint32_t triangle, void *context), void *context) {
  const FloBvhNode *nodes = nodes_of(bvh);
  uint32_t stack[STACK_SIZE];
  int height = 0;
  if (bvh->n_nodes && is_touching(&nodes[0], low, high)) stack[height++] = 0;
  while (height) {
    const FloBvhNode *node = &nodes[stack[--height]];
    for (uint32_t k = node->first; k < node->first + node->count; ++k)
      if (!visit(order_of(bvh)[k], context)) return false;
    if (node->count) continue;
    if (is_touching(&nodes[node->first + 1], low, high)) stack[height++] = node->first + 1;
    if (is_touching(&nodes[node->first], low, high)) stack[height++] = node->first;
  }
  return true;
}

// ---- Nearest point ----

static double square_distance_to_box(const FloBvhNode *node, const double p[3]) {
  double square = 0;
  for (int axis = 0; axis < 3; ++axis) {
    double below = node->low[axis] - p[axis], above = p[axis] - node->high[axis];
    double d = below > above ? below : above;
    square += d > 0 ? d * d : 0;
  }
  return square;
}

typedef struct Nearest {
  double square;
  double weights[3];
} Nearest;

// The nearest point of the segment between corners i and j.
static void try_segment(const double *const corners[3], int i, int j, const double p[3], Nearest *best) {
  double along[3], d[3];
  vec_sub(corners[j], corners[i], along);
  vec_sub(p, corners[i], d);
  double square = vec_dot(along, along), t = square > 0 ? vec_dot(d, along) / square : 0;
  t = t > 0 ? (t < 1 ? t : 1) : 0;
  vec_add_scaled(d, along, -t, d);
  // At the far end the difference is formed anew: corners must be found exactly.
  if (t == 1) vec_sub(p, corners[j], d);
  double distance = vec_dot(d, d);
  if (!(distance < best->square)) return;
  *best = (Nearest){.square = distance};
  best->weights[i] = 1 - t, best->weights[j] = t;
}

enum { ALL_SIDES = 7 };

// Tries the foot of the perpendicular. Returns bits of the sides, k for the one from corner k, that face the
// foot and may be nearer: none if it lies inside, or if the plane is too far away already. Of a triangle a
// ten-billionth as high as long the normal is noise; its sides are near enough.
static unsigned try_interior(const double *const corners[3], const double p[3], Nearest *best) {
  double ab[3], ac[3], ap[3], n[3], m[3];
  vec_sub(corners[1], corners[0], ab), vec_sub(corners[2], corners[0], ac);
  vec_sub(p, corners[0], ap);
  vec_cross(ab, ac, n);
  double square = vec_dot(n, n), ab_square = vec_dot(ab, ab), ac_square = vec_dot(ac, ac);
  double longest = ab_square > ac_square ? ab_square : ac_square, noise = longest * longest;
  if (!(square > 1e-20 * noise)) return ALL_SIDES;
  double height = vec_dot(ap, n);
  if (height * height > (1 + 1e-6) * best->square * square && square > 1e-8 * noise) return 0;
  vec_cross(ap, ac, m);
  double v = vec_dot(m, n); // barycentric, times `square`
  vec_cross(ab, ap, m);
  double w = vec_dot(m, n), u = square - v - w;
  unsigned facing = (w < 0) | (u < 0) << 1 | (v < 0) << 2;
  if (facing) return square > 1e-8 * noise ? facing : ALL_SIDES;
  double distance = height * height / square;
  if (distance < best->square) *best = (Nearest){distance, {u / square, v / square, w / square}};
  return 0;
}

static bool try_triangle(const FloMesh *mesh, uint32_t triangle, const double p[3], Nearest *best) {
  Corners t = corners_of(mesh, triangle);
  const double *const corners[3] = {t.a, t.b, t.c};
  double before = best->square;
  unsigned sides = try_interior(corners, p, best);
  for (int k = 0; k < 3; ++k)
    if (sides >> k & 1) try_segment(corners, k, (k + 1) % 3, p, best);
  return best->square < before;
}

double flo_triangle_square_distance(const FloMesh *mesh, uint32_t triangle, const double point[3],
                                    double max_square) {
  Nearest best = {.square = max_square};
  try_triangle(mesh, triangle, point, &best);
  return best.square;
}

static void describe_closest(const FloBvh *bvh, uint32_t triangle, const Nearest *nearest, FloClosest *out) {
  Corners t = corners_of(bvh->mesh, triangle);
  out->triangle = triangle, out->distance = sqrt(nearest->square);
  vec_copy(nearest->weights, out->barycentric);
  vec_scale(t.a, nearest->weights[0], out->point);
  vec_add_scaled(out->point, t.b, nearest->weights[1], out->point);
  vec_add_scaled(out->point, t.c, nearest->weights[2], out->point);
}

// A node that is to be looked into unless something nearer is found first.
typedef struct Waiting {
  uint32_t node;
  double near; // the square of its distance, or where the ray enters it
} Waiting;

bool flo_bvh_closest(const FloBvh *bvh, const double point[3], double max_distance, FloClosest *out) {
  if (!bvh->n_nodes || !(max_distance >= 0) || !vec_is_finite(point)) return false;
  const FloBvhNode *nodes = nodes_of(bvh);
  Waiting stack[STACK_SIZE];
  int height = 0;
  // The next larger number, so that a point at just this distance is found.
  Nearest best = {.square = nextafter(max_distance * max_distance, INFINITY)};
  uint32_t triangle = UINT32_MAX;
  stack[height++] = (Waiting){0, square_distance_to_box(&nodes[0], point)};
  while (height) {
    Waiting top = stack[--height];
    if (!(top.near < best.square)) continue;
    const FloBvhNode *node = &nodes[top.node];
    for (uint32_t k = node->first; k < node->first + node->count; ++k)
      if (try_triangle(bvh->mesh, order_of(bvh)[k], point, &best)) triangle = order_of(bvh)[k];
    if (node->count) continue;
    Waiting near = {node->first, square_distance_to_box(&nodes[node->first], point)};
    Waiting far = {node->first + 1, square_distance_to_box(&nodes[node->first + 1], point)};
    bool is_swapped = far.near < near.near;
    stack[height++] = is_swapped ? near : far;
    stack[height++] = is_swapped ? far : near;
  }
  if (triangle != UINT32_MAX) describe_closest(bvh, triangle, &best, out);
  return triangle != UINT32_MAX;
}

// ---- Rays: the watertight test of Woop, Benthin and Wald 2013 ----

typedef struct Ray {
  const double *origin;
  double inverse[3];
  int x, y, z;          // axes, z being the one along which the ray goes most
  double shear[2], per; // makes the direction (0, 0, 1)
  double max_t;
} Ray;

static Ray make_ray(const double origin[3], const double d[3], double max_t) {
  Ray ray = {.origin = origin, .max_t = max_t};
  int z = fabs(d[0]) > fabs(d[1]) ? 0 : 1;
  ray.z = fabs(d[2]) > fabs(d[z]) ? 2 : z;
  ray.x = (ray.z + 1) % 3, ray.y = (ray.z + 2) % 3;
  ray.shear[0] = d[ray.x] / d[ray.z], ray.shear[1] = d[ray.y] / d[ray.z], ray.per = 1 / d[ray.z];
  for (int axis = 0; axis < 3; ++axis) ray.inverse[axis] = 1 / d[axis];
  return ray;
}

// Where the ray enters the box; infinity if it misses. Comparisons are such that the NaN of a ray within the
// plane of a side (0 times infinity) counts as no limit.
static double enter_box(const Ray *ray, const FloBvhNode *node) {
  double enter = 0, leave = ray->max_t;
  for (int axis = 0; axis < 3; ++axis) {
    double a = (node->low[axis] - ray->origin[axis]) * ray->inverse[axis];
    double b = (node->high[axis] - ray->origin[axis]) * ray->inverse[axis];
    double near = ray->inverse[axis] < 0 ? b : a, far = ray->inverse[axis] < 0 ? a : b;
    // Rounding must not lose a grazing hit (three roundings each, section 3.3 of Woop et al.).
    far *= 1 + 4 * 0x1p-52;
    enter = near > enter ? near : enter;
    leave = far < leave ? far : leave;
  }
  return enter <= leave ? enter : INFINITY;
}

// Twice the signed area of (0, a, b), in higher precision where it vanishes: neighbours then agree on which
// side of their edge the ray passes.
static double edge_function(const double a[2], const double b[2]) {
  double area = a[0] * b[1] - a[1] * b[0];
  if (area != 0) return area;
  // Kahan's difference of products: the two roundings are made good, the sign is right.
  double product = a[1] * b[0];
  return fma(a[0], b[1], -product) + fma(-a[1], b[0], product);
}

static void shear_corner(const Ray *ray, const double corner[3], double out[3]) {
  double d[3];
  vec_sub(corner, ray->origin, d);
  vec_set(out, d[ray->x] - ray->shear[0] * d[ray->z], d[ray->y] - ray->shear[1] * d[ray->z], d[ray->z]);
}

static void try_hit(Ray *ray, const FloMesh *mesh, uint32_t triangle, FloHit *hit) {
  Corners t = corners_of(mesh, triangle);
  double a[3], b[3], c[3];
  shear_corner(ray, t.a, a), shear_corner(ray, t.b, b), shear_corner(ray, t.c, c);
  double u = edge_function(b, c), v = edge_function(c, a), w = edge_function(a, b);
  if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) return;
  double sum = u + v + w;
  if (sum == 0) return;
  double distance = (u * a[2] + v * b[2] + w * c[2]) * ray->per / sum;
  if (!(distance >= 0 && distance <= ray->max_t)) return;
  ray->max_t = distance;
  *hit = (FloHit){distance, triangle, {u / sum, v / sum, w / sum}};
}

bool flo_bvh_ray(const FloBvh *bvh, const double origin[3], const double direction[3], double max_t,
                 FloHit *hit) {
  bool is_sound = vec_is_finite(origin) && vec_is_finite(direction) && vec_dot(direction, direction) > 0;
  if (!bvh->n_nodes || !is_sound || !(max_t >= 0)) return false;
  const FloBvhNode *nodes = nodes_of(bvh);
  Ray ray = make_ray(origin, direction, max_t);
  Waiting stack[STACK_SIZE];
  int height = 0;
  hit->triangle = UINT32_MAX;
  stack[height++] = (Waiting){0, enter_box(&ray, &nodes[0])};
  while (height) {
    Waiting top = stack[--height];
    if (!(top.near <= ray.max_t) || top.near == INFINITY) continue;
    const FloBvhNode *node = &nodes[top.node];
    for (uint32_t k = node->first; k < node->first + node->count; ++k)
      try_hit(&ray, bvh->mesh, order_of(bvh)[k], hit);
    if (node->count) continue;
    Waiting near = {node->first, enter_box(&ray, &nodes[node->first])};
    Waiting far = {node->first + 1, enter_box(&ray, &nodes[node->first + 1])};
    bool is_swapped = far.near < near.near;
    stack[height++] = is_swapped ? near : far;
    stack[height++] = is_swapped ? far : near;
  }
  return hit->triangle != UINT32_MAX;
}

// ---- Winding numbers: Jacobson et al. 2013, summed over the tree as in Barill et al. 2018 ----

// A node is seen as a whole from further than this many radii (beta of Barill et al.).
static const double opening = 2.2;

// The sum over the triangles of  area n.(x - p)/|x - p|^3,  expanded about the centre to second order: with
// d = centre - p and the symmetric moments F and S,
//   N.d/|d|^3 + (tr F - 3 F:dd/|d|^2)/|d|^3 + (-9/2 tr S.d + 15/2 S:ddd/|d|^2)/|d|^5.
static double far_angle(const FloBvhDipole *dipole, const double d[3], double square) {
  const double *f = dipole->first, *s = dipole->second;
  double per = 1 / square, first = 0, second = 0;
  for (int k = 0; k < 6; ++k) first += pair_counts[k] * f[k] * d[pairs[k][0]] * d[pairs[k][1]];
  for (int k = 0; k < 10; ++k)
    second += triple_counts[k] * s[k] * d[triples[k][0]] * d[triples[k][1]] * d[triples[k][2]];
  double trace = d[0] * (s[0] + s[3] + s[5]) + d[1] * (s[1] + s[6] + s[8]) + d[2] * (s[2] + s[7] + s[9]);
  return per * sqrt(per) *
         (vec_dot(dipole->normal, d) + f[0] + f[3] + f[5] +
          per * (-3 * first - 4.5 * trace + 7.5 * per * second));
}

// Solid angle of a triangle (van Oosterom and Strackee 1983), positive if its back is seen.
static double solid_angle(const Corners *t, const double p[3]) {
  double a[3], b[3], c[3], n[3];
  vec_sub(t->a, p, a), vec_sub(t->b, p, b), vec_sub(t->c, p, c);
  double la = vec_length(a), lb = vec_length(b), lc = vec_length(c);
  vec_cross(b, c, n);
  return 2 *
         atan2(vec_dot(a, n), la * lb * lc + vec_dot(a, b) * lc + vec_dot(b, c) * la + vec_dot(c, a) * lb);
}

double flo_bvh_winding(const FloBvh *bvh, const double point[3]) {
  if (!bvh->n_nodes || !vec_is_finite(point)) return 0;
  FLO_ASSERT(bvh->dipoles.data);
  const FloBvhNode *nodes = nodes_of(bvh);
  const FloBvhDipole *dipoles = bvh->dipoles.data;
  uint32_t stack[STACK_SIZE];
  int height = 0;
  double angle = 0;
  stack[height++] = 0;
  while (height) {
    uint32_t k = stack[--height];
    double d[3];
    vec_sub(dipoles[k].centre, point, d);
    double square = vec_dot(d, d), reach = opening * dipoles[k].radius;
    if (square > reach * reach) {
      angle += far_angle(&dipoles[k], d, square);
      continue;
    }
    for (uint32_t i = nodes[k].first; i < nodes[k].first + nodes[k].count; ++i) {
      Corners t = corners_of(bvh->mesh, order_of(bvh)[i]);
      angle += solid_angle(&t, point);
    }
    if (nodes[k].count) continue;
    stack[height++] = nodes[k].first + 1;
    stack[height++] = nodes[k].first;
  }
  return angle / (4 * FLO_PI);
}
