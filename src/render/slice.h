// A cut through the fluid along a plane, as a picture of a field. Values are blended from the particles
// nearby.
#ifndef FLO_RENDER_SLICE_H
#define FLO_RENDER_SLICE_H

#include "render/render.h"
#include "render/v3.h"

typedef struct FloSlice {
  int axis, across, along; // the plane's normal, and the axes of its lattice
  float at;                // [m] where the plane crosses its axis
  float low[2], cell;      // [m] the first node, and the distance between two
  int n[2];                // nodes; 0: there is no fluid
  float *fill;             // share of the fluid's density at each node
  float *values;           // mean value of the particles around; 0 where there are none
} FloSlice;

// Makes the slice that the input's style asks for. Release it with flo_slice_destroy, also after a failure.
FloStatus flo_slice_create(const FloPictureInput *, FloSlice *, FloError *);
void flo_slice_destroy(FloSlice *);

// The value at a point of the plane; false where there is no fluid.
bool flo_slice_value(const FloSlice *, V3 point, float *value);

#endif
