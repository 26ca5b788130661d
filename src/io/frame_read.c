// Frames of a run folder.
#include "base/core.h"
#include "io/frame.h"
#include "io/probes.h"
#include "io/run_folder.h"
#include "io/series.h"

#include <math.h>
#include <stdlib.h>

void flo_run_frames_open(const char *folder, const FloScene *scene, FloRunFrames *run) {
  *run = (FloRunFrames){.scene = scene};
  snprintf(run->folder, sizeof run->folder, "%s", folder);
}

void flo_run_frames_close(FloRunFrames *run) {
  flo_body_table_free(&run->bodies);
  flo_series_table_free(&run->series);
  *run = (FloRunFrames){0};
}

// ---- Particles ----

static FloStatus read_particles(const FloRunFrames *run, size_t number, FloFrame *frame, FloError *error) {
  char path[FLO_PATH_SIZE];
  FloError cause;
  FLO_TRY(flo_run_folder_frame_path(run->folder, number, path, error));
  if (!flo_file_exists(path))
    return flo_fail(error, FLO_BAD_INPUT, "%s: is missing; restore it, or run the scene again", path);
  FloStatus status = flo_frame_read_particles(path, frame, &cause);
  if (status == FLO_OK) return FLO_OK;
  return flo_fail(error, status, "%.900s%s", cause.text,
                  status == FLO_BAD_INPUT ? "; restore the file, or run the scene again" : "");
}

// ---- Bodies ----

FloStatus flo_run_frames_bodies(FloRunFrames *run, const FloBodyTable **table, FloError *error) {
  if (!run->has_bodies) {
    FloStatus status = flo_body_table_read(run->folder, run->scene, &run->bodies, error);
    if (status != FLO_OK) return flo_body_table_free(&run->bodies), status;
    run->has_bodies = true;
  }
  *table = &run->bodies;
  return FLO_OK;
}

// Only scenes with bodies that change their shape have such files.
static FloStatus read_soft(const FloRunFrames *run, size_t number, FloFrame *frame, FloError *error) {
  char path[FLO_PATH_SIZE];
  bool is_needed = false;
  for (size_t k = 0; k < run->scene->n_bodies; k++) is_needed |= flo_scene_is_soft(&run->scene->bodies[k]);
  if (!is_needed) return FLO_OK;
  FLO_TRY(flo_run_folder_soft_path(run->folder, number, path, error));
  if (!flo_file_exists(path))
    return flo_fail(error, FLO_BAD_INPUT, "%s: is missing; restore it, or run the scene again", path);
  return flo_frame_read_soft(path, frame, error);
}

static FloStatus read_bodies(FloRunFrames *run, size_t number, FloFrame *frame, FloError *error) {
  const FloBodyTable *table;
  const size_t n = run->scene->n_bodies;
  if (n == 0) return FLO_OK;
  FLO_TRY(flo_run_frames_bodies(run, &table, error));
  if (number >= table->n_frames)
    return flo_fail(error, FLO_BAD_INPUT,
                    "%s/bodies.csv: has no rows for frame %zu; restore the original file, or choose one of "
                    "the first %zu frames",
                    run->folder, number, table->n_frames);
  frame->bodies = calloc(n, sizeof *frame->bodies);
  if (!frame->bodies) return flo_fail(error, FLO_NO_MEMORY, "no memory for %zu bodies", n);
  frame->n_bodies = n;
  frame->time = table->times[number];
  for (size_t k = 0; k < n; k++)
    frame->bodies[k] =
        (FloFrameBody){.name = run->scene->bodies[k].name, .state = flo_body_table_state(table, number, k)};
  return read_soft(run, number, frame, error);
}

// ---- Measurements ----

FloStatus flo_run_frames_series(FloRunFrames *run, FloError *error) {
  char path[FLO_PATH_SIZE];
  if (run->has_series) return FLO_OK;
  FLO_TRY(flo_path_join(run->folder, "series.csv", path, error));
  if (!flo_file_exists(path))
    return flo_fail(error, FLO_BAD_INPUT, "%s: is missing; restore it, or run the scene again", path);
  FloStatus status = flo_series_table_read(path, &run->series, error);
  if (status != FLO_OK) return flo_series_table_free(&run->series), status;
  run->has_series = true;
  return FLO_OK;
}

// Runs of earlier versions may not have this column.
static double value_at(const FloSeriesTable *table, const char *name, size_t row) {
  const size_t column = flo_series_table_find(table, name);
  return column < table->n_columns ? flo_series_table_column(table, column)[row] : 0;
}

// Counts from a damaged file are limited to the range of their type.
static double whole(double value) { return value >= 0 && value < 2e9 ? value : 0; }

#define READ_double(value)   (value)
#define READ_int(value)      whole(value)
#define READ_size_t(value)   whole(value)
#define READ_uint64_t(value) whole(value)

static FloStatus read_probes(const FloRunFrames *run, size_t number, FloFrame *frame, FloError *error) {
  const size_t n = flo_probe_count(run->scene);
  char(*names)[96] = malloc((n + 1) * sizeof *names);
  frame->probes = calloc(n + 1, sizeof *frame->probes);
  frame->n_probes = n;
  if (names && frame->probes) {
    flo_probe_names(run->scene, names);
    for (size_t k = 0; k < n; k++) frame->probes[k] = value_at(&run->series, names[k], number);
  }
  const bool has_memory = names && frame->probes;
  free(names);
  return has_memory ? FLO_OK : flo_fail(error, FLO_NO_MEMORY, "no memory for %zu probes", n);
}

static FloStatus read_measurements(FloRunFrames *run, size_t number, FloFrame *frame, FloError *error) {
  FloMeasurements *m = &frame->measurements;
  FLO_TRY(flo_run_frames_series(run, error));
  if (number >= run->series.n_rows)
    return flo_fail(error, FLO_BAD_INPUT,
                    "%s/series.csv: has no row for frame %zu; restore the original file, or choose one of "
                    "the first %zu frames",
                    run->folder, number, run->series.n_rows);
#define X(name, member, type) m->member = (type)READ_##type(value_at(&run->series, #name, number));
  FLO_MEASUREMENTS(X)
#undef X
  frame->wall_seconds = value_at(&run->series, "wall_seconds", number);
  frame->time = m->time;
  return read_probes(run, number, frame, error);
}

// ---- All of it ----

FloStatus flo_frame_read(FloRunFrames *run, size_t number, unsigned parts, FloFrame *frame, FloError *error) {
  FloStatus status = FLO_OK;
  *frame = (FloFrame){0};
  if (parts & FLO_FRAME_PARTICLES) status = read_particles(run, number, frame, error);
  if (status == FLO_OK && parts & FLO_FRAME_BODIES) status = read_bodies(run, number, frame, error);
  if (status == FLO_OK && parts & FLO_FRAME_MEASUREMENTS)
    status = read_measurements(run, number, frame, error);
  if (status != FLO_OK) return flo_frame_free(frame), status;
  frame->number = number, frame->parts = parts;
  return FLO_OK;
}

double flo_run_frames_time(FloRunFrames *run, size_t number) {
  const FloBodyTable *table;
  if (run->scene->n_bodies > 0 && flo_run_frames_bodies(run, &table, NULL) == FLO_OK &&
      number < table->n_frames)
    return table->times[number];
  if (flo_run_frames_series(run, NULL) == FLO_OK && number < run->series.n_rows)
    return value_at(&run->series, "time", number);
  return (double)number / run->scene->frames_per_second;
}
