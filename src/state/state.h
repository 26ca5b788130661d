// The state of a world, for the library's own files, and the stages of a step that methods share.
#ifndef FLO_STATE_STATE_H
#define FLO_STATE_STATE_H

#include "base/memory.h"
#include "base/parallel.h"
#include "base/timer.h"
#include "bodies/body.h"
#include "bodies/skin.h"
#include "bodies/surface.h"
#include "sph/grid.h"
#include "sph/pairs.h"
#include "sph/particles.h"
#include "state/contacts.h"
#include "state/joints.h"
#include "state/meetings.h"
#include "state/method.h"

enum { FLO_MAX_PARAMS = 32 };

// Least distance of a new fluid particle from a surface, in spacings. Its proper place is half a spacing
// away; a tenth is tolerated for shapes that do not quite fit.
#define FLO_FLUID_CLEARANCE 0.4

// Fluid that is added keeps this distance from existing fluid, in spacings. Blocks that overlap would burst
// apart; blocks that touch keep all their particles.
#define FLO_FLUID_APART 0.9

typedef struct FloEmitter {
  uint16_t generation;
  bool is_alive;
  FloEmitterDef def;
  uint64_t n_layers;            // released so far
  bool is_silenced;             // the message that there is no room was logged
  size_t first_point, n_points; // of a layer, in emitter_points
} FloEmitter;

typedef struct FloSink {
  uint16_t generation;
  bool is_alive;
  FloSinkDef def;
  const FloSolid *solid;
} FloSink;

// A node of a body.
typedef struct FloNodeRef {
  uint32_t body, number; // index of the body, and of the node in it
} FloNodeRef;

// Every change of a world advances one clock. Each computed thing stores the clock. It is out of date if
// something that it depends on has changed later.
typedef struct FloEpochs {
  uint64_t now;
  // When these last changed:
  uint64_t things; // fluid or bodies were added, or another state was restored
  uint64_t order;  // particles or samples were added, removed or stored in another order
  uint64_t walls;  // wall samples moved or were added, or cells changed their width
  uint64_t fixed;  // the host placed or removed a body, made it another kind or move, or restored a state
  // When these were last computed:
  uint64_t prepared;   // the method's state for the whole world
  uint64_t wall_grid;  // cells of the wall samples
  uint64_t lists;      // neighbour lists
  uint64_t positions;  // positions that the grids hold
  uint64_t clearances; // clearances of fluid particles from solids
  uint64_t begun;      // the last step that began
  uint64_t done;       // the last step that finished
  uint64_t forces;     // forces on samples
} FloEpochs;

// A pair operator of the method's table.
typedef struct FloOperator {
  const FloOperatorDef *def; // NULL: the method has no operator for these sets
  FloPairs pairs;
  uint64_t listed, filled; // when its lists were made, and when it was computed for the present positions
} FloOperator;

// Iterations of soft bodies that may end before they have settled: Newton's method for their motion, the
// rounds in which contacts change them much, and the rounds that part them from other bodies.
typedef enum FloUnsettled {
  FLO_UNSETTLED_MOTION,
  FLO_UNSETTLED_CONTACTS,
  FLO_UNSETTLED_PARTING,
  FLO_N_UNSETTLED
} FloUnsettled;

struct FloWorld {
  FloMemory memory;
  FloWorldDef def; // method and the host's functions resolved
  FloDomain domain;
  int threads;
  int layers; // of boundary samples below a surface
  FloLattice lattice;
  FloKernelForm kernel;
  double boundary_gamma;
  double wall_drag; // see flo_kernel_wall_drag
  FloEpochs epochs;

  FloParticles sets[FLO_SET_COUNT];
  FloGrid grids[FLO_SET_COUNT];
  FloOperator operators[FLO_SET_COUNT][FLO_SET_COUNT]; // by rows and columns
  struct {
    double reach; // in kernel supports
    int age;      // steps since the lists were made
  } lists;        // of neighbours; they are used for several steps if nothing moves fast

  FloList materials;  // FloMaterial
  FloList interfaces; // FloInterface
  FloList bodies;     // FloBody
  FloList emitters;   // FloEmitter
  FloList sinks;      // FloSink
  FloList solids;     // FloSolid *: one for each different shape
  FloPoints emitter_points;
  FloList nodes; // FloNodeRef: nodes of all bodies, in their order
  FloJoints joints;

  const FloMethod *method;
  void *method_state;
  double params[FLO_MAX_PARAMS];

  double time, dt;
  double force_dt;       // time that the forces of the last step act for: force times this is the impulse [s]
  double averages_since; // [s]
  uint64_t step;
  int iterations;
  double residual;
  FloResiduals residuals; // of several solvers, if the method compares them
  size_t contacts;        // number of contacts that press
  size_t put_back;        // points of soft bodies that the last step put back out of other bodies
  FloContacts body_contacts;
  FloMeetings meetings; // of soft bodies with each other
  uint32_t next_id[FLO_SET_COUNT];
  size_t n_emitted, n_removed;
  bool lets_through; // for tests: fluid is not put back to its side of soft bodies
  size_t n_kept_off; // how often fluid was put back to its side of a soft body since the world was made
  // How often fluid and samples collided, and how often a boundary force acted, since the world was made.
  size_t n_collisions, n_repulsions;
  double max_speed, max_acceleration; // of the fluid, after the last step
  double max_approach; // highest speed at which fluid approaches its neighbours; at most max_speed is
                       // known of methods that do not measure it
  FloBuffer approach_buffers[2]; // see approach.c
  // Fluid or a body deeper than this along gravity has fallen past all walls; INFINITY: this is not possible.
  double lost_depth;
  struct {
    bool has_happened; // the last step failed with FLO_DIVERGED
    size_t particle;   // index of the first bad particle; SIZE_MAX: not known
    double dt;         // of that step
  } divergence;
  FloBuffer wall_rooms;   // FloWallRoom of each fluid particle, of the last step; valid if solids are near
  _Atomic bool has_crowd; // more than FLO_MAX_PUSHES bodies kept one particle out in a step
  bool has_told_crowd;    // this was logged
  bool has_told_step;     // a fixed step longer than the method's limit was logged
  size_t unsettled[FLO_N_UNSETTLED]; // how often since the world was made or restored
  bool is_unfinished; // the last step could not add to the averages of forces, since memory was missing
  FloBuffer scratch;
  struct {
    FloSkinEdit edit; // of all bodies of a set
    FloList changes;  // FloSkinChange: the part of each body in the edit
    FloGrid grid;     // of the samples of one body, to find their volumes
    FloPairs pairs;   // neighbours among these samples
    FloWetCells wet;  // where they can meet fluid
  } skins;            // skins that lose and gain samples
  double stage_seconds[FLO_STAGE_COUNT];
  double
      skin_seconds; // of all steps: to place, add, remove and weigh samples of soft bodies, and to pass
                    // motions and forces on between samples and nodes where a method does so for all at once
  bool has_filters; // some body does not touch all others
  FloStepFn after_step;
  void *after_step_context;
  bool is_in_step; // so that the host's function cannot begin another one
};

// A velocity that was added to a fluid particle to keep it from crossing a surface, and the sample that
// caused it.
typedef struct FloPush {
  float velocity[3];
  int32_t sample; // see flo_world_body_of; -1: none
} FloPush;

enum { FLO_MAX_PUSHES = 3 };

typedef struct FloWallRoom {
  FloPush by[FLO_MAX_PUSHES];
  float clearance; // to the nearest solid, when the lists were made [m]
} FloWallRoom;

static inline FloWallRoom flo_empty_room(float clearance) {
  FloWallRoom room = {.clearance = clearance};
  for (int k = 0; k < FLO_MAX_PUSHES; ++k) room.by[k].sample = -1;
  return room;
}

static inline FloMaterial *flo_materials(const FloWorld *w) { return FLO_LIST(w->materials, FloMaterial); }
static inline FloBody *flo_bodies(const FloWorld *w) { return FLO_LIST(w->bodies, FloBody); }
static inline FloEmitter *flo_emitters(const FloWorld *w) { return FLO_LIST(w->emitters, FloEmitter); }
static inline FloSink *flo_sinks(const FloWorld *w) { return FLO_LIST(w->sinks, FloSink); }
static inline FloSolid **flo_solids(const FloWorld *w) { return FLO_LIST(w->solids, FloSolid *); }

// Node number k of all bodies, and its body.
static inline FloBody *flo_node_body(const FloWorld *w, size_t k) {
  return &flo_bodies(w)[FLO_LIST(w->nodes, FloNodeRef)[k].body];
}
static inline FloNode *flo_node_at(const FloWorld *w, size_t k) {
  return &flo_node_body(w, k)->nodes[FLO_LIST(w->nodes, FloNodeRef)[k].number];
}
// Gives a node an impulse [N s] and an angular impulse about its position [N m s].
static inline void flo_node_push(const FloWorld *w, size_t k, const double impulse[3], const double turn[3]) {
  FloBody *body = flo_node_body(w, k);
  body->kind->push(body, FLO_LIST(w->nodes, FloNodeRef)[k].number, impulse, turn);
}

// The samples of a body.
static inline FloParticles *flo_samples_of(FloWorld *w, const FloBody *body) {
  return &w->sets[body->kind->set];
}

// Rest volume of a fluid particle [m^dim].
double flo_world_rest_volume(const FloWorld *world);
// Thickness of the walls of a tank: no operation looks deeper into the solid from a sample.
double flo_world_wall_thickness(const FloWorld *world);

// ---- Epochs ----

// Notes that something happens now.
static inline void flo_epoch_note(FloWorld *w, uint64_t *what) { *what = ++w->epochs.now; }
static inline bool flo_world_is_prepared(const FloWorld *w) { return w->epochs.prepared > w->epochs.things; }
// Something was added since the last step, so the densities of that step cannot be compared.
static inline bool flo_world_was_changed(const FloWorld *w) { return w->epochs.prepared > w->epochs.done; }
// The state that the last step computed is still valid for the present particles.
static inline bool flo_world_has_step_state(const FloWorld *w) {
  return w->epochs.done > w->epochs.begun && w->epochs.done > w->epochs.things;
}
static inline bool flo_world_has_lists(const FloWorld *w) { return w->epochs.lists > w->epochs.order; }
static inline bool flo_world_has_clearances(const FloWorld *w) {
  return w->epochs.clearances > w->epochs.lists && flo_world_has_lists(w);
}
static inline bool flo_world_has_wall_grid(const FloWorld *w) {
  return w->epochs.wall_grid > w->epochs.walls;
}
// Fluid or bodies were added: everything must be computed again.
void flo_world_note_added(FloWorld *world);

// ---- Neighbours (neighbours.c) ----

// The neighbours of one set in another. Empty if the method has no such operator, or if a set is empty.
static inline FloPairs *flo_pairs_of(const FloWorld *w, FloSet rows, FloSet columns) {
  return (FloPairs *)&w->operators[rows][columns].pairs;
}
void flo_world_init_operators(FloWorld *world);
// Computes an operator on demand for the positions of the step, unless that was done already.
FloStatus flo_world_need_pairs(FloWorld *world, FloSet rows, FloSet columns, FloError *error);
// Computes the operators of each step for the present positions.
FloStatus flo_world_find_neighbours(FloWorld *world, double dt, FloError *error);
// The same with new lists, which reach `margin` supports beyond the support.
FloStatus flo_world_list_neighbours(FloWorld *world, double margin, FloError *error);
// Sets the width of cells for lists that reach this many supports.
void flo_world_set_reach(FloWorld *world, double reach);
FloStatus flo_world_update_wall_grid(FloWorld *world, FloError *error);
// Computes the operators of each step from the present grids.
FloStatus flo_world_build_operators(FloWorld *world, FloError *error);

// ---- Passes over whole sets ----

// Particles of a set, in ranges; threads share them.
static inline void flo_each_particle(const FloWorld *w, FloSet set, FloRangeFn work, void *context) {
  size_t n = w->sets[set].count;
  flo_parallel_for(w->threads, n, flo_parallel_grain(n), work, context);
}
// Blocks of rows of an operator, in ranges; threads share them.
static inline void flo_each_block(const FloWorld *w, FloSet rows, FloSet columns, FloRangeFn work,
                                  void *context) {
  flo_parallel_for(w->threads, flo_pairs_of(w, rows, columns)->n_blocks, 64, work, context);
}

// ---- Motion of fluid: forces change velocities (kick), parts into solids are removed (keep out), positions
// follow (drift) ----

// v += dt (force/m + g); `force` is quadruples in newton. Guided particles keep their velocity.
void flo_world_kick(FloWorld *world, const float *force, double dt);
// x += dt v; finds the highest speed and acceleration, and fails if a velocity is not plausible.
FloStatus flo_world_drift(FloWorld *world, double dt, FloError *error);
// Takes the memory for flo_world_integrate and flo_world_note_approach. To be called when neighbours are
// known and nothing has been changed yet, so that a step without memory can be repeated.
FloStatus flo_world_reserve_motion(FloWorld *world, FloError *error);
// Kick, keep out of walls, drift, in one pass over memory. Needs the neighbours of the same step.
FloStatus flo_world_integrate(FloWorld *world, const float *force, double dt, FloError *error);
// Measures how fast fluid approaches its neighbours and solids, with these velocities of fluid and wall
// samples (quadruples). For methods whose steps need not follow the speed itself; call it after
// flo_world_integrate.
void flo_world_note_approach(FloWorld *world, const float *fluid, const float *walls);
// Adds the forces that kept particles out in the last step to the forces on samples.
void flo_world_add_pushes(FloWorld *world);

// ---- Bodies (bodies.c): one stage begins, advances and watches all of them ----

// Before a step: finds which bodies are held, and which samples they lose and gain.
FloStatus flo_world_begin_bodies(FloWorld *world, FloError *error);
// Gives bodies that follow motions, and their samples, the velocities of the step: way over time. The tangent
// at its start would carry everything that sticks to a turning body off its circle, by omega^2 r dt^2 / 2
// outwards in each step. It would also miss motions that start or end within the step. Between steps these
// bodies have their true velocities.
void flo_world_lead_bodies(FloWorld *world, double dt);
// Fails if the motion of a soft body could not be found in this step.
FloStatus flo_world_check_soft(FloWorld *world, FloError *error);
// Led bodies get the pose and the true velocity of the present time again.
void flo_world_follow_motions(FloWorld *world);
// A step that runs out of memory takes back what it has done to bodies that forces move.
void flo_world_mark_bodies(FloWorld *world);
void flo_world_rewind_bodies(FloWorld *world);
// Changes velocities for dt by gravity and by `wrenches`: force and torque for each node, or NULL.
void flo_world_kick_bodies(FloWorld *world, const double *wrenches, double dt);
// Moves the bodies that forces move by their velocities, and their samples with them. Keeps fluid out of
// them, which has drifted for dt, and soft bodies from crossing each other.
FloStatus flo_world_advance_bodies(FloWorld *world, double dt, FloError *error);
// At the end of a step: walls follow their motions, and problems of bodies are logged.
void flo_world_finish_bodies(FloWorld *world);
// Moves the samples of a body to its present pose.
void flo_world_place_samples(FloWorld *world, const FloBody *body);
// Clears the forces of the last step on bodies that forces move.
void flo_world_clear_body_forces(FloWorld *world);
bool flo_world_has_led_bodies(const FloWorld *world);         // bodies that follow motions
double flo_world_max_wall_speed(const FloWorld *world);       // present speed, without lost bodies
double flo_world_any_wall_speed(const FloWorld *world);       // present speed of all bodies
double flo_world_scheduled_wall_speed(const FloWorld *world); // highest speed of all motions at any time

// ---- Joints (see joints.h): a step begins, weighs, solves and moves all of them ----

// Finds members, links and the structure of the matrix, if they have changed.
FloStatus flo_world_build_joints(FloWorld *world, FloError *error);
// At the start of a step of length dt, when led bodies have their velocities: scheduled changes happen, and
// the rows are found in the present poses.
FloStatus flo_world_begin_joints(FloWorld *world, double dt, FloError *error);
// M^-1 of a body as a matrix of six rows, with everything that follows the body.
typedef void (*FloBodyMobilityFn)(const void *context, size_t body, double mobility[36]);
// Makes the system for velocities that change for `kick` seconds. Without a function the bodies move alone.
FloStatus flo_world_weigh_joints(FloWorld *world, double kick, FloBodyMobilityFn mobility,
                                 const void *context, FloError *error);
static inline bool flo_world_has_joints(const FloWorld *w) { return w->joints.list.count > 0; }
// Gives members the velocities that joints allow. `velocities` has six numbers for each member: those without
// joints at first, those with joints in the end. The impulses stand in `lambda`.
void flo_world_solve_joints(FloWorld *world, double *velocities);
// Notes the velocities of members just after gravity and `wrenches` have acted for dt.
void flo_world_note_kick(FloWorld *world, const double *wrenches, double dt);
// Joints push their bodies, and the bodies move, when everything else has pushed them.
void flo_world_move_joined(FloWorld *world);
// Parts of it: notes the loads of the pushes at its start, and of a stage with that weight.
void flo_world_note_pushes(FloWorld *world);
void flo_world_note_forces(FloWorld *world, double weight);
// At the end of a step: joints break that bear too much. Fails if the motion was not finite.
FloStatus flo_world_end_joints(FloWorld *world, FloError *error);
static inline bool flo_world_is_joined(const FloWorld *w, size_t body) {
  return w->joints.is_built && w->joints.member_of[body] != UINT32_MAX;
}
// The longest step at which the loads of joints are stable.
double flo_world_joint_dt(const FloWorld *world);
// The motor that needs the shortest step, and that step; NULL: there is none.
const FloJoint *flo_world_fastest_motor(const FloWorld *world, double *dt);
// How far a row is off, as far as it returns in this step; see joint_rows.c.
double flo_world_joint_fault(const FloWorld *world, size_t joint, int row);
// The motion of a body as joints see it; UINT32_MAX: of the world.
void flo_world_joint_end(const FloWorld *world, uint32_t body, FloJointEnd *end);
// Whether filters or a joint let two bodies pass through each other.
static inline bool flo_world_is_passing(const FloWorld *w, uint32_t a, uint32_t b) {
  if (w->has_filters && a != b && !flo_body_filters_meet(&flo_bodies(w)[a], &flo_bodies(w)[b])) return true;
  return w->joints.pairs.count > 0 && flo_joints_join(&w->joints, a, b);
}

// ---- Skins (skins.c): the samples of bodies ----

// Samples a new body in its present pose. Adds the samples at the end of its set.
double flo_world_sheet_volume(const FloWorld *world, double sampling); // of a sample in an even sheet
FloStatus flo_world_make_skin(FloWorld *world, const FloBodyDef *def, FloBody *body, FloError *error);
// Finds the share of the kernel that never holds fluid, and the volume of each sample. Places samples, too.
FloStatus flo_world_describe_skin(FloWorld *world, FloBody *body, FloError *error);
// Lets skins lose and gain samples as their kinds request. Samples of other bodies keep all their fields.
FloStatus flo_world_resample(FloWorld *world, FloError *error);
bool flo_world_has_changing_skin(const FloWorld *world, FloSet set);
// Finds the sharp edges and corners that the samples of a body stand for (tips.c).
void flo_world_find_tips(FloWorld *world, FloBody *body);
// The vector from a sample to its edge or corner, in the frame of its body; false: it has none.
static inline bool flo_sample_tip(const FloParticles *samples, size_t i, double tip[3]) {
  vec_set(tip, (double)samples->tip_x[i], (double)samples->tip_y[i], (double)samples->tip_z[i]);
  return tip[0] != 0 || tip[1] != 0 || tip[2] != 0;
}
// The direction of that edge, in the frame of its body; zero at a corner and in two dimensions.
static inline void flo_sample_edge(const FloParticles *samples, size_t i, double edge[3]) {
  vec_set(edge, (double)samples->edge_x[i], (double)samples->edge_y[i], (double)samples->edge_z[i]);
}

// ---- Watching (watch.c) ----

// Logs bodies that are squeezed by walls or have fallen past all walls. Needs neighbours.
void flo_world_watch_bodies(FloWorld *world);
// Whether a body that forces move has completely fallen past all walls.
bool flo_world_is_body_lost(const FloWorld *world, const FloBody *body);
// A lower bound of how deep two bodies overlap [m].
double flo_world_overlap(const FloWorld *world, const FloBody *a, const FloBody *b);
// Fails if a body that forces move overlaps another body.
FloStatus flo_world_refuse_overlaps(const FloWorld *world, FloError *error);

// ---- Positions of solids (near.c) ----

static inline void flo_world_nearest_image(const FloWorld *w, const double centre[3], const double x[3],
                                           double image[3]) {
  flo_domain_nearest_image(&w->domain, centre, x, image);
}
// Whether x is farther than `clearance` from every point of a body: a cheap test that excludes most bodies of
// many. False if that is not sure.
bool flo_world_is_beyond(const FloWorld *world, const FloBody *body, const double x[3], double clearance);
// Signed distance of a point to a body, negative inside.
static inline double flo_world_distance(const FloWorld *w, const FloBody *body, const double x[3]) {
  return body->kind->distance(body, &w->domain, x);
}
// Unit vector along which that distance grows fastest.
static inline void flo_world_normal(const FloWorld *w, const FloBody *body, const double x[3],
                                    double normal[3]) {
  body->kind->normal(body, &w->domain, x, normal);
}
// The bodies around a place, so that points near each other need not test all bodies. Starts as zeros. Valid
// for one clearance and while no body moves.
typedef struct FloSolidsNear {
  double centre[3], radius; // [m]
  size_t count;
  uint32_t bodies[64];
  bool has_overflow; // more bodies than the list can hold: all bodies are tested
} FloSolidsNear;
// Whether a point is nearer to a solid than `clearance` (negative: deeper inside than that).
bool flo_world_is_in_solid(const FloWorld *world, const double x[3], double clearance, FloSolidsNear *near);

// Visits the bodies whose samples a fluid particle lists, each once, in the order of the lists:
//   for (FloNearBody near = {0}; flo_near_next(world, i, &near);) ...
typedef struct FloNearBody {
  uint32_t body;
  size_t sample; // its sample with the steepest gradient, about the nearest one; see flo_world_body_of
  float steepness;
  bool is_past_walls; // the next ones are bodies that forces move
  int32_t next;       // entry of the list
} FloNearBody;
bool flo_near_next(const FloWorld *world, size_t i, FloNearBody *near);
// The same for the samples of one set that particle i of another set lists.
bool flo_near_next_in(const FloWorld *world, FloSet rows, FloSet columns, size_t i, FloNearBody *near);
// Whether any particle of the block of i lists a sample.
bool flo_world_is_near_solids(const FloWorld *world, size_t i);

// Wall samples and samples of the rigid set share one numbering: number = index of a wall sample, or number
// of wall samples + index in the rigid set.
FloParticles *flo_world_find_sample(const FloWorld *world, size_t sample, size_t *index);
FloBody *flo_world_body_of(const FloWorld *world, size_t sample);

// ---- Impacts (impact.c) ----

// Surfaces that curve away from each other touch where their normals are opposite. Finds the way from x, near
// the surfaces of a and b, to that place, by one secant step of this length. False and zero if the place is
// farther than FLO_FARTHEST_TOUCH spacings: then the surfaces are flat there, or one has an edge.
#define FLO_FARTHEST_TOUCH 2
bool flo_world_way_to_touch(const FloWorld *world, const FloBody *a, const FloBody *b, const double x[3],
                            double step, double way[3]);
// A body that rolls on another lowers its samples one after the other, although its surface does not
// approach. Returns the part of the speed at which a sample of a at x approaches b that is of this kind.
// `spin`: angular velocity of a relative to b; normal: out of b.
double flo_world_turning_speed(const FloWorld *world, const FloBody *a, const FloBody *b, const double x[3],
                               const double spin[3], const double normal[3]);

// ---- Falling (falls.c) ----

// From the highest fluid particle or emitter to the lowest particle or solid sample, along gravity [m].
double flo_world_fall_height(const FloWorld *world);
// The highest speed to expect: that of fluid, motions or emitters, and then a fall as far as possible.
double flo_world_expected_speed(const FloWorld *world);
double flo_world_max_emitter_speed(const FloWorld *world); // of emitters that may emit in the next step
// Whether there is fluid, or there may be some in the next step.
bool flo_world_may_have_fluid(const FloWorld *world);
// The longest step in which bodies that touch without fluid settle by less than shows.
double flo_world_dry_dt(const FloWorld *world);
// The same as the expected speed for bodies that forces move, which may fall to the lowest wall.
double flo_world_expected_body_speed(const FloWorld *world);
double flo_world_measure_speed(const FloWorld *world); // of the fastest fluid particle
// Finds the lowest end of walls along gravity, if all of them stand still; see lost_depth.
void flo_world_find_lost_depth(FloWorld *world);
bool flo_world_is_lost(const FloWorld *world, const double x[3]);

// ---- Messages and times (state.c) ----

// Sends a message to the host's log function, if there is one.
__attribute__((format(printf, 3, 4))) void flo_world_log(const FloWorld *world, FloLogLevel level,
                                                         const char *format, ...);
// Whether the host is told of what has happened so many times: 1, 10, 100 and so on.
static inline bool flo_is_told(size_t count) {
  while (count >= 10 && count % 10 == 0) count /= 10;
  return count == 1;
}
// Counts an iteration of soft bodies that ended before it had settled. The first one is logged, then the
// tenth, the hundredth and so on.
void flo_world_note_unsettled(FloWorld *world, FloUnsettled which);
// Times a stage: double t = flo_seconds(); ...; t = flo_world_stage_done(world, stage, t);
double flo_world_stage_done(FloWorld *world, FloStage stage, double since);

#endif
