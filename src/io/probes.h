// The probes of a scene: what they are called and what they measure.
#ifndef FLO_IO_PROBES_H
#define FLO_IO_PROBES_H

#include "io/body_files.h"

// How many numbers the probes of a scene give: three for a force or a torque, one for others.
size_t flo_probe_count(const FloScene *scene);
// Their names, as they head the columns of series.csv: flo_probe_count of them.
void flo_probe_names(const FloScene *scene, char (*names)[96]);
// Measures all probes in the world as it is; `bodies` are the scene's, as they are now.
void flo_probe_measure(const FloScene *scene, FloWorld *world, const FloFrameBody *bodies, double *values);

#endif
