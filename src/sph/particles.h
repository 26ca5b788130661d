// Particles of one set as a structure of arrays, driven by the list in fields.h.
#ifndef FLO_SPH_PARTICLES_H
#define FLO_SPH_PARTICLES_H

#include "base/memory.h"
#include "sph/fields.h"

typedef struct FloField {
  const char *name;
  FloType type;
  unsigned sets; // bit per FloSet
  bool is_state;
  const char *unit, *meaning;
  bool is_shown; // of a method's own fields: frames hold it
} FloField;

enum { FLO_MAX_EXTRA_FIELDS = 16 };

typedef struct FloParticles {
  FloSet set;
  size_t count;
#define X(name, ctype, type, sets, is_state, unit, meaning) ctype *name;
  FLO_PARTICLE_FIELDS(X)
#undef X
  void *extra[FLO_MAX_EXTRA_FIELDS]; // the method's own fields, in its order
  const FloField *extra_fields;      // ended by a name of NULL; may itself be NULL
  size_t capacity;
  FloBuffer shadow; // where one field is permuted or compacted into
  FloMemory *memory;
} FloParticles;

void flo_particles_init(FloParticles *particles, FloSet set, const FloField *extra_fields, FloMemory *memory);
void flo_particles_free(FloParticles *particles);

// Adds n particles with all fields zero, at the end.
FloStatus flo_particles_add(FloParticles *particles, size_t n, FloError *error);
// The k-th field that this set has, its array in `data`; NULL past the last.
const FloField *flo_particles_field(const FloParticles *particles, size_t k, void **data);
// Particle k becomes what particle order[k] was, for k < count; count <= the old count (a shorter order
// removes).
FloStatus flo_particles_permute(FloParticles *particles, const uint32_t *order, size_t count, int threads,
                                FloError *error);
// Independent of the order in memory; covers the fields that are state.
uint64_t flo_particles_hash(const FloParticles *particles);

#endif
