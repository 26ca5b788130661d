// The pressure that fluid feels, from the pressures of an implicit method.
//
// An implicit method finds multipliers p of its constraints. The force between two particles is
// -(p_i + p_j) V_i V_j grad W_ij. In a disordered fluid multipliers scatter by some ten per cent from one
// particle to the next, and in the mean they differ from the pressure by what the kernel's sum over
// neighbours differs from its integral: 1 to 2 per cent, near walls 10. What the water feels, and what a
// gauge would show, is the mean normal stress of the pair forces,
//   P_i = -1/(2 dim) sum_j V_j (p_i + p_j) r_ij . grad W_ij.
// In still water it is the weight of the water above, layer by layer.
#ifndef FLO_COUPLING_FORCES_FELT_PRESSURE_H
#define FLO_COUPLING_FORCES_FELT_PRESSURE_H

#include "state/state.h"

// Fills the pressures of fluid from the multipliers in the extra fields `fluid_field` of fluid and
// `solid_field` of the samples of solids; FLO_NO_FIELD: without solids. Operators must be those of the step.
enum { FLO_NO_FIELD = -1 };
void flo_world_feel_pressure(FloWorld *world, int fluid_field, int solid_field);

#endif
