// The gaps of wetted films, in connected pieces, and the inertia of the fluid in them; see film_inertia.c.
#ifndef FLO_COUPLING_FORCES_FILM_GAPS_H
#define FLO_COUPLING_FORCES_FILM_GAPS_H

#include "state/state.h"

// The force of a film on a sample, and the body that it faces; UINT32_MAX: none.
typedef struct FloFilmForce {
  double force[3];
  double away[3];  // direction away from the nearest other body, if it is near
  double distance; // to that body
  double share;    // of the sample's face that fluid particles are in front of
  double push;     // of these particles [N]
  float pressure;  // of the film, to be kept for the next step [Pa]
  uint32_t facing;
  uint32_t gap; // number of the piece that it belongs to, if it faces a body
} FloFilmForce;

// A connected piece of the gap between a body and others.
typedef struct FloFilmGap {
  double away[3];        // mean direction from the others, unit length
  double middle[3];      // of its area
  double count;          // of its samples
  double area, moment;   // moment: polar, of the area about the middle
  double height;         // [m]
  double empty;          // share of it without particles; these have inertia of their own
  double push;           // of its pressures in all, without inertia [N]
  double mass, response; // m and r at the head of film_inertia.c [kg, 1/kg]
  double swing;          // acceleration by the term in u² [m/s²]
  double total;          // force with inertia [N]
  uint32_t first_part;   // of the body below which it lies
  bool is_one_direction; // its samples face nearly the same way
  bool resists;          // inertia matters
} FloFilmGap;

// What a gap does to one of the bodies around it.
typedef struct FloFilmPart {
  uint32_t body, next; // next: part of the same gap; UINT32_MAX: none
  double share;        // of the gap's force, negative for bodies that are faced
  double middle[3];
  double j[6]; // share times direction, and its moment about the body's node
} FloFilmPart;

typedef struct FloFilmGaps {
  FloFilmGap *gaps;
  FloFilmPart *parts;
  size_t n_gaps, n_parts;
  double *accelerations;             // per body: six, of its node
  uint32_t *parents, *nexts, *heads; // for finding connected samples
  size_t n_heads;                    // a power of two
  FloBuffer buffers[6];
} FloFilmGaps;

// Forgets all gaps.
FloStatus flo_film_gaps_begin(FloFilmGaps *gaps, FloWorld *world, FloError *error);
// Adds the gaps of a body. `height` is added to the distances of the surfaces [m].
FloStatus flo_film_gaps_add(FloFilmGaps *gaps, FloWorld *world, FloFilmForce *forces, size_t body,
                            double height, FloError *error);
void flo_film_gaps_free(FloFilmGaps *gaps, FloMemory *memory);

// The integral of f over a gap of this area and polar moment; f is defined at the head of film_inertia.c.
double flo_film_integral(int dim, double area, double moment);
// The acceleration of a gap by the square of its speed, at the end of a step of dt [m/s²].
double flo_film_swing(int dim, double speed, double height, double dt);
// Lessens or raises forces by the inertia of the fluid in the gaps. `densities` and `are_touched` are of
// bodies.
void flo_film_gaps_resist(FloFilmGaps *gaps, const FloWorld *world, FloFilmForce *forces,
                          const double *densities, const bool *are_touched, double dt);

#endif
