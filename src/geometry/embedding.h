// Points that are carried along by elements, for instance the vertices of a body's own surface.
#ifndef FLO_GEOMETRY_EMBEDDING_H
#define FLO_GEOMETRY_EMBEDDING_H

#include "geometry/elements.h"

// A point is a weighted sum of four vertices of elements, in the plane of three and one of weight zero. The
// weights of a point sum up to one. A point outside of all elements belongs to the nearest one; some of its
// weights are negative.
typedef struct FloEmbedding {
  FloMemory *memory;
  size_t n_points;
  FloBuffer corners; // four vertex numbers for each point, uint32_t
  FloBuffer weights; // four doubles for each point
  double farthest;   // largest distance of a point from the elements [m]
} FloEmbedding;

static inline const uint32_t *flo_embedding_corners(const FloEmbedding *embedding, size_t point) {
  return (const uint32_t *)embedding->corners.data + 4 * point;
}
static inline const double *flo_embedding_weights(const FloEmbedding *embedding, size_t point) {
  return (const double *)embedding->weights.data + 4 * point;
}

// `points`: three coordinates each, where the elements are at rest.
FloStatus flo_embedding_build(FloEmbedding *embedding, const FloElements *elements, const double *points,
                              size_t n_points, FloError *error);
void flo_embedding_free(FloEmbedding *embedding);
// Vectors at the points from those at the vertices, three numbers each: positions or velocities.
void flo_embedding_place(const FloEmbedding *embedding, const double *at_vertices, double *at_points);
// Adds forces or impulses at the points to those at the vertices. Their sum and the sum of their torques
// stay.
void flo_embedding_spread(const FloEmbedding *embedding, const double *at_points, double *at_vertices);

#endif
