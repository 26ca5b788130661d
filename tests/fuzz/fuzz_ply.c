// Fuzz target: any bytes as a PLY file, and all that is done with a mesh that came out of them.
#include "mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz_mesh(flo_mesh_parse_ply, data, size);
}
