// The lattice of the level set, in bricks of 8 x 8 x 8 nodes, and the particles sorted by brick.
//
// Bricks near particles are listed by their keys, in rising order. There are none far away, so the size of
// the domain does not matter. All nodes of a listed brick are inside the fluid, or the brick is evaluated.
#ifndef FLO_SURFACE_BRICKS_H
#define FLO_SURFACE_BRICKS_H

#include "surface/surface.h"

enum { FLO_BRICK = 8, FLO_BRICK_NODES = 512, FLO_NO_BRICK = -1, FLO_MAX_RING = 8 };

typedef enum FloBrickState {
  FLO_BRICK_INSIDE,    // not evaluated: fluid all around
  FLO_BRICK_WANTED,    // to be evaluated next
  FLO_BRICK_EVALUATED, // its nodes have values
  FLO_BRICK_FAR,       // air all around; dropped from the list
} FloBrickState;

// Particles of a neighbourhood, relative to some origin [m].
typedef struct FloNearby {
  size_t count;
  float *x, *y, *z;
  uint32_t *index; // in the order of the bricks
} FloNearby;

typedef struct FloBricks {
  FloMemory *memory;
  int threads;
  double cell;         // [m]
  double origin[3];    // of node 0 [m]
  size_t memory_limit; // [bytes] 0: none
  double influence;    // a particle has no effect farther away [m]
  int ring;            // how many bricks away particles within the influence may be
  int bits[3];         // bits of a key for each axis
  // Particles, in the order of the bricks:
  size_t count;
  double *positions;     // triples
  float *velocities;     // triples; NULL: zero
  const uint32_t *order; // number of each particle in the input; valid until the bricks are listed
  // Bricks with particles, by rising key; `first` has one entry more, the end.
  size_t n_occupied;
  uint64_t *occupied_keys;
  uint32_t *first;
  uint32_t (*octants)[8]; // how many particles are in each eighth of a brick
  // All listed bricks, by rising key:
  size_t n_bricks;
  uint64_t *keys;
  uint8_t *states; // FloBrickState
  uint32_t *slots; // of evaluated bricks: where their values are
  size_t n_slots;
  FloBuffer values;  // FLO_BRICK_NODES floats for each slot [cells]
  FloNearby *nearby; // scratch, one for each thread, with room for any neighbourhood
  FloBuffer sorted, velocity_buffer, occupied, listed, scratch, nearby_buffer;
} FloBricks;

// `keep`, which may be NULL, tells which particles count.
typedef struct FloSurfaceInput {
  const double *positions;
  const float *velocities; // NULL: zero
  const uint8_t *keep;
  size_t count;
} FloSurfaceInput;

// Sorts the particles, all of which must be finite. Release with flo_bricks_free, also after a failure.
FloStatus flo_bricks_init(FloBricks *bricks, const FloSurfaceDef *def, double influence,
                          const FloSurfaceInput *input, FloMemory *memory, FloError *error);
// Lists the bricks near particles, and wants those that are not deep inside. There is no surface farther than
// `reach` from all particles; it is at most the influence.
FloStatus flo_bricks_list(FloBricks *bricks, const FloSurfaceDef *def, double reach, FloError *error);
// Fails if that many bytes more would exceed the limit.
FloStatus flo_bricks_check_memory(const FloBricks *bricks, size_t more, FloError *error);
void flo_bricks_free(FloBricks *bricks);

void flo_bricks_unpack(const FloBricks *bricks, uint64_t key, long place[3]);
// The number of the listed brick at a place, or FLO_NO_BRICK; the second counts only bricks with particles.
long flo_bricks_find(const FloBricks *bricks, const long place[3]);
long flo_bricks_find_occupied(const FloBricks *bricks, const long place[3]);
// The position of the brick's lowest node [m].
void flo_bricks_corner(const FloBricks *bricks, const long place[3], double corner[3]);
static inline float *flo_bricks_values(const FloBricks *bricks, size_t brick) {
  return (float *)bricks->values.data + (size_t)FLO_BRICK_NODES * bricks->slots[brick];
}

// Collects the particles within `reach` of a box, relative to `origin`. `reach` is at most the influence, and
// the box reaches out of the brick by at most a cell. The order depends only on the particles.
void flo_bricks_gather(const FloBricks *bricks, const long place[3], const double low[3],
                       const double high[3], double reach, const double origin[3], FloNearby *nearby);

// Marks the particles in clusters of at least `least` particles. Particles nearer than `link`, at most the
// influence, belong to one cluster. Call it before the bricks are listed, with all particles.
FloStatus flo_bricks_mark_clusters(const FloBricks *bricks, double link, size_t least, uint8_t *keep,
                                   FloError *error);

// How far a point is outside the box and the region that the surface must not leave [m]; negative inside.
double flo_surface_clip(const FloSurfaceDef *def, const double point[3]);

#endif
