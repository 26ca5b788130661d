// The material of a thin sheet, from its definition: one place for cloth in space and strands in the plane.
#ifndef FLO_SOFT_SHEET_H
#define FLO_SOFT_SHEET_H

#include "base/core.h"

typedef struct FloSheet {
  double density; // per area [kg/m^2]
  double along;   // tension for a stretch of one, if it cannot narrow: stretch / (1 - poisson^2) [N/m]
  double poisson;
  double shear;   // [N/m]
  double bend;    // [N m]
  double damping; // [s]
  double limit;   // largest stretch beyond one; 0: none
  double stretch; // [N/m]
  double prestretch[2];
} FloSheet;

FloStatus flo_sheet_read(const FloClothDef *cloth, FloSheet *sheet, FloError *error);

// Value and derivatives of a function of one number.
typedef struct FloCurve {
  double value, slope, bend;
} FloCurve;

// The energy per area that keeps a stretch (length over rest length) below its limit. It is zero up to half
// of the limit and grows without bound towards it; from 99.9 % of the way on it goes on as a parabola.
FloCurve flo_sheet_limit(const FloSheet *sheet, double stretch);

#endif
