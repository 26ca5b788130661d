// The solids of a run as files: body_NAME.ply holds a body's triangles once, in the body's own frame, and
// bodies.csv holds the pose of each body at every frame. Other programs can place every solid with them.
//
//   flo_body_files_write_meshes(folder, scene, &error);
//   flo_body_files_open(&files, folder, 0, &error);
//   for each frame: flo_body_files_add_poses(&files, number, time, frame.bodies, frame.n_bodies, &error);
//   flo_body_files_close(&files);
//
// A checkpoint stores files.file.size; a resumed run passes it to flo_body_files_open.
#ifndef FLO_IO_BODY_FILES_H
#define FLO_IO_BODY_FILES_H

#include "geometry/mesh.h"
#include "io/files.h"
#include "io/scene.h"

#define FLO_BODY_FILE_SIZE 96

// A body at one time.
typedef struct FloFrameBody {
  const char *name; // the scene's
  FloBodyState state;
  // Of a body that changes its shape; otherwise zero.
  size_t n_vertices, n_triangles;
  float *vertices;     // [m] triples: where its surface is; NULL: its shape at its pose
  float *rest;         // [m] triples: the same vertices at rest, in the frame of its shape
  float *stretch;      // of its vertices: length over length at rest, in the direction of the largest
  uint32_t *triangles; // three vertices each; of lines in 2D the last two are the same
  FloSoftState soft;   // not from files
} FloFrameBody;

// bodies.csv while it grows. Columns: frame, time, body, x, y, z, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz, fx,
// fy, fz, tx, ty, tz; `body` is the body's name, w its angular velocity, f and t the force and torque on it.
typedef struct FloBodyFiles {
  FloRowFile file;        // complete up to the last frame that was added
  uint64_t offset_before; // its size without the last frame
} FloBodyFiles;

// The names of all bodies' files, in the scene's order. Letters, digits, '-', '_' and '.' of a body's name
// are kept; all other characters become '_'. Names that some file systems cannot tell apart get a number.
void flo_body_files_name(const FloScene *scene, char (*names)[FLO_BODY_FILE_SIZE]);

// Adds the triangles of one of the scene's bodies to a mesh, as its file holds them.
FloStatus flo_body_files_mesh(const FloScene *scene, size_t body, FloMesh *mesh, FloError *error);
// Writes the triangles of every body. Walls of tanks are one spacing thick. In 2D bodies are one spacing
// deep.
FloStatus flo_body_files_write_meshes(const char *folder, const FloScene *scene, FloError *error);

// Starts bodies.csv. If the offset is greater than 0, cuts the existing file at the offset and continues it.
FloStatus flo_body_files_open(FloBodyFiles *files, const char *folder, uint64_t offset, FloError *error);
// Checks whether bodies.csv can be continued at this offset. Changes nothing.
FloStatus flo_body_files_check(const char *folder, uint64_t offset, FloError *error);
void flo_body_files_close(FloBodyFiles *files); // does nothing if it is closed

// Adds one row per body. All rows of a frame are written at once: a run that is killed leaves complete
// frames, and if the disk is full, no part of the frame is kept.
FloStatus flo_body_files_add_poses(FloBodyFiles *files, size_t frame, double time, const FloFrameBody *bodies,
                                   size_t n_bodies, FloError *error);
// Removes the rows of the last frame that was added.
FloStatus flo_body_files_drop_poses(FloBodyFiles *files, FloError *error);

// ---- Reading (body_table.c) ----

enum { FLO_BODY_NUMBERS = 19 }; // numbers in a row of bodies.csv, after the name

// All of bodies.csv: the pose of every body at every frame.
typedef struct FloBodyTable {
  size_t n_frames, n_bodies;
  double *times;                    // [s] of the frames
  double (*rows)[FLO_BODY_NUMBERS]; // body b at frame f: rows[f * n_bodies + b], in the order of the columns
} FloBodyTable;

// Reads the file of a run of the scene. Incomplete frames, as after a crash, are left out. Release with
// flo_body_table_free, also after a failure.
FloStatus flo_body_table_read(const char *folder, const FloScene *scene, FloBodyTable *table,
                              FloError *error);
void flo_body_table_free(FloBodyTable *table);
FloPose flo_body_table_pose(const FloBodyTable *table, size_t frame, size_t body);
// Forces are the means since the frame before.
FloBodyState flo_body_table_state(const FloBodyTable *table, size_t frame, size_t body);

// The first line of bodies.csv, which names the columns.
extern const char flo_body_files_head[];

#endif
