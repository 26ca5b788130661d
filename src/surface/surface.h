// The surface of a fluid: particles -> level set in a narrow band -> marching cubes -> smoothed mesh.
//
// The level set is eq. 34 of Shao and others 2014, first used by Zhu and Bridson 2005, or that of the
// anisotropic kernels of Yu and Turk 2013. The nodes of the lattice are grouped in bricks, and only bricks
// that the surface may cross are evaluated. The mesh is always a closed 2-manifold, oriented outwards. The
// result has the same bits for any number of threads.
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
  FLO_SURFACE_SORT,    // sorting particles into bricks, and choosing the bricks that matter
  FLO_SURFACE_FIELD,   // the level set at their nodes
  FLO_SURFACE_EXTRACT, // triangles
  FLO_SURFACE_POLISH,  // crumbs, smoothing, normals
  FLO_SURFACE_STAGE_COUNT
} FloSurfaceStage;

typedef struct FloSurfaceDef {
  double spacing; // of the particles [m]
  double radius;  // of a particle: distance of the surface from the outermost particles [m]
  double cell;    // of the lattice [m]; must be below 2 radius / sqrt(3) to keep films of one layer
  FloSurfaceKernel kernel;
  int smoothing;        // rounds of smoothing, which keep volumes; 0: none
  size_t min_particles; // clusters of fewer particles are left out; 2 leaves out single particles; 0, 1: keep
                        // all
  bool has_box;         // the surface stays inside the box
  double box_low[3];    // [m]
  double box_high[3];   // [m]
  const FloSignedField *region; // the surface stays where it is negative; NULL: everywhere. Several threads
                                // call it at once. Its slope must be about one near its zero.
  size_t memory_limit;          // [bytes] limit of all memory in use; 0: no limit
  int threads;                  // 0: all cores
} FloSurfaceDef;

typedef struct FloSurfaceMesh {
  FloMesh mesh;
  FloBuffer normals;    // outward, unit length: three floats for each vertex
  FloBuffer velocities; // [m/s] three floats for each vertex
  size_t n_particles;   // number of particles that were not left out
  size_t n_components;
  size_t n_bricks; // number of evaluated bricks of 512 nodes
  double volume;   // [m^3]
  double area;     // [m^2]
  double stage_seconds[FLO_SURFACE_STAGE_COUNT];
} FloSurfaceMesh;

// Default values for particles of this spacing.
FloSurfaceDef flo_surface_default_def(double spacing);
const char *flo_surface_stage_name(FloSurfaceStage stage);    // "sort", "field", "extract", "polish"
const char *flo_surface_kernel_name(FloSurfaceKernel kernel); // "isotropic", "anisotropic"
bool flo_surface_kernel_from_name(const char *name, FloSurfaceKernel *kernel);

// Builds the surface. `positions` holds `count` triples, `velocities` as many; it may be NULL, which means
// zero. Without particles the mesh is empty. Release it with flo_surface_free, also after a failure.
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
