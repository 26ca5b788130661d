// The probes of a scene: their names and measurements.
#ifndef FLO_IO_PROBES_H
#define FLO_IO_PROBES_H

#include "io/body_files.h"

// The number of values of a scene's probes: three for a force or a torque, one for others.
size_t flo_probe_count(const FloScene *scene);
// The names of their columns in series.csv: flo_probe_count of them.
void flo_probe_names(const FloScene *scene, char (*names)[96]);
// Measures all probes in the current world; `bodies` are the current states of the scene's bodies.
void flo_probe_measure(const FloScene *scene, FloWorld *world, const FloFrameBody *bodies, double *values);
// The number of fluid particles outside of a soft body's surface (probe_outside.c); NaN without memory.
double flo_probe_outside(const FloWorld *world, const FloFrameBody *body, int dim);

#endif
