// The inertia of wetted films.
//
// A gap of height h that opens at the speed u draws water in from its rim, and this water is fast where the
// gap is flat. Between parallel faces it flows with (u/h) grad f, so its kinetic energy is m u^2/2 with
//
//   m = rho/h integral of f over the gap, where laplace f = -1, and f = 0 at the rim
//
// The integral is that of the torsion of a bar with the gap as its section. Saint-Venant's approximation
// gives it from area A and polar moment I as A^4/(160 I): +7 % for a square, -1 % for a disc, -10 % for a
// long strip. In the plane it is A^3/12. Both hold for one connected gap without holes, so each connected
// piece is a gap of its own (film_gaps.c).
//
// What the film pushes with follows from Bernoulli's equation, p + rho d(phi)/dt + rho v^2/2 = const:
//
//   F = P + m (c u^2/h - du/dt)
//
// where P is the push of the pressure around the gap. Where the gap opens, water comes smoothly from rest, so
// the constant is the pressure around it, and c = 1/2. Where the gap closes, water leaves as a jet that keeps
// its speed. Then the pressure at the rim is that around the gap, which adds A rho v^2/2 with the speed at
// the rim: 3/2 m u^2/h for a strip and m u^2/h for a disc. So c = 2 in the plane; in space c = 3/2, the
// disc's.
//
// du/dt = R + r F, with the response r of the bodies (their translation and rotation) to F, and the
// acceleration R by gravity, by the last step's pressures, contacts and joints, and by other films. R lacks
// viscous drag and surface tension, which are small where films matter. All gaps are solved together:
// projected Gauss-Seidel on (1/m) F + r F = P/m + c u^2/h - R, F >= 0, a symmetric positive definite system.
// A gap resists as a whole: what its water does against tilting is neglected.
//
// Bodies that contacts press on do not accelerate, so they have neither R nor r. A gap between such bodies
// and walls has F = P. So has a gap at rest: a body that rests may lose its contacts for single steps, and
// would creep if its film changed there.
#include "base/vecmath.h"
#include "coupling/forces/film_gaps.h"

// A gap that opens or closes more slowly is at rest, in units of sqrt(spacing gravity).
#define SLOW        0.01
#define MOST_SWEEPS 100
// Sweeps end when no force changes by more than this share of its push.
#define TOLERANCE 1e-6

double flo_film_integral(int dim, double area, double moment) {
  return dim == 2 ? area * area * area / 12 : area * area * area * area / (160 * moment);
}

double flo_film_swing(int dim, double speed, double height, double dt) {
  const double closing = dim == 2 ? 2 : 1.5, c = speed > 0 ? 0.5 : closing;
  // Partly implicit, so that the water in a closing gap never throws bodies apart.
  return c * speed * speed / (height + c * fabs(speed) * dt);
}

typedef struct Resistance {
  FloFilmGaps *gaps;
  const FloWorld *world;
  const bool *are_touched;
} Resistance;

// NULL: forces do not accelerate the body.
static const FloNode *free_node(const Resistance *work, uint32_t body) {
  const FloBody *b = &flo_bodies(work->world)[body];
  return b->n_nodes == 1 && !work->are_touched[body] ? b->nodes : NULL;
}

// The first node, or what a led body and a wall have instead.
static void read_motion(const FloBody *body, double x[3], double v[3], double spin[3]) {
  const bool is_pushed = flo_body_is_pushed(body);
  vec_copy(is_pushed ? body->nodes->position : body->state.pose.position, x);
  vec_copy(is_pushed ? body->nodes->velocity : body->state.velocity, v);
  vec_copy(is_pushed ? body->nodes->angular_velocity : body->state.angular_velocity, spin);
}

// Finds the part's Jacobian. Returns its contribution to the speed of opening.
static double describe_part(const Resistance *work, const FloFilmGap *gap, FloFilmPart *part) {
  double x[3], v[3], spin[3], arm[3];
  read_motion(&flo_bodies(work->world)[part->body], x, v, spin);
  flo_world_nearest_image(work->world, x, part->middle, arm);
  vec_sub(arm, x, arm);
  vec_scale(gap->away, part->share, part->j);
  vec_cross(arm, part->j, part->j + 3);
  return vec_dot(part->j, v) + vec_dot(part->j + 3, spin);
}

static void describe_gap(const Resistance *work, FloFilmGap *gap, double density, double dt) {
  const FloWorld *world = work->world;
  FloFilmPart *parts = work->gaps->parts;
  double speed = 0;
  for (uint32_t k = gap->first_part; k != UINT32_MAX; k = parts[k].next) {
    const FloNode *node = free_node(work, parts[k].body);
    speed += describe_part(work, gap, &parts[k]);
    if (node) gap->response += flo_node_response(node, parts[k].j);
  }
  gap->total = gap->push;
  gap->mass = gap->empty * density * flo_film_integral(world->def.dim, gap->area, gap->moment) / gap->height;
  gap->swing = flo_film_swing(world->def.dim, speed, gap->height, dt);
  gap->resists = gap->is_one_direction && gap->push > 0 && gap->response > 0 &&
                 fabs(speed) >= SLOW * sqrt(world->def.spacing * vec_length(world->def.gravity));
}

// Accelerations by everything except films.
static void start_accelerations(const Resistance *work) {
  for (uint32_t k = 0; k < work->world->bodies.count; ++k) {
    const FloNode *node = free_node(work, k);
    double *acceleration = work->gaps->accelerations + 6 * k, wrench[6];
    for (int row = 0; row < 6; ++row) acceleration[row] = 0;
    if (!node) continue;
    for (int row = 0; row < 6; ++row)
      wrench[row] = node->reaction[row] + (row < 3 ? node->mass * work->world->def.gravity[row] : 0);
    flo_node_apply(node, wrench, acceleration);
  }
}

// Adds what a force of the gap does.
static void accelerate(const Resistance *work, const FloFilmGap *gap, double force) {
  const FloFilmPart *parts = work->gaps->parts;
  for (uint32_t k = gap->first_part; k != UINT32_MAX; k = parts[k].next) {
    const FloNode *node = free_node(work, parts[k].body);
    double *acceleration = work->gaps->accelerations + 6 * (size_t)parts[k].body, change[6];
    if (!node) continue;
    flo_node_apply(node, parts[k].j, change);
    for (int row = 0; row < 6; ++row) acceleration[row] += force * change[row];
  }
}

static double opening_acceleration(const Resistance *work, const FloFilmGap *gap) {
  const FloFilmPart *parts = work->gaps->parts;
  double sum = 0;
  for (uint32_t k = gap->first_part; k != UINT32_MAX; k = parts[k].next) {
    const double *acceleration = work->gaps->accelerations + 6 * (size_t)parts[k].body;
    sum += vec_dot(parts[k].j, acceleration) + vec_dot(parts[k].j + 3, acceleration + 3);
  }
  return sum;
}

// Returns the largest change of a force as a share of its push.
static double sweep(const Resistance *work) {
  double largest = 0;
  for (size_t k = 0; k < work->gaps->n_gaps; ++k) {
    FloFilmGap *gap = &work->gaps->gaps[k];
    if (!gap->resists) continue;
    const double asked = gap->push + gap->mass * (gap->swing - opening_acceleration(work, gap));
    const double step = (asked - gap->total) / (1 + gap->mass * gap->response);
    const double change = fmax(step, -gap->total);
    gap->total += change;
    accelerate(work, gap, change);
    largest = fmax(largest, fabs(change) / gap->push);
  }
  return largest;
}

void flo_film_gaps_resist(FloFilmGaps *gaps, const FloWorld *world, FloFilmForce *forces,
                          const double *densities, const bool *are_touched, double dt) {
  const Resistance work = {gaps, world, are_touched};
  if (gaps->n_gaps == 0) return;
  start_accelerations(&work);
  for (size_t k = 0; k < gaps->n_gaps; ++k) {
    FloFilmGap *gap = &gaps->gaps[k];
    describe_gap(&work, gap, densities[gaps->parts[gap->first_part].body], dt);
    accelerate(&work, gap, gap->total);
  }
  for (int k = 0; k < MOST_SWEEPS && sweep(&work) > TOLERANCE;) ++k;
  for (size_t i = 0; i < world->sets[FLO_SET_RIGID].count; ++i) {
    if (forces[i].facing == UINT32_MAX) continue;
    const FloFilmGap *gap = &gaps->gaps[forces[i].gap];
    if (gap->resists) vec_scale(forces[i].force, gap->total / gap->push, forces[i].force);
  }
}
