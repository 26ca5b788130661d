// Samples of a polygon's inside, layer by layer below its sides.
//
// A layer is the curve of all points that are `depth` inside. It consists of pieces: lines along the sides,
// and arcs around corners that point inwards. A piece ends where it comes nearer than `depth` to another part
// of the outline. Pieces that follow each other form strands, which are sampled evenly between their sharp
// corners.
#include "geometry/outline.h"

#include "base/vecmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Outline {
  const double *points;
  size_t n;
  double sense; // 1: counter-clockwise, -1: clockwise
  double spacing;
  FloMemory *memory;
  FloOutlineTree tree;
} Outline;

// The curve beside a side, with a parameter from 0 to 1, or around a corner.
typedef struct Source {
  const double *from, *to; // of the side; around a corner both are the corner
  double angle, sweep;     // around a corner: direction of its start, and how far it goes round
} Source;

typedef struct Piece {
  Source source;
  double begin, end; // of the part of the source that is deep enough
  double length;     // [m]
} Piece;

static const double *corner_at(const Outline *o, size_t k) {
  // The corners are visited counter-clockwise, whatever the sense of the outline.
  return o->points + 2 * (o->sense > 0 ? k % o->n : (o->n - k % o->n) % o->n);
}

static double depth_of(const Outline *o, const double p[2]) {
  return -flo_outline_tree_distance(&o->tree, p);
}

// ---- Sources ----

static Source side_source(const Outline *o, size_t k) {
  return (Source){.from = corner_at(o, k), .to = corner_at(o, k + 1)};
}

static double direction_of(const double a[2], const double b[2]) { return atan2(b[1] - a[1], b[0] - a[0]); }

// The arc around corner k, between the normals of its sides. It has no sweep if the corner is convex.
static Source corner_source(const Outline *o, size_t k) {
  const double *before = corner_at(o, k + o->n - 1), *corner = corner_at(o, k), *after = corner_at(o, k + 1);
  double from = direction_of(before, corner), to = direction_of(corner, after);
  double turn = remainder(to - from, 2 * FLO_PI);
  return (Source){.from = corner, .to = corner, .angle = from + FLO_PI / 2, .sweep = fmin(turn, 0)};
}

static bool is_arc(const Source *source) { return source->from == source->to; }

static void source_point(const Source *source, double t, double depth, double p[2]) {
  const double *a = source->from, *b = source->to;
  double angle = is_arc(source) ? source->angle + t * source->sweep : direction_of(a, b) + FLO_PI / 2;
  for (int axis = 0; axis < 2; ++axis)
    p[axis] = a[axis] + t * (b[axis] - a[axis]) + depth * (axis ? sin(angle) : cos(angle));
}

static double source_length(const Source *source, double depth) {
  if (is_arc(source)) return depth * fabs(source->sweep);
  return hypot(source->to[0] - source->from[0], source->to[1] - source->from[1]);
}

// ---- Pieces ----

static bool is_deep(const Outline *o, const Source *source, double t, double depth) {
  double p[2];
  source_point(source, t, depth, p);
  return depth_of(o, p) >= depth * (1 - 1e-9);
}

// Finds where between two places the depth becomes sufficient; exactly one of them is deep enough.
static double find_change(const Outline *o, const Source *source, double deep, double shallow, double depth) {
  for (int k = 0; k < 50; ++k) {
    double middle = (deep + shallow) / 2;
    *(is_deep(o, source, middle, depth) ? &deep : &shallow) = middle;
  }
  return deep;
}

static FloStatus add_piece(const Outline *o, FloBuffer *pieces, size_t *n, const Piece *piece,
                           FloError *error) {
  size_t used = *n * sizeof *piece;
  if (used + sizeof *piece > pieces->capacity)
    FLO_TRY(flo_buffer_reserve(o->memory, pieces, 2 * used + 64 * sizeof *piece, used, error));
  ((Piece *)pieces->data)[(*n)++] = *piece;
  return FLO_OK;
}

// Finds the parts of a source that are deep enough. It tests in steps of an eighth of a spacing; smaller
// parts do not matter to particles.
static FloStatus cut_source(const Outline *o, const Source *source, double depth, FloBuffer *pieces,
                            size_t *n, FloError *error) {
  double length = source_length(source, depth);
  if (length == 0) return FLO_OK;
  size_t n_steps = (size_t)ceil(8 * length / o->spacing) + 1;
  bool was_deep = false;
  Piece piece = {.source = *source};
  for (size_t k = 0; k <= n_steps; ++k) {
    double t = (double)k / (double)n_steps, previous = ((double)k - 1) / (double)n_steps;
    bool is_now = is_deep(o, source, t, depth);
    if (is_now && !was_deep) piece.begin = k == 0 ? 0 : find_change(o, source, t, previous, depth);
    if (is_now) piece.end = t;
    if (was_deep && !is_now) piece.end = find_change(o, source, previous, t, depth);
    if ((was_deep && !is_now) || (is_now && k == n_steps)) {
      piece.length = length * (piece.end - piece.begin);
      FLO_TRY(add_piece(o, pieces, n, &piece, error));
    }
    was_deep = is_now;
  }
  return FLO_OK;
}

static FloStatus find_pieces(const Outline *o, double depth, FloBuffer *pieces, size_t *n, FloError *error) {
  for (size_t k = 0; k < o->n; ++k) {
    Source corner = corner_source(o, k), side = side_source(o, k);
    FLO_TRY(cut_source(o, &corner, depth, pieces, n, error));
    FLO_TRY(cut_source(o, &side, depth, pieces, n, error));
  }
  return FLO_OK;
}

// ---- Samples and their distances ----

// Samples by cell, chained; cells are hashed.
typedef struct Placed {
  const Outline *outline;
  FloPoints *samples;
  size_t first; // of this outline
  uint32_t *heads, *next;
  size_t n_buckets, capacity;
  FloBuffer buffer;
} Placed;

static void cell_of(const Placed *placed, const double p[2], int64_t cell[2]) {
  // The cell number is bounded, because an outline may be any number of spacings from the origin.
  for (int axis = 0; axis < 2; ++axis)
    cell[axis] = (int64_t)floor(fmin(fmax(p[axis] / placed->outline->spacing, -1e15), 1e15));
}

static uint32_t *bucket_of(const Placed *placed, int64_t x, int64_t y) {
  uint64_t key = (uint64_t)x * 0x9e3779b97f4a7c15u ^ (uint64_t)y * 0xbf58476d1ce4e5b9u;
  return &placed->heads[(key ^ key >> 31) & (placed->n_buckets - 1)];
}

static void enter_sample(Placed *placed, size_t k) {
  int64_t cell[2];
  cell_of(placed, flo_points_at(placed->samples, placed->first + k), cell);
  uint32_t *head = bucket_of(placed, cell[0], cell[1]);
  placed->next[k] = *head;
  *head = (uint32_t)k;
}

static FloStatus make_room(Placed *placed, FloError *error) {
  size_t count = placed->samples->count - placed->first;
  if (count < placed->capacity) return FLO_OK;
  placed->capacity = flo_max_size(2 * placed->capacity, 1024);
  placed->n_buckets = placed->capacity;
  size_t size = (placed->n_buckets + placed->capacity) * sizeof(uint32_t);
  FLO_TRY(flo_buffer_reserve(placed->outline->memory, &placed->buffer, size, 0, error));
  placed->heads = placed->buffer.data;
  placed->next = placed->heads + placed->n_buckets;
  memset(placed->heads, 0xff, placed->n_buckets * sizeof(uint32_t));
  for (size_t k = 0; k < count; ++k) enter_sample(placed, k);
  return FLO_OK;
}

// Whether a sample is nearer than `apart`, which is at most a spacing.
static bool has_near(const Placed *placed, const double p[2], double apart) {
  int64_t cell[2];
  if (placed->capacity == 0) return false;
  cell_of(placed, p, cell);
  for (int64_t y = -1; y <= 1; ++y)
    for (int64_t x = -1; x <= 1; ++x)
      for (uint32_t k = *bucket_of(placed, cell[0] + x, cell[1] + y); k != UINT32_MAX; k = placed->next[k]) {
        const double *q = flo_points_at(placed->samples, placed->first + k);
        if (hypot(q[0] - p[0], q[1] - p[1]) < apart) return true;
      }
  return false;
}

// Adds a sample unless there is one already: opposite sides of a thin part have the same middle.
static FloStatus place(Placed *placed, const double p[2], FloError *error) {
  if (has_near(placed, p, 0.6 * placed->outline->spacing)) return FLO_OK;
  FLO_TRY(make_room(placed, error));
  FLO_TRY(flo_points_add(placed->samples, p[0], p[1], 0, error));
  enter_sample(placed, placed->samples->count - placed->first - 1);
  return FLO_OK;
}

// ---- Strands ----

typedef struct Layer {
  const Outline *outline;
  double depth;
  Piece *pieces;
  size_t n_pieces;
  const double *starts; // of the pieces, two coordinates each
  size_t *following;    // the piece that begins where this one ends, or n_pieces
  bool *is_done;
} Layer;

static void piece_point(const Layer *layer, size_t piece, double along, double p[2]) {
  const Piece *q = &layer->pieces[piece];
  double t = q->length > 0 ? q->begin + (q->end - q->begin) * along / q->length : q->begin;
  source_point(&q->source, t, layer->depth, p);
}

static double piece_direction(const Layer *layer, size_t piece, bool is_end) {
  const Piece *q = &layer->pieces[piece];
  if (!is_arc(&q->source)) return direction_of(q->source.from, q->source.to);
  return q->source.angle + (is_end ? q->end : q->begin) * q->source.sweep - FLO_PI / 2;
}

static size_t find_following(const Layer *layer, size_t piece) {
  double end[2], nearest = 1e-6 * layer->outline->spacing;
  size_t best = layer->n_pieces;
  piece_point(layer, piece, layer->pieces[piece].length, end);
  for (size_t step = 1; step <= layer->n_pieces; ++step) {
    size_t k = (piece + step) % layer->n_pieces;
    const double *start = layer->starts + 2 * k;
    if (fabs(start[0] - end[0]) >= nearest) continue;
    double distance = hypot(start[0] - end[0], start[1] - end[1]);
    if (distance < nearest) best = k, nearest = distance;
    if (distance < 1e-9 * layer->outline->spacing) break; // the usual case: the very next
  }
  return best;
}

// Pieces that meet at more than 30 degrees form a corner that needs a sample of its own.
static bool is_sharp(const Layer *layer, size_t piece) {
  size_t next = layer->following[piece];
  if (next == layer->n_pieces) return true;
  double bend = piece_direction(layer, next, false) - piece_direction(layer, piece, true);
  return fabs(remainder(bend, 2 * FLO_PI)) > FLO_PI / 6;
}

// Samples the pieces from `first` to `last` evenly: at the start, and at the end if nothing follows.
static FloStatus sample_strand(const Layer *layer, size_t first, size_t last, Placed *placed,
                               FloError *error) {
  double length = 0, passed = 0;
  for (size_t k = first;; k = layer->following[k]) {
    length += layer->pieces[k].length;
    if (k == last) break;
  }
  size_t n = (size_t)fmax(round(length / layer->outline->spacing), 1);
  size_t n_samples = layer->following[last] == layer->n_pieces ? n + 1 : n;
  size_t piece = first;
  for (size_t i = 0; i < n_samples; ++i) {
    double along = length * (double)i / (double)n, p[2];
    while (piece != last && along > passed + layer->pieces[piece].length) {
      passed += layer->pieces[piece].length;
      piece = layer->following[piece];
    }
    piece_point(layer, piece, fmin(along - passed, layer->pieces[piece].length), p);
    FLO_TRY(place(placed, p, error));
  }
  return FLO_OK;
}

// Follows a strand from a piece to the next sharp corner, or around a closed curve.
static FloStatus walk_strand(const Layer *layer, size_t first, Placed *placed, FloError *error) {
  size_t last = first;
  layer->is_done[first] = true;
  while (!is_sharp(layer, last) && !layer->is_done[layer->following[last]]) {
    last = layer->following[last];
    layer->is_done[last] = true;
  }
  return sample_strand(layer, first, last, placed, error);
}

static FloStatus sample_strands(const Layer *layer, Placed *placed, FloError *error) {
  bool *is_start = layer->is_done + layer->n_pieces;
  for (size_t k = 0; k < layer->n_pieces; ++k) is_start[k] = true;
  for (size_t k = 0; k < layer->n_pieces; ++k)
    if (!is_sharp(layer, k)) is_start[layer->following[k]] = false;
  for (size_t k = 0; k < layer->n_pieces; ++k)
    if (is_start[k]) FLO_TRY(walk_strand(layer, k, placed, error));
  // The pieces that are left form closed curves without sharp corners.
  for (size_t k = 0; k < layer->n_pieces; ++k)
    if (!layer->is_done[k]) FLO_TRY(walk_strand(layer, k, placed, error));
  return FLO_OK;
}

static FloStatus sample_pieces(const Outline *o, double depth, Piece *pieces, size_t n, Placed *placed,
                               FloError *error) {
  FloBuffer buffer = {0};
  size_t size = n * (2 * sizeof(double) + sizeof(size_t) + 2 * sizeof(bool));
  FLO_TRY(flo_buffer_reserve(o->memory, &buffer, size, 0, error));
  double *starts = buffer.data;
  size_t *following = (size_t *)(starts + 2 * n);
  Layer layer = {o, depth, pieces, n, starts, following, (bool *)(following + n)};
  for (size_t k = 0; k < n; ++k) piece_point(&layer, k, 0, starts + 2 * k);
  for (size_t k = 0; k < n; ++k) layer.following[k] = find_following(&layer, k), layer.is_done[k] = false;
  FloStatus status = sample_strands(&layer, placed, error);
  flo_buffer_free(o->memory, &buffer);
  return status;
}

static FloStatus sample_layer(const Outline *o, double depth, Placed *placed, FloError *error) {
  FloBuffer pieces = {0};
  size_t n = 0;
  FloStatus status = find_pieces(o, depth, &pieces, &n, error);
  if (status == FLO_OK && n > 0) status = sample_pieces(o, depth, pieces.data, n, placed, error);
  flo_buffer_free(o->memory, &pieces);
  return status;
}

// ---- Thin parts ----

typedef struct Bare {
  double point[2], depth;
  size_t order;
} Bare;

static int compare_bare(const void *a, const void *b) {
  const Bare *p = a, *q = b;
  if (p->depth != q->depth) return p->depth > q->depth ? -1 : 1;
  return p->order < q->order ? -1 : p->order > q->order;
}

// Finds the deepest point, up to `depth`, whose nearest side is still at this place.
static double walk_inwards(const Outline *o, const Source *side, double t, double depth, double p[2]) {
  double deep = 0, shallow = depth;
  for (int k = 0; k < 50 && deep < depth; ++k) {
    double middle = k == 0 ? depth : (deep + shallow) / 2;
    source_point(side, t, middle, p);
    *(depth_of(o, p) >= middle * (1 - 1e-9) ? &deep : &shallow) = middle;
  }
  source_point(side, t, deep, p);
  return deep;
}

static FloStatus find_bare(const Outline *o, double inset, const Placed *placed, FloBuffer *bare, size_t *n,
                           FloError *error) {
  for (size_t k = 0; k < o->n; ++k) {
    Source side = side_source(o, k);
    size_t n_steps = (size_t)ceil(4 * source_length(&side, 0) / o->spacing);
    for (size_t i = 0; i < n_steps; ++i) {
      double t = ((double)i + 0.5) / (double)n_steps, p[2];
      source_point(&side, t, 0, p);
      if (has_near(placed, p, fmin(inset + o->spacing / 2, o->spacing))) continue;
      Bare found = {.order = *n};
      found.depth = walk_inwards(o, &side, t, inset, found.point);
      size_t used = *n * sizeof found;
      if (used + sizeof found > bare->capacity)
        FLO_TRY(flo_buffer_reserve(o->memory, bare, 2 * used + 64 * sizeof found, used, error));
      ((Bare *)bare->data)[(*n)++] = found;
    }
  }
  return FLO_OK;
}

// In parts so thin that no point is deep enough the middle gets samples instead, the deepest first.
static FloStatus sample_thin_parts(const Outline *o, double inset, Placed *placed, FloError *error) {
  FloBuffer buffer = {0};
  size_t n = 0;
  FloStatus status = find_bare(o, inset, placed, &buffer, &n, error);
  Bare *bare = buffer.data;
  if (status == FLO_OK && n > 0) qsort(bare, n, sizeof *bare, compare_bare);
  for (size_t k = 0; status == FLO_OK && k < n; ++k)
    if (!has_near(placed, bare[k].point, 0.9 * o->spacing)) status = place(placed, bare[k].point, error);
  flo_buffer_free(o->memory, &buffer);
  return status;
}

FloStatus flo_outline_sample(const double *points, size_t n, double spacing, double inset, int layers,
                             FloPoints *samples, FloError *error) {
  static const double max_samples = 1e8;
  double count = layers * (flo_outline_length(points, n) / spacing + (double)n);
  if (!(count <= max_samples))
    return flo_fail(error, FLO_BAD_INPUT,
                    "outline: it would need %.3g samples, more than the %.0e that can be handled; make it "
                    "smaller or the spacing larger",
                    count, max_samples);
  Outline o = {points, n, flo_outline_area(points, n) < 0 ? -1 : 1, spacing, samples->memory, {0}};
  FLO_TRY(flo_outline_tree_build(&o.tree, points, n, samples->memory, error));
  Placed placed = {.outline = &o, .samples = samples, .first = samples->count};
  FloStatus status = sample_layer(&o, inset, &placed, error);
  if (status == FLO_OK) status = sample_thin_parts(&o, inset, &placed, error);
  for (int layer = 1; status == FLO_OK && layer < layers; ++layer)
    status = sample_layer(&o, inset + layer * spacing, &placed, error);
  flo_buffer_free(o.memory, &placed.buffer);
  flo_outline_tree_free(&o.tree);
  return status;
}
