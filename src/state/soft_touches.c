// Where soft bodies touch each other and themselves: a point for each vertex near a face and each edge near
// an edge, with the nodes and shares of both sides.
//
// A vertex above an edge of two triangles is near both of them at the same point. Of such points one is
// kept: a triangle counts only if no other triangle has the nearest place of this one and comes nearer to
// the vertex. Where the nearest place of an edge is its end, the vertex there has a point of its own.
#include "base/parallel.h"
#include "state/state.h"

// As for other contacts of soft bodies; see soft_contacts.c.
#define MARGIN 0.25
// A corner with less than this share of the nearest point does not count. Without it a vertex above a corner
// would change from triangle to triangle with rounding errors, and its contact would be a new one each time.
#define LEAST_SHARE 0.02

typedef struct Touching {
  FloMeeting meeting;
  FloApart apart;
  double thickness; // 0: they do not touch
} Touching;

typedef struct Search {
  FloWorld *world;
  Touching *all;
  double dt, room; // room: gap at which a pair counts that does not come nearer [m]
} Search;

// ---- One pair ----

static void point_velocity(const FloWorld *world, const Touching *t, double v[3]) {
  const FloMeeting *m = &t->meeting;
  vec_set(v, 0, 0, 0);
  for (int k = 0; k < m->n_own + m->n_other; ++k) {
    const FloBody *body = &flo_bodies(world)[k < m->n_own ? m->body : m->other];
    const FloNode *node = &body->nodes[m->nodes[k]];
    const double sign = k < m->n_own ? 1 : -1;
    if (!node->is_held) vec_add_scaled(v, node->velocity, sign * t->apart.weights[k], v);
  }
}

static bool is_inner(double weight) { return weight > LEAST_SHARE && weight < 1 - LEAST_SHARE; }

static bool is_place_of_edges(const Touching *t) {
  return t->meeting.n_own == 1 || (is_inner(t->apart.weights[0]) && is_inner(t->apart.weights[2]));
}

static void look(const Search *search, const FloMeeting *meeting, Touching *t) {
  const FloFeaturePair pair = flo_meeting_at(search->world, meeting, FLO_BEFORE_WAY);
  double v[3];
  *t = (Touching){.meeting = *meeting};
  flo_pair_apart(&pair, &t->apart);
  if (!is_place_of_edges(t) || !(t->apart.distance > 0)) return;
  const double thickness = flo_meeting_thickness(search->world, meeting);
  point_velocity(search->world, t, v);
  if (t->apart.distance - thickness < search->room + search->dt * vec_length(v)) t->thickness = thickness;
}

static void look_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Search *search = context;
  const FloMeeting *found = FLO_LIST(search->world->meetings.found, FloMeeting);
  for (size_t k = begin; k < end; ++k) look(search, &found[k], &search->all[k]);
}

// ---- Of several triangles the one that has the nearest point ----

// Whether the face of `other` has all corners on which the nearest point of `t` lies.
static bool has_place(const Touching *t, const Touching *other) {
  const FloMeeting *a = &t->meeting, *b = &other->meeting;
  for (int k = 1; k < 1 + a->n_other; ++k) {
    bool is_there = t->apart.weights[k] <= LEAST_SHARE;
    for (int n = 1; n < 1 + b->n_other; ++n) is_there = is_there || a->nodes[k] == b->nodes[n];
    if (!is_there) return false;
  }
  return true;
}

static bool is_same_vertex(const Touching *a, const Touching *b) {
  return a->meeting.n_own == 1 && b->meeting.n_own == 1 && a->meeting.body == b->meeting.body &&
         a->meeting.other == b->meeting.other && a->meeting.nodes[0] == b->meeting.nodes[0];
}

// The pairs [begin, end) are those of one vertex with one body.
static bool is_nearest(const Touching *all, size_t begin, size_t end, size_t k) {
  for (size_t n = begin; n < end; ++n) {
    const double nearer = all[k].apart.distance - all[n].apart.distance;
    if (n != k && (nearer > 0 || (nearer == 0 && n < k)) && has_place(&all[k], &all[n])) return false;
  }
  return true;
}

// ---- Points ----

static uint64_t mix(uint64_t key, uint64_t number) {
  key = (key ^ number) * UINT64_C(0x9E3779B97F4A7C15);
  return key ^ key >> 29;
}

// A point is found again by the nodes that carry it, in whatever order a face has them.
static uint64_t key_of(const FloWorld *world, const Touching *t) {
  const FloMeeting *m = &t->meeting;
  uint64_t sides[2] = {0, 0};
  for (int k = 0; k < m->n_own + m->n_other; ++k) {
    const bool is_own = k < m->n_own;
    const size_t node = flo_bodies(world)[is_own ? m->body : m->other].first_node + m->nodes[k];
    if (t->apart.weights[k] > LEAST_SHARE) sides[!is_own] += mix(UINT64_C(0xD1B54A32D192ED03), node + 1);
  }
  return UINT64_C(3) << 62 | mix(mix(1, sides[0]), sides[1]) >> 2;
}

static FloSoftHold hold_of(const uint32_t *nodes, const double *weights, int count) {
  FloSoftHold hold = {0};
  for (int k = 0; k < count; ++k)
    if (weights[k] > 0) hold.nodes[hold.count] = nodes[k], hold.shares[hold.count++] = weights[k];
  return hold;
}

static FloContactPoint point_of(const FloWorld *world, const Touching *t) {
  const FloMeeting *m = &t->meeting;
  const FloFeaturePair pair = flo_meeting_at(world, m, FLO_BEFORE_WAY);
  FloContactPoint point = {.body = m->body,
                           .other = m->other,
                           .body_sample = FLO_NO_SAMPLE,
                           .other_sample = FLO_NO_SAMPLE,
                           .hold = hold_of(m->nodes, t->apart.weights, m->n_own),
                           .other_hold =
                               hold_of(m->nodes + m->n_own, t->apart.weights + m->n_own, m->n_other),
                           .key = key_of(world, t),
                           .gap = t->apart.distance - t->thickness};
  vec_scale(t->apart.way, 1 / t->apart.distance, point.normal);
  for (int k = 0; k < m->n_own; ++k) vec_add_scaled(point.x, pair.x[k], t->apart.weights[k], point.x);
  vec_add_scaled(point.x, t->apart.way, -0.5, point.x);
  return point;
}

static FloStatus add_points(FloWorld *world, const Touching *all, size_t n, FloError *error) {
  FloList *points = &world->body_contacts.points;
  size_t n_new = 0, end = 0;
  for (size_t k = 0; k < n; ++k) n_new += all[k].thickness > 0;
  FLO_TRY(flo_world_reserve_contacts(world, points->count + n_new, points->count, error));
  for (size_t begin = 0; begin < n; begin = end) {
    for (end = begin + 1; end < n && is_same_vertex(&all[begin], &all[end]);) ++end;
    for (size_t k = begin; k < end; ++k)
      if (all[k].thickness > 0 && (end == begin + 1 || is_nearest(all, begin, end, k)))
        FLO_LIST(*points, FloContactPoint)[points->count++] = point_of(world, &all[k]);
  }
  return FLO_OK;
}

// ---- All of them ----

// Where nodes would go by their present velocities.
static void expect_ways(FloWorld *world, double dt) {
  double *from = world->meetings.from.data, *to = world->meetings.to.data;
  for (size_t k = 0; k < world->nodes.count; ++k) {
    const FloNode *node = flo_node_at(world, k);
    vec_copy(node->position, from + 3 * k);
    vec_add_scaled(node->position, node->velocity, node->is_held ? 0 : dt, to + 3 * k);
  }
}

FloStatus flo_world_add_soft_touches(FloWorld *world, double dt, FloError *error) {
  FloMeetings *meetings = &world->meetings;
  Search search = {.world = world, .dt = dt};
  search.room = MARGIN * world->def.spacing + dt * dt * vec_length(world->def.gravity);
  FLO_TRY(flo_world_prepare_meetings(world, error));
  if (meetings->features.count == 0) return FLO_OK;
  expect_ways(world, dt);
  FLO_TRY(flo_world_find_meetings(world, search.room + flo_world_largest_thickness(world), error));
  const size_t n = meetings->found.count, size = n * sizeof(Touching);
  FloBuffer *buffer = &meetings->touching.buffer;
  FLO_TRY(
      flo_buffer_reserve(&world->memory, buffer, size > buffer->capacity ? size + size / 2 : size, 0, error));
  search.all = buffer->data;
  flo_parallel_for(world->threads, n, 64, look_range, &search);
  return add_points(world, search.all, n, error);
}
