// Bodies that change their shape, as triangles and edges of a picture.
//
// A cloth has checks that are fixed to its material, so that they show where it is stretched.
#ifndef FLO_RENDER_SOFT_SOLIDS_H
#define FLO_RENDER_SOFT_SOLIDS_H

#include "render/creased.h"
#include "render/solids.h"

// Whether a frame has the surface of the body.
bool flo_soft_is_shown(const FloFrameBody *placed);
// Finds the triangles of a solid and their normals: it may have edges, and in the plane it is the area inside
// its border. The mesh has been made ready.
FloStatus flo_soft_crease(const FloFrameBody *body, FloCreased *, FloError *);
// Adds the surface, moved by `shift`. It is smooth, or has the edges of `creased`, if that has normals.
// Arrays of `out` are NULL while it is only counted. If it is outlined, only the sides of its triangles are
// drawn. In 2D its border is drawn, and inside a solid the area.
void flo_soft_add(const FloFrameBody *body, uint32_t owner, V3 shift, bool is_outlined,
                  const FloCreased *creased, FloSolids *out);
// The length of a check [m]; 0: the body has none.
float flo_soft_check(const FloSceneBody *body, const FloFrameBody *placed);
// The share of its colour that a point of a triangle has.
float flo_solids_shade(const FloSolids *, uint32_t triangle, float u, float v);

#endif
