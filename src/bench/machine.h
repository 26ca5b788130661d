// The machine on which the measurements are made.
#ifndef FLO_BENCH_MACHINE_H
#define FLO_BENCH_MACHINE_H

#include <stddef.h>

typedef struct FloMachine {
  char cpu[128]; // name of the processor; "unknown" if the system does not provide it
  int cores;     // that this process may use
  size_t l3_bytes, memory_bytes;
} FloMachine;

FloMachine flo_machine_describe(void);

#endif
