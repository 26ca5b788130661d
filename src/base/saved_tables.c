// Fields of structs as arrays of a state: numbers, flags, and what a struct points to: arrays of numbers, or
// of structs with numbers.
#include "base/saved.h"

#include <stdio.h>
#include <string.h>

static void *struct_at(const FloStateTable *table, size_t k) {
  return table->at(table->owner, table->which, k);
}

// The doubles of a field of one struct: some in each entry; a bool has none.
typedef struct Numbers {
  char *first;
  size_t n, width, stride; // entries; doubles of each; bytes from one to the next
} Numbers;

static Numbers numbers_of(char *structure, const FloStateField *field) {
  Numbers numbers = {structure + field->offset, 1, field->count, 0};
  if (!field->is_array) return numbers;
  numbers.n = *(size_t *)(structure + field->length_offset), numbers.stride = field->stride;
  numbers.first = *(char **)(structure + field->offset);
  if (numbers.n > 0) numbers.first += field->inner;
  return numbers;
}

static bool is_flag(const FloStateField *field) { return field->count == 0; }

// One field of a table: its name in the state, and how many numbers that are.
static size_t describe_field(const FloStateTable *table, const FloStateField *field, char name[48]) {
  size_t n = 0;
  for (size_t k = 0; k < table->n; ++k) {
    char *structure = struct_at(table, k);
    if (!structure) continue;
    const Numbers numbers = numbers_of(structure, field);
    n += is_flag(field) ? 1 : numbers.n * numbers.width;
  }
  int length = snprintf(name, 48, "%s/%s", table->prefix, field->name);
  FLO_ASSERT(length < 48);
  return n;
}

static FloStatus add_field(FloState *state, const FloStateTable *table, const FloStateField *field,
                           FloError *error) {
  char name[48];
  void *data;
  FLO_TRY(flo_state_add(state, name, FLO_TYPE_F64, describe_field(table, field, name), &data, error));
  double *to = data;
  for (size_t k = 0; k < table->n; ++k) {
    char *structure = struct_at(table, k);
    if (!structure) continue;
    const Numbers from = numbers_of(structure, field);
    if (is_flag(field)) *to++ = *(const bool *)(structure + field->offset);
    for (size_t e = 0; e < from.n && from.width > 0; ++e, to += from.width)
      memcpy(to, from.first + from.stride * e, from.width * sizeof *to);
  }
  return FLO_OK;
}

static void restore_field(const FloState *state, const FloStateTable *table, const FloStateField *field) {
  char name[48];
  describe_field(table, field, name);
  const double *from = flo_state_find(state, name)->buffer.data;
  for (size_t k = 0; k < table->n; ++k) {
    char *structure = struct_at(table, k);
    if (!structure) continue;
    const Numbers to = numbers_of(structure, field);
    if (is_flag(field)) *(bool *)(structure + field->offset) = *from++ != 0;
    for (size_t e = 0; e < to.n && to.width > 0; ++e, from += to.width)
      memcpy(to.first + to.stride * e, from, to.width * sizeof *from);
  }
}

FloStatus flo_state_add_table(FloState *state, const FloStateTable *table, FloError *error) {
  for (const FloStateField *field = table->fields; field && field->name; ++field)
    FLO_TRY(add_field(state, table, field, error));
  return FLO_OK;
}

FloStatus flo_state_check_table(FloState *state, const FloStateTable *table, FloError *error) {
  for (const FloStateField *field = table->fields; field && field->name; ++field) {
    char name[48];
    size_t n = describe_field(table, field, name);
    FLO_TRY(flo_state_check_numbers(state, name, n, -FLO_STATE_MUCH, FLO_STATE_MUCH, error));
  }
  return FLO_OK;
}

FloStatus flo_state_restore_table(FloState *state, const FloStateTable *table, FloError *error) {
  (void)error;
  for (const FloStateField *field = table->fields; field && field->name; ++field)
    restore_field(state, table, field);
  return FLO_OK;
}
