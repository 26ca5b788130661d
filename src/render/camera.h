// The camera: where rays of a picture start, and where points of the world appear on it.
#ifndef FLO_RENDER_CAMERA_H
#define FLO_RENDER_CAMERA_H

#include "render/render.h"
#include "render/v3.h"

// The eye and its axes. `half_*`: tangent of half the opening angle, or, for a flat view, half the visible
// size [m].
typedef struct FloLens {
  bool is_flat; // parallel rays
  V3 eye, right, up, forward;
  float half_width, half_height;
  int width, height; // pixels
} FloLens;

// Share of the picture that the automatic camera leaves free at each side, for caption and legend.
typedef struct FloMargins {
  float left, right, top, bottom;
} FloMargins;

// Uses the scene's camera if it is set. Its field of view is vertical in pictures of 16:9 and wider; narrower
// pictures are as wide as 16:9. Without it, chooses a view from above and aside that just holds `bounds`.
FloLens flo_lens_create(const FloCamera *, int dim, int up, FloBounds bounds, FloMargins, int width,
                        int height);

// A flat view that just holds `bounds`: parallel rays against (k) or along (-k) axis k - 1; k is 1, 2 or 3.
FloLens flo_lens_create_flat(int flat, int up, FloBounds bounds, FloMargins, int width, int height);

// The ray through a point of the picture, which is given in pixels. Its direction has unit length.
void flo_lens_ray(const FloLens *, float x, float y, V3 *origin, V3 *direction);
// Pixel position and depth along the view direction.
void flo_lens_project(const FloLens *, V3 point, float *x, float *y, float *depth);

#endif
