// A world: create it, add things, step, and ask for what every run reports. Include flotsam.h instead, which
// says how functions answer and what they refuse.
#ifndef FLOTSAM_WORLD_H
#define FLOTSAM_WORLD_H

#include "joints.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Defaults ----
FLO_API FloWorldDef flo_default_world_def(void); // 3D, spacing 2 cm, gravity along -z, method monolithic
FLO_API FloMaterialDef flo_default_material_def(void); // water
FLO_API FloFluidDef flo_default_fluid_def(void);
FLO_API FloBodyDef flo_default_body_def(void);
FLO_API FloMotionDef flo_default_motion_def(void);
FLO_API FloEmitterDef flo_default_emitter_def(void);
FLO_API FloSinkDef flo_default_sink_def(void);
FLO_API FloFillDef flo_default_fill_def(void);
FLO_API FloJointDef flo_default_joint_def(void); // a hinge without motor, limits and friction
FLO_API FloPose flo_pose_identity(void);

// ---- World ----
FLO_API FloStatus flo_world_create(const FloWorldDef *def, FloWorld **world, FloError *error);
FLO_API void flo_world_destroy(FloWorld *world); // NULL is fine

// Parameters of the world's method, by name; allowed at any time between steps.
FLO_API FloStatus flo_world_set_param(FloWorld *world, const char *name, double value, FloError *error);
FLO_API FloStatus flo_world_get_param(const FloWorld *world, const char *name, double *value,
                                      FloError *error);

// Adding things. Each function returns an id (or a count) through a pointer. Pass NULL if you do not need it.
FLO_API FloStatus flo_world_add_material(FloWorld *, const FloMaterialDef *, FloMaterialId *, FloError *);
// Surface tension between two fluids [N/m]; 0: none. `unified` only. Can be set anew at any time between
// steps. It is no part of a saved state.
FLO_API FloStatus flo_world_set_interface(FloWorld *, FloMaterialId, FloMaterialId, double surface_tension,
                                          FloError *);
// Add bodies before fluids: a fluid particle is not added where a solid already is.
FLO_API FloStatus flo_world_add_body(FloWorld *, const FloBodyDef *, FloBodyId *, FloError *);
FLO_API FloStatus flo_world_add_fluid(FloWorld *, const FloFluidDef *, size_t *n_added, FloError *);
// Fluid particles one by one: `positions` holds n triples, `velocities` n triples or NULL.
FLO_API FloStatus flo_world_add_particles(FloWorld *, FloMaterialId, size_t n, const double *positions,
                                          const float *velocities, FloError *);
// Add the bodies that hold the fluid first. Fails if the fluid would flow out of them.
FLO_API FloStatus flo_world_add_fill(FloWorld *, const FloFillDef *, size_t *n_added, FloError *);
FLO_API FloStatus flo_world_add_emitter(FloWorld *, const FloEmitterDef *, FloEmitterId *, FloError *);
FLO_API FloStatus flo_world_add_sink(FloWorld *, const FloSinkDef *, FloSinkId *, FloError *);
// Add bodies first. Bodies that a joint joins pass through each other unless it says otherwise. Fails if the
// parts of the joint do not meet, or if its coordinate is outside its limits.
FLO_API FloStatus flo_world_add_joint(FloWorld *, const FloJointDef *, FloJointId *, FloError *);
// Changes a part of a joint between steps: motor, limits, friction, release, ...
FLO_API FloStatus flo_world_set_joint(FloWorld *, FloJointId, FloJointPart, double value, FloError *);
FLO_API FloStatus flo_world_remove_emitter(FloWorld *, FloEmitterId, FloError *);
FLO_API FloStatus flo_world_remove_sink(FloWorld *, FloSinkId, FloError *);

// Does one time step. `info` may be NULL. After FLO_DIVERGED the world may still be queried and drawn, but no
// further step is allowed: velocities may be wrong, and only some positions may have been updated.
FLO_API FloStatus flo_world_step(FloWorld *world, FloStepInfo *info, FloError *error);
// Does one step that does not go beyond `time`. If one normal step would reach `time`, the step is shortened
// to end exactly there. If two would, the step covers half of the time that remains.
FLO_API FloStatus flo_world_step_until(FloWorld *world, double time, FloStepInfo *info, FloError *error);
// Does steps until `time`. The last steps are shortened so that the final one ends exactly at `time`.
FLO_API FloStatus flo_world_advance(FloWorld *world, double time, FloStepInfo *info, FloError *error);
// The longest time step allowed now, and a word for what limits it ("sound", "speed", "force", ...).
FLO_API double flo_world_max_dt(FloWorld *world, const char **limited_by);

// ---- Queries ----
FLO_API double flo_world_time(const FloWorld *world);
FLO_API size_t flo_world_count(const FloWorld *world, FloSet set);
FLO_API FloMeasurements flo_world_measure(FloWorld *world);
FLO_API FloStatus flo_world_body_state(FloWorld *world, FloBodyId body, FloBodyState *state, FloError *error);
FLO_API FloStatus flo_world_joint_state(const FloWorld *world, FloJointId joint, FloJointState *state,
                                        FloError *error);
// Of a cloth or an elastic body; other bodies are bad input.
FLO_API FloStatus flo_world_soft_state(const FloWorld *world, FloBodyId body, FloSoftState *state,
                                       FloError *error);
// Starts the mean forces on bodies anew: they are averages over the steps that follow.
FLO_API void flo_world_restart_averages(FloWorld *world);
// A field by name ("x", "vx", "density", "id", ...); FLO_BAD_INPUT if that set has no such field.
FLO_API FloStatus flo_world_view(const FloWorld *, FloSet, const char *field, FloView *view, FloError *error);
// The name of field k of a set; NULL if k is past the last field.
FLO_API const char *flo_world_field_name(const FloWorld *world, FloSet set, size_t k);
// Density and pressure at a point, interpolated from the fluid around it; 0 where there is no fluid.
FLO_API void flo_world_sample(FloWorld *world, const double point[3], double *density, double *pressure);
// After FLO_DIVERGED: the position and id of the first particle that became invalid, and the time step that
// failed [s]. If no single particle caused the failure, the one with the largest acceleration or speed is
// reported. The position may be far outside the scene. Any pointer may be NULL. Returns false if the last
// step did not diverge.
FLO_API bool flo_world_bad_particle(const FloWorld *world, double position[3], uint32_t *id,
                                    double *time_step);
// A hash over the state of every particle and body, independent of their order in memory and of the thread
// count.
FLO_API uint64_t flo_world_hash(const FloWorld *world);
// Copies the state of a world. A world restored from the copy continues with bit-identical results. Set
// *state to NULL before the first call, or to an earlier copy, which is then overwritten. The copy may
// outlive the world.
FLO_API FloStatus flo_world_save(const FloWorld *world, FloState **state, FloError *error);
// Restores a saved state. The world must have been created like the saved one: the same definition, and the
// same materials, interfaces, bodies, emitters and sinks in the same order. Its fluid is replaced. If the
// call fails, the world stays unchanged, except when memory ran out.
FLO_API FloStatus flo_world_restore(FloWorld *world, const FloState *state, FloError *error);
FLO_API void flo_state_destroy(FloState *state); // NULL is fine

// The residuals that the method kept last; n_solvers is 0 if it has kept none. Methods with the parameter
// `history` keep them. They are valid until the next step.
FLO_API FloResiduals flo_world_residuals(const FloWorld *world);
// The name of stage k of a step, and the seconds spent in it since the world was created; NULL if k is past
// the last stage.
FLO_API const char *flo_world_stage(const FloWorld *world, size_t k, double *seconds);
// Memory that the world uses [bytes].
FLO_API size_t flo_world_memory(const FloWorld *world);

// ---- About ----
// Sets the function that is called instead of abort() when the library detects a programming error of its
// caller. The function must not return. NULL restores the default.
FLO_API void flo_set_assert_handler(void (*handler)(const char *condition, const char *file, int line));
FLO_API const char *flo_version(void);
FLO_API const char *flo_status_name(FloStatus status);
FLO_API const char *flo_simd_name(void); // the vector instructions in use: "avx2" or "generic"
FLO_API size_t flo_method_count(void);
FLO_API const char *flo_method_name(size_t k);
FLO_API const char *flo_method_paper(const char *method);
FLO_API const FloParam *flo_method_params(const char *method, size_t *count);
// The words for the values 0, 1, ... of a parameter, ended by NULL. Returns NULL if the parameter is a plain
// number.
FLO_API const char *const *flo_method_words(const char *method, const char *param);
FLO_API const char *flo_joint_kind_name(FloJointKind kind); // "hinge", "slider", ...
FLO_API const char *flo_kernel_name(FloKernel kernel);
FLO_API bool flo_kernel_from_name(const char *name, FloKernel *kernel);

#ifdef __cplusplus
}
#endif
#endif
