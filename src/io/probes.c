#include "io/probes.h"

#include "base/core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const axis_names[] = {"x", "y", "z"};

static bool is_vector(const FloProbe *probe) {
  return probe->kind == FLO_PROBE_FORCE || probe->kind == FLO_PROBE_TORQUE;
}

// ---- Names ----

size_t flo_probe_count(const FloScene *scene) {
  size_t n = 0;
  for (size_t k = 0; k < scene->n_probes; k++) n += is_vector(&scene->probes[k]) ? 3 : 1;
  return n;
}

void flo_probe_names(const FloScene *scene, char (*names)[96]) {
  for (size_t k = 0; k < scene->n_probes; k++) {
    const FloProbe *probe = &scene->probes[k];
    if (!is_vector(probe)) snprintf(*names++, sizeof *names, "%s", probe->name);
    for (int axis = 0; is_vector(probe) && axis < 3; axis++)
      snprintf(*names++, sizeof *names, "%s.%s", probe->name, axis_names[axis]);
  }
}

// ---- Values ----

// The k-th position of the fluid along an axis. The caller looks up the views once.
static double coordinate(const FloView *view, size_t k) {
  return *(const double *)((const char *)view->data + k * view->stride);
}

// Half of the smallest rest density of the fluids: a point with a lower density is above the fluid.
static double half_rest_density(const FloWorld *world, const FloScene *scene) {
  FloView mass;
  double lightest = INFINITY;
  if (flo_world_view(world, FLO_SET_FLUID, "mass", &mass, NULL) != FLO_OK) return INFINITY;
  for (size_t k = 0; k < mass.count; k++)
    lightest = fmin(lightest, *(const float *)((const char *)mass.data + k * mass.stride));
  return 0.5 * lightest / pow(scene->world.spacing, scene->world.dim);
}

static double highest_fluid(const FloWorld *world, int up) {
  FloView view;
  double highest = -INFINITY;
  if (flo_world_view(world, FLO_SET_FLUID, axis_names[up], &view, NULL) != FLO_OK) return highest;
  for (size_t k = 0; k < view.count; k++) highest = fmax(highest, coordinate(&view, k));
  return highest;
}

// Goes down the vertical line from above all fluid to its foot. The first point inside fluid is the water
// height. If there is no fluid, the result is the height of the foot.
static double measure_water_height(const FloScene *scene, FloWorld *world, const FloProbe *probe) {
  double threshold = half_rest_density(world, scene), step = scene->world.spacing / 8;
  double foot = probe->point[scene->up], top = highest_fluid(world, scene->up) + scene->world.spacing;
  if (flo_world_time(world) == 0 && scene->world.settle == 0) return NAN; // no step has been done
  if (!isfinite(threshold) || !isfinite(top) || top <= foot) return foot;
  for (size_t k = (size_t)ceil((top - foot) / step); k > 0; k--) {
    double point[3] = {probe->point[0], probe->point[1], probe->point[2]}, density, pressure;
    point[scene->up] = foot + (double)k * step;
    flo_world_sample(world, point, &density, &pressure);
    if (density > threshold) return point[scene->up];
  }
  return foot;
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// The 99.5 % quantile of positions along an axis: the fluid's front without spray ahead of it. NaN if there
// is no fluid.
static double measure_front(const FloWorld *world, int axis) {
  FloView view;
  if (flo_world_view(world, FLO_SET_FLUID, axis_names[axis], &view, NULL) != FLO_OK || view.count == 0)
    return NAN;
  double *values = malloc(view.count * sizeof *values);
  if (!values) return NAN;
  for (size_t k = 0; k < view.count; k++) values[k] = coordinate(&view, k);
  qsort(values, view.count, sizeof *values, compare_doubles);
  double front = values[(size_t)(0.995 * (double)(view.count - 1))];
  free(values);
  return front;
}

static double measure_scalar(const FloScene *scene, FloWorld *world, const FloFrameBody *bodies,
                             const FloProbe *probe) {
  double density, pressure;
  switch (probe->kind) {
  case FLO_PROBE_WATER_HEIGHT:
    return measure_water_height(scene, world, probe);
  case FLO_PROBE_FRONT:
    return measure_front(world, probe->axis);
  case FLO_PROBE_OUTSIDE:
    return flo_probe_outside(world, &bodies[probe->body], scene->world.dim);
  default:
    flo_world_sample(world, probe->point, &density, &pressure);
    return pressure;
  }
}

void flo_probe_measure(const FloScene *scene, FloWorld *world, const FloFrameBody *bodies, double *values) {
  for (size_t k = 0; k < scene->n_probes; k++) {
    const FloProbe *probe = &scene->probes[k];
    if (!is_vector(probe)) {
      *values++ = measure_scalar(scene, world, bodies, probe);
      continue;
    }
    const FloBodyState *state = &bodies[probe->body].state;
    const bool is_force = probe->kind == FLO_PROBE_FORCE;
    memcpy(values, is_force ? state->mean_force : state->mean_torque, 3 * sizeof *values);
    values += 3;
  }
}
