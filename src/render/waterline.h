// Water at walls: flat against every pane, with sharp edges where it meets another pane or the air.
//
// Marching cubes cut off every edge of the surface by up to a cell. In a picture each cut is a facet of its
// own, a mirror or a prism: dark posts in the corners of a tank, and a waterline of dashes. Here the vertices
// beside an edge are moved on to it, and get a normal for each of the surfaces that meet there.
#ifndef FLO_RENDER_WATERLINE_H
#define FLO_RENDER_WATERLINE_H

#include "render/v3.h"
#include "surface/surface.h"
#include "surface/walls.h"

// The mesh to be drawn. Vertices at edges are there more than once, with different normals.
typedef struct FloWaterline {
  size_t n_vertices, n_triangles;
  V3 *vertices, *normals;
  uint32_t *origins; // of each vertex: the one of the mesh it was made from
  uint32_t (*triangles)[3];
} FloWaterline;

// The same for any number of threads. `memory_limit` [bytes] is for the mesh and all that is made of it here;
// 0: none. Release with flo_waterline_destroy also on failure.
FloStatus flo_waterline_create(const FloSurfaceMesh *mesh, const FloWalls *walls, size_t memory_limit,
                               int threads, FloWaterline *, FloError *);
void flo_waterline_destroy(FloWaterline *);

#endif
