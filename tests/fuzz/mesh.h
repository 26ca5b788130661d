// What the fuzz targets of all mesh readers do with their bytes.
#ifndef TEST_FUZZ_MESH_H
#define TEST_FUZZ_MESH_H

#include "geometry/mesh_io.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The parsed mesh is welded, inspected, repaired and weighed; none of that may fail.
static inline void use_mesh(FloMesh *mesh) {
  FloError error;
  FloMeshReport report;
  FloMassProperties mass;
  char text[300];
  if (flo_mesh_weld(mesh, &error) != FLO_OK || flo_mesh_inspect(mesh, &report, &error) != FLO_OK ||
      flo_mesh_repair(mesh, NULL, &error) != FLO_OK)
    abort();
  flo_mesh_describe_problems(&report, text, sizeof text);
  flo_mesh_mass(mesh, 1000, &mass);
  flo_mesh_shell_mass(mesh, 1000, 0.001, &mass);
}

typedef FloStatus ParseFn(const char *name, const unsigned char *data, size_t size, FloMesh *mesh,
                          FloError *error);

static inline int fuzz_mesh(ParseFn *parse, const uint8_t *data, size_t size) {
  FloMemory memory;
  FloMesh mesh;
  FloError error;
  flo_memory_init(&memory, NULL);
  flo_mesh_init(&mesh, &memory);
  if (parse("input", data, size, &mesh, &error) == FLO_OK) use_mesh(&mesh);
  flo_mesh_free(&mesh);
  if (memory.bytes != 0) abort();
  return 0;
}

#endif
