// The point of a soft body's surface nearest to a particle, and on which side of it the particle is.
//
// The plane at a sample is not enough: between the samples of a sheet that bends sharply the true surface is
// elsewhere, and a particle would be put back to the wrong side. So the triangles around the nearest sample
// are searched, its *fan*. The side follows from the normal of the triangle, edge or vertex that is nearest:
// of an edge or a vertex, the sum of the normals around it.
#include "bodies/soft_body.h"
#include "geometry/bvh.h"

#include <string.h>

// A weight below this is none.
#define NO_WEIGHT 1e-9

// ---- The triangles of each vertex ----

FloStatus flo_soft_fan_make(FloSoftBody *own, FloMemory *memory, FloError *error) {
  const FloMesh *mesh = &own->surface;
  FloBuffer *buffer = &own->buffers[FLO_SOFT_FANS];
  const size_t n = mesh->n_vertices, n_corners = 3 * mesh->n_triangles;
  FLO_TRY(flo_buffer_reserve_zeros(memory, buffer, (n + 2 + n_corners) * sizeof(uint32_t), error));
  uint32_t *first = buffer->data, *fans = first + n + 2;
  const uint32_t *corners = flo_mesh_triangle(mesh, 0);
  own->first_of_fan = first, own->fans = fans;
  // The entry after the next one counts, then leads; at last each begins where it should.
  for (size_t k = 0; k < n_corners; ++k) first[corners[k] + 2]++;
  for (size_t v = 0; v < n; ++v) first[v + 2] += first[v + 1];
  for (size_t k = 0; k < n_corners; ++k) fans[first[corners[k] + 1]++] = (uint32_t)(k / 3);
  return FLO_OK;
}

// ---- The surface at a moment ----

typedef struct Surface {
  const FloSoftBody *own;
  const double *nodes; // their positions at that moment
} Surface;

static void vertex_at(const Surface *surface, uint32_t vertex, double x[3]) {
  const FloSoftBody *own = surface->own;
  if (!own->holds) {
    vec_copy(surface->nodes + 3 * (size_t)vertex, x);
    return;
  }
  const FloSoftHold *hold = &own->holds[vertex];
  vec_set(x, 0, 0, 0);
  for (int k = 0; k < hold->count; ++k)
    vec_add_scaled(x, surface->nodes + 3 * (size_t)hold->nodes[k], hold->shares[k], x);
}

static void corners_at(const Surface *surface, uint32_t triangle, double corners[9]) {
  for (int k = 0; k < 3; ++k)
    vertex_at(surface, flo_mesh_triangle(&surface->own->surface, triangle)[k], corners + 3 * k);
}

static bool is_segment(const uint32_t *corners) { return corners[1] == corners[2]; }

// As long as twice the area of the triangle, or as long as the segment.
static void add_normal(const Surface *surface, uint32_t triangle, double normal[3]) {
  double x[9], one[3], other[3], out[3];
  corners_at(surface, triangle, x);
  vec_sub(x + 3, x, one);
  vec_sub(x + 6, x, other);
  vec_cross(one, other, out);
  if (is_segment(flo_mesh_triangle(&surface->own->surface, triangle))) vec_set(out, one[1], -one[0], 0);
  vec_add(normal, out, normal);
}

// ---- The nearest point ----

typedef struct Nearest {
  double square, weights[3], x[3];
  uint32_t triangle;
} Nearest;

static void try_triangle(const Surface *surface, uint32_t triangle, const double x[3], Nearest *nearest) {
  static uint32_t numbers[3] = {0, 1, 2};
  double corners[9], weights[3];
  const FloMesh one = {
      .vertices.data = corners, .triangles.data = numbers, .n_vertices = 3, .n_triangles = 1};
  corners_at(surface, triangle, corners);
  const double square = flo_triangle_nearest(&one, 0, x, nearest->square, weights);
  if (!(square < nearest->square)) return;
  nearest->square = square, nearest->triangle = triangle;
  vec_copy(weights, nearest->weights);
  vec_set(nearest->x, 0, 0, 0);
  for (int k = 0; k < 3; ++k) vec_add_scaled(nearest->x, corners + 3 * k, weights[k], nearest->x);
}

static Nearest find_in_fans(const Surface *surface, const FloMeshCarriers *centre, const double x[3]) {
  const FloSoftBody *own = surface->own;
  Nearest nearest = {.square = INFINITY};
  for (int k = 0; k < centre->count; ++k) {
    const uint32_t vertex = centre->vertices[k];
    for (uint32_t j = own->first_of_fan[vertex]; j < own->first_of_fan[vertex + 1]; ++j)
      try_triangle(surface, own->fans[j], x, &nearest);
  }
  return nearest;
}

// ---- Where the nearest point lies ----

// The vertices that the nearest point lies between: one, two, or three.
typedef struct Feature {
  int count;
  uint32_t vertices[3];
} Feature;

static Feature feature_of(const FloSoftBody *own, const Nearest *nearest) {
  const uint32_t *corners = flo_mesh_triangle(&own->surface, nearest->triangle);
  Feature feature = {0};
  for (int k = 0; k < 3; ++k) {
    if (!(nearest->weights[k] > NO_WEIGHT)) continue;
    if (k == 2 && is_segment(corners) && nearest->weights[1] > NO_WEIGHT) continue;
    feature.vertices[feature.count++] = corners[k];
  }
  return feature;
}

static bool has_vertex(const uint32_t *corners, uint32_t vertex) {
  return corners[0] == vertex || corners[1] == vertex || corners[2] == vertex;
}

// Adds up the normals around an edge or a vertex; returns how many there are.
static int add_normals(const Surface *surface, const Feature *feature, double normal[3]) {
  const FloSoftBody *own = surface->own;
  const uint32_t vertex = feature->vertices[0], other = feature->vertices[feature->count - 1];
  uint32_t last = UINT32_MAX;
  int n = 0;
  for (uint32_t j = own->first_of_fan[vertex]; j < own->first_of_fan[vertex + 1]; ++j) {
    const uint32_t *corners = flo_mesh_triangle(&own->surface, own->fans[j]);
    if (own->fans[j] == last || !has_vertex(corners, other)) continue; // a segment names its end twice
    last = own->fans[j];
    add_normal(surface, last, normal);
    ++n;
  }
  return n;
}

// Whether the feature is the border of the surface or of the fan: beyond it the nearest point is unknown.
static bool is_at_end(const FloSoftBody *own, const Feature *feature, const FloMeshCarriers *centre, int n) {
  bool is_of_fan = true;
  for (int k = 0; k < feature->count; ++k)
    for (int c = 0; c < centre->count; ++c) is_of_fan &= feature->vertices[k] != centre->vertices[c];
  if (is_of_fan) return true;
  if (feature->count == 1) return own->is_border[feature->vertices[0]];
  return feature->count == 2 && n == 1 && own->n_corners == 3;
}

bool flo_soft_fan_side(const FloBody *body, const FloMeshCarriers *centre, const double *nodes,
                       const double x[3], FloSoftPlane *plane) {
  const Surface surface = {flo_soft_body(body), nodes};
  const Nearest nearest = find_in_fans(&surface, centre, x);
  double sum[3] = {0}, way[3];
  if (!(nearest.square < INFINITY)) return false;
  const Feature feature = feature_of(surface.own, &nearest);
  const bool is_inside = feature.count == surface.own->n_corners;
  int n = 1;
  if (is_inside)
    add_normal(&surface, nearest.triangle, sum);
  else
    n = add_normals(&surface, &feature, sum);
  const double length = vec_length(sum);
  if (!(length > 0) || is_at_end(surface.own, &feature, centre, n)) return false;
  vec_copy(nearest.x, plane->x);
  vec_scale(sum, 1 / length, plane->normal);
  vec_sub(x, nearest.x, way);
  // From an edge the way to the particle is the way out.
  const double distance = vec_length(way), side = vec_dot(way, plane->normal) > 0 ? 1 : -1;
  if (distance > 0 && !is_inside) vec_scale(way, side / distance, plane->normal);
  return true;
}
