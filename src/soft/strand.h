// A sheet seen from its edge, in the plane: segments that stretch, vertices that bend.
#ifndef FLO_SOFT_STRAND_H
#define FLO_SOFT_STRAND_H

#include "soft/element.h"
#include "soft/sheet.h"

FloStatus flo_soft_add_segments(FloSoft *soft, const uint32_t *segments, size_t n_segments,
                                const FloSheet *sheet, FloError *error);
FloStatus flo_soft_add_knees(FloSoft *soft, const uint32_t *segments, size_t n_segments,
                             const FloSheet *sheet, FloError *error);

#endif
