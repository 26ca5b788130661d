// summary.json: what ran, on which machine, how long, the last measurements, and whether the scene's
// expectations were met.
#ifndef FLO_IO_SUMMARY_H
#define FLO_IO_SUMMARY_H

#include "io/scene.h"
#include "io/series.h"

// How a run ended.
typedef enum FloRunEnd {
  FLO_RUN_FINISHED,
  FLO_RUN_INTERRUPTED, // by a signal
  FLO_RUN_DIVERGED,
  FLO_RUN_FAILED, // a file could not be written, no memory, ...
} FloRunEnd;

typedef struct FloRunReport {
  FloRunEnd end;
  const char *message; // of the failure; NULL: none
  bool is_whole;       // reached the scene's duration: only then are its expectations judged
  size_t n_frames;     // after the initial one
  double wall_seconds; // in total
  double output_seconds, picture_seconds;
  const char *size; // NULL: the scene's own
} FloRunReport;

// The JSON text (malloc'ed) and the number of expectations that failed.
FloStatus flo_summary_make(const FloScene *scene, FloWorld *world, const FloSeries *series,
                           const FloRunReport *report, char **text, size_t *n_failed, FloError *error);

// Whether the expectation has a range; if not, the value is only shown beside the paper's.
bool flo_expect_is_judged(const FloExpect *expect);
// NaN misses every range.
bool flo_expect_is_missed(const FloExpect *expect, double value);

// Fails if an expectation names a measurement that the scene's runs do not have.
FloStatus flo_summary_check_expects(const FloScene *scene, const FloSeries *series, FloError *error);

#endif
