// Reads meshes: OBJ, STL (both kinds), PLY (all three kinds), and the formats of assimp if the build has it.
#ifndef FLO_GEOMETRY_MESH_IO_H
#define FLO_GEOMETRY_MESH_IO_H

#include "geometry/mesh.h"

#include <locale.h>

// Reads a file into an empty mesh and welds it. The content decides what kind of file it is, or the extension
// if the content does not tell. If reading fails the mesh is empty.
FloStatus flo_mesh_read(const char *path, FloMesh *mesh, FloError *error);

// The same from memory, without welding; `name` stands in messages.
FloStatus flo_mesh_parse_obj(const char *name, const unsigned char *data, size_t size, FloMesh *mesh,
                             FloError *error);
FloStatus flo_mesh_parse_stl(const char *name, const unsigned char *data, size_t size, FloMesh *mesh,
                             FloError *error);
FloStatus flo_mesh_parse_ply(const char *name, const unsigned char *data, size_t size, FloMesh *mesh,
                             FloError *error);

// All other formats are read by assimp. Without it a message says that the build lacks it.
FloStatus flo_mesh_read_other(const char *path, FloMesh *mesh, FloError *error);

// ---- For the parsers ----

typedef struct FloText {
  const char *name;
  const unsigned char *at, *end;
  size_t line;
  bool has_continuation; // a backslash before the end of a line joins it with the next
  locale_t plain;        // numbers have a point, whatever the user's language
  FloError *error;
} FloText;

typedef struct FloWord {
  const unsigned char *start;
  size_t length;
} FloWord;

FloStatus flo_text_begin(FloText *text, const char *name, const unsigned char *data, size_t size,
                         FloError *error);
void flo_text_end(FloText *text);
bool flo_text_is_at_end(const FloText *text);
// Goes behind the end of the line.
void flo_text_skip_line(FloText *text);
// Goes to the first line that is not blank.
void flo_text_skip_blank_lines(FloText *text);
// The next word of this line; its length is 0 if there is none.
FloWord flo_text_word(FloText *text);
// The next word of this line as a number, correctly rounded; `what` names it in the message.
FloStatus flo_text_number(FloText *text, const char *what, double *value);
FloStatus flo_text_point(FloText *text, double point[3]);
bool flo_word_is(FloWord word, const char *expected);
// A word as it can be printed: what is not plain ASCII becomes '?', what is too long is cut off.
const char *flo_word_quote(FloWord word, char quoted[32]);
// Fails with the line in front of the message.
__attribute__((format(printf, 2, 3))) FloStatus flo_text_fail(const FloText *text, const char *format, ...);

// Why a coordinate cannot be used, or NULL.
const char *flo_mesh_coordinate_problem(double x);
// Whether bytes look like text: no control characters in the first few hundred.
bool flo_bytes_are_text(const unsigned char *data, size_t size);
// The last step of all parsers: refuses a mesh without triangles, and empties one that failed.
FloStatus flo_mesh_finish_parse(const char *name, FloMesh *mesh, FloStatus status, FloError *error);

#endif
