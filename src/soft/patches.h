// Parts of a solid over which its deformation is averaged.
#ifndef FLO_SOFT_PATCHES_H
#define FLO_SOFT_PATCHES_H

#include "soft/element.h"

// A solid divided into patches: one for each edge or each vertex of its elements. Each element gives equal
// shares of its volume to its edges or vertices. The deformation gradient of a patch is the mean over its
// shares; it depends on positions by slopes, one vector for each vertex: F = sum of x_a slope_a^T.
typedef struct FloPatches {
  size_t n;
  size_t *begin; // vertices of patch k: begin[k] .. begin[k + 1]
  uint32_t *vertices;
  double *slopes;  // three numbers for each vertex of each patch [1/m]
  double *volumes; // [m^3]; in the plane areas [m^2]
} FloPatches;

typedef enum FloPatchKind { FLO_PATCH_EDGES, FLO_PATCH_VERTICES } FloPatchKind;

FloStatus flo_soft_make_patches(FloSoft *soft, const uint32_t *elements, size_t n_elements, FloPatchKind kind,
                                FloPatches *patches, FloError *error);
// Volume of an element (in the plane, area) at the positions of the body; negative if it is inside out.
double flo_soft_element_volume(const FloSoft *soft, const uint32_t *element);

#endif
