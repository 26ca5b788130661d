// Particles from CSV: to the last bit, with quotes and line ends of all kinds, and every mistake named with
// its line and column.
#include "io/particle_file.h"
#include "support/check.h"
#include "support/random.h"

#include <unistd.h>

static const FloParticleFileOptions in_space = {.dim = 3, .max_particles = 1000};
static const FloParticleFileOptions in_plane = {.dim = 2, .max_particles = 1000};

static FloParticleFile parse(const FloParticleFileOptions *options, const char *text) {
  FloParticleFile file;
  FloError error;
  assert_ok(flo_particle_file_parse("some.csv", text, strlen(text), options, &file, &error), &error);
  return file;
}

static void expect_particle(const FloParticleFile *file, size_t k, const double x[3], const float v[3]) {
  assert_memory_equal(file->positions + 3 * k, x, 3 * sizeof *x);
  assert_memory_equal(file->velocities + 3 * k, v, 3 * sizeof *v);
}

static void test_columns_come_in_any_order_and_others_are_ignored(void **state) {
  (void)state;
  FloParticleFile file = parse(&in_space, "id,z,vy,y,name,x\n7,3,0.5,2,a b,1\n8,-3,1e-3,-2,,-1\n");
  assert_int_equal(file.count, 2);
  expect_particle(&file, 0, (double[]){1, 2, 3}, (float[]){0, 0.5f, 0});
  expect_particle(&file, 1, (double[]){-1, -2, -3}, (float[]){0, 1e-3f, 0});
  flo_particle_file_free(&file);
}

static void test_every_bit_comes_back(void **state) {
  (void)state;
  enum { N = 400 };
  static double x[3 * N];
  static float v[3 * N];
  Random random = {5};
  char *text = malloc(N * 160 + 64);
  size_t used = (size_t)sprintf(text, "x,y,z,vx,vy,vz\n");
  for (size_t k = 0; k < 3 * N; k++) {
    x[k] = random_between(&random, -1, 1) * pow(10, floor(random_between(&random, -20, 20)));
    v[k] = (float)(random_between(&random, -1, 1) * pow(10, floor(random_between(&random, -10, 10))));
  }
  for (size_t k = 0; k < 3 * N; k += 3)
    used += (size_t)sprintf(text + used, "%.17g,%.17g,%.17g,%.9g,%.9g,%.9g\n", x[k], x[k + 1], x[k + 2],
                            (double)v[k], (double)v[k + 1], (double)v[k + 2]);
  FloParticleFile file = parse(&in_space, text);
  assert_int_equal(file.count, N);
  assert_memory_equal(file.positions, x, sizeof x);
  assert_memory_equal(file.velocities, v, sizeof v);
  flo_particle_file_free(&file);
  free(text);
}

static void test_quotes_line_ends_and_blanks(void **state) {
  (void)state;
  static const char *const texts[] = {
      "x,y\n1,2\n3,4\n",
      "x,y\n1,2\n3,4",
      "x,y\r\n1,2\r\n3,4\r\n",
      "x,y\r\n1,2\r\n3,4\r",
      "\n\r\n  \nx,y\n\n1,2\n \t\n\n3,4\n\n",
      "\xef\xbb\xbfx,y\n1,2\n3,4\n",
      "\"x\",\"y\"\n\"1\",\"2\"\n\"3\",4\n",
      " x , y\t\n 1,2 \n\t\"3\" , 4\n",
      "x,y,\"a \"\"b\"\", c\nd\"\n1,2,\"\"\n3,4,\"e\n\n,\"\n",
      "x,y,z,vz\n1,2,0,0\n3,4,-0,0e5\n",
  };
  for (size_t k = 0; k < FLO_COUNT_OF(texts); k++) {
    FloParticleFile file = parse(&in_plane, texts[k]);
    assert_int_equal(file.count, 2);
    for (int i = 0; i < 2; i++) {
      assert_close(file.positions[3 * i], 1 + 2 * i, 0);
      assert_close(file.positions[3 * i + 1], 2 + 2 * i, 0);
      assert_close(file.positions[3 * i + 2], 0, 0);
    }
    flo_particle_file_free(&file);
  }
}

static void test_only_fluid_of_the_material_asked_for(void **state) {
  (void)state;
  static const char text[] = "x,type,y,material\n1,fluid,1,water\n2,boundary,nonsense,\n3,fluid,3,oil\n"
                             "4,fluid,4,water\n";
  FloParticleFile file = parse(&in_plane, text);
  assert_int_equal(file.count, 3);
  assert_close(file.positions[3], 3, 0);
  flo_particle_file_free(&file);
  FloParticleFileOptions options = in_plane;
  options.material = "water";
  file = parse(&options, text);
  assert_int_equal(file.count, 2);
  assert_close(file.positions[3], 4, 0);
  flo_particle_file_free(&file);
}

// ---- Mistakes ----

typedef struct Mistake {
  int dim;
  const char *text, *message;
} Mistake;

static const Mistake mistakes[] = {
    {3, "", "some.csv: is empty; its first line must name the columns: x,y,z"},
    {2, " \n\r\n", "some.csv: is empty; its first line must name the columns: x,y"},
    {3, "x,y\n1,2\n", "some.csv: line 1: there is no column 'z' (there is x, y)"},
    {2, "\nX,y\n1,2\n", "some.csv: line 2: there is no column 'x', did you mean 'X'? (there is X, y)"},
    {2, "1,2\n", "there is no column 'x' (there is 1, 2)"},
    {2, "x,y,x\n1,2,3\n", "some.csv: line 1: two columns have the name 'x'"},
    {2, "x,y\n", "some.csv: there are no rows after the names of the columns"},
    {2, "x,y,type\n1,2,boundary\n", "some.csv: no row has 'fluid' in the column 'type'"},
    {2, "x,y\n1,2\n\n1,two\n", "some.csv: line 4, column 'y': 'two' is not a number"},
    {2, "x,y\r\n1,2\r\n,2\r\n", "some.csv: line 3, column 'x': '' is not a number"},
    {2, "x,y\n1,2 3\n", "line 2, column 'y': '2 3' is not a number"},
    {2, "x,y\n1,2\r3\n", "line 2, column 'y': '2\r3' is not a number"},
    {2, "x,y\n1;2,2\n", "line 2, column 'x': '1;2' is not a number"},
    {2, "x,y\nnan,2\n", "line 2, column 'x': 'nan' is not finite, or too large"},
    {2, "x,y\n1,-inf\n", "line 2, column 'y': '-inf' is not finite, or too large"},
    {2, "x,y\n1,1e999\n", "line 2, column 'y': '1e999' is not finite, or too large"},
    {2, "x,y,vx\n1,1,1e39\n", "line 2, column 'vx': '1e39' is not finite, or too large"},
    {2, "x,y,z\n1,1,0\n1,2,1e-300\n", "line 3, column 'z': '1e-300' must be 0 in a two-dimensional scene"},
    {2, "x,y,vz\n1,1,2\n", "line 2, column 'vz': '2' must be 0 in a two-dimensional scene"},
    {2, "x,y,a\n1,2\n", "some.csv: line 2: the line has 2 fields, but the file has 3 columns"},
    {2, "x,y\n1,2,3\n", "some.csv: line 2: the line has 3 fields, but the file has 2 columns"},
    {2, "x,y,a\n1,2,\"b\nc\n", "some.csv: line 2: a quote begins here and has no end"},
    {2, "x,y\n\"1\"2,3\n", "some.csv: line 2: '2' follows a quote"},
    {2, "x,y,a\n1,2,\"b\nc\"\nd,4,5\n", "line 4, column 'x': 'd' is not a number"},
};

static void test_mistakes_are_named_with_line_and_column(void **state) {
  (void)state;
  for (size_t k = 0; k < FLO_COUNT_OF(mistakes); k++) {
    const Mistake *m = &mistakes[k];
    FloParticleFileOptions options = {.dim = m->dim, .max_particles = 1000};
    FloParticleFile file;
    FloError error = {0};
    assert_refused(flo_particle_file_parse("some.csv", m->text, strlen(m->text), &options, &file, &error),
                   &error, m->message);
    flo_particle_file_free(&file);
  }
}

static FloStatus parse_bytes(const FloParticleFileOptions *options, const char *text, size_t size,
                             FloError *error) {
  FloParticleFile file;
  FloStatus status = flo_particle_file_parse("some.csv", text, size, options, &file, error);
  flo_particle_file_free(&file);
  return status;
}

static void test_odd_bytes(void **state) {
  (void)state;
  FloError error;
  static const char zero[] = "x,y\n1\0,2\n";
  assert_refused(parse_bytes(&in_plane, zero, sizeof zero - 1, &error), &error,
                 "line 2, column 'x': '1' is not a number");
  // Digits beyond any number are not cut off in silence; long words nobody asks for are fine.
  char text[512] = "x,y,a\n0.";
  memset(text + strlen(text), '1', 200);
  strcat(text, ",2,3\n");
  assert_refused(parse_bytes(&in_plane, text, strlen(text), &error), &error, "is not a number");
  strcpy(text, "x,y,a\n1,2,");
  memset(text + strlen(text), 'b', 300);
  assert_ok(parse_bytes(&in_plane, text, strlen(text), &error), &error);
}

static void test_limits(void **state) {
  (void)state;
  FloParticleFileOptions options = {.dim = 2, .max_particles = 2};
  FloError error;
  static const char text[] = "x,y,type\n1,2,fluid\n1,2,boundary\n3,4,fluid\n5,6,fluid\n";
  assert_refused(parse_bytes(&options, text, strlen(text), &error), &error,
                 "some.csv: line 5: the file has more than 2 particles");
  options.max_particles = 3;
  assert_ok(parse_bytes(&options, text, strlen(text), &error), &error);
  options.material = "oil";
  assert_refused(parse_bytes(&options, text, strlen(text), &error), &error,
                 "line 1: there is no column 'material' (there is x, y, type)");
  static const char wet[] = "x,y,material\n1,2,water\n";
  assert_refused(parse_bytes(&options, wet, strlen(wet), &error), &error,
                 "some.csv: no row has 'oil' in the column 'material'");
}

// ---- Files ----

static FloStatus read_path(const char *path, FloError *error) {
  FloParticleFile file;
  FloStatus status = flo_particle_file_read(path, &in_plane, &file, error);
  flo_particle_file_free(&file);
  return status;
}

static void test_what_is_no_file(void **state) {
  (void)state;
  FloError error;
  assert_fails(read_path("/nonexistent/start.csv", &error), FLO_IO_FAILED, &error,
               "/nonexistent/start.csv: cannot read: No such file");
  assert_refused(read_path("/", &error), &error, "/: is a folder, not a file");
  assert_refused(read_path("/dev/zero", &error), &error, "/dev/zero: is a device or a pipe, not a file");
}

static void test_a_file_is_read(void **state) {
  (void)state;
  char path[] = "/tmp/flotsam-particles-XXXXXX";
  static const char text[] = "x,y\n0.1,0.2\n";
  FloParticleFile file;
  FloError error;
  int number = mkstemp(path);
  assert_true(number >= 0 && write(number, text, strlen(text)) == (ssize_t)strlen(text));
  close(number);
  assert_ok(flo_particle_file_read(path, &in_plane, &file, &error), &error);
  assert_int_equal(file.count, 1);
  expect_particle(&file, 0, (double[]){0.1, 0.2, 0}, (float[]){0, 0, 0});
  flo_particle_file_free(&file);
  remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_columns_come_in_any_order_and_others_are_ignored),
      cmocka_unit_test(test_every_bit_comes_back),
      cmocka_unit_test(test_quotes_line_ends_and_blanks),
      cmocka_unit_test(test_only_fluid_of_the_material_asked_for),
      cmocka_unit_test(test_mistakes_are_named_with_line_and_column),
      cmocka_unit_test(test_odd_bytes),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_what_is_no_file),
      cmocka_unit_test(test_a_file_is_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
