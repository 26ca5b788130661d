// Where the meshes of a robot are. Robots mostly name them as package://NAME/PATH, and lie in a folder of the
// package NAME themselves, as in NAME/urdf/robot.urdf.
#include "base/core.h"
#include "io/files.h"
#include "io/urdf.h"

#include <stdio.h>
#include <string.h>

typedef struct Search {
  char *path;      // the place that is tried
  char tried[400]; // all places so far
} Search;

__attribute__((format(printf, 2, 3))) static bool try_place(Search *search, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(search->path, FLO_PATH_SIZE, format, arguments);
  va_end(arguments);
  if (length < FLO_PATH_SIZE && flo_file_exists(search->path)) return true;
  size_t used = strlen(search->tried);
  snprintf(search->tried + used, sizeof search->tried - used, "%s%s", used ? ", " : "", search->path);
  return false;
}

// The folders above a robot, from the nearest one upwards: one that has the package's name, or holds a folder
// of that name.
static bool find_in_package(Search *search, const char *robot, const char *name, const char *rest) {
  const size_t length = (size_t)(rest - name) - 1;
  const char *end = strrchr(robot, '/');
  while (end) {
    const char *folder = end;
    while (folder > robot && folder[-1] != '/') --folder;
    if ((size_t)(end - folder) == length && !strncmp(folder, name, length) &&
        try_place(search, "%.*s/%s", (int)(end - robot), robot, rest))
      return true;
    if (try_place(search, "%.*s/%s", (int)(end - robot), robot, name)) return true;
    end = folder > robot ? folder - 1 : NULL;
  }
  return false;
}

FloStatus flo_urdf_find_mesh(const FloUrdf *robot, const char *name, char *path, FloError *error) {
  const char *slash = strrchr(robot->path, '/'), *package = "package://", *rest = NULL;
  const int folder = slash ? (int)(slash - robot->path) + 1 : 0;
  Search search = {.path = path};
  if (!strncmp(name, "file://", 7)) name += 7;
  if (!strncmp(name, package, strlen(package))) name += strlen(package), rest = strchr(name, '/');
  if (rest && find_in_package(&search, robot->path, name, rest + 1)) return FLO_OK;
  if (rest) name = rest + 1;
  if (try_place(&search, "%.*s%s", name[0] == '/' ? 0 : folder, robot->path, name)) return FLO_OK;
  return flo_fail(error, FLO_BAD_INPUT,
                  "%s: the mesh '%s' was not found; tried %s; put it at one of these places", robot->path,
                  name, search.tried);
}
