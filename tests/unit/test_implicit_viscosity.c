// Implicit viscosity: its operator is symmetric and positive, and a step solves what brute force in double
// precision says, for fluid, walls and bodies together.
#include "base/vecmath.h"
#include "coupling/forces/implicit_viscosity.h"
#include "support/dense.h"
#include "support/nodes.h"
#include "support/random.h"
#include "support/reference.h"
#include "support/worlds.h"

#define DT 2e-3

// ---- Worlds ----

typedef struct Moment {
  FloWorld *world;
  FloImplicitViscosity viscosity;
  float *velocity, *force, *walls; // quadruples
  float *zeros;                    // one for each sample
} Moment;

static FloMaterialId add_honey(FloWorld *world, double density, double viscosity, double wall_viscosity) {
  FloMaterialDef def = flo_default_material_def();
  FloMaterialId id;
  FloError error;
  def.density = density, def.viscosity = viscosity, def.wall_viscosity = wall_viscosity;
  assert_ok(flo_world_add_material(world, &def, &id, &error), &error);
  return id;
}

static void add_floor(FloWorld *world, int dim, double s) {
  FloMotionDef motion = flo_default_motion_def();
  motion.vector[0] = 0.4;
  bool is_flat = dim == 2;
  add_moving_box(world, is_flat ? box_shape(14 * s, 3 * s, 0) : box_shape(9 * s, 6 * s, 3 * s),
                 is_flat ? pose_at(0, -1.5 * s, 0) : pose_at(0, 0, -1.5 * s), &motion);
}

static void add_raft(FloWorld *world, int dim, double s, bool is_locked) {
  FloBodyDef def = flo_default_body_def();
  bool is_flat = dim == 2;
  def.kind = FLO_BODY_DYNAMIC, def.density = 60;
  def.shape = is_flat ? box_shape(3 * s, 2 * s, 0) : box_shape(3 * s, 3 * s, 2 * s);
  def.pose = is_flat ? pose_at(s, 5.1 * s, 0) : pose_at(s, 0, 5.1 * s);
  def.velocity[0] = 0.3, def.velocity[1] = -0.2, def.angular_velocity[2] = 2;
  if (!is_flat) def.angular_velocity[0] = -1.5, def.velocity[2] = 0.1;
  def.locks[1] = def.turn_locks[2] = is_locked;
  add_body(world, &def);
}

// Two fluids of very different viscosity under a light body, perhaps on a floor that moves.
static FloWorld *make_pool(int dim, uint64_t seed, bool has_floor, bool is_locked, int threads) {
  FloWorldDef def = small_world_def(dim);
  def.method = "monolithic", def.threads = threads;
  FloWorld *world = create_world(&def);
  double s = def.spacing;
  bool is_flat = dim == 2;
  Random random = {seed};
  const double low[3] = {-5 * s, is_flat ? 0 : -2 * s, 0},
               middle[3] = {0, is_flat ? 4 * s : 2 * s, is_flat ? 0 : 4 * s}, corner[3] = {0, low[1], 0},
               high[3] = {4 * s, middle[1], middle[2]};
  if (has_floor) add_floor(world, dim, s);
  add_raft(world, dim, s, is_locked);
  add_block(world, add_honey(world, 1400, 3, -1), low, middle);
  add_block(world, add_honey(world, 900, 0.2, 1), corner, high);
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  for (size_t i = 0; i < p->count; ++i) {
    p->x[i] += random_between(&random, -0.2, 0.2) * s, p->y[i] += random_between(&random, -0.2, 0.2) * s;
    p->vx[i] = (float)random_between(&random, -1, 1), p->vy[i] = (float)random_between(&random, -1, 1);
    if (is_flat) continue;
    p->z[i] += random_between(&random, -0.2, 0.2) * s, p->vz[i] = (float)random_between(&random, -1, 1);
  }
  return world;
}

static float *quads_of(const FloParticles *p, double rest_volume) {
  float *quads = calloc(4 * (p->count + FLO_BLOCK), sizeof *quads);
  for (size_t i = 0; i < p->count; ++i) {
    quads[4 * i] = p->vx[i], quads[4 * i + 1] = p->vy[i], quads[4 * i + 2] = p->vz[i];
    if (p->volume) quads[4 * i + 3] = p->volume[i] / (float)rest_volume;
  }
  return quads;
}

static size_t most_samples(const FloWorld *world) {
  size_t most = 0;
  for (int set = 0; set < FLO_SET_COUNT; ++set) most = flo_max_size(most, world->sets[set].count);
  return most;
}

static Moment moment_of(FloWorld *world) {
  FloError error;
  Moment m = {.world = world, .viscosity = {.tolerance = 1e-6, .max_iterations = 1000}};
  flo_world_finish_bodies(world);
  for (size_t k = 0; k < world->bodies.count; ++k) flo_world_place_samples(world, &flo_bodies(world)[k]);
  assert_ok(flo_world_list_neighbours(world, 0, &error), &error);
  m.velocity = quads_of(&world->sets[FLO_SET_FLUID], 1);
  m.walls = quads_of(&world->sets[FLO_SET_BOUNDARY], flo_world_rest_volume(world));
  m.force = calloc(4 * (world->sets[FLO_SET_FLUID].count + FLO_BLOCK), sizeof(float));
  m.zeros = calloc(most_samples(world) + FLO_BLOCK, sizeof(float));
  return m;
}

static void moment_free(Moment *m) {
  free(m->velocity), free(m->force), free(m->walls), free(m->zeros);
  flo_implicit_viscosity_free(&m->viscosity, &m->world->memory);
  flo_world_destroy(m->world);
}

static void step_moment(Moment *m) {
  FloError error;
  assert_ok(flo_implicit_viscosity_step(&m->viscosity, m->world, DT, NULL, m->velocity, m->force, m->walls,
                                        m->zeros, &error),
            &error);
}

// ---- The operator ----

static void randomise_way(Moment *m, Random *random) {
  FloImplicitViscosity *v = &m->viscosity;
  int dim = m->world->def.dim;
  for (size_t i = 0; i < v->n_fluid; ++i)
    for (int axis = 0; axis < 4; ++axis)
      v->way[4 * i + (size_t)axis] = axis < dim ? (float)random_between(random, -1, 1) : 0;
  for (size_t k = 0; k < v->n_nodes; ++k) {
    const FloNode *node = flo_node_at(m->world, k);
    double *momentum = v->node_momentum + 6 * k, *way = v->node_way + 6 * k;
    for (int row = 0; row < 6; ++row) momentum[row] = random_between(random, -1, 1) * node->mass * 0.05;
    mat_apply(node->inverse_inertia, momentum + 3, way + 3);
    for (int axis = 0; axis < 3; ++axis) way[axis] = node->inverse_mass[axis] * momentum[axis];
  }
}

typedef struct Copy {
  float *fluid;
  double *nodes;
} Copy;

static Copy copy_of(const float *fluid, size_t n_fluid, const double *nodes, size_t n_nodes) {
  Copy copy = {malloc(16 * n_fluid + 1), malloc(48 * n_nodes + 1)};
  memcpy(copy.fluid, fluid, 16 * n_fluid);
  if (n_nodes) memcpy(copy.nodes, nodes, 48 * n_nodes);
  return copy;
}

static double dot(const FloImplicitViscosity *v, const float *a, const float *b, const double *c,
                  const double *d) {
  double sum = 0;
  for (size_t k = 0; k < 4 * v->n_fluid; ++k) sum += (double)a[k] * (double)b[k];
  for (size_t k = 0; k < 6 * v->n_nodes; ++k) sum += c[k] * d[k];
  return sum;
}

static double mass_square(const Moment *m) {
  const FloImplicitViscosity *v = &m->viscosity;
  double sum = 0;
  for (size_t k = 0; k < 4 * v->n_fluid; ++k)
    sum += (double)m->world->sets[FLO_SET_FLUID].mass[k / 4] * pow((double)v->way[k], 2);
  for (size_t k = 0; k < 6 * v->n_nodes; ++k) sum += v->node_way[k] * v->node_momentum[k];
  return sum;
}

static void check_operator(int dim, uint64_t seed) {
  FloError error;
  Moment m = moment_of(make_pool(dim, seed, seed % 2, false, 1));
  FloImplicitViscosity *v = &m.viscosity;
  Random random = {seed + 100};
  assert_ok(flo_implicit_viscosity_prepare(v, m.world, DT, m.velocity, m.walls, m.zeros, &error), &error);
  randomise_way(&m, &random);
  flo_implicit_viscosity_apply(v, m.world);
  double square = dot(v, v->way, v->image, v->node_way, v->node_image);
  // Viscosity never drives.
  assert_true(square > mass_square(&m) && mass_square(&m) > 0);
  Copy way = copy_of(v->way, v->n_fluid, v->node_way, v->n_nodes),
       image = copy_of(v->image, v->n_fluid, v->node_image, v->n_nodes);
  randomise_way(&m, &random);
  flo_implicit_viscosity_apply(v, m.world);
  double one = dot(v, way.fluid, v->image, way.nodes, v->node_image),
         other = dot(v, v->way, image.fluid, v->node_way, image.nodes);
  assert_close(one, other, 2e-6 * square);
  free(way.fluid), free(way.nodes), free(image.fluid), free(image.nodes);
  moment_free(&m);
}

static void test_operator_is_symmetric_and_positive(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 8; ++seed) check_operator(2 + (int)(seed / 2 % 2), seed);
}

// ---- Brute force ----

enum { MAX_UNKNOWNS = 600 };

typedef struct Dense {
  size_t n;
  double a[MAX_UNKNOWNS][MAX_UNKNOWNS], b[MAX_UNKNOWNS];
} Dense;

// Adds dt c (x.u - wall) x for the sparse vector x of one pair.
static void add_pair(Dense *dense, const size_t *columns, const double *x, size_t n, double scale,
                     double wall) {
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < n; ++k) dense->a[columns[i]][columns[k]] += scale * x[i] * x[k];
    dense->b[columns[i]] += scale * x[i] * wall;
  }
}

typedef struct Pair {
  double g[3], factor; // gradient, and 1/(-F l^2)
} Pair;

static Pair pair_of(const FloWorld *world, const FloParticles *p, size_t i, const FloParticles *q, size_t j) {
  ReferenceKernel kernel = {world->def.kernel, world->def.dim, world->kernel.support};
  double d[3] = {p->x[i] - q->x[j], p->y[i] - q->y[j], p->z[i] - q->z[j]}, r = vec_length(d);
  Pair pair = {{0}, 0};
  if (r >= kernel.support) return pair;
  double f = reference_w(&kernel, r).slope / r;
  if (f == 0) return pair;
  vec_scale(d, f, pair.g);
  pair.factor = -1 / (f * pow(world->kernel.viscous_length, 2));
  return pair;
}

static double laminar(const FloWorld *world, size_t i, bool is_wall) {
  const FloMaterial *m = &flo_materials(world)[world->sets[FLO_SET_FLUID].material[i]];
  return 2 * (world->def.dim + 2) * m->density *
         (is_wall ? world->wall_drag * m->wall_viscosity : m->viscosity) *
         pow(flo_world_rest_volume(world), 2);
}

static void add_fluid(Dense *dense, const Moment *m) {
  const FloParticles *p = &m->world->sets[FLO_SET_FLUID];
  size_t dim = (size_t)m->world->def.dim;
  for (size_t i = 0; i < p->count; ++i) {
    for (size_t axis = 0; axis < dim; ++axis) {
      dense->a[dim * i + axis][dim * i + axis] += (double)p->mass[i];
      dense->b[dim * i + axis] += (double)p->mass[i] * (double)m->velocity[4 * i + axis];
    }
    for (size_t j = 0; j < i; ++j) {
      Pair pair = pair_of(m->world, p, i, p, j);
      size_t columns[6];
      double x[6], a = laminar(m->world, i, false), b = laminar(m->world, j, false), c = 2 * a * b / (a + b);
      for (size_t axis = 0; axis < dim; ++axis) {
        columns[axis] = dim * i + axis, columns[dim + axis] = dim * j + axis;
        x[axis] = pair.g[axis], x[dim + axis] = -pair.g[axis];
      }
      add_pair(dense, columns, x, 2 * dim, DT * c * pair.factor, 0);
    }
  }
}

static void add_walls(Dense *dense, const Moment *m) {
  const FloParticles *p = &m->world->sets[FLO_SET_FLUID], *b = &m->world->sets[FLO_SET_BOUNDARY];
  size_t dim = (size_t)m->world->def.dim;
  for (size_t i = 0; i < p->count; ++i)
    for (size_t j = 0; j < b->count; ++j) {
      Pair pair = pair_of(m->world, p, i, b, j);
      size_t columns[3] = {dim * i, dim * i + 1, dim * i + 2};
      double v[3] = {(double)b->vx[j], (double)b->vy[j], (double)b->vz[j]};
      double c = laminar(m->world, i, true) * (double)b->volume[j] / flo_world_rest_volume(m->world);
      add_pair(dense, columns, pair.g, dim, DT * c * pair.factor, vec_dot(v, pair.g));
    }
}

// The body's velocities follow the fluid's: two or three, then one or three of rotation.
static void add_raft_pairs(Dense *dense, const Moment *m, const FloBody *body) {
  const FloParticles *p = &m->world->sets[FLO_SET_FLUID], *r = &m->world->sets[FLO_SET_RIGID];
  size_t dim = (size_t)m->world->def.dim, first = dim * p->count, n_turns = dim == 2 ? 1 : 3;
  for (size_t i = 0; i < p->count; ++i)
    for (size_t j = 0; j < r->count; ++j) {
      Pair pair = pair_of(m->world, p, i, r, j);
      double x[9], at[3] = {r->x[j], r->y[j], r->z[j]}, arm[3], turn[3];
      size_t columns[9];
      vec_sub(at, body->nodes->position, arm);
      vec_cross(arm, pair.g, turn);
      for (size_t axis = 0; axis < dim; ++axis) {
        columns[axis] = dim * i + axis, columns[dim + axis] = first + axis;
        x[axis] = pair.g[axis], x[dim + axis] = -pair.g[axis];
      }
      for (size_t k = 0; k < n_turns; ++k) {
        columns[2 * dim + k] = first + dim + k;
        x[2 * dim + k] = -turn[3 - n_turns + k];
      }
      double c = laminar(m->world, i, true) * (double)r->volume[j] / flo_world_rest_volume(m->world);
      add_pair(dense, columns, x, 2 * dim + n_turns, DT * c * pair.factor, 0);
    }
}

static void add_raft_mass(Dense *dense, const Moment *m, const FloBody *body) {
  size_t dim = (size_t)m->world->def.dim, first = dim * m->world->sets[FLO_SET_FLUID].count;
  size_t n_turns = dim == 2 ? 1 : 3, skip = 3 - n_turns;
  const FloNode *node = body->nodes;
  double spin[3];
  for (size_t axis = 0; axis < dim; ++axis) {
    dense->a[first + axis][first + axis] += node->mass;
    dense->b[first + axis] += node->mass * node->velocity[axis];
  }
  angular_momentum_of(node, spin);
  for (size_t i = 0; i < n_turns; ++i) {
    dense->b[first + dim + i] += spin[skip + i];
    for (size_t k = 0; k < n_turns; ++k)
      dense->a[first + dim + i][first + dim + k] += node->inertia[3 * (skip + i) + skip + k];
  }
}

static void check_step(int dim, uint64_t seed) {
  Moment m = moment_of(make_pool(dim, seed, true, false, 1));
  const FloBody *raft = &flo_bodies(m.world)[1];
  size_t n = m.world->sets[FLO_SET_FLUID].count, d = (size_t)dim;
  Dense *dense = calloc(1, sizeof *dense);
  dense->n = d * n + (dim == 2 ? 3 : 6);
  assert_true(dense->n <= MAX_UNKNOWNS);
  add_fluid(dense, &m), add_walls(dense, &m);
  add_raft_pairs(dense, &m, raft), add_raft_mass(dense, &m, raft);
  solve_by_elimination(dense->n, sizeof dense->a[0] / sizeof dense->a[0][0], &dense->a[0][0], dense->b);
  step_moment(&m);
  assert_true(m.viscosity.iterations > 5 && m.viscosity.iterations < 1000);
  for (size_t i = 0; i < n; ++i)
    for (size_t axis = 0; axis < d; ++axis)
      assert_close(m.velocity[4 * i + axis], dense->b[d * i + axis], 1e-4);
  for (size_t axis = 0; axis < d; ++axis)
    assert_close(raft->nodes->velocity[axis], dense->b[d * n + axis], 1e-4);
  for (size_t k = 0; k < dense->n - d * n - d; ++k)
    assert_close(raft->nodes->angular_velocity[dim == 2 ? 2 : k], dense->b[d * n + d + k], 1e-3);
  free(dense);
  moment_free(&m);
}

static void test_a_step_is_what_brute_force_says(void **state) {
  (void)state;
  check_step(2, 5), check_step(2, 6), check_step(3, 7);
}

// ---- Momenta ----

typedef struct Momenta {
  double linear[3], angular[3], size, turn_size;
} Momenta;

static Momenta momenta_of(const Moment *m) {
  const FloParticles *p = &m->world->sets[FLO_SET_FLUID];
  Momenta sum = {0};
  for (size_t i = 0; i < p->count; ++i) {
    double x[3] = {p->x[i], p->y[i], p->z[i]}, momentum[3], turn[3];
    for (size_t axis = 0; axis < 3; ++axis)
      momentum[axis] = (double)p->mass[i] * (double)m->velocity[4 * i + axis];
    vec_cross(x, momentum, turn);
    vec_add(sum.linear, momentum, sum.linear);
    vec_add(sum.angular, turn, sum.angular);
    sum.size += vec_length(momentum), sum.turn_size += vec_length(turn);
  }
  for (size_t k = 0; k < m->world->bodies.count; ++k) {
    const FloNode *node = flo_bodies(m->world)[k].nodes;
    double momentum[3], turn[3], spin[3];
    if (!flo_body_is_pushed(&flo_bodies(m->world)[k])) continue;
    vec_scale(node->velocity, node->mass, momentum);
    vec_cross(node->position, momentum, turn);
    angular_momentum_of(node, spin);
    vec_add(sum.linear, momentum, sum.linear);
    vec_add(sum.angular, turn, sum.angular);
    vec_add(sum.angular, spin, sum.angular);
  }
  return sum;
}

// However early the iteration ends.
static void test_momenta_are_conserved(void **state) {
  (void)state;
  const int most[] = {1, 3, 1000};
  for (size_t k = 0; k < FLO_COUNT_OF(most); ++k)
    for (int dim = 2; dim <= 3; ++dim) {
      Moment m = moment_of(make_pool(dim, 40 + k, false, false, 2));
      Momenta before = momenta_of(&m);
      m.viscosity.max_iterations = most[k];
      step_moment(&m);
      Momenta after = momenta_of(&m);
      assert_close_3(after.linear, before.linear, 4e-6 * before.size);
      assert_close_3(after.angular, before.angular, 4e-6 * before.turn_size);
      moment_free(&m);
    }
}

static void test_energy_only_falls(void **state) {
  (void)state;
  Moment m = moment_of(make_pool(3, 3, false, false, 1));
  const FloParticles *p = &m.world->sets[FLO_SET_FLUID];
  double before = 0, after = 0;
  for (size_t k = 0; k < 4 * p->count; ++k) before += (double)p->mass[k / 4] * pow((double)m.velocity[k], 2);
  step_moment(&m);
  for (size_t k = 0; k < 4 * p->count; ++k) after += (double)p->mass[k / 4] * pow((double)m.velocity[k], 2);
  // Random velocities are gone within a step that long.
  assert_true(after < 0.2 * before);
  moment_free(&m);
}

// ---- What does not move ----

static void test_locked_axes_stay_locked(void **state) {
  (void)state;
  Moment m = moment_of(make_pool(3, 9, true, true, 1));
  const FloBody *raft = &flo_bodies(m.world)[1];
  double along = raft->nodes->velocity[1], spin = raft->nodes->angular_velocity[2],
         free_before = raft->nodes->velocity[0];
  step_moment(&m);
  assert_true(raft->nodes->velocity[1] == along && raft->nodes->angular_velocity[2] == spin);
  assert_true(raft->nodes->velocity[0] != free_before);
  // The fluid pushes nevertheless, and says so.
  const double *wrench = m.viscosity.bodies.wrenches + 6 * raft->first_node;
  assert_true(wrench[1] != 0 && wrench[5] != 0);
  moment_free(&m);
}

static void test_guided_particles_keep_their_velocity(void **state) {
  (void)state;
  Moment m = moment_of(make_pool(2, 11, true, false, 1));
  FloParticles *p = &m.world->sets[FLO_SET_FLUID];
  p->held[3] = 1;
  float before[3] = {m.velocity[12], m.velocity[13], m.velocity[14]};
  step_moment(&m);
  assert_memory_equal(before, m.velocity + 12, sizeof before);
  for (size_t k = 12; k < 16; ++k) assert_true(m.force[k] == 0);
  moment_free(&m);
}

// Fluid, body and floor that move as one have nothing to rub.
static void test_rigid_motion_is_left_alone(void **state) {
  (void)state;
  Moment m = moment_of(make_pool(3, 13, false, false, 1));
  const FloParticles *p = &m.world->sets[FLO_SET_FLUID];
  FloBody *raft = &flo_bodies(m.world)[0];
  const double omega[3] = {1, -2, 3}, drift[3] = {5, 0, -4};
  for (size_t i = 0; i < p->count; ++i) {
    double x[3] = {p->x[i], p->y[i], p->z[i]}, v[3];
    vec_cross(omega, x, v);
    vec_add(v, drift, v);
    for (size_t axis = 0; axis < 3; ++axis) m.velocity[4 * i + axis] = (float)v[axis];
  }
  double along[3];
  vec_cross(omega, raft->nodes->position, along);
  vec_add(along, drift, along);
  set_motion(raft, along, omega);
  float *before = malloc(16 * p->count);
  memcpy(before, m.velocity, 16 * p->count);
  step_moment(&m);
  for (size_t k = 0; k < 4 * p->count; ++k) assert_close(m.velocity[k], before[k], 5e-6);
  assert_true(m.viscosity.iterations < 30);
  free(before);
  moment_free(&m);
}

static void test_no_fluid_and_no_viscosity(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(2);
  def.method = "monolithic";
  FloWorld *world = create_world(&def);
  assert_false(flo_implicit_viscosity_is_needed(world, FLO_VISCOSITY_IMPLICIT, 1));
  const double low[3] = {0}, high[3] = {0.1, 0.1, 0};
  add_block(world, add_honey(world, 1000, 0, 0), low, high);
  assert_false(flo_implicit_viscosity_is_needed(world, FLO_VISCOSITY_AUTOMATIC, 1));
  Moment m = moment_of(world);
  step_moment(&m);
  assert_int_equal(m.viscosity.iterations, 0);
  for (size_t k = 0; k < 4 * world->sets[FLO_SET_FLUID].count; ++k) assert_true(m.force[k] == 0);
  moment_free(&m);
}

// ---- When it acts ----

static void test_it_is_chosen_by_the_time_step(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(2);
  def.method = "monolithic";
  FloWorld *world = create_world(&def);
  const double low[3] = {0}, high[3] = {0.1, 0.1, 0};
  add_block(world, add_honey(world, 1000, 0.1, -1), low, high);
  // Solids are half of the neighbours of fluid next to them, and drag it twice as much as fluid does.
  double limit = 0.125 * def.spacing * def.spacing / (0.1 * (1 + world->wall_drag) / 2);
  assert_close(world->wall_drag, 2, 0.02);
  assert_false(flo_implicit_viscosity_is_needed(world, FLO_VISCOSITY_AUTOMATIC, 0.99 * limit));
  assert_true(flo_implicit_viscosity_is_needed(world, FLO_VISCOSITY_AUTOMATIC, 1.01 * limit));
  assert_false(flo_implicit_viscosity_is_needed(world, FLO_VISCOSITY_EXPLICIT, 1.01 * limit));
  assert_true(flo_implicit_viscosity_is_needed(world, FLO_VISCOSITY_IMPLICIT, 0.99 * limit));
  assert_close(flo_implicit_viscosity_max_dt(world, FLO_VISCOSITY_EXPLICIT), limit, 1e-12);
  assert_true(isinf(flo_implicit_viscosity_max_dt(world, FLO_VISCOSITY_AUTOMATIC)));
  flo_world_destroy(world);
}

static uint64_t hash_of_run(int dim, int threads) {
  FloWorld *world = make_pool(dim, 21, true, false, threads);
  step_world(world, 40);
  uint64_t hash = flo_world_hash(world);
  flo_world_destroy(world);
  return hash;
}

static void test_same_bits_for_any_number_of_threads(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    uint64_t one = hash_of_run(dim, 1);
    assert_true(hash_of_run(dim, 2) == one && hash_of_run(dim, 3) == one);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_operator_is_symmetric_and_positive),
      cmocka_unit_test(test_a_step_is_what_brute_force_says),
      cmocka_unit_test(test_momenta_are_conserved),
      cmocka_unit_test(test_energy_only_falls),
      cmocka_unit_test(test_locked_axes_stay_locked),
      cmocka_unit_test(test_guided_particles_keep_their_velocity),
      cmocka_unit_test(test_rigid_motion_is_left_alone),
      cmocka_unit_test(test_no_fluid_and_no_viscosity),
      cmocka_unit_test(test_it_is_chosen_by_the_time_step),
      cmocka_unit_test(test_same_bits_for_any_number_of_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
