// Pictures of particles, coloured by a field: shaded spheres, tanks as outlines, other solids matt, a legend;
// as PNG.
#ifndef FLO_RENDER_RENDER_H
#define FLO_RENDER_RENDER_H

#include "io/scene.h"

#define FLO_MAX_PICTURE_SIDE 16384 // pixels

// Axes along which space repeats: what leaves the box on one side comes back on the other.
typedef struct FloRepeat {
  bool is_on[3];
  double low[3], high[3]; // [m] read where it is on
} FloRepeat;

// What all pictures of a run share, so that nothing jumps from one to the next.
typedef struct FloPictureView {
  bool is_set;            // otherwise a picture goes by what it shows
  double low[3], high[3]; // [m] the box that the automatic camera holds
  bool has_ground;
  double ground; // [m] its height along `up`
} FloPictureView;

// What to draw. Arrays belong to the caller; positions are n triples.
typedef struct FloPictureInput {
  int dim, up; // up: axis index
  size_t n_particles;
  const float *positions;
  const float *values;         // coloured by, one per particle; NULL: plain, a colour for each material
  float radius;                // [m] half the particles' spacing
  const char *value_label;     // e.g. "speed [m/s]"
  float value_low, value_high; // range of the colours; low >= high: from the values, see flo_value_range
  const uint16_t *materials;   // number of each particle's; NULL: all of the first
  const char *const *material_names; // for the legend; NULL where a material is not in use
  size_t n_materials;                // below 2 there is nothing to tell apart
  const FloSceneBody *bodies;        // shapes with their *current* poses in def.pose
  size_t n_bodies;
  FloRepeat repeat;
  FloCamera camera;
  FloPictureView view;
  const char *caption; // e.g. "Dam break   t = 0.42 s"; NULL: none
} FloPictureInput;

typedef struct FloPictureOptions {
  int width, height;
  int samples;         // rays per pixel along each axis: 1 draft, 2 good, 3 best
  int threads;         // 0: all cores; the pixels do not depend on it
  size_t memory_limit; // bytes the ray tracer may take for its search tree; 0: no limit
  // Called now and then, by the calling thread, with the share 0..1 that is done; NULL: not.
  void (*report)(void *context, double share);
  void *context;
} FloPictureOptions;

FloPictureOptions flo_default_picture_options(void); // 1280 x 720, 2 samples

// Draws into a malloc'ed RGB8 buffer of width*height*3 bytes.
FloStatus flo_render_picture(const FloPictureInput *, const FloPictureOptions *, uint8_t **rgb, FloError *);
// Writes atomically: a temporary file beside `path`, then rename.
FloStatus flo_write_png(const char *path, const uint8_t *rgb, int width, int height, FloError *);

#endif
