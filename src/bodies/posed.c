// Bodies that keep their shape: a solid in a pose. Static, kinematic and rigid bodies share these functions.
#include "base/pose.h"
#include "bodies/body.h"
#include "geometry/endless.h"
#include "geometry/solid_surface.h"

// ---- Frames ----

// Along an axis on which a body has no ends, the position of a point does not matter.
static void forget_endless_axes(const FloBody *body, const FloDomain *domain, double local[3]) {
  for (int axis = 0; axis < domain->dim; ++axis)
    if (flo_shape_is_endless(domain, &body->solid->shape, &body->state.pose, axis)) local[axis] = 0;
}

void flo_posed_local(const FloBody *body, const FloDomain *domain, const FloPose *pose, const double x[3],
                     double local[3]) {
  double image[3];
  flo_domain_nearest_image(domain, pose->position, x, image);
  pose_to_local(pose, image, local);
  forget_endless_axes(body, domain, local);
}

static void local_now(const FloBody *body, const FloDomain *domain, const double x[3], double local[3]) {
  flo_posed_local(body, domain, &body->state.pose, x, local);
}

void flo_lead_chord(const FloLead *lead, const double arm[3], double out[3]) {
  double end[3], way[3];
  vec_set(out, 0, 0, 0);
  if (lead->per_dt == 0) return;
  quat_rotate(lead->turn, arm, end);
  vec_sub(end, arm, way);
  vec_cross(lead->spin, arm, out);
  vec_add_scaled(out, way, -lead->per_dt, out);
}

// Velocity of the body's material at a point of its frame. In a step, that of a led body is way over time.
static void velocity_at(const FloBody *body, const double local[3], double out[3]) {
  double arm[3], inwards[3];
  quat_rotate(body->state.pose.rotation, local, arm);
  flo_lead_chord(&body->lead, arm, inwards);
  vec_cross(body->state.angular_velocity, arm, out);
  vec_add(out, body->state.velocity, out);
  vec_sub(out, inwards, out);
}

// ---- Skin ----

void flo_posed_place(const FloBody *body, FloParticles *samples) {
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    double local[3] = {samples->local_x[i], samples->local_y[i], samples->local_z[i]}, arm[3], velocity[3],
           position[3];
    quat_rotate(body->state.pose.rotation, local, arm);
    vec_add(body->state.pose.position, arm, position);
    vec_cross(body->state.angular_velocity, arm, velocity);
    vec_add(velocity, body->state.velocity, velocity);
    samples->x[i] = position[0], samples->y[i] = position[1], samples->z[i] = position[2];
    samples->vx[i] = (float)velocity[0], samples->vy[i] = (float)velocity[1],
    samples->vz[i] = (float)velocity[2];
  }
}

void flo_posed_where(const FloBody *body, const FloParticles *samples, size_t i, double x[3]) {
  const double local[3] = {samples->local_x[i], samples->local_y[i], samples->local_z[i]};
  pose_to_world(&body->state.pose, local, x);
}

// ---- Distance and normal ----

double flo_posed_distance(const FloBody *body, const FloDomain *domain, const double x[3]) {
  double local[3];
  local_now(body, domain, x, local);
  return flo_solid_distance(body->solid, local);
}

void flo_posed_normal(const FloBody *body, const FloDomain *domain, const double x[3], double normal[3]) {
  double local[3];
  local_now(body, domain, x, local);
  flo_solid_surface(body->solid, local, INFINITY, normal);
  quat_rotate(body->state.pose.rotation, normal, normal);
}

double flo_posed_sharp_surface(const FloBody *body, const FloDomain *domain, const double x[3],
                               double normal[3]) {
  double local[3];
  local_now(body, domain, x, local);
  double distance = flo_solid_sharp_surface(body->solid, local, normal);
  quat_rotate(body->state.pose.rotation, normal, normal);
  return distance;
}

bool flo_posed_deflect(const FloBody *body, const FloDomain *domain, const double x[3], const double v[3],
                       double dt, double deepest, double push[3]) {
  double wall_velocity[3], relative[3], step[3], here[3], there[3], normal[3];
  local_now(body, domain, x, here);
  velocity_at(body, here, wall_velocity);
  vec_sub(v, wall_velocity, relative);
  // In the frame of the body only the relative motion counts.
  quat_rotate_back(body->state.pose.rotation, relative, step);
  vec_add_scaled(here, step, dt, there);
  forget_endless_axes(body, domain, there);
  double depth = -flo_solid_distance(body->solid, there);
  if (!(depth > 0) || flo_solid_distance(body->solid, here) < -deepest) return false;
  flo_solid_normal(body->solid, there, normal);
  quat_rotate(body->state.pose.rotation, normal, normal);
  double approach = -vec_dot(relative, normal);
  if (!(approach > 0)) return false;
  vec_scale(normal, fmin(depth / dt, approach), push);
  return true;
}

bool flo_posed_is_in_tank(const FloBody *body, const double x[3]) {
  const FloShape *shape = &body->solid->shape;
  double local[3];
  if (shape->kind != FLO_SHAPE_TANK) return false;
  pose_to_local(&body->state.pose, x, local);
  for (int axis = 0; axis < body->solid->dim; ++axis) {
    double half = shape->size[axis] / 2;
    bool is_open = axis == shape->up && !shape->closed;
    if (local[axis] < -half || (!is_open && local[axis] > half)) return false;
  }
  return true;
}

// ---- Probes. A shell may be as thin as one layer of samples. A particle that has passed its middle would be
// pushed out on the far side. So the side counts from which it came ----

double flo_posed_way(const FloBody *body, const FloPose *a, const FloPose *b) {
  double way[3], same = 0, opposite = 0; // q and -q are the same rotation
  vec_sub(a->position, b->position, way);
  for (int k = 0; k < 4; ++k) {
    same += pow(a->rotation[k] - b->rotation[k], 2);
    opposite += pow(a->rotation[k] + b->rotation[k], 2);
  }
  double angle = 4 * asin(fmin(sqrt(fmin(same, opposite)) / 2, 1));
  return vec_length(way) + angle * body->reach;
}

// Whether the particle may have been inside at the middle of its path. If not, its end is farther from the
// surface than half of the path.
static bool may_have_been_inside(const FloPath *path, double body_way, double distance) {
  double way[3];
  vec_sub(path->end, path->start, way);
  double longest = vec_length(way) + body_way;
  return !(distance > 0.6 * longest);
}

static bool is_on_other_side(const FloSolid *solid, const double start[3], const double end[3],
                             double distance, const double normal[3], double start_normal[3]) {
  double middle[3];
  vec_add(start, end, middle);
  vec_scale(middle, 0.5, middle);
  if (distance >= 0 && flo_solid_distance(solid, middle) >= 0) return false;
  flo_solid_normal(solid, start, start_normal);
  return vec_dot(start_normal, normal) < 0;
}

// Distance and normal as seen from the side from which a particle comes. Its path ends at `end` in the body's
// frame.
static double see_from_start(const FloBody *body, const FloDomain *domain, const FloPath *path,
                             const double end[3], double distance, double normal[3]) {
  double start[3], start_normal[3], way[3];
  if (!may_have_been_inside(path, body->way, distance)) return distance;
  flo_posed_local(body, domain, &body->before, path->start, start);
  if (!is_on_other_side(body->solid, start, end, distance, normal, start_normal)) return distance;
  vec_sub(end, start, way);
  vec_copy(start_normal, normal);
  return flo_solid_distance(body->solid, start) + vec_dot(way, normal);
}

bool flo_posed_probe(const FloBody *body, const FloDomain *domain, const FloPath *path, double reach,
                     double *distance, FloSurfaceHit *hit) {
  double end[3], normal[3];
  local_now(body, domain, path->end, end);
  *distance = flo_solid_surface(body->solid, end, reach, normal);
  if (!(*distance < reach && vec_dot(normal, normal) > 0.5)) return false;
  *distance = hit->distance = see_from_start(body, domain, path, end, *distance, normal);
  quat_rotate(body->state.pose.rotation, normal, hit->normal);
  return true;
}
