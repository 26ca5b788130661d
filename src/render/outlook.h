// What the pictures of a run will show, judged by its scene alone: pictures drawn on the way must not differ
// in camera and colours from those at the end, which nobody knows yet.
#ifndef FLO_RENDER_OUTLOOK_H
#define FLO_RENDER_OUTLOOK_H

#include "render/render.h"

enum { FLO_OUTLOOK_MATERIALS = 16 }; // further ones have no name in legends

typedef struct FloOutlook {
  FloPictureView view;
  double speed, pressure;           // [m/s], [Pa] what to expect at most, apart from splashes
  double density_low, density_high; // [kg/m³]
  const char *material_names[FLO_OUTLOOK_MATERIALS]; // of the scene; NULL where not in use
  size_t n_materials;                                // to be told apart; below 2: nothing
} FloOutlook;

FloStatus flo_outlook_create(const FloScene *scene, FloOutlook *, FloError *);

// The range that colours of a field ("speed", "vx", "z", ...) are likely to need; 0..1 for an unknown one.
void flo_outlook_range(const FloOutlook *, const char *field, float *low, float *high);

// The box of a scene that repeats, as pictures need it.
FloRepeat flo_scene_repeat(const FloScene *scene);

#endif
