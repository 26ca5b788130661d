// Writing a whole file at once, so that a reader never meets half of it.
#ifndef FLO_RENDER_FILE_H
#define FLO_RENDER_FILE_H

#include "flotsam/flotsam.h"

// On failure `path` is as it was, nothing is left behind, and the text names the reason of the very write
// that failed.
FloStatus flo_write_file(const char *path, const void *bytes, size_t size, FloError *error);

#endif
