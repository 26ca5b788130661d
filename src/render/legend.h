// The legend of a picture: bars of colour with their values, or a patch for each fluid; and where it stands.
#ifndef FLO_RENDER_LEGEND_H
#define FLO_RENDER_LEGEND_H

#include "render/camera.h"
#include "render/canvas.h"
#include "render/cloud.h"

enum { FLO_LEGEND_ROWS = 8 }; // more fluids are not listed

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
// A corner where it hides nothing of `bounds`, or as little as possible; the lower right one if that is free.
FloLegend flo_legend_place(const FloPictureInput *, const FloCloud *, const FloLens *, FloBounds bounds);
void flo_legend_draw(const FloLegend *, const FloPictureInput *, const FloCloud *, FloCanvas *);

// Everything written is laid out for a height of 720 and scaled by this.
float flo_overlay_unit(int width, int height);
// Pixels of a rectangle that lie before a box in space, seen through a lens.
float flo_box_overlap(const FloLens *, FloBounds box, FloRect rect);

#endif
