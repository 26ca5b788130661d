// Where joints are at a frame: each point moves with its body.
#include "base/vecmath.h"
#include "render_job.h"

#include <stdio.h>
#include <stdlib.h>

// Half the length of an axis in a picture, in spacings.
#define AXIS_REACH 3

// A point or direction of the scene's start, where the body carries it. `body` is SIZE_MAX for the world.
static void carry(const FloScene *scene, const FloFrame *frame, size_t body, const double start[3],
                  bool is_direction, double out[3]) {
  double local[3];
  vec_copy(start, out);
  if (body == SIZE_MAX) return;
  const FloPose *from = &scene->bodies[body].def.pose,
                *to = flo_frame_pose(frame->bodies, scene->bodies, body);
  if (!is_direction) vec_sub(start, from->position, out);
  quat_rotate_back(from->rotation, out, local);
  quat_rotate(to->rotation, local, out);
  if (!is_direction) vec_add(out, to->position, out);
}

static void to_floats(const double from[3], float to[3]) {
  for (int axis = 0; axis < 3; ++axis) to[axis] = (float)from[axis];
}

static bool has_rod(FloJointKind kind) {
  return kind == FLO_JOINT_DISTANCE || kind == FLO_JOINT_ROPE || kind == FLO_JOINT_SPRING;
}

static bool has_line(FloJointKind kind) {
  return kind != FLO_JOINT_BALL && kind != FLO_JOINT_FIXED && kind != FLO_JOINT_GEAR;
}

static FloDrawnJoint draw_joint(const FloScene *scene, const FloFrame *frame, const FloSceneJoint *joint) {
  const FloJointDef *def = &joint->def;
  const size_t to = joint->has_to ? joint->of[0] : SIZE_MAX;
  double point[3], end[3], axis[3];
  FloDrawnJoint drawn;
  carry(scene, frame, joint->of[1], def->at, false, point);
  to_floats(point, drawn.point), to_floats(point, drawn.ends[0]), to_floats(point, drawn.ends[1]);
  if (has_rod(def->kind)) {
    carry(scene, frame, to, def->to_at, false, end);
    to_floats(end, drawn.ends[1]);
  } else if (has_line(def->kind)) {
    carry(scene, frame, to, def->axis, true, axis);
    vec_scale(axis, AXIS_REACH * scene->world.spacing / vec_length(axis), axis);
    vec_add(point, axis, end), to_floats(end, drawn.ends[0]);
    vec_sub(point, axis, end), to_floats(end, drawn.ends[1]);
  }
  return drawn;
}

// Runs without the column have no joints that let go.
static bool is_active(const FloRunFrames *run, const FloSceneJoint *joint, size_t number) {
  char name[96];
  snprintf(name, sizeof name, "%s.active", joint->name);
  size_t column = flo_series_table_find(&run->series, name);
  if (!run->has_series || column == run->series.n_columns || number >= run->series.n_rows) return true;
  return flo_series_table_column(&run->series, column)[number] != 0;
}

FloStatus app_render_find_joints(AppRenderJob *job, const FloFrame *frame) {
  const FloScene *scene = job->scene;
  size_t n = 0;
  if (!job->arguments->has_joints || scene->n_joints == 0) return FLO_OK;
  FLO_TRY(flo_run_frames_series(&job->frames, &job->error));
  if (!job->joints) job->joints = malloc(scene->n_joints * sizeof *job->joints);
  if (!job->joints)
    return flo_fail(&job->error, FLO_NO_MEMORY, "no memory for the pictures of %zu joints", scene->n_joints);
  for (size_t k = 0; k < scene->n_joints; ++k) {
    const FloSceneJoint *joint = &scene->joints[k];
    if (joint->def.kind != FLO_JOINT_GEAR && is_active(&job->frames, joint, frame->number))
      job->joints[n++] = draw_joint(scene, frame, joint);
  }
  job->extras.joints = job->joints, job->extras.n_joints = n;
  return FLO_OK;
}
