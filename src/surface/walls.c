#include "surface/walls.h"

#include "base/pose.h"

#include <string.h>

static FloWall *wall_at(const FloWalls *walls, size_t k) { return (FloWall *)walls->walls.data + k; }
static FloSolid **solids_of(const FloWalls *walls) { return walls->solids.data; }

FloStatus flo_walls_init(FloWalls *walls, size_t n, double spacing, FloMemory *memory, FloError *error) {
  *walls = (FloWalls){.memory = memory, .spacing = spacing, .fineness = spacing};
  FLO_TRY(flo_buffer_reserve(memory, &walls->walls, (n + 1) * sizeof(FloWall), 0, error));
  FLO_TRY(flo_buffer_reserve(memory, &walls->solids, (n + 1) * sizeof(FloSolid *), 0, error));
  memset(walls->walls.data, 0, (n + 1) * sizeof(FloWall));
  walls->n_walls = n;
  return FLO_OK;
}

void flo_walls_free(FloWalls *walls) {
  if (!walls->memory) return;
  for (size_t k = 0; k < walls->n_solids; k++) {
    flo_solid_free(solids_of(walls)[k]);
    flo_memory_release(walls->memory, solids_of(walls)[k], sizeof(FloSolid));
  }
  flo_buffer_free(walls->memory, &walls->walls);
  flo_buffer_free(walls->memory, &walls->solids);
  *walls = (FloWalls){0};
}

// ---- Shapes ----

static const FloSolid *find_solid(const FloWalls *walls, const FloShape *shape, uint64_t key) {
  for (size_t k = 0; k < walls->n_solids; k++)
    if (flo_solid_is_of(solids_of(walls)[k], shape, key)) return solids_of(walls)[k];
  return NULL;
}

static FloStatus make_solid(FloWalls *walls, const FloShape *shape, int threads, const FloSolid **made,
                            FloError *error) {
  FloSolid *solid = flo_memory_allocate(walls->memory, sizeof *solid);
  if (!solid) return flo_fail(error, FLO_NO_MEMORY, "no memory for a wall");
  FloStatus status =
      flo_solid_init(solid, shape, 3, walls->fineness, walls->spacing, threads, walls->memory, error);
  if (status != FLO_OK) {
    flo_memory_release(walls->memory, solid, sizeof *solid);
    return status;
  }
  solids_of(walls)[walls->n_solids++] = solid;
  *made = solid;
  return FLO_OK;
}

// Whether a mesh is closed. The inside of an open mesh is only a guess, and a bowl must not lose its water.
static FloStatus check_closed(const FloMesh *mesh, bool *is_closed, FloError *error) {
  FloBuffer buffer = {0};
  const size_t n = 3 * mesh->n_triangles;
  *is_closed = mesh->n_triangles > 0;
  FLO_TRY(flo_mesh_sort_sides(mesh, &buffer, error));
  const FloMeshSide *sides = buffer.data;
  for (size_t k = 0, count; k < n && *is_closed; k += count) {
    count = flo_mesh_count_sides(sides, n, k);
    *is_closed = count % 2 == 0;
  }
  flo_buffer_free(mesh->memory, &buffer);
  return FLO_OK;
}

// The radius of a ball that holds the solid. The walls of a tank lie around its inner space.
static double reach_of(const FloSolid *solid, double wall) {
  double low[3], high[3], square = 0;
  flo_solid_bounds(solid, low, high);
  for (int axis = 0; axis < 3; axis++) {
    double most = fmax(fabs(low[axis]), fabs(high[axis])) + wall;
    square += most * most;
  }
  return sqrt(square);
}

FloStatus flo_walls_set_shape(FloWalls *walls, size_t k, const FloShape *shape, int threads,
                              FloError *error) {
  FLO_ASSERT(k < walls->n_walls);
  FloWall *wall = wall_at(walls, k);
  const uint64_t key = flo_solid_key(shape);
  wall->solid = NULL;
  if (shape->kind == FLO_SHAPE_OUTLINE && !(shape->size[0] > 0)) return FLO_OK;
  wall->solid = find_solid(walls, shape, key);
  wall->pose = flo_pose_identity();
  if (!wall->solid) {
    FloStatus status = make_solid(walls, shape, threads, &wall->solid, error);
    if (status == FLO_BAD_INPUT) return FLO_OK;
    FLO_TRY(status);
  }
  bool is_closed = true;
  if (wall->solid->has_mesh) FLO_TRY(check_closed(&wall->solid->mesh, &is_closed, error));
  wall->reach = reach_of(wall->solid, walls->spacing);
  if (!is_closed) wall->solid = NULL;
  return FLO_OK;
}

void flo_walls_set_pose(FloWalls *walls, size_t k, const FloPose *pose) {
  FLO_ASSERT(k < walls->n_walls);
  wall_at(walls, k)->pose = *pose;
}

bool flo_walls_is_empty(const FloWalls *walls) {
  for (size_t k = 0; k < walls->n_walls; k++)
    if (wall_at(walls, k)->solid) return false;
  return true;
}

// ---- Bodies of a scene ----

FloStatus flo_walls_of_bodies(FloWalls *walls, const FloSceneBody *bodies, const FloFrameBody *placed,
                              size_t n, double spacing, double fineness, int threads, FloMemory *memory,
                              FloError *error) {
  FLO_TRY(flo_walls_init(walls, n, spacing, memory, error));
  walls->fineness = fineness * spacing;
  for (size_t k = 0; k < n; k++)
    if (!flo_scene_is_body(&bodies[k]))
      FLO_TRY(flo_walls_set_shape(walls, k, &bodies[k].def.shape, threads, error));
  for (size_t k = 0; k < n; k++) flo_walls_set_pose(walls, k, flo_frame_pose(placed, bodies, k));
  return FLO_OK;
}

void flo_walls_place(FloWalls *walls, const FloFrameBody *placed) {
  for (size_t k = 0; k < walls->n_walls; k++) flo_walls_set_pose(walls, k, &placed[k].state.pose);
}

// ---- Depths ----

double flo_walls_depth(const FloWalls *walls, const double point[3], double normal[3]) {
  double deepest = -INFINITY;
  const FloWall *chosen = NULL;
  for (size_t k = 0; k < walls->n_walls; k++) {
    const FloWall *wall = wall_at(walls, k);
    double local[3], away[3];
    if (!wall->solid) continue;
    vec_sub(point, wall->pose.position, away);
    // A point outside of the ball is at least that far from the wall.
    if (wall->reach - vec_length(away) < fmin(deepest, 0)) continue;
    pose_to_local(&wall->pose, point, local);
    double depth = -flo_solid_distance(wall->solid, local);
    if (depth > deepest) deepest = depth, chosen = wall;
  }
  if (normal && chosen) {
    double local[3], local_normal[3];
    pose_to_local(&chosen->pose, point, local);
    flo_solid_normal(chosen->solid, local, local_normal);
    quat_rotate(chosen->pose.rotation, local_normal, normal);
  }
  return deepest;
}

static double depth_at(const void *context, const double point[3]) {
  return flo_walls_depth(context, point, NULL);
}

FloSignedField flo_walls_region(const FloWalls *walls) { return (FloSignedField){depth_at, walls}; }
