// Fluid particles from a CSV file, to be put into a scene one by one.
//
// The first line names the columns. x and y are needed, in three dimensions z as well; vx, vy and vz are zero
// where they are missing. In two dimensions z and vz may be there, but must be 0. All other columns are
// ignored but two, which what `flotsam convert` prints has as well: where there is a column "type", only rows
// that say "fluid" are taken, and those of one material can be asked for by the column "material".
//
// Fields may stand between quotes, inside of which two quotes stand for one. Lines end with LF or CR LF;
// empty ones are skipped.
#ifndef FLO_IO_PARTICLE_FILE_H
#define FLO_IO_PARTICLE_FILE_H

#include "flotsam/flotsam.h"

typedef struct FloParticleFileOptions {
  int dim;
  size_t max_particles;
  const char *material; // only rows whose column "material" says this; NULL: all
} FloParticleFileOptions;

typedef struct FloParticleFile {
  size_t count;
  double *positions; // triples [m], to the bit what the file says
  float *velocities; // triples [m/s]
} FloParticleFile;

// Messages name the file, the line and the column. Release with flo_particle_file_free, also after a failure.
FloStatus flo_particle_file_read(const char *path, const FloParticleFileOptions *options,
                                 FloParticleFile *file, FloError *error);
// The same from memory; `name` stands for the path. Behind the text there must be a zero byte.
FloStatus flo_particle_file_parse(const char *name, const char *text, size_t size,
                                  const FloParticleFileOptions *options, FloParticleFile *file,
                                  FloError *error);
void flo_particle_file_free(FloParticleFile *file);

#endif
