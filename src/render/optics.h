// Light at the surface of water and on its way through it.
#ifndef FLO_RENDER_OPTICS_H
#define FLO_RENDER_OPTICS_H

#include "render/v3.h"

#include <stdbool.h>

// Of water for yellow light, at 20 degrees.
#define FLO_WATER_INDEX 1.333f

// Share of unpolarised light that a smooth boundary reflects (Fresnel). `cosine` is that of the angle of
// incidence; `index` is that of the far side over that of the near side. It is one beyond the angle of total
// reflection.
float flo_fresnel(float cosine, float index);

// Direction behind the boundary by Snell's law. `direction` and `normal` have unit length; the normal points
// to the side the light comes from. False means total reflection.
bool flo_refract(V3 direction, V3 normal, float index, V3 *refracted);

V3 flo_mirror(V3 direction, V3 normal);

// Share of each colour left after `distance` metres (Beer, Lambert): `absorption` in 1/m.
V3 flo_beer(V3 absorption, float distance);
// The absorption that leaves `tint` after `distance` metres.
V3 flo_absorption_of(V3 tint, float distance);

// The reflection of microfacets towards the viewer for light from one direction: the distribution of
// Trowbridge and Reitz with the height-correlated shadowing of Smith, times the cosine at the light, without
// Fresnel's factor. The cosines are those of light, viewer and the direction halfway between them with the
// normal; `alpha` is the width.
float flo_microfacets(float light, float view, float middle, float alpha);

#endif
