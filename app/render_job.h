// What the files of `flotsam render` share.
#ifndef FLO_APP_RENDER_JOB_H
#define FLO_APP_RENDER_JOB_H

#include "picture.h"
#include "slices.h"

typedef struct AppRenderArguments {
  const char *folder, *out, *movie, *frame, *frames, *range, *look, *quality, *denoise, *slice, *view;
  const char *from, *look_at; // of the camera, as it was given
  FloCamera camera;           // what of it was given; its field of view is 0 where it was not
  double fps;                 // 0: not given
  double ends[2];             // of the range of colours, where it is given in numbers
  FloStyle style;             // what of it was given
  double arrow_seconds;       // 0: no arrows
  bool has_traces;            // of bodies
  bool is_forced;             // files that exist are replaced
  bool has_spray;             // in colours, of water
  bool is_quiet;
  AppList with; // other runs that camera and colours are to suit
  AppPicture picture;
} AppRenderArguments;

// Everything at hand while frames are drawn.
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
  FloWalls walls;   // of pictures of water
  FloTrace *traces; // of bodies that move
  float *trace_points;
  AppMovie *movie;
  double fps;
  char kept[FLO_PATH_SIZE];      // folder of the movie's pictures; empty: they are not kept
  struct timespec settings_time; // when what they look like was last changed
  size_t n_kept;                 // pictures of the movie that were there
  AppProgress progress;
  size_t n_done;
  AppSlice slice;      // its text is NULL where there is none
  bool has_told_slice; // that it met no fluid
  FloError error;
} AppRenderJob;

// Reads and checks what was given; false when the command is to return *exit_code (render_arguments.c).
bool app_render_parse(int argc, char **argv, AppRenderArguments *arguments, int *exit_code);

// ---- What all pictures have in common (render_view.c) ----

// Gives the scene the camera that was asked for.
FloStatus app_render_place_camera(AppRenderJob *job);
// Camera, colours and style that suit all frames, whichever are to be drawn.
FloStatus app_render_choose_view(AppRenderJob *job);

// ---- Pictures (cmd_render.c) ----

// How many frames are to be drawn.
size_t app_render_count(const AppRenderJob *job);
// Draws a frame into a malloc'ed buffer.
FloStatus app_render_paint(AppRenderJob *job, size_t number, uint8_t **rgb);
// Draws all frames one after the other.
FloStatus app_render_frames(AppRenderJob *job, FloStatus (*draw)(AppRenderJob *job, size_t number));

// ---- Movies (render_movie.c) ----

FloStatus app_render_movie(AppRenderJob *job);

#endif
