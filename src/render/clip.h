// Cuts solids off at planes across an axis: in a box that repeats, a body is drawn inside the box only.
#ifndef FLO_RENDER_CLIP_H
#define FLO_RENDER_CLIP_H

#include "render/solids.h"

// Keeps what lies between low and high along the axis. On failure the solids are as they were, or cut at one
// of the two planes; they can be destroyed.
FloStatus flo_solids_clip(FloSolids *, int axis, float low, float high, FloError *);

#endif
