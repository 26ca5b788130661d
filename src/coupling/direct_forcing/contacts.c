// Who touches whom: fluid particles nearer to a surface than their radius, and bodies that overlap; and how
// fluid is moved out of the way in the end (section V-C).
//
// Surfaces are asked for their signed distance in the body's own frame, from where a particle was to where it
// goes. A shell may be as thin as one layer of samples: who has passed its middle would be drawn to the far
// side, so the side from which it came counts.
#include "base/parallel.h"
#include "base/pose.h"
#include "coupling/direct_forcing/direct_forcing.h"

// Bodies that are to be this near, in spacings, are watched: the response to others may press them together.
#define BODY_MARGIN 0.05
// Who has this much more room than its radius, in radii, need not be asked as long as the response moves no
// body farther than that from where it was expected.
#define ROOM_SLACK 0.2

typedef struct Detection {
  FloWorld *world;
  FloDirectForcing *forcing;
} Detection;

static bool lists_any(const FloPairs *pairs, size_t i) {
  return i < pairs->n_rows && pairs->slot_count[i / FLO_BLOCK] > 0 && pairs->row_count[i] > 0;
}

// ---- Distance to a surface ----

typedef struct Path {
  double start[3], end[3]; // of a particle within the step
} Path;

// Whether a particle may have been inside half way: otherwise its end is nearer to the surface than half of
// the way.
static bool may_have_been_inside(const Path *path, double body_way, double distance) {
  double way[3];
  vec_sub(path->end, path->start, way);
  double longest = vec_length(way) + body_way;
  return !(distance > 0.6 * longest);
}

static bool is_on_other_side(const FloSolid *solid, const double start[3], const double end[3],
                             double distance, const double normal[3], double start_normal[3]) {
  double middle[3];
  vec_add(start, end, middle);
  vec_scale(middle, 0.5, middle);
  if (distance >= 0 && flo_solid_distance(solid, middle) >= 0) return false;
  flo_solid_normal(solid, start, start_normal);
  return vec_dot(start_normal, normal) < 0;
}

// Distance and normal as seen from the side that a particle comes from, which ends in the body's frame at
// `end`.
static double see_from_start(const FloWorld *world, const FloDirectForcing *forcing, const FloBody *body,
                             const Path *path, const double end[3], double distance, double normal[3]) {
  const FloForcingPartner *partner = &forcing->partners[body - flo_bodies(world)];
  double start[3], start_normal[3], way[3];
  if (!may_have_been_inside(path, partner->way, distance)) return distance;
  flo_world_to_body(world, body, &partner->before, path->start, start);
  if (!is_on_other_side(body->solid, start, end, distance, normal, start_normal)) return distance;
  vec_sub(end, start, way);
  vec_copy(start_normal, normal);
  return flo_solid_distance(body->solid, start) + vec_dot(way, normal);
}

// Distance of a particle to the body at the end of its path, and, where that is less than `reach`, the hit; a
// hit has a normal.
static double probe(const FloWorld *world, const FloDirectForcing *forcing, uint32_t which, const Path *path,
                    double reach, FloSurfaceHit *hit, bool *is_hit) {
  const FloBody *body = &flo_bodies(world)[which];
  double end[3], normal[3];
  flo_world_to_body(world, body, &body->state.pose, path->end, end);
  double distance = flo_forcing_surface(body->solid, end, reach, normal);
  *is_hit = distance < reach && vec_dot(normal, normal) > 0.5;
  if (!*is_hit) return distance;
  hit->body = which;
  hit->distance = see_from_start(world, forcing, body, path, end, distance, normal);
  quat_rotate(body->state.pose.rotation, normal, hit->normal);
  return hit->distance;
}

// Keeps the nearest ones, in order.
static int add_hit(FloSurfaceHit hits[FLO_MAX_HITS], int n, const FloSurfaceHit *hit) {
  int k = n;
  if (n == FLO_MAX_HITS && !(hit->distance < hits[--k].distance)) return n;
  for (; k > 0 && hit->distance < hits[k - 1].distance; --k) hits[k] = hits[k - 1];
  hits[k] = *hit;
  return n < FLO_MAX_HITS ? n + 1 : n;
}

// A single tank, as most worlds have, need not be looked for among its samples.
static FloNearBodies near_bodies(const FloWorld *world, const FloDirectForcing *forcing, size_t particle) {
  if (forcing->only_wall == UINT32_MAX || lists_any(&world->fluid_rigid, particle))
    return flo_world_near_bodies(world, particle);
  return (FloNearBodies){.count = 1, .bodies = {forcing->only_wall}};
}

// All surfaces nearer than `reach`, and how far the nearest of those that the particle lists is away.
static int probe_all(const FloWorld *world, const FloDirectForcing *forcing, size_t particle,
                     const Path *path, double reach, FloSurfaceHit hits[FLO_MAX_HITS], double *nearest) {
  FloNearBodies bodies = near_bodies(world, forcing, particle);
  int n = 0;
  *nearest = INFINITY;
  for (int b = 0; b < bodies.count; ++b) {
    FloSurfaceHit hit;
    bool is_hit;
    double distance = probe(world, forcing, bodies.bodies[b], path, reach, &hit, &is_hit);
    *nearest = fmin(*nearest, distance);
    if (is_hit) n = add_hit(hits, n, &hit);
  }
  return n;
}

// ---- Room: who is too far from all solids to be asked ----

static void position_of(const FloParticles *p, size_t i, double x[3]) {
  vec_set(x, p->x[i], p->y[i], p->z[i]);
}

// No point of the body moves farther between two poses.
static double way_between(const FloBody *body, const FloPose *a, const FloPose *b) {
  double way[3], same = 0, opposite = 0; // q and -q are the same rotation
  vec_sub(a->position, b->position, way);
  for (int k = 0; k < 4; ++k) {
    same += pow(a->rotation[k] - b->rotation[k], 2);
    opposite += pow(a->rotation[k] + b->rotation[k], 2);
  }
  double angle = 4 * asin(fmin(sqrt(fmin(same, opposite)) / 2, 1));
  return vec_length(way) + angle * body->reach;
}

static double farthest_way(const FloWorld *world, const FloDirectForcing *forcing) {
  double farthest = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    farthest = fmax(farthest, way_between(body, &forcing->seen[k], &body->state.pose));
  }
  return farthest;
}

static void forget_rooms(FloDirectForcing *forcing, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) forcing->rooms[i] = (FloForcingRoom){.clearance = -INFINITY};
}

static void look_at_solids(const FloWorld *world, FloDirectForcing *forcing) {
  size_t n_walls = 0;
  forcing->only_wall = UINT32_MAX;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    FloForcingPartner *partner = &forcing->partners[k];
    forcing->seen[k] = body->state.pose;
    partner->way = way_between(body, &partner->before, &body->state.pose);
    if (body->set != FLO_SET_BOUNDARY || body->count == 0) continue;
    forcing->only_wall = ++n_walls == 1 ? (uint32_t)k : UINT32_MAX;
  }
}

// Solids have come to where they are predicted to be. Rooms are not to be trusted when bodies are new, and
// are used up when solids have moved on by more than any room there is.
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

// Whether a particle will be farther from all solids than it must be, wherever its index was before: who is
// someone else is somewhere else, or has as much room.
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

// Solids whose samples a particle does not list are out of reach.
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
  // What is near changes from step to step: room for half as much again keeps a warm world from asking.
  if (n * size > buffer->capacity)
    FLO_TRY(flo_buffer_reserve(&world->memory, buffer, (n + n / 2) * size, 0, error));
  *data = buffer->data;
  return FLO_OK;
}

static bool is_block_near(const FloPairs *pairs, size_t block) {
  return block < pairs->n_blocks && pairs->slot_count[block] > 0;
}

static Path path_of(const FloWorld *world, const FloDirectForcing *forcing, size_t i) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  Path path;
  double v[3];
  position_of(p, i, path.start);
  flo_forcing_velocity_of(p, i, v);
  vec_add_scaled(path.start, v, forcing->dt, path.end);
  return path;
}

// Adds the particles of a block that list samples and have no room; most blocks have none.
static void add_near_block(const FloWorld *world, FloDirectForcing *forcing, size_t block) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const FloPairs *walls = &world->fluid_boundary, *bodies = &world->fluid_rigid;
  for (size_t i = block * FLO_BLOCK; i < flo_min_size((block + 1) * FLO_BLOCK, p->count); ++i) {
    bool is_near_rigid = lists_any(bodies, i);
    if ((!lists_any(walls, i) && !is_near_rigid) || p->held[i]) continue;
    if (has_room(forcing, i, path_of(world, forcing, i).end)) continue;
    FloNearParticle *near = &forcing->near[forcing->n_near++];
    near->particle = (uint32_t)i, near->n_hits = 0, near->is_near_rigid = is_near_rigid;
  }
}

static FloStatus find_near(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  const FloPairs *walls = &world->fluid_boundary, *bodies = &world->fluid_rigid;
  size_t n_blocks = world->sets[FLO_SET_FLUID].count ? world->fluid_fluid.n_blocks : 0, n = 0;
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
    Path path = path_of(d->world, d->forcing, near->particle);
    double nearest;
    near->n_hits =
        probe_all(d->world, d->forcing, near->particle, &path, d->forcing->radius, near->hits, &nearest);
    keep_room(d->world, d->forcing, near->particle, path.end, nearest);
  }
}

// From the origin of the body to the particle: of dynamic ones both as they were at the start of the step, so
// that angular momentum is conserved.
static void find_arm(const FloWorld *world, const FloDirectForcing *forcing, FloForcingContact *c) {
  const FloBody *body = &flo_bodies(world)[c->body];
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const FloForcingPartner *partner = &forcing->partners[c->body];
  double x[3], v[3];
  position_of(p, c->particle, x);
  flo_forcing_velocity_of(p, c->particle, v);
  if (body->kind != FLO_BODY_DYNAMIC) vec_add_scaled(x, v, forcing->dt, x);
  flo_world_nearest_image(world, partner->origin, x, x);
  vec_sub(x, partner->origin, c->arm);
}

// Velocity of the particle relative to the body, as predicted; and its normal part at the start of the step.
static double find_relative(const FloWorld *world, const FloDirectForcing *forcing,
                            const FloForcingContact *c, double relative[3]) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const FloForcingPartner *partner = &forcing->partners[c->body];
  size_t i = c->particle;
  const double kick[3] = {(double)p->ax[i], (double)p->ay[i], (double)p->az[i]};
  double surface[3], earlier[3];
  flo_forcing_relative_velocity(world, forcing, c, relative);
  if (!partner->is_moving && partner->restitution == 0) return 0; // nobody asks
  flo_forcing_velocity_of(p, i, earlier);
  vec_add_scaled(earlier, kick, -forcing->kick_dt, earlier);
  flo_forcing_velocity_at(partner->earlier, c->arm, surface);
  vec_sub(earlier, surface, earlier);
  return vec_dot(earlier, c->normal);
}

// (8), or (9) where it moves away by itself.
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
  c->bounce = c->is_pressed ? fmax(0, -partner->restitution * earlier) : 0; // (9): who leaves is let go
  c->grip = 1 - partner->slip;
  flo_forcing_take(c, relative, c->missing);
  vec_scale(c->missing, -1, c->missing);
  vec_add_scaled(c->missing, c->normal, c->bounce, c->missing);
}

// Nothing else depends on it, and it on nothing else.
static void respond_to_wall(FloWorld *world, const FloDirectForcing *forcing, FloForcingContact *c) {
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  vec_scale(c->missing, (double)p->mass[c->particle], c->impulse);
  flo_forcing_change_velocity(p, c->particle, c->missing, 1 / forcing->kick_dt);
}

static bool is_linked(const FloWorld *world, const FloNearParticle *near, int k) {
  return near->n_hits > 1 || flo_bodies(world)[near->hits[k].body].kind == FLO_BODY_DYNAMIC;
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

// Cuts the followers of each body into groups; how many.
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

// Contacts of followers, in the order of their bodies, and those of company behind them.
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

// How far a sample is below the surface of its own body.
static double depth_of(const FloBody *body, const FloParticles *rigid, size_t i) {
  const double local[3] = {rigid->local_x[i], rigid->local_y[i], rigid->local_z[i]};
  return fmax(-flo_solid_distance(body->solid, local), 0);
}

// The gap between a sample's body and another one where the prediction brings them, less than `margin`.
static bool find_gap(const FloWorld *world, size_t i, const FloBody *other, double margin, double *gap,
                     double *depth, double normal[3]) {
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  const FloBody *body = &flo_bodies(world)[rigid->body[i]];
  const double local[3] = {rigid->local_x[i], rigid->local_y[i], rigid->local_z[i]};
  double x[3];
  pose_to_world(&body->state.pose, local, x);
  double distance = flo_world_distance(world, other, x);
  if (!(distance < margin + world->def.spacing)) return false;
  *depth = depth_of(body, rigid, i), *gap = distance - *depth;
  if (!(*gap < margin)) return false;
  flo_world_normal(world, other, x, normal);
  return vec_dot(normal, normal) > 0.5;
}

static void describe_body_contact(const FloWorld *world, const FloDirectForcing *forcing, double gap,
                                  double depth, FloBodyContact *c) {
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  const FloForcingPartner *a = &forcing->partners[c->body], *b = &forcing->partners[c->other];
  double at[3], image[3], of_a[3], of_b[3];
  position_of(rigid, c->sample, at);
  vec_add_scaled(at, c->normal, -depth, at);
  vec_sub(at, a->origin, c->arm);
  flo_world_nearest_image(world, b->origin, at, image);
  vec_sub(image, b->origin, c->other_arm);
  flo_forcing_velocity_at(a->velocity, c->arm, of_a);
  flo_forcing_velocity_at(b->velocity, c->other_arm, of_b);
  vec_sub(of_a, of_b, c->velocity);
  // The gap may close, but not more; an overlap is taken back slowly.
  c->least = vec_dot(c->velocity, c->normal) - gap / forcing->dt;
  double overlap = forcing->dt * c->least;
  if (overlap > 0) c->least = fmin(FLO_OVERLAP_RATE * c->least, flo_world_parting_speed(world, overlap));
}

static FloStatus meet_body(FloWorld *world, FloDirectForcing *forcing, size_t i, uint32_t other,
                           uint32_t column, FloError *error) {
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  size_t n = forcing->n_body_contacts, size = sizeof(FloBodyContact);
  double gap, depth, normal[3];
  if (!forcing->partners[rigid->body[i]].is_moving) return FLO_OK;
  if (!find_gap(world, i, &flo_bodies(world)[other], BODY_MARGIN * world->def.spacing, &gap, &depth, normal))
    return FLO_OK;
  FloBuffer *buffer = &forcing->buffers[FLO_FORCING_BODY_CONTACTS];
  if ((n + 1) * size > buffer->capacity)
    FLO_TRY(flo_buffer_reserve(&world->memory, buffer, 2 * (n + 32) * size, n * size, error));
  forcing->body_contacts = buffer->data;
  FloBodyContact *c = &forcing->body_contacts[forcing->n_body_contacts++];
  *c =
      (FloBodyContact){.body = rigid->body[i], .other = other, .sample = (uint32_t)i, .other_sample = column};
  c->friction = flo_world_friction(world, &flo_bodies(world)[c->body], &flo_bodies(world)[other]);
  vec_copy(normal, c->normal);
  describe_body_contact(world, forcing, gap, depth, c);
  return FLO_OK;
}

// Each body that a sample lists in `pairs`, once.
static FloStatus meet_row(FloWorld *world, FloDirectForcing *forcing, const FloPairs *pairs,
                          const FloParticles *columns, size_t i, FloError *error) {
  uint32_t met[FLO_MAX_NEAR_BODIES];
  int n_met = 0;
  size_t lane = i % FLO_BLOCK;
  if (!lists_any(pairs, i)) return FLO_OK;
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[i / FLO_BLOCK];
  for (int32_t k = 0; k < pairs->row_count[i] && n_met < FLO_MAX_NEAR_BODIES; ++k) {
    size_t column = (size_t)slots[k].index[lane];
    uint32_t other = columns->body[column];
    int known = 0;
    while (known < n_met && met[known] != other) ++known;
    if (known < n_met) continue;
    met[n_met++] = other;
    FLO_TRY(meet_body(world, forcing, i, other, (uint32_t)column, error));
  }
  return FLO_OK;
}

static FloStatus detect_bodies(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  forcing->n_body_contacts = 0;
  for (size_t i = 0; i < rigid->count; ++i) {
    FLO_TRY(meet_row(world, forcing, &world->rigid_boundary, &world->sets[FLO_SET_BOUNDARY], i, error));
    FLO_TRY(meet_row(world, forcing, &world->rigid_rigid, rigid, i, error));
  }
  return FLO_OK;
}

FloStatus flo_forcing_detect(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  forcing->n_contacts = forcing->n_linked = forcing->n_followers = forcing->n_groups = 0;
  FLO_TRY(detect_bodies(world, forcing, error));
  if (flo_forcing_response(world) == FLO_RESPONSE_PENALTY) return FLO_OK;
  FLO_TRY(follow_solids(world, forcing, error));
  return detect_fluid(world, forcing, error);
}

// ---- Positions ----

// A particle between two surfaces that leave no room for it stands in the middle.
static double wanted_distance(const FloSurfaceHit *hits, int n, int k, double radius) {
  double wanted = radius;
  for (int j = 0; j < n; ++j)
    if (j != k && flo_forcing_face_each_other(hits[j].normal, hits[k].normal))
      wanted = fmin(wanted, (hits[j].distance + hits[k].distance) / 2);
  return wanted;
}

// Moves out of one surface after the other; true if it moved at all. Who is deep inside comes out in several
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

// Algorithm 1: bodies have moved otherwise than predicted, so their surfaces are asked once more. A second
// round takes care of corners.
static void correct_anew(const FloWorld *world, const FloDirectForcing *forcing, size_t particle,
                         double x[3]) {
  Path path;
  double v[3], nearest;
  flo_forcing_velocity_of(&world->sets[FLO_SET_FLUID], particle, v);
  vec_add_scaled(x, v, -forcing->dt, path.start);
  for (int round = 0; round < 2; ++round) {
    FloSurfaceHit hits[FLO_MAX_HITS];
    vec_copy(x, path.end);
    int n = probe_all(world, forcing, particle, &path, 2 * forcing->radius, hits, &nearest);
    if (!push_out(hits, n, forcing->radius, x)) return;
  }
}

// Algorithm 2: where surfaces are was known before, and so are their distances.
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

// Also those that had room enough where bodies were expected.
static void block_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Detection *d = context;
  FloParticles *p = &d->world->sets[FLO_SET_FLUID];
  for (size_t i = begin * FLO_BLOCK; i < flo_min_size(end * FLO_BLOCK, p->count); ++i) {
    double x[3];
    if (!lists_any(&d->world->fluid_rigid, i) || p->held[i]) continue;
    position_of(p, i, x);
    correct_anew(d->world, d->forcing, i, x);
    place(p, i, x);
  }
}

void flo_forcing_correct_positions(FloWorld *world, FloDirectForcing *forcing) {
  Detection detection = {world, forcing};
  if (flo_forcing_response(world) == FLO_RESPONSE_PENALTY) return;
  for (size_t k = 0; have_bodies_turned_aside(forcing) && k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    forcing->partners[k].way = way_between(body, &forcing->partners[k].before, &body->state.pose);
  }
  flo_parallel_for(world->threads, forcing->n_near, 128, position_range, &detection);
  if (have_bodies_turned_aside(forcing) && farthest_way(world, forcing) > ROOM_SLACK * forcing->radius)
    flo_parallel_for(world->threads, world->fluid_rigid.n_blocks, 64, block_range, &detection);
}
