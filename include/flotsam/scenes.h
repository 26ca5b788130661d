// The second library, libflotsam-scenes: worlds from scene files, meshes from files, the fluid's surface as
// triangles, and pictures. It also holds all that libflotsam holds: link one of the two, not both.
#ifndef FLOTSAM_SCENES_H
#define FLOTSAM_SCENES_H

#include "flotsam.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Scenes ----

typedef struct FloScene FloScene;

// Changes to a scene that its file does not have.
typedef struct FloSceneOptions {
  const char *method;      // overrides method.name; NULL: as the scene says
  const char *size;        // one of the scene's "sizes"; NULL: the normal size
  const char *const *sets; // "path=value" overrides, e.g. "spacing=0.01" or "materials.water.viscosity=1e-3"
  size_t n_sets;
  int threads;            // 0: all cores
  FloAllocator allocator; // zeroed: the C library's
  bool refuse_includes;   // for text from unknown sources: the scene must not read other files
} FloSceneOptions;

// What a scene says about itself. Texts are valid as long as the scene.
typedef struct FloSceneInfo {
  const char *name, *title, *shows;
  double duration;          // [s]
  double frames_per_second; // of its run folder
  int dim, up;              // up: axis index
  double spacing;           // [m]
  const char *method;
} FloSceneInfo;

// Reads and checks a scene; `options` may be NULL. If it fails, the message has the file and the place in it.
FLO_API FloStatus flo_scene_load(const char *path, const FloSceneOptions *options, FloScene **scene,
                                 FloError *error);
// The same from memory; `name` is used as the path.
FLO_API FloStatus flo_scene_load_text(const char *name, const char *text, size_t length,
                                      const FloSceneOptions *options, FloScene **scene, FloError *error);
FLO_API FloStatus flo_scene_info(const FloScene *scene, FloSceneInfo *info, FloError *error);
// Builds the world that the scene describes. The scene must outlive the world. Find its bodies by their
// names.
FLO_API FloStatus flo_scene_build(FloScene *scene, FloWorld **world, FloError *error);
// Advances the world that was built last to `time`, with the events of the scene on the way: fluid that is
// added, pins that let go. flo_world_step and flo_world_advance leave out these events.
FLO_API FloStatus flo_scene_advance(FloScene *scene, FloWorld *world, double time, FloStepInfo *info,
                                    FloError *error);
FLO_API void flo_scene_destroy(FloScene *scene); // NULL is fine

// ---- Meshes ----

// Reads the triangles of a file: OBJ, STL, PLY, and more if the build has assimp. For the shape
// FLO_SHAPE_MESH. Release them with flo_triangles_free.
FLO_API FloStatus flo_triangles_read(const char *path, FloTriangles *triangles, FloError *error);
FLO_API void flo_triangles_free(FloTriangles *triangles); // zeroed triangles are fine

// ---- The surface of the fluid ----

typedef struct FloFluidSurfaceDef {
  double cell;      // size of the triangles, in spacings, 0.125 to 0.6; 0: 0.5
  int smoothing;    // rounds of smoothing; < 0: 8
  bool drops_spray; // single particles have no surface
  bool anisotropic; // sharper edges, slower
} FloFluidSurfaceDef;

// A closed surface: arrays of n_vertices triples, and of n_triangles triples of vertex numbers.
typedef struct FloFluidSurface {
  const double *vertices;  // [m]
  const float *normals;    // outward, unit length
  const float *velocities; // [m/s]
  const uint32_t *triangles;
  size_t n_vertices, n_triangles;
  double volume, area; // [m³], [m²]
  void *own;           // what flo_fluid_surface_free releases
} FloFluidSurface;

// The surface of the present moment, of a world in three dimensions. `def` may be NULL. Without fluid it is
// empty. Release it with flo_fluid_surface_free.
FLO_API FloStatus flo_world_surface(const FloWorld *world, const FloFluidSurfaceDef *def,
                                    FloFluidSurface *surface, FloError *error);
FLO_API void flo_fluid_surface_free(FloFluidSurface *surface); // a zeroed surface is fine

// ---- Pictures ----

typedef struct FloPictureDef {
  int width, height; // [pixels] 0: 1280 x 720
  bool water;        // the surface of the fluid, path traced; otherwise particles with the colours of speed
  int quality;       // 0: draft, 1: good, 2: best
} FloPictureDef;

// Draws a world that the scene built, and that still has all its bodies, into a PNG file. `def` may be NULL.
// FLO_UNSUPPORTED if this build has no pictures.
FLO_API FloStatus flo_scene_draw(const FloScene *scene, FloWorld *world, const FloPictureDef *def,
                                 const char *path, FloError *error);

#ifdef __cplusplus
}
#endif
#endif
