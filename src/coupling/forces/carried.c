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
