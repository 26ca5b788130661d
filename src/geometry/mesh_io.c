// Mesh files: detects their format, reads them into memory, and splits text into words and numbers.
#include "geometry/mesh_io.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

// ---- Text ----

FloStatus flo_text_begin(FloText *text, const char *name, const unsigned char *data, size_t size,
                         FloError *error) {
  *text = (FloText){.name = name, .at = data, .end = data + size, .line = 1, .error = error};
  text->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!text->plain) return flo_fail(error, FLO_NO_MEMORY, "%s: no memory to read it", name);
  // Skips the mark that some editors put before UTF-8.
  if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) text->at += 3;
  return FLO_OK;
}

void flo_text_end(FloText *text) { freelocale(text->plain); }

FloStatus flo_text_fail(const FloText *text, const char *format, ...) {
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return flo_fail(text->error, FLO_BAD_INPUT, "%s: line %zu: %s", text->name, text->line, message);
}

bool flo_text_is_at_end(const FloText *text) { return text->at == text->end; }

// Bytes of the end of line at `at`: \n, \r\n or \r; 0 if there is none.
static size_t line_end_size(const FloText *text, const unsigned char *at) {
  if (at < text->end && *at == '\n') return 1;
  if (at == text->end || *at != '\r') return 0;
  return at + 1 < text->end && at[1] == '\n' ? 2 : 1;
}

static bool is_blank(unsigned char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

static void skip_blanks(FloText *text) {
  while (text->at < text->end) {
    size_t joined = text->has_continuation && *text->at == '\\' ? line_end_size(text, text->at + 1) : 0;
    if (joined)
      text->at += 1 + joined, ++text->line;
    else if (is_blank(*text->at))
      ++text->at;
    else
      return;
  }
}

void flo_text_skip_line(FloText *text) {
  size_t end_size = 0;
  while (text->at < text->end && !(end_size = line_end_size(text, text->at))) {
    size_t joined = text->has_continuation && *text->at == '\\' ? line_end_size(text, text->at + 1) : 0;
    if (joined) ++text->line;
    text->at += 1 + joined;
  }
  text->at += end_size;
  if (end_size) ++text->line;
}

void flo_text_skip_blank_lines(FloText *text) {
  for (;;) {
    skip_blanks(text);
    if (text->at == text->end || !line_end_size(text, text->at)) return;
    flo_text_skip_line(text);
  }
}

FloWord flo_text_word(FloText *text) {
  skip_blanks(text);
  const unsigned char *start = text->at;
  while (text->at < text->end && !is_blank(*text->at) && *text->at != '\n' && *text->at != '\r') {
    if (text->has_continuation && *text->at == '\\' && line_end_size(text, text->at + 1)) break;
    ++text->at;
  }
  return (FloWord){start, (size_t)(text->at - start)};
}

bool flo_word_is(FloWord word, const char *expected) {
  return word.length == strlen(expected) && memcmp(word.start, expected, word.length) == 0;
}

const char *flo_word_quote(FloWord word, char quoted[32]) {
  size_t n = flo_min_size(word.length, 28);
  for (size_t k = 0; k < n; ++k)
    quoted[k] = word.start[k] >= 32 && word.start[k] < 127 ? (char)word.start[k] : '?';
  memcpy(quoted + n, word.length > n ? "..." : "", word.length > n ? 4 : 1);
  return quoted;
}

// ---- Numbers ----

// Longest text of a number; the longest exact double has 1079 digits.
enum { MOST_CHARACTERS = 1100 };

typedef struct Decimal {
  uint64_t digits; // the number without its point, valid if n_digits <= 19
  int n_digits;    // without leading zeros
  long exponent;   // of ten
  bool is_negative;
} Decimal;

static bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }

static void take_digit(Decimal *decimal, unsigned char c) {
  if (decimal->n_digits < 19) decimal->digits = 10 * decimal->digits + (uint64_t)(c - '0');
  if (decimal->digits && decimal->n_digits < 1000) ++decimal->n_digits;
}

// Reads "e-12"; returns false if there are no digits.
static bool split_exponent(const unsigned char *at, const unsigned char *end, long *exponent) {
  bool is_negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) ++at;
  if (at == end) return false;
  long value = 0;
  for (; at < end; ++at) {
    if (!is_digit(*at)) return false;
    if (value < 100000) value = 10 * value + (*at - '0');
  }
  *exponent += is_negative ? -value : value;
  return true;
}

// Takes a word apart; returns false if it is not a decimal number.
static bool split_number(FloWord word, Decimal *out) {
  const unsigned char *at = word.start, *end = at + word.length;
  bool has_digits = false;
  *out = (Decimal){.is_negative = at < end && *at == '-'};
  if (at < end && (*at == '-' || *at == '+')) ++at;
  for (; at < end && is_digit(*at); ++at) take_digit(out, *at), has_digits = true;
  if (at < end && *at == '.')
    for (++at; at < end && is_digit(*at); ++at) take_digit(out, *at), --out->exponent, has_digits = true;
  if (!has_digits) return false;
  if (at == end) return true;
  return (*at == 'e' || *at == 'E') && split_exponent(at + 1, end, &out->exponent);
}

// The C library rounds correctly but expects the decimal point of the user's language, so it runs with the
// locale "C".
static double convert_slowly(const FloText *text, FloWord word) {
  char copy[MOST_CHARACTERS + 1];
  memcpy(copy, word.start, word.length);
  copy[word.length] = 0;
  locale_t users = uselocale(text->plain);
  double value = strtod(copy, NULL);
  uselocale(users);
  return value;
}

// If the digits are below 2^53 and the power of ten is at most 10^22, both are exact, and one division or
// product rounds correctly (Clinger 1990). Nearly all numbers in mesh files are like that.
static double convert_number(const FloText *text, FloWord word, const Decimal *decimal) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  bool is_exact = decimal->n_digits <= 19 && decimal->digits <= (uint64_t)1 << 53;
  if (!is_exact || decimal->exponent < -22 || decimal->exponent > 22) return convert_slowly(text, word);
  double value = (double)decimal->digits;
  value = decimal->exponent < 0 ? value / powers[-decimal->exponent] : value * powers[decimal->exponent];
  return decimal->is_negative ? -value : value;
}

// Some programs write nan, inf and infinity as numbers: these get a message of their own.
static bool is_not_finite(FloWord word) {
  static const char *const names[] = {"nan", "-nan", "+nan", "inf", "-inf", "+inf", "infinity", "-infinity"};
  for (size_t k = 0; k < FLO_COUNT_OF(names); ++k)
    if (word.length == strlen(names[k]) && strncasecmp((const char *)word.start, names[k], word.length) == 0)
      return true;
  return false;
}

FloStatus flo_text_number(FloText *text, const char *what, double *value) {
  char quoted[32];
  FloWord word = flo_text_word(text);
  Decimal decimal;
  if (word.length == 0) return flo_text_fail(text, "%s is missing; the line ends early", what);
  if (is_not_finite(word))
    return flo_text_fail(text, "%s is '%s'; export the mesh again with finite numbers", what,
                         flo_word_quote(word, quoted));
  if (word.length > MOST_CHARACTERS || !split_number(word, &decimal))
    return flo_text_fail(text, "'%s' is not a number; %s should stand there", flo_word_quote(word, quoted),
                         what);
  *value = convert_number(text, word, &decimal);
  return FLO_OK;
}

const char *flo_mesh_coordinate_problem(double x) {
  if (!isfinite(x)) return "is not finite; export the mesh again with finite numbers";
  // Squares and cubes of coordinates have to fit, too.
  if (fabs(x) > 1e30) return "is beyond 1e30; scale the mesh to metres";
  return NULL;
}

FloStatus flo_text_point(FloText *text, double point[3]) {
  static const char *const names[] = {"coordinate x", "coordinate y", "coordinate z"};
  for (int axis = 0; axis < 3; ++axis) {
    FLO_TRY(flo_text_number(text, names[axis], &point[axis]));
    const char *problem = flo_mesh_coordinate_problem(point[axis]);
    if (problem) return flo_text_fail(text, "%s %s", names[axis], problem);
  }
  return FLO_OK;
}

// ---- What all parsers share ----

bool flo_bytes_are_text(const unsigned char *data, size_t size) {
  for (size_t k = 0; k < size && k < 512; ++k)
    if ((data[k] < 32 && !(data[k] >= '\t' && data[k] <= '\r')) || data[k] == 127) return false;
  return true;
}

FloStatus flo_mesh_finish_parse(const char *name, FloMesh *mesh, FloStatus status, FloError *error) {
  if (status == FLO_OK && mesh->n_triangles == 0)
    status = flo_fail(error, FLO_BAD_INPUT, "%s: has no triangles; export the surface of the body as a mesh",
                      name);
  if (status != FLO_OK) flo_mesh_free(mesh);
  return status;
}

// ---- Files ----

static const long long most_bytes = 2LL << 30;

static FloStatus check_file(const char *path, const struct stat *about, FloError *error) {
  if (!S_ISREG(about->st_mode))
    return flo_fail(error, FLO_IO_FAILED, "%s: cannot read: %s; name a mesh file", path,
                    S_ISDIR(about->st_mode) ? strerror(EISDIR) : "it is not an ordinary file");
  if (about->st_size == 0)
    return flo_fail(error, FLO_BAD_INPUT, "%s: the file is empty; export the mesh again", path);
  if ((long long)about->st_size > most_bytes)
    return flo_fail(error, FLO_BAD_INPUT,
                    "%s: %lld bytes are more than the 2 GB that can be read; coarsen the mesh", path,
                    (long long)about->st_size);
  return FLO_OK;
}

static FloStatus read_stream(const char *path, FILE *stream, FloMemory *memory, FloBuffer *bytes,
                             size_t *size, FloError *error) {
  struct stat about;
  if (fstat(fileno(stream), &about) != 0)
    return flo_fail(error, FLO_IO_FAILED, "%s: cannot read: %s", path, strerror(errno));
  FLO_TRY(check_file(path, &about, error));
  *size = (size_t)about.st_size;
  FLO_TRY(flo_buffer_reserve(memory, bytes, *size, 0, error));
  errno = 0;
  if (fread(bytes->data, 1, *size, stream) == *size) return FLO_OK;
  return flo_fail(error, FLO_IO_FAILED, "%s: cannot read: %s", path,
                  errno ? strerror(errno) : "it became shorter while it was read");
}

static FloStatus read_file(const char *path, FloMemory *memory, FloBuffer *bytes, size_t *size,
                           FloError *error) {
  // fopen() of a pipe would wait until a program writes to it.
  struct stat about;
  if (stat(path, &about) != 0)
    return flo_fail(error, FLO_IO_FAILED, "%s: cannot read: %s", path, strerror(errno));
  FLO_TRY(check_file(path, &about, error));
  FILE *stream = fopen(path, "rb");
  if (!stream) return flo_fail(error, FLO_IO_FAILED, "%s: cannot read: %s", path, strerror(errno));
  FloStatus status = read_stream(path, stream, memory, bytes, size, error);
  fclose(stream);
  return status;
}

// ---- What kind of file it is ----

typedef FloStatus Parser(const char *name, const unsigned char *data, size_t size, FloMesh *mesh,
                         FloError *error);

static bool has_extension(const char *path, const char *extension) {
  const char *dot = strrchr(path, '.');
  return dot && strcasecmp(dot + 1, extension) == 0;
}

static bool starts_with(const unsigned char *data, size_t size, const char *word) {
  return size >= strlen(word) && memcmp(data, word, strlen(word)) == 0;
}

static bool is_binary_stl(const unsigned char *data, size_t size) {
  if (size < 84) return false;
  uint64_t n = data[80] | (uint64_t)data[81] << 8 | (uint64_t)data[82] << 16 | (uint64_t)data[83] << 24;
  return size == 84 + 50 * n;
}

// Whether this is text whose first line that is not a comment begins like one of an OBJ file.
static bool is_like_obj(const unsigned char *data, size_t size) {
  static const char *const starts[] = {"v ", "vn ", "vt ", "o ", "g ", "s ", "mtllib ", "usemtl "};
  if (!flo_bytes_are_text(data, size)) return false;
  size_t at = 0;
  while (at < size && data[at] && strchr("# \t\r\n", data[at])) {
    if (data[at] == '#')
      while (at < size && data[at] != '\n') ++at;
    else
      ++at;
  }
  for (size_t k = 0; k < FLO_COUNT_OF(starts); ++k)
    if (starts_with(data + at, size - at, starts[k])) return true;
  return false;
}

// Returns NULL if it is none of the formats known here.
static Parser *choose_parser(const char *path, const unsigned char *data, size_t size) {
  if (starts_with(data, size, "ply\n") || starts_with(data, size, "ply\r")) return flo_mesh_parse_ply;
  if (is_binary_stl(data, size)) return flo_mesh_parse_stl;
  if (has_extension(path, "obj")) return flo_mesh_parse_obj;
  if (has_extension(path, "stl")) return flo_mesh_parse_stl;
  if (has_extension(path, "ply")) return flo_mesh_parse_ply;
  if (starts_with(data, size, "solid ") && flo_bytes_are_text(data, size)) return flo_mesh_parse_stl;
  return is_like_obj(data, size) ? flo_mesh_parse_obj : NULL;
}

FloStatus flo_mesh_read(const char *path, FloMesh *mesh, FloError *error) {
  FloBuffer bytes = {0};
  size_t size = 0;
  FLO_ASSERT(mesh->n_vertices == 0 && mesh->n_triangles == 0);
  FloStatus status = read_file(path, mesh->memory, &bytes, &size, error);
  if (status == FLO_OK) {
    Parser *parser = choose_parser(path, bytes.data, size);
    status = parser ? parser(path, bytes.data, size, mesh, error) : flo_mesh_read_other(path, mesh, error);
  }
  flo_buffer_free(mesh->memory, &bytes);
  if (status == FLO_OK) status = flo_mesh_weld(mesh, error);
  if (status != FLO_OK) flo_mesh_free(mesh);
  return status;
}
