// Visits elements in chunks. Chunks of one colour have no vertex in common, so threads may add their forces
// and matrices at the same time. Colours follow each other, so that all sums have one order. Successive
// elements are mostly near each other, so that a chunk works on few cache lines.
#include "soft/element.h"

#include "base/parallel.h"
#include "base/vecmath.h"
#include "soft/body.h"

#include <string.h>

enum { GRAIN = 64, CHUNK = 48 };

FloStatus flo_soft_add_group(FloSoft *soft, const FloSoftForm *form, void *data, size_t n, size_t n_vertices,
                             FloSoftGroup **group, FloError *error) {
  FloSoftGroup new = {.form = form, .data = data, .n = n};
  FLO_TRY(flo_soft_array(soft, n + 1, sizeof *new.begin, &new.begin, error));
  FLO_TRY(flo_soft_array(soft, n_vertices, sizeof *new.vertices, &new.vertices, error));
  FLO_TRY(flo_soft_array(soft, n, sizeof *new.energies, &new.energies, error));
  FLO_TRY(flo_list_append(soft->memory, &soft->groups, &new, sizeof new, error));
  *group = flo_soft_group(soft, soft->groups.count - 1);
  return FLO_OK;
}

// ---- Colours ----

static size_t count_chunks(const FloSoftGroup *group) { return (group->n + CHUNK - 1) / CHUNK; }
static size_t end_of_chunk(const FloSoftGroup *group, size_t chunk) {
  return flo_min_size(CHUNK * (chunk + 1), group->n);
}

// Colours that chunks at a vertex have, as bits: WORDS words for each vertex.
enum { WORDS = 8 };

// The first colour that no vertex of the chunk has.
static size_t free_colour(const FloSoftGroup *group, size_t chunk, const uint64_t *used) {
  size_t end = group->begin[end_of_chunk(group, chunk)];
  for (size_t word = 0; word < WORDS; ++word) {
    uint64_t taken = 0;
    for (size_t k = group->begin[CHUNK * chunk]; k < end; ++k)
      taken |= used[WORDS * (size_t)group->vertices[k] + word];
    if (~taken) return 64 * word + (size_t)__builtin_ctzll(~taken);
  }
  return SIZE_MAX;
}

static void mark_colour(const FloSoftGroup *group, size_t chunk, size_t colour, uint64_t *used) {
  size_t end = group->begin[end_of_chunk(group, chunk)];
  for (size_t k = group->begin[CHUNK * chunk]; k < end; ++k)
    used[WORDS * (size_t)group->vertices[k] + colour / 64] |= (uint64_t)1 << colour % 64;
}

// Colours of all chunks, and in counts[c + 1] how many chunks have colour c.
static FloStatus find_colours(FloSoftGroup *group, uint64_t *used, uint32_t *colours, size_t *counts,
                              FloError *error) {
  for (size_t chunk = 0; chunk < count_chunks(group); ++chunk) {
    size_t colour = free_colour(group, chunk, used);
    if (colour == SIZE_MAX)
      return flo_fail(
          error, FLO_BAD_INPUT,
          "too many elements of a soft body meet near vertex %u; use a mesh with fewer elements at a vertex",
          group->vertices[group->begin[CHUNK * chunk]]);
    mark_colour(group, chunk, colour, used);
    colours[chunk] = (uint32_t)colour, counts[colour + 1]++;
    group->n_colours = flo_max_size(group->n_colours, colour + 1);
  }
  return FLO_OK;
}

static void sort_by_colour(FloSoftGroup *group, const uint32_t *colours, size_t *counts) {
  for (size_t c = 0; c < group->n_colours; ++c)
    counts[c + 1] += counts[c], group->colours[c + 1] = counts[c + 1];
  for (size_t chunk = 0; chunk < count_chunks(group); ++chunk)
    group->order[counts[colours[chunk]]++] = (uint32_t)chunk;
}

static FloStatus colour(FloSoft *soft, FloSoftGroup *group, FloBuffer scratch[2], FloError *error) {
  size_t n = count_chunks(group);
  FLO_TRY(flo_buffer_reserve_zeros(soft->memory, &scratch[0], soft->n * WORDS * sizeof(uint64_t), error));
  FLO_TRY(flo_buffer_reserve(soft->memory, &scratch[1], n * sizeof(uint32_t), 0, error));
  size_t counts[64 * WORDS + 1] = {0};
  FLO_TRY(find_colours(group, scratch[0].data, scratch[1].data, counts, error));
  FLO_TRY(flo_soft_array(soft, group->n_colours + 1, sizeof *group->colours, &group->colours, error));
  FLO_TRY(flo_soft_array(soft, n, sizeof *group->order, &group->order, error));
  sort_by_colour(group, scratch[1].data, counts);
  return FLO_OK;
}

// ---- Slots ----

static uint32_t slot_of(const FloBlockMatrix *matrix, size_t i, size_t j) {
  return (uint32_t)((size_t)(flo_block_matrix_at(matrix, i, j) - matrix->blocks) / 9);
}

static void find_slots(const FloSoft *soft, FloSoftGroup *group, size_t element) {
  const uint32_t *vertices = group->vertices + group->begin[element];
  size_t n = group->begin[element + 1] - group->begin[element];
  uint32_t *slots = group->slots + group->slot_begin[element];
  for (size_t a = 0; a < n; ++a)
    for (size_t b = 0; b < n; ++b) slots[n * a + b] = slot_of(&soft->matrix, vertices[a], vertices[b]);
}

static FloStatus make_slots(FloSoft *soft, FloSoftGroup *group, FloError *error) {
  FLO_TRY(flo_soft_array(soft, group->n + 1, sizeof *group->slot_begin, &group->slot_begin, error));
  for (size_t k = 0; k < group->n; ++k) {
    size_t n = group->begin[k + 1] - group->begin[k];
    group->slot_begin[k + 1] = group->slot_begin[k] + n * n;
  }
  FLO_TRY(flo_soft_array(soft, group->slot_begin[group->n], sizeof *group->slots, &group->slots, error));
  for (size_t k = 0; k < group->n; ++k) find_slots(soft, group, k);
  return FLO_OK;
}

FloStatus flo_soft_colour_group(FloSoft *soft, FloSoftGroup *group, FloError *error) {
  FloBuffer scratch[2] = {{0}};
  FloStatus status = colour(soft, group, scratch, error);
  for (int k = 0; k < 2; ++k) flo_buffer_free(soft->memory, &scratch[k]);
  FLO_TRY(status);
  return make_slots(soft, group, error);
}

// ---- Visits ----

typedef struct Visit {
  const FloSoftGroup *group;
  const FloSoftPlace *place;
  const FloSoftSink *sink;
  size_t first; // in the order of colours
} Visit;

static FloSoftElement element_at(const Visit *visit, size_t number) {
  const FloSoftGroup *group = visit->group;
  size_t begin = group->begin[number];
  return (FloSoftElement){group->data, number, group->begin[number + 1] - begin, group->vertices + begin,
                          visit->place};
}

static void find_energies(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Visit *visit = context;
  for (size_t k = begin; k < end; ++k) {
    FloSoftElement element = element_at(visit, k);
    visit->group->energies[k] = visit->group->form->energy(&element);
  }
}

double flo_soft_group_energy(const FloSoftGroup *group, const FloSoftPlace *place, int threads) {
  Visit visit = {.group = group, .place = place};
  flo_parallel_for(threads, group->n, GRAIN, find_energies, &visit);
  double sum = 0;
  for (size_t k = 0; k < group->n; ++k) sum += group->energies[k];
  return sum;
}

static void remember_elements(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Visit *visit = context;
  for (size_t k = begin; k < end; ++k) {
    FloSoftElement element = element_at(visit, k);
    visit->group->form->remember(&element);
  }
}

void flo_soft_group_remember(const FloSoftGroup *group, const FloSoftPlace *place, int threads) {
  Visit visit = {.group = group, .place = place};
  flo_parallel_for(threads, group->n, GRAIN, remember_elements, &visit);
}

static void push_chunk(const Visit *visit, size_t chunk) {
  FloSoftSink sink = *visit->sink;
  for (size_t k = CHUNK * chunk; k < end_of_chunk(visit->group, chunk); ++k) {
    FloSoftElement element = element_at(visit, k);
    sink.slots = visit->group->slots + visit->group->slot_begin[k];
    visit->group->form->push(&element, &sink);
  }
}

static void push_chunks(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Visit *visit = context;
  for (size_t k = begin; k < end; ++k) push_chunk(visit, visit->group->order[visit->first + k]);
}

void flo_soft_group_push(const FloSoftGroup *group, const FloSoftPlace *place, const FloSoftSink *sink,
                         int threads) {
  for (size_t c = 0; c < group->n_colours; ++c) {
    Visit visit = {group, place, sink, group->colours[c]};
    flo_parallel_for(threads, group->colours[c + 1] - group->colours[c], 1, push_chunks, &visit);
  }
}

void flo_sink_force(const FloSoftElement *element, const FloSoftSink *sink, size_t a, const double force[3]) {
  size_t vertex = element->vertices[a];
  double *sum = sink->gradient + 3 * vertex;
  vec_sub(sum, force, sum);
  sink->size[vertex] += vec_length(force);
}
