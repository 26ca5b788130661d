// What a run folder holds: what ran, how it ended, and whether files are missing or damaged.
#ifndef FLO_IO_RUN_INFO_H
#define FLO_IO_RUN_INFO_H

#include "flotsam/world.h"

#include <jansson.h>

// Whether flotsam wrote a run into the folder, whether finished, interrupted or damaged.
bool flo_run_info_is_folder(const char *path);

// Whether an entry of a summary's `expect` has a range, or is only shown beside the paper's value.
bool flo_run_info_is_asked(const json_t *expect);

// An object with the keys below; unknown values are null. The length of every frame's file is checked; the
// last frame and the checkpoint are read completely. A process must not call this for its own run: by POSIX,
// closing the log releases its lock.
//
//   folder title name method version   texts
//   end                                "finished", "interrupted", "diverged", "failed"; without a summary
//                                      "running" or "killed"; "unfinished": one of these, if the file system
//                                      has no locks
//   process                            process id of a run that is going on
//   message                            why it diverged or failed
//   time duration steps wall_seconds   numbers
//   until                              planned end [s] by its checkpoint; without one, the duration
//   time_step cfl                      of the scene
//   particles                          object: fluid, boundary, total
//   frames last_frame                  number of frames, including the one at the start; the last number
//   first_time last_time               their times
//   expect                             as in summary.json
//   passed failed not_judged           numbers of expectations that have a range
//   files bytes                        in the folder
//   checkpoint                         name of the file to resume from, if it is there and not damaged
//   can_resume                         no process uses the folder, and the checkpoint has all files it needs
//   seconds_since_change               of the file that changed last
//   problems                           sentences
FloStatus flo_run_info_make(const char *folder, json_t **info, FloError *error);

#endif
