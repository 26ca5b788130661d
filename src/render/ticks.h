// Round numbers for axes, legends and scale bars, and their labels.
#ifndef FLO_RENDER_TICKS_H
#define FLO_RENDER_TICKS_H

#include <stddef.h>

#define FLO_MAX_TICKS 16

typedef struct FloTicks {
  int count;
  double step;
  double values[FLO_MAX_TICKS];
  char labels[FLO_MAX_TICKS][24];
} FloTicks;

// About `wanted` (at most FLO_MAX_TICKS - 2) ticks inside low..high. They are multiples of 1, 2 or 5 times a
// power of ten, and labels have as many decimals as the step needs. Without finite low < high there are no
// ticks.
FloTicks flo_ticks(double low, double high, int wanted);

// The same with a given step: at most FLO_MAX_TICKS multiples of it inside low..high.
FloTicks flo_ticks_with_step(double low, double high, double step);

// Ticks at powers of ten, given as exponents, between two whole exponents: every one, or every second, third,
// ..., so that there are at most about `wanted`. Labels show the powers.
FloTicks flo_ticks_of_ten(int low, int high, int wanted);

// Largest 1, 2 or 5 times a power of ten that is <= `limit` (> 0).
double flo_round_down(double limit);

#endif
