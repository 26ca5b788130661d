#include "bodies/presses.h"

static size_t shallowest_press(const FloPresses *presses) {
  size_t shallowest = 0;
  for (size_t k = 1; k < presses->count; ++k)
    if (presses->list[k].depth < presses->list[shallowest].depth) shallowest = k;
  return shallowest;
}

void flo_presses_note(FloPresses *presses, const FloBody *wall, const double direction[3], double depth) {
  size_t k = 0;
  while (k < presses->count &&
         (presses->list[k].wall != wall || vec_dot(presses->list[k].direction, direction) < 0.8))
    ++k;
  if (k == FLO_MAX_PRESSES) k = shallowest_press(presses);
  if (k < presses->count && presses->list[k].depth >= depth) return;
  if (k == presses->count) ++presses->count;
  presses->list[k] = (FloPress){.wall = wall, .depth = depth};
  vec_copy(direction, presses->list[k].direction);
}

bool flo_presses_find_squeeze(const FloPresses *presses, const FloPress *pair[2]) {
  for (size_t a = 0; a < presses->count; ++a)
    for (size_t b = 0; b < a; ++b) {
      pair[0] = &presses->list[b], pair[1] = &presses->list[a];
      if (vec_dot(pair[0]->direction, pair[1]->direction) > -0.7) continue;
      if (flo_body_has_speed(pair[0]->wall) || flo_body_has_speed(pair[1]->wall)) return true;
    }
  return false;
}
