// cmocka with the headers it needs, and assertions that print what was compared.
#ifndef TEST_SUPPORT_CHECK_H
#define TEST_SUPPORT_CHECK_H

#include "base/core.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// |actual - expected| <= tolerance; NaN is never close.
#define assert_close(actual, expected, tolerance)                                                            \
  check_close((double)(actual), (double)(expected), (double)(tolerance), #actual, __FILE__, __LINE__)

// Every part of two vectors of three.
#define assert_close_3(actual, expected, tolerance)                                                          \
  check_close_3(actual, expected, (double)(tolerance), #actual, __FILE__, __LINE__)

// A call succeeded; `error` is the FloError * it was given.
#define assert_ok(call, error) check_status(call, FLO_OK, error, "", #call, __FILE__, __LINE__)

// A call failed with this status and a text that contains `word`.
#define assert_fails(call, status, error, word)                                                              \
  check_status(call, status, error, word, #call, __FILE__, __LINE__)
#define assert_refused(call, error, word) assert_fails(call, FLO_BAD_INPUT, error, word)

static inline void check_close(double actual, double expected, double tolerance, const char *what,
                               const char *file, int line) {
  if (fabs(actual - expected) <= tolerance) return;
  print_error("%s is %.9g, but should be %.9g within %.3g\n", what, actual, expected, tolerance);
  _fail(file, line);
}

static inline void check_close_3(const double actual[3], const double expected[3], double tolerance,
                                 const char *what, const char *file, int line) {
  for (int axis = 0; axis < 3; ++axis) {
    if (fabs(actual[axis] - expected[axis]) <= tolerance) continue;
    print_error("part %c: ", "xyz"[axis]);
    check_close(actual[axis], expected[axis], tolerance, what, file, line);
  }
}

static inline void check_status(FloStatus actual, FloStatus expected, const FloError *error, const char *word,
                                const char *what, const char *file, int line) {
  if (actual != expected) {
    print_error("%s: '%s' instead of '%s'; %s\n", what, flo_status_name(actual), flo_status_name(expected),
                actual == FLO_OK ? "" : error->text);
    _fail(file, line);
  }
  if (actual == FLO_OK) return;
  if (error->status == expected && strstr(error->text, word)) return;
  print_error("%s: the error '%s' (status '%s') should name '%s'\n", what, error->text,
              flo_status_name(error->status), word);
  _fail(file, line);
}

#endif
