// What every iterative solver returns.
#ifndef FLO_SOLVE_REPORT_H
#define FLO_SOLVE_REPORT_H

typedef struct FloSolveReport {
  int iterations;
  double residual; // remaining error; each solver states the unit
} FloSolveReport;

#endif
