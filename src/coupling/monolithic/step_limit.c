// The longest steps that contacts allow.
#include "coupling/monolithic/monolithic.h"

// What an iteration leaves of a contact's error is a share of the way that gravity moves things by in a step.
// So that dry stones settle by less than shows, that way is at most this share of a spacing.
#define FALL_SHARE 0.002

double flo_monolithic_contact_dt(const FloWorld *world, const FloMonolithic *mono) {
  double g = vec_length(world->def.gravity);
  bool has_fluid = world->sets[FLO_SET_FLUID].count > 0;
  if (world->nodes.count == 0 || (has_fluid && mono->has_dry_contacts == 0) || !(g > 0)) return INFINITY;
  return sqrt(FALL_SHARE * world->def.spacing / g);
}

double flo_monolithic_peak_height(const FloWorld *world, const FloMonolithic *mono) {
  double g = vec_length(world->def.gravity);
  return g > 0 ? mono->expected.peak / g : 0;
}
