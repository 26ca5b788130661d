// A soft body: vertices with masses, joined by elements that resist changes of shape. A cloth or shell is
// made of triangles, in the plane of segments; a solid of tetrahedra, in the plane of triangles, or of
// particles.
//
// A step of elements is implicit Euler, so it is stable for any stiffness and any length of step:
//
//   M (v - v0) = impulses + dt F(x + dt v)
//
// found by Newton's method. The result does not depend on the number of iterations once they have converged.
// The matrix of the last iteration, A = M - dt dF/dv - dt^2 dF/dx made positive definite, tells how further
// impulses change velocities within the same step: by A^-1. Fluid, contacts and joints see the body through
// this response.
//
// A step: flo_soft_begin with the impulses that are known before (gravity, drag), flo_soft_respond as often
// as needed, flo_soft_end with the further impulses that were found.
#ifndef FLO_SOFT_SOFT_H
#define FLO_SOFT_SOFT_H

#include "geometry/mesh.h"
#include "solve/block_factor.h"

typedef struct FloSoft FloSoft;

// ---- Making: x is the state at rest. Positions are copied ----

FloStatus flo_soft_create(int dim, size_t n_vertices, const double *x, FloMemory *memory, FloSoft **soft,
                          FloError *error);
void flo_soft_destroy(FloSoft *soft, FloMemory *memory); // NULL is fine
// Adds elements and their masses. Triangles of cloth may meet in any number at an edge.
FloStatus flo_soft_add_cloth(FloSoft *soft, const uint32_t *triangles, size_t n_triangles,
                             const FloClothDef *cloth, FloError *error);
// In the plane: segments from vertex to vertex.
FloStatus flo_soft_add_strand(FloSoft *soft, const uint32_t *segments, size_t n_segments,
                              const FloClothDef *cloth, FloError *error);
// Tetrahedra, or in the plane triangles (plane strain).
FloStatus flo_soft_add_solid(FloSoft *soft, const uint32_t *elements, size_t n_elements, double density,
                             const FloElasticDef *elastic, FloError *error);
// Instead of elements: each vertex is a particle of this volume, and they lie about a cell from each other
// (particles.h). Its steps are explicit, each made of shorter ones, and the response is that of its masses.
FloStatus flo_soft_add_particles(FloSoft *soft, const double *volumes, double cell, double density,
                                 const FloElasticDef *elastic, FloError *error);
// Makes particles in regions of the present places rigid.
FloStatus flo_soft_stiffen(FloSoft *soft, const FloElasticDef *elastic, FloError *error);
// After all elements: finds the structure of the matrix.
FloStatus flo_soft_finish(FloSoft *soft, FloError *error);

// ---- State ----

size_t flo_soft_count(const FloSoft *soft);
double *flo_soft_positions(FloSoft *soft);  // three numbers each
double *flo_soft_velocities(FloSoft *soft); // three numbers each
const double *flo_soft_masses(const FloSoft *soft);
// A vertex that is fixed keeps the velocity that it has, whatever pushes it.
void flo_soft_fix(FloSoft *soft, size_t vertex, bool is_fixed);
// The same along some axes only: a rail, or a plane of symmetry.
void flo_soft_hold(FloSoft *soft, size_t vertex, const bool axes[3]);
bool flo_soft_is_fixed(const FloSoft *soft, size_t vertex);
// The impulse that a fixed vertex needed in the last step to keep its velocity.
void flo_soft_reaction(const FloSoft *soft, size_t vertex, double impulse[3]);
double flo_soft_energy(FloSoft *soft); // elastic, at the present positions [J]

// ---- The step ----

typedef struct FloSoftReport {
  int newton_iterations, solver_iterations, factorisations;
  double residual;    // of the momentum balance, relative to the largest term
  bool is_unbalanced; // the iterations ended before the residual was small
} FloSoftReport;

// Finds velocities with these impulses (three numbers for each vertex) and internal forces. Positions stay.
// `threads` changes only the speed.
FloStatus flo_soft_begin(FloSoft *soft, const double *impulses, double dt, int threads, FloSoftReport *report,
                         FloError *error);
// The longest step in which the response is exact. Particles make shorter steps within a longer one, and
// yield less to impulses than they say.
double flo_soft_longest_step(const FloSoft *soft);
// A^-1 times impulses; zero for fixed vertices. A may be that of an earlier step if it is still close.
void flo_soft_respond(const FloSoft *soft, const double *impulses, double *changes);
// Takes further impulses, for which the earlier response does not hold. Goes as far towards the velocities
// that it has for them as the potential of the step falls, and finds the response there.
FloStatus flo_soft_settle(FloSoft *soft, const double *impulses, double dt, int threads,
                          FloSoftReport *report, FloError *error);
// What the velocities after flo_soft_settle still lack of those that the new response has.
const double *flo_soft_ahead(const FloSoft *soft);
// The impulses of this step will not settle: its end goes no farther than the response leads.
void flo_soft_keep_rough(FloSoft *soft);
// Finds the velocities with further impulses and moves the vertices.
FloStatus flo_soft_end(FloSoft *soft, const double *impulses, double dt, int threads, FloSoftReport *report,
                       FloError *error);

// After the end: finds the end again with still more impulses. `from`: positions before the step.
FloStatus flo_soft_end_again(FloSoft *soft, const double *from, const double *impulses, double dt,
                             int threads, FloSoftReport *report, FloError *error);

// Drops what earlier steps left behind to make the next one faster. It then depends on positions, velocities
// and fixed vertices alone: call this when a state is saved, and after it was restored.
void flo_soft_forget(FloSoft *soft);

#endif
