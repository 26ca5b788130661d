// PLY (Turk 1994), as text and as binary of either byte order. A header describes the elements and their
// properties; the elements follow. Only "vertex" with x, y, z and "face" with its list of vertices are used,
// all else is skipped.
#include "geometry/mesh_io.h"
#include "geometry/outline.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef enum Type { T_CHAR, T_UCHAR, T_SHORT, T_USHORT, T_INT, T_UINT, T_FLOAT, T_DOUBLE, N_TYPES } Type;

static const struct {
  const char *name, *alias;
  size_t size;
} types[N_TYPES] = {{"char", "int8", 1},     {"uchar", "uint8", 1},   {"short", "int16", 2},
                    {"ushort", "uint16", 2}, {"int", "int32", 4},     {"uint", "uint32", 4},
                    {"float", "float32", 4}, {"double", "float64", 8}};

typedef enum Role { IGNORED, IS_X, IS_Y, IS_Z, IS_CORNERS } Role;
typedef enum Format { NO_FORMAT, AS_TEXT, LITTLE_ENDIAN_BYTES, BIG_ENDIAN_BYTES } Format;

typedef struct Property {
  Type type;       // of the items, if it is a list
  Type count_type; // of a list
  bool is_list;
  Role role;
} Property;

typedef struct Element {
  uint64_t count;
  bool is_vertex, is_face;
  size_t first_property, n_properties;
} Element;

enum { MAX_ELEMENTS = 32, MAX_PROPERTIES = 256 };

typedef struct Ply {
  FloText text; // of the header, and of the rest if that is text, too
  FloMesh *mesh;
  const unsigned char *data;
  const unsigned char *value; // start of the last one read
  Format format;
  Element elements[MAX_ELEMENTS];
  Property properties[MAX_PROPERTIES];
  size_t n_elements, n_properties;
  FloBuffer polygons; // faces of more than three corners, to be looked at when all vertices are there
  size_t n_polygons;
} Ply;

// Added as a fan of n_corners - 2 triangles.
typedef struct Polygon {
  size_t first, n_corners;
} Polygon;

// ---- Header ----

static FloStatus read_format(Ply *ply) {
  char quoted[32];
  FloWord word = flo_text_word(&ply->text);
  if (flo_word_is(word, "ascii"))
    ply->format = AS_TEXT;
  else if (flo_word_is(word, "binary_little_endian"))
    ply->format = LITTLE_ENDIAN_BYTES;
  else if (flo_word_is(word, "binary_big_endian"))
    ply->format = BIG_ENDIAN_BYTES;
  else
    return flo_text_fail(&ply->text,
                         "format '%s' is unknown; it is ascii, binary_little_endian or binary_big_endian",
                         flo_word_quote(word, quoted));
  return FLO_OK;
}

static const Element *find_element(const Ply *ply, bool is_vertex) {
  for (size_t k = 0; k < ply->n_elements; ++k)
    if (is_vertex ? ply->elements[k].is_vertex : ply->elements[k].is_face) return &ply->elements[k];
  return NULL;
}

static bool take_count(FloWord word, uint64_t *count) {
  *count = 0;
  for (size_t k = 0; k < word.length; ++k) {
    if (word.start[k] < '0' || word.start[k] > '9' || *count > UINT32_MAX) return false;
    *count = 10 * *count + (uint64_t)(word.start[k] - '0');
  }
  return word.length > 0 && *count < UINT32_MAX;
}

static FloStatus read_element(Ply *ply) {
  char quoted[32];
  FloWord name = flo_text_word(&ply->text), number = flo_text_word(&ply->text);
  Element element = {.first_property = ply->n_properties};
  element.is_vertex = flo_word_is(name, "vertex"), element.is_face = flo_word_is(name, "face");
  if (name.length == 0) return flo_text_fail(&ply->text, "the element has no name");
  if (!take_count(number, &element.count))
    return flo_text_fail(&ply->text, "'%s' is not a number of elements between 0 and %u",
                         flo_word_quote(number, quoted), UINT32_MAX - 1);
  if ((element.is_vertex && find_element(ply, true)) || (element.is_face && find_element(ply, false)))
    return flo_text_fail(&ply->text, "element '%s' stands twice in the header; keep one",
                         flo_word_quote(name, quoted));
  if (ply->n_elements == MAX_ELEMENTS)
    return flo_text_fail(&ply->text, "the header has more than %d elements; export fewer", MAX_ELEMENTS);
  ply->elements[ply->n_elements++] = element;
  return FLO_OK;
}

static FloStatus read_type(Ply *ply, bool is_integer, Type *type) {
  char quoted[32];
  FloWord word = flo_text_word(&ply->text);
  for (*type = 0; *type < N_TYPES; ++*type)
    if (flo_word_is(word, types[*type].name) || flo_word_is(word, types[*type].alias)) break;
  if (*type == N_TYPES)
    return flo_text_fail(&ply->text,
                         "type '%s' is unknown; it is char, uchar, short, ushort, int, uint, float "
                         "or double",
                         flo_word_quote(word, quoted));
  if (is_integer && *type >= T_FLOAT)
    return flo_text_fail(&ply->text, "type '%s' cannot count; use one for whole numbers",
                         flo_word_quote(word, quoted));
  return FLO_OK;
}

static Role find_role(const Element *element, const Property *property, FloWord name) {
  if (element->is_vertex && !property->is_list)
    return flo_word_is(name, "x")   ? IS_X
           : flo_word_is(name, "y") ? IS_Y
           : flo_word_is(name, "z") ? IS_Z
                                    : IGNORED;
  bool is_corners = flo_word_is(name, "vertex_indices") || flo_word_is(name, "vertex_index");
  return element->is_face && property->is_list && is_corners ? IS_CORNERS : IGNORED;
}

static FloStatus read_property(Ply *ply) {
  if (ply->n_elements == 0)
    return flo_text_fail(&ply->text, "a property stands before the first element; the header is damaged");
  if (ply->n_properties == MAX_PROPERTIES)
    return flo_text_fail(&ply->text, "the header has more than %d properties; export fewer", MAX_PROPERTIES);
  Element *element = &ply->elements[ply->n_elements - 1];
  Property property = {0};
  const unsigned char *start = ply->text.at;
  property.is_list = flo_word_is(flo_text_word(&ply->text), "list");
  if (property.is_list)
    FLO_TRY(read_type(ply, true, &property.count_type));
  else
    ply->text.at = start;
  FLO_TRY(read_type(ply, false, &property.type));
  FloWord name = flo_text_word(&ply->text);
  if (name.length == 0) return flo_text_fail(&ply->text, "the property has no name");
  property.role = find_role(element, &property, name);
  if (property.role == IS_CORNERS && property.type >= T_FLOAT)
    return flo_text_fail(&ply->text,
                         "the vertices of faces are numbered by a type that cannot count; use int");
  ply->properties[ply->n_properties++] = property;
  ++element->n_properties;
  return FLO_OK;
}

// One line; `is_done` after the last.
static FloStatus read_header_line(Ply *ply, bool *is_done) {
  char quoted[32];
  FloWord word = flo_text_word(&ply->text);
  *is_done = flo_word_is(word, "end_header");
  FloStatus status = FLO_OK;
  if (flo_word_is(word, "format"))
    status = read_format(ply);
  else if (flo_word_is(word, "element"))
    status = read_element(ply);
  else if (flo_word_is(word, "property"))
    status = read_property(ply);
  else if (word.length && !*is_done && !flo_word_is(word, "comment") && !flo_word_is(word, "obj_info"))
    status = flo_text_fail(&ply->text, "'%s' is not part of a PLY header; the file is damaged",
                           flo_word_quote(word, quoted));
  if (status == FLO_OK) flo_text_skip_line(&ply->text);
  return status;
}

static FloStatus read_header(Ply *ply) {
  if (!flo_word_is(flo_text_word(&ply->text), "ply"))
    return flo_text_fail(&ply->text, "a PLY file begins with 'ply'; this is something else");
  flo_text_skip_line(&ply->text);
  for (bool is_done = false; !is_done;) {
    if (flo_text_is_at_end(&ply->text))
      return flo_text_fail(&ply->text, "the file ends without 'end_header'; copy or export it again");
    FLO_TRY(read_header_line(ply, &is_done));
  }
  return FLO_OK;
}

// ---- Checks of the header ----

static bool has_role(const Ply *ply, const Element *element, Role role) {
  for (size_t k = 0; k < element->n_properties; ++k)
    if (ply->properties[element->first_property + k].role == role) return true;
  return false;
}

static FloStatus check_roles(const Ply *ply, FloError *error) {
  const char *name = ply->text.name;
  const Element *vertex = find_element(ply, true), *face = find_element(ply, false);
  if (ply->format == NO_FORMAT)
    return flo_fail(error, FLO_BAD_INPUT, "%s: the header has no 'format' line; it is damaged", name);
  if (!vertex || !has_role(ply, vertex, IS_X) || !has_role(ply, vertex, IS_Y) || !has_role(ply, vertex, IS_Z))
    return flo_fail(error, FLO_BAD_INPUT, "%s: has no element 'vertex' with properties x, y and z", name);
  if (!face || !has_role(ply, face, IS_CORNERS))
    return flo_fail(
        error, FLO_BAD_INPUT,
        "%s: has no triangles: no element 'face' with a list 'vertex_indices'; export the surface "
        "of the body as a mesh",
        name);
  return FLO_OK;
}

// The fewest bytes that one element takes. In text it is a digit and a blank for every property.
static uint64_t least_size(const Ply *ply, const Element *element) {
  uint64_t size = 0;
  for (size_t k = 0; k < element->n_properties; ++k) {
    const Property *property = &ply->properties[element->first_property + k];
    if (ply->format == AS_TEXT)
      size += 2;
    else
      size += types[property->is_list ? property->count_type : property->type].size;
  }
  return size;
}

// Compares the counts with the size of the file before memory is reserved. Counts are below 2^32 and sizes
// small, so nothing overflows.
static FloStatus check_counts(const Ply *ply, FloError *error) {
  uint64_t needed = 0, there = (uint64_t)(ply->text.end - ply->text.at);
  for (size_t k = 0; k < ply->n_elements; ++k)
    needed += ply->elements[k].count * least_size(ply, &ply->elements[k]);
  // The last line of a text may lack its end.
  if (needed <= there + (ply->format == AS_TEXT)) return FLO_OK;
  return flo_fail(
      error, FLO_BAD_INPUT,
      "%s: the header promises elements of at least %llu bytes, the file ends after %llu; copy or "
      "export it again",
      ply->text.name, (unsigned long long)needed, (unsigned long long)there);
}

// Adds all vertices at the origin before any is read, because faces may come first.
static FloStatus add_vertices(Ply *ply, FloError *error) {
  const double origin[3] = {0};
  uint64_t n = find_element(ply, true)->count;
  for (uint64_t k = 0; k < n; ++k) FLO_TRY(flo_mesh_add_vertex(ply->mesh, origin, NULL, error));
  return FLO_OK;
}

// ---- Values ----

// Fails with the line of a text or the byte of a binary file.
__attribute__((format(printf, 2, 3))) static FloStatus fail_here(const Ply *ply, const char *format, ...) {
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  bool is_text = ply->format == AS_TEXT;
  return flo_fail(ply->text.error, FLO_BAD_INPUT, "%s: %s %zu: %s", ply->text.name, is_text ? "line" : "byte",
                  is_text ? ply->text.line : (size_t)(ply->value - ply->data), message);
}

static uint64_t load_bits(const unsigned char *at, size_t size, bool is_big) {
  uint64_t bits = 0;
  for (size_t k = 0; k < size; ++k) bits = bits << 8 | at[is_big ? k : size - 1 - k];
  return bits;
}

static double bits_to_double(uint64_t bits, Type type) {
  float single;
  double value;
  uint32_t low = (uint32_t)bits;
  switch (type) {
  case T_FLOAT:
    memcpy(&single, &low, sizeof single);
    return (double)single;
  case T_DOUBLE:
    memcpy(&value, &bits, sizeof value);
    return value;
  case T_CHAR:
    return (int8_t)low;
  case T_SHORT:
    return (int16_t)low;
  case T_INT:
    return (int32_t)low;
  default:
    return low;
  }
}

static FloStatus read_value(Ply *ply, Type type, const char *what, double *value) {
  FloText *text = &ply->text;
  ply->value = text->at;
  if (ply->format == AS_TEXT) {
    flo_text_skip_blank_lines(text); // long lists may go on in the next line
    return flo_text_number(text, what, value);
  }
  if ((size_t)(text->end - text->at) < types[type].size)
    return fail_here(ply, "the file ends where %s should stand; copy or export it again", what);
  *value = bits_to_double(load_bits(text->at, types[type].size, ply->format == BIG_ENDIAN_BYTES), type);
  text->at += types[type].size;
  return FLO_OK;
}

// Reads a whole number, and refuses anything else that text may have in its place.
static FloStatus read_whole(Ply *ply, Type type, const char *what, uint32_t *whole) {
  double value = 0;
  FLO_TRY(read_value(ply, type, what, &value));
  if (!(value >= 0 && value < UINT32_MAX) || value != floor(value))
    return fail_here(ply, "%s is %g; it must be a whole number, and not negative", what, value);
  *whole = (uint32_t)value;
  return FLO_OK;
}

// ---- Elements ----

static FloStatus read_corner(Ply *ply, const Property *property, uint32_t *vertex) {
  FLO_TRY(read_whole(ply, property->type, "the number of a vertex", vertex));
  if (*vertex < ply->mesh->n_vertices) return FLO_OK;
  return fail_here(ply, "vertex number %u does not exist; the file has %zu, counted from 0", *vertex,
                   ply->mesh->n_vertices);
}

static FloStatus note_polygon(Ply *ply, size_t first, size_t n_corners) {
  size_t used = ply->n_polygons * sizeof(Polygon);
  if (used + sizeof(Polygon) > ply->polygons.capacity)
    FLO_TRY(flo_buffer_reserve(ply->mesh->memory, &ply->polygons, 2 * used + 64 * sizeof(Polygon), used,
                               ply->text.error));
  ((Polygon *)ply->polygons.data)[ply->n_polygons++] = (Polygon){first, n_corners};
  return FLO_OK;
}

static FloStatus read_face(Ply *ply, const Property *property) {
  uint32_t n = 0, first = 0, last = 0, vertex = 0;
  size_t first_triangle = ply->mesh->n_triangles;
  FLO_TRY(read_whole(ply, property->count_type, "the number of corners", &n));
  if (n < 3) return fail_here(ply, "a face needs three corners or more, this one has %u", n);
  FLO_TRY(read_corner(ply, property, &first));
  FLO_TRY(read_corner(ply, property, &last));
  for (uint32_t k = 2; k < n; ++k) {
    FLO_TRY(read_corner(ply, property, &vertex));
    FLO_TRY(flo_mesh_add_triangle(ply->mesh, first, last, vertex, ply->text.error));
    last = vertex;
  }
  return n > 3 ? note_polygon(ply, first_triangle, n) : FLO_OK;
}

static FloStatus cut_polygons(Ply *ply, FloError *error) {
  FloError cause;
  FloStatus status = FLO_OK;
  for (size_t k = 0; status == FLO_OK && k < ply->n_polygons; ++k) {
    const Polygon *polygon = (const Polygon *)ply->polygons.data + k;
    status = flo_mesh_cut_polygon(ply->mesh, polygon->first, polygon->n_corners, &cause);
  }
  return status == FLO_OK ? FLO_OK : flo_fail(error, status, "%s: %s", ply->text.name, cause.text);
}

static FloStatus skip_list(Ply *ply, const Property *property) {
  uint32_t n = 0;
  double ignored;
  FLO_TRY(read_whole(ply, property->count_type, "the length of a list", &n));
  for (uint32_t k = 0; k < n; ++k) FLO_TRY(read_value(ply, property->type, "an item of a list", &ignored));
  return FLO_OK;
}

static FloStatus read_coordinate(Ply *ply, const Property *property, double *point) {
  static const char *const names[] = {"coordinate x", "coordinate y", "coordinate z"};
  int axis = (int)property->role - IS_X;
  FLO_TRY(read_value(ply, property->type, names[axis], &point[axis]));
  const char *problem = flo_mesh_coordinate_problem(point[axis]);
  return problem ? fail_here(ply, "%s %s", names[axis], problem) : FLO_OK;
}

static FloStatus read_member(Ply *ply, const Property *property, double *point) {
  double ignored;
  if (property->role == IS_CORNERS) return read_face(ply, property);
  if (property->is_list) return skip_list(ply, property);
  if (property->role != IGNORED) return read_coordinate(ply, property, point);
  return read_value(ply, property->type, "a property", &ignored);
}

// In text every element begins a line.
static FloStatus end_element(Ply *ply) {
  char quoted[32];
  if (ply->format != AS_TEXT) return FLO_OK;
  FloWord word = flo_text_word(&ply->text);
  if (word.length)
    return fail_here(ply, "'%s' is one value more than the header names; the file is damaged",
                     flo_word_quote(word, quoted));
  flo_text_skip_line(&ply->text);
  return FLO_OK;
}

static FloStatus read_one(Ply *ply, const Element *element, uint64_t index) {
  double unused[3], *point = element->is_vertex ? flo_mesh_vertex(ply->mesh, (size_t)index) : unused;
  if (ply->format == AS_TEXT) flo_text_skip_blank_lines(&ply->text);
  for (size_t k = 0; k < element->n_properties; ++k)
    FLO_TRY(read_member(ply, &ply->properties[element->first_property + k], point));
  return end_element(ply);
}

static FloStatus read_elements(Ply *ply) {
  for (size_t k = 0; k < ply->n_elements; ++k) {
    const Element *element = &ply->elements[k];
    // An element without properties has no data, however many of them there are.
    for (uint64_t i = 0; element->n_properties && i < element->count; ++i) FLO_TRY(read_one(ply, element, i));
  }
  return FLO_OK;
}

static FloStatus read_all(Ply *ply, FloError *error) {
  FLO_TRY(read_header(ply));
  FLO_TRY(check_roles(ply, error));
  FLO_TRY(check_counts(ply, error));
  FLO_TRY(add_vertices(ply, error));
  FLO_TRY(read_elements(ply));
  return cut_polygons(ply, error);
}

FloStatus flo_mesh_parse_ply(const char *name, const unsigned char *data, size_t size, FloMesh *mesh,
                             FloError *error) {
  Ply ply = {.mesh = mesh, .data = data};
  FLO_TRY(flo_text_begin(&ply.text, name, data, size, error));
  FloStatus status = read_all(&ply, error);
  flo_buffer_free(mesh->memory, &ply.polygons);
  flo_text_end(&ply.text);
  return flo_mesh_finish_parse(name, mesh, status, error);
}
