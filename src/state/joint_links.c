// Which joint acts on which body: members, links, groups, and the structure of the matrix. It is made again
// when joints are added, released or broken.
#include "state/state.h"

#include <stdlib.h>
#include <string.h>

enum {
  FOR_MEMBERS,
  FOR_SLOTS,
  FOR_ENDS,
  FOR_ROWS,
  FOR_REPLIES,
  FOR_AXES,
  FOR_NUMBERS,
  FOR_FLAGS,
  FOR_MOTION,
  FOR_BARRIERS,
  FOR_ROOMS,
  FOR_YIELDS
};

void flo_joints_init(FloJoints *joints, FloMemory *memory) { flo_sparse_init(&joints->matrix, memory); }

void flo_joints_free(FloJoints *joints, FloMemory *memory) {
  FloList *lists[] = {&joints->list, &joints->members, &joints->links, &joints->groups, &joints->pairs};
  for (size_t k = 0; k < joints->list.count; ++k) {
    FloJoint *joint = &flo_joint_list(joints)[k];
    flo_memory_release(memory, joint->keys, joint->n_keys * sizeof *joint->keys);
    flo_memory_release(memory, joint->changes, joint->n_changes * sizeof *joint->changes);
  }
  for (size_t k = 0; k < FLO_COUNT_OF(lists); ++k) flo_buffer_free(memory, &lists[k]->buffer);
  flo_buffers_free(memory, joints->buffers, FLO_JOINT_BUFFERS);
  if (joints->matrix.memory) flo_sparse_free(&joints->matrix);
}

void flo_joints_note_change(FloJoints *joints) {
  FloJoint *list = flo_joint_list(joints);
  joints->is_built = false;
  for (size_t k = 0; k < joints->list.count; ++k)
    list[k].is_idle = list[k].form->is_gear && !(flo_joint_is_active(&list[list[k].joints[0]]) &&
                                                 flo_joint_is_active(&list[list[k].joints[1]]));
}

uint32_t flo_joint_body(const FloJoints *joints, const FloJoint *joint, int side) {
  if (!joint->form->is_gear) return joint->sides[side].body;
  return flo_joint_list(joints)[joint->joints[side / 2]].sides[side % 2].body;
}

static uint32_t member_at(const FloJoints *joints, const FloJoint *joint, int side) {
  uint32_t body = flo_joint_body(joints, joint, side);
  return body == UINT32_MAX ? UINT32_MAX : joints->member_of[body];
}

FloJointMember *flo_joint_member(const FloJoints *joints, const FloJoint *joint, int side) {
  uint32_t member = member_at(joints, joint, side);
  return member == UINT32_MAX ? NULL : &flo_joint_members(joints)[member];
}

FloJointMember *flo_joint_first_member(const FloJoints *joints, const FloJoint *joint) {
  FloJointMember *member = NULL;
  for (int side = 0; !member && side < flo_joint_n_sides(joint); ++side)
    member = flo_joint_member(joints, joint, side);
  return member;
}

// ---- Members and links ----

static void mark_joined(FloJoints *joints) {
  for (size_t k = 0; k < joints->list.count; ++k) {
    const FloJoint *joint = &flo_joint_list(joints)[k];
    for (int side = 0; side < 2 && !joint->form->is_gear; ++side)
      if (joint->sides[side].body != UINT32_MAX) joints->member_of[joint->sides[side].body] = 0;
  }
}

// All bodies of joints are members, also of joints that have been released: the motion of a body must not
// change when a joint elsewhere breaks.
static FloStatus list_members(FloWorld *world, FloError *error) {
  FloJoints *joints = &world->joints;
  joints->members.count = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) joints->member_of[k] = UINT32_MAX;
  mark_joined(joints);
  for (uint32_t k = 0; k < world->bodies.count; ++k) {
    FloJointMember member = {.body = k, .group = (uint32_t)joints->members.count};
    bool is_member = joints->member_of[k] == 0 && flo_body_is_pushed(&flo_bodies(world)[k]);
    joints->member_of[k] = is_member ? member.group : UINT32_MAX;
    if (!is_member) continue;
    FLO_TRY(flo_list_append(&world->memory, &joints->members, &member, sizeof member, error));
  }
  return FLO_OK;
}

static int compare_links(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

// Links in the order of members, joints and sides. Each is packed into one number to sort them.
static FloStatus list_links(FloWorld *world, FloError *error) {
  FloJoints *joints = &world->joints;
  joints->links.count = 0;
  for (size_t k = 0; k < joints->list.count; ++k) {
    const FloJoint *joint = &flo_joint_list(joints)[k];
    for (int side = 0; flo_joint_is_active(joint) && side < flo_joint_n_sides(joint); ++side) {
      uint64_t member = member_at(joints, joint, side), packed = member << 20 | k << 2 | (uint64_t)side;
      if (member == UINT32_MAX) continue;
      FLO_TRY(flo_list_append(&world->memory, &joints->links, &packed, sizeof packed, error));
    }
  }
  size_t n = joints->links.count;
  if (n) qsort(joints->links.buffer.data, n, sizeof(uint64_t), compare_links);
  return FLO_OK;
}

static void unpack_links(FloJoints *joints) {
  FloJointMember *members = flo_joint_members(joints);
  for (size_t k = 0; k < joints->members.count; ++k) members[k].n_links = 0;
  for (size_t k = 0; k < joints->links.count; ++k) {
    uint64_t packed = FLO_LIST(joints->links, uint64_t)[k];
    FloJointMember *member = &members[packed >> 20];
    if (!member->n_links++) member->first_link = k;
    FLO_LIST(joints->links, FloJointLink)
    [k] = (FloJointLink){(uint32_t)(packed >> 2 & 0x3ffff), (int)(packed & 3)};
  }
}

// ---- Groups ----

static uint32_t group_of(FloJointMember *members, uint32_t member) {
  while (members[member].group != member) member = members[member].group;
  return member;
}

static void join_groups(FloJoints *joints, const FloJoint *joint) {
  FloJointMember *members = flo_joint_members(joints);
  uint32_t first = UINT32_MAX;
  for (int side = 0; side < flo_joint_n_sides(joint); ++side) {
    uint32_t member = member_at(joints, joint, side);
    if (member == UINT32_MAX) continue;
    uint32_t group = group_of(members, member);
    if (first == UINT32_MAX) first = group;
    if (group < first)
      members[first].group = group, first = group;
    else
      members[group].group = first;
  }
}

static FloStatus find_groups(FloWorld *world, FloError *error) {
  FloJoints *joints = &world->joints;
  FloJointMember *members = flo_joint_members(joints);
  for (size_t k = 0; k < joints->list.count; ++k)
    if (flo_joint_is_active(&flo_joint_list(joints)[k])) join_groups(joints, &flo_joint_list(joints)[k]);
  for (uint32_t k = 0; k < joints->members.count; ++k) members[k].group = group_of(members, k);
  joints->groups.count = 0;
  for (size_t k = 0; k < joints->members.count; ++k) {
    const FloJointGroup group = {0};
    FLO_TRY(flo_list_append(&world->memory, &joints->groups, &group, sizeof group, error));
  }
  return FLO_OK;
}

// ---- Bodies that pass through each other ----

static uint64_t pair_of(const FloJoint *joint) {
  const uint64_t a = joint->sides[0].body, b = joint->sides[1].body;
  return a < b ? a << 32 | b : b << 32 | a;
}

static bool lets_pass(const FloJoint *joint) {
  if (!flo_joint_is_active(joint) || joint->form->is_gear || joint->sides[0].body == UINT32_MAX) return false;
  return joint->touch == FLO_TOUCH_NO || (joint->touch == FLO_TOUCH_BY_KIND && joint->form->lets_pass);
}

// Whether a joint says that its bodies touch each other, whatever other joints of them say.
static bool lets_touch(const FloJoint *joint) {
  return joint->touch == FLO_TOUCH_YES && flo_joint_is_active(joint);
}

static FloStatus add_pair(FloWorld *world, uint64_t pair, FloError *error) {
  return flo_list_append(&world->memory, &world->joints.pairs, &pair, sizeof pair, error);
}

static void sort_pairs(FloList *pairs) {
  if (pairs->count) qsort(pairs->buffer.data, pairs->count, sizeof(uint64_t), compare_links);
}

static bool has_pair(const uint64_t *sorted, size_t n, uint64_t pair) {
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (sorted[middle] < pair)
      low = middle + 1;
    else
      high = middle;
  }
  return low < n && sorted[low] == pair;
}

static void drop_first(FloList *pairs, size_t n) {
  uint64_t *all = FLO_LIST(*pairs, uint64_t);
  pairs->count -= n;
  if (n) memmove(all, all + n, pairs->count * sizeof *all);
}

// The pairs that touch stand before the others, sorted, until all are known.
static FloStatus list_pairs(FloWorld *world, FloError *error) {
  FloList *pairs = &world->joints.pairs;
  const FloJoint *list = flo_joint_list(&world->joints);
  pairs->count = 0;
  for (size_t k = 0; k < world->joints.list.count; ++k)
    if (lets_touch(&list[k])) FLO_TRY(add_pair(world, pair_of(&list[k]), error));
  sort_pairs(pairs);
  const size_t n_touching = pairs->count;
  for (size_t k = 0; k < world->joints.list.count; ++k) {
    const uint64_t pair = pair_of(&list[k]);
    if (lets_pass(&list[k]) && !has_pair(FLO_LIST(*pairs, uint64_t), n_touching, pair))
      FLO_TRY(add_pair(world, pair, error));
  }
  drop_first(pairs, n_touching);
  sort_pairs(pairs);
  return FLO_OK;
}

bool flo_joints_join(const FloJoints *joints, uint32_t a, uint32_t b) {
  const uint64_t pair = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
  return has_pair(FLO_LIST(joints->pairs, uint64_t), joints->pairs.count, pair);
}

// ---- Memory ----

// Never nothing, since parts of the memory are found by adding to the pointer.
static FloStatus reserve(FloWorld *world, int which, size_t size, void *pointer, FloError *error) {
  FloBuffer *buffer = &world->joints.buffers[which];
  FLO_TRY(flo_buffer_reserve(&world->memory, buffer, flo_max_size(size, 1), 0, error));
  memcpy(pointer, &buffer->data, sizeof(void *));
  return FLO_OK;
}

static FloStatus reserve_rows(FloWorld *world, FloError *error) {
  FloJoints *joints = &world->joints;
  size_t n = joints->n_rows, n_joints = joints->list.count;
  double *numbers;
  FLO_TRY(
      reserve(world, FOR_ENDS, 2 * (world->bodies.count + 1) * sizeof *joints->ends, &joints->ends, error));
  joints->first_ends = joints->ends + world->bodies.count + 1;
  FLO_TRY(reserve(world, FOR_ROWS, joints->n_slots * sizeof *joints->slots, &joints->slots, error));
  FLO_TRY(reserve(world, FOR_REPLIES, joints->n_slots * sizeof *joints->replies, &joints->replies, error));
  FLO_TRY(reserve(world, FOR_AXES, n_joints * sizeof *joints->axes, &joints->axes, error));
  FLO_TRY(reserve(world, FOR_BARRIERS, n_joints * sizeof *joints->barriers, &joints->barriers, error));
  FLO_TRY(reserve(world, FOR_ROOMS, n_joints * sizeof *joints->rooms, &joints->rooms, error));
  FLO_TRY(reserve(world, FOR_YIELDS, n_joints * sizeof *joints->yields, &joints->yields, error));
  FLO_TRY(reserve(world, FOR_NUMBERS, 6 * n * sizeof(double), &numbers, error));
  FLO_TRY(reserve(world, FOR_FLAGS, (n + n_joints) * sizeof(bool), &joints->is_on, error));
  joints->is_open = joints->is_on + n;
  joints->wanted = numbers, joints->lambda = numbers + n;
  joints->rest = numbers + 2 * n, joints->softness = numbers + 3 * n, joints->pushes = numbers + 4 * n;
  joints->responses = numbers + 5 * n;
  memset(numbers, 0, 6 * n * sizeof(double));
  size_t n_velocities = 6 * joints->members.count;
  FLO_TRY(reserve(world, FOR_MOTION, 3 * n_velocities * sizeof(double), &joints->velocities, error));
  joints->trial = joints->velocities + n_velocities, joints->given = joints->trial + n_velocities;
  return FLO_OK;
}

void flo_joints_list_parts(FloJoints *joints, FloSolvePart parts[FLO_JOINT_PARTS]) {
  const size_t n = joints->list.count;
  parts[0] = (FloSolvePart){joints->axes, n * sizeof *joints->axes};
  parts[1] = (FloSolvePart){joints->yields, n * sizeof *joints->yields};
  parts[2] = (FloSolvePart){joints->wanted, 6 * joints->n_rows * sizeof(double)}; // all numbers of rows
  parts[3] = (FloSolvePart){joints->is_on, joints->n_rows * sizeof(bool)};
  parts[4] = (FloSolvePart){flo_joint_groups(joints), joints->groups.count * sizeof(FloJointGroup)};
  parts[5] = (FloSolvePart){joints->matrix.numbers, joints->matrix.n_numbers * sizeof(double)};
  parts[6] = (FloSolvePart){&joints->n_rounds, sizeof joints->n_rounds};
}

// ---- Structure of the matrix ----

static FloStatus connect(FloJoints *joints, FloError *error) {
  for (size_t k = 0; k < joints->members.count; ++k) {
    const FloJointMember *member = &flo_joint_members(joints)[k];
    const FloJointLink *links = FLO_LIST(joints->links, FloJointLink) + member->first_link;
    for (size_t a = 0; a < member->n_links; ++a)
      for (size_t b = 0; b < a; ++b)
        FLO_TRY(flo_sparse_connect(&joints->matrix, links[a].joint, links[b].joint, error));
  }
  return FLO_OK;
}

static FloStatus make_matrix(FloWorld *world, FloError *error) {
  FloJoints *joints = &world->joints;
  uint32_t *widths = joints->first_slot; // for a moment
  for (size_t k = 0; k < joints->list.count; ++k) widths[k] = flo_joint_width(&flo_joint_list(joints)[k]);
  FLO_TRY(flo_sparse_begin(&joints->matrix, widths, joints->list.count, error));
  joints->n_rows = joints->matrix.n_rows, joints->n_slots = 0;
  for (size_t k = 0; k < joints->list.count; ++k) {
    const FloJoint *joint = &flo_joint_list(joints)[k];
    joints->first_slot[k] = (uint32_t)joints->n_slots;
    joints->n_slots += joint->form->is_gear ? 2 : flo_joint_width(joint);
  }
  FLO_TRY(connect(joints, error));
  return flo_sparse_order(&joints->matrix, error);
}

FloStatus flo_world_build_joints(FloWorld *world, FloError *error) {
  FloJoints *joints = &world->joints;
  if (joints->is_built) return FLO_OK;
  FLO_TRY(reserve(world, FOR_MEMBERS, world->bodies.count * sizeof(uint32_t), &joints->member_of, error));
  FLO_TRY(reserve(world, FOR_SLOTS, joints->list.count * sizeof(uint32_t), &joints->first_slot, error));
  FLO_TRY(list_members(world, error));
  FLO_TRY(list_links(world, error));
  unpack_links(joints);
  FLO_TRY(find_groups(world, error));
  FLO_TRY(list_pairs(world, error));
  FLO_TRY(make_matrix(world, error));
  FLO_TRY(reserve_rows(world, error));
  joints->is_built = true;
  return FLO_OK;
}
