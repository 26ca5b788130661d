// Minimum degree for a small part of a graph. The neighbours of each block row are a set of bits. Eliminating
// a row makes its neighbours each other's neighbours, so its bits are added to theirs.
#include "solve/block_order.h"

#include <string.h>

typedef struct Leaf {
  const FloBlockMatrix *matrix;
  uint32_t *part, *local;
  size_t n, n_words;
  uint64_t *bits;    // n rows of n_words words
  uint32_t *degrees; // UINT32_MAX: eliminated
  uint32_t *order;
} Leaf;

// Gives numbers to the part and then to the neighbours around it; returns how many there are.
static uint32_t number_all(const FloBlockMatrix *matrix, const uint32_t *part, size_t n, uint32_t *local) {
  uint32_t count = 0;
  for (size_t i = 0; i < n; ++i) local[part[i]] = count++;
  for (size_t i = 0; i < n; ++i)
    for (size_t k = matrix->begin[part[i]]; k < matrix->begin[part[i] + 1]; ++k)
      if (local[matrix->columns[k]] == UINT32_MAX) local[matrix->columns[k]] = count++;
  return count;
}

static void forget_numbers(const Leaf *leaf) {
  for (size_t i = 0; i < leaf->n; ++i)
    for (size_t k = leaf->matrix->begin[leaf->part[i]]; k < leaf->matrix->begin[leaf->part[i] + 1]; ++k)
      leaf->local[leaf->matrix->columns[k]] = UINT32_MAX;
}

static uint32_t count_bits(const uint64_t *bits, size_t n_words) {
  int count = 0;
  for (size_t w = 0; w < n_words; ++w) count += __builtin_popcountll(bits[w]);
  return (uint32_t)count;
}

static void set_neighbours(Leaf *leaf) {
  memset(leaf->bits, 0, leaf->n * leaf->n_words * sizeof(uint64_t));
  for (size_t i = 0; i < leaf->n; ++i) {
    uint64_t *row = leaf->bits + i * leaf->n_words;
    for (size_t k = leaf->matrix->begin[leaf->part[i]]; k < leaf->matrix->begin[leaf->part[i] + 1]; ++k) {
      uint32_t j = leaf->local[leaf->matrix->columns[k]];
      row[j / 64] |= (uint64_t)1 << j % 64;
    }
    leaf->degrees[i] = count_bits(row, leaf->n_words);
  }
}

static size_t least_degree(const Leaf *leaf) {
  size_t least = 0;
  for (size_t i = 1; i < leaf->n; ++i)
    if (leaf->degrees[i] < leaf->degrees[least]) least = i;
  return least;
}

static void eliminate(Leaf *leaf, size_t v) {
  const uint64_t *gone = leaf->bits + v * leaf->n_words;
  leaf->degrees[v] = UINT32_MAX;
  for (size_t i = 0; i < leaf->n; ++i) {
    uint64_t *row = leaf->bits + i * leaf->n_words;
    if (leaf->degrees[i] == UINT32_MAX || !(gone[i / 64] >> i % 64 & 1)) continue;
    for (size_t w = 0; w < leaf->n_words; ++w) row[w] |= gone[w];
    row[v / 64] &= ~((uint64_t)1 << v % 64);
    leaf->degrees[i] = count_bits(row, leaf->n_words);
  }
}

FloStatus flo_block_order_leaf(const FloBlockMatrix *matrix, FloMemory *memory, uint32_t *part, size_t n,
                               uint32_t *local, FloBuffer *room, FloError *error) {
  Leaf leaf = {.matrix = matrix, .part = part, .local = local, .n = n};
  leaf.n_words = (number_all(matrix, part, n, local) + 63) / 64;
  size_t size = n * leaf.n_words * sizeof(uint64_t) + 2 * n * sizeof(uint32_t);
  FloStatus status = flo_buffer_reserve(memory, room, size, 0, error);
  if (status == FLO_OK) {
    leaf.bits = room->data, leaf.degrees = (uint32_t *)(leaf.bits + n * leaf.n_words);
    leaf.order = leaf.degrees + n;
    set_neighbours(&leaf);
  }
  forget_numbers(&leaf);
  FLO_TRY(status);
  for (size_t k = 0; k < n; ++k) {
    size_t next = least_degree(&leaf);
    leaf.order[k] = part[next];
    eliminate(&leaf, next);
  }
  if (n) memcpy(part, leaf.order, n * sizeof *part);
  return FLO_OK;
}
