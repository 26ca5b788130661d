#include "io/series.h"

#include "base/core.h"
#include "io/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The columns every run has, in order: X(name, value from the measurements `f`).
#define MEASUREMENTS(X)                                                                                      \
  X(time, f->time)                                                                                           \
  X(step, (double)f->step)                                                                                   \
  X(dt, f->dt)                                                                                               \
  X(iterations, f->iterations)                                                                               \
  X(residual, f->residual)                                                                                   \
  X(density_error_mean, f->density_error_mean)                                                               \
  X(density_error_max, f->density_error_max)                                                                 \
  X(fluid_particles, (double)f->fluid_particles)                                                             \
  X(boundary_particles, (double)f->boundary_particles)                                                       \
  X(rigid_particles, (double)f->rigid_particles)                                                             \
  X(contacts, (double)f->contacts)                                                                           \
  X(kinetic_energy, f->kinetic_energy)                                                                       \
  X(potential_energy, f->potential_energy)                                                                   \
  X(momentum_x, f->momentum[0])                                                                              \
  X(momentum_y, f->momentum[1])                                                                              \
  X(momentum_z, f->momentum[2])                                                                              \
  X(angular_momentum_x, f->angular_momentum[0])                                                              \
  X(angular_momentum_y, f->angular_momentum[1])                                                              \
  X(angular_momentum_z, f->angular_momentum[2])                                                              \
  X(penetrations, (double)f->penetrations)                                                                   \
  X(max_speed, f->max_speed)                                                                                 \
  X(emitted, (double)f->emitted)                                                                             \
  X(removed, (double)f->removed)                                                                             \
  X(wall_seconds, wall_seconds)

#define X(name, value) #name,
static const char *const measurement_names[] = {MEASUREMENTS(X)};
#undef X

static const char *const body_names[FLO_SERIES_PER_BODY] = {
    "x",  "y",  "z",  "qx", "qy", "qz", "qw", "vx", "vy", "vz", // position, orientation, velocity
    "wx", "wy", "wz", "fx", "fy", "fz", "tx", "ty", "tz",       // angular velocity, force, torque
};

// Measurements for which a bare name in an expectation means the worst value of the run rather than the last
// one.
static const char *const worst_names[] = {"iterations",        "residual",     "density_error_mean",
                                          "density_error_max", "penetrations", "max_speed"};

static const char *const axis_names[] = {"x", "y", "z"};

static bool is_vector_probe(const FloProbe *probe) {
  return probe->kind == FLO_PROBE_FORCE || probe->kind == FLO_PROBE_TORQUE;
}

// ---- Columns ----

static size_t count_columns(const FloScene *scene) {
  size_t n = FLO_COUNT_OF(measurement_names) + scene->n_bodies * FLO_SERIES_PER_BODY;
  for (size_t k = 0; k < scene->n_probes; k++) n += is_vector_probe(&scene->probes[k]) ? 3 : 1;
  return n;
}

static void name_columns(const FloScene *scene, char (*names)[96]) {
  size_t column = 0;
  for (size_t k = 0; k < FLO_COUNT_OF(measurement_names); k++)
    snprintf(names[column++], sizeof names[0], "%s", measurement_names[k]);
  for (size_t b = 0; b < scene->n_bodies; b++)
    for (size_t k = 0; k < FLO_SERIES_PER_BODY; k++)
      snprintf(names[column++], sizeof names[0], "%s.%s", scene->bodies[b].name, body_names[k]);
  for (size_t p = 0; p < scene->n_probes; p++) {
    const FloProbe *probe = &scene->probes[p];
    if (!is_vector_probe(probe))
      snprintf(names[column++], sizeof names[0], "%s", probe->name);
    else
      for (int axis = 0; axis < 3; axis++)
        snprintf(names[column++], sizeof names[0], "%s.%s", probe->name, axis_names[axis]);
  }
}

FloStatus flo_series_create(const FloScene *scene, FloSeries **result, FloError *error) {
  FloSeries *series = calloc(1, sizeof *series);
  size_t n = count_columns(scene);
  if (series) {
    series->n_columns = n;
    series->first_body_column = FLO_COUNT_OF(measurement_names);
    series->first_probe_column = series->first_body_column + scene->n_bodies * FLO_SERIES_PER_BODY;
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
  free(series->last); // the others live in the same block
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

bool flo_series_has_extremes(const FloSeries *series, size_t column) {
  return column >= series->first_probe_column || is_worst_name(series->names[column]);
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

// ---- Probes ----

// The k-th position of the fluid along an axis; views are looked up once by the caller.
static double coordinate(const FloView *view, size_t k) {
  return *(const double *)((const char *)view->data + k * view->stride);
}

// Half of the smallest rest density in the fluid: what separates "in the fluid" from "above it".
static double half_rest_density(const FloWorld *world, const FloScene *scene) {
  FloView mass;
  double lightest = INFINITY;
  if (flo_world_view(world, FLO_SET_FLUID, "mass", &mass, NULL) != FLO_OK) return INFINITY;
  for (size_t k = 0; k < mass.count; k++)
    lightest = fmin(lightest, *(const float *)((const char *)mass.data + k * mass.stride));
  return 0.5 * lightest / pow(scene->world.spacing, scene->world.dim);
}

static double highest_fluid(const FloWorld *world, int up) {
  FloView view;
  double highest = -INFINITY;
  if (flo_world_view(world, FLO_SET_FLUID, axis_names[up], &view, NULL) != FLO_OK) return highest;
  for (size_t k = 0; k < view.count; k++) highest = fmax(highest, coordinate(&view, k));
  return highest;
}

// Walks down the vertical line from above all fluid to its foot; the first point inside fluid is the water
// height. The foot's own height if there is no fluid above it.
static double measure_water_height(const FloScene *scene, FloWorld *world, const FloProbe *probe) {
  double threshold = half_rest_density(world, scene), step = scene->world.spacing / 8;
  double foot = probe->point[scene->up], top = highest_fluid(world, scene->up) + scene->world.spacing;
  if (flo_world_time(world) == 0 && scene->world.settle == 0) return NAN; // no step has been made
  if (!isfinite(threshold) || !isfinite(top) || top <= foot) return foot;
  for (size_t k = (size_t)ceil((top - foot) / step); k > 0; k--) {
    double point[3] = {probe->point[0], probe->point[1], probe->point[2]}, density, pressure;
    point[scene->up] = foot + (double)k * step;
    flo_world_sample(world, point, &density, &pressure);
    if (density > threshold) return point[scene->up];
  }
  return foot;
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// The 99.5 % quantile along an axis: where the fluid's front is, without the spray ahead of it. NaN without
// fluid.
static double measure_front(const FloWorld *world, int axis) {
  FloView view;
  if (flo_world_view(world, FLO_SET_FLUID, axis_names[axis], &view, NULL) != FLO_OK || view.count == 0)
    return NAN;
  double *values = malloc(view.count * sizeof *values);
  if (!values) return NAN;
  for (size_t k = 0; k < view.count; k++) values[k] = coordinate(&view, k);
  qsort(values, view.count, sizeof *values, compare_doubles);
  double front = values[(size_t)(0.995 * (double)(view.count - 1))];
  free(values);
  return front;
}

static double measure_scalar(const FloScene *scene, FloWorld *world, const FloProbe *probe) {
  double density, pressure;
  switch (probe->kind) {
  case FLO_PROBE_WATER_HEIGHT:
    return measure_water_height(scene, world, probe);
  case FLO_PROBE_FRONT:
    return measure_front(world, probe->axis);
  default:
    flo_world_sample(world, probe->point, &density, &pressure);
    return pressure;
  }
}

// ---- Rows ----

static double *put(double *at, const double *values, size_t n) {
  memcpy(at, values, n * sizeof *values);
  return at + n;
}

static FloStatus measure_bodies(const FloScene *scene, FloWorld *world, double **at, FloError *error) {
  for (size_t b = 0; b < scene->n_bodies; b++) {
    FloBodyState state;
    FLO_TRY(flo_world_body_state(world, scene->bodies[b].id, &state, error));
    *at = put(*at, state.pose.position, 3);
    *at = put(*at, state.pose.rotation, 4);
    *at = put(*at, state.velocity, 3);
    *at = put(*at, state.angular_velocity, 3);
    *at = put(*at, state.mean_force, 3);
    *at = put(*at, state.mean_torque, 3);
  }
  return FLO_OK;
}

static FloStatus measure_probes(const FloScene *scene, FloWorld *world, double **at, FloError *error) {
  for (size_t p = 0; p < scene->n_probes; p++) {
    const FloProbe *probe = &scene->probes[p];
    if (!is_vector_probe(probe)) {
      *(*at)++ = measure_scalar(scene, world, probe);
      continue;
    }
    FloBodyState state;
    FLO_TRY(flo_world_body_state(world, scene->bodies[probe->body].id, &state, error));
    *at = put(*at, probe->kind == FLO_PROBE_FORCE ? state.mean_force : state.mean_torque, 3);
  }
  return FLO_OK;
}

static FloStatus measure(const FloScene *scene, FloWorld *world, double wall_seconds, double *row,
                         FloError *error) {
  FloMeasurements measurements = flo_world_measure(world), *f = &measurements;
  double *at = row;
#define X(name, value) *at++ = value;
  MEASUREMENTS(X)
#undef X
  FLO_TRY(measure_bodies(scene, world, &at, error));
  return measure_probes(scene, world, &at, error);
}

// Takes the last row into the extremes and means.
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

// A name with a comma or a quote in it must not shift the columns.
static void print_name(FILE *stream, const char *name) {
  if (!strpbrk(name, ",\"\n")) {
    fputs(name, stream);
    return;
  }
  fputc('"', stream);
  for (; *name; name++) {
    if (*name == '"') fputc('"', stream);
    fputc(*name, stream);
  }
  fputc('"', stream);
}

static void print_names(const FloSeries *series, FILE *stream) {
  for (size_t c = 0; c < series->n_columns; c++) {
    if (c) fputc(',', stream);
    print_name(stream, series->names[c]);
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

// A line as `print` makes it; free() it.
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

FloStatus flo_series_add(FloSeries *series, const FloScene *scene, FloWorld *world, double wall_seconds,
                         FloError *error) {
  FLO_TRY(measure(scene, world, wall_seconds, series->last, error));
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

// Each precision is written out, so that the compiler sees that the text fits.
void flo_format_number(double value, char text[32]) {
  snprintf(text, 32, "%.15g", value);
  if (strtod(text, NULL) == value) return;
  snprintf(text, 32, "%.16g", value);
  if (strtod(text, NULL) == value) return;
  snprintf(text, 32, "%.17g", value);
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

FloStatus flo_series_read_row(const char *path, size_t row, double **values, size_t *n, FloError *error) {
  char *text;
  size_t size;
  FLO_TRY(flo_file_read(path, &text, &size, error));
  const char *line = text;
  for (size_t k = 0; line && k <= row; k++) {
    line = strchr(line, '\n');
    if (line) line++;
  }
  FloStatus status = line && *line ? parse_row(path, line, values, n, error)
                                   : flo_fail(error, FLO_BAD_INPUT, "%s: has no row %zu", path, row);
  free(text);
  return status;
}

// ---- Going on with a file ----

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
                      "%s: has a row of %zu values, there should be %zu; put the file of the run back", path,
                      n, series->n_columns);
    count_row(series);
  }
  return FLO_OK;
}

// The length of a name at the start of a line of names, with its quotes: as far as the comma or the end of
// the line behind it.
static size_t skip_name(const char *text) {
  const char *at = text;
  if (*at == '"') {
    at++;
    while (*at && (*at != '"' || at[1] == '"')) at += *at == '"' ? 2 : 1;
  }
  return (size_t)(at - text) + strcspn(at, ",\n");
}

// Names the first column that differs; where one of the lines has ended before, it has nothing there.
static FloStatus name_difference(const char *path, const char *found, const char *expected, FloError *error) {
  size_t column = 1, n = skip_name(found), n_expected = skip_name(expected);
  while (n == n_expected && memcmp(found, expected, n) == 0) {
    bool has_more = found[n] == ',', is_more_expected = expected[n] == ',';
    found += n + has_more, expected += n_expected + is_more_expected;
    n = skip_name(found), n_expected = skip_name(expected);
    column++;
    if (has_more && is_more_expected) continue;
    if (is_more_expected) break;
    return flo_fail(error, FLO_BAD_INPUT,
                    "%s: has a column %zu, '%.*s', which this scene has not; put the file of the run back",
                    path, column, (int)flo_min_size(n, 96), found);
  }
  return flo_fail(error, FLO_BAD_INPUT,
                  "%s: column %zu is '%.*s', in this scene it is '%.*s'; put the file of the run back", path,
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

// Of the last whole row, also where that is behind the rows that count.
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
    return flo_fail(error, FLO_BAD_INPUT, "%s: is missing; put it back, or begin the run anew", path);
  FLO_TRY(flo_file_read(path, &text, &found, error));
  FloStatus status = FLO_OK;
  if (found < size || size == 0 || text[size - 1] != '\n')
    status =
        flo_fail(error, FLO_BAD_INPUT,
                 "%s: is shorter than when the run was last saved; put it back, or begin the run anew", path);
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
