// Wavefront OBJ. Lines that begin with v are vertices, with f faces; all others are skipped.
#include "geometry/mesh_io.h"
#include "geometry/outline.h"

typedef struct Face {
  uint32_t first, last; // corners the next triangle starts from
  size_t n_corners;
} Face;

// Reads a whole number and moves `at` behind it. Returns false if there is none or it is too large.
static bool take_integer(const unsigned char **at, const unsigned char *end, long long *value) {
  bool is_negative = *at < end && **at == '-';
  if (*at < end && (**at == '-' || **at == '+')) ++*at;
  const unsigned char *first = *at;
  *value = 0;
  for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
    if (*value > 1000000000000) return false;
    *value = 10 * *value + (**at - '0');
  }
  if (is_negative) *value = -*value;
  return *at > first;
}

// Splits "v", "v/t", "v//n" or "v/t/n"; only the vertex matters.
static bool split_corner(FloWord word, long long *vertex) {
  const unsigned char *at = word.start, *end = at + word.length;
  long long ignored;
  if (!take_integer(&at, end, vertex)) return false;
  for (int k = 0; k < 2 && at < end && *at == '/'; ++k) {
    ++at;
    // The texture may be left out, as in v//n. "v/" and "v//" are accepted as well.
    if (at < end && *at != '/' && !take_integer(&at, end, &ignored)) return false;
  }
  return at == end;
}

// Vertices count from 1; negative numbers count back from the last one so far.
static FloStatus find_vertex(const FloText *text, FloWord word, const FloMesh *mesh, uint32_t *index) {
  char quoted[32];
  long long number, n = (long long)mesh->n_vertices;
  if (!split_corner(word, &number))
    return flo_text_fail(text, "'%s' is not a corner of a face; write v, v/t, v//n or v/t/n",
                         flo_word_quote(word, quoted));
  if (number == 0) return flo_text_fail(text, "vertex number 0 does not exist; OBJ files count from 1");
  if (number > n || number < -n)
    return flo_text_fail(text, "vertex number %lld does not exist; the file has %lld so far", number, n);
  *index = (uint32_t)(number > 0 ? number - 1 : n + number);
  return FLO_OK;
}

static FloStatus add_corner(Face *face, FloMesh *mesh, uint32_t vertex, FloError *error) {
  if (face->n_corners >= 2) FLO_TRY(flo_mesh_add_triangle(mesh, face->first, face->last, vertex, error));
  if (face->n_corners == 0) face->first = vertex;
  face->last = vertex;
  ++face->n_corners;
  return FLO_OK;
}

// Adds the face as a fan of triangles, which is cut anew if the face is not convex.
static FloStatus read_face(FloText *text, FloMesh *mesh) {
  Face face = {0};
  size_t first = mesh->n_triangles;
  for (;;) {
    FloWord word = flo_text_word(text);
    if (word.length == 0 || word.start[0] == '#') break;
    uint32_t vertex = 0;
    FLO_TRY(find_vertex(text, word, mesh, &vertex));
    FLO_TRY(add_corner(&face, mesh, vertex, text->error));
  }
  if (face.n_corners < 3)
    return flo_text_fail(text, "a face needs three corners or more, this one has %zu", face.n_corners);
  FloError cause;
  FloStatus status = flo_mesh_cut_polygon(mesh, first, face.n_corners, &cause);
  return status == FLO_BAD_INPUT ? flo_text_fail(text, "%s", cause.text)
         : status == FLO_OK      ? FLO_OK
                                 : flo_fail(text->error, status, "%s", cause.text);
}

// Colours or a weight may follow the coordinates.
static FloStatus read_vertex(FloText *text, FloMesh *mesh) {
  double point[3];
  FLO_TRY(flo_text_point(text, point));
  return flo_mesh_add_vertex(mesh, point, NULL, text->error);
}

static FloStatus read_line(FloText *text, FloMesh *mesh) {
  FloWord word = flo_text_word(text);
  if (flo_word_is(word, "v")) return read_vertex(text, mesh);
  if (flo_word_is(word, "f")) return read_face(text, mesh);
  if (word.length == 0 || word.start[0] == '#') return FLO_OK;
  // Other lines name materials, groups, curves and more. Their first word must be printable ASCII.
  for (size_t k = 0; k < word.length; ++k)
    if (word.start[k] < 32 || word.start[k] > 126)
      return flo_text_fail(text,
                           "byte %u is not part of any keyword; this is not an OBJ file, or it is damaged",
                           word.start[k]);
  return FLO_OK;
}

FloStatus flo_mesh_parse_obj(const char *name, const unsigned char *data, size_t size, FloMesh *mesh,
                             FloError *error) {
  FloText text;
  FLO_TRY(flo_text_begin(&text, name, data, size, error));
  text.has_continuation = true;
  FloStatus status = FLO_OK;
  while (status == FLO_OK && !flo_text_is_at_end(&text)) {
    status = read_line(&text, mesh);
    flo_text_skip_line(&text);
  }
  flo_text_end(&text);
  return flo_mesh_finish_parse(name, mesh, status, error);
}
