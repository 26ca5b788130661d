// The lattice of the level set, in bricks of 8 x 8 x 8 nodes, and the particles sorted by brick.
//
// Bricks near particles are listed by their keys, in rising order; far away there are none, so the size of
// the domain does not matter. Those listed are either deep inside the fluid, all nodes inside, or evaluated.
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
  double influence;    // radius around a particle beyond which it changes nothing [m]
  int ring;            // bricks that far away may hold particles within the influence
  int bits[3];         // of a key, for each axis
  // Particles, in the order of the bricks:
  size_t count;
  double *positions;     // triples
  float *velocities;     // triples; NULL: zero
  const uint32_t *order; // which of the input each one is; until the bricks are listed
  // Bricks with particles, by rising key; `first` has an end mark.
  size_t n_occupied;
  uint64_t *occupied_keys;
  uint32_t *first;
  uint32_t (*octants)[8]; // how many particles are in each eighth of a brick
  // All listed bricks, by rising key:
  size_t n_bricks;
  uint64_t *keys;
  uint8_t *states; // FloBrickState
  uint32_t *slots; // of evaluated ones: where its values are
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
// Lists the bricks near particles, and wants those that are not deep inside. Farther than `reach`, at most
// the influence, from any particle there is no surface.
FloStatus flo_bricks_list(FloBricks *bricks, const FloSurfaceDef *def, double reach, FloError *error);
// Refuses to take that many bytes more if they are beyond the limit.
FloStatus flo_bricks_check_memory(const FloBricks *bricks, size_t more, FloError *error);
void flo_bricks_free(FloBricks *bricks);

void flo_bricks_unpack(const FloBricks *bricks, uint64_t key, long place[3]);
// The listed brick at a place, or FLO_NO_BRICK; the same among those with particles.
long flo_bricks_find(const FloBricks *bricks, const long place[3]);
long flo_bricks_find_occupied(const FloBricks *bricks, const long place[3]);
// The node of lowest coordinates [m].
void flo_bricks_corner(const FloBricks *bricks, const long place[3], double corner[3]);
static inline float *flo_bricks_values(const FloBricks *bricks, size_t brick) {
  return (float *)bricks->values.data + (size_t)FLO_BRICK_NODES * bricks->slots[brick];
}

// Collects the particles nearer than `reach`, at most the influence, to a box that does not leave the brick
// by more than a cell; relative to `origin`. Their order depends on the particles alone.
void flo_bricks_gather(const FloBricks *bricks, const long place[3], const double low[3],
                       const double high[3], double reach, const double origin[3], FloNearby *nearby);

// Of all particles given, marks those in clusters of at least `least`; particles nearer than `link`, at most
// the influence, belong together. Before the bricks are listed, and without any left out before.
FloStatus flo_bricks_mark_clusters(const FloBricks *bricks, double link, size_t least, uint8_t *keep,
                                   FloError *error);

// How far a point is outside the box and the region that the surface must not leave [m]; negative inside.
double flo_surface_clip(const FloSurfaceDef *def, const double point[3]);

#endif
