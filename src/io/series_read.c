#include "io/series_read.h"

#include "base/core.h"
#include "bodies/joint.h"
#include "io/csv.h"
#include "io/files.h"
#include "io/series.h"

#include <stdlib.h>
#include <string.h>

// ---- Reading ----

typedef struct Reader {
  const char *path, *at; // at: position in a text that ends with a zero byte
  FloError *error;
} Reader;

static FloStatus refuse(const Reader *reader, const char *what, size_t line) {
  return flo_fail(reader->error, FLO_BAD_INPUT, "%s: line %zu: %s; name a series.csv that flotsam wrote",
                  reader->path, line, what);
}

static FloStatus no_memory(const Reader *reader) {
  return flo_fail(reader->error, FLO_NO_MEMORY, "%s: no memory to read it", reader->path);
}

// Reads a quoted name; inside quotes, two quotes mean one. Names that are too long are cut.
static void read_quoted(Reader *reader, char name[96]) {
  size_t n = 0;
  for (reader->at++; *reader->at; reader->at++) {
    if (*reader->at == '"' && *++reader->at != '"') break;
    if (n < 95) name[n++] = *reader->at;
  }
  name[n] = 0;
}

static void read_plain(Reader *reader, char name[96]) {
  size_t length = strcspn(reader->at, ",\r\n");
  snprintf(name, 96, "%.*s", (int)flo_min_size(length, 95), reader->at);
  reader->at += length;
}

static bool take(Reader *reader, char c) { return *reader->at == c && (reader->at++, true); }

static bool take_line_end(Reader *reader) {
  take(reader, '\r');
  return take(reader, '\n');
}

static FloStatus read_names(Reader *reader, FloSeriesTable *table) {
  do {
    char(*names)[96] = realloc(table->names, (table->n_columns + 1) * sizeof *names);
    if (!names) return no_memory(reader);
    table->names = names;
    if (*reader->at == '"')
      read_quoted(reader, names[table->n_columns++]);
    else
      read_plain(reader, names[table->n_columns++]);
  } while (take(reader, ','));
  return take_line_end(reader) ? FLO_OK
                               : refuse(reader, "the line with the names of columns is not complete", 1);
}

// Reads row `row` of a table that has room for `capacity` rows.
static FloStatus read_row(Reader *reader, FloSeriesTable *table, size_t capacity, size_t row) {
  for (size_t c = 0; c < table->n_columns; c++) {
    const char *end = flo_csv_take_number(reader->at, &table->values[c * capacity + row]);
    if (!end) return refuse(reader, "a column is not a number", row + 2);
    reader->at = end;
    if (c + 1 < table->n_columns && !take(reader, ',')) return refuse(reader, "columns are missing", row + 2);
  }
  return take_line_end(reader) ? FLO_OK : refuse(reader, "there are too many columns", row + 2);
}

static size_t count_lines(const char *text) {
  size_t n = 0;
  for (; (text = strchr(text, '\n')); text++) n++;
  return n;
}

// A run writes whole lines. An incomplete line at the end was being written when the run ended.
static FloStatus read_table(Reader *reader, FloSeriesTable *table) {
  FLO_TRY(read_names(reader, table));
  size_t n_rows = count_lines(reader->at);
  table->values = malloc((n_rows * table->n_columns + 1) * sizeof *table->values);
  if (!table->values) return no_memory(reader);
  for (size_t row = 0; row < n_rows; row++) FLO_TRY(read_row(reader, table, n_rows, row));
  table->n_rows = n_rows;
  table->is_cut = *reader->at != 0;
  return FLO_OK;
}

FloStatus flo_series_table_read(const char *path, FloSeriesTable *table, FloError *error) {
  char *text;
  size_t size;
  *table = (FloSeriesTable){0};
  FLO_TRY(flo_file_read(path, &text, &size, error));
  Reader reader = {path, text, error};
  FloStatus status = read_table(&reader, table);
  free(text);
  return status;
}

void flo_series_table_free(FloSeriesTable *table) {
  free(table->names);
  free(table->values);
  *table = (FloSeriesTable){0};
}

size_t flo_series_table_find(const FloSeriesTable *table, const char *name) {
  for (size_t c = 0; c < table->n_columns; c++)
    if (strcmp(table->names[c], name) == 0) return c;
  return table->n_columns;
}

// ---- Meaning ----

// In two dimensions masses, energies and forces are per metre of depth: docs/measurements.md.
typedef struct Quantity {
  const char *names; // between blanks
  const char *quantity, *unit, *unit_2d;
} Quantity;

static const Quantity measurements[] = {
    {" time ", "time", "s", "s"},
    {" wall_seconds ", "real time", "s", "s"},
    {" dt ", "time step", "s", "s"},
    {" step ", "steps", "", ""},
    {" iterations ", "iterations", "", ""},
    {" residual ", "residual", "", ""},
    {" density_error_mean density_error_max ", "density error", "", ""},
    {" fluid_particles boundary_particles ", "particles", "", ""},
    {" emitted removed ", "emitted and removed particles", "", ""},
    {" penetrations ", "penetrations", "", ""},
    {" put_back crossings ", "corrections of soft bodies", "", ""},
    {" kinetic_energy potential_energy ", "energy", "J", "J/m"},
    {" momentum_x momentum_y momentum_z ", "momentum", "kg m/s", "kg/s"},
    {" angular_momentum_x angular_momentum_y angular_momentum_z ", "angular momentum", "kg m²/s", "kg m/s"},
    {" max_speed ", "speed", "m/s", "m/s"},
};

// The part after the name of a body and a dot.
static const Quantity body_parts[] = {
    {" x y z ", "position", "m", "m"},        {" qx qy qz qw ", "orientation", "", ""},
    {" vx vy vz ", "velocity", "m/s", "m/s"}, {" wx wy wz ", "angular velocity", "rad/s", "rad/s"},
    {" fx fy fz ", "force", "N", "N/m"},      {" tx ty tz ", "torque", "N m", "N"},
};

// The same for a joint that turns, and for one that moves along a line.
static const Quantity turning_parts[] = {
    {" coordinate ", "angle", "rad", "rad"},
    {" speed ", "angular velocity", "rad/s", "rad/s"},
    {" load ", "torque", "N m", "N"},
};
static const Quantity sliding_parts[] = {
    {" coordinate ", "distance", "m", "m"},
    {" speed ", "velocity", "m/s", "m/s"},
    {" load ", "force", "N", "N/m"},
};
static const Quantity joint_parts[] = {
    {" fx fy fz ", "force", "N", "N/m"}, {" tx ty tz ", "torque", "N m", "N"},
    {" power ", "power", "W", "W/m"},    {" work ", "work", "J", "J/m"},
    {" open ", "gap", "m", "m"},         {" active ", "active", "", ""},
};

static FloSeriesMeaning look_up(const Quantity *table, size_t n, const char *name, bool is_2d) {
  char word[100];
  snprintf(word, sizeof word, " %.96s ", name);
  for (size_t k = 0; k < n; k++)
    if (strstr(table[k].names, word))
      return (FloSeriesMeaning){table[k].quantity, is_2d ? table[k].unit_2d : table[k].unit};
  return (FloSeriesMeaning){NULL, ""};
}

static FloSeriesMeaning meaning_of_probe(const FloProbe *probe, bool is_2d) {
  switch (probe->kind) {
  case FLO_PROBE_PRESSURE:
    return (FloSeriesMeaning){"pressure", "Pa"};
  case FLO_PROBE_WATER_HEIGHT:
    return (FloSeriesMeaning){"height", "m"};
  case FLO_PROBE_FRONT:
    return (FloSeriesMeaning){"front", "m"};
  case FLO_PROBE_FORCE:
    return (FloSeriesMeaning){"force", is_2d ? "N/m" : "N"};
  case FLO_PROBE_OUTSIDE:
    return (FloSeriesMeaning){"particles outside", ""};
  default:
    return (FloSeriesMeaning){"torque", is_2d ? "N" : "N m"};
  }
}

// The column of a probe has its name, or its name and an axis.
static const FloProbe *find_probe(const FloScene *scene, const char *column) {
  for (size_t k = 0; scene && k < scene->n_probes; k++) {
    size_t length = strlen(scene->probes[k].name);
    if (strncmp(scene->probes[k].name, column, length) != 0) continue;
    if (!column[length] || (column[length] == '.' && strlen(column) == length + 2)) return &scene->probes[k];
  }
  return NULL;
}

static const FloSceneJoint *find_joint(const FloScene *scene, const char *column, size_t length) {
  for (size_t k = 0; scene && k < scene->n_joints; k++) {
    const char *name = scene->joints[k].name;
    if (strlen(name) == length && strncmp(name, column, length) == 0) return &scene->joints[k];
  }
  return NULL;
}

static FloSeriesMeaning meaning_of_joint(const FloSceneJoint *joint, const char *part, bool is_2d) {
  bool is_turning = flo_joint_form(joint->def.kind)->is_angle;
  FloSeriesMeaning meaning = look_up(joint_parts, FLO_COUNT_OF(joint_parts), part, is_2d);
  if (meaning.quantity) return meaning;
  return is_turning ? look_up(turning_parts, FLO_COUNT_OF(turning_parts), part, is_2d)
                    : look_up(sliding_parts, FLO_COUNT_OF(sliding_parts), part, is_2d);
}

FloSeriesMeaning flo_series_meaning(const FloScene *scene, const char *column) {
  bool is_2d = scene && scene->world.dim == 2;
  FloSeriesMeaning meaning = look_up(measurements, FLO_COUNT_OF(measurements), column, is_2d);
  if (meaning.quantity) return meaning;
  const FloProbe *probe = find_probe(scene, column);
  if (probe) return meaning_of_probe(probe, is_2d);
  const char *dot = strrchr(column, '.');
  if (!dot) return meaning;
  const FloSceneJoint *joint = find_joint(scene, column, (size_t)(dot - column));
  if (joint) return meaning_of_joint(joint, dot + 1, is_2d);
  return look_up(body_parts, FLO_COUNT_OF(body_parts), dot + 1, is_2d);
}
