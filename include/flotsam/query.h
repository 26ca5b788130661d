// Asking a world: what is in it, where things touch, what a ray meets, how the fluid moves at a point. And
// its state as a file or a block of memory.
//
// Functions that fill a list get its capacity and return how many entries there are, which may be more than
// that. Call them with a capacity of 0 to learn the number.
#ifndef FLOTSAM_QUERY_H
#define FLOTSAM_QUERY_H

#include "joints.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- What is there ----

// The ids of all things that were not removed, in the order in which they were added.
FLO_API size_t flo_world_list_bodies(const FloWorld *world, FloBodyId *ids, size_t capacity);
FLO_API size_t flo_world_list_joints(const FloWorld *world, FloJointId *ids, size_t capacity);
FLO_API size_t flo_world_list_materials(const FloWorld *world, FloMaterialId *ids, size_t capacity);
FLO_API size_t flo_world_list_emitters(const FloWorld *world, FloEmitterId *ids, size_t capacity);
FLO_API size_t flo_world_list_sinks(const FloWorld *world, FloSinkId *ids, size_t capacity);
// The first thing with that name. FLO_BAD_INPUT if there is none.
FLO_API FloStatus flo_world_find_body(const FloWorld *world, const char *name, FloBodyId *id,
                                      FloError *error);
FLO_API FloStatus flo_world_find_joint(const FloWorld *world, const char *name, FloJointId *id,
                                       FloError *error);
FLO_API FloStatus flo_world_find_material(const FloWorld *world, const char *name, FloMaterialId *id,
                                          FloError *error);

// What does not change in each step. Its state is that of flo_world_body_state.
typedef struct FloBodyInfo {
  const char *name; // valid until something is added to or removed from the world
  FloBodyKind kind;
  FloMaterialId material; // zeroed: none
  FloFilter filter;
  void *user_data;
  double mass;        // [kg]; 0: forces do not move it
  double centre[3];   // its centre of mass now, in the world; of walls, its position [m]
  double inertia[6];  // of a rigid body about that centre now: xx, yy, zz, xy, yz, zx [kg m²]; else zeros
  double reach;       // no point is farther from its position than this now [m]
  bool is_held;       // until its release
  size_t n_samples;   // that fluid feels
  size_t n_displaced; // fluid particles that were inside it when it was added
} FloBodyInfo;
FLO_API FloStatus flo_world_body_info(const FloWorld *world, FloBodyId body, FloBodyInfo *info,
                                      FloError *error);

typedef struct FloJointInfo {
  const char *name; // valid until something is added to or removed from the world
  FloJointKind kind;
  FloBodyId body, to; // zeroed: the world, or the joint is a gear
  void *user_data;
} FloJointInfo;
FLO_API FloStatus flo_world_joint_info(const FloWorld *world, FloJointId joint, FloJointInfo *info,
                                       FloError *error);
// The definition of a material with all values that follow from others. Its name is valid until
// something is added to or removed from the world.
FLO_API FloStatus flo_world_material_info(const FloWorld *world, FloMaterialId material, FloMaterialDef *info,
                                          FloError *error);

// The present surface of a body as triangles. Its arrays are valid until the next step or change of the
// world.
typedef struct FloBodyMesh {
  const double *vertices;    // three coordinates each, in the world [m]
  const uint32_t *triangles; // three vertices each; in two dimensions segments: the last two are the same
  size_t n_vertices, n_triangles;
} FloBodyMesh;
// Of a cloth or elastic body: where its surface is now. FLO_UNSUPPORTED for bodies that keep their shape.
FLO_API FloStatus flo_world_body_mesh(const FloWorld *world, FloBodyId body, FloBodyMesh *mesh,
                                      FloError *error);
// The velocity of the material point of a body that is at, or nearest to, a point [m/s].
FLO_API FloStatus flo_world_body_velocity_at(const FloWorld *world, FloBodyId body, const double point[3],
                                             double velocity[3], FloError *error);

// ---- Contacts ----

// A point at which two bodies pressed on each other in the last step.
typedef struct FloContactInfo {
  FloBodyId body, other;
  double point[3];   // at the start of the step [m]
  double normal[3];  // out of `other`
  double gap;        // distance of the surfaces there, negative if they overlap [m]
  double impulse[3]; // on `body` in that step, with friction; `other` got the opposite [N s]
} FloContactInfo;
// The list is empty after a world was changed or restored, until its next step.
FLO_API size_t flo_world_list_contacts(const FloWorld *world, FloContactInfo *contacts, size_t capacity);

// ---- Where bodies are. `mask`: only bodies whose filter category has one of these bits ----

typedef struct FloRayHit {
  bool is_hit;
  FloBodyId body;
  double point[3];
  double normal[3]; // out of the body
  double share;     // of the way
} FloRayHit;
// The first body on the way from `origin` to origin + way. A ray that starts inside a body hits it at once.
FLO_API FloStatus flo_world_cast_ray(const FloWorld *world, const double origin[3], const double way[3],
                                     uint32_t mask, FloRayHit *hit, FloError *error);

typedef struct FloNearestPoint {
  bool is_found;
  FloBodyId body;
  double point[3];  // on its surface
  double distance;  // negative inside [m]
  double normal[3]; // out of the body
} FloNearestPoint;
// The surface that is nearest to a point, at most `farthest` away.
FLO_API FloStatus flo_world_closest_point(const FloWorld *world, const double point[3], double farthest,
                                          uint32_t mask, FloNearestPoint *closest, FloError *error);
// The bodies that a ball touches; with radius 0, those around a point. `n` is their number.
FLO_API FloStatus flo_world_overlap_ball(const FloWorld *world, const double centre[3], double radius,
                                         uint32_t mask, FloBodyId *ids, size_t capacity, size_t *n,
                                         FloError *error);

// ---- Fluid at points ----

// Interpolated from the fluid around a point: the density is the SPH sum, the others are means with the same
// weights. All are zero where there is no fluid.
typedef struct FloPointSample {
  double density;     // [kg/m³]
  double pressure;    // [Pa]
  double velocity[3]; // [m/s]
} FloPointSample;
// `points` holds n triples. Particles are where the last step found them.
FLO_API FloStatus flo_world_sample_points(FloWorld *world, size_t n, const double *points,
                                          FloPointSample *samples, FloError *error);

// ---- States outside the world ----

// A saved state as a block of bytes. `size` becomes the number of bytes; with a buffer of NULL nothing else
// is done. The format is the same on all machines whose numbers have the same byte order; reading refuses
// others.
FLO_API FloStatus flo_state_pack(const FloState *state, void *buffer, size_t capacity, size_t *size,
                                 FloError *error);
// Makes a state from such a block. Damaged blocks are refused.
FLO_API FloStatus flo_state_unpack(const void *buffer, size_t size, FloState **state, FloError *error);
FLO_API FloStatus flo_state_write(const FloState *state, const char *path, FloError *error);
FLO_API FloStatus flo_state_read(const char *path, FloState **state, FloError *error);

#ifdef __cplusplus
}
#endif
#endif
