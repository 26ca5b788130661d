// A light fluid above a heavy one in an open tank, and what the tests measure there.
#ifndef FLO_TEST_LAYERS_H
#define FLO_TEST_LAYERS_H

#include "physics.h"

#include "base/vecmath.h"

#define GRAVITY 9.81

// Each layer is half of the depth.
typedef struct Layers {
  const char *method;
  int dim, width, depth;       // in particles
  double height, heavy, light; // of both layers [m], densities [kg/m^3]
  FloKernel kernel;
} Layers;

static inline double layers_spacing(const Layers *l) { return l->height / l->depth; }

static inline void add_layer(FloWorld *world, const Layers *l, double density, double from) {
  FloError error;
  FloFluidDef def = flo_default_fluid_def();
  const double wide = l->width * layers_spacing(l), high = l->height / 2;
  const bool is_flat = l->dim == 2;
  def.material = add_water(world, density, 1e-6);
  def.shape.kind = FLO_SHAPE_BOX;
  vec_set(def.shape.size, wide, is_flat ? high : wide, is_flat ? 0 : high);
  vec_scale(def.shape.size, 0.5, def.pose.position);
  def.pose.position[l->dim - 1] += from;
  must(flo_world_add_fluid(world, &def, NULL, &error), &error);
}

static inline FloWorld *make_layers(const Layers *l, FloBodyId *tank) {
  FloWorldDef def = flo_default_world_def();
  FloError error;
  const double s = layers_spacing(l), wide = l->width * s, high = l->height + 6 * s;
  const bool is_flat = l->dim == 2;
  def.dim = l->dim, def.method = l->method, def.spacing = s, def.threads = 1, def.kernel = l->kernel;
  vec_set(def.gravity, 0, is_flat ? -GRAVITY : 0, is_flat ? 0 : -GRAVITY);
  FloWorld *world = make_world(&def);
  FloBodyDef box = flo_default_body_def();
  box.shape = (FloShape){.kind = FLO_SHAPE_TANK, .up = l->dim - 1};
  vec_set(box.shape.size, wide, is_flat ? high : wide, is_flat ? 0 : high);
  vec_scale(box.shape.size, 0.5, box.pose.position);
  box.averages_force = true;
  must(flo_world_add_body(world, &box, tank, &error), &error);
  add_layer(world, l, l->heavy, 0);
  add_layer(world, l, l->light, l->height / 2);
  return world;
}

// Means over a while.
typedef struct LayersRest {
  double bottom;   // pressure at the bottom over that of the weight above
  double gap;      // mean of the lowest light less the highest heavy particle of a column, in spacings
  double speed;    // root of the mean square, of sqrt(g height)
  double mixed;    // largest height of a heavy particle above the interface, in spacings
  double squeezed; // largest compression
  double duration;
} LayersRest;

static inline double pressure_below(const Layers *l, double depth) {
  const double half = l->height / 2;
  return GRAVITY * (depth < half ? l->light * depth : l->light * half + l->heavy * (depth - half));
}

// From the lowest quarter of the fluid to the bottom: its particles' pressures over those of their depths.
static inline double bottom_of(FloWorld *world, const Layers *l) {
  const double *h = doubles(world, l->dim == 2 ? "y" : "z");
  const float *p = floats(world, "pressure");
  double found = 0, theory = 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i)
    if (h[i] < l->height / 8) found += (double)p[i], theory += pressure_below(l, l->height - h[i]);
  return found / theory;
}

// In 2D. Columns are two spacings wide.
static inline double gap_of(FloWorld *world, const Layers *l) {
  enum { MOST = 64 };
  const double *x = doubles(world, "x"), *h = doubles(world, "y"), s = layers_spacing(l);
  const float *mass = floats(world, "mass");
  double low[MOST], high[MOST], sum = 0;
  const int n = l->width / 2;
  assert_true(n <= MOST);
  for (int k = 0; k < n; ++k) low[k] = INFINITY, high[k] = -INFINITY;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) {
    int k = (int)(x[i] / (2 * s));
    k = k < 0 ? 0 : k >= n ? n - 1 : k;
    if ((double)mass[i] > 0.5 * (l->heavy + l->light) * s * s)
      high[k] = fmax(high[k], h[i]);
    else
      low[k] = fmin(low[k], h[i]);
  }
  for (int k = 0; k < n; ++k) sum += (low[k] - high[k]) / s;
  return sum / n;
}

static inline double mixed_of(FloWorld *world, const Layers *l) {
  const double *h = doubles(world, l->dim == 2 ? "y" : "z"), s = layers_spacing(l);
  const float *mass = floats(world, "mass");
  double most = -INFINITY;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i)
    if ((double)mass[i] > 0.5 * (l->heavy + l->light) * pow(s, l->dim))
      most = fmax(most, (h[i] - l->height / 2) / s);
  return most;
}

static inline LayersRest layers_rest(FloWorld *world, const Layers *l, double end) {
  LayersRest rest = {0};
  FloError error;
  FloStepInfo info;
  while (flo_world_time(world) < end) {
    must(flo_world_step(world, &info, &error), &error);
    rest.duration += info.dt;
    rest.bottom += info.dt * bottom_of(world, l);
    rest.gap += info.dt * gap_of(world, l);
    rest.speed += info.dt * rms_speed(world) / sqrt(GRAVITY * l->height);
    rest.mixed = fmax(rest.mixed, mixed_of(world, l));
    rest.squeezed = fmax(rest.squeezed, flo_world_measure(world).density_error_max);
  }
  rest.bottom /= rest.duration, rest.gap /= rest.duration, rest.speed /= rest.duration;
  return rest;
}

#endif
