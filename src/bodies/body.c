// Functions for bodies of every kind.
#include "bodies/body.h"

const FloKind *flo_kind_of(FloBodyKind kind) {
  switch (kind) {
  case FLO_BODY_STATIC:
    return &flo_static_kind;
  case FLO_BODY_KINEMATIC:
    return &flo_kinematic_kind;
  case FLO_BODY_DYNAMIC:
    return &flo_rigid_kind;
  case FLO_BODY_CLOTH:
    return &flo_cloth_kind;
  case FLO_BODY_ELASTIC:
    return &flo_elastic_kind;
  }
  return NULL;
}

FloBodyDef flo_default_body_def(void) {
  return (FloBodyDef){.name = "body",
                      .shape = {.size = {1, 1, 1}},
                      .pose = flo_pose_identity(),
                      .friction = -1,
                      .slip = -1,
                      .restitution = -1,
                      .contact_angle = -1,
                      .filter = {1, UINT32_MAX}};
}

FloGrip flo_body_grip(FloBody *body, const FloDomain *domain, const FloParticles *samples, size_t i,
                      const double x[3]) {
  const FloCarriers carriers = flo_body_carriers(body, samples, i);
  FloGrip grip = {.body = body, .count = carriers.count};
  for (int k = 0; k < grip.count; ++k) {
    FloGripPart *part = &grip.parts[k];
    part->number = carriers.nodes[k], part->share = carriers.shares[k];
    part->node = &body->nodes[part->number];
    flo_domain_between(domain, part->node->position, x, part->arm);
  }
  return grip;
}

void flo_grip_velocity(const FloGrip *grip, double out[3]) {
  vec_set(out, 0, 0, 0);
  for (int k = 0; k < grip->count; ++k) {
    const FloGripPart *part = &grip->parts[k];
    double at[3];
    vec_cross(part->node->angular_velocity, part->arm, at);
    vec_add(at, part->node->velocity, at);
    vec_add_scaled(out, at, part->share, out);
  }
}

double flo_grip_response(const FloGrip *grip, const double direction[3]) {
  double sum = 0;
  for (int k = 0; k < grip->count; ++k) {
    const FloGripPart *part = &grip->parts[k];
    double j[6];
    vec_copy(direction, j);
    vec_cross(part->arm, direction, j + 3);
    sum += part->share * part->share * flo_node_response(part->node, j);
  }
  return sum;
}

void flo_grip_push(const FloGrip *grip, const double impulse[3]) {
  for (int k = 0; k < grip->count; ++k) {
    const FloGripPart *part = &grip->parts[k];
    double share[3], turn[3];
    vec_scale(impulse, part->share, share);
    vec_cross(part->arm, share, turn);
    grip->body->kind->push(grip->body, part->number, share, turn);
  }
}

void flo_body_add_force(FloBody *body, const double force[3], const double torque[3], const double centre[3],
                        const double origin[3]) {
  double arm[3], turn[3];
  vec_sub(centre, origin, arm);
  vec_cross(arm, force, turn);
  vec_add(torque, turn, turn);
  vec_add(body->state.force, force, body->state.force);
  vec_add(body->state.torque, turn, body->state.torque);
}
