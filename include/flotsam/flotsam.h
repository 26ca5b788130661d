// The public interface of Flotsam: create a world, add things, step, query.
//
//   FloError error;
//   FloWorldDef def = flo_default_world_def();
//   FloWorld *world;
//   if (flo_world_create(&def, &world, &error)) { fputs(error.text, stderr); exit(1); }
//   ... add materials, bodies, fluids ...
//   while (flo_world_time(world) < 1.0) if (flo_world_step(world, NULL, &error)) break;
//   flo_world_destroy(world);
//
// Nothing but the assert handler is global: several worlds may exist at once and may be used from different
// threads, each by one thread at a time. The library never prints and never exits. Functions that can fail
// return a FloStatus (FLO_OK is zero) and fill the FloError, whose pointer may be NULL.
#ifndef FLOTSAM_H
#define FLOTSAM_H

#include "types.h"

#if defined(__GNUC__)
#define FLO_API __attribute__((visibility("default")))
#else
#define FLO_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FloWorld FloWorld;
typedef struct FloState FloState; // of a world, kept

// ---- Defaults ----
FLO_API FloWorldDef flo_default_world_def(void); // 3D, 2 cm, water scale, gravity along -z, method monolithic
FLO_API FloMaterialDef flo_default_material_def(void); // water
FLO_API FloFluidDef flo_default_fluid_def(void);
FLO_API FloBodyDef flo_default_body_def(void);
FLO_API FloMotionDef flo_default_motion_def(void);
FLO_API FloEmitterDef flo_default_emitter_def(void);
FLO_API FloSinkDef flo_default_sink_def(void);
FLO_API FloFillDef flo_default_fill_def(void);
FLO_API FloPose flo_pose_identity(void);

// ---- World ----
FLO_API FloStatus flo_world_create(const FloWorldDef *def, FloWorld **world, FloError *error);
FLO_API void flo_world_destroy(FloWorld *world); // NULL is fine

// Parameters of the world's method, by name; allowed at any time between steps.
FLO_API FloStatus flo_world_set_param(FloWorld *world, const char *name, double value, FloError *error);
FLO_API FloStatus flo_world_get_param(const FloWorld *world, const char *name, double *value,
                                      FloError *error);

// Adding things. The id (or count) that is returned may be of no interest: pass NULL.
FLO_API FloStatus flo_world_add_material(FloWorld *, const FloMaterialDef *, FloMaterialId *, FloError *);
// Add bodies before fluids: fluid is left out where a solid stands.
FLO_API FloStatus flo_world_add_body(FloWorld *, const FloBodyDef *, FloBodyId *, FloError *);
FLO_API FloStatus flo_world_add_fluid(FloWorld *, const FloFluidDef *, size_t *n_added, FloError *);
// Fluid particles one by one: `positions` holds n triples, `velocities` n triples or NULL.
FLO_API FloStatus flo_world_add_particles(FloWorld *, FloMaterialId, size_t n, const double *positions,
                                          const float *velocities, FloError *);
// Bodies that hold the fluid must have been added before. Fails where the fluid would run out.
FLO_API FloStatus flo_world_add_fill(FloWorld *, const FloFillDef *, size_t *n_added, FloError *);
FLO_API FloStatus flo_world_add_emitter(FloWorld *, const FloEmitterDef *, FloEmitterId *, FloError *);
FLO_API FloStatus flo_world_add_sink(FloWorld *, const FloSinkDef *, FloSinkId *, FloError *);
FLO_API FloStatus flo_world_remove_emitter(FloWorld *, FloEmitterId, FloError *);
FLO_API FloStatus flo_world_remove_sink(FloWorld *, FloSinkId, FloError *);

// One time step. `info` may be NULL. After FLO_DIVERGED the world may be queried and drawn, but not stepped
// on: its velocities may be those that went wrong, and its positions half moved.
FLO_API FloStatus flo_world_step(FloWorld *world, FloStepInfo *info, FloError *error);
// The same, but not beyond `time`: shortened to land on it exactly, or to come half way where two are left.
FLO_API FloStatus flo_world_step_until(FloWorld *world, double time, FloStepInfo *info, FloError *error);
// Steps until `time`, the last one shortened to land on it exactly.
FLO_API FloStatus flo_world_advance(FloWorld *world, double time, FloStepInfo *info, FloError *error);
// The longest time step allowed now, and a word for what limits it ("sound", "speed", "force", ...).
FLO_API double flo_world_max_dt(FloWorld *world, const char **limited_by);

// ---- Queries ----
FLO_API double flo_world_time(const FloWorld *world);
FLO_API size_t flo_world_count(const FloWorld *world, FloSet set);
FLO_API FloMeasurements flo_world_measure(FloWorld *world);
FLO_API FloStatus flo_world_body_state(FloWorld *world, FloBodyId body, FloBodyState *state, FloError *error);
// From now on the mean forces on bodies are those of later steps.
FLO_API void flo_world_restart_averages(FloWorld *world);
// A field by name ("x", "vx", "density", "id", ...); FLO_BAD_INPUT if that set has no such field.
FLO_API FloStatus flo_world_view(const FloWorld *, FloSet, const char *field, FloView *view, FloError *error);
// Names of a set's fields, one after the other; NULL past the last.
FLO_API const char *flo_world_field_name(const FloWorld *world, FloSet set, size_t k);
// Density and pressure at a point, interpolated from the fluid around it; 0 where there is none.
FLO_API void flo_world_sample(FloWorld *world, const double point[3], double *density, double *pressure);
// After FLO_DIVERGED: the particle that went wrong first, or if the failure lay not with a single one, the
// most accelerated or the fastest; where it is now, which may be anywhere; and the time step that failed [s].
// Any pointer may be NULL. False if the last step did not fail so.
FLO_API bool flo_world_bad_particle(const FloWorld *world, double position[3], uint32_t *id,
                                    double *time_step);
// A hash over the state of every particle and body, independent of their order in memory and of the thread
// count.
FLO_API uint64_t flo_world_hash(const FloWorld *world);
// A copy of the state of a world, from which it can go on to the same bits. Pass NULL in *state, or an
// earlier copy to be overwritten. It may outlive the world.
FLO_API FloStatus flo_world_save(const FloWorld *world, FloState **state, FloError *error);
// Brings a world to that state. It must have been made like the one that was saved: the same definition,
// materials, bodies, emitters and sinks in the same order; its fluid is replaced. On failure it stays as it
// was, unless memory ran out.
FLO_API FloStatus flo_world_restore(FloWorld *world, const FloState *state, FloError *error);
FLO_API void flo_state_destroy(FloState *state); // NULL is fine

// Where the time went since the world was made: stage names and seconds; NULL past the last stage.
FLO_API const char *flo_world_stage(const FloWorld *world, size_t k, double *seconds);
// Bytes held by the world.
FLO_API size_t flo_world_memory(const FloWorld *world);

// ---- About ----
// Called instead of abort() when a caller's mistake is found; it must not return. NULL restores the default.
FLO_API void flo_set_assert_handler(void (*handler)(const char *condition, const char *file, int line));
FLO_API const char *flo_version(void);
FLO_API const char *flo_status_name(FloStatus status);
FLO_API const char *flo_simd_name(void); // which vector instructions are in use: "avx2" or "generic"
FLO_API size_t flo_method_count(void);
FLO_API const char *flo_method_name(size_t k);
FLO_API const char *flo_method_paper(const char *method);
FLO_API const FloParam *flo_method_params(const char *method, size_t *count);
// What the values 0, 1, ... of a parameter are called, ended by NULL; NULL: it is a plain number.
FLO_API const char *const *flo_method_words(const char *method, const char *param);
FLO_API const char *flo_kernel_name(FloKernel kernel);
FLO_API bool flo_kernel_from_name(const char *name, FloKernel *kernel);

#ifdef __cplusplus
}
#endif
#endif
