// Rows of wet samples: pressures of solids next to fluid (after Band et al. 2018: Pressure Boundaries for
// Implicit Incompressible SPH), in the same symmetric system as the pressures of fluid.
//
// In the paper solids have no pressure of their own. At rest the gradients of a wall and of the second layer
// of fluid cancel for the first layer, so nothing holds that layer off the wall: it sinks in until its own
// pressure is twice that of the water around it, the level falls, and buoyancy is wrong. Here each sample
// that sees enough fluid has a volume error and a pressure p_b >= 0, like a fluid particle:
//
// clang-format off
//   volume error  C_b = C_b(t) - dt V0 sum_j (v_b - v_j) . grad W_bj   over fluid
//   C_b(t)        1 - covered_b - sum V W over other solids - V0 sum_j W_bj; if negative, the corrected share
//   forces        -q_b V0^2 grad W_bj on the sample, the opposite on fluid particle j
// clang-format on
//
// with q_b = p_b V_b/V0. With this unknown, rows of samples and of fluid have the same factors. The forces
// are the transpose of the constraint, so momentum is conserved and no energy is produced.
#include "base/parallel.h"
#include "coupling/monolithic/monolithic.h"

#include <string.h>

// A wet sample and the fluid next to it push the same particles in nearly the same way. Their Jacobi steps
// add up, so those of samples are shorter by this factor. It saves a tenth of the iterations.
#define CAUTION 2

typedef struct WetWork {
  const FloWorld *world;
  FloMonolithic *mono;
  FloWet *wet;
} WetWork;

static const FloPairs *near_fluid(const FloWorld *world, const FloWet *wet) {
  return flo_pairs_of(world, wet->set, FLO_SET_FLUID);
}

// ---- Which samples have rows ----

static void list_block(const FloWorld *world, const FloMonolithic *mono, FloWet *wet, size_t block) {
  const FloPairs *pairs = near_fluid(world, wet);
  wet->blocks[wet->n_blocks] = (uint32_t)block;
  wet->block_rows[wet->n_blocks] = (uint32_t)wet->n_rows;
  for (size_t i = block * FLO_BLOCK; i < flo_min_size((block + 1) * FLO_BLOCK, pairs->n_rows); ++i)
    if (pairs->row_count[i] > 0 && flo_wet_sample_is_wet(&mono->wet_samples, world, wet->set, i))
      wet->samples[wet->n_rows++] = (uint32_t)i;
  if (wet->n_rows > wet->block_rows[wet->n_blocks]) ++wet->n_blocks;
  wet->block_rows[wet->n_blocks] = (uint32_t)wet->n_rows;
}

static FloStatus reserve(FloWorld *world, FloWet *wet, FloWetBuffer which, size_t count, FloError *error) {
  FloBuffer *buffer = &wet->buffers[which];
  size_t size = (count + FLO_BLOCK) * 4;
  return flo_buffer_reserve(&world->memory, buffer, size > buffer->capacity ? size + size / 2 : size, 0,
                            error);
}

static FloStatus reserve_lists(FloWorld *world, FloWet *wet, FloError *error) {
  const FloPairs *pairs = near_fluid(world, wet);
  size_t n_near = 0;
  for (size_t block = 0; block < pairs->n_blocks; ++block) n_near += pairs->slot_count[block] > 0;
  FLO_TRY(reserve(world, wet, FLO_WET_SAMPLES, n_near * FLO_BLOCK, error));
  FLO_TRY(reserve(world, wet, FLO_WET_BLOCKS, n_near, error));
  FLO_TRY(reserve(world, wet, FLO_WET_BLOCK_ROWS, n_near + 1, error));
  FLO_TRY(reserve(world, wet, FLO_WET_STEEP, 4 * n_near * FLO_BLOCK, error));
  FLO_TRY(reserve(world, wet, FLO_WET_PRESSURE, world->sets[wet->set].count, error));
  FLO_TRY(reserve(world, wet, FLO_WET_SUM, 4 * world->sets[wet->set].count, error));
  wet->samples = wet->buffers[FLO_WET_SAMPLES].data, wet->blocks = wet->buffers[FLO_WET_BLOCKS].data;
  wet->block_rows = wet->buffers[FLO_WET_BLOCK_ROWS].data, wet->steep = wet->buffers[FLO_WET_STEEP].data;
  wet->pressure = wet->buffers[FLO_WET_PRESSURE].data, wet->sum = wet->buffers[FLO_WET_SUM].data;
  memset(wet->pressure, 0, world->sets[wet->set].count * sizeof(float));
  return FLO_OK;
}

static FloStatus list_set(FloWorld *world, FloMonolithic *mono, FloWet *wet, FloError *error) {
  FLO_TRY(flo_wet_samples_prepare(&mono->wet_samples, world, wet->set, error));
  FLO_TRY(reserve_lists(world, wet, error));
  const FloPairs *pairs = near_fluid(world, wet);
  for (size_t block = 0; block < pairs->n_blocks; ++block)
    if (pairs->slot_count[block] > 0) list_block(world, mono, wet, block);
  return FLO_OK;
}

FloStatus flo_monolithic_list_wet(FloWorld *world, FloMonolithic *mono, FloError *error) {
  static const FloSet sets[FLO_N_WET] = {FLO_SET_BOUNDARY, FLO_SET_RIGID};
  mono->n_pressures = mono->n_fluid;
  for (int k = 0; k < FLO_N_WET; ++k) {
    FloWet *wet = &mono->wet[k];
    wet->set = sets[k], wet->first_row = mono->n_pressures, wet->n_rows = wet->n_blocks = 0;
    if (!mono->has_wet || mono->n_fluid == 0) continue;
    if (world->sets[wet->set].count == 0) continue;
    FLO_TRY(list_set(world, mono, wet, error));
    mono->n_pressures += wet->n_rows;
  }
  return FLO_OK;
}

// ---- Their volumes and diagonals ----

// For walls the volume changes with their motion, which is given; for bodies see touches.c.
static void describe_row(const WetWork *work, size_t row) {
  const FloWorld *world = work->world;
  FloMonolithic *mono = work->mono;
  FloWet *wet = work->wet;
  const FloParticles *p = &world->sets[wet->set];
  size_t i = wet->samples[row], at = wet->first_row + row;
  float volume = (float)mono->rest_volume, *g = wet->steep + 4 * row;
  float fluid = volume * near_fluid(world, wet)->kernel_sum[i] / (float)mono->rest_sum;
  float room = flo_wet_sample_room(&mono->wet_samples, world, wet->set, i) - fluid;
  memcpy(g, wet->sum + 4 * i, 4 * sizeof *g);
  mono->own_source[at] = room < 0 ? (float)mono->correction * room : room;
  if (wet->set == FLO_SET_BOUNDARY)
    mono->own_source[at] -= (float)mono->dt * (p->vx[i] * g[0] + p->vy[i] * g[1] + p->vz[i] * g[2]);
  mono->source[at] = mono->own_source[at];
}

static void describe_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const WetWork *work = context;
  const FloWet *wet = work->wet;
  const FloSweep sweep = {
      .pairs = near_fluid(work->world, wet), .columns = work->mono->move, .rows = wet->sum};
  for (size_t k = begin; k < end; ++k) {
    flo_passes()->gradient(&sweep, wet->blocks[k], wet->blocks[k] + 1);
    for (size_t row = wet->block_rows[k]; row < wet->block_rows[k + 1]; ++row) describe_row(work, row);
  }
}

static void diagonal_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const WetWork *work = context;
  FloMonolithic *mono = work->mono;
  const FloWet *wet = work->wet;
  const FloSweep sweep = {.pairs = near_fluid(work->world, wet), .columns = mono->way, .rows = wet->sum};
  float scale = (float)(CAUTION * mono->dt * mono->dt * mono->rest_volume);
  for (size_t k = begin; k < end; ++k) {
    flo_passes()->square(&sweep, wet->blocks[k], wet->blocks[k] + 1);
    for (size_t row = wet->block_rows[k]; row < wet->block_rows[k + 1]; ++row)
      mono->diagonal[wet->first_row + row] = scale * wet->sum[wet->samples[row]];
  }
}

static void each_block(const FloWorld *world, FloMonolithic *mono, FloRangeFn work) {
  for (int k = 0; k < FLO_N_WET; ++k) {
    WetWork context = {world, mono, &mono->wet[k]};
    flo_parallel_for(world->threads, mono->wet[k].n_blocks, 64, work, &context);
  }
}

void flo_monolithic_describe_wet(const FloWorld *world, FloMonolithic *mono) {
  each_block(world, mono, describe_range);
  each_block(world, mono, diagonal_range);
}

// ---- In every iteration ----

void flo_monolithic_spread_wet(FloMonolithic *mono) {
  for (int k = 0; k < FLO_N_WET; ++k) {
    const FloWet *wet = &mono->wet[k];
    for (size_t row = 0; row < wet->n_rows; ++row)
      wet->pressure[wet->samples[row]] = mono->pressure[wet->first_row + row];
  }
}

static void error_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const WetWork *work = context;
  FloMonolithic *mono = work->mono;
  const FloWet *wet = work->wet;
  const FloSweep sweep = {.pairs = near_fluid(work->world, wet), .columns = mono->velocity, .rows = wet->sum};
  float scale = (float)(mono->dt * mono->rest_volume);
  for (size_t k = begin; k < end; ++k) {
    flo_passes()->divergence(&sweep, wet->blocks[k], wet->blocks[k] + 1);
    for (size_t row = wet->block_rows[k]; row < wet->block_rows[k + 1]; ++row) {
      size_t at = wet->first_row + row;
      mono->error[at] = mono->source[at] + scale * wet->sum[wet->samples[row]];
    }
  }
}

void flo_monolithic_evaluate_wet(const FloWorld *world, FloMonolithic *mono) {
  each_block(world, mono, error_range);
}

// ---- Between steps ----

void flo_monolithic_start_wet(const FloWorld *world, FloMonolithic *mono, float share) {
  for (int k = 0; k < FLO_N_WET; ++k) {
    const FloWet *wet = &mono->wet[k];
    const FloParticles *p = &world->sets[wet->set];
    const float *kept = p->extra[FLO_MONO_WET], per_volume = 1 / (float)mono->rest_volume;
    for (size_t row = 0; row < wet->n_rows; ++row) {
      size_t i = wet->samples[row];
      mono->pressure[wet->first_row + row] = share * kept[i] * p->volume[i] * per_volume;
    }
  }
}

void flo_monolithic_keep_wet(FloWorld *world, const FloMonolithic *mono) {
  for (int k = 0; k < FLO_N_WET; ++k) {
    const FloWet *wet = &mono->wet[k];
    FloParticles *p = &world->sets[wet->set];
    float *kept = p->extra[FLO_MONO_WET], volume = (float)mono->rest_volume;
    if (p->count) memset(kept, 0, p->count * sizeof(float));
    for (size_t row = 0; row < wet->n_rows; ++row) {
      size_t i = wet->samples[row];
      kept[i] = mono->pressure[wet->first_row + row] * volume / p->volume[i];
    }
  }
}

void flo_monolithic_add_wet_forces(const FloMonolithic *mono, float *wall_force) {
  const FloWet *walls = &mono->wet[0];
  for (size_t row = 0; row < walls->n_rows; ++row) {
    float push = -mono->pressure[walls->first_row + row] * (float)mono->rest_volume;
    for (size_t axis = 0; axis < 3; ++axis)
      wall_force[4 * (size_t)walls->samples[row] + axis] += push * walls->steep[4 * row + axis];
  }
}

// ---- Films ----

static void take_film(void *context, size_t node, const double force[3], const double torque[3]) {
  FloPartner *partner = &((FloMonolithic *)context)->partners[node];
  vec_add(partner->drag, force, partner->drag);
  vec_add(partner->turn_drag, torque, partner->turn_drag);
}

FloStatus flo_monolithic_press_films(FloWorld *world, FloMonolithic *mono, FloError *error) {
  const FloFilmFields fields = {FLO_MONO_WARM, FLO_MONO_WET, FLO_MONO_FILM, world->params[FLO_MONO_FILM_GAP]};
  mono->films.n_forces = 0;
  if (!mono->has_wet) return FLO_OK;
  FLO_TRY(flo_films_press_by_multipliers(&mono->films, world, &fields, mono->dt, error));
  flo_films_push_nodes(&mono->films, world, take_film, mono);
  return FLO_OK;
}

void flo_monolithic_free_wet(FloWorld *world, FloMonolithic *mono) {
  for (int k = 0; k < FLO_N_WET; ++k)
    flo_buffers_free(&world->memory, mono->wet[k].buffers, FLO_N_WET_BUFFERS);
  flo_wet_samples_free(&mono->wet_samples, &world->memory);
  flo_films_free(&mono->films, &world->memory);
}
