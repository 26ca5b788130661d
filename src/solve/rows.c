// Rows: building them, and the effect of one row or all rows on velocities.
//
// Each node sums over its rows, in the order of the rows; nothing is scattered. So all loops give the same
// bits on any number of threads.
#include "solve/rows.h"

#include "base/parallel.h"
#include "solve/dense.h"

#include <string.h>

enum { ROWS_PER_CHUNK = 256, NODES_PER_CHUNK = 256, CHUNK_NUMBERS = 6 };

enum {
  BUFFER_ROWS,
  BUFFER_BLOCKS,
  BUFFER_NUMBERS,
  BUFFER_NODES,
  BUFFER_NODE_BLOCKS,
  BUFFER_SUMS,
  BUFFER_COLOURS,
  BUFFER_COLOURING,
  BUFFER_SCRATCH
};
_Static_assert((int)BUFFER_SCRATCH + 1 == (int)FLO_ROW_BUFFERS, "a buffer for each");

// ---- Building ----

FloRowDef flo_default_row_def(void) {
  return (FloRowDef){.width = 1, .low = -INFINITY, .high = INFINITY, .normal = FLO_NO_ROW};
}

void flo_rows_init(FloRows *rows, FloMemory *memory) { *rows = (FloRows){.memory = memory}; }

void flo_rows_free(FloRows *rows) {
  flo_buffers_free(rows->memory, rows->buffers, FLO_ROW_BUFFERS);
  *rows = (FloRows){.memory = rows->memory};
}

void flo_rows_clear(FloRows *rows) {
  rows->n_rows = rows->n_blocks = rows->n_numbers = rows->n_components = 0;
  rows->n_nodes = rows->n_colours = 0;
  rows->has_friction = false;
}

// Reserves n items and keeps the first `keep`. Reserves some more at first, since most lists get longer.
static FloStatus grow(FloRows *rows, int which, size_t n, size_t keep, size_t size, FloError *error) {
  enum { LEAST = 64 };
  return flo_buffer_reserve(rows->memory, &rows->buffers[which], flo_max_size(n, LEAST) * size, keep * size,
                            error);
}

static bool is_normal_row(const FloRows *rows, uint32_t k) {
  return k < rows->n_rows && rows->rows[k].def.width == 1 && rows->rows[k].def.normal == FLO_NO_ROW;
}

FloStatus flo_rows_add(FloRows *rows, const FloRowDef *def, FloError *error) {
  FLO_ASSERT(def->width == 1 || def->width == 3);
  FLO_ASSERT(def->normal == FLO_NO_ROW || is_normal_row(rows, def->normal));
  FLO_TRY(grow(rows, BUFFER_ROWS, rows->n_rows + 1, rows->n_rows, sizeof(FloRow), error));
  rows->rows = rows->buffers[BUFFER_ROWS].data;
  rows->rows[rows->n_rows++] = (FloRow){
      .def = *def, .first_block = (uint32_t)rows->n_blocks, .component = (uint32_t)rows->n_components};
  rows->n_components += (size_t)def->width;
  rows->has_friction = rows->has_friction || def->normal != FLO_NO_ROW;
  return FLO_OK;
}

static FloRowBlock *find_block(const FloRows *rows, const FloRow *row, uint32_t node) {
  for (uint32_t k = row->first_block; k < row->first_block + row->n_blocks; ++k)
    if (rows->blocks[k].node == node) return &rows->blocks[k];
  return NULL;
}

// Adds a block of zeros at the end of the last row. It has space for J, and later for M^-1 J^T.
static FloStatus append_block(FloRows *rows, uint32_t node, FloError *error) {
  FloRow *row = &rows->rows[rows->n_rows - 1];
  size_t n = (size_t)(2 * 6 * row->def.width);
  FLO_TRY(grow(rows, BUFFER_BLOCKS, rows->n_blocks + 1, rows->n_blocks, sizeof(FloRowBlock), error));
  FLO_TRY(grow(rows, BUFFER_NUMBERS, rows->n_numbers + n, rows->n_numbers, sizeof(double), error));
  rows->blocks = rows->buffers[BUFFER_BLOCKS].data, rows->numbers = rows->buffers[BUFFER_NUMBERS].data;
  rows->blocks[rows->n_blocks++] =
      (FloRowBlock){.node = node, .row = (uint32_t)rows->n_rows - 1, .numbers = rows->n_numbers};
  memset(rows->numbers + rows->n_numbers, 0, n * sizeof(double));
  rows->n_numbers += n;
  row->n_blocks++;
  return FLO_OK;
}

FloStatus flo_rows_add_block(FloRows *rows, uint32_t node, const double *j, FloError *error) {
  FLO_ASSERT(rows->n_rows > 0);
  FloRow *row = &rows->rows[rows->n_rows - 1];
  FloRowBlock *block = find_block(rows, row, node);
  if (!block) {
    FLO_TRY(append_block(rows, node, error));
    block = &rows->blocks[rows->n_blocks - 1];
  }
  for (int k = 0; k < 6 * row->def.width; ++k) rows->numbers[block->numbers + (size_t)k] += j[k];
  return FLO_OK;
}

void flo_rows_point(const double direction[3], const double arm[3], double sign, double j[6]) {
  vec_scale(direction, sign, j);
  vec_cross(arm, j, j + 3);
}

void flo_rows_slide(const double normal[3], const double arm[3], double sign, double j[18]) {
  for (int axis = 0; axis < 3; ++axis) {
    double along[3] = {axis == 0, axis == 1, axis == 2};
    vec_add_scaled(along, normal, -normal[axis], along);
    flo_rows_point(along, arm, sign, j + 6 * axis);
  }
}

// ---- Finishing ----

static const double *jacobian_of(const FloRows *rows, const FloRowBlock *block) {
  return rows->numbers + block->numbers;
}

// M^-1 J^T, behind J.
static double *reaction_of(const FloRows *rows, const FloRow *row, const FloRowBlock *block) {
  return rows->numbers + block->numbers + 6 * row->def.width;
}

static double dot6(const double a[6], const double b[6]) { return vec_dot(a, b) + vec_dot(a + 3, b + 3); }

static double largest_of(int width, const double matrix[9]) {
  return width == 1 ? matrix[0] : flo_dense_largest_eigenvalue(matrix);
}

typedef struct Weighing {
  FloRows *rows;
  FloMobilityFn mobility;
  const void *context; // of the mobility
} Weighing;

static bool can_move(const Weighing *weighing, size_t node) {
  bool is_moved = false;
  for (int axis = 0; axis < 6; ++axis) {
    double unit[6] = {0}, out[6];
    unit[axis] = 1;
    weighing->mobility(weighing->context, node, unit, out);
    for (int k = 0; k < 6; ++k) is_moved = is_moved || out[k] != 0;
  }
  return is_moved;
}

// Marks nodes that move with a 1, in the place of their share.
static void mark_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Weighing *weighing = context;
  for (size_t node = begin; node < end; ++node)
    weighing->rows->scratch.share[node] = can_move(weighing, node);
}

// Finds M^-1 J^T and J M^-1 J^T of one block, and adds the latter to that of the row.
static void weigh_block(const Weighing *weighing, const FloRow *row, FloRowBlock *block, double matrix[9]) {
  const FloRows *rows = weighing->rows;
  const double *j = jacobian_of(rows, block);
  double *reaction = reaction_of(rows, row, block), own[9] = {0};
  const int width = row->def.width;
  for (int k = 0; k < width; ++k)
    weighing->mobility(weighing->context, block->node, j + 6 * k, reaction + 6 * k);
  for (int i = 0; i < width; ++i)
    for (int k = 0; k < width; ++k) own[3 * i + k] = dot6(j + 6 * i, reaction + 6 * k);
  for (int k = 0; k < 9; ++k) matrix[k] += own[k];
  block->response = largest_of(width, own);
  block->is_held = rows->scratch.share[block->node] == 0;
}

static void weigh_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Weighing *weighing = context;
  FloRows *rows = weighing->rows;
  for (size_t n = begin; n < end; ++n) {
    FloRow *row = &rows->rows[n];
    double matrix[9] = {0};
    for (uint32_t k = row->first_block; k < row->first_block + row->n_blocks; ++k)
      weigh_block(weighing, row, &rows->blocks[k], matrix);
    row->response = largest_of(row->def.width, matrix) + row->def.softness;
  }
}

static FloStatus reserve_scratch(FloRows *rows, FloError *error) {
  FloRowScratch *s = &rows->scratch;
  double **const of_components[] = {&s->move, &s->way, &s->error, &s->from, &s->from_error};
  size_t n = rows->n_components * FLO_COUNT_OF(of_components) + rows->n_rows + 13 * rows->n_nodes;
  FLO_TRY(grow(rows, BUFFER_SCRATCH, n, 0, sizeof(double), error));
  double *next = rows->buffers[BUFFER_SCRATCH].data;
  for (size_t k = 0; k < FLO_COUNT_OF(of_components); ++k) {
    *of_components[k] = next;
    next += rows->n_components;
  }
  s->response = next;
  s->start = s->response + rows->n_rows;
  s->changes = s->start + 6 * rows->n_nodes;
  s->share = s->changes + 6 * rows->n_nodes;
  return FLO_OK;
}

// There are at most as many colours as rows.
static FloStatus reserve_lists(FloRows *rows, FloError *error) {
  size_t n_nodes = rows->n_nodes, n_rows = rows->n_rows;
  size_t n_chunks = n_nodes + flo_rows_chunks_of(rows->n_blocks);
  FLO_TRY(grow(rows, BUFFER_NODES, 2 * (n_nodes + 1) + n_chunks + 1, 0, sizeof(uint32_t), error));
  FLO_TRY(grow(rows, BUFFER_NODE_BLOCKS, rows->n_blocks, 0, sizeof(uint32_t), error));
  FLO_TRY(grow(rows, BUFFER_SUMS, n_chunks, 0, CHUNK_NUMBERS * sizeof(double), error));
  FLO_TRY(grow(rows, BUFFER_COLOURS, 2 * n_rows + 1, 0, sizeof(uint32_t), error));
  FLO_TRY(grow(rows, BUFFER_COLOURING, n_nodes, 0, sizeof(uint64_t) + sizeof(uint32_t), error));
  rows->node_begin = rows->buffers[BUFFER_NODES].data, rows->node_chunk = rows->node_begin + n_nodes + 1;
  rows->chunk_begin = rows->node_chunk + n_nodes + 1;
  rows->node_blocks = rows->buffers[BUFFER_NODE_BLOCKS].data;
  rows->chunk_sums = rows->buffers[BUFFER_SUMS].data;
  rows->colour_rows = rows->buffers[BUFFER_COLOURS].data, rows->colour_begin = rows->colour_rows + n_rows;
  return FLO_OK;
}

FloStatus flo_rows_finish_with(FloRows *rows, FloMobilityFn mobility, const void *context, size_t n_nodes,
                               int threads, FloError *error) {
  Weighing weighing = {rows, mobility, context};
  rows->n_nodes = n_nodes;
  for (size_t k = 0; k < rows->n_blocks; ++k) FLO_ASSERT(rows->blocks[k].node < n_nodes);
  FLO_TRY(reserve_lists(rows, error));
  FLO_TRY(reserve_scratch(rows, error));
  flo_parallel_for(threads, n_nodes, NODES_PER_CHUNK, mark_range, &weighing);
  flo_parallel_for(threads, rows->n_rows, ROWS_PER_CHUNK, weigh_range, &weighing);
  flo_rows_sort(rows);
  uint64_t *used = rows->buffers[BUFFER_COLOURING].data;
  flo_rows_colour(rows, used, (uint32_t *)(used + n_nodes));
  return FLO_OK;
}

static void apply_node(const void *context, size_t node, const double wrench[6], double out[6]) {
  flo_node_apply((const FloNode *)context + node, wrench, out);
}

FloStatus flo_rows_finish(FloRows *rows, const FloNode *nodes, size_t n_nodes, int threads, FloError *error) {
  return flo_rows_finish_with(rows, apply_node, nodes, n_nodes, threads, error);
}

// ---- One row ----

double flo_row_length(const FloRow *row, const double *vector) {
  return row->def.width == 1 ? fabs(vector[0]) : vec_length(vector);
}

void flo_row_error(const FloRows *rows, const FloRow *row, const double *velocities, const double *own,
                   double error[3]) {
  const int width = row->def.width;
  for (int k = 0; k < width; ++k) error[k] = row->def.softness * own[k] - row->def.wanted[k];
  for (uint32_t n = row->first_block; n < row->first_block + row->n_blocks; ++n) {
    const FloRowBlock *block = &rows->blocks[n];
    const double *j = jacobian_of(rows, block), *v = velocities + 6 * (size_t)block->node;
    for (int k = 0; k < width; ++k) error[k] += dot6(j + 6 * k, v);
  }
}

// Held nodes are not written: other threads may read them.
void flo_row_push(const FloRows *rows, const FloRow *row, const double impulse[3], double *velocities) {
  for (uint32_t n = row->first_block; n < row->first_block + row->n_blocks; ++n) {
    const FloRowBlock *block = &rows->blocks[n];
    const double *reaction = reaction_of(rows, row, block);
    double *v = velocities + 6 * (size_t)block->node;
    if (block->is_held) continue;
    for (int k = 0; k < row->def.width; ++k)
      for (int axis = 0; axis < 6; ++axis) v[axis] += reaction[6 * k + axis] * impulse[k];
  }
}

static double longest_of(const FloRows *rows, const FloRow *row, const double *lambda) {
  if (row->def.normal == FLO_NO_ROW) return row->def.high;
  return row->def.friction * fmax(lambda[rows->rows[row->def.normal].component], 0);
}

void flo_row_project(const FloRows *rows, const FloRow *row, const double *lambda, double own[3]) {
  if (row->def.width == 1 && row->def.normal == FLO_NO_ROW) {
    own[0] = fmin(fmax(own[0], row->def.low), row->def.high);
    return;
  }
  double length = flo_row_length(row, own), longest = longest_of(rows, row, lambda);
  if (length <= longest) return;
  for (int k = 0; k < row->def.width; ++k) own[k] *= longest / length;
}

void flo_row_choose(const FloRows *rows, const FloRow *row, double response, const double error[3],
                    const double *lambda, const double *own, double chosen[3]) {
  for (int k = 0; k < row->def.width; ++k) chosen[k] = own[k] - error[k] / response;
  flo_row_project(rows, row, lambda, chosen);
}

// ---- All rows ----

typedef struct Pass {
  const FloRows *rows;
  const double *start;
  double *lambda, *velocities, *errors;
  bool is_friction; // visits rows with a normal row, else the others
} Pass;

static void project_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Pass *pass = context;
  for (size_t n = begin; n < end; ++n) {
    const FloRow *row = &pass->rows->rows[n];
    double *own = pass->lambda + row->component;
    if ((row->def.normal != FLO_NO_ROW) != pass->is_friction) continue;
    if (row->response > 0) flo_row_project(pass->rows, row, pass->lambda, own);
    for (int k = 0; k < row->def.width && !(row->response > 0); ++k) own[k] = 0;
  }
}

// Normal rows first: the bounds of friction depend on them.
void flo_rows_project(const FloRows *rows, int threads, double *lambda) {
  Pass pass = {.rows = rows, .lambda = lambda};
  flo_parallel_for(threads, rows->n_rows, ROWS_PER_CHUNK, project_range, &pass);
  pass.is_friction = true;
  if (rows->has_friction) flo_parallel_for(threads, rows->n_rows, ROWS_PER_CHUNK, project_range, &pass);
}

static void add_blocks(const FloRows *rows, const double *lambda, uint32_t begin, uint32_t end,
                       double sums[CHUNK_NUMBERS]) {
  memset(sums, 0, CHUNK_NUMBERS * sizeof *sums);
  for (uint32_t n = begin; n < end; ++n) {
    const FloRowBlock *block = &rows->blocks[rows->node_blocks[n]];
    const FloRow *row = &rows->rows[block->row];
    const double *reaction = reaction_of(rows, row, block), *own = lambda + row->component;
    for (int k = 0; k < row->def.width; ++k)
      for (int axis = 0; axis < 6; ++axis) sums[axis] += reaction[6 * k + axis] * own[k];
  }
}

static void chunk_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Pass *pass = context;
  const FloRows *rows = pass->rows;
  for (size_t n = begin; n < end; ++n)
    add_blocks(rows, pass->lambda, rows->chunk_begin[n], rows->chunk_begin[n + 1],
               rows->chunk_sums + CHUNK_NUMBERS * n);
}

static void node_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Pass *pass = context;
  const FloRows *rows = pass->rows;
  for (size_t node = begin; node < end; ++node) {
    double *v = pass->velocities + 6 * node;
    memmove(v, pass->start + 6 * node, 6 * sizeof *v);
    for (uint32_t n = rows->node_chunk[node]; n < rows->node_chunk[node + 1]; ++n)
      for (int axis = 0; axis < 6; ++axis) v[axis] += rows->chunk_sums[CHUNK_NUMBERS * (size_t)n + axis];
  }
}

// Of nodes that move alone.
static void gather_alone(const FloRows *rows, int threads, const double *start, const double *lambda,
                         double *velocities) {
  enum { CHUNKS_AT_ONCE = 16 };
  Pass pass = {.rows = rows, .start = start, .lambda = (double *)lambda, .velocities = velocities};
  size_t n_chunks = rows->node_chunk[rows->n_nodes];
  flo_parallel_for(threads, n_chunks, CHUNKS_AT_ONCE, chunk_range, &pass);
  flo_parallel_for(threads, rows->n_nodes, NODES_PER_CHUNK, node_range, &pass);
}

void flo_rows_gather(const FloRows *rows, int threads, const double *start, const double *lambda,
                     double *velocities) {
  double *changes = rows->scratch.changes;
  if (!rows->follow) {
    gather_alone(rows, threads, start, lambda, velocities);
    return;
  }
  memset(changes, 0, 6 * rows->n_nodes * sizeof *changes);
  gather_alone(rows, threads, changes, lambda, changes);
  rows->follow(rows->follower, changes);
  for (size_t k = 0; k < 6 * rows->n_nodes; ++k) velocities[k] = start[k] + changes[k];
}

static void error_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Pass *pass = context;
  for (size_t n = begin; n < end; ++n) {
    const FloRow *row = &pass->rows->rows[n];
    double error[3];
    flo_row_error(pass->rows, row, pass->velocities, pass->lambda + row->component, error);
    for (int k = 0; k < row->def.width; ++k) pass->errors[row->component + (size_t)k] = error[k];
  }
}

void flo_rows_errors(const FloRows *rows, int threads, const double *velocities, const double *lambda,
                     double *errors) {
  Pass pass = {
      .rows = rows, .lambda = (double *)lambda, .velocities = (double *)velocities, .errors = errors};
  flo_parallel_for(threads, rows->n_rows, ROWS_PER_CHUNK, error_range, &pass);
}

static void raise_residual(const void *context, size_t begin, size_t end, double *largest) {
  const Pass *pass = context;
  for (size_t n = begin; n < end; ++n) {
    const FloRow *row = &pass->rows->rows[n];
    const double *own = pass->lambda + row->component;
    double error[3], chosen[3];
    if (!(row->response > 0)) continue;
    flo_row_error(pass->rows, row, pass->velocities, own, error);
    flo_row_choose(pass->rows, row, row->response, error, pass->lambda, own, chosen);
    for (int k = 0; k < row->def.width; ++k) chosen[k] -= own[k];
    largest[0] = fmax(largest[0], flo_row_length(row, chosen) * row->response);
  }
}

double flo_rows_residual(const FloRows *rows, int threads, const double *velocities, const double *lambda) {
  Pass pass = {.rows = rows, .lambda = (double *)lambda, .velocities = (double *)velocities};
  double largest;
  flo_parallel_max(threads, rows->n_rows, raise_residual, &pass, 1, &largest);
  return fmax(largest, 0);
}
