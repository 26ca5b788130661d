// Files of surfaces: what is written reads back, and failures are told.
#include "geometry/mesh_io.h"
#include "support/allocator.h"
#include "support/check.h"
#include "surface/surface_file.h"

#include <sys/stat.h>
#include <unistd.h>

typedef struct Drop {
  CountingAllocator counter;
  FloMemory memory;
  FloSurfaceMesh surface;
  char folder[64], path[128];
} Drop;

static void drop_init(Drop *drop, size_t count) {
  static const double positions[2][3] = {{0.1, 0.2, 0.3}, {0.15, 0.2, 0.3}};
  static const float velocities[2][3] = {{1, -2, 3}, {1, -2, 3}};
  FloSurfaceDef def = flo_surface_default_def(0.1);
  FloError error;
  *drop = (Drop){.folder = "/tmp/flotsam-surface-XXXXXX"};
  FloAllocator allocator = counting_allocator(&drop->counter);
  flo_memory_init(&drop->memory, &allocator);
  assert_ok(
      flo_surface_build(&def, positions[0], velocities[0], count, &drop->surface, &drop->memory, &error),
      &error);
  assert_non_null(mkdtemp(drop->folder));
}

static void drop_write(Drop *drop, FloSurfaceFormat format) {
  FloError error;
  snprintf(drop->path, sizeof drop->path, "%s/drop.%s", drop->folder, flo_surface_format_name(format));
  assert_ok(flo_surface_write(drop->path, format, &drop->surface, 0.25, &error), &error);
}

static void drop_free(Drop *drop) {
  flo_surface_free(&drop->surface);
  assert_int_equal(drop->counter.bytes, 0);
  rmdir(drop->folder);
}

static void check_read_back(FloSurfaceFormat format) {
  Drop drop;
  FloMesh mesh;
  FloError error;
  drop_init(&drop, 2);
  drop_write(&drop, format);
  flo_mesh_init(&mesh, &drop.memory);
  assert_ok(flo_mesh_read(drop.path, &mesh, &error), &error);
  assert_int_equal(mesh.n_vertices, drop.surface.mesh.n_vertices);
  assert_int_equal(mesh.n_triangles, drop.surface.mesh.n_triangles);
  assert_memory_equal(mesh.triangles.data, drop.surface.mesh.triangles.data,
                      mesh.n_triangles * sizeof(uint32_t[3]));
  for (size_t v = 0; v < mesh.n_vertices; ++v)
    for (int axis = 0; axis < 3; ++axis)
      assert_true((float)flo_mesh_vertex(&mesh, v)[axis] ==
                  (float)flo_mesh_vertex(&drop.surface.mesh, v)[axis]);
  flo_mesh_free(&mesh);
  remove(drop.path);
  drop_free(&drop);
}

static void test_ply_reads_back(void **state) {
  (void)state;
  check_read_back(FLO_SURFACE_PLY);
}

static void test_obj_reads_back(void **state) {
  (void)state;
  check_read_back(FLO_SURFACE_OBJ);
}

// The length that the head calls for; what stands in the arrays is tested with the program.
static void test_files_have_the_length_they_tell(void **state) {
  (void)state;
  Drop drop;
  struct stat about;
  char head[1024];
  drop_init(&drop, 2);
  drop_write(&drop, FLO_SURFACE_PLY);
  FILE *stream = fopen(drop.path, "rb");
  size_t n = fread(head, 1, sizeof head - 1, stream);
  fclose(stream);
  head[n] = 0;
  const char *end = strstr(head, "end_header\n");
  assert_non_null(end);
  assert_non_null(strstr(head, "comment time 0.25\n"));
  assert_int_equal(stat(drop.path, &about), 0);
  assert_int_equal(about.st_size, (long)(end - head) + 11 + (long)(36 * drop.surface.mesh.n_vertices) +
                                      (long)(13 * drop.surface.mesh.n_triangles));
  remove(drop.path);
  drop_free(&drop);
}

// All particles move alike, so the surface does.
static void test_velocities_are_those_of_the_particles(void **state) {
  (void)state;
  Drop drop;
  drop_init(&drop, 2);
  for (size_t v = 0; v < drop.surface.mesh.n_vertices; ++v) {
    const float *velocity = flo_surface_velocity(&drop.surface, v);
    assert_close(velocity[0], 1, 1e-6);
    assert_close(velocity[1], -2, 1e-6);
    assert_close(velocity[2], 3, 1e-6);
  }
  drop_free(&drop);
}

static void test_nothing_can_be_written_as_well(void **state) {
  (void)state;
  Drop drop;
  struct stat about;
  drop_init(&drop, 0);
  for (int k = 0; k < FLO_SURFACE_FORMAT_COUNT; ++k) {
    drop_write(&drop, (FloSurfaceFormat)k);
    assert_int_equal(stat(drop.path, &about), 0);
    assert_true(about.st_size > 10);
    remove(drop.path);
  }
  drop_free(&drop);
}

static void test_a_place_that_is_not_there(void **state) {
  (void)state;
  Drop drop;
  FloError error;
  drop_init(&drop, 1);
  assert_fails(flo_surface_write("/nowhere/at/all.ply", FLO_SURFACE_PLY, &drop.surface, 0, &error),
               FLO_IO_FAILED, &error, "/nowhere/at/all.ply");
  drop_free(&drop);
}

static void test_names_of_formats_and_kernels(void **state) {
  (void)state;
  FloSurfaceFormat format;
  FloSurfaceKernel kernel;
  for (int k = 0; k < FLO_SURFACE_FORMAT_COUNT; ++k) {
    assert_true(flo_surface_format_from_name(flo_surface_format_name((FloSurfaceFormat)k), &format));
    assert_int_equal(format, k);
  }
  for (int k = 0; k < FLO_SURFACE_KERNEL_COUNT; ++k) {
    assert_true(flo_surface_kernel_from_name(flo_surface_kernel_name((FloSurfaceKernel)k), &kernel));
    assert_int_equal(kernel, k);
  }
  assert_false(flo_surface_format_from_name("stl", &format));
  assert_false(flo_surface_kernel_from_name("", &kernel));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ply_reads_back),
      cmocka_unit_test(test_obj_reads_back),
      cmocka_unit_test(test_files_have_the_length_they_tell),
      cmocka_unit_test(test_velocities_are_those_of_the_particles),
      cmocka_unit_test(test_nothing_can_be_written_as_well),
      cmocka_unit_test(test_a_place_that_is_not_there),
      cmocka_unit_test(test_names_of_formats_and_kernels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
