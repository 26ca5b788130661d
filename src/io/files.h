// Files and folders: whole files in and out, writing that never leaves half a file under the final name.
#ifndef FLO_IO_FILES_H
#define FLO_IO_FILES_H

#include "flotsam/flotsam.h"

#include <stdio.h>

#define FLO_PATH_SIZE 4096

// A file that appears under its name only when complete: written beside it under a temporary name, then
// renamed.
typedef struct FloNewFile {
  FILE *stream;
  char path[FLO_PATH_SIZE], temporary[FLO_PATH_SIZE];
} FloNewFile;

FloStatus flo_new_file_begin(FloNewFile *file, const char *path, FloError *error);
// Flushes, closes and renames; on any failure, also one of an earlier write, removes the temporary file
// instead.
FloStatus flo_new_file_finish(FloNewFile *file, FloError *error);
void flo_new_file_abandon(FloNewFile *file);

FloStatus flo_file_write(const char *path, const void *data, size_t size, FloError *error);
// The same, and it is on disk before an earlier file of that name goes: also a power cut leaves one or the
// other. So is its name when this returns.
FloStatus flo_file_write_durably(const char *path, const void *data, size_t size, FloError *error);
// Copies a file of any size, as durably. `hash` is what flo_file_hash told of `from`: a file that was changed
// since is not copied.
FloStatus flo_file_copy_durably(const char *from, const char *to, uint64_t hash, FloError *error);
// A number that tells files of different content apart (FNV-1a, 64 bits).
FloStatus flo_file_hash(const char *path, uint64_t *hash, FloError *error);
// Returns when what was written to a file, or the names in a folder, would survive a power cut.
// Of an open file; false: errno tells why. File systems that cannot do it are forgiven.
bool flo_descriptor_sync(int descriptor);
FloStatus flo_file_sync(const char *path, FloError *error);
FloStatus flo_folder_sync(const char *path, FloError *error);
// Reads a whole file; `data` is malloc'ed and ends with a zero byte that `size` does not count.
FloStatus flo_file_read(const char *path, char **data, size_t *size, FloError *error);
bool flo_file_exists(const char *path);

// A text file that grows by whole rows: what does not fit the disk leaves no part of itself. Nothing is held
// back in a buffer, so that a program that is killed leaves all rows before, and closing cannot fail.
typedef struct FloRowFile {
  bool is_open;
  int descriptor;
  uint64_t size; // bytes of the file that are complete rows
  char path[FLO_PATH_SIZE];
} FloRowFile;

// Starts an empty file; or, for a size greater than 0, cuts the one that is there off behind it and goes on.
FloStatus flo_row_file_open(FloRowFile *file, const char *path, uint64_t size, FloError *error);
FloStatus flo_row_file_add(FloRowFile *file, const char *rows, size_t length, FloError *error);
// Takes rows back: `size` bytes stay.
FloStatus flo_row_file_cut(FloRowFile *file, uint64_t size, FloError *error);
// May be called by another thread than the one that adds rows.
FloStatus flo_row_file_sync(const FloRowFile *file, FloError *error);
void flo_row_file_close(FloRowFile *file); // closed already is fine

// path = folder/name.
FloStatus flo_path_join(const char *folder, const char *name, char path[FLO_PATH_SIZE], FloError *error);
// Makes a folder and the folders it stands in; one that exists already is fine.
FloStatus flo_folder_make(const char *path, FloError *error);
// Calls `visit` with every name in a folder except "." and ".."; stops early when it fails.
FloStatus flo_folder_visit(const char *path,
                           FloStatus (*visit)(const char *name, void *context, FloError *error),
                           void *context, FloError *error);

#endif
