// The materials of bodies in pictures: wood with rings, brushed metal, mottled stone, plastic.
#ifndef FLO_RENDER_STUFF_H
#define FLO_RENDER_STUFF_H

#include "render/render.h"
#include "render/v3.h"

typedef enum FloStuffKind {
  FLO_STUFF_PLASTIC, // of one colour under a shine
  FLO_STUFF_MATT,    // of one colour
  FLO_STUFF_STONE,   // mottled
  FLO_STUFF_WOOD,    // rings about the body's longest axis
  FLO_STUFF_METAL,   // reflects in its own colour and has no matt part
} FloStuffKind;

typedef struct FloStuff {
  FloStuffKind kind;
  V3 colour;     // linear
  float shine;   // share of light that is reflected like by a mirror
  float alpha;   // width of the microfacets' slopes
  float size;    // of the body, its longest side [m]
  int grain;     // the axis of the rings
  uint32_t seed; // makes each piece of wood different
  V3 position;   // pose of the body: the pattern moves with it
  V3 turn;       // vector part of its quaternion
  float turn_w;
} FloStuff;

// By the body's look; where it has none, by its density: less than 800 kg/m³ is wood, more than 2500 is
// metal, whatever is between is plastic of the given colour. What does not move and has no look is matt.
FloStuff flo_stuff_of(const FloSceneBody *body, const FloPose *pose, const FloSubstance *substances,
                      V3 colour);

// Colour of the surface at a point of the world, linear; always between 0 and 1.
V3 flo_stuff_colour(const FloStuff *, V3 point);

#endif
