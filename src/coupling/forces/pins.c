#include "coupling/forces/pins.h"

#include "base/pose.h"

// A vertex that is off returns no faster than bodies part that overlap as much: a short step would hurl it.
static double return_rate(const FloWorld *world, const FloContactPoint *pin, double dt) {
  const double off = vec_length(pin->away);
  if (off == 0) return FLO_ANCHOR_RATE / dt;
  return fmin(FLO_ANCHOR_RATE / dt,
              flo_body_parting_speed(world->def.gravity, world->def.spacing, off) / off);
}

// Within the step the place that a pin holds turns with its body, on a circle. The velocity of the body there
// leads along the tangent. What is missing per time [m/s]: without it pins would be torn off fast bodies and
// pulled back, and energy would grow.
static void find_turn(const FloWorld *world, const FloContactPoint *pin, double dt, double missing[3]) {
  const FloNode *node = flo_bodies(world)[pin->other].nodes;
  const double *spin = node->angular_velocity, angle = dt * vec_length(spin);
  double image[3], arm[3], tangent[3], turned[3], turn[4];
  vec_set(missing, 0, 0, 0);
  if (!(angle > 0)) return;
  flo_world_nearest_image(world, node->position, pin->x, image);
  vec_sub(image, node->position, arm);
  vec_scale(spin, dt / angle, turned);
  quat_from_axis_angle(turned, angle, turn);
  quat_rotate(turn, arm, turned);
  vec_cross(spin, arm, tangent);
  vec_sub(turned, arm, missing);
  vec_scale(missing, 1 / dt, missing);
  vec_sub(missing, tangent, missing);
}

void flo_pin_drift(const FloWorld *world, const FloContactPoint *pin, double dt, double drift[3]) {
  double turn[3];
  find_turn(world, pin, dt, turn);
  vec_scale(pin->away, return_rate(world, pin, dt), drift);
  vec_sub(drift, turn, drift);
}
