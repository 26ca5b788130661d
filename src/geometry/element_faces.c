// Faces of elements: which ones are shared, which ones are the border, and what holds together by them.
#include "geometry/elements.h"

#include "base/vecmath.h"

#include <math.h>
#include <string.h>

// Corners of the faces of a tetrahedron, outwards; face k lies opposite of corner k.
static const uint32_t faces_of_four[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
// Sides of a triangle in the plane.
static const uint32_t sides_of_three[3][3] = {{1, 2, 2}, {2, 0, 0}, {0, 1, 1}};

void flo_element_face(const FloElements *elements, size_t element, uint32_t opposite, uint32_t vertices[3]) {
  const uint32_t *corners = flo_elements_corners(elements, element);
  const uint32_t *places = elements->dim == 3 ? faces_of_four[opposite] : sides_of_three[opposite];
  for (int k = 0; k < 3; ++k) vertices[k] = corners[places[k]];
}

static void exchange_if_falling(uint32_t *a, uint32_t *b) {
  uint32_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
  *a = low, *b = high;
}

static FloElementFace make_face(const FloElements *elements, size_t element, uint32_t opposite) {
  FloElementFace face = {.element = (uint32_t)element, .opposite = opposite};
  flo_element_face(elements, element, opposite, face.sorted);
  exchange_if_falling(&face.sorted[0], &face.sorted[1]);
  if (elements->dim == 2) face.sorted[2] = face.sorted[1];
  if (elements->dim == 2) return face;
  exchange_if_falling(&face.sorted[1], &face.sorted[2]);
  exchange_if_falling(&face.sorted[0], &face.sorted[1]);
  return face;
}

// ---- Sorting: by the lowest vertex into buckets, then within each bucket ----

static void fill_buckets(const FloElements *elements, FloElementFace *faces, uint32_t *starts) {
  uint32_t n_faces = (uint32_t)elements->dim + 1;
  memset(starts, 0, (elements->n_vertices + 2) * sizeof *starts);
  for (size_t k = 0; k < elements->n_elements; ++k)
    for (uint32_t f = 0; f < n_faces; ++f) ++starts[make_face(elements, k, f).sorted[0] + 2];
  for (size_t v = 0; v < elements->n_vertices; ++v) starts[v + 2] += starts[v + 1];
  for (size_t k = 0; k < elements->n_elements; ++k)
    for (uint32_t f = 0; f < n_faces; ++f) {
      FloElementFace face = make_face(elements, k, f);
      faces[starts[face.sorted[0] + 1]++] = face;
    }
}

static bool is_before(const FloElementFace *a, const FloElementFace *b) {
  return a->sorted[1] != b->sorted[1] ? a->sorted[1] < b->sorted[1] : a->sorted[2] < b->sorted[2];
}

// Insertion keeps equal faces in the order of their elements. A bucket has some dozen faces.
static void sort_bucket(FloElementFace *faces, size_t n) {
  for (size_t k = 1; k < n; ++k) {
    FloElementFace face = faces[k];
    size_t at = k;
    for (; at > 0 && is_before(&face, &faces[at - 1]); --at) faces[at] = faces[at - 1];
    faces[at] = face;
  }
}

FloStatus flo_elements_sort_faces(const FloElements *elements, FloBuffer *faces, FloError *error) {
  size_t n_faces = elements->n_elements * (size_t)(elements->dim + 1);
  FloBuffer buffer = {0};
  FLO_TRY(flo_buffer_reserve(elements->memory, faces, (n_faces + 1) * sizeof(FloElementFace), 0, error));
  FLO_TRY(
      flo_buffer_reserve(elements->memory, &buffer, (elements->n_vertices + 2) * sizeof(uint32_t), 0, error));
  uint32_t *starts = buffer.data;
  fill_buckets(elements, faces->data, starts);
  for (size_t v = 0; v < elements->n_vertices; ++v)
    sort_bucket((FloElementFace *)faces->data + starts[v], starts[v + 1] - starts[v]);
  flo_buffer_free(elements->memory, &buffer);
  return FLO_OK;
}

size_t flo_elements_count_faces(const FloElementFace *faces, size_t n_faces, size_t first) {
  size_t end = first + 1;
  while (end < n_faces && memcmp(faces[end].sorted, faces[first].sorted, sizeof faces[first].sorted) == 0)
    ++end;
  return end - first;
}

// ---- Border ----

static FloStatus add_border_face(const FloElements *elements, const FloElementFace *face, FloMesh *border,
                                 FloBuffer *owners, FloError *error) {
  uint32_t v[3];
  size_t used = border->n_triangles * sizeof(uint32_t);
  if (used + sizeof(uint32_t) > owners->capacity)
    FLO_TRY(flo_buffer_reserve(elements->memory, owners, 2 * used + 1024, used, error));
  ((uint32_t *)owners->data)[border->n_triangles] = face->element;
  flo_element_face(elements, face->element, face->opposite, v);
  return flo_mesh_add_triangle(border, v[0], v[1], v[2], error);
}

static FloStatus add_border(const FloElements *elements, const FloElementFace *faces, FloMesh *border,
                            FloBuffer *owners, FloError *error) {
  size_t n_faces = elements->n_elements * (size_t)(elements->dim + 1);
  for (size_t k = 0; k < elements->n_vertices; ++k)
    FLO_TRY(flo_mesh_add_vertex(border, flo_elements_vertex(elements, k), NULL, error));
  for (size_t first = 0, n; first < n_faces; first += n) {
    n = flo_elements_count_faces(faces, n_faces, first);
    if (n == 1) FLO_TRY(add_border_face(elements, &faces[first], border, owners, error));
  }
  return FLO_OK;
}

FloStatus flo_elements_border(const FloElements *elements, FloMesh *border, FloBuffer *owners,
                              FloError *error) {
  FloBuffer faces = {0};
  FloStatus status = flo_elements_sort_faces(elements, &faces, error);
  if (status == FLO_OK) status = add_border(elements, faces.data, border, owners, error);
  flo_buffer_free(elements->memory, &faces);
  return status;
}

// ---- Parts ----

static void join_neighbours(const FloElements *elements, const FloElementFace *faces, uint32_t *parents) {
  size_t n_faces = elements->n_elements * (size_t)(elements->dim + 1);
  for (size_t k = 0; k < elements->n_elements; ++k) parents[k] = (uint32_t)k;
  for (size_t first = 0, n; first < n_faces; first += n) {
    n = flo_elements_count_faces(faces, n_faces, first);
    for (size_t k = first + 1; k < first + n; ++k)
      flo_mesh_join_sets(parents, faces[first].element, faces[k].element);
  }
}

// Sums up the volume of each part at its first element.
static void weigh_parts(const FloElements *elements, uint32_t *parents, double *volumes) {
  memset(volumes, 0, elements->n_elements * sizeof *volumes);
  for (size_t k = 0; k < elements->n_elements; ++k)
    volumes[flo_mesh_find_set(parents, (uint32_t)k)] += flo_element_volume(elements, k);
}

static FloElementParts list_parts(const FloElements *elements, uint32_t *parents, const double *volumes,
                                  double least) {
  FloElementParts parts = {0};
  double smallest = INFINITY;
  for (size_t k = 0; k < elements->n_elements; ++k) {
    if (flo_mesh_find_set(parents, (uint32_t)k) != k || volumes[k] < least) continue;
    ++parts.count;
    if (volumes[k] >= smallest) continue;
    smallest = volumes[k];
    vec_copy(flo_elements_vertex(elements, flo_elements_corners(elements, k)[0]), parts.smallest);
  }
  return parts;
}

static void keep_large_parts(FloElements *elements, uint32_t *parents, const double *volumes, double least) {
  size_t n = 0, size = (size_t)(elements->dim + 1) * sizeof(uint32_t);
  for (size_t k = 0; k < elements->n_elements; ++k)
    if (volumes[flo_mesh_find_set(parents, (uint32_t)k)] >= least)
      memmove(flo_elements_corners(elements, n++), flo_elements_corners(elements, k), size);
  elements->n_elements = n;
}

static FloStatus drop_unused_vertices(FloElements *elements, FloError *error) {
  size_t n_corners = elements->n_elements * (size_t)(elements->dim + 1), n = 0;
  FloBuffer buffer = {0};
  FLO_TRY(
      flo_buffer_reserve(elements->memory, &buffer, (elements->n_vertices + 1) * sizeof(uint32_t), 0, error));
  uint32_t *numbers = buffer.data, *corners = elements->corners.data;
  memset(numbers, 0, (elements->n_vertices + 1) * sizeof *numbers);
  for (size_t k = 0; k < n_corners; ++k) numbers[corners[k]] = 1;
  for (size_t v = 0; v < elements->n_vertices; ++v) {
    if (!numbers[v]) continue;
    memmove(flo_elements_vertex(elements, n), flo_elements_vertex(elements, v), 3 * sizeof(double));
    numbers[v] = (uint32_t)n++;
  }
  for (size_t k = 0; k < n_corners; ++k) corners[k] = numbers[corners[k]];
  elements->n_vertices = n;
  flo_buffer_free(elements->memory, &buffer);
  return FLO_OK;
}

static void drop_parts(FloElements *elements, uint32_t *parents, double *volumes, double volume,
                       FloElementParts *parts) {
  double largest = 0;
  weigh_parts(elements, parents, volumes);
  for (size_t k = 0; k < elements->n_elements; ++k) largest = volumes[k] > largest ? volumes[k] : largest;
  double least = volume < largest ? volume : largest;
  *parts = list_parts(elements, parents, volumes, least);
  keep_large_parts(elements, parents, volumes, least);
}

FloStatus flo_elements_drop_crumbs(FloElements *elements, double volume, FloElementParts *parts,
                                   FloError *error) {
  FloBuffer faces = {0}, parents = {0}, volumes = {0};
  size_t n = elements->n_elements + 1;
  FloStatus status = flo_elements_sort_faces(elements, &faces, error);
  if (status == FLO_OK)
    status = flo_buffer_reserve(elements->memory, &parents, n * sizeof(uint32_t), 0, error);
  if (status == FLO_OK) status = flo_buffer_reserve(elements->memory, &volumes, n * sizeof(double), 0, error);
  if (status == FLO_OK) {
    join_neighbours(elements, faces.data, parents.data);
    drop_parts(elements, parents.data, volumes.data, volume, parts);
    status = drop_unused_vertices(elements, error);
  }
  flo_buffer_free(elements->memory, &faces);
  flo_buffer_free(elements->memory, &parents);
  flo_buffer_free(elements->memory, &volumes);
  return status;
}
