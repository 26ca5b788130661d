// Writes surfaces as PLY, OBJ and VTK polydata, with normals and velocities where the format has them.
#ifndef FLO_SURFACE_SURFACE_FILE_H
#define FLO_SURFACE_SURFACE_FILE_H

#include "surface/surface.h"

typedef enum FloSurfaceFormat {
  FLO_SURFACE_PLY, // binary, little-endian: x y z nx ny nz vx vy vz, then triangles
  FLO_SURFACE_OBJ, // text: v, vn and f; the format has no velocities
  FLO_SURFACE_VTP, // XML polydata with raw appended data: arrays "Normals" and "velocity"
  FLO_SURFACE_FORMAT_COUNT
} FloSurfaceFormat;

const char *flo_surface_format_name(FloSurfaceFormat format); // "ply", "obj", "vtp"
bool flo_surface_format_from_name(const char *name, FloSurfaceFormat *format);
// Writes a file, which appears when it is complete. Coordinates are single precision, like those of frames.
FloStatus flo_surface_write(const char *path, FloSurfaceFormat format, const FloSurfaceMesh *surface,
                            double time, FloError *error);

#endif
