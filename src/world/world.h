// Parts of a world that methods do not use: adding things, streams, the step.
#ifndef FLO_WORLD_WORLD_H
#define FLO_WORLD_WORLD_H

#include "state/state.h"

// ---- Arguments (arguments.c): what callers get wrong is refused in every build ----

// Returns from the calling function if a pointer is NULL.
#define FLO_NEED(pointer, error)                                                                             \
  do {                                                                                                       \
    if (!(pointer)) return flo_fail(error, FLO_BAD_INPUT, "%s: is NULL, but it is needed", #pointer);        \
  } while (0)

// NULL: the world is NULL, or has no such thing any more.
FloBody *flo_world_body_at(const FloWorld *world, FloBodyId id);
FloJoint *flo_world_joint_at(const FloWorld *world, FloJointId id);
FloEmitter *flo_world_emitter_at(const FloWorld *world, FloEmitterId id);
// The same as a failure.
FloStatus flo_world_need_body(const FloWorld *world, FloBodyId id, FloBody **body, FloError *error);
FloStatus flo_world_need_joint(const FloWorld *world, FloJointId id, FloJoint **joint, FloError *error);
// Fails unless three numbers are given, are finite, and stay in the plane of a world in two dimensions.
FloStatus flo_world_check_vector(const FloWorld *world, const double vector[3], const char *what,
                                 FloError *error);
// The same for an angular quantity, which is about z only in two dimensions.
FloStatus flo_world_check_turn(const FloWorld *world, const double vector[3], const char *what,
                               FloError *error);
static inline FloBodyId flo_world_body_id(const FloWorld *world, size_t k) {
  return (FloBodyId){(uint16_t)k, flo_bodies(world)[k].generation};
}

// ---- Shared by the functions that add things ----

// Appends an object that has an id; the range of ids limits the number of objects.
FloStatus flo_world_append(FloWorld *world, FloList *list, const void *element, size_t size, FloError *error);
// Adds a body of any kind; flo_world_add_body finds the kind by its number.
FloStatus flo_world_add_body_of(FloWorld *world, const FloKind *kind, const FloBodyDef *def, FloBodyId *id,
                                FloError *error);
void flo_world_free_bodies(FloWorld *world);
// The solid of a shape: an existing one if possible, otherwise a new one.
FloStatus flo_world_find_solid(FloWorld *world, const FloShape *shape, const FloSolid **solid,
                               FloError *error);
void flo_world_free_solids(FloWorld *world);
FloStatus flo_world_check_material(const FloWorld *world, FloMaterialId id, FloError *error);
// Fills in fluid particle i; the set must have space for it.
void flo_world_put_particle(FloWorld *world, size_t i, uint16_t material, const double x[3],
                            const double v[3]);

FloStatus flo_world_check_mover(const FloWorld *world, const FloKind *kind, FloError *error);
// Makes the data of the body's kind.
FloStatus flo_world_make_kind(FloWorld *world, const FloBodyDef *def, FloBody *body, FloError *error);
void flo_world_discard_body(FloWorld *world, FloBody *body);

// ---- Shared by the functions that change a world ----

// Removes the particles for which the function returns true.
typedef bool (*FloIsGoneFn)(const FloWorld *world, size_t i, const void *context);
FloStatus flo_world_remove_fluid_if(FloWorld *world, FloIsGoneFn is_gone, const void *context, size_t *n_gone,
                                    FloError *error);
// Whether particle i is inside a FloBody, or so near that the body would push it away.
bool flo_world_is_fluid_in(const FloWorld *world, size_t i, const void *body);
void flo_world_forget_contacts_of(FloWorld *world, uint32_t body);
// Finds out whether any body does not touch all others.
void flo_world_look_at_filters(FloWorld *world);
// A body that has become another kind moves as it did.
void flo_world_keep_motion(FloBody *body, const FloBodyState *before);
void flo_world_drop_joint(FloJoint *joint);

// ---- Parts of a step ----

// Forces of the host push bodies for dt (push.c); when the step is done, they are forgotten.
void flo_world_act_loads(FloWorld *world, double dt);
void flo_world_clear_loads(FloWorld *world);
FloStatus flo_world_emit(FloWorld *world, FloError *error);
FloStatus flo_world_drain(FloWorld *world, FloError *error);
// Adds the forces of the last step to the averages of forces.
FloStatus flo_world_add_impulses(FloWorld *world, FloError *error);
// After a step that failed: the first fluid particle that is out of reach, or else the one whose speed and
// acceleration need the shortest step.
size_t flo_world_find_culprit(const FloWorld *world);

#endif
