// Clusters of particles: small ones are spray.
#include "surface/bricks.h"

#include "base/vecmath.h"

#include <string.h>

typedef struct Clusters {
  const FloBricks *bricks;
  double link;
  uint32_t *parent; // disjoint sets of particles
} Clusters;

static double squared_distance(const double *a, const double *b) {
  double d[3];
  vec_sub(a, b, d);
  return vec_dot(d, d);
}

// Each pair is visited once, because the partner comes later in the order.
static void join_with(Clusters *clusters, uint32_t particle, long brick) {
  const FloBricks *bricks = clusters->bricks;
  const double *p = bricks->positions + 3 * (size_t)particle;
  uint32_t begin = bricks->first[brick] > particle ? bricks->first[brick] : particle + 1;
  for (uint32_t other = begin; other < bricks->first[brick + 1]; ++other)
    if (squared_distance(p, bricks->positions + 3 * (size_t)other) < clusters->link * clusters->link)
      flo_mesh_join_sets(clusters->parent, particle, other);
}

// Whether a point may have partners in the brick `step` bricks from its own.
static bool is_near(const Clusters *clusters, const double *p, const double corner[3], const long step[3]) {
  const double width = FLO_BRICK * clusters->bricks->cell;
  for (int axis = 0; axis < 3; ++axis) {
    double low = corner[axis] + (double)step[axis] * width;
    if (p[axis] + clusters->link < low || p[axis] - clusters->link > low + width) return false;
  }
  return true;
}

static void join_bricks(Clusters *clusters, size_t brick, long beside, const long step[3]) {
  const FloBricks *bricks = clusters->bricks;
  long place[3];
  double corner[3];
  flo_bricks_unpack(bricks, bricks->occupied_keys[brick], place);
  flo_bricks_corner(bricks, place, corner);
  for (uint32_t k = bricks->first[brick]; k < bricks->first[brick + 1]; ++k)
    if (is_near(clusters, bricks->positions + 3 * (size_t)k, corner, step)) join_with(clusters, k, beside);
}

static void join_brick(Clusters *clusters, size_t brick) {
  const FloBricks *bricks = clusters->bricks;
  long place[3], ring = bricks->ring;
  flo_bricks_unpack(bricks, bricks->occupied_keys[brick], place);
  for (long k = -ring; k <= ring; ++k)
    for (long j = -ring; j <= ring; ++j)
      for (long i = -ring; i <= ring; ++i) {
        const long step[3] = {i, j, k}, at[3] = {place[0] + i, place[1] + j, place[2] + k};
        long beside = flo_bricks_find_occupied(bricks, at);
        if (beside >= (long)brick) join_bricks(clusters, brick, beside, step);
      }
}

FloStatus flo_bricks_mark_clusters(const FloBricks *bricks, double link, size_t least, uint8_t *keep,
                                   FloError *error) {
  FloBuffer buffer = {0};
  size_t n = bricks->count;
  FLO_TRY(flo_buffer_reserve(bricks->memory, &buffer, 2 * n * sizeof(uint32_t), 0, error));
  Clusters clusters = {bricks, link, buffer.data};
  uint32_t *sizes = clusters.parent + n;
  memset(sizes, 0, n * sizeof *sizes);
  for (size_t k = 0; k < n; ++k) clusters.parent[k] = (uint32_t)k;
  for (size_t k = 0; k < bricks->n_occupied; ++k) join_brick(&clusters, k);
  for (size_t k = 0; k < n; ++k) ++sizes[flo_mesh_find_set(clusters.parent, (uint32_t)k)];
  for (size_t k = 0; k < n; ++k)
    keep[bricks->order[k]] = sizes[flo_mesh_find_set(clusters.parent, (uint32_t)k)] >= least;
  flo_buffer_free(bricks->memory, &buffer);
  return FLO_OK;
}
