// Pictures of a frame, as PNG, in one of two looks. `particles`: shaded spheres, coloured by a field, with a
// legend. `water`: the surface of the fluid, path traced, with bodies of wood, metal, stone or plastic. Tanks
// are drawn as outlines in both.
#ifndef FLO_RENDER_RENDER_H
#define FLO_RENDER_RENDER_H

#include "io/frame.h"

#define FLO_MAX_PICTURE_SIDE 16384 // pixels

// Axes along which space repeats: what leaves the box on one side enters on the other.
typedef struct FloRepeat {
  bool is_on[3];
  double low[3], high[3]; // [m] used only for axes that repeat
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
  FloLook look; // water is for fluid in space; in the plane particles are drawn instead
  FloQuality quality;
  bool keeps_noise;  // water: leave out the smoothing of the noise of rays
  bool shows_values; // water: the surface has the colours of the values, with their legend
  bool only_spray;   // only the drops that fly alone have the colours of values, all else stays water
  int flat; // in space: k or -k: parallel rays against or along axis k - 1 instead of the camera; 0: the
            // camera
  bool has_slice;  // particles, in space: draw the values on a plane instead of the fluid
  int slice_axis;  // its normal
  double slice_at; // [m] where it crosses that axis
  double aperture; // water: [m] width of the lens, which blurs what is not in focus; 0: everything is sharp
  double focus;    // [m] distance from the eye that is in focus; 0: the middle of what the camera shows
} FloStyle;

// The path of a body.
typedef struct FloTrace {
  size_t body;
  const float *points; // triples; the last one is its present position
  size_t n;
} FloTrace;

// The materials of the scene as pictures need them, by number.
enum { FLO_VIEW_MATERIALS = 16 }; // further ones look like the first
typedef struct FloSubstance {
  double density;   // [kg/m³] 0: unknown
  bool is_coloured; // the scene gives the fluid its colour
  float tint[3];    // colour of light after a long way through the fluid, linear; zeros: that of water
} FloSubstance;

// What all pictures of a run have in common, so that nothing jumps from one to the next.
typedef struct FloPictureView {
  FloStyle style;
  FloSubstance substances[FLO_VIEW_MATERIALS];
  bool is_set;            // otherwise each picture chooses its own
  double low[3], high[3]; // [m] the box that the automatic camera shows
  bool has_ground;
  double ground; // [m] its height along `up`
} FloPictureView;

// A joint in the pose of a frame: a dot at its point, and a line to its other end or along its axis.
typedef struct FloDrawnJoint {
  float point[3];
  float ends[2][3]; // of the line; both are the point if there is none
} FloDrawnJoint;

// What to draw. Arrays belong to the caller; positions are n triples.
typedef struct FloPictureInput {
  int dim, up; // up: axis index
  size_t n_particles;
  const float *positions;
  const float *values; // one value per particle for its colour; NULL: one colour for each material
  const float *ages; // of samples, as a share of the time since the start, see flo_age_colour; below 0: none.
                     // They replace the values. NULL: none has one
  const float *velocities; // triples [m/s]; NULL: no arrows
  float arrow_seconds;     // an arrow is as long as the way of this time; 0: no arrows
  const FloTrace *traces;  // traces to draw over the picture
  size_t n_traces;
  const FloDrawnJoint *joints; // joints to draw over the picture
  size_t n_joints;
  float radius;                // [m] half the particles' spacing
  const char *value_label;     // e.g. "speed [m/s]"
  float value_low, value_high; // range of the colours; low >= high: from the values, see flo_value_range
  const uint16_t *materials;   // material of each particle, by number; NULL: all have the first
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
  int samples; // particles: rays per pixel along each axis for a draft; one more for each better quality
  int threads; // 0: all cores; pixels do not depend on it
  size_t memory_limit; // bytes for a surface or for the ray tracer's search tree; 0: no limit
  // Called from time to time by the calling thread, with the share 0..1 that is done; may be NULL.
  void (*report)(void *context, double share);
  void *context;
} FloPictureOptions;

FloPictureOptions flo_default_picture_options(void); // 1280 x 720, 2 samples

// Draws into a buffer of width * height * 3 bytes (RGB8), which the caller frees.
FloStatus flo_render_picture(const FloPictureInput *, const FloPictureOptions *, uint8_t **rgb, FloError *);
// Writes atomically: a temporary file beside `path`, then rename.
FloStatus flo_write_png(const char *path, const uint8_t *rgb, int width, int height, FloError *);
// Reads a picture of exactly this size into a buffer, which the caller frees; any other size is refused.
FloStatus flo_read_png(const char *path, int width, int height, uint8_t **rgb, FloError *);

#endif
