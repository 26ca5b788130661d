// Camera and colours from the frames of a run: what most of its particles do, whatever a few strays are up
// to.
#ifndef FLO_RENDER_SURVEY_H
#define FLO_RENDER_SURVEY_H

#include "render/colour.h"
#include "render/render.h"

enum { FLO_SURVEY_FRAMES = 16 }; // as many, spread evenly over the run, are worth looking at

// Of each frame: where the particles are, but for the outermost half percent at either side, and their values
// but for two percent.
typedef struct FloSurvey {
  size_t n_frames;
  float low[FLO_SURVEY_FRAMES][3], high[FLO_SURVEY_FRAMES][3];
  float value_low[FLO_SURVEY_FRAMES], value_high[FLO_SURVEY_FRAMES];
} FloSurvey;

// Adds a frame of n particles; `values` may be NULL. One without particles is left out, as are those beyond
// FLO_SURVEY_FRAMES.
void flo_survey_add(FloSurvey *, const float *positions, const float *values, size_t n);
// Widens a view so that it holds the frames, too; by no more than half its size to either side. The ground
// stays.
void flo_survey_widen(const FloSurvey *, float radius, FloPictureView *view);
// The range of colours for all frames. Before, low and high are what was expected; it stays where the frames
// show next to nothing in comparison, or else noise would be drawn in the brightest colours.
void flo_survey_range(const FloSurvey *, FloColourMap map, float *low, float *high);

#endif
