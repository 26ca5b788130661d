// Flat faces of a mesh: neighbouring triangles in one plane, taken together.
#ifndef FLO_GEOMETRY_PATCHES_H
#define FLO_GEOMETRY_PATCHES_H

#include "geometry/mesh.h"

#define FLO_NO_PATCH UINT32_MAX

// A triangle on its own is a patch too.
typedef struct FloPatches {
  FloMemory *memory;
  FloBuffer owners; // uint32_t per triangle: the first triangle of its patch, or FLO_NO_PATCH
  FloBuffer
      inner; // one byte per triangle: bit k is set if its patch is on both sides of the side from corner k
  FloBuffer order; // uint32_t: triangles of all patches, patch by patch, in the order of the mesh
  size_t n_ordered;
} FloPatches;

// Joins triangles whose byte in `sides` has the three lowest bits set. Sides of other triangles count only
// where their bit is set. An edge with more than two sides is a border.
FloStatus flo_patches_build(FloPatches *patches, FloMemory *memory, const FloMesh *mesh, const uint8_t *sides,
                            FloError *error);
void flo_patches_free(FloPatches *patches);

// ---- Rows ----

// The part of a row within one triangle.
typedef struct FloRowPiece {
  uint32_t row, triangle;
  double begin, end;     // along the row, from low to high
  double from[3], to[3]; // its ends as points [m]
} FloRowPiece;

// The frame of a patch: rows run along u and follow each other along v.
typedef struct FloPatchFrame {
  double u[3], v[3];
  double low, high; // of the patch along v
  uint32_t low_side,
      high_side; // the border that is the first or last row, as 3 triangle + corner; or FLO_NO_PATCH
} FloPatchFrame;

// Rows are parallel to the longest border, so that short borders, such as those of rounded corners, have no
// influence.
void flo_patch_frame(const FloPatches *patches, const FloMesh *mesh, const uint32_t *triangles,
                     size_t n_triangles, FloPatchFrame *frame);
// Rows spread evenly between `low` and `high`. These two are borders and not rows.
typedef struct FloPatchRows {
  double low, high; // along v
  size_t n_steps;   // one more than there are rows
} FloPatchRows;

// Cuts the patch into pieces, ordered by row and by where they begin. They need the memory of the patches.
FloStatus flo_patch_cut_rows(const FloPatches *patches, const FloMesh *mesh, const uint32_t *triangles,
                             size_t n_triangles, const FloPatchFrame *frame, const FloPatchRows *rows,
                             FloBuffer *pieces, size_t *n_pieces, FloError *error);

#endif
