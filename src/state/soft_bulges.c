// Where the round surface of a body bulges into a face of a soft body between its nodes: a point for each
// face, where the other body is nearest.
//
// With nodes alone a ball would fall through a triangle that is larger than it. Edges and corners have points
// of their own (soft_tips.c), with the normal of the face; here the normal is that of the other body.
#include "base/parallel.h"
#include "geometry/bvh.h"
#include "state/soft_faces.h"

// The nearest place of a face is searched by steps towards points this deep in the other body, in spacings.
// It is found in one step if that is the radius of a ball, and in any number if its radius is larger.
#define DEPTH 2.0
// Shorter steps, in spacings, end the search.
#define LEAST_STEP 1e-3
// By how much the other body must be nearer there than at the nodes, in spacings; else nodes are enough.
#define BULGE 0.01
// Cosine between the normals of body and face below which there is an edge, and sine along an edge of the
// face.
#define FACING 0.9
#define ALONG  0.2

typedef struct Bulge {
  uint32_t face;
  double weights[3], x[3];
  double distance, normal[3]; // of the other body
} Bulge;

static double look(const FloSoftPair *pair, const double x[3], double normal[3]) {
  return flo_world_sharp_surface(pair->world, flo_soft_pair_other(pair), x, normal);
}

// Goes to the place of the face where the other body is nearest.
static void find_nearest(const FloSoftPair *pair, Bulge *bulge) {
  enum { ROUNDS = 16 };
  const double s = pair->world->def.spacing;
  for (int c = 0; c < 3; ++c) bulge->weights[c] = 1.0 / 3;
  flo_soft_pair_place(pair, bulge->face, bulge->weights, bulge->x);
  for (int k = 0; k < ROUNDS; ++k) {
    double target[3], way[3], before[3];
    bulge->distance = look(pair, bulge->x, bulge->normal);
    vec_add_scaled(bulge->x, bulge->normal, -bulge->distance - DEPTH * s, target);
    flo_triangle_nearest(pair->faces, bulge->face, target, INFINITY, bulge->weights);
    vec_copy(bulge->x, before);
    flo_soft_pair_place(pair, bulge->face, bulge->weights, bulge->x);
    vec_sub(bulge->x, before, way);
    if (vec_length(way) < LEAST_STEP * s) break;
  }
  bulge->distance = look(pair, bulge->x, bulge->normal);
}

static bool is_nearer_than_nodes(const FloSoftPair *pair, const Bulge *bulge) {
  const double least = bulge->distance + BULGE * pair->world->def.spacing;
  double normal[3];
  for (int c = 0; c < 3; ++c)
    if (look(pair, flo_mesh_corner(pair->faces, bulge->face, c), normal) < least) return false;
  return true;
}

// Whether the bodies touch flatly there. Otherwise an edge or a corner of the other body is nearest.
static bool is_smooth(const FloSoftPair *pair, const Bulge *bulge) {
  double normal[3], side[3];
  int outside = -1;
  const uint32_t *corners = flo_mesh_triangle(pair->faces, bulge->face);
  for (int c = 0; c < 3; ++c)
    if (bulge->weights[c] == 0) outside = c;
  if (outside < 0 || corners[1] == corners[2]) {
    flo_soft_face_normal(pair->faces, bulge->face, normal);
    return fabs(vec_dot(normal, bulge->normal)) > FACING * vec_length(normal);
  }
  vec_sub(flo_mesh_corner(pair->faces, bulge->face, (outside + 1) % 3),
          flo_mesh_corner(pair->faces, bulge->face, (outside + 2) % 3), side);
  return fabs(vec_dot(side, bulge->normal)) < ALONG * vec_length(side);
}

static uint64_t key_of(const FloSoftPair *pair, uint32_t face) {
  return UINT64_C(3) << 61 | (uint64_t)pair->body << 45 | (uint64_t)pair->other << 29 | face;
}

static bool find_point(const FloSoftPair *pair, uint32_t face, FloContactPoint *point) {
  Bulge bulge = {.face = face};
  *point = (FloContactPoint){.body = pair->body,
                             .other = pair->other,
                             .body_sample = FLO_NO_SAMPLE,
                             .other_sample = FLO_NO_SAMPLE,
                             .key = key_of(pair, face)};
  find_nearest(pair, &bulge);
  if (!(bulge.distance < flo_soft_pair_room(pair))) return false;
  if (!is_smooth(pair, &bulge) || !is_nearer_than_nodes(pair, &bulge)) return false;
  vec_copy(bulge.normal, point->normal);
  point->gap = bulge.distance - flo_soft_body(flo_soft_pair_body(pair))->half_thickness;
  return vec_dot(point->normal, point->normal) > 0.5 && flo_soft_pair_hold(pair, face, bulge.weights, point);
}

typedef struct Search {
  const FloSoftPair *pair;
  FloContactPoint *slots; // one for each near face
} Search;

static void face_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Search *search = context;
  for (size_t k = begin; k < end; ++k)
    if (!find_point(search->pair, search->pair->near[k], &search->slots[k])) search->slots[k].hold.count = 0;
}

FloStatus flo_soft_pair_add_bulges(FloWorld *world, const FloSoftPair *pair, FloError *error) {
  Search search = {.pair = pair};
  FLO_TRY(flo_soft_pair_reserve(world, pair->n_near, &search.slots, error));
  flo_parallel_for(world->threads, pair->n_near, 16, face_range, &search);
  flo_soft_pair_keep(world, search.slots, pair->n_near);
  return FLO_OK;
}
