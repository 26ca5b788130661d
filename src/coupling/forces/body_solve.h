// Bodies that touch each other or that joints hold, within the iterations of a method with implicit pressure:
// contacts with friction as rows over their nodes (solve/rows.h), joints by their exact solution
// (state/joints.h). A soft body that is touched follows as a whole (FloKind.respond).
#ifndef FLO_COUPLING_FORCES_BODY_SOLVE_H
#define FLO_COUPLING_FORCES_BODY_SOLVE_H

#include "coupling/forces/body_rows.h"
#include "solve/rows.h"

// A point at which bodies touch, and its rows.
typedef struct FloTouchingPoint {
  uint32_t row, drag_row, roll_row; // the last two: FLO_NO_ROW without friction. A pin has a drag row alone
  double approach;                  // along the normal, before the forces of the step [m/s]
} FloTouchingPoint;

typedef struct FloBodySolve {
  double dt;
  bool is_warm; // starts from the forces of the last step
  // Six doubles for each node: velocities before the step, at present, and the part that joints gave.
  double *motion_before, *motion, *given;
  // The same number for each node: forces that the kick of soft bodies contains, velocities with these, all
  // forces, and room.
  double *expected, *start, *found, *room;
  bool has_soft;    // contacts touch soft bodies
  bool is_expected; // the kick contained the contacts of the last step
  const FloWorld *world;
  FloTouchingPoint *points; // as many as contact points of the world
  FloRows rows;             // of points
  double *lambda;           // impulses of the rows
  FloBuffer buffers[3];
} FloBodySolve;

// Finds where bodies touch, before the forces of a step of dt act. Needs the neighbours of the step.
FloStatus flo_body_solve_meet(FloBodySolve *solve, FloWorld *world, double dt, FloError *error);
// Before the kick of bodies: adds the last step's forces of contacts on soft bodies to `expected`, which may
// hold others, and all that is expected to `wrenches`. Soft bodies say how they respond near the state that
// the kick finds, so the kick should contain what they will bear. Without this call it contains no contacts.
void flo_body_solve_expect(FloBodySolve *solve, FloWorld *world, bool is_warm, double *wrenches);
// Makes the rows when forces other than pressures have acted. `motion` gets the velocities of nodes with the
// impulses of contacts that the solution starts from.
FloStatus flo_body_solve_start(FloBodySolve *solve, FloWorld *world, bool is_warm, FloError *error);
// Changes `motion` so that contacts and joints hold. Stops if no row changes a velocity by more than `speed`.
// `n_iterations`: how many sweeps to make, in tens. Returns the largest change of the last sweep.
double flo_body_solve_sweep(FloBodySolve *solve, FloWorld *world, double speed, int n_iterations);
// After the iterations: solves contacts again as often as soft bodies need it (soft_again.h). `others`:
// impulses of all that is not contact or joint and that the kick did not contain or that is among the
// expected forces. `speed`, `n_iterations`: as above.
void flo_body_solve_settle(FloBodySolve *solve, FloWorld *world, const double *others, double speed,
                           int n_iterations);
// After the iterations: adds the impulses of contacts to six numbers for each node, and keeps what the next
// step starts from. Impulses of joints are not among them; see flo_world_move_joined.
void flo_body_solve_take(const FloBodySolve *solve, FloWorld *world, double *impulses);
// Gives a node these impulses, without the part that its kick contained.
void flo_body_solve_push(const FloBodySolve *solve, FloWorld *world, size_t node, const double impulse[6]);
// Adds the forces of contacts on walls to quadruples per wall sample.
void flo_body_solve_add_to_walls(const FloBodySolve *solve, const FloWorld *world, float *force);
void flo_body_solve_free(FloBodySolve *solve, FloMemory *memory);

#endif
