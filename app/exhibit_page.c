// Parts of pages about runs: verdicts, expectations, commands, plots.
#include "base/core.h"
#include "command_line.h"
#include "exhibit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Numbers as people read them ----

const char *app_show_number(double value, char text[48]) {
  snprintf(text, 48, isfinite(value) ? "%.4g" : "–", value);
  return text;
}

// Writes 1234567 with narrow blanks between groups of three digits.
const char *app_show_count(double value, char text[48]) {
  char digits[32];
  size_t used = 0;
  if (!(fabs(value) < 1e15)) return app_show_number(value, text);
  int n = snprintf(digits, sizeof digits, "%.0f", value);
  for (int k = 0; k < n; k++) {
    bool is_gap = k > 0 && digits[k - 1] != '-' && (n - k) % 3 == 0;
    used += (size_t)snprintf(text + used, 48 - used, "%s%c", is_gap ? "\u202f" : "", digits[k]);
  }
  return text;
}

const char *app_show_seconds(double value, char text[48]) {
  if (!isfinite(value)) return app_show_number(value, text);
  long s = lround(value);
  if (value < 60)
    snprintf(text, 48, "%.3g s", value);
  else if (s < 3600)
    snprintf(text, 48, "%ld min %ld s", s / 60, s % 60);
  else
    snprintf(text, 48, "%ld h %ld min", s / 3600, s / 60 % 60);
  return text;
}

double app_exhibit_number(const AppExhibit *e, const char *key, const char *inner) {
  const json_t *value = json_object_get(e->summary, key);
  if (inner) value = json_object_get(value, inner);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

// ---- Verdicts ----

const char *app_exhibit_verdict(const AppExhibit *e, char text[64], const char **class_name) {
  *class_name = app_exhibit_is_met(e) ? "good" : e->state == APP_EXHIBIT_WAITING ? "" : "bad";
  if (e->state == APP_EXHIBIT_WAITING)
    snprintf(text, 64, "waiting");
  else if (e->state == APP_EXHIBIT_FAILED)
    snprintf(text, 64, "%s", json_is_true(json_object_get(e->summary, "diverged")) ? "diverged" : "failed");
  else if (e->n_expects == 0)
    snprintf(text, 64, "done");
  else if (e->n_met == e->n_expects)
    snprintf(text, 64, e->n_expects == 1 ? "met" : "all %zu met", e->n_expects);
  else
    snprintf(text, 64, "%zu of %zu missed", e->n_expects - e->n_met, e->n_expects);
  return text;
}

void app_page_badge(FloPage *page, const AppExhibit *e) {
  char text[64], name[32];
  const char *class_name;
  app_exhibit_verdict(e, text, &class_name);
  snprintf(name, sizeof name, "badge %s", class_name);
  flo_page_element(page, "span", name, text);
}

void app_page_machine(FloPage *page, const AppExhibit *items, size_t count) {
  const json_t *summary = NULL;
  for (size_t k = 0; k < count && !summary; k++) summary = items[k].summary;
  const char *processor =
      json_string_value(json_object_get(json_object_get(summary, "machine"), "processor"));
  const char *simd = json_string_value(json_object_get(summary, "simd"));
  const json_int_t threads = json_integer_value(json_object_get(summary, "threads"));
  char text[512];
  snprintf(text, sizeof text, "flotsam %s", flo_version());
  if (processor && simd)
    snprintf(text, sizeof text, "flotsam %s, on %.200s, %" JSON_INTEGER_FORMAT " thread%s, %.40s",
             flo_version(), processor, threads, threads == 1 ? "" : "s", simd);
  flo_page_element(page, "p", "soft", text);
}

void app_page_troubles(FloPage *page, const AppExhibit *e) {
  if (e->state == APP_EXHIBIT_FAILED) flo_page_element(page, "p", "error", e->message);
  for (size_t k = 0; k < e->notes.count; k++) flo_page_element(page, "p", "note", e->notes.items[k]);
}

// ---- Expectations ----

static double bound(const json_t *expect, const char *key, double none) {
  const json_t *value = json_object_get(expect, key);
  return json_is_number(value) ? json_number_value(value) : none;
}

// Large whole numbers, such as counts of particles, keep all digits.
static const char *show_value(double value, char text[48]) {
  bool is_count = fabs(value) >= 1e4 && value == floor(value);
  return is_count ? app_show_count(value, text) : app_show_number(value, text);
}

static const char *describe_range(const json_t *expect, char text[128]) {
  char ends[2][48];
  double low = bound(expect, "low", -INFINITY), high = bound(expect, "high", INFINITY);
  show_value(low, ends[0]), show_value(high, ends[1]);
  if (!flo_run_info_is_asked(expect))
    snprintf(text, 128, "–");
  else if (isinf(low))
    snprintf(text, 128, "≤ %s", ends[1]);
  else if (isinf(high))
    snprintf(text, 128, "≥ %s", ends[0]);
  else if (low == high)
    snprintf(text, 128, "%s", ends[0]);
  else
    snprintf(text, 128, "%s to %s", ends[0], ends[1]);
  return text;
}

static const char *class_of(const json_t *pass) {
  return json_is_true(pass) ? "good" : json_is_false(pass) ? "bad" : "soft";
}

// A tick or a cross is shown besides colour, because not everyone can tell the colours apart.
static void add_measured(FloPage *page, const json_t *expect, bool has_mark) {
  char text[48], value[64], name[16];
  const json_t *pass = json_object_get(expect, "pass");
  show_value(bound(expect, "value", NAN), text);
  snprintf(name, sizeof name, "n %s", class_of(pass));
  snprintf(value, sizeof value, "%s%s", text,
           !has_mark             ? ""
           : json_is_true(pass)  ? " ✓"
           : json_is_false(pass) ? " ✗"
                                 : "");
  flo_page_cell(page, name, value);
}

static void add_result(FloPage *page, const json_t *expect) {
  const json_t *pass = json_object_get(expect, "pass");
  flo_page_cell(page, class_of(pass),
                json_is_true(pass)              ? "✓ passed"
                : json_is_false(pass)           ? "✗ missed"
                : flo_run_info_is_asked(expect) ? "not judged"
                                                : "to compare");
}

static const json_t *expect_of(const AppExhibit *e, size_t k) {
  return json_array_get(json_object_get(e->summary, "expect"), k);
}

// Takes the first run that has the expectation.
static const json_t *first_expect(const AppExhibit *const *items, size_t count, size_t k) {
  const json_t *first = NULL;
  for (size_t n = 0; n < count && !first; n++) first = expect_of(items[n], k);
  return first;
}

static const char *paper_of(const json_t *expect) {
  return json_string_value(json_object_get(expect, "paper")); // NULL if the scene names none
}

static void add_expectation(FloPage *page, const AppExhibit *const *items, size_t count, size_t k,
                            bool has_paper) {
  char range[128];
  const json_t *first = first_expect(items, count, k);
  const char *name = json_string_value(json_object_get(first, "name")), *paper = paper_of(first);
  flo_page_markup(page, "<tr>");
  flo_page_cell(page, "name", name ? name : "");
  for (size_t n = 0; n < count; n++) add_measured(page, expect_of(items[n], k), count > 1);
  if (has_paper) flo_page_cell(page, "long", paper ? paper : "");
  flo_page_cell(page, "n", describe_range(first, range));
  if (count == 1) add_result(page, first);
  flo_page_markup(page, "</tr>\n");
}

size_t app_exhibit_count_measurements(const AppExhibit *const *items, size_t count) {
  size_t most = 0;
  for (size_t k = 0; k < count; k++)
    most = flo_max_size(most, json_array_size(json_object_get(items[k]->summary, "expect")));
  return most;
}

void app_page_expectations(FloPage *page, const AppExhibit *const *items, size_t count) {
  enum { MOST = 16 };
  const char *titles[MOST + 4] = {"Measurement"};
  char names[MOST][80];
  size_t n_rows = app_exhibit_count_measurements(items, count), n_titles = 1;
  bool has_paper = false;
  if (n_rows == 0 || count > MOST) return;
  for (size_t k = 0; k < n_rows; k++) has_paper |= paper_of(first_expect(items, count, k)) != NULL;
  for (size_t k = 0; k < count; k++) {
    snprintf(names[k], sizeof names[k], "#%s", count == 1 ? "Measured" : items[k]->name);
    titles[n_titles++] = names[k];
  }
  if (has_paper) titles[n_titles++] = "Paper";
  titles[n_titles++] = "#Wanted";
  if (count == 1) titles[n_titles++] = "Result";
  flo_page_element(page, count == 1 ? "h3" : "h2", NULL, "Expectations");
  flo_page_markup(page, "<div class=\"tight\">");
  flo_page_table_begin(page, titles, n_titles);
  for (size_t k = 0; k < n_rows; k++) add_expectation(page, items, count, k, has_paper);
  flo_page_table_end(page);
  flo_page_markup(page, "</div>\n");
}

// ---- Commands ----

void app_page_command(FloPage *page, const AppExhibit *e, const char *scene, const char *out) {
  AppLine line = {0};
  app_line_add(&line, "flotsam run");
  app_line_scene(&line, scene, &e->arguments);
  if (out) app_line_word(&line, "--out"), app_line_word(&line, out);
  flo_page_markup(page, "<pre><code>");
  flo_page_text(page, line.is_cut ? "no memory to show the command" : line.text);
  flo_page_markup(page, "</code></pre>\n");
  app_line_free(&line);
}

// ---- Plots ----

void app_page_plot(FloPage *page, const FloPlotInput *input) {
  enum { WIDTH = 360, HEIGHT = 200 };
  char *svg = NULL;
  FloPlotSheet sheet = {NULL, input, 1, false};
  FloError error;
  if (flo_plot_sheet_svg_text(&sheet, WIDTH, HEIGHT, &svg, &error) == FLO_OK)
    flo_page_plot(page, svg, input->title ? input->title : "");
  else
    flo_page_element(page, "p", "note", error.text);
  free(svg);
}
