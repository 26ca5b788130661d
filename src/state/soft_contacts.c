// Where soft bodies touch bodies that keep their shape: a point for each node of their own surface. The
// other bodies may also touch between the nodes (soft_faces.h).
//
// Samples lie below the surface of a soft body, and come and go. Its nodes stay, so a node finds its contact
// of the last step again. The surface of a cloth is half its thickness from its nodes.
#include "base/parallel.h"
#include "bodies/soft_body.h"
#include "state/state.h"

// Points with a gap below this, in spacings, count besides those that the motion of a step may close. It is
// larger than for bodies that keep their shape, since elastic forces may hurl a node within the step.
#define MARGIN 0.25

// A pair of bodies; the first is soft.
typedef struct Search {
  const FloWorld *world;
  uint32_t body, other;
  double dt;
  FloContactPoint *slots; // one for each node
} Search;

// ---- A node and a body ----

static bool is_on_surface(const FloSoftBody *own, size_t node) {
  return !own->is_on_surface || own->is_on_surface[node];
}

static double margin_of(const Search *search, const FloNode *node) {
  const FloWorld *world = search->world;
  const double speed = vec_length(node->velocity) + search->dt * vec_length(world->def.gravity);
  return MARGIN * world->def.spacing + search->dt * speed +
         flo_world_way_of(world, &flo_bodies(world)[search->other], search->dt);
}

// The surface of the other body as the node sees it. False if it is too far away to matter.
static bool see_surface(const Search *search, size_t number, FloContactPoint *point) {
  const FloBody *body = &flo_bodies(search->world)[search->body],
                *other = &flo_bodies(search->world)[search->other];
  const FloSoftBody *own = flo_soft_body(body);
  const FloNode *node = &body->nodes[number];
  const double margin = margin_of(search, node);
  if (!is_on_surface(own, number)) return false;
  if (flo_world_is_beyond(search->world, other, node->position, margin + own->half_thickness)) return false;
  if (flo_world_distance(search->world, other, node->position) > margin + own->half_thickness) return false;
  point->gap =
      flo_world_sharp_surface(search->world, other, node->position, point->normal) - own->half_thickness;
  return point->gap < margin && vec_dot(point->normal, point->normal) > 0.5 &&
         !flo_soft_is_glued_to(own, number, search->other);
}

// Both bodies are pushed at the node itself. So a pair of forces has no torque, however thick the cloth is.
static bool find_point(const Search *search, size_t number, FloContactPoint *point) {
  const FloBody *body = &flo_bodies(search->world)[search->body];
  *point = (FloContactPoint){.body = search->body,
                             .other = search->other,
                             .body_sample = FLO_NO_SAMPLE,
                             .other_sample = FLO_NO_SAMPLE,
                             .hold = {.count = 1, .nodes = {(uint32_t)number}, .shares = {1}}};
  if (!see_surface(search, number, point)) return false;
  vec_copy(body->nodes[number].position, point->x);
  point->key = flo_contact_key(search->world, point);
  point->bend = -flo_contact_bend(search->world, point, search->other, search->dt);
  return true;
}

static void node_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Search *search = context;
  for (size_t k = begin; k < end; ++k)
    if (!find_point(search, k, &search->slots[k])) search->slots[k].hold.count = 0;
}

// ---- Pairs of bodies ----

// The largest margin of any node.
static double largest_margin(const Search *search) {
  const FloBody *body = &flo_bodies(search->world)[search->body];
  double largest = 0;
  for (size_t k = 0; k < body->n_nodes; ++k) largest = fmax(largest, margin_of(search, &body->nodes[k]));
  return largest;
}

static bool may_touch(const Search *search, double margin) {
  const FloWorld *world = search->world;
  const FloBody *body = &flo_bodies(world)[search->body], *other = &flo_bodies(world)[search->other];
  if (flo_body_is_soft(other) || other->kind->carry) return false;
  if (flo_world_is_passing(world, search->body, search->other)) return false;
  const double room = body->reach + flo_soft_body(body)->half_thickness + margin;
  return !flo_world_is_beyond(world, other, body->state.pose.position, room);
}

// Room for a point of each node behind the points that there are; then those without a contact are left out.
static FloStatus add_pair(FloWorld *world, Search *search, FloError *error) {
  FloList *points = &world->body_contacts.points;
  const size_t n = flo_bodies(world)[search->body].n_nodes, before = points->count;
  FLO_TRY(flo_world_reserve_contacts(world, before + n, before, error));
  search->slots = FLO_LIST(*points, FloContactPoint) + before;
  flo_parallel_for(world->threads, n, 64, node_range, search);
  for (size_t k = 0; k < n; ++k)
    if (search->slots[k].hold.count > 0)
      FLO_LIST(*points, FloContactPoint)[points->count++] = search->slots[k];
  return FLO_OK;
}

// ---- Pins to bodies that forces move ----

static FloContactPoint glue(const FloWorld *world, uint32_t body, uint32_t number) {
  const FloSoftPin *pin = &flo_soft_body(&flo_bodies(world)[body])->pins[number];
  const FloPose *pose = &flo_bodies(world)[pin->other].state.pose;
  FloContactPoint point = {.body = body,
                           .other = pin->other,
                           .body_sample = FLO_NO_SAMPLE,
                           .other_sample = FLO_NO_SAMPLE,
                           .hold = {.count = 1, .nodes = {pin->vertex}, .shares = {1}},
                           .is_glued = true,
                           .pin = number};
  double arm[3], place[3];
  vec_copy(flo_bodies(world)[body].nodes[pin->vertex].position, point.x);
  quat_rotate(pose->rotation, pin->anchor, arm);
  vec_add(pose->position, arm, place);
  flo_domain_between(&world->domain, place, point.x, point.away);
  point.key = flo_contact_key(world, &point);
  return point;
}

static FloStatus add_pins(FloWorld *world, uint32_t body, FloError *error) {
  FloList *points = &world->body_contacts.points;
  const FloSoftBody *own = flo_soft_body(&flo_bodies(world)[body]);
  FLO_TRY(flo_world_reserve_contacts(world, points->count + own->n_pins, points->count, error));
  for (size_t k = 0; k < own->n_pins; ++k)
    if (own->pins[k].is_glued && own->pins_on[k] != 0)
      FLO_LIST(*points, FloContactPoint)[points->count++] = glue(world, body, (uint32_t)k);
  return FLO_OK;
}

static FloStatus add_pairs(FloWorld *world, uint32_t body, double dt, FloError *error) {
  for (uint32_t other = 0; other < world->bodies.count; ++other) {
    Search search = {.world = world, .body = body, .other = other, .dt = dt};
    const double margin = largest_margin(&search);
    if (!may_touch(&search, margin)) continue;
    FLO_TRY(add_pair(world, &search, error));
    FLO_TRY(flo_world_add_soft_faces(world, body, other, dt, margin, error));
  }
  return FLO_OK;
}

FloStatus flo_world_add_soft_contacts(FloWorld *world, double dt, FloError *error) {
  for (uint32_t body = 0; body < world->bodies.count; ++body) {
    if (!flo_body_is_soft(&flo_bodies(world)[body])) continue;
    FLO_TRY(add_pairs(world, body, dt, error));
    FLO_TRY(add_pins(world, body, error));
  }
  return FLO_OK;
}

// ---- The wall's side ----

void flo_contact_push_wall(const FloWorld *world, const FloContactPoint *point, const double push[3],
                           float *forces) {
  FloBody *wall = &flo_bodies(world)[point->other];
  double arm[3], turn[3];
  if (point->other_sample != FLO_NO_SAMPLE) {
    for (size_t axis = 0; axis < 3; ++axis) forces[4 * point->other_sample + axis] += (float)push[axis];
    return;
  }
  flo_domain_between(&world->domain, wall->state.pose.position, point->x, arm);
  vec_cross(arm, push, turn);
  vec_add(wall->touched, push, wall->touched);
  vec_add(wall->touched + 3, turn, wall->touched + 3);
}
