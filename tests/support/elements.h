// What tests of elements share: a solid, its filling, and what must be true of any filling.
#ifndef TEST_SUPPORT_ELEMENTS_H
#define TEST_SUPPORT_ELEMENTS_H

#include "geometry/tetrahedra.h"
#include "support/geometry.h"

typedef struct Filling {
  Fixture fixture; // its mesh is the given one, or later the border
  FloSolid solid;
  FloElements elements;
} Filling;

static inline void filling_init(Filling *f, const FloShape *shape, int dim, double spacing) {
  FloError error;
  fixture_init(&f->fixture);
  assert_ok(flo_shape_check(shape, dim, &error), &error);
  assert_ok(flo_solid_init(&f->solid, shape, dim, spacing, 0.1, 1, &f->fixture.memory, &error), &error);
  flo_elements_init(&f->elements, dim, &f->fixture.memory);
}

static inline void filling_free(Filling *f) {
  flo_elements_free(&f->elements);
  flo_solid_free(&f->solid);
  fixture_free(&f->fixture);
}

// The triangles of a mesh as a shape can name them.
static inline FloTriangles triangles_of(const FloMesh *mesh) {
  return (FloTriangles){mesh->vertices.data, mesh->triangles.data, mesh->n_vertices, mesh->n_triangles};
}

static inline int compare_edges(const void *a, const void *b) {
  const uint32_t *p = a, *q = b;
  if (p[0] != q[0]) return p[0] < q[0] ? -1 : 1;
  return p[1] < q[1] ? -1 : p[1] > q[1];
}

// How many different edges the elements have.
static inline long long count_edges(const FloElements *e) {
  size_t n_corners = (size_t)e->dim + 1, n = 0;
  uint32_t(*edges)[2] = malloc((e->n_elements * 6 + 1) * sizeof *edges);
  for (size_t k = 0; k < e->n_elements; ++k)
    for (size_t i = 0; i < n_corners; ++i)
      for (size_t j = 0; j < i; ++j) {
        uint32_t a = flo_elements_corners(e, k)[i], b = flo_elements_corners(e, k)[j];
        edges[n][0] = a < b ? a : b, edges[n++][1] = a < b ? b : a;
      }
  qsort(edges, n, sizeof *edges, compare_edges);
  long long n_different = n > 0;
  for (size_t k = 1; k < n; ++k) n_different += compare_edges(edges[k], edges[k - 1]) != 0;
  free(edges);
  return n_different;
}

typedef struct FillingReport {
  double volume, least_volume;       // of all elements, and of the smallest [m³]
  double least_angle, largest_angle; // [degrees]
  long long euler;                   // vertices - edges + faces - tetrahedra
} FillingReport;

// Faces have one or two elements, and the two lie on different sides. Returns the number of faces.
static inline long long check_faces(const FloElements *e) {
  FloError error;
  FloBuffer buffer = {0};
  assert_ok(flo_elements_sort_faces(e, &buffer, &error), &error);
  const FloElementFace *faces = buffer.data;
  size_t n_faces = e->n_elements * (size_t)(e->dim + 1);
  long long n_different = 0;
  for (size_t first = 0, n; first < n_faces; first += n, ++n_different) {
    n = flo_elements_count_faces(faces, n_faces, first);
    assert_true(n <= 2);
    assert_true(n == 1 || faces[first].element != faces[first + 1].element);
    uint32_t a[3], b[3];
    if (n == 1) continue;
    flo_element_face(e, faces[first].element, faces[first].opposite, a);
    flo_element_face(e, faces[first + 1].element, faces[first + 1].opposite, b);
    // Seen from the other side the same corners run the other way round.
    int shift = 0;
    while (b[shift] != a[0]) ++shift;
    if (e->dim == 3)
      assert_true(b[(shift + 1) % 3] == a[2] && b[(shift + 2) % 3] == a[1]);
    else
      assert_true(b[0] == a[1] && b[1] == a[0]);
  }
  flo_buffer_free(e->memory, &buffer);
  return n_different;
}

// No element is turned over or flat, they fit together, and every vertex is used.
static inline FillingReport check_elements(const FloElements *e) {
  FillingReport r = {0, INFINITY, INFINITY, 0, 0};
  unsigned char *is_used = calloc(e->n_vertices + 1, 1);
  assert_true(e->n_elements > 0);
  for (size_t k = 0; k < e->n_elements; ++k) {
    double volume = flo_element_volume(e, k), least, largest;
    flo_element_angles(e, k, &least, &largest);
    assert_true(volume > 0);
    r.volume += volume, r.least_volume = fmin(r.least_volume, volume);
    r.least_angle = fmin(r.least_angle, least * 180 / FLO_PI);
    r.largest_angle = fmax(r.largest_angle, largest * 180 / FLO_PI);
    for (int c = 0; c <= e->dim; ++c) is_used[flo_elements_corners(e, k)[c]] = 1;
  }
  for (size_t k = 0; k < e->n_vertices; ++k) assert_true(is_used[k]);
  free(is_used);
  long long n_faces = check_faces(e), n_elements = (long long)e->n_elements;
  r.euler = (long long)e->n_vertices - count_edges(e) + (e->dim == 3 ? n_faces - n_elements : n_elements);
  return r;
}

#endif
