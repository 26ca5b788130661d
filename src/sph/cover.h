// The share of a kernel that a solid covers: the integral of W over the solid, a field around it.
//
// For a half space it depends on the distance d of its surface only; call it F(d). Edges, corners, thin and
// curved solids cover other shares. Their share at x is F(depth(x)), where depth is that of the half space
// which covers as much. This depth is nearly linear in x even where the share is not. So a coarse grid of
// depths in the frame of the solid is enough, and flat surfaces come out exact. Share and gradient are those
// of the interpolated depth, so the one is the exact gradient of the other.
//
// Fluid consists of layers, not of a continuum. The part of a lattice behind a plane half a spacing away has
// a smaller kernel sum than the half space has an integral. So the field is that of a solid whose surface is
// inset by as much as makes them equal: a lattice next to a wall has rest density.
//
// The grid has blocks. A block is computed when a point in it is first needed. Its values depend on the solid
// alone, never on what was asked before.
#ifndef FLO_SPH_COVER_H
#define FLO_SPH_COVER_H

#include "geometry/solid.h"
#include "sph/kernel_form.h"

// Cells along an edge of a block, and nodes, which blocks share with their neighbours.
enum { FLO_COVER_CELLS = 4, FLO_COVER_NODES = FLO_COVER_CELLS + 1 };
enum { FLO_COVER_TABLE = 512 };

typedef struct FloCoverKey {
  const FloSolid *solid;
  int32_t block[3];
} FloCoverKey;

typedef struct FloCover {
  FloKernelForm kernel;
  double cell;                          // [m]
  double inset;                         // the solid of the field begins this far below the surface [m]
  float share[FLO_COVER_TABLE + 1];     // F at 0 .. H
  float steepness[FLO_COVER_TABLE + 1]; // -F' [1/m]
  float stress[FLO_COVER_TABLE + 1];    // see flo_cover_stress
  FloMemory *memory;
  FloBuffer offsets; // quadruples: points of a ball of radius H, and their weights, which add up to one
  size_t n_offsets;
  double fineness;  // distance of these points [m]
  FloBuffer keys;   // FloCoverKey of each block
  FloBuffer depths; // floats, nodes of each block [m]
  FloBuffer table;  // uint32_t: block + 1, or 0; open addressing
  size_t n_blocks, n_filled, table_size, nodes_per_block;
} FloCover;

FloStatus flo_cover_init(FloCover *cover, const FloKernelForm *kernel, double spacing, FloMemory *memory,
                         FloError *error);
void flo_cover_free(FloCover *cover);

// The share at a depth below which the solid of the field begins, and how fast it falls with the depth.
double flo_cover_share(const FloCover *cover, double depth);
double flo_cover_steepness(const FloCover *cover, double depth);
// The share of the integral of r . grad W that lies in the solid.
double flo_cover_stress(const FloCover *cover, double depth);

// Makes sure that there is a block for a point in the frame of the solid. Fill the new blocks afterwards.
FloStatus flo_cover_need(FloCover *cover, const FloSolid *solid, const double local[3], FloError *error);
void flo_cover_fill(FloCover *cover, int threads);
// The depth at a point that has a filled block, and its gradient.
double flo_cover_depth(const FloCover *cover, const FloSolid *solid, const double local[3],
                       double gradient[3]);

#endif
