// Dead points: places where the rows of a loop lose their direction, as those of a parallelogram do when all
// its bars lie on one line. Beside a dead point tiny errors of rows ask for enormous forces. Every row yields
// by a share of its own response, its *ease*, which is so small that it does not matter elsewhere. A group of
// bodies at a dead point gets a larger ease for a while.
//
// A dead point is where rows change speeds by more than all that is there in a step, and where a larger ease
// makes that much less. What is off at a dead point returns behind it.
#include "state/state.h"

#include <string.h>

#define USUAL_EASE 1e-10
#define LARGE_EASE 1e-3

enum { NOT_TRIED, IS_TRIED, WAS_TRIED }; // a larger ease, in the present stage

static FloJointGroup *group_of(const FloJoints *joints, size_t member) {
  return &flo_joint_groups(joints)[flo_joint_members(joints)[member].group];
}

void flo_joints_begin_ease(FloJoints *joints) {
  for (size_t k = 0; k < joints->groups.count; ++k) {
    FloJointGroup *group = &flo_joint_groups(joints)[k];
    group->ease = USUAL_EASE;
  }
}

void flo_joints_begin_trials(FloJoints *joints) {
  for (size_t k = 0; k < joints->groups.count; ++k) flo_joint_groups(joints)[k].trial = NOT_TRIED;
}

void flo_joints_note_ease(FloJoints *joints, const double *accelerations) {
  for (size_t k = 0; k < joints->groups.count; ++k)
    flo_joint_groups(joints)[k].fastest = flo_joint_groups(joints)[k].other_change = 0;
  for (size_t k = 0; k < joints->members.count; ++k) {
    const FloJointMember *member = &flo_joint_members(joints)[k];
    FloJointGroup *group = group_of(joints, k);
    double motion[6];
    vec_copy(member->now.node.velocity, motion);
    vec_copy(member->now.node.angular_velocity, motion + 3);
    if (!member->is_free) continue;
    group->fastest = fmax(group->fastest, flo_node_speed(&member->now.node, motion));
    group->other_change =
        fmax(group->other_change, joints->drift * flo_node_speed(&member->now.node, accelerations + 6 * k));
  }
}

static void find_changes(FloJoints *joints) {
  double *by_rows = joints->trial;
  memset(by_rows, 0, 6 * joints->members.count * sizeof(double));
  flo_joints_push(joints, joints->rest, by_rows);
  for (size_t k = 0; k < joints->groups.count; ++k) flo_joint_groups(joints)[k].change = 0;
  for (size_t k = 0; k < joints->members.count; ++k) {
    double *change = &group_of(joints, k)->change;
    *change = fmax(*change,
                   joints->drift * flo_node_speed(&flo_joint_members(joints)[k].now.node, by_rows + 6 * k));
  }
}

static bool change_ease(FloJointGroup *group) {
  if (group->trial == IS_TRIED) {
    bool is_dead_point = group->change < group->usual_change / 2;
    group->trial = WAS_TRIED;
    if (!is_dead_point) group->ease = USUAL_EASE;
    return !is_dead_point;
  }
  if (group->trial == WAS_TRIED || group->ease >= LARGE_EASE) return false;
  if (group->change <= 2 * (group->fastest + group->other_change)) return false;
  group->usual_change = group->change, group->ease = LARGE_EASE, group->trial = IS_TRIED;
  return true;
}

size_t flo_joints_ease(FloJoints *joints) {
  size_t n = 0;
  find_changes(joints);
  for (size_t k = 0; k < joints->groups.count; ++k) n += change_ease(&flo_joint_groups(joints)[k]);
  return n;
}
