// How fast fluid approaches its neighbours and solids. Implicit methods choose their steps by this rather
// than by the speed of the fluid: a jet that flies as a whole needs no short steps.
#include "sph/passes.h"
#include "state/state.h"

typedef struct Measure {
  const FloWorld *world;
  FloApproach pass;
  const float *columns[FLO_SET_COUNT]; // velocities; NULL: none
  float *samples;                      // quadruples: velocities of samples that forces move
} Measure;

static void read_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Measure *measure = context;
  const FloParticles *p = &measure->world->sets[FLO_SET_RIGID];
  for (size_t i = begin; i < end; ++i) {
    float *q = measure->samples + 4 * i;
    q[0] = p->vx[i], q[1] = p->vy[i], q[2] = p->vz[i], q[3] = 0;
  }
}

static void measure_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Measure *measure = context;
  for (size_t block = begin; block < end; ++block) measure->pass.fastest[block] = 0;
  for (int set = 0; set < FLO_SET_COUNT; ++set) {
    FloApproach pass = measure->pass;
    if (!measure->columns[set]) continue;
    pass.pairs = flo_pairs_of(measure->world, FLO_SET_FLUID, (FloSet)set);
    pass.columns = measure->columns[set];
    flo_passes()->approach(&pass, begin, end);
  }
}

void flo_world_note_approach(FloWorld *world, const float *fluid, const float *walls) {
  const size_t n_blocks = flo_pairs_of(world, FLO_SET_FLUID, FLO_SET_FLUID)->n_blocks,
               n_rigid = world->sets[FLO_SET_RIGID].count;
  const FloBuffer *fastest = &world->approach_buffers[0], *samples = &world->approach_buffers[1];
  Measure measure = {.world = world, .samples = samples->data};
  measure.pass = (FloApproach){
      .rows = fluid, .unit = (float)pow(world->def.spacing, world->def.dim + 1), .fastest = fastest->data};
  measure.columns[FLO_SET_FLUID] = fluid;
  if (world->sets[FLO_SET_BOUNDARY].count) measure.columns[FLO_SET_BOUNDARY] = walls;
  if (n_rigid) measure.columns[FLO_SET_RIGID] = measure.samples;
  flo_each_particle(world, FLO_SET_RIGID, read_range, &measure);
  flo_each_block(world, FLO_SET_FLUID, FLO_SET_FLUID, measure_range, &measure);
  float highest = 0;
  for (size_t k = 0; k < n_blocks; ++k) highest = fmaxf(highest, measure.pass.fastest[k]);
  world->max_approach = sqrt((double)highest);
}
