// The nodes of a block have nearly the same nearest triangles. One walk through the tree finds all triangles
// that may be nearest to any of them. The heights of a point above a triangle's plane and beside its sides
// give a lower bound of its distance; it is exact where the nearest point is not a corner. These bounds cost
// four multiplications each. They select triangles for every eighth of the block and then for every node, so
// that hardly more than one distance per node is computed.
#include "geometry/sdf_near.h"

#include "base/vecmath.h"

#include <math.h>

enum {
  MAX_TRIANGLES = 256, // of a block; with more of them the tree is faster
  HALF = FLO_SDF_BLOCK / 2
};

// Bounds are computed in single precision, in cells from the middle of the block. The slack is far more than
// their error, except for very large triangles, which are always tested.
static const float slack = 1e-4f;
static const double max_cells = 256;

// The planes of triangles: the heights of the block's middle above them, and their directions.
typedef struct List {
  size_t n;
  uint32_t triangles[MAX_TRIANGLES];
  float heights[4][MAX_TRIANGLES], planes[4][3][MAX_TRIANGLES];
} List;

typedef struct Gathering {
  const FloSdfPrism *prisms;
  double middle[3], reach, cell;
  List *list;
} Gathering;

// ---- Planes ----

static FloSdfPrism make_prism(const FloMesh *mesh, size_t triangle) {
  FloSdfPrism prism = {0};
  const double *corners[3];
  double sides[3][3], longest = 0;
  for (int k = 0; k < 3; ++k) corners[k] = flo_mesh_corner(mesh, triangle, k);
  for (int k = 0; k < 3; ++k) {
    vec_sub(corners[(k + 1) % 3], corners[k], sides[k]);
    longest = fmax(longest, vec_dot(sides[k], sides[k]));
  }
  vec_cross(sides[0], sides[1], prism.planes[3]);
  double length = vec_length(prism.planes[3]);
  // The normal of a very thin triangle is not reliable.
  if (!(length > 1e-4 * longest)) return (FloSdfPrism){0};
  vec_scale(prism.planes[3], 1 / length, prism.planes[3]);
  prism.offsets[3] = vec_dot(prism.planes[3], corners[0]);
  for (int k = 0; k < 3; ++k) {
    vec_cross(sides[k], prism.planes[3], prism.planes[k]);
    vec_scale(prism.planes[k], 1 / vec_length(sides[k]), prism.planes[k]);
    prism.offsets[k] = vec_dot(prism.planes[k], corners[k]);
  }
  return prism;
}

FloStatus flo_sdf_make_prisms(const FloMesh *mesh, FloBuffer *prisms, FloError *error) {
  FLO_TRY(flo_buffer_reserve(mesh->memory, prisms, (mesh->n_triangles + 1) * sizeof(FloSdfPrism), 0, error));
  for (size_t t = 0; t < mesh->n_triangles; ++t) ((FloSdfPrism *)prisms->data)[t] = make_prism(mesh, t);
  return FLO_OK;
}

// ---- Lists ----

static void add_to_list(List *list, uint32_t triangle, const FloSdfPrism *prism, const double heights[4],
                        double cell) {
  size_t n = list->n++;
  bool is_useful = fmax(fmax(fabs(heights[0]), fabs(heights[1])), fabs(heights[2])) < max_cells * cell;
  list->triangles[n] = triangle;
  for (int k = 0; k < 4; ++k) {
    list->heights[k][n] = is_useful ? (float)(heights[k] / cell) : 0;
    for (int axis = 0; axis < 3; ++axis)
      list->planes[k][axis][n] = is_useful ? (float)prism->planes[k][axis] : 0;
  }
}

static void copy_to_list(List *list, const List *from, size_t k) {
  size_t n = list->n++;
  list->triangles[n] = from->triangles[k];
  for (int plane = 0; plane < 4; ++plane) {
    list->heights[plane][n] = from->heights[plane][k];
    for (int axis = 0; axis < 3; ++axis) list->planes[plane][axis][n] = from->planes[plane][axis][k];
  }
}

static bool gather(uint32_t triangle, void *context) {
  Gathering *g = context;
  const FloSdfPrism *prism = &g->prisms[triangle];
  double heights[4];
  for (int k = 0; k < 4; ++k) heights[k] = vec_dot(prism->planes[k], g->middle) - prism->offsets[k];
  double beside = fmax(fmax(heights[0], heights[1]), fmax(heights[2], 0));
  if (beside * beside + heights[3] * heights[3] > g->reach * g->reach) return true;
  if (g->list->n == MAX_TRIANGLES) return false;
  add_to_list(g->list, triangle, prism, heights, g->cell);
  return true;
}

static inline float larger(float a, float b) { return a > b ? a : b; }

// Lower bounds of the squared distances at a place, in cells from the block's middle.
static void bound_squares(const List *list, const float at[3], float squares[MAX_TRIANGLES]) {
  const float x = at[0], y = at[1], z = at[2];
  for (size_t k = 0; k < list->n; ++k) {
    float heights[4];
    for (int p = 0; p < 4; ++p)
      heights[p] = list->heights[p][k] + x * list->planes[p][0][k] + y * list->planes[p][1][k] +
                   z * list->planes[p][2][k];
    float beside = larger(larger(larger(heights[0], heights[1]), heights[2]) - slack, 0);
    float above = larger(larger(heights[3], -heights[3]) - slack, 0);
    squares[k] = beside * beside + above * above;
  }
}

typedef struct Place {
  const FloMesh *mesh;
  double point[3], cell;
  float at[3]; // the same, in cells from the block's middle
} Place;

// The distance to the triangles of a list, but at most `bound`. The triangle with the least bound is tested
// first; most others then need no test.
static double list_distance(const List *list, const Place *place, double bound,
                            float squares[MAX_TRIANGLES]) {
  double square = bound * bound, per = 1 / (place->cell * place->cell);
  size_t first = 0;
  bound_squares(list, place->at, squares);
  for (size_t k = 1; k < list->n; ++k)
    if (squares[k] < squares[first]) first = k;
  if (list->n)
    square = flo_triangle_square_distance(place->mesh, list->triangles[first], place->point, square);
  float least = (float)(square * per);
  for (size_t k = 0; k < list->n; ++k) {
    if (squares[k] > least || k == first) continue;
    square = flo_triangle_square_distance(place->mesh, list->triangles[k], place->point, square);
    least = (float)(square * per);
  }
  return sqrt(square);
}

// ---- Blocks ----

typedef struct Block {
  const FloMesh *mesh;
  double low[3], cell;
  List list;
} Block;

static Place place_in(const Block *block, double i, double j, double k) {
  const double steps[3] = {i, j, k};
  Place place = {.mesh = block->mesh, .cell = block->cell};
  for (int axis = 0; axis < 3; ++axis) {
    place.point[axis] = block->low[axis] + block->cell * steps[axis];
    place.at[axis] = (float)(steps[axis] - (FLO_SDF_BLOCK - 1) / 2.0);
  }
  return place;
}

// Fills the eight nodes from (i, j, k) on. They lie within half a cell's diagonal of their middle. A triangle
// can be nearest to one of them only if it is at most a whole diagonal further from the middle than the
// nearest one.
static void fill_eighth(const Block *block, int i, int j, int k, double bound, double *distances) {
  float squares[MAX_TRIANGLES];
  Place middle = place_in(block, i + 0.5, j + 0.5, k + 0.5);
  double distance = list_distance(&block->list, &middle, bound, squares);
  double reach = distance + sqrt(3) * block->cell * (1 + 1e-9);
  float most = (float)(reach * reach / (block->cell * block->cell));
  List near;
  near.n = 0;
  for (size_t t = 0; t < block->list.n; ++t)
    if (squares[t] <= most) copy_to_list(&near, &block->list, t);
  for (int node = 0; node < 8; ++node) {
    int x = i + (node & 1), y = j + (node >> 1 & 1), z = k + (node >> 2);
    Place place = place_in(block, x, y, z);
    distances[x + FLO_SDF_BLOCK * (y + FLO_SDF_BLOCK * z)] = list_distance(&near, &place, reach, squares);
  }
}

// With many triangles every node is searched by itself. The nearest point of the last node bounds the
// distance.
static void fill_by_tree(const FloBvh *bvh, const Block *block, double distances[FLO_SDF_BLOCK_NODES]) {
  FloClosest closest = {0};
  for (int node = 0; node < FLO_SDF_BLOCK_NODES; ++node) {
    Place place = place_in(block, node % FLO_SDF_BLOCK, node / FLO_SDF_BLOCK % FLO_SDF_BLOCK,
                           node / FLO_SDF_BLOCK / FLO_SDF_BLOCK);
    double d[3];
    vec_sub(place.point, closest.point, d);
    flo_bvh_closest(bvh, place.point, node ? vec_length(d) * (1 + 1e-9) : INFINITY, &closest);
    distances[node] = closest.distance;
  }
}

void flo_sdf_block_distances(const FloBvh *bvh, const FloSdfPrism *prisms, const double low[3], double cell,
                             double bound, double distances[FLO_SDF_BLOCK_NODES]) {
  Block block;
  block.mesh = bvh->mesh, block.cell = cell, block.list.n = 0;
  vec_copy(low, block.low);
  double half = (FLO_SDF_BLOCK - 1) * cell / 2, radius = sqrt(3) * half * (1 + 1e-9), box[2][3];
  Gathering gathering = {.prisms = prisms, .reach = bound + 2 * radius, .cell = cell, .list = &block.list};
  for (int axis = 0; axis < 3; ++axis) {
    gathering.middle[axis] = low[axis] + half;
    box[0][axis] = low[axis] - bound - radius, box[1][axis] = low[axis] + 2 * half + bound + radius;
  }
  if (!flo_bvh_visit_box(bvh, box[0], box[1], gather, &gathering)) {
    fill_by_tree(bvh, &block, distances);
    return;
  }
  for (int eighth = 0; eighth < 8; ++eighth)
    fill_eighth(&block, HALF * (eighth & 1), HALF * (eighth >> 1 & 1), HALF * (eighth >> 2), bound + radius,
                distances);
}
