// Where fluid is, roughly: a set of wide cells that hold fluid, and of those beside them. It tells which
// parts of large bodies no fluid can reach, so that these need no samples.
#ifndef FLO_SPH_WET_CELLS_H
#define FLO_SPH_WET_CELLS_H

#include "base/domain.h"
#include "base/memory.h"

typedef struct FloWetCells {
  FloMemory *memory;
  FloDomain domain;
  double width[3];     // of cells [m]
  int64_t n_around[3]; // cells along a periodic axis; 0: not periodic
  FloBuffer table;     // open hash of cells, uint64_t; 0: no cell
  size_t size, count;  // of the table, and of cells in it
  int64_t last[3];     // the cell that was added last
} FloWetCells;

// Empties it. Cells get at least this width, along a periodic axis at most the period.
void flo_wet_cells_begin(FloWetCells *cells, const FloDomain *domain, double width);
// Adds fluid at a point. Allocates only if there are more cells than ever before.
FloStatus flo_wet_cells_add(FloWetCells *cells, const double x[3], FloError *error);
// Whether there may be fluid in a box or nearer to it than the width of a cell; surely true if there is.
bool flo_wet_cells_are_near(const FloWetCells *cells, const double low[3], const double high[3]);
void flo_wet_cells_free(FloWetCells *cells);

#endif
