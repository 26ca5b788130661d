#include "io/files.h"

#include "base/core.h"
#include "base/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- Writing ----

FloStatus flo_new_file_begin(FloNewFile *file, const char *path, FloError *error) {
  // The process id is part of the name, so that two programs that write the same file have different
  // temporary files.
  int length = snprintf(file->temporary, sizeof file->temporary, "%s.%ld.tmp", path, (long)getpid());
  if (length < 0 || (size_t)length >= sizeof file->temporary)
    return flo_fail(error, FLO_BAD_INPUT, "%.200s...: path too long", path);
  // Renaming would replace a device, a pipe or a folder, so these are refused.
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
  // A full disk may be noticed in an earlier write, in the flush or in the close, so all three are checked.
  errno = 0;
  bool is_written = !ferror(file->stream) && fflush(file->stream) == 0;
  // A write that failed earlier fails again, and gives the reason.
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

// Some file systems do not support it, above all for folders. This is not an error.
bool flo_descriptor_sync(int descriptor) {
  return fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

static FloStatus write_whole(const char *path, const void *data, size_t size, bool is_durable,
                             FloError *error) {
  FloNewFile file;
  FLO_TRY(flo_new_file_begin(&file, path, error));
  bool is_written = fwrite(data, 1, size, file.stream) == size;
  if (is_written && is_durable)
    is_written = fflush(file.stream) == 0 && flo_descriptor_sync(fileno(file.stream));
  if (is_written) return flo_new_file_finish(&file, error);
  // A full disk is noticed here; closing the file would overwrite errno.
  int reason = errno;
  flo_new_file_abandon(&file);
  return flo_fail(error, FLO_IO_FAILED, "%s: cannot write: %s", path, strerror(reason));
}

FloStatus flo_file_write(const char *path, const void *data, size_t size, FloError *error) {
  return write_whole(path, data, size, false, error);
}

// ---- Durability ----

static FloStatus sync_path(const char *path, int flags, FloError *error) {
  int descriptor = open(path, flags | O_CLOEXEC);
  bool is_synced = descriptor >= 0 && flo_descriptor_sync(descriptor);
  int reason = errno;
  if (descriptor >= 0) close(descriptor);
  if (is_synced) return FLO_OK;
  return flo_fail(error, FLO_IO_FAILED, "%s: cannot be written to disk: %s", path, strerror(reason));
}

FloStatus flo_file_sync(const char *path, FloError *error) { return sync_path(path, O_RDONLY, error); }

FloStatus flo_folder_sync(const char *path, FloError *error) {
  return sync_path(path, O_RDONLY | O_DIRECTORY, error);
}

// Syncs the folder of a file that was just renamed.
static FloStatus sync_parent(const char *path, FloError *error) {
  char parent[FLO_PATH_SIZE];
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) : 0;
  snprintf(parent, sizeof parent, "%.*s", (int)length, path);
  return flo_folder_sync(length ? parent : slash ? "/" : ".", error);
}

FloStatus flo_file_write_durably(const char *path, const void *data, size_t size, FloError *error) {
  FLO_TRY(write_whole(path, data, size, true, error));
  return sync_parent(path, error);
}

// ---- Copying ----

// Reads a file to its end in pieces, and writes it to `copy` unless that is NULL.
static FloStatus pass_through(const char *path, FILE *copy, uint64_t *hash, FloError *error) {
  enum { PIECE = 1 << 16 };
  unsigned char piece[PIECE];
  FILE *stream = fopen(path, "rb");
  if (!stream) return flo_fail(error, FLO_IO_FAILED, "%s: cannot read: %s", path, strerror(errno));
  size_t n;
  uint64_t h = FLO_HASH_START;
  bool is_written = true;
  while (is_written && (n = fread(piece, 1, PIECE, stream)) > 0) {
    h = flo_hash_bytes(h, piece, n);
    if (copy) is_written = fwrite(piece, 1, n, copy) == n;
  }
  bool is_read = !ferror(stream);
  int reason = errno;
  fclose(stream);
  *hash = h;
  if (is_read) return FLO_OK; // write errors are reported when the copy is finished
  return flo_fail(error, FLO_IO_FAILED, "%s: cannot read: %s", path, strerror(reason));
}

FloStatus flo_file_hash(const char *path, uint64_t *hash, FloError *error) {
  return pass_through(path, NULL, hash, error);
}

FloStatus flo_file_copy_durably(const char *from, const char *to, uint64_t hash, FloError *error) {
  FloNewFile file;
  uint64_t found;
  FLO_TRY(flo_new_file_begin(&file, to, error));
  FloStatus status = pass_through(from, file.stream, &found, error);
  bool is_whole = status == FLO_OK && !ferror(file.stream) && fflush(file.stream) == 0;
  if (is_whole && found != hash)
    status = flo_fail(error, FLO_BAD_INPUT, "%s: was changed while it was being copied; start the run again",
                      from);
  if (is_whole && status == FLO_OK && !flo_descriptor_sync(fileno(file.stream)))
    status = flo_fail(error, FLO_IO_FAILED, "%s: cannot be written to disk: %s", to, strerror(errno));
  if (status != FLO_OK) return flo_new_file_abandon(&file), status;
  FLO_TRY(flo_new_file_finish(&file, error));
  return sync_parent(to, error);
}

// ---- Files that grow by rows ----

static FloStatus row_file_failed(const FloRowFile *file, int reason, FloError *error) {
  return flo_fail(error, FLO_IO_FAILED, "%s: cannot write: %s", file->path, strerror(reason));
}

FloStatus flo_row_file_open(FloRowFile *file, const char *path, uint64_t size, FloError *error) {
  *file = (FloRowFile){0};
  if (snprintf(file->path, sizeof file->path, "%s", path) >= (int)sizeof file->path)
    return flo_fail(error, FLO_BAD_INPUT, "%.200s...: path too long", path);
  file->descriptor = open(path, O_WRONLY | O_CLOEXEC | (size ? 0 : O_CREAT | O_TRUNC), 0666);
  if (file->descriptor < 0) return row_file_failed(file, errno, error);
  file->is_open = true;
  FloStatus status = flo_row_file_cut(file, size, error);
  if (status != FLO_OK) flo_row_file_close(file);
  return status;
}

FloStatus flo_row_file_cut(FloRowFile *file, uint64_t size, FloError *error) {
  // Rows may also go to devices and pipes, which cannot be cut.
  bool is_cut = ftruncate(file->descriptor, (off_t)size) == 0 || (errno == EINVAL && size == 0);
  if (is_cut) is_cut = lseek(file->descriptor, (off_t)size, SEEK_SET) >= 0 || errno == ESPIPE;
  if (!is_cut) return row_file_failed(file, errno, error);
  file->size = size;
  return FLO_OK;
}

FloStatus flo_row_file_add(FloRowFile *file, const char *rows, size_t length, FloError *error) {
  for (size_t done = 0; done < length;) {
    ssize_t n = write(file->descriptor, rows + done, length - done);
    if (n > 0) done += (size_t)n;
    if (n >= 0 || errno == EINTR) continue;
    int reason = errno;
    // If this fails too, the checkpoint still knows how much of the file is valid.
    flo_row_file_cut(file, file->size, NULL);
    return row_file_failed(file, reason, error);
  }
  file->size += length;
  return FLO_OK;
}

FloStatus flo_row_file_sync(const FloRowFile *file, FloError *error) {
  if (!file->is_open || flo_descriptor_sync(file->descriptor)) return FLO_OK;
  return flo_fail(error, FLO_IO_FAILED, "%s: cannot be written to disk: %s", file->path, strerror(errno));
}

void flo_row_file_close(FloRowFile *file) {
  if (file->is_open) close(file->descriptor);
  file->is_open = false;
}

// ---- Reading ----

// Reads until the end, so that pipes and growing files work too.
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
    return flo_fail(error, FLO_IO_FAILED, "%s: is a file, not a folder; name another folder", path);
  }
  return flo_fail(error, FLO_IO_FAILED, "%s: cannot create this folder: %s", path, strerror(reason));
}

FloStatus flo_folder_make(const char *path, FloError *error) {
  char part[FLO_PATH_SIZE];
  size_t length = strlen(path);
  if (length == 0) return flo_fail(error, FLO_BAD_INPUT, "the name of a folder is empty; give a name");
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
