// Solids as signed fields: a table of round primitives that are blended into one another.
#ifndef FLO_GEOMETRY_IMPLICIT_H
#define FLO_GEOMETRY_IMPLICIT_H

#include "base/core.h"

typedef enum FloPrimitiveKind {
  FLO_PRIMITIVE_SPHERE,     // at a, radii[0]
  FLO_PRIMITIVE_ROUND_CONE, // spheres of radii[0] at a and radii[1] at b, and what a sphere sweeps between
                            // them
  FLO_PRIMITIVE_ELLIPSOID,  // at a, half axes `radii`
  FLO_PRIMITIVE_TORUS,      // at a, radii[0] of the ring around the turned z axis, radii[1] of the tube
} FloPrimitiveKind;

typedef struct FloPrimitive {
  FloPrimitiveKind kind;
  double a[3], b[3];
  double radii[3];
  double turn[3];     // rotation of an ellipsoid or torus: axis times angle [rad]
  double blend;       // width over which it blends into those before it; 0: a sharp edge
  bool is_subtracted; // it is cut out of those before it
  bool is_mirrored;   // there is another one at -y
} FloPrimitive;

// What depends on a primitive alone and not on the point.
typedef struct FloPrimitiveFrame {
  bool is_turned;
  double rotation[4];       // quaternion of its turn
  double centre[3], radius; // of a ball around it
} FloPrimitiveFrame;

typedef struct FloImplicit {
  const FloPrimitive *primitives; // the first one is added to nothing
  size_t n_primitives;
  const FloPrimitiveFrame
      *frames; // of the primitives; NULL: they are computed anew at every point, which takes longer
} FloImplicit;

// Fills one frame for each primitive and lets the implicit use them.
void flo_implicit_prepare(FloImplicit *implicit, FloPrimitiveFrame *frames);

// Negative inside. Near the surface it is the distance: exact, except for ellipsoids.
double flo_primitive_value(const FloPrimitive *primitive, const double point[3]);
double flo_implicit_value(const FloImplicit *implicit, const double point[3]);
// A box that holds the solid.
void flo_implicit_bounds(const FloImplicit *implicit, double low[3], double high[3]);

#endif
