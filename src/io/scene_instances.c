// Positions of the instances of one entry: grids, stacks, circles and random positions.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core.h"
#include "base/vecmath.h"
#include "geometry/shapes.h"
#include "io/scene_steps.h"

enum { MAX_TRIES = 500 }; // attempts to find a position far enough from all others

typedef struct Pattern {
  FloSceneContext *context;
  json_t *spec;  // the checked "grid", "stack", ...
  json_t *entry; // the entry that has it
  const FloSceneTable *table;
  size_t n;
  size_t entry_mark; // the entry's path, for flo_scene_leave
} Pattern;

static size_t read_count(const json_t *spec, const char *key) { return (size_t)flo_json_number(spec, key); }

// ---- Grids ----

static void read_counts(const json_t *spec, size_t counts[3]) {
  const json_t *list = json_object_get(spec, "count");
  for (size_t k = 0; k < 3; k++) {
    const json_t *count = json_array_get(list, k);
    counts[k] = count ? (size_t)json_integer_value(count) : 1;
  }
}

static double count_grid(const json_t *spec) {
  size_t counts[3];
  read_counts(spec, counts);
  return (double)counts[0] * (double)counts[1] * (double)counts[2];
}

static FloStatus place_grid(const Pattern *pattern, FloSceneInstance *instances) {
  size_t counts[3];
  double step[3];
  read_counts(pattern->spec, counts);
  flo_json_vector(pattern->spec, "step", step);
  bool is_centred = !strcmp(flo_json_text(pattern->spec, "from"), "centre");
  for (size_t k = 0; k < pattern->n; k++) {
    const size_t at[3] = {k % counts[0], k / counts[0] % counts[1], k / counts[0] / counts[1]};
    for (int axis = 0; axis < 3; axis++) {
      double first = is_centred ? -0.5 * (double)(counts[axis] - 1) : 0;
      instances[k].offset[axis] = (first + (double)at[axis]) * step[axis];
    }
  }
  return FLO_OK;
}

// ---- Stacks ----

static double count_stack(const json_t *spec) {
  return flo_json_number(spec, "columns") * flo_json_number(spec, "rows");
}

// Edge lengths of the box around a rotated shape. A sphere does not change when it is rotated.
static FloStatus measure_extent(FloSceneContext *context, const FloShape *shape, const FloPose *pose,
                                double extent[3]) {
  double low[3], high[3], size[3];
  FLO_TRY(flo_scene_shape_bounds(context, shape, low, high));
  vec_sub(high, low, size);
  vec_copy(size, extent);
  if (shape->kind == FLO_SHAPE_SPHERE) return FLO_OK;
  vec_set(extent, 0, 0, 0);
  for (int axis = 0; axis < 3; axis++) {
    double edge[3] = {0};
    edge[axis] = size[axis];
    quat_rotate(pose->rotation, edge, edge);
    for (int k = 0; k < 3; k++) extent[k] += fabs(edge[k]);
  }
  return FLO_OK;
}

// The size of the first instance, if they differ.
static FloStatus find_extent(const Pattern *pattern, double extent[3]) {
  FloSceneContext *context = pattern->context;
  json_t *first = json_deep_copy(pattern->entry);
  if (!first) return flo_scene_no_memory(context);
  json_object_del(first, "stack");
  context->instance = 0;
  context->n_instances = pattern->n;
  FloShape shape;
  FloPose pose;
  FloStatus status = flo_scene_resolve_object(context, first, pattern->table);
  if (status == FLO_OK) status = flo_scene_read_pose(context, first, pattern->table, &shape, &pose);
  if (status == FLO_OK) status = measure_extent(context, &shape, &pose, extent);
  if (status == FLO_OK) context->n_instances = 0;
  json_decref(first);
  return status;
}

static FloStatus place_stack(const Pattern *pattern, FloSceneInstance *instances) {
  FloSceneContext *context = pattern->context;
  const json_t *step = json_object_get(pattern->spec, "step");
  size_t n_columns = read_count(pattern->spec, "columns");
  int up = context->up, side = up == 0;
  double extent[3] = {0};
  if (step) {
    extent[side] = json_number_value(json_array_get(step, 0));
    extent[up] = json_number_value(json_array_get(step, 1));
  } else {
    if (!flo_scene_find_key(pattern->table, "shape"))
      return flo_scene_fail(context, "needs 'step', because %s has no size of its own", pattern->table->name);
    // The shape belongs to the entry, not to its "stack".
    flo_scene_leave(context, pattern->entry_mark);
    FLO_TRY(find_extent(pattern, extent));
    flo_scene_enter(context, "stack");
  }
  for (size_t k = 0; k < pattern->n; k++) {
    double column = (double)(k % n_columns) - 0.5 * (double)(n_columns - 1);
    instances[k].offset[side] = column * extent[side];
    instances[k].offset[up] = (double)(k / n_columns) * extent[up];
  }
  return FLO_OK;
}

// ---- Circles ----

static double count_count(const json_t *spec) { return flo_json_number(spec, "count"); }

static FloStatus read_axis(const Pattern *pattern, double axis[3]) {
  FloSceneContext *context = pattern->context;
  int along = context->dim == 2 ? 2 : context->up;
  vec_set(axis, along == 0, along == 1, along == 2);
  if (!json_object_get(pattern->spec, "axis")) return FLO_OK;
  flo_json_vector(pattern->spec, "axis", axis);
  size_t mark = flo_scene_enter(context, "axis");
  double length = vec_length(axis);
  if (length == 0) return flo_scene_fail(context, "must not be zero");
  if (context->dim == 2 && (axis[0] != 0 || axis[1] != 0))
    return flo_scene_fail(context, "must be along z in a two-dimensional scene");
  flo_scene_leave(context, mark);
  vec_scale(axis, 1 / length, axis);
  return FLO_OK;
}

// The direction of the first instance: x, or y if the axis is along x.
static void first_direction(const double axis[3], double out[3]) {
  bool is_along_x = fabs(axis[0]) > 0.9;
  vec_set(out, is_along_x ? 0 : 1, is_along_x ? 1 : 0, 0);
  vec_add_scaled(out, axis, -vec_dot(out, axis), out);
  vec_scale(out, 1 / vec_length(out), out);
}

static FloStatus place_circle(const Pattern *pattern, FloSceneInstance *instances) {
  double axis[3], first[3], radius = flo_json_number(pattern->spec, "radius");
  bool is_facing = json_is_true(json_object_get(pattern->spec, "facing"));
  FLO_TRY(read_axis(pattern, axis));
  first_direction(axis, first);
  for (size_t k = 0; k < pattern->n; k++) {
    double turn[4];
    quat_from_axis_angle(axis, 2 * FLO_PI * (double)k / (double)pattern->n, turn);
    quat_rotate(turn, first, instances[k].offset);
    vec_scale(instances[k].offset, radius, instances[k].offset);
    if (is_facing && k > 0) quat_copy(turn, instances[k].rotation);
  }
  return FLO_OK;
}

// ---- Scatters ----

// SplitMix64 (Steele, Lea and Flood 2014): 64 bits of state, every seed is good.
static double draw(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

// Positions found so far, in cells as wide as the smallest distance: a position that is too near is in the
// same or a neighbouring cell.
typedef struct Cells {
  double apart, width;
  size_t n_heads; // a power of two
  size_t *heads;  // index + 1 of the last instance in the cell; 0: none
  size_t *next;
} Cells;

static size_t cell_of(const Cells *cells, const double point[3], int dx, int dy, int dz) {
  const int shift[3] = {dx, dy, dz};
  uint64_t hash = 0;
  for (int k = 0; k < 3; k++)
    hash = (hash ^ (uint64_t)((int64_t)floor(point[k] / cells->width) + shift[k])) * 0x9e3779b97f4a7c15u;
  return (size_t)(hash >> 20) & (cells->n_heads - 1);
}

static bool is_near(const Cells *cells, const FloSceneInstance *instances, const double point[3],
                    size_t head) {
  for (size_t k = cells->heads[head]; k > 0; k = cells->next[k - 1]) {
    double between[3];
    vec_sub(instances[k - 1].offset, point, between);
    if (vec_length(between) < cells->apart) return true;
  }
  return false;
}

static bool is_free(const Cells *cells, const FloSceneInstance *instances, const double point[3]) {
  if (cells->apart == 0) return true;
  for (int dx = -1; dx <= 1; dx++)
    for (int dy = -1; dy <= 1; dy++)
      for (int dz = -1; dz <= 1; dz++)
        if (is_near(cells, instances, point, cell_of(cells, point, dx, dy, dz))) return false;
  return true;
}

static void remember(Cells *cells, const FloSceneInstance *instances, size_t k) {
  if (cells->apart == 0) return;
  size_t head = cell_of(cells, instances[k].offset, 0, 0, 0);
  cells->next[k] = cells->heads[head];
  cells->heads[head] = k + 1;
}

// A random rotation, uniform over all rotations (Shoemake 1992); in 2D, over all angles.
static void draw_rotation(uint64_t *state, int dim, double q[4]) {
  double share = dim == 2 ? 0 : draw(state), a = 2 * FLO_PI * draw(state);
  double b = dim == 2 ? 0 : 2 * FLO_PI * draw(state), s = sqrt(1 - share), t = sqrt(share);
  q[0] = t * sin(b), q[1] = t * cos(b), q[2] = s * sin(a), q[3] = s * cos(a);
}

static FloStatus scatter(const Pattern *pattern, Cells *cells, FloSceneInstance *instances) {
  double within[3];
  flo_json_vector(pattern->spec, "within", within);
  uint64_t places = read_count(pattern->spec, "seed"), turns = ~places;
  bool is_turned = json_is_true(json_object_get(pattern->spec, "turned"));
  for (size_t k = 0; k < pattern->n; k++) {
    double *offset = instances[k].offset;
    int n_tries = 0;
    do {
      if (n_tries++ == MAX_TRIES)
        return flo_scene_fail(pattern->context,
                              "only %zu of %zu fit in with %g m between them; use a smaller 'apart', a "
                              "larger 'within' or a smaller 'count'",
                              k, pattern->n, cells->apart);
      for (int axis = 0; axis < 3; axis++) offset[axis] = (draw(&places) - 0.5) * within[axis];
    } while (!is_free(cells, instances, offset));
    remember(cells, instances, k);
    if (is_turned) draw_rotation(&turns, pattern->context->dim, instances[k].rotation);
  }
  return FLO_OK;
}

static FloStatus place_scatter(const Pattern *pattern, FloSceneInstance *instances) {
  double apart = flo_json_number(pattern->spec, "apart");
  // Cells have a smallest width, so that their indices do not overflow.
  Cells cells = {.apart = apart, .width = fmax(apart, 1e-9), .n_heads = 1};
  while (cells.n_heads < 2 * pattern->n) cells.n_heads *= 2;
  cells.heads = flo_scene_allocate(cells.n_heads, sizeof *cells.heads);
  cells.next = flo_scene_allocate(pattern->n, sizeof *cells.next);
  FloStatus status =
      cells.heads && cells.next ? scatter(pattern, &cells, instances) : flo_scene_no_memory(pattern->context);
  free(cells.heads);
  free(cells.next);
  return status;
}

// ---- All of them ----

static const struct {
  const char *name;
  double (*count)(const json_t *spec);
  FloStatus (*place)(const Pattern *pattern, FloSceneInstance *instances);
} patterns[] = {
    {"grid", count_grid, place_grid},
    {"stack", count_stack, place_stack},
    {"circle", count_count, place_circle},
    {"scatter", count_count, place_scatter},
};

static size_t find_pattern(const json_t *entry) {
  size_t k = 0;
  while (k < FLO_COUNT_OF(patterns) && !json_object_get(entry, patterns[k].name)) k++;
  return k;
}

const char *flo_scene_instancing(const json_t *entry) {
  size_t k = find_pattern(entry);
  return k < FLO_COUNT_OF(patterns) ? patterns[k].name : NULL;
}

FloStatus flo_scene_count_instances(FloSceneContext *context, double n_more) {
  double n_all = context->n_instances_made + n_more;
  if (n_all <= FLO_SCENE_MAX_INSTANCES) {
    context->n_instances_made = n_all;
    return FLO_OK;
  }
  char before[48] = "";
  if (n_all > n_more) snprintf(before, sizeof before, " (%.9g with those before)", n_all);
  return flo_scene_fail(context, "makes %.9g instances%s, at most %d are allowed in a scene", n_more, before,
                        FLO_SCENE_MAX_INSTANCES);
}

// i and n have a special meaning in instances, so constants must not have these names.
static FloStatus check_constants(FloSceneContext *context) {
  static const char *const names[] = {"i", "n"};
  for (size_t k = 0; k < FLO_COUNT_OF(names); k++) {
    if (!json_object_get(context->constants, names[k])) continue;
    flo_scene_leave(context, 0);
    flo_scene_enter(context, "constants");
    flo_scene_enter(context, names[k]);
    return flo_scene_fail(context, "cannot name a constant in a scene with instances, where i is the number "
                                   "of an instance and n their count; choose another name");
  }
  return FLO_OK;
}

static FloStatus allocate(FloSceneContext *context, size_t n, FloSceneInstance **instances) {
  *instances = flo_scene_allocate(n, sizeof **instances);
  if (!*instances) return flo_scene_no_memory(context);
  for (size_t k = 0; k < n; k++) quat_copy(flo_pose_identity().rotation, (*instances)[k].rotation);
  return FLO_OK;
}

static FloStatus place_pattern(FloSceneContext *context, size_t which, Pattern *pattern,
                               FloSceneInstance **instances) {
  const char *name = patterns[which].name;
  size_t mark = flo_scene_enter(context, name);
  if (!json_is_object(pattern->spec)) return flo_scene_fail(context, "must be an object");
  FLO_TRY(flo_scene_resolve_object(context, pattern->spec, flo_scene_find_key(pattern->table, name)->table));
  double n = patterns[which].count(pattern->spec);
  FLO_TRY(flo_scene_count_instances(context, n));
  pattern->n = (size_t)n;
  FLO_TRY(allocate(context, pattern->n, instances));
  FLO_TRY(patterns[which].place(pattern, *instances));
  flo_scene_leave(context, mark);
  return FLO_OK;
}

FloStatus flo_scene_place_instances(FloSceneContext *context, json_t *entry, const FloSceneTable *table,
                                    FloSceneInstance **instances, size_t *n_instances) {
  size_t which = find_pattern(entry);
  *instances = NULL;
  *n_instances = 1;
  if (which == FLO_COUNT_OF(patterns)) return allocate(context, 1, instances);
  FLO_TRY(check_constants(context));
  FLO_TRY(flo_scene_check_alternatives(context, entry, table));
  json_t *spec = json_object_get(entry, patterns[which].name);
  Pattern pattern = {context, spec, entry, table, .entry_mark = context->path_length};
  FloStatus status = place_pattern(context, which, &pattern, instances);
  *n_instances = pattern.n;
  if (status == FLO_OK) return FLO_OK;
  free(*instances);
  *instances = NULL;
  return status;
}
