// Times of scenes with cloth: one that lies on itself, and one that holds water.
#ifndef FLO_BENCH_CLOTH_H
#define FLO_BENCH_CLOTH_H

#include "flotsam/flotsam.h"

typedef enum FloClothScene {
  FLO_CLOTH_FOLDED, // folds lie on each other on a floor; no fluid
  FLO_CLOTH_FILLED, // a sheet whose border is held carries water
  FLO_CLOTH_COUNT
} FloClothScene;

typedef struct FloClothResult {
  const char *scene, *method;
  size_t triangles, samples, particles;
  int threads;
  double simulated; // [s]
  double seconds;   // time of all steps
  double
      skin_seconds; // part of it to place, add, remove and weigh samples, and to pass forces on to vertices
  double steps, iterations, contacts; // contacts: mean number that press
} FloClothResult;

// `n_frames` frames of 1/60 s with about this many triangles.
FloStatus flo_cloth_measure(FloClothScene scene, size_t triangles, int n_frames, int threads,
                            FloClothResult *result, FloError *error);

#endif
