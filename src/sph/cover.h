// The share of a particle's kernel that a solid covers: a field around the solid.
//
// Fluid consists of particles, not of a continuum. So a solid counts as if it were filled with particles in
// sheets: the first half a spacing below its surface, the others one spacing farther each. Along a sheet they
// are spread evenly. Then a lattice whose first layer is half a spacing away from a wall has rest density in
// every layer, and stays where it is. For a half space with its surface at distance d the share is
//
//   F(d) = s sum over k of A(d + (k + 1/2) s),   A(z): integral of W over the plane at distance z.
//
// It ends at d = H - s/2, the reach. For other solids the share is the integral over the solid of a kernel K.
// K depends on the distance only, and F is its integral over half spaces. So edges, corners, thin and curved
// solids follow from the same sheets. A lattice in an edge or a corner has rest density, too.
//
// The share at x is stored as F(depth(x)), where depth is that of the half space which covers as much. This
// depth is nearly linear in x even where the share is not. So a coarse grid of depths in the frame of the
// solid is enough, and flat surfaces come out exact. Share and gradient are those of the interpolated depth,
// so the one is the exact gradient of the other.
//
// The grid has blocks. A block is computed when a point in it is first needed. Its values depend on the solid
// alone, never on what was asked before. Solids that overlap must not count twice; so a solid may have an
// owner, which takes parts of it away.
#ifndef FLO_SPH_COVER_H
#define FLO_SPH_COVER_H

#include "geometry/solid.h"
#include "sph/kernel_form.h"

// Cells along an edge of a block, and nodes, which blocks share with their neighbours.
enum { FLO_COVER_CELLS = 4, FLO_COVER_NODES = FLO_COVER_CELLS + 1 };
enum { FLO_COVER_TABLE = 512 };

// The half spaces (cover_sheets.c).
typedef struct FloCoverSheets {
  FloKernelForm kernel;
  double spacing, reach;                // [m]
  float share[FLO_COVER_TABLE + 1];     // F at 0 .. reach
  float steepness[FLO_COVER_TABLE + 1]; // -F' [1/m]
  float stress[FLO_COVER_TABLE + 1];    // see flo_cover_stress
} FloCoverSheets;

// What has a field: a solid, or what its owner leaves of it. Owner 0: all of it.
typedef struct FloCovering {
  const FloSolid *solid;
  uint32_t owner;
} FloCovering;

typedef struct FloCoverKey {
  FloCovering of;
  int32_t block[3];
} FloCoverKey;

// What owners leave of a small cell around a point in the frame of the solid, of which this part is inside.
typedef struct FloCoverOwners {
  float (*leave)(const void *context, uint32_t owner, const double local[3], double size, float part);
  const void *context;
} FloCoverOwners;

typedef struct FloCover {
  FloCoverSheets sheets;
  double cell;     // [m]
  double fineness; // distance of the points of the ball [m]
  FloMemory *memory;
  double least;      // the depth at the least share that says how deep a point is [m]
  FloBuffer weights; // floats, of points around a node
  FloBuffer keys;    // FloCoverKey of each block
  FloBuffer depths;  // floats, nodes of each block [m]
  FloBuffer table;   // uint32_t: block + 1, or 0; open addressing
  size_t n_blocks, n_filled, table_size, nodes_per_block;
} FloCover;

FloStatus flo_cover_init(FloCover *cover, const FloKernelForm *kernel, double spacing, FloMemory *memory,
                         FloError *error);
void flo_cover_free(FloCover *cover);

// ---- Half spaces (cover_sheets.c) ----

FloCoverSheets flo_cover_sheets(const FloKernelForm *kernel, double spacing);
// F, how fast it falls with the depth, and the depth at which it is this share.
double flo_cover_share(const FloCoverSheets *sheets, double depth);
double flo_cover_steepness(const FloCoverSheets *sheets, double depth);
double flo_cover_depth_of(const FloCoverSheets *sheets, double share);
// The share of the integral of r . grad W that lies in the solid.
double flo_cover_stress(const FloCoverSheets *sheets, double depth);
// K, up to a factor.
double flo_cover_kernel(const FloCoverSheets *sheets, double r);

// ---- Any solid (cover.c) ----

// Makes sure that there is a block for a point in the frame of the solid. Fill the new blocks afterwards.
FloStatus flo_cover_need(FloCover *cover, FloCovering of, const double local[3], FloError *error);
// `owners` may be NULL if all owners are 0.
void flo_cover_fill(FloCover *cover, const FloCoverOwners *owners, int threads);
// Forgets all blocks: owners leave other parts now.
void flo_cover_forget(FloCover *cover);
// The part of a small cell that is inside, from its distance in sizes of the cell.
float flo_cover_part(float distance);
// The depth at a point that has a filled block, and its gradient.
double flo_cover_depth(const FloCover *cover, FloCovering of, const double local[3], double gradient[3]);

#endif
