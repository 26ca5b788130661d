// From a snapshot to a picture: which particles to draw, what colours them, what is written below.
#include "app.h"
#include "base/core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Colour {
  const char *name, *label;
  float (*value)(const FloSnapshot *snapshot, size_t i);
} Colour;

static float speed_of(const FloSnapshot *snapshot, size_t i) {
  const float *v = snapshot->velocity + 3 * i;
  return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static float density_of(const FloSnapshot *snapshot, size_t i) { return snapshot->density[i]; }

static float pressure_of(const FloSnapshot *snapshot, size_t i) { return snapshot->pressure[i]; }

static float x_of(const FloSnapshot *snapshot, size_t i) { return snapshot->positions[3 * i]; }
static float y_of(const FloSnapshot *snapshot, size_t i) { return snapshot->positions[3 * i + 1]; }
static float z_of(const FloSnapshot *snapshot, size_t i) { return snapshot->positions[3 * i + 2]; }

static const Colour colours[] = {
    {"speed", "speed [m/s]", speed_of},
    {"density", "density [kg/m³]", density_of},
    {"pressure", "pressure [Pa]", pressure_of},
    {"x", "x [m]", x_of},
    {"y", "y [m]", y_of},
    {"z", "z [m]", z_of},
};

static const Colour *find_colour(const char *name) {
  for (size_t k = 0; k < FLO_COUNT_OF(colours); k++)
    if (strcmp(colours[k].name, name) == 0) return &colours[k];
  return NULL;
}

bool app_is_colour(const char *colour_by) { return find_colour(colour_by) != NULL; }

// Fluid, and the samples of bodies that ask for it: other solids are drawn as the shapes they are. Only
// particles that are somewhere: after a divergence some have left all bounds.
static bool is_drawn(const FloScene *scene, const FloSnapshot *snapshot, size_t i) {
  const float *x = snapshot->positions + 3 * i;
  bool is_sample =
      snapshot->body[i] < scene->n_bodies && !strcmp(scene->bodies[snapshot->body[i]].look, "samples");
  return (snapshot->type[i] == FLO_SET_FLUID || is_sample) && isfinite(x[0]) && isfinite(x[1]) &&
         isfinite(x[2]);
}

static size_t select_particles(const FloScene *scene, const FloSnapshot *snapshot, const Colour *colour,
                               float *positions, float *values) {
  size_t n = 0;
  for (size_t i = 0; i < snapshot->count; i++) {
    if (!is_drawn(scene, snapshot, i)) continue;
    float value = colour->value(snapshot, i);
    memcpy(positions + 3 * n, snapshot->positions + 3 * i, 3 * sizeof(float));
    values[n++] = isfinite(value) ? value : 0;
  }
  return n;
}

static FloStatus draw(const FloPictureInput *input, const AppPicture *picture, const char *path,
                      FloError *error) {
  FloPictureOptions options = flo_default_picture_options();
  if (picture->width > 0) options.width = picture->width;
  if (picture->height > 0) options.height = picture->height;
  options.threads = picture->threads;
  uint8_t *rgb = NULL;
  FLO_TRY(flo_render_picture(input, &options, &rgb, error));
  FloStatus status = flo_write_png(path, rgb, options.width, options.height, error);
  free(rgb);
  return status;
}

FloStatus app_draw(const FloScene *scene, const FloSnapshot *snapshot, const AppPicture *picture,
                   const char *path, FloError *error) {
  const Colour *colour = find_colour(picture->colour_by ? picture->colour_by : scene->colour_by);
  if (!colour) colour = &colours[0];
  char caption[256];
  snprintf(caption, sizeof caption, "%s   t = %.3f s", scene->title ? scene->title : scene->name,
           snapshot->time);
  FloPictureInput input = {.dim = scene->world.dim,
                           .up = scene->up,
                           .radius = (float)(0.5 * scene->world.spacing),
                           .value_label = colour->label,
                           .bodies = scene->bodies,
                           .n_bodies = scene->n_bodies,
                           .camera = scene->camera,
                           .caption = caption};
  float *positions = malloc((snapshot->count + 1) * 3 * sizeof *positions);
  float *values = malloc((snapshot->count + 1) * sizeof *values);
  FloStatus status = FLO_OK;
  if (!positions || !values) status = flo_fail(error, FLO_NO_MEMORY, "no memory for a picture");
  if (status == FLO_OK) {
    input.n_particles = select_particles(scene, snapshot, colour, positions, values);
    input.positions = positions;
    input.values = values;
    status = draw(&input, picture, path, error);
  }
  free(positions);
  free(values);
  return status;
}
