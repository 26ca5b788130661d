// Surface tension in 2D: the energy of a fluid is its surface tension times the length of its outline.
//
// The outline is the alpha shape of the particles (Edelsbrunner, Kirkpatrick & Seidel 1983): two particles
// are linked if a disc of radius alpha touches both and holds no other that both see. Each link pulls its
// ends together by the surface tension, which is minus the gradient of the energy. The pulls of a chain of
// links add up to the tension times the curvature, along the normal, however unevenly the chain is divided.
// So nothing has to be calibrated, nothing draws particles along the surface, and no pressure but Laplace's
// builds up inside. A link with both sides free is a thread; its two surfaces count twice.
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

// A link pulls fully above this length, and not at all below the least, in spacings. Without this, two lone
// particles would fall into one point.
#define LEAST_LINK 0.3
#define WHOLE_LINK 0.6
typedef struct Work {
  FloWorld *world;
  FloSurfaceLinks *links;
  float *force;
  _Atomic bool is_crowded;
} Work;

// ---- Links ----

// The discs through the ends of a link, as seen from its first end.
typedef struct Link {
  const FloNear *from, *to;
  double left[3];      // unit vector across it
  double centre[2][3]; // of the discs to the left and to the right
  bool is_free[2];     // of other particles
} Link;

static bool comes_first(const FloNear *a, const FloNear *b) {
  return a->set != b->set ? a->set < b->set : a->index < b->index;
}

static Link link_of(const FloAround *around, const FloNear *other) {
  bool is_first = comes_first(&around->self, other);
  Link link = {.from = is_first ? &around->self : other, .to = is_first ? other : &around->self};
  double d[3], half[3], length;
  flo_around_untied_offset(around, link.from, link.to, d);
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
static void block_sides(const FloAround *around, const FloNear *other, Link *link) {
  for (size_t k = 0; k < around->count && (link->is_free[0] || link->is_free[1]); ++k) {
    const FloNear *near = &around->near[k];
    if (near == other || !flo_around_is_near(around, other, near)) continue;
    double d[3], gap[3];
    flo_around_untied_offset(around, link->from, near, d);
    for (int side = 0; side < 2; ++side) {
      vec_sub(d, link->centre[side], gap);
      if (vec_dot(gap, gap) < around->alpha * around->alpha) link->is_free[side] = false;
    }
  }
}

// How many surfaces it is a part of.
static int sides_of(const Link *link) { return link->is_free[0] + link->is_free[1]; }

static double gate(const FloAround *around, double length) {
  double q = (length / around->world->def.spacing - LEAST_LINK) / (WHOLE_LINK - LEAST_LINK);
  q = fmin(fmax(q, 0), 1);
  return q * q * (3 - 2 * q);
}

static double tension_of(const FloWorld *world, size_t i) {
  return flo_materials(world)[world->sets[FLO_SET_FLUID].material[i]].surface_tension;
}

// On the particle in the middle. The pull is along the line between the true places, so it has no moment.
static void pull_along(const FloAround *around, const Link *link, double force[3]) {
  const FloWorld *world = around->world;
  double tension = (tension_of(world, link->from->index) + tension_of(world, link->to->index)) / 2, d[3];
  flo_around_offset(around, link->from, link->to, d);
  double length = vec_length(d), pull = tension * sides_of(link) * gate(around, length);
  if (pull == 0) return;
  vec_add_scaled(force, d, (link->from == &around->self ? pull : -pull) / length, force);
}

// Pull of the solid that a link ends at.
static void pull_at_solid(const FloAround *around, const Link *link, const FloBody *body, double pull[3]) {
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

static void pull_particle(FloAround *around, FloSurfaceLinks *links, size_t i, float *out) {
  double force[3] = {0}, pull[3];
  flo_around_look(around, i, true);
  links->touches[i] = 0;
  for (size_t k = 0; k < around->count; ++k) {
    const FloNear *other = &around->near[k];
    Link link = link_of(around, other);
    block_sides(around, other, &link);
    if (sides_of(&link) == 0) continue;
    if (other->set == FLO_SET_FLUID) {
      pull_along(around, &link, force);
      continue;
    }
    pull_at_solid(around, &link, flo_body_at(around->world, other->set, other->index), pull);
    vec_add(force, pull, force);
    links->touches[i] = 1;
  }
  for (int axis = 0; axis < 3; ++axis) out[axis] += (float)force[axis];
}

static void pull_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Work *work = context;
  FloAround around;
  flo_around_init(&around, work->world);
  for (size_t i = begin; i < end; ++i) {
    pull_particle(&around, work->links, i, work->force + 4 * i);
    if (around.is_crowded) work->is_crowded = true;
  }
}

// ---- The opposite pulls ----

static void pull_solids_at(FloSurfaceLinks *links, const FloAround *around) {
  const FloWorld *world = around->world;
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  size_t i = around->self.index;
  const double x[3] = {p->x[i], p->y[i], p->z[i]};
  for (size_t k = 0; k < around->count; ++k) {
    const FloNear *other = &around->near[k];
    double pull[3];
    if (other->set == FLO_SET_FLUID) continue;
    Link link = link_of(around, other);
    block_sides(around, other, &link);
    if (sides_of(&link) == 0) continue;
    pull_at_solid(around, &link, flo_body_at(world, other->set, other->index), pull);
    flo_solid_pulls_add(&links->solids, world, other->set, other->index, x, pull);
  }
}

// In the order of the particles, on one thread: few particles touch solids where their surface ends.
static void pull_solids(Work *work) {
  FloAround around;
  flo_around_init(&around, work->world);
  for (size_t i = 0; i < work->world->sets[FLO_SET_FLUID].count; ++i) {
    if (work->links->touches[i] == 0) continue;
    flo_around_look(&around, i, true);
    pull_solids_at(work->links, &around);
  }
}

FloStatus flo_surface_links_add(FloSurfaceLinks *links, FloWorld *world, float *force, FloBodyRows *bodies,
                                FloError *error) {
  Work work = {.world = world, .links = links, .force = force};
  size_t n = world->sets[FLO_SET_FLUID].capacity + FLO_BLOCK;
  FLO_TRY(flo_buffer_reserve(&world->memory, &links->buffer, n * sizeof(float), 0, error));
  links->touches = links->buffer.data;
  FLO_TRY(flo_solid_pulls_begin(&links->solids, world, bodies, error));
  flo_each_particle(world, FLO_SET_FLUID, pull_range, &work);
  if (work.is_crowded) return flo_around_crowded(error);
  pull_solids(&work);
  return FLO_OK;
}

void flo_surface_links_free(FloSurfaceLinks *links, FloMemory *memory) {
  flo_buffer_free(memory, &links->buffer);
  flo_solid_pulls_free(&links->solids, memory);
}
