// Bodies in impossible places: inside each other, between walls that leave no room for them, or below all
// walls. Overlaps are searched when the host asks. The other two are logged once each time they happen.
#include "bodies/presses.h"
#include "state/state.h"

// ---- Overlaps ----

// Smaller overlaps, in spacings, are no fault: bodies rest on each other with about this overlap, and the
// distance to a mesh is not known better.
#define OVERLAP_LEAST 0.25

static bool is_near(const FloWorld *world, const FloBody *a, const FloBody *b) {
  double between[3], reach = a->reach + b->reach;
  flo_domain_between(&world->domain, a->state.pose.position, b->state.pose.position, between);
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
      if (flo_world_is_passing(world, (uint32_t)j, (uint32_t)k)) continue;
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

// A sample inside a wall means that body and wall overlap by more than half a spacing.
static void press_sample(const FloWorld *world, size_t i, FloPresses *presses) {
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  const double x[3] = {rigid->x[i], rigid->y[i], rigid->z[i]};
  for (FloNearBody near = {0}; flo_near_next_in(world, FLO_SET_RIGID, FLO_SET_BOUNDARY, i, &near);) {
    const FloBody *wall = &flo_bodies(world)[near.body];
    double depth = -flo_world_distance(world, wall, x), direction[3];
    if (!(depth > 0)) continue;
    flo_world_normal(world, wall, x, direction);
    flo_presses_note(presses, wall, direction, depth + world->def.spacing / 2);
  }
}

static void watch_squeeze(const FloWorld *world, FloBody *body) {
  FloPresses presses = {0};
  const FloPress *pair[2];
  for (size_t i = body->first; i < body->first + body->count; ++i) press_sample(world, i, &presses);
  bool was_squeezed = body->is_squeezed;
  body->is_squeezed = flo_presses_find_squeeze(&presses, pair);
  if (!body->is_squeezed || was_squeezed) return;
  const int first = pair[1]->wall < pair[0]->wall; // of the two walls, the one that was added first
  flo_world_log(world, FLO_LOG_WARNING,
                "at %.4g s '%s' is squeezed between '%s' and '%s', which leave it %.2g m less room than it "
                "needs: it sinks into them; let their motions end earlier or make room for it",
                world->time, body->name, pair[first]->wall->name, pair[1 - first]->wall->name,
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
    if (flo_body_is_led(&flo_bodies(world)[k]) && flo_body_has_speed(&flo_bodies(world)[k])) return true;
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
    if (can_squeeze && body->kind->set == FLO_SET_RIGID && !flo_body_is_soft(body))
      watch_squeeze(world, body);
    watch_fall(world, body);
  }
}
