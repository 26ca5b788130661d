// flotsam resume: goes on with a run that was interrupted, killed, or is to become longer.
#include "run.h"

static const AppUsage usage = {
    .command = "resume",
    .arguments = "DIR",
    .about =
        "Goes on with the run in the folder DIR from its last checkpoint. The result is the same, to the "
        "last\n"
        "bit, as that of a run that was not interrupted, with any number of threads. What was written after\n"
        "the checkpoint is written again; an --until that is earlier than the last frame is refused, so "
        "that\n"
        "no frame is lost. Of a run that is complete the pictures are drawn that are missing.\n"
        "Exit codes: 0 done, 1 the run failed or was interrupted, 2 bad input, 3 an expectation failed.",
    .examples = "  flotsam resume runs/dam-break\n"
                "  flotsam resume runs/dam-break --threads 1\n"
                "  flotsam resume runs/dam-break --until 5\n",
    .min_words = 1,
    .max_words = 1,
};

int cmd_resume(int argc, char **argv) {
  AppRunOptions run = app_default_run_options();
  AppList words = {0};
  int exit_code;
  AppOption options[] = {
      APP_RUN_OPTIONS(&run),
      {"--threads", "N", APP_INTEGER, &run.threads, "worker threads (default: all cores)", 1, 1024},
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, &exit_code)) return exit_code;
  if (!app_check_run_options("resume", &run, &exit_code)) return exit_code;
  return app_resume(words.items[0], &run);
}
