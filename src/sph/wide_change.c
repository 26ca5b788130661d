// How kernel sums change with the motion of a step. Rows [begin, end) are blocks.
//
// W(x + d) - W(x) = grad W(x + d/2) . d, up to the third power of d. Written so, a change that is far smaller
// than the sum loses no digits. If iterations try a motion that is far too long, the gradient is taken nearer
// to the start. Otherwise it would vanish beyond the support, and the iterations would see no change at all.
#include "sph/wide.h" // first: it defines the types that the others use

#include "sph/kernel.h"
#include "sph/wide_passes.h"
#include "sph/wide_rows.h"

// The longest half of a way, in supports, at whose end the gradient is taken. Steps of the usual length are
// shorter.
#define LONGEST_HALF 0.1f

// What a block needs for each of its slots.
typedef struct Change {
  const float *columns;    // fixed-point positions
  WideScale scale;         // of these
  WideF here[4], moved[4]; // positions and velocities of the rows
  Real half;               // dt/2 in units of the support
} Change;

WIDE_INLINE Change begin_block(const FloSumChange *in, size_t block) {
  Change c = {.columns = (const float *)in->columns->fixed, .scale = wide_scale_of(in->columns->lattice)};
  wide_load_rows((const float *)in->rows->fixed, block, in->pairs->n_rows, c.here);
  wide_load_rows(in->row_velocity, block, in->pairs->n_rows, c.moved);
  c.half = wide_set((float)(0.5 * in->dt / in->kernel.support));
  return c;
}

// The change of w of the neighbours in one slot, over 2 f(q): f is that at half of the way.
WIDE_INLINE Real change_of_slot(const FloSumChange *in, const Change *c, const FloPairSlot *slot,
                                FloKernel kernel) {
  WideF v[4];
  wide_gather4(in->column_velocity, slot->index, v);
  PairVector d = {c->half * (c->moved[0] - v[0]), c->half * (c->moved[1] - v[1]),
                  c->half * (c->moved[2] - v[2])};
  PairVector x = wide_offset(slot, c->columns, c->here, c->scale);
  const Real longest2 = wide_set(LONGEST_HALF * LONGEST_HALF);
  PairVector middle = pair_add_scaled(x, longest2 / wide_max(pair_dot(d, d), longest2), d);
  Real q = wide_sqrt(pair_dot(middle, middle));
  return kernel_shape((int)kernel, q).f * pair_dot(middle, d);
}

// `kernel` is a constant where this is inlined.
WIDE_INLINE void change_block(const FloSumChange *in, size_t block, FloKernel kernel) {
  const FloPairs *pairs = in->pairs;
  const Change c = begin_block(in, block);
  const WideI counts = wide_load_int(pairs->row_count + block * FLO_BLOCK);
  const FloPairSlot *slot = pairs->slots + pairs->slot_begin[block];
  const Real zero = wide_set(0);
  Real volume = wide_set(in->all_volume), sum = zero;
  for (size_t k = 0; k < pairs->slot_count[block]; ++k, ++slot) {
    Real change = change_of_slot(in, &c, slot, kernel);
    if (in->column_volume) volume = wide_gather(in->column_volume, slot->index);
    sum += wide_select((WideI)(counts > wide_set_int((int32_t)k)), volume * change, zero);
  }
  wide_add_numbers(pairs, block, wide_set((float)(2 * in->kernel.sigma)) * sum, in->sum);
}

static void change_block_of_kernel(const FloSumChange *in, size_t block) {
#define CASE(kernel)                                                                                         \
  case kernel:                                                                                               \
    change_block(in, block, kernel);                                                                         \
    break
  switch (in->kernel.kernel) {
    CASE(FLO_KERNEL_WENDLAND_C2);
    CASE(FLO_KERNEL_WENDLAND_C4);
    CASE(FLO_KERNEL_QUINTIC);
    CASE(FLO_KERNEL_POLY6);
    CASE(FLO_KERNEL_SPIKY);
    CASE(FLO_KERNEL_VISCOSITY);
  default:
    change_block(in, block, FLO_KERNEL_CUBIC_SPLINE);
  }
#undef CASE
}

void FLO_WIDE(sum_change)(const FloSumChange *in, size_t begin, size_t end) {
  for (size_t block = begin; block < end; ++block)
    if (in->pairs->slot_count[block]) change_block_of_kernel(in, block);
}
