// Finds the points at which bodies touch: candidates from the neighbour lists, then one point for each
// candidate, from signed distances.
//
// Each sample of a body that forces move, near another body, is a candidate. Between two such bodies the
// faces of one are enough, and of the other only its edges and corners are needed. The same holds for walls:
// of these, only edges and corners are candidates of their own. Soft bodies have points of their own
// (soft_contacts.c).
#include "base/parallel.h"
#include "sph/radix.h"
#include "state/state.h"

// Points with a gap below this, in spacings, count besides those that the motion of a step may close: the
// response to other contacts may press bodies together.
#define MARGIN 0.05

typedef struct Candidate {
  uint32_t sample, near; // a sample, and one of the other body; see flo_world_find_sample
  uint32_t other;        // the body that the sample meets
} Candidate;

typedef struct Finding {
  FloWorld *world;
  uint32_t *begins; // where the candidates of each sample begin
  double dt;
} Finding;

// ---- Candidates ----

static bool has_tip(const FloParticles *samples, size_t i) {
  double tip[3];
  return flo_sample_tip(samples, i, tip);
}

// Writes the candidates of one sample to `to` unless that is NULL; returns how many there are.
static uint32_t list_sample(const FloWorld *world, size_t i, Candidate *to) {
  static const FloSet sets[] = {FLO_SET_BOUNDARY, FLO_SET_RIGID};
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  const uint32_t number = (uint32_t)(world->sets[FLO_SET_BOUNDARY].count + i), own = rigid->body[i];
  uint32_t n = 0;
  if (flo_body_is_soft(&flo_bodies(world)[own])) return 0;
  for (size_t k = 0; k < FLO_COUNT_OF(sets); ++k)
    for (FloNearBody near = {0}; flo_near_next_in(world, FLO_SET_RIGID, sets[k], i, &near);) {
      if (sets[k] == FLO_SET_RIGID && near.body < own && !has_tip(rigid, i)) continue;
      if (flo_world_is_passing(world, own, near.body) || flo_body_is_soft(&flo_bodies(world)[near.body]))
        continue;
      if (to) to[n] = (Candidate){number, (uint32_t)near.sample, near.body};
      ++n;
    }
  return n;
}

static void count_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Finding *finding = context;
  for (size_t i = begin; i < end; ++i) finding->begins[i + 1] = list_sample(finding->world, i, NULL);
}

static void list_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Finding *finding = context;
  Candidate *all = FLO_LIST(finding->world->body_contacts.candidates, Candidate);
  for (size_t i = begin; i < end; ++i)
    if (finding->begins[i + 1] > finding->begins[i]) list_sample(finding->world, i, all + finding->begins[i]);
}

static FloStatus reserve_candidates(FloWorld *world, size_t n, FloError *error) {
  FloList *list = &world->body_contacts.candidates;
  size_t size = n * sizeof(Candidate);
  if (size > list->buffer.capacity) size += size / 2;
  FLO_TRY(flo_buffer_reserve(&world->memory, &list->buffer, size, list->count * sizeof(Candidate), error));
  list->count = n;
  return FLO_OK;
}

static FloStatus list_candidates(Finding *finding, FloError *error) {
  FloWorld *world = finding->world;
  FloContacts *contacts = &world->body_contacts;
  size_t n = world->sets[FLO_SET_RIGID].count;
  FLO_TRY(flo_buffer_reserve(&world->memory, &contacts->begins, (n + 1) * sizeof(uint32_t), 0, error));
  finding->begins = contacts->begins.data;
  finding->begins[0] = 0;
  flo_parallel_for(world->threads, n, 256, count_range, finding);
  for (size_t i = 0; i < n; ++i) finding->begins[i + 1] += finding->begins[i];
  contacts->candidates.count = 0;
  FLO_TRY(reserve_candidates(world, finding->begins[n], error));
  flo_parallel_for(world->threads, n, 256, list_range, finding);
  return FLO_OK;
}

// ---- Edges and corners of walls ----

static bool have_walls_tips(const FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (body->kind->set == FLO_SET_BOUNDARY && body->has_tips) return true;
  }
  return false;
}

// Lists pairs of a wall sample with a tip and a body near it, as often as the lists have them. Writes nothing
// if `keys` is NULL. Returns their number.
static size_t list_wall_tips(const FloWorld *world, uint64_t *keys, uint32_t *values) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_BOUNDARY);
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID], *walls = &world->sets[FLO_SET_BOUNDARY];
  size_t n = 0;
  for (size_t i = 0; i < pairs->n_rows; ++i) {
    if (pairs->slot_count[i / FLO_BLOCK] == 0) continue;
    const FloPairSlot *slots = pairs->slots + pairs->slot_begin[i / FLO_BLOCK];
    for (int32_t k = 0; k < pairs->row_count[i]; ++k) {
      size_t wall = (size_t)slots[k].index[i % FLO_BLOCK];
      if (flo_body_is_soft(&flo_bodies(world)[rigid->body[i]])) continue;
      if (!has_tip(walls, wall) || flo_world_is_passing(world, walls->body[wall], rigid->body[i])) continue;
      if (keys) keys[n] = (uint64_t)wall << 32 | rigid->body[i], values[n] = (uint32_t)i;
      ++n;
    }
  }
  return n;
}

static FloStatus reserve_keys(FloWorld *world, size_t n, FloError *error) {
  FloContacts *contacts = &world->body_contacts;
  FLO_TRY(flo_buffer_reserve(&world->memory, &contacts->keys, 2 * n * sizeof(uint64_t), 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &contacts->values, 2 * n * sizeof(uint32_t), 0, error));
  return flo_buffer_reserve(&world->memory, &contacts->scratch, flo_radix_scratch(2 * n), 0, error);
}

// Adds each pair of a wall's tip and a body once.
static FloStatus add_wall_tips(FloWorld *world, FloError *error) {
  FloContacts *contacts = &world->body_contacts;
  size_t n_walls = world->sets[FLO_SET_BOUNDARY].count, n = list_wall_tips(world, NULL, NULL);
  if (n == 0) return FLO_OK;
  FLO_TRY(reserve_keys(world, n, error));
  uint64_t *keys = contacts->keys.data;
  uint32_t *values = contacts->values.data;
  list_wall_tips(world, keys, values);
  flo_radix_sort(keys, values, n, 64, contacts->scratch.data, world->threads);
  size_t next = contacts->candidates.count;
  FLO_TRY(reserve_candidates(world, next + n, error));
  Candidate *all = FLO_LIST(contacts->candidates, Candidate);
  for (size_t k = 0; k < n; ++k)
    if (k == 0 || keys[k] != keys[k - 1])
      all[next++] =
          (Candidate){(uint32_t)(keys[k] >> 32), (uint32_t)(n_walls + values[k]), (uint32_t)keys[k]};
  contacts->candidates.count = next;
  return FLO_OK;
}

// ---- Points ----

double flo_world_way_of(const FloWorld *world, const FloBody *body, double dt) {
  if (!body->is_moving) return 0;
  double speed = vec_length(body->state.velocity) + vec_length(body->state.angular_velocity) * body->reach;
  return dt * (speed + vec_length(world->def.gravity) * dt);
}

static bool find_point(const Finding *finding, const Candidate *candidate, FloContactPoint *point) {
  const FloWorld *world = finding->world;
  size_t i;
  const FloParticles *set = flo_world_find_sample(world, candidate->sample, &i);
  const FloBody *own = &flo_bodies(world)[set->body[i]], *other = &flo_bodies(world)[candidate->other];
  FloSeeker seeker = {.own = own, .other = other, .x = {set->x[i], set->y[i], set->z[i]}};
  seeker.margin = MARGIN * world->def.spacing + flo_world_way_of(world, own, finding->dt) +
                  flo_world_way_of(world, other, finding->dt);
  seeker.has_tip = flo_sample_tip(set, i, seeker.tip);
  if (seeker.has_tip) {
    flo_sample_edge(set, i, seeker.edge);
    quat_rotate(own->state.pose.rotation, seeker.tip, seeker.tip);
    quat_rotate(own->state.pose.rotation, seeker.edge, seeker.edge);
  }
  return flo_world_seek_contact(world, &seeker, point);
}

// Of a wall's point and a body, the body comes first.
static void name_bodies(const FloWorld *world, const Candidate *candidate, FloContactPoint *point) {
  bool is_of_wall = candidate->sample < world->sets[FLO_SET_BOUNDARY].count;
  const FloBody *own = flo_world_body_of(world, candidate->sample);
  uint32_t number = (uint32_t)(own - flo_bodies(world));
  point->is_of_other = is_of_wall;
  point->body = is_of_wall ? candidate->other : number;
  point->other = is_of_wall ? number : candidate->other;
  point->body_sample = is_of_wall ? candidate->near : candidate->sample;
  point->other_sample = is_of_wall ? candidate->sample : candidate->near;
  point->key = flo_contact_key(world, point);
  if (is_of_wall) vec_scale(point->normal, -1, point->normal);
}

#define NO_POINT UINT32_MAX

double flo_contact_bend(const FloWorld *world, const FloContactPoint *point, uint32_t number, double dt) {
  const FloBody *body = &flo_bodies(world)[number];
  const double *spin = body->state.angular_velocity;
  double x[3], arm[3];
  if (body->n_nodes != 1) return 0;
  flo_world_nearest_image(world, body->nodes->position, point->x, x);
  vec_sub(x, body->nodes->position, arm);
  double along = vec_dot(spin, arm), square = vec_dot(spin, spin);
  return dt * dt / 2 * (along * vec_dot(spin, point->normal) - square * vec_dot(arm, point->normal));
}

static void point_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Finding *finding = context;
  const FloContacts *contacts = &finding->world->body_contacts;
  for (size_t k = begin; k < end; ++k) {
    const Candidate *candidate = &FLO_LIST(contacts->candidates, Candidate)[k];
    FloContactPoint *point = &flo_contact_points(contacts)[k];
    *point = (FloContactPoint){.body = NO_POINT};
    if (!find_point(finding, candidate, point)) continue;
    name_bodies(finding->world, candidate, point);
    if (!point->is_rolling)
      point->bend = flo_contact_bend(finding->world, point, point->body, finding->dt) -
                    flo_contact_bend(finding->world, point, point->other, finding->dt);
  }
}

FloStatus flo_world_reserve_contacts(FloWorld *world, size_t n, size_t keep, FloError *error) {
  FloBuffer *buffer = &world->body_contacts.points.buffer;
  size_t size = n * sizeof(FloContactPoint);
  return flo_buffer_reserve(&world->memory, buffer, size > buffer->capacity ? size + size / 2 : size,
                            keep * sizeof(FloContactPoint), error);
}

static FloStatus find_points(Finding *finding, FloError *error) {
  FloWorld *world = finding->world;
  FloContacts *contacts = &world->body_contacts;
  size_t n = contacts->candidates.count, used = 0;
  FLO_TRY(flo_world_reserve_contacts(world, n, 0, error));
  flo_parallel_for(world->threads, n, 64, point_range, finding);
  FloContactPoint *points = flo_contact_points(contacts);
  for (size_t k = 0; k < n; ++k)
    if (points[k].body != NO_POINT) points[used++] = points[k];
  contacts->points.count = used;
  return FLO_OK;
}

// ---- Bodies in each other (deep_pairs.c) ----

static FloStatus part_deep_bodies(FloWorld *world, FloError *error) {
  FloContacts *contacts = &world->body_contacts;
  FloContactPoint *points = flo_contact_points(contacts);
  contacts->deep_pairs.count = 0;
  for (size_t k = 0; k < contacts->points.count; ++k)
    if (points[k].is_deep)
      FLO_TRY(flo_world_add_deep_point(world, points[k].body, points[k].other, points[k].normal, error));
  if (contacts->deep_pairs.count == 0) return FLO_OK;
  flo_world_choose_ways_out(world);
  for (size_t k = 0; k < contacts->points.count; ++k)
    points[k].is_deep =
        points[k].is_deep && flo_world_way_out(world, points[k].body, points[k].other, points[k].normal);
  return FLO_OK;
}

// ---- All of it ----

static void swap_lists(FloContacts *contacts) {
  FloList before = contacts->before;
  contacts->before = contacts->points, contacts->points = before;
}

FloStatus flo_world_start_contacts(FloWorld *world, size_t n, FloError *error) {
  FloContacts *contacts = &world->body_contacts;
  swap_lists(contacts);
  FloStatus status = flo_world_reserve_contacts(world, n, 0, error);
  if (status != FLO_OK) swap_lists(contacts);
  if (status == FLO_OK) contacts->points.count = n;
  return status;
}

// Soft bodies touch by their nodes; all others by their samples.
static FloStatus find_by_samples(Finding *finding, FloError *error) {
  FloWorld *world = finding->world;
  if (world->sets[FLO_SET_RIGID].count == 0) return FLO_OK;
  FLO_TRY(list_candidates(finding, error));
  if (have_walls_tips(world)) FLO_TRY(add_wall_tips(world, error));
  FLO_TRY(find_points(finding, error));
  return part_deep_bodies(world, error);
}

static FloStatus find_all(Finding *finding, FloError *error) {
  FloWorld *world = finding->world;
  world->body_contacts.points.count = world->body_contacts.candidates.count = 0;
  world->body_contacts.deep_pairs.count = 0;
  if (world->nodes.count == 0) return FLO_OK;
  FLO_TRY(find_by_samples(finding, error));
  if (world->method->touches_soft) FLO_TRY(flo_world_add_soft_contacts(world, finding->dt, error));
  if (world->method->touches_soft) FLO_TRY(flo_world_add_soft_touches(world, finding->dt, error));
  if (world->method->touches_soft) FLO_TRY(flo_world_note_places(world, error));
  return flo_world_recall_contacts(world, error);
}

// A step that fails forgets nothing.
FloStatus flo_world_find_contacts(FloWorld *world, double dt, FloError *error) {
  Finding finding = {.world = world, .dt = dt};
  swap_lists(&world->body_contacts);
  FloStatus status = find_all(&finding, error);
  if (status != FLO_OK) swap_lists(&world->body_contacts);
  return status;
}

void flo_world_free_contacts(FloWorld *world) {
  FloContacts *contacts = &world->body_contacts;
  FloBuffer *buffers[] = {&contacts->points.buffer,
                          &contacts->before.buffer,
                          &contacts->candidates.buffer,
                          &contacts->deep_pairs.buffer,
                          &contacts->begins,
                          &contacts->table,
                          &contacts->keys,
                          &contacts->values,
                          &contacts->scratch,
                          &contacts->near_faces,
                          &contacts->near_tips,
                          &contacts->places};
  for (size_t k = 0; k < FLO_COUNT_OF(buffers); ++k) flo_buffer_free(&world->memory, buffers[k]);
}
