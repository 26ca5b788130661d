// The rotation in a deformation.
#ifndef FLO_SOFT_ROTATION_H
#define FLO_SOFT_ROTATION_H

// The rotation R nearest to F: the one with the largest trace of R^T F. If F does not turn a body inside out,
// F = R S with a symmetric S. It depends on F alone. In the plane R turns about z.
void flo_rotation_in(int dim, const double f[9], double r[9]);

#endif
