// The system of all joints: its matrix, its solution, and the pieces of axes that fit it.
#include "state/state.h"

#include <string.h>

// A row whose response is below this share of what its numbers suggest moves nothing but rounding errors. It
// lies along locked axes, as in two dimensions.
#define LEAST_RESPONSE 1e-10

// ---- Replies: M^-1 J^T ----

static void apply_mobility(const double m[36], const double v[6], double out[6]) {
  for (int i = 0; i < 6; ++i) {
    out[i] = 0;
    for (int k = 0; k < 6; ++k) out[i] += m[6 * i + k] * v[k];
  }
}

static double dot6(const double a[6], const double b[6]) { return vec_dot(a, b) + vec_dot(a + 3, b + 3); }

static double (*reply_of(const FloJoints *joints, const FloJointRow *slot))[6] {
  return joints->replies[slot - joints->slots];
}

static void find_replies(FloJoints *joints, const FloJointMember *member) {
  const FloJointLink *links = FLO_LIST(joints->links, FloJointLink) + member->first_link;
  for (size_t n = 0; n < member->n_links; ++n) {
    uint32_t k = links[n].joint;
    int side = links[n].side;
    for (int row = 0; row < (int)joints->matrix.widths[k]; ++row) {
      const FloJointRow *slot = flo_joint_slot(joints, k, row, side);
      apply_mobility(member->mobility, slot->j[side % 2], reply_of(joints, slot)[side % 2]);
    }
  }
}

// ---- Rows that act ----

// What the response of a row would be if nothing were locked, roughly.
static double suggested(const FloJointMember *member, const double j[6]) {
  const double *m = member->mobility;
  return (vec_dot(j, j) * (m[0] + m[7] + m[14]) + vec_dot(j + 3, j + 3) * (m[21] + m[28] + m[35])) / 3;
}

static double find_response(const FloJoints *joints, uint32_t k, int row) {
  double response = 0;
  for (int side = 0; side < flo_joint_n_sides(&flo_joint_list(joints)[k]); ++side) {
    const FloJointRow *slot = flo_joint_slot(joints, k, row, side);
    if (flo_joint_member(joints, &flo_joint_list(joints)[k], side))
      response += dot6(slot->j[side % 2], reply_of(joints, slot)[side % 2]);
  }
  return response;
}

static bool has_response(const FloJoints *joints, uint32_t k, int row) {
  double whole = 0;
  for (int side = 0; side < flo_joint_n_sides(&flo_joint_list(joints)[k]); ++side) {
    const FloJointMember *member = flo_joint_member(joints, &flo_joint_list(joints)[k], side);
    const FloJointRow *slot = flo_joint_slot(joints, k, row, side);
    if (!member) continue;
    whole += suggested(member, slot->j[side % 2]);
  }
  return flo_joints_response(joints, k, row) > LEAST_RESPONSE * whole;
}

static void find_responses(FloJoints *joints) {
  for (uint32_t k = 0; k < joints->list.count; ++k)
    for (int row = 0; row < (int)joints->matrix.widths[k]; ++row)
      joints->responses[flo_joint_row(joints, k) + (uint32_t)row] = find_response(joints, k, row);
}

static void switch_rows(FloJoints *joints) {
  for (uint32_t k = 0; k < joints->list.count; ++k)
    for (int row = 0; row < (int)joints->matrix.widths[k]; ++row) {
      bool *is_on = &joints->is_on[flo_joint_row(joints, k) + (uint32_t)row];
      *is_on = *is_on && has_response(joints, k, row);
    }
}

// ---- The matrix ----

typedef struct Block {
  double *numbers;
  size_t row_stride, column_stride;
} Block;

// Adds J_a M^-1 J_b^T by one member.
static void add_product(const FloJoints *joints, const FloJointLink *a, const FloJointLink *b, Block block) {
  const bool *on_a = joints->is_on + flo_joint_row(joints, a->joint),
             *on_b = joints->is_on + flo_joint_row(joints, b->joint);
  for (int i = 0; i < (int)joints->matrix.widths[a->joint]; ++i)
    for (int k = 0; on_a[i] && k < (int)joints->matrix.widths[b->joint]; ++k) {
      const FloJointRow *of_a = flo_joint_slot(joints, a->joint, i, a->side),
                        *of_b = flo_joint_slot(joints, b->joint, k, b->side);
      if (!on_b[k]) continue;
      block.numbers[(size_t)i * block.row_stride + (size_t)k * block.column_stride] +=
          dot6(of_a->j[a->side % 2], reply_of(joints, of_b)[b->side % 2]);
    }
}

static void add_pair(FloJoints *joints, const FloJointLink *a, const FloJointLink *b) {
  bool is_turned;
  Block block = {flo_sparse_block(&joints->matrix, a->joint, b->joint, &is_turned), 1, 1};
  if (is_turned)
    block.column_stride = joints->matrix.widths[a->joint];
  else
    block.row_stride = joints->matrix.widths[b->joint];
  add_product(joints, a, b, block);
}

static void add_member(FloJoints *joints, const FloJointMember *member) {
  const FloJointLink *links = FLO_LIST(joints->links, FloJointLink) + member->first_link;
  for (size_t a = 0; a < member->n_links; ++a)
    for (size_t b = 0; b <= a; ++b) {
      add_pair(joints, &links[a], &links[b]);
      // A gear may have two sides at one body.
      if (a != b && links[a].joint == links[b].joint) add_pair(joints, &links[b], &links[a]);
    }
}

// Rows that say the same thing share their load, since each yields.
static double ease_of(const FloJoints *joints, uint32_t k) {
  const FloJointMember *member = flo_joint_first_member(joints, &flo_joint_list(joints)[k]);
  return member ? flo_joint_groups(joints)[member->group].ease : 0;
}

static void finish_diagonals(FloJoints *joints, const bool *which) {
  for (uint32_t k = 0; k < joints->list.count; ++k) {
    bool is_turned;
    if (which && !which[k]) continue;
    const double ease = ease_of(joints, k);
    double *block = flo_sparse_block(&joints->matrix, k, k, &is_turned);
    for (uint32_t row = 0; row < joints->matrix.widths[k]; ++row) {
      double *number = &block[row * joints->matrix.widths[k] + row];
      uint32_t i = flo_joint_row(joints, k) + row;
      *number = joints->is_on[i] ? *number * (1 + ease) + joints->softness[i] : 1;
    }
  }
}

bool flo_joints_factorise(FloJoints *joints) {
  flo_sparse_clear(&joints->matrix, NULL);
  for (size_t k = 0; k < joints->members.count; ++k) find_replies(joints, &flo_joint_members(joints)[k]);
  find_responses(joints);
  switch_rows(joints);
  for (size_t k = 0; k < joints->members.count; ++k) add_member(joints, &flo_joint_members(joints)[k]);
  finish_diagonals(joints, NULL);
  return flo_sparse_factorise(&joints->matrix, NULL);
}

bool flo_joints_factorise_open(FloJoints *joints) {
  const FloJointGroup *groups = flo_joint_groups(joints);
  switch_rows(joints);
  for (uint32_t k = 0; k < joints->list.count; ++k) {
    const FloJointMember *member = flo_joint_first_member(joints, &flo_joint_list(joints)[k]);
    joints->is_open[k] = member && groups[member->group].is_open;
  }
  flo_sparse_clear(&joints->matrix, joints->is_open);
  for (size_t k = 0; k < joints->members.count; ++k)
    if (groups[flo_joint_members(joints)[k].group].is_open) add_member(joints, &flo_joint_members(joints)[k]);
  finish_diagonals(joints, joints->is_open);
  return flo_sparse_factorise(&joints->matrix, joints->is_open);
}

// ---- Rates and pushes ----

void flo_joints_rates(FloJoints *joints, const double *velocities) {
  memset(joints->rest, 0, joints->n_rows * sizeof(double));
  for (size_t m = 0; m < joints->members.count; ++m) {
    const FloJointMember *member = &flo_joint_members(joints)[m];
    const FloJointLink *links = FLO_LIST(joints->links, FloJointLink) + member->first_link;
    for (size_t n = 0; member->is_free && n < member->n_links; ++n)
      for (int row = 0; row < (int)joints->matrix.widths[links[n].joint]; ++row)
        joints->rest[flo_joint_row(joints, links[n].joint) + (uint32_t)row] +=
            dot6(flo_joint_slot(joints, links[n].joint, row, links[n].side)->j[links[n].side % 2],
                 velocities + 6 * m);
  }
}

void flo_joints_push(const FloJoints *joints, const double *lambda, double *velocities) {
  for (size_t m = 0; m < joints->members.count; ++m) {
    const FloJointMember *member = &flo_joint_members(joints)[m];
    const FloJointLink *links = FLO_LIST(joints->links, FloJointLink) + member->first_link;
    for (size_t n = 0; n < member->n_links; ++n)
      for (int row = 0; row < (int)joints->matrix.widths[links[n].joint]; ++row) {
        const FloJointRow *slot = flo_joint_slot(joints, links[n].joint, row, links[n].side);
        const double *reply = reply_of(joints, slot)[links[n].side % 2],
                     size = lambda[flo_joint_row(joints, links[n].joint) + (uint32_t)row];
        for (int i = 0; i < 6; ++i) velocities[6 * m + (size_t)i] += size * reply[i];
      }
  }
}

void flo_joints_wrench(const FloJoints *joints, const FloJointMember *member, const double *lambda,
                       double wrench[6]) {
  const FloJointLink *links = FLO_LIST(joints->links, FloJointLink) + member->first_link;
  memset(wrench, 0, 6 * sizeof *wrench);
  for (size_t n = 0; n < member->n_links; ++n)
    for (int row = 0; row < (int)joints->matrix.widths[links[n].joint]; ++row) {
      const FloJointRow *slot = flo_joint_slot(joints, links[n].joint, row, links[n].side);
      double size = lambda[flo_joint_row(joints, links[n].joint) + (uint32_t)row];
      for (int i = 0; i < 6; ++i) wrench[i] += size * slot->j[links[n].side % 2][i];
    }
}

// ---- Solution ----

// The impulses that are known before the solution.
static void set_known(FloJoints *joints, size_t k) {
  const FloJoint *joint = &flo_joint_list(joints)[k];
  double *lambda = joints->lambda + flo_joint_row(joints, k);
  if (!flo_joint_is_active(joint)) return;
  if (joints->yields[k].is_on)
    memcpy(lambda, joints->yields[k].push, joints->matrix.widths[k] * sizeof(double));
  else if (joint->form->has_coordinate && flo_axis_is_known(&joints->axes[k]))
    lambda[joint->form->n_rows] = flo_axis_slide(&joints->axes[k]);
}

// Rows that slide have a known impulse, rows that stick or have no bounds are solved for.
static void solve_pieces(FloJoints *joints, const double *free, double *velocities) {
  memset(joints->lambda, 0, joints->n_rows * sizeof(double));
  for (size_t k = 0; k < joints->list.count; ++k) set_known(joints, k);
  memcpy(velocities, free, 6 * joints->members.count * sizeof(double));
  if (joints->n_bounded + joints->n_breakable > 0) flo_joints_push(joints, joints->lambda, velocities);
  flo_joints_rates(joints, velocities);
  for (size_t i = 0; i < joints->n_rows; ++i)
    joints->rest[i] = joints->is_on[i] ? joints->wanted[i] - joints->rest[i] : 0;
  flo_sparse_solve(&joints->matrix, joints->rest);
  flo_joints_push(joints, joints->rest, velocities);
  for (size_t i = 0; i < joints->n_rows; ++i) joints->lambda[i] += joints->rest[i];
}

// The rows of a joint yield by design. A speed of this size says nothing about pieces in its group.
static double yielding_speed(const FloJoints *joints, uint32_t k) {
  double speed = 0;
  for (int row = 0; row < (int)joints->matrix.widths[k]; ++row)
    speed = fmax(speed, flo_joints_response(joints, k, row) *
                            fabs(joints->lambda[flo_joint_row(joints, k) + (uint32_t)row]));
  return ease_of(joints, k) * speed;
}

static void begin_groups(FloJoints *joints) {
  for (size_t k = 0; k < joints->groups.count; ++k)
    flo_joint_groups(joints)[k].is_open = false, flo_joint_groups(joints)[k].slack = 0;
  for (uint32_t k = 0; k < joints->list.count; ++k) {
    const FloJoint *joint = &flo_joint_list(joints)[k];
    const FloJointMember *member = flo_joint_first_member(joints, joint);
    if (!member || !flo_joint_is_active(joint)) continue;
    double *slack = &flo_joint_groups(joints)[member->group].slack;
    *slack = fmax(*slack, yielding_speed(joints, k));
  }
}

static int next_piece(const FloJoints *joints, uint32_t k, const FloJointGroup *group) {
  const FloAxis *axis = &joints->axes[k];
  const int number = flo_joint_list(joints)[k].form->n_rows;
  const uint32_t row = flo_joint_row(joints, k) + (uint32_t)number;
  const double response = flo_joints_response(joints, k, number);
  const FloAxisSlack slack = {group->slack, response > 0 ? group->slack / response : 0};
  if (!flo_axis_is_known(axis) && !joints->is_on[row]) return axis->piece; // nothing moves it
  double speed = joints->rest[row] + flo_joints_rate_of_others(joints, k, number);
  return flo_axis_next(axis, joints->lambda[row], speed, slack);
}

// Exchanges all pieces that do not fit. Returns how many there are.
static size_t exchange(FloJoints *joints, const double *velocities) {
  size_t n = 0;
  if (joints->n_bounded == 0) return 0;
  flo_joints_rates(joints, velocities);
  begin_groups(joints);
  for (uint32_t k = 0; k < joints->list.count; ++k) {
    const FloJoint *joint = &flo_joint_list(joints)[k];
    const FloJointMember *member = flo_joint_first_member(joints, joint);
    if (!member || !joint->form->has_coordinate || !flo_joint_is_active(joint)) continue;
    if (joints->yields[k].is_on) continue;
    FloJointGroup *group = &flo_joint_groups(joints)[member->group];
    int next = next_piece(joints, k, group);
    if (next == joints->axes[k].piece) continue;
    joints->axes[k].piece = next, group->is_open = true, ++n;
  }
  return n;
}

// Solves and exchanges until all pieces fit. Returns how many do not after the last round.
static size_t settle(FloJoints *joints, size_t n_rounds, const double *free, double *velocities) {
  size_t n = 0;
  for (size_t round = 0; round < n_rounds; ++round) {
    solve_pieces(joints, free, velocities);
    n = exchange(joints, velocities);
    if (n == 0) return 0;
    flo_joints_want_axes(joints);
    ++joints->n_rounds;
    if (!flo_joints_factorise_open(joints)) return 0; // the step fails when bodies move
  }
  return n;
}

// Exchanging all pieces at once mostly ends after a few rounds. Where many rows with friction depend on each
// other it may run in circles. Then an interior point method finds the pieces, nearly, in a number of rounds
// that hardly depends on the number of joints.
static void fit_pieces(FloWorld *world, const double *free, double *velocities) {
  enum { ROUNDS = 8, LAST_ROUNDS = 30 };
  FloJoints *joints = &world->joints;
  if (settle(joints, ROUNDS, free, velocities) == 0) return;
  flo_joints_cross_barriers(joints, free);
  flo_joints_want_axes(joints);
  if (!flo_joints_factorise_open(joints)) return;
  size_t n = settle(joints, LAST_ROUNDS, free, velocities);
  if (n == 0 || joints->has_told) return;
  joints->has_told = true;
  flo_world_log(world, FLO_LOG_WARNING,
                "at %g s the motors, limits and friction of joints did not settle in %zu rounds: %zu of them "
                "do not fit; use a shorter time step, or less friction",
                world->time, joints->n_rounds, n);
}

// Joints that would break yield, which changes the loads of others. In later rounds none holds again, so that
// the rounds end.
void flo_world_solve_joints(FloWorld *world, double *velocities) {
  enum { FREE_ROUNDS = 4 };
  FloJoints *joints = &world->joints;
  double *free = joints->velocities;
  memcpy(free, velocities, 6 * joints->members.count * sizeof(double));
  for (size_t round = 0;; ++round) {
    fit_pieces(world, free, velocities);
    if (flo_joints_yield(joints, velocities, round < FREE_ROUNDS) == 0) return;
    flo_joints_want_axes(joints);
    ++joints->n_rounds;
    if (!flo_joints_factorise_open(joints)) return;
  }
}
