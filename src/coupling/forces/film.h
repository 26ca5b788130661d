// Wetted films between bodies: the pressure of fluid in gaps that are too narrow for particles; see film.c.
#ifndef FLO_COUPLING_FORCES_FILM_H
#define FLO_COUPLING_FORCES_FILM_H

#include "coupling/forces/film_gaps.h"

// The height of a gap between bodies that touch where none is given, in spacings.
#define FLO_FILM_GAP 0.1

#define FLO_FILM_GAP_PARAM                                                                                   \
  FLO_NUMBER(                                                                                                \
      "film_gap", 0, 0, 1e3, "m",                                                                            \
      "height of the wet gap between bodies that touch; the inertia of the water that must flow into "       \
      "it holds a body back that leaves the floor, and smaller gaps do so longer; 0: a tenth of a "          \
      "spacing")

// A sample of the rigid set, and a direction out of its body.
typedef struct FloFilmSite {
  size_t sample;
  double out[3];
  double share; // of its face that fluid particles are in front of; 1 at a rim
} FloFilmSite;

// What films ask a method.
typedef struct FloFilmSource {
  const void *context;
  // The force of fluid on a sample, against the direction [N].
  double (*push)(const void *context, const FloWorld *world, const FloFilmSite *site);
  float *kept;        // per sample of the rigid set: pressure of the film in the last step [Pa]
  bool has_reactions; // FloNode.reaction is known, so that films have inertia
  double gap;         // height of a gap between bodies that touch [m]; 0: FLO_FILM_GAP
} FloFilmSource;

// The field of samples that keeps the pressure of films.
#define FLO_FILM_FIELD                                                                                       \
  {                                                                                                          \
    "film_pressure", FLO_TYPE_F32, 1u << FLO_SET_RIGID, true, "Pa",                                          \
        "pressure of a wetted film between bodies", true                                                     \
  }

// Extra fields of a method with implicit pressure: the last step's multipliers of fluid and of samples of the
// rigid set, and FLO_FILM_FIELD [Pa].
typedef struct FloFilmFields {
  int fluid, samples, film;
  double gap; // as in FloFilmSource
} FloFilmFields;

typedef struct FloFilms {
  FloFilmForce *forces; // of all samples of the rigid set
  size_t n_forces;
  // For one step:
  FloFilmSource source;
  double dt;
  float least_sum;   // kernel sum over fluid from which on a sample is wet
  bool *are_wet;     // per body: it has wet samples
  bool *are_near;    // per body: it has a film, or is near enough to another body for one
  bool *are_touched; // per body: contacts pressed on it in the last step
  uint32_t *near;    // bodies that are near enough for a film
  size_t n_near;
  double sheet_slope; // slope of the kernel sum towards a sheet of fluid one spacing away
  double *densities;  // per body: of the fluid at the rims of its gaps
  FloFilmGaps gaps;   // empty if films have no inertia
  FloBuffer buffers[6];
} FloFilms;

// Finds the forces of films in a step of dt. Needs the operator of bodies and fluid.
FloStatus flo_films_press(FloFilms *films, FloWorld *world, const FloFilmSource *source, double dt,
                          FloError *error);
// The same where the force of fluid on samples follows from multipliers.
FloStatus flo_films_press_by_multipliers(FloFilms *films, FloWorld *world, const FloFilmFields *fields,
                                         double dt, FloError *error);
// Keeps the pressures of the films for the next step, when nothing can fail any more.
void flo_films_keep(const FloFilms *films);
// Calls `take` with the force and the torque of each film on each node.
typedef void (*FloFilmTake)(void *context, size_t node, const double force[3], const double torque[3]);
void flo_films_push_nodes(const FloFilms *films, const FloWorld *world, FloFilmTake take, void *context);
// A function for it that adds to wrenches, six doubles for each node: `wrenches`.
void flo_films_take_wrench(void *wrenches, size_t node, const double force[3], const double torque[3]);
// Adds the forces of films to quadruples per wall sample, at the samples that are nearest.
void flo_films_add_to_walls(const FloFilms *films, const FloWorld *world, float *wall_force);
// Adds them to the force fields of the samples of bodies that forces move.
void flo_films_add_to_bodies(const FloFilms *films, FloWorld *world);
void flo_films_free(FloFilms *films, FloMemory *memory);

#endif
