// Reads bodies.csv.
#include "base/core.h"
#include "io/body_files.h"
#include "io/csv.h"

#include <stdlib.h>
#include <string.h>

// Reads a row at the front of a text and returns the rest; NULL if the row is not that of this body at this
// frame.
static const char *take_row(const char *at, size_t frame, const char *name, double *time, double *numbers) {
  double number = -1;
  at = flo_csv_take(flo_csv_take_number(at, &number), ',');
  if (number != (double)frame) return NULL;
  at = flo_csv_take(flo_csv_take_number(at, time), ',');
  at = flo_csv_take_name(at, name);
  for (size_t k = 0; k < FLO_BODY_NUMBERS; k++) at = flo_csv_take_number(flo_csv_take(at, ','), &numbers[k]);
  return flo_csv_take(at, '\n');
}

static size_t count_lines(const char *text) {
  size_t n = 0;
  for (; (text = strchr(text, '\n')); text++) n++;
  return n;
}

static FloStatus read_rows(const char *path, const char *at, const FloScene *scene, FloBodyTable *table,
                           FloError *error) {
  const size_t n = scene->n_bodies, n_rows = table->n_frames * n;
  for (size_t k = 0; k < n_rows; k++) {
    const char *name = scene->bodies[k % n].name;
    at = take_row(at, k / n, name, &table->times[k / n], table->rows[k]);
    if (!at)
      return flo_fail(
          error, FLO_BAD_INPUT,
          "%s: line %zu: is not the row of '%s' at frame %zu; restore the original file of the run", path,
          k + 2, name, k / n);
  }
  return FLO_OK;
}

static FloStatus read_text(const char *path, const char *text, const FloScene *scene, FloBodyTable *table,
                           FloError *error) {
  const size_t length = strlen(flo_body_files_head), n = scene->n_bodies;
  if (strncmp(text, flo_body_files_head, length) != 0)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "%s: line 1: does not name the columns of a bodies.csv; restore the original file of the run", path);
  table->n_frames = n > 0 ? count_lines(text + length) / n : 0;
  table->times = malloc((table->n_frames + 1) * sizeof *table->times);
  table->rows = malloc((table->n_frames * n + 1) * sizeof *table->rows);
  if (!table->times || !table->rows) return flo_fail(error, FLO_NO_MEMORY, "%s: no memory to read it", path);
  return read_rows(path, text + length, scene, table, error);
}

FloStatus flo_body_table_read(const char *folder, const FloScene *scene, FloBodyTable *table,
                              FloError *error) {
  char path[FLO_PATH_SIZE], *text;
  size_t size;
  *table = (FloBodyTable){.n_bodies = scene->n_bodies};
  FLO_TRY(flo_path_join(folder, "bodies.csv", path, error));
  if (!flo_file_exists(path))
    return flo_fail(error, FLO_BAD_INPUT, "%s: is missing; restore it, or run the scene again", path);
  FLO_TRY(flo_file_read(path, &text, &size, error));
  FloStatus status = read_text(path, text, scene, table, error);
  free(text);
  return status;
}

void flo_body_table_free(FloBodyTable *table) {
  free(table->times);
  free(table->rows);
  *table = (FloBodyTable){0};
}

static const double *row_of(const FloBodyTable *table, size_t frame, size_t body) {
  FLO_ASSERT(frame < table->n_frames && body < table->n_bodies);
  return table->rows[frame * table->n_bodies + body];
}

// In the file the scalar of a quaternion comes first, in poses it comes last.
FloPose flo_body_table_pose(const FloBodyTable *table, size_t frame, size_t body) {
  const double *row = row_of(table, frame, body);
  return (FloPose){{row[0], row[1], row[2]}, {row[4], row[5], row[6], row[3]}};
}

FloBodyState flo_body_table_state(const FloBodyTable *table, size_t frame, size_t body) {
  const double *row = row_of(table, frame, body);
  FloBodyState state = {.pose = flo_body_table_pose(table, frame, body)};
  const size_t size = sizeof state.velocity;
  memcpy(state.velocity, row + 7, size);
  memcpy(state.angular_velocity, row + 10, size);
  memcpy(state.force, row + 13, size), memcpy(state.mean_force, row + 13, size);
  memcpy(state.torque, row + 16, size), memcpy(state.mean_torque, row + 16, size);
  return state;
}
