#include "render/run_gltf.h"

#include "base/vecmath.h"
#include "io/body_files.h"
#include "io/gltf.h"
#include "render/camera.h"
#include "render/creased.h"
#include "render/solids.h"
#include "render/stuff.h"

#include <stdlib.h>
#include <string.h>

static const float glass_opacity = 0.15f, water_opacity = 0.7f;
static const V3 glass = {0.75f, 0.84f, 0.9f};

typedef struct Work {
  const FloScene *scene;
  const FloRunMotion *motion;
  const FloPictureView *view;
  FloSolids solids; // for the bodies' colours
  FloMemory memory;
  FloGltf *gltf;
} Work;

// ---- Materials ----

static bool is_glass(const FloSceneBody *body) {
  return body->def.shape.kind == FLO_SHAPE_TANK || !strcmp(body->look, "glass") ||
         !strcmp(body->look, "outline");
}

// Roughness in glTF is the square root of the width of the microfacets' slopes (appendix B of its
// specification).
static FloStatus add_material(Work *work, size_t b, size_t *index, FloError *error) {
  static const char *const names[] = {[FLO_STUFF_PLASTIC] = "plastic",
                                      [FLO_STUFF_MATT] = "matt",
                                      [FLO_STUFF_STONE] = "stone",
                                      [FLO_STUFF_WOOD] = "wood",
                                      [FLO_STUFF_METAL] = "metal"};
  const FloSceneBody *body = &work->scene->bodies[b];
  if (is_glass(body))
    return flo_gltf_add_material(
        work->gltf, &(FloGltfMaterial){"glass", {glass.x, glass.y, glass.z, glass_opacity}, 0, 0.05f, true},
        index, error);
  const FloStuff stuff = flo_stuff_of(body, &body->def.pose, work->view->substances, work->solids.colours[b]);
  const FloGltfMaterial material = {.name = names[stuff.kind],
                                    .colour = {stuff.colour.x, stuff.colour.y, stuff.colour.z, 1},
                                    .metallic = stuff.kind == FLO_STUFF_METAL ? 1 : 0,
                                    .roughness = sqrtf(stuff.alpha),
                                    .has_two_sides =
                                        work->scene->world.dim == 2 || body->def.kind == FLO_BODY_CLOTH};
  return flo_gltf_add_material(work->gltf, &material, index, error);
}

// ---- Triangles ----

// Vertices with one normal each: a vertex on a crease occurs once for each of its sides.
typedef struct Split {
  float *positions, *normals;
  uint32_t *triangles;
  uint32_t *newest, *older; // for each vertex of the mesh its last copy, and for each copy the one before
  size_t n_vertices;
} Split;

static const uint32_t no_copy = UINT32_MAX;

static void release_split(Split *s) {
  free(s->positions);
  free(s->normals);
  free(s->triangles);
  free(s->newest);
  free(s->older);
}

static FloStatus allocate_split(const FloMesh *mesh, Split *s, FloError *error) {
  const size_t n = 3 * mesh->n_triangles + 1;
  *s = (Split){.positions = malloc(n * sizeof(float[3])),
               .normals = malloc(n * sizeof(float[3])),
               .triangles = malloc(n * sizeof(uint32_t)),
               .newest = malloc((mesh->n_vertices + 1) * sizeof(uint32_t)),
               .older = malloc(n * sizeof(uint32_t))};
  if (s->positions && s->normals && s->triangles && s->newest && s->older) return FLO_OK;
  release_split(s);
  return flo_fail(error, FLO_NO_MEMORY, "no memory for %zu triangles", mesh->n_triangles);
}

static uint32_t copy_vertex(Split *s, const FloMesh *mesh, uint32_t vertex, const float normal[3]) {
  for (uint32_t k = s->newest[vertex]; k != no_copy; k = s->older[k])
    if (memcmp(s->normals + 3 * (size_t)k, normal, sizeof(float[3])) == 0) return k;
  const size_t new = s->n_vertices++;
  const double *p = flo_mesh_vertex(mesh, vertex);
  for (size_t axis = 0; axis < 3; axis++) s->positions[3 * new + axis] = (float)p[axis];
  memcpy(s->normals + 3 * new, normal, sizeof(float[3]));
  s->older[new] = s->newest[vertex];
  return s->newest[vertex] = (uint32_t) new;
}

// A triangle without area has no normal. It gets some direction of unit length.
static void fill_split(const FloCreased *creased, Split *s) {
  const FloMesh *mesh = &creased->mesh;
  for (size_t v = 0; v < mesh->n_vertices; v++) s->newest[v] = no_copy;
  for (size_t k = 0; k < 3 * mesh->n_triangles; k++) {
    V3 n = creased->normals[k];
    if (!(v3_length(n) > 0.5f)) n = v3(0, 0, 1);
    s->triangles[k] = copy_vertex(s, mesh, flo_mesh_triangle(mesh, 0)[k], (const float[3]){n.x, n.y, n.z});
  }
}

static FloStatus add_creased(Work *work, const char *name, const FloCreased *creased, size_t material,
                             size_t *index, FloError *error) {
  Split s;
  FLO_TRY(allocate_split(&creased->mesh, &s, error));
  fill_split(creased, &s);
  const FloGltfMesh mesh = {.name = name,
                            .positions = s.positions,
                            .normals = s.normals,
                            .n_vertices = s.n_vertices,
                            .triangles = s.triangles,
                            .n_triangles = creased->mesh.n_triangles,
                            .material = material};
  FloStatus status = flo_gltf_add_mesh(work->gltf, &mesh, index, error);
  release_split(&s);
  return status;
}

static FloStatus add_mesh(Work *work, size_t b, size_t *index, FloError *error) {
  FloCreased creased = {0};
  FloError reason;
  size_t material;
  FLO_TRY(add_material(work, b, &material, error));
  flo_mesh_init(&creased.mesh, &work->memory);
  const char *name = work->scene->bodies[b].name;
  FloStatus status = flo_body_files_mesh(work->scene, b, &creased.mesh, &reason);
  if (status == FLO_OK && creased.mesh.n_triangles == 0)
    status = flo_fail(&reason, FLO_BAD_INPUT, "its shape has none");
  if (status == FLO_OK) status = flo_creased_complete(&creased, &reason);
  if (status == FLO_OK) status = add_creased(work, name, &creased, material, index, &reason);
  if (status != FLO_OK) flo_fail(error, status, "no triangles for the body '%s': %.800s", name, reason.text);
  flo_creased_destroy(&creased);
  return status;
}

// ---- Bodies that change their shape ----

static const FloFrameBody *soft_at(const Work *work, size_t frame, size_t b) {
  return &work->motion->frames[frame].bodies[b];
}

// Whether all frames have the same triangles of the body. Lines of 2D runs have none.
static bool has_shapes(const Work *work, size_t b) {
  const FloRunMotion *motion = work->motion;
  if (!motion->frames || motion->n_frames == 0 || work->scene->world.dim == 2) return false;
  const FloFrameBody *first = soft_at(work, 0, b);
  for (size_t f = 0; f < motion->n_frames; f++) {
    const FloFrameBody *body = soft_at(work, f, b);
    if (!body->vertices || body->n_vertices != first->n_vertices || body->n_triangles == 0) return false;
  }
  return true;
}

// The frames' vertices, and smooth normals of a cloth. Solids have edges, so they are shaded flat.
static void take_shapes(const Work *work, size_t b, float *positions, float *normals) {
  const size_t n = 3 * soft_at(work, 0, b)->n_vertices;
  for (size_t f = 0; f < work->motion->n_frames; f++) {
    memcpy(positions + f * n, soft_at(work, f, b)->vertices, n * sizeof(float));
    if (normals) flo_frame_normals(soft_at(work, f, b), normals + f * n);
  }
}

static FloStatus add_shapes(Work *work, size_t b, const float *positions, const float *normals,
                            FloError *error) {
  const FloFrameBody *first = soft_at(work, 0, b);
  const FloPose identity = flo_pose_identity();
  size_t material, mesh, node;
  FLO_TRY(add_material(work, b, &material, error));
  FLO_TRY(flo_gltf_add_mesh(work->gltf,
                            &(FloGltfMesh){.name = first->name,
                                           .positions = positions,
                                           .normals = normals,
                                           .n_vertices = first->n_vertices,
                                           .triangles = first->triangles,
                                           .n_triangles = first->n_triangles,
                                           .material = material},
                            &mesh, error));
  FLO_TRY(flo_gltf_add_node(work->gltf, first->name, mesh, &identity, &node, error));
  const FloGltfShapes shapes = {positions, normals, first->n_vertices, work->motion->n_frames};
  return flo_gltf_morph(work->gltf, node, mesh, &shapes, error);
}

static FloStatus add_soft(Work *work, size_t b, FloError *error) {
  const size_t n = work->motion->n_frames * soft_at(work, 0, b)->n_vertices;
  const bool is_smooth = work->scene->bodies[b].def.kind == FLO_BODY_CLOTH;
  float *positions = malloc((n + 1) * sizeof(float[3]));
  float *normals = is_smooth ? malloc((n + 1) * sizeof(float[3])) : NULL;
  FloStatus status = FLO_OK;
  if (!positions || (is_smooth && !normals))
    status = flo_fail(error, FLO_NO_MEMORY, "no memory for the shapes of '%s'", work->scene->bodies[b].name);
  if (status == FLO_OK) take_shapes(work, b, positions, normals);
  if (status == FLO_OK) status = add_shapes(work, b, positions, normals, error);
  free(positions);
  free(normals);
  return status;
}

// ---- Nodes ----

static FloStatus add_body(Work *work, size_t b, FloError *error) {
  const FloScene *scene = work->scene;
  const FloRunMotion *motion = work->motion;
  const FloPose *start = motion->n_frames > 0 ? &motion->poses[b] : &scene->bodies[b].def.pose;
  size_t mesh, node;
  if (strcmp(scene->bodies[b].look, "hidden") == 0) return FLO_OK;
  if (flo_scene_is_soft(&scene->bodies[b])) return has_shapes(work, b) ? add_soft(work, b, error) : FLO_OK;
  FLO_TRY(add_mesh(work, b, &mesh, error));
  FLO_TRY(flo_gltf_add_node(work->gltf, scene->bodies[b].name, mesh, start, &node, error));
  if (motion->n_frames == 0) return FLO_OK;
  return flo_gltf_animate(work->gltf, node, start, scene->n_bodies, motion->n_frames, error);
}

// The first fluid that the scene gives a colour has it.
static FloStatus add_water(Work *work, size_t *material, FloError *error) {
  FloGltfMaterial water = {"water", {0.09f, 0.47f, 0.66f, water_opacity}, 0, 0.05f, false};
  for (size_t k = FLO_VIEW_MATERIALS; k-- > 0;)
    if (work->view->substances[k].is_coloured)
      memcpy(water.colour, work->view->substances[k].tint, sizeof work->view->substances[k].tint);
  return flo_gltf_add_material(work->gltf, &water, material, error);
}

static FloStatus add_surface(Work *work, const FloSurfaceMesh *surface, size_t material, size_t *node,
                             FloError *error) {
  size_t n = surface->mesh.n_vertices, mesh;
  float *positions = malloc((n + 1) * sizeof(float[3]));
  if (!positions) return flo_fail(error, FLO_NO_MEMORY, "no memory for a surface of %zu vertices", n);
  for (size_t k = 0; k < 3 * n; k++) positions[k] = (float)flo_mesh_vertex(&surface->mesh, 0)[k];
  const FloGltfMesh fluid = {.name = "fluid",
                             .positions = positions,
                             .normals = flo_surface_normal(surface, 0),
                             .n_vertices = n,
                             .triangles = flo_mesh_triangle(&surface->mesh, 0),
                             .n_triangles = surface->mesh.n_triangles,
                             .material = material};
  const FloPose identity = flo_pose_identity();
  FloStatus status = flo_gltf_add_mesh(work->gltf, &fluid, &mesh, error);
  if (status == FLO_OK) status = flo_gltf_add_node(work->gltf, "fluid", mesh, &identity, node, error);
  free(positions);
  return status;
}

static FloStatus add_surfaces(Work *work, const FloSurfaceMesh *surfaces, size_t n, FloError *error) {
  size_t material, node, n_triangles = 0;
  for (size_t k = 0; k < n; k++) n_triangles += surfaces[k].mesh.n_triangles;
  if (n_triangles == 0) return FLO_OK;
  FLO_TRY(add_water(work, &material, error));
  for (size_t k = 0; k < n; k++) {
    if (surfaces[k].mesh.n_triangles == 0) continue;
    FLO_TRY(add_surface(work, &surfaces[k], material, &node, error));
    if (n > 1) FLO_TRY(flo_gltf_show(work->gltf, node, k, error));
  }
  return FLO_OK;
}

// ---- The camera ----

// The rotation whose columns are the camera's axes (Shepperd 1978: by the largest of the four components).
static void quat_from_axes(V3 x, V3 y, V3 z, double q[4]) {
  const double m[3][3] = {{(double)x.x, (double)y.x, (double)z.x},
                          {(double)x.y, (double)y.y, (double)z.y},
                          {(double)x.z, (double)y.z, (double)z.z}};
  const double trace = m[0][0] + m[1][1] + m[2][2];
  int i = m[1][1] > m[0][0] ? 1 : 0;
  if (m[2][2] > m[i][i]) i = 2;
  const int j = (i + 1) % 3, k = (i + 2) % 3;
  if (trace > m[i][i]) {
    q[0] = m[2][1] - m[1][2], q[1] = m[0][2] - m[2][0], q[2] = m[1][0] - m[0][1], q[3] = 1 + trace;
  } else {
    q[i] = 1 + m[i][i] - m[j][j] - m[k][k], q[j] = m[i][j] + m[j][i], q[k] = m[i][k] + m[k][i];
    q[3] = m[k][j] - m[j][k];
  }
  double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int part = 0; part < 4; part++) q[part] /= length;
}

// The format requires 0 < near < far, even if all that is visible is a point.
static void set_planes(FloGltfCamera *camera, double extent, double distance, double spacing) {
  camera->near = fmax(0.005 * extent, 1e-3 * spacing);
  camera->far = fmax(4 * extent + distance, 2 * camera->near);
}

static FloStatus add_camera(Work *work, FloError *error) {
  const FloPictureView *view = work->view;
  const FloScene *scene = work->scene;
  FloBounds bounds = {v3((float)view->low[0], (float)view->low[1], (float)view->low[2]),
                      v3((float)view->high[0], (float)view->high[1], (float)view->high[2])};
  if (!view->is_set || flo_bounds_is_empty(bounds)) bounds = work->solids.bounds;
  if (flo_bounds_is_empty(bounds)) return FLO_OK;
  const FloMargins margins = {0.05f, 0.05f, 0.05f, 0.05f};
  const FloLens lens =
      flo_lens_create(&scene->camera, scene->world.dim, scene->up, bounds, margins, 1920, 1080);
  const double extent = (double)v3_length(v3_sub(bounds.high, bounds.low));
  const V3 middle = v3_scale(v3_add(bounds.low, bounds.high), 0.5f);
  FloGltfCamera camera = {.name = "camera",
                          .is_flat = lens.is_flat,
                          .half_width = (double)lens.half_width,
                          .half_height = (double)lens.half_height};
  set_planes(&camera, extent, (double)v3_length(v3_sub(lens.eye, middle)), scene->world.spacing);
  vec_set(camera.pose.position, (double)lens.eye.x, (double)lens.eye.y, (double)lens.eye.z);
  quat_from_axes(lens.right, lens.up, v3_scale(lens.forward, -1), camera.pose.rotation);
  return flo_gltf_add_camera(work->gltf, &camera, error);
}

// ---- The whole scene ----

static FloStatus fill(Work *work, const FloSurfaceMesh *surfaces, size_t n_surfaces, FloError *error) {
  const FloScene *scene = work->scene;
  FLO_TRY(flo_solids_create(scene->bodies, NULL, scene->n_bodies, scene->world.dim,
                            (float)(0.5 * scene->world.spacing), NULL, &work->solids, error));
  FLO_TRY(flo_gltf_create(scene->title ? scene->title : scene->name, scene->up, &work->gltf, error));
  FLO_TRY(flo_gltf_set_times(work->gltf, work->motion->times, work->motion->n_frames, error));
  for (size_t b = 0; b < scene->n_bodies; b++) FLO_TRY(add_body(work, b, error));
  FLO_TRY(add_surfaces(work, surfaces, n_surfaces, error));
  return add_camera(work, error);
}

FloStatus flo_run_gltf_write(FILE *stream, const char *path, const FloScene *scene,
                             const FloRunMotion *motion, const FloSurfaceMesh *surfaces, size_t n_surfaces,
                             const FloPictureView *view, FloError *error) {
  Work work = {.scene = scene, .motion = motion, .view = view};
  flo_memory_init(&work.memory, &scene->world.allocator);
  FloStatus status = fill(&work, surfaces, n_surfaces, error);
  if (status == FLO_OK) status = flo_gltf_write(work.gltf, stream, path, error);
  flo_gltf_destroy(work.gltf);
  flo_solids_destroy(&work.solids);
  return status;
}
