#include "bench/sheets.h"

#include "base/timer.h"
#include "bench/cases.h"
#include "solve/block_factor.h"

// From a vertex to those it is joined with: edges of the triangles, then opposite corners of two triangles.
static const int offsets[][2] = {{1, 0}, {0, 1}, {1, 1}, {2, 1}, {1, 2}, {1, -1}};

typedef struct Sheet {
  FloMemory memory;
  FloList pairs; // uint32_t[2]
  FloBlockMatrix matrix;
  FloBlockFactor *factor;
  FloBuffer x;
  bool is_positive;
} Sheet;

// ---- The matrix ----

static FloStatus add_pairs(Sheet *sheet, uint32_t width, uint32_t height, FloError *error) {
  for (uint32_t i = 0; i < width * height; ++i)
    for (size_t k = 0; k < FLO_COUNT_OF(offsets); ++k) {
      int64_t x = (int64_t)(i % width) + offsets[k][0], y = (int64_t)(i / width) + offsets[k][1];
      if (x >= width || y < 0 || y >= height) continue;
      const uint32_t pair[2] = {i, (uint32_t)(y * width + x)};
      FLO_TRY(flo_list_append(&sheet->memory, &sheet->pairs, pair, sizeof pair, error));
    }
  return FLO_OK;
}

// a += scale u u^T.
static void add_square(double *a, const double u[3], double scale) {
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) a[3 * r + c] += scale * u[r] * u[c];
}

// Springs along random directions, and a mass for each vertex.
static void fill_matrix(Sheet *sheet) {
  const uint32_t *pairs = FLO_LIST(sheet->pairs, uint32_t);
  const double mass = 0.01;
  for (size_t i = 0; i < sheet->matrix.n; ++i)
    for (int axis = 0; axis < 3; ++axis) flo_block_matrix_at(&sheet->matrix, i, i)[4 * axis] += mass;
  for (size_t k = 0; k < sheet->pairs.count; ++k) {
    size_t i = pairs[2 * k], j = pairs[2 * k + 1];
    double u[3];
    for (size_t axis = 0; axis < 3; ++axis) u[axis] = flo_case_noise(3 * k + axis);
    add_square(flo_block_matrix_at(&sheet->matrix, i, i), u, 1);
    add_square(flo_block_matrix_at(&sheet->matrix, j, j), u, 1);
    add_square(flo_block_matrix_at(&sheet->matrix, i, j), u, -1);
    add_square(flo_block_matrix_at(&sheet->matrix, j, i), u, -1);
  }
}

static FloStatus make_sheet(Sheet *sheet, uint32_t width, uint32_t height, FloError *error) {
  const size_t n = (size_t)width * height;
  FLO_TRY(add_pairs(sheet, width, height, error));
  FLO_TRY(
      flo_block_matrix_build(&sheet->matrix, n, FLO_LIST(sheet->pairs, uint32_t), sheet->pairs.count, error));
  fill_matrix(sheet);
  return flo_buffer_reserve(&sheet->memory, &sheet->x, 3 * n * sizeof(double), 0, error);
}

static void free_sheet(Sheet *sheet) {
  flo_block_factor_destroy(sheet->factor, &sheet->memory);
  flo_block_matrix_free(&sheet->matrix);
  flo_buffer_free(&sheet->memory, &sheet->pairs.buffer);
  flo_buffer_free(&sheet->memory, &sheet->x);
}

// ---- Measuring ----

static FloStatus find_structure(Sheet *sheet, FloSheetResult *result, FloError *error) {
  double began = flo_seconds(), seconds;
  FLO_TRY(flo_block_factor_create(&sheet->matrix, &sheet->memory, &sheet->factor, error));
  seconds = flo_seconds() - began;
  result->structure = flo_times_of(&seconds, 1);
  return FLO_OK;
}

static void factorise(void *context) {
  Sheet *sheet = context;
  sheet->is_positive = flo_block_factorise(sheet->factor, &sheet->matrix, 1);
}

static double *load(const Sheet *sheet) {
  double *x = sheet->x.data;
  for (size_t k = 0; k < 3 * sheet->matrix.n; ++k) x[k] = (double)(k % 7) - 3;
  return x;
}

static void solve(void *context) {
  const Sheet *sheet = context;
  flo_block_solve(sheet->factor, load(sheet));
}

static void solve_single(void *context) {
  const Sheet *sheet = context;
  flo_block_solve_single(sheet->factor, load(sheet));
}

static FloStatus measure(Sheet *sheet, int repeats, FloSheetResult *result, FloError *error) {
  result->vertices = sheet->matrix.n, result->blocks = sheet->matrix.begin[sheet->matrix.n];
  FLO_TRY(find_structure(sheet, result, error));
  result->factorise = flo_times_measure(repeats, factorise, sheet);
  result->solve = flo_times_measure(repeats, solve, sheet);
  FLO_TRY(flo_block_factor_keep_single(sheet->factor, error));
  factorise(sheet);
  FLO_ASSERT(sheet->is_positive);
  result->solve_single = flo_times_measure(repeats, solve_single, sheet);
  return FLO_OK;
}

FloStatus flo_sheet_measure(uint32_t width, uint32_t height, int repeats, FloSheetResult *result,
                            FloError *error) {
  Sheet sheet = {0};
  *result = (FloSheetResult){0};
  flo_memory_init(&sheet.memory, NULL);
  flo_block_matrix_init(&sheet.matrix, &sheet.memory);
  FloStatus status = make_sheet(&sheet, width, height, error);
  if (status == FLO_OK) status = measure(&sheet, repeats, result, error);
  free_sheet(&sheet);
  return status;
}
