#include "geometry/solid.h"

#include "base/vecmath.h"
#include "geometry/shape_mesh.h"

#include <math.h>
#include <string.h>

// ---- What a shape is made from, as a number to compare ----

static uint64_t mix(uint64_t h, const void *data, size_t size) { // FNV-1a
  for (size_t k = 0; k < size; ++k) h = (h ^ ((const unsigned char *)data)[k]) * 0x100000001b3u;
  return h;
}

static uint64_t key_of(const FloShape *shape) {
  uint64_t h = mix(0xcbf29ce484222325u, shape->size, sizeof shape->size);
  const double radii[] = {shape->radius, shape->radius2};
  const int numbers[] = {(int)shape->kind, shape->closed, shape->hollow, shape->up};
  h = mix(mix(h, radii, sizeof radii), numbers, sizeof numbers);
  if (shape->kind == FLO_SHAPE_LETTERS && shape->text) h = mix(h, shape->text, strlen(shape->text));
  if (shape->kind == FLO_SHAPE_HEIGHTFIELD && shape->heights) {
    h = mix(h, shape->n_heights, sizeof shape->n_heights);
    h = mix(h, shape->heights, (size_t)shape->n_heights[0] * (size_t)shape->n_heights[1] * sizeof(double));
  }
  if (shape->kind == FLO_SHAPE_MESH && shape->mesh) {
    h = mix(h, shape->mesh->vertices, shape->mesh->n_vertices * 3 * sizeof(double));
    h = mix(h, shape->mesh->triangles, shape->mesh->n_triangles * 3 * sizeof(uint32_t));
  }
  if (shape->kind == FLO_SHAPE_OUTLINE && shape->points)
    h = mix(h, shape->points, shape->n_points * 2 * sizeof(double));
  return h;
}

bool flo_solid_is_of(const FloSolid *solid, const FloShape *shape) { return solid->key == key_of(shape); }

// ---- Making ----

// Distances between grid nodes are interpolated; a third of a particle's spacing keeps the error well below
// what a particle could notice.
#define CELLS_PER_SPACING 3
#define MARGIN_CELLS      (3 * CELLS_PER_SPACING)

static FloStatus make_mesh(FloSolid *solid, const FloShape *shape, double spacing, int threads,
                           FloError *error) {
  FLO_TRY(flo_shape_mesh(shape, spacing, solid->wall, &solid->mesh, error));
  FLO_TRY(flo_bvh_build(&solid->bvh, &solid->mesh, error));
  return flo_sdf_build(&solid->sdf, &solid->bvh, spacing / CELLS_PER_SPACING, MARGIN_CELLS, threads, error);
}

// The caller's points need not outlive the call.
static FloStatus keep_outline(FloSolid *solid, const FloShape *shape, FloError *error) {
  size_t size = shape->n_points * 2 * sizeof(double);
  FLO_TRY(flo_buffer_reserve(solid->mesh.memory, &solid->outline, size, 0, error));
  memcpy(solid->outline.data, shape->points, size);
  solid->shape.points = solid->outline.data;
  return FLO_OK;
}

FloStatus flo_solid_init(FloSolid *solid, const FloShape *shape, int dim, double spacing, double wall,
                         int threads, FloMemory *memory, FloError *error) {
  *solid = (FloSolid){.shape = *shape, .key = key_of(shape), .dim = dim, .wall = wall};
  solid->shape.text = NULL, solid->shape.heights = NULL, solid->shape.mesh = NULL;
  solid->shape.points = NULL;
  solid->has_mesh = !flo_shape_has_formula(shape);
  flo_mesh_init(&solid->mesh, memory);
  if (!solid->has_mesh) return shape->kind == FLO_SHAPE_OUTLINE ? keep_outline(solid, shape, error) : FLO_OK;
  FloStatus status = make_mesh(solid, shape, spacing, threads, error);
  if (status != FLO_OK) flo_solid_free(solid);
  return status;
}

void flo_solid_free(FloSolid *solid) {
  if (solid->outline.data) flo_buffer_free(solid->mesh.memory, &solid->outline);
  if (!solid->has_mesh) return;
  flo_sdf_free(&solid->sdf);
  flo_bvh_free(&solid->bvh);
  flo_mesh_free(&solid->mesh);
  solid->has_mesh = false;
}

// ---- Asking ----

double flo_solid_distance(const FloSolid *solid, const double point[3]) {
  return solid->has_mesh ? flo_sdf_distance(&solid->sdf, point)
                         : flo_shape_distance(&solid->shape, solid->dim, point, solid->wall);
}

void flo_solid_normal(const FloSolid *solid, const double point[3], double normal[3]) {
  if (solid->has_mesh)
    flo_sdf_normal(&solid->sdf, point, normal);
  else
    flo_shape_normal(&solid->shape, solid->dim, point, solid->wall, normal);
}

void flo_solid_bounds(const FloSolid *solid, double low[3], double high[3]) {
  if (solid->has_mesh) {
    flo_mesh_bounds(&solid->mesh, low, high);
    return;
  }
  flo_shape_bounds(&solid->shape, solid->dim, low, high);
}

FloStatus flo_solid_sample_volume(const FloSolid *solid, double spacing, FloFluidPacking packing,
                                  FloPoints *points, FloError *error) {
  if (!solid->has_mesh)
    return flo_shape_sample_volume(&solid->shape, solid->dim, spacing, packing, points, error);
  FloInside inside = {.bvh = &solid->bvh, .sdf = &solid->sdf};
  FloVolumeOptions options = {.spacing = spacing, .clearance = spacing / 2};
  options.lattice = packing == FLO_FLUID_HEXAGONAL ? FLO_PACKING_HEXAGONAL : FLO_PACKING_CUBIC;
  return flo_sample_volume(&inside, &options, points, error);
}

FloStatus flo_solid_sample_surface(const FloSolid *solid, const FloSampleOptions *options, FloPoints *points,
                                   FloError *error) {
  if (solid->has_mesh) return flo_sample_surface(&solid->mesh, options, points, error);
  return flo_shape_sample_surface(&solid->shape, solid->dim, options->spacing, options->inset,
                                  options->layers, points, error);
}
