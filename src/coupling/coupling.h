// All coupling methods. state/method.h says what a method is.
#ifndef FLO_COUPLING_COUPLING_H
#define FLO_COUPLING_COUPLING_H

#include "state/method.h"

extern const FloMethod flo_wcsph, flo_monolithic, flo_direct_forcing, flo_constraint, flo_elastic,
    flo_unified;

const FloMethod *flo_coupling_find(const char *name); // NULL if there is none
// Whether a method of that name is planned, but not available yet.
bool flo_method_is_announced(const char *name);

#endif
