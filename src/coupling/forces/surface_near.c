#include "coupling/forces/surface_near.h"

#include "base/vecmath.h"

#include <math.h>
#include <string.h>

// Radius of the disc or ball, in spacings. It must pass over the gaps between neighbours at the surface, and
// follow the bends of the surface.
#define ALPHA 1.25
// Particles farther from each other than this, in spacings, do not see each other here, whatever the kernel:
// they are not parts of one link or facet, and none keeps the other's disc or ball away. It must be less than
// 2 ALPHA, so that a disc or ball can touch both.
#define REACH 2.0
// Particles count as moved by about this, in spacings, each in its own direction. On a lattice several
// particles would lie on one circle.
#define UNTIE 1e-4

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

bool flo_surface_wets(const FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (flo_bodies(world)[k].contact_angle >= 0) return true;
  return wets_all(world);
}

// ---- Neighbours ----

static double fraction(uint32_t x) {
  x ^= x >> 16, x *= 0x7feb352dU, x ^= x >> 15, x *= 0x846ca68bU, x ^= x >> 16;
  return (double)x / 4294967296.0 - 0.5;
}

static FloNear near_of(const FloAround *around, FloSet set, size_t index) {
  const FloWorld *world = around->world;
  FloNear near = {.set = set, .index = index};
  uint32_t seed = 8 * world->sets[set].id[index] + (uint32_t)set;
  for (int axis = 0; axis < world->def.dim; ++axis) {
    near.fixed[axis] = world->grids[set].fixed[4 * index + (size_t)axis];
    near.aside[axis] = UNTIE * world->def.spacing / around->scale[axis] *
                       fraction(seed * 0x9e3779b9U + (uint32_t)axis * 0x85ebca6bU);
  }
  return near;
}

// The difference wraps around as the coordinates do.
void flo_around_offset(const FloAround *around, const FloNear *a, const FloNear *b, double d[3]) {
  for (int axis = 0; axis < 3; ++axis)
    d[axis] = around->scale[axis] * (double)(int32_t)((uint32_t)b->fixed[axis] - (uint32_t)a->fixed[axis]);
}

void flo_around_untied_offset(const FloAround *around, const FloNear *a, const FloNear *b, double d[3]) {
  flo_around_offset(around, a, b, d);
  for (int axis = 0; axis < 3; ++axis) d[axis] += around->scale[axis] * (b->aside[axis] - a->aside[axis]);
}

bool flo_around_is_near(const FloAround *around, const FloNear *a, const FloNear *b) {
  double d[3];
  flo_around_offset(around, a, b, d);
  return vec_dot(d, d) < around->reach2;
}

static bool is_wetted(const FloAround *around, FloSet set, size_t index) {
  return around->wets_all || flo_body_at(around->world, set, index)->contact_angle >= 0;
}

static void add_near(FloAround *around, FloSet set) {
  const FloPairs *pairs = flo_pairs_of(around->world, FLO_SET_FLUID, set);
  size_t row = around->self.index, block = row / FLO_BLOCK;
  if (around->world->sets[set].count == 0 || pairs->n_rows <= row) return;
  const FloPairSlot *slot = pairs->slots + pairs->slot_begin[block];
  for (int32_t k = 0; k < pairs->row_count[row]; ++k) {
    size_t index = (size_t)slot[k].index[row % FLO_BLOCK];
    if (set != FLO_SET_FLUID && !is_wetted(around, set, index)) continue;
    const FloNear near = near_of(around, set, index);
    if (!flo_around_is_near(around, &around->self, &near)) continue;
    around->is_crowded = around->count == FLO_MOST_NEAR;
    if (around->is_crowded) return;
    around->near[around->count++] = near;
  }
}

void flo_around_look(FloAround *around, size_t i, bool has_samples) {
  around->count = 0;
  around->self = near_of(around, FLO_SET_FLUID, i);
  add_near(around, FLO_SET_FLUID);
  if (!has_samples) return;
  add_near(around, FLO_SET_BOUNDARY);
  add_near(around, FLO_SET_RIGID);
}

void flo_around_init(FloAround *around, const FloWorld *world) {
  around->world = world, around->is_crowded = false;
  around->wets_all = wets_all(world);
  around->alpha = ALPHA * world->def.spacing;
  const double reach = fmin(REACH * world->def.spacing, world->kernel.support);
  around->reach2 = reach * reach;
  for (int axis = 0; axis < 3; ++axis) around->scale[axis] = 1 / world->lattice.to_fixed[axis];
}

FloStatus flo_around_crowded(FloError *error) {
  return flo_fail(error, FLO_DIVERGED,
                  "a particle has more than %d neighbours, too many to find the surface of the fluid; "
                  "a shorter time step may help",
                  (int)FLO_MOST_NEAR);
}

// ---- Pulls on solids ----

FloStatus flo_solid_pulls_begin(FloSolidPulls *pulls, FloWorld *world, FloBodyRows *bodies, FloError *error) {
  size_t n = 4 * (world->sets[FLO_SET_BOUNDARY].capacity + FLO_BLOCK);
  FLO_TRY(flo_buffer_reserve(&world->memory, &pulls->buffer, n * sizeof(float), 0, error));
  pulls->wall_force = pulls->buffer.data, pulls->bodies = bodies, pulls->has_contacts = false;
  memset(pulls->wall_force, 0, n * sizeof(float));
  return FLO_OK;
}

static void pull_body(FloSolidPulls *pulls, const FloWorld *world, size_t sample, const double x[3],
                      const double pull[3]) {
  const FloBody *body = flo_body_at(world, FLO_SET_RIGID, sample);
  const FloCarriers carriers = flo_body_carriers(body, &world->sets[FLO_SET_RIGID], sample);
  for (size_t axis = 0; axis < 3; ++axis) pulls->bodies->force[4 * sample + axis] -= (float)pull[axis];
  for (int k = 0; k < carriers.count; ++k) {
    const FloNode *node = &body->nodes[carriers.nodes[k]];
    double *wrench = pulls->bodies->wrenches + 6 * (body->first_node + carriers.nodes[k]), arm[3], turn[3];
    flo_domain_between(&world->domain, node->position, x, arm);
    vec_cross(arm, pull, turn);
    vec_add_scaled(wrench, pull, -carriers.shares[k], wrench);
    vec_add_scaled(wrench + 3, turn, -carriers.shares[k], wrench + 3);
  }
}

void flo_solid_pulls_add(FloSolidPulls *pulls, const FloWorld *world, FloSet set, size_t sample,
                         const double x[3], const double pull[3]) {
  pulls->has_contacts = true;
  if (set == FLO_SET_RIGID) {
    if (pulls->bodies->is_used) pull_body(pulls, world, sample, x, pull);
    return;
  }
  for (size_t axis = 0; axis < 3; ++axis) pulls->wall_force[4 * sample + axis] -= (float)pull[axis];
}

void flo_solid_pulls_add_walls(const FloSolidPulls *pulls, const FloWorld *world, float *force, size_t begin,
                               size_t end) {
  size_t last = flo_min_size(end * FLO_BLOCK, world->sets[FLO_SET_BOUNDARY].count);
  if (!pulls->has_contacts) return;
  for (size_t k = 4 * begin * FLO_BLOCK; k < 4 * last; ++k) force[k] += pulls->wall_force[k];
}

void flo_solid_pulls_free(FloSolidPulls *pulls, FloMemory *memory) {
  flo_buffer_free(memory, &pulls->buffer);
}
