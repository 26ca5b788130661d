// Checkpoints: everything a run needs to continue, in one HDF5 file.
//
//   /format, /version, /scene, /scene_path, /size   texts
//   /run                                             progress of the run, one number each (FloRunPoint)
//   /frame_times                                     of the frames written so far [s]
//   /frame_pressure                                  of the fluid in the last frame, if the state has its
//   time /state/...                                       the arrays of a FloState; /state_names lists them
//
// Every array has checksums, so that a damaged file is refused.
#ifndef FLO_IO_CHECKPOINT_H
#define FLO_IO_CHECKPOINT_H

#include "flotsam/world.h"

// Progress of a run, besides the state of its world.
typedef struct FloRunPoint {
  size_t n_written;                // frames on disk
  size_t n_frames;                 // planned, after the initial one
  double until;                    // [s] simulated
  size_t next_event;               // the scene's first event that has not happened yet
  size_t series_size, bodies_size; // of series.csv and bodies.csv [bytes]
  double wall_seconds;             // total so far
  double output_seconds, picture_seconds;
  bool has_no_pictures;
} FloRunPoint;

typedef struct FloCheckpoint {
  FloRunPoint point;
  char *scene, *scene_path; // the resolved scene, and the path of its original file
  char *size;               // name of the scene's size; empty: its own
  double *frame_times;      // point.n_written of them
  // Pressure in the last frame [Pa], if the state is that of the frame. All other fields of the frame are in
  // the state.
  float *frame_pressure;
  size_t n_frame_pressure;
  FloState *state;
} FloCheckpoint;

// Atomic: an earlier file of that name is replaced only when the new one is complete and on disk.
FloStatus flo_checkpoint_write(const char *path, const FloCheckpoint *checkpoint, FloError *error);
// Release with flo_checkpoint_free.
FloStatus flo_checkpoint_read(const char *path, FloCheckpoint *checkpoint, FloError *error);
void flo_checkpoint_free(FloCheckpoint *checkpoint);

#endif
