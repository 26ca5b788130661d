// What every file may use: failing with a message, assertions, small numeric helpers.
#ifndef FLO_BASE_CORE_H
#define FLO_BASE_CORE_H

#include "flotsam/world.h"

#define FLO_PI 3.14159265358979323846

// Checks for programmer mistakes. The check stays in release builds; it is never used inside a particle loop.
#define FLO_ASSERT(condition) ((condition) ? (void)0 : flo_assert_failed(#condition, __FILE__, __LINE__))

// Return from the calling function with the status of `call` unless it is FLO_OK.
#define FLO_TRY(call)                                                                                        \
  do {                                                                                                       \
    FloStatus status_ = (call);                                                                              \
    if (status_ != FLO_OK) return status_;                                                                   \
  } while (0)

#define FLO_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

// Fills `error` (unless NULL) with a formatted text and returns `status`, so that failing is one line.
__attribute__((format(printf, 3, 4))) FloStatus flo_fail(FloError *error, FloStatus status,
                                                         const char *format, ...);

_Noreturn void flo_assert_failed(const char *condition, const char *file, int line);

size_t flo_type_size(FloType type); // in bytes

static inline size_t flo_min_size(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t flo_max_size(size_t a, size_t b) { return a > b ? a : b; }

#endif
