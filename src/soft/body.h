// What a soft body holds.
#ifndef FLO_SOFT_BODY_H
#define FLO_SOFT_BODY_H

#include "soft/element.h"
#include "soft/particles.h"

struct FloSoft {
  FloMemory *memory;
  int dim;
  size_t n;                    // vertices
  double *x, *v;               // present positions and velocities
  double *mass;                // [kg]
  bool *fixed;                 // along all axes
  uint8_t *held;               // axes along which a vertex is fixed, as bits
  FloList groups;              // FloSoftGroup
  FloSoftParticles *particles; // instead of groups; or NULL
  FloList arrays;              // FloBuffer: all arrays of the body
  double cell;                 // shortest distance that matters: the mean size of elements [m]
  FloBlockMatrix matrix;       // mass + dt^2 stiffness
  FloBlockFactor *factor;
  bool is_factored;   // the factor is near the matrix
  bool is_rough;      // the impulses of the step have not settled
  bool is_refixed;    // vertices were fixed or freed since the last step
  double factored_dt; // [s]
  // Of the step. Three numbers for each vertex, if not said otherwise:
  double dt;        // [s]; 0: no step has begun
  double *start;    // velocities at its start
  double *impulses; // all that were given
  double *gradient; // of the potential by velocity: the impulse that is missing
  double *trial;    // positions at its end
  double *way;      // change of velocities in one iteration
  double *reaction; // impulses on fixed vertices in the last step
  double *ahead;    // change of velocities that impulses which were given still lead to
  double *room;     // of conjugate gradients
  double *size;     // one number each: largest terms of the balance
};

// An array of zeros that lives as long as the body.
FloStatus flo_soft_array(FloSoft *soft, size_t n, size_t element_size, void *array, FloError *error);
static inline size_t flo_soft_n_groups(const FloSoft *soft) { return soft->groups.count; }
static inline FloSoftGroup *flo_soft_group(const FloSoft *soft, size_t k) {
  return FLO_LIST(soft->groups, FloSoftGroup) + k;
}

static inline bool flo_soft_is_held(const FloSoft *soft, size_t component) {
  return soft->held[component / 3] >> component % 3 & 1;
}

// Tells elements which vertices are fixed, if that has changed.
void flo_soft_refix(FloSoft *soft);
// Makes a symmetric matrix of n <= 9 rows, stored in full, positive semidefinite.
void flo_make_semidefinite(int n, double *matrix);

#endif
