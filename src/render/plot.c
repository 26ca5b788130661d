#include "render/plot.h"

#include "base/core.h"
#include "io/files.h"
#include "render/pen.h"
#include "render/render.h"
#include "render/ticks.h"

#include <stdlib.h>

static const FloRgb8 paper = {255, 255, 255}, ink = {34, 48, 64}, faint_ink = {92, 106, 122},
                     grid = {229, 233, 238}, axis_ink = {140, 152, 166};
static const FloRgb8 palette[] = {{31, 111, 180}, {232, 121, 43}, {38, 154, 104}, {138, 95, 181},
                                  {204, 72, 74},  {23, 162, 176}, {150, 104, 74}, {107, 119, 133}};

// ---- Layout ----

typedef struct Range {
  double low, high;
} Range;

typedef struct Layout {
  float unit;    // pixels per pixel of a chart of 900 x 500
  FloRect frame; // of the data
  Range x, y;
  FloTicks x_ticks, y_ticks;
  float legend_y; // baseline of the legend's first row
} Layout;

// Near the end of what doubles can hold, the width of a range would overflow.
static bool is_plottable(double value) { return fabs(value) < 1e300; }

static void extend(Range *range, const double *values, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (!is_plottable(values[i])) continue;
    if (values[i] < range->low) range->low = values[i];
    if (values[i] > range->high) range->high = values[i];
  }
}

// Gives an empty range some width: nothing to show becomes 0..1, a constant stands in the middle.
static Range usable(Range r) {
  if (!(r.low <= r.high)) return (Range){0, 1};
  double size = fmax(fabs(r.low), fabs(r.high));
  if (r.high - r.low > 1e-9 * size) return r;
  double half = size > 0 ? 0.1 * size : 1;
  return (Range){r.low - half, r.high + half};
}

// Rounds the range out to the next ticks, so that the data never touch the frame.
static FloTicks round_out(Range *r, int wanted) {
  double step = flo_ticks(r->low, r->high, wanted).step;
  if (step <= 0) return (FloTicks){0};
  *r = (Range){step * floor(r->low / step + 1e-9), step * ceil(r->high / step - 1e-9)};
  return flo_ticks_with_step(r->low, r->high, step);
}

static float widest_label(const FloTicks *ticks, float size) {
  float widest = 0;
  for (int k = 0; k < ticks->count; k++) widest = fmaxf(widest, flo_text_width(ticks->labels[k], size));
  return widest;
}

static FloTextStyle style_of(float size, FloAnchor anchor) {
  return (FloTextStyle){.size = size, .anchor = anchor};
}

static const float legend_size = 10.5f, legend_dash = 22, legend_gap = 20; // at unit 1
static float entry_width(const FloPlotInput *input, size_t k, float unit) {
  return (legend_dash + legend_gap) * unit + flo_text_width(input->series[k].name, legend_size * unit);
}

// Walks the legend's entries in rows; draws them where there is a pen, and returns how many rows they fill.
static int walk_legend(const FloPlotInput *input, const Layout *l, float left, float right,
                       const FloPen *pen) {
  int rows = 0;
  float x = right;
  for (size_t k = 0; k < input->n_series; k++) {
    if (!input->series[k].name) continue;
    float width = entry_width(input, k, l->unit);
    if (x > left && x + width > right) x = left, rows++;
    if (rows == 0) x = left, rows = 1;
    float y = l->legend_y + (float)(rows - 1) * 20 * l->unit, middle = y - 0.4f * legend_size * l->unit;
    if (pen) {
      const FloPoint dash[2] = {{x, middle}, {x + (legend_dash - 7) * l->unit, middle}};
      pen->line(pen->context, dash, 2, 2.5f * l->unit, palette[k % FLO_COUNT_OF(palette)]);
      pen->text(pen->context, x + legend_dash * l->unit, y, style_of(legend_size * l->unit, FLO_ANCHOR_LEFT),
                ink, input->series[k].name);
    }
    x += width;
  }
  return rows;
}

static Layout lay_out(const FloPlotInput *input, int width, int height) {
  Layout l = {.x = {INFINITY, -INFINITY}, .y = {INFINITY, -INFINITY}};
  const float u = l.unit = fmaxf(0.7f, fminf((float)width / 900, (float)height / 500));
  extend(&l.x, input->x, input->n_points);
  for (size_t k = 0; k < input->n_series; k++) extend(&l.y, input->series[k].y, input->n_points);
  const int wanted_x = (int)fmaxf(2, (float)width / (110 * u)),
            wanted_y = (int)fmaxf(2, (float)height / (70 * u));
  l.x = usable(l.x), l.y = usable(l.y);
  l.x_ticks = flo_ticks(l.x.low, l.x.high, wanted_x);
  l.y_ticks = round_out(&l.y, wanted_y);
  float left = (input->y_label ? 48 : 24) * u + widest_label(&l.y_ticks, 10.5f * u),
        right = (float)width - 28 * u;
  float top = (input->title ? 44 : 20) * u;
  l.legend_y = top + 12 * u;
  int rows = walk_legend(input, &l, left, right, NULL);
  top += (rows > 0 ? 20 * (float)rows + 10 : 4) * u;
  float bottom = (float)height - (input->x_label ? 58 : 36) * u;
  l.frame = (FloRect){roundf(left), roundf(top), roundf(right - left), roundf(fmaxf(10, bottom - top))};
  return l;
}

static float place_x(const Layout *l, double x) {
  return l->frame.x + (float)((x - l->x.low) / (l->x.high - l->x.low)) * l->frame.width;
}
static float place_y(const Layout *l, double y) {
  return l->frame.y + (float)((l->y.high - y) / (l->y.high - l->y.low)) * l->frame.height;
}

// ---- Axes ----

static void draw_axes(const Layout *l, const FloPen *pen) {
  const float u = l->unit, hair = fmaxf(1, roundf(u)), size = 10.5f * u;
  const FloRect f = l->frame;
  for (int k = 0; k < l->y_ticks.count; k++) {
    float y = roundf(place_y(l, l->y_ticks.values[k]));
    pen->rect(pen->context, (FloRect){f.x, y - 0.5f * hair, f.width, hair}, grid);
    pen->text(pen->context, f.x - 9 * u, y + 0.5f * size, style_of(size, FLO_ANCHOR_RIGHT), faint_ink,
              l->y_ticks.labels[k]);
  }
  for (int k = 0; k < l->x_ticks.count; k++) {
    float x = roundf(place_x(l, l->x_ticks.values[k]));
    pen->rect(pen->context, (FloRect){x - 0.5f * hair, f.y, hair, f.height}, grid);
    pen->rect(pen->context, (FloRect){x - 0.5f * hair, f.y + f.height, hair, 5 * u}, axis_ink);
    pen->text(pen->context, x, f.y + f.height + 21 * u, style_of(size, FLO_ANCHOR_MIDDLE), faint_ink,
              l->x_ticks.labels[k]);
  }
  pen->rect(pen->context, (FloRect){f.x, f.y + f.height - 0.5f * hair, f.width, hair}, axis_ink);
}

static void draw_labels(const FloPlotInput *input, const Layout *l, int height, const FloPen *pen) {
  const float u = l->unit;
  const FloRect f = l->frame;
  if (input->title)
    pen->text(pen->context, f.x, 34 * u, style_of(14 * u, FLO_ANCHOR_LEFT), ink, input->title);
  if (input->x_label)
    pen->text(pen->context, f.x + 0.5f * f.width, (float)height - 14 * u, style_of(11 * u, FLO_ANCHOR_MIDDLE),
              ink, input->x_label);
  FloTextStyle upright = {.size = 11 * u, .anchor = FLO_ANCHOR_MIDDLE, .is_upright = true};
  if (input->y_label) pen->text(pen->context, 26 * u, f.y + 0.5f * f.height, upright, ink, input->y_label);
}

// ---- Series ----

// Points of a line on their way to the pen. Of those that fall into one column of pixels only the first,
// lowest, highest and last matter; a million points cost no more than a few thousand, and look the same.
typedef struct Line {
  FloPoint *points;
  size_t count;
  size_t column_start; // first point of the column at work
} Line;

static void sort_by_time(size_t *a, size_t *b) {
  if (*a > *b) {
    size_t swap = *a;
    *a = *b, *b = swap;
  }
}

static void thin_column(Line *line) {
  size_t first = line->column_start, last = line->count - 1;
  if (line->count - first <= 4) return;
  size_t low = first, high = first;
  for (size_t i = first; i <= last; i++) {
    if (line->points[i].y < line->points[low].y) low = i;
    if (line->points[i].y > line->points[high].y) high = i;
  }
  sort_by_time(&low, &high);
  const size_t kept[4] = {first, low, high, last};
  for (size_t k = 1; k < 4; k++) line->points[first + k] = line->points[kept[k]];
  line->count = first + 4;
}

static void add_point(Line *line, float x, float y) {
  bool is_same_column = line->count > 0 && floorf(line->points[line->count - 1].x) == floorf(x);
  if (!is_same_column && line->count > 0) {
    thin_column(line);
    line->column_start = line->count;
  }
  line->points[line->count++] = (FloPoint){x, y};
}

static void finish_line(Line *line, const FloPen *pen, float width, FloRgb8 colour) {
  if (line->count == 0) return;
  thin_column(line);
  pen->line(pen->context, line->points, line->count, width, colour);
  line->count = line->column_start = 0;
}

static void draw_series(const FloPlotInput *input, size_t k, const Layout *l, const FloPen *pen,
                        FloPoint *points) {
  const double *y = input->series[k].y;
  const FloRgb8 colour = palette[k % FLO_COUNT_OF(palette)];
  Line line = {.points = points};
  for (size_t i = 0; i < input->n_points; i++) {
    if (is_plottable(input->x[i]) && is_plottable(y[i]))
      add_point(&line, place_x(l, input->x[i]), place_y(l, y[i]));
    else
      finish_line(&line, pen, 2 * l->unit, colour);
  }
  finish_line(&line, pen, 2 * l->unit, colour);
}

// ---- Charts ----

static FloStatus check(const char *path, int width, int height, FloError *error) {
  if (width >= FLO_MIN_PLOT_WIDTH && height >= FLO_MIN_PLOT_HEIGHT && width <= FLO_MAX_PICTURE_SIDE &&
      height <= FLO_MAX_PICTURE_SIDE)
    return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "%s: a plot must have %d x %d to %d x %d pixels, got %d x %d", path,
                  FLO_MIN_PLOT_WIDTH, FLO_MIN_PLOT_HEIGHT, FLO_MAX_PICTURE_SIDE, FLO_MAX_PICTURE_SIDE, width,
                  height);
}

static FloStatus draw(const FloPlotInput *input, int width, int height, const FloPen *pen, FloError *error) {
  FloPoint *points = malloc((input->n_points + 1) * sizeof *points);
  if (!points) return flo_fail(error, FLO_NO_MEMORY, "no memory to plot %zu points", input->n_points);
  Layout l = lay_out(input, width, height);
  pen->rect(pen->context, (FloRect){0, 0, (float)width, (float)height}, paper);
  draw_axes(&l, pen);
  draw_labels(input, &l, height, pen);
  walk_legend(input, &l, l.frame.x, l.frame.x + l.frame.width, pen);
  for (size_t k = 0; k < input->n_series; k++) draw_series(input, k, &l, pen, points);
  free(points);
  return FLO_OK;
}

FloStatus flo_plot_png(const char *path, const FloPlotInput *input, int width, int height, FloError *error) {
  FLO_TRY(check(path, width, height, error));
  uint8_t *rgb = calloc((size_t)width * (size_t)height, 3);
  if (!rgb) return flo_fail(error, FLO_NO_MEMORY, "%s: no memory for a plot of %d x %d", path, width, height);
  FloCanvas canvas;
  FloStatus status = flo_canvas_create(&canvas, rgb, width, height, error);
  if (status == FLO_OK) {
    FloPen pen = flo_canvas_pen(&canvas);
    status = draw(input, width, height, &pen, error);
    flo_canvas_destroy(&canvas);
  }
  if (status == FLO_OK) status = flo_write_png(path, rgb, width, height, error);
  free(rgb);
  return status;
}

FloStatus flo_plot_svg(const char *path, const FloPlotInput *input, int width, int height, FloError *error) {
  FLO_TRY(check(path, width, height, error));
  FloSvg svg = {0};
  FloPen pen = flo_svg_pen(&svg);
  flo_svg_begin(&svg, width, height, input->title);
  FloStatus status = draw(input, width, height, &pen, error);
  flo_svg_end(&svg);
  if (status == FLO_OK && svg.has_failed)
    status = flo_fail(error, FLO_NO_MEMORY, "%s: no memory for the plot", path);
  if (status == FLO_OK) status = flo_file_write(path, svg.text, svg.size, error);
  flo_svg_destroy(&svg);
  return status;
}
