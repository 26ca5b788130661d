// Where two bodies that meet at a sample really touch.
#include "state/state.h"

// How far the surfaces near x are from facing each other: the sum of their normals.
static void find_slant(const FloWorld *world, const FloBody *a, const FloBody *b, const double x[3],
                       double slant[3]) {
  double of_b[3];
  flo_world_normal(world, a, x, slant);
  flo_world_normal(world, b, x, of_b);
  vec_add(slant, of_b, slant);
}

bool flo_world_way_to_touch(const FloWorld *world, const FloBody *a, const FloBody *b, const double x[3],
                            double step, double way[3]) {
  static const double least_slant = 1e-9; // [rad]
  double slant[3], there[3], slant_there[3];
  vec_set(way, 0, 0, 0);
  find_slant(world, a, b, x, slant);
  double here = vec_length(slant);
  if (!(here > least_slant)) return false;
  vec_add_scaled(x, slant, -step / here, there);
  find_slant(world, a, b, there, slant_there);
  double left = vec_dot(slant_there, slant) / here;
  if (!((here - left) * FLO_FARTHEST_TOUCH * world->def.spacing > here * step)) return false;
  vec_scale(slant, -step / (here - left), way);
  return true;
}

double flo_world_turning_speed(const FloWorld *world, const FloBody *a, const FloBody *b, const double x[3],
                               const double spin[3], const double normal[3]) {
  double way[3], turning[3];
  if (!(vec_length(spin) > 0)) return 0;
  flo_world_way_to_touch(world, a, b, x, world->def.spacing / 2, way);
  vec_cross(spin, way, turning);
  return vec_dot(turning, normal);
}
