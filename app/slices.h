// Slices that meet no fluid: a plane beside all of it is refused, one that misses it in some frame is told.
#ifndef FLO_APP_SLICES_H
#define FLO_APP_SLICES_H

#include "io/frame.h"

typedef struct AppSlice {
  const char *text; // as it was given, "z=0.5"
  int axis;
  double at;      // [m] where the plane crosses its axis
  double spacing; // [m] of the particles
} AppSlice;

// Fails with FLO_BAD_INPUT, and where the fluid is, if the plane is beside all fluid in each of the frames
// first, last and step of `frames` of a run. Reads them until one is found that it is not beside of.
FloStatus app_slice_check(const AppSlice *slice, FloRunFrames *run, const size_t frames[3], FloError *error);
// Whether the plane meets no fluid in a frame, though it may pass between some.
bool app_slice_is_empty(const AppSlice *slice, const FloFrame *frame);
// Says so on stderr.
void app_slice_tell_empty(const AppSlice *slice, const FloFrame *frame);

#endif
