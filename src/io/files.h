// Files and folders: reading whole files, and writing that never leaves an incomplete file under the final
// name.
#ifndef FLO_IO_FILES_H
#define FLO_IO_FILES_H

#include "flotsam/world.h"

#include <stdio.h>

#define FLO_PATH_SIZE 4096

// A file that is written under a temporary name and renamed when it is complete.
typedef struct FloNewFile {
  FILE *stream;
  char path[FLO_PATH_SIZE], temporary[FLO_PATH_SIZE];
} FloNewFile;

FloStatus flo_new_file_begin(FloNewFile *file, const char *path, FloError *error);
// Flushes, closes and renames. If anything fails, also an earlier write, the temporary file is removed.
FloStatus flo_new_file_finish(FloNewFile *file, FloError *error);
void flo_new_file_abandon(FloNewFile *file);

FloStatus flo_file_write(const char *path, const void *data, size_t size, FloError *error);
// The same, and the data is on disk before an earlier file of that name is replaced. So even after a power
// failure one of the two exists. When this returns, the new name is on disk too.
FloStatus flo_file_write_durably(const char *path, const void *data, size_t size, FloError *error);
// Copies a file of any size and syncs it to disk. `hash` is the result of flo_file_hash for `from`: if the
// file was changed since, the copy fails.
FloStatus flo_file_copy_durably(const char *from, const char *to, uint64_t hash, FloError *error);
// A hash of the file's content (FNV-1a, 64 bits).
FloStatus flo_file_hash(const char *path, uint64_t *hash, FloError *error);
// Returns when the data of a file, or the names in a folder, would survive a power failure.
// The same for an open file; false: errno has the reason. File systems that do not support it are no error.
bool flo_descriptor_sync(int descriptor);
FloStatus flo_file_sync(const char *path, FloError *error);
FloStatus flo_folder_sync(const char *path, FloError *error);
// Reads a whole file; `data` is malloc'ed and ends with a zero byte that `size` does not count.
FloStatus flo_file_read(const char *path, char **data, size_t *size, FloError *error);
bool flo_file_exists(const char *path);

// A text file that grows by whole rows. If the disk is full, no part of a row is kept. Rows are not buffered,
// so that a program that is killed leaves all earlier rows, and closing cannot fail.
typedef struct FloRowFile {
  bool is_open;
  int descriptor;
  uint64_t size; // bytes of the file that are complete rows
  char path[FLO_PATH_SIZE];
} FloRowFile;

// Starts an empty file. If the size is greater than 0, cuts the existing file to this size and continues it.
FloStatus flo_row_file_open(FloRowFile *file, const char *path, uint64_t size, FloError *error);
FloStatus flo_row_file_add(FloRowFile *file, const char *rows, size_t length, FloError *error);
// Removes rows: `size` bytes stay.
FloStatus flo_row_file_cut(FloRowFile *file, uint64_t size, FloError *error);
// May be called by another thread than the one that adds rows.
FloStatus flo_row_file_sync(const FloRowFile *file, FloError *error);
void flo_row_file_close(FloRowFile *file); // closed already is fine

// path = folder/name.
FloStatus flo_path_join(const char *folder, const char *name, char path[FLO_PATH_SIZE], FloError *error);
// Creates a folder and its parent folders; a folder that exists already is fine.
FloStatus flo_folder_make(const char *path, FloError *error);
// Calls `visit` with every name in a folder except "." and ".."; stops early when it fails.
FloStatus flo_folder_visit(const char *path,
                           FloStatus (*visit)(const char *name, void *context, FloError *error),
                           void *context, FloError *error);

#endif
