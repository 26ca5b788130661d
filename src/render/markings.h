// Markings over pictures: arrows along the fluid's velocity, the traces of bodies, and joints.
#ifndef FLO_RENDER_MARKINGS_H
#define FLO_RENDER_MARKINGS_H

#include "render/camera.h"
#include "render/solids.h"

// Fluid behind a solid has no arrow. Traces are drawn over everything, in the colours of their bodies.
FloStatus flo_markings_draw(const FloPictureInput *, const FloLens *, const FloSolids *, uint8_t *rgb,
                            FloError *);

#endif
