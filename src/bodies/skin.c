#include "bodies/skin.h"

#include <string.h>

// Skins change a little in each step: a buffer that grows gets half as much again.
static FloStatus append(FloMemory *memory, FloBuffer *buffer, size_t n, const void *element, size_t size,
                        FloError *error) {
  if ((n + 1) * size > buffer->capacity)
    FLO_TRY(flo_buffer_reserve(memory, buffer, (n + n / 2 + 16) * size, n * size, error));
  memcpy((char *)buffer->data + n * size, element, size);
  return FLO_OK;
}

FloStatus flo_skin_lose(FloSkinEdit *edit, size_t i, FloError *error) {
  const uint32_t index = (uint32_t)i;
  FLO_ASSERT(edit->n_lost == 0 || flo_skin_lost(edit)[edit->n_lost - 1] < index);
  FLO_TRY(append(edit->memory, &edit->lost_buffer, edit->n_lost, &index, sizeof index, error));
  edit->n_lost++;
  return FLO_OK;
}

FloStatus flo_skin_gain(FloSkinEdit *edit, const double binding[3], FloError *error) {
  const FloNewSample sample = {{binding[0], binding[1], binding[2]}};
  FLO_TRY(append(edit->memory, &edit->gained_buffer, edit->n_gained, &sample, sizeof sample, error));
  edit->n_gained++;
  return FLO_OK;
}

void flo_skin_free(FloSkinEdit *edit) {
  flo_buffer_free(edit->memory, &edit->lost_buffer);
  flo_buffer_free(edit->memory, &edit->gained_buffer);
}
