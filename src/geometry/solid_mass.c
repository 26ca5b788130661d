// What a solid weighs: by formula where there is one, and otherwise by its outline or its triangles.
#include "base/vecmath.h"
#include "geometry/outline.h"
#include "geometry/shape_mesh.h"
#include "geometry/solid.h"

#include <math.h>
#include <string.h>

// ---- Formulas: bodies with the axis z, centred on it ----

// Mass and the two different moments of inertia about the centre.
static void set_round(double volume, double density, double across, double along, FloMassProperties *out) {
  *out = (FloMassProperties){.volume = volume, .mass = density * volume};
  out->inertia[0] = out->inertia[1] = across;
  out->inertia[2] = along;
}

static void box_mass(const double size[3], double density, FloMassProperties *out) {
  double volume = size[0] * size[1] * size[2], mass = density * volume;
  *out = (FloMassProperties){.volume = volume, .mass = mass};
  for (int k = 0; k < 3; ++k) {
    double a = size[(k + 1) % 3], b = size[(k + 2) % 3];
    out->inertia[k] = mass * (a * a + b * b) / 12;
  }
}

static void sphere_mass(double r, double density, double thickness, FloMassProperties *out) {
  double volume = thickness > 0 ? 4 * FLO_PI * r * r * thickness : 4 * FLO_PI / 3 * r * r * r;
  double inertia = (thickness > 0 ? 2.0 / 3 : 2.0 / 5) * density * volume * r * r;
  set_round(volume, density, inertia, inertia, out);
}

// Discs of radius a + (b - a) t at height length t: integrals of r^2, t r^2, t^2 r^2 and r^4 over t.
static void frustum_mass(double a, double b, double length, double density, FloMassProperties *out) {
  double whole = (a * a + a * b + b * b) / 3;
  double first = (a * a + 2 * a * b + 3 * b * b) / 12, second = (a * a + 3 * a * b + 6 * b * b) / 30;
  double fourth = (a * a * a * a + a * a * a * b + a * a * b * b + a * b * b * b + b * b * b * b) / 5;
  double line = FLO_PI * length * density, spread = second - first * first / whole;
  double across = line * (fourth / 4 + length * length * spread);
  set_round(FLO_PI * length * whole, density, across, line * fourth / 2, out);
  out->centre[2] = length * (first / whole - 0.5);
}

// The outer cylinder less the inner one; both have their centre at the origin.
static void tube_mass(double outer, double inner, double length, double density, FloMassProperties *out) {
  FloMassProperties hole;
  frustum_mass(outer, outer, length, density, out);
  frustum_mass(inner, inner, length, density, &hole);
  out->volume -= hole.volume, out->mass -= hole.mass;
  for (int k = 0; k < 3; ++k) out->inertia[k] -= hole.inertia[k];
}

// A cylinder and two halves of a ball, whose own centres lie 3/8 r beyond the ends of the cylinder.
static void capsule_mass(double r, double length, double density, FloMassProperties *out) {
  FloMassProperties cylinder, ball;
  frustum_mass(r, r, length, density, &cylinder);
  sphere_mass(r, density, 0, &ball);
  double shift = length * length / 4 + 3.0 / 8 * length * r;
  set_round(cylinder.volume + ball.volume, density, cylinder.inertia[0] + ball.inertia[0] + ball.mass * shift,
            cylinder.inertia[2] + ball.inertia[2], out);
}

static void torus_mass(double ring, double tube, double density, FloMassProperties *out) {
  double volume = 2 * FLO_PI * FLO_PI * ring * tube * tube, mass = density * volume;
  double across = mass * (ring * ring / 2 + 5.0 / 8 * tube * tube);
  set_round(volume, density, across, mass * (ring * ring + 0.75 * tube * tube), out);
}

// The side and the two caps of a closed tin.
static void cylinder_shell_mass(double r, double length, double density, double thickness,
                                FloMassProperties *out) {
  double side = 2 * FLO_PI * r * length * thickness, caps = 2 * FLO_PI * r * r * thickness;
  double across = side * (r * r / 2 + length * length / 12) + caps * (r * r + length * length) / 4;
  double along = (side + caps / 2) * r * r;
  set_round(side + caps, density, density * across, density * along, out);
}

// Whether there is a formula, which then has been used.
static bool mass_by_formula(const FloShape *shape, double density, double thickness, FloMassProperties *out) {
  double r = shape->radius, length = shape->size[0];
  bool is_full = thickness == 0;
  if (shape->kind == FLO_SHAPE_SPHERE)
    sphere_mass(r, density, thickness, out);
  else if (shape->kind == FLO_SHAPE_CYLINDER && is_full)
    frustum_mass(r, r, length, density, out);
  else if (shape->kind == FLO_SHAPE_CYLINDER)
    cylinder_shell_mass(r, length, density, thickness, out);
  else if (shape->kind == FLO_SHAPE_BOX && r == 0 && is_full)
    box_mass(shape->size, density, out);
  else if (shape->kind == FLO_SHAPE_CAPSULE && is_full)
    capsule_mass(r, length, density, out);
  else if (shape->kind == FLO_SHAPE_CONE && is_full)
    frustum_mass(r, shape->radius2, length, density, out);
  else if (shape->kind == FLO_SHAPE_TORUS && is_full)
    torus_mass(r, shape->radius2, density, out);
  else if (shape->kind == FLO_SHAPE_TUBE && is_full)
    tube_mass(r, shape->radius2, length, density, out);
  else
    return false;
  return true;
}

// ---- In the plane ----

static void disc_mass(double r, double density, double thickness, FloMassProperties *out) {
  double area = thickness > 0 ? 2 * FLO_PI * r * thickness : FLO_PI * r * r;
  set_round(area, density, 0, density * area * r * r * (thickness > 0 ? 1 : 0.5), out);
}

static void polygon_mass(const double *points, size_t n, double density, double thickness,
                         FloMassProperties *out) {
  if (thickness > 0)
    flo_outline_shell_mass(points, n, density, thickness, out);
  else
    flo_outline_mass(points, n, density, out);
  double about_z = out->inertia[2];
  memset(out->inertia, 0, sizeof out->inertia);
  out->inertia[2] = about_z;
}

static void flat_mass(const FloShape *shape, double density, double thickness, FloMassProperties *out) {
  if (shape->kind == FLO_SHAPE_SPHERE) {
    disc_mass(shape->radius, density, thickness, out);
    return;
  }
  double x = shape->size[0] / 2, y = shape->size[1] / 2;
  const double corners[] = {-x, -y, x, -y, x, y, -x, y};
  bool is_box = shape->kind == FLO_SHAPE_BOX;
  polygon_mass(is_box ? corners : shape->points, is_box ? 4 : shape->n_points, density, thickness, out);
}

// ---- Triangles that might leave holes ----

// Vertices of open edges, joined to sets: every hole is one, and a seam whose two sides have their vertices
// at different places is one without area.
typedef struct Holes {
  FloMesh mesh; // welded
  FloBuffer sides, parents, areas;
} Holes;

static void holes_free(Holes *holes) {
  FloMemory *memory = holes->mesh.memory;
  flo_buffer_free(memory, &holes->sides);
  flo_buffer_free(memory, &holes->parents);
  flo_buffer_free(memory, &holes->areas);
  flo_mesh_free(&holes->mesh);
}

static FloStatus holes_init(Holes *holes, const FloMesh *mesh, FloError *error) {
  *holes = (Holes){0};
  flo_mesh_init(&holes->mesh, mesh->memory);
  FLO_TRY(flo_mesh_append(&holes->mesh, mesh, error));
  FLO_TRY(flo_mesh_weld(&holes->mesh, error));
  size_t n = holes->mesh.n_vertices;
  FLO_TRY(flo_mesh_sort_sides(&holes->mesh, &holes->sides, error));
  FLO_TRY(flo_buffer_reserve(mesh->memory, &holes->parents, n * sizeof(uint32_t), 0, error));
  FLO_TRY(flo_buffer_reserve(mesh->memory, &holes->areas, 3 * n * sizeof(double), 0, error));
  for (size_t k = 0; k < n; ++k) ((uint32_t *)holes->parents.data)[k] = (uint32_t)k;
  memset(holes->areas.data, 0, 3 * n * sizeof(double));
  return FLO_OK;
}

// How many more of the sides of an edge run from its low vertex to its high one than back.
static int excess_of(const FloMesh *mesh, const FloMeshSide *sides, size_t n_same) {
  int excess = 0;
  for (size_t k = 0; k < n_same; ++k) {
    bool is_forward = flo_mesh_triangle(mesh, 0)[sides[k].side] == sides[k].low;
    excess += is_forward ? 1 : -1;
  }
  return excess;
}

// Calls `visit` for every open edge, with the number of times that it runs from low to high.
static void visit_open_edges(Holes *holes, void (*visit)(Holes *, const FloMeshSide *, int)) {
  const FloMeshSide *sides = holes->sides.data;
  size_t n_sides = 3 * holes->mesh.n_triangles, n_same;
  for (size_t k = 0; k < n_sides; k += n_same) {
    n_same = flo_mesh_count_sides(sides, n_sides, k);
    int excess = excess_of(&holes->mesh, sides + k, n_same);
    if (excess && sides[k].low != sides[k].high) visit(holes, &sides[k], excess);
  }
}

static void join_ends(Holes *holes, const FloMeshSide *edge, int excess) {
  (void)excess;
  flo_mesh_join_sets(holes->parents.data, edge->low, edge->high);
}

// The vector area of a closed line is half the sum of (a - c) x (b - c) over its edges, whatever c is; its
// first vertex keeps the digits.
static void add_area(Holes *holes, const FloMeshSide *edge, int excess) {
  uint32_t hole = flo_mesh_find_set(holes->parents.data, edge->low);
  const double *c = flo_mesh_vertex(&holes->mesh, hole);
  double a[3], b[3], twice[3], *area = (double *)holes->areas.data + 3 * hole;
  vec_sub(flo_mesh_vertex(&holes->mesh, edge->low), c, a);
  vec_sub(flo_mesh_vertex(&holes->mesh, edge->high), c, b);
  vec_cross(a, b, twice);
  vec_add_scaled(area, twice, 0.5 * excess, area);
}

// The most that lids on all holes could add to or take from the volume: a third of their area times their
// distance from the middle of the mesh, which is at most half the diagonal of its box.
static FloStatus doubtful_volume(const FloMesh *mesh, double *volume, FloError *error) {
  Holes holes;
  double low[3], high[3], diagonal[3], area = 0;
  FloStatus status = holes_init(&holes, mesh, error);
  if (status == FLO_OK) {
    visit_open_edges(&holes, join_ends);
    visit_open_edges(&holes, add_area);
    for (size_t k = 0; k < holes.mesh.n_vertices; ++k) area += vec_length((double *)holes.areas.data + 3 * k);
  }
  holes_free(&holes);
  flo_mesh_bounds(mesh, low, high);
  vec_sub(high, low, diagonal);
  *volume = area * vec_length(diagonal) / 2 / 3;
  return status;
}

// A volume that holes leave more uncertain than this is none.
static const double max_doubt = 0.1;

static FloStatus check_volume(const FloSolid *solid, double volume, FloError *error) {
  double doubt = 0, low[3], high[3];
  flo_mesh_bounds(&solid->mesh, low, high);
  double box = (high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2]);
  if (solid->shape.kind == FLO_SHAPE_MESH) FLO_TRY(doubtful_volume(&solid->mesh, &doubt, error));
  if (!(fabs(volume) > 1e-12 * box) || doubt > max_doubt * fabs(volume))
    return flo_fail(error, FLO_BAD_INPUT,
                    "mass: the mesh is open and has no volume of its own; close it, or give it a thickness");
  if (volume < 0)
    return flo_fail(error, FLO_BAD_INPUT,
                    "mass: the volume of the mesh is %g m^3 because its faces point inwards; turn them round",
                    volume);
  return FLO_OK;
}

// ---- In space ----

// Boxes and sheets keep no triangles; theirs are few, and exact at any fineness.
static FloStatus shell_mass(const FloSolid *solid, double density, double thickness, FloMassProperties *out,
                            FloError *error) {
  FloMesh mesh;
  flo_mesh_init(&mesh, solid->mesh.memory);
  FloStatus status = FLO_OK;
  if (!solid->has_mesh) status = flo_shape_mesh(&solid->shape, 1, solid->wall, &mesh, error);
  if (status == FLO_OK) flo_mesh_shell_mass(solid->has_mesh ? &solid->mesh : &mesh, density, thickness, out);
  flo_mesh_free(&mesh);
  return status;
}

static FloStatus full_mass(const FloSolid *solid, double density, FloMassProperties *out, FloError *error) {
  if (!solid->has_mesh)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "mass: an outline without depth has no volume of its own; give it a depth or a thickness");
  flo_mesh_mass(&solid->mesh, density, out);
  return check_volume(solid, out->volume, error);
}

static FloStatus check_request(const FloSolid *solid, double density, double thickness, FloError *error) {
  if (!(density > 0) || !isfinite(density))
    return flo_fail(error, FLO_BAD_INPUT, "mass: the density must be positive, got %g", density);
  if (!(thickness >= 0) || !isfinite(thickness))
    return flo_fail(error, FLO_BAD_INPUT,
                    "mass: the thickness of a shell must be positive, or 0 for a full solid, got %g",
                    thickness);
  if (solid->shape.kind == FLO_SHAPE_TANK)
    return flo_fail(error, FLO_BAD_INPUT,
                    "mass: a tank has no volume of its own; use a mesh or boxes for a vessel that moves");
  return FLO_OK;
}

FloStatus flo_solid_mass(const FloSolid *solid, double density, double thickness, FloMassProperties *out,
                         FloError *error) {
  *out = (FloMassProperties){0};
  FLO_TRY(check_request(solid, density, thickness, error));
  if (solid->dim == 2)
    flat_mass(&solid->shape, density, thickness, out);
  else if (!mass_by_formula(&solid->shape, density, thickness, out))
    return thickness > 0 ? shell_mass(solid, density, thickness, out, error)
                         : full_mass(solid, density, out, error);
  return FLO_OK;
}
