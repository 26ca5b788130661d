// Mass of a solid: by formula where there is one, otherwise from its outline or its triangles.
#include "base/vecmath.h"
#include "geometry/outline.h"
#include "geometry/shape_mesh.h"
#include "geometry/solid.h"

#include <math.h>
#include <string.h>

// ---- Formulas: bodies with the axis z, centred on it ----

// Sets mass and inertia of a body of revolution from its two different moments.
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

// Uses a formula if there is one, and returns whether there is.
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

// ---- Meshes with holes ----

// Sums the size of all holes. The size of a hole is the length of its vector area, which equals that of its
// lids.
static double area_of_holes(const FloMesh *lids, double (*areas)[3]) {
  double total = 0, a[3], b[3], twice[3];
  for (size_t k = 0; k < lids->n_triangles; ++k) {
    const double *tip = flo_mesh_corner(lids, k, 2);
    double *area = areas[flo_mesh_triangle(lids, k)[2]];
    vec_sub(flo_mesh_corner(lids, k, 0), tip, a);
    vec_sub(flo_mesh_corner(lids, k, 1), tip, b);
    vec_cross(a, b, twice);
    vec_add_scaled(area, twice, 0.5, area);
  }
  for (size_t k = 0; k < lids->n_vertices; ++k) total += vec_length(areas[k]);
  return total;
}

// The most by which lids on all holes could change the volume: a third of their area times their distance
// from the middle of the mesh. The distance is at most half the diagonal of the box.
static FloStatus doubtful_volume(const FloMesh *mesh, double *volume, FloError *error) {
  FloMesh joined, lids;
  FloBuffer areas = {0};
  double low[3], high[3], diagonal[3];
  flo_mesh_init(&joined, mesh->memory), flo_mesh_init(&lids, mesh->memory);
  FloStatus status = flo_mesh_copy_joined(mesh, &joined, error);
  if (status == FLO_OK) status = flo_mesh_cap_holes(&joined, &lids, error);
  size_t size = (lids.n_vertices + 1) * sizeof(double[3]);
  if (status == FLO_OK) status = flo_buffer_reserve(mesh->memory, &areas, size, 0, error);
  if (status == FLO_OK) {
    memset(areas.data, 0, size);
    flo_mesh_bounds(mesh, low, high);
    vec_sub(high, low, diagonal);
    *volume = area_of_holes(&lids, areas.data) * vec_length(diagonal) / 2 / 3;
  }
  flo_buffer_free(mesh->memory, &areas);
  flo_mesh_free(&joined);
  flo_mesh_free(&lids);
  return status;
}

// A volume is refused if holes leave a larger share of it uncertain.
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

// Boxes and sheets keep no triangles. They are made here; they are few, and exact at any fineness.
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
  return flo_shape_check_solid(&solid->shape, error);
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
