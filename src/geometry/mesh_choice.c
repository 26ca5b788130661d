// Which vertices of a mesh are samples at rest (mesh_thinning.c tells what happens when it moves).
//
// First vertices are chosen one after the other, each at least a *pack radius* from all before it, and of
// these always the one nearest to a chosen vertex. So the chosen lie about one spacing apart, in an order as
// even as the mesh allows. Then gaps are filled: vertices farther than a *cover radius* from all chosen ones
// are chosen, too, the farthest first. Corners of the border come first, then the rest of the border, then
// all others, because nothing beyond a border makes up for samples that are missing there.
//
// A chosen vertex tells those around it how near it is. The news spreads along edges only. So sheets that
// touch without being joined do not take each other's samples.
#include "base/vecmath.h"
#include "geometry/mesh_sampler_parts.h"

#include <string.h>

// News spreads this far: twice the largest radius [spacings].
#define REACH 2.1
// Turns of the border by more than 45 degrees are corners.
#define CORNER_COSINE 0.7

typedef enum Class { IS_CORNER, IS_BORDER, IS_INNER, CLASS_COUNT } Class;

typedef struct Waiting {
  float rank; // the least comes first: the distance to the nearest chosen vertex, or the reverse
  uint32_t vertex;
} Waiting;

typedef struct Choice {
  FloMeshSampler *sampler;
  const double *rest;
  uint32_t *homes;   // nearest chosen vertex
  float *distances;  // to it [spacings]
  float *packs;      // pack radii [spacings]
  bool is_filling;   // gaps are filled
  uint8_t *classes;  // of vertices
  uint32_t *told;    // the last chosen vertex that told this one, plus one
  uint32_t *queue;   // vertices that pass on the news
  FloBuffer waiting; // a heap: vertices that are not covered yet, the nearest to a chosen one on top
  size_t n_waiting;
  Class most; // classes up to this one may be chosen now
  FloBuffer rooms[5];
  FloError *error;
} Choice;

// ---- Radii ----

// A border lacks neighbours on one side, and a line in the plane on both, so they need more samples.
static double cover_radius(bool is_flat, bool is_border) {
  if (is_flat) return 0.63;
  return is_border ? 0.6 : 0.75;
}

// On a mesh with edges e the chosen vertices are apart by up to an edge more than the pack radius.
static double pack_radius(double edge, double cover, bool is_border) {
  return fmin(fmax((is_border ? 1 : 1.05) - 0.4 * edge, cover), 1);
}

static double shortest_edge_at(const Choice *choice, uint32_t vertex) {
  size_t n;
  const uint32_t *near = flo_topology_near(&choice->sampler->topology, vertex, &n);
  double least = INFINITY;
  for (size_t k = 0; k < n; ++k)
    least = fmin(least, flo_sampler_distance2(choice->sampler, choice->rest, vertex, near[k]));
  return sqrt(least);
}

static void find_radii(Choice *choice) {
  const FloMeshTopology *topology = &choice->sampler->topology;
  float *covers = choice->sampler->thinning.radii.data;
  for (uint32_t v = 0; v < topology->n_vertices; ++v) {
    const bool is_border = choice->classes[v] != IS_INNER;
    const double cover = cover_radius(choice->sampler->is_flat, is_border);
    covers[v] = (float)cover;
    choice->packs[v] = (float)pack_radius(shortest_edge_at(choice, v), cover, is_border);
  }
}

// ---- Borders ----

// The sum of the directions of border edges that leave a vertex, and their number.
typedef struct Turn {
  double sum[3];
  int n_edges;
} Turn;

static void add_direction(const Choice *choice, uint32_t from, uint32_t to, Turn *turn) {
  double along[3];
  vec_sub(choice->rest + 3 * (size_t)to, choice->rest + 3 * (size_t)from, along);
  double length = vec_length(along);
  if (length > 0) vec_add_scaled(turn->sum, along, 1 / length, turn->sum);
  turn->n_edges++;
}

static Class class_of(const Turn *turn) {
  if (turn->n_edges == 0) return IS_INNER;
  if (turn->n_edges != 2) return IS_CORNER;
  // The sum s of two unit vectors has s² = 2 + 2 cos; straight on is cos = -1.
  return vec_dot(turn->sum, turn->sum) > 2 - 2 * CORNER_COSINE ? IS_CORNER : IS_BORDER;
}

static FloStatus find_classes(Choice *choice) {
  const FloMeshTopology *topology = &choice->sampler->topology;
  const uint8_t *is_border = topology->is_border.data;
  FloBuffer room = {0};
  const size_t bytes = (topology->n_vertices + 1) * sizeof(Turn);
  FLO_TRY(flo_buffer_reserve(choice->sampler->memory, &room, bytes, 0, choice->error));
  Turn *turns = room.data;
  memset(turns, 0, bytes);
  for (size_t e = 0; e < topology->n_edges; ++e) {
    const uint32_t *ends = flo_topology_ends(topology, e);
    if (!is_border[e]) continue;
    add_direction(choice, ends[0], ends[1], &turns[ends[0]]);
    add_direction(choice, ends[1], ends[0], &turns[ends[1]]);
  }
  for (size_t v = 0; v < topology->n_vertices; ++v) choice->classes[v] = (uint8_t)class_of(&turns[v]);
  flo_buffer_free(choice->sampler->memory, &room);
  return FLO_OK;
}

// ---- Those that wait ----

static bool is_before(const Waiting *a, const Waiting *b) {
  return a->rank < b->rank || (a->rank == b->rank && a->vertex < b->vertex);
}

static FloStatus wait_for(Choice *choice, uint32_t vertex) {
  const float distance = choice->distances[vertex];
  const Waiting entry = {choice->is_filling ? -distance : distance, vertex};
  if (choice->classes[vertex] > choice->most) return FLO_OK;
  if ((choice->n_waiting + 1) * sizeof entry > choice->waiting.capacity)
    FLO_TRY(flo_buffer_reserve(choice->sampler->memory, &choice->waiting,
                               (2 * choice->n_waiting + 64) * sizeof entry, choice->n_waiting * sizeof entry,
                               choice->error));
  Waiting *heap = choice->waiting.data;
  size_t k = choice->n_waiting++;
  for (; k > 0 && is_before(&entry, &heap[(k - 1) / 2]); k = (k - 1) / 2) heap[k] = heap[(k - 1) / 2];
  heap[k] = entry;
  return FLO_OK;
}

static Waiting take_first(Choice *choice) {
  Waiting *heap = choice->waiting.data, first = heap[0], last = heap[--choice->n_waiting];
  size_t k = 0, child;
  while ((child = 2 * k + 1) < choice->n_waiting) {
    if (child + 1 < choice->n_waiting && is_before(&heap[child + 1], &heap[child])) ++child;
    if (!is_before(&heap[child], &last)) break;
    heap[k] = heap[child], k = child;
  }
  heap[k] = last;
  return first;
}

// ---- Choosing ----

static bool is_open(const Choice *choice, uint32_t vertex) {
  const float *radii = choice->is_filling ? choice->sampler->thinning.radii.data : choice->packs;
  return !(choice->distances[vertex] < radii[vertex]);
}

// A vertex hears of a chosen one; true if it passes the news on.
static bool tell(Choice *choice, uint32_t chosen, uint32_t vertex) {
  double distance = sqrt(flo_sampler_distance2(choice->sampler, choice->rest, chosen, vertex));
  choice->told[vertex] = chosen + 1;
  if (distance < (double)choice->distances[vertex])
    choice->distances[vertex] = (float)distance, choice->homes[vertex] = chosen;
  return distance < REACH;
}

static FloStatus choose(Choice *choice, uint32_t chosen) {
  FloThinning *thinning = &choice->sampler->thinning;
  size_t n_queued = 1, n_near;
  ((uint32_t *)thinning->chosen.data)[thinning->n_chosen++] = chosen;
  choice->queue[0] = chosen, choice->told[chosen] = chosen + 1;
  choice->distances[chosen] = 0, choice->homes[chosen] = chosen;
  for (size_t next = 0; next < n_queued; ++next) {
    const uint32_t *near = flo_topology_near(&choice->sampler->topology, choice->queue[next], &n_near);
    for (size_t k = 0; k < n_near; ++k) {
      if (choice->told[near[k]] == chosen + 1 || !tell(choice, chosen, near[k])) continue;
      choice->queue[n_queued++] = near[k];
      if (choice->homes[near[k]] == chosen && is_open(choice, near[k])) FLO_TRY(wait_for(choice, near[k]));
    }
  }
  return FLO_OK;
}

static FloStatus choose_waiting(Choice *choice) {
  while (choice->n_waiting) {
    Waiting first = take_first(choice);
    bool is_late = fabsf(first.rank) != choice->distances[first.vertex];
    if (!is_late && is_open(choice, first.vertex)) FLO_TRY(choose(choice, first.vertex));
  }
  return FLO_OK;
}

static FloStatus choose_class(Choice *choice) {
  const FloMeshTopology *topology = &choice->sampler->topology;
  const uint32_t *order = topology->order.data;
  for (size_t k = 0; k < topology->n_ordered; ++k)
    if (isfinite(choice->distances[order[k]]) && is_open(choice, order[k]))
      FLO_TRY(wait_for(choice, order[k]));
  FLO_TRY(choose_waiting(choice));
  for (size_t k = 0; k < topology->n_ordered; ++k) {
    if (choice->classes[order[k]] > choice->most || !is_open(choice, order[k])) continue;
    FLO_TRY(choose(choice, order[k]));
    FLO_TRY(choose_waiting(choice));
  }
  return FLO_OK;
}

// Most meshes are nowhere finer than their radius.
static bool are_all_apart(const FloMeshSampler *sampler, const double *rest, const float *radii) {
  for (size_t e = 0; e < sampler->topology.n_edges; ++e) {
    const uint32_t *ends = flo_topology_ends(&sampler->topology, e);
    const double radius = (double)fmaxf(radii[ends[0]], radii[ends[1]]);
    if (flo_sampler_distance2(sampler, rest, ends[0], ends[1]) < radius * radius) return false;
  }
  return true;
}

static void choose_all(FloMeshSampler *sampler) {
  uint32_t *homes = sampler->thinning.homes.data;
  const size_t n = sampler->topology.n_ordered;
  memcpy(sampler->thinning.chosen.data, sampler->topology.order.data, n * sizeof(uint32_t));
  for (uint32_t v = 0; v < sampler->topology.n_vertices; ++v) homes[v] = v;
  sampler->thinning.n_chosen = n;
}

static FloStatus make_room(Choice *choice) {
  const size_t n = choice->sampler->topology.n_vertices + 1;
  const size_t sizes[5] = {sizeof(float), 1, sizeof(uint32_t), sizeof(uint32_t), sizeof(float)};
  for (int k = 0; k < 5; ++k)
    FLO_TRY(flo_buffer_reserve(choice->sampler->memory, &choice->rooms[k], n * sizes[k], 0, choice->error));
  choice->distances = choice->rooms[0].data, choice->classes = choice->rooms[1].data;
  choice->told = choice->rooms[2].data, choice->queue = choice->rooms[3].data;
  choice->packs = choice->rooms[4].data;
  for (size_t v = 0; v < n; ++v) choice->distances[v] = INFINITY;
  memset(choice->told, 0, n * sizeof *choice->told);
  memset(choice->homes, 0xff, (n - 1) * sizeof *choice->homes);
  return FLO_OK;
}

static FloStatus choose_all_classes(Choice *choice) {
  FLO_TRY(make_room(choice));
  FLO_TRY(find_classes(choice));
  find_radii(choice);
  if (are_all_apart(choice->sampler, choice->rest, choice->packs)) {
    choose_all(choice->sampler);
    return FLO_OK;
  }
  for (int k = 0; k < 2 * CLASS_COUNT; ++k) {
    choice->most = (Class)(k / 2), choice->is_filling = k % 2;
    FLO_TRY(choose_class(choice));
  }
  return FLO_OK;
}

FloStatus flo_thinning_choose(FloMeshSampler *sampler, const double *rest, FloError *error) {
  Choice choice = {.sampler = sampler, .rest = rest, .homes = sampler->thinning.homes.data, .error = error};
  FloStatus status = choose_all_classes(&choice);
  for (int k = 0; k < 5; ++k) flo_buffer_free(sampler->memory, &choice.rooms[k]);
  flo_buffer_free(sampler->memory, &choice.waiting);
  return status;
}
