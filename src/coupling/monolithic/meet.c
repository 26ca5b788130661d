// All touches between rows and nodes: those of fluid rows and of contacts, their parts of the diagonals
// (Appendix A), and their order by nodes.
#include "base/parallel.h"
#include "coupling/monolithic/monolithic.h"

enum { CHUNK_TOUCHES = 256 };

// The number of neighbours changes with every step. A buffer that grows gets half as much again, so that
// memory is seldom allocated.
FloStatus flo_monolithic_reserve(FloWorld *world, FloMonolithic *mono, FloMonolithicBuffer which, size_t size,
                                 size_t keep, FloError *error) {
  FloBuffer *buffer = &mono->buffers[which];
  return flo_buffer_reserve(&world->memory, buffer, size > buffer->capacity ? size + size / 2 : size, keep,
                            error);
}

typedef struct Meetings {
  const FloWorld *world;
  const FloMonolithic *mono;
} Meetings;

// ---- Diagonals ----

// J M^-1 J^T of one touch: the effect of a row on itself through the node, (A.3) and (A.7).
static double response_of(const FloNode *node, const float j[6]) {
  const double wide[6] = {(double)j[0], (double)j[1], (double)j[2], (double)j[3], (double)j[4], (double)j[5]};
  return flo_node_response(node, wide);
}

// Velocity at the contact, seen through the touch, per unit of impulse along `direction`: (A.12)-(A.14).
static double slip_along(const FloNode *node, const FloTouch *t, const double direction[3]) {
  double arm[3] = {(double)t->arm[0], (double)t->arm[1], (double)t->arm[2]}, torque[3], spin[3], sum = 0;
  vec_cross(arm, direction, torque);
  mat_apply(node->inverse_inertia, torque, spin);
  for (int axis = 0; axis < 3; ++axis)
    sum += (double)(t->weight * t->weight) * node->inverse_mass[axis] * direction[axis] * direction[axis];
  return sum + vec_dot(torque, spin);
}

// The mean over the tangent plane: half of trace minus normal part in 3D, the other direction in 2D. Without
// a normal, the mean over all axes.
static double mean_slip(const FloNode *node, int dim, const FloTouch *t, const float normal[3]) {
  double n[3] = {(double)normal[0], (double)normal[1], (double)normal[2]}, sum = 0;
  for (int axis = 0; axis < dim; ++axis) {
    double unit[3] = {axis == 0, axis == 1, axis == 2};
    sum += slip_along(node, t, unit);
  }
  return fmax((sum - slip_along(node, t, n)) / (vec_dot(n, n) > 0 ? dim - 1 : 1), 0);
}

// Relative angular velocity, seen through the touch, per unit of angular impulse; the mean over the axes.
static double mean_spin(const FloNode *node, int dim, const FloTouch *t) {
  const double *inverse = node->inverse_inertia;
  double trace = inverse[0] + inverse[4] + inverse[8];
  return (double)(t->weight * t->weight) * trace / (dim == 3 ? 3 : 1);
}

static void weigh_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const int dim = ((const Meetings *)context)->world->def.dim;
  const FloMonolithic *mono = ((const Meetings *)context)->mono;
  for (size_t k = begin; k < end; ++k) {
    FloTouch *t = &mono->touches[k];
    const FloNode *node = mono->partners[t->node].node;
    t->response = (float)response_of(node, t->j);
    if (t->row < mono->n_pressures) continue;
    t->slip = (float)mean_slip(node, dim, t, mono->contacts[t->row - mono->n_pressures].normal);
    t->spin = (float)mean_spin(node, dim, t);
  }
}

void flo_monolithic_weigh_fluid(FloMonolithic *mono) {
  double scale = mono->dt * mono->dt / mono->rest_volume;
  for (size_t n = 0; n < mono->n_coupled; ++n) {
    size_t main = SIZE_MAX;
    double diagonal = (double)mono->diagonal[mono->coupled[n]];
    if (!(diagonal > 0)) continue; // nothing around it has a gradient, so it has no effect
    for (size_t k = mono->fluid_touch_begin[n]; k < mono->fluid_touch_begin[n + 1]; ++k) {
      const FloTouch *t = &mono->touches[k];
      if (!mono->partners[t->node].is_soft &&
          (main == SIZE_MAX || t->response > mono->touches[main].response))
        main = k;
      mono->partners[t->node].fluid_load += scale * (double)t->response / diagonal;
      mono->partners[t->node].has_fluid = true;
    }
    if (main != SIZE_MAX) mono->touches[main].is_main = true;
  }
}

// ---- By nodes ----

static FloLoad load_of(const FloTouch *t) {
  return (FloLoad){.row = t->row,
                   .j = {t->j[0], t->j[1], t->j[2], t->j[3], t->j[4], t->j[5]},
                   .weight = t->weight,
                   .arm = {t->arm[0], t->arm[1], t->arm[2]}};
}

static FloStatus reserve_order(FloWorld *world, FloMonolithic *mono, FloError *error) {
  size_t n_nodes = world->nodes.count, n = mono->n_touches, most_chunks = n / CHUNK_TOUCHES + n_nodes + 1;
  FLO_TRY(flo_monolithic_reserve(world, mono, FLO_BUFFER_ORDER, (n + n_nodes + 2) * 4, 0, error));
  FLO_TRY(
      flo_monolithic_reserve(world, mono, FLO_BUFFER_CHUNKS, most_chunks * sizeof(FloTouchChunk), 0, error));
  FLO_TRY(flo_monolithic_reserve(world, mono, FLO_BUFFER_CHUNK_SUMS,
                                 most_chunks * FLO_CHUNK_SUMS * sizeof(double), 0, error));
  FLO_TRY(flo_monolithic_reserve(world, mono, FLO_BUFFER_LOADS, n * sizeof(FloLoad), 0, error));
  mono->touch_order = mono->buffers[FLO_BUFFER_ORDER].data;
  mono->chunks = mono->buffers[FLO_BUFFER_CHUNKS].data;
  mono->chunk_sums = mono->buffers[FLO_BUFFER_CHUNK_SUMS].data;
  mono->loads = mono->buffers[FLO_BUFFER_LOADS].data;
  return FLO_OK;
}

static FloStatus sort_touches(FloWorld *world, FloMonolithic *mono, FloError *error) {
  size_t n_nodes = world->nodes.count, n = mono->n_touches;
  FLO_TRY(reserve_order(world, mono, error));
  uint32_t *next = mono->touch_order + n; // where the next touch of a node goes
  for (size_t k = 0; k <= n_nodes; ++k) next[k] = 0;
  for (size_t k = 0; k < n; ++k) next[mono->touches[k].node + 1]++;
  for (size_t k = 0; k < n_nodes; ++k) next[k + 1] += next[k];
  mono->n_chunks = 0;
  for (uint32_t node = 0; node < n_nodes; ++node)
    for (uint32_t begin = next[node]; begin < next[node + 1]; begin += CHUNK_TOUCHES) {
      uint32_t end = begin + CHUNK_TOUCHES < next[node + 1] ? begin + CHUNK_TOUCHES : next[node + 1];
      mono->chunks[mono->n_chunks++] = (FloTouchChunk){begin, end, node};
    }
  for (size_t k = 0; k < n; ++k) mono->touch_order[next[mono->touches[k].node]++] = (uint32_t)k;
  for (size_t k = 0; k < n; ++k) mono->loads[k] = load_of(&mono->touches[mono->touch_order[k]]);
  return FLO_OK;
}

static FloStatus start_partners(FloWorld *world, FloMonolithic *mono, FloError *error) {
  size_t n = world->nodes.count;
  FLO_TRY(flo_monolithic_reserve(world, mono, FLO_BUFFER_PARTNERS, (n + 1) * sizeof(FloPartner), 0, error));
  FLO_TRY(flo_monolithic_reserve(world, mono, FLO_BUFFER_WRENCHES, 6 * (n + 1) * sizeof(double), 0, error));
  mono->partners = mono->buffers[FLO_BUFFER_PARTNERS].data;
  mono->wrenches = mono->buffers[FLO_BUFFER_WRENCHES].data;
  for (size_t k = 0; k < n; ++k)
    mono->partners[k] = (FloPartner){
        .node = flo_node_at(world, k), .n_shared = -1, .is_soft = flo_body_is_soft(flo_node_body(world, k))};
  return FLO_OK;
}

FloStatus flo_monolithic_meet(FloWorld *world, FloMonolithic *mono, FloError *error) {
  mono->n_touches = mono->n_contacts = mono->n_coupled = mono->n_chunks = 0;
  FLO_TRY(start_partners(world, mono, error));
  if (world->nodes.count == 0) return FLO_OK;
  if (world->sets[FLO_SET_RIGID].count > 0) FLO_TRY(flo_monolithic_meet_fluid(world, mono, error));
  FLO_TRY(flo_monolithic_meet_contacts(world, mono, error));
  FLO_TRY(flo_monolithic_reserve(world, mono, FLO_BUFFER_CORRECTED, (mono->n_coupled + 1) * sizeof(float), 0,
                                 error));
  mono->corrected = mono->buffers[FLO_BUFFER_CORRECTED].data;
  Meetings meetings = {world, mono};
  flo_parallel_for(world->threads, mono->n_touches, 1024, weigh_range, &meetings);
  return sort_touches(world, mono, error);
}
