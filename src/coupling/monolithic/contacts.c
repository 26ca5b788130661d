// Who touches whom: contacts between bodies (3.1)-(3.6), and fluid next to bodies, each reduced to forces and
// torques on whole bodies; with their parts of the diagonals (Appendix A).
#include "base/parallel.h"
#include "coupling/monolithic/monolithic.h"

enum { CHUNK_TOUCHES = 256 };

// Share of a displacement since it stuck that a contact takes back in a step.
#define ANCHOR_RATE 0.2f
// So deep in another body, in spacings, a sample is about to pass that body's sheet of samples.
#define DEEP 0.25

// What is near what changes from step to step: whatever grows gets half as much again, so that a warm world
// seldom takes memory.
static FloStatus reserve(FloWorld *world, FloMonolithic *mono, FloMonolithicBuffer which, size_t size,
                         size_t keep, FloError *error) {
  FloBuffer *buffer = &mono->buffers[which];
  return flo_buffer_reserve(&world->memory, buffer, size > buffer->capacity ? size + size / 2 : size, keep,
                            error);
}

// ---- Touches ----

static FloStatus add_touch(FloWorld *world, FloMonolithic *mono, uint32_t row, uint32_t body,
                           FloError *error) {
  size_t n = mono->n_touches;
  FLO_TRY(reserve(world, mono, FLO_BUFFER_TOUCHES, (n + 1) * sizeof(FloTouch), n * sizeof(FloTouch), error));
  mono->touches = mono->buffers[FLO_BUFFER_TOUCHES].data;
  mono->touches[n] = (FloTouch){.row = row, .body = body};
  mono->n_touches++;
  return FLO_OK;
}

// The touch of this body among those from `first` on; a new one if there is none.
static FloStatus find_touch(FloWorld *world, FloMonolithic *mono, size_t first, uint32_t row, uint32_t body,
                            size_t *found, FloError *error) {
  for (*found = first; *found < mono->n_touches; ++*found)
    if (mono->touches[*found].body == body) return FLO_OK;
  return add_touch(world, mono, row, body, error);
}

static void add_wrench(float wrench[6], const double force[3], const double arm[3]) {
  double torque[3];
  vec_cross(arm, force, torque);
  for (int axis = 0; axis < 3; ++axis) {
    wrench[axis] += (float)force[axis];
    wrench[axis + 3] += (float)torque[axis];
  }
}

static void arm_of(const FloParticles *rigid, size_t sample, const FloBody *body, double arm[3]) {
  const double x[3] = {rigid->x[sample], rigid->y[sample], rigid->z[sample]};
  vec_sub(x, body->rigid.position, arm);
}

// ---- Fluid next to bodies ----

// One pair of a fluid particle and a sample.
typedef struct FluidPair {
  size_t i, sample;
  uint32_t body;
  double g[3], arm[3]; // grad W, and from the body's centre to the sample
  double drag;         // force on the body along g, per velocity along g
} FluidPair;

static FluidPair find_pair(const FloWorld *world, const FloMonolithic *mono, size_t i, size_t slot) {
  const FloPairs *pairs = &world->fluid_rigid;
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  const FloPairSlot *s = &pairs->slots[slot];
  const FloFluidCoefficients *each = mono->viscosity.each.data,
                             *c = mono->viscosity.is_single ? &mono->viscosity.all : each + i;
  size_t lane = i % FLO_BLOCK;
  FluidPair pair = {.i = i,
                    .sample = (size_t)s->index[lane],
                    .g = {(double)s->gx[lane], (double)s->gy[lane], (double)s->gz[lane]}};
  pair.body = rigid->body[pair.sample];
  arm_of(rigid, pair.sample, &flo_bodies(world)[pair.body], pair.arm);
  // See pair_viscosity: a pair's factor is negative.
  pair.drag = -(double)(c->wall * pairs->viscous[slot * FLO_BLOCK + lane]) *
              (double)rigid->volume[pair.sample] / mono->rest_volume;
  return pair;
}

// Velocity of the fluid relative to the sample, along g. `drift` is what the body's velocities change by.
static double approach_of(const FloWorld *world, const FluidPair *pair, const double drift[6]) {
  const FloParticles *fluid = &world->sets[FLO_SET_FLUID], *rigid = &world->sets[FLO_SET_RIGID];
  double v[3] = {(double)fluid->vx[pair->i] - (double)rigid->vx[pair->sample],
                 (double)fluid->vy[pair->i] - (double)rigid->vy[pair->sample],
                 (double)fluid->vz[pair->i] - (double)rigid->vz[pair->sample]},
         turn[3];
  vec_cross(drift + 3, pair->arm, turn);
  vec_sub(v, drift, v);
  vec_sub(v, turn, v);
  return vec_dot(v, pair->g);
}

// What drag does to a body as it moves now, and how that changes with its velocities: sums w and K.
static void sum_drag(const FloWorld *world, const FluidPair *pair, FloPartner *partner) {
  static const double no_drift[6] = {0};
  double j[6], *matrix = partner->drag_sums + 6;
  double force = pair->drag * approach_of(world, pair, no_drift);
  vec_copy(pair->g, j);
  vec_cross(pair->arm, pair->g, j + 3);
  for (int row = 0; row < 6; ++row) {
    partner->drag_sums[row] += force * j[row];
    for (int column = row; column < 6; ++column) *matrix++ += pair->drag * j[row] * j[column];
  }
}

static FloStatus meet_sample(FloWorld *world, FloMonolithic *mono, const FluidPair *pair, size_t first,
                             FloError *error) {
  size_t touch;
  double force[3];
  FLO_TRY(find_touch(world, mono, first, (uint32_t)pair->i, pair->body, &touch, error));
  vec_scale(pair->g, mono->rest_volume * (double)world->sets[FLO_SET_RIGID].volume[pair->sample], force);
  add_wrench(mono->touches[touch].j, force, pair->arm);
  if (pair->drag > 0) sum_drag(world, pair, &mono->partners[pair->body]);
  return FLO_OK;
}

static FloStatus meet_fluid_row(FloWorld *world, FloMonolithic *mono, size_t i, FloError *error) {
  const FloPairs *pairs = &world->fluid_rigid;
  size_t first = mono->n_touches, begin = pairs->slot_begin[i / FLO_BLOCK];
  for (int32_t k = 0; k < pairs->row_count[i]; ++k) {
    FluidPair pair = find_pair(world, mono, i, begin + (size_t)k);
    FLO_TRY(meet_sample(world, mono, &pair, first, error));
  }
  size_t n = mono->n_coupled++;
  FLO_TRY(reserve(world, mono, FLO_BUFFER_COUPLED, (n + 1) * 4, n * 4, error));
  FLO_TRY(reserve(world, mono, FLO_BUFFER_FLUID_BEGIN, (n + 2) * 4, n ? (n + 1) * 4 : 0, error));
  mono->coupled = mono->buffers[FLO_BUFFER_COUPLED].data;
  mono->fluid_touch_begin = mono->buffers[FLO_BUFFER_FLUID_BEGIN].data;
  mono->coupled[n] = (uint32_t)i;
  mono->fluid_touch_begin[n] = (uint32_t)first;
  mono->fluid_touch_begin[n + 1] = (uint32_t)mono->n_touches;
  return FLO_OK;
}

static FloStatus meet_fluid(FloWorld *world, FloMonolithic *mono, FloError *error) {
  const FloPairs *pairs = &world->fluid_rigid;
  for (size_t block = 0; block < pairs->n_blocks; ++block) {
    if (pairs->slot_count[block] == 0) continue;
    for (size_t i = block * FLO_BLOCK; i < flo_min_size((block + 1) * FLO_BLOCK, pairs->n_rows); ++i)
      if (pairs->row_count[i] > 0) FLO_TRY(meet_fluid_row(world, mono, i, error));
  }
  return FLO_OK;
}

// Drag is explicit for the fluid, whose time step is short enough for that, but a light body would be thrown
// to and fro: it feels the drag at the velocities that it will have, (1 + dt M^-1 K) drift = dt M^-1 w. Both
// sides get the same force.
static void drag_row(FloWorld *world, FloMonolithic *mono, size_t i) {
  const FloPairs *pairs = &world->fluid_rigid;
  size_t begin = pairs->slot_begin[i / FLO_BLOCK];
  for (int32_t k = 0; k < pairs->row_count[i]; ++k) {
    FluidPair pair = find_pair(world, mono, i, begin + (size_t)k);
    FloPartner *partner = &mono->partners[pair.body];
    double force[3], torque[3];
    vec_scale(pair.g, pair.drag * approach_of(world, &pair, partner->drift), force);
    vec_cross(pair.arm, force, torque);
    vec_add(partner->drag, force, partner->drag);
    vec_add(partner->turn_drag, torque, partner->turn_drag);
    for (size_t axis = 0; axis < 3; ++axis) mono->explicit_force[4 * i + axis] -= (float)force[axis];
  }
}

static void drag_bodies(FloWorld *world, FloMonolithic *mono) {
  bool has_drag = false;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloPartner *partner = &mono->partners[k];
    if (flo_bodies(world)[k].kind != FLO_BODY_DYNAMIC) continue;
    flo_monolithic_give_way(&flo_bodies(world)[k].rigid, mono->dt, partner->drag_sums, partner->drift);
    for (int row = 0; row < 6; ++row) has_drag = has_drag || partner->drag_sums[row] != 0;
  }
  for (size_t n = 0; has_drag && n < mono->n_coupled; ++n) drag_row(world, mono, mono->coupled[n]);
}

// ---- Bodies in each other ----

// Sheets of samples that have passed each other push the wrong way: bodies that overlap by more than a
// spacing would stay hooked into each other. Where samples of one body are deep in another, these are pushed
// instead along one way out for the pair, the mean of the nearest ways out of all of them: ways of their own
// would contradict each other and twist the bodies.
static double depth_of(const FloWorld *world, size_t i, const FloBody *other, double x[3]) {
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  vec_set(x, rigid->x[i], rigid->y[i], rigid->z[i]);
  return -flo_world_distance(world, other, x);
}

static FloDeepPair *find_deep_pair(const FloMonolithic *mono, uint32_t a, uint32_t b) {
  uint32_t first = a < b ? a : b, second = a < b ? b : a;
  for (size_t k = 0; k < mono->n_deep_pairs; ++k)
    if (mono->deep_pairs[k].first == first && mono->deep_pairs[k].second == second)
      return &mono->deep_pairs[k];
  return NULL;
}

static FloStatus add_deep_sample(FloWorld *world, FloMonolithic *mono, uint32_t own, uint32_t other,
                                 const double out[3], FloError *error) {
  size_t n = mono->n_deep_pairs;
  FloDeepPair *pair = find_deep_pair(mono, own, other);
  if (!pair) {
    FLO_TRY(reserve(world, mono, FLO_BUFFER_DEEP_PAIRS, (n + 1) * sizeof *pair, n * sizeof *pair, error));
    mono->deep_pairs = mono->buffers[FLO_BUFFER_DEEP_PAIRS].data;
    pair = &mono->deep_pairs[mono->n_deep_pairs++];
    *pair = (FloDeepPair){.first = own < other ? own : other, .second = own < other ? other : own};
  }
  vec_add_scaled(pair->out, out, own < other ? 1 : -1, pair->out);
  pair->n_samples++;
  return FLO_OK;
}

// Where the nearest ways of the samples contradict each other, bodies part along the line between their
// centres; if these are in one place, the second goes up.
static void choose_way_out(const FloWorld *world, FloDeepPair *pair) {
  static const double agreement = 0.5;
  const FloBody *first = &flo_bodies(world)[pair->first], *second = &flo_bodies(world)[pair->second];
  double *out = pair->out, between[3];
  bool are_free = first->kind == FLO_BODY_DYNAMIC && second->kind == FLO_BODY_DYNAMIC;
  if (are_free && vec_length(out) < agreement * pair->n_samples) {
    flo_world_nearest_image(world, second->rigid.position, first->rigid.position, between);
    vec_sub(between, second->rigid.position, out);
    if (vec_length(out) < 0.01 * world->def.spacing) vec_copy(world->def.gravity, out);
    if (!(vec_length(out) > 0)) vec_set(out, 1, 0, 0);
  }
  double length = vec_length(out);
  vec_scale(out, length > 0 ? 1 / length : 0, out);
}

// The body of a neighbour of a sample.
static uint32_t body_of(const FloWorld *world, const FloPairs *pairs, FloSet set, size_t i, int32_t k) {
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[i / FLO_BLOCK];
  return world->sets[set].body[(size_t)slots[k].index[i % FLO_BLOCK]];
}

// From the neighbour number `k` on, the next one whose body differs from `last` and in which the sample is
// deep; the number of neighbours if there is none.
static int32_t next_deep(const FloWorld *world, size_t i, const FloPairs *pairs, FloSet set, int32_t k,
                         uint32_t last) {
  double x[3];
  for (; k < pairs->row_count[i]; ++k) {
    uint32_t other = body_of(world, pairs, set, i, k);
    if (other == last) continue;
    last = other;
    if (!(depth_of(world, i, &flo_bodies(world)[other], x) < DEEP * world->def.spacing)) break;
  }
  return k;
}

static bool is_deep_in(const FloWorld *world, size_t i, const FloPairs *pairs, FloSet set) {
  return next_deep(world, i, pairs, set, 0, world->sets[FLO_SET_RIGID].body[i]) < pairs->row_count[i];
}

static FloStatus add_deep(FloWorld *world, FloMonolithic *mono, size_t i, const FloPairs *pairs, FloSet set,
                          FloError *error) {
  uint32_t own = world->sets[FLO_SET_RIGID].body[i], last = own;
  for (int32_t k = 0; (k = next_deep(world, i, pairs, set, k, last)) < pairs->row_count[i]; ++k) {
    double x[3], out[3];
    last = body_of(world, pairs, set, i, k);
    depth_of(world, i, &flo_bodies(world)[last], x);
    flo_world_normal(world, &flo_bodies(world)[last], x, out);
    FLO_TRY(add_deep_sample(world, mono, own, last, out, error));
  }
  return FLO_OK;
}

static FloStatus find_deep_pairs(FloWorld *world, FloMonolithic *mono, FloError *error) {
  mono->n_deep_pairs = 0;
  for (size_t k = 0; k < mono->n_contacts; ++k) {
    if (!mono->contacts[k].is_deep) continue;
    size_t i = mono->contacts[k].sample;
    FLO_TRY(add_deep(world, mono, i, &world->rigid_boundary, FLO_SET_BOUNDARY, error));
    FLO_TRY(add_deep(world, mono, i, &world->rigid_rigid, FLO_SET_RIGID, error));
  }
  for (size_t k = 0; k < mono->n_deep_pairs; ++k) choose_way_out(world, &mono->deep_pairs[k]);
  return FLO_OK;
}

// ---- Contacts ----

// What is summed up over the neighbours of one sample.
typedef struct Meeting {
  FloContact contact;
  uint32_t row, n_touches;
  double arm[3];        // from its body's centre to the sample
  double steep[3];      // sum of V grad W
  double sum;           // sum of V W
  double rate;          // sum of V grad W . v over walls
  double friction;      // sum of V W mu
  double rolling;       // sum of V W times the length of rolling friction
  double wall_spin[3];  // sum of V W omega over walls
  double wall[3];       // sum of V W v over walls
  double own_arm[3];    // sum of V W (middle - centre)
  double lever[3];      // sum of V (middle - sample) x grad W over those that push it out
  const FloBody *other; // whom `is_deep` and `out` are about
  bool is_deep;
  double out[3]; // the nearest way out of the other body
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

// From the positions that the grids hold, which are those of the start of the step.
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

// The way out of the other body, if the sample is deep in it.
static bool is_pushed_out(const FloWorld *world, const FloMonolithic *mono, size_t i, const FloBody *other,
                          Meeting *meeting) {
  if (mono->n_deep_pairs == 0) return false;
  if (meeting->other == other) return meeting->is_deep;
  uint32_t own = meeting->contact.body, number = (uint32_t)(other - flo_bodies(world));
  const FloDeepPair *pair = find_deep_pair(mono, own, number);
  double x[3];
  meeting->other = other;
  meeting->is_deep =
      pair && vec_length(pair->out) > 0 && !(depth_of(world, i, other, x) < DEEP * world->def.spacing);
  if (meeting->is_deep) vec_scale(pair->out, own < number ? 1 : -1, meeting->out);
  return meeting->is_deep;
}

// As strongly as before and without friction, which would hold it; both feel it half way between the samples,
// which keeps the angular momentum.
static void push_out(Neighbour *n, double volume, const double between[3], Meeting *meeting) {
  double lever[3];
  vec_scale(meeting->out, -vec_length(n->g), n->g);
  vec_cross(between, n->g, lever);
  vec_add_scaled(meeting->lever, lever, -0.5 * volume, meeting->lever);
}

// The touch of this body among those of the contact; the next one if it has none yet.
static FloTouch *touch_of(const FloMonolithic *mono, Meeting *meeting, uint32_t body) {
  FloTouch *touches = mono->touches + meeting->contact.first;
  for (uint32_t k = 0; k < meeting->n_touches; ++k)
    if (touches[k].body == body) return &touches[k];
  FLO_ASSERT(meeting->n_touches < meeting->contact.count);
  touches[meeting->n_touches] = (FloTouch){.row = meeting->row, .body = body};
  return &touches[meeting->n_touches++];
}

static void meet_neighbour(const FloWorld *world, const FloMonolithic *mono, size_t i, Neighbour *n,
                           Meeting *meeting) {
  const FloBody *own = &flo_bodies(world)[meeting->contact.body],
                *other = &flo_bodies(world)[n->set->body[n->sample]];
  double volume = (double)n->set->volume[n->sample], between[3], force[3], middle[3];
  double weight = volume * flo_kernel_w(&world->kernel, distance_to(world, i, n, between));
  bool is_deep = is_pushed_out(world, mono, i, other, meeting);
  if (is_deep) push_out(n, volume, between, meeting);
  vec_add_scaled(meeting->steep, n->g, volume, meeting->steep);
  meeting->sum += weight;
  if (!is_deep) meeting->friction += weight * flo_world_friction(world, own, other);
  if (!is_deep) meeting->rolling += weight * flo_world_rolling_friction(own, other);
  vec_add_scaled(meeting->arm, between, -0.5, middle);
  vec_add_scaled(meeting->own_arm, middle, weight, meeting->own_arm);
  if (n->set->set == FLO_SET_BOUNDARY) {
    const double v[3] = {(double)n->set->vx[n->sample], (double)n->set->vy[n->sample],
                         (double)n->set->vz[n->sample]};
    meeting->rate += volume * vec_dot(n->g, v);
    vec_add_scaled(meeting->wall, v, weight, meeting->wall);
    vec_add_scaled(meeting->wall_spin, other->state.angular_velocity, weight, meeting->wall_spin);
    return;
  }
  double arm[3];
  FloTouch *t = touch_of(mono, meeting, n->set->body[n->sample]);
  arm_of(n->set, n->sample, other, arm);
  vec_scale(n->g, (double)meeting->contact.volume * volume, force);
  vec_add_scaled(arm, between, 0.5, middle);
  add_wrench(t->j, force, is_deep ? middle : arm);
  t->weight -= (float)weight;
  for (int axis = 0; axis < 3; ++axis) t->arm[axis] -= (float)(weight * middle[axis]);
}

static void meet_neighbours(const FloWorld *world, const FloMonolithic *mono, size_t i, const FloPairs *pairs,
                            FloSet set, Meeting *meeting) {
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

// An overlap vanishes slowly; error and steepness are of the sum of kernels.
static double gap_of(const FloWorld *world, const FloMonolithic *mono, double error, double steepness) {
  if (error >= 0) return error;
  double speed = world->params[FLO_MONO_SEPARATION];
  if (speed == 0) speed = flo_world_parting_speed(world, steepness > 0 ? -error / steepness : INFINITY);
  return -fmin(-FLO_OVERLAP_RATE * error, mono->dt * steepness * speed);
}

static void finish_contact(const FloWorld *world, const FloMonolithic *mono, const Meeting *m) {
  FloContact contact = m->contact;
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  double steepness = vec_length(m->steep), torque[3], per_sum = m->sum > 0 ? 1 / m->sum : 0;
  size_t i = contact.sample;
  FLO_ASSERT(m->n_touches == contact.count);
  contact.gap = (float)(gap_of(world, mono, mono->contact_sum - m->sum, steepness) + mono->dt * m->rate);
  contact.per_sum = (float)per_sum;
  contact.cone = (float)(m->friction * per_sum * (double)contact.volume * steepness);
  contact.roll_limit = (float)(m->rolling * per_sum * (double)contact.volume * steepness);
  FloTouch *own = &mono->touches[contact.first];
  vec_cross(m->arm, m->steep, torque);
  vec_add(torque, m->lever, torque);
  own->weight = 1;
  for (int axis = 0; axis < 3; ++axis) {
    contact.normal[axis] = steepness > 0 ? (float)(-m->steep[axis] / steepness) : 0;
    contact.wall[axis] = (float)(m->wall[axis] * per_sum);
    contact.wall_spin[axis] = (float)(m->wall_spin[axis] * per_sum);
    own->j[axis] = -contact.volume * (float)m->steep[axis];
    own->j[axis + 3] = -contact.volume * (float)torque[axis];
    own->arm[axis] = (float)(m->own_arm[axis] * per_sum);
    contact.anchor[axis] = ((const float *)rigid->extra[FLO_MONO_ANCHOR_X + axis])[i];
    contact.bias[axis] = ANCHOR_RATE / (float)mono->dt * contact.anchor[axis];
  }
  for (size_t t = contact.first + 1; t < contact.first + contact.count; ++t) {
    mono->touches[t].weight *= (float)per_sum;
    for (int axis = 0; axis < 3; ++axis) mono->touches[t].arm[axis] *= (float)per_sum;
  }
  mono->contacts[m->row - mono->n_fluid] = contact;
}

static void meet_contact(const FloWorld *world, const FloMonolithic *mono, size_t k) {
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  Meeting m = {.contact = mono->contacts[k], .row = (uint32_t)(mono->n_fluid + k)};
  size_t i = m.contact.sample;
  arm_of(rigid, i, &flo_bodies(world)[m.contact.body], m.arm);
  touch_of(mono, &m, m.contact.body);
  meet_neighbours(world, mono, i, &world->rigid_boundary, FLO_SET_BOUNDARY, &m);
  meet_neighbours(world, mono, i, &world->rigid_rigid, FLO_SET_RIGID, &m);
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

// How many bodies a contact has to do with, its own included.
static uint32_t count_bodies(const FloWorld *world, size_t i) {
  const FloPairs *pairs = &world->rigid_rigid;
  uint32_t count = 1, own = world->sets[FLO_SET_RIGID].body[i], last = own;
  for (int32_t k = 0; k < pairs->row_count[i]; ++k) {
    uint32_t other = body_of(world, pairs, FLO_SET_RIGID, i, k);
    bool is_new = other != last && other != own;
    for (int32_t earlier = 0; is_new && earlier < k; ++earlier)
      is_new = body_of(world, pairs, FLO_SET_RIGID, i, earlier) != other;
    count += is_new;
    last = other;
  }
  return count;
}

static void survey_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Meetings *meetings = context;
  const FloWorld *world = meetings->world;
  for (size_t k = begin; k < end; ++k) {
    FloContact *contact = &meetings->mono->contacts[k];
    contact->count = count_bodies(world, contact->sample);
    contact->is_deep = is_deep_in(world, contact->sample, &world->rigid_boundary, FLO_SET_BOUNDARY) ||
                       is_deep_in(world, contact->sample, &world->rigid_rigid, FLO_SET_RIGID);
  }
}

static bool is_near_others(const FloWorld *world, size_t i) {
  return world->rigid_boundary.row_count[i] > 0 || world->rigid_rigid.row_count[i] > 0;
}

static FloStatus list_contacts(FloWorld *world, FloMonolithic *mono, FloError *error) {
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  size_t n = 0;
  for (size_t i = 0; i < rigid->count; ++i) n += is_near_others(world, i);
  FLO_TRY(reserve(world, mono, FLO_BUFFER_CONTACTS, n * sizeof(FloContact), 0, error));
  mono->contacts = mono->buffers[FLO_BUFFER_CONTACTS].data;
  for (size_t i = 0; i < rigid->count; ++i)
    if (is_near_others(world, i))
      mono->contacts[mono->n_contacts++] =
          (FloContact){.sample = (uint32_t)i, .body = rigid->body[i], .volume = rigid->volume[i]};
  return FLO_OK;
}

static FloStatus give_touches(FloWorld *world, FloMonolithic *mono, FloError *error) {
  size_t before = mono->n_touches;
  for (size_t k = 0; k < mono->n_contacts; ++k) {
    mono->contacts[k].first = (uint32_t)mono->n_touches;
    mono->n_touches += mono->contacts[k].count;
  }
  FLO_TRY(reserve(world, mono, FLO_BUFFER_TOUCHES, mono->n_touches * sizeof(FloTouch),
                  before * sizeof(FloTouch), error));
  mono->touches = mono->buffers[FLO_BUFFER_TOUCHES].data;
  return FLO_OK;
}

// Each contact is met by itself, once it is known where its touches go.
static FloStatus meet_contacts(FloWorld *world, FloMonolithic *mono, FloError *error) {
  enum { AT_ONCE = 256 };
  Meetings meetings = {world, mono};
  FLO_TRY(list_contacts(world, mono, error));
  flo_parallel_for(world->threads, mono->n_contacts, AT_ONCE, survey_range, &meetings);
  FLO_TRY(find_deep_pairs(world, mono, error));
  FLO_TRY(give_touches(world, mono, error));
  flo_parallel_for(world->threads, mono->n_contacts, AT_ONCE, meet_range, &meetings);
  return FLO_OK;
}

// ---- Diagonals ----

// J M^-1 J^T of one touch: how much of itself a row feels through the body, (A.3) and (A.7).
static double response_of(const FloRigid *rigid, const float j[6]) {
  double force[3] = {(double)j[0], (double)j[1], (double)j[2]}, spin[3];
  double torque[3] = {(double)j[3], (double)j[4], (double)j[5]}, sum = 0;
  mat_apply(rigid->inverse_inertia, torque, spin);
  for (int axis = 0; axis < 3; ++axis) sum += force[axis] * force[axis] * rigid->inverse_mass[axis];
  return sum + vec_dot(torque, spin);
}

// Velocity at the contact, seen through the touch, per unit of impulse along `direction`: (A.12)-(A.14).
static double slip_along(const FloRigid *rigid, const FloTouch *t, const double direction[3]) {
  double arm[3] = {(double)t->arm[0], (double)t->arm[1], (double)t->arm[2]}, torque[3], spin[3], sum = 0;
  vec_cross(arm, direction, torque);
  mat_apply(rigid->inverse_inertia, torque, spin);
  for (int axis = 0; axis < 3; ++axis)
    sum += (double)(t->weight * t->weight) * rigid->inverse_mass[axis] * direction[axis] * direction[axis];
  return sum + vec_dot(torque, spin);
}

// The mean over the tangent plane: half of trace minus normal part in 3D, the other direction in 2D.
static double mean_slip(const FloWorld *world, const FloTouch *t, const float normal[3]) {
  const FloRigid *rigid = &flo_bodies(world)[t->body].rigid;
  double n[3] = {(double)normal[0], (double)normal[1], (double)normal[2]}, sum = 0;
  for (int axis = 0; axis < world->def.dim; ++axis) {
    double unit[3] = {axis == 0, axis == 1, axis == 2};
    sum += slip_along(rigid, t, unit);
  }
  return fmax((sum - slip_along(rigid, t, n)) / (world->def.dim - 1), 0);
}

// Relative angular velocity, seen through the touch, per unit of angular impulse; the mean over the axes.
static double mean_spin(const FloWorld *world, const FloTouch *t) {
  const double *inverse = flo_bodies(world)[t->body].rigid.inverse_inertia;
  double trace = inverse[0] + inverse[4] + inverse[8];
  return (double)(t->weight * t->weight) * trace / (world->def.dim == 3 ? 3 : 1);
}

static void weigh_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const FloWorld *world = ((const Meetings *)context)->world;
  const FloMonolithic *mono = ((const Meetings *)context)->mono;
  for (size_t k = begin; k < end; ++k) {
    FloTouch *t = &mono->touches[k];
    t->response = (float)response_of(&flo_bodies(world)[t->body].rigid, t->j);
    if (t->row >= mono->n_fluid)
      t->slip = (float)mean_slip(world, t, mono->contacts[t->row - mono->n_fluid].normal),
      t->spin = (float)mean_spin(world, t);
  }
}

void flo_monolithic_weigh_fluid(FloMonolithic *mono) {
  double scale = mono->dt * mono->dt / mono->rest_volume;
  for (size_t n = 0; n < mono->n_coupled; ++n) {
    size_t main = mono->fluid_touch_begin[n];
    double diagonal = (double)mono->diagonal[mono->coupled[n]];
    if (!(diagonal > 0)) continue; // at the very edge of everything: it does nothing
    for (size_t k = main; k < mono->fluid_touch_begin[n + 1]; ++k) {
      const FloTouch *t = &mono->touches[k];
      if (t->response > mono->touches[main].response) main = k;
      mono->partners[t->body].fluid_load += scale * (double)t->response / diagonal;
      mono->partners[t->body].has_fluid = true;
    }
    mono->touches[main].is_main = true;
  }
}

// ---- By bodies ----

static FloLoad load_of(const FloTouch *t) {
  return (FloLoad){.row = t->row,
                   .j = {t->j[0], t->j[1], t->j[2], t->j[3], t->j[4], t->j[5]},
                   .weight = t->weight,
                   .arm = {t->arm[0], t->arm[1], t->arm[2]}};
}

static FloStatus sort_touches(FloWorld *world, FloMonolithic *mono, FloError *error) {
  size_t n_bodies = world->bodies.count, n = mono->n_touches;
  size_t most_chunks = n / CHUNK_TOUCHES + n_bodies + 1;
  FLO_TRY(reserve(world, mono, FLO_BUFFER_ORDER, (n + n_bodies + 2) * 4, 0, error));
  FLO_TRY(reserve(world, mono, FLO_BUFFER_CHUNKS, most_chunks * sizeof(FloTouchChunk), 0, error));
  FLO_TRY(
      reserve(world, mono, FLO_BUFFER_CHUNK_SUMS, most_chunks * FLO_CHUNK_SUMS * sizeof(double), 0, error));
  mono->touch_order = mono->buffers[FLO_BUFFER_ORDER].data;
  mono->chunks = mono->buffers[FLO_BUFFER_CHUNKS].data;
  mono->chunk_sums = mono->buffers[FLO_BUFFER_CHUNK_SUMS].data;
  uint32_t *next = mono->touch_order + n; // where the next touch of a body goes
  for (size_t k = 0; k <= n_bodies; ++k) next[k] = 0;
  for (size_t k = 0; k < n; ++k) next[mono->touches[k].body + 1]++;
  for (size_t k = 0; k < n_bodies; ++k) next[k + 1] += next[k];
  mono->n_chunks = 0;
  for (uint32_t body = 0; body < n_bodies; ++body)
    for (uint32_t begin = next[body]; begin < next[body + 1]; begin += CHUNK_TOUCHES) {
      uint32_t end = begin + CHUNK_TOUCHES < next[body + 1] ? begin + CHUNK_TOUCHES : next[body + 1];
      mono->chunks[mono->n_chunks++] = (FloTouchChunk){begin, end, body};
    }
  for (size_t k = 0; k < n; ++k) mono->touch_order[next[mono->touches[k].body]++] = (uint32_t)k;
  FLO_TRY(reserve(world, mono, FLO_BUFFER_LOADS, n * sizeof(FloLoad), 0, error));
  mono->loads = mono->buffers[FLO_BUFFER_LOADS].data;
  for (size_t k = 0; k < n; ++k) mono->loads[k] = load_of(&mono->touches[mono->touch_order[k]]);
  return FLO_OK;
}

static FloStatus start_partners(FloWorld *world, FloMonolithic *mono, FloError *error) {
  size_t n = world->bodies.count;
  FLO_TRY(reserve(world, mono, FLO_BUFFER_PARTNERS, (n + 1) * sizeof(FloPartner), 0, error));
  mono->partners = mono->buffers[FLO_BUFFER_PARTNERS].data;
  for (size_t k = 0; k < n; ++k) mono->partners[k] = (FloPartner){.n_shared = -1};
  return FLO_OK;
}

FloStatus flo_monolithic_meet(FloWorld *world, FloMonolithic *mono, FloError *error) {
  mono->n_touches = mono->n_contacts = mono->n_coupled = mono->n_chunks = 0;
  FLO_TRY(start_partners(world, mono, error));
  if (world->sets[FLO_SET_RIGID].count == 0) return FLO_OK;
  FLO_TRY(meet_fluid(world, mono, error));
  drag_bodies(world, mono);
  FLO_TRY(meet_contacts(world, mono, error));
  FLO_TRY(reserve(world, mono, FLO_BUFFER_CORRECTED, (mono->n_coupled + 1) * sizeof(float), 0, error));
  mono->corrected = mono->buffers[FLO_BUFFER_CORRECTED].data;
  Meetings meetings = {world, mono};
  flo_parallel_for(world->threads, mono->n_touches, 1024, weigh_range, &meetings);
  return sort_touches(world, mono, error);
}
