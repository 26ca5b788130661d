// The state of surface sampling, and how candidates for samples are offered (sample.c tells the whole).
#ifndef FLO_GEOMETRY_SAMPLER_H
#define FLO_GEOMETRY_SAMPLER_H

#include "geometry/patches.h"
#include "geometry/sample.h"
#include "geometry/sides.h"
#include "geometry/walk_set.h"

#define FLO_NO_VERTEX UINT32_MAX
// Marks of vertices; 0: not met yet.
enum { FLO_VERTEX_IS_USED = 1, FLO_VERTEX_IS_SAMPLE = 2 };
// Largest cell in which one walk inwards stands for all [spacings]: a quarter of a spacing from corner to
// corner.
#define FLO_LONGEST_WALK_CELL 0.144

typedef struct FloSampler {
  const FloMesh *mesh;
  FloMemory *memory;
  FloError *error;
  const FloBvh *bvh; // NULL unless samples leave the surface or move on it
  FloThinner *thinner;
  double spacing;
  bool is_first_try;  // whether a candidate that is refused now may be tried once more
  double latest[3];   // the last sample that was accepted [m]
  FloBuffer deferred; // candidates to try once more
  size_t n_deferred;
  FloBuffer marks; // one byte per vertex
  FloBuffer edges; // hash set of the edges that were offered
  uint64_t edge_mask;
  FloBuffer sides; // one byte per triangle, as flo_sides_survey fills it
  FloSideSurvey survey;
  FloPatches patches;  // of triangles with three long sides
  FloBuffer pieces;    // of the rows of a patch
  FloBuffer near_weak; // numbers of the triangles that may lie near weak samples
  size_t n_near_weak;
  int layer;
  double depth;     // of the layer below the surface [m]
  double low[3];    // low corner of the box around the mesh [m]
  FloWalkSet walks; // surface points from which walks inwards began
} FloSampler;

// Room for one more element of `size` bytes behind `count` others.
FloStatus flo_sampler_grow(const FloSampler *sampler, FloBuffer *buffer, size_t count, size_t size);
// From here on candidates of the layer are judged by this rule.
void flo_sampler_set_rule(FloSampler *sampler, const FloThinRule *rule);
// Forgets which walks inwards were made. At most one walk begins in each cell, whose side is `cell` spacings.
FloStatus flo_sampler_begin_walks(FloSampler *sampler, double cell);
// Takes the point of the layer below a surface point as a candidate. `vertex` is its number, if it is a
// vertex of the mesh, or FLO_NO_VERTEX. Lower layers exist only where the body is thick enough.
FloStatus flo_sampler_offer(FloSampler *sampler, const double point[3], uint32_t triangle, uint32_t vertex);
// Tries those candidates again that were only a little too near to others.
FloStatus flo_sampler_close_gaps(FloSampler *sampler);

// Offers vertices, edges and rows within triangles (sample_mesh.c).
FloStatus flo_sampler_offer_mesh(FloSampler *sampler);
// Offers finer candidates near samples that have too few neighbours (sample_repair.c).
FloStatus flo_sampler_repair(FloSampler *sampler);

// The rule for the first try of each candidate.
extern const FloThinRule flo_sampler_first_rule;

#endif
