#include "io/export.h"

#include "base/core.h"
#include "io/files.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = UINT16_MAX, MAX_COLUMNS = 4 + 9 * FLO_VTK_MAX_ARRAYS };

static const struct {
  const char *ply, *legacy;
  size_t size;
} types[FLO_VTK_TYPE_COUNT] = {
    [FLO_VTK_F32] = {"float", "float", 4},
    [FLO_VTK_F64] = {"double", "double", 8},
    [FLO_VTK_U8] = {"uchar", "unsigned_char", 1},
    [FLO_VTK_U16] = {"ushort", "unsigned_short", 2},
    [FLO_VTK_I32] = {"int", "int", 4},
    [FLO_VTK_U32] = {"uint", "unsigned_int", 4},
};

static const char *const formats[FLO_EXPORT_FORMAT_COUNT] = {"csv", "vtk", "ply"};

const char *flo_export_name(FloExportFormat format) { return formats[format]; }

bool flo_export_from_name(const char *name, FloExportFormat *format) {
  for (int k = 0; k < FLO_EXPORT_FORMAT_COUNT; k++)
    if (strcmp(formats[k], name) == 0) return *format = (FloExportFormat)k, true;
  return false;
}

// ---- Columns ----

// One number per particle: element i is `stride` bytes after element i-1.
typedef struct Column {
  char name[48];
  FloVtkType type;
  const char *data;
  size_t stride;
  const char *const *words; // the word for a whole number; NULL: the number itself
  size_t n_words;
  bool is_index; // NONE means that there is none
} Column;

typedef struct Columns {
  Column items[MAX_COLUMNS];
  size_t count;
} Columns;

static void add_column(Columns *columns, const char *name, FloVtkType type, const void *data, int part,
                       int n_parts) {
  Column *column = &columns->items[columns->count++];
  size_t size = types[type].size;
  *column = (Column){.type = type, .stride = size * (size_t)n_parts};
  column->data = (const char *)data + size * (size_t)part;
  snprintf(column->name, sizeof column->name, "%s", name);
}

// Vectors become several columns: "v" for velocity and "n" for normals as everywhere else, "NAME_x" or
// "NAME_0" for others.
static void add_array(Columns *columns, const FloVtkArray *array) {
  const bool is_velocity = strcmp(array->name, "velocity") == 0,
             is_normal = strcmp(array->name, "normal") == 0;
  for (int part = 0; part < array->components; part++) {
    char name[48];
    if (array->components == 1)
      snprintf(name, sizeof name, "%s", array->name);
    else if ((is_velocity || is_normal) && array->components == 3)
      snprintf(name, sizeof name, "%c%c", is_velocity ? 'v' : 'n', "xyz"[part]);
    else if (array->components == 3)
      snprintf(name, sizeof name, "%s_%c", array->name, "xyz"[part]);
    else
      snprintf(name, sizeof name, "%s_%d", array->name, part);
    add_column(columns, name, array->type, array->data, part, array->components);
  }
}

static const FloVtkArray *find_array(const FloVtkPoints *points, const char *name) {
  for (size_t k = 0; k < points->n_arrays; k++)
    if (strcmp(points->arrays[k].name, name) == 0) return &points->arrays[k];
  return NULL;
}

static const char *const before_position[] = {"id", "type", "body"}, *const behind_position[] = {
                                                                         "velocity", "density", "pressure"};

static bool is_named_first(const char *name) {
  for (size_t k = 0; k < FLO_COUNT_OF(before_position); k++)
    if (!strcmp(name, before_position[k]) || !strcmp(name, behind_position[k])) return true;
  return false;
}

static void add_named(Columns *columns, const FloVtkPoints *points, const char *const names[3]) {
  for (size_t k = 0; k < 3; k++) {
    const FloVtkArray *array = find_array(points, names[k]);
    if (array) add_array(columns, array);
  }
}

static void arrange(const FloVtkPoints *points, Columns *columns) {
  static const char *const axes[] = {"x", "y", "z"};
  columns->count = 0;
  add_named(columns, points, before_position);
  for (int axis = 0; axis < 3; axis++)
    add_column(columns, axes[axis], FLO_VTK_F32, points->positions, axis, 3);
  add_named(columns, points, behind_position);
  for (size_t k = 0; k < points->n_arrays; k++)
    if (!is_named_first(points->arrays[k].name)) add_array(columns, &points->arrays[k]);
}

// ---- Names of columns ----

// Frames may hold arrays of any name, but two columns must not have the same name: an array called "x"
// becomes "x_2".
static bool is_taken(const Columns *columns, size_t n, const char *name) {
  for (size_t k = 0; k < n; k++)
    if (strcmp(columns->items[k].name, name) == 0) return true;
  return false;
}

static void tell_names_apart(Columns *columns) {
  for (size_t k = 1; k < columns->count; k++) {
    char name[sizeof columns->items[k].name];
    memcpy(name, columns->items[k].name, sizeof name);
    for (int number = 2; is_taken(columns, k, columns->items[k].name); number++)
      snprintf(columns->items[k].name, sizeof columns->items[k].name, "%.36s_%d", name, number);
  }
}

// A property of PLY is one word.
static void make_words(Columns *columns) {
  for (size_t k = 0; k < columns->count; k++)
    for (char *at = columns->items[k].name; *at; at++)
      if ((unsigned char)*at <= ' ' || *at == 127) *at = '_';
}

// ---- Triangles ----

// In the plane all elements are segments.
static bool has_segments(const FloVtkPoints *points) {
  return points->n_triangles > 0 && points->triangles[1] == points->triangles[2];
}

static FloStatus check_stream(FILE *stream, const char *path, FloError *error) {
  if (!ferror(stream)) return FLO_OK;
  return flo_fail(error, FLO_IO_FAILED, "%s: cannot write: %s", path, strerror(errno));
}

// ---- CSV ----

static const char *const type_words[] = {"fluid", "boundary", "rigid"};

static void name_values(Columns *columns, const FloExportNames *names) {
  for (size_t k = 0; k < columns->count; k++) {
    Column *column = &columns->items[k];
    bool is_body = strcmp(column->name, "body") == 0;
    if (strcmp(column->name, "type") == 0)
      column->words = type_words, column->n_words = FLO_COUNT_OF(type_words);
    else if (is_body || strcmp(column->name, "material") == 0) {
      column->words = is_body ? names->bodies : names->materials;
      column->n_words = is_body ? names->n_bodies : names->n_materials;
      column->is_index = column->type == FLO_VTK_U16; // surfaces have longer numbers, and each vertex a body
    }
  }
}

// Quotes a name with a comma or a quote, so that it does not shift the columns. At most 256 bytes.
static char *put_word(char *at, const char *word) {
  bool is_quoted = strpbrk(word, ",\"\r\n") != NULL;
  char *end = at + 250;
  if (is_quoted) *at++ = '"';
  for (; *word && at < end; word++) {
    if (*word == '"') *at++ = '"';
    *at++ = *word;
  }
  if (is_quoted) *at++ = '"';
  return at;
}

static char *put_whole(char *at, uint32_t value) {
  char digits[10];
  size_t n = 0;
  do digits[n++] = (char)('0' + value % 10), value /= 10;
  while (value);
  while (n > 0) *at++ = digits[--n];
  return at;
}

// Nine digits identify every float (Goldberg 1991, theorem 15), 17 every double.
static char *put_real(char *at, double value, int digits) {
  if (isnan(value)) return memcpy(at, "nan", 3), at + 3; // whatever its sign bit
  if (value == 0 && !signbit(value)) return *at = '0', at + 1;
  return at + snprintf(at, 32, "%.*g", digits, value);
}

static char *put_number(char *at, const Column *column, uint32_t value) {
  if (column->is_index && value == NONE) return at;
  if (value < column->n_words) return put_word(at, column->words[value]);
  return put_whole(at, value);
}

static char *put_value(char *at, const Column *column, size_t i) {
  const char *from = column->data + i * column->stride;
  switch (column->type) {
  case FLO_VTK_F32:
    return put_real(at, (double)*(const float *)from, 9);
  case FLO_VTK_F64:
    return put_real(at, *(const double *)from, 17);
  case FLO_VTK_U8:
    return put_number(at, column, *(const uint8_t *)from);
  case FLO_VTK_U16:
    return put_number(at, column, *(const uint16_t *)from);
  case FLO_VTK_I32:
    return at + snprintf(at, 32, "%d", (int)*(const int32_t *)from);
  default:
    return put_number(at, column, *(const uint32_t *)from);
  }
}

static void print_csv_names(FILE *stream, const Columns *columns) {
  for (size_t k = 0; k < columns->count; k++) {
    char name[260];
    char *end = put_word(name, columns->items[k].name);
    fprintf(stream, "%s%.*s", k ? "," : "", (int)(end - name), name);
  }
  fputc('\n', stream);
}

static FloStatus write_csv(FILE *stream, const char *path, const FloVtkPoints *points, const Columns *columns,
                           FloError *error) {
  enum { LONGEST_VALUE = 260 };
  char *line = malloc(columns->count * LONGEST_VALUE);
  if (!line) return flo_fail(error, FLO_NO_MEMORY, "%s: no memory for a line", path);
  print_csv_names(stream, columns);
  for (size_t i = 0; i < points->count && !ferror(stream); i++) {
    char *at = line;
    for (size_t k = 0; k < columns->count; k++) {
      at = put_value(at, &columns->items[k], i);
      *at++ = k + 1 < columns->count ? ',' : '\n';
    }
    fwrite(line, 1, (size_t)(at - line), stream);
  }
  free(line);
  return check_stream(stream, path, error);
}

// ---- PLY ----

// Titles and names must be one line in the headers of files; line breaks become blanks.
static void print_one_line(FILE *stream, const char *before, const char *text, size_t longest) {
  fputs(before, stream);
  for (size_t k = 0; text[k] && k < longest; k++)
    fputc((unsigned char)text[k] < ' ' ? ' ' : (unsigned char)text[k], stream);
  fputc('\n', stream);
}

static void print_ply_words(FILE *stream, const char *kind, const char *const *words, size_t n) {
  for (size_t k = 0; k < n; k++) {
    char before[48];
    snprintf(before, sizeof before, "comment %s %zu ", kind, k);
    print_one_line(stream, before, words[k], 200);
  }
}

static void print_ply_head(FILE *stream, const FloVtkPoints *points, const Columns *columns,
                           const FloExportNames *names, const char *title) {
  fputs("ply\nformat binary_little_endian 1.0\n", stream);
  print_one_line(stream, "comment ", title, 200);
  fprintf(stream, "comment time %.17g\n", points->time);
  print_ply_words(stream, "type", type_words, FLO_COUNT_OF(type_words));
  print_ply_words(stream, "body", names->bodies, names->n_bodies);
  print_ply_words(stream, "material", names->materials, names->n_materials);
  fprintf(stream, "element vertex %zu\n", points->count);
  for (size_t k = 0; k < columns->count; k++)
    fprintf(stream, "property %s %s\n", types[columns->items[k].type].ply, columns->items[k].name);
  if (has_segments(points))
    fprintf(stream, "element edge %zu\nproperty uint vertex1\nproperty uint vertex2\n", points->n_triangles);
  else if (points->triangles)
    fprintf(stream, "element face %zu\nproperty list uchar uint vertex_indices\n", points->n_triangles);
  fputs("end_header\n", stream);
}

static void write_ply_elements(FILE *stream, const FloVtkPoints *points) {
  const bool are_segments = has_segments(points);
  for (size_t k = 0; points->triangles && k < points->n_triangles && !ferror(stream); k++) {
    if (!are_segments) fputc(3, stream);
    fwrite(points->triangles + 3 * k, sizeof(uint32_t), are_segments ? 2 : 3, stream);
  }
}

// The arrays have the byte order of the machine, like frames: little-endian.
static FloStatus write_ply(FILE *stream, const char *path, const FloVtkPoints *points, const Columns *columns,
                           const FloExportNames *names, const char *title, FloError *error) {
  print_ply_head(stream, points, columns, names, title);
  for (size_t i = 0; i < points->count && !ferror(stream); i++) {
    char row[8 * MAX_COLUMNS], *at = row;
    for (size_t k = 0; k < columns->count; k++) {
      const Column *column = &columns->items[k];
      size_t size = types[column->type].size;
      memcpy(at, column->data + i * column->stride, size);
      at += size;
    }
    fwrite(row, 1, (size_t)(at - row), stream);
  }
  write_ply_elements(stream, points);
  return check_stream(stream, path, error);
}

// ---- Legacy VTK: big-endian ----

static void put_swapped(FILE *stream, const void *data, size_t size, size_t n) {
  enum { BLOCK = 4096 };
  const unsigned char *from = data;
  unsigned char block[BLOCK];
  size_t per_block = BLOCK / size;
  for (size_t done = 0; done < n && !ferror(stream);) {
    size_t count = flo_min_size(per_block, n - done);
    for (size_t i = 0; i < count; i++, from += size)
      for (size_t byte = 0; byte < size; byte++) block[i * size + byte] = from[size - 1 - byte];
    fwrite(block, size, count, stream);
    done += count;
  }
}

static void write_swapped(FILE *stream, const void *data, size_t size, size_t n) {
  put_swapped(stream, data, size, n);
  fputc('\n', stream);
}

// Each cell is its number of points and these points.
static void write_cells(FILE *stream, const FloVtkPoints *points) {
  const uint32_t corners = has_segments(points) ? 2 : 3;
  const size_t n = points->n_triangles;
  fprintf(stream, "%s %zu %zu\n", corners == 2 ? "LINES" : "POLYGONS", n, (corners + 1) * n);
  for (size_t k = 0; k < n && !ferror(stream); k++) {
    const uint32_t *at = points->triangles + 3 * k, cell[4] = {corners, at[0], at[1], at[2]};
    put_swapped(stream, cell, sizeof *cell, corners + 1);
  }
  fputc('\n', stream);
}

// Most programs show only cells, so every point that belongs to none gets a cell of its own.
static void write_vertices(FILE *stream, size_t n) {
  fprintf(stream, "VERTICES %zu %zu\n", n, 2 * n);
  for (size_t k = 0; k < n && !ferror(stream); k++)
    put_swapped(stream, (const uint32_t[2]){1, (uint32_t)k}, sizeof(uint32_t), 2);
  fputc('\n', stream);
}

// The header of an array is split at blanks, so VTK writes and reads special characters as %XX.
static void print_vtk_name(FILE *stream, const char *name) {
  for (; *name; name++) {
    const unsigned char c = (unsigned char)*name;
    if (c <= ' ' || c > 126 || c == '"' || c == '%')
      fprintf(stream, "%%%02X", c);
    else
      fputc(c, stream);
  }
}

static FloStatus write_vtk(FILE *stream, const char *path, const FloVtkPoints *points, const char *title,
                           FloError *error) {
  size_t n = points->count;
  print_one_line(stream, "# vtk DataFile Version 4.2\n", title, 250);
  fputs("BINARY\nDATASET POLYDATA\nFIELD FieldData 1\nTimeValue 1 1 double\n", stream);
  write_swapped(stream, &points->time, sizeof points->time, 1);
  fprintf(stream, "POINTS %zu float\n", n);
  write_swapped(stream, points->positions, sizeof(float), 3 * n);
  if (points->triangles)
    write_cells(stream, points);
  else
    write_vertices(stream, n);
  // Arrays are written as fields: many programs read only the first of several SCALARS.
  fprintf(stream, "POINT_DATA %zu\nFIELD FieldData %zu\n", n, points->n_arrays);
  for (size_t k = 0; k < points->n_arrays; k++) {
    const FloVtkArray *array = &points->arrays[k];
    print_vtk_name(stream, array->name);
    fprintf(stream, " %d %zu %s\n", array->components, n, types[array->type].legacy);
    write_swapped(stream, array->data, types[array->type].size, n * (size_t)array->components);
  }
  return check_stream(stream, path, error);
}

// ---- All formats ----

FloStatus flo_export_write(FILE *stream, const char *path, FloExportFormat format, const FloVtkPoints *points,
                           const FloExportNames *names, const char *title, FloError *error) {
  Columns columns;
  arrange(points, &columns);
  if (format == FLO_EXPORT_PLY) make_words(&columns);
  tell_names_apart(&columns);
  switch (format) {
  case FLO_EXPORT_CSV:
    name_values(&columns, names);
    return write_csv(stream, path, points, &columns, error);
  case FLO_EXPORT_VTK:
    return write_vtk(stream, path, points, title, error);
  default:
    return write_ply(stream, path, points, &columns, names, title, error);
  }
}

FloStatus flo_export_file(const char *path, FloExportFormat format, const FloVtkPoints *points,
                          const FloExportNames *names, const char *title, FloError *error) {
  FloNewFile file;
  FLO_TRY(flo_new_file_begin(&file, path, error));
  FloStatus status = flo_export_write(file.stream, path, format, points, names, title, error);
  if (status == FLO_OK) return flo_new_file_finish(&file, error);
  flo_new_file_abandon(&file);
  return status;
}
