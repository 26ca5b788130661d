#include "sph/particles.h"

#include "base/parallel.h"

#include <string.h>

static const FloField core_fields[] = {
#define X(name, ctype, type, sets, is_state, unit, meaning)                                                  \
  {#name, type, sets, is_state, unit, meaning, false},
    FLO_PARTICLE_FIELDS(X)
#undef X
};

static const size_t core_offsets[] = {
#define X(name, ctype, type, sets, is_state, unit, meaning) offsetof(FloParticles, name),
    FLO_PARTICLE_FIELDS(X)
#undef X
};

void flo_particles_init(FloParticles *particles, FloSet set, const FloField *extra_fields,
                        FloMemory *memory) {
  *particles = (FloParticles){.set = set, .extra_fields = extra_fields, .memory = memory};
}

// The pointer to field k of all known fields (core first, then those of the method); NULL after the last.
static const FloField *field_at(const FloParticles *particles, size_t k, void ***slot) {
  FloParticles *writable = (FloParticles *)particles;
  if (k < FLO_COUNT_OF(core_fields)) {
    *slot = (void **)((char *)writable + core_offsets[k]);
    return &core_fields[k];
  }
  k -= FLO_COUNT_OF(core_fields);
  if (!particles->extra_fields || !particles->extra_fields[k].name) return NULL;
  FLO_ASSERT(k < FLO_MAX_EXTRA_FIELDS);
  *slot = &writable->extra[k];
  return &particles->extra_fields[k];
}

// Visits the fields that this set has.
#define FOR_EACH_FIELD(particles, field, slot)                                                               \
  for (size_t k_ = 0; (field = field_at(particles, k_, &slot)) != NULL; ++k_)                                \
    if (field->sets >> (particles)->set & 1)

void flo_particles_free(FloParticles *particles) {
  const FloField *field;
  void **slot;
  FOR_EACH_FIELD(particles, field, slot) {
    flo_memory_release(particles->memory, *slot, particles->capacity * flo_type_size(field->type));
    *slot = NULL;
  }
  flo_buffer_free(particles->memory, &particles->shadow);
  particles->count = particles->capacity = 0;
}

// Every array has a few elements more than `capacity`, so that eight-wide loads may read past the end.
enum { OVERRUN = 16 };

// Allocates all new arrays or none: a set with arrays of different lengths would be unusable.
static FloStatus grow(FloParticles *particles, size_t needed, FloError *error) {
  size_t capacity = particles->capacity ? needed + needed / 4 : needed;
  capacity = (capacity + OVERRUN + 15) / 16 * 16;
  void *grown[FLO_COUNT_OF(core_fields) + FLO_MAX_EXTRA_FIELDS] = {0};
  const FloField *field;
  void **slot;
  bool has_failed = false;
  FOR_EACH_FIELD(particles, field, slot) {
    grown[k_] = flo_memory_allocate(particles->memory, capacity * flo_type_size(field->type));
    has_failed |= !grown[k_];
  }
  FOR_EACH_FIELD(particles, field, slot) {
    size_t size = flo_type_size(field->type), used = particles->count * size;
    if (has_failed) {
      flo_memory_release(particles->memory, grown[k_], capacity * size);
      continue;
    }
    if (used) memcpy(grown[k_], *slot, used);
    memset((char *)grown[k_] + used, 0, capacity * size - used);
    flo_memory_release(particles->memory, *slot, particles->capacity * size);
    *slot = grown[k_];
  }
  if (has_failed) return flo_fail(error, FLO_NO_MEMORY, "out of memory for %zu particles", capacity);
  particles->capacity = capacity;
  return FLO_OK;
}

FloStatus flo_particles_add(FloParticles *particles, size_t n, FloError *error) {
  size_t needed = particles->count + n;
  if (needed > UINT32_MAX / 2) return flo_fail(error, FLO_BAD_INPUT, "too many particles: %zu", needed);
  if (needed + OVERRUN > particles->capacity) FLO_TRY(grow(particles, needed, error));
  const FloField *field;
  void **slot;
  FOR_EACH_FIELD(particles, field, slot) {
    size_t size = flo_type_size(field->type);
    memset((char *)*slot + particles->count * size, 0, n * size);
  }
  particles->count = needed;
  return FLO_OK;
}

const FloField *flo_particles_field(const FloParticles *particles, size_t k, void **data) {
  const FloField *field;
  void **slot;
  FOR_EACH_FIELD(particles, field, slot) {
    if (k-- == 0) return *data = *slot, field;
  }
  return NULL;
}

typedef struct Permutation {
  const uint32_t *order;
  const void *from;
  void *to;
  size_t size;
} Permutation;

static void permute_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Permutation *p = context;
  const uint32_t *order = p->order;
#define COPY(type)                                                                                           \
  for (size_t k = begin; k < end; ++k) ((type *)p->to)[k] = ((const type *)p->from)[order[k]]
  if (p->size == 8)
    COPY(uint64_t);
  else if (p->size == 4)
    COPY(uint32_t);
  else
    COPY(uint16_t);
#undef COPY
}

static void copy_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  Permutation *p = context;
  memcpy((char *)p->to + begin * p->size, (const char *)p->from + begin * p->size, (end - begin) * p->size);
}

FloStatus flo_particles_permute(FloParticles *particles, const uint32_t *order, size_t count, int threads,
                                FloError *error) {
  FLO_TRY(flo_buffer_reserve(particles->memory, &particles->shadow, particles->capacity * sizeof(double), 0,
                             error));
  size_t grain = flo_parallel_grain(count);
  const FloField *field;
  void **slot;
  FOR_EACH_FIELD(particles, field, slot) {
    Permutation p = {order, *slot, particles->shadow.data, flo_type_size(field->type)};
    flo_parallel_for(threads, count, grain, permute_range, &p);
    p.from = particles->shadow.data, p.to = *slot;
    flo_parallel_for(threads, count, grain, copy_range, &p);
  }
  particles->count = count;
  return FLO_OK;
}

static uint64_t mix(uint64_t h) {
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  return h ^ h >> 32;
}

// A hash per particle, keyed by its id, added up: the sum does not depend on the order.
uint64_t flo_particles_hash(const FloParticles *particles) {
  uint64_t total = particles->count;
  for (size_t i = 0; i < particles->count; ++i) {
    uint64_t h = 1 + particles->id[i];
    const FloField *field;
    void **slot;
    FOR_EACH_FIELD(particles, field, slot) {
      if (!field->is_state) continue;
      size_t size = flo_type_size(field->type);
      uint64_t bits = 0;
      memcpy(&bits, (const char *)*slot + i * size, size);
      h = mix(h ^ mix(bits + 0x9e3779b97f4a7c15u));
    }
    total += mix(h);
  }
  return total;
}
