#include "bodies/rigid.h"

#include "base/vecmath.h"

#include <string.h>

// ---- Matrices of three rows ----

static void rotation_matrix(const double q[4], double m[9]) {
  for (int column = 0; column < 3; ++column) {
    double unit[3] = {column == 0, column == 1, column == 2}, image[3];
    quat_rotate(q, unit, image);
    for (int row = 0; row < 3; ++row) m[3 * row + column] = image[row];
  }
}

// R M R^T.
static void turn_matrix(const double q[4], const double m[9], double out[9]) {
  double r[9], half[9];
  rotation_matrix(q, r);
  for (int i = 0; i < 9; ++i) {
    int row = i / 3, column = i % 3;
    half[i] = 0;
    for (int k = 0; k < 3; ++k) half[i] += r[3 * row + k] * m[3 * k + column];
  }
  for (int i = 0; i < 9; ++i) {
    int row = i / 3, column = i % 3;
    out[i] = 0;
    for (int k = 0; k < 3; ++k) out[i] += half[3 * row + k] * r[3 * column + k];
  }
}

void flo_rigid_turn_back(const double inertia[9], const double rotation[4], double out[9]) {
  double back[4];
  quat_conjugate(rotation, back);
  turn_matrix(back, inertia, out);
}

// Inverse of a symmetric matrix by its cofactors.
static void invert_symmetric(const double m[9], double out[9]) {
  double a = m[4] * m[8] - m[5] * m[7], b = m[5] * m[6] - m[3] * m[8], c = m[3] * m[7] - m[4] * m[6];
  double scale = 1 / (m[0] * a + m[1] * b + m[2] * c);
  double d = m[0] * m[8] - m[2] * m[6], e = m[1] * m[6] - m[0] * m[7], f = m[0] * m[4] - m[1] * m[3];
  const double inverse[9] = {a, b, c, b, d, e, c, e, f};
  for (int k = 0; k < 9; ++k) out[k] = inverse[k] * scale;
}

// The inverse for rotations about free axes only. Locked axes are treated as if their inertia were infinite;
// their rows and columns are zero.
static void invert_free(const double m[9], const bool locks[3], double out[9]) {
  double filled[9];
  memcpy(filled, m, sizeof filled);
  for (int axis = 0; axis < 3; ++axis) {
    if (!locks[axis]) continue;
    for (int k = 0; k < 3; ++k) filled[3 * axis + k] = filled[3 * k + axis] = 0;
    filled[4 * axis] = 1;
  }
  invert_symmetric(filled, out);
  for (int axis = 0; axis < 3; ++axis)
    if (locks[axis])
      for (int k = 0; k < 3; ++k) out[3 * axis + k] = out[3 * k + axis] = 0;
}

// ---- Creation ----

// Whether the inertia can be inverted. A rod without width, in any direction, has none about its own axis.
static bool is_invertible(const double m[9]) {
  double minor = m[0] * m[4] - m[1] * m[3], product = m[0] * m[4] * m[8];
  double determinant = m[8] * minor + m[5] * (m[1] * m[6] - m[0] * m[7]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
  return isfinite(product) && minor > 0 && determinant > 1e-12 * product;
}

FloStatus flo_rigid_init(FloRigid *rigid, const FloMassProperties *mass, const FloPose *pose, int dim,
                         FloError *error) {
  const double *t = mass->inertia; // xx, yy, zz, xy, yz, zx
  *rigid =
      (FloRigid){.node.mass = mass->mass, .inertia = {t[0], t[3], t[5], t[3], t[1], t[4], t[5], t[4], t[2]}};
  vec_copy(mass->centre, rigid->centre);
  if (!(mass->mass > 0) || !isfinite(mass->mass))
    return flo_fail(error, FLO_BAD_INPUT,
                    "mass: a dynamic body must weigh something, got %g kg; give it a density, or a thickness "
                    "if its shape has no volume",
                    mass->mass);
  for (int axis = 0; axis < 3; ++axis) {
    bool is_needed = dim == 3 || axis == 2;
    if (is_needed && (!(t[axis] > 0) || !isfinite(t[axis])))
      return flo_fail(
          error, FLO_BAD_INPUT,
          "inertia: about %c it is %g kg m², so any touch would spin the body without limit; give "
          "its shape some width",
          "xyz"[axis], t[axis]);
    rigid->node.locks[axis] = dim == 2 && axis == 2;
    rigid->node.locks[axis + 3] = !is_needed;
  }
  if (dim == 3 && !is_invertible(rigid->inertia))
    return flo_fail(
        error, FLO_BAD_INPUT,
        "inertia: there is none about some axis between x, y and z (products %g, %g, %g kg m²), so "
        "any touch would spin the body without limit; give its shape some width",
        t[3], t[4], t[5]);
  quat_rotate(pose->rotation, rigid->centre, rigid->node.position);
  vec_add(rigid->node.position, pose->position, rigid->node.position);
  return FLO_OK;
}

void flo_rigid_refresh(FloRigid *rigid, const double rotation[4]) {
  FloNode *node = &rigid->node;
  turn_matrix(rotation, rigid->inertia, node->inertia);
  memset(node->inverse_inertia, 0, sizeof node->inverse_inertia);
  for (int axis = 0; axis < 3; ++axis)
    node->inverse_mass[axis] = node->is_held || node->locks[axis] ? 0 : 1 / node->mass;
  if (!node->is_held) invert_free(node->inertia, node->locks + 3, node->inverse_inertia);
  mat_apply(node->inverse_inertia, rigid->angular_momentum, node->angular_velocity);
}

void flo_rigid_spin(FloRigid *rigid, const double rotation[4], const double angular_velocity[3]) {
  double inertia[9];
  for (int axis = 0; axis < 3; ++axis)
    rigid->node.angular_velocity[axis] = rigid->node.locks[axis + 3] ? 0 : angular_velocity[axis];
  turn_matrix(rotation, rigid->inertia, inertia);
  mat_apply(inertia, rigid->node.angular_velocity, rigid->angular_momentum);
}

void flo_rigid_push(FloRigid *rigid, const double impulse[3], const double turn[3]) {
  for (int axis = 0; axis < 3; ++axis)
    rigid->node.velocity[axis] += rigid->node.inverse_mass[axis] * impulse[axis];
  for (int axis = 0; axis < 3; ++axis)
    if (!rigid->node.is_held && !rigid->node.locks[axis + 3]) rigid->angular_momentum[axis] += turn[axis];
  mat_apply(rigid->node.inverse_inertia, rigid->angular_momentum, rigid->node.angular_velocity);
}

// ---- The step ----

void flo_rigid_turn(const double q[4], const double omega[3], double dt, double out[4]) {
  double angle = vec_length(omega) * dt, turn[4];
  quat_copy(q, out);
  if (angle == 0) return;
  quat_from_axis_angle(omega, angle, turn);
  quat_multiply(turn, q, out);
}

// Angular velocity of the body in another orientation; its angular momentum stays.
static void spin_in(const FloRigid *rigid, const double rotation[4], double omega[3]) {
  FloRigid turned = *rigid;
  flo_rigid_refresh(&turned, rotation);
  vec_copy(turned.node.angular_velocity, omega);
}

// a k1 + b (k2 + k3) + c k4
static void combine(double k[4][3], double a, double b, double c, double out[3]) {
  for (int axis = 0; axis < 3; ++axis)
    out[axis] = a * k[0][axis] + b * (k[1][axis] + k[2][axis]) + c * k[3][axis];
}

// A Runge-Kutta method of order four whose steps are rotations (Celledoni, Marthinsen and Owren 2003:
// Commutator-free Lie group methods). It is exact for a constant angular velocity. Angular momentum is
// constant, so the energy of a free body changes only by the error of its orientation.
static void turn_freely(const FloRigid *rigid, double rotation[4], double dt) {
  double k[4][3], q[4], half[4], omega[3];
  vec_copy(rigid->node.angular_velocity, k[0]);
  flo_rigid_turn(rotation, k[0], dt / 2, half);
  spin_in(rigid, half, k[1]);
  flo_rigid_turn(rotation, k[1], dt / 2, q);
  spin_in(rigid, q, k[2]);
  vec_add_scaled(k[2], k[0], -0.5, omega);
  flo_rigid_turn(half, omega, dt, q);
  spin_in(rigid, q, k[3]);
  combine(k, 3, 2, -1, omega);
  flo_rigid_turn(rotation, omega, dt / 12, q);
  combine(k, -1, 2, 3, omega);
  flo_rigid_turn(q, omega, dt / 12, rotation);
}

void flo_rigid_move(FloRigid *rigid, double rotation[4], double dt) {
  if (rigid->node.is_held) return;
  turn_freely(rigid, rotation, dt);
  quat_normalise(rotation); // without this, rounding would show only after many million steps
  vec_add_scaled(rigid->node.position, rigid->node.velocity, dt, rigid->node.position);
}

void flo_rigid_state(const FloRigid *rigid, const double rotation[4], FloBodyState *state) {
  double arm[3], sweep[3];
  quat_rotate(rotation, rigid->centre, arm);
  vec_sub(rigid->node.position, arm, state->pose.position);
  quat_copy(rotation, state->pose.rotation);
  vec_cross(rigid->node.angular_velocity, arm, sweep);
  vec_sub(rigid->node.velocity, sweep, state->velocity);
  vec_copy(rigid->node.angular_velocity, state->angular_velocity);
  if (rigid->node.is_held) vec_set(state->velocity, 0, 0, 0);
}
