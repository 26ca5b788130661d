// The longest steps that contacts allow.
#include "coupling/monolithic/monolithic.h"

double flo_monolithic_contact_dt(const FloWorld *world, const FloMonolithic *mono) {
  const bool has_fluid = world->sets[FLO_SET_FLUID].count > 0;
  return has_fluid && mono->has_dry_contacts == 0 ? INFINITY : flo_world_dry_dt(world);
}

double flo_monolithic_peak_height(const FloWorld *world, const FloMonolithic *mono) {
  double g = vec_length(world->def.gravity);
  return g > 0 ? mono->expected.peak / g : 0;
}
