#include "geometry/endless.h"

bool flo_shape_is_endless(const FloDomain *domain, const FloShape *shape, const FloPose *pose, int axis) {
  const double *q = pose->rotation;
  bool is_turned = q[0] != 0 || q[1] != 0 || q[2] != 0;
  if (!domain->periodic[axis] || shape->kind != FLO_SHAPE_BOX || is_turned) return false;
  double period = domain->high[axis] - domain->low[axis];
  return shape->size[axis] >= period * (1 - 1e-9);
}

// Distances may differ from the spacing by this share; more would show in the density.
#define MAX_STRETCH 0.05

// The number of steps that fits a period best.
static long count_steps(double period, double spacing) {
  double ratio = period / spacing;
  long n = (long)floor(ratio);
  return n < 1 || ratio / (double)n - 1 > 1 - ratio / (double)(n + 1) ? n + 1 : n;
}

static FloStatus fit_axis(const FloDomain *domain, int axis, double s, double *step, FloError *error) {
  double period = domain->high[axis] - domain->low[axis];
  double fitting = period / (double)count_steps(period, s);
  if (fabs(fitting / s - 1) > MAX_STRETCH)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "the period of %g m along %c is no multiple of the spacing, %g m, so that particles would "
        "crowd at the seam; the nearest spacing that fits is %.6g m",
        period, "xyz"[axis], s, fitting);
  // If it fits except for rounding, the step does not change.
  *step = fabs(fitting / s - 1) > 1e-9 ? fitting : s;
  return FLO_OK;
}

FloStatus flo_fluid_lattice_fit(const FloDomain *domain, const bool wraps[3], int up, double spacing,
                                double step[3], FloError *error) {
  int free_axis = -1;
  double s = spacing, stretch = 1;
  vec_set(step, s, s, s);
  for (int axis = 0; axis < domain->dim; ++axis) {
    if (wraps[axis]) FLO_TRY(fit_axis(domain, axis, s, &step[axis], error));
    if (!wraps[axis] && (free_axis < 0 || axis == up || free_axis != up)) free_axis = axis;
    stretch *= step[axis] / s;
  }
  if (free_axis >= 0) step[free_axis] = s / stretch;
  return FLO_OK;
}

// Samples a box of as many whole spacings and stretches its points.
FloStatus flo_shape_sample_endless(const FloShape *shape, const FloDomain *domain, const bool wraps[3],
                                   int up, double spacing, FloFluidPacking packing, FloPoints *points,
                                   FloError *error) {
  double step[3], s = spacing;
  if (packing == FLO_FLUID_HEXAGONAL)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "packing: rows of hexagonal packing do not meet across the faces of a periodic box; use cubic");
  FLO_TRY(flo_fluid_lattice_fit(domain, wraps, up, s, step, error));
  FloShape box = *shape;
  double shift[3] = {0};
  for (int axis = 0; axis < domain->dim; ++axis) {
    if (wraps[axis]) box.size[axis] = domain->high[axis] - domain->low[axis];
    if (step[axis] == s) continue;
    // The nearest number of layers, counted from the low face.
    box.size[axis] = s * fmax(round(box.size[axis] / step[axis]), 1);
    if (!wraps[axis]) shift[axis] = (box.size[axis] / s * step[axis] - shape->size[axis]) / 2;
  }
  FLO_TRY(flo_shape_sample_volume(&box, domain->dim, s, packing, points, error));
  for (size_t k = 0; k < points->count; ++k)
    for (int axis = 0; axis < domain->dim; ++axis) {
      double *x = &flo_points_at(points, k)[axis];
      *x = *x * (step[axis] / s) + shift[axis];
    }
  return FLO_OK;
}
