// What methods keep of contacts from step to step. A contact is found again by the sample or node whose point
// it is and by the body that it meets.
#include "state/state.h"

#include <string.h>

// Of a node of a soft body, the number of its first node among all nodes names it.
static uint64_t soft_key(const FloWorld *world, const FloContactPoint *point) {
  size_t node = flo_bodies(world)[point->body].first_node + point->hold.nodes[0];
  return UINT64_C(1) << 62 | (uint64_t)point->other << 32 | node;
}

// The number of a sample stays with it, wherever it is stored. A tip that meets a soft body has one, too.
uint64_t flo_contact_key(const FloWorld *world, const FloContactPoint *point) {
  size_t i;
  if (point->hold.count > 0 && !point->is_of_other) return soft_key(world, point);
  const FloParticles *set =
      flo_world_find_sample(world, point->is_of_other ? point->other_sample : point->body_sample, &i);
  uint32_t met = point->is_of_other ? point->body : point->other;
  return (uint64_t)(set->set == FLO_SET_BOUNDARY) << 63 | (uint64_t)met << 32 | set->id[i];
}

// A hash table of 2^bits places; each holds a number of a point, or NONE.
typedef struct Table {
  uint32_t *places;
  int bits;
} Table;

#define NONE UINT32_MAX

static size_t place_of(const Table *table, uint64_t key) {
  return (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - table->bits));
}

static size_t next_place(const Table *table, size_t place) {
  return (place + 1) & (((size_t)1 << table->bits) - 1);
}

static FloStatus make_table(FloWorld *world, Table *table, FloError *error) {
  const FloList *before = &world->body_contacts.before;
  for (table->bits = 4; ((size_t)1 << table->bits) < 2 * before->count;) ++table->bits;
  size_t size = sizeof(uint32_t) << table->bits;
  FLO_TRY(flo_buffer_reserve(&world->memory, &world->body_contacts.table, size, 0, error));
  table->places = world->body_contacts.table.data;
  memset(table->places, 0xff, size);
  for (size_t k = 0; k < before->count; ++k) {
    size_t place = place_of(table, FLO_LIST(*before, FloContactPoint)[k].key);
    while (table->places[place] != NONE) place = next_place(table, place);
    table->places[place] = (uint32_t)k;
  }
  return FLO_OK;
}

static void recall(const FloContacts *contacts, const Table *table, FloContactPoint *point) {
  const FloContactPoint *before = FLO_LIST(contacts->before, FloContactPoint);
  for (size_t place = place_of(table, point->key); table->places[place] != NONE;
       place = next_place(table, place)) {
    const FloContactPoint *earlier = &before[table->places[place]];
    if (earlier->key != point->key) continue;
    memcpy(point->kept, earlier->kept, sizeof point->kept);
    return;
  }
}

FloStatus flo_world_recall_contacts(FloWorld *world, FloError *error) {
  FloContacts *contacts = &world->body_contacts;
  Table table;
  if (contacts->before.count == 0) return FLO_OK;
  FLO_TRY(make_table(world, &table, error));
  for (size_t k = 0; k < contacts->points.count; ++k)
    recall(contacts, &table, &flo_contact_points(contacts)[k]);
  return FLO_OK;
}
