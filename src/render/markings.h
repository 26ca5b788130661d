// What is drawn over a picture to read motion off: arrows along the fluid's velocity, and the ways that
// bodies have come.
#ifndef FLO_RENDER_MARKINGS_H
#define FLO_RENDER_MARKINGS_H

#include "render/camera.h"
#include "render/solids.h"

// Fluid behind a solid has no arrow; traces are seen through everything, in the colours of their bodies.
FloStatus flo_markings_draw(const FloPictureInput *, const FloLens *, const FloSolids *, uint8_t *rgb,
                            FloError *);

#endif
