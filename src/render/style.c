// Names of looks and qualities.
#include "render/render.h"

#include <string.h>

static const char *const look_names[FLO_LOOK_COUNT] = {"particles", "water"};
static const char *const quality_names[FLO_QUALITY_COUNT] = {"draft", "good", "best"};

static bool find_name(const char *const *names, int n, const char *name, int *found) {
  for (int k = 0; k < n; k++)
    if (strcmp(names[k], name) == 0) return *found = k, true;
  return false;
}

const char *flo_look_name(FloLook look) { return look_names[look]; }

bool flo_look_from_name(const char *name, FloLook *look) {
  int found;
  if (!find_name(look_names, FLO_LOOK_COUNT, name, &found)) return false;
  return *look = (FloLook)found, true;
}

const char *flo_quality_name(FloQuality quality) { return quality_names[quality]; }

bool flo_quality_from_name(const char *name, FloQuality *quality) {
  int found;
  if (!find_name(quality_names, FLO_QUALITY_COUNT, name, &found)) return false;
  return *quality = (FloQuality)found, true;
}
