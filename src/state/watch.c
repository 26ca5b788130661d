// Bodies in impossible places: inside each other, between walls that leave no room for them, or below all
// walls. Overlaps are searched when the host asks. The other two are logged once each time they happen.
#include "base/vecmath.h"
#include "state/state.h"

// ---- Overlaps ----

// Smaller overlaps, in spacings, are no fault: bodies rest on each other with about this overlap, and the
// distance to a mesh is not known better.
#define OVERLAP_LEAST 0.25

static bool is_near(const FloWorld *world, const FloBody *a, const FloBody *b) {
  double image[3], between[3], reach = a->reach + b->reach;
  flo_world_nearest_image(world, a->state.pose.position, b->state.pose.position, image);
  vec_sub(image, a->state.pose.position, between);
  return vec_dot(between, between) < reach * reach;
}

// How deep balls around the samples of `body`, which just fit into it, reach into `other`.
static double depth_in(const FloWorld *world, const FloBody *body, const FloBody *other) {
  const FloParticles *set = &world->sets[body->kind->set];
  double deepest = 0;
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    const double x[3] = {set->x[i], set->y[i], set->z[i]};
    double away = flo_world_distance(world, other, x);
    if (away < other->reach) deepest = fmax(deepest, -flo_world_distance(world, body, x) - away);
  }
  return deepest;
}

double flo_world_overlap(const FloWorld *world, const FloBody *a, const FloBody *b) {
  if (!is_near(world, a, b)) return 0;
  return fmax(depth_in(world, a, b), depth_in(world, b, a));
}

FloStatus flo_world_refuse_overlaps(const FloWorld *world, FloError *error) {
  const FloBody *bodies = flo_bodies(world);
  double s = world->def.spacing;
  for (size_t k = 0; k < world->bodies.count; ++k)
    for (size_t j = 0; j < k; ++j) {
      // Walls may overlap each other.
      if (!flo_body_is_pushed(&bodies[j]) && !flo_body_is_pushed(&bodies[k])) continue;
      double overlap = flo_world_overlap(world, &bodies[j], &bodies[k]);
      if (overlap > OVERLAP_LEAST * s)
        return flo_fail(error, FLO_BAD_INPUT,
                        "'%s' and '%s' overlap by %.3g m (%.2g spacings); move them apart, or let them be "
                        "pushed apart with \"overlaps\": \"separate\"",
                        bodies[j].name, bodies[k].name, overlap, overlap / s);
    }
  return FLO_OK;
}

// ---- Squeezed bodies ----

enum { MAX_PRESSES = 64 };

// A wall that overlaps the body, and the direction in which it pushes the body.
typedef struct Press {
  const FloBody *wall;
  double direction[3], depth;
} Press;

typedef struct Presses {
  size_t count;
  Press list[MAX_PRESSES];
} Presses;

static size_t shallowest_press(const Presses *presses) {
  size_t shallowest = 0;
  for (size_t k = 1; k < presses->count; ++k)
    if (presses->list[k].depth < presses->list[shallowest].depth) shallowest = k;
  return shallowest;
}

// Keeps the deepest press of each wall for each approximate direction. If the list is full, keeps the deepest
// of all.
static void note_press(Presses *presses, const FloBody *wall, const double direction[3], double depth) {
  size_t k = 0;
  while (k < presses->count &&
         (presses->list[k].wall != wall || vec_dot(presses->list[k].direction, direction) < 0.8))
    ++k;
  if (k == MAX_PRESSES) k = shallowest_press(presses);
  if (k < presses->count && presses->list[k].depth >= depth) return;
  if (k == presses->count) ++presses->count;
  presses->list[k] = (Press){.wall = wall, .depth = depth};
  vec_copy(direction, presses->list[k].direction);
}

// A sample inside a wall means that body and wall overlap by more than half a spacing.
static void press_sample(const FloWorld *world, size_t i, Presses *presses) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_BOUNDARY);
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[i / FLO_BLOCK];
  const double x[3] = {rigid->x[i], rigid->y[i], rigid->z[i]};
  const FloBody *last = NULL;
  for (int32_t k = 0; k < pairs->row_count[i]; ++k) {
    size_t column = (size_t)slots[k].index[i % FLO_BLOCK];
    const FloBody *wall = &flo_bodies(world)[world->sets[FLO_SET_BOUNDARY].body[column]];
    if (wall == last) continue;
    last = wall;
    double depth = -flo_world_distance(world, wall, x), direction[3];
    if (!(depth > 0)) continue;
    flo_world_normal(world, wall, x, direction);
    note_press(presses, wall, direction, depth + world->def.spacing / 2);
  }
}

static bool is_moving(const FloBody *wall) {
  return vec_length(wall->state.velocity) > 0 || vec_length(wall->state.angular_velocity) > 0;
}

// Finds two walls that push in opposite directions, at least one of which moves.
static bool find_squeeze(const Presses *presses, const Press *pair[2]) {
  for (size_t a = 0; a < presses->count; ++a)
    for (size_t b = 0; b < a; ++b) {
      pair[0] = &presses->list[b], pair[1] = &presses->list[a];
      if (vec_dot(pair[0]->direction, pair[1]->direction) > -0.7) continue;
      if (is_moving(pair[0]->wall) || is_moving(pair[1]->wall)) return true;
    }
  return false;
}

static void watch_squeeze(const FloWorld *world, FloBody *body) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_BOUNDARY);
  Presses presses = {0};
  const Press *pair[2];
  for (size_t i = body->first; i < body->first + body->count; ++i)
    if (pairs->row_count[i] > 0) press_sample(world, i, &presses);
  bool was_squeezed = body->is_squeezed;
  body->is_squeezed = find_squeeze(&presses, pair);
  if (!body->is_squeezed || was_squeezed) return;
  flo_world_log(world, FLO_LOG_WARNING,
                "at %.4g s '%s' is squeezed between '%s' and '%s', which leave it %.2g m less room than it "
                "needs: it sinks into them; let their motions end earlier or make room for it",
                world->time, body->name, pair[0]->wall->name, pair[1]->wall->name,
                pair[0]->depth + pair[1]->depth);
}

// ---- Bodies that have fallen past all walls ----

bool flo_world_is_body_lost(const FloWorld *world, const FloBody *body) {
  double g = vec_length(world->def.gravity), highest[3];
  if (!flo_body_is_pushed(body) || g == 0) return false;
  vec_add_scaled(body->state.pose.position, world->def.gravity, -body->reach / g, highest);
  return flo_world_is_lost(world, highest);
}

static void watch_fall(const FloWorld *world, FloBody *body) {
  if (body->is_lost || !flo_world_is_body_lost(world, body)) return;
  body->is_lost = true;
  const double *x = body->state.pose.position;
  flo_world_log(world, FLO_LOG_WARNING,
                "at %.4g s '%s' has fallen past all walls, at (%.4g, %.4g, %.4g): nothing will stop it",
                world->time, body->name, x[0], x[1], x[2]);
}

static bool has_moving_walls(const FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (flo_body_is_led(&flo_bodies(world)[k]) && is_moving(&flo_bodies(world)[k])) return true;
  return false;
}

// Whether the wall neighbours of the samples of bodies are known.
static bool has_wall_neighbours(const FloWorld *world) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_RIGID, FLO_SET_BOUNDARY);
  return flo_world_has_lists(world) && pairs->n_rows == world->sets[FLO_SET_RIGID].count;
}

void flo_world_watch_bodies(FloWorld *world) {
  bool can_squeeze = has_moving_walls(world) && has_wall_neighbours(world);
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (!flo_body_is_pushed(body)) continue;
    if (can_squeeze && body->kind->set == FLO_SET_RIGID) watch_squeeze(world, body);
    watch_fall(world, body);
  }
}
