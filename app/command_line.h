// Builds commands for people to enter in a shell; every word is quoted where necessary.
#ifndef FLO_APP_COMMAND_LINE_H
#define FLO_APP_COMMAND_LINE_H

#include "app.h"

// A growing text; begins as {0}.
typedef struct AppLine {
  char *text; // NULL: nothing added yet
  size_t length, capacity;
  bool is_cut; // memory ran out: the text is incomplete
} AppLine;

void app_line_add(AppLine *line, const char *text); // adds the text unchanged
// Adds a blank and the word. The word is quoted if a shell would change it; control characters become \xNN.
void app_line_word(AppLine *line, const char *word);
// Adds the path made of folder and name as one word, quoted if necessary.
void app_line_path(AppLine *line, const char *folder, const char *name);
// Adds the words for a scene and all options that it was given with.
void app_line_scene(AppLine *line, const char *scene, const AppSceneArguments *given);
// The line for a terminal, with \xNN for control characters. NULL if memory ran out. The line owns the text.
const char *app_line_show(AppLine *line);
void app_line_free(AppLine *line);

#endif
