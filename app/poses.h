// Where the bodies of a run are at its frames, as its series.csv tells.
#ifndef FLO_APP_POSES_H
#define FLO_APP_POSES_H

#include "io/scene.h"
#include "io/series_read.h"

typedef struct AppPoses {
  const char *folder;
  FloSeriesTable series; // may be empty where there is no body
  size_t first_column;   // of the first body
  size_t n_bodies;
} AppPoses;

// Reads the series once. Release with app_poses_free, also after a failure.
FloStatus app_poses_read(const char *folder, const FloScene *scene, AppPoses *poses, FloError *error);
void app_poses_free(AppPoses *poses);
// How many frames are told of; SIZE_MAX where there is no body.
size_t app_poses_count(const AppPoses *poses);
// The simulated time of a frame; `otherwise` where the series does not tell.
double app_poses_time(const AppPoses *poses, size_t frame, double otherwise);
FloPose app_poses_at(const AppPoses *poses, size_t frame, size_t body);
// Moves the scene's bodies to where they are at a frame.
FloStatus app_poses_place(const AppPoses *poses, size_t frame, FloScene *scene, FloError *error);

#endif
