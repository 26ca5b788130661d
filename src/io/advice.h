// Notes for the author of a scene: parts that the spacing cannot resolve, bodies that overlap or nearly
// touch, fluid that nothing holds, emitters, sinks and probes out of reach, motions and events after the end.
#ifndef FLO_IO_ADVICE_H
#define FLO_IO_ADVICE_H

#include "io/scene.h"

// Receives one note, which names the thing it is about.
typedef void (*FloAdviceFn)(void *context, const char *sentence);

// Checks a world that was just built from the scene. Calls `say` with a note for everything doubtful, at most
// a few of each kind. Returns the number of notes.
size_t flo_advice_give(const FloScene *scene, FloWorld *world, FloAdviceFn say, void *context);

// Fails if something is so fast that no permitted time step can follow it. The message names its place in the
// scene's files.
FloStatus flo_advice_check_speeds(const FloScene *scene, FloWorld *world, FloError *error);
// If the time step is fixed, adds a hint to the message of a step that diverged: the file and path of
// time_step. Leaves other messages unchanged.
void flo_advice_explain_divergence(const FloScene *scene, FloError *error);

// Reads the scene's file once for each of its sizes, except the one in `options`, so that errors in a size
// are found before it is used. The message names the size.
FloStatus flo_advice_check_sizes(const char *path, const FloSceneOptions *options, FloError *error);

// Estimates the cost of building a world from its shapes. Fills are not counted: their size is not known
// before.
typedef struct FloSetUp {
  double n_fluid, n_boundary; // particles
  double seconds;             // on a usual desk computer
  double bytes;
} FloSetUp;

FloSetUp flo_advice_estimate_set_up(const FloScene *scene);

#endif
