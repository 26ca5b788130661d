// The passes written over wide floats, compiled once per instruction set (wide_*.c) and chosen at run time.
#ifndef FLO_SPH_PASSES_H
#define FLO_SPH_PASSES_H

#include "sph/links.h"
#include "sph/pairs.h"

// What viscosity and walls do to a fluid particle; see pair.h. As a quadruple per particle where fluids
// differ.
typedef struct FloFluidCoefficients {
  float always, approaching; // between fluid particles
  float wall;                // between fluid and solid
  float rest_density;        // by which the pressures of samples are multiplied [kg/m^3]
} FloFluidCoefficients;

// Forces among fluid particles: pressure and viscosity in one sweep.
typedef struct FloFluidForces {
  const FloPairs *pairs;
  const float *state;                       // quadruples: velocity and p V^2
  FloFluidCoefficients all;                 // for a single fluid
  const FloFluidCoefficients *coefficients; // per particle; NULL: as `all`
  float *force;                             // quadruples: out [N], and the virial of pressures [J]
} FloFluidForces;

// Forces between fluid and solid samples, on the rows of `pairs`.
typedef struct FloSolidForces {
  const FloPairs *pairs;
  const float *fluid;          // quadruples: velocity and p V^2
  const float *solid;          // quadruples: velocity and volume over the fluid's rest volume
  const float *solid_pressure; // per sample: p V0^2/r^2 for a fluid of density 1; see wcsph.c
  FloFluidCoefficients all;
  const FloFluidCoefficients *coefficients;
  float *force; // quadruples: added to; for rows of fluid also the virial of pressures
} FloSolidForces;

// One of the linear operators that implicit methods are made of, as sums over the neighbours of each row.
typedef struct FloSweep {
  const FloPairs *pairs;
  const float *columns; // per column: a number (gradient, square), or a quadruple (divergence)
  float *rows;          // out, per row: a quadruple whose fourth part is 0 (gradient), or a number
  bool is_added;        // the gradient is added to the rows
} FloSweep;

// How fast neighbours approach each other.
typedef struct FloApproach {
  const FloPairs *pairs;
  const float *rows, *columns; // quadruples: velocities
  float unit;     // makes gradients numbers near 1, so that their squares are in range [m^(dim+1)]
  float *fastest; // per block: square of the highest speed of approach; raised, never lowered
} FloApproach;

// Where the fluid ends: H sum_j grad w(q) of poly6; see surface_tension.c.
// Positions are those of the grid.
typedef struct FloNormals {
  const FloPairs *pairs;
  const FloGrid *grid; // of the fluid, which is both rows and columns
  float *normals;      // quadruples: out
} FloNormals;

// Surface tension; see tension_kernel.h.
typedef struct FloCohesion {
  const FloPairs *pairs;
  const FloGrid *grid;
  const float *surface;  // quadruples: normal [N], and how much it is at the surface, up to 1
  float all;             // strength of a single fluid [N]
  const float *strength; // per particle; NULL: as `all`
  float *force;          // quadruples: added to
} FloCohesion;

// Attraction between fluid and solids, on whichever of them are the rows: by the kernel of tension_kernel.h,
// or with `kernel` in proportion to r W.
typedef struct FloAdhesion {
  const FloPairs *pairs;
  const FloGrid *rows, *columns;
  const float *row_weight, *column_weight; // per particle: strength of fluid, relative volume of samples
  const FloKernelForm *kernel;             // or NULL
  float *force;                            // quadruples: added to
} FloAdhesion;

// What pair forces p_j V_j grad W make of pressures: sum_j (p_i + p_j) V_j r_ij . grad W_ij; see
// coupling/forces/felt_pressure.h.
typedef struct FloStress {
  const FloPairs *pairs;
  const FloGrid *rows, *columns;
  const float *row_pressure, *column_pressure; // p
  const float *column_volume;                  // V; NULL: `all_volume`
  float all_volume;
  float *sum; // per row: added to
} FloStress;

// How kernel sums change while particles move for dt: the sum over the neighbours of each row of their volume
// times the change of W. It uses the gradient at half of the way, so that small changes are as exact as large
// ones.
typedef struct FloSumChange {
  const FloPairs *pairs;
  const FloGrid *rows, *columns; // positions at the start
  FloKernelForm kernel;
  const float *row_velocity, *column_velocity; // quadruples
  const float *column_volume;                  // V; NULL: `all_volume`
  float all_volume;
  double dt;
  float *sum; // per row: added to
} FloSumChange;

typedef struct FloPasses {
  const char *name;
  // Blocks [begin, end) of the operator. `slab` belongs to the calling thread.
  void (*build_pairs)(FloPairs *, const FloPairsSpec *, FloPairSlab *slab, size_t begin, size_t end);
  void (*refill_pairs)(FloPairs *, const FloPairsSpec *, FloPairSlab *slab, size_t begin, size_t end);
  void (*fluid_forces)(const FloFluidForces *, size_t begin, size_t end);
  // Rows are fluid particles; force on them.
  void (*solid_forces_on_fluid)(const FloSolidForces *, size_t begin, size_t end);
  // Rows are solid samples; the exact opposite of the above.
  void (*fluid_forces_on_solid)(const FloSolidForces *, size_t begin, size_t end);
  void (*gradient)(const FloSweep *, size_t begin, size_t end);   // sum_j q_j grad W_ij
  void (*divergence)(const FloSweep *, size_t begin, size_t end); // sum_j v_j . grad W_ij
  void (*square)(const FloSweep *, size_t begin, size_t end);     // sum_j q_j |grad W_ij|^2
  void (*approach)(const FloApproach *, size_t begin, size_t end);
  void (*normals)(const FloNormals *, size_t begin, size_t end);
  void (*cohesion)(const FloCohesion *, size_t begin, size_t end);
  void (*adhesion)(const FloAdhesion *, size_t begin, size_t end);
  void (*stress)(const FloStress *, size_t begin, size_t end);
  void (*sum_change)(const FloSumChange *, size_t begin, size_t end);
  // See links.h: the sum of g . v, and the change of velocities by an impulse.
  float (*links_rate)(const FloLink *, size_t n, const float *velocity);
  void (*links_push)(const FloLink *, size_t n, float impulse, float *velocity);
  // The sum of |g|^2/m.
  float (*links_response)(const FloLink *, size_t n, const float *velocity);
  // Links of a block of rows, scaled, to their columns, after a link of each to itself with the opposite sum.
  // The set is its own column.
  void (*link_block)(const FloPairs *, size_t block, float scale, FloLink *const rows[FLO_BLOCK]);
  // Visits each row of a group.
  void (*relax)(const FloLinkedRows *, FloRowGroup group);
} FloPasses;

bool flo_simd_is_avx2(void);               // this machine can run code for AVX2, FMA and BMI2
const FloPasses *flo_passes(void);         // the best this machine can run
const FloPasses *flo_passes_generic(void); // the one every machine can run
#ifdef FLO_HAS_AVX2
const FloPasses *flo_passes_avx2(void);
#endif

#endif
