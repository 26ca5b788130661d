// Samples of dynamic bodies as rows over the fluid near them: what fluid does to bodies, swept as it is for
// fluid, and summed up to a force and a torque for each body.
#ifndef FLO_COUPLING_FORCES_BODY_ROWS_H
#define FLO_COUPLING_FORCES_BODY_ROWS_H

#include "sph/passes.h"
#include "state/state.h"

typedef struct FloBodyRows {
  bool is_built; // there are dynamic bodies, and fluid
  FloPairs pairs;
  float *motion;    // quadruples per sample: velocity, and volume over the fluid's rest volume
  float *force;     // quadruples per sample
  double *wrenches; // per body: force and torque about the centre of mass
  FloBuffer buffers[3];
} FloBodyRows;

// Finds the fluid near the samples; once in a step, after its neighbours are known.
FloStatus flo_body_rows_build(FloBodyRows *rows, FloWorld *world, FloError *error);
// Fits them to the present positions while the neighbours' lists serve on that they were found with.
void flo_body_rows_refill(FloBodyRows *rows, FloWorld *world);
void flo_body_rows_free(FloBodyRows *rows, FloMemory *memory);
// Velocities of the samples when the bodies move with these velocities and angular velocities, six each.
void flo_body_rows_spread(FloBodyRows *rows, FloWorld *world, const double *motions);
// Sums up the samples' forces.
void flo_body_rows_gather(FloBodyRows *rows, FloWorld *world);

#endif
