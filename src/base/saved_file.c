// A saved state as a block of bytes, and as a file.
//
//   "FLOSTATE", 1 as 32 bits (tells the byte order), number of arrays as 32 bits
//   for each array: name of 48 bytes, type and 0 as 32 bits each, count as 64 bits, its values
//   a hash over all bytes before it, 64 bits
#include "base/hash.h"
#include "base/saved.h"
#include "flotsam/query.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char mark[8] = {'F', 'L', 'O', 'S', 'T', 'A', 'T', 'E'};

typedef struct Head {
  char mark[8];
  uint32_t order, n_arrays;
} Head;

typedef struct ArrayHead {
  char name[48];
  uint32_t type, zero;
  uint64_t count;
} ArrayHead;

static size_t size_of(const FloStateArray *array) { return array->count * flo_type_size(array->type); }

// ---- To bytes ----

static size_t packed_size(const FloState *state) {
  size_t size = sizeof(Head) + sizeof(uint64_t);
  for (size_t k = 0; k < state->n_arrays; ++k) size += sizeof(ArrayHead) + size_of(&state->arrays[k]);
  return size;
}

static char *put(char *to, const void *from, size_t size) {
  if (size) memcpy(to, from, size);
  return to + size;
}

static char *put_array(char *to, const FloStateArray *array) {
  ArrayHead head = {.type = (uint32_t)array->type, .count = array->count};
  snprintf(head.name, sizeof head.name, "%s", array->name);
  return put(put(to, &head, sizeof head), array->buffer.data, size_of(array));
}

FloStatus flo_state_pack(const FloState *state, void *buffer, size_t capacity, size_t *size,
                         FloError *error) {
  if (!state || !size)
    return flo_fail(error, FLO_BAD_INPUT, "state: %s is NULL, but it is needed", state ? "size" : "state");
  *size = packed_size(state);
  if (!buffer) return FLO_OK;
  if (capacity < *size)
    return flo_fail(error, FLO_BAD_INPUT, "state: it needs %zu bytes, but there is room for %zu", *size,
                    capacity);
  Head head = {.order = 1, .n_arrays = (uint32_t)state->n_arrays};
  memcpy(head.mark, mark, sizeof mark);
  char *to = put(buffer, &head, sizeof head);
  for (size_t k = 0; k < state->n_arrays; ++k) to = put_array(to, &state->arrays[k]);
  const uint64_t hash = flo_hash_bytes(FLO_HASH_START, buffer, (size_t)(to - (char *)buffer));
  put(to, &hash, sizeof hash);
  return FLO_OK;
}

// ---- From bytes ----

typedef struct Bytes {
  const char *at;
  size_t left;
} Bytes;

static bool take(Bytes *bytes, void *to, size_t size) {
  if (size > bytes->left) return false;
  if (size) memcpy(to, bytes->at, size);
  bytes->at += size, bytes->left -= size;
  return true;
}

static FloStatus fail_damaged(FloError *error) {
  return flo_fail(error, FLO_BAD_INPUT,
                  "state: these bytes are no saved state, or are damaged; save it again");
}

static FloStatus take_array(Bytes *bytes, FloState *state, FloError *error) {
  ArrayHead head;
  void *data;
  if (!take(bytes, &head, sizeof head) || head.type > FLO_TYPE_U32 || !memchr(head.name, 0, sizeof head.name))
    return fail_damaged(error);
  const size_t width = flo_type_size((FloType)head.type);
  if (head.count > bytes->left / width) return fail_damaged(error);
  FLO_TRY(flo_state_add(state, head.name, (FloType)head.type, (size_t)head.count, &data, error));
  return take(bytes, data, (size_t)head.count * width) ? FLO_OK : fail_damaged(error);
}

static FloStatus take_all(Bytes *bytes, uint32_t n_arrays, FloState *state, FloError *error) {
  for (uint32_t k = 0; k < n_arrays; ++k) FLO_TRY(take_array(bytes, state, error));
  return bytes->left == sizeof(uint64_t) ? FLO_OK : fail_damaged(error);
}

static bool is_whole(const void *buffer, size_t size) {
  uint64_t hash;
  if (size < sizeof(Head) + sizeof hash) return false;
  memcpy(&hash, (const char *)buffer + size - sizeof hash, sizeof hash);
  return hash == flo_hash_bytes(FLO_HASH_START, buffer, size - sizeof hash);
}

FloStatus flo_state_unpack(const void *buffer, size_t size, FloState **out, FloError *error) {
  Bytes bytes = {buffer, size};
  Head head;
  if (!buffer || !out)
    return flo_fail(error, FLO_BAD_INPUT, "state: %s is NULL, but it is needed", out ? "buffer" : "state");
  *out = NULL;
  if (!is_whole(buffer, size) || !take(&bytes, &head, sizeof head)) return fail_damaged(error);
  if (memcmp(head.mark, mark, sizeof mark) != 0 || head.order != 1) return fail_damaged(error);
  FLO_TRY(flo_state_create(out, error));
  FloStatus status = take_all(&bytes, head.n_arrays, *out, error);
  if (status != FLO_OK) flo_state_destroy(*out), *out = NULL;
  return status;
}

// ---- Files ----

static FloStatus fail_file(const char *path, const char *what, FloError *error) {
  return flo_fail(error, FLO_IO_FAILED, "%s: cannot %s: %s", path, what, strerror(errno));
}

static FloStatus write_bytes(const char *path, const void *bytes, size_t size, FloError *error) {
  FILE *file = fopen(path, "wb");
  if (!file) return fail_file(path, "write", error);
  const bool is_written = fwrite(bytes, 1, size, file) == size;
  if (fclose(file) != 0 || !is_written) return fail_file(path, "write", error);
  return FLO_OK;
}

FloStatus flo_state_write(const FloState *state, const char *path, FloError *error) {
  size_t size;
  if (!path) return flo_fail(error, FLO_BAD_INPUT, "state: path is NULL, but it is needed");
  FLO_TRY(flo_state_pack(state, NULL, 0, &size, error));
  FloMemory memory;
  flo_memory_init(&memory, &(FloAllocator){0});
  void *bytes = flo_memory_allocate(&memory, size);
  if (!bytes) return flo_fail(error, FLO_NO_MEMORY, "%s: out of memory for %zu bytes", path, size);
  FloStatus status = flo_state_pack(state, bytes, size, &size, error);
  if (status == FLO_OK) status = write_bytes(path, bytes, size, error);
  flo_memory_release(&memory, bytes, size);
  return status;
}

// The size of an open file; false: it cannot be known.
static bool measure_file(FILE *file, size_t *size) {
  if (fseek(file, 0, SEEK_END) != 0) return false;
  const long end = ftell(file);
  if (end < 0 || fseek(file, 0, SEEK_SET) != 0) return false;
  *size = (size_t)end;
  return true;
}

static FloStatus read_bytes(const char *path, FILE *file, FloState **state, FloError *error) {
  size_t size;
  FloMemory memory;
  if (!measure_file(file, &size)) return fail_file(path, "read", error);
  flo_memory_init(&memory, &(FloAllocator){0});
  void *bytes = flo_memory_allocate(&memory, size + 1);
  if (!bytes) return flo_fail(error, FLO_NO_MEMORY, "%s: out of memory for %zu bytes", path, size);
  FloStatus status = fread(bytes, 1, size, file) == size ? flo_state_unpack(bytes, size, state, error)
                                                         : fail_file(path, "read", error);
  flo_memory_release(&memory, bytes, size + 1);
  return status;
}

FloStatus flo_state_read(const char *path, FloState **state, FloError *error) {
  if (!path || !state)
    return flo_fail(error, FLO_BAD_INPUT, "state: %s is NULL, but it is needed", path ? "state" : "path");
  *state = NULL;
  FILE *file = fopen(path, "rb");
  if (!file) return fail_file(path, "read", error);
  FloStatus status = read_bytes(path, file, state, error);
  fclose(file);
  return status;
}
