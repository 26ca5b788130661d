// The nodes that carry a sample of a body that forces move.
#ifndef FLO_COUPLING_FORCES_CARRIED_H
#define FLO_COUPLING_FORCES_CARRIED_H

#include "state/state.h"

// Indices of the nodes among all nodes, their shares, and the vectors from them to the sample.
typedef struct FloCarried {
  int count;
  uint32_t nodes[FLO_MAX_CARRIERS];
  double shares[FLO_MAX_CARRIERS], arms[FLO_MAX_CARRIERS][3];
} FloCarried;

// Of a sample of the rigid set.
FloCarried flo_world_carried(const FloWorld *world, size_t sample);
// The same with arms that lead to a point near the sample, as in a contact; `sample` is that of
// flo_world_find_sample.
FloCarried flo_world_carried_at(const FloWorld *world, uint32_t sample, const double x[3]);
// Of a point of contact: the nodes that carry its `body`, or its `other` if forces move that.
FloCarried flo_contact_own_carried(const FloWorld *world, const FloContactPoint *point);
FloCarried flo_contact_other_carried(const FloWorld *world, const FloContactPoint *point);
// The velocity of a wall at x for a body that these nodes carry there. A node moves straight on in a step and
// turns. If it is to stay on a wall that turns, it needs the velocity of the wall at its own position, where
// the wall's chord is, and the wall's spin.
void flo_wall_velocity(const FloWorld *world, const FloBody *wall, const double x[3], const FloCarried *own,
                       double v[3]);

#endif
