// Surface tension and adhesion of fluids.
//
// Surface tension is the energy of the fluid's surface, found as a chain of links in 2D (surface_links.c) and
// as a mesh of facets in 3D (surface_facets.c). Nothing in it is calibrated.
//
// Adhesion after Akinci, Akinci & Teschner 2013 (Versatile surface tension and adhesion for SPH fluids) is a
// simpler way to wet solids: their samples attract fluid. With the unit vector x from j to i and q = r/H the
// force on i is
//
//   -B e_b V_b/V0 A(q) x                    adhesion to the sample b
//
// where e_b is the share of the kernel that fluid can fill, relative to that at a plane wall. The strength B
// follows from the adhesion in N/m, the work per area that lifts fluid off a plane wall.
#include "coupling/forces/surface_tension.h"

#include "base/vecmath.h"

#include <string.h>

// clang-format off
#include "sph/real_scalar.h" // before kernel.h, which uses its type
#include "sph/kernel.h"
#include "sph/tension_kernel.h"
// clang-format on

enum { BLOCKS_PER_CHUNK = 64, N_INTEGRATION = 400 };

// ---- Which fluids ----

static bool has_any(const FloWorld *world, bool is_adhesive) {
  for (size_t k = 0; k < world->materials.count; ++k) {
    const FloMaterial *m = &flo_materials(world)[k];
    if (m->is_fluid && (is_adhesive ? m->adhesion : m->surface_tension) > 0) return true;
  }
  return false;
}

bool flo_surface_tension_is_used(const FloWorld *world) {
  return has_any(world, false) || has_any(world, true);
}

// A quarter of the time in which the shortest capillary wave crosses a spacing (Brackbill, Kothe & Zemach
// 1992, eq. 61), since the forces of pairs are stiffer than the waves.
double flo_surface_tension_max_dt(const FloWorld *world) {
  double s3 = pow(world->def.spacing, 3), dt = INFINITY;
  for (size_t k = 0; k < world->materials.count; ++k) {
    const FloMaterial *m = &flo_materials(world)[k];
    double tension = fmax(m->surface_tension, m->adhesion);
    if (m->is_fluid && tension > 0) dt = fmin(dt, 0.25 * sqrt(m->density * s3 / (2 * FLO_PI * tension)));
  }
  return dt;
}

double flo_surface_tension_speed(const FloWorld *world) {
  double square = 0;
  for (size_t k = 0; k < world->materials.count; ++k) {
    const FloMaterial *m = &flo_materials(world)[k];
    if (m->is_fluid) square = fmax(square, m->surface_tension / (m->density * world->def.spacing));
  }
  return sqrt(square);
}

// ---- Strengths ----

// Work per strength that moves a particle from distance r of a sample out of its reach.
static double adhesive_potential(const FloWorld *world, double r) {
  double support = world->kernel.support, step = (support - r) / N_INTEGRATION, sum = 0;
  if (step <= 0) return 0;
  for (int k = 0; k < N_INTEGRATION; ++k)
    sum += step * (double)tension_adhesion((float)((r + (k + 0.5) * step) / support));
  return sum;
}

// The same for a sheet of samples with the fluid's rest volume, `depth` spacings away.
static double sheet_potential(const FloWorld *world, int depth) {
  double s = world->def.spacing, sum = 0;
  int reach = (int)ceil(world->kernel.support / s), reach_y = world->def.dim == 3 ? reach : 0;
  for (int y = -reach_y; y <= reach_y; ++y)
    for (int x = -reach; x <= reach; ++x)
      sum += adhesive_potential(world, s * sqrt(x * x + y * y + depth * depth));
  return sum;
}

// Share of the kernel that fluid can fill, seen from layer l of a plane wall.
static double room_of_layer(const FloWorld *world, int l) {
  double s = world->def.spacing, sum = 0;
  for (int k = 1; (k + l) * s < world->kernel.support; ++k)
    sum += flo_kernel_sheet_sum(&world->kernel, s, k + l);
  return sum * flo_world_rest_volume(world);
}

// How strongly a sample attracts: its relative volume, times the degree to which it is at the surface. Fluid
// would sink into the wall if deeper samples attracted as well.
static double pull_of_sample(const FloWorld *world, double volume, double room, double plane_room) {
  double exposed = plane_room > 0 ? fmin(fmax(room / plane_room, 0), 1) : 0;
  return exposed * volume / flo_world_rest_volume(world);
}

// The same for layer l of a plane wall; see flo_kernel_boundary_gamma.
static double layer_share(const FloWorld *world, int l) {
  double own = flo_kernel_layer_sum(&world->kernel, world->def.spacing, world->layers, l);
  return pull_of_sample(world, world->boundary_gamma / own, room_of_layer(world, l), room_of_layer(world, 0));
}

// Work per area that lifts fluid on a lattice off a plane wall, for a strength of one. The first sheet of
// fluid is a spacing away from the first layer of samples.
static double adhesive_work(const FloWorld *world) {
  double work = 0;
  int reach = (int)ceil(world->kernel.support / world->def.spacing);
  for (int sheet = 1; sheet <= reach; ++sheet)
    for (int l = 0; l < world->layers; ++l) work += layer_share(world, l) * sheet_potential(world, sheet + l);
  return work / pow(world->def.spacing, world->def.dim - 1);
}

double flo_adhesion_strength(const FloWorld *world) {
  double work = adhesive_work(world);
  return work > 0 ? 1 / work : 0; // if the support ends before the first layer, nothing attracts
}

// ---- Preparation ----

static const FloArrayDef array_defs[] = {FLO_TENSION_ARRAYS(FLO_ARRAY_DEF)};

static FloStatus reserve(FloSurfaceTension *tension, FloWorld *world, FloError *error) {
  return flo_arrays_reserve(array_defs, FLO_COUNT_OF(array_defs), &(FloArraySizes){world->sets, 0},
                            &world->memory, tension->array_buffers, tension->arrays, error);
}

void flo_surface_tension_free(FloSurfaceTension *tension, FloMemory *memory) {
  flo_buffers_free(memory, tension->array_buffers, FLO_COUNT_OF(tension->array_buffers));
  flo_body_rows_free(&tension->bodies, memory);
  flo_surface_links_free(&tension->links, memory);
  flo_surface_facets_free(&tension->facets, memory);
}

typedef struct Work {
  FloWorld *world;
  FloSurfaceTension *tension;
  float *force;
} Work;

static void strength_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  const uint16_t *material = work->world->sets[FLO_SET_FLUID].material;
  FloSurfaceTension *tension = work->tension;
  for (size_t i = begin; i < end; ++i) {
    const FloMaterial *m = &flo_materials(work->world)[material[i]];
    tension->adhesion[i] = (float)(tension->strength * m->adhesion);
  }
}

static void find_shares(const FloWorld *world, FloSet set, float *shares) {
  const FloParticles *samples = &world->sets[set];
  double plane_room = room_of_layer(world, 0);
  for (size_t i = 0; i < samples->count; ++i)
    shares[i] =
        (float)pull_of_sample(world, (double)samples->volume[i], 1 - (double)samples->covered[i], plane_room);
}

// ---- Forces ----

static FloAdhesion between(const FloWorld *world, FloSet rows, FloSet columns) {
  return (FloAdhesion){.pairs = flo_pairs_of(world, rows, columns),
                       .rows = &world->grids[rows],
                       .columns = &world->grids[columns]};
}

static void adhesion_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  const FloWorld *world = work->world;
  FloAdhesion walls = between(world, FLO_SET_FLUID, FLO_SET_BOUNDARY),
              bodies = between(world, FLO_SET_FLUID, FLO_SET_RIGID);
  walls.row_weight = bodies.row_weight = work->tension->adhesion;
  walls.column_weight = work->tension->wall_share, bodies.column_weight = work->tension->body_share;
  walls.force = bodies.force = work->force;
  flo_passes()->adhesion(&walls, begin, end);
  if (work->tension->bodies.is_used) flo_passes()->adhesion(&bodies, begin, end);
}

static void body_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  FloSurfaceTension *tension = work->tension;
  FloAdhesion in = between(work->world, FLO_SET_RIGID, FLO_SET_FLUID);
  in.row_weight = tension->body_share, in.column_weight = tension->adhesion, in.force = tension->bodies.force;
  flo_passes()->adhesion(&in, begin, end);
}

void flo_surface_tension_pull_walls(const FloSurfaceTension *tension, const FloWorld *world, float *force,
                                    size_t begin, size_t end) {
  flo_solid_pulls_add_walls(&tension->links.solids, world, force, begin, end);
  flo_solid_pulls_add_walls(&tension->facets.solids, world, force, begin, end);
  if (!tension->has_adhesion) return;
  FloAdhesion in = between(world, FLO_SET_BOUNDARY, FLO_SET_FLUID);
  in.row_weight = tension->wall_share, in.column_weight = tension->adhesion, in.force = force;
  flo_passes()->adhesion(&in, begin, end);
}

static FloStatus prepare_bodies(Work *work, FloError *error) {
  FloBodyRows *bodies = &work->tension->bodies;
  FLO_TRY(flo_body_rows_prepare(bodies, work->world, error));
  if (!bodies->is_used) return FLO_OK;
  memset(bodies->force, 0, 4 * work->world->sets[FLO_SET_RIGID].count * sizeof(float));
  memset(bodies->wrenches, 0, 6 * work->world->nodes.count * sizeof(double));
  return FLO_OK;
}

static void stick(Work *work) {
  FloWorld *world = work->world;
  FloSurfaceTension *tension = work->tension;
  flo_each_particle(world, FLO_SET_FLUID, strength_range, work);
  find_shares(world, FLO_SET_BOUNDARY, tension->wall_share);
  find_shares(world, FLO_SET_RIGID, tension->body_share);
  flo_each_block(world, FLO_SET_FLUID, FLO_SET_FLUID, adhesion_range, work);
  if (!tension->bodies.is_used) return;
  flo_each_block(world, FLO_SET_RIGID, FLO_SET_FLUID, body_range, work);
  flo_world_gather_wrenches(world, tension->bodies.force, tension->bodies.wrenches);
}

static FloStatus pull_together(Work *work, FloError *error) {
  FloWorld *world = work->world;
  FloSurfaceTension *tension = work->tension;
  if (world->def.dim == 2)
    return flo_surface_links_add(&tension->links, world, work->force, &tension->bodies, error);
  return flo_surface_facets_add(&tension->facets, world, work->force, &tension->bodies, error);
}

void flo_surface_tension_skip(FloSurfaceTension *tension) {
  tension->has_adhesion = tension->bodies.is_used = false;
  tension->links.solids.has_contacts = tension->facets.solids.has_contacts = false;
}

FloStatus flo_surface_tension_add(FloSurfaceTension *tension, FloWorld *world, float *force,
                                  FloError *error) {
  size_t n = world->sets[FLO_SET_FLUID].count;
  Work work = {.world = world, .tension = tension, .force = force};
  flo_surface_tension_skip(tension);
  tension->has_tension = n > 0 && has_any(world, false);
  tension->has_adhesion = n > 0 && has_any(world, true);
  if (n == 0) return FLO_OK;
  if (tension->strength == 0) tension->strength = flo_adhesion_strength(world);
  FLO_TRY(reserve(tension, world, error));
  if (tension->has_adhesion || flo_surface_wets(world)) FLO_TRY(prepare_bodies(&work, error));
  if (tension->has_adhesion) stick(&work);
  return tension->has_tension ? pull_together(&work, error) : FLO_OK;
}
