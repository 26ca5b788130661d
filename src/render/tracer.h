// Rays against particles and solids. Only these two files know Embree.
#ifndef FLO_RENDER_TRACER_H
#define FLO_RENDER_TRACER_H

#include "render/cloud.h"
#include "render/solids.h"

typedef struct FloTracer FloTracer;

typedef enum FloHitKind { FLO_HIT_NOTHING, FLO_HIT_PARTICLE, FLO_HIT_SOLID } FloHitKind;

typedef struct FloHit {
  FloHitKind kind;
  float distance; // INFINITY where nothing was hit
  uint32_t index; // of the sphere or triangle
  V3 normal;      // of unit length, as the surface has it; not turned towards the ray
  V3 face;        // of triangles: normal of the flat triangle, of any length; of spheres the same as `normal`
  float u, v;     // of triangles: shares of the second and third corner
} FloHit;

typedef struct FloRay {
  V3 origin, direction;
  float end; // distance at which it stops
} FloRay;

// Cloud and solids must outlive the tracer. `memory_limit` in bytes, 0: none.
FloStatus flo_tracer_create(const FloCloud *, const FloSolids *, size_t memory_limit, FloTracer **,
                            FloError *);
void flo_tracer_destroy(FloTracer *); // NULL is fine

// The nearest surface along rays that lie close together, such as those of neighbouring pixels.
void flo_tracer_look(const FloTracer *, const FloRay *rays, int n, FloHit *hits);
// The same for a single ray. Surfaces nearer than `start` do not count.
FloHit flo_tracer_look_along(const FloTracer *, const FloRay *ray, float start);
// Whether anything blocks the ray.
bool flo_tracer_is_blocked(const FloTracer *, const FloRay *ray);

#endif
