// Formulas between two particles. They take and return values and are written over the type Real; see
// kernel.h.
//
// A pair is known by  g = grad W_ij  (with respect to x_i)  and  d = 1/(F (r^2 + eta^2)),  F = W'(r)/r, eta^2
// = 0.01 (H/2)^2. From these follow, without the distance itself,
//   (v.x)/(r^2+eta^2) grad W = (v.g) d g        (the viscous projection), and
//   (x.grad W)/(r^2+eta^2)   = (g.g) d          (the SPH Laplacian weight).
#ifndef FLO_SPH_PAIR_H
#define FLO_SPH_PAIR_H

typedef struct PairVector {
  Real x, y, z;
} PairVector;

REAL_INLINE PairVector pair_difference(PairVector a, PairVector b) {
  return (PairVector){a.x - b.x, a.y - b.y, a.z - b.z};
}

REAL_INLINE Real pair_dot(PairVector a, PairVector b) {
  return real_fma(a.x, b.x, real_fma(a.y, b.y, a.z * b.z));
}

REAL_INLINE PairVector pair_add_scaled(PairVector sum, Real scale, PairVector a) {
  return (PairVector){real_fma(scale, a.x, sum.x), real_fma(scale, a.y, sum.y), real_fma(scale, a.z, sum.z)};
}

// Pressure force on i is this times g: -(p_i V_i^2 + p_j V_j^2), symmetric to the last bit, so momentum is
// conserved (Monaghan 1992, eq. 3.3, written with volumes as in Solenthaler & Pajarola 2008, so that
// densities may jump).
REAL_INLINE Real pair_pressure(Real pv2_i, Real pv2_j) { return -(pv2_i + pv2_j); }

// Viscous force on i is this times g. It acts along x_ij only and so conserves angular momentum too (Monaghan
// 2005, eq. 4.8 and 8.8). `always` is V0^2 2 (dim+2) mu, with rest volumes; `approaching` is added while the
// particles approach each other, which is Monaghan's artificial viscosity. v.g > 0 means approaching because
// g points from i towards j.
REAL_INLINE Real pair_viscosity(Real v_dot_g, Real d, Real always, Real approaching) {
  return (always + real_if_positive(v_dot_g, approaching, real_set(0))) * (v_dot_g * d);
}

// Square of the speed at which i and j approach each other; 0 if they do not. The number `tiny` keeps pairs
// without a gradient, which fill up lists, at 0.
REAL_INLINE Real pair_approach(PairVector v, PairVector g, Real tiny) {
  Real along = real_max(pair_dot(v, g), real_set(0));
  return along * along / real_max(pair_dot(g, g), tiny);
}

#endif
