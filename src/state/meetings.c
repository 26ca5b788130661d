// Finds the features of soft bodies that are near each other: a tree of boxes for each body, which the
// vertices and edges of all bodies query. Each query counts first and then lists, so that the list has one
// order for any number of threads.
#include "state/meetings.h"

#include "base/parallel.h"
#include "state/state.h"

enum { GRAIN = 64 };

// Half of the distance at which solids touch each other, in spacings. Without it their faces would meet at
// distance zero, where no direction leads from one to the other.
#define SOLID_SKIN 0.05
// Features of one body that were made nearer to each other than this, in spacings, are joined there.
#define JOINED 1e-6

// A buffer that grows gets half as much again, so that memory is seldom allocated.
static FloStatus reserve(FloWorld *world, FloBuffer *buffer, size_t size, size_t keep, FloError *error) {
  return flo_buffer_reserve(&world->memory, buffer, size > buffer->capacity ? size + size / 2 : size, keep,
                            error);
}

// ---- Features ----

static FloStatus mark_used(FloWorld *world, FloSoftFeatures *f, FloError *error) {
  const size_t n = f->topology.n_vertices;
  FLO_TRY(flo_buffer_reserve_zeros(&world->memory, &f->is_used, n + 1, error));
  for (size_t k = 0; k < 3 * f->topology.n_triangles; ++k)
    ((bool *)f->is_used.data)[flo_topology_corners(&f->topology, 0)[k]] = true;
  return FLO_OK;
}

static FloStatus make_features(FloWorld *world, FloSoftFeatures *f, FloError *error) {
  const FloBody *body = &flo_bodies(world)[f->body];
  const FloSoftBody *own = flo_soft_body(body);
  FloMeshTopology *topology = &f->topology;
  const FloMesh *faces = flo_soft_body_faces(body);
  FLO_TRY(flo_mesh_topology_make(topology, &world->memory, own->n, flo_mesh_triangle(faces, 0),
                                 faces->n_triangles, 3, error));
  FLO_TRY(mark_used(world, f, error));
  FLO_TRY(flo_moving_tree_make(&f->edges, &world->memory, own->start, topology->ends.data, topology->n_edges,
                               2, error));
  if (world->def.dim == 2) return FLO_OK;
  return flo_moving_tree_make(&f->faces, &world->memory, own->start, topology->corners.data,
                              topology->n_triangles, 3, error);
}

static FloSoftFeatures *features_of(const FloWorld *world, size_t k) {
  return &FLO_LIST(world->meetings.features, FloSoftFeatures)[k];
}

static FloStatus add_features(FloWorld *world, uint32_t body, FloError *error) {
  FloMeetings *meetings = &world->meetings;
  const FloSoftFeatures empty = {.body = body};
  FLO_TRY(flo_list_append(&world->memory, &meetings->features, &empty, sizeof empty, error));
  return make_features(world, features_of(world, meetings->features.count - 1), error);
}

static void free_features(FloWorld *world, FloSoftFeatures *f) {
  if (f->topology.memory) flo_mesh_topology_free(&f->topology);
  flo_moving_tree_free(&f->faces, &world->memory);
  flo_moving_tree_free(&f->edges, &world->memory);
  flo_buffer_free(&world->memory, &f->is_used);
}

static void forget_features(FloWorld *world) {
  for (size_t k = 0; k < world->meetings.features.count; ++k) free_features(world, features_of(world, k));
  world->meetings.features.count = world->meetings.n_bodies = 0;
}

static FloStatus list_features(FloWorld *world, FloError *error) {
  FloMeetings *meetings = &world->meetings;
  if (meetings->n_bodies == world->bodies.count) return FLO_OK;
  forget_features(world);
  for (uint32_t k = 0; k < world->bodies.count; ++k)
    if (flo_body_is_soft(&flo_bodies(world)[k])) FLO_TRY(add_features(world, k, error));
  meetings->n_bodies = world->bodies.count;
  return FLO_OK;
}

// Room for the queries of all bodies, before anything moves: a step that lacks memory later cannot be
// repeated.
static FloStatus reserve_queries(FloWorld *world, FloError *error) {
  FloMeetings *meetings = &world->meetings;
  size_t most = 0;
  for (size_t k = 0; k < meetings->features.count; ++k) {
    const FloMeshTopology *own = &FLO_LIST(meetings->features, FloSoftFeatures)[k].topology;
    most = own->n_edges > most ? own->n_edges : most;
    most = own->n_vertices > most ? own->n_vertices : most;
  }
  return reserve(world, &meetings->begins, (most + 1) * sizeof(uint32_t), 0, error);
}

FloStatus flo_world_prepare_meetings(FloWorld *world, FloError *error) {
  FloMeetings *meetings = &world->meetings;
  const size_t size = (3 * world->nodes.count + 1) * sizeof(double);
  FLO_TRY(list_features(world, error));
  if (meetings->features.count == 0) return FLO_OK;
  FLO_TRY(reserve_queries(world, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &meetings->from, size, 0, error));
  return flo_buffer_reserve(&world->memory, &meetings->to, size, 0, error);
}

void flo_world_free_meetings(FloWorld *world) {
  FloMeetings *meetings = &world->meetings;
  FloBuffer *buffers[] = {&meetings->features.buffer,
                          &meetings->found.buffer,
                          &meetings->from,
                          &meetings->to,
                          &meetings->begins,
                          &meetings->touching.buffer,
                          &meetings->hits.buffer,
                          &meetings->pairs.buffer,
                          &meetings->zones,
                          &meetings->sums};
  forget_features(world);
  for (size_t k = 0; k < FLO_COUNT_OF(buffers); ++k) flo_buffer_free(&world->memory, buffers[k]);
}

// ---- Queries ----

// Vertices of one body against faces of another, or edges of both.
typedef struct Query {
  const FloWorld *world;
  const FloSoftFeatures *own, *other;
  bool is_of_edges;
  double reach;
  uint32_t *begins;  // where the meetings of each item begin
  FloMeeting *found; // NULL: they are counted
} Query;

// One vertex or edge that queries.
typedef struct Item {
  const Query *query;
  size_t number;
  uint32_t nodes[2], n_nodes;
  uint32_t next; // place of its next meeting
} Item;

static const double *positions(const FloBuffer *all, const FloWorld *world, uint32_t body) {
  return (const double *)all->data + 3 * flo_bodies(world)[body].first_node;
}

static const FloMovingTree *tree_of(const Query *query) {
  return query->is_of_edges || query->world->def.dim == 2 ? &query->other->edges : &query->other->faces;
}

// The nodes of an element of the other body's tree.
static const uint32_t *element_nodes(const Query *query, uint32_t element) {
  const FloMeshTopology *topology = &query->other->topology;
  return tree_of(query) == &query->other->edges ? flo_topology_ends(topology, element)
                                                : flo_topology_corners(topology, element);
}

static bool share_node(const Item *item, const uint32_t *nodes, int n) {
  for (uint32_t a = 0; a < item->n_nodes; ++a)
    for (int b = 0; b < n; ++b)
      if (item->nodes[a] == nodes[b]) return true;
  return false;
}

static void visit(void *context, uint32_t element) {
  Item *item = context;
  const Query *query = item->query;
  const int n = tree_of(query)->n_corners;
  const uint32_t *nodes = element_nodes(query, element);
  if (query->own == query->other) {
    if (query->is_of_edges && element <= item->number) return;
    if (share_node(item, nodes, n)) return;
  }
  const uint32_t place = item->next++;
  if (!query->found) return;
  FloMeeting *meeting = &query->found[place];
  *meeting = (FloMeeting){.body = query->own->body,
                          .other = query->other->body,
                          .n_own = (uint8_t)item->n_nodes,
                          .n_other = (uint8_t)n};
  for (uint32_t k = 0; k < item->n_nodes; ++k) meeting->nodes[k] = item->nodes[k];
  for (int k = 0; k < n; ++k) meeting->nodes[item->n_nodes + (uint32_t)k] = nodes[k];
}

static Item item_of(const Query *query, size_t number, uint32_t next) {
  Item item = {.query = query, .number = number, .n_nodes = query->is_of_edges ? 2 : 1, .next = next};
  item.nodes[0] = (uint32_t)number;
  for (uint32_t k = 0; query->is_of_edges && k < 2; ++k)
    item.nodes[k] = flo_topology_ends(&query->own->topology, number)[k];
  return item;
}

// Returns where the meetings of the item end.
static uint32_t query_item(const Query *query, size_t number, uint32_t next) {
  const FloMeetings *meetings = &query->world->meetings;
  const double *from = positions(&meetings->from, query->world, query->own->body),
               *to = positions(&meetings->to, query->world, query->own->body);
  FloMovingBox box = flo_empty_box;
  Item item = item_of(query, number, next);
  if (!query->is_of_edges && !((const bool *)query->own->is_used.data)[number]) return next;
  for (uint32_t k = 0; k < item.n_nodes; ++k) {
    flo_box_add(&box, from + 3 * item.nodes[k]);
    flo_box_add(&box, to + 3 * item.nodes[k]);
  }
  flo_box_grow(&box, query->reach);
  flo_moving_tree_visit(tree_of(query), &box, visit, &item);
  return item.next;
}

static void count_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Query *query = context;
  for (size_t k = begin; k < end; ++k) query->begins[k + 1] = query_item(query, k, 0);
}

static void list_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Query *query = context;
  for (size_t k = begin; k < end; ++k)
    if (query->begins[k + 1] > query->begins[k]) query_item(query, k, query->begins[k]);
}

static bool may_meet(const Query *query) {
  FloMovingBox own = flo_moving_tree_box(&query->own->edges);
  const FloMovingBox other = flo_moving_tree_box(&query->other->edges);
  flo_box_grow(&own, query->reach);
  return flo_boxes_meet(&own, &other) &&
         !flo_world_is_passing(query->world, query->own->body, query->other->body);
}

static FloStatus run_query(FloWorld *world, Query *query, FloError *error) {
  FloMeetings *meetings = &world->meetings;
  FloList *found = &meetings->found;
  const FloMeshTopology *own = &query->own->topology;
  const size_t n = query->is_of_edges ? own->n_edges : own->n_vertices;
  FLO_TRY(reserve(world, &meetings->begins, (n + 1) * sizeof(uint32_t), 0, error));
  query->begins = meetings->begins.data, query->begins[0] = 0, query->found = NULL;
  flo_parallel_for(world->threads, n, GRAIN, count_range, query);
  for (size_t k = 0; k < n; ++k) query->begins[k + 1] += query->begins[k];
  if (query->begins[n] == 0) return FLO_OK;
  const size_t size = sizeof(FloMeeting);
  FLO_TRY(
      reserve(world, &found->buffer, (found->count + query->begins[n]) * size, found->count * size, error));
  query->found = FLO_LIST(*found, FloMeeting) + found->count;
  flo_parallel_for(world->threads, n, GRAIN, list_range, query);
  found->count += query->begins[n];
  return FLO_OK;
}

static FloStatus query_bodies(FloWorld *world, size_t a, size_t b, double reach, FloError *error) {
  Query query = {
      .world = world, .own = features_of(world, a), .other = features_of(world, b), .reach = reach};
  if (!may_meet(&query)) return FLO_OK;
  FLO_TRY(run_query(world, &query, error));
  query.is_of_edges = true;
  return world->def.dim == 3 && a <= b ? run_query(world, &query, error) : FLO_OK;
}

static void refit_all(FloWorld *world) {
  const FloMeetings *meetings = &world->meetings;
  for (size_t k = 0; k < meetings->features.count; ++k) {
    FloSoftFeatures *f = features_of(world, k);
    const double *from = positions(&meetings->from, world, f->body),
                 *to = positions(&meetings->to, world, f->body);
    flo_moving_tree_refit(&f->edges, from, to, world->threads);
    if (world->def.dim == 3) flo_moving_tree_refit(&f->faces, from, to, world->threads);
  }
}

FloStatus flo_world_find_meetings(FloWorld *world, double reach, FloError *error) {
  const size_t n = world->meetings.features.count;
  world->meetings.found.count = 0;
  refit_all(world);
  for (size_t a = 0; a < n; ++a)
    for (size_t b = 0; b < n; ++b) FLO_TRY(query_bodies(world, a, b, reach, error));
  return FLO_OK;
}

// ---- One meeting ----

static const double *corner_at(const FloWorld *world, uint32_t body, uint32_t node, FloMoment moment) {
  const FloMeetings *meetings = &world->meetings;
  if (moment == FLO_AS_MADE) return flo_soft_body(&flo_bodies(world)[body])->start + 3 * node;
  return positions(moment == FLO_BEFORE_WAY ? &meetings->from : &meetings->to, world, body) + 3 * node;
}

FloFeaturePair flo_meeting_at(const FloWorld *world, const FloMeeting *meeting, FloMoment moment) {
  FloFeaturePair pair = {.n_first = meeting->n_own, .n_second = meeting->n_other};
  for (int k = 0; k < meeting->n_own + meeting->n_other; ++k)
    vec_copy(corner_at(world, k < meeting->n_own ? meeting->body : meeting->other, meeting->nodes[k], moment),
             pair.x[k]);
  return pair;
}

double flo_soft_skin(const FloWorld *world, uint32_t body) {
  const double half = flo_soft_body(&flo_bodies(world)[body])->half_thickness;
  return half > 0 ? half : SOLID_SKIN * world->def.spacing;
}

double flo_world_largest_thickness(const FloWorld *world) {
  double most = 0;
  for (size_t k = 0; k < world->meetings.features.count; ++k)
    most = fmax(most, flo_soft_skin(world, features_of(world, k)->body));
  return 2 * most;
}

double flo_meeting_thickness(const FloWorld *world, const FloMeeting *meeting) {
  const double both = flo_soft_skin(world, meeting->body) + flo_soft_skin(world, meeting->other);
  FloApart apart;
  if (meeting->body != meeting->other) return both;
  const FloFeaturePair pair = flo_meeting_at(world, meeting, FLO_AS_MADE);
  flo_pair_apart(&pair, &apart);
  return apart.distance > JOINED * world->def.spacing ? fmin(both, apart.distance / 2) : 0;
}
