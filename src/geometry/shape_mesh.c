#include "geometry/shape_mesh.h"

#include "base/vecmath.h"
#include "geometry/figures.h"
#include "geometry/letters.h"
#include "geometry/outline.h"
#include "geometry/shapes.h"
#include "geometry/solid_meshes.h"
#include "geometry/thin_meshes.h"

static FloStatus check_triangles(const FloTriangles *from, FloError *error) {
  if (!from || !from->vertices || !from->triangles || from->n_triangles == 0)
    return flo_fail(error, FLO_BAD_INPUT, "shape: a mesh needs vertices and triangles");
  for (size_t k = 0; k < 3 * from->n_triangles; ++k)
    if (from->triangles[k] >= from->n_vertices)
      return flo_fail(error, FLO_BAD_INPUT, "shape: triangle %zu of the mesh names vertex %u of %zu", k / 3,
                      from->triangles[k], from->n_vertices);
  for (size_t k = 0; k < from->n_vertices; ++k)
    if (!vec_is_finite(from->vertices + 3 * k))
      return flo_fail(error, FLO_BAD_INPUT, "shape: vertex %zu of the mesh is not finite", k);
  return FLO_OK;
}

static FloStatus copy_triangles(const FloTriangles *from, FloMesh *mesh, FloError *error) {
  FLO_TRY(check_triangles(from, error));
  uint32_t first = (uint32_t)mesh->n_vertices;
  for (size_t k = 0; k < from->n_vertices; ++k)
    FLO_TRY(flo_mesh_add_vertex(mesh, from->vertices + 3 * k, NULL, error));
  for (size_t k = 0; k < from->n_triangles; ++k) {
    const uint32_t *t = from->triangles + 3 * k;
    FLO_TRY(flo_mesh_add_triangle(mesh, first + t[0], first + t[1], first + t[2], error));
  }
  return FLO_OK;
}

static FloStatus make_heightfield(const FloShape *shape, double fineness, FloMesh *mesh, FloError *error) {
  const int *n = shape->n_heights;
  if (!shape->heights || n[0] < 2 || n[1] < 2)
    return flo_fail(error, FLO_BAD_INPUT, "shape: a heightfield needs at least 2 x 2 heights, got %d x %d",
                    n[0], n[1]);
  return flo_mesh_heightfield(shape->size[0], shape->size[1], (size_t)n[0], (size_t)n[1], shape->heights,
                              shape->size[2], fineness, mesh, error);
}

static FloStatus make_letters(const FloShape *shape, double fineness, FloMesh *mesh, FloError *error) {
  if (!shape->text) return flo_fail(error, FLO_BAD_INPUT, "shape: letters need a text");
  return flo_mesh_letters(shape->text, shape->size[0], shape->size[1], shape->size[2], shape->hollow,
                          fineness, mesh, error);
}

static FloStatus make_thin(const FloShape *shape, double fineness, FloMesh *mesh, FloError *error) {
  if (flo_shape_is_thin(shape)) return flo_mesh_thin(shape, fineness, mesh, error);
  return flo_fail(error, FLO_BAD_INPUT, "shape: unknown kind %d", (int)shape->kind);
}

FloStatus flo_shape_mesh(const FloShape *shape, double fineness, double wall, FloMesh *mesh,
                         FloError *error) {
  const double *size = shape->size, r = shape->radius, r2 = shape->radius2;
  switch (shape->kind) {
  case FLO_SHAPE_BOX:
    return r > 0 ? flo_mesh_rounded_box(size, r, fineness, mesh, error)
                 : flo_mesh_box(size, fineness, mesh, error);
  case FLO_SHAPE_SPHERE:
    return flo_mesh_sphere(r, fineness, mesh, error);
  case FLO_SHAPE_CYLINDER:
    return flo_mesh_cylinder(r, size[0], fineness, mesh, error);
  case FLO_SHAPE_TANK:
    return flo_mesh_tank(size, wall, shape->up, shape->closed, fineness, mesh, error);
  case FLO_SHAPE_CAPSULE:
    return flo_mesh_capsule(r, size[0], fineness, mesh, error);
  case FLO_SHAPE_CONE:
    return flo_mesh_cone(r, r2, size[0], fineness, mesh, error);
  case FLO_SHAPE_TORUS:
    return flo_mesh_torus(r, r2, fineness, mesh, error);
  case FLO_SHAPE_TUBE:
    return flo_mesh_tube(r, r2, size[0], fineness, mesh, error);
  case FLO_SHAPE_PLANE:
    return flo_mesh_plane(size[0], size[1], size[2], fineness, mesh, error);
  case FLO_SHAPE_RAMP:
    return flo_mesh_ramp(size[0], size[1], size[2], fineness, mesh, error);
  case FLO_SHAPE_WEDGE:
    return flo_mesh_wedge(size, fineness, mesh, error);
  case FLO_SHAPE_LINK:
    return flo_mesh_link(size[0], size[1], r, fineness, mesh, error);
  case FLO_SHAPE_CARD:
    return flo_mesh_card(size[0], size[1], size[2], r, fineness, mesh, error);
  case FLO_SHAPE_LETTERS:
    return make_letters(shape, fineness, mesh, error);
  case FLO_SHAPE_HEIGHTFIELD:
    return make_heightfield(shape, fineness, mesh, error);
  case FLO_SHAPE_DUCK:
    return flo_mesh_duck(size[0], fineness, mesh, error);
  case FLO_SHAPE_RABBIT:
    return flo_mesh_rabbit(size[0], fineness, mesh, error);
  case FLO_SHAPE_ARMADILLO:
    return flo_mesh_armadillo(size[0], fineness, mesh, error);
  case FLO_SHAPE_MESH:
    return copy_triangles(shape->mesh, mesh, error);
  case FLO_SHAPE_OUTLINE:
    return flo_mesh_outline(shape->points, shape->n_points, size[0], mesh, error);
  default:
    return make_thin(shape, fineness, mesh, error);
  }
}
