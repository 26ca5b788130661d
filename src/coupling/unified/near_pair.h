// Formulas between a fluid particle and a sample that is very near to it: values in, values out.
#ifndef FLO_COUPLING_UNIFIED_NEAR_PAIR_H
#define FLO_COUPLING_UNIFIED_NEAR_PAIR_H

// (14) and (16): the impulse after which particle and body have the same velocity along the normal. `closing`
// is the speed of approach, `response` the sum of both inverse masses along the normal. Things that part are
// left alone.
static inline double near_pair_push(double closing, double response) {
  return closing > 0 ? closing / response : 0;
}

// (15), (17) and (18): the impulse after which they slide past each other by the share `slip` of the present
// speed.
static inline double near_pair_drag(double sliding, double slip, double response) {
  return (1 - slip) * sliding / response;
}

// (20) times the distance; q is the distance over half of the support.
static inline double near_pair_shape(double q) {
  if (q < 2.0 / 3) return 2.0 / 3;
  if (q < 1) return 2 * q - 1.5 * q * q;
  return q < 2 ? 0.5 * (2 - q) * (2 - q) : 0;
}

// (19) with the reduced mass of particle and body: `stiffness` is in m^2/s^2.
static inline double near_pair_repulsion(double stiffness, double response, double r, double h) {
  return stiffness / response * near_pair_shape(r / h) / r;
}

#endif
