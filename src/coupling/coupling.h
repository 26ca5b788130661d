// The coupling methods that there are; what a method is stands in state/method.h.
#ifndef FLO_COUPLING_COUPLING_H
#define FLO_COUPLING_COUPLING_H

#include "state/method.h"

extern const FloMethod flo_wcsph, flo_monolithic, flo_direct_forcing;

const FloMethod *flo_coupling_find(const char *name); // NULL if there is none
// Whether a method of that name is known from its paper, and not there yet.
bool flo_method_is_announced(const char *name);

#endif
