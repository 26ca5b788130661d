// Meshes of solids from their measures: closed, with shared vertices, oriented outwards.
//
// Every generator adds to a mesh, which must be initialised. If it fails, the mesh may hold a part of the
// shape and can only be freed. `fineness` is the wanted length of triangle edges on curved parts [m]. A
// circle has at least 12 sides, and no shape has more than about 200,000 triangles. Shapes with flat faces
// ignore it; they have the parameter so that all generators are called alike.
#ifndef FLO_GEOMETRY_SOLID_MESHES_H
#define FLO_GEOMETRY_SOLID_MESHES_H

#include "geometry/mesh.h"

// ---- Checks that all generators share ----

typedef struct FloNamedLength {
  const char *name;
  double value; // [m]
} FloNamedLength;

// Refuses lengths that are not finite, not positive, or far too small or large.
FloStatus flo_lengths_check(const char *shape, const FloNamedLength *lengths, size_t n, FloError *error);
FloStatus flo_fineness_check(const char *shape, double fineness, FloError *error);

// ---- Rings of vertices ----

// Vertices that follow each other around an axis, evenly.
typedef struct FloMeshRing {
  uint32_t first;      // vertex
  uint32_t n;          // vertices; 1: a pole
  uint32_t half_steps; // its first vertex is this many half steps of the ring ahead of where rings start
} FloMeshRing;

// Joins two rings with a band of triangles. It looks outwards if both run counter-clockwise seen from the
// high one. Each step advances on the ring that is behind, measured at the middle of the next edge.
FloStatus flo_mesh_stitch_rings(FloMesh *mesh, FloMeshRing low, FloMeshRing high, FloError *error);

// ---- Flat faces ----

FloStatus flo_mesh_box(const double size[3], double fineness, FloMesh *mesh, FloError *error);
// A slab whose top is at z = 0.
FloStatus flo_mesh_plane(double size_x, double size_y, double thickness, double fineness, FloMesh *mesh,
                         FloError *error);
// A vessel around the inner space `size`, whose middle is the origin; `up` is 0, 1 or 2. Without a lid the
// wall ends level with the inner space. With a lid there are two surfaces, and the inner one points inwards.
FloStatus flo_mesh_tank(const double size[3], double wall, int up, bool is_closed, double fineness,
                        FloMesh *mesh, FloError *error);
// A block under n_x times n_y heights (x fastest), spread evenly over a rectangle around the origin. Its flat
// underside lies `depth` below the lowest height.
FloStatus flo_mesh_heightfield(double size_x, double size_y, size_t n_x, size_t n_y, const double *heights,
                               double depth, double fineness, FloMesh *mesh, FloError *error);
// A right triangular prism that rises along x; the origin is the middle of its bounding box.
FloStatus flo_mesh_ramp(double length, double width, double height, double fineness, FloMesh *mesh,
                        FloError *error);
// A roof: its ridge runs along y at the top.
FloStatus flo_mesh_wedge(const double size[3], double fineness, FloMesh *mesh, FloError *error);
// A plate in the x-y plane; the corner radius may be 0.
FloStatus flo_mesh_card(double width, double height, double thickness, double corner, double fineness,
                        FloMesh *mesh, FloError *error);

// ---- Round shapes ----

FloStatus flo_mesh_rounded_box(const double size[3], double radius, double fineness, FloMesh *mesh,
                               FloError *error);
FloStatus flo_mesh_sphere(double radius, double fineness, FloMesh *mesh, FloError *error);
// The axis of the next five is z.
FloStatus flo_mesh_cylinder(double radius, double length, double fineness, FloMesh *mesh, FloError *error);
// `length` is that between the centres of the caps.
FloStatus flo_mesh_capsule(double radius, double length, double fineness, FloMesh *mesh, FloError *error);
// The top radius may be 0.
FloStatus flo_mesh_cone(double base_radius, double top_radius, double length, double fineness, FloMesh *mesh,
                        FloError *error);
FloStatus flo_mesh_torus(double ring_radius, double tube_radius, double fineness, FloMesh *mesh,
                         FloError *error);
// A pipe, open at both ends.
FloStatus flo_mesh_tube(double outer_radius, double inner_radius, double length, double fineness,
                        FloMesh *mesh, FloError *error);
// One link of a chain: round wire bent to a stadium in the x-y plane, `length` along x and `width` along y
// over all.
FloStatus flo_mesh_link(double length, double width, double wire_radius, double fineness, FloMesh *mesh,
                        FloError *error);

#endif
