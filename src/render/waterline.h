// Water at walls: flat against every wall, with sharp edges where walls meet and at the waterline.
//
// Marching cubes cut off every edge of the surface by up to a cell. In a picture each cut is a facet that
// acts as a mirror or prism: dark posts in the corners of a tank, and a dashed waterline. Here the vertices
// beside an edge are moved to it and get one normal for each surface that meets there.
#ifndef FLO_RENDER_WATERLINE_H
#define FLO_RENDER_WATERLINE_H

#include "render/v3.h"
#include "surface/surface.h"
#include "surface/walls.h"

// The mesh to draw. Vertices at edges occur more than once, with different normals.
typedef struct FloWaterline {
  size_t n_vertices, n_triangles;
  V3 *vertices, *normals;
  uint32_t *origins; // for each vertex: the vertex of the mesh that it was made from
  uint32_t (*triangles)[3];
} FloWaterline;

// The result is the same for any number of threads. `memory_limit` [bytes] is for the mesh and everything
// made of it here; 0: none. Release it with flo_waterline_destroy, also after a failure.
FloStatus flo_waterline_create(const FloSurfaceMesh *mesh, const FloWalls *walls, size_t memory_limit,
                               int threads, FloWaterline *, FloError *);
void flo_waterline_destroy(FloWaterline *);

#endif
