// Forces of fluid on bodies that forces move: a sweep over their samples gives a force and a torque for each
// node.
#ifndef FLO_COUPLING_FORCES_BODY_ROWS_H
#define FLO_COUPLING_FORCES_BODY_ROWS_H

#include "sph/passes.h"
#include "state/state.h"

typedef struct FloBodyRows {
  bool is_used;     // there are such bodies and fluid
  float *motion;    // quadruples per sample: velocity, and volume over the fluid's rest volume
  float *force;     // quadruples per sample
  double *wrenches; // per node: force and torque about its position
  FloBuffer buffers[3];
} FloBodyRows;

// Reserves memory and finds the fluid near the samples. Once a step, when neighbours are known.
FloStatus flo_body_rows_prepare(FloBodyRows *rows, FloWorld *world, FloError *error);
// Finds the forces on samples that move with `motion`, by a sweep like `forces`. Its pairs, solid and force
// are replaced by those of the rows.
void flo_body_rows_sweep(FloBodyRows *rows, FloWorld *world, FloSolidForces forces);
// Adds the wrenches to those of all nodes, six numbers each.
void flo_body_rows_add_wrenches(const FloBodyRows *rows, const FloWorld *world, double *wrenches);
// Adds the forces of a sweep to those that the host reads.
void flo_world_note_rows(FloWorld *world, const FloBodyRows *rows);
// The same, and pushes bodies by these forces for dt.
void flo_world_push_by_rows(FloWorld *world, const FloBodyRows *rows, double dt);
void flo_body_rows_free(FloBodyRows *rows, FloMemory *memory);

// ---- Between samples and nodes ----

// Finds the velocities of samples in the rigid set, as quadruples with the volume over the fluid's rest
// volume. `motions` are six velocities of each node; NULL: their present velocities.
void flo_world_spread_motions(FloWorld *world, const double *motions, float *quads);
// Sums up forces on these samples (quadruples) to a wrench about each node.
void flo_world_gather_wrenches(FloWorld *world, const float *forces, double *wrenches);
// Reads six velocities of each node; zeros for nodes that are held.
void flo_world_read_motions(const FloWorld *world, double *motions);

#endif
