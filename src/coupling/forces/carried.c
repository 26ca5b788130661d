#include "coupling/forces/carried.h"

FloCarried flo_world_carried(const FloWorld *world, size_t sample) {
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  const FloBody *body = &flo_bodies(world)[rigid->body[sample]];
  const FloCarriers of_body = flo_body_carriers(body, rigid, sample);
  const double x[3] = {rigid->x[sample], rigid->y[sample], rigid->z[sample]};
  FloCarried carriers = {.count = of_body.count};
  for (int k = 0; k < of_body.count; ++k) {
    carriers.nodes[k] = (uint32_t)body->first_node + of_body.nodes[k];
    carriers.shares[k] = of_body.shares[k];
    vec_sub(x, body->nodes[of_body.nodes[k]].position, carriers.arms[k]);
  }
  return carriers;
}

FloCarried flo_world_carried_at(const FloWorld *world, uint32_t sample, const double x[3]) {
  const FloParticles *rigid = &world->sets[FLO_SET_RIGID];
  size_t i = sample - world->sets[FLO_SET_BOUNDARY].count;
  FloCarried carriers = flo_world_carried(world, i);
  const double there[3] = {rigid->x[i], rigid->y[i], rigid->z[i]};
  double image[3], way[3];
  flo_world_nearest_image(world, there, x, image);
  vec_sub(image, there, way);
  for (int k = 0; k < carriers.count; ++k) vec_add(carriers.arms[k], way, carriers.arms[k]);
  return carriers;
}

// Nodes of one body, with arms that lead to the image of x nearest to each node.
static FloCarried hold_at(const FloWorld *world, const FloBody *body, const FloSoftHold *hold,
                          const double x[3]) {
  FloCarried carriers = {.count = hold->count};
  for (int k = 0; k < hold->count; ++k) {
    const double *node = body->nodes[hold->nodes[k]].position;
    double image[3];
    carriers.nodes[k] = (uint32_t)body->first_node + hold->nodes[k];
    carriers.shares[k] = hold->shares[k];
    flo_world_nearest_image(world, node, x, image);
    vec_sub(image, node, carriers.arms[k]);
  }
  return carriers;
}

FloCarried flo_contact_own_carried(const FloWorld *world, const FloContactPoint *point) {
  if (point->hold.count == 0) return flo_world_carried_at(world, point->body_sample, point->x);
  return hold_at(world, &flo_bodies(world)[point->body], &point->hold, point->x);
}

// A body that keeps its shape is one node.
FloCarried flo_contact_other_carried(const FloWorld *world, const FloContactPoint *point) {
  const FloSoftHold first = {.count = 1, .shares = {1}};
  if (point->other_hold.count > 0)
    return hold_at(world, &flo_bodies(world)[point->other], &point->other_hold, point->x);
  if (point->other_sample != FLO_NO_SAMPLE) return flo_world_carried_at(world, point->other_sample, point->x);
  return hold_at(world, &flo_bodies(world)[point->other], &first, point->x);
}

void flo_wall_velocity(const FloWorld *world, const FloBody *wall, const double x[3], const FloCarried *own,
                       double v[3]) {
  double image[3], arm[3], centre[3], inwards[3];
  flo_world_nearest_image(world, wall->state.pose.position, x, image);
  vec_sub(image, wall->state.pose.position, arm);
  vec_cross(wall->state.angular_velocity, arm, v);
  vec_add(v, wall->state.velocity, v);
  for (int k = 0; k < own->count; ++k) {
    vec_sub(arm, own->arms[k], centre);
    flo_lead_chord(&wall->lead, centre, inwards);
    vec_add_scaled(v, inwards, -own->shares[k], v);
  }
}
