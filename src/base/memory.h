// Memory of one world: every byte goes through its allocator and is counted.
#ifndef FLO_BASE_MEMORY_H
#define FLO_BASE_MEMORY_H

#include "base/core.h"

typedef struct FloMemory {
  FloAllocator allocator;
  size_t bytes; // held now
} FloMemory;

// A block that grows. Growing leaves spare room, so that a world soon stops allocating.
typedef struct FloBuffer {
  void *data;
  size_t capacity; // bytes
} FloBuffer;

void flo_memory_init(FloMemory *memory, const FloAllocator *allocator);
void *flo_memory_allocate(FloMemory *memory, size_t size);
void flo_memory_release(FloMemory *memory, void *block, size_t size);

// Makes room for `size` bytes; the first `keep` bytes survive.
FloStatus flo_buffer_reserve(FloMemory *memory, FloBuffer *buffer, size_t size, size_t keep, FloError *error);
// The same, keeping nothing: all bytes are zero whenever the buffer has grown.
FloStatus flo_buffer_reserve_zeros(FloMemory *memory, FloBuffer *buffer, size_t size, FloError *error);
void flo_buffer_free(FloMemory *memory, FloBuffer *buffer);
void flo_buffers_free(FloMemory *memory, FloBuffer *buffers, size_t n);

// A list that grows. A comment beside it names the type of its elements.
typedef struct FloList {
  FloBuffer buffer;
  size_t count;
} FloList;

#define FLO_LIST(list, type) ((type *)(list).buffer.data)

FloStatus flo_list_append(FloMemory *memory, FloList *list, const void *element, size_t size,
                          FloError *error);

#endif
