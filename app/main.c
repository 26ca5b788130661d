// flotsam COMMAND: finds the command and calls it.
#include "app.h"
#include "base/core.h"
#include "io/suggest.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int cmd_version(int argc, char **argv);
static int cmd_help(int argc, char **argv);

static const AppCommand commands[] = {
    {"run", cmd_run, "simulate a scene; write measurements, particles and pictures to a folder"},
    {"resume", cmd_resume, "continue a run that was interrupted"},
    {"check", cmd_check, "check a scene; estimate particles, memory, disk and run time"},
    {"info", cmd_info, "describe a run, or list methods, parameters, kernels, scenes, shapes, keys"},
    {"render", cmd_render, "draw frames of a run, or make a movie of them"},
    {"plot", cmd_plot, "plot the measurements of a run over time"},
    {"convert", cmd_convert, "write the particles of a run as CSV, legacy VTK or PLY, its solids as glTF"},
    {"surface", cmd_surface, "make triangle meshes of the fluid in a run"},
    {"import", cmd_import, "make a scene of a robot in a URDF file"},
    {"gallery", cmd_gallery, "run and draw all scenes, and show them on one page"},
    {"compare", cmd_compare, "run a scene with several methods, and show the results on one page"},
    {"resampling", cmd_resampling, "show how samples of soft bodies follow a surface that is deformed"},
    {"bench", cmd_bench, "measure the speed of this machine and of flotsam"},
    {"completion", cmd_completion, "print the script that completes commands in bash or zsh"},
    {"version", cmd_version, "print the version"},
    {"help", cmd_help, "print this text, or the help of a command"},
};

const AppCommand *app_commands(size_t *count) {
  *count = FLO_COUNT_OF(commands);
  return commands;
}

static const AppCommand *find_command(const char *name) {
  for (size_t k = 0; k < FLO_COUNT_OF(commands); k++)
    if (strcmp(commands[k].name, name) == 0) return &commands[k];
  return NULL;
}

static void print_overview(FILE *stream) {
  fputs("usage: flotsam COMMAND ...\n\nSimulates fluids and solids that push each other, with smoothed "
        "particle hydrodynamics.\n\n",
        stream);
  for (size_t k = 0; k < FLO_COUNT_OF(commands); k++)
    fprintf(stream, "  %-10s  %s\n", commands[k].name, commands[k].about);
  fputs("\nexamples:\n"
        "  flotsam run dam-break                  simulate a scene that comes with flotsam\n"
        "  flotsam run my/scene.json --out here   simulate your own scene\n"
        "  flotsam help run                       all options of a command\n",
        stream);
}

static int complain_unknown(const char *name) {
  char buffer[128];
  FloSuggestion suggestion = flo_suggest_start(name);
  for (size_t k = 0; k < FLO_COUNT_OF(commands); k++) flo_suggest_offer(&suggestion, commands[k].name);
  return app_fail(APP_BAD_INPUT, "unknown command '%s'%s (see 'flotsam help')", name,
                  flo_suggest_text(&suggestion, buffer));
}

static int cmd_version(int argc, char **argv) {
  static const AppUsage usage = {"version", "", "Prints the version.", "  flotsam version\n", 0, 0};
  AppList words = {0};
  int exit_code;
  if (!app_parse(&usage, &(AppOption){0}, argc, argv, &words, &exit_code)) return exit_code;
  printf("flotsam %s\n", flo_version());
  return APP_OK;
}

static int cmd_help(int argc, char **argv) {
  static const AppUsage usage = {
      .command = "help",
      .arguments = "[COMMAND]",
      .about = "Prints an overview of all commands, the help of one command, or the manual page.",
      .examples = "  flotsam help\n"
                  "  flotsam help run\n"
                  "  flotsam help --man | man -l -\n",
      .min_words = 0,
      .max_words = 1,
  };
  AppList words = {0};
  bool is_manual = false;
  int exit_code;
  AppOption options[] = {
      {"--man", NULL, APP_FLAG, &is_manual, "print the manual page, for man(1)", 0, 0},
      {0},
  };
  if (!app_parse(&usage, options, argc, argv, &words, &exit_code)) return exit_code;
  if (is_manual) return app_print_manual(), APP_OK;
  if (words.count == 0) return print_overview(stdout), APP_OK;
  const AppCommand *command = find_command(words.items[0]);
  if (!command) return complain_unknown(words.items[0]);
  char name[32], help[] = "--help", *arguments[] = {name, help, NULL};
  snprintf(name, sizeof name, "%s", command->name);
  return command->run(2, arguments);
}

// Whether standard output is a pipe whose reader has ended.
static bool is_reader_gone(void) {
  struct pollfd output = {.fd = STDOUT_FILENO};
  return poll(&output, 1, 0) > 0 && (output.revents & POLLERR);
}

// Lost output, for example on a full disk, is a failure. But the reader of a pipe may stop early, as `head`
// does.
static int check_output(int exit_code) {
  if ((fflush(stdout) == 0 && !ferror(stdout)) || is_reader_gone()) return exit_code;
  return exit_code ? exit_code : app_fail(APP_RUN_FAILED, "cannot write to standard output");
}

// Idle threads should sleep, not spin. On a machine that also runs other programs, every step waits for the
// slowest thread, and spinning makes a run several times slower. OpenMP reads its settings when it is loaded,
// so the program sets them and starts itself again. A policy that the user has set is kept.
static void let_idle_threads_sleep(char **argv) {
  if (getenv("OMP_WAIT_POLICY")) return;
  if (setenv("OMP_WAIT_POLICY", "passive", 1) == 0) execv("/proc/self/exe", argv);
  // If that is not possible, the program runs without them.
}

int main(int argc, char **argv) {
  let_idle_threads_sleep(argv);
  if (argc < 2) {
    print_overview(stderr);
    return APP_BAD_INPUT;
  }
  const char *name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
  if (strcmp(name, "--version") == 0) name = "version";
  const AppCommand *command = find_command(name);
  if (!command) return complain_unknown(name);
  return check_output(command->run(argc - 1, argv + 1));
}
