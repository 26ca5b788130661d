// Where rays of a picture start and where points of the world land on it.
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

// Share of the picture kept free at each side, for caption and legend, when the camera frames the scene by
// itself.
typedef struct FloMargins {
  float left, right, top, bottom;
} FloMargins;

// The scene's camera where it is set, with its field of view upright in pictures of 16:9 and wider ones, else
// as wide as there; otherwise a view from above and aside that just holds `bounds`.
FloLens flo_lens_create(const FloCamera *, int dim, int up, FloBounds bounds, FloMargins, int width,
                        int height);

// Parallel rays against (k) or along (-k) axis k - 1 that just hold `bounds`; k is 1, 2 or 3.
FloLens flo_lens_create_flat(int flat, int up, FloBounds bounds, FloMargins, int width, int height);

// The ray through a point of the picture in pixels; its direction has length one.
void flo_lens_ray(const FloLens *, float x, float y, V3 *origin, V3 *direction);
// Pixel position and depth along the view direction.
void flo_lens_project(const FloLens *, V3 point, float *x, float *y, float *depth);

#endif
