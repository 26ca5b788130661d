// The grid sorts particles into cells of about a support width and orders them by cell.
//
// Cells are ordered in rows along x, and rows along a Morton curve over (y, z). The 27 cells around a
// particle are therefore 9 contiguous ranges, and neighbours in space are near in memory. Only occupied cells
// are stored, so the size of the domain does not matter.
//
// Distances come from fixed-point coordinates: 32-bit integers that wrap around. A unit is at most H/2^28,
// and the range is at least a few H. The difference of two neighbours is exact across the wrap, antisymmetric
// to the last bit, and independent of the distance from the origin. On a periodic axis the period is a whole
// number of wraps, so the wrap itself makes the axis periodic.
#ifndef FLO_SPH_GRID_H
#define FLO_SPH_GRID_H

#include "base/memory.h"
#include "sph/particles.h"

// Cells and fixed-point units of a world; the same for all its sets.
typedef struct FloLattice {
  int dim;
  double support;        // H [m]
  double origin[3];      // [m]
  double period[3];      // [m]; 0: not periodic
  double cell[3];        // cell widths [m]: at least the reach of lists
  int32_t n_periodic[3]; // cells along a periodic axis; 0: not periodic
  double to_fixed[3];    // units per metre
  float to_support[3];   // supports per unit
} FloLattice;

// Axes with high > low are periodic. Fails if a period is shorter than three supports.
FloStatus flo_lattice_init(FloLattice *lattice, int dim, double support, const double low[3],
                           const double high[3], FloError *error);
// Makes cells `reach` supports wide, or a little wider; false, and nothing done, if a period is shorter than
// three of them. Grids must be built anew; fixed-point coordinates stay as they are.
bool flo_lattice_set_reach(FloLattice *lattice, double reach);

typedef struct FloCellRow {
  int32_t y, z;
  uint32_t cells; // its first cell; it ends where the next row begins
} FloCellRow;

typedef struct FloGrid {
  const FloLattice *lattice;
  size_t count;
  // In the order of the store:
  int32_t *fixed; // quadruples: x, y, z in fixed point, and the bits of the particle's weight (a float)
  int32_t *cell;  // triples
  // In the order of the cells:
  uint32_t *order; // store index
  int32_t *sorted_x, *sorted_y, *sorted_z;
  // Occupied cells, and rows of them; each has one more entry as an end mark.
  size_t n_cells, n_rows;
  int32_t *cell_x;
  uint32_t *cell_begin; // into the sorted order
  FloCellRow *rows;
  uint32_t *row_table; // open hash: (y, z) -> row + 1
  size_t row_table_size;
  size_t n_descents; // how often the store order goes backwards in the sorted order: 0 means sorted
  FloBuffer buffers[12];
  FloMemory *memory;
} FloGrid;

void flo_grid_init(FloGrid *grid, const FloLattice *lattice, FloMemory *memory);
void flo_grid_free(FloGrid *grid);

// `weight` is carried along for kernel sums: an array, or NULL for ones. FLO_DIVERGED names a particle beyond
// reach.
FloStatus flo_grid_build(FloGrid *grid, const FloParticles *particles, const float *weight, int threads,
                         FloError *error);
// Takes over the present positions, but leaves cells and order as they are. Returns how far the particle that
// moved most is now from where it was when the grid was built, in supports.
double flo_grid_refresh(FloGrid *grid, const FloParticles *particles, int threads);
// Fixed-point coordinates and cells, triples each in the order of the store, of the moment at which the grid
// was built; and the way back, for particles without weights.
bool flo_grid_is_cell(int32_t coordinate); // whether a cell may have it
void flo_grid_save(const FloGrid *grid, int32_t *fixed, int32_t *cells);
FloStatus flo_grid_restore(FloGrid *grid, size_t count, const int32_t *fixed, const int32_t *cells,
                           int threads, FloError *error);
// Reorders the particles (and the grid with them) into the order of the cells.
FloStatus flo_grid_sort_particles(FloGrid *grid, FloParticles *particles, int threads, FloError *error);
// Cell of a point.
void flo_grid_cell_of(const FloLattice *lattice, const double point[3], int32_t cell[3]);
int32_t flo_grid_fixed_point(const FloLattice *lattice, int axis, double x);
// Row with these coordinates, or NULL.
const FloCellRow *flo_grid_find_row(const FloGrid *grid, int32_t y, int32_t z);

// Ranges of the sorted order that hold the neighbours of the particles of one cell. A walker remembers where
// it was, so that walking along a row costs little.
typedef struct FloWalker {
  int32_t cell[3];
  bool is_valid;
  int n_rows;
  const FloCellRow *rows[9];
  uint32_t first[9], last[9]; // cells of rows[k] within reach: [first, last)
  int n_ranges;
  uint32_t begin[18], end[18];
} FloWalker;

// Goes to a cell; false if it was there already.
bool flo_walker_move(FloWalker *walker, const FloGrid *grid, const int32_t cell[3]);

// Whether a particle is nearer to a point than `apart`, which is at most a support.
bool flo_grid_is_near(const FloGrid *grid, const double point[3], double apart);

#endif
