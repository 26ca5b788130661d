// The program's own commands as children: one that crashes or runs out of memory takes nothing else with it.
#ifndef FLO_APP_CHILD_H
#define FLO_APP_CHILD_H

#include "app.h"

enum { APP_CHILD_ARGUMENTS = 200 };

// The arguments of a command; texts are not copied.
typedef struct AppChildCommand {
  const char *arguments[APP_CHILD_ARGUMENTS + 2];
  size_t count;
} AppChildCommand;

// Adds words up to a NULL; what does not fit makes app_child_run fail.
void app_child_add(AppChildCommand *command, ...);

typedef struct AppChildEnd {
  int exit_code; // -1: ended by a signal
  int signal_number;
  char message[2048]; // what it said, but for its progress
} AppChildEnd;

// From now on SIGINT and SIGTERM are passed on to the child, and SIGHUP as SIGTERM; they are remembered.
void app_child_catch_signals(void);
bool app_child_is_stop_wanted(void);

// Runs `flotsam ARGUMENTS` and waits for its end. `report` is called several times a second with the share
// that the child says it has done.
FloStatus app_child_run(const AppChildCommand *command, void (*report)(void *context, double share),
                        void *context, AppChildEnd *end, FloError *error);

#endif
