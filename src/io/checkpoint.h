// Checkpoints: everything a run needs to go on, in one HDF5 file.
//
//   /format, /version, /scene, /scene_path, /size   texts
//   /run                                             what the program keeps, one number each (FloRunPoint)
//   /frame_times                                     of the frames written so far [s]
//   /frame_pressure                                  of the fluid in the last frame, if this is its moment
//   /state/...                                       the arrays of a FloState; /state_names lists them
//
// Every array carries checksums, so that a damaged file is refused rather than continued from.
#ifndef FLO_IO_CHECKPOINT_H
#define FLO_IO_CHECKPOINT_H

#include "flotsam/flotsam.h"

// Where a run stands, besides the state of its world.
typedef struct FloRunPoint {
  size_t n_written;                // frames on disk
  size_t n_frames;                 // planned, behind the initial one
  double until;                    // [s] simulated
  size_t next_event;               // of the scene, that has not happened yet
  size_t series_size, bodies_size; // of series.csv and bodies.csv [bytes]
  double wall_seconds;             // spent so far, all in all
  double output_seconds, picture_seconds;
  bool has_no_pictures;
} FloRunPoint;

typedef struct FloCheckpoint {
  FloRunPoint point;
  char *scene, *scene_path; // the resolved scene, and where it came from
  char *size;               // name of the scene's size; empty: its own
  double *frame_times;      // point.n_written of them
  // Pressure in the last frame [Pa], if the state is the one it shows: all else of the frame is in the state.
  float *frame_pressure;
  size_t n_frame_pressure;
  FloState *state;
} FloCheckpoint;

// Atomic: an earlier file of that name is replaced only by a complete one, on disk.
FloStatus flo_checkpoint_write(const char *path, const FloCheckpoint *checkpoint, FloError *error);
// Release with flo_checkpoint_free.
FloStatus flo_checkpoint_read(const char *path, FloCheckpoint *checkpoint, FloError *error);
void flo_checkpoint_free(FloCheckpoint *checkpoint);

#endif
