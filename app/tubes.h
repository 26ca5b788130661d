// Ropes, rods and springs in pictures: each is a thin tube between its ends.
#ifndef FLO_APP_TUBES_H
#define FLO_APP_TUBES_H

#include "io/frame.h"
#include "io/scene.h"

// The bodies of a picture: those of the scene, then the tubes.
typedef struct AppTubes {
  FloSceneBody *bodies; // NULL: there are no tubes; the scene's bodies are all
  FloFrameBody *placed; // NULL: all stand where `bodies` says
  size_t n_bodies;
} AppTubes;

bool app_joint_is_rod(const FloSceneJoint *joint);
// A point or direction of the scene's start, where the body carries it. `body` is SIZE_MAX for the world.
void app_joint_carry(const FloScene *scene, const FloFrame *frame, size_t body, const double start[3],
                     bool is_direction, double out[3]);

// `acts`: whether each joint of the scene acts; NULL: as the frame says.
FloStatus app_tubes_make(const FloScene *scene, const FloFrame *frame, const bool *acts, AppTubes *tubes,
                         FloError *error);
void app_tubes_free(AppTubes *tubes);

#endif
