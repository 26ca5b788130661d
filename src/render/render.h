// Pictures of a frame, as PNG, in one of two looks. `particles`: shaded spheres, coloured by a field, with a
// legend. `water`: the fluid as its surface, path traced, between bodies of wood, metal, stone or plastic.
// Tanks are outlines in both.
#ifndef FLO_RENDER_RENDER_H
#define FLO_RENDER_RENDER_H

#include "io/frame.h"

#define FLO_MAX_PICTURE_SIDE 16384 // pixels

// Axes along which space repeats: what leaves the box on one side comes back on the other.
typedef struct FloRepeat {
  bool is_on[3];
  double low[3], high[3]; // [m] read where it is on
} FloRepeat;

typedef enum FloLook { FLO_LOOK_PARTICLES, FLO_LOOK_WATER, FLO_LOOK_COUNT } FloLook;
typedef enum FloQuality {
  FLO_QUALITY_DRAFT,
  FLO_QUALITY_GOOD,
  FLO_QUALITY_BEST,
  FLO_QUALITY_COUNT
} FloQuality;

const char *flo_look_name(FloLook look); // "particles", "water"
bool flo_look_from_name(const char *name, FloLook *look);
const char *flo_quality_name(FloQuality quality); // "draft", "good", "best"
bool flo_quality_from_name(const char *name, FloQuality *quality);

// How a picture is drawn. All zero: particles.
typedef struct FloStyle {
  FloLook look; // water is for fluid in space: in the plane particles are drawn instead
  FloQuality quality;
  bool keeps_noise;  // water: leave out the pass that smoothes what noise the rays have left
  bool shows_values; // water: the surface has the colours of the values, with their legend
  bool only_spray;   // and of these, the drops that fly alone: all else stays water
  int flat; // in space: k or -k: parallel rays against or along axis k - 1, instead of the camera; 0: neither
  bool has_slice;  // particles, in space: instead of the fluid the values on a plane are drawn
  int slice_axis;  // its normal
  double slice_at; // [m] where it crosses that axis
  double aperture; // water: [m] width of the lens: what is not in focus is blurred; 0: all is sharp
  double focus;    // [m] distance from the eye that is sharp; 0: the middle of what the camera holds
} FloStyle;

// The way that a body has come.
typedef struct FloTrace {
  size_t body;
  const float *points; // triples, the last one where it is now
  size_t n;
} FloTrace;

// What pictures know of the scene's substances, by number.
enum { FLO_VIEW_MATERIALS = 16 }; // further ones look like the first
typedef struct FloSubstance {
  double density; // [kg/m³] 0: unknown
  float tint[3];  // of light that has gone a good way through the fluid, linear; zeros: water's
} FloSubstance;

// What all pictures of a run share, so that nothing jumps from one to the next.
typedef struct FloPictureView {
  FloStyle style;
  FloSubstance substances[FLO_VIEW_MATERIALS];
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
  const float *values;     // coloured by, one per particle; NULL: plain, a colour for each material
  const float *velocities; // triples [m/s]; NULL: no arrows
  float arrow_seconds;     // an arrow shows the way of so much time; 0: no arrows
  const FloTrace *traces;  // to be drawn over the picture
  size_t n_traces;
  float radius;                // [m] half the particles' spacing
  const char *value_label;     // e.g. "speed [m/s]"
  float value_low, value_high; // range of the colours; low >= high: from the values, see flo_value_range
  const uint16_t *materials;   // number of each particle's; NULL: all of the first
  const char *const *material_names; // for the legend; NULL where a material is not in use
  size_t n_materials;                // below 2 there is nothing to tell apart
  const FloSceneBody *bodies;        // their shapes and looks
  size_t n_bodies;
  const FloFrameBody *placed;   // where they are; NULL: where the scene puts them
  const struct FloWalls *walls; // what the fluid's surface stays out of; NULL: made from the bodies
  FloRepeat repeat;
  FloCamera camera;
  FloPictureView view;
  const char *caption; // e.g. "Dam break   t = 0.42 s"; NULL: none
} FloPictureInput;

typedef struct FloPictureOptions {
  int width, height;
  int samples; // of particles: rays per pixel along each axis, for a draft; one more for each better quality
  int threads; // 0: all cores; the pixels do not depend on it
  size_t memory_limit; // bytes that a surface, or the ray tracer's search tree, may take; 0: no limit
  // Called now and then, by the calling thread, with the share 0..1 that is done; NULL: not.
  void (*report)(void *context, double share);
  void *context;
} FloPictureOptions;

FloPictureOptions flo_default_picture_options(void); // 1280 x 720, 2 samples

// Draws into a malloc'ed RGB8 buffer of width*height*3 bytes.
FloStatus flo_render_picture(const FloPictureInput *, const FloPictureOptions *, uint8_t **rgb, FloError *);
// Writes atomically: a temporary file beside `path`, then rename.
FloStatus flo_write_png(const char *path, const uint8_t *rgb, int width, int height, FloError *);
// Reads a picture of exactly this size into a malloc'ed buffer; anything else is bad input.
FloStatus flo_read_png(const char *path, int width, int height, uint8_t **rgb, FloError *);

#endif
