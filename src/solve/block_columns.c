#include "solve/block_tree.h"

#include <math.h>

// Cycles for a product of two tiles, for adding a tile to the parent's front, for clearing and reading a
// tile, and for a front besides.
static const double product_cost = 250, update_cost = 300, panel_cost = 300, front_cost = 1000;

double flo_front_cost(double n_pivots, double n_below) {
  double k = ceil(n_pivots / FLO_TILE_SLOTS), m = ceil(n_below / FLO_TILE_SLOTS), n = k + m;
  double n_updates = m * (m + 1) / 2, triangle = k * (k + 1) / 2;
  double n_products = (n + 1) * triangle - triangle * (2 * k + 1) / 3 + n_updates * n_pivots / FLO_TILE_SLOTS;
  return product_cost * n_products + update_cost * n_updates + panel_cost * (triangle + k * m) + front_cost;
}

static double merged_saving(const FloBlockColumn *child, const FloBlockColumn *parent) {
  return flo_front_cost(child->n_pivots, child->n_below) + flo_front_cost(parent->n_pivots, parent->n_below) -
         flo_front_cost(child->n_pivots + parent->n_pivots, parent->n_below);
}

static void add_child(FloBlockColumn *columns, uint32_t parent, uint32_t child) {
  columns[child].parent = parent, columns[child].sibling = columns[parent].child;
  columns[parent].child = child;
}

// The pivots of the child come before those of the parent. Its children become the parent's.
static void merge(FloBlockColumn *columns, uint32_t parent, uint32_t child) {
  FloBlockColumn *p = &columns[parent], *c = &columns[child];
  columns[c->last_pivot].next_pivot = p->first_pivot;
  p->first_pivot = c->first_pivot, p->n_pivots += c->n_pivots, c->is_merged = true;
  for (uint32_t k = c->child, next; k != UINT32_MAX; k = next) {
    next = columns[k].sibling;
    add_child(columns, parent, k);
  }
}

// Children whose pivots change just the parent's front are merged first: they add no zeros to it.
static void merge_children(FloBlockColumn *columns, uint32_t parent, bool adds_zeros) {
  FloBlockColumn *p = &columns[parent];
  uint32_t child = p->child;
  p->child = UINT32_MAX;
  for (uint32_t next; child != UINT32_MAX; child = next) {
    const FloBlockColumn *c = &columns[child];
    next = c->sibling;
    bool is_exact = c->n_below == p->n_pivots + p->n_below;
    if ((is_exact || adds_zeros) && merged_saving(c, p) > 0)
      merge(columns, parent, child);
    else
      add_child(columns, parent, child);
  }
}

void flo_block_columns_merge(FloBlockColumn *columns, size_t n) {
  for (uint32_t i = 0; i < n; ++i) {
    merge_children(columns, i, false);
    merge_children(columns, i, true);
  }
}
