// Names and numbers in lines of CSV files.
#ifndef FLO_IO_CSV_H
#define FLO_IO_CSV_H

#include <stdbool.h>
#include <stdio.h>

// Writes a name; a name with a comma or a quote is quoted, so that it does not shift the columns.
void flo_csv_print_name(FILE *stream, const char *name);
// The shortest text that reads back as the same number.
void flo_format_number(double value, char text[32]);

// Each reads one item at the front of a text and returns the rest; NULL if the item is something else. If the
// text is NULL, the result is NULL, so that calls can be chained without tests.
const char *flo_csv_take(const char *text, char c);
const char *flo_csv_take_name(const char *text, const char *name); // as flo_csv_print_name writes it
const char *flo_csv_take_number(const char *text, double *value);

#endif
