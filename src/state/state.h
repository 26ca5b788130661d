// The state of a world, as the library's own files see it.
#ifndef FLO_STATE_STATE_H
#define FLO_STATE_STATE_H

#include "base/memory.h"
#include "base/timer.h"
#include "bodies/rigid.h"
#include "coupling/coupling.h"
#include "geometry/solid.h"
#include "sph/grid.h"
#include "sph/pairs.h"
#include "sph/particles.h"

enum { FLO_MAX_PARAMS = 32 };

// A fluid particle belongs half a spacing away from a surface; a tenth is forgiven to shapes that do not
// quite fit.
#define FLO_FLUID_CLEARANCE 0.4

// Fluid that is added where fluid is already keeps this far from it, in spacings: blocks that overlap would
// burst apart, blocks that touch keep all their particles.
#define FLO_FLUID_APART 0.9

typedef struct FloMaterial {
  char name[64];
  double density, viscosity, wall_viscosity;
  double friction;                  // < 0: not given
  double slip, restitution;         // likewise
  double surface_tension, adhesion; // [N/m]
  bool is_fluid;                    // some fluid is made of it
} FloMaterial;

typedef struct FloBody {
  char name[64];
  FloBodyKind kind;
  const FloSolid *solid; // shared by all bodies of the same shape
  FloPose start;         // pose at time zero, before motions
  FloBodyState state;    // now; the means are made when asked for
  double impulse[6];     // force and torque times time since averages were restarted
  bool averages_force;   // though it is not dynamic
  double reach;          // no point of it is farther from its position [m]
  double sampling;       // distance of its samples in spacings
  FloSet set;            // that holds its samples:
  size_t first, count;
  double friction; // before any change; < 0: not given
  FloFrictionChange *friction_changes;
  size_t n_friction_changes;
  double slip, restitution;  // of fluid along it, 0 to 1
  double rolling_friction;   // [m]
  double release;            // [s]
  FloRigid rigid;            // of dynamic bodies
  bool is_squeezed, is_lost; // the host was told
  FloMotionDef *motions;
  size_t n_motions;
} FloBody;

typedef struct FloEmitter {
  uint16_t generation;
  bool is_alive;
  FloEmitterDef def;
  uint64_t n_layers;            // released so far
  bool is_silenced;             // has said that there is no room
  size_t first_point, n_points; // of a layer, in emitter_points
} FloEmitter;

typedef struct FloSink {
  uint16_t generation;
  bool is_alive;
  FloSinkDef def;
  const FloSolid *solid;
} FloSink;

// Growing lists of small things; element type beside each.
typedef struct FloList {
  FloBuffer buffer;
  size_t count;
} FloList;

struct FloWorld {
  FloMemory memory;
  FloWorldDef def; // method and the host's functions resolved
  int threads;
  int layers; // of boundary samples below a surface
  FloLattice lattice;
  FloKernelForm kernel;
  double boundary_gamma;

  FloParticles sets[FLO_SET_COUNT];
  FloGrid grids[FLO_SET_COUNT];
  FloPairs fluid_fluid, fluid_boundary, boundary_fluid;
  FloPairs fluid_rigid, rigid_rigid, rigid_boundary; // rigid_rigid: samples of different bodies
  bool is_boundary_grid_current;
  struct {
    bool is_current;     // they name the particles that are there now
    double reach;        // in supports
    int age;             // steps since they were made
    bool has_clearances; // particles near solids know how much room they had when these were made
  } lists;               // of neighbours, which serve several steps where nothing moves fast

  FloList materials; // FloMaterial
  FloList bodies;    // FloBody
  FloList emitters;  // FloEmitter
  FloList sinks;     // FloSink
  FloList solids;    // FloSolid *: one for each different shape
  FloPoints emitter_points;

  const FloCoupling *method;
  void *method_state;
  bool is_prepared; // nothing was added since the method last looked at the whole world
  double params[FLO_MAX_PARAMS];

  double time, dt;
  double force_dt;       // that the forces of the last step stand for: times it they are impulses [s]
  double averages_since; // [s]
  uint64_t step;
  int iterations;
  double residual;
  size_t contacts;
  uint32_t next_id[FLO_SET_COUNT];
  size_t n_emitted, n_removed;
  double max_speed, max_acceleration; // of the fluid, after the last step
  double lost_depth;   // whoever is deeper along gravity has fallen past all walls; INFINITY: nobody has
  bool was_changed;    // things were added since the last step
  bool has_step_state; // what the last step computed still fits the particles that are there
  struct {
    bool has_happened; // the last step failed with FLO_DIVERGED
    size_t particle;   // index of the first that went wrong; SIZE_MAX: not known
    double dt;         // of that step
  } divergence;
  FloBuffer wall_rooms;    // FloWallRoom of each fluid particle; of the last step, where solids are near
  uint64_t forces_of_step; // step whose solid forces are known; UINT64_MAX: none
  FloBuffer scratch;
  double stage_seconds[FLO_STAGE_COUNT];
};

// What keeps a particle from crossing a surface: the velocity it was given, and the sample that gave it.
typedef struct FloPush {
  float velocity[3];
  int32_t sample; // -1: none; those of dynamic bodies are counted on after those of walls
} FloPush;

enum { FLO_MAX_PUSHES = 3 };

enum { FLO_MAX_NEAR_BODIES = 8 };

typedef struct FloNearBodies {
  int count;
  uint32_t bodies[FLO_MAX_NEAR_BODIES];
  size_t samples[FLO_MAX_NEAR_BODIES];
  float steepness[FLO_MAX_NEAR_BODIES];
} FloNearBodies;

typedef struct FloWallRoom {
  FloPush by[FLO_MAX_PUSHES];
  float clearance; // to the nearest solid, when the lists were made [m]
} FloWallRoom;

static inline FloWallRoom flo_empty_room(float clearance) {
  FloWallRoom room = {.clearance = clearance};
  for (int k = 0; k < FLO_MAX_PUSHES; ++k) room.by[k].sample = -1;
  return room;
}

#define FLO_LIST(world_list, type) ((type *)(world_list).buffer.data)

static inline FloMaterial *flo_materials(const FloWorld *w) { return FLO_LIST(w->materials, FloMaterial); }
static inline FloBody *flo_bodies(const FloWorld *w) { return FLO_LIST(w->bodies, FloBody); }
static inline FloEmitter *flo_emitters(const FloWorld *w) { return FLO_LIST(w->emitters, FloEmitter); }
static inline FloSink *flo_sinks(const FloWorld *w) { return FLO_LIST(w->sinks, FloSink); }
static inline FloSolid **flo_solids(const FloWorld *w) { return FLO_LIST(w->solids, FloSolid *); }

// Rest volume of a fluid particle [m^dim].
double flo_world_rest_volume(const FloWorld *world);

// Of a tank: thick enough for whatever looks from a sample into the solid.
double flo_world_wall_thickness(const FloWorld *world);

// ---- Stages that methods share ----

// Cells as wide as lists that reach that many supports.
void flo_world_set_reach(FloWorld *world, double reach);
FloStatus flo_world_update_boundary_grid(FloWorld *world, FloError *error);
// Makes the operators from the grids as they are.
FloStatus flo_world_build_operators(FloWorld *world, FloError *error);
// The rows of walls, for methods that do not sweep them in each step.
FloStatus flo_world_build_wall_rows(FloWorld *world, FloError *error);
// Adds what the last step did to the averages of forces.
FloStatus flo_world_add_impulses(FloWorld *world, FloError *error);
// Makes the operators fit the present positions.
FloStatus flo_world_find_neighbours(FloWorld *world, double dt, FloError *error);
// The same from scratch, with lists that reach `skin` supports beyond the support.
FloStatus flo_world_list_neighbours(FloWorld *world, double skin, FloError *error);
// v += dt (force/m + g), x += dt v; `force` is quadruples in newton. Guided particles keep their velocity,
// and none crosses a surface. Needs the neighbours of the same step.
// Without forces: velocities are final already, and particles just move.
FloStatus flo_world_integrate(FloWorld *world, const float *force, double dt, FloError *error);
// The first half of it: v += dt (force/m + g), for methods that correct velocities before particles move.
void flo_world_kick(FloWorld *world, const float *force, double dt);

// The image of x, across the faces of a periodic domain, that is nearest to a centre.
void flo_world_nearest_image(const FloWorld *world, const double centre[3], const double x[3],
                             double image[3]);
// Signed distance of a point to a body, negative inside.
double flo_world_distance(const FloWorld *world, const FloBody *body, const double x[3]);
// Unit vector along which that distance grows fastest.
void flo_world_normal(const FloWorld *world, const FloBody *body, const double x[3], double normal[3]);
// Whether a box, in its pose, is as long as the domain repeats along an axis, so that it has no ends there.
bool flo_world_is_endless(const FloWorld *world, const FloShape *shape, const FloPose *pose, int axis);
// The bodies around a place, so that points near each other need not ask all there are. Starts as zeros; good
// for one clearance, and while no body moves.
typedef struct FloSolidsNear {
  double centre[3], radius; // [m]
  size_t count;
  uint32_t bodies[64];
  bool has_overflow; // more than the list can hold
} FloSolidsNear;
// Whether a point is nearer to a solid than `clearance` (negative: deeper inside than that).
bool flo_world_is_in_solid(const FloWorld *world, const double x[3], double clearance, FloSolidsNear *near);
// Whether a point is in the inner space of a tank, or above it where it is open; false for other bodies.
bool flo_world_is_in_tank(const FloWorld *world, const FloBody *body, const double x[3]);
// The bodies whose samples a fluid particle lists, each with the sample that has the steepest gradient: about
// the nearest. Samples of dynamic bodies are counted on after those of walls.
FloNearBodies flo_world_near_bodies(const FloWorld *world, size_t i);
FloBody *flo_world_body_of(const FloWorld *world, size_t sample);
// A point in the frame of a body in a given pose: the image that is nearest to it.
void flo_world_to_body(const FloWorld *world, const FloBody *body, const FloPose *pose, const double x[3],
                       double local[3]);
// Deflects fluid particles [begin, end) that would enter a body within dt.
void flo_world_keep_out(FloWorld *world, size_t begin, size_t end, double dt);
// Adds what kept particles out in the last step to the forces on the samples.
void flo_world_add_pushes(FloWorld *world);
// Gives the pushes of this step, which took dt, to the dynamic bodies.
void flo_world_push_bodies(FloWorld *world, double dt);

// ---- Shared by the functions that add things ----
FloStatus flo_world_append(FloWorld *world, FloList *list, const void *element, size_t size, FloError *error);
// The solid of a shape: one that is there already, or a new one.
FloStatus flo_world_find_solid(FloWorld *world, const FloShape *shape, const FloSolid **solid,
                               FloError *error);
// Steps of a cubic lattice that meets itself across the periodic faces of the axes in `wraps`: stretched a
// little there, and squeezed as much along `up` or another free axis, so that there is still one point in
// every spacing^dim. Fails where the stretch would be too much.
FloStatus flo_world_fit_lattice(const FloWorld *world, const bool wraps[3], int up, double step[3],
                                FloError *error);
void flo_world_free_solids(FloWorld *world);
FloStatus flo_world_check_material(const FloWorld *world, FloMaterialId id, FloError *error);
// Fills in fluid particle i; room must have been made.
void flo_world_put_particle(FloWorld *world, size_t i, uint16_t material, const double x[3],
                            const double v[3]);

// Where its motions have brought a body. While the fluid settles it stands where it will begin.
void flo_world_follow_motions(const FloWorld *world, FloBody *body);

// ---- Parts of a step ----
FloStatus flo_world_emit(FloWorld *world, FloError *error);
double flo_world_max_emitter_speed(const FloWorld *world); // of those that may emit in the next step
FloStatus flo_world_drain(FloWorld *world, FloError *error);
void flo_world_move_bodies(FloWorld *world);
// Moves the dynamic bodies for dt, as their momenta say.
void flo_world_move_rigid(FloWorld *world, double dt);
// Lets go of those whose time has come.
void flo_world_release_bodies(FloWorld *world);
// Tells the host of dynamic bodies that walls squeeze, or that have fallen past all of them. Needs the
// neighbours of the present positions.
void flo_world_watch_bodies(FloWorld *world);
// Whether the whole of a dynamic body has fallen past all walls.
bool flo_world_is_body_lost(const FloWorld *world, const FloBody *body);
// How deep two bodies stand in each other, at least [m].
double flo_world_overlap(const FloWorld *world, const FloBody *a, const FloBody *b);
// Fails where a dynamic body stands in another body.
FloStatus flo_world_refuse_overlaps(const FloWorld *world, FloError *error);
// Coefficient of dry friction between two bodies.
double flo_world_friction(const FloWorld *world, const FloBody *a, const FloBody *b);
// Share of an overlap of bodies that may vanish in a step.
#define FLO_OVERLAP_RATE 0.2
// The speed at which two bodies that stand in each other so deep may part [m/s]; see there.
double flo_world_parting_speed(const FloWorld *world, double depth);
// Torque against rolling on each other, per normal force [m]: that of the softer one.
double flo_world_rolling_friction(const FloBody *a, const FloBody *b);
void flo_world_free_bodies(FloWorld *world);
// Places a body's samples from its state.
void flo_world_place_samples(FloWorld *world, const FloBody *body);
bool flo_world_has_moving_bodies(const FloWorld *world);
bool flo_world_has_moving_walls(const FloWorld *world); // those that follow motions
double flo_world_max_wall_speed(const FloWorld *world); // now, of those that have not fallen past all others
double flo_world_any_wall_speed(const FloWorld *world); // now, of all
double flo_world_scheduled_wall_speed(const FloWorld *world); // ever
// From the highest fluid particle or emitter to the lowest particle or solid sample, along gravity [m].
double flo_world_fall_height(const FloWorld *world);
// What things will reach if they fall as far as they can, or move as they are told.
double flo_world_expected_speed(const FloWorld *world);
double flo_world_measure_speed(const FloWorld *world); // of the fastest fluid particle
// Where walls end along gravity, where they stand still; see lost_depth.
void flo_world_find_lost_depth(FloWorld *world);
bool flo_world_is_lost(const FloWorld *world, const double x[3]);

// Of the fluid, after a step that failed: the first particle that is out of reach, or else the one whose
// speed and acceleration need the shortest step.
size_t flo_world_find_culprit(const FloWorld *world);

// Tells the host, if it listens.
__attribute__((format(printf, 3, 4))) void flo_world_log(const FloWorld *world, FloLogLevel level,
                                                         const char *format, ...);

// Times a stage: double t = flo_seconds(); ...; t = flo_world_stage_done(world, stage, t);
double flo_world_stage_done(FloWorld *world, FloStage stage, double since);

#endif
