#include "io/scene_colour.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool flo_scene_colour(const char *text, uint8_t rgb[3]) {
  if (!text || text[0] != '#' || strlen(text) != 7) return false;
  for (size_t k = 1; k < 7; k++)
    if (!isxdigit((unsigned char)text[k])) return false;
  const long value = strtol(text + 1, NULL, 16);
  for (int k = 0; k < 3; k++) rgb[k] = (uint8_t)(value >> (16 - 8 * k) & 255);
  return true;
}
