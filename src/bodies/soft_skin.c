// The skin of a soft body: samples on a surface that its nodes hold.
#include "base/pose.h"
#include "bodies/skin.h"
#include "bodies/soft_body.h"
#include "geometry/bvh.h"

#include <string.h>

// ---- Making ----

static FloStatus copy_holds(FloBuffer *buffer, const FloSoftHold *holds, size_t n, FloMemory *memory,
                            FloSoftHold **copy, FloError *error) {
  if (!holds) return FLO_OK;
  FLO_TRY(flo_buffer_reserve(memory, buffer, n * sizeof *holds + 1, 0, error));
  memcpy(buffer->data, holds, n * sizeof *holds);
  *copy = buffer->data;
  return FLO_OK;
}

// In the plane, a vertex of one segment only is an end.
static void mark_ends(const FloMesh *mesh, bool *is_border) {
  for (size_t k = 0; k < mesh->n_triangles; ++k)
    for (int corner = 0; corner < 2; ++corner) is_border[flo_mesh_triangle(mesh, k)[corner]] ^= true;
}

// Of triangles, the vertices of edges of one triangle only.
static FloStatus mark_edges(const FloMesh *mesh, bool *is_border, FloError *error) {
  FloBuffer buffer = {0};
  FLO_TRY(flo_mesh_sort_sides(mesh, &buffer, error));
  const FloMeshSide *sides = buffer.data;
  const size_t n = 3 * mesh->n_triangles;
  for (size_t k = 0; k < n; k += flo_mesh_count_sides(sides, n, k))
    if (flo_mesh_count_sides(sides, n, k) == 1) is_border[sides[k].low] = is_border[sides[k].high] = true;
  flo_buffer_free(mesh->memory, &buffer);
  return FLO_OK;
}

static FloStatus mark_border(FloSoftBody *own, int dim, FloMemory *memory, FloError *error) {
  FLO_TRY(
      flo_buffer_reserve_zeros(memory, &own->buffers[FLO_SOFT_BORDER], own->surface.n_vertices + 1, error));
  bool *is_border = own->buffers[FLO_SOFT_BORDER].data;
  own->is_border = is_border;
  if (dim == 3) return mark_edges(&own->surface, is_border, error);
  mark_ends(&own->surface, is_border);
  return FLO_OK;
}

// The elements of a sampler in the plane have two corners.
static FloStatus list_segments(const FloMesh *mesh, FloBuffer *segments, FloMemory *memory, FloError *error) {
  FLO_TRY(flo_buffer_reserve(memory, segments, 2 * mesh->n_triangles * sizeof(uint32_t) + 1, 0, error));
  for (size_t k = 0; k < mesh->n_triangles; ++k)
    memcpy((uint32_t *)segments->data + 2 * k, flo_mesh_triangle(mesh, k), 2 * sizeof(uint32_t));
  return FLO_OK;
}

FloStatus flo_soft_skin_choose(FloBody *body, const FloBodyDef *def, const FloBodyMaking *making,
                               FloError *error) {
  // An even sheet of samples: the sum of kernels, cubic splines with a support H of two spacings, times
  // H^dim.
  static const double sheet_densities[] = {2.73, 5.61};
  FloSoftBody *own = flo_soft_body(body);
  if (def->resampling < FLO_RESAMPLE_BY_GEOMETRY || def->resampling > FLO_RESAMPLE_BY_SUBDIVISION)
    return flo_fail(error, FLO_BAD_INPUT, "resampling: %d names no rule; use one of FloResampling",
                    (int)def->resampling);
  own->rule = def->resampling, own->has_dry_samples = def->dry_samples;
  own->density_factor = sheet_densities[making->dim == 3] * making->sheet_volume;
  body->is_weighed_first = own->rule == FLO_RESAMPLE_BY_DENSITY;
  return FLO_OK;
}

static FloStatus make_sampler(FloBody *body, const FloMesh *rest, const FloBodyMaking *making,
                              FloError *error) {
  FloSoftBody *own = flo_soft_body(body);
  FloBuffer segments = {0};
  FloMeshSamplerDef def = {.rest = flo_mesh_vertex(rest, 0),
                           .n_vertices = rest->n_vertices,
                           .elements = flo_mesh_triangle(rest, 0),
                           .n_elements = rest->n_triangles,
                           .n_corners = making->dim,
                           .spacing = body->sampling * making->spacing,
                           .rule = own->rule};
  FloStatus status = making->dim == 2 ? list_segments(rest, &segments, making->memory, error) : FLO_OK;
  if (making->dim == 2) def.elements = segments.data;
  if (status == FLO_OK) status = flo_mesh_sampler_create(&def, making->memory, &own->sampler, error);
  flo_buffer_free(making->memory, &segments);
  return status;
}

// The vertices of the surface that is shown, at rest: the last one that was given.
static FloStatus keep_rest(FloSoftBody *own, const FloMesh *rest, FloMemory *memory, FloError *error) {
  const size_t size = rest->n_vertices * sizeof(double[3]);
  FLO_TRY(flo_buffer_reserve(memory, &own->buffers[FLO_SOFT_REST], size + 1, 0, error));
  memcpy(own->buffers[FLO_SOFT_REST].data, flo_mesh_vertex(rest, 0), size);
  return FLO_OK;
}

FloStatus flo_soft_skin_make(FloBody *body, const FloMesh *surface, const FloSoftHold *holds,
                             const FloBodyMaking *making, FloError *error) {
  FloSoftBody *own = flo_soft_body(body);
  flo_mesh_init(&own->surface, making->memory);
  FLO_TRY(flo_mesh_append(&own->surface, surface, error));
  FLO_TRY(keep_rest(own, surface, making->memory, error));
  FLO_TRY(copy_holds(&own->buffers[FLO_SOFT_HOLDS], holds, surface->n_vertices, making->memory, &own->holds,
                     error));
  FLO_TRY(mark_border(own, making->dim, making->memory, error));
  FLO_TRY(flo_buffer_reserve_zeros(making->memory, &own->buffers[FLO_SOFT_NORMALS],
                                   6 * surface->n_vertices * sizeof(double) + 1, error));
  own->normals = own->buffers[FLO_SOFT_NORMALS].data;
  own->offset = making->spacing / 2, own->n_corners = making->dim;
  FLO_TRY(flo_soft_fan_make(own, making->memory, error));
  return make_sampler(body, surface, making, error);
}

FloStatus flo_soft_skin_show(FloBody *body, const FloMesh *shown, const FloSoftHold *holds,
                             const FloBodyMaking *making, FloError *error) {
  FloSoftBody *own = flo_soft_body(body);
  flo_mesh_init(&own->shown, making->memory);
  FLO_TRY(flo_mesh_append(&own->shown, shown, error));
  FLO_TRY(keep_rest(own, shown, making->memory, error));
  return copy_holds(&own->buffers[FLO_SOFT_SHOWN_HOLDS], holds, shown->n_vertices, making->memory,
                    &own->shown_holds, error);
}

static const FloMesh *shown_mesh(const FloBody *body) {
  const FloSoftBody *own = flo_soft_body(body);
  return own->shown_holds ? &own->shown : &own->surface;
}

const double *flo_soft_skin_vertices(const FloBody *body, size_t *count) {
  *count = shown_mesh(body)->n_vertices;
  return flo_mesh_vertex(shown_mesh(body), 0);
}

const uint32_t *flo_soft_skin_triangles(const FloBody *body, size_t *count) {
  *count = shown_mesh(body)->n_triangles;
  return flo_mesh_triangle(shown_mesh(body), 0);
}

const double *flo_soft_skin_rest(const FloBody *body) {
  return flo_soft_body(body)->buffers[FLO_SOFT_REST].data;
}

// ---- Where it is ----

// The sum of a vector of each node, as a vertex of the surface sees it.
static void hold(const FloSoftHold *holds, const double *of_nodes, double out[3]) {
  vec_set(out, 0, 0, 0);
  for (int k = 0; k < holds->count; ++k)
    vec_add_scaled(out, of_nodes + 3 * holds->nodes[k], holds->shares[k], out);
}

void flo_soft_skin_follow(FloBody *body) {
  FloSoftBody *own = flo_soft_body(body);
  if (!own->holds) memcpy(flo_mesh_vertex(&own->surface, 0), own->x, own->n_numbers * sizeof(double));
  for (size_t k = 0; own->holds && k < own->surface.n_vertices; ++k)
    hold(&own->holds[k], own->x, flo_mesh_vertex(&own->surface, k));
  for (size_t k = 0; own->shown_holds && k < own->shown.n_vertices; ++k)
    hold(&own->shown_holds[k], own->x, flo_mesh_vertex(&own->shown, k));
  if (own->faces.memory) memcpy(flo_mesh_vertex(&own->faces, 0), own->x, own->n_numbers * sizeof(double));
}

const FloMesh *flo_soft_body_faces(const FloBody *body) {
  const FloSoftBody *own = flo_soft_body(body);
  return own->faces.memory ? &own->faces : &own->surface;
}

// ---- Which way it faces ----

void flo_soft_face_normal(const FloMesh *mesh, size_t k, double normal[3]) {
  const uint32_t *corners = flo_mesh_triangle(mesh, k);
  double along[3];
  if (corners[1] != corners[2]) {
    flo_mesh_normal(mesh, k, normal);
    return;
  }
  vec_sub(flo_mesh_corner(mesh, k, 1), flo_mesh_corner(mesh, k, 0), along);
  vec_set(normal, along[1], -along[0], 0);
}

void flo_soft_skin_face(FloBody *body) {
  FloSoftBody *own = flo_soft_body(body);
  const FloMesh *mesh = &own->surface;
  memset(own->normals, 0, 3 * mesh->n_vertices * sizeof(double));
  for (size_t k = 0; k < mesh->n_triangles; ++k) {
    const uint32_t *corners = flo_mesh_triangle(mesh, k);
    double normal[3];
    flo_soft_face_normal(mesh, k, normal);
    for (int c = 0; c < (corners[1] == corners[2] ? 2 : 3); ++c)
      vec_add(own->normals + 3 * corners[c], normal, own->normals + 3 * corners[c]);
  }
  flo_soft_distance_refit(body);
}

void flo_soft_skin_turn(FloBody *body) {
  const FloSoftBody *own = flo_soft_body(body);
  const size_t n_numbers = 3 * own->surface.n_vertices;
  memcpy(own->normals + n_numbers, own->normals, n_numbers * sizeof(double));
  flo_soft_skin_face(body);
}

static void plane_normal(const FloMeshCarriers *held, const double *normals, double normal[3]) {
  vec_set(normal, 0, 0, 0);
  for (int k = 0; k < held->count; ++k)
    vec_add_scaled(normal, normals + 3 * held->vertices[k], held->weights[k], normal);
  const double length = vec_length(normal);
  vec_scale(normal, length > 0 ? 1 / length : 0, normal);
}

// A node that carries a sample through several vertices of the surface counts once.
static void add_carrier(FloCarriers *carriers, uint32_t node, double share) {
  int k = 0;
  while (k < carriers->count && carriers->nodes[k] != node) ++k;
  if (k == carriers->count) carriers->nodes[carriers->count++] = node, carriers->shares[k] = 0;
  carriers->shares[k] += share;
}

FloCarriers flo_soft_skin_carry(const FloBody *body, const FloParticles *samples, size_t i) {
  const FloSoftBody *own = flo_soft_body(body);
  const double binding[3] = {samples->local_x[i], samples->local_y[i], samples->local_z[i]};
  const FloMeshCarriers held = flo_mesh_sampler_carriers(own->sampler, binding);
  FloCarriers carriers = {0};
  for (int k = 0; k < held.count; ++k) {
    if (!own->holds) {
      add_carrier(&carriers, held.vertices[k], held.weights[k]);
      continue;
    }
    const FloSoftHold *holds = &own->holds[held.vertices[k]];
    for (int n = 0; n < holds->count; ++n)
      add_carrier(&carriers, holds->nodes[n], held.weights[k] * holds->shares[n]);
  }
  return carriers;
}

static void carry(const FloCarriers *carriers, const double *of_nodes, double out[3]) {
  vec_set(out, 0, 0, 0);
  for (int k = 0; k < carriers->count; ++k)
    vec_add_scaled(out, of_nodes + 3 * carriers->nodes[k], carriers->shares[k], out);
}

void flo_soft_skin_where(const FloBody *body, const FloParticles *samples, size_t i, double x[3]) {
  const FloCarriers carriers = flo_soft_skin_carry(body, samples, i);
  carry(&carriers, flo_soft_body(body)->x, x);
}

void flo_soft_skin_place(const FloBody *body, FloParticles *samples) {
  const FloSoftBody *own = flo_soft_body(body);
  const bool is_held = own->nodes[0].is_held;
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    const FloCarriers carriers = flo_soft_skin_carry(body, samples, i);
    double x[3], v[3] = {0};
    carry(&carriers, own->x, x);
    if (!is_held) carry(&carriers, own->v, v);
    samples->x[i] = x[0], samples->y[i] = x[1], samples->z[i] = x[2];
    samples->vx[i] = (float)v[0], samples->vy[i] = (float)v[1], samples->vz[i] = (float)v[2];
  }
}

void flo_soft_skin_planes(const FloBody *body, const FloParticles *samples, size_t i, double dt,
                          FloSoftPlane *now, FloSoftPlane *before) {
  const FloSoftBody *own = flo_soft_body(body);
  const double binding[3] = {samples->local_x[i], samples->local_y[i], samples->local_z[i]};
  const FloMeshCarriers held = flo_mesh_sampler_carriers(own->sampler, binding);
  const FloCarriers carriers = flo_soft_skin_carry(body, samples, i);
  carry(&carriers, own->x, now->x);
  carry(&carriers, own->v, now->v);
  plane_normal(&held, own->normals, now->normal);
  *before = *now;
  vec_add_scaled(now->x, now->v, -dt, before->x);
  plane_normal(&held, own->normals + 3 * own->surface.n_vertices, before->normal);
}

void flo_soft_skin_refine(const FloBody *body, const FloParticles *samples, size_t i, const FloPath *path,
                          FloSoftPlane *now, FloSoftPlane *before) {
  const FloSoftBody *own = flo_soft_body(body);
  const double binding[3] = {samples->local_x[i], samples->local_y[i], samples->local_z[i]};
  const FloMeshCarriers held = flo_mesh_sampler_carriers(own->sampler, binding);
  FloSoftPlane end = *now, start = *before;
  const double *nodes = flo_soft_body_marked(body, FLO_MARK_STEP);
  if (!flo_soft_fan_side(body, &held, own->x, path->end, &end)) return;
  if (!flo_soft_fan_side(body, &held, nodes, path->start, &start)) return;
  *now = end, *before = start;
}

// ---- Samples that come and go ----

// Number densities of its samples, from their volumes.
static FloStatus find_densities(FloBody *body, const FloParticles *samples, const float **densities,
                                FloError *error) {
  FloSoftBody *own = flo_soft_body(body);
  FloBuffer *buffer = &own->buffers[FLO_SOFT_DENSITIES];
  if (own->rule != FLO_RESAMPLE_BY_DENSITY) return FLO_OK;
  FLO_TRY(flo_buffer_reserve(own->surface.memory, buffer, (body->count + 1) * sizeof(float), 0, error));
  *densities = buffer->data;
  for (size_t k = 0; k < body->count; ++k)
    ((float *)buffer->data)[k] = (float)(own->density_factor / (double)samples->volume[body->first + k]);
  return FLO_OK;
}

static void box_around(const FloMesh *mesh, size_t k, double low[3], double high[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    const double a = flo_mesh_corner(mesh, k, 0)[axis], b = flo_mesh_corner(mesh, k, 1)[axis],
                 c = flo_mesh_corner(mesh, k, 2)[axis];
    low[axis] = fmin(a, fmin(b, c)), high[axis] = fmax(a, fmax(b, c));
  }
}

// Which elements of the surface may meet fluid.
static FloStatus find_wanted(FloSoftBody *own, const FloWetCells *wet, const uint8_t **is_wanted,
                             FloError *error) {
  const FloMesh *mesh = &own->surface;
  FloBuffer *buffer = &own->buffers[FLO_SOFT_WANTED];
  if (!wet || own->has_dry_samples || own->rule == FLO_RESAMPLE_NEVER) return FLO_OK;
  FLO_TRY(flo_buffer_reserve(mesh->memory, buffer, mesh->n_triangles + 1, 0, error));
  *is_wanted = buffer->data;
  for (size_t k = 0; k < mesh->n_triangles; ++k) {
    double low[3], high[3];
    box_around(mesh, k, low, high);
    ((uint8_t *)buffer->data)[k] = flo_wet_cells_are_near(wet, low, high);
  }
  return FLO_OK;
}

FloStatus flo_soft_skin_resample(FloBody *body, const FloParticles *samples, FloSkinEdit *edit,
                                 FloError *error) {
  FloSoftBody *own = flo_soft_body(body);
  FloMeshSampleEdit changes;
  FloMeshSamples now = {
      .vertices = flo_mesh_vertex(&own->surface, 0), .count = body->count, .threads = own->threads};
  const double *const bindings[3] = {samples->local_x, samples->local_y, samples->local_z};
  for (int k = 0; k < 3 && body->count > 0; ++k) now.bindings[k] = bindings[k] + body->first;
  FLO_TRY(find_densities(body, samples, &now.densities, error));
  FLO_TRY(find_wanted(own, edit->wet, &now.is_wanted, error));
  FLO_TRY(flo_mesh_sampler_resample(own->sampler, &now, &changes, error));
  for (size_t k = 0; k < changes.n_lost; ++k)
    FLO_TRY(flo_skin_lose(edit, body->first + changes.lost[k], error));
  for (size_t k = 0; k < changes.n_gained; ++k) FLO_TRY(flo_skin_gain(edit, changes.gained[k], error));
  return FLO_OK;
}
