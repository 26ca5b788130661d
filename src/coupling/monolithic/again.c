// Steps in which contacts change soft bodies much are solved several times.
//
// The solver knows how a soft body responds to small impulses. A ball that hits a sheet stretches it within
// the step, and a stretched sheet is far stiffer than a flat one. So the body gets the forces that were
// found, its velocities and its response with them are found without approximation, and the solver finds what
// is to be added. That is Newton's method, and the last round adds almost nothing.
#include "coupling/monolithic/monolithic.h"

// A node that contacts move by more than this within the step, in spacings, may respond differently.
#define LARGE 0.1
// Nodes may end this far from where the solver expects them, in spacings.
#define NEAR 0.01

// A residual above this, in spacings, shows that the iterations have diverged.
#define DIVERGED 1.0

enum { MOST_ROUNDS = 12 };

static double distance_in_step(const FloWorld *world, const FloMonolithic *mono, const double a[3],
                               const double b[3]) {
  double change[3];
  vec_sub(a, b, change);
  return mono->dt * vec_length(change) / world->def.spacing;
}

// The longest way within the step, in spacings, by which forces move a node, as the solver expects.
static double longest_way(const FloWorld *world, const FloMonolithic *mono, const FloBody *body) {
  double longest = 0;
  for (size_t k = body->first_node; k < body->first_node + body->n_nodes; ++k) {
    const FloPartner *partner = &mono->partners[k];
    longest = fmax(longest, distance_in_step(world, mono, partner->velocity, partner->start));
  }
  return longest;
}

// Gives the body a share of the forces that were found. Returns how far a node is from where the solver
// expected it.
static double settle(const FloWorld *world, FloMonolithic *mono, FloBody *body, double share) {
  double *impulses = mono->wrenches + 6 * body->first_node, farthest = 0;
  for (size_t k = 0; k < body->n_nodes; ++k) {
    FloPartner *partner = &mono->partners[body->first_node + k];
    vec_sub(partner->force, partner->expected, impulses + 3 * k);
    if (share == 0) vec_set(impulses + 3 * k, 0, 0, 0);
    vec_add_scaled(partner->expected, impulses + 3 * k, share, partner->expected);
    vec_scale(impulses + 3 * k, share * mono->dt, impulses + 3 * k);
  }
  body->kind->settle(body, impulses);
  for (size_t k = 0; k < body->n_nodes; ++k) {
    FloPartner *partner = &mono->partners[body->first_node + k];
    farthest = fmax(farthest, distance_in_step(world, mono, partner->node->velocity, partner->velocity));
    vec_copy(partner->node->velocity, partner->start);
  }
  return farthest;
}

static bool is_free_soft(const FloBody *body) { return flo_body_is_soft(body) && !body->nodes[0].is_held; }

static double settle_all(FloWorld *world, FloMonolithic *mono, double share) {
  double farthest = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (is_free_soft(body) && (share == 0 || longest_way(world, mono, body) > LARGE))
      farthest = fmax(farthest, settle(world, mono, body, share));
  }
  return farthest;
}

static bool has_diverged(const FloWorld *world, const FloMonolithic *mono) {
  double sum = 0;
  for (size_t k = 0; k < world->nodes.count; ++k) sum += vec_length(mono->partners[k].force);
  return !isfinite(sum) || !(world->residual < DIVERGED);
}

// The iterations begin anew, with a response that lets them converge.
static void start_over(FloWorld *world, FloMonolithic *mono) {
  settle_all(world, mono, 0);
  flo_monolithic_start_unknowns(world, mono);
  flo_monolithic_apply_to_bodies(world, mono);
}

static bool has_soft_contacts(const FloWorld *world) {
  const FloContacts *contacts = &world->body_contacts;
  for (size_t k = 0; k < contacts->points.count; ++k)
    if (flo_contact_points(contacts)[k].hold.count > 0) return true;
  return false;
}

// At first a round gives all that was found. If nodes do not come nearer to where the solver expects them, it
// overshoots, and the next rounds give half as much.
void flo_monolithic_solve_with_soft(FloWorld *world, FloMonolithic *mono) {
  const int most = has_soft_contacts(world) ? MOST_ROUNDS : 1;
  int iterations = 0;
  double share = 1, last = INFINITY;
  for (int k = 1;; ++k) {
    flo_monolithic_solve(world, mono);
    iterations += world->iterations;
    const bool is_bad = most > 1 && has_diverged(world, mono);
    if (is_bad) start_over(world, mono);
    if (k >= most) {
      if (most > 1) flo_world_note_unsettled(world, FLO_UNSETTLED_CONTACTS);
      break;
    }
    const double farthest = is_bad ? INFINITY : settle_all(world, mono, share);
    if (farthest <= NEAR) break;
    if (farthest > last / 2) share /= 2;
    last = farthest;
  }
  world->iterations = iterations;
}
