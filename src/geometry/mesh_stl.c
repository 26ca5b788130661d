// STL as text and as binary. Binary files often begin with "solid" like text files, so the size decides.
#include "geometry/mesh_io.h"

#include <string.h>
#include <strings.h>

enum { HEADER_SIZE = 84, RECORD_SIZE = 50 };

// ---- Binary ----

static uint32_t load_u32(const unsigned char *at) {
  return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static double load_f32(const unsigned char *at) {
  uint32_t bits = load_u32(at);
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

// A record is the normal, three corners and two bytes. The normal need not be right and is not used.
static FloStatus read_record(const char *name, const unsigned char *data, size_t record, FloMesh *mesh,
                             FloError *error) {
  size_t start = HEADER_SIZE + record * RECORD_SIZE + 12;
  uint32_t corners[3];
  for (size_t k = 0; k < 3; ++k) {
    double point[3];
    for (size_t axis = 0; axis < 3; ++axis) {
      size_t at = start + 12 * k + 4 * axis;
      point[axis] = load_f32(data + at);
      const char *problem = flo_mesh_coordinate_problem(point[axis]);
      if (problem)
        return flo_fail(error, FLO_BAD_INPUT, "%s: byte %zu: coordinate %c of triangle %zu %s", name, at,
                        "xyz"[axis], record + 1, problem);
    }
    FLO_TRY(flo_mesh_add_vertex(mesh, point, &corners[k], error));
  }
  return flo_mesh_add_triangle(mesh, corners[0], corners[1], corners[2], error);
}

static FloStatus check_size(const char *name, const unsigned char *data, size_t size, FloError *error) {
  if (size < HEADER_SIZE)
    return flo_fail(error, FLO_BAD_INPUT, "%s: %zu bytes are no STL file; a binary one has at least %d", name,
                    size, HEADER_SIZE);
  uint64_t n = load_u32(data + 80), n_there = (size - HEADER_SIZE) / RECORD_SIZE;
  if (n > n_there)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "%s: the header promises %llu triangles, the file ends after %llu; copy or export it again", name,
        (unsigned long long)n, (unsigned long long)n_there);
  // Some programs pad their files or end them with a line.
  if (size >= HEADER_SIZE + (n + 1) * RECORD_SIZE)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "%s: the header promises %llu triangles, but %llu bytes follow them; export the file again", name,
        (unsigned long long)n, (unsigned long long)(size - HEADER_SIZE - n * RECORD_SIZE));
  return FLO_OK;
}

static FloStatus read_binary(const char *name, const unsigned char *data, size_t size, FloMesh *mesh,
                             FloError *error) {
  FLO_TRY(check_size(name, data, size, error));
  size_t n = load_u32(data + 80);
  for (size_t k = 0; k < n; ++k) FLO_TRY(read_record(name, data, k, mesh, error));
  return FLO_OK;
}

// ---- Text ----

// The next word, on whatever line.
static FloWord next_word(FloText *text) {
  flo_text_skip_blank_lines(text);
  return flo_text_word(text);
}

// Some programs write keywords in capitals.
static bool is_word(FloWord word, const char *expected) {
  return word.length == strlen(expected) && strncasecmp((const char *)word.start, expected, word.length) == 0;
}

static FloStatus expect(FloText *text, const char *expected) {
  char quoted[32];
  FloWord word = next_word(text);
  if (is_word(word, expected)) return FLO_OK;
  if (word.length == 0)
    return flo_text_fail(text, "the file ends where '%s' should stand; copy or export it again", expected);
  return flo_text_fail(text, "'%s' stands where '%s' should; export the file again",
                       flo_word_quote(word, quoted), expected);
}

// The rest of a facet. The normal is not used; some writers have "nan" there.
static FloStatus read_facet(FloText *text, FloMesh *mesh) {
  uint32_t corners[3];
  FLO_TRY(expect(text, "normal"));
  for (int k = 0; k < 3; ++k) next_word(text);
  FLO_TRY(expect(text, "outer"));
  FLO_TRY(expect(text, "loop"));
  for (int k = 0; k < 3; ++k) {
    double point[3];
    FLO_TRY(expect(text, "vertex"));
    FLO_TRY(flo_text_point(text, point));
    FLO_TRY(flo_mesh_add_vertex(mesh, point, &corners[k], text->error));
  }
  FLO_TRY(expect(text, "endloop"));
  FLO_TRY(expect(text, "endfacet"));
  return flo_mesh_add_triangle(mesh, corners[0], corners[1], corners[2], text->error);
}

// The rest of a solid; its name stands on its first line.
static FloStatus read_solid(FloText *text, FloMesh *mesh) {
  char quoted[32];
  flo_text_skip_line(text);
  for (;;) {
    FloWord word = next_word(text);
    if (is_word(word, "endsolid")) break;
    if (word.length == 0)
      return flo_text_fail(text, "the file ends without 'endsolid'; copy or export it again");
    if (!is_word(word, "facet"))
      return flo_text_fail(text, "'%s' stands where 'facet' or 'endsolid' should; export the file again",
                           flo_word_quote(word, quoted));
    FLO_TRY(read_facet(text, mesh));
  }
  flo_text_skip_line(text);
  return FLO_OK;
}

static FloStatus read_text(FloText *text, FloMesh *mesh) {
  do {
    FLO_TRY(expect(text, "solid"));
    FLO_TRY(read_solid(text, mesh));
    flo_text_skip_blank_lines(text);
  } while (!flo_text_is_at_end(text));
  return FLO_OK;
}

static bool is_text(const unsigned char *data, size_t size) {
  if (size >= HEADER_SIZE && size == HEADER_SIZE + (uint64_t)RECORD_SIZE * load_u32(data + 80)) return false;
  return flo_bytes_are_text(data, size);
}

FloStatus flo_mesh_parse_stl(const char *name, const unsigned char *data, size_t size, FloMesh *mesh,
                             FloError *error) {
  FloStatus status;
  if (is_text(data, size)) {
    FloText text;
    FLO_TRY(flo_text_begin(&text, name, data, size, error));
    status = read_text(&text, mesh);
    flo_text_end(&text);
  } else {
    status = read_binary(name, data, size, mesh, error);
  }
  return flo_mesh_finish_parse(name, mesh, status, error);
}
