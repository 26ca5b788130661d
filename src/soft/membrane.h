// Triangles that resist stretch and shear in their plane.
#ifndef FLO_SOFT_MEMBRANE_H
#define FLO_SOFT_MEMBRANE_H

#include "soft/element.h"
#include "soft/sheet.h"

// The state at rest of a triangle, flattened: its corners in axes of the sheet.
typedef struct FloFlat {
  double corners[3][2]; // [m]
  double area;          // [m^2]
} FloFlat;

// Axes: the x axis of the body laid into the triangle, and the direction across. The prestretch is taken out.
void flo_flatten(const double *x, const uint32_t triangle[3], const double prestretch[2], FloFlat *flat);
FloStatus flo_soft_add_membrane(FloSoft *soft, const uint32_t *triangles, size_t n_triangles,
                                const FloSheet *sheet, FloError *error);

#endif
