#include "poses.h"

#include "base/core.h"
#include "io/series.h"

FloStatus app_poses_read(const char *folder, const FloScene *scene, AppPoses *poses, FloError *error) {
  char path[FLO_PATH_SIZE];
  FloSeries *series = NULL;
  *poses = (AppPoses){.folder = folder, .n_bodies = scene->n_bodies};
  FLO_TRY(flo_path_join(folder, "series.csv", path, error));
  FloStatus status = flo_series_table_read(path, &poses->series, error);
  if (scene->n_bodies == 0) return FLO_OK;
  FLO_TRY(status);
  FLO_TRY(flo_series_create(scene, &series, error));
  size_t n_columns = series->n_columns;
  poses->first_column = series->first_body_column;
  flo_series_destroy(series);
  if (n_columns == poses->series.n_columns) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "%s: does not belong to the scene.json beside it", path);
}

void app_poses_free(AppPoses *poses) { flo_series_table_free(&poses->series); }

size_t app_poses_count(const AppPoses *poses) {
  return poses->n_bodies > 0 ? poses->series.n_rows : SIZE_MAX;
}

double app_poses_time(const AppPoses *poses, size_t frame, double otherwise) {
  size_t column = flo_series_table_find(&poses->series, "time");
  if (column >= poses->series.n_columns || frame >= poses->series.n_rows) return otherwise;
  return flo_series_table_column(&poses->series, column)[frame];
}

FloPose app_poses_at(const AppPoses *poses, size_t frame, size_t body) {
  size_t first = poses->first_column + body * FLO_SERIES_PER_BODY;
  FloPose pose = flo_pose_identity();
  FLO_ASSERT(body < poses->n_bodies && frame < poses->series.n_rows);
  for (size_t k = 0; k < 7; k++)
    *(k < 3 ? &pose.position[k] : &pose.rotation[k - 3]) =
        flo_series_table_column(&poses->series, first + k)[frame];
  return pose;
}

FloStatus app_poses_place(const AppPoses *poses, size_t frame, FloScene *scene, FloError *error) {
  if (frame >= app_poses_count(poses))
    return flo_fail(error, FLO_BAD_INPUT, "%s/series.csv: has no row for frame %zu", poses->folder, frame);
  for (size_t b = 0; b < scene->n_bodies; b++) scene->bodies[b].def.pose = app_poses_at(poses, frame, b);
  return FLO_OK;
}
