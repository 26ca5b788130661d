// Scenes as short texts, with ' for quotes, and those with a mistake in them: what the reader must be told.
#ifndef TEST_INPUT_SCENE_TEXTS_H
#define TEST_INPUT_SCENE_TEXTS_H

#include "io/scene.h"
#include "support/check.h"

#include <unistd.h>

#define HEAD            "'schema_version':1,'spacing':0.1,'duration':1,"
#define SCENE(more)     "{" HEAD more "}"
#define FLAT(more)      SCENE("'dimension':2," more)
#define FLUIDS(shape)   "'fluids':[{'material':{},'shape':" shape "}]"
#define FLUID           FLUIDS("{'box':1}")
#define WET(more)       SCENE(more "," FLUID)
#define WATER(shape)    SCENE(FLUIDS(shape)) // the shape, and what else the fluid has
#define PUDDLE(shape)   FLAT(FLUIDS(shape))
#define BOUNDARIES(all) SCENE(FLUID ",'boundaries':[" all "]")
#define POUR(more)      SCENE("'emitters':[{'material':{}," more "}]")

typedef struct BadScene {
  const char *text;
  const char *message; // a part of it
} BadScene;

// ---- A folder for the files of a test ----

static char folder[] = "/tmp/flotsam-test-XXXXXX";
static char file[sizeof folder + 32];

static inline int make_folder(void **state) {
  (void)state;
  if (!mkdtemp(folder)) return -1;
  snprintf(file, sizeof file, "%s/bad.json", folder);
  return 0;
}

static inline int remove_folder(void **state) {
  (void)state;
  remove(file);
  return rmdir(folder);
}

static inline void write_text(const char *path, const char *text) {
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  for (; *text; text++) fputc(*text == '\'' ? '"' : *text, stream);
  fclose(stream);
}

// ---- Trying ----

// Loading the file fails with a message that begins with its name, or `culprit` if that is not NULL.
static inline void expect_failure_of(const char *culprit, const FloSceneOptions *options, FloStatus wanted,
                                     const char *message) {
  FloError error = {0};
  FloScene *scene;
  FloStatus status = flo_scene_load(file, options, &scene, &error);
  const char *start = culprit ? culprit : file;
  bool is_right = status == wanted && error.status == wanted && strstr(error.text, message) &&
                  strstr(error.text, start) == error.text;
  if (!is_right)
    print_error("wanted: %s ... %s\ngot:    %s\n", start, message, status ? error.text : "(success)");
  assert_true(is_right);
  assert_null(scene);
  // Without a place for the message it must fail just the same.
  assert_int_equal(flo_scene_load(file, options, &scene, NULL), wanted);
}

static inline void expect_failure(const FloSceneOptions *options, FloStatus wanted, const char *message) {
  expect_failure_of(NULL, options, wanted, message);
}

static inline void try_all(const BadScene *cases, size_t n_cases) {
  for (size_t k = 0; k < n_cases; k++) {
    write_text(file, cases[k].text);
    expect_failure(NULL, FLO_BAD_INPUT, cases[k].message);
  }
}

#define TRY(group)                                                                                           \
  static void test_##group(void **state) {                                                                   \
    (void)state;                                                                                             \
    try_all(group, FLO_COUNT_OF(group));                                                                     \
  }

#endif
