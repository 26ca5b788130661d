#include "solve/block_tree.h"

#include "solve/block_order.h"

#include <stdlib.h>
#include <string.h>

enum { FOR_ORDER, FOR_FRONTS, FOR_BELOW, FOR_SLOTS, FOR_ENTRIES };

typedef struct Builder {
  FloBlockTree *tree;
  const FloBlockMatrix *matrix;
  FloBlockColumn *columns;
  uint32_t *places; // of each block row
  uint32_t *marks, *ids;
  FloBuffer room;
} Builder;

// At least one byte: arrays without elements have an address, too.
static FloStatus reserve(FloBlockTree *tree, int which, size_t size, void *array, FloError *error) {
  FLO_TRY(flo_buffer_reserve(tree->memory, &tree->buffers[which], size + 1, 0, error));
  *(void **)array = tree->buffers[which].data;
  return FLO_OK;
}

static void set_places(Builder *b) {
  for (uint32_t k = 0; k < b->tree->n; ++k) b->places[b->tree->order[k]] = k;
}

// ---- Columns ----

// Liu 1990: the parent of a column is the first one that it changes. `marks` has the last known ancestor.
static void find_parents(Builder *b) {
  for (uint32_t j = 0; j < b->tree->n; ++j) {
    uint32_t v = b->tree->order[j];
    b->marks[j] = UINT32_MAX;
    for (size_t k = b->matrix->begin[v]; k < b->matrix->begin[v + 1]; ++k)
      for (uint32_t i = b->places[b->matrix->columns[k]], next; i < j; i = next) {
        next = b->marks[i], b->marks[i] = j;
        if (next != UINT32_MAX) continue;
        b->columns[i].parent = j;
        break;
      }
  }
}

// Row j of the factors has the columns on the ways from its neighbours up to j.
static void count_rows(Builder *b) {
  for (uint32_t j = 0; j < b->tree->n; ++j) {
    uint32_t v = b->tree->order[j];
    b->marks[j] = j;
    for (size_t k = b->matrix->begin[v]; k < b->matrix->begin[v + 1]; ++k)
      for (uint32_t i = b->places[b->matrix->columns[k]]; i < j && b->marks[i] != j; i = b->columns[i].parent)
        b->marks[i] = j, b->columns[i].n_below++;
  }
}

static void make_columns(Builder *b) {
  const uint32_t none = UINT32_MAX;
  for (uint32_t i = 0; i < b->tree->n; ++i)
    b->columns[i] = (FloBlockColumn){.parent = none,
                                     .child = none,
                                     .sibling = none,
                                     .n_pivots = 1,
                                     .first_pivot = i,
                                     .last_pivot = i,
                                     .next_pivot = none};
  find_parents(b);
  count_rows(b);
  for (uint32_t i = (uint32_t)b->tree->n; i-- > 0;) {
    uint32_t parent = b->columns[i].parent;
    if (parent == none) continue;
    b->columns[i].sibling = b->columns[parent].child, b->columns[parent].child = i;
  }
  flo_block_columns_merge(b->columns, b->tree->n);
}

// ---- Fronts ----

// The front of a column; its pivots get their final places. `marks` keeps the new order.
static void place_front(Builder *b, uint32_t column, uint32_t *n_placed) {
  const FloBlockColumn *c = &b->columns[column];
  uint32_t id = (uint32_t)b->tree->n_fronts++;
  b->ids[column] = id;
  b->tree->fronts[id] = (FloFront){.first = *n_placed,
                                   .n_pivots = c->n_pivots,
                                   .n_below = c->n_below,
                                   .parent = c->parent,
                                   .child = FLO_NO_FRONT,
                                   .sibling = FLO_NO_FRONT,
                                   .first_descendant = id};
  for (uint32_t i = c->first_pivot; i != UINT32_MAX; i = b->columns[i].next_pivot)
    b->marks[(*n_placed)++] = b->tree->order[i];
}

static uint32_t first_leaf(const FloBlockColumn *columns, uint32_t column) {
  while (columns[column].child != UINT32_MAX) column = columns[column].child;
  return column;
}

// Children come before their parents, and a subtree is a range.
static void place_fronts(Builder *b) {
  uint32_t n_placed = 0;
  for (uint32_t root = 0; root < b->tree->n; ++root) {
    if (b->columns[root].is_merged || b->columns[root].parent != UINT32_MAX) continue;
    for (uint32_t at = first_leaf(b->columns, root);;) {
      place_front(b, at, &n_placed);
      if (at == root) break;
      uint32_t sibling = b->columns[at].sibling;
      at = sibling == UINT32_MAX ? b->columns[at].parent : first_leaf(b->columns, sibling);
    }
  }
  if (n_placed) memcpy(b->tree->order, b->marks, n_placed * sizeof *b->marks);
  set_places(b);
}

static void link_fronts(Builder *b) {
  FloFront *fronts = b->tree->fronts;
  for (uint32_t f = 0; f < b->tree->n_fronts; ++f) {
    if (fronts[f].parent == UINT32_MAX) continue;
    FloFront *parent = &fronts[fronts[f].parent = b->ids[fronts[f].parent]];
    if (parent->first_descendant > fronts[f].first_descendant)
      parent->first_descendant = fronts[f].first_descendant;
  }
  for (uint32_t f = (uint32_t)b->tree->n_fronts; f-- > 0;) {
    if (fronts[f].parent == FLO_NO_FRONT) continue;
    fronts[f].sibling = fronts[fronts[f].parent].child, fronts[fronts[f].parent].child = f;
  }
}

// Lists and numbers begin where those of the front before end.
static void size_fronts(FloBlockTree *tree) {
  size_t below = 0;
  for (size_t f = 0; f < tree->n_fronts; ++f) {
    FloFront *front = &tree->fronts[f];
    size_t k = flo_front_pivot_strips(front), m = flo_front_below_strips(front);
    front->below = below, front->panel = tree->n_numbers;
    front->vector = tree->n_vectors, tree->n_vectors += (k + m) * FLO_TILE_SIDE;
    below += front->n_below, tree->n_numbers += flo_panel_strip(k, k + m);
  }
  tree->fronts[tree->n_fronts] = (FloFront){.below = below, .panel = tree->n_numbers};
}

// ---- Rows below ----

static int compare_places(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void add_below(Builder *b, uint32_t f, uint32_t place, size_t *count) {
  const FloFront *front = &b->tree->fronts[f];
  if (place < front->first + front->n_pivots || b->marks[place] == f) return;
  b->marks[place] = f;
  FLO_ASSERT(*count < front->n_below);
  b->tree->below[front->below + (*count)++] = place;
}

static void list_below(Builder *b, uint32_t f) {
  const FloBlockTree *tree = b->tree;
  const FloFront *front = &tree->fronts[f];
  size_t count = 0;
  for (uint32_t i = 0; i < front->n_pivots; ++i) {
    uint32_t v = tree->order[front->first + i];
    for (size_t k = b->matrix->begin[v]; k < b->matrix->begin[v + 1]; ++k)
      add_below(b, f, b->places[b->matrix->columns[k]], &count);
  }
  for (uint32_t c = front->child; c != FLO_NO_FRONT; c = tree->fronts[c].sibling)
    for (uint32_t k = 0; k < tree->fronts[c].n_below; ++k)
      add_below(b, f, tree->below[tree->fronts[c].below + k], &count);
  FLO_ASSERT(count == front->n_below);
  if (count) qsort(tree->below + front->below, count, sizeof *tree->below, compare_places);
}

// ---- Slots and entries ----

// The entries of one pivot: the blocks of its row whose other row is not eliminated before it. `marks` has
// the slots of this front.
static void list_entries(Builder *b, const FloFront *front, uint32_t pivot, size_t *n_entries) {
  const size_t k_strips = flo_front_pivot_strips(front);
  uint32_t v = b->tree->order[front->first + pivot];
  for (size_t k = b->matrix->begin[v]; k < b->matrix->begin[v + 1]; ++k) {
    uint32_t place = b->places[b->matrix->columns[k]];
    if (place < front->first + pivot) continue;
    size_t slot = b->marks[place];
    size_t number = flo_panel_strip(k_strips, slot / FLO_TILE_SLOTS) + flo_strip_block(slot, pivot);
    FLO_ASSERT(number < UINT32_MAX && k < UINT32_MAX);
    b->tree->entries[(*n_entries)++] = (FloBlockEntry){(uint32_t)k, (uint32_t)number};
  }
}

static void number_slots(Builder *b, const FloFront *front) {
  uint32_t slot = (uint32_t)flo_front_pivot_strips(front) * FLO_TILE_SLOTS;
  for (uint32_t i = 0; i < front->n_pivots; ++i) b->marks[front->first + i] = i;
  for (uint32_t i = 0; i < front->n_below; ++i) b->marks[b->tree->below[front->below + i]] = slot + i;
}

static void fill_lists(Builder *b) {
  FloBlockTree *tree = b->tree;
  size_t n_entries = 0;
  for (uint32_t f = 0; f < tree->n; ++f) b->marks[f] = UINT32_MAX;
  for (uint32_t f = 0; f < tree->n_fronts; ++f) list_below(b, f);
  for (uint32_t f = 0; f < tree->n_fronts; ++f) {
    FloFront *front = &tree->fronts[f];
    number_slots(b, front);
    for (uint32_t c = front->child; c != FLO_NO_FRONT; c = tree->fronts[c].sibling)
      for (size_t k = tree->fronts[c].below; k < tree->fronts[c + 1].below; ++k)
        tree->slots[k] = b->marks[tree->below[k]];
    front->entry = n_entries;
    for (uint32_t i = 0; i < front->n_pivots; ++i) list_entries(b, front, i, &n_entries);
  }
  tree->fronts[tree->n_fronts].entry = n_entries;
}

// ---- The whole ----

static FloStatus reserve_lists(Builder *b, FloError *error) {
  FloBlockTree *tree = b->tree;
  size_t n_below = tree->fronts[tree->n_fronts].below;
  FLO_TRY(reserve(tree, FOR_BELOW, n_below * sizeof *tree->below, &tree->below, error));
  FLO_TRY(reserve(tree, FOR_SLOTS, n_below * sizeof *tree->slots, &tree->slots, error));
  return reserve(tree, FOR_ENTRIES, b->matrix->begin[tree->n] * sizeof *tree->entries, &tree->entries, error);
}

static FloStatus build(Builder *b, FloError *error) {
  FloBlockTree *tree = b->tree;
  FLO_TRY(flo_block_order(b->matrix, tree->memory, tree->order, error));
  set_places(b);
  make_columns(b);
  place_fronts(b);
  link_fronts(b);
  size_fronts(tree);
  FLO_TRY(reserve_lists(b, error));
  fill_lists(b);
  return flo_block_tree_plan(tree, error);
}

FloStatus flo_block_tree_build(FloBlockTree *tree, const FloBlockMatrix *matrix, FloMemory *memory,
                               FloError *error) {
  *tree = (FloBlockTree){.memory = memory, .n = matrix->n};
  size_t n = matrix->n;
  Builder b = {.tree = tree, .matrix = matrix};
  FLO_TRY(reserve(tree, FOR_ORDER, n * sizeof *tree->order, &tree->order, error));
  FLO_TRY(reserve(tree, FOR_FRONTS, (n + 1) * sizeof *tree->fronts, &tree->fronts, error));
  FLO_TRY(
      flo_buffer_reserve(memory, &b.room, (n + 1) * (sizeof *b.columns + 3 * sizeof(uint32_t)), 0, error));
  b.columns = b.room.data, b.places = (uint32_t *)(b.columns + n), b.marks = b.places + n;
  b.ids = b.marks + n;
  FloStatus status = build(&b, error);
  flo_buffer_free(memory, &b.room);
  return status;
}

void flo_block_tree_free(FloBlockTree *tree) {
  for (size_t k = 0; k < FLO_COUNT_OF(tree->buffers); ++k) flo_buffer_free(tree->memory, &tree->buffers[k]);
}
