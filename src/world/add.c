// Adding materials and fluid to a world.
#include "base/pose.h"
#include "geometry/endless.h"
#include "world/world.h"

FloStatus flo_world_append(FloWorld *world, FloList *list, const void *element, size_t size,
                           FloError *error) {
  if (list->count >= UINT16_MAX)
    return flo_fail(error, FLO_BAD_INPUT, "more than %d objects of one kind", UINT16_MAX);
  return flo_list_append(&world->memory, list, element, size, error);
}

FloStatus flo_world_check_material(const FloWorld *world, FloMaterialId id, FloError *error) {
  if (id.generation == 1 && id.index < world->materials.count && !flo_materials(world)[id.index].is_removed)
    return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "material: no such id; add the material to this world first");
}

FloStatus flo_world_add_material(FloWorld *world, const FloMaterialDef *def, FloMaterialId *id,
                                 FloError *error) {
  FLO_NEED(world, error);
  FLO_NEED(def, error);
  FloMaterial material;
  FLO_TRY(flo_material_make(def, &material, error));
  FLO_TRY(flo_contact_angle_check(def->contact_angle, error));
  FLO_TRY(flo_world_append(world, &world->materials, &material, sizeof material, error));
  if (id) *id = (FloMaterialId){(uint16_t)(world->materials.count - 1), 1};
  return FLO_OK;
}

FloStatus flo_world_set_interface(FloWorld *world, FloMaterialId one, FloMaterialId other, double tension,
                                  FloError *error) {
  const FloInterface added = {one.index, other.index, tension};
  FLO_NEED(world, error);
  FLO_TRY(flo_world_check_material(world, one, error));
  FLO_TRY(flo_world_check_material(world, other, error));
  if (world->def.dim == 3 && tension > 0)
    return flo_fail(error, FLO_BAD_INPUT,
                    "surface_tension: between two fluids it works in 2D only; leave the interface out");
  if (one.index == other.index)
    return flo_fail(error, FLO_BAD_INPUT, "materials: an interface needs two different fluids");
  if (!(tension >= 0) || !isfinite(tension))
    return flo_fail(error, FLO_BAD_INPUT, "surface_tension: must be >= 0, got %g", tension);
  FloInterface *all = FLO_LIST(world->interfaces, FloInterface);
  for (size_t k = 0; k < world->interfaces.count; ++k)
    if ((all[k].one == one.index && all[k].other == other.index) ||
        (all[k].one == other.index && all[k].other == one.index))
      return all[k].tension = tension, FLO_OK;
  return flo_world_append(world, &world->interfaces, &added, sizeof added, error);
}

// ---- Solids ----

static FloStatus make_solid(FloWorld *world, const FloShape *shape, FloSolid **made, FloError *error) {
  FloSolid *solid = flo_memory_allocate(&world->memory, sizeof *solid);
  if (!solid) return flo_fail(error, FLO_NO_MEMORY, "out of memory for a shape");
  *made = solid;
  FloStatus status = flo_solid_init(solid, shape, world->def.dim, world->def.spacing,
                                    flo_world_wall_thickness(world), world->threads, &world->memory, error);
  if (status == FLO_OK) {
    status = flo_world_append(world, &world->solids, &solid, sizeof solid, error);
    if (status != FLO_OK) flo_solid_free(solid);
  }
  if (status != FLO_OK) flo_memory_release(&world->memory, solid, sizeof *solid);
  return status;
}

FloStatus flo_world_find_solid(FloWorld *world, const FloShape *shape, const FloSolid **solid,
                               FloError *error) {
  uint64_t key = flo_solid_key(shape);
  for (size_t k = 0; k < world->solids.count; ++k) {
    *solid = flo_solids(world)[k];
    if (flo_solid_is_of(*solid, shape, key)) return FLO_OK;
  }
  FloSolid *made = NULL;
  FLO_TRY(make_solid(world, shape, &made, error));
  *solid = made;
  return FLO_OK;
}

void flo_world_free_solids(FloWorld *world) {
  for (size_t k = 0; k < world->solids.count; ++k) {
    flo_solid_free(flo_solids(world)[k]);
    flo_memory_release(&world->memory, flo_solids(world)[k], sizeof(FloSolid));
  }
}

// ---- Fluid ----

// Fills in one fluid particle at the end of the set, which must have space for it.
void flo_world_put_particle(FloWorld *world, size_t i, uint16_t material, const double x[3],
                            const double v[3]) {
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  fluid->x[i] = x[0], fluid->y[i] = x[1], fluid->z[i] = x[2];
  fluid->vx[i] = (float)v[0], fluid->vy[i] = (float)v[1], fluid->vz[i] = (float)v[2];
  fluid->mass[i] = (float)(flo_materials(world)[material].density * flo_world_rest_volume(world));
  fluid->density[i] = (float)flo_materials(world)[material].density;
  fluid->material[i] = material;
  flo_materials(world)[material].is_fluid = true;
  fluid->id[i] = world->next_id[FLO_SET_FLUID]++;
}

static void fluid_velocity(const FloFluidDef *def, const double x[3], double v[3]) {
  double arm[3], more[3] = {0};
  vec_sub(x, def->pose.position, arm);
  vec_cross(def->angular_velocity, arm, v);
  vec_add(v, def->velocity, v);
  if (def->velocity_at) def->velocity_at(def->context, x, more);
  vec_add(v, more, v);
}

// Tests the velocity as a float: a number too large for a float is not finite, either.
static bool is_velocity(const FloWorld *world, const double v[3]) {
  bool is_finite = isfinite((float)v[0]) && isfinite((float)v[1]) && isfinite((float)v[2]);
  return is_finite && (world->def.dim == 3 || v[2] == 0);
}

static FloStatus fill_with_fluid(FloWorld *world, const FloFluidDef *def, const FloPoints *points,
                                 const FloGrid *earlier, size_t *n_added, FloError *error) {
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  size_t first = fluid->count, i = first;
  uint32_t next_id = world->next_id[FLO_SET_FLUID];
  FloSolidsNear near = {0};
  FLO_TRY(flo_particles_add(fluid, points->count, error));
  for (size_t k = 0; k < points->count; ++k) {
    double x[3], v[3];
    pose_to_world(&def->pose, flo_points_at(points, k), x);
    if (flo_world_is_in_solid(world, x, FLO_FLUID_CLEARANCE * world->def.spacing, &near)) continue;
    if (flo_grid_is_near(earlier, x, FLO_FLUID_APART * world->def.spacing)) continue;
    fluid_velocity(def, x, v);
    if (!is_velocity(world, v)) {
      fluid->count = first, world->next_id[FLO_SET_FLUID] = next_id;
      return flo_fail(error, FLO_BAD_INPUT,
                      "velocity: (%g, %g, %g) at (%g, %g, %g) is not finite, or leaves the plane", v[0], v[1],
                      v[2], x[0], x[1], x[2]);
    }
    flo_world_put_particle(world, i++, def->material.index, x, v);
  }
  fluid->count = i;
  *n_added = i - first;
  if (*n_added < points->count)
    flo_world_log(world, FLO_LOG_INFO,
                  "%zu of %zu fluid particles were left out, since solids or other fluid are there",
                  points->count - *n_added, points->count);
  flo_world_note_added(world);
  return FLO_OK;
}

// The axis along which gravity is strongest.
static int find_up(const FloWorld *world) {
  int up = 0;
  for (int axis = 1; axis < world->def.dim; ++axis)
    if (fabs(world->def.gravity[axis]) >= fabs(world->def.gravity[up])) up = axis;
  return up;
}

static FloStatus sample_fluid(const FloWorld *world, const FloFluidDef *def, const FloSolid *solid,
                              FloPoints *points, FloError *error) {
  bool wraps[3] = {false}, has_ends = true;
  for (int axis = 0; axis < world->def.dim && def->shape.radius == 0; ++axis) {
    wraps[axis] = flo_shape_is_endless(&world->domain, &def->shape, &def->pose, axis);
    has_ends = has_ends && !wraps[axis];
  }
  if (!has_ends)
    return flo_shape_sample_endless(&def->shape, &world->domain, wraps, find_up(world), world->def.spacing,
                                    def->packing, points, error);
  return flo_solid_sample_volume(solid, world->def.spacing, def->packing, points, error);
}

FloStatus flo_world_add_fluid(FloWorld *world, const FloFluidDef *def, size_t *n_added, FloError *error) {
  FLO_NEED(world, error);
  FLO_NEED(def, error);
  size_t ignored;
  FLO_TRY(flo_world_check_material(world, def->material, error));
  FLO_TRY(flo_packing_check(def->packing, error));
  FLO_TRY(flo_shape_check(&def->shape, world->def.dim, error));
  FLO_TRY(flo_shape_check_solid(&def->shape, error));
  FLO_TRY(flo_pose_check(&def->pose, world->def.dim, "pose", error));
  const FloSolid *solid;
  FLO_TRY(flo_world_find_solid(world, &def->shape, &solid, error));
  FloPoints points = {.memory = &world->memory};
  FloGrid earlier;
  flo_grid_init(&earlier, &world->lattice, &world->memory);
  FloStatus status = flo_grid_build(&earlier, &world->sets[FLO_SET_FLUID], NULL, world->threads, error);
  if (status == FLO_OK) status = sample_fluid(world, def, solid, &points, error);
  if (status == FLO_OK)
    status = fill_with_fluid(world, def, &points, &earlier, n_added ? n_added : &ignored, error);
  flo_grid_free(&earlier);
  flo_points_free(&points);
  return status;
}

static FloStatus check_particles(const FloWorld *world, size_t n, const double *positions,
                                 const float *velocities, FloError *error) {
  for (size_t k = 0; k < n; ++k) {
    const double *x = positions + 3 * k;
    if (!vec_is_finite(x) || (world->def.dim == 2 && x[2] != 0))
      return flo_fail(error, FLO_BAD_INPUT, "positions: number %zu is (%g, %g, %g)", k, x[0], x[1], x[2]);
    if (!velocities) continue;
    const float *v = velocities + 3 * k;
    if (!is_velocity(world, (const double[3]){(double)v[0], (double)v[1], (double)v[2]}))
      return flo_fail(error, FLO_BAD_INPUT, "velocities: number %zu is (%g, %g, %g)", k, (double)v[0],
                      (double)v[1], (double)v[2]);
  }
  return FLO_OK;
}

FloStatus flo_world_add_particles(FloWorld *world, FloMaterialId material, size_t n, const double *positions,
                                  const float *velocities, FloError *error) {
  FLO_NEED(world, error);
  if (n > 0) FLO_NEED(positions, error);
  FLO_TRY(flo_world_check_material(world, material, error));
  FLO_TRY(check_particles(world, n, positions, velocities, error));
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  size_t first = fluid->count;
  FLO_TRY(flo_particles_add(fluid, n, error));
  for (size_t k = 0; k < n; ++k) {
    double v[3] = {0};
    for (int axis = 0; velocities && axis < 3; ++axis) v[axis] = (double)velocities[3 * k + (size_t)axis];
    flo_world_put_particle(world, first + k, material.index, positions + 3 * k, v);
  }
  flo_world_note_added(world);
  return FLO_OK;
}
