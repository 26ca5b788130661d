// Outlines of solids as anti-aliased lines of constant width in pixels, hidden behind surfaces.
#ifndef FLO_RENDER_EDGES_H
#define FLO_RENDER_EDGES_H

#include "render/camera.h"
#include "render/solids.h"

// An edge on the screen. `key` is linear along it there: 1/depth, or the depth itself in a flat view.
typedef struct FloScreenEdge {
  float x0, y0, x1, y1, key0, key1;
} FloScreenEdge;

// Projects the edges in front of the eye and returns their number; `out` has room for all.
size_t flo_edges_project(const FloEdge *edges, size_t n, const FloLens *, FloScreenEdge *out);

// Whether a line of `width` pixels touches a rectangle of the picture.
bool flo_edge_touches(const FloScreenEdge *, float width, float x0, float y0, float x1, float y1);

// Share 0..1 of the line at a point of the picture, and its depth there.
float flo_edge_coverage(const FloScreenEdge *, bool is_flat, float width, float x, float y, float *depth);

#endif
