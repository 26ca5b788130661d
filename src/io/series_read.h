// Reads a whole series.csv, and describes what its columns measure.
#ifndef FLO_IO_SERIES_READ_H
#define FLO_IO_SERIES_READ_H

#include "io/scene.h"

typedef struct FloSeriesTable {
  size_t n_columns, n_rows;
  char (*names)[96];
  double *values; // column after column, n_rows each
  bool is_cut;    // the last line was incomplete, as after a crash, and was left out
} FloSeriesTable;

// Release with flo_series_table_free, also after a failure.
FloStatus flo_series_table_read(const char *path, FloSeriesTable *table, FloError *error);
void flo_series_table_free(FloSeriesTable *table);
// The column of that name; n_columns if there is none.
size_t flo_series_table_find(const FloSeriesTable *table, const char *name);
static inline const double *flo_series_table_column(const FloSeriesTable *table, size_t column) {
  return table->values + column * table->n_rows;
}

// The quantity of a column: columns of the same quantity and unit may share a plot.
typedef struct FloSeriesMeaning {
  const char *quantity; // "energy"; NULL: not known
  const char *unit;     // "J"; "": a plain number, or not known
} FloSeriesMeaning;

// `scene` provides bodies, probes and the dimension (in 2D measurements are per metre of depth); NULL: not
// known.
FloSeriesMeaning flo_series_meaning(const FloScene *scene, const char *column);

#endif
