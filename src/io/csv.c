#include "io/csv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool needs_quotes(const char *name) { return strpbrk(name, ",\"\r\n") != NULL; }

void flo_csv_print_name(FILE *stream, const char *name) {
  const bool is_quoted = needs_quotes(name);
  if (is_quoted) fputc('"', stream);
  for (; *name; name++) {
    if (*name == '"') fputc('"', stream);
    fputc(*name, stream);
  }
  if (is_quoted) fputc('"', stream);
}

// Each precision has a line of its own, so that the compiler can check that the text fits.
void flo_format_number(double value, char text[32]) {
  snprintf(text, 32, "%.15g", value);
  if (strtod(text, NULL) == value) return;
  snprintf(text, 32, "%.16g", value);
  if (strtod(text, NULL) == value) return;
  snprintf(text, 32, "%.17g", value);
}

const char *flo_csv_take(const char *text, char c) { return text && *text == c ? text + 1 : NULL; }

const char *flo_csv_take_name(const char *text, const char *name) {
  const bool is_quoted = needs_quotes(name);
  if (is_quoted) text = flo_csv_take(text, '"');
  for (; text && *name; name++) {
    if (*name == '"') text = flo_csv_take(text, '"');
    text = flo_csv_take(text, *name);
  }
  return is_quoted ? flo_csv_take(text, '"') : text;
}

// strtod alone would skip the end of a line to find a number.
const char *flo_csv_take_number(const char *text, double *value) {
  char *end;
  if (!text || isspace((unsigned char)*text)) return NULL;
  *value = strtod(text, &end);
  return end == text ? NULL : end;
}
