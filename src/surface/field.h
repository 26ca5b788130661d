// The level set at the nodes of bricks: negative in the fluid, in units of a cell.
#ifndef FLO_SURFACE_FIELD_H
#define FLO_SURFACE_FIELD_H

#include "surface/bricks.h"

// The kernel of one particle: points with |G (x - centre)| < 1 feel it.
typedef struct FloKernelShape {
  float shift[3];  // from the particle to the centre [m]
  float matrix[6]; // G: xx, yy, zz, xy, yz, zx [1/m]
  float reach;     // longest half axis [m]
  float weight;    // at the centre: volume times height
} FloKernelShape;

typedef struct FloLevelSet {
  FloBricks *bricks;
  const FloSurfaceDef *def;
  FloKernelShape *shapes; // anisotropic only, in the order of the bricks
  uint8_t *has_shapes;    // for each occupied brick
  FloBuffer shape_buffer, flag_buffer, wanted;
} FloLevelSet;

// The distance beyond which a particle has no effect [m].
double flo_level_set_influence(const FloSurfaceDef *def);
// The distance from all particles beyond which there is no fluid [m].
double flo_level_set_reach(const FloSurfaceDef *def);
FloStatus flo_level_set_init(FloLevelSet *set, FloBricks *bricks, const FloSurfaceDef *def, FloError *error);
void flo_level_set_free(FloLevelSet *set);
// Evaluates all wanted bricks, and others that turn out to be needed.
FloStatus flo_level_set_evaluate(FloLevelSet *set, FloError *error);

// ---- Shapes of kernels (anisotropy.c) ----

double flo_kernel_shape_influence(const FloSurfaceDef *def);
double flo_kernel_shape_level(void); // the field on the surface
// Finds the kernels of all particles in an occupied brick.
void flo_kernel_shapes_find(const FloLevelSet *set, size_t occupied, FloNearby *nearby);

#endif
