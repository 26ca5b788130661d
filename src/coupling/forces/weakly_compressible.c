// Pressures of samples: with p_b = 0, as in Akinci 2012, fluid sinks half a spacing into a wall. With the
// mirrored pressure, p_b = p_i, forces derive from no energy, and a column at rest starts to boil within a
// second. Here samples have their own density and pressure, as in the dynamic boundaries of Crespo 2007:
//
//   rho_i = m_i (W(0) + sum_j W_ij) + rho0 sum_b V_b W_ib,   r_i = rho_i/(rho0 packing),   V_i = V0/r_i
//   r_b   = covered_b + V0/packing sum_f W_bf
//   f_i   = sum_j -(p_i V_i^2 + p_j V_j^2) grad W_ij + sum_b V_b/V0 -(p_i V_i^2 + p_b V0^2/r_b^2) grad W_ib
//
// The force is minus the gradient of sum U(r_i) + sum U(r_b), up to the constant packing. So energy is
// conserved, and fluid on a lattice next to a wall is in equilibrium. (With several fluids energy is not
// conserved exactly: a sample answers to each fluid with that fluid's density.) This needs the density ratio
// of a sample without fluid, which is one minus the part that a fluid lattice around the body would add
// (`covered`, computed once from the shape; where two bodies touch, each ignores the other). It also stops
// single drops, which have no pressure of their own.
#include "coupling/forces/weakly_compressible.h"

#include "base/parallel.h"
#include "base/vecmath.h"

// clang-format off
#include "sph/real_scalar.h" // first: it defines the type that the next one uses
#include "sph/particle.h"
// clang-format on

#include <math.h>

// ---- Equation of state ----

double flo_sound_speed(const FloWorld *world, const FloCompressible *fluid) {
  double asked = world->params[FLO_TAIT_SOUND_SPEED];
  if (asked > 0) return asked;
  return fluid->expected_speed > 0 ? 10 * fluid->expected_speed : 1;
}

double flo_compressible_max_dt(const FloWorld *world, double c, int first_force_param,
                               const char **limited_by) {
  const bool is_wet = flo_world_may_have_fluid(world);
  const double dt =
      is_wet ? world->def.cfl * world->def.spacing / (c + world->max_speed) : flo_world_dry_dt(world);
  const double of_forces = flo_forces_max_dt(world, first_force_param, limited_by);
  if (of_forces < dt) return of_forces;
  *limited_by = is_wet ? "sound" : "contacts";
  return dt;
}

double flo_tait_viscosity(const FloWorld *world, double c) {
  return world->params[FLO_TAIT_ALPHA] * world->kernel.support / 2 * c;
}

FloTait flo_tait(const FloWorld *world, const FloCompressible *fluid) {
  // If something was just added, the last density cannot be compared. After a very short step the difference
  // is mostly rounding, so it is divided by at least a tenth of the usual step.
  double c = flo_sound_speed(world, fluid), shortest = 0.1 * world->def.cfl * world->def.spacing / c;
  return (FloTait){.c = (float)c,
                   .gamma = (float)world->params[FLO_TAIT_GAMMA],
                   .reference = (float)fluid->reference,
                   .damping = (float)(world->params[FLO_TAIT_DAMPING] * c * world->def.spacing),
                   .per_dt = flo_world_was_changed(world) ? 0 : (float)(1 / fmax(world->dt, shortest)),
                   .packing = (float)fluid->packing,
                   .ratio = (float)(1 - fluid->compression),
                   .start = (float)(fluid->packing * (1 - fluid->compression))};
}

float flo_tait_pressure(const FloTait *tait, float rest, float density, float change) {
  float stiff = tait->reference > 0 ? tait->reference : rest;
  float stiffness = stiff * tait->c * tait->c / tait->gamma;
  float pressure = stiffness * particle_tait(density / (rest * tait->start), tait->gamma);
  return fmaxf(pressure + tait->damping * (tait->per_dt * change), 0);
}

// ---- The volume that is kept ----

void flo_compressible_init(FloCompressible *fluid, double expected) {
  if (!(fluid->packing > 0)) fluid->packing = 1;
  // Fluid that was added later may move faster; the earlier fluid keeps its expected speed.
  fluid->expected_speed = fmax(fluid->expected_speed, expected);
}

typedef struct Compression {
  const FloWorld *world;
  double reference;
} Compression;

static void add_compression(const void *context, size_t begin, size_t end, double *sum) {
  const Compression *in = context;
  const FloParticles *p = &in->world->sets[FLO_SET_FLUID];
  for (size_t i = begin; i < end; ++i) {
    const double own = flo_materials(in->world)[p->material[i]].density;
    *sum += (double)p->pressure[i] / (in->reference > 0 ? in->reference : own);
  }
}

void flo_compressible_follow(FloCompressible *fluid, const FloWorld *world, double dt) {
  size_t n = world->sets[FLO_SET_FLUID].count;
  const Compression compression = {world, fluid->reference};
  double g = vec_length(world->def.gravity), c = flo_sound_speed(world, fluid), mean;
  if (n == 0 || !(g > 0) || flo_surface_tension_is_used(world)) return;
  double share = 1 - exp(-dt * g / fluid->expected_speed);
  flo_parallel_sum(world->threads, n, add_compression, &compression, 1, &mean);
  fluid->compression += share * (fluid->measured - fluid->compression);
  fluid->measured += share * (mean / (double)n / (c * c) - fluid->measured);
  fluid->packing += share * (flo_kernel_settled_sum(&world->kernel, world->def.spacing) - fluid->packing);
}

void flo_compressible_free(FloCompressible *fluid, FloMemory *memory) {
  flo_buffer_free(memory, &fluid->wall_pressure);
  flo_buffer_free(memory, &fluid->body_pressure);
}

// ---- Densities and pressures ----

// Two plates one spacing apart leave room for a sheet of fluid; in the corner of a tank each wall covers its
// part.
double flo_least_uncovered(const FloWorld *world) {
  double sheet = flo_world_rest_volume(world) * flo_kernel_sheet_sum(&world->kernel, world->def.spacing, 0);
  return fmin(sheet, pow((1 + sheet) / 2, world->def.dim));
}

typedef struct Density {
  FloWorld *world;
  FloTait tait;
  const float *bulks;
  float *state;
  bool has_bodies;
  float most_covered;
  FloSet set; // of the samples
  float *pressures;
} Density;

static void density_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Density *d = context;
  FloWorld *world = d->world;
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  const float *near_fluid = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_FLUID)->kernel_sum,
              *near_walls = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_BOUNDARY)->kernel_sum,
              *near_bodies = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID)->kernel_sum;
  const float self = (float)flo_kernel_w(&world->kernel, 0);
  for (size_t i = begin; i < end; ++i) {
    float rest = (float)flo_materials(world)[p->material[i]].density;
    float covered = fminf(near_walls[i] + (d->has_bodies ? near_bodies[i] : 0), d->most_covered);
    float density = p->mass[i] * (self + near_fluid[i]) + rest * covered;
    float change = p->held[i] ? 0 : (d->bulks ? d->bulks[i] : 1) * (density - p->density[i]);
    float pressure = flo_tait_pressure(&d->tait, rest, density, change);
    float volume = d->tait.packing * p->mass[i] / density, *q = d->state + 4 * i;
    p->density[i] = density, p->pressure[i] = pressure;
    q[0] = p->vx[i], q[1] = p->vy[i], q[2] = p->vz[i], q[3] = pressure * volume * volume;
  }
}

// For blocks of samples; those without fluid near them exert no pressure.
static void solid_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Density *d = context;
  const FloPairs *pairs = flo_pairs_of(d->world, d->set, FLO_SET_FLUID);
  const float *covered = d->world->sets[d->set].covered;
  const float gamma = d->tait.gamma, c = d->tait.c;
  const float volume = (float)flo_world_rest_volume(d->world), per_packing = 1 / d->tait.packing;
  for (size_t block = begin; block < end; ++block)
    for (size_t i = block * FLO_BLOCK;
         pairs->slot_count[block] > 0 && i < flo_min_size((block + 1) * FLO_BLOCK, pairs->n_rows); ++i) {
      float ratio = covered[i] + per_packing * volume * pairs->kernel_sum[i];
      float pressure = fmaxf(c * c / gamma * particle_tait(ratio / d->tait.ratio, gamma), 0);
      d->pressures[i] = pressure * volume * volume / (ratio * ratio);
    }
}

static FloStatus reserve(FloCompressible *fluid, FloWorld *world, FloError *error) {
  size_t n_walls = world->sets[FLO_SET_BOUNDARY].capacity, n_rigid = world->sets[FLO_SET_RIGID].capacity;
  FLO_TRY(flo_buffer_reserve_zeros(&world->memory, &fluid->wall_pressure, n_walls * sizeof(float), error));
  return flo_buffer_reserve_zeros(&world->memory, &fluid->body_pressure, n_rigid * sizeof(float), error);
}

FloStatus flo_compressible_find_pressures(FloCompressible *fluid, FloWorld *world, float *state,
                                          FloError *error) {
  double since = flo_seconds();
  FLO_TRY(reserve(fluid, world, error));
  Density walls = {.world = world, .tait = flo_tait(world, fluid), .bulks = fluid->bulks, .state = state};
  walls.has_bodies = world->sets[FLO_SET_RIGID].count > 0;
  walls.most_covered = fluid->most_covered > 0 ? (float)fluid->most_covered : INFINITY;
  Density bodies = walls;
  walls.set = FLO_SET_BOUNDARY, walls.pressures = fluid->wall_pressure.data;
  bodies.set = FLO_SET_RIGID, bodies.pressures = fluid->body_pressure.data;
  flo_each_particle(world, FLO_SET_FLUID, density_range, &walls);
  flo_each_block(world, FLO_SET_BOUNDARY, FLO_SET_FLUID, solid_range, &walls);
  flo_each_block(world, FLO_SET_RIGID, FLO_SET_FLUID, solid_range, &bodies);
  flo_world_stage_done(world, FLO_STAGE_DENSITY, since);
  return FLO_OK;
}

// ---- What is reported ----

typedef struct Report {
  FloParticles *fluid;
  const float *force;
  float per_virial;
} Report;

static void report_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Report *in = context;
  for (size_t i = begin; i < end; ++i) in->fluid->pressure[i] = in->per_virial * in->force[4 * i + 3];
}

void flo_compressible_report(FloWorld *world, const float *force) {
  Report report = {&world->sets[FLO_SET_FLUID], force,
                   (float)(1 / (2 * world->def.dim * flo_world_rest_volume(world)))};
  flo_each_particle(world, FLO_SET_FLUID, report_range, &report);
}
