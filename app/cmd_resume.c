// flotsam resume: continues a run that was interrupted or killed, or makes a finished run longer.
#include "run.h"

static const AppUsage usage = {
    .command = "resume",
    .arguments = "DIR",
    .about =
        "Continues the run in the folder DIR from its last checkpoint. The result is bit-identical to that\n"
        "of a run without interruption, with any number of threads. Files written after the checkpoint are\n"
        "written again. --until must not be earlier than the last frame, so that no frame is lost. If the\n"
        "run is complete, only its missing pictures are drawn.\n"
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
      {"--threads", "N", APP_INTEGER, &run.threads, "worker threads (default: OMP_NUM_THREADS, or all cores)",
       1, 1024},
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, &exit_code)) return exit_code;
  if (!app_check_run_options("resume", &run, &exit_code)) return exit_code;
  return app_resume(words.items[0], &run);
}
