// An elastic solid as particles: corotated SPH, an alternative to elements (solid.h).
//
// Becker, Ihmsen & Teschner 2009, whose form Shao et al. 2014 use as (11) and (12), with a gradient that is
// exact for linear deformations, and an energy from which all forces follow. The neighbours of a particle
// are those in the state at rest, for ever. With X the places at rest, X_ij = X_j - X_i, and in the same way
// x_ij of the present places:
//
//   c_ij = V_i V_j |W'|/|X_ij|             symmetric weights
//   M_i  = sum_j c_ij X_ij X_ij^T / V_i    near 1 inside of a body
//   F_i  = sum_j c_ij x_ij X_ij^T M_i^-1 / V_i
//
// F is the linear deformation that is nearest to all neighbours, weighted by c. The energy is
//
//   U = sum_i V_i (mu |F_i - R_i|^2 + lambda/2 tr(R_i^T F_i - 1)^2)
//     + zeta E/(2 dim) sum_i sum_j c_ij |x_ij - F_i X_ij|^2,
//
// with R the rotation in F (rotation.h). The second part resists what F does not see: neighbours that leave
// the linear deformation, as in a checkerboard (after Ganzenmueller 2015). F is a least-squares fit with the
// same weights, so the derivative of the second part by F is zero, and the forces are sums over pairs:
//
//   f_i = sum_j c_ij ((Q_i + Q_j) X_ij + 2 zeta E/dim x_ij),    Q = P M^-1 - zeta E/dim F,
//   P   = R (2 mu (R^T F - 1) + lambda tr(R^T F - 1)).
//
// They are opposite for i and j, and U does not feel rigid motion: linear and angular momentum are conserved.
// Friction acts along the line of centres, so it does not feel rigid motion either.
#ifndef FLO_SOFT_PARTICLES_H
#define FLO_SOFT_PARTICLES_H

#include "soft/soft.h"

typedef struct FloSoftParticles {
  int dim;
  size_t n;
  bool is_plain;       // the form of the paper: no M^-1, no second part of the energy
  double support;      // [m]
  double mu, lambda;   // [Pa]
  double hold;         // zeta E/dim [Pa]
  double friction;     // of pairs [Pa s]
  double pace, slow;   // largest eigenvalues: squared frequency [1/s^2], rate of friction [1/s]
  double *rest;        // places, three numbers each [m]
  double *volumes;     // [m^3], in the plane [m^2]
  double *corrections; // M^-1, nine numbers each; if plain, M
  size_t *begin;       // neighbours of particle k: begin[k] .. begin[k + 1]
  uint32_t *others;
  double *weights;  // c of each neighbour
  double *stresses; // Q, nine numbers each
  double *energies; // [J]
  double *forces;   // three numbers each [N]
  // A step, three numbers each:
  double *end, *end_v; // places and velocities at its end
  double *drift;       // places before a move
  // Parts that are rigid: particles part_items[part_begin[k]] .. part_items[part_begin[k + 1]].
  size_t n_parts, *part_begin;
  uint32_t *part_items;
} FloSoftParticles;

// ---- Making (particles.c) ----

// Finds neighbours and corrections. All arrays live as long as the body.
FloStatus flo_particles_make(FloSoft *soft, const double *volumes, double cell, const FloElasticDef *elastic,
                             FloSoftParticles *particles, FloError *error);

// ---- Forces (particle_forces.c) ----

// Finds particles->forces at these places and velocities.
void flo_particles_push(FloSoftParticles *particles, const double *x, const double *v, int threads);
double flo_particles_energy(FloSoftParticles *particles, const double *x, int threads);
// Finds the largest eigenvalues for a body with these masses at rest.
FloStatus flo_particles_find_pace(FloSoftParticles *particles, const double *masses, FloMemory *memory,
                                  FloError *error);

// ---- Rigid parts (particle_parts.c) ----

// Gives the particles of each rigid part the one motion that has the same momentum and angular momentum. A
// part of which a particle is held moves like that one, without turning.
void flo_particles_unite(const FloSoft *soft, const double *x, double *v);
// Moves all particles for dt; rigid parts turn.
void flo_particles_drift(const FloSoft *soft, double dt, double *x, double *v);

// ---- A step (particle_step.c) ----
//
// All impulses act at its start. Then come shorter steps of symplectic Euler, as long as is stable. Until
// its end the velocities of the body are means over the whole step, so that they tell where it will be.

// One such shorter step may be as long as this [s].
double flo_particles_longest_step(const FloSoftParticles *particles);

FloStatus flo_particles_begin(FloSoft *soft, const double *impulses, double dt, int threads, FloError *error);
FloStatus flo_particles_settle(FloSoft *soft, const double *impulses, int threads, FloError *error);
FloStatus flo_particles_end(FloSoft *soft, const double *impulses, int threads, FloError *error);

#endif
