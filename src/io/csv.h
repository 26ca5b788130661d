// Names and numbers in lines with commas.
#ifndef FLO_IO_CSV_H
#define FLO_IO_CSV_H

#include <stdbool.h>
#include <stdio.h>

// A name with a comma or a quote in it is written between quotes, so that it does not shift the columns.
void flo_csv_print_name(FILE *stream, const char *name);
// The shortest text that reads back as the same number.
void flo_format_number(double value, char text[32]);

// Each takes one thing off the front of a text and returns what follows it; NULL if something else is there.
// NULL for a text gives NULL, so that calls can follow each other without a test in between.
const char *flo_csv_take(const char *text, char c);
const char *flo_csv_take_name(const char *text, const char *name); // as flo_csv_print_name writes it
const char *flo_csv_take_number(const char *text, double *value);

#endif
