// What every iterative solver tells when it ends.
#ifndef FLO_SOLVE_REPORT_H
#define FLO_SOLVE_REPORT_H

typedef struct FloSolveReport {
  int iterations;
  double residual; // what is left of the error; each solver says in which unit
} FloSolveReport;

#endif
