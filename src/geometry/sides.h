// Which sides of a mesh's triangles are long enough for samples between their ends.
#ifndef FLO_GEOMETRY_SIDES_H
#define FLO_GEOMETRY_SIDES_H

#include "geometry/mesh.h"

#define FLO_LONGEST_STEP 1.3 // between samples, in spacings

// Bits of triangles: long sides; whether one is very long; long sides whose middle has the corners so near
// that it cannot become a sample if these are samples.
enum { FLO_ALL_SIDES = 7, FLO_IS_LARGE = 8, FLO_FIRST_CROWDED = 4 };

typedef struct FloSideSurvey {
  bool has_long;     // sides
  bool has_spacious; // ones, that is long and not crowded
  bool has_roomy;    // triangles, with three long sides
  double n_expected; // samples, about
} FloSideSurvey;

// Fills one byte per vertex, not 0 if a triangle uses it, and one per triangle with its bits.
FloSideSurvey flo_sides_survey(const FloMesh *mesh, double spacing, uint8_t *is_used, uint8_t *sides);

#endif
