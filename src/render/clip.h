// Cuts solids off at planes across an axis. In a box that repeats, a body is drawn only inside the box.
#ifndef FLO_RENDER_CLIP_H
#define FLO_RENDER_CLIP_H

#include "render/solids.h"

// Keeps what lies between low and high along the axis. After a failure the solids are unchanged or cut at one
// of the two planes; they can be destroyed.
FloStatus flo_solids_clip(FloSolids *, int axis, float low, float high, FloError *);

#endif
