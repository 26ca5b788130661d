// Surface tension in 3D: the energy of a fluid is its surface tension times the area of its surface.
//
// The surface is the alpha shape of the particles (Edelsbrunner & Muecke 1994): three particles form a facet
// if a ball of radius alpha touches all three and holds no other that all three see. Each facet pulls its
// corners by minus the gradient of tension times area. These pulls have no sum and no moment. On a corner of
// a closed surface they add up to the tension times the curvature, along the normal, however unevenly the
// surface is divided. So nothing has to be calibrated. A facet with both sides free is a film; its two
// surfaces count twice.
//
// The particles of the surface lie half a spacing below the true surface. The area of the parallel surface at
// a distance d is A + d sum L t to first order, with the length L of an edge and the angle t by which the
// surface turns there (Steiner). By Schlaefli's formula sum L dt = 0 for any closed surface, so that term
// pulls the ends of each edge together by sigma d t, without any moment. With d = s/2 the energy of a drop is
// that of its true surface.
//
// Solids with a contact angle attract the facets that face them. By Young and Dupre, to part the fluid from
// the solid takes the work W = sigma (1 + cos(angle)) per area. So a facet has the energy
//
//   sigma A - W w(d) A_n    A: its area; A_n: the part that faces the solid, max(0, -S n) with the area
//   vector
//                           S out of the fluid and the solid's normal n; d: mean distance of its corners
//
// w falls from one to zero between WET and DRY. So the surface is at rest if it meets the solid with the
// contact angle, whatever happens nearer than DRY: to move the contact line along the solid shifts all of
// that. The solid is pulled by the opposite at the same points. Solids without a contact angle have W = 0:
// 180 degrees.
//
// Facets are found by their first particle only, and their pulls are added in the order of these particles,
// so that the number of threads changes no bit.
#include "coupling/forces/surface_facets.h"

#include "base/parallel.h"
#include "base/vecmath.h"

#include <math.h>
#include <string.h>

// Distances between which facets cease to touch a solid, in spacings. Fluid at rest on a solid is half a
// spacing away from it, the next layer one and a half.
#define WET 0.7
#define DRY 1.5

typedef struct Work {
  FloWorld *world;
  FloSurfaceFacets *facets;
  float *force;
  _Atomic bool is_crowded, is_full; // a particle has too many neighbours, or facets
} Work;

// ---- Facets ----

// A particle, and where all near it are from there.
typedef struct Star {
  FloAround around;
  double place[FLO_MOST_NEAR][3]; // untied [m]
  double square[FLO_MOST_NEAR];   // of the distance
  size_t last;                    // that was in a ball; the next ball often holds it too
} Star;

static void look(Star *star, size_t i) {
  FloAround *around = &star->around;
  flo_around_look(around, i, false);
  star->last = 0;
  for (size_t k = 0; k < around->count; ++k) {
    flo_around_untied_offset(around, &around->self, &around->near[k], star->place[k]);
    star->square[k] = vec_dot(star->place[k], star->place[k]);
  }
}

static bool holds(const Star *star, size_t k, const double centre[3]) {
  // |place - centre|^2 < alpha^2, where the particle itself is at the distance alpha of the centre.
  return star->square[k] < 2 * vec_dot(star->place[k], centre);
}

// Only particles that all three corners see count, so that each corner finds the same facets.
static bool blocks(const Star *star, size_t l, size_t j, size_t k, const double centre[3]) {
  const FloAround *around = &star->around;
  return l != j && l != k && holds(star, l, centre) &&
         flo_around_is_near(around, &around->near[l], &around->near[j]) &&
         flo_around_is_near(around, &around->near[l], &around->near[k]);
}

static bool is_free(Star *star, size_t j, size_t k, const double centre[3]) {
  size_t n = star->around.count, last = star->last;
  if (last < n && blocks(star, last, j, k, centre)) return false;
  for (size_t l = 0; l < n; ++l)
    if (blocks(star, l, j, k, centre)) {
      star->last = l;
      return false;
    }
  return true;
}

// Which sides of the triangle with near ones j and k are free.
static uint8_t free_sides(Star *star, size_t j, size_t k) {
  const double *a = star->place[j], *b = star->place[k];
  double normal[3], across[3], foot[3], centre[3], alpha = star->around.alpha;
  uint8_t sides = 0;
  vec_cross(a, b, normal);
  double area2 = vec_dot(normal, normal);
  if (area2 == 0) return 0;
  for (int axis = 0; axis < 3; ++axis) across[axis] = star->square[j] * b[axis] - star->square[k] * a[axis];
  vec_cross(across, normal, foot);
  vec_scale(foot, 0.5 / area2, foot);
  double height2 = (alpha * alpha - vec_dot(foot, foot)) / area2;
  if (height2 <= 0) return 0;
  vec_add_scaled(foot, normal, sqrt(height2), centre);
  if (is_free(star, j, k, centre)) sides |= 1;
  vec_add_scaled(foot, normal, -sqrt(height2), centre);
  if (is_free(star, j, k, centre)) sides |= 2;
  return sides;
}

// ---- Around an edge ----

// The facets at the edge from the star's own particle to another one.
typedef struct Edge {
  size_t second, third[2];
  double normal[2][3]; // out of the fluid
  int n_sides;         // of facets of fluid
} Edge;

static void meet(const Star *star, Edge *edge, size_t k, uint8_t sides) {
  for (int side = 1; side <= 2; ++side) {
    if (!(sides & side)) continue;
    if (edge->n_sides < 2) {
      double *normal = edge->normal[edge->n_sides];
      edge->third[edge->n_sides] = k;
      vec_cross(star->place[edge->second], star->place[k], normal);
      vec_scale(normal, (side == 1 ? 1 : -1) / vec_length(normal), normal);
    }
    ++edge->n_sides;
  }
}

static double turn_of(const Star *star, const Edge *edge) {
  double cross[3];
  vec_cross(edge->normal[0], edge->normal[1], cross);
  double angle = atan2(vec_length(cross), vec_dot(edge->normal[0], edge->normal[1]));
  return vec_dot(star->place[edge->third[1]], edge->normal[0]) < 0 ? angle : -angle;
}

// False: there is no room.
static bool keep_facet(FloSurfaceFacets *facets, size_t i, uint32_t second, uint32_t third, uint8_t sides) {
  if (third < second) return true;
  if (facets->n_facets[i] == FLO_MOST_FACETS) return false;
  facets->facets[FLO_MOST_FACETS * i + facets->n_facets[i]++] = (FloFacet){second, third, sides};
  return true;
}

// False: some facet or ridge had no room.
static bool walk_round(Star *star, size_t j, FloSurfaceFacets *facets) {
  const FloAround *around = &star->around;
  const FloNear *second = &around->near[j];
  size_t i = around->self.index;
  Edge edge = {.second = j};
  bool has_room = true;
  for (size_t k = 0; k < around->count; ++k) {
    const FloNear *third = &around->near[k];
    if (k == j || !flo_around_is_near(around, second, third)) continue;
    uint8_t sides = free_sides(star, j, k);
    if (sides == 0) continue;
    if (!keep_facet(facets, i, (uint32_t)second->index, (uint32_t)third->index, sides)) has_room = false;
    meet(star, &edge, k, sides);
  }
  if (edge.n_sides != 2 || edge.third[0] == edge.third[1]) return has_room;
  if (facets->n_ridges[i] == FLO_MOST_FACETS) return false;
  facets->ridges[FLO_MOST_FACETS * i + facets->n_ridges[i]++] =
      (FloRidge){(uint32_t)second->index, (float)turn_of(star, &edge)};
  return has_room;
}

// ---- Footings ----

static bool is_wetted(const FloAround *around, const FloBody *body) {
  return around->wets_all || body->contact_angle >= 0;
}

static FloFooting footing_on(const FloWorld *world, FloSet set, size_t sample, size_t i) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const FloBody *body = flo_body_at(world, set, sample);
  const double x[3] = {p->x[i], p->y[i], p->z[i]};
  FloFooting footing = {.is_near = true, .set = set, .sample = sample};
  footing.distance = flo_world_distance(world, body, x);
  flo_world_normal(world, body, x, footing.normal);
  return footing;
}

static FloFooting footing_at(const FloAround *around, size_t i) {
  const FloWorld *world = around->world;
  FloFooting nearest = {.distance = INFINITY};
  for (FloNearBody near = {0}; flo_near_next(world, i, &near);) {
    if (!is_wetted(around, &flo_bodies(world)[near.body])) continue;
    const FloSet set = near.is_past_walls ? FLO_SET_RIGID : FLO_SET_BOUNDARY;
    size_t sample;
    flo_world_find_sample(world, near.sample, &sample);
    const FloFooting footing = footing_on(world, set, sample, i);
    if (footing.distance < nearest.distance) nearest = footing;
  }
  return nearest;
}

static void find_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Work *work = context;
  Star star;
  flo_around_init(&star.around, work->world);
  for (size_t i = begin; i < end; ++i) {
    look(&star, i);
    if (star.around.is_crowded) work->is_crowded = true;
    work->facets->n_facets[i] = work->facets->n_ridges[i] = 0;
    work->facets->footings[i] = footing_at(&star.around, i);
    for (size_t j = 0; j < star.around.count; ++j)
      if (star.around.near[j].index > i && !walk_round(&star, j, work->facets)) work->is_full = true;
  }
}

// ---- Pulls ----

static double tension_of(const FloWorld *world, size_t i) {
  return flo_materials(world)[world->sets[FLO_SET_FLUID].material[i]].surface_tension;
}

static FloNear corner(const FloWorld *world, size_t index) {
  FloNear near = {.set = FLO_SET_FLUID, .index = index};
  memcpy(near.fixed, world->grids[FLO_SET_FLUID].fixed + 4 * index, sizeof near.fixed);
  return near;
}

// Half the tension times the opposite side, towards it.
static void pull_corner(double *pull, const double normal[3], const double side[3], double half_tension) {
  double force[3];
  vec_cross(normal, side, force);
  vec_add_scaled(pull, force, half_tension, pull);
}

// Three corners, and the ways from the first to the others.
typedef struct Triangle {
  size_t corners[3];
  double b[3], c[3];
  double normal[3], area;
  double tension;
} Triangle;

static Triangle triangle_of(const FloWorld *world, const FloAround *around, size_t i, const FloFacet *facet) {
  Triangle t = {.corners = {i, facet->second, facet->third}};
  const FloNear first = corner(world, i), second = corner(world, facet->second),
                third = corner(world, facet->third);
  flo_around_offset(around, &first, &second, t.b);
  flo_around_offset(around, &first, &third, t.c);
  vec_cross(t.b, t.c, t.normal);
  double length = vec_length(t.normal);
  t.area = length / 2;
  if (length > 0) vec_scale(t.normal, 1 / length, t.normal);
  for (int k = 0; k < 3; ++k) t.tension += tension_of(world, t.corners[k]) / 3;
  return t;
}

static void pull_fluid(Work *work, const Triangle *t, int n_sides) {
  double *pull = work->facets->pull, half = t->tension * n_sides / 2, side[3];
  vec_sub(t->b, t->c, side);
  pull_corner(pull + 3 * t->corners[0], t->normal, side, half);
  pull_corner(pull + 3 * t->corners[1], t->normal, t->c, half);
  vec_scale(t->b, -1, side);
  pull_corner(pull + 3 * t->corners[2], t->normal, side, half);
}

// ---- Wetting ----

// w and its derivative over the mean distance of the corners.
static double wetness(double distance, double spacing, double *slope) {
  double q = (distance / spacing - WET) / (DRY - WET);
  *slope = 0;
  if (q <= 0) return 1;
  if (q >= 1) return 0;
  *slope = -6 * q * (1 - q) / (DRY - WET) / spacing;
  return 1 - q * q * (3 - 2 * q);
}

static double work_of_adhesion(const FloWorld *world, const Triangle *t, const FloFooting *footing) {
  const FloBody *body = flo_body_at(world, footing->set, footing->sample);
  double work = 0;
  for (int k = 0; k < 3; ++k) {
    const FloMaterial *m = &flo_materials(world)[world->sets[FLO_SET_FLUID].material[t->corners[k]]];
    work += m->surface_tension * (1 + cos(flo_contact_angle(m, body))) / 3;
  }
  return work;
}

static void pull_with_solid(Work *work, size_t i, const FloFooting *footing, const double pull[3]) {
  const FloParticles *p = &work->world->sets[FLO_SET_FLUID];
  const double x[3] = {p->x[i], p->y[i], p->z[i]};
  double *sum = work->facets->pull + 3 * i;
  vec_add(sum, pull, sum);
  flo_solid_pulls_add(&work->facets->solids, work->world, footing->set, footing->sample, x, pull);
}

static bool is_on(const FloWorld *world, const FloFooting *a, const FloFooting *b) {
  return a->is_near && flo_body_at(world, a->set, a->sample) == flo_body_at(world, b->set, b->sample);
}

// Those of the corners on the solid that is nearest to one of them. Returns the nearest.
static const FloFooting *find_footings(const Work *work, const Triangle *t, FloFooting footings[3]) {
  const FloFooting *nearest = NULL;
  for (int k = 0; k < 3; ++k) {
    footings[k] = work->facets->footings[t->corners[k]];
    if (footings[k].is_near && (!nearest || footings[k].distance < nearest->distance)) nearest = &footings[k];
  }
  for (int k = 0; nearest && k < 3; ++k)
    if (&footings[k] != nearest && !is_on(work->world, &footings[k], nearest))
      footings[k] = footing_on(work->world, nearest->set, nearest->sample, t->corners[k]);
  return nearest;
}

// Gradients of the area that faces the solid, over the places of the corners.
static void grow_facing(const Triangle *t, const double normal[3], double sign, double grow[3][3]) {
  vec_cross(t->c, normal, grow[1]);
  vec_scale(grow[1], sign / 2, grow[1]);
  vec_cross(normal, t->b, grow[2]);
  vec_scale(grow[2], sign / 2, grow[2]);
  vec_add(grow[1], grow[2], grow[0]);
  vec_scale(grow[0], -1, grow[0]);
}

static void wet(Work *work, const Triangle *t, uint32_t sides) {
  double slope, grow[3][3];
  FloFooting footings[3];
  const FloFooting *nearest = find_footings(work, t, footings);
  if (!nearest) return;
  const double distance = (footings[0].distance + footings[1].distance + footings[2].distance) / 3,
               w = wetness(distance, work->world->def.spacing, &slope),
               adhesion = work_of_adhesion(work->world, t, nearest),
               facing = -vec_dot(t->normal, nearest->normal);
  if (w == 0 || adhesion == 0 || facing == 0 || !(sides & (facing > 0 ? 1u : 2u))) return;
  grow_facing(t, nearest->normal, facing > 0 ? -1 : 1, grow);
  for (int k = 0; k < 3; ++k) {
    double pull[3];
    vec_scale(grow[k], adhesion * w, pull);
    vec_add_scaled(pull, footings[k].normal, adhesion * t->area * fabs(facing) * slope / 3, pull);
    pull_with_solid(work, t->corners[k], nearest, pull);
  }
}

// Near a solid the parallel surfaces of the fluid and of its wetted side meet in a sharp edge, which adds
// (1 - cos(angle)) tan(t/2) = sin(t) for t = pi - angle, instead of the t of a rounded edge.
static double turn_near_solids(const Work *work, size_t i, const FloRidge *ridge) {
  const FloFooting *a = &work->facets->footings[i], *b = &work->facets->footings[ridge->second];
  double turn = (double)ridge->turn, slope;
  if (!a->is_near || !b->is_near) return turn;
  double w = wetness((a->distance + b->distance) / 2, work->world->def.spacing, &slope);
  return turn + w * (sin(turn) - turn);
}

static void pull_ridge(Work *work, const FloAround *around, size_t i, const FloRidge *ridge) {
  const FloWorld *world = work->world;
  const FloNear first = corner(world, i), second = corner(world, ridge->second);
  double d[3], *pull = work->facets->pull;
  flo_around_offset(around, &first, &second, d);
  double length = vec_length(d);
  if (length == 0) return;
  double tension = (tension_of(world, i) + tension_of(world, ridge->second)) / 2;
  double force = tension * world->def.spacing / 2 * turn_near_solids(work, i, ridge) / length;
  vec_add_scaled(pull + 3 * i, d, force, pull + 3 * i);
  vec_add_scaled(pull + 3 * ridge->second, d, -force, pull + 3 * ridge->second);
}

static void pull_star(Work *work, const FloAround *around, size_t i) {
  const FloSurfaceFacets *facets = work->facets;
  for (uint8_t k = 0; k < facets->n_ridges[i]; ++k)
    pull_ridge(work, around, i, &facets->ridges[FLO_MOST_FACETS * i + k]);
  for (uint8_t k = 0; k < facets->n_facets[i]; ++k) {
    const FloFacet *facet = &facets->facets[FLO_MOST_FACETS * i + k];
    const Triangle t = triangle_of(work->world, around, i, facet);
    if (t.area == 0) continue;
    pull_fluid(work, &t, facet->sides == 3 ? 2 : 1);
    wet(work, &t, facet->sides);
  }
}

// On one thread, in the order of the particles: only those at the surface have facets.
static void pull_all(Work *work) {
  FloAround around;
  flo_around_init(&around, work->world);
  for (size_t i = 0; i < work->world->sets[FLO_SET_FLUID].count; ++i) pull_star(work, &around, i);
}

static void add_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  for (size_t i = begin; i < end; ++i)
    for (size_t axis = 0; axis < 3; ++axis)
      work->force[4 * i + axis] += (float)work->facets->pull[3 * i + axis];
}

static FloStatus reserve(FloSurfaceFacets *facets, FloWorld *world, FloError *error) {
  size_t n = world->sets[FLO_SET_FLUID].capacity + FLO_BLOCK;
  const size_t sizes[] = {n * FLO_MOST_FACETS * sizeof(FloFacet),
                          n * FLO_MOST_FACETS * sizeof(FloRidge),
                          n,
                          n,
                          3 * n * sizeof(double),
                          n * sizeof(FloFooting)};
  for (size_t k = 0; k < FLO_COUNT_OF(sizes); ++k)
    FLO_TRY(flo_buffer_reserve(&world->memory, &facets->buffers[k], sizes[k], 0, error));
  facets->facets = facets->buffers[0].data, facets->ridges = facets->buffers[1].data;
  facets->n_facets = facets->buffers[2].data, facets->n_ridges = facets->buffers[3].data;
  facets->pull = facets->buffers[4].data;
  facets->footings = facets->buffers[5].data;
  memset(facets->pull, 0, sizes[4]);
  return FLO_OK;
}

static void tell_full(FloSurfaceFacets *facets, const FloWorld *world) {
  if (!flo_is_told(++facets->n_full)) return;
  flo_world_log(
      world, FLO_LOG_WARNING,
      "at %.4g s a particle has more than %d facets of the surface, so the surface has a hole there "
      "(%zu such steps so far); a shorter time step may help",
      world->time, (int)FLO_MOST_FACETS, facets->n_full);
}

FloStatus flo_surface_facets_add(FloSurfaceFacets *facets, FloWorld *world, float *force, FloBodyRows *bodies,
                                 FloError *error) {
  Work work = {.world = world, .facets = facets, .force = force};
  FLO_TRY(reserve(facets, world, error));
  FLO_TRY(flo_solid_pulls_begin(&facets->solids, world, bodies, error));
  flo_each_particle(world, FLO_SET_FLUID, find_range, &work);
  if (work.is_crowded) return flo_around_crowded(error);
  if (work.is_full) tell_full(facets, world);
  pull_all(&work);
  flo_each_particle(world, FLO_SET_FLUID, add_range, &work);
  return FLO_OK;
}

void flo_surface_facets_free(FloSurfaceFacets *facets, FloMemory *memory) {
  flo_buffers_free(memory, facets->buffers, FLO_COUNT_OF(facets->buffers));
  flo_solid_pulls_free(&facets->solids, memory);
}
