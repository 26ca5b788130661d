// Arrows are spread evenly over the picture. The pixels are divided into squares. In each square the foremost
// fluid has one arrow, from the mean position of its particles along their mean velocity.
#include "render/markings.h"

#include "base/core.h"
#include "render/canvas.h"
#include "render/overlay.h"
#include "render/tracer.h"
#include "render/water.h"

#include <stdlib.h>

static const float square_side = 30; // in units of the overlay: pixels of a picture 720 high
static const FloRgb8 arrow_ink = {24, 30, 40}, arrow_halo = {255, 255, 255};

typedef struct Square {
  float depth;      // of the foremost particle; INFINITY: there is none
  V3 place, motion; // sums over the particles near it
  float count;
} Square;

typedef struct Board {
  const FloPictureInput *input;
  const FloLens *lens;
  FloTracer *solids; // what hides fluid
  float side;        // pixels
  int columns, rows;
  Square *squares;
} Board;

// ---- Arrows ----

// With a slice, only fluid in its plane has arrows.
static bool has_arrow(const FloPictureInput *input, size_t i) {
  const float *p = input->positions + 3 * i, *v = input->velocities + 3 * i;
  const FloStyle *style = &input->view.style;
  if (!flo_is_fluid(input, i) || !isfinite(p[0] + p[1] + p[2] + v[0] + v[1] + v[2])) return false;
  return !style->has_slice || fabsf(p[style->slice_axis] - (float)style->slice_at) < 2 * input->radius;
}

static V3 triple(const float *p) { return v3(p[0], p[1], p[2]); }

static bool is_hidden(const Board *board, V3 point, float depth) {
  const FloLens *lens = board->lens;
  const V3 eye = lens->is_flat ? v3_mad(point, lens->forward, -depth) : lens->eye, way = v3_sub(point, eye);
  const FloRay ray = {eye, v3_normalize(way), v3_length(way) - 2 * board->input->radius};
  return ray.end > 0 && flo_tracer_is_blocked(board->solids, &ray);
}

static Square *square_of(const Board *board, size_t i, float *depth) {
  float x, y;
  const V3 point = triple(board->input->positions + 3 * i);
  flo_lens_project(board->lens, point, &x, &y, depth);
  if (!(*depth > 0 && x >= 0 && y >= 0 && x < (float)board->lens->width && y < (float)board->lens->height))
    return NULL;
  if (is_hidden(board, point, *depth)) return NULL;
  return &board->squares[(size_t)(y / board->side) * (size_t)board->columns + (size_t)(x / board->side)];
}

static void find_foremost(const Board *board) {
  for (size_t k = 0; k < (size_t)board->columns * (size_t)board->rows; k++)
    board->squares[k] = (Square){.depth = INFINITY};
  for (size_t i = 0; i < board->input->n_particles; i++) {
    float depth;
    Square *square = has_arrow(board->input, i) ? square_of(board, i, &depth) : NULL;
    if (square) square->depth = flo_minf(square->depth, depth);
  }
}

static void add_up(const Board *board) {
  const float thickness = 4 * board->input->radius;
  for (size_t i = 0; i < board->input->n_particles; i++) {
    float depth;
    Square *square = has_arrow(board->input, i) ? square_of(board, i, &depth) : NULL;
    if (!square || depth > square->depth + thickness) continue;
    square->place = v3_add(square->place, triple(board->input->positions + 3 * i));
    square->motion = v3_add(square->motion, triple(board->input->velocities + 3 * i));
    square->count++;
  }
}

static void add_arrow(FloCanvas *c, const Board *board, const Square *square, float width) {
  float x, y, depth, tip_x, tip_y, tip_depth;
  const V3 place = v3_scale(square->place, 1 / square->count);
  const V3 tip = v3_mad(place, square->motion, board->input->arrow_seconds / square->count);
  flo_lens_project(board->lens, place, &x, &y, &depth);
  flo_lens_project(board->lens, tip, &tip_x, &tip_y, &tip_depth);
  if (!(tip_depth > 0)) return;
  const float dx = tip_x - x, dy = tip_y - y, length = sqrtf(dx * dx + dy * dy);
  flo_canvas_add_stroke(c, x, y, tip_x, tip_y, width);
  if (!(length > 1)) return; // it would be only a dot
  const float head = flo_minf(0.45f * length, 0.3f * board->side), along = head / length;
  for (int side = -1; side <= 1; side += 2) {
    const float back_x = tip_x - along * (dx + 0.5f * (float)side * dy),
                back_y = tip_y - along * (dy - 0.5f * (float)side * dx);
    flo_canvas_add_stroke(c, tip_x, tip_y, back_x, back_y, width);
  }
}

// Arrows are dark with a light rim, so that they are visible on any colour.
static void draw_arrows(FloCanvas *c, const Board *board, float unit) {
  const size_t n = (size_t)board->columns * (size_t)board->rows;
  for (int is_ink = 0; is_ink < 2; is_ink++) {
    const float width = flo_maxf(1, 1.6f * unit) + (is_ink ? 0 : flo_maxf(1.5f, 2 * unit));
    for (size_t k = 0; k < n; k++)
      if (board->squares[k].count > 0) add_arrow(c, board, &board->squares[k], width);
    flo_canvas_paint(c, is_ink ? arrow_ink : arrow_halo, is_ink ? 1 : 0.55f);
  }
}

static FloStatus mark_velocities(const FloPictureInput *input, const FloLens *lens, const FloSolids *solids,
                                 FloCanvas *c, FloError *error) {
  const FloCloud nothing = {0};
  const float unit = flo_overlay_unit(lens->width, lens->height);
  Board board = {.input = input, .lens = lens, .side = flo_maxf(8, square_side * unit)};
  board.columns = (int)((float)lens->width / board.side) + 1;
  board.rows = (int)((float)lens->height / board.side) + 1;
  board.squares = malloc((size_t)board.columns * (size_t)board.rows * sizeof *board.squares);
  if (!board.squares) return flo_fail(error, FLO_NO_MEMORY, "no memory for arrows");
  FloStatus status = flo_tracer_create(&nothing, solids, 0, &board.solids, error);
  if (status == FLO_OK) {
    find_foremost(&board);
    add_up(&board);
    draw_arrows(c, &board, unit);
    flo_tracer_destroy(board.solids);
  }
  free(board.squares);
  return status;
}

// ---- Traces ----

static bool project(const FloLens *lens, const float *point, float *x, float *y) {
  float depth;
  flo_lens_project(lens, triple(point), x, y, &depth);
  return depth > 0 && isfinite(*x) && isfinite(*y);
}

static void add_trace(FloCanvas *c, const FloLens *lens, const FloTrace *trace, float width) {
  float x = 0, y = 0;
  bool is_there = trace->n > 0 && project(lens, trace->points, &x, &y);
  for (size_t k = 1; k < trace->n; k++) {
    float next_x, next_y;
    const bool is_next = project(lens, trace->points + 3 * k, &next_x, &next_y);
    if (is_there && is_next) flo_canvas_add_stroke(c, x, y, next_x, next_y, width);
    is_there = is_next, x = next_x, y = next_y;
  }
  if (is_there) flo_canvas_add_stroke(c, x, y, x, y, 3 * width); // where it is now
}

// The trace has the body's colour, but darker, so that it is visible in front of the body.
static void draw_trace(FloCanvas *c, const FloLens *lens, const FloTrace *trace, const V3 *colours,
                       float width) {
  add_trace(c, lens, trace, width + 2);
  flo_canvas_paint(c, arrow_halo, 0.55f);
  add_trace(c, lens, trace, width);
  flo_canvas_paint(c, flo_rgb8_from_linear(v3_scale(colours[trace->body], 0.3f)), 1);
}

// ---- Joints ----

static void add_joint(FloCanvas *c, const FloLens *lens, const FloDrawnJoint *joint, float width) {
  float x, y, next_x, next_y;
  if (project(lens, joint->ends[0], &x, &y) && project(lens, joint->ends[1], &next_x, &next_y))
    flo_canvas_add_stroke(c, x, y, next_x, next_y, width);
  if (project(lens, joint->point, &x, &y)) flo_canvas_add_stroke(c, x, y, x, y, 3 * width);
}

static void draw_joints(FloCanvas *c, const FloPictureInput *input, const FloLens *lens, float width) {
  for (int is_ink = 0; is_ink < 2; is_ink++) {
    for (size_t k = 0; k < input->n_joints; k++)
      add_joint(c, lens, &input->joints[k], width + (is_ink ? 0 : 2));
    flo_canvas_paint(c, is_ink ? arrow_ink : arrow_halo, is_ink ? 1 : 0.55f);
  }
}

FloStatus flo_markings_draw(const FloPictureInput *input, const FloLens *lens, const FloSolids *solids,
                            uint8_t *rgb, FloError *error) {
  const bool has_arrows = input->velocities && input->arrow_seconds > 0;
  FloCanvas canvas;
  FloStatus status = FLO_OK;
  if (!has_arrows && input->n_traces == 0 && input->n_joints == 0) return FLO_OK;
  FLO_TRY(flo_canvas_create(&canvas, rgb, lens->width, lens->height, error));
  if (has_arrows) status = mark_velocities(input, lens, solids, &canvas, error);
  const float width = flo_maxf(1, 2 * flo_overlay_unit(lens->width, lens->height));
  for (size_t k = 0; status == FLO_OK && k < input->n_traces; k++)
    draw_trace(&canvas, lens, &input->traces[k], solids->colours, width);
  if (status == FLO_OK && input->n_joints > 0) draw_joints(&canvas, input, lens, width);
  flo_canvas_destroy(&canvas);
  return status;
}
