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

// Surfaces that curve away from each other touch where their normals are opposite. That place is found by one
// secant step. If it is farther than two spacings, the surfaces are flat there, or one has an edge, and they
// touch at the sample.
static void find_touch(const FloWorld *world, const FloBody *a, const FloBody *b, const double x[3],
                       double way[3]) {
  const double step = world->def.spacing / 2;
  double slant[3], there[3], slant_there[3];
  vec_set(way, 0, 0, 0);
  find_slant(world, a, b, x, slant);
  double here = vec_length(slant);
  if (!(here > 1e-6)) return;
  vec_add_scaled(x, slant, -step / here, there);
  find_slant(world, a, b, there, slant_there);
  double left = vec_dot(slant_there, slant) / here;
  if (!(here - left > here / 4)) return;
  vec_scale(slant, -step / (here - left), way);
}

double flo_world_turning_speed(const FloWorld *world, const FloBody *a, const FloBody *b, const double x[3],
                               const double spin[3], const double normal[3]) {
  double way[3], turning[3];
  if (!(vec_length(spin) > 0)) return 0;
  find_touch(world, a, b, x, way);
  vec_cross(spin, way, turning);
  return vec_dot(turning, normal);
}
