// Which sides of a mesh's triangles are long enough for samples between their ends.
#ifndef FLO_GEOMETRY_SIDES_H
#define FLO_GEOMETRY_SIDES_H

#include "geometry/mesh.h"

#define FLO_LONGEST_STEP 1.3 // longest step between samples, in spacings

// Bits of a triangle. The three lowest: sides that are long. FLO_IS_LARGE: one side is very long. From bit
// FLO_FIRST_CROWDED on: long sides whose middle is too near to the corners to become a sample if all corners
// are samples.
enum { FLO_ALL_SIDES = 7, FLO_IS_LARGE = 8, FLO_FIRST_CROWDED = 4 };

typedef struct FloSideSurvey {
  bool has_long;     // there are long sides
  bool has_spacious; // there are long sides that are not crowded
  bool has_roomy;    // there are triangles with three long sides
  double n_expected; // expected number of samples
} FloSideSurvey;

// Fills one byte per vertex, which is not 0 if a triangle uses it, and one byte per triangle with its bits.
FloSideSurvey flo_sides_survey(const FloMesh *mesh, double spacing, uint8_t *is_used, uint8_t *sides);

#endif
