// Where edges and corners of bodies that keep their shape touch soft bodies between their nodes: a point for
// each tip (tips.c).
//
// With nodes alone a corner would poke through a triangle of cloth that is larger than it. Here the nearest
// point of the soft surface to the tip, its foot, becomes a contact that the corners of its triangle hold.
// The tip of a solid tells on which side of a sheet it belongs: its own body is behind it. So a tip that has
// passed a little way through a sheet is pushed back.
#include "base/parallel.h"
#include "geometry/bvh.h"
#include "state/soft_faces.h"

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

// Tips of one body near the faces of the other.
typedef struct Search {
  FloSoftPair pair;
  uint32_t *tips; // samples that have them
  size_t n_tips;
  FloContactPoint *slots; // one for each tip
} Search;

typedef struct Tip {
  double x[3], out[3]; // out: from its sample to it
} Tip;

// The image of the tip that is nearest to the soft body; false if the sample has no tip.
static bool find_tip(const FloSoftPair *pair, size_t i, Tip *tip) {
  const FloParticles *samples = &pair->world->sets[flo_soft_pair_other(pair)->kind->set];
  const double x[3] = {samples->x[i], samples->y[i], samples->z[i]};
  double there[3];
  if (!flo_sample_tip(samples, i, tip->out)) return false;
  quat_rotate(flo_soft_pair_other(pair)->state.pose.rotation, tip->out, tip->out);
  vec_add(x, tip->out, there);
  flo_world_nearest_image(pair->world, flo_soft_pair_body(pair)->state.pose.position, there, tip->x);
  return true;
}

// ---- The foot of a tip ----

typedef struct Foot {
  uint32_t face;
  double square; // of its distance
  double weights[3], x[3];
} Foot;

static bool find_foot(const FloSoftPair *pair, const double x[3], double farthest, Foot *foot) {
  foot->square = farthest * farthest, foot->face = UINT32_MAX;
  for (size_t k = 0; k < pair->n_near; ++k) {
    double weights[3];
    const double square = flo_triangle_nearest(pair->faces, pair->near[k], x, foot->square, weights);
    if (!(square < foot->square)) continue;
    foot->square = square, foot->face = pair->near[k];
    vec_copy(weights, foot->weights);
  }
  if (foot->face == UINT32_MAX) return false;
  flo_soft_pair_place(pair, foot->face, foot->weights, foot->x);
  return true;
}

// The unit normal of the face that leads away from the other body; false if the face has none. A solid is
// always inside of its faces, a sheet lies before the tip.
static bool find_way_out(const FloSoftPair *pair, const Tip *tip, const Foot *foot, double normal[3]) {
  flo_soft_face_normal(pair->faces, foot->face, normal);
  const double length = vec_length(normal);
  const bool is_turned = !flo_soft_pair_body(pair)->is_thin || vec_dot(normal, tip->out) < 0;
  if (!(length > 0)) return false;
  vec_scale(normal, (is_turned ? -1 : 1) / length, normal);
  return true;
}

// Whether the foot is on the border of a sheet.
static bool is_on_border(const FloSoftPair *pair, const Foot *foot) {
  const uint32_t *corners = flo_mesh_triangle(pair->faces, foot->face);
  if (!flo_soft_pair_body(pair)->is_thin) return false;
  for (int c = 0; c < 3; ++c)
    if (foot->weights[c] > 0 && !flo_soft_body(flo_soft_pair_body(pair))->is_border[corners[c]]) return false;
  return true;
}

// Normal and gap at the foot; false if the surface ends beside the tip.
static bool describe(const FloSoftPair *pair, const Tip *tip, const Foot *foot, FloContactPoint *point) {
  double way[3], out[3];
  if (!find_way_out(pair, tip, foot, out)) return false;
  vec_sub(foot->x, tip->x, way);
  const double length = vec_length(way), s = pair->world->def.spacing;
  const double side = vec_dot(way, out) < 0 ? -1 : 1;
  point->gap = side * length - flo_soft_body(flo_soft_pair_body(pair))->half_thickness;
  vec_copy(out, point->normal);
  if (length < NO_WAY * s) return true;
  if (flo_soft_pair_body(pair)->is_thin && side * length < -DEEPEST * s) return false;
  const double facing = is_on_border(pair, foot) ? FACING_BORDER : FACING;
  if (fabs(vec_dot(way, out)) < facing * length) return false;
  vec_scale(way, side / length, point->normal);
  return true;
}

static bool find_point(const FloSoftPair *pair, size_t sample, FloContactPoint *point) {
  const FloWorld *world = pair->world;
  const double farthest = flo_soft_pair_room(pair);
  const bool is_wall = flo_soft_pair_other(pair)->kind->set == FLO_SET_BOUNDARY;
  Tip tip;
  Foot foot;
  *point = (FloContactPoint){
      .body = pair->body, .other = pair->other, .body_sample = FLO_NO_SAMPLE, .is_of_other = true};
  point->other_sample = (uint32_t)(sample + (is_wall ? 0 : world->sets[FLO_SET_BOUNDARY].count));
  if (!find_tip(pair, sample, &tip) || !find_foot(pair, tip.x, farthest, &foot)) return false;
  if (!describe(pair, &tip, &foot, point) || !(point->gap < pair->margin)) return false;
  point->key = flo_contact_key(world, point);
  return flo_soft_pair_hold(pair, foot.face, foot.weights, point);
}

static void tip_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Search *search = context;
  for (size_t k = begin; k < end; ++k)
    if (!find_point(&search->pair, search->tips[k], &search->slots[k])) search->slots[k].hold.count = 0;
}

// ---- What is near ----

static bool is_in_box(const FloSoftPair *pair, const double x[3]) {
  const double room = flo_soft_pair_room(pair);
  for (int axis = 0; axis < 3; ++axis)
    if (x[axis] < pair->low[axis] - room || x[axis] > pair->high[axis] + room) return false;
  return true;
}

static FloStatus list_tips(FloWorld *world, Search *search, FloError *error) {
  const FloBody *other = flo_soft_pair_other(&search->pair);
  FloBuffer *buffer = &world->body_contacts.near_tips;
  Tip tip;
  FLO_TRY(flo_buffer_reserve(&world->memory, buffer, other->count * sizeof(uint32_t) + 1, 0, error));
  search->tips = buffer->data;
  for (size_t i = other->first; i < other->first + other->count; ++i)
    if (find_tip(&search->pair, i, &tip) && is_in_box(&search->pair, tip.x))
      search->tips[search->n_tips++] = (uint32_t)i;
  return FLO_OK;
}

FloStatus flo_soft_pair_add_tips(FloWorld *world, const FloSoftPair *pair, FloError *error) {
  Search search = {.pair = *pair};
  if (!flo_soft_pair_other(pair)->has_tips) return FLO_OK;
  FLO_TRY(list_tips(world, &search, error));
  FLO_TRY(flo_soft_pair_reserve(world, search.n_tips, &search.slots, error));
  flo_parallel_for(world->threads, search.n_tips, 16, tip_range, &search);
  flo_soft_pair_keep(world, search.slots, search.n_tips);
  return FLO_OK;
}
