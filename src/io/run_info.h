// What a run folder holds: what ran, how it ended, and whether everything is there.
#ifndef FLO_IO_RUN_INFO_H
#define FLO_IO_RUN_INFO_H

#include "flotsam/flotsam.h"

#include <jansson.h>

// Whether a folder is one that flotsam wrote a run into, be it finished, broken off or damaged.
bool flo_run_info_is_folder(const char *path);

// An object with the keys below; unknown values are null. Every frame's file is checked for being cut off,
// the last one is read completely.
//
//   folder title name method version   texts
//   end                                "finished", "interrupted", "diverged", "failed"; "unfinished": still
//                                      going on, or killed
//   message                            why it diverged or failed
//   time duration steps wall_seconds   numbers
//   particles                          object: fluid, boundary, total
//   frames first_time last_time        how many there are, and when they are
//   expect                             as in summary.json
//   passed failed not_judged           numbers of expectations
//   files bytes                        in the folder
//   checkpoint                         name of the newest file to resume from
//   seconds_since_change               of the file that changed last
//   problems                           sentences
FloStatus flo_run_info_make(const char *folder, json_t **info, FloError *error);

#endif
