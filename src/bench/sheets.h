// The time to factorise the matrix of a cloth and to solve with it.
#ifndef FLO_BENCH_SHEETS_H
#define FLO_BENCH_SHEETS_H

#include "base/core.h"
#include "bench/times.h"

typedef struct FloSheetResult {
  size_t vertices, blocks; // rows of blocks, and blocks of the matrix
  FloTimes structure;      // to find the order and the structure of the factors: once a body
  FloTimes factorise;
  FloTimes solve, solve_single; // with the factors in double and in single precision
} FloSheetResult;

// A sheet of width times height vertices with the pattern of a cloth that resists bending, on one core.
FloStatus flo_sheet_measure(uint32_t width, uint32_t height, int repeats, FloSheetResult *result,
                            FloError *error);

#endif
