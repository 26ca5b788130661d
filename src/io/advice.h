// What a scene's author should know before running it: parts that the spacing cannot resolve, bodies that
// stand in one another or nearly touch, fluid that nothing holds.
#ifndef FLO_IO_ADVICE_H
#define FLO_IO_ADVICE_H

#include "io/scene.h"

// One sentence of advice, with the name of what it is about.
typedef void (*FloAdviceFn)(void *context, const char *sentence);

// Looks at a world that was just built from the scene, and says what is doubtful about it, at most a few
// sentences of each kind. Returns how many there are.
size_t flo_advice_give(const FloScene *scene, FloWorld *world, FloAdviceFn say, void *context);

#endif
