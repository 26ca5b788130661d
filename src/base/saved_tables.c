// Fields of structs as arrays of a state: numbers, flags, and arrays of numbers that a struct points to.
#include "base/saved.h"

#include <stdio.h>
#include <string.h>

static void *struct_at(const FloStateTable *table, size_t k) {
  return table->at(table->owner, table->which, k);
}

// The doubles of a field of one struct; a bool has none.
static double *numbers_of(char *structure, const FloStateField *field, size_t *count) {
  *count = field->is_array ? *(size_t *)(structure + field->length_offset) : field->count;
  return field->is_array ? *(double **)(structure + field->offset) : (double *)(structure + field->offset);
}

static bool is_flag(const FloStateField *field) { return field->count == 0 && !field->is_array; }

// One field of a table: its name in the state, and how many numbers that are.
static size_t describe_field(const FloStateTable *table, const FloStateField *field, char name[48]) {
  size_t n = 0, count;
  for (size_t k = 0; k < table->n; ++k) {
    char *structure = struct_at(table, k);
    if (!structure) continue;
    numbers_of(structure, field, &count);
    n += is_flag(field) ? 1 : count;
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
    size_t count;
    if (!structure) continue;
    const double *from = numbers_of(structure, field, &count);
    if (is_flag(field)) *to++ = *(const bool *)(structure + field->offset);
    if (count == 0) continue;
    memcpy(to, from, count * sizeof *to);
    to += count;
  }
  return FLO_OK;
}

static void restore_field(const FloState *state, const FloStateTable *table, const FloStateField *field) {
  char name[48];
  describe_field(table, field, name);
  const double *from = flo_state_find(state, name)->buffer.data;
  for (size_t k = 0; k < table->n; ++k) {
    char *structure = struct_at(table, k);
    size_t count;
    if (!structure) continue;
    double *to = numbers_of(structure, field, &count);
    if (is_flag(field)) *(bool *)(structure + field->offset) = *from++ != 0;
    if (count == 0) continue;
    memcpy(to, from, count * sizeof *from);
    from += count;
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
