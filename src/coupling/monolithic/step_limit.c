// The longest steps that pressure and contacts allow.
#include "coupling/forces/step_limit.h"

#include "coupling/monolithic/monolithic.h"

void flo_monolithic_note_pressure(const FloWorld *world, FloMonolithic *mono) {
  mono->peak = flo_peak_follow(world, mono->peak, mono->pressure, mono->dt);
}

void flo_monolithic_expect_pressure(const FloWorld *world, FloMonolithic *mono) {
  if (!(mono->peak > 0)) mono->peak = flo_peak_expect(world); // what was measured is better
}

double flo_monolithic_stable_dt(const FloWorld *world, const FloMonolithic *mono) {
  return flo_peak_stable_dt(world, mono->peak);
}

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
  return g > 0 ? mono->peak / g : 0;
}
