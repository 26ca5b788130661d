// Tanks of still water, and what the tests measure in them.
#ifndef FLO_TEST_TANKS_H
#define FLO_TEST_TANKS_H

#include "physics.h"

#include "base/vecmath.h"

#define GRAVITY 9.81
#define DENSITY 1000.0

enum { MAX_LAYERS = 64 };

typedef struct Tank {
  const char *method;
  int dim;
  double spacing;    // [m]
  int width, depth;  // in particles
  double fixed_step; // [s]; 0: the world chooses
  bool is_papers;    // walls have no pressure
} Tank;

static inline FloWorld *make_tank(const Tank *tank, FloBodyId *walls) {
  FloWorldDef def = flo_default_world_def();
  FloError error;
  double s = tank->spacing, width = tank->width * s, depth = tank->depth * s, high = depth + 6 * s;
  bool is_flat = tank->dim == 2;
  def.dim = tank->dim, def.method = tank->method, def.spacing = s, def.threads = 1;
  def.time_step = tank->fixed_step;
  vec_set(def.gravity, 0, is_flat ? -GRAVITY : 0, is_flat ? 0 : -GRAVITY);
  FloWorld *world = make_world(&def);
  if (tank->is_papers) must(flo_world_set_param(world, "wall_pressure", 0, &error), &error);
  FloBodyDef box = flo_default_body_def();
  box.shape = (FloShape){.kind = FLO_SHAPE_TANK, .up = tank->dim - 1};
  vec_set(box.shape.size, width, is_flat ? high : width, is_flat ? 0 : high);
  box.pose = pose_at(width / 2, box.shape.size[1] / 2, box.shape.size[2] / 2);
  box.averages_force = true;
  must(flo_world_add_body(world, &box, walls, &error), &error);
  add_block(world, add_water(world, DENSITY, 1e-6), 0, width, is_flat ? depth : width, is_flat ? 0 : depth);
  return world;
}

// ---- Measurements ----

// Means over the steps of a while.
typedef struct Rest {
  double duration;
  double speed;         // root of the mean square in the last tenth of a second, of sqrt(g depth)
  double most_squeezed; // largest compression of a particle
  double level;         // less that of the volume, in spacings
  double first_layer;   // mean height of the first layer, in spacings
  double pressure[MAX_LAYERS], theory[MAX_LAYERS]; // sums over particles, times steps
} Rest;

static inline const double *heights(const FloWorld *world, const Tank *tank) {
  return doubles(world, tank->dim == 2 ? "y" : "z");
}

// Half a spacing above the highest layer, from the centroid.
static inline double level_of(const FloWorld *world, const Tank *tank) {
  const double *h = heights(world, tank);
  size_t n = flo_world_count(world, FLO_SET_FLUID);
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += h[i];
  return 2 * sum / (double)n;
}

static inline void add_layers(const FloWorld *world, const Tank *tank, double dt, Rest *rest) {
  const double *h = heights(world, tank), depth = tank->depth * tank->spacing;
  const float *p = floats(world, "pressure");
  double first = 0, n_first = 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) {
    int layer = (int)fmax(h[i] / tank->spacing, 0);
    assert_true(layer < MAX_LAYERS);
    rest->pressure[layer] += dt * (double)p[i];
    rest->theory[layer] += dt * DENSITY * GRAVITY * (depth - h[i]);
    if (layer == 0) first += h[i] / tank->spacing, n_first += 1;
  }
  rest->first_layer += dt * first / n_first;
}

// Pressures of single steps scatter, so all steps count.
static inline Rest rest_until(FloWorld *world, const Tank *tank, double end) {
  Rest rest = {0};
  FloError error;
  FloStepInfo info;
  double depth = tank->depth * tank->spacing, last = 0;
  while (flo_world_time(world) < end) {
    must(flo_world_step(world, &info, &error), &error);
    rest.duration += info.dt;
    if (info.time > end - 0.1) last += info.dt, rest.speed += info.dt * rms_speed(world);
    rest.most_squeezed = fmax(rest.most_squeezed, flo_world_measure(world).density_error_max);
    rest.level += info.dt * (level_of(world, tank) - depth) / tank->spacing;
    add_layers(world, tank, info.dt, &rest);
  }
  rest.speed /= last * sqrt(GRAVITY * depth), rest.level /= rest.duration, rest.first_layer /= rest.duration;
  return rest;
}

// The largest share by which layers from `first` on, in the lower three quarters, differ from rho g depth.
static inline double pressure_error(const Rest *rest, const Tank *tank, int first) {
  double worst = 0;
  for (int layer = first; layer < 3 * tank->depth / 4; ++layer)
    worst = fmax(worst, fabs(rest->pressure[layer] / rest->theory[layer] - 1));
  return worst;
}

static inline double weight_of(const FloWorld *world) {
  const float *mass = floats(world, "mass");
  double total = 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) total += (double)mass[i];
  return GRAVITY * total;
}

#endif
