// The particles of a frame, or the surfaces of its soft bodies, in formats that other programs read: CSV,
// legacy VTK, PLY. Triangles and segments between the points are written, too, except in CSV.
//
// Columns and properties have the same order in all of them: id, type, body, x, y, z, vx, vy, vz, density,
// pressure, then the other fields of the frame's file; components of vectors are named x, y, z.
#ifndef FLO_IO_EXPORT_H
#define FLO_IO_EXPORT_H

#include "io/vtk.h"

#include <stdio.h>

typedef enum FloExportFormat {
  FLO_EXPORT_CSV, // text; type, body and material as words, empty if there is none; floats with nine digits
  FLO_EXPORT_VTK, // legacy polydata, binary: every array of the frame unchanged, one vertex per particle
  FLO_EXPORT_PLY, // binary, little-endian: the columns as properties of the element "vertex"
  FLO_EXPORT_FORMAT_COUNT
} FloExportFormat;

// Names for the numbers in the arrays "body" and "material". Numbers without a name are written as numbers.
typedef struct FloExportNames {
  const char *const *bodies;
  size_t n_bodies;
  const char *const *materials;
  size_t n_materials;
} FloExportNames;

const char *flo_export_name(FloExportFormat format); // "csv", "vtk", "ply"
bool flo_export_from_name(const char *name, FloExportFormat *format);

// Writes all particles to a stream and stops at the first error of the stream. `path` is used in messages.
// `title` is written into the file's header, if the format has one.
FloStatus flo_export_write(FILE *stream, const char *path, FloExportFormat format, const FloVtkPoints *points,
                           const FloExportNames *names, const char *title, FloError *error);
// The same into a file that appears when it is complete.
FloStatus flo_export_file(const char *path, FloExportFormat format, const FloVtkPoints *points,
                          const FloExportNames *names, const char *title, FloError *error);

#endif
