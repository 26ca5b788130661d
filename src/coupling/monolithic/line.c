// Length of the step along a conjugate direction. The paper's NNCG takes the step of Jacobi as it is, which
// is cautious. Conjugate gradients go to the point of least energy. All errors depend linearly on the
// pressures, so two points of a line give the errors at all others: the start of a trial, and the trial
// itself. The best point between or beyond them needs no sweep over pairs.
//
// Contacts keep the steps of the paper: friction derives from no energy, since its limits depend on other
// unknowns, and all contacts of a body change together. Their effect on the fluid along the line is taken as
// linear, too. The next trial finds the error of that.
#include "base/parallel.h"
#include "coupling/monolithic/monolithic.h"

typedef struct Line {
  FloMonolithic *mono;
  float length; // position on the line; 0: start, 1: trial
} Line;

static float between(float from, float to, float length) { return from + length * (to - from); }

// Beyond the trial some pressures may be clamped to zero. Then the errors are slightly wrong. They only serve
// to choose the next direction; the next trial computes its own errors.
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
  flo_parallel_for(world->threads, mono->n_pressures, 4096, go_range, &line);
}
