#include "surface/surface.h"

#include "base/parallel.h"
#include "base/timer.h"
#include "base/vecmath.h"
#include "surface/polish.h"

#include <string.h>

// In spacings. With it, and kernels of two spacings in eq. 34, a flat surface lies half a spacing outside of
// the outermost layer of a lattice, as the fluid does.
static const double default_radius = 0.545;
static const double default_cell = 0.5;
static const double finest_cell = 0.125;
static const double cluster_link = 1.5;
// As a share of the ball around one particle. Smaller parts are artefacts where fields meet.
static const double crumb_share = 0.1;
// Least thickness, in spacings. A ball of the default radius has 0.36, a film of one layer about one.
static const double thinnest = 0.2;

enum { DEFAULT_SMOOTHING = 8, MAX_SMOOTHING = 1000 };

static const char *const stage_names[FLO_SURFACE_STAGE_COUNT] = {"sort", "field", "extract", "polish"};

const char *flo_surface_stage_name(FloSurfaceStage stage) { return stage_names[stage]; }

static const char *const kernel_names[FLO_SURFACE_KERNEL_COUNT] = {"isotropic", "anisotropic"};

const char *flo_surface_kernel_name(FloSurfaceKernel kernel) { return kernel_names[kernel]; }

bool flo_surface_kernel_from_name(const char *name, FloSurfaceKernel *kernel) {
  for (int k = 0; k < FLO_SURFACE_KERNEL_COUNT; ++k)
    if (strcmp(name, kernel_names[k]) == 0) return *kernel = (FloSurfaceKernel)k, true;
  return false;
}

FloSurfaceDef flo_surface_default_def(double spacing) {
  return (FloSurfaceDef){.spacing = spacing,
                         .radius = default_radius * spacing,
                         .cell = default_cell * spacing,
                         .smoothing = DEFAULT_SMOOTHING};
}

void flo_surface_free(FloSurfaceMesh *surface) {
  if (!surface->mesh.memory) return;
  flo_buffer_free(surface->mesh.memory, &surface->normals);
  flo_buffer_free(surface->mesh.memory, &surface->velocities);
  flo_mesh_free(&surface->mesh);
}

// ---- Checks of the definition ----

static bool is_between(double value, double low, double high) { return value >= low && value <= high; }

static FloStatus check_lengths(const FloSurfaceDef *def, FloError *error) {
  double spacing = def->spacing;
  if (!(spacing > 0 && isfinite(spacing)))
    return flo_fail(error, FLO_BAD_INPUT, "surface: the spacing must be > 0, got %g", spacing);
  if (!is_between(def->radius, 0.25 * spacing, spacing))
    return flo_fail(error, FLO_BAD_INPUT, "surface: the radius must lie between %g and %g m, got %g",
                    0.25 * spacing, spacing, def->radius);
  double coarsest = 2 / sqrt(3) * def->radius;
  if (!is_between(def->cell, finest_cell * spacing, coarsest))
    return flo_fail(error, FLO_BAD_INPUT,
                    "surface: the cell must lie between %g and %g m, got %g; larger ones would lose films of "
                    "one particle",
                    finest_cell * spacing, coarsest, def->cell);
  return FLO_OK;
}

static FloStatus check_def(const FloSurfaceDef *def, FloError *error) {
  FLO_ASSERT((int)def->kernel >= 0 && def->kernel < FLO_SURFACE_KERNEL_COUNT);
  FLO_TRY(check_lengths(def, error));
  if (def->smoothing < 0 || def->smoothing > MAX_SMOOTHING)
    return flo_fail(error, FLO_BAD_INPUT, "surface: rounds of smoothing must lie between 0 and %d, got %d",
                    MAX_SMOOTHING, def->smoothing);
  if (def->threads < 0 || def->threads > FLO_MOST_THREADS)
    return flo_fail(error, FLO_BAD_INPUT, "surface: threads must lie between 0 and %d, got %d",
                    FLO_MOST_THREADS, def->threads);
  for (int axis = 0; def->has_box && axis < 3; ++axis)
    if (!(def->box_low[axis] < def->box_high[axis]))
      return flo_fail(error, FLO_BAD_INPUT, "surface: the box must have low < high along %c, got %g and %g",
                      "xyz"[axis], def -> box_low[axis], def -> box_high[axis]);
  return FLO_OK;
}

static FloStatus check_particles(const double *positions, const float *velocities, size_t count,
                                 FloError *error) {
  if (count >= UINT32_MAX)
    return flo_fail(error, FLO_BAD_INPUT, "surface: at most %u particles, got %zu", UINT32_MAX - 1, count);
  for (size_t k = 0; k < count; ++k) {
    const double *p = positions + 3 * k;
    if (!vec_is_finite(p))
      return flo_fail(error, FLO_BAD_INPUT,
                      "surface: particle %zu is at (%g, %g, %g); a simulation that diverged has no surface, "
                      "take an earlier frame",
                      k, p[0], p[1], p[2]);
    const float *v = velocities ? velocities + 3 * k : NULL;
    if (v && !(isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2])))
      return flo_fail(error, FLO_BAD_INPUT,
                      "surface: particle %zu has the velocity (%g, %g, %g); take an earlier frame", k,
                      (double)v[0], (double)v[1], (double)v[2]);
  }
  return FLO_OK;
}

// ---- One step after the other ----

typedef struct Build {
  const FloSurfaceDef *def;
  FloSurfaceInput input;
  FloMemory *memory;
  FloBricks bricks;
  FloLevelSet set;
  FloSurfaceNotes notes;
  FloBuffer keep;
} Build;

// Sorts the particles. If small clusters are left out, sorts once more without them.
static FloStatus sort_particles(Build *build, FloError *error) {
  const FloSurfaceDef *def = build->def;
  double influence = flo_level_set_influence(def);
  FLO_TRY(flo_bricks_init(&build->bricks, def, influence, &build->input, build->memory, error));
  if (def->min_particles < 2 || build->bricks.count == 0) return FLO_OK;
  FLO_TRY(flo_buffer_reserve(build->memory, &build->keep, build->input.count, 0, error));
  FLO_TRY(flo_bricks_mark_clusters(&build->bricks, cluster_link * def->spacing, def->min_particles,
                                   build->keep.data, error));
  build->input.keep = build->keep.data;
  flo_bricks_free(&build->bricks);
  return flo_bricks_init(&build->bricks, def, influence, &build->input, build->memory, error);
}

static FloStatus find_field(Build *build, FloError *error) {
  FLO_TRY(flo_level_set_init(&build->set, &build->bricks, build->def, error));
  return flo_level_set_evaluate(&build->set, error);
}

static FloStatus polish(Build *build, FloSurfaceMesh *out, FloError *error) {
  const FloSurfaceDef *def = build->def;
  double ball = 4.0 / 3 * FLO_PI * def->radius * def->radius * def->radius;
  const FloCrumb crumb = {crumb_share * ball, def->region ? thinnest * def->spacing : 0};
  FLO_TRY(flo_surface_drop_crumbs(out, &build->notes, crumb, error));
  return out->n_components > 0 ? flo_surface_polish(def, out, &build->notes, error) : FLO_OK;
}

static double stage_done(FloSurfaceMesh *out, FloSurfaceStage stage, double since) {
  double now = flo_seconds();
  out->stage_seconds[stage] = now - since;
  return now;
}

static FloStatus find_surface(Build *build, FloSurfaceMesh *out, FloError *error) {
  const FloSurfaceDef *def = build->def;
  double since = flo_seconds();
  FLO_TRY(sort_particles(build, error));
  out->n_particles = build->bricks.count;
  if (build->bricks.count == 0) return FLO_OK;
  FLO_TRY(flo_bricks_list(&build->bricks, def, flo_level_set_reach(def), error));
  since = stage_done(out, FLO_SURFACE_SORT, since);
  FLO_TRY(find_field(build, error));
  out->n_bricks = build->bricks.n_slots;
  since = stage_done(out, FLO_SURFACE_FIELD, since);
  FLO_TRY(flo_surface_extract(&build->bricks, def, out, &build->notes, error));
  since = stage_done(out, FLO_SURFACE_EXTRACT, since);
  if (out->mesh.n_triangles == 0) return FLO_OK;
  FLO_TRY(polish(build, out, error));
  stage_done(out, FLO_SURFACE_POLISH, since);
  return FLO_OK;
}

FloStatus flo_surface_build(const FloSurfaceDef *def, const double *positions, const float *velocities,
                            size_t count, FloSurfaceMesh *out, FloMemory *memory, FloError *error) {
  *out = (FloSurfaceMesh){0};
  flo_mesh_init(&out->mesh, memory);
  FLO_TRY(check_def(def, error));
  FLO_TRY(check_particles(positions, velocities, count, error));
  Build build = {.def = def, .input = {positions, velocities, NULL, count}, .memory = memory};
  build.bricks.memory = memory;
  build.set.bricks = &build.bricks;
  FloStatus status = find_surface(&build, out, error);
  flo_buffer_free(memory, &build.notes.thickness);
  flo_buffer_free(memory, &build.notes.part);
  flo_buffer_free(memory, &build.keep);
  flo_level_set_free(&build.set);
  flo_bricks_free(&build.bricks);
  return status;
}
