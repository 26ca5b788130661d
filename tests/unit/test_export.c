// Exports: every value comes back, words stand for numbers, odd values and names keep their columns, streams
// that fail are noticed.
#include "io/export.h"
#include "io/files.h"
#include "support/check.h"

#include <unistd.h>

enum { N = 200 };

static char folder[64], path[128];

static int make_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/flotsam-export-XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/out", folder);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  remove(path);
  return rmdir(folder); // fails if a temporary file was left behind
}

// ---- Points with an array of every type ----

static float positions[3 * N], velocity[3 * N], pressure[N], stress[6 * N];
static double mass[N];
static uint8_t type[N];
static uint16_t body[N];
static int32_t level[N];
static uint32_t id[N];

static const char *const body_names[] = {"tank", "a \"mill\", big"};
static const FloExportNames names = {body_names, 2, NULL, 0};

static float any_float(uint32_t k) {
  uint32_t bits = k * 2654435761u;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// Floats of all sizes, NaN and infinities among them.
static FloVtkPoints make_points(void) {
  for (uint32_t i = 0; i < N; i++) {
    for (uint32_t k = 0; k < 3; k++) positions[3 * i + k] = any_float(7 * i + k + 1);
    for (uint32_t k = 0; k < 3; k++) velocity[3 * i + k] = any_float(1000 + 7 * i + k);
    for (uint32_t k = 0; k < 6; k++) stress[6 * i + k] = (float)(i + k);
    pressure[i] = i == 0 ? -0.0F : i == 1 ? INFINITY : i == 2 ? NAN : 1e-45F * (float)i;
    mass[i] = 1.0 / (i + 3);
    type[i] = (uint8_t)(i % 3);
    body[i] = (uint16_t)(i % 4 == 3 ? UINT16_MAX : i % 4);
    level[i] = (int32_t)i - 100;
    id[i] = i == 5 ? UINT32_MAX : i;
  }
  FloVtkPoints points = {.time = 0.1, .count = N, .positions = positions, .n_arrays = 8};
  points.arrays[0] = (FloVtkArray){"stress", FLO_VTK_F32, 6, stress};
  points.arrays[1] = (FloVtkArray){"pressure", FLO_VTK_F32, 1, pressure};
  points.arrays[2] = (FloVtkArray){"mass", FLO_VTK_F64, 1, mass};
  points.arrays[3] = (FloVtkArray){"type", FLO_VTK_U8, 1, type};
  points.arrays[4] = (FloVtkArray){"body", FLO_VTK_U16, 1, body};
  points.arrays[5] = (FloVtkArray){"level", FLO_VTK_I32, 1, level};
  points.arrays[6] = (FloVtkArray){"id", FLO_VTK_U32, 1, id};
  points.arrays[7] = (FloVtkArray){"velocity", FLO_VTK_F32, 3, velocity};
  return points;
}

static char *export(FloExportFormat format, const FloVtkPoints *points, size_t *size) {
  FloError error;
  char *text;
  assert_ok(flo_export_file(path, format, points, &names, "a title\nin lines", &error), &error);
  assert_ok(flo_file_read(path, &text, size, &error), &error);
  return text;
}

// ---- CSV ----

static bool is_same(float a, float b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }

static const char *expect_field(const char *at, const char *expected) {
  size_t length = strlen(expected);
  if (strncmp(at, expected, length) != 0) fail_msg("'%.40s' instead of '%s'", at, expected);
  assert_true(at[length] == ',' || at[length] == '\n');
  return at + length + 1;
}

static const char *expect_float(const char *at, float expected) {
  char *end;
  float value = strtof(at, &end);
  if (end == at || !is_same(value, expected)) fail_msg("'%.30s' instead of %.9g", at, (double)expected);
  assert_true(*end == ',' || *end == '\n');
  return end + 1;
}

static const char *expect_row(const char *at, size_t i) {
  static const char *const types[] = {"fluid", "boundary", "rigid"};
  static const char *const bodies[] = {"tank", "\"a \"\"mill\"\", big\"", "2", ""};
  char number[40];
  snprintf(number, sizeof number, "%u", id[i]);
  at = expect_field(at, number);
  at = expect_field(at, types[i % 3]);
  at = expect_field(at, bodies[i % 4]);
  for (size_t k = 0; k < 3; k++) at = expect_float(at, positions[3 * i + k]);
  for (size_t k = 0; k < 3; k++) at = expect_float(at, velocity[3 * i + k]);
  at = expect_float(at, pressure[i]);
  for (size_t k = 0; k < 6; k++) at = expect_float(at, stress[6 * i + k]);
  char *end;
  assert_true(strtod(at, &end) == mass[i]);
  snprintf(number, sizeof number, "%d", level[i]);
  return expect_field(end + 1, number);
}

static void csv_reads_back_to_the_same_floats(void **state) {
  (void)state;
  FloVtkPoints points = make_points();
  size_t size;
  char *text = export(FLO_EXPORT_CSV, &points, &size);
  const char head[] =
      "id,type,body,x,y,z,vx,vy,vz,pressure,stress_0,stress_1,stress_2,stress_3,stress_4,stress_5,"
      "mass,level\n";
  assert_memory_equal(text, head, strlen(head));
  const char *at = text + strlen(head);
  for (size_t i = 0; i < N; i++) at = expect_row(at, i);
  assert_true(*at == 0 && at == text + size);
  assert_null(strstr(text, "-nan"));
  free(text);
}

// ---- PLY ----

static void ply_holds_rows_of_bytes(void **state) {
  (void)state;
  FloVtkPoints points = make_points();
  size_t size;
  char *text = export(FLO_EXPORT_PLY, &points, &size);
  assert_non_null(strstr(text, "\ncomment a title in lines\n"));
  assert_non_null(strstr(text, "\ncomment body 1 a \"mill\", big\n"));
  assert_non_null(strstr(text,
                         "\nelement vertex 200\nproperty uint id\nproperty uchar type\nproperty ushort body\n"
                         "property float x\n"));
  assert_non_null(strstr(text, "\nproperty double mass\nproperty int level\nend_header\n"));
  enum { ROW = 4 + 1 + 2 + 12 + 12 + 4 + 24 + 8 + 4 };
  const char *at = strstr(text, "end_header\n") + strlen("end_header\n");
  assert_int_equal(text + size - at, ROW * N);
  for (size_t i = 0; i < N; i++, at += ROW) {
    assert_memory_equal(at, &id[i], 4);
    assert_memory_equal(at + 4, &type[i], 1);
    assert_memory_equal(at + 5, &body[i], 2);
    assert_memory_equal(at + 7, &positions[3 * i], 12);
    assert_memory_equal(at + 19, &velocity[3 * i], 12);
    assert_memory_equal(at + 31, &pressure[i], 4);
    assert_memory_equal(at + 35, &stress[6 * i], 24);
    assert_memory_equal(at + 59, &mass[i], 8);
    assert_memory_equal(at + 67, &level[i], 4);
  }
  free(text);
}

// ---- Legacy VTK ----

// Compares big-endian numbers behind a line with the machine's own.
static void expect_swapped(const char *text, size_t size, const char *line, const void *expected,
                           size_t width, size_t n) {
  const char *at = text;
  while (at && !(strncmp(at, line, strlen(line)) == 0 && (at == text || at[-1] == '\n')))
    at = memchr(at + 1, line[0], (size_t)(text + size - at - 1));
  if (!at) fail_msg("there is no line '%s'", line);
  at += strlen(line);
  assert_true((size_t)(text + size - at) > width * n);
  for (size_t i = 0; i < n; i++)
    for (size_t byte = 0; byte < width; byte++)
      assert_int_equal(at[i * width + byte], ((const char *)expected)[i * width + width - 1 - byte]);
  assert_true(at[width * n] == '\n');
}

static void legacy_vtk_is_big_endian(void **state) {
  (void)state;
  FloVtkPoints points = make_points();
  size_t size;
  int32_t cells[2 * N];
  for (int k = 0; k < N; k++) cells[2 * k] = 1, cells[2 * k + 1] = k;
  char *text = export(FLO_EXPORT_VTK, &points, &size);
  const char head[] = "# vtk DataFile Version 4.2\na title in lines\nBINARY\nDATASET POLYDATA\n";
  assert_memory_equal(text, head, strlen(head));
  expect_swapped(text, size, "TimeValue 1 1 double\n", &points.time, 8, 1);
  expect_swapped(text, size, "POINTS 200 float\n", positions, 4, 3 * N);
  expect_swapped(text, size, "VERTICES 200 400\n", cells, 4, 2 * N);
  expect_swapped(text, size, "stress 6 200 float\n", stress, 4, 6 * N);
  expect_swapped(text, size, "mass 1 200 double\n", mass, 8, N);
  expect_swapped(text, size, "type 1 200 unsigned_char\n", type, 1, N);
  expect_swapped(text, size, "body 1 200 unsigned_short\n", body, 2, N);
  expect_swapped(text, size, "level 1 200 int\n", level, 4, N);
  expect_swapped(text, size, "velocity 3 200 float\n", velocity, 4, 3 * N);
  free(text);
}

// ---- Odd cases ----

static void no_particles_are_fine(void **state) {
  (void)state;
  float none[3];
  FloVtkPoints points = {.positions = none};
  size_t size;
  for (int format = 0; format < FLO_EXPORT_FORMAT_COUNT; format++) {
    char *text = export((FloExportFormat)format, &points, &size);
    if (format == FLO_EXPORT_CSV) assert_string_equal(text, "x,y,z\n");
    if (format == FLO_EXPORT_PLY) assert_non_null(strstr(text, "element vertex 0\n"));
    const char end[] = "POINTS 0 float\n\nVERTICES 0 0\n\nPOINT_DATA 0\nFIELD FieldData 0\n";
    if (format == FLO_EXPORT_VTK) assert_memory_equal(text + size - strlen(end), end, strlen(end));
    free(text);
  }
}

static void failing_streams_are_noticed(void **state) {
  (void)state;
  FloVtkPoints points = make_points();
  FloError error;
  for (int format = 0; format < FLO_EXPORT_FORMAT_COUNT; format++) {
    FILE *full = fopen("/dev/full", "wb");
    if (!full) skip();
    setvbuf(full, NULL, _IOFBF, 256);
    assert_fails(flo_export_write(full, "full", (FloExportFormat)format, &points, &names, "", &error),
                 FLO_IO_FAILED, &error, "full: cannot write");
    fclose(full);
  }
  assert_fails(flo_export_file("/nowhere/a.csv", FLO_EXPORT_CSV, &points, &names, "", &error), FLO_IO_FAILED,
               &error, "/nowhere/a.csv");
}

static void formats_have_names(void **state) {
  (void)state;
  FloExportFormat format;
  for (int k = 0; k < FLO_EXPORT_FORMAT_COUNT; k++) {
    assert_true(flo_export_from_name(flo_export_name((FloExportFormat)k), &format));
    assert_int_equal(format, k);
  }
  assert_false(flo_export_from_name("CSV", &format));
  assert_false(flo_export_from_name("", &format));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(csv_reads_back_to_the_same_floats, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(ply_holds_rows_of_bytes, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(legacy_vtk_is_big_endian, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(no_particles_are_fine, make_folder, remove_folder),
      cmocka_unit_test(failing_streams_are_noticed),
      cmocka_unit_test(formats_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
