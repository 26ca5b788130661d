// An allocator that counts, checks every release against its allocation, and fails when told to.
#ifndef TEST_SUPPORT_ALLOCATOR_H
#define TEST_SUPPORT_ALLOCATOR_H

#include "base/core.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct CountingAllocator {
  size_t n_calls;      // of allocate, the failed ones included
  size_t n_blocks;     // held now
  size_t bytes, peak;  // held now, and at most
  size_t n_mismatches; // releases whose size was not the allocated one
  size_t fail_at;      // the call that returns NULL, counted from 1; 0: none
  bool fail_onwards;   // and all after it
  size_t byte_limit;   // allocations beyond it fail; 0: no limit
  bool is_poisoned;    // new memory is full of NaN, so that reading it unwritten shows
} CountingAllocator;

enum { COUNTING_HEADER = 64 };

static inline bool counting_refuses(const CountingAllocator *a, size_t size) {
  if (a->byte_limit && (size > a->byte_limit || a->bytes + size > a->byte_limit)) return true;
  return a->fail_at && (a->n_calls == a->fail_at || (a->fail_onwards && a->n_calls > a->fail_at));
}

static inline void *counting_allocate(void *context, size_t size) {
  CountingAllocator *a = context;
  a->n_calls++;
  if (counting_refuses(a, size) || size > SIZE_MAX / 2) return NULL;
  // Exactly as long as asked for, behind a header that remembers the size: the sanitizer sees an overrun.
  char *block = NULL;
  if (posix_memalign((void **)&block, 64, COUNTING_HEADER + size)) return NULL;
  *(size_t *)block = size;
  if (a->is_poisoned) memset(block + COUNTING_HEADER, 0xff, size);
  a->n_blocks++, a->bytes += size;
  if (a->bytes > a->peak) a->peak = a->bytes;
  return block + COUNTING_HEADER;
}

static inline void counting_release(void *context, void *memory, size_t size) {
  CountingAllocator *a = context;
  char *block = (char *)memory - COUNTING_HEADER;
  size_t allocated = *(size_t *)block;
  a->n_mismatches += size != allocated;
  a->n_blocks--, a->bytes -= allocated;
  free(block);
}

static inline FloAllocator counting_allocator(CountingAllocator *a) {
  return (FloAllocator){counting_allocate, counting_release, a};
}

#endif
