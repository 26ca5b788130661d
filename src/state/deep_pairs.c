// Bodies in each other. Samples that are deep in another body do not agree on the way out, and would twist
// the bodies. So all deep points of such a pair push along one direction, the mean of their ways out.
#include "state/state.h"

static FloDeepPair *find_pair(const FloWorld *world, uint32_t a, uint32_t b) {
  const FloList *list = &world->body_contacts.deep_pairs;
  FloDeepPair *pairs = FLO_LIST(*list, FloDeepPair);
  uint32_t first = a < b ? a : b, second = a < b ? b : a;
  // Points of one pair follow each other, so the last pairs are looked at first.
  for (size_t k = list->count; k-- > 0;)
    if (pairs[k].first == first && pairs[k].second == second) return &pairs[k];
  return NULL;
}

FloStatus flo_world_add_deep_point(FloWorld *world, uint32_t own, uint32_t other, const double out[3],
                                   FloError *error) {
  FloList *list = &world->body_contacts.deep_pairs;
  FloDeepPair *pair = find_pair(world, own, other);
  if (!pair) {
    FloDeepPair none = {.first = own < other ? own : other, .second = own < other ? other : own};
    FLO_TRY(flo_list_append(&world->memory, list, &none, sizeof none, error));
    pair = FLO_LIST(*list, FloDeepPair) + list->count - 1;
  }
  vec_add_scaled(pair->out, out, own < other ? 1 : -1, pair->out);
  pair->n_points++;
  return FLO_OK;
}

// If the directions of the points contradict each other, bodies part along the line between their centres. If
// the centres coincide, the second body goes up.
static void choose_way_out(const FloWorld *world, FloDeepPair *pair) {
  static const double agreement = 0.5;
  const FloBody *first = &flo_bodies(world)[pair->first], *second = &flo_bodies(world)[pair->second];
  double *out = pair->out, between[3];
  bool are_free = flo_body_is_pushed(first) && flo_body_is_pushed(second);
  if (are_free && vec_length(out) < agreement * pair->n_points) {
    flo_world_nearest_image(world, second->nodes->position, first->nodes->position, between);
    vec_sub(between, second->nodes->position, out);
    if (vec_length(out) < 0.01 * world->def.spacing) vec_copy(world->def.gravity, out);
    if (!(vec_length(out) > 0)) vec_set(out, 1, 0, 0);
  }
  double length = vec_length(out);
  vec_scale(out, length > 0 ? 1 / length : 0, out);
}

void flo_world_choose_ways_out(FloWorld *world) {
  FloList *list = &world->body_contacts.deep_pairs;
  for (size_t k = 0; k < list->count; ++k) choose_way_out(world, &FLO_LIST(*list, FloDeepPair)[k]);
}

bool flo_world_way_out(const FloWorld *world, uint32_t own, uint32_t other, double out[3]) {
  const FloDeepPair *pair = find_pair(world, own, other);
  if (!pair || !(vec_length(pair->out) > 0)) return false;
  vec_scale(pair->out, own < other ? 1 : -1, out);
  return true;
}
