// Notes about fluid and bodies that nothing holds. The lowest particle of every column and the samples of
// every body are followed on their way down.
#include "base/pose.h"
#include "base/vecmath.h"
#include "io/advice_parts.h"
#include "state/state.h"

#include <math.h>
#include <stdlib.h>

// A particle nearer than this to a solid, in spacings, meets it. Fluid beside a wall is farther away.
#define MET 0.3

// The distance that a particle can move without meeting the body; 0: it has met it. Distances to meshes are
// exact only near them.
static double room_before(const FloWorld *world, const FloSolid *solid, double distance) {
  double s = world->def.spacing;
  if (distance < MET * s) return 0;
  return fmax(solid->has_mesh ? fmin(distance, s) : distance, 0.25 * s);
}

static double room_before_body(const FloWorld *world, const FloBody *body, const double x[3]) {
  double between[3];
  flo_domain_between(&world->domain, body->state.pose.position, x, between);
  double away = vec_length(between) - body->reach;
  if (away > world->def.spacing) return away;
  return room_before(world, body->solid, flo_world_distance(world, body, x));
}

static double room_before_sink(const FloWorld *world, const FloSink *sink, const double x[3]) {
  double image[3], local[3];
  flo_world_nearest_image(world, sink->def.pose.position, x, image);
  pose_to_local(&sink->def.pose, image, local);
  return room_before(world, sink->solid, flo_solid_distance(sink->solid, local));
}

static double room_at(const FloFall *fall, const double x[3]) {
  const FloWorld *world = fall->world;
  double room = INFINITY;
  for (size_t k = 0; k < world->bodies.count && room > 0; ++k)
    if (&flo_bodies(world)[k] != fall->faller)
      room = fmin(room, room_before_body(world, &flo_bodies(world)[k], x));
  for (size_t k = 0; k < world->sinks.count && room > 0 && !fall->faller; ++k)
    room = fmin(room, room_before_sink(world, &flo_sinks(world)[k], x));
  return room;
}

// The lowest point of everything, measured downwards.
static double find_bottom(const FloWorld *world, const double down[3]) {
  double bottom = -INFINITY;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    bottom = fmax(bottom, vec_dot(body->state.pose.position, down) + body->reach);
  }
  for (size_t k = 0; k < world->sinks.count; ++k) {
    const FloSink *sink = &flo_sinks(world)[k];
    double low[3], high[3];
    flo_solid_bounds(sink->solid, low, high);
    bottom = fmax(bottom, vec_dot(sink->def.pose.position, down) + fmax(vec_length(low), vec_length(high)));
  }
  return bottom;
}

// Whether a particle with its initial velocity meets nothing before it is below everything. Follows the
// parabola in steps that are never longer than the free distance.
bool flo_advice_falls_for_ever(const FloFall *fall, const double x[3], const double v[3]) {
  enum { MAX_STEPS = 100000 };
  double at[3], velocity[3];
  vec_copy(x, at);
  vec_copy(v, velocity);
  for (int k = 0; k < MAX_STEPS; ++k) {
    if (vec_dot(at, fall->down) > fall->bottom && vec_dot(velocity, fall->down) >= 0) return true;
    double room = room_at(fall, at), speed = vec_length(velocity);
    if (!(room > 0)) return false;
    if (isinf(room)) return true; // there is nothing to meet at all
    // The root of speed dt + gravity dt^2 / 2 = room, in the form that is accurate for fast particles too.
    double dt = 2 * room / (speed + sqrt(speed * speed + 2 * fall->gravity * room));
    vec_add_scaled(at, velocity, dt, at);
    vec_add_scaled(at, fall->down, fall->gravity * dt * dt / 2, at);
    vec_add_scaled(velocity, fall->down, fall->gravity * dt, velocity);
  }
  return false;
}

// A particle and its column, one spacing wide along gravity.
typedef struct Faller {
  double column[2], depth;
  size_t index;
} Faller;

static int compare_numbers(double a, double b) { return (a > b) - (a < b); }

// Sorts by column, the lowest particle first.
static int compare_fallers(const void *a, const void *b) {
  const Faller *p = a, *q = b;
  int order = compare_numbers(p->column[0], q->column[0]);
  if (order == 0) order = compare_numbers(p->column[1], q->column[1]);
  if (order == 0) order = compare_numbers(q->depth, p->depth);
  return order ? order : (p->index > q->index) - (p->index < q->index);
}

// Two directions across the fall.
static void find_sides(const double down[3], double sides[2][3]) {
  double other[3] = {fabs(down[0]) < 0.5, fabs(down[0]) >= 0.5, 0};
  vec_cross(down, other, sides[0]);
  vec_scale(sides[0], 1 / vec_length(sides[0]), sides[0]);
  vec_cross(down, sides[0], sides[1]);
}

static void list_fallers(const FloFall *fall, Faller *fallers) {
  const FloParticles *p = &fall->world->sets[FLO_SET_FLUID];
  double sides[2][3];
  find_sides(fall->down, sides);
  for (size_t i = 0; i < p->count; ++i) {
    const double x[3] = {p->x[i], p->y[i], p->z[i]};
    fallers[i] = (Faller){.depth = vec_dot(x, fall->down), .index = i};
    for (int k = 0; k < 2; ++k) fallers[i].column[k] = floor(vec_dot(x, sides[k]) / fall->world->def.spacing);
  }
  qsort(fallers, p->count, sizeof *fallers, compare_fallers);
}

// Only the lowest particle of a column is followed: fluid right above it falls with it.
static size_t count_lost(const FloFall *fall, const Faller *fallers, size_t *first) {
  const FloParticles *p = &fall->world->sets[FLO_SET_FLUID];
  size_t n_lost = 0;
  bool is_lost = false;
  for (size_t k = 0; k < p->count; ++k) {
    const Faller *here = &fallers[k], *below = k ? here - 1 : here;
    bool is_next = k > 0 && here->column[0] == below->column[0] && here->column[1] == below->column[1] &&
                   below->depth - here->depth < 1.6 * fall->world->def.spacing;
    size_t i = here->index;
    const double x[3] = {p->x[i], p->y[i], p->z[i]};
    const double v[3] = {(double)p->vx[i], (double)p->vy[i], (double)p->vz[i]};
    if (!is_next) is_lost = flo_advice_falls_for_ever(fall, x, v);
    if (!is_lost) continue;
    if (n_lost++ == 0 || i < *first) *first = i;
  }
  return n_lost;
}

bool flo_advice_can_fall(const FloWorld *world, FloFall *fall) {
  *fall = (FloFall){.world = world, .gravity = vec_length(world->def.gravity)};
  if (!(fall->gravity > 0)) return false;
  vec_scale(world->def.gravity, 1 / fall->gravity, fall->down);
  // A particle that leaves a periodic domain at the bottom returns at the top.
  for (int axis = 0; axis < world->def.dim; ++axis)
    if (world->def.periodic[axis] && fabs(fall->down[axis]) > 1e-6) return false;
  fall->bottom = find_bottom(world, fall->down);
  return true;
}

void flo_advice_on_fluid(FloAdvice *advice) {
  const FloParticles *p = &advice->world->sets[FLO_SET_FLUID];
  FloFall fall;
  if (!flo_advice_can_fall(advice->world, &fall)) return;
  Faller *fallers = malloc((p->count + 1) * sizeof *fallers);
  if (!fallers) return;
  list_fallers(&fall, fallers);
  size_t first = 0, n_lost = count_lost(&fall, fallers, &first);
  free(fallers);
  if (n_lost)
    flo_advice_tell(advice,
                    "%zu of %zu fluid particles will fall for ever, because nothing is below them, the first "
                    "at (%g, %g, %g); put a boundary or a sink below them",
                    n_lost, p->count, p->x[first], p->y[first], p->z[first]);
  flo_advice_end_kind(advice, "");
}

// ---- Bodies ----

// A body with a joint may hang on it.
static bool has_joint(const FloWorld *world, uint32_t body) {
  for (size_t k = 0; k < world->joints.list.count; ++k) {
    const FloJoint *joint = &flo_joint_list(&world->joints)[k];
    for (int side = 0; side < flo_joint_n_sides(joint); ++side)
      if (flo_joint_body(&world->joints, joint, side) == body) return true;
  }
  return false;
}

// By a lock, or by pins.
static bool is_hung_up(const FloWorld *world, const FloBody *body) {
  FloSoftState state = {0};
  if (body->kind->soft_state) body->kind->soft_state(body, &state);
  if (state.n_pins > 0) return true;
  for (int axis = 0; axis < 3; ++axis)
    if (body->nodes->locks[axis] && world->def.gravity[axis] != 0) return true;
  return false;
}

// Uses the initial velocity; rotation on the way is ignored. The body is held if one of its samples meets
// something.
static bool does_body_fall(FloFall *fall, const FloBody *body) {
  enum { MAX_FOLLOWED = 256 };
  const FloParticles *set = &fall->world->sets[body->kind->set];
  size_t stride = body->count / MAX_FOLLOWED + 1;
  fall->faller = body;
  for (size_t k = 0; k < body->count; k += stride) {
    size_t i = body->first + k;
    const double x[3] = {set->x[i], set->y[i], set->z[i]};
    if (!flo_advice_falls_for_ever(fall, x, body->nodes->velocity)) return false;
  }
  return true;
}

void flo_advice_on_falls(FloAdvice *advice) {
  FloFall fall;
  if (!flo_advice_can_fall(advice->world, &fall)) return;
  for (size_t k = 0; k < advice->world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(advice->world)[k];
    if (!flo_body_is_pushed(body) || is_hung_up(advice->world, body)) continue;
    if (has_joint(advice->world, (uint32_t)k)) continue;
    if (does_body_fall(&fall, body))
      flo_advice_tell(advice, "'%s' will fall for ever, because nothing is below it; put a boundary below it",
                      body->name);
  }
  flo_advice_end_kind(advice, "bodies that fall for ever");
}
