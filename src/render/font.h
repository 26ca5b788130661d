// Text in a stroke font of our own. It can have any size and angle; every stroke is anti-aliased exactly.
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

// The width of UTF-8 text. The font has ASCII and some signs of units and titles (² ³ · × ° µ – — …); others
// are drawn as an empty box.
float flo_text_width(const char *text, float size);
// (x, y) is the place of the anchor on the baseline. Adds to the canvas' mask; paint it afterwards.
void flo_canvas_add_text(FloCanvas *, float x, float y, FloTextStyle style, const char *text);

#endif
