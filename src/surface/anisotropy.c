// Kernels that follow the surface (Yu and Turk 2013, eq. 6 - 16). The covariance of the particles around a
// particle tells in which directions the fluid extends; the kernel is stretched in these and flattened
// across. Its centre moves towards the mean of its neighbours, which smooths the outermost layer.
//
// Unlike in the paper, all kernels have the same volume. This needs no constant that fits only one spacing.
#include "surface/field.h"

#include "base/vecmath.h"

// Lengths are in spacings.
static const double neighbourhood = 2.5;     // radius of the neighbourhood that shapes a kernel
static const double round_radius = 1.6;      // of a kernel inside the fluid
static const double longest_radius = 2.4;    // of any kernel
static const double lonely_radius = 0.65;    // of the kernel of a particle with hardly any neighbours
static const double farthest_centre = 0.6;   // longest way that a centre moves
static const double longest_to_shortest = 4; // largest ratio of half axes; their k_r
static const double pull = 0.25; // how far centres move towards the mean; their lambda is 0.9, which shrinks
                                 // a surface by a third of a spacing
static const int least_neighbours = 5; // fewer do not tell a direction; their N_epsilon

// The field at half a spacing from the outermost layer, where the edge of the fluid is. Found from lattices
// in the shape of balls and boxes, whose kernels were flattened and moved inwards.
static const double surface_level = 0.08;

double flo_kernel_shape_influence(const FloSurfaceDef *def) {
  return (longest_radius + farthest_centre) * def->spacing;
}

double flo_kernel_shape_level(void) { return surface_level; }

// ---- Symmetric matrices: xx, yy, zz, xy, yz, zx ----

static double *entry(double m[6], int i, int j) {
  return i == j ? &m[i] : &m[3 + (i + j == 3 ? 1 : i + j == 1 ? 0 : 2)];
}

// One rotation of Jacobi's method: makes the entry (p, q) zero.
static void rotate(double m[6], double axes[3][3], int p, int q) {
  double off = *entry(m, p, q), difference = m[q] - m[p];
  if (fabs(off) <= 1e-300) return;
  double t = 2 * off / (fabs(difference) + sqrt(difference * difference + 4 * off * off));
  if (difference < 0) t = -t;
  double c = 1 / sqrt(t * t + 1), s = t * c;
  int r = 3 - p - q;
  double *rp = entry(m, r, p), *rq = entry(m, r, q), at_p = *rp, at_q = *rq;
  m[p] -= t * off, m[q] += t * off;
  *entry(m, p, q) = 0;
  *rp = c * at_p - s * at_q, *rq = s * at_p + c * at_q;
  for (int k = 0; k < 3; ++k) {
    double a = axes[p][k], b = axes[q][k];
    axes[p][k] = c * a - s * b, axes[q][k] = s * a + c * b;
  }
}

// Leaves the eigenvalues in m[0..2] and the unit eigenvectors in the rows of `axes`.
static void diagonalise(double m[6], double axes[3][3]) {
  enum { SWEEPS = 8 };
  for (int k = 0; k < 3; ++k) vec_set(axes[k], k == 0, k == 1, k == 2);
  for (int sweep = 0; sweep < SWEEPS; ++sweep) {
    rotate(m, axes, 0, 1);
    rotate(m, axes, 1, 2);
    rotate(m, axes, 0, 2);
  }
}

// ---- One particle ----

// Weighted sums over the neighbours of a particle. Lengths are in radii of the neighbourhood.
typedef struct Cloud {
  double weight, first[3], second[6];
  int n_neighbours;
} Cloud;

static Cloud look_around(const FloNearby *nearby, const float at[3], float shrink) {
  Cloud cloud = {0};
  for (size_t k = 0; k < nearby->count; ++k) {
    float x = (nearby->x[k] - at[0]) * shrink, y = (nearby->y[k] - at[1]) * shrink,
          z = (nearby->z[k] - at[2]) * shrink, square = x * x + y * y + z * z;
    if (square >= 1) continue;
    double w = 1 - (double)(square * sqrtf(square)); // their eq. 11
    cloud.weight += w;
    cloud.first[0] += w * (double)x, cloud.first[1] += w * (double)y, cloud.first[2] += w * (double)z;
    cloud.second[0] += w * (double)(x * x), cloud.second[1] += w * (double)(y * y);
    cloud.second[2] += w * (double)(z * z), cloud.second[3] += w * (double)(x * y);
    cloud.second[4] += w * (double)(y * z), cloud.second[5] += w * (double)(z * x);
    ++cloud.n_neighbours;
  }
  cloud.n_neighbours -= 1; // without the particle itself
  return cloud;
}

static void centre_sums(Cloud *cloud) {
  for (int k = 0; k < 3; ++k) cloud->first[k] /= cloud->weight;
  for (int k = 0; k < 6; ++k) cloud->second[k] /= cloud->weight;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) *entry(cloud->second, i, j) -= cloud->first[i] * cloud->first[j];
}

// Finds half axes from variances, in spacings. Their ratio is at most k_r, and the volume is that of a ball.
static void choose_lengths(const double variances[3], double lengths[3]) {
  double largest = fmax(fmax(variances[0], variances[1]), fmax(variances[2], 1e-12)), product = 1;
  for (int k = 0; k < 3; ++k) {
    lengths[k] = fmax(variances[k], largest / longest_to_shortest);
    product *= lengths[k];
  }
  double scale = round_radius / cbrt(product);
  for (int k = 0; k < 3; ++k) lengths[k] = fmin(lengths[k] * scale, longest_radius);
}

// The height of the kernel (1 - q^2)^3 whose integral over the unit ball is one.
static const double kernel_height = 315 / (64 * FLO_PI);

static void set_axes(FloKernelShape *shape, double axes[3][3], const double lengths[3], double spacing) {
  double matrix[6] = {0};
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) *entry(matrix, i, j) += axes[k][i] * axes[k][j] / (lengths[k] * spacing);
  for (int k = 0; k < 6; ++k) shape->matrix[k] = (float)matrix[k];
  shape->reach = (float)(fmax(lengths[0], fmax(lengths[1], lengths[2])) * spacing);
  shape->weight = (float)(kernel_height / (lengths[0] * lengths[1] * lengths[2]));
}

static void set_centre(FloKernelShape *shape, const double mean[3], double spacing) {
  double length = vec_length(mean) * pull, most = farthest_centre;
  double share = length > most ? pull * most / length : pull;
  for (int axis = 0; axis < 3; ++axis) shape->shift[axis] = (float)(mean[axis] * share * spacing);
}

static void shape_particle(Cloud *cloud, double spacing, FloKernelShape *shape) {
  double axes[3][3], lengths[3] = {lonely_radius, lonely_radius, lonely_radius}, mean[3];
  *shape = (FloKernelShape){0};
  if (cloud->n_neighbours < least_neighbours) {
    for (int k = 0; k < 3; ++k) vec_set(axes[k], k == 0, k == 1, k == 2);
    set_axes(shape, axes, lengths, spacing);
    return;
  }
  centre_sums(cloud);
  vec_scale(cloud->first, neighbourhood, mean);
  set_centre(shape, mean, spacing);
  diagonalise(cloud->second, axes);
  choose_lengths(cloud->second, lengths);
  set_axes(shape, axes, lengths, spacing);
}

void flo_kernel_shapes_find(const FloLevelSet *set, size_t occupied, FloNearby *nearby) {
  const FloBricks *bricks = set->bricks;
  const double spacing = set->def->spacing, reach = neighbourhood * spacing;
  long place[3];
  double low[3], high[3], width = FLO_BRICK * bricks->cell;
  flo_bricks_unpack(bricks, bricks->occupied_keys[occupied], place);
  flo_bricks_corner(bricks, place, low);
  vec_add(low, (const double[3]){width, width, width}, high);
  flo_bricks_gather(bricks, place, low, high, reach, low, nearby);
  for (size_t k = bricks->first[occupied]; k < bricks->first[occupied + 1]; ++k) {
    const double *p = bricks->positions + 3 * k;
    const float at[3] = {(float)(p[0] - low[0]), (float)(p[1] - low[1]), (float)(p[2] - low[2])};
    Cloud cloud = look_around(nearby, at, (float)(1 / reach));
    shape_particle(&cloud, spacing, &set->shapes[k]);
  }
}
