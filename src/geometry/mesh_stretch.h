// How much a surface of triangles is stretched, and which way it faces.
#ifndef FLO_GEOMETRY_MESH_STRETCH_H
#define FLO_GEOMETRY_MESH_STRETCH_H

#include <stddef.h>
#include <stdint.h>

// A surface whose vertices have moved. Segments of a line are triangles whose last two corners are the same.
typedef struct FloStretched {
  const float *rest, *now; // triples
  size_t n_vertices;
  const uint32_t *triangles; // three vertices each
  size_t n_triangles;
} FloStretched;

// For each vertex the largest stretch, length now over length at rest in the direction that is stretched
// most: the mean over its triangles by their areas at rest. 1 where nothing is stretched, and for vertices
// without triangles. `room` has a number for each vertex.
void flo_mesh_stretch(const FloStretched *surface, float *room, float *stretch);
// Unit normals of the vertices now, weighted by areas; zero where there is none. Of lines in the plane z = 0
// the normals lie in the plane, to the left.
void flo_mesh_smooth_normals(const FloStretched *surface, float *normals);

#endif
