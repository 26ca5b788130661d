// The order of elimination: multiple minimum degree (Liu 1985). Each round eliminates all blocks with the
// fewest neighbours that are no neighbours of each other, in the order of their numbers. Eliminating a block
// makes its neighbours each other's neighbours. The neighbours that a block has then are the rows of its
// column in the factors.
#include "solve/sparse.h"

#include <stdlib.h>
#include <string.h>

enum { FOR_ENTRIES = 5, FOR_LISTS = 8 };

// The neighbours of a block that have not been eliminated: a sorted list within `pool`.
typedef struct Neighbours {
  size_t begin, count;
  bool is_eliminated;
  uint32_t round; // in which a neighbour of it was last eliminated
} Neighbours;

typedef struct Ordering {
  FloSparse *sparse;
  Neighbours *blocks;
  FloList pool; // uint32_t; lists that have been replaced stay behind
  uint32_t n_placed, round;
} Ordering;

// ---- Lists of neighbours ----

static int compare_pairs(const void *a, const void *b) {
  const uint32_t *x = a, *y = b;
  if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
  return (x[1] > y[1]) - (x[1] < y[1]);
}

// Adds each link in the other direction, too, and sorts them.
static FloStatus mirror_links(FloSparse *sparse, FloError *error) {
  size_t n = sparse->links.count;
  for (size_t k = 0; k < n; ++k) {
    const uint32_t *link = FLO_LIST(sparse->links, uint32_t) + 2 * k, turned[2] = {link[1], link[0]};
    FLO_TRY(flo_list_append(sparse->memory, &sparse->links, turned, sizeof turned, error));
  }
  if (n) qsort(sparse->links.buffer.data, 2 * n, 2 * sizeof(uint32_t), compare_pairs);
  return FLO_OK;
}

static FloStatus append(Ordering *ordering, uint32_t block, FloError *error) {
  return flo_list_append(ordering->sparse->memory, &ordering->pool, &block, sizeof block, error);
}

static FloStatus list_neighbours(Ordering *ordering, FloError *error) {
  const FloSparse *sparse = ordering->sparse;
  const uint32_t *links = FLO_LIST(sparse->links, uint32_t);
  size_t at = 0;
  for (size_t k = 0; k < sparse->n_blocks; ++k) {
    Neighbours *own = &ordering->blocks[k];
    *own = (Neighbours){.begin = ordering->pool.count};
    for (; at < sparse->links.count && links[2 * at] == k; ++at)
      if (at == 0 || compare_pairs(links + 2 * at, links + 2 * at - 2))
        FLO_TRY(append(ordering, links[2 * at + 1], error));
    own->count = ordering->pool.count - own->begin;
  }
  return FLO_OK;
}

// ---- Elimination ----

// The new list of block u: its own neighbours and those of v, without both.
static FloStatus merge(Ordering *ordering, uint32_t u, uint32_t v, FloError *error) {
  Neighbours *own = &ordering->blocks[u];
  const Neighbours *gone = &ordering->blocks[v];
  const size_t begin = ordering->pool.count;
  size_t i = own->begin, k = gone->begin;
  const size_t end = own->begin + own->count, gone_end = gone->begin + gone->count;
  while (i < end || k < gone_end) {
    const uint32_t *pool = FLO_LIST(ordering->pool, uint32_t);
    uint32_t a = i < end ? pool[i] : UINT32_MAX, b = k < gone_end ? pool[k] : UINT32_MAX;
    uint32_t next = a < b ? a : b;
    i += a == next, k += b == next;
    if (next != u && next != v) FLO_TRY(append(ordering, next, error));
  }
  own->begin = begin, own->count = ordering->pool.count - begin, own->round = ordering->round;
  return FLO_OK;
}

// The rows of its column are known by their blocks at first; their places are found later.
static FloStatus eliminate(Ordering *ordering, uint32_t v, size_t *n_entries, FloError *error) {
  FloSparse *sparse = ordering->sparse;
  Neighbours *own = &ordering->blocks[v];
  FloBuffer *buffer = &sparse->buffers[FOR_ENTRIES];
  size_t size = (*n_entries + own->count) * sizeof(FloSparseEntry);
  if (size > buffer->capacity)
    FLO_TRY(flo_buffer_reserve(sparse->memory, buffer, 2 * size, *n_entries * sizeof(FloSparseEntry), error));
  sparse->entries = buffer->data;
  own->is_eliminated = true;
  sparse->places[v] = ordering->n_placed, sparse->order[ordering->n_placed] = v;
  sparse->begin[ordering->n_placed++] = *n_entries;
  for (size_t k = 0; k < own->count; ++k) {
    uint32_t u = FLO_LIST(ordering->pool, uint32_t)[own->begin + k];
    sparse->entries[(*n_entries)++].place = u;
    FLO_TRY(merge(ordering, u, v, error));
  }
  return FLO_OK;
}

static size_t least_degree(const Ordering *ordering) {
  size_t least = SIZE_MAX;
  for (size_t k = 0; k < ordering->sparse->n_blocks; ++k)
    if (!ordering->blocks[k].is_eliminated) least = flo_min_size(least, ordering->blocks[k].count);
  return least;
}

static FloStatus eliminate_all(Ordering *ordering, FloError *error) {
  FloSparse *sparse = ordering->sparse;
  size_t n_entries = 0;
  while (ordering->n_placed < sparse->n_blocks) {
    size_t least = least_degree(ordering);
    ++ordering->round;
    for (uint32_t k = 0; k < sparse->n_blocks; ++k) {
      const Neighbours *own = &ordering->blocks[k];
      if (own->is_eliminated || own->count != least || own->round == ordering->round) continue;
      FLO_TRY(eliminate(ordering, k, &n_entries, error));
    }
  }
  sparse->begin[sparse->n_blocks] = n_entries;
  return FLO_OK;
}

// ---- Places ----

static int compare_entries(const void *a, const void *b) {
  uint32_t x = ((const FloSparseEntry *)a)->place, y = ((const FloSparseEntry *)b)->place;
  return (x > y) - (x < y);
}

static void sort_columns(FloSparse *sparse) {
  for (size_t k = 0; k < sparse->n_blocks; ++k) {
    size_t begin = sparse->begin[k], count = sparse->begin[k + 1] - begin;
    for (size_t e = begin; e < begin + count; ++e)
      sparse->entries[e].place = sparse->places[sparse->entries[e].place];
    if (count > 1) qsort(sparse->entries + begin, count, sizeof(FloSparseEntry), compare_entries);
  }
}

FloStatus flo_sparse_eliminate(FloSparse *sparse, FloError *error) {
  Ordering ordering = {.sparse = sparse};
  FLO_TRY(mirror_links(sparse, error));
  FLO_TRY(flo_buffer_reserve(sparse->memory, &sparse->buffers[FOR_LISTS],
                             sparse->n_blocks * sizeof(Neighbours), 0, error));
  ordering.blocks = sparse->buffers[FOR_LISTS].data;
  FloStatus status = list_neighbours(&ordering, error);
  if (status == FLO_OK) status = eliminate_all(&ordering, error);
  flo_buffer_free(sparse->memory, &ordering.pool.buffer);
  if (status == FLO_OK) sort_columns(sparse);
  return status;
}
