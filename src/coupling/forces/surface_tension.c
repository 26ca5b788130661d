// Surface tension and adhesion after Akinci, Akinci & Teschner 2013 (Versatile surface tension and adhesion
// for SPH fluids). Particles near the surface attract each other, and repel at close range. A second force
// keeps the area of the surface small. Samples of solids attract fluid. With the unit vector x from j to i
// and q = r/H the forces on i are
//
//   -S (a_i + a_j)/2 C(q) x                 cohesion
//   -G (grad grad w)(q) (n_i - n_j)         area:  minus the gradient of G H/2 sum |n_i|^2
//   -B e_b V_b/V0 A(q) x                    adhesion to the sample b
//
// where n_i = H sum_j grad w(q_ij), w = (1-q^2)^3 (poly6), is zero except near the surface. a_i is |n_i|
// relative to its value at a plane surface, at most 1. e_b is the same for samples: the share of the kernel
// that fluid can fill, relative to that at a plane wall.
//
// The paper's area force -gamma m (n_i - n_j) between two particles has a moment and derives from no energy.
// Even its part along the line of centres, which has no moment, keeps a drop boiling. Here the force that
// evens out n is the derivative of an energy. No translation or rotation of the whole changes that energy, so
// momentum and angular momentum are conserved.
//
// The paper's cohesion acts between all particles, K_ij = 2 rho0/(rho_i + rho_j) times as strongly near the
// surface. Its pressure inside the fluid is many times that of the curved surface. Particles then lock in a
// lattice, and a drop keeps its shape as if it were plastic. With a_i it acts near the surface only.
//
// The paper's gamma has no unit in which both terms are forces. Here strengths follow from the surface
// tension in N/m; the constants of the paper's kernels would differ. To part fluid takes the work of all
// pairs across the cut, which is twice the surface tension. For an attraction f(r) = S C(r/H) of n particles
// per volume, spread evenly, that gives sigma = pi/8 n^2 int r^4 f dr (Rayleigh 1890). For the area term,
// sigma is its energy for a lattice that ends at a plane. COHESION_SHARE of sigma comes from cohesion, the
// rest from the area term. With much less cohesion the surface would evaporate. These estimates are not
// exact: a_i weakens cohesion, particles at the surface leave the lattice for places of lower energy, and
// pressure acts there as well. CALIBRATION corrects for that. With it drops of 8 spacings radius oscillate
// with the period of Rayleigh, to 9 %; finer drops have not been measured.
//
// In 2D the surface is found as a chain of links instead, in 3D with contact angles as a mesh of facets.
// These need no calibration; see surface_links.c and surface_facets.c. Facets cost many times as much as
// cohesion.
#include "coupling/forces/surface_tension.h"

#include "base/vecmath.h"

#include <string.h>

// clang-format off
#include "sph/real_scalar.h" // before kernel.h, which uses its type
#include "sph/kernel.h"
#include "sph/tension_kernel.h"
// clang-format on

enum { BLOCKS_PER_CHUNK = 64, N_INTEGRATION = 400 };

#define COHESION_SHARE 0.55
#define CALIBRATION    2.3

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

// Surface tension of cohesion with a strength of one, in 3D.
static double cohesive_tension(const FloWorld *world) {
  double n = 1 / flo_world_rest_volume(world), moment = 0;
  for (int k = 0; k < N_INTEGRATION; ++k) {
    double q = (k + 0.5) / N_INTEGRATION;
    moment += pow(q, 4) * (double)tension_cohesion((float)q) / N_INTEGRATION;
  }
  return FLO_PI / 8 * n * n * pow(world->kernel.support, 5) * moment;
}

// Length of n in layer `k` of a lattice that ends at a plane above layer 0. Only the layers at distances k+1,
// k+2, ... below it count, since the nearer ones below cancel those above.
static double normal_of_layer(const FloWorld *world, int k) {
  double step = world->def.spacing / world->kernel.support, sum = 0;
  int reach = (int)ceil(1 / step), reach_y = world->def.dim == 3 ? reach : 0;
  for (int z = k + 1; z <= reach; ++z)
    for (int y = -reach_y; y <= reach_y; ++y)
      for (int x = -reach; x <= reach; ++x)
        sum -= (double)kernel_poly6((float)(step * sqrt(x * x + y * y + z * z))).f * z * step;
  return sum;
}

// Energy per area of that plane, for a strength of one.
static double area_tension(const FloWorld *world) {
  double sum = 0, s = world->def.spacing;
  for (int k = 0; k * s < world->kernel.support; ++k) sum += pow(normal_of_layer(world, k), 2);
  return world->kernel.support / 2 * sum / pow(s, world->def.dim - 1);
}

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

FloTensionStrengths flo_surface_tension_strengths(const FloWorld *world) {
  double calibration = CALIBRATION, work = adhesive_work(world);
  return (FloTensionStrengths){.cohesion = calibration * COHESION_SHARE / cohesive_tension(world),
                               .area = calibration * (1 - COHESION_SHARE) / area_tension(world),
                               .normal = normal_of_layer(world, 0),
                               // If the support ends before the first layer, nothing attracts.
                               .adhesion = work > 0 ? 1 / work : 0};
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
    tension->cohesion[i] = (float)(tension->strengths.cohesion * m->surface_tension);
    tension->adhesion[i] = (float)(tension->strengths.adhesion * m->adhesion);
  }
}

static void normal_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  const FloPairs *pairs = flo_pairs_of(work->world, FLO_SET_FLUID, FLO_SET_FLUID);
  const uint16_t *material = work->world->sets[FLO_SET_FLUID].material;
  const FloTensionStrengths *strengths = &work->tension->strengths;
  const FloNormals sweep = {pairs, &work->world->grids[FLO_SET_FLUID], work->tension->surface};
  flo_passes()->normals(&sweep, begin, end);
  for (size_t i = begin * FLO_BLOCK; i < flo_min_size(end * FLO_BLOCK, pairs->n_rows); ++i) {
    float *q = work->tension->surface + 4 * i, length = sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    float scale = (float)(strengths->area * flo_materials(work->world)[material[i]].surface_tension);
    q[0] *= scale, q[1] *= scale, q[2] *= scale;
    q[3] = fminf(length / (float)strengths->normal, 1);
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

// The surface tension of all fluid, or a negative number if fluids differ.
static double single_tension(const FloWorld *world) {
  double tension = -1;
  for (size_t k = 0; k < world->materials.count; ++k) {
    const FloMaterial *m = &flo_materials(world)[k];
    if (!m->is_fluid) continue;
    if (tension >= 0 && m->surface_tension != tension) return -1;
    tension = m->surface_tension;
  }
  return tension;
}

static void cohesion_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Work *work = context;
  double single = single_tension(work->world);
  FloCohesion in = {.pairs = flo_pairs_of(work->world, FLO_SET_FLUID, FLO_SET_FLUID),
                    .grid = &work->world->grids[FLO_SET_FLUID],
                    .surface = work->tension->surface,
                    .all = (float)(work->tension->strengths.cohesion * single),
                    .strength = single < 0 ? work->tension->cohesion : NULL,
                    .force = work->force};
  flo_passes()->cohesion(&in, begin, end);
}

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
  if (flo_surface_wets(world))
    return flo_surface_facets_add(&tension->facets, world, work->force, &tension->bodies, error);
  flo_each_block(world, FLO_SET_FLUID, FLO_SET_FLUID, normal_range, work);
  flo_each_block(world, FLO_SET_FLUID, FLO_SET_FLUID, cohesion_range, work);
  return FLO_OK;
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
  if (tension->strengths.cohesion == 0) tension->strengths = flo_surface_tension_strengths(world);
  FLO_TRY(reserve(tension, world, error));
  flo_each_particle(world, FLO_SET_FLUID, strength_range, &work);
  if (tension->has_adhesion || flo_surface_wets(world)) FLO_TRY(prepare_bodies(&work, error));
  if (tension->has_adhesion) stick(&work);
  return tension->has_tension ? pull_together(&work, error) : FLO_OK;
}
