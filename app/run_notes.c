// Prints notes about a scene before its run begins, so that they are seen early, also without 'flotsam
// check'.
#include "command_line.h"
#include "io/advice.h"
#include "io/shown.h"
#include "run.h"

#include <string.h>

enum { MAX_NOTES = 6 }; // printed at most; all are in the log

typedef struct Notes {
  AppRun *run;
  size_t count;
} Notes;

// The text after the first semicolon is the explanation or remedy.
static int length_of_fact(const char *sentence) {
  const char *remedy = strstr(sentence, "; ");
  return (int)(remedy ? (size_t)(remedy - sentence) : strlen(sentence));
}

static void tell_note(void *context, const char *sentence) {
  Notes *notes = context;
  char text[2048];
  flo_shown_escape(sentence, text, sizeof text);
  flo_run_folder_note(notes->run->folder, "note: %s", text);
  if (++notes->count <= MAX_NOTES && !notes->run->options->is_quiet)
    app_fail(0, "note: %.*s", length_of_fact(text), text);
}

void app_run_tell_notes(AppRun *run) {
  Notes notes = {.run = run};
  flo_advice_give(run->scene, run->world, tell_note, &notes);
  if (notes.count == 0 || run->options->is_quiet) return;
  size_t n_left = notes.count > MAX_NOTES ? notes.count - MAX_NOTES : 0;
  char more[48] = "";
  AppLine line = {0};
  if (n_left) snprintf(more, sizeof more, "%zu more; ", n_left);
  // Uses the scene with its options, as it is run.
  app_line_add(&line, "flotsam check");
  app_line_scene(&line, run->scene->path, run->given);
  const char *command = app_line_show(&line);
  app_fail(0, "note: %sfor remedies, run: %s", more,
           command ? command : "'flotsam check' with the same scene and options");
  app_line_free(&line);
}
