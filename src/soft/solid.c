// Elastic solids of linear tetrahedra, in the plane of linear triangles in plane strain.
//
// Linear elements are too stiff in bending and lock if their volume hardly changes. So the deformation
// gradient F is averaged over patches around edges (edge-based smoothed finite elements; Liu, Nguyen-Thoi,
// Lam 2009), and the part of the volume stiffness beyond that of a soft material is averaged over patches
// around vertices. The energy per volume is
//
//   mu/2 (|F|^2 - 3) - mu (J - 1) + (mu + lambda1)/2 (J - 1)^2     on edges,
//   (lambda - lambda1)/2 (J - 1)^2                                on vertices,
//
// with J = det F and lambda1 = min(lambda, mu). This is the neo-Hookean solid of Smith, de Goes, Kim 2018
// without its logarithm: at small strain it is Hooke's law, it is finite for any F, and an element that is
// inside out is pushed back.
//
// Internal friction acts on the change of Green's strain E = (F^T F - 1)/2 in a step, on vertices of J.
// Neither feels rigid motion.
#include "soft/solid.h"

#include "base/vecmath.h"
#include "soft/body.h"
#include "soft/patches.h"

#include <string.h>

typedef struct Solid {
  double mu, bulk;             // bulk: factor of (J - 1)^2 / 2 [Pa]
  double slow_mu, slow_lambda; // friction of Green's strain [Pa s]
  double slow_bulk;            // friction of J [Pa s]
  FloPatches patches;
  double (*before)[9]; // deformation gradients at the start of the step
} Solid;

// ---- Deformation ----

// F by rows; in the plane its last row and column are those of 1.
static void find_deformation(const Solid *solid, const FloSoftElement *element, double f[9]) {
  const double *slopes = solid->patches.slopes + 3 * solid->patches.begin[element->number];
  bool is_flat = true;
  memset(f, 0, 9 * sizeof *f);
  for (size_t a = 0; a < element->n; ++a) {
    const double *p = flo_element_vertex(element, a), *g = slopes + 3 * a;
    is_flat = is_flat && g[2] == 0;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) f[3 * i + j] += p[i] * g[j];
  }
  if (is_flat) f[8] = 1;
}

// The matrix of cofactors, which is the derivative of the determinant.
static void find_cofactors(const double f[9], double c[9]) {
  vec_cross(f + 3, f + 6, c);
  vec_cross(f + 6, f, c + 3);
  vec_cross(f, f + 3, c + 6);
}

static double determinant_of(const double f[9]) {
  double c[3];
  vec_cross(f + 3, f + 6, c);
  return vec_dot(f, c);
}

// F^T F - G^T G, halved.
static void strain_change(const double f[9], const double g[9], double e[9]) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double sum = 0;
      for (int k = 0; k < 3; ++k) sum += f[3 * k + i] * f[3 * k + j] - g[3 * k + i] * g[3 * k + j];
      e[3 * i + j] = sum / 2;
    }
}

static double square_of(const double f[9]) {
  return vec_dot(f, f) + vec_dot(f + 3, f + 3) + vec_dot(f + 6, f + 6);
}

// ---- Energy ----

static double friction_energy(const Solid *solid, double rate, const double f[9], const double before[9]) {
  double e[9], change = determinant_of(f) - determinant_of(before);
  strain_change(f, before, e);
  double trace = e[0] + e[4] + e[8];
  return rate * (solid->slow_mu * square_of(e) + solid->slow_lambda / 2 * trace * trace +
                 solid->slow_bulk / 2 * change * change);
}

static bool has_friction(const Solid *solid, const FloSoftElement *element) {
  return element->place->rate * (solid->slow_mu + solid->slow_bulk) > 0;
}

// Written with F - 1, since for small strains the terms of first order would hide those of second order.
static double elastic_energy(const Solid *solid, const double f[9]) {
  double h[9], c[9];
  for (int i = 0; i < 9; ++i) h[i] = f[i] - (i % 4 == 0);
  find_cofactors(h, c);
  double second = c[0] + c[4] + c[8] + vec_dot(h, c); // of J - 1: second and third order
  double growth = h[0] + h[4] + h[8] + second;
  return solid->mu * (square_of(h) / 2 - second) + solid->bulk / 2 * growth * growth;
}

static void solid_remember(const FloSoftElement *element) {
  const Solid *solid = element->data;
  find_deformation(solid, element, solid->before[element->number]);
}

static double solid_energy(const FloSoftElement *element) {
  const Solid *solid = element->data;
  double f[9];
  find_deformation(solid, element, f);
  double energy = elastic_energy(solid, f);
  if (has_friction(solid, element))
    energy += friction_energy(solid, element->place->rate, f, solid->before[element->number]);
  return energy * solid->patches.volumes[element->number];
}

// ---- Stress: the derivative by F ----

// Symmetric stress of friction in the state at rest.
static void friction_stress(const Solid *solid, double rate, const double f[9], const double before[9],
                            double s[9]) {
  strain_change(f, before, s);
  double trace = s[0] + s[4] + s[8];
  for (int i = 0; i < 9; ++i) s[i] *= 2 * rate * solid->slow_mu;
  for (int i = 0; i < 9; i += 4) s[i] += rate * solid->slow_lambda * trace;
}

// Adds F S.
static void add_product(const double f[9], const double s[9], double p[9]) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) p[3 * i + j] += f[3 * i + k] * s[3 * k + j];
}

// What the energy is made of at one place: P = mu F + pull cof F + F S.
typedef struct Stress {
  double f[9], cofactors[9];
  double pull, stiff; // first and second derivative of the energy by J
  double friction[9]; // S
  bool has_friction;
} Stress;

static void find_stress(const Solid *solid, const FloSoftElement *element, Stress *stress) {
  const double *before = solid->before[element->number];
  double rate = element->place->rate;
  find_deformation(solid, element, stress->f);
  find_cofactors(stress->f, stress->cofactors);
  double j = determinant_of(stress->f);
  stress->pull = solid->bulk * (j - 1) - solid->mu, stress->stiff = solid->bulk;
  stress->has_friction = has_friction(solid, element);
  if (!stress->has_friction) return;
  friction_stress(solid, rate, stress->f, before, stress->friction);
  stress->pull += rate * solid->slow_bulk * (j - determinant_of(before));
  stress->stiff += rate * solid->slow_bulk;
}

static void push_forces(const Solid *solid, const FloSoftElement *element, const FloSoftSink *sink,
                        const Stress *stress) {
  double p[9], volume = solid->patches.volumes[element->number];
  for (int i = 0; i < 9; ++i) p[i] = solid->mu * stress->f[i] + stress->pull * stress->cofactors[i];
  if (stress->has_friction) add_product(stress->f, stress->friction, p);
  const double *slopes = solid->patches.slopes + 3 * solid->patches.begin[element->number];
  for (size_t a = 0; a < element->n; ++a) {
    double force[3];
    for (int i = 0; i < 3; ++i) force[i] = -volume * vec_dot(p + 3 * i, slopes + 3 * a);
    flo_sink_force(element, sink, a, force);
  }
}

// ---- Stiffness: the second derivative by F, nine by nine ----

// Adds s times the derivative of cofactors: entry (ij, kl) is the sum of e_ikm e_jln F_mn.
static void add_cofactor_slopes(const double f[9], double s, double t[81]) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int a = 1; a < 3; ++a)
        for (int b = 1; b < 3; ++b) {
          int k = (i + a) % 3, m = (i + 3 - a) % 3, l = (j + b) % 3, n = (j + 3 - b) % 3;
          t[9 * (3 * i + j) + 3 * k + l] += (a == b ? s : -s) * f[3 * m + n];
        }
}

// Friction: dP = dF S + F (2 mu dE + lambda tr dE), with dE the symmetric part of F^T dF.
static void add_friction(const Solid *solid, double rate, const Stress *stress, double t[81]) {
  const double *f = stress->f;
  double mu = rate * solid->slow_mu, lambda = rate * solid->slow_lambda, left[9] = {0};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) left[3 * i + k] = vec_dot(f + 3 * i, f + 3 * k); // F F^T
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) {
        t[9 * (3 * i + j) + 3 * i + k] += stress->friction[3 * j + k];
        t[9 * (3 * i + j) + 3 * k + j] += mu * left[3 * i + k];
        for (int l = 0; l < 3; ++l)
          t[9 * (3 * i + j) + 3 * k + l] +=
              mu * f[3 * i + l] * f[3 * k + j] + lambda * f[3 * i + j] * f[3 * k + l];
      }
}

static void find_stiffness(const Solid *solid, const FloSoftElement *element, const Stress *stress,
                           double t[81]) {
  memset(t, 0, 81 * sizeof *t);
  for (int i = 0; i < 9; ++i) t[10 * i] = solid->mu;
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j) t[9 * i + j] += stress->stiff * stress->cofactors[i] * stress->cofactors[j];
  add_cofactor_slopes(stress->f, stress->pull, t);
  if (stress->has_friction) add_friction(solid, element->place->rate, stress, t);
}

// Stiffness times a slope: nine rows of three.
static void apply_slope(const double t[81], const double g[3], double volume, double out[27]) {
  for (int row = 0; row < 9; ++row)
    for (int k = 0; k < 3; ++k) out[3 * row + k] = volume * vec_dot(t + 9 * row + 3 * k, g);
}

static void push_matrix(const Solid *solid, const FloSoftElement *element, const FloSoftSink *sink,
                        const double t[81]) {
  const double *slopes = solid->patches.slopes + 3 * solid->patches.begin[element->number];
  for (size_t b = 0; b < element->n; ++b) {
    double pulled[27];
    apply_slope(t, slopes + 3 * b, solid->patches.volumes[element->number], pulled);
    for (size_t a = 0; a < element->n; ++a) {
      const double *g = slopes + 3 * a;
      double *block = flo_sink_block(element, sink, a, b);
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
          block[3 * i + k] +=
              g[0] * pulled[9 * i + k] + g[1] * pulled[9 * i + 3 + k] + g[2] * pulled[9 * i + 6 + k];
    }
  }
}

static void solid_push(const FloSoftElement *element, const FloSoftSink *sink) {
  const Solid *solid = element->data;
  Stress stress;
  double t[81];
  find_stress(solid, element, &stress);
  push_forces(solid, element, sink, &stress);
  if (!sink->blocks) return;
  find_stiffness(solid, element, &stress, t);
  if (!sink->is_exact) flo_make_semidefinite(9, t);
  push_matrix(solid, element, sink, t);
}

static const FloSoftForm solid_form = {solid_energy, solid_push, solid_remember, NULL};

// ---- Adding ----

static FloStatus add_patches(FloSoft *soft, const uint32_t *elements, size_t n_elements, FloPatchKind kind,
                             const Solid *material, FloError *error) {
  Solid *solid;
  FloSoftGroup *group;
  FLO_TRY(flo_soft_array(soft, 1, sizeof *solid, &solid, error));
  *solid = *material;
  FLO_TRY(flo_soft_make_patches(soft, elements, n_elements, kind, &solid->patches, error));
  const FloPatches *p = &solid->patches;
  FLO_TRY(flo_soft_array(soft, p->n, sizeof *solid->before, &solid->before, error));
  FLO_TRY(flo_soft_add_group(soft, &solid_form, solid, p->n, p->begin[p->n], &group, error));
  memcpy(group->begin, p->begin, (p->n + 1) * sizeof *p->begin);
  memcpy(group->vertices, p->vertices, p->begin[p->n] * sizeof *p->vertices);
  for (size_t k = 0; k < p->n; ++k) group->scale += (solid->mu + solid->bulk) * p->volumes[k];
  return FLO_OK;
}

FloStatus flo_soft_add_volume(FloSoft *soft, const uint32_t *elements, size_t n_elements,
                              const FloElasticDef *elastic, FloError *error) {
  double nu = elastic->poisson, mu = elastic->young / (2 * (1 + nu)), lambda = 2 * mu * nu / (1 - 2 * nu);
  double soft_part = fmin(lambda, mu), hard_part = lambda - soft_part, tau = elastic->damping;
  Solid edges = {.mu = mu, .bulk = mu + soft_part, .slow_mu = tau * mu, .slow_lambda = tau * soft_part};
  Solid vertices = {.bulk = hard_part, .slow_bulk = tau * hard_part};
  FLO_TRY(add_patches(soft, elements, n_elements, FLO_PATCH_EDGES, &edges, error));
  if (hard_part == 0) return FLO_OK;
  return add_patches(soft, elements, n_elements, FLO_PATCH_VERTICES, &vertices, error);
}
