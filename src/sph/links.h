// Rows over quadruples of particles, and projected Gauss-Seidel over them. A row measures velocities,
//
//   u = sum over its links g . v,
//
// and its unknown p changes them by -p g/m. A quadruple holds a velocity and the inverse mass of the
// particle.
//
// A pass reads two links at a time, so that each row has an even number of them. If one is missing, a link
// without gradient comes last and names the same particle as the one before it.
#ifndef FLO_SPH_LINKS_H
#define FLO_SPH_LINKS_H

#include "base/core.h"

// A particle that a row measures, and how: sixteen bytes, read in each iteration.
typedef struct FloLink {
  float g[3];
  uint32_t particle;
} FloLink;

// Rows [begin, end) of an order, which are visited one after the other.
typedef struct FloRowGroup {
  uint32_t begin, end;
} FloRowGroup;

// What a visit reads of a row.
typedef struct FloRowHead {
  uint32_t first_link, n_links;
  float wanted, softness;
  float inverse; // of the velocity per unit of p, softness included; 0: p stays
} FloRowHead;

// Rows that require u - softness p <= wanted, p >= 0, and one of them as an equality.
typedef struct FloLinkedRows {
  const FloLink *links;
  const FloRowHead *heads; // in the order of the visit,
  const uint32_t *order;   // as the numbers of rows
  float relaxation;        // a row goes as far as this times the way to its own solution
  size_t n_equalities;     // the first rows may have any p: they are equalities
  float *p, *move;         // move: the last change of p
  float *velocity;         // quadruples
} FloLinkedRows;

// The unknown of the row at a position, if the row's rate is u.
static inline float flo_links_choose(const FloLinkedRows *in, size_t position, float u, float relaxation) {
  const FloRowHead *head = &in->heads[position];
  const size_t row = in->order[position];
  const float error = u - head->softness * in->p[row] - head->wanted;
  const float p = in->p[row] + relaxation * head->inverse * error;
  return p < 0 && row >= in->n_equalities ? 0 : p;
}

static inline uint32_t flo_links_padded(uint32_t n) { return (n + 1) & ~1u; }

// Fills the place that padding takes, if the number of links is odd.
static inline void flo_links_pad(FloLink *links, uint32_t n) {
  if (n & 1) links[n] = (FloLink){.particle = links[n - 1].particle};
}

#endif
