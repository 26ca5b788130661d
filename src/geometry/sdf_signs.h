// Which nodes of a grid lie inside a mesh, by its winding number.
#ifndef FLO_GEOMETRY_SDF_SIGNS_H
#define FLO_GEOMETRY_SDF_SIGNS_H

#include "geometry/bvh.h"

// Nodes at low + cell (i, j, k), n along each axis. The tree must outlive it.
typedef struct FloSdfSigns {
  const FloBvh *bvh;
  double low[3], cell;
  size_t n[3];
  FloMesh lids; // triangles that close the holes of the mesh
  FloBvh lid_bvh;
  FloBuffer starts, crossings; // where the rows along x pass through the closed mesh, row by row
  bool has_rows;
} FloSdfSigns;

FloStatus flo_sdf_signs_init(FloSdfSigns *signs, const FloBvh *bvh, const double low[3], double cell,
                             const size_t n[3], FloError *error);
void flo_sdf_signs_free(FloSdfSigns *signs);
// Whether signs may change away from the surface, in front of holes.
bool flo_sdf_signs_has_holes(const FloSdfSigns *signs);
double flo_sdf_signs_winding(const FloSdfSigns *signs, const size_t node[3]);
bool flo_sdf_signs_is_inside(const FloSdfSigns *signs, const size_t node[3]);

#endif
