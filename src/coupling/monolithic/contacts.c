// What touches what: contacts between bodies (3.1)-(3.6), and fluid next to bodies, each reduced to forces
// and torques on nodes; with their parts of the diagonals (Appendix A).
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

static FloStatus add_touch(FloWorld *world, FloMonolithic *mono, uint32_t row, uint32_t node,
                           FloError *error) {
  size_t n = mono->n_touches;
  FLO_TRY(reserve(world, mono, FLO_BUFFER_TOUCHES, (n + 1) * sizeof(FloTouch), n * sizeof(FloTouch), error));
  mono->touches = mono->buffers[FLO_BUFFER_TOUCHES].data;
  mono->touches[n] = (FloTouch){.row = row, .node = node};
  mono->n_touches++;
  return FLO_OK;
}

// The touch of this node among those from `first` on; a new one if there is none.
static FloStatus find_touch(FloWorld *world, FloMonolithic *mono, size_t first, uint32_t row, uint32_t node,
                            size_t *found, FloError *error) {
  for (*found = first; *found < mono->n_touches; ++*found)
    if (mono->touches[*found].node == node) return FLO_OK;
  return add_touch(world, mono, row, node, error);
}

static void add_wrench(float wrench[6], const double force[3], const double arm[3]) {
  double torque[3];
  vec_cross(arm, force, torque);
  for (int axis = 0; axis < 3; ++axis) {
    wrench[axis] += (float)force[axis];
    wrench[axis + 3] += (float)torque[axis];
  }
}

// What carries a sample: nodes by their number among all, their shares, and the ways from them to the sample.
typedef struct Carriers {
  int count;
  uint32_t nodes[FLO_MAX_CARRIERS];
  double shares[FLO_MAX_CARRIERS], arms[FLO_MAX_CARRIERS][3];
} Carriers;

static Carriers carriers_of(const FloWorld *world, size_t sample) {
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  const FloBody *body = &flo_bodies(world)[rigid->body[sample]];
  const FloCarriers of_body = flo_body_carriers(body, rigid, sample);
  const double x[3] = {rigid->x[sample], rigid->y[sample], rigid->z[sample]};
  Carriers carriers = {.count = of_body.count};
  for (int k = 0; k < of_body.count; ++k) {
    carriers.nodes[k] = (uint32_t)body->first_node + of_body.nodes[k];
    carriers.shares[k] = of_body.shares[k];
    vec_sub(x, body->nodes[of_body.nodes[k]].position, carriers.arms[k]);
  }
  return carriers;
}

// ---- Fluid next to bodies ----

// One pair of a fluid particle and a sample.
typedef struct FluidPair {
  size_t i, sample;
  double g[3]; // grad W
  double drag; // force on the body along g, per velocity along g
  Carriers carriers;
} FluidPair;

static FluidPair find_pair(const FloWorld *world, const FloMonolithic *mono, size_t i, size_t slot) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID);
  const FloPairSlot *s = &pairs->slots[slot];
  const FloViscosity *viscosity = &mono->forces.viscosity;
  const FloFluidCoefficients *each = viscosity->each.data,
                             *c = viscosity->is_single ? &viscosity->all : each + i;
  size_t lane = i % FLO_BLOCK;
  FluidPair pair = {.i = i,
                    .sample = (size_t)s->index[lane],
                    .g = {(double)s->gx[lane], (double)s->gy[lane], (double)s->gz[lane]}};
  pair.carriers = carriers_of(world, pair.sample);
  // See pair_viscosity: a pair's factor is negative.
  pair.drag = -(double)(c->wall * pairs->viscous[slot * FLO_BLOCK + lane]) *
              (double)world->sets[FLO_SET_RIGID].volume[pair.sample] / mono->rest_volume;
  return pair;
}

// Velocity of the fluid relative to the sample, along g. With `has_drift`, after the velocities of nodes have
// changed by their drift.
static double approach_of(const FloWorld *world, const FloMonolithic *mono, const FluidPair *pair,
                          bool has_drift) {
  const FloParticles *fluid = &world->sets[FLO_SET_FLUID], *rigid = &world->sets[FLO_SET_RIGID];
  double v[3] = {(double)fluid->vx[pair->i] - (double)rigid->vx[pair->sample],
                 (double)fluid->vy[pair->i] - (double)rigid->vy[pair->sample],
                 (double)fluid->vz[pair->i] - (double)rigid->vz[pair->sample]},
         turn[3];
  for (int k = 0; has_drift && k < pair->carriers.count; ++k) {
    const double *drift = mono->partners[pair->carriers.nodes[k]].drift, share = pair->carriers.shares[k];
    vec_cross(drift + 3, pair->carriers.arms[k], turn);
    vec_add_scaled(v, drift, -share, v);
    vec_add_scaled(v, turn, -share, v);
  }
  return vec_dot(v, pair->g);
}

// What drag does to a node as it moves now, and how that changes with its velocities: sums w and K.
static void sum_drag(const FluidPair *pair, int k, double force, FloPartner *partner) {
  double j[6], *matrix = partner->drag_sums + 6, share = pair->carriers.shares[k];
  vec_scale(pair->g, share, j);
  vec_cross(pair->carriers.arms[k], j, j + 3);
  for (int row = 0; row < 6; ++row) {
    partner->drag_sums[row] += force * j[row];
    for (int column = row; column < 6; ++column) *matrix++ += pair->drag * j[row] * j[column];
  }
}

static FloStatus meet_sample(FloWorld *world, FloMonolithic *mono, const FluidPair *pair, size_t first,
                             FloError *error) {
  double volume = (double)world->sets[FLO_SET_RIGID].volume[pair->sample];
  double drag = pair->drag > 0 ? pair->drag * approach_of(world, mono, pair, false) : 0;
  for (int k = 0; k < pair->carriers.count; ++k) {
    uint32_t node = pair->carriers.nodes[k];
    size_t touch;
    double force[3];
    FLO_TRY(find_touch(world, mono, first, (uint32_t)pair->i, node, &touch, error));
    vec_scale(pair->g, mono->rest_volume * volume * pair->carriers.shares[k], force);
    add_wrench(mono->touches[touch].j, force, pair->carriers.arms[k]);
    if (pair->drag > 0) sum_drag(pair, k, drag, &mono->partners[node]);
  }
  return FLO_OK;
}

static FloStatus meet_fluid_row(FloWorld *world, FloMonolithic *mono, size_t i, FloError *error) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID);
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
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID);
  for (size_t block = 0; block < pairs->n_blocks; ++block) {
    if (pairs->slot_count[block] == 0) continue;
    for (size_t i = block * FLO_BLOCK; i < flo_min_size((block + 1) * FLO_BLOCK, pairs->n_rows); ++i)
      if (pairs->row_count[i] > 0) FLO_TRY(meet_fluid_row(world, mono, i, error));
  }
  return FLO_OK;
}

static void drag_node(const FluidPair *pair, int k, const double force[3], FloPartner *partner) {
  double share[3], torque[3];
  vec_scale(force, pair->carriers.shares[k], share);
  vec_cross(pair->carriers.arms[k], share, torque);
  vec_add(partner->drag, share, partner->drag);
  vec_add(partner->turn_drag, torque, partner->turn_drag);
}

// Drag is explicit for the fluid, whose time step is short enough for that, but a light body would be thrown
// to and fro: it feels the drag at the velocities that it will have, (1 + dt M^-1 K) drift = dt M^-1 w. Both
// sides get the same force.
static void drag_row(FloWorld *world, FloMonolithic *mono, size_t i) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID);
  size_t begin = pairs->slot_begin[i / FLO_BLOCK];
  for (int32_t n = 0; n < pairs->row_count[i]; ++n) {
    FluidPair pair = find_pair(world, mono, i, begin + (size_t)n);
    double force[3];
    vec_scale(pair.g, pair.drag * approach_of(world, mono, &pair, true), force);
    for (int k = 0; k < pair.carriers.count; ++k)
      drag_node(&pair, k, force, &mono->partners[pair.carriers.nodes[k]]);
    for (size_t axis = 0; axis < 3; ++axis) mono->explicit_force[4 * i + axis] -= (float)force[axis];
  }
}

static void drag_bodies(FloWorld *world, FloMonolithic *mono) {
  bool has_drag = false;
  for (size_t k = 0; k < world->nodes.count; ++k) {
    FloPartner *partner = &mono->partners[k];
    flo_monolithic_give_way(partner->node, mono->dt, partner->drag_sums, partner->drift);
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
  bool are_free = flo_body_is_pushed(first) && flo_body_is_pushed(second);
  if (are_free && vec_length(out) < agreement * pair->n_samples) {
    flo_world_nearest_image(world, second->nodes->position, first->nodes->position, between);
    vec_sub(between, second->nodes->position, out);
    if (vec_length(out) < 0.01 * world->def.spacing) vec_copy(world->def.gravity, out);
    if (!(vec_length(out) > 0)) vec_set(out, 1, 0, 0);
  }
  double length = vec_length(out);
  vec_scale(out, length > 0 ? 1 / length : 0, out);
}

// A neighbour of a sample, and its body.
static size_t sample_of(const FloPairs *pairs, size_t i, int32_t k) {
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[i / FLO_BLOCK];
  return (size_t)slots[k].index[i % FLO_BLOCK];
}

static uint32_t body_of(const FloWorld *world, FloSet set, size_t i, int32_t k) {
  return world->sets[set].body[sample_of(flo_pairs_of(world, FLO_SET_RIGID, set), i, k)];
}

// From the neighbour number `k` on, the next one whose body differs from `last` and in which the sample is
// deep; the number of neighbours if there is none.
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

static FloStatus add_deep(FloWorld *world, FloMonolithic *mono, size_t i, FloSet set, FloError *error) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, set);
  uint32_t own = world->sets[FLO_SET_RIGID].body[i], last = own;
  for (int32_t k = 0; (k = next_deep(world, i, set, k, last)) < pairs->row_count[i]; ++k) {
    double x[3], out[3];
    last = body_of(world, set, i, k);
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
    FLO_TRY(add_deep(world, mono, i, FLO_SET_BOUNDARY, error));
    FLO_TRY(add_deep(world, mono, i, FLO_SET_RIGID, error));
  }
  for (size_t k = 0; k < mono->n_deep_pairs; ++k) choose_way_out(world, &mono->deep_pairs[k]);
  return FLO_OK;
}

// ---- Contacts ----

// What is summed up over the neighbours of one sample.
typedef struct Meeting {
  FloContact contact;
  uint32_t row, n_touches;
  Carriers carriers;    // of the sample
  double steep[3];      // sum of V grad W
  double sum;           // sum of V W
  double rate;          // sum of V grad W . v over walls
  double friction;      // sum of V W mu
  double rolling;       // sum of V W times the length of rolling friction
  double wall_spin[3];  // sum of V W omega over walls
  double wall[3];       // sum of V W v over walls
  double own_arm[3];    // sum of V W (middle - position of the first carrier)
  double lever[3];      // sum of V (middle - sample) x grad W over those that push it out
  const FloBody *other; // that `is_deep` and `out` are about
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

// The touch of this node among those of the contact; the next one if it has none yet.
static FloTouch *touch_of(const FloMonolithic *mono, Meeting *meeting, uint32_t node) {
  FloTouch *touches = mono->touches + meeting->contact.first;
  for (uint32_t k = 0; k < meeting->n_touches; ++k)
    if (touches[k].node == node) return &touches[k];
  FLO_ASSERT(meeting->n_touches < meeting->contact.count);
  touches[meeting->n_touches] = (FloTouch){.row = meeting->row, .node = node};
  return &touches[meeting->n_touches++];
}

// A wall near the sample moves as it is told.
static void meet_wall(const Neighbour *n, const FloBody *wall, double volume, double weight,
                      Meeting *meeting) {
  const double v[3] = {(double)n->set->vx[n->sample], (double)n->set->vy[n->sample],
                       (double)n->set->vz[n->sample]};
  meeting->rate += volume * vec_dot(n->g, v);
  vec_add_scaled(meeting->wall, v, weight, meeting->wall);
  vec_add_scaled(meeting->wall_spin, wall->state.angular_velocity, weight, meeting->wall_spin);
}

// A sample of another body that forces move is pushed the other way.
static void meet_other(const FloWorld *world, const FloMonolithic *mono, const Neighbour *n, double volume,
                       double weight, const double between[3], Meeting *meeting) {
  const Carriers carriers = carriers_of(world, n->sample);
  for (int k = 0; k < carriers.count; ++k) {
    FloTouch *t = touch_of(mono, meeting, carriers.nodes[k]);
    double force[3], middle[3], share = weight * carriers.shares[k];
    vec_scale(n->g, (double)meeting->contact.volume * volume * carriers.shares[k], force);
    vec_add_scaled(carriers.arms[k], between, 0.5, middle);
    add_wrench(t->j, force, meeting->is_deep ? middle : carriers.arms[k]);
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
  bool is_deep = is_pushed_out(world, mono, i, other, meeting);
  if (is_deep) push_out(n, volume, between, meeting);
  vec_add_scaled(meeting->steep, n->g, volume, meeting->steep);
  meeting->sum += weight;
  if (!is_deep) meeting->friction += weight * flo_world_friction(world, own, other);
  if (!is_deep) meeting->rolling += weight * flo_world_rolling_friction(own, other);
  vec_add_scaled(meeting->carriers.arms[0], between, -0.5, middle);
  vec_add_scaled(meeting->own_arm, middle, weight, meeting->own_arm);
  if (n->set->set == FLO_SET_BOUNDARY)
    meet_wall(n, other, volume, weight, meeting);
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

// An overlap vanishes slowly; error and steepness are of the sum of kernels.
static double gap_of(const FloWorld *world, const FloMonolithic *mono, double error, double steepness) {
  if (error >= 0) return error;
  double speed = world->params[FLO_MONO_SEPARATION];
  if (speed == 0) speed = flo_world_parting_speed(world, steepness > 0 ? -error / steepness : INFINITY);
  return -fmin(-FLO_OVERLAP_RATE * error, mono->dt * steepness * speed);
}

// What the contact does to a node that carries its sample.
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

static void find_anchor(const FloWorld *world, const FloMonolithic *mono, FloContact *contact) {
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  for (int axis = 0; axis < 3; ++axis) {
    contact->anchor[axis] = ((const float *)rigid->extra[FLO_MONO_ANCHOR_X + axis])[contact->sample];
    contact->bias[axis] = ANCHOR_RATE / (float)mono->dt * contact->anchor[axis];
  }
}

static void finish_contact(const FloWorld *world, const FloMonolithic *mono, const Meeting *m) {
  FloContact contact = m->contact;
  double steepness = vec_length(m->steep), per_sum = m->sum > 0 ? 1 / m->sum : 0;
  FLO_ASSERT(m->n_touches == contact.count);
  contact.gap = (float)(gap_of(world, mono, mono->contact_sum - m->sum, steepness) + mono->dt * m->rate);
  contact.per_sum = (float)per_sum;
  contact.cone = (float)(m->friction * per_sum * (double)contact.volume * steepness);
  contact.roll_limit = (float)(m->rolling * per_sum * (double)contact.volume * steepness);
  for (int axis = 0; axis < 3; ++axis) {
    contact.normal[axis] = steepness > 0 ? (float)(-m->steep[axis] / steepness) : 0;
    contact.wall[axis] = (float)(m->wall[axis] * per_sum);
    contact.wall_spin[axis] = (float)(m->wall_spin[axis] * per_sum);
  }
  find_anchor(world, mono, &contact);
  FloTouch *touches = &mono->touches[contact.first];
  for (int k = 0; k < m->carriers.count; ++k) finish_own(m, k, contact.volume, per_sum, &touches[k]);
  for (uint32_t t = (uint32_t)m->carriers.count; t < contact.count; ++t) {
    touches[t].weight *= (float)per_sum;
    for (int axis = 0; axis < 3; ++axis) touches[t].arm[axis] *= (float)per_sum;
  }
  mono->contacts[m->row - mono->n_fluid] = contact;
}

static void meet_contact(const FloWorld *world, const FloMonolithic *mono, size_t k) {
  Meeting m = {.contact = mono->contacts[k], .row = (uint32_t)(mono->n_fluid + k)};
  size_t i = m.contact.sample;
  m.carriers = carriers_of(world, i);
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

static bool carries(const Carriers *carriers, uint32_t node) {
  for (int k = 0; k < carriers->count; ++k)
    if (carriers->nodes[k] == node) return true;
  return false;
}

// Whether no neighbour before number `k` is carried by the node.
static bool is_new_node(const FloWorld *world, size_t i, int32_t k, uint32_t node) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_RIGID);
  while (k-- > 0) {
    const Carriers earlier = carriers_of(world, sample_of(pairs, i, k));
    if (carries(&earlier, node)) return false;
  }
  return true;
}

// How many nodes a contact has to do with, its own included.
static uint32_t count_nodes(const FloWorld *world, size_t i) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_RIGID);
  const Carriers own = carriers_of(world, i);
  uint32_t count = (uint32_t)own.count, last = UINT32_MAX;
  for (int32_t k = 0; k < pairs->row_count[i]; ++k) {
    const Carriers carriers = carriers_of(world, sample_of(pairs, i, k));
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

// J M^-1 J^T of one touch: how much of itself a row feels through the node, (A.3) and (A.7).
static double response_of(const FloNode *node, const float j[6]) {
  const double wide[6] = {(double)j[0], (double)j[1], (double)j[2], (double)j[3], (double)j[4], (double)j[5]};
  return flo_node_response(node, wide);
}

// Velocity at the contact, seen through the touch, per unit of impulse along `direction`: (A.12)-(A.14).
static double slip_along(const FloNode *node, const FloTouch *t, const double direction[3]) {
  double arm[3] = {(double)t->arm[0], (double)t->arm[1], (double)t->arm[2]}, torque[3], spin[3], sum = 0;
  vec_cross(arm, direction, torque);
  mat_apply(node->inverse_inertia, torque, spin);
  for (int axis = 0; axis < 3; ++axis)
    sum += (double)(t->weight * t->weight) * node->inverse_mass[axis] * direction[axis] * direction[axis];
  return sum + vec_dot(torque, spin);
}

// The mean over the tangent plane: half of trace minus normal part in 3D, the other direction in 2D.
static double mean_slip(const FloNode *node, int dim, const FloTouch *t, const float normal[3]) {
  double n[3] = {(double)normal[0], (double)normal[1], (double)normal[2]}, sum = 0;
  for (int axis = 0; axis < dim; ++axis) {
    double unit[3] = {axis == 0, axis == 1, axis == 2};
    sum += slip_along(node, t, unit);
  }
  return fmax((sum - slip_along(node, t, n)) / (dim - 1), 0);
}

// Relative angular velocity, seen through the touch, per unit of angular impulse; the mean over the axes.
static double mean_spin(const FloNode *node, int dim, const FloTouch *t) {
  const double *inverse = node->inverse_inertia;
  double trace = inverse[0] + inverse[4] + inverse[8];
  return (double)(t->weight * t->weight) * trace / (dim == 3 ? 3 : 1);
}

static void weigh_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const int dim = ((const Meetings *)context)->world->def.dim;
  const FloMonolithic *mono = ((const Meetings *)context)->mono;
  for (size_t k = begin; k < end; ++k) {
    FloTouch *t = &mono->touches[k];
    const FloNode *node = mono->partners[t->node].node;
    t->response = (float)response_of(node, t->j);
    if (t->row < mono->n_fluid) continue;
    t->slip = (float)mean_slip(node, dim, t, mono->contacts[t->row - mono->n_fluid].normal);
    t->spin = (float)mean_spin(node, dim, t);
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
      mono->partners[t->node].fluid_load += scale * (double)t->response / diagonal;
      mono->partners[t->node].has_fluid = true;
    }
    mono->touches[main].is_main = true;
  }
}

// ---- By nodes ----

static FloLoad load_of(const FloTouch *t) {
  return (FloLoad){.row = t->row,
                   .j = {t->j[0], t->j[1], t->j[2], t->j[3], t->j[4], t->j[5]},
                   .weight = t->weight,
                   .arm = {t->arm[0], t->arm[1], t->arm[2]}};
}

static FloStatus reserve_order(FloWorld *world, FloMonolithic *mono, FloError *error) {
  size_t n_nodes = world->nodes.count, n = mono->n_touches, most_chunks = n / CHUNK_TOUCHES + n_nodes + 1;
  FLO_TRY(reserve(world, mono, FLO_BUFFER_ORDER, (n + n_nodes + 2) * 4, 0, error));
  FLO_TRY(reserve(world, mono, FLO_BUFFER_CHUNKS, most_chunks * sizeof(FloTouchChunk), 0, error));
  FLO_TRY(
      reserve(world, mono, FLO_BUFFER_CHUNK_SUMS, most_chunks * FLO_CHUNK_SUMS * sizeof(double), 0, error));
  FLO_TRY(reserve(world, mono, FLO_BUFFER_LOADS, n * sizeof(FloLoad), 0, error));
  mono->touch_order = mono->buffers[FLO_BUFFER_ORDER].data;
  mono->chunks = mono->buffers[FLO_BUFFER_CHUNKS].data;
  mono->chunk_sums = mono->buffers[FLO_BUFFER_CHUNK_SUMS].data;
  mono->loads = mono->buffers[FLO_BUFFER_LOADS].data;
  return FLO_OK;
}

static FloStatus sort_touches(FloWorld *world, FloMonolithic *mono, FloError *error) {
  size_t n_nodes = world->nodes.count, n = mono->n_touches;
  FLO_TRY(reserve_order(world, mono, error));
  uint32_t *next = mono->touch_order + n; // where the next touch of a node goes
  for (size_t k = 0; k <= n_nodes; ++k) next[k] = 0;
  for (size_t k = 0; k < n; ++k) next[mono->touches[k].node + 1]++;
  for (size_t k = 0; k < n_nodes; ++k) next[k + 1] += next[k];
  mono->n_chunks = 0;
  for (uint32_t node = 0; node < n_nodes; ++node)
    for (uint32_t begin = next[node]; begin < next[node + 1]; begin += CHUNK_TOUCHES) {
      uint32_t end = begin + CHUNK_TOUCHES < next[node + 1] ? begin + CHUNK_TOUCHES : next[node + 1];
      mono->chunks[mono->n_chunks++] = (FloTouchChunk){begin, end, node};
    }
  for (size_t k = 0; k < n; ++k) mono->touch_order[next[mono->touches[k].node]++] = (uint32_t)k;
  for (size_t k = 0; k < n; ++k) mono->loads[k] = load_of(&mono->touches[mono->touch_order[k]]);
  return FLO_OK;
}

static FloStatus start_partners(FloWorld *world, FloMonolithic *mono, FloError *error) {
  size_t n = world->nodes.count;
  FLO_TRY(reserve(world, mono, FLO_BUFFER_PARTNERS, (n + 1) * sizeof(FloPartner), 0, error));
  FLO_TRY(reserve(world, mono, FLO_BUFFER_WRENCHES, 6 * (n + 1) * sizeof(double), 0, error));
  mono->partners = mono->buffers[FLO_BUFFER_PARTNERS].data;
  mono->wrenches = mono->buffers[FLO_BUFFER_WRENCHES].data;
  for (size_t k = 0; k < n; ++k)
    mono->partners[k] = (FloPartner){.node = flo_node_at(world, k), .n_shared = -1};
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
