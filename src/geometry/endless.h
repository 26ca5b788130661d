// Shapes and lattices without ends: they continue across the faces of a periodic domain.
#ifndef FLO_GEOMETRY_ENDLESS_H
#define FLO_GEOMETRY_ENDLESS_H

#include "base/domain.h"
#include "geometry/shapes.h"

// Whether a box, in its pose, is as long as the period of an axis, so that it has no ends there.
bool flo_shape_is_endless(const FloDomain *domain, const FloShape *shape, const FloPose *pose, int axis);

// Steps of a cubic lattice that is continuous across the periodic faces of the axes in `wraps`. It is
// stretched a little there, and squeezed as much along `up` or another free axis, so that there is still one
// point in every spacing^dim. Fails if the stretch would be too large.
FloStatus flo_fluid_lattice_fit(const FloDomain *domain, const bool wraps[3], int up, double spacing,
                                double step[3], FloError *error);

// Fills a box without ends along the axes in `wraps` by such a lattice, in the frame of the box.
FloStatus flo_shape_sample_endless(const FloShape *shape, const FloDomain *domain, const bool wraps[3],
                                   int up, double spacing, FloFluidPacking packing, FloPoints *points,
                                   FloError *error);

#endif
