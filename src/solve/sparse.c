// The factorisation. Columns are eliminated one after the other: column k is divided by its diagonal block,
// which has its own small LDL^T, and its square is subtracted from the columns that it has rows in.
#include "solve/sparse.h"

#include <math.h>
#include <string.h>

enum { FOR_WIDTHS, FOR_FIRST_ROWS, FOR_PLACES, FOR_ORDER, FOR_BEGIN, FOR_ENTRIES, FOR_DIAGONAL, FOR_NUMBERS };

// ---- Creation ----

void flo_sparse_init(FloSparse *sparse, FloMemory *memory) { *sparse = (FloSparse){.memory = memory}; }

void flo_sparse_free(FloSparse *sparse) {
  flo_buffers_free(sparse->memory, sparse->buffers, FLO_SPARSE_BUFFERS);
  flo_buffer_free(sparse->memory, &sparse->links.buffer);
}

static FloStatus reserve(FloSparse *sparse, int which, size_t size, void *pointer, FloError *error) {
  FLO_TRY(flo_buffer_reserve(sparse->memory, &sparse->buffers[which], size, 0, error));
  memcpy(pointer, &sparse->buffers[which].data, sizeof(void *));
  return FLO_OK;
}

static FloStatus reserve_blocks(FloSparse *sparse, size_t n, FloError *error) {
  FLO_TRY(reserve(sparse, FOR_WIDTHS, n * sizeof(uint32_t), &sparse->widths, error));
  FLO_TRY(reserve(sparse, FOR_FIRST_ROWS, (n + 1) * sizeof(uint32_t), &sparse->first_rows, error));
  FLO_TRY(reserve(sparse, FOR_PLACES, n * sizeof(uint32_t), &sparse->places, error));
  FLO_TRY(reserve(sparse, FOR_ORDER, n * sizeof(uint32_t), &sparse->order, error));
  FLO_TRY(reserve(sparse, FOR_BEGIN, (n + 1) * sizeof(size_t), &sparse->begin, error));
  return reserve(sparse, FOR_DIAGONAL, n * sizeof(size_t), &sparse->diagonal, error);
}

FloStatus flo_sparse_begin(FloSparse *sparse, const uint32_t *widths, size_t n_blocks, FloError *error) {
  FLO_TRY(reserve_blocks(sparse, n_blocks, error));
  sparse->n_blocks = n_blocks, sparse->n_rows = 0, sparse->links.count = 0;
  for (size_t k = 0; k < n_blocks; ++k) {
    FLO_ASSERT(widths[k] <= FLO_SPARSE_WIDTH);
    sparse->widths[k] = widths[k], sparse->first_rows[k] = (uint32_t)sparse->n_rows;
    sparse->n_rows += widths[k];
  }
  return FLO_OK;
}

FloStatus flo_sparse_connect(FloSparse *sparse, uint32_t a, uint32_t b, FloError *error) {
  const uint32_t pair[2] = {a, b};
  FLO_ASSERT(a < sparse->n_blocks && b < sparse->n_blocks);
  return a == b ? FLO_OK : flo_list_append(sparse->memory, &sparse->links, pair, sizeof pair, error);
}

static size_t width_at(const FloSparse *sparse, size_t place) { return sparse->widths[sparse->order[place]]; }

// Diagonal blocks stand before the blocks below them.
static void place_numbers(FloSparse *sparse) {
  sparse->n_numbers = 0;
  for (size_t k = 0; k < sparse->n_blocks; ++k) {
    size_t width = width_at(sparse, k);
    sparse->diagonal[k] = sparse->n_numbers, sparse->n_numbers += width * width;
    for (size_t e = sparse->begin[k]; e < sparse->begin[k + 1]; ++e) {
      sparse->entries[e].numbers = sparse->n_numbers;
      sparse->n_numbers += width * width_at(sparse, sparse->entries[e].place);
    }
  }
}

FloStatus flo_sparse_order(FloSparse *sparse, FloError *error) {
  FLO_TRY(flo_sparse_eliminate(sparse, error));
  place_numbers(sparse);
  return reserve(sparse, FOR_NUMBERS, sparse->n_numbers * sizeof(double), &sparse->numbers, error);
}

// ---- Numbers ----

// The numbers of a column are together: its diagonal block, then the blocks below.
static void clear_column(FloSparse *sparse, size_t k) {
  const size_t end = k + 1 < sparse->n_blocks ? sparse->diagonal[k + 1] : sparse->n_numbers;
  memset(sparse->numbers + sparse->diagonal[k], 0, (end - sparse->diagonal[k]) * sizeof(double));
}

void flo_sparse_clear(FloSparse *sparse, const bool *which) {
  for (size_t k = 0; sparse->n_numbers && k < sparse->n_blocks; ++k)
    if (!which || which[sparse->order[k]]) clear_column(sparse, k);
}

static const FloSparseEntry *find_entry(const FloSparse *sparse, size_t column, uint32_t row) {
  size_t low = sparse->begin[column], high = sparse->begin[column + 1];
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (sparse->entries[middle].place < row)
      low = middle + 1;
    else
      high = middle;
  }
  FLO_ASSERT(low < sparse->begin[column + 1] && sparse->entries[low].place == row);
  return &sparse->entries[low];
}

double *flo_sparse_block(FloSparse *sparse, uint32_t a, uint32_t b, bool *is_turned) {
  uint32_t row = sparse->places[a], column = sparse->places[b];
  *is_turned = row < column;
  if (row == column) return sparse->numbers + sparse->diagonal[row];
  const FloSparseEntry *entry =
      *is_turned ? find_entry(sparse, row, column) : find_entry(sparse, column, row);
  return sparse->numbers + entry->numbers;
}

// L D L^T of a diagonal block in place: D on the diagonal, L below it.
static bool factorise_diagonal(double *a, size_t n) {
  for (size_t k = 0; k < n; ++k) {
    double d = a[n * k + k];
    for (size_t m = 0; m < k; ++m) d -= a[n * k + m] * a[n * k + m] * a[n * m + m];
    if (!(d > 0) || !isfinite(d)) return false;
    a[n * k + k] = d;
    for (size_t i = k + 1; i < n; ++i) {
      double sum = a[n * i + k];
      for (size_t m = 0; m < k; ++m) sum -= a[n * i + m] * a[n * k + m] * a[n * m + m];
      a[n * i + k] = sum / d;
    }
  }
  return true;
}

// x L^T = b, for one row of a block below the diagonal; then x / D is the row of the factor.
static void divide_row(const double *diagonal, size_t n, double *x) {
  for (size_t k = 0; k < n; ++k)
    for (size_t m = 0; m < k; ++m) x[k] -= x[m] * diagonal[n * k + m];
  for (size_t k = 0; k < n; ++k) x[k] /= diagonal[n * k + k];
}

// to -= rows diag(D) others^T: `to` has n_rows x n_others numbers, the factors have n columns.
static void subtract_product(const double *rows, size_t n_rows, const double *others, size_t n_others,
                             const double *diagonal, size_t n, double *to) {
  for (size_t i = 0; i < n_rows; ++i) {
    double scaled[FLO_SPARSE_WIDTH];
    for (size_t m = 0; m < n; ++m) scaled[m] = rows[n * i + m] * diagonal[n * m + m];
    for (size_t k = 0; k < n_others; ++k) {
      double sum = 0;
      for (size_t m = 0; m < n; ++m) sum += scaled[m] * others[n * k + m];
      to[n_others * i + k] -= sum;
    }
  }
}

// Subtracts the square of a column from the column of one of its rows. The rows of both rise, so that one
// walk finds all places.
static void update_column(FloSparse *sparse, size_t column, size_t first) {
  const size_t n = width_at(sparse, column), end = sparse->begin[column + 1];
  const double *diagonal = sparse->numbers + sparse->diagonal[column];
  const FloSparseEntry *entry = &sparse->entries[first];
  const size_t to = entry->place, n_to = width_at(sparse, to);
  const double *others = sparse->numbers + entry->numbers;
  subtract_product(others, n_to, others, n_to, diagonal, n, sparse->numbers + sparse->diagonal[to]);
  size_t at = sparse->begin[to];
  for (size_t e = first + 1; e < end; ++e) {
    const FloSparseEntry *row = &sparse->entries[e];
    while (sparse->entries[at].place != row->place) ++at;
    subtract_product(sparse->numbers + row->numbers, width_at(sparse, row->place), others, n_to, diagonal, n,
                     sparse->numbers + sparse->entries[at].numbers);
  }
}

static bool factorise_column(FloSparse *sparse, size_t k) {
  const size_t n = width_at(sparse, k);
  double *diagonal = sparse->numbers + sparse->diagonal[k];
  if (!factorise_diagonal(diagonal, n)) return false;
  for (size_t e = sparse->begin[k]; e < sparse->begin[k + 1]; ++e)
    for (size_t i = 0; i < width_at(sparse, sparse->entries[e].place); ++i)
      divide_row(diagonal, n, sparse->numbers + sparse->entries[e].numbers + n * i);
  for (size_t e = sparse->begin[k]; e < sparse->begin[k + 1]; ++e) update_column(sparse, k, e);
  return true;
}

bool flo_sparse_factorise(FloSparse *sparse, const bool *which) {
  bool is_definite = true;
  for (size_t k = 0; is_definite && k < sparse->n_blocks; ++k)
    if (!which || which[sparse->order[k]]) is_definite = factorise_column(sparse, k);
  return is_definite;
}

// ---- Solution ----

static double *part_of(const FloSparse *sparse, size_t place, double *x) {
  return x + sparse->first_rows[sparse->order[place]];
}

static void solve_down(const FloSparse *sparse, size_t k, double *x) {
  const size_t n = width_at(sparse, k);
  const double *diagonal = sparse->numbers + sparse->diagonal[k];
  double *own = part_of(sparse, k, x);
  for (size_t i = 0; i < n; ++i)
    for (size_t m = 0; m < i; ++m) own[i] -= diagonal[n * i + m] * own[m];
  for (size_t e = sparse->begin[k]; e < sparse->begin[k + 1]; ++e) {
    const double *block = sparse->numbers + sparse->entries[e].numbers;
    double *to = part_of(sparse, sparse->entries[e].place, x);
    for (size_t i = 0; i < width_at(sparse, sparse->entries[e].place); ++i)
      for (size_t m = 0; m < n; ++m) to[i] -= block[n * i + m] * own[m];
  }
}

static void solve_up(const FloSparse *sparse, size_t k, double *x) {
  const size_t n = width_at(sparse, k);
  const double *diagonal = sparse->numbers + sparse->diagonal[k];
  double *own = part_of(sparse, k, x);
  for (size_t i = 0; i < n; ++i) own[i] /= diagonal[n * i + i];
  for (size_t e = sparse->begin[k]; e < sparse->begin[k + 1]; ++e) {
    const double *block = sparse->numbers + sparse->entries[e].numbers,
                 *from = part_of(sparse, sparse->entries[e].place, x);
    for (size_t i = 0; i < width_at(sparse, sparse->entries[e].place); ++i)
      for (size_t m = 0; m < n; ++m) own[m] -= block[n * i + m] * from[i];
  }
  for (size_t i = n; i-- > 0;)
    for (size_t m = i + 1; m < n; ++m) own[i] -= diagonal[n * m + i] * own[m];
}

void flo_sparse_solve(const FloSparse *sparse, double *x) {
  for (size_t k = 0; k < sparse->n_blocks; ++k) solve_down(sparse, k, x);
  for (size_t k = sparse->n_blocks; k-- > 0;) solve_up(sparse, k, x);
}
