// Elastic solids.
#ifndef FLO_SOFT_SOLID_H
#define FLO_SOFT_SOLID_H

#include "soft/element.h"

// The elements must have volume.
FloStatus flo_soft_add_volume(FloSoft *soft, const uint32_t *elements, size_t n_elements,
                              const FloElasticDef *elastic, FloError *error);

#endif
