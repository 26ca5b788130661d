// Worlds with soft bodies.
#ifndef TEST_SUPPORT_SOFT_WORLDS_H
#define TEST_SUPPORT_SOFT_WORLDS_H

#include "bodies/soft_body.h"
#include "support/worlds.h"
#include "world/world.h"

#include <string.h>

static inline void advance(FloWorld *world, double time) {
  FloError error;
  assert_ok(flo_world_advance(world, time, NULL, &error), &error);
}

static inline FloBody *body_of(FloWorld *world, const char *name) {
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (strcmp(flo_bodies(world)[k].name, name) == 0) return &flo_bodies(world)[k];
  fail_msg("no body '%s'", name);
  return NULL;
}

static inline double energy_of(FloWorld *world) {
  const FloMeasurements m = flo_world_measure(world);
  return m.kinetic_energy + m.potential_energy;
}

#endif
