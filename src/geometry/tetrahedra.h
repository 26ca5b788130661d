// Fills solids with tetrahedra, in the plane with triangles.
#ifndef FLO_GEOMETRY_TETRAHEDRA_H
#define FLO_GEOMETRY_TETRAHEDRA_H

#include "geometry/elements.h"
#include "geometry/solid.h"

// More elements than this are refused.
#define FLO_MOST_ELEMENTS 4e6

// Fills empty elements with the inside of a solid, one vertex for each cell^dim. Boxes, planes and sharp
// cards are cells of a grid that fits their faces. All other shapes are stuffed (stuffing.h). The result has
// the same bits in every call.
//
// A solid with parts that elements of this size cannot show is refused, and so is one with gaps that they
// would close. The message tells where that is, and which cell would do. If `may_refine`, that cell is used
// instead, and elements->cell tells its size.
//
// Refuses tanks, thin shapes, meshes with holes or without volume, meshes that are turned inside out or touch
// themselves, and cells that would give too many elements.
FloStatus flo_solid_fill(const FloSolid *solid, double cell, bool may_refine, FloElements *elements,
                         FloError *error);
// What can be said before: refuses solids that no cell could fill.
FloStatus flo_solid_check_fill(const FloSolid *solid, FloError *error);

#endif
