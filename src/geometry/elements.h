// The inside of a body as elements: tetrahedra, or in the plane triangles.
#ifndef FLO_GEOMETRY_ELEMENTS_H
#define FLO_GEOMETRY_ELEMENTS_H

#include "geometry/mesh.h"

// Every element has dim + 1 corners and a positive volume. Triangles run counter-clockwise.
typedef struct FloElements {
  FloMemory *memory;
  int dim;
  FloBuffer vertices; // three doubles each [m]
  FloBuffer corners;  // dim + 1 vertex numbers for each element, uint32_t
  size_t n_vertices, n_elements;
  double solid_volume; // of the solid that they fill, which on curved surfaces is a little larger than theirs
                       // [m³]; in the plane its area
  bool is_grid;        // its vertices are those of a grid of boxes that fills a box
  double cell;         // the size of elements that they were made with: one vertex for each cell^dim [m]
} FloElements;

static inline double *flo_elements_vertex(const FloElements *elements, size_t k) {
  return (double *)elements->vertices.data + 3 * k;
}
static inline uint32_t *flo_elements_corners(const FloElements *elements, size_t k) {
  return (uint32_t *)elements->corners.data + (size_t)(elements->dim + 1) * k;
}

void flo_elements_init(FloElements *elements, int dim, FloMemory *memory);
void flo_elements_free(FloElements *elements);
// Forgets all elements and vertices, and keeps the memory.
void flo_elements_clear(FloElements *elements);
FloStatus flo_elements_add_vertex(FloElements *elements, const double point[3], uint32_t *index,
                                  FloError *error);
// The vertices must be there already. Two corners are exchanged if this makes the volume positive.
FloStatus flo_elements_add(FloElements *elements, const uint32_t *corners, FloError *error);

// Volume of one element, in the plane its area.
double flo_element_volume(const FloElements *elements, size_t k);
double flo_elements_volume(const FloElements *elements);
// The smallest and the largest angle between two faces of an element, in the plane between two sides [rad].
void flo_element_angles(const FloElements *elements, size_t k, double *least, double *largest);
// Weights of an element's corners that give the point. They sum up to one; outside of the element some are
// negative. In the plane the fourth is zero.
void flo_element_weights(const FloElements *elements, size_t k, const double point[3], double weights[4]);

// ---- Faces ----

// Vertices of the face opposite of a corner; they look outwards. In the plane the third is that of the
// second.
void flo_element_face(const FloElements *elements, size_t element, uint32_t opposite, uint32_t vertices[3]);

// A face of an element, in the plane a side.
typedef struct FloElementFace {
  uint32_t sorted[3]; // vertex numbers, rising; in the plane the third is that of the second
  uint32_t element;
  uint32_t opposite; // place of the corner that does not belong to the face
} FloElementFace;

// All faces of all elements. Equal faces stand together.
FloStatus flo_elements_sort_faces(const FloElements *elements, FloBuffer *faces, FloError *error);
// How many of the faces from `first` on are the same face.
size_t flo_elements_count_faces(const FloElementFace *faces, size_t n_faces, size_t first);
// Fills an empty mesh with the faces of one element only, which look outwards. Its vertices are those of the
// elements, with the same numbers. In the plane a side is a triangle whose second and third corner are the
// same. `owners` receives the element of each face, uint32_t.
FloStatus flo_elements_border(const FloElements *elements, FloMesh *border, FloBuffer *owners,
                              FloError *error);

// ---- Parts ----

// What holds together by common faces.
typedef struct FloElementParts {
  size_t count;
  double smallest[3]; // a point of the smallest part [m]
} FloElementParts;

// Drops parts whose volume is less than `volume`, but never the largest one. Vertices that no element uses
// are dropped, too. `parts` receives those that stay.
FloStatus flo_elements_drop_crumbs(FloElements *elements, double volume, FloElementParts *parts,
                                   FloError *error);

#endif
