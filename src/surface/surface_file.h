// Surfaces as files: PLY, OBJ and VTK polydata, each with normals and velocities where the format has room.
#ifndef FLO_SURFACE_SURFACE_FILE_H
#define FLO_SURFACE_SURFACE_FILE_H

#include "surface/surface.h"

typedef enum FloSurfaceFormat {
  FLO_SURFACE_PLY, // binary, little-endian: x y z nx ny nz vx vy vz, then triangles
  FLO_SURFACE_OBJ, // text: v, vn and f; the format knows no velocities
  FLO_SURFACE_VTP, // XML polydata with raw appended data: arrays "Normals" and "velocity"
  FLO_SURFACE_FORMAT_COUNT
} FloSurfaceFormat;

const char *flo_surface_format_name(FloSurfaceFormat format); // "ply", "obj", "vtp"
bool flo_surface_format_from_name(const char *name, FloSurfaceFormat *format);
// Writes a file that appears when it is complete. Coordinates are single precision, as those of frames.
FloStatus flo_surface_write(const char *path, FloSurfaceFormat format, const FloSurfaceMesh *surface,
                            double time, FloError *error);

#endif
