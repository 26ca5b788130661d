// What `direct-forcing` is made of: density next to walls, the response to contacts, and their numbers.
#include "coupling/direct_forcing/direct_forcing.h"
#include "solve/dense.h"

#include "support/allocator.h"
#include "support/forcing.h"
#include "support/nodes.h"

// Momentum and angular momentum of everything, in double.
static void total_momentum(FloWorld *world, double momentum[3], double angular[3]) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  vec_set(momentum, 0, 0, 0);
  vec_set(angular, 0, 0, 0);
  for (size_t i = 0; i < p->count; ++i) {
    double v[3], x[3] = {p->x[i], p->y[i], p->z[i]}, orbit[3];
    velocity_at(world, i, v);
    vec_cross(x, v, orbit);
    vec_add_scaled(momentum, v, (double)p->mass[i], momentum);
    vec_add_scaled(angular, orbit, (double)p->mass[i], angular);
  }
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloNode *node = flo_bodies(world)[k].nodes;
    double orbit[3], spin[3];
    if (!flo_body_is_pushed(&flo_bodies(world)[k])) continue;
    vec_cross(node->position, node->velocity, orbit);
    vec_add_scaled(momentum, node->velocity, node->mass, momentum);
    vec_add_scaled(angular, orbit, node->mass, angular);
    angular_momentum_of(node, spin);
    vec_add(angular, spin, angular);
  }
}

// ---- Density ----

// How many walls of a tank of this width a particle is next to.
static int walls_near(const FloParticles *p, size_t i, double s, double width) {
  const double x[3] = {p->x[i], p->y[i], p->z[i]};
  int n = 0;
  for (int axis = 0; axis < 3; ++axis) n += x[axis] < s || x[axis] > width - s;
  return n;
}

static void check_rest_density(int dim) {
  FloWorldDef def = forcing_def(dim, true);
  FloWorld *world = create_world(&def);
  double s = def.spacing, low[3] = {0}, high[3] = {10 * s, 10 * s, dim == 3 ? 10 * s : 0}, top = 7.9 * s;
  add_tank(world, dim, high[0], high[1], high[2]);
  add_block(world, add_water(world), low, high);
  step_world(world, 1);
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  double worst = 0, worst_corner = 0;
  for (size_t i = 0; i < p->count; ++i) {
    if ((dim == 3 ? p->z[i] : p->y[i]) >= top) continue;
    // Where three walls meet, samples stand for a little less than they should.
    double *of_place = dim == 3 && walls_near(p, i, s, 10 * s) == 3 ? &worst_corner : &worst;
    *of_place = fmax(*of_place, fabs((double)p->density[i] / 1000 - 1));
  }
  print_message("%dD at rest: density off by %.2f %%\n", dim, 100 * worst);
  if (dim == 3) print_message("where three walls meet: by %.2f %%\n", 100 * worst_corner);
  assert_true(worst < 0.02 && worst_corner < 0.03);
  flo_world_destroy(world);
}

static void test_fluid_at_rest_next_to_walls_has_its_rest_density(void **state) {
  (void)state;
  check_rest_density(2);
  check_rest_density(3);
}

// Squeezed towards a corner of the tank by 2 % along each axis. With pressures of samples, walls are a part
// of the density that is not squeezed.
static void check_compressed(int dim, bool has_wall_pressure) {
  FloWorldDef def = forcing_def(dim, false);
  FloWorld *world = create_world(&def);
  FloError failure;
  assert_ok(flo_world_set_param(world, "wall_pressure", has_wall_pressure, &failure), &failure);
  double s = def.spacing, low[3] = {0}, high[3] = {10 * s, 10 * s, dim == 3 ? 10 * s : 0}, share = 0.98;
  add_tank(world, dim, high[0], high[1], high[2]);
  add_block(world, add_water(world), low, high);
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  for (size_t i = 0; i < p->count; ++i) p->x[i] *= share, p->y[i] *= share, p->z[i] *= share;
  step_world(world, 1);
  double expected = pow(share, -dim), worst_inside = 0, worst_wall = 0;
  for (size_t i = 0; i < p->count; ++i) {
    const double x[3] = {p->x[i], p->y[i], dim == 3 ? p->z[i] : 5 * s};
    double nearest = fmin(fmin(x[0], x[1]), x[2]), farthest = fmax(fmax(x[0], x[1]), x[2]);
    double error = fabs((double)p->density[i] / 1000 / expected - 1);
    if (farthest > 7.5 * s || (dim == 3 && walls_near(p, i, s, 10 * s) == 3)) continue;
    if (nearest > 2 * s) worst_inside = fmax(worst_inside, error);
    worst_wall = fmax(worst_wall, error);
  }
  print_message(
      "%dD, compressed by %.2f %%, wall_pressure %d: read wrongly by %.3f %% inside, %.3f %% next to "
      "walls\n",
      dim, 100 * (expected - 1), has_wall_pressure, 100 * worst_inside, 100 * worst_wall);
  assert_true(worst_inside < 0.003 && worst_wall < (has_wall_pressure ? 0.035 : 0.02));
  flo_world_destroy(world);
}

static void test_compressed_fluid_reads_compressed(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    check_compressed(dim, false);
    check_compressed(dim, true);
  }
}

// ---- Integration ----

static void test_free_fall_is_exact(void **state) {
  (void)state;
  FloWorldDef def = forcing_def(3, true);
  FloWorld *world = create_world(&def);
  add_drop(world, add_water(world), 0, 0, 0, (const double[3]){0.3, 0, 1});
  FloBodyId ball = add_solid(world, FLO_BODY_DYNAMIC, box_shape(0.1, 0.1, 0.1), pose_at(1, 0, 0), 500);
  step_world(world, 200);
  double t = flo_world_time(world), z = t - 9.81 / 2 * t * t;
  assert_true(fabs(world->sets[FLO_SET_FLUID].z[0] - z) < 1e-7);
  assert_true(fabs(flo_bodies(world)[ball.index].nodes->position[2] + 9.81 / 2 * t * t) < 1e-9);
  flo_world_destroy(world);
}

// ---- Response ----

static void check_matrix(const FloForcingPartner *partner) {
  double factors[36], largest = 0;
  for (int k = 0; k < 36; ++k) largest = fmax(largest, fabs(partner->matrix[k]));
  for (int row = 0; row < 6; ++row)
    for (int column = 0; column < row; ++column)
      assert_true(fabs(partner->matrix[6 * row + column] - partner->matrix[6 * column + row]) <
                  1e-12 * largest);
  // Positive definite along the axes that are free.
  assert_true(flo_dense_factorise_semidefinite(6, partner->matrix, factors));
  for (int axis = 0; axis < 6; ++axis)
    assert_true(partner->node.locks[axis] ? partner->mobility[7 * axis] == 0
                                          : partner->mobility[7 * axis] > 0);
}

// The velocities that resulted, against the condition as it is written: [v_r]_n = bounce, [v_r]_t = slip
// times what it would be without the contact.
static double boundary_error(const FloWorld *world, const FloForcingContact *c, const double before[3]) {
  const FloNode *node = flo_bodies(world)[c->body].nodes;
  double v[3], free[3], at[3] = {0}, relative[3], loose[3];
  velocity_at(world, c->particle, v);
  if (flo_body_is_pushed(&flo_bodies(world)[c->body])) {
    vec_cross(node->angular_velocity, c->arm, at);
    vec_add(at, node->velocity, at);
  }
  vec_copy(before, free);
  vec_sub(v, at, relative);
  vec_sub(free, at, loose);
  double along = vec_dot(relative, c->normal), error[3];
  vec_add_scaled(relative, c->normal, -along, relative);
  vec_add_scaled(loose, c->normal, -vec_dot(loose, c->normal), loose);
  vec_add_scaled(relative, loose, -flo_bodies(world)[c->body].slip, error);
  return fmax(vec_length(error), c->is_pressed ? fabs(along - c->bounce) : 0);
}

static void check_global(int dim, double slip, double density) {
  FloWorld *world = plunge(dim, 1, slip, density);
  double worst = 0, worst_residual = 0, fastest = 0;
  size_t n_contacts = 0;
  for (int k = 0; k < 150; ++k) {
    step_world(world, 1);
    const FloDirectForcing *forcing = forcing_of(world);
    size_t box = world->bodies.count - 1;
    check_matrix(&forcing->partners[box]);
    fastest = fmax(fastest, world->max_speed);
    for (size_t c = 0; c < forcing->n_followers; ++c) { // who is in company is not among them
      const FloForcingContact *contact = &forcing->contacts[forcing->linked[c]];
      double v[3], mass = (double)world->sets[FLO_SET_FLUID].mass[contact->particle];
      assert_int_equal(contact->body, box);
      velocity_at(world, contact->particle, v);
      vec_add_scaled(v, contact->impulse, -1 / mass, v);
      // The body turned on after the response: its angular velocity is that of the new pose.
      worst = fmax(worst, boundary_error(world, contact, v));
      ++n_contacts;
    }
    worst_residual = fmax(worst_residual, world->residual);
  }
  print_message(
      "%dD, slip %g, density %g: %zu contacts, velocities off by %.1e of the fastest, residual %.1e\n", dim,
      slip, density, n_contacts, worst / fastest, worst_residual);
  assert_true(n_contacts > 15);
  assert_true(worst_residual < 1e-5);
  assert_true(worst / fastest < (dim == 2 ? 1e-5 : 1e-3));
  flo_world_destroy(world);
}

static void test_the_global_response_meets_the_boundary_velocity(void **state) {
  (void)state;
  check_global(2, 0, 500);
  check_global(2, 0.5, 100);
  check_global(2, 1, 2000);
  check_global(3, 0, 300);
  check_global(3, 1, 1000);
}

// A drop hits the side of a box off its middle.
static FloWorld *single_contact(int dim, double response, double slip, double restitution) {
  FloWorldDef def = forcing_def(dim, false);
  FloWorld *world = create_world(&def);
  set_param(world, "response", response);
  double s = def.spacing;
  FloBodyDef body = flo_default_body_def();
  body.kind = FLO_BODY_DYNAMIC, body.density = 700, body.slip = slip, body.restitution = restitution;
  body.shape = box_shape(4 * s, 6 * s, dim == 3 ? 8 * s : 0);
  vec_set(body.velocity, 0.1, -0.2, 0);
  body.angular_velocity[2] = 1;
  add_body(world, &body);
  add_drop(world, add_water(world), -2.52 * s, 2 * s, dim == 3 ? 3 * s : 0, (const double[3]){2, 0.5, 0});
  return world;
}

static void check_single(int dim, double slip, double restitution) {
  double v[2][3], body[2][3], spin[2][3];
  for (int k = 0; k < 2; ++k) {
    FloWorld *world = single_contact(dim, k, slip, restitution);
    double before[3], turn[3], after[3], turned[3];
    total_momentum(world, before, turn);
    step_world(world, 1);
    assert_int_equal(forcing_of(world)->n_contacts, 1);
    total_momentum(world, after, turned);
    velocity_at(world, 0, v[k]);
    vec_copy(flo_bodies(world)[0].nodes->velocity, body[k]);
    angular_momentum_of(flo_bodies(world)[0].nodes, spin[k]);
    assert_true(difference(before, after) < 1e-13 * vec_length(before) + 1e-15);
    // Who is moved to the surface takes its momentum along.
    assert_true(difference(turn, turned) < 1e-2 * vec_length(turn));
    flo_world_destroy(world);
  }
  assert_true(difference(v[0], v[1]) < 1e-12);
  assert_true(difference(body[0], body[1]) < 1e-13);
  assert_true(difference(spin[0], spin[1]) < 1e-13);
}

// Minus what particles got that touch a body.
static void sum_contacts(const FloDirectForcing *forcing, size_t body, double sum[6]) {
  memset(sum, 0, 6 * sizeof *sum);
  for (size_t k = 0; k < forcing->n_contacts; ++k) {
    const FloForcingContact *c = &forcing->contacts[k];
    double turn[3];
    if (c->body != body) continue;
    vec_cross(c->arm, c->impulse, turn);
    vec_sub(sum, c->impulse, sum);
    vec_sub(sum + 3, turn, sum + 3);
  }
}

// What a body is said to get is what all particles that touch it got, with the opposite sign.
static void check_exchange(double response, double slip) {
  FloWorld *world = sink_two(1, response, slip, 1);
  double worst = 0, largest = 0, sum[6];
  size_t n_groups = 0;
  for (int k = 0; k < 40; ++k) {
    step_world(world, 1);
    const FloDirectForcing *forcing = forcing_of(world);
    assert_int_equal(forcing->n_body_contacts, 0);
    n_groups = flo_max_size(n_groups, forcing->n_groups);
    for (size_t b = 1; b < world->bodies.count; ++b) {
      const FloForcingPartner *partner = &forcing->partners[b];
      sum_contacts(forcing, b, sum);
      for (int row = 0; row < 6; ++row) {
        double scale = row < 3 ? 1 : 1 / world->def.spacing;
        worst = fmax(worst, scale * fabs(partner->exchange[row] - partner->push[row] - sum[row]));
        largest = fmax(largest, scale * fabs(sum[row]));
      }
    }
  }
  print_message("response %g, slip %g: up to %zu groups, exchange and impulses differ by %.1e of them\n",
                response, slip, n_groups, worst / largest);
  assert_true(n_groups >= 3 && worst < 1e-12 * largest);
  flo_world_destroy(world);
}

static void test_bodies_get_what_their_followers_lose(void **state) {
  (void)state;
  for (double slip = 0; slip <= 1; slip += 0.5) {
    check_exchange(FLO_RESPONSE_GLOBAL, slip);
    check_exchange(FLO_RESPONSE_LOCAL, slip);
  }
}

static void test_local_and_global_agree_for_one_contact(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    check_single(dim, 0, 0);
    check_single(dim, 1, 0);
    check_single(dim, 0.4, 0.7);
  }
}

// Without position correction, since it bounces, angular momentum is conserved as well as momentum.
static void test_a_bounce_conserves_both_momenta(void **state) {
  (void)state;
  FloWorld *world = single_contact(3, FLO_RESPONSE_GLOBAL, 0.2, 1);
  double before[3], turn[3], after[3], turned[3];
  total_momentum(world, before, turn);
  step_world(world, 20);
  total_momentum(world, after, turned);
  assert_true(difference(before, after) < 1e-13 * vec_length(before));
  assert_true(difference(turn, turned) < 1e-12 * vec_length(turn));
  flo_world_destroy(world);
}

static void check_restitution(int dim, double restitution) {
  FloWorldDef def = forcing_def(dim, false);
  FloWorld *world = create_world(&def);
  double s = def.spacing, angle = 0.5, normal[3] = {sin(angle), cos(angle), 0},
         along[3] = {cos(angle), -sin(angle), 0};
  FloBodyDef wall = flo_default_body_def();
  wall.shape = box_shape(40 * s, 4 * s, dim == 3 ? 10 * s : 0), wall.restitution = restitution, wall.slip = 1;
  quat_from_axis_angle((const double[3]){0, 0, 1}, -angle, wall.pose.rotation);
  vec_scale(normal, -2 * s, wall.pose.position);
  add_body(world, &wall);
  FloMaterialId water = add_material(world, 1000, 0);
  // Far enough apart that they do not feel each other.
  for (int k = -3; k <= 3; ++k) {
    double x[3], v[3];
    vec_scale(normal, (3 + 0.3 * k) * s, x);
    vec_add_scaled(x, along, 4 * k * s, x);
    vec_scale(normal, -1, v);
    vec_add_scaled(v, along, 0.5, v);
    add_drop(world, water, x[0], x[1], x[2], v);
  }
  set_param(world, "sound_speed", 20);
  double worst = 0, v[3];
  while (flo_world_time(world) < 5 * s) step_world(world, 1);
  for (size_t i = 0; i < world->sets[FLO_SET_FLUID].count; ++i) {
    velocity_at(world, i, v);
    worst = fmax(worst, fabs(vec_dot(v, normal) - restitution));
    assert_true(fabs(vec_dot(v, along) - 0.5) < 1e-6);
  }
  print_message("%dD, restitution %g: off by %.1e\n", dim, restitution, worst);
  assert_true(worst < 0.01);
  flo_world_destroy(world);
}

static void test_restitution(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    check_restitution(dim, 0);
    check_restitution(dim, 0.5);
    check_restitution(dim, 1);
  }
}

// (9): what moves away keeps its normal velocity, but not its tangential one.
static void test_nothing_sticks(void **state) {
  (void)state;
  FloWorldDef def = forcing_def(2, false);
  FloWorld *world = create_world(&def);
  double s = def.spacing, v[3];
  FloBodyDef wall = flo_default_body_def();
  wall.shape = box_shape(20 * s, 4 * s, 0), wall.pose = pose_at(0, -2 * s, 0), wall.slip = 0.25;
  add_body(world, &wall);
  add_drop(world, add_water(world), 0, 0.45 * s, 0, (const double[3]){1, 0.01, 0});
  step_world(world, 1);
  velocity_at(world, 0, v);
  assert_true(forcing_of(world)->n_contacts == 1 && !forcing_of(world)->contacts[0].is_pressed);
  assert_true(fabs(v[0] - 0.25) < 1e-6 && fabs(v[1] - 0.01) < 1e-6);
  flo_world_destroy(world);
}

// Fluid that glides without friction along a box that is held up by the water below it is not lifted by it.
static void test_a_slippery_box_does_not_lift_the_water_beside_it(void **state) {
  (void)state;
  FloWorld *world = plunge(2, 1, 1, 500);
  FloError error;
  double s = world->def.spacing, highest = 0;
  assert_ok(flo_world_advance(world, 1.5, NULL, &error), &error);
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  for (size_t i = 0; i < p->count; ++i) highest = fmax(highest, p->y[i]);
  print_message("highest particle %.2f spacings above the floor, speed %.3f m/s\n", highest / s,
                world->max_speed);
  assert_true(highest < 13 * s && world->max_speed < 0.5);
  flo_world_destroy(world);
}

// ---- Several at once ----

// A drop between two boxes that close in on it.
static FloWorld *squeeze(bool is_swapped, double other_speed) {
  FloWorldDef def = forcing_def(2, false);
  FloWorld *world = create_world(&def);
  double s = def.spacing;
  for (int k = 0; k < 2; ++k) {
    double side = (k == 0) != is_swapped ? -1 : 1;
    FloBodyDef body = flo_default_body_def();
    body.kind = FLO_BODY_DYNAMIC, body.density = 600, body.shape = box_shape(4 * s, 4 * s, 0);
    body.pose = pose_at(side * 2.51 * s, 0, 0);
    body.velocity[0] = side < 0 ? 1 : -other_speed;
    add_body(world, &body);
  }
  add_drop(world, add_water(world), 0, 0, 0, (const double[3]){0, 0, 0});
  return world;
}

static void test_a_particle_between_two_bodies_stops_both(void **state) {
  (void)state;
  FloWorld *worlds[2] = {squeeze(false, 1), squeeze(true, 1)};
  double s = worlds[0]->def.spacing;
  for (int k = 0; k < 2; ++k) {
    FloWorld *world = worlds[k];
    bool had_company = false;
    for (int step = 0; step < 60; ++step) {
      step_world(world, 1);
      had_company |= forcing_of(world)->n_contacts == 2;
    }
    double momentum[3], angular[3],
        gap = fabs(flo_bodies(world)[0].nodes->position[0] - flo_bodies(world)[1].nodes->position[0]) - 4 * s;
    total_momentum(world, momentum, angular);
    assert_true(had_company && gap > 0.95 * s);
    assert_true(fabs(momentum[0]) < 1e-12);
    assert_true(fabs(world->sets[FLO_SET_FLUID].x[0]) < 1e-3 * s);
    assert_true(fabs(flo_bodies(world)[0].nodes->velocity[0]) < 1e-3);
  }
  // Whoever was added first makes no difference.
  assert_true(fabs(flo_bodies(worlds[0])[0].nodes->position[0] +
                   flo_bodies(worlds[1])[0].nodes->position[0]) < 1e-3 * s);
  for (int k = 0; k < 2; ++k) flo_world_destroy(worlds[k]);
}

static void test_a_moving_body_pushes_another_through_a_particle(void **state) {
  (void)state;
  FloWorld *world = squeeze(false, 0);
  step_world(world, 200);
  const FloNode *a = flo_bodies(world)[0].nodes, *b = flo_bodies(world)[1].nodes;
  double mass = (double)world->sets[FLO_SET_FLUID].mass[0], v[3];
  velocity_at(world, 0, v);
  // Without restitution all three go on together.
  double together = a->mass / (2 * a->mass + mass);
  assert_true(fabs(a->velocity[0] - together) < 1e-4 && fabs(b->velocity[0] - together) < 1e-4);
  assert_true(fabs(v[0] - together) < 1e-4);
  flo_world_destroy(world);
}

static void check_landing(int dim, double friction) {
  FloWorldDef def = forcing_def(dim, true);
  FloWorld *world = create_world(&def);
  double s = def.spacing, up = dim == 3;
  add_solid(world, FLO_BODY_STATIC, box_shape(60 * s, dim == 3 ? 20 * s : 4 * s, dim == 3 ? 4 * s : 0),
            dim == 3 ? pose_at(0, 0, -2 * s) : pose_at(0, -2 * s, 0), 0);
  for (int k = 0; k < 2; ++k) {
    FloBodyDef body = flo_default_body_def();
    double height = (3.5 + 6.5 * k) * s;
    body.kind = FLO_BODY_DYNAMIC, body.density = 800, body.friction = friction;
    body.shape = box_shape(6 * s, 6 * s, dim == 3 ? 6 * s : 0);
    body.pose = dim == 3 ? pose_at(0, 0, height) : pose_at(0, height, 0);
    body.velocity[0] = 0.5;
    add_body(world, &body);
  }
  FloError error;
  assert_ok(flo_world_advance(world, dim == 3 ? 0.3 : 0.6, NULL, &error), &error);
  int axis = up > 0 ? 2 : 1;
  const FloNode *lower = flo_bodies(world)[1].nodes, *upper = flo_bodies(world)[2].nodes;
  double braked = 0.5 * 0.5 / (2 * 9.81 * fmax(friction, 1e-3));
  print_message("%dD landing, friction %g: lower at %.3f, upper at %.3f spacings; slid %.4f m (rest %.4f)\n",
                dim, friction, lower->position[axis] / s, upper->position[axis] / s, lower->position[0],
                braked);
  assert_true(fabs(lower->position[axis] - 3 * s) < 0.05 * s);
  assert_true(fabs(upper->position[axis] - 9 * s) < 0.05 * s);
  if (friction > 0) assert_true(fabs(lower->velocity[0]) < 1e-3);
  if (friction == 0) assert_true(fabs(lower->velocity[0] - 0.5) < 1e-3);
  flo_world_destroy(world);
}

static void test_bodies_rest_on_each_other(void **state) {
  (void)state;
  check_landing(2, 0.4);
  check_landing(3, 0.4);
  check_landing(3, 0);
}

// Contacts of bodies alone, given up too early, leave a residual.
static double stack_residual(double max_iterations) {
  FloWorldDef def = forcing_def(3, true);
  FloWorld *world = create_world(&def);
  double s = def.spacing, worst = 0;
  set_param(world, "max_iterations", max_iterations);
  add_solid(world, FLO_BODY_STATIC, box_shape(30 * s, 20 * s, 4 * s), pose_at(0, 0, -2 * s), 0);
  for (int k = 0; k < 2; ++k)
    add_solid(world, FLO_BODY_DYNAMIC, box_shape(3 * s, 3 * s, 3 * s), pose_at(0, 0, (1.52 + 3.02 * k) * s),
              800);
  while (flo_world_time(world) < 0.02) {
    step_world(world, 1);
    worst = fmax(worst, world->residual);
  }
  assert_true(world->contacts > 0);
  flo_world_destroy(world);
  return worst;
}

static void test_contacts_of_bodies_are_part_of_the_residual(void **state) {
  (void)state;
  double hasty = stack_residual(1), patient = stack_residual(500);
  print_message("a stack: residual %.2g after one iteration, %.2g after up to 500\n", hasty, patient);
  assert_true(hasty > 0.1);
  assert_true(patient < 1e-3);
}

// Two boxes that stand in each other by a share of a spacing part, and do not fly apart.
static void check_parting(double overlap, bool has_gravity) {
  FloWorldDef def = forcing_def(3, has_gravity);
  FloWorld *world = create_world(&def);
  FloError error;
  double s = def.spacing, fastest = 0;
  add_solid(world, FLO_BODY_STATIC, box_shape(20 * s, 20 * s, 4 * s), pose_at(0, 0, -2 * s), 0);
  FloBodyId id =
      add_solid(world, FLO_BODY_DYNAMIC, box_shape(6 * s, 6 * s, 6 * s), pose_at(0, 0, 3 * s), 800);
  FloBody *box = &flo_bodies(world)[id.index];
  box->nodes->position[2] -= overlap * s, box->state.pose.position[2] -= overlap * s;
  flo_world_place_samples(world, box);
  while (flo_world_time(world) < 0.5) {
    assert_ok(flo_world_step_until(world, 0.5, NULL, &error), &error);
    fastest = fmax(fastest, box->nodes->velocity[2]);
  }
  double left = 3 - box->nodes->position[2] / s,
         limit = flo_body_parting_speed(world->def.gravity, world->def.spacing, overlap * s);
  print_message("overlap %g%s: %.4f spacings left after 0.5 s, parted at up to %.4f m/s (limit %.4f)\n",
                overlap, has_gravity ? "" : " without gravity", left, fastest, limit);
  assert_true(left < 0.5 * overlap);
  assert_true(fastest <= 1.01 * limit);
  flo_world_destroy(world);
}

static void test_overlaps_part_slowly(void **state) {
  (void)state;
  for (double overlap = 0.05; overlap < 0.6; overlap *= 3)
    for (int has_gravity = 0; has_gravity < 2; ++has_gravity) check_parting(overlap, has_gravity);
}

// Fluid does not stop what is coupled one way, but a floor does.
static void test_one_way_bodies_stop_at_walls(void **state) {
  (void)state;
  FloWorldDef def = forcing_def(2, true);
  FloWorld *world = create_world(&def);
  FloError error;
  double s = def.spacing, low[3] = {0}, high[3] = {20 * s, 4 * s, 0};
  set_param(world, "one_way", 1);
  add_tank(world, 2, 20 * s, 40 * s, 0);
  FloBodyId box =
      add_solid(world, FLO_BODY_DYNAMIC, box_shape(4 * s, 4 * s, 0), pose_at(10 * s, 12 * s, 0), 100);
  add_block(world, add_water(world), low, high);
  double fall = 10 * s; // from its lower edge to the floor
  assert_ok(flo_world_advance(world, 0.8 * sqrt(2 * fall / 9.81), NULL, &error), &error);
  double t = flo_world_time(world);
  assert_true(fabs(flo_bodies(world)[box.index].nodes->position[1] - (12 * s - 9.81 / 2 * t * t)) < 1e-9);
  assert_ok(flo_world_advance(world, 0.5, NULL, &error), &error);
  assert_true(fabs(flo_bodies(world)[box.index].nodes->position[1] - 2 * s) < 0.1 * s);
  flo_world_destroy(world);
}

// ---- Thin shells ----

static void check_shell(int dim, double thickness, double speed) {
  FloWorldDef def = forcing_def(dim, false);
  FloWorld *world = create_world(&def);
  double s = def.spacing;
  FloMaterialId water = add_water(world);
  set_param(world, "sound_speed", 1.5 * speed); // steps as long as they can be
  add_solid(world, FLO_BODY_DYNAMIC, box_shape(thickness, 30 * s, dim == 3 ? 30 * s : 0), pose_at(0, 0, 0),
            1e5);
  for (int k = 0; k < 5; ++k)
    add_drop(world, water, -(3 + 0.07 * k) * s, (3 * k - 6.3) * s, 0,
             (const double[3]){speed, 0.1 * speed, 0});
  FloError error;
  assert_ok(flo_world_advance(world, 8 * s / speed, NULL, &error), &error);
  for (int k = 0; k < 5; ++k) assert_true(world->sets[FLO_SET_FLUID].x[k] < -0.4 * s);
  flo_world_destroy(world);
}

static void test_nothing_passes_a_thin_shell(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim)
    for (double speed = 1; speed < 300; speed *= 16) {
      check_shell(dim, 0.02, speed);
      check_shell(dim, 0.01, speed);
    }
}

// ---- Bits and bytes ----

// Samples that repel fluid by penalty.
static size_t count_repelling(const FloWorld *world) {
  const float *repulsion = forcing_of(world)->repulsion;
  size_t n = 0;
  for (size_t i = 0; i < world->sets[FLO_SET_BOUNDARY].count + world->sets[FLO_SET_RIGID].count; ++i) {
    const float *f = repulsion + 4 * i;
    n += f[0] != 0 || f[1] != 0 || f[2] != 0;
  }
  return n;
}

static uint64_t plunge_hash(int threads, double response) {
  FloWorld *world = plunge(3, threads, 0.5, 500);
  set_param(world, "response", response);
  step_world(world, 60);
  uint64_t hash = flo_world_hash(world);
  if (response == FLO_RESPONSE_PENALTY)
    assert_true(count_repelling(world) > 256);
  else
    assert_true(forcing_of(world)->n_near > 128);
  flo_world_destroy(world);
  return hash;
}

// With at least three chunks of groups, which hold four each.
static uint64_t sink_hash(int threads, double response) {
  FloWorld *world = sink_two(threads, response, 0.5, 2);
  size_t n_groups = 0;
  for (int k = 0; k < 20; ++k) {
    step_world(world, 1);
    n_groups = flo_max_size(n_groups, forcing_of(world)->n_groups);
  }
  uint64_t hash = flo_world_hash(world);
  assert_true(response == FLO_RESPONSE_PENALTY || n_groups >= 9);
  flo_world_destroy(world);
  return hash;
}

static void test_threads_make_no_difference(void **state) {
  (void)state;
  for (int response = 0; response < 3; ++response) {
    uint64_t one = plunge_hash(1, response);
    assert_true(one == plunge_hash(2, response) && one == plunge_hash(3, response));
    uint64_t sunk = sink_hash(1, response);
    assert_true(sunk == sink_hash(2, response) && sunk == sink_hash(3, response));
  }
}

static void test_a_warm_world_takes_no_memory(void **state) {
  (void)state;
  CountingAllocator counter = {0};
  FloWorldDef def = forcing_def(2, true);
  def.allocator = counting_allocator(&counter);
  FloWorld *world = create_dam_of(&def, 3);
  add_solid(world, FLO_BODY_DYNAMIC, box_shape(0.1, 0.1, 0), pose_at(0.5, 0.1, 0), 400);
  step_world(world, 600);
  size_t calls = counter.n_calls;
  step_world(world, 200);
  assert_int_equal(counter.n_calls, calls);
  flo_world_destroy(world);
  assert_int_equal(counter.bytes, 0);
}

// ---- Input ----

static void test_conditions_out_of_range_are_refused(void **state) {
  (void)state;
  FloWorldDef def = forcing_def(2, true);
  FloWorld *world = create_world(&def);
  FloError error;
  FloBodyDef body = flo_default_body_def();
  body.shape = box_shape(1, 1, 0);
  body.slip = 1.5;
  assert_int_equal(flo_world_add_body(world, &body, NULL, &error), FLO_BAD_INPUT);
  assert_non_null(strstr(error.text, "slip"));
  body.slip = -1, body.restitution = NAN;
  assert_int_equal(flo_world_add_body(world, &body, NULL, &error), FLO_BAD_INPUT);
  FloMaterialDef material = flo_default_material_def();
  material.restitution = 2;
  assert_int_equal(flo_world_add_material(world, &material, NULL, &error), FLO_BAD_INPUT);
  assert_string_equal(flo_method_words("direct-forcing", "response")[2], "penalty");
  assert_null(flo_method_words("direct-forcing", "alpha"));
  assert_null(flo_method_words("wcsph", "alpha"));
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fluid_at_rest_next_to_walls_has_its_rest_density),
      cmocka_unit_test(test_compressed_fluid_reads_compressed),
      cmocka_unit_test(test_free_fall_is_exact),
      cmocka_unit_test(test_the_global_response_meets_the_boundary_velocity),
      cmocka_unit_test(test_bodies_get_what_their_followers_lose),
      cmocka_unit_test(test_local_and_global_agree_for_one_contact),
      cmocka_unit_test(test_a_bounce_conserves_both_momenta),
      cmocka_unit_test(test_restitution),
      cmocka_unit_test(test_nothing_sticks),
      cmocka_unit_test(test_a_slippery_box_does_not_lift_the_water_beside_it),
      cmocka_unit_test(test_a_particle_between_two_bodies_stops_both),
      cmocka_unit_test(test_a_moving_body_pushes_another_through_a_particle),
      cmocka_unit_test(test_bodies_rest_on_each_other),
      cmocka_unit_test(test_contacts_of_bodies_are_part_of_the_residual),
      cmocka_unit_test(test_overlaps_part_slowly),
      cmocka_unit_test(test_one_way_bodies_stop_at_walls),
      cmocka_unit_test(test_nothing_passes_a_thin_shell),
      cmocka_unit_test(test_threads_make_no_difference),
      cmocka_unit_test(test_a_warm_world_takes_no_memory),
      cmocka_unit_test(test_conditions_out_of_range_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
