// The order of rows. Rows of the same colour lie in the same cell or share no particle, so that threads may
// divide the cells of a colour and the result is that of one thread.
//
// A row moves particles up to a support H away. Cells here are two cells of the grid wide, which is at least
// 2 H. With two colours along each axis, different cells of one colour are at least 2 H apart. Along a
// periodic axis with an odd number of cells the last one has a third colour.
//
// Distances have colours of their own, after those of densities: fluid must not be in a wall at the end. Rows
// that touch nodes come last, one after the other: a body may be anywhere.
#include "coupling/constraint/constraint.h"
#include "sph/radix.h"

enum { AXIS_BITS = 19, COLOUR_SHIFT = 57, COARSE_OFFSET = 1 << 18 };

typedef struct Place {
  uint32_t coarse, colour; // along an axis
} Place;

static Place place_along(const FloLattice *lattice, int axis, int32_t cell) {
  const int32_t n = lattice->n_periodic[axis];
  if (n == 0) {
    const int32_t coarse = cell >> 1;
    return (Place){(uint32_t)(coarse + COARSE_OFFSET), (uint32_t)(coarse & 1)};
  }
  const int32_t n_coarse = n / 2, coarse = cell / 2 < n_coarse ? cell / 2 : n_coarse - 1;
  const bool is_odd_end = n_coarse % 2 == 1 && n_coarse > 1 && coarse == n_coarse - 1;
  return (Place){(uint32_t)coarse, is_odd_end ? 2 : (uint32_t)(coarse & 1)};
}

static uint64_t key_of(const FloWorld *world, const int32_t cell[3]) {
  uint64_t key = 0, colour = 0;
  for (int axis = world->def.dim - 1; axis >= 0; --axis) {
    const Place place = place_along(&world->lattice, axis, cell[axis]);
    colour = 3 * colour + place.colour;
    key = key << AXIS_BITS | (place.coarse & ((1u << AXIS_BITS) - 1));
  }
  return key | colour << COLOUR_SHIFT;
}

// The particle or sample that a row belongs to.
static const int32_t *cell_of(const FloWorld *world, const FloConstraint *c, size_t row) {
  if (row < c->n_fluid) return world->grids[FLO_SET_FLUID].cell + 3 * row;
  if (row >= flo_constraint_first_foot(c))
    return world->grids[FLO_SET_FLUID].cell + 3 * (size_t)flo_constraint_contact(c, row)->particle;
  const FloSet set = row < c->n_fluid + c->n_walls ? FLO_SET_BOUNDARY : FLO_SET_RIGID;
  return world->grids[set].cell + 3 * (size_t)c->wet[row - c->n_fluid];
}

typedef struct Keys {
  const FloWorld *world;
  const FloConstraint *c;
  uint64_t *keys;
} Keys;

static void key_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Keys *in = context;
  for (size_t row = begin; row < end; ++row) {
    in->c->order[row] = (uint32_t)row;
    in->keys[row] = key_of(in->world, cell_of(in->world, in->c, row));
    if (row >= flo_constraint_first_distance(in->c))
      in->keys[row] += (uint64_t)(FLO_CONSTRAINT_COLOURS / 2) << COLOUR_SHIFT;
    if (flo_constraint_touches_nodes(in->world, in->c, row)) in->keys[row] |= FLO_TOUCHING_KEY;
  }
}

static FloStatus reserve(FloWorld *world, FloConstraint *c, FloError *error) {
  size_t n = c->n_rows + 1;
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_ORDER, n * 4, 0, error));
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_POSITION, n * 4, 0, error));
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_KEYS, n * 8, 0, error));
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_SCRATCH, flo_radix_scratch(n), 0, error));
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_GROUPS, n * sizeof(FloRowGroup), 0, error));
  c->order = c->buffers[FLO_CONSTRAINT_ORDER].data, c->position = c->buffers[FLO_CONSTRAINT_POSITION].data;
  c->groups = c->buffers[FLO_CONSTRAINT_GROUPS].data;
  return FLO_OK;
}

static void note_group(FloConstraint *c, const uint64_t *keys, size_t begin, size_t end) {
  const bool is_new = begin == 0 || keys[begin] >> COLOUR_SHIFT != keys[begin - 1] >> COLOUR_SHIFT;
  if (is_new) c->colour_begin[c->n_colours++] = c->n_groups;
  c->groups[c->n_groups++] = (FloRowGroup){(uint32_t)begin, (uint32_t)end};
}

static void find_groups(FloConstraint *c, const uint64_t *keys) {
  size_t begin = 0;
  c->n_groups = 0, c->n_colours = 0, c->n_coloured = 0;
  while (c->n_coloured < c->n_rows && !(keys[c->n_coloured] & FLO_TOUCHING_KEY)) ++c->n_coloured;
  for (size_t k = 1; k <= c->n_coloured; ++k)
    if (k == c->n_coloured || keys[k] != keys[begin]) note_group(c, keys, begin, k), begin = k;
  c->colour_begin[c->n_colours] = c->n_groups;
}

FloStatus flo_constraint_colour(FloWorld *world, FloConstraint *c, FloError *error) {
  FLO_TRY(reserve(world, c, error));
  uint64_t *keys = c->buffers[FLO_CONSTRAINT_KEYS].data;
  Keys in = {world, c, keys};
  flo_parallel_for(world->threads, c->n_rows, 4096, key_range, &in);
  flo_radix_sort(keys, c->order, c->n_rows, 64, c->buffers[FLO_CONSTRAINT_SCRATCH].data, world->threads);
  find_groups(c, keys);
  for (size_t k = 0; k < c->n_rows; ++k) c->position[c->order[k]] = (uint32_t)k;
  return FLO_OK;
}
