// Small functions for all parts of a world.
#include "state/state.h"

#include <stdarg.h>
#include <stdio.h>

void flo_world_log(const FloWorld *world, FloLogLevel level, const char *format, ...) {
  char text[512];
  if (!world->def.log.write) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  world->def.log.write(world->def.log.context, level, text);
}

void flo_world_note_unsettled(FloWorld *world, FloUnsettled which) {
  static const char *const what[FLO_N_UNSETTLED] = {
      "the forces inside a soft body did not balance",
      "contacts of soft bodies did not settle, so they may overlap or gain energy",
      "soft bodies were not parted from all bodies that they had entered",
  };
  const size_t n = ++world->unsettled[which];
  if (!flo_is_told(n)) return;
  flo_world_log(world, FLO_LOG_WARNING,
                "at %g s %s (%zu %s so far); use a shorter time step, or a softer material", world->time,
                what[which], n, n == 1 ? "time" : "times");
}

double flo_world_stage_done(FloWorld *world, FloStage stage, double since) {
  double now = flo_seconds();
  world->stage_seconds[stage] += now - since;
  return now;
}

double flo_world_rest_volume(const FloWorld *world) {
  double s = world->def.spacing;
  return world->def.dim == 2 ? s * s : s * s * s;
}

void flo_world_note_added(FloWorld *world) {
  flo_epoch_note(world, &world->epochs.things);
  world->epochs.order = world->epochs.things;
}
