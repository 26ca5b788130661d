// Numbers of the reference data that lie beside the sources, if they are at hand.
#ifndef TEST_SUPPORT_REFERENCE_FILE_H
#define TEST_SUPPORT_REFERENCE_FILE_H

#include "support/check.h"

// NULL: it is not at hand.
static inline FILE *reference_open(const char *name) {
  static const char *const places[] = {"../shared/reference", "../../shared/reference"};
  const char *source = getenv("FLOTSAM_SOURCE");
  char path[1024];
  FILE *file = NULL;
  for (size_t k = 0; !file && k < sizeof places / sizeof *places; ++k) {
    snprintf(path, sizeof path, "%s/%s/%s", source ? source : ".", places[k], name);
    file = fopen(path, "r");
  }
  return file;
}

// Skips the test if the reference data is not at hand.
static inline void reference_need(const char *name) {
  FILE *file = reference_open(name);
  if (file) {
    fclose(file);
    return;
  }
  print_message("%s is not at hand\n", name);
  skip();
}

// Column `column`, counted from 0, of the first line that begins with these words.
static inline double reference_number(const char *name, const char *line_start, int column) {
  FILE *file = reference_open(name);
  char line[2000], *at = NULL;
  assert_non_null(file);
  while (!at && fgets(line, sizeof line, file))
    if (strncmp(line, line_start, strlen(line_start)) == 0) at = line;
  fclose(file);
  for (int k = 0; at && k < column; ++k) at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
  if (!at) fail_msg("%s has no line '%s' with a column %d", name, line_start, column);
  return strtod(at, NULL);
}

#endif
