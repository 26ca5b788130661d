// The kinds of advice, and what they share.
#ifndef FLO_IO_ADVICE_PARTS_H
#define FLO_IO_ADVICE_PARTS_H

#include "io/advice.h"
#include "state/state.h"

#include <jansson.h>

typedef struct FloAdvice {
  const FloScene *scene;
  FloWorld *world;
  FloAdviceFn say;
  void *context;
  size_t n_said, n_of_kind;
  json_t *names; // the resolved scene, which knows what emitters and sinks are called; may be NULL
} FloAdvice;

// Says a sentence; of one kind only the first few, the others are counted.
__attribute__((format(printf, 2, 3))) void flo_advice_tell(FloAdvice *advice, const char *format, ...);
// Says how many `what` there are besides those that were listed, and begins a new kind.
void flo_advice_end_kind(FloAdvice *advice, const char *what);
// The name of the entry `index` of a list of the scene, such as "emitters"; "" where it is not known.
const char *flo_advice_name(const FloAdvice *advice, const char *list, size_t index);

// ---- Falling ----

typedef struct FloFall {
  const FloWorld *world;
  double down[3], gravity; // unit vector, its size
  double bottom;           // nothing is lower than this, along `down`
  const FloBody *faller;   // does not meet itself; NULL where a particle falls
} FloFall;

// False where nothing falls for ever: without gravity, and where who falls out comes back from above.
bool flo_advice_can_fall(const FloWorld *world, FloFall *fall);
// Whether something that starts at x with the velocity v meets nothing before it is below everything.
bool flo_advice_falls_for_ever(const FloFall *fall, const double x[3], const double v[3]);

// ---- Kinds ----

void flo_advice_on_meshes(FloAdvice *advice);    // defects, and sizes that speak of another unit
void flo_advice_on_sizes(FloAdvice *advice);     // thin walls, few samples
void flo_advice_on_grids(FloAdvice *advice);     // distances that are known too coarsely
void flo_advice_on_pairs(FloAdvice *advice);     // bodies in one another, narrow gaps
void flo_advice_on_fluid(FloAdvice *advice);     // fluid that falls for ever
void flo_advice_on_falls(FloAdvice *advice);     // bodies that fall for ever
void flo_advice_on_streams(FloAdvice *advice);   // emitters and sinks out of reach
void flo_advice_on_probes(FloAdvice *advice);    // probes out of reach
void flo_advice_on_times(FloAdvice *advice);     // what begins after the end
void flo_advice_on_limits(FloAdvice *advice);    // max_particles
void flo_advice_on_method(FloAdvice *advice);    // what the method does not know
void flo_advice_on_materials(FloAdvice *advice); // those without use, and odd units
void flo_advice_on_speeds(FloAdvice *advice);    // what is faster than anybody can mean
void flo_advice_on_steps(FloAdvice *advice);     // a fixed time step that is too long

#endif
