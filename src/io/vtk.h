// Writes points and triangles with data arrays as VTK files for ParaView and other programs, and reads files
// that flotsam wrote.
//
// The format is XML PolyData (.vtp) with raw appended data, 64-bit headers and zlib-compressed blocks.
#ifndef FLO_IO_VTK_H
#define FLO_IO_VTK_H

#include "flotsam/world.h"

typedef enum FloVtkType {
  FLO_VTK_F32,
  FLO_VTK_F64,
  FLO_VTK_U8,
  FLO_VTK_U16,
  FLO_VTK_I32,
  FLO_VTK_U32,
  FLO_VTK_TYPE_COUNT
} FloVtkType;

enum { FLO_VTK_MAX_ARRAYS = 16 };

// One value per point, or a tuple of `components` values.
typedef struct FloVtkArray {
  char name[32];
  FloVtkType type;
  int components;
  void *data;
} FloVtkArray;

typedef struct FloVtkPoints {
  double time; // [s]
  size_t count;
  float *positions; // count triples
  FloVtkArray arrays[FLO_VTK_MAX_ARRAYS];
  size_t n_arrays;
  // Triangles between the points, three each; if the last two are the same, segments, all of them. NULL:
  // every point is a cell of its own.
  uint32_t *triangles;
  size_t n_triangles;
} FloVtkPoints;

FloStatus flo_vtk_write(const char *path, const FloVtkPoints *points, FloError *error);

// Reads a file that flo_vtk_write wrote. A damaged file is safe: no byte outside it is read. Release with
// flo_vtk_free.
FloStatus flo_vtk_read(const char *path, FloVtkPoints *points, FloError *error);
void flo_vtk_free(FloVtkPoints *points);
// Whether such a file has the length that its header and the headers of its arrays require; the contents are
// not checked. Also false if it cannot be read.
bool flo_vtk_is_whole(const char *path);
// NULL if there is no array of that name, type and number of components.
const void *flo_vtk_find(const FloVtkPoints *points, const char *name, FloVtkType type, int components);

// A collection (.pvd) that makes a time series of several files, each of `n_parts` files for each time;
// `names` are relative to it, those of one time behind each other.
FloStatus flo_vtk_write_collection(const char *path, size_t n, size_t n_parts, const char *const *names,
                                   const double *times, FloError *error);

#endif
