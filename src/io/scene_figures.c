// From the keys of a shape in a scene to the library's description of the shape.
#define _XOPEN_SOURCE 700 // realpath, scandir
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/core.h"
#include "base/vecmath.h"
#include "geometry/mesh_io.h"
#include "geometry/outline.h"
#include "geometry/shape_mesh.h"
#include "geometry/shapes.h"
#include "io/scene_steps.h"
#include "io/suggest.h"

// ---- Data of shapes: text, heights, points and triangles stay valid as long as the scene ----

FloSceneAttachment *flo_scene_attach(FloSceneContext *context) {
  FloSceneAttachment *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  flo_memory_init(&made->memory, NULL);
  flo_mesh_init(&made->mesh, &made->memory);
  made->next = *context->attachments;
  *context->attachments = made;
  return made;
}

FloSceneAttachment *flo_scene_recent(FloSceneContext *context, FloSceneAttachment *after, size_t *n_seen) {
  enum { MAX_LOOKED_AT = 256 };
  if (!context->attachments || (*n_seen)++ == MAX_LOOKED_AT) return NULL;
  return after ? after->next : *context->attachments;
}

void flo_scene_free_attachments(FloSceneAttachment *first) {
  while (first) {
    FloSceneAttachment *next = first->next;
    flo_mesh_free(&first->mesh);
    free(first->text);
    free(first->numbers);
    free(first);
    first = next;
  }
}

// An existing attachment with the same text that is not a mesh, or a new one.
static const char *keep_text(FloSceneContext *context, const char *text) {
  size_t n_seen = 0;
  for (FloSceneAttachment *a = NULL; (a = flo_scene_recent(context, a, &n_seen));)
    if (a->text && !a->mesh.n_triangles && a->scale == 0 && !strcmp(a->text, text)) return a->text;
  FloSceneAttachment *made = flo_scene_attach(context);
  return made ? made->text = strdup(text) : NULL;
}

// Stores `numbers`, or uses equal numbers that are stored already.
static const double *keep_numbers(FloSceneContext *context, double *numbers, size_t n) {
  size_t n_seen = 0;
  for (FloSceneAttachment *a = NULL; (a = flo_scene_recent(context, a, &n_seen));) {
    if (!a->numbers || a->n_numbers != n || memcmp(a->numbers, numbers, n * sizeof *numbers) != 0) continue;
    free(numbers);
    return a->numbers;
  }
  FloSceneAttachment *made = flo_scene_attach(context);
  if (!made) {
    free(numbers);
    return NULL;
  }
  made->numbers = numbers;
  made->n_numbers = n;
  return numbers;
}

// ---- Simple shapes: a key with one number or a list ----

// The meaning of each number of the list: x, y, z are sizes, r and R are radii.
static const struct {
  const char *key, *numbers;
  FloShapeKind kind;
} figures[] = {
    {"sphere", "r", FLO_SHAPE_SPHERE},    {"cylinder", "rx", FLO_SHAPE_CYLINDER},
    {"capsule", "rx", FLO_SHAPE_CAPSULE}, {"cone", "rRx", FLO_SHAPE_CONE},
    {"torus", "rR", FLO_SHAPE_TORUS},     {"tube", "rRx", FLO_SHAPE_TUBE},
    {"plane", "xy", FLO_SHAPE_PLANE},     {"ramp", "xyz", FLO_SHAPE_RAMP},
    {"wedge", "xyz", FLO_SHAPE_WEDGE},    {"link", "xyr", FLO_SHAPE_LINK},
    {"card", "xyz", FLO_SHAPE_CARD},      {"duck", "x", FLO_SHAPE_DUCK},
    {"rabbit", "x", FLO_SHAPE_RABBIT},    {"armadillo", "x", FLO_SHAPE_ARMADILLO},
    {"disc", "r", FLO_SHAPE_DISC},        {"hose", "rx", FLO_SHAPE_HOSE},
    {"bag", "rx", FLO_SHAPE_BAG},
};

static void put_number(FloShape *shape, char place, double number) {
  if (place == 'r')
    shape->radius = number;
  else if (place == 'R')
    shape->radius2 = number;
  else
    shape->size[place - 'x'] = number;
}

static void read_plain(const json_t *value, const char *numbers, FloShape *shape) {
  for (size_t k = 0; numbers[k]; k++)
    put_number(shape, numbers[k], json_number_value(json_is_array(value) ? json_array_get(value, k) : value));
}

// Edge lengths, or one number for all edges.
static void read_edges(const json_t *value, int dim, double size[3]) {
  for (int k = 0; k < dim; k++)
    size[k] = json_number_value(json_is_array(value) ? json_array_get(value, (size_t)k) : value);
}

static double number_or(const json_t *object, const char *key, double otherwise) {
  const json_t *value = json_object_get(object, key);
  return value ? json_number_value(value) : otherwise;
}

// ---- Cones ----

// The library's message says "the radius"; a cone has two, so it is checked here.
static FloStatus check_cone(FloSceneContext *context, const FloShape *shape) {
  size_t mark = flo_scene_enter(context, "cone");
  if (shape->radius <= 0)
    return flo_scene_fail(context,
                          "the first number, the radius at the bottom, must be > 0, got %g; to put a cone on "
                          "its point, rotate it with 'rotate'",
                          shape->radius);
  if (shape->size[0] <= 0)
    return flo_scene_fail(context, "the third number, the length, must be > 0, got %g", shape->size[0]);
  flo_scene_leave(context, mark);
  return FLO_OK;
}

// ---- Sheets ----

// In two dimensions a sheet is a line. One number is the side of a square.
static FloStatus read_sheet(FloSceneContext *context, const json_t *object, FloShape *shape) {
  const json_t *value = json_object_get(object, "sheet"), *cells = json_object_get(object, "cells");
  shape->kind = FLO_SHAPE_SHEET;
  if (context->dim == 2 && json_is_array(value))
    return flo_scene_fail(context, "'sheet' is a line in a two-dimensional scene; give its length only");
  read_edges(value, context->dim == 2 ? 1 : 2, shape->size);
  if (cells) shape->cell = fmax(shape->size[0], shape->size[1]) / json_number_value(cells);
  return FLO_OK;
}

// ---- Letters ----

static FloStatus read_letters(FloSceneContext *context, json_t *object, FloShape *shape) {
  shape->kind = FLO_SHAPE_LETTERS;
  shape->text = keep_text(context, flo_json_text(object, "letters"));
  if (!shape->text) return flo_scene_no_memory(context);
  shape->size[0] = number_or(object, "height", 1);
  shape->size[1] = number_or(object, "depth", shape->size[0] / 4);
  shape->size[2] = number_or(object, "stroke", shape->size[0] / 6);
  shape->hollow = json_is_true(json_object_get(object, "hollow"));
  return FLO_OK;
}

// ---- Heightfields ----

static FloStatus fail_height(FloSceneContext *context, double height, double x, double y) {
  if (isnan(height)) return flo_scene_fail(context, "is not a number at x = %g, y = %g", x, y);
  return flo_scene_fail(context, "is %g at x = %g, y = %g", height, x, y);
}

static FloStatus fill_heights(FloSceneContext *context, const char *text, FloShape *shape, double *heights) {
  FloExpression *height;
  // z would be 0 everywhere, and no constant may have this name.
  if (flo_text_has_word(text, "z"))
    return flo_scene_fail(context, "\"%.80s\" has z, but a height can depend on x and y only", text);
  FLO_TRY(flo_scene_compile(context, text, true, &height));
  int nx = shape->n_heights[0], ny = shape->n_heights[1];
  FloStatus status = FLO_OK;
  for (int j = 0; j < ny && status == FLO_OK; j++)
    for (int i = 0; i < nx && status == FLO_OK; i++) {
      double x = shape->size[0] * ((double)i / (nx - 1) - 0.5),
             y = shape->size[1] * ((double)j / (ny - 1) - 0.5);
      double *at = &heights[(size_t)j * (size_t)nx + (size_t)i];
      *at = flo_expression_evaluate(height, (const double[3]){x, y, 0});
      if (!isfinite(*at)) status = fail_height(context, *at, x, y);
    }
  flo_expression_destroy(height);
  return status;
}

static FloStatus read_heightfield(FloSceneContext *context, json_t *object, FloShape *shape) {
  json_t *field = json_object_get(object, "heightfield");
  size_t mark = flo_scene_enter(context, "heightfield");
  shape->kind = FLO_SHAPE_HEIGHTFIELD;
  for (size_t k = 0; k < 2; k++) {
    shape->size[k] = json_number_value(json_array_get(json_object_get(field, "size"), k));
    double cells = json_number_value(json_array_get(json_object_get(field, "cells"), k));
    if (!(cells >= 1 && cells <= 1000) || cells != floor(cells))
      return flo_scene_fail(context, "cells: must be whole numbers from 1 to 1000, got %g", cells);
    shape->n_heights[k] = (int)cells + 1;
  }
  shape->size[2] = flo_json_number(field, "depth");
  size_t n = (size_t)shape->n_heights[0] * (size_t)shape->n_heights[1];
  double *heights = calloc(n, sizeof *heights);
  if (!heights) return flo_scene_no_memory(context);
  size_t inner = flo_scene_enter(context, "height");
  FloStatus status = fill_heights(context, flo_json_text(field, "height"), shape, heights);
  if (status != FLO_OK) {
    free(heights);
    return status;
  }
  if (!(shape->heights = keep_numbers(context, heights, n))) return flo_scene_no_memory(context);
  flo_scene_leave(context, inner);
  flo_scene_leave(context, mark);
  return FLO_OK;
}

// ---- Outlines ----

// The error of a check, without the first word, which is in the path already.
static FloStatus fail_after(FloSceneContext *context, const char *prefix, const FloError *cause) {
  bool has_prefix = !strncmp(cause->text, prefix, strlen(prefix));
  return flo_scene_fail(context, "%s", cause->text + (has_prefix ? strlen(prefix) : 0));
}

static FloStatus read_points(FloSceneContext *context, const json_t *list, FloShape *shape) {
  size_t mark = flo_scene_enter(context, "points");
  shape->n_points = json_array_size(list);
  double *points = calloc(shape->n_points + 1, 2 * sizeof *points);
  if (!points) return flo_scene_no_memory(context);
  for (size_t k = 0; k < 2 * shape->n_points; k++)
    points[k] = json_number_value(json_array_get(json_array_get(list, k / 2), k % 2));
  if (!(shape->points = keep_numbers(context, points, 2 * shape->n_points)))
    return flo_scene_no_memory(context);
  FloError cause;
  if (flo_outline_check(shape->points, shape->n_points, &cause) != FLO_OK)
    return fail_after(context, "outline: ", &cause);
  flo_scene_leave(context, mark);
  return FLO_OK;
}

static FloStatus read_outline(FloSceneContext *context, json_t *object, FloShape *shape) {
  json_t *outline = json_object_get(object, "outline"), *depth = json_object_get(outline, "depth");
  size_t mark = flo_scene_enter(context, "outline");
  shape->kind = FLO_SHAPE_OUTLINE;
  FLO_TRY(read_points(context, json_object_get(outline, "points"), shape));
  if (depth && context->dim == 2)
    return flo_scene_fail(context, "'depth' works in three dimensions only; leave it out");
  if (!depth && context->dim == 3)
    return flo_scene_fail(context, "needs 'depth', its length along z, in three dimensions");
  shape->size[0] = json_number_value(depth);
  flo_scene_leave(context, mark);
  return FLO_OK;
}

// ---- Meshes ----

_Static_assert(FLO_PATH_SIZE >= PATH_MAX, "realpath needs that much room");

FloStatus flo_scene_find_file(FloSceneContext *context, json_t *object, const char *key,
                              char path[FLO_PATH_SIZE]) {
  const char *given = flo_json_text(object, key), *beside = flo_scene_file_at(context);
  const char *slash = strrchr(beside, '/');
  int folder = slash && given[0] != '/' ? (int)(slash + 1 - beside) : 0;
  char joined[FLO_PATH_SIZE];
  if (context->refuses_includes) return flo_scene_fail(context, "files are not read here");
  if (snprintf(joined, sizeof joined, "%.*s%s", folder, beside, given) >= FLO_PATH_SIZE)
    return flo_scene_fail(context, "the path is too long");
  if (!realpath(joined, path)) snprintf(path, FLO_PATH_SIZE, "%s", joined);
  return json_object_set_new(object, key, json_string(path)) ? flo_scene_no_memory(context) : FLO_OK;
}

// ", did you mean ...?" with a similar name from the same folder, if the file does not exist.
static void suggest_file(const char *path, char hint[128]) {
  char folder[PATH_MAX], resolved[PATH_MAX];
  const char *slash = strrchr(path, '/');
  struct dirent **names = NULL;
  hint[0] = 0;
  if (realpath(path, resolved)) return;
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - path) : 1, slash ? path : ".");
  int n = scandir(folder, &names, NULL, alphasort); // sorted, so that every machine suggests the same name
  FloSuggestion suggestion = flo_suggest_start(slash ? slash + 1 : path);
  for (int k = 0; k < n; k++) flo_suggest_offer(&suggestion, names[k]->d_name);
  if (n > 0) flo_suggest_text(&suggestion, hint);
  for (int k = 0; k < n; k++) free(names[k]);
  free(names);
}

// Larger than any other shape may be.
#define MAX_EXTENT 1e6

static FloStatus check_mesh(FloSceneContext *context, const char *path, const FloMesh *mesh) {
  double low[3], high[3], extent = 0;
  if (mesh->n_triangles == 0)
    return flo_scene_fail(context, "%s: none of its triangles has an area; use another mesh", path);
  flo_mesh_bounds(mesh, low, high);
  for (int axis = 0; axis < 3; axis++)
    extent = fmax(extent, fmax(high[axis] - low[axis], fmax(fabs(low[axis]), fabs(high[axis]))));
  if (extent <= MAX_EXTENT) return FLO_OK;
  return flo_scene_fail(context,
                        "%s: is %.3g m large, at most %g m are allowed; use a smaller 'scale', for example "
                        "0.001 if the mesh was drawn in millimetres",
                        path, extent, MAX_EXTENT);
}

// Adds a kind of defect to the text about a mesh: how many there are, how many were mended, and what the
// others cause.
__attribute__((format(printf, 2, 3))) static void add_problem(FloSceneAttachment *attachment,
                                                              const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  flo_text_append(attachment->problems, sizeof attachment->problems, "; ", text);
}

// A kind of defect, with its counts before and after mending.
typedef struct Defect {
  const char *prefix, *one, *many; // "", "edge between triangles ..."
  size_t n_before, n_after;
  const char *meaning; // effect of those that were not mended
} Defect;

static void describe_defect(FloSceneAttachment *attachment, const Defect *defect) {
  size_t n = flo_max_size(defect->n_before, defect->n_after);
  if (n == 0) return;
  const char *what = n == 1 ? defect->one : defect->many;
  if (defect->n_after == 0)
    add_problem(attachment, "%s%zu %s (mended)", defect->prefix, n, what);
  else if (defect->n_after >= defect->n_before)
    add_problem(attachment, "%s%zu %s (left: %s)", defect->prefix, n, what, defect->meaning);
  else
    add_problem(attachment, "%s%zu %s (%zu mended, %zu left: %s)", defect->prefix, n, what,
                defect->n_before - defect->n_after, defect->n_after, defect->meaning);
}

// Lists every defect as mended or left. Welded vertices are always mended.
static void describe_mesh(const FloMeshReport *before, const FloMeshReport *after,
                          FloSceneAttachment *attachment) {
  const Defect defects[] = {
      {"", "vertex that differed from another by rounding only", "vertices that differed by rounding only",
       before->n_joined_vertices, 0, ""},
      {"", "triangle without area", "triangles without area", before->n_degenerate, after->n_degenerate,
       "they have no effect"},
      {"open: ", "boundary edge", "boundary edges", before->n_boundary_edges, after->n_boundary_edges,
       "inside and outside are found by winding numbers, which may be wrong there"},
      {"", "edge of more than two triangles", "edges of more than two triangles", before->n_nonmanifold_edges,
       after->n_nonmanifold_edges, "parts touch there"},
      {"", "edge between triangles of opposite orientation",
       "edges between triangles of opposite orientation",
       before->n_nonmanifold_edges ? 0 : before->n_inconsistent_halfedges,
       after->n_nonmanifold_edges ? 0 : after->n_inconsistent_halfedges, "one side of them faces inwards"},
      {"", "mesh that is inside out", "meshes that are inside out", before->is_inside_out,
       after->is_inside_out, "reverse its triangles"},
      {"", "pair of triangles that intersect", "pairs of triangles that intersect", before->n_self_touching,
       after->n_self_touching,
       after->is_touching_complete ? "overlapping volume counts twice in the mass"
                                   : "and there are more; overlapping volume counts twice in the mass"},
  };
  for (size_t k = 0; k < FLO_COUNT_OF(defects); k++) describe_defect(attachment, &defects[k]);
}

static bool is_sound(const FloMeshReport *r) {
  return r->is_watertight && !r->n_degenerate && !r->n_joined_vertices && !r->n_self_touching &&
         !r->is_inside_out;
}

static FloStatus mend_mesh(FloSceneContext *context, FloSceneAttachment *attachment) {
  FloMeshReport before, after;
  FloError cause;
  FloStatus status = flo_mesh_repair(&attachment->mesh, &before, &cause);
  if (status == FLO_OK && is_sound(&before)) return FLO_OK;
  if (status == FLO_OK) status = flo_mesh_inspect(&attachment->mesh, &after, &cause);
  if (status != FLO_OK) return flo_scene_pass_on(context, status, &cause);
  describe_mesh(&before, &after, attachment);
  return FLO_OK;
}

// A file that may not be examined is assumed to exist.
static bool is_missing(const char *path) {
  return access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

// The message has the whole path, so that it shows the folder of a relative path.
static FloStatus fail_missing_mesh(FloSceneContext *context, const char *path) {
  char folder[PATH_MAX], whole[PATH_MAX] = "", hint[128];
  const char *slash = strrchr(path, '/');
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - path) : 1, slash ? path : ".");
  suggest_file(path, hint);
  bool is_there = realpath(folder, whole) != NULL;
  return flo_scene_fail(context,
                        "there is no mesh file '%.600s%s%.200s'%s (relative paths start at the folder of the "
                        "file that names the mesh)",
                        is_there ? whole : folder, is_there && whole[1] ? "/" : "", slash ? slash + 1 : path,
                        hint);
}

static FloStatus load_mesh(FloSceneContext *context, const char *path, double scale,
                           FloSceneAttachment *attachment) {
  FloError cause;
  FloMesh *mesh = &attachment->mesh;
  FloStatus status = flo_mesh_read(path, mesh, &cause);
  if (status != FLO_OK && is_missing(path)) return fail_missing_mesh(context, path);
  if (status != FLO_OK) return flo_scene_fail(context, "%s", cause.text);
  for (size_t k = 0; k < mesh->n_vertices; k++)
    vec_scale(flo_mesh_vertex(mesh, k), scale, flo_mesh_vertex(mesh, k));
  FLO_TRY(mend_mesh(context, attachment));
  FLO_TRY(check_mesh(context, path, mesh));
  attachment->triangles = (FloTriangles){flo_mesh_vertex(mesh, 0), flo_mesh_triangle(mesh, 0),
                                         mesh->n_vertices, mesh->n_triangles};
  return FLO_OK;
}

static FloSceneAttachment *find_mesh(FloSceneContext *context, const char *path, double scale) {
  for (FloSceneAttachment *a = *context->attachments; a; a = a->next)
    if (a->mesh.n_triangles && a->scale == scale && !strcmp(a->text, path)) return a;
  return NULL;
}

static FloStatus read_mesh(FloSceneContext *context, json_t *object, FloShape *shape) {
  char path[FLO_PATH_SIZE];
  double scale = number_or(object, "scale", 1);
  size_t mark = flo_scene_enter(context, "mesh");
  FLO_TRY(flo_scene_find_file(context, object, "mesh", path));
  FloSceneAttachment *attachment = find_mesh(context, path, scale);
  if (!attachment) {
    attachment = flo_scene_attach(context);
    if (!attachment || !(attachment->text = strdup(path))) return flo_scene_no_memory(context);
    attachment->scale = scale;
    FLO_TRY(load_mesh(context, path, scale, attachment));
  }
  shape->kind = FLO_SHAPE_MESH;
  shape->mesh = &attachment->triangles;
  flo_scene_leave(context, mark);
  return FLO_OK;
}

// ---- Any shape ----

// Keys that belong to some shapes only.
static const struct {
  const char *key;
  FloShapeKind kinds[2];
  const char *owners;
} modifiers[] = {
    {"closed", {FLO_SHAPE_TANK, FLO_SHAPE_BAG}, "a tank or a bag"},
    {"cells", {FLO_SHAPE_SHEET, FLO_SHAPE_SHEET}, "a sheet"},
    {"rounding", {FLO_SHAPE_BOX, FLO_SHAPE_CARD}, "a box or a card"},
    {"thickness", {FLO_SHAPE_PLANE, FLO_SHAPE_PLANE}, "a plane"},
    {"height", {FLO_SHAPE_LETTERS, FLO_SHAPE_LETTERS}, "letters"},
    {"depth", {FLO_SHAPE_LETTERS, FLO_SHAPE_LETTERS}, "letters"},
    {"stroke", {FLO_SHAPE_LETTERS, FLO_SHAPE_LETTERS}, "letters"},
    {"hollow", {FLO_SHAPE_LETTERS, FLO_SHAPE_LETTERS}, "letters"},
    {"scale", {FLO_SHAPE_MESH, FLO_SHAPE_MESH}, "a mesh"},
};

static FloStatus check_modifiers(FloSceneContext *context, const json_t *object, const FloShape *shape) {
  for (size_t k = 0; k < FLO_COUNT_OF(modifiers); k++) {
    bool fits = shape->kind == modifiers[k].kinds[0] || shape->kind == modifiers[k].kinds[1];
    if (json_object_get(object, modifiers[k].key) && !fits)
      return flo_scene_fail(context, "'%s' works with %s only; leave it out", modifiers[k].key,
                            modifiers[k].owners);
  }
  return FLO_OK;
}

static FloStatus read_by_key(FloSceneContext *context, json_t *object, FloShape *shape) {
  const json_t *box = json_object_get(object, "box"), *tank = json_object_get(object, "tank");
  if (box || tank) {
    shape->kind = box ? FLO_SHAPE_BOX : FLO_SHAPE_TANK;
    read_edges(box ? box : tank, context->dim, shape->size);
    return FLO_OK;
  }
  if (json_object_get(object, "sheet")) return read_sheet(context, object, shape);
  if (json_object_get(object, "letters")) return read_letters(context, object, shape);
  if (json_object_get(object, "heightfield")) return read_heightfield(context, object, shape);
  if (json_object_get(object, "outline")) return read_outline(context, object, shape);
  if (json_object_get(object, "mesh")) return read_mesh(context, object, shape);
  for (size_t k = 0; k < FLO_COUNT_OF(figures); k++) {
    const json_t *value = json_object_get(object, figures[k].key);
    if (!value) continue;
    shape->kind = figures[k].kind;
    read_plain(value, figures[k].numbers, shape);
  }
  return shape->kind == FLO_SHAPE_CONE ? check_cone(context, shape) : FLO_OK;
}

FloStatus flo_scene_read_figure(FloSceneContext *context, json_t *object, int up, double spacing,
                                FloShape *shape) {
  *shape = (FloShape){.up = up,
                      .closed = json_is_true(json_object_get(object, "closed")),
                      .cell = flo_json_number(object, "cell")};
  FLO_TRY(read_by_key(context, object, shape));
  FLO_TRY(check_modifiers(context, object, shape));
  if (json_object_get(object, "rounding")) shape->radius = flo_json_number(object, "rounding");
  if (shape->kind == FLO_SHAPE_PLANE) shape->size[2] = number_or(object, "thickness", 4 * spacing);
  FloError cause;
  FloStatus status = flo_shape_check(shape, context->dim, &cause);
  if (status == FLO_OK) return FLO_OK;
  return fail_after(context, "shape: ", &cause);
}
