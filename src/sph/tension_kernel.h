// Shapes of the attractive forces of Akinci, Akinci & Teschner 2013 (Versatile surface tension and adhesion
// for SPH fluids) over q = r/H. Their constants are left out; they follow from the surface tension that is
// wanted. Written over the type Real; include kernel.h first.
#ifndef FLO_SPH_TENSION_KERNEL_H
#define FLO_SPH_TENSION_KERNEL_H

// Their equation 2: (1-q)^3 q^3 beyond q = 1/2, twice that less 1/64 below. Attracts, but pushes apart what
// is nearer than q = 0.28, so that particles do not cluster.
REAL_INLINE Real tension_cohesion(Real q) {
  Real a = kernel_plus(1 - q) * q, a3 = a * a * a;
  return a3 + real_if_positive(0.5f - q, a3 - 1.0f / 64, real_set(0));
}

// Second derivatives of poly6, w = (1-q^2)^3: times a vector they are  all v + along (v.x) x  with the unit
// vector x between the particles.
typedef struct TensionCurvature {
  Real all, along;
} TensionCurvature;

REAL_INLINE TensionCurvature tension_curvature(Real q) {
  Real q2 = q * q, a = kernel_plus(1 - q2);
  return (TensionCurvature){-6 * a * a, 24 * q2 * a};
}

// Their equation 7: the fourth root of -4 q^2 + 6 q - 2, which is negative outside of (1/2, 1).
REAL_INLINE Real tension_adhesion(Real q) {
  return real_sqrt(real_sqrt(kernel_plus((2 * q - 1) * (2 - 2 * q))));
}

#endif
