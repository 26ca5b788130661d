// The longest steps that contacts allow.
#include "coupling/monolithic/monolithic.h"

double flo_monolithic_contact_dt(const FloWorld *world, const FloMonolithic *mono) {
  const bool has_fluid = world->sets[FLO_SET_FLUID].count > 0;
  return has_fluid && mono->has_dry_contacts == 0 ? INFINITY : flo_world_dry_dt(world);
}
