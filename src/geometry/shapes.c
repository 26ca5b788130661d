#include "geometry/shapes.h"

#include "base/vecmath.h"
#include "geometry/outline.h"
#include "geometry/thinner.h"

#include <math.h>
#include <string.h>

void flo_points_free(FloPoints *points) { flo_buffer_free(points->memory, &points->buffer); }

FloStatus flo_points_add(FloPoints *points, double x, double y, double z, FloError *error) {
  size_t used = points->count * 3 * sizeof(double), size = used + 3 * sizeof(double);
  if (size > points->buffer.capacity)
    FLO_TRY(flo_buffer_reserve(points->memory, &points->buffer, 2 * size + 4096, used, error));
  vec_set(flo_points_at(points, points->count++), x, y, z);
  return FLO_OK;
}

static bool is_boxy(const FloShape *shape) {
  return shape->kind == FLO_SHAPE_BOX || shape->kind == FLO_SHAPE_TANK;
}

void flo_shape_bounds(const FloShape *shape, int dim, double low[3], double high[3]) {
  if (shape->kind == FLO_SHAPE_OUTLINE) {
    flo_outline_bounds(shape->points, shape->n_points, low, high);
    low[2] = -shape->size[0] / 2, high[2] = shape->size[0] / 2;
    return;
  }
  flo_shape_half_extent(shape, dim, high);
  vec_scale(high, -1, low);
}

void flo_shape_half_extent(const FloShape *shape, int dim, double half[3]) {
  if (shape->kind == FLO_SHAPE_OUTLINE) {
    double low[3];
    flo_shape_bounds(shape, dim, low, half);
    for (int axis = 0; axis < 3; ++axis) half[axis] = fmax(fabs(low[axis]), fabs(half[axis]));
    return;
  }
  if (is_boxy(shape))
    vec_scale(shape->size, 0.5, half);
  else
    vec_set(half, shape->radius, shape->radius, shape->radius);
  if (shape->kind == FLO_SHAPE_CYLINDER) half[2] = shape->size[0] / 2;
  if (dim == 2) half[2] = 0;
}

// ---- Distances ----

static double box_distance(const double half[3], int dim, const double p[3]) {
  double outside = 0, inside = -INFINITY;
  for (int axis = 0; axis < dim; ++axis) {
    double d = fabs(p[axis]) - half[axis];
    outside += d > 0 ? d * d : 0;
    inside = fmax(inside, d);
  }
  return outside > 0 ? sqrt(outside) : inside;
}

// Distance to the inner space of a tank. Without a lid the space has no upper end.
static double inner_distance(const FloShape *shape, const double half[3], int dim, const double p[3]) {
  double outside = 0, inside = -INFINITY;
  for (int axis = 0; axis < dim; ++axis) {
    bool is_endless = !shape->closed && axis == shape->up;
    double d = (is_endless ? -p[axis] : fabs(p[axis])) - half[axis];
    outside += d > 0 ? d * d : 0;
    inside = fmax(inside, d);
  }
  return outside > 0 ? sqrt(outside) : inside;
}

// The distance to a wall around the inner space. It ends at the rim unless the tank is `closed`.
static double tank_distance(const FloShape *shape, int dim, const double p[3], double wall) {
  double half[3], outer[3];
  flo_shape_half_extent(shape, dim, half);
  vec_copy(half, outer);
  for (int axis = 0; axis < dim; ++axis) outer[axis] += wall;
  double to_outer = box_distance(outer, dim, p);
  if (!shape->closed) to_outer = fmax(to_outer, p[shape->up] - half[shape->up]);
  return fmax(-inner_distance(shape, half, dim, p), to_outer);
}

static double cylinder_distance(const FloShape *shape, const double p[3]) {
  double radial = hypot(p[0], p[1]) - shape->radius, axial = fabs(p[2]) - shape->size[0] / 2;
  if (radial > 0 && axial > 0) return hypot(radial, axial);
  return fmax(radial, axial);
}

double flo_shape_distance(const FloShape *shape, int dim, const double point[3], double wall) {
  double half[3];
  switch (shape->kind) {
  case FLO_SHAPE_SPHERE:
    return vec_length(point) - shape->radius;
  case FLO_SHAPE_CYLINDER:
    return cylinder_distance(shape, point);
  case FLO_SHAPE_TANK:
    return tank_distance(shape, dim, point, wall);
  case FLO_SHAPE_OUTLINE:
    return flo_outline_distance(shape->points, shape->n_points, point);
  default:
    flo_shape_half_extent(shape, dim, half);
    return box_distance(half, dim, point);
  }
}

void flo_shape_normal(const FloShape *shape, int dim, const double point[3], double wall, double normal[3]) {
  double half[3];
  flo_shape_half_extent(shape, dim, half);
  double step = 1e-6 * fmax(vec_length(half), vec_length(point));
  vec_set(normal, 0, 0, 0);
  for (int axis = 0; axis < dim; ++axis) {
    double a[3], b[3];
    vec_copy(point, a);
    vec_copy(point, b);
    a[axis] -= step, b[axis] += step;
    normal[axis] = flo_shape_distance(shape, dim, b, wall) - flo_shape_distance(shape, dim, a, wall);
  }
  double length = vec_length(normal);
  // At the exact centre of a body no side is nearest.
  if (length > 0) vec_scale(normal, 1 / length, normal);
}

// ---- Counting before sampling: a size out of proportion is an error, not an endless loop ----

static const double max_points = 1e9;

static FloStatus check_count(double count, FloError *error) {
  if (count <= max_points) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "shape: it would need %.3g particles, more than the %.0e that can be handled; "
                  "make it smaller or the spacing larger",
                  count, max_points);
}

// Refuses too many lattice points in the bounding box, or in its shell.
static FloStatus check_lattice_count(const FloShape *shape, int dim, double spacing, int layers,
                                     FloError *error) {
  double low[3], high[3], all = 1, core = 1;
  flo_shape_bounds(shape, dim, low, high);
  for (int axis = 0; axis < dim; ++axis) {
    double n = (high[axis] - low[axis]) / spacing + 2;
    all *= n + 2 * layers;
    core *= fmax(n - 2 * layers, 0);
  }
  return check_count(layers ? all - core : all, error);
}

// ---- Lattices ----

FloStatus flo_packing_check(FloFluidPacking packing, FloError *error) {
  if (packing == FLO_FLUID_CUBIC || packing == FLO_FLUID_HEXAGONAL) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT, "packing: unknown kind %d", (int)packing);
}

// Let a be the distance between neighbours. The triangular lattice has an area of a^2 sqrt(3)/2 for each
// point, the hexagonal close packing a volume of a^3 / sqrt(2). Rows are a sqrt(3)/2 apart, planes a
// sqrt(2/3). Points of every other plane lie above the gaps of the plane below.
FloFluidLattice flo_fluid_lattice(FloFluidPacking packing, int dim, double spacing) {
  FloFluidLattice lattice = {.step = {spacing, spacing, spacing}};
  if (packing == FLO_FLUID_CUBIC) return lattice;
  double a = spacing * (dim == 2 ? sqrt(2 / sqrt(3)) : pow(2, 1.0 / 6));
  vec_set(lattice.step, a, a * sqrt(3) / 2, a * sqrt(2.0 / 3));
  lattice.row_shift = a / 2;
  lattice.plane_shift[0] = a / 2, lattice.plane_shift[1] = a / (2 * sqrt(3));
  return lattice;
}

void flo_fluid_lattice_point(const FloFluidLattice *lattice, const long index[3], double point[3]) {
  for (int axis = 0; axis < 3; ++axis)
    point[axis] = lattice->origin[axis] + (double)index[axis] * lattice->step[axis];
  // An odd row of an odd plane would be shifted by a whole step, which is the same as no shift.
  bool is_row_odd = index[1] & 1, is_plane_odd = index[2] & 1;
  if (is_row_odd != is_plane_odd) point[0] += is_row_odd ? lattice->row_shift : lattice->plane_shift[0];
  if (is_plane_odd) point[1] += lattice->plane_shift[1];
}

// ---- Volume ----

typedef struct Filling {
  FloFluidLattice lattice;
  long begin[3], end[3];
  double clearance; // [m]
} Filling;

// From half a spacing above the low end of an axis to half a spacing below the high one.
static void fill_axis(double low, double high, double spacing, int axis, Filling *filling) {
  double room = high - low - spacing, step = filling->lattice.step[axis];
  filling->lattice.origin[axis] = low + spacing / 2;
  filling->end[axis] = room < -1e-6 * spacing ? 0 : (long)floor(room / step + 1e-6) + 1;
}

static void fill_from_corner(const FloShape *shape, int dim, double spacing, Filling *filling) {
  double low[3], high[3];
  flo_shape_bounds(shape, dim, low, high);
  // The tolerance is a millionth of a spacing: 0.8/0.02 must be 40 in spite of rounding.
  filling->clearance = (0.5 - 2e-6) * spacing;
  for (int axis = 0; axis < dim; ++axis) fill_axis(low[axis], high[axis], spacing, axis, filling);
}

// Fills the same number of points to both sides of the centre. In the hexagonal packing the centre is a point
// of the lattice.
static void fill_from_centre(const FloShape *shape, int dim, double spacing, FloFluidPacking packing,
                             Filling *filling) {
  double half[3];
  flo_shape_half_extent(shape, dim, half);
  for (int axis = 0; axis < dim; ++axis) {
    double step = filling->lattice.step[axis];
    if (packing == FLO_FLUID_CUBIC) {
      filling->end[axis] = (long)floor(2 * half[axis] / step + 1e-6);
      filling->lattice.origin[axis] = -(double)(filling->end[axis] - 1) / 2 * step;
    } else if (shape->kind == FLO_SHAPE_CYLINDER && axis == 2) {
      fill_axis(-half[axis], half[axis], spacing, axis, filling); // its ends are flat
    } else {
      filling->end[axis] = (long)ceil(half[axis] / step) + 2;
      filling->begin[axis] = -filling->end[axis];
    }
  }
}

FloStatus flo_shape_sample_volume(const FloShape *shape, int dim, double spacing, FloFluidPacking packing,
                                  FloPoints *points, FloError *error) {
  if (shape->kind == FLO_SHAPE_TANK)
    return flo_fail(error, FLO_BAD_INPUT, "a tank has no volume to fill; use a box for the fluid in it");
  FLO_TRY(check_lattice_count(shape, dim, spacing, 0, error));
  Filling f = {.lattice = flo_fluid_lattice(packing, dim, spacing), .end = {1, 1, 1}};
  if (is_boxy(shape) || shape->kind == FLO_SHAPE_OUTLINE)
    fill_from_corner(shape, dim, spacing, &f);
  else
    fill_from_centre(shape, dim, spacing, packing, &f);
  long index[3];
  for (index[2] = f.begin[2]; index[2] < f.end[2]; ++index[2])
    for (index[1] = f.begin[1]; index[1] < f.end[1]; ++index[1])
      for (index[0] = f.begin[0]; index[0] < f.end[0]; ++index[0]) {
        double p[3];
        flo_fluid_lattice_point(&f.lattice, index, p);
        if (flo_shape_distance(shape, dim, p, 0) < -f.clearance)
          FLO_TRY(flo_points_add(points, p[0], p[1], p[2], error));
      }
  return FLO_OK;
}

// ---- Surfaces: lattices, rings and spirals ----

#define NO_CANDIDATE UINT32_MAX

// Where samples go: to a list or to a thinner.
typedef struct Sink {
  const FloShape *shape;
  double spacing;
  FloPoints *points;
  FloThinner *thinner; // NULL: to the list
  FloError *error;
} Sink;

// The wall of an open tank ends at its rim.
static bool is_above_rim(const Sink *sink, const double p[3]) {
  const FloShape *shape = sink->shape;
  if (shape->kind != FLO_SHAPE_TANK || shape->closed) return false;
  return p[shape->up] > shape->size[shape->up] / 2 - sink->spacing / 4;
}

static FloStatus put(const Sink *sink, double x, double y, double z) {
  if (!sink->thinner) return flo_points_add(sink->points, x, y, z, sink->error);
  const double p[3] = {x, y, z};
  FloVerdict verdict;
  if (!flo_thinner_is_marked(sink->thinner, p) || is_above_rim(sink, p)) return FLO_OK;
  return flo_thinner_offer(sink->thinner, p, NO_CANDIDATE, &verdict, sink->error);
}

typedef struct ShellAxis {
  long n;      // whole spacings along the edge
  double step; // a spacing, stretched a little so that n of them make the edge
  double low;
} ShellAxis;

typedef struct Shell {
  ShellAxis axes[3];
  int layers, dim;
  bool is_tank;
} Shell;

// Whether an index along one axis lies near a face of a box, or outside of a tank's inner space.
static bool is_in_shell(const Shell *shell, int axis, long index) {
  if (axis >= shell->dim) return false;
  long margin = shell->is_tank ? 0 : shell->layers, n = shell->axes[axis].n;
  return index < margin || index >= n - margin;
}

static FloStatus put_lattice_point(const Sink *sink, const Shell *shell, const long index[3]) {
  double p[3] = {0};
  for (int axis = 0; axis < shell->dim; ++axis)
    p[axis] = shell->axes[axis].low + ((double)index[axis] + 0.5) * shell->axes[axis].step;
  return put(sink, p[0], p[1], p[2]);
}

// Samples the lattice cells within `layers` of the faces of a box, or up to `layers` outside of a tank's
// inner space.
static FloStatus sample_box_shell(const FloShape *shape, int dim, double spacing, int layers,
                                  const Sink *sink) {
  FLO_TRY(check_lattice_count(shape, dim, spacing, layers, sink->error));
  bool is_tank = shape->kind == FLO_SHAPE_TANK;
  Shell shell = {.axes = {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}, .layers = layers, .is_tank = is_tank, .dim = dim};
  long begin[3] = {0}, end[3] = {1, 1, 1};
  for (int axis = 0; axis < dim; ++axis) {
    long n = lround(shape->size[axis] / spacing);
    n = n < 1 ? 1 : n;
    shell.axes[axis] = (ShellAxis){n, shape->size[axis] / (double)n, -shape->size[axis] / 2};
    begin[axis] = is_tank ? -layers : 0;
    end[axis] = is_tank ? n + layers : n;
    if (is_tank && !shape->closed && axis == shape->up) end[axis] = n;
  }
  for (long k = begin[2]; k < end[2]; ++k)
    for (long j = begin[1]; j < end[1]; ++j) {
      bool is_row_in_shell = is_in_shell(&shell, 1, j) || is_in_shell(&shell, 2, k);
      for (long i = begin[0]; i < end[0]; ++i) {
        if (!is_row_in_shell && !is_in_shell(&shell, 0, i)) {
          // Skips the hollow inside.
          i = shell.axes[0].n - (is_tank ? 0 : layers) - 1;
          continue;
        }
        FLO_TRY(put_lattice_point(sink, &shell, (const long[3]){i, j, k}));
      }
    }
  return FLO_OK;
}

static FloStatus sample_circle(double radius, double z, double spacing, const Sink *sink) {
  if (radius < spacing / 2) return put(sink, 0, 0, z);
  long n = lround(2 * FLO_PI * radius / spacing);
  for (long k = 0; k < n; ++k) {
    double angle = 2 * FLO_PI * (double)k / (double)n;
    FLO_TRY(put(sink, radius * cos(angle), radius * sin(angle), z));
  }
  return FLO_OK;
}

// A Fibonacci spiral: its density varies by a few per cent over the sphere.
static FloStatus sample_sphere_layer(double radius, double spacing, const Sink *sink) {
  if (radius < spacing / 2) return put(sink, 0, 0, 0);
  long n = lround(fmax(4 * FLO_PI * radius * radius / (spacing * spacing), 4));
  double golden = FLO_PI * (3 - sqrt(5));
  for (long k = 0; k < n; ++k) {
    double z = 1 - (2 * (double)k + 1) / (double)n, r = sqrt(1 - z * z), angle = golden * (double)k;
    FLO_TRY(put(sink, radius * r * cos(angle), radius * r * sin(angle), radius * z));
  }
  return FLO_OK;
}

static FloStatus sample_ball(const FloShape *shape, int dim, double spacing, int layers, const Sink *sink) {
  double extent = shape->radius / spacing;
  FLO_TRY(check_count(layers * (dim == 2 ? 2 * FLO_PI * extent : 4 * FLO_PI * extent * extent), sink->error));
  for (int layer = 0; layer < layers; ++layer) {
    double radius = fmax(shape->radius - (layer + 0.5) * spacing, 0);
    if (dim == 2)
      FLO_TRY(sample_circle(radius, 0, spacing, sink));
    else
      FLO_TRY(sample_sphere_layer(radius, spacing, sink));
    if (radius < spacing / 2) break;
  }
  return FLO_OK;
}

// Samples rings along the axis, and whole discs within `layers` of a cap.
static FloStatus sample_cylinder(const FloShape *shape, double spacing, int layers, const Sink *sink) {
  double around = 2 * FLO_PI * shape->radius / spacing, along = shape->size[0] / spacing + 2;
  FLO_TRY(check_count(layers * around * (along + shape->radius / spacing), sink->error));
  long n = lround(shape->size[0] / spacing);
  n = n < 1 ? 1 : n;
  double step = shape->size[0] / (double)n;
  for (long k = 0; k < n; ++k) {
    bool is_cap = k < layers || k >= n - layers;
    double z = ((double)k + 0.5) * step - shape->size[0] / 2;
    for (int layer = 0; is_cap || layer < layers; ++layer) {
      double radius = shape->radius - (layer + 0.5) * spacing;
      if (radius < -spacing / 2) break;
      FLO_TRY(sample_circle(fmax(radius, 0), z, spacing, sink));
    }
  }
  return FLO_OK;
}

// The shape that lies `depth` below the surface. A part that is too thin shrinks to its middle.
static FloShape shrink(const FloShape *shape, int dim, double depth, double spacing) {
  FloShape inner = *shape;
  double least = 1e-3 * spacing;
  if (depth == 0) return inner;
  if (is_boxy(shape))
    for (int axis = 0; axis < dim; ++axis)
      inner.size[axis] = fmax(inner.size[axis] + (shape->kind == FLO_SHAPE_TANK ? 2 : -2) * depth, least);
  if (shape->kind == FLO_SHAPE_SPHERE || shape->kind == FLO_SHAPE_CYLINDER)
    inner.radius = fmax(inner.radius - depth, least);
  if (shape->kind == FLO_SHAPE_CYLINDER) inner.size[0] = fmax(inner.size[0] - 2 * depth, least);
  return inner;
}

// Samples the layers of a shape without thinning.
static FloStatus sample_layers(int dim, double spacing, double inset, int layers, const Sink *sink) {
  // The functions above have a fixed inset of half a spacing, so the shape is shrunk by the rest.
  FloShape inner = shrink(sink->shape, dim, inset - spacing / 2, spacing);
  if (inner.kind == FLO_SHAPE_SPHERE) return sample_ball(&inner, dim, spacing, layers, sink);
  if (inner.kind == FLO_SHAPE_CYLINDER) return sample_cylinder(&inner, spacing, layers, sink);
  return sample_box_shell(&inner, dim, spacing, layers, sink);
}

// ---- Surfaces: thinning and repair ----

// Lattices come too near to each other or leave gaps where sides are not multiples of the spacing and where
// rings meet. Therefore all points are offered to a thinner, which keeps those that fit. Samples with too few
// neighbours get more from finer lattices of the same depth. A lattice that fits is kept as a whole.
typedef struct Thinning {
  Sink sink; // of the finer lattices
  double inset;
  const FloPoints *candidates;
} Thinning;

// Whether a point is in the first layer. In a tank, layers are counted from the faces of its inner space.
static bool is_in_first_layer(const Thinning *t, const double p[3]) {
  FloShape shape = *t->sink.shape;
  shape.closed = true;
  return -flo_shape_distance(&shape, 3, p, INFINITY) < t->inset + t->sink.spacing / 2;
}

static FloStatus offer_layer(const Thinning *t, bool is_first) {
  static const FloThinRule rule = {0.5, 0.5, 3, false};
  flo_thinner_set_rule(t->sink.thinner, is_first ? 0 : 1, &rule);
  for (size_t k = 0; k < t->candidates->count; ++k) {
    const double *p = flo_points_at(t->candidates, k);
    FloVerdict verdict;
    if (is_in_first_layer(t, p) == is_first)
      FLO_TRY(flo_thinner_offer(t->sink.thinner, p, (uint32_t)k, &verdict, t->sink.error));
  }
  return FLO_OK;
}

// Least distance between samples, in spacings. The last rounds of repairs would allow a tenth. A body whose
// inset surface is smaller than this keeps a single sample, whose density is too low.
static const double least_distance = 0.3;

static FloStatus help_weak(const Thinning *t) {
  for (size_t k = 0; k < FLO_REPAIR_ROUNDS; ++k) {
    const FloRepairRound *round = &flo_repair_rounds[k];
    // A round with the same step as the last one differs only in a distance that is too short, and finds
    // nothing new.
    if (k > 0 && round->step == flo_repair_rounds[k - 1].step) break;
    double n_offered = (double)t->candidates->count / (round->step * round->step);
    if (!flo_thinner_mark_weak(t->sink.thinner, 1) || n_offered > max_points / 2) break;
    FloThinRule rule = round->rule;
    rule.min_distance = fmax(rule.min_distance, least_distance);
    rule.retry_distance = fmax(rule.retry_distance, least_distance);
    flo_thinner_set_rule(t->sink.thinner, 0, &rule);
    FLO_TRY(sample_layers(3, round->step * t->sink.spacing, t->inset, 1, &t->sink));
  }
  return FLO_OK;
}

// Writes the accepted candidates in their order, and then the samples that repairs added.
static FloStatus write_accepted(const Thinning *t, FloPoints *points) {
  size_t n = flo_thinner_count(t->sink.thinner), n_candidates = t->candidates->count;
  FloBuffer buffer = {0};
  FloError *error = t->sink.error;
  FLO_TRY(flo_buffer_reserve(points->memory, &buffer, n_candidates + 1, 0, error));
  unsigned char *is_accepted = buffer.data;
  memset(is_accepted, 0, n_candidates + 1);
  FloStatus status = FLO_OK;
  for (size_t k = 0; k < n; ++k) {
    uint32_t candidate = flo_thinner_sample(t->sink.thinner, k).triangle;
    if (candidate != NO_CANDIDATE) is_accepted[candidate] = 1;
  }
  for (size_t k = 0; status == FLO_OK && k < n_candidates; ++k) {
    const double *p = flo_points_at(t->candidates, k);
    if (is_accepted[k]) status = flo_points_add(points, p[0], p[1], p[2], error);
  }
  for (size_t k = 0; status == FLO_OK && k < n; ++k) {
    FloSurfacePoint sample = flo_thinner_sample(t->sink.thinner, k);
    if (sample.triangle == NO_CANDIDATE)
      status = flo_points_add(points, sample.point[0], sample.point[1], sample.point[2], error);
  }
  flo_buffer_free(points->memory, &buffer);
  return status;
}

static FloStatus thin_layers(Thinning *t, int layers, FloPoints *points) {
  double low[3], high[3];
  flo_shape_bounds(t->sink.shape, 3, low, high);
  FLO_TRY(flo_thinner_create(&t->sink.thinner, points->memory, low, high, t->sink.spacing,
                             (double)t->candidates->count, t->sink.error));
  FloStatus status = offer_layer(t, true);
  if (status == FLO_OK) status = help_weak(t);
  if (status == FLO_OK && layers > 1) status = offer_layer(t, false);
  if (status == FLO_OK) status = write_accepted(t, points);
  flo_thinner_destroy(t->sink.thinner);
  return status;
}

FloStatus flo_shape_sample_surface(const FloShape *shape, int dim, double spacing, double inset, int layers,
                                   FloPoints *points, FloError *error) {
  if (shape->kind == FLO_SHAPE_OUTLINE)
    return flo_outline_sample(shape->points, shape->n_points, spacing, inset, layers, points, error);
  Sink sink = {shape, spacing, points, NULL, error};
  if (dim == 2) return sample_layers(dim, spacing, inset, layers, &sink);
  FloPoints candidates = {.memory = points->memory};
  sink.points = &candidates;
  FloStatus status = sample_layers(dim, spacing, inset, layers, &sink);
  Thinning thinning = {sink, inset, &candidates};
  if (status == FLO_OK) status = thin_layers(&thinning, layers, points);
  flo_points_free(&candidates);
  return status;
}
