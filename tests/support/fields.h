// Values in every field of a set that tell which particle they belong to.
#ifndef TEST_SUPPORT_FIELDS_H
#define TEST_SUPPORT_FIELDS_H

#include "sph/particles.h"
#include "support/check.h"

// Is `name` one of the words of `list`?
static inline bool is_listed(const char *name, const char *list) {
  size_t length = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at += length)
    if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return true;
  return false;
}

static inline uint64_t brand_of(uint32_t id, size_t field) {
  return (uint64_t)id * 0x9e3779b97f4a7c15u + field;
}

// Brands all fields but the id and those in `list`.
static inline void brand_fields(FloParticles *particles, const char *list) {
  void *data;
  const FloField *field;
  for (size_t k = 0; (field = flo_particles_field(particles, k, &data)); ++k) {
    if (is_listed(field->name, "id") || is_listed(field->name, list)) continue;
    size_t size = flo_type_size(field->type);
    for (size_t i = 0; i < particles->count; ++i) {
      uint64_t bits = brand_of(particles->id[i], k);
      memcpy((char *)data + i * size, &bits, size);
    }
  }
}

static inline void check_brands(const FloParticles *particles, const char *list) {
  void *data;
  const FloField *field;
  for (size_t k = 0; (field = flo_particles_field(particles, k, &data)); ++k) {
    if (is_listed(field->name, "id") || is_listed(field->name, list)) continue;
    size_t size = flo_type_size(field->type);
    for (size_t i = 0; i < particles->count; ++i) {
      uint64_t bits = brand_of(particles->id[i], k);
      if (memcmp((char *)data + i * size, &bits, size))
        fail_msg("particle %u lost its %s", particles->id[i], field->name);
    }
  }
}

#endif
