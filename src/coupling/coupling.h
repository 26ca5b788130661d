// A coupling method: one file and one constant of this type. It owns the whole advance of fluid and bodies;
// parameters and fields are data, so that scenes, --help, checkpoints and output need no code of the method's
// own.
#ifndef FLO_COUPLING_COUPLING_H
#define FLO_COUPLING_COUPLING_H

#include "base/core.h"
#include "sph/particles.h"

// Names of the values 0, 1, ... of a parameter that is a choice.
typedef struct FloParamWords {
  const char *param;
  const char *words[8]; // ended by NULL
} FloParamWords;

typedef struct FloCoupling {
  const char *name, *paper;
  const FloParam *params;     // ended by a name of NULL
  const FloParamWords *words; // ended by a param of NULL; or NULL
  const FloField *fields;     // extra particle fields, ended by a name of NULL; or NULL
  bool has_small_steps;       // as explicit ones are: neighbour lists may serve several of them
  bool has_wall_rows;         // sweeps over the samples of walls in each step
  bool moves_bodies;          // knows what to do with dynamic bodies
  size_t state_size;
  size_t n_saved; // doubles at the start of the state that a run must keep to continue
  FloStatus (*init)(FloWorld *, void *state, FloError *); // before the first step
  double (*max_dt)(const FloWorld *, const void *state, const char **limited_by);
  FloStatus (*step)(FloWorld *, void *state, double dt, FloError *);
  // Fills the force fields of the solid samples for the state of the last step.
  FloStatus (*solid_forces)(FloWorld *, void *state, FloError *);
  void (*finish)(FloWorld *, void *state);
} FloCoupling;

extern const FloCoupling flo_wcsph, flo_monolithic, flo_direct_forcing;

const FloCoupling *flo_coupling_find(const char *name); // NULL if there is none

#endif
