#include "geometry/embedding.h"

#include "base/vecmath.h"
#include "geometry/bvh.h"

#include <math.h>
#include <string.h>

// ---- Bins: which elements may hold a point ----

// Boxes of equal size. Each lists the elements whose own boxes meet it.
typedef struct Bins {
  const FloElements *elements;
  double low[3], size; // [m]
  size_t n[3];
  FloBuffer starts, items; // uint32_t
} Bins;

static void element_bounds(const FloElements *elements, size_t k, double low[3], double high[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = INFINITY, high[axis] = -INFINITY;
    for (int c = 0; c <= elements->dim; ++c) {
      double x = flo_elements_vertex(elements, flo_elements_corners(elements, k)[c])[axis];
      low[axis] = fmin(low[axis], x), high[axis] = fmax(high[axis], x);
    }
  }
}

static size_t bin_along(const Bins *bins, int axis, double x) {
  double at = floor((x - bins->low[axis]) / bins->size);
  return (size_t)fmin(fmax(at, 0), (double)(bins->n[axis] - 1));
}

// The bins from the one that holds `low` to the one that holds `high`.
typedef struct BinRange {
  size_t from[3], to[3];
} BinRange;

static BinRange range_of(const Bins *bins, const double low[3], const double high[3]) {
  BinRange range;
  for (int axis = 0; axis < 3; ++axis) {
    range.from[axis] = bin_along(bins, axis, low[axis]);
    range.to[axis] = bin_along(bins, axis, high[axis]);
  }
  return range;
}

static size_t bin_number(const Bins *bins, size_t i, size_t j, size_t k) {
  return (k * bins->n[1] + j) * bins->n[0] + i;
}

// Counts the element in its bins, or writes it there if there are items.
static void enter_element(const Bins *bins, size_t element, uint32_t *starts, uint32_t *items) {
  double low[3], high[3];
  element_bounds(bins->elements, element, low, high);
  BinRange r = range_of(bins, low, high);
  for (size_t k = r.from[2]; k <= r.to[2]; ++k)
    for (size_t j = r.from[1]; j <= r.to[1]; ++j)
      for (size_t i = r.from[0]; i <= r.to[0]; ++i) {
        size_t bin = bin_number(bins, i, j, k);
        if (items)
          items[starts[bin + 1]++] = (uint32_t)element;
        else
          ++starts[bin + 2];
      }
}

// Bins are about as large as elements, but there are not many more of them.
static void lay_out(Bins *bins) {
  const FloElements *e = bins->elements;
  double high[3] = {-INFINITY, -INFINITY, -INFINITY}, volume = 1;
  vec_set(bins->low, INFINITY, INFINITY, INFINITY);
  for (size_t k = 0; k < e->n_vertices; ++k)
    for (int axis = 0; axis < 3; ++axis) {
      bins->low[axis] = fmin(bins->low[axis], flo_elements_vertex(e, k)[axis]);
      high[axis] = fmax(high[axis], flo_elements_vertex(e, k)[axis]);
    }
  for (int axis = 0; axis < e->dim; ++axis) volume *= high[axis] - bins->low[axis];
  bins->size = fmax(1.5 * e->cell, pow(volume / (double)e->n_elements, 1.0 / e->dim));
  for (int axis = 0; axis < 3; ++axis)
    bins->n[axis] = (size_t)floor((high[axis] - bins->low[axis]) / bins->size) + 1;
}

static FloStatus fill_bins(Bins *bins, FloError *error) {
  FloMemory *memory = bins->elements->memory;
  lay_out(bins);
  size_t n_bins = bins->n[0] * bins->n[1] * bins->n[2];
  FLO_TRY(flo_buffer_reserve(memory, &bins->starts, (n_bins + 2) * sizeof(uint32_t), 0, error));
  uint32_t *starts = bins->starts.data;
  memset(starts, 0, (n_bins + 2) * sizeof *starts);
  for (size_t k = 0; k < bins->elements->n_elements; ++k) enter_element(bins, k, starts, NULL);
  for (size_t b = 0; b < n_bins; ++b) starts[b + 2] += starts[b + 1];
  FLO_TRY(flo_buffer_reserve(memory, &bins->items, (starts[n_bins + 1] + 1) * sizeof(uint32_t), 0, error));
  for (size_t k = 0; k < bins->elements->n_elements; ++k) enter_element(bins, k, starts, bins->items.data);
  return FLO_OK;
}

static double least_weight(const FloElements *elements, size_t element, const double point[3]) {
  double weights[4], least = INFINITY;
  flo_element_weights(elements, element, point, weights);
  for (int c = 0; c <= elements->dim; ++c) least = fmin(least, weights[c]);
  return least;
}

// The element that holds the point; false if none does, but for rounding.
static bool find_holder(const Bins *bins, const double point[3], uint32_t *element) {
  BinRange r = range_of(bins, point, point);
  const uint32_t *starts = bins->starts.data, *items = bins->items.data;
  size_t bin = bin_number(bins, r.from[0], r.from[1], r.from[2]);
  double best = -1e-12;
  bool is_found = false;
  for (size_t k = starts[bin]; k < starts[bin + 1]; ++k) {
    double least = least_weight(bins->elements, items[k], point);
    if (!(least > best)) continue;
    best = least, *element = items[k], is_found = true;
  }
  return is_found;
}

// ---- Building ----

typedef struct Search {
  Bins bins;
  FloMesh border;
  FloBvh tree;
  FloBuffer owners; // element of each face of the border, uint32_t
} Search;

static void bind_point(FloEmbedding *embedding, const Search *search, const double point[3], size_t k) {
  const FloElements *elements = search->bins.elements;
  uint32_t element = 0, *corners = (uint32_t *)embedding->corners.data + 4 * k;
  FloClosest nearest;
  if (!find_holder(&search->bins, point, &element) &&
      flo_bvh_closest(&search->tree, point, INFINITY, &nearest)) {
    element = ((const uint32_t *)search->owners.data)[nearest.triangle];
    embedding->farthest = fmax(embedding->farthest, nearest.distance);
  }
  for (int c = 0; c < 4; ++c)
    corners[c] = flo_elements_corners(elements, element)[c <= elements->dim ? c : 0];
  flo_element_weights(elements, element, point, (double *)embedding->weights.data + 4 * k);
}

static FloStatus bind_all(FloEmbedding *embedding, Search *search, const double *points, FloError *error) {
  FloMemory *memory = embedding->memory;
  size_t n = embedding->n_points + 1;
  FLO_TRY(flo_buffer_reserve(memory, &embedding->corners, 4 * n * sizeof(uint32_t), 0, error));
  FLO_TRY(flo_buffer_reserve(memory, &embedding->weights, 4 * n * sizeof(double), 0, error));
  FLO_TRY(fill_bins(&search->bins, error));
  FLO_TRY(flo_elements_border(search->bins.elements, &search->border, &search->owners, error));
  FLO_TRY(flo_bvh_build(&search->tree, &search->border, error));
  for (size_t k = 0; k < embedding->n_points; ++k) bind_point(embedding, search, points + 3 * k, k);
  return FLO_OK;
}

FloStatus flo_embedding_build(FloEmbedding *embedding, const FloElements *elements, const double *points,
                              size_t n_points, FloError *error) {
  *embedding = (FloEmbedding){.memory = elements->memory, .n_points = n_points};
  Search search = {.bins.elements = elements};
  if (elements->n_elements == 0) return flo_fail(error, FLO_BAD_INPUT, "embedding: there are no elements");
  flo_mesh_init(&search.border, elements->memory);
  FloStatus status = bind_all(embedding, &search, points, error);
  if (search.tree.mesh) flo_bvh_free(&search.tree);
  flo_mesh_free(&search.border);
  flo_buffer_free(elements->memory, &search.owners);
  flo_buffer_free(elements->memory, &search.bins.starts);
  flo_buffer_free(elements->memory, &search.bins.items);
  if (status != FLO_OK) flo_embedding_free(embedding);
  return status;
}

void flo_embedding_free(FloEmbedding *embedding) {
  flo_buffer_free(embedding->memory, &embedding->corners);
  flo_buffer_free(embedding->memory, &embedding->weights);
  embedding->n_points = 0;
}

// ---- Carrying ----

void flo_embedding_place(const FloEmbedding *embedding, const double *at_vertices, double *at_points) {
  for (size_t k = 0; k < embedding->n_points; ++k) {
    const uint32_t *corners = flo_embedding_corners(embedding, k);
    const double *weights = flo_embedding_weights(embedding, k);
    double sum[3] = {0};
    for (int c = 0; c < 4; ++c) vec_add_scaled(sum, at_vertices + 3 * (size_t)corners[c], weights[c], sum);
    vec_copy(sum, at_points + 3 * k);
  }
}

void flo_embedding_spread(const FloEmbedding *embedding, const double *at_points, double *at_vertices) {
  for (size_t k = 0; k < embedding->n_points; ++k) {
    const uint32_t *corners = flo_embedding_corners(embedding, k);
    const double *weights = flo_embedding_weights(embedding, k);
    for (int c = 0; c < 4; ++c) {
      double *vertex = at_vertices + 3 * (size_t)corners[c];
      vec_add_scaled(vertex, at_points + 3 * k, weights[c], vertex);
    }
  }
}
