// Adding materials, bodies and fluid to a world.
#include "base/pose.h"
#include "bodies/motion.h"
#include "world.h"

#include <stdio.h>
#include <string.h>

double flo_world_rest_volume(const FloWorld *world) {
  double s = world->def.spacing;
  return world->def.dim == 2 ? s * s : s * s * s;
}

FloStatus flo_world_append(FloWorld *world, FloList *list, const void *element, size_t size,
                           FloError *error) {
  if (list->count >= UINT16_MAX)
    return flo_fail(error, FLO_BAD_INPUT, "more than %d objects of one kind", UINT16_MAX);
  FLO_TRY(
      flo_buffer_reserve(&world->memory, &list->buffer, (list->count + 1) * size, list->count * size, error));
  memcpy((char *)list->buffer.data + list->count++ * size, element, size);
  return FLO_OK;
}

FloStatus flo_world_check_material(const FloWorld *world, FloMaterialId id, FloError *error) {
  if (id.generation == 1 && id.index < world->materials.count) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "material: no such id; add the material to this world first");
}

static void copy_name(char out[64], const char *name) { snprintf(out, 64, "%s", name ? name : ""); }

FloStatus flo_world_add_material(FloWorld *world, const FloMaterialDef *def, FloMaterialId *id,
                                 FloError *error) {
  if (!(def->density > 0) || !isfinite(def->density))
    return flo_fail(error, FLO_BAD_INPUT, "density: must be > 0, got %g", def->density);
  if (!(def->viscosity >= 0) || !isfinite(def->viscosity))
    return flo_fail(error, FLO_BAD_INPUT, "viscosity: must be >= 0, got %g", def->viscosity);
  if (!isfinite(def->wall_viscosity))
    return flo_fail(error, FLO_BAD_INPUT, "wall_viscosity: must be finite, got %g", def->wall_viscosity);
  FloMaterial material = {.density = def->density, .viscosity = def->viscosity};
  material.wall_viscosity = def->wall_viscosity < 0 ? def->viscosity : def->wall_viscosity;
  copy_name(material.name, def->name);
  FLO_TRY(flo_world_append(world, &world->materials, &material, sizeof material, error));
  if (id) *id = (FloMaterialId){(uint16_t)(world->materials.count - 1), 1};
  return FLO_OK;
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

// ---- Bodies ----

// Akinci 2012: V_b = gamma / sum of W over the samples of the same body, itself included.
static FloStatus compute_volumes(FloWorld *world, const FloBody *body, FloError *error) {
  FloParticles *boundary = &world->sets[FLO_SET_BOUNDARY];
  FloParticles own = {.set = FLO_SET_BOUNDARY, .count = body->count};
  own.x = boundary->x + body->first, own.y = boundary->y + body->first, own.z = boundary->z + body->first;
  own.id = boundary->id + body->first;
  FloGrid grid;
  FloPairs pairs;
  flo_grid_init(&grid, &world->lattice, &world->memory);
  flo_pairs_init(&pairs, &world->memory);
  FloPairsSpec spec = {
      .rows = &grid, .columns = &grid, .kernel = world->kernel, .reach = 1, .threads = world->threads};
  FloStatus status = flo_grid_build(&grid, &own, NULL, world->threads, error);
  if (status == FLO_OK) status = flo_pairs_build(&pairs, &spec, error);
  double self = flo_kernel_w(&world->kernel, 0);
  for (size_t k = 0; status == FLO_OK && k < body->count; ++k)
    boundary->volume[body->first + k] = (float)(world->boundary_gamma / (self + (double)pairs.kernel_sum[k]));
  flo_pairs_free(&pairs);
  flo_grid_free(&grid);
  return status;
}

// What a fluid lattice around the body would add to the kernel sum of a sample; the rest is covered for good.
static double uncovered_share(const FloWorld *world, const FloBody *body, const double at[3]) {
  const double s = world->def.spacing;
  int reach = (int)ceil(world->def.support), reach_z = world->def.dim == 3 ? reach : 0;
  double sum = 0;
  for (int k = -reach_z; k <= reach_z; ++k)
    for (int j = -reach; j <= reach; ++j)
      for (int i = -reach; i <= reach; ++i) {
        double offset[3] = {i * s, j * s, k * s}, point[3];
        vec_add(at, offset, point);
        pose_to_world(&body->state.pose, point, point);
        if (flo_world_distance(world, body, point) < FLO_FLUID_CLEARANCE * s) continue;
        sum += flo_kernel_w(&world->kernel, vec_length(offset));
      }
  return sum * flo_world_rest_volume(world);
}

static void describe_samples(FloWorld *world, const FloBody *body) {
  FloParticles *b = &world->sets[FLO_SET_BOUNDARY];
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    double local[3] = {b->local_x[i], b->local_y[i], b->local_z[i]};
    b->covered[i] = (float)(1 - uncovered_share(world, body, local));
  }
}

void flo_world_place_samples(FloWorld *world, const FloBody *body) {
  FloParticles *b = &world->sets[FLO_SET_BOUNDARY];
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    double local[3] = {b->local_x[i], b->local_y[i], b->local_z[i]}, arm[3], velocity[3], position[3];
    quat_rotate(body->state.pose.rotation, local, arm);
    vec_add(body->state.pose.position, arm, position);
    vec_cross(body->state.angular_velocity, arm, velocity);
    vec_add(velocity, body->state.velocity, velocity);
    b->x[i] = position[0], b->y[i] = position[1], b->z[i] = position[2];
    b->vx[i] = (float)velocity[0], b->vy[i] = (float)velocity[1], b->vz[i] = (float)velocity[2];
  }
}

// Order of the points along the cells of a grid in the body's own frame: neighbours in the body stay
// neighbours in memory, whatever its pose. `order` belongs to the grid.
static FloStatus order_points(FloWorld *world, const FloPoints *points, FloGrid *grid, FloError *error) {
  FloParticles local;
  flo_particles_init(&local, FLO_SET_BOUNDARY, NULL, &world->memory);
  FloStatus status = flo_particles_add(&local, points->count, error);
  for (size_t k = 0; status == FLO_OK && k < points->count; ++k) {
    const double *p = flo_points_at(points, k);
    local.x[k] = p[0], local.y[k] = p[1], local.z[k] = p[2];
  }
  if (status == FLO_OK) status = flo_grid_build(grid, &local, NULL, world->threads, error);
  flo_particles_free(&local);
  return status;
}

static FloStatus add_samples(FloWorld *world, FloBody *body, const FloPoints *points, const FloGrid *grid,
                             FloError *error) {
  FloParticles *boundary = &world->sets[FLO_SET_BOUNDARY];
  body->first = boundary->count, body->count = points->count;
  FLO_TRY(flo_particles_add(boundary, points->count, error));
  for (size_t k = 0; k < points->count; ++k) {
    size_t i = body->first + k;
    const double *p = flo_points_at(points, grid->order[k]);
    boundary->local_x[i] = p[0], boundary->local_y[i] = p[1], boundary->local_z[i] = p[2];
    boundary->id[i] = world->next_id[FLO_SET_BOUNDARY]++;
    boundary->body[i] = (uint32_t)world->bodies.count;
  }
  return FLO_OK;
}

static FloStatus sample_body(FloWorld *world, const FloBodyDef *def, FloBody *body, FloError *error) {
  double spacing = world->def.spacing;
  FloSampleOptions options = {.spacing = spacing,
                              .inset = def->inset > 0 ? def->inset : spacing / 2,
                              .layers = world->layers,
                              .relax = def->relax,
                              .threads = world->threads};
  FloPoints points = {.memory = &world->memory};
  FloGrid grid;
  flo_grid_init(&grid, &world->lattice, &world->memory);
  FloStatus status = flo_solid_sample_surface(body->solid, &options, &points, error);
  if (status == FLO_OK) status = order_points(world, &points, &grid, error);
  if (status == FLO_OK) status = add_samples(world, body, &points, &grid, error);
  flo_grid_free(&grid);
  flo_points_free(&points);
  return status;
}

static FloStatus copy_motions(FloWorld *world, const FloBodyDef *def, FloBody *body, FloError *error) {
  if (def->n_motions == 0) return FLO_OK;
  if (def->kind != FLO_BODY_KINEMATIC)
    return flo_fail(error, FLO_BAD_INPUT, "motions: only a kinematic body can have them");
  for (size_t k = 0; k < def->n_motions; ++k)
    FLO_TRY(flo_motion_check(&def->motions[k], world->def.dim, error));
  size_t size = def->n_motions * sizeof(FloMotionDef);
  if (!(body->motions = flo_memory_allocate(&world->memory, size)))
    return flo_fail(error, FLO_NO_MEMORY, "out of memory");
  memcpy(body->motions, def->motions, size);
  body->n_motions = def->n_motions;
  for (size_t k = 0; k < body->n_motions; ++k) body->motions[k].keyframes = NULL;
  for (size_t k = 0; k < body->n_motions; ++k) {
    FloMotionDef *motion = &body->motions[k];
    size_t n_bytes = motion->n_keyframes * sizeof(FloKeyframe);
    const FloKeyframe *frames = def->motions[k].keyframes;
    if (n_bytes == 0) continue;
    FloKeyframe *copy = flo_memory_allocate(&world->memory, n_bytes);
    if (!copy) return flo_fail(error, FLO_NO_MEMORY, "out of memory");
    memcpy(copy, frames, n_bytes);
    motion->keyframes = copy;
  }
  return FLO_OK;
}

static void free_motions(FloWorld *world, FloBody *body) {
  for (size_t k = 0; k < body->n_motions; ++k)
    flo_memory_release(&world->memory, (void *)body->motions[k].keyframes,
                       body->motions[k].n_keyframes * sizeof(FloKeyframe));
  flo_memory_release(&world->memory, body->motions, body->n_motions * sizeof(FloMotionDef));
}

void flo_world_follow_motions(const FloWorld *world, FloBody *body) {
  flo_motion_evaluate(body->motions, body->n_motions, &body->start, fmax(world->time, 0), &body->state);
  if (world->time >= 0) return;
  for (int axis = 0; axis < 3; ++axis) body->state.velocity[axis] = body->state.angular_velocity[axis] = 0;
}

static FloStatus make_body(FloWorld *world, const FloBodyDef *def, FloBody *body, FloError *error) {
  FLO_TRY(copy_motions(world, def, body, error));
  FLO_TRY(sample_body(world, def, body, error));
  flo_world_follow_motions(world, body);
  describe_samples(world, body);
  flo_world_place_samples(world, body);
  FLO_TRY(compute_volumes(world, body, error));
  return flo_world_append(world, &world->bodies, body, sizeof *body, error);
}

// The walls of a tank stand outside of its bounds; the box around an outline has its corners anywhere.
static double solid_reach(const FloSolid *solid) {
  double low[3], high[3], farthest[3];
  flo_solid_bounds(solid, low, high);
  for (int axis = 0; axis < 3; ++axis) {
    farthest[axis] = fmax(fabs(low[axis]), fabs(high[axis]));
    if (solid->shape.kind == FLO_SHAPE_TANK) farthest[axis] += solid->wall;
  }
  return vec_length(farthest) * (1 + 1e-9);
}

static FloStatus check_body(const FloWorld *world, const FloBodyDef *def, FloError *error) {
  if (def->kind != FLO_BODY_STATIC && def->kind != FLO_BODY_KINEMATIC)
    return flo_fail(error, FLO_BAD_INPUT, "body: unknown kind %d", (int)def->kind);
  if (!(def->inset >= 0 && def->inset <= world->def.spacing))
    return flo_fail(
        error, FLO_BAD_INPUT,
        "inset: must lie between 0 and one spacing (%g m), got %g m; deeper samples would let fluid "
        "in",
        world->def.spacing, def->inset);
  FLO_TRY(flo_shape_check(&def->shape, world->def.dim, error));
  return flo_pose_check(&def->pose, world->def.dim, "pose", error);
}

FloStatus flo_world_add_body(FloWorld *world, const FloBodyDef *def, FloBodyId *id, FloError *error) {
  FLO_TRY(check_body(world, def, error));
  FloBody body = {.kind = def->kind, .start = def->pose};
  FLO_TRY(flo_world_find_solid(world, &def->shape, &body.solid, error));
  copy_name(body.name, def->name);
  body.reach = solid_reach(body.solid);
  size_t n_samples = world->sets[FLO_SET_BOUNDARY].count;
  uint32_t next_id = world->next_id[FLO_SET_BOUNDARY];
  FloStatus status = make_body(world, def, &body, error);
  if (status != FLO_OK) {
    // A body that cannot be made leaves no trace.
    free_motions(world, &body);
    world->sets[FLO_SET_BOUNDARY].count = n_samples;
    world->next_id[FLO_SET_BOUNDARY] = next_id;
    return status;
  }
  world->is_boundary_grid_current = false;
  world->is_prepared = world->has_step_state = world->lists.is_current = false;
  if (id) *id = (FloBodyId){(uint16_t)(world->bodies.count - 1), 1};
  return FLO_OK;
}

void flo_world_free_bodies(FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k) free_motions(world, &flo_bodies(world)[k]);
}

void flo_world_move_bodies(FloWorld *world) {
  double since = flo_seconds();
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (body->n_motions == 0) continue;
    flo_world_follow_motions(world, body);
    flo_world_place_samples(world, body);
    world->is_boundary_grid_current = false;
  }
  flo_world_stage_done(world, FLO_STAGE_BODIES, since);
}

// How far the farthest sample is from its body's position; those of a tank stand a few spacings outside its
// inner space.
static double reach_of(const FloWorld *world, const FloBody *body) {
  double low[3], high[3];
  flo_solid_bounds(body->solid, low, high);
  return fmax(vec_length(low), vec_length(high)) + 2 * world->layers * world->def.spacing;
}

bool flo_world_has_moving_bodies(const FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (flo_bodies(world)[k].n_motions) return true;
  return false;
}

double flo_world_max_wall_speed(const FloWorld *world) {
  double fastest = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (body->n_motions == 0) continue;
    double turning = vec_length(body->state.angular_velocity) * reach_of(world, body);
    fastest = fmax(fastest, vec_length(body->state.velocity) + turning);
  }
  return fastest;
}

double flo_world_scheduled_wall_speed(const FloWorld *world) {
  double fastest = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    fastest = fmax(fastest,
                   flo_motion_max_speed(body->motions, body->n_motions, &body->start, reach_of(world, body)));
  }
  return fastest;
}

// ---- Fluid ----

// One fluid particle at the end of the set; room must have been made.
void flo_world_put_particle(FloWorld *world, size_t i, uint16_t material, const double x[3],
                            const double v[3]) {
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  fluid->x[i] = x[0], fluid->y[i] = x[1], fluid->z[i] = x[2];
  fluid->vx[i] = (float)v[0], fluid->vy[i] = (float)v[1], fluid->vz[i] = (float)v[2];
  fluid->mass[i] = (float)(flo_materials(world)[material].density * flo_world_rest_volume(world));
  fluid->density[i] = (float)flo_materials(world)[material].density;
  fluid->material[i] = material;
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

// As the particle will hold it: what is too large for a float is not finite either.
static bool is_velocity(const FloWorld *world, const double v[3]) {
  bool is_finite = isfinite((float)v[0]) && isfinite((float)v[1]) && isfinite((float)v[2]);
  return is_finite && (world->def.dim == 3 || v[2] == 0);
}

static FloStatus fill_with_fluid(FloWorld *world, const FloFluidDef *def, const FloPoints *points,
                                 const FloGrid *earlier, size_t *n_added, FloError *error) {
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  size_t first = fluid->count, i = first;
  uint32_t next_id = world->next_id[FLO_SET_FLUID];
  FLO_TRY(flo_particles_add(fluid, points->count, error));
  for (size_t k = 0; k < points->count; ++k) {
    double x[3], v[3];
    pose_to_world(&def->pose, flo_points_at(points, k), x);
    if (flo_world_is_in_solid(world, x, FLO_FLUID_CLEARANCE * world->def.spacing)) continue;
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
                  "%zu of %zu fluid particles were left out where solids or other fluids stand",
                  points->count - *n_added, points->count);
  world->is_prepared = world->has_step_state = world->lists.is_current = false;
  return FLO_OK;
}

// The axis along which gravity is strongest.
static int find_up(const FloWorld *world) {
  int up = 0;
  for (int axis = 1; axis < world->def.dim; ++axis)
    if (fabs(world->def.gravity[axis]) >= fabs(world->def.gravity[up])) up = axis;
  return up;
}

// A box without ends is filled by a lattice that meets itself across the periodic faces: a box of as many
// whole spacings is sampled, and its points stretched.
static FloStatus sample_endless(const FloWorld *world, const FloFluidDef *def, const bool wraps[3],
                                FloPoints *points, FloError *error) {
  double step[3], s = world->def.spacing;
  if (def->packing == FLO_FLUID_HEXAGONAL)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "packing: rows of hexagonal packing do not meet across the faces of a periodic box; use cubic");
  FLO_TRY(flo_world_fit_lattice(world, wraps, find_up(world), step, error));
  FloShape box = def->shape;
  double shift[3] = {0};
  for (int axis = 0; axis < world->def.dim; ++axis) {
    if (wraps[axis]) box.size[axis] = world->def.domain_high[axis] - world->def.domain_low[axis];
    if (step[axis] == s) continue;
    // The nearest number of layers, from the low face on.
    box.size[axis] = s * fmax(round(box.size[axis] / step[axis]), 1);
    if (!wraps[axis]) shift[axis] = (box.size[axis] / s * step[axis] - def->shape.size[axis]) / 2;
  }
  FLO_TRY(flo_shape_sample_volume(&box, world->def.dim, s, def->packing, points, error));
  for (size_t k = 0; k < points->count; ++k)
    for (int axis = 0; axis < world->def.dim; ++axis) {
      double *x = &flo_points_at(points, k)[axis];
      *x = *x * (step[axis] / s) + shift[axis];
    }
  return FLO_OK;
}

static FloStatus sample_fluid(const FloWorld *world, const FloFluidDef *def, const FloSolid *solid,
                              FloPoints *points, FloError *error) {
  bool wraps[3] = {false}, has_ends = true;
  for (int axis = 0; axis < world->def.dim && def->shape.radius == 0; ++axis) {
    wraps[axis] = flo_world_is_endless(world, &def->shape, &def->pose, axis);
    has_ends = has_ends && !wraps[axis];
  }
  if (!has_ends) return sample_endless(world, def, wraps, points, error);
  return flo_solid_sample_volume(solid, world->def.spacing, def->packing, points, error);
}

FloStatus flo_world_add_fluid(FloWorld *world, const FloFluidDef *def, size_t *n_added, FloError *error) {
  size_t ignored;
  FLO_TRY(flo_world_check_material(world, def->material, error));
  FLO_TRY(flo_packing_check(def->packing, error));
  FLO_TRY(flo_shape_check(&def->shape, world->def.dim, error));
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

FloStatus flo_world_add_particles(FloWorld *world, FloMaterialId material, size_t n, const double *positions,
                                  const float *velocities, FloError *error) {
  FLO_TRY(flo_world_check_material(world, material, error));
  for (size_t k = 0; k < n; ++k) {
    const double *x = positions + 3 * k;
    if (!vec_is_finite(x) || (world->def.dim == 2 && x[2] != 0))
      return flo_fail(error, FLO_BAD_INPUT, "positions: number %zu is (%g, %g, %g)", k, x[0], x[1], x[2]);
  }
  FloParticles *fluid = &world->sets[FLO_SET_FLUID];
  size_t first = fluid->count;
  FLO_TRY(flo_particles_add(fluid, n, error));
  for (size_t k = 0; k < n; ++k) {
    double v[3] = {0};
    for (int axis = 0; velocities && axis < 3; ++axis) v[axis] = (double)velocities[3 * k + (size_t)axis];
    flo_world_put_particle(world, first + k, material.index, positions + 3 * k, v);
  }
  world->is_prepared = world->has_step_state = world->lists.is_current = false;
  return FLO_OK;
}
