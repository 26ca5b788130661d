// Prints the lines of a report as a table for people.
#ifndef FLO_BENCH_TABLE_H
#define FLO_BENCH_TABLE_H

#include <jansson.h>
#include <stdio.h>

void flo_table_print(const json_t *line, FILE *stream);

#endif
