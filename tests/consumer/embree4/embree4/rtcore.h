// Declarations of the part of Embree 4 that src/render/tracer.c uses, written from its manual. They let the
// tests compile the code for Embree 4 where only Embree 3 is installed. They cannot be linked.
#ifndef TEST_EMBREE4_RTCORE_H
#define TEST_EMBREE4_RTCORE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct RTCDeviceTy *RTCDevice;
typedef struct RTCSceneTy *RTCScene;
typedef struct RTCGeometryTy *RTCGeometry;

#define RTC_INVALID_GEOMETRY_ID ((unsigned)-1)

enum RTCError { RTC_ERROR_NONE, RTC_ERROR_UNKNOWN, RTC_ERROR_OUT_OF_MEMORY = 4 };
enum RTCGeometryType { RTC_GEOMETRY_TYPE_TRIANGLE, RTC_GEOMETRY_TYPE_SPHERE_POINT = 50 };
enum RTCBufferType { RTC_BUFFER_TYPE_INDEX, RTC_BUFFER_TYPE_VERTEX };
enum RTCFormat { RTC_FORMAT_UINT3, RTC_FORMAT_FLOAT3, RTC_FORMAT_FLOAT4 };
enum RTCSceneFlags { RTC_SCENE_FLAG_ROBUST = 4 };
enum RTCRayQueryFlags { RTC_RAY_QUERY_FLAG_INCOHERENT, RTC_RAY_QUERY_FLAG_COHERENT };

struct RTCBounds {
  float lower_x, lower_y, lower_z, align0, upper_x, upper_y, upper_z, align1;
};
struct RTCRay {
  float org_x, org_y, org_z, tnear, dir_x, dir_y, dir_z, time, tfar;
  unsigned mask, id, flags;
};
struct RTCHit {
  float Ng_x, Ng_y, Ng_z, u, v;
  unsigned primID, geomID, instID[1];
};
struct RTCRayHit {
  struct RTCRay ray;
  struct RTCHit hit;
};
struct RTCRay4 {
  float org_x[4], org_y[4], org_z[4], tnear[4], dir_x[4], dir_y[4], dir_z[4], time[4], tfar[4];
  unsigned mask[4], id[4], flags[4];
};
struct RTCHit4 {
  float Ng_x[4], Ng_y[4], Ng_z[4], u[4], v[4];
  unsigned primID[4], geomID[4], instID[1][4];
};
struct RTCRayHit4 {
  struct RTCRay4 ray;
  struct RTCHit4 hit;
};
struct RTCIntersectArguments {
  enum RTCRayQueryFlags flags;
};
struct RTCOccludedArguments {
  enum RTCRayQueryFlags flags;
};

typedef void (*RTCErrorFunction)(void *context, enum RTCError code, const char *text);
typedef bool (*RTCMemoryMonitorFunction)(void *context, ssize_t bytes, bool is_after);

RTCDevice rtcNewDevice(const char *config);
void rtcReleaseDevice(RTCDevice device);
enum RTCError rtcGetDeviceError(RTCDevice device);
void rtcSetDeviceErrorFunction(RTCDevice device, RTCErrorFunction function, void *context);
void rtcSetDeviceMemoryMonitorFunction(RTCDevice device, RTCMemoryMonitorFunction function, void *context);
RTCScene rtcNewScene(RTCDevice device);
void rtcReleaseScene(RTCScene scene);
void rtcSetSceneFlags(RTCScene scene, enum RTCSceneFlags flags);
void rtcCommitScene(RTCScene scene);
void rtcGetSceneBounds(RTCScene scene, struct RTCBounds *bounds);
RTCGeometry rtcNewGeometry(RTCDevice device, enum RTCGeometryType type);
void rtcSetSharedGeometryBuffer(RTCGeometry geometry, enum RTCBufferType type, unsigned slot,
                                enum RTCFormat format, const void *data, size_t offset, size_t stride,
                                size_t count);
void rtcCommitGeometry(RTCGeometry geometry);
unsigned rtcAttachGeometry(RTCScene scene, RTCGeometry geometry);
void rtcReleaseGeometry(RTCGeometry geometry);
void rtcInitIntersectArguments(struct RTCIntersectArguments *arguments);
void rtcIntersect1(RTCScene scene, struct RTCRayHit *ray, struct RTCIntersectArguments *arguments);
void rtcIntersect4(const int *valid, RTCScene scene, struct RTCRayHit4 *rays,
                   struct RTCIntersectArguments *arguments);
void rtcOccluded1(RTCScene scene, struct RTCRay *ray, struct RTCOccludedArguments *arguments);

#endif
