// Small random worlds of fluid, bodies and walls at one moment of a step, and what the equations of Probst &
// Teschner 2023 say about them, by brute force in double precision. Wet samples have the equations at the
// head of wet.c.
#ifndef TEST_SUPPORT_MONOLITHIC_MODEL_H
#define TEST_SUPPORT_MONOLITHIC_MODEL_H

#include "coupling/monolithic/monolithic.h"
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
  double scale;   // of the sizes
  bool is_papers; // samples have no pressure, as in the paper
} Scene;

static inline void jitter_pose(FloPose *pose, const Scene *scene, Random *random, double s) {
  const double flat_axis[3] = {0, 0, 1};
  double axis[3] = {random_between(random, -1, 1), random_between(random, -1, 1), 1};
  for (int k = 0; k < scene->dim; ++k) pose->position[k] += random_between(random, -0.15, 0.15) * s;
  quat_from_axis_angle(scene->dim == 2 ? flat_axis : axis, random_between(random, -0.03, 0.03),
                       pose->rotation);
}

// `at` counts spacings along the first and the last axis; the middle one is that of the block.
static inline void add_box(FloWorld *world, const Scene *scene, Random *random, double x, double up,
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

static inline void add_walls(FloWorld *world, const Scene *scene) {
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

static inline void jitter_fluid(FloWorld *world, Random *random) {
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  double s = world->def.spacing * 0.15;
  for (size_t i = 0; i < p->count; ++i) {
    p->x[i] += random_between(random, -s, s), p->y[i] += random_between(random, -s, s);
    p->vx[i] = (float)random_between(random, -0.3, 0.3), p->vy[i] = (float)random_between(random, -0.3, 0.3);
    if (world->def.dim == 2) continue;
    p->z[i] += random_between(random, -s, s), p->vz[i] = (float)random_between(random, -0.3, 0.3);
  }
}

static inline FloMaterialId add_ideal_fluid(FloWorld *world, double density) {
  FloMaterialDef def = flo_default_material_def();
  FloMaterialId id;
  FloError error;
  def.density = density, def.viscosity = def.wall_viscosity = 0, def.friction = -1;
  assert_ok(flo_world_add_material(world, &def, &id, &error), &error);
  return id;
}

// Two fluids beside three boxes, the first two of which touch each other and the floor; the third stands on
// them and leans on a turning wall.
static inline FloWorld *fill_scene(const Scene *scene, const FloWorldDef *def) {
  FloWorld *world = create_world(def);
  FloError failure;
  // The model knows pressure and friction only.
  assert_ok(flo_world_set_param(world, "alpha", 0, &failure), &failure);
  assert_ok(flo_world_set_param(world, "contacts", 1, &failure), &failure); // kernel sums
  if (scene->is_papers) assert_ok(flo_world_set_param(world, "wall_pressure", 0, &failure), &failure);
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

static inline FloWorldDef scene_def(const Scene *scene) {
  FloWorldDef def = small_world_def(scene->dim);
  def.method = "monolithic", def.time_step = 1e-3, def.threads = scene->threads ? scene->threads : 1;
  if (!scene->has_walls) vec_set(def.gravity, 0, 0, 0);
  return def;
}

static inline FloWorld *make_scene(const Scene *scene) {
  FloWorldDef def = scene_def(scene);
  return fill_scene(scene, &def);
}

static inline void set_param(FloWorld *world, const char *name, double value) {
  FloError error;
  assert_ok(flo_world_set_param(world, name, value, &error), &error);
}

// ---- The moment of a step, kept ----

typedef struct Point {
  double x[3], v[3], volume, mass;
  // Of samples:
  uint32_t body;
  int row; // number of the contact, or -1
  int wet; // row of its pressure as a wet sample, or -1
  double covered;
} Point;

typedef struct Model {
  FloWorld *world;
  FloMonolithic *mono;
  ReferenceKernel kernel;
  double dt, rest_volume, rest_sum;
  double correction; // share of a compression that the step takes back
  bool has_wet;
  size_t n_fluid, n_rigid, n_walls;
  Point *fluid, *rigid, *walls; // fluid in the order of the step
  FloNode nodes[MAX_BODIES];    // of the bodies that have one, by the number of the body
  // What brute force makes of the unknowns:
  double (*force)[3]; // on fluid
  double body_force[MAX_BODIES][3], body_torque[MAX_BODIES][3];
  double velocity[MAX_BODIES][3], omega[MAX_BODIES][3];
} Model;

static inline Point *copy_points(const FloParticles *p, bool is_fluid) {
  Point *points = calloc(p->count + 1, sizeof *points);
  for (size_t i = 0; i < p->count; ++i) {
    Point *point = &points[is_fluid ? p->id[i] : i];
    vec_set(point->x, p->x[i], p->y[i], p->z[i]);
    vec_set(point->v, (double)p->vx[i], (double)p->vy[i], (double)p->vz[i]);
    point->row = point->wet = -1;
    if (is_fluid) point->mass = (double)p->mass[i];
    if (is_fluid) continue;
    point->volume = (double)p->volume[i], point->body = p->body[i], point->covered = (double)p->covered[i];
  }
  return points;
}

// The step may have sorted the fluid.
static inline void order_fluid(Model *m) {
  const FloParticles *p = &m->world->sets[FLO_SET_FLUID];
  Point *by_id = m->fluid;
  m->fluid = calloc(p->count + 1, sizeof *m->fluid);
  for (size_t i = 0; i < p->count; ++i) {
    m->fluid[i] = by_id[p->id[i]];
    m->fluid[i].volume = m->rest_volume;
  }
  free(by_id);
}

static inline bool is_dynamic(const Model *m, size_t body) {
  return flo_body_is_pushed(&flo_bodies(m->world)[body]);
}

// Compressions are taken back in this time.
static inline double correction_of(const FloWorld *world) {
  double g = vec_length(world->def.gravity), s = world->def.spacing;
  return 1 -
         exp(-world->def.time_step / (world->params[FLO_MONO_CORRECTION_TIME] * sqrt(s / (g > 0 ? g : 1))));
}

static inline void note_wet(Model *m) {
  for (int k = 0; k < FLO_N_WET; ++k) {
    const FloWet *wet = &m->mono->wet[k];
    Point *samples = wet->set == FLO_SET_RIGID ? m->rigid : m->walls;
    for (size_t row = 0; row < wet->n_rows; ++row)
      samples[wet->samples[row]].wet = (int)(wet->first_row + row);
  }
}

// In a step, walls move by way over time.
static inline void note_ways(Model *m) {
  const FloParticles *p = &m->world->sets[FLO_SET_BOUNDARY];
  for (size_t k = 0; k < m->n_walls; ++k) {
    const double end[3] = {p->x[k], p->y[k], p->z[k]};
    vec_sub(end, m->walls[k].x, m->walls[k].v);
    vec_scale(m->walls[k].v, 1 / m->dt, m->walls[k].v);
  }
}

// Takes one step and goes back, as far as the solver looks, to the moment at which it solved.
static inline Model model_of(FloWorld *world) {
  Model m = {.world = world,
             .mono = world->method_state,
             .kernel = {world->def.kernel, world->def.dim, world->kernel.support},
             .dt = world->def.time_step,
             .rest_volume = pow(world->def.spacing, world->def.dim),
             .n_fluid = world->sets[FLO_SET_FLUID].count,
             .n_rigid = world->sets[FLO_SET_RIGID].count,
             .n_walls = world->sets[FLO_SET_BOUNDARY].count,
             .has_wet = world->params[FLO_MONO_WALL_PRESSURE] != 0,
             .correction = correction_of(world)};
  m.rest_sum = !m.has_wet ? 1 : world->def.dim == 2 ? 0.9976 : 0.996;
  assert_true(world->bodies.count <= MAX_BODIES);
  set_param(world, "max_iterations", 1);
  m.fluid = copy_points(&world->sets[FLO_SET_FLUID], true);
  m.rigid = copy_points(&world->sets[FLO_SET_RIGID], false);
  m.walls = copy_points(&world->sets[FLO_SET_BOUNDARY], false);
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (is_dynamic(&m, k)) m.nodes[k] = *flo_bodies(world)[k].nodes;
  step_world(world, 1);
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (is_dynamic(&m, k)) *flo_bodies(world)[k].nodes = m.nodes[k];
  order_fluid(&m);
  note_ways(&m);
  for (size_t k = 0; k < m.mono->n_contacts; ++k) m.rigid[m.mono->contacts[k].sample].row = (int)k;
  note_wet(&m);
  m.force = calloc(m.n_fluid + 1, sizeof *m.force);
  return m;
}

static inline void model_free(Model *m) {
  free(m->fluid), free(m->rigid), free(m->walls), free(m->force);
  flo_world_destroy(m->world);
}

// ---- Pairs ----

typedef struct Pair {
  double w, g[3];
} Pair;

static inline Pair pair_of(const Model *m, const Point *a, const Point *b) {
  const double period[3] = {0};
  double d[3];
  reference_difference(a->x, b->x, period, d);
  double r = vec_length(d);
  Slope slope = reference_w(&m->kernel, r);
  Pair pair = {.w = slope.value};
  if (r > 0) vec_scale(d, slope.slope / r, pair.g);
  return pair;
}

// All that a sample sees of other bodies: `visit` gets the neighbour and the pair.
typedef void (*Visit)(Model *m, const Point *sample, const Point *other, const Pair *pair, void *context);

static inline void visit_others(Model *m, const Point *sample, Visit visit, void *context) {
  for (size_t k = 0; k < m->n_rigid; ++k) {
    Pair pair = pair_of(m, sample, &m->rigid[k]);
    if (m->rigid[k].body != sample->body && pair.w > 0) visit(m, sample, &m->rigid[k], &pair, context);
  }
  for (size_t k = 0; k < m->n_walls; ++k) {
    Pair pair = pair_of(m, sample, &m->walls[k]);
    if (pair.w > 0) visit(m, sample, &m->walls[k], &pair, context);
  }
}

// Rigid samples, then those of walls.
static inline const Point *sample_at(const Model *m, size_t k) {
  return k < m->n_rigid ? &m->rigid[k] : &m->walls[k - m->n_rigid];
}

// ---- (3.13), (3.15), (3.22): forces ----

static inline double pressure_of(const Model *m, const Point *sample) {
  return sample->row < 0 ? 0 : (double)m->mono->contacts[sample->row].pressure;
}

static inline void push_body_at(Model *m, uint32_t body, const double at[3], const double force[3]) {
  double arm[3], torque[3];
  if (!is_dynamic(m, body)) return;
  vec_sub(at, m->nodes[body].position, arm);
  vec_cross(arm, force, torque);
  vec_add(m->body_force[body], force, m->body_force[body]);
  vec_add(m->body_torque[body], torque, m->body_torque[body]);
}

// V_b p_b, which is V0 q_b.
static inline double wet_push_of(const Model *m, const Point *sample) {
  return sample->wet < 0 ? 0 : m->rest_volume * (double)m->mono->pressure[sample->wet];
}

static inline void push_fluid(Model *m, size_t i) {
  double p = (double)m->mono->pressure[i], force[3], v = m->rest_volume;
  vec_set(m->force[i], 0, 0, 0);
  for (size_t j = 0; j < m->n_fluid; ++j) {
    Pair pair = pair_of(m, &m->fluid[i], &m->fluid[j]);
    vec_add_scaled(m->force[i], pair.g, -v * v * (p + (double)m->mono->pressure[j]), m->force[i]);
  }
  for (size_t k = 0; k < m->n_rigid + m->n_walls; ++k) {
    const Point *sample = sample_at(m, k);
    Pair pair = pair_of(m, &m->fluid[i], sample);
    vec_scale(pair.g, v * (sample->volume * p + wet_push_of(m, sample)), force);
    vec_sub(m->force[i], force, m->force[i]);
    push_body_at(m, sample->body, sample->x, force);
  }
}

static inline void add_weight(Model *m, const Point *sample, const Point *other, const Pair *pair,
                              void *context) {
  (void)m, (void)sample;
  *(double *)context += other->volume * pair->w;
}

// A sample's own pressure and friction, mirrored onto the neighbour.
static inline void push_pair(Model *m, const Point *sample, const Point *other, const Pair *pair,
                             void *context) {
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

static inline void compute_forces(Model *m) {
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

// Films under bodies push like gravity, before the pressures; their forces are taken from the step.
static inline void compute_body_velocities(Model *m) {
  for (size_t k = 0; k < m->world->bodies.count; ++k) {
    const FloNode *node = &m->nodes[k];
    double spin[3], torque[3];
    if (!is_dynamic(m, k)) continue;
    const FloPartner *film = &m->mono->partners[flo_bodies(m->world)[k].first_node];
    vec_add(m->body_torque[k], film->turn_drag, torque);
    mat_apply(node->inverse_inertia, torque, spin);
    for (int axis = 0; axis < 3; ++axis) {
      double gravity = node->locks[axis] ? 0 : m->world->def.gravity[axis];
      double force = m->body_force[k][axis] + film->drag[axis];
      m->velocity[k][axis] = node->velocity[axis] + m->dt * (gravity + node->inverse_mass[axis] * force);
      m->omega[k][axis] = node->angular_velocity[axis] + m->dt * spin[axis];
    }
  }
}

static inline void velocity_at(const Model *m, const Point *sample, const double at[3], double v[3]) {
  double arm[3];
  vec_copy(sample->v, v);
  if (!is_dynamic(m, sample->body)) return;
  vec_sub(at, m->nodes[sample->body].position, arm);
  vec_cross(m->omega[sample->body], arm, v);
  vec_add(v, m->velocity[sample->body], v);
}

static inline void fluid_velocity(const Model *m, size_t i, double v[3]) {
  for (int axis = 0; axis < 3; ++axis)
    v[axis] =
        m->fluid[i].v[axis] + m->dt * (m->world->def.gravity[axis] + m->force[i][axis] / m->fluid[i].mass);
}

// ---- (3.14), (3.10), (3.21): errors and slip ----

// What the step makes of a volume error at its start: compressions are taken back over several steps.
static inline double corrected(const Model *m, double error) {
  return error < 0 ? m->correction * error : error;
}

static inline double fluid_error(const Model *m, size_t i) {
  double v[3], other[3], between[3], share = 0, rate = 0;
  fluid_velocity(m, i, v);
  for (size_t j = 0; j < m->n_fluid; ++j) {
    Pair pair = pair_of(m, &m->fluid[i], &m->fluid[j]); // with itself, whose gradient is zero
    fluid_velocity(m, j, other);
    vec_sub(v, other, between);
    share += m->rest_volume * pair.w, rate += m->rest_volume * vec_dot(between, pair.g);
  }
  for (size_t k = 0; k < m->n_rigid + m->n_walls; ++k) {
    const Point *sample = sample_at(m, k);
    Pair pair = pair_of(m, &m->fluid[i], sample);
    velocity_at(m, sample, sample->x, other);
    vec_sub(v, other, between);
    share += sample->volume * pair.w, rate += sample->volume * vec_dot(between, pair.g);
  }
  return corrected(m, 1 - share / m->rest_sum) - m->dt * rate;
}

// What a sample sees of fluid, and the part of its kernel that no solid covers.
typedef struct WetSums {
  double fluid, room;
} WetSums;

static inline WetSums wet_sums(const Model *m, const Point *sample) {
  WetSums sums = {.room = 1 - sample->covered};
  for (size_t j = 0; j < m->n_fluid; ++j) sums.fluid += pair_of(m, sample, &m->fluid[j]).w;
  for (size_t k = 0; k < m->n_rigid + m->n_walls; ++k) {
    const Point *other = sample_at(m, k);
    if (other->body != sample->body) sums.room -= other->volume * pair_of(m, sample, other).w;
  }
  return sums;
}

static inline double wet_error(const Model *m, const Point *sample) {
  const WetSums sums = wet_sums(m, sample);
  double mine[3], theirs[3], between[3], rate = 0;
  velocity_at(m, sample, sample->x, mine);
  for (size_t j = 0; j < m->n_fluid; ++j) {
    Pair pair = pair_of(m, sample, &m->fluid[j]);
    fluid_velocity(m, j, theirs);
    vec_sub(mine, theirs, between);
    rate += m->rest_volume * vec_dot(between, pair.g);
  }
  return corrected(m, sums.room - m->rest_volume * sums.fluid / m->rest_sum) - m->dt * rate;
}

// The motion of a wall that turns, as a contact of a body sees it at a point: the chord of the wall's motion
// in the step at the position of the body, and the wall's spin about that position.
static inline void turn_wall(const Model *m, const Point *sample, const Point *other, const double at[3],
                             double v[3]) {
  const FloLead *lead = &flo_bodies(m->world)[other->body].lead;
  const double *centre = m->nodes[sample->body].position;
  double arm[3], turned[3], turning[3];
  if (!flo_body_is_led(&flo_bodies(m->world)[other->body])) return;
  vec_sub(other->x, centre, arm);
  quat_rotate(lead->turn, arm, turned);
  vec_sub(turned, arm, turned);
  vec_add_scaled(v, turned, -1 / m->dt, v);
  vec_sub(at, centre, arm);
  vec_cross(lead->spin, arm, turning);
  vec_add(v, turning, v);
}

typedef struct ContactSums {
  double sum, rate, steep[3], slip[3], friction;
} ContactSums;

static inline void add_contact_pair(Model *m, const Point *sample, const Point *other, const Pair *pair,
                                    void *context) {
  ContactSums *sums = context;
  double mine[3], theirs[3], middle[3], between[3], weight = other->volume * pair->w;
  velocity_at(m, sample, sample->x, mine);
  velocity_at(m, other, other->x, theirs);
  turn_wall(m, sample, other, other->x, theirs);
  vec_sub(mine, theirs, between);
  sums->sum += weight, sums->rate += other->volume * vec_dot(between, pair->g);
  vec_add_scaled(sums->steep, pair->g, other->volume, sums->steep);
  vec_add(sample->x, other->x, middle);
  vec_scale(middle, 0.5, middle);
  velocity_at(m, sample, middle, mine);
  velocity_at(m, other, middle, theirs); // walls that do not turn: that of the sample itself
  turn_wall(m, sample, other, middle, theirs);
  vec_sub(mine, theirs, between);
  vec_add_scaled(sums->slip, between, weight, sums->slip);
  sums->friction += weight * 0.5; // what counts where no body has a coefficient
}

// What one spacing between two half spaces of lattice points leaves of the kernel.
static inline double touching_sum(const Model *m) {
  double s = m->world->def.spacing, sum = 0;
  for (int k = 1; k <= 3; ++k)
    for (int j = -3; j <= 3; ++j)
      for (int i = -3; i <= 3; ++i)
        if (m->kernel.dim == 3 || j == 0)
          sum += reference_w(&m->kernel, s * sqrt(i * i + j * j + k * k)).value;
  return sum * m->rest_volume;
}

// Overlaps ask for a fifth of themselves a step, and no more than the speed of separation, or its share where
// they are shallow.
static inline double gap_of(const Model *m, double error, double steepness) {
  double g = fmax(vec_length(m->world->def.gravity), 1), s = m->world->def.spacing;
  double speed = 0.5 * sqrt(g * s) * fmin(fabs(error) / steepness / s, 1);
  return error >= 0 ? error : -fmin(-0.2 * error, m->dt * steepness * speed);
}

typedef struct ExactContact {
  double error, velocity[3], normal[3], cone;
} ExactContact;

static inline ExactContact exact_contact(Model *m, const Point *sample) {
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

static inline void clear_unknowns(Model *m) {
  memset(m->mono->pressure, 0, m->mono->n_pressures * sizeof(float));
  for (size_t k = 0; k < m->mono->n_contacts; ++k) {
    FloContact *c = &m->mono->contacts[k];
    c->pressure = c->friction[0] = c->friction[1] = c->friction[2] = 0;
  }
}

// As large as would move volumes and velocities noticeably.
static inline void invent_unknowns(Model *m, Random *random) {
  for (size_t i = 0; i < m->mono->n_pressures; ++i)
    m->mono->pressure[i] = (float)random_between(random, 0, 500);
  for (size_t k = 0; k < m->mono->n_contacts; ++k) {
    FloContact *c = &m->mono->contacts[k];
    c->pressure = (float)random_between(random, 0, 5000);
    for (int axis = 0; axis < m->world->def.dim; ++axis)
      c->friction[axis] =
          (float)(random_between(random, -2e3, 2e3) * (double)c->volume / m->world->def.spacing);
  }
}

static inline void run(Model *m) {
  flo_monolithic_apply(m->world, m->mono);
  flo_monolithic_evaluate(m->world, m->mono);
}

#endif
