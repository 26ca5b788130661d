#include "render/waterline.h"

#include "base/vecmath.h"

#include <stdlib.h>
#include <string.h>

// In spacings. A vertex nearer to a wall than this lies at the wall if its normal also points that way. A
// vertex beside it is moved to the edge from as far as the cuts of marching cubes and the smoothing reach.
static const double nearest = 0.4;
static const float edge_reach = 0.9f;
static const float still = 1e-3f;      // a vertex that moved by less was only rounded
static const float least_look = 0.6f;  // cosine between a vertex's normal and the wall's
static const float same_wall = 0.8f;   // cosine between two normals of one wall, which may be curved
static const float most_turned = 0.5f; // limit that excludes the far side of a film, which is no edge
enum { MAX_WALLS = 3, SMOOTHING = 12, FOLD_ROUNDS = 6, FREE = MAX_WALLS };

// A vertex, and the walls that it lies at.
typedef struct Place {
  V3 point, normal;
  V3 start;            // where the mesh has it
  V3 walls[MAX_WALLS]; // directions into them
  float offsets[MAX_WALLS];
  int n_walls;
  bool is_at_wall; // it lay at the first wall from the beginning, so it is not part of a waterline
} Place;

typedef struct Work {
  const FloMesh *mesh;
  float reach, still;  // [m]
  size_t memory_limit; // [bytes] 0: none
  Place *places;
  V3 *sums;                      // of each vertex
  uint32_t *counts;              // of each vertex
  uint32_t (*numbers)[FREE + 1]; // numbers of each vertex as part of its walls and of the free surface
} Work;

static const uint32_t *corners_of(const Work *work, size_t triangle) {
  return flo_mesh_triangle(work->mesh, triangle);
}

// ---- Flat at walls ----

static void add_wall(Place *place, V3 wall, float offset) {
  for (int k = 0; k < place->n_walls; k++)
    if (v3_dot(place->walls[k], wall) > same_wall) return;
  if (place->n_walls == MAX_WALLS) return;
  place->walls[place->n_walls] = wall, place->offsets[place->n_walls++] = offset;
}

// Moves a vertex to all of its walls. A step to one wall leaves the others unless they are perpendicular, so
// several rounds are made.
static void move_to_walls(Place *place) {
  for (int round = 0; round < 4; round++)
    for (int k = 0; k < place->n_walls; k++) {
      const V3 wall = place->walls[k];
      place->point = v3_mad(place->point, wall, place->offsets[k] - v3_dot(place->point, wall));
    }
}

// Finds the wall of a vertex and moves the vertex to it. Otherwise the lattice of the particles would be
// visible as ripples in a glass pane.
static void find_wall(const FloWalls *walls, const double point[3], Place *place) {
  double inward[3] = {0}, depth = flo_walls_depth(walls, point, NULL);
  if (!(fabs(depth) < nearest * walls->spacing)) return;
  flo_walls_depth(walls, point, inward);
  const V3 wall = v3(-(float)inward[0], -(float)inward[1], -(float)inward[2]);
  if (!(v3_dot(wall, place->normal) >= least_look)) return;
  add_wall(place, wall, v3_dot(place->point, wall) - (float)depth);
  place->is_at_wall = true;
  move_to_walls(place);
}

static void find_walls(Work *work, const FloSurfaceMesh *surface, const FloWalls *walls, int threads) {
  const size_t n = work->mesh->n_vertices;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t k = 0; k < n; k++) {
    const double *p = flo_mesh_vertex(work->mesh, k);
    const float *normal = flo_surface_normal(surface, k);
    const V3 start = v3((float)p[0], (float)p[1], (float)p[2]);
    work->places[k] = (Place){.point = start, .start = start, .normal = v3(normal[0], normal[1], normal[2])};
    find_wall(walls, p, &work->places[k]);
  }
}

// ---- Sharp at edges ----

// An order of walls: of two vertices at an edge always the one on the same side moves.
static float rank_of(V3 wall) { return v3_dot(wall, v3(0.61f, 0.73f, 0.31f)); }

// A triangle between two surfaces is the cut of an edge: one of its vertices belongs to both surfaces.
static void join_edge(const Work *work, Place *a, const Place *b) {
  if (!b->is_at_wall) return;
  const V3 wall = b->walls[0];
  const float offset = b->offsets[0];
  if (a->is_at_wall && rank_of(a->walls[0]) >= rank_of(wall)) return;
  if (v3_dot(a->normal, wall) < -most_turned) return;
  if (!(fabsf(offset - v3_dot(a->point, wall)) < work->reach)) return;
  add_wall(a, wall, offset);
}

// The wall of a place that is also one of the other; -1: none.
static int shared_wall(const Place *place, V3 wall) {
  for (int k = 0; k < place->n_walls; k++)
    if (v3_dot(place->walls[k], wall) > same_wall) return k;
  return -1;
}

// The wall that both lie at; -1: they have none in common.
static int common_wall(const Place *a, const Place *b) {
  for (int k = 0; k < a->n_walls; k++)
    if (shared_wall(b, a->walls[k]) >= 0) return k;
  return -1;
}

// Where two edges meet, such as a waterline and a corner of a tank, a triangle may remain between vertices at
// different walls.
static void close_corner(const Work *work, Place *a, Place *b) {
  if (a->n_walls == 0 || b->n_walls == 0 || common_wall(a, b) >= 0) return;
  Place *low = rank_of(a->walls[0]) < rank_of(b->walls[0]) ? a : b;
  const Place *high = low == a ? b : a;
  if (!(fabsf(high->offsets[0] - v3_dot(low->point, high->walls[0])) < work->reach)) return;
  add_wall(low, high->walls[0], high->offsets[0]);
}

static void close_corners(Work *work) {
  for (size_t t = 0; t < work->mesh->n_triangles; t++) {
    const uint32_t *c = corners_of(work, t);
    Place *p = work->places;
    if (!(p[c[0]].is_at_wall || p[c[1]].is_at_wall || p[c[2]].is_at_wall)) continue;
    for (int k = 0; k < 3; k++) close_corner(work, &p[c[k]], &p[c[(k + 1) % 3]]);
  }
}

static void join_edges(Work *work) {
  for (size_t t = 0; t < work->mesh->n_triangles; t++)
    for (int k = 0; k < 3; k++) {
      const uint32_t *c = corners_of(work, t);
      join_edge(work, &work->places[c[k]], &work->places[c[(k + 1) % 3]]);
      join_edge(work, &work->places[c[(k + 1) % 3]], &work->places[c[k]]);
    }
  close_corners(work);
  for (size_t k = 0; k < work->mesh->n_vertices; k++) move_to_walls(&work->places[k]);
}

// ---- The waterline ----

static bool is_waterline(const Place *place) { return !place->is_at_wall && place->n_walls > 0; }

// Whether a vertex may move towards another: the other must lie at all surfaces of this one.
static bool is_guide(const Place *place, const Place *other) {
  if (place->n_walls == 0 || (is_waterline(place) && !is_waterline(other))) return false;
  for (int k = 0; k < place->n_walls; k++)
    if (shared_wall(other, place->walls[k]) < 0) return false;
  return true;
}

static void add_guide(Work *work, uint32_t vertex, uint32_t other) {
  if (!is_guide(&work->places[vertex], &work->places[other])) return;
  work->sums[vertex] = v3_add(work->sums[vertex], work->places[other].point);
  work->counts[vertex]++;
}

static void add_guides(Work *work) {
  memset(work->sums, 0, work->mesh->n_vertices * sizeof *work->sums);
  memset(work->counts, 0, work->mesh->n_vertices * sizeof *work->counts);
  for (size_t t = 0; t < work->mesh->n_triangles; t++)
    for (int k = 0; k < 3; k++) {
      const uint32_t a = corners_of(work, t)[k], b = corners_of(work, t)[(k + 1) % 3];
      add_guide(work, a, b);
      add_guide(work, b, a);
    }
}

// The waterline still has the steps of the lattice, so it is smoothed as a curve. Vertices below it at the
// wall follow; otherwise they would stick out above it.
static void smooth_waterline(Work *work) {
  for (int round = 0; round < SMOOTHING; round++) {
    add_guides(work);
    for (size_t k = 0; k < work->mesh->n_vertices; k++) {
      if (work->counts[k] < 2) continue;
      Place *place = &work->places[k];
      place->point = v3_mix(place->point, v3_scale(work->sums[k], 1 / (float)work->counts[k]), 0.5f);
      move_to_walls(place);
    }
  }
}

// ---- Folded triangles ----

// Whether a whole triangle lies at one of this corner's walls. `parts` receives the number of this wall for
// every corner.
static bool find_parts(const Work *work, size_t t, int corner, int parts[3]) {
  const uint32_t *c = corners_of(work, t);
  const int next = (corner + 1) % 3, last = (corner + 2) % 3;
  const Place *place = &work->places[c[corner]];
  for (int k = 0; k < place->n_walls; k++) {
    parts[corner] = k;
    parts[next] = shared_wall(&work->places[c[next]], place->walls[k]);
    parts[last] = shared_wall(&work->places[c[last]], place->walls[k]);
    if (parts[next] >= 0 && parts[last] >= 0) return true;
  }
  return false;
}

// Whether a triangle lies at a wall. `parts` receives the number of this wall for every corner, or FREE. All
// corners are tested together: at a curved wall two corners may share it with the third but not with each
// other.
static bool is_triangle_at_wall(const Work *work, size_t t, int parts[3]) {
  for (int corner = 0; corner < 3; corner++)
    if (find_parts(work, t, corner, parts)) return true;
  parts[0] = parts[1] = parts[2] = FREE;
  return false;
}

static V3 face_of(const Work *work, const uint32_t corners[3]) {
  const V3 a = work->places[corners[0]].point, b = work->places[corners[1]].point,
           c = work->places[corners[2]].point;
  return v3_cross(v3_sub(b, a), v3_sub(c, a));
}

static V3 face_at_start(const Work *work, const uint32_t corners[3]) {
  const V3 a = work->places[corners[0]].start, b = work->places[corners[1]].start,
           c = work->places[corners[2]].start;
  return v3_cross(v3_sub(b, a), v3_sub(c, a));
}

static size_t take_back_triangle(Work *work, const uint32_t corners[3]) {
  size_t n = 0;
  for (int k = 0; k < 3; k++) {
    Place *place = &work->places[corners[k]];
    if (!is_waterline(place)) continue;
    place->point = place->start, place->n_walls = 0;
    n++;
  }
  return n;
}

// A wave that breaks against a wall may be folded by these moves. Rays would take the back of a triangle for
// the inside of water, which makes black dots. There the waterline stays as it was.
static void take_back_folds(Work *work) {
  for (int round = 0; round < FOLD_ROUNDS; round++) {
    size_t n = 0;
    for (size_t t = 0; t < work->mesh->n_triangles; t++) {
      const uint32_t *c = corners_of(work, t);
      int parts[3];
      if (is_triangle_at_wall(work, t, parts)) continue;
      if (v3_dot(face_of(work, c), face_at_start(work, c)) < 0) n += take_back_triangle(work, c);
    }
    if (n == 0) return;
  }
}

// ---- Normals ----

static bool is_triangle_moved(const Work *work, const uint32_t corners[3]) {
  for (int k = 0; k < 3; k++) {
    const Place *place = &work->places[corners[k]];
    if (v3_length(v3_sub(place->point, place->start)) > work->still) return true;
  }
  return false;
}

// Computes new normals of the free surface around moved vertices, without the triangles at walls.
static void turn_normals(Work *work) {
  const size_t n = work->mesh->n_vertices;
  memset(work->sums, 0, n * sizeof *work->sums);
  memset(work->counts, 0, n * sizeof *work->counts);
  for (size_t t = 0; t < work->mesh->n_triangles; t++) {
    const uint32_t *c = corners_of(work, t);
    int parts[3];
    if (is_triangle_at_wall(work, t, parts)) continue;
    const V3 face = face_of(work, c);
    for (int k = 0; k < 3; k++) {
      work->sums[c[k]] = v3_add(work->sums[c[k]], face);
      work->counts[c[k]] += is_triangle_moved(work, c);
    }
  }
  for (size_t k = 0; k < n; k++)
    if (work->counts[k] > 0 && v3_length(work->sums[k]) > 0)
      work->places[k].normal = v3_normalize(work->sums[k]);
}

// ---- What is drawn ----

static void number_corner(Work *work, uint32_t vertex, int part, FloWaterline *out) {
  uint32_t *number = &work->numbers[vertex][part];
  const Place *place = &work->places[vertex];
  if (*number != UINT32_MAX) return;
  *number = (uint32_t)out->n_vertices++;
  if (!out->vertices) return;
  out->vertices[*number] = place->point;
  out->normals[*number] = part == FREE ? place->normal : place->walls[part];
  out->origins[*number] = vertex;
}

// A triangle at a wall that was turned over by the moves is turned back.
static void write_triangle(const Work *work, size_t t, const int parts[3], FloWaterline *out) {
  const uint32_t *c = corners_of(work, t);
  uint32_t *to = out->triangles[t];
  for (int k = 0; k < 3; k++) to[k] = work->numbers[c[k]][parts[k]];
  if (parts[0] == FREE || v3_dot(face_of(work, c), work->places[c[0]].walls[parts[0]]) >= 0) return;
  const uint32_t swapped = to[1];
  to[1] = to[2], to[2] = swapped;
}

// Once to count the vertices, once more to write them.
static void write_mesh(Work *work, FloWaterline *out) {
  memset(work->numbers, 0xff, work->mesh->n_vertices * sizeof *work->numbers);
  out->n_vertices = 0, out->n_triangles = work->mesh->n_triangles;
  for (size_t t = 0; t < work->mesh->n_triangles; t++) {
    int parts[3];
    is_triangle_at_wall(work, t, parts);
    for (int k = 0; k < 3; k++) number_corner(work, corners_of(work, t)[k], parts[k], out);
    if (out->triangles) write_triangle(work, t, parts, out);
  }
}

// ---- All together ----

static FloStatus out_of_memory(const Work *work, FloError *error) {
  return flo_fail(error, FLO_NO_MEMORY, "no memory to draw a surface of %zu triangles",
                  work->mesh->n_triangles);
}

// Fails if the mesh and all arrays of this file exceed the limit. The water's own tints are allocated later
// and need less.
static FloStatus check_memory(const Work *work, size_t n_drawn, FloError *error) {
  const size_t each =
                   sizeof *work->places + sizeof *work->sums + sizeof *work->counts + sizeof *work->numbers,
               drawn = 2 * sizeof(V3) + sizeof(uint32_t), triangle = sizeof(uint32_t[3]);
  const double gigabyte = 1e9,
               needed = (double)work->mesh->memory->bytes + (double)work->mesh->n_vertices * (double)each +
                        (double)n_drawn * (double)drawn + (double)work->mesh->n_triangles * (double)triangle;
  if (work->memory_limit == 0 || needed <= (double)work->memory_limit) return FLO_OK;
  return flo_fail(
      error, FLO_NO_MEMORY,
      "a surface of %zu triangles needs at least %.3g GB of memory to be drawn, and %.3g GB is the "
      "limit",
      work->mesh->n_triangles, needed / gigabyte, (double)work->memory_limit / gigabyte);
}

// Every vertex is drawn at least once.
static FloStatus allocate_work(Work *work, FloError *error) {
  const size_t n = work->mesh->n_vertices + 1;
  FLO_TRY(check_memory(work, work->mesh->n_vertices, error));
  work->places = malloc(n * sizeof *work->places);
  work->sums = malloc(n * sizeof *work->sums);
  work->counts = malloc(n * sizeof *work->counts);
  work->numbers = malloc(n * sizeof *work->numbers);
  if (work->places && work->sums && work->counts && work->numbers) return FLO_OK;
  return out_of_memory(work, error);
}

// The ray tracer reads one vertex past the last.
static FloStatus allocate_mesh(const Work *work, FloWaterline *out, FloError *error) {
  const size_t n = out->n_vertices;
  FLO_TRY(check_memory(work, n, error));
  out->vertices = malloc((n + 2) * sizeof *out->vertices);
  out->normals = malloc((n + 1) * sizeof *out->normals);
  out->origins = malloc((n + 1) * sizeof *out->origins);
  out->triangles = malloc((out->n_triangles + 1) * sizeof *out->triangles);
  if (out->vertices && out->normals && out->origins && out->triangles) return FLO_OK;
  return out_of_memory(work, error);
}

static FloStatus lay(Work *work, const FloSurfaceMesh *surface, const FloWalls *walls, int threads,
                     FloWaterline *out, FloError *error) {
  FLO_TRY(allocate_work(work, error));
  find_walls(work, surface, walls, threads);
  join_edges(work);
  smooth_waterline(work);
  take_back_folds(work);
  turn_normals(work);
  write_mesh(work, out);
  FLO_TRY(allocate_mesh(work, out, error));
  write_mesh(work, out);
  return FLO_OK;
}

FloStatus flo_waterline_create(const FloSurfaceMesh *mesh, const FloWalls *walls, size_t memory_limit,
                               int threads, FloWaterline *out, FloError *error) {
  const float spacing = (float)walls->spacing;
  Work work = {.mesh = &mesh->mesh,
               .reach = edge_reach * spacing,
               .still = still * spacing,
               .memory_limit = memory_limit};
  *out = (FloWaterline){0};
  FloStatus status = lay(&work, mesh, walls, threads, out, error);
  free(work.places);
  free(work.sums);
  free(work.counts);
  free(work.numbers);
  return status;
}

void flo_waterline_destroy(FloWaterline *out) {
  free(out->vertices);
  free(out->normals);
  free(out->origins);
  free(out->triangles);
  *out = (FloWaterline){0};
}
