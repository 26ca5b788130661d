#include "bench/machine.h"

#include "base/core.h"
#include "base/parallel.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// The assumed cache size if the system does not provide it, as large as in common servers. If it is too
// large, the memory probe only takes longer.
#define UNKNOWN_L3 ((size_t)32 << 20)

// The value of a line "key   : value"; false for other lines.
static bool read_value(char *line, const char *key, char out[128]) {
  if (strncmp(line, key, strlen(key)) != 0) return false;
  const char *value = strchr(line, ':');
  if (!value) return false;
  line[strcspn(line, "\n")] = 0;
  snprintf(out, 128, "%s", value + 1 + strspn(value + 1, " \t"));
  return true;
}

static void find_cpu_name(char out[128]) {
  char line[1024];
  snprintf(out, 128, "unknown");
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (!file) return;
  while (fgets(line, sizeof line, file))
    if (read_value(line, "model name", out)) break;
  fclose(file);
}

// The cache that this machine can use. In a virtual machine the C library often reports the cache of the
// host.
static size_t find_l3_in_system(void) {
  unsigned long long size = 0;
  char unit = 0;
  FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
  if (!file) return 0;
  int n_read = fscanf(file, "%llu%c", &size, &unit);
  fclose(file);
  if (n_read < 1) return 0;
  return (size_t)size << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
}

static size_t find_l3_bytes(void) {
  size_t bytes = find_l3_in_system();
  if (bytes) return bytes;
#ifdef _SC_LEVEL3_CACHE_SIZE
  long reported = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (reported > 0) return (size_t)reported;
#endif
  return UNKNOWN_L3;
}

static size_t find_memory_bytes(void) {
  long pages = 0, page_size = sysconf(_SC_PAGESIZE);
#ifdef _SC_PHYS_PAGES
  pages = sysconf(_SC_PHYS_PAGES);
#endif
  return pages > 0 && page_size > 0 ? (size_t)pages * (size_t)page_size : SIZE_MAX;
}

FloMachine flo_machine_describe(void) {
  FloMachine machine = {
      .cores = flo_parallel_cores(), .l3_bytes = find_l3_bytes(), .memory_bytes = find_memory_bytes()};
  find_cpu_name(machine.cpu);
  return machine;
}
