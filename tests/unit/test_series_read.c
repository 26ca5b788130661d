// Whole series back in memory: names with quotes, cut and broken files, and what columns measure.
#include "io/files.h"
#include "io/series_read.h"
#include "support/check.h"

#include <unistd.h>

static char path[64];

static int make_file(void **state) {
  (void)state;
  strcpy(path, "/tmp/flotsam-series-XXXXXX");
  int file = mkstemp(path);
  assert_true(file >= 0);
  return close(file);
}

static int remove_file(void **state) {
  (void)state;
  return remove(path);
}

static FloStatus read_text(const char *text, FloSeriesTable *table, FloError *error) {
  assert_int_equal(flo_file_write(path, text, strlen(text), NULL), FLO_OK);
  return flo_series_table_read(path, table, error);
}

static void expect_refusal(const char *text, const char *word) {
  FloSeriesTable table;
  FloError error;
  assert_refused(read_text(text, &table, &error), &error, word);
  assert_non_null(strstr(error.text, path));
  flo_series_table_free(&table);
}

static void columns_come_back(void **state) {
  (void)state;
  FloSeriesTable table;
  FloError error;
  assert_ok(
      read_text("time,\"a \"\"b\"\", c\",tank.x\n0,1e-300,nan\n0.1,-2,inf\n0.2,3.5,-inf\n", &table, &error),
      &error);
  assert_int_equal(table.n_columns, 3);
  assert_int_equal(table.n_rows, 3);
  assert_false(table.is_cut);
  assert_string_equal(table.names[1], "a \"b\", c");
  assert_int_equal(flo_series_table_find(&table, "tank.x"), 2);
  assert_int_equal(flo_series_table_find(&table, "tank"), 3);
  const double *a = flo_series_table_column(&table, 1), *x = flo_series_table_column(&table, 2);
  assert_true(a[0] == 1e-300 && a[1] == -2 && a[2] == 3.5);
  assert_true(isnan(x[0]) && x[1] == INFINITY && x[2] == -INFINITY);
  flo_series_table_free(&table);
}

static void few_or_no_rows_are_fine(void **state) {
  (void)state;
  FloSeriesTable table;
  FloError error;
  assert_ok(read_text("time,a\n", &table, &error), &error);
  assert_int_equal(table.n_rows, 0);
  flo_series_table_free(&table);
  assert_ok(read_text("time,a\r\n0,1\r\n", &table, &error), &error);
  assert_int_equal(table.n_rows, 1);
  assert_string_equal(table.names[1], "a");
  flo_series_table_free(&table);
}

// Whatever a run was writing when it was killed, the rows before it count.
static void a_cut_last_line_is_left_out(void **state) {
  (void)state;
  const char *const tails[] = {"2", "2,", "2,3", "2,3,4", "x"};
  for (size_t k = 0; k < FLO_COUNT_OF(tails); k++) {
    char text[64];
    FloSeriesTable table;
    FloError error;
    snprintf(text, sizeof text, "time,a\n0,1\n1,2\n%s", tails[k]);
    assert_ok(read_text(text, &table, &error), &error);
    assert_int_equal(table.n_rows, 2);
    assert_true(table.is_cut);
    assert_true(flo_series_table_column(&table, 1)[1] == 2);
    flo_series_table_free(&table);
  }
}

static void broken_files_are_refused(void **state) {
  (void)state;
  expect_refusal("", "line 1");
  expect_refusal("time,a", "line 1: the line with the names of columns is not complete");
  expect_refusal("time,a\n0\n", "line 2: columns are missing");
  expect_refusal("time,a\n0,1\n0,\n1,2\n", "line 3: a column is not a number");
  expect_refusal("time,a\n0,1,2\n", "line 2: there are too many columns");
  expect_refusal("time,a\n0,x\n", "not a number");
  expect_refusal("time,a\n\n", "not a number");
  expect_refusal("\"time,a\n0,1\n", "line 1");
  FloSeriesTable table;
  FloError error;
  assert_fails(flo_series_table_read("/nowhere/series.csv", &table, &error), FLO_IO_FAILED, &error,
               "/nowhere");
  flo_series_table_free(&table);
}

static void long_names_are_cut_off(void **state) {
  (void)state;
  char text[600] = "time,", long_name[201];
  memset(long_name, 'n', 200);
  long_name[200] = 0;
  snprintf(text, sizeof text, "time,%s,\"%s\"\n0,1,2\n", long_name, long_name);
  FloSeriesTable table;
  FloError error;
  assert_ok(read_text(text, &table, &error), &error);
  assert_int_equal(strlen(table.names[1]), 95);
  assert_int_equal(strlen(table.names[2]), 95);
  assert_true(flo_series_table_column(&table, 2)[0] == 2);
  flo_series_table_free(&table);
}

static void expect_meaning(const FloScene *scene, const char *column, const char *quantity,
                           const char *unit) {
  FloSeriesMeaning meaning = flo_series_meaning(scene, column);
  if (quantity)
    assert_string_equal(meaning.quantity, quantity);
  else
    assert_null(meaning.quantity);
  assert_string_equal(meaning.unit, unit);
}

static void columns_have_units(void **state) {
  (void)state;
  FloProbe probes[] = {{.name = "gauge", .kind = FLO_PROBE_PRESSURE},
                       {.name = "push", .kind = FLO_PROBE_FORCE},
                       {.name = "level", .kind = FLO_PROBE_WATER_HEIGHT}};
  FloScene scene = {.probes = probes, .n_probes = 3, .world = {.dim = 3}};
  expect_meaning(&scene, "kinetic_energy", "energy", "J");
  expect_meaning(&scene, "dt", "time step", "s");
  expect_meaning(&scene, "gauge", "pressure", "Pa");
  expect_meaning(&scene, "push.x", "force", "N");
  expect_meaning(&scene, "tank.x", "position", "m");
  expect_meaning(&scene, "tank.tx", "torque", "N m");
  expect_meaning(&scene, "level", "height", "m");
  expect_meaning(&scene, "unknown", NULL, "");
  expect_meaning(&scene, "energy", NULL, ""); // a part of a name is none
  scene.world.dim = 2;
  expect_meaning(&scene, "kinetic_energy", "energy", "J/m");
  expect_meaning(&scene, "push.y", "force", "N/m");
  expect_meaning(NULL, "gauge", NULL, "");
  expect_meaning(NULL, "max_speed", "speed", "m/s");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(columns_come_back, make_file, remove_file),
      cmocka_unit_test_setup_teardown(few_or_no_rows_are_fine, make_file, remove_file),
      cmocka_unit_test_setup_teardown(a_cut_last_line_is_left_out, make_file, remove_file),
      cmocka_unit_test_setup_teardown(broken_files_are_refused, make_file, remove_file),
      cmocka_unit_test_setup_teardown(long_names_are_cut_off, make_file, remove_file),
      cmocka_unit_test(columns_have_units),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
