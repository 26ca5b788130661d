// Repairs what can be repaired without inventing surface.
#include "base/vecmath.h"
#include "geometry/bvh.h"
#include "geometry/mesh.h"

#include <math.h>
#include <string.h>

// ---- Repair: dropping triangles ----

#define NO_TRIANGLE UINT32_MAX

enum { KEPT, DROPPED };

static void drop_marked(FloMesh *mesh, const unsigned char *marks) {
  size_t n_kept = 0;
  for (size_t t = 0; t < mesh->n_triangles; ++t)
    if (marks[t] == KEPT)
      memmove(flo_mesh_triangle(mesh, n_kept++), flo_mesh_triangle(mesh, t), 3 * sizeof(uint32_t));
  mesh->n_triangles = n_kept;
}

// The corners in their order of rotation, the smallest number first. Equal triangles get the same result.
static void canonical_corners(const FloMesh *mesh, size_t triangle, uint32_t out[3]) {
  const uint32_t *t = flo_mesh_triangle(mesh, triangle);
  int first = t[1] < t[0] ? (t[2] < t[1] ? 2 : 1) : (t[2] < t[0] ? 2 : 0);
  for (int k = 0; k < 3; ++k) out[k] = t[(first + k) % 3];
}

static bool has_corners(const FloMesh *mesh, size_t triangle, const uint32_t corners[3]) {
  uint32_t own[3];
  canonical_corners(mesh, triangle, own);
  return memcmp(own, corners, sizeof own) == 0;
}

static size_t hash_corners(const uint32_t corners[3]) {
  uint64_t hash = 0;
  for (int k = 0; k < 3; ++k) {
    hash = (hash ^ corners[k]) * 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 29;
  }
  return (size_t)hash;
}

// The slot of a table (open addressing) that holds the triangle with these corners, or the empty slot for it.
static uint32_t *find_triangle(const FloMesh *mesh, uint32_t *table, size_t n_slots,
                               const uint32_t corners[3]) {
  size_t slot = hash_corners(corners) & (n_slots - 1);
  while (table[slot] != NO_TRIANGLE && !has_corners(mesh, table[slot], corners))
    slot = (slot + 1) & (n_slots - 1);
  return &table[slot];
}

static void mark_doubled(const FloMesh *mesh, unsigned char *marks, uint32_t *table, size_t n_slots) {
  memset(table, 0xff, n_slots * sizeof *table);
  for (size_t t = 0; t < mesh->n_triangles; ++t) {
    uint32_t corners[3];
    canonical_corners(mesh, t, corners);
    uint32_t *slot = find_triangle(mesh, table, n_slots, corners);
    bool is_new = *slot == NO_TRIANGLE;
    if (is_new) *slot = (uint32_t)t;
    marks[t] = is_new && !flo_mesh_has_twin_corners(mesh, t) ? KEPT : DROPPED;
  }
}

// Scores each triangle: the number of neighbouring sides that run against its own, less those that run along
// with them. Of two triangles with the same corners but opposite sense only one fits its neighbours.
static FloStatus count_agreeing(const FloMesh *mesh, int32_t *scores, FloError *error) {
  FloBuffer buffer = {0};
  FloStatus status = flo_mesh_sort_sides(mesh, &buffer, error);
  size_t n_sides = status == FLO_OK ? 3 * mesh->n_triangles : 0;
  const FloMeshSide *sides = buffer.data;
  const uint32_t *starts = mesh->triangles.data;
  memset(scores, 0, mesh->n_triangles * sizeof *scores);
  for (size_t first = 0, n; first < n_sides; first += n) {
    int32_t balance = 0; // sides forward less sides backward
    n = flo_mesh_count_sides(sides, n_sides, first);
    for (size_t k = first; k < first + n; ++k) balance += starts[sides[k].side] == sides[k].low ? 1 : -1;
    for (size_t k = first; k < first + n; ++k)
      scores[sides[k].side / 3] += starts[sides[k].side] == sides[k].low ? -balance : balance;
  }
  flo_buffer_free(mesh->memory, &buffer);
  return status;
}

// Marks doubled triangles that do not fit. Where two bodies share a face, both copies fit equally well, and
// both stay.
static void mark_misfits(const FloMesh *mesh, unsigned char *marks, const int32_t *scores, uint32_t *table,
                         size_t n_slots) {
  memset(marks, KEPT, mesh->n_triangles);
  memset(table, 0xff, n_slots * sizeof *table);
  for (size_t t = 0; t < mesh->n_triangles; ++t) {
    uint32_t corners[3];
    canonical_corners(mesh, t, corners);
    *find_triangle(mesh, table, n_slots, corners) = (uint32_t)t;
    const uint32_t turned[3] = {corners[0], corners[2], corners[1]};
    uint32_t opposite = *find_triangle(mesh, table, n_slots, turned);
    if (opposite == NO_TRIANGLE || scores[t] == scores[opposite]) continue;
    marks[scores[t] > scores[opposite] ? opposite : t] = DROPPED;
  }
}

static FloStatus drop_doubled(FloMesh *mesh, FloError *error) {
  size_t n_slots = 16;
  while (n_slots < 2 * mesh->n_triangles) n_slots *= 2;
  FloBuffer room = {0};
  size_t n = mesh->n_triangles, size = n_slots * sizeof(uint32_t) + n * (sizeof(int32_t) + 1);
  FLO_TRY(flo_buffer_reserve(mesh->memory, &room, size, 0, error));
  int32_t *scores = (int32_t *)((uint32_t *)room.data + n_slots);
  unsigned char *marks = (unsigned char *)(scores + n);
  mark_doubled(mesh, marks, room.data, n_slots);
  drop_marked(mesh, marks);
  FloStatus status = count_agreeing(mesh, scores, error);
  if (status == FLO_OK) {
    mark_misfits(mesh, marks, scores, room.data, n_slots);
    drop_marked(mesh, marks);
  }
  flo_buffer_free(mesh->memory, &room);
  return status;
}

// Drops triangles without area. One with three proper neighbours stays, because it closes the gap between a
// long edge and the two short ones beside it.
static FloStatus drop_degenerate(FloMesh *mesh, FloError *error) {
  size_t n_sides = 3 * mesh->n_triangles;
  FloBuffer buffer = {0}, room = {0};
  FloStatus status = flo_mesh_sort_sides(mesh, &buffer, error);
  if (status == FLO_OK) status = flo_buffer_reserve(mesh->memory, &room, mesh->n_triangles + 1, 0, error);
  if (status == FLO_OK) {
    const FloMeshSide *sides = buffer.data;
    unsigned char *marks = room.data;
    memset(marks, KEPT, mesh->n_triangles + 1);
    for (size_t first = 0, n; first < n_sides; first += n) {
      n = flo_mesh_count_sides(sides, n_sides, first);
      for (size_t k = first; n != 2 && k < first + n; ++k)
        if (flo_mesh_is_degenerate(mesh, sides[k].side / 3)) marks[sides[k].side / 3] = DROPPED;
    }
    drop_marked(mesh, marks);
  }
  flo_buffer_free(mesh->memory, &buffer);
  flo_buffer_free(mesh->memory, &room);
  return status;
}

// ---- Repair: one orientation for each patch ----

#define NO_SIDE UINT32_MAX

typedef struct Flood {
  FloMesh *mesh;
  uint32_t *opposite;  // for each side: the other side of its edge; NO_SIDE unless there are exactly two
  uint32_t *queue;     // triangles of the patch, in the order they were reached
  unsigned char *turn; // for each triangle: 0 not reached, 1 stays, 2 is turned
  size_t first, end;   // of the patch in the queue
} Flood;

static void pair_sides(const FloMeshSide *sides, size_t n_sides, uint32_t *opposite) {
  for (size_t first = 0, n; first < n_sides; first += n) {
    n = flo_mesh_count_sides(sides, n_sides, first);
    for (size_t k = first; k < first + n; ++k)
      opposite[sides[k].side] = n == 2 ? sides[2 * first + 1 - k].side : NO_SIDE;
  }
}

static uint32_t side_start(const FloMesh *mesh, uint32_t side) { return flo_mesh_triangle(mesh, 0)[side]; }

// Reaches the neighbours of a triangle. Returns false if one of them was reached before with the other
// orientation: the patch has only one side, like a Möbius strip.
static bool reach_neighbours(Flood *flood, uint32_t triangle) {
  bool is_orientable = true;
  for (uint32_t side = 3 * triangle; side < 3 * triangle + 3; ++side) {
    uint32_t other = flood->opposite[side];
    if (other == NO_SIDE) continue;
    // Two neighbours of the same orientation pass their common edge in opposite directions.
    bool is_alike = side_start(flood->mesh, side) != side_start(flood->mesh, other);
    unsigned char own = flood->turn[triangle], wanted = is_alike ? own : (unsigned char)(3 - own);
    unsigned char *there = &flood->turn[other / 3];
    if (*there == 0) flood->queue[flood->end++] = other / 3, *there = wanted;
    is_orientable &= *there == wanted;
  }
  return is_orientable;
}

// Turns the smaller number of triangles.
static void turn_patch(Flood *flood, size_t n_turned) {
  size_t n = flood->end - flood->first;
  unsigned char marked = n_turned * 2 > n ? 1 : 2;
  for (size_t k = flood->first; k < flood->end; ++k)
    if (flood->turn[flood->queue[k]] == marked) flo_mesh_turn_triangle(flood->mesh, flood->queue[k]);
}

static void orient_patch(Flood *flood, uint32_t seed) {
  bool is_orientable = true;
  size_t n_turned = 0;
  flood->first = flood->end;
  flood->queue[flood->end++] = seed, flood->turn[seed] = 1;
  for (size_t k = flood->first; k < flood->end; ++k) {
    is_orientable &= reach_neighbours(flood, flood->queue[k]);
    n_turned += flood->turn[flood->queue[k]] == 2;
  }
  if (is_orientable && n_turned) turn_patch(flood, n_turned);
}

static FloStatus orient_patches(FloMesh *mesh, const FloMeshSide *sides, FloError *error) {
  size_t n = mesh->n_triangles;
  FloBuffer room = {0};
  FLO_TRY(flo_buffer_reserve(mesh->memory, &room, 4 * n * sizeof(uint32_t) + n + 1, 0, error));
  uint32_t *numbers = room.data;
  Flood flood = {mesh, numbers, numbers + 3 * n, (unsigned char *)(numbers + 4 * n), 0, 0};
  pair_sides(sides, 3 * n, flood.opposite);
  memset(flood.turn, 0, n + 1);
  for (size_t t = 0; t < n; ++t)
    if (flood.turn[t] == 0) orient_patch(&flood, (uint32_t)t);
  flo_buffer_free(mesh->memory, &room);
  return FLO_OK;
}

// ---- Repair: parts that are inside out ----

enum { N_SAMPLES = 6 };

#define NO_PART UINT32_MAX

// Triangles connected by edges, if they form a closed surface. All triangles that do not form one part
// together.
typedef struct Part {
  double centre[3], area; // of the surface
  double volume;
  double low[3], high[3];      // of the box around it
  bool is_closed;              // every edge is passed as often in one direction as in the other
  int sign;                    // -1: it is inside out; 0: it has no inside
  int new_sign;                // the sign after the repair
  uint32_t depth;              // number of closed parts around it
  uint32_t samples[N_SAMPLES]; // its outermost triangles along each axis
  double extremes[N_SAMPLES];  // their coordinates along that axis
  int crossings;               // of the present ray with this part, signed
  bool is_touched;             // by the present ray
  int n_inside;                // samples of the present part that lie in this one
} Part;

typedef struct Parts {
  FloMesh *mesh;
  FloBvh tree;
  FloMesh boxes; // of the parts, each a triangle between its corners
  FloBvh box_tree;
  FloBuffer room, list;
  uint32_t *part_of;  // of each triangle
  uint32_t *touched;  // parts the present ray meets
  uint32_t *around;   // parts around the present one
  uint32_t *by_depth; // all parts, the outermost first
  Part *parts;
  size_t n_parts, n_touched, n_around;
  uint32_t own;   // the part whose surroundings are looked for
  double from[3]; // start of the ray
  double top;     // of all boxes that hold that of the present part
  size_t n_tests, most_tests;
} Parts;

static void join_over_edges(const FloMeshSide *sides, size_t n_sides, uint32_t *parent) {
  for (size_t first = 0, n; first < n_sides; first += n) {
    n = flo_mesh_count_sides(sides, n_sides, first);
    for (size_t k = 1; k < n; ++k)
      flo_mesh_join_sets(parent, sides[first].side / 3, sides[first + k].side / 3);
  }
}

// Whether a side runs from its low vertex to its high one. The sides were sorted before triangles were
// turned, so their order of corners is looked up.
static bool runs_forward(const FloMesh *mesh, const FloMeshSide *side) {
  const uint32_t *t = flo_mesh_triangle(mesh, side->side / 3);
  for (int k = 0; k < 3; ++k)
    if (t[k] == side->low && t[(k + 1) % 3] == side->high) return true;
  return false;
}

// Joins everything that is open into one part: the sheets of a torn body and the walls of its holes make
// sense only together. Returns one of its triangles, or the number of triangles if all is closed.
static size_t join_open(const FloMesh *mesh, const FloMeshSide *sides, uint32_t *parent) {
  size_t n_sides = 3 * mesh->n_triangles, open = mesh->n_triangles;
  for (size_t first = 0, n; first < n_sides; first += n) {
    size_t n_forward = 0;
    n = flo_mesh_count_sides(sides, n_sides, first);
    for (size_t k = first; k < first + n; ++k) n_forward += runs_forward(mesh, &sides[k]);
    if (n == 2 * n_forward) continue;
    if (open == mesh->n_triangles) open = sides[first].side / 3;
    flo_mesh_join_sets(parent, (uint32_t)open, sides[first].side / 3);
  }
  return open;
}

// Returns the open part, or NO_PART.
static uint32_t number_parts(Parts *p, const FloMeshSide *sides, uint32_t *parent) {
  size_t n = p->mesh->n_triangles;
  for (size_t t = 0; t < n; ++t) parent[t] = (uint32_t)t;
  join_over_edges(sides, 3 * n, parent);
  size_t open = join_open(p->mesh, sides, parent);
  for (size_t t = 0; t < n; ++t) {
    uint32_t root = flo_mesh_find_set(parent, (uint32_t)t);
    p->part_of[t] = root == t ? (uint32_t)p->n_parts++ : p->part_of[root];
  }
  return open < n ? p->part_of[open] : NO_PART;
}

static Part *part_at(const Parts *p, size_t triangle) { return &p->parts[p->part_of[triangle]]; }

static void triangle_centre(const FloMesh *mesh, size_t triangle, double out[3]) {
  vec_add(flo_mesh_corner(mesh, triangle, 0), flo_mesh_corner(mesh, triangle, 1), out);
  vec_add(out, flo_mesh_corner(mesh, triangle, 2), out);
  vec_scale(out, 1.0 / 3, out);
}

static void add_to_part(Part *part, const FloMesh *mesh, size_t triangle) {
  double normal[3], centre[3];
  flo_mesh_normal(mesh, triangle, normal);
  triangle_centre(mesh, triangle, centre);
  double area = vec_length(normal) / 2;
  for (int k = 0; k < 9; ++k) {
    double x = flo_mesh_corner(mesh, triangle, k / 3)[k % 3];
    part->low[k % 3] = fmin(part->low[k % 3], x), part->high[k % 3] = fmax(part->high[k % 3], x);
  }
  vec_add_scaled(part->centre, centre, area, part->centre);
  part->area += area;
  for (int k = 0; k < N_SAMPLES; ++k) {
    double outward = k % 2 ? centre[k / 2] : -centre[k / 2];
    if (outward > part->extremes[k]) part->extremes[k] = outward, part->samples[k] = (uint32_t)triangle;
  }
}

static void gather_parts(Parts *p, uint32_t open) {
  for (size_t k = 0; k < p->n_parts; ++k) {
    p->parts[k] = (Part){.is_closed = k != open};
    for (int i = 0; i < N_SAMPLES; ++i) p->parts[k].extremes[i] = -INFINITY;
    vec_set(p->parts[k].low, INFINITY, INFINITY, INFINITY);
    vec_set(p->parts[k].high, -INFINITY, -INFINITY, -INFINITY);
  }
  for (size_t t = 0; t < p->mesh->n_triangles; ++t) add_to_part(part_at(p, t), p->mesh, t);
  for (size_t k = 0; k < p->n_parts; ++k)
    if (p->parts[k].area > 0) vec_scale(p->parts[k].centre, 1 / p->parts[k].area, p->parts[k].centre);
}

// The sign of a part is that of its volume. The volume of an open part is taken about its middle and must not
// be small: a ball has 0.094 of its area to the power 3/2. A sheet of ground has no inside and stays as it
// is.
static void find_signs(Parts *p) {
  for (size_t t = 0; t < p->mesh->n_triangles; ++t) {
    Part *part = part_at(p, t);
    part->volume += flo_mesh_determinant(p->mesh, t, part->centre) / 6;
  }
  for (size_t k = 0; k < p->n_parts; ++k) {
    Part *part = &p->parts[k];
    double least = (part->is_closed ? 1e-9 : 0.02) * part->area * sqrt(part->area);
    part->sign = part->volume > least ? 1 : part->volume < -least ? -1 : 0;
    part->new_sign = part->sign;
  }
}

// How the side from a to b passes a vertical line, if it passes on its right seen from above: 1 or -1 by
// direction, 0 if it does not. Both triangles of an edge compute the same product, so a line through the edge
// meets exactly one of them.
static int pass_line(const FloMesh *mesh, uint32_t a, uint32_t b, const double line[3]) {
  const double *start = flo_mesh_vertex(mesh, a), *end = flo_mesh_vertex(mesh, b);
  bool is_upward = start[1] <= line[1] && end[1] > line[1];
  if (!is_upward && !(start[1] > line[1] && end[1] <= line[1])) return 0;
  const double *low = a < b ? start : end, *high = a < b ? end : start;
  double left = (high[0] - low[0]) * (line[1] - low[1]) - (line[0] - low[0]) * (high[1] - low[1]);
  if (a > b) left = -left;
  return is_upward ? left > 0 : -(left < 0);
}

// Counts a triangle above the point: 1 if the ray leaves through it, -1 if it enters.
static bool cross_triangle(uint32_t triangle, void *context) {
  Parts *p = context;
  Part *part = part_at(p, triangle);
  if (++p->n_tests > p->most_tests) return false;
  if (p->part_of[triangle] == p->own || part->sign == 0 || !part->is_closed) return true;
  const uint32_t *t = flo_mesh_triangle(p->mesh, triangle);
  int turns = 0;
  for (int k = 0; k < 3; ++k) turns += pass_line(p->mesh, t[k], t[(k + 1) % 3], p->from);
  if (turns * flo_mesh_determinant(p->mesh, triangle, p->from) <= 0) return true;
  if (!part->is_touched) p->touched[p->n_touched++] = p->part_of[triangle];
  part->is_touched = true;
  part->crossings += turns;
  return true;
}

// Casts a ray upwards from one sample, and counts the sample for every part it lies in. Parts that did not
// contain an earlier sample are left out.
static void cast_ray(Parts *p, int sample) {
  const double up[3] = {p->from[0], p->from[1], p->top};
  p->n_touched = 0;
  flo_bvh_visit_box(&p->tree, p->from, up, cross_triangle, p);
  for (size_t k = 0; k < p->n_touched; ++k) {
    Part *part = &p->parts[p->touched[k]];
    if (part->crossings * part->sign > 0 && part->n_inside == sample) {
      if (sample == 0) p->around[p->n_around++] = p->touched[k];
      ++part->n_inside;
    }
    part->crossings = 0, part->is_touched = false;
  }
}

// Notes a part whose box holds the box of the present part.
static bool note_box(uint32_t other, void *context) {
  Parts *p = context;
  const Part *inner = &p->parts[p->own], *outer = &p->parts[other];
  if (++p->n_tests > p->most_tests) return false;
  if (other == p->own || outer->sign == 0 || !outer->is_closed) return true;
  for (int axis = 0; axis < 3; ++axis)
    if (outer->low[axis] > inner->low[axis] || outer->high[axis] < inner->high[axis]) return true;
  p->top = fmax(p->top, outer->high[2]);
  return true;
}

// Lists the closed parts that hold all samples of a part. With one sample, a body that sticks out of another
// would count as its cavity. Most parts are in no other part's box and need no rays. Otherwise many parts
// above each other would take a time quadratic in their number.
static void find_around(Parts *p, uint32_t own) {
  p->own = own, p->n_around = 0, p->top = -INFINITY;
  flo_bvh_visit_box(&p->box_tree, p->parts[own].low, p->parts[own].low, note_box, p);
  if (p->top == -INFINITY) return;
  for (int k = 0; k < N_SAMPLES; ++k) {
    triangle_centre(p->mesh, p->parts[own].samples[k], p->from);
    cast_ray(p, k);
  }
  size_t n_kept = 0;
  for (size_t k = 0; k < p->n_around; ++k) {
    Part *part = &p->parts[p->around[k]];
    if (part->n_inside == N_SAMPLES) p->around[n_kept++] = p->around[k];
    part->n_inside = 0;
  }
  p->n_around = n_kept;
}

static void sort_by_depth(Parts *p, uint32_t *start) {
  memset(start, 0, (p->n_parts + 1) * sizeof *start);
  for (size_t k = 0; k < p->n_parts; ++k) ++start[p->parts[k].depth + 1];
  for (size_t k = 0; k < p->n_parts; ++k) start[k + 1] += start[k];
  for (size_t k = 0; k < p->n_parts; ++k) p->by_depth[start[p->parts[k].depth]++] = (uint32_t)k;
}

// If an outermost part is turned, everything inside turns with it. A part that then still points inwards is a
// cavity if a body surrounds it; otherwise it is inside out.
static void settle_sign(Parts *p, uint32_t own) {
  Part *part = &p->parts[own];
  int winding = 0;
  bool is_outer_turned = false;
  if (p->n_parts > 1) find_around(p, own);
  if (p->n_tests > p->most_tests) return; // the search ran out of time: it stays as it is
  for (size_t k = 0; k < p->n_around; ++k) {
    const Part *outer = &p->parts[p->around[k]];
    winding += outer->new_sign;
    is_outer_turned |= outer->depth == 0 && outer->new_sign != outer->sign;
  }
  part->new_sign = is_outer_turned ? -part->sign : part->sign;
  if (part->new_sign < 0 && winding <= 0) part->new_sign = 1;
}

static void settle_signs(Parts *p) {
  for (size_t k = 0; k < p->n_parts; ++k) {
    if (p->n_parts == 1 || p->parts[k].sign == 0) continue;
    find_around(p, (uint32_t)k);
    p->parts[k].depth = (uint32_t)p->n_around;
  }
  sort_by_depth(p, p->touched);
  for (size_t k = 0; k < p->n_parts; ++k)
    if (p->parts[p->by_depth[k]].sign != 0) settle_sign(p, p->by_depth[k]);
}

static FloStatus make_boxes(Parts *p, FloError *error) {
  for (size_t k = 0; k < p->n_parts; ++k) {
    uint32_t low, high;
    FLO_TRY(flo_mesh_add_vertex(&p->boxes, p->parts[k].low, &low, error));
    FLO_TRY(flo_mesh_add_vertex(&p->boxes, p->parts[k].high, &high, error));
    FLO_TRY(flo_mesh_add_triangle(&p->boxes, low, high, high, error));
  }
  return flo_bvh_build_boxes(&p->box_tree, &p->boxes, error);
}

static FloStatus make_parts(Parts *p, const FloMeshSide *sides, FloError *error) {
  size_t n = p->mesh->n_triangles;
  FLO_TRY(flo_buffer_reserve(p->mesh->memory, &p->room, (5 * n + 1) * sizeof(uint32_t), 0, error));
  uint32_t *numbers = p->room.data;
  p->part_of = numbers, p->around = numbers + n, p->by_depth = numbers + 2 * n;
  p->touched = numbers + 3 * n;
  uint32_t open = number_parts(p, sides, p->touched);
  FLO_TRY(flo_buffer_reserve(p->mesh->memory, &p->list, p->n_parts * sizeof(Part), 0, error));
  p->parts = p->list.data;
  gather_parts(p, open);
  // One part alone has nothing around it.
  if (p->n_parts == 1) return FLO_OK;
  FLO_TRY(flo_bvh_build_boxes(&p->tree, p->mesh, error));
  return make_boxes(p, error);
}

static FloStatus orient_parts(FloMesh *mesh, const FloMeshSide *sides, FloError *error) {
  // The number of tests may be quadratic if parts are nested in parts. The search ends after a time linear in
  // the size of the mesh.
  Parts p = {.mesh = mesh, .most_tests = 100000000 + 400 * mesh->n_triangles};
  flo_mesh_init(&p.boxes, mesh->memory);
  FloStatus status = make_parts(&p, sides, error);
  if (status == FLO_OK) {
    find_signs(&p);
    settle_signs(&p);
    for (size_t t = 0; t < mesh->n_triangles; ++t)
      if (part_at(&p, t)->new_sign != part_at(&p, t)->sign) flo_mesh_turn_triangle(mesh, t);
  }
  flo_bvh_free(&p.tree);
  flo_bvh_free(&p.box_tree);
  flo_mesh_free(&p.boxes);
  flo_buffer_free(mesh->memory, &p.room);
  flo_buffer_free(mesh->memory, &p.list);
  return status;
}

// ---- Repair ----

static FloStatus orient(FloMesh *mesh, FloError *error) {
  FloBuffer sides = {0};
  FloStatus status = flo_mesh_sort_sides(mesh, &sides, error);
  if (status == FLO_OK) status = orient_patches(mesh, sides.data, error);
  if (status == FLO_OK) status = orient_parts(mesh, sides.data, error);
  flo_buffer_free(mesh->memory, &sides);
  return status;
}

FloStatus flo_mesh_repair(FloMesh *mesh, FloMeshReport *before, FloError *error) {
  FloMeshReport report;
  size_t n_joined;
  if (!before) before = &report;
  FLO_TRY(flo_mesh_weld(mesh, error));
  FLO_TRY(flo_mesh_join_borders(mesh, &n_joined, error));
  FLO_TRY(flo_mesh_inspect(mesh, before, error));
  before->n_joined_vertices = n_joined;
  FLO_TRY(drop_doubled(mesh, error));
  FLO_TRY(drop_degenerate(mesh, error));
  FLO_TRY(orient(mesh, error));
  // Welding drops the vertices of the triangles that were dropped.
  return flo_mesh_weld(mesh, error);
}
