#include "render/canvas.h"

#include "base/core.h"

#include <stdlib.h>

static void clear_range(FloCanvas *c) {
  c->low[0] = c->width, c->low[1] = c->height;
  c->high[0] = c->high[1] = 0;
}

FloStatus flo_canvas_create(FloCanvas *c, uint8_t *rgb, int width, int height, FloError *error) {
  *c = (FloCanvas){.width = width, .height = height, .rgb = rgb};
  c->mask = calloc((size_t)width * (size_t)height, sizeof *c->mask);
  if (!c->mask)
    return flo_fail(error, FLO_NO_MEMORY, "no memory to draw on a picture of %d x %d", width, height);
  clear_range(c);
  return FLO_OK;
}

void flo_canvas_destroy(FloCanvas *c) {
  free(c->mask);
  *c = (FloCanvas){0};
}

// The pixels between low and high along an axis; false if there are none.
static bool pixel_range(int size, float low, float high, int *first, int *end) {
  low = flo_maxf(low, 0), high = flo_minf(high, (float)size);
  if (!(low < high)) return false;
  *first = (int)floorf(low), *end = (int)ceilf(high);
  return true;
}

static void grow_range(FloCanvas *c, int axis, int first, int end) {
  if (first < c->low[axis]) c->low[axis] = first;
  if (end > c->high[axis]) c->high[axis] = end;
}

static bool pixel_box(FloCanvas *c, const float low[2], const float high[2], int first[2], int end[2]) {
  if (!pixel_range(c->width, low[0], high[0], &first[0], &end[0])) return false;
  if (!pixel_range(c->height, low[1], high[1], &first[1], &end[1])) return false;
  for (int axis = 0; axis < 2; axis++) grow_range(c, axis, first[axis], end[axis]);
  return true;
}

void flo_canvas_add_stroke(FloCanvas *c, float x0, float y0, float x1, float y1, float width) {
  // A stroke thinner than a pixel becomes paler instead of breaking up.
  const float strength = flo_minf(width, 1), reach = 0.5f * flo_maxf(width, 1) + 0.5f;
  const float dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy;
  const float low[2] = {flo_minf(x0, x1) - reach, flo_minf(y0, y1) - reach};
  const float high[2] = {flo_maxf(x0, x1) + reach, flo_maxf(y0, y1) + reach};
  int first[2], end[2];
  if (!pixel_box(c, low, high, first, end)) return;
  for (int y = first[1]; y < end[1]; y++) {
    for (int x = first[0]; x < end[0]; x++) {
      float px = (float)x + 0.5f - x0, py = (float)y + 0.5f - y0;
      float along = length2 > 0 ? flo_clamp01((px * dx + py * dy) / length2) : 0;
      float ex = px - along * dx, ey = py - along * dy;
      float coverage = strength * flo_clamp01(reach - sqrtf(ex * ex + ey * ey));
      float *mask = &c->mask[(size_t)y * (size_t)c->width + (size_t)x];
      if (coverage > *mask) *mask = coverage;
    }
  }
}

static float overlap(float low, float high, int pixel) {
  return flo_maxf(0, flo_minf(high, (float)pixel + 1) - flo_maxf(low, (float)pixel));
}

void flo_canvas_add_rect(FloCanvas *c, FloRect r) {
  const float low[2] = {r.x, r.y}, high[2] = {r.x + r.width, r.y + r.height};
  int first[2], end[2];
  if (!pixel_box(c, low, high, first, end)) return;
  for (int j = first[1]; j < end[1]; j++)
    for (int i = first[0]; i < end[0]; i++) {
      float coverage = overlap(low[0], high[0], i) * overlap(low[1], high[1], j);
      float *mask = &c->mask[(size_t)j * (size_t)c->width + (size_t)i];
      if (coverage > *mask) *mask = coverage;
    }
}

static uint8_t blend(uint8_t below, uint8_t above, float share) {
  return (uint8_t)((float)below + ((float)above - (float)below) * share + 0.5f);
}

// Blends the stored sRGB values: thin dark text on a light ground then keeps its weight.
void flo_canvas_paint(FloCanvas *c, FloRgb8 colour, float opacity) {
  for (int y = c->low[1]; y < c->high[1]; y++) {
    for (int x = c->low[0]; x < c->high[0]; x++) {
      size_t pixel = (size_t)y * (size_t)c->width + (size_t)x;
      float share = c->mask[pixel] * opacity;
      c->mask[pixel] = 0;
      if (share <= 0) continue;
      uint8_t *rgb = &c->rgb[3 * pixel];
      rgb[0] = blend(rgb[0], colour.r, share);
      rgb[1] = blend(rgb[1], colour.g, share);
      rgb[2] = blend(rgb[2], colour.b, share);
    }
  }
  clear_range(c);
}
