// Robots in URDF files (Unified Robot Description Format): reads links and joints, and makes a scene of them.
//
// Read: links with inertial, collision and visual; boxes, cylinders, capsules, spheres and meshes; joints of
// the types revolute, continuous, prismatic, fixed, planar and floating, with origin, axis, limits, dynamics
// and mimic. Other elements are skipped.
#ifndef FLO_IO_URDF_H
#define FLO_IO_URDF_H

#include "flotsam/world.h"

#include <jansson.h>

typedef struct FloUrdfShape {
  FloShapeKind kind; // box, cylinder, capsule, sphere or mesh
  double size[3];    // box: edges; cylinder, capsule: radius and length; sphere: radius; mesh: scale [m]
  char mesh[512];    // path, as in the file
  FloPose origin;    // in the frame of the link
} FloUrdfShape;

typedef struct FloUrdfLink {
  char name[64];
  bool has_mass;
  double mass, inertia[6]; // xx, yy, zz, xy, yz, zx in the axes of `centre`
  FloPose centre;
  FloUrdfShape *shapes; // of its collisions; without any, of its visuals
  size_t n_shapes;
  bool has_collision;
} FloUrdfLink;

typedef struct FloUrdfJoint {
  char name[64], type[16], parent[64], child[64], mimic[64]; // mimic: "": none
  FloPose origin;
  double axis[3];
  bool has_limits;
  double lower, upper, effort, damping, friction, multiplier, offset;
} FloUrdfJoint;

typedef struct FloUrdf {
  char name[64], path[512];
  FloUrdfLink *links;
  FloUrdfJoint *joints;
  size_t n_links, n_joints;
} FloUrdf;

typedef struct FloUrdfOptions {
  double spacing; // [m]; 0: chosen from the sizes of the shapes
  bool is_fixed;  // the first link is fixed to the world; otherwise it stands on a floor
  bool holds;     // motors hold each joint at its start, as strong as its effort
} FloUrdfOptions;

// Release with flo_urdf_free, also after a failure.
FloStatus flo_urdf_read(const char *path, FloUrdf *robot, FloError *error);
void flo_urdf_free(FloUrdf *robot);
// The file of a mesh that the robot names so. `path` has FLO_PATH_SIZE characters.
FloStatus flo_urdf_find_mesh(const FloUrdf *robot, const char *name, char *path, FloError *error);
// Widens a box by a shape at a place. `mesh`: the file of its mesh.
FloStatus flo_urdf_bounds(const FloUrdfShape *shape, const FloPose *at, const char *mesh, double low[3],
                          double high[3], FloError *error);
// The scene of a robot, which the caller releases. `notes` receives what could not be taken over, in lines.
FloStatus flo_urdf_scene(const FloUrdf *robot, const FloUrdfOptions *options, json_t **scene, char *notes,
                         size_t notes_size, FloError *error);

#endif
