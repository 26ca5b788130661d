// Keeps soft bodies from crossing each other and themselves, whatever moved them.
//
// After a step each node has gone a straight way. Pairs of features that come too near on their ways are
// pushed apart by impulses on their nodes, without rebound. Their bodies move anew with these impulses, as
// stiff as they are. The pushes change other ways, so this is repeated, in the end for nodes alone. Groups of
// nodes that still would cross then move as one (impact_zones.c). So in the end nothing crosses.
#include "state/crossings.h"

#include "base/parallel.h"
#include "state/state.h"

#include <stdlib.h>
#include <string.h>

enum { WHOLE_ROUNDS = 6, MOST_ROUNDS = 14, SWEEPS = 4 };

#define LARGEST_FACTOR 20 // of the impulses on whole bodies

// Shares of the distance at which two surfaces touch: nearer than the first they would cross, and they are
// pushed apart to the second, or to where they were if that is less.
#define LEAST  0.1
#define WANTED 0.25

// ---- Finding ----

size_t flo_meeting_node(const FloWorld *world, const FloMeeting *meeting, int corner) {
  const uint32_t body = corner < meeting->n_own ? meeting->body : meeting->other;
  return flo_bodies(world)[body].first_node + meeting->nodes[corner];
}

typedef struct Search {
  const FloWorld *world;
  const uint32_t *zones; // or NULL
  double *times;         // of the meetings; INFINITY: they do not cross
} Search;

static bool is_in_one_zone(const Search *search, const FloMeeting *meeting) {
  const uint32_t *zones = search->zones;
  if (!zones) return false;
  for (int k = 1; k < meeting->n_own + meeting->n_other; ++k)
    if (zones[flo_meeting_node(search->world, meeting, k)] !=
        zones[flo_meeting_node(search->world, meeting, 0)])
      return false;
  return true;
}

// Most pairs pass with the thickness that needs no look at how the bodies were made.
static double crossing_time(const Search *search, const FloMeeting *meeting) {
  const FloWorld *world = search->world;
  const double both = flo_soft_skin(world, meeting->body) + flo_soft_skin(world, meeting->other);
  const FloFeaturePair from = flo_meeting_at(world, meeting, FLO_BEFORE_WAY),
                       to = flo_meeting_at(world, meeting, FLO_AFTER_WAY);
  const double time = flo_pair_meets(&from, &to, LEAST * both);
  if (time == INFINITY || is_in_one_zone(search, meeting)) return INFINITY;
  const double thickness = flo_meeting_thickness(world, meeting);
  if (thickness == 0) return INFINITY;
  return thickness < both ? flo_pair_meets(&from, &to, LEAST * thickness) : time;
}

static void time_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Search *search = context;
  const FloMeeting *found = FLO_LIST(search->world->meetings.found, FloMeeting);
  for (size_t k = begin; k < end; ++k) search->times[k] = crossing_time(search, &found[k]);
}

static FloCrossing crossing_of(const FloWorld *world, const FloMeeting *meeting, double time) {
  FloCrossing crossing = {.meeting = *meeting, .time = time};
  const FloFeaturePair from = flo_meeting_at(world, meeting, FLO_BEFORE_WAY),
                       to = flo_meeting_at(world, meeting, FLO_AFTER_WAY);
  FloFeaturePair then;
  FloApart apart;
  flo_pair_between(&from, &to, time, &then);
  flo_pair_apart(&then, &apart);
  crossing.thickness = flo_meeting_thickness(world, meeting);
  for (int k = 0; k < FLO_MOST_CORNERS; ++k) crossing.weights[k] = apart.weights[k];
  vec_scale(apart.way, apart.distance > 0 ? 1 / apart.distance : 0, crossing.normal);
  return crossing;
}

static FloStatus list_crossings(FloWorld *world, const double *times, FloError *error) {
  FloMeetings *meetings = &world->meetings;
  meetings->hits.count = 0;
  for (size_t k = 0; k < meetings->found.count; ++k) {
    if (times[k] == INFINITY) continue;
    const FloCrossing crossing = crossing_of(world, &FLO_LIST(meetings->found, FloMeeting)[k], times[k]);
    FLO_TRY(flo_list_append(&world->memory, &meetings->hits, &crossing, sizeof crossing, error));
  }
  return FLO_OK;
}

FloStatus flo_world_find_crossings(FloWorld *world, const uint32_t *zones, FloError *error) {
  FloMeetings *meetings = &world->meetings;
  Search search = {.world = world, .zones = zones};
  FLO_TRY(flo_world_find_meetings(world, LEAST * flo_world_largest_thickness(world), error));
  const size_t size = meetings->found.count * sizeof(double);
  FloBuffer *buffer = &meetings->touching.buffer;
  FLO_TRY(
      flo_buffer_reserve(&world->memory, buffer, size > buffer->capacity ? size + size / 2 : size, 0, error));
  search.times = buffer->data;
  flo_parallel_for(world->threads, meetings->found.count, 64, time_range, &search);
  return list_crossings(world, search.times, error);
}

// ---- Counting ----

// Each bit of a number has an effect on each bit of the result (Steele, Lea & Flood 2014).
static uint64_t scatter(uint64_t x) {
  x = (x + 1) * UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9), x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

// The same for a pair in whatever order its features were found.
static uint64_t key_of(const FloWorld *world, const FloMeeting *meeting) {
  uint64_t sides[2] = {0, 0};
  for (int k = 0; k < meeting->n_own + meeting->n_other; ++k)
    sides[k >= meeting->n_own] += scatter(flo_meeting_node(world, meeting, k));
  return (sides[0] ^ sides[0] >> 31) + (sides[1] ^ sides[1] >> 31);
}

static int compare_keys(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

FloStatus flo_world_note_crossings(FloWorld *world, FloError *error) {
  FloMeetings *meetings = &world->meetings;
  FloList *pairs = &meetings->pairs;
  size_t n = 0;
  meetings->n_stopped += meetings->hits.count;
  for (size_t k = 0; k < meetings->hits.count; ++k) {
    const uint64_t key = key_of(world, &flo_crossings(meetings)[k].meeting);
    FLO_TRY(flo_list_append(&world->memory, pairs, &key, sizeof key, error));
  }
  uint64_t *keys = FLO_LIST(*pairs, uint64_t);
  if (pairs->count) qsort(keys, pairs->count, sizeof *keys, compare_keys);
  for (size_t k = 0; k < pairs->count; ++k)
    if (n == 0 || keys[k] != keys[n - 1]) keys[n++] = keys[k];
  pairs->count = n;
  return FLO_OK;
}

// ---- Pushing apart ----

static double sign_of(const FloCrossing *crossing, int corner) {
  return corner < crossing->meeting.n_own ? 1 : -1;
}

// How far the features are from each other along the normal when nodes are at x.
static double gap_at(const FloWorld *world, const FloCrossing *crossing, const double *x) {
  double gap = 0;
  for (int k = 0; k < crossing->meeting.n_own + crossing->meeting.n_other; ++k) {
    const size_t node = flo_meeting_node(world, &crossing->meeting, k);
    gap += sign_of(crossing, k) * crossing->weights[k] * vec_dot(crossing->normal, x + 3 * node);
  }
  return gap;
}

// How far a unit impulse along the normal would move them apart.
static double response_of(const FloWorld *world, const FloCrossing *crossing) {
  double response = 0;
  for (int k = 0; k < crossing->meeting.n_own + crossing->meeting.n_other; ++k) {
    const size_t node = flo_meeting_node(world, &crossing->meeting, k);
    const double weight = crossing->weights[k], *inverse = flo_node_at(world, node)->inverse_mass;
    for (int axis = 0; axis < 3; ++axis)
      response += weight * weight * inverse[axis] * crossing->normal[axis] * crossing->normal[axis];
  }
  return response;
}

// No farther than they were: pushes become velocities, so more would be a rebound.
static double wanted_gap(const FloWorld *world, const FloCrossing *crossing) {
  const double start = gap_at(world, crossing, world->meetings.from.data);
  return fmin(WANTED * crossing->thickness, fmax(start, 0));
}

static void push_apart(FloWorld *world, const FloCrossing *crossing) {
  double *to = world->meetings.to.data;
  const double lack = wanted_gap(world, crossing) - gap_at(world, crossing, to),
               response = response_of(world, crossing);
  if (!(lack > 0 && response > 0)) return;
  for (int k = 0; k < crossing->meeting.n_own + crossing->meeting.n_other; ++k) {
    const size_t node = flo_meeting_node(world, &crossing->meeting, k);
    const double *inverse = flo_node_at(world, node)->inverse_mass,
                 push = sign_of(crossing, k) * crossing->weights[k] * lack / response;
    for (int axis = 0; axis < 3; ++axis)
      to[3 * node + (size_t)axis] += push * inverse[axis] * crossing->normal[axis];
  }
}

static void push_all_apart(FloWorld *world) {
  const FloMeetings *meetings = &world->meetings;
  for (int sweep = 0; sweep < SWEEPS; ++sweep)
    for (size_t k = 0; k < meetings->hits.count; ++k) push_apart(world, &flo_crossings(meetings)[k]);
}

// ---- Pushing the whole bodies ----

static FloBody *soft_body(const FloWorld *world, size_t k) {
  return &flo_bodies(world)[FLO_LIST(world->meetings.features, FloSoftFeatures)[k].body];
}

static bool can_move(const FloBody *body) { return body->n_nodes > 0 && !body->nodes->is_held; }

// The impulses that would give the nodes their new ways if each moved alone. Adds their work, as each would
// move alone and as the whole body does.
static void find_pushes(const FloWorld *world, FloBody *body, double dt, double work[2]) {
  const FloSoftBody *own = flo_soft_body(body);
  const double *to = (const double *)world->meetings.to.data + 3 * body->first_node;
  for (size_t i = 0; i < own->n_numbers; ++i)
    own->pushes[i] = own->nodes[i / 3].mass * (to[i] - own->x[i]) / dt;
  body->kind->respond(body, own->pushes, own->room);
  for (size_t i = 0; i < own->n_numbers; ++i) {
    work[0] += own->pushes[i] * (to[i] - own->x[i]);
    work[1] += own->pushes[i] * own->room[i] * dt;
  }
}

static void move_again(FloWorld *world, FloBody *body, double factor, double dt) {
  const FloSoftBody *own = flo_soft_body(body);
  double *to = (double *)world->meetings.to.data + 3 * body->first_node;
  for (size_t i = 0; i < own->n_numbers; ++i) own->pushes[i] *= factor;
  flo_soft_body_move_again(body, (const double *)world->meetings.from.data + 3 * body->first_node, dt);
  memcpy(to, own->x, own->n_numbers * sizeof *to);
}

// Stiff bodies resist when some of their nodes are pushed. So all nodes move anew, with impulses that are
// larger by the factor that their response asks for. It is the same for all bodies, which keeps the momentum.
static void push_bodies(FloWorld *world, double dt) {
  const size_t n = world->meetings.features.count;
  double work[2] = {0};
  for (size_t k = 0; k < n; ++k)
    if (can_move(soft_body(world, k))) find_pushes(world, soft_body(world, k), dt, work);
  const double factor = work[1] > 0 ? fmin(fmax(work[0] / work[1], 1), LARGEST_FACTOR) : 1;
  for (size_t k = 0; k < n; ++k)
    if (can_move(soft_body(world, k))) move_again(world, soft_body(world, k), factor, dt);
}

// Whole bodies would move anew into bodies from which they were put back (keep_apart.c).
static FloStatus solve_crossings(FloWorld *world, double dt, FloError *error) {
  FloMeetings *meetings = &world->meetings;
  const int n_whole = world->put_back > 0 ? 0 : WHOLE_ROUNDS;
  for (int round = 0; round < MOST_ROUNDS; ++round) {
    FLO_TRY(flo_world_find_crossings(world, NULL, error));
    if (meetings->hits.count == 0) return FLO_OK;
    FLO_TRY(flo_world_note_crossings(world, error));
    push_all_apart(world);
    if (round < n_whole) push_bodies(world, dt);
  }
  FLO_TRY(flo_world_find_crossings(world, NULL, error));
  return flo_world_move_zones(world, error);
}

// ---- Ways ----

static void read_positions(FloWorld *world, double *x) {
  for (size_t k = 0; k < world->nodes.count; ++k) vec_copy(flo_node_at(world, k)->position, x + 3 * k);
}

// Takes over new ends of ways. False: the body has gone its way unchanged.
static bool correct_body(const FloWorld *world, FloBody *body, double dt) {
  const FloSoftBody *own = flo_soft_body(body);
  const double *to = (const double *)world->meetings.to.data + 3 * body->first_node;
  bool is_changed = false;
  for (size_t i = 0; i < own->n_numbers; ++i) {
    if (to[i] == own->x[i]) continue;
    own->v[i] += (to[i] - own->x[i]) / dt;
    own->x[i] = to[i];
    is_changed = true;
  }
  return is_changed;
}

FloStatus flo_world_note_ways(FloWorld *world, FloError *error) {
  FLO_TRY(flo_world_prepare_meetings(world, error));
  world->meetings.n_stopped = world->meetings.n_zones = world->meetings.pairs.count = 0;
  if (world->meetings.features.count > 0) read_positions(world, world->meetings.from.data);
  return FLO_OK;
}

// The step of the world then ends with an error.
static bool has_failed_body(const FloWorld *world) {
  for (size_t k = 0; k < world->meetings.features.count; ++k)
    if (flo_soft_body(soft_body(world, k))->has_failed) return true;
  return false;
}

FloStatus flo_world_stop_crossings(FloWorld *world, double dt, FloError *error) {
  FloMeetings *meetings = &world->meetings;
  const size_t before = meetings->n_stopped;
  if (meetings->features.count == 0 || has_failed_body(world)) return FLO_OK;
  read_positions(world, meetings->to.data);
  FLO_TRY(solve_crossings(world, dt, error));
  if (meetings->n_stopped == before) return FLO_OK;
  for (size_t k = 0; k < meetings->features.count; ++k) {
    FloBody *body = &flo_bodies(world)[FLO_LIST(meetings->features, FloSoftFeatures)[k].body];
    if (correct_body(world, body, dt)) flo_soft_body_correct(body);
    flo_world_place_samples(world, body);
  }
  return FLO_OK;
}
