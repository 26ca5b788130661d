// For the files compiled once per instruction set: names that carry its suffix.
#ifndef FLO_SPH_WIDE_H
#define FLO_SPH_WIDE_H

#include "sph/real_wide.h"

#define FLO_JOIN_(a, b) a##_##b
#define FLO_JOIN(a, b)  FLO_JOIN_(a, b)
#define FLO_WIDE(name)  FLO_JOIN(name, FLO_ISA) // e.g. build_pairs_avx2
#define FLO_TEXT_(a)    #a
#define FLO_TEXT(a)     FLO_TEXT_(a)

#endif
