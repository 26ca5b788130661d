// The solids of a run as files: body_NAME.ply holds a body's triangles once, in the body's own frame, and
// bodies.csv where each body is at every frame. Together they place every solid without flotsam's help.
//
//   flo_body_files_write_meshes(folder, scene, &error);
//   flo_body_files_open(&files, folder, 0, &error);
//   for each frame: flo_body_files_take(scene, world, states, &error), then
//                   flo_body_files_add_poses(&files, scene, frame, time, states, &error);
//   flo_body_files_close(&files);
//
// A run that is to be resumed keeps files.file.size with its checkpoint and hands it to flo_body_files_open.
#ifndef FLO_IO_BODY_FILES_H
#define FLO_IO_BODY_FILES_H

#include "geometry/mesh.h"
#include "io/files.h"
#include "io/scene.h"

#define FLO_BODY_FILE_SIZE 96

// bodies.csv while it grows. Columns: frame, time, body, x, y, z, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz, fx,
// fy, fz, tx, ty, tz; `body` is the body's name, w its angular velocity, f and t what the fluid does to it.
typedef struct FloBodyFiles {
  FloRowFile file;        // complete as far as the last frame that was added
  uint64_t offset_before; // its size without that frame
} FloBodyFiles;

// The names of all bodies' files, in the scene's order. Letters, digits, '-', '_' and '.' of a body's name
// stay, all else becomes '_'; names that would be the same to some file system get a number.
void flo_body_files_name(const FloScene *scene, char (*names)[FLO_BODY_FILE_SIZE]);

// The triangles of one of the scene's bodies, as its file holds them, added to a mesh.
FloStatus flo_body_files_mesh(const FloScene *scene, size_t body, FloMesh *mesh, FloError *error);
// Writes the triangles of every body. A tank has walls of one spacing, and in two dimensions bodies are one
// spacing deep.
FloStatus flo_body_files_write_meshes(const char *folder, const FloScene *scene, FloError *error);

// Starts bodies.csv; or, for an offset greater than 0, cuts the one that is there off behind it and goes on.
FloStatus flo_body_files_open(FloBodyFiles *files, const char *folder, uint64_t offset, FloError *error);
// Tells whether there is a bodies.csv that can be gone on with behind this offset, and changes nothing.
FloStatus flo_body_files_check(const char *folder, uint64_t offset, FloError *error);
void flo_body_files_close(FloBodyFiles *files); // closed already is fine

// Copies the states of the scene's bodies, of which there are scene->n_bodies, so that they can be written
// while the world goes on.
FloStatus flo_body_files_take(const FloScene *scene, FloWorld *world, FloBodyState *states, FloError *error);
// Adds one row per body. All rows of a frame are written at once: a run that is killed leaves those before,
// and where they do not fit the disk, none of them stays.
FloStatus flo_body_files_add_poses(FloBodyFiles *files, const FloScene *scene, size_t frame, double time,
                                   const FloBodyState *states, FloError *error);
// Takes the rows of the last frame that was added out again.
FloStatus flo_body_files_drop_poses(FloBodyFiles *files, FloError *error);

#endif
