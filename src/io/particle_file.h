// Reads fluid particles from a CSV file.
//
// The first line names the columns. x and y are required, in 3D also z. vx, vy and vz are zero if they are
// missing. In 2D z and vz may exist, but must be 0. Two more columns, which `flotsam convert` writes, are
// used: if there is a column "type", only rows with "fluid" are read; with the column "material", rows of one
// material can be selected. All other columns are ignored.
//
// Fields may be quoted; inside quotes, two quotes mean one. Lines end with LF or CR LF; empty lines are
// skipped.
#ifndef FLO_IO_PARTICLE_FILE_H
#define FLO_IO_PARTICLE_FILE_H

#include "flotsam/world.h"

typedef struct FloParticleFileOptions {
  int dim;
  size_t max_particles;
  const char *material; // only rows with this text in the column "material"; NULL: all
} FloParticleFileOptions;

typedef struct FloParticleFile {
  size_t count;
  double *positions; // triples [m], exactly the values of the file
  float *velocities; // triples [m/s]
} FloParticleFile;

// Messages name the file, the line and the column. Release with flo_particle_file_free, also after a failure.
FloStatus flo_particle_file_read(const char *path, const FloParticleFileOptions *options,
                                 FloParticleFile *file, FloError *error);
// The same from memory; `name` is used as the path. A zero byte must follow the text.
FloStatus flo_particle_file_parse(const char *name, const char *text, size_t size,
                                  const FloParticleFileOptions *options, FloParticleFile *file,
                                  FloError *error);
void flo_particle_file_free(FloParticleFile *file);

#endif
