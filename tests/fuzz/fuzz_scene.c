// Any bytes as a scene: it is read or refused with a message, and what it was resolved to is a scene again
// that comes to the same.
//
//   clang -fsanitize=fuzzer,address,undefined ... fuzz_scene.c; ./fuzz_scene -dict=scene.dict corpus/scene
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *what, const char *text) {
  fprintf(stderr, "%s\n%s\n", what, text);
  abort();
}

// Files that a stranger's scene names are none of a fuzzer's business.
static const FloSceneOptions options = {.refuse_includes = true, .threads = 1};

static void load_again(const FloScene *scene) {
  FloScene *again;
  FloError error = {0};
  if (flo_scene_load_text("fuzz.json", scene->resolved, strlen(scene->resolved), &options, &again, &error))
    fail(error.text, scene->resolved);
  if (strcmp(again->resolved, scene->resolved) != 0) fail(again->resolved, scene->resolved);
  if (again->n_bodies != scene->n_bodies || again->n_events != scene->n_events)
    fail("the resolved scene is another one", scene->resolved);
  flo_scene_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FloScene *scene;
  FloError error = {0};
  FloStatus status = flo_scene_load_text("fuzz.json", (const char *)data, size, &options, &scene, &error);
  if (status == FLO_OK) {
    load_again(scene);
    flo_scene_destroy(scene);
  } else if (strncmp(error.text, "fuzz.json: ", 11) != 0 || strlen(error.text) < 15) {
    fail("a failure without a message", error.text);
  }
  return 0;
}
