// Surfaces of particles: sizes of known bodies, closed manifolds whatever the particles do, thin and small
// things, limits, and the same bits for any number of threads.
#include "base/vecmath.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"
#include "surface/cube_cases.h"
#include "surface/surface.h"

enum { MAX_POINTS = 400000 };

typedef struct Fluid {
  CountingAllocator counter;
  FloMemory memory;
  double *positions;
  float *velocities;
  size_t count;
  FloSurfaceDef def;
  FloSurfaceMesh surface;
} Fluid;

static void fluid_init(Fluid *fluid, double spacing) {
  *fluid = (Fluid){.counter = {.byte_limit = (size_t)1 << 30}, .def = flo_surface_default_def(spacing)};
  FloAllocator allocator = counting_allocator(&fluid->counter);
  flo_memory_init(&fluid->memory, &allocator);
  fluid->positions = malloc(MAX_POINTS * sizeof(double[3]));
  fluid->velocities = calloc(MAX_POINTS, sizeof(float[3]));
  fluid->def.threads = 2;
}

static void fluid_clear(Fluid *fluid) { flo_surface_free(&fluid->surface); }

static void fluid_free(Fluid *fluid) {
  fluid_clear(fluid);
  free(fluid->positions);
  free(fluid->velocities);
  assert_int_equal(fluid->counter.bytes, 0);
  assert_int_equal(fluid->counter.n_mismatches, 0);
}

static void add(Fluid *fluid, double x, double y, double z) {
  assert_true(fluid->count < MAX_POINTS);
  vec_set(fluid->positions + 3 * fluid->count++, x, y, z);
}

static FloStatus try_build(Fluid *fluid, FloError *error) {
  return flo_surface_build(&fluid->def, fluid->positions, fluid->velocities, fluid->count, &fluid->surface,
                           &fluid->memory, error);
}

static void build(Fluid *fluid) {
  FloError error;
  fluid_clear(fluid);
  assert_ok(try_build(fluid, &error), &error);
}

// ---- Bodies of particles ----

static void add_box(Fluid *fluid, const double low[3], const double size[3]) {
  const double s = fluid->def.spacing;
  long n[3];
  for (int axis = 0; axis < 3; ++axis) n[axis] = lround(size[axis] / s);
  for (long k = 0; k < n[2]; ++k)
    for (long j = 0; j < n[1]; ++j)
      for (long i = 0; i < n[0]; ++i)
        add(fluid, low[0] + ((double)i + 0.5) * s, low[1] + ((double)j + 0.5) * s,
            low[2] + ((double)k + 0.5) * s);
}

// Shells one spacing apart, the outermost half a spacing inside; each particle has the same share of its
// shell.
static void add_ball(Fluid *fluid, const double centre[3], double radius) {
  const double s = fluid->def.spacing, golden = FLO_PI * (3 - sqrt(5));
  for (double r = radius - s / 2; r > 0; r -= s) {
    long n = lround(4 * FLO_PI * r * r / (s * s));
    for (long k = 0; k < n; ++k) {
      double z = 1 - (2 * (double)k + 1) / (double)n, q = sqrt(1 - z * z);
      add(fluid, centre[0] + r * q * cos(golden * (double)k), centre[1] + r * q * sin(golden * (double)k),
          centre[2] + r * z);
    }
  }
}

static void add_torus(Fluid *fluid, double radius, double tube) {
  const double s = fluid->def.spacing;
  for (double r = tube - s / 2; r > 0; r -= s) {
    long n_around = lround(2 * FLO_PI * r / s);
    for (long j = 0; j < n_around; ++j) {
      double angle = 2 * FLO_PI * (double)j / (double)n_around, x = radius + r * cos(angle);
      long n = lround(2 * FLO_PI * x / s);
      for (long k = 0; k < n; ++k) {
        double turn = 2 * FLO_PI * ((double)k + (j % 2 ? 0.5 : 0)) / (double)n;
        add(fluid, x * cos(turn), x * sin(turn), r * sin(angle));
      }
    }
  }
}

static void jitter(Fluid *fluid, Random *random, double share) {
  double most = share * fluid->def.spacing;
  for (size_t k = 0; k < 3 * fluid->count; ++k) fluid->positions[k] += random_between(random, -most, most);
}

// ---- What every surface must be ----

// Corners around each vertex are one ring: every one is followed by another, all in one cycle.
static void assert_fans(const FloMesh *mesh) {
  size_t n = mesh->n_vertices, n_corners = 3 * mesh->n_triangles;
  uint32_t *first = calloc(n + 2, sizeof *first), *list = malloc((n_corners + 1) * sizeof *list);
  const uint32_t *corners = mesh->triangles.data;
  for (size_t k = 0; k < n_corners; ++k) ++first[corners[k] + 2];
  for (size_t v = 2; v < n + 2; ++v) first[v] += first[v - 1];
  for (size_t k = 0; k < n_corners; ++k) list[first[corners[k] + 1]++] = (uint32_t)k;
  for (size_t v = 0; v < n; ++v) {
    uint32_t n_around = first[v + 1] - first[v], n_steps = 0, at = list[first[v]], start = at;
    assert_true(n_around >= 3);
    do {
      uint32_t last = corners[at / 3 * 3 + (at % 3 + 2) % 3], next = UINT32_MAX;
      for (uint32_t k = first[v]; k < first[v + 1]; ++k)
        if (corners[list[k] / 3 * 3 + (list[k] % 3 + 1) % 3] == last) next = list[k];
      assert_true(next != UINT32_MAX);
      at = next;
    } while (++n_steps < n_around && at != start);
    assert_int_equal(n_steps, n_around);
    assert_int_equal(at, start);
  }
  free(first);
  free(list);
}

static void assert_sound(Fluid *fluid, FloMeshReport *report) {
  FloError error;
  FloMesh welded;
  FloSurfaceMesh *surface = &fluid->surface;
  assert_ok(flo_mesh_inspect(&surface->mesh, report, &error), &error);
  assert_true(report->is_watertight);
  assert_false(report->is_inside_out);
  assert_int_equal(report->n_boundary_edges, 0);
  assert_int_equal(report->n_nonmanifold_edges, 0);
  assert_int_equal(report->n_inconsistent_halfedges, 0);
  assert_int_equal(report->n_degenerate, 0);
  assert_int_equal(report->n_components, surface->n_components);
  assert_close(report->area, surface->area, 1e-9 * surface->area);
  assert_fans(&surface->mesh);
  flo_mesh_init(&welded, &fluid->memory);
  assert_ok(flo_mesh_append(&welded, &surface->mesh, &error), &error);
  assert_ok(flo_mesh_weld(&welded, &error), &error);
  assert_int_equal(welded.n_vertices, surface->mesh.n_vertices); // no two in the same place, none unused
  flo_mesh_free(&welded);
  for (size_t v = 0; v < surface->mesh.n_vertices; ++v) {
    const float *n = flo_surface_normal(surface, v);
    assert_close(sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), 1, 1e-5);
  }
}

// ---- Tables ----

// Sides of a case's triangles: how often each ordered pair of cube edges is one.
static void count_sides(const FloCubeCases *cases, unsigned inner, int counts[12][12]) {
  memset(counts, 0, sizeof(int[12][12]));
  for (unsigned t = 0; t < cases->n_triangles[inner]; ++t)
    for (int k = 0; k < 3; ++k) {
      const uint8_t *edges = cases->triangles[inner][t];
      ++counts[edges[k]][edges[(k + 1) % 3]];
    }
}

static bool is_on_face(const FloCubeCases *cases, int edge, int axis, unsigned side) {
  return flo_cube_edge_axis(edge) != axis && (cases->edge_corner[edge] >> axis & 1) == side;
}

// The edge across the cube: on the other of the two faces of an axis.
static int opposite_edge(const FloCubeCases *cases, int edge, int axis) {
  for (int other = 0; other < 12; ++other)
    if (flo_cube_edge_axis(other) == flo_cube_edge_axis(edge) &&
        cases->edge_corner[other] == (cases->edge_corner[edge] ^ 1 << axis))
      return other;
  return -1;
}

// On the face between two cubes the sides of their triangles are the same, in opposite sense, and none is
// used twice: no cracks and no edges of four triangles.
static void assert_neighbours_match(const FloCubeCases *cases, unsigned lower, unsigned upper, int axis) {
  int below[12][12], above[12][12];
  count_sides(cases, lower, below);
  count_sides(cases, upper, above);
  for (int a = 0; a < 12; ++a)
    for (int b = 0; b < 12; ++b) {
      if (!is_on_face(cases, a, axis, 1) || !is_on_face(cases, b, axis, 1)) continue;
      int p = opposite_edge(cases, a, axis), q = opposite_edge(cases, b, axis);
      assert_true(below[a][b] <= 1 && below[a][b] + below[b][a] <= 1);
      assert_int_equal(below[a][b], above[q][p]);
    }
}

static void test_all_neighbouring_cubes_match(void **state) {
  (void)state;
  FloCubeCases cases;
  flo_cube_cases_init(&cases);
  for (int axis = 0; axis < 3; ++axis)
    for (unsigned lower = 0; lower < 256; ++lower)
      for (unsigned upper = 0; upper < 256; ++upper) {
        bool shares_face = true;
        for (unsigned c = 0; c < 8; ++c)
          if (c >> axis & 1) shares_face = shares_face && (lower >> c & 1) == (upper >> (c ^ 1U << axis) & 1);
        if (shares_face) assert_neighbours_match(&cases, lower, upper, axis);
      }
}

static void test_cubes_have_triangles_exactly_on_crossed_edges(void **state) {
  (void)state;
  FloCubeCases cases;
  flo_cube_cases_init(&cases);
  assert_int_equal(cases.n_triangles[0], 0);
  assert_int_equal(cases.n_triangles[255], 0);
  for (unsigned inner = 0; inner < 256; ++inner) {
    bool is_used[12] = {false};
    for (unsigned t = 0; t < cases.n_triangles[inner]; ++t)
      for (int k = 0; k < 3; ++k) is_used[cases.triangles[inner][t][k]] = true;
    for (int edge = 0; edge < 12; ++edge) {
      unsigned a = cases.edge_corner[edge], b = a | 1U << flo_cube_edge_axis(edge);
      assert_int_equal(is_used[edge], (inner >> a & 1) != (inner >> b & 1));
    }
  }
}

// ---- Sizes ----

typedef void (*MakeFn)(Fluid *fluid);

static void make_ball(Fluid *fluid) { add_ball(fluid, (const double[3]){0.1, -0.2, 0.3}, 0.5); }
static void make_torus(Fluid *fluid) { add_torus(fluid, 0.5, 0.2); }
static void make_box(Fluid *fluid) {
  add_box(fluid, (const double[3]){0, 0, 0}, (const double[3]){1, 0.75, 0.5});
}

typedef struct Body {
  MakeFn make;
  double volume, area;
  long long euler;
  double volume_slope, area_slope; // errors are less than this, times the spacing
} Body;

static void check_convergence(const Body *body, FloSurfaceKernel kernel) {
  static const int resolutions[] = {12, 24, 48};
  double errors[2][3];
  for (int k = 0; k < 3; ++k) {
    Fluid fluid;
    FloMeshReport report;
    fluid_init(&fluid, 1.0 / resolutions[k]);
    fluid.def.kernel = kernel;
    body->make(&fluid);
    build(&fluid);
    assert_sound(&fluid, &report);
    assert_int_equal(report.euler_characteristic, body->euler);
    assert_int_equal(report.n_components, 1);
    errors[0][k] = fabs(fluid.surface.volume / body->volume - 1);
    errors[1][k] = fabs(fluid.surface.area / body->area - 1);
    assert_close(errors[0][k], 0, body->volume_slope / resolutions[k]);
    assert_close(errors[1][k], 0, body->area_slope / resolutions[k]);
    assert_close(report.signed_volume, fluid.surface.volume, 1e-9);
    fluid_free(&fluid);
  }
  // Anisotropic kernels of coarse bodies are right by chance: nothing to converge from.
  if (kernel == FLO_SURFACE_ANISOTROPIC) return;
  assert_true(errors[0][1] < 0.6 * errors[0][0] && errors[0][2] < 0.6 * errors[0][1]);
  assert_true(errors[1][1] < 0.6 * errors[1][0] && errors[1][2] < 0.6 * errors[1][1]);
}

static const Body ball = {make_ball, FLO_PI / 6, FLO_PI, 2, 0.6, 0.4};
static const Body torus = {
    make_torus, 2 * FLO_PI *FLO_PI * 0.5 * 0.04, 4 * FLO_PI *FLO_PI * 0.5 * 0.2, 0, 1.2, 1};
static const Body box = {make_box, 0.375, 2 * (0.75 + 0.5 + 0.375), 2, 0.8, 1.4};

static void test_a_ball_converges(void **state) {
  (void)state;
  check_convergence(&ball, FLO_SURFACE_ISOTROPIC);
}
static void test_a_torus_converges(void **state) {
  (void)state;
  check_convergence(&torus, FLO_SURFACE_ISOTROPIC);
}
static void test_a_box_converges(void **state) {
  (void)state;
  check_convergence(&box, FLO_SURFACE_ISOTROPIC);
}
static void test_anisotropic_kernels_converge(void **state) {
  (void)state;
  check_convergence(&ball, FLO_SURFACE_ANISOTROPIC);
  check_convergence(&torus, FLO_SURFACE_ANISOTROPIC);
  check_convergence(&box, FLO_SURFACE_ANISOTROPIC);
}

static void test_normals_and_velocities_of_a_turning_ball(void **state) {
  (void)state;
  Fluid fluid;
  const double centre[3] = {0.3, 0.1, 0.2}, turn[3] = {1, 2, 3};
  fluid_init(&fluid, 0.05);
  add_ball(&fluid, centre, 0.5);
  for (size_t k = 0; k < fluid.count; ++k) {
    double arm[3], v[3];
    vec_sub(fluid.positions + 3 * k, centre, arm);
    vec_cross(turn, arm, v);
    for (int axis = 0; axis < 3; ++axis) fluid.velocities[3 * k + (size_t)axis] = (float)v[axis];
  }
  build(&fluid);
  for (size_t k = 0; k < fluid.surface.mesh.n_vertices; ++k) {
    double arm[3], v[3], difference[3];
    vec_sub(flo_mesh_vertex(&fluid.surface.mesh, k), centre, arm);
    const float *n = flo_surface_normal(&fluid.surface, k), *got = flo_surface_velocity(&fluid.surface, k);
    assert_true(vec_dot(arm, (const double[3]){(double)n[0], (double)n[1], (double)n[2]}) / vec_length(arm) >
                0.97);
    vec_cross(turn, arm, v);
    vec_sub(v, (const double[3]){(double)got[0], (double)got[1], (double)got[2]}, difference);
    // What is known are the particles inside, up to a spacing away.
    assert_true(vec_length(difference) < 0.05 * vec_length(turn) * 1.2);
  }
  fluid_free(&fluid);
}

// ---- Whatever the particles do ----

static void check_cloud(uint64_t seed, FloSurfaceKernel kernel) {
  Random random = {seed};
  Fluid fluid;
  FloMeshReport report;
  fluid_init(&fluid, 0.1);
  fluid.def.kernel = kernel;
  fluid.def.cell = random_between(&random, 0.3, 0.6) * 0.1;
  fluid.def.smoothing = (int)random_below(&random, 12);
  // From a thin mist to a dense crowd, where surfaces meet in every way.
  size_t n = 500 + random_below(&random, 3000);
  double size = cbrt((double)n * 1e-3 * random_between(&random, 0.7, 6));
  for (size_t k = 0; k < n; ++k)
    add(&fluid, random_between(&random, 0, size), random_between(&random, 0, size),
        random_between(&random, 0, size));
  build(&fluid);
  assert_sound(&fluid, &report);
  assert_true(fluid.surface.mesh.n_triangles > 1000);
  fluid_free(&fluid);
}

static void test_random_clouds_are_closed_manifolds(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 12; ++seed) check_cloud(seed, FLO_SURFACE_ISOTROPIC);
}

static void test_random_clouds_of_anisotropic_kernels_too(void **state) {
  (void)state;
  for (uint64_t seed = 101; seed <= 108; ++seed) check_cloud(seed, FLO_SURFACE_ANISOTROPIC);
}

static void test_particles_in_one_place(void **state) {
  (void)state;
  Fluid fluid;
  FloMeshReport report;
  fluid_init(&fluid, 0.1);
  for (int k = 0; k < 100; ++k) add(&fluid, 0.25, 0.25, 0.25);
  for (int kernel = 0; kernel < FLO_SURFACE_KERNEL_COUNT; ++kernel) {
    fluid.def.kernel = (FloSurfaceKernel)kernel;
    build(&fluid);
    assert_sound(&fluid, &report);
    assert_int_equal(report.n_components, 1);
  }
  fluid_free(&fluid);
}

// ---- Thin and small things ----

// A sheet of one layer, in any direction, has two sides and no hole.
static void test_films_of_one_layer_survive(void **state) {
  (void)state;
  Random random = {7};
  for (int round = 0; round < 12; ++round) {
    Fluid fluid;
    FloMeshReport report;
    double turn[4], axis[3], size = 2;
    fluid_init(&fluid, 0.1);
    fluid.def.kernel = round % 2 ? FLO_SURFACE_ANISOTROPIC : FLO_SURFACE_ISOTROPIC;
    if (round % 4 < 2) fluid.def.cell = 1.15 * fluid.def.radius; // close to 2/sqrt(3)
    for (int k = 0; k < 3; ++k) axis[k] = random_between(&random, -1, 1);
    quat_from_axis_angle(axis, random_between(&random, 0, 3), turn);
    for (int j = 0; j < 20; ++j)
      for (int i = 0; i < 20; ++i) {
        double flat[3] = {0.1 * i, 0.1 * j, 0}, p[3];
        quat_rotate(turn, flat, p);
        add(&fluid, p[0], p[1], p[2]);
      }
    jitter(&fluid, &random, 0.1);
    build(&fluid);
    assert_sound(&fluid, &report);
    assert_int_equal(report.n_components, 1);
    assert_int_equal(report.euler_characteristic, 2);
    assert_close(report.area, 2 * size * size + 4 * size * 0.1, 0.15 * 2 * size * size);
    fluid_free(&fluid);
  }
}

static size_t count_drops(double gap) {
  Fluid fluid;
  FloMeshReport report;
  fluid_init(&fluid, 0.05);
  add_ball(&fluid, (const double[3]){0, 0, 0}, 0.25);
  add_ball(&fluid, (const double[3]){0.5 + gap, 0, 0}, 0.25);
  build(&fluid);
  assert_sound(&fluid, &report);
  size_t n = report.n_components;
  fluid_free(&fluid);
  return n;
}

static void test_two_drops_stay_two(void **state) {
  (void)state;
  assert_int_equal(count_drops(0.2), 2);
  assert_int_equal(count_drops(0.1), 2);
  assert_int_equal(count_drops(0.06), 2); // a little more than a spacing
  assert_int_equal(count_drops(0), 1);
}

static void test_no_particles(void **state) {
  (void)state;
  Fluid fluid;
  fluid_init(&fluid, 0.1);
  build(&fluid);
  assert_int_equal(fluid.surface.mesh.n_vertices, 0);
  assert_int_equal(fluid.surface.mesh.n_triangles, 0);
  assert_int_equal(fluid.surface.n_components, 0);
  assert_true(fluid.surface.volume == 0 && fluid.surface.area == 0);
  fluid_free(&fluid);
}

// Wherever it stands in its cell.
static void test_one_particle_is_a_small_ball(void **state) {
  (void)state;
  Random random = {3};
  for (int round = 0; round < 40; ++round) {
    Fluid fluid;
    FloMeshReport report;
    fluid_init(&fluid, 0.1);
    fluid.def.kernel = round % 2 ? FLO_SURFACE_ANISOTROPIC : FLO_SURFACE_ISOTROPIC;
    if (round % 4 < 2) fluid.def.cell = 1.15 * fluid.def.radius;
    double at[3], r = fluid.def.radius;
    for (int axis = 0; axis < 3; ++axis) at[axis] = random_between(&random, -1, 1);
    add(&fluid, at[0], at[1], at[2]);
    build(&fluid);
    assert_sound(&fluid, &report);
    assert_int_equal(report.euler_characteristic, 2);
    assert_true(report.signed_volume > 0.2 * 4 * r * r * r && report.signed_volume < 1.5 * 4.2 * r * r * r);
    for (int axis = 0; axis < 3; ++axis)
      assert_true(report.low[axis] < at[axis] && report.high[axis] > at[axis]);
    fluid_free(&fluid);
  }
}

static void test_spray_can_be_left_out(void **state) {
  (void)state;
  Fluid fluid;
  static const size_t least[] = {0, 1, 2, 3, 4, 1000000};
  static const size_t components[] = {1 + 5 + 1 + 1, 1 + 5 + 1 + 1, 1 + 1 + 1, 1 + 1, 1, 0};
  fluid_init(&fluid, 0.1);
  for (int k = 0; k < 5; ++k) add(&fluid, 3 + k, 0.3 * k, 0);
  for (int k = 0; k < 2; ++k) add(&fluid, 3, 3 + 0.1 * k, 0);
  for (int k = 0; k < 3; ++k) add(&fluid, 3, 5 + 0.12 * k, 0);
  add_ball(&fluid, (const double[3]){0, 0, 0}, 0.5);
  size_t n_ball = fluid.count - 10;
  static const size_t left_out[] = {0, 0, 5, 7, 10};
  for (size_t k = 0; k < FLO_COUNT_OF(least); ++k) {
    fluid.def.min_particles = least[k];
    build(&fluid);
    assert_int_equal(fluid.surface.n_components, components[k]);
    assert_int_equal(fluid.surface.n_particles, components[k] ? n_ball + 10 - left_out[k] : 0);
  }
  fluid_free(&fluid);
}

// ---- Limits ----

static void test_nothing_leaves_the_box(void **state) {
  (void)state;
  Fluid fluid;
  FloMeshReport report;
  Random random = {5};
  fluid_init(&fluid, 0.05);
  // A full tank: walls where the fluid ends, or a little within.
  for (int round = 0; round < 4; ++round) {
    double inset = 0.013 * round;
    fluid.count = 0;
    add_box(&fluid, (const double[3]){0, 0, 0}, (const double[3]){1, 1, 0.5});
    jitter(&fluid, &random, 0.2);
    fluid.def.has_box = true;
    vec_set(fluid.def.box_low, inset, inset, inset);
    vec_set(fluid.def.box_high, 1 - inset, 1 - inset, 1);
    build(&fluid);
    assert_sound(&fluid, &report);
    for (int axis = 0; axis < 3; ++axis) {
      assert_true(report.low[axis] >= fluid.def.box_low[axis]);
      assert_true(report.high[axis] <= fluid.def.box_high[axis]);
      assert_close(report.low[axis], fluid.def.box_low[axis], 0.01);
    }
    assert_close(report.signed_volume, (1 - 2 * inset) * (1 - 2 * inset) * (0.5 - inset), 0.02);
  }
  fluid_free(&fluid);
}

// Also where the limit goes through the midst of the fluid, far from its surface.
static double beyond_plane(const void *context, const double point[3]) {
  (void)context;
  return 0.6 * point[0] + 0.8 * point[2] - 0.3;
}

static void test_a_region_cuts_through_fluid(void **state) {
  (void)state;
  Fluid fluid;
  FloMeshReport report;
  const FloSignedField region = {beyond_plane, NULL};
  fluid_init(&fluid, 0.04);
  add_box(&fluid, (const double[3]){-1, -0.4, -1}, (const double[3]){2, 0.8, 2});
  fluid.def.region = &region;
  build(&fluid);
  assert_sound(&fluid, &report);
  assert_int_equal(report.n_components, 1);
  for (size_t v = 0; v < fluid.surface.mesh.n_vertices; ++v)
    assert_true(beyond_plane(NULL, flo_mesh_vertex(&fluid.surface.mesh, v)) < 1e-9);
  double exact = 0; // columns below the plane
  for (int k = 0; k < 20000; ++k)
    exact += 0.8 * 1e-4 * (fmin((0.3 - 0.6 * (-1 + (k + 0.5) * 1e-4)) / 0.8, 1) + 1);
  assert_close(report.signed_volume, exact, 0.015 * exact);
  fluid_free(&fluid);
}

static void test_a_box_beside_the_fluid_leaves_nothing(void **state) {
  (void)state;
  Fluid fluid;
  fluid_init(&fluid, 0.1);
  add_ball(&fluid, (const double[3]){0, 0, 0}, 0.5);
  fluid.def.has_box = true;
  vec_set(fluid.def.box_low, 2, 2, 2);
  vec_set(fluid.def.box_high, 3, 3, 3);
  build(&fluid);
  assert_int_equal(fluid.surface.mesh.n_triangles, 0);
  fluid_free(&fluid);
}

// ---- Smoothing ----

static void test_smoothing_keeps_the_volume(void **state) {
  (void)state;
  Random random = {11};
  Fluid fluid;
  FloMeshReport report;
  fluid_init(&fluid, 0.05);
  add_ball(&fluid, (const double[3]){0, 0, 0}, 0.4);
  add_box(&fluid, (const double[3]){1, 0, 0}, (const double[3]){0.6, 0.3, 0.05}); // a film
  add(&fluid, 0, 0, 2);
  jitter(&fluid, &random, 0.3);
  fluid.def.smoothing = 0;
  build(&fluid);
  double volume = fluid.surface.volume, area = fluid.surface.area;
  static const int rounds[] = {1, 8, 30};
  for (size_t k = 0; k < FLO_COUNT_OF(rounds); ++k) {
    fluid.def.smoothing = rounds[k];
    build(&fluid);
    assert_sound(&fluid, &report);
    assert_close(fluid.surface.volume, volume, 0.01 * volume);
    assert_true(fluid.surface.area < area); // bumps are gone
    area = fluid.surface.area;
  }
  fluid_free(&fluid);
}

// ---- The same bits ----

static void check_bits(const FloSurfaceMesh *a, const FloSurfaceMesh *b) {
  size_t n = a->mesh.n_vertices;
  assert_int_equal(n, b->mesh.n_vertices);
  assert_int_equal(a->mesh.n_triangles, b->mesh.n_triangles);
  assert_memory_equal(a->mesh.vertices.data, b->mesh.vertices.data, n * sizeof(double[3]));
  assert_memory_equal(a->mesh.triangles.data, b->mesh.triangles.data,
                      a->mesh.n_triangles * sizeof(uint32_t[3]));
  assert_memory_equal(a->normals.data, b->normals.data, n * sizeof(float[3]));
  assert_memory_equal(a->velocities.data, b->velocities.data, n * sizeof(float[3]));
  assert_true(a->volume == b->volume && a->area == b->area);
}

static void test_any_number_of_threads_gives_the_same_bits(void **state) {
  (void)state;
  for (int kernel = 0; kernel < FLO_SURFACE_KERNEL_COUNT; ++kernel) {
    Random random = {21};
    Fluid fluid;
    fluid_init(&fluid, 0.04);
    add_box(&fluid, (const double[3]){0, 0, 0}, (const double[3]){1, 1, 0.6});
    jitter(&fluid, &random, 0.4);
    for (size_t k = 0; k < 3 * fluid.count; ++k) fluid.velocities[k] = (float)random_between(&random, -1, 1);
    fluid.def.kernel = (FloSurfaceKernel)kernel;
    fluid.def.min_particles = 2;
    fluid.def.threads = 1;
    build(&fluid);
    FloSurfaceMesh first = fluid.surface;
    for (int threads = 2; threads <= 5; ++threads) {
      fluid.surface = (FloSurfaceMesh){0};
      fluid.def.threads = threads;
      build(&fluid);
      check_bits(&first, &fluid.surface);
      fluid_clear(&fluid);
    }
    flo_surface_free(&first);
    fluid.surface = (FloSurfaceMesh){0};
    fluid_free(&fluid);
  }
}

// ---- Far away, and what is refused ----

static void test_far_from_the_origin(void **state) {
  (void)state;
  Fluid fluid;
  FloMeshReport report;
  const double centre[3] = {1e6, -1e6, 1e6};
  fluid_init(&fluid, 0.05);
  add_ball(&fluid, centre, 0.5);
  add(&fluid, 1e6 + 3, -1e6, 1e6 - 100);
  build(&fluid);
  assert_sound(&fluid, &report);
  assert_int_equal(report.n_components, 2);
  assert_close(fluid.surface.volume, FLO_PI / 6, 0.02 * FLO_PI / 6);
  for (size_t v = 0; v < fluid.surface.mesh.n_vertices; ++v) {
    double arm[3];
    vec_sub(flo_mesh_vertex(&fluid.surface.mesh, v), centre, arm);
    if (vec_length(arm) < 10) assert_close(vec_length(arm), 0.5, 0.025);
  }
  fluid_free(&fluid);
}

static void test_memory_follows_the_surface_not_the_box(void **state) {
  (void)state;
  size_t n_bricks[2], peak[2];
  for (int k = 0; k < 2; ++k) {
    Fluid fluid;
    fluid_init(&fluid, 1.0 / (32 << k));
    add_box(&fluid, (const double[3]){0, 0, 0}, (const double[3]){1, 1, 1});
    if (k == 0) { // two crumbs in a huge box
      add(&fluid, 1e4, 0, 0);
      add(&fluid, 0, 1e4, 1e4);
    }
    build(&fluid);
    n_bricks[k] = fluid.surface.n_bricks;
    peak[k] = fluid.counter.peak;
    fluid_free(&fluid);
  }
  assert_true(n_bricks[1] < 5 * n_bricks[0]); // the surface has four times as many, the volume eight times
  assert_true(peak[0] < 40 << 20);
}

static void test_what_is_no_number_is_refused(void **state) {
  (void)state;
  Fluid fluid;
  FloError error;
  fluid_init(&fluid, 0.1);
  for (int k = 0; k < 5; ++k) add(&fluid, 0.1 * k, 0, 0);
  static const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
  for (size_t k = 0; k < FLO_COUNT_OF(bad); ++k) {
    fluid.positions[3 * 3 + 1] = bad[k];
    assert_refused(try_build(&fluid, &error), &error, "particle 3 is at (");
    fluid_clear(&fluid);
  }
  fluid.positions[3 * 3 + 1] = 0;
  fluid.velocities[3 * 2] = NAN;
  assert_refused(try_build(&fluid, &error), &error, "particle 2 has the velocity");
  fluid_clear(&fluid);
  fluid.velocities[3 * 2] = 0;
  fluid.positions[0] = 1e9;
  assert_refused(try_build(&fluid, &error), &error, "take larger cells");
  fluid_free(&fluid);
}

static void refuse(Fluid *fluid, const char *word) {
  FloError error;
  assert_refused(try_build(fluid, &error), &error, word);
  fluid_clear(fluid);
  fluid->def = flo_surface_default_def(0.1);
}

static void test_bad_definitions_are_refused(void **state) {
  (void)state;
  Fluid fluid;
  fluid_init(&fluid, 0.1);
  add(&fluid, 0, 0, 0);
  fluid.def.spacing = 0, refuse(&fluid, "spacing must be > 0");
  fluid.def.spacing = NAN, refuse(&fluid, "spacing must be > 0");
  fluid.def.radius = 0.2, refuse(&fluid, "radius must lie between");
  fluid.def.cell = 0.07, refuse(&fluid, "would lose films");
  fluid.def.cell = NAN, refuse(&fluid, "cell must lie between");
  fluid.def.cell = 0.001, refuse(&fluid, "cell must lie between");
  fluid.def.smoothing = -1, refuse(&fluid, "smoothing");
  fluid.def.threads = -1, refuse(&fluid, "threads");
  fluid.def.has_box = true, refuse(&fluid, "low < high");
  fluid_free(&fluid);
}

static void test_without_memory_it_says_so(void **state) {
  (void)state;
  Fluid fluid;
  FloError error;
  fluid_init(&fluid, 0.1);
  add_ball(&fluid, (const double[3]){0, 0, 0}, 0.5);
  fluid.def.kernel = FLO_SURFACE_ANISOTROPIC;
  fluid.def.min_particles = 2;
  build(&fluid);
  size_t n_calls = fluid.counter.n_calls;
  fluid_clear(&fluid);
  for (size_t k = 1; k <= n_calls; ++k) {
    fluid.counter.n_calls = 0;
    fluid.counter.fail_at = k;
    assert_fails(try_build(&fluid, &error), FLO_NO_MEMORY, &error, "memory");
    fluid_clear(&fluid);
    assert_int_equal(fluid.counter.bytes, 0);
  }
  fluid.counter.fail_at = 0;
  fluid_free(&fluid);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_neighbouring_cubes_match),
      cmocka_unit_test(test_cubes_have_triangles_exactly_on_crossed_edges),
      cmocka_unit_test(test_a_ball_converges),
      cmocka_unit_test(test_a_torus_converges),
      cmocka_unit_test(test_a_box_converges),
      cmocka_unit_test(test_anisotropic_kernels_converge),
      cmocka_unit_test(test_normals_and_velocities_of_a_turning_ball),
      cmocka_unit_test(test_random_clouds_are_closed_manifolds),
      cmocka_unit_test(test_random_clouds_of_anisotropic_kernels_too),
      cmocka_unit_test(test_particles_in_one_place),
      cmocka_unit_test(test_films_of_one_layer_survive),
      cmocka_unit_test(test_two_drops_stay_two),
      cmocka_unit_test(test_no_particles),
      cmocka_unit_test(test_one_particle_is_a_small_ball),
      cmocka_unit_test(test_spray_can_be_left_out),
      cmocka_unit_test(test_nothing_leaves_the_box),
      cmocka_unit_test(test_a_region_cuts_through_fluid),
      cmocka_unit_test(test_a_box_beside_the_fluid_leaves_nothing),
      cmocka_unit_test(test_smoothing_keeps_the_volume),
      cmocka_unit_test(test_any_number_of_threads_gives_the_same_bits),
      cmocka_unit_test(test_far_from_the_origin),
      cmocka_unit_test(test_memory_follows_the_surface_not_the_box),
      cmocka_unit_test(test_what_is_no_number_is_refused),
      cmocka_unit_test(test_bad_definitions_are_refused),
      cmocka_unit_test(test_without_memory_it_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
