#include "io/checkpoint.h"

#include "base/core.h"
#include "base/saved.h"
#include "io/files.h"

#include <errno.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char format_name[] = "flotsam checkpoint 2";

enum { CHUNK = 1 << 16 };

// X(member, its type): the numbers of a FloRunPoint.
#define POINT(X)                                                                                             \
  X(n_written, size_t)                                                                                       \
  X(n_frames, size_t)                                                                                        \
  X(until, double)                                                                                           \
  X(next_event, size_t)                                                                                      \
  X(series_size, size_t)                                                                                     \
  X(bodies_size, size_t)                                                                                     \
  X(wall_seconds, double)                                                                                    \
  X(output_seconds, double)                                                                                  \
  X(picture_seconds, double)                                                                                 \
  X(has_no_pictures, bool)

#define X(member, type) +1
enum { N_POINT = 0 POINT(X) };
#undef X

static hid_t type_of(FloType type) {
  switch (type) {
  case FLO_TYPE_F32:
    return H5T_IEEE_F32LE;
  case FLO_TYPE_F64:
    return H5T_IEEE_F64LE;
  case FLO_TYPE_U16:
    return H5T_STD_U16LE;
  default:
    return H5T_STD_U32LE;
  }
}

// The types as this machine stores them in memory.
static hid_t native_type_of(FloType type) {
  switch (type) {
  case FLO_TYPE_F32:
    return H5T_NATIVE_FLOAT;
  case FLO_TYPE_F64:
    return H5T_NATIVE_DOUBLE;
  case FLO_TYPE_U16:
    return H5T_NATIVE_UINT16;
  default:
    return H5T_NATIVE_UINT32;
  }
}

// ---- Writing ----

// The array is stored in pieces with a checksum each; an empty array has none.
static hid_t array_layout(size_t count) {
  hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
  hsize_t chunk = count < CHUNK ? count : CHUNK;
  if (layout >= 0 && count > 0 && (H5Pset_chunk(layout, 1, &chunk) < 0 || H5Pset_fletcher32(layout) < 0)) {
    H5Pclose(layout);
    return -1;
  }
  return layout;
}

static bool write_values(hid_t place, const char *name, hid_t file_type, hid_t memory_type, size_t count,
                         const void *data) {
  hsize_t dim = count;
  hid_t space = H5Screate_simple(1, &dim, NULL), layout = array_layout(count),
        links = H5Pcreate(H5P_LINK_CREATE);
  hid_t set = -1;
  if (space >= 0 && layout >= 0 && links >= 0 && H5Pset_create_intermediate_group(links, 1) >= 0)
    set = H5Dcreate2(place, name, file_type, space, links, layout, H5P_DEFAULT);
  bool is_written =
      set >= 0 && (count == 0 || H5Dwrite(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  if (set >= 0 && H5Dclose(set) < 0) is_written = false;
  if (links >= 0) H5Pclose(links);
  if (layout >= 0) H5Pclose(layout);
  if (space >= 0) H5Sclose(space);
  return is_written;
}

static bool write_text(hid_t file, const char *name, const char *text) {
  return write_values(file, name, H5T_STD_U8LE, H5T_NATIVE_UCHAR, strlen(text), text);
}

static bool write_doubles(hid_t file, const char *name, size_t count, const double *values) {
  return write_values(file, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, count, values);
}

static bool write_state(hid_t file, const FloState *state) {
  char names[FLO_MAX_STATE_ARRAYS * sizeof state->arrays[0].name] = "", path[64];
  for (size_t k = 0; k < state->n_arrays; k++) {
    const FloStateArray *array = &state->arrays[k];
    snprintf(path, sizeof path, "state/%s", array->name);
    if (!write_values(file, path, type_of(array->type), native_type_of(array->type), array->count,
                      array->buffer.data))
      return false;
    strcat(strcat(names, array->name), "\n");
  }
  return write_text(file, "state_names", names);
}

static bool write_pressure(hid_t file, const FloCheckpoint *c) {
  return !c->frame_pressure || write_values(file, "frame_pressure", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT,
                                            c->n_frame_pressure, c->frame_pressure);
}

static bool write_all(hid_t file, const FloCheckpoint *c) {
#define X(member, type) (double)c->point.member,
  const double point[N_POINT] = {POINT(X)};
#undef X
  return write_text(file, "format", format_name) && write_text(file, "version", flo_version()) &&
         write_text(file, "scene", c->scene) && write_text(file, "scene_path", c->scene_path) &&
         write_text(file, "size", c->size ? c->size : "") && write_doubles(file, "run", N_POINT, point) &&
         write_doubles(file, "frame_times", c->point.n_written, c->frame_times) && write_pressure(file, c) &&
         write_state(file, c->state) && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
}

static void be_silent(void) { H5Eset_auto2(H5E_DEFAULT, NULL, NULL); }

// The file is made in memory, because HDF5 cannot close a file on disk that it could not write, and crashes
// when the program ends. The image of the file is taken when it is closed: H5Fget_file_image of HDF5 1.10
// would return an image whose first block has a wrong checksum.
typedef struct Image {
  void *data;
  size_t size;
} Image;

static void *allocate_image(size_t size, H5FD_file_image_op_t operation, void *context) {
  (void)operation, (void)context;
  return malloc(size);
}

static void *grow_image(void *data, size_t size, H5FD_file_image_op_t operation, void *context) {
  (void)operation, (void)context;
  return realloc(data, size);
}

static herr_t release_image(void *data, H5FD_file_image_op_t operation, void *context) {
  if (operation == H5FD_FILE_IMAGE_OP_FILE_CLOSE)
    ((Image *)context)->data = data;
  else
    free(data);
  return 0;
}

static void *share_context(void *context) { return context; }
static herr_t leave_context(void *context) { return (void)context, 0; }

// This version of the file format has checksums over its own structure too.
static hid_t create_file(Image *image) {
  enum { INCREMENT = 1 << 22 };
  H5FD_file_image_callbacks_t callbacks = {.image_malloc = allocate_image,
                                           .image_realloc = grow_image,
                                           .image_free = release_image,
                                           .udata_copy = share_context,
                                           .udata_free = leave_context,
                                           .udata = image};
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), file = -1;
  if (access < 0) return -1;
  if (H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0 &&
      H5Pset_fapl_core(access, INCREMENT, false) >= 0 && H5Pset_file_image_callbacks(access, &callbacks) >= 0)
    file = H5Fcreate("checkpoint", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  return file;
}

// Returns false if memory runs out; the image's data is malloc'ed in either case.
static bool make_image(const FloCheckpoint *checkpoint, Image *image) {
  be_silent();
  hid_t file = create_file(image);
  ssize_t size = file >= 0 && write_all(file, checkpoint) ? H5Fget_file_image(file, NULL, 0) : -1;
  if (file >= 0 && H5Fclose(file) < 0) size = -1;
  image->size = (size_t)size;
  return size > 0 && image->data;
}

FloStatus flo_checkpoint_write(const char *path, const FloCheckpoint *checkpoint, FloError *error) {
  Image image = {0};
  FloStatus status = make_image(checkpoint, &image)
                         ? flo_file_write_durably(path, image.data, image.size, error)
                         : flo_fail(error, FLO_NO_MEMORY, "%s: no memory for a checkpoint", path);
  free(image.data);
  return status;
}

// ---- Reading ----

typedef struct Reader {
  const char *path;
  hid_t file;
  size_t file_size;
  FloError *error;
} Reader;

static FloStatus refuse(const Reader *reader, const char *name) {
  return flo_fail(reader->error, FLO_BAD_INPUT,
                  "%s: '%s' is missing or damaged, so the run cannot be continued; start the run again",
                  reader->path, name);
}

// The number of values of `size` bytes in a data set. Nothing is compressed, so a data set larger than its
// file is damaged.
static bool count_values(const Reader *reader, hid_t set, size_t size, size_t *count) {
  hid_t space = H5Dget_space(set);
  hsize_t dim = 0;
  bool is_list = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                 H5Sget_simple_extent_dims(space, &dim, NULL) == 1;
  if (space >= 0) H5Sclose(space);
  *count = (size_t)dim;
  return is_list && dim <= reader->file_size / size;
}

static bool has_type(hid_t set, hid_t type) {
  hid_t found = H5Dget_type(set);
  bool is_same = found >= 0 && H5Tequal(found, type) > 0;
  if (found >= 0) H5Tclose(found);
  return is_same;
}

static bool read_values(hid_t set, hid_t memory_type, size_t count, void *data) {
  return count == 0 || H5Dread(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
}

// Returns malloc'ed values, with room for a zero after the last.
static FloStatus read_list(const Reader *reader, const char *name, hid_t file_type, hid_t memory_type,
                           size_t size, void **data, size_t *count) {
  hid_t set = H5Dopen2(reader->file, name, H5P_DEFAULT);
  if (set < 0) return refuse(reader, name);
  FloStatus status = FLO_OK;
  if (!has_type(set, file_type) || !count_values(reader, set, size, count))
    status = refuse(reader, name);
  else if (!(*data = calloc(*count + 1, size)))
    status = flo_fail(reader->error, FLO_NO_MEMORY, "%s: no memory for '%s'", reader->path, name);
  else if (!read_values(set, memory_type, *count, *data))
    status = refuse(reader, name);
  H5Dclose(set);
  return status;
}

static FloStatus read_text(const Reader *reader, const char *name, char **text) {
  size_t length = 0;
  FLO_TRY(read_list(reader, name, H5T_STD_U8LE, H5T_NATIVE_UCHAR, 1, (void **)text, &length));
  return length == strlen(*text) ? FLO_OK : refuse(reader, name);
}

static FloStatus read_doubles(const Reader *reader, const char *name, double **values, size_t *count) {
  return read_list(reader, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, sizeof(double), (void **)values, count);
}

// Some checkpoints do not have it.
static FloStatus read_pressure(const Reader *reader, FloCheckpoint *c) {
  if (H5Lexists(reader->file, "frame_pressure", H5P_DEFAULT) <= 0) return FLO_OK;
  return read_list(reader, "frame_pressure", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, sizeof(float),
                   (void **)&c->frame_pressure, &c->n_frame_pressure);
}

static FloStatus take_point(const Reader *reader, const double *value, FloRunPoint *point) {
#define X(member, type)                                                                                      \
  if (!(*value >= 0 && *value < 1e15)) return refuse(reader, "run");                                         \
  point->member = (type)*value++;
  POINT(X)
#undef X
  return FLO_OK;
}

static FloStatus read_point(const Reader *reader, FloRunPoint *point) {
  double *values = NULL;
  size_t count;
  FloStatus status = read_doubles(reader, "run", &values, &count);
  if (status == FLO_OK) status = count == N_POINT ? take_point(reader, values, point) : refuse(reader, "run");
  free(values);
  return status;
}

static FloStatus read_array(const Reader *reader, const char *name, FloState *state) {
  char path[64];
  void *data;
  size_t count = 0;
  if (strlen(name) >= sizeof state->arrays[0].name) return refuse(reader, "state_names");
  snprintf(path, sizeof path, "state/%.50s", name);
  hid_t set = H5Dopen2(reader->file, path, H5P_DEFAULT);
  if (set < 0) return refuse(reader, path);
  FloType type = FLO_TYPE_F32;
  while (type <= FLO_TYPE_U32 && !has_type(set, type_of(type))) type = (FloType)(type + 1);
  FloStatus status = FLO_OK;
  if (type > FLO_TYPE_U32 || !count_values(reader, set, 2, &count)) status = refuse(reader, path);
  if (status == FLO_OK) status = flo_state_add(state, name, type, count, &data, reader->error);
  if (status == FLO_OK && !read_values(set, native_type_of(type), count, data)) status = refuse(reader, path);
  H5Dclose(set);
  return status;
}

static FloStatus read_state(const Reader *reader, FloState **state) {
  char *names = NULL, *rest = NULL;
  FloStatus status = flo_state_create(state, reader->error);
  if (status == FLO_OK) status = read_text(reader, "state_names", &names);
  for (char *name = names ? strtok_r(names, "\n", &rest) : NULL; name && status == FLO_OK;
       name = strtok_r(NULL, "\n", &rest))
    status = read_array(reader, name, *state);
  free(names);
  return status;
}

static FloStatus read_all(const Reader *reader, FloCheckpoint *c) {
  char *format = NULL;
  size_t n_times;
  FloStatus status = read_text(reader, "format", &format);
  if (status == FLO_OK && strcmp(format, format_name))
    status = flo_fail(
        reader->error, FLO_BAD_INPUT,
        "%s: its format is '%.60s', but this program reads '%s'; use the version of flotsam that wrote it",
        reader->path, format, format_name);
  free(format);
  FLO_TRY(status);
  FLO_TRY(read_text(reader, "scene", &c->scene));
  FLO_TRY(read_text(reader, "scene_path", &c->scene_path));
  FLO_TRY(read_text(reader, "size", &c->size));
  FLO_TRY(read_point(reader, &c->point));
  FLO_TRY(read_doubles(reader, "frame_times", &c->frame_times, &n_times));
  if (n_times != c->point.n_written) return refuse(reader, "frame_times");
  FLO_TRY(read_pressure(reader, c));
  return read_state(reader, &c->state);
}

FloStatus flo_checkpoint_read(const char *path, FloCheckpoint *checkpoint, FloError *error) {
  struct stat about;
  *checkpoint = (FloCheckpoint){0};
  if (stat(path, &about) != 0)
    return flo_fail(error, FLO_IO_FAILED, "%s: cannot read: %s", path, strerror(errno));
  be_silent();
  Reader reader = {.path = path, .file_size = (size_t)about.st_size, .error = error};
  reader.file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (reader.file < 0)
    return flo_fail(error, FLO_BAD_INPUT,
                    "%s: is not a checkpoint, or is damaged; restore it, or start the run again", path);
  FloStatus status = read_all(&reader, checkpoint);
  H5Fclose(reader.file);
  if (status != FLO_OK) flo_checkpoint_free(checkpoint);
  return status;
}

void flo_checkpoint_free(FloCheckpoint *checkpoint) {
  free(checkpoint->scene);
  free(checkpoint->scene_path);
  free(checkpoint->size);
  free(checkpoint->frame_times);
  free(checkpoint->frame_pressure);
  flo_state_destroy(checkpoint->state);
  *checkpoint = (FloCheckpoint){0};
}
