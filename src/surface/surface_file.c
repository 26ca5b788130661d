#include "surface/surface_file.h"

#include "io/files.h"

#include <inttypes.h>
#include <string.h>

// Records go to the stream in blocks of this many.
enum { BLOCK = 1024 };

static const char *const names[FLO_SURFACE_FORMAT_COUNT] = {"ply", "obj", "vtp"};

const char *flo_surface_format_name(FloSurfaceFormat format) { return names[format]; }

bool flo_surface_format_from_name(const char *name, FloSurfaceFormat *format) {
  for (int k = 0; k < FLO_SURFACE_FORMAT_COUNT; ++k)
    if (strcmp(name, names[k]) == 0) return *format = (FloSurfaceFormat)k, true;
  return false;
}

static void get_position(const FloSurfaceMesh *surface, size_t vertex, float position[3]) {
  const double *p = flo_mesh_vertex(&surface->mesh, vertex);
  for (int axis = 0; axis < 3; ++axis) position[axis] = (float)p[axis];
}

// ---- PLY ----

static void print_ply_head(FILE *stream, const FloSurfaceMesh *surface, double time) {
  static const char *const properties[] = {"x", "y", "z", "nx", "ny", "nz", "vx", "vy", "vz"};
  fprintf(stream, "ply\nformat binary_little_endian 1.0\ncomment flotsam surface\ncomment time %.9g\n", time);
  fprintf(stream, "element vertex %zu\n", surface->mesh.n_vertices);
  for (size_t k = 0; k < FLO_COUNT_OF(properties); ++k) fprintf(stream, "property float %s\n", properties[k]);
  fprintf(stream, "element face %zu\nproperty list uchar int vertex_indices\nend_header\n",
          surface->mesh.n_triangles);
}

static void write_ply_vertices(FILE *stream, const FloSurfaceMesh *surface) {
  float block[BLOCK][9];
  for (size_t begin = 0; begin < surface->mesh.n_vertices; begin += BLOCK) {
    size_t n = flo_min_size(BLOCK, surface->mesh.n_vertices - begin);
    for (size_t k = 0; k < n; ++k) {
      get_position(surface, begin + k, block[k]);
      memcpy(block[k] + 3, flo_surface_normal(surface, begin + k), sizeof(float[3]));
      memcpy(block[k] + 6, flo_surface_velocity(surface, begin + k), sizeof(float[3]));
    }
    fwrite(block, sizeof block[0], n, stream);
  }
}

static void write_ply_faces(FILE *stream, const FloSurfaceMesh *surface) {
  enum { FACE_BYTES = 13 };
  unsigned char block[BLOCK][FACE_BYTES];
  for (size_t begin = 0; begin < surface->mesh.n_triangles; begin += BLOCK) {
    size_t n = flo_min_size(BLOCK, surface->mesh.n_triangles - begin);
    for (size_t k = 0; k < n; ++k) {
      block[k][0] = 3;
      memcpy(block[k] + 1, flo_mesh_triangle(&surface->mesh, begin + k), sizeof(uint32_t[3]));
    }
    fwrite(block, FACE_BYTES, n, stream);
  }
}

static void write_ply(FILE *stream, const FloSurfaceMesh *surface, double time) {
  print_ply_head(stream, surface, time);
  write_ply_vertices(stream, surface);
  write_ply_faces(stream, surface);
}

// ---- OBJ ----

static void write_obj(FILE *stream, const FloSurfaceMesh *surface, double time) {
  fprintf(stream, "# flotsam surface, time %.9g s\n", time);
  for (size_t v = 0; v < surface->mesh.n_vertices; ++v) {
    float p[3];
    get_position(surface, v, p);
    fprintf(stream, "v %.9g %.9g %.9g\n", (double)p[0], (double)p[1], (double)p[2]);
  }
  for (size_t v = 0; v < surface->mesh.n_vertices; ++v) {
    const float *n = flo_surface_normal(surface, v);
    fprintf(stream, "vn %.5g %.5g %.5g\n", (double)n[0], (double)n[1], (double)n[2]);
  }
  for (size_t t = 0; t < surface->mesh.n_triangles; ++t) {
    const uint32_t *c = flo_mesh_triangle(&surface->mesh, t);
    uint32_t a = c[0] + 1, b = c[1] + 1, d = c[2] + 1;
    fprintf(stream, "f %" PRIu32 "//%" PRIu32 " %" PRIu32 "//%" PRIu32 " %" PRIu32 "//%" PRIu32 "\n", a, a, b,
            b, d, d);
  }
}

// ---- VTP ----

// Arrays follow each other; before each there is a 64-bit number, its size in bytes.
typedef struct VtpSizes {
  uint64_t time, triples, connectivity, offsets;
} VtpSizes;

static uint64_t print_array(FILE *stream, const char *type, const char *name, int components, uint64_t offset,
                            uint64_t size) {
  fprintf(stream,
          "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%" PRIu64
          "\"/>\n",
          type, name, components, offset);
  return offset + sizeof(uint64_t) + size;
}

static void print_vtp_head(FILE *stream, const FloSurfaceMesh *surface, const VtpSizes *sizes) {
  uint64_t at = sizeof(uint64_t) + sizes->time;
  fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
        "header_type=\"UInt64\">\n<PolyData>\n<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" "
        "NumberOfTuples=\"1\" format=\"appended\" offset=\"0\"/>\n</FieldData>\n",
        stream);
  fprintf(stream,
          "<Piece NumberOfPoints=\"%zu\" NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" "
          "NumberOfPolys=\"%zu\">\n<PointData Normals=\"Normals\" Vectors=\"velocity\">\n",
          surface->mesh.n_vertices, surface->mesh.n_triangles);
  at = print_array(stream, "Float32", "Normals", 3, at, sizes->triples);
  at = print_array(stream, "Float32", "velocity", 3, at, sizes->triples);
  fputs("</PointData>\n<Points>\n", stream);
  at = print_array(stream, "Float32", "Points", 3, at, sizes->triples);
  fputs("</Points>\n<Polys>\n", stream);
  at = print_array(stream, "Int32", "connectivity", 1, at, sizes->connectivity);
  print_array(stream, "Int32", "offsets", 1, at, sizes->offsets);
  fputs("</Polys>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_", stream);
}

static void write_array(FILE *stream, const void *data, uint64_t size) {
  fwrite(&size, sizeof size, 1, stream);
  if (size > 0) fwrite(data, 1, size, stream);
}

static void write_positions(FILE *stream, const FloSurfaceMesh *surface, uint64_t size) {
  fwrite(&size, sizeof size, 1, stream);
  for (size_t v = 0; v < surface->mesh.n_vertices; ++v) {
    float p[3];
    get_position(surface, v, p);
    fwrite(p, sizeof p, 1, stream);
  }
}

static void write_ends(FILE *stream, size_t n_triangles, uint64_t size) {
  fwrite(&size, sizeof size, 1, stream);
  for (size_t t = 1; t <= n_triangles; ++t) {
    int32_t end = (int32_t)(3 * t);
    fwrite(&end, sizeof end, 1, stream);
  }
}

static void write_vtp(FILE *stream, const FloSurfaceMesh *surface, double time) {
  const FloMesh *mesh = &surface->mesh;
  const VtpSizes sizes = {sizeof time, mesh->n_vertices * sizeof(float[3]),
                          mesh->n_triangles * sizeof(int32_t[3]), mesh->n_triangles * sizeof(int32_t)};
  print_vtp_head(stream, surface, &sizes);
  write_array(stream, &time, sizes.time);
  write_array(stream, surface->normals.data, sizes.triples);
  write_array(stream, surface->velocities.data, sizes.triples);
  write_positions(stream, surface, sizes.triples);
  write_array(stream, mesh->triangles.data, sizes.connectivity);
  write_ends(stream, mesh->n_triangles, sizes.offsets);
  fputs("\n</AppendedData>\n</VTKFile>\n", stream);
}

FloStatus flo_surface_write(const char *path, FloSurfaceFormat format, const FloSurfaceMesh *surface,
                            double time, FloError *error) {
  static void (*const write[FLO_SURFACE_FORMAT_COUNT])(FILE *, const FloSurfaceMesh *, double) = {
      [FLO_SURFACE_PLY] = write_ply, [FLO_SURFACE_OBJ] = write_obj, [FLO_SURFACE_VTP] = write_vtp};
  FloNewFile file;
  // VTP and PLY number the corners of all triangles with 31 bits.
  if (surface->mesh.n_triangles > INT32_MAX / 3)
    return flo_fail(error, FLO_BAD_INPUT, "%s: %zu triangles are too many for a file; take larger cells",
                    path, surface->mesh.n_triangles);
  FLO_TRY(flo_new_file_begin(&file, path, error));
  write[format](file.stream, surface, time);
  return flo_new_file_finish(&file, error);
}
