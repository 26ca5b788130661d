// The machine that the measurements are about.
#ifndef FLO_BENCH_MACHINE_H
#define FLO_BENCH_MACHINE_H

#include <stddef.h>

typedef struct FloMachine {
  char cpu[128]; // the maker's name for it; "unknown" where the system does not tell
  int cores;     // that this process may use
  size_t l3_bytes, memory_bytes;
} FloMachine;

FloMachine flo_machine_describe(void);

#endif
