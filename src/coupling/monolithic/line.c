// How far to go along a conjugate way. The paper's NNCG takes the step of Jacobi as it is, which is cautious;
// conjugate gradients go to where the energy is least. All errors depend linearly on the pressures, so two
// points of a line tell them all: where a trial started, and the trial itself. The best point between or
// beyond them costs no sweep over pairs.
//
// Friction, whose limits depend on other unknowns, derives from no energy, and all contacts of a body change
// together: contacts keep the steps of the paper. What they do to the fluid along the line counts as if it
// were linear, too, and the next trial sees what is left.
#include "base/parallel.h"
#include "coupling/monolithic/monolithic.h"

typedef struct Line {
  FloMonolithic *mono;
  float length; // of the way from the start; 1 is the trial
} Line;

static float between(float from, float to, float length) { return from + length * (to - from); }

// Beyond the trial pressures may come to zero, and the errors then are not quite those of the system. They
// serve to choose the next way; the next trial has its own.
static void go_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Line *line = context;
  const FloMonolithic *mono = line->mono;
  for (size_t i = begin; i < end; ++i) {
    float p = between(mono->from_pressure[i], mono->pressure[i], line->length);
    mono->pressure[i] = p > 0 ? p : 0;
    mono->error[i] = between(mono->from_error[i], mono->error[i], line->length);
  }
}

void flo_monolithic_go(FloWorld *world, FloMonolithic *mono, double length) {
  Line line = {.mono = mono, .length = (float)length};
  flo_parallel_for(world->threads, mono->n_fluid, 4096, go_range, &line);
}
