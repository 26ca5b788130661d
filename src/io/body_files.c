#include "io/body_files.h"

#include "base/core.h"
#include "base/vecmath.h"
#include "geometry/shape_mesh.h"
#include "geometry/solid.h"
#include "io/csv.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// Number of triangle edges along the longest side of a round body.
enum { EDGES_ALONG = 64 };

const char flo_body_files_head[] = "frame,time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,fx,fy,fz,tx,ty,tz\n";
enum { HEAD_LENGTH = sizeof flo_body_files_head - 1 };

// ---- Names ----

static void make_safe(const char *name, char safe[64]) {
  size_t n = 0;
  for (; *name && n < 63; name++) {
    unsigned char c = (unsigned char)*name;
    safe[n++] = c < 128 && (isalnum(c) || strchr("-_.", c)) ? (char)c : '_';
  }
  safe[n] = 0;
}

static bool is_taken(char (*names)[FLO_BODY_FILE_SIZE], size_t n, const char *name) {
  for (size_t k = 0; k < n; k++)
    if (strcasecmp(names[k], name) == 0) return true;
  return false;
}

void flo_body_files_name(const FloScene *scene, char (*names)[FLO_BODY_FILE_SIZE]) {
  for (size_t k = 0; k < scene->n_bodies; k++) {
    char safe[64];
    make_safe(scene->bodies[k].name, safe);
    snprintf(names[k], sizeof names[k], "body_%s.ply", safe);
    for (size_t number = 2; is_taken(names, k, names[k]); number++)
      snprintf(names[k], sizeof names[k], "body_%s-%zu.ply", safe, number);
  }
}

// ---- Triangles ----

static double extent_of(const FloShape *shape) {
  double extent = 2 * (shape->radius + shape->radius2);
  for (int axis = 0; axis < 3; axis++) extent = fmax(extent, shape->size[axis]);
  return extent;
}

// A block between two corners of a 2D scene, `depth` deep.
static FloStatus add_block(FloMesh *mesh, const double low[2], const double high[2], double depth,
                           FloError *error) {
  const double size[3] = {high[0] - low[0], high[1] - low[1], depth};
  const double centre[3] = {0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0};
  size_t first = mesh->n_vertices;
  FLO_TRY(flo_shape_mesh(&(FloShape){.kind = FLO_SHAPE_BOX, .size = {size[0], size[1], size[2]}}, depth, 0,
                         mesh, error));
  for (size_t k = first; k < mesh->n_vertices; k++)
    vec_add(flo_mesh_vertex(mesh, k), centre, flo_mesh_vertex(mesh, k));
  return FLO_OK;
}

// A tank of a 2D scene: floor and sides, and a lid if it has one; no front and back.
static FloStatus add_flat_tank(const FloShape *shape, double wall, FloMesh *mesh, FloError *error) {
  const int up = shape->up == 0 ? 0 : 1, across = 1 - up;
  const double half[2] = {0.5 * shape->size[0], 0.5 * shape->size[1]};
  for (int side = -1; side <= 1; side += 2) {
    double low[2], high[2];
    // The sides go from the bottom of the floor to the rim, or to the top of the lid.
    low[across] = side < 0 ? -half[across] - wall : half[across], high[across] = low[across] + wall;
    low[up] = -half[up] - wall, high[up] = half[up] + (shape->closed ? wall : 0);
    FLO_TRY(add_block(mesh, low, high, wall, error));
    if (side > 0 && !shape->closed) continue;
    low[across] = -half[across], high[across] = half[across];
    low[up] = side < 0 ? -half[up] - wall : half[up], high[up] = low[up] + wall;
    FLO_TRY(add_block(mesh, low, high, wall, error));
  }
  return FLO_OK;
}

static FloStatus make_flat(const FloShape *shape, double depth, FloMesh *mesh, FloError *error) {
  FloShape solid = *shape;
  if (shape->kind == FLO_SHAPE_TANK) return add_flat_tank(shape, depth, mesh, error);
  if (shape->kind == FLO_SHAPE_SPHERE) {
    solid.kind = FLO_SHAPE_CYLINDER;
    solid.size[0] = depth;
  } else if (shape->kind == FLO_SHAPE_BOX) {
    solid.size[2] = depth;
    solid.radius = 0;
  }
  return flo_shape_mesh(&solid, extent_of(&solid) / EDGES_ALONG, depth, mesh, error);
}

FloStatus flo_body_files_mesh(const FloScene *scene, size_t body, FloMesh *mesh, FloError *error) {
  const FloShape *shape = &scene->bodies[body].def.shape;
  double spacing = scene->world.spacing;
  if (scene->world.dim == 2) return make_flat(shape, spacing, mesh, error);
  return flo_shape_mesh(shape, extent_of(shape) / EDGES_ALONG, spacing, mesh, error);
}

// ---- PLY ----

static void print_ply_head(FILE *stream, const char *name, const FloMesh *mesh) {
  fputs("ply\nformat binary_little_endian 1.0\ncomment body ", stream);
  for (; *name; name++) fputc((unsigned char)*name < ' ' ? ' ' : (unsigned char)*name, stream);
  fprintf(stream,
          "\nelement vertex %zu\nproperty float x\nproperty float y\nproperty float z\n"
          "element face %zu\nproperty list uchar int vertex_indices\nend_header\n",
          mesh->n_vertices, mesh->n_triangles);
}

static void put_mesh(FILE *stream, const FloMesh *mesh) {
  for (size_t k = 0; k < mesh->n_vertices; k++) {
    const double *p = flo_mesh_vertex(mesh, k);
    fwrite((float[3]){(float)p[0], (float)p[1], (float)p[2]}, sizeof(float), 3, stream);
  }
  for (size_t k = 0; k < mesh->n_triangles; k++) {
    fputc(3, stream);
    fwrite(flo_mesh_triangle(mesh, k), sizeof(uint32_t), 3, stream);
  }
}

static FloStatus write_mesh(const char *path, const char *name, const FloMesh *mesh, FloError *error) {
  FloNewFile file;
  FLO_TRY(flo_new_file_begin(&file, path, error));
  print_ply_head(file.stream, name, mesh);
  put_mesh(file.stream, mesh);
  return flo_new_file_finish(&file, error);
}

// The mesh of the previous body is used again if the shapes are the same, as for instances.
static FloStatus write_body(const char *folder, const FloScene *scene, size_t k, const char *file,
                            FloMesh *mesh, FloError *error) {
  const FloSceneBody *body = &scene->bodies[k];
  char path[FLO_PATH_SIZE];
  FloError reason;
  FLO_TRY(flo_path_join(folder, file, path, error));
  if (k == 0 || flo_scene_is_soft(&body[-1]) || !flo_shape_is_same(&body[-1].def.shape, &body->def.shape)) {
    mesh->n_vertices = mesh->n_triangles = 0;
    FloStatus status = flo_body_files_mesh(scene, k, mesh, &reason);
    if (status != FLO_OK)
      return flo_fail(error, status, "%s: cannot make triangles of the body '%s': %.800s", path, body->name,
                      reason.text);
  }
  return write_mesh(path, body->name, mesh, error);
}

FloStatus flo_body_files_write_meshes(const char *folder, const FloScene *scene, FloError *error) {
  char(*names)[FLO_BODY_FILE_SIZE] = malloc((scene->n_bodies + 1) * sizeof *names);
  if (!names) return flo_fail(error, FLO_NO_MEMORY, "no memory for the names of %zu bodies", scene->n_bodies);
  FloMemory memory;
  FloMesh mesh;
  FloStatus status = FLO_OK;
  flo_memory_init(&memory, &scene->world.allocator);
  flo_mesh_init(&mesh, &memory);
  flo_body_files_name(scene, names);
  for (size_t k = 0; status == FLO_OK && k < scene->n_bodies; k++)
    if (!flo_scene_is_soft(&scene->bodies[k])) // frames have their triangles
      status = write_body(folder, scene, k, names[k], &mesh, error);
  flo_mesh_free(&mesh);
  free(names);
  return status;
}

// ---- Poses ----

// Whether a row ends right before the offset, after the line of names.
static bool ends_row(FILE *stream, uint64_t offset) {
  char start[HEAD_LENGTH];
  if (offset < HEAD_LENGTH || fread(start, 1, HEAD_LENGTH, stream) != HEAD_LENGTH) return false;
  if (memcmp(start, flo_body_files_head, HEAD_LENGTH) != 0) return false;
  return fseeko(stream, (off_t)offset - 1, SEEK_SET) == 0 && fgetc(stream) == '\n';
}

FloStatus flo_body_files_check(const char *folder, uint64_t offset, FloError *error) {
  char path[FLO_PATH_SIZE];
  FLO_TRY(flo_path_join(folder, "bodies.csv", path, error));
  if (!flo_file_exists(path))
    return flo_fail(error, FLO_BAD_INPUT, "%s: is missing; restore it, or start the run again", path);
  FILE *stream = fopen(path, "rb");
  if (!stream) return flo_fail(error, FLO_IO_FAILED, "%s: cannot read: %s", path, strerror(errno));
  bool has_end = ends_row(stream, offset);
  fclose(stream);
  if (has_end) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "%s: no row ends at byte %llu, where the last checkpoint expects it; restore the original "
                  "file, or start the run again",
                  path, (unsigned long long)offset);
}

FloStatus flo_body_files_open(FloBodyFiles *files, const char *folder, uint64_t offset, FloError *error) {
  char path[FLO_PATH_SIZE];
  *files = (FloBodyFiles){0};
  if (offset > 0) FLO_TRY(flo_body_files_check(folder, offset, error));
  FLO_TRY(flo_path_join(folder, "bodies.csv", path, error));
  FLO_TRY(flo_row_file_open(&files->file, path, offset, error));
  FloStatus status =
      offset > 0 ? FLO_OK : flo_row_file_add(&files->file, flo_body_files_head, HEAD_LENGTH, error);
  if (status != FLO_OK) flo_body_files_close(files);
  files->offset_before = files->file.size;
  return status;
}

void flo_body_files_close(FloBodyFiles *files) { flo_row_file_close(&files->file); }

static void print_numbers(FILE *stream, const double *values, size_t n) {
  for (size_t k = 0; k < n; k++) {
    char text[32];
    flo_format_number(values[k], text);
    fprintf(stream, ",%s", text);
  }
}

static void print_row(FILE *stream, const char *name, size_t frame, double time, const FloBodyState *state) {
  const double *q = state->pose.rotation;
  char text[32];
  flo_format_number(time, text);
  fprintf(stream, "%zu,%s,", frame, text);
  flo_csv_print_name(stream, name);
  print_numbers(stream, state->pose.position, 3);
  print_numbers(stream, (double[4]){q[3], q[0], q[1], q[2]}, 4); // the scalar first, as most programs expect
  print_numbers(stream, state->velocity, 3);
  print_numbers(stream, state->angular_velocity, 3);
  print_numbers(stream, state->mean_force, 3);
  print_numbers(stream, state->mean_torque, 3);
  fputc('\n', stream);
}

FloStatus flo_body_files_add_poses(FloBodyFiles *files, size_t frame, double time, const FloFrameBody *bodies,
                                   size_t n_bodies, FloError *error) {
  char *rows = NULL;
  size_t length;
  FILE *stream = open_memstream(&rows, &length);
  for (size_t k = 0; stream && k < n_bodies; k++)
    print_row(stream, bodies[k].name, frame, time, &bodies[k].state);
  FloStatus status = FLO_OK;
  if (!stream || fclose(stream) != 0)
    status = flo_fail(error, FLO_NO_MEMORY, "no memory for the rows of %zu bodies", n_bodies);
  uint64_t before = files->file.size;
  if (status == FLO_OK) status = flo_row_file_add(&files->file, rows, length, error);
  if (status == FLO_OK) files->offset_before = before;
  free(rows);
  return status;
}

FloStatus flo_body_files_drop_poses(FloBodyFiles *files, FloError *error) {
  return flo_row_file_cut(&files->file, files->offset_before, error);
}
