#include "render/plot.h"

#include "base/core.h"
#include "io/files.h"
#include "render/pen.h"
#include "render/render.h"
#include "render/ticks.h"

#include <stdlib.h>

static const FloRgb8 paper = {255, 255, 255}, ink = {34, 48, 64}, faint_ink = {92, 106, 122},
                     grid = {229, 233, 238}, faint_grid = {244, 246, 248}, axis_ink = {140, 152, 166};
static const FloRgb8 palette[] = {{31, 111, 180}, {232, 121, 43}, {38, 154, 104}, {138, 95, 181},
                                  {204, 72, 74},  {23, 162, 176}, {150, 104, 74}, {107, 119, 133}};

// ---- Layout ----

typedef struct Range {
  double low, high;
} Range;

typedef struct Layout {
  float unit;    // pixels per pixel of a plot of 900 x 500
  FloRect frame; // of the data
  Range x, y;    // y: exponents of ten if is_log
  FloTicks x_ticks, y_ticks;
  float legend_x, legend_y; // where the legend's first row starts, on its baseline
  bool is_log;
  bool has_x_labels; // numbers below the frame
} Layout;

// Near the end of what doubles can hold, the width of a range would overflow.
static bool is_plottable(double value) { return fabs(value) < 1e300; }

// The value along y or its logarithm, which is NaN if there is none.
static double scaled(double y, bool is_log) { return !is_log ? y : y > 0 ? log10(y) : NAN; }

static void extend(Range *range, const double *values, size_t n, bool is_log) {
  for (size_t i = 0; i < n; i++) {
    double value = scaled(values[i], is_log);
    if (!is_plottable(value)) continue;
    if (value < range->low) range->low = value;
    if (value > range->high) range->high = value;
  }
}

static Range range_of(const FloPlotInput *input, bool is_log) {
  Range range = {INFINITY, -INFINITY};
  for (size_t k = 0; k < input->n_series; k++) extend(&range, input->series[k].y, input->n_points, is_log);
  return range;
}

// Gives an empty range some width: without data it becomes 0..1, and a constant lies in the middle.
static Range usable(Range r) {
  if (!(r.low <= r.high)) return (Range){0, 1};
  double size = fmax(fabs(r.low), fabs(r.high));
  if (r.high - r.low > 1e-9 * size) return r;
  double half = size > 0 ? 0.1 * size : 1;
  return (Range){r.low - half, r.high + half};
}

// Extends the range to the next ticks, so that data never touch the frame.
static FloTicks round_out(Range *r, int wanted) {
  double step = flo_ticks(r->low, r->high, wanted).step;
  if (step <= 0) return (FloTicks){0};
  *r = (Range){step * floor(r->low / step + 1e-9), step * ceil(r->high / step - 1e-9)};
  return flo_ticks_with_step(r->low, r->high, step);
}

// The same for exponents: whole powers of ten, at least one.
static FloTicks round_out_powers(Range *r, int wanted) {
  if (!(r->low <= r->high)) *r = (Range){0, 0}; // nothing to show
  *r = (Range){floor(r->low + 1e-9), ceil(r->high - 1e-9)};
  if (r->low >= r->high) *r = (Range){r->low - 0.5, r->low + 0.5};
  return flo_ticks_of_ten((int)ceil(r->low), (int)floor(r->high), wanted);
}

static void choose_y(Layout *l, const FloPlotInput *input, int wanted) {
  Range range = range_of(input, l->is_log);
  l->y = l->is_log ? range : usable(range);
  l->y_ticks = l->is_log ? round_out_powers(&l->y, wanted) : round_out(&l->y, wanted);
}

// The width to reserve for a text. An SVG is shown in the viewer's own font, which may be wider than ours.
static float room_for(const char *text, float size) { return 1.13f * flo_text_width(text, size); }

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
  return (legend_dash + legend_gap) * unit + room_for(input->series[k].name, legend_size * unit);
}

// Places the legend's entries in rows, the first of which begins at legend_x. Draws them if there is a pen,
// and returns the number of rows.
static int walk_legend(const FloPlotInput *input, const Layout *l, float left, float right,
                       const FloPen *pen) {
  int rows = 0;
  float x = l->legend_x;
  for (size_t k = 0; k < input->n_series; k++) {
    if (!input->series[k].name) continue;
    float width = entry_width(input, k, l->unit);
    if (x > left && x + width > right + legend_gap * l->unit) x = left, rows++;
    if (rows == 0) rows = 1;
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

static void choose_x(Layout *l, const FloPlotInput *input, float width) {
  Range range = {INFINITY, -INFINITY};
  extend(&range, input->x, input->n_points, false);
  l->x = usable(range);
  l->x_ticks = flo_ticks(l->x.low, l->x.high, (int)fmaxf(2, width / (110 * l->unit)));
}

static FloRect whole_pixels(float left, float top, float right, float bottom) {
  return (FloRect){roundf(left), roundf(top), roundf(fmaxf(10, right - left)),
                   roundf(fmaxf(10, bottom - top))};
}

static Layout lay_out(const FloPlotInput *input, int width, int height) {
  Layout l = {.has_x_labels = true};
  const float u = l.unit = fmaxf(0.7f, fminf((float)width / 900, (float)height / 500));
  choose_x(&l, input, (float)width);
  choose_y(&l, input, (int)fmaxf(2, (float)height / (70 * u)));
  float left = (input->y_label ? 48 : 24) * u + widest_label(&l.y_ticks, 10.5f * u),
        right = (float)width - 28 * u;
  float top = (input->title ? 44 : 20) * u;
  l.legend_x = left;
  l.legend_y = top + 12 * u;
  int rows = walk_legend(input, &l, left, right, NULL);
  top += (rows > 0 ? 20 * (float)rows + 10 : 4) * u;
  l.frame = whole_pixels(left, top, right, (float)height - (input->x_label ? 58 : 36) * u);
  return l;
}

static float place_x(const Layout *l, double x) {
  return l->frame.x + (float)((x - l->x.low) / (l->x.high - l->x.low)) * l->frame.width;
}
static float place_y(const Layout *l, double y) {
  return l->frame.y + (float)((l->y.high - y) / (l->y.high - l->y.low)) * l->frame.height;
}

// ---- Axes ----

// Lines at 2, 3, ... 9 times the powers of ten show that the scale is logarithmic.
static void draw_minor_lines(const Layout *l, float hair, const FloPen *pen) {
  const FloRect f = l->frame;
  if (l->y.high - l->y.low > 6) return; // they would be too dense
  for (int power = (int)floor(l->y.low); power < l->y.high; power++)
    for (int k = 2; k <= 9; k++) {
      double exponent = power + log10(k);
      if (exponent <= l->y.low || exponent >= l->y.high) continue;
      pen->rect(pen->context, (FloRect){f.x, roundf(place_y(l, exponent)) - 0.5f * hair, f.width, hair},
                faint_grid);
    }
}

static void draw_axes(const Layout *l, const FloPen *pen) {
  const float u = l->unit, hair = fmaxf(1, roundf(u)), size = 10.5f * u;
  const FloRect f = l->frame;
  if (l->is_log) draw_minor_lines(l, hair, pen);
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
    if (!l->has_x_labels) continue;
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

// Points of a line on their way to the pen. Of the points in one column of pixels only the first, lowest,
// highest and last matter. A million points then cost no more than a few thousand, and look the same.
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
    double height = scaled(y[i], l->is_log);
    if (is_plottable(input->x[i]) && is_plottable(height))
      add_point(&line, place_x(l, input->x[i]), place_y(l, height));
    else
      finish_line(&line, pen, 2 * l->unit, colour);
  }
  finish_line(&line, pen, 2 * l->unit, colour);
}

// ---- Sheets ----

// Where the plots of a sheet stand; all frames have the same sides.
typedef struct SheetLayout {
  float unit; // pixels per pixel of a sheet of 900 with plots of 150
  float left, right, top, slot;
} SheetLayout;

static SheetLayout lay_out_sheet(const FloPlotSheet *sheet, int width, int height) {
  const float n = (float)sheet->n_plots;
  SheetLayout s = {.unit = fmaxf(0.7f, fminf((float)width / 900, (float)height / (100 + 110 * n)))};
  const FloPlotInput *last = &sheet->plots[sheet->n_plots - 1];
  s.top = (sheet->title ? 50 : 14) * s.unit;
  s.slot = ((float)height - s.top - (last->x_label ? 50 : 30) * s.unit) / n;
  s.right = (float)width - 28 * s.unit;
  return s;
}

static Layout lay_out_plot(const FloPlotSheet *sheet, const SheetLayout *s, size_t k) {
  const FloPlotInput *input = &sheet->plots[k];
  const float u = s->unit, top = s->top + (float)k * s->slot, title_size = 11 * u;
  Layout l = {.unit = u, .is_log = sheet->is_log, .has_x_labels = k + 1 == sheet->n_plots};
  choose_x(&l, &sheet->plots[0], s->right);
  l.legend_x = s->left + (input->title ? room_for(input->title, title_size) + 24 * u : 0);
  l.legend_y = top + 14 * u;
  int rows = walk_legend(input, &l, s->left, s->right, NULL);
  float head = (14 + 20 * (float)(rows > 1 ? rows - 1 : 0) + 9) * u;
  l.frame = whole_pixels(s->left, top + head, s->right, top + s->slot - 12 * u);
  choose_y(&l, input, (int)fmaxf(2, l.frame.height / (34 * u)));
  return l;
}

// The labels of all plots decide how much room there is to the left of each.
static void choose_left(const FloPlotSheet *sheet, SheetLayout *s) {
  float widest = 0;
  for (size_t k = 0; k < sheet->n_plots; k++) {
    Layout l = lay_out_plot(sheet, s, k);
    widest = fmaxf(widest, widest_label(&l.y_ticks, 10.5f * s->unit));
  }
  s->left = 24 * s->unit + widest;
}

// A title that is too long is written smaller.
static void draw_sheet_title(const FloPlotSheet *sheet, const SheetLayout *s, const FloPen *pen) {
  if (!sheet->title) return;
  float size = 14 * s->unit, room = s->right - s->left, width = room_for(sheet->title, size);
  if (width > room) size = fmaxf(0.5f * size, size * room / width);
  pen->text(pen->context, s->left, 32 * s->unit, style_of(size, FLO_ANCHOR_LEFT), ink, sheet->title);
}

static void draw_plot(const FloPlotSheet *sheet, const SheetLayout *s, size_t k, int height,
                      const FloPen *pen, FloPoint *points) {
  const FloPlotInput *input = &sheet->plots[k];
  const float u = s->unit;
  const Layout l = lay_out_plot(sheet, s, k);
  draw_axes(&l, pen);
  if (input->title)
    pen->text(pen->context, s->left, l.legend_y, style_of(11 * u, FLO_ANCHOR_LEFT), ink, input->title);
  walk_legend(input, &l, s->left, s->right, pen);
  for (size_t n = 0; n < input->n_series; n++) draw_series(input, n, &l, pen, points);
  Range range = range_of(input, l.is_log);
  if (!(range.low <= range.high))
    pen->text(pen->context, 0.5f * (s->left + s->right), l.frame.y + 0.5f * l.frame.height + 5 * u,
              style_of(10.5f * u, FLO_ANCHOR_MIDDLE), faint_ink,
              l.is_log ? "no positive values" : "no values");
  if (l.has_x_labels && input->x_label)
    pen->text(pen->context, 0.5f * (s->left + s->right), (float)height - 14 * u,
              style_of(11 * u, FLO_ANCHOR_MIDDLE), ink, input->x_label);
}

// ---- Pages: a plot or a sheet ----

typedef struct Page {
  const FloPlotInput *plot; // NULL: a sheet
  const FloPlotSheet *sheet;
  int width, height;
} Page;

static FloStatus check(const char *path, const Page *page, FloError *error) {
  int least = FLO_MIN_PLOT_HEIGHT, width = page->width, height = page->height;
  if (page->sheet && page->sheet->n_plots > FLO_MAX_PICTURE_SIDE / FLO_MIN_ROW_HEIGHT)
    return flo_fail(error, FLO_BAD_INPUT, "%s: %zu plots are too many for one sheet; choose some of them",
                    path, page->sheet->n_plots);
  if (page->sheet && (int)page->sheet->n_plots * FLO_MIN_ROW_HEIGHT > least)
    least = (int)page->sheet->n_plots * FLO_MIN_ROW_HEIGHT;
  if (width >= FLO_MIN_PLOT_WIDTH && height >= least && width <= FLO_MAX_PICTURE_SIDE &&
      height <= FLO_MAX_PICTURE_SIDE)
    return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "%s: a plot must have %d x %d to %d x %d pixels, got %d x %d", path,
                  FLO_MIN_PLOT_WIDTH, least, FLO_MAX_PICTURE_SIDE, FLO_MAX_PICTURE_SIDE, width, height);
}

static void draw_single(const FloPlotInput *input, const Page *page, const FloPen *pen, FloPoint *points) {
  Layout l = lay_out(input, page->width, page->height);
  draw_axes(&l, pen);
  draw_labels(input, &l, page->height, pen);
  walk_legend(input, &l, l.frame.x, l.frame.x + l.frame.width, pen);
  for (size_t k = 0; k < input->n_series; k++) draw_series(input, k, &l, pen, points);
}

static void draw_sheet(const FloPlotSheet *sheet, const Page *page, const FloPen *pen, FloPoint *points) {
  if (sheet->n_plots == 0) return;
  SheetLayout s = lay_out_sheet(sheet, page->width, page->height);
  choose_left(sheet, &s);
  draw_sheet_title(sheet, &s, pen);
  for (size_t k = 0; k < sheet->n_plots; k++) draw_plot(sheet, &s, k, page->height, pen, points);
}

static size_t most_points(const Page *page) {
  size_t most = page->plot ? page->plot->n_points : 0;
  for (size_t k = 0; page->sheet && k < page->sheet->n_plots; k++)
    most = flo_max_size(most, page->sheet->plots[k].n_points);
  return most;
}

static FloStatus draw(const Page *page, const FloPen *pen, FloError *error) {
  size_t n = most_points(page);
  FloPoint *points = malloc((n + 1) * sizeof *points);
  if (!points) return flo_fail(error, FLO_NO_MEMORY, "no memory to plot %zu points", n);
  pen->rect(pen->context, (FloRect){0, 0, (float)page->width, (float)page->height}, paper);
  if (page->plot)
    draw_single(page->plot, page, pen, points);
  else
    draw_sheet(page->sheet, page, pen, points);
  free(points);
  return FLO_OK;
}

static FloStatus write_png(const char *path, const Page *page, FloError *error) {
  FLO_TRY(check(path, page, error));
  int width = page->width, height = page->height;
  uint8_t *rgb = calloc((size_t)width * (size_t)height, 3);
  if (!rgb) return flo_fail(error, FLO_NO_MEMORY, "%s: no memory for a plot of %d x %d", path, width, height);
  FloCanvas canvas;
  FloStatus status = flo_canvas_create(&canvas, rgb, width, height, error);
  if (status == FLO_OK) {
    FloPen pen = flo_canvas_pen(&canvas);
    status = draw(page, &pen, error);
    flo_canvas_destroy(&canvas);
  }
  if (status == FLO_OK) status = flo_write_png(path, rgb, width, height, error);
  free(rgb);
  return status;
}

// Messages call the plot `name`.
static FloStatus draw_svg(const char *name, const Page *page, FloSvg *svg, FloError *error) {
  FLO_TRY(check(name, page, error));
  FloPen pen = flo_svg_pen(svg);
  flo_svg_begin(svg, page->width, page->height, page->plot ? page->plot->title : page->sheet->title);
  FLO_TRY(draw(page, &pen, error));
  flo_svg_end(svg);
  return svg->has_failed ? flo_fail(error, FLO_NO_MEMORY, "%s: no memory for the plot", name) : FLO_OK;
}

static FloStatus write_svg(const char *path, const Page *page, FloError *error) {
  FloSvg svg = {0};
  FloStatus status = draw_svg(path, page, &svg, error);
  if (status == FLO_OK) status = flo_file_write(path, svg.text, svg.size, error);
  flo_svg_destroy(&svg);
  return status;
}

FloStatus flo_plot_png(const char *path, const FloPlotInput *input, int width, int height, FloError *error) {
  return write_png(path, &(Page){input, NULL, width, height}, error);
}

FloStatus flo_plot_svg(const char *path, const FloPlotInput *input, int width, int height, FloError *error) {
  return write_svg(path, &(Page){input, NULL, width, height}, error);
}

FloStatus flo_plot_sheet_png(const char *path, const FloPlotSheet *sheet, int width, int height,
                             FloError *error) {
  return write_png(path, &(Page){NULL, sheet, width, height}, error);
}

FloStatus flo_plot_sheet_svg(const char *path, const FloPlotSheet *sheet, int width, int height,
                             FloError *error) {
  return write_svg(path, &(Page){NULL, sheet, width, height}, error);
}

FloStatus flo_plot_sheet_svg_text(const FloPlotSheet *sheet, int width, int height, char **text,
                                  FloError *error) {
  FloSvg svg = {0};
  FloStatus status = draw_svg("plot", &(Page){NULL, sheet, width, height}, &svg, error);
  if (status != FLO_OK) return flo_svg_destroy(&svg), status;
  *text = svg.text;
  return FLO_OK;
}
