// What pressures do: forces on fluid and bodies, the velocities that follow, and the room that is left in
// each kernel at the positions that follow from these.
//
// Bodies answer in every iteration, so that a light sheet moves with the fluid on it. A pressure force on a
// sample goes to the nodes that carry it. A body whose nodes hold each other tells how all of them yield
// (FloKind.respond); other nodes move by their own mass. Then contacts and joints act.
//
// A soft body responds as it would near the state that its kick has found. So the kick contains the pressures
// and contacts that the iterations start from. Without them a sheet that is far lighter than the water on it
// would be far from its place, and would respond as it does there.
#include "base/parallel.h"
#include "coupling/elastic/elastic.h"
#include "coupling/forces/carried.h"
#include "sph/passes.h"

#include <string.h>

typedef struct Answer {
  FloWorld *world;
  FloElastic *e;
  FloSet set; // of samples
} Answer;

static const FloPairs *pairs_of(const Answer *in, FloSet rows, FloSet columns) {
  return flo_pairs_of(in->world, rows, columns);
}

// ---- Fluid ----

// Adds the pressures of samples.
static void add_samples(const Answer *in, FloSet set, size_t begin, size_t end) {
  const FloElastic *e = in->e;
  const FloSweep sweep = {.pairs = pairs_of(in, FLO_SET_FLUID, set),
                          .columns = e->pressure + e->first[set],
                          .rows = e->force,
                          .is_added = true};
  if (e->has_wet && in->world->sets[set].count) flo_passes()->gradient(&sweep, begin, end);
}

// -V_i V_j (p_i + p_j) grad W_ij, in two parts: the pressures of neighbours, and the particle's own.
static void push_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Answer *in = context;
  FloElastic *e = in->e;
  const FloParticles *p = &in->world->sets[FLO_SET_FLUID];
  const FloSweep sweep = {
      .pairs = pairs_of(in, FLO_SET_FLUID, FLO_SET_FLUID), .columns = e->pressure, .rows = e->force};
  const float volume = (float)e->rest_volume;
  flo_passes()->gradient(&sweep, begin, end);
  add_samples(in, FLO_SET_BOUNDARY, begin, end);
  add_samples(in, FLO_SET_RIGID, begin, end);
  for (size_t i = begin * FLO_BLOCK; i < flo_min_size(end * FLO_BLOCK, p->count); ++i) {
    float *f = e->force + 4 * i, *v = e->velocity + 4 * i;
    const float *g = e->steep + 4 * i, *start = e->start + 4 * i;
    const float per_mass = p->held[i] ? 0 : (float)e->dt / p->mass[i];
    for (int axis = 0; axis < 4; ++axis) {
      f[axis] = -volume * (volume * f[axis] + e->pressure[i] * g[axis]);
      v[axis] = start[axis] + per_mass * f[axis];
    }
  }
}

void flo_elastic_push_fluid(FloWorld *world, FloElastic *e) {
  Answer in = {world, e, FLO_SET_FLUID};
  flo_each_block(world, FLO_SET_FLUID, FLO_SET_FLUID, push_range, &in);
}

// ---- Bodies ----

// The opposite of what samples of bodies do to fluid.
static void press_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Answer *in = context;
  const FloElastic *e = in->e;
  const FloParticles *samples = &in->world->sets[FLO_SET_RIGID];
  const float *own = e->pressure + e->first[FLO_SET_RIGID], volume = (float)e->rest_volume;
  const FloSweep sweep = {
      .pairs = pairs_of(in, FLO_SET_RIGID, FLO_SET_FLUID), .columns = e->pressure, .rows = e->pressed.force};
  flo_passes()->gradient(&sweep, begin, end);
  for (size_t i = begin * FLO_BLOCK; i < flo_min_size(end * FLO_BLOCK, samples->count); ++i) {
    float *f = e->pressed.force + 4 * i;
    const float *near = e->near_bodies + 4 * i;
    for (int axis = 0; axis < 4; ++axis)
      f[axis] = -volume * (samples->volume[i] * f[axis] + own[i] * near[axis]);
  }
}

static void press_bodies(FloWorld *world, FloElastic *e) {
  Answer in = {world, e, FLO_SET_RIGID};
  flo_each_block(world, FLO_SET_RIGID, FLO_SET_FLUID, press_range, &in);
  flo_world_gather_wrenches(world, e->pressed.force, e->pressed.wrenches);
}

void flo_elastic_expect_pressures(FloWorld *world, FloElastic *e) {
  if (!e->has_bodies) return;
  press_bodies(world, e);
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    const size_t first = 6 * body->first_node;
    if (flo_body_is_soft(body) && flo_body_is_pushed(body))
      memcpy(e->bodies.expected + first, e->pressed.wrenches + first, 6 * body->n_nodes * sizeof(double));
  }
}

// Nodes that hold each other.
static void respond_together(const FloElastic *e, const FloBody *body, double *motion) {
  double *impulses = e->loads, *changes = e->loads + 3 * body->n_nodes;
  for (size_t k = 0; k < body->n_nodes; ++k) {
    const size_t at = 6 * (body->first_node + k);
    vec_sub(e->pressed.wrenches + at, e->bodies.expected + at, impulses + 3 * k);
    vec_scale(impulses + 3 * k, e->dt, impulses + 3 * k);
  }
  body->kind->respond(body, impulses, changes);
  for (size_t k = 0; k < body->n_nodes; ++k) vec_add(motion + 6 * k, changes + 3 * k, motion + 6 * k);
}

static void respond_alone(const FloElastic *e, const FloBody *body, double *motion) {
  for (size_t k = 0; k < body->n_nodes; ++k) {
    double change[6];
    flo_node_apply(&body->nodes[k], e->pressed.wrenches + 6 * (body->first_node + k), change);
    for (int row = 0; row < 6; ++row) motion[6 * k + (size_t)row] += e->dt * change[row];
  }
}

// Adds what contacts and joints give so far, and lets them find what they have to give now.
static void hold_together(FloWorld *world, FloElastic *e) {
  FloBodySolve *bodies = &e->bodies;
  const double speed = flo_elastic_contact_speed(world, e);
  for (size_t k = 0; k < 6 * world->nodes.count; ++k) bodies->motion[k] += bodies->given[k];
  if (bodies->rows.n_rows)
    flo_rows_gather(&bodies->rows, world->threads, bodies->motion, bodies->lambda, bodies->motion);
  e->contact_residual =
      flo_body_solve_sweep(bodies, world, speed, FLO_ELASTIC_CONTACT_ITERATIONS) / fmax(speed, 1e-30);
}

static void move_bodies(FloWorld *world, FloElastic *e) {
  double *motion = e->bodies.motion;
  memcpy(motion, e->start_motion, 6 * world->nodes.count * sizeof *motion);
  for (size_t k = 0; e->has_bodies && k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (!flo_body_is_pushed(body)) continue;
    if (body->kind->respond)
      respond_together(e, body, motion + 6 * body->first_node);
    else
      respond_alone(e, body, motion + 6 * body->first_node);
  }
  hold_together(world, e);
}

void flo_elastic_find_flow(const FloWorld *world, FloSet set, const float *motion, float *flow) {
  const FloParticles *samples = &world->sets[set];
  for (size_t i = 0; i < samples->count; ++i)
    for (size_t k = 4 * i; k < 4 * i + 3; ++k) flow[k] = samples->volume[i] * motion[k];
}

static void answer_bodies(FloWorld *world, FloElastic *e) {
  if (world->nodes.count == 0) return;
  if (e->has_bodies) press_bodies(world, e);
  move_bodies(world, e);
  flo_soft_motion_note(&e->soft_motion, world, e->bodies.motion, 6);
  if (!e->has_bodies) return;
  flo_world_spread_motions(world, e->bodies.motion, e->pressed.motion);
  flo_elastic_find_flow(world, FLO_SET_RIGID, e->pressed.motion, e->body_flow);
}

// ---- Errors ----

static const float *motion_of(const FloElastic *e, FloSet set) {
  if (set == FLO_SET_FLUID) return e->velocity;
  return set == FLO_SET_BOUNDARY ? e->forces.walls : e->pressed.motion;
}

// The sum of the gradients of a row over all of its neighbours, times their volumes.
static const float *steep_of(const FloElastic *e, FloSet set) {
  if (set == FLO_SET_FLUID) return e->steep;
  return set == FLO_SET_BOUNDARY ? e->near_walls : e->near_bodies;
}

static void sweep_divergence(const Answer *in, FloSet rows, FloSet columns, const float *velocity, float *sum,
                             size_t begin, size_t end) {
  const FloSweep sweep = {.pairs = pairs_of(in, rows, columns), .columns = velocity, .rows = sum};
  flo_passes()->divergence(&sweep, begin, end);
}

// Solids next to fluid: V_b v_b of walls and of bodies.
static void subtract_solids(const Answer *in, size_t begin, size_t end) {
  static const FloSet sets[] = {FLO_SET_BOUNDARY, FLO_SET_RIGID};
  const FloElastic *e = in->e;
  const size_t last = flo_min_size(end * FLO_BLOCK, in->world->sets[FLO_SET_FLUID].count);
  for (size_t k = 0; k < FLO_COUNT_OF(sets); ++k) {
    const float *flow = k ? e->body_flow : e->wall_flow;
    if (in->world->sets[sets[k]].count == 0 || (k == 0 && !e->has_led_walls)) continue;
    sweep_divergence(in, FLO_SET_FLUID, sets[k], flow, e->solid_rate, begin, end);
    for (size_t i = begin * FLO_BLOCK; i < last; ++i) e->error[i] -= e->solid_rate[i];
  }
}

// dt sum_j V_j (v_i - v_j) . grad W_ij, with the gradients at the start of the step.
static void error_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Answer *in = context;
  FloElastic *e = in->e;
  const float *source = e->source + e->first[in->set], *motion = motion_of(e, in->set),
              *steep = steep_of(e, in->set), volume = (float)e->rest_volume,
              scale = (float)(e->dt / e->rest_sum);
  float *error = e->error + e->first[in->set];
  const size_t last = flo_min_size(end * FLO_BLOCK, in->world->sets[in->set].count);
  sweep_divergence(in, in->set, FLO_SET_FLUID, e->velocity, error, begin, end);
  for (size_t i = begin * FLO_BLOCK; i < last; ++i) {
    const float *v = motion + 4 * i, *g = steep + 4 * i;
    error[i] = v[0] * g[0] + v[1] * g[1] + v[2] * g[2] - volume * error[i];
  }
  if (in->set == FLO_SET_FLUID) subtract_solids(in, begin, end);
  for (size_t i = begin * FLO_BLOCK; i < last; ++i) error[i] = source[i] - scale * error[i];
}

static void each_set(FloWorld *world, FloElastic *e, FloRangeFn work) {
  static const FloSet sets[] = {FLO_SET_FLUID, FLO_SET_BOUNDARY, FLO_SET_RIGID};
  for (size_t k = 0; k < FLO_COUNT_OF(sets); ++k) {
    Answer in = {world, e, sets[k]};
    if (world->sets[sets[k]].count == 0 || (k > 0 && !e->has_wet)) continue;
    flo_each_block(world, sets[k], FLO_SET_FLUID, work, &in);
  }
}

void flo_elastic_answer(FloWorld *world, FloElastic *e) {
  if (e->n_rows) flo_elastic_push_fluid(world, e);
  answer_bodies(world, e);
  if (e->n_rows) each_set(world, e, error_range);
}

// ---- Densities at the predicted positions ----

// Adds the change of kernel sums over one set to `bend` of another.
static void add_change(const Answer *in, FloSet rows, FloSet columns, size_t begin, size_t end) {
  const FloWorld *world = in->world;
  const FloElastic *e = in->e;
  if (world->sets[columns].count == 0) return;
  const FloSumChange change = {.pairs = pairs_of(in, rows, columns),
                               .rows = &world->grids[rows],
                               .columns = &world->grids[columns],
                               .kernel = world->kernel,
                               .row_velocity = motion_of(e, rows),
                               .column_velocity = motion_of(e, columns),
                               .column_volume = columns == FLO_SET_FLUID ? NULL : world->sets[columns].volume,
                               .all_volume = (float)e->rest_volume,
                               .dt = e->dt,
                               .sum = e->bend + e->first[rows]};
  flo_passes()->sum_change(&change, begin, end);
}

// The difference goes to the source, and so to the errors.
static void bend_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Answer *in = context;
  FloElastic *e = in->e;
  const size_t row = e->first[in->set], last = flo_min_size(end * FLO_BLOCK, in->world->sets[in->set].count);
  float *bend = e->bend + row, *error = e->error + row, *source = e->source + row;
  const float *room = e->room + row, scale = 1 / (float)e->rest_sum;
  memset(bend + begin * FLO_BLOCK, 0, (last - begin * FLO_BLOCK) * sizeof *bend);
  add_change(in, in->set, FLO_SET_FLUID, begin, end);
  if (in->set == FLO_SET_FLUID) add_change(in, FLO_SET_FLUID, FLO_SET_BOUNDARY, begin, end);
  if (in->set == FLO_SET_FLUID) add_change(in, FLO_SET_FLUID, FLO_SET_RIGID, begin, end);
  for (size_t i = begin * FLO_BLOCK; i < last; ++i) {
    const float now = room[i] - scale * bend[i];
    source[i] += now - error[i], error[i] = now;
  }
}

void flo_elastic_bend(FloWorld *world, FloElastic *e) {
  if (e->n_rows) each_set(world, e, bend_range);
}
