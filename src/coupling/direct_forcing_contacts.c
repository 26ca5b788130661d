// Who touches whom: fluid particles nearer to a surface than their radius, and bodies that overlap; and how
// fluid is moved out of the way in the end (section V-C).
//
// Surfaces are asked for their signed distance in the body's own frame, from where a particle was to where it
// goes. A shell may be as thin as one layer of samples: who has passed its middle would be drawn to the far
// side, so the side from which it came counts.
#include "base/parallel.h"
#include "base/pose.h"
#include "coupling/direct_forcing.h"

// Share of an overlap of bodies that may vanish in a step.
#define OVERLAP_RATE 0.2
// Bodies that are to be this near, in spacings, are watched: the response to others may press them together.
#define BODY_MARGIN 0.05

typedef struct Detection {
  FloWorld *world;
  FloDirectForcing *forcing;
} Detection;

// ---- Distance to a surface ----

typedef struct Path {
  double start[3], end[3]; // of a particle within the step
} Path;

static bool is_on_other_side(const FloSolid *solid, const double start[3], const double end[3],
                             double distance, const double normal[3], double start_normal[3]) {
  double middle[3];
  vec_add(start, end, middle);
  vec_scale(middle, 0.5, middle);
  if (distance >= 0 && flo_solid_distance(solid, middle) >= 0) return false;
  flo_solid_normal(solid, start, start_normal);
  return vec_dot(start_normal, normal) < 0;
}

// Whether a particle comes nearer to the body than `reach`.
static bool probe(const FloWorld *world, const FloDirectForcing *forcing, size_t sample, const Path *path,
                  double reach, FloSurfaceHit *hit) {
  const FloBody *body = flo_world_body_of(world, sample);
  const FloForcingPartner *partner = &forcing->partners[body - flo_bodies(world)];
  double start[3], end[3], normal[3], start_normal[3];
  flo_world_to_body(world, body, &body->state.pose, path->end, end);
  double distance = flo_solid_distance(body->solid, end);
  if (!(distance < reach)) return false;
  flo_solid_normal(body->solid, end, normal);
  flo_world_to_body(world, body, &partner->before, path->start, start);
  if (is_on_other_side(body->solid, start, end, distance, normal, start_normal)) {
    double way[3];
    vec_sub(end, start, way);
    vec_copy(start_normal, normal);
    distance = flo_solid_distance(body->solid, start) + vec_dot(way, normal);
  }
  hit->sample = (uint32_t)sample, hit->distance = distance;
  quat_rotate(body->state.pose.rotation, normal, hit->normal);
  return vec_dot(normal, normal) > 0.5;
}

// ---- Particles near solids ----

static bool lists_any(const FloPairs *pairs, size_t i) {
  return i < pairs->n_rows && pairs->slot_count[i / FLO_BLOCK] > 0 && pairs->row_count[i] > 0;
}

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

// Adds the particles of a block that list samples; most blocks have none.
static void add_near_block(const FloWorld *world, FloDirectForcing *forcing, size_t block) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const FloPairs *walls = &world->fluid_boundary, *bodies = &world->fluid_rigid;
  for (size_t i = block * FLO_BLOCK; i < flo_min_size((block + 1) * FLO_BLOCK, p->count); ++i) {
    bool is_near_rigid = lists_any(bodies, i);
    if ((!lists_any(walls, i) && !is_near_rigid) || p->held[i]) continue;
    FloNearParticle *near = &forcing->near[forcing->n_near++];
    near->particle = (uint32_t)i, near->n_hits = 0, near->is_near_rigid = is_near_rigid;
  }
}

FloStatus flo_forcing_find_near(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
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

static void position_of(const FloParticles *p, size_t i, double x[3]) {
  vec_set(x, p->x[i], p->y[i], p->z[i]);
}

static void velocity_of(const FloParticles *p, size_t i, double v[3]) {
  vec_set(v, (double)p->vx[i] + (double)p->vx_low[i], (double)p->vy[i] + (double)p->vy_low[i],
          (double)p->vz[i] + (double)p->vz_low[i]);
}

static void hit_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Detection *d = context;
  const FloParticles *p = &d->world->sets[FLO_SET_FLUID];
  for (size_t k = begin; k < end; ++k) {
    FloNearParticle *near = &d->forcing->near[k];
    FloNearBodies bodies = flo_world_near_bodies(d->world, near->particle);
    Path path;
    double v[3];
    position_of(p, near->particle, path.start);
    velocity_of(p, near->particle, v);
    vec_add_scaled(path.start, v, d->forcing->dt, path.end);
    for (int b = 0; b < bodies.count && near->n_hits < FLO_MAX_HITS; ++b)
      near->n_hits += probe(d->world, d->forcing, bodies.samples[b], &path, d->forcing->radius,
                            &near->hits[near->n_hits]);
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
  velocity_of(p, c->particle, v);
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
  double v[3], surface[3], earlier[3];
  velocity_of(p, i, v);
  flo_forcing_velocity_at(partner->velocity, c->arm, surface);
  vec_sub(v, surface, relative);
  flo_forcing_velocity_at(partner->earlier, c->arm, surface);
  vec_add_scaled(v, kick, -forcing->kick_dt, earlier);
  vec_sub(earlier, surface, earlier);
  return vec_dot(earlier, c->normal);
}

// (8), or (9) where it moves away by itself.
static void fill_contact(const FloWorld *world, const FloDirectForcing *forcing, const FloNearParticle *near,
                         int k) {
  const FloSurfaceHit *hit = &near->hits[k];
  FloForcingContact *c = &forcing->contacts[near->first + (uint32_t)k];
  const FloBody *body = flo_world_body_of(world, hit->sample);
  *c = (FloForcingContact){.particle = near->particle,
                           .body = (uint32_t)(body - flo_bodies(world)),
                           .sample = hit->sample,
                           .has_company = near->n_hits > 1,
                           .is_first = k == 0};
  vec_copy(hit->normal, c->normal);
  const FloForcingPartner *partner = &forcing->partners[c->body];
  double relative[3];
  find_arm(world, forcing, c);
  double earlier = find_relative(world, forcing, c, relative);
  c->approach = vec_dot(relative, c->normal);
  c->is_pressed = !(c->approach > 0);
  c->bounce = c->is_pressed ? fmax(0, -partner->restitution * earlier) : 0; // (9): who leaves is let go
  c->grip = 1 - partner->slip;
  flo_forcing_take(c, relative, c->missing);
  vec_scale(c->missing, -1, c->missing);
  vec_add_scaled(c->missing, c->normal, c->bounce, c->missing);
}

static void contact_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Detection *d = context;
  for (size_t n = begin; n < end; ++n)
    for (int k = 0; k < d->forcing->near[n].n_hits; ++k)
      fill_contact(d->world, d->forcing, &d->forcing->near[n], k);
}

static FloStatus detect_fluid(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  Detection detection = {world, forcing};
  size_t n = forcing->n_near, n_contacts = 0;
  void *data;
  flo_parallel_for(world->threads, n, 256, hit_range, &detection);
  for (size_t k = 0; k < n; ++k) {
    forcing->near[k].first = (uint32_t)n_contacts;
    n_contacts += (size_t)forcing->near[k].n_hits;
    forcing->has_company |= forcing->near[k].n_hits > 1;
  }
  FLO_TRY(
      make_room(world, forcing, FLO_FORCING_CONTACTS, n_contacts, sizeof(FloForcingContact), &data, error));
  forcing->contacts = data, forcing->n_contacts = n_contacts;
  flo_parallel_for(world->threads, n, 256, contact_range, &detection);
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
  double fastest = 0.5 * sqrt(vec_length(world->def.gravity) * world->def.spacing);
  if (c->least > 0) c->least = fmin(OVERLAP_RATE * c->least, fastest);
}

static FloStatus meet_body(FloWorld *world, FloDirectForcing *forcing, size_t i, uint32_t other,
                           uint32_t wall, FloError *error) {
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
  *c = (FloBodyContact){.body = rigid->body[i], .other = other, .sample = (uint32_t)i, .wall_sample = wall};
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
  forcing->n_contacts = 0, forcing->has_company = false;
  FLO_TRY(detect_bodies(world, forcing, error));
  if (flo_forcing_response(world) == FLO_RESPONSE_PENALTY) return FLO_OK;
  return detect_fluid(world, forcing, error);
}

// ---- Positions ----

// A particle between two surfaces that leave no room for it stands in the middle.
static double wanted_distance(const FloSurfaceHit *hits, int n, int k, double radius) {
  double wanted = radius;
  for (int j = 0; j < n; ++j)
    if (j != k && vec_dot(hits[j].normal, hits[k].normal) < -0.5)
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
static void correct_anew(const FloWorld *world, const FloDirectForcing *forcing, const FloNearParticle *near,
                         double x[3]) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  FloNearBodies bodies = flo_world_near_bodies(world, near->particle);
  Path path;
  double v[3];
  velocity_of(p, near->particle, v);
  vec_add_scaled(x, v, -forcing->dt, path.start);
  for (int round = 0; round < 2; ++round) {
    FloSurfaceHit hits[FLO_MAX_HITS];
    int n = 0;
    vec_copy(x, path.end);
    for (int b = 0; b < bodies.count && n < FLO_MAX_HITS; ++b)
      n += probe(world, forcing, bodies.samples[b], &path, 2 * forcing->radius, &hits[n]);
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

static void position_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Detection *d = context;
  FloParticles *p = &d->world->sets[FLO_SET_FLUID];
  for (size_t k = begin; k < end; ++k) {
    FloNearParticle *near = &d->forcing->near[k];
    double x[3];
    position_of(p, near->particle, x);
    if (near->is_near_rigid && (d->forcing->has_free_bodies || d->forcing->n_body_contacts > 0))
      correct_anew(d->world, d->forcing, near, x);
    else if (near->n_hits > 0)
      correct_known(d->world, d->forcing, near, x);
    p->x[near->particle] = x[0], p->y[near->particle] = x[1], p->z[near->particle] = x[2];
  }
}

void flo_forcing_correct_positions(FloWorld *world, FloDirectForcing *forcing) {
  Detection detection = {world, forcing};
  if (flo_forcing_response(world) == FLO_RESPONSE_PENALTY) return;
  flo_parallel_for(world->threads, forcing->n_near, 256, position_range, &detection);
}
