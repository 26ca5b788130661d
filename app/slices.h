// Slices that meet no fluid. If the plane meets no fluid in any frame, the command fails. If it misses the
// fluid in some frames, a note is printed.
#ifndef FLO_APP_SLICES_H
#define FLO_APP_SLICES_H

#include "io/frame.h"

typedef struct AppSlice {
  const char *text; // as it was given, "z=0.5"
  int axis;
  double at;      // [m] position of the plane on its axis
  double spacing; // [m] of the particles
} AppSlice;

// Fails with FLO_BAD_INPUT if the plane meets no fluid in any of the chosen frames of a run; `frames` holds
// first, last and step. The message says where the fluid is. Reads frames until one has fluid at the plane.
FloStatus app_slice_check(const AppSlice *slice, FloRunFrames *run, const size_t frames[3], FloError *error);
// Whether the plane meets no fluid in a frame. It may lie between parts of the fluid.
bool app_slice_is_empty(const AppSlice *slice, const FloFrame *frame);
// Prints a note about it on stderr.
void app_slice_tell_empty(const AppSlice *slice, const FloFrame *frame);

#endif
