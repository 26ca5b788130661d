// Adding to a world: what is refused, and what becomes of what is accepted.
#include "sph/kernel_form.h"
#include "support/worlds.h"

// ---- Materials, bodies and fluids ----

#define REFUSE_MATERIAL(world, change, word)                                                                 \
  do {                                                                                                       \
    FloError error;                                                                                          \
    FloMaterialId id;                                                                                        \
    FloMaterialDef def = flo_default_material_def();                                                         \
    def.change;                                                                                              \
    assert_refused(flo_world_add_material(world, &def, &id, &error), &error, word);                          \
  } while (0)

static void test_bad_materials_are_named(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  REFUSE_MATERIAL(world, density = 0, "density");
  REFUSE_MATERIAL(world, density = -1, "density");
  REFUSE_MATERIAL(world, density = NAN, "density");
  REFUSE_MATERIAL(world, density = INFINITY, "density");
  REFUSE_MATERIAL(world, viscosity = -1, "viscosity");
  REFUSE_MATERIAL(world, viscosity = NAN, "viscosity");
  REFUSE_MATERIAL(world, viscosity = INFINITY, "viscosity");
  REFUSE_MATERIAL(world, wall_viscosity = NAN, "wall_viscosity");
  REFUSE_MATERIAL(world, wall_viscosity = INFINITY, "wall_viscosity");
  flo_world_destroy(world);
}

#define REFUSE_BODY(world, change, word)                                                                     \
  do {                                                                                                       \
    FloError error;                                                                                          \
    FloBodyId id;                                                                                            \
    FloBodyDef def = flo_default_body_def();                                                                 \
    def.shape = box_shape(0.1, 0.1, 0.1);                                                                    \
    def.change;                                                                                              \
    assert_refused(flo_world_add_body(world, &def, &id, &error), &error, word);                              \
    assert_int_equal(flo_world_count(world, FLO_SET_BOUNDARY), 0);                                           \
  } while (0)

static void test_bad_bodies_are_named(void **state) {
  (void)state;
  FloWorld *world = empty_world(3), *flat = empty_world(2);
  REFUSE_BODY(world, shape.size[1] = 0, "size");
  REFUSE_BODY(world, shape.kind = FLO_SHAPE_COUNT, "shape");
  REFUSE_BODY(world, pose.position[1] = NAN, "position");
  REFUSE_BODY(world, pose.rotation[3] = 2, "rotation");
  REFUSE_BODY(world, pose.rotation[3] = NAN, "rotation");
  REFUSE_BODY(flat, pose.position[2] = 1, "two dimensions");
  REFUSE_BODY(flat, shape = ((FloShape){FLO_SHAPE_CYLINDER, .size = {1}, .radius = 1}), "cylinder");
  REFUSE_BODY(world, inset = -0.001, "inset");
  REFUSE_BODY(world, inset = NAN, "inset");
  REFUSE_BODY(world, inset = 0.021, "inset: must lie between 0 and one spacing (0.02 m), got 0.021 m");
  REFUSE_BODY(world, sampling = 0.49, "sampling: samples must be 0.5 to 1.2 spacings apart, got 0.49");
  REFUSE_BODY(world, sampling = 1.21, "sampling");
  REFUSE_BODY(world, sampling = -1, "sampling");
  REFUSE_BODY(world, sampling = NAN, "sampling");
  REFUSE_BODY(flat, shape = ((FloShape){FLO_SHAPE_OUTLINE, .n_points = 3}), "at least 3 points");
  FloMotionDef motion = flo_default_motion_def();
  REFUSE_BODY(world, motions = &motion; def.n_motions = 1, "kinematic");
  motion.vector[0] = NAN;
  REFUSE_BODY(world, kind = FLO_BODY_KINEMATIC; def.motions = &motion; def.n_motions = 1, "motion");
  flo_world_destroy(world);
  flo_world_destroy(flat);
}

static void test_an_unknown_kind_of_body_is_refused(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  REFUSE_BODY(world, kind = (FloBodyKind)9, "kind");
  flo_world_destroy(world);
}

// A body too far away to be sampled must not leave its samples behind.
static void test_a_body_that_fails_leaves_no_trace(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloWorld *world = create_dam(&def);
  FloError error;
  FloBodyId id;
  FloBodyDef far = flo_default_body_def();
  far.pose.position[0] = 1e30;
  size_t before = flo_world_count(world, FLO_SET_BOUNDARY);
  uint64_t hash = flo_world_hash(world);
  assert_int_not_equal(flo_world_add_body(world, &far, &id, &error), FLO_OK);
  assert_int_equal(flo_world_count(world, FLO_SET_BOUNDARY), before);
  assert_true(flo_world_hash(world) == hash);
  step_world(world, 1);
  flo_world_destroy(world);
}

#define REFUSE_FLUID(world, water, change, word)                                                             \
  do {                                                                                                       \
    FloError error;                                                                                          \
    FloFluidDef def = flo_default_fluid_def();                                                               \
    def.material = water, def.shape = box_shape(0.1, 0.1, 0.1);                                              \
    def.change;                                                                                              \
    assert_refused(flo_world_add_fluid(world, &def, NULL, &error), &error, word);                            \
    assert_int_equal(flo_world_count(world, FLO_SET_FLUID), 0);                                              \
  } while (0)

static void not_a_velocity(void *context, const double position[3], double velocity[3]) {
  (void)context;
  vec_set(velocity, 0, position[0] > 0 ? NAN : 0, 0);
}

static void test_bad_fluids_are_named(void **state) {
  (void)state;
  FloWorld *world = empty_world(3), *flat = empty_world(2);
  FloMaterialId water = add_water(world), flat_water = add_water(flat);
  REFUSE_FLUID(world, water, material.index = 1, "material");
  REFUSE_FLUID(world, water, material.generation = 0, "material");
  REFUSE_FLUID(world, water, shape.size[0] = NAN, "size");
  REFUSE_FLUID(world, water, shape.kind = FLO_SHAPE_TANK, "tank");
  REFUSE_FLUID(world, water, packing = (FloFluidPacking)2, "packing");
  REFUSE_FLUID(world, water, pose.position[0] = INFINITY, "position");
  REFUSE_FLUID(world, water, pose.rotation[0] = 0.1, "rotation");
  REFUSE_FLUID(world, water, velocity[1] = NAN, "velocity");
  REFUSE_FLUID(world, water, angular_velocity[1] = INFINITY, "velocity");
  REFUSE_FLUID(world, water, velocity_at = not_a_velocity, "velocity");
  REFUSE_FLUID(flat, flat_water, pose.position[2] = 1, "two dimensions");
  flo_world_destroy(world);
  flo_world_destroy(flat);
}

static void test_bad_particles_are_named(void **state) {
  (void)state;
  FloWorld *world = empty_world(3), *flat = empty_world(2);
  FloMaterialId water = add_water(world), flat_water = add_water(flat), none = {5, 1};
  FloError error;
  double two[6] = {0, 0, 0, 0, NAN, 0}, raised[3] = {0, 0, 0.1};
  assert_refused(flo_world_add_particles(world, water, 2, two, NULL, &error), &error, "positions: number 1");
  two[4] = INFINITY;
  assert_refused(flo_world_add_particles(world, water, 2, two, NULL, &error), &error, "positions: number 1");
  assert_refused(flo_world_add_particles(flat, flat_water, 1, raised, NULL, &error), &error, "positions");
  assert_refused(flo_world_add_particles(world, none, 1, raised, NULL, &error), &error, "material");
  assert_int_equal(flo_world_count(world, FLO_SET_FLUID), 0);
  assert_ok(flo_world_add_particles(world, water, 0, NULL, NULL, &error), &error);
  flo_world_destroy(world);
  flo_world_destroy(flat);
}

static void test_ids_that_are_not_of_this_world_are_refused(void **state) {
  (void)state;
  FloWorld *world = empty_world(3), *other = empty_world(3);
  FloError error;
  FloBodyState body_state;
  FloMaterialId material = add_water(other);
  FloBodyDef def = flo_default_body_def();
  FloBodyId body = add_body(other, &def);
  const double x[3] = {0};
  assert_refused(flo_world_add_particles(world, material, 1, x, NULL, &error), &error, "material");
  assert_refused(flo_world_body_state(world, body, &body_state, &error), &error, "body");
  FloBodyId wrong = {body.index, (uint16_t)(body.generation + 1)};
  assert_refused(flo_world_body_state(other, wrong, &body_state, &error), &error, "body");
  wrong = (FloBodyId){0};
  assert_refused(flo_world_body_state(other, wrong, &body_state, &error), &error, "body");
  assert_refused(flo_world_remove_emitter(world, (FloEmitterId){0, 1}, &error), &error, "emitter");
  assert_refused(flo_world_remove_sink(world, (FloSinkId){0, 1}, &error), &error, "sink");
  flo_world_destroy(world);
  flo_world_destroy(other);
}

static void test_failing_without_an_error_to_fill(void **state) {
  (void)state;
  FloWorldDef def = flo_default_world_def();
  FloWorld *world;
  double value;
  FloView view;
  def.dim = 7;
  assert_int_equal(flo_world_create(&def, &world, NULL), FLO_BAD_INPUT);
  world = empty_world(3);
  assert_int_equal(flo_world_get_param(world, "magic", &value, NULL), FLO_BAD_INPUT);
  assert_int_equal(flo_world_view(world, FLO_SET_FLUID, "magic", &view, NULL), FLO_BAD_INPUT);
  assert_int_equal(flo_world_advance(world, NAN, NULL, NULL), FLO_BAD_INPUT);
  flo_world_destroy(world);
}

static void test_success_does_not_touch_the_error(void **state) {
  (void)state;
  FloError error, before;
  memset(&error, 0x5a, sizeof error);
  before = error;
  FloWorldDef def = small_world_def(3);
  FloWorld *world = create_dam(&def);
  assert_int_equal(flo_world_step(world, NULL, &error), FLO_OK);
  assert_int_equal(flo_world_set_param(world, "alpha", 0.1, &error), FLO_OK);
  assert_memory_equal(&error, &before, sizeof error);
  flo_world_destroy(world);
}

static void test_fluid_is_left_out_where_a_solid_stands(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  FloBodyDef def = flo_default_body_def();
  def.shape = box_shape(0.08, 0.08, 0.08);
  FloMaterialId water = add_water(world);
  add_body(world, &def);
  const double half = 0.16, low[3] = {-half, -half, -half}, high[3] = {half, half, half};
  assert_int_equal(add_block(world, water, low, high), 16 * 16 * 16 - 4 * 4 * 4);
  assert_int_equal(flo_world_count(world, FLO_SET_FLUID), 16 * 16 * 16 - 4 * 4 * 4);
  flo_world_destroy(world);
}

// A body that reaches out of a domain that repeats comes in again on the other side.
static void test_fluid_is_left_out_of_a_solid_across_a_periodic_face(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(2);
  def.periodic[0] = true, def.domain_high[0] = 0.4;
  FloWorld *world = create_world(&def);
  FloBodyDef body = flo_default_body_def();
  body.shape = box_shape(0.08, 0.08, 0), body.pose = pose_at(0, 0.2, 0);
  add_body(world, &body);
  const double low[3] = {0}, high[3] = {0.4, 0.4, 0};
  assert_int_equal(add_block(world, add_water(world), low, high), 20 * 20 - 4 * 4);
  assert_int_equal(flo_world_measure(world).penetrations, 0);
  flo_world_destroy(world);
}

static void swirl(void *context, const double position[3], double velocity[3]) {
  vec_set(velocity, *(double *)context * position[1], 0, 0);
}

// A second block where there is fluid already adds only what reaches beyond it; one that touches loses
// nothing.
static void test_fluid_is_left_out_where_fluid_stands(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  def.spacing = 0.05;
  for (int periodic = 0; periodic < 2; ++periodic) {
    def.periodic[0] = periodic;
    def.domain_low[0] = 0, def.domain_high[0] = 1;
    FloWorld *world = create_world(&def);
    FloMaterialId water = add_water(world);
    assert_int_equal(add_block(world, water, (double[]){0, 0, 0}, (double[]){0.5, 0.5, 0.5}), 1000);
    assert_int_equal(add_block(world, water, (double[]){0.02, 0.02, 0.02}, (double[]){0.52, 0.52, 0.52}), 0);
    assert_int_equal(add_block(world, water, (double[]){0.5, 0, 0}, (double[]){0.7, 0.5, 0.5}), 400);
    assert_int_equal(add_block(world, water, (double[]){0.6, 0, 0}, (double[]){0.8, 0.5, 0.5}), 200);
    // Across the face of a periodic domain the first block stands again.
    assert_int_equal(add_block(world, water, (double[]){0.9, 0, 0}, (double[]){1.1, 0.5, 0.5}),
                     periodic ? 200 : 400);
    flo_world_destroy(world);
  }
}

static void test_fluid_starts_with_the_velocity_it_was_given(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  FloError error;
  double factor = 10;
  FloFluidDef def = flo_default_fluid_def();
  def.material = add_water(world), def.shape = box_shape(0.1, 0.1, 0.1), def.pose = pose_at(1, 2, 3);
  vec_set(def.velocity, 1, 2, 3);
  vec_set(def.angular_velocity, 0, 0, 5);
  def.velocity_at = swirl, def.context = &factor;
  assert_ok(flo_world_add_fluid(world, &def, NULL, &error), &error);
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) {
    double x = field_at(world, FLO_SET_FLUID, "x", i), y = field_at(world, FLO_SET_FLUID, "y", i);
    assert_close(field_at(world, FLO_SET_FLUID, "vx", i), 1 - 5 * (y - 2) + 10 * y, 1e-5);
    assert_close(field_at(world, FLO_SET_FLUID, "vy", i), 2 + 5 * (x - 1), 1e-6);
    assert_close(field_at(world, FLO_SET_FLUID, "vz", i), 3, 1e-6);
    assert_close(field_at(world, FLO_SET_FLUID, "mass", i), 1000 * 8e-6, 1e-9);
  }
  flo_world_destroy(world);
}

// ---- Bodies ----

static void test_a_moving_body_carries_its_samples(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  FloMotionDef motion = flo_default_motion_def();
  motion.kind = FLO_MOTION_ROTATE, motion.rate = 2, motion.vector[2] = 1;
  FloBodyId id = add_moving_box(world, box_shape(0.1, 0.1, 0.1), pose_at(0.3, 0, 0), &motion);
  FloError error;
  FloBodyState s;
  assert_ok(flo_world_advance(world, 0.3, NULL, &error), &error);
  assert_ok(flo_world_body_state(world, id, &s, &error), &error);
  assert_close_3(s.pose.position, ((double[3]){0.3 * cos(0.6), 0.3 * sin(0.6), 0}), 1e-12);
  assert_close_3(s.velocity, ((double[3]){-0.6 * sin(0.6), 0.6 * cos(0.6), 0}), 1e-12);
  for (size_t i = 0; i < flo_world_count(world, FLO_SET_BOUNDARY); ++i) {
    double x = field_at(world, FLO_SET_BOUNDARY, "x", i), y = field_at(world, FLO_SET_BOUNDARY, "y", i);
    double local_x = field_at(world, FLO_SET_BOUNDARY, "local_x", i) + 0.3;
    double local_y = field_at(world, FLO_SET_BOUNDARY, "local_y", i);
    assert_close(x, cos(0.6) * local_x - sin(0.6) * local_y, 1e-12);
    assert_close(field_at(world, FLO_SET_BOUNDARY, "vx", i), -2 * y, 1e-6);
    assert_close(field_at(world, FLO_SET_BOUNDARY, "vy", i), 2 * x, 1e-6);
  }
  flo_world_destroy(world);
}

static void test_ids_nobody_wants_need_no_place(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  FloError error;
  FloMaterialDef material = flo_default_material_def();
  FloBodyDef body = flo_default_body_def();
  FloEmitterDef emitter = flo_default_emitter_def();
  FloSinkDef sink = flo_default_sink_def();
  assert_ok(flo_world_add_material(world, &material, NULL, &error), &error);
  emitter.material = (FloMaterialId){0, 1};
  assert_ok(flo_world_add_body(world, &body, NULL, &error), &error);
  assert_ok(flo_world_add_emitter(world, &emitter, NULL, &error), &error);
  assert_ok(flo_world_add_sink(world, &sink, NULL, &error), &error);
  flo_world_destroy(world);
}

static void test_definitions_are_copied(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  FloKeyframe frames[2] = {{0, flo_pose_identity()}, {1, pose_at(1, 0, 0)}};
  FloMotionDef motion = flo_default_motion_def();
  motion.kind = FLO_MOTION_KEYFRAMES, motion.keyframes = frames, motion.n_keyframes = 2;
  FloBodyId id = add_moving_box(world, box_shape(0.1, 0.1, 0.1), flo_pose_identity(), &motion);
  memset(frames, 0xff, sizeof frames);
  memset(&motion, 0xff, sizeof motion);
  FloError error;
  FloBodyState s;
  assert_ok(flo_world_advance(world, 0.25, NULL, &error), &error);
  assert_ok(flo_world_body_state(world, id, &s, &error), &error);
  assert_close_3(s.pose.position, ((double[3]){0.25, 0, 0}), 1e-12);
  flo_world_destroy(world);
}

static void test_forces_are_zero_before_the_first_step(void **state) {
  (void)state;
  FloWorldDef def = small_world_def(3);
  FloWorld *world = create_dam(&def);
  FloError error;
  FloBodyState s;
  assert_ok(flo_world_body_state(world, (FloBodyId){0, 1}, &s, &error), &error);
  assert_close_3(s.force, ((double[3]){0}), 0);
  assert_close_3(s.torque, ((double[3]){0}), 0);
  flo_world_destroy(world);
}

// What a definition says of samples and lattices arrives at the particles; the defaults are as ever.
static void test_samples_and_lattices_as_defined(void **state) {
  (void)state;
  FloWorld *world = empty_world(3);
  double s = flo_default_world_def().spacing;
  FloBodyDef ball = flo_default_body_def();
  FloFluidDef block = flo_default_fluid_def();
  assert_false(ball.relax);
  assert_true(ball.inset == 0 && block.packing == FLO_FLUID_CUBIC &&
              flo_default_fill_def().packing == FLO_FLUID_CUBIC);
  ball.shape = (FloShape){FLO_SHAPE_SPHERE, .radius = 10 * s};
  for (int k = 0; k < 3; ++k) {
    size_t first = flo_world_count(world, FLO_SET_BOUNDARY);
    ball.pose.position[0] = 30 * s * k;
    ball.inset = k ? 0.25 * s : 0, ball.relax = k == 2;
    add_body(world, &ball);
    double farthest = 0;
    for (size_t i = first; i < flo_world_count(world, FLO_SET_BOUNDARY); ++i) {
      double x = field_at(world, FLO_SET_BOUNDARY, "x", i) - ball.pose.position[0];
      farthest = fmax(farthest, hypot(hypot(x, field_at(world, FLO_SET_BOUNDARY, "y", i)),
                                      field_at(world, FLO_SET_BOUNDARY, "z", i)));
    }
    assert_close(farthest, (k ? 9.75 : 9.5) * s, 0.1 * s);
  }
  FloError error;
  size_t n_cubic, n_hexagonal;
  block.material = add_water(world);
  block.shape = box_shape(20 * s, 20 * s, 20 * s), block.pose = pose_at(0, 2, 0);
  assert_ok(flo_world_add_fluid(world, &block, &n_cubic, &error), &error);
  block.packing = FLO_FLUID_HEXAGONAL, block.pose = pose_at(0, 4, 0);
  assert_ok(flo_world_add_fluid(world, &block, &n_hexagonal, &error), &error);
  assert_int_equal(n_cubic, 8000);
  // Steps of 1.122, 0.972 and 0.917 spacings in a room of 19.
  assert_in_range(n_hexagonal, 17 * 20 * 20, 18 * 20 * 21);
  flo_world_destroy(world);
}

// Samples of a ball, and the volume that they stand for, in spacings.
static size_t sample_ball(int dim, double support, double sampling, double *volume) {
  FloWorldDef def = small_world_def(dim);
  def.support = support;
  FloWorld *world = create_world(&def);
  FloBodyDef ball = flo_default_body_def();
  ball.shape = (FloShape){FLO_SHAPE_SPHERE, .radius = 10 * def.spacing};
  ball.sampling = sampling;
  add_body(world, &ball);
  size_t n = flo_world_count(world, FLO_SET_BOUNDARY);
  *volume = 0;
  for (size_t i = 0; i < n; ++i)
    *volume += field_at(world, FLO_SET_BOUNDARY, "volume", i) / pow(def.spacing, dim);
  flo_world_destroy(world);
  return n;
}

// A sheet of finer or coarser samples stands for as much as one like fluid: a spacing times the area of the
// ball, 9.5 spacings from its centre; their number goes as the area of each.
static void test_finer_and_coarser_samples_stand_for_the_same(void **state) {
  (void)state;
  static const double samplings[] = {0.5, 0.7, 0.9, 1.1, 1.2};
  for (int dim = 2; dim <= 3; ++dim) {
    double area = dim == 2 ? 2 * FLO_PI * 9.5 : 4 * FLO_PI * 9.5 * 9.5, usual, same, volume;
    size_t n_usual = sample_ball(dim, 0, 1, &usual);
    assert_int_equal(sample_ball(dim, 0, 0, &same), n_usual);
    assert_true(same == usual);
    assert_close(usual, area, 0.03 * area);
    for (size_t k = 0; k < FLO_COUNT_OF(samplings); ++k) {
      double n = (double)sample_ball(dim, 0, samplings[k], &volume);
      assert_close(n * pow(samplings[k], dim - 1), (double)n_usual, 0.03 * (double)n_usual);
      assert_close(volume, area, 0.03 * area);
    }
  }
}

// Fluid a spacing above a plane sees the rest density wherever it stands, with wider kernels too.
static void check_plane(double support, double sampling, double tolerance) {
  FloWorldDef def = small_world_def(3);
  def.support = support;
  FloWorld *world = create_world(&def);
  FloKernelForm kernel = flo_kernel_form(def.kernel, 3, (support > 0 ? support : 2) * def.spacing);
  FloBodyDef plate = flo_default_body_def();
  double s = def.spacing, wanted = 0;
  // Sides that the lattice of samples fits; others stretch it a little.
  double width = s * (round(16 / sampling) * sampling + 1 - sampling),
         depth = s * (round(8 / sampling) * sampling + 1 - sampling);
  plate.shape = box_shape(width, width, depth), plate.pose = pose_at(0, 0, -depth / 2);
  plate.sampling = sampling;
  add_body(world, &plate);
  for (int k = 1; k * s < kernel.support; ++k) wanted += flo_kernel_sheet_sum(&kernel, s, k) * pow(s, 3);
  for (int place = 0; place < 25; ++place) {
    double at[3] = {(place % 5) * 0.17 * s, (place / 5) * 0.17 * s, s / 2}, sum = 0;
    for (size_t i = 0; i < flo_world_count(world, FLO_SET_BOUNDARY); ++i) {
      double d[3] = {field_at(world, FLO_SET_BOUNDARY, "x", i), field_at(world, FLO_SET_BOUNDARY, "y", i),
                     field_at(world, FLO_SET_BOUNDARY, "z", i)};
      vec_sub(d, at, d);
      sum += field_at(world, FLO_SET_BOUNDARY, "volume", i) * flo_kernel_w(&kernel, vec_length(d));
    }
    assert_close(sum, wanted, tolerance * wanted);
  }
  flo_world_destroy(world);
}

static void test_planes_of_finer_and_coarser_samples_are_smooth(void **state) {
  (void)state;
  static const double supports[] = {0, 2.5, 3};
  for (size_t k = 0; k < FLO_COUNT_OF(supports); ++k) {
    check_plane(supports[k], 0.5, 0.05), check_plane(supports[k], 0.8, 0.05);
    check_plane(supports[k], 1, 0.05), check_plane(supports[k], 1.2, 0.05);
  }
}

// A wedge in the plane keeps fluid out of its inside, and lets it stand at its slope.
static void test_an_outline_keeps_fluid_out(void **state) {
  (void)state;
  const double points[] = {0, 0, 0.8, 0, 0.8, 0.4}, s = flo_default_world_def().spacing;
  FloWorld *world = empty_world(2);
  FloBodyDef slope = flo_default_body_def();
  slope.shape = (FloShape){FLO_SHAPE_OUTLINE, .points = points, .n_points = 3};
  slope.pose = pose_at(0.2, 0, 0);
  add_tank(world, 2, 1, 0.6, 0);
  add_body(world, &slope);
  size_t n = add_block(world, add_water(world), (double[]){0, 0, 0}, (double[]){1, 0.4, 0});
  assert_close((double)n * s * s, 0.4 - 0.5 * 0.8 * 0.4, 0.01);
  for (int round = 0; round < 2; ++round, step_world(world, 400))
    for (size_t i = 0; i < flo_world_count(world, FLO_SET_FLUID); ++i) {
      double x = field_at(world, FLO_SET_FLUID, "x", i), y = field_at(world, FLO_SET_FLUID, "y", i);
      assert_true(x < 0.2 || y > (x - 0.2) / 2 - 1e-6 * s); // a particle may lie on the surface
    }
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bad_materials_are_named),
      cmocka_unit_test(test_bad_bodies_are_named),
      cmocka_unit_test(test_an_unknown_kind_of_body_is_refused),
      cmocka_unit_test(test_a_body_that_fails_leaves_no_trace),
      cmocka_unit_test(test_bad_fluids_are_named),
      cmocka_unit_test(test_bad_particles_are_named),
      cmocka_unit_test(test_ids_that_are_not_of_this_world_are_refused),
      cmocka_unit_test(test_failing_without_an_error_to_fill),
      cmocka_unit_test(test_success_does_not_touch_the_error),
      cmocka_unit_test(test_fluid_is_left_out_where_a_solid_stands),
      cmocka_unit_test(test_fluid_is_left_out_of_a_solid_across_a_periodic_face),
      cmocka_unit_test(test_fluid_is_left_out_where_fluid_stands),
      cmocka_unit_test(test_fluid_starts_with_the_velocity_it_was_given),
      cmocka_unit_test(test_a_moving_body_carries_its_samples),
      cmocka_unit_test(test_ids_nobody_wants_need_no_place),
      cmocka_unit_test(test_definitions_are_copied),
      cmocka_unit_test(test_forces_are_zero_before_the_first_step),
      cmocka_unit_test(test_samples_and_lattices_as_defined),
      cmocka_unit_test(test_finer_and_coarser_samples_stand_for_the_same),
      cmocka_unit_test(test_planes_of_finer_and_coarser_samples_are_smooth),
      cmocka_unit_test(test_an_outline_keeps_fluid_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
