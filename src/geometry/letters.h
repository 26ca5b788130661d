// Solid letters: A to Z, 0 to 9, the hyphen and the space.
#ifndef FLO_GEOMETRY_LETTERS_H
#define FLO_GEOMETRY_LETTERS_H

#include "geometry/mesh.h"

// Adds a line of text that stands in the x-y plane, reads along +x and reaches `depth` along z, with the
// origin in its middle. Capitals are `height` high over all; strokes are `stroke` wide with round ends,
// between 1/25 and 1/5 of the height. Each glyph is one closed surface; if `is_hollow` there is another one,
// turned inwards, so that a shell of a quarter of the stroke remains. Lower case becomes upper case.
// `fineness`: see solid_meshes.h.
FloStatus flo_mesh_letters(const char *text, double height, double depth, double stroke, bool is_hollow,
                           double fineness, FloMesh *mesh, FloError *error);

#endif
