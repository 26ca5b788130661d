#include "io/advice.h"

#include "base/pose.h"
#include "base/vecmath.h"
#include "io/scene_steps.h"
#include "world.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// More of one kind are counted, not listed.
enum { MAX_OF_A_KIND = 5 };

// Fewer samples than this have no shape to speak of.
enum { FEW_SAMPLES = 8 };

typedef struct Advice {
  const FloScene *scene;
  FloWorld *world;
  FloAdviceFn say;
  void *context;
  size_t n_said, n_of_kind;
} Advice;

__attribute__((format(printf, 2, 3))) static void tell(Advice *advice, const char *format, ...) {
  char text[512];
  advice->n_said++;
  if (++advice->n_of_kind > MAX_OF_A_KIND) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  advice->say(advice->context, text);
}

static void end_kind(Advice *advice, const char *what) {
  if (advice->n_of_kind > MAX_OF_A_KIND) {
    char text[128];
    snprintf(text, sizeof text, "... and %zu more %s", advice->n_of_kind - MAX_OF_A_KIND, what);
    advice->say(advice->context, text);
  }
  advice->n_of_kind = 0;
}

static void sample_at(const Advice *advice, size_t i, double x[3]) {
  const FloParticles *b = &advice->world->sets[FLO_SET_BOUNDARY];
  vec_set(x, b->x[i], b->y[i], b->z[i]);
}

// ---- How thick a body is ----

// Two sides of a wall look in opposite directions, but for so much; the two sides of a wedge do not, and
// every wedge is thin at its edge.
#define OPPOSITE (-0.985)

// A wall is thin where it is so for this share of the surface: the tip of a beak is not what fluid passes
// through.
#define THIN_SHARE 0.05

// Unit normal of a triangle; false if it has no area.
static bool triangle_normal(const FloMesh *mesh, uint32_t triangle, double normal[3]) {
  double a[3], b[3];
  vec_sub(flo_mesh_corner(mesh, triangle, 1), flo_mesh_corner(mesh, triangle, 0), a);
  vec_sub(flo_mesh_corner(mesh, triangle, 2), flo_mesh_corner(mesh, triangle, 0), b);
  vec_cross(a, b, normal);
  double length = vec_length(normal);
  if (!(length > 0)) return false;
  vec_scale(normal, 1 / length, normal);
  return true;
}

// From the triangle nearest to a sample straight through the wall behind it; the grid of distances is too
// coarse to see a thin one.
static double mesh_thickness(const FloSolid *solid, const double local[3], double spacing) {
  FloClosest closest;
  FloHit hit;
  double normal[3], inwards[3], origin[3], opposite[3];
  if (!flo_bvh_closest(&solid->bvh, local, 1.05 * spacing, &closest)) return INFINITY;
  if (!triangle_normal(&solid->mesh, closest.triangle, normal)) return INFINITY;
  double skin = 1e-6 * spacing;
  vec_scale(normal, -1, inwards);
  vec_add_scaled(closest.point, inwards, skin, origin);
  if (!flo_bvh_ray(&solid->bvh, origin, inwards, spacing, &hit)) return INFINITY;
  bool is_wall =
      triangle_normal(&solid->mesh, hit.triangle, opposite) && vec_dot(normal, opposite) < OPPOSITE;
  return is_wall ? hit.t + skin : INFINITY;
}

// The same by steps along the normal; for outlines in the plane.
static double outline_thickness(const FloSolid *solid, const double local[3], double spacing) {
  double normal[3], opposite[3], at[3], surface[3], depth = -flo_solid_distance(solid, local);
  if (!(depth > 0 && depth <= 1.05 * spacing)) return INFINITY;
  flo_solid_normal(solid, local, normal);
  vec_add_scaled(local, normal, depth, surface);
  for (double t = 0.02; t < 1; t += 0.02) {
    vec_add_scaled(surface, normal, -t * spacing, at);
    if (flo_solid_distance(solid, at) < 0) continue;
    flo_solid_normal(solid, at, opposite);
    return vec_dot(normal, opposite) < OPPOSITE ? t * spacing : INFINITY;
  }
  return INFINITY;
}

// The thinnest wall found from enough samples; INFINITY: none is thinner than a spacing.
static double wall_thickness(const Advice *advice, const FloBody *body) {
  const FloParticles *b = &advice->world->sets[FLO_SET_BOUNDARY];
  const FloSolid *solid = body->solid;
  double s = advice->world->def.spacing, thinnest = INFINITY;
  size_t n_thin = 0;
  if (!solid->has_mesh && solid->shape.kind != FLO_SHAPE_OUTLINE) return INFINITY;
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    const double local[3] = {b->local_x[i], b->local_y[i], b->local_z[i]};
    double thickness = solid->has_mesh ? mesh_thickness(solid, local, s) : outline_thickness(solid, local, s);
    // What is a spacing but for the facets of a round wall is a spacing.
    if (!(thickness < 0.99 * s)) continue;
    ++n_thin;
    thinnest = fmin(thinnest, thickness);
  }
  return (double)n_thin > THIN_SHARE * (double)body->count ? thinnest : INFINITY;
}

static double box_thickness(const Advice *advice, const FloBody *body) {
  double low[3], high[3], thinnest = INFINITY;
  flo_solid_bounds(body->solid, low, high);
  for (int axis = 0; axis < advice->world->def.dim; ++axis) thinnest = fmin(thinnest, high[axis] - low[axis]);
  return thinnest;
}

// ---- Single bodies ----

static void advise_on_size(Advice *advice, const FloBody *body, double wall) {
  double s = advice->world->def.spacing, thinnest = box_thickness(advice, body);
  if (thinnest < s)
    tell(advice,
         "'%s' is %.3g m thin, less than one spacing (%.3g m): fluid may pass through it; make it thicker "
         "or the spacing finer",
         body->name, thinnest, s);
  else if (wall < s)
    tell(advice,
         "'%s' has walls %.2g m thin, less than one spacing (%.3g m): fluid may pass through them; make "
         "them thicker or the spacing finer",
         body->name, wall, s);
  else if (body->count < FEW_SAMPLES)
    tell(advice,
         "'%s' has only %zu particles, too few to have its shape; make it larger or the spacing finer",
         body->name, body->count);
}

static void advise_on_sizes(Advice *advice) {
  size_t n = advice->world->bodies.count;
  const FloBody *bodies = flo_bodies(advice->world);
  double *walls = malloc((n + 1) * sizeof *walls);
  for (size_t k = 0; walls && k < n; ++k) {
    size_t first = 0; // that has the same shape, and so the same walls
    while (bodies[first].solid != bodies[k].solid) ++first;
    walls[k] = first < k ? walls[first] : wall_thickness(advice, &bodies[k]);
    advise_on_size(advice, &bodies[k], walls[k]);
  }
  free(walls);
  end_kind(advice, "bodies");
}

// Distances are kept on a grid with three cells in a spacing, unless it would need too much memory.
static void advise_on_grids(Advice *advice) {
  double fine = advice->world->def.spacing / 3;
  for (size_t k = 0; k < advice->world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(advice->world)[k];
    if (!body->solid->has_mesh || body->solid->sdf.cell < 1.01 * fine) continue;
    tell(advice,
         "'%s' spans so many spacings that its surface is known to %.3g m only, not to a third of a spacing "
         "(%.3g m); make several bodies of it or the spacing larger",
         body->name, body->solid->sdf.cell, fine);
  }
  end_kind(advice, "large bodies");
}

// ---- Pairs of bodies ----

typedef struct Box {
  double low[3], high[3];
} Box;

// Around the samples of a body, and a little more.
static Box box_of(const Advice *advice, const FloBody *body) {
  Box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    double x[3];
    sample_at(advice, i, x);
    for (int axis = 0; axis < 3; ++axis) {
      box.low[axis] = fmin(box.low[axis], x[axis] - 2 * advice->world->def.spacing);
      box.high[axis] = fmax(box.high[axis], x[axis] + 2 * advice->world->def.spacing);
    }
  }
  return box;
}

static bool is_in_box(const Box *box, const double x[3]) {
  for (int axis = 0; axis < 3; ++axis)
    if (x[axis] < box->low[axis] || x[axis] > box->high[axis]) return false;
  return true;
}

static bool do_boxes_meet(const Box *a, const Box *b) {
  for (int axis = 0; axis < 3; ++axis)
    if (a->low[axis] > b->high[axis] || b->low[axis] > a->high[axis]) return false;
  return true;
}

// Nearer than this, in spacings, bodies touch.
#define TOUCH 0.05

enum { MAX_PLACES = 16 };

// Where two bodies come close: places that look in different directions, each with its least distance. A ball
// on a floor has one, a box in a corner three.
typedef struct Places {
  int count;
  double direction[MAX_PLACES][3], gap[MAX_PLACES];
} Places;

static void note_place(Places *places, const double direction[3], double gap) {
  int k = 0;
  while (k < places->count && vec_dot(places->direction[k], direction) < 0.75) ++k;
  if (k == MAX_PLACES) return;
  if (k == places->count) {
    vec_copy(direction, places->direction[k]);
    places->gap[k] = INFINITY;
    ++places->count;
  }
  places->gap[k] = fmin(places->gap[k], gap);
}

// To the surface of a body, from a point beside it.
static double move_to_surface(const FloWorld *world, const FloBody *body, double x[3]) {
  double normal[3], distance = flo_world_distance(world, body, x);
  flo_world_normal(world, body, x, normal);
  vec_add_scaled(x, normal, -distance, x);
  return distance;
}

// From a sample's place on the surface of its body to and fro between the two surfaces, each time to the
// nearest point: that ends where they are nearest to each other. Counts only if they face each other there.
// `sign` makes the directions of both ways of looking the same.
static void measure_gap(const FloWorld *world, const FloBody *body, const FloBody *other, const double x[3],
                        double sign, Places *places) {
  enum { MAX_ROUNDS = 20 };
  double at[3], towards[3], back[3], gap = INFINITY, before, s = world->def.spacing;
  vec_copy(x, at);
  move_to_surface(world, body, at);
  for (int k = 0; k < MAX_ROUNDS; ++k) {
    before = gap;
    flo_world_normal(world, other, at, towards);
    if (!(move_to_surface(world, other, at) < 1.5 * s)) return;
    flo_world_normal(world, body, at, back);
    gap = move_to_surface(world, body, at);
    if (gap < TOUCH * s || gap > before - 1e-3 * s) break;
  }
  // Where they touch beside a corner, the normals of the corner lead astray.
  if (vec_dot(towards, back) > (gap > TOUCH * s ? -0.9 : -0.75)) return;
  vec_scale(towards, sign, towards);
  note_place(places, towards, gap);
}

typedef struct Meeting {
  size_t n_inside;
  double deepest; // [m] of a sample below the other's surface
} Meeting;

// Looks from the samples of one body at the other. Deeper layers have the same to say about gaps as the
// first, whose samples may lie up to a spacing below the surface.
static void look_at(const Advice *advice, const FloBody *body, const FloBody *other, const Box *around_other,
                    double sign, Meeting *meeting, Places *places) {
  const FloWorld *world = advice->world;
  double s = world->def.spacing;
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    double x[3];
    sample_at(advice, i, x);
    if (!is_in_box(around_other, x)) continue;
    double distance = flo_world_distance(world, other, x);
    meeting->n_inside += distance < 0;
    meeting->deepest = fmax(meeting->deepest, -distance);
    if (distance > 0 && distance < 2.1 * s && flo_world_distance(world, body, x) > -1.05 * s)
      measure_gap(world, body, other, x, sign, places);
  }
}

// The least gap that is one, neither touching nor wide enough for fluid.
static double narrowest_gap(const Places *places, double spacing) {
  double narrowest = INFINITY;
  for (int k = 0; k < places->count; ++k) {
    double gap = places->gap[k];
    if (gap > TOUCH * spacing && gap < (1 - 1e-6) * spacing) narrowest = fmin(narrowest, gap);
  }
  return narrowest;
}

// Whether one stands in the other only the samples of the smaller may tell, so both are asked.
static void advise_on_pair(Advice *advice, const FloBody *bodies[2], const Box *boxes[2]) {
  double s = advice->world->def.spacing;
  Meeting meetings[2] = {0};
  Places places = {0};
  for (int k = 0; k < 2; ++k)
    look_at(advice, bodies[k], bodies[1 - k], boxes[1 - k], k ? -1 : 1, &meetings[k], &places);
  double narrowest = narrowest_gap(&places, s);
  double share[2] = {0};
  for (int k = 0; k < 2; ++k)
    if (meetings[k].deepest > 0.1 * s) share[k] = (double)meetings[k].n_inside / (double)bodies[k]->count;
  int in = share[0] > share[1] ? 0 : 1;
  if (share[in] > 0)
    tell(advice,
         "'%s' stands in '%s': %zu of its %zu particles are inside, the deepest by %.3g m; move one of them",
         bodies[in]->name, bodies[1 - in]->name, meetings[in].n_inside, bodies[in]->count,
         meetings[in].deepest + s / 2);
  else if (narrowest < s)
    tell(advice,
         "the gap between '%s' and '%s' is %.2g m, narrower than one spacing (%.3g m): no fluid fits in it; "
         "close it, widen it or make the spacing finer",
         bodies[1]->name, bodies[0]->name, narrowest, s);
}

static void advise_on_pairs(Advice *advice) {
  size_t n = advice->world->bodies.count;
  const FloBody *bodies = flo_bodies(advice->world);
  Box *boxes = malloc((n + 1) * sizeof *boxes);
  for (size_t k = 0; boxes && k < n; ++k) boxes[k] = box_of(advice, &bodies[k]);
  for (size_t a = 0; boxes && a < n; ++a)
    for (size_t b = a + 1; b < n; ++b)
      if (do_boxes_meet(&boxes[a], &boxes[b]))
        advise_on_pair(advice, (const FloBody *[2]){&bodies[a], &bodies[b]},
                       (const Box *[2]){&boxes[a], &boxes[b]});
  free(boxes);
  end_kind(advice, "pairs of bodies");
}

// ---- Fluid that nothing holds ----

// A particle that comes so near to a solid on its way, in spacings, has met it. Fluid beside a wall is
// farther from it.
#define MET 0.3

// How far a particle can go at least before it meets the body; 0: it has met it. Distances to meshes are
// right near them only.
static double room_before(const FloWorld *world, const FloSolid *solid, double distance) {
  double s = world->def.spacing;
  if (distance < MET * s) return 0;
  return fmax(solid->has_mesh ? fmin(distance, s) : distance, 0.25 * s);
}

static double room_before_body(const FloWorld *world, const FloBody *body, const double x[3]) {
  double image[3], between[3];
  flo_world_nearest_image(world, body->state.pose.position, x, image);
  vec_sub(image, body->state.pose.position, between);
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

static double room_at(const FloWorld *world, const double x[3]) {
  double room = INFINITY;
  for (size_t k = 0; k < world->bodies.count && room > 0; ++k)
    room = fmin(room, room_before_body(world, &flo_bodies(world)[k], x));
  for (size_t k = 0; k < world->sinks.count && room > 0; ++k)
    room = fmin(room, room_before_sink(world, &flo_sinks(world)[k], x));
  return room;
}

typedef struct Fall {
  const FloWorld *world;
  double down[3], gravity; // unit vector, its size
  double bottom;           // nothing is lower than this, along `down`
} Fall;

// Where things end, counted downwards.
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

// Whether a particle, thrown as it starts, meets nothing before it is below everything. Walks along the
// parabola by steps that are never longer than the room there is.
static bool falls_for_ever(const Fall *fall, const double x[3], const double v[3]) {
  enum { MAX_STEPS = 100000 };
  double at[3], velocity[3];
  vec_copy(x, at);
  vec_copy(v, velocity);
  for (int k = 0; k < MAX_STEPS; ++k) {
    if (vec_dot(at, fall->down) > fall->bottom && vec_dot(velocity, fall->down) >= 0) return true;
    double room = room_at(fall->world, at), speed = vec_length(velocity);
    if (!(room > 0)) return false;
    double dt = (sqrt(speed * speed + 2 * fall->gravity * room) - speed) / fall->gravity;
    vec_add_scaled(at, velocity, dt, at);
    vec_add_scaled(at, fall->down, fall->gravity * dt * dt / 2, at);
    vec_add_scaled(velocity, fall->down, fall->gravity * dt, velocity);
  }
  return false;
}

// A particle in its column of one spacing, as seen along gravity.
typedef struct Faller {
  double column[2], depth;
  size_t index;
} Faller;

static int compare_numbers(double a, double b) { return (a > b) - (a < b); }

// By column, the lowest first.
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

static void list_fallers(const Fall *fall, Faller *fallers) {
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

// Fluid right above other fluid has the same fate; only the lowest of a column is followed.
static size_t count_lost(const Fall *fall, const Faller *fallers, size_t *first) {
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
    if (!is_next) is_lost = falls_for_ever(fall, x, v);
    if (!is_lost) continue;
    if (n_lost++ == 0 || i < *first) *first = i;
  }
  return n_lost;
}

static bool can_fall(const FloWorld *world, Fall *fall) {
  *fall = (Fall){.world = world, .gravity = vec_length(world->def.gravity)};
  if (!(fall->gravity > 0)) return false;
  vec_scale(world->def.gravity, 1 / fall->gravity, fall->down);
  // Who falls out of a periodic domain comes back from above.
  for (int axis = 0; axis < world->def.dim; ++axis)
    if (world->def.periodic[axis] && fabs(fall->down[axis]) > 1e-6) return false;
  fall->bottom = find_bottom(world, fall->down);
  return true;
}

static void advise_on_fluid(Advice *advice) {
  const FloParticles *p = &advice->world->sets[FLO_SET_FLUID];
  Fall fall;
  if (!can_fall(advice->world, &fall)) return;
  Faller *fallers = malloc((p->count + 1) * sizeof *fallers);
  if (!fallers) return;
  list_fallers(&fall, fallers);
  size_t first = 0, n_lost = count_lost(&fall, fallers, &first);
  free(fallers);
  if (n_lost)
    tell(
        advice,
        "%zu of %zu fluid particles start with nothing below them, the first at (%g, %g, %g); they will fall "
        "for ever",
        n_lost, p->count, p->x[first], p->y[first], p->z[first]);
  end_kind(advice, "");
}

static void advise_on_meshes(Advice *advice) {
  for (const FloSceneAttachment *a = advice->scene->parts->attachments; a; a = a->next)
    if (a->problems[0]) tell(advice, "%s: %s", a->text, a->problems);
  end_kind(advice, "meshes");
}

size_t flo_advice_give(const FloScene *scene, FloWorld *world, FloAdviceFn say, void *context) {
  Advice advice = {.scene = scene, .world = world, .say = say, .context = context};
  advise_on_meshes(&advice);
  advise_on_sizes(&advice);
  advise_on_grids(&advice);
  advise_on_pairs(&advice);
  advise_on_fluid(&advice);
  return advice.n_said;
}
