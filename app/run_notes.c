// What is doubtful about a scene, said before its run begins: whoever did not ask 'flotsam check' should not
// have to wait for the end to learn it.
#include "io/advice.h"
#include "io/shown.h"
#include "run.h"

#include <string.h>

enum { MAX_NOTES = 6 }; // that are said; all are in the log

typedef struct Notes {
  AppRun *run;
  size_t count;
} Notes;

// What is behind the first semicolon explains or mends.
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

// A part of a command, as a shell takes it for one word.
static void add_word(char *text, size_t size, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  const bool is_plain = word[0] && word[strspn(word, plain)] == 0;
  size_t used = strlen(text);
  used += (size_t)snprintf(text + used, size - used, is_plain ? " " : " \"");
  for (; *word && used + 4 < size; word++) {
    if (strchr("\"\\$`", *word)) text[used++] = '\\';
    text[used++] = *word;
  }
  if (!is_plain) text[used++] = '"';
  text[used] = 0;
}

// The scene as it runs, not as its file has it.
static void describe_check(const AppRun *run, char *text, size_t size) {
  const AppSceneArguments *given = run->given;
  char path[1024];
  snprintf(text, size, "flotsam check");
  add_word(text, size, flo_shown_escape(run->scene->path, path, sizeof path));
  if (!given) return;
  if (given->method) add_word(text, size, "--method"), add_word(text, size, given->method);
  if (given->size) add_word(text, size, "--size"), add_word(text, size, given->size);
  for (size_t k = 0; k < given->sets.count; k++)
    add_word(text, size, "--set"), add_word(text, size, given->sets.items[k]);
}

void app_run_tell_notes(AppRun *run) {
  Notes notes = {.run = run};
  flo_advice_give(run->scene, run->world, tell_note, &notes);
  if (notes.count == 0 || run->options->is_quiet) return;
  size_t n_left = notes.count > MAX_NOTES ? notes.count - MAX_NOTES : 0;
  char more[48] = "", command[2048];
  if (n_left) snprintf(more, sizeof more, "%zu more; ", n_left);
  describe_check(run, command, sizeof command);
  app_fail(0, "note: %s'%s' tells what to do", more, command);
}
