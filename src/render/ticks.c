#include "render/ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double flo_round_down(double limit) {
  double power = pow(10, floor(log10(limit)));
  double share = limit / power * (1 + 1e-9);
  return power * (share >= 10 ? 10 : share >= 5 ? 5 : share >= 2 ? 2 : 1);
}

// Smallest 1, 2 or 5 times a power of ten that is >= `least`.
static double round_up(double least) {
  double step = flo_round_down(least);
  if (step >= least * (1 - 1e-9)) return step;
  double share = step / pow(10, floor(log10(step) + 1e-9));
  return step * (share > 1.5 && share < 3 ? 2.5 : 2);
}

// "3e+06" reads better as "3e6".
static void shorten_exponent(char *text) {
  char *e = strchr(text, 'e');
  if (!e) return;
  char *from = e + 1, *to = e + 1;
  if (*from == '-') to++;
  from++;
  while (*from == '0' && from[1]) from++;
  memmove(to, from, strlen(from) + 1);
}

static void write_label(double value, double step, double largest, char *label, size_t size) {
  // Larger and smaller numbers are easier to read as powers of ten.
  if (largest >= 1e6 || largest < 1e-3) {
    int digits = (int)fmax(0, floor(log10(fmax(fabs(value), step)) + 1e-9) - floor(log10(step) + 1e-9));
    if (value == 0)
      snprintf(label, size, "0");
    else
      snprintf(label, size, "%.*e", digits > 6 ? 6 : digits, value);
    shorten_exponent(label);
    return;
  }
  int decimals = (int)fmax(0, -floor(log10(step) + 1e-9));
  snprintf(label, size, "%.*f", decimals > 9 ? 9 : decimals, value);
}

FloTicks flo_ticks_with_step(double low, double high, double step) {
  FloTicks ticks = {.step = step};
  const double largest = fmax(fabs(low), fabs(high)), first = ceil(low / step - 1e-6);
  for (int k = 0; k < FLO_MAX_TICKS; k++) {
    double value = (first + k) * step;
    if (value > high + 1e-6 * step) break;
    if (value == 0) value = 0; // not -0
    ticks.values[ticks.count] = value;
    write_label(value, step, largest, ticks.labels[ticks.count], sizeof ticks.labels[0]);
    ticks.count++;
  }
  return ticks;
}

FloTicks flo_ticks(double low, double high, int wanted) {
  const double span = high - low;
  if (!(span > 0) || !isfinite(span) || wanted < 1) return (FloTicks){0};
  double step = round_up(span / (wanted < FLO_MAX_TICKS - 2 ? wanted : FLO_MAX_TICKS - 2));
  // If the step is below the rounding of the ends, its multiples cannot be told apart.
  if (!(step > 1e-12 * fmax(fabs(low), fabs(high)))) return (FloTicks){0};
  return flo_ticks_with_step(low, high, step);
}

FloTicks flo_ticks_of_ten(int low, int high, int wanted) {
  const int n_steps = wanted < 2 ? 2 : wanted < FLO_MAX_TICKS ? wanted : FLO_MAX_TICKS - 1;
  const int step = high > low ? (high - low + n_steps - 1) / n_steps : 1;
  FloTicks ticks = {.step = step};
  for (int k = low; k <= high && ticks.count < FLO_MAX_TICKS; k += step) {
    char *label = ticks.labels[ticks.count];
    if (k >= -3 && k <= 4)
      snprintf(label, sizeof ticks.labels[0], "%.*f", k < 0 ? -k : 0, pow(10, k));
    else
      snprintf(label, sizeof ticks.labels[0], "1e%d", k);
    ticks.values[ticks.count++] = k;
  }
  return ticks;
}
