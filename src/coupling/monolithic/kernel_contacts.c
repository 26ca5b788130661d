// Contacts between bodies by kernel sums over samples, (3.1)-(3.6), each reduced to forces and torques on
// nodes. This is the paper's way. It rounds off edges: a contact pressure does not reach the outermost
// spacing of a face. See contacts.c for the usual way.
#include "base/parallel.h"
#include "coupling/monolithic/monolithic.h"

// At this depth in another body, in spacings, a sample is about to pass that body's sheet of samples.
#define DEEP 0.25

// ---- Bodies in each other ----

// Sheets of samples that have passed each other push the wrong way: bodies that overlap by more than a
// spacing would stay hooked. So samples that are deep in another body are pushed along one direction for the
// pair of bodies, the mean of the nearest directions out of all of them. Separate directions would contradict
// each other and twist the bodies.
static double depth_of(const FloWorld *world, size_t i, const FloBody *other, double x[3]) {
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  vec_set(x, rigid->x[i], rigid->y[i], rigid->z[i]);
  return -flo_world_distance(world, other, x);
}

// Index of neighbour k of sample i.
static size_t sample_of(const FloPairs *pairs, size_t i, int32_t k) {
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[i / FLO_BLOCK];
  return (size_t)slots[k].index[i % FLO_BLOCK];
}

static uint32_t body_of(const FloWorld *world, FloSet set, size_t i, int32_t k) {
  return world->sets[set].body[sample_of(flo_pairs_of(world, FLO_SET_RIGID, set), i, k)];
}

// The first neighbour from number `k` on whose body is not `last` and in which the sample is deep. Returns
// the number of neighbours if there is none.
static int32_t next_deep(const FloWorld *world, size_t i, FloSet set, int32_t k, uint32_t last) {
  const int32_t count = flo_pairs_of(world, FLO_SET_RIGID, set)->row_count[i];
  double x[3];
  for (; k < count; ++k) {
    uint32_t other = body_of(world, set, i, k);
    if (other == last) continue;
    last = other;
    if (!(depth_of(world, i, &flo_bodies(world)[other], x) < DEEP * world->def.spacing)) break;
  }
  return k;
}

static bool is_deep_in(const FloWorld *world, size_t i, FloSet set) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, set);
  return next_deep(world, i, set, 0, world->sets[FLO_SET_RIGID].body[i]) < pairs->row_count[i];
}

static FloStatus add_deep(FloWorld *world, size_t i, FloSet set, FloError *error) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, set);
  uint32_t own = world->sets[FLO_SET_RIGID].body[i], last = own;
  for (int32_t k = 0; (k = next_deep(world, i, set, k, last)) < pairs->row_count[i]; ++k) {
    double x[3], out[3];
    last = body_of(world, set, i, k);
    depth_of(world, i, &flo_bodies(world)[last], x);
    flo_world_normal(world, &flo_bodies(world)[last], x, out);
    FLO_TRY(flo_world_add_deep_point(world, own, last, out, error));
  }
  return FLO_OK;
}

static FloStatus find_deep_pairs(FloWorld *world, FloMonolithic *mono, FloError *error) {
  world->body_contacts.deep_pairs.count = 0;
  for (size_t k = 0; k < mono->n_contacts; ++k) {
    if (!mono->contacts[k].is_deep) continue;
    size_t i = mono->contacts[k].sample;
    FLO_TRY(add_deep(world, i, FLO_SET_BOUNDARY, error));
    FLO_TRY(add_deep(world, i, FLO_SET_RIGID, error));
  }
  flo_world_choose_ways_out(world);
  return FLO_OK;
}

// ---- Contacts ----

// Sums over the neighbours of one sample.
typedef struct Meeting {
  FloContact contact;
  uint32_t row, n_touches;
  FloCarried carriers;  // of the sample
  double steep[3];      // sum of V grad W
  double sum;           // sum of V W
  double rate;          // sum of V grad W . v over walls
  double friction;      // sum of V W mu
  double rolling;       // sum of V W times the length of rolling friction
  double restitution;   // sum of V W times the restitution
  double wall_spin[3];  // sum of V W omega over walls
  double wall[3];       // sum of V W v over walls
  double own_arm[3];    // sum of V W (middle - position of the first carrier)
  double lever[3];      // sum of V (middle - sample) x grad W over neighbours that push it out
  const FloBody *other; // the body that `is_deep` and `out` refer to
  bool is_deep;
  double out[3]; // direction out of the other body
} Meeting;

// One neighbour of a sample.
typedef struct Neighbour {
  const FloParticles *set;
  size_t sample;
  double g[3]; // grad W
} Neighbour;

static double distance_to(const FloWorld *world, size_t i, const Neighbour *n, double between[3]) {
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  const double here[3] = {rigid->x[i], rigid->y[i], rigid->z[i]};
  double there[3] = {n->set->x[n->sample], n->set->y[n->sample], n->set->z[n->sample]};
  flo_world_nearest_image(world, here, there, there);
  vec_sub(here, there, between);
  return vec_length(between);
}

// Uses the positions that the grids hold, which are those at the start of the step.
float flo_monolithic_weight(const FloWorld *world, const FloContact *contact, size_t wall_sample) {
  const int32_t *here = world->grids[FLO_SET_RIGID].fixed + 4 * (size_t)contact->sample,
                *there = world->grids[FLO_SET_BOUNDARY].fixed + 4 * wall_sample;
  double between[3];
  for (int axis = 0; axis < 3; ++axis)
    between[axis] =
        (double)(int32_t)((uint32_t)here[axis] - (uint32_t)there[axis]) / world->lattice.to_fixed[axis];
  return contact->per_sum * world->sets[FLO_SET_BOUNDARY].volume[wall_sample] *
         (float)flo_kernel_w(&world->kernel, vec_length(between));
}

// Whether the sample is deep in the other body; then sets the direction out of it.
static bool is_pushed_out(const FloWorld *world, size_t i, const FloBody *other, Meeting *meeting) {
  if (world->body_contacts.deep_pairs.count == 0) return false;
  if (meeting->other == other) return meeting->is_deep;
  uint32_t own = meeting->contact.body, number = (uint32_t)(other - flo_bodies(world));
  double x[3];
  meeting->other = other;
  meeting->is_deep = !(depth_of(world, i, other, x) < DEEP * world->def.spacing) &&
                     flo_world_way_out(world, own, number, meeting->out);
  return meeting->is_deep;
}

// Turns the force to the direction out, with the same strength. There is no friction, which would hold the
// sample. Both forces act halfway between the samples, which conserves angular momentum.
static void push_out(Neighbour *n, double volume, const double between[3], Meeting *meeting) {
  double lever[3];
  vec_scale(meeting->out, -vec_length(n->g), n->g);
  vec_cross(between, n->g, lever);
  vec_add_scaled(meeting->lever, lever, -0.5 * volume, meeting->lever);
}

// The contact's touch of this node; a new one if there is none.
static FloTouch *touch_of(const FloMonolithic *mono, Meeting *meeting, uint32_t node) {
  FloTouch *touches = mono->touches + meeting->contact.first;
  for (uint32_t k = 0; k < meeting->n_touches; ++k)
    if (touches[k].node == node) return &touches[k];
  FLO_ASSERT(meeting->n_touches < meeting->contact.count);
  touches[meeting->n_touches] = (FloTouch){.row = meeting->row, .node = node};
  return &touches[meeting->n_touches++];
}

// The motion of a wall near the sample is given. A node moves straight on in a step and turns. If it is to
// stay on a wall that turns, it needs the velocity of the wall at its own position, where the wall's chord
// is, and the wall's spin. So that is the motion of the wall that its samples see. Friction acts halfway
// between the samples.
static void meet_wall(const Neighbour *n, const FloBody *wall, double volume, double weight,
                      const double between[3], Meeting *meeting) {
  double v[3] = {(double)n->set->vx[n->sample], (double)n->set->vy[n->sample], (double)n->set->vz[n->sample]},
         arm[3], inwards[3], turning[3] = {0};
  for (int k = 0; wall->lead.per_dt > 0 && k < meeting->carriers.count; ++k) {
    vec_sub(meeting->carriers.arms[k], between, arm);
    flo_lead_chord(&wall->lead, arm, inwards);
    vec_add_scaled(v, inwards, meeting->carriers.shares[k], v);
  }
  meeting->rate += volume * vec_dot(n->g, v);
  if (wall->lead.per_dt > 0) vec_cross(wall->lead.spin, between, turning);
  vec_add_scaled(v, turning, 0.5, v);
  vec_add_scaled(meeting->wall, v, weight, meeting->wall);
  vec_add_scaled(meeting->wall_spin, wall->state.angular_velocity, weight, meeting->wall_spin);
}

// A sample of another body that forces move gets the opposite force.
static void meet_other(const FloWorld *world, const FloMonolithic *mono, const Neighbour *n, double volume,
                       double weight, const double between[3], Meeting *meeting) {
  const FloCarried carriers = flo_world_carried(world, n->sample);
  for (int k = 0; k < carriers.count; ++k) {
    FloTouch *t = touch_of(mono, meeting, carriers.nodes[k]);
    double force[3], middle[3], share = weight * carriers.shares[k];
    vec_scale(n->g, (double)meeting->contact.volume * volume * carriers.shares[k], force);
    vec_add_scaled(carriers.arms[k], between, 0.5, middle);
    flo_touch_add_wrench(t->j, force, meeting->is_deep ? middle : carriers.arms[k]);
    t->weight -= (float)share;
    for (int axis = 0; axis < 3; ++axis) t->arm[axis] -= (float)(share * middle[axis]);
  }
}

static void meet_neighbour(const FloWorld *world, const FloMonolithic *mono, size_t i, Neighbour *n,
                           Meeting *meeting) {
  const FloBody *own = &flo_bodies(world)[meeting->contact.body],
                *other = &flo_bodies(world)[n->set->body[n->sample]];
  double volume = (double)n->set->volume[n->sample], between[3], middle[3];
  double weight = volume * flo_kernel_w(&world->kernel, distance_to(world, i, n, between));
  bool is_deep = is_pushed_out(world, i, other, meeting);
  if (is_deep) push_out(n, volume, between, meeting);
  vec_add_scaled(meeting->steep, n->g, volume, meeting->steep);
  meeting->sum += weight;
  if (!is_deep) meeting->friction += weight * flo_body_friction(own, other, world->time);
  if (!is_deep) meeting->rolling += weight * flo_body_rolling_friction(own, other);
  if (!is_deep) meeting->restitution += weight * flo_body_restitution(own, other);
  vec_add_scaled(meeting->carriers.arms[0], between, -0.5, middle);
  vec_add_scaled(meeting->own_arm, middle, weight, meeting->own_arm);
  if (n->set->set == FLO_SET_BOUNDARY)
    meet_wall(n, other, volume, weight, between, meeting);
  else
    meet_other(world, mono, n, volume, weight, between, meeting);
}

static void meet_neighbours(const FloWorld *world, const FloMonolithic *mono, size_t i, FloSet set,
                            Meeting *meeting) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, set);
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[i / FLO_BLOCK];
  size_t lane = i % FLO_BLOCK;
  if (pairs->slot_count[i / FLO_BLOCK] == 0) return;
  for (int32_t k = 0; k < pairs->row_count[i]; ++k) {
    Neighbour n = {&world->sets[set],
                   (size_t)slots[k].index[lane],
                   {(double)slots[k].gx[lane], (double)slots[k].gy[lane], (double)slots[k].gz[lane]}};
    meet_neighbour(world, mono, i, &n, meeting);
  }
}

// The effect of the contact on a node that carries its sample.
static void finish_own(const Meeting *m, int k, float volume, double per_sum, FloTouch *own) {
  const double *arm = m->carriers.arms[k], share = m->carriers.shares[k];
  double torque[3], shift[3];
  vec_cross(arm, m->steep, torque);
  vec_add(torque, m->lever, torque);
  vec_sub(arm, m->carriers.arms[0], shift);
  own->weight = (float)share;
  for (int axis = 0; axis < 3; ++axis) {
    own->j[axis] = -volume * (float)(share * m->steep[axis]);
    own->j[axis + 3] = -volume * (float)(share * torque[axis]);
    own->arm[axis] = (float)(share * (m->own_arm[axis] * per_sum + shift[axis]));
  }
}

static void finish_contact(const FloWorld *world, const FloMonolithic *mono, const Meeting *m) {
  FloContact contact = m->contact;
  double steepness = vec_length(m->steep), per_sum = m->sum > 0 ? 1 / m->sum : 0;
  FLO_ASSERT(m->n_touches == contact.count);
  contact.gap =
      (float)(flo_monolithic_gap(world, mono, mono->contact_sum - m->sum, steepness) + mono->dt * m->rate);
  contact.restitution = steepness > 0 ? (float)(m->restitution * per_sum) : 0;
  contact.steepness = (float)steepness, contact.wall_rate = (float)m->rate;
  contact.per_sum = (float)per_sum;
  contact.cone = (float)(m->friction * per_sum * (double)contact.volume * steepness);
  contact.roll_limit = (float)(m->rolling * per_sum * (double)contact.volume * steepness);
  for (int axis = 0; axis < 3; ++axis) {
    contact.normal[axis] = steepness > 0 ? (float)(-m->steep[axis] / steepness) : 0;
    contact.wall[axis] = (float)(m->wall[axis] * per_sum);
    contact.wall_spin[axis] = (float)(m->wall_spin[axis] * per_sum);
  }
  FloTouch *touches = &mono->touches[contact.first];
  for (int k = 0; k < m->carriers.count; ++k) finish_own(m, k, contact.volume, per_sum, &touches[k]);
  for (uint32_t t = (uint32_t)m->carriers.count; t < contact.count; ++t) {
    touches[t].weight *= (float)per_sum;
    for (int axis = 0; axis < 3; ++axis) touches[t].arm[axis] *= (float)per_sum;
  }
  mono->contacts[m->row - mono->n_pressures] = contact;
}

static void meet_contact(const FloWorld *world, const FloMonolithic *mono, size_t k) {
  Meeting m = {.contact = mono->contacts[k], .row = (uint32_t)(mono->n_pressures + k)};
  size_t i = m.contact.sample;
  m.carriers = flo_world_carried(world, i);
  for (int c = 0; c < m.carriers.count; ++c) touch_of(mono, &m, m.carriers.nodes[c]);
  meet_neighbours(world, mono, i, FLO_SET_BOUNDARY, &m);
  meet_neighbours(world, mono, i, FLO_SET_RIGID, &m);
  finish_contact(world, mono, &m);
}

typedef struct Meetings {
  FloWorld *world;
  FloMonolithic *mono;
} Meetings;

static void meet_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Meetings *meetings = context;
  for (size_t k = begin; k < end; ++k) meet_contact(meetings->world, meetings->mono, k);
}

static bool carries(const FloCarried *carriers, uint32_t node) {
  for (int k = 0; k < carriers->count; ++k)
    if (carriers->nodes[k] == node) return true;
  return false;
}

// Whether no neighbour before number `k` is carried by the node.
static bool is_new_node(const FloWorld *world, size_t i, int32_t k, uint32_t node) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_RIGID);
  while (k-- > 0) {
    const FloCarried earlier = flo_world_carried(world, sample_of(pairs, i, k));
    if (carries(&earlier, node)) return false;
  }
  return true;
}

// The number of nodes that a contact acts on, its own included.
static uint32_t count_nodes(const FloWorld *world, size_t i) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_RIGID);
  const FloCarried own = flo_world_carried(world, i);
  uint32_t count = (uint32_t)own.count, last = UINT32_MAX;
  for (int32_t k = 0; k < pairs->row_count[i]; ++k) {
    const FloCarried carriers = flo_world_carried(world, sample_of(pairs, i, k));
    for (int c = 0; c < carriers.count; ++c) {
      uint32_t node = carriers.nodes[c];
      if (node != last && !carries(&own, node)) count += is_new_node(world, i, k, node);
      last = node;
    }
  }
  return count;
}

static void survey_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Meetings *meetings = context;
  const FloWorld *world = meetings->world;
  for (size_t k = begin; k < end; ++k) {
    FloContact *contact = &meetings->mono->contacts[k];
    contact->count = count_nodes(world, contact->sample);
    contact->is_deep = is_deep_in(world, contact->sample, FLO_SET_BOUNDARY) ||
                       is_deep_in(world, contact->sample, FLO_SET_RIGID);
  }
}

static bool is_near_others(const FloWorld *world, size_t i) {
  return flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_BOUNDARY)->row_count[i] > 0 ||
         flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_RIGID)->row_count[i] > 0;
}

static FloStatus list_contacts(FloWorld *world, FloMonolithic *mono, FloError *error) {
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  size_t n = 0;
  for (size_t i = 0; i < rigid->count; ++i) n += is_near_others(world, i);
  FLO_TRY(flo_monolithic_reserve(world, mono, FLO_BUFFER_CONTACTS, n * sizeof(FloContact), 0, error));
  mono->contacts = mono->buffers[FLO_BUFFER_CONTACTS].data;
  for (size_t i = 0; i < rigid->count; ++i)
    if (is_near_others(world, i))
      mono->contacts[mono->n_contacts++] =
          (FloContact){.sample = (uint32_t)i, .body = rigid->body[i], .volume = rigid->volume[i]};
  return FLO_OK;
}

// Where the other body is, for restitution. The volume error is no measure of the gap: it rises ever more
// slowly with the distance.
static void find_meeting(const FloWorld *world, const FloContact *c, FloContactPoint *point) {
  static const FloSet sets[] = {FLO_SET_BOUNDARY, FLO_SET_RIGID};
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  vec_set(point->x, rigid->x[c->sample], rigid->y[c->sample], rigid->z[c->sample]);
  point->gap = INFINITY;
  for (size_t k = 0; k < FLO_COUNT_OF(sets); ++k)
    for (FloNearBody near = {0}; flo_near_next_in(world, FLO_SET_RIGID, sets[k], c->sample, &near);) {
      double distance = flo_world_distance(world, &flo_bodies(world)[near.body], point->x);
      if (distance < point->gap) point->gap = distance, point->other = near.body;
    }
  point->gap -= fmax(-flo_world_distance(world, &flo_bodies(world)[c->body], point->x), 0);
}

// Makes a point for each contact, which remembers it until the next step.
static FloStatus remember(FloWorld *world, FloMonolithic *mono, FloError *error) {
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  FLO_TRY(flo_world_start_contacts(world, mono->n_contacts, error));
  for (size_t k = 0; k < mono->n_contacts; ++k) {
    const FloContact *c = &mono->contacts[k];
    FloContactPoint *point = &flo_contact_points(&world->body_contacts)[k];
    *point = (FloContactPoint){.body = c->body, .other = c->body, .key = rigid->id[c->sample]};
    if (c->restitution > 0) find_meeting(world, c, point);
  }
  return flo_world_recall_contacts(world, error);
}

// Contacts are filled in parallel, when the place of each contact's touches is known.
FloStatus flo_monolithic_meet_by_kernel(FloWorld *world, FloMonolithic *mono, FloError *error) {
  if (world->joints.pairs.count > 0)
    return flo_fail(error, FLO_UNSUPPORTED,
                    "contacts by kernel sums cannot let joined bodies pass through each other; set the "
                    "parameter 'contacts' to 'points', or let the bodies collide");
  enum { AT_ONCE = 256 };
  Meetings meetings = {world, mono};
  FLO_TRY(list_contacts(world, mono, error));
  flo_parallel_for(world->threads, mono->n_contacts, AT_ONCE, survey_range, &meetings);
  FLO_TRY(find_deep_pairs(world, mono, error));
  FLO_TRY(flo_monolithic_give_touches(world, mono, error));
  flo_parallel_for(world->threads, mono->n_contacts, AT_ONCE, meet_range, &meetings);
  return remember(world, mono, error);
}
