// A mesh to be drawn: smooth where it is round, sharp where it has edges.
#ifndef FLO_RENDER_CREASED_H
#define FLO_RENDER_CREASED_H

#include "geometry/mesh.h"
#include "render/v3.h"

typedef struct FloCreased {
  FloMesh mesh;
  V3 *normals;      // three for each triangle, one at each corner
  FloBuffer sides;  // FloMeshSide, as flo_mesh_sort_sides makes them; empty unless the caller fills it
  bool is_borrowed; // it belongs to another body of the same shape
} FloCreased;

// Finds the normals of `mesh`, which the caller has filled. Release it with flo_creased_destroy, also after a
// failure.
FloStatus flo_creased_complete(FloCreased *, FloError *);
FloStatus flo_creased_create(const FloShape *shape, FloMemory *memory, FloCreased *, FloError *);
void flo_creased_destroy(FloCreased *);

#endif
