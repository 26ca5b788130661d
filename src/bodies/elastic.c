// Elastic solids: elements that fill a shape, tetrahedra or in the plane triangles. Bodies of particles have
// a particle at each vertex of such elements, which then only carry surfaces. Samples lie half a spacing
// below the surface, as in rigid bodies, and are carried by the elements that hold them.
#include "base/pose.h"
#include "bodies/soft_body.h"
#include "geometry/embedding.h"
#include "geometry/tetrahedra.h"

#include <string.h>

// Size of elements and distance of particles in spacings, unless the definition says otherwise.
static const double CELL = 2, PARTICLE_CELL = 1;

static const FloStateField fields[] = {FLO_SOFT_FIELDS, {0}};

static FloStatus check_elastic(const FloElasticDef *elastic, double density, FloError *error) {
  if (!(elastic->young > 0) || !isfinite(elastic->young))
    return flo_fail(error, FLO_BAD_INPUT, "elastic: young must be > 0 and finite, got %g Pa", elastic->young);
  if (!(elastic->poisson >= 0 && elastic->poisson <= 0.49))
    return flo_fail(error, FLO_BAD_INPUT, "elastic: poisson must lie between 0 and 0.49, got %g",
                    elastic->poisson);
  if (!(elastic->damping >= 0) || !(elastic->cell >= 0) || !isfinite(elastic->damping + elastic->cell))
    return flo_fail(error, FLO_BAD_INPUT, "elastic: damping and cell must be >= 0, got %g s and %g m",
                    elastic->damping, elastic->cell);
  if (!(elastic->form >= FLO_ELASTIC_ELEMENTS && elastic->form <= FLO_ELASTIC_PLAIN_PARTICLES))
    return flo_fail(error, FLO_BAD_INPUT, "elastic: %d names no form; use one of FloElasticForm",
                    (int)elastic->form);
  if (!(density > 0) || !isfinite(density))
    return flo_fail(error, FLO_BAD_INPUT, "elastic: needs a density > 0, or a material, got %g kg/m³",
                    density);
  return FLO_OK;
}

// ---- The surface that carries the samples ----

// Walks from a point of the surface inwards, as deep as samples lie. Thin parts are not that deep: there it
// stops before the distance to the surface falls again.
static void walk_in(const FloSolid *solid, double depth, double x[3]) {
  double here = -flo_solid_distance(solid, x);
  for (int n = 0; n < 8 && here < 0.999 * depth; ++n) {
    double normal[3], next[3];
    flo_solid_normal(solid, x, normal);
    vec_add_scaled(x, normal, here - depth, next);
    const double there = -flo_solid_distance(solid, next);
    if (!(there > here)) return;
    vec_copy(next, x);
    here = there;
  }
}

// The faces of the elements that look outwards, moved to where samples are. Vertices inside are left out.
static FloStatus make_surface(const FloSolid *solid, const FloElements *elements, double depth,
                              FloMesh *surface, FloError *error) {
  FloMesh border;
  FloBuffer owners = {0};
  flo_mesh_init(&border, elements->memory);
  FloStatus status = flo_elements_border(elements, &border, &owners, error);
  if (status == FLO_OK) status = flo_mesh_append(surface, &border, error);
  if (status == FLO_OK) status = flo_mesh_weld(surface, error);
  for (size_t k = 0; status == FLO_OK && k < surface->n_vertices; ++k)
    walk_in(solid, depth, flo_mesh_vertex(surface, k));
  flo_buffer_free(elements->memory, &owners);
  flo_mesh_free(&border);
  return status;
}

static FloSoftHold hold_of(const FloEmbedding *embedding, size_t k) {
  const uint32_t *corners = flo_embedding_corners(embedding, k);
  const double *weights = flo_embedding_weights(embedding, k);
  FloSoftHold hold = {0};
  for (int c = 0; c < FLO_MAX_HOLDS; ++c)
    if (weights[c] != 0) hold.nodes[hold.count] = corners[c], hold.shares[hold.count++] = weights[c];
  return hold;
}

// The nodes that hold each vertex of a mesh inside the elements.
static FloStatus find_holds(const FloElements *elements, const FloMesh *mesh, FloBuffer *holds,
                            FloError *error) {
  FloEmbedding embedding = {.memory = elements->memory};
  FloStatus status =
      flo_embedding_build(&embedding, elements, flo_mesh_vertex(mesh, 0), mesh->n_vertices, error);
  if (status == FLO_OK)
    status =
        flo_buffer_reserve(elements->memory, holds, mesh->n_vertices * sizeof(FloSoftHold) + 1, 0, error);
  for (size_t k = 0; status == FLO_OK && k < mesh->n_vertices; ++k)
    ((FloSoftHold *)holds->data)[k] = hold_of(&embedding, k);
  flo_embedding_free(&embedding);
  return status;
}

typedef FloStatus (*Take)(FloBody *, const FloMesh *, const FloSoftHold *, const FloBodyMaking *, FloError *);

static FloStatus embed(FloBody *body, const FloElements *elements, const FloMesh *mesh, Take take,
                       const FloBodyMaking *making, FloError *error) {
  FloBuffer holds = {0};
  FloStatus status = find_holds(elements, mesh, &holds, error);
  if (status == FLO_OK) status = take(body, mesh, holds.data, making, error);
  flo_buffer_free(making->memory, &holds);
  return status;
}

// Pictures show the mesh of the definition, or the faces of the elements of a shape that has none.
static FloStatus show(FloBody *body, const FloElements *elements, const FloBodyMaking *making,
                      FloError *error) {
  FloMesh faces;
  flo_mesh_init(&faces, making->memory);
  FloStatus status = body->solid->has_mesh ? FLO_OK : make_surface(body->solid, elements, 0, &faces, error);
  if (status == FLO_OK)
    status = embed(body, elements, body->solid->has_mesh ? &body->solid->mesh : &faces, flo_soft_skin_show,
                   making, error);
  flo_mesh_free(&faces);
  return status;
}

// ---- Making ----

// The faces and nodes that other bodies touch.
static FloStatus mark_surface(FloSoftBody *own, const FloElements *elements, FloError *error) {
  FloMesh *border = &own->faces;
  FloBuffer owners = {0}, *marks = &own->buffers[FLO_SOFT_ON_SURFACE];
  flo_mesh_init(border, elements->memory);
  FloStatus status = flo_elements_border(elements, border, &owners, error);
  if (status == FLO_OK)
    status = flo_buffer_reserve_zeros(elements->memory, marks, elements->n_vertices + 1, error);
  for (size_t k = 0; status == FLO_OK && k < 3 * border->n_triangles; ++k)
    ((bool *)marks->data)[flo_mesh_triangle(border, 0)[k]] = true;
  own->is_on_surface = marks->data;
  flo_buffer_free(elements->memory, &owners);
  return status;
}

// The volume of each particle. In a box it is a cell, at its faces a half, at edges a quarter and so on. Else
// each element gives equal shares to its corners.
static void find_volumes(const FloElements *elements, const FloSolid *solid, double *volumes) {
  double low[3], high[3], sum = 0;
  flo_solid_bounds(solid, low, high);
  for (size_t k = 0; k < elements->n_vertices; ++k) {
    const double *x = flo_elements_vertex(elements, k);
    volumes[k] = elements->is_grid ? 1 : 0;
    for (int axis = 0; elements->is_grid && axis < elements->dim; ++axis)
      if (fmin(x[axis] - low[axis], high[axis] - x[axis]) < 1e-6 * elements->cell) volumes[k] /= 2;
  }
  for (size_t k = 0; !elements->is_grid && k < elements->n_elements; ++k)
    for (int c = 0; c <= elements->dim; ++c)
      volumes[flo_elements_corners(elements, k)[c]] += flo_element_volume(elements, k);
  for (size_t k = 0; k < elements->n_vertices; ++k) sum += volumes[k];
  for (size_t k = 0; k < elements->n_vertices; ++k) volumes[k] *= elements->solid_volume / sum;
}

static FloStatus add_particles(FloBody *body, const FloElements *elements, const FloElasticDef *elastic,
                               const FloBodyMaking *making, FloError *error) {
  FloBuffer volumes = {0};
  FLO_TRY(
      flo_buffer_reserve(making->memory, &volumes, (elements->n_vertices + 1) * sizeof(double), 0, error));
  find_volumes(elements, body->solid, volumes.data);
  FloStatus status = flo_soft_add_particles(flo_soft_body(body)->soft, volumes.data, elements->cell,
                                            making->density, elastic, error);
  flo_buffer_free(making->memory, &volumes);
  return status;
}

static FloStatus make_soft(FloBody *body, const FloElements *elements, const FloElasticDef *elastic,
                           const FloBodyMaking *making, FloError *error) {
  FloSoftBody *own = flo_soft_body(body);
  FLO_TRY(flo_soft_create(making->dim, elements->n_vertices, flo_elements_vertex(elements, 0), making->memory,
                          &own->soft, error));
  // Elements of a round body fill a little less than the body; it still has its whole mass.
  const double density = making->density * elements->solid_volume / flo_elements_volume(elements);
  if (elastic->form != FLO_ELASTIC_ELEMENTS)
    FLO_TRY(add_particles(body, elements, elastic, making, error));
  else
    FLO_TRY(flo_soft_add_solid(own->soft, flo_elements_corners(elements, 0), elements->n_elements, density,
                               elastic, error));
  FLO_TRY(flo_soft_finish(own->soft, error));
  double *x = flo_soft_positions(own->soft);
  for (size_t k = 0; k < elements->n_vertices; ++k)
    pose_to_world(&body->start, flo_elements_vertex(elements, k), x + 3 * k);
  return flo_soft_stiffen(own->soft, elastic, error);
}

static FloStatus make_parts(FloBody *body, const FloBodyDef *def, const FloBodyMaking *making,
                            FloElements *elements, FloMesh *surface, FloError *error) {
  const FloElasticDef *elastic = &def->elastic;
  const double usual = elastic->form == FLO_ELASTIC_ELEMENTS ? CELL : PARTICLE_CELL;
  const double cell = elastic->cell > 0 ? elastic->cell : usual * making->spacing;
  FLO_TRY(flo_solid_fill(body->solid, cell, elastic->cell == 0, elements, error));
  FLO_TRY(make_soft(body, elements, elastic, making, error));
  FLO_TRY(mark_surface(flo_soft_body(body), elements, error));
  FLO_TRY(make_surface(body->solid, elements, making->spacing / 2, surface, error));
  FLO_TRY(embed(body, elements, surface, flo_soft_skin_make, making, error));
  return show(body, elements, making, error);
}

static FloStatus elastic_make(FloBody *body, const FloBodyDef *def, const FloBodyMaking *making,
                              FloError *error) {
  FloElements elements;
  FloMesh surface;
  FLO_TRY(check_elastic(&def->elastic, making->density, error));
  FLO_TRY(flo_soft_skin_choose(body, def, making, error));
  flo_elements_init(&elements, making->dim, making->memory);
  flo_mesh_init(&surface, making->memory);
  FloStatus status = make_parts(body, def, making, &elements, &surface, error);
  flo_mesh_free(&surface);
  flo_elements_free(&elements);
  return status == FLO_OK ? flo_soft_body_make(body, def, making, error) : status;
}

const FloKind flo_elastic_kind = {.name = "elastic",
                                  .has_contacts = true,
                                  .size = sizeof(FloSoftBody),
                                  .fields = fields,
                                  .make = elastic_make,
                                  .discard = flo_soft_body_discard,
                                  FLO_SOFT_FUNCTIONS};
