// Where joints are at a frame: each point moves with its body.
#include "base/vecmath.h"
#include "render_job.h"
#include "tubes.h"

#include <stdio.h>
#include <stdlib.h>

// Half the length of an axis in a picture, in spacings.
#define AXIS_REACH 3

static void to_floats(const double from[3], float to[3]) {
  for (int axis = 0; axis < 3; ++axis) to[axis] = (float)from[axis];
}

static bool has_line(FloJointKind kind) {
  return kind != FLO_JOINT_BALL && kind != FLO_JOINT_FIXED && kind != FLO_JOINT_GEAR;
}

static FloDrawnJoint draw_joint(const FloScene *scene, const FloFrame *frame, const FloSceneJoint *joint) {
  const FloJointDef *def = &joint->def;
  const size_t to = joint->has_to ? joint->of[0] : SIZE_MAX;
  double point[3], end[3], axis[3];
  FloDrawnJoint drawn;
  app_joint_carry(scene, frame, joint->of[1], def->at, false, point);
  to_floats(point, drawn.point), to_floats(point, drawn.ends[0]), to_floats(point, drawn.ends[1]);
  if (app_joint_is_rod(joint)) {
    app_joint_carry(scene, frame, to, def->to_at, false, end);
    to_floats(end, drawn.ends[1]);
  } else if (has_line(def->kind)) {
    app_joint_carry(scene, frame, to, def->axis, true, axis);
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

static void add_symbols(AppRenderJob *job, const FloFrame *frame) {
  const FloScene *scene = job->scene;
  size_t n = 0;
  for (size_t k = 0; k < scene->n_joints; ++k)
    if (scene->joints[k].def.kind != FLO_JOINT_GEAR && job->acts[k])
      job->joints[n++] = draw_joint(scene, frame, &scene->joints[k]);
  job->extras.joints = job->joints, job->extras.n_joints = n;
}

FloStatus app_render_find_joints(AppRenderJob *job, const FloFrame *frame) {
  const size_t n = job->scene->n_joints;
  if (n == 0) return FLO_OK;
  FLO_TRY(flo_run_frames_series(&job->frames, &job->error));
  if (!job->joints) job->joints = malloc(n * sizeof *job->joints);
  if (!job->acts) job->acts = malloc(n * sizeof *job->acts);
  if (!job->joints || !job->acts)
    return flo_fail(&job->error, FLO_NO_MEMORY, "no memory for the pictures of %zu joints", n);
  for (size_t k = 0; k < n; ++k)
    job->acts[k] = is_active(&job->frames, &job->scene->joints[k], frame->number);
  job->extras.acts = job->acts;
  if (job->arguments->has_joints) add_symbols(job, frame);
  return FLO_OK;
}
