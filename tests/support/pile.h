// Bodies as nodes, and contacts among them as rows: what tests of the row solvers are made of.
#ifndef TEST_SUPPORT_PILE_H
#define TEST_SUPPORT_PILE_H

#include "solve/gauss_seidel.h"
#include "solve/jacobi.h"
#include "support/check.h"
#include "support/random.h"

enum { PILE_NODES = 4096 };

typedef struct Pile {
  FloMemory memory;
  FloRows rows;
  FloNode nodes[PILE_NODES];
  size_t n_nodes;
  double *lambda, *velocities;
} Pile;

static inline Pile *pile_create(void) {
  Pile *pile = calloc(1, sizeof *pile);
  flo_memory_init(&pile->memory, NULL);
  flo_rows_init(&pile->rows, &pile->memory);
  return pile;
}

static inline void pile_destroy(Pile *pile) {
  flo_rows_free(&pile->rows);
  assert_int_equal(pile->memory.bytes, 0);
  free(pile->lambda), free(pile->velocities), free(pile);
}

// A solid box of edges 1 m; mass 0: it is held.
static inline uint32_t pile_add_cube(Pile *pile, double mass, double x, double y, double z) {
  assert_true(pile->n_nodes < PILE_NODES);
  FloNode *node = &pile->nodes[pile->n_nodes];
  *node = (FloNode){.mass = mass, .position = {x, y, z}};
  for (int axis = 0; axis < 3 && mass > 0; ++axis)
    node->inverse_mass[axis] = 1 / mass, node->inverse_inertia[4 * axis] = 6 / mass;
  return (uint32_t)pile->n_nodes++;
}

static inline void pile_add_block(Pile *pile, uint32_t node, const double *j) {
  FloError error;
  assert_ok(flo_rows_add_block(&pile->rows, node, j, &error), &error);
}

static inline uint32_t pile_add_row(Pile *pile, const FloRowDef *def) {
  FloError error;
  assert_ok(flo_rows_add(&pile->rows, def, &error), &error);
  return (uint32_t)pile->rows.n_rows - 1;
}

// Two nodes at a point: the velocity of the first against the second, along a direction.
static inline uint32_t pile_link(Pile *pile, const FloRowDef *def, uint32_t a, uint32_t b,
                                 const double point[3], const double direction[3]) {
  uint32_t row = pile_add_row(pile, def), both[] = {a, b};
  for (int k = 0; k < 2; ++k) {
    double arm[3], j[18];
    vec_sub(point, pile->nodes[both[k]].position, arm);
    if (def->width == 1) flo_rows_point(direction, arm, k ? -1 : 1, j);
    if (def->width == 3) flo_rows_slide(direction, arm, k ? -1 : 1, j);
    pile_add_block(pile, both[k], j);
  }
  return row;
}

// The normal leads from b to a. Returns the normal row; that of friction is the next one.
static inline uint32_t pile_touch(Pile *pile, uint32_t a, uint32_t b, const double point[3],
                                  const double normal[3], double friction) {
  FloRowDef press = flo_default_row_def(), drag = press;
  press.low = 0;
  uint32_t row = pile_link(pile, &press, a, b, point, normal);
  drag.width = 3, drag.normal = row, drag.friction = friction;
  if (friction > 0) pile_link(pile, &drag, a, b, point, normal);
  return row;
}

// Cube a stands on b: at four corners, a bit inside.
static inline void pile_stand(Pile *pile, uint32_t a, uint32_t b, double friction) {
  const double *at = pile->nodes[a].position, up[3] = {0, 0, 1};
  for (int corner = 0; corner < 4; ++corner) {
    const double point[3] = {at[0] + (corner & 1 ? 0.5 : -0.5), at[1] + (corner & 2 ? 0.5 : -0.5),
                             at[2] - 0.5};
    pile_touch(pile, a, b, point, up, friction);
  }
}

// No impulses, and the nodes' velocities with what gravity adds to those that move.
static inline void pile_begin(Pile *pile, const double gravity_dt[3]) {
  pile->lambda = realloc(pile->lambda, (pile->rows.n_components + 1) * sizeof(double));
  pile->velocities = realloc(pile->velocities, 6 * (pile->n_nodes + 1) * sizeof(double));
  memset(pile->lambda, 0, (pile->rows.n_components + 1) * sizeof(double));
  for (size_t k = 0; k < pile->n_nodes; ++k) {
    const FloNode *node = &pile->nodes[k];
    double *v = pile->velocities + 6 * k, falls = node->inverse_mass[0] > 0 ? 1 : 0;
    vec_add_scaled(node->velocity, gravity_dt, falls, v);
    vec_copy(node->angular_velocity, v + 3);
  }
}

static inline void pile_finish(Pile *pile, const double gravity_dt[3]) {
  FloError error;
  assert_ok(flo_rows_finish(&pile->rows, pile->nodes, pile->n_nodes, 1, &error), &error);
  pile_begin(pile, gravity_dt);
}

// ---- Solvers ----

enum { GAUSS_SEIDEL, CONJUGATE_GAUSS_SEIDEL, JACOBI, CONJUGATE_JACOBI, N_SOLVERS };
static const char *const solver_names[] = {"Gauss-Seidel", "conjugate Gauss-Seidel", "Jacobi",
                                           "conjugate Jacobi"};

static inline FloSolveReport pile_solve_with(Pile *pile, int solver, int threads, double tolerance,
                                             int most) {
  FloNncgLimits limits = {.tolerance = tolerance, .max_iterations = most};
  limits.is_conjugate = solver == CONJUGATE_GAUSS_SEIDEL || solver == CONJUGATE_JACOBI;
  bool is_jacobi = solver == JACOBI || solver == CONJUGATE_JACOBI;
  return (is_jacobi ? flo_jacobi : flo_gauss_seidel)(&pile->rows, threads, &limits, pile->lambda,
                                                     pile->velocities);
}

// Closely, whatever it takes.
static inline FloSolveReport pile_solve(Pile *pile, int solver) {
  FloSolveReport report = pile_solve_with(pile, solver, 1, 1e-12, 100000);
  if (report.iterations == 100000) print_error("%s did not converge\n", solver_names[solver]);
  assert_true(report.iterations < 100000);
  return report;
}

#endif
