// What a build without Embree has instead of rays: an error that says so.
#include "render/tracer.h"

#include "base/core.h"

FloStatus flo_tracer_create(const FloCloud *cloud, const FloSolids *solids, size_t memory_limit,
                            FloTracer **tracer, FloError *error) {
  (void)cloud, (void)solids, (void)memory_limit, (void)tracer;
  return flo_fail(error, FLO_UNSUPPORTED,
                  "this build of Flotsam draws no pictures: it was made without Embree; install the "
                  "development files of Embree 3 or 4 and build again");
}

void flo_tracer_destroy(FloTracer *tracer) { (void)tracer; }

// Without a tracer there is nothing to ask.
void flo_tracer_look(const FloTracer *tracer, const FloRay *rays, int n, FloHit *hits) {
  (void)tracer, (void)rays;
  for (int k = 0; k < n; ++k) hits[k] = (FloHit){.distance = INFINITY};
}

FloHit flo_tracer_look_along(const FloTracer *tracer, const FloRay *ray, float start) {
  (void)tracer, (void)ray, (void)start;
  return (FloHit){.distance = INFINITY};
}

bool flo_tracer_is_blocked(const FloTracer *tracer, const FloRay *ray) {
  (void)tracer, (void)ray;
  return false;
}
