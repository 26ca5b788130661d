// What `direct-forcing` does around its response: surfaces, who is asked for contacts, and what solids feel.
#include "coupling/direct_forcing/direct_forcing.h"

#include "geometry/solid_surface.h"
#include "support/forcing.h"

// ---- Surfaces ----

static double random_in(uint32_t *seed, double low, double high) {
  *seed = *seed * 1664525u + 1013904223u;
  return low + (high - low) * (double)(*seed >> 8) / (double)(1u << 24);
}

// Formulas against the distances of the geometry, whose differences are the normals; where two sides are
// equally near there is a kink, and either normal is right.
static void check_surface(FloShape shape, int dim) {
  FloMemory memory;
  FloSolid solid;
  FloError error;
  flo_memory_init(&memory, NULL);
  uint32_t seed = 7;
  const double wall = 0.3;
  assert_ok(flo_solid_init(&solid, &shape, dim, 0.05, wall, 1, &memory, &error), &error);
  for (int k = 0; k < 4000; ++k) {
    double p[3] = {random_in(&seed, -1.5, 1.5), random_in(&seed, -1.5, 1.5), 0}, normal[3], expected[3];
    if (dim == 3) p[2] = random_in(&seed, -1.5, 1.5);
    double distance = flo_solid_surface(&solid, p, INFINITY, normal);
    assert_true(fabs(distance - flo_solid_distance(&solid, p)) < 1e-12);
    flo_solid_normal(&solid, p, expected);
    assert_true(fabs(vec_length(normal) - 1) < 1e-12);
    assert_true(difference(normal, expected) < 1e-4 || fabs(vec_length(expected) - 1) > 1e-4);
  }
  flo_solid_free(&solid);
}

static void test_surfaces_by_formula_agree_with_distances(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    double z = dim == 3 ? 0.7 : 0;
    check_surface(box_shape(1.1, 0.6, z), dim);
    check_surface((FloShape){.kind = FLO_SHAPE_SPHERE, .radius = 0.6}, dim);
    // Wider than it is deep, and the other way round; open and closed.
    for (int up = 0; up < dim; ++up)
      for (int closed = 0; closed < 2; ++closed)
        check_surface((FloShape){.kind = FLO_SHAPE_TANK, .size = {1.4, 0.5, z}, .up = up, .closed = closed},
                      dim);
  }
  // Concave, as thin as a hull.
  static const double hull[] = {-1, 0, 1, 0, 1.2, 0.9, 1.1, 0.9, 0.9, 0.1, -0.9, 0.1, -1.1, 0.9, -1.2, 0.9};
  check_surface((FloShape){.kind = FLO_SHAPE_OUTLINE, .points = hull, .n_points = 8}, 2);
  check_surface((FloShape){.kind = FLO_SHAPE_CYLINDER, .radius = 0.5, .size = {0.8}}, 3);
}

// The very middle of a box belongs to one of its sides rather than to none.
static void test_the_middle_of_a_box_has_a_normal(void **state) {
  (void)state;
  FloMemory memory;
  FloSolid solid;
  FloError error;
  flo_memory_init(&memory, NULL);
  FloShape shape = box_shape(0.1, 1, 1);
  double normal[3];
  assert_ok(flo_solid_init(&solid, &shape, 3, 0.05, 0.1, 1, &memory, &error), &error);
  assert_true(flo_solid_surface(&solid, (const double[3]){0, 0, 0}, 1, normal) == -0.05);
  assert_true(fabs(normal[0]) == 1 && normal[1] == 0 && normal[2] == 0);
  flo_solid_free(&solid);
}

// ---- Many contacts ----

// A particle that touches six walls is held by the four nearest, in whatever order they were added.
static void check_nearest(bool is_reversed) {
  FloWorldDef def = forcing_def(3, false);
  FloWorld *world = create_world(&def);
  double s = def.spacing, gaps[6] = {0.45, 0.25, 0.4, 0.2, 0.35, 0.3};
  for (int n = 0; n < 6; ++n) {
    int k = is_reversed ? 5 - n : n, axis = k / 2;
    double at[3] = {0}, size[3] = {0.8 * s, 0.8 * s, 0.8 * s};
    size[axis] = 2 * s;
    at[axis] = (k % 2 ? -1 : 1) * (gaps[k] + 1) * s;
    add_solid(world, FLO_BODY_STATIC, box_shape(size[0], size[1], size[2]), pose_at(at[0], at[1], at[2]), 0);
  }
  FloError error;
  size_t n_added;
  FloFluidDef fluid = flo_default_fluid_def();
  fluid.material = add_water(world), fluid.shape = box_shape(s, s, s);
  fluid.pose = pose_at(20 * s, 0, 0);
  assert_ok(flo_world_add_fluid(world, &fluid, &n_added, &error), &error);
  world->sets[FLO_SET_FLUID].x[0] = 0; // where nothing would be filled in
  step_world(world, 1);
  const FloDirectForcing *forcing = forcing_of(world);
  assert_int_equal(forcing->n_contacts, FLO_MAX_HITS);
  for (int h = 0; h < FLO_MAX_HITS; ++h) {
    static const int nearest[] = {3, 1, 5, 4};
    uint32_t expected = (uint32_t)(is_reversed ? 5 - nearest[h] : nearest[h]);
    assert_int_equal(forcing->contacts[h].body, expected);
  }
  flo_world_destroy(world);
}

static void test_the_nearest_of_many_solids_count(void **state) {
  (void)state;
  check_nearest(false);
  check_nearest(true);
}

// Between a floor and a ceiling that comes down and cannot be stopped: neither condition can be met, and the
// particle must neither be shot away nor press without limit.
static void test_what_is_jammed_stays_calm(void **state) {
  (void)state;
  FloWorldDef def = forcing_def(2, false);
  FloWorld *world = create_world(&def);
  double s = def.spacing, v[3];
  set_param(world, "one_way", 1);
  add_solid(world, FLO_BODY_STATIC, box_shape(20 * s, 4 * s, 0), pose_at(0, -2 * s, 0), 0);
  FloBodyDef lid = flo_default_body_def();
  lid.kind = FLO_BODY_DYNAMIC, lid.density = 1000, lid.shape = box_shape(20 * s, 4 * s, 0);
  lid.pose = pose_at(0, 3.01 * s, 0), lid.velocity[1] = -1;
  add_body(world, &lid);
  add_drop(world, add_water(world), 0, 0.5 * s, 0, (const double[3]){0, 0, 0});
  bool was_jammed = false;
  for (int k = 0; k < 200; ++k) {
    step_world(world, 1);
    const FloDirectForcing *forcing = forcing_of(world);
    double mass = (double)world->sets[FLO_SET_FLUID].mass[0];
    was_jammed |= forcing->n_contacts == 2 && forcing->contacts[0].is_jammed;
    velocity_at(world, 0, v);
    assert_true(vec_length(v) < 1.01);
    for (size_t c = 0; c < forcing->n_contacts; ++c)
      assert_true(vec_length(forcing->contacts[c].impulse) < 10 * mass);
  }
  assert_true(was_jammed);
  flo_world_destroy(world);
}

// Contacts of the first particle near solids that do not press along the normals of their surfaces.
static int count_turned(const FloDirectForcing *forcing) {
  const FloNearParticle *near = &forcing->near[0];
  int n = 0;
  for (int k = 0; k < near->n_hits; ++k)
    n += difference(near->hits[k].normal, forcing->contacts[near->first + (uint32_t)k].normal) > 1e-9;
  return n;
}

// At the lower edge of a lid that comes down, on the floor: whoever is taken for a rigid ball there is shot
// out of the wedge, here at 20 times the lid's speed V. Fluid that is pressed by rho c V leaves with
// sqrt(2 c V).
static void check_pinched(double one_way, double density) {
  FloWorldDef def = forcing_def(2, false);
  FloWorld *world = create_world(&def);
  double s = def.spacing, v[3], fastest = 0;
  set_param(world, "one_way", one_way);
  add_solid(world, FLO_BODY_STATIC, box_shape(20 * s, 4 * s, 0), pose_at(0, -2 * s, 0), 0);
  FloBodyDef lid = flo_default_body_def();
  lid.kind = FLO_BODY_DYNAMIC, lid.density = density, lid.shape = box_shape(8 * s, 4 * s, 0);
  lid.pose = pose_at(0, 2.91 * s, 0), lid.velocity[1] = -1;
  add_body(world, &lid);
  add_drop(world, add_water(world), 6 * s, 0.5 * s, 0, (const double[3]){0, 0, 0});
  world->sets[FLO_SET_FLUID].x[0] = 4.02 * s; // where nothing would be filled in
  bool was_pinched = false;
  for (int k = 0; k < 200; ++k) {
    step_world(world, 1);
    const FloDirectForcing *forcing = forcing_of(world);
    was_pinched |= forcing->n_contacts == 2 && count_turned(forcing) == 2;
    velocity_at(world, 0, v);
    fastest = fmax(fastest, vec_length(v));
  }
  double limit = sqrt(2 * flo_forcing_sound_speed(world, forcing_of(world)));
  print_message("pinched at the edge of a lid that comes with 1 m/s: leaves with %.2f m/s (limit %.2f)\n",
                fastest, limit);
  assert_true(was_pinched && fastest < limit);
  flo_world_destroy(world);
}

static void test_nobody_is_shot_out_of_a_wedge(void **state) {
  (void)state;
  check_pinched(1, 1000);
  check_pinched(0, 1e6);
}

// A particle above the seam of a floor of two slabs, which do not quite meet, and below a lid that comes
// down; solids are added in a given order.
typedef struct Seam {
  int order[3];    // 0 and 1: the floor, 2: the lid
  double lid_edge; // how far the lid reaches beyond the particle [spacings]
  double one_way;
} Seam;

static void add_seam_solid(FloWorld *world, const Seam *in, int which) {
  FloBodyDef body = flo_default_body_def();
  double s = world->def.spacing, left = which == 0 ? -10 : 0.03, right = which == 0 ? -0.03 : 10;
  body.shape = box_shape((right - left) * s, 20 * s, 4 * s);
  body.pose = pose_at((left + right) / 2 * s, 0, -2 * s);
  if (which == 2) {
    body.kind = FLO_BODY_DYNAMIC, body.density = 1e4, body.velocity[2] = -3;
    body.shape = box_shape(8 * s, 8 * s, 4 * s), body.pose = pose_at((in->lid_edge - 4) * s, 0, 2.9 * s);
  }
  add_body(world, &body);
}

// Velocities after a step, of the particle and of the lid.
static void run_seam(const Seam *in, double v[3], double lid[3]) {
  FloWorldDef def = forcing_def(3, false);
  FloWorld *world = create_world(&def);
  double s = def.spacing;
  set_param(world, "one_way", in->one_way);
  for (int k = 0; k < 3; ++k) add_seam_solid(world, in, in->order[k]);
  add_drop(world, add_water(world), 20 * s, 0, 0.5 * s, (const double[3]){0, 0, 0});
  world->sets[FLO_SET_FLUID].x[0] = 0,
  world->sets[FLO_SET_FLUID].z[0] = 0.45 * s; // nothing would be filled in
  step_world(world, 1);
  const FloDirectForcing *forcing = forcing_of(world);
  assert_true(forcing->n_contacts == 3 && count_turned(forcing) >= 2);
  velocity_at(world, 0, v);
  for (size_t k = 0; k < world->bodies.count; ++k)
    if (flo_body_is_pushed(&flo_bodies(world)[k])) vec_copy(flo_bodies(world)[k].nodes->velocity, lid);
  flo_world_destroy(world);
}

static void check_seam(double one_way, double lid_edge) {
  static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  double first[3] = {0}, first_lid[3] = {0}, v[3], lid[3] = {0};
  for (int k = 0; k < 6; ++k) {
    Seam seam = {{orders[k][0], orders[k][1], orders[k][2]}, lid_edge, one_way};
    run_seam(&seam, v, lid);
    if (k == 0) vec_copy(v, first), vec_copy(lid, first_lid);
    assert_true(difference(v, first) < 1e-9 && difference(lid, first_lid) < 1e-9);
    if (lid_edge > 1) assert_true(hypot(v[0], v[1]) < 1e-9); // all is symmetric
    assert_true(hypot(v[0], v[1]) < 0.1); // as a rigid ball it would be shot out of the wedge
  }
  print_message("on a seam below a lid that comes with 3 m/s: (%.4f, %.4f, %.4f) m/s\n", first[0], first[1],
                first[2]);
}

// Below the middle of the lid, where nothing may move sideways, and below its edge.
static void test_whoever_is_added_first_makes_no_difference(void **state) {
  (void)state;
  for (int one_way = 0; one_way < 2; ++one_way) {
    check_seam(one_way, 4);
    check_seam(one_way, -0.02);
  }
}

// A particle that is pressed into the sharp corner between two walls that stand still stays there, however
// much they face each other.
static void test_sharp_corners_are_tight(void **state) {
  (void)state;
  FloWorldDef def = forcing_def(2, false);
  FloWorld *world = create_world(&def);
  double s = def.spacing, half = 20 * 3.14159265358979 / 180, v[3];
  for (int side = -1; side <= 1; side += 2) {
    FloPose pose = pose_at(side * 2 * s * cos(half), -2 * s * sin(half), 0);
    quat_from_axis_angle((const double[3]){0, 0, 1}, -side * half, pose.rotation);
    add_solid(world, FLO_BODY_STATIC, box_shape(4 * s, 20 * s, 0), pose, 0);
  }
  add_drop(world, add_water(world), 0, 0.52 * s / sin(half), 0, (const double[3]){0, -1, 0});
  step_world(world, 100);
  velocity_at(world, 0, v);
  assert_true(vec_length(v) < 1e-6);
  assert_true(fabs(world->sets[FLO_SET_FLUID].y[0] * sin(half) - 0.5 * s) < 0.03 * s);
  flo_world_destroy(world);
}

// ---- What solids feel ----

typedef struct Exchange {
  const char *name;
  FloBodyKind kind;
  double response, one_way, release;
  double viscosity, viscosity_choice, adhesion;
} Exchange;

static FloMaterialId add_liquid(FloWorld *world, double viscosity, double tension, double adhesion) {
  FloMaterialDef def = flo_default_material_def();
  FloError error;
  FloMaterialId id;
  def.density = 1000, def.viscosity = viscosity, def.surface_tension = tension, def.adhesion = adhesion;
  assert_ok(flo_world_add_material(world, &def, &id, &error), &error);
  return id;
}

static FloWorld *make_exchange(const Exchange *in) {
  FloWorldDef def = forcing_def(2, true);
  FloWorld *world = create_world(&def);
  double s = def.spacing, low[3] = {0}, high[3] = {20 * s, 10 * s, 0};
  set_param(world, "response", in->response);
  set_param(world, "one_way", in->one_way);
  set_param(world, "viscosity", in->viscosity_choice);
  set_param(world, "viscosity_tolerance", 1e-6);
  add_tank(world, 2, 20 * s, 40 * s, 0);
  FloBodyDef body = flo_default_body_def();
  FloMotionDef sink = flo_default_motion_def();
  body.kind = in->kind, body.density = 700, body.release = in->release, body.slip = 0.5;
  body.shape = box_shape(6 * s, 4 * s, 0), body.pose = pose_at(9.3 * s, 11 * s, 0);
  if (in->kind == FLO_BODY_DYNAMIC) body.velocity[1] = -1, body.angular_velocity[2] = 1;
  if (in->kind == FLO_BODY_KINEMATIC)
    sink.kind = FLO_MOTION_TRANSLATE, sink.vector[1] = -1, body.motions = &sink, body.n_motions = 1;
  add_body(world, &body);
  add_block(world, add_liquid(world, in->viscosity, in->adhesion, in->adhesion), low, high);
  return world;
}

static void fluid_momentum(const FloWorld *world, double out[3]) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  vec_set(out, 0, 0, 0);
  for (size_t i = 0; i < p->count; ++i) {
    double v[3];
    velocity_at(world, i, v);
    vec_add_scaled(out, v, (double)p->mass[i], out);
  }
}

// What samples feel, all together, is what the body feels.
static double sample_error(const FloWorld *world, const FloBody *body, const FloBodyState *state) {
  const FloParticles *set = &world->sets[body->kind->set];
  double sum[3] = {0};
  for (size_t i = body->first; i < body->first + body->count; ++i) {
    const double f[3] = {(double)set->fx[i], (double)set->fy[i], (double)set->fz[i]};
    vec_add(sum, f, sum);
  }
  return difference(sum, state->force);
}

// What fluid loses, beyond what gravity gives it, solids get; step by step.
static void check_exchange(const Exchange *in) {
  FloWorld *world = make_exchange(in);
  double before[3], after[3], worst = 0, worst_sample = 0, largest = 0;
  size_t n_contacts = 0;
  double mass = 0;
  for (size_t i = 0; i < world->sets[FLO_SET_FLUID].count; ++i)
    mass += (double)world->sets[FLO_SET_FLUID].mass[i];
  for (int step = 0; step < 250; ++step) {
    FloError error;
    fluid_momentum(world, before);
    step_world(world, 1);
    fluid_momentum(world, after);
    const FloDirectForcing *forcing = forcing_of(world);
    double lost[3], got[3] = {0};
    vec_sub(before, after, lost);
    vec_add_scaled(lost, world->def.gravity, mass * forcing->kick_dt, lost);
    for (uint32_t k = 0; k < world->bodies.count; ++k) {
      FloBodyState state;
      assert_ok(flo_world_body_state(world, (FloBodyId){k, 1}, &state, &error), &error);
      vec_add_scaled(got, state.force, forcing->kick_dt, got);
      worst_sample =
          fmax(worst_sample, forcing->kick_dt * sample_error(world, &flo_bodies(world)[k], &state));
    }
    worst = fmax(worst, difference(lost, got)), largest = fmax(largest, vec_length(got));
    for (size_t k = 0; k < forcing->n_contacts; ++k) n_contacts += forcing->contacts[k].body == 1;
  }
  print_message("%s: %zu contacts, momentum lost and got differ by %.1e of it, in samples by %.1e\n",
                in->name, n_contacts, worst / largest, worst_sample / largest);
  assert_true(in->response == FLO_RESPONSE_PENALTY || n_contacts > 100);
  assert_true(worst < 1e-5 * largest && worst_sample < 1e-6 * largest);
  flo_world_destroy(world);
}

static void test_what_fluid_loses_solids_get(void **state) {
  (void)state;
  const FloBodyKind dynamic = FLO_BODY_DYNAMIC;
  const Exchange cases[] = {
      {.name = "free", .kind = dynamic},
      {.name = "free, local", .kind = dynamic, .response = FLO_RESPONSE_LOCAL},
      {.name = "free, penalty", .kind = dynamic, .response = FLO_RESPONSE_PENALTY},
      {.name = "held", .kind = dynamic, .release = 100},
      {.name = "one-way", .kind = dynamic, .one_way = 1},
      {.name = "one-way, penalty", .kind = dynamic, .one_way = 1, .response = FLO_RESPONSE_PENALTY},
      {.name = "kinematic", .kind = FLO_BODY_KINEMATIC},
      {.name = "static", .kind = FLO_BODY_STATIC},
      {.name = "viscous", .kind = dynamic, .viscosity = 0.02, .viscosity_choice = FLO_VISCOSITY_EXPLICIT},
      {.name = "implicit", .kind = dynamic, .viscosity = 0.02, .viscosity_choice = FLO_VISCOSITY_IMPLICIT},
      {.name = "implicit, one-way",
       .kind = dynamic,
       .one_way = 1,
       .viscosity = 0.02,
       .viscosity_choice = FLO_VISCOSITY_IMPLICIT},
      {.name = "adhesive", .kind = dynamic, .adhesion = 1},
  };
  for (size_t k = 0; k < FLO_COUNT_OF(cases); ++k) check_exchange(&cases[k]);
}

// ---- Repulsion by penalty ----

static double highest_sample(const FloParticles *samples, const double *heights) {
  double highest = -INFINITY;
  for (size_t i = 0; i < samples->count; ++i) highest = fmax(highest, heights[i]);
  return highest;
}

// What a plane repels particles by at this height above its samples [spacings], on average over places along
// it that no lattice of samples prefers [N].
static double repulsion_of(int dim, double sampling, double height) {
  enum { N_ALONG = 13 };
  FloWorldDef def = forcing_def(dim, false);
  FloWorld *world = create_world(&def);
  double s = def.spacing, sum = 0, step = 2.73 * s, first = -step * (N_ALONG - 1) / 2;
  set_param(world, "response", FLO_RESPONSE_PENALTY);
  FloMaterialId water = add_water(world);
  FloBodyDef plane = flo_default_body_def();
  plane.shape = dim == 3 ? box_shape(40 * s, 40 * s, 4 * s) : box_shape(40 * s, 4 * s, 0);
  plane.pose = dim == 3 ? pose_at(0, 0, -2 * s) : pose_at(0, -2 * s, 0), plane.sampling = sampling;
  add_body(world, &plane);
  for (int i = 0; i < N_ALONG; ++i)
    for (int j = 0; j < (dim == 3 ? N_ALONG : 1); ++j)
      add_drop(world, water, first + i * step, dim == 3 ? first + j * step : s, dim == 3 ? s : 0,
               (const double[3]){0, 0, 0});
  const FloParticles *samples = &world->sets[FLO_SET_BOUNDARY];
  FloParticles *p = &world->sets[FLO_SET_FLUID];
  double top = highest_sample(samples, dim == 3 ? samples->z : samples->y);
  for (size_t i = 0; i < p->count; ++i) (dim == 3 ? p->z : p->y)[i] = top + height * s;
  step_world(world, 1);
  const float *repulsion = forcing_of(world)->repulsion;
  for (size_t k = 0; k < samples->count; ++k) sum -= (double)repulsion[4 * k + (size_t)dim - 1];
  sum /= (double)p->count;
  flo_world_destroy(world);
  return sum;
}

static void test_a_plane_repels_alike_however_finely_it_is_sampled(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim)
    for (double height = 0.6; height < 1.25; height += 0.2) {
      double usual = repulsion_of(dim, 1, height), fine = repulsion_of(dim, 0.5, height),
             coarse = repulsion_of(dim, 1.2, height);
      print_message("%dD, %.1f spacings above a plane: repelled by %.4g N; sampled at 0.5 %+.1f %%, at 1.2 "
                    "%+.1f %%\n",
                    dim, height, usual, 100 * (fine / usual - 1), 100 * (coarse / usual - 1));
      assert_true(usual > 0 && fabs(fine / usual - 1) < 0.06 && fabs(coarse / usual - 1) < 0.06);
    }
}

// ---- Room ----

// Who has room is left out, and nothing changes by it: forgetting all rooms before each step gives the same
// bits.
static uint64_t hash_with_rooms(int dim, bool is_forgetful, size_t *n_asked) {
  FloWorld *world = plunge(dim, 1, 0.5, 2000);
  for (int k = 0; k < 300; ++k) {
    FloDirectForcing *forcing = world->method_state;
    if (is_forgetful) forcing->n_seen = 0;
    step_world(world, 1);
    *n_asked += forcing->n_near;
  }
  uint64_t hash = flo_world_hash(world);
  flo_world_destroy(world);
  return hash;
}

static void test_who_has_room_need_not_be_asked(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; ++dim) {
    size_t n_asked = 0, n_all = 0;
    uint64_t usual = hash_with_rooms(dim, false, &n_asked), all = hash_with_rooms(dim, true, &n_all);
    print_message("%dD: of %zu particles near solids, %zu were asked\n", dim, n_all, n_asked);
    assert_true(usual == all && n_asked < 0.8 * (double)n_all);
  }
}

// Going back to a saved state, also after another one was gone to, leads to the same bits: what the method
// has found out on the way does not stay.
static void test_what_was_found_out_is_forgotten_on_the_way_back(void **state) {
  (void)state;
  FloWorld *world = plunge(3, 1, 0.5, 2000);
  FloError error;
  FloState *start = NULL, *other = NULL;
  step_world(world, 97);
  assert_ok(flo_world_save(world, &start, &error), &error);
  step_world(world, 12);
  uint64_t expected = flo_world_hash(world);
  assert_ok(flo_world_restore(world, start, &error), &error);
  set_param(world, "alpha", 0.2);
  step_world(world, 12);
  assert_ok(flo_world_save(world, &other, &error), &error);
  assert_true(flo_world_hash(world) != expected);
  step_world(world, 3);
  uint64_t expected_after = flo_world_hash(world);
  assert_ok(flo_world_restore(world, start, &error), &error);
  step_world(world, 12);
  assert_true(flo_world_hash(world) == expected);
  assert_ok(flo_world_restore(world, other, &error), &error);
  step_world(world, 3);
  assert_true(flo_world_hash(world) == expected_after);
  flo_state_destroy(start);
  flo_state_destroy(other);
  flo_world_destroy(world);
}

// ---- Other forces ----

// A layer on a slope of 45 degrees that is slippery: thick fluid is held by its wall viscosity, in steps that
// are as long as those of water.
static double slide(double viscosity, double *dt) {
  FloWorldDef def = forcing_def(2, true);
  vec_set(def.gravity, 7, -7, 0);
  FloWorld *world = create_world(&def);
  FloError error;
  double s = def.spacing, low[3] = {0}, high[3] = {20 * s, 4 * s, 0}, v[3], sum = 0;
  add_solid(world, FLO_BODY_STATIC, box_shape(400 * s, 4 * s, 0), pose_at(150 * s, -2 * s, 0), 0);
  add_block(world, add_liquid(world, viscosity, 0, 0), low, high);
  set_param(world, "sound_speed", 20);
  assert_ok(flo_world_advance(world, 0.2, NULL, &error), &error);
  for (size_t i = 0; i < world->sets[FLO_SET_FLUID].count; ++i) velocity_at(world, i, v), sum += v[0];
  *dt = flo_world_max_dt(world, NULL);
  sum /= (double)world->sets[FLO_SET_FLUID].count;
  flo_world_destroy(world);
  return sum;
}

static void test_honey_sticks_and_water_glides(void **state) {
  (void)state;
  double dt_water, dt_honey, water = slide(1e-6, &dt_water), honey = slide(0.5, &dt_honey);
  // A film of four spacings: g h^2/(3 nu).
  double film = 7 * 0.08 * 0.08 / (3 * 0.5);
  print_message(
      "after 0.2 s on a slope: water %.3f m/s, honey %.3f m/s (film %.3f); steps of %.2g and %.2g s\n", water,
      honey, film, dt_water, dt_honey);
  assert_true(fabs(water / 1.4 - 1) < 0.03 && honey < 3 * film && honey > film / 3);
  assert_true(dt_honey > 0.8 * dt_water);
}

// Widest over narrowest of the fluid, along eight directions.
static double roundness(const FloWorld *world) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  double widest = 0, narrowest = INFINITY;
  for (int k = 0; k < 8; ++k) {
    double c = cos(k * 3.14159265 / 8), s = sin(k * 3.14159265 / 8), low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < p->count; ++i)
      low = fmin(low, c * p->x[i] + s * p->y[i]), high = fmax(high, c * p->x[i] + s * p->y[i]);
    widest = fmax(widest, high - low), narrowest = fmin(narrowest, high - low);
  }
  return widest / narrowest;
}

static void test_a_square_drop_becomes_round(void **state) {
  (void)state;
  FloWorldDef def = forcing_def(2, false);
  FloWorld *world = create_world(&def);
  FloError error;
  double s = def.spacing, low[3] = {0}, high[3] = {16 * s, 16 * s, 0}, momentum[3];
  add_block(world, add_liquid(world, 1e-6, 50, 0), low, high);
  double before = roundness(world);
  assert_ok(flo_world_advance(world, 2.5, NULL, &error), &error);
  fluid_momentum(world, momentum);
  print_message("a square drop: widest over narrowest %.3f, then %.3f\n", before, roundness(world));
  assert_true(before > 1.35 && roundness(world) < 1.2);
  assert_true(vec_length(momentum) < 1e-4 * s * s * 256 * 1000);
  flo_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_surfaces_by_formula_agree_with_distances),
      cmocka_unit_test(test_the_middle_of_a_box_has_a_normal),
      cmocka_unit_test(test_the_nearest_of_many_solids_count),
      cmocka_unit_test(test_what_is_jammed_stays_calm),
      cmocka_unit_test(test_nobody_is_shot_out_of_a_wedge),
      cmocka_unit_test(test_whoever_is_added_first_makes_no_difference),
      cmocka_unit_test(test_sharp_corners_are_tight),
      cmocka_unit_test(test_what_fluid_loses_solids_get),
      cmocka_unit_test(test_a_plane_repels_alike_however_finely_it_is_sampled),
      cmocka_unit_test(test_who_has_room_need_not_be_asked),
      cmocka_unit_test(test_what_was_found_out_is_forgotten_on_the_way_back),
      cmocka_unit_test(test_honey_sticks_and_water_glides),
      cmocka_unit_test(test_a_square_drop_becomes_round),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
