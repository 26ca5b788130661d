// Marching cubes over the evaluated bricks. A vertex belongs to its lattice edge, and the edge to the brick
// of its lower node. Bits tell which edges are crossed; counting bits gives the number of a vertex without a
// table. Bricks first count and then write, so threads never write to the same place.
#include "surface/extract.h"

#include "base/parallel.h"
#include "base/vecmath.h"
#include "surface/cube_cases.h"

#include <string.h>

enum { WIDE = FLO_BRICK + 1, WIDE_NODES = WIDE * WIDE * WIDE };

// Least distance of vertices from nodes, in cells, so that no two of them coincide.
static const float least_share = 0.03F;

typedef struct EdgeSet {
  uint64_t crossed[3][FLO_BRICK]; // by axis and z: a bit for each node (x, y) that an edge starts from
  uint16_t before[3][FLO_BRICK];  // number of vertices of this brick that come before
  uint32_t first_vertex, n_vertices;
  uint32_t first_triangle, n_triangles;
} EdgeSet;

typedef struct Extraction {
  const FloBricks *bricks;
  const FloSurfaceDef *def;
  FloSurfaceMesh *surface;
  FloSurfaceNotes *notes;
  FloCubeCases cases;
  EdgeSet *edges;            // for each slot
  const uint32_t *evaluated; // brick of each slot
} Extraction;

// ---- Nodes of a brick and one more layer ----

// The value of a brick that is not evaluated: it is inside or outside as a whole.
static float constant_value(const FloBricks *bricks, long brick) {
  return brick != FLO_NO_BRICK && bricks->states[brick] == FLO_BRICK_INSIDE ? -1.0F : 1.0F;
}

static bool is_evaluated(const FloBricks *bricks, long brick) {
  return brick != FLO_NO_BRICK && bricks->states[brick] == FLO_BRICK_EVALUATED;
}

typedef struct Block {
  long beside[8]; // bricks at this place (0) and one further along the axes whose bits are set in the index
  float values[WIDE_NODES];
} Block;

static void copy_part(const FloBricks *bricks, const Block *block, unsigned part, float *values) {
  long brick = block->beside[part];
  const float *from = is_evaluated(bricks, brick) ? flo_bricks_values(bricks, (size_t)brick) : NULL;
  const float constant = constant_value(bricks, brick);
  size_t n[3], shift[3];
  for (unsigned axis = 0; axis < 3; ++axis) {
    bool is_beyond = part >> axis & 1;
    n[axis] = is_beyond ? 1 : FLO_BRICK;
    shift[axis] = is_beyond ? FLO_BRICK : 0;
  }
  for (size_t k = 0; k < n[2]; ++k)
    for (size_t j = 0; j < n[1]; ++j)
      for (size_t i = 0; i < n[0]; ++i)
        values[((k + shift[2]) * WIDE + j + shift[1]) * WIDE + i + shift[0]] =
            from ? from[(k * FLO_BRICK + j) * FLO_BRICK + i] : constant;
}

static void load_block(const FloBricks *bricks, size_t brick, Block *block) {
  long place[3];
  flo_bricks_unpack(bricks, bricks->keys[brick], place);
  for (unsigned part = 0; part < 8; ++part) {
    const long at[3] = {place[0] + (part & 1), place[1] + (part >> 1 & 1), place[2] + (part >> 2)};
    block->beside[part] = flo_bricks_find(bricks, at);
    copy_part(bricks, block, part, block->values);
  }
}

static size_t wide_index(size_t i, size_t j, size_t k) { return (k * WIDE + j) * WIDE + i; }
static size_t wide_stride(int axis) { return axis == 0 ? 1 : axis == 1 ? WIDE : WIDE * WIDE; }

static unsigned inner_corners(const Block *block, size_t node) {
  unsigned corners = 0;
  for (unsigned c = 0; c < 8; ++c)
    corners |= (block->values[node + (c & 1) + (c >> 1 & 1) * WIDE + (c >> 2) * WIDE * WIDE] < 0 ? 1U : 0U)
               << c;
  return corners;
}

// ---- Counting ----

static void find_crossings(const Block *block, EdgeSet *edges) {
  for (int axis = 0; axis < 3; ++axis)
    for (size_t k = 0; k < FLO_BRICK; ++k) {
      uint64_t bits = 0;
      for (size_t node = 0; node < FLO_BRICK * FLO_BRICK; ++node) {
        size_t at = wide_index(node % FLO_BRICK, node / FLO_BRICK, k);
        bool is_crossed = (block->values[at] < 0) != (block->values[at + wide_stride(axis)] < 0);
        bits |= (uint64_t)is_crossed << node;
      }
      edges->crossed[axis][k] = bits;
      edges->before[axis][k] = (uint16_t)edges->n_vertices;
      edges->n_vertices += (uint32_t)__builtin_popcountll(bits);
    }
}

static bool has_both_signs(const Block *block) {
  bool is_inside = block->values[0] < 0;
  for (size_t k = 1; k < WIDE_NODES; ++k)
    if ((block->values[k] < 0) != is_inside) return true;
  return false;
}

static void count_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Extraction *extraction = context;
  Block block;
  for (size_t slot = begin; slot < end; ++slot) {
    EdgeSet *edges = &extraction->edges[slot];
    memset(edges, 0, sizeof *edges);
    load_block(extraction->bricks, extraction->evaluated[slot], &block);
    if (!has_both_signs(&block)) continue;
    find_crossings(&block, edges);
    for (size_t cell = 0; cell < FLO_BRICK_NODES; ++cell) {
      size_t node = wide_index(cell % FLO_BRICK, cell / FLO_BRICK % FLO_BRICK, cell / FLO_BRICK / FLO_BRICK);
      edges->n_triangles += extraction->cases.n_triangles[inner_corners(&block, node)];
    }
  }
}

// ---- Vertices ----

static void write_vertex(const Extraction *extraction, const Block *block, const double corner[3],
                         const size_t node[3], int axis, size_t vertex) {
  size_t at = wide_index(node[0], node[1], node[2]);
  float a = block->values[at], b = block->values[at + wide_stride(axis)], share = a / (a - b);
  share = share < least_share ? least_share : share > 1 - least_share ? 1 - least_share : share;
  double *point = flo_mesh_vertex(&extraction->surface->mesh, vertex);
  for (int k = 0; k < 3; ++k)
    point[k] = corner[k] + ((double)node[k] + (k == axis ? (double)share : 0)) * extraction->def->cell;
}

static void write_vertices(const Extraction *extraction, const Block *block, const EdgeSet *edges,
                           const double corner[3]) {
  size_t vertex = edges->first_vertex;
  for (int axis = 0; axis < 3; ++axis)
    for (size_t k = 0; k < FLO_BRICK; ++k)
      for (uint64_t bits = edges->crossed[axis][k]; bits; bits &= bits - 1) {
        size_t bit = (size_t)__builtin_ctzll(bits);
        const size_t node[3] = {bit % FLO_BRICK, bit / FLO_BRICK, k};
        write_vertex(extraction, block, corner, node, axis, vertex++);
      }
}

// ---- Triangles ----

// The vertex on an edge that starts from a node of the block. The node may belong to a neighbouring brick.
static uint32_t vertex_on(const Extraction *extraction, const Block *block, const size_t node[3], int axis) {
  unsigned part = 0;
  size_t own[3];
  for (unsigned k = 0; k < 3; ++k) {
    part |= (node[k] == FLO_BRICK ? 1U : 0U) << k;
    own[k] = node[k] % FLO_BRICK;
  }
  const EdgeSet *edges = &extraction->edges[extraction->bricks->slots[block->beside[part]]];
  uint64_t bit = 1ULL << (own[1] * FLO_BRICK + own[0]), bits = edges->crossed[axis][own[2]];
  return edges->first_vertex + edges->before[axis][own[2]] + (uint32_t)__builtin_popcountll(bits & (bit - 1));
}

static size_t write_cell(const Extraction *extraction, const Block *block, const size_t cell[3],
                         size_t triangle) {
  const FloCubeCases *cases = &extraction->cases;
  unsigned inner = inner_corners(block, wide_index(cell[0], cell[1], cell[2]));
  for (unsigned t = 0; t < cases->n_triangles[inner]; ++t, ++triangle)
    for (unsigned k = 0; k < 3; ++k) {
      uint8_t edge = cases->triangles[inner][t][k], c = cases->edge_corner[edge];
      const size_t node[3] = {cell[0] + (c & 1), cell[1] + (c >> 1 & 1), cell[2] + (c >> 2)};
      flo_mesh_triangle(&extraction->surface->mesh, triangle)[k] =
          vertex_on(extraction, block, node, flo_cube_edge_axis(edge));
    }
  return triangle;
}

static void write_triangles(const Extraction *extraction, const Block *block, const EdgeSet *edges) {
  size_t triangle = edges->first_triangle;
  for (size_t cell = 0; cell < FLO_BRICK_NODES; ++cell) {
    const size_t at[3] = {cell % FLO_BRICK, cell / FLO_BRICK % FLO_BRICK, cell / FLO_BRICK / FLO_BRICK};
    triangle = write_cell(extraction, block, at, triangle);
  }
}

// ---- Velocities ----

static void vertex_box(const Extraction *extraction, const EdgeSet *edges, double low[3], double high[3]) {
  vec_copy(flo_mesh_vertex(&extraction->surface->mesh, edges->first_vertex), low);
  vec_copy(low, high);
  for (size_t k = 1; k < edges->n_vertices; ++k) {
    const double *p = flo_mesh_vertex(&extraction->surface->mesh, edges->first_vertex + k);
    for (int axis = 0; axis < 3; ++axis)
      low[axis] = fmin(low[axis], p[axis]), high[axis] = fmax(high[axis], p[axis]);
  }
}

typedef struct VertexSums {
  float x, y, z;
  float weight, vx, vy, vz;
} VertexSums;

static void sum_particles(const FloBricks *bricks, const FloNearby *nearby, float shrink, VertexSums *sums) {
  for (size_t k = 0; k < nearby->count; ++k) {
    float x = (nearby->x[k] - sums->x) * shrink, y = (nearby->y[k] - sums->y) * shrink,
          z = (nearby->z[k] - sums->z) * shrink, near = 1 - (x * x + y * y + z * z);
    if (near <= 0) continue;
    float w = near * near * near;
    sums->weight += w;
    if (!bricks->velocities) continue;
    const float *v = bricks->velocities + 3 * (size_t)nearby->index[k];
    sums->vx += w * v[0], sums->vy += w * v[1], sums->vz += w * v[2];
  }
}

// Sum of the weights at a vertex on a flat surface, for kernels of two spacings; drops and rims have less.
static const double flat_weight = 2.4;

static float thickness_of(const Extraction *extraction, float weight) {
  double width = extraction->bricks->influence / (2 * extraction->def->spacing);
  double share = (double)weight / (flat_weight * width * width * width);
  return (float)fmin(fmax((share - 0.25) / 0.55, 0), 1);
}

static void write_velocity(const Extraction *extraction, const FloNearby *nearby, const double origin[3],
                           size_t vertex) {
  const double *p = flo_mesh_vertex(&extraction->surface->mesh, vertex);
  VertexSums sums = {
      .x = (float)(p[0] - origin[0]), .y = (float)(p[1] - origin[1]), .z = (float)(p[2] - origin[2])};
  sum_particles(extraction->bricks, nearby, (float)(1 / extraction->bricks->influence), &sums);
  float *velocity = flo_surface_velocity(extraction->surface, vertex),
        one = sums.weight > 0 ? sums.weight : 1;
  velocity[0] = sums.vx / one, velocity[1] = sums.vy / one, velocity[2] = sums.vz / one;
  ((float *)extraction->notes->thickness.data)[vertex] = thickness_of(extraction, sums.weight);
}

static void write_velocities(const Extraction *extraction, size_t brick, const EdgeSet *edges,
                             FloNearby *nearby) {
  long place[3];
  double low[3], high[3];
  flo_bricks_unpack(extraction->bricks, extraction->bricks->keys[brick], place);
  vertex_box(extraction, edges, low, high);
  flo_bricks_gather(extraction->bricks, place, low, high, extraction->bricks->influence, low, nearby);
  for (size_t k = 0; k < edges->n_vertices; ++k)
    write_velocity(extraction, nearby, low, edges->first_vertex + k);
}

// ---- All together ----

static void write_range(void *context, size_t begin, size_t end, int thread) {
  const Extraction *extraction = context;
  Block block;
  for (size_t slot = begin; slot < end; ++slot) {
    const EdgeSet *edges = &extraction->edges[slot];
    size_t brick = extraction->evaluated[slot];
    long place[3];
    double corner[3];
    if (edges->n_vertices + edges->n_triangles == 0) continue;
    load_block(extraction->bricks, brick, &block);
    flo_bricks_unpack(extraction->bricks, extraction->bricks->keys[brick], place);
    flo_bricks_corner(extraction->bricks, place, corner);
    write_vertices(extraction, &block, edges, corner);
    write_triangles(extraction, &block, edges);
    if (edges->n_vertices) write_velocities(extraction, brick, edges, &extraction->bricks->nearby[thread]);
  }
}

// Vertices and triangles are stored brick by brick, in the order of their slots.
static FloStatus reserve_mesh(Extraction *extraction, FloError *error) {
  FloSurfaceMesh *surface = extraction->surface;
  FloMesh *mesh = &surface->mesh;
  size_t n_vertices = 0, n_triangles = 0;
  for (size_t slot = 0; slot < extraction->bricks->n_slots; ++slot) {
    EdgeSet *edges = &extraction->edges[slot];
    edges->first_vertex = (uint32_t)n_vertices, edges->first_triangle = (uint32_t)n_triangles;
    n_vertices += edges->n_vertices, n_triangles += edges->n_triangles;
    if (n_triangles >= UINT32_MAX / 3)
      return flo_fail(error, FLO_BAD_INPUT, "surface: more than %zu triangles; take larger cells",
                      n_triangles);
  }
  FLO_TRY(flo_buffer_reserve(mesh->memory, &mesh->vertices, n_vertices * sizeof(double[3]), 0, error));
  FLO_TRY(flo_buffer_reserve(mesh->memory, &mesh->triangles, n_triangles * sizeof(uint32_t[3]), 0, error));
  FLO_TRY(flo_buffer_reserve(mesh->memory, &surface->velocities, n_vertices * sizeof(float[3]), 0, error));
  FLO_TRY(
      flo_buffer_reserve(mesh->memory, &extraction->notes->thickness, n_vertices * sizeof(float), 0, error));
  mesh->n_vertices = n_vertices, mesh->n_triangles = n_triangles;
  return FLO_OK;
}

static FloStatus extract(Extraction *extraction, FloError *error) {
  const FloBricks *bricks = extraction->bricks;
  flo_cube_cases_init(&extraction->cases);
  flo_parallel_for(bricks->threads, bricks->n_slots, 8, count_range, extraction);
  FLO_TRY(reserve_mesh(extraction, error));
  flo_parallel_for(bricks->threads, bricks->n_slots, 8, write_range, extraction);
  return FLO_OK;
}

FloStatus flo_surface_extract(const FloBricks *bricks, const FloSurfaceDef *def, FloSurfaceMesh *surface,
                              FloSurfaceNotes *notes, FloError *error) {
  Extraction extraction = {.bricks = bricks, .def = def, .surface = surface, .notes = notes};
  FloBuffer buffer = {0};
  FLO_TRY(flo_buffer_reserve(bricks->memory, &buffer, bricks->n_slots * (sizeof(EdgeSet) + 4), 0, error));
  extraction.edges = buffer.data;
  uint32_t *evaluated = (uint32_t *)(extraction.edges + bricks->n_slots);
  extraction.evaluated = evaluated;
  for (size_t k = 0; k < bricks->n_bricks; ++k)
    if (bricks->states[k] == FLO_BRICK_EVALUATED) evaluated[bricks->slots[k]] = (uint32_t)k;
  FloStatus status = extract(&extraction, error);
  flo_buffer_free(bricks->memory, &buffer);
  return status;
}
