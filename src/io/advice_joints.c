// Notes about joints: springs that nothing guides, and winches that cannot pay out.
#include "base/vecmath.h"
#include "bodies/joint.h"
#include "io/advice_parts.h"

#include <math.h>

// ---- Springs that turn ----

static bool joins_the_same(const FloSceneJoint *a, const FloSceneJoint *b) {
  if (a->has_to != b->has_to) return false;
  if (!a->has_to) return a->of[1] == b->of[1];
  return (a->of[0] == b->of[0] && a->of[1] == b->of[1]) || (a->of[0] == b->of[1] && a->of[1] == b->of[0]);
}

static bool is_guided(const FloScene *scene, const FloSceneJoint *spring) {
  for (size_t k = 0; k < scene->n_joints; ++k) {
    const FloSceneJoint *joint = &scene->joints[k];
    const bool turns_about_axis =
        joint->def.kind == FLO_JOINT_HINGE || joint->def.kind == FLO_JOINT_CYLINDRICAL;
    if (turns_about_axis && joins_the_same(joint, spring)) return true;
  }
  return false;
}

// In two dimensions everything turns about the same axis.
static void advise_on_turn_spring(FloAdvice *advice, const FloSceneJoint *spring) {
  const FloScene *scene = advice->scene;
  if (spring->def.kind != FLO_JOINT_TURN_SPRING || advice->world->def.dim == 2) return;
  if (is_guided(scene, spring)) return;
  flo_advice_tell(
      advice,
      "turn_spring '%s': no hinge joins '%s' to %s%s%s, so that its angle means nothing once the body "
      "turns about another axis; add a hinge with the same axis",
      spring->name, scene->bodies[spring->of[1]].name, spring->has_to ? "'" : "",
      spring->has_to ? scene->bodies[spring->of[0]].name : "the world", spring->has_to ? "'" : "");
}

// ---- Winches ----

// The highest value that a motor may seek.
static double highest(const FloMotorDef *motor) {
  double law = 0;
  for (size_t k = 0; k < motor->n_keys; ++k) law = fmax(law, motor->keys[k].value);
  return motor->value + fabs(motor->amplitude) + law;
}

// Whether a motor, at its start or after an event, would make the rope longer than it is now.
static bool pays_out(const FloJointDef *rope, double distance) {
  const bool seeks = rope->motor.kind == FLO_MOTOR_POSITION;
  if (rope->motor.kind != FLO_MOTOR_FREE && highest(&rope->motor) > (seeks ? distance : 0)) return true;
  for (size_t k = 0; k < rope->n_changes; ++k) {
    const FloJointChange *change = &rope->changes[k];
    if (change->part == FLO_JOINT_MOTOR_SPEED && change->value > 0) return true;
    if (change->part == FLO_JOINT_MOTOR_POSITION && change->value > distance) return true;
  }
  return false;
}

static bool gets_longer(const FloJointDef *rope) {
  for (size_t k = 0; k < rope->n_changes; ++k)
    if (rope->changes[k].part == FLO_JOINT_LENGTH || rope->changes[k].part == FLO_JOINT_LIMIT_HIGH)
      return true;
  return false;
}

static void advise_on_winch(FloAdvice *advice, const FloSceneJoint *joint) {
  const FloJointDef *rope = &joint->def;
  double apart[3];
  if (rope->kind != FLO_JOINT_ROPE || rope->length >= 0 || gets_longer(rope)) return;
  vec_sub(rope->to_at, rope->at, apart);
  if (!pays_out(rope, vec_length(apart))) return;
  flo_advice_tell(
      advice,
      "rope '%s': its motor pays out, but without 'length' the rope is only as long as at the start, "
      "%.4g m, and stays so; give it the 'length' of the whole rope",
      joint->name, vec_length(apart));
}

void flo_advice_on_joints(FloAdvice *advice) {
  for (size_t k = 0; k < advice->scene->n_joints; ++k)
    advise_on_turn_spring(advice, &advice->scene->joints[k]);
  flo_advice_end_kind(advice, "joints");
  for (size_t k = 0; k < advice->scene->n_joints; ++k) advise_on_winch(advice, &advice->scene->joints[k]);
  flo_advice_end_kind(advice, "joints");
}
