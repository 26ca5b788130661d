#include "io/urdf.h"

#include "base/core.h"
#include "base/vecmath.h"
#include "io/files.h"

#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reading {
  FloUrdf *robot;
  XML_Parser parser;
  FloStatus status;
  FloError *error;
  FloUrdfLink *link;   // the one that is being read
  FloUrdfJoint *joint; // the same
  FloUrdfShape shape;  // of the collision or visual that is being read
  bool is_inertial, is_shape, is_visual, has_geometry;
  int depth;
} Reading;

// ---- Errors and numbers ----

__attribute__((format(printf, 2, 3))) static void complain(Reading *r, const char *format, ...) {
  char text[512];
  va_list arguments;
  if (r->status != FLO_OK) return;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  r->status = flo_fail(r->error, FLO_BAD_INPUT, "%s: line %lu: %s", r->robot->path,
                       (unsigned long)XML_GetCurrentLineNumber(r->parser), text);
}

static const char *attribute(const char **attributes, const char *name) {
  for (; *attributes; attributes += 2)
    if (!strcmp(attributes[0], name)) return attributes[1];
  return NULL;
}

// As many numbers as the attribute must have. If it is missing, they stay unchanged.
static void read_numbers(Reading *r, const char **attributes, const char *name, int n, double *out) {
  const char *text = attribute(attributes, name), *at = text;
  for (int k = 0; text && k < n; ++k) {
    char *end;
    out[k] = strtod(at, &end);
    if (end == at || !isfinite(out[k])) {
      complain(r, "%s=\"%.60s\" must be %d number%s", name, text, n, n > 1 ? "s" : "");
      return;
    }
    at = end;
  }
  while (at && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) ++at;
  if (at && *at)
    complain(r, "%s=\"%.60s\" must be %d number%s and nothing else", name, text, n, n > 1 ? "s" : "");
}

static void read_name(Reading *r, const char **attributes, const char *name, char out[64]) {
  const char *text = attribute(attributes, name);
  if (!text || !*text)
    complain(r, "the attribute '%s' is missing", name);
  else if (strlen(text) >= 60)
    complain(r, "the name '%.70s' has more than 59 characters", text);
  else
    snprintf(out, 64, "%s", text);
}

// Roll, pitch and yaw turn about the fixed axes x, y and z, in this order.
static void read_origin(Reading *r, const char **attributes, FloPose *pose) {
  double angles[3] = {0}, turn[4];
  *pose = flo_pose_identity();
  read_numbers(r, attributes, "xyz", 3, pose->position);
  read_numbers(r, attributes, "rpy", 3, angles);
  for (int k = 0; k < 3; ++k) {
    const double axis[3] = {k == 0, k == 1, k == 2};
    quat_from_axis_angle(axis, angles[k], turn);
    quat_multiply(turn, pose->rotation, pose->rotation);
  }
}

// ---- Lists ----

static void *append(Reading *r, void *list, size_t *n, size_t size) {
  void *larger = realloc(list, (*n + 1) * size);
  if (!larger) {
    if (r->status == FLO_OK) r->status = flo_fail(r->error, FLO_NO_MEMORY, "no memory for a robot");
    return list;
  }
  memset((char *)larger + (*n)++ * size, 0, size);
  return larger;
}

static void start_link(Reading *r, const char **attributes) {
  FloUrdf *robot = r->robot;
  robot->links = append(r, robot->links, &robot->n_links, sizeof *robot->links);
  if (r->status != FLO_OK) return;
  r->link = &robot->links[robot->n_links - 1];
  r->link->centre = flo_pose_identity();
  read_name(r, attributes, "name", r->link->name);
  for (size_t k = 0; k + 1 < robot->n_links; ++k)
    if (!strcmp(robot->links[k].name, r->link->name)) complain(r, "there are two links '%s'", r->link->name);
}

static void start_joint(Reading *r, const char **attributes) {
  FloUrdf *robot = r->robot;
  robot->joints = append(r, robot->joints, &robot->n_joints, sizeof *robot->joints);
  if (r->status != FLO_OK) return;
  r->joint = &robot->joints[robot->n_joints - 1];
  *r->joint = (FloUrdfJoint){.origin = flo_pose_identity(), .axis = {1, 0, 0}, .multiplier = 1};
  read_name(r, attributes, "name", r->joint->name);
  const char *type = attribute(attributes, "type");
  snprintf(r->joint->type, sizeof r->joint->type, "%s", type ? type : "");
}

// Shapes of visuals count only until the first collision.
static void end_shape(Reading *r) {
  FloUrdfLink *link = r->link;
  if (!r->has_geometry || (r->is_visual && link->has_collision)) return;
  if (!r->is_visual && !link->has_collision) link->n_shapes = 0, link->has_collision = true;
  link->shapes = append(r, link->shapes, &link->n_shapes, sizeof *link->shapes);
  if (r->status == FLO_OK) link->shapes[link->n_shapes - 1] = r->shape;
}

// ---- Elements ----

static void read_geometry(Reading *r, const char *name, const char **attributes) {
  FloUrdfShape *shape = &r->shape;
  r->has_geometry = true;
  if (!strcmp(name, "box")) {
    shape->kind = FLO_SHAPE_BOX;
    read_numbers(r, attributes, "size", 3, shape->size);
  } else if (!strcmp(name, "cylinder")) {
    shape->kind = FLO_SHAPE_CYLINDER;
    read_numbers(r, attributes, "radius", 1, &shape->size[0]);
    read_numbers(r, attributes, "length", 1, &shape->size[1]);
  } else if (!strcmp(name, "capsule")) {
    shape->kind = FLO_SHAPE_CAPSULE;
    read_numbers(r, attributes, "radius", 1, &shape->size[0]);
    read_numbers(r, attributes, "length", 1, &shape->size[1]);
  } else if (!strcmp(name, "sphere")) {
    shape->kind = FLO_SHAPE_SPHERE;
    read_numbers(r, attributes, "radius", 1, &shape->size[0]);
  } else {
    const char *file = attribute(attributes, "filename");
    shape->kind = FLO_SHAPE_MESH;
    vec_set(shape->size, 1, 1, 1);
    read_numbers(r, attributes, "scale", 3, shape->size);
    snprintf(shape->mesh, sizeof shape->mesh, "%s", file ? file : "");
    if (!file) complain(r, "a mesh needs a 'filename'");
  }
}

static bool is_geometry(const char *name) {
  static const char *const names[] = {"box", "cylinder", "capsule", "sphere", "mesh"};
  for (size_t k = 0; k < FLO_COUNT_OF(names); ++k)
    if (!strcmp(name, names[k])) return true;
  return false;
}

static void read_link_part(Reading *r, const char *name, const char **attributes) {
  FloUrdfLink *link = r->link;
  if (!strcmp(name, "inertial")) {
    r->is_inertial = true;
  } else if (!strcmp(name, "collision") || !strcmp(name, "visual")) {
    r->is_shape = true, r->is_visual = name[0] == 'v', r->has_geometry = false;
    r->shape = (FloUrdfShape){.origin = flo_pose_identity()};
  } else if (!strcmp(name, "origin") && (r->is_inertial || r->is_shape)) {
    read_origin(r, attributes, r->is_inertial ? &link->centre : &r->shape.origin);
  } else if (!strcmp(name, "mass") && r->is_inertial) {
    read_numbers(r, attributes, "value", 1, &link->mass);
    link->has_mass = link->mass > 0;
    if (!link->has_mass)
      complain(
          r,
          "link '%s' has the mass %g kg, but it must be above 0; leave <inertial> out for a link that is "
          "only a frame",
          link->name, link->mass);
  } else if (!strcmp(name, "inertia") && r->is_inertial) {
    static const char *const names[6] = {"ixx", "iyy", "izz", "ixy", "iyz", "ixz"};
    for (int k = 0; k < 6; ++k) read_numbers(r, attributes, names[k], 1, &link->inertia[k]);
  } else if (r->is_shape && is_geometry(name)) {
    read_geometry(r, name, attributes);
  }
}

// The moments of mass along three axes follow from those about them: m = trace / 2 - inertia, so that the
// products of inertia change their sign. No body has a negative one. Files round their numbers, so that a
// little is allowed.
static bool is_possible(const double i[6]) {
  const double half = (i[0] + i[1] + i[2]) / 2, room = 1e-3 * half;
  const double a = half - i[0] + room, b = half - i[1] + room, c = half - i[2] + room;
  const double det = a * b * c - a * i[4] * i[4] - b * i[5] * i[5] - c * i[3] * i[3] - 2 * i[3] * i[4] * i[5];
  return a >= 0 && b >= 0 && c >= 0 && a * b >= i[3] * i[3] && b * c >= i[4] * i[4] && a * c >= i[5] * i[5] &&
         det >= 0;
}

static void end_inertial(Reading *r) {
  const double *i = r->link->inertia;
  bool is_given = false;
  for (int k = 0; k < 6; ++k) is_given |= i[k] != 0;
  r->is_inertial = false;
  if (is_given && !is_possible(i))
    complain(
        r,
        "link '%s' has an inertia that no body can have (ixx %g, iyy %g, izz %g): the largest of its three "
        "principal moments must be at most the sum of the others; correct it, or leave <inertia> out",
        r->link->name, i[0], i[1], i[2]);
}

static void read_joint_part(Reading *r, const char *name, const char **attributes) {
  FloUrdfJoint *joint = r->joint;
  if (!strcmp(name, "origin")) read_origin(r, attributes, &joint->origin);
  if (!strcmp(name, "parent")) read_name(r, attributes, "link", joint->parent);
  if (!strcmp(name, "child")) read_name(r, attributes, "link", joint->child);
  if (!strcmp(name, "axis")) read_numbers(r, attributes, "xyz", 3, joint->axis);
  if (!strcmp(name, "limit")) {
    joint->has_limits = true;
    read_numbers(r, attributes, "lower", 1, &joint->lower);
    read_numbers(r, attributes, "upper", 1, &joint->upper);
    read_numbers(r, attributes, "effort", 1, &joint->effort);
    if (joint->lower > joint->upper)
      complain(r, "joint '%s': its lower limit, %g, is above its upper limit, %g; exchange them", joint->name,
               joint->lower, joint->upper);
  }
  if (!strcmp(name, "dynamics")) {
    read_numbers(r, attributes, "damping", 1, &joint->damping);
    read_numbers(r, attributes, "friction", 1, &joint->friction);
  }
  if (!strcmp(name, "mimic")) {
    read_name(r, attributes, "joint", joint->mimic);
    read_numbers(r, attributes, "multiplier", 1, &joint->multiplier);
    read_numbers(r, attributes, "offset", 1, &joint->offset);
  }
}

// Links and joints are children of the robot. Elements of the same names elsewhere, as in <transmission>, are
// skipped.
static void on_start(void *context, const char *name, const char **attributes) {
  Reading *r = context;
  int depth = r->depth++;
  if (r->status != FLO_OK) return;
  if (depth == 0) {
    const char *robot = attribute(attributes, "name");
    if (strcmp(name, "robot"))
      complain(r, "this is no URDF file: it begins with <%.40s> instead of <robot>", name);
    snprintf(r->robot->name, sizeof r->robot->name, "%s", robot ? robot : "robot");
  } else if (depth == 1 && !strcmp(name, "link")) {
    start_link(r, attributes);
  } else if (depth == 1 && !strcmp(name, "joint")) {
    start_joint(r, attributes);
  } else if (r->link) {
    read_link_part(r, name, attributes);
  } else if (r->joint) {
    read_joint_part(r, name, attributes);
  }
}

static void on_end(void *context, const char *name) {
  Reading *r = context;
  int depth = --r->depth;
  if (r->status != FLO_OK) return;
  if (depth == 1) r->link = NULL, r->joint = NULL;
  if (!r->link) return;
  if (!strcmp(name, "inertial")) end_inertial(r);
  if (r->is_shape && (!strcmp(name, "collision") || !strcmp(name, "visual")))
    end_shape(r), r->is_shape = false;
}

// ---- The whole file ----

static FloStatus parse(Reading *r, const char *text, size_t length) {
  XML_SetUserData(r->parser, r);
  XML_SetElementHandler(r->parser, on_start, on_end);
  if (XML_Parse(r->parser, text, (int)length, 1) == XML_STATUS_ERROR)
    complain(r, "%s", XML_ErrorString(XML_GetErrorCode(r->parser)));
  return r->status;
}

FloStatus flo_urdf_read(const char *path, FloUrdf *robot, FloError *error) {
  char *text;
  size_t length;
  *robot = (FloUrdf){0};
  snprintf(robot->path, sizeof robot->path, "%s", path);
  if (!flo_file_exists(path)) return flo_fail(error, FLO_BAD_INPUT, "%s: there is no such file", path);
  FLO_TRY(flo_file_read(path, &text, &length, error));
  Reading r = {.robot = robot, .error = error, .parser = XML_ParserCreate(NULL)};
  FloStatus status = FLO_OK;
  if (!r.parser) status = flo_fail(error, FLO_NO_MEMORY, "%s: no memory to read it", path);
  if (status == FLO_OK && length > 100000000)
    status = flo_fail(error, FLO_BAD_INPUT, "%s: has more than 100 MB, which no robot needs", path);
  if (status == FLO_OK) status = parse(&r, text, length);
  if (status == FLO_OK && robot->n_links == 0)
    status = flo_fail(error, FLO_BAD_INPUT, "%s: has no links", path);
  XML_ParserFree(r.parser);
  free(text);
  return status;
}

void flo_urdf_free(FloUrdf *robot) {
  for (size_t k = 0; k < robot->n_links; ++k) free(robot->links[k].shapes);
  free(robot->links);
  free(robot->joints);
  *robot = (FloUrdf){0};
}
