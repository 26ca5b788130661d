// VTK files: what is written comes back, is laid out as the format says, and damaged files are refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/files.h"
#include "io/vtk.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static char folder[64], path[128];

static int make_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/flotsam-vtk-XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/points.vtp", folder);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  remove(path);
  return rmdir(folder); // fails if a temporary file was left behind
}

// Points with an array of every kind we write, filled with values that depend on their place.
static FloVtkPoints make_points(size_t n) {
  FloVtkPoints points = {.time = 0.1, .count = n, .n_arrays = 3};
  points.positions = malloc((n + 1) * 3 * sizeof(float));
  points.arrays[0] = (FloVtkArray){"id", FLO_VTK_U32, 1, malloc((n + 1) * sizeof(uint32_t))};
  points.arrays[1] = (FloVtkArray){"velocity", FLO_VTK_F32, 3, malloc((n + 1) * 3 * sizeof(float))};
  points.arrays[2] = (FloVtkArray){"type", FLO_VTK_U8, 1, malloc(n + 1)};
  for (size_t i = 0; i < n; i++) ((uint32_t *)points.arrays[0].data)[i] = (uint32_t)(7 * i + 1);
  for (size_t i = 0; i < n; i++) ((uint8_t *)points.arrays[2].data)[i] = i % 3 == 0;
  for (size_t i = 0; i < 3 * n; i++) {
    points.positions[i] = 0.01F * (float)i;
    ((float *)points.arrays[1].data)[i] = 1.0F / (float)(i + 1);
  }
  return points;
}

static void check_round_trip(size_t n) {
  FloVtkPoints points = make_points(n), back;
  FloError error;
  assert_int_equal(flo_vtk_write(path, &points, &error), FLO_OK);
  assert_int_equal(flo_vtk_read(path, &back, &error), FLO_OK);
  assert_true(back.time == 0.1);
  assert_int_equal(back.count, n);
  assert_int_equal(back.n_arrays, 3);
  assert_memory_equal(back.positions, points.positions, n * 3 * sizeof(float));
  assert_memory_equal(flo_vtk_find(&back, "id", FLO_VTK_U32, 1), points.arrays[0].data, n * 4);
  assert_memory_equal(flo_vtk_find(&back, "velocity", FLO_VTK_F32, 3), points.arrays[1].data, n * 12);
  assert_memory_equal(flo_vtk_find(&back, "type", FLO_VTK_U8, 1), points.arrays[2].data, n);
  assert_null(flo_vtk_find(&back, "type", FLO_VTK_F32, 1));
  assert_null(flo_vtk_find(&back, "colour", FLO_VTK_U8, 1));
  flo_vtk_free(&back);
  flo_vtk_free(&points);
}

static void what_is_written_comes_back(void **state) {
  (void)state;
  check_round_trip(5);
}

static void no_points_are_fine(void **state) {
  (void)state;
  check_round_trip(0);
}

static void several_blocks_come_back(void **state) {
  (void)state;
  check_round_trip(50000);
}

static void a_full_last_block_comes_back(void **state) {
  (void)state;
  check_round_trip(32768); // the ids fill one block of 128 KiB exactly
}

// The same file seen by a reader that knows only the format's description.
static void layout_follows_the_format(void **state) {
  (void)state;
  enum { N = 20000 };
  FloVtkPoints points = make_points(N);
  FloError error;
  char *text;
  size_t size;
  assert_int_equal(flo_vtk_write(path, &points, &error), FLO_OK);
  assert_int_equal(flo_file_read(path, &text, &size, &error), FLO_OK);
  assert_non_null(strstr(text, "header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\""));
  assert_non_null(strstr(text, "NumberOfPoints=\"20000\" NumberOfVerts=\"20000\""));
  const char *tag = strstr(text, "Name=\"velocity\" NumberOfComponents=\"3\" format=\"appended\" offset=\"");
  assert_non_null(tag);
  size_t offset = strtoull(strstr(tag, "offset=\"") + 8, NULL, 10);
  const unsigned char *array = (unsigned char *)strstr(text, "encoding=\"raw\">\n_") + 17 + offset;

  uint64_t head[5]; // 240000 bytes are two blocks of 128 KiB, the second one partly filled
  memcpy(head, array, sizeof head);
  assert_int_equal(head[0], 2);
  assert_int_equal(head[1] + head[2], N * 12);
  unsigned char *values = malloc(N * 12);
  uLongf first = N * 12, second = head[2];
  assert_int_equal(uncompress(values, &first, array + sizeof head, head[3]), Z_OK);
  assert_int_equal(first, head[1]);
  assert_int_equal(uncompress(values + first, &second, array + sizeof head + head[3], head[4]), Z_OK);
  assert_memory_equal(values, points.arrays[1].data, N * 12);
  free(values);
  free(text);
  flo_vtk_free(&points);
}

// Whatever is cut off a file, reading it fails or gives all points; it never crashes (sanitizers watch).
static void cut_files_are_refused(void **state) {
  (void)state;
  FloVtkPoints points = make_points(40), back;
  FloError error;
  char *text;
  size_t size;
  assert_int_equal(flo_vtk_write(path, &points, &error), FLO_OK);
  assert_int_equal(flo_file_read(path, &text, &size, &error), FLO_OK);
  const char *tail = "\n</AppendedData>\n</VTKFile>\n";
  size_t needed = size - strlen(tail);
  for (size_t length = 0; length < needed; length += 11) {
    assert_int_equal(flo_file_write(path, text, length, &error), FLO_OK);
    FloStatus status = flo_vtk_read(path, &back, &error);
    if (status == FLO_OK)
      flo_vtk_free(&back); // only the cells, which we do not read, are cut
    else
      assert_non_null(strstr(error.text, "damaged"));
  }
  free(text);
  flo_vtk_free(&points);
}

static void changed_bytes_never_crash(void **state) {
  (void)state;
  FloVtkPoints points = make_points(40), back;
  FloError error;
  char *text;
  size_t size;
  assert_int_equal(flo_vtk_write(path, &points, &error), FLO_OK);
  assert_int_equal(flo_file_read(path, &text, &size, &error), FLO_OK);
  for (size_t at = 0; at < size; at += 5) {
    char kept = text[at];
    text[at] = (char)(kept ^ (1 << (at % 8)));
    assert_int_equal(flo_file_write(path, text, size, &error), FLO_OK);
    if (flo_vtk_read(path, &back, &error) == FLO_OK) flo_vtk_free(&back);
    text[at] = kept;
  }
  free(text);
  flo_vtk_free(&points);
}

static void missing_folders_are_named(void **state) {
  (void)state;
  FloVtkPoints points = make_points(2);
  FloError error;
  assert_int_equal(flo_vtk_write("/nowhere/at/all.vtp", &points, &error), FLO_IO_FAILED);
  assert_non_null(strstr(error.text, "/nowhere/at/all.vtp"));
  assert_non_null(strstr(error.text, "No such file"));
  flo_vtk_free(&points);
}

static void collections_list_files_and_times(void **state) {
  (void)state;
  const char *names[] = {"a.vtp", "b.vtp"};
  FloError error;
  char *text;
  size_t size;
  assert_int_equal(flo_vtk_write_collection(path, 2, 1, names, (double[]){0, 0.1}, &error), FLO_OK);
  assert_int_equal(flo_file_read(path, &text, &size, &error), FLO_OK);
  assert_non_null(strstr(text, "timestep=\"0\" part=\"0\" file=\"a.vtp\""));
  assert_non_null(strstr(text, "timestep=\"0.10000000000000001\" part=\"0\" file=\"b.vtp\""));
  free(text);
}

// Every length but the right one is noticed, without the data being unpacked.
static void cut_files_are_not_whole(void **state) {
  (void)state;
  const size_t counts[] = {0, 5, 50000};
  for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
    FloVtkPoints points = make_points(counts[k]);
    char *data;
    size_t size;
    assert_int_equal(flo_vtk_write(path, &points, NULL), FLO_OK);
    assert_true(flo_vtk_is_whole(path));
    assert_int_equal(flo_file_read(path, &data, &size, NULL), FLO_OK);
    const size_t lengths[] = {0, 1, 100, size / 2, size - 40, size - 1};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
      assert_int_equal(truncate(path, (off_t)lengths[i]), 0);
      assert_false(flo_vtk_is_whole(path));
      assert_int_equal(flo_file_write(path, data, size, NULL), FLO_OK);
    }
    assert_int_equal(truncate(path, (off_t)size + 1), 0);
    assert_false(flo_vtk_is_whole(path));
    free(data);
    flo_vtk_free(&points);
  }
  remove(path);
  assert_false(flo_vtk_is_whole(path));
  assert_int_equal(flo_file_write(path, "hello", 5, NULL), FLO_OK);
  assert_false(flo_vtk_is_whole(path));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_is_written_comes_back, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(cut_files_are_not_whole, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(no_points_are_fine, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(several_blocks_come_back, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(a_full_last_block_comes_back, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(layout_follows_the_format, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(cut_files_are_refused, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(changed_bytes_never_crash, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(collections_list_files_and_times, make_folder, remove_folder),
      cmocka_unit_test(missing_folders_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
