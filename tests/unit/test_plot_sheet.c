// Sheets of plots: one axis for all, powers of ten, legends beside titles, and what is too small to draw.
#include "io/files.h"
#include "render/plot.h"
#include "render/ticks.h"
#include "support/check.h"

#include <unistd.h>

enum { N = 50 };

static char folder[64];
static double xs[N], small[N], large[N];

static const char *in_folder(const char *name) {
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static int make_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/flotsam-sheet-XXXXXX");
  assert_non_null(mkdtemp(folder));
  for (int k = 0; k < N; k++) xs[k] = 0.1 * k, small[k] = 1e-5 * (k + 1), large[k] = k == 7 ? NAN : 1000 - k;
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  remove(in_folder("s.svg"));
  remove(in_folder("s.png"));
  return rmdir(folder);
}

static char *draw(const FloPlotSheet *sheet, int width, int height) {
  char *text;
  size_t size;
  FloError error;
  assert_ok(flo_plot_sheet_png(in_folder("s.png"), sheet, width, height, &error), &error);
  assert_ok(flo_plot_sheet_svg(in_folder("s.svg"), sheet, width, height, &error), &error);
  assert_ok(flo_file_read(in_folder("s.svg"), &text, &size, &error), &error);
  char *same; // for pages
  assert_ok(flo_plot_sheet_svg_text(sheet, width, height, &same, &error), &error);
  assert_string_equal(same, text);
  free(same);
  assert_null(strstr(text, "\"nan"));
  assert_null(strstr(text, "inf"));
  return text;
}

static int count(const char *text, const char *word) {
  int n = 0;
  for (; (text = strstr(text, word)); text++) n++;
  return n;
}

static const FloPlotSeries series[] = {{"small", small}, {"large", large}};
static const FloPlotInput plots[] = {{"first", "ignored", NULL, N, xs, &series[0], 1},
                                     {"second", "time [s]", NULL, N, xs, series, 2}};

// Where the first line of the drawing starts.
static float first_x(const char *text) {
  const char *path = strstr(text, "<path d=\"M");
  assert_non_null(path);
  return strtof(path + strlen("<path d=\"M"), NULL);
}

static void plots_stand_below_each_other(void **state) {
  (void)state;
  FloPlotSheet sheet = {"A title", plots, 2, false};
  char *text = draw(&sheet, 900, 400);
  assert_int_equal(count(text, ">A title</text>"), 1);
  assert_int_equal(count(text, ">first</text>"), 1);
  assert_int_equal(count(text, ">time [s]</text>"), 1);
  assert_int_equal(count(text, ">ignored</text>"), 0);
  // Three dashes of legends, two whole lines, one in two parts; numbers along x only below the last plot.
  assert_int_equal(count(text, "<path"), 3 + 2 + 2);
  assert_int_equal(count(text, ">2</text>"), 1);
  free(text);
}

// The widest label of all plots sets the left side of each.
static void frames_are_aligned(void **state) {
  (void)state;
  FloPlotInput plain[2] = {plots[0], plots[0]};
  FloPlotSeries unnamed[2] = {{NULL, small}, {NULL, large}};
  plain[0].series = &unnamed[0], plain[1].series = &unnamed[1];
  FloPlotSheet sheet = {NULL, plain, 2, false};
  char *text = draw(&sheet, 900, 400);
  float left = first_x(text);
  const char *second = strstr(strstr(text, "<path") + 1, "<path");
  assert_close(first_x(second), left, 0.01);
  free(text);
}

static void powers_of_ten_are_marked(void **state) {
  (void)state;
  FloPlotInput plot = plots[1];
  FloPlotSheet sheet = {NULL, &plot, 1, true};
  char *text = draw(&sheet, 900, 420);
  assert_int_equal(count(text, ">1e-5</text>"), 1);
  assert_int_equal(count(text, ">1000</text>"), 1);
  free(text);
  double bad[N];
  for (int k = 0; k < N; k++) bad[k] = -k;
  FloPlotSeries none = {NULL, bad};
  plot.series = &none, plot.n_series = 1;
  text = draw(&sheet, 900, 420);
  assert_int_equal(count(text, ">no positive values</text>"), 1);
  free(text);
}

// A title that would run out of the sheet is written smaller.
static void long_titles_shrink(void **state) {
  (void)state;
  char title[121];
  memset(title, 'm', 120);
  title[120] = 0;
  FloPlotSheet sheet = {title, plots, 1, false};
  char *text = draw(&sheet, 900, 300);
  const char *tag = strstr(strstr(text, "</title>"), ">mmm");
  while (strncmp(tag, "font-size=\"", 11) != 0) tag--;
  assert_true(strtod(tag + 11, NULL) < 12);
  free(text);
}

static void little_room_is_refused(void **state) {
  (void)state;
  FloPlotSheet sheet = {"t", plots, 2, false}, none = {"t", plots, 0, false},
               many = {"t", plots, 100000, false};
  FloError error;
  const char *path = in_folder("s.png");
  assert_refused(flo_plot_sheet_png(path, &sheet, 900, 149, &error), &error, "200 x 150 to 16384 x 16384");
  assert_refused(flo_plot_sheet_svg(path, &sheet, 100, 400, &error), &error, "got 100 x 400");
  assert_refused(flo_plot_sheet_svg(path, &many, 900, 400, &error), &error, "100000 plots are too many");
  assert_ok(flo_plot_sheet_png(path, &none, 900, 400, &error), &error);
}

static void exponents_are_spread(void **state) {
  (void)state;
  for (int low = -300; low <= 300; low += 7)
    for (int span = 0; span <= 600; span += 13)
      for (int wanted = 0; wanted <= 20; wanted++) {
        FloTicks t = flo_ticks_of_ten(low, low + span, wanted);
        assert_true(t.count >= 1 && t.count <= FLO_MAX_TICKS);
        assert_true(t.values[0] == low && t.values[t.count - 1] <= low + span);
        assert_true(span == 0 || t.values[t.count - 1] + t.step > low + span);
      }
  FloTicks t = flo_ticks_of_ten(-4, 5, 20);
  assert_string_equal(t.labels[0], "1e-4");
  assert_string_equal(t.labels[1], "0.001");
  assert_string_equal(t.labels[4], "1");
  assert_string_equal(t.labels[9], "1e5");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(plots_stand_below_each_other, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(frames_are_aligned, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(powers_of_ten_are_marked, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(long_titles_shrink, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(little_room_is_refused, make_folder, remove_folder),
      cmocka_unit_test(exponents_are_spread),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
