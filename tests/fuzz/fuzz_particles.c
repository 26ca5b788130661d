// Any bytes as a file of particles: it is read or refused with a message, what was read makes sense, and
// written down again it comes back to the last bit.
//
//   clang -fsanitize=fuzzer,address,undefined ... fuzz_particles.c; ./fuzz_particles -dict=particles.dict
//   corpus/particles
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/particle_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_PARTICLES = 1000, ROW_SIZE = 160 };

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  abort();
}

static void check_values(const FloParticleFile *file, int dim) {
  if (file->count == 0 || file->count > MAX_PARTICLES) fail("a count that is not permitted");
  for (size_t k = 0; k < 3 * file->count; k++) {
    if (!isfinite(file->positions[k]) || !isfinite(file->velocities[k])) fail("a number that is not finite");
    bool leaves_plane = dim == 2 && k % 3 == 2 && (file->positions[k] != 0 || file->velocities[k] != 0);
    if (leaves_plane) fail("a particle out of the plane");
  }
}

static size_t print_row(char *text, const double x[3], const float v[3]) {
  return (size_t)snprintf(text, ROW_SIZE, "%.17g,%.17g,%.17g,%.9g,%.9g,%.9g\n", x[0], x[1], x[2],
                          (double)v[0], (double)v[1], (double)v[2]);
}

static void read_again(const FloParticleFile *file, const FloParticleFileOptions *options) {
  static const char head[] = "x,y,z,vx,vy,vz\n";
  FloParticleFileOptions all = {.dim = options->dim, .max_particles = MAX_PARTICLES};
  FloParticleFile again;
  FloError error;
  char *text = malloc(sizeof head + ROW_SIZE * file->count);
  if (!text) return;
  size_t used = strlen(strcpy(text, head)), n = 3 * file->count;
  for (size_t k = 0; k < n; k += 3) used += print_row(text + used, file->positions + k, file->velocities + k);
  if (flo_particle_file_parse("again", text, used, &all, &again, &error) != FLO_OK) fail(error.text);
  if (again.count != file->count || memcmp(again.positions, file->positions, n * sizeof(double)) != 0 ||
      memcmp(again.velocities, file->velocities, n * sizeof(float)) != 0)
    fail("other particles when read again");
  flo_particle_file_free(&again);
  free(text);
}

static void try_with(const char *text, size_t size, FloParticleFileOptions options) {
  FloParticleFile file;
  FloError error = {0};
  if (flo_particle_file_parse("input", text, size, &options, &file, &error) == FLO_OK) {
    check_values(&file, options.dim);
    read_again(&file, &options);
  } else if (strncmp(error.text, "input: ", 7) != 0 || strlen(error.text) < 12) {
    fail("a failure without a message");
  }
  flo_particle_file_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = 0;
  for (int dim = 2; dim <= 3; dim++) {
    try_with(text, size, (FloParticleFileOptions){.dim = dim, .max_particles = MAX_PARTICLES});
    try_with(text, size,
             (FloParticleFileOptions){.dim = dim, .max_particles = MAX_PARTICLES, .material = "water"});
  }
  free(text);
  return 0;
}
