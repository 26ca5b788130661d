#include "soft/patches.h"

#include "base/vecmath.h"
#include "soft/body.h"

#include <stdlib.h>
#include <string.h>

// A share of an element: the element belongs to the patch of this key.
typedef struct Share {
  uint64_t key;
  uint32_t element;
} Share;

static int compare_shares(const void *a, const void *b) {
  const Share *p = a, *q = b;
  if (p->key != q->key) return p->key < q->key ? -1 : 1;
  return p->element < q->element ? -1 : p->element > q->element;
}

// ---- Elements ----

static void find_sides(const FloSoft *soft, const uint32_t *element, double sides[3][3]) {
  const double *origin = soft->x + 3 * (size_t)element[0];
  vec_set(sides[2], 0, 0, 1); // in the plane
  for (int k = 0; k < soft->dim; ++k) vec_sub(soft->x + 3 * (size_t)element[k + 1], origin, sides[k]);
}

double flo_soft_element_volume(const FloSoft *soft, const uint32_t *element) {
  double sides[3][3], normal[3];
  find_sides(soft, element, sides);
  vec_cross(sides[0], sides[1], normal);
  return vec_dot(normal, sides[2]) / (soft->dim == 2 ? 2 : 6);
}

// Gradients of the shape functions; rows of the inverse of the matrix of sides, and their negative sum.
static void find_slopes(const FloSoft *soft, const uint32_t *element, double slopes[4][3]) {
  double sides[3][3];
  find_sides(soft, element, sides);
  vec_set(slopes[0], 0, 0, 0);
  for (int k = 0; k < soft->dim; ++k) {
    const double *a = sides[(k + 1) % 3], *b = sides[(k + 2) % 3];
    double *slope = slopes[k + 1];
    vec_cross(a, b, slope);
    vec_scale(slope, 1 / vec_dot(slope, sides[k]), slope);
    vec_sub(slopes[0], slope, slopes[0]);
  }
}

// ---- Shares ----

static size_t shares_each(int dim, FloPatchKind kind) {
  return kind == FLO_PATCH_VERTICES ? (size_t)dim + 1 : dim == 2 ? 3 : 6;
}

static uint64_t edge_key(uint32_t a, uint32_t b) {
  return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static size_t add_shares(int dim, const uint32_t *corners, uint32_t element, FloPatchKind kind,
                         Share *shares) {
  size_t n = 0;
  for (int a = 0; a <= dim; ++a) {
    if (kind == FLO_PATCH_VERTICES) shares[n++] = (Share){corners[a], element};
    for (int b = 0; kind == FLO_PATCH_EDGES && b < a; ++b)
      shares[n++] = (Share){edge_key(corners[a], corners[b]), element};
  }
  return n;
}

// ---- Patches ----

// The place of a vertex in patch k, which it joins if it is new.
static size_t place_of(FloPatches *patches, size_t k, uint32_t vertex) {
  size_t i = patches->begin[k];
  while (i < patches->begin[k + 1] && patches->vertices[i] != vertex) i++;
  if (i == patches->begin[k + 1]) patches->vertices[patches->begin[k + 1]++] = vertex;
  return i;
}

static void add_element(const FloSoft *soft, FloPatches *patches, size_t k, const uint32_t *corners,
                        double share) {
  double slopes[4][3];
  double volume = flo_soft_element_volume(soft, corners) * share;
  find_slopes(soft, corners, slopes);
  patches->volumes[k] += volume;
  for (int a = 0; a <= soft->dim; ++a) {
    double *slope = patches->slopes + 3 * place_of(patches, k, corners[a]);
    vec_add_scaled(slope, slopes[a], volume, slope);
  }
}

static void end_patch(FloPatches *patches) {
  size_t k = patches->n++;
  for (size_t i = 3 * patches->begin[k]; i < 3 * patches->begin[k + 1]; ++i)
    patches->slopes[i] /= patches->volumes[k];
}

static void fill_patches(const FloSoft *soft, const uint32_t *elements, const Share *shares, size_t n_shares,
                         double share, FloPatches *patches) {
  for (size_t first = 0, k; first < n_shares; first = k) {
    patches->begin[patches->n + 1] = patches->begin[patches->n];
    for (k = first; k < n_shares && shares[k].key == shares[first].key; ++k)
      add_element(soft, patches, patches->n, elements + (size_t)(soft->dim + 1) * shares[k].element, share);
    end_patch(patches);
  }
}

static size_t count_keys(const Share *shares, size_t n) {
  size_t count = 0;
  for (size_t k = 0; k < n; ++k) count += k == 0 || shares[k].key != shares[k - 1].key;
  return count;
}

static FloStatus make_room(FloSoft *soft, size_t n, size_t n_vertices, FloPatches *patches, FloError *error) {
  *patches = (FloPatches){0};
  FLO_TRY(flo_soft_array(soft, n + 1, sizeof *patches->begin, &patches->begin, error));
  FLO_TRY(flo_soft_array(soft, n_vertices, sizeof *patches->vertices, &patches->vertices, error));
  FLO_TRY(flo_soft_array(soft, 3 * n_vertices, sizeof *patches->slopes, &patches->slopes, error));
  return flo_soft_array(soft, n, sizeof *patches->volumes, &patches->volumes, error);
}

FloStatus flo_soft_make_patches(FloSoft *soft, const uint32_t *elements, size_t n_elements, FloPatchKind kind,
                                FloPatches *patches, FloError *error) {
  size_t corners = (size_t)soft->dim + 1, each = shares_each(soft->dim, kind), n = 0;
  FloBuffer buffer = {0};
  FLO_TRY(flo_buffer_reserve(soft->memory, &buffer, n_elements * each * sizeof(Share), 0, error));
  Share *shares = buffer.data;
  for (size_t k = 0; k < n_elements; ++k)
    n += add_shares(soft->dim, elements + corners * k, (uint32_t)k, kind, shares + n);
  qsort(shares, n, sizeof *shares, compare_shares);
  FloStatus status = make_room(soft, count_keys(shares, n), n * corners, patches, error);
  if (!status) fill_patches(soft, elements, shares, n, 1 / (double)each, patches);
  flo_buffer_free(soft->memory, &buffer);
  return status;
}
