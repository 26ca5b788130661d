#include "world/save_contacts.h"

#include <string.h>

FloStatus flo_save_contacts(const FloWorld *world, FloState *state, FloError *error) {
  const FloList *points = &world->body_contacts.points;
  void *keys, *kept, *bodies;
  FLO_TRY(flo_state_add(state, "contacts/keys", FLO_TYPE_U32, 2 * points->count, &keys, error));
  FLO_TRY(flo_state_add(state, "contacts/bodies", FLO_TYPE_U32, 2 * points->count, &bodies, error));
  FLO_TRY(flo_state_add(state, "contacts/kept", FLO_TYPE_F64, FLO_N_KEPT * points->count, &kept, error));
  for (size_t k = 0; k < points->count; ++k) {
    const FloContactPoint *point = &FLO_LIST(*points, FloContactPoint)[k];
    const uint32_t halves[2] = {(uint32_t)point->key, (uint32_t)(point->key >> 32)};
    memcpy((uint32_t *)keys + 2 * k, halves, sizeof halves);
    memcpy((uint32_t *)bodies + 2 * k, (const uint32_t[]){point->body, point->other}, sizeof halves);
    memcpy((double *)kept + FLO_N_KEPT * k, point->kept, sizeof point->kept);
  }
  return FLO_OK;
}

FloStatus flo_check_contacts(const FloWorld *world, const FloState *state, FloError *error) {
  const FloStateArray *keys = flo_state_find(state, "contacts/keys");
  size_t n = keys ? keys->count / 2 : 0;
  if (n > UINT32_MAX / 2) return flo_fail(error, FLO_BAD_INPUT, "state: %zu contacts are too many", n);
  FLO_TRY(flo_state_need(state, "contacts/keys", FLO_TYPE_U32, 2 * n, error));
  FLO_TRY(flo_state_need(state, "contacts/bodies", FLO_TYPE_U32, 2 * n, error));
  const uint32_t *bodies = flo_state_find(state, "contacts/bodies")->buffer.data;
  for (size_t k = 0; k < 2 * n; ++k)
    if (bodies[k] >= world->bodies.count)
      return flo_fail(error, FLO_BAD_INPUT, "state: a contact is of body %u, but there are %zu", bodies[k],
                      world->bodies.count);
  return flo_state_check_numbers(state, "contacts/kept", FLO_N_KEPT * n, -FLO_STATE_MUCH, FLO_STATE_MUCH,
                                 error);
}

// Neither the next step nor calls before it need anything else of these points.
FloStatus flo_restore_contacts(FloWorld *world, const FloState *state, FloError *error) {
  const FloStateArray *keys = flo_state_find(state, "contacts/keys"),
                      *kept = flo_state_find(state, "contacts/kept"),
                      *bodies = flo_state_find(state, "contacts/bodies");
  FloList *points = &world->body_contacts.points;
  size_t n = keys->count / 2;
  points->count = 0;
  FLO_TRY(flo_buffer_reserve(&world->memory, &points->buffer, n * sizeof(FloContactPoint), 0, error));
  for (size_t k = 0; k < n; ++k) {
    const uint32_t *halves = (const uint32_t *)keys->buffer.data + 2 * k;
    FloContactPoint *point = &FLO_LIST(*points, FloContactPoint)[k];
    const uint32_t *pair = (const uint32_t *)bodies->buffer.data + 2 * k;
    *point =
        (FloContactPoint){.key = (uint64_t)halves[1] << 32 | halves[0], .body = pair[0], .other = pair[1]};
    memcpy(point->kept, (const double *)kept->buffer.data + FLO_N_KEPT * k, sizeof point->kept);
  }
  points->count = n;
  return FLO_OK;
}
