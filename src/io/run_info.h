// What a run folder holds: what ran, how it ended, and whether everything is there.
#ifndef FLO_IO_RUN_INFO_H
#define FLO_IO_RUN_INFO_H

#include "flotsam/flotsam.h"

#include <jansson.h>

// Whether a folder is one that flotsam wrote a run into, be it finished, broken off or damaged.
bool flo_run_info_is_folder(const char *path);

// Whether an entry of a summary's `expect` asks for something, or only stands beside the paper's number.
bool flo_run_info_is_asked(const json_t *expect);

// An object with the keys below; unknown values are null. Every frame's file is checked for being cut off,
// the last one and the checkpoint are read completely. A process must not ask about a run of its own: POSIX
// takes its lock away when it closes the log.
//
//   folder title name method version   texts
//   end                                "finished", "interrupted", "diverged", "failed"; without a summary
//                                      "running" or "killed"; "unfinished": one of these, the folder's file
//                                      system does not tell
//   process                            number of the process, of a run that goes on
//   message                            why it diverged or failed
//   time duration steps wall_seconds   numbers
//   until                              when it is to end [s], by its checkpoint; without one, the duration
//   time_step cfl                      of the scene
//   particles                          object: fluid, boundary, total
//   frames last_frame                  how many there are, the one at the start included; their last number
//   first_time last_time               when they are
//   expect                             as in summary.json
//   passed failed not_judged           numbers of expectations that ask for something
//   files bytes                        in the folder
//   checkpoint                         name of the file to resume from, if it is there and not damaged
//   can_resume                         nobody is at work here, and the checkpoint has all that it builds upon
//   seconds_since_change               of the file that changed last
//   problems                           sentences
FloStatus flo_run_info_make(const char *folder, json_t **info, FloError *error);

#endif
