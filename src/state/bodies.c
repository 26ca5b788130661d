// Bodies: adding them, moving them, and what their samples stand for.
#include "base/pose.h"
#include "bodies/motion.h"
#include "state/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Samples ----

static double sample_spacing(const FloWorld *world, const FloBodyDef *def) {
  return def->sampling > 0 ? def->sampling * world->def.spacing : world->def.spacing;
}

// W integrated over a plane at this height: what a sheet of samples shows per density, on average over all
// places above it.
static double plane_integral(const FloKernelForm *kernel, double height) {
  enum { N_RINGS = 256 };
  double width = kernel->support / N_RINGS, sum = 0;
  for (int k = 0; k < N_RINGS; ++k) {
    double r = (k + 0.5) * width;
    sum += flo_kernel_w(kernel, hypot(r, height)) * (kernel->dim == 3 ? 2 * FLO_PI * r : 2);
  }
  return sum * width;
}

// Sum of W that a sample in layer l of a plane wall sees of its own body.
static double own_sum(const FloWorld *world, double spacing, int layer) {
  double sum = 0;
  for (int k = 0; k < world->layers; ++k)
    sum += flo_kernel_sheet_sum(&world->kernel, spacing, abs(layer - k));
  return sum;
}

// As flo_kernel_boundary_gamma for samples that are finer or coarser than fluid. Fluid then stands anywhere
// above them, not on their lattice, and is to see on average what a lattice of fluid would show.
static double gamma_of_spacing(const FloWorld *world, double spacing) {
  double s = world->def.spacing, wanted = 0, seen = 0;
  if (spacing == s) return world->boundary_gamma;
  for (int k = 1; k * s < world->kernel.support; ++k) wanted += flo_kernel_sheet_sum(&world->kernel, s, k);
  for (int layer = 0; layer < world->layers; ++layer)
    seen += plane_integral(&world->kernel, s + layer * spacing) / own_sum(world, spacing, layer);
  return flo_world_rest_volume(world) * wanted / seen * pow(spacing, world->def.dim - 1);
}

// Akinci 2012: V_b = gamma / sum of W over the samples of the same body, itself included.
static FloStatus compute_volumes(FloWorld *world, const FloBody *body, double spacing, FloError *error) {
  FloParticles *boundary = &world->sets[body->set];
  FloParticles own = {.set = body->set, .count = body->count};
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
  double self = flo_kernel_w(&world->kernel, 0), gamma = gamma_of_spacing(world, spacing);
  for (size_t k = 0; status == FLO_OK && k < body->count; ++k)
    boundary->volume[body->first + k] = (float)(gamma / (self + (double)pairs.kernel_sum[k]));
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
  FloParticles *b = &world->sets[body->set];
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    double local[3] = {b->local_x[i], b->local_y[i], b->local_z[i]};
    b->covered[i] = (float)(1 - uncovered_share(world, body, local));
  }
}

void flo_world_place_samples(FloWorld *world, const FloBody *body) {
  FloParticles *b = &world->sets[body->set];
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
  FloParticles *boundary = &world->sets[body->set];
  body->first = boundary->count, body->count = points->count;
  FLO_TRY(flo_particles_add(boundary, points->count, error));
  for (size_t k = 0; k < points->count; ++k) {
    size_t i = body->first + k;
    const double *p = flo_points_at(points, grid->order[k]);
    boundary->local_x[i] = p[0], boundary->local_y[i] = p[1], boundary->local_z[i] = p[2];
    boundary->id[i] = world->next_id[body->set]++;
    boundary->body[i] = (uint32_t)world->bodies.count;
  }
  return FLO_OK;
}

static FloStatus sample_body(FloWorld *world, const FloBodyDef *def, FloBody *body, FloError *error) {
  // The inset stays: fluid rests a spacing of its own from samples of any size.
  FloSampleOptions options = {.spacing = sample_spacing(world, def),
                              .inset = def->inset > 0 ? def->inset : world->def.spacing / 2,
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

static void free_lists(FloWorld *world, FloBody *body) {
  free_motions(world, body);
  flo_memory_release(&world->memory, body->friction_changes,
                     body->n_friction_changes * sizeof(FloFrictionChange));
}

void flo_world_follow_motions(const FloWorld *world, FloBody *body) {
  flo_motion_evaluate(body->motions, body->n_motions, &body->start, fmax(world->time, 0), &body->state);
  if (world->time >= 0) return;
  for (int axis = 0; axis < 3; ++axis) body->state.velocity[axis] = body->state.angular_velocity[axis] = 0;
}

// ---- Dynamic bodies ----

static bool is_held(const FloWorld *world, const FloBody *body) {
  return world->time < fmax(body->release, 0);
}

static FloStatus check_start(const FloWorld *world, const FloBodyDef *def, FloError *error) {
  bool is_flat = world->def.dim == 2,
       leaves = def->velocity[2] != 0 || def->angular_velocity[0] != 0 || def->angular_velocity[1] != 0;
  if (!vec_is_finite(def->velocity) || !vec_is_finite(def->angular_velocity) || (is_flat && leaves))
    return flo_fail(error, FLO_BAD_INPUT,
                    "velocity: (%g, %g, %g) m/s and (%g, %g, %g) rad/s are not finite, or leave the plane",
                    def->velocity[0], def->velocity[1], def->velocity[2], def->angular_velocity[0],
                    def->angular_velocity[1], def->angular_velocity[2]);
  if (!(def->release >= 0))
    return flo_fail(error, FLO_BAD_INPUT, "release: must be >= 0, got %g", def->release);
  return FLO_OK;
}

static FloStatus make_rigid(FloWorld *world, const FloBodyDef *def, FloBody *body, FloError *error) {
  FloMassProperties mass;
  FloRigid *rigid = &body->rigid;
  double density = def->density;
  if (density == 0 && def->material.generation) density = flo_materials(world)[def->material.index].density;
  if (!(density > 0) || !isfinite(density))
    return flo_fail(error, FLO_BAD_INPUT, "density: a dynamic body needs one > 0, got %g", density);
  FLO_TRY(check_start(world, def, error));
  FLO_TRY(flo_solid_mass(body->solid, density, def->thickness, &mass, error));
  FLO_TRY(flo_rigid_init(rigid, &mass, &def->pose, world->def.dim, error));
  body->state.pose = def->pose;
  for (int axis = 0; axis < 3; ++axis) {
    rigid->locks[axis] |= def->locks[axis], rigid->turn_locks[axis] |= def->turn_locks[axis];
    rigid->velocity[axis] = rigid->locks[axis] ? 0 : def->velocity[axis];
  }
  rigid->is_held = is_held(world, body);
  flo_rigid_refresh(rigid, def->pose.rotation);
  flo_rigid_spin(rigid, def->pose.rotation, def->angular_velocity);
  flo_rigid_refresh(rigid, def->pose.rotation);
  flo_rigid_state(rigid, def->pose.rotation, &body->state);
  return FLO_OK;
}

void flo_world_move_rigid(FloWorld *world, double dt) {
  flo_world_watch_bodies(world);
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    double *rotation = body->state.pose.rotation;
    if (body->kind != FLO_BODY_DYNAMIC) continue;
    flo_rigid_move(&body->rigid, rotation, dt);
    flo_rigid_refresh(&body->rigid, rotation);
    flo_rigid_state(&body->rigid, rotation, &body->state);
    flo_world_place_samples(world, body);
  }
}

void flo_world_release_bodies(FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (body->kind != FLO_BODY_DYNAMIC || body->rigid.is_held == is_held(world, body)) continue;
    double *rotation = body->state.pose.rotation;
    body->rigid.is_held = !body->rigid.is_held;
    flo_rigid_refresh(&body->rigid, rotation);
    flo_rigid_state(&body->rigid, rotation, &body->state);
    flo_world_place_samples(world, body);
  }
}

// ---- Friction ----

static FloStatus copy_friction(FloWorld *world, const FloBodyDef *def, FloBody *body, FloError *error) {
  size_t size = def->n_friction_changes * sizeof(FloFrictionChange);
  if (isnan(def->friction) || isinf(def->friction))
    return flo_fail(error, FLO_BAD_INPUT, "friction: must be finite, got %g", def->friction);
  if (!(def->rolling_friction >= 0) || isinf(def->rolling_friction))
    return flo_fail(error, FLO_BAD_INPUT, "rolling_friction: must be >= 0 and finite, got %g",
                    def->rolling_friction);
  body->rolling_friction = def->rolling_friction;
  body->averages_force = def->averages_force;
  for (size_t k = 0; k < def->n_friction_changes; ++k) {
    const FloFrictionChange *change = &def->friction_changes[k];
    if (!(change->friction >= 0) || !(change->within >= 0) || !isfinite(change->friction + change->within))
      return flo_fail(error, FLO_BAD_INPUT, "friction_changes: number %zu goes to %g within %g s", k,
                      change->friction, change->within);
    if (k > 0 && !(change->time >= change[-1].time + change[-1].within))
      return flo_fail(error, FLO_BAD_INPUT,
                      "friction_changes: number %zu begins before the one before it ends", k);
  }
  if (size == 0) return FLO_OK;
  if (!(body->friction_changes = flo_memory_allocate(&world->memory, size)))
    return flo_fail(error, FLO_NO_MEMORY, "out of memory");
  memcpy(body->friction_changes, def->friction_changes, size);
  body->n_friction_changes = def->n_friction_changes;
  return FLO_OK;
}

// What a body without a coefficient of its own has where a change begins.
#define USUAL_FRICTION 0.5

static double friction_of(const FloBody *body, double time) {
  double now = body->friction;
  for (size_t k = 0; k < body->n_friction_changes && body->friction_changes[k].time <= time; ++k) {
    const FloFrictionChange *change = &body->friction_changes[k];
    double from = now < 0 ? USUAL_FRICTION : now;
    bool is_over = time >= change->time + change->within;
    now = is_over ? change->friction
                  : from + (change->friction - from) * (time - change->time) / change->within;
  }
  return now;
}

double flo_world_friction(const FloWorld *world, const FloBody *a, const FloBody *b) {
  double of_a = friction_of(a, world->time), of_b = friction_of(b, world->time);
  if (of_a < 0 && of_b < 0) return USUAL_FRICTION;
  if (of_a < 0) return of_b;
  return of_b < 0 ? of_a : fmin(of_a, of_b);
}

// An overlap must not become a kick: it may ask for a limited speed only, and vanishes over several steps.
// That speed stays when the overlap has gone, and adds up along a stack, whose top would hop. So shallow
// overlaps ask for less: they vanish at a rate. Without gravity they vanish as with a weak one.
double flo_world_parting_speed(const FloWorld *world, double depth) {
  double s = world->def.spacing;
  return 0.5 * sqrt(fmax(vec_length(world->def.gravity), 1) * s) * fmin(depth, s) / s;
}

double flo_world_rolling_friction(const FloBody *a, const FloBody *b) {
  return fmax(a->rolling_friction, b->rolling_friction);
}

// ---- Fluid along its surface ----

static double first_given(double own, double of_material, double usual) {
  if (own >= 0) return own;
  return of_material >= 0 ? of_material : usual;
}

static FloStatus set_surface(const FloWorld *world, const FloBodyDef *def, FloBody *body, FloError *error) {
  double slip = -1, restitution = -1;
  if (!(def->slip <= 1) || !(def->restitution <= 1))
    return flo_fail(error, FLO_BAD_INPUT, "slip and restitution: must lie between 0 and 1, got %g and %g",
                    def->slip, def->restitution);
  if (def->material.generation) {
    slip = flo_materials(world)[def->material.index].slip;
    restitution = flo_materials(world)[def->material.index].restitution;
  }
  body->slip = first_given(def->slip, slip, 1);
  body->restitution = first_given(def->restitution, restitution, 0);
  return FLO_OK;
}

// ---- Adding ----

static FloStatus make_body(FloWorld *world, const FloBodyDef *def, FloBody *body, FloError *error) {
  FLO_TRY(copy_motions(world, def, body, error));
  FLO_TRY(copy_friction(world, def, body, error));
  FLO_TRY(sample_body(world, def, body, error));
  if (def->kind == FLO_BODY_DYNAMIC)
    FLO_TRY(make_rigid(world, def, body, error));
  else
    flo_world_follow_motions(world, body);
  describe_samples(world, body);
  flo_world_place_samples(world, body);
  body->sampling = sample_spacing(world, def) / world->def.spacing;
  FLO_TRY(compute_volumes(world, body, sample_spacing(world, def), error));
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
  if ((unsigned)def->kind > FLO_BODY_DYNAMIC)
    return flo_fail(error, FLO_BAD_INPUT, "body: unknown kind %d", (int)def->kind);
  if (def->kind == FLO_BODY_DYNAMIC && !world->method->moves_bodies)
    return flo_fail(error, FLO_UNSUPPORTED,
                    "body: method '%s' knows no bodies that are pushed around; use method 'monolithic' or "
                    "'direct-forcing'",
                    world->method->name);
  if (def->material.generation) FLO_TRY(flo_world_check_material(world, def->material, error));
  if (!(def->inset >= 0 && def->inset <= world->def.spacing))
    return flo_fail(
        error, FLO_BAD_INPUT,
        "inset: must lie between 0 and one spacing (%g m), got %g m; deeper samples would let fluid "
        "in",
        world->def.spacing, def->inset);
  if (def->sampling != 0 && !(def->sampling >= FLO_FINEST_SAMPLING && def->sampling <= FLO_COARSEST_SAMPLING))
    return flo_fail(error, FLO_BAD_INPUT, "sampling: samples must be %g to %g spacings apart, got %g; %s",
                    FLO_FINEST_SAMPLING, FLO_COARSEST_SAMPLING, def->sampling,
                    def->sampling > FLO_COARSEST_SAMPLING ? "coarser surfaces are rough"
                                                          : "finer ones cost much and gain nothing");
  FLO_TRY(flo_shape_check(&def->shape, world->def.dim, error));
  return flo_pose_check(&def->pose, world->def.dim, "pose", error);
}

FloStatus flo_world_add_body(FloWorld *world, const FloBodyDef *def, FloBodyId *id, FloError *error) {
  FLO_TRY(check_body(world, def, error));
  FloBody body = {.kind = def->kind, .start = def->pose, .friction = -1, .release = def->release};
  body.set = def->kind == FLO_BODY_DYNAMIC ? FLO_SET_RIGID : FLO_SET_BOUNDARY;
  if (def->material.generation) body.friction = flo_materials(world)[def->material.index].friction;
  if (def->friction >= 0) body.friction = def->friction;
  FLO_TRY(set_surface(world, def, &body, error));
  FLO_TRY(flo_world_find_solid(world, &def->shape, &body.solid, error));
  snprintf(body.name, sizeof body.name, "%s", def->name ? def->name : "");
  body.reach = solid_reach(body.solid);
  size_t n_samples = world->sets[body.set].count;
  uint32_t next_id = world->next_id[body.set];
  FloStatus status = make_body(world, def, &body, error);
  if (status != FLO_OK) {
    // A body that cannot be made leaves no trace.
    free_lists(world, &body);
    world->sets[body.set].count = n_samples;
    world->next_id[body.set] = next_id;
    return status;
  }
  world->is_boundary_grid_current = false;
  world->is_prepared = world->has_step_state = world->lists.is_current = false;
  if (id) *id = (FloBodyId){(uint16_t)(world->bodies.count - 1), 1};
  return FLO_OK;
}

void flo_world_free_bodies(FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k) free_lists(world, &flo_bodies(world)[k]);
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
    if (flo_bodies(world)[k].n_motions || flo_bodies(world)[k].kind == FLO_BODY_DYNAMIC) return true;
  return false;
}

bool flo_world_has_moving_walls(const FloWorld *world) {
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (flo_bodies(world)[k].n_motions) return true;
  return false;
}

static double fastest_body(const FloWorld *world, bool with_lost) {
  double fastest = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (body->n_motions == 0 && body->kind != FLO_BODY_DYNAMIC) continue;
    if (!with_lost && flo_world_is_body_lost(world, body)) continue;
    double turning = vec_length(body->state.angular_velocity) * reach_of(world, body);
    fastest = fmax(fastest, vec_length(body->state.velocity) + turning);
  }
  return fastest;
}

double flo_world_max_wall_speed(const FloWorld *world) { return fastest_body(world, false); }
double flo_world_any_wall_speed(const FloWorld *world) { return fastest_body(world, true); }

double flo_world_scheduled_wall_speed(const FloWorld *world) {
  double fastest = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    fastest = fmax(fastest,
                   flo_motion_max_speed(body->motions, body->n_motions, &body->start, reach_of(world, body)));
  }
  return fastest;
}
