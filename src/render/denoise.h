// Removes the noise of rays from a picture without blurring edges.
//
// An edge-avoiding wavelet filter (Dammertz, Sewtz, Hanika, Lensch 2010): a few rounds of a small blur with
// ever wider gaps. A neighbour counts less the more its surface differs in normal, distance and colour, and
// the more its brightness differs compared to the noise (weights as in Schied and others 2017). Pixels
// without noise do not change.
#ifndef FLO_RENDER_DENOISE_H
#define FLO_RENDER_DENOISE_H

#include "flotsam/world.h"
#include "render/v3.h"

typedef struct FloFilm {
  int width, height;
  V3 *colours;
  float *variances; // of each pixel's mean brightness
  V3 *albedos;
  V3 *normals;   // mean of the samples' normals; shorter than one at edges, where they differ
  float *depths; // INFINITY: nothing was hit
} FloFilm;

FloStatus flo_film_create(int width, int height, FloFilm *, FloError *);
void flo_film_destroy(FloFilm *);

// Smooths the colours. The result is the same for any number of threads.
FloStatus flo_film_denoise(FloFilm *, int threads, FloError *);

// How bright a linear colour looks.
static inline float flo_brightness(V3 c) { return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z; }

#endif
