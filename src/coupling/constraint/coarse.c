// A second level for the iterations. Gauss-Seidel soon removes errors that vary from particle to particle,
// but carries a change of pressure by one support in an iteration, so that deep fluid needs many. Here all
// rows of a cell, at least two supports wide, change their unknowns together, in proportion to their volumes.
// These changes e, one for each cell, are those of least energy:
//
//   (B M^-1 B^T + softness) e = B v - what the rows want,   B = sum over the rows of the cell, weight times
//   G.
//
// Inside a cell equal changes push particles from all sides and cancel. So B, and with it the energy, comes
// from the surface of the cell. The kernel is as wide as half a cell, so that steps between cells are smooth
// enough: the energy of a slope of pressure is right to a factor near one.
//
// Only rows that push take part. Cells are those of colours.c: different cells of one colour share no
// particle, so that threads may divide them.
#include "base/parallel.h"
#include "coupling/constraint/constraint.h"
#include "solve/conjugate_gradients.h"

#include <string.h>

#define NONE UINT32_MAX

typedef struct Coarse {
  FloWorld *world;
  FloConstraint *c;
  FloCoarse *level;
  bool is_bilateral;
  size_t first; // cell of the present range
} Coarse;

// ---- Cells ----

// The cell with these rows, among those with coloured rows; NONE if there is none.
static uint32_t find_cell(const FloConstraint *c, const uint64_t *keys, uint64_t key) {
  size_t low = 0, high = c->n_groups;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (keys[c->groups[middle].begin] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low < c->n_groups && keys[c->groups[low].begin] == key ? (uint32_t)low : NONE;
}

// Rows that touch nodes join the coloured rows of their cell, or have a cell of their own.
static void list_cells(FloConstraint *c, FloCoarse *level) {
  const uint64_t *keys = c->buffers[FLO_CONSTRAINT_KEYS].data;
  level->n_cells = c->n_groups;
  for (size_t k = 0; k < c->n_groups; ++k) level->cells[k] = (FloCell){.coloured = c->groups[k]};
  for (size_t begin = c->n_coloured, end; begin < c->n_rows; begin = end) {
    for (end = begin + 1; end < c->n_rows && keys[end] == keys[begin];) ++end;
    uint32_t cell = find_cell(c, keys, keys[begin] & ~FLO_TOUCHING_KEY);
    if (cell == NONE) {
      cell = (uint32_t)level->n_cells++;
      level->cells[cell] = (FloCell){0};
    }
    level->cells[cell].touching = (FloRowGroup){(uint32_t)begin, (uint32_t)end};
  }
}

// ---- What cells measure: links ----

typedef struct Gathering {
  uint32_t *place; // of each particle in the list, or NONE
  FloLink *list;
  const FloCellLink *all; // what cells measure of each particle
  size_t count;
} Gathering;

static uint32_t find_place(Gathering *gathering, uint32_t particle) {
  uint32_t *place = &gathering->place[particle];
  if (*place == NONE) {
    *place = (uint32_t)gathering->count++;
    gathering->list[*place] = (FloLink){.particle = particle};
    // Soon the matrix needs what other cells measure of the particle, which is far apart in memory.
    __builtin_prefetch(gathering->all + FLO_CELLS_OF_PARTICLE * (size_t)particle, 1);
    __builtin_prefetch(gathering->all + FLO_CELLS_OF_PARTICLE * (size_t)particle + 4, 1);
  }
  return *place;
}

static void gather_row(const FloConstraint *c, size_t row, Gathering *gathering) {
  const FloLink *links = c->links + c->link_begin[row];
  const float weight = c->weight[row];
  if (!(weight > 0)) return;
  for (uint32_t k = 0, n = c->link_count[row]; k < n; ++k) {
    float *sum = gathering->list[find_place(gathering, links[k].particle)].g;
    for (int axis = 0; axis < 3; ++axis) sum[axis] += weight * links[k].g[axis];
  }
}

// ---- The matrix, without the part of nodes ----

static void add_pair(FloCoarseRow *row, uint32_t other, float value, uint32_t *column_of) {
  if (column_of[other] == NONE) {
    FLO_ASSERT(row->count < FLO_COARSE_COLUMNS);
    column_of[other] = row->count;
    row->column[row->count] = other, row->value[row->count++] = 0;
  }
  row->value[column_of[other]] += value;
}

// A particle that this cell measures, with all cells that have measured it before, and this one.
static void measure_particle(const Coarse *coarse, uint32_t cell, const FloLink *link, uint32_t *column_of) {
  const FloCoarse *level = coarse->level;
  FloCellLink *all = level->of_particle + FLO_CELLS_OF_PARTICLE * (size_t)link->particle;
  const float w = coarse->c->velocity[4 * (size_t)link->particle + 3];
  const float x = w * link->g[0], y = w * link->g[1], z = w * link->g[2];
  const uint32_t n = level->n_of_particle[link->particle]++;
  FLO_ASSERT(n < FLO_CELLS_OF_PARTICLE);
  all[n] = (FloCellLink){{link->g[0], link->g[1], link->g[2]}, cell};
  for (uint32_t k = 0; k <= n; ++k)
    add_pair(&level->rows[cell], all[k].cell, x * all[k].g[0] + y * all[k].g[1] + z * all[k].g[2], column_of);
}

// Where lists stand in memory depends on threads, their contents do not.
static void keep_list(const Coarse *coarse, size_t cell, Gathering *gathering) {
  FloCoarse *level = coarse->level;
  const uint32_t n = flo_links_padded((uint32_t)gathering->count);
  const size_t at = atomic_fetch_add(&level->n_links, n);
  level->cells[cell].first_link = (uint32_t)at, level->cells[cell].n_links = n;
  memcpy(level->links + at, gathering->list, gathering->count * sizeof *gathering->list);
  flo_links_pad(level->links + at, (uint32_t)gathering->count);
}

static void multiply_list(const Coarse *coarse, size_t cell, const Gathering *gathering, int thread) {
  FloCoarseRow *row = &coarse->level->rows[cell];
  uint32_t *column_of = coarse->level->column_of + (size_t)thread * coarse->level->n_cells;
  row->count = 0;
  for (size_t k = 0; k < gathering->count; ++k) {
    measure_particle(coarse, (uint32_t)cell, &gathering->list[k], column_of);
    gathering->place[gathering->list[k].particle] = NONE;
  }
  for (uint32_t k = 0; k < row->count; ++k) column_of[row->column[k]] = NONE;
}

static void gather_cell(const Coarse *coarse, size_t cell, int thread) {
  const FloConstraint *c = coarse->c;
  const FloCell *rows = &coarse->level->cells[cell];
  Gathering gathering = {.all = coarse->level->of_particle,
                         .place = coarse->level->place + (size_t)thread * c->n_fluid,
                         .list = coarse->level->lists + (size_t)thread * coarse->level->list_size};
  for (uint32_t k = rows->coloured.begin; k < rows->coloured.end; ++k) gather_row(c, c->order[k], &gathering);
  for (uint32_t k = rows->touching.begin; k < rows->touching.end; ++k) gather_row(c, c->order[k], &gathering);
  keep_list(coarse, cell, &gathering);
  multiply_list(coarse, cell, &gathering, thread);
}

static void gather_range(void *context, size_t begin, size_t end, int thread) {
  const Coarse *coarse = context;
  for (size_t k = begin; k < end; ++k) gather_cell(coarse, coarse->first + k, thread);
}

// Visits all cells. Those of one colour share no particle; those without coloured rows come one by one.
static void for_colours(Coarse *coarse, FloRangeFn work) {
  const FloConstraint *c = coarse->c;
  for (int colour = 0; colour < c->n_colours; ++colour) {
    coarse->first = c->colour_begin[colour];
    flo_parallel_for(coarse->world->threads, c->colour_begin[colour + 1] - coarse->first,
                     flo_constraint_groups_per_chunk(c), work, coarse);
  }
  coarse->first = c->n_groups;
  work(coarse, 0, coarse->level->n_cells - c->n_groups, 0);
}

// ---- What cells measure: nodes ----

static void add_touch(FloCoarse *level, size_t cell, const FloNodeTouch *touch, double weight) {
  size_t k = level->cells[cell].first_touch;
  while (k < level->n_touches && level->touches[k].node != touch->node) ++k;
  if (k == level->n_touches) level->touches[level->n_touches++] = (FloNodeTouch){.node = touch->node};
  for (int axis = 0; axis < 6; ++axis) {
    level->touches[k].j[axis] += weight * touch->j[axis];
    level->touches[k].reply[axis] += weight * touch->reply[axis];
  }
}

static void touch_cell(FloConstraint *c, size_t cell) {
  FloCell *rows = &c->coarse.cells[cell];
  rows->first_touch = (uint32_t)c->coarse.n_touches;
  for (uint32_t position = rows->touching.begin; position < rows->touching.end; ++position) {
    const float weight = c->weight[c->order[position]];
    const uint32_t *begin = c->touch_begin + (position - c->n_coloured);
    for (uint32_t t = begin[0]; t < begin[1] && weight > 0; ++t)
      add_touch(&c->coarse, cell, &c->touches[t], (double)weight);
  }
  rows->n_touches = (uint32_t)c->coarse.n_touches - rows->first_touch;
}

// ---- The rest of the matrix ----

// So far a row has the columns of cells before its own.
static void mirror_rows(FloCoarse *level) {
  for (uint32_t cell = 0; cell < level->n_cells; ++cell)
    for (uint32_t k = 0, n = level->rows[cell].count; k < n; ++k) {
      FloCoarseRow *other = &level->rows[level->rows[cell].column[k]];
      if (other == &level->rows[cell]) continue;
      FLO_ASSERT(other->count < FLO_COARSE_COLUMNS);
      other->column[other->count] = cell, other->value[other->count++] = level->rows[cell].value[k];
    }
}

static double soften(const FloConstraint *c, const FloRowGroup *rows) {
  double sum = 0;
  for (uint32_t k = rows->begin; k < rows->end; ++k) {
    const size_t row = c->order[k];
    sum += (double)(c->weight[row] * c->weight[row] * c->softness[row]);
  }
  return sum;
}

// All that a cell does to its own rate, by nodes included.
static double own_response(const Coarse *coarse, size_t cell) {
  const FloCoarse *level = coarse->level;
  const FloCoarseRow *row = &level->rows[cell];
  const FloCell *of = &level->cells[cell];
  double sum = level->soft[cell];
  for (uint32_t k = 0; k < row->count; ++k)
    if (row->column[k] == cell) sum += (double)row->value[k];
  for (uint32_t t = of->first_touch; t < of->first_touch + of->n_touches; ++t)
    for (int axis = 0; axis < 6; ++axis) sum += level->touches[t].j[axis] * level->touches[t].reply[axis];
  return sum;
}

// Fluid that fills a closed space bears any pressure that all of it has in common: no motion follows from it,
// so that nothing would bound it. Each cell yields by this share of its own response. Convergence in open
// water does not suffer.
#define COMMON_YIELD 0.01

static void soften_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Coarse *coarse = context;
  const FloCoarse *level = coarse->level;
  for (size_t cell = begin; cell < end; ++cell) {
    level->soft[cell] =
        soften(coarse->c, &level->cells[cell].coloured) + soften(coarse->c, &level->cells[cell].touching);
    const double response = own_response(coarse, cell);
    level->soft[cell] += COMMON_YIELD * response;
    level->inverse[cell] = response > 0 ? 1 / ((1 + COMMON_YIELD) * response) : 0;
  }
}

// ---- Making the level ----

static float weigh(const Coarse *coarse, size_t row) {
  const FloConstraint *c = coarse->c;
  const FloParticles *sets = coarse->world->sets;
  if (!flo_constraint_is_active(c, coarse->is_bilateral, row)) return 0;
  if (row < c->n_fluid || row >= flo_constraint_first_foot(c)) return 1;
  const FloSet set = row < c->n_fluid + c->n_walls ? FLO_SET_BOUNDARY : FLO_SET_RIGID;
  return sets[set].volume[c->wet[row - c->n_fluid]] / (float)c->rest_volume;
}

static void weigh_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Coarse *coarse = context;
  for (size_t row = begin; row < end; ++row) coarse->c->weight[row] = weigh(coarse, row);
}

static FloStatus reserve_cells(FloWorld *world, FloConstraint *c, FloError *error) {
  FloCoarse *level = &c->coarse;
  const size_t most = c->n_groups + (c->n_rows - c->n_coloured) + 1, n_doubles = 6 * most;
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_CELLS, most * sizeof(FloCell), 0, error));
  level->cells = c->buffers[FLO_CONSTRAINT_CELLS].data;
  list_cells(c, level);
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_COARSE_ROWS,
                                 (level->n_cells + 1) * sizeof(FloCoarseRow), 0, error));
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_COARSE_VECTORS,
                                 (n_doubles + 6 * world->nodes.count) * sizeof(double), 0, error));
  double *vectors = c->buffers[FLO_CONSTRAINT_COARSE_VECTORS].data;
  level->rows = c->buffers[FLO_CONSTRAINT_COARSE_ROWS].data;
  level->soft = vectors, level->inverse = vectors + most, level->change = vectors + 2 * most;
  level->residual = vectors + 3 * most, level->way = vectors + 4 * most, level->image = vectors + 5 * most;
  level->motion = vectors + 6 * most;
  return FLO_OK;
}

static size_t count_links(const FloConstraint *c, const FloRowGroup *rows) {
  size_t n = 0;
  for (uint32_t k = rows->begin; k < rows->end; ++k) n += c->link_count[c->order[k]];
  return n;
}

// No cell lists more particles than this.
static size_t longest_list(const FloConstraint *c) {
  size_t most = 0;
  for (size_t k = 0; k < c->coarse.n_cells; ++k) {
    const FloCell *cell = &c->coarse.cells[k];
    const size_t n = count_links(c, &cell->coloured) + count_links(c, &cell->touching);
    if (n > most) most = n;
  }
  return most < c->n_fluid ? most : c->n_fluid;
}

static FloStatus reserve_links(FloWorld *world, FloConstraint *c, FloError *error) {
  FloCoarse *level = &c->coarse;
  const size_t n = c->n_fluid, threads = (size_t)world->threads,
               most = FLO_CELLS_OF_PARTICLE * n + level->n_cells + 1;
  const size_t n_numbers = n + threads * (n + level->n_cells);
  level->list_size = longest_list(c);
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_COARSE_LINKS,
                                 (most + threads * level->list_size) * sizeof(FloLink), 0, error));
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_COARSE_PARTICLES,
                                 (FLO_CELLS_OF_PARTICLE * n + 1) * sizeof(FloCellLink), 0, error));
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_COARSE_NUMBERS, (n_numbers + 1) * 4, 0, error));
  level->links = c->buffers[FLO_CONSTRAINT_COARSE_LINKS].data, level->lists = level->links + most;
  level->of_particle = c->buffers[FLO_CONSTRAINT_COARSE_PARTICLES].data;
  level->n_of_particle = c->buffers[FLO_CONSTRAINT_COARSE_NUMBERS].data;
  level->place = level->n_of_particle + n;
  level->column_of = level->place + threads * n;
  return FLO_OK;
}

FloStatus flo_constraint_reserve_coarse(FloWorld *world, FloConstraint *c, FloError *error) {
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_COARSE_TOUCHES,
                                 (c->n_touches + 1) * sizeof(FloNodeTouch), 0, error));
  c->coarse.touches = c->buffers[FLO_CONSTRAINT_COARSE_TOUCHES].data;
  FLO_TRY(reserve_cells(world, c, error));
  return reserve_links(world, c, error);
}

static void start_lists(const FloWorld *world, const FloConstraint *c, FloCoarse *level) {
  memset(level->n_of_particle, 0, c->n_fluid * 4);
  memset(level->place, 0xff, (size_t)world->threads * (c->n_fluid + level->n_cells) * 4);
  atomic_store(&level->n_links, 0);
  level->n_touches = 0;
}

void flo_constraint_make_coarse(FloWorld *world, FloConstraint *c) {
  c->coarse.n_made++;
  Coarse coarse = {world, c, &c->coarse, world->params[FLO_CONSTRAINT_BILATERAL] != 0, 0};
  flo_parallel_for(world->threads, c->n_rows, 4096, weigh_range, &coarse);
  start_lists(world, c, &c->coarse);
  for_colours(&coarse, gather_range);
  for (size_t cell = 0; cell < c->coarse.n_cells; ++cell) touch_cell(c, cell);
  mirror_rows(&c->coarse);
  flo_parallel_for(world->threads, c->coarse.n_cells, flo_constraint_groups_per_chunk(c), soften_range,
                   &coarse);
}

// ---- Solving for the changes ----

// Whether a row that takes part in the level still pushes, or may pull.
static inline bool is_still_active(const Coarse *coarse, size_t row) {
  return coarse->c->p[row] > 0 || (coarse->is_bilateral && row < coarse->c->n_fluid);
}

// A row that has ceased to push since the level was made asks for nothing.
static double required(const Coarse *coarse, const FloRowGroup *rows) {
  const FloConstraint *c = coarse->c;
  double sum = 0;
  for (uint32_t k = rows->begin; k < rows->end; ++k) {
    const size_t row = c->order[k];
    const float weight = c->weight[row];
    if (!(weight > 0)) continue;
    sum += (double)(weight * (is_still_active(coarse, row)
                                  ? c->heads[k].softness * c->p[row] + c->heads[k].wanted
                                  : flo_constraint_rate_at(c, k)));
  }
  return sum;
}

static void restrict_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Coarse *coarse = context;
  const FloConstraint *c = coarse->c;
  const FloCoarse *level = coarse->level;
  for (size_t cell = begin; cell < end; ++cell) {
    const FloCell *of = &level->cells[cell];
    double sum = (double)flo_passes()->links_rate(level->links + of->first_link, of->n_links, c->velocity);
    for (uint32_t t = of->first_touch; t < of->first_touch + of->n_touches; ++t)
      for (int k = 0; k < 6; ++k)
        sum += level->touches[t].j[k] * c->bodies.motion[6 * (size_t)level->touches[t].node + (size_t)k];
    level->residual[cell] = sum - required(coarse, &of->coloured) - required(coarse, &of->touching);
    level->change[cell] = 0;
  }
}

static double measure(void *context) {
  const FloCoarse *level = ((const Coarse *)context)->level;
  double sum = 0;
  for (size_t k = 0; k < level->n_cells; ++k)
    sum += level->residual[k] * level->inverse[k] * level->residual[k];
  return sum;
}

static void turn(void *context, double beta) {
  const FloCoarse *level = ((const Coarse *)context)->level;
  for (size_t k = 0; k < level->n_cells; ++k)
    level->way[k] = level->inverse[k] * level->residual[k] + (beta > 0 ? beta * level->way[k] : 0);
}

static void image_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const FloCoarse *level = ((const Coarse *)context)->level;
  for (size_t cell = begin; cell < end; ++cell) {
    const FloCoarseRow *row = &level->rows[cell];
    double sum = level->soft[cell] * level->way[cell];
    for (uint32_t k = 0; k < row->count; ++k) sum += (double)row->value[k] * level->way[row->column[k]];
    level->image[cell] = sum;
  }
}

// The part of nodes: all cells that touch a node move it, and feel its motion.
static void add_nodes(const FloWorld *world, const FloCoarse *level) {
  memset(level->motion, 0, 6 * world->nodes.count * sizeof(double));
  for (size_t cell = 0; cell < level->n_cells; ++cell)
    for (uint32_t t = level->cells[cell].first_touch, n = t + level->cells[cell].n_touches; t < n; ++t)
      for (size_t k = 0; k < 6; ++k)
        level->motion[6 * (size_t)level->touches[t].node + k] +=
            level->touches[t].reply[k] * level->way[cell];
  for (size_t cell = 0; cell < level->n_cells; ++cell)
    for (uint32_t t = level->cells[cell].first_touch, n = t + level->cells[cell].n_touches; t < n; ++t)
      for (size_t k = 0; k < 6; ++k)
        level->image[cell] += level->touches[t].j[k] * level->motion[6 * (size_t)level->touches[t].node + k];
}

static double apply(void *context) {
  Coarse *coarse = context;
  const FloCoarse *level = coarse->level;
  double sum = 0;
  flo_parallel_for(coarse->world->threads, level->n_cells, 256, image_range, coarse);
  if (level->n_touches) add_nodes(coarse->world, level);
  for (size_t k = 0; k < level->n_cells; ++k) sum += level->way[k] * level->image[k];
  return sum;
}

static void go(void *context, double alpha) {
  const FloCoarse *level = ((const Coarse *)context)->level;
  for (size_t k = 0; k < level->n_cells; ++k) {
    level->change[k] += alpha * level->way[k];
    level->residual[k] -= alpha * level->image[k];
  }
}

// ---- Making the changes ----

// A row that would have to pull stops at zero, and takes back the rest. So does one that has ceased to push.
static void change_row(const Coarse *coarse, size_t position, float change) {
  const FloConstraint *c = coarse->c;
  const size_t row = c->order[position];
  const float p = c->p[row] + c->weight[row] * change;
  const bool may_pull = coarse->is_bilateral && row < c->n_fluid;
  if (!(c->weight[row] > 0)) return;
  const bool stops = !is_still_active(coarse, row) || (p < 0 && !may_pull);
  c->p[row] = stops ? 0 : p;
  if (stops) flo_constraint_push(c, position, -p);
}

static void change_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Coarse *coarse = context;
  for (size_t n = begin; n < end; ++n) {
    const FloCell *cell = &coarse->level->cells[coarse->first + n];
    const float change = (float)coarse->level->change[coarse->first + n];
    flo_passes()->links_push(coarse->level->links + cell->first_link, cell->n_links, change,
                             coarse->c->velocity);
    for (uint32_t k = cell->coloured.begin; k < cell->coloured.end; ++k) change_row(coarse, k, change);
  }
}

static void change_touching(const Coarse *coarse) {
  const FloCoarse *level = coarse->level;
  for (size_t n = 0; n < level->n_cells; ++n) {
    const FloCell *cell = &level->cells[n];
    const double change = level->change[n];
    for (uint32_t t = cell->first_touch; t < cell->first_touch + cell->n_touches; ++t)
      for (size_t k = 0; k < 6; ++k)
        coarse->c->bodies.motion[6 * (size_t)level->touches[t].node + k] -=
            change * level->touches[t].reply[k];
    for (uint32_t k = cell->touching.begin; k < cell->touching.end; ++k) change_row(coarse, k, (float)change);
  }
}

void flo_constraint_correct(FloWorld *world, FloConstraint *c) {
  Coarse coarse = {world, c, &c->coarse, world->params[FLO_CONSTRAINT_BILATERAL] != 0, 0};
  const FloLinearSystem system = {&coarse, measure, turn, apply, go};
  const FloGradientLimits limits = {.tolerance = 0.1, .max_iterations = (int)c->coarse.n_cells};
  flo_parallel_for(world->threads, c->coarse.n_cells, flo_constraint_groups_per_chunk(c), restrict_range,
                   &coarse);
  flo_conjugate_gradients(&system, &limits);
  for_colours(&coarse, change_range);
  change_touching(&coarse);
}
