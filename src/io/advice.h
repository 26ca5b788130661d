// What a scene's author should know before running it: parts that the spacing cannot resolve, bodies that
// stand in one another or nearly touch, fluid that nothing holds, things that nothing will ever reach, plans
// that end before they begin.
#ifndef FLO_IO_ADVICE_H
#define FLO_IO_ADVICE_H

#include "io/scene.h"

// One sentence of advice, with the name of what it is about.
typedef void (*FloAdviceFn)(void *context, const char *sentence);

// Looks at a world that was just built from the scene, and says what is doubtful about it, at most a few
// sentences of each kind. Returns how many there are.
size_t flo_advice_give(const FloScene *scene, FloWorld *world, FloAdviceFn say, void *context);

// Fails, with its place in the scene's files, if something is so fast that no permitted time step can follow
// it.
FloStatus flo_advice_check_speeds(const FloScene *scene, FloWorld *world, FloError *error);
// Adds to the message of a step that diverged what the scene's author can change, with file and path: a time
// step that is fixed. Leaves other messages as they are.
void flo_advice_explain_divergence(const FloScene *scene, FloError *error);

// Reads the scene's file once for each of its sizes but the one in `options`, so that mistakes in a size show
// before it is chosen; the message names the size.
FloStatus flo_advice_check_sizes(const char *path, const FloSceneOptions *options, FloError *error);

// What building a world will take, from the shapes alone. Fills are not counted: nobody knows them before.
typedef struct FloSetUp {
  double n_fluid, n_boundary; // particles
  double seconds;             // on a usual desk computer
  double bytes;
} FloSetUp;

FloSetUp flo_advice_estimate_set_up(const FloScene *scene);

#endif
