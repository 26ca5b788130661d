// A number that depends on three others, with first and second derivatives.
#ifndef FLO_SOFT_JET_H
#define FLO_SOFT_JET_H

#include <math.h>

typedef struct FloJet {
  double value, slope[3], bend[9];
} FloJet;

static inline FloJet flo_jet_variable(double value, int k) {
  FloJet jet = {.value = value};
  jet.slope[k] = 1;
  return jet;
}

// a + s b.
static inline FloJet flo_jet_sum(FloJet a, double s, FloJet b) {
  a.value += s * b.value;
  for (int i = 0; i < 3; ++i) a.slope[i] += s * b.slope[i];
  for (int i = 0; i < 9; ++i) a.bend[i] += s * b.bend[i];
  return a;
}

static inline FloJet flo_jet_product(const FloJet *a, const FloJet *b) {
  FloJet out = {.value = a->value * b->value};
  for (int i = 0; i < 3; ++i) out.slope[i] = a->slope[i] * b->value + a->value * b->slope[i];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      out.bend[3 * i + j] = a->bend[3 * i + j] * b->value + a->value * b->bend[3 * i + j] +
                            a->slope[i] * b->slope[j] + a->slope[j] * b->slope[i];
  return out;
}

// f(a) from the value and the derivatives of f.
static inline FloJet flo_jet_chain(const FloJet *a, double f, double df, double ddf) {
  FloJet out = {.value = f};
  for (int i = 0; i < 3; ++i) out.slope[i] = df * a->slope[i];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      out.bend[3 * i + j] = df * a->bend[3 * i + j] + ddf * a->slope[i] * a->slope[j];
  return out;
}

static inline FloJet flo_jet_root(const FloJet *a) {
  double root = sqrt(a->value);
  return flo_jet_chain(a, root, 0.5 / root, -0.25 / (root * a->value));
}
// 1 / sqrt(a).
static inline FloJet flo_jet_inverse_root(const FloJet *a) {
  double f = 1 / sqrt(a->value);
  return flo_jet_chain(a, f, -0.5 * f / a->value, 0.75 * f / (a->value * a->value));
}

#endif
