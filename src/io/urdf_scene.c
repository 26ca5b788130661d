// A scene from a robot: a body for each shape of a link, placed as its joints say, and a joint for each
// joint.
#include "base/core.h"
#include "base/vecmath.h"
#include "io/files.h"
#include "io/urdf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORLD = -1, UNPLACED = -2 };

// What is known of a link beside the file.
typedef struct Placed {
  FloPose pose; // of its frame
  int body;     // the link whose body carries it; WORLD, or UNPLACED
} Placed;

typedef struct Making {
  const FloUrdf *robot;
  const FloUrdfOptions *options;
  Placed *links;
  double *starts; // coordinate of each joint at the start
  json_t *bodies, *joints;
  json_t **entries;                // of each joint in the scene, borrowed; NULL: it has none
  double spacing, low[3], high[3]; // box around all shapes
  bool has_lost;                   // values of the scene, for lack of memory
  char *notes;
  size_t notes_size;
  FloError *error;
} Making;

__attribute__((format(printf, 2, 3))) static void note(Making *m, const char *format, ...) {
  size_t used = strlen(m->notes);
  va_list arguments;
  va_start(arguments, format);
  if (used + 1 < m->notes_size) vsnprintf(m->notes + used, m->notes_size - used, format, arguments);
  va_end(arguments);
}

// ---- Poses ----

// b in the frame of a.
static FloPose compose(const FloPose *a, const FloPose *b) {
  FloPose out;
  quat_rotate(a->rotation, b->position, out.position);
  vec_add(a->position, out.position, out.position);
  quat_multiply(a->rotation, b->rotation, out.rotation);
  return out;
}

static bool is_type(const FloUrdfJoint *joint, const char *type) { return !strcmp(joint->type, type); }

static FloPose motion_of(const FloUrdfJoint *joint, double coordinate) {
  FloPose pose = flo_pose_identity();
  double length = vec_length(joint->axis);
  if (is_type(joint, "prismatic")) vec_scale(joint->axis, coordinate / length, pose.position);
  if (is_type(joint, "revolute") || is_type(joint, "continuous"))
    quat_from_axis_angle(joint->axis, coordinate, pose.rotation);
  return pose;
}

static int find_link(const FloUrdf *robot, const char *name) {
  for (size_t k = 0; k < robot->n_links; ++k)
    if (!strcmp(robot->links[k].name, name)) return (int)k;
  return UNPLACED;
}

static int find_joint(const FloUrdf *robot, const char *name) {
  for (size_t k = 0; k < robot->n_joints; ++k)
    if (!strcmp(robot->joints[k].name, name)) return (int)k;
  return -1;
}

// ---- Checks ----

static FloStatus check_joint(const Making *m, const FloUrdfJoint *joint) {
  static const char *const known[] = {"revolute", "continuous", "prismatic", "fixed", "planar", "floating"};
  bool is_known = false, moves = !is_type(joint, "fixed") && !is_type(joint, "floating");
  for (size_t k = 0; k < FLO_COUNT_OF(known); ++k) is_known |= is_type(joint, known[k]);
  const char *path = m->robot->path;
  if (!is_known)
    return flo_fail(m->error, FLO_BAD_INPUT,
                    "%s: joint '%s': there is no type '%s'; it is one of revolute, continuous, prismatic, "
                    "fixed, planar and "
                    "floating",
                    path, joint->name, joint->type);
  if (find_link(m->robot, joint->parent) < 0 || find_link(m->robot, joint->child) < 0)
    return flo_fail(m->error, FLO_BAD_INPUT, "%s: joint '%s': there is no link '%s'", path, joint->name,
                    find_link(m->robot, joint->parent) < 0 ? joint->parent : joint->child);
  if (moves && !(vec_length(joint->axis) > 0))
    return flo_fail(m->error, FLO_BAD_INPUT, "%s: joint '%s': its axis has no direction", path, joint->name);
  if (joint->mimic[0] && find_joint(m->robot, joint->mimic) < 0)
    return flo_fail(m->error, FLO_BAD_INPUT, "%s: joint '%s' mimics '%s', which is no joint", path,
                    joint->name, joint->mimic);
  return FLO_OK;
}

static bool has_limits(const FloUrdfJoint *joint) {
  return joint->has_limits && !is_type(joint, "continuous") && joint->upper > joint->lower;
}

// Zero, or the limit nearest to it; a joint that mimics another follows it, which may mimic a third one.
static FloStatus find_start(const Making *m, size_t joint, size_t depth, double *start) {
  const FloUrdfJoint *own = &m->robot->joints[joint];
  *start = has_limits(own) ? fmin(fmax(0, own->lower), own->upper) : 0;
  if (!own->mimic[0]) return FLO_OK;
  if (depth > m->robot->n_joints)
    return flo_fail(m->error, FLO_BAD_INPUT,
                    "%s: joint '%s' mimics itself, by way of others; let one of them mimic none",
                    m->robot->path, own->name);
  FLO_TRY(find_start(m, (size_t)find_joint(m->robot, own->mimic), depth + 1, start));
  *start = own->multiplier * *start + own->offset;
  return FLO_OK;
}

static FloStatus find_starts(Making *m) {
  for (size_t k = 0; k < m->robot->n_joints; ++k) FLO_TRY(find_start(m, k, 0, &m->starts[k]));
  return FLO_OK;
}

// ---- Places of links ----

static bool is_frame(const FloUrdfLink *link) { return link->n_shapes == 0 && !link->has_mass; }

static bool is_child(const FloUrdf *robot, size_t link) {
  for (size_t k = 0; k < robot->n_joints; ++k)
    if (!strcmp(robot->joints[k].child, robot->links[link].name)) return true;
  return false;
}

// A link without mass and shape is carried by the link that it is fixed to.
static FloStatus place_child(Making *m, size_t k) {
  const FloUrdfJoint *joint = &m->robot->joints[k];
  const int parent = find_link(m->robot, joint->parent), child = find_link(m->robot, joint->child);
  if (m->links[parent].body == UNPLACED || m->links[child].body != UNPLACED) return FLO_OK;
  const FloPose moved = motion_of(joint, m->starts[k]), at = compose(&joint->origin, &moved);
  m->links[child].pose = compose(&m->links[parent].pose, &at);
  m->links[child].body = child;
  if (!is_frame(&m->robot->links[child])) return FLO_OK;
  if (!is_type(joint, "fixed"))
    return flo_fail(m->error, FLO_BAD_INPUT,
                    "%s: link '%s' has neither a shape nor a mass, but the joint '%s' moves it; give it both",
                    m->robot->path, joint->child, joint->name);
  m->links[child].body = m->links[parent].body;
  return FLO_OK;
}

static FloStatus place_links(Making *m) {
  for (size_t k = 0; k < m->robot->n_links; ++k) {
    m->links[k] = (Placed){flo_pose_identity(), UNPLACED};
    if (!is_child(m->robot, k)) m->links[k].body = is_frame(&m->robot->links[k]) ? WORLD : (int)k;
  }
  for (size_t round = 0; round < m->robot->n_links; ++round)
    for (size_t k = 0; k < m->robot->n_joints; ++k) FLO_TRY(place_child(m, k));
  for (size_t k = 0; k < m->robot->n_links; ++k)
    if (m->links[k].body == UNPLACED)
      return flo_fail(m->error, FLO_BAD_INPUT,
                      "%s: link '%s' is part of a loop of joints, which URDF does not have", m->robot->path,
                      m->robot->links[k].name);
  return FLO_OK;
}

// ---- JSON ----

// Values that could not be made, for lack of memory, are noticed here.
static void keep(Making *m, json_t *list, json_t *value) {
  if (json_array_append_new(list, value) != 0) m->has_lost = true;
}

static void set(Making *m, json_t *object, const char *key, json_t *value) {
  if (json_object_set_new(object, key, value) != 0) m->has_lost = true;
}

// Numbers that rounding has left near zero become zero.
static json_t *numbers(const double *values, int n) {
  json_t *list = json_array();
  for (int k = 0; list && k < n; ++k)
    json_array_append_new(list, json_real(fabs(values[k]) < 1e-12 ? 0 : values[k]));
  return list;
}

static json_t *rotation_of(const double q[4]) {
  double turn[3];
  quat_to_vector(q, turn);
  double angle = vec_length(turn);
  if (angle < 1e-9) return NULL;
  vec_scale(turn, 1 / angle, turn);
  return json_pack("{s:o, s:f}", "axis", numbers(turn, 3), "angle", angle * 180 / FLO_PI);
}

static json_t *shape_of(const FloUrdfShape *shape, const char *mesh) {
  if (shape->kind == FLO_SHAPE_BOX) return json_pack("{s:o}", "box", numbers(shape->size, 3));
  if (shape->kind == FLO_SHAPE_CYLINDER) return json_pack("{s:o}", "cylinder", numbers(shape->size, 2));
  if (shape->kind == FLO_SHAPE_CAPSULE) return json_pack("{s:o}", "capsule", numbers(shape->size, 2));
  if (shape->kind == FLO_SHAPE_SPHERE) return json_pack("{s:f}", "sphere", shape->size[0]);
  return json_pack("{s:s, s:f}", "mesh", mesh, "scale", shape->size[0]);
}

// ---- Bodies ----

static double reach_of(const FloUrdfShape *shape) {
  if (shape->kind == FLO_SHAPE_BOX) return vec_length(shape->size) / 2;
  if (shape->kind == FLO_SHAPE_CYLINDER) return hypot(shape->size[0], shape->size[1] / 2);
  if (shape->kind == FLO_SHAPE_CAPSULE) return shape->size[0] + shape->size[1] / 2;
  return shape->kind == FLO_SHAPE_SPHERE ? shape->size[0] : 0;
}

static double thinness_of(const FloUrdfShape *shape) {
  if (shape->kind == FLO_SHAPE_BOX) return fmin(fmin(shape->size[0], shape->size[1]), shape->size[2]);
  if (shape->kind == FLO_SHAPE_CYLINDER) return fmin(2 * shape->size[0], shape->size[1]);
  return shape->kind == FLO_SHAPE_MESH ? INFINITY : 2 * shape->size[0];
}

// A link of several shapes is a body for each, fixed to the first. All but the first have this share of the
// mass together; the first has what remains, so that the whole has the mass, centre and inertia of the file.
#define LIGHT_SHARE 1e-3

static double light_mass(const FloUrdfLink *link) {
  return LIGHT_SHARE * link->mass / (double)(link->n_shapes - 1);
}

// The radius of gyration of a light body, a ball of mass at the origin of its shape.
static double light_radius(const FloUrdfShape *shape) { return fmax(reach_of(shape), 1e-3) / 2; }

// Adds the inertia of a mass at a distance.
static void add_point(double mass, const double at[3], double inertia[9]) {
  double square = vec_dot(at, at);
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) inertia[3 * a + b] += mass * ((a == b ? square : 0) - at[a] * at[b]);
}

// The inertia of the file in the axes of the link.
static void turn_inertia(const FloUrdfLink *link, double out[9]) {
  const double *i = link->inertia;
  const double matrix[9] = {i[0], i[3], i[5], i[3], i[1], i[4], i[5], i[4], i[2]};
  double axes[3][3], column[3];
  for (int k = 0; k < 3; ++k)
    quat_rotate_back(link->centre.rotation, (const double[3]){k == 0, k == 1, k == 2}, axes[k]);
  for (int a = 0; a < 3; ++a) {
    mat_apply(matrix, axes[a], column);
    for (int b = 0; b < 3; ++b) out[3 * a + b] = vec_dot(axes[b], column);
  }
}

typedef struct Mass {
  double mass, centre[3], inertia[9]; // about the centre; in the frame of the link
} Mass;

// What remains for the first body of a link.
static Mass main_mass(const FloUrdfLink *link) {
  Mass out = {.mass = link->mass};
  double light = link->n_shapes > 1 ? light_mass(link) : 0, way[3];
  turn_inertia(link, out.inertia);
  vec_scale(link->centre.position, link->mass, out.centre);
  for (size_t k = 1; k < link->n_shapes; ++k) {
    const FloUrdfShape *shape = &link->shapes[k];
    double radius = light_radius(shape);
    vec_sub(shape->origin.position, link->centre.position, way);
    add_point(-light, way, out.inertia);
    for (int axis = 0; axis < 3; ++axis) out.inertia[4 * axis] -= light * radius * radius;
    vec_add_scaled(out.centre, shape->origin.position, -light, out.centre);
    out.mass -= light;
  }
  vec_scale(out.centre, 1 / out.mass, out.centre);
  vec_sub(out.centre, link->centre.position, way);
  add_point(-out.mass, way, out.inertia);
  return out;
}

// In the axes of the shape.
static void add_inertia(Making *m, json_t *body, const Mass *mass, const FloUrdfShape *shape) {
  double turned[9], centre[3], column[3], axes[3][3];
  for (int k = 0; k < 3; ++k)
    quat_rotate(shape->origin.rotation, (const double[3]){k == 0, k == 1, k == 2}, axes[k]);
  for (int a = 0; a < 3; ++a) {
    mat_apply(mass->inertia, axes[a], column);
    for (int b = 0; b < 3; ++b) turned[3 * a + b] = vec_dot(axes[b], column);
  }
  vec_sub(mass->centre, shape->origin.position, centre);
  quat_rotate_back(shape->origin.rotation, centre, centre);
  set(m, body, "centre_of_mass", numbers(centre, 3));
  set(m, body, "inertia", numbers((const double[3]){turned[0], turned[4], turned[8]}, 3));
  set(m, body, "inertia_products", numbers((const double[3]){turned[1], turned[5], turned[2]}, 3));
}

static void body_name(const FloUrdfLink *link, size_t shape, char name[64]) {
  if (shape == 0)
    snprintf(name, 64, "%s", link->name);
  else
    snprintf(name, 64, "%.59s-%zu", link->name, shape + 1);
}

static bool has_inertia(const FloUrdfLink *link) {
  return link->inertia[0] > 0 && link->inertia[1] > 0 && link->inertia[2] > 0;
}

static void add_mass(Making *m, json_t *body, const FloUrdfLink *link, size_t number) {
  if (!link->has_mass) return;
  const FloUrdfShape ball = {.origin = link->centre}, *shape = link->n_shapes ? &link->shapes[number] : &ball;
  Mass mass = main_mass(link);
  if (!has_inertia(link)) mass.mass = link->mass / (double)(link->n_shapes > 1 ? link->n_shapes : 1);
  if (has_inertia(link) && number > 0) {
    double radius = light_radius(shape);
    mass = (Mass){.mass = light_mass(link)};
    vec_copy(shape->origin.position, mass.centre);
    for (int axis = 0; axis < 3; ++axis) mass.inertia[4 * axis] = mass.mass * radius * radius;
  }
  set(m, body, "mass", json_real(mass.mass));
  if (has_inertia(link)) add_inertia(m, body, &mass, shape);
}

static FloStatus add_body(Making *m, const FloUrdfLink *link, const FloUrdfShape *shape, size_t number) {
  char name[64], mesh[FLO_PATH_SIZE] = "";
  const FloPose at = compose(&m->links[find_link(m->robot, link->name)].pose, &shape->origin);
  body_name(link, number, name);
  if (shape->kind == FLO_SHAPE_MESH) FLO_TRY(flo_urdf_find_mesh(m->robot, shape->mesh, mesh, m->error));
  FLO_TRY(flo_urdf_bounds(shape, &at, mesh, m->low, m->high, m->error));
  json_t *rotation = rotation_of(at.rotation);
  json_t *body = json_pack("{s:s, s:s, s:o, s:o}", "name", name, "material", "robot", "shape",
                           shape_of(shape, mesh), "at", numbers(at.position, 3));
  if (rotation) set(m, body, "rotate", rotation);
  add_mass(m, body, link, number);
  m->spacing = fmin(m->spacing, thinness_of(shape) / 3);
  keep(m, m->bodies, body);
  if (number == 0) return FLO_OK;
  json_t *weld = json_pack("{s:s+, s:s, s:s}", "name", name, "-weld", "fixed", name, "to", link->name);
  keep(m, m->joints, weld);
  return FLO_OK;
}

// A link with a mass and no shape becomes a ball of the density of water.
static FloStatus add_link(Making *m, const FloUrdfLink *link) {
  FloUrdfShape ball = {.kind = FLO_SHAPE_SPHERE, .origin = link->centre};
  if (is_frame(link)) return FLO_OK;
  if (link->n_shapes == 0) {
    ball.size[0] = cbrt(link->mass / 1000 * 3 / (4 * FLO_PI));
    note(m, "link '%s' has no shape; it becomes a ball of its mass\n", link->name);
    FLO_TRY(add_body(m, link, &ball, 0));
  }
  if (link->n_shapes > 1 && link->has_mass && !has_inertia(link))
    note(m, "link '%s' has %zu shapes and no inertia; each shape has the same share of its mass\n",
         link->name, link->n_shapes);
  for (size_t k = 0; k < link->n_shapes; ++k) {
    const FloUrdfShape *shape = &link->shapes[k];
    if (shape->kind == FLO_SHAPE_MESH &&
        (shape->size[0] != shape->size[1] || shape->size[0] != shape->size[2]))
      return flo_fail(m->error, FLO_BAD_INPUT,
                      "%s: link '%s': the scale of a mesh must be the same along all axes", m->robot->path,
                      link->name);
    FLO_TRY(add_body(m, link, shape, k));
  }
  return FLO_OK;
}

// ---- Joints ----

// In a scene joints and bodies have different names, and so have those that are made for planar joints.
static void joint_name(const Making *m, const FloUrdfJoint *joint, char name[96]) {
  const bool is_taken = find_link(m->robot, joint->name) >= 0;
  snprintf(name, 96, "%s%s", joint->name, is_taken ? "-joint" : "");
}

static void set_parent(Making *m, json_t *entry, int body) {
  if (body >= 0) set(m, entry, "to", json_string(m->robot->links[body].name));
}

static void add_drive(Making *m, json_t *entry, const FloUrdfJoint *joint, double start) {
  bool turns = !is_type(joint, "prismatic");
  if (has_limits(joint))
    set(m, entry, "limits", numbers((const double[2]){joint->lower - start, joint->upper - start}, 2));
  if (joint->friction > 0) set(m, entry, "friction", json_real(joint->friction));
  if (m->options->holds && joint->effort > 0 && !joint->mimic[0])
    set(m, entry, "motor",
        json_pack("{s:f, s:f}", "position", 0.0, turns ? "max_torque" : "max_force", joint->effort));
}

static void add_damper(Making *m, const FloUrdfJoint *joint, const json_t *entry) {
  json_t *axis = json_object_get(entry, "axis"), *to = json_object_get(entry, "to");
  if (is_type(joint, "prismatic")) {
    note(m, "joint '%s': the damping of a prismatic joint is left out\n", joint->name);
    return;
  }
  json_t *damper = json_pack("{s:s+, s:s, s:O, s:f}", "name", joint->name, "-damper", "turn_spring",
                             joint->child, "axis", axis, "damping", joint->damping);
  if (to) set(m, damper, "to", json_incref(to));
  keep(m, m->joints, damper);
}

static bool is_drive(const FloUrdfJoint *joint) {
  return is_type(joint, "revolute") || is_type(joint, "continuous") || is_type(joint, "prismatic");
}

static FloStatus add_mimic(Making *m, const FloUrdfJoint *joint) {
  const FloUrdfJoint *other = &m->robot->joints[find_joint(m->robot, joint->mimic)];
  char own[96], with[96];
  if (!is_drive(joint) || !is_drive(other))
    return flo_fail(
        m->error, FLO_BAD_INPUT,
        "%s: joint '%s' mimics '%s', but one of them neither turns nor slides along one axis; leave "
        "<mimic> out",
        m->robot->path, joint->name, other->name);
  joint_name(m, joint, own);
  joint_name(m, other, with);
  keep(m, m->joints,
       json_pack("{s:s+, s:s, s:s, s:f}", "name", own, "-mimic", "gear", own, "with", with, "ratio",
                 -joint->multiplier));
  return FLO_OK;
}

static FloStatus add_extras(Making *m, size_t k) {
  const FloUrdfJoint *joint = &m->robot->joints[k];
  if (!m->entries[k]) return FLO_OK;
  if (joint->damping > 0 && is_drive(joint)) add_damper(m, joint, m->entries[k]);
  return joint->mimic[0] ? add_mimic(m, joint) : FLO_OK;
}

static void add_point_on_plane(Making *m, const FloUrdfJoint *joint, int number, const double at[3],
                               const double axis[3]) {
  char name[96];
  snprintf(name, sizeof name, "%s-planar-%d", joint->name, number);
  json_t *entry = json_pack("{s:s, s:s, s:o, s:o}", "name", name, "point_on_plane", joint->child, "at",
                            numbers(at, 3), "axis", numbers(axis, 3));
  set_parent(m, entry, m->links[find_link(m->robot, joint->parent)].body);
  keep(m, m->joints, entry);
}

// Three points of the child stay on a plane of the parent: the child slides in the plane and turns about its
// normal.
static void add_planar(Making *m, const FloUrdfJoint *joint, const FloPose *at) {
  const double away = 0.1; // of two points from the first [m]; any distance does
  double axis[3], side[3], other[3], point[3];
  quat_rotate(at->rotation, joint->axis, axis);
  vec_cross(axis,
            fabs(axis[0]) < 0.6 * vec_length(axis) ? (const double[3]){1, 0, 0} : (const double[3]){0, 1, 0},
            side);
  vec_cross(axis, side, other);
  add_point_on_plane(m, joint, 1, at->position, axis);
  vec_add_scaled(at->position, side, away / vec_length(side), point);
  add_point_on_plane(m, joint, 2, point, axis);
  vec_add_scaled(at->position, other, away / vec_length(other), point);
  add_point_on_plane(m, joint, 3, point, axis);
  if (joint->has_limits) note(m, "joint '%s': the limits of a planar joint are left out\n", joint->name);
}

static void add_joint(Making *m, size_t k) {
  const FloUrdfJoint *joint = &m->robot->joints[k];
  const int parent = m->links[find_link(m->robot, joint->parent)].body,
            child = find_link(m->robot, joint->child);
  const bool is_fixed = is_type(joint, "fixed");
  double axis[3];
  char name[96];
  if (m->links[child].body != child || is_type(joint, "floating")) return;
  if (is_type(joint, "planar")) {
    add_planar(m, joint, &m->links[child].pose);
    return;
  }
  const char *kind = is_fixed ? "fixed" : is_type(joint, "prismatic") ? "slider" : "hinge";
  joint_name(m, joint, name);
  json_t *entry = json_pack("{s:s, s:s, s:o}", "name", name, kind, joint->child, "at",
                            numbers(m->links[child].pose.position, 3));
  set_parent(m, entry, parent);
  if (!is_fixed) {
    quat_rotate(m->links[child].pose.rotation, joint->axis, axis);
    set(m, entry, "axis", numbers(axis, 3));
    add_drive(m, entry, joint, m->starts[k]);
  }
  keep(m, m->joints, entry);
  m->entries[k] = entry;
}

static void tell_of_names(Making *m) {
  for (size_t k = 0; k < m->robot->n_joints; ++k) {
    const FloUrdfJoint *joint = &m->robot->joints[k];
    if (m->entries[k] && find_link(m->robot, joint->name) >= 0)
      note(m, "joint '%s' has the name of a link; it becomes '%s-joint'\n", joint->name, joint->name);
    if (m->entries[k] && is_drive(joint) && !is_type(joint, "continuous") && joint->has_limits &&
        !(joint->upper > joint->lower))
      note(m, "joint '%s': its limits are the same, so they are left out\n", joint->name);
  }
}

static void add_base(Making *m) {
  for (size_t k = 0; k < m->robot->n_links; ++k)
    if (!is_child(m->robot, k) && m->links[k].body >= 0 && m->options->is_fixed)
      keep(m, m->joints,
           json_pack("{s:s+, s:s}", "name", m->robot->links[k].name, "-base", "fixed",
                     m->robot->links[k].name));
}

static FloStatus add_joints(Making *m) {
  for (size_t k = 0; k < m->robot->n_joints; ++k) add_joint(m, k);
  for (size_t k = 0; k < m->robot->n_joints; ++k) FLO_TRY(add_extras(m, k));
  add_base(m);
  tell_of_names(m);
  return FLO_OK;
}

// ---- The scene ----

// Wide enough for the robot to fall over in any direction. Its top is at the lowest point of the robot.
static json_t *make_floor(const Making *m, double spacing) {
  const double thick = 4 * spacing;
  double extent[3], most = 0, size[3] = {0, 0, thick}, at[3] = {0, 0, m->low[2] - thick / 2};
  vec_sub(m->high, m->low, extent);
  for (int axis = 0; axis < 3; ++axis) most = fmax(most, extent[axis]);
  for (int axis = 0; axis < 2; ++axis)
    size[axis] = extent[axis] + 2 * most, at[axis] = (m->low[axis] + m->high[axis]) / 2;
  return json_pack("[{s:s, s:{s:o}, s:o}]", "name", "floor", "shape", "box", numbers(size, 3), "at",
                   numbers(at, 3));
}

static json_t *make_scene(Making *m) {
  double extent[3];
  vec_sub(m->high, m->low, extent);
  double spacing = m->options->spacing > 0 ? m->options->spacing : fmax(m->spacing, vec_length(extent) / 120);
  if (!isfinite(spacing) || !(spacing > 0)) spacing = 0.02;
  json_t *scene = json_pack("{s:i, s:s, s:s, s:f, s:f, s:{s:{s:f}}, s:O, s:O}", "schema_version", 1, "title",
                            m->robot->name, "up", "z", "spacing", spacing, "duration", 2.0, "materials",
                            "robot", "density", 1000.0, "bodies", m->bodies, "joints", m->joints);
  if (!m->options->is_fixed) set(m, scene, "boundaries", make_floor(m, spacing));
  return scene;
}

static FloStatus fill(Making *m, json_t **scene) {
  const FloUrdf *robot = m->robot;
  for (size_t k = 0; k < robot->n_joints; ++k) FLO_TRY(check_joint(m, &robot->joints[k]));
  FLO_TRY(find_starts(m));
  FLO_TRY(place_links(m));
  for (size_t k = 0; k < robot->n_links; ++k) FLO_TRY(add_link(m, &robot->links[k]));
  FLO_TRY(add_joints(m));
  if (json_array_size(m->bodies) == 0)
    return flo_fail(m->error, FLO_BAD_INPUT, "%s: no link has a shape or a mass", robot->path);
  *scene = make_scene(m);
  if (*scene && !m->has_lost) return FLO_OK;
  json_decref(*scene), *scene = NULL;
  return flo_fail(m->error, FLO_NO_MEMORY, "no memory for a scene");
}

FloStatus flo_urdf_scene(const FloUrdf *robot, const FloUrdfOptions *options, json_t **scene, char *notes,
                         size_t notes_size, FloError *error) {
  Making m = {.robot = robot,
              .options = options,
              .spacing = INFINITY,
              .low = {INFINITY, INFINITY, INFINITY},
              .high = {-INFINITY, -INFINITY, -INFINITY},
              .notes = notes,
              .notes_size = notes_size,
              .error = error};
  notes[0] = 0, *scene = NULL;
  m.links = calloc(robot->n_links + 1, sizeof *m.links);
  m.starts = calloc(robot->n_joints + 1, sizeof *m.starts);
  m.entries = calloc(robot->n_joints + 1, sizeof *m.entries);
  m.bodies = json_array(), m.joints = json_array();
  FloStatus status = m.links && m.starts && m.entries && m.bodies && m.joints
                         ? fill(&m, scene)
                         : flo_fail(error, FLO_NO_MEMORY, "no memory for a scene");
  json_decref(m.bodies);
  json_decref(m.joints);
  free(m.links);
  free(m.starts);
  free(m.entries);
  return status;
}
