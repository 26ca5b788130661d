// One moment of a run: its particles, where its bodies are, and what was measured.
//
// A frame is made once, from a world or from the files of a run, and then only read: by the files of a run
// folder, pictures, surfaces and whatever else shows a run. It is a plain struct of plain arrays that belong
// to the frame; nothing in it refers to the world, so the world may go on, and another thread may read the
// frame. Names of bodies are those of the scene, which must outlive the frame.
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

// What a frame holds; joined with |. What it does not hold is zero.
typedef enum FloFramePart {
  FLO_FRAME_PARTICLES = 1 << 0,    // particles_NNNN.vtp of a run folder
  FLO_FRAME_BODIES = 1 << 1,       // its bodies.csv
  FLO_FRAME_MEASUREMENTS = 1 << 2, // its series.csv
  FLO_FRAME_PICTURE = FLO_FRAME_PARTICLES | FLO_FRAME_BODIES,
  FLO_FRAME_ALL = FLO_FRAME_PICTURE | FLO_FRAME_MEASUREMENTS,
} FloFramePart;

enum { FLO_FRAME_EXTRAS = 8 };

// A field that the method adds to particles.
typedef struct FloFrameExtra {
  char name[32];
  float *values; // one per particle; 0 where the set has none
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
  uint32_t *id;                 // stays with the particle over all frames; counted apart in each set
  uint8_t *type;                // a FloSet
  uint16_t *material;           // index; 65535: none
  uint16_t *body;               // index; 65535: none
  FloFrameExtra extras[FLO_FRAME_EXTRAS];
  size_t n_extras;

  // ---- Bodies, in the order of the scene ----
  FloFrameBody *bodies;
  size_t n_bodies;

  // ---- Measurements ----
  FloMeasurements measurements;
  double wall_seconds; // [s] real time since the start of the run; set by the caller of flo_frame_take
  double *probes;      // values of the scene's probes; flo_probe_names tells their names
  size_t n_probes;     // a probe of a force or a torque has three values
} FloFrame;

// Copies a moment out of a world that flo_scene_build made. Without a scene (NULL) there are no bodies and no
// probes. Release with flo_frame_free; after a failure there is nothing to release.
FloStatus flo_frame_take(const FloScene *scene, FloWorld *world, size_t number, unsigned parts,
                         FloFrame *frame, FloError *error);
void flo_frame_free(FloFrame *frame); // a frame of zeros is fine

// The particles as a file of their own. A file holds no more than them and their time.
FloStatus flo_frame_write_particles(const FloFrame *frame, const char *path, FloError *error);
FloStatus flo_frame_read_particles(const char *path, FloFrame *frame, FloError *error);

// Where one of a scene's bodies is: as `placed` has it, or where the scene puts it if that is NULL.
static inline const FloPose *flo_frame_pose(const FloFrameBody *placed, const FloSceneBody *bodies,
                                            size_t k) {
  return placed ? &placed[k].state.pose : &bodies[k].def.pose;
}

// ---- From a run folder (frame_read.c) ----

// The way to all frames of a run. Each table is read when a part of it is first asked for, and kept.
typedef struct FloRunFrames {
  char folder[FLO_PATH_SIZE];
  const FloScene *scene;
  FloBodyTable bodies;
  FloSeriesTable series;
  bool has_bodies, has_series; // these were read
} FloRunFrames;

// Reads nothing yet. `scene` is the scene.json of the folder; it must outlive the frames that are read.
void flo_run_frames_open(const char *folder, const FloScene *scene, FloRunFrames *run);
void flo_run_frames_close(FloRunFrames *run); // a struct of zeros is fine
// Reads the parts of a frame. Forces and torques on bodies are the means since the frame before, also where a
// frame of a world has those of the last step.
FloStatus flo_frame_read(FloRunFrames *run, size_t number, unsigned parts, FloFrame *frame, FloError *error);
// Where the bodies are at all frames.
FloStatus flo_run_frames_bodies(FloRunFrames *run, const FloBodyTable **table, FloError *error);
// When a frame was [s], as the tables tell; where they do not, by its number.
double flo_run_frames_time(FloRunFrames *run, size_t number);

#endif
