// Elements of a soft body in groups. All elements of a group have the same form: an energy of the positions
// of a few vertices. The driver in element.c visits them, adds forces and matrices, and is the only place
// that knows of threads.
#ifndef FLO_SOFT_ELEMENT_H
#define FLO_SOFT_ELEMENT_H

#include "soft/soft.h"

// Where elements are looked at.
typedef struct FloSoftPlace {
  const double *x; // positions, three numbers for each vertex [m]
  double rate;     // 1 / dt; 0: no damping [1/s]
} FloSoftPlace;

// One element at one place.
typedef struct FloSoftElement {
  const void *data;         // of its group
  size_t number;            // in its group
  size_t n;                 // vertices
  const uint32_t *vertices; // their numbers
  const FloSoftPlace *place;
} FloSoftElement;

// Where an element puts its forces and its matrix.
typedef struct FloSoftSink {
  double *gradient;      // of the energy; three numbers for each vertex [N]
  double *size;          // sum of the magnitudes of forces on each vertex [N]
  double *blocks;        // of the matrix, the second derivative of the energy [N/m]; NULL: not wanted
  bool is_exact;         // false: the matrix of each element must be positive semidefinite
  const uint32_t *slots; // numbers of the blocks of the element, n times n
} FloSoftSink;

struct FloSoftGroup;

typedef struct FloSoftForm {
  double (*energy)(const FloSoftElement *element);
  void (*push)(const FloSoftElement *element, const FloSoftSink *sink);
  // Remembers the strain, from which friction counts.
  void (*remember)(const FloSoftElement *element);
  // Called after vertices were fixed or freed; may be NULL.
  void (*refix)(const struct FloSoftGroup *group, const bool *fixed);
} FloSoftForm;

typedef struct FloSoftGroup {
  const FloSoftForm *form;
  void *data;
  size_t n;           // elements
  size_t *begin;      // vertices of element k: begin[k] .. begin[k + 1]
  uint32_t *vertices; // their numbers
  // Elements are visited in chunks of successive ones. Chunks of one colour have no vertex in common.
  uint32_t *order;
  size_t *colours; // chunks of colour c: order[colours[c]] .. order[colours[c + 1]]
  size_t n_colours;
  size_t *slot_begin;
  uint32_t *slots;
  double *energies; // of each element [J]
  double scale;     // energy of all elements at a strain of about one [J]
} FloSoftGroup;

// ---- Adding to the sink, for forms ----

void flo_sink_force(const FloSoftElement *element, const FloSoftSink *sink, size_t a, const double force[3]);
static inline double *flo_sink_block(const FloSoftElement *element, const FloSoftSink *sink, size_t a,
                                     size_t b) {
  return sink->blocks + 9 * (size_t)sink->slots[element->n * a + b];
}
static inline const double *flo_element_vertex(const FloSoftElement *element, size_t a) {
  return element->place->x + 3 * (size_t)element->vertices[a];
}

// ---- The driver ----

// A group of n elements with n_vertices vertices in all. The caller fills begin and vertices.
FloStatus flo_soft_add_group(FloSoft *soft, const FloSoftForm *form, void *data, size_t n, size_t n_vertices,
                             FloSoftGroup **group, FloError *error);
// After the matrix has its pattern.
FloStatus flo_soft_colour_group(FloSoft *soft, FloSoftGroup *group, FloError *error);
double flo_soft_group_energy(const FloSoftGroup *group, const FloSoftPlace *place, int threads);
// The state at the start of a step.
void flo_soft_group_remember(const FloSoftGroup *group, const FloSoftPlace *place, int threads);
// `slots` of the sink are chosen by the driver.
void flo_soft_group_push(const FloSoftGroup *group, const FloSoftPlace *place, const FloSoftSink *sink,
                         int threads);

#endif
