#include "state/soft_faces.h"

// ---- Points that several nodes hold ----

void flo_soft_pair_place(const FloSoftPair *pair, uint32_t face, const double weights[3], double x[3]) {
  vec_set(x, 0, 0, 0);
  for (int c = 0; c < 3; ++c) vec_add_scaled(x, flo_mesh_corner(pair->faces, face, c), weights[c], x);
}

// In the plane two corners are the same node.
static void hold_by_corners(const uint32_t corners[3], const double weights[3], FloSoftHold *hold) {
  for (int c = 0; c < 3; ++c) {
    int k = 0;
    if (weights[c] == 0) continue;
    while (k < hold->count && hold->nodes[k] != corners[c]) ++k;
    if (k == hold->count) hold->nodes[hold->count++] = corners[c], hold->shares[k] = 0;
    hold->shares[k] += weights[c];
  }
}

// Both bodies are pushed at the same point, so a pair of forces has no torque.
bool flo_soft_pair_hold(const FloSoftPair *pair, uint32_t face, const double weights[3],
                        FloContactPoint *point) {
  const FloSoftBody *own = flo_soft_body(flo_soft_pair_body(pair));
  hold_by_corners(flo_mesh_triangle(pair->faces, face), weights, &point->hold);
  flo_soft_pair_place(pair, face, weights, point->x);
  point->bend = -flo_contact_bend(pair->world, point, pair->other, pair->dt);
  for (int k = 0; k < point->hold.count; ++k)
    if (flo_soft_is_glued_to(own, point->hold.nodes[k], pair->other)) return false;
  return true;
}

FloStatus flo_soft_pair_reserve(FloWorld *world, size_t n, FloContactPoint **slots, FloError *error) {
  FloList *points = &world->body_contacts.points;
  FLO_TRY(flo_world_reserve_contacts(world, points->count + n, points->count, error));
  *slots = FLO_LIST(*points, FloContactPoint) + points->count;
  return FLO_OK;
}

void flo_soft_pair_keep(FloWorld *world, const FloContactPoint *slots, size_t n) {
  FloList *points = &world->body_contacts.points;
  for (size_t k = 0; k < n; ++k)
    if (slots[k].hold.count > 0) FLO_LIST(*points, FloContactPoint)[points->count++] = slots[k];
}

// ---- Faces near the other body ----

static bool is_near(const FloSoftPair *pair, size_t face) {
  double centre[3] = {0}, radius = 0, way[3];
  for (int c = 0; c < 3; ++c) vec_add_scaled(centre, flo_mesh_corner(pair->faces, face, c), 1.0 / 3, centre);
  for (int c = 0; c < 3; ++c) {
    vec_sub(flo_mesh_corner(pair->faces, face, c), centre, way);
    radius = fmax(radius, vec_length(way));
  }
  const double room = radius + flo_soft_pair_room(pair);
  return !flo_world_is_beyond(pair->world, flo_soft_pair_other(pair), centre, room) &&
         flo_world_distance(pair->world, flo_soft_pair_other(pair), centre) <= room;
}

static void widen(FloSoftPair *pair, const double x[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    pair->low[axis] = fmin(pair->low[axis], x[axis]);
    pair->high[axis] = fmax(pair->high[axis], x[axis]);
  }
}

static FloStatus list_faces(FloWorld *world, FloSoftPair *pair, FloError *error) {
  const size_t n = pair->faces->n_triangles;
  FloBuffer *buffer = &world->body_contacts.near_faces;
  FLO_TRY(flo_buffer_reserve(&world->memory, buffer, n * sizeof(uint32_t) + 1, 0, error));
  pair->near = buffer->data;
  vec_set(pair->low, INFINITY, INFINITY, INFINITY);
  vec_set(pair->high, -INFINITY, -INFINITY, -INFINITY);
  for (size_t k = 0; k < n; ++k) {
    if (!is_near(pair, k)) continue;
    pair->near[pair->n_near++] = (uint32_t)k;
    for (int c = 0; c < 3; ++c) widen(pair, flo_mesh_corner(pair->faces, k, c));
  }
  return FLO_OK;
}

FloStatus flo_world_add_soft_faces(FloWorld *world, uint32_t body, uint32_t other, double dt, double margin,
                                   FloError *error) {
  FloSoftPair pair = {.world = world, .body = body, .other = other, .dt = dt, .margin = margin};
  pair.faces = flo_soft_body_faces(flo_soft_pair_body(&pair));
  FLO_TRY(list_faces(world, &pair, error));
  if (pair.n_near == 0) return FLO_OK;
  FLO_TRY(flo_soft_pair_add_tips(world, &pair, error));
  return flo_soft_pair_add_bulges(world, &pair, error);
}
