// Bending of a sheet: each triangle has an energy that is a quadratic form of the turns of a few hinges,
// their angles less those at rest. bending_patch.c says which, and why. Angles are true angles, so turns may
// be large. A shell may be curved at rest.
#include "soft/bending.h"

#include "base/vecmath.h"
#include "soft/bending_patch.h"
#include "soft/body.h"

#include <string.h>

typedef struct Bending {
  FloBendSheet sheet;
  FloBendPatch *patches;
  double (*before)[FLO_BEND_HINGES]; // turns at the start of the step
} Bending;

// ---- Angles ----

static FloHinge hinge_of(const double *x, const uint32_t *vertices, const uint8_t corners[4]) {
  return (FloHinge){x + 3 * (size_t)vertices[corners[0]], x + 3 * (size_t)vertices[corners[1]],
                    x + 3 * (size_t)vertices[corners[2]], x + 3 * (size_t)vertices[corners[3]]};
}

// The gradient of the angle by a far vertex, and the share of the way from a to b that lies beside it.
static double far_slope(const FloHinge *hinge, const double *far, double sign, double slope[3]) {
  double edge[3], way[3], normal[3];
  vec_sub(hinge->b, hinge->a, edge);
  vec_sub(far, hinge->a, way);
  vec_cross(edge, way, normal);
  vec_scale(normal, sign * vec_length(edge) / vec_dot(normal, normal), slope);
  return vec_dot(way, edge) / vec_dot(edge, edge);
}

// The gradient by a, b, p and q: a turn moves far vertices along the normals of their triangles.
static void angle_slopes(const FloHinge *hinge, double slopes[4][3]) {
  double s = far_slope(hinge, hinge->p, -1, slopes[2]), t = far_slope(hinge, hinge->q, 1, slopes[3]);
  for (int i = 0; i < 3; ++i) {
    slopes[0][i] = -(1 - s) * slopes[2][i] - (1 - t) * slopes[3][i];
    slopes[1][i] = -s * slopes[2][i] - t * slopes[3][i];
  }
}

// Angles in (-pi, pi] continue beyond: the change of an angle is the short way round.
static double turn_from(double angle, double rest) {
  double turn = angle - rest;
  return turn - 2 * FLO_PI * round(turn / (2 * FLO_PI));
}

typedef double Turns[FLO_BEND_HINGES];

static void find_turns(const double *x, const uint32_t *vertices, const FloBendPatch *patch, Turns turns) {
  for (int h = 0; h < patch->n; ++h) {
    FloHinge hinge = hinge_of(x, vertices, patch->corners[h]);
    turns[h] = turn_from(flo_hinge_angle(&hinge), patch->rest[h]);
  }
}

// ---- Energy, forces, matrix ----

// q times turns.
static void find_moments(const FloBendPatch *patch, const Turns turns, Turns moments) {
  for (int i = 0; i < patch->n; ++i) {
    moments[i] = 0;
    for (int k = 0; k < patch->n; ++k) moments[i] += patch->q[patch->n * i + k] * turns[k];
  }
}

static double energy_of_turns(const FloBendPatch *patch, const Turns turns) {
  Turns moments;
  double energy = 0;
  find_moments(patch, turns, moments);
  for (int k = 0; k < patch->n; ++k) energy += turns[k] * moments[k] / 2;
  return energy;
}

static double friction_of(const Bending *bending, const FloSoftElement *element) {
  return bending->sheet.sheet.damping * element->place->rate;
}

static void bending_remember(const FloSoftElement *element) {
  const Bending *bending = element->data;
  find_turns(element->place->x, element->vertices, &bending->patches[element->number],
             bending->before[element->number]);
}

// Turns since the start of the step.
static void find_changes(int n, const Turns before, const Turns turns, Turns changes) {
  for (int k = 0; k < n; ++k) changes[k] = turn_from(turns[k], before[k]);
}

static double bending_energy(const FloSoftElement *element) {
  const Bending *bending = element->data;
  const FloBendPatch *patch = &bending->patches[element->number];
  double friction = friction_of(bending, element);
  Turns turns, changes;
  find_turns(element->place->x, element->vertices, patch, turns);
  double energy = energy_of_turns(patch, turns);
  if (friction == 0) return energy;
  find_changes(patch->n, bending->before[element->number], turns, changes);
  return energy + friction * energy_of_turns(patch, changes);
}

static void find_all_moments(const Bending *bending, const FloSoftElement *element, double friction,
                             Turns moments) {
  const FloBendPatch *patch = &bending->patches[element->number];
  Turns turns, changes, loss;
  find_turns(element->place->x, element->vertices, patch, turns);
  find_moments(patch, turns, moments);
  if (friction == 0) return;
  find_changes(patch->n, bending->before[element->number], turns, changes);
  find_moments(patch, changes, loss);
  for (int k = 0; k < patch->n; ++k) moments[k] += friction * loss[k];
}

// Slopes of all angles by all vertices of the element.
typedef double Slopes[FLO_BEND_HINGES][FLO_BEND_VERTICES][3];

static void find_slopes(const FloSoftElement *element, const FloBendPatch *patch, Slopes slopes) {
  memset(slopes, 0, (size_t)patch->n * sizeof slopes[0]);
  for (int h = 0; h < patch->n; ++h) {
    FloHinge hinge = hinge_of(element->place->x, element->vertices, patch->corners[h]);
    double four[4][3];
    angle_slopes(&hinge, four);
    for (int i = 0; i < 4; ++i) vec_copy(four[i], slopes[h][patch->corners[h][i]]);
  }
}

static void push_forces(const FloSoftElement *element, const FloSoftSink *sink, const FloBendPatch *patch,
                        const Turns moments, Slopes slopes) {
  for (size_t a = 0; a < element->n; ++a) {
    double force[3] = {0};
    for (int k = 0; k < patch->n; ++k) vec_add_scaled(force, slopes[k][a], -moments[k], force);
    flo_sink_force(element, sink, a, force);
  }
}

enum { MOST_COLUMNS = 3 * FLO_BEND_VERTICES };

// factor q times slopes: a row of 3 n numbers for each hinge.
static void pull_slopes(const FloBendPatch *patch, double factor, Slopes slopes, size_t n_columns,
                        double pulled[FLO_BEND_HINGES][MOST_COLUMNS]) {
  for (int k = 0; k < patch->n; ++k) {
    memset(pulled[k], 0, n_columns * sizeof *pulled[k]);
    for (int m = 0; m < patch->n; ++m) {
      const double *row = &slopes[m][0][0];
      double q = factor * patch->q[patch->n * k + m];
      for (size_t c = 0; c < n_columns; ++c) pulled[k][c] += q * row[c];
    }
  }
}

// Adds the rows of the matrix that belong to vertex a, from the first block to its own, and their mirror.
static void push_rows(const FloSoftElement *element, const FloSoftSink *sink, size_t a,
                      double rows[3][MOST_COLUMNS]) {
  for (size_t b = 0; b <= a; ++b) {
    double *block = flo_sink_block(element, sink, a, b), *mirror = flo_sink_block(element, sink, b, a);
    for (size_t i = 0; i < 3; ++i)
      for (size_t j = 0; j < 3; ++j) {
        block[3 * i + j] += rows[i][3 * b + j];
        if (a != b) mirror[3 * j + i] += rows[i][3 * b + j];
      }
  }
}

// The part of the matrix that changes angles. Moments times second derivatives of angles are left out: they
// are small where triangles are small against the radius of curvature, and they are not definite.
static void push_matrix(const FloSoftElement *element, const FloSoftSink *sink, const FloBendPatch *patch,
                        double factor, Slopes slopes) {
  double pulled[FLO_BEND_HINGES][MOST_COLUMNS], rows[3][MOST_COLUMNS];
  pull_slopes(patch, factor, slopes, 3 * element->n, pulled);
  for (size_t a = 0; a < element->n; ++a) {
    memset(rows, 0, sizeof rows);
    for (int k = 0; k < patch->n; ++k)
      for (int i = 0; i < 3; ++i) {
        double slope = slopes[k][a][i];
        for (size_t c = 0; c < 3 * (a + 1); ++c) rows[i][c] += slope * pulled[k][c];
      }
    push_rows(element, sink, a, rows);
  }
}

static void bending_push(const FloSoftElement *element, const FloSoftSink *sink) {
  const Bending *bending = element->data;
  const FloBendPatch *patch = &bending->patches[element->number];
  double friction = friction_of(bending, element);
  Turns moments;
  Slopes slopes;
  find_all_moments(bending, element, friction, moments);
  find_slopes(element, patch, slopes);
  push_forces(element, sink, patch, moments, slopes);
  if (sink->blocks) push_matrix(element, sink, patch, 1 + friction, slopes);
}

static void bending_refix(const FloSoftGroup *group, const bool *fixed) {
  const Bending *bending = group->data;
  for (size_t k = 0; k < group->n; ++k) flo_bend_weigh(&bending->sheet, k, fixed, &bending->patches[k]);
}

static const FloSoftForm bending_form = {bending_energy, bending_push, bending_remember, bending_refix};

// ---- Adding ----

static FloStatus copy_triangles(FloSoft *soft, const uint32_t *triangles, size_t n, FloBendSheet *sheet,
                                FloError *error) {
  uint32_t *copy;
  FLO_TRY(flo_soft_array(soft, 3 * n, sizeof *copy, &copy, error));
  memcpy(copy, triangles, 3 * n * sizeof *copy);
  sheet->triangles = copy, sheet->n = n, sheet->x = soft->x;
  FLO_TRY(flo_soft_array(soft, 3 * n, sizeof *sheet->sides, &sheet->sides, error));
  return flo_soft_array(soft, n, sizeof *sheet->areas, &sheet->areas, error);
}

static FloStatus add_patches(FloSoft *soft, Bending *bending, FloError *error) {
  size_t n = bending->sheet.n, most = bending->sheet.is_even ? 6 : FLO_BEND_VERTICES;
  FloSoftGroup *group;
  FLO_TRY(flo_soft_array(soft, n, sizeof *bending->patches, &bending->patches, error));
  FLO_TRY(flo_soft_array(soft, n, sizeof *bending->before, &bending->before, error));
  FLO_TRY(flo_soft_add_group(soft, &bending_form, bending, n, most * n, &group, error));
  group->scale = bending->sheet.sheet.bend * (double)n;
  for (size_t k = 0; k < n; ++k)
    group->begin[k + 1] = group->begin[k] + flo_bend_gather(&bending->sheet, k, &bending->patches[k],
                                                            group->vertices + group->begin[k]);
  return FLO_OK;
}

FloStatus flo_soft_add_bending(FloSoft *soft, const uint32_t *triangles, size_t n_triangles,
                               const FloSheet *sheet, FloError *error) {
  if (sheet->bend == 0) return FLO_OK;
  Bending *bending;
  FLO_TRY(flo_soft_array(soft, 1, sizeof *bending, &bending, error));
  bending->sheet.sheet = *sheet;
  FLO_TRY(copy_triangles(soft, triangles, n_triangles, &bending->sheet, error));
  FLO_TRY(flo_bend_measure(&bending->sheet, soft->memory, error));
  return add_patches(soft, bending, error);
}
