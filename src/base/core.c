#include "base/core.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

FloStatus flo_fail(FloError *error, FloStatus status, const char *format, ...) {
  if (error) {
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
  }
  return status;
}

static void (*assert_handler)(const char *, const char *, int);

void flo_set_assert_handler(void (*handler)(const char *, const char *, int)) { assert_handler = handler; }

void flo_assert_failed(const char *condition, const char *file, int line) {
  if (assert_handler) assert_handler(condition, file, line);
  // Without a handler the program stops here, where a debugger shows the mistake.
  abort();
}

size_t flo_type_size(FloType type) {
  switch (type) {
  case FLO_TYPE_F64:
    return 8;
  case FLO_TYPE_U16:
    return 2;
  default:
    return 4;
  }
}

const char *flo_version(void) { return FLOTSAM_VERSION; }

const char *flo_status_name(FloStatus status) {
  static const char *const names[] = {"ok",         "bad input", "out of memory",
                                      "i/o failed", "diverged",  "unsupported"};
  return (unsigned)status < FLO_COUNT_OF(names) ? names[status] : "unknown";
}
