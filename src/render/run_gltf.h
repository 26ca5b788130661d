// Writes a run as a glTF scene: its solids with the materials of pictures, their poses and shapes at every
// frame, the camera and, if given, the surface of the fluid at one time or at all of them.
#ifndef FLO_RENDER_RUN_GLTF_H
#define FLO_RENDER_RUN_GLTF_H

#include "render/render.h"
#include "surface/surface.h"

#include <stdio.h>

// The pose of every body at every frame; body b at frame f: poses[f * n_bodies + b].
typedef struct FloRunMotion {
  size_t n_frames;
  const double *times; // [s]
  const FloPose *poses;
  const FloFrame *frames; // as many; their bodies that change their shape. NULL: there are none
} FloRunMotion;

// Bodies whose look is "hidden" are left out. There is no surface, one that stays, or one for each frame.
// `view` gives the box that an automatic camera shows. Messages name `path`.
FloStatus flo_run_gltf_write(FILE *stream, const char *path, const FloScene *scene,
                             const FloRunMotion *motion, const FloSurfaceMesh *surfaces, size_t n_surfaces,
                             const FloPictureView *view, FloError *error);

#endif
