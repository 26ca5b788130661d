// Walls: static bodies, which never move, and kinematic bodies, which follow prescribed motions. Forces do
// not move them.
#include "bodies/drive.h"
#include "bodies/motion.h"

#include <string.h>

typedef struct Kinematic {
  FloMotionDef *motions;
  size_t n_motions, n_room; // number of motions, and number that the array can hold
  FloDrive drive;
} Kinematic;

static const FloStateField kinematic_fields[] = {FLO_STATE_FIELD(Kinematic, drive), {0}};

// ---- Static ----

static FloStatus static_make(FloBody *body, const FloBodyDef *def, const FloBodyMaking *making,
                             FloError *error) {
  (void)def, (void)making, (void)error;
  flo_motion_evaluate(NULL, 0, &body->start, 0, &body->state);
  return FLO_OK;
}

const FloKind flo_static_kind = {
    .name = "static", .set = FLO_SET_BOUNDARY, .make = static_make, FLO_POSED_FUNCTIONS};

// ---- Kinematic ----

// While the fluid settles, before time zero, the body stays where it will start.
static void kinematic_follow(FloBody *body, double time) {
  const Kinematic *own = body->own;
  if (own->drive.kind == FLO_DRIVE_NONE)
    flo_motion_evaluate(own->motions, own->n_motions, &body->start, fmax(time, 0), &body->state);
  else
    flo_drive_evaluate(&own->drive, fmax(time, 0), &body->state);
  if (time >= 0) return;
  for (int axis = 0; axis < 3; ++axis) body->state.velocity[axis] = body->state.angular_velocity[axis] = 0;
}

static FloStatus copy_keyframes(FloMotionDef *motion, FloMemory *memory, FloError *error) {
  size_t size = motion->n_keyframes * sizeof(FloKeyframe);
  const FloKeyframe *given = motion->keyframes;
  motion->keyframes = NULL;
  if (size == 0) return FLO_OK;
  FloKeyframe *copy = flo_memory_allocate(memory, size);
  if (!copy) return flo_fail(error, FLO_NO_MEMORY, "out of memory for %zu keyframes", motion->n_keyframes);
  memcpy(copy, given, size);
  motion->keyframes = copy;
  return FLO_OK;
}

static FloStatus kinematic_make(FloBody *body, const FloBodyDef *def, const FloBodyMaking *making,
                                FloError *error) {
  Kinematic *own = body->own;
  if (def->n_motions && !def->motions)
    return flo_fail(error, FLO_BAD_INPUT, "motions: is NULL, but there should be %zu", def->n_motions);
  for (size_t k = 0; k < def->n_motions; ++k) FLO_TRY(flo_motion_check(&def->motions[k], making->dim, error));
  if (def->n_motions) {
    own->motions = flo_memory_allocate(making->memory, def->n_motions * sizeof(FloMotionDef));
    if (!own->motions) return flo_fail(error, FLO_NO_MEMORY, "out of memory for %zu motions", def->n_motions);
    own->n_room = def->n_motions;
  }
  // Each motion counts only after its keyframes are copied, so that a failure frees the copies and no others.
  for (; own->n_motions < def->n_motions; ++own->n_motions) {
    own->motions[own->n_motions] = def->motions[own->n_motions];
    FLO_TRY(copy_keyframes(&own->motions[own->n_motions], making->memory, error));
  }
  body->is_moving = own->n_motions > 0;
  kinematic_follow(body, making->time);
  return FLO_OK;
}

static void kinematic_discard(FloBody *body, FloMemory *memory) {
  Kinematic *own = body->own;
  for (size_t k = 0; k < own->n_motions; ++k)
    flo_memory_release(memory, (void *)own->motions[k].keyframes,
                       own->motions[k].n_keyframes * sizeof(FloKeyframe));
  flo_memory_release(memory, own->motions, own->n_room * sizeof(FloMotionDef));
}

static double kinematic_top_speed(const FloBody *body, double reach) {
  const Kinematic *own = body->own;
  if (own->drive.kind != FLO_DRIVE_NONE) return flo_drive_speed(&own->drive, reach);
  return flo_motion_max_speed(own->motions, own->n_motions, &body->start, reach);
}

// After a state was restored: the host may have set it in motion, or not yet.
static void kinematic_refresh(FloBody *body) {
  const Kinematic *own = body->own;
  body->is_moving = own->n_motions > 0 || own->drive.kind != FLO_DRIVE_NONE;
}

void flo_kinematic_drive(FloBody *body, const FloDrive *drive, double time) {
  FLO_ASSERT(body->kind == &flo_kinematic_kind);
  ((Kinematic *)body->own)->drive = *drive;
  kinematic_refresh(body);
  kinematic_follow(body, time);
}

const FloKind flo_kinematic_kind = {.name = "kinematic",
                                    .set = FLO_SET_BOUNDARY,
                                    .size = sizeof(Kinematic),
                                    .fields = kinematic_fields,
                                    .refresh = kinematic_refresh,
                                    .make = kinematic_make,
                                    .discard = kinematic_discard,
                                    .follow = kinematic_follow,
                                    .top_speed = kinematic_top_speed,
                                    FLO_POSED_FUNCTIONS};
