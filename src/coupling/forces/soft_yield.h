// How soft bodies yield to the fluid next to them within an iteration.
//
// Each row beside a light sheet would push it as if it were the only row, and together they would push it too
// far. Longer diagonals keep that stable, but then pressures that are equal on both sides of the sheet need a
// hundred iterations. The matrix of these rows is a diagonal D plus c J A^-1 J^T, where A^-1 is the response
// of the bodies, and can be inverted (Woodbury):
//
//   (D + c J A^-1 J^T)^-1 e = D^-1 (e - J y),   (A + c J^T D^-1 J) y = c J^T D^-1 e
//
// over the rows that are active now. Conjugate gradients find y, with A^-1 as preconditioner. So a sheet
// slows the iteration no more than fluid does, however light it is.
#ifndef FLO_COUPLING_FORCES_SOFT_YIELD_H
#define FLO_COUPLING_FORCES_SOFT_YIELD_H

#include "state/state.h"

// The force of a row on one node of a soft body, per unit of its pressure.
typedef struct FloSoftPush {
  uint32_t node;
  float j[3];
} FloSoftPush;

typedef struct FloSoftRow {
  uint32_t row;
  uint32_t first;       // of its pushes
  float weight, thrust; // 1/D and e/D, or what they are for a row that lets go
} FloSoftRow;

typedef struct FloSoftYield {
  size_t n_rows, n_pushes;
  uint32_t next_row; // that was opened last
  bool is_open;      // it has a push, so it is among the rows
  FloSoftRow *rows;  // one more than there are, for the end of the last one
  FloSoftPush *pushes;
  double *yield;                              // y, three numbers for each node of the world
  double *left, *answer, *way, *pull, *image; // of the conjugate gradients, the same
  FloBuffer row_buffer, push_buffer, node_buffer;
} FloSoftYield;

// The unknowns of a method.
typedef struct FloYieldingRows {
  const float *pressure, *error, *diagonal; // without soft bodies
  float relaxation;                         // a row moves by this share of its error over its diagonal
  double scale;                             // c
} FloYieldingRows;

// In each step: forgets all rows.
FloStatus flo_soft_yield_begin(FloSoftYield *soft, FloWorld *world, FloError *error);
// Begins a row. It stays only if it pushes a soft body.
void flo_soft_yield_open(FloSoftYield *soft, size_t row);
// Adds a push to the last row.
FloStatus flo_soft_yield_push(FloSoftYield *soft, FloWorld *world, uint32_t node, const double j[3],
                              FloError *error);
void flo_soft_yield_free(FloSoftYield *soft, FloMemory *memory);
// In each iteration: finds y.
void flo_soft_yield_find(FloSoftYield *soft, const FloWorld *world, const FloYieldingRows *rows);
// J y of the n-th row.
float flo_soft_yield_along(const FloSoftYield *soft, size_t n);

#endif
