// The response (section V-B): velocities of fluid and bodies after contact.
//
// v^_i is the change that the predicted relative velocity needs at contact i. J_i = [E, r~_i^T] gives the
// velocity of the body at contact i from its velocities u = (v, w), and du is the change of u. A particle
// gets v^_i + S_i J_i du and the body the opposite impulse:
//
//   A du = -sum_i m_i J_i^T v^_i,   A = M + sum_i m_i J_i^T S_i J_i,   S = n n^T + (1-eps) (1 - n n^T)
//
// Without slip S is the unit matrix, and this is (18) with the block that makes it symmetric. A is positive
// definite, since it is M plus a sum of squares. With slip the paper keeps S = 1: fluid that glides along a
// body gets its predicted relative velocity (8), even though the body then moves differently from the
// prediction. For example, a box at rest in water is predicted to fall and then held. The fluid beside it,
// which glides without friction, would be lifted by g in each step and climb the box. Here the slip condition
// holds for the resulting velocities:
//   [v_F - v_cp]_t = eps [v*_F - v_cp]_t,
// so that no force acts along a surface of free slip. For fluid that moves away (9), S has no term n n^T.
//
// The local response solves this for each contact as if it were the only one, (12), and adds the results.
//
// The paper does not treat particles that touch several solids, nor bodies that touch each other. Their
// normal impulses, which only push, and dry friction between bodies are found together by projected
// Gauss-Seidel. Particles with a single contact follow their body in any motion, so they count as part of its
// mass: A takes the place of M, and the result is exact for the whole system. A particle between several
// solids divides its slip condition equally among them. So a no-slip particle between two solids brakes their
// relative motion, but does not glue them together.
#include "coupling/direct_forcing/direct_forcing.h"
#include "solve/dense.h"

#include <stdlib.h>
#include <string.h>

// ---- Small matrices ----

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

// Nothing moves along locked axes: their rows and columns are zero.
static void lock_axes(FloForcingPartner *partner) {
  for (int axis = 0; axis < 6; ++axis)
    for (int k = 0; flo_node_is_locked(&partner->node, axis) && k < 6; ++k)
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

// With the global response followers are part of the mass of the bodies that they push.
static void prepare_partners(FloWorld *world, FloDirectForcing *forcing) {
  bool is_global = forcing->response == FLO_RESPONSE_GLOBAL;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloForcingPartner *partner = &forcing->partners[k];
    if (!partner->is_loose) continue;
    set_mass(partner);
    for (int i = 0; is_global && partner->is_free && i < 36; ++i) partner->matrix[i] += partner->followers[i];
    lock_axes(partner);
    find_mobility(partner);
  }
}

// (18), or with the local response the sum of each follower's own response.
static void respond_to_followers(FloWorld *world, FloDirectForcing *forcing) {
  bool is_local = forcing->response == FLO_RESPONSE_LOCAL;
  if (is_local) prepare_partners(world, forcing);
  flo_forcing_meet_followers(world, forcing);
  if (!is_local) prepare_partners(world, forcing);
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloForcingPartner *partner = &forcing->partners[k];
    if (partner->is_free) flo_forcing_apply(partner->mobility, partner->load, partner->change);
  }
}

static void push_partner(FloForcingPartner *partner, const double impulse[3], const double arm[3],
                         double sign) {
  double load[6], moved[6];
  wrench(impulse, arm, load);
  flo_forcing_apply(partner->mobility, load, moved);
  for (int i = 0; i < 6; ++i) partner->change[i] += sign * moved[i];
}

// ---- Contacts that depend on each other ----

// Velocity along a direction per impulse along it.
static double yield_of(const FloForcingPartner *partner, const double direction[3], const double arm[3]) {
  double load[6], moved[6];
  wrench(direction, arm, load);
  flo_forcing_apply(partner->mobility, load, moved);
  return dot6(load, moved);
}

static double yield_to_fluid(const FloForcingPartner *partner, const double direction[3],
                             const double arm[3]) {
  return partner->is_free ? yield_of(partner, direction, arm) : 0;
}

// Applies the share of the slip condition that one contact of a company has.
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

// Whether two solids pinch a particle: they leave no room for it, close in on it, and would squeeze it out
// sideways faster than fluid can move. They leave no room if both are nearer than the particle's radius and
// face each other; the correction of positions uses the same test. A rigid ball leaves a wedge that closes
// with speed V at V/sin of the wedge's angle, which has no limit for flat wedges. So the edge of a slab that
// falls on the floor would shoot out the particles below it. In real fluid the pressure is at most rho c V.
// It accelerates the fluid to at most sqrt(2 c V).
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

// Changes the direction along which a contact presses.
static void turn_contact(const FloWorld *world, const FloDirectForcing *forcing, FloForcingContact *c,
                         const double normal[3]) {
  double relative[3], mass = (double)world->sets[FLO_SET_FLUID].mass[c->particle];
  flo_forcing_relative_velocity(world, forcing, c, relative);
  vec_copy(normal, c->normal);
  c->approach = vec_dot(relative, normal);
  c->weight = 1 / mass + yield_to_fluid(&forcing->partners[c->body], normal, c->arm);
}

// Finds the contacts of a particle that are pinched together and the side of each. sides[k] is 0 if contact k
// is not pinched. Contacts that face each other across a wedge, directly or through others, get numbers of
// opposite sign. The absolute number is 1 + index of the first contact of the wedge. Two sides are always
// enough: three normals cannot all face each other, since the square of their sum would be negative; and a
// graph of four contacts without triangles has no odd cycle. All sides are found before any contact turns, so
// that the order of contacts does not matter.
static void find_sides(const FloWorld *world, const FloDirectForcing *forcing,
                       const FloForcingContact *contacts, int n, int sides[FLO_MAX_HITS]) {
  bool are_pinched[FLO_MAX_HITS][FLO_MAX_HITS] = {{false}};
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < k; ++j) {
      if (!is_pinched(world, forcing, &contacts[j], &contacts[k])) continue;
      are_pinched[k][j] = are_pinched[j][k] = true;
      sides[k] = k + 1, sides[j] = j + 1;
    }
  for (int round = 1; round < n; ++round) // n - 1: the longest chain
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

// Makes pinched contacts press along the line between their two sides, and not sideways. The line depends on
// the mean normals of the sides, so that a floor made of two bodies acts like one made of a single body.
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

// The contacts of one particle. Their impulses are found together. One after the other they would converge
// very slowly if a light particle is between heavy bodies.
typedef struct Company {
  FloForcingContact *contacts; // the first contact
  int n;
  double mass;
  double softness; // added share of `weight` by which each contact yields
} Company;

// Keeps the matrix of a solvable company from being singular.
#define STIFF 1e-9
// For a jammed particle: two solids close in on it and neither can be moved. No impulse can meet both
// conditions. With this softness the particle moves with their mean velocity and presses on both moderately.
#define SOFT 0.1
// A particle is jammed if an impulse on it exceeds this many times its mass times the missing velocity.
// Corners down to two degrees do not jam a particle.
#define JAMMED 1e3

// Normal velocity of contact k per impulse of contact j.
static double answer_of(const Company *company, int k, int j, double softness) {
  const FloForcingContact *a = &company->contacts[k], *b = &company->contacts[j];
  return k == j ? a->weight * (1 + softness) : vec_dot(a->normal, b->normal) / company->mass;
}

// The required normal velocities minus those without the impulses of this company.
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

// Finds impulses that only push. In each round the contact that would pull most is left out, until none
// pulls.
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

// A jammed particle stays soft until the step ends, so that all iterations solve the same problem.
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

// Returns the largest change of a velocity.
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

// ---- Joints ----

static void copy_mobility(const void *context, size_t body, double mobility[36]) {
  memcpy(mobility, ((const FloDirectForcing *)context)->partners[body].mobility, 36 * sizeof *mobility);
}

static FloStatus start_joints(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  FloJoints *joints = &world->joints;
  FLO_TRY(flo_world_weigh_joints(world, forcing->kick_dt, copy_mobility, forcing, error));
  if (joints->members.count) memset(joints->given, 0, 6 * joints->members.count * sizeof(double));
  return FLO_OK;
}

// Solves joints for the present velocities of bodies. Their fluid follows, since it is part of the mobility.
// Returns the largest change of a velocity.
static double relax_joints(FloWorld *world, FloDirectForcing *forcing) {
  FloJoints *joints = &world->joints;
  double changed = 0;
  for (size_t i = 0; i < 6 * joints->members.count; ++i) {
    const FloJointMember *member = &flo_joint_members(joints)[i / 6];
    const FloForcingPartner *partner = &forcing->partners[member->body];
    joints->trial[i] =
        member->is_free ? partner->velocity[i % 6] + partner->change[i % 6] - joints->given[i] : 0;
  }
  flo_world_solve_joints(world, joints->trial);
  for (size_t i = 0; i < 6 * joints->members.count; ++i) {
    const FloForcingPartner *partner = &forcing->partners[flo_joint_members(joints)[i / 6].body];
    double more = joints->trial[i] - joints->velocities[i] - joints->given[i];
    joints->given[i] += more, partner->change[i % 6] += more;
    changed = fmax(changed, fabs(more));
  }
  return changed;
}

// ---- All together ----

static double relax_all(FloWorld *world, FloDirectForcing *forcing) {
  const float *mass = world->sets[FLO_SET_FLUID].mass;
  double changed = 0;
  for (size_t k = forcing->n_followers; k < forcing->n_linked; ++k) {
    FloForcingContact *c = &forcing->contacts[forcing->linked[k]];
    if (!c->is_first) continue;
    Company company = {c, count_company(forcing, forcing->linked[k]), (double)mass[c->particle], STIFF};
    changed = fmax(changed, relax_company(forcing, &company));
  }
  if (flo_world_has_joints(world)) changed = fmax(changed, relax_joints(world, forcing));
  if (forcing->n_body_contacts == 0) return changed;
  return fmax(changed,
              flo_gauss_seidel_sweep(&forcing->rows, world->threads, forcing->lambda, forcing->changes));
}

// An impact changes velocities at once, and what is left of an error would be energy from nowhere. Impacts
// are rare, so the step takes the iterations that it needs.
enum { IMPACT_ITERATIONS = 20 };

static FloStatus respond_jointly(FloWorld *world, FloDirectForcing *forcing, double speed, FloError *error) {
  double tolerance = world->params[FLO_FORCING_TOLERANCE] * speed;
  int most = (int)world->params[FLO_FORCING_MAX_ITERATIONS] * (forcing->has_impacts ? IMPACT_ITERATIONS : 1);
  bool has_any = forcing->n_body_contacts > 0 || flo_world_has_joints(world);
  for (size_t k = forcing->n_followers; k < forcing->n_linked; ++k)
    if (forcing->contacts[forcing->linked[k]].is_first)
      start_company(world, forcing, forcing->linked[k]), has_any = true;
  FLO_TRY(flo_forcing_make_rows(world, forcing, error));
  FLO_TRY(start_joints(world, forcing, error));
  world->iterations = 0;
  while (has_any && world->iterations < most) {
    ++world->iterations;
    if (relax_all(world, forcing) <= tolerance) break;
  }
  flo_forcing_take_rows(world, forcing);
  return FLO_OK;
}

// ---- Results ----

static void move_company(FloWorld *world, const FloDirectForcing *forcing) {
  for (size_t k = forcing->n_followers; k < forcing->n_linked; ++k) {
    const FloForcingContact *c = &forcing->contacts[forcing->linked[k]];
    if (c->is_first)
      flo_forcing_change_velocity(&world->sets[FLO_SET_FLUID], c->particle, c->shift, 1 / forcing->kick_dt);
  }
}

// Adds an impulse to what the solid got and, if `is_pushed`, to what moves it.
static void give(FloForcingPartner *partner, const double impulse[3], const double arm[3], double sign,
                 bool is_pushed) {
  double load[6];
  wrench(impulse, arm, load);
  for (int i = 0; i < 6; ++i) {
    partner->exchange[i] += sign * load[i];
    if (is_pushed) partner->impulse[i] += sign * load[i];
  }
}

// Adds the impulses of all contacts except those of followers. This loop is serial: several contacts may push
// one body, and the bits of a sum depend on its order. The forces on walls are known from their samples.
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

// The largest normal velocity that is still missing.
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

// Relative to the highest speed; for bodies at least relative to the velocity that gravity gives in a step.
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
