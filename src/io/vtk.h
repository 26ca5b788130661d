// Points with data arrays as VTK files that ParaView and other tools open; and the way back for our own
// files.
//
// The form is XML PolyData (.vtp) with raw appended data, 64-bit headers and zlib-compressed blocks.
#ifndef FLO_IO_VTK_H
#define FLO_IO_VTK_H

#include "flotsam/flotsam.h"

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
} FloVtkPoints;

FloStatus flo_vtk_write(const char *path, const FloVtkPoints *points, FloError *error);

// Reads a file that flo_vtk_write wrote; whatever else is in a file, no byte outside it is touched. Release
// with flo_vtk_free.
FloStatus flo_vtk_read(const char *path, FloVtkPoints *points, FloError *error);
void flo_vtk_free(FloVtkPoints *points);
// Whether such a file has the length that its head and the heads of its arrays call for; what the arrays hold
// is not looked at. False also where it cannot be read.
bool flo_vtk_is_whole(const char *path);
// NULL if there is no array of that name, type and number of components.
const void *flo_vtk_find(const FloVtkPoints *points, const char *name, FloVtkType type, int components);

// A collection (.pvd) that makes one film of several files; `names` are relative to it.
FloStatus flo_vtk_write_collection(const char *path, size_t n, const char *const *names, const double *times,
                                   FloError *error);

#endif
