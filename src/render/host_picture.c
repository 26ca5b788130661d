// A picture of a world at the present moment, for programs.
#include "base/core.h"
#include "render/render.h"

#include <math.h>
#include <stdlib.h>

static float *find_speeds(const FloFrame *frame, size_t n) {
  float *speeds = malloc((n + 1) * sizeof *speeds);
  for (size_t i = 0; speeds && i < n; ++i) {
    const float *v = frame->velocity + 3 * i;
    speeds[i] = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  }
  return speeds;
}

static FloRepeat repeat_of(const FloWorldDef *def) {
  FloRepeat repeat = {0};
  for (int axis = 0; axis < 3; ++axis) {
    repeat.is_on[axis] = def->periodic[axis];
    repeat.low[axis] = def->domain_low[axis], repeat.high[axis] = def->domain_high[axis];
  }
  return repeat;
}

static FloPictureInput describe(const FloScene *scene, const FloFrame *frame, const FloPictureDef *def,
                                const float *speeds) {
  return (FloPictureInput){.dim = scene->world.dim,
                           .up = scene->up,
                           .n_particles = frame->counts[FLO_SET_FLUID],
                           .positions = frame->positions,
                           .values = speeds,
                           .radius = (float)(scene->world.spacing / 2),
                           .value_label = "speed [m/s]",
                           .materials = frame->material,
                           .bodies = scene->bodies,
                           .n_bodies = scene->n_bodies,
                           .placed = frame->bodies,
                           .repeat = repeat_of(&scene->world),
                           .camera = scene->camera,
                           .view.style = {.look = def->water ? FLO_LOOK_WATER : FLO_LOOK_PARTICLES,
                                          .quality = (FloQuality)def->quality}};
}

static FloStatus draw(const FloScene *scene, const FloFrame *frame, const FloPictureDef *def,
                      const char *path, FloError *error) {
  FloPictureOptions options = flo_default_picture_options();
  uint8_t *rgb = NULL;
  if (def->width) options.width = def->width;
  if (def->height) options.height = def->height;
  options.threads = scene->world.threads;
  float *speeds = find_speeds(frame, frame->counts[FLO_SET_FLUID]);
  if (!speeds) return flo_fail(error, FLO_NO_MEMORY, "%s: out of memory for a picture", path);
  const FloPictureInput input = describe(scene, frame, def, speeds);
  FloStatus status = flo_render_picture(&input, &options, &rgb, error);
  if (status == FLO_OK) status = flo_write_png(path, rgb, options.width, options.height, error);
  free(rgb);
  free(speeds);
  return status;
}

static FloStatus check(const FloScene *scene, const FloWorld *world, const FloPictureDef *def,
                       const char *path, FloError *error) {
  if (!scene || !world || !path)
    return flo_fail(error, FLO_BAD_INPUT, "%s: is NULL, but it is needed",
                    !scene   ? "scene"
                    : !world ? "world"
                             : "path");
  if (def->width < 0 || def->height < 0 || def->width > FLO_MAX_PICTURE_SIDE ||
      def->height > FLO_MAX_PICTURE_SIDE)
    return flo_fail(error, FLO_BAD_INPUT, "picture: its sides must have 0 to %d pixels, got %d x %d",
                    FLO_MAX_PICTURE_SIDE, def->width, def->height);
  if (def->quality < 0 || def->quality >= FLO_QUALITY_COUNT)
    return flo_fail(error, FLO_BAD_INPUT, "picture: its quality must lie between 0 and %d, got %d",
                    FLO_QUALITY_COUNT - 1, def->quality);
  return FLO_OK;
}

FloStatus flo_scene_draw(const FloScene *scene, FloWorld *world, const FloPictureDef *wish, const char *path,
                         FloError *error) {
  static const FloPictureDef usual = {.quality = 1};
  const FloPictureDef *def = wish ? wish : &usual;
  FLO_TRY(check(scene, world, def, path, error));
  FloFrame frame;
  FLO_TRY(flo_frame_take(scene, world, 0, FLO_FRAME_PICTURE, &frame, error));
  FloStatus status = draw(scene, &frame, def, path, error);
  flo_frame_free(&frame);
  return status;
}
