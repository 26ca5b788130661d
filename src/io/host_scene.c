// What programs ask of a scene, besides loading and building it. And meshes from files.
#include "base/core.h"
#include "geometry/mesh_io.h"
#include "io/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static FloStatus fail_null(const char *what, FloError *error) {
  return flo_fail(error, FLO_BAD_INPUT, "%s: is NULL, but it is needed", what);
}

FloStatus flo_scene_info(const FloScene *scene, FloSceneInfo *info, FloError *error) {
  if (!scene || !info) return fail_null(scene ? "info" : "scene", error);
  *info = (FloSceneInfo){.name = scene->name,
                         .title = scene->title,
                         .shows = scene->shows,
                         .duration = scene->duration,
                         .frames_per_second = scene->frames_per_second,
                         .dim = scene->world.dim,
                         .up = scene->up,
                         .spacing = scene->world.spacing,
                         .method = scene->world.method};
  return FLO_OK;
}

FloStatus flo_scene_advance(FloScene *scene, FloWorld *world, double time, FloStepInfo *info,
                            FloError *error) {
  if (!scene || !world) return fail_null(scene ? "world" : "scene", error);
  if (!isfinite(time))
    return flo_fail(error, FLO_BAD_INPUT, "advance: the time must be finite, got %g", time);
  for (; scene->next_event < scene->n_events; ++scene->next_event) {
    const FloSceneEvent *event = &scene->events[scene->next_event];
    if (event->time > time) break;
    FLO_TRY(flo_world_advance(world, event->time, info, error));
    FLO_TRY(flo_scene_apply_event(scene, world, event, NULL, error));
  }
  return flo_world_advance(world, time, info, error);
}

// ---- Meshes ----

static void *copy_of(const void *from, size_t size) {
  void *copy = malloc(size + 1);
  if (copy && size) memcpy(copy, from, size);
  return copy;
}

FloStatus flo_triangles_read(const char *path, FloTriangles *triangles, FloError *error) {
  if (!path || !triangles) return fail_null(path ? "triangles" : "path", error);
  *triangles = (FloTriangles){0};
  FloMemory memory;
  FloMesh mesh;
  flo_memory_init(&memory, &(FloAllocator){0});
  flo_mesh_init(&mesh, &memory);
  FLO_TRY(flo_mesh_read(path, &mesh, error));
  *triangles = (FloTriangles){copy_of(mesh.vertices.data, 3 * mesh.n_vertices * sizeof(double)),
                              copy_of(mesh.triangles.data, 3 * mesh.n_triangles * sizeof(uint32_t)),
                              mesh.n_vertices, mesh.n_triangles};
  flo_mesh_free(&mesh);
  if (triangles->vertices && triangles->triangles) return FLO_OK;
  flo_triangles_free(triangles);
  return flo_fail(error, FLO_NO_MEMORY, "%s: out of memory for its triangles", path);
}

void flo_triangles_free(FloTriangles *triangles) {
  if (!triangles) return;
  free((void *)triangles->vertices);
  free((void *)triangles->triangles);
  *triangles = (FloTriangles){0};
}
