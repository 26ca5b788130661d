#include "io/particle_file.h"

#include "base/core.h"
#include "io/files.h"
#include "io/suggest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// The known names of columns; those of positions and velocities come first, in the order of their numbers.
static const char *const names[] = {"x", "y", "z", "vx", "vy", "vz", "type", "material"};

enum { Z = 2, VX = 3, VZ = 5, N_NUMBERS = 6, TYPE = 6, MATERIAL, N_NAMES };
enum { NONE = -1 };

// Longer than any useful number; the rest of longer texts is ignored.
enum { FIELD_SIZE = 128 };

typedef struct Field {
  char text[FIELD_SIZE];
  size_t length; // length of the whole field, which may be longer than the buffer, or hold zero bytes
} Field;

typedef struct Reader {
  const char *path, *at, *end;
  const FloParticleFileOptions *options;
  FloParticleFile *file;
  size_t capacity;
  size_t line;           // current line, from 1
  size_t n_columns;      // number of columns in the first line
  int place[N_NAMES];    // the column of each name; NONE: missing
  Field fields[N_NAMES]; // fields of the current row
  bool has_fluid;        // a row was of type fluid, of any material
  FloError *error;
} Reader;

// ---- Failing ----

static FloStatus no_memory(const Reader *reader) {
  return flo_fail(reader->error, FLO_NO_MEMORY, "%s: no memory for its particles", reader->path);
}

static FloStatus refuse_field(const Reader *reader, int name, const char *what) {
  return flo_fail(reader->error, FLO_BAD_INPUT, "%s: line %zu, column '%s': '%.40s' %s", reader->path,
                  reader->line, names[name], reader->fields[name].text, what);
}

// ---- Fields and lines ----

// Whether the line ends here; a CR counts only before a line feed or the end of the text.
static bool is_line_end(const Reader *reader) {
  const char *at = reader->at;
  if (at < reader->end && *at == '\r') at++;
  return at == reader->end || *at == '\n';
}

static void skip_line_end(Reader *reader) {
  if (reader->at < reader->end && *reader->at == '\r') reader->at++;
  if (reader->at < reader->end) reader->at++;
  reader->line++;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static void skip_blanks(Reader *reader) {
  while (reader->at < reader->end && is_blank(*reader->at)) reader->at++;
}

static void put(Field *field, char c) {
  if (field->length < FIELD_SIZE - 1) field->text[field->length] = c;
  field->length++;
}

// Between quotes, line ends belong to the field too.
static FloStatus read_quoted(Reader *reader, Field *field) {
  size_t first_line = reader->line;
  for (reader->at++; reader->at < reader->end; reader->at++) {
    if (*reader->at == '"' && (++reader->at == reader->end || *reader->at != '"')) {
      skip_blanks(reader);
      return FLO_OK;
    }
    reader->line += *reader->at == '\n';
    put(field, *reader->at);
  }
  return flo_fail(reader->error, FLO_BAD_INPUT, "%s: line %zu: a quote begins here and has no end; close it",
                  reader->path, first_line);
}

static void read_plain(Reader *reader, Field *field) {
  for (; reader->at < reader->end && *reader->at != ',' && !is_line_end(reader); reader->at++)
    put(field, *reader->at);
  while (field->length && field->length < FIELD_SIZE && is_blank(field->text[field->length - 1]))
    field->length--;
}

// Reads a field, and the comma after it unless it is the last of its line.
static FloStatus read_field(Reader *reader, Field *field, bool *is_last) {
  field->length = 0;
  skip_blanks(reader);
  if (reader->at < reader->end && *reader->at == '"')
    FLO_TRY(read_quoted(reader, field));
  else
    read_plain(reader, field);
  field->text[flo_min_size(field->length, FIELD_SIZE - 1)] = 0;
  *is_last = is_line_end(reader);
  if (*is_last) return FLO_OK;
  if (*reader->at++ == ',') return FLO_OK;
  return flo_fail(reader->error, FLO_BAD_INPUT, "%s: line %zu: '%c' follows a quote; a comma is needed there",
                  reader->path, reader->line, reader->at[-1]);
}

// Goes to the next line that is not empty; false at the end of the text.
static bool find_line(Reader *reader) {
  for (;;) {
    skip_blanks(reader);
    if (!is_line_end(reader)) return true;
    if (reader->at == reader->end) return false;
    skip_line_end(reader);
  }
}

// ---- The line of names ----

static bool is_wanted(const Reader *reader, int name) {
  return name < reader->options->dim || (name == MATERIAL && reader->options->material);
}

static FloStatus note_name(Reader *reader, const Field *field) {
  for (int name = 0; name < N_NAMES; name++) {
    if (strcmp(field->text, names[name])) continue;
    if (reader->place[name] != NONE)
      return flo_fail(reader->error, FLO_BAD_INPUT,
                      "%s: line %zu: two columns have the name '%s'; rename one", reader->path, reader->line,
                      names[name]);
    reader->place[name] = (int)reader->n_columns;
  }
  return FLO_OK;
}

// Reads the line of names again for the message: it lists all names, and suggests one.
static FloStatus refuse_names(Reader *reader, const char *header, size_t line, int missing) {
  FloSuggestion suggestion = flo_suggest_start(names[missing]);
  char known[256] = "", best[FIELD_SIZE], hint[128];
  size_t used = 0;
  bool is_last = false;
  reader->at = header, reader->line = line;
  while (!is_last) {
    Field field;
    FLO_TRY(read_field(reader, &field, &is_last));
    flo_suggest_offer(&suggestion, field.text);
    if (suggestion.best == field.text) suggestion.best = strcpy(best, field.text);
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%.30s", used ? ", " : "", field.text);
    used = flo_min_size(used, sizeof known - 1);
  }
  return flo_fail(reader->error, FLO_BAD_INPUT, "%s: line %zu: there is no column '%s'%s (there is %s)",
                  reader->path, reader->line, names[missing], flo_suggest_text(&suggestion, hint), known);
}

static FloStatus read_names(Reader *reader) {
  const char *header = reader->at;
  size_t line = reader->line;
  for (int name = 0; name < N_NAMES; name++) reader->place[name] = NONE;
  for (bool is_last = false; !is_last; reader->n_columns++) {
    Field field;
    FLO_TRY(read_field(reader, &field, &is_last));
    FLO_TRY(note_name(reader, &field));
  }
  for (int name = 0; name < N_NAMES; name++)
    if (is_wanted(reader, name) && reader->place[name] == NONE)
      return refuse_names(reader, header, line, name);
  return FLO_OK;
}

// ---- Rows ----

// The buffer for the field of a column; `other` if the column is not used.
static Field *field_of(Reader *reader, size_t column, Field *other) {
  for (int name = 0; name < N_NAMES; name++)
    if (reader->place[name] == (int)column) return &reader->fields[name];
  return other;
}

static FloStatus read_fields(Reader *reader) {
  size_t n = 0;
  for (bool is_last = false; !is_last; n++) {
    Field other;
    FLO_TRY(read_field(reader, field_of(reader, n, &other), &is_last));
  }
  if (n == reader->n_columns) return FLO_OK;
  return flo_fail(reader->error, FLO_BAD_INPUT,
                  "%s: line %zu: the line has %zu fields, but the file has %zu columns", reader->path,
                  reader->line, n, reader->n_columns);
}

// A velocity is rounded once, directly to float.
static double to_number(const char *text, bool is_velocity, char **end) {
  return is_velocity ? (double)strtof(text, end) : strtod(text, end);
}

static FloStatus read_number(const Reader *reader, int name, double *value) {
  const Field *field = &reader->fields[name];
  char *end;
  *value = 0;
  if (reader->place[name] == NONE) return FLO_OK;
  *value = to_number(field->text, name >= VX, &end);
  bool is_number = field->length > 0 && field->length < FIELD_SIZE && end == field->text + field->length;
  if (!is_number) return refuse_field(reader, name, "is not a number");
  if (!isfinite(*value)) return refuse_field(reader, name, "is not finite, or too large");
  bool leaves_plane = reader->options->dim == 2 && (name == Z || name == VZ) && *value != 0;
  return leaves_plane ? refuse_field(reader, name, "must be 0 in a two-dimensional scene") : FLO_OK;
}

static FloStatus make_room(Reader *reader) {
  FloParticleFile *file = reader->file;
  if (file->count == reader->options->max_particles)
    return flo_fail(reader->error, FLO_BAD_INPUT,
                    "%s: line %zu: the file has more than %zu particles; leave some out", reader->path,
                    reader->line, reader->options->max_particles);
  if (file->count < reader->capacity) return FLO_OK;
  size_t capacity = 2 * reader->capacity + 256;
  double *positions = realloc(file->positions, 3 * capacity * sizeof *positions);
  if (!positions) return no_memory(reader);
  file->positions = positions;
  float *velocities = realloc(file->velocities, 3 * capacity * sizeof *velocities);
  if (!velocities) return no_memory(reader);
  file->velocities = velocities;
  reader->capacity = capacity;
  return FLO_OK;
}

static bool says(const Reader *reader, int name, const char *word) {
  return reader->place[name] == NONE || !strcmp(reader->fields[name].text, word);
}

static FloStatus read_row(Reader *reader) {
  FloParticleFile *file = reader->file;
  FLO_TRY(read_fields(reader));
  if (!says(reader, TYPE, "fluid")) return FLO_OK;
  reader->has_fluid = true;
  if (reader->options->material && !says(reader, MATERIAL, reader->options->material)) return FLO_OK;
  FLO_TRY(make_room(reader));
  for (int name = 0; name < N_NUMBERS; name++) {
    double value;
    FLO_TRY(read_number(reader, name, &value));
    if (name < VX)
      file->positions[3 * file->count + (size_t)name] = value;
    else
      file->velocities[3 * file->count + (size_t)(name - VX)] = (float)value;
  }
  file->count++;
  return FLO_OK;
}

// ---- All of it ----

static FloStatus check_count(const Reader *reader) {
  if (reader->file->count > 0) return FLO_OK;
  if (reader->has_fluid)
    return flo_fail(reader->error, FLO_BAD_INPUT, "%s: no row has '%.60s' in the column 'material'",
                    reader->path, reader->options->material);
  return flo_fail(reader->error, FLO_BAD_INPUT, "%s: %s", reader->path,
                  reader->place[TYPE] == NONE ? "there are no rows after the names of the columns"
                                              : "no row has 'fluid' in the column 'type'");
}

static FloStatus read_all(Reader *reader) {
  static const char byte_order_mark[] = "\xef\xbb\xbf"; // the mark at the beginning of some UTF-8 files
  if (!strncmp(reader->at, byte_order_mark, 3)) reader->at += 3;
  if (!find_line(reader))
    return flo_fail(reader->error, FLO_BAD_INPUT, "%s: is empty; its first line must name the columns: %s",
                    reader->path, reader->options->dim == 2 ? "x,y" : "x,y,z");
  FLO_TRY(read_names(reader));
  while (find_line(reader)) FLO_TRY(read_row(reader));
  return check_count(reader);
}

FloStatus flo_particle_file_parse(const char *name, const char *text, size_t size,
                                  const FloParticleFileOptions *options, FloParticleFile *file,
                                  FloError *error) {
  *file = (FloParticleFile){0};
  Reader reader = {.path = name,
                   .at = text,
                   .end = text + size,
                   .options = options,
                   .file = file,
                   .line = 1,
                   .error = error};
  return read_all(&reader);
}

FloStatus flo_particle_file_read(const char *path, const FloParticleFileOptions *options,
                                 FloParticleFile *file, FloError *error) {
  struct stat about;
  char *text;
  size_t size;
  *file = (FloParticleFile){0};
  if (stat(path, &about)) return flo_fail(error, FLO_IO_FAILED, "%s: cannot read: %s", path, strerror(errno));
  // Devices and pipes can be read only once, or have no end, so a scene cannot use them.
  if (!S_ISREG(about.st_mode))
    return flo_fail(error, FLO_BAD_INPUT, "%s: is %s, not a file; name a CSV file", path,
                    S_ISDIR(about.st_mode) ? "a folder" : "a device or a pipe");
  FLO_TRY(flo_file_read(path, &text, &size, error));
  FloStatus status = flo_particle_file_parse(path, text, size, options, file, error);
  free(text);
  return status;
}

void flo_particle_file_free(FloParticleFile *file) {
  free(file->positions);
  free(file->velocities);
  *file = (FloParticleFile){0};
}
