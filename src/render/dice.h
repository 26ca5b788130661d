// Random numbers of a picture. They depend only on pixel, sample and purpose, so a picture is the same
// however threads share its pixels.
//
// The pixels of a block of 4 x 4 take turns in one sequence that fills the unit square evenly (its steps are
// powers of the plastic number's inverse, as in light.c). Together they sample evenly, and the noise that
// remains is fine and easy to smooth. Every purpose shifts the sequence by its own hash and shuffles the
// turns; otherwise the numbers of two purposes would depend on each other.
#ifndef FLO_RENDER_DICE_H
#define FLO_RENDER_DICE_H

#include <stdint.h>

typedef struct FloDice {
  uint32_t block;   // hash of the block's place
  uint32_t turn;    // the pixel's number within the block
  uint32_t sample;  // number of the ray through the pixel
  uint32_t purpose; // counts the pairs drawn so far
} FloDice;

static inline uint32_t flo_scramble(uint32_t h) {
  h ^= h >> 16, h *= 0x7feb352du;
  h ^= h >> 15, h *= 0x846ca68bu;
  return h ^ h >> 16;
}

static inline FloDice flo_dice_of_pixel(int x, int y, int sample) {
  static const uint8_t turns[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
  uint32_t block =
      flo_scramble((uint32_t)(x / 4) * 0x9e3779b9u ^ flo_scramble((uint32_t)(y / 4) + 0x85ebca6bu));
  return (FloDice){block, turns[y & 3][x & 3], (uint32_t)sample, 0};
}

// Two numbers in [0, 1).
static inline void flo_dice_roll(FloDice *dice, float pair[2]) {
  uint32_t first = flo_scramble(dice->block + 0x9e3779b9u * ++dice->purpose), second = flo_scramble(first);
  uint32_t k = 16 * dice->sample + (dice->turn ^ (first & 15));
  const uint32_t step_x = 3242174889u, step_y = 2447445414u; // 0.75488 and 0.56984 of 2^32
  pair[0] = (float)((first + step_x * k) >> 8) * 0x1p-24f;
  pair[1] = (float)((second + step_y * k) >> 8) * 0x1p-24f;
}

#endif
