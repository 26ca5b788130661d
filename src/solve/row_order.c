// The order in which rows and blocks are visited: blocks by node, rows by colour. The orders depend only on
// the rows, so that results are the same bit by bit for any number of threads.
#include "solve/rows.h"

#include <string.h>

// ---- By node ----

enum { BLOCKS_PER_CHUNK = 256 };

size_t flo_rows_chunks_of(size_t n_blocks) { return (n_blocks + BLOCKS_PER_CHUNK - 1) / BLOCKS_PER_CHUNK; }

// Converts the number of items of each kind, stored one place further on, to the begin of each kind.
static void counts_to_begins(uint32_t *begin, size_t n_kinds) {
  for (size_t k = 0; k < n_kinds; ++k) begin[k + 1] += begin[k];
}

// Filling the lists has moved every begin to its end, which is the next kind's begin. Moves them back.
static void restore_begins(uint32_t *begin, size_t n_kinds) {
  for (size_t k = n_kinds; k > 0; --k) begin[k] = begin[k - 1];
  begin[0] = 0;
}

static void cut_into_chunks(FloRows *rows) {
  uint32_t n = 0;
  for (size_t node = 0; node < rows->n_nodes; ++node) {
    rows->node_chunk[node] = n;
    for (uint32_t k = rows->node_begin[node]; k < rows->node_begin[node + 1]; k += BLOCKS_PER_CHUNK)
      rows->chunk_begin[n++] = k;
  }
  rows->node_chunk[rows->n_nodes] = n;
  rows->chunk_begin[n] = (uint32_t)rows->n_blocks;
}

// Counting sort.
void flo_rows_sort(FloRows *rows) {
  uint32_t *begin = rows->node_begin;
  memset(begin, 0, (rows->n_nodes + 1) * sizeof *begin);
  for (size_t k = 0; k < rows->n_blocks; ++k) begin[rows->blocks[k].node + 1]++;
  counts_to_begins(begin, rows->n_nodes);
  for (uint32_t k = 0; k < rows->n_blocks; ++k) rows->node_blocks[begin[rows->blocks[k].node]++] = k;
  restore_begins(begin, rows->n_nodes);
  cut_into_chunks(rows);
}

// ---- By colour ----
//
// Rows choose in their order. Each takes the lowest colour that no earlier row on its nodes has. It must also
// differ from the colour of its normal row, which it reads. The first 64 colours of a node are stored as
// bits. A node with more rows is a large body: each further row on it gets a higher colour than the one
// before.

enum { N_BITS = 64 };

typedef struct Choice {
  uint64_t used; // taken colours below N_BITS
  uint32_t top;  // the lowest colour from N_BITS on that is higher than all taken ones
} Choice;

static void forbid(Choice *choice, uint32_t colour) {
  if (colour < N_BITS) choice->used |= (uint64_t)1 << colour;
  if (colour >= choice->top) choice->top = colour + 1;
}

static uint32_t lowest_free(const Choice *choice) {
  for (uint32_t colour = 0; colour < N_BITS; ++colour)
    if (!(choice->used >> colour & 1)) return colour;
  return choice->top;
}

static uint32_t choose_colour(const FloRows *rows, const FloRow *row, const uint64_t *used,
                              const uint32_t *top) {
  Choice choice = {.top = N_BITS};
  for (uint32_t k = row->first_block; k < row->first_block + row->n_blocks; ++k) {
    const FloRowBlock *block = &rows->blocks[k];
    if (block->is_held) continue;
    choice.used |= used[block->node];
    if (top[block->node] > choice.top) choice.top = top[block->node];
  }
  if (row->def.normal != FLO_NO_ROW) forbid(&choice, rows->rows[row->def.normal].colour);
  return lowest_free(&choice);
}

static void mark_nodes(const FloRows *rows, const FloRow *row, uint64_t *used, uint32_t *top) {
  for (uint32_t k = row->first_block; k < row->first_block + row->n_blocks; ++k) {
    uint32_t node = rows->blocks[k].node;
    if (row->colour < N_BITS) used[node] |= (uint64_t)1 << row->colour;
    if (row->colour >= N_BITS) top[node] = row->colour + 1;
  }
}

static void list_colours(FloRows *rows) {
  uint32_t *begin = rows->colour_begin;
  memset(begin, 0, (rows->n_colours + 1) * sizeof *begin);
  for (size_t k = 0; k < rows->n_rows; ++k) begin[rows->rows[k].colour + 1]++;
  counts_to_begins(begin, rows->n_colours);
  for (uint32_t k = 0; k < rows->n_rows; ++k) rows->colour_rows[begin[rows->rows[k].colour]++] = k;
  restore_begins(begin, rows->n_colours);
}

void flo_rows_colour(FloRows *rows, uint64_t *used, uint32_t *top) {
  memset(used, 0, rows->n_nodes * sizeof *used);
  memset(top, 0, rows->n_nodes * sizeof *top);
  rows->n_colours = 0;
  for (size_t k = 0; k < rows->n_rows; ++k) {
    FloRow *row = &rows->rows[k];
    row->colour = choose_colour(rows, row, used, top);
    mark_nodes(rows, row, used, top);
    rows->n_colours = flo_max_size(rows->n_colours, row->colour + 1);
  }
  list_colours(rows);
}
