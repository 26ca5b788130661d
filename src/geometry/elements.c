// The container, and what can be asked about a single element.
#include "geometry/elements.h"

#include "base/vecmath.h"

#include <math.h>
#include <string.h>

void flo_elements_init(FloElements *elements, int dim, FloMemory *memory) {
  *elements = (FloElements){.memory = memory, .dim = dim};
}

void flo_elements_clear(FloElements *elements) { elements->n_vertices = elements->n_elements = 0; }

void flo_elements_free(FloElements *elements) {
  flo_buffer_free(elements->memory, &elements->vertices);
  flo_buffer_free(elements->memory, &elements->corners);
  flo_elements_clear(elements);
}

// Capacity grows by half, so that adding one at a time costs little.
static FloStatus make_room(FloMemory *memory, FloBuffer *buffer, size_t count, size_t size, FloError *error) {
  if (count + 1 >= UINT32_MAX / 4)
    return flo_fail(error, FLO_BAD_INPUT, "elements: more than %u", UINT32_MAX / 4);
  if ((count + 1) * size <= buffer->capacity) return FLO_OK;
  return flo_buffer_reserve(memory, buffer, (count + count / 2 + 64) * size, count * size, error);
}

FloStatus flo_elements_add_vertex(FloElements *elements, const double point[3], uint32_t *index,
                                  FloError *error) {
  FLO_TRY(make_room(elements->memory, &elements->vertices, elements->n_vertices, 3 * sizeof(double), error));
  vec_copy(point, flo_elements_vertex(elements, elements->n_vertices));
  if (index) *index = (uint32_t)elements->n_vertices;
  ++elements->n_vertices;
  return FLO_OK;
}

FloStatus flo_elements_add(FloElements *elements, const uint32_t *corners, FloError *error) {
  size_t n_corners = (size_t)elements->dim + 1, size = n_corners * sizeof(uint32_t);
  for (size_t k = 0; k < n_corners; ++k) FLO_ASSERT(corners[k] < elements->n_vertices);
  FLO_TRY(make_room(elements->memory, &elements->corners, elements->n_elements, size, error));
  uint32_t *own = flo_elements_corners(elements, elements->n_elements);
  memcpy(own, corners, size);
  if (flo_element_volume(elements, elements->n_elements++) < 0) {
    own[0] = corners[1];
    own[1] = corners[0];
  }
  return FLO_OK;
}

// ---- Measures ----

static const double *corner_of(const FloElements *elements, size_t k, int corner) {
  return flo_elements_vertex(elements, flo_elements_corners(elements, k)[corner]);
}

// Six times the volume of the tetrahedron, or twice the area of the triangle, with one corner replaced by a
// point
// (-1: none).
static double determinant(const FloElements *elements, size_t k, int replaced, const double point[3]) {
  double ways[3][3] = {{0}, {0}, {0, 0, 1}}, normal[3];
  const double *first = replaced == 0 ? point : corner_of(elements, k, 0);
  for (int corner = 1; corner <= elements->dim; ++corner)
    vec_sub(corner == replaced ? point : corner_of(elements, k, corner), first, ways[corner - 1]);
  vec_cross(ways[0], ways[1], normal);
  return vec_dot(normal, ways[2]);
}

double flo_element_volume(const FloElements *elements, size_t k) {
  return determinant(elements, k, -1, NULL) / (elements->dim == 3 ? 6 : 2);
}

double flo_elements_volume(const FloElements *elements) {
  double sum = 0;
  for (size_t k = 0; k < elements->n_elements; ++k) sum += flo_element_volume(elements, k);
  return sum;
}

void flo_element_weights(const FloElements *elements, size_t k, const double point[3], double weights[4]) {
  double whole = determinant(elements, k, -1, NULL);
  weights[3] = 0;
  for (int corner = 0; corner <= elements->dim; ++corner)
    weights[corner] = determinant(elements, k, corner, point) / whole;
}

// ---- Angles ----

// The direction in which the face opposite of a corner looks.
static void face_normal(const FloElements *elements, size_t element, uint32_t opposite, double normal[3]) {
  double u[3], v[3];
  uint32_t face[3];
  flo_element_face(elements, element, opposite, face);
  vec_sub(flo_elements_vertex(elements, face[1]), flo_elements_vertex(elements, face[0]), u);
  vec_sub(flo_elements_vertex(elements, face[2]), flo_elements_vertex(elements, face[0]), v);
  if (elements->dim == 3)
    vec_cross(u, v, normal);
  else
    vec_set(normal, u[1], -u[0], 0);
}

void flo_element_angles(const FloElements *elements, size_t k, double *least, double *largest) {
  double normals[4][3], across[3];
  *least = INFINITY, *largest = 0;
  for (uint32_t face = 0; face <= (uint32_t)elements->dim; ++face) {
    face_normal(elements, k, face, normals[face]);
    for (uint32_t other = 0; other < face; ++other) {
      vec_cross(normals[face], normals[other], across);
      double angle = FLO_PI - atan2(vec_length(across), vec_dot(normals[face], normals[other]));
      *least = fmin(*least, angle), *largest = fmax(*largest, angle);
    }
  }
}
