// Scenes that come with Flotsam, played by the physics tests with values of their own.
#ifndef FLO_TEST_PLAYS_H
#define FLO_TEST_PLAYS_H

#include "joints.h"

#include "io/scene.h"

typedef struct Play {
  FloScene *scene;
  FloWorld *world;
} Play;

// Opens scenes/NAME.json on one thread. `sets` are "path=value" as on the command line, up to a NULL.
static inline Play open_play(const char *name, const char *method, const char *const *sets) {
  const char *source = getenv("FLOTSAM_SOURCE");
  FloSceneOptions options = {.method = method, .sets = sets, .threads = 1};
  char path[1024];
  FloError error;
  Play play;
  while (sets[options.n_sets]) ++options.n_sets;
  snprintf(path, sizeof path, "%s/scenes/%s.json", source ? source : ".", name);
  must(flo_scene_load(path, &options, &play.scene, &error), &error);
  must(flo_scene_build(play.scene, &play.world, &error), &error);
  return play;
}

static inline void close_play(Play *play) {
  flo_world_destroy(play->world);
  flo_scene_destroy(play->scene);
}

static inline FloBodyState body_named(const Play *play, const char *name) {
  for (size_t k = 0; k < play->scene->n_bodies; ++k)
    if (!strcmp(play->scene->bodies[k].name, name)) return state_of(play->world, play->scene->bodies[k].id);
  fail_msg("%s has no body '%s'", play->scene->name, name);
  abort();
}

static inline FloJointState joint_named(const Play *play, const char *name) {
  for (size_t k = 0; k < play->scene->n_joints; ++k)
    if (!strcmp(play->scene->joints[k].name, name)) return joint_of(play->world, play->scene->joints[k].id);
  fail_msg("%s has no joint '%s'", play->scene->name, name);
  abort();
}

// The widest gap in any joint [m].
static inline double widest_gap(const Play *play) {
  double widest = 0;
  for (size_t k = 0; k < play->scene->n_joints; ++k)
    widest = fmax(widest, joint_of(play->world, play->scene->joints[k].id).open);
  return widest;
}

#endif
