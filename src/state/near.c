// Finds solids near a point and near a fluid particle.
#include "state/state.h"

// ---- Near a point ----

static double distance_between(const FloWorld *world, const double a[3], const double b[3]) {
  double between[3];
  flo_domain_between(&world->domain, a, b, between);
  return vec_length(between);
}

bool flo_world_is_beyond(const FloWorld *world, const FloBody *body, const double x[3], double clearance) {
  return distance_between(world, body->state.pose.position, x) > body->reach + fmax(clearance, 0);
}

static void look_around(const FloWorld *world, const double x[3], double clearance, FloSolidsNear *near) {
  *near = (FloSolidsNear){.radius = 10 * world->def.spacing};
  vec_copy(x, near->centre);
  for (size_t k = 0; k < world->bodies.count; ++k) {
    if (flo_world_is_beyond(world, &flo_bodies(world)[k], x, fmax(clearance, 0) + near->radius)) continue;
    near->has_overflow = near->count == FLO_COUNT_OF(near->bodies);
    if (near->has_overflow) return;
    near->bodies[near->count++] = (uint32_t)k;
  }
}

bool flo_world_is_in_solid(const FloWorld *world, const double x[3], double clearance, FloSolidsNear *near) {
  if (!(distance_between(world, near->centre, x) < near->radius)) look_around(world, x, clearance, near);
  size_t n = near->has_overflow ? world->bodies.count : near->count;
  for (size_t k = 0; k < n; ++k) {
    const FloBody *body = &flo_bodies(world)[near->has_overflow ? k : near->bodies[k]];
    if (flo_world_is_beyond(world, body, x, clearance)) continue;
    if (flo_world_distance(world, body, x) < clearance) return true;
  }
  return false;
}

// ---- Near a fluid particle ----

FloParticles *flo_world_find_sample(const FloWorld *world, size_t sample, size_t *index) {
  FloParticles *sets = (FloParticles *)world->sets;
  size_t n_walls = sets[FLO_SET_BOUNDARY].count;
  *index = sample < n_walls ? sample : sample - n_walls;
  return &sets[sample < n_walls ? FLO_SET_BOUNDARY : FLO_SET_RIGID];
}

FloBody *flo_world_body_of(const FloWorld *world, size_t sample) {
  size_t index;
  const FloParticles *set = flo_world_find_sample(world, sample, &index);
  return &flo_bodies(world)[set->body[index]];
}

// The samples that a particle lists.
typedef struct Listed {
  const FloPairSlot *slots;
  size_t lane;
  int32_t count;
  const uint32_t *bodies; // body of each sample of the set
} Listed;

static Listed listed_in(const FloWorld *world, FloSet rows, FloSet columns, size_t i) {
  const FloPairs *pairs = flo_pairs_of(world, rows, columns);
  Listed listed = {.lane = i % FLO_BLOCK, .bodies = world->sets[columns].body};
  if (i >= pairs->n_rows || pairs->slot_count[i / FLO_BLOCK] == 0) return listed;
  listed.slots = pairs->slots + pairs->slot_begin[i / FLO_BLOCK];
  listed.count = pairs->row_count[i];
  return listed;
}

static size_t sample_at(const Listed *listed, int32_t k) {
  return (size_t)listed->slots[k].index[listed->lane];
}

static uint32_t body_at(const Listed *listed, int32_t k) { return listed->bodies[sample_at(listed, k)]; }

static float steepness_at(const Listed *listed, int32_t k) {
  const FloPairSlot *slot = &listed->slots[k];
  float x = slot->gx[listed->lane], y = slot->gy[listed->lane], z = slot->gz[listed->lane];
  return x * x + y * y + z * z;
}

// Whether no earlier entry belongs to the same body.
static bool is_first(const Listed *listed, int32_t k) {
  uint32_t body = body_at(listed, k);
  for (int32_t earlier = k; earlier-- > 0;)
    if (body_at(listed, earlier) == body) return false;
  return true;
}

// Takes the steepest entry of this body, from entry k on. Samples just outside the support also count: a
// particle may reach them before the lists are made again.
static void take_steepest(const Listed *listed, int32_t k, size_t offset, FloNearBody *near) {
  near->body = body_at(listed, k);
  near->sample = offset + sample_at(listed, k), near->steepness = steepness_at(listed, k);
  for (int32_t later = k + 1; later < listed->count; ++later) {
    if (body_at(listed, later) != near->body) continue;
    float steepness = steepness_at(listed, later);
    if (steepness > near->steepness)
      near->sample = offset + sample_at(listed, later), near->steepness = steepness;
  }
}

bool flo_near_next_in(const FloWorld *world, FloSet rows, FloSet columns, size_t i, FloNearBody *near) {
  const Listed listed = listed_in(world, rows, columns, i);
  size_t offset = columns == FLO_SET_BOUNDARY ? 0 : world->sets[FLO_SET_BOUNDARY].count;
  for (; near->next < listed.count; ++near->next) {
    if (!is_first(&listed, near->next)) continue;
    take_steepest(&listed, near->next++, offset, near);
    return true;
  }
  return false;
}

bool flo_near_next(const FloWorld *world, size_t i, FloNearBody *near) {
  if (!near->is_past_walls) {
    if (flo_near_next_in(world, FLO_SET_FLUID, FLO_SET_BOUNDARY, i, near)) return true;
    near->is_past_walls = true, near->next = 0;
  }
  return flo_near_next_in(world, FLO_SET_FLUID, FLO_SET_RIGID, i, near);
}

bool flo_world_is_near_solids(const FloWorld *world, size_t i) {
  const FloPairs *rigid = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID),
                 *walls = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_BOUNDARY);
  size_t block = i / FLO_BLOCK;
  return (i < rigid->n_rows && rigid->slot_count[block] > 0) || walls->slot_count[block] > 0;
}
