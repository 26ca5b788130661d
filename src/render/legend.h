// The legend of a picture and its place: bars of colour with their values, or a patch for each fluid.
#ifndef FLO_RENDER_LEGEND_H
#define FLO_RENDER_LEGEND_H

#include "render/camera.h"
#include "render/canvas.h"
#include "render/cloud.h"

enum { FLO_LEGEND_ROWS = 8 }; // further fluids are not listed

typedef struct FloLegend {
  int n_rows;                        // 0: there is no legend
  bool has_bars;                     // patches otherwise
  size_t materials[FLO_LEGEND_ROWS]; // of each row, from the top; named if there are several
  float names;                       // width of the column of names beside bars [pixels]
  FloRect row;                       // bar or patch of the first row
  float step;                        // from one row down to the next
  FloRect block;                     // all that it covers
} FloLegend;

// Height in pixels that is needed below the scene; 0: none.
float flo_legend_height(const FloPictureInput *, const FloCloud *, int width, int height);
// Places the legend in the lower right corner if it hides nothing of `bounds` there, otherwise in the corner
// where it hides least.
FloLegend flo_legend_place(const FloPictureInput *, const FloCloud *, const FloLens *, FloBounds bounds);
void flo_legend_draw(const FloLegend *, const FloPictureInput *, const FloCloud *, FloCanvas *);

// Text and legends are laid out for a height of 720 pixels and scaled by this.
float flo_overlay_unit(int width, int height);
// The area in pixels by which a rectangle covers a box in space.
float flo_box_overlap(const FloLens *, FloBounds box, FloRect rect);

#endif
