// What the files of `flotsam render` share.
#ifndef FLO_APP_RENDER_JOB_H
#define FLO_APP_RENDER_JOB_H

#include "picture.h"
#include "slices.h"

typedef struct AppRenderArguments {
  const char *folder, *out, *movie, *frame, *frames, *range, *look, *quality, *denoise, *slice, *view;
  const char *from, *look_at; // camera, as given
  FloCamera camera;           // which parts of it were given; its field of view is 0 if it was not given
  double fps;                 // 0: not given
  double ends[2];             // the range of colours, if it was given
  FloStyle style;             // what of it was given
  double arrow_seconds;       // 0: no arrows
  bool has_traces;            // of bodies
  bool has_joints;            // draw joints
  bool is_forced;             // replace files that exist
  bool has_spray;             // in colours, of water
  bool is_quiet;
  AppList sets; // values of the scene to change
  AppList with; // other runs that camera and colours must suit
  AppPicture picture;
} AppRenderArguments;

// Everything that is needed while frames are drawn.
typedef struct AppRenderJob {
  const AppRenderArguments *arguments;
  FloScene *scene;
  FloRunFrames frames;      // of the run
  size_t n_frames;          // in the folder
  size_t first, last, step; // to draw
  AppPicture picture;
  AppExtras extras;
  AppView view;
  FloMemory memory;
  FloWalls walls;   // for pictures of water
  FloTrace *traces; // of bodies that move
  float *trace_points;
  FloDrawnJoint *joints;
  bool *acts; // whether each joint acts at the present frame
  AppMovie *movie;
  double fps;
  char kept[FLO_PATH_SIZE];      // folder of the movie's pictures; empty: they are not kept
  struct timespec settings_time; // time of the last change of their settings
  size_t n_kept;                 // number of the movie's pictures that existed
  AppProgress progress;
  size_t n_done;
  AppSlice slice;      // its text is NULL where there is none
  bool has_told_slice; // the note that it meets no fluid was printed
  FloError error;
} AppRenderJob;

// Finds the joints that act at a frame, and where they are (render_joints.c).
FloStatus app_render_find_joints(AppRenderJob *job, const FloFrame *frame);

// Reads and checks the arguments. Returns false if the command must return *exit_code (render_arguments.c).
bool app_render_parse(int argc, char **argv, AppRenderArguments *arguments, int *exit_code);

// ---- What all pictures have in common (render_view.c) ----

// Puts the camera that was given into the scene.
FloStatus app_render_place_camera(AppRenderJob *job);
// Chooses camera, colours and style so that they suit all frames, whichever are drawn.
FloStatus app_render_choose_view(AppRenderJob *job);

// ---- Pictures (cmd_render.c) ----

// The number of frames to draw.
size_t app_render_count(const AppRenderJob *job);
// Draws a frame into a malloc'ed buffer.
FloStatus app_render_paint(AppRenderJob *job, size_t number, uint8_t **rgb);
// Draws all frames one after the other.
FloStatus app_render_frames(AppRenderJob *job, FloStatus (*draw)(AppRenderJob *job, size_t number));

// ---- Movies (render_movie.c) ----

FloStatus app_render_movie(AppRenderJob *job);

#endif
