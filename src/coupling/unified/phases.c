// Fluids of different density.
//
// All have one stiffness B = rho0 c^2 / gamma, with the density rho0 of the heaviest. With a stiffness of its
// own, in proportion to its density, a light fluid under a heavy one would be compressed by a multiple of
// what the heavy one is, and at a ratio of 100 it would collapse. The price is the step: sound in a fluid of
// density rho has the speed c sqrt(rho0/rho).
//
// Bulk viscosity damps sound. It must not brake a light particle by the momentum of a heavy one, or explicit
// steps would be unstable. So its strength at a particle, D s sqrt(B gamma rho), is that of a mean density
// rho of its neighbourhood: the harmonic one, weighted by |grad W|^2. This is what yields if the particle's
// volume changes.
#include "coupling/unified/unified.h"

#include <stdio.h>

FloPhases flo_unified_phases(const FloWorld *world) {
  const FloMaterial *m = flo_materials(world);
  FloPhases phases = {0};
  for (size_t k = 0; k < world->materials.count; ++k) {
    if (!m[k].is_fluid) continue;
    ++phases.n;
    if (!(phases.most >= m[k].density)) phases.most = m[k].density, phases.heaviest = k;
    if (!(phases.least > 0 && phases.least <= m[k].density)) phases.least = m[k].density, phases.lightest = k;
  }
  return phases;
}

// ---- The speed of sound ----

// How far a body reaches along gravity [m].
static double height_of(const FloWorld *world, const FloBody *body) {
  const FloParticles *samples = &world->sets[body->kind->set];
  const double g = vec_length(world->def.gravity);
  double low = INFINITY, high = -INFINITY;
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    const double x[3] = {samples->x[i], samples->y[i], samples->z[i]};
    const double depth = vec_dot(x, world->def.gravity) / g;
    low = fmin(low, depth), high = fmax(high, depth);
  }
  return fmax(high - low, 0);
}

// Mass over volume; 0: it has no volume that is known.
static double density_of(const FloBody *body) {
  FloMassProperties whole;
  FloError ignored;
  double mass = 0;
  for (size_t k = 0; k < body->n_nodes; ++k) mass += body->nodes[k].mass;
  if (body->is_thin || flo_solid_mass(body->solid, 1, 0, &whole, &ignored) != FLO_OK) return 0;
  return whole.volume > 0 ? mass / whole.volume : 0;
}

// A body that rests on fluid presses on it by its density times g times its height. Sound ten times as fast
// as this speed lets the fluid yield by 1 %, as it yields to its own motion. A fluid that yields more throws
// the body back.
static double bearing_speed(const FloWorld *world, double density) {
  const double g = vec_length(world->def.gravity);
  double square = 0;
  for (size_t k = 0; g > 0 && density > 0 && k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (!flo_body_is_pushed(body)) continue;
    square = fmax(square, density_of(body) / density * g * height_of(world, body));
  }
  return sqrt(square);
}

double flo_unified_expected_speed(const FloWorld *world, double density) {
  const double moving = fmax(flo_world_expected_speed(world), flo_world_expected_body_speed(world));
  // Drops ten spacings wide are compressed by 2 % or 4 %, as in `direct-forcing`.
  const double between = flo_unified_most_tension(world) / (density * world->def.spacing);
  const double drops = fmax(flo_surface_tension_speed(world), density > 0 ? sqrt(between) : 0) / sqrt(10);
  return fmax(fmax(moving, drops), bearing_speed(world, density));
}

double flo_unified_top_sound(const FloWorld *world, const FloUnified *unified) {
  const FloPhases phases = flo_unified_phases(world);
  const double c = flo_sound_speed(world, &unified->fluid);
  return phases.least > 0 ? c * sqrt(phases.most / phases.least) : c;
}

// ---- Bulk viscosity ----

// The sum of |grad W|^2 over the lattice of fluid at rest.
static double sum_of_lattice(const FloWorld *world) {
  const double s = world->def.spacing;
  const int reach = (int)(world->kernel.support / s), depth = world->def.dim == 3 ? reach : 0;
  double sum = 0;
  for (int k = -depth; k <= depth; ++k)
    for (int j = -reach; j <= reach; ++j)
      for (int i = -reach; i <= reach; ++i) {
        const double r = s * sqrt((double)(i * i + j * j + k * k));
        if (!(r > 0 && r < world->kernel.support)) continue;
        sum += pow(r * flo_kernel_gradient(&world->kernel, r), 2);
      }
  return sum;
}

typedef struct Bulks {
  FloWorld *world;
  FloUnified *unified;
  double per_lattice, reference;
} Bulks;

static void lightness_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Bulks *in = context;
  const FloParticles *p = &in->world->sets[FLO_SET_FLUID];
  for (size_t i = begin; i < end; ++i)
    in->unified->lightness[i] =
        (float)(in->reference / flo_materials(in->world)[p->material[i]].density * in->per_lattice);
}

static void yielding_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Bulks *in = context;
  const FloSweep sweep = {.pairs = flo_pairs_of(in->world, FLO_SET_FLUID, FLO_SET_FLUID),
                          .columns = in->unified->lightness,
                          .rows = in->unified->yielding};
  flo_passes()->square(&sweep, begin, end);
}

// The factor of D s c drho/dt with the particle's own density. `yielding` is reference over the harmonic mean
// of the neighbours' densities, but for the neighbours that are missing.
static void bulk_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Bulks *in = context;
  const FloParticles *p = &in->world->sets[FLO_SET_FLUID];
  for (size_t i = begin; i < end; ++i) {
    const float own = (float)(in->reference / flo_materials(in->world)[p->material[i]].density);
    in->unified->bulk[i] = own / sqrtf(fmaxf(in->unified->yielding[i], own));
  }
}

void flo_unified_find_bulks(FloWorld *world, FloUnified *unified) {
  const FloPhases *phases = &unified->phases;
  Bulks bulks = {world, unified, 1 / sum_of_lattice(world), phases->most};
  unified->fluid.bulks = NULL;
  if (!(phases->least < phases->most)) return;
  flo_each_particle(world, FLO_SET_FLUID, lightness_range, &bulks);
  flo_each_block(world, FLO_SET_FLUID, FLO_SET_FLUID, yielding_range, &bulks);
  flo_each_particle(world, FLO_SET_FLUID, bulk_range, &bulks);
  unified->fluid.bulks = unified->bulk;
}

// ---- What a user should know ----

FloStatus flo_unified_check_ratio(const FloWorld *world, const FloUnified *unified, FloError *error) {
  const FloPhases *phases = &unified->phases;
  const FloMaterial *m = flo_materials(world);
  const double least = world->def.min_time_step, sound = flo_unified_top_sound(world, unified),
               dt = world->def.cfl * world->def.spacing / sound;
  if (!(phases->least < phases->most) || !(dt < least) || world->def.time_step > 0) return FLO_OK;
  return flo_fail(
      error, FLO_BAD_INPUT,
      "'%.60s' is %.3g times as dense as '%.60s': sound in the lighter one has %.3g m/s, so that a "
      "second takes %.2g steps, each shorter than min_time_step = %g s; give the lighter one at "
      "least %.3g kg/m^3, or lower min_time_step",
      m[phases->heaviest].name, phases->most / phases->least, m[phases->lightest].name, sound, 1 / dt, least,
      phases->least * pow(least / dt, 2));
}

// A step that is shorter by less than this is not worth a word.
#define WORTH_TELLING 2
// Two layers have been tested up to this ratio.
#define TESTED 500

bool flo_unified_advise(const FloWorld *world, char *text, size_t size) {
  const FloPhases phases = flo_unified_phases(world);
  const FloMaterial *m = flo_materials(world);
  const double shorter = phases.least > 0 ? sqrt(phases.most / phases.least) : 1;
  if (shorter < WORTH_TELLING) return false;
  snprintf(
      text, size,
      "'%.60s' is %.3g times as dense as '%.60s': all fluids are equally stiff, so sound is %.3g times as "
      "fast in the lighter one, and steps are that much shorter; densities of at least %.3g kg/m^3 would "
      "halve the cost%s",
      m[phases.heaviest].name, phases.most / phases.least, m[phases.lightest].name, shorter,
      fmin(4 * phases.least, phases.most),
      phases.most / phases.least > TESTED ? "; ratios above 500 have not been tested" : "");
  return true;
}
