// Colours that a scene names: "#3355ff".
#ifndef FLO_IO_SCENE_COLOUR_H
#define FLO_IO_SCENE_COLOUR_H

#include <stdbool.h>
#include <stdint.h>

// Reads a colour: '#' and two hexadecimal digits each for red, green and blue, as screens show them. Returns
// false if the text is none; NULL is none.
bool flo_scene_colour(const char *text, uint8_t rgb[3]);

#endif
