// The space of a world: two or three dimensions, along some of which it repeats.
#ifndef FLO_BASE_DOMAIN_H
#define FLO_BASE_DOMAIN_H

#include "base/vecmath.h"

typedef struct FloDomain {
  int dim;
  bool periodic[3];
  double low[3], high[3]; // [m] of the repeating box; read on periodic axes only
} FloDomain;

// The image of x, across the faces of a periodic domain, that is nearest to a centre.
static inline void flo_domain_nearest_image(const FloDomain *domain, const double centre[3],
                                            const double x[3], double image[3]) {
  vec_copy(x, image);
  for (int axis = 0; axis < domain->dim; ++axis) {
    if (!domain->periodic[axis]) continue;
    double period = domain->high[axis] - domain->low[axis];
    image[axis] -= period * round((x[axis] - centre[axis]) / period);
  }
}

// The vector from a point to the nearest image of x.
static inline void flo_domain_between(const FloDomain *domain, const double from[3], const double x[3],
                                      double out[3]) {
  double image[3];
  flo_domain_nearest_image(domain, from, x, image);
  vec_sub(image, from, out);
}

#endif
