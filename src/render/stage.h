// What a picture shows at one pixel.
#ifndef FLO_RENDER_STAGE_H
#define FLO_RENDER_STAGE_H

#include "render/camera.h"
#include "render/edges.h"
#include "render/light.h"
#include "render/slice.h"

enum { FLO_MAX_SAMPLES = 8 }; // per pixel and axis

typedef struct FloGround {
  bool is_there;
  float height; // [m] along `up`
} FloGround;

typedef struct FloStage {
  FloLens lens;
  bool is_plane;         // a run in two dimensions: pure colours, no light
  const FloSlice *slice; // NULL: none
  FloSky sky;
  const FloCloud *cloud;
  const FloSolids *solids;
  V3 tones[FLO_TONES];      // linear colours of the particles
  V3 page_top, page_bottom; // of the background
  V3 edge_colour;
  FloScreenEdge *edges;
  size_t n_edges;
  float edge_width; // pixels
  float edge_bias;  // [m] an edge this far behind a surface still counts as lying on it
  V3 centre;        // middle of what is shown
  float extent;     // its radius [m]: shadows on the ground fade out beyond
  int samples;      // per pixel and axis
} FloStage;

// Sets everything except the edges and the slice.
void flo_stage_set(FloStage *, const FloLens *, const FloTracer *, const FloCloud *, const FloSolids *,
                   int dim, int up, FloBounds bounds, FloGround, int samples);

// Place within a pixel, 0..1, of ray k of n x n.
void flo_sample_place(int n, int k, float *x, float *y);

// The colour of a pixel, ready for display but linear. `near` holds the numbers of the edges that may touch
// it.
V3 flo_stage_pixel(const FloStage *, int x, int y, const uint32_t *near, size_t n_near);

#endif
