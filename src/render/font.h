// Text: a stroke font of our own, drawn at any size and angle, sharp because every stroke is anti-aliased
// exactly.
#ifndef FLO_RENDER_FONT_H
#define FLO_RENDER_FONT_H

#include "render/canvas.h"

typedef enum FloAnchor { FLO_ANCHOR_LEFT, FLO_ANCHOR_MIDDLE, FLO_ANCHOR_RIGHT } FloAnchor;

typedef struct FloTextStyle {
  float size;  // height of capitals [pixels]
  float width; // of the strokes [pixels]; 0: chosen from the size
  FloAnchor anchor;
  bool is_upright; // reads from bottom to top instead of left to right
} FloTextStyle;

// UTF-8: ASCII and a handful of signs that units and titles need (² ³ · × ° µ – — …); others show as an empty
// box.
float flo_text_width(const char *text, float size);
// (x, y): where the anchor stands on the baseline. Adds to the canvas' mask; paint afterwards.
void flo_canvas_add_text(FloCanvas *, float x, float y, FloTextStyle style, const char *text);

#endif
