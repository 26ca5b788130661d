// Contacts of a soft body with a body that keeps its shape, between the nodes of the soft one: at tips of the
// other body (soft_tips.c), and where its round surface bulges into a face (soft_bulges.c).
#ifndef FLO_STATE_SOFT_FACES_H
#define FLO_STATE_SOFT_FACES_H

#include "state/state.h"

typedef struct FloSoftPair {
  const FloWorld *world;
  uint32_t body, other; // the first is soft
  double dt, margin;    // margin: largest gap of a contact [m]
  const FloMesh *faces; // of the soft body
  uint32_t *near;       // faces near the other body
  size_t n_near;
  double low[3], high[3]; // box around these faces
} FloSoftPair;

static inline FloBody *flo_soft_pair_body(const FloSoftPair *pair) {
  return &flo_bodies(pair->world)[pair->body];
}
static inline FloBody *flo_soft_pair_other(const FloSoftPair *pair) {
  return &flo_bodies(pair->world)[pair->other];
}
// Distance from the faces within which the other body matters.
static inline double flo_soft_pair_room(const FloSoftPair *pair) {
  return pair->margin + flo_soft_body(flo_soft_pair_body(pair))->half_thickness;
}

// A point of a face from the weights of its corners.
void flo_soft_pair_place(const FloSoftPair *pair, uint32_t face, const double weights[3], double x[3]);
// Lets the corners of the face hold the point, when its normal is known. False if one of them is glued to the
// other body.
bool flo_soft_pair_hold(const FloSoftPair *pair, uint32_t face, const double weights[3],
                        FloContactPoint *point);
// Room for n points behind those that there are; then takes over those that nodes hold.
FloStatus flo_soft_pair_reserve(FloWorld *world, size_t n, FloContactPoint **slots, FloError *error);
void flo_soft_pair_keep(FloWorld *world, const FloContactPoint *slots, size_t n);

FloStatus flo_soft_pair_add_tips(FloWorld *world, const FloSoftPair *pair, FloError *error);
FloStatus flo_soft_pair_add_bulges(FloWorld *world, const FloSoftPair *pair, FloError *error);

#endif
