// Finds where fluid is along the axis of a slice, and reports a plane that meets none.
#include "slices.h"

#include "app.h"
#include "base/core.h"

#include <math.h>

// A particle represents the fluid within half a spacing around it. So a plane inside fluid has a particle
// within this distance. It is a little more than half, because positions are rounded.
#define NEAR 0.501 // in spacings

typedef struct Span {
  float low, high; // [m]; mean nothing unless n > 0
  size_t n;        // particles
} Span;

static void add_to_span(const FloFrame *frame, int axis, Span *span) {
  for (size_t k = 0; k < frame->counts[FLO_SET_FLUID]; k++) {
    const float place = frame->positions[3 * k + (size_t)axis];
    if (!isfinite(place)) continue;
    if (span->n++ == 0) span->low = span->high = place;
    span->low = fminf(span->low, place), span->high = fmaxf(span->high, place);
  }
}

static bool is_beside(const AppSlice *slice, const Span *span) {
  const double margin = NEAR * slice->spacing;
  return span->n == 0 || slice->at < (double)span->low - margin || slice->at > (double)span->high + margin;
}

static FloStatus refuse(const AppSlice *slice, const char *folder, bool is_single, const Span *span,
                        FloError *error) {
  if (span->n == 0)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "render: %s: --slice %s meets no fluid, because %s none; choose others with --frame or --frames",
        folder, slice->text, is_single ? "this frame has" : "these frames have");
  return flo_fail(error, FLO_BAD_INPUT,
                  "render: %s: --slice %s meets no fluid; the fluid in %s is from %g m to %g m along %c; "
                  "name a position in this range",
                  folder, slice->text, is_single ? "this frame" : "these frames", (double)span->low,
                  (double)span->high, "xyz"[slice->axis]);
}

// Frames that cannot be read are skipped; drawing them reports the error.
FloStatus app_slice_check(const AppSlice *slice, FloRunFrames *run, const size_t frames[3], FloError *error) {
  Span all = {0};
  size_t n_read = 0;
  for (size_t number = frames[0]; number <= frames[1]; number += frames[2]) {
    FloFrame frame;
    Span span = {0};
    if (flo_frame_read(run, number, FLO_FRAME_PARTICLES, &frame, NULL) != FLO_OK) continue;
    add_to_span(&frame, slice->axis, &span);
    add_to_span(&frame, slice->axis, &all);
    flo_frame_free(&frame);
    n_read++;
    if (!is_beside(slice, &span)) return FLO_OK;
  }
  return n_read > 0 ? refuse(slice, run->folder, frames[0] == frames[1], &all, error) : FLO_OK;
}

bool app_slice_is_empty(const AppSlice *slice, const FloFrame *frame) {
  for (size_t k = 0; k < frame->counts[FLO_SET_FLUID]; k++) {
    const double place = (double)frame->positions[3 * k + (size_t)slice->axis];
    if (fabs(place - slice->at) <= NEAR * slice->spacing) return false;
  }
  return true;
}

void app_slice_tell_empty(const AppSlice *slice, const FloFrame *frame) {
  Span span = {0};
  add_to_span(frame, slice->axis, &span);
  if (span.n > 0)
    app_fail(0,
             "render: note: --slice %s meets no fluid in frame %zu, so the picture shows none; the fluid is "
             "from %g m to %g m",
             slice->text, frame->number, (double)span.low, (double)span.high);
  else
    app_fail(0,
             "render: note: --slice %s meets no fluid in frame %zu, because the frame has no fluid; choose "
             "another with --frame",
             slice->text, frame->number);
}
