// Marching cubes (Lorensen and Cline 1987). The tables are computed; they leave neither cracks nor edges of
// four triangles.
//
// Corner c of a cube lies at (c & 1, c >> 1 & 1, c >> 2). Edge 4 axis + k is the k-th of those along an axis,
// by the number of its lower corner.
#ifndef FLO_SURFACE_CUBE_CASES_H
#define FLO_SURFACE_CUBE_CASES_H

#include <stdint.h>

enum { FLO_CUBE_EDGES = 12, FLO_CUBE_MAX_TRIANGLES = 5 };

typedef struct FloCubeCases {
  uint8_t edge_corner[FLO_CUBE_EDGES];               // the lower corner of each edge
  uint8_t n_triangles[256];                          // by the set of inner corners, one bit each
  uint8_t triangles[256][FLO_CUBE_MAX_TRIANGLES][3]; // edges, counter-clockwise seen from outside
} FloCubeCases;

void flo_cube_cases_init(FloCubeCases *cases);
static inline int flo_cube_edge_axis(int edge) { return edge >> 2; }

#endif
