// Constraints between nodes, one row for each: contacts, friction, joints, links of a cloth.
//
// A row measures a velocity J v of the nodes that it acts on; v are the six velocities of each node. Its
// multiplier lambda is the impulse with which it acts: nodes get the velocities M^-1 J^T lambda. The row
// requires
//
//   error = J v + softness lambda - wanted = 0   while lambda is strictly within its bounds,
//   error >= 0 at the lower bound, and error <= 0 at the upper one.
//
// A row has one component with bounds, or three. With three, the length of lambda is bounded: by a number, or
// by friction times the multiplier of a normal row. The latter is Coulomb's cone, which is round, so that
// friction acts against the sliding in every direction. At the bound the error is opposite to lambda.
//
// Use: add rows and their blocks, finish, solve with gauss_seidel.h or jacobi.h. Then clear, and add the rows
// of the next step. After the first steps of a scene no more memory is allocated.
//
// `lambda` is an array of all components of all rows, `velocities` an array of six numbers for each node.
#ifndef FLO_SOLVE_ROWS_H
#define FLO_SOLVE_ROWS_H

#include "base/memory.h"
#include "solve/node.h"

#define FLO_NO_ROW UINT32_MAX

typedef struct FloRowDef {
  int width; // number of components: 1 or 3
  // Required J v: a velocity, or a change of velocity if changes are solved for.
  double wanted[3];
  // Velocity by which the row yields per unit of lambda; 0: it is rigid. It also makes rows that require the
  // same thing share the load.
  double softness;
  double low, high; // bounds of lambda; with three components `high` bounds its length
  uint32_t normal;  // a row of one component that was added before, or FLO_NO_ROW
  double friction;  // with a normal row: largest length of lambda per lambda of that row
} FloRowDef;

// One component, no bounds, no softness.
FloRowDef flo_default_row_def(void);

typedef struct FloRow {
  FloRowDef def;
  uint32_t first_block, n_blocks;
  uint32_t component; // the first of its multipliers
  uint32_t colour;
  double response; // velocity per unit of lambda: the largest eigenvalue of J M^-1 J^T, plus softness
} FloRow;

// The effect of a row on one node. The numbers of J, six for each component, are followed by those of M^-1
// J^T.
typedef struct FloRowBlock {
  uint32_t node, row;
  bool is_held;    // nothing moves the node
  size_t numbers;  // index of its first number
  double response; // its part of the row's response
} FloRowBlock;

// Nodes that hold each other: turns changes of velocity that impulses give to single nodes, six for each,
// into those that all of them get. It must be linear and symmetric, and yield no more than single nodes do.
typedef void (*FloFollowFn)(const void *follower, double *changes);

// Vectors that solvers use, so that they need not allocate.
typedef struct FloRowScratch {
  double *move, *way, *error, *from, *from_error; // for each component
  double *response;                               // for each row
  double *start, *changes;                        // six for each node
  double *share;                                  // for each node
} FloRowScratch;

enum { FLO_ROW_BUFFERS = 9 };

typedef struct FloRows {
  FloMemory *memory;
  size_t n_rows, n_blocks, n_numbers, n_components, n_nodes;
  FloRow *rows;
  FloRowBlock *blocks;
  double *numbers;
  bool has_friction; // some row has a normal row
  // Blocks by node: those of node k are node_blocks[node_begin[k] .. node_begin[k + 1]), in the order of the
  // rows. A list is summed in chunks, so that several threads can share a long one. The chunks of node k are
  // node_chunk[k] .. node_chunk[k + 1], and chunk c is node_blocks[chunk_begin[c] .. chunk_begin[c + 1]).
  uint32_t *node_begin, *node_blocks, *node_chunk, *chunk_begin;
  double *chunk_sums;
  // Rows of the same colour share no node that moves. Those of colour c are colour_rows[colour_begin[c] ..
  // colour_begin[c + 1]).
  size_t n_colours;
  uint32_t *colour_begin, *colour_rows;
  // NULL: each node moves alone. Set it before finishing. Gauss-Seidel does not know it; projected Jacobi
  // does.
  FloFollowFn follow;
  const void *follower;
  FloRowScratch scratch;
  FloBuffer buffers[FLO_ROW_BUFFERS];
} FloRows;

// ---- Building ----

void flo_rows_init(FloRows *rows, FloMemory *memory);
void flo_rows_free(FloRows *rows);
// Removes all rows and keeps the memory.
void flo_rows_clear(FloRows *rows);

// The index of the new row is the earlier n_rows.
FloStatus flo_rows_add(FloRows *rows, const FloRowDef *def, FloError *error);
// Adds a node to the last row; `j` has six numbers for each component. Blocks of the same node are added up.
FloStatus flo_rows_add_block(FloRows *rows, uint32_t node, const double *j, FloError *error);

// The numbers of J for the velocity of a point along a direction. The arm leads from the node's position to
// the point; the sign is -1 for the second of two bodies.
void flo_rows_point(const double direction[3], const double arm[3], double sign, double j[6]);
// The same for the three components of the velocity perpendicular to a normal: the sliding of the point.
void flo_rows_slide(const double normal[3], const double arm[3], double sign, double j[18]);

// After the last row: computes everything that follows from the blocks, the softness and the masses. The
// wanted velocities and bounds of rows may still be changed afterwards.
FloStatus flo_rows_finish(FloRows *rows, const FloNode *nodes, size_t n_nodes, int threads, FloError *error);

// M^-1 times a wrench, for one node. It must be linear, symmetric and positive semidefinite.
typedef void (*FloMobilityFn)(const void *context, size_t node, const double wrench[6], double out[6]);
// The same for nodes with any inverse mass matrix, such as that of a body with fluid that follows it.
FloStatus flo_rows_finish_with(FloRows *rows, FloMobilityFn mobility, const void *context, size_t n_nodes,
                               int threads, FloError *error);

// ---- Parts of finishing, in row_order.c ----

// Sorts blocks by node.
void flo_rows_sort(FloRows *rows);
// Gives each row its colour. `used` and `top` are scratch arrays with one number for each node.
void flo_rows_colour(FloRows *rows, uint64_t *used, uint32_t *top);
// The number of chunks of a list of that many blocks.
size_t flo_rows_chunks_of(size_t n_blocks);

// ---- One row ----

// J v + softness lambda - wanted. `own` are the row's multipliers.
void flo_row_error(const FloRows *rows, const FloRow *row, const double *velocities, const double *own,
                   double error[3]);
// Adds M^-1 J^T impulse to the velocities of its nodes.
void flo_row_push(const FloRows *rows, const FloRow *row, const double impulse[3], double *velocities);
// Moves the multipliers to the nearest ones within the bounds. Reads normal rows from `lambda`.
void flo_row_project(const FloRows *rows, const FloRow *row, const double *lambda, double own[3]);
// The choice of the row alone: own - error / response, within its bounds.
void flo_row_choose(const FloRows *rows, const FloRow *row, double response, const double error[3],
                    const double *lambda, const double *own, double chosen[3]);
// The length of a vector with the components of the row.
double flo_row_length(const FloRow *row, const double *vector);

// ---- All rows ----

// Moves all multipliers within their bounds, and those of rows that move nothing to zero.
void flo_rows_project(const FloRows *rows, int threads, double *lambda);
// velocities = start + M^-1 J^T lambda. They may be the same array.
void flo_rows_gather(const FloRows *rows, int threads, const double *start, const double *lambda,
                     double *velocities);
void flo_rows_errors(const FloRows *rows, int threads, const double *velocities, const double *lambda,
                     double *errors);
// The largest change of velocity that a row alone would still make: response times |lambda - P(lambda - error
// / response)|, where P applies the bounds. It is zero exactly at a solution. Papers call it the natural map.
double flo_rows_residual(const FloRows *rows, int threads, const double *velocities, const double *lambda);

#endif
