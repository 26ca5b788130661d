// The kinds of notes about a scene, and what they share.
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
  json_t *names; // the resolved scene, which has the names of emitters and sinks; may be NULL
} FloAdvice;

// Gives a note. Of each kind only the first few are given; the others are counted.
__attribute__((format(printf, 2, 3))) void flo_advice_tell(FloAdvice *advice, const char *format, ...);
// Gives the number of further `what`, besides those listed, and begins a new kind.
void flo_advice_end_kind(FloAdvice *advice, const char *what);
// The name of the entry `index` of a list of the scene, such as "emitters"; "" if it is not known.
const char *flo_advice_name(const FloAdvice *advice, const char *list, size_t index);

// ---- Falling ----

typedef struct FloFall {
  const FloWorld *world;
  double down[3], gravity; // unit vector, its size
  double bottom;           // nothing is lower than this, along `down`
  const FloBody *faller;   // the falling body, which does not meet itself; NULL for a particle
} FloFall;

// False if nothing can fall for ever: without gravity, or if the domain is periodic along gravity.
bool flo_advice_can_fall(const FloWorld *world, FloFall *fall);
// Whether something that starts at x with the velocity v meets nothing before it is below everything.
bool flo_advice_falls_for_ever(const FloFall *fall, const double x[3], const double v[3]);

// ---- Kinds ----

void flo_advice_on_meshes(FloAdvice *advice);  // defects, and sizes that seem to be in another unit
void flo_advice_on_sizes(FloAdvice *advice);   // thin walls, few samples
void flo_advice_on_grids(FloAdvice *advice);   // distances that are not accurate enough
void flo_advice_on_pairs(FloAdvice *advice);   // overlapping bodies, narrow gaps
void flo_advice_on_fluid(FloAdvice *advice);   // fluid that falls for ever
void flo_advice_on_falls(FloAdvice *advice);   // bodies that fall for ever
void flo_advice_on_streams(FloAdvice *advice); // emitters and sinks out of reach
void flo_advice_on_probes(FloAdvice *advice);  // probes out of reach
void flo_advice_on_joints(FloAdvice *advice);  // springs without hinges, winches without rope
void flo_advice_on_times(FloAdvice *advice);   // motions, emitters, sinks and events that begin after the end
void flo_advice_on_limits(FloAdvice *advice);  // max_particles
void flo_advice_on_method(FloAdvice *advice);  // keys that the method does not read
void flo_advice_on_materials(FloAdvice *advice); // unused ones, and values in wrong units
void flo_advice_on_speeds(FloAdvice *advice);    // speeds that are absurdly high
void flo_advice_on_steps(FloAdvice *advice);     // a fixed time step that is too long

#endif
