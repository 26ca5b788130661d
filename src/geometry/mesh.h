// Triangle meshes: vertices and triangles, checks and repairs, mass and inertia.
#ifndef FLO_GEOMETRY_MESH_H
#define FLO_GEOMETRY_MESH_H

#include "base/memory.h"

// Triangles run counter-clockwise seen from outside.
typedef struct FloMesh {
  FloMemory *memory;
  FloBuffer vertices;  // three doubles each [m]
  FloBuffer triangles; // three vertex numbers each, uint32_t
  size_t n_vertices, n_triangles;
} FloMesh;

static inline double *flo_mesh_vertex(const FloMesh *mesh, size_t k) {
  return (double *)mesh->vertices.data + 3 * k;
}
static inline uint32_t *flo_mesh_triangle(const FloMesh *mesh, size_t k) {
  return (uint32_t *)mesh->triangles.data + 3 * k;
}
// Corner 0, 1 or 2 of a triangle.
static inline const double *flo_mesh_corner(const FloMesh *mesh, size_t triangle, int corner) {
  return flo_mesh_vertex(mesh, flo_mesh_triangle(mesh, triangle)[corner]);
}

void flo_mesh_init(FloMesh *mesh, FloMemory *memory);
void flo_mesh_free(FloMesh *mesh);
// `index`, which may be NULL, receives the number of the new vertex.
FloStatus flo_mesh_add_vertex(FloMesh *mesh, const double point[3], uint32_t *index, FloError *error);
// The vertices must be there already.
FloStatus flo_mesh_add_triangle(FloMesh *mesh, uint32_t a, uint32_t b, uint32_t c, FloError *error);
// Adds a copy of another mesh.
FloStatus flo_mesh_append(FloMesh *mesh, const FloMesh *other, FloError *error);
// Corners of the box around all vertices; zeros if there are none.
void flo_mesh_bounds(const FloMesh *mesh, double low[3], double high[3]);
// Merges vertices with equal coordinates (0 and -0 are equal) and drops vertices that no triangle uses.
// Vertices and triangles keep their order.
FloStatus flo_mesh_weld(FloMesh *mesh, FloError *error);
// Merges vertices of open edges that differ only by rounding, if this leaves fewer edges open. They may
// differ by a millionth of the mesh's size, and by much less than its shortest edge. Weld the mesh first.
FloStatus flo_mesh_join_borders(FloMesh *mesh, size_t *n_joined, FloError *error);
// Adds a copy of a mesh, welded and with its borders joined.
FloStatus flo_mesh_copy_joined(const FloMesh *mesh, FloMesh *copy, FloError *error);
// Fills an empty mesh with triangles that close the holes of another mesh, which should be welded. All lids
// of one hole have the same vertex as third corner. There are none if the mesh is closed.
FloStatus flo_mesh_cap_holes(const FloMesh *mesh, FloMesh *lids, FloError *error);
// Halves sides that are longer than `longest`, and the triangles on both sides of them, until there are none.
FloStatus flo_mesh_halve_sides(FloMesh *mesh, double longest, FloError *error);
void flo_mesh_turn_triangle(FloMesh *mesh, size_t triangle);

// ---- Edges ----

// One side of a triangle, from corner k to the next: side = 3 triangle + k.
typedef struct FloMeshSide {
  uint32_t low, high; // its vertices, the smaller number first
  uint32_t side;
} FloMeshSide;

// All sides, ordered by their vertices and then by number: the sides of one edge stand together.
FloStatus flo_mesh_sort_sides(const FloMesh *mesh, FloBuffer *sides, FloError *error);
// How many of the sides from `first` on belong to the same edge.
size_t flo_mesh_count_sides(const FloMeshSide *sides, size_t n_sides, size_t first);

// ---- Sets ----

// Disjoint sets of numbers. A set is named after its smallest member; parent[k] = k is a set of one.
uint32_t flo_mesh_find_set(uint32_t *parent, uint32_t member);
void flo_mesh_join_sets(uint32_t *parent, uint32_t a, uint32_t b);

// ---- What is wrong with a mesh ----

typedef struct FloMeshReport {
  size_t n_vertices, n_triangles;
  size_t n_boundary_edges;         // of one triangle only
  size_t n_nonmanifold_edges;      // of more than two
  size_t n_inconsistent_halfedges; // different directed edges that occur more than once
  size_t n_degenerate;             // triangles without area or with the same vertex twice
  size_t n_joined_vertices;        // vertices that repair merged although they differed by rounding; else 0
  size_t n_components;             // parts that share no vertex
  size_t n_self_touching;          // pairs of triangles that share no vertex and yet meet
  bool is_touching_complete;       // false: there are more pairs, but the search was stopped
  long long euler_characteristic;  // vertices in use - edges + triangles
  double signed_volume;            // [m^3]; about the origin if the mesh is open
  double area;                     // [m^2]
  double low[3], high[3];          // of the box around it [m]
  bool is_watertight;              // no boundary, no edge of more than two triangles, consistently oriented
  bool is_inside_out;              // closed, but its volume is negative
} FloMeshReport;

// The normal of a triangle, as long as twice its area.
void flo_mesh_normal(const FloMesh *mesh, size_t triangle, double normal[3]);
// Six times the volume between a triangle and a point; positive if the point is behind it.
double flo_mesh_determinant(const FloMesh *mesh, size_t triangle, const double from[3]);
// Whether two of a triangle's corners are the same vertex.
bool flo_mesh_has_twin_corners(const FloMesh *mesh, size_t triangle);
// Whether a triangle has no area, but for rounding.
bool flo_mesh_is_degenerate(const FloMesh *mesh, size_t triangle);
// Vertices with different numbers count as different: weld the mesh first.
FloStatus flo_mesh_inspect(const FloMesh *mesh, FloMeshReport *report, FloError *error);
// Describes each problem in a few words; the text is empty if there is none.
void flo_mesh_describe_problems(const FloMeshReport *report, char *text, size_t size);
// Welds the mesh, joins borders that differ by rounding, and drops degenerate and doubled triangles. Of two
// triangles with the same corners but opposite sense the one that fits its neighbours stays. Orients each
// part consistently where its edges allow it. Turns parts that are inside out, but not the cavities of hollow
// bodies. `before`, which may be NULL, receives the report of the welded and joined mesh.
FloStatus flo_mesh_repair(FloMesh *mesh, FloMeshReport *before, FloError *error);

// ---- What a mesh weighs ----

typedef struct FloMassProperties {
  double volume;     // [m^3]; outlines: area [m^2]
  double mass;       // [kg]; outlines: per unit depth [kg/m]
  double centre[3];  // of mass [m]
  double inertia[6]; // tensor about the centre: xx, yy, zz, xy, yz, zx [kg m^2]; outlines: per unit depth
} FloMassProperties;

// The closed mesh as a solid; volume and mass are negative if it is inside out. Without volume the centre is
// that of the box.
void flo_mesh_mass(const FloMesh *mesh, double density, FloMassProperties *out);
// The mesh as a thin sheet with its triangles in the middle; it need not be closed.
void flo_mesh_shell_mass(const FloMesh *mesh, double density, double thickness, FloMassProperties *out);
// A polygon in the plane, n pairs, without repeating the first; either sense of rotation.
void flo_outline_mass(const double *points, size_t n, double density, FloMassProperties *out);
// Its sides as a thin sheet; `volume` is the area of their cross-section [m^2].
void flo_outline_shell_mass(const double *points, size_t n, double density, double thickness,
                            FloMassProperties *out);

#endif
