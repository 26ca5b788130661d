// What rows measure of bodies that forces move, and how bodies answer.
#include "coupling/constraint/constraint.h"

#include <string.h>

static size_t n_near_bodies(const FloWorld *world, size_t i) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID);
  return i < pairs->n_rows && pairs->slot_count[i / FLO_BLOCK] > 0 ? (size_t)pairs->row_count[i] : 0;
}

// Bodies that forces move come last among those near a particle.
static bool is_covered_by_node(const FloWorld *world, const FloConstraint *c, size_t i) {
  const uint32_t end = c->near_begin[i + 1];
  return end > c->near_begin[i] && flo_body_is_pushed(&flo_bodies(world)[c->near[end - 1].body]);
}

static bool stands_on_node(const FloWorld *world, const FloConstraint *c, const FloFoot *foot) {
  for (uint32_t k = 0; k < foot->n_faces; ++k)
    if (flo_body_is_pushed(&flo_bodies(world)[c->contacts[foot->contacts[k]].body])) return true;
  return false;
}

bool flo_constraint_touches_nodes(const FloWorld *world, const FloConstraint *c, size_t row) {
  if (row >= flo_constraint_first_distance(c))
    return flo_body_is_pushed(&flo_bodies(world)[flo_constraint_contact(c, row)->body]);
  if (row >= flo_constraint_first_foot(c)) return stands_on_node(world, c, flo_constraint_foot(c, row));
  if (row >= c->n_fluid) return row >= c->n_fluid + c->n_walls;
  if (flo_constraint_has_field(world)) return is_covered_by_node(world, c, row);
  return flo_constraint_has_samples(world) && n_near_bodies(world, row) > 0;
}

// The touch of this node among those from `first` on; a new one if there is none.
static FloStatus find_touch(FloWorld *world, FloConstraint *c, size_t first, uint32_t node,
                            FloNodeTouch **touch, FloError *error) {
  const size_t size = sizeof(FloNodeTouch);
  for (size_t k = first; k < c->n_touches; ++k)
    if (c->touches[k].node == node) {
      *touch = &c->touches[k];
      return FLO_OK;
    }
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_TOUCHES, (c->n_touches + 1) * size,
                                 c->n_touches * size, error));
  c->touches = c->buffers[FLO_CONSTRAINT_TOUCHES].data;
  *touch = &c->touches[c->n_touches++];
  **touch = (FloNodeTouch){.node = node};
  return FLO_OK;
}

// Adds g . (velocity at the end of the arms).
static FloStatus add_point(FloWorld *world, FloConstraint *c, size_t first, const FloCarried *carried,
                           const double g[3], FloError *error) {
  for (int k = 0; k < carried->count; ++k) {
    FloNodeTouch *touch;
    double part[3], turn[3];
    FLO_TRY(find_touch(world, c, first, carried->nodes[k], &touch, error));
    vec_scale(g, carried->shares[k], part);
    vec_cross(carried->arms[k], part, turn);
    vec_add(touch->j, part, touch->j);
    vec_add(touch->j + 3, turn, touch->j + 3);
  }
  return FLO_OK;
}

static FloStatus touch_particle(FloWorld *world, FloConstraint *c, size_t i, FloError *error) {
  const FloPairs *pairs = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_RIGID);
  const FloPairSlot *slots = pairs->slots + pairs->slot_begin[i / FLO_BLOCK];
  const size_t first = c->n_touches, lane = i % FLO_BLOCK;
  for (size_t k = 0, n = n_near_bodies(world, i); k < n; ++k) {
    const size_t sample = (size_t)slots[k].index[lane];
    const double scale = -(double)world->sets[FLO_SET_RIGID].volume[sample] / c->rest_sum;
    const double g[3] = {scale * (double)slots[k].gx[lane], scale * (double)slots[k].gy[lane],
                         scale * (double)slots[k].gz[lane]};
    const FloCarried carried = flo_world_carried(world, sample);
    FLO_TRY(add_point(world, c, first, &carried, g, error));
  }
  return FLO_OK;
}

// The opposite of what the field does to the particle, at the same point.
static FloStatus touch_field(FloWorld *world, FloConstraint *c, size_t i, FloError *error) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const double x[3] = {p->x[i], p->y[i], p->z[i]};
  const size_t first = c->n_touches;
  for (uint32_t k = c->near_begin[i]; k < c->near_begin[i + 1]; ++k) {
    const FloNearSolid *near = &c->near[k];
    const double g[3] = {-(double)near->g[0], -(double)near->g[1], -(double)near->g[2]};
    if (!flo_body_is_pushed(&flo_bodies(world)[near->body])) continue;
    const FloCarried carried = flo_world_carried_at(world, near->sample, x);
    FLO_TRY(add_point(world, c, first, &carried, g, error));
  }
  return FLO_OK;
}

// The opposite of all links.
static FloStatus touch_sample(FloWorld *world, FloConstraint *c, size_t row, FloError *error) {
  const FloCarried carried = flo_world_carried(world, c->wet[row - c->n_fluid]);
  double g[3];
  flo_constraint_sum_links(c, row, g);
  vec_scale(g, -1, g);
  return add_point(world, c, c->n_touches, &carried, g, error);
}

static FloStatus touch_foot(FloWorld *world, FloConstraint *c, size_t row, FloError *error) {
  const FloFoot *foot = flo_constraint_foot(c, row);
  const size_t first = c->n_touches;
  double sum[3], part[3];
  flo_constraint_sum_links(c, row, sum);
  for (uint32_t k = 0; k < foot->n_faces; ++k) {
    const FloFluidContact *contact = &c->contacts[foot->contacts[k]];
    if (!flo_body_is_pushed(&flo_bodies(world)[contact->body])) continue;
    const FloCarried carried = flo_world_carried_at(world, contact->sample, foot->x);
    flo_constraint_foot_part(c, foot, k, sum, part);
    vec_scale(part, -1, part);
    FLO_TRY(add_point(world, c, first, &carried, part, error));
  }
  return FLO_OK;
}

static FloStatus touch_distance(FloWorld *world, FloConstraint *c, size_t row, FloError *error) {
  const FloFluidContact *contact = flo_constraint_contact(c, row);
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  const double x[3] = {p->x[contact->particle], p->y[contact->particle], p->z[contact->particle]};
  const double g[3] = {(double)contact->normal[0], (double)contact->normal[1], (double)contact->normal[2]};
  const FloCarried carried = flo_world_carried_at(world, contact->sample, x);
  return add_point(world, c, c->n_touches, &carried, g, error);
}

static FloStatus touch_row(FloWorld *world, FloConstraint *c, size_t row, FloError *error) {
  const size_t first = c->n_touches;
  if (row < c->n_fluid && flo_constraint_has_field(world))
    FLO_TRY(touch_field(world, c, row, error));
  else if (row < c->n_fluid)
    FLO_TRY(touch_particle(world, c, row, error));
  else if (row < flo_constraint_first_foot(c))
    FLO_TRY(touch_sample(world, c, row, error));
  else if (row < flo_constraint_first_distance(c))
    FLO_TRY(touch_foot(world, c, row, error));
  else
    FLO_TRY(touch_distance(world, c, row, error));
  for (size_t k = first; k < c->n_touches; ++k)
    flo_node_apply(flo_node_at(world, c->touches[k].node), c->touches[k].j, c->touches[k].reply);
  return FLO_OK;
}

FloStatus flo_constraint_find_touches(FloWorld *world, FloConstraint *c, FloError *error) {
  const size_t n = c->n_rows - c->n_coloured;
  FLO_TRY(flo_constraint_reserve(world, c, FLO_CONSTRAINT_TOUCH_BEGIN, (n + 1) * 4, 0, error));
  c->touch_begin = c->buffers[FLO_CONSTRAINT_TOUCH_BEGIN].data;
  c->n_touches = 0;
  for (size_t k = 0; k < n; ++k) {
    c->touch_begin[k] = (uint32_t)c->n_touches;
    FLO_TRY(touch_row(world, c, c->order[c->n_coloured + k], error));
  }
  c->touch_begin[n] = (uint32_t)c->n_touches;
  return FLO_OK;
}
