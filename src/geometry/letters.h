// Solid letters: A to Z, 0 to 9, the hyphen and the space.
#ifndef FLO_GEOMETRY_LETTERS_H
#define FLO_GEOMETRY_LETTERS_H

#include "geometry/mesh.h"

// Adds a line of text. It stands in the x-y plane, reads along +x and is `depth` deep along z; the origin is
// in its middle. Capitals are `height` high. Strokes are `stroke` wide, between 1/25 and 1/5 of the height,
// and have round ends. Each glyph is one closed surface. If `is_hollow`, there is a second one inside, turned
// inwards, which leaves a shell a quarter of the stroke thick. Lower case becomes upper case. `fineness`: see
// solid_meshes.h.
FloStatus flo_mesh_letters(const char *text, double height, double depth, double stroke, bool is_hollow,
                           double fineness, FloMesh *mesh, FloError *error);

#endif
