// The bodies of a picture as triangles and outline edges in world coordinates.
//
// A tank is never filled: its edges and a thin floor plate are drawn, so that the water inside is visible.
// Other bodies are matt. Bodies that change their shape are drawn as the frame has them (soft_solids.h). A
// body whose look is "glass" or "outline" shows only its edges, or sections across its middle if it has none.
// Bodies that are "hidden" or "samples" show nothing. In 2D, shapes are flat areas in the plane z = 0 with an
// outline, and a tank is a band around its inside.
#ifndef FLO_RENDER_SOLIDS_H
#define FLO_RENDER_SOLIDS_H

#include "render/render.h"
#include "render/v3.h"

typedef struct FloEdge {
  V3 a, b;
} FloEdge;

typedef struct FloSolids {
  size_t n_vertices, n_triangles, n_edges, n_bodies;
  V3 *vertices, *normals; // one more vertex is allocated, because Embree reads 16 bytes for each
  uint32_t (*triangles)[3];
  uint32_t *owners; // body of each triangle
  FloEdge *edges;
  V3 *colours;   // of each body, linear
  V3 *marks;     // of each vertex of a body that changes its shape: where it is at rest
  float *checks; // of each body: length of its checks [m], 0: none
  FloBounds bounds;
} FloSolids;

// Bodies stand where `placed` has them; NULL: where the scene puts them. `radius` of the particles sets the
// thickness of a tank's walls in 2D. Bodies with unusable numbers are left out. Where space repeats (NULL:
// nowhere) a body is drawn as often as it reaches into the box, cut off there.
FloStatus flo_solids_create(const FloSceneBody *bodies, const FloFrameBody *placed, size_t n_bodies, int dim,
                            float radius, const FloRepeat *repeat, FloSolids *, FloError *);
void flo_solids_destroy(FloSolids *);

#endif
