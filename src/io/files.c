#include "io/files.h"

#include "base/core.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- Writing ----

FloStatus flo_new_file_begin(FloNewFile *file, const char *path, FloError *error) {
  // The process number keeps two programs that write the same file from sharing one temporary.
  int length = snprintf(file->temporary, sizeof file->temporary, "%s.%ld.tmp", path, (long)getpid());
  if (length < 0 || (size_t)length >= sizeof file->temporary)
    return flo_fail(error, FLO_BAD_INPUT, "%.200s...: path too long", path);
  // Renaming onto a device, a pipe or a folder would replace it.
  struct stat there;
  if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
    return flo_fail(error, FLO_IO_FAILED, "%s: cannot write: %s; name another file", path,
                    S_ISDIR(there.st_mode) ? strerror(EISDIR) : "it is not an ordinary file");
  memcpy(file->path, path, strlen(path) + 1);
  file->stream = fopen(file->temporary, "wb");
  if (!file->stream) return flo_fail(error, FLO_IO_FAILED, "%s: cannot write: %s", path, strerror(errno));
  return FLO_OK;
}

void flo_new_file_abandon(FloNewFile *file) {
  if (!file->stream) return;
  fclose(file->stream);
  file->stream = NULL;
  remove(file->temporary);
}

FloStatus flo_new_file_finish(FloNewFile *file, FloError *error) {
  // A full disk may show in any earlier write, in the flush or in the close: look at all three.
  errno = 0;
  bool is_written = !ferror(file->stream) && fflush(file->stream) == 0;
  // What failed earlier fails again, and tells why.
  if (ferror(file->stream)) clearerr(file->stream), fputc(0, file->stream), fflush(file->stream);
  int reason = errno;
  if (fclose(file->stream) != 0 && is_written) is_written = false, reason = errno;
  file->stream = NULL;
  if (is_written && rename(file->temporary, file->path) == 0) return FLO_OK;
  if (is_written) reason = errno;
  remove(file->temporary);
  return flo_fail(error, FLO_IO_FAILED, "%s: cannot write: %s", file->path,
                  reason ? strerror(reason) : "an earlier write failed");
}

static FloStatus write_whole(const char *path, const void *data, size_t size, bool is_durable,
                             FloError *error) {
  FloNewFile file;
  FLO_TRY(flo_new_file_begin(&file, path, error));
  bool is_written = fwrite(data, 1, size, file.stream) == size;
  if (is_written && is_durable) is_written = fflush(file.stream) == 0 && fsync(fileno(file.stream)) == 0;
  if (is_written) return flo_new_file_finish(&file, error);
  // A full disk shows here; closing the file would overwrite errno.
  int reason = errno;
  flo_new_file_abandon(&file);
  return flo_fail(error, FLO_IO_FAILED, "%s: cannot write: %s", path, strerror(reason));
}

FloStatus flo_file_write(const char *path, const void *data, size_t size, FloError *error) {
  return write_whole(path, data, size, false, error);
}

FloStatus flo_file_write_durably(const char *path, const void *data, size_t size, FloError *error) {
  return write_whole(path, data, size, true, error);
}

// ---- Reading ----

// Reads until the end, so that pipes and files that grow are read as well as plain ones.
static FloStatus read_stream(FILE *stream, const char *path, char **data, size_t *size, FloError *error) {
  size_t capacity = 1 << 16, used = 0;
  char *buffer = malloc(capacity);
  while (buffer) {
    used += fread(buffer + used, 1, capacity - used - 1, stream);
    if (used < capacity - 1) break;
    capacity *= 2;
    char *larger = realloc(buffer, capacity);
    if (!larger) free(buffer);
    buffer = larger;
  }
  if (!buffer) return flo_fail(error, FLO_NO_MEMORY, "%s: too large to read", path);
  if (ferror(stream)) {
    free(buffer);
    return flo_fail(error, FLO_IO_FAILED, "%s: cannot read: %s", path, strerror(errno));
  }
  buffer[used] = 0;
  *data = buffer;
  *size = used;
  return FLO_OK;
}

FloStatus flo_file_read(const char *path, char **data, size_t *size, FloError *error) {
  FILE *stream = fopen(path, "rb");
  if (!stream) return flo_fail(error, FLO_IO_FAILED, "%s: cannot read: %s", path, strerror(errno));
  FloStatus status = read_stream(stream, path, data, size, error);
  fclose(stream);
  return status;
}

bool flo_file_exists(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

// ---- Folders ----

FloStatus flo_path_join(const char *folder, const char *name, char path[FLO_PATH_SIZE], FloError *error) {
  size_t length = strlen(folder);
  const char *separator = length > 0 && folder[length - 1] == '/' ? "" : "/";
  int written = snprintf(path, FLO_PATH_SIZE, "%s%s%s", folder, separator, name);
  if (written < 0 || written >= FLO_PATH_SIZE)
    return flo_fail(error, FLO_BAD_INPUT, "%.200s...: path too long", folder);
  return FLO_OK;
}

static FloStatus make_one(const char *path, FloError *error) {
  struct stat about;
  if (mkdir(path, 0777) == 0) return FLO_OK;
  int reason = errno;
  if (stat(path, &about) == 0) {
    if (S_ISDIR(about.st_mode)) return FLO_OK;
    return flo_fail(error, FLO_IO_FAILED, "%s: is a file, not a folder", path);
  }
  return flo_fail(error, FLO_IO_FAILED, "%s: cannot make this folder: %s", path, strerror(reason));
}

FloStatus flo_folder_make(const char *path, FloError *error) {
  char part[FLO_PATH_SIZE];
  size_t length = strlen(path);
  if (length == 0) return flo_fail(error, FLO_BAD_INPUT, "the name of a folder is empty");
  if (length >= sizeof part) return flo_fail(error, FLO_BAD_INPUT, "%.200s...: path too long", path);
  for (size_t i = 1; i <= length; i++) {
    if (path[i] != '/' && path[i] != 0) continue;
    memcpy(part, path, i);
    part[i] = 0;
    FLO_TRY(make_one(part, error));
  }
  return FLO_OK;
}

FloStatus flo_folder_visit(const char *path,
                           FloStatus (*visit)(const char *name, void *context, FloError *error),
                           void *context, FloError *error) {
  DIR *folder = opendir(path);
  if (!folder)
    return flo_fail(error, FLO_IO_FAILED, "%s: cannot read this folder: %s", path, strerror(errno));
  FloStatus status = FLO_OK;
  for (struct dirent *entry; status == FLO_OK && (entry = readdir(folder));)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      status = visit(entry->d_name, context, error);
  closedir(folder);
  return status;
}
