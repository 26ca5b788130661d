// Commands that people are told to enter: every word as a shell takes it for one.
#ifndef FLO_APP_COMMAND_LINE_H
#define FLO_APP_COMMAND_LINE_H

#include "app.h"

// A text that grows; begins as {0}.
typedef struct AppLine {
  char *text; // NULL: nothing was added yet
  size_t length, capacity;
  bool is_cut; // there was no memory for all of it
} AppLine;

void app_line_add(AppLine *line, const char *text); // as it is
// A blank and the word; between quotes if a shell would make something else of it, with \xNN for what is not
// plain.
void app_line_word(AppLine *line, const char *word);
// folder and name, one behind the other, between quotes.
void app_line_path(AppLine *line, const char *folder, const char *name);
// The words of a scene, and of all options that it is given with.
void app_line_scene(AppLine *line, const char *scene, const AppSceneArguments *given);
// The line for a terminal, with \xNN for what is not plain; NULL if it is cut or there is no memory. Belongs
// to the line.
const char *app_line_show(AppLine *line);
void app_line_free(AppLine *line);

#endif
