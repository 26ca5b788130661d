// Light along a ray through a scene of water, bodies and ground: a path tracer.
//
// At the surface of water and at shining bodies the path splits into what is reflected and what goes on;
// deeper in, it takes either way by lot. Matt surfaces receive the lamp, sampled directly, and a ray's worth
// of sky. Light on its way to a matt surface passes water straight on, tinted but not bent: bent light would
// make caustics, which rays from the eye find by rare luck only, as bright dots.
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
  bool paints_spray;   // only the drops that fly alone are
  float scatter;       // share of a water's tint that it shows by itself where it is deep
  float gap;           // [m] air between water and what it lies against, which is not there in truth
  float skin;          // [m] how far from a surface its own rays begin
  int bounces;         // between matt surfaces
  int depth;           // of mirrors and boundaries in a row
  float least_weight;  // share of a pixel below which a mirror or boundary is not followed
  const FloLens *lens; // the ground has the page's colour as the lens sees it; NULL: one colour
  V3 page_top, page_bottom;
  V3 ground_centre;    // around which the ground shows shadows
  float ground_extent; // [m] they fade farther out
  bool is_eye_inside;  // water, in which all paths then begin
  V3 eye_tint;         // of that water
} FloPathScene;

// What a ray brings, and marks by which a smoothing pass tells surfaces apart.
typedef struct FloPathLight {
  V3 colour;
  V3 albedo;   // of the first matt surfaces, as they are seen through water and mirrors
  V3 normal;   // of the first surface; zero: nothing was hit
  float depth; // distance to it; INFINITY: nothing was hit
} FloPathLight;

// Finds out whether the eye is in water.
void flo_path_place_eye(FloPathScene *, V3 eye);
FloPathLight flo_path_light(const FloPathScene *, const FloRay *ray, FloDice *dice);

#endif
