#include "geometry/solid.h"

#include "base/hash.h"
#include "base/vecmath.h"
#include "geometry/cloth_mesh.h"
#include "geometry/shape_mesh.h"

#include <math.h>
#include <string.h>

// ---- What a shape is made from ----

// Text, heights and points, which the caller owns. Triangles are compared with those of the mesh.
typedef struct Details {
  const void *data;
  size_t size; // [bytes]
} Details;

static Details details_of(const FloShape *shape) {
  if (shape->kind == FLO_SHAPE_LETTERS && shape->text) return (Details){shape->text, strlen(shape->text)};
  if (shape->kind == FLO_SHAPE_HEIGHTFIELD && shape->heights && shape->n_heights[0] > 0 &&
      shape->n_heights[1] > 0)
    return (Details){shape->heights,
                     (size_t)shape->n_heights[0] * (size_t)shape->n_heights[1] * sizeof(double)};
  if (shape->kind == FLO_SHAPE_OUTLINE && shape->points)
    return (Details){shape->points, shape->n_points * 2 * sizeof(double)};
  return (Details){0};
}

static bool has_triangles(const FloShape *shape) {
  return shape->kind == FLO_SHAPE_MESH && shape->mesh && shape->mesh->vertices && shape->mesh->triangles;
}

uint64_t flo_solid_key(const FloShape *shape) {
  const double radii[] = {shape->radius, shape->radius2, shape->cell};
  const int numbers[] = {(int)shape->kind, shape->closed,       shape->hollow,
                         shape->up,        shape->n_heights[0], shape->n_heights[1]};
  Details details = details_of(shape);
  uint64_t h = flo_hash_bytes(FLO_HASH_START, shape->size, sizeof shape->size);
  h = flo_hash_bytes(flo_hash_bytes(h, radii, sizeof radii), numbers, sizeof numbers);
  h = flo_hash_bytes(h, details.data, details.size);
  if (!has_triangles(shape)) return h;
  h = flo_hash_bytes(h, shape->mesh->vertices, shape->mesh->n_vertices * 3 * sizeof(double));
  return flo_hash_bytes(h, shape->mesh->triangles, shape->mesh->n_triangles * 3 * sizeof(uint32_t));
}

// Compares bit by bit, as the key does. 0 and -0 count as different, which only costs a second solid.
static bool is_same(const void *a, const void *b, size_t size) { return !size || memcmp(a, b, size) == 0; }

static bool has_same_numbers(const FloShape *a, const FloShape *b) {
  return a->kind == b->kind && is_same(a->size, b->size, sizeof a->size) &&
         is_same(&a->radius, &b->radius, sizeof a->radius) &&
         is_same(&a->radius2, &b->radius2, sizeof a->radius2) &&
         is_same(&a->cell, &b->cell, sizeof a->cell) && a->closed == b->closed && a->hollow == b->hollow &&
         a->up == b->up && a->n_heights[0] == b->n_heights[0] && a->n_heights[1] == b->n_heights[1];
}

bool flo_shape_is_same(const FloShape *a, const FloShape *b) {
  return has_same_numbers(a, b) && a->text == b->text && a->heights == b->heights && a->mesh == b->mesh &&
         a->points == b->points && a->n_points == b->n_points;
}

static bool has_same_triangles(const FloMesh *mesh, const FloTriangles *triangles) {
  return mesh->n_vertices == triangles->n_vertices && mesh->n_triangles == triangles->n_triangles &&
         is_same(mesh->vertices.data, triangles->vertices, mesh->n_vertices * 3 * sizeof(double)) &&
         is_same(mesh->triangles.data, triangles->triangles, mesh->n_triangles * 3 * sizeof(uint32_t));
}

bool flo_solid_is_of(const FloSolid *solid, const FloShape *shape, uint64_t key) {
  if (solid->key != key || !has_same_numbers(&solid->shape, shape)) return false;
  if (shape->kind == FLO_SHAPE_MESH)
    return has_triangles(shape) && has_same_triangles(&solid->mesh, shape->mesh);
  Details details = details_of(shape);
  return details.size == solid->details_size && is_same(details.data, solid->details.data, details.size);
}

// ---- Building ----

// Distances are interpolated between grid nodes. A cell of a third of the spacing keeps the error well below
// what matters to a particle.
#define CELLS_PER_SPACING 3
#define MARGIN_CELLS      (3 * CELLS_PER_SPACING)

static FloStatus keep_details(FloSolid *solid, const FloShape *shape, FloError *error) {
  Details details = details_of(shape);
  FLO_TRY(flo_buffer_reserve(solid->mesh.memory, &solid->details, details.size, 0, error));
  if (details.size) memcpy(solid->details.data, details.data, details.size);
  solid->details_size = details.size;
  if (shape->kind == FLO_SHAPE_OUTLINE) solid->shape.points = solid->details.data;
  return FLO_OK;
}

static FloStatus make_thin(FloSolid *solid, const FloShape *shape, double spacing, FloError *error) {
  FLO_TRY(flo_shape_cloth_mesh(shape, solid->dim, spacing, &solid->mesh, error));
  return flo_bvh_build(&solid->bvh, &solid->mesh, error);
}

static FloStatus make_mesh(FloSolid *solid, const FloShape *shape, double spacing, int threads,
                           FloError *error) {
  if (flo_shape_is_thin(shape)) return make_thin(solid, shape, spacing, error);
  FLO_TRY(flo_shape_mesh(shape, spacing, solid->wall, &solid->mesh, error));
  FLO_TRY(flo_bvh_build(&solid->bvh, &solid->mesh, error));
  return flo_sdf_build(&solid->sdf, &solid->bvh, spacing / CELLS_PER_SPACING, MARGIN_CELLS, threads, error);
}

FloStatus flo_solid_init(FloSolid *solid, const FloShape *shape, int dim, double spacing, double wall,
                         int threads, FloMemory *memory, FloError *error) {
  *solid = (FloSolid){.shape = *shape, .key = flo_solid_key(shape), .dim = dim, .wall = wall};
  solid->shape.text = NULL, solid->shape.heights = NULL, solid->shape.mesh = NULL;
  solid->shape.points = NULL;
  solid->has_mesh = !flo_shape_has_formula(shape);
  flo_mesh_init(&solid->mesh, memory);
  FloStatus status = keep_details(solid, shape, error);
  if (status == FLO_OK && !solid->has_mesh && shape->kind == FLO_SHAPE_OUTLINE)
    status = flo_outline_tree_build(&solid->outline, solid->shape.points, shape->n_points, memory, error);
  if (status == FLO_OK && solid->has_mesh) status = make_mesh(solid, shape, spacing, threads, error);
  if (status != FLO_OK) flo_solid_free(solid);
  return status;
}

void flo_solid_free(FloSolid *solid) {
  flo_outline_tree_free(&solid->outline);
  flo_buffer_free(solid->mesh.memory, &solid->details);
  if (!solid->has_mesh) return;
  flo_sdf_free(&solid->sdf);
  flo_bvh_free(&solid->bvh);
  flo_mesh_free(&solid->mesh);
  solid->has_mesh = false;
}

// ---- Queries ----

// The normal of a triangle, or in the plane of a segment.
static void thin_normal(const FloSolid *solid, size_t triangle, double normal[3]) {
  const double *a = flo_mesh_corner(&solid->mesh, triangle, 0),
               *b = flo_mesh_corner(&solid->mesh, triangle, 1);
  vec_set(normal, b[1] - a[1], a[0] - b[0], 0);
  if (solid->dim == 3) flo_mesh_normal(&solid->mesh, triangle, normal);
  double length = vec_length(normal);
  if (length > 0) vec_scale(normal, 1 / length, normal);
}

// Distance to a thin shape, and the way from it, which on its very surface is that of the nearest triangle.
static double thin_surface(const FloSolid *solid, const double point[3], double normal[3]) {
  FloClosest nearest;
  vec_set(normal, 0, 0, 0);
  if (!flo_bvh_closest(&solid->bvh, point, INFINITY, &nearest)) return INFINITY;
  vec_sub(point, nearest.point, normal);
  if (nearest.distance > 0)
    vec_scale(normal, 1 / nearest.distance, normal);
  else
    thin_normal(solid, nearest.triangle, normal);
  return nearest.distance;
}

double flo_solid_distance(const FloSolid *solid, const double point[3]) {
  double normal[3];
  if (flo_shape_is_thin(&solid->shape)) return thin_surface(solid, point, normal);
  if (solid->outline.n_points) return flo_outline_tree_distance(&solid->outline, point);
  return solid->has_mesh ? flo_sdf_distance(&solid->sdf, point)
                         : flo_shape_distance(&solid->shape, solid->dim, point, solid->wall);
}

// As flo_shape_normal.
static void outline_normal(const FloOutlineTree *outline, const double point[3], double normal[3]) {
  double low[2], high[2], farthest = hypot(point[0], point[1]);
  flo_outline_tree_bounds(outline, low, high);
  farthest = fmax(farthest, hypot(fmax(-low[0], high[0]), fmax(-low[1], high[1])));
  vec_set(normal, 0, 0, 0);
  for (int axis = 0; axis < 2; ++axis) {
    double a[2] = {point[0], point[1]}, b[2] = {point[0], point[1]}, step = 1e-6 * farthest;
    a[axis] -= step, b[axis] += step;
    normal[axis] = flo_outline_tree_distance(outline, b) - flo_outline_tree_distance(outline, a);
  }
  double length = vec_length(normal);
  if (length > 0) vec_scale(normal, 1 / length, normal);
}

void flo_solid_normal(const FloSolid *solid, const double point[3], double normal[3]) {
  if (flo_shape_is_thin(&solid->shape))
    thin_surface(solid, point, normal);
  else if (solid->outline.n_points)
    outline_normal(&solid->outline, point, normal);
  else if (solid->has_mesh)
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
  FLO_TRY(flo_shape_check_solid(&solid->shape, error));
  if (!solid->has_mesh)
    return flo_shape_sample_volume(&solid->shape, solid->dim, spacing, packing, points, error);
  FloInside inside = {.bvh = &solid->bvh, .sdf = &solid->sdf};
  // Every particle whose centre is inside belongs to the fluid, as for shapes with a formula. Solids keep
  // fluid away by themselves, so almost no clearance is needed; points exactly on the surface are left out.
  FloVolumeOptions options = {.spacing = spacing, .clearance = 1e-3 * spacing};
  options.packing = packing == FLO_FLUID_HEXAGONAL ? FLO_PACKING_HEXAGONAL : FLO_PACKING_CUBIC;
  return flo_sample_volume(&inside, &options, points, error);
}

// Of a line in the plane: in the middle of even parts.
static FloStatus sample_line(const FloSolid *solid, double spacing, FloPoints *points, FloError *error) {
  const FloMesh *mesh = &solid->mesh;
  double length = solid->shape.size[0], n = fmax(round(length / spacing), 1);
  const double *start = flo_mesh_vertex(mesh, 0);
  for (double k = 0; k < n; ++k)
    FLO_TRY(flo_points_add(points, start[0] + (k + 0.5) * length / n, start[1], 0, error));
  return FLO_OK;
}

static FloStatus sample_thin(const FloSolid *solid, const FloSampleOptions *options, FloPoints *points,
                             FloError *error) {
  FloSampleOptions single = *options;
  single.inset = 0, single.layers = 1;
  if (solid->dim == 2) return sample_line(solid, options->spacing, points, error);
  return flo_sample_surface(&solid->mesh, &single, points, error);
}

FloStatus flo_solid_sample_surface(const FloSolid *solid, const FloSampleOptions *options, FloPoints *points,
                                   FloError *error) {
  if (flo_shape_is_thin(&solid->shape)) return sample_thin(solid, options, points, error);
  if (solid->has_mesh) return flo_sample_surface(&solid->mesh, options, points, error);
  return flo_shape_sample_surface(&solid->shape, solid->dim, options->spacing, options->inset,
                                  options->layers, points, error);
}

// The walls of a tank are outside of its bounds. Those of an outline need not be centred.
double flo_solid_reach(const FloSolid *solid) {
  double low[3], high[3], farthest[3];
  flo_solid_bounds(solid, low, high);
  for (int axis = 0; axis < 3; ++axis) {
    farthest[axis] = fmax(fabs(low[axis]), fabs(high[axis]));
    if (solid->shape.kind == FLO_SHAPE_TANK) farthest[axis] += solid->wall;
  }
  return vec_length(farthest) * (1 + 1e-9);
}
