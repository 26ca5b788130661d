// A membrane of triangles with constant strain, in plane stress.
//
// F, three rows and two columns, maps the flat triangle at rest to the present one. C = F^T F. The strain is
// that of Biot, U - 1 with U = sqrt(C): it is proportional to the change of length at any stretch. Its energy
// per area is (with k = stretch / (1 - nu^2) and the shear stiffness G)
//
//   k/2 (e_xx^2 + e_yy^2 + 2 nu e_xx e_yy) + 2 G e_xy^2 + the limits of the two principal stretches.
//
// U has a closed form: (C + d 1) / sqrt(tr C + 2 d) with d = sqrt(det C). Where a triangle collapses to a
// line d has a kink, which is rounded off: det C is replaced by a mean of it and a small number.
//
// Internal friction acts on the change of the strain in a step, so it does not feel rigid motion.
#include "soft/membrane.h"

#include "base/vecmath.h"
#include "soft/body.h"
#include "soft/jet.h"

#include <string.h>

#define ROUNDED 1e-6 // share of the small number in det C

// Of one triangle: gradients of its three shape functions in the flat state.
typedef struct Shape {
  double slopes[3][2]; // [1/m]
  double area;         // [m^2]
} Shape;

typedef struct Membrane {
  FloSheet sheet;
  Shape *shapes;
  double (*before)[3]; // strains at the start of the step
} Membrane;

// ---- The state at rest ----

static void first_axis(const double normal[3], double axis[3]) {
  double length2 = vec_dot(normal, normal);
  int k = normal[0] * normal[0] < 0.9 * length2 ? 0 : 1; // x, unless the triangle is across it
  double unit[3] = {k == 0, k == 1, 0};
  vec_add_scaled(unit, normal, -normal[k] / length2, axis);
  vec_scale(axis, 1 / vec_length(axis), axis);
}

void flo_flatten(const double *x, const uint32_t triangle[3], const double prestretch[2], FloFlat *flat) {
  double sides[2][3], normal[3], axes[2][3];
  for (int k = 0; k < 2; ++k) vec_sub(x + 3 * (size_t)triangle[k + 1], x + 3 * (size_t)triangle[0], sides[k]);
  vec_cross(sides[0], sides[1], normal);
  first_axis(normal, axes[0]);
  vec_cross(normal, axes[0], axes[1]);
  vec_scale(axes[1], 1 / vec_length(axes[1]), axes[1]);
  for (int k = 0; k < 3; ++k)
    for (int axis = 0; axis < 2; ++axis)
      flat->corners[k][axis] = k ? vec_dot(sides[k - 1], axes[axis]) / prestretch[axis] : 0;
  flat->area = vec_length(normal) / 2 / (prestretch[0] * prestretch[1]);
}

static void find_shape(const FloFlat *flat, Shape *shape) {
  shape->area = flat->area;
  for (int a = 0; a < 3; ++a) {
    const double *p = flat->corners[(a + 1) % 3], *q = flat->corners[(a + 2) % 3];
    shape->slopes[a][0] = (p[1] - q[1]) / (2 * flat->area);
    shape->slopes[a][1] = (q[0] - p[0]) / (2 * flat->area);
  }
}

// ---- Strain ----

// Columns of F.
static void find_columns(const Shape *shape, const double *const corners[3], double columns[2][3]) {
  double sides[2][3];
  for (int k = 0; k < 2; ++k) vec_sub(corners[k + 1], corners[0], sides[k]);
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 3; ++i)
      columns[j][i] = sides[0][i] * shape->slopes[1][j] + sides[1][i] * shape->slopes[2][j];
}

// C as xx, yy, xy.
static void find_metric(double columns[2][3], double c[3]) {
  c[0] = vec_dot(columns[0], columns[0]);
  c[1] = vec_dot(columns[1], columns[1]);
  c[2] = vec_dot(columns[0], columns[1]);
}

// e_xx, e_yy, 2 e_xy.
static void find_strain(const double c[3], double strain[3]) {
  double det = fmax(c[0] * c[1] - c[2] * c[2], 0);
  double d = sqrt((1 - ROUNDED) * det + ROUNDED), s = 1 / sqrt(c[0] + c[1] + 2 * d);
  strain[0] = (c[0] + d) * s - 1;
  strain[1] = (c[1] + d) * s - 1;
  strain[2] = 2 * c[2] * s;
}

static void find_strain_jets(const double c[3], FloJet strain[3]) {
  FloJet x = flo_jet_variable(c[0], 0), y = flo_jet_variable(c[1], 1), xy = flo_jet_variable(c[2], 2);
  FloJet det = flo_jet_product(&x, &y), square = flo_jet_product(&xy, &xy);
  det = flo_jet_sum(det, -1, square);
  det = flo_jet_chain(&det, (1 - ROUNDED) * fmax(det.value, 0) + ROUNDED, 1 - ROUNDED, 0);
  FloJet d = flo_jet_root(&det);
  FloJet sum = flo_jet_sum(flo_jet_sum(x, 1, y), 2, d), s = flo_jet_inverse_root(&sum);
  FloJet xd = flo_jet_sum(x, 1, d), yd = flo_jet_sum(y, 1, d);
  strain[0] = flo_jet_product(&xd, &s), strain[0].value -= 1;
  strain[1] = flo_jet_product(&yd, &s), strain[1].value -= 1;
  strain[2] = flo_jet_product(&xy, &s);
  strain[2] = flo_jet_sum(strain[2], 1, strain[2]);
}

// Stress from strain.
static void find_stress(const FloSheet *sheet, const double strain[3], double stress[3]) {
  stress[0] = sheet->along * (strain[0] + sheet->poisson * strain[1]);
  stress[1] = sheet->along * (strain[1] + sheet->poisson * strain[0]);
  stress[2] = sheet->shear * strain[2];
}

// ---- The limit of the stretch: a function of the two eigenvalues of C ----

typedef struct Principal {
  double value[2];     // of C
  double direction[2]; // of the first; the second is across
} Principal;

static Principal find_principal(const double c[3]) {
  double mean = (c[0] + c[1]) / 2, half = (c[0] - c[1]) / 2, r = sqrt(half * half + c[2] * c[2]);
  double angle = atan2(c[2], half) / 2;
  return (Principal){{mean + r, fmax(mean - r, 0)}, {cos(angle), sin(angle)}};
}

// The limit as a function of an eigenvalue of C, the square of the stretch.
static FloCurve limit_of_square(const FloSheet *sheet, double square) {
  double stretch = sqrt(square);
  FloCurve f = flo_sheet_limit(sheet, stretch);
  if (f.slope == 0) return (FloCurve){0, 0, 0};
  return (FloCurve){f.value, f.slope / (2 * stretch), (f.bend - f.slope / stretch) / (4 * square)};
}

static double limit_energy(const FloSheet *sheet, const double c[3]) {
  if (sheet->limit == 0) return 0;
  Principal p = find_principal(c);
  return flo_sheet_limit(sheet, sqrt(p.value[0])).value + flo_sheet_limit(sheet, sqrt(p.value[1])).value;
}

// Adds s v v^T.
static void add_square(const double v[3], double s, double m[9]) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) m[3 * i + j] += s * v[i] * v[j];
}

static void add_limit(const FloSheet *sheet, const double c[3], FloJet *energy) {
  if (sheet->limit == 0) return;
  Principal p = find_principal(c);
  FloCurve f[2] = {limit_of_square(sheet, p.value[0]), limit_of_square(sheet, p.value[1])};
  if (f[0].slope == 0) return; // the first is the larger one
  double a = p.direction[0], b = p.direction[1];
  double first[3] = {a * a, b * b, 2 * a * b}, second[3] = {b * b, a * a, -2 * a * b};
  double mixed[3] = {-a * b, a * b, a * a - b * b}, gap = p.value[0] - p.value[1];
  double turn = gap > 1e-9 * p.value[0] ? (f[0].slope - f[1].slope) / gap : f[0].bend;
  for (int i = 0; i < 3; ++i) energy->slope[i] += f[0].slope * first[i] + f[1].slope * second[i];
  add_square(first, f[0].bend, energy->bend);
  add_square(second, f[1].bend, energy->bend);
  add_square(mixed, 2 * turn, energy->bend);
}

// ---- Energy of a triangle ----

static double friction_of(const Membrane *membrane, const FloSoftElement *element) {
  return membrane->sheet.damping * element->place->rate;
}

static void find_place(const Membrane *membrane, const FloSoftElement *element, double columns[2][3],
                       double c[3]) {
  const double *corners[3];
  for (size_t a = 0; a < 3; ++a) corners[a] = flo_element_vertex(element, a);
  find_columns(&membrane->shapes[element->number], corners, columns);
  find_metric(columns, c);
}

static void membrane_remember(const FloSoftElement *element) {
  const Membrane *membrane = element->data;
  double columns[2][3], c[3];
  find_place(membrane, element, columns, c);
  find_strain(c, membrane->before[element->number]);
}

static double membrane_energy(const FloSoftElement *element) {
  const Membrane *membrane = element->data;
  double columns[2][3], c[3], strain[3], stress[3], friction = friction_of(membrane, element);
  find_place(membrane, element, columns, c);
  find_strain(c, strain);
  find_stress(&membrane->sheet, strain, stress);
  double energy = vec_dot(strain, stress) / 2 + limit_energy(&membrane->sheet, c);
  if (friction > 0) {
    vec_sub(strain, membrane->before[element->number], strain);
    find_stress(&membrane->sheet, strain, stress);
    energy += friction * vec_dot(strain, stress) / 2;
  }
  return energy * membrane->shapes[element->number].area;
}

// Energy per area as a function of C; only its derivatives are filled.
static void differentiate(const Membrane *membrane, const FloSoftElement *element, const double c[3],
                          FloJet *energy) {
  FloJet jets[3];
  double friction = friction_of(membrane, element), strain[3], stress[3], loss[3];
  find_strain_jets(c, jets);
  for (int k = 0; k < 3; ++k) strain[k] = jets[k].value;
  find_stress(&membrane->sheet, strain, stress);
  vec_sub(strain, membrane->before[element->number], strain);
  find_stress(&membrane->sheet, strain, loss);
  *energy = (FloJet){0};
  for (int k = 0; k < 3; ++k) *energy = flo_jet_sum(*energy, stress[k] + friction * loss[k], jets[k]);
  // The stiffness between strains, times their slopes.
  for (int k = 0; k < 3; ++k) {
    double column[3] = {jets[0].slope[k], jets[1].slope[k], jets[2].slope[k]};
    find_stress(&membrane->sheet, column, stress);
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i) energy->bend[3 * k + j] += (1 + friction) * stress[i] * jets[i].slope[j];
  }
  add_limit(&membrane->sheet, c, energy);
}

// ---- Forces and matrix ----

static void push_forces(const FloSoftElement *element, const FloSoftSink *sink, const Shape *shape,
                        const double tension[3], double columns[2][3]) {
  double p[2][3]; // first Piola-Kirchhoff stress, by columns
  for (int i = 0; i < 3; ++i) {
    p[0][i] = tension[0] * columns[0][i] + tension[2] * columns[1][i];
    p[1][i] = tension[2] * columns[0][i] + tension[1] * columns[1][i];
  }
  for (size_t a = 0; a < 3; ++a) {
    double force[3];
    for (int i = 0; i < 3; ++i)
      force[i] = -shape->area * (p[0][i] * shape->slopes[a][0] + p[1][i] * shape->slopes[a][1]);
    flo_sink_force(element, sink, a, force);
  }
}

// How C changes when corner a moves: three vectors.
static void metric_slopes(const Shape *shape, size_t a, double columns[2][3], double slopes[3][3]) {
  const double *g = shape->slopes[a];
  for (int i = 0; i < 3; ++i) {
    slopes[0][i] = 2 * g[0] * columns[0][i];
    slopes[1][i] = 2 * g[1] * columns[1][i];
    slopes[2][i] = g[0] * columns[1][i] + g[1] * columns[0][i];
  }
}

static void add_block(double a[3][3], double b[3][3], const double stiffness[9], double along, double area,
                      double *block) {
  for (int i = 0; i < 3; ++i) {
    double row[3] = {0};
    for (int m = 0; m < 3; ++m)
      for (int n = 0; n < 3; ++n) row[n] += a[m][i] * stiffness[3 * m + n];
    for (int j = 0; j < 3; ++j)
      block[3 * i + j] += area * (row[0] * b[0][j] + row[1] * b[1][j] + row[2] * b[2][j]);
    block[3 * i + i] += area * along;
  }
}

static void push_matrix(const FloSoftElement *element, const FloSoftSink *sink, const Shape *shape,
                        const double tension[4], const double stiffness[9], double columns[2][3]) {
  double slopes[3][3][3];
  for (size_t a = 0; a < 3; ++a) metric_slopes(shape, a, columns, slopes[a]);
  for (size_t a = 0; a < 3; ++a)
    for (size_t b = 0; b < 3; ++b) {
      const double *g = shape->slopes[a], *h = shape->slopes[b];
      double along =
          g[0] * (tension[0] * h[0] + tension[1] * h[1]) + g[1] * (tension[2] * h[0] + tension[3] * h[1]);
      add_block(slopes[a], slopes[b], stiffness, along, shape->area, flo_sink_block(element, sink, a, b));
    }
}

static void membrane_push(const FloSoftElement *element, const FloSoftSink *sink) {
  const Membrane *membrane = element->data;
  const Shape *shape = &membrane->shapes[element->number];
  double columns[2][3], c[3];
  FloJet energy;
  find_place(membrane, element, columns, c);
  differentiate(membrane, element, c, &energy);
  // c_xy stands for both halves of the symmetric C, so its slope is the tension itself.
  double tension[4] = {2 * energy.slope[0], energy.slope[2], energy.slope[2], 2 * energy.slope[1]};
  push_forces(element, sink, shape, (double[3]){tension[0], tension[3], tension[1]}, columns);
  if (!sink->blocks) return;
  if (!sink->is_exact) {
    flo_make_semidefinite(2, tension);
    flo_make_semidefinite(3, energy.bend);
  }
  push_matrix(element, sink, shape, tension, energy.bend, columns);
}

static const FloSoftForm membrane_form = {membrane_energy, membrane_push, membrane_remember, NULL};

// ---- Adding ----

static void add_masses(FloSoft *soft, const uint32_t triangle[3], double mass) {
  for (int k = 0; k < 3; ++k) soft->mass[triangle[k]] += mass / 3;
}

FloStatus flo_soft_add_membrane(FloSoft *soft, const uint32_t *triangles, size_t n_triangles,
                                const FloSheet *sheet, FloError *error) {
  Membrane *membrane;
  FloSoftGroup *group;
  FLO_TRY(flo_soft_array(soft, 1, sizeof *membrane, &membrane, error));
  membrane->sheet = *sheet;
  FLO_TRY(flo_soft_array(soft, n_triangles, sizeof *membrane->shapes, &membrane->shapes, error));
  FLO_TRY(flo_soft_array(soft, n_triangles, sizeof *membrane->before, &membrane->before, error));
  FLO_TRY(flo_soft_add_group(soft, &membrane_form, membrane, n_triangles, 3 * n_triangles, &group, error));
  for (size_t k = 0; k < n_triangles; ++k) {
    FloFlat flat;
    flo_flatten(soft->x, triangles + 3 * k, sheet->prestretch, &flat);
    find_shape(&flat, &membrane->shapes[k]);
    add_masses(soft, triangles + 3 * k, flat.area * sheet->density);
    group->begin[k + 1] = 3 * (k + 1), group->scale += sheet->along * flat.area;
  }
  memcpy(group->vertices, triangles, 3 * n_triangles * sizeof *triangles);
  return FLO_OK;
}
