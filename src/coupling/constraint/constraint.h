// The parts of the method `constraint`; see constraint.c for what it does.
//
// Everything that fluid must obey is a row. A row measures how fast something is compressed: the density of a
// fluid particle, the kernel of a wet sample, or the distance of a particle from a surface,
//
//   u = sum over links g . v + sum over touches J . V + rate by walls whose motion is given,
//
// v: velocities of fluid particles, V: six velocities of nodes. Its unknown p >= 0 is an impulse times a
// length [J s]: it changes the momenta by -p g and -p J. The row requires
//
//   u - softness p <= wanted, p >= 0, and one of them is an equality.
#ifndef FLO_COUPLING_CONSTRAINT_CONSTRAINT_H
#define FLO_COUPLING_CONSTRAINT_CONSTRAINT_H

#include "coupling/forces/body_solve.h"
#include "coupling/forces/carried.h"
#include "coupling/forces/film.h"
#include "coupling/forces/implicit_pressure.h"
#include "coupling/forces/wet_samples.h"
#include "solve/report.h"
#include "solve/rows.h"
#include "sph/arrays.h"
#include "sph/cover.h"
#include "sph/passes.h"

#include <stdatomic.h>

// Parameters, in the order of the table.
enum {
  FLO_CONSTRAINT_SOLVER,
  FLO_CONSTRAINT_ITERATIONS,
  FLO_CONSTRAINT_TOLERANCE,
  FLO_CONSTRAINT_TAU,
  FLO_CONSTRAINT_EPSILON,
  FLO_CONSTRAINT_WARM_START,
  FLO_CONSTRAINT_LEVELS,
  FLO_CONSTRAINT_ROW_ORDER,
  FLO_CONSTRAINT_BILATERAL,
  FLO_CONSTRAINT_BOUNDARY,
  FLO_CONSTRAINT_DISTANCE,
  FLO_CONSTRAINT_ALPHA,
  FLO_CONSTRAINT_SOUND_SPEED,
  FLO_CONSTRAINT_HISTORY,
  FLO_CONSTRAINT_PASSES,
  FLO_CONSTRAINT_FILM_GAP,
  FLO_CONSTRAINT_FIRST_FORCE_PARAM
};

enum { FLO_CONSTRAINT_GAUSS_SEIDEL, FLO_CONSTRAINT_NNCG, FLO_CONSTRAINT_STANDARD };
enum { FLO_CONSTRAINT_BY_CELLS, FLO_CONSTRAINT_NATURAL };
enum { FLO_CONSTRAINT_SAMPLES, FLO_CONSTRAINT_DISTANCES, FLO_CONSTRAINT_FIELD };

// Extra fields.
// PUSH: three of them.
enum {
  FLO_CONSTRAINT_WARM,
  FLO_CONSTRAINT_WET,
  FLO_CONSTRAINT_PUSH,
  FLO_CONSTRAINT_FILM = FLO_CONSTRAINT_PUSH + 3
};

// A node that a row measures. `reply` is M^-1 J^T.
typedef struct FloNodeTouch {
  uint32_t node;
  double j[6], reply[6];
} FloNodeTouch;

// A fluid particle near a body, and what the body covers of its kernel if there is a boundary field.
typedef struct FloNearSolid {
  uint32_t particle, body, sample; // a sample of the body near it; see flo_world_find_sample
  float share, stress;             // of the kernel, and of r . grad W
  float g[3];                      // gradient of the share [1/m]
} FloNearSolid;

// The distance of a fluid particle from a face of a body.
typedef struct FloFluidContact {
  uint32_t particle, body, sample; // see flo_world_find_sample
  float normal[3];                 // out of the body
  float distance, gap;             // gap: beyond the distance that is kept [m]
} FloFluidContact;

// A point below one, two or three faces next to a particle; see feet.c.
enum { FLO_FOOT_FACES = 3 };
typedef struct FloFoot {
  uint32_t contacts[FLO_FOOT_FACES]; // whose faces these are
  uint32_t n_faces;
  double x[3];
  float covered; // share of all solids there
} FloFoot;

// Floats for each row: unknowns, what the row wants, velocity per unit of p (softness included), softness.
// Conjugate directions need the unknowns before a sweep and the last direction. With implicit viscosity,
// lack: of the row's condition when viscosity has answered; stiffness: unknown per lack; for each particle,
// viscous: velocity with viscosity; felt: the rows' force that viscosity has answered; other: the rows'
// impulse since (passes.c).
#define FLO_CONSTRAINT_ARRAYS(X)                                                                             \
  X(before, FLO_SET_FLUID, 4)                                                                                \
  X(explicit_force, FLO_SET_FLUID, 4)                                                                        \
  X(start, FLO_SET_FLUID, 4)                                                                                 \
  X(velocity, FLO_SET_FLUID, 4)                                                                              \
  X(force, FLO_SET_FLUID, 4)                                                                                 \
  X(viscous, FLO_SET_FLUID, 4)                                                                               \
  X(felt, FLO_SET_FLUID, 4)                                                                                  \
  X(other, FLO_SET_FLUID, 4)                                                                                 \
  X(from_velocity, FLO_SET_FLUID, 4)                                                                         \
  X(way_velocity, FLO_SET_FLUID, 4)                                                                          \
  X(violation, FLO_NO_SET, 1)                                                                                \
  X(p, FLO_NO_SET, 1)                                                                                        \
  X(wanted, FLO_NO_SET, 1)                                                                                   \
  X(response, FLO_NO_SET, 1)                                                                                 \
  X(softness, FLO_NO_SET, 1)                                                                                 \
  X(wall_rate, FLO_NO_SET, 1)                                                                                \
  X(from, FLO_NO_SET, 1)                                                                                     \
  X(weight, FLO_NO_SET, 1)                                                                                   \
  X(move, FLO_NO_SET, 1)                                                                                     \
  X(way, FLO_NO_SET, 1)                                                                                      \
  X(lack, FLO_NO_SET, 1)                                                                                     \
  X(stiffness, FLO_NO_SET, 1)

typedef enum FloConstraintBuffer {
  FLO_CONSTRAINT_LINKS,
  FLO_CONSTRAINT_LINK_BEGIN, // per row
  FLO_CONSTRAINT_LINK_COUNT,
  FLO_CONSTRAINT_HEADS, // per row, in their order
  FLO_CONSTRAINT_ORDER,
  FLO_CONSTRAINT_POSITION,
  FLO_CONSTRAINT_KEYS,
  FLO_CONSTRAINT_SCRATCH,
  FLO_CONSTRAINT_GROUPS,
  FLO_CONSTRAINT_WET_SAMPLES, // per wet row: index of the sample
  FLO_CONSTRAINT_FLUID_CONTACTS,
  FLO_CONSTRAINT_FACE_COUNT,
  FLO_CONSTRAINT_FEET,
  FLO_CONSTRAINT_COVERINGS,
  FLO_CONSTRAINT_NEAR,
  FLO_CONSTRAINT_NEAR_BEGIN, // per particle
  FLO_CONSTRAINT_TOUCHES,
  FLO_CONSTRAINT_TOUCH_BEGIN, // per row that touches nodes, in their order
  FLO_CONSTRAINT_NODES,       // doubles: before a sweep and along the last direction, and wrenches
  FLO_CONSTRAINT_LAMBDA,      // doubles per component of the rows of points
  FLO_CONSTRAINT_WALL_P,      // floats per sample: p of wet rows
  FLO_CONSTRAINT_BODY_P,
  FLO_CONSTRAINT_WALL_FORCE,
  FLO_CONSTRAINT_HISTORY_STATE,
  FLO_CONSTRAINT_HISTORY_VALUES,
  FLO_CONSTRAINT_CELLS, // of the second level; see FloCoarse
  FLO_CONSTRAINT_COARSE_ROWS,
  FLO_CONSTRAINT_COARSE_VECTORS,
  FLO_CONSTRAINT_COARSE_LINKS,
  FLO_CONSTRAINT_COARSE_PARTICLES,
  FLO_CONSTRAINT_COARSE_NUMBERS,
  FLO_CONSTRAINT_COARSE_TOUCHES,
  FLO_CONSTRAINT_MIXING, // floats per row; see mixing.c
  FLO_N_CONSTRAINT_BUFFERS
} FloConstraintBuffer;

// Colours: at most three along each axis, for densities and for distances.
enum { FLO_CONSTRAINT_COLOURS = 2 * 27 };

// Set in the sort keys of rows that touch nodes.
#define FLO_TOUCHING_KEY ((uint64_t)1 << 63)

// The rows of one cell that change together on the second level, and what they measure together.
typedef struct FloCell {
  FloRowGroup coloured, touching;
  uint32_t first_link, n_links, first_touch, n_touches;
} FloCell;

// A cell shares particles with itself and its neighbours; distances of these are cells of their own.
enum { FLO_COARSE_COLUMNS = 2 * 27 };

// One row of the matrix of the second level, without nodes.
typedef struct FloCoarseRow {
  uint32_t count, column[FLO_COARSE_COLUMNS];
  float value[FLO_COARSE_COLUMNS];
} FloCoarseRow;

// Along each axis a particle is within one support of two cells, which are at least two supports wide. Its
// distances from surfaces are rows of one more cell.
enum { FLO_CELLS_OF_PARTICLE = 9 };

// What a cell measures of a particle.
typedef struct FloCellLink {
  float g[3];
  uint32_t cell;
} FloCellLink;

// The second level (coarse.c).
typedef struct FloCoarse {
  FloCell *cells; // first those with coloured rows, as `groups`
  size_t n_cells, n_touches, list_size;
  size_t n_made; // how often the level was made in this solution
  _Atomic size_t n_links;
  FloLink *links, *lists; // lists: scratch of each thread, `list_size` long
  FloNodeTouch *touches;
  FloCellLink *of_particle; // FLO_CELLS_OF_PARTICLE for each particle, in the order of cells
  uint32_t *n_of_particle;
  uint32_t *place, *column_of; // scratch of each thread
  FloCoarseRow *rows;
  double *soft, *inverse; // per cell: softness, and the inverse of the diagonal
  double *change, *residual, *way, *image;
  double *motion; // six per node: what a direction gives them
} FloCoarse;

typedef struct FloConstraint {
  FloExpectations expected;
  double dt, rest_volume, rest_sum, xi;
  size_t n_fluid, n_walls, n_bodies, n_feet, n_distances, n_rows; // rows by kind, in this order; all of them
  size_t n_coloured; // rows that touch no nodes come first in the order
  FloForces forces;
  FloBodyRows drag;
  FloWetSamples wet_samples;
  FloFilms films; // with samples only
  FLO_ARRAYS(FLO_CONSTRAINT_ARRAYS);
  FloBuffer buffers[FLO_N_CONSTRAINT_BUFFERS];
  FloLink *links;
  uint32_t *link_begin, *link_count, *wet, *touch_begin;
  FloRowHead *heads;          // by position
  uint32_t *order, *position; // of rows: which is at a position, and the position of each
  FloRowGroup *groups;        // rows of one colour that lie in one cell
  size_t n_groups, colour_begin[FLO_CONSTRAINT_COLOURS + 1]; // groups of each colour
  int n_colours;
  FloNodeTouch *touches;
  size_t n_touches;
  FloFluidContact *contacts; // in the order of particles
  FloFoot *feet;
  FloNearSolid *near; // in the order of particles
  uint32_t *near_begin;
  FloCover cover;
  FloCovering *coverings; // of each body
  size_t n_coverings;     // bodies that there were when blocks of the cover were made
  uint64_t coverings_at;  // when that was
  FloBodySolve bodies;
  // Of the motions of bodies: before a sweep, and along the last direction.
  double *from_motion, *way_motion, *from_given, *way_given, *wrenches;
  double *from_lambda, *way_lambda;
  float *wall_p, *body_p;
  FloCoarse coarse;
  int n_mixed;            // passes of this step that were mixed
  size_t n_disagreements; // steps that ended although viscosity and rows disagreed
} FloConstraint;

// Groups that a thread takes at once: enough rows that sharing them pays.
static inline size_t flo_constraint_groups_per_chunk(const FloConstraint *c) {
  enum { ROWS_PER_CHUNK = 512 };
  return 1 + ROWS_PER_CHUNK * c->n_groups / (c->n_coloured + 1);
}

static inline size_t flo_constraint_n_wet(const FloConstraint *c) { return c->n_walls + c->n_bodies; }
static inline size_t flo_constraint_first_foot(const FloConstraint *c) {
  return c->n_fluid + flo_constraint_n_wet(c);
}
static inline size_t flo_constraint_first_distance(const FloConstraint *c) {
  return flo_constraint_first_foot(c) + c->n_feet;
}

static inline const FloFoot *flo_constraint_foot(const FloConstraint *c, size_t row) {
  return &c->feet[row - flo_constraint_first_foot(c)];
}
// The contact of a row of a distance, and the first one of a row of a foot.
static inline const FloFluidContact *flo_constraint_contact(const FloConstraint *c, size_t row) {
  const size_t first = flo_constraint_first_distance(c);
  return &c->contacts[row >= first ? row - first : flo_constraint_foot(c, row)->contacts[0]];
}

// Whether the row takes part in the second level: it pushes, or may pull as well.
static inline bool flo_constraint_is_active(const FloConstraint *c, bool is_bilateral, size_t row) {
  return (c->p[row] > 0 || (is_bilateral && row < c->n_fluid)) && c->response[row] > 0;
}

static inline int flo_constraint_boundary(const FloWorld *world) {
  return (int)world->params[FLO_CONSTRAINT_BOUNDARY];
}
static inline bool flo_constraint_has_samples(const FloWorld *world) {
  return flo_constraint_boundary(world) == FLO_CONSTRAINT_SAMPLES;
}
static inline bool flo_constraint_has_field(const FloWorld *world) {
  return flo_constraint_boundary(world) == FLO_CONSTRAINT_FIELD;
}

// A buffer that grows gets half as much again, so that memory is seldom allocated.
FloStatus flo_constraint_reserve(FloWorld *world, FloConstraint *c, FloConstraintBuffer which, size_t size,
                                 size_t keep, FloError *error);

// ---- Solids near fluid (near_solids.c) ----

FloStatus flo_constraint_find_near(FloWorld *world, FloConstraint *c, FloError *error);
// How the field of a body is stored, and what walls that overlap leave of each other (overlaps.c).
FloStatus flo_constraint_find_coverings(FloWorld *world, FloConstraint *c, FloError *error);
FloCoverOwners flo_constraint_owners(const FloWorld *world);
// The boundary field of what is near.
FloStatus flo_constraint_find_cover(FloWorld *world, FloConstraint *c, FloError *error);
float flo_constraint_cover_share(const FloConstraint *c, size_t i);
float flo_constraint_cover_stress(const FloConstraint *c, size_t i);
// Adds the gradient of a particle's share. Returns the rate by bodies whose motion is given.
float flo_constraint_add_cover(const FloWorld *world, const FloConstraint *c, size_t i, float own[3]);
// g . (velocity of a body where the particle is); 0 if forces move the body.
float flo_constraint_given_rate(const FloWorld *world, uint32_t body, uint32_t particle, const float g[3]);

// ---- Feet (feet.c) ----

// After the contacts of fluid.
FloStatus flo_constraint_find_feet(FloWorld *world, FloConstraint *c, FloError *error);
void flo_constraint_link_foot(const FloWorld *world, FloConstraint *c, size_t row);
// The sum over the links of a row; what bodies get for a unit of its unknown adds up to this.
void flo_constraint_sum_links(const FloConstraint *c, size_t row, double sum[3]);
// The part of the sum that belongs to one of the faces of a foot.
void flo_constraint_foot_part(const FloConstraint *c, const FloFoot *foot, uint32_t face, const double sum[3],
                              double part[3]);
// Forces of feet on fluid, and on samples of walls.
void flo_constraint_add_feet(const FloConstraint *c, float *force);
void flo_constraint_add_feet_to_walls(const FloWorld *world, const FloConstraint *c, float *force);
// After the unknowns of fluid.
void flo_constraint_start_feet(FloConstraint *c);

// ---- Rows (rows.c, fluid_contacts.c, touches.c, colours.c) ----

// Finds which rows there are, their order, and their links, violations, wall rates and touches.
FloStatus flo_constraint_make_rows(FloWorld *world, FloConstraint *c, FloError *error);
FloStatus flo_constraint_find_distances(FloWorld *world, FloConstraint *c, FloError *error);
void flo_constraint_link_distance(const FloWorld *world, FloConstraint *c, size_t row);
// Orders rows so that those of one colour share no particle unless they are in the same group.
FloStatus flo_constraint_colour(FloWorld *world, FloConstraint *c, FloError *error);
FloStatus flo_constraint_find_touches(FloWorld *world, FloConstraint *c, FloError *error);
bool flo_constraint_touches_nodes(const FloWorld *world, const FloConstraint *c, size_t row);
// After everything that moves has its velocity before the step: what rows want, and their responses.
void flo_constraint_want(const FloWorld *world, FloConstraint *c);

// ---- Before the solution (viscous.c) ----

// The unknowns of the last step, times `share`.
void flo_constraint_start_unknowns(const FloWorld *world, FloConstraint *c, double share);
// The share of the last step's unknowns that the iterations start from.
double flo_constraint_warmth(const FloWorld *world, const FloConstraint *c);
// Applies implicit viscosity to the velocities in `start`.
FloStatus flo_constraint_make_viscous(FloWorld *world, FloConstraint *c, FloError *error);

// ---- Bodies (bodies.c) ----

FloStatus flo_constraint_meet_bodies(FloWorld *world, FloConstraint *c, FloError *error);
// After the forces of the step, without rows, acted on bodies.
FloStatus flo_constraint_start_bodies(FloWorld *world, FloConstraint *c, FloError *error);
// One iteration over contacts and joints. Returns the largest velocity that a contact still lacks; those
// below `speed` are ignored.
double flo_constraint_sweep_bodies(FloWorld *world, FloConstraint *c, double speed);
void flo_constraint_push_bodies(FloWorld *world, FloConstraint *c);

// ---- The solution (solve.c) ----

typedef struct FloIterating {
  bool is_conjugate, has_levels, is_natural;
  bool is_continued; // velocities have the unknowns already
  int n_iterations;
  double tolerance;
  double *residuals; // out, at the start and after each iteration; NULL: not asked for
} FloIterating;

FloStatus flo_constraint_solve(FloWorld *world, FloConstraint *c, FloError *error);
// From the unknowns in `p`, and velocities without them.
FloSolveReport flo_constraint_iterate(FloWorld *world, FloConstraint *c, const FloIterating *how);
// Moves everything by the unknowns to start from, or by the changes in `move`.
void flo_constraint_push_start(FloWorld *world, FloConstraint *c);
void flo_constraint_push_moves(FloWorld *world, FloConstraint *c);
// The same together with implicit viscosity, which was solved for the unknowns in `p` (passes.c).
FloSolveReport flo_constraint_iterate_viscous(FloWorld *world, FloConstraint *c, const FloIterating *how);

// ---- Mixing of passes (mixing.c) ----

// The last passes that are mixed, the present one included.
enum { FLO_MIXED_PASSES = 5 };
FloStatus flo_constraint_reserve_mixing(FloWorld *world, FloConstraint *c, FloError *error);
// Before the first pass, with the unknowns that it starts from in `p`.
void flo_constraint_begin_mixing(FloConstraint *c);
// The pass proposes the unknowns in `move`. On return `p` are those to go on from, and `move` is the change.
void flo_constraint_mix(FloWorld *world, FloConstraint *c);

// In steps that `history` asks for: tries all solvers from the same start, and keeps their residuals in the
// world (history.c).
FloStatus flo_constraint_compare(FloWorld *world, FloConstraint *c, FloError *error);
// The row's u, without the rates of walls and nodes.
float flo_constraint_rate(const FloConstraint *c, const float *velocity, size_t row);
// The same at present for the row at this position of the order, with the rates of nodes.
float flo_constraint_rate_at(const FloConstraint *c, size_t position);
// Moves everything that the row at this position of the order measures by a change of its unknown.
void flo_constraint_push(const FloConstraint *c, size_t position, float change);

// ---- The second level (coarse.c) ----

FloStatus flo_constraint_reserve_coarse(FloWorld *world, FloConstraint *c, FloError *error);
// For the rows that are active at present; their `weight` is then positive.
void flo_constraint_make_coarse(FloWorld *world, FloConstraint *c);
// One correction of all unknowns, cell by cell.
void flo_constraint_correct(FloWorld *world, FloConstraint *c);

// ---- After it (impulses.c) ----

// Forces of the present unknowns on fluid.
void flo_constraint_find_forces(FloWorld *world, FloConstraint *c);
// The same with all other forces. The next step starts from these unknowns.
void flo_constraint_take_forces(FloWorld *world, FloConstraint *c);
FloStatus flo_constraint_solid_forces(FloWorld *world, FloConstraint *c, float *wall_force, FloError *error);

#endif
