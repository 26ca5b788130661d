// Which fronts are worked on at the same time, and where their updates are kept.
//
// A task is a subtree. Tasks depend on nothing else, so threads take them in any order. The fronts above all
// tasks come afterwards, one by one. What is a task depends on the pattern alone.
//
// Updates are kept on two stacks by turns: fronts of even depth use one, fronts of odd depth the other. When
// a front is assembled, the updates of its children are the topmost ones of the other stack. Each task has
// stacks of its own.
#include "solve/block_tree.h"

enum { FOR_TASKS = 5, SHARES = 24 };

// Where the stacks end now, and at most so far; where the sums of the task begin, and end at most so far.
typedef struct Stacks {
  size_t top[2], most[2], sums, most_sums;
} Stacks;

static void find_depths(FloBlockTree *tree) {
  for (size_t f = tree->n_fronts; f-- > 0;) {
    FloFront *front = &tree->fronts[f];
    front->is_odd = front->parent != FLO_NO_FRONT && !tree->fronts[front->parent].is_odd;
  }
}

// A subtree is a task if it has at most one of SHARES equal shares of all work, but that of its parent has
// more. `work` has a number for each front.
static void choose_tasks(FloBlockTree *tree, double *work) {
  double sum = 0;
  for (size_t f = 0; f < tree->n_fronts; ++f) work[f] = 0;
  for (size_t f = 0; f < tree->n_fronts; ++f) {
    double own = flo_front_cost(tree->fronts[f].n_pivots, tree->fronts[f].n_below);
    work[f] += own, sum += own;
    if (tree->fronts[f].parent != FLO_NO_FRONT) work[tree->fronts[f].parent] += work[f];
  }
  for (uint32_t f = 0; f < tree->n_fronts; ++f) {
    uint32_t parent = tree->fronts[f].parent;
    tree->fronts[f].is_in_task = work[f] <= sum / SHARES;
    if (tree->fronts[f].is_in_task && (parent == FLO_NO_FRONT || work[parent] > sum / SHARES))
      tree->tasks[tree->n_tasks++] = f;
  }
}

// The fronts of a task use the same sums, one after the other.
static void place_sums(FloFront *front, Stacks *stacks) {
  size_t n = 4 * FLO_TILE_SIDE * flo_front_pivot_strips(front);
  front->sums = stacks->sums;
  stacks->most_sums = flo_max_size(stacks->most_sums, stacks->sums + n);
}

// The updates of the children are given up after the front has its own. Children in other tasks are not on
// these stacks.
static void place_update(FloBlockTree *tree, FloFront *front, Stacks *stacks) {
  for (uint32_t c = front->child; c != FLO_NO_FRONT; c = tree->fronts[c].sibling)
    if (tree->fronts[c].is_in_task == front->is_in_task)
      stacks->top[!front->is_odd] = flo_min_size(stacks->top[!front->is_odd], tree->fronts[c].update);
  size_t *top = &stacks->top[front->is_odd], *most = &stacks->most[front->is_odd];
  front->update = *top;
  *top += flo_triangle_strip(flo_front_below_strips(front));
  *most = flo_max_size(*most, *top);
  place_sums(front, stacks);
}

static void begin_task(Stacks *stacks) {
  for (int k = 0; k < 2; ++k) stacks->top[k] = stacks->most[k];
  stacks->sums = stacks->most_sums;
}

static void place_updates(FloBlockTree *tree) {
  Stacks stacks = {0};
  for (size_t t = 0; t < tree->n_tasks; ++t) {
    begin_task(&stacks);
    for (uint32_t f = tree->fronts[tree->tasks[t]].first_descendant; f <= tree->tasks[t]; ++f)
      place_update(tree, &tree->fronts[f], &stacks);
  }
  begin_task(&stacks);
  for (size_t f = 0; f < tree->n_fronts; ++f)
    if (!tree->fronts[f].is_in_task) place_update(tree, &tree->fronts[f], &stacks);
  for (size_t f = 0; f < tree->n_fronts; ++f)
    if (tree->fronts[f].is_odd) tree->fronts[f].update += stacks.most[0];
  tree->n_stack = stacks.most[0] + stacks.most[1], tree->n_sums = stacks.most_sums;
}

FloStatus flo_block_tree_plan(FloBlockTree *tree, FloError *error) {
  FloBuffer work = {0};
  FLO_TRY(flo_buffer_reserve(tree->memory, &tree->buffers[FOR_TASKS],
                             (tree->n_fronts + 1) * sizeof *tree->tasks, 0, error));
  FLO_TRY(flo_buffer_reserve(tree->memory, &work, (tree->n_fronts + 1) * sizeof(double), 0, error));
  tree->tasks = tree->buffers[FOR_TASKS].data;
  find_depths(tree);
  choose_tasks(tree, work.data);
  place_updates(tree);
  flo_buffer_free(tree->memory, &work);
  return FLO_OK;
}
