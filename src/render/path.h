// Light along a ray through a scene of water, bodies and ground: a path tracer.
//
// At the surface of water and at shining bodies the path splits into a reflected part and a part that goes
// on; deeper in, it takes one of them at random. Matt surfaces receive the lamp, which is sampled directly,
// and one ray of sky. Light on its way to a matt surface passes water straight, tinted but not refracted.
// Refracted light would make caustics, which rays from the eye find so rarely that they appear as bright
// dots.
#ifndef FLO_RENDER_PATH_H
#define FLO_RENDER_PATH_H

#include "render/camera.h"
#include "render/daylight.h"
#include "render/dice.h"
#include "render/stuff.h"
#include "render/tracer.h"
#include "render/water.h"

typedef struct FloPathScene {
  const FloTracer *opaque; // bodies, and samples of bodies as balls
  const FloTracer *clear;  // surface and drops of the water
  const FloSolids *solids;
  const FloCloud *cloud;
  const FloStuff *stuffs; // of each body
  const V3 *ball_colours; // by tone of the cloud
  const FloWater *water;
  FloDaylight light;
  bool is_painted;     // water is opaque, in the colours of its tints
  bool paints_spray;   // only the drops that fly alone are opaque
  float scatter;       // share of its tint that deep water scatters by itself
  float gap;           // [m] width of the artificial gap of air between water and solids
  float skin;          // [m] distance from a surface at which its own rays begin
  int bounces;         // between matt surfaces
  int depth;           // largest number of mirrors and boundaries in a row
  float least_weight;  // a mirror or boundary with a smaller share of the pixel is not followed
  const FloLens *lens; // the ground has the colour of the page as this lens sees it; NULL: one colour
  V3 page_top, page_bottom;
  V3 ground_centre;    // the ground shows shadows around this point
  float ground_extent; // [m] shadows fade farther out
  bool is_eye_inside;  // the eye is in water, and all paths begin in it
  V3 eye_tint;         // of that water
} FloPathScene;

// The light along a ray, and features by which smoothing tells surfaces apart.
typedef struct FloPathLight {
  V3 colour;
  V3 albedo;   // of the first matt surfaces, seen through water and mirrors
  V3 normal;   // of the first surface; zero: nothing was hit
  float depth; // distance to it; INFINITY: nothing was hit
} FloPathLight;

// Finds out whether the eye is in water.
void flo_path_place_eye(FloPathScene *, V3 eye);
FloPathLight flo_path_light(const FloPathScene *, const FloRay *ray, FloDice *dice);

#endif
