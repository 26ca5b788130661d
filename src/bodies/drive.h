// How a host drives a kinematic body at run time, instead of its motions.
#ifndef FLO_BODIES_DRIVE_H
#define FLO_BODIES_DRIVE_H

#include "bodies/body.h"

// Kinds, as numbers, since a state holds only numbers.
enum { FLO_DRIVE_NONE, FLO_DRIVE_RATE, FLO_DRIVE_TARGET };

typedef struct FloDrive {
  double kind;
  double start, end;           // [s]; `end` of a target only
  FloPose from, to;            // `to` of a target only
  double velocity[3], spin[3]; // of a rate: of its position [m/s], and [rad/s]
} FloDrive;

void flo_drive_evaluate(const FloDrive *drive, double time, FloBodyState *state);
// Upper bound of the speed of any point within reach.
double flo_drive_speed(const FloDrive *drive, double reach);
// Drives a kinematic body from now on.
void flo_kinematic_drive(FloBody *body, const FloDrive *drive, double time);

#endif
