// The particles of one moment, copied out of a world: what frames on disk hold and what pictures show.
#ifndef FLO_IO_SNAPSHOT_H
#define FLO_IO_SNAPSHOT_H

#include "flotsam/flotsam.h"

enum { FLO_SNAPSHOT_EXTRAS = 8 };

// All particles, those of FLO_SET_FLUID first, each set in the order of the world's memory.
typedef struct FloSnapshot {
  double time;        // [s]
  size_t count;       // of all particles
  float *positions;   // [m] triples
  float *velocity;    // [m/s] triples
  float *density;     // [kg/m³] 0 where the set has none
  float *pressure;    // [Pa] 0 where the set has none
  uint32_t *id;       // stays with the particle over all frames; counted apart in each set
  uint8_t *type;      // a FloSet
  uint16_t *material; // index; 65535: none
  uint16_t *body;     // index; 65535: none
  struct {
    const char *name;
    float *values;               // 0 where the set has none
  } extras[FLO_SNAPSHOT_EXTRAS]; // what the method adds; not read back
  size_t n_extras;
} FloSnapshot;

FloStatus flo_snapshot_take(const FloWorld *world, FloSnapshot *snapshot, FloError *error);
FloStatus flo_snapshot_write(const FloSnapshot *snapshot, const char *path, FloError *error);
FloStatus flo_snapshot_read(const char *path, FloSnapshot *snapshot, FloError *error);
void flo_snapshot_free(FloSnapshot *snapshot);

#endif
