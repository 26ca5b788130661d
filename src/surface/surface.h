// The surface of a fluid: particles -> level set in a narrow band -> marching cubes -> smoothed mesh.
//
// The level set is eq. 34 of Shao and others 2014 (the `unified` method), first used by Zhu and Bridson 2005,
// or that of the anisotropic kernels of Yu and Turk 2013. Nodes of the lattice are grouped in bricks, and
// only bricks that the surface may cross are ever evaluated. The mesh is a closed 2-manifold, oriented
// outwards, whatever the particles do; the same bits come out for any number of threads.
#ifndef FLO_SURFACE_SURFACE_H
#define FLO_SURFACE_SURFACE_H

#include "geometry/mesh.h"
#include "geometry/polygonise.h"

typedef enum FloSurfaceKernel {
  FLO_SURFACE_ISOTROPIC,   // eq. 34: distance to the weighted mean of the particles around
  FLO_SURFACE_ANISOTROPIC, // kernels stretched along the surface: sharper edges, slower
  FLO_SURFACE_KERNEL_COUNT
} FloSurfaceKernel;

// Where the time goes.
typedef enum FloSurfaceStage {
  FLO_SURFACE_SORT,    // particles into bricks, and which of these matter
  FLO_SURFACE_FIELD,   // the level set at their nodes
  FLO_SURFACE_EXTRACT, // triangles
  FLO_SURFACE_POLISH,  // crumbs, smoothing, normals
  FLO_SURFACE_STAGE_COUNT
} FloSurfaceStage;

typedef struct FloSurfaceDef {
  double spacing; // of the particles [m]
  double radius;  // of a particle: how far outside the outermost ones the surface lies [m]
  double cell;    // of the lattice [m]; below 2 radius / sqrt(3), so that films of one layer survive
  FloSurfaceKernel kernel;
  int smoothing;                // rounds of smoothing; volumes stay as they are; 0: none
  size_t min_particles;         // clusters of fewer are left out; 2 leaves out single ones; 0, 1: none
  bool has_box;                 // the surface stays inside the box
  double box_low[3];            // [m]
  double box_high[3];           // [m]
  const FloSignedField *region; // the surface stays where it is negative; called by several threads at once;
                                // its slope must be about one near its zero; NULL: everywhere
  size_t memory_limit;          // [bytes] what the memory may hold in all; 0: no limit
  int threads;                  // 0: all cores
} FloSurfaceDef;

typedef struct FloSurfaceMesh {
  FloMesh mesh;
  FloBuffer normals;    // outward, unit length: three floats for each vertex
  FloBuffer velocities; // [m/s] three floats for each vertex
  size_t n_particles;   // that were not left out
  size_t n_components;
  size_t n_bricks; // of 512 nodes each, that were evaluated
  double volume;   // [m^3]
  double area;     // [m^2]
  double stage_seconds[FLO_SURFACE_STAGE_COUNT];
} FloSurfaceMesh;

// Everything as it suits particles of this spacing.
FloSurfaceDef flo_surface_default_def(double spacing);
const char *flo_surface_stage_name(FloSurfaceStage stage);    // "sort", "field", "extract", "polish"
const char *flo_surface_kernel_name(FloSurfaceKernel kernel); // "isotropic", "anisotropic"
bool flo_surface_kernel_from_name(const char *name, FloSurfaceKernel *kernel);

// `positions` holds `count` triples, `velocities` as many or is NULL (then all are zero). No particles give
// an empty mesh. Whatever happens, release with flo_surface_free.
FloStatus flo_surface_build(const FloSurfaceDef *def, const double *positions, const float *velocities,
                            size_t count, FloSurfaceMesh *out, FloMemory *memory, FloError *error);
void flo_surface_free(FloSurfaceMesh *surface);

static inline float *flo_surface_normal(const FloSurfaceMesh *surface, size_t vertex) {
  return (float *)surface->normals.data + 3 * vertex;
}
static inline float *flo_surface_velocity(const FloSurfaceMesh *surface, size_t vertex) {
  return (float *)surface->velocities.data + 3 * vertex;
}

#endif
