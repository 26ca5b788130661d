#include "io/series.h"

#include "base/core.h"
#include "io/csv.h"
#include "io/probes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define X(name, member, type) #name,
static const char *const measurement_names[] = {FLO_MEASUREMENTS(X) "wall_seconds"};
#undef X

static const char *const body_names[FLO_SERIES_PER_BODY] = {
    "x",  "y",  "z",  "qx", "qy", "qz", "qw", "vx", "vy", "vz", // position, orientation, velocity
    "wx", "wy", "wz", "fx", "fy", "fz", "tx", "ty", "tz",       // angular velocity, force, torque
};

static const char *const soft_names[FLO_SERIES_PER_SOFT] = {
    "low_x",          "low_y",          "low_z",
    "high_x",         "high_y",         "high_z",      // box around its vertices
    "kinetic_energy", "elastic_energy", "max_stretch", // largest of its vertices
    "pins",           "pin_fx",         "pin_fy",
    "pin_fz",         "max_pin_load", // force of all pins on it, and of one
    "samples",
};

static const char *const joint_names[FLO_SERIES_PER_JOINT] = {
    "coordinate", "speed",  "fx",         "fy",          "fz", "tx", "ty", "tz", // force and torque
    "load",       "power",  "work",                                              // of the motor
    "open",       "active", "peak_force", "peak_torque",
};

// Measurements whose plain name in an expectation means the worst value of the run, not the last one.
static const char *const worst_names[] = {"iterations",        "residual",     "density_error_mean",
                                          "density_error_max", "penetrations", "max_speed"};

// ---- Columns ----

// Of bodies and joints.
static size_t count_thing_columns(const FloScene *scene) {
  size_t n = scene->n_bodies * FLO_SERIES_PER_BODY + scene->n_joints * FLO_SERIES_PER_JOINT;
  for (size_t b = 0; b < scene->n_bodies; b++)
    if (flo_scene_is_soft(&scene->bodies[b])) n += FLO_SERIES_PER_SOFT;
  return n;
}

static size_t count_columns(const FloScene *scene) {
  return FLO_COUNT_OF(measurement_names) + count_thing_columns(scene) + flo_probe_count(scene);
}

static void name_columns(const FloScene *scene, char (*names)[96]) {
  for (size_t k = 0; k < FLO_COUNT_OF(measurement_names); k++)
    snprintf(*names++, sizeof *names, "%s", measurement_names[k]);
  for (size_t b = 0; b < scene->n_bodies; b++)
    for (size_t k = 0; k < FLO_SERIES_PER_BODY; k++)
      snprintf(*names++, sizeof *names, "%s.%s", scene->bodies[b].name, body_names[k]);
  for (size_t b = 0; b < scene->n_bodies; b++)
    for (size_t k = 0; flo_scene_is_soft(&scene->bodies[b]) && k < FLO_SERIES_PER_SOFT; k++)
      snprintf(*names++, sizeof *names, "%s.%s", scene->bodies[b].name, soft_names[k]);
  for (size_t j = 0; j < scene->n_joints; j++)
    for (size_t k = 0; k < FLO_SERIES_PER_JOINT; k++)
      snprintf(*names++, sizeof *names, "%s.%s", scene->joints[j].name, joint_names[k]);
  flo_probe_names(scene, names);
}

FloStatus flo_series_create(const FloScene *scene, FloSeries **result, FloError *error) {
  FloSeries *series = calloc(1, sizeof *series);
  size_t n = count_columns(scene);
  if (series) {
    series->n_columns = n;
    series->first_body_column = FLO_COUNT_OF(measurement_names);
    series->first_probe_column = series->first_body_column + count_thing_columns(scene);
    series->names = calloc(n, sizeof *series->names);
    series->last = calloc(5 * n, sizeof(double));
  }
  if (!series || !series->names || !series->last) {
    flo_series_destroy(series);
    return flo_fail(error, FLO_NO_MEMORY, "no memory for a series of %zu columns", n);
  }
  series->low = series->last + n;
  series->high = series->low + n;
  series->sum = series->high + n;
  series->n_summed = series->sum + n;
  for (size_t c = 0; c < n; c++) series->low[c] = INFINITY, series->high[c] = -INFINITY;
  name_columns(scene, series->names);
  *result = series;
  return FLO_OK;
}

void flo_series_destroy(FloSeries *series) {
  if (!series) return;
  flo_row_file_close(&series->file);
  free(series->names);
  free(series->last); // the others are in the same block
  free(series);
}

size_t flo_series_find(const FloSeries *series, const char *name) {
  for (size_t c = 0; c < series->n_columns; c++)
    if (strcmp(series->names[c], name) == 0) return c;
  return series->n_columns;
}

static bool is_worst_name(const char *name) {
  for (size_t k = 0; k < FLO_COUNT_OF(worst_names); k++)
    if (strcmp(worst_names[k], name) == 0) return true;
  return false;
}

// Peaks of joints are of interest over the whole run.
static bool is_peak(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && strncmp(dot, ".peak_", 6) == 0;
}

bool flo_series_has_extremes(const FloSeries *series, size_t column) {
  const char *name = series->names[column];
  return column >= series->first_probe_column || is_worst_name(name) || is_peak(name);
}

bool flo_series_value(const FloSeries *series, const char *measurement, double *value) {
  size_t column = flo_series_find(series, measurement);
  if (column < series->n_columns) {
    *value = is_worst_name(measurement) ? series->high[column] : series->last[column];
    return true;
  }
  const char *dot = strrchr(measurement, '.');
  char name[96];
  if (!dot || (size_t)(dot - measurement) >= sizeof name) return false;
  snprintf(name, sizeof name, "%.*s", (int)(dot - measurement), measurement);
  column = flo_series_find(series, name);
  if (column == series->n_columns) return false;
  if (strcmp(dot, ".last") == 0)
    *value = series->last[column];
  else if (strcmp(dot, ".max") == 0)
    *value = series->high[column];
  else if (strcmp(dot, ".min") == 0)
    *value = series->low[column];
  else if (strcmp(dot, ".mean") == 0)
    *value = series->sum[column] / series->n_summed[column];
  else
    return false;
  return true;
}

// ---- Rows ----

static double *put(double *at, const double *values, size_t n) {
  memcpy(at, values, n * sizeof *values);
  return at + n;
}

static double *put_body(double *at, const FloBodyState *state) {
  at = put(at, state->pose.position, 3);
  at = put(at, state->pose.rotation, 4);
  at = put(at, state->velocity, 3);
  at = put(at, state->angular_velocity, 3);
  at = put(at, state->mean_force, 3);
  return put(at, state->mean_torque, 3);
}

static double *put_soft(double *at, const FloFrameBody *body) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, stretch = 0;
  for (size_t k = 0; k < body->n_vertices; k++) {
    for (size_t axis = 0; axis < 3; axis++) {
      low[axis] = fmin(low[axis], (double)body->vertices[3 * k + axis]);
      high[axis] = fmax(high[axis], (double)body->vertices[3 * k + axis]);
    }
    stretch = fmax(stretch, (double)body->stretch[k]);
  }
  at = put(put(at, low, 3), high, 3);
  *at++ = body->soft.kinetic_energy, *at++ = body->soft.elastic_energy, *at++ = stretch;
  *at++ = (double)body->soft.n_pins;
  at = put(at, body->soft.pull, 3);
  *at++ = body->soft.largest_load;
  *at++ = (double)body->soft.n_samples;
  return at;
}

static double *put_joint(double *at, const FloJointState *state) {
  *at++ = state->coordinate, *at++ = state->speed;
  at = put(at, state->mean_force, 3);
  at = put(at, state->mean_torque, 3);
  *at++ = state->mean_motor_load, *at++ = state->mean_motor_power, *at++ = state->motor_work;
  *at++ = state->open, *at++ = state->is_active;
  *at++ = state->peak_force, *at++ = state->peak_torque;
  return at;
}

static void fill_row(const FloFrame *frame, double *at) {
#define X(name, member, type) *at++ = (double)frame->measurements.member;
  FLO_MEASUREMENTS(X)
#undef X
  *at++ = frame->wall_seconds;
  for (size_t b = 0; b < frame->n_bodies; b++) at = put_body(at, &frame->bodies[b].state);
  for (size_t b = 0; b < frame->n_bodies; b++)
    if (frame->bodies[b].vertices) at = put_soft(at, &frame->bodies[b]);
  for (size_t j = 0; j < frame->n_joints; j++) at = put_joint(at, &frame->joints[j]);
  put(at, frame->probes, frame->n_probes);
}

// Includes the last row in the extremes and means.
static void count_row(FloSeries *series) {
  for (size_t c = 0; c < series->n_columns; c++) {
    series->low[c] = fmin(series->low[c], series->last[c]);
    series->high[c] = fmax(series->high[c], series->last[c]);
    if (series->n_rows == 0 || isnan(series->last[c])) continue;
    series->sum[c] += series->last[c];
    series->n_summed[c] += 1;
  }
  series->n_rows++;
}

static void print_names(const FloSeries *series, FILE *stream) {
  for (size_t c = 0; c < series->n_columns; c++) {
    if (c) fputc(',', stream);
    flo_csv_print_name(stream, series->names[c]);
  }
  fputc('\n', stream);
}

static void print_last(const FloSeries *series, FILE *stream) {
  for (size_t c = 0; c < series->n_columns; c++) {
    char text[32];
    flo_format_number(series->last[c], text);
    fprintf(stream, "%s%s", c ? "," : "", text);
  }
  fputc('\n', stream);
}

// A line that `print` makes; free() it.
static FloStatus make_line(const FloSeries *series, void (*print)(const FloSeries *series, FILE *stream),
                           char **line, size_t *length, FloError *error) {
  *line = NULL;
  FILE *stream = open_memstream(line, length);
  if (stream) print(series, stream);
  if (stream && fclose(stream) == 0) return FLO_OK;
  free(*line);
  return flo_fail(error, FLO_NO_MEMORY, "no memory for a row of %zu measurements", series->n_columns);
}

static FloStatus add_line(FloSeries *series, void (*print)(const FloSeries *series, FILE *stream),
                          FloError *error) {
  char *line;
  size_t length;
  FLO_TRY(make_line(series, print, &line, &length, error));
  series->size_before = series->file.size;
  FloStatus status = flo_row_file_add(&series->file, line, length, error);
  free(line);
  return status;
}

FloStatus flo_series_add(FloSeries *series, const FloFrame *frame, FloError *error) {
  FLO_ASSERT((frame->parts & FLO_FRAME_MEASUREMENTS) &&
             series->n_columns - series->first_probe_column == frame->n_probes);
  fill_row(frame, series->last);
  count_row(series);
  return series->file.is_open ? add_line(series, print_last, error) : FLO_OK;
}

FloStatus flo_series_drop_row(FloSeries *series, FloError *error) {
  FLO_ASSERT(series->n_rows > 0 && series->size_before > 0);
  for (size_t c = 0; c < series->n_columns && series->n_rows > 1; c++)
    if (!isnan(series->last[c])) series->sum[c] -= series->last[c], series->n_summed[c] -= 1;
  series->n_rows--;
  return flo_row_file_cut(&series->file, series->size_before, error);
}

FloStatus flo_series_open(FloSeries *series, const char *path, FloError *error) {
  FLO_TRY(flo_row_file_open(&series->file, path, 0, error));
  return add_line(series, print_names, error);
}

// ---- Reading a row back ----

static FloStatus parse_row(const char *path, const char *line, double **values, size_t *n, FloError *error) {
  size_t length = strcspn(line, "\n"), columns = 1;
  for (size_t i = 0; i < length; i++) columns += line[i] == ',';
  *values = malloc(columns * sizeof **values);
  if (!*values) return flo_fail(error, FLO_NO_MEMORY, "%s: no memory to read a row", path);
  for (*n = 0; *n < columns; (*n)++) {
    char *end;
    (*values)[*n] = strtod(line, &end);
    if (end == line || *end != (*n + 1 < columns ? ',' : '\n')) {
      free(*values);
      return flo_fail(error, FLO_BAD_INPUT, "%s: column %zu of a row is not a number", path, *n + 1);
    }
    line = end + 1;
  }
  return FLO_OK;
}

// ---- Continuing a file ----

static FloStatus parse_rows(FloSeries *series, const char *path, const char *text, FloError *error) {
  const char *line = strchr(text, '\n');
  for (line = line ? line + 1 : ""; *line; line = strchr(line, '\n') + 1) {
    double *values;
    size_t n;
    FLO_TRY(parse_row(path, line, &values, &n, error));
    if (n == series->n_columns) memcpy(series->last, values, n * sizeof *values);
    free(values);
    if (n != series->n_columns)
      return flo_fail(error, FLO_BAD_INPUT,
                      "%s: has a row of %zu values instead of %zu; restore the original file of the run",
                      path, n, series->n_columns);
    count_row(series);
  }
  return FLO_OK;
}

// The length of a name at the start of a line of names, including quotes: up to the next comma or the end of
// the line.
static size_t skip_name(const char *text) {
  const char *at = text;
  if (*at == '"') {
    at++;
    while (*at && (*at != '"' || at[1] == '"')) at += *at == '"' ? 2 : 1;
  }
  return (size_t)(at - text) + strcspn(at, ",\n");
}

// Names the first column that differs. If one of the lines ends before it, its name is empty.
static FloStatus name_difference(const char *path, const char *found, const char *expected, FloError *error) {
  size_t column = 1, n = skip_name(found), n_expected = skip_name(expected);
  while (n == n_expected && memcmp(found, expected, n) == 0) {
    bool has_more = found[n] == ',', is_more_expected = expected[n] == ',';
    found += n + has_more, expected += n_expected + is_more_expected;
    n = skip_name(found), n_expected = skip_name(expected);
    column++;
    if (has_more && is_more_expected) continue;
    if (is_more_expected) break;
    return flo_fail(
        error, FLO_BAD_INPUT,
        "%s: has a column %zu, '%.*s', which this scene does not have; restore the original file of the run",
        path, column, (int)flo_min_size(n, 96), found);
  }
  return flo_fail(
      error, FLO_BAD_INPUT,
      "%s: column %zu is '%.*s', but in this scene it is '%.*s'; restore the original file of the run", path,
      column, (int)flo_min_size(n, 96), found, (int)flo_min_size(n_expected, 96), expected);
}

static FloStatus check_names(const FloSeries *series, const char *path, const char *text, FloError *error) {
  char *names;
  size_t length;
  FLO_TRY(make_line(series, print_names, &names, &length, error));
  FloStatus status = FLO_OK;
  if (strncmp(text, names, length) != 0) status = name_difference(path, text, names, error);
  free(names);
  return status;
}

// The time of the last complete row, also if it comes after the valid rows.
static double latest_wall_seconds(const FloSeries *series, const char *path, char *text) {
  char *end = strrchr(text, '\n'), *start = end;
  double *values, seconds = 0;
  size_t n, column = flo_series_find(series, "wall_seconds");
  while (start && start > text && start[-1] != '\n') start--;
  if (!end || parse_row(path, start, &values, &n, NULL) != FLO_OK) return 0;
  if (column < n && n == series->n_columns) seconds = values[column];
  free(values);
  return seconds;
}

FloStatus flo_series_load(FloSeries *series, const char *path, size_t size, FloError *error) {
  char *text;
  size_t found;
  if (!flo_file_exists(path))
    return flo_fail(error, FLO_BAD_INPUT, "%s: is missing; restore it, or start the run again", path);
  FLO_TRY(flo_file_read(path, &text, &found, error));
  FloStatus status = FLO_OK;
  if (found < size || size == 0 || text[size - 1] != '\n')
    status = flo_fail(
        error, FLO_BAD_INPUT,
        "%s: is shorter than the last checkpoint expects; restore the original file, or start the run again",
        path);
  if (status == FLO_OK) status = check_names(series, path, text, error);
  if (status == FLO_OK) {
    series->wall_seconds = latest_wall_seconds(series, path, text);
    text[size] = 0;
    status = parse_rows(series, path, text, error);
  }
  free(text);
  snprintf(series->file.path, sizeof series->file.path, "%s", path);
  series->file.size = size;
  return status;
}

FloStatus flo_series_go_on(FloSeries *series, FloError *error) {
  char path[FLO_PATH_SIZE];
  memcpy(path, series->file.path, sizeof path);
  return flo_row_file_open(&series->file, path, series->file.size, error);
}
