// Predicts from the scene alone what the pictures of a run will show. Pictures drawn during a run must have
// the same camera and colours as those at its end, which is not known yet.
#ifndef FLO_RENDER_OUTLOOK_H
#define FLO_RENDER_OUTLOOK_H

#include "render/render.h"

enum { FLO_OUTLOOK_MATERIALS = 16 }; // further ones have no name in legends

typedef struct FloOutlook {
  FloPictureView view;
  double speed, pressure;                            // [m/s], [Pa] expected maxima, without splashes
  double density_low, density_high;                  // [kg/m³]
  const char *material_names[FLO_OUTLOOK_MATERIALS]; // of the scene; NULL where not in use
  size_t n_materials;                                // number of materials to tell apart; below 2: none
} FloOutlook;

FloStatus flo_outlook_create(const FloScene *scene, FloOutlook *, FloError *);

// The range that the colours of a field ("speed", "vx", "z", ...) will probably need; 0..1 for an unknown
// one.
void flo_outlook_range(const FloOutlook *, const char *field, float *low, float *high);

// The box of a scene that repeats, as pictures need it.
FloRepeat flo_scene_repeat(const FloScene *scene);

#endif
