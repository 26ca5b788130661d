// Runs the program's own commands as child processes, so that a crash or lack of memory ends only the child.
#ifndef FLO_APP_CHILD_H
#define FLO_APP_CHILD_H

#include "app.h"

enum { APP_CHILD_ARGUMENTS = 200 };

// The arguments of a command; texts are not copied.
typedef struct AppChildCommand {
  const char *arguments[APP_CHILD_ARGUMENTS + 2];
  size_t count;
} AppChildCommand;

// Adds words up to a NULL. If there are too many, app_child_run fails.
void app_child_add(AppChildCommand *command, ...);

typedef struct AppChildEnd {
  int exit_code; // -1: ended by a signal
  int signal_number;
  char message[2048]; // its messages, without progress
} AppChildEnd;

// From now on SIGINT and SIGTERM are passed on to the child, and SIGHUP as SIGTERM. It is stored that one
// came.
void app_child_catch_signals(void);
bool app_child_is_stop_wanted(void);

// Runs `flotsam ARGUMENTS` and waits until it ends. `report` is called several times a second with the share
// that the child reports as done.
FloStatus app_child_run(const AppChildCommand *command, void (*report)(void *context, double share),
                        void *context, AppChildEnd *end, FloError *error);

#endif
