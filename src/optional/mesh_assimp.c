// All formats Flotsam does not read itself, by assimp: every mesh of the scene, placed by its nodes.
#include "geometry/mesh_io.h"

#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <string.h>

// Nodes deeper than this are a damaged file.
enum { MAX_DEPTH = 200 };

typedef struct Import {
  const char *path;
  const struct aiScene *scene;
  FloMesh *mesh;
  FloError *error;
} Import;

static FloStatus add_vertices(const Import *import, const struct aiMesh *part,
                              const struct aiMatrix4x4 *place) {
  for (unsigned k = 0; k < part->mNumVertices; ++k) {
    struct aiVector3D v = part->mVertices[k];
    aiTransformVecByMatrix4(&v, place);
    const double point[3] = {(double)v.x, (double)v.y, (double)v.z};
    for (int axis = 0; axis < 3; ++axis) {
      const char *problem = flo_mesh_coordinate_problem(point[axis]);
      if (problem)
        return flo_fail(import->error, FLO_BAD_INPUT, "%s: coordinate %c of vertex %u %s", import->path,
                        "xyz"[axis], k, problem);
    }
    FLO_TRY(flo_mesh_add_vertex(import->mesh, point, NULL, import->error));
  }
  return FLO_OK;
}

// A transformation that mirrors turns triangles inside out: they are turned back.
static bool is_mirror(const struct aiMatrix4x4 *m) {
  struct aiMatrix3x3 linear;
  aiMatrix3FromMatrix4(&linear, m);
  return aiMatrix3Determinant(&linear) < 0;
}

// Points and lines, which assimp keeps as faces of one and two corners, are no surface.
static FloStatus add_faces(const Import *import, const struct aiMesh *part, uint32_t first,
                           bool is_mirrored) {
  for (unsigned k = 0; k < part->mNumFaces; ++k) {
    const struct aiFace *face = &part->mFaces[k];
    if (face->mNumIndices != 3) continue;
    const unsigned *corners = face->mIndices;
    for (int i = 0; i < 3; ++i)
      if (corners[i] >= part->mNumVertices)
        return flo_fail(import->error, FLO_BAD_INPUT, "%s: vertex number %u does not exist; the part has %u",
                        import->path, corners[i], part->mNumVertices);
    uint32_t a = first + corners[0], b = first + corners[1], c = first + corners[2];
    FLO_TRY(flo_mesh_add_triangle(import->mesh, a, is_mirrored ? c : b, is_mirrored ? b : c, import->error));
  }
  return FLO_OK;
}

static FloStatus add_node(const Import *import, const struct aiNode *node, const struct aiMatrix4x4 *parent,
                          int depth) {
  if (depth > MAX_DEPTH)
    return flo_fail(import->error, FLO_BAD_INPUT, "%s: nodes are nested deeper than %d; flatten the scene",
                    import->path, MAX_DEPTH);
  struct aiMatrix4x4 place = *parent;
  aiMultiplyMatrix4(&place, &node->mTransformation);
  for (unsigned k = 0; k < node->mNumMeshes; ++k) {
    const struct aiMesh *part = import->scene->mMeshes[node->mMeshes[k]];
    uint32_t first = (uint32_t)import->mesh->n_vertices;
    FLO_TRY(add_vertices(import, part, &place));
    FLO_TRY(add_faces(import, part, first, is_mirror(&place)));
  }
  for (unsigned k = 0; k < node->mNumChildren; ++k)
    FLO_TRY(add_node(import, node->mChildren[k], &place, depth + 1));
  return FLO_OK;
}

// With assimp's own words, but for the full stop.
static FloStatus fail_as_assimp(const char *path, FloError *error) {
  const char *reason = aiGetErrorString();
  size_t length = strlen(reason);
  while (length > 0 && (reason[length - 1] == '.' || reason[length - 1] == '\n')) --length;
  return flo_fail(error, FLO_BAD_INPUT, "%s: %.*s; convert it to OBJ, STL or PLY", path,
                  (int)flo_min_size(length, 600), reason);
}

FloStatus flo_mesh_read_other(const char *path, FloMesh *mesh, FloError *error) {
  const struct aiScene *scene = aiImportFile(path, aiProcess_Triangulate | aiProcess_JoinIdenticalVertices);
  if (!scene) return fail_as_assimp(path, error);
  struct aiMatrix4x4 identity;
  aiIdentityMatrix4(&identity);
  const Import import = {path, scene, mesh, error};
  FloStatus status = scene->mRootNode ? add_node(&import, scene->mRootNode, &identity, 0) : FLO_OK;
  aiReleaseImport(scene);
  return flo_mesh_finish_parse(path, mesh, status, error);
}
