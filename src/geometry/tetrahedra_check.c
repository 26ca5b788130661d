// Solids that cannot be filled, each with the place and the remedy.
#include "geometry/tetrahedra.h"

#include "base/vecmath.h"

#include <math.h>

// The middle of the first edge that has not two triangles.
static FloStatus find_bad_edge(const FloMesh *mesh, double place[3], FloError *error) {
  FloBuffer buffer = {0};
  FLO_TRY(flo_mesh_sort_sides(mesh, &buffer, error));
  const FloMeshSide *sides = buffer.data;
  for (size_t first = 0, n, n_sides = 3 * mesh->n_triangles; first < n_sides; first += n) {
    n = flo_mesh_count_sides(sides, n_sides, first);
    if (n == 2) continue;
    const double *a = flo_mesh_vertex(mesh, sides[first].low), *b = flo_mesh_vertex(mesh, sides[first].high);
    for (int axis = 0; axis < 3; ++axis) place[axis] = (a[axis] + b[axis]) / 2;
    break;
  }
  flo_buffer_free(mesh->memory, &buffer);
  return FLO_OK;
}

static FloStatus refuse_edges(const FloMesh *mesh, const FloMeshReport *report, FloError *error) {
  double at[3] = {0};
  FLO_TRY(find_bad_edge(mesh, at, error));
  if (report->n_boundary_edges)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "elastic: the mesh has holes: %zu of its edges belong to one triangle only, for instance that at "
        "(%.4g, %.4g, %.4g); close them, or make it a cloth",
        report->n_boundary_edges, at[0], at[1], at[2]);
  return flo_fail(
      error, FLO_BAD_INPUT,
      "elastic: %zu edges of the mesh belong to more than two triangles, for instance that at (%.4g, %.4g, "
      "%.4g); take the inner triangles away, or separate the parts that meet there",
      report->n_nonmanifold_edges, at[0], at[1], at[2]);
}

static FloStatus judge(const FloMesh *mesh, const FloMeshReport *report, FloError *error) {
  double box = 1;
  for (int axis = 0; axis < 3; ++axis) box *= report->high[axis] - report->low[axis];
  if (report->n_boundary_edges) return refuse_edges(mesh, report, error);
  if (!(fabs(report->signed_volume) > 1e-12 * box))
    return flo_fail(error, FLO_BAD_INPUT,
                    "elastic: the mesh has no volume; make it a cloth, or give it a thickness");
  if (report->n_nonmanifold_edges) return refuse_edges(mesh, report, error);
  if (report->n_inconsistent_halfedges)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "elastic: some triangles of the mesh look outwards and others inwards; turn them so that all run "
        "counter-clockwise seen from outside");
  if (report->is_inside_out)
    return flo_fail(error, FLO_BAD_INPUT,
                    "elastic: the mesh is inside out: its volume is %.4g m^3; turn its triangles round",
                    report->signed_volume);
  return FLO_OK;
}

// Where the outside of a triangle is inside of another part. The report also counts triangles of a flat face
// that only rounding lets meet.
static bool find_overlap(const FloSolid *solid, double place[3]) {
  for (size_t k = 0; k < solid->mesh.n_triangles; ++k) {
    double normal[3], above[3] = {0};
    flo_mesh_normal(&solid->mesh, k, normal);
    double twice_area = vec_length(normal);
    if (!(twice_area > 0)) continue;
    for (int c = 0; c < 3; ++c) vec_add_scaled(above, flo_mesh_corner(&solid->mesh, k, c), 1.0 / 3, above);
    vec_copy(above, place);
    vec_add_scaled(above, normal, 1e-3 / sqrt(twice_area), above);
    if (flo_bvh_winding(&solid->bvh, above) > 0.5) return true;
  }
  return false;
}

static FloStatus check_overlap(const FloSolid *solid, const FloMeshReport *report, FloError *error) {
  double at[3];
  if (report->n_self_touching == 0 || !find_overlap(solid, at)) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "elastic: the surface of the mesh touches or crosses itself near (%.4g, %.4g, %.4g); move "
                  "the parts away from each other there, or join them to one surface",
                  at[0], at[1], at[2]);
}

// Vertices that differ by rounding only are no holes.
static FloStatus check_mesh(const FloSolid *solid, FloError *error) {
  FloMesh mesh;
  FloMeshReport report;
  flo_mesh_init(&mesh, solid->mesh.memory);
  FloStatus status = flo_mesh_copy_joined(&solid->mesh, &mesh, error);
  if (status == FLO_OK) status = flo_mesh_inspect(&mesh, &report, error);
  if (status == FLO_OK) status = judge(&mesh, &report, error);
  if (status == FLO_OK) status = check_overlap(solid, &report, error);
  flo_mesh_free(&mesh);
  return status;
}

FloStatus flo_solid_check_fill(const FloSolid *solid, FloError *error) {
  FLO_TRY(flo_shape_check_solid(&solid->shape, error));
  if (solid->shape.kind == FLO_SHAPE_TANK)
    return flo_fail(error, FLO_BAD_INPUT,
                    "elastic: a tank cannot be one; use boxes or a mesh for a soft vessel");
  return solid->shape.kind == FLO_SHAPE_MESH ? check_mesh(solid, error) : FLO_OK;
}
