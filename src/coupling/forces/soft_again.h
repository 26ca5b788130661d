// Steps in which contacts change soft bodies much are solved several times.
//
// A solver knows how a soft body responds to small impulses. A ball that hits a sheet stretches it within the
// step, and a stretched sheet is far stiffer than a flat one; one that is pushed together buckles. So the
// body takes the forces that were found, and goes towards the velocities that the solver expects: as far as
// the potential of its step falls. The solver then finds what is to be added, with the response there. That
// is Newton's method with a search along each way, so elastic energy never grows by a response that does not
// hold, and the last solution changes almost nothing.
#ifndef FLO_COUPLING_FORCES_SOFT_AGAIN_H
#define FLO_COUPLING_FORCES_SOFT_AGAIN_H

#include "state/state.h"

// What a solver knows of all nodes; the first three of `stride` numbers belong to a node.
typedef struct FloSoftAgain {
  double dt;
  size_t stride;
  const double *found, *velocity; // forces of the last solution [N], and velocities with them
  double *taken;                  // forces that soft bodies have taken; see flo_world_kick_bodies
  double *start;                  // velocities with these
  double *impulses;               // room for three numbers of each node
} FloSoftAgain;

// After the solution of a round, the first of which is 1: whether another one is needed. Then soft bodies
// have taken what was found.
bool flo_soft_again(FloWorld *world, const FloSoftAgain *again, int round);
// Finds the response of soft bodies anew. They take nothing more.
void flo_soft_refresh(FloWorld *world, const FloSoftAgain *again);
// Whether contacts touch soft bodies, so that steps may need several rounds.
bool flo_world_has_soft_contacts(const FloWorld *world);

#endif
