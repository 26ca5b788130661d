// Makes a picture of a frame: chooses the particles to draw, their colours and the caption.
#include "picture.h"
#include "tubes.h"

#include "base/core.h"
#include "io/scene_steps.h"
#include "io/suggest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Fields to colour by ----

typedef struct Colour {
  const char *name, *label;
  // NULL: each material has its own colour.
  float (*value)(const FloScene *scene, const FloFrame *frame, size_t i);
} Colour;

static float speed_of(const FloScene *scene, const FloFrame *frame, size_t i) {
  (void)scene;
  const float *v = frame->velocity + 3 * i;
  return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static float density_of(const FloScene *scene, const FloFrame *frame, size_t i) {
  (void)scene;
  return frame->density[i];
}

// In percent of the density at rest.
static float density_error_of(const FloScene *scene, const FloFrame *frame, size_t i) {
  const size_t material = frame->material[i];
  if (material >= scene->parts->n_materials) return 0;
  const double rest = scene->parts->materials[material].def.density;
  return (float)(100 * ((double)frame->density[i] / rest - 1));
}

static float pressure_of(const FloScene *scene, const FloFrame *frame, size_t i) {
  (void)scene;
  return frame->pressure[i];
}

static float x_of(const FloScene *scene, const FloFrame *frame, size_t i) {
  (void)scene;
  return frame->positions[3 * i];
}
static float y_of(const FloScene *scene, const FloFrame *frame, size_t i) {
  (void)scene;
  return frame->positions[3 * i + 1];
}
static float z_of(const FloScene *scene, const FloFrame *frame, size_t i) {
  (void)scene;
  return frame->positions[3 * i + 2];
}

static float vx_of(const FloScene *scene, const FloFrame *frame, size_t i) {
  (void)scene;
  return frame->velocity[3 * i];
}
static float vy_of(const FloScene *scene, const FloFrame *frame, size_t i) {
  (void)scene;
  return frame->velocity[3 * i + 1];
}
static float vz_of(const FloScene *scene, const FloFrame *frame, size_t i) {
  (void)scene;
  return frame->velocity[3 * i + 2];
}

static const Colour colours[] = {
    {"speed", "speed [m/s]", speed_of},
    {"density", "density [kg/m³]", density_of},
    {"density-error", "density error [%]", density_error_of},
    {"pressure", "pressure [Pa]", pressure_of},
    {"x", "x [m]", x_of},
    {"y", "y [m]", y_of},
    {"z", "z [m]", z_of},
    {"vx", "velocity x [m/s]", vx_of},
    {"vy", "velocity y [m/s]", vy_of},
    {"vz", "velocity z [m/s]", vz_of},
    {"material", NULL, NULL},
};

static const Colour *find_colour(const char *name) {
  for (size_t k = 0; k < FLO_COUNT_OF(colours); k++)
    if (strcmp(colours[k].name, name) == 0) return &colours[k];
  return NULL;
}

static const Colour *colour_of(const FloScene *scene, const AppPicture *picture) {
  const Colour *colour = find_colour(picture->colour_by ? picture->colour_by : scene->colour_by);
  return colour ? colour : &colours[0];
}

void app_list_colours(char text[160]) {
  size_t used = 0;
  text[0] = 0;
  for (size_t k = 0; k < FLO_COUNT_OF(colours) && used < 160; k++) {
    const char *gap = k == 0 ? "" : k + 1 < FLO_COUNT_OF(colours) ? ", " : " or ";
    used += (size_t)snprintf(text + used, 160 - used, "%s%s", gap, colours[k].name);
  }
}

bool app_check_colour(const char *command, const char *colour_by) {
  if (find_colour(colour_by)) return true;
  char list[160], buffer[128];
  FloSuggestion suggestion = flo_suggest_start(colour_by);
  for (size_t k = 0; k < FLO_COUNT_OF(colours); k++) flo_suggest_offer(&suggestion, colours[k].name);
  app_list_colours(list);
  app_fail(APP_BAD_INPUT, "%s: cannot colour by '%s'%s (choose %s)", command, colour_by,
           flo_suggest_text(&suggestion, buffer), list);
  return false;
}

// ---- Particles to draw ----

typedef struct Selection {
  size_t n;
  float *positions, *velocities, *values, *ages;
  uint16_t *materials;
} Selection;

// Draws fluid, and the samples of bodies that ask for it; other solids are drawn as shapes. Particles without
// a finite position, which exist after a divergence, are left out.
static bool is_drawn(const FloScene *scene, const FloFrame *frame, size_t i) {
  const float *x = frame->positions + 3 * i;
  bool is_sample = frame->body[i] < scene->n_bodies && !strcmp(scene->bodies[frame->body[i]].look, "samples");
  return (frame->type[i] == FLO_SET_FLUID || is_sample) && isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

// The age of a sample of a soft body as a share of the time since the start; -1 for other particles.
static float age_of(const FloScene *scene, const FloFrame *frame, const float *added, size_t i) {
  const size_t body = frame->body[i];
  if (!added || body >= scene->n_bodies || !flo_scene_is_soft(&scene->bodies[body])) return -1;
  return frame->time > 0 ? (float)(1 - (double)added[i] / frame->time) : 1;
}

static void release(Selection *s) {
  free(s->positions);
  free(s->velocities);
  free(s->values);
  free(s->ages);
  free(s->materials);
}

static FloStatus select_particles(const FloScene *scene, const FloFrame *frame, const Colour *colour,
                                  Selection *s, FloError *error) {
  size_t most = frame->count + 1;
  const float *added = flo_frame_extra(frame, FLO_FRAME_ADDED);
  *s = (Selection){.positions = malloc(most * 3 * sizeof *s->positions),
                   .velocities = malloc(most * 3 * sizeof *s->velocities),
                   .values = malloc(most * sizeof *s->values),
                   .ages = malloc(most * sizeof *s->ages),
                   .materials = malloc(most * sizeof *s->materials)};
  if (!s->positions || !s->velocities || !s->values || !s->ages || !s->materials) {
    release(s);
    return flo_fail(error, FLO_NO_MEMORY, "no memory for a picture of %zu particles", frame->count);
  }
  for (size_t i = 0; i < frame->count; i++) {
    if (!is_drawn(scene, frame, i)) continue;
    float value = colour->value ? colour->value(scene, frame, i) : 0;
    memcpy(s->positions + 3 * s->n, frame->positions + 3 * i, 3 * sizeof(float));
    memcpy(s->velocities + 3 * s->n, frame->velocity + 3 * i, 3 * sizeof(float));
    s->materials[s->n] = frame->material[i];
    s->ages[s->n] = age_of(scene, frame, added, i);
    s->values[s->n++] = isfinite(value) ? value : 0;
  }
  return FLO_OK;
}

// ---- The view of a run ----

FloStatus app_view_of_scene(const FloScene *scene, const AppPicture *picture, AppView *view,
                            FloError *error) {
  FLO_TRY(flo_outlook_create(scene, &view->outlook, error));
  flo_outlook_range(&view->outlook, colour_of(scene, picture)->name, &view->value_low, &view->value_high);
  return FLO_OK;
}

// Compression of the fluid in percent. Densities below rest density count as 0: particles of spray and at the
// surface have few neighbours, so their density is too low by tens of percent without being wrong. With them
// in the range, the rest of the fluid would have a single colour.
static float compression_of(const FloScene *scene, const FloFrame *frame, size_t i) {
  return fmaxf(0, density_error_of(scene, frame, i));
}

static bool is_density(const Colour *colour) {
  return colour->value == density_of || colour->value == density_error_of;
}

static void settle_density(const Colour *colour, const FloSurvey *survey, AppView *view) {
  float least = 0, most = 2; // percent, as in the expected range
  flo_survey_range(survey, FLO_MAP_WATER, &least, &most);
  view->value_low = -most, view->value_high = most;
  if (colour->value == density_error_of) return;
  view->value_low = (float)(view->outlook.density_low * (1 - 0.01 * (double)most));
  view->value_high = (float)(view->outlook.density_high * (1 + 0.01 * (double)most));
}

FloStatus app_survey_frame(const FloScene *scene, const FloFrame *frame, const AppPicture *picture,
                           FloSurvey *survey, FloError *error) {
  Selection s;
  Colour colour = *colour_of(scene, picture);
  if (is_density(&colour)) colour.value = compression_of;
  FLO_TRY(select_particles(scene, frame, &colour, &s, error));
  flo_survey_add(survey, s.positions, s.values, s.n);
  release(&s);
  return FLO_OK;
}

void app_view_settle(const FloScene *scene, const AppPicture *picture, const FloSurvey *survey,
                     AppView *view) {
  const Colour *colour = colour_of(scene, picture);
  FloColourMap map = flo_colour_map_for(colour->label);
  flo_survey_widen(survey, (float)(0.5 * scene->world.spacing), &view->outlook.view);
  if (is_density(colour))
    settle_density(colour, survey, view);
  else
    flo_survey_range(survey, map, &view->value_low, &view->value_high);
}

// ---- Drawing ----

static FloPictureOptions options_of(const AppPicture *picture) {
  FloPictureOptions options = flo_default_picture_options();
  if (picture->width > 0) options.width = picture->width;
  if (picture->height > 0) options.height = picture->height;
  options.threads = picture->threads;
  options.memory_limit = app_memory_limit();
  options.report = picture->report, options.context = picture->context;
  return options;
}

void app_picture_size(const AppPicture *picture, int *width, int *height) {
  FloPictureOptions options = options_of(picture);
  *width = options.width, *height = options.height;
}

static FloPictureInput describe(const FloScene *scene, const FloFrame *frame, const Colour *colour,
                                const AppView *view, const Selection *s) {
  return (FloPictureInput){.dim = scene->world.dim,
                           .up = scene->up,
                           .n_particles = s->n,
                           .positions = s->positions,
                           .values = colour->value ? s->values : NULL,
                           .ages = s->ages,
                           .radius = (float)(0.5 * scene->world.spacing),
                           .value_label = colour->label,
                           .value_low = view->value_low,
                           .value_high = view->value_high,
                           .materials = s->materials,
                           .material_names = view->outlook.material_names,
                           .n_materials = view->outlook.n_materials,
                           .bodies = scene->bodies,
                           .n_bodies = scene->n_bodies,
                           .placed = frame->bodies,
                           .repeat = flo_scene_repeat(scene),
                           .camera = scene->camera,
                           .view = view->outlook.view};
}

// Ropes, rods and springs are drawn as further bodies.
static FloStatus draw_all(const FloScene *scene, const FloFrame *frame, const AppExtras *extras,
                          FloPictureInput *input, const FloPictureOptions *options, uint8_t **rgb,
                          FloError *error) {
  AppTubes tubes;
  FLO_TRY(app_tubes_make(scene, frame, extras->acts, &tubes, error));
  if (tubes.bodies) input->bodies = tubes.bodies, input->placed = tubes.placed;
  input->n_bodies = tubes.n_bodies;
  FloStatus status = flo_render_picture(input, options, rgb, error);
  app_tubes_free(&tubes);
  return status;
}

FloStatus app_paint_with(const FloScene *scene, const FloFrame *frame, const AppPicture *picture,
                         const AppExtras *extras, uint8_t **rgb, FloError *error) {
  const Colour *colour = colour_of(scene, picture);
  const FloPictureOptions options = options_of(picture);
  AppView own;
  Selection s;
  if (!picture->view) FLO_TRY(app_view_of_scene(scene, picture, &own, error));
  FLO_TRY(select_particles(scene, frame, colour, &s, error));
  char caption[256];
  snprintf(caption, sizeof caption, "%s   t = %.3f s", scene->title ? scene->title : scene->name,
           frame->time);
  FloPictureInput input = describe(scene, frame, colour, picture->view ? picture->view : &own, &s);
  input.caption = picture->has_caption ? caption : NULL, input.walls = extras->walls;
  input.velocities = s.velocities, input.arrow_seconds = (float)extras->arrow_seconds;
  input.traces = extras->traces, input.n_traces = extras->n_traces;
  input.joints = extras->joints, input.n_joints = extras->n_joints;
  FloStatus status = draw_all(scene, frame, extras, &input, &options, rgb, error);
  release(&s);
  return status;
}

FloStatus app_draw_with(const FloScene *scene, const FloFrame *frame, const AppPicture *picture,
                        const AppExtras *extras, const char *path, FloError *error) {
  int width, height;
  uint8_t *rgb = NULL;
  app_picture_size(picture, &width, &height);
  FLO_TRY(app_paint_with(scene, frame, picture, extras, &rgb, error));
  FloStatus status = flo_write_png(path, rgb, width, height, error);
  free(rgb);
  return status;
}

FloStatus app_paint(const FloScene *scene, const FloFrame *frame, const AppPicture *picture, uint8_t **rgb,
                    FloError *error) {
  return app_paint_with(scene, frame, picture, &(AppExtras){0}, rgb, error);
}

FloStatus app_draw(const FloScene *scene, const FloFrame *frame, const AppPicture *picture, const char *path,
                   FloError *error) {
  return app_draw_with(scene, frame, picture, &(AppExtras){0}, path, error);
}
