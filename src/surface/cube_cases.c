// A walk around a face of a cube crosses the surface where it leaves the fluid and where it enters again.
// Each exit is joined with the next entry by a segment. Segments depend only on the corners of the face, so
// two cubes agree on the face they share. If only diagonal corners are inside, these are joined, which holds
// films together. The segments of all six faces form loops, and the loops are cut into triangles.
//
// A cut between two edges of one face would lie in that face. The cube on the other side may have the same
// cut, and the edge would have four triangles. Such cuts are never made; every loop can be cut without them.
#include "surface/cube_cases.h"

#include "base/core.h"

#include <stdbool.h>
#include <string.h>

enum { N_FACES = 6, MAX_LOOP = 12, NO_EDGE = 255 };

typedef struct Cube {
  uint8_t face_edges[N_FACES][4];   // counter-clockwise seen from outside; edge k follows corner k
  uint8_t face_corners[N_FACES][4]; // counter-clockwise
  unsigned edge_faces[FLO_CUBE_EDGES];
  uint8_t edge_corner[FLO_CUBE_EDGES];
} Cube;

static uint8_t edge_between(const Cube *cube, unsigned a, unsigned b) {
  unsigned low = a < b ? a : b, axis = (a ^ b) >> 1; // 1, 2, 4 -> 0, 1, 2
  for (uint8_t edge = (uint8_t)(4 * axis); edge < 4 * axis + 4; ++edge)
    if (cube->edge_corner[edge] == low) return edge;
  return NO_EDGE;
}

static void number_edges(Cube *cube) {
  unsigned edge = 0;
  for (unsigned axis = 0; axis < 3; ++axis)
    for (unsigned corner = 0; corner < 8; ++corner)
      if (!(corner >> axis & 1)) cube->edge_corner[edge++] = (uint8_t)corner;
}

static void list_faces(Cube *cube) {
  for (unsigned face = 0; face < N_FACES; ++face) {
    unsigned axis = face / 2, u = 1U << (axis + 1) % 3, v = 1U << (axis + 2) % 3, base = (face & 1) << axis;
    const unsigned around[4] = {base, base | u, base | u | v, base | v};
    for (unsigned k = 0; k < 4; ++k) cube->face_corners[face][k] = (uint8_t)around[face & 1 ? k : 3 - k];
    for (unsigned k = 0; k < 4; ++k) {
      uint8_t edge = edge_between(cube, cube->face_corners[face][k], cube->face_corners[face][(k + 1) % 4]);
      cube->face_edges[face][k] = edge;
      cube->edge_faces[edge] |= 1U << face;
    }
  }
}

// next[e]: the edge that follows e on the surface; NO_EDGE where the surface does not cross e.
static void link_edges(const Cube *cube, unsigned inner, uint8_t next[FLO_CUBE_EDGES]) {
  memset(next, NO_EDGE, FLO_CUBE_EDGES);
  for (unsigned face = 0; face < N_FACES; ++face)
    for (unsigned k = 0; k < 4; ++k) {
      const uint8_t *corners = cube->face_corners[face];
      bool leaves = (inner >> corners[k] & 1) && !(inner >> corners[(k + 1) % 4] & 1);
      if (!leaves) continue;
      unsigned end = k + 1; // corner; outer ones are skipped
      while (!(inner >> corners[(end + 1) % 4] & 1)) ++end;
      next[cube->face_edges[face][k]] = cube->face_edges[face][end % 4];
    }
}

static bool share_face(const Cube *cube, uint8_t a, uint8_t b) {
  return (cube->edge_faces[a] & cube->edge_faces[b]) != 0;
}

// Cuts the part [first, last] of a loop into triangles; false if that needs a cut within a face.
static bool cut_loop(const Cube *cube, const uint8_t *loop, int first, int last, FloCubeCases *cases,
                     unsigned inner) {
  if (last - first < 2) return true;
  uint8_t n_before = cases->n_triangles[inner];
  for (int apex = first + 1; apex < last; ++apex) {
    if (apex > first + 1 && share_face(cube, loop[first], loop[apex])) continue;
    if (apex < last - 1 && share_face(cube, loop[apex], loop[last])) continue;
    uint8_t *triangle = cases->triangles[inner][cases->n_triangles[inner]++];
    // Loops run clockwise seen from the air.
    triangle[0] = loop[last], triangle[1] = loop[apex], triangle[2] = loop[first];
    if (cut_loop(cube, loop, first, apex, cases, inner) && cut_loop(cube, loop, apex, last, cases, inner))
      return true;
    cases->n_triangles[inner] = n_before;
  }
  return false;
}

static void list_case(const Cube *cube, unsigned inner, FloCubeCases *cases) {
  uint8_t next[FLO_CUBE_EDGES], loop[MAX_LOOP];
  link_edges(cube, inner, next);
  for (uint8_t start = 0; start < FLO_CUBE_EDGES; ++start) {
    int length = 0;
    for (uint8_t edge = start; next[edge] != NO_EDGE;) {
      uint8_t after = next[edge];
      loop[length++] = edge;
      next[edge] = NO_EDGE;
      edge = after;
    }
    if (length > 0) FLO_ASSERT(cut_loop(cube, loop, 0, length - 1, cases, inner));
  }
}

void flo_cube_cases_init(FloCubeCases *cases) {
  Cube cube = {0};
  memset(cases, 0, sizeof *cases);
  number_edges(&cube);
  list_faces(&cube);
  memcpy(cases->edge_corner, cube.edge_corner, sizeof cases->edge_corner);
  for (unsigned inner = 0; inner < 256; ++inner) list_case(&cube, inner, cases);
}
