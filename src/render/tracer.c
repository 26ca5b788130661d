#include "render/tracer.h"

#include "base/core.h"

#if FLO_EMBREE == 4
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct FloTracer {
  RTCDevice device;
  RTCScene scene;
  const FloCloud *cloud;
  const FloSolids *solids;
  unsigned cloud_id; // Embree's numbers for the two geometries; RTC_INVALID_GEOMETRY_ID where there is none
  unsigned solids_id;
  FloBounds bounds; // of everything
  size_t memory_limit;
  _Atomic long long memory; // bytes Embree holds
  enum RTCError failure;    // the first one
  char failure_text[256];
};

// ---- Building ----

static void note_failure(void *context, enum RTCError code, const char *text) {
  FloTracer *t = context;
  if (t->failure != RTC_ERROR_NONE) return;
  t->failure = code == RTC_ERROR_NONE ? RTC_ERROR_UNKNOWN : code;
  snprintf(t->failure_text, sizeof t->failure_text, "%s", text ? text : "no text");
}

static bool watch_memory(void *context, ssize_t bytes, bool is_after) {
  (void)is_after;
  FloTracer *t = context;
  long long total = atomic_fetch_add(&t->memory, bytes) + bytes;
  return bytes <= 0 || !t->memory_limit || total <= (long long)t->memory_limit;
}

static FloStatus check(const FloTracer *t, FloError *error) {
  if (t->failure == RTC_ERROR_NONE) return FLO_OK;
  if (t->failure == RTC_ERROR_OUT_OF_MEMORY)
    return flo_fail(error, FLO_NO_MEMORY, "no memory to trace %zu particles (Embree: %s)", t->cloud->count,
                    t->failure_text);
  return flo_fail(error, FLO_UNSUPPORTED, "cannot trace rays: Embree: %s", t->failure_text);
}

static unsigned attach(FloTracer *t, RTCGeometry geometry) {
  rtcCommitGeometry(geometry);
  unsigned id = rtcAttachGeometry(t->scene, geometry);
  rtcReleaseGeometry(geometry);
  return id;
}

static void add_cloud(FloTracer *t) {
  RTCGeometry g = rtcNewGeometry(t->device, RTC_GEOMETRY_TYPE_SPHERE_POINT);
  if (!g) return;
  rtcSetSharedGeometryBuffer(g, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4, t->cloud->spheres, 0,
                             sizeof *t->cloud->spheres, t->cloud->count);
  t->cloud_id = attach(t, g);
}

static void add_solids(FloTracer *t) {
  const FloSolids *s = t->solids;
  RTCGeometry g = rtcNewGeometry(t->device, RTC_GEOMETRY_TYPE_TRIANGLE);
  if (!g) return;
  rtcSetSharedGeometryBuffer(g, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, s->vertices, 0,
                             sizeof *s->vertices, s->n_vertices);
  rtcSetSharedGeometryBuffer(g, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, s->triangles, 0,
                             sizeof *s->triangles, s->n_triangles);
  t->solids_id = attach(t, g);
}

static void build(FloTracer *t) {
  // One thread builds the tree. With several, the order inside Embree's tree depends on their number, and so
  // does which of two equally near surfaces a ray reports. Pixels must not depend on the number of threads.
  t->device = rtcNewDevice("threads=1");
  if (!t->device) {
    note_failure(t, rtcGetDeviceError(NULL), "cannot create a device");
    return;
  }
  rtcSetDeviceErrorFunction(t->device, note_failure, t);
  rtcSetDeviceMemoryMonitorFunction(t->device, watch_memory, t);
  t->scene = rtcNewScene(t->device);
  if (!t->scene) return;
  rtcSetSceneFlags(t->scene, RTC_SCENE_FLAG_ROBUST);
  if (t->cloud->count > 0) add_cloud(t);
  if (t->solids->n_triangles > 0) add_solids(t);
  if (t->failure == RTC_ERROR_NONE) rtcCommitScene(t->scene);
}

FloStatus flo_tracer_create(const FloCloud *cloud, const FloSolids *solids, size_t memory_limit,
                            FloTracer **tracer, FloError *error) {
  FloTracer *t = calloc(1, sizeof *t);
  if (!t) return flo_fail(error, FLO_NO_MEMORY, "no memory to trace rays");
  t->cloud = cloud, t->solids = solids, t->memory_limit = memory_limit;
  t->cloud_id = t->solids_id = RTC_INVALID_GEOMETRY_ID;
  build(t);
  FloStatus status = check(t, error);
  if (status != FLO_OK) {
    flo_tracer_destroy(t);
    return status;
  }
  struct RTCBounds b;
  rtcGetSceneBounds(t->scene, &b);
  t->bounds = (FloBounds){{b.lower_x, b.lower_y, b.lower_z}, {b.upper_x, b.upper_y, b.upper_z}};
  *tracer = t;
  return FLO_OK;
}

void flo_tracer_destroy(FloTracer *t) {
  if (!t) return;
  if (t->scene) rtcReleaseScene(t->scene);
  if (t->device) rtcReleaseDevice(t->device);
  free(t);
}

// ---- The two versions of Embree differ in how they are asked ----

#if FLO_EMBREE == 4

static void intersect_4(const int *valid, RTCScene scene, struct RTCRayHit4 *packet) {
  struct RTCIntersectArguments arguments;
  rtcInitIntersectArguments(&arguments);
  arguments.flags = RTC_RAY_QUERY_FLAG_COHERENT;
  rtcIntersect4(valid, scene, packet, &arguments);
}
static void intersect_1(RTCScene scene, struct RTCRayHit *ray) { rtcIntersect1(scene, ray, NULL); }
static void occlude_1(RTCScene scene, struct RTCRay *ray) { rtcOccluded1(scene, ray, NULL); }

#else

static void intersect_4(const int *valid, RTCScene scene, struct RTCRayHit4 *packet) {
  struct RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
  rtcIntersect4(valid, scene, &context, packet);
}
static void intersect_1(RTCScene scene, struct RTCRayHit *ray) {
  struct RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  rtcIntersect1(scene, &context, ray);
}
static void occlude_1(RTCScene scene, struct RTCRay *ray) {
  struct RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  rtcOccluded1(scene, &context, ray);
}

#endif

// ---- Tracing ----

static V3 sphere_normal(const FloTracer *t, const FloRay *ray, float distance, uint32_t index) {
  const float *sphere = t->cloud->spheres[index];
  V3 point = v3_mad(ray->origin, ray->direction, distance);
  return v3_normalize(v3_sub(point, v3(sphere[0], sphere[1], sphere[2])));
}

static V3 solid_normal(const FloTracer *t, uint32_t index, float u, float v) {
  const uint32_t *corner = t->solids->triangles[index];
  const V3 *n = t->solids->normals;
  return v3_normalize(v3_mad(v3_mad(v3_scale(n[corner[0]], 1 - u - v), n[corner[1]], u), n[corner[2]], v));
}

static void set_normal(const FloTracer *t, const FloRay *ray, FloHit *hit) {
  if (hit->kind == FLO_HIT_PARTICLE)
    hit->face = hit->normal = sphere_normal(t, ray, hit->distance, hit->index);
  else
    hit->normal = solid_normal(t, hit->index, hit->u, hit->v);
}

static void look_4(const FloTracer *t, const FloRay *rays, int n, FloHit *hits) {
  struct RTCRayHit4 packet = {0};
  _Alignas(16) int valid[4] = {0};
  for (int k = 0; k < n; k++) {
    packet.ray.org_x[k] = rays[k].origin.x, packet.ray.dir_x[k] = rays[k].direction.x;
    packet.ray.org_y[k] = rays[k].origin.y, packet.ray.dir_y[k] = rays[k].direction.y;
    packet.ray.org_z[k] = rays[k].origin.z, packet.ray.dir_z[k] = rays[k].direction.z;
    packet.ray.tfar[k] = rays[k].end, packet.ray.mask[k] = ~0u;
    packet.hit.geomID[k] = RTC_INVALID_GEOMETRY_ID;
    valid[k] = -1;
  }
  intersect_4(valid, t->scene, &packet);
  for (int k = 0; k < n; k++) {
    unsigned id = packet.hit.geomID[k];
    hits[k] = (FloHit){.distance = INFINITY};
    if (id == RTC_INVALID_GEOMETRY_ID) continue;
    hits[k].kind = id == t->cloud_id ? FLO_HIT_PARTICLE : FLO_HIT_SOLID;
    hits[k].distance = packet.ray.tfar[k], hits[k].index = packet.hit.primID[k];
    hits[k].u = packet.hit.u[k], hits[k].v = packet.hit.v[k];
    hits[k].face = v3(packet.hit.Ng_x[k], packet.hit.Ng_y[k], packet.hit.Ng_z[k]);
    set_normal(t, &rays[k], &hits[k]);
  }
}

void flo_tracer_look(const FloTracer *t, const FloRay *rays, int n, FloHit *hits) {
  for (int k = 0; k < n; k += 4) look_4(t, rays + k, n - k < 4 ? n - k : 4, hits + k);
}

// Whether a ray meets the box around everything. Most rays from the ground do not, and this test is far
// cheaper than Embree. Divisions by zero give infinities, which compare correctly.
static bool meets_bounds(FloBounds b, const FloRay *ray) {
  V3 inverse = {1 / ray->direction.x, 1 / ray->direction.y, 1 / ray->direction.z};
  V3 low = v3_mul(v3_sub(b.low, ray->origin), inverse), high = v3_mul(v3_sub(b.high, ray->origin), inverse);
  V3 first = v3_min(low, high), last = v3_max(low, high);
  float enter = flo_maxf(first.x, flo_maxf(first.y, first.z)),
        leave = flo_minf(last.x, flo_minf(last.y, last.z));
  return leave >= 0 && enter <= leave * 1.0001f && enter <= ray->end;
}

bool flo_tracer_is_blocked(const FloTracer *t, const FloRay *ray) {
  if (!meets_bounds(t->bounds, ray)) return false;
  struct RTCRay r = {
      .org_x = ray->origin.x,
      .org_y = ray->origin.y,
      .org_z = ray->origin.z,
      .dir_x = ray->direction.x,
      .dir_y = ray->direction.y,
      .dir_z = ray->direction.z,
      .tfar = ray->end,
      .mask = ~0u,
  };
  occlude_1(t->scene, &r);
  return r.tfar < 0; // Embree sets it so if the ray is blocked
}

FloHit flo_tracer_look_along(const FloTracer *t, const FloRay *ray, float start) {
  FloHit hit = {.distance = INFINITY};
  if (!meets_bounds(t->bounds, ray)) return hit;
  struct RTCRayHit r = {.ray = {.org_x = ray->origin.x,
                                .org_y = ray->origin.y,
                                .org_z = ray->origin.z,
                                .dir_x = ray->direction.x,
                                .dir_y = ray->direction.y,
                                .dir_z = ray->direction.z,
                                .tnear = start,
                                .tfar = ray->end,
                                .mask = ~0u},
                        .hit = {.geomID = RTC_INVALID_GEOMETRY_ID}};
  intersect_1(t->scene, &r);
  if (r.hit.geomID == RTC_INVALID_GEOMETRY_ID) return hit;
  hit = (FloHit){.kind = r.hit.geomID == t->cloud_id ? FLO_HIT_PARTICLE : FLO_HIT_SOLID,
                 .distance = r.ray.tfar,
                 .index = r.hit.primID,
                 .u = r.hit.u,
                 .v = r.hit.v,
                 .face = {r.hit.Ng_x, r.hit.Ng_y, r.hit.Ng_z}};
  set_normal(t, ray, &hit);
  return hit;
}
