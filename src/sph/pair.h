// Formulas between two particles. They take and return values and are written over the type Real; see
// kernel.h.
//
// A pair is known by  g = grad W_ij  (with respect to x_i)  and  d = 1/(F l^2),  F = W'(r)/r, where l is a
// length of the kernel. From these follows, without the distance itself, the viscous projection
//   (v.x)/l^2 grad W = (v.g) d g.
// Monaghan has r^2 + eta^2 in place of l^2. Then the particles of a lattice feel shear along its axes by a
// third too weakly and across them by a third too strongly, since only few of their neighbours stand
// diagonally. With a constant these have more weight, and shear is felt within a few percent in all
// directions. l^2 = (dim+2)/dim times the mean of r^2 over the kernel makes the integral over all neighbours
// the same.
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

// A force on i of f times g has the virial x_ij . f g = f l^2 times this.
REAL_INLINE Real pair_virial(PairVector g, Real d) { return d * pair_dot(g, g); }

// Viscous force on i is this times g. It acts along x_ij only and so conserves angular momentum too (after
// Monaghan 2005, eq. 8.8). `strength` is V0^2 2 (dim+2) mu, with rest volumes.
REAL_INLINE Real pair_viscosity(Real v_dot_g, Real d, Real strength) { return strength * (v_dot_g * d); }

// What acts between particles of two fluids whose own values are a and b: the harmonic mean. So shear stress
// is continuous where two fluids meet (Cleary & Monaghan 1999), and a light particle beside a heavy one is
// not braked as if it were heavy. The order does not change a bit of it, so that momentum is conserved. The
// number `tiny` is for two zeros.
REAL_INLINE Real pair_mean(Real a, Real b, Real tiny) {
  const Real most = real_max(a, b), least = -real_max(-a, -b);
  return 2 * least * (most / real_max(a + b, tiny));
}

// l^2/(r^2 + eta^2) with eta^2 = 0.01 (H/2)^2. It turns the viscous projection into that of Monaghan's
// artificial viscosity (2005, eq. 4.8). `length2` is l^2, `least` is eta^2/l^2.
REAL_INLINE Real pair_closeness(PairVector g, Real d, Real length2, Real least) {
  PairVector x = {g.x * d, g.y * d, g.z * d}; // x_ij/l^2
  return 1 / real_fma(length2, pair_dot(x, x), least);
}

// The strength between particles of which `approaching` acts only while they approach each other: artificial
// viscosity. v.g > 0 means approaching because g points from i towards j.
REAL_INLINE Real pair_strength(Real v_dot_g, Real always, Real approaching) {
  return always + real_if_positive(v_dot_g, approaching, real_set(0));
}

// Square of the speed at which i and j approach each other; 0 if they do not. The number `tiny` keeps pairs
// without a gradient, which fill up lists, at 0.
REAL_INLINE Real pair_approach(PairVector v, PairVector g, Real tiny) {
  Real along = real_max(pair_dot(v, g), real_set(0));
  return along * along / real_max(pair_dot(g, g), tiny);
}

#endif
