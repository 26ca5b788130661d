// Wall-clock time of the stages of a step.
#ifndef FLO_BASE_TIMER_H
#define FLO_BASE_TIMER_H

double flo_seconds(void); // monotonic

typedef enum FloStage {
  FLO_STAGE_SORT,       // cells, order of the particles
  FLO_STAGE_NEIGHBOURS, // pair operators (and the kernel sums made along with them)
  FLO_STAGE_DENSITY,
  FLO_STAGE_FORCE,
  FLO_STAGE_INTEGRATE,
  FLO_STAGE_BODIES,
  FLO_STAGE_RESPONSE, // what gives contacts their velocities, where a method finds these apart from all else
  FLO_STAGE_COUNT
} FloStage;

#endif
