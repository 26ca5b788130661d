// Samples that a body's skin loses and gains before a step. A kind fills in an edit; the stage that called it
// applies the edits of all bodies at once (state/skins.c).
#ifndef FLO_BODIES_SKIN_H
#define FLO_BODIES_SKIN_H

#include "sph/wet_cells.h"

// How a new sample is bound to its body: three numbers with a meaning that depends on the kind. For a body
// that keeps its shape they are a position in its frame. For a mesh they may be a triangle and two
// barycentric coordinates.
typedef struct FloNewSample {
  double binding[3];
} FloNewSample;

typedef struct FloSkinEdit FloSkinEdit;
struct FloSkinEdit {
  FloMemory *memory;
  FloBuffer lost_buffer, gained_buffer;
  size_t n_lost, n_gained;
  const FloWetCells *wet; // where samples are needed; NULL: everywhere
};

static inline const uint32_t *flo_skin_lost(const FloSkinEdit *edit) { return edit->lost_buffer.data; }
static inline const FloNewSample *flo_skin_gained(const FloSkinEdit *edit) {
  return edit->gained_buffer.data;
}

// Removes sample i, an index in its set. Each index at most once, in rising order.
FloStatus flo_skin_lose(FloSkinEdit *edit, size_t i, FloError *error);
FloStatus flo_skin_gain(FloSkinEdit *edit, const double binding[3], FloError *error);
void flo_skin_free(FloSkinEdit *edit);

#endif
