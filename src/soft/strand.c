// Strands: everything per metre of depth, and no strain along the depth.
//
// A segment of length l and rest length L has the energy L k/2 (l/L - 1)^2 plus the limit of its stretch. A
// knee, where two segments meet, has bend/2 (angle - rest angle)^2 / own, where own is half of the length of
// its segments. A segment whose two vertices are fixed does not bend, so its half does not count: a clamped
// end owns half a segment.
#include "soft/strand.h"

#include "base/vecmath.h"
#include "soft/body.h"

#include <stdlib.h>
#include <string.h>

typedef struct Segments {
  FloSheet sheet;
  double *lengths; // at rest [m]
  double *before;  // lengths at the start of the step [m]
} Segments;

static double length_between(const double *a, const double *b) {
  double way[3];
  vec_sub(b, a, way);
  return vec_length(way);
}

static double length_now(const FloSoftElement *e) {
  return length_between(flo_element_vertex(e, 0), flo_element_vertex(e, 1));
}
static void segment_remember(const FloSoftElement *element) {
  const Segments *segments = element->data;
  segments->before[element->number] = length_now(element);
}

// Energy per rest length as a function of the stretch.
static FloCurve segment_curve(const FloSoftElement *element) {
  const Segments *segments = element->data;
  double rest = segments->lengths[element->number], k = segments->sheet.along;
  double stretch = length_now(element) / rest, friction = k * segments->sheet.damping * element->place->rate;
  FloCurve f = flo_sheet_limit(&segments->sheet, stretch);
  f.value += k / 2 * (stretch - 1) * (stretch - 1), f.slope += k * (stretch - 1), f.bend += k;
  if (friction == 0) return f;
  double change = stretch - segments->before[element->number] / rest;
  f.value += friction / 2 * change * change, f.slope += friction * change, f.bend += friction;
  return f;
}

static double segment_energy(const FloSoftElement *element) {
  const Segments *segments = element->data;
  return segments->lengths[element->number] * segment_curve(element).value;
}

static void push_segment_matrix(const FloSoftElement *element, const FloSoftSink *sink, const double along[3],
                                double stiff, double tension) {
  double across = sink->is_exact ? tension : fmax(tension, 0);
  for (size_t a = 0; a < 2; ++a)
    for (size_t b = 0; b < 2; ++b) {
      double *block = flo_sink_block(element, sink, a, b), sign = a == b ? 1 : -1;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          block[3 * i + j] += sign * ((stiff - across) * along[i] * along[j] + (i == j ? across : 0));
    }
}

static void segment_push(const FloSoftElement *element, const FloSoftSink *sink) {
  const Segments *segments = element->data;
  FloCurve f = segment_curve(element);
  double along[3], force[3], rest = segments->lengths[element->number];
  vec_sub(flo_element_vertex(element, 1), flo_element_vertex(element, 0), along);
  double length = vec_length(along);
  if (length == 0) return; // no direction; its neighbours open it
  vec_scale(along, 1 / length, along);
  vec_scale(along, f.slope, force);
  flo_sink_force(element, sink, 0, force);
  vec_scale(force, -1, force);
  flo_sink_force(element, sink, 1, force);
  if (sink->blocks) push_segment_matrix(element, sink, along, f.bend / rest, f.slope / length);
}

static const FloSoftForm segment_form = {segment_energy, segment_push, segment_remember, NULL};

FloStatus flo_soft_add_segments(FloSoft *soft, const uint32_t *list, size_t n, const FloSheet *sheet,
                                FloError *error) {
  Segments *segments;
  FloSoftGroup *group;
  FLO_TRY(flo_soft_array(soft, 1, sizeof *segments, &segments, error));
  segments->sheet = *sheet;
  FLO_TRY(flo_soft_array(soft, n, sizeof *segments->lengths, &segments->lengths, error));
  FLO_TRY(flo_soft_array(soft, n, sizeof *segments->before, &segments->before, error));
  FLO_TRY(flo_soft_add_group(soft, &segment_form, segments, n, 2 * n, &group, error));
  memcpy(group->vertices, list, 2 * n * sizeof *list);
  for (size_t k = 0; k < n; ++k) {
    const uint32_t *ends = list + 2 * k;
    double length = length_between(soft->x + 3 * (size_t)ends[0], soft->x + 3 * (size_t)ends[1]);
    segments->lengths[k] = length / sheet->prestretch[0];
    for (int i = 0; i < 2; ++i) soft->mass[ends[i]] += sheet->density * segments->lengths[k] / 2;
    group->begin[k + 1] = 2 * (k + 1), group->scale += sheet->along * segments->lengths[k];
  }
  return FLO_OK;
}

// ---- Knees ----

// Vertices of a knee: the two outer ones with the joint in the middle.
typedef struct Knee {
  double rest;       // angle at rest
  double lengths[2]; // of its segments [m]
  double stiffness;  // [N m / m]
  double before;     // angle at the start of the step
} Knee;

typedef struct Knees {
  FloSheet sheet;
  Knee *knees;
} Knees;

static double angle_at(const double *a, const double *b, const double *c) {
  double u[3], w[3];
  vec_sub(b, a, u);
  vec_sub(c, b, w);
  return atan2(u[0] * w[1] - u[1] * w[0], u[0] * w[0] + u[1] * w[1]);
}

static double turn_from(double angle, double rest) {
  double turn = angle - rest;
  return turn - 2 * FLO_PI * round(turn / (2 * FLO_PI));
}

static double angle_now(const FloSoftElement *e) {
  return angle_at(flo_element_vertex(e, 0), flo_element_vertex(e, 1), flo_element_vertex(e, 2));
}
static void knee_remember(const FloSoftElement *element) {
  const Knees *knees = element->data;
  knees->knees[element->number].before = angle_now(element);
}

// Energy as a function of the angle.
static FloCurve knee_curve(const FloSoftElement *element) {
  const Knees *knees = element->data;
  const Knee *knee = &knees->knees[element->number];
  double k = knee->stiffness, friction = k * knees->sheet.damping * element->place->rate;
  double angle = angle_now(element), turn = turn_from(angle, knee->rest);
  FloCurve f = {k / 2 * turn * turn, k * turn, k};
  if (friction == 0) return f;
  double change = turn_from(angle, knee->before);
  f.value += friction / 2 * change * change, f.slope += friction * change, f.bend += friction;
  return f;
}

static double knee_energy(const FloSoftElement *element) { return knee_curve(element).value; }

// A quarter turn of a way, over its length squared: how its angle changes.
static void angle_slope(const double *from, const double *to, double slope[3]) {
  double x = to[0] - from[0], y = to[1] - from[1], square = x * x + y * y;
  vec_set(slope, -y / square, x / square, 0);
}

static void knee_slopes(const FloSoftElement *element, double slopes[3][3]) {
  angle_slope(flo_element_vertex(element, 0), flo_element_vertex(element, 1), slopes[0]);
  angle_slope(flo_element_vertex(element, 1), flo_element_vertex(element, 2), slopes[2]);
  for (int i = 0; i < 3; ++i) slopes[1][i] = -slopes[0][i] - slopes[2][i];
}

static void knee_push(const FloSoftElement *element, const FloSoftSink *sink) {
  FloCurve f = knee_curve(element);
  double slopes[3][3];
  knee_slopes(element, slopes);
  for (size_t a = 0; a < 3; ++a) {
    double force[3];
    vec_scale(slopes[a], -f.slope, force);
    flo_sink_force(element, sink, a, force);
  }
  if (!sink->blocks) return;
  for (size_t a = 0; a < 3; ++a)
    for (size_t b = 0; b < 3; ++b)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          flo_sink_block(element, sink, a, b)[3 * i + j] += f.bend * slopes[a][i] * slopes[b][j];
}

static void knee_refix(const FloSoftGroup *group, const bool *fixed) {
  const Knees *knees = group->data;
  for (size_t k = 0; k < group->n; ++k) {
    const uint32_t *v = group->vertices + group->begin[k];
    Knee *knee = &knees->knees[k];
    double own = (fixed[v[0]] && fixed[v[1]] ? 0 : knee->lengths[0] / 2) +
                 (fixed[v[1]] && fixed[v[2]] ? 0 : knee->lengths[1] / 2);
    knee->stiffness = own > 0 ? knees->sheet.bend / own : 0;
  }
}

static const FloSoftForm knee_form = {knee_energy, knee_push, knee_remember, knee_refix};

// ---- Which segments bend together ----

// An end of a segment, to be sorted by vertex.
typedef struct End {
  uint32_t vertex, other;
} End;

static int compare_ends(const void *a, const void *b) {
  const End *p = a, *q = b;
  if (p->vertex != q->vertex) return p->vertex < q->vertex ? -1 : 1;
  return p->other < q->other ? -1 : p->other > q->other;
}

// The end, of those from `first` to `last` at one vertex, that continues end k best.
static size_t find_partner(const double *x, const End *ends, size_t first, size_t last, size_t k) {
  size_t best = k;
  double least = INFINITY;
  for (size_t i = first; i < last; ++i) {
    if (ends[i].other == ends[k].other) continue;
    double angle = fabs(angle_at(x + 3 * (size_t)ends[k].other, x + 3 * (size_t)ends[k].vertex,
                                 x + 3 * (size_t)ends[i].other));
    if (angle < least) least = angle, best = i;
  }
  return best;
}

static void add_knee(const double *x, FloSoftGroup *group, Knee *knee, const End *a, const End *b) {
  uint32_t *v = group->vertices + 3 * group->n++;
  v[0] = a->other, v[1] = a->vertex, v[2] = b->other;
  const double *p = x + 3 * (size_t)v[0], *q = x + 3 * (size_t)v[1], *r = x + 3 * (size_t)v[2];
  *knee = (Knee){.rest = angle_at(p, q, r), .lengths = {length_between(p, q), length_between(q, r)}};
  group->begin[group->n] = 3 * group->n;
}

// Each end bends with its partner; a pair that chose each other counts once.
static void add_knees_at(const double *x, FloSoftGroup *group, Knee *knees, const End *ends, size_t first,
                         size_t last) {
  for (size_t k = first; k < last; ++k) {
    size_t partner = find_partner(x, ends, first, last, k);
    if (partner == k || (partner < k && find_partner(x, ends, first, last, partner) == k)) continue;
    add_knee(x, group, &knees[group->n], &ends[k], &ends[partner]);
  }
}

static void fill_knees(FloSoft *soft, FloSoftGroup *group, Knee *knees, const uint32_t *list, size_t n,
                       End *ends) {
  for (size_t k = 0; k < 2 * n; ++k) ends[k] = (End){list[k], list[k ^ 1]};
  qsort(ends, 2 * n, sizeof *ends, compare_ends);
  group->n = 0;
  for (size_t first = 0, last; first < 2 * n; first = last) {
    for (last = first + 1; last < 2 * n && ends[last].vertex == ends[first].vertex;) last++;
    add_knees_at(soft->x, group, knees, ends, first, last);
  }
}

FloStatus flo_soft_add_knees(FloSoft *soft, const uint32_t *list, size_t n, const FloSheet *sheet,
                             FloError *error) {
  if (sheet->bend == 0) return FLO_OK;
  Knees *knees;
  FloSoftGroup *group;
  FloBuffer ends = {0};
  FLO_TRY(flo_soft_array(soft, 1, sizeof *knees, &knees, error));
  knees->sheet = *sheet;
  FLO_TRY(flo_soft_array(soft, 2 * n, sizeof *knees->knees, &knees->knees, error));
  FLO_TRY(flo_soft_add_group(soft, &knee_form, knees, 2 * n, 6 * n, &group, error));
  FLO_TRY(flo_buffer_reserve(soft->memory, &ends, 2 * n * sizeof(End), 0, error));
  fill_knees(soft, group, knees->knees, list, n, ends.data);
  group->scale = sheet->bend * (double)group->n;
  flo_buffer_free(soft->memory, &ends);
  return FLO_OK;
}
