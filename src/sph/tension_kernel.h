// Shape of the adhesion of Akinci, Akinci & Teschner 2013 (Versatile surface tension and adhesion for SPH
// fluids) over q = r/H. Their constant is left out; it follows from the adhesion that is wanted. Written over the type Real; include kernel.h first.
#ifndef FLO_SPH_TENSION_KERNEL_H
#define FLO_SPH_TENSION_KERNEL_H

// Their equation 7: the fourth root of -4 q^2 + 6 q - 2, which is negative outside of (1/2, 1).
REAL_INLINE Real tension_adhesion(Real q) {
  return real_sqrt(real_sqrt(kernel_plus((2 * q - 1) * (2 - 2 * q))));
}

#endif
