#include "coupling/forces/soft_yield.h"

#include <string.h>

// ---- Rows ----

FloStatus flo_soft_yield_begin(FloSoftYield *soft, FloWorld *world, FloError *error) {
  double **vectors[] = {&soft->yield, &soft->left, &soft->answer, &soft->way, &soft->pull, &soft->image};
  const size_t n = 3 * world->nodes.count + 1;
  soft->n_rows = soft->n_pushes = 0;
  FLO_TRY(flo_buffer_reserve(&world->memory, &soft->node_buffer, FLO_COUNT_OF(vectors) * n * sizeof(double),
                             0, error));
  memset(soft->node_buffer.data, 0, FLO_COUNT_OF(vectors) * n * sizeof(double));
  for (size_t k = 0; k < FLO_COUNT_OF(vectors); ++k) *vectors[k] = (double *)soft->node_buffer.data + k * n;
  return FLO_OK;
}

void flo_soft_yield_free(FloSoftYield *soft, FloMemory *memory) {
  FloBuffer *buffers[] = {&soft->row_buffer, &soft->push_buffer, &soft->node_buffer};
  for (size_t k = 0; k < FLO_COUNT_OF(buffers); ++k) flo_buffer_free(memory, buffers[k]);
}

// A buffer that grows gets half as much again, so that memory is seldom allocated.
static FloStatus grow(FloWorld *world, FloBuffer *buffer, size_t count, size_t size, FloError *error) {
  const size_t needed = count * size;
  if (needed <= buffer->capacity) return FLO_OK;
  return flo_buffer_reserve(&world->memory, buffer, needed + needed / 2, buffer->capacity, error);
}

void flo_soft_yield_open(FloSoftYield *soft, size_t row) {
  soft->next_row = (uint32_t)row;
  soft->is_open = false;
}

// The row that was opened last gets its first push.
static FloStatus add_row(FloSoftYield *soft, FloWorld *world, FloError *error) {
  FLO_TRY(grow(world, &soft->row_buffer, soft->n_rows + 2, sizeof(FloSoftRow), error));
  soft->rows = soft->row_buffer.data;
  soft->rows[soft->n_rows++] = (FloSoftRow){.row = soft->next_row, .first = (uint32_t)soft->n_pushes};
  soft->is_open = true;
  return FLO_OK;
}

FloStatus flo_soft_yield_push(FloSoftYield *soft, FloWorld *world, uint32_t node, const double j[3],
                              FloError *error) {
  if (!soft->is_open) FLO_TRY(add_row(soft, world, error));
  size_t k = soft->rows[soft->n_rows - 1].first;
  while (k < soft->n_pushes && soft->pushes[k].node != node) ++k;
  if (k == soft->n_pushes) {
    FLO_TRY(grow(world, &soft->push_buffer, k + 1, sizeof(FloSoftPush), error));
    soft->pushes = soft->push_buffer.data;
    soft->pushes[soft->n_pushes++] = (FloSoftPush){.node = node};
    soft->rows[soft->n_rows].first = (uint32_t)soft->n_pushes;
  }
  for (int axis = 0; axis < 3; ++axis) soft->pushes[k].j[axis] += (float)j[axis];
  return FLO_OK;
}

// ---- J and its transpose ----

static double along(const FloSoftYield *soft, size_t n, const double *velocities) {
  double sum = 0;
  for (uint32_t k = soft->rows[n].first; k < soft->rows[n + 1].first; ++k)
    for (size_t axis = 0; axis < 3; ++axis)
      sum += (double)soft->pushes[k].j[axis] * velocities[3 * soft->pushes[k].node + axis];
  return sum;
}

static void add_push(const FloSoftYield *soft, size_t n, double thrust, double *forces) {
  for (uint32_t k = soft->rows[n].first; k < soft->rows[n + 1].first; ++k)
    for (size_t axis = 0; axis < 3; ++axis)
      forces[3 * soft->pushes[k].node + axis] += (double)soft->pushes[k].j[axis] * thrust;
}

float flo_soft_yield_along(const FloSoftYield *soft, size_t n) { return (float)along(soft, n, soft->yield); }

// ---- Conjugate gradients ----

// The products of the nodes of soft bodies; all others are zero.
static double dot(const FloWorld *world, const double *a, const double *b) {
  double sum = 0;
  for (size_t i = 0; i < 3 * world->nodes.count; ++i) sum += a[i] * b[i];
  return sum;
}

// A^-1.
static void respond(const FloWorld *world, const double *impulses, double *changes) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    const size_t first = 3 * body->first_node;
    if (flo_body_is_soft(body) && body->n_nodes) body->kind->respond(body, impulses + first, changes + first);
  }
}

// image = A way + c J^T D^-1 J way. A way is known from the way's own making.
static void apply(const FloSoftYield *soft, const FloWorld *world, double scale) {
  memcpy(soft->image, soft->pull, 3 * world->nodes.count * sizeof(double));
  for (size_t n = 0; n < soft->n_rows; ++n)
    if (soft->rows[n].weight > 0)
      add_push(soft, n, scale * (double)soft->rows[n].weight * along(soft, n, soft->way), soft->image);
}

enum { MOST_STEPS = 40 };
#define SMALL 1e-4 // square of what may be left of the error, as a share

static void solve(FloSoftYield *soft, const FloWorld *world, double scale) {
  const size_t n = 3 * world->nodes.count;
  memset(soft->yield, 0, n * sizeof(double)), memset(soft->left, 0, n * sizeof(double));
  memset(soft->way, 0, n * sizeof(double)), memset(soft->pull, 0, n * sizeof(double));
  for (size_t k = 0; k < soft->n_rows; ++k)
    add_push(soft, k, scale * (double)soft->rows[k].thrust, soft->left);
  double first = 0, before = 0;
  for (int step = 0; step < MOST_STEPS; ++step) {
    respond(world, soft->left, soft->answer);
    const double square = dot(world, soft->left, soft->answer), beta = before > 0 ? square / before : 0;
    if (step == 0) first = square;
    if (!(square > SMALL * first)) break;
    for (size_t i = 0; i < n; ++i) {
      soft->way[i] = soft->answer[i] + beta * soft->way[i];
      soft->pull[i] = soft->left[i] + beta * soft->pull[i]; // A answer = left
    }
    apply(soft, world, scale);
    const double length = square / dot(world, soft->way, soft->image);
    for (size_t i = 0; i < n; ++i) {
      soft->yield[i] += length * soft->way[i];
      soft->left[i] -= length * soft->image[i];
    }
    before = square;
  }
}

// ---- Which rows yield ----

// A row whose pressure the yield would clamp to zero loses exactly its pressure: D dp = -D p in place of -(e
// - J y). Returns whether there are such rows.
static bool choose(FloSoftYield *soft, const FloYieldingRows *rows, bool is_refined) {
  bool has_clamped = false;
  for (size_t n = 0; n < soft->n_rows; ++n) {
    FloSoftRow *r = &soft->rows[n];
    const float p = rows->pressure[r->row], e = rows->error[r->row], d = rows->diagonal[r->row];
    r->weight = d > 0 && (p > 0 || e < 0) ? 1 / d : 0;
    r->thrust = r->weight * e;
    if (!is_refined || !(r->weight > 0)) continue;
    const float eased = e - (float)along(soft, n, soft->yield);
    if (p > rows->relaxation * eased / d) continue;
    r->weight = 0, r->thrust = p / rows->relaxation;
    has_clamped = true;
  }
  return has_clamped;
}

// Yields only make the solver's steps better. What is still wrong with them after these rounds, or after
// MOST_STEPS, costs iterations, and the solver's own residual shows it. So nothing is told of it here.
void flo_soft_yield_find(FloSoftYield *soft, const FloWorld *world, const FloYieldingRows *rows) {
  enum { ROUNDS = 3 };
  if (soft->n_rows == 0) return;
  for (int k = 0; k < ROUNDS; ++k) {
    const bool has_clamped = choose(soft, rows, k > 0);
    if (k > 0 && !has_clamped) return;
    solve(soft, world, rows->scale);
  }
}
