// Finds particles that fly alone. The surface around one would be as large as a particle; pictures show
// smaller balls instead.
#ifndef FLO_RENDER_SPRAY_H
#define FLO_RENDER_SPRAY_H

#include "flotsam/world.h"

// Marks the particles with at most `most` others within `reach` metres. Positions are n triples of finite
// numbers.
FloStatus flo_spray_mark(const double *positions, size_t n, double reach, size_t most, bool *is_alone,
                         FloError *error);

#endif
