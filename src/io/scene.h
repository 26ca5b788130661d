// Scene files: reads JSON (SI units), checks it, and builds a world from it.
#ifndef FLO_IO_SCENE_H
#define FLO_IO_SCENE_H

#include "flotsam/scenes.h"

enum { FLO_EXPECT_MAX_PAPER = 200 }; // bytes

typedef struct FloExpect {
  char measurement[64];
  double low, high;                     // -INFINITY / INFINITY where not given
  char paper[FLO_EXPECT_MAX_PAPER + 1]; // the paper's value; "": none
} FloExpect;

typedef struct FloProbe {
  char name[64];
  enum {
    FLO_PROBE_PRESSURE,
    FLO_PROBE_WATER_HEIGHT,
    FLO_PROBE_FRONT,
    FLO_PROBE_FORCE,
    FLO_PROBE_TORQUE,
    FLO_PROBE_OUTSIDE
  } kind;
  double point[3]; // PRESSURE: where; WATER_HEIGHT: foot of the vertical line
  int axis;        // FRONT: axis along which the 99.5 % quantile of the fluid is reported
  int body;        // FORCE, TORQUE, OUTSIDE: index into bodies
} FloProbe;

typedef struct FloCamera {
  bool is_set; // otherwise the renderer chooses a camera
  double from[3], look_at[3];
  double field_of_view; // degrees, vertical
} FloCamera;

#define FLO_SCENE_MAX_LENGTH 1e6 // [m] of coordinates and sizes

// Whether a camera is valid: its two points differ, also in the single precision of the renderer.
bool flo_camera_has_sight(const FloCamera *camera);

// What a scene says about a pin besides its definition.
typedef struct FloScenePin {
  char name[64]; // in events; "": none
  size_t to;     // index of the body that it is fixed to
  bool has_to;   // otherwise it is fixed to the world
} FloScenePin;

#define FLO_NO_MATERIAL SIZE_MAX

// A wall, a rigid body, a cloth or an elastic body.
typedef struct FloSceneBody {
  char name[64];
  char look[32];
  FloBodyDef def;
  size_t entry;      // its index in the scene's list of boundaries or bodies
  size_t material;   // of bodies: index; FLO_NO_MATERIAL: none
  FloScenePin *pins; // as many as the definition has
  FloBodyId id;      // valid in the world that flo_scene_build made last
  size_t n_samples;
} FloSceneBody;

// Whether forces move it; otherwise it is a boundary.
static inline bool flo_scene_is_body(const FloSceneBody *body) {
  return body->def.kind != FLO_BODY_STATIC && body->def.kind != FLO_BODY_KINEMATIC;
}
// Whether it changes its shape.
static inline bool flo_scene_is_soft(const FloSceneBody *body) {
  return body->def.kind == FLO_BODY_CLOTH || body->def.kind == FLO_BODY_ELASTIC;
}

typedef struct FloSceneJoint {
  char name[64];
  FloJointDef def; // bodies and joints are set while building
  size_t of[2];    // indices of the bodies (`to` first), or of the joints of a gear
  size_t *events;  // the event of each change
  bool has_to;     // otherwise it leads to the world
  FloJointId id;   // valid in the world that flo_scene_build made last
} FloSceneJoint;

// A change at a given time.
typedef struct FloSceneEvent {
  double time; // [s]
  enum {
    FLO_EVENT_START,
    FLO_EVENT_STOP,
    FLO_EVENT_RELEASE,
    FLO_EVENT_UNPIN,
    FLO_EVENT_SET,
    FLO_EVENT_ADD
  } kind;
  enum {
    FLO_TARGET_BOUNDARY,
    FLO_TARGET_EMITTER,
    FLO_TARGET_SINK,
    FLO_TARGET_BODIES,
    FLO_TARGET_JOINTS,
    FLO_TARGET_FLUID
  } target;
  size_t index;  // index in the scene's bodies, emitters or sinks; FLUID: in the fluids that events add
  size_t entry;  // its index in the scene's list, for messages
  char name[64]; // BODIES: which
  char pins[64]; // UNPIN: name of the pins; "": all
  FloFrictionChange change; // SET
} FloSceneEvent;

struct FloScene {
  char path[512], name[64]; // name: the file's name without folder and extension
  char *title, *shows;
  int up; // axis index
  double duration, frames_per_second;
  FloWorldDef world;
  bool refuses_overlaps; // overlapping bodies are an error
  FloCamera camera;
  char colour_by[32]; // field that pictures show by default: "speed", "pressure", "density"
  FloExpect *expects;
  size_t n_expects;
  FloProbe *probes;
  size_t n_probes;
  FloSceneBody *bodies;
  size_t n_bodies;
  FloSceneJoint *joints;
  size_t n_joints;
  FloSceneEvent *events; // by rising time; at the same time, in the order of the scene
  size_t n_events;
  struct FloSceneParts *parts; // fluids, materials, emitters, sinks, parameters: private to scene.c
  char *resolved;              // JSON text: the scene with every constant, override and default written out
  size_t next_event;           // of flo_scene_advance
};

// Applies an event to the world that flo_scene_build made last; call it at the event's time. Starts and stops
// are already part of the world and need nothing. `n_added`, which may be NULL, receives the number of new
// particles.
FloStatus flo_scene_apply_event(FloScene *scene, FloWorld *world, const FloSceneEvent *event, size_t *n_added,
                                FloError *error);

// The parts of a scene after it was built: fluids and bodies, with their numbers of particles.
typedef struct FloScenePart {
  const char *name, *what;
  size_t n_particles;
} FloScenePart;

// The number of particles that the emitters will make if nothing stops them.
double flo_scene_emitted(const FloScene *scene);

// Whether the scene has fluid, at the start or later from an emitter or an event.
bool flo_scene_has_fluid(const FloScene *scene);
size_t flo_scene_count_parts(const FloScene *scene);
FloScenePart flo_scene_part(const FloScene *scene, size_t k);

#endif
