// The folder of one run: every file flotsam writes there, and the way back to its frames.
//
//   scene.json          the scene with every constant, override and default written out
//   series.csv          one row of measurements per frame
//   summary.json        what ran, how long, the last measurements, expectations
//   particles_NNNN.vtp  all particles of a frame; run.pvd makes a film of them
//   picture.png         the last frame; picture_NNNN.png some frames on the way
//   bodies.csv          where every solid is at every frame; body_NAME.ply its triangles
//   checkpoint.h5       all a run needs to go on
//   assets/NAME-HASH.*  copies of the files that the scene names
//   diverged.json, .csv a small scene around the first particle that went wrong, if one did
//   log.txt             what happened when; its first line marks the folder as flotsam's
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
  size_t n_listed;    // of them, in run.pvd
  size_t n_synced;    // of them, that would survive a power cut
  double last_listed; // wall clock
} FloRunFolder;

// Whether flotsam began a run in the folder.
bool flo_run_folder_is_run(const char *path);
// Tells whether flo_run_folder_open would refuse the folder, without touching anything.
FloStatus flo_run_folder_check(const char *path, bool replace, FloError *error);
// Makes the folder and starts its log. A folder that is not empty is refused, unless `replace` and it holds
// an older run or nothing that bears one of our names: then only files that flotsam wrote are removed.
FloStatus flo_run_folder_open(const char *path, bool replace, FloRunFolder **folder, FloError *error);
// Takes the folder of a run, so that nobody else writes into it; nothing in it is changed.
FloStatus flo_run_folder_take(const char *path, FloRunFolder **folder, FloError *error);
// Fails if one of the first `n_frames` frames is not there. Whether the last of them is as long as it says
// itself is told by `is_last_whole`.
FloStatus flo_run_folder_check_frames(const FloRunFolder *folder, size_t n_frames, bool *is_last_whole,
                                      FloError *error);
// Goes on behind these frames; later ones, unfinished files and what shows the end are removed.
FloStatus flo_run_folder_go_on(FloRunFolder *folder, size_t n_frames, const double *times, FloError *error);
void flo_run_folder_close(FloRunFolder *folder); // NULL is fine

FloStatus flo_run_folder_write(const FloRunFolder *folder, const char *name, const char *text,
                               FloError *error);
// Writes the next particles_NNNN.vtp. Brings run.pvd up to date if that was not done within the last second:
// it is written as a whole, which takes the longer the more frames there are.
FloStatus flo_run_folder_add_frame(FloRunFolder *folder, const FloFrame *frame, FloError *error);
// Writes the last frame anew.
FloStatus flo_run_folder_replace_frame(FloRunFolder *folder, const FloFrame *frame, FloError *error);
// Brings run.pvd up to date, unless it is.
FloStatus flo_run_folder_list_frames(FloRunFolder *folder, FloError *error);
// Returns when all frames, run.pvd and the names in the folder would survive a power cut. Each frame is
// brought to disk once.
FloStatus flo_run_folder_sync(FloRunFolder *folder, FloError *error);

__attribute__((format(printf, 2, 3))) void flo_run_folder_note(FloRunFolder *folder, const char *format, ...);

// The path of a frame's particles in any run folder.
FloStatus flo_run_folder_frame_path(const char *folder, size_t frame, char path[FLO_PATH_SIZE],
                                    FloError *error);
// How many frames a run folder holds, numbered from 0 without gaps.
size_t flo_run_folder_count_frames(const char *folder);

#endif
