#define _DEFAULT_SOURCE // madvise
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CACHE_LINE = 64, HUGE_PAGE = 2 << 20 };

// Blocks start at different places of their first page. If all started at the same place, element i of every
// array would fall into the same few cache lines. A loop over a dozen arrays would then evict each line
// before it is used up.
static size_t next_shift(void) {
  static _Atomic unsigned n_blocks;
  return (size_t)(n_blocks++ % 32) * (4096 + 2 * CACHE_LINE);
}

// Large blocks are aligned to and backed by huge pages: a sweep touches hundreds of megabytes, and with small
// pages it spends a good part of its time in TLB misses.
static void *default_allocate(void *context, size_t size) {
  (void)context;
  if (size > SIZE_MAX / 2) return NULL;
  if (size < HUGE_PAGE) return aligned_alloc(CACHE_LINE, (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
  size_t shift = next_shift(), whole = (size + shift + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  char *pages = aligned_alloc(HUGE_PAGE, whole);
  if (!pages) return NULL;
  (void)madvise(pages, size + shift, MADV_HUGEPAGE);
  return pages + shift;
}

static void default_release(void *context, void *block, size_t size) {
  (void)context;
  // A shift is shorter than a huge page, so the allocation began where the page of the block begins.
  free(size < HUGE_PAGE ? block : (char *)block - (uintptr_t)block % HUGE_PAGE);
}

void flo_memory_init(FloMemory *memory, const FloAllocator *allocator) {
  bool is_custom = allocator && allocator->allocate && allocator->release;
  *memory = (FloMemory){.allocator =
                            is_custom ? *allocator : (FloAllocator){default_allocate, default_release, NULL}};
}

void *flo_memory_allocate(FloMemory *memory, size_t size) {
  void *block = memory->allocator.allocate(memory->allocator.context, size ? size : 1);
  if (block) memory->bytes += size;
  return block;
}

void flo_memory_release(FloMemory *memory, void *block, size_t size) {
  if (!block) return;
  memory->bytes -= size;
  memory->allocator.release(memory->allocator.context, block, size);
}

FloStatus flo_buffer_reserve(FloMemory *memory, FloBuffer *buffer, size_t size, size_t keep,
                             FloError *error) {
  if (size <= buffer->capacity) return FLO_OK;
  if (size > SIZE_MAX / 4)
    return flo_fail(error, FLO_NO_MEMORY, "out of memory: %zu bytes were asked for", size);
  // The first request gets just its size, because most buffers never grow. Later ones get an eighth more.
  size_t capacity = buffer->capacity ? size + size / 8 : size;
  capacity = (capacity + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  // With nothing to keep, the old block is freed first: the peak is then the new size and not the sum.
  if (!keep) flo_buffer_free(memory, buffer);
  void *data = flo_memory_allocate(memory, capacity);
  if (!data) return flo_fail(error, FLO_NO_MEMORY, "out of memory: %zu bytes more were needed", capacity);
  if (keep) {
    memcpy(data, buffer->data, keep);
    flo_memory_release(memory, buffer->data, buffer->capacity);
  }
  *buffer = (FloBuffer){data, capacity};
  return FLO_OK;
}

FloStatus flo_buffer_reserve_zeros(FloMemory *memory, FloBuffer *buffer, size_t size, FloError *error) {
  if (size <= buffer->capacity) return FLO_OK;
  FLO_TRY(flo_buffer_reserve(memory, buffer, size, 0, error));
  memset(buffer->data, 0, buffer->capacity);
  return FLO_OK;
}

void flo_buffer_free(FloMemory *memory, FloBuffer *buffer) {
  flo_memory_release(memory, buffer->data, buffer->capacity);
  *buffer = (FloBuffer){0};
}

void flo_buffers_free(FloMemory *memory, FloBuffer *buffers, size_t n) {
  for (size_t k = 0; k < n; ++k) flo_buffer_free(memory, &buffers[k]);
}

FloStatus flo_list_append(FloMemory *memory, FloList *list, const void *element, size_t size,
                          FloError *error) {
  FLO_TRY(flo_buffer_reserve(memory, &list->buffer, (list->count + 1) * size, list->count * size, error));
  memcpy((char *)list->buffer.data + list->count++ * size, element, size);
  return FLO_OK;
}
