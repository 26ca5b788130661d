// What fluid or a body is made of.
#ifndef FLO_BODIES_MATERIAL_H
#define FLO_BODIES_MATERIAL_H

#include "base/core.h"

typedef struct FloMaterial {
  char name[64];
  double density, viscosity, wall_viscosity;
  double friction;                  // < 0: not given
  double slip, restitution;         // < 0: not given
  double surface_tension, adhesion; // [N/m]
  double contact_angle;             // [degrees]; < 0: not given
  bool is_fluid;                    // some fluid is made of it
  bool is_removed;                  // its id is not valid any more
} FloMaterial;

// Where two fluids meet.
typedef struct FloInterface {
  uint16_t one, other; // materials
  double tension;      // [N/m]
} FloInterface;

// Checks a definition and fills in the values that follow from others.
FloStatus flo_material_make(const FloMaterialDef *def, FloMaterial *material, FloError *error);
// Refuses a slip or restitution above 1; values below 0 are not given.
FloStatus flo_slip_check(double slip, double restitution, FloError *error);
// Refuses a contact angle above 180 degrees; values below 0 are not given.
FloStatus flo_contact_angle_check(double degrees, FloError *error);

#endif
