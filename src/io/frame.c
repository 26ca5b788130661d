#include "io/frame.h"

#include "base/core.h"
#include "io/probes.h"
#include "io/vtk.h"
#include "state/state.h" // the fields that the method adds

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The list of fields that frames hold besides positions: X(member, type in the file, components).
#define PARTICLE_ARRAYS(X)                                                                                   \
  X(id, FLO_VTK_U32, 1)                                                                                      \
  X(type, FLO_VTK_U8, 1)                                                                                     \
  X(material, FLO_VTK_U16, 1)                                                                                \
  X(body, FLO_VTK_U16, 1)                                                                                    \
  X(velocity, FLO_VTK_F32, 3)                                                                                \
  X(density, FLO_VTK_F32, 1)                                                                                 \
  X(pressure, FLO_VTK_F32, 1)

enum { NONE = UINT16_MAX };

static FloStatus no_memory(const FloFrame *frame, FloError *error) {
  return flo_fail(error, FLO_NO_MEMORY, "no memory for a frame of %zu particles and %zu bodies", frame->count,
                  frame->n_bodies);
}

void flo_frame_free(FloFrame *frame) {
  free(frame->positions);
#define X(member, file_type, components) free(frame->member);
  PARTICLE_ARRAYS(X)
#undef X
  for (size_t k = 0; k < frame->n_extras; k++) free(frame->extras[k].values);
  for (size_t k = 0; k < frame->n_bodies; k++) flo_frame_free_surface(&frame->bodies[k]);
  free(frame->bodies);
  free(frame->joints);
  free(frame->probes);
  *frame = (FloFrame){0};
}

// ---- From a world: particles ----

static bool allocate_particles(FloFrame *frame) {
  size_t n = frame->count + 1; // never zero, so that NULL always means failure
  bool has_all = (frame->positions = calloc(n, 3 * sizeof(float)));
#define X(member, file_type, components)                                                                     \
  has_all = (frame->member = calloc(n, (components) * sizeof *frame->member)) && has_all;
  PARTICLE_ARRAYS(X)
#undef X
  return has_all;
}

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

// Copies a field of a set into every `stride`-th element of `target`; leaves zeros if the set has no such
// field.
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

static void copy_set(const FloWorld *world, FloSet set, size_t first, const FloFrame *to) {
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

static bool take_extra(const FloWorld *world, const char *field, FloFrame *frame) {
  FLO_ASSERT(frame->n_extras < FLO_FRAME_EXTRAS);
  FloFrameExtra *extra = &frame->extras[frame->n_extras];
  float *values = extra->values = calloc(frame->count + 1, sizeof *values);
  if (!values) return false;
  snprintf(extra->name, sizeof extra->name, "%s", field);
  frame->n_extras++;
  for (int set = 0; set < FLO_SET_COUNT; values += frame->counts[set++])
    copy_floats(world, (FloSet)set, field, values, 1);
  return true;
}

// The fields that the method adds; and when samples were added, if they come and go.
static bool take_extras(const FloWorld *world, FloFrame *frame) {
  for (const FloField *field = world->method->fields; field && field->name; field++)
    if (field->is_shown && !take_extra(world, field->name, frame)) return false;
  for (int set = FLO_SET_BOUNDARY; set < FLO_SET_COUNT; set++)
    if (flo_world_has_changing_skin(world, (FloSet)set)) return take_extra(world, FLO_FRAME_ADDED, frame);
  return true;
}

const float *flo_frame_extra(const FloFrame *frame, const char *name) {
  for (size_t k = 0; k < frame->n_extras; k++)
    if (strcmp(frame->extras[k].name, name) == 0) return frame->extras[k].values;
  return NULL;
}

static FloStatus take_particles(const FloWorld *world, FloFrame *frame, FloError *error) {
  for (int set = 0; set < FLO_SET_COUNT; set++)
    frame->count += frame->counts[set] = flo_world_count(world, (FloSet)set);
  if (!allocate_particles(frame)) return no_memory(frame, error);
  size_t first = 0;
  for (int set = 0; set < FLO_SET_COUNT; first += frame->counts[set++])
    copy_set(world, (FloSet)set, first, frame);
  return take_extras(world, frame) ? FLO_OK : no_memory(frame, error);
}

// ---- From a world: bodies and measurements ----

static FloStatus take_bodies(const FloScene *scene, FloWorld *world, FloFrame *frame, FloError *error) {
  frame->bodies = calloc(scene->n_bodies + 1, sizeof *frame->bodies);
  if (!frame->bodies) return no_memory(frame, error);
  frame->n_bodies = scene->n_bodies;
  for (size_t k = 0; k < scene->n_bodies; k++) {
    frame->bodies[k].name = scene->bodies[k].name;
    FLO_TRY(flo_world_body_state(world, scene->bodies[k].id, &frame->bodies[k].state, error));
    if (flo_scene_is_soft(&scene->bodies[k]))
      FLO_TRY(flo_world_soft_state(world, scene->bodies[k].id, &frame->bodies[k].soft, error));
    FLO_TRY(flo_frame_take_surface(&flo_bodies(world)[scene->bodies[k].id.index], &frame->bodies[k], error));
  }
  return FLO_OK;
}

static FloStatus take_joints(const FloScene *scene, FloWorld *world, FloFrame *frame, FloError *error) {
  frame->joints = calloc(scene->n_joints + 1, sizeof *frame->joints);
  if (!frame->joints) return no_memory(frame, error);
  frame->n_joints = scene->n_joints;
  for (size_t k = 0; k < scene->n_joints; k++)
    FLO_TRY(flo_world_joint_state(world, scene->joints[k].id, &frame->joints[k], error));
  return FLO_OK;
}

static FloStatus take_probes(const FloScene *scene, FloWorld *world, FloFrame *frame, FloError *error) {
  frame->n_probes = flo_probe_count(scene);
  frame->probes = calloc(frame->n_probes + 1, sizeof *frame->probes);
  if (!frame->probes) return no_memory(frame, error);
  flo_probe_measure(scene, world, frame->bodies, frame->probes);
  return FLO_OK;
}

FloStatus flo_frame_take(const FloScene *scene, FloWorld *world, size_t number, unsigned parts,
                         FloFrame *frame, FloError *error) {
  static const FloScene nothing = {0};
  const bool is_measured = parts & FLO_FRAME_MEASUREMENTS;
  FloStatus status = FLO_OK;
  if (!scene) scene = &nothing;
  // Probes of forces use the bodies.
  if (is_measured) parts |= FLO_FRAME_BODIES;
  *frame = (FloFrame){.number = number, .time = flo_world_time(world), .parts = parts};
  if (is_measured) frame->measurements = flo_world_measure(world);
  if (parts & FLO_FRAME_BODIES) status = take_bodies(scene, world, frame, error);
  if (status == FLO_OK && is_measured) status = take_joints(scene, world, frame, error);
  if (status == FLO_OK && is_measured) status = take_probes(scene, world, frame, error);
  if (status == FLO_OK && parts & FLO_FRAME_PARTICLES) status = take_particles(world, frame, error);
  if (status != FLO_OK) flo_frame_free(frame);
  return status;
}

// ---- To and from disk ----

FloStatus flo_frame_write_particles(const FloFrame *frame, const char *path, FloError *error) {
  FloVtkPoints points = {.time = frame->time, .count = frame->count, .positions = frame->positions};
#define X(member, file_type, n)                                                                              \
  points.arrays[points.n_arrays++] = (FloVtkArray){#member, file_type, n, frame->member};
  PARTICLE_ARRAYS(X)
#undef X
  for (size_t k = 0; k < frame->n_extras; k++) {
    FloVtkArray *array = &points.arrays[points.n_arrays++];
    *array = (FloVtkArray){.type = FLO_VTK_F32, .components = 1, .data = frame->extras[k].values};
    memcpy(array->name, frame->extras[k].name, sizeof array->name);
  }
  return flo_vtk_write(path, &points, error);
}

// Moves an array out of the points; NULL if there is none.
static void *adopt(FloVtkPoints *points, const char *name, FloVtkType type, int components) {
  for (size_t k = 0; k < points->n_arrays; k++) {
    FloVtkArray *array = &points->arrays[k];
    if (!array->data || strcmp(array->name, name) != 0) continue;
    if (array->type != type || array->components != components) continue;
    void *data = array->data;
    array->data = NULL;
    return data;
  }
  return NULL;
}

// The remaining arrays are fields of the method, or were added by another program.
static void adopt_extras(FloVtkPoints *points, FloFrame *frame) {
  for (size_t k = 0; k < points->n_arrays && frame->n_extras < FLO_FRAME_EXTRAS; k++) {
    const FloVtkArray *array = &points->arrays[k];
    if (!array->data || array->type != FLO_VTK_F32 || array->components != 1) continue;
    FloFrameExtra *extra = &frame->extras[frame->n_extras++];
    memcpy(extra->name, array->name, sizeof extra->name);
    extra->values = adopt(points, array->name, array->type, 1);
  }
}

static void count_sets(FloFrame *frame) {
  size_t i = 0;
  for (int set = 0; set < FLO_SET_COUNT; set++)
    for (; i < frame->count && frame->type[i] == set; i++) frame->counts[set]++;
}

static FloStatus adopt_particles(FloVtkPoints *points, const char *path, FloFrame *frame, FloError *error) {
  const char *missing = NULL;
  frame->time = points->time, frame->count = points->count, frame->parts = FLO_FRAME_PARTICLES;
  frame->positions = points->positions, points->positions = NULL;
#define X(member, file_type, n)                                                                              \
  if (!(frame->member = adopt(points, #member, file_type, n))) missing = #member;
  PARTICLE_ARRAYS(X)
#undef X
  if (missing)
    return flo_fail(error, FLO_BAD_INPUT, "%s: has no array '%s', which every frame of flotsam has", path,
                    missing);
  count_sets(frame);
  adopt_extras(points, frame);
  return FLO_OK;
}

FloStatus flo_frame_read_particles(const char *path, FloFrame *frame, FloError *error) {
  FloVtkPoints points;
  *frame = (FloFrame){0};
  FLO_TRY(flo_vtk_read(path, &points, error));
  FloStatus status = adopt_particles(&points, path, frame, error);
  flo_vtk_free(&points);
  if (status != FLO_OK) flo_frame_free(frame);
  return status;
}
