// Pieces of axes by an interior point method: motors, limits and friction of many joints that depend on each
// other.
//
// Each stick s of an axis is a part of its own, with an impulse l between two bounds a and b. With the speed
// u of the coordinate,
//
//   u - s + softness l = p - q,   (l - a) p = mu,   (b - l) q = mu,   p, q >= 0.
//
// With mu = 0 these are the laws of motors, limits and friction: p and q are the speeds at the bounds. Newton
// steps for all rows at once, while mu goes to zero, find the solution (Wright 1997, Primal-Dual
// Interior-Point Methods). For a step each stick is a soft one, with softness p/(l - a) + q/(b - l), so that
// the matrix of joints has the same structure. Groups of bodies have their own mu and length of step: they do
// not depend on each other.
#include "state/state.h"

#define ROUNDS     60
#define CENTRE     0.1  // mu, as a share of the present mean of the products
#define NEAR_BOUND 0.99 // share of the way to a bound that a step may take
#define IS_SMALL   1e-15

typedef struct Axis {
  FloJoints *joints;
  uint32_t joint, row;
  FloAxis *axis;
  FloBarrier *parts;
  FloJointGroup *group;
} Axis;

// Axis of joint k; false if none acts there, or its group has settled.
static bool axis_at(FloJoints *joints, uint32_t k, Axis *out) {
  const FloJoint *joint = &flo_joint_list(joints)[k];
  if (!joint->form->has_coordinate || !flo_joint_is_active(joint) || joints->yields[k].is_on) return false;
  const FloJointMember *member = flo_joint_first_member(joints, joint);
  if (!member || joints->axes[k].n_sticks == 0) return false;
  *out = (Axis){joints,
                k,
                flo_joint_row(joints, k) + (uint32_t)joint->form->n_rows,
                &joints->axes[k],
                joints->barriers[k],
                &flo_joint_groups(joints)[member->group]};
  return out->group->is_open;
}

// ---- Start ----

// The impulse that counts as large, of a part with one bound.
static double usual_impulse(const Axis *at, const FloStick *stick, double response) {
  double lack = fabs(at->joints->rest[at->row] - stick->speed) / response;
  return fmax(fmax(lack, fabs(at->joints->lambda[at->row])), 1e-12);
}

static void start_part(const Axis *at, int k, double response) {
  const FloStick *stick = &at->axis->sticks[k];
  double low = stick->low, high = stick->high;
  bool has_both = isfinite(low) && isfinite(high);
  double size = has_both ? (high - low) / 2 : usual_impulse(at, stick, response);
  FloBarrier *part = &at->parts[k];
  *part = (FloBarrier){.above = INFINITY, .below = INFINITY};
  if (isfinite(low)) part->impulse = low + size, part->above = size, part->at_low = response * size;
  if (isfinite(high)) part->impulse = high - size, part->below = size, part->at_high = response * size;
}

static void start_axis(const Axis *at) {
  const int row = flo_joint_list(at->joints)[at->joint].form->n_rows;
  double response = flo_joints_response(at->joints, at->joint, row);
  for (int k = 0; k < at->axis->n_sticks; ++k) start_part(at, k, fmax(response, 1e-300));
}

// ---- Products ----

static double product_at(double room, double speed) { return isfinite(room) ? room * speed : 0; }

static void add_products(const Axis *at) {
  for (int k = 0; k < at->axis->n_sticks; ++k) {
    const FloBarrier *p = &at->parts[k];
    at->group->product += product_at(p->above, p->at_low);
    at->group->product += product_at(p->below, p->at_high);
    at->group->n_products += (isfinite(p->above) ? 1 : 0) + (isfinite(p->below) ? 1 : 0);
  }
}

static void sum_products(FloJoints *joints) {
  Axis at;
  for (size_t k = 0; k < joints->groups.count; ++k) {
    FloJointGroup *group = &flo_joint_groups(joints)[k];
    group->product = 0, group->n_products = 0, group->step = 1;
  }
  for (uint32_t k = 0; k < joints->list.count; ++k)
    if (axis_at(joints, k, &at)) add_products(&at);
}

static double mu_of(const FloJointGroup *group) {
  return group->n_products ? CENTRE * group->product / (double)group->n_products : 0;
}

// ---- A step ----

// A part answers a speed u with the impulse (*aim - u) / softness.
static double part_softness(const FloBarrier *p, const FloStick *stick, double mu, double *aim) {
  double stiff = 0;
  *aim = stick->speed;
  if (isfinite(p->above)) stiff += p->at_low / p->above, *aim += mu / p->above;
  if (isfinite(p->below)) stiff += p->at_high / p->below, *aim -= mu / p->below;
  *aim += stiff * p->impulse;
  return stiff + stick->softness;
}

static void want_parts(const Axis *at) {
  FloJoints *joints = at->joints;
  double yields = 0, sum = at->axis->given, aim;
  for (int k = 0; k < at->axis->n_sticks; ++k) {
    double softness = part_softness(&at->parts[k], &at->axis->sticks[k], mu_of(at->group), &aim);
    yields += 1 / softness, sum += aim / softness;
  }
  const int row = flo_joint_list(joints)[at->joint].form->n_rows;
  joints->is_on[at->row] = true;
  joints->softness[at->row] = 1 / yields;
  joints->wanted[at->row] = sum / yields - flo_joints_rate_of_others(joints, at->joint, row);
}

static void solve_all(FloJoints *joints, const double *free) {
  flo_joints_rates(joints, free);
  for (size_t i = 0; i < joints->n_rows; ++i)
    joints->rest[i] = joints->is_on[i] ? joints->wanted[i] - joints->rest[i] : 0;
  flo_sparse_solve(&joints->matrix, joints->rest);
}

static double step_within(double value, double next) {
  return next < 0 ? NEAR_BOUND * value / (value - next) : 1;
}

static void aim_part(const Axis *at, int k, double speed) {
  FloBarrier *p = &at->parts[k];
  double aim, mu = mu_of(at->group), *step = &at->group->step;
  double softness = part_softness(p, &at->axis->sticks[k], mu, &aim);
  p->next[0] = (aim - speed) / softness;
  double way = p->next[0] - p->impulse;
  p->next[1] = isfinite(p->above) ? (mu - p->at_low * way) / p->above : 0;
  p->next[2] = isfinite(p->below) ? (mu + p->at_high * way) / p->below : 0;
  if (isfinite(p->above)) *step = fmin(*step, step_within(p->above, p->above + way));
  if (isfinite(p->below)) *step = fmin(*step, step_within(p->below, p->below - way));
  *step = fmin(*step, fmin(step_within(p->at_low, p->next[1]), step_within(p->at_high, p->next[2])));
}

static void aim_parts(const Axis *at) {
  const FloJoints *joints = at->joints;
  const int row = flo_joint_list(joints)[at->joint].form->n_rows;
  double speed = joints->wanted[at->row] + flo_joints_rate_of_others(joints, at->joint, row) -
                 joints->softness[at->row] * joints->rest[at->row];
  for (int k = 0; k < at->axis->n_sticks; ++k) aim_part(at, k, speed);
}

static void move_parts(const Axis *at) {
  double step = at->group->step;
  double aim;
  for (int k = 0; k < at->axis->n_sticks; ++k) {
    FloBarrier *p = &at->parts[k];
    p->last = part_softness(p, &at->axis->sticks[k], 0, &aim);
    double way = step * (p->next[0] - p->impulse);
    p->impulse += way, p->above += way, p->below -= way;
    p->at_low += step * (p->next[1] - p->at_low);
    p->at_high += step * (p->next[2] - p->at_high);
  }
}

static void for_each_axis(FloJoints *joints, void (*work)(const Axis *)) {
  Axis at;
  for (uint32_t k = 0; k < joints->list.count; ++k)
    if (axis_at(joints, k, &at)) work(&at);
}

// ---- The result ----

// As mu goes to zero, a part that reaches a bound becomes ever softer, and a part that sticks ever harder
// (El-Bakry, Tapia and Zhang 1994). A soft limit that acts is above its bend if it is an upper one.
static void choose(const Axis *at) {
  int n_passed = 0, stuck = -1;
  double aim;
  for (int k = 0; k < at->axis->n_sticks; ++k) {
    const FloBarrier *p = &at->parts[k];
    const FloStick *stick = &at->axis->sticks[k];
    const bool is_within = part_softness(p, stick, 0, &aim) <= p->last;
    if (is_within && !stick->is_bend) stuck = k;
    n_passed += stick->is_bend ? is_within == (stick->high == 0) : p->at_low > p->at_high;
  }
  at->axis->piece = stuck >= 0 ? 2 * stuck + 1 : 2 * n_passed;
}

static bool is_done(const FloJoints *joints, double first) {
  double most = 0;
  for (size_t k = 0; k < joints->groups.count; ++k)
    if (flo_joint_groups(joints)[k].is_open) most = fmax(most, flo_joint_groups(joints)[k].product);
  return most <= IS_SMALL * first;
}

static double total_product(const FloJoints *joints) {
  double sum = 0;
  for (size_t k = 0; k < joints->groups.count; ++k) sum += flo_joint_groups(joints)[k].product;
  return sum;
}

void flo_joints_cross_barriers(FloJoints *joints, const double *free) {
  for_each_axis(joints, start_axis);
  sum_products(joints);
  const double first = total_product(joints);
  for (int round = 0; round < ROUNDS && !is_done(joints, first); ++round) {
    for_each_axis(joints, want_parts);
    ++joints->n_rounds;
    if (!flo_joints_factorise_open(joints)) return;
    solve_all(joints, free);
    for_each_axis(joints, aim_parts);
    for_each_axis(joints, move_parts);
    sum_products(joints);
    if (!isfinite(total_product(joints))) return;
  }
  for_each_axis(joints, choose);
}
