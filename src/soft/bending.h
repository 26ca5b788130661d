// Bending of a sheet of triangles.
#ifndef FLO_SOFT_BENDING_H
#define FLO_SOFT_BENDING_H

#include "soft/element.h"
#include "soft/sheet.h"

FloStatus flo_soft_add_bending(FloSoft *soft, const uint32_t *triangles, size_t n_triangles,
                               const FloSheet *sheet, FloError *error);

#endif
