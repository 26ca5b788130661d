// The response (section V-B): velocities of fluid and bodies after contact.
//
// With v^_i what the predicted relative velocity lacks, J_i = [E, r~_i^T] what a body's velocities u = (v, w)
// give at contact i, and du their change, a particle gets v^_i + S_i J_i du and the body the opposite
// impulse:
//
//   A du = -sum_i m_i J_i^T v^_i,   A = M + sum_i m_i J_i^T S_i J_i,   S = n n^T + (1-eps) (1 - n n^T)
//
// Without slip S is the unit matrix, and this is (18) with the block that makes it symmetric; A is positive
// definite, being M and a sum of squares. With slip the paper keeps S = 1: what glides along a body has its
// predicted relative velocity (8) even though the body then moves otherwise than predicted. A box at rest
// in water is predicted to fall and then held; the fluid beside it, which glides without friction, would be
// lifted by g in each step, and climbs the box. Here the slip condition is one on the velocities that result:
//   [v_F - v_cp]_t = eps [v*_F - v_cp]_t,
// so that no force acts along a surface of free slip. Fluid that moves away (9) has no n n^T in S.
//
// The local response solves this for each contact as if it were alone, (12), and adds up.
//
// A particle that touches several solids, and bodies that touch each other, are beyond the paper. Their
// normal impulses, which only push, and dry friction among bodies are found together by projected
// Gauss-Seidel. Since particles with a single contact follow their body whatever it does, they are simply
// part of its mass: A takes the place of M, and the answer is the exact one of the whole system. Along the
// surfaces, a particle between several shares its slip condition out equally: two solids that move against
// each other with a no-slip particle between them are braked, but not glued together.
#include "coupling/direct_forcing/direct_forcing.h"
#include "solve/dense.h"

#include <stdlib.h>
#include <string.h>

// ---- Small matrices ----

static void apply(const double m[36], const double v[6], double out[6]) {
  for (int i = 0; i < 6; ++i) {
    out[i] = 0;
    for (int k = 0; k < 6; ++k) out[i] += m[6 * i + k] * v[k];
  }
}

static double dot6(const double a[6], const double b[6]) { return vec_dot(a, b) + vec_dot(a + 3, b + 3); }

// J^T f: force and torque.
static void wrench(const double force[3], const double arm[3], double out[6]) {
  vec_copy(force, out);
  vec_cross(arm, force, out + 3);
}

// ---- Mass of a body with the fluid that follows it ----

static void set_mass(FloForcingPartner *partner) {
  double *a = partner->matrix;
  memset(a, 0, sizeof partner->matrix);
  for (int i = 0; i < 3; ++i) {
    a[7 * i] = partner->node.mass;
    for (int k = 0; k < 3; ++k) a[6 * (i + 3) + k + 3] = partner->node.inertia[3 * i + k];
  }
}

// Along locked axes nothing moves: those rows and columns are empty.
static void lock_axes(FloForcingPartner *partner) {
  for (int axis = 0; axis < 6; ++axis)
    for (int k = 0; partner->node.locks[axis] && k < 6; ++k)
      partner->matrix[6 * axis + k] = partner->matrix[6 * k + axis] = 0;
}

static void find_mobility(FloForcingPartner *partner) {
  double factors[36], column[6];
  bool is_solvable = flo_dense_factorise_semidefinite(6, partner->matrix, factors);
  for (int k = 0; is_solvable && k < 6; ++k) {
    flo_dense_inverse_column(6, factors, k, column);
    for (int row = 0; row < 6; ++row) partner->mobility[6 * row + k] = column[row];
  }
}

// With the global response followers are part of the mass of bodies that they push.
static void prepare_partners(FloWorld *world, FloDirectForcing *forcing) {
  bool is_global = flo_forcing_response(world) == FLO_RESPONSE_GLOBAL;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloForcingPartner *partner = &forcing->partners[k];
    if (!partner->is_loose) continue;
    set_mass(partner);
    for (int i = 0; is_global && partner->is_free && i < 36; ++i) partner->matrix[i] += partner->followers[i];
    lock_axes(partner);
    find_mobility(partner);
  }
}

// (18), or with the local response what each follower does by itself.
static void respond_to_followers(FloWorld *world, FloDirectForcing *forcing) {
  bool is_local = flo_forcing_response(world) == FLO_RESPONSE_LOCAL;
  if (is_local) prepare_partners(world, forcing);
  flo_forcing_meet_followers(world, forcing);
  if (!is_local) prepare_partners(world, forcing);
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloForcingPartner *partner = &forcing->partners[k];
    if (partner->is_free) apply(partner->mobility, partner->load, partner->change);
  }
}

static void push_partner(FloForcingPartner *partner, const double impulse[3], const double arm[3],
                         double sign) {
  double load[6], moved[6];
  wrench(impulse, arm, load);
  apply(partner->mobility, load, moved);
  for (int i = 0; i < 6; ++i) partner->change[i] += sign * moved[i];
}

// ---- Contacts that hang together ----

// Velocity along a direction per impulse along it.
static double yield_of(const FloForcingPartner *partner, const double direction[3], const double arm[3]) {
  double load[6], moved[6];
  wrench(direction, arm, load);
  apply(partner->mobility, load, moved);
  return dot6(load, moved);
}

static double yield_to_fluid(const FloForcingPartner *partner, const double direction[3],
                             const double arm[3]) {
  return partner->is_free ? yield_of(partner, direction, arm) : 0;
}

// The share of its slip condition that a contact in company has.
static void slip_in_company(FloDirectForcing *forcing, FloForcingContact *first, FloForcingContact *c,
                            int n_contacts, double mass) {
  double along[3], length;
  vec_add_scaled(c->missing, c->normal, -vec_dot(c->missing, c->normal), along);
  if (!((length = vec_length(along)) > 0)) return;
  vec_scale(along, 1 / length, along);
  FloForcingPartner *partner = &forcing->partners[c->body];
  double size = length / n_contacts / (1 / mass + yield_to_fluid(partner, along, c->arm));
  vec_scale(along, size, c->impulse);
  vec_add_scaled(first->shift, c->impulse, 1 / mass, first->shift);
  if (partner->is_free) push_partner(partner, c->impulse, c->arm, -1);
}

static int count_company(const FloDirectForcing *forcing, size_t first) {
  int n = 1;
  while (first + (size_t)n < forcing->n_contacts && !forcing->contacts[first + (size_t)n].is_first) ++n;
  return n;
}

// Whether a particle has no room between two solids that close in on it and would be squeezed out sideways,
// faster than fluid can be. That both are nearer than its radius and face each other tells the former when
// positions are corrected, too. Taken for a rigid ball, the particle leaves the wedge between them with V/sin
// of its angle, without limit the flatter it is: so the edge of a slab that falls on the floor would shoot
// out whoever is below. Solids that close in with V press on fluid by rho c V at most, which drives it to
// sqrt(2 c V).
static bool is_pinched(const FloWorld *world, const FloDirectForcing *forcing, const FloForcingContact *a,
                       const FloForcingContact *b) {
  double of_a[3], of_b[3], across[3], sound = flo_forcing_sound_speed(world, forcing);
  if (!flo_forcing_face_each_other(a->normal, b->normal)) return false;
  flo_forcing_velocity_at(forcing->partners[a->body].velocity, a->arm, of_a);
  flo_forcing_velocity_at(forcing->partners[b->body].velocity, b->arm, of_b);
  double closing = vec_dot(of_a, a->normal) + vec_dot(of_b, b->normal);
  vec_cross(a->normal, b->normal, across);
  return closing > 0 && 2 * sound * vec_dot(across, across) < closing;
}

// From now on it presses along another direction.
static void turn_contact(const FloWorld *world, const FloDirectForcing *forcing, FloForcingContact *c,
                         const double normal[3]) {
  double relative[3], mass = (double)world->sets[FLO_SET_FLUID].mass[c->particle];
  flo_forcing_relative_velocity(world, forcing, c, relative);
  vec_copy(normal, c->normal);
  c->approach = vec_dot(relative, normal);
  c->weight = 1 / mass + yield_to_fluid(&forcing->partners[c->body], normal, c->arm);
}

// Which contacts of a particle are pinched together, and on which side each of them stands: sides[k] and
// sides[j] are opposite numbers if k and j face each other across a wedge, directly or by way of others, and
// zero is for who is not pinched. The number is that of the first one, plus one. There always are two sides:
// of three normals not all can face each other, since the square of their sum would be negative, and without
// such triangles four contacts have no odd cycle. All is decided before any contact turns, so that their
// order makes no difference.
static void find_sides(const FloWorld *world, const FloDirectForcing *forcing,
                       const FloForcingContact *contacts, int n, int sides[FLO_MAX_HITS]) {
  bool are_pinched[FLO_MAX_HITS][FLO_MAX_HITS] = {{false}};
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < k; ++j) {
      if (!is_pinched(world, forcing, &contacts[j], &contacts[k])) continue;
      are_pinched[k][j] = are_pinched[j][k] = true;
      sides[k] = k + 1, sides[j] = j + 1;
    }
  for (int round = 1; round < n; ++round) // as many as the longest chain has links
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j)
        if (are_pinched[k][j] && abs(sides[j]) < abs(sides[k])) sides[k] = -sides[j];
}

// Mean direction of one side.
static void mean_normal(const FloForcingContact *contacts, int n, const int sides[FLO_MAX_HITS], int side,
                        double mean[3]) {
  vec_set(mean, 0, 0, 0);
  for (int k = 0; k < n; ++k)
    if (sides[k] == side) vec_add(mean, contacts[k].normal, mean);
  vec_scale(mean, 1 / vec_length(mean), mean);
}

// Those that are pinched together press along the line between their two sides, and nobody sideways. Sides
// count for it, not contacts, so that a floor in two pieces leads the way of one in a single piece.
static void straighten(const FloWorld *world, const FloDirectForcing *forcing, FloForcingContact *contacts,
                       int n) {
  int sides[FLO_MAX_HITS] = {0};
  find_sides(world, forcing, contacts, n, sides);
  for (int side = 1; side <= n; ++side) {
    double here[3], there[3], axis[3], opposite[3];
    if (sides[side - 1] != side) continue;
    mean_normal(contacts, n, sides, side, here);
    mean_normal(contacts, n, sides, -side, there);
    vec_sub(here, there, axis);
    vec_scale(axis, 1 / vec_length(axis), axis);
    vec_scale(axis, -1, opposite);
    for (int k = 0; k < n; ++k)
      if (abs(sides[k]) == side) turn_contact(world, forcing, &contacts[k], sides[k] > 0 ? axis : opposite);
  }
}

static void start_company(FloWorld *world, FloDirectForcing *forcing, size_t first) {
  FloForcingContact *contacts = &forcing->contacts[first];
  double mass = (double)world->sets[FLO_SET_FLUID].mass[contacts->particle];
  int n = count_company(forcing, first);
  for (int k = 0; k < n; ++k) {
    FloForcingContact *c = &contacts[k];
    c->weight = 1 / mass + yield_to_fluid(&forcing->partners[c->body], c->normal, c->arm);
    slip_in_company(forcing, contacts, c, n, mass);
  }
  straighten(world, forcing, contacts, n);
}

// The contacts of one particle, whose impulses are found together: one after the other they would pass what
// presses on a light particle between heavy bodies back and forth for ever.
typedef struct Company {
  FloForcingContact *contacts; // the first of them
  int n;
  double mass;
  double softness; // share of its own yield that each contact gives way beyond it
} Company;

// Keeps what is solvable from being singular.
#define STIFF 1e-9
// For a particle between two solids that nothing moves apart and that close in on it. No impulse can meet
// both conditions: it is to move with their mean, and to press on both moderately.
#define SOFT 0.1
// Whoever is pressed on by more than so many times its own momentum is jammed. Corners as sharp as two
// degrees are not.
#define JAMMED 1e3

// Normal velocity of contact k per impulse of contact j.
static double answer_of(const Company *company, int k, int j, double softness) {
  const FloForcingContact *a = &company->contacts[k], *b = &company->contacts[j];
  return k == j ? a->weight * (1 + softness) : vec_dot(a->normal, b->normal) / company->mass;
}

// What is still missing of the least normal velocities, as if no contact pressed.
static void find_wants(const FloDirectForcing *forcing, const Company *company, double wants[FLO_MAX_HITS]) {
  for (int k = 0; k < company->n; ++k) {
    const FloForcingContact *c = &company->contacts[k];
    double at[3];
    flo_forcing_velocity_at(forcing->partners[c->body].change, c->arm, at);
    double v = c->approach + vec_dot(company->contacts->shift, c->normal) - vec_dot(at, c->normal);
    wants[k] = c->bounce - v;
    for (int j = 0; j < company->n; ++j) wants[k] += answer_of(company, k, j, 0) * company->contacts[j].press;
  }
}

// Impulses that only push: who would pull is left out, until nobody does.
static void solve_pushes(const Company *company, const double wants[FLO_MAX_HITS],
                         double press[FLO_MAX_HITS]) {
  bool is_active[FLO_MAX_HITS] = {true, true, true, true};
  for (int round = 0; round < company->n; ++round) {
    double matrix[FLO_MAX_HITS * FLO_MAX_HITS], factors[FLO_MAX_HITS * FLO_MAX_HITS], x[FLO_MAX_HITS];
    int rows[FLO_MAX_HITS], n = 0, worst = -1;
    for (int k = 0; k < company->n; ++k)
      if (is_active[k]) rows[n++] = k;
    for (int k = 0; k < n; ++k) {
      x[k] = wants[rows[k]];
      for (int j = 0; j < n; ++j) matrix[n * k + j] = answer_of(company, rows[k], rows[j], company->softness);
    }
    bool is_solved = flo_dense_factorise(n, matrix, factors);
    if (is_solved) flo_dense_solve(n, factors, x, x);
    for (int k = 0; k < company->n; ++k) press[k] = 0;
    for (int k = 0; is_solved && k < n; ++k) {
      press[rows[k]] = fmax(x[k], 0);
      if (x[k] < 0 && (worst < 0 || x[k] < x[worst])) worst = k;
    }
    if (worst < 0) return;
    is_active[rows[worst]] = false;
  }
}

// A jammed particle stays soft until the step ends, so that iterations agree on what it is asked for.
static void solve_company(const FloDirectForcing *forcing, Company *company, double press[FLO_MAX_HITS]) {
  double wants[FLO_MAX_HITS], wanted = 0, largest = 0;
  company->softness = company->contacts->is_jammed ? SOFT : STIFF;
  find_wants(forcing, company, wants);
  solve_pushes(company, wants, press);
  for (int k = 0; k < company->n; ++k)
    wanted = fmax(wanted, fabs(wants[k])), largest = fmax(largest, press[k]);
  if (company->contacts->is_jammed || !(largest > JAMMED * company->mass * wanted)) return;
  company->contacts->is_jammed = true;
  solve_company(forcing, company, press);
}

// How much velocity it changed.
static double relax_company(FloDirectForcing *forcing, Company *company) {
  double press[FLO_MAX_HITS] = {0}, before[3], changed = 0;
  vec_copy(company->contacts->shift, before);
  solve_company(forcing, company, press);
  for (int k = 0; k < company->n; ++k) {
    FloForcingContact *c = &company->contacts[k];
    double push[3], more = press[k] - c->press;
    c->press = press[k];
    vec_scale(c->normal, more, push);
    vec_add(c->impulse, push, c->impulse);
    vec_add_scaled(company->contacts->shift, push, 1 / company->mass, company->contacts->shift);
    if (forcing->partners[c->body].is_free) push_partner(&forcing->partners[c->body], push, c->arm, -1);
    changed = fmax(changed, fabs(more) * (c->weight - 1 / company->mass));
  }
  vec_sub(company->contacts->shift, before, before);
  return fmax(changed, vec_length(before));
}

static double relax_all(FloWorld *world, FloDirectForcing *forcing) {
  const float *mass = world->sets[FLO_SET_FLUID].mass;
  double changed = 0;
  for (size_t k = forcing->n_followers; k < forcing->n_linked; ++k) {
    FloForcingContact *c = &forcing->contacts[forcing->linked[k]];
    if (!c->is_first) continue;
    Company company = {c, count_company(forcing, forcing->linked[k]), (double)mass[c->particle], STIFF};
    changed = fmax(changed, relax_company(forcing, &company));
  }
  if (forcing->n_body_contacts == 0) return changed;
  return fmax(changed,
              flo_gauss_seidel_sweep(&forcing->rows, world->threads, forcing->lambda, forcing->changes));
}

static FloStatus respond_jointly(FloWorld *world, FloDirectForcing *forcing, double speed, FloError *error) {
  double tolerance = world->params[FLO_FORCING_TOLERANCE] * speed;
  int most = (int)world->params[FLO_FORCING_MAX_ITERATIONS];
  bool has_any = forcing->n_body_contacts > 0;
  for (size_t k = forcing->n_followers; k < forcing->n_linked; ++k)
    if (forcing->contacts[forcing->linked[k]].is_first)
      start_company(world, forcing, forcing->linked[k]), has_any = true;
  FLO_TRY(flo_forcing_make_rows(world, forcing, error));
  world->iterations = 0;
  while (has_any && world->iterations < most) {
    ++world->iterations;
    if (relax_all(world, forcing) <= tolerance) break;
  }
  flo_forcing_take_rows(forcing);
  return FLO_OK;
}

// ---- What follows ----

static void move_company(FloWorld *world, const FloDirectForcing *forcing) {
  for (size_t k = forcing->n_followers; k < forcing->n_linked; ++k) {
    const FloForcingContact *c = &forcing->contacts[forcing->linked[k]];
    if (c->is_first)
      flo_forcing_change_velocity(&world->sets[FLO_SET_FLUID], c->particle, c->shift, 1 / forcing->kick_dt);
  }
}

// What a solid got, and what of it moves it.
static void give(FloForcingPartner *partner, const double impulse[3], const double arm[3], double sign,
                 bool is_pushed) {
  double load[6];
  wrench(impulse, arm, load);
  for (int i = 0; i < 6; ++i) {
    partner->exchange[i] += sign * load[i];
    if (is_pushed) partner->impulse[i] += sign * load[i];
  }
}

// Beyond what followers gave, one contact after the other in the order of the list: several of them may be of
// one body, and the bits of a sum depend on its order. What static and kinematic solids feel is known from
// their samples.
static void sum_impulses(FloWorld *world, FloDirectForcing *forcing) {
  world->contacts = 0;
  for (size_t k = forcing->n_followers; k < forcing->n_linked; ++k) {
    const FloForcingContact *c = &forcing->contacts[forcing->linked[k]];
    FloForcingPartner *partner = &forcing->partners[c->body];
    if (flo_body_is_pushed(&flo_bodies(world)[c->body]))
      give(partner, c->impulse, c->arm, -1, partner->is_free);
  }
  for (size_t k = 0; k < forcing->n_body_contacts; ++k) {
    const FloBodyContact *c = &forcing->body_contacts[k];
    give(&forcing->partners[c->body], c->impulse, c->arm, 1, true);
    give(&forcing->partners[c->other], c->impulse, c->other_arm, -1, true);
    world->contacts += c->is_pressed;
  }
}

// What still approaches.
static double company_residual(const FloWorld *world, const FloDirectForcing *forcing) {
  double worst = 0;
  for (size_t k = forcing->n_followers; k < forcing->n_linked; ++k) {
    const FloForcingContact *c = &forcing->contacts[forcing->linked[k]];
    double v[3], change[3];
    flo_forcing_relative_velocity(world, forcing, c, v);
    flo_forcing_velocity_at(forcing->partners[c->body].change, c->arm, change);
    vec_sub(v, change, v);
    worst = fmax(worst, c->bounce - vec_dot(v, c->normal));
  }
  return worst;
}

// Over the highest speed; among bodies at rest over what gravity makes in the step.
static double find_residual(FloWorld *world, const FloDirectForcing *forcing, double of_followers,
                            double speed) {
  double least = vec_length(world->def.gravity) * forcing->kick_dt, fastest = fmax(speed, least);
  double of_fluid = fmax(of_followers, company_residual(world, forcing)), of_bodies = 0;
  if (forcing->n_body_contacts)
    of_bodies = flo_rows_residual(&forcing->rows, world->threads, forcing->changes, forcing->lambda);
  return fmax(speed > 0 ? of_fluid / speed : 0, fastest > 0 ? of_bodies / fastest : 0);
}

FloStatus flo_forcing_respond(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  double speed = fmax(world->max_speed, flo_world_max_wall_speed(world));
  forcing->has_free_bodies = false;
  for (size_t k = 0; k < world->bodies.count; ++k) forcing->has_free_bodies |= forcing->partners[k].is_free;
  respond_to_followers(world, forcing);
  FLO_TRY(respond_jointly(world, forcing, speed, error));
  double of_followers = flo_forcing_lead_followers(world, forcing);
  move_company(world, forcing);
  sum_impulses(world, forcing);
  world->residual = find_residual(world, forcing, of_followers, speed);
  return FLO_OK;
}
