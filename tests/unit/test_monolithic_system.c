// The system that `monolithic` solves against brute force in double precision, written from the equations of
// Probst & Teschner 2023 with sums weighted by volumes as at the head of monolithic.c; its diagonals and its
// symmetry by finite differences; and what must hold for whole runs: momentum, threads, saved states, memory.
#include "coupling/monolithic.h"
#include "support/allocator.h"
#include "support/random.h"
#include "support/reference.h"
#include "support/worlds.h"

enum { MAX_BODIES = 8 };

// ---- Scenes ----

typedef struct Scene {
  int dim;
  uint64_t seed;
  bool has_walls;
  int threads;
  double scale; // of the sizes
} Scene;

static void jitter_pose(FloPose *pose, const Scene *scene, Random *random, double s) {
  const double flat_axis[3] = {0, 0, 1};
  double axis[3] = {random_between(random, -1, 1), random_between(random, -1, 1), 1};
  for (int k = 0; k < scene->dim; ++k) pose->position[k] += random_between(random, -0.15, 0.15) * s;
  quat_from_axis_angle(scene->dim == 2 ? flat_axis : axis, random_between(random, -0.03, 0.03),
                       pose->rotation);
}

// `at` counts spacings along the first and the last axis; the middle one is that of the block.
static void add_box(FloWorld *world, const Scene *scene, Random *random, double x, double up,
                    double density) {
  FloBodyDef def = flo_default_body_def();
  double s = world->def.spacing * scene->scale;
  bool is_flat = scene->dim == 2;
  def.kind = FLO_BODY_DYNAMIC, def.density = density;
  def.shape = box_shape(4 * s, 4 * s, is_flat ? 0 : 4 * s);
  def.pose = is_flat ? pose_at(x * s, up * s, 0) : pose_at(x * s, 0, up * s);
  jitter_pose(&def.pose, scene, random, world->def.spacing);
  for (int axis = 0; axis < scene->dim; ++axis) def.velocity[axis] = random_between(random, -0.2, 0.2);
  for (int axis = is_flat ? 2 : 0; axis < 3; ++axis)
    def.angular_velocity[axis] = random_between(random, -2, 2);
  if (!is_flat && scene->seed % 3 == 0 && x > 4) def.locks[0] = def.turn_locks[1] = true;
  add_body(world, &def);
}

static void add_walls(FloWorld *world, const Scene *scene) {
  double s = world->def.spacing * scene->scale;
  bool is_flat = scene->dim == 2;
  FloBodyDef floor = flo_default_body_def();
  floor.shape = is_flat ? box_shape(24 * s, 3 * s, 0) : box_shape(24 * s, 8 * s, 3 * s);
  floor.pose = is_flat ? pose_at(0, -1.5 * s, 0) : pose_at(0, 0, -1.5 * s);
  add_body(world, &floor);
  FloMotionDef motion = flo_default_motion_def();
  motion.kind = FLO_MOTION_ROTATE, motion.rate = 3;
  vec_set(motion.vector, 0, 0, 1);
  vec_set(motion.centre, 11 * s, 3 * s, 0);
  add_moving_box(world, box_shape(3 * s, 6 * s, is_flat ? 0 : 8 * s),
                 is_flat ? pose_at(11.5 * s, 4 * s, 0) : pose_at(11.5 * s, 0, 5 * s), &motion);
}

static void jitter_fluid(FloWorld *world, Random *random) {
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  double s = world->def.spacing * 0.15;
  for (size_t i = 0; i < p->count; ++i) {
    p->x[i] += random_between(random, -s, s), p->y[i] += random_between(random, -s, s);
    p->vx[i] = (float)random_between(random, -0.3, 0.3), p->vy[i] = (float)random_between(random, -0.3, 0.3);
    if (world->def.dim == 2) continue;
    p->z[i] += random_between(random, -s, s), p->vz[i] = (float)random_between(random, -0.3, 0.3);
  }
}

static FloMaterialId add_ideal_fluid(FloWorld *world, double density) {
  FloMaterialDef def = flo_default_material_def();
  FloMaterialId id;
  FloError error;
  def.density = density, def.viscosity = def.wall_viscosity = 0, def.friction = -1;
  assert_ok(flo_world_add_material(world, &def, &id, &error), &error);
  return id;
}

// Two fluids beside three boxes, the first two of which touch each other and the floor; the third stands on
// them and leans on a turning wall.
static FloWorld *fill_scene(const Scene *scene, const FloWorldDef *def) {
  FloWorld *world = create_world(def);
  Random random = {scene->seed};
  double s = def->spacing * scene->scale;
  bool is_flat = scene->dim == 2;
  if (scene->has_walls) add_walls(world, scene);
  add_box(world, scene, &random, 2, 2, 300);
  add_box(world, scene, &random, 6, 2, 2000);
  add_box(world, scene, &random, 8, 6, 900);
  const double low[3] = {-8 * s, is_flat ? 0 : -3 * s, 0},
               middle[3] = {-3 * s, is_flat ? 6 * s : 3 * s, is_flat ? 0 : 6 * s},
               corner[3] = {-3 * s, low[1], 0}, high[3] = {6 * s, middle[1], middle[2]};
  add_block(world, add_ideal_fluid(world, 700), low, middle);
  add_block(world, add_ideal_fluid(world, 1000), corner, high);
  jitter_fluid(world, &random);
  return world;
}

static FloWorldDef scene_def(const Scene *scene) {
  FloWorldDef def = small_world_def(scene->dim);
  def.method = "monolithic", def.time_step = 1e-3, def.threads = scene->threads ? scene->threads : 1;
  if (!scene->has_walls) vec_set(def.gravity, 0, 0, 0);
  return def;
}

static FloWorld *make_scene(const Scene *scene) {
  FloWorldDef def = scene_def(scene);
  return fill_scene(scene, &def);
}

static void set_param(FloWorld *world, const char *name, double value) {
  FloError error;
  assert_ok(flo_world_set_param(world, name, value, &error), &error);
}

// ---- The moment of a step, kept ----

typedef struct Point {
  double x[3], v[3], volume, mass;
  uint32_t body; // of samples
  int row;       // of samples: number of the contact, or -1
} Point;

typedef struct Model {
  FloWorld *world;
  FloMonolithic *mono;
  ReferenceKernel kernel;
  double dt, rest_volume;
  size_t n_fluid, n_rigid, n_walls;
  Point *fluid, *rigid, *walls; // fluid in the order of the step
  FloRigid bodies[MAX_BODIES];
  // What brute force makes of the unknowns:
  double (*force)[3]; // on fluid
  double body_force[MAX_BODIES][3], body_torque[MAX_BODIES][3];
  double velocity[MAX_BODIES][3], omega[MAX_BODIES][3];
} Model;

static Point *copy_points(const FloParticles *p, bool is_fluid) {
  Point *points = calloc(p->count + 1, sizeof *points);
  for (size_t i = 0; i < p->count; ++i) {
    Point *point = &points[is_fluid ? p->id[i] : i];
    vec_set(point->x, p->x[i], p->y[i], p->z[i]);
    vec_set(point->v, (double)p->vx[i], (double)p->vy[i], (double)p->vz[i]);
    point->row = -1;
    if (is_fluid) point->mass = (double)p->mass[i];
    if (!is_fluid) point->volume = (double)p->volume[i], point->body = p->body[i];
  }
  return points;
}

// The step may have sorted the fluid.
static void order_fluid(Model *m) {
  const FloParticles *p = &m->world->sets[FLO_SET_FLUID];
  Point *by_id = m->fluid;
  m->fluid = calloc(p->count + 1, sizeof *m->fluid);
  for (size_t i = 0; i < p->count; ++i) {
    m->fluid[i] = by_id[p->id[i]];
    m->fluid[i].volume = m->rest_volume;
  }
  free(by_id);
}

// Takes one step and goes back, as far as the solver looks, to the moment at which it solved.
static Model model_of(FloWorld *world) {
  Model m = {.world = world,
             .mono = world->method_state,
             .kernel = {world->def.kernel, world->def.dim, world->kernel.support},
             .dt = world->def.time_step,
             .rest_volume = pow(world->def.spacing, world->def.dim),
             .n_fluid = world->sets[FLO_SET_FLUID].count,
             .n_rigid = world->sets[FLO_SET_RIGID].count,
             .n_walls = world->sets[FLO_SET_BOUNDARY].count};
  assert_true(world->bodies.count <= MAX_BODIES);
  set_param(world, "max_iterations", 1);
  m.fluid = copy_points(&world->sets[FLO_SET_FLUID], true);
  m.rigid = copy_points(&world->sets[FLO_SET_RIGID], false);
  m.walls = copy_points(&world->sets[FLO_SET_BOUNDARY], false);
  for (size_t k = 0; k < world->bodies.count; ++k) m.bodies[k] = flo_bodies(world)[k].rigid;
  step_world(world, 1);
  for (size_t k = 0; k < world->bodies.count; ++k) flo_bodies(world)[k].rigid = m.bodies[k];
  order_fluid(&m);
  for (size_t k = 0; k < m.mono->n_contacts; ++k) m.rigid[m.mono->contacts[k].sample].row = (int)k;
  m.force = calloc(m.n_fluid + 1, sizeof *m.force);
  return m;
}

static void model_free(Model *m) {
  free(m->fluid), free(m->rigid), free(m->walls), free(m->force);
  flo_world_destroy(m->world);
}

// ---- Pairs ----

typedef struct Pair {
  double w, g[3];
} Pair;

static Pair pair_of(const Model *m, const Point *a, const Point *b) {
  const double period[3] = {0};
  double d[3];
  reference_difference(a->x, b->x, period, d);
  double r = vec_length(d);
  Slope slope = reference_w(&m->kernel, r);
  Pair pair = {.w = slope.value};
  if (r > 0) vec_scale(d, slope.slope / r, pair.g);
  return pair;
}

static bool is_dynamic(const Model *m, size_t body) {
  return flo_bodies(m->world)[body].kind == FLO_BODY_DYNAMIC;
}

// All that a sample sees of other bodies: `visit` gets the neighbour and the pair.
typedef void (*Visit)(Model *m, const Point *sample, const Point *other, const Pair *pair, void *context);

static void visit_others(Model *m, const Point *sample, Visit visit, void *context) {
  for (size_t k = 0; k < m->n_rigid; ++k) {
    Pair pair = pair_of(m, sample, &m->rigid[k]);
    if (m->rigid[k].body != sample->body && pair.w > 0) visit(m, sample, &m->rigid[k], &pair, context);
  }
  for (size_t k = 0; k < m->n_walls; ++k) {
    Pair pair = pair_of(m, sample, &m->walls[k]);
    if (pair.w > 0) visit(m, sample, &m->walls[k], &pair, context);
  }
}

// ---- (3.13), (3.15), (3.22): forces ----

static double pressure_of(const Model *m, const Point *sample) {
  return sample->row < 0 ? 0 : (double)m->mono->contacts[sample->row].pressure;
}

static void push_body_at(Model *m, uint32_t body, const double at[3], const double force[3]) {
  double arm[3], torque[3];
  if (!is_dynamic(m, body)) return;
  vec_sub(at, m->bodies[body].position, arm);
  vec_cross(arm, force, torque);
  vec_add(m->body_force[body], force, m->body_force[body]);
  vec_add(m->body_torque[body], torque, m->body_torque[body]);
}

static void push_fluid(Model *m, size_t i) {
  double p = (double)m->mono->pressure[i], force[3], v = m->rest_volume;
  vec_set(m->force[i], 0, 0, 0);
  for (size_t j = 0; j < m->n_fluid; ++j) {
    Pair pair = pair_of(m, &m->fluid[i], &m->fluid[j]);
    vec_add_scaled(m->force[i], pair.g, -v * v * (p + (double)m->mono->pressure[j]), m->force[i]);
  }
  for (size_t k = 0; k < m->n_walls; ++k) {
    Pair pair = pair_of(m, &m->fluid[i], &m->walls[k]);
    vec_add_scaled(m->force[i], pair.g, -v * m->walls[k].volume * p, m->force[i]);
  }
  for (size_t k = 0; k < m->n_rigid; ++k) {
    Pair pair = pair_of(m, &m->fluid[i], &m->rigid[k]);
    vec_scale(pair.g, v * m->rigid[k].volume * p, force);
    vec_sub(m->force[i], force, m->force[i]);
    push_body_at(m, m->rigid[k].body, m->rigid[k].x, force);
  }
}

static void add_weight(Model *m, const Point *sample, const Point *other, const Pair *pair, void *context) {
  (void)m, (void)sample;
  *(double *)context += other->volume * pair->w;
}

// A sample's own pressure and friction, mirrored onto the neighbour.
static void push_pair(Model *m, const Point *sample, const Point *other, const Pair *pair, void *context) {
  const FloContact *c = &m->mono->contacts[sample->row];
  double force[3], middle[3], share = other->volume * pair->w / *(const double *)context;
  vec_scale(pair->g, -sample->volume * other->volume * pressure_of(m, sample), force);
  push_body_at(m, sample->body, sample->x, force);
  vec_scale(force, -1, force);
  push_body_at(m, other->body, other->x, force);
  for (int axis = 0; axis < 3; ++axis) {
    force[axis] = share * (double)c->friction[axis];
    middle[axis] = (sample->x[axis] + other->x[axis]) / 2;
  }
  push_body_at(m, sample->body, middle, force);
  vec_scale(force, -1, force);
  push_body_at(m, other->body, middle, force);
}

static void compute_forces(Model *m) {
  memset(m->body_force, 0, sizeof m->body_force);
  memset(m->body_torque, 0, sizeof m->body_torque);
  for (size_t i = 0; i < m->n_fluid; ++i) push_fluid(m, i);
  for (size_t k = 0; k < m->n_rigid; ++k) {
    double weight = 0;
    if (m->rigid[k].row < 0) continue;
    visit_others(m, &m->rigid[k], add_weight, &weight);
    visit_others(m, &m->rigid[k], push_pair, &weight);
  }
}

// ---- (3.11), (3.12), (3.16): velocities ----

static void compute_body_velocities(Model *m) {
  for (size_t k = 0; k < m->world->bodies.count; ++k) {
    const FloRigid *rigid = &m->bodies[k];
    double spin[3];
    if (!is_dynamic(m, k)) continue;
    mat_apply(rigid->inverse_inertia, m->body_torque[k], spin);
    for (int axis = 0; axis < 3; ++axis) {
      double gravity = rigid->locks[axis] ? 0 : m->world->def.gravity[axis];
      m->velocity[k][axis] =
          rigid->velocity[axis] + m->dt * (gravity + rigid->inverse_mass[axis] * m->body_force[k][axis]);
      m->omega[k][axis] = rigid->angular_velocity[axis] + m->dt * spin[axis];
    }
  }
}

static void velocity_at(const Model *m, const Point *sample, const double at[3], double v[3]) {
  double arm[3];
  vec_copy(sample->v, v);
  if (!is_dynamic(m, sample->body)) return;
  vec_sub(at, m->bodies[sample->body].position, arm);
  vec_cross(m->omega[sample->body], arm, v);
  vec_add(v, m->velocity[sample->body], v);
}

static void fluid_velocity(const Model *m, size_t i, double v[3]) {
  for (int axis = 0; axis < 3; ++axis)
    v[axis] =
        m->fluid[i].v[axis] + m->dt * (m->world->def.gravity[axis] + m->force[i][axis] / m->fluid[i].mass);
}

// ---- (3.14), (3.10), (3.21): errors and slip ----

static double fluid_error(const Model *m, size_t i) {
  double v[3], other[3], between[3], share = 0, rate = 0;
  fluid_velocity(m, i, v);
  for (size_t j = 0; j < m->n_fluid; ++j) {
    Pair pair = pair_of(m, &m->fluid[i], &m->fluid[j]); // with itself, whose gradient is zero
    fluid_velocity(m, j, other);
    vec_sub(v, other, between);
    share += m->rest_volume * pair.w, rate += m->rest_volume * vec_dot(between, pair.g);
  }
  for (size_t k = 0; k < m->n_rigid + m->n_walls; ++k) {
    const Point *sample = k < m->n_rigid ? &m->rigid[k] : &m->walls[k - m->n_rigid];
    Pair pair = pair_of(m, &m->fluid[i], sample);
    velocity_at(m, sample, sample->x, other);
    vec_sub(v, other, between);
    share += sample->volume * pair.w, rate += sample->volume * vec_dot(between, pair.g);
  }
  return 1 - share - m->dt * rate;
}

typedef struct ContactSums {
  double sum, rate, steep[3], slip[3], friction;
} ContactSums;

static void add_contact_pair(Model *m, const Point *sample, const Point *other, const Pair *pair,
                             void *context) {
  ContactSums *sums = context;
  double mine[3], theirs[3], middle[3], between[3], weight = other->volume * pair->w;
  velocity_at(m, sample, sample->x, mine);
  velocity_at(m, other, other->x, theirs);
  vec_sub(mine, theirs, between);
  sums->sum += weight, sums->rate += other->volume * vec_dot(between, pair->g);
  vec_add_scaled(sums->steep, pair->g, other->volume, sums->steep);
  vec_add(sample->x, other->x, middle);
  vec_scale(middle, 0.5, middle);
  velocity_at(m, sample, middle, mine);
  velocity_at(m, other, middle, theirs); // walls: that of the sample itself
  vec_sub(mine, theirs, between);
  vec_add_scaled(sums->slip, between, weight, sums->slip);
  sums->friction += weight * 0.5; // what counts where no body has a coefficient
}

// What one spacing between two half spaces of lattice points leaves of the kernel.
static double touching_sum(const Model *m) {
  double s = m->world->def.spacing, sum = 0;
  for (int k = 1; k <= 3; ++k)
    for (int j = -3; j <= 3; ++j)
      for (int i = -3; i <= 3; ++i)
        if (m->kernel.dim == 3 || j == 0)
          sum += reference_w(&m->kernel, s * sqrt(i * i + j * j + k * k)).value;
  return sum * m->rest_volume;
}

// Overlaps ask for a fifth of themselves a step, and no more than the speed of separation.
static double gap_of(const Model *m, double error, double steepness) {
  double g = fmax(vec_length(m->world->def.gravity), 1), speed = 0.5 * sqrt(g * m->world->def.spacing);
  return error >= 0 ? error : -fmin(-0.2 * error, m->dt * steepness * speed);
}

typedef struct ExactContact {
  double error, velocity[3], normal[3], cone;
} ExactContact;

static ExactContact exact_contact(Model *m, const Point *sample) {
  ContactSums sums = {0};
  ExactContact exact = {0};
  visit_others(m, sample, add_contact_pair, &sums);
  double steepness = vec_length(sums.steep);
  vec_scale(sums.steep, -1 / steepness, exact.normal);
  vec_scale(sums.slip, 1 / sums.sum, exact.velocity);
  vec_add_scaled(exact.velocity, exact.normal, -vec_dot(exact.velocity, exact.normal), exact.velocity);
  exact.error = gap_of(m, touching_sum(m) - sums.sum, steepness) - m->dt * sums.rate;
  exact.cone = sums.friction / sums.sum * sample->volume * steepness;
  return exact;
}

// ---- Unknowns ----

static void clear_unknowns(Model *m) {
  memset(m->mono->pressure, 0, m->n_fluid * sizeof(float));
  for (size_t k = 0; k < m->mono->n_contacts; ++k) {
    FloContact *c = &m->mono->contacts[k];
    c->pressure = c->friction[0] = c->friction[1] = c->friction[2] = 0;
  }
}

// As large as would move volumes and velocities noticeably.
static void invent_unknowns(Model *m, Random *random) {
  for (size_t i = 0; i < m->n_fluid; ++i) m->mono->pressure[i] = (float)random_between(random, 0, 500);
  for (size_t k = 0; k < m->mono->n_contacts; ++k) {
    FloContact *c = &m->mono->contacts[k];
    c->pressure = (float)random_between(random, 0, 5000);
    for (int axis = 0; axis < m->world->def.dim; ++axis)
      c->friction[axis] =
          (float)(random_between(random, -2e3, 2e3) * (double)c->volume / m->world->def.spacing);
  }
}

static void run(Model *m) {
  flo_monolithic_apply(m->world, m->mono);
  flo_monolithic_evaluate(m->world, m->mono);
}

// ---- (a) Against brute force ----

// Compared with the largest of its kind: single precision sums some hundred terms.
static void check_series(const char *what, size_t n, const double (*actual)[3], const double (*expected)[3]) {
  double largest = 0, worst = 0;
  size_t at = 0;
  for (size_t k = 0; k < n; ++k)
    for (int axis = 0; axis < 3; ++axis) {
      double off = fabs(actual[k][axis] - expected[k][axis]);
      largest = fmax(largest, fabs(expected[k][axis]));
      if (!(off <= worst)) worst = off, at = k;
    }
  if (worst <= 5e-6 * largest) return;
  fail_msg("%s %zu of %zu is off by %g, the largest being %g: (%g, %g, %g) instead of (%g, %g, %g)", what, at,
           n, worst, largest, actual[at][0], actual[at][1], actual[at][2], expected[at][0], expected[at][1],
           expected[at][2]);
}

static void check_fluid(const Model *m) {
  double(*forces)[3] = calloc(m->n_fluid, sizeof *forces), (*errors)[3] = calloc(m->n_fluid, sizeof *errors),
  (*exact)[3] = calloc(m->n_fluid, sizeof *exact);
  for (size_t i = 0; i < m->n_fluid; ++i) {
    for (size_t axis = 0; axis < 3; ++axis) forces[i][axis] = (double)m->mono->force[4 * i + axis];
    errors[i][0] = (double)m->mono->error[i], exact[i][0] = fluid_error(m, i);
  }
  check_series("force on particle", m->n_fluid, (const double(*)[3])forces, (const double(*)[3])m->force);
  check_series("error of particle", m->n_fluid, (const double(*)[3])errors, (const double(*)[3])exact);
  free(forces), free(errors), free(exact);
}

static void check_bodies(const Model *m) {
  double force[MAX_BODIES][3], torque[MAX_BODIES][3], velocity[MAX_BODIES][3], omega[MAX_BODIES][3];
  size_t n = m->world->bodies.count;
  for (size_t k = 0; k < n; ++k) {
    const FloPartner *partner = &m->mono->partners[k];
    vec_copy(partner->force, force[k]), vec_copy(partner->torque, torque[k]);
    vec_copy(partner->velocity, velocity[k]), vec_copy(partner->angular_velocity, omega[k]);
  }
  check_series("force on body", n, (const double(*)[3])force, m->body_force);
  check_series("torque on body", n, (const double(*)[3])torque, m->body_torque);
  check_series("velocity of body", n, (const double(*)[3])velocity, m->velocity);
  check_series("spin of body", n, (const double(*)[3])omega, m->omega);
}

static void check_contacts(Model *m) {
  enum { ERROR_AND_CONE, VELOCITY, NORMAL, N_SERIES };
  size_t n = m->mono->n_contacts;
  double(*actual[N_SERIES])[3], (*exact[N_SERIES])[3];
  for (int k = 0; k < N_SERIES; ++k)
    actual[k] = calloc(n, sizeof *actual[k]), exact[k] = calloc(n, sizeof *exact[k]);
  for (size_t k = 0; k < n; ++k) {
    const FloContact *c = &m->mono->contacts[k];
    ExactContact e = exact_contact(m, &m->rigid[c->sample]);
    actual[ERROR_AND_CONE][k][0] = (double)c->error, exact[ERROR_AND_CONE][k][0] = e.error;
    actual[ERROR_AND_CONE][k][1] = (double)c->cone, exact[ERROR_AND_CONE][k][1] = e.cone;
    for (int axis = 0; axis < 3; ++axis) {
      actual[VELOCITY][k][axis] = (double)c->velocity[axis], exact[VELOCITY][k][axis] = e.velocity[axis];
      actual[NORMAL][k][axis] = (double)c->normal[axis], exact[NORMAL][k][axis] = e.normal[axis];
    }
  }
  const char *const names[] = {"error of contact", "slip of contact", "normal of contact"};
  for (int k = 0; k < N_SERIES; ++k) {
    check_series(names[k], n, (const double(*)[3])actual[k], (const double(*)[3])exact[k]);
    free(actual[k]), free(exact[k]);
  }
}

static void mark_neighbour(Model *m, const Point *sample, const Point *other, const Pair *pair,
                           void *context) {
  (void)m, (void)sample, (void)other;
  if (pair->w * pow(m->kernel.support, m->kernel.dim) > 1e-9) *(bool *)context = true;
}

static void check_rows(Model *m) {
  for (size_t k = 0; k < m->n_rigid; ++k) {
    bool is_near = false;
    visit_others(m, &m->rigid[k], mark_neighbour, &is_near);
    if (is_near) assert_true(m->rigid[k].row >= 0);
  }
}

static void check_scene(const Scene *scene) {
  Random random = {scene->seed + 100};
  Model m = model_of(make_scene(scene));
  assert_true(m.n_fluid > 50 && m.mono->n_contacts > 8 && m.mono->n_coupled > 5);
  check_rows(&m);
  for (int round = 0; round < 2; ++round) {
    clear_unknowns(&m);
    if (round) invent_unknowns(&m, &random);
    run(&m);
    compute_forces(&m);
    compute_body_velocities(&m);
    check_bodies(&m);
    check_fluid(&m);
    check_contacts(&m);
  }
  model_free(&m);
}

static void test_errors_forces_and_slip_are_those_of_the_paper(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 4; ++seed)
    for (int dim = 2; dim <= 3; ++dim)
      check_scene(&(Scene){.dim = dim, .seed = seed, .has_walls = seed != 2, .scale = dim == 2 ? 2 : 1});
}

// ---- (b) Finite differences ----

// One unknown: a pressure, or the part of a friction multiplier along a tangent.
typedef struct Row {
  bool is_fluid, is_friction;
  size_t index;
  double tangent[3];
} Row;

// Two tangents at right angles (the second is zero in the plane).
static void tangents_of(const Model *m, const FloContact *c, double out[2][3]) {
  const double n[3] = {(double)c->normal[0], (double)c->normal[1], (double)c->normal[2]};
  const double z[3] = {0, 0, 1}, x[3] = {1, 0, 0};
  vec_cross(m->world->def.dim == 2 || fabs(n[2]) < 0.7 ? z : x, n, out[0]);
  vec_scale(out[0], 1 / vec_length(out[0]), out[0]);
  vec_cross(n, out[0], out[1]);
  if (m->world->def.dim == 2) vec_set(out[1], 0, 0, 0);
}

// What the row weighs: errors in volumes, slips in lengths, so that the matrix should be symmetric.
static double reading(const Model *m, const Row *row) {
  if (row->is_fluid) return m->rest_volume * (double)m->mono->error[row->index];
  const FloContact *c = &m->mono->contacts[row->index];
  if (!row->is_friction) return (double)(c->volume * c->error);
  double slip = 0;
  for (int axis = 0; axis < 3; ++axis) slip += row->tangent[axis] * (double)c->velocity[axis];
  return m->dt * slip;
}

static double noise_of(const Model *m, const Row *row) {
  double volume = row->is_fluid ? m->rest_volume : (double)m->mono->contacts[row->index].volume;
  return row->is_friction ? 5e-7 * m->dt : 1e-6 * volume;
}

// The whole column of the matrix that belongs to one unknown.
static void measure_column(Model *m, const Row *row, double step, const Row *rows, size_t n, double *column) {
  clear_unknowns(m);
  run(m);
  for (size_t k = 0; k < n; ++k) column[k] = -reading(m, &rows[k]);
  if (row->is_fluid) m->mono->pressure[row->index] = (float)step;
  if (!row->is_fluid && !row->is_friction) m->mono->contacts[row->index].pressure = (float)step;
  for (int axis = 0; row->is_friction && axis < 3; ++axis)
    m->mono->contacts[row->index].friction[axis] = (float)(step * row->tangent[axis]);
  run(m);
  for (size_t k = 0; k < n; ++k) column[k] = (column[k] + reading(m, &rows[k])) / step;
}

static double response_sum(const Model *m, size_t first, size_t end) {
  double sum = 0;
  for (size_t k = first; k < end; ++k) sum += (double)m->mono->touches[k].response;
  return m->dt * m->dt * sum;
}

// (A.6) for bodies that do not give way.
static double fixed_diagonal(const Model *m, size_t i) {
  double steep[3] = {0}, squares = 0, v = m->rest_volume;
  for (size_t j = 0; j < m->n_fluid; ++j) {
    Pair pair = pair_of(m, &m->fluid[i], &m->fluid[j]);
    vec_add_scaled(steep, pair.g, v, steep);
    squares += v * v / m->fluid[j].mass * vec_dot(pair.g, pair.g);
  }
  for (size_t k = 0; k < m->n_rigid + m->n_walls; ++k) {
    const Point *sample = k < m->n_rigid ? &m->rigid[k] : &m->walls[k - m->n_rigid];
    vec_add_scaled(steep, pair_of(m, &m->fluid[i], sample).g, sample->volume, steep);
  }
  return m->dt * m->dt * v * (vec_dot(steep, steep) / m->fluid[i].mass + squares);
}

static size_t touches_of_fluid(const Model *m, size_t i, size_t *end) {
  for (size_t n = 0; n < m->mono->n_coupled; ++n)
    if (m->mono->coupled[n] == i)
      return *end = m->mono->fluid_touch_begin[n + 1], m->mono->fluid_touch_begin[n];
  return *end = 0;
}

enum { N_ROWS = 48 };

static size_t choose_rows(const Model *m, Random *random, Row rows[N_ROWS], double steps[N_ROWS]) {
  for (size_t k = 0; k < N_ROWS; ++k) {
    uint32_t contact = random_below(random, (uint32_t)m->mono->n_contacts);
    double tangents[2][3];
    rows[k] = (Row){.is_fluid = k % 4 < 2, .is_friction = k % 4 == 3};
    if (k % 4 == 0) rows[k].index = random_below(random, (uint32_t)m->n_fluid);
    if (k % 4 == 1) rows[k].index = m->mono->coupled[random_below(random, (uint32_t)m->mono->n_coupled)];
    if (k % 4 >= 2) rows[k].index = contact;
    const FloContact *c = &m->mono->contacts[contact];
    tangents_of(m, c, tangents);
    if (rows[k].is_friction) vec_copy(tangents[0], rows[k].tangent);
    steps[k] = rows[k].is_fluid ? 0.2 / fixed_diagonal(m, rows[k].index)
               : rows[k].is_friction
                   ? 0.3 / (double)c->slip_diagonal
                   : 0.2 * (double)c->volume / response_sum(m, c->first, c->first + c->count);
  }
  return N_ROWS;
}

static void check_own_entry(const Model *m, const Row *row, double entry, double tolerance) {
  const FloContact *c = &m->mono->contacts[row->is_fluid ? 0 : row->index];
  size_t end, first = touches_of_fluid(m, row->index, &end);
  double expected = row->is_fluid
                        ? m->rest_volume * fixed_diagonal(m, row->index) + response_sum(m, first, end)
                        : response_sum(m, c->first, c->first + c->count);
  if (!row->is_friction) assert_close(entry, expected, tolerance);
}

static void check_matrix(const Scene *scene) {
  static double matrix[N_ROWS][N_ROWS]; // [column][row]
  Random random = {scene->seed};
  Model m = model_of(make_scene(scene));
  Row rows[N_ROWS];
  double steps[N_ROWS];
  size_t n = choose_rows(&m, &random, rows, steps), n_coupled = 0;
  for (size_t j = 0; j < n; ++j) measure_column(&m, &rows[j], steps[j], rows, n, matrix[j]);
  for (size_t i = 0; i < n; ++i) {
    check_own_entry(&m, &rows[i], matrix[i][i], 2e-5 * matrix[i][i]);
    for (size_t j = 0; j < i; ++j) {
      double tolerance = 2e-5 * sqrt(matrix[i][i] * matrix[j][j]) + noise_of(&m, &rows[i]) / steps[j] +
                         noise_of(&m, &rows[j]) / steps[i];
      assert_close(matrix[j][i], matrix[i][j], tolerance);
      n_coupled += fabs(matrix[j][i]) > 100 * tolerance;
    }
  }
  assert_true(n_coupled > 50); // or the comparison would mean nothing
  model_free(&m);
}

static void test_the_matrix_is_symmetric_and_its_diagonal_known(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; ++seed)
    for (int dim = 2; dim <= 3; ++dim)
      check_matrix(&(Scene){.dim = dim, .seed = seed, .has_walls = seed != 2, .scale = dim == 2 ? 2 : 1});
}

static void test_the_diagonal_of_friction_is_the_mean_over_the_tangents(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    Model m = model_of(make_scene(&(Scene){.dim = dim, .seed = 5, .has_walls = true, .scale = 1}));
    for (size_t k = 0; k < m.mono->n_contacts; k += 5) {
      const FloContact *c = &m.mono->contacts[k];
      double tangents[2][3], sum = 0, entry;
      tangents_of(&m, c, tangents);
      for (int t = 0; t < dim - 1; ++t) {
        Row row = {.is_friction = true, .index = k};
        vec_copy(tangents[t], row.tangent);
        measure_column(&m, &row, 0.3 / (double)c->slip_diagonal, &row, 1, &entry);
        sum += entry / m.dt / (dim - 1);
      }
      assert_close(c->slip_diagonal, sum, 2e-5 * sum);
    }
    model_free(&m);
  }
}

// The main body of a row gives way as a whole; others are shared with the rows that push them.
static double shared_load(const Model *m, size_t first, size_t end, const double *loads) {
  double load = 0;
  for (size_t k = first; k < end; ++k)
    if (!m->mono->touches[k].is_main) load += 2 * loads[m->mono->touches[k].body];
  return load;
}

static void check_shares(Model *m) {
  double loads[MAX_BODIES] = {0};
  const FloMonolithic *mono = m->mono;
  for (size_t n = 0; n < mono->n_coupled; ++n)
    for (size_t k = mono->fluid_touch_begin[n]; k < mono->fluid_touch_begin[n + 1]; ++k)
      loads[mono->touches[k].body] +=
          response_sum(m, k, k + 1) / m->rest_volume / fixed_diagonal(m, mono->coupled[n]);
  for (size_t i = 0; i < m->n_fluid; ++i) {
    size_t end, first = touches_of_fluid(m, i, &end);
    double d = fixed_diagonal(m, i), actual = (double)mono->diagonal[i];
    if (first == end) assert_close(actual, d, 1e-5 * d);
    assert_close(actual, d * (1 + shared_load(m, first, end, loads)), 1e-4 * actual);
  }
}

static void test_rows_of_fluid_know_that_bodies_give_way(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; ++seed)
    for (int dim = 2; dim <= 3; ++dim) {
      Model m = model_of(make_scene(&(Scene){.dim = dim, .seed = seed, .has_walls = true, .scale = 1}));
      check_shares(&m);
      model_free(&m);
    }
}

// A drop that has no other fluid near it, beside a body in water.
static void test_a_lone_drop_does_not_disturb_the_diagonals(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  def.method = "monolithic", def.time_step = 1e-3;
  FloWorld *world = create_world(&def);
  FloError error;
  double s = def.spacing;
  const double drop[3] = {2.6 * s, 0, 0}, low[3] = {-6 * s, -2 * s, -2 * s}, high[3] = {-2 * s, 2 * s, 2 * s};
  FloBodyDef box = flo_default_body_def();
  box.kind = FLO_BODY_DYNAMIC, box.density = 500, box.shape = box_shape(4 * s, 4 * s, 4 * s);
  add_body(world, &box);
  FloMaterialId water = add_ideal_fluid(world, 1000);
  add_block(world, water, low, high);
  assert_ok(flo_world_add_particles(world, water, 1, drop, NULL, &error), &error);
  Model m = model_of(world);
  for (size_t i = 0; i < m.n_fluid; ++i)
    if (!isfinite(m.mono->diagonal[i]))
      fail_msg("row %zu has a diagonal of %g", i, (double)m.mono->diagonal[i]);
  check_shares(&m);
  model_free(&m);
}

// ---- (c) Momentum ----

static void test_no_pressure_or_friction_changes_the_momentum(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 4; ++seed)
    for (int dim = 2; dim <= 3; ++dim) {
      Random random = {seed};
      Model m = model_of(make_scene(&(Scene){.dim = dim, .seed = seed, .scale = dim == 2 ? 2 : 1}));
      double force[3] = {0}, torque[3] = {0}, size = 0, f[3], turn[3];
      invent_unknowns(&m, &random);
      run(&m);
      for (size_t i = 0; i < m.n_fluid; ++i) {
        for (size_t axis = 0; axis < 3; ++axis) f[axis] = (double)m.mono->force[4 * i + axis];
        vec_cross(m.fluid[i].x, f, turn);
        vec_add(force, f, force), vec_add(torque, turn, torque);
        size += vec_length(f);
      }
      for (size_t k = 0; k < m.world->bodies.count; ++k) {
        const FloPartner *partner = &m.mono->partners[k];
        vec_cross(m.bodies[k].position, partner->force, turn);
        vec_add(force, partner->force, force), vec_add(torque, turn, torque);
        vec_add(torque, partner->torque, torque);
        size += vec_length(partner->force);
      }
      assert_close_3(force, ((double[3]){0}), 1e-7 * size);
      assert_close_3(torque, ((double[3]){0}), 1e-7 * size * 8 * 0.02 * (dim == 2 ? 2 : 1));
      model_free(&m);
    }
}

// Fast drops that are kept out of a body give it what they lose; see flo_world_push_bodies.
static void test_drops_that_are_kept_out_push_the_body(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  def.method = "monolithic", def.time_step = 1e-3;
  vec_set(def.gravity, 0, 0, 0);
  FloWorld *world = create_world(&def);
  FloError error;
  double s = def.spacing;
  FloBodyDef box = flo_default_body_def();
  box.kind = FLO_BODY_DYNAMIC, box.density = 100, box.shape = box_shape(4 * s, 4 * s, 4 * s);
  add_body(world, &box);
  const double drops[6] = {1.5 * s, 0.3 * s, 2.3 * s, -1.2 * s, 1.4 * s, 2.2 * s};
  const float velocities[6] = {1, 2, -9, -2, 1, -8};
  assert_ok(flo_world_add_particles(world, add_ideal_fluid(world, 1000), 2, drops, velocities, &error),
            &error);
  FloFigures before = flo_world_figures(world);
  step_world(world, 1);
  FloFigures after = flo_world_figures(world);
  const FloWallRoom *rooms = world->wall_rooms.data;
  bool was_kept_out = rooms[0].by[0].sample >= 0 || rooms[1].by[0].sample >= 0;
  flo_world_destroy(world);
  assert_true(was_kept_out);
  assert_close_3(after.momentum, before.momentum, 1e-6 * vec_length(before.momentum));
  assert_close_3(after.angular_momentum, before.angular_momentum, 1e-6 * vec_length(before.angular_momentum));
}

// ---- (d), (e), (f): whole runs ----

static uint64_t hash_with(int dim, int threads) {
  FloWorld *world = make_scene(
      &(Scene){.dim = dim, .seed = 8, .has_walls = true, .threads = threads, .scale = dim == 2 ? 6 : 2});
  assert_true(flo_world_count(world, FLO_SET_FLUID) > 1024);
  step_world(world, 50);
  assert_true(flo_world_figures(world).contacts > 0);
  uint64_t hash = flo_world_hash(world);
  flo_world_destroy(world);
  return hash;
}

static void test_any_number_of_threads_gives_the_same_bits(void **state) {
  (void)state;
  const int threads[] = {2, 3, 8};
  for (int dim = 2; dim <= 3; ++dim) {
    uint64_t one = hash_with(dim, 1);
    for (size_t k = 0; k < FLO_COUNT_OF(threads); ++k)
      if (hash_with(dim, threads[k]) != one) fail_msg("%dD: %d threads differ from one", dim, threads[k]);
  }
}

static void test_a_restored_world_goes_on_to_the_same_bits(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    Scene scene = {.dim = dim, .seed = 4, .has_walls = true, .scale = 1};
    FloWorld *world = make_scene(&scene), *other = make_scene(&scene);
    FloState *saved = NULL;
    FloError error;
    step_world(world, 25);
    assert_ok(flo_world_save(world, &saved, &error), &error);
    step_world(world, 25);
    uint64_t hash = flo_world_hash(world);
    step_world(other, 3); // whatever it did before is of no consequence
    FloWorld *const restored[] = {other, world};
    for (size_t k = 0; k < FLO_COUNT_OF(restored); ++k) {
      assert_ok(flo_world_restore(restored[k], saved, &error), &error);
      step_world(restored[k], 25);
      assert_true(flo_world_hash(restored[k]) == hash);
    }
    flo_state_destroy(saved);
    flo_world_destroy(world);
    flo_world_destroy(other);
  }
}

// Boxes side by side on the floor of a tank: what is near what hardly changes any more.
static FloWorld *fill_calm_tank(const FloWorldDef *def) {
  FloWorld *world = create_world(def);
  double s = def->spacing, width = 14 * s, middle = def->dim == 2 ? 2 * s : width / 2;
  const double low[3] = {0}, high[3] = {width, def->dim == 2 ? 8 * s : width, def->dim == 2 ? 0 : 8 * s};
  add_tank(world, def->dim, width, width, width);
  for (int k = 0; k < 2; ++k) {
    FloBodyDef box = flo_default_body_def();
    box.kind = FLO_BODY_DYNAMIC, box.density = 2000;
    box.shape = box_shape(4 * s, 4 * s, def->dim == 2 ? 0 : 4 * s);
    box.pose = pose_at((5 + 4 * k) * s, middle, def->dim == 2 ? 0 : 2 * s);
    add_body(world, &box);
  }
  add_block(world, add_material(world, 1000, 0.02), low, high); // thick enough to calm down soon
  return world;
}

static void test_a_warm_world_takes_no_memory(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    CountingAllocator counter = {0};
    FloWorldDef def = scene_def(&(Scene){.dim = dim, .has_walls = true, .threads = 2});
    def.allocator = counting_allocator(&counter);
    FloWorld *world = fill_calm_tank(&def);
    step_world(world, 300);
    size_t calls = counter.n_calls;
    for (int k = 300; k < 400; ++k) {
      step_world(world, 1);
      if (counter.n_calls != calls) fail_msg("%dD: step %d allocates", dim, k);
    }
    assert_true(flo_world_figures(world).contacts > 0);
    flo_world_destroy(world);
    assert_int_equal(counter.bytes, 0);
    assert_int_equal(counter.n_mismatches, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_errors_forces_and_slip_are_those_of_the_paper),
      cmocka_unit_test(test_the_matrix_is_symmetric_and_its_diagonal_known),
      cmocka_unit_test(test_the_diagonal_of_friction_is_the_mean_over_the_tangents),
      cmocka_unit_test(test_rows_of_fluid_know_that_bodies_give_way),
      cmocka_unit_test(test_a_lone_drop_does_not_disturb_the_diagonals),
      cmocka_unit_test(test_no_pressure_or_friction_changes_the_momentum),
      cmocka_unit_test(test_drops_that_are_kept_out_push_the_body),
      cmocka_unit_test(test_any_number_of_threads_gives_the_same_bits),
      cmocka_unit_test(test_a_restored_world_goes_on_to_the_same_bits),
      cmocka_unit_test(test_a_warm_world_takes_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
