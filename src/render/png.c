#include "base/core.h"
#include "io/files.h"
#include "render/render.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

// Compresses in memory first, so that every write error comes from the file and has its errno.
FloStatus flo_write_png(const char *path, const uint8_t *rgb, int width, int height, FloError *error) {
  if (width < 1 || height < 1 || width > FLO_MAX_PICTURE_SIDE || height > FLO_MAX_PICTURE_SIDE)
    return flo_fail(error, FLO_BAD_INPUT, "%s: a picture must have 1 to %d pixels on each side, got %d x %d",
                    path, FLO_MAX_PICTURE_SIDE, width, height);
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)width,
                     .height = (png_uint_32)height,
                     .format = PNG_FORMAT_RGB};
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  void *bytes = malloc(size);
  if (!bytes) return flo_fail(error, FLO_NO_MEMORY, "%s: no memory to compress the picture", path);
  FloStatus status;
  if (png_image_write_to_memory(&image, bytes, &size, 0, rgb, 0, NULL))
    status = flo_file_write(path, bytes, size, error);
  else
    status = flo_fail(error, FLO_IO_FAILED, "%s: cannot encode the picture: %s", path, image.message);
  free(bytes);
  return status;
}

FloStatus flo_read_png(const char *path, int width, int height, uint8_t **rgb, FloError *error) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  char *bytes = NULL;
  size_t size = 0;
  uint8_t *pixels = NULL;
  FLO_TRY(flo_file_read(path, &bytes, &size, error));
  bool is_fine = png_image_begin_read_from_memory(&image, bytes, size) && image.width == (png_uint_32)width &&
                 image.height == (png_uint_32)height;
  image.format = PNG_FORMAT_RGB;
  if (is_fine) pixels = malloc(PNG_IMAGE_SIZE(image));
  is_fine = is_fine && pixels && png_image_finish_read(&image, NULL, pixels, 0, NULL);
  png_image_free(&image);
  free(bytes);
  if (is_fine) return *rgb = pixels, FLO_OK;
  free(pixels);
  return flo_fail(error, FLO_BAD_INPUT, "%s: is not a picture of %d x %d", path, width, height);
}
