// Pins: vertices of soft bodies that are fixed to the world or to other bodies.
#include "base/pose.h"
#include "bodies/soft_body.h"

#include <stdio.h>
#include <string.h>

// ---- Which vertices ----

typedef struct Choice {
  const FloBody *body;
  const FloPinDef *def;
  const double *low, *high; // corners of the box around the body in its own frame
  size_t nearest;           // vertex nearest to the point of the definition
} Choice;

static bool is_in_box(const double x[3], const double low[3], const double high[3]) {
  for (int axis = 0; axis < 3; ++axis)
    if (!(x[axis] >= low[axis] && x[axis] <= high[axis])) return false;
  return true;
}

// A corner of a sheet is at the end of both its axes; of a line, at the end of its axis.
static bool is_corner(const Choice *choice, size_t vertex) {
  double local[3];
  pose_to_local(&choice->body->start, flo_soft_body(choice->body)->x + 3 * vertex, local);
  for (int axis = 0; axis < 2; ++axis) {
    const double room = 1e-6 * (choice->high[axis] - choice->low[axis]);
    if (local[axis] > choice->low[axis] + room && local[axis] < choice->high[axis] - room) return false;
  }
  return true;
}

static bool is_chosen(const Choice *choice, size_t vertex) {
  const FloSoftBody *own = flo_soft_body(choice->body);
  switch (choice->def->place) {
  case FLO_PIN_BOX:
    return is_in_box(own->x + 3 * vertex, choice->def->low, choice->def->high);
  case FLO_PIN_CORNERS:
    return is_corner(choice, vertex);
  case FLO_PIN_BORDER:
    return own->is_border[vertex];
  case FLO_PIN_NEAREST:
    return vertex == choice->nearest;
  }
  return false;
}

static size_t nearest_vertex(const FloSoftBody *own, const double x[3]) {
  size_t nearest = 0;
  double least = INFINITY, way[3];
  for (size_t k = 0; k < own->n; ++k) {
    vec_sub(own->x + 3 * k, x, way);
    if (vec_dot(way, way) < least) least = vec_dot(way, way), nearest = k;
  }
  return nearest;
}

static void find_extent(const FloBody *body, double low[3], double high[3]) {
  const FloSoftBody *own = flo_soft_body(body);
  vec_set(low, INFINITY, INFINITY, INFINITY);
  vec_set(high, -INFINITY, -INFINITY, -INFINITY);
  for (size_t k = 0; k < own->n; ++k) {
    double local[3];
    pose_to_local(&body->start, own->x + 3 * k, local);
    for (int axis = 0; axis < 3; ++axis)
      low[axis] = fmin(low[axis], local[axis]), high[axis] = fmax(high[axis], local[axis]);
  }
}

// ---- Making ----

static bool is_there(const FloBodyMaking *making, FloBodyId id) {
  if (id.index >= making->n_bodies) return false;
  const FloBody *body = &making->bodies[id.index];
  return body->generation == id.generation && !flo_body_is_removed(body);
}

static FloStatus check_pin(const FloBody *body, const FloPinDef *def, size_t number,
                           const FloBodyMaking *making, FloError *error) {
  if (!vec_is_finite(def->low) || !vec_is_finite(def->high) || !(def->release >= 0) ||
      !(def->break_load >= 0))
    return flo_fail(error, FLO_BAD_INPUT,
                    "pin %zu: places must be finite, and release and break_load must be >= 0", number);
  if (def->to.generation && !is_there(making, def->to))
    return flo_fail(error, FLO_BAD_INPUT, "pin %zu: there is no such body to pin it to; add that body first",
                    number);
  if (def->to.generation && flo_body_is_soft(&making->bodies[def->to.index]))
    return flo_fail(error, FLO_BAD_INPUT,
                    "pin %zu: '%s' changes its shape; pin it to a rigid body, a boundary or the world",
                    number, making->bodies[def->to.index].name);
  if ((def->place == FLO_PIN_CORNERS || def->place == FLO_PIN_BORDER) && !body->is_thin)
    return flo_fail(error, FLO_BAD_INPUT,
                    "pin %zu: only a cloth has corners and a border; pin a solid by a box or a point",
                    number);
  if (def->clamps && !body->is_thin)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "pin %zu: only a cloth can be clamped; pin more vertices of a solid, for example by a box", number);
  return FLO_OK;
}

// All vertices that the definition names have pins already; `taken` is one of these.
static FloStatus fail_taken(const FloBody *body, size_t taken, size_t number, FloError *error) {
  const FloSoftBody *own = flo_soft_body(body);
  size_t k = 0;
  while (own->pins[k].vertex != taken) ++k;
  return flo_fail(error, FLO_BAD_INPUT,
                  "pin %zu: all these vertices of '%s' are pinned already by pin %u%s; leave pin %zu out, or "
                  "put it before",
                  number, body->name, own->pins[k].group, number > 1 ? " and perhaps others" : "", number);
}

static FloStatus fail_empty(const FloBody *body, const FloPinDef *def, size_t number, FloError *error) {
  const FloSoftBody *own = flo_soft_body(body);
  double middle[3];
  vec_add(def->low, def->high, middle);
  vec_scale(middle, 0.5, middle);
  if (def->place == FLO_PIN_BORDER)
    return flo_fail(error, FLO_BAD_INPUT, "pin %zu: '%s' is closed and has no border", number, body->name);
  const double *x = own->x + 3 * nearest_vertex(own, middle);
  return flo_fail(error, FLO_BAD_INPUT,
                  "pin %zu: the box holds no vertex of '%s'; the nearest is at (%.4g, %.4g, %.4g)", number,
                  body->name, x[0], x[1], x[2]);
}

static FloSoftPin describe_pin(const FloBody *body, const FloPinDef *def, size_t group, size_t vertex,
                               const FloBodyMaking *making) {
  const double *x = flo_soft_body(body)->x + 3 * vertex;
  FloSoftPin pin = {.vertex = (uint32_t)vertex, .group = (uint32_t)group, .other = FLO_TO_WORLD};
  pin.release = def->release > 0 ? def->release : INFINITY;
  pin.break_load = def->break_load > 0 ? def->break_load : INFINITY;
  vec_copy(x, pin.anchor);
  if (!def->to.generation) return pin;
  pin.other = def->to.index;
  pin.is_glued = flo_body_is_pushed(&making->bodies[pin.other]);
  pose_to_local(&making->bodies[pin.other].state.pose, x, pin.anchor);
  return pin;
}

// What is known about a vertex while pins are listed.
enum { FREE, PINNED, CHOSEN }; // CHOSEN: by the definition that is being read

typedef struct PinList {
  FloBody *body;
  const FloBodyDef *def;
  const FloBodyMaking *making;
  unsigned char *marks; // of each vertex
} PinList;

// Each vertex has at most one pin: the first that names it.
static void add_pin(const PinList *list, size_t group, size_t vertex) {
  FloSoftBody *own = flo_soft_body(list->body);
  if (list->marks[vertex] != FREE) return;
  list->marks[vertex] = PINNED;
  own->pins[own->n_pins++] = describe_pin(list->body, &list->def->pins[group], group, vertex, list->making);
}

// Returns the last vertex that the definition names, or NO_VERTEX.
#define NO_VERTEX SIZE_MAX
static size_t add_chosen(const PinList *list, size_t group) {
  const FloSoftBody *own = flo_soft_body(list->body);
  size_t last = NO_VERTEX;
  double low[3], high[3];
  find_extent(list->body, low, high);
  const FloPinDef *def = &list->def->pins[group];
  const Choice choice = {list->body, def, low, high, nearest_vertex(own, def->low)};
  for (size_t k = 0; k < own->n; ++k)
    if (is_chosen(&choice, k)) add_pin(list, group, k), last = k;
  return last;
}

// Vertices that share a triangle with a chosen one. The vertices of a cloth are those of its surface.
static void add_neighbours(const PinList *list, size_t group) {
  const FloSoftBody *own = flo_soft_body(list->body);
  const size_t end = own->n_pins;
  for (size_t k = 0; k < end; ++k)
    if (own->pins[k].group == group) list->marks[own->pins[k].vertex] = CHOSEN;
  for (size_t t = 0; t < own->surface.n_triangles; ++t) {
    const uint32_t *corners = flo_mesh_triangle(&own->surface, t);
    bool is_near = false;
    for (int k = 0; k < 3; ++k) is_near |= list->marks[corners[k]] == CHOSEN;
    for (int k = 0; is_near && k < 3; ++k) add_pin(list, group, corners[k]);
  }
  for (size_t k = 0; k < end; ++k) list->marks[own->pins[k].vertex] = PINNED;
}

FloStatus flo_soft_body_make_pins(FloBody *body, const FloBodyDef *def, const FloBodyMaking *making,
                                  FloError *error) {
  FloSoftBody *own = flo_soft_body(body);
  if (def->n_pins && !def->pins)
    return flo_fail(error, FLO_BAD_INPUT, "pins: is NULL, but there should be %zu", def->n_pins);
  FLO_TRY(flo_buffer_reserve_zeros(making->memory, &own->buffers[FLO_SOFT_PINS],
                                   (own->n + 1) * sizeof(FloSoftPin), error));
  FLO_TRY(flo_buffer_reserve_zeros(making->memory, &own->buffers[FLO_SOFT_PINS_ON],
                                   (own->n + 1) * sizeof(double), error));
  FLO_TRY(flo_buffer_reserve_zeros(making->memory, &own->buffers[FLO_SOFT_FLAGS], own->n + 1, error));
  own->pins = own->buffers[FLO_SOFT_PINS].data, own->pins_on = own->buffers[FLO_SOFT_PINS_ON].data;
  const PinList list = {body, def, making, own->buffers[FLO_SOFT_FLAGS].data};
  for (size_t k = 0; k < def->n_pins; ++k) {
    const size_t before = own->n_pins;
    FLO_TRY(check_pin(body, &def->pins[k], k, making, error));
    const size_t chosen = add_chosen(&list, k);
    if (chosen == NO_VERTEX) return fail_empty(body, &def->pins[k], k, error);
    if (own->n_pins == before) return fail_taken(body, chosen, k, error);
    if (def->pins[k].clamps) add_neighbours(&list, k);
  }
  for (size_t k = 0; k < own->n_pins; ++k) own->pins_on[k] = 1;
  return FLO_OK;
}

// ---- In a step ----

// Forces decide where a pin to a body that forces move goes; all others are led.
static bool is_fixing(const FloSoftPin *pin) { return !pin->is_glued; }

void flo_soft_body_begin_pins(FloBody *body, double time) {
  FloSoftBody *own = flo_soft_body(body);
  for (size_t k = 0; k < own->n_pins; ++k) {
    const FloSoftPin *pin = &own->pins[k];
    if (time >= pin->release) own->pins_on[k] = 0;
    flo_soft_fix(own->soft, pin->vertex, own->pins_on[k] != 0 && is_fixing(pin));
  }
}

void flo_soft_body_lead_pin(FloBody *body, size_t number, const double target[3], double dt) {
  FloSoftBody *own = flo_soft_body(body);
  const size_t vertex = own->pins[number].vertex;
  double *v = own->v + 3 * vertex;
  vec_sub(target, own->x + 3 * vertex, v);
  vec_scale(v, 1 / dt, v);
  vec_copy(v, own->nodes[vertex].velocity);
}

void flo_soft_body_load_pin(FloBody *body, size_t number, const double load[3]) {
  FloSoftBody *own = flo_soft_body(body);
  vec_copy(load, own->pins[number].load);
}

void flo_soft_body_break_pins(FloBody *body) {
  FloSoftBody *own = flo_soft_body(body);
  for (size_t k = 0; k < own->n_pins; ++k)
    if (vec_length(own->pins[k].load) > own->pins[k].break_load) own->pins_on[k] = 0;
}

void flo_soft_body_end_pins(FloBody *body, double dt) {
  FloSoftBody *own = flo_soft_body(body);
  for (size_t k = 0; k < own->n_pins; ++k) {
    const FloSoftPin *pin = &own->pins[k];
    if (own->pins_on[k] == 0 || !is_fixing(pin)) continue;
    double load[3];
    flo_soft_reaction(own->soft, pin->vertex, load);
    vec_scale(load, 1 / dt, load);
    flo_soft_body_load_pin(body, k, load);
  }
}

bool flo_soft_is_glued_to(const FloSoftBody *own, size_t vertex, uint32_t other) {
  for (size_t k = 0; k < own->n_pins; ++k)
    if (own->pins[k].is_glued && own->pins[k].vertex == vertex && own->pins[k].other == other)
      return own->pins_on[k] != 0;
  return false;
}

void flo_soft_body_unpin(FloBody *body, uint32_t group) {
  FloSoftBody *own = flo_soft_body(body);
  for (size_t k = 0; k < own->n_pins; ++k)
    if (group == FLO_ALL_PINS || own->pins[k].group == group) own->pins_on[k] = 0;
}

void flo_soft_body_state(const FloBody *body, FloSoftState *state) {
  const FloSoftBody *own = flo_soft_body(body);
  FloBodyMeasure measure = {0};
  flo_soft_body_measure(body, (const double[3]){0}, &measure);
  *state = (FloSoftState){.kinetic_energy = measure.kinetic_energy,
                          .elastic_energy = measure.potential_energy,
                          .n_samples = body->count};
  for (size_t k = 0; k < own->n_pins; ++k) {
    if (own->pins_on[k] == 0) continue;
    state->n_pins++;
    if (is_fixing(&own->pins[k])) vec_add(state->pull, own->pins[k].load, state->pull);
    state->largest_load = fmax(state->largest_load, vec_length(own->pins[k].load));
  }
}
