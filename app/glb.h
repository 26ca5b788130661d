// A run as glTF, for `flotsam convert --to glb`.
#ifndef FLO_APP_GLB_H
#define FLO_APP_GLB_H

#include "io/files.h"

typedef struct AppGlb {
  const char *folder; // of the run
  size_t first, end;  // frames of the motion: first <= frame < end; a single frame gives no motion
  bool has_surface;
  bool has_all_surfaces; // of all frames of the motion
  size_t surface;        // otherwise the frame whose fluid surface is added
} AppGlb;

// Writes a file that appears when it is complete; writes to standard output if `path` is NULL.
FloStatus app_write_glb(const AppGlb *glb, const char *path, FloError *error);

#endif
