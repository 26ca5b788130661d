// The iterations: projected Jacobi (4.1), and the nonsmooth nonlinear conjugate gradient method made
// from it (Algorithm 2), with steps of the best length; see line.c. All sums are formed in a fixed
// order.
#include "base/parallel.h"
#include "coupling/monolithic/monolithic.h"
#include "solve/nncg.h"

#include <string.h>

enum { ROWS_PER_CHUNK = 1024 };

typedef struct Solve {
  FloWorld *world;
  FloMonolithic *mono;
  float relaxation, contact_relaxation, beta, contact_beta;
  double motion;  // of the fluid in the step, in spacings
  double length;  // of conjugate steps, in Jacobi steps
  bool has_lines; // the best length of each step is searched
  bool is_restart, is_contact_restart;
} Solve;

// ---- Diagonals with relaxation ----

// Several rows push one body in the same iteration. Each row gets a share of the body's mass (Tonge et al.
// 2012): contacts get equal shares, fluid rows shares that suit their loads. This keeps the iteration stable.
// With contacts alone it is the contact count of (4.5).
static double contact_share(const FloPartner *partner) {
  return fmax(partner->n_active, 1) * (partner->fluid_load > 0 ? 2 : 1);
}

// A contact whose response is below this share of the response without locks carries no pressure. Its normal
// lies mostly along locked axes, so it could move the body only sideways, or by rounding errors. Without
// locks the share is at least 1, since a body can also turn.
#define LEAST_RESPONSE 0.25

static bool is_pinned(const FloNode *node) {
  return !(node->inverse_mass[0] + node->inverse_mass[1] + node->inverse_mass[2] > 0);
}

// A vertex that is pinned along all axes is like a wall: only the other side of the contact gives way.
static double free_response(const FloMonolithic *mono, const FloTouch *t) {
  if (is_pinned(mono->partners[t->node].node)) return 0;
  double square = (double)(t->j[0] * t->j[0] + t->j[1] * t->j[1] + t->j[2] * t->j[2]);
  return square / mono->partners[t->node].node->mass;
}

static void share_contact(const FloMonolithic *mono, FloContact *contact) {
  double diagonal = 0, slip = 0, slip_alone = 0, response = 0, unlocked = 0, spin = 0, spin_alone = 0;
  for (uint32_t k = contact->first; k < contact->first + contact->count; ++k) {
    const FloTouch *t = &mono->touches[k];
    double share = contact_share(&mono->partners[t->node]);
    diagonal += share * (double)t->response;
    slip += share * (double)t->slip;
    slip_alone += (double)t->slip;
    spin += share * (double)t->spin;
    spin_alone += (double)t->spin;
    response += (double)t->response;
    unlocked += free_response(mono, t);
  }
  if (response < LEAST_RESPONSE * unlocked) diagonal = 0;
  contact->diagonal = (float)(mono->dt * mono->dt / (double)contact->volume * diagonal);
  contact->slip_diagonal = (float)(mono->dt * slip_alone);
  contact->slip_share = slip > 0 ? (float)(slip_alone / slip) : 0;
  contact->spin_diagonal = (float)(mono->dt * spin_alone);
  contact->spin_share = spin > 0 ? (float)(spin_alone / spin) : 0;
}

static void share_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  for (size_t k = begin; k < end; ++k) share_contact(solve->mono, &solve->mono->contacts[k]);
}

// Diagonals depend on the set of active contacts, which stops changing after a few iterations.
static void share_contacts(Solve *solve) {
  const FloMonolithic *mono = solve->mono;
  bool is_new = false;
  for (size_t k = 0; k < solve->world->nodes.count; ++k) {
    FloPartner *partner = &mono->partners[k];
    is_new = is_new || partner->n_active != partner->n_shared;
    partner->n_shared = partner->n_active;
  }
  if (is_new) flo_parallel_for(solve->world->threads, mono->n_contacts, ROWS_PER_CHUNK, share_range, solve);
}

// Whether the effect of a touch is found by yielding (yield.c) rather than by a longer diagonal.
static bool yields_at_once(const FloMonolithic *mono, const FloTouch *t) {
  return t->is_main || mono->partners[t->node].is_soft;
}

// Adds the bodies besides the main one to the diagonals of fluid rows, shared like those of contacts; for the
// main one see correct_range. Once per step is enough: the loads of fluid do not depend on the unknowns.
static void share_fluid(const FloMonolithic *mono) {
  for (size_t n = 0; n < mono->n_coupled; ++n) {
    double load = 0;
    for (uint32_t k = mono->fluid_touch_begin[n]; k < mono->fluid_touch_begin[n + 1]; ++k)
      if (!yields_at_once(mono, &mono->touches[k]))
        load += 2 * mono->partners[mono->touches[k].node].fluid_load;
    mono->diagonal[mono->coupled[n]] *= (float)(1 + load);
  }
}

// ---- Projected Jacobi ----

enum {
  SUM_SQUARE,
  SUM_CROSS,
  SUM_SLOPE,
  SUM_BEND,
  SUM_RESIDUAL,
  SUM_ACTIVE,
  SUM_PRESSURE,
  SUM_LOAD,
  SUM_LOAD_ERROR,
  N_SUMS
};

// Subtracts the effect of the yielding of the main body and of soft bodies from the errors of active coupled
// rows.
static void correct_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  FloMonolithic *mono = ((Solve *)context)->mono;
  for (size_t n = begin; n < end; ++n) {
    uint32_t row = mono->coupled[n];
    mono->corrected[n] = mono->error[row];
    for (uint32_t k = mono->fluid_touch_begin[n]; k < mono->fluid_touch_begin[n + 1]; ++k)
      if (yields_at_once(mono, &mono->touches[k]) && flo_monolithic_is_active(mono, row))
        mono->corrected[n] -= flo_touch_along(&mono->touches[k], mono->partners[mono->touches[k].node].yield);
  }
}

// (4.1a) for fluid and wet samples. SUM_SQUARE is the square of the move in the norm of the matrix, in joule.
// So the squares of pressures and of friction can be added.
static void propose_fluid(const void *context, size_t begin, size_t end, double *sums) {
  const Solve *solve = context;
  FloMonolithic *mono = solve->mono;
  const uint16_t *held = solve->world->sets[FLO_SET_FLUID].held;
  for (size_t i = begin; i < end; ++i) {
    float p = mono->pressure[i], d = mono->diagonal[i], error = mono->error[i];
    bool is_held = i < mono->n_fluid && held[i];
    float moved = is_held || !(d > 0) ? 0 : p - solve->relaxation * error / d;
    mono->move[i] = (moved > 0 ? moved : 0) - p;
    if (is_held) continue;
    sums[SUM_SQUARE] -= (double)(mono->move[i] * error);
    sums[SUM_CROSS] -= (double)(mono->move[i] * mono->from_error[i]);
    double step = (double)(p - mono->from_pressure[i]);
    sums[SUM_SLOPE] -= step * (double)mono->from_error[i];
    sums[SUM_BEND] += step * (double)(error - mono->from_error[i]);
    if (p > 0 || !(error >= 0)) { // also if the error is not a number
      sums[SUM_RESIDUAL] += flo_complementarity((double)error, (double)(p * d));
      sums[SUM_PRESSURE] += (double)(p * d);
      sums[SUM_LOAD] += (double)p;
      sums[SUM_LOAD_ERROR] += (double)(p * error);
      sums[SUM_ACTIVE] += 1;
    }
  }
}

// Proposes again for rows next to bodies, from their corrected errors.
static void propose_coupled(const void *context, size_t begin, size_t end, double *sums) {
  const Solve *solve = context;
  FloMonolithic *mono = solve->mono;
  for (size_t n = begin; n < end; ++n) {
    uint32_t i = mono->coupled[n];
    float p = mono->pressure[i], d = mono->diagonal[i], error = mono->error[i];
    if ((i < mono->n_fluid && solve->world->sets[FLO_SET_FLUID].held[i]) || !(d > 0)) continue;
    float moved = p - solve->relaxation * mono->corrected[n] / d, before = mono->move[i];
    mono->move[i] = (moved > 0 ? moved : 0) - p;
    sums[SUM_SQUARE] -= (double)((mono->move[i] - before) * error);
    sums[SUM_CROSS] -= (double)((mono->move[i] - before) * mono->from_error[i]);
    if (!(p > 0) && error >= 0) continue;
    sums[SUM_RESIDUAL] += flo_complementarity((double)error, (double)(p * d));
    sums[SUM_ACTIVE] += 1;
  }
}

static void clamp_length(float v[3], float longest) {
  float length = sqrtf(flo_dot3(v, v));
  if (length <= longest) return;
  for (int axis = 0; axis < 3; ++axis) v[axis] *= longest / length;
}

// A step of a multiplier with three components and length at most `longest`: friction, or rolling torque.
static void propose_bounded(const float now[3], const float velocity[3], float step, float longest,
                            float move[3]) {
  float wanted[3];
  for (int axis = 0; axis < 3; ++axis) wanted[axis] = now[axis] - step * velocity[axis];
  clamp_length(wanted, longest);
  for (int axis = 0; axis < 3; ++axis) move[axis] = wanted[axis] - now[axis];
}

// (4.1b). The paper clamps the step first (4.8), since fast contacts would run ahead of slow ones. But then a
// sliding contact needs as many iterations as its body has contacts to reach its limit. With shares of mass
// the plain step is stable, and a sliding contact reaches its limit at once.
static void propose_friction(FloContact *c, float relaxation, float moved) {
  float step = c->slip_diagonal > 0 ? relaxation * c->slip_share / c->slip_diagonal : 0;
  propose_bounded(c->friction, c->velocity, step, flo_contact_grip(c, moved), c->friction_move);
  if (!(c->roll_limit > 0)) return;
  step = c->spin_diagonal > 0 ? relaxation * c->spin_share / c->spin_diagonal : 0;
  propose_bounded(c->torque, c->spin, step, c->roll_limit * moved, c->torque_move);
}

// How far a contact still slips in a step, in spacings, although its friction could hold it or has the wrong
// direction. All contacts of a body lack friction at the same time, so the shared diagonal gives the slip.
static double friction_residual(const FloMonolithic *mono, const FloContact *contact, double spacing) {
  float lack[3];
  if (!(contact->slip_share > 0)) return 0;
  float diagonal = contact->slip_diagonal / contact->slip_share;
  propose_bounded(contact->friction, contact->velocity, 1 / diagonal,
                  flo_contact_grip(contact, contact->pressure), lack);
  return (double)(sqrtf(flo_dot3(lack, lack)) * diagonal) * mono->dt / spacing;
}

// The same for rolling: the distance by which the rotation moves the sample.
static double rolling_residual(const FloMonolithic *mono, const FloContact *contact, double spacing) {
  float lack[3];
  const float *arm = mono->touches[contact->first].arm;
  if (!(contact->roll_limit > 0 && contact->spin_share > 0)) return 0;
  float diagonal = contact->spin_diagonal / contact->spin_share;
  propose_bounded(contact->torque, contact->spin, 1 / diagonal, contact->roll_limit * contact->pressure,
                  lack);
  return (double)(sqrtf(flo_dot3(lack, lack) * flo_dot3(arm, arm)) * diagonal) * mono->dt / spacing;
}

// A vertex that is pinned to the world and overlaps a wall stays there, whatever pushes it.
static bool is_immovable(const FloContact *c) { return !(c->diagonal > 0) && !(c->slip_diagonal > 0); }

static void propose_contacts(const void *context, size_t begin, size_t end, double *sums) {
  const Solve *solve = context;
  const FloMonolithic *mono = solve->mono;
  for (size_t k = begin; k < end; ++k) {
    FloContact *c = &mono->contacts[k];
    float p = c->pressure,
          moved = c->diagonal > 0 ? p - solve->contact_relaxation * c->error / c->diagonal : 0;
    if (!(moved > 0)) moved = 0;
    c->pressure_move = moved - p;
    propose_friction(c, solve->contact_relaxation, moved);
    sums[SUM_SQUARE] -= (double)(c->volume * c->pressure_move * c->error) +
                        mono->dt * (double)flo_dot3(c->friction_move, c->velocity);
    if (c->roll_limit > 0) sums[SUM_SQUARE] -= mono->dt * (double)flo_dot3(c->torque_move, c->spin);
    if (!flo_contact_is_active(c) || is_immovable(c)) continue;
    double residual = flo_complementarity((double)c->error, (double)(p * c->diagonal)) +
                      friction_residual(mono, c, solve->world->def.spacing) +
                      rolling_residual(mono, c, solve->world->def.spacing);
    sums[SUM_RESIDUAL] += residual;
    sums[SUM_ACTIVE] += 1;
  }
}

// NaN if one of them is.
static double larger_of(double a, double b) { return a > b || isnan(a) ? a : b; }

static FloResidual propose(Solve *solve) {
  FloMonolithic *mono = solve->mono;
  int threads = solve->world->threads;
  double fluid[N_SUMS], coupled[N_SUMS], contacts[N_SUMS];
  flo_monolithic_find_yields(solve->world, mono, solve->relaxation);
  flo_monolithic_find_soft_yields(solve->world, mono, solve->relaxation);
  flo_parallel_for(threads, mono->n_coupled, 4096, correct_range, solve);
  share_contacts(solve);
  flo_parallel_sum(threads, mono->n_pressures, propose_fluid, solve, N_SUMS, fluid);
  flo_parallel_sum(threads, mono->n_coupled, propose_coupled, solve, N_SUMS, coupled);
  flo_parallel_sum(threads, mono->n_contacts, propose_contacts, solve, N_SUMS, contacts);
  double n_contacts = fmax(contacts[SUM_ACTIVE], 1);
  return (FloResidual){.fluid = larger_of(fluid[SUM_RESIDUAL] / fmax(fluid[SUM_ACTIVE], 1),
                                          coupled[SUM_RESIDUAL] / fmax(coupled[SUM_ACTIVE], 1)),
                       .contact = contacts[SUM_RESIDUAL] / n_contacts,
                       .pressure = fluid[SUM_PRESSURE] / fmax(fluid[SUM_ACTIVE], 1),
                       .common = fluid[SUM_LOAD] > 0 ? fluid[SUM_LOAD_ERROR] / fluid[SUM_LOAD] : 0,
                       .square = mono->rest_volume * (fluid[SUM_SQUARE] + coupled[SUM_SQUARE]),
                       .contact_square = contacts[SUM_SQUARE],
                       .cross = mono->rest_volume * (fluid[SUM_CROSS] + coupled[SUM_CROSS]),
                       .slope = mono->rest_volume * fluid[SUM_SLOPE],
                       .bend = mono->rest_volume * fluid[SUM_BEND]};
}

// ---- Conjugate directions ----

// x + move + beta way, projected again, since the conjugate step ignores the limits.
static void advance_fluid(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  FloMonolithic *mono = solve->mono;
  const float beta = solve->beta, length = (float)solve->length;
  for (size_t i = begin; i < end; ++i) {
    float way = beta * mono->way[i] + mono->move[i], p = mono->pressure[i] + length * way;
    mono->from_pressure[i] = mono->pressure[i], mono->from_error[i] = mono->error[i];
    mono->way[i] = solve->is_restart ? 0 : way;
    mono->pressure[i] = p > 0 ? p : 0;
  }
}

static void keep_limits(FloContact *c) {
  float normal = flo_dot3(c->friction, c->normal);
  c->pressure = c->pressure > 0 ? c->pressure : 0;
  for (int axis = 0; axis < 3; ++axis) c->friction[axis] -= normal * c->normal[axis];
  clamp_length(c->friction, flo_contact_grip(c, c->pressure));
  if (c->roll_limit > 0) clamp_length(c->torque, c->roll_limit * c->pressure);
}

static void advance_parts(const Solve *solve, const float move[3], float way[3], float now[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    float turn = solve->contact_beta * way[axis] + move[axis];
    way[axis] = solve->is_contact_restart ? 0 : turn;
    now[axis] += turn;
  }
}

static void advance_contact(const Solve *solve, FloContact *c) {
  float way = solve->contact_beta * c->pressure_way + c->pressure_move;
  c->pressure_way = solve->is_contact_restart ? 0 : way;
  c->pressure += way;
  advance_parts(solve, c->friction_move, c->friction_way, c->friction);
  if (c->roll_limit > 0) advance_parts(solve, c->torque_move, c->torque_way, c->torque);
  keep_limits(c);
}

static void advance_contacts(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Solve *solve = context;
  for (size_t k = begin; k < end; ++k) advance_contact(solve, &solve->mono->contacts[k]);
}

static bool is_conjugate(const Solve *solve) {
  return (int)solve->world->params[FLO_MONO_SOLVER] == FLO_SOLVER_NNCG;
}

static void set_contact_beta(Solve *solve, double square, double before) {
  FloConjugate next = flo_nncg_fletcher_reeves(square, before);
  solve->contact_beta = is_conjugate(solve) ? (float)next.beta : 0;
  solve->is_contact_restart = next.is_restart;
}

// With steps of the best length fluid uses Polak-Ribiere. It equals Fletcher-Reeves while the same limits are
// active, and is soon zero if they change. Contacts then have their own conjugate direction, since their
// steps have their own length. With Jacobi steps all use Fletcher-Reeves together, and the paper restarts if
// beta is larger than one.
static void choose_betas(Solve *solve, const FloResidual *now, const FloResidual *before) {
  if (solve->has_lines) {
    FloConjugate next = flo_nncg_polak_ribiere(now->square, now->cross, before->square);
    solve->beta = is_conjugate(solve) ? (float)next.beta : 0, solve->is_restart = next.is_restart;
    set_contact_beta(solve, now->contact_square, before->contact_square);
    return;
  }
  set_contact_beta(solve, now->square + now->contact_square, before->square + before->contact_square);
  solve->beta = solve->contact_beta, solve->is_restart = solve->is_contact_restart;
}

static void advance(Solve *solve, const FloResidual *residual, const FloResidual *before) {
  FloMonolithic *mono = solve->mono;
  choose_betas(solve, residual, before);
  flo_parallel_for(solve->world->threads, mono->n_pressures, 4096, advance_fluid, solve);
  flo_parallel_for(solve->world->threads, mono->n_contacts, ROWS_PER_CHUNK, advance_contacts, solve);
}

// Moves from the trial to the best point of its line, unless the trial is near it, and proposes again from
// there. Returns false if the trial was uphill, so that the direction is useless. Contacts stay where the
// trial moved them and go on with the errors that they had there. The next trial corrects the difference, and
// the iteration never ends without a trial.
static bool go_to_best(Solve *solve, FloResidual *residual) {
  double length = flo_nncg_best_length(residual->slope, residual->bend);
  solve->length = flo_nncg_next_length(solve->length, length);
  if (flo_nncg_is_near(length)) return true;
  flo_monolithic_go(solve->world, solve->mono, length);
  *residual = propose(solve);
  return length > 0;
}

// ---- The whole iteration ----

static bool is_contact_small(const FloWorld *world, const FloMonolithic *mono, double residual) {
  // Distance that gravity moves things in a step, in spacings; without gravity, a distance that hardly shows.
  double fall = fmax(vec_length(world->def.gravity) * mono->dt * mono->dt / world->def.spacing, 1e-5);
  return residual <= world->params[FLO_MONO_CONTACT_TOLERANCE] * fall;
}

// Residuals up to this many times the tolerance count as nearly solved.
#define NEARLY 10

static double contacts_solved(const FloWorld *world, const FloMonolithic *mono, double residual) {
  if (is_contact_small(world, mono, residual)) return FLO_SOLVED;
  return is_contact_small(world, mono, residual / NEARLY) ? FLO_NEARLY_SOLVED : FLO_NOT_SOLVED;
}

// With surface tension, pressures that are too exact would let drops keep their corners; see choose_way.
#define LEAST_DROP_TOLERANCE 0.005

static bool is_common_small(const Solve *solve, const FloResidual *r) {
  const FloMonolithic *mono = solve->mono;
  return mono->has_drops ||
         flo_implicit_common_share(solve->world, &mono->expected, r->common, solve->motion, mono->dt) <= 1;
}

static bool is_fluid_small(const Solve *solve, const FloResidual *r) {
  const double *params = solve->world->params;
  // Errors that remain add up over the steps, until the correction of a step is as large.
  double lasting = params[FLO_MONO_TOLERANCE] * solve->mono->correction;
  // If pressures are small, as in still water with short steps, a small volume error is a large pressure
  // error. But it need not be smaller than an error that does not show beside the motion.
  double least = solve->mono->has_drops ? LEAST_DROP_TOLERANCE : 0;
  double unseen = fmax(fmax(params[FLO_MONO_PRESSURE_TOLERANCE], least) * r->pressure,
                       params[FLO_MONO_MOTION_TOLERANCE] * solve->motion);
  return r->fluid <= fmin(lasting, unseen) && is_common_small(solve, r);
}

// See soft_motion.h. Nodes follow the pressures of this iteration. Dry bodies have only contacts.
static bool are_soft_bodies_calm(const Solve *solve) {
  FloMonolithic *mono = solve->mono;
  const double *params = solve->world->params;
  const double shares[2] = {params[FLO_MONO_PRESSURE_TOLERANCE], params[FLO_MONO_MOTION_TOLERANCE]};
  const double speed = solve->motion * solve->world->def.spacing / mono->dt;
  if (!mono->soft_motion.is_used || mono->soft_yield.n_rows == 0) return true;
  flo_soft_motion_note(&mono->soft_motion, solve->world, mono->partners->velocity,
                       sizeof(FloPartner) / sizeof(double));
  return flo_soft_motion_residual(&mono->soft_motion, solve->world, mono->dt, speed, shares) <= 1;
}

// Number of sweeps over contacts that cost about as much as one iteration of the whole system.
static int sweeps_at_once(const FloMonolithic *mono) {
  enum { LEAST = 32, MOST = 1000 };
  double fluid_per_contact = (double)mono->n_fluid / (double)flo_max_size(mono->n_contacts, 1);
  return (int)fmin(fmax(fluid_per_contact / 4, LEAST), MOST);
}

// If fluid has converged and contacts have not, contacts iterate alone, at a small part of the cost. Bodies
// move by the present pressures of fluid and by the contacts. The next iteration of the whole system finds
// the effect on the fluid. Makes at most `most` sweeps and subtracts them from it.
static void settle_contacts(Solve *solve, int *most) {
  FloMonolithic *mono = solve->mono;
  int threads = solve->world->threads;
  double before = 0, sums[N_SUMS];
  const int at_once = sweeps_at_once(mono);
  for (int k = 0; k < at_once && (*most) > 0; ++k, --(*most)) {
    flo_monolithic_apply_to_bodies(solve->world, mono);
    flo_monolithic_evaluate_contacts(solve->world, mono);
    share_contacts(solve);
    flo_parallel_sum(threads, mono->n_contacts, propose_contacts, solve, N_SUMS, sums);
    if (is_contact_small(solve->world, mono, sums[SUM_RESIDUAL] / fmax(sums[SUM_ACTIVE], 1))) return;
    set_contact_beta(solve, sums[SUM_SQUARE], before);
    before = sums[SUM_SQUARE];
    flo_parallel_for(threads, mono->n_contacts, ROWS_PER_CHUNK, advance_contacts, solve);
  }
}

// With surface tension, plain steps are used and motion_tolerance is not. Particles of a drop that starts on
// a lattice are jammed. The rough pressures at the end of plain steps shake them until surface tension can
// round the corners.
static void choose_way(Solve *solve) {
  const FloMonolithic *mono = solve->mono;
  bool has_drops = mono->has_drops;
  solve->motion = has_drops ? 0 : flo_implicit_motion(solve->world, mono->pressure, mono->before, mono->dt);
  solve->has_lines = is_conjugate(solve) && mono->n_fluid > 0 && !has_drops;
  solve->length = flo_nncg_first_length(solve->has_lines ? mono->step_length : 0);
}

void flo_monolithic_solve(FloWorld *world, FloMonolithic *mono) {
  Solve solve = {.world = world, .mono = mono, .relaxation = (float)world->params[FLO_MONO_RELAXATION]};
  // Shares of mass bound the largest eigenvalue by one, so contacts can take steps twice as long as fluid.
  solve.contact_relaxation = 2 * solve.relaxation;
  choose_way(&solve);
  int least = (int)world->params[FLO_MONO_MIN_ITERATIONS], most = (int)world->params[FLO_MONO_MAX_ITERATIONS];
  int most_alone = 10 * most;
  if (mono->n_fluid == 0) most = most_alone;
  FloResidual residual = {0}, before = {0};
  memset(mono->way, 0, mono->n_pressures * sizeof(float));
  memset(mono->from_pressure, 0, mono->n_pressures * sizeof(float));
  memset(mono->from_error, 0, mono->n_pressures * sizeof(float));
  for (int k = 0;; ++k) {
    flo_monolithic_apply(world, mono);
    flo_monolithic_evaluate(world, mono);
    if (k == 0) {
      // Only now it is known which contacts are active at the start.
      flo_monolithic_apply_to_bodies(world, mono);
      share_fluid(mono);
    }
    residual = propose(&solve);
    world->iterations = k;
    bool is_calm = are_soft_bodies_calm(&solve), is_fluid_done = is_fluid_small(&solve, &residual),
         are_contacts_done = is_contact_small(world, mono, residual.contact);
    mono->was_fluid_solved = is_fluid_done;
    mono->were_contacts_solved = contacts_solved(world, mono, residual.contact);
    is_fluid_done = is_fluid_done && is_calm;
    // Contacts that have used all their own sweeps have had more than iterations of the whole system would
    // give.
    bool is_over = is_fluid_done && (are_contacts_done || (mono->n_fluid > 0 && most_alone <= 0));
    if ((is_over && k >= least) || k >= most) break;
    if (is_fluid_done && !are_contacts_done && mono->n_fluid > 0 && most_alone > 0) {
      settle_contacts(&solve, &most_alone);
      before = (FloResidual){0};
      continue;
    }
    if (before.square > 0 && solve.has_lines && !go_to_best(&solve, &residual)) before.square = 0;
    advance(&solve, &residual, &before);
    before = residual;
  }
  if (solve.has_lines) mono->step_length = solve.length;
  world->residual = larger_of(residual.fluid, residual.contact);
}
