// One frame of a run: its particles, the poses of its bodies, and measurements.
//
// A frame is made once, from a world or from the files of a run, and then only read: by the writers of files,
// pictures and surfaces. It owns its arrays and does not refer to the world, so the world may continue while
// another thread reads the frame. Names of bodies belong to the scene, which must outlive the frame.
//
//   FloFrame frame;                                   FloRunFrames run;
//   flo_frame_take(scene, world, 7, FLO_FRAME_ALL,    flo_run_frames_open("runs/dam-break", scene, &run);
//                  &frame, &error);                   flo_frame_read(&run, 7, FLO_FRAME_ALL, &frame, &error);
//   ...                                               ...
//   flo_frame_free(&frame);                           flo_frame_free(&frame), flo_run_frames_close(&run);
#ifndef FLO_IO_FRAME_H
#define FLO_IO_FRAME_H

#include "io/body_files.h"
#include "io/series_read.h"

// The parts of a frame; combine them with |. Parts that a frame does not hold are zero.
typedef enum FloFramePart {
  FLO_FRAME_PARTICLES = 1 << 0,    // particles_NNNN.vtp of a run folder
  FLO_FRAME_BODIES = 1 << 1,       // its bodies.csv, and soft_NNNN.vtp
  FLO_FRAME_MEASUREMENTS = 1 << 2, // its series.csv
  FLO_FRAME_PICTURE = FLO_FRAME_PARTICLES | FLO_FRAME_BODIES,
  FLO_FRAME_ALL = FLO_FRAME_PICTURE | FLO_FRAME_MEASUREMENTS,
} FloFramePart;

enum { FLO_FRAME_EXTRAS = 8 };

// The extra field of frames with samples that come and go: when each was added [s].
#define FLO_FRAME_ADDED "added"

// A field that only some frames have: one that the method adds, or FLO_FRAME_ADDED.
typedef struct FloFrameExtra {
  char name[32];
  float *values; // one per particle; 0 if the set does not have the field
} FloFrameExtra;

typedef struct FloFrame {
  size_t number; // frame 0 is the start of the run
  double time;   // [s]
  unsigned parts;

  // ---- Particles: those of FLO_SET_FLUID first, each set in the order of the world's memory ----
  size_t count;                 // of all particles
  size_t counts[FLO_SET_COUNT]; // of each set
  float *positions;             // [m] triples
  float *velocity;              // [m/s] triples
  float *density;               // [kg/m³] 0 where the set has none
  float *pressure;              // [Pa] 0 where the set has none
  uint32_t *id;                 // the same for a particle in all frames; each set counts its own
  uint8_t *type;                // a FloSet
  uint16_t *material;           // index; 65535: none
  uint16_t *body;               // index; 65535: none
  FloFrameExtra extras[FLO_FRAME_EXTRAS];
  size_t n_extras;

  // ---- Bodies, in the order of the scene ----
  FloFrameBody *bodies;
  size_t n_bodies;

  // ---- Joints, in the order of the scene; with measurements only, and not from files ----
  FloJointState *joints;
  size_t n_joints;

  // ---- Measurements ----
  FloMeasurements measurements;
  double wall_seconds; // [s] real time since the start of the run; set by the caller of flo_frame_take
  double *probes;      // values of the scene's probes; flo_probe_names returns their names
  size_t n_probes;     // a probe of a force or a torque has three values
} FloFrame;

// Copies the current state of a world that flo_scene_build made. If the scene is NULL, the frame has no
// bodies and probes. Release with flo_frame_free; after a failure there is nothing to release.
FloStatus flo_frame_take(const FloScene *scene, FloWorld *world, size_t number, unsigned parts,
                         FloFrame *frame, FloError *error);
void flo_frame_free(FloFrame *frame); // a zeroed frame is fine

// The values of an extra field, one per particle; NULL if the frame does not have it.
const float *flo_frame_extra(const FloFrame *frame, const char *name);

// Writes the particles into a file, which holds only them and their time.
FloStatus flo_frame_write_particles(const FloFrame *frame, const char *path, FloError *error);
FloStatus flo_frame_read_particles(const char *path, FloFrame *frame, FloError *error);

// ---- Bodies that change their shape (frame_soft.c) ----

struct FloBody;
// Copies the surface of a body of the world, if it changes its shape.
FloStatus flo_frame_take_surface(const struct FloBody *body, FloFrameBody *to, FloError *error);
void flo_frame_free_surface(FloFrameBody *body);
// Unit normals of its vertices, three numbers each.
void flo_frame_normals(const FloFrameBody *body, float *normals);
// Whether one of the frame's bodies changes its shape.
bool flo_frame_has_soft(const FloFrame *frame);
// Writes the surfaces of all such bodies into one file, with the arrays body, rest, normal and stretch.
FloStatus flo_frame_write_soft(const FloFrame *frame, const char *path, FloError *error);
// Reads them into the frame's bodies, which exist already.
FloStatus flo_frame_read_soft(const char *path, FloFrame *frame, FloError *error);

// The pose of one of a scene's bodies: that of `placed`, or that of the scene if `placed` is NULL.
static inline const FloPose *flo_frame_pose(const FloFrameBody *placed, const FloSceneBody *bodies,
                                            size_t k) {
  return placed ? &placed[k].state.pose : &bodies[k].def.pose;
}

// ---- From a run folder (frame_read.c) ----

// Access to all frames of a run. Each table is read when it is first needed, and kept.
typedef struct FloRunFrames {
  char folder[FLO_PATH_SIZE];
  const FloScene *scene;
  FloBodyTable bodies;
  FloSeriesTable series;
  bool has_bodies, has_series; // these were read
} FloRunFrames;

// Reads nothing yet. `scene` is the scene.json of the folder; it must outlive the frames that are read.
void flo_run_frames_open(const char *folder, const FloScene *scene, FloRunFrames *run);
void flo_run_frames_close(FloRunFrames *run); // a zeroed struct is fine
// Reads the parts of a frame. Forces and torques on bodies are the means since the frame before; in a frame
// taken from a world they are those of the last step.
FloStatus flo_frame_read(FloRunFrames *run, size_t number, unsigned parts, FloFrame *frame, FloError *error);
// Reads the measurements of all frames into `series`.
FloStatus flo_run_frames_series(FloRunFrames *run, FloError *error);
// The poses of the bodies at all frames.
FloStatus flo_run_frames_bodies(FloRunFrames *run, const FloBodyTable **table, FloError *error);
// The time of a frame [s] from the tables; if they do not have it, computed from its number.
double flo_run_frames_time(FloRunFrames *run, size_t number);

#endif
