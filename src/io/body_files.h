// The solids of a run as files: body_NAME.ply holds a body's triangles once, in the body's own frame, and
// bodies.csv where each body is at every frame. Together they place every solid without flotsam's help.
//
//   flo_body_files_write_meshes(folder, scene, &error);
//   flo_body_files_open(&files, folder, 0, &error);
//   for each frame: flo_body_files_add_poses(&files, number, time, frame.bodies, frame.n_bodies, &error);
//   flo_body_files_close(&files);
//
// A run that is to be resumed keeps files.file.size with its checkpoint and hands it to flo_body_files_open.
#ifndef FLO_IO_BODY_FILES_H
#define FLO_IO_BODY_FILES_H

#include "geometry/mesh.h"
#include "io/files.h"
#include "io/scene.h"

#define FLO_BODY_FILE_SIZE 96

// A body at one moment.
typedef struct FloFrameBody {
  const char *name; // the scene's
  FloBodyState state;
  float *vertices; // [m] triples: the mesh of a body that deforms, as it is now; NULL: its shape at its pose
  size_t n_vertices; // 0: the body does not deform
} FloFrameBody;

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

// Adds one row per body. All rows of a frame are written at once: a run that is killed leaves those before,
// and where they do not fit the disk, none of them stays.
FloStatus flo_body_files_add_poses(FloBodyFiles *files, size_t frame, double time, const FloFrameBody *bodies,
                                   size_t n_bodies, FloError *error);
// Takes the rows of the last frame that was added out again.
FloStatus flo_body_files_drop_poses(FloBodyFiles *files, FloError *error);

// ---- Reading (body_table.c) ----

enum { FLO_BODY_NUMBERS = 19 }; // in a row of bodies.csv, behind the name

// All of bodies.csv: where every body was at every frame.
typedef struct FloBodyTable {
  size_t n_frames, n_bodies;
  double *times;                    // [s] of the frames
  double (*rows)[FLO_BODY_NUMBERS]; // body b at frame f: rows[f * n_bodies + b], in the order of the columns
} FloBodyTable;

// Reads the file of a run of the scene; frames that are not complete, as after a crash, are left out. Release
// with flo_body_table_free, also after a failure.
FloStatus flo_body_table_read(const char *folder, const FloScene *scene, FloBodyTable *table,
                              FloError *error);
void flo_body_table_free(FloBodyTable *table);
FloPose flo_body_table_pose(const FloBodyTable *table, size_t frame, size_t body);
// Its forces are the means since the frame before.
FloBodyState flo_body_table_state(const FloBodyTable *table, size_t frame, size_t body);

// The line of names that bodies.csv begins with.
extern const char flo_body_files_head[];

#endif
