// Solves systems with a FloBlockMatrix that is positive definite: a sparse Cholesky factorisation with an
// order that keeps the factors small (nested dissection), and conjugate gradients that use the factors of a
// nearby matrix as a preconditioner. Factors and solutions are the same for any number of threads.
#ifndef FLO_SOLVE_BLOCK_FACTOR_H
#define FLO_SOLVE_BLOCK_FACTOR_H

#include "solve/block_matrix.h"

typedef struct FloBlockFactor FloBlockFactor;

// Finds the order and the structure of the factors for the pattern of the matrix.
FloStatus flo_block_factor_create(const FloBlockMatrix *matrix, FloMemory *memory, FloBlockFactor **factor,
                                  FloError *error);
void flo_block_factor_destroy(FloBlockFactor *factor, FloMemory *memory); // NULL is fine
// Allocates nothing. False if the matrix is not positive definite; the factors are then of no use.
bool flo_block_factorise(FloBlockFactor *factor, const FloBlockMatrix *matrix, int threads);
// x holds b at first. Uses room in the factor, so one solve at a time, and as many threads as the last
// factorisation.
void flo_block_solve(const FloBlockFactor *factor, double *x);

// Factorisations from now on also keep the factors in single precision.
FloStatus flo_block_factor_keep_single(FloBlockFactor *factor, FloError *error);
// Solves with these: they are half as large, which makes a solve with a large matrix nearly twice as fast.
// The error of x is that of numbers with 7 digits times the condition of the matrix. What x is for b is still
// a symmetric positive definite matrix, up to the rounding of doubles.
void flo_block_solve_single(const FloBlockFactor *factor, double *x);

// Conjugate gradients from the given x, with the factors in single precision if they are kept; `room` is 4 *
// 3 n doubles. Stops when the residual is below tolerance times that of b, in the norm of the preconditioner,
// or after max_iterations. Returns how many it took.
int flo_block_conjugate(const FloBlockMatrix *matrix, const FloBlockFactor *factor, const double *b,
                        double *x, double *room, double tolerance, int max_iterations, int threads);

#endif
