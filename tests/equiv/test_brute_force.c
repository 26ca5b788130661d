// One evaluation of the forces of `wcsph` against brute force in double precision: the formulas at the head
// of wcsph.c over all pairs, in fluid on a disordered lattice between a tank and a moving body.
#include "base/pose.h"
#include "geometry/shapes.h"
#include "sph/kernel_form.h"
#include "state/state.h"
#include "support/random.h"
#include "support/reference.h"
#include "support/worlds.h"

// ---- The formulas ----

typedef struct Numbers {
  ReferenceKernel kernel;
  double period[3];
  double rest_volume, sound_speed, alpha, gamma, damping, spacing;
  double viscous_length, wall_drag;
  double last_dt;              // 0 before the second step: no earlier density to compare with
  double packing, compression; // see weakly_compressible.h
} Numbers;

typedef struct Fluid {
  double x[3], v[3], mass, rest, viscosity, wall_viscosity;
  double earlier, density, pressure, pv2; // pv2 is p V^2
  double noise; // the part of pv2 that single precision may get wrong, per unit of rounding
  double f[3], tolerance;
  double virial; // of pressures: sum of x_ij . f_ij
} Fluid;

typedef struct Sample {
  double x[3], v[3], volume, covered;
  uint32_t body;
  double pv2, noise; // for a fluid of density 1
  double f[3], tolerance;
} Sample;

typedef struct Model {
  Numbers numbers;
  Fluid *fluid;
  Sample *samples;
  size_t n_fluid, n_samples;
} Model;

// A unit of single precision times what sums of some thirty terms lose.
#define ROUNDING 1e-6

static double w_between(const Numbers *k, const double a[3], const double b[3]) {
  double d[3];
  reference_difference(a, b, k->period, d);
  return reference_w(&k->kernel, vec_length(d)).value;
}

static double tait(const Numbers *k, double rest, double ratio) {
  return rest * k->sound_speed * k->sound_speed / k->gamma * (pow(ratio, k->gamma) - 1);
}

// How much p moves for a relative error of the density.
static double stiffness(const Numbers *k, double rest, double ratio) {
  double damped = k->last_dt > 0 ? k->damping * k->spacing * k->sound_speed * rest * ratio / k->last_dt : 0;
  return rest * k->sound_speed * k->sound_speed * pow(ratio, k->gamma) + damped;
}

static void compute_pressure(const Model *m, Fluid *i) {
  const Numbers *k = &m->numbers;
  double near_fluid = 0, near_solid = 0;
  for (size_t j = 0; j < m->n_fluid; ++j) near_fluid += w_between(k, i->x, m->fluid[j].x); // with W(0)
  for (size_t b = 0; b < m->n_samples; ++b)
    near_solid += m->samples[b].volume * w_between(k, i->x, m->samples[b].x);
  i->density = i->mass * near_fluid + i->rest * near_solid;
  double rate = k->last_dt > 0 ? (i->density - i->earlier) / k->last_dt : 0,
         ratio = i->density / i->rest / k->packing / (1 - k->compression);
  i->pressure = fmax(tait(k, i->rest, ratio) + k->damping * k->spacing * k->sound_speed * rate, 0);
  double volume = k->packing * i->mass / i->density;
  i->pv2 = i->pressure * volume * volume;
  i->noise = (stiffness(k, i->rest, ratio) + i->pressure) * volume * volume;
}

static void compute_solid_pressure(const Model *m, Sample *b) {
  const Numbers *k = &m->numbers;
  double near_fluid = 0;
  for (size_t j = 0; j < m->n_fluid; ++j) near_fluid += w_between(k, b->x, m->fluid[j].x);
  double ratio = b->covered + k->rest_volume * near_fluid / k->packing, volume = k->rest_volume / ratio;
  ratio /= 1 - k->compression;
  Numbers undamped = *k;
  undamped.last_dt = 0;
  b->pv2 = fmax(tait(k, 1, ratio), 0) * volume * volume;
  b->noise = stiffness(&undamped, 1, ratio) * volume * volume + b->pv2;
}

// grad W_ij and (v.x)/l^2, in whose terms all forces are written.
typedef struct Pair {
  double g[3], steepness, projection;
  double x_dot_g;
  double closeness; // l^2/(r^2 + eta^2)
} Pair;

static Pair pair_of(const Numbers *k, const double xi[3], const double vi[3], const double xj[3],
                    const double vj[3]) {
  double d[3], v[3], length = k->viscous_length;
  reference_difference(xi, xj, k->period, d);
  vec_sub(vi, vj, v);
  double r = vec_length(d);
  Pair pair = {.projection = vec_dot(v, d) / (length * length)};
  pair.closeness = length * length / (r * r + 0.01 * pow(k->kernel.support / 2, 2));
  double slope = r > 0 ? reference_w(&k->kernel, r).slope : 0;
  if (r > 0) vec_scale(d, slope / r, pair.g);
  pair.x_dot_g = r * slope;
  // What a gradient's error is measured by: itself, and a little of the steepest one.
  pair.steepness = r < k->kernel.support ? 0.1 * reference_steepest(&k->kernel) - slope : 0;
  return pair;
}

static double laminar(const Numbers *k, double density, double viscosity) {
  return 2 * (k->kernel.dim + 2) * density * viscosity * k->rest_volume * k->rest_volume;
}

static double artificial(const Numbers *k, double density) {
  return k->alpha * k->kernel.support / 2 * k->sound_speed * density * k->rest_volume * k->rest_volume;
}

static double harmonic_mean(double a, double b) { return 2 * a * b / (a + b); }

static void push(double f[3], double *tolerance, const Pair *pair, double pressure, double noise,
                 double viscosity) {
  vec_add_scaled(f, pair->g, viscosity * pair->projection - pressure, f);
  *tolerance += ROUNDING * (noise + pressure + fabs(viscosity * pair->projection)) * pair->steepness;
}

static void add_fluid_force(const Numbers *k, Fluid *i, const Fluid *j) {
  Pair pair = pair_of(k, i->x, i->v, j->x, j->v);
  double viscosity = harmonic_mean(laminar(k, i->rest, i->viscosity), laminar(k, j->rest, j->viscosity));
  if (pair.projection < 0)
    viscosity += pair.closeness * harmonic_mean(artificial(k, i->rest), artificial(k, j->rest));
  push(i->f, &i->tolerance, &pair, i->pv2 + j->pv2, i->noise + j->noise, viscosity);
  i->virial -= (i->pv2 + j->pv2) * pair.x_dot_g;
}

static void add_solid_force(const Numbers *k, Fluid *i, Sample *b) {
  double share = b->volume / k->rest_volume, back[3] = {0}, tolerance = 0;
  Pair pair = pair_of(k, i->x, i->v, b->x, b->v);
  push(back, &tolerance, &pair, share * (i->pv2 + i->rest * b->pv2), share * (i->noise + i->rest * b->noise),
       share * k->wall_drag * laminar(k, i->rest, i->wall_viscosity));
  i->virial -= share * (i->pv2 + i->rest * b->pv2) * pair.x_dot_g;
  vec_add(i->f, back, i->f);
  vec_sub(b->f, back, b->f);
  i->tolerance += tolerance, b->tolerance += tolerance;
}

static void compute_forces(Model *m) {
  for (size_t i = 0; i < m->n_fluid; ++i) compute_pressure(m, &m->fluid[i]);
  for (size_t b = 0; b < m->n_samples; ++b) compute_solid_pressure(m, &m->samples[b]);
  for (size_t i = 0; i < m->n_fluid; ++i) {
    for (size_t j = 0; j < m->n_fluid; ++j)
      if (i != j) add_fluid_force(&m->numbers, &m->fluid[i], &m->fluid[j]);
    for (size_t b = 0; b < m->n_samples; ++b) add_solid_force(&m->numbers, &m->fluid[i], &m->samples[b]);
  }
}

// ---- The world ----

typedef struct Setup {
  int dim, n_materials;
  bool periodic;
  FloKernel kernel;
} Setup;

static const FloMaterialDef materials[2] = {
    {.name = "water", .density = 1000, .viscosity = 0.01, .wall_viscosity = 0.03, .contact_angle = -1},
    {.name = "syrup", .density = 2700, .viscosity = 0.2, .wall_viscosity = -1, .contact_angle = -1},
};

enum { EDGE = 9 }; // particles along an edge of the disordered lattice

// The body in the middle, where no fluid is.
static FloShape core_shape(double spacing) { return box_shape(4 * spacing, 3 * spacing, 4 * spacing); }

static FloPose core_pose(int dim, double spacing) {
  double middle = (EDGE / 2 + 0.3) * spacing;
  return pose_at(middle, middle, dim == 3 ? middle : 0);
}

static bool is_in_core(const double x[3], int dim, double spacing) {
  FloShape shape = core_shape(spacing);
  FloPose pose = core_pose(dim, spacing);
  double local[3];
  vec_sub(x, pose.position, local);
  return flo_shape_distance(&shape, dim, local, 0) < 0.2 * spacing;
}

static void add_disordered_fluid(FloWorld *world, const Setup *setup, double spacing) {
  Random random = {(uint64_t)setup->dim * 10 + (uint64_t)setup->n_materials};
  FloError error;
  FloMaterialId ids[2];
  for (int k = 0; k < setup->n_materials; ++k)
    assert_ok(flo_world_add_material(world, &materials[k], &ids[k], &error), &error);
  for (int k = 0; k < (setup->dim == 3 ? EDGE : 1); ++k)
    for (int j = 0; j < EDGE; ++j)
      for (int i = 0; i < EDGE; ++i) {
        const int index[3] = {i, j, k};
        double x[3] = {0};
        float v[3] = {0};
        for (int axis = 0; axis < setup->dim; ++axis) {
          x[axis] = (index[axis] + 0.5 + random_between(&random, -0.3, 0.3)) * spacing;
          v[axis] = (float)random_between(&random, -1, 1);
        }
        if (is_in_core(x, setup->dim, spacing)) continue;
        FloMaterialId id = ids[random_below(&random, (uint32_t)setup->n_materials)];
        assert_ok(flo_world_add_particles(world, id, 1, x, v, &error), &error);
      }
}

static void add_spinning_box(FloWorld *world, const Setup *setup, double spacing) {
  FloMotionDef motions[2] = {flo_default_motion_def(), flo_default_motion_def()};
  vec_set(motions[0].vector, 0.5, -0.25, setup->dim == 3 ? 0.75 : 0);
  motions[1].kind = FLO_MOTION_ROTATE, motions[1].rate = 3;
  vec_set(motions[1].vector, 0, 0, 1);
  FloBodyDef def = flo_default_body_def();
  def.kind = FLO_BODY_KINEMATIC;
  def.shape = core_shape(spacing), def.pose = core_pose(setup->dim, spacing);
  def.motions = motions, def.n_motions = 2;
  add_body(world, &def);
}

static FloWorld *make_world(const Setup *setup, double dt) {
  FloWorldDef def = small_world_def(setup->dim);
  def.kernel = setup->kernel, def.threads = 2, def.time_step = dt;
  const double s = def.spacing, edge = EDGE * s;
  for (int axis = 0; setup->periodic && axis < setup->dim; ++axis)
    def.periodic[axis] = true, def.domain_high[axis] = edge;
  FloWorld *world = create_world(&def);
  FloError error;
  assert_ok(flo_world_set_param(world, "sound_speed", 25, &error), &error);
  assert_ok(flo_world_set_param(world, "alpha", 0.2, &error), &error);
  if (!setup->periodic) add_tank(world, setup->dim, edge, edge, edge);
  add_spinning_box(world, setup, s);
  add_disordered_fluid(world, setup, s);
  return world;
}

// ---- From the world to the model ----

static void read_vector(const FloWorld *world, FloSet set, const char *const names[3], size_t i,
                        double out[3]) {
  for (int axis = 0; axis < 3; ++axis) out[axis] = field_at(world, set, names[axis], i);
}

static const char *const position[3] = {"x", "y", "z"}, *const velocity[3] = {"vx", "vy", "vz"},
                         *const acceleration[3] = {"ax", "ay", "az"}, *const force[3] = {"fx", "fy", "fz"};

static void read_fluid(const FloWorld *world, Model *m) {
  m->n_fluid = flo_world_count(world, FLO_SET_FLUID);
  m->fluid = calloc(m->n_fluid, sizeof *m->fluid);
  for (size_t i = 0; i < m->n_fluid; ++i) {
    // In the order of the ids, which stays while the store is sorted.
    Fluid *f = &m->fluid[(size_t)field_at(world, FLO_SET_FLUID, "id", i)];
    const FloMaterialDef *material = &materials[(size_t)field_at(world, FLO_SET_FLUID, "material", i)];
    read_vector(world, FLO_SET_FLUID, position, i, f->x);
    read_vector(world, FLO_SET_FLUID, velocity, i, f->v);
    f->mass = field_at(world, FLO_SET_FLUID, "mass", i);
    f->earlier = field_at(world, FLO_SET_FLUID, "density", i);
    f->rest = material->density, f->viscosity = material->viscosity;
    f->wall_viscosity = material->wall_viscosity < 0 ? material->viscosity : material->wall_viscosity;
  }
}

static void read_samples(const FloWorld *world, Model *m) {
  m->n_samples = flo_world_count(world, FLO_SET_BOUNDARY);
  m->samples = calloc(m->n_samples + 1, sizeof *m->samples);
  for (size_t i = 0; i < m->n_samples; ++i) {
    Sample *b = &m->samples[i];
    read_vector(world, FLO_SET_BOUNDARY, position, i, b->x);
    read_vector(world, FLO_SET_BOUNDARY, velocity, i, b->v);
    b->volume = field_at(world, FLO_SET_BOUNDARY, "volume", i);
    b->covered = field_at(world, FLO_SET_BOUNDARY, "covered", i);
    b->body = (uint32_t)field_at(world, FLO_SET_BOUNDARY, "body", i);
  }
}

static double param(const FloWorld *world, const char *name) {
  double value;
  FloError error;
  assert_ok(flo_world_get_param(world, name, &value, &error), &error);
  return value;
}

static double saved_number(const FloState *saved, const char *name) {
  const FloStateArray *array = flo_state_find(saved, name);
  assert_non_null(array);
  return *(const double *)array->buffer.data;
}

// The density at which pressure begins.
static void read_rest(const FloWorld *world, Numbers *k) {
  FloError error;
  FloState *saved = NULL;
  assert_ok(flo_world_save(world, &saved, &error), &error);
  k->packing = saved_number(saved, "method/fluid.packing");
  k->compression = saved_number(saved, "method/fluid.compression");
  flo_state_destroy(saved);
}

static Model read_model(const FloWorld *world, const Setup *setup, double last_dt) {
  const double s = 0.02;
  double support = s * flo_kernel_default_support(setup->kernel);
  Model m = {.numbers = {.kernel = {setup->kernel, setup->dim, support},
                         .rest_volume = pow(s, setup->dim),
                         .sound_speed = param(world, "sound_speed"),
                         .alpha = param(world, "alpha"),
                         .gamma = param(world, "gamma"),
                         .damping = param(world, "damping"),
                         .spacing = s,
                         .last_dt = last_dt,
                         .packing = 1}};
  if (last_dt > 0) read_rest(world, &m.numbers);
  const FloKernelForm form = flo_kernel_form(setup->kernel, setup->dim, support);
  m.numbers.viscous_length = reference_viscous_length(&m.numbers.kernel);
  m.numbers.wall_drag = flo_kernel_wall_drag(&form, s, (int)ceil(support / s - 1e-9) - 1);
  for (int axis = 0; setup->periodic && axis < setup->dim; ++axis) m.numbers.period[axis] = EDGE * s;
  read_fluid(world, &m);
  read_samples(world, &m);
  return m;
}

static void free_model(Model *m) { free(m->fluid), free(m->samples); }

// ---- Comparing ----

// The reported pressure is the mean normal stress.
static void compare_fluid(const FloWorld *world, const Model *m, const double gravity[3]) {
  const double per_virial = 1 / (2 * m->numbers.kernel.dim * m->numbers.rest_volume);
  for (size_t i = 0; i < m->n_fluid; ++i) {
    const Fluid *f = &m->fluid[(size_t)field_at(world, FLO_SET_FLUID, "id", i)];
    double a[3], expected[3];
    assert_close(field_at(world, FLO_SET_FLUID, "density", i), f->density, ROUNDING * f->density);
    assert_close(field_at(world, FLO_SET_FLUID, "pressure", i), per_virial * f->virial,
                 per_virial * m->numbers.kernel.support * f->tolerance);
    read_vector(world, FLO_SET_FLUID, acceleration, i, a);
    vec_add_scaled(gravity, f->f, 1 / f->mass, expected);
    assert_close_3(a, expected, f->tolerance / f->mass + 1e-5);
  }
}

static void compare_samples(const FloWorld *world, const Model *m) {
  for (size_t i = 0; i < m->n_samples; ++i) {
    double f[3];
    read_vector(world, FLO_SET_BOUNDARY, force, i, f);
    assert_close_3(f, m->samples[i].f, m->samples[i].tolerance + 1e-9);
  }
}

static void compare_bodies(FloWorld *world, const Model *m, uint32_t n_bodies) {
  for (uint32_t body = 0; body < n_bodies; ++body) {
    FloBodyState s;
    FloError error;
    double f[3] = {0}, torque[3] = {0}, tolerance = 0;
    assert_ok(flo_world_body_state(world, (FloBodyId){(uint16_t)body, 1}, &s, &error), &error);
    for (size_t i = 0; i < m->n_samples; ++i) {
      const Sample *b = &m->samples[i];
      double now[3], arm[3], turn[3];
      if (b->body != body) continue;
      read_vector(world, FLO_SET_BOUNDARY, position, i, now); // torques are about where the body has got to
      vec_sub(now, s.pose.position, arm);
      vec_cross(arm, b->f, turn);
      vec_add(f, b->f, f);
      vec_add(torque, turn, torque);
      tolerance += b->tolerance;
    }
    assert_close_3(s.force, f, tolerance);
    assert_close_3(s.torque, torque, tolerance * EDGE * 0.02);
  }
}

// Forces see samples move by their way in the step.
static void read_ways(const FloWorld *world, Model *m, double dt) {
  for (size_t i = 0; i < m->n_samples; ++i) {
    Sample *b = &m->samples[i];
    read_vector(world, FLO_SET_BOUNDARY, position, i, b->v);
    vec_sub(b->v, b->x, b->v);
    vec_scale(b->v, 1 / dt, b->v);
  }
}

static void check_setup(Setup setup) {
  const double dt = 1e-4, gravity[3] = {0, setup.dim == 2 ? -9.81 : 0, setup.dim == 3 ? -9.81 : 0};
  FloWorld *world = make_world(&setup, dt);
  for (int step = 0; step < 2; ++step) {
    Model m = read_model(world, &setup, step ? dt : 0);
    step_world(world, 1);
    read_ways(world, &m, dt);
    compute_forces(&m);
    compare_fluid(world, &m, gravity);
    compare_bodies(world, &m, setup.periodic ? 1 : 2); // asks for the forces
    compare_samples(world, &m);
    free_model(&m);
  }
  flo_world_destroy(world);
}

static void test_one_fluid_in_two_dimensions(void **state) {
  (void)state;
  check_setup((Setup){2, 1, false, FLO_KERNEL_CUBIC_SPLINE});
}

static void test_one_fluid_in_three_dimensions(void **state) {
  (void)state;
  check_setup((Setup){3, 1, false, FLO_KERNEL_CUBIC_SPLINE});
}

static void test_two_fluids_in_two_dimensions(void **state) {
  (void)state;
  check_setup((Setup){2, 2, false, FLO_KERNEL_CUBIC_SPLINE});
}

static void test_two_fluids_in_three_dimensions(void **state) {
  (void)state;
  check_setup((Setup){3, 2, false, FLO_KERNEL_CUBIC_SPLINE});
}

static void test_a_periodic_domain(void **state) {
  (void)state;
  check_setup((Setup){2, 2, true, FLO_KERNEL_WENDLAND_C2});
  check_setup((Setup){2, 1, true, FLO_KERNEL_QUINTIC});
}

// ---- Momentum ----

typedef struct Balance {
  double momentum[3], spin[3]; // gained by the fluid each second, but for gravity
  double on_bodies[3], torque[3];
  double scale; // sum of the forces' sizes
} Balance;

static void weigh_fluid(const FloWorld *world, const double gravity[3], Balance *balance) {
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) {
    double x[3], a[3], f[3], turn[3];
    read_vector(world, FLO_SET_FLUID, position, i, x);
    read_vector(world, FLO_SET_FLUID, acceleration, i, a);
    vec_sub(a, gravity, f);
    vec_scale(f, field_at(world, FLO_SET_FLUID, "mass", i), f);
    vec_cross(x, f, turn);
    vec_add(balance->momentum, f, balance->momentum);
    vec_add(balance->spin, turn, balance->spin);
    balance->scale += vec_length(f);
  }
}

static void weigh_bodies(FloWorld *world, uint16_t n_bodies, Balance *balance) {
  for (uint16_t k = 0; k < n_bodies; ++k) {
    FloBodyState s;
    FloError error;
    double turn[3];
    assert_ok(flo_world_body_state(world, (FloBodyId){k, 1}, &s, &error), &error);
    vec_cross(s.pose.position, s.force, turn);
    vec_add(balance->on_bodies, s.force, balance->on_bodies);
    vec_add(balance->torque, s.torque, balance->torque);
    vec_add(balance->torque, turn, balance->torque);
  }
}

static void check_balance(int dim, int n_materials) {
  const double gravity[3] = {0, dim == 2 ? -9.81 : 0, dim == 3 ? -9.81 : 0}, edge = EDGE * 0.02;
  Setup setup = {dim, n_materials, false, FLO_KERNEL_CUBIC_SPLINE};
  FloWorld *world = make_world(&setup, 1e-9);
  Balance b = {0};
  step_world(world, 1);
  weigh_fluid(world, gravity, &b);
  weigh_bodies(world, 2, &b);
  vec_add(b.momentum, b.on_bodies, b.momentum);
  vec_add(b.spin, b.torque, b.spin);
  assert_true(vec_length(b.on_bodies) > 1e-3 * b.scale);
  assert_close_3(b.momentum, ((double[3]){0}), 1e-6 * b.scale);
  assert_close_3(b.spin, ((double[3]){0}), 1e-6 * b.scale * edge);
  flo_world_destroy(world);
}

static void test_what_the_solids_feel_is_what_the_fluid_loses(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim)
    for (int n_materials = 1; n_materials <= 2; ++n_materials) check_balance(dim, n_materials);
}

// The same through the measurements of a real step.
static void test_momentum_over_a_step_is_the_force_on_the_solids(void **state) {
  (void)state;
  const double dt = 1e-4;
  Setup setup = {3, 1, false, FLO_KERNEL_CUBIC_SPLINE};
  FloWorld *world = make_world(&setup, dt);
  Balance b = {0};
  FloMeasurements before = flo_world_measure(world);
  step_world(world, 1);
  FloMeasurements after = flo_world_measure(world);
  weigh_bodies(world, 2, &b);
  double gain[3], mass = (double)before.fluid_particles * 1000 * 8e-6;
  vec_sub(after.momentum, before.momentum, gain);
  vec_scale(gain, 1 / dt, gain);
  gain[2] += 9.81 * mass;
  vec_scale(b.on_bodies, -1, b.on_bodies);
  assert_close_3(gain, b.on_bodies, 1e-5 * vec_length(b.on_bodies));
  flo_world_destroy(world);
}

// Would a particle at x be inside one of the bodies where they are now?
static bool is_in_a_body(const FloWorld *world, const double x[3]) {
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    double local[3];
    pose_to_local(&body->state.pose, x, local);
    if (flo_solid_distance(body->solid, local) < 1e-3 * world->def.spacing) return true;
  }
  return false;
}

// Forces alone decide where a particle goes, unless they would take it through a surface.
static void test_only_particles_that_would_cross_a_surface_are_deflected(void **state) {
  (void)state;
  const double dt = 1e-4;
  for (int dim = 2; dim <= 3; ++dim) {
    Setup setup = {dim, 1, false, FLO_KERNEL_CUBIC_SPLINE};
    FloWorld *world = make_world(&setup, dt);
    Model m = read_model(world, &setup, 0);
    step_world(world, 1);
    for (size_t i = 0; i < m.n_fluid; ++i) {
      const Fluid *f = &m.fluid[(size_t)field_at(world, FLO_SET_FLUID, "id", i)];
      double a[3], v[3], expected[3], there[3];
      read_vector(world, FLO_SET_FLUID, acceleration, i, a);
      read_vector(world, FLO_SET_FLUID, velocity, i, v);
      vec_add_scaled(f->v, a, dt, expected);
      vec_add_scaled(f->x, expected, dt, there);
      if (!is_in_a_body(world, there)) assert_close_3(v, expected, 1e-5);
    }
    free_model(&m);
    flo_world_destroy(world);
  }
}

// A lone fast drop has no pressure that could stop it; whatever does is felt by the wall.
static void test_a_drop_that_is_stopped_pushes_the_wall(void **state) {
  (void)state;
  const double dt = 1e-3, x[3] = {0.003, -0.002, 0.014};
  const float v[3] = {1, 0, -30};
  FloWorldDef def = small_world_def(3);
  vec_set(def.gravity, 0, 0, 0);
  def.time_step = dt;
  FloWorld *world = create_world(&def);
  FloError error;
  FloBodyState s;
  FloBodyDef plate = flo_default_body_def();
  plate.shape = box_shape(0.2, 0.2, 0.04), plate.pose = pose_at(0, 0, -0.02);
  FloBodyId id = add_body(world, &plate);
  assert_ok(flo_world_set_param(world, "sound_speed", 10, &error), &error);
  assert_ok(flo_world_add_particles(world, add_water(world), 1, x, v, &error), &error);
  FloMeasurements before = flo_world_measure(world);
  step_world(world, 1);
  FloMeasurements after = flo_world_measure(world);
  assert_ok(flo_world_body_state(world, id, &s, &error), &error);
  double loss[3];
  vec_sub(before.momentum, after.momentum, loss);
  vec_scale(loss, 1 / dt, loss);
  assert_true(field_at(world, FLO_SET_FLUID, "z", 0) > -0.1 * def.spacing);
  assert_true(vec_length(loss) > 0.1);
  assert_close_3(s.force, loss, 1e-4 * vec_length(loss));
  flo_world_destroy(world);
}

static void test_fluid_alone_keeps_its_momenta(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    FloWorldDef def = small_world_def(dim);
    Setup setup = {dim, 2, false, FLO_KERNEL_CUBIC_SPLINE};
    const double none[3] = {0};
    vec_copy(none, def.gravity);
    def.time_step = 1e-9;
    FloWorld *world = create_world(&def);
    add_disordered_fluid(world, &setup, def.spacing);
    step_world(world, 1);
    Balance b = {0};
    weigh_fluid(world, none, &b);
    assert_true(b.scale > 0);
    assert_close_3(b.momentum, none, 1e-6 * b.scale);
    assert_close_3(b.spin, none, 1e-6 * b.scale * EDGE * def.spacing);
    flo_world_destroy(world);
  }
}

// ---- Samples of solids ----

static void test_volumes_of_samples_are_gamma_over_the_bodys_kernel_sum(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    Setup setup = {dim, 1, false, FLO_KERNEL_CUBIC_SPLINE};
    FloWorld *world = make_world(&setup, 1e-6);
    Model m = read_model(world, &setup, 0);
    FloKernelForm form = flo_kernel_form(setup.kernel, dim, m.numbers.kernel.support);
    double gamma = flo_kernel_boundary_gamma(&form, m.numbers.spacing, 1);
    for (size_t a = 0; a < m.n_samples; ++a) {
      double sum = 0;
      for (size_t b = 0; b < m.n_samples; ++b)
        if (m.samples[a].body == m.samples[b].body)
          sum += w_between(&m.numbers, m.samples[a].x, m.samples[b].x);
      assert_close(m.samples[a].volume, gamma / sum, 2e-6 * gamma / sum);
    }
    free_model(&m);
    flo_world_destroy(world);
  }
}

// Above the middle of a floor stand whole sheets of fluid; the first is one spacing away.
static void test_a_floor_is_covered_but_for_the_sheets_above_it(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloWorld *world = create_world(&def);
  const double s = def.spacing;
  add_tank(world, 3, 11 * s, 11 * s, 11 * s);
  FloKernelForm form = flo_kernel_form(FLO_KERNEL_CUBIC_SPLINE, 3, 2 * s);
  int n_found = 0;
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_BOUNDARY); ++i) {
    double x[3];
    read_vector(world, FLO_SET_BOUNDARY, position, i, x);
    if (fabs(x[0] - 5.5 * s) > 0.1 * s || fabs(x[1] - 5.5 * s) > 0.1 * s) continue;
    ++n_found;
    double above = pow(s, 3) * flo_kernel_sheet_sum(&form, s, 1);
    assert_close(field_at(world, FLO_SET_BOUNDARY, "covered", i), 1 - above, 1e-5);
  }
  assert_int_equal(n_found, 1);
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_fluid_in_two_dimensions),
      cmocka_unit_test(test_one_fluid_in_three_dimensions),
      cmocka_unit_test(test_two_fluids_in_two_dimensions),
      cmocka_unit_test(test_two_fluids_in_three_dimensions),
      cmocka_unit_test(test_a_periodic_domain),
      cmocka_unit_test(test_what_the_solids_feel_is_what_the_fluid_loses),
      cmocka_unit_test(test_momentum_over_a_step_is_the_force_on_the_solids),
      cmocka_unit_test(test_only_particles_that_would_cross_a_surface_are_deflected),
      cmocka_unit_test(test_a_drop_that_is_stopped_pushes_the_wall),
      cmocka_unit_test(test_fluid_alone_keeps_its_momenta),
      cmocka_unit_test(test_volumes_of_samples_are_gamma_over_the_bodys_kernel_sum),
      cmocka_unit_test(test_a_floor_is_covered_but_for_the_sheets_above_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
