// The wide passes of one instruction set, before they are put into a table.
#ifndef FLO_SPH_WIDE_PASSES_H
#define FLO_SPH_WIDE_PASSES_H

#include "sph/passes.h"
#include "sph/wide.h"

void FLO_WIDE(build_pairs)(FloPairs *, const FloPairsSpec *, FloPairSlab *slab, size_t begin, size_t end);
void FLO_WIDE(refill_pairs)(FloPairs *, const FloPairsSpec *, FloPairSlab *slab, size_t begin, size_t end);
void FLO_WIDE(fluid_forces)(const FloFluidForces *, size_t begin, size_t end);
void FLO_WIDE(solid_forces_on_fluid)(const FloSolidForces *, size_t begin, size_t end);
void FLO_WIDE(fluid_forces_on_solid)(const FloSolidForces *, size_t begin, size_t end);
void FLO_WIDE(gradient)(const FloSweep *, size_t begin, size_t end);
void FLO_WIDE(divergence)(const FloSweep *, size_t begin, size_t end);
void FLO_WIDE(square)(const FloSweep *, size_t begin, size_t end);
void FLO_WIDE(approach)(const FloApproach *, size_t begin, size_t end);
void FLO_WIDE(normals)(const FloNormals *, size_t begin, size_t end);
void FLO_WIDE(cohesion)(const FloCohesion *, size_t begin, size_t end);
void FLO_WIDE(adhesion)(const FloAdhesion *, size_t begin, size_t end);
void FLO_WIDE(stress)(const FloStress *, size_t begin, size_t end);
void FLO_WIDE(sum_change)(const FloSumChange *, size_t begin, size_t end);
float FLO_WIDE(links_rate)(const FloLink *, size_t n, const float *velocity);
void FLO_WIDE(links_push)(const FloLink *, size_t n, float impulse, float *velocity);
float FLO_WIDE(links_response)(const FloLink *, size_t n, const float *velocity);
void FLO_WIDE(link_block)(const FloPairs *, size_t block, float scale, FloLink *const rows[FLO_BLOCK]);
void FLO_WIDE(relax)(const FloLinkedRows *, FloRowGroup group);

#endif
