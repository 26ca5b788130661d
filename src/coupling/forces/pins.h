// Pins of soft bodies to bodies that forces move, as contacts that hold along all axes without a limit.
#ifndef FLO_COUPLING_FORCES_PINS_H
#define FLO_COUPLING_FORCES_PINS_H

#include "state/state.h"

// Share of the displacement since sticking that a contact takes back in a step, as that of a pin.
#define FLO_ANCHOR_RATE 0.2

// The velocity by which a vertex must be slower than the place that its pin holds, so that both are together
// at the end of a step of dt, or soon after.
void flo_pin_drift(const FloWorld *world, const FloContactPoint *pin, double dt, double drift[3]);

#endif
