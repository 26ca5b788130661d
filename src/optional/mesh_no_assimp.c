// Built where assimp is not: says which formats can be read and how to read more.
#include "geometry/mesh_io.h"

FloStatus flo_mesh_read_other(const char *path, FloMesh *mesh, FloError *error) {
  (void)mesh;
  return flo_fail(error, FLO_UNSUPPORTED,
                  "%s: neither OBJ, STL nor PLY; convert it to one of them, or build Flotsam with "
                  "libassimp-dev, which reads more",
                  path);
}
