// Surfaces are triangles or patches (u, v) -> point, normal: a quad, a disc, the side of a cylinder, or a
// sphere. They are emitted twice: first without arrays, to count, then to fill the arrays. No array ever
// grows.
#include "render/solids.h"

#include "base/core.h"
#include "geometry/shapes.h"
#include "geometry/solid.h"
#include "io/scene_colour.h"
#include "render/clip.h"
#include "render/colour.h"
#include "render/creased.h"
#include "render/soft_solids.h"

#include <stdlib.h>
#include <string.h>

enum { slices = 72, stacks = 36, rim_pieces = 96 };

typedef struct Builder {
  FloSolids *out; // arrays are NULL while counting
  V3 position;    // pose of the current body
  V3 turn;        // vector part of its quaternion
  float turn_w;
  uint32_t owner;
} Builder;

// ---- Emission ----

static V3 rotate(const Builder *b, V3 p) {
  V3 once = v3_mad(v3_cross(b->turn, p), p, b->turn_w);
  return v3_mad(p, v3_cross(b->turn, once), 2);
}

static V3 place(const Builder *b, V3 p) { return v3_add(rotate(b, p), b->position); }

static uint32_t add_vertex(Builder *b, V3 point, V3 normal) {
  FloSolids *out = b->out;
  V3 placed = place(b, point);
  out->bounds = flo_bounds_add(out->bounds, placed);
  if (out->vertices)
    out->vertices[out->n_vertices] = placed, out->normals[out->n_vertices] = rotate(b, normal);
  return (uint32_t)out->n_vertices++;
}

static void add_triangle(Builder *b, uint32_t i, uint32_t j, uint32_t k) {
  FloSolids *out = b->out;
  if (out->triangles) {
    memcpy(out->triangles[out->n_triangles], (uint32_t[3]){i, j, k}, sizeof *out->triangles);
    out->owners[out->n_triangles] = b->owner;
  }
  out->n_triangles++;
}

static void add_edge(Builder *b, V3 from, V3 to) {
  FloSolids *out = b->out;
  FloEdge edge = {place(b, from), place(b, to)};
  out->bounds = flo_bounds_add(flo_bounds_add(out->bounds, edge.a), edge.b);
  if (out->edges) out->edges[out->n_edges] = edge;
  out->n_edges++;
}

// ---- Patches ----

typedef enum PatchKind { patch_quad, patch_disc, patch_side, patch_sphere } PatchKind;

// A patch. Quad: origin + u s + v t. Disc: origin + v (s cos + t sin). Side of a cylinder: the same with v =
// 1, moved by v n. Sphere: of radius |s|. `n` is the normal of quad and disc.
typedef struct Patch {
  PatchKind kind;
  V3 origin, s, t, n;
} Patch;

static V3 patch_at(const Patch *p, float u, float v, V3 *normal) {
  const float angle = 2 * (float)FLO_PI * u, polar = (float)FLO_PI * v;
  const V3 around = v3_mad(v3_scale(p->s, cosf(angle)), p->t, sinf(angle));
  *normal = v3_normalize(p->n);
  switch (p->kind) {
  case patch_quad:
    return v3_mad(v3_mad(p->origin, p->s, u), p->t, v);
  case patch_disc:
    return v3_mad(p->origin, around, v);
  case patch_side:
    *normal = v3_normalize(around);
    return v3_mad(v3_add(p->origin, around), p->n, v);
  case patch_sphere:
    break;
  }
  V3 out = v3_mad(v3_scale(around, sinf(polar)), p->n, cosf(polar));
  *normal = v3_normalize(out);
  return v3_add(p->origin, out);
}

static void add_patch(Builder *b, const Patch *patch) {
  const int n_u = patch->kind == patch_quad ? 1 : slices, n_v = patch->kind == patch_sphere ? stacks : 1;
  const uint32_t row = (uint32_t)n_u + 1;
  uint32_t first = (uint32_t)b->out->n_vertices;
  for (int j = 0; j <= n_v; j++)
    for (int i = 0; i <= n_u; i++) {
      V3 normal, point = patch_at(patch, (float)i / (float)n_u, (float)j / (float)n_v, &normal);
      add_vertex(b, point, normal);
    }
  for (int j = 0; j < n_v; j++)
    for (int i = 0; i < n_u; i++) {
      uint32_t corner = first + (uint32_t)j * row + (uint32_t)i;
      add_triangle(b, corner, corner + 1, corner + row + 1);
      add_triangle(b, corner, corner + row + 1, corner + row);
    }
}

static void add_box(Builder *b, V3 centre, V3 half) {
  for (int axis = 0; axis < 3; axis++)
    for (int side = -1; side <= 1; side += 2) {
      V3 s = v3_mul(v3_axis((axis + 1) % 3), half), t = v3_mul(v3_axis((axis + 2) % 3), half);
      V3 n = v3_scale(v3_mul(v3_axis(axis), half), (float)side);
      V3 origin = v3_sub(v3_sub(v3_add(centre, n), s), t);
      add_patch(b, &(Patch){patch_quad, origin, v3_scale(s, 2), v3_scale(t, 2), n});
    }
}

static void add_rect(Builder *b, float x0, float y0, float x1, float y1) {
  add_patch(b, &(Patch){patch_quad, {x0, y0, 0}, {x1 - x0, 0, 0}, {0, y1 - y0, 0}, {0, 0, 1}});
}

// ---- Outlines ----

static V3 box_corner(V3 half, int corner) {
  return v3(corner & 1 ? half.x : -half.x, corner & 2 ? half.y : -half.y, corner & 4 ? half.z : -half.z);
}

static void add_box_edges(Builder *b, V3 half) {
  for (int corner = 0; corner < 8; corner++)
    for (int axis = 0; axis < 3; axis++)
      if (!(corner & 1 << axis)) add_edge(b, box_corner(half, corner), box_corner(half, corner | 1 << axis));
}

static void add_rim(Builder *b, V3 centre, V3 s, V3 t) {
  V3 from = v3_add(centre, s);
  for (int k = 1; k <= rim_pieces; k++) {
    float angle = 2 * (float)FLO_PI * (float)k / rim_pieces;
    V3 to = v3_mad(v3_mad(centre, s, cosf(angle)), t, sinf(angle));
    add_edge(b, from, to);
    from = to;
  }
}

static void add_round_edges(Builder *b, const FloShape *shape) {
  float r = (float)shape->radius, half = 0.5f * (float)shape->size[0];
  if (shape->kind == FLO_SHAPE_SPHERE) {
    for (int axis = 0; axis < 3; axis++)
      add_rim(b, v3(0, 0, 0), v3_scale(v3_axis((axis + 1) % 3), r), v3_scale(v3_axis((axis + 2) % 3), r));
    return;
  }
  for (int side = -1; side <= 1; side += 2)
    add_rim(b, v3(0, 0, (float)side * half), v3(r, 0, 0), v3(0, r, 0));
  for (int k = 0; k < 4; k++) {
    V3 spoke = v3_scale(v3_axis(k & 1), k & 2 ? r : -r);
    add_edge(b, v3_sub(spoke, v3(0, 0, half)), v3_add(spoke, v3(0, 0, half)));
  }
}

// ---- Shapes ----

static V3 half_size(const FloShape *shape) {
  return v3(0.5f * (float)shape->size[0], 0.5f * (float)shape->size[1], 0.5f * (float)shape->size[2]);
}

static void add_tank(Builder *b, const FloShape *shape) {
  V3 half = half_size(shape), up = v3_axis(shape->up);
  add_box_edges(b, half);
  float thickness = 0.008f * fmaxf(half.x, fmaxf(half.y, half.z));
  V3 flat = v3_sub(half, v3_mul(half, up)), floor = v3_scale(up, -v3_get(half, shape->up) - thickness);
  add_box(b, floor, v3_mad(flat, up, thickness));
}

static void add_tank_2d(Builder *b, const FloShape *shape, float radius) {
  const float x = 0.5f * (float)shape->size[0], y = 0.5f * (float)shape->size[1];
  const float wall = fmaxf(3 * radius, 0.02f * fmaxf(x, y));
  const bool is_open_x = !shape->closed && shape->up == 0, is_open_y = !shape->closed && shape->up != 0;
  const float left = -x - wall, right = is_open_x ? x : x + wall, low = -y - wall,
              high = is_open_y ? y : y + wall;
  add_rect(b, left, low, -x, high);
  add_rect(b, -x, low, x, -y);
  add_edge(b, v3(-x, y, 0), v3(-x, -y, 0));
  add_edge(b, v3(-x, -y, 0), v3(x, -y, 0));
  if (!is_open_x) add_rect(b, x, low, right, high), add_edge(b, v3(x, -y, 0), v3(x, y, 0));
  if (!is_open_y) add_rect(b, -x, y, x, high), add_edge(b, v3(x, y, 0), v3(-x, y, 0));
}

static void add_triangles(Builder *b, const FloCreased *creased) {
  for (size_t k = 0; k < creased->mesh.n_triangles; k++) {
    const uint32_t *t = flo_mesh_triangle(&creased->mesh, k);
    uint32_t corners[3];
    for (size_t j = 0; j < 3; j++) {
      const double *p = flo_mesh_vertex(&creased->mesh, t[j]);
      corners[j] = add_vertex(b, v3((float)p[0], (float)p[1], (float)p[2]), creased->normals[3 * k + j]);
    }
    add_triangle(b, corners[0], corners[1], corners[2]);
  }
}

// ---- Edges and sections of meshes ----

// Whether a side is an edge to draw: there the two faces have different normals.
static bool is_crease(const FloCreased *creased, const FloMeshSide *sides, size_t n) {
  if (n != 2) return true; // the rim of an open mesh
  for (uint32_t corner = 0; corner < 2; corner++) {
    // The second side runs the other way, so its first corner is the last one of the first side.
    const uint32_t a = sides[0].side, b = sides[1].side;
    const uint32_t from = a / 3 * 3 + (a % 3 + corner) % 3, to = b / 3 * 3 + (b % 3 + 1 - corner) % 3;
    if (v3_dot(creased->normals[from], creased->normals[to]) < 0.9f) return true;
  }
  return false;
}

static V3 mesh_point(const FloMesh *mesh, uint32_t vertex) {
  const double *p = flo_mesh_vertex(mesh, vertex);
  return v3((float)p[0], (float)p[1], (float)p[2]);
}

static size_t add_creases(Builder *b, const FloCreased *creased) {
  const FloMeshSide *sides = creased->sides.data;
  const size_t n = 3 * creased->mesh.n_triangles;
  size_t n_added = 0;
  for (size_t k = 0, count; k < n; k += count) {
    count = flo_mesh_count_sides(sides, n, k);
    if (!is_crease(creased, sides + k, count)) continue;
    add_edge(b, mesh_point(&creased->mesh, sides[k].low), mesh_point(&creased->mesh, sides[k].high));
    n_added++;
  }
  return n_added;
}

// Adds the line in which a triangle meets the plane where a coordinate has this value.
static void add_section(Builder *b, const FloMesh *mesh, size_t triangle, int axis, float value) {
  V3 ends[3];
  int n = 0;
  for (int k = 0; k < 3; k++) {
    const V3 p = mesh_point(mesh, flo_mesh_triangle(mesh, triangle)[k]),
             q = mesh_point(mesh, flo_mesh_triangle(mesh, triangle)[(k + 1) % 3]);
    const float before = v3_get(p, axis) - value, behind = v3_get(q, axis) - value;
    if ((before < 0) != (behind < 0)) ends[n++] = v3_mix(p, q, before / (before - behind));
  }
  if (n == 2) add_edge(b, ends[0], ends[1]);
}

// Round shapes have no edges; sections across their middle are drawn instead, as for a ball.
static void add_sections(Builder *b, const FloMesh *mesh) {
  double low[3], high[3];
  flo_mesh_bounds(mesh, low, high);
  for (int axis = 0; axis < 3; axis++)
    for (size_t k = 0; k < mesh->n_triangles; k++)
      add_section(b, mesh, k, axis, (float)(0.5 * (low[axis] + high[axis])));
}

static void add_glass(Builder *b, const FloCreased *creased) {
  if (add_creases(b, creased) == 0) add_sections(b, &creased->mesh);
}

static void add_outline_2d(Builder *b, const FloShape *shape, const FloCreased *creased, bool is_outline) {
  if (!is_outline) add_triangles(b, creased);
  for (size_t k = 0; k < shape->n_points; k++) {
    const double *p = shape->points + 2 * k, *q = shape->points + 2 * ((k + 1) % shape->n_points);
    add_edge(b, v3((float)p[0], (float)p[1], 0), v3((float)q[0], (float)q[1], 0));
  }
}

static void add_shape_2d(Builder *b, const FloShape *shape, const FloCreased *creased, bool is_outline,
                         float radius) {
  if (shape->kind == FLO_SHAPE_TANK) add_tank_2d(b, shape, radius);
  if (shape->kind == FLO_SHAPE_OUTLINE) add_outline_2d(b, shape, creased, is_outline);
  if (shape->kind == FLO_SHAPE_BOX) {
    float x = 0.5f * (float)shape->size[0], y = 0.5f * (float)shape->size[1];
    const V3 corners[5] = {{-x, -y, 0}, {x, -y, 0}, {x, y, 0}, {-x, y, 0}, {-x, -y, 0}};
    if (!is_outline) add_rect(b, -x, -y, x, y);
    for (int k = 0; k < 4; k++) add_edge(b, corners[k], corners[k + 1]);
  }
  if (shape->kind == FLO_SHAPE_SPHERE) {
    V3 s = {(float)shape->radius, 0, 0}, t = {0, (float)shape->radius, 0};
    if (!is_outline) add_patch(b, &(Patch){patch_disc, {0, 0, 0}, s, t, {0, 0, 1}});
    add_rim(b, v3(0, 0, 0), s, t);
  }
}

static void add_cylinder(Builder *b, const FloShape *shape) {
  V3 s = {(float)shape->radius, 0, 0}, t = {0, (float)shape->radius, 0}, n = {0, 0, (float)shape->size[0]};
  V3 foot = v3_scale(n, -0.5f), head = v3_scale(n, 0.5f);
  add_patch(b, &(Patch){patch_side, foot, s, t, n});
  add_patch(b, &(Patch){patch_disc, foot, s, t, v3_scale(n, -1)});
  add_patch(b, &(Patch){patch_disc, head, s, t, n});
}

static void add_shape_3d(Builder *b, const FloShape *shape, const FloCreased *creased, bool is_outline) {
  const float r = (float)shape->radius;
  if (creased->normals && is_outline)
    add_glass(b, creased);
  else if (creased->normals)
    add_triangles(b, creased);
  else if (shape->kind == FLO_SHAPE_TANK)
    add_tank(b, shape);
  else if (is_outline && shape->kind == FLO_SHAPE_BOX)
    add_box_edges(b, half_size(shape));
  else if (is_outline)
    add_round_edges(b, shape);
  else if (shape->kind == FLO_SHAPE_BOX)
    add_box(b, v3(0, 0, 0), half_size(shape));
  else if (shape->kind == FLO_SHAPE_SPHERE)
    add_patch(b, &(Patch){patch_sphere, {0, 0, 0}, {r, 0, 0}, {0, r, 0}, {0, 0, r}});
  else
    add_cylinder(b, shape);
}

// ---- Bodies ----

static bool is_drawable(const FloSceneBody *body, const FloPose *pose) {
  const FloShape *shape = &body->def.shape;
  const double *p = pose->position, *q = pose->rotation;
  double sum = shape->radius + shape->size[0] + shape->size[1] + shape->size[2] + p[0] + p[1] + p[2] + q[0] +
               q[1] + q[2] + q[3];
  bool is_known = (unsigned)shape->kind < FLO_SHAPE_COUNT && shape->up >= 0 && shape->up < 3;
  return isfinite((float)sum) && is_known && strcmp(body->look, "hidden") != 0 &&
         strcmp(body->look, "samples") != 0;
}

static bool is_outlined(const FloSceneBody *body) {
  return strcmp(body->look, "glass") == 0 || strcmp(body->look, "outline") == 0;
}

// What the bodies of a picture are made from.
typedef struct Source {
  const FloSceneBody *bodies;
  const FloFrameBody *placed;
  FloCreased *creased;
  size_t n;
  int dim;
  float radius;
  const FloRepeat *repeat;
} Source;

static const FloPose *pose_of(const Source *source, size_t i) {
  return flo_frame_pose(source->placed, source->bodies, i);
}

static const FloFrameBody *placed_of(const Source *source, size_t i) {
  return source->placed ? &source->placed[i] : NULL;
}

static bool is_soft(const Source *source, size_t i) { return flo_soft_is_shown(placed_of(source, i)); }

static void add_soft(const Source *source, size_t i, V3 position, FloSolids *out) {
  const double *p = pose_of(source, i)->position;
  const V3 shift = v3_sub(position, v3((float)p[0], (float)p[1], source->dim == 2 ? 0 : (float)p[2]));
  flo_soft_add(placed_of(source, i), (uint32_t)i, shift, is_outlined(&source->bodies[i]), &source->creased[i],
               out);
}

static void add_body(const Source *source, size_t i, V3 position, FloSolids *out) {
  const FloSceneBody *body = &source->bodies[i];
  const double *q = pose_of(source, i)->rotation;
  if (is_soft(source, i)) {
    add_soft(source, i, position, out);
    return;
  }
  Builder b = {.out = out, .owner = (uint32_t)i, .position = position};
  b.turn = v3((float)q[0], (float)q[1], (float)q[2]), b.turn_w = (float)q[3];
  if (source->dim == 2)
    add_shape_2d(&b, &body->def.shape, &source->creased[i], is_outlined(body), source->radius);
  else
    add_shape_3d(&b, &body->def.shape, &source->creased[i], is_outlined(body));
}

// ---- Space that repeats ----

// The range of copies of a body that reach into the box, in periods along each axis.
typedef struct Copies {
  int first[3], last[3];
  float period[3];
} Copies;

// The position of the body inside the box. Along axes that do not repeat it is unchanged.
static V3 wrapped_position(const Source *source, size_t i) {
  const FloRepeat *r = source->repeat;
  double p[3];
  memcpy(p, pose_of(source, i)->position, sizeof p);
  if (source->dim == 2) p[2] = 0;
  for (int axis = 0; axis < 3; axis++) {
    if (!r || !r->is_on[axis]) continue;
    double period = r->high[axis] - r->low[axis];
    p[axis] -= period * floor((p[axis] - r->low[axis]) / period);
  }
  return v3((float)p[0], (float)p[1], (float)p[2]);
}

static Copies find_copies(const Source *source, size_t i, V3 position) {
  enum { most = 8 }; // limit for a body far larger than the box
  Copies copies = {0};
  FloSolids probe = {.bounds = flo_bounds_empty()};
  const FloRepeat *r = source->repeat;
  if (!r || !(r->is_on[0] || r->is_on[1] || r->is_on[2])) return copies;
  add_body(source, i, position, &probe);
  for (int axis = 0; axis < 3; axis++) {
    if (!r->is_on[axis]) continue;
    const float low = (float)r->low[axis], high = (float)r->high[axis], period = high - low;
    const float margin = 1e-4f * period; // a body that only touches the box from outside needs no copy
    float first = ceilf((low + margin - v3_get(probe.bounds.high, axis)) / period);
    float last = floorf((high - margin - v3_get(probe.bounds.low, axis)) / period);
    copies.first[axis] = (int)fmaxf(first, -most), copies.last[axis] = (int)fminf(last, most);
    copies.period[axis] = period;
  }
  return copies;
}

static void add_copies(const Source *source, size_t i, FloSolids *out) {
  const V3 position = wrapped_position(source, i);
  const Copies c = find_copies(source, i, position);
  for (int z = c.first[2]; z <= c.last[2]; z++)
    for (int y = c.first[1]; y <= c.last[1]; y++)
      for (int x = c.first[0]; x <= c.last[0]; x++) {
        V3 shift = {(float)x * c.period[0], (float)y * c.period[1], (float)z * c.period[2]};
        add_body(source, i, v3_add(position, shift), out);
      }
}

static void add_bodies(const Source *source, FloSolids *out) {
  out->n_vertices = out->n_triangles = out->n_edges = 0;
  out->bounds = flo_bounds_empty();
  for (size_t i = 0; i < source->n; i++)
    if (is_drawable(&source->bodies[i], pose_of(source, i))) add_copies(source, i, out);
}

static FloStatus clip_to_box(const FloRepeat *repeat, FloSolids *out, FloError *error) {
  for (int axis = 0; repeat && axis < 3; axis++) {
    if (!repeat->is_on[axis]) continue;
    const float low = (float)repeat->low[axis], high = (float)repeat->high[axis];
    const float margin = 1e-4f * (high - low);
    if (v3_get(out->bounds.low, axis) < low - margin || v3_get(out->bounds.high, axis) > high + margin)
      FLO_TRY(flo_solids_clip(out, axis, low, high, error));
  }
  return FLO_OK;
}

// ---- Colours ----

static const struct {
  const char *word;
  FloRgb8 colour;
} looks[] = {
    {"wood", {176, 128, 82}},   {"oak", {176, 128, 82}},  {"metal", {168, 174, 182}},
    {"steel", {168, 174, 182}}, {"rubber", {62, 64, 70}}, {"concrete", {178, 174, 166}},
    {"stone", {178, 174, 166}}, {"red", {206, 70, 56}},   {"orange", {236, 140, 52}},
    {"yellow", {240, 196, 70}}, {"green", {92, 160, 92}}, {"white", {236, 236, 232}},
};

// Warm colours, which stand out against water. Bodies that move get them in turn.
static const FloRgb8 movers[] = {
    {236, 124, 62}, {242, 184, 72}, {206, 84, 74}, {190, 130, 90}, {222, 146, 128}};
// Muted colours for bodies at rest, different enough to tell neighbours apart.
static const FloRgb8 resting[] = {{196, 190, 180}, {166, 178, 160}, {190, 168, 160},
                                  {172, 172, 188}, {204, 192, 150}, {158, 176, 180}};
static const FloRgb8 plate = {222, 227, 232}, wall_2d = {176, 184, 194};

// Number of bodies of each kind that have a colour so far.
typedef struct Given {
  size_t n_moving, n_resting;
} Given;

static FloRgb8 colour_of(const FloSceneBody *body, int dim, Given *given) {
  uint8_t rgb[3];
  if (flo_scene_colour(body->look, rgb)) return (FloRgb8){rgb[0], rgb[1], rgb[2]};
  for (size_t k = 0; k < FLO_COUNT_OF(looks); k++)
    if (strstr(body->look, looks[k].word)) return looks[k].colour;
  if (body->def.shape.kind == FLO_SHAPE_TANK) return dim == 2 ? wall_2d : plate;
  if (body->def.kind == FLO_BODY_STATIC) return resting[given->n_resting++ % FLO_COUNT_OF(resting)];
  return movers[given->n_moving++ % FLO_COUNT_OF(movers)];
}

static bool allocate(FloSolids *out) {
  out->vertices = malloc((out->n_vertices + 2) * sizeof *out->vertices);
  out->normals = malloc((out->n_vertices + 1) * sizeof *out->normals);
  out->triangles = malloc((out->n_triangles + 1) * sizeof *out->triangles);
  out->owners = malloc((out->n_triangles + 1) * sizeof *out->owners);
  out->edges = malloc((out->n_edges + 1) * sizeof *out->edges);
  out->colours = malloc((out->n_bodies + 1) * sizeof *out->colours);
  out->marks = calloc(out->n_vertices + 1, sizeof *out->marks);
  out->checks = calloc(out->n_bodies + 1, sizeof *out->checks);
  return out->marks && out->checks && out->vertices && out->normals && out->triangles && out->owners &&
         out->edges && out->colours;
}

static bool needs_triangles(const Source *source, size_t i) {
  const FloSceneBody *body = &source->bodies[i];
  const FloShape *shape = &body->def.shape;
  bool has_patches = flo_shape_has_formula(shape) && shape->kind != FLO_SHAPE_OUTLINE;
  return is_drawable(body, pose_of(source, i)) && !has_patches && !is_soft(source, i);
}

// Elastic bodies have the edges of their shapes, and in the plane an area. A cloth is smooth.
static FloStatus crease_soft(const Source *source, size_t i, FloMemory *memory, FloError *error) {
  if (source->bodies[i].def.kind != FLO_BODY_ELASTIC) return FLO_OK;
  flo_mesh_init(&source->creased[i].mesh, memory);
  return flo_soft_crease(placed_of(source, i), &source->creased[i], error);
}

static bool look_alike(const FloSceneBody *a, const FloSceneBody *b) {
  return flo_shape_is_same(&a->def.shape, &b->def.shape) && is_outlined(a) == is_outlined(b);
}

// Shapes without patches become triangles first; figures cost much, so instances, which follow each other,
// share them.
static FloStatus make_creased(const Source *source, FloMemory *memory, FloError *error) {
  const FloSceneBody *bodies = source->bodies;
  FloCreased *creased = source->creased;
  const size_t n = source->n;
  for (size_t i = 0, last = n; i < n; i++) {
    if (is_soft(source, i)) FLO_TRY(crease_soft(source, i, memory, error));
    if (!needs_triangles(source, i)) continue;
    if (last < n && look_alike(&bodies[last], &bodies[i])) {
      creased[i] = creased[last];
      creased[i].is_borrowed = true;
      continue;
    }
    FLO_TRY(flo_creased_create(&bodies[i].def.shape, memory, &creased[i], error));
    if (is_outlined(&bodies[i])) FLO_TRY(flo_mesh_sort_sides(&creased[i].mesh, &creased[i].sides, error));
    last = i;
  }
  return FLO_OK;
}

static FloStatus fill(const Source *source, FloSolids *out, FloError *error) {
  Given given = {0};
  add_bodies(source, out);
  if (!allocate(out)) return flo_fail(error, FLO_NO_MEMORY, "no memory to draw %zu bodies", out->n_bodies);
  add_bodies(source, out);
  for (size_t i = 0; i < out->n_bodies; i++) {
    out->colours[i] = flo_linear_from_rgb8(colour_of(&source->bodies[i], source->dim, &given));
    out->checks[i] = flo_soft_check(&source->bodies[i], placed_of(source, i));
  }
  return clip_to_box(source->repeat, out, error);
}

FloStatus flo_solids_create(const FloSceneBody *bodies, const FloFrameBody *placed, size_t n_bodies, int dim,
                            float radius, const FloRepeat *repeat, FloSolids *out, FloError *error) {
  FloMemory memory;
  *out = (FloSolids){.n_bodies = n_bodies, .bounds = flo_bounds_empty()};
  flo_memory_init(&memory, NULL);
  FloCreased *creased = calloc(n_bodies + 1, sizeof *creased);
  if (!creased) return flo_fail(error, FLO_NO_MEMORY, "no memory to draw %zu bodies", n_bodies);
  Source source = {bodies, placed, creased, n_bodies, dim, radius, repeat};
  FloStatus status = make_creased(&source, &memory, error);
  if (status == FLO_OK) status = fill(&source, out, error);
  for (size_t i = 0; i < n_bodies; i++) flo_creased_destroy(&creased[i]);
  free(creased);
  return status;
}

void flo_solids_destroy(FloSolids *out) {
  free(out->vertices);
  free(out->normals);
  free(out->triangles);
  free(out->owners);
  free(out->edges);
  free(out->colours);
  free(out->marks);
  free(out->checks);
  *out = (FloSolids){0};
}
