#include "render/legend.h"

#include "base/core.h"
#include "render/font.h"
#include "render/ticks.h"

#include <stdlib.h>
#include <string.h>

static const FloRgb8 ink = {34, 48, 64}, faint_ink = {92, 106, 122}, veil = {244, 247, 250};

// Sizes at unit one [pixels].
enum {
  bar_length = 300,
  bar_height = 14,
  thin_bar_height = 11,
  bar_step = 16,
  patch_size = 14,
  patch_step = 22,
  longest_name = 110,
  padding = 16,
  label_room = 30, // above bars
  tick_room = 28,  // below bars
  side_gap = 20,
  foot_gap = 10,
  head_gap = 62, // the caption stands there
  scene_gap = 14 // from the scene to the legend below it
};

// In narrow pictures the width decides, but text never becomes too small to read.
float flo_overlay_unit(int width, int height) {
  return fmaxf(0.6f, fminf((float)height, 0.75f * (float)width) / 720);
}

// ---- Layout ----

static const char *name_of(const FloPictureInput *input, size_t material) {
  return input->material_names ? input->material_names[material] : NULL;
}

static void choose_rows(FloLegend *legend, const FloPictureInput *input, const FloCloud *cloud) {
  // Bodies have no values, and a slice has no cloud.
  legend->has_bars = input->values && (input->n_particles > 0 || cloud->count > 0);
  if (cloud->has_ramps)
    for (size_t k = 0; k < input->n_materials && legend->n_rows < FLO_LEGEND_ROWS; k++)
      if (name_of(input, k)) legend->materials[legend->n_rows++] = k;
  // A single bar needs no name. A single fluid without values needs no legend.
  if (legend->n_rows < 2) legend->n_rows = legend->has_bars ? 1 : 0;
}

static float name_size(const char *name, float unit) {
  const float size = 11 * unit, width = flo_text_width(name, size);
  return width > longest_name * unit ? size * longest_name * unit / width : size;
}

static float widest_name(const FloLegend *legend, const FloPictureInput *input, float unit) {
  float widest = 0;
  for (int k = 0; k < legend->n_rows && legend->n_rows > 1; k++) {
    const char *name = name_of(input, legend->materials[k]);
    widest = fmaxf(widest, flo_text_width(name, name_size(name, unit)));
  }
  return widest;
}

// Computes sizes as if the block's corner were at the origin. Bars have `share` of their usual length.
static FloLegend lay_out(const FloPictureInput *input, const FloCloud *cloud, int width, int height,
                         float share) {
  const float unit = flo_overlay_unit(width, height), pad = padding * unit;
  FloLegend legend = {0};
  choose_rows(&legend, input, cloud);
  if (legend.n_rows == 0) return legend;
  const float rows_apart = (float)(legend.n_rows - 1), names = widest_name(&legend, input, unit);
  if (legend.has_bars) {
    const float gap = names > 0 ? 10 * unit : 0, free = (float)width - 2 * (side_gap * unit + pad);
    legend.names = names + gap, legend.step = roundf(bar_step * unit);
    float bar = roundf((legend.n_rows > 1 ? thin_bar_height : bar_height) * unit);
    float length = roundf(fminf(share * bar_length * unit, free - legend.names));
    legend.row = (FloRect){roundf(pad + legend.names), roundf(label_room * unit), length, bar};
    legend.block.width = legend.row.x + length + pad;
    legend.block.height = (label_room + tick_room) * unit + bar + rows_apart * legend.step;
  } else {
    const float patch = roundf(patch_size * unit);
    legend.step = roundf(patch_step * unit);
    legend.row = (FloRect){roundf(pad), roundf(pad), patch, patch};
    legend.block.width = legend.row.x + patch + 8 * unit + names + pad;
    legend.block.height = 2 * pad + patch + rows_apart * legend.step;
  }
  return legend;
}

float flo_legend_height(const FloPictureInput *input, const FloCloud *cloud, int width, int height) {
  FloLegend legend = lay_out(input, cloud, width, height, 1);
  return legend.n_rows ? legend.block.height + (foot_gap + scene_gap) * flo_overlay_unit(width, height) : 0;
}

// ---- Place ----

typedef struct P2 {
  float x, y;
} P2;

static int compare_points(const void *a, const void *b) {
  const P2 *p = a, *q = b;
  return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->y > q->y) - (p->y < q->y);
}

static float turn(P2 a, P2 b, P2 c) { return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x); }

// Andrew's monotone chain: the lower side from left to right, then the upper one back. `hull` has room for n
// + 1.
static int find_hull(P2 *points, int n, P2 *hull) {
  int count = 0;
  qsort(points, (size_t)n, sizeof *points, compare_points);
  for (int pass = 0, base = 0; pass < 2; pass++, base = count) {
    for (int k = 0; k < n; k++) {
      P2 p = points[pass == 0 ? k : n - 1 - k];
      while (count > base + 1 && turn(hull[count - 2], hull[count - 1], p) <= 0) count--;
      hull[count++] = p;
    }
    count--; // the last point of a side is the first of the other
  }
  return count;
}

// Cuts a polygon at the line where coordinate `axis` (0 x, 1 y) is `limit`; keeps the side `side`.
static int cut_polygon(const P2 *in, int n, int axis, float limit, float side, P2 *out) {
  int count = 0;
  for (int k = 0; k < n; k++) {
    P2 a = in[k], b = in[(k + 1) % n];
    float ha = side * ((axis ? a.y : a.x) - limit), hb = side * ((axis ? b.y : b.x) - limit);
    if (ha >= 0) out[count++] = a;
    if ((ha >= 0) == (hb >= 0)) continue;
    float share = ha / (ha - hb);
    out[count++] = (P2){a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
  }
  return count;
}

static float polygon_area(const P2 *p, int n) {
  double sum = 0;
  for (int k = 0; k < n; k++) {
    P2 a = p[k], b = p[(k + 1) % n];
    sum += (double)a.x * (double)b.y - (double)b.x * (double)a.y;
  }
  return (float)(0.5 * fabs(sum));
}

float flo_box_overlap(const FloLens *lens, FloBounds box, FloRect r) {
  P2 corners[8], polygon[24], other[24];
  for (int k = 0; k < 8; k++) {
    V3 corner = {k & 1 ? box.high.x : box.low.x, k & 2 ? box.high.y : box.low.y,
                 k & 4 ? box.high.z : box.low.z};
    float depth;
    flo_lens_project(lens, corner, &corners[k].x, &corners[k].y, &depth);
    if (!lens->is_flat && !(depth > 0)) return r.width * r.height; // the eye is inside
  }
  int n = find_hull(corners, 8, polygon);
  n = cut_polygon(polygon, n, 0, r.x, 1, other);
  n = cut_polygon(other, n, 0, r.x + r.width, -1, polygon);
  n = cut_polygon(polygon, n, 1, r.y, 1, other);
  n = cut_polygon(other, n, 1, r.y + r.height, -1, polygon);
  return polygon_area(polygon, n);
}

static void move_block(FloLegend *legend, float x, float y) {
  legend->row.x += x - legend->block.x, legend->row.y += y - legend->block.y;
  legend->block.x = x, legend->block.y = y;
}

// Moves the legend to the corner where it hides the least, and returns how much it hides.
static float find_corner(FloLegend *legend, const FloLens *lens, FloBounds bounds) {
  const float unit = flo_overlay_unit(lens->width, lens->height);
  const float left = roundf(side_gap * unit), top = roundf(head_gap * unit);
  const float right = roundf((float)lens->width - side_gap * unit - legend->block.width);
  const float foot = roundf((float)lens->height - foot_gap * unit - legend->block.height);
  const float corners[4][2] = {{right, foot}, {left, foot}, {right, top}, {left, top}};
  float least = INFINITY;
  FloLegend best = *legend;
  for (int k = 0; k < 4; k++) {
    if (lens->is_flat && k == 1) continue; // the scale bar stands there
    move_block(legend, corners[k][0], corners[k][1]);
    float hidden = flo_box_overlap(lens, bounds, legend->block);
    if (hidden < least) least = hidden, best = *legend;
  }
  *legend = best;
  return least;
}

// In small pictures with a given camera there may be no room beside the scene; then shorter bars are tried.
FloLegend flo_legend_place(const FloPictureInput *input, const FloCloud *cloud, const FloLens *lens,
                           FloBounds bounds) {
  static const float shares[] = {1, 0.75f, 0.5f};
  FloLegend best = {0};
  float least = INFINITY;
  for (size_t k = 0; k < FLO_COUNT_OF(shares) && least > 0; k++) {
    FloLegend legend = lay_out(input, cloud, lens->width, lens->height, shares[k]);
    if (legend.n_rows == 0) return legend;
    float hidden = find_corner(&legend, lens, bounds);
    if (hidden < least) least = hidden, best = legend;
  }
  return best;
}

// ---- Drawing ----

static void write_text(FloCanvas *c, float x, float y, float size, FloAnchor anchor, const char *text) {
  flo_canvas_add_text(c, x, y, (FloTextStyle){.size = size, .anchor = anchor}, text);
  flo_canvas_paint(c, ink, 1);
}

static void draw_border(FloCanvas *c, FloRect r, float unit) {
  const float border = fmaxf(1, roundf(unit));
  flo_canvas_add_rect(c, (FloRect){r.x - border, r.y - border, r.width + 2 * border, r.height + 2 * border});
  flo_canvas_paint(c, faint_ink, 1);
}

static void draw_ticks(FloCanvas *c, const FloCloud *cloud, FloRect r, float unit) {
  const int n_ticks = (int)fminf(5, fmaxf(2, r.width / (60 * unit)));
  FloTicks ticks = flo_ticks(cloud->low, cloud->high, n_ticks);
  for (int k = 0; k < ticks.count; k++) {
    double share = (ticks.values[k] - (double)cloud->low) / ((double)cloud->high - (double)cloud->low);
    float x = r.x + (float)share * r.width, foot = r.y + r.height;
    flo_canvas_add_rect(c, (FloRect){roundf(x - 0.5f), foot, fmaxf(1, roundf(unit)), 5 * unit});
    flo_canvas_paint(c, faint_ink, 1);
    write_text(c, x, foot + 20 * unit, 11 * unit, FLO_ANCHOR_MIDDLE, ticks.labels[k]);
  }
}

static void draw_bar(FloCanvas *c, const FloCloud *cloud, size_t material, FloRect r) {
  for (int k = 0; k < (int)r.width; k++) {
    float share = ((float)k + 0.5f) / r.width;
    V3 colour = cloud->has_ramps ? flo_cloud_ramp(cloud, material, share) : flo_colour_map(cloud->map, share);
    flo_canvas_add_rect(c, (FloRect){r.x + (float)k, r.y, 1, r.height});
    flo_canvas_paint(c, flo_rgb8_from_linear(colour), 1);
  }
}

static void draw_row(FloCanvas *c, const FloLegend *legend, const FloPictureInput *input,
                     const FloCloud *cloud, int k) {
  const float unit = flo_overlay_unit(c->width, c->height);
  const char *name = legend->n_rows > 1 ? name_of(input, legend->materials[k]) : NULL;
  FloRect r = legend->row;
  r.y += (float)k * legend->step;
  const float size = name ? name_size(name, unit) : 0, foot = r.y + 0.5f * (r.height + size);
  draw_border(c, r, unit);
  if (legend->has_bars) {
    draw_bar(c, cloud, legend->materials[k], r);
    if (name) write_text(c, r.x - 10 * unit, foot, size, FLO_ANCHOR_RIGHT, name);
  } else {
    flo_canvas_add_rect(c, r);
    flo_canvas_paint(c, flo_rgb8_from_linear(flo_cloud_ramp(cloud, legend->materials[k], FLO_PLAIN_SHARE)),
                     1);
    write_text(c, r.x + r.width + 8 * unit, foot, size, FLO_ANCHOR_LEFT, name);
  }
}

void flo_legend_draw(const FloLegend *legend, const FloPictureInput *input, const FloCloud *cloud,
                     FloCanvas *c) {
  if (legend->n_rows == 0) return;
  const float unit = flo_overlay_unit(c->width, c->height);
  // With a given camera, particles may be behind the legend; a veil keeps the numbers readable.
  if (input->camera.is_set) {
    flo_canvas_add_rect(c, legend->block);
    flo_canvas_paint(c, veil, 0.6f);
  }
  for (int k = 0; k < legend->n_rows; k++) draw_row(c, legend, input, cloud, k);
  if (!legend->has_bars) return;
  FloRect last = legend->row;
  last.y += (float)(legend->n_rows - 1) * legend->step;
  draw_ticks(c, cloud, last, unit);
  if (input->value_label)
    write_text(c, legend->row.x, legend->row.y - 9 * unit, 12 * unit, FLO_ANCHOR_LEFT, input->value_label);
}
