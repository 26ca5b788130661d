#include "io/snapshot.h"

#include "base/core.h"
#include "io/vtk.h"
#include "state/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The one list of what a snapshot holds besides positions: X(member, type in the file, components).
#define SNAPSHOT_ARRAYS(X)                                                                                   \
  X(id, FLO_VTK_U32, 1)                                                                                      \
  X(type, FLO_VTK_U8, 1)                                                                                     \
  X(material, FLO_VTK_U16, 1)                                                                                \
  X(body, FLO_VTK_U16, 1)                                                                                    \
  X(velocity, FLO_VTK_F32, 3)                                                                                \
  X(density, FLO_VTK_F32, 1)                                                                                 \
  X(pressure, FLO_VTK_F32, 1)

enum { NONE = UINT16_MAX };

static FloStatus allocate(FloSnapshot *snapshot, FloError *error) {
  size_t n = snapshot->count + 1; // never zero, so that NULL always means failure
  snapshot->positions = calloc(n, 3 * sizeof(float));
  bool has_all = snapshot->positions;
#define X(member, file_type, components)                                                                     \
  has_all = (snapshot->member = calloc(n, (components) * sizeof *snapshot->member)) && has_all;
  SNAPSHOT_ARRAYS(X)
#undef X
  if (has_all) return FLO_OK;
  flo_snapshot_free(snapshot);
  return flo_fail(error, FLO_NO_MEMORY, "no memory for a frame of %zu particles", n - 1);
}

void flo_snapshot_free(FloSnapshot *snapshot) {
  free(snapshot->positions);
#define X(member, file_type, components) free(snapshot->member);
  SNAPSHOT_ARRAYS(X)
#undef X
  for (size_t k = 0; k < snapshot->n_extras; k++) free(snapshot->extras[k].values);
  *snapshot = (FloSnapshot){0};
}

// ---- From a world ----

static double element(const FloView *view, size_t i) {
  const char *at = (const char *)view->data + i * view->stride;
  switch (view->type) {
  case FLO_TYPE_F32:
    return *(const float *)at;
  case FLO_TYPE_F64:
    return *(const double *)at;
  case FLO_TYPE_U16:
    return *(const uint16_t *)at;
  case FLO_TYPE_U32:
    return *(const uint32_t *)at;
  }
  return 0;
}

// Copies a field of a set into every `stride`-th element of `target`; leaves the zeros where the set has no
// such field.
static void copy_floats(const FloWorld *world, FloSet set, const char *field, float *target, size_t stride) {
  FloView view;
  if (flo_world_view(world, set, field, &view, NULL) != FLO_OK) return;
  for (size_t i = 0; i < view.count; i++) target[i * stride] = (float)element(&view, i);
}

static void copy_triples(const FloWorld *world, FloSet set, const char *const names[3], float *target) {
  for (int axis = 0; axis < 3; axis++) copy_floats(world, set, names[axis], target + axis, 3);
}

static void copy_indices(const FloWorld *world, FloSet set, const char *field, size_t count,
                         uint16_t *target) {
  FloView view;
  bool has_field = flo_world_view(world, set, field, &view, NULL) == FLO_OK;
  for (size_t i = 0; i < count; i++) target[i] = has_field ? (uint16_t)element(&view, i) : NONE;
}

static void copy_set(const FloWorld *world, FloSet set, size_t first, const FloSnapshot *to) {
  size_t count = flo_world_count(world, set);
  copy_triples(world, set, (const char *const[]){"x", "y", "z"}, to->positions + 3 * first);
  copy_triples(world, set, (const char *const[]){"vx", "vy", "vz"}, to->velocity + 3 * first);
  copy_floats(world, set, "density", to->density + first, 1);
  copy_floats(world, set, "pressure", to->pressure + first, 1);
  copy_indices(world, set, "material", count, to->material + first);
  copy_indices(world, set, "body", count, to->body + first);
  memset(to->type + first, (int)set, count);
  FloView view;
  if (flo_world_view(world, set, "id", &view, NULL) == FLO_OK)
    for (size_t i = 0; i < count; i++) to->id[first + i] = (uint32_t)element(&view, i);
}

// What the method shows of its own.
static FloStatus take_extras(const FloWorld *world, FloSnapshot *snapshot, FloError *error) {
  const FloField *field = world->method->fields;
  for (; field && field->name; field++) {
    if (!field->is_shown) continue;
    FLO_ASSERT(snapshot->n_extras < FLO_SNAPSHOT_EXTRAS);
    float *values = calloc(snapshot->count + 1, sizeof *values);
    if (!values) {
      flo_snapshot_free(snapshot);
      return flo_fail(error, FLO_NO_MEMORY, "no memory for a frame");
    }
    snapshot->extras[snapshot->n_extras].name = field->name;
    snapshot->extras[snapshot->n_extras++].values = values;
    for (int set = 0; set < FLO_SET_COUNT; values += flo_world_count(world, (FloSet)set++))
      copy_floats(world, (FloSet)set, field->name, values, 1);
  }
  return FLO_OK;
}

FloStatus flo_snapshot_take(const FloWorld *world, FloSnapshot *snapshot, FloError *error) {
  *snapshot = (FloSnapshot){.time = flo_world_time(world)};
  for (int set = 0; set < FLO_SET_COUNT; set++) snapshot->count += flo_world_count(world, (FloSet)set);
  FLO_TRY(allocate(snapshot, error));
  size_t first = 0;
  for (int set = 0; set < FLO_SET_COUNT; set++) {
    copy_set(world, (FloSet)set, first, snapshot);
    first += flo_world_count(world, (FloSet)set);
  }
  return take_extras(world, snapshot, error);
}

// ---- To and from disk ----

FloStatus flo_snapshot_write(const FloSnapshot *snapshot, const char *path, FloError *error) {
  FloVtkPoints points = {.time = snapshot->time, .count = snapshot->count, .positions = snapshot->positions};
#define X(member, file_type, n)                                                                              \
  points.arrays[points.n_arrays++] = (FloVtkArray){#member, file_type, n, snapshot->member};
  SNAPSHOT_ARRAYS(X)
#undef X
  for (size_t k = 0; k < snapshot->n_extras; k++) {
    FloVtkArray *array = &points.arrays[points.n_arrays++];
    *array = (FloVtkArray){.type = FLO_VTK_F32, .components = 1, .data = snapshot->extras[k].values};
    snprintf(array->name, sizeof array->name, "%s", snapshot->extras[k].name);
  }
  return flo_vtk_write(path, &points, error);
}

// Copies the arrays a snapshot knows; others are ignored.
static FloStatus adopt(FloVtkPoints *points, FloSnapshot *snapshot, const char *path, FloError *error) {
  const char *missing = NULL;
#define X(member, file_type, n)                                                                              \
  if (!flo_vtk_find(points, #member, file_type, n)) missing = #member;
  SNAPSHOT_ARRAYS(X)
#undef X
  if (missing) return flo_fail(error, FLO_BAD_INPUT, "%s: has no array '%s'", path, missing);
  *snapshot = (FloSnapshot){.time = points->time, .count = points->count};
  FLO_TRY(allocate(snapshot, error));
  memcpy(snapshot->positions, points->positions, points->count * 3 * sizeof(float));
#define X(member, file_type, n)                                                                              \
  memcpy(snapshot->member, flo_vtk_find(points, #member, file_type, n),                                      \
         points->count *(n) * sizeof *snapshot->member);
  SNAPSHOT_ARRAYS(X)
#undef X
  return FLO_OK;
}

FloStatus flo_snapshot_read(const char *path, FloSnapshot *snapshot, FloError *error) {
  FloVtkPoints points;
  *snapshot = (FloSnapshot){0};
  FLO_TRY(flo_vtk_read(path, &points, error));
  FloStatus status = adopt(&points, snapshot, path, error);
  flo_vtk_free(&points);
  return status;
}
