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
// other.
FloStatus flo_file_write_durably(const char *path, const void *data, size_t size, FloError *error);
// Reads a whole file; `data` is malloc'ed and ends with a zero byte that `size` does not count.
FloStatus flo_file_read(const char *path, char **data, size_t *size, FloError *error);
bool flo_file_exists(const char *path);

// path = folder/name.
FloStatus flo_path_join(const char *folder, const char *name, char path[FLO_PATH_SIZE], FloError *error);
// Makes a folder and the folders it stands in; one that exists already is fine.
FloStatus flo_folder_make(const char *path, FloError *error);
// Calls `visit` with every name in a folder except "." and ".."; stops early when it fails.
FloStatus flo_folder_visit(const char *path,
                           FloStatus (*visit)(const char *name, void *context, FloError *error),
                           void *context, FloError *error);

#endif
