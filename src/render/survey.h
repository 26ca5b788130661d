// Chooses camera and colours from the frames of a run, by what most of its particles do.
#ifndef FLO_RENDER_SURVEY_H
#define FLO_RENDER_SURVEY_H

#include "render/colour.h"
#include "render/render.h"

enum { FLO_SURVEY_FRAMES = 16 }; // this many frames, spread evenly over the run, are enough

// For each frame: the box of the particles without the outermost half per cent at each side, and the range of
// their values without two per cent.
typedef struct FloSurvey {
  size_t n_frames;
  float low[FLO_SURVEY_FRAMES][3], high[FLO_SURVEY_FRAMES][3];
  float value_low[FLO_SURVEY_FRAMES], value_high[FLO_SURVEY_FRAMES];
} FloSurvey;

// Adds a frame of n particles; `values` may be NULL. Frames without particles and those beyond
// FLO_SURVEY_FRAMES are left out.
void flo_survey_add(FloSurvey *, const float *positions, const float *values, size_t n);
// Widens a view so that it holds the frames, too, by at most half its size to each side. The ground stays.
void flo_survey_widen(const FloSurvey *, float radius, FloPictureView *view);
// The range of colours for all frames. On entry low and high are the expected range. It is kept if the values
// of the frames are very small in comparison; otherwise noise would have the brightest colours.
void flo_survey_range(const FloSurvey *, FloColourMap map, float *low, float *high);

#endif
