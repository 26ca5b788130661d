// A run as a glTF scene: its solids in the looks that pictures give them, where they are at every frame, the
// camera of its pictures and, if asked for, the fluid's surface at one moment.
#ifndef FLO_RENDER_RUN_GLTF_H
#define FLO_RENDER_RUN_GLTF_H

#include "render/render.h"
#include "surface/surface.h"

#include <stdio.h>

// Where every body is at every frame; body b at frame f: poses[f * n_bodies + b].
typedef struct FloRunMotion {
  size_t n_frames;
  const double *times; // [s]
  const FloPose *poses;
} FloRunMotion;

// Bodies whose look is "hidden" are left out. `surface` may be NULL. `view` gives
// the box that an automatic camera holds. `path` stands in messages.
FloStatus flo_run_gltf_write(FILE *stream, const char *path, const FloScene *scene,
                             const FloRunMotion *motion, const FloSurfaceMesh *surface,
                             const FloPictureView *view, FloError *error);

#endif
