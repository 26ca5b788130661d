// The state of a world as named arrays.
#include "base/saved.h"

#include <stdio.h>
#include <string.h>

FloStatus flo_state_create(FloState **out, FloError *error) {
  FloMemory memory;
  flo_memory_init(&memory, &(FloAllocator){0});
  *out = flo_memory_allocate(&memory, sizeof **out);
  if (!*out) return flo_fail(error, FLO_NO_MEMORY, "out of memory for a world's state");
  **out = (FloState){.memory = memory};
  return FLO_OK;
}

void flo_state_destroy(FloState *state) {
  if (!state) return;
  for (size_t k = 0; k < FLO_MAX_STATE_ARRAYS; ++k) flo_buffer_free(&state->memory, &state->arrays[k].buffer);
  FloMemory last = state->memory;
  flo_memory_release(&last, state, sizeof *state);
}

FloStatus flo_state_add(FloState *state, const char *name, FloType type, size_t count, void **data,
                        FloError *error) {
  *data = NULL;
  if (state->n_arrays == FLO_MAX_STATE_ARRAYS)
    return flo_fail(error, FLO_BAD_INPUT, "state: more than %d arrays", FLO_MAX_STATE_ARRAYS);
  FloStateArray *array = &state->arrays[state->n_arrays];
  FLO_TRY(flo_buffer_reserve(&state->memory, &array->buffer, count * flo_type_size(type), 0, error));
  snprintf(array->name, sizeof array->name, "%s", name);
  array->type = type, array->count = count;
  *data = array->buffer.data;
  state->n_arrays++;
  return FLO_OK;
}

const FloStateArray *flo_state_find(const FloState *state, const char *name) {
  for (size_t k = 0; k < state->n_arrays; ++k)
    if (!strcmp(state->arrays[k].name, name)) return &state->arrays[k];
  return NULL;
}

FloStatus flo_state_add_copy(FloState *state, const char *name, FloType type, size_t count, const void *from,
                             FloError *error) {
  void *data;
  FLO_TRY(flo_state_add(state, name, type, count, &data, error));
  if (count) memcpy(data, from, count * flo_type_size(type));
  return FLO_OK;
}

FloStatus flo_state_need(const FloState *state, const char *name, FloType type, size_t count,
                         FloError *error) {
  const FloStateArray *array = flo_state_find(state, name);
  if (!array)
    return flo_fail(error, FLO_BAD_INPUT,
                    "state: '%s' is missing; use a state that was saved from the same scene", name);
  if (array->type != type || array->count != count)
    return flo_fail(
        error, FLO_BAD_INPUT,
        "state: it has %zu values of '%s', but this world needs %zu; it was saved from another scene",
        array->count, name, count);
  return FLO_OK;
}

// Written so that NaN is rejected.
FloStatus flo_state_check_numbers(const FloState *state, const char *name, size_t n, double low, double high,
                                  FloError *error) {
  FLO_TRY(flo_state_need(state, name, FLO_TYPE_F64, n, error));
  const double *values = flo_state_find(state, name)->buffer.data;
  for (size_t k = 0; k < n; ++k)
    if (!(values[k] >= low && values[k] <= high))
      return flo_fail(error, FLO_BAD_INPUT, "state: %g in '%s' is out of range", values[k], name);
  return FLO_OK;
}
