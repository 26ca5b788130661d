// A mesh to be drawn: smooth where it is round, sharp where it has edges.
#ifndef FLO_RENDER_CREASED_H
#define FLO_RENDER_CREASED_H

#include "geometry/mesh.h"
#include "render/v3.h"

typedef struct FloCreased {
  FloMesh mesh;
  V3 *normals; // three for each triangle, one at each corner
} FloCreased;

FloStatus flo_creased_create(const FloShape *shape, FloMemory *memory, FloCreased *, FloError *);
void flo_creased_destroy(FloCreased *);

#endif
