// Mesh files: every encoding gives the same mesh, numbers are exact, and malformed files are refused with a
// message that says where and what.
#include "geometry/mesh_io.h"
#include "support/geometry.h"

#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- Files made here ----

typedef struct Bytes {
  unsigned char data[8192];
  size_t size;
} Bytes;

static void put(Bytes *bytes, const void *data, size_t size) {
  assert_true(bytes->size + size <= sizeof bytes->data);
  memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
}

__attribute__((format(printf, 2, 3))) static void put_text(Bytes *bytes, const char *format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  assert_true(length >= 0 && (size_t)length < sizeof text);
  put(bytes, text, (size_t)length);
}

// The low bytes of a number, either end first.
static void put_number(Bytes *bytes, uint64_t bits, int size, bool is_big) {
  for (int k = 0; k < size; ++k) {
    unsigned char byte = (unsigned char)(bits >> 8 * (is_big ? size - 1 - k : k));
    put(bytes, &byte, 1);
  }
}

static void put_float(Bytes *bytes, double x, bool is_big) {
  float single = (float)x;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  put_number(bytes, bits, 4, is_big);
}

// In the order in which its triangles use them, so that formats without numbers give the same order.
static const double cube_vertices[8][3] = {{0, 0, 0},        {0, 1.5, 0},        {1.25, 0, 0},
                                           {1.25, 1.5, 0},   {0, 0, -0.125},     {1.25, 0, -0.125},
                                           {0, 1.5, -0.125}, {1.25, 1.5, -0.125}};
static const uint32_t cube_triangles[12][3] = {{0, 1, 2}, {2, 1, 3}, {4, 5, 6}, {5, 7, 6},
                                               {0, 2, 4}, {2, 5, 4}, {1, 6, 3}, {3, 6, 7},
                                               {0, 4, 1}, {1, 4, 6}, {2, 3, 5}, {3, 7, 5}};

static void write_obj(Bytes *out) {
  put_text(out, "# a box\r\nmtllib none.mtl\no box\n");
  for (int k = 0; k < 8; ++k)
    put_text(out, "v %.9g\t%.9g %.9g 0.5 0.5 1\n", cube_vertices[k][0], cube_vertices[k][1],
             cube_vertices[k][2]);
  put_text(out, "vt 0 0\nvn 0 0 1\ns off\ng side\nusemtl red\n");
  for (int k = 0; k < 12; ++k) {
    const uint32_t *t = cube_triangles[k];
    uint32_t a = t[0] + 1, b = t[1] + 1, c = t[2] + 1;
    if (k == 11)
      put_text(out, "f %d %d %d\n", (int)a - 9, (int)b - 9, (int)c - 9);
    else if (k % 4 == 0)
      put_text(out, "f %u %u %u\n", a, b, c);
    else if (k % 4 == 1)
      put_text(out, "f %u/1 %u/1 %u/1\r\n", a, b, c);
    else if (k % 4 == 2)
      put_text(out, "f %u//1 %u//1 %u//1 # x\n", a, b, c);
    else
      put_text(out, " f  %u/1/1 \\\n %u/1/1\t%u/1/1 \n", a, b, c);
  }
  put_text(out, "l 1 2\np 1");
}

static void write_stl_text(Bytes *out) {
  put_text(out, "solid a box\n");
  for (int k = 0; k < 12; ++k) {
    put_text(out, "facet normal 0 0 nan\n outer loop\r\n");
    for (int i = 0; i < 3; ++i) {
      const double *v = cube_vertices[cube_triangles[k][i]];
      put_text(out, "  vertex %.6e %.6e %.6e\n", v[0], v[1], v[2]);
    }
    put_text(out, " endloop\nendfacet\n");
    if (k == 5) put_text(out, "endsolid a box\n\nSOLID\n");
  }
  put_text(out, "endsolid");
}

// Begins with the word of the other kind, as many do.
static void write_stl_binary(Bytes *out) {
  char header[80] = "solid by an exporter";
  put(out, header, sizeof header);
  put_number(out, 12, 4, false);
  for (int k = 0; k < 12; ++k) {
    for (int i = 0; i < 3; ++i) put_float(out, i, false);
    for (int i = 0; i < 9; ++i) put_float(out, cube_vertices[cube_triangles[k][i / 3]][i % 3], false);
    put_number(out, 77, 2, false);
  }
}

static void write_ply_text(Bytes *out) {
  put_text(
      out,
      "ply\r\nformat ascii 1.0\r\ncomment by hand\r\nobj_info none\r\nelement vertex 8\r\nproperty float "
      "x\r\nproperty float y\r\nproperty float z\r\nelement face 12\r\nproperty list uchar int "
      "vertex_indices\r\nend_header\r\n");
  for (int k = 0; k < 8; ++k)
    put_text(out, "%g %g %g \r\n", cube_vertices[k][0], cube_vertices[k][1], cube_vertices[k][2]);
  for (int k = 0; k < 12; ++k)
    put_text(out, "3 %u %u %u\r\n", cube_triangles[k][0], cube_triangles[k][1], cube_triangles[k][2]);
}

// Doubles and floats, properties in another order, extra ones and extra elements between.
static void write_ply_binary(Bytes *out, bool is_big) {
  put_text(
      out,
      "ply\nformat binary_%s_endian 1.0\nelement camera 2\nproperty short a\nproperty list uint double b\n"
      "element vertex 8\nproperty uchar red\nproperty double z\nproperty list ushort short w\n"
      "property float32 x\nproperty float64 y\nelement face 12\nproperty int8 flag\n"
      "property list int16 uint16 vertex_index\nproperty list uchar float texcoord\nend_header\n",
      is_big ? "big" : "little");
  for (int k = 0; k < 2; ++k) {
    put_number(out, 9, 2, is_big);
    put_number(out, (uint64_t)k, 4, is_big);
    if (k) put_number(out, 1, 8, is_big);
  }
  for (int k = 0; k < 8; ++k) {
    uint64_t bits[3];
    memcpy(bits, cube_vertices[k], sizeof bits);
    put_number(out, 255, 1, is_big);
    put_number(out, bits[2], 8, is_big);
    put_number(out, 2, 2, is_big);
    put_number(out, 0x01020304, 4, is_big);
    put_float(out, cube_vertices[k][0], is_big);
    put_number(out, bits[1], 8, is_big);
  }
  for (int k = 0; k < 12; ++k) {
    put_number(out, 0xff, 1, is_big);
    put_number(out, 3, 2, is_big);
    for (int i = 0; i < 3; ++i) put_number(out, cube_triangles[k][i], 2, is_big);
    put_number(out, 1, 1, is_big);
    put_float(out, 0.5, is_big);
  }
}

static void write_ply_little(Bytes *out) { write_ply_binary(out, false); }
static void write_ply_big(Bytes *out) { write_ply_binary(out, true); }

// ---- Reading them ----

static void temporary_path(char path[200], const char *name) {
  const char *folder = getenv("TMPDIR");
  snprintf(path, 200, "%s/flotsam_mesh_%ld_%s", folder ? folder : "/tmp", (long)getpid(), name);
}

static void save(const char *path, const Bytes *bytes) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes->data, 1, bytes->size, file), bytes->size);
  assert_int_equal(fclose(file), 0);
}

static FloStatus read_bytes(const char *name, const Bytes *bytes, FloMesh *mesh, FloError *error) {
  char path[200];
  temporary_path(path, name);
  save(path, bytes);
  FloStatus status = flo_mesh_read(path, mesh, error);
  remove(path);
  return status;
}

static void check_cube(const FloMesh *mesh) {
  assert_int_equal(mesh->n_vertices, 8);
  assert_int_equal(mesh->n_triangles, 12);
  for (size_t k = 0; k < 8; ++k) assert_close_3(flo_mesh_vertex(mesh, k), cube_vertices[k], 0);
  assert_memory_equal(mesh->triangles.data, cube_triangles, sizeof cube_triangles);
}

static void check_encoding(void (*write)(Bytes *), const char *name) {
  Fixture sheet;
  FloError error;
  Bytes bytes = {.size = 0};
  write(&bytes);
  fixture_init(&sheet);
  assert_ok(read_bytes(name, &bytes, &sheet.mesh, &error), &error);
  check_cube(&sheet.mesh);
  fixture_free(&sheet);
}

static void test_all_encodings_give_the_same_mesh(void **state) {
  (void)state;
  check_encoding(write_obj, "box.obj");
  check_encoding(write_stl_text, "box.stl");
  check_encoding(write_stl_binary, "box.STL");
  check_encoding(write_ply_text, "box.ply");
  check_encoding(write_ply_little, "box.ply");
  check_encoding(write_ply_big, "box.ply");
}

// Without an extension, or with a wrong one, the content decides.
static void test_content_goes_before_the_name(void **state) {
  (void)state;
  check_encoding(write_obj, "box");
  check_encoding(write_stl_text, "box");
  check_encoding(write_stl_binary, "box.obj");
  check_encoding(write_ply_text, "box.stl");
  check_encoding(write_ply_big, "box.dat");
}

// ---- In memory ----

typedef FloStatus Parser(const char *name, const unsigned char *data, size_t size, FloMesh *mesh,
                         FloError *error);

// From a copy that ends where the text does, for the sanitizer to see reads beyond.
static FloStatus parse(Parser *parser, const char *name, const void *data, size_t size, Fixture *sheet,
                       FloError *error) {
  unsigned char *copy = malloc(size ? size : 1);
  assert_non_null(copy);
  memcpy(copy, data, size);
  fixture_init(sheet);
  FloStatus status = parser(name, copy, size, &sheet->mesh, error);
  free(copy);
  return status;
}

static void parse_obj(const char *text, Fixture *sheet) {
  FloError error;
  assert_ok(parse(flo_mesh_parse_obj, "a.obj", text, strlen(text), sheet, &error), &error);
}

static void test_convex_polygons_become_fans(void **state) {
  (void)state;
  Fixture sheet;
  parse_obj("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv -0.1 0.5 0\nf 1 2 3 4 5\nf -5 -4 -3", &sheet);
  const uint32_t expected[12] = {0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 1, 2};
  assert_int_equal(sheet.mesh.n_triangles, 4);
  assert_memory_equal(sheet.mesh.triangles.data, expected, sizeof expected);
  fixture_free(&sheet);
}

static void test_line_ends_of_all_systems(void **state) {
  (void)state;
  static const char *const ends[3] = {"\n", "\r\n", "\r"};
  for (int k = 0; k < 3; ++k) {
    char text[200];
    Fixture sheet;
    snprintf(text, sizeof text, "\xef\xbb\xbfv 0 0 0%sv 1 0 0%s%sv 0 \\%s1 0%sf 1 2 3%s", ends[k], ends[k],
             ends[k], ends[k], ends[k], ends[k]);
    parse_obj(text, &sheet);
    assert_int_equal(sheet.mesh.n_vertices, 3);
    assert_close_3(flo_mesh_vertex(&sheet.mesh, 2), ((double[3]){0, 1, 0}), 0);
    fixture_free(&sheet);
  }
}

// Comments and names may be in any encoding.
static void test_names_in_latin_1(void **state) {
  (void)state;
  Fixture sheet;
  parse_obj("# K\xf6rper\no K\xf6rper\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", &sheet);
  fixture_free(&sheet);
}

static void test_faces_may_come_before_vertices(void **state) {
  (void)state;
  Fixture sheet;
  FloError error;
  const char *text = "ply\nformat ascii 1.0\nelement face 1\nproperty list char ushort vertex_indices\n"
                     "element none 4000000000\nelement vertex 4\nproperty int x\nproperty int y\n"
                     "property int z\nend_header\n4 0 1 2 3\n\n0 0 0\n1 0 0\n1 1 0\n0 1 0";
  assert_ok(parse(flo_mesh_parse_ply, "a.ply", text, strlen(text), &sheet, &error), &error);
  assert_int_equal(sheet.mesh.n_triangles, 2);
  assert_close_3(flo_mesh_vertex(&sheet.mesh, 2), ((double[3]){1, 1, 0}), 0);
  fixture_free(&sheet);
}

// ---- Numbers ----

static double parse_number(const char *word) {
  char text[1500];
  Fixture sheet;
  snprintf(text, sizeof text, "v %s 0 0\nf 1 1 1", word);
  parse_obj(text, &sheet);
  double x = flo_mesh_vertex(&sheet.mesh, 0)[0];
  fixture_free(&sheet);
  return x;
}

static void test_numbers_are_correctly_rounded(void **state) {
  (void)state;
  static const char *const words[] = {"0",
                                      "-0",
                                      "1.",
                                      ".5",
                                      "+.5e+1",
                                      "1e22",
                                      "1e23",
                                      "9007199254740993",
                                      "0.1",
                                      "123456789012345678901234",
                                      "3.4101800e-003",
                                      "2.2250738585072011e-308",
                                      "5e-324",
                                      "1E-400",
                                      "0.30000000000000004",
                                      "8.5e-9",
                                      "1.7976931348623157e-300",
                                      "0000000000000000000000000000001.5",
                                      "0.000000000000000000000000000000012345"};
  for (size_t k = 0; k < FLO_COUNT_OF(words); ++k)
    assert_true(parse_number(words[k]) == strtod(words[k], NULL));
  Random random = {5};
  for (int k = 0; k < 3000; ++k) {
    char word[64];
    double x = random_between(&random, -1, 1) * pow(10, random_between(&random, -25, 25));
    snprintf(word, sizeof word, k % 3 ? "%.*g" : "%.*e", 1 + k % 19, x);
    assert_true(parse_number(word) == strtod(word, NULL));
  }
}

static void test_numbers_do_not_depend_on_the_language(void **state) {
  (void)state;
  static const char *const languages[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
  bool has_comma = false;
  for (size_t k = 0; k < FLO_COUNT_OF(languages) && !has_comma; ++k)
    has_comma = setlocale(LC_ALL, languages[k]) && localeconv()->decimal_point[0] == ',';
  double quick = parse_number("2.5"), slow = parse_number("0.12345678901234567890");
  setlocale(LC_ALL, "C");
  assert_true(quick == 2.5 && slow == 0.12345678901234567890);
  if (!has_comma) {
    print_message("no language with a decimal comma is installed\n");
    skip();
  }
}

// ---- Malformed files ----

typedef struct Malformed {
  const char *text, *message;
} Malformed;

static void check_malformed(Parser *parser, const char *name, const Malformed *cases, size_t n) {
  for (size_t k = 0; k < n; ++k) {
    Fixture sheet;
    FloError error;
    assert_refused(parse(parser, name, cases[k].text, strlen(cases[k].text), &sheet, &error), &error,
                   cases[k].message);
    assert_int_equal(strncmp(error.text, name, strlen(name)), 0);
    assert_int_equal(sheet.mesh.n_vertices + sheet.mesh.n_triangles, 0);
    fixture_free(&sheet);
  }
}

#define V3 "v 0 0 0\nv 1 0 0\nv 0 1 0\n"

static void test_malformed_obj(void **state) {
  (void)state;
  static const Malformed cases[] = {
      {"", "a.obj: has no triangles"},
      {"\n\n# nothing\n", "has no triangles; export"},
      {V3, "has no triangles"},
      {"hello world\n", "has no triangles"},
      {V3 "f 1 2 99\n", "a.obj: line 4: vertex number 99 does not exist; the file has 3 so far"},
      {"f 1 2 3\n" V3, "line 1: vertex number 1 does not exist; the file has 0 so far"},
      {V3 "f 0 1 2\n", "line 4: vertex number 0 does not exist; OBJ files count from 1"},
      {V3 "f -1 -2 -4\n", "vertex number -4 does not exist; the file has 3 so far"},
      {V3 "f 1 2 99999999999999999999999999\n", "'99999999999999999999999999' is not a corner"},
      {V3 "f 1 2\n", "line 4: a face needs three corners or more, this one has 2"},
      {V3 "f\n", "this one has 0"},
      {V3 "f 1 2 three\n", "line 4: 'three' is not a corner of a face; write v, v/t, v//n or v/t/n"},
      {V3 "f 1 2 3/x\n", "'3/x' is not a corner"},
      {V3 "f 1/1/1/1 2 3\n", "'1/1/1/1' is not a corner"},
      {V3 "f 1 2 3.5\n", "'3.5' is not a corner"},
      {"v 0 0\n", "line 1: coordinate z is missing; the line ends early"},
      {"v\n", "coordinate x is missing"},
      {"# one\r\nv 0 zero 0\r\n", "line 2: 'zero' is not a number; coordinate y should stand there"},
      {"v 0 0 1.2.3\n", "'1.2.3' is not a number"},
      {"v 0 1e 0\n", "'1e' is not a number"},
      {"v 0 0x10 0\n", "'0x10' is not a number"},
      {"v 0 1,5 0\n", "'1,5' is not a number"},
      {"v . 0 0\n", "'.' is not a number"},
      {"v nan 0 0\n", "coordinate x is 'nan'; export the mesh again"},
      {"v 0 -Inf 0\n", "coordinate y is '-Inf'"},
      {"v 0 1e999 0\n", "coordinate y is not finite"},
      {"v 0 0 1e31\n", "coordinate z is beyond 1e30; scale the mesh"},
      {"v 0 \\\n\\\n x 0\n", "line 3: 'x' is not a number"},
      {"v 0 \xff\x01 0\n", "'\?\?' is not a number"},
      {"\x89PNG\r\n", "line 1: byte 137 is not part of any keyword; this is not an OBJ file"},
      {V3 "\x01\x02\n", "line 4: byte 1 is not"},
      {"v 0 0 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
       "'aaaaaaaaaaaaaaaaaaaaaaaaaaaa...' is not a number"},
  };
  check_malformed(flo_mesh_parse_obj, "a.obj", cases, FLO_COUNT_OF(cases));
}

#define FACET_START "solid\nfacet normal 0 0 1\nouter loop\n"

static void test_malformed_stl_text(void **state) {
  (void)state;
  static const Malformed cases[] = {
      {"", "a.stl: line 1: the file ends where 'solid' should stand"},
      {"solid nothing\nendsolid\n", "has no triangles"},
      {"hello", "line 1: 'hello' stands where 'solid' should"},
      {"solid\nvertex 0 0 0\n", "line 2: 'vertex' stands where 'facet' or 'endsolid' should"},
      {"solid\nfacet\nouter loop\n", "'outer' stands where 'normal' should"},
      {FACET_START "vertex 0 0 0\nvertex 1 0 0\nendloop\n", "line 6: 'endloop' stands where 'vertex' should"},
      {FACET_START "vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nvertex 1 1 1\n",
       "line 7: 'vertex' stands where 'endloop' should"},
      {FACET_START "vertex 0 0 0\nvertex 1", "line 5: coordinate y is missing"},
      {FACET_START "vertex 0 0 0\nvertex 1 0 0\n", "line 6: the file ends where 'vertex' should stand"},
      {FACET_START "vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n",
       "the file ends without 'endsolid'"},
      {FACET_START "vertex 0 0 infinity\n", "line 4: coordinate z is 'infinity'"},
      {FACET_START "vertex 0 0 1e40\n", "line 4: coordinate z is beyond 1e30"},
  };
  check_malformed(flo_mesh_parse_stl, "a.stl", cases, FLO_COUNT_OF(cases));
}

// A good binary file, cut to `size` and with one number overwritten.
static void check_bad_stl(size_t size, size_t at, uint32_t value, const char *message) {
  Fixture sheet;
  FloError error;
  Bytes bytes = {.size = 0};
  write_stl_binary(&bytes);
  bytes.size = at;
  put_number(&bytes, value, 4, false);
  assert_refused(parse(flo_mesh_parse_stl, "a.stl", bytes.data, size, &sheet, &error), &error, message);
  fixture_free(&sheet);
}

static void test_malformed_stl_binary(void **state) {
  (void)state;
  check_bad_stl(84 + 50 * 12 - 1, 80, 12,
                "a.stl: the header promises 12 triangles, the file ends after 11; copy");
  check_bad_stl(84 + 50 * 12, 80, 500, "the header promises 500 triangles, the file ends after 12");
  check_bad_stl(84 + 50 * 12, 80, UINT32_MAX, "promises 4294967295 triangles, the file ends after 12");
  check_bad_stl(84 + 50 * 12, 80, 10, "promises 10 triangles, but 100 bytes follow");
  check_bad_stl(84, 80, 0, "has no triangles");
  check_bad_stl(50, 80, 12, "50 bytes are no STL file; a binary one has at least 84");
  check_bad_stl(84 + 50 * 12, 84 + 50 + 16, 0x7fc00000, "byte 150: coordinate y of triangle 2 is not finite");
  check_bad_stl(84 + 50 * 12, 84 + 20, 0x7f800000, "byte 104: coordinate z of triangle 1 is not finite");
  check_bad_stl(84 + 50 * 12, 84 + 12, 0x7f000000, "byte 96: coordinate x of triangle 1 is beyond 1e30");
}

#define HEAD   "ply\nformat ascii 1.0\n"
#define VERTEX "element vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
#define FACE   "element face 1\nproperty list uchar int vertex_indices\n"
#define POINTS "0 0 0\n1 0 0\n0 1 0\n"
#define GOOD   HEAD VERTEX FACE "end_header\n"

static void test_malformed_ply_headers(void **state) {
  (void)state;
  static const Malformed cases[] = {
      {"", "a.ply: line 1: a PLY file begins with 'ply'"},
      {"plyx\n", "a PLY file begins with 'ply'"},
      {"ply\n", "line 2: the file ends without 'end_header'"},
      {HEAD VERTEX FACE, "the file ends without 'end_header'"},
      {"ply\nformat binary 1.0\n", "line 2: format 'binary' is unknown; it is ascii"},
      {"ply\n" VERTEX FACE "end_header\n", "the header has no 'format' line"},
      {HEAD "elements 3\n", "line 3: 'elements' is not part of a PLY header"},
      {HEAD "element\n", "line 3: the element has no name"},
      {HEAD "element vertex -3\n", "line 3: '-3' is not a number of elements between 0 and 4294967294"},
      {HEAD "element vertex 99999999999999999999999\n", "is not a number of elements"},
      {HEAD "element vertex 4294967295\n", "'4294967295' is not a number of elements"},
      {HEAD "property float x\n", "a property stands before the first element"},
      {HEAD "element vertex 3\nproperty int64 x\n", "line 4: type 'int64' is unknown"},
      {HEAD "element vertex 3\nproperty float\n", "line 4: the property has no name"},
      {HEAD "element face 3\nproperty list float int vertex_indices\n", "type 'float' cannot count"},
      {HEAD "element face 3\nproperty list uchar float vertex_indices\n",
       "numbered by a type that cannot count"},
      {HEAD VERTEX VERTEX, "line 7: element 'vertex' stands twice"},
      {HEAD FACE "end_header\n", "has no element 'vertex' with properties x, y and z"},
      {HEAD "element vertex 1\nproperty float x\nproperty float y\n" FACE "end_header\n",
       "has no element 'vertex' with properties x, y and z"},
      {HEAD VERTEX "end_header\n" POINTS, "a.ply: has no triangles: no element 'face'"},
      {HEAD VERTEX "element face 0\nproperty list uchar int vertex_indices\nend_header\n" POINTS,
       "has no triangles"},
      {HEAD "element vertex 4000000000\nproperty float x\nproperty float y\nproperty float z\n" FACE
            "end_header\n" POINTS,
       "promises elements of at least 24000000002 bytes, the file ends after 18"},
      {"ply\nformat binary_big_endian 1.0\n" VERTEX "element face 9\nproperty list int int vertex_index\n"
       "end_header\n0123456789",
       "promises elements of at least 72 bytes, the file ends after 10"},
  };
  check_malformed(flo_mesh_parse_ply, "a.ply", cases, FLO_COUNT_OF(cases));
}

static void test_malformed_ply_elements(void **state) {
  (void)state;
  static const Malformed cases[] = {
      {GOOD POINTS "3 0 1 3\n", "line 13: vertex number 3 does not exist; the file has 3, counted from 0"},
      {GOOD POINTS "3 0 1 -1\n", "line 13: the number of a vertex is -1; it must be a whole number"},
      {GOOD POINTS "3 0 1 0.5\n", "the number of a vertex is 0.5"},
      {GOOD POINTS "2 0 1\n", "line 13: a face needs three corners or more, this one has 2"},
      {GOOD POINTS "4 0 1 2\n", "line 14: the number of a vertex is missing; the line ends early"},
      {GOOD POINTS "4000000000 0 1 2\n", "the number of a vertex is missing"},
      {GOOD POINTS "3 0 1 2 7\n", "line 13: '7' is one value more than the header names"},
      {GOOD "0 0 0\n1 0\n0 1 0\n3 0 1 2\n", "line 12: '1' is one value more than the header names"},
      {GOOD "0 0 0\n1 nan 0\n0 1 0\n3 0 1 2\n", "line 11: coordinate y is 'nan'"},
      {GOOD "0 0 0\n1 0 1e300\n0 1 0\n3 0 1 2\n", "line 11: coordinate z is beyond 1e30"},
      {GOOD "0 0 0\n1 \xfe\xff 0\n0 1 0\n3 0 1 2\n", "line 11: '\?\?' is not a number"},
      {GOOD POINTS "      ", "the number of corners is missing"},
  };
  check_malformed(flo_mesh_parse_ply, "a.ply", cases, FLO_COUNT_OF(cases));
}

// Values of one element may stand on several lines.
static void test_wrapped_ply(void **state) {
  (void)state;
  static const char text[] = GOOD "0 0 0\n1\n0 0\n0 1\n\n0\n3 0\n1 2\n";
  static const double expected[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  static const uint32_t corners[] = {0, 1, 2};
  Fixture sheet;
  FloError error;
  assert_ok(parse(flo_mesh_parse_ply, "a.ply", (const unsigned char *)text, sizeof text - 1, &sheet, &error),
            &error);
  assert_int_equal(sheet.mesh.n_triangles, 1);
  assert_memory_equal(sheet.mesh.vertices.data, expected, sizeof expected);
  assert_memory_equal(sheet.mesh.triangles.data, corners, sizeof corners);
  fixture_free(&sheet);
}

// A few bytes behind the last triangle do no harm; as many as a triangle has mean that the count is wrong.
static void test_stl_with_trailing_bytes(void **state) {
  (void)state;
  for (size_t n_more = 1; n_more < 50; n_more += 16) {
    Fixture sheet;
    FloError error;
    Bytes bytes = {.size = 0};
    write_stl_binary(&bytes);
    for (size_t k = 0; k < n_more; ++k) put_number(&bytes, 0, 1, false);
    assert_ok(parse(flo_mesh_parse_stl, "a.stl", bytes.data, bytes.size, &sheet, &error), &error);
    assert_int_equal(sheet.mesh.n_triangles, 12);
    fixture_free(&sheet);
  }
}

static void test_malformed_ply_binary(void **state) {
  (void)state;
  Fixture sheet;
  FloError error;
  Bytes bytes = {.size = 0};
  write_ply_little(&bytes);
  for (size_t size = 0; size < bytes.size; ++size) { // cut off anywhere
    assert_int_equal(parse(flo_mesh_parse_ply, "a.ply", bytes.data, size, &sheet, &error), FLO_BAD_INPUT);
    fixture_free(&sheet);
  }
  assert_refused(parse(flo_mesh_parse_ply, "a.ply", bytes.data, bytes.size - 2, &sheet, &error), &error,
                 "the file ends where an item of a list should stand");
  fixture_free(&sheet);
  bytes.data[bytes.size - 6] = 0xff; // the high byte of the last corner
  assert_refused(parse(flo_mesh_parse_ply, "a.ply", bytes.data, bytes.size, &sheet, &error), &error,
                 "vertex number 65285 does not exist; the file has 8");
  char where[40];
  snprintf(where, sizeof where, "byte %zu:", bytes.size - 7);
  assert_non_null(strstr(error.text, where));
  fixture_free(&sheet);
}

// ---- Files that are none ----

static void check_unreadable(const char *path, FloStatus status, const char *message) {
  Fixture sheet;
  FloError error;
  fixture_init(&sheet);
  assert_fails(flo_mesh_read(path, &sheet.mesh, &error), status, &error, message);
  assert_non_null(strstr(error.text, path));
  fixture_free(&sheet);
}

static void test_unreadable_files(void **state) {
  (void)state;
  char path[200];
  Bytes bytes = {.size = 0};
  check_unreadable("no/such/duck.obj", FLO_IO_FAILED, "cannot read: No such file or directory");
  check_unreadable("/", FLO_IO_FAILED, "cannot read: Is a directory");
  check_unreadable("/dev/null", FLO_IO_FAILED, "it is not an ordinary file");
  temporary_path(path, "empty.stl");
  save(path, &bytes);
  check_unreadable(path, FLO_BAD_INPUT, "the file is empty");
  // As long as asked for, but without taking room on the disk.
  if (truncate(path, (3LL << 30)) == 0) check_unreadable(path, FLO_BAD_INPUT, "more than the 2 GB");
  remove(path);
  temporary_path(path, "pipe.obj");
  assert_int_equal(mkfifo(path, 0600), 0);
  check_unreadable(path, FLO_IO_FAILED, "it is not an ordinary file");
  remove(path);
}

// Whichever reader was built, it names the file; without assimp it says what to do.
static void test_unknown_formats(void **state) {
  (void)state;
  Fixture sheet;
  FloError error;
  Bytes bytes = {.size = 0};
  put_text(&bytes, "no mesh at all");
  fixture_init(&sheet);
  assert_true(read_bytes("mesh.xyzzy", &bytes, &sheet.mesh, &error) != FLO_OK);
  assert_non_null(strstr(error.text, "mesh.xyzzy: "));
  assert_non_null(strstr(error.text, "OBJ, STL"));
  fixture_free(&sheet);
}

// ---- Memory ----

static void check_allocations(void (*write)(Bytes *), const char *name) {
  Bytes bytes = {.size = 0};
  write(&bytes);
  for (size_t at = 1;; ++at) {
    Fixture sheet;
    FloError error;
    fixture_init(&sheet);
    sheet.counter.fail_at = at;
    FloStatus status = read_bytes(name, &bytes, &sheet.mesh, &error);
    fixture_free(&sheet);
    if (status == FLO_OK) {
      assert_true(at > 4);
      break;
    }
    assert_int_equal(status, FLO_NO_MEMORY);
  }
}

static void test_failed_allocations_are_reported(void **state) {
  (void)state;
  check_allocations(write_obj, "box.obj");
  check_allocations(write_stl_text, "box.stl");
  check_allocations(write_stl_binary, "box.stl");
  check_allocations(write_ply_text, "box.ply");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_encodings_give_the_same_mesh),
      cmocka_unit_test(test_content_goes_before_the_name),
      cmocka_unit_test(test_convex_polygons_become_fans),
      cmocka_unit_test(test_line_ends_of_all_systems),
      cmocka_unit_test(test_names_in_latin_1),
      cmocka_unit_test(test_faces_may_come_before_vertices),
      cmocka_unit_test(test_numbers_are_correctly_rounded),
      cmocka_unit_test(test_numbers_do_not_depend_on_the_language),
      cmocka_unit_test(test_malformed_obj),
      cmocka_unit_test(test_malformed_stl_text),
      cmocka_unit_test(test_malformed_stl_binary),
      cmocka_unit_test(test_malformed_ply_headers),
      cmocka_unit_test(test_malformed_ply_elements),
      cmocka_unit_test(test_wrapped_ply),
      cmocka_unit_test(test_stl_with_trailing_bytes),
      cmocka_unit_test(test_malformed_ply_binary),
      cmocka_unit_test(test_unreadable_files),
      cmocka_unit_test(test_unknown_formats),
      cmocka_unit_test(test_failed_allocations_are_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
