// FNV-1a, 64 bits: a hash of bytes. Machines of the same byte order compute the same number.
#ifndef FLO_BASE_HASH_H
#define FLO_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define FLO_HASH_START 0xcbf29ce484222325u

static inline uint64_t flo_hash_bytes(uint64_t hash, const void *data, size_t size) {
  const unsigned char *bytes = data;
  for (size_t k = 0; k < size; ++k) hash = (hash ^ bytes[k]) * 0x100000001b3u;
  return hash;
}

#endif
