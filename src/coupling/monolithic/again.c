// Steps in which contacts change soft bodies much are solved several times; see forces/soft_again.h.
#include "coupling/monolithic/monolithic.h"

#include "coupling/forces/soft_again.h"

// A residual above this, in spacings, shows that the iterations have diverged.
#define DIVERGED 1.0

static bool has_diverged(const FloWorld *world, const FloMonolithic *mono) {
  double sum = 0;
  for (size_t k = 0; k < world->nodes.count; ++k) sum += vec_length(mono->partners[k].force);
  return !isfinite(sum) || !(world->residual < DIVERGED);
}

static FloSoftAgain describe(FloMonolithic *mono) {
  FloPartner *partners = mono->partners;
  return (FloSoftAgain){.dt = mono->dt,
                        .stride = sizeof *partners / sizeof(double),
                        .found = partners->force,
                        .velocity = partners->velocity,
                        .taken = partners->expected,
                        .start = partners->start,
                        .impulses = mono->wrenches};
}

// The iterations begin anew, with a response that lets them converge.
static void start_over(FloWorld *world, FloMonolithic *mono, const FloSoftAgain *again) {
  flo_soft_refresh(world, again);
  flo_monolithic_start_unknowns(world, mono);
  flo_monolithic_apply_to_bodies(world, mono);
}

void flo_monolithic_solve_with_soft(FloWorld *world, FloMonolithic *mono) {
  const bool may_repeat = flo_world_has_soft_contacts(world);
  int iterations = 0;
  bool has_restarted = false, is_open = true;
  for (int round = 1; is_open; ++round) {
    flo_monolithic_solve(world, mono);
    iterations += world->iterations;
    if (!may_repeat) break;
    const FloSoftAgain again = describe(mono);
    const bool is_bad = !has_restarted && has_diverged(world, mono);
    if (is_bad) start_over(world, mono, &again);
    has_restarted = is_bad;
    is_open = is_bad || flo_soft_again(world, &again, round);
  }
  world->iterations = iterations;
}
