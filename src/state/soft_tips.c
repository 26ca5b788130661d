// Where edges and corners of bodies that keep their shape touch soft bodies between their nodes: a point for
// each tip (tips.c).
//
// With nodes alone a corner would poke through a triangle of cloth that is larger than it. Here the nearest
// point of the soft surface to the tip, its foot, becomes a contact that the corners of its triangle hold.
// The tip of a solid tells on which side of a sheet it belongs: its own body is behind it. So a tip that has
// passed a little way through a sheet is pushed back.
#include "base/parallel.h"
#include "geometry/bvh.h"
#include "state/state.h"

// A tip that has passed a sheet by more than this, in spacings, is on its other side: a sheet that lies on
// top of a body is not touched by the tips at its bottom.
#define DEEPEST 0.5
// The way to a foot on an edge between faces leans away from their normals. With a cosine below this the tip
// passes the edge.
#define FACING 0.9
// Of a foot on the border of a sheet: beside the border there is no contact, since a small step aside decides
// on which side they pass. A sheet that slides out from under an edge would else be stopped by it.
#define FACING_BORDER 0.999
// Ways shorter than this, in spacings, have no direction.
#define NO_WAY 1e-6

// A pair of bodies; the first is soft.
typedef struct Search {
  const FloWorld *world;
  uint32_t body, other;
  double dt, margin;
  const FloMesh *faces;
  uint32_t *near, *tips; // faces near the other body, and samples of it that have tips near them
  size_t n_near, n_tips;
  FloContactPoint *slots; // one for each tip
} Search;

typedef struct Tip {
  double x[3], out[3]; // out: from its sample to it
} Tip;

static FloBody *soft_of(const Search *search) { return &flo_bodies(search->world)[search->body]; }
static FloBody *other_of(const Search *search) { return &flo_bodies(search->world)[search->other]; }

// The image of the tip that is nearest to the soft body; false if the sample has no tip.
static bool find_tip(const Search *search, size_t i, Tip *tip) {
  const FloParticles *samples = &search->world->sets[other_of(search)->kind->set];
  const double x[3] = {samples->x[i], samples->y[i], samples->z[i]};
  double there[3];
  if (!flo_sample_tip(samples, i, tip->out)) return false;
  quat_rotate(other_of(search)->state.pose.rotation, tip->out, tip->out);
  vec_add(x, tip->out, there);
  flo_world_nearest_image(search->world, soft_of(search)->state.pose.position, there, tip->x);
  return true;
}

// ---- The foot of a tip ----

typedef struct Foot {
  uint32_t face;
  double square; // of its distance
  double weights[3], x[3];
} Foot;

static bool find_foot(const Search *search, const double x[3], double farthest, Foot *foot) {
  foot->square = farthest * farthest, foot->face = UINT32_MAX;
  for (size_t k = 0; k < search->n_near; ++k) {
    double weights[3];
    const double square = flo_triangle_nearest(search->faces, search->near[k], x, foot->square, weights);
    if (!(square < foot->square)) continue;
    foot->square = square, foot->face = search->near[k];
    vec_copy(weights, foot->weights);
  }
  if (foot->face == UINT32_MAX) return false;
  vec_set(foot->x, 0, 0, 0);
  for (int c = 0; c < 3; ++c)
    vec_add_scaled(foot->x, flo_mesh_corner(search->faces, foot->face, c), foot->weights[c], foot->x);
  return true;
}

// The unit normal of the face that leads away from the other body; false if the face has none. A solid is
// always inside of its faces, a sheet lies before the tip.
static bool find_way_out(const Search *search, const Tip *tip, const Foot *foot, double normal[3]) {
  flo_soft_face_normal(search->faces, foot->face, normal);
  const double length = vec_length(normal);
  const bool is_turned = !soft_of(search)->is_thin || vec_dot(normal, tip->out) < 0;
  if (!(length > 0)) return false;
  vec_scale(normal, (is_turned ? -1 : 1) / length, normal);
  return true;
}

// Whether the foot is on the border of a sheet.
static bool is_on_border(const Search *search, const Foot *foot) {
  const uint32_t *corners = flo_mesh_triangle(search->faces, foot->face);
  if (!soft_of(search)->is_thin) return false;
  for (int c = 0; c < 3; ++c)
    if (foot->weights[c] > 0 && !flo_soft_body(soft_of(search))->is_border[corners[c]]) return false;
  return true;
}

// Normal and gap at the foot; false if the surface ends beside the tip.
static bool describe(const Search *search, const Tip *tip, const Foot *foot, FloContactPoint *point) {
  double way[3], out[3];
  if (!find_way_out(search, tip, foot, out)) return false;
  vec_sub(foot->x, tip->x, way);
  const double length = vec_length(way), s = search->world->def.spacing;
  const double side = vec_dot(way, out) < 0 ? -1 : 1;
  point->gap = side * length - flo_soft_body(soft_of(search))->half_thickness;
  vec_copy(out, point->normal);
  if (length < NO_WAY * s) return true;
  if (soft_of(search)->is_thin && side * length < -DEEPEST * s) return false;
  const double facing = is_on_border(search, foot) ? FACING_BORDER : FACING;
  if (fabs(vec_dot(way, out)) < facing * length) return false;
  vec_scale(way, side / length, point->normal);
  return true;
}

static void hold_foot(const Search *search, const Foot *foot, FloSoftHold *hold) {
  const uint32_t *corners = flo_mesh_triangle(search->faces, foot->face);
  for (int c = 0; c < 3; ++c) {
    int k = 0;
    if (foot->weights[c] == 0) continue;
    while (k < hold->count && hold->nodes[k] != corners[c]) ++k;
    if (k == hold->count) hold->nodes[hold->count++] = corners[c], hold->shares[k] = 0;
    hold->shares[k] += foot->weights[c];
  }
}

// A triangle that is glued to the other body does not touch it.
static bool is_glued(const Search *search, const FloSoftHold *hold) {
  for (int k = 0; k < hold->count; ++k)
    if (flo_soft_is_glued_to(flo_soft_body(soft_of(search)), hold->nodes[k], search->other)) return true;
  return false;
}

// Both bodies are pushed at the foot, so a pair of forces has no torque.
static bool find_point(const Search *search, size_t sample, FloContactPoint *point) {
  const FloWorld *world = search->world;
  const double farthest = search->margin + flo_soft_body(soft_of(search))->half_thickness;
  const bool is_wall = other_of(search)->kind->set == FLO_SET_BOUNDARY;
  Tip tip;
  Foot foot;
  *point = (FloContactPoint){
      .body = search->body, .other = search->other, .body_sample = FLO_NO_SAMPLE, .is_of_other = true};
  point->other_sample = (uint32_t)(sample + (is_wall ? 0 : world->sets[FLO_SET_BOUNDARY].count));
  if (!find_tip(search, sample, &tip) || !find_foot(search, tip.x, farthest, &foot)) return false;
  if (!describe(search, &tip, &foot, point) || !(point->gap < search->margin)) return false;
  hold_foot(search, &foot, &point->hold);
  vec_copy(foot.x, point->x);
  point->key = flo_contact_key(world, point);
  point->bend = -flo_contact_bend(world, point, search->other, search->dt);
  return !is_glued(search, &point->hold);
}

static void tip_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Search *search = context;
  for (size_t k = begin; k < end; ++k)
    if (!find_point(search, search->tips[k], &search->slots[k])) search->slots[k].hold.count = 0;
}

// ---- What is near ----

typedef struct Box {
  double low[3], high[3];
} Box;

static void widen(Box *box, const double x[3]) {
  for (int axis = 0; axis < 3; ++axis)
    box->low[axis] = fmin(box->low[axis], x[axis]), box->high[axis] = fmax(box->high[axis], x[axis]);
}

static bool is_in(const Box *box, const double x[3], double margin) {
  for (int axis = 0; axis < 3; ++axis)
    if (x[axis] < box->low[axis] - margin || x[axis] > box->high[axis] + margin) return false;
  return true;
}

// Whether the other body may be within the margin of a face.
static bool is_near(const Search *search, size_t face) {
  double centre[3] = {0}, radius = 0, way[3];
  for (int c = 0; c < 3; ++c)
    vec_add_scaled(centre, flo_mesh_corner(search->faces, face, c), 1.0 / 3, centre);
  for (int c = 0; c < 3; ++c) {
    vec_sub(flo_mesh_corner(search->faces, face, c), centre, way);
    radius = fmax(radius, vec_length(way));
  }
  const double room = radius + search->margin + flo_soft_body(soft_of(search))->half_thickness;
  return !flo_world_is_beyond(search->world, other_of(search), centre, room) &&
         flo_world_distance(search->world, other_of(search), centre) <= room;
}

static FloStatus list_faces(FloWorld *world, Search *search, Box *box, FloError *error) {
  FloBuffer *buffer = &world->body_contacts.near_faces;
  FLO_TRY(flo_buffer_reserve(&world->memory, buffer, search->faces->n_triangles * sizeof(uint32_t) + 1, 0,
                             error));
  search->near = buffer->data;
  for (size_t k = 0; k < search->faces->n_triangles; ++k) {
    if (!is_near(search, k)) continue;
    search->near[search->n_near++] = (uint32_t)k;
    for (int c = 0; c < 3; ++c) widen(box, flo_mesh_corner(search->faces, k, c));
  }
  return FLO_OK;
}

static FloStatus list_tips(FloWorld *world, Search *search, const Box *box, FloError *error) {
  const FloBody *other = other_of(search);
  const double room = search->margin + flo_soft_body(soft_of(search))->half_thickness;
  FloBuffer *buffer = &world->body_contacts.near_tips;
  Tip tip;
  FLO_TRY(flo_buffer_reserve(&world->memory, buffer, other->count * sizeof(uint32_t) + 1, 0, error));
  search->tips = buffer->data;
  for (size_t i = other->first; i < other->first + other->count; ++i)
    if (find_tip(search, i, &tip) && is_in(box, tip.x, room)) search->tips[search->n_tips++] = (uint32_t)i;
  return FLO_OK;
}

FloStatus flo_world_add_soft_tips(FloWorld *world, uint32_t body, uint32_t other, double dt, double margin,
                                  FloError *error) {
  FloList *points = &world->body_contacts.points;
  Search search = {.world = world, .body = body, .other = other, .dt = dt, .margin = margin};
  Box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  search.faces = flo_soft_body_faces(soft_of(&search));
  if (!other_of(&search)->has_tips) return FLO_OK;
  FLO_TRY(list_faces(world, &search, &box, error));
  if (search.n_near > 0) FLO_TRY(list_tips(world, &search, &box, error));
  FLO_TRY(flo_world_reserve_contacts(world, points->count + search.n_tips, points->count, error));
  search.slots = FLO_LIST(*points, FloContactPoint) + points->count;
  flo_parallel_for(world->threads, search.n_tips, 16, tip_range, &search);
  for (size_t k = 0; k < search.n_tips; ++k)
    if (search.slots[k].hold.count > 0) FLO_LIST(*points, FloContactPoint)[points->count++] = search.slots[k];
  return FLO_OK;
}
