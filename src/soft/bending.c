// Bending without rotations as unknowns: the curvature of a triangle follows from the angles between it and
// its neighbours.
//
// A triangle and the far vertices of its three neighbours are six points. One quadratic function passes
// through them, and its second derivatives are the curvature K of the triangle. In the plane of the triangle,
// with an edge along y from 0 to l, the own far vertex at (-h1, y1) and that of the neighbour at (h2, y2), a
// curvature K turns the two triangles against each other by
//
//   theta = K_xx (h1 + h2)/2 + K_xy (y2 - y1) - K_yy (y1 (l - y1)/h1 + y2 (l - y2)/h2)/2 = b . K.
//
// So the angles of the edges are B K with one row b for each neighbour. The energy of the triangle is the
// least one that a curvature with these angles can have: area/2 theta^T Q theta with Q = (B D^-1 B^T)^-1,
// where D is the stiffness of the plate. A free edge has no row: no moment acts across it. Angles count from
// those at rest, so a shell may be curved at rest. They are true angles, so turns may be large.
//
// A triangle whose three vertices are fixed does not bend. A neighbour of it is clamped at their edge: its
// own half of the turn is all there is, so that the terms with y2 and h2 become those of the edge's middle.
//
// At an edge of several triangles each bends with the one that continues it best.
#include "soft/bending.h"

#include "base/vecmath.h"
#include "soft/body.h"
#include "soft/membrane.h"
#include "solve/dense.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = UINT32_MAX };

// Six points on a conic section leave one curvature open. This share of its diagonal makes B D^-1 B^T
// definite even then.
#define SLACK 1e-4

// One triangle with its neighbours. Side k leads from corner k to the next. Neighbours that there are come
// first in the list of vertices after the three corners, in the order of sides.
typedef struct Patch {
  int n_sides;          // that have a neighbour
  int sides[3];         // their numbers
  uint32_t beside[3];   // triangles there
  double rest[3];       // angles at rest
  double rows[3][3];    // B, in the axes of the triangle: K_xx, K_yy, 2 K_xy [m]
  double clamped[3][3]; // the same if the neighbour is fixed
  double q[9];          // area times Q [N m]; zeros if the triangle is fixed
  double area;          // [m^2]
} Patch;

typedef struct Bending {
  FloSheet sheet;
  Patch *patches;
} Bending;

// ---- Angles ----

// An edge from a to b with the far vertices p and q on its two sides.
typedef struct Hinge {
  const double *a, *b, *p, *q;
} Hinge;

// Normals of both triangles, as long as twice their areas, and the length of the edge.
static double find_normals(const Hinge *hinge, double edge[3], double own[3], double other[3]) {
  double p[3], q[3];
  vec_sub(hinge->b, hinge->a, edge);
  vec_sub(hinge->p, hinge->a, p);
  vec_sub(hinge->q, hinge->a, q);
  vec_cross(edge, p, own);
  vec_cross(q, edge, other);
  return vec_length(edge);
}

static double angle_of(const Hinge *hinge) {
  double edge[3], own[3], other[3], cross[3];
  double length = find_normals(hinge, edge, own, other);
  vec_cross(own, other, cross);
  return atan2(vec_dot(cross, edge) / length, vec_dot(own, other));
}

// Which share of the way from a to b lies beside a far vertex.
static double foot_of(const Hinge *hinge, const double *far) {
  double edge[3], way[3];
  vec_sub(hinge->b, hinge->a, edge);
  vec_sub(far, hinge->a, way);
  return vec_dot(way, edge) / vec_dot(edge, edge);
}

// The gradient by a, b, p and q.
static void angle_slopes(const Hinge *hinge, double slopes[4][3]) {
  double edge[3], own[3], other[3];
  double length = find_normals(hinge, edge, own, other);
  double s = foot_of(hinge, hinge->p), t = foot_of(hinge, hinge->q);
  vec_scale(own, -length / vec_dot(own, own), slopes[2]);
  vec_scale(other, -length / vec_dot(other, other), slopes[3]);
  for (int i = 0; i < 3; ++i) {
    slopes[0][i] = -(1 - s) * slopes[2][i] - (1 - t) * slopes[3][i];
    slopes[1][i] = -s * slopes[2][i] - t * slopes[3][i];
  }
}

static Hinge hinge_of(const double *x, const uint32_t *vertices, const Patch *patch, int k) {
  int side = patch->sides[k];
  return (Hinge){x + 3 * (size_t)vertices[side], x + 3 * (size_t)vertices[(side + 1) % 3],
                 x + 3 * (size_t)vertices[(side + 2) % 3], x + 3 * (size_t)vertices[3 + k]};
}

// Angles in (-pi, pi] continue beyond: the change from the angle at rest is the short way round.
static double turn_from(double angle, double rest) {
  double turn = angle - rest;
  return turn - 2 * FLO_PI * round(turn / (2 * FLO_PI));
}

static void find_turns(const double *x, const uint32_t *vertices, const Patch *patch, double turns[3]) {
  for (int k = 0; k < patch->n_sides; ++k) {
    Hinge hinge = hinge_of(x, vertices, patch, k);
    turns[k] = turn_from(angle_of(&hinge), patch->rest[k]);
  }
}

// ---- Energy, forces, matrix ----

// Q times turns.
static void find_moments(const Patch *patch, const double turns[3], double moments[3]) {
  int n = patch->n_sides;
  for (int i = 0; i < n; ++i) {
    moments[i] = 0;
    for (int k = 0; k < n; ++k) moments[i] += patch->q[n * i + k] * turns[k];
  }
}

static double energy_of_turns(const Patch *patch, const double turns[3]) {
  double moments[3], energy = 0;
  find_moments(patch, turns, moments);
  for (int k = 0; k < patch->n_sides; ++k) energy += turns[k] * moments[k] / 2;
  return energy;
}

static double friction_of(const Bending *bending, const FloSoftElement *element) {
  return bending->sheet.damping * element->place->rate;
}

static double bending_energy(const FloSoftElement *element) {
  const Bending *bending = element->data;
  const Patch *patch = &bending->patches[element->number];
  double turns[3], before[3], friction = friction_of(bending, element);
  find_turns(element->place->x, element->vertices, patch, turns);
  double energy = energy_of_turns(patch, turns);
  if (friction == 0) return energy;
  find_turns(element->place->before, element->vertices, patch, before);
  for (int k = 0; k < patch->n_sides; ++k) turns[k] = turn_from(turns[k], before[k]);
  return energy + friction * energy_of_turns(patch, turns);
}

static void find_all_moments(const FloSoftElement *element, const Patch *patch, double friction,
                             double moments[3]) {
  double turns[3], before[3], loss[3];
  find_turns(element->place->x, element->vertices, patch, turns);
  find_moments(patch, turns, moments);
  if (friction == 0) return;
  find_turns(element->place->before, element->vertices, patch, before);
  for (int k = 0; k < patch->n_sides; ++k) turns[k] = turn_from(turns[k], before[k]);
  find_moments(patch, turns, loss);
  for (int k = 0; k < patch->n_sides; ++k) moments[k] += friction * loss[k];
}

// Slopes of all angles by all vertices of the patch.
static void find_slopes(const FloSoftElement *element, const Patch *patch, double slopes[3][6][3]) {
  memset(slopes, 0, 3 * sizeof slopes[0]);
  for (int k = 0; k < patch->n_sides; ++k) {
    Hinge hinge = hinge_of(element->place->x, element->vertices, patch, k);
    double four[4][3];
    angle_slopes(&hinge, four);
    int side = patch->sides[k], places[4] = {side, (side + 1) % 3, (side + 2) % 3, 3 + k};
    for (int i = 0; i < 4; ++i) vec_copy(four[i], slopes[k][places[i]]);
  }
}

static void push_forces(const FloSoftElement *element, const FloSoftSink *sink, const Patch *patch,
                        const double moments[3], double slopes[3][6][3]) {
  for (size_t a = 0; a < element->n; ++a) {
    double force[3] = {0};
    for (int k = 0; k < patch->n_sides; ++k) vec_add_scaled(force, slopes[k][a], -moments[k], force);
    flo_sink_force(element, sink, a, force);
  }
}

// The part of the matrix that changes angles. Moments times second derivatives of angles are left out: they
// are small where triangles are small against the radius of curvature, and they are not definite.
static void push_matrix(const FloSoftElement *element, const FloSoftSink *sink, const Patch *patch,
                        double friction, double slopes[3][6][3]) {
  int n = patch->n_sides;
  for (size_t a = 0; a < element->n; ++a) {
    double pulled[3][3] = {{0}};
    for (int k = 0; k < n; ++k)
      for (int m = 0; m < n; ++m)
        vec_add_scaled(pulled[k], slopes[m][a], (1 + friction) * patch->q[n * m + k], pulled[k]);
    for (size_t b = 0; b < element->n; ++b) {
      double *block = flo_sink_block(element, sink, a, b);
      for (int k = 0; k < n; ++k)
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) block[3 * i + j] += pulled[k][i] * slopes[k][b][j];
    }
  }
}

static void bending_push(const FloSoftElement *element, const FloSoftSink *sink) {
  const Bending *bending = element->data;
  const Patch *patch = &bending->patches[element->number];
  double moments[3], slopes[3][6][3], friction = friction_of(bending, element);
  find_all_moments(element, patch, friction, moments);
  find_slopes(element, patch, slopes);
  push_forces(element, sink, patch, moments, slopes);
  if (sink->blocks) push_matrix(element, sink, patch, friction, slopes);
}

// ---- B and Q ----

// A row of B in the axes of the triangle, from its parts across, mixed and along the edge.
static void turn_row(const double across[2], double xx, double xy, double yy, double row[3]) {
  double c = across[0], s = across[1];
  row[0] = xx * c * c - xy * c * s + yy * s * s;
  row[1] = xx * s * s + xy * c * s + yy * c * c;
  row[2] = xx * c * s + xy * (c * c - s * s) / 2 - yy * c * s;
}

// The direction across side k of the flat triangle, outwards.
static void across_side(const FloFlat *flat, int k, double across[2]) {
  const double *a = flat->corners[k], *b = flat->corners[(k + 1) % 3];
  double x = b[0] - a[0], y = b[1] - a[1], length = sqrt(x * x + y * y);
  across[0] = y / length, across[1] = -x / length;
}

static double distance_of(const Hinge *hinge, const double *far) {
  double edge[3], way[3], normal[3];
  vec_sub(hinge->b, hinge->a, edge);
  vec_sub(far, hinge->a, way);
  vec_cross(edge, way, normal);
  return vec_length(normal) / vec_length(edge);
}

static void find_rows(const Hinge *hinge, const double across[2], double free[3], double clamped[3]) {
  double edge[3];
  vec_sub(hinge->b, hinge->a, edge);
  double l = vec_length(edge), h1 = distance_of(hinge, hinge->p), h2 = distance_of(hinge, hinge->q);
  double y1 = l * foot_of(hinge, hinge->p), y2 = l * foot_of(hinge, hinge->q);
  double own = y1 * (l - y1) / (2 * h1), other = y2 * (l - y2) / (2 * h2);
  turn_row(across, (h1 + h2) / 2, y2 - y1, -own - other, free);
  turn_row(across, h1 / 2, l / 2 - y1, -own, clamped);
}

// D^-1 times a row.
static void apply_flexibility(const FloSheet *sheet, const double row[3], double out[3]) {
  double nu = sheet->poisson, s = 1 / (sheet->bend * (1 - nu * nu));
  out[0] = s * (row[0] - nu * row[1]);
  out[1] = s * (row[1] - nu * row[0]);
  out[2] = s * 2 * (1 + nu) * row[2];
}

static void find_q(const FloSheet *sheet, double rows[3][3], Patch *patch) {
  int n = patch->n_sides;
  double flexibility[9], factors[9], column[3];
  for (int i = 0; i < n; ++i) {
    double moved[3];
    apply_flexibility(sheet, rows[i], moved);
    for (int k = 0; k < n; ++k) flexibility[n * i + k] = vec_dot(moved, rows[k]);
    flexibility[n * i + i] *= 1 + SLACK;
  }
  bool is_definite = flo_dense_factorise(n, flexibility, factors);
  for (int k = 0; k < n; ++k) {
    if (is_definite) flo_dense_inverse_column(n, factors, k, column);
    for (int i = 0; i < n; ++i) patch->q[n * i + k] = is_definite ? patch->area * column[i] : 0;
  }
}

static bool all_fixed(const FloSoftGroup *group, const bool *fixed, size_t triangle) {
  const uint32_t *corners = group->vertices + group->begin[triangle];
  return fixed[corners[0]] && fixed[corners[1]] && fixed[corners[2]];
}

static void refix_patch(const Bending *bending, const FloSoftGroup *group, const bool *fixed, size_t k) {
  Patch *patch = &bending->patches[k];
  memset(patch->q, 0, sizeof patch->q);
  if (all_fixed(group, fixed, k)) return;
  double rows[3][3];
  for (int i = 0; i < patch->n_sides; ++i)
    vec_copy(all_fixed(group, fixed, patch->beside[i]) ? patch->clamped[i] : patch->rows[i], rows[i]);
  find_q(&bending->sheet, rows, patch);
}

static void bending_refix(const FloSoftGroup *group, const bool *fixed) {
  for (size_t k = 0; k < group->n; ++k) refix_patch(group->data, group, fixed, k);
}

static const FloSoftForm bending_form = {bending_energy, bending_push, bending_refix};

// ---- Neighbours ----

typedef struct Finder {
  const double *x;
  const uint32_t *triangles;
  const FloMeshSide *sides;
  size_t n_sides;
} Finder;

static uint32_t far_vertex(const Finder *finder, uint32_t side) {
  return finder->triangles[3 * (side / 3) + (side % 3 + 2) % 3];
}

static Hinge hinge_between(const Finder *finder, uint32_t own, uint32_t other) {
  const uint32_t *corners = finder->triangles + 3 * (own / 3);
  return (Hinge){finder->x + 3 * (size_t)corners[own % 3], finder->x + 3 * (size_t)corners[(own % 3 + 1) % 3],
                 finder->x + 3 * (size_t)far_vertex(finder, own),
                 finder->x + 3 * (size_t)far_vertex(finder, other)};
}

// The side, of those from `first` to `end` of one edge, that continues `own` best; NONE if there is no other.
static uint32_t find_partner(const Finder *finder, size_t first, size_t end, uint32_t own) {
  uint32_t best = NONE;
  double least = INFINITY;
  for (size_t k = first; k < end; ++k) {
    uint32_t other = finder->sides[k].side;
    Hinge hinge = hinge_between(finder, own, other);
    if (other / 3 == own / 3 || far_vertex(finder, own) == far_vertex(finder, other)) continue;
    double angle = fabs(angle_of(&hinge));
    if (angle < least) least = angle, best = other;
  }
  return best;
}

static void find_partners(const Finder *finder, uint32_t *partners) {
  for (size_t first = 0, end; first < finder->n_sides; first = end) {
    end = first;
    while (end < finder->n_sides && finder->sides[end].low == finder->sides[first].low &&
           finder->sides[end].high == finder->sides[first].high)
      end++;
    for (size_t k = first; k < end; ++k)
      partners[finder->sides[k].side] = find_partner(finder, first, end, finder->sides[k].side);
  }
}

// ---- Adding ----

static void add_side(const Finder *finder, const FloFlat *flat, uint32_t side, uint32_t partner, Patch *patch,
                     uint32_t *vertices) {
  int k = patch->n_sides++;
  double across[2];
  Hinge hinge = hinge_between(finder, side, partner);
  patch->sides[k] = (int)(side % 3), patch->beside[k] = partner / 3;
  patch->rest[k] = angle_of(&hinge);
  vertices[3 + k] = far_vertex(finder, partner);
  across_side(flat, patch->sides[k], across);
  find_rows(&hinge, across, patch->rows[k], patch->clamped[k]);
}

static void fill_patch(const Finder *finder, const uint32_t *partners, size_t triangle, Patch *patch,
                       uint32_t *vertices) {
  FloFlat flat;
  flo_flatten(finder->x, finder->triangles + 3 * triangle, (double[]){1, 1}, &flat);
  patch->area = flat.area;
  memcpy(vertices, finder->triangles + 3 * triangle, 3 * sizeof *vertices);
  for (uint32_t k = 0; k < 3; ++k) {
    uint32_t side = (uint32_t)(3 * triangle) + k;
    if (partners[side] != NONE) add_side(finder, &flat, side, partners[side], patch, vertices);
  }
}

static FloStatus fill(FloSoft *soft, const Finder *finder, size_t n_triangles, const FloSheet *sheet,
                      const uint32_t *partners, FloError *error) {
  Bending *bending;
  FloSoftGroup *group;
  FLO_TRY(flo_soft_array(soft, 1, sizeof *bending, &bending, error));
  bending->sheet = *sheet;
  FLO_TRY(flo_soft_array(soft, n_triangles, sizeof *bending->patches, &bending->patches, error));
  FLO_TRY(flo_soft_add_group(soft, &bending_form, bending, n_triangles, 6 * n_triangles, &group, error));
  for (size_t k = 0; k < n_triangles; ++k) {
    fill_patch(finder, partners, k, &bending->patches[k], group->vertices + group->begin[k]);
    group->begin[k + 1] = group->begin[k] + 3 + (size_t)bending->patches[k].n_sides;
  }
  return FLO_OK;
}

static int compare_sides(const void *a, const void *b) {
  const FloMeshSide *p = a, *q = b;
  if (p->low != q->low) return p->low < q->low ? -1 : 1;
  if (p->high != q->high) return p->high < q->high ? -1 : 1;
  return p->side < q->side ? -1 : 1;
}

static void sort_sides(const uint32_t *triangles, size_t n_triangles, FloMeshSide *sides) {
  for (uint32_t s = 0; s < 3 * n_triangles; ++s) {
    uint32_t a = triangles[s], b = triangles[3 * (s / 3) + (s % 3 + 1) % 3];
    sides[s] = (FloMeshSide){a < b ? a : b, a < b ? b : a, s};
  }
  qsort(sides, 3 * n_triangles, sizeof *sides, compare_sides);
}

FloStatus flo_soft_add_bending(FloSoft *soft, const uint32_t *triangles, size_t n_triangles,
                               const FloSheet *sheet, FloError *error) {
  if (sheet->bend == 0) return FLO_OK;
  FloBuffer sides = {0}, partners = {0};
  FloStatus status =
      flo_buffer_reserve(soft->memory, &sides, 3 * n_triangles * sizeof(FloMeshSide), 0, error);
  if (!status)
    status = flo_buffer_reserve(soft->memory, &partners, 3 * n_triangles * sizeof(uint32_t), 0, error);
  if (!status) {
    Finder finder = {soft->x, triangles, sides.data, 3 * n_triangles};
    sort_sides(triangles, n_triangles, sides.data);
    find_partners(&finder, partners.data);
    status = fill(soft, &finder, n_triangles, sheet, partners.data, error);
  }
  flo_buffer_free(soft->memory, &sides);
  flo_buffer_free(soft->memory, &partners);
  return status;
}
