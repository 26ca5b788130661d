// Notes about solids: those that are too thin or too small for the spacing, overlap or nearly touch.
#include "base/pose.h"
#include "base/vecmath.h"
#include "io/advice_parts.h"
#include "state/state.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

// A body with fewer samples than this has no recognizable shape.
enum { FEW_SAMPLES = 8 };

// A sample of a body.
static void sample_at(const FloAdvice *advice, const FloBody *body, size_t i, double x[3]) {
  const FloParticles *b = &advice->world->sets[body->kind->set];
  vec_set(x, b->x[i], b->y[i], b->z[i]);
}

// ---- How thick a body is ----

// The normals of the two sides of a wall are opposite, within this tolerance. The sides of a wedge are not,
// so that its thin edge does not count as a thin wall.
#define OPPOSITE (-0.985)

// A body counts as thin if this share of its surface is thin. A small thin part, such as the tip of a beak,
// does not let fluid through.
#define THIN_SHARE 0.05

// Unit normal of a triangle; false if it has no area.
static bool triangle_normal(const FloMesh *mesh, uint32_t triangle, double normal[3]) {
  flo_mesh_normal(mesh, triangle, normal);
  double length = vec_length(normal);
  if (!(length > 0)) return false;
  vec_scale(normal, 1 / length, normal);
  return true;
}

// The thickness of the wall behind the triangle nearest to a sample, measured on the triangles: the grid of
// distances is too coarse for thin walls.
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

// The same, found by steps along the normal; for outlines in 2D.
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

// The thickness of the thinnest wall that enough samples find; INFINITY if none is thinner than a spacing.
static double wall_thickness(const FloAdvice *advice, const FloBody *body) {
  const FloParticles *b = &advice->world->sets[body->kind->set];
  const FloSolid *solid = body->solid;
  double s = advice->world->def.spacing, thinnest = INFINITY;
  size_t n_thin = 0;
  if (!solid->has_mesh && solid->shape.kind != FLO_SHAPE_OUTLINE) return INFINITY;
  if (flo_shape_is_thin(&solid->shape)) return INFINITY; // it is thin on purpose
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    const double local[3] = {b->local_x[i], b->local_y[i], b->local_z[i]};
    double thickness = solid->has_mesh ? mesh_thickness(solid, local, s) : outline_thickness(solid, local, s);
    // A round wall made of facets may be slightly thinner than a spacing; this counts as a spacing.
    if (!(thickness < 0.99 * s)) continue;
    ++n_thin;
    thinnest = fmin(thinnest, thickness);
  }
  return (double)n_thin > THIN_SHARE * (double)body->count ? thinnest : INFINITY;
}

static void measure_box(const FloAdvice *advice, const FloBody *body, double *thinnest, double *longest) {
  double low[3], high[3];
  *thinnest = INFINITY, *longest = 0;
  flo_solid_bounds(body->solid, low, high);
  for (int axis = 0; axis < advice->world->def.dim; ++axis) {
    *thinnest = fmin(*thinnest, high[axis] - low[axis]);
    *longest = fmax(*longest, high[axis] - low[axis]);
  }
}

// ---- Single bodies ----

// A shell must be thinner than the body; otherwise it has no hollow space and weighs more than a solid body.
static void advise_on_shell(FloAdvice *advice, const FloSceneBody *body, const FloBody *made) {
  double thinnest, longest;
  measure_box(advice, made, &thinnest, &longest);
  if (body->def.kind == FLO_BODY_DYNAMIC && body->def.thickness > thinnest / 2)
    flo_advice_tell(advice,
                    "'%s' is a shell %.3g m thick, but the whole body is only %.3g m thick, so it has no "
                    "hollow space; make the thickness smaller, or leave it out for a solid body",
                    body->name, body->def.thickness, thinnest);
}

// The gradient of a particle at a surface sees one side only.
enum { FEW_ACROSS = 4 };

static void advise_on_particles(FloAdvice *advice, const FloSceneBody *body, const FloBody *made) {
  const FloElasticDef *elastic = &body->def.elastic;
  double thinnest, longest;
  if (body->def.kind != FLO_BODY_ELASTIC || elastic->form == FLO_ELASTIC_ELEMENTS) return;
  const double cell = elastic->cell > 0 ? elastic->cell : advice->world->def.spacing;
  measure_box(advice, made, &thinnest, &longest);
  const long across = lround(thinnest / cell);
  if (across < FEW_ACROSS)
    flo_advice_tell(advice,
                    "'%s' is only %ld particles across (%.3g m of %.3g m each): it will bend by a tenth or "
                    "more too much or too little; use a 'cell' of at most %.3g m, or elements",
                    body->name, across, thinnest, cell, thinnest / FEW_ACROSS);
}

// The note begins "'name' `what`"; `it` is the pronoun for the thin part.
static void tell_thin(FloAdvice *advice, const FloBody *body, const char *what, int n_digits,
                      double thickness, const char *it) {
  flo_advice_tell(
      advice,
      "'%s' %s %.*g m thin, less than one spacing (%.3g m): fluid may pass through %s; make %s thicker or "
      "the spacing finer",
      body->name, what, n_digits, thickness, advice->world->def.spacing, it, it);
}

static void advise_on_size(FloAdvice *advice, const FloBody *body, double wall) {
  if (body->is_thin) return; // fluid does not pass through a cloth
  double s = advice->world->def.spacing, thinnest, longest;
  measure_box(advice, body, &thinnest, &longest);
  if (flo_body_is_pushed(body) && longest < 2 * s * (1 - 1e-9))
    flo_advice_tell(advice,
                    "'%s' is %.3g m large, less than two spacings (%.3g m): its buoyancy and contacts will "
                    "be inaccurate; make it larger or the spacing finer",
                    body->name, longest, 2 * s);
  else if (thinnest < s)
    tell_thin(advice, body, "is", 3, thinnest, "it");
  else if (wall < s)
    tell_thin(advice, body, "has walls", 2, wall, "them");
  else if (body->count < FEW_SAMPLES)
    flo_advice_tell(
        advice, "'%s' has only %zu particles, too few to show its shape; make it larger or the spacing finer",
        body->name, body->count);
}

typedef struct Wall {
  const FloSolid *solid;
  size_t body; // the first body that has this shape
  double thickness;
} Wall;

static int compare_walls(const void *a, const void *b) {
  const Wall *p = a, *q = b;
  if (p->solid != q->solid) return (uintptr_t)p->solid < (uintptr_t)q->solid ? -1 : 1;
  return (p->body > q->body) - (p->body < q->body);
}

static int compare_bodies(const void *a, const void *b) {
  const Wall *p = a, *q = b;
  return (p->body > q->body) - (p->body < q->body);
}

// Computes the wall thickness of every body. Bodies of the same shape share the result, so they are grouped
// by the address of their shape. The results are stored by index and do not depend on the addresses.
static void measure_walls(const FloAdvice *advice, Wall *walls, size_t n) {
  const FloBody *bodies = flo_bodies(advice->world);
  for (size_t k = 0; k < n; ++k) walls[k] = (Wall){bodies[k].solid, k, 0};
  qsort(walls, n, sizeof *walls, compare_walls);
  for (size_t k = 0; k < n; ++k)
    walls[k].thickness = k && walls[k].solid == walls[k - 1].solid
                             ? walls[k - 1].thickness
                             : wall_thickness(advice, &bodies[walls[k].body]);
  qsort(walls, n, sizeof *walls, compare_bodies);
}

void flo_advice_on_sizes(FloAdvice *advice) {
  size_t n = advice->world->bodies.count;
  Wall *walls = malloc((n + 1) * sizeof *walls);
  if (!walls) return;
  measure_walls(advice, walls, n);
  for (size_t k = 0; k < n; ++k) advise_on_size(advice, &flo_bodies(advice->world)[k], walls[k].thickness);
  free(walls);
  flo_advice_end_kind(advice, "bodies");
  for (size_t k = 0; k < advice->scene->n_bodies; ++k)
    advise_on_shell(advice, &advice->scene->bodies[k], &flo_bodies(advice->world)[k]);
  flo_advice_end_kind(advice, "shells");
  for (size_t k = 0; k < advice->scene->n_bodies; ++k)
    advise_on_particles(advice, &advice->scene->bodies[k], &flo_bodies(advice->world)[k]);
  flo_advice_end_kind(advice, "bodies of particles");
}

// Distances are stored on a grid with three cells per spacing, unless it would need too much memory.
void flo_advice_on_grids(FloAdvice *advice) {
  double fine = advice->world->def.spacing / 3;
  for (size_t k = 0; k < advice->world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(advice->world)[k];
    if (!body->solid->has_mesh || body->solid->sdf.cell < 1.01 * fine) continue;
    flo_advice_tell(advice,
                    "'%s' spans so many spacings that its surface is accurate only to %.3g m, not to a third "
                    "of a spacing (%.3g m); split it into several bodies or make the spacing larger",
                    body->name, body->solid->sdf.cell, fine);
  }
  flo_advice_end_kind(advice, "large bodies");
}

// ---- Pairs of bodies ----

typedef struct Box {
  double low[3], high[3];
} Box;

// A box around the samples of a body, with a margin.
static Box box_of(const FloAdvice *advice, const FloBody *body) {
  Box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    double x[3];
    sample_at(advice, body, i, x);
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

// The places where two bodies come close, one for each direction, each with its smallest distance. A ball on
// a floor has one, a box in a corner has three.
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

// Moves a point to the nearest point of the surface of a body; returns the distance that it had.
static double move_to_surface(const FloWorld *world, const FloBody *body, double x[3]) {
  double normal[3], distance = flo_world_distance(world, body, x);
  flo_world_normal(world, body, x, normal);
  vec_add_scaled(x, normal, -distance, x);
  return distance;
}

// Finds where two surfaces are nearest to each other: starts at a sample's place on one surface, and goes
// back and forth to the nearest point of the other. The result counts only if the surfaces face each other
// there. `sign` gives the direction the same sense for both orders of the bodies.
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
  // If the bodies touch beside a corner, the normals at the corner are not usable.
  if (vec_dot(towards, back) > (gap > TOUCH * s ? -0.9 : -0.75)) return;
  vec_scale(towards, sign, towards);
  note_place(places, towards, gap);
}

typedef struct Meeting {
  size_t n_inside;
  double deepest; // [m] depth of a sample below the other's surface
} Meeting;

// Compares the samples of one body with the other body. For gaps only the outermost layer is used; its
// samples are at most one spacing below the surface.
static void look_at(const FloAdvice *advice, const FloBody *body, const FloBody *other,
                    const Box *around_other, double sign, Meeting *meeting, Places *places) {
  const FloWorld *world = advice->world;
  double s = world->def.spacing;
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    double x[3];
    sample_at(advice, body, i, x);
    if (!is_in_box(around_other, x)) continue;
    double distance = flo_world_distance(world, other, x);
    meeting->n_inside += distance < 0;
    meeting->deepest = fmax(meeting->deepest, -distance);
    if (distance > 0 && distance < 2.1 * s && flo_world_distance(world, body, x) > -1.05 * s)
      measure_gap(world, body, other, x, sign, places);
  }
}

// The smallest real gap: the bodies do not touch there, and fluid does not fit in.
static double narrowest_gap(const Places *places, double spacing) {
  double narrowest = INFINITY;
  for (int k = 0; k < places->count; ++k) {
    double gap = places->gap[k];
    if (gap > TOUCH * spacing && gap < (1 - 1e-6) * spacing) narrowest = fmin(narrowest, gap);
  }
  return narrowest;
}

// Only the samples of the smaller body may show that the bodies overlap, so both are checked.
static void advise_on_pair(FloAdvice *advice, const FloBody *bodies[2], const Box *boxes[2]) {
  double s = advice->world->def.spacing;
  Meeting meetings[2] = {0};
  Places places = {0};
  for (int k = 0; k < 2; ++k)
    look_at(advice, bodies[k], bodies[1 - k], boxes[1 - k], k ? -1 : 1, &meetings[k], &places);
  // Rigid bodies close their gaps themselves.
  bool can_move = flo_body_is_pushed(bodies[0]) || flo_body_is_pushed(bodies[1]);
  double narrowest = can_move ? INFINITY : narrowest_gap(&places, s);
  double share[2] = {0};
  for (int k = 0; k < 2; ++k)
    if (meetings[k].deepest > 0.1 * s) share[k] = (double)meetings[k].n_inside / (double)bodies[k]->count;
  int in = share[0] > share[1] ? 0 : 1;
  if (share[in] > 0)
    flo_advice_tell(advice,
                    "'%s' overlaps '%s': %zu of its %zu particles are inside, the deepest by %.3g m; move "
                    "one of the bodies",
                    bodies[in]->name, bodies[1 - in]->name, meetings[in].n_inside, bodies[in]->count,
                    meetings[in].deepest + s / 2);
  else if (narrowest < s)
    flo_advice_tell(
        advice,
        "the gap between '%s' and '%s' is %.2g m, narrower than one spacing (%.3g m): no fluid fits in it; "
        "close it, widen it or make the spacing finer",
        bodies[1]->name, bodies[0]->name, narrowest, s);
}

// The box of a body, for sorting by its lower end along x.
typedef struct Place {
  Box box;
  size_t body;
} Place;

static int compare_places(const void *a, const void *b) {
  const Place *p = a, *q = b;
  if (p->box.low[0] != q->box.low[0]) return p->box.low[0] < q->box.low[0] ? -1 : 1;
  return (p->body > q->body) - (p->body < q->body);
}

// Compares with the boxes that begin before this one ends. The first body of a pair is the first in the
// scene.
static void advise_on_neighbours(FloAdvice *advice, const Place *place, const Place *end) {
  const FloBody *bodies = flo_bodies(advice->world);
  for (const Place *other = place + 1; other < end && other->box.low[0] <= place->box.high[0]; ++other) {
    if (!do_boxes_meet(&place->box, &other->box)) continue;
    if (flo_world_is_passing(advice->world, (uint32_t)place->body, (uint32_t)other->body)) continue;
    const Place *first = place->body < other->body ? place : other, *second = first == place ? other : place;
    advise_on_pair(advice, (const FloBody *[2]){&bodies[first->body], &bodies[second->body]},
                   (const Box *[2]){&first->box, &second->box});
  }
}

void flo_advice_on_pairs(FloAdvice *advice) {
  size_t n = advice->world->bodies.count;
  Place *places = malloc((n + 1) * sizeof *places);
  if (!places) return;
  for (size_t k = 0; k < n; ++k) places[k] = (Place){box_of(advice, &flo_bodies(advice->world)[k]), k};
  qsort(places, n, sizeof *places, compare_places);
  for (size_t k = 0; k < n; ++k) advise_on_neighbours(advice, &places[k], places + n);
  free(places);
  flo_advice_end_kind(advice, "pairs of bodies");
}
