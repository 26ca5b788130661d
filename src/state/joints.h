// Joints of a world: how they act in a step.
//
// All rows of all joints form one system. With the inverse mass matrix M^-1 of the bodies, the velocities v*
// without joints, and the rates that rows want,
//
//   (J M^-1 J^T + softness) lambda = wanted - J v*,   v = v* + M^-1 J^T lambda.
//
// It is factorised once a step and solved whenever a method turns forces on bodies into velocities. So the
// pressures of fluid and the contacts meet bodies whose inverse mass includes all joints: a chain does not
// stretch, however many links it has. Rows that say the same thing twice, as in closed loops, share their
// load, since each row yields by a tiny share of its own response.
//
// Motors, limits and friction act along the coordinate of a joint and have bounds; see FloAxis in
// bodies/joint.h. Their pieces are exchanged until all fit (principal pivoting).
//
// A step: begin (joint_rows.c), weigh, solve (joint_solve.c), then move (joint_motion.c).
#ifndef FLO_STATE_JOINTS_H
#define FLO_STATE_JOINTS_H

#include "bodies/joint.h"
#include "bodies/rigid.h"
#include "solve/sparse.h"

enum { FLO_JOINT_BUFFERS = 12, FLO_JOINT_STAGES = 4 };

// A body that joints act on and forces move.
typedef struct FloJointMember {
  uint32_t body, group;
  size_t first_link, n_links; // see FloJointLink
  bool is_free;               // not held
  bool is_quiet;              // nothing but gravity and joints has acted on it in this step
  double mobility[36];        // M^-1, with what follows the body
  FloRigid start, now;        // at the start of the step, and in a stage of the motion
  double start_rotation[4], rotation[4];
  double kicked[6];                   // velocities after gravity alone
  double rates[FLO_JOINT_STAGES][12]; // velocity, spin, force, torque of each stage
} FloJointMember;

// A side of a joint that acts on a member. Sides 2 and 3 are those of the second joint of a gear.
typedef struct FloJointLink {
  uint32_t joint;
  int side;
} FloJointLink;

// Joints that act on each other.
typedef struct FloJointGroup {
  bool is_smooth; // only gravity, springs and rows without bounds act in this step; see joint_motion.c
  bool is_open;   // pieces of its axes, or joints that yield, have changed in the last round
  double slack;   // a speed by which rows yield, so that it does not matter
  double ease;    // share of its own response by which each row yields; see joint_ease.c
  int trial;      // whether a larger ease was tried in this stage
  // Speed of members now, change of it in a step by all but rows, by rows, and by rows with the usual ease.
  double fastest, other_change, change, usual_change; // [m/s]
  // Of its barriers; see joint_barrier.c.
  double product, step; // sum of products that approach zero; share of the present step that is taken
  size_t n_products;
} FloJointGroup;

// One stick of an axis between its bounds, with the speeds that its bounds add; see joint_barrier.c.
typedef struct FloBarrier {
  double impulse;
  double above, below;    // impulse above the lower bound and below the upper one; may be infinite
  double at_low, at_high; // speeds above and below that of the stick, at these bounds; not negative
  double next[3];         // impulse, at_low and at_high after a whole step
  double last;            // softness in the last round
} FloBarrier;

// What an axis may still give in the stages of the motion, after its push: force or torque; see joint_room.c.
typedef struct FloAxisRoom {
  double low, high;
  int slips; // 1: it gives all that it has upwards, and lags; -1: downwards; 0: it holds the coordinate
} FloAxisRoom;

// A joint that breaks in this step bears its breaking load in it, and no more; see joint_yield.c.
typedef struct FloJointYield {
  bool is_on, is_by_force;
  double push[FLO_JOINT_ROWS];  // impulse of each row, instead of those that would hold
  double motor;                 // the motor's part of these impulses
  double force[FLO_JOINT_ROWS]; // force of each row in the stages of the motion
  double sum[FLO_JOINT_ROWS];   // mean force of each row over the stages, as far as they have been
} FloJointYield;

typedef struct FloJoints {
  FloList list;    // FloJoint
  FloList members; // FloJointMember
  FloList links;   // FloJointLink, member by member
  FloList groups;  // FloJointGroup
  FloList pairs; // uint64_t: bodies that pass through each other, lower number << 32 | higher number; sorted
  bool is_built; // members, links, groups, pairs and the structure of the matrix
  bool has_told; // that pieces did not settle
  bool has_told_of_spring; // that it is too stiff for the steps
  bool has_failed;         // the motion was not finite
  bool is_alone;           // mobilities are those of the bodies alone
  FloSparse matrix;
  size_t n_rows, n_slots;
  double pace; // the longer one of this step and the last one: what is off returns over some of these [s]
  double drift, kick;   // time for which poses and velocities change in this step [s]
  uint32_t *member_of;  // of each body; UINT32_MAX: none
  uint32_t *first_slot; // of each joint; a slot is a row of a joint, and a gear has two for its one row
  // Of each body, and of the world behind them: now, and at the start of the step.
  FloJointEnd *ends, *first_ends;
  FloJointRow *slots;
  double (*replies)[2][6];                   // M^-1 J^T of each slot
  FloAxis *axes;                             // of each joint with a coordinate
  FloBarrier (*barriers)[FLO_JOINT_STICKS];  // of each joint
  FloAxisRoom *rooms;                        // of each joint
  FloJointYield *yields;                     // of each joint
  size_t n_bounded, n_breakable;             // axes with sticks, joints that may break
  size_t n_rounds;                           // factorisations of this step until pieces fit
  double *wanted, *lambda, *rest, *softness; // of each row; rest: scratch
  double *pushes;                            // of each row: impulses before the motion
  double *responses;                         // of each row: to its own impulse
  bool *is_on;                               // of each row: it acts, unless its response is zero
  bool *is_open;                             // of each joint: its group is open; scratch
  double *velocities, *trial, *given;        // six for each member; scratch of the solution, and of methods
  FloBuffer buffers[FLO_JOINT_BUFFERS];
} FloJoints;

static inline FloJoint *flo_joint_list(const FloJoints *joints) { return FLO_LIST(joints->list, FloJoint); }
static inline FloJointMember *flo_joint_members(const FloJoints *joints) {
  return FLO_LIST(joints->members, FloJointMember);
}
static inline FloJointGroup *flo_joint_groups(const FloJoints *joints) {
  return FLO_LIST(joints->groups, FloJointGroup);
}
static inline uint32_t flo_joint_row(const FloJoints *joints, size_t joint) {
  return joints->matrix.first_rows[joint];
}

// ---- Structure (joint_links.c) ----

void flo_joints_init(FloJoints *joints, FloMemory *memory);
void flo_joints_free(FloJoints *joints, FloMemory *memory);
// After a joint was added, released or broken: the structure is made again at the start of the next step, and
// a gear acts only while both of its joints do.
void flo_joints_note_change(FloJoints *joints);
// Sides of a joint, and the body of each.
static inline int flo_joint_n_sides(const FloJoint *joint) { return joint->form->is_gear ? 4 : 2; }
uint32_t flo_joint_body(const FloJoints *joints, const FloJoint *joint, int side);
// The member at a side, and the first one that the joint acts on; NULL: none.
FloJointMember *flo_joint_member(const FloJoints *joints, const FloJoint *joint, int side);
FloJointMember *flo_joint_first_member(const FloJoints *joints, const FloJoint *joint);
static inline bool flo_joint_is_smooth(const FloJoints *joints, const FloJointMember *member) {
  return member && flo_joint_groups(joints)[member->group].is_smooth;
}
// Whether two bodies pass through each other since a joint joins them.
bool flo_joints_join(const FloJoints *joints, uint32_t a, uint32_t b);

// A block of memory that a solution changes.
typedef struct FloSolvePart {
  void *data;
  size_t size;
} FloSolvePart;

// Everything that flo_world_solve_joints changes and from which its next call starts. A method that tries a
// solution copies these parts before, and back after it.
enum { FLO_JOINT_PARTS = 7 };
void flo_joints_list_parts(FloJoints *joints, FloSolvePart parts[FLO_JOINT_PARTS]);

// ---- Rows (joint_rows.c) ----

// Finds the slots of all joints from the present ends.
void flo_joints_look(FloJoints *joints, size_t n_bodies);
static inline FloJointRow *flo_joint_slot(const FloJoints *joints, size_t joint, int row, int side) {
  return &joints->slots[joints->first_slot[joint] + (uint32_t)(side >= 2 ? side / 2 : row)];
}
// The coordinate of a joint, with full turns.
double flo_joints_coordinate(const FloJoints *joints, size_t joint);

// Makes rows act as the present pieces of axes and the joints that yield say.
void flo_joints_want_axes(FloJoints *joints);
// Force and torque about the joint's point, on the joint's own body, of multipliers of its rows.
void flo_joints_load(const FloJoints *joints, size_t joint, const double *lambda, double force[3],
                     double torque[3]);
// The rate of a row by the motion of sides that are no free members.
double flo_joints_rate_of_others(const FloJoints *joints, size_t joint, int row);
// M^-1 of a node as a matrix of six rows.
void flo_node_mobility(const FloNode *node, double mobility[36]);

// ---- Bounds (joint_room.c, joint_yield.c) ----

// Adds to `lambda` what rows need for `wanted` beyond it, so that no axis leaves the bounds of its piece.
// `velocities`: those with the impulses in `lambda`.
bool flo_joints_correct(FloJoints *joints, const double *velocities);
// After the pushes of a step: what axes may give in the stages of the motion.
void flo_joints_find_room(FloJoints *joints);
// After a solution for the forces of a stage: axes that need more than their room slip, and those that slip
// without need hold again, if `may_hold`. `accelerations`: those of members by all forces. Returns how many
// have changed.
size_t flo_joints_slip(FloJoints *joints, const double *accelerations, bool may_hold);

void flo_joints_begin_yields(FloJoints *joints);
// After a solution for velocities: joints yield that would bear more than their breaking load, and those that
// yield without need hold again, if `may_hold`. Returns how many have changed.
size_t flo_joints_yield(FloJoints *joints, const double *velocities, bool may_hold);
// The same after all stages of the motion, with the loads of pushes and stages. Joints only begin to yield.
size_t flo_joints_yield_in_motion(FloJoints *joints);
// Notes the forces of a stage, with its weight.
void flo_joints_note_stage(FloJoints *joints, double weight);

// ---- Dead points (joint_ease.c) ----

// At the start of a step, and of a stage.
void flo_joints_begin_ease(FloJoints *joints);
void flo_joints_begin_trials(FloJoints *joints);
// Notes the accelerations of a stage before rows act.
void flo_joints_note_ease(FloJoints *joints, const double *accelerations);
// After a solution for the forces of a stage: groups at a dead point get more ease. Returns how many changed.
size_t flo_joints_ease(FloJoints *joints);

// ---- The system (joint_solve.c) ----

// Makes the matrix from the slots, the members' mobilities, `is_on` and `softness`, and factorises it. Rows
// without response are switched off. False if the numbers are not finite.
bool flo_joints_factorise(FloJoints *joints);
// The same for open groups, whose `is_on` and `softness` have changed since.
bool flo_joints_factorise_open(FloJoints *joints);
// The response of a row to its own impulse, as in the last matrix.
static inline double flo_joints_response(const FloJoints *joints, uint32_t joint, int row) {
  return joints->responses[flo_joint_row(joints, joint) + (uint32_t)row];
}
// Finds pieces of axes in open groups by an interior point method. They stay as they are if the numbers are
// not finite.
void flo_joints_cross_barriers(FloJoints *joints, const double *free);
// rest = the rate of each row by the velocities of members, six for each.
void flo_joints_rates(FloJoints *joints, const double *velocities);
// velocities += M^-1 J^T lambda.
void flo_joints_push(const FloJoints *joints, const double *lambda, double *velocities);
// J^T lambda for one member.
void flo_joints_wrench(const FloJoints *joints, const FloJointMember *member, const double *lambda,
                       double wrench[6]);

#endif
