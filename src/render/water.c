#include "render/water.h"

#include "base/parallel.h"
#include "render/spray.h"
#include "render/waterline.h"

#include <stdlib.h>
#include <string.h>

// In spacings. The surface is smoothed more than in files, because every bump of a mirror is visible.
static const double drop_radius = 0.3, link = 1.5;
enum { SMOOTHING = 14, MOST_COMPANIONS = 2 };

// The way after which light has the fluid's tint, as a share of the scene's half diagonal.
static const float reach_share = 0.4f;
static const V3 water_tint = {0.09f, 0.47f, 0.66f};

// The particles of the fluid as the surface needs them.
typedef struct Fluid {
  size_t n_bulk;   // number of particles without drops; all until these are taken out
  size_t *numbers; // among all particles
  double *positions;
  float *tints; // three each
  bool *is_alone;
} Fluid;

// ---- Choosing ----

static bool is_around(FloBounds bounds, float margin, const float *p) {
  return p[0] > bounds.low.x - margin && p[0] < bounds.high.x + margin && p[1] > bounds.low.y - margin &&
         p[1] < bounds.high.y + margin && p[2] > bounds.low.z - margin && p[2] < bounds.high.z + margin;
}

static V3 tint_of(const FloPictureInput *input, const FloCloud *colours, size_t i, bool is_drop) {
  const FloStyle *style = &input->view.style;
  const bool is_painted = style->shows_values && input->values && (is_drop || !style->only_spray);
  if (is_painted) return flo_cloud_tone(input, colours, i);
  size_t material = input->materials ? input->materials[i] : 0;
  const float *tint = input->view.substances[material < FLO_VIEW_MATERIALS ? material : 0].tint;
  V3 own = v3(tint[0], tint[1], tint[2]);
  return v3_length(own) > 0 ? own : water_tint;
}

static FloStatus allocate_fluid(size_t n, Fluid *fluid, FloError *error) {
  fluid->numbers = malloc((n + 1) * sizeof *fluid->numbers);
  fluid->positions = malloc((n + 1) * sizeof(double[3]));
  fluid->tints = malloc((n + 1) * sizeof(float[3]));
  fluid->is_alone = malloc((n + 1) * sizeof *fluid->is_alone);
  if (fluid->numbers && fluid->positions && fluid->tints && fluid->is_alone) return FLO_OK;
  return flo_fail(error, FLO_NO_MEMORY, "no memory to draw %zu particles", n);
}

static void release_fluid(Fluid *fluid) {
  free(fluid->numbers);
  free(fluid->positions);
  free(fluid->tints);
  free(fluid->is_alone);
}

// Takes the particles of the fluid. Those farther away than the size of the scene are not visible and may be
// too far for a lattice.
static FloStatus take_fluid(const FloPictureInput *input, const FloCloud *colours, FloBounds bounds,
                            Fluid *fluid, FloError *error) {
  const float margin = v3_length(v3_sub(bounds.high, bounds.low));
  FLO_TRY(allocate_fluid(input->n_particles, fluid, error));
  for (size_t i = 0; i < input->n_particles; i++) {
    const float *p = input->positions + 3 * i;
    if (!flo_is_fluid(input, i) || !is_around(bounds, margin, p)) continue;
    V3 tint = tint_of(input, colours, i, false);
    const float channels[3] = {tint.x, tint.y, tint.z};
    for (size_t axis = 0; axis < 3; axis++) {
      fluid->positions[3 * fluid->n_bulk + axis] = (double)p[axis];
      fluid->tints[3 * fluid->n_bulk + axis] = channels[axis];
    }
    fluid->numbers[fluid->n_bulk++] = i;
  }
  return FLO_OK;
}

// ---- Drops ----

static FloStatus allocate_drops(FloWater *out, size_t n, FloError *error) {
  out->drops.spheres = aligned_alloc(64, (n * sizeof *out->drops.spheres + 127) / 64 * 64);
  out->drop_tints = malloc((n + 1) * sizeof *out->drop_tints);
  if (out->drops.spheres && out->drop_tints) return FLO_OK;
  return flo_fail(error, FLO_NO_MEMORY, "no memory to draw %zu drops", n);
}

static void add_drop(FloWater *out, const double *p, V3 tint) {
  float *sphere = out->drops.spheres[out->drops.count];
  for (int axis = 0; axis < 3; axis++) sphere[axis] = (float)p[axis];
  sphere[3] = (float)drop_radius * out->spacing;
  out->drop_tints[out->drops.count++] = tint;
}

// Turns particles that fly alone into drops; the others move up and form the bulk.
static FloStatus take_drops(const FloPictureInput *input, const FloCloud *colours, Fluid *fluid,
                            FloWater *out, FloError *error) {
  size_t n_bulk = 0, n_drops = 0;
  FLO_TRY(flo_spray_mark(fluid->positions, fluid->n_bulk, link * (double)out->spacing, MOST_COMPANIONS,
                         fluid->is_alone, error));
  for (size_t k = 0; k < fluid->n_bulk; k++) n_drops += fluid->is_alone[k];
  FLO_TRY(allocate_drops(out, n_drops, error));
  for (size_t k = 0; k < fluid->n_bulk; k++) {
    const double *p = fluid->positions + 3 * k;
    const float *tint = fluid->tints + 3 * k;
    if (fluid->is_alone[k]) {
      add_drop(out, p, tint_of(input, colours, fluid->numbers[k], true));
      continue;
    }
    for (size_t axis = 0; axis < 3; axis++)
      fluid->positions[3 * n_bulk + axis] = p[axis], fluid->tints[3 * n_bulk + axis] = tint[axis];
    n_bulk++;
  }
  fluid->n_bulk = n_bulk;
  return FLO_OK;
}

// ---- The surface ----

// The waterline's arrays become the water's own.
static FloStatus take_surface(const FloSurfaceMesh *mesh, FloWaterline *laid, FloWater *out,
                              FloError *error) {
  out->tints = malloc((laid->n_vertices + 1) * sizeof *out->tints);
  if (!out->tints)
    return flo_fail(error, FLO_NO_MEMORY, "no memory to draw a surface of %zu triangles", laid->n_triangles);
  for (size_t k = 0; k < laid->n_vertices; k++) {
    const float *tint = flo_surface_velocity(mesh, laid->origins[k]);
    out->tints[k] = v3(tint[0], tint[1], tint[2]);
  }
  FloSolids *s = &out->surface;
  s->n_vertices = laid->n_vertices, s->n_triangles = laid->n_triangles;
  s->vertices = laid->vertices, s->normals = laid->normals, s->triangles = laid->triangles;
  laid->vertices = laid->normals = NULL, laid->triangles = NULL;
  return FLO_OK;
}

static FloStatus lay_surface(const FloSurfaceMesh *mesh, const FloWalls *walls, size_t memory_limit,
                             int threads, FloWater *out, FloError *error) {
  FloWaterline laid;
  FloStatus status = flo_waterline_create(mesh, walls, memory_limit, threads, &laid, error);
  if (status == FLO_OK) status = take_surface(mesh, &laid, out, error);
  flo_waterline_destroy(&laid);
  return status;
}

// Replaces the advice in a message about memory: the surface's own advice is to change its cells, which
// pictures cannot do. What was needed stays in the message.
static FloStatus suggest_particles(const Fluid *fluid, FloError *error) {
  if (!error) return FLO_NO_MEMORY;
  const FloError reason = *error;
  const char *remedy = strstr(reason.text, "; ");
  const int length = (int)(remedy ? (size_t)(remedy - reason.text) : strlen(reason.text));
  return flo_fail(
      error, FLO_NO_MEMORY,
      "no memory to draw %zu particles as water: %.*s; particles by themselves, --look particles, "
      "need less",
      fluid->n_bulk, length, reason.text);
}

// The surface builder interpolates velocities to the vertices; here the tints take their place.
static FloStatus build_surface(const FloWalls *walls, const Fluid *fluid, size_t memory_limit, int threads,
                               FloWater *out, FloError *error) {
  const FloSignedField region = flo_walls_region(walls);
  FloSurfaceDef def = flo_surface_default_def((double)out->spacing);
  FloSurfaceMesh mesh;
  FloMemory memory;
  flo_memory_init(&memory, NULL);
  def.smoothing = SMOOTHING, def.threads = threads, def.memory_limit = memory_limit;
  if (!flo_walls_is_empty(walls)) def.region = &region;
  FloStatus status =
      flo_surface_build(&def, fluid->positions, fluid->tints, fluid->n_bulk, &mesh, &memory, error);
  if (status == FLO_OK) status = lay_surface(&mesh, walls, memory_limit, threads, out, error);
  if (status == FLO_NO_MEMORY) status = suggest_particles(fluid, error);
  flo_surface_free(&mesh);
  return status;
}

static FloStatus find_surface(const FloPictureInput *input, const Fluid *fluid, size_t memory_limit,
                              int threads, FloWater *out, FloError *error) {
  if (input->walls) return build_surface(input->walls, fluid, memory_limit, threads, out, error);
  FloMemory memory;
  FloWalls walls;
  flo_memory_init(&memory, NULL);
  FloStatus status = flo_walls_of_bodies(&walls, input->bodies, input->placed, input->n_bodies,
                                         (double)out->spacing, FLO_WATER_FINENESS, threads, &memory, error);
  if (status == FLO_OK) status = build_surface(&walls, fluid, memory_limit, threads, out, error);
  flo_walls_free(&walls);
  return status;
}

FloStatus flo_water_create(const FloPictureInput *input, const FloCloud *colours, FloBounds bounds,
                           size_t memory_limit, int threads, FloWater *out, FloError *error) {
  Fluid fluid = {0};
  if (threads <= 0) threads = flo_parallel_default_threads();
  *out = (FloWater){.spacing = 2 * input->radius};
  out->reach = reach_share * 0.5f * v3_length(v3_sub(bounds.high, bounds.low));
  FloStatus status = take_fluid(input, colours, bounds, &fluid, error);
  if (status == FLO_OK && fluid.n_bulk > 0) {
    status = take_drops(input, colours, &fluid, out, error);
    if (status == FLO_OK) status = find_surface(input, &fluid, memory_limit, threads, out, error);
  }
  release_fluid(&fluid);
  return status;
}

void flo_water_destroy(FloWater *out) {
  flo_solids_destroy(&out->surface);
  flo_cloud_destroy(&out->drops);
  free(out->tints);
  free(out->drop_tints);
  *out = (FloWater){0};
}

V3 flo_water_tint(const FloWater *water, uint32_t triangle, float u, float v) {
  const uint32_t *corner = water->surface.triangles[triangle];
  const V3 *tint = water->tints;
  return v3_mad(v3_mad(v3_scale(tint[corner[0]], 1 - u - v), tint[corner[1]], u), tint[corner[2]], v);
}
