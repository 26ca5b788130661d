// Scenes as glTF 2.0 in one binary file (.glb): meshes, materials, cameras, and nodes that move by keyframes.
//
//   flo_gltf_create("A title", 2, &gltf, &error);
//   flo_gltf_add_material, flo_gltf_add_mesh, flo_gltf_add_node, flo_gltf_add_camera, in this order;
//   flo_gltf_set_times, then flo_gltf_animate for each node that moves;
//   flo_gltf_write(gltf, stream, path, &error);
//   flo_gltf_destroy(gltf);
//
// One root node rotates the scene's up axis to y, which is up in glTF. Units are metres and seconds;
// quaternions have their scalar last.
#ifndef FLO_IO_GLTF_H
#define FLO_IO_GLTF_H

#include "flotsam/world.h"

#include <stdio.h>

typedef struct FloGltf FloGltf;

typedef struct FloGltfMaterial {
  const char *name;
  float colour[4]; // linear RGB and opacity
  float metallic, roughness;
  bool has_two_sides; // visible from behind too
} FloGltfMaterial;

// Triangles run counter-clockwise seen from outside.
typedef struct FloGltfMesh {
  const char *name;
  const float *positions, *normals; // triples, all finite; if normals are NULL, faces are shaded flat
  size_t n_vertices;
  const uint32_t *triangles; // three vertices each
  size_t n_triangles;
  size_t material;
} FloGltfMesh;

typedef struct FloGltfCamera {
  const char *name;
  bool is_flat; // parallel rays
  double half_width,
      half_height;  // half the size of the picture: tangents of half the angles, or metres if flat
  double near, far; // [m]
  FloPose pose;     // the camera looks along its -z axis; its y axis is up
} FloGltfCamera;

// `up` is the axis that points up: 0, 1 or 2.
FloStatus flo_gltf_create(const char *title, int up, FloGltf **gltf, FloError *error);
void flo_gltf_destroy(FloGltf *gltf); // NULL is fine

// Each returns an index from 0. Equal materials and triangles are stored once. Values that are not finite are
// bad input, except poses of nodes: such a node is placed at the origin.
FloStatus flo_gltf_add_material(FloGltf *gltf, const FloGltfMaterial *material, size_t *index,
                                FloError *error);
FloStatus flo_gltf_add_mesh(FloGltf *gltf, const FloGltfMesh *mesh, size_t *index, FloError *error);
FloStatus flo_gltf_add_node(FloGltf *gltf, const char *name, size_t mesh, const FloPose *pose, size_t *index,
                            FloError *error);
FloStatus flo_gltf_add_camera(FloGltf *gltf, const FloGltfCamera *camera, FloError *error);

// Sets the times of all keyframes [s]. Times that are not later than the one before, as floats, are left out.
FloStatus flo_gltf_set_times(FloGltf *gltf, const double *times, size_t n, FloError *error);
// Moves a node through `n` poses at these times, `stride` apart in the array; in between it follows straight
// lines and shortest arcs. A pose that is not finite is replaced by the one before. A position or rotation
// that does not change gets no keyframes.
FloStatus flo_gltf_animate(FloGltf *gltf, size_t node, const FloPose *poses, size_t stride, size_t n,
                           FloError *error);

// Shows a node from time `number` until the next one only: its scale changes between 0 and 1 without steps in
// between. The format has no meshes whose triangles change, so that each time has a node of its own.
FloStatus flo_gltf_show(FloGltf *gltf, size_t node, size_t number, FloError *error);

// The vertices of a mesh at all these times, one time after the other: triples in the order of the mesh,
// which has those of the first time.
typedef struct FloGltfShapes {
  const float *positions, *normals; // normals may be NULL
  size_t n_vertices, n;
} FloGltfShapes;
// Changes the shape of a node's mesh with morph targets, one for each time but the first; in between,
// vertices follow straight lines.
FloStatus flo_gltf_morph(FloGltf *gltf, size_t node, size_t mesh, const FloGltfShapes *shapes,
                         FloError *error);

// `path` is used in messages. The format cannot hold more than 4 GiB; a larger file is refused before
// anything is written.
FloStatus flo_gltf_write(const FloGltf *gltf, FILE *stream, const char *path, FloError *error);

#endif
