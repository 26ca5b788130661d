// The folder of one run: the files that flotsam writes there, and how to read its frames.
//
//   scene.json          the scene with every constant, override and default written out
//   series.csv          one row of measurements per frame
//   summary.json        what ran, how long, the last measurements, expectations
//   particles_NNNN.vtp  all particles of a frame; run.pvd lists them as a time series
//   soft_NNNN.vtp       the surfaces of cloth and elastic bodies at a frame, also in run.pvd
//   picture.png         the last frame; picture_NNNN.png: some earlier frames
//   bodies.csv          pose of every solid at every frame; body_NAME.ply: its triangles
//   checkpoint.h5       all that a run needs to continue
//   assets/NAME-HASH.*  copies of the files that the scene names
//   diverged.json, .csv after a divergence: a small scene around the first invalid particle
//   log.txt             events with their times; its first line marks the folder as flotsam's
#ifndef FLO_IO_RUN_FOLDER_H
#define FLO_IO_RUN_FOLDER_H

#include "io/files.h"
#include "io/frame.h"

typedef struct FloRunFolder {
  char path[FLO_PATH_SIZE];
  FILE *log;
  double began;  // wall clock at the start
  double *times; // of the frames written
  size_t n_frames, capacity;
  size_t n_listed;    // number of them in run.pvd
  size_t n_synced;    // number of them that would survive a power failure
  double last_listed; // wall clock
  bool has_soft;      // frames have bodies that change their shape
} FloRunFolder;

// Whether flotsam has started a run in the folder.
bool flo_run_folder_is_run(const char *path);
// Checks whether flo_run_folder_open would refuse the folder. Changes nothing.
FloStatus flo_run_folder_check(const char *path, bool replace, FloError *error);
// Creates the folder and starts its log. A folder that is not empty is refused, unless `replace` is set and
// it holds an older run, or no file with one of flotsam's names. Then only files that flotsam wrote are
// removed.
FloStatus flo_run_folder_open(const char *path, bool replace, FloRunFolder **folder, FloError *error);
// Locks the folder of a run, so that no other program writes into it. Changes nothing in it.
FloStatus flo_run_folder_take(const char *path, FloRunFolder **folder, FloError *error);
// Fails if one of the first `n_frames` frames is missing. `is_last_whole` is set if the last of them is
// complete.
FloStatus flo_run_folder_check_frames(const FloRunFolder *folder, size_t n_frames, bool *is_last_whole,
                                      FloError *error);
// Continues after these frames. Removes later frames, unfinished files, and files written at the end of a
// run.
FloStatus flo_run_folder_go_on(FloRunFolder *folder, size_t n_frames, const double *times, FloError *error);
void flo_run_folder_close(FloRunFolder *folder); // NULL is fine

FloStatus flo_run_folder_write(const FloRunFolder *folder, const char *name, const char *text,
                               FloError *error);
// Writes the next particles_NNNN.vtp, and soft_NNNN.vtp if it is needed. Updates run.pvd if that was not done
// within the last second: the whole file is written each time, which takes longer with more frames.
FloStatus flo_run_folder_add_frame(FloRunFolder *folder, const FloFrame *frame, FloError *error);
// Writes the last frame again.
FloStatus flo_run_folder_replace_frame(FloRunFolder *folder, const FloFrame *frame, FloError *error);
// Updates run.pvd if necessary.
FloStatus flo_run_folder_list_frames(FloRunFolder *folder, FloError *error);
// Returns when all frames, run.pvd and the names in the folder would survive a power failure. Each frame is
// synced to disk once.
FloStatus flo_run_folder_sync(FloRunFolder *folder, FloError *error);

__attribute__((format(printf, 2, 3))) void flo_run_folder_note(FloRunFolder *folder, const char *format, ...);

// The path of a frame's particles in any run folder.
FloStatus flo_run_folder_frame_path(const char *folder, size_t frame, char path[FLO_PATH_SIZE],
                                    FloError *error);
// The path of its bodies that change their shape.
FloStatus flo_run_folder_soft_path(const char *folder, size_t frame, char path[FLO_PATH_SIZE],
                                   FloError *error);
// How many frames a run folder holds, numbered from 0 without gaps.
size_t flo_run_folder_count_frames(const char *folder);

#endif
