// Parts of a world that methods do not use: adding things, streams, the step.
#ifndef FLO_WORLD_WORLD_H
#define FLO_WORLD_WORLD_H

#include "state/state.h"

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

// ---- Parts of a step ----

FloStatus flo_world_emit(FloWorld *world, FloError *error);
FloStatus flo_world_drain(FloWorld *world, FloError *error);
// Adds the forces of the last step to the averages of forces.
FloStatus flo_world_add_impulses(FloWorld *world, FloError *error);
// After a step that failed: the first fluid particle that is out of reach, or else the one whose speed and
// acceleration need the shortest step.
size_t flo_world_find_culprit(const FloWorld *world);

#endif
