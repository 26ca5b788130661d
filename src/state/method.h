// A coupling method: one folder and one constant of this type. It does the whole step of fluid and bodies.
// Parameters, fields, operators and capabilities are data. So scenes, --help, checkpoints and output need no
// code of a method, and no shared file names a method.
#ifndef FLO_STATE_METHOD_H
#define FLO_STATE_METHOD_H

#include "bodies/body.h"

// A pair operator of a method: the neighbours of each particle of one set in another set; see sph/pairs.h.
typedef struct FloOperatorDef {
  FloSet rows, columns;
  bool with_viscous;   // also stores the factors of viscous forces
  bool between_bodies; // samples of one body are not neighbours of each other
  bool is_on_demand;   // computed by flo_world_need_pairs only; otherwise in each step
} FloOperatorDef;

// Entries of a table of parameters.
#define FLO_NUMBER(name, value, low, high, unit, help)                                                       \
  { name, value, low, high, unit, help, FLO_PARAM_NUMBER, NULL }
#define FLO_WHOLE(name, value, low, high, help)                                                              \
  { name, value, low, high, "", help, FLO_PARAM_COUNT, NULL }
#define FLO_SWITCH(name, value, help)                                                                        \
  { name, value, 0, 1, "", help, FLO_PARAM_SWITCH, NULL }
#define FLO_WORDS(name, value, words, n_words, help)                                                         \
  { name, value, 0, n_words - 1, "", help, FLO_PARAM_CHOICE, words }

// Which bodies a method can move by forces.
typedef enum FloMoves {
  FLO_MOVES_NONE,  // bodies can only stand still or follow motions
  FLO_MOVES_ALONE, // bodies that do not touch other bodies
  FLO_MOVES_ALL,
} FloMoves;

typedef struct FloMethod {
  const char *name, *paper;
  const FloParam *params;          // ended by a name of NULL
  const FloField *fields;          // extra particle fields, ended by a name of NULL; or NULL
  const FloOperatorDef *operators; // n_operators of them
  size_t n_operators;
  FloMoves moves;
  bool moves_pieces;    // bodies of several nodes, too
  bool touches_soft;    // its contacts know how soft bodies respond, so these touch other bodies
  bool has_small_steps; // explicit steps, so short that neighbour lists can be used for several of them
  bool leaps;           // velocities are those half a step before the positions: leapfrog
  bool reads_slip;      // uses slip of bodies and materials
  bool reads_restitution;
  bool reads_interfaces; // uses surface tension between fluids
  size_t state_size;
  const FloStateField *saved; // the part of the state that must be saved; or NULL
  FloStatus (*init)(FloWorld *, void *state,
                    FloError *); // before the first step, and after something was added
  double (*max_dt)(const FloWorld *, const void *state, const char **limited_by);
  FloStatus (*step)(FloWorld *, void *state, double dt, FloError *);
  // Fills the force fields of the solid samples for the state of the last step.
  FloStatus (*solid_forces)(FloWorld *, void *state, FloError *);
  // What the author of a scene should know about its fluids and bodies with this method: a sentence. False:
  // nothing. NULL: never.
  bool (*advise)(const FloWorld *, char *text, size_t size);
  void (*finish)(FloWorld *, void *state);
} FloMethod;

#endif
