#include "glb.h"

#include "app.h"
#include "base/core.h"
#include "render/run_gltf.h"
#include "surface/walls.h"

#include <stdlib.h>

typedef struct Job {
  const AppGlb *glb;
  FloScene *scene;
  FloRunFrames frames;
  AppView view;
  double *times;
  FloPose *poses; // poses of the bodies, frame by frame
  FloRunMotion motion;
  FloFrame *shapes; // bodies that change their shape, frame by frame; NULL: there are none
  FloMemory memory;
  FloSurfaceMesh *surfaces;
  size_t n_surfaces;
} Job;

// ---- Motion ----

// A running simulation may not have written the rows of its last frames yet; these frames are left out.
static FloStatus take_motion(Job *job, FloError *error) {
  const AppGlb *glb = job->glb;
  const size_t n_bodies = job->scene->n_bodies;
  const FloBodyTable *table = NULL;
  if (n_bodies > 0) FLO_TRY(flo_run_frames_bodies(&job->frames, &table, error));
  const size_t end = table ? flo_min_size(glb->end, table->n_frames) : glb->end;
  if (glb->first >= end)
    return flo_fail(error, FLO_BAD_INPUT,
                    "%s/bodies.csv: has no rows for frame %zu; restore the original file of the run",
                    glb->folder, glb->first);
  const size_t n = end - glb->first;
  job->times = malloc(n * sizeof *job->times);
  job->poses = malloc((n * n_bodies + 1) * sizeof *job->poses);
  if (!job->times || !job->poses)
    return flo_fail(error, FLO_NO_MEMORY, "no memory for %zu frames of %zu bodies", n, n_bodies);
  for (size_t k = 0; k < n; k++) {
    const size_t frame = glb->first + k;
    job->times[k] = flo_run_frames_time(&job->frames, frame);
    for (size_t b = 0; b < n_bodies; b++) job->poses[k * n_bodies + b] = flo_body_table_pose(table, frame, b);
  }
  job->motion = (FloRunMotion){.n_frames = n, .times = job->times, .poses = job->poses};
  return FLO_OK;
}

static bool has_soft(const FloScene *scene) {
  for (size_t b = 0; b < scene->n_bodies; b++)
    if (flo_scene_is_soft(&scene->bodies[b])) return true;
  return false;
}

static FloStatus take_shapes(Job *job, FloError *error) {
  if (!has_soft(job->scene)) return FLO_OK;
  job->shapes = calloc(job->motion.n_frames, sizeof *job->shapes);
  if (!job->shapes) return flo_fail(error, FLO_NO_MEMORY, "no memory for %zu frames", job->motion.n_frames);
  job->motion.frames = job->shapes;
  for (size_t k = 0; k < job->motion.n_frames; k++)
    FLO_TRY(flo_frame_read(&job->frames, job->glb->first + k, FLO_FRAME_BODIES, &job->shapes[k], error));
  return FLO_OK;
}

// ---- Fluid ----

static FloStatus build_surface(Job *job, const FloFrame *frame, const FloWalls *walls,
                               FloSurfaceMesh *surface, FloError *error) {
  const size_t n = frame->counts[FLO_SET_FLUID];
  FloSurfaceDef def = flo_surface_default_def(job->scene->world.spacing);
  def.memory_limit = app_memory_limit();
  const FloSignedField region = flo_walls_region(walls);
  if (!flo_walls_is_empty(walls)) def.region = &region;
  double *positions = malloc((n + 1) * sizeof(double[3]));
  if (!positions) return flo_fail(error, FLO_NO_MEMORY, "no memory for a frame of %zu particles", n);
  for (size_t k = 0; k < 3 * n; k++) positions[k] = (double)frame->positions[k];
  FloStatus status = flo_surface_build(&def, positions, NULL, n, surface, &job->memory, error);
  free(positions);
  return status;
}

static FloStatus check_fluid(const Job *job, FloError *error) {
  const FloScene *scene = job->scene;
  if (scene->world.dim != 3)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "convert: %s: is a run in two dimensions, which has no surface of triangles; leave out --surface",
        job->glb->folder);
  if (!flo_scene_has_fluid(scene))
    return flo_fail(error, FLO_BAD_INPUT,
                    "convert: %s: is a run without fluid, so there is no surface; leave out --surface",
                    job->glb->folder);
  return FLO_OK;
}

static FloStatus take_surface(Job *job, size_t number, FloSurfaceMesh *surface, FloError *error) {
  const FloScene *scene = job->scene;
  FloFrame frame;
  FloWalls walls = {0};
  FLO_TRY(flo_frame_read(&job->frames, number, FLO_FRAME_PICTURE, &frame, error));
  FloStatus status = flo_walls_of_bodies(&walls, scene->bodies, frame.bodies, scene->n_bodies,
                                         scene->world.spacing, 1, 0, &job->memory, error);
  if (status == FLO_OK) status = build_surface(job, &frame, &walls, surface, error);
  flo_walls_free(&walls);
  flo_frame_free(&frame);
  return status;
}

static FloStatus take_surfaces(Job *job, FloError *error) {
  const AppGlb *glb = job->glb;
  if (!glb->has_surface) return FLO_OK;
  FLO_TRY(check_fluid(job, error));
  const size_t n = glb->has_all_surfaces ? job->motion.n_frames : 1;
  job->surfaces = calloc(n, sizeof *job->surfaces);
  if (!job->surfaces) return flo_fail(error, FLO_NO_MEMORY, "no memory for %zu surfaces", n);
  for (; job->n_surfaces < n; job->n_surfaces++)
    FLO_TRY(take_surface(job, glb->has_all_surfaces ? glb->first + job->n_surfaces : glb->surface,
                         &job->surfaces[job->n_surfaces], error));
  return FLO_OK;
}

// ---- All of it ----

static FloStatus write_stream(const Job *job, FILE *stream, const char *path, FloError *error) {
  return flo_run_gltf_write(stream, path, job->scene, &job->motion, job->surfaces, job->n_surfaces,
                            &job->view.outlook.view, error);
}

static FloStatus write_file(const Job *job, const char *path, FloError *error) {
  FloNewFile file;
  FLO_TRY(flo_new_file_begin(&file, path, error));
  FloStatus status = write_stream(job, file.stream, path, error);
  if (status == FLO_OK) return flo_new_file_finish(&file, error);
  flo_new_file_abandon(&file);
  return status;
}

// The camera is that of the scene before its first step.
static FloStatus make(Job *job, const char *path, FloError *error) {
  FLO_TRY(app_view_of_scene(job->scene, &(AppPicture){0}, &job->view, error));
  flo_run_frames_open(job->glb->folder, job->scene, &job->frames);
  FLO_TRY(take_motion(job, error));
  FLO_TRY(take_shapes(job, error));
  FLO_TRY(take_surfaces(job, error));
  return path ? write_file(job, path, error) : write_stream(job, stdout, "standard output", error);
}

FloStatus app_write_glb(const AppGlb *glb, const char *path, FloError *error) {
  char scene_path[FLO_PATH_SIZE];
  Job job = {.glb = glb};
  flo_memory_init(&job.memory, NULL);
  FLO_TRY(flo_path_join(glb->folder, "scene.json", scene_path, error));
  FLO_TRY(flo_scene_load(scene_path, &(FloSceneOptions){0}, &job.scene, error));
  FloStatus status = make(&job, path, error);
  for (size_t k = 0; k < job.n_surfaces; k++) flo_surface_free(&job.surfaces[k]);
  free(job.surfaces);
  flo_run_frames_close(&job.frames);
  for (size_t k = 0; job.shapes && k < job.motion.n_frames; k++) flo_frame_free(&job.shapes[k]);
  free(job.shapes);
  flo_scene_destroy(job.scene);
  free(job.times);
  free(job.poses);
  return status;
}
