#include "child.h"

#include "base/core.h"
#include "io/shown.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
// If the parent is killed by SIGKILL, the child receives SIGTERM and ends in an orderly way.
static void end_with_parent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(APP_RUN_FAILED);
}
#else
static void end_with_parent(pid_t parent) { (void)parent; }
#endif

enum { TICK = 200 }; // milliseconds between reports

void app_child_add(AppChildCommand *command, ...) {
  va_list words;
  va_start(words, command);
  for (const char *word; (word = va_arg(words, const char *));)
    if (command->count <= APP_CHILD_ARGUMENTS) command->arguments[command->count++] = word;
  va_end(words);
}

// ---- Signals ----

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t is_stop_wanted, is_passed_on, child;

// Children end in an orderly way on SIGINT and SIGTERM. SIGHUP, which a closed terminal sends, is passed on
// as SIGTERM.
static void stop_child(int signal_number) {
  is_passed_on = 1;
  kill((pid_t)child, signal_number == SIGHUP ? SIGTERM : signal_number);
}

// The child is in a process group of its own. So a signal of the terminal reaches it only once, from here.
static void pass_on(int signal_number) {
  static const char text[] =
      "\nflotsam: finishing the current task; run the same command again to continue\n";
  const int reason = errno;
  if (!is_stop_wanted && write(STDERR_FILENO, text, sizeof text - 1) < 0) errno = reason;
  is_stop_wanted = 1;
  if (child > 0) stop_child(signal_number);
  errno = reason;
}

// Signals that the caller ignores stay ignored, as shells do for background jobs.
void app_child_catch_signals(void) {
  for (size_t k = 0; k < FLO_COUNT_OF(stop_signals); k++) {
    struct sigaction before, action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(stop_signals[k], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(stop_signals[k], &action, NULL);
  }
}

bool app_child_is_stop_wanted(void) { return is_stop_wanted; }

// ---- Starting ----

// If the caller has closed its standard streams, the pipe or /dev/null may have their numbers. A descriptor
// that already has the right number must stay open, and the pipe is moved before another one replaces it.
static void wire_streams(int errors) {
  if (errors == STDERR_FILENO)
    fcntl(errors, F_SETFD, 0);
  else
    dup2(errors, STDERR_FILENO);
  int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere < 0) return;
  if (nowhere <= STDERR_FILENO) fcntl(nowhere, F_SETFD, 0);
  dup2(nowhere, STDIN_FILENO), dup2(nowhere, STDOUT_FILENO);
  if (nowhere > STDERR_FILENO) close(nowhere);
}

// Between fork and exec, only functions that are safe in a signal handler may be called. /proc/self/exe is
// this program, even if its file was replaced since.
static void become(const AppChildCommand *command, int errors, pid_t parent, const sigset_t *mask) {
  const char *arguments[APP_CHILD_ARGUMENTS + 3] = {"flotsam"};
  memcpy(arguments + 1, command->arguments, command->count * sizeof *arguments);
  wire_streams(errors);
  setpgid(0, 0);
  end_with_parent(parent);
  pthread_sigmask(SIG_SETMASK, mask, NULL);
  execv("/proc/self/exe", (char *const *)arguments);
  static const char text[] = "flotsam: cannot start another flotsam: /proc/self/exe cannot be executed\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(126);
  _exit(127);
}

// Signals are blocked from the fork until the child's process id is stored. Another thread may still receive
// one; it is passed on as soon as the id is known.
static pid_t fork_child(const AppChildCommand *command, int errors) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  is_passed_on = 0;
  pid_t parent = getpid(), process = is_stop_wanted ? -1 : fork();
  if (process == 0) become(command, errors, parent, &before);
  const int reason = errno;
  child = process > 0 ? (sig_atomic_t)process : 0;
  if (is_stop_wanted && child > 0 && !is_passed_on) stop_child(SIGTERM);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = reason;
  return process;
}

static FloStatus start(const AppChildCommand *command, int *errors, FloError *error) {
  int ends[2];
  if (command->count > APP_CHILD_ARGUMENTS)
    return flo_fail(error, FLO_BAD_INPUT, "the command has too many options; give at most %d words",
                    APP_CHILD_ARGUMENTS);
  if (pipe(ends) != 0)
    return flo_fail(error, FLO_IO_FAILED, "cannot start another flotsam: %s", strerror(errno));
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  fflush(NULL);
  pid_t process = fork_child(command, ends[1]);
  int reason = errno;
  close(ends[1]);
  *errors = ends[0];
  if (process > 0) return FLO_OK;
  close(ends[0]);
  return flo_fail(error, FLO_IO_FAILED, "cannot start another flotsam: %s",
                  is_stop_wanted ? "interrupted" : strerror(reason));
}

// ---- Listening ----

typedef struct Listener {
  AppChildEnd *end;
  char line[1024];
  size_t length;
  double share;
} Listener;

// A line like "42 %  ETA 0:12  ..." is progress. All other lines are kept; if there are too many, the last
// ones.
static void take_line(Listener *listener) {
  static const char prefix[] = "flotsam: ";
  char *line = listener->line, *message = listener->end->message, *rest;
  line[listener->length] = 0;
  listener->length = 0;
  flo_shown_mask(line);
  double percent = strtod(line, &rest);
  if (rest != line && strncmp(rest, " %  ETA", 7) == 0) {
    listener->share = 0.01 * percent;
    return;
  }
  if (strncmp(line, prefix, sizeof prefix - 1) == 0) line += sizeof prefix - 1;
  size_t used = strlen(message), room = sizeof listener->end->message;
  if (!line[0]) return;
  if (used + strlen(line) + 2 > room) used = 0;
  snprintf(message + used, room - used, "%s%s", used ? "\n" : "", line);
}

static void take_bytes(Listener *listener, const char *bytes, size_t n) {
  for (size_t k = 0; k < n; k++) {
    bool is_end = bytes[k] == '\n';
    if (!is_end && bytes[k]) listener->line[listener->length++] = bytes[k];
    if (is_end || listener->length == sizeof listener->line - 1) take_line(listener);
  }
}

// Reads until the child has closed its end.
static void listen_to(int errors, Listener *listener, void (*report)(void *context, double share),
                      void *context) {
  char bytes[1024];
  for (;;) {
    struct pollfd input = {.fd = errors, .events = POLLIN};
    int n_ready = poll(&input, 1, TICK);
    if (n_ready < 0 && errno != EINTR) return;
    if (n_ready > 0) {
      ssize_t n = read(errors, bytes, sizeof bytes);
      if (n == 0 || (n < 0 && errno != EINTR)) return;
      if (n > 0) take_bytes(listener, bytes, (size_t)n);
    }
    if (report) report(context, listener->share);
  }
}

// Signals are no longer passed on before the process id is released: another process may get it then.
static FloStatus reap(AppChildEnd *end, FloError *error) {
  const pid_t process = (pid_t)child;
  siginfo_t about;
  int state = 0;
  pid_t ended;
  while (waitid(P_PID, (id_t)process, &about, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
  child = 0;
  while ((ended = waitpid(process, &state, 0)) < 0 && errno == EINTR) continue;
  if (ended < 0)
    return flo_fail(error, FLO_IO_FAILED, "cannot wait for the flotsam that was started: %s",
                    strerror(errno));
  if (WIFEXITED(state)) end->exit_code = WEXITSTATUS(state);
  if (WIFSIGNALED(state)) end->signal_number = WTERMSIG(state);
  return FLO_OK;
}

FloStatus app_child_run(const AppChildCommand *command, void (*report)(void *context, double share),
                        void *context, AppChildEnd *end, FloError *error) {
  int errors = -1;
  *end = (AppChildEnd){.exit_code = -1};
  Listener listener = {.end = end};
  FLO_TRY(start(command, &errors, error));
  listen_to(errors, &listener, report, context);
  if (listener.length) take_line(&listener);
  close(errors);
  return reap(end, error);
}
