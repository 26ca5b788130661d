#include "geometry/tetrahedra.h"

#include "base/vecmath.h"
#include "geometry/cloth_mesh.h"
#include "geometry/stuffing.h"

#include <math.h>
#include <stdio.h>

// ---- How much it would be ----

static double power(double x, int dim) { return dim == 3 ? x * x * x : x * x; }

// Nodes of the lattice around the solid, with its margin.
static double count_nodes(const FloSolid *solid, double cell) {
  double low[3], high[3], n = 1;
  flo_solid_bounds(solid, low, high);
  for (int axis = 0; axis < solid->dim; ++axis) n *= (high[axis] - low[axis]) / cell + 8;
  return n;
}

static FloStatus refuse_count(const FloSolid *solid, double cell, double n, double most, const char *what,
                              FloError *error) {
  return flo_fail(
      error, FLO_BAD_INPUT,
      "elastic: with a cell of %g m it would have %.2g %s; at most %.0e can be handled, so make the cell "
      "at least %.2g m",
      cell, n, what, most, 1.05 * cell * pow(n / most, 1.0 / solid->dim));
}

// Of the lattice 12 bytes are kept for each node.
static const double most_nodes = 4e7;

static FloStatus check_count(const FloSolid *solid, double volume, double cell, FloError *error) {
  if (!(cell > 0) || !isfinite(cell))
    return flo_fail(error, FLO_BAD_INPUT, "elastic: the cell must be a positive length, got %g m", cell);
  double n = volume / power(cell, solid->dim) * (solid->dim == 3 ? 6 : 2), n_nodes = count_nodes(solid, cell);
  if (n > FLO_MOST_ELEMENTS) return refuse_count(solid, cell, n, FLO_MOST_ELEMENTS, "elements", error);
  if (n_nodes > most_nodes)
    return refuse_count(solid, cell, n_nodes, most_nodes, "points of a lattice in the box around it", error);
  return FLO_OK;
}

// ---- Whether the elements show everything ----

// Where the elements fail to show the solid.
typedef struct Fault {
  bool is_there;
  size_t n_parts; // in which they would fall apart; 0: they hold together
  double place[3];
} Fault;

// A tip or an edge of the surface may stick out of the elements by this many cells. It is thinner than a cell
// there, however small the cell is. But parts must not be missing that are longer than this share of the
// solid and longer than a cell.
static const double most_cells_out = 4, most_share_out = 0.15;

static double largest_extent(const FloSolid *solid) {
  double low[3], high[3], largest = 0;
  flo_solid_bounds(solid, low, high);
  for (int axis = 0; axis < solid->dim; ++axis) largest = fmax(largest, high[axis] - low[axis]);
  return largest;
}

// The surface of the solid, in pieces not much larger than a cell; in the plane its outline.
static FloStatus make_surface(const FloSolid *solid, double cell, FloMesh *surface, FloError *error) {
  FloShape shape = solid->shape;
  shape.cell = cell;
  if (!solid->has_mesh) return flo_shape_cloth_mesh(&shape, solid->dim, cell, surface, error);
  FLO_TRY(flo_mesh_append(surface, &solid->mesh, error));
  FLO_TRY(flo_mesh_weld(surface, error));
  return flo_mesh_halve_sides(surface, 2 * cell, error);
}

// The point of the surface that is farthest from the border of the elements.
static void find_farthest(const FloMesh *surface, const FloBvh *border, double limit, Fault *fault) {
  FloClosest nearest;
  double farthest = 0;
  for (size_t k = 0; k < surface->n_vertices; ++k) {
    const double *point = flo_mesh_vertex(surface, k);
    if (!flo_bvh_closest(border, point, INFINITY, &nearest) || nearest.distance <= farthest) continue;
    farthest = nearest.distance;
    vec_copy(point, fault->place);
  }
  fault->is_there = farthest > limit;
}

static FloStatus compare_surfaces(const FloMesh *surface, const FloElements *elements, double limit,
                                  Fault *fault, FloError *error) {
  FloMesh border;
  FloBvh tree = {0};
  FloBuffer owners = {0};
  flo_mesh_init(&border, elements->memory);
  FloStatus status = flo_elements_border(elements, &border, &owners, error);
  if (status == FLO_OK) status = flo_bvh_build(&tree, &border, error);
  if (status == FLO_OK) {
    find_farthest(surface, &tree, limit, fault);
    flo_bvh_free(&tree);
  }
  flo_mesh_free(&border);
  flo_buffer_free(elements->memory, &owners);
  return status;
}

static void join_triangles(const FloMesh *surface, uint32_t *parents) {
  for (size_t k = 0; k < surface->n_vertices; ++k) parents[k] = (uint32_t)k;
  for (size_t k = 0; k < surface->n_triangles; ++k) {
    const uint32_t *t = flo_mesh_triangle(surface, k);
    flo_mesh_join_sets(parents, t[0], t[1]);
    flo_mesh_join_sets(parents, t[0], t[2]);
  }
}

// Parts of the surface that hold together and look outwards. Cavities look inwards.
static size_t count_outwards(const FloMesh *surface, uint32_t *parents, double *volumes) {
  const double origin[3] = {0};
  size_t count = 0;
  join_triangles(surface, parents);
  for (size_t k = 0; k < surface->n_triangles; ++k)
    volumes[flo_mesh_find_set(parents, flo_mesh_triangle(surface, k)[0])] +=
        flo_mesh_determinant(surface, k, origin);
  for (size_t k = 0; k < surface->n_vertices; ++k) count += volumes[k] > 0;
  return count;
}

static FloStatus count_outer_parts(const FloMesh *surface, size_t *count, FloError *error) {
  FloBuffer parents = {0}, volumes = {0};
  size_t n = surface->n_vertices + 1;
  FloStatus status = flo_buffer_reserve(surface->memory, &parents, n * sizeof(uint32_t), 0, error);
  if (status == FLO_OK)
    status = flo_buffer_reserve_zeros(surface->memory, &volumes, n * sizeof(double), error);
  if (status == FLO_OK) *count = count_outwards(surface, parents.data, volumes.data);
  flo_buffer_free(surface->memory, &parents);
  flo_buffer_free(surface->memory, &volumes);
  return status;
}

static FloStatus compare(const FloSolid *solid, const FloMesh *surface, FloElements *elements, Fault *fault,
                         FloError *error) {
  FloElementParts parts;
  size_t n_outer = 1;
  FLO_TRY(flo_elements_drop_crumbs(elements, power(elements->cell, elements->dim), &parts, error));
  if (solid->has_mesh) FLO_TRY(count_outer_parts(surface, &n_outer, error));
  double cell = elements->cell, share = most_share_out * largest_extent(solid);
  double limit = fmin(most_cells_out * cell, fmax(cell, share));
  FLO_TRY(compare_surfaces(surface, elements, limit, fault, error));
  if (fault->is_there || parts.count <= n_outer) return FLO_OK;
  *fault = (Fault){.is_there = true, .n_parts = parts.count};
  vec_copy(parts.smallest, fault->place);
  return FLO_OK;
}

static FloStatus find_fault(const FloSolid *solid, FloElements *elements, Fault *fault, FloError *error) {
  FloMesh surface;
  double low[3], high[3];
  flo_solid_bounds(solid, low, high);
  *fault = (Fault){.is_there = elements->n_elements == 0};
  vec_add(low, high, fault->place);
  vec_scale(fault->place, 0.5, fault->place);
  if (fault->is_there) return FLO_OK;
  flo_mesh_init(&surface, elements->memory);
  FloStatus status = make_surface(solid, elements->cell, &surface, error);
  if (status == FLO_OK) status = compare(solid, &surface, elements, fault, error);
  flo_mesh_free(&surface);
  return status;
}

// ---- Filling ----

static bool is_plain_box(const FloShape *shape) {
  return shape->kind == FLO_SHAPE_PLANE ||
         ((shape->kind == FLO_SHAPE_BOX || shape->kind == FLO_SHAPE_CARD) && shape->radius == 0);
}

static FloStatus stuff(const FloSolid *solid, double cell, FloElements *elements, FloError *error) {
  flo_elements_clear(elements);
  elements->cell = cell;
  return solid->dim == 3 ? flo_stuff_space(solid, cell, elements, error)
                         : flo_stuff_plane(solid, cell, elements, error);
}

// Each finer cell is this much smaller.
static const double refinement = 0.8;
enum { MOST_REFINEMENTS = 14 };

// The largest cell that does, at most the given one. *fault is that of the given cell.
static FloStatus find_cell(const FloSolid *solid, double cell, FloElements *elements, Fault *fault,
                           bool *is_found, FloError *error) {
  Fault last;
  for (int k = 0; k < MOST_REFINEMENTS; ++k, cell *= refinement) {
    if (k > 0 && check_count(solid, elements->solid_volume, cell, NULL) != FLO_OK) break;
    FLO_TRY(stuff(solid, cell, elements, error));
    FLO_TRY(find_fault(solid, elements, &last, error));
    if (k == 0) *fault = last;
    *is_found = !last.is_there;
    if (*is_found) return FLO_OK;
  }
  return FLO_OK;
}

static FloStatus refuse_fault(double cell, const Fault *fault, bool is_found, double finer, FloError *error) {
  const double *at = fault->place;
  char remedy[64] = "make it thicker";
  if (is_found) snprintf(remedy, sizeof remedy, "use a cell of at most %.3g m", finer);
  if (fault->n_parts)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "elastic: elements of %.3g m would fall apart into %zu parts, the smallest near (%.4g, %.4g, %.4g), "
        "because what joins them is too thin; %s",
        cell, fault->n_parts, at[0], at[1], at[2], remedy);
  return flo_fail(
      error, FLO_BAD_INPUT,
      "elastic: near (%.4g, %.4g, %.4g) the body is too thin, or parts of it are too near to each other, "
      "for elements of %.3g m; %s",
      at[0], at[1], at[2], cell, remedy);
}

static FloStatus fill_by_lattice(const FloSolid *solid, double cell, bool may_refine, FloElements *elements,
                                 FloError *error) {
  Fault fault = {0};
  bool is_found = false;
  FLO_TRY(find_cell(solid, cell, elements, &fault, &is_found, error));
  if (!is_found || (fault.is_there && !may_refine))
    return refuse_fault(cell, &fault, is_found, elements->cell, error);
  const FloShape *shape = &solid->shape;
  bool has_corners = solid->dim == 2 && shape->kind == FLO_SHAPE_OUTLINE;
  return has_corners ? flo_stuffing_fill_corners(shape->points, shape->n_points, elements, error) : FLO_OK;
}

FloStatus flo_solid_fill(const FloSolid *solid, double cell, bool may_refine, FloElements *elements,
                         FloError *error) {
  double low[3], high[3];
  FloMassProperties mass;
  FLO_TRY(flo_solid_check_fill(solid, error));
  FLO_TRY(flo_solid_mass(solid, 1, 0, &mass, error));
  FLO_TRY(check_count(solid, mass.volume, cell, error));
  elements->solid_volume = mass.volume, elements->cell = cell;
  if (!is_plain_box(&solid->shape)) return fill_by_lattice(solid, cell, may_refine, elements, error);
  flo_solid_bounds(solid, low, high);
  elements->is_grid = true;
  return flo_stuff_box(low, high, cell, elements, error);
}
