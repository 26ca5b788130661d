// Surface tension in 2D: the energy of a fluid is its surface tension times the length of its outline.
//
// The outline is the alpha shape of the particles (Edelsbrunner, Kirkpatrick & Seidel 1983): two particles
// are linked if a disc of radius ALPHA touches both and holds no other. Each link pulls its ends together by
// the surface tension, which is minus the gradient of the energy. The pulls of a chain of links add up to the
// tension times the curvature, along the normal, however unevenly the chain is divided. So nothing has to be
// calibrated, nothing draws particles along the surface, and no pressure but Laplace's builds up inside. A
// link with both sides free is a thread; its two surfaces count twice.
//
// Samples of solids with a contact angle take part. A link from fluid to a sample is where the outline ends
// at the solid. There the solid pulls the fluid by the surface tension in the direction in which a surface
// with this contact angle would go on into the solid:
//
//   sigma (cos(angle) t - sin(angle) n)    t: along the solid, out of the fluid; n: normal of the solid
//
// The chain is at rest if it meets the solid with that angle: Young's law. The solid is pulled by the
// opposite at the same point. Solids without a contact angle are left out, so that fluid is bounded by them
// as by air, and does not wet them: an angle of 180 degrees.
//
// Both ends of a link find it from the same numbers in the same order, so their forces are exactly opposite.
#include "coupling/forces/surface_links.h"

#include "base/parallel.h"
#include "base/vecmath.h"

#include <math.h>
#include <string.h>

// Radius of the disc, in spacings. It must pass over the gaps between neighbours at the surface, and follow
// the bends of the surface.
#define ALPHA 1.25
// A link pulls fully above this length, and not at all below the least, in spacings. Without this, two lone
// particles would fall into one point.
#define LEAST_LINK 0.3
#define WHOLE_LINK 0.6
// Particles count as moved by about this, in spacings, each in its own direction. On a lattice several
// particles would lie on one circle.
#define UNTIE 1e-4

enum { MOST_NEAR = 512, BLOCK = FLO_BLOCK };

// A particle or sample that is near another one.
typedef struct Near {
  int32_t fixed[3];
  double aside[3]; // see UNTIE; in units of fixed point
  FloSet set;
  size_t index;
} Near;

typedef struct Around {
  const FloWorld *world;
  double scale[3], reach2; // metres per unit of fixed point; square of the support [m^2]
  double alpha;            // [m]
  bool wets_all;
  Near self, near[MOST_NEAR];
  size_t count;
  bool is_crowded; // there were more
} Around;

typedef struct Work {
  FloWorld *world;
  FloSurfaceLinks *links;
  float *force;
  FloBodyRows *bodies;
  _Atomic bool is_crowded;
} Work;

// ---- Contact angles ----

double flo_contact_angle(const FloMaterial *fluid, const FloBody *body) {
  double degrees = body->contact_angle >= 0 ? body->contact_angle : fluid->contact_angle;
  return degrees < 0 ? FLO_PI : degrees * FLO_PI / 180;
}

// Whether some fluid has a contact angle with all solids.
static bool wets_all(const FloWorld *world) {
  for (size_t k = 0; k < world->materials.count; ++k) {
    const FloMaterial *m = &flo_materials(world)[k];
    if (m->is_fluid && m->contact_angle >= 0) return true;
  }
  return false;
}

bool flo_surface_links_wets(const FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (flo_bodies(world)[k].contact_angle >= 0) return true;
  return wets_all(world);
}

// ---- Neighbours ----

static double fraction(uint32_t x) {
  x ^= x >> 16, x *= 0x7feb352dU, x ^= x >> 15, x *= 0x846ca68bU, x ^= x >> 16;
  return (double)x / 4294967296.0 - 0.5;
}

static Near near_of(const Around *around, FloSet set, size_t index) {
  const FloWorld *world = around->world;
  Near near = {.set = set, .index = index};
  uint32_t seed = 8 * world->sets[set].id[index] + (uint32_t)set;
  for (int axis = 0; axis < world->def.dim; ++axis) {
    near.fixed[axis] = world->grids[set].fixed[4 * index + (size_t)axis];
    near.aside[axis] = UNTIE * world->def.spacing / around->scale[axis] *
                       fraction(seed * 0x9e3779b9U + (uint32_t)axis * 0x85ebca6bU);
  }
  return near;
}

// From a to b. The difference wraps around as the coordinates do.
static void offset(const Around *around, const Near *a, const Near *b, double d[3]) {
  for (int axis = 0; axis < 3; ++axis)
    d[axis] = around->scale[axis] * (double)(int32_t)((uint32_t)b->fixed[axis] - (uint32_t)a->fixed[axis]);
}

static void untied_offset(const Around *around, const Near *a, const Near *b, double d[3]) {
  offset(around, a, b, d);
  for (int axis = 0; axis < 3; ++axis) d[axis] += around->scale[axis] * (b->aside[axis] - a->aside[axis]);
}

static bool is_near(const Around *around, const Near *a, const Near *b) {
  double d[3];
  offset(around, a, b, d);
  return vec_dot(d, d) < around->reach2;
}

static bool is_wetted(const Around *around, FloSet set, size_t index) {
  const FloWorld *world = around->world;
  return around->wets_all || flo_bodies(world)[world->sets[set].body[index]].contact_angle >= 0;
}

static void add_near(Around *around, FloSet set) {
  const FloPairs *pairs = flo_pairs_of(around->world, FLO_SET_FLUID, set);
  size_t row = around->self.index, block = row / BLOCK;
  if (around->world->sets[set].count == 0 || pairs->n_rows <= row) return;
  const FloPairSlot *slot = pairs->slots + pairs->slot_begin[block];
  for (int32_t k = 0; k < pairs->row_count[row]; ++k) {
    size_t index = (size_t)slot[k].index[row % BLOCK];
    if (set != FLO_SET_FLUID && !is_wetted(around, set, index)) continue;
    const Near near = near_of(around, set, index);
    if (!is_near(around, &around->self, &near)) continue;
    around->is_crowded = around->count == MOST_NEAR;
    if (around->is_crowded) return;
    around->near[around->count++] = near;
  }
}

static void look_around(Around *around, size_t i) {
  around->count = 0;
  around->self = near_of(around, FLO_SET_FLUID, i);
  add_near(around, FLO_SET_FLUID);
  add_near(around, FLO_SET_BOUNDARY);
  add_near(around, FLO_SET_RIGID);
}

static void init_around(Around *around, const FloWorld *world) {
  around->world = world, around->is_crowded = false;
  around->wets_all = wets_all(world);
  around->alpha = ALPHA * world->def.spacing;
  around->reach2 = world->kernel.support * world->kernel.support;
  for (int axis = 0; axis < 3; ++axis) around->scale[axis] = 1 / world->lattice.to_fixed[axis];
}

// ---- Links ----

// The discs through the ends of a link, as seen from its first end.
typedef struct Link {
  const Near *from, *to;
  double left[3];      // unit vector across it
  double centre[2][3]; // of the discs to the left and to the right
  bool is_free[2];     // of other particles
} Link;

static bool comes_first(const Near *a, const Near *b) {
  return a->set != b->set ? a->set < b->set : a->index < b->index;
}

static Link link_of(const Around *around, const Near *other) {
  bool is_first = comes_first(&around->self, other);
  Link link = {.from = is_first ? &around->self : other, .to = is_first ? other : &around->self};
  double d[3], half[3], length;
  untied_offset(around, link.from, link.to, d);
  length = vec_length(d);
  if (length == 0) return link;
  vec_scale(d, 0.5, half);
  vec_set(link.left, -d[1] / length, d[0] / length, 0);
  double height = sqrt(fmax(around->alpha * around->alpha - vec_dot(half, half), 0));
  vec_add_scaled(half, link.left, height, link.centre[0]);
  vec_add_scaled(half, link.left, -height, link.centre[1]);
  link.is_free[0] = link.is_free[1] = true;
  return link;
}

// Only particles near both ends count. Each end knows these.
static void block_sides(const Around *around, const Near *other, Link *link) {
  for (size_t k = 0; k < around->count && (link->is_free[0] || link->is_free[1]); ++k) {
    const Near *near = &around->near[k];
    if (near == other || !is_near(around, other, near)) continue;
    double d[3], gap[3];
    untied_offset(around, link->from, near, d);
    for (int side = 0; side < 2; ++side) {
      vec_sub(d, link->centre[side], gap);
      if (vec_dot(gap, gap) < around->alpha * around->alpha) link->is_free[side] = false;
    }
  }
}

// How many surfaces it is a part of.
static int sides_of(const Link *link) { return link->is_free[0] + link->is_free[1]; }

static double gate(const Around *around, double length) {
  double q = (length / around->world->def.spacing - LEAST_LINK) / (WHOLE_LINK - LEAST_LINK);
  q = fmin(fmax(q, 0), 1);
  return q * q * (3 - 2 * q);
}

static double tension_of(const FloWorld *world, size_t i) {
  return flo_materials(world)[world->sets[FLO_SET_FLUID].material[i]].surface_tension;
}

// On the particle in the middle. The pull is along the line between the true places, so it has no moment.
static void pull_along(const Around *around, const Link *link, double force[3]) {
  const FloWorld *world = around->world;
  double tension = (tension_of(world, link->from->index) + tension_of(world, link->to->index)) / 2, d[3];
  offset(around, link->from, link->to, d);
  double length = vec_length(d), pull = tension * sides_of(link) * gate(around, length);
  if (pull == 0) return;
  vec_add_scaled(force, d, (link->from == &around->self ? pull : -pull) / length, force);
}

// Pull of the solid that a link ends at.
static void pull_at_solid(const Around *around, const Link *link, const FloBody *body, double pull[3]) {
  const FloWorld *world = around->world;
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  size_t i = around->self.index;
  const double x[3] = {p->x[i], p->y[i], p->z[i]}, tension = tension_of(world, i);
  double angle = flo_contact_angle(&flo_materials(world)[p->material[i]], body), normal[3];
  flo_world_normal(world, body, x, normal);
  vec_set(pull, 0, 0, 0);
  for (int side = 0; side < 2; ++side) {
    if (!link->is_free[side]) continue;
    double out[3], sign = side ? -1 : 1;
    vec_scale(link->left, sign, out);
    double tangent[3] = {-normal[1], normal[0], 0};
    if (vec_dot(tangent, out) < 0) vec_scale(tangent, -1, tangent);
    vec_add_scaled(pull, tangent, tension * cos(angle), pull);
    vec_add_scaled(pull, normal, -tension * sin(angle), pull);
  }
}

// ---- Sums ----

static const FloBody *body_at(const FloWorld *world, const Near *near) {
  return &flo_bodies(world)[world->sets[near->set].body[near->index]];
}

static void pull_particle(Around *around, FloSurfaceLinks *links, size_t i, float *out) {
  double force[3] = {0}, pull[3];
  look_around(around, i);
  links->touches[i] = 0;
  for (size_t k = 0; k < around->count; ++k) {
    const Near *other = &around->near[k];
    Link link = link_of(around, other);
    block_sides(around, other, &link);
    if (sides_of(&link) == 0) continue;
    if (other->set == FLO_SET_FLUID) {
      pull_along(around, &link, force);
      continue;
    }
    pull_at_solid(around, &link, body_at(around->world, other), pull);
    vec_add(force, pull, force);
    links->touches[i] = 1;
  }
  for (int axis = 0; axis < 3; ++axis) out[axis] += (float)force[axis];
}

static void pull_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Work *work = context;
  Around around;
  init_around(&around, work->world);
  for (size_t i = begin; i < end; ++i) {
    pull_particle(&around, work->links, i, work->force + 4 * i);
    if (around.is_crowded) work->is_crowded = true;
  }
}

// ---- The opposite pulls ----

static void pull_solid(Work *work, const Around *around, const Near *sample, const double pull[3]) {
  const FloWorld *world = work->world;
  const FloBody *body = body_at(world, sample);
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  size_t i = around->self.index;
  if (sample->set == FLO_SET_BOUNDARY) {
    for (size_t axis = 0; axis < 3; ++axis)
      work->links->wall_force[4 * sample->index + axis] -= (float)pull[axis];
    return;
  }
  if (!work->bodies->is_used) return;
  for (size_t axis = 0; axis < 3; ++axis) work->bodies->force[4 * sample->index + axis] -= (float)pull[axis];
  const FloCarriers carriers = flo_body_carriers(body, &world->sets[sample->set], sample->index);
  for (int k = 0; k < carriers.count; ++k) {
    const FloNode *node = &body->nodes[carriers.nodes[k]];
    const double x[3] = {p->x[i], p->y[i], p->z[i]};
    double *wrench = work->bodies->wrenches + 6 * (body->first_node + carriers.nodes[k]), arm[3], turn[3];
    vec_sub(x, node->position, arm);
    vec_cross(arm, pull, turn);
    vec_add_scaled(wrench, pull, -carriers.shares[k], wrench);
    vec_add_scaled(wrench + 3, turn, -carriers.shares[k], wrench + 3);
  }
}

// In the order of the particles, on one thread: few particles touch solids where their surface ends.
static void pull_solids(Work *work) {
  const FloWorld *world = work->world;
  Around around;
  init_around(&around, world);
  for (size_t i = 0; i < world->sets[FLO_SET_FLUID].count; ++i) {
    if (work->links->touches[i] == 0) continue;
    work->links->has_contacts = true;
    look_around(&around, i);
    for (size_t k = 0; k < around.count; ++k) {
      const Near *other = &around.near[k];
      double pull[3];
      if (other->set == FLO_SET_FLUID) continue;
      Link link = link_of(&around, other);
      block_sides(&around, other, &link);
      if (sides_of(&link) == 0) continue;
      pull_at_solid(&around, &link, body_at(world, other), pull);
      pull_solid(work, &around, other, pull);
    }
  }
}

static FloStatus reserve(FloSurfaceLinks *links, FloWorld *world, FloError *error) {
  size_t n = world->sets[FLO_SET_FLUID].capacity + FLO_BLOCK;
  size_t n_walls = 4 * (world->sets[FLO_SET_BOUNDARY].capacity + FLO_BLOCK);
  FLO_TRY(flo_buffer_reserve(&world->memory, &links->buffers[0], n * sizeof(float), 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &links->buffers[1], n_walls * sizeof(float), 0, error));
  links->touches = links->buffers[0].data;
  links->wall_force = links->buffers[1].data;
  memset(links->wall_force, 0, n_walls * sizeof(float));
  return FLO_OK;
}

FloStatus flo_surface_links_add(FloSurfaceLinks *links, FloWorld *world, float *force, FloBodyRows *bodies,
                                FloError *error) {
  Work work = {.world = world, .links = links, .force = force, .bodies = bodies};
  FLO_TRY(reserve(links, world, error));
  links->has_contacts = false;
  flo_each_particle(world, FLO_SET_FLUID, pull_range, &work);
  if (work.is_crowded)
    return flo_fail(error, FLO_DIVERGED,
                    "a particle has more than %d neighbours, too many to find the surface of the fluid; "
                    "a shorter time step may help",
                    (int)MOST_NEAR);
  pull_solids(&work);
  return FLO_OK;
}

void flo_surface_links_free(FloSurfaceLinks *links, FloMemory *memory) {
  flo_buffers_free(memory, links->buffers, FLO_COUNT_OF(links->buffers));
}

void flo_surface_links_pull_walls(const FloSurfaceLinks *links, const FloWorld *world, float *force,
                                  size_t begin, size_t end) {
  size_t last = flo_min_size(end * FLO_BLOCK, world->sets[FLO_SET_BOUNDARY].count);
  for (size_t k = 4 * begin * FLO_BLOCK; k < 4 * last; ++k) force[k] += links->wall_force[k];
}
