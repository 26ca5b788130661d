// One row of measurements per frame: series.csv; and the last, smallest and largest value of every column for
// the summary.
#ifndef FLO_IO_SERIES_H
#define FLO_IO_SERIES_H

#include "io/files.h"
#include "io/frame.h"

// The columns every run has, in order: X(name, member of FloMeasurements, its type). They are followed by
// wall_seconds, the columns of bodies, of soft bodies, of joints and of probes.
#define FLO_MEASUREMENTS(X)                                                                                  \
  X(time, time, double)                                                                                      \
  X(step, step, uint64_t)                                                                                    \
  X(dt, dt, double)                                                                                          \
  X(iterations, iterations, int)                                                                             \
  X(residual, residual, double)                                                                              \
  X(density_error_mean, density_error_mean, double)                                                          \
  X(density_error_max, density_error_max, double)                                                            \
  X(fluid_particles, fluid_particles, size_t)                                                                \
  X(boundary_particles, boundary_particles, size_t)                                                          \
  X(rigid_particles, rigid_particles, size_t)                                                                \
  X(contacts, contacts, size_t)                                                                              \
  X(kinetic_energy, kinetic_energy, double)                                                                  \
  X(potential_energy, potential_energy, double)                                                              \
  X(momentum_x, momentum[0], double)                                                                         \
  X(momentum_y, momentum[1], double)                                                                         \
  X(momentum_z, momentum[2], double)                                                                         \
  X(angular_momentum_x, angular_momentum[0], double)                                                         \
  X(angular_momentum_y, angular_momentum[1], double)                                                         \
  X(angular_momentum_z, angular_momentum[2], double)                                                         \
  X(penetrations, penetrations, size_t)                                                                      \
  X(max_speed, max_speed, double)                                                                            \
  X(emitted, emitted, size_t)                                                                                \
  X(removed, removed, size_t)                                                                                \
  X(put_back, put_back, size_t)                                                                              \
  X(crossings, crossings, size_t)

typedef struct FloSeries {
  size_t n_columns, n_rows;
  char (*names)[96];
  double *last, *low, *high; // per column; NaN values do not count
  double *sum, *n_summed;    // the same, without the first row, which comes before the first step
  size_t first_body_column, first_probe_column;
  FloRowFile file;
  uint64_t size_before; // of the file, without the last row
  double wall_seconds;  // the latest time in a file that was read, also in rows after the valid ones
} FloSeries;

enum { FLO_SERIES_PER_BODY = 19, FLO_SERIES_PER_SOFT = 15, FLO_SERIES_PER_JOINT = 15 };

// Makes the columns for runs of a scene; see docs/measurements.md.
FloStatus flo_series_create(const FloScene *scene, FloSeries **series, FloError *error);
void flo_series_destroy(FloSeries *series); // NULL is fine; closes the file

// Starts the file with its line of names.
FloStatus flo_series_open(FloSeries *series, const char *path, FloError *error);
// Reads the first `size` bytes of a file, which are complete rows, so that the run can continue. Refuses a
// file that is shorter, or has other columns than the scene.
FloStatus flo_series_load(FloSeries *series, const char *path, size_t size, FloError *error);
// Removes everything after the rows that were read, and continues the file.
FloStatus flo_series_go_on(FloSeries *series, FloError *error);
// Removes the last row that was added from the file; allowed once per added row.
FloStatus flo_series_drop_row(FloSeries *series, FloError *error);
// Adds the row of a frame, and writes it to the file if one is open. The particles of the frame are not
// needed. Every row is written at once, so a killed run leaves all earlier rows. If the disk is full, no part
// of the row is kept.
FloStatus flo_series_add(FloSeries *series, const FloFrame *frame, FloError *error);

// The column of that name; n_columns if there is none.
size_t flo_series_find(const FloSeries *series, const char *name);
// The value of `measurement` in an expectation: NAME (see docs/measurements.md), NAME.max, NAME.min,
// NAME.mean or NAME.last. False if there is no such measurement.
bool flo_series_value(const FloSeries *series, const char *measurement, double *value);

// True for columns whose extremes over the run are reported: errors and probes.
bool flo_series_has_extremes(const FloSeries *series, size_t column);

#endif
