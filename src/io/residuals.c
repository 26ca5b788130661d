#include "io/residuals.h"

#include "base/core.h"
#include "io/files.h"

static void write_row(FILE *file, const FloResiduals *r, size_t iteration) {
  fprintf(file, "%zu", iteration);
  for (size_t k = 0; k < r->n_solvers; ++k) fprintf(file, ",%.6g", r->values[iteration * r->n_solvers + k]);
  fputc('\n', file);
}

FloStatus flo_residuals_write(const char *folder, const FloResiduals *r, FloError *error) {
  char path[FLO_PATH_SIZE];
  FloNewFile file;
  FLO_TRY(flo_path_join(folder, "residuals.csv", path, error));
  FLO_TRY(flo_new_file_begin(&file, path, error));
  fputs("iteration", file.stream);
  for (size_t k = 0; k < r->n_solvers; ++k) fprintf(file.stream, ",%s", r->names[k]);
  fputc('\n', file.stream);
  for (size_t k = 0; k < r->n_iterations; ++k) write_row(file.stream, r, k);
  return flo_new_file_finish(&file, error);
}
