// Cloth and thin shells: a surface of triangles, in the plane a line of segments, that stretches and bends.
#include "base/pose.h"
#include "bodies/soft_body.h"
#include "geometry/cloth_mesh.h"

#include <string.h>

// Sides of triangles in spacings, unless the shape says otherwise.
#define CELL 2

static const FloStateField fields[] = {FLO_SOFT_FIELDS, {0}};

// ---- What it is made of ----

static FloStatus check_number(double value, double low, double high, const char *name, FloError *error) {
  if (value >= low && value <= high) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "cloth: %s must lie between %g and %g, got %g", name, low, high,
                  value);
}

static FloStatus check_cloth(const FloClothDef *cloth, FloError *error) {
  const double most = 1e15;
  FLO_TRY(check_number(cloth->areal_density, 0, most, "areal_density", error));
  FLO_TRY(check_number(cloth->thickness, 0, most, "thickness", error));
  FLO_TRY(check_number(cloth->young, 0, most, "young", error));
  FLO_TRY(check_number(cloth->poisson, 0, 0.5, "poisson", error));
  FLO_TRY(check_number(cloth->stretch, 0, most, "stretch", error));
  FLO_TRY(check_number(cloth->shear, 0, most, "shear", error));
  FLO_TRY(check_number(cloth->bend, 0, most, "bend", error));
  FLO_TRY(check_number(cloth->damping, 0, most, "damping", error));
  FLO_TRY(check_number(cloth->max_stretch, 0, most, "max_stretch", error));
  for (int k = 0; k < 2; ++k) FLO_TRY(check_number(cloth->prestretch[k], 0, 100, "prestretch", error));
  if (cloth->young > 0 && (cloth->stretch > 0 || cloth->bend > 0))
    return flo_fail(error, FLO_BAD_INPUT,
                    "cloth: young and thickness give stretch and bend; name either these or those");
  if (cloth->young > 0 && !(cloth->thickness > 0))
    return flo_fail(error, FLO_BAD_INPUT, "cloth: young needs a thickness > 0");
  if (!(cloth->young > 0) && !(cloth->stretch > 0))
    return flo_fail(
        error, FLO_BAD_INPUT,
        "cloth: needs a resistance against stretching; give stretch [N/m], or young and thickness");
  return FLO_OK;
}

// Everything that the definition leaves to follow from other numbers.
static FloStatus complete_cloth(const FloBodyDef *def, const FloBodyMaking *making, FloClothDef *cloth,
                                FloError *error) {
  *cloth = def->cloth;
  FLO_TRY(check_cloth(cloth, error));
  const double t = cloth->thickness;
  if (cloth->areal_density == 0) cloth->areal_density = fmax(making->density, 0) * t;
  if (!(cloth->areal_density > 0))
    return flo_fail(error, FLO_BAD_INPUT,
                    "cloth: needs an areal_density > 0, or a density and a thickness; got %g kg/m² (%g "
                    "kg/m³, %g m)",
                    cloth->areal_density, making->density, t);
  if (cloth->young > 0) {
    cloth->stretch = cloth->young * t;
    cloth->bend = cloth->young * t * t * t / (12 * (1 - cloth->poisson * cloth->poisson));
  }
  if (cloth->shear == 0) cloth->shear = cloth->stretch / (2 * (1 + cloth->poisson));
  if (t == 0) cloth->thickness = making->spacing / 10;
  for (int k = 0; k < 2; ++k)
    if (cloth->prestretch[k] == 0) cloth->prestretch[k] = 1;
  return FLO_OK;
}

// ---- Making ----

// Segments from the triangles that stand for them in the plane.
static void read_segments(const FloMesh *mesh, uint32_t *segments) {
  for (size_t k = 0; k < mesh->n_triangles; ++k)
    memcpy(segments + 2 * k, flo_mesh_triangle(mesh, k), 2 * sizeof *segments);
}

static FloStatus add_elements(FloSoftBody *own, const FloMesh *mesh, const FloClothDef *cloth, int dim,
                              FloMemory *memory, FloError *error) {
  FloBuffer segments = {0};
  if (dim == 3)
    return flo_soft_add_cloth(own->soft, flo_mesh_triangle(mesh, 0), mesh->n_triangles, cloth, error);
  FloStatus status =
      flo_buffer_reserve(memory, &segments, 2 * mesh->n_triangles * sizeof(uint32_t) + 1, 0, error);
  if (status == FLO_OK) {
    read_segments(mesh, segments.data);
    status = flo_soft_add_strand(own->soft, segments.data, mesh->n_triangles, cloth, error);
  }
  flo_buffer_free(memory, &segments);
  return status;
}

// Elements are made of the stretched sheet, and know by how much. So the shape is what rests.
static void stretch(FloSoftBody *own, const FloClothDef *cloth) {
  double *x = flo_soft_positions(own->soft);
  for (size_t k = 0; k < flo_soft_count(own->soft); ++k)
    for (size_t axis = 0; axis < 2; ++axis) x[3 * k + axis] *= cloth->prestretch[axis];
}

static void place_start(FloBody *body) {
  double *x = flo_soft_positions(flo_soft_body(body)->soft), local[3];
  for (size_t k = 0; k < flo_soft_count(flo_soft_body(body)->soft); ++k) {
    vec_copy(x + 3 * k, local);
    pose_to_world(&body->start, local, x + 3 * k);
  }
}

static FloStatus make_soft(FloBody *body, const FloMesh *mesh, const FloClothDef *cloth,
                           const FloBodyMaking *making, FloError *error) {
  FloSoftBody *own = flo_soft_body(body);
  FLO_TRY(flo_soft_create(making->dim, mesh->n_vertices, flo_mesh_vertex(mesh, 0), making->memory, &own->soft,
                          error));
  stretch(own, cloth);
  FLO_TRY(add_elements(own, mesh, cloth, making->dim, making->memory, error));
  FLO_TRY(flo_soft_finish(own->soft, error));
  place_start(body);
  return flo_soft_skin_make(body, mesh, NULL, making, error);
}

static FloStatus cloth_make(FloBody *body, const FloBodyDef *def, const FloBodyMaking *making,
                            FloError *error) {
  FloClothDef cloth;
  FloMesh mesh;
  body->is_thin = true;
  FLO_TRY(complete_cloth(def, making, &cloth, error));
  FLO_TRY(flo_soft_skin_choose(body, def, making, error));
  flo_soft_body(body)->half_thickness = cloth.thickness / 2;
  flo_soft_body(body)->is_stretched = cloth.prestretch[0] != 1 || cloth.prestretch[1] != 1;
  flo_mesh_init(&mesh, making->memory);
  FloStatus status = flo_shape_cloth_mesh(&def->shape, making->dim, CELL * making->spacing, &mesh, error);
  if (status == FLO_OK) status = make_soft(body, &mesh, &cloth, making, error);
  flo_mesh_free(&mesh);
  return status == FLO_OK ? flo_soft_body_make(body, def, making, error) : status;
}

const FloKind flo_cloth_kind = {.name = "cloth",
                                .has_contacts = true,
                                .size = sizeof(FloSoftBody),
                                .fields = fields,
                                .make = cloth_make,
                                .discard = flo_soft_body_discard,
                                FLO_SOFT_FUNCTIONS};
