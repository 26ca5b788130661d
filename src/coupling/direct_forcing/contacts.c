// Finds contacts: fluid particles nearer to a surface than their radius, and bodies that overlap. In the end
// it moves fluid out of surfaces (section V-C).
#include "base/parallel.h"
#include "coupling/direct_forcing/direct_forcing.h"

#include <string.h>

// A particle with this much more clearance than its radius, in radii, is not probed. That is valid while the
// response moves no body farther than this from its predicted position.
#define ROOM_SLACK 0.2

typedef struct Detection {
  FloWorld *world;
  FloDirectForcing *forcing;
} Detection;

static bool lists_any(const FloPairs *pairs, size_t i) {
  return i < pairs->n_rows && pairs->slot_count[i / FLO_BLOCK] > 0 && pairs->row_count[i] > 0;
}

// ---- Distance to surfaces ----

// Keeps the nearest hits, sorted by distance.
static int add_hit(FloSurfaceHit hits[FLO_MAX_HITS], int n, const FloSurfaceHit *hit) {
  int k = n;
  if (n == FLO_MAX_HITS && !(hit->distance < hits[--k].distance)) return n;
  for (; k > 0 && hit->distance < hits[k - 1].distance; --k) hits[k] = hits[k - 1];
  hits[k] = *hit;
  return n < FLO_MAX_HITS ? n + 1 : n;
}

// If all wall samples belong to one body, as in most worlds, that body need not be searched among samples.
static bool next_near(const FloWorld *world, const FloDirectForcing *forcing, size_t particle,
                      FloNearBody *near) {
  bool is_known = forcing->only_wall != UINT32_MAX &&
                  !lists_any(flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID), particle);
  if (!is_known) return flo_near_next(world, particle, near);
  near->body = forcing->only_wall;
  return near->next++ == 0;
}

// Surfaces near a particle at the end of its path.
typedef struct Surfaces {
  int n; // number of hits: surfaces nearer than `reach`
  FloSurfaceHit hits[FLO_MAX_HITS];
  double nearest;  // distance to the nearest body whose samples the particle lists
  bool is_crowded; // there were more hits than FLO_MAX_HITS
} Surfaces;

static void probe_all(const FloWorld *world, const FloDirectForcing *forcing, size_t particle,
                      const FloPath *path, double reach, Surfaces *surfaces) {
  surfaces->n = 0, surfaces->nearest = INFINITY, surfaces->is_crowded = false;
  for (FloNearBody near = {0}; next_near(world, forcing, particle, &near);) {
    const FloBody *body = &flo_bodies(world)[near.body];
    FloSurfaceHit hit = {.body = near.body};
    double distance;
    bool is_hit = body->kind->probe(body, &world->domain, path, reach, &distance, &hit);
    surfaces->nearest = fmin(surfaces->nearest, distance);
    if (!is_hit) continue;
    surfaces->is_crowded |= surfaces->n == FLO_MAX_HITS;
    surfaces->n = add_hit(surfaces->hits, surfaces->n, &hit);
  }
}

// ---- Rooms: clearance of particles, so that those far from all solids are not probed ----

static void position_of(const FloParticles *p, size_t i, double x[3]) {
  vec_set(x, p->x[i], p->y[i], p->z[i]);
}

static double farthest_way(const FloWorld *world, const FloDirectForcing *forcing) {
  double farthest = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    farthest = fmax(farthest, flo_posed_way(body, &forcing->seen[k], &body->state.pose));
  }
  return farthest;
}

static void forget_rooms(FloDirectForcing *forcing, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) forcing->rooms[i] = (FloForcingRoom){.clearance = -INFINITY};
}

static void look_at_solids(FloWorld *world, FloDirectForcing *forcing) {
  size_t n_walls = 0;
  forcing->only_wall = UINT32_MAX;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    forcing->seen[k] = body->state.pose;
    body->way = flo_posed_way(body, &body->before, &body->state.pose);
    if (body->kind->set != FLO_SET_BOUNDARY || body->count == 0) continue;
    forcing->only_wall = ++n_walls == 1 ? (uint32_t)k : UINT32_MAX;
  }
}

// Updates rooms for solids at their predicted positions. Rooms are forgotten when bodies are new, and when
// solids have moved farther than any clearance.
static FloStatus follow_solids(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  size_t n = world->sets[FLO_SET_FLUID].count, size = sizeof(FloForcingRoom);
  FloBuffer *rooms = &forcing->buffers[FLO_FORCING_ROOMS], *seen = &forcing->buffers[FLO_FORCING_SEEN];
  FLO_TRY(flo_buffer_reserve(&world->memory, rooms, world->sets[FLO_SET_FLUID].capacity * size,
                             forcing->n_rooms * size, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, seen, world->bodies.count * sizeof(FloPose),
                             forcing->n_seen * sizeof(FloPose), error));
  forcing->rooms = rooms->data, forcing->seen = seen->data;
  bool are_known = forcing->n_seen == world->bodies.count;
  if (are_known) forcing->travel += farthest_way(world, forcing);
  if (!are_known || !(forcing->travel < 2 * world->kernel.support)) {
    forget_rooms(forcing, 0, forcing->n_rooms);
    forcing->travel = 0;
  }
  if (n > forcing->n_rooms) forget_rooms(forcing, forcing->n_rooms, n);
  forcing->n_rooms = flo_max_size(forcing->n_rooms, n), forcing->n_seen = world->bodies.count;
  look_at_solids(world, forcing);
  return FLO_OK;
}

// Whether the particle will be farther from all solids than its radius. After sorting, another particle may
// be stored at this index. The room is still valid, since it is the clearance of a point in space.
static bool has_room(const FloDirectForcing *forcing, size_t i, const double end[3]) {
  const FloForcingRoom *room = &forcing->rooms[i];
  double way2 = 0, size = 0;
  for (int axis = 0; axis < 3; ++axis) {
    double d = end[axis] - (double)room->at[axis];
    way2 += d * d, size = fmax(size, fabs(end[axis]));
  }
  double left = (double)room->clearance - forcing->travel - (1 + ROOM_SLACK) * forcing->radius - 1e-6 * size;
  return left > 0 && left * left > way2;
}

// A solid whose samples a particle does not list is farther away than `unlisted`.
static void keep_room(const FloWorld *world, FloDirectForcing *forcing, size_t i, const double end[3],
                      double nearest) {
  double unlisted = fmax(world->kernel.support - world->def.spacing, 0);
  FloForcingRoom *room = &forcing->rooms[i];
  for (int axis = 0; axis < 3; ++axis) room->at[axis] = (float)end[axis];
  room->clearance = (float)(fmin(nearest, unlisted) + forcing->travel);
}

// ---- Particles near solids ----

static FloStatus make_room(FloWorld *world, FloDirectForcing *forcing, int which, size_t n, size_t size,
                           void **data, FloError *error) {
  FloBuffer *buffer = &forcing->buffers[which];
  // The number of near particles changes with every step: half as much again avoids frequent allocation.
  if (n * size > buffer->capacity)
    FLO_TRY(flo_buffer_reserve(&world->memory, buffer, (n + n / 2) * size, 0, error));
  *data = buffer->data;
  return FLO_OK;
}

static bool is_block_near(const FloPairs *pairs, size_t block) {
  return block < pairs->n_blocks && pairs->slot_count[block] > 0;
}

static FloPath path_of(const FloWorld *world, const FloDirectForcing *forcing, size_t i) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  FloPath path;
  double v[3];
  position_of(p, i, path.start);
  flo_forcing_velocity_of(p, i, v);
  vec_add_scaled(path.start, v, forcing->dt, path.end);
  return path;
}

// Adds those particles of a block that list samples and have too little clearance; in most blocks none.
static void add_near_block(const FloWorld *world, FloDirectForcing *forcing, size_t block) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const FloPairs *walls = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_BOUNDARY),
                 *bodies = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID);
  for (size_t i = block * FLO_BLOCK; i < flo_min_size((block + 1) * FLO_BLOCK, p->count); ++i) {
    bool is_near_rigid = lists_any(bodies, i);
    if ((!lists_any(walls, i) && !is_near_rigid) || p->held[i]) continue;
    if (has_room(forcing, i, path_of(world, forcing, i).end)) continue;
    FloNearParticle *near = &forcing->near[forcing->n_near++];
    near->particle = (uint32_t)i, near->n_hits = 0, near->is_near_rigid = is_near_rigid;
  }
}

static FloStatus find_near(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  const FloPairs *walls = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_BOUNDARY),
                 *bodies = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID);
  const FloPairs *fluid = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_FLUID);
  size_t n_blocks = world->sets[FLO_SET_FLUID].count ? fluid->n_blocks : 0, n = 0;
  void *data;
  for (size_t block = 0; block < n_blocks; ++block)
    if (is_block_near(walls, block) || is_block_near(bodies, block)) n += FLO_BLOCK;
  FLO_TRY(make_room(world, forcing, FLO_FORCING_NEAR, n, sizeof(FloNearParticle), &data, error));
  forcing->near = data, forcing->n_near = 0;
  for (size_t block = 0; block < n_blocks; ++block)
    if (is_block_near(walls, block) || is_block_near(bodies, block)) add_near_block(world, forcing, block);
  return FLO_OK;
}

// ---- Contacts of fluid ----

static void hit_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Detection *d = context;
  for (size_t k = begin; k < end; ++k) {
    FloNearParticle *near = &d->forcing->near[k];
    FloPath path = path_of(d->world, d->forcing, near->particle);
    Surfaces surfaces;
    probe_all(d->world, d->forcing, near->particle, &path, d->forcing->radius, &surfaces);
    near->n_hits = surfaces.n, near->is_crowded = surfaces.is_crowded;
    memcpy(near->hits, surfaces.hits, sizeof near->hits);
    keep_room(d->world, d->forcing, near->particle, path.end, surfaces.nearest);
  }
}

// From the origin of the body to the particle. If forces move the body, both are taken at the start of the
// step, so that angular momentum is conserved.
static void find_arm(const FloWorld *world, const FloDirectForcing *forcing, FloForcingContact *c) {
  const FloBody *body = &flo_bodies(world)[c->body];
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const FloForcingPartner *partner = &forcing->partners[c->body];
  double x[3], v[3];
  position_of(p, c->particle, x);
  flo_forcing_velocity_of(p, c->particle, v);
  if (!flo_body_is_pushed(body)) vec_add_scaled(x, v, forcing->dt, x);
  flo_world_nearest_image(world, partner->origin, x, x);
  vec_sub(x, partner->origin, c->arm);
}

// Predicted velocity of the particle relative to the body. Returns its normal part at the start of the step.
static double find_relative(const FloWorld *world, const FloDirectForcing *forcing,
                            const FloForcingContact *c, double relative[3]) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const FloForcingPartner *partner = &forcing->partners[c->body];
  size_t i = c->particle;
  const double kick[3] = {(double)p->ax[i], (double)p->ay[i], (double)p->az[i]};
  double surface[3], earlier[3];
  flo_forcing_relative_velocity(world, forcing, c, relative);
  if (!partner->is_moving && partner->restitution == 0) return 0; // not needed
  flo_forcing_velocity_of(p, i, earlier);
  vec_add_scaled(earlier, kick, -forcing->kick_dt, earlier);
  flo_forcing_velocity_at(partner->earlier, c->arm, surface);
  vec_sub(earlier, surface, earlier);
  return vec_dot(earlier, c->normal);
}

// Sets the velocity that the contact requires: (8), or (9) if the prediction already moves away.
static void fill_contact(const FloWorld *world, const FloDirectForcing *forcing, const FloNearParticle *near,
                         int k) {
  const FloSurfaceHit *hit = &near->hits[k];
  FloForcingContact *c = &forcing->contacts[near->first + (uint32_t)k];
  *c = (FloForcingContact){.particle = near->particle, .body = hit->body, .is_first = k == 0};
  vec_copy(hit->normal, c->normal);
  const FloForcingPartner *partner = &forcing->partners[c->body];
  double relative[3];
  if (partner->is_moving) find_arm(world, forcing, c);
  double earlier = find_relative(world, forcing, c, relative);
  c->approach = vec_dot(relative, c->normal);
  c->is_pressed = !(c->approach > 0);
  c->bounce = c->is_pressed ? fmax(0, -partner->restitution * earlier) : 0; // (9): no bounce
  c->grip = 1 - partner->slip;
  flo_forcing_take(c, relative, c->missing);
  vec_scale(c->missing, -1, c->missing);
  vec_add_scaled(c->missing, c->normal, c->bounce, c->missing);
}

// The particle touches only this wall, so it depends on no other contact and gets its velocity at once.
static void respond_to_wall(FloWorld *world, const FloDirectForcing *forcing, FloForcingContact *c) {
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  vec_scale(c->missing, (double)p->mass[c->particle], c->impulse);
  flo_forcing_change_velocity(p, c->particle, c->missing, 1 / forcing->kick_dt);
}

static bool is_linked(const FloWorld *world, const FloNearParticle *near, int k) {
  return near->n_hits > 1 || flo_body_is_pushed(&flo_bodies(world)[near->hits[k].body]);
}

static bool is_follower(const FloWorld *world, const FloNearParticle *near) {
  return near->n_hits == 1 && is_linked(world, near, 0);
}

static void add_follower(const FloWorld *world, const FloDirectForcing *forcing,
                         const FloNearParticle *near) {
  const FloForcingPartner *partner = &forcing->partners[near->hits->body];
  FloFollowers *group = &forcing->followers[partner->first_group + near->follower / FLO_MAX_FOLLOWERS];
  flo_forcing_add_follower(group, (int)(near->follower % FLO_MAX_FOLLOWERS), &forcing->contacts[near->first],
                           (double)world->sets[FLO_SET_FLUID].mass[near->particle]);
}

static void contact_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Detection *d = context;
  for (size_t n = begin; n < end; ++n) {
    const FloNearParticle *near = &d->forcing->near[n];
    for (int k = 0; k < near->n_hits; ++k) fill_contact(d->world, d->forcing, near, k);
    if (near->n_hits != 1) continue;
    if (is_follower(d->world, near))
      add_follower(d->world, d->forcing, near);
    else
      respond_to_wall(d->world, d->forcing, &d->forcing->contacts[near->first]);
  }
}

// Divides the followers of each body into groups; returns the number of groups.
static size_t group_followers(const FloWorld *world, FloDirectForcing *forcing, FloFollowers *groups) {
  size_t n_groups = 0, first = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloForcingPartner *partner = &forcing->partners[k];
    partner->first_follower = first, partner->first_group = n_groups;
    for (size_t done = 0; done < partner->n_followers; done += FLO_MAX_FOLLOWERS, ++n_groups) {
      if (!groups) continue;
      groups[n_groups].body = (uint32_t)k, groups[n_groups].first = first + done;
      groups[n_groups].n = (int)flo_min_size(partner->n_followers - done, FLO_MAX_FOLLOWERS);
    }
    first += partner->n_followers;
  }
  forcing->n_followers = first;
  return n_groups;
}

// Lists contacts of followers, body by body, then those of company.
static FloStatus list_linked(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  void *data;
  for (size_t n = 0; n < forcing->n_near; ++n) {
    FloNearParticle *near = &forcing->near[n];
    if (is_follower(world, near))
      near->follower = (uint32_t)forcing->partners[near->hits->body].n_followers++;
  }
  size_t n_groups = group_followers(world, forcing, NULL);
  FLO_TRY(make_room(world, forcing, FLO_FORCING_FOLLOWERS, n_groups, sizeof(FloFollowers), &data, error));
  forcing->followers = data, forcing->n_groups = group_followers(world, forcing, data);
  forcing->n_linked = forcing->n_followers;
  for (size_t n = 0; n < forcing->n_near; ++n) {
    const FloNearParticle *near = &forcing->near[n];
    if (is_follower(world, near))
      forcing->linked[forcing->partners[near->hits->body].first_follower + near->follower] = near->first;
    for (int k = 0; near->n_hits > 1 && k < near->n_hits; ++k)
      forcing->linked[forcing->n_linked++] = near->first + (uint32_t)k;
  }
  return FLO_OK;
}

static void tell_crowd(const FloWorld *world, FloDirectForcing *forcing, size_t i) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  if (forcing->has_told_crowds) return;
  forcing->has_told_crowds = true;
  flo_world_log(world, FLO_LOG_WARNING,
                "at %.4g s a fluid particle at (%.4g, %.4g, %.4g) touches more than %d solids; only the "
                "nearest %d push "
                "it. Join walls that touch each other, or use a smaller spacing",
                world->time, p->x[i], p->y[i], p->z[i], FLO_MAX_HITS, FLO_MAX_HITS);
}

static FloStatus detect_fluid(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  Detection detection = {world, forcing};
  size_t n_contacts = 0;
  void *data;
  FLO_TRY(find_near(world, forcing, error));
  size_t n = forcing->n_near;
  flo_parallel_for(world->threads, n, 128, hit_range, &detection);
  for (size_t k = 0; k < n; ++k) {
    forcing->near[k].first = (uint32_t)n_contacts;
    n_contacts += (size_t)forcing->near[k].n_hits;
    if (forcing->near[k].is_crowded) tell_crowd(world, forcing, forcing->near[k].particle);
  }
  FLO_TRY(
      make_room(world, forcing, FLO_FORCING_CONTACTS, n_contacts, sizeof(FloForcingContact), &data, error));
  forcing->contacts = data, forcing->n_contacts = n_contacts;
  FLO_TRY(make_room(world, forcing, FLO_FORCING_LINKED, n_contacts, sizeof(uint32_t), &data, error));
  forcing->linked = data;
  FLO_TRY(list_linked(world, forcing, error));
  flo_parallel_for(world->threads, n, 128, contact_range, &detection);
  return FLO_OK;
}

// ---- Contacts of bodies ----

// Velocity of the other body in a contact. One that follows a motion and turns carries the position of the
// first along a chord; the first turns with it.
static void other_velocity(const FloWorld *world, const FloBodyContact *c, const double velocity[6],
                           const double at[3], double out[3]) {
  const FloBody *other = &flo_bodies(world)[c->other];
  double image[3], arm[3], origin[3], inwards[3];
  if (!flo_body_is_led(other)) {
    flo_forcing_velocity_at(velocity, c->other_arm, out);
    return;
  }
  flo_world_nearest_image(world, other->before.position, at, image);
  vec_sub(image, other->before.position, arm);
  vec_sub(arm, c->arm, origin);
  flo_lead_chord(&other->lead, origin, inwards);
  vec_cross(other->lead.spin, arm, out);
  vec_add(out, other->lead.velocity, out);
  vec_sub(out, inwards, out);
}

// The speed at which a contact closes at the start of the step.
static double earlier_approach(const FloWorld *world, const FloDirectForcing *forcing,
                               const FloBodyContact *c, const double at[3]) {
  double of_a[3], of_b[3];
  flo_forcing_velocity_at(forcing->partners[c->body].earlier, c->arm, of_a);
  other_velocity(world, c, forcing->partners[c->other].earlier, at, of_b);
  vec_sub(of_b, of_a, of_a);
  return vec_dot(of_a, c->normal);
}

// The gap may close, but not become negative; an overlap is removed slowly.
static double least_speed(const FloWorld *world, const FloDirectForcing *forcing,
                          const FloContactPoint *point) {
  double gap = point->gap + point->bend;
  if (gap >= 0) return -gap / forcing->dt;
  return fmin(-FLO_OVERLAP_RATE * gap / forcing->dt,
              flo_body_parting_speed(world->def.gravity, world->def.spacing, -gap));
}

static void describe_body_contact(const FloWorld *world, const FloDirectForcing *forcing,
                                  const FloContactPoint *point, FloBodyContact *c) {
  const FloForcingPartner *a = &forcing->partners[c->body], *b = &forcing->partners[c->other];
  const FloBody *body = &flo_bodies(world)[c->body], *other = &flo_bodies(world)[c->other];
  double image[3], of_a[3], of_b[3];
  flo_world_nearest_image(world, a->origin, point->x, image);
  vec_sub(image, a->origin, c->arm);
  flo_world_nearest_image(world, b->origin, point->x, image);
  vec_sub(image, b->origin, c->other_arm);
  flo_forcing_velocity_at(a->velocity, c->arm, of_a);
  other_velocity(world, c, b->velocity, point->x, of_b);
  vec_sub(of_a, of_b, c->velocity);
  c->gap = point->gap, c->least = least_speed(world, forcing, point);
  if (point->is_deep) return;
  c->friction = flo_body_friction(body, other, world->time);
  c->restitution = flo_body_restitution(body, other);
  if (c->restitution > 0) c->approach = earlier_approach(world, forcing, c, point->x);
}

// The points where bodies touch were found at the start of the step.
static FloStatus meet_bodies(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  const FloContacts *contacts = &world->body_contacts;
  size_t n = contacts->points.count, size = n * sizeof(FloBodyContact);
  FloBuffer *buffer = &forcing->buffers[FLO_FORCING_BODY_CONTACTS];
  if (size > buffer->capacity) FLO_TRY(flo_buffer_reserve(&world->memory, buffer, size + size / 2, 0, error));
  forcing->body_contacts = buffer->data, forcing->n_body_contacts = n;
  for (size_t k = 0; k < n; ++k) {
    const FloContactPoint *point = &flo_contact_points(contacts)[k];
    FloBodyContact *c = &forcing->body_contacts[k];
    *c = (FloBodyContact){.body = point->body,
                          .other = point->other,
                          .body_sample = point->body_sample,
                          .other_sample = point->other_sample};
    vec_copy(point->normal, c->normal);
    describe_body_contact(world, forcing, point, c);
  }
  return FLO_OK;
}

FloStatus flo_forcing_detect(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  forcing->n_contacts = forcing->n_linked = forcing->n_followers = forcing->n_groups = 0;
  FLO_TRY(meet_bodies(world, forcing, error));
  flo_forcing_bounce(world, forcing);
  if (forcing->response == FLO_RESPONSE_PENALTY) return FLO_OK;
  FLO_TRY(follow_solids(world, forcing, error));
  return detect_fluid(world, forcing, error);
}

// ---- Positions ----

// The distance to surface k that a particle gets. If two surfaces leave no room, it is the middle between
// them.
static double wanted_distance(const FloSurfaceHit *hits, int n, int k, double radius) {
  double wanted = radius;
  for (int j = 0; j < n; ++j)
    if (j != k && flo_forcing_face_each_other(hits[j].normal, hits[k].normal))
      wanted = fmin(wanted, (hits[j].distance + hits[k].distance) / 2);
  return wanted;
}

// Moves a particle out of one surface after the other; true if it moved. A particle deep inside needs several
// steps.
static bool push_out(FloSurfaceHit *hits, int n, double radius, double x[3]) {
  bool has_moved = false;
  for (int k = 0; k < n; ++k) {
    double way = fmin(wanted_distance(hits, n, k, radius) - hits[k].distance, radius);
    if (!(way > 0)) continue;
    vec_add_scaled(x, hits[k].normal, way, x);
    for (int j = 0; j < n; ++j) hits[j].distance += way * vec_dot(hits[j].normal, hits[k].normal);
    has_moved = true;
  }
  return has_moved;
}

// Algorithm 1: bodies are not where they were predicted, so their surfaces are probed again. A second round
// handles corners.
static void correct_anew(const FloWorld *world, const FloDirectForcing *forcing, size_t particle,
                         double x[3]) {
  FloPath path;
  double v[3];
  flo_forcing_velocity_of(&world->sets[FLO_SET_FLUID], particle, v);
  vec_add_scaled(x, v, -forcing->dt, path.start);
  for (int round = 0; round < 2; ++round) {
    Surfaces surfaces;
    vec_copy(x, path.end);
    probe_all(world, forcing, particle, &path, 2 * forcing->radius, &surfaces);
    if (!push_out(surfaces.hits, surfaces.n, forcing->radius, x)) return;
  }
}

// Algorithm 2: surfaces are where they were predicted, so their distances follow from the response.
static void correct_known(const FloWorld *world, const FloDirectForcing *forcing, FloNearParticle *near,
                          double x[3]) {
  double shift[3] = {0}, mass = (double)world->sets[FLO_SET_FLUID].mass[near->particle];
  for (int k = 0; k < near->n_hits; ++k)
    vec_add(shift, forcing->contacts[near->first + (uint32_t)k].impulse, shift);
  for (int k = 0; k < near->n_hits; ++k)
    near->hits[k].distance += forcing->dt / mass * vec_dot(shift, near->hits[k].normal);
  push_out(near->hits, near->n_hits, forcing->radius, x);
}

static void place(FloParticles *p, size_t i, const double x[3]) {
  p->x[i] = x[0], p->y[i] = x[1], p->z[i] = x[2];
}

static bool have_bodies_turned_aside(const FloDirectForcing *forcing) {
  return forcing->has_free_bodies || forcing->n_body_contacts > 0;
}

static void position_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Detection *d = context;
  FloParticles *p = &d->world->sets[FLO_SET_FLUID];
  for (size_t k = begin; k < end; ++k) {
    FloNearParticle *near = &d->forcing->near[k];
    double x[3];
    position_of(p, near->particle, x);
    if (near->is_near_rigid && have_bodies_turned_aside(d->forcing))
      correct_anew(d->world, d->forcing, near->particle, x);
    else if (near->n_hits > 0)
      correct_known(d->world, d->forcing, near, x);
    place(p, near->particle, x);
  }
}

// Also corrects particles that had enough clearance from the predicted bodies.
static void block_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Detection *d = context;
  FloParticles *p = &d->world->sets[FLO_SET_FLUID];
  for (size_t i = begin * FLO_BLOCK; i < flo_min_size(end * FLO_BLOCK, p->count); ++i) {
    double x[3];
    if (!lists_any(flo_pairs_of(d->world, FLO_SET_FLUID, FLO_SET_RIGID), i) || p->held[i]) continue;
    position_of(p, i, x);
    correct_anew(d->world, d->forcing, i, x);
    place(p, i, x);
  }
}

void flo_forcing_correct_positions(FloWorld *world, FloDirectForcing *forcing) {
  Detection detection = {world, forcing};
  if (forcing->response == FLO_RESPONSE_PENALTY) return;
  for (size_t k = 0; have_bodies_turned_aside(forcing) && k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    body->way = flo_posed_way(body, &body->before, &body->state.pose);
  }
  flo_parallel_for(world->threads, forcing->n_near, 128, position_range, &detection);
  if (have_bodies_turned_aside(forcing) && farthest_way(world, forcing) > ROOM_SLACK * forcing->radius)
    flo_each_block(world, FLO_SET_FLUID, FLO_SET_RIGID, block_range, &detection);
}
