// One row of measurements per frame: series.csv, and the last, lowest and highest value of every column for
// the summary.
#ifndef FLO_IO_SERIES_H
#define FLO_IO_SERIES_H

#include "io/files.h"
#include "io/scene.h"

typedef struct FloSeries {
  size_t n_columns, n_rows;
  char (*names)[96];
  double *last, *low, *high; // per column; NaN values are no low and no high
  double *sum, *n_summed;    // likewise, without the first row: before the first step nothing has a mean
  size_t first_body_column, first_probe_column;
  FloRowFile file;
  uint64_t size_before; // of the file, without the last row
  double wall_seconds;  // the latest in a file that was read, also in rows behind those that count
} FloSeries;

enum { FLO_SERIES_PER_BODY = 19 };

// The columns that a scene's runs have; see docs/measurements.md.
FloStatus flo_series_create(const FloScene *scene, FloSeries **series, FloError *error);
void flo_series_destroy(FloSeries *series); // NULL is fine; closes the file

// Starts the file with its line of names.
FloStatus flo_series_open(FloSeries *series, const char *path, FloError *error);
// Reads the rows of a file of which the first `size` bytes are complete rows, so that the run can go on.
// Refuses a file that is shorter, or has other columns than the scene.
FloStatus flo_series_load(FloSeries *series, const char *path, size_t size, FloError *error);
// Cuts off what is behind the rows that were read, and goes on.
FloStatus flo_series_go_on(FloSeries *series, FloError *error);
// Takes the last row that was added out of the file again; once for each that was added.
FloStatus flo_series_drop_row(FloSeries *series, FloError *error);
// Measures the world and keeps the row; appends it to the file if one is open. Every row is written at
// once: a run that is killed leaves all rows before it. A row that does not fit the disk leaves no part of
// itself.
FloStatus flo_series_add(FloSeries *series, const FloScene *scene, FloWorld *world, double wall_seconds,
                         FloError *error);

// The column of that name; n_columns if there is none.
size_t flo_series_find(const FloSeries *series, const char *name);
// The value an expectation means by `measurement`: NAME (see docs/measurements.md), NAME.max, NAME.min,
// NAME.mean or NAME.last. False if there is no such measurement.
bool flo_series_value(const FloSeries *series, const char *measurement, double *value);

// True for columns of which the extremes over the run are of interest: errors and probes.
bool flo_series_has_extremes(const FloSeries *series, size_t column);

// Reads row `row` (0: the first behind the names) of a series.csv; `values` is malloc'ed.
FloStatus flo_series_read_row(const char *path, size_t row, double **values, size_t *n, FloError *error);

// The shortest text that reads back as the same number.
void flo_format_number(double value, char text[32]);

#endif
