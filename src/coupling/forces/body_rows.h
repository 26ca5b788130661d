// What fluid does to bodies that forces move: a sweep over their samples, summed up to a force and a torque
// for each node.
#ifndef FLO_COUPLING_FORCES_BODY_ROWS_H
#define FLO_COUPLING_FORCES_BODY_ROWS_H

#include "sph/passes.h"
#include "state/state.h"

typedef struct FloBodyRows {
  bool is_used;     // there are such bodies, and fluid
  float *motion;    // quadruples per sample: velocity, and volume over the fluid's rest volume
  float *force;     // quadruples per sample
  double *wrenches; // per node: force and torque about its position
  FloBuffer buffers[3];
} FloBodyRows;

// Makes room, and finds the fluid near the samples; once in a step, after its neighbours are known.
FloStatus flo_body_rows_prepare(FloBodyRows *rows, FloWorld *world, FloError *error);
// Forces on samples that move as `motion` says, by a sweep like `forces`; its rows, its solid and its force
// are ours.
void flo_body_rows_sweep(FloBodyRows *rows, FloWorld *world, FloSolidForces forces);
void flo_body_rows_free(FloBodyRows *rows, FloMemory *memory);

#endif
