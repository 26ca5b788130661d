// Curvature without rotations as unknowns, from the angles between triangles.
//
// Fit. A triangle and the far vertices of its three neighbours are six points. One quadratic function passes
// through them; its second derivatives K are a curvature. In the plane of the triangle, with an edge along y
// from 0 to l, the own far vertex at (-h1, y1) and that of the neighbour at (h2, y2), a curvature K turns the
// two triangles against each other by
//
//   theta = K_xx (h1 + h2)/2 + K_xy (y2 - y1) - K_yy (y1 (l - y1)/h1 + y2 (l - y2)/h2)/2,
//
// of which K_xx h1/2 + K_xy (l/2 - y1) - K_yy y1 (l - y1)/(2 h1) lie between the own triangle and the middle
// of the edge. With one row for each neighbour, theta = B K. At a free edge there is no row and no moment: of
// all K that fit, the one with the least energy is taken, K = D^-1 B^T (B D^-1 B^T)^-1 theta.
//
// Mean. The fit alone is exact for a constant curvature, but a constant moment is in balance only if all
// vertices are alike, as in a grid with one direction of diagonals. In other meshes it is far too soft. So
// the direction of the sheet at each edge is taken as the mean of what the fits of its two triangles say.
// With the angles phi between the triangle and the directions at its edges,
//
//   K = sum over edges of phi length/area n n^T,
//
// where n is the normal of the edge in the plane. This is the mean curvature of any surface with these
// directions (Gauss's theorem), so constant moments are in balance in every mesh. Both properties together
// make results converge on any mesh. The difference between fit and mean gets a share of the stiffness, so
// that no change of shape is free.
//
// A triangle whose three vertices are fixed does not bend. A neighbour of it is clamped at their edge: the
// direction there is that of the fixed triangle.
//
// At an edge of several triangles each bends with the one that continues it best.
#include "soft/bending_patch.h"

#include "base/vecmath.h"
#include "soft/membrane.h"
#include "solve/dense.h"

#include <stdlib.h>
#include <string.h>

// Six points on a conic section leave one curvature open. This share of its trace makes B^T B definite even
// then.
#define SLACK 1e-8
// Share of the stiffness against differences of fit and mean.
#define DIFFERENCE 0.3
// Moments that are out of balance by less than this share do no harm.
#define EVEN 0.02

// ---- Hinges ----

double flo_hinge_angle(const FloHinge *hinge) {
  double edge[3], p[3], q[3], own[3], other[3], cross[3];
  vec_sub(hinge->b, hinge->a, edge);
  vec_sub(hinge->p, hinge->a, p);
  vec_sub(hinge->q, hinge->a, q);
  vec_cross(edge, p, own);
  vec_cross(q, edge, other);
  vec_cross(own, other, cross);
  return atan2(vec_dot(cross, edge) / vec_length(edge), vec_dot(own, other));
}

static uint32_t start_of(const FloBendSheet *sheet, uint32_t side) { return sheet->triangles[side]; }
static uint32_t end_of(const FloBendSheet *sheet, uint32_t side) {
  return sheet->triangles[3 * (side / 3) + (side % 3 + 1) % 3];
}
static uint32_t far_of(const FloBendSheet *sheet, uint32_t side) {
  return sheet->triangles[3 * (side / 3) + (side % 3 + 2) % 3];
}
static const double *point(const FloBendSheet *sheet, uint32_t vertex) {
  return sheet->x + 3 * (size_t)vertex;
}

static FloHinge hinge_between(const FloBendSheet *sheet, uint32_t own, uint32_t other) {
  return (FloHinge){point(sheet, start_of(sheet, own)), point(sheet, end_of(sheet, own)),
                    point(sheet, far_of(sheet, own)), point(sheet, far_of(sheet, other))};
}

// ---- Partners ----

static int compare_sides(const void *a, const void *b) {
  const FloMeshSide *p = a, *q = b;
  if (p->low != q->low) return p->low < q->low ? -1 : 1;
  if (p->high != q->high) return p->high < q->high ? -1 : 1;
  return p->side < q->side ? -1 : 1;
}

static void sort_sides(const FloBendSheet *sheet, FloMeshSide *sides) {
  for (uint32_t s = 0; s < 3 * sheet->n; ++s) {
    uint32_t a = start_of(sheet, s), b = end_of(sheet, s);
    sides[s] = (FloMeshSide){a < b ? a : b, a < b ? b : a, s};
  }
  qsort(sides, 3 * sheet->n, sizeof *sides, compare_sides);
}

// The side, of these n sides of one edge, that continues `own` best.
static uint32_t find_partner(const FloBendSheet *sheet, const FloMeshSide *sides, size_t n, uint32_t own) {
  uint32_t best = FLO_BEND_NONE;
  double least = INFINITY;
  for (size_t k = 0; k < n; ++k) {
    uint32_t other = sides[k].side;
    if (other / 3 == own / 3 || far_of(sheet, own) == far_of(sheet, other)) continue;
    FloHinge hinge = hinge_between(sheet, own, other);
    double angle = fabs(flo_hinge_angle(&hinge));
    if (angle < least) least = angle, best = other;
  }
  return best;
}

static size_t count_sides(const FloMeshSide *sides, size_t n) {
  size_t count = 1;
  while (count < n && sides[count].low == sides[0].low && sides[count].high == sides[0].high) count++;
  return count;
}

static FloStatus find_partners(FloBendSheet *sheet, FloMemory *memory, FloError *error) {
  FloBuffer buffer = {0};
  size_t n = 3 * sheet->n, count;
  FLO_TRY(flo_buffer_reserve(memory, &buffer, n * sizeof(FloMeshSide) + 1, 0, error));
  FloMeshSide *sides = buffer.data;
  sort_sides(sheet, sides);
  for (size_t first = 0; first < n; first += count) {
    count = count_sides(sides + first, n - first);
    for (size_t k = first; k < first + count; ++k)
      sheet->sides[sides[k].side].partner = find_partner(sheet, sides + first, count, sides[k].side);
  }
  flo_buffer_free(memory, &buffer);
  return FLO_OK;
}

// ---- Measures of sides ----

// A row in the axes of the triangle, from its parts across, mixed and along the edge.
static void turn_row(const double across[2], double xx, double xy, double yy, double row[3]) {
  double c = across[0], s = across[1];
  row[0] = xx * c * c - xy * c * s + yy * s * s;
  row[1] = xx * s * s + xy * c * s + yy * c * c;
  row[2] = xx * c * s + xy * (c * c - s * s) / 2 - yy * c * s;
}

// Where a far vertex lies: its distance from the edge and its place along it.
static void find_foot(const double *a, const double *b, const double *far, double *h, double *y) {
  double edge[3], way[3], normal[3];
  vec_sub(b, a, edge);
  vec_sub(far, a, way);
  vec_cross(edge, way, normal);
  *h = vec_length(normal) / vec_length(edge);
  *y = vec_dot(edge, way) / vec_length(edge);
}

static void measure_partner(const FloBendSheet *sheet, uint32_t number, const double across[2],
                            FloBendSide *side) {
  double h1, y1, h2, y2, l = side->length;
  FloHinge hinge = hinge_between(sheet, number, side->partner);
  find_foot(hinge.a, hinge.b, hinge.p, &h1, &y1);
  find_foot(hinge.a, hinge.b, hinge.q, &h2, &y2);
  double along = -y1 * (l - y1) / (2 * h1) - y2 * (l - y2) / (2 * h2);
  turn_row(across, (h1 + h2) / 2, y2 - y1, along, side->free);
  side->rest = flo_hinge_angle(&hinge);
}

static void measure_side(const FloBendSheet *sheet, const FloFlat *flat, uint32_t number) {
  FloBendSide *side = &sheet->sides[number];
  const double *a = flat->corners[number % 3], *b = flat->corners[(number % 3 + 1) % 3];
  double x = b[0] - a[0], y = b[1] - a[1], h, foot;
  side->length = sqrt(x * x + y * y);
  double across[2] = {y / side->length, -x / side->length};
  vec_set(side->normal, across[0] * across[0], across[1] * across[1], 2 * across[0] * across[1]);
  find_foot(point(sheet, start_of(sheet, number)), point(sheet, end_of(sheet, number)),
            point(sheet, far_of(sheet, number)), &h, &foot);
  turn_row(across, h / 2, side->length / 2 - foot, -foot * (side->length - foot) / (2 * h), side->own);
  if (side->partner != FLO_BEND_NONE) measure_partner(sheet, number, across, side);
}

// ---- Fit ----

static void apply_stiffness(const FloSheet *sheet, const double k[3], double out[3]) {
  double nu = sheet->poisson;
  out[0] = sheet->bend * (k[0] + nu * k[1]);
  out[1] = sheet->bend * (k[1] + nu * k[0]);
  out[2] = sheet->bend * (1 - nu) / 2 * k[2];
}

// Whether a triangle does not bend. `fixed` may be NULL.
static bool is_rigid(const FloBendSheet *sheet, const bool *fixed, size_t triangle) {
  const uint32_t *v = sheet->triangles + 3 * triangle;
  return fixed && fixed[v[0]] && fixed[v[1]] && fixed[v[2]];
}

// One row of B: the angle of a hinge; at a free edge the moment, which is zero.
static void find_row(const FloBendSheet *sheet, const FloBendSide *side, const bool *fixed, double row[3]) {
  if (side->partner == FLO_BEND_NONE) {
    apply_stiffness(&sheet->sheet, side->normal, row);
    vec_scale(row, side->length / sheet->sheet.bend, row);
  } else {
    vec_copy(is_rigid(sheet, fixed, side->partner / 3) ? side->own : side->free, row);
  }
}

// fit[k]: the curvature for an angle of one at side k; zeros at free edges. It is (B^T B)^-1 B^T, which is
// B^-1 but for the slack.
static void find_fit(const FloBendSheet *sheet, size_t triangle, const bool *fixed, double fit[3][3]) {
  double rows[3][3], square[9] = {0}, factors[9];
  const FloBendSide *sides = sheet->sides + 3 * triangle;
  for (int k = 0; k < 3; ++k) {
    find_row(sheet, &sides[k], fixed, rows[k]);
    for (int i = 0; i < 9; ++i) square[i] += rows[k][i / 3] * rows[k][i % 3];
  }
  double slack = SLACK * (square[0] + square[4] + square[8]);
  for (int i = 0; i < 9; i += 4) square[i] += slack;
  memset(fit, 0, 9 * sizeof(double));
  if (!flo_dense_factorise(3, square, factors)) return;
  for (int k = 0; k < 3; ++k)
    if (sides[k].partner != FLO_BEND_NONE) flo_dense_solve(3, factors, rows[k], fit[k]);
}

// ---- Even meshes ----

// The moment at side k that the fit of its triangle gives for a constant curvature.
static double fitted_moment(const FloBendSheet *sheet, uint32_t number, const double curvature[3]) {
  double fit[3][3], moment[3];
  find_fit(sheet, number / 3, NULL, fit);
  apply_stiffness(&sheet->sheet, curvature, moment);
  return sheet->areas[number / 3] * vec_dot(fit[number % 3], moment);
}

static bool has_free_edge(const FloBendSheet *sheet, uint32_t triangle) {
  const FloBendSide *sides = sheet->sides + 3 * (size_t)triangle;
  return sides[0].partner == FLO_BEND_NONE || sides[1].partner == FLO_BEND_NONE ||
         sides[2].partner == FLO_BEND_NONE;
}

// Whether the moments of both triangles at an edge add up to that of a constant moment, for the curvature
// across the edge, along it, and mixed.
static bool is_side_even(const FloBendSheet *sheet, uint32_t number) {
  const FloBendSide *side = &sheet->sides[number], *other = &sheet->sides[side->partner];
  double n[3], m[3];
  for (int k = 0; k < 3; ++k) {
    // Curvatures n n^T, t t^T and n t^T + t n^T in the axes of both triangles.
    vec_copy(side->normal, n), vec_copy(other->normal, m);
    if (k == 1) vec_set(n, n[1], n[0], -n[2]), vec_set(m, m[1], m[0], -m[2]);
    if (k == 2) vec_set(n, -n[2], n[2], 2 * (n[0] - n[1])), vec_set(m, -m[2], m[2], 2 * (m[0] - m[1]));
    double moment[3];
    apply_stiffness(&sheet->sheet, n, moment);
    double wanted = side->length * vec_dot(moment, side->normal);
    double sum = fitted_moment(sheet, number, n) + fitted_moment(sheet, side->partner, m);
    if (fabs(sum - wanted) > EVEN * side->length * sheet->sheet.bend) return false;
  }
  return true;
}

// Edges near the border tell nothing, so most edges must be away from it.
static bool is_sheet_even(const FloBendSheet *sheet) {
  size_t n_seen = 0;
  for (uint32_t s = 0; s < 3 * sheet->n; ++s) {
    uint32_t partner = sheet->sides[s].partner;
    if (partner == FLO_BEND_NONE) continue;
    if (sheet->sides[partner].partner != s) return false;
    if (has_free_edge(sheet, s / 3) || has_free_edge(sheet, partner / 3)) continue;
    if (!is_side_even(sheet, s)) return false;
    n_seen++;
  }
  return 2 * n_seen > 3 * sheet->n;
}

FloStatus flo_bend_measure(FloBendSheet *sheet, FloMemory *memory, FloError *error) {
  FLO_TRY(find_partners(sheet, memory, error));
  for (uint32_t t = 0; t < sheet->n; ++t) {
    FloFlat flat;
    flo_flatten(sheet->x, sheet->triangles + 3 * t, (double[]){1, 1}, &flat);
    sheet->areas[t] = flat.area;
    for (uint32_t k = 0; k < 3; ++k) measure_side(sheet, &flat, 3 * t + k);
  }
  sheet->is_even = is_sheet_even(sheet);
  return FLO_OK;
}

// ---- Patches ----

// Visits the hinges of a patch in their order: the own ones, then those of neighbours.
typedef struct Walk {
  uint32_t sides[FLO_BEND_HINGES];
  int n;
  int own[3];       // the hinge of each own side; -1: none
  int beside[3][3]; // the hinge of each side of each neighbour; -1: none
} Walk;

// Whether the two triangles of a side chose each other.
static bool is_mutual(const FloBendSheet *sheet, uint32_t side) {
  uint32_t partner = sheet->sides[side].partner;
  return partner != FLO_BEND_NONE && sheet->sides[partner].partner == side;
}

static void walk_neighbour(const FloBendSheet *sheet, uint32_t side, int k, Walk *walk) {
  uint32_t partner = sheet->sides[side].partner;
  for (uint32_t i = 0; i < 3; ++i) {
    uint32_t other = 3 * (partner / 3) + i;
    if (other == partner) walk->beside[k][i] = walk->own[k];
    if (other == partner || sheet->sides[other].partner == FLO_BEND_NONE) continue;
    walk->beside[k][i] = walk->n, walk->sides[walk->n++] = other;
  }
}

static void walk_hinges(const FloBendSheet *sheet, size_t triangle, Walk *walk) {
  memset(walk, -1, sizeof *walk);
  walk->n = 0;
  uint32_t first = (uint32_t)(3 * triangle);
  for (uint32_t k = 0; k < 3; ++k) {
    if (sheet->sides[first + k].partner == FLO_BEND_NONE) continue;
    walk->own[k] = walk->n, walk->sides[walk->n++] = first + k;
  }
  for (int k = 0; !sheet->is_even && k < 3; ++k)
    if (is_mutual(sheet, first + (uint32_t)k)) walk_neighbour(sheet, first + (uint32_t)k, k, walk);
}

static uint8_t place_of(uint32_t *vertices, size_t *n, uint32_t vertex) {
  size_t k = 0;
  while (k < *n && vertices[k] != vertex) k++;
  if (k == *n) vertices[(*n)++] = vertex;
  return (uint8_t)k;
}

size_t flo_bend_gather(const FloBendSheet *sheet, size_t triangle, FloBendPatch *patch, uint32_t *vertices) {
  Walk walk;
  size_t n = 0;
  walk_hinges(sheet, triangle, &walk);
  for (int k = 0; k < 3; ++k) place_of(vertices, &n, sheet->triangles[3 * triangle + (size_t)k]);
  patch->n = walk.n;
  for (int h = 0; h < walk.n; ++h) {
    const FloBendSide *side = &sheet->sides[walk.sides[h]];
    uint32_t corners[4] = {start_of(sheet, walk.sides[h]), end_of(sheet, walk.sides[h]),
                           far_of(sheet, walk.sides[h]), far_of(sheet, side->partner)};
    patch->rest[h] = side->rest;
    for (int i = 0; i < 4; ++i) patch->corners[h][i] = place_of(vertices, &n, corners[i]);
  }
  return n;
}

// ---- Weights ----

// Curvature as a sum over hinges.
typedef double Curvature[FLO_BEND_HINGES][3];
// An angle as a sum over hinges.
typedef double Angle[FLO_BEND_HINGES];

static void find_own_fit(const FloBendSheet *sheet, size_t triangle, const bool *fixed, const Walk *walk,
                         Curvature fitted) {
  double fit[3][3];
  find_fit(sheet, triangle, fixed, fit);
  memset(fitted, 0, sizeof(Curvature));
  for (int k = 0; k < 3; ++k)
    if (walk->own[k] >= 0) vec_copy(fit[k], fitted[walk->own[k]]);
}

// phi at side k by the fit of the own triangle.
static void own_angle(const FloBendSide *side, Curvature fitted, int n, Angle phi) {
  for (int h = 0; h < n; ++h) phi[h] = vec_dot(side->own, fitted[h]);
}

// phi at side k as the fit of the neighbour says: what it leaves of the hinge's angle. A neighbour whose
// triangle is the other way round counts angles with the other sign.
static void beside_angle(const FloBendSheet *sheet, uint32_t number, int k, const bool *fixed,
                         const Walk *walk, Angle phi) {
  uint32_t partner = sheet->sides[number].partner;
  double fit[3][3], sign = start_of(sheet, partner) == start_of(sheet, number) ? -1 : 1;
  find_fit(sheet, partner / 3, fixed, fit);
  memset(phi, 0, sizeof(Angle));
  phi[walk->own[k]] = 1;
  for (uint32_t i = 0; i < 3; ++i) {
    int hinge = walk->beside[k][i];
    double part = vec_dot(sheet->sides[partner].own, fit[i]);
    if (hinge >= 0) phi[hinge] -= hinge == walk->own[k] ? part : sign * part;
  }
}

// The angle phi between the triangle and the direction at one of its edges that is not free.
static void find_phi(const FloBendSheet *sheet, uint32_t number, const bool *fixed, const Walk *walk,
                     Curvature fitted, Angle phi) {
  const FloBendSide *side = &sheet->sides[number];
  int k = (int)(number % 3);
  Angle other;
  own_angle(side, fitted, walk->n, phi);
  if (is_rigid(sheet, fixed, side->partner / 3)) {
    for (int h = 0; h < walk->n; ++h) phi[h] = h == walk->own[k];
  } else if (is_mutual(sheet, number)) {
    beside_angle(sheet, number, k, fixed, walk, other);
    for (int h = 0; h < walk->n; ++h) phi[h] = (phi[h] + other[h]) / 2;
  }
}

// Changes a curvature by those in the span of the given ones, so that it has the least energy.
static void relax(const FloSheet *sheet, double free[3][3], int n_free, double k[3]) {
  for (int i = 0; i < n_free; ++i) {
    double moment[3];
    apply_stiffness(sheet, free[i], moment);
    vec_add_scaled(k, free[i], -vec_dot(moment, k) / vec_dot(moment, free[i]), k);
  }
}

// The direction at free edges is such that there is no moment.
static void free_edges(const FloBendSheet *sheet, size_t triangle, const Walk *walk, Curvature mean) {
  double free[3][3];
  int n_free = 0;
  for (size_t s = 3 * triangle; s < 3 * triangle + 3; ++s) {
    if (sheet->sides[s].partner != FLO_BEND_NONE) continue;
    vec_copy(sheet->sides[s].normal, free[n_free]);
    relax(&sheet->sheet, free, n_free, free[n_free]);
    n_free++;
  }
  for (int h = 0; h < walk->n; ++h) relax(&sheet->sheet, free, n_free, mean[h]);
}

static void find_mean(const FloBendSheet *sheet, size_t triangle, const bool *fixed, const Walk *walk,
                      Curvature fitted, Curvature mean) {
  memset(mean, 0, sizeof(Curvature));
  for (size_t s = 3 * triangle; s < 3 * triangle + 3; ++s) {
    if (sheet->sides[s].partner == FLO_BEND_NONE) continue;
    Angle phi = {0};
    find_phi(sheet, (uint32_t)s, fixed, walk, fitted, phi);
    double share = sheet->sides[s].length / sheet->areas[triangle];
    for (int h = 0; h < walk->n; ++h)
      vec_add_scaled(mean[h], sheet->sides[s].normal, share * phi[h], mean[h]);
  }
  free_edges(sheet, triangle, walk, mean);
}

// q += factor K^T D K.
static void add_form(const FloSheet *sheet, Curvature k, double factor, FloBendPatch *patch) {
  for (int i = 0; i < patch->n; ++i) {
    double moment[3];
    apply_stiffness(sheet, k[i], moment);
    for (int j = 0; j < patch->n; ++j) patch->q[patch->n * i + j] += factor * vec_dot(moment, k[j]);
  }
}

void flo_bend_weigh(const FloBendSheet *sheet, size_t triangle, const bool *fixed, FloBendPatch *patch) {
  Walk walk;
  Curvature fitted, mean;
  memset(patch->q, 0, sizeof patch->q);
  if (is_rigid(sheet, fixed, triangle)) return;
  walk_hinges(sheet, triangle, &walk);
  find_own_fit(sheet, triangle, fixed, &walk, fitted);
  double area = sheet->areas[triangle];
  if (sheet->is_even) {
    add_form(&sheet->sheet, fitted, area, patch);
    return;
  }
  find_mean(sheet, triangle, fixed, &walk, fitted, mean);
  add_form(&sheet->sheet, mean, area, patch);
  for (int h = 0; h < walk.n; ++h) vec_sub(fitted[h], mean[h], fitted[h]);
  add_form(&sheet->sheet, fitted, DIFFERENCE * area, patch);
}
