#include "render/file.h"

#include "base/core.h"
#include "io/files.h"

#include <errno.h>
#include <string.h>

FloStatus flo_write_file(const char *path, const void *bytes, size_t size, FloError *error) {
  FloNewFile file;
  FLO_TRY(flo_new_file_begin(&file, path, error));
  if (fwrite(bytes, 1, size, file.stream) == size) return flo_new_file_finish(&file, error);
  // A full disk shows here; closing the file would overwrite errno.
  int reason = errno;
  flo_new_file_abandon(&file);
  return flo_fail(error, FLO_IO_FAILED, "%s: cannot write: %s", path, strerror(reason));
}
