// The layout of a .vtp file: an XML header that names every array and its offset, then "_" and the arrays one
// after the other. Each array is a list of 64-bit numbers (blocks, bytes in a full block, bytes in the last
// block if it is not full, else 0, then the compressed bytes of each block) followed by the compressed
// blocks.
#include "io/vtk.h"

#include "base/core.h"
#include "io/files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { BLOCK_BYTES = 1 << 17 };

typedef struct TypeInfo {
  const char *name;
  size_t size;
} TypeInfo;

static const TypeInfo types[FLO_VTK_TYPE_COUNT] = {
    [FLO_VTK_F32] = {"Float32", 4}, [FLO_VTK_F64] = {"Float64", 8}, [FLO_VTK_U8] = {"UInt8", 1},
    [FLO_VTK_U16] = {"UInt16", 2},  [FLO_VTK_I32] = {"Int32", 4},   [FLO_VTK_U32] = {"UInt32", 4},
};

static const char data_mark[] = "<AppendedData encoding=\"raw\">\n_",
                  tail[] = "\n</AppendedData>\n</VTKFile>\n";

// Data that grows at the end. If memory runs out, `has_failed` is set and later additions are ignored.
typedef struct Bytes {
  unsigned char *data;
  size_t size, capacity;
  bool has_failed;
} Bytes;

// ---- Writing ----

static unsigned char *bytes_extend(Bytes *bytes, size_t size) {
  if (!bytes->has_failed && bytes->size + size > bytes->capacity) {
    size_t capacity = 2 * (bytes->size + size);
    unsigned char *data = realloc(bytes->data, capacity);
    if (data)
      bytes->data = data, bytes->capacity = capacity;
    else
      bytes->has_failed = true;
  }
  return bytes->has_failed ? NULL : bytes->data + bytes->size;
}

static void append_compressed_block(Bytes *bytes, const unsigned char *block, size_t size,
                                    uint64_t *compressed) {
  uLongf length = compressBound((uLong)size);
  unsigned char *end = bytes_extend(bytes, length);
  if (!end) return;
  // The fastest level of compression: higher levels hardly shrink velocities, and writing must not delay the
  // simulation.
  if (compress2(end, &length, block, (uLong)size, Z_BEST_SPEED) != Z_OK) bytes->has_failed = true;
  bytes->size += length;
  *compressed = length;
}

// Appends one array and returns the offset at which it starts.
static size_t append_array(Bytes *bytes, const void *data, size_t size) {
  size_t offset = bytes->size, n_blocks = (size + BLOCK_BYTES - 1) / BLOCK_BYTES;
  size_t head_bytes = (3 + n_blocks) * sizeof(uint64_t);
  uint64_t *head = calloc(3 + n_blocks, sizeof *head);
  if (!head || !bytes_extend(bytes, head_bytes)) {
    free(head);
    bytes->has_failed = true;
    return offset;
  }
  head[0] = n_blocks, head[1] = BLOCK_BYTES, head[2] = size % BLOCK_BYTES;
  bytes->size += head_bytes;
  for (size_t k = 0; k < n_blocks; k++) {
    size_t begin = k * BLOCK_BYTES, length = flo_min_size(BLOCK_BYTES, size - begin);
    append_compressed_block(bytes, (const unsigned char *)data + begin, length, &head[3 + k]);
  }
  // The sizes are known only now, so they are written into the header, for which room was left.
  if (!bytes->has_failed) memcpy(bytes->data + offset, head, head_bytes);
  free(head);
  return offset;
}

static void print_array(FILE *stream, const char *name, FloVtkType type, int components, size_t offset) {
  fprintf(
      stream,
      "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%zu\"/>\n",
      types[type].name, name, components, offset);
}

// Offsets of everything appended, in the order of the file.
typedef struct Offsets {
  size_t time, positions, connectivity, ends, arrays[FLO_VTK_MAX_ARRAYS];
} Offsets;

static const char *const cell_words[] = {"", "Verts", "Lines", "Polys"};

// Corners of a cell: 1 for points, 2 for segments, 3 for triangles.
static int corners_of(const FloVtkPoints *points) {
  if (!points->triangles) return 1;
  return points->n_triangles > 0 && points->triangles[1] == points->triangles[2] ? 2 : 3;
}

static void print_head(FILE *stream, const FloVtkPoints *points, const Offsets *offsets) {
  fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
        "header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n<PolyData>\n<FieldData>\n",
        stream);
  fprintf(stream,
          "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"appended\" "
          "offset=\"%zu\"/>\n",
          offsets->time);
  const int corners = corners_of(points);
  fprintf(stream,
          "</FieldData>\n<Piece NumberOfPoints=\"%zu\" NumberOfVerts=\"%zu\" NumberOfLines=\"%zu\" "
          "NumberOfStrips=\"0\" "
          "NumberOfPolys=\"%zu\">\n<PointData>\n",
          points->count, corners == 1 ? points->count : 0, corners == 2 ? points->n_triangles : 0,
          corners == 3 ? points->n_triangles : 0);
  for (size_t k = 0; k < points->n_arrays; k++)
    print_array(stream, points->arrays[k].name, points->arrays[k].type, points->arrays[k].components,
                offsets->arrays[k]);
  fputs("</PointData>\n<Points>\n", stream);
  print_array(stream, "Points", FLO_VTK_F32, 3, offsets->positions);
  fprintf(stream, "</Points>\n<%s>\n", cell_words[corners]);
  print_array(stream, "connectivity", FLO_VTK_I32, 1, offsets->connectivity);
  print_array(stream, "offsets", FLO_VTK_I32, 1, offsets->ends);
  fprintf(stream, "</%s>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_", cell_words[corners]);
}

// Most programs show only cells, so every point gets a cell, unless there are triangles. Cell i ends where
// cell i + 1 begins.
static FloStatus append_cells(Bytes *bytes, const FloVtkPoints *points, Offsets *offsets, FloError *error) {
  const size_t n_corners = (size_t)corners_of(points);
  const size_t n = points->triangles ? points->n_triangles : points->count;
  int32_t *cells = malloc((n_corners * n + 1) * sizeof *cells);
  if (!cells) return flo_fail(error, FLO_NO_MEMORY, "no memory for a frame of %zu points", points->count);
  for (size_t i = 0; i < n_corners * n; i++)
    cells[i] = (int32_t)(points->triangles ? points->triangles[3 * (i / n_corners) + i % n_corners] : i);
  offsets->connectivity = append_array(bytes, cells, n_corners * n * sizeof *cells);
  for (size_t i = 0; i < n; i++) cells[i] = (int32_t)(n_corners * (i + 1));
  offsets->ends = append_array(bytes, cells, n * sizeof *cells);
  free(cells);
  return FLO_OK;
}

static FloStatus append_all(Bytes *bytes, const FloVtkPoints *points, Offsets *offsets, FloError *error) {
  offsets->time = append_array(bytes, &points->time, sizeof points->time);
  for (size_t k = 0; k < points->n_arrays; k++) {
    const FloVtkArray *array = &points->arrays[k];
    size_t tuple = types[array->type].size * (size_t)array->components;
    offsets->arrays[k] = append_array(bytes, array->data, points->count * tuple);
  }
  offsets->positions = append_array(bytes, points->positions, points->count * 3 * sizeof(float));
  FLO_TRY(append_cells(bytes, points, offsets, error));
  if (bytes->has_failed)
    return flo_fail(error, FLO_NO_MEMORY, "no memory for a frame of %zu particles", points->count);
  return FLO_OK;
}

FloStatus flo_vtk_write(const char *path, const FloVtkPoints *points, FloError *error) {
  FLO_ASSERT(points->count < INT32_MAX && points->n_arrays <= FLO_VTK_MAX_ARRAYS);
  Bytes bytes = {0};
  Offsets offsets = {0};
  FloNewFile file;
  FloStatus status = append_all(&bytes, points, &offsets, error);
  if (status == FLO_OK) status = flo_new_file_begin(&file, path, error);
  if (status == FLO_OK) {
    print_head(file.stream, points, &offsets);
    fwrite(bytes.data, 1, bytes.size, file.stream);
    fputs(tail, file.stream);
    status = flo_new_file_finish(&file, error);
  }
  free(bytes.data);
  return status;
}

FloStatus flo_vtk_write_collection(const char *path, size_t n, size_t n_parts, const char *const *names,
                                   const double *times, FloError *error) {
  FloNewFile file;
  FLO_TRY(flo_new_file_begin(&file, path, error));
  fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n",
        file.stream);
  for (size_t k = 0; k < n * n_parts; k++)
    fprintf(file.stream, "<DataSet timestep=\"%.17g\" part=\"%zu\" file=\"%s\"/>\n", times[k / n_parts],
            k % n_parts, names[k]);
  fputs("</Collection>\n</VTKFile>\n", file.stream);
  return flo_new_file_finish(&file, error);
}

// ---- Reading what flo_vtk_write wrote ----

typedef struct Reader {
  const char *path, *head;         // the XML before the data, zero-terminated
  const unsigned char *data, *end; // the appended data
  FloError *error;
} Reader;

static FloStatus damaged(const Reader *reader, const char *what) {
  return flo_fail(reader->error, FLO_BAD_INPUT, "%s: damaged, or not written by flotsam: %s", reader->path,
                  what);
}

// The value of an attribute inside the tag that starts at `tag`; false if the tag ends before it.
static bool read_attribute(const char *tag, const char *name, char *value, size_t size) {
  const char *end = strchr(tag, '>');
  char pattern[48];
  int length = snprintf(pattern, sizeof pattern, " %s=\"", name);
  const char *start = strstr(tag, pattern);
  if (!start || !end || start > end) return false;
  start += length;
  size_t n = strcspn(start, "\"");
  if (n >= size || start + n > end) return false;
  memcpy(value, start, n);
  value[n] = 0;
  return true;
}

static bool read_attribute_size(const char *tag, const char *name, size_t *value) {
  char text[32], *end;
  if (!read_attribute(tag, name, text, sizeof text)) return false;
  uintmax_t number = strtoumax(text, &end, 10);
  *value = (size_t)number;
  return end != text && *end == 0 && text[0] != '-' && number <= SIZE_MAX / 1024;
}

static FloStatus inflate_blocks(const Reader *reader, const unsigned char *head, uint64_t n_blocks,
                                size_t size, unsigned char *target) {
  const unsigned char *block = head + (3 + n_blocks) * sizeof(uint64_t);
  for (uint64_t k = 0; k < n_blocks; k++) {
    uint64_t compressed;
    memcpy(&compressed, head + (3 + k) * sizeof compressed, sizeof compressed);
    size_t begin = (size_t)k * BLOCK_BYTES;
    uLongf expected = (uLongf)flo_min_size(BLOCK_BYTES, size - begin), got = expected;
    if (compressed > (uint64_t)(reader->end - block))
      return damaged(reader, "a block ends beyond the end of the file");
    if (uncompress(target + begin, &got, block, (uLong)compressed) != Z_OK || got != expected)
      return damaged(reader, "a block cannot be unpacked");
    block += compressed;
  }
  return FLO_OK;
}

// Unpacks the array at `offset` into `size` bytes of new memory.
static FloStatus read_data(const Reader *reader, size_t offset, size_t size, void **data) {
  uint64_t head[3], n_blocks = (size + BLOCK_BYTES - 1) / BLOCK_BYTES;
  size_t available = (size_t)(reader->end - reader->data);
  if (offset > available || available - offset < sizeof head || n_blocks > available / sizeof(uint64_t) ||
      available - offset < (3 + n_blocks) * sizeof(uint64_t))
    return damaged(reader, "an array starts beyond the end of the file");
  memcpy(head, reader->data + offset, sizeof head);
  if (head[0] != n_blocks || head[1] != BLOCK_BYTES || head[2] != size % BLOCK_BYTES)
    return damaged(reader, "an array has another size than its header says");
  unsigned char *target = malloc(size + 1);
  if (!target) return flo_fail(reader->error, FLO_NO_MEMORY, "%s: no memory to read it", reader->path);
  FloStatus status = inflate_blocks(reader, reader->data + offset, n_blocks, size, target);
  if (status == FLO_OK)
    *data = target;
  else
    free(target);
  return status;
}

static bool read_type(const char *tag, FloVtkType *type) {
  char name[16];
  if (!read_attribute(tag, "type", name, sizeof name)) return false;
  for (int k = 0; k < FLO_VTK_TYPE_COUNT; k++)
    if (strcmp(types[k].name, name) == 0) return *type = (FloVtkType)k, true;
  return false;
}

static FloStatus read_array(const Reader *reader, const char *tag, size_t count, FloVtkArray *array) {
  size_t offset, components;
  if (!read_attribute(tag, "Name", array->name, sizeof array->name) || !read_type(tag, &array->type) ||
      !read_attribute_size(tag, "NumberOfComponents", &components) || components < 1 || components > 9 ||
      !read_attribute_size(tag, "offset", &offset))
    return damaged(reader, "an array's header is not valid");
  array->components = (int)components;
  return read_data(reader, offset, count * components * types[array->type].size, &array->data);
}

static FloStatus read_point_data(const Reader *reader, FloVtkPoints *points) {
  const char *tag = strstr(reader->head, "<PointData>"), *end = strstr(reader->head, "</PointData>");
  if (!tag || !end) return damaged(reader, "there is no point data");
  while ((tag = strstr(tag, "<DataArray")) && tag < end) {
    if (points->n_arrays == FLO_VTK_MAX_ARRAYS) return damaged(reader, "too many arrays");
    FLO_TRY(read_array(reader, tag, points->count, &points->arrays[points->n_arrays]));
    points->n_arrays++;
    tag++;
  }
  return FLO_OK;
}

static FloStatus read_time(const Reader *reader, FloVtkPoints *points) {
  const char *tag = strstr(reader->head, "<DataArray type=\"Float64\" Name=\"TimeValue\"");
  size_t offset;
  void *time;
  if (!tag || !read_attribute_size(tag, "offset", &offset)) return damaged(reader, "there is no time");
  FLO_TRY(read_data(reader, offset, sizeof points->time, &time));
  memcpy(&points->time, time, sizeof points->time);
  free(time);
  return FLO_OK;
}

static FloStatus read_positions(const Reader *reader, FloVtkPoints *points) {
  const char *tag = strstr(reader->head, "<Points>");
  if (tag) tag = strstr(tag, "<DataArray");
  if (!tag) return damaged(reader, "there are no points");
  FloVtkArray array;
  FLO_TRY(read_array(reader, tag, points->count, &array));
  points->positions = array.data; // owned by `points` from here on, even if its type is wrong
  if (array.type != FLO_VTK_F32 || array.components != 3)
    return damaged(reader, "points are not float triples");
  return FLO_OK;
}

// The number of cells of a kind, and the first of its two arrays; NULL: there are none.
static const char *find_cells(const Reader *reader, const char *piece, int n_corners, size_t *n) {
  char word[32], tag[16];
  snprintf(word, sizeof word, "NumberOf%s", cell_words[n_corners]);
  snprintf(tag, sizeof tag, "<%s>", cell_words[n_corners]);
  if (!read_attribute_size(piece, word, n) || *n == 0 || *n >= INT32_MAX / 3) return NULL;
  const char *start = strstr(reader->head, tag);
  return start ? strstr(start, "<DataArray") : NULL;
}

static FloStatus read_triangles(const Reader *reader, const char *piece, FloVtkPoints *points) {
  FloVtkArray array = {0};
  size_t n_corners = 3;
  const char *tag = find_cells(reader, piece, 3, &points->n_triangles);
  if (!tag) tag = find_cells(reader, piece, (int)(n_corners = 2), &points->n_triangles);
  if (!tag) return points->n_triangles = 0, FLO_OK;
  FLO_TRY(read_array(reader, tag, n_corners * points->n_triangles, &array));
  points->triangles = calloc(points->n_triangles, sizeof(uint32_t[3]));
  const int32_t *corners = array.data;
  bool is_fine = points->triangles && array.type == FLO_VTK_I32 && array.components == 1;
  for (size_t k = 0; is_fine && k < 3 * points->n_triangles; k++) {
    const int32_t vertex = corners[n_corners * (k / 3) + flo_min_size(k % 3, n_corners - 1)];
    is_fine = vertex >= 0 && (size_t)vertex < points->count;
    points->triangles[k] = (uint32_t)vertex;
  }
  free(array.data);
  return is_fine ? FLO_OK : damaged(reader, "a triangle has a corner that does not exist");
}

static FloStatus read_everything(Reader *reader, FloVtkPoints *points) {
  const char *piece = strstr(reader->head, "<Piece");
  if (!piece || !read_attribute_size(piece, "NumberOfPoints", &points->count) || points->count >= INT32_MAX)
    return damaged(reader, "there is no number of points");
  FLO_TRY(read_time(reader, points));
  FLO_TRY(read_point_data(reader, points));
  FLO_TRY(read_triangles(reader, piece, points));
  return read_positions(reader, points);
}

FloStatus flo_vtk_read(const char *path, FloVtkPoints *points, FloError *error) {
  char *text;
  size_t size;
  *points = (FloVtkPoints){0};
  FLO_TRY(flo_file_read(path, &text, &size, error));
  // The header ends at the first underscore after the mark. In files of flotsam it holds no zero byte.
  char *start = strstr(text, data_mark);
  Reader reader = {path, text, NULL, (unsigned char *)text + size, error};
  FloStatus status;
  if (!start) {
    status = damaged(&reader, "there is no appended data");
  } else {
    *start = 0;
    reader.data = (unsigned char *)start + strlen(data_mark);
    status = read_everything(&reader, points);
  }
  free(text);
  if (status != FLO_OK) flo_vtk_free(points);
  return status;
}

// ---- Length ----

// The largest offset of an array in the header, in the data after it.
static size_t last_offset(const char *head) {
  size_t last = 0, offset;
  for (const char *tag = head; (tag = strstr(tag, "<DataArray")); tag++)
    if (read_attribute_size(tag, "offset", &offset)) last = flo_max_size(last, offset);
  return last;
}

// The size in bytes of the array that begins here: its header and all its blocks; 0 if it cannot be read.
static uint64_t array_length(FILE *stream) {
  uint64_t head[3], length = sizeof head, compressed;
  if (fread(head, sizeof head[0], 3, stream) != 3) return 0;
  for (uint64_t k = 0; k < head[0]; k++) {
    if (fread(&compressed, sizeof compressed, 1, stream) != 1 || compressed > SIZE_MAX / 2 - length) return 0;
    length += sizeof compressed + compressed;
  }
  return length;
}

static bool has_tail_at(FILE *stream, uint64_t place) {
  char found[sizeof tail];
  return place < INT64_MAX / 2 && fseeko(stream, (off_t)place, SEEK_SET) == 0 &&
         fread(found, 1, sizeof found, stream) == sizeof tail - 1 &&
         memcmp(found, tail, sizeof tail - 1) == 0;
}

static bool is_whole(FILE *stream) {
  enum { HEAD_BYTES = 1 << 14 }; // more than flo_vtk_write needs for FLO_VTK_MAX_ARRAYS
  char head[HEAD_BYTES + 1];
  size_t n = fread(head, 1, HEAD_BYTES, stream);
  head[n] = 0;
  char *mark = strstr(head, data_mark);
  if (!mark) return false;
  *mark = 0;
  uint64_t place = (uint64_t)(mark - head) + strlen(data_mark) + last_offset(head);
  if (fseeko(stream, (off_t)place, SEEK_SET) != 0) return false;
  uint64_t length = array_length(stream);
  return length > 0 && has_tail_at(stream, place + length);
}

bool flo_vtk_is_whole(const char *path) {
  FILE *stream = fopen(path, "rb");
  if (!stream) return false;
  bool result = is_whole(stream);
  fclose(stream);
  return result;
}

void flo_vtk_free(FloVtkPoints *points) {
  for (size_t k = 0; k < points->n_arrays; k++) free(points->arrays[k].data);
  free(points->positions);
  free(points->triangles);
  *points = (FloVtkPoints){0};
}

const void *flo_vtk_find(const FloVtkPoints *points, const char *name, FloVtkType type, int components) {
  for (size_t k = 0; k < points->n_arrays; k++) {
    const FloVtkArray *array = &points->arrays[k];
    if (strcmp(array->name, name) == 0 && array->type == type && array->components == components)
      return array->data;
  }
  return NULL;
}
