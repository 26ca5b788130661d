// Series: columns, extremes, what an expectation's measurement means, probes on a world at rest, rows read
// back.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/csv.h"
#include "io/files.h"
#include "io/series.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// A block of 0.4 x 0.2 of resting water on the plane, in a tank.
typedef struct Fixture {
  FloScene scene;
  FloSceneBody body;
  FloProbe probes[3];
  FloWorld *world;
  FloSeries *series;
} Fixture;

static void add_water(Fixture *f) {
  FloMaterialDef water = flo_default_material_def();
  FloFluidDef fluid = flo_default_fluid_def();
  size_t n;
  assert_int_equal(flo_world_add_material(f->world, &water, &fluid.material, NULL), FLO_OK);
  fluid.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {0.4, 0.2, 0.2}};
  fluid.pose.position[0] = 0.2;
  fluid.pose.position[1] = 0.1;
  assert_int_equal(flo_world_add_fluid(f->world, &fluid, &n, NULL), FLO_OK);
  assert_int_equal(n, 200);
}

static void add_tank(Fixture *f) {
  FloBodyDef *def = &f->body.def;
  *def = flo_default_body_def();
  strcpy(f->body.name, "tank");
  def->name = "tank";
  def->shape = (FloShape){.kind = FLO_SHAPE_TANK, .size = {0.4, 0.6, 0}, .up = 1};
  def->pose.position[0] = 0.2;
  def->pose.position[1] = 0.3;
  assert_int_equal(flo_world_add_body(f->world, def, &f->body.id, NULL), FLO_OK);
}

static int set_up(void **state) {
  Fixture *f = calloc(1, sizeof *f);
  f->scene = (FloScene){.up = 1, .bodies = &f->body, .n_bodies = 1, .probes = f->probes, .n_probes = 3};
  f->probes[0] = (FloProbe){.name = "height", .kind = FLO_PROBE_WATER_HEIGHT, .point = {0.2, 0, 0}};
  f->probes[1] = (FloProbe){.name = "front", .kind = FLO_PROBE_FRONT, .axis = 0};
  f->probes[2] = (FloProbe){.name = "push", .kind = FLO_PROBE_FORCE, .body = 0};
  f->scene.world = flo_default_world_def();
  f->scene.world.dim = 2;
  f->scene.world.gravity[1] = -9.81;
  f->scene.world.gravity[2] = 0;
  assert_int_equal(flo_world_create(&f->scene.world, &f->world, NULL), FLO_OK);
  add_tank(f);
  add_water(f);
  assert_int_equal(flo_series_create(&f->scene, &f->series, NULL), FLO_OK);
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  Fixture *f = *state;
  flo_series_destroy(f->series);
  flo_world_destroy(f->world);
  free(f);
  return 0;
}

static void columns_have_fixed_names(void **state) {
  const FloSeries *series = ((Fixture *)*state)->series;
  static const char first[] =
      "time,step,dt,iterations,residual,density_error_mean,density_error_max,fluid_particles,"
      "boundary_particles,rigid_particles,contacts,kinetic_energy,potential_energy,momentum_x,momentum_y,"
      "momentum_z,"
      "angular_momentum_x,angular_momentum_y,angular_momentum_z,penetrations,max_speed,emitted,removed,put_"
      "back,crossings,"
      "wall_seconds,tank.x,tank.y,tank.z,tank.qx,tank.qy,tank.qz,tank.qw,tank.vx,tank.vy,"
      "tank.vz,tank.wx,tank.wy,tank.wz,tank.fx,tank.fy,tank.fz,tank.tx,tank.ty,tank.tz,"
      "height,front,push.x,push.y,push.z,";
  char all[2048] = "";
  for (size_t c = 0; c < series->n_columns; c++) strcat(strcat(all, series->names[c]), ",");
  assert_string_equal(all, first);
}

static double value_of(const FloSeries *series, const char *measurement) {
  double value;
  assert_true(flo_series_value(series, measurement, &value));
  return value;
}

static FloStatus add_row(Fixture *f, FloSeries *series, double wall_seconds, FloError *error) {
  FloFrame frame;
  FloStatus status = flo_frame_take(&f->scene, f->world, 0, FLO_FRAME_MEASUREMENTS, &frame, error);
  assert_int_equal(status, FLO_OK);
  frame.wall_seconds = wall_seconds;
  status = flo_series_add(series, &frame, error);
  flo_frame_free(&frame);
  return status;
}

static void probes_measure_a_block_at_rest(void **state) {
  Fixture *f = *state;
  double s = f->scene.world.spacing;
  assert_int_equal(flo_world_step(f->world, NULL, NULL), FLO_OK);
  assert_int_equal(add_row(f, f->series, 1.5, NULL), FLO_OK);
  assert_true(value_of(f->series, "fluid_particles") == 200);
  assert_true(value_of(f->series, "wall_seconds") == 1.5);
  assert_true(value_of(f->series, "tank.x") == 0.2 && value_of(f->series, "tank.qw") == 1);
  assert_float_equal(value_of(f->series, "height"), 0.2, 0.6 * s);
  assert_float_equal(value_of(f->series, "front"), 0.4 - 0.5 * s, 0.1 * s);
}

static void extremes_cover_all_rows(void **state) {
  Fixture *f = *state;
  assert_int_equal(add_row(f, f->series, 2, NULL), FLO_OK);
  assert_int_equal(add_row(f, f->series, 1, NULL), FLO_OK);
  assert_true(value_of(f->series, "wall_seconds") == 1);
  assert_true(value_of(f->series, "wall_seconds.last") == 1);
  assert_true(value_of(f->series, "wall_seconds.min") == 1);
  assert_true(value_of(f->series, "wall_seconds.max") == 2);
  size_t column = flo_series_find(f->series, "density_error_max");
  f->series->high[column] = 5, f->series->last[column] = 3;
  assert_true(value_of(f->series, "density_error_max") == 5); // an error: the worst counts
  assert_true(value_of(f->series, "density_error_max.last") == 3);
}

// Without the first row, which is before the first step.
static void means_cover_all_rows_but_the_first(void **state) {
  Fixture *f = *state;
  assert_int_equal(add_row(f, f->series, 50, NULL), FLO_OK);
  assert_true(isnan(value_of(f->series, "wall_seconds.mean")));
  for (int k = 1; k <= 4; k++) assert_int_equal(add_row(f, f->series, k, NULL), FLO_OK);
  assert_true(value_of(f->series, "wall_seconds.mean") == 2.5);
}

static void unknown_measurements_are_not_found(void **state) {
  const FloSeries *series = ((Fixture *)*state)->series;
  double value;
  assert_false(flo_series_value(series, "densty", &value));
  assert_false(flo_series_value(series, "time.median", &value));
  assert_false(flo_series_value(series, "", &value));
}

static void rows_read_back_exactly(void **state) {
  Fixture *f = *state;
  char path[] = "/tmp/flotsam-series-XXXXXX";
  FloError error;
  FloSeriesTable table;
  assert_int_equal(flo_world_step(f->world, NULL, NULL), FLO_OK);
  close(mkstemp(path));
  strcpy(f->series->names[21], "a \"tank\", old");
  assert_int_equal(flo_series_open(f->series, path, &error), FLO_OK);
  assert_int_equal(add_row(f, f->series, 1. / 3, &error), FLO_OK);
  assert_int_equal(add_row(f, f->series, 2. / 3, &error), FLO_OK);
  assert_int_equal(flo_series_table_read(path, &table, &error), FLO_OK);
  assert_true(table.n_columns == f->series->n_columns && table.n_rows == 2);
  for (size_t c = 0; c < table.n_columns; c++)
    assert_true(flo_series_table_column(&table, c)[1] == f->series->last[c]);
  assert_string_equal(table.names[21], f->series->names[21]);
  flo_series_table_free(&table);
  remove(path);
}

// ---- Going on ----

static char series_path[32];

static void write_rows(Fixture *f, int n) {
  strcpy(series_path, "/tmp/flotsam-series-XXXXXX");
  close(mkstemp(series_path));
  assert_int_equal(flo_world_step(f->world, NULL, NULL), FLO_OK);
  assert_int_equal(flo_series_open(f->series, series_path, NULL), FLO_OK);
  for (int k = 1; k <= n; k++) assert_int_equal(add_row(f, f->series, k, NULL), FLO_OK);
}

// A series of the same scene that has read the file.
static FloStatus load_rows(const Fixture *f, size_t size, FloSeries **series, FloError *error) {
  assert_int_equal(flo_series_create(&f->scene, series, NULL), FLO_OK);
  return flo_series_load(*series, series_path, size, error);
}

static void a_file_is_gone_on_with(void **state) {
  Fixture *f = *state;
  FloSeries *series;
  FloSeriesTable table;
  size_t kept;
  write_rows(f, 2);
  kept = f->series->file.size;
  assert_int_equal(add_row(f, f->series, 77, NULL), FLO_OK);
  assert_int_equal(flo_series_drop_row(f->series, NULL), FLO_OK);
  assert_int_equal(f->series->file.size, kept);
  assert_int_equal(add_row(f, f->series, 78, NULL), FLO_OK);
  assert_int_equal(write(f->series->file.descriptor, "0.1,half", 8), 8);
  assert_int_equal(load_rows(f, kept, &series, NULL), FLO_OK);
  assert_int_equal(series->n_rows, 2);
  assert_true(value_of(series, "wall_seconds") == 2);
  assert_true(series->wall_seconds == 78); // of the row that is cut off, but not of half a row
  assert_int_equal(flo_series_go_on(series, NULL), FLO_OK);
  assert_int_equal(add_row(f, series, 79, NULL), FLO_OK);
  assert_int_equal(flo_series_table_read(series_path, &table, NULL), FLO_OK);
  assert_true(table.n_rows == 3 && !table.is_cut);
  assert_true(flo_series_table_column(&table, flo_series_find(series, "wall_seconds"))[2] == 79);
  flo_series_table_free(&table);
  flo_series_destroy(series);
  remove(series_path);
}

static void refuse(const Fixture *f, size_t size, const char *word) {
  FloSeries *series;
  FloError error;
  assert_int_equal(load_rows(f, size, &series, &error), FLO_BAD_INPUT);
  if (!strstr(error.text, word)) fail_msg("'%s' does not say '%s'", error.text, word);
  flo_series_destroy(series);
}

static void other_columns_are_named(void **state) {
  Fixture *f = *state;
  write_rows(f, 1);
  size_t size = f->series->file.size;
  f->probes[1].name[0] = 'F';
  refuse(f, size, "column 47 is 'front', but in this scene it is 'Front'");
  strcpy(f->probes[1].name, "fr,\"ont");
  refuse(f, size, "column 47 is 'front', but in this scene it is '\"fr,\"\"ont\"'");
  f->scene.n_probes = 1;
  refuse(f, size, "has a column 47, 'front', which this scene does not have");
  f->scene.n_probes = 3, strcpy(f->probes[1].name, "front");
  strcpy(f->body.name, "tan");
  refuse(f, size, "column 27 is 'tank.x', but in this scene it is 'tan.x'");
  strcpy(f->body.name, "tank");
  refuse(f, size + 1,
         "is shorter than the last checkpoint expects; restore the original file, or start the run again");
  refuse(f, size - 1, "is shorter");
  remove(series_path);
  refuse(f, size, "is missing; restore it");
}

// Keeps nothing but the names in the file, with something behind them; the file's new size.
static size_t change_names(const char *end) {
  char *text, line[2048];
  size_t size;
  assert_int_equal(flo_file_read(series_path, &text, &size, NULL), FLO_OK);
  *strchr(text, '\n') = 0;
  snprintf(line, sizeof line, "%s%s\n", text, end);
  assert_int_equal(flo_file_write(series_path, line, strlen(line), NULL), FLO_OK);
  free(text);
  return strlen(line);
}

// Lines that differ in nothing but their ends come to an end.
static void ends_of_lines_are_compared(void **state) {
  Fixture *f = *state;
  static const char *const ends[] = {",", ",,", ",more", "\r", "x"};
  static const char *const words[] = {"has a column 51, '', which this scene does not have",
                                      "has a column 51, ''",
                                      "has a column 51, 'more', which this scene does not have",
                                      "column 50 is 'push.z\r', but in this scene it is 'push.z'",
                                      "column 50 is 'push.zx', but in this scene it is 'push.z'"};
  for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
    write_rows(f, 1);
    flo_row_file_close(&f->series->file);
    refuse(f, change_names(ends[k]), words[k]);
    remove(series_path);
  }
  write_rows(f, 1);
  flo_row_file_close(&f->series->file);
  f->scene.n_probes = 2;
  refuse(f, change_names(""), "has a column 48, 'push.x', which this scene does not have");
  remove(series_path);
  f->scene.n_probes = 3;
  // Behind quotes, too.
  strcpy(f->probes[2].name, "a,b");
  flo_series_destroy(f->series);
  assert_int_equal(flo_series_create(&f->scene, &f->series, NULL), FLO_OK);
  write_rows(f, 1);
  flo_row_file_close(&f->series->file);
  refuse(f, change_names("x"), "column 50 is '\"a,b.z\"x', but in this scene it is '\"a,b.z\"'");
  remove(series_path);
}

static void missing_columns_are_named(void **state) {
  Fixture *f = *state;
  f->scene.n_probes = 2;
  flo_series_destroy(f->series);
  assert_int_equal(flo_series_create(&f->scene, &f->series, NULL), FLO_OK);
  write_rows(f, 1);
  f->scene.n_probes = 3;
  refuse(f, f->series->file.size, "column 48 is '', but in this scene it is 'push.x'");
  remove(series_path);
}

static void a_full_disk_leaves_whole_rows(void **state) {
  Fixture *f = *state;
  struct rlimit before, limit;
  FloError error;
  char *text;
  size_t size;
  write_rows(f, 2);
  const uint64_t kept = f->series->file.size;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  limit = (struct rlimit){.rlim_cur = kept + 10, .rlim_max = before.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  assert_int_equal(add_row(f, f->series, 3, &error), FLO_IO_FAILED);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  assert_non_null(strstr(error.text, "cannot write: File too large"));
  flo_series_destroy(f->series);
  f->series = NULL;
  assert_int_equal(flo_file_read(series_path, &text, &size, NULL), FLO_OK);
  assert_int_equal(size, kept);
  assert_int_equal(text[size - 1], '\n');
  free(text);
  remove(series_path);
}

static void numbers_are_short_and_exact(void **state) {
  (void)state;
  const double values[] = {0, 0.1, 1. / 3, 1e-300, -2.5, 123456789.125};
  char text[32];
  for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
    flo_format_number(values[k], text);
    assert_true(strtod(text, NULL) == values[k]);
  }
  flo_format_number(0.1, text);
  assert_string_equal(text, "0.1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(columns_have_fixed_names, set_up, tear_down),
      cmocka_unit_test_setup_teardown(probes_measure_a_block_at_rest, set_up, tear_down),
      cmocka_unit_test_setup_teardown(extremes_cover_all_rows, set_up, tear_down),
      cmocka_unit_test_setup_teardown(means_cover_all_rows_but_the_first, set_up, tear_down),
      cmocka_unit_test_setup_teardown(unknown_measurements_are_not_found, set_up, tear_down),
      cmocka_unit_test_setup_teardown(rows_read_back_exactly, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_file_is_gone_on_with, set_up, tear_down),
      cmocka_unit_test_setup_teardown(other_columns_are_named, set_up, tear_down),
      cmocka_unit_test_setup_teardown(ends_of_lines_are_compared, set_up, tear_down),
      cmocka_unit_test_setup_teardown(missing_columns_are_named, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_full_disk_leaves_whole_rows, set_up, tear_down),
      cmocka_unit_test(numbers_are_short_and_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
