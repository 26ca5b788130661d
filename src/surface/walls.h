// Solids that the surface of a fluid must not enter. Each gives signed distances at its present pose.
//
// A shape without a formula needs a grid of distances. Bodies of the same shape share one grid, which is kept
// while they move.
#ifndef FLO_SURFACE_WALLS_H
#define FLO_SURFACE_WALLS_H

#include "geometry/polygonise.h"
#include "geometry/solid.h"
#include "io/frame.h"

typedef struct FloWall {
  const FloSolid *solid; // NULL: the surface may enter
  FloPose pose;
  double reach; // [m] radius of a ball around the pose's position that holds the solid and its walls
} FloWall;

typedef struct FloWalls {
  FloMemory *memory;
  double spacing;  // of the particles, and thickness of a tank's wall [m]
  double fineness; // of shapes without a formula: the spacing, or more where less precision suffices [m]
  size_t n_walls, n_solids;
  FloBuffer walls, solids; // FloWall, FloSolid *
} FloWalls;

// Makes room for `n` walls. Release with flo_walls_free, also after a failure.
FloStatus flo_walls_init(FloWalls *walls, size_t n, double spacing, FloMemory *memory, FloError *error);
void flo_walls_free(FloWalls *walls);
// Makes wall k of a shape. A shape without an inside, such as a sheet or a mesh with holes, is skipped.
FloStatus flo_walls_set_shape(FloWalls *walls, size_t k, const FloShape *shape, int threads, FloError *error);
void flo_walls_set_pose(FloWalls *walls, size_t k, const FloPose *pose);
// All of a scene's bodies that are not pushed around, where `placed` has them (NULL: where the scene puts
// them); instead of flo_walls_init. Bodies that are pushed around keep the fluid off themselves, and are too
// many at times to be asked at every point. Shapes without a formula are `fineness` spacings fine: grids for
// 2 take about a quarter of the time.
FloStatus flo_walls_of_bodies(FloWalls *walls, const FloSceneBody *bodies, const FloFrameBody *placed,
                              size_t n, double spacing, double fineness, int threads, FloMemory *memory,
                              FloError *error);
// Moves them to where the same bodies are in a frame.
void flo_walls_place(FloWalls *walls, const FloFrameBody *placed);
bool flo_walls_is_empty(const FloWalls *walls);

// How deep a point lies in the walls [m]; negative outside. `normal`, which may be NULL, receives the
// direction out of the deepest wall.
double flo_walls_depth(const FloWalls *walls, const double point[3], double normal[3]);
// The same as a field for FloSurfaceDef.region.
FloSignedField flo_walls_region(const FloWalls *walls);

#endif
