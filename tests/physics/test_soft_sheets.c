// Cloth, shells and strands against theory: bending under weight and loads, roofs, catenaries, membranes.
// Each case runs with at least two meshes. Limits: 3 % of theory, and 1 % between the two finest meshes.
#include "support/random.h"
#include "support/reference_file.h"
#include "support/soft_bodies.h"

static const double LIMIT = 0.03, AGREE = 0.01, G = 9.81;

static void check_pair(const char *what, double coarse, double fine, double wanted) {
  print_message("%s: %+.2f %%, finer %+.2f %%\n", what, 100 * (coarse / wanted - 1),
                100 * (fine / wanted - 1));
  assert_close(fine, wanted, LIMIT * fabs(wanted));
  assert_close(coarse, wanted, LIMIT * fabs(wanted));
  assert_close(coarse, fine, AGREE * fabs(wanted));
}

// ---- A clamped strip under its weight ----

typedef struct Tip {
  double x, drop;
} Tip;

// Length 1, areal density 1; the first segment is held, so that the strip is clamped at x = 0.
static Tip hang_strand(int n, double gamma) {
  SoftTest t;
  soft_test_line(&t, n + 1);
  for (size_t i = 0; i < t.n_points; ++i) t.points[3 * i] = ((double)i - 1) / n;
  soft_test_make_strand(&t, &(FloClothDef){.areal_density = 1, .stretch = 1e5, .bend = G / gamma});
  flo_soft_fix(t.soft, 0, true), flo_soft_fix(t.soft, 1, true);
  soft_test_settle_under_gravity(&t, (double[]){0, -G, 0}, 100);
  const double *x = soft_test_at(&t, t.n_points - 1);
  Tip tip = {x[0], -x[1]};
  soft_test_free(&t);
  return tip;
}

// Moves inner points at random, by a share of the spacing: an irregular mesh.
static void jitter(SoftTest *t, double spacing, double share, double width) {
  Random random = {11};
  for (size_t i = 0; i < t->n_points; ++i) {
    double *p = t->points + 3 * i;
    double dx = random_between(&random, -share, share) * spacing,
           dy = random_between(&random, -share, share) * spacing;
    if (p[0] > 1e-6 && p[0] < 1 - 1e-6 && p[1] > 1e-6 && p[1] < width - 1e-6) p[0] += dx, p[1] += dy;
  }
}

// thickness: only sets how stiff it is against stretching.
static Tip hang_strip(int n, Diagonals diagonals, double share, double gamma, double poisson,
                      double thickness) {
  SoftTest t;
  double width = 0.2, bend = G / gamma;
  soft_test_grid(&t, n + 1, n / 5, diagonals);
  for (size_t i = 0; i < t.n_points; ++i)
    t.points[3 * i] = (t.points[3 * i] * (n + 1) - 1) / n, t.points[3 * i + 1] *= width;
  jitter(&t, 1.0 / n, share, width);
  soft_test_make_cloth(&t, &(FloClothDef){.areal_density = 1,
                                          .poisson = poisson,
                                          .stretch = 12 * bend / (thickness * thickness),
                                          .bend = bend});
  for (size_t i = 0; i < t.n_points; ++i) {
    double x = t.points[3 * i];
    if (x < 1e-9) flo_soft_fix(t.soft, i, true);
    // A wide strip: nothing moves sideways at its borders, so it bends as in the plane.
    bool is_border = t.points[3 * i + 1] < 1e-9 || t.points[3 * i + 1] > width - 1e-9;
    if (poisson > 0 && x >= 1e-9 && is_border) flo_soft_hold(t.soft, i, (bool[]){0, 1, 0});
  }
  soft_test_settle_under_gravity(&t, (double[]){0, 0, -G}, 100);
  Tip tip = {0};
  for (size_t i = 0; i < t.n_points; ++i)
    if (t.points[3 * i] > 1 - 1e-9) tip = (Tip){soft_test_at(&t, i)[0], -soft_test_at(&t, i)[2]};
  soft_test_free(&t);
  return tip;
}

static const char *elastica = "analytic_heavy_cantilever_elastica.csv";
static const char *const gammas[] = {"1,", "2,", "5,", "10,", "20,", "50,", "100,"};

static void test_strand_under_weight(void **state) {
  (void)state;
  reference_need(elastica);
  for (size_t k = 0; k < FLO_COUNT_OF(gammas); ++k) {
    Tip coarse = hang_strand(20, atof(gammas[k])), fine = hang_strand(40, atof(gammas[k]));
    print_message("strand, Gamma %s ", gammas[k]);
    check_pair("drop", coarse.drop, fine.drop, reference_number(elastica, gammas[k], 1));
    check_pair("x", coarse.x, fine.x, reference_number(elastica, gammas[k], 2));
  }
}

static void test_strip_under_weight(void **state) {
  (void)state;
  reference_need(elastica);
  for (size_t k = 0; k < FLO_COUNT_OF(gammas); k += 3)
    for (int mesh = 0; mesh < 4; ++mesh) {
      Diagonals diagonals = mesh == 3 ? DIAGONALS_SAME : (Diagonals)mesh;
      double share = mesh == 3 ? 0.25 : 0, gamma = atof(gammas[k]);
      Tip coarse = hang_strip(25, diagonals, share, gamma, 0, 0.01);
      Tip fine = hang_strip(40, diagonals, share, gamma, 0, 0.01);
      print_message("strip, mesh %d, Gamma %s ", mesh, gammas[k]);
      check_pair("drop", coarse.drop, fine.drop, reference_number(elastica, gammas[k], 1));
      check_pair("x", coarse.x, fine.x, reference_number(elastica, gammas[k], 2));
    }
}

// Thicker and thinner sheets, and a Poisson ratio, leave the shape as it is.
static void test_thickness(void **state) {
  (void)state;
  reference_need(elastica);
  double drop = reference_number(elastica, "10,", 1);
  static const double thicknesses[] = {0.02, 0.005, 0.002};
  for (size_t k = 0; k < FLO_COUNT_OF(thicknesses); ++k)
    for (int mesh = 0; mesh < 2; ++mesh) {
      Tip tip =
          hang_strip(25, mesh ? DIAGONALS_ALTERNATE : DIAGONALS_SAME, 0.2 * mesh, 10, 0, thicknesses[k]);
      print_message("thickness %g, mesh %d: drop %+.2f %%\n", thicknesses[k], mesh,
                    100 * (tip.drop / drop - 1));
      assert_close(tip.drop, drop, LIMIT * drop);
    }
  Tip wide = hang_strip(25, DIAGONALS_ALTERNATE, 0, 10, 0.3, 0.01);
  assert_close(wide.drop, drop, LIMIT * drop);
}

// ---- A load at the tip ----

static Tip load_strip(int n, Diagonals diagonals, double load) {
  SoftTest t;
  int rows = n / 10;
  soft_test_grid(&t, n + 1, rows, diagonals);
  for (size_t i = 0; i < t.n_points; ++i) t.points[3 * i] = 10 * (t.points[3 * i] * (n + 1) - 1) / n;
  soft_test_make_cloth(&t, &(FloClothDef){.areal_density = 1, .young = 1.2e6, .thickness = 0.1});
  double *forces = calloc(3 * t.n_points, sizeof *forces);
  size_t last = 0;
  for (size_t i = 0; i < t.n_points; ++i) {
    const double *p = t.points + 3 * i;
    flo_soft_fix(t.soft, i, p[0] < 1e-9);
    bool is_corner = p[1] < 1e-9 || p[1] > 1 - 1e-9;
    if (p[0] > 10 - 1e-9) forces[3 * i + 2] = load / rows * (is_corner ? 0.5 : 1), last = i;
  }
  soft_test_settle(&t, forces, 1000);
  Tip tip = {10 - soft_test_at(&t, last)[0], soft_test_at(&t, last)[2]};
  free(forces);
  soft_test_free(&t);
  return tip;
}

static void test_tip_load(void **state) {
  (void)state;
  const char *sze = "cantilever_end_shear_sze_2004.csv";
  static const char *const loads[] = {"0.05,", "0.25,", "0.50,", "1.00,"};
  reference_need(sze);
  for (size_t k = 0; k < FLO_COUNT_OF(loads); ++k)
    for (int mesh = 0; mesh < 3; ++mesh) {
      double load = reference_number(sze, loads[k], 1);
      Tip coarse = load_strip(20, (Diagonals)mesh, load), fine = load_strip(40, (Diagonals)mesh, load);
      print_message("tip load %g, mesh %d ", load, mesh);
      check_pair("U", coarse.x, fine.x, reference_number(sze, loads[k], 2));
      check_pair("W", coarse.drop, fine.drop, reference_number(sze, loads[k], 3));
    }
}

// ---- Plates and roofs ----

// A square plate with clamped edges under its weight: 0.00126532 q a^4 / D (Timoshenko, for any Poisson
// ratio).
static double sag_plate(int n, Diagonals diagonals, double share, double poisson) {
  SoftTest t;
  const double g = 0.01;
  soft_test_grid(&t, n + 2, n + 2, diagonals);
  for (size_t i = 0; i < 3 * t.n_points; ++i)
    if (i % 3 < 2) t.points[i] = (t.points[i] * (n + 2) - 1) / n;
  jitter(&t, 1.0 / n, share, 1);
  soft_test_make_cloth(&t, &(FloClothDef){.areal_density = 1, .stretch = 1e3, .bend = 1, .poisson = poisson});
  for (size_t i = 0; i < t.n_points; ++i) {
    const double *p = t.points + 3 * i;
    flo_soft_fix(t.soft, i, p[0] < 1e-6 || p[0] > 1 - 1e-6 || p[1] < 1e-6 || p[1] > 1 - 1e-6);
  }
  soft_test_settle_under_gravity(&t, (double[]){0, 0, -g}, 1000);
  double sag = 0;
  for (size_t i = 0; i < t.n_points; ++i) sag = fmax(sag, -soft_test_at(&t, i)[2] / g);
  soft_test_free(&t);
  return sag;
}

static void test_clamped_plate(void **state) {
  (void)state;
  for (int mesh = 0; mesh < 6; ++mesh) {
    double share = mesh < 3 ? 0 : 0.25;
    print_message("clamped plate, mesh %d ", mesh);
    check_pair("sag", sag_plate(30, (Diagonals)(mesh % 3), share, 0.3),
               sag_plate(44, (Diagonals)(mesh % 3), share, 0.3), 0.00126532);
  }
}

// A hundredth of the load, since the reference is linear.
static double sag_roof(int n, Diagonals diagonals) {
  SoftTest t;
  const double share = 0.01, angle = 40 * FLO_PI / 180;
  soft_test_grid(&t, n, n, diagonals);
  for (size_t i = 0; i < t.n_points; ++i) {
    double a = (2 * t.points[3 * i] - 1) * angle, y = 50 * t.points[3 * i + 1];
    vec_set(t.points + 3 * i, 25 * sin(a), y, 25 * cos(a));
  }
  soft_test_make_cloth(&t, &(FloClothDef){.areal_density = 90, .young = 4.32e8, .thickness = 0.25});
  double sag = 0;
  for (size_t i = 0; i < t.n_points; ++i) {
    double y = t.points[3 * i + 1];
    if (y < 1e-9 || y > 50 - 1e-9) flo_soft_hold(t.soft, i, (bool[]){1, 0, 1});
  }
  soft_test_settle_under_gravity(&t, (double[]){0, 0, -share}, 1000);
  for (size_t i = 0; i < t.n_points; ++i) {
    const double *p = t.points + 3 * i;
    bool is_place = fabs(p[1] - 25) < 1e-6 && p[0] > 25 * sin(angle) - 1e-9;
    if (is_place) sag = (p[2] - soft_test_at(&t, i)[2]) / share;
  }
  soft_test_free(&t);
  return sag;
}

static void test_roof(void **state) {
  (void)state;
  const char *scordelis = "scordelis_lo_roof.csv";
  reference_need(scordelis);
  double wanted = reference_number(scordelis, "vertical displacement", 1);
  check_pair("roof, crossed", sag_roof(36, DIAGONALS_CROSSED), sag_roof(48, DIAGONALS_CROSSED), wanted);
  check_pair("roof, alternate", sag_roof(48, DIAGONALS_ALTERNATE), sag_roof(64, DIAGONALS_ALTERNATE), wanted);
}

// ---- Catenary ----

// Half the angle of an arc whose chord is this share of its length.
static double arc_angle(double span) {
  double low = 0.01, high = FLO_PI;
  for (int k = 0; k < 60; ++k) {
    double middle = (low + high) / 2;
    *(sin(middle) / middle > span ? &low : &high) = middle;
  }
  return low;
}

// A strand or strip of length 1 hung from two supports, laid out as an arc of a circle at first. `pull`:
// horizontal force over weight.
static double hang_catenary(int n, double span, bool is_cloth, double *pull) {
  SoftTest t;
  FloClothDef rope = {.areal_density = 1, .stretch = 1e5};
  if (is_cloth)
    soft_test_grid(&t, n, n / 5, DIAGONALS_ALTERNATE);
  else
    soft_test_line(&t, n);
  double angle = arc_angle(span), radius = 0.5 / angle, width = is_cloth ? 0.2 : 1;
  int down = is_cloth ? 2 : 1;
  for (size_t i = 0; i < t.n_points; ++i) {
    double *p = t.points + 3 * i, s = p[0];
    p[1] *= width;
    p[0] = span / 2 + radius * sin((2 * s - 1) * angle);
    p[down] = radius * (cos(angle) - cos((2 * s - 1) * angle));
  }
  if (is_cloth)
    soft_test_make_cloth(&t, &rope);
  else
    soft_test_make_strand(&t, &rope);
  for (size_t i = 0; i < t.n_points; ++i)
    flo_soft_fix(t.soft, i, fabs(t.points[3 * i + (size_t)down]) < 1e-9);
  double g[3] = {0}, sag = 0, force = 0;
  g[down] = -G;
  soft_test_settle_under_gravity(&t, g, 10);
  for (size_t i = 0; i < t.n_points; ++i) {
    double reaction[3];
    flo_soft_reaction(t.soft, i, reaction);
    sag = fmax(sag, -soft_test_at(&t, i)[down]);
    if (t.points[3 * i] > span / 2) force += reaction[0] / 10; // only fixed vertices have one
  }
  *pull = force / (G * width);
  soft_test_free(&t);
  return sag;
}

static void test_catenary(void **state) {
  (void)state;
  const char *catenary = "analytic_catenary_hanging_strip.csv";
  static const char *const spans[] = {"0.30,", "0.50,", "0.70,", "0.90,", "0.98,"};
  reference_need(catenary);
  for (size_t k = 0; k < FLO_COUNT_OF(spans); ++k)
    for (int is_cloth = 0; is_cloth < 2; ++is_cloth) {
      double pulls[2], sag = hang_catenary(30, atof(spans[k]), is_cloth, &pulls[0]);
      double finer = hang_catenary(50, atof(spans[k]), is_cloth, &pulls[1]);
      print_message("catenary, %s, span %s ", is_cloth ? "cloth" : "strand", spans[k]);
      check_pair("sag", sag, finer, reference_number(catenary, spans[k], 1));
      check_pair("pull", pulls[0], pulls[1], reference_number(catenary, spans[k], 2));
    }
}

// ---- Membranes ----

// A square sheet that is stretched by a tenth and loaded by a small pressure.
static double sag_membrane(int n, Diagonals diagonals) {
  SoftTest t;
  const double stretch = 100, prestretch = 1.1, poisson = 0.3, pressure = 0.01;
  soft_test_grid(&t, n, n, diagonals);
  soft_test_make_cloth(&t, &(FloClothDef){.areal_density = 1,
                                          .stretch = stretch,
                                          .poisson = poisson,
                                          .prestretch = {prestretch, prestretch}});
  for (size_t i = 0; i < t.n_points; ++i) {
    const double *p = t.points + 3 * i;
    flo_soft_fix(t.soft, i, p[0] < 1e-9 || p[0] > 1 - 1e-9 || p[1] < 1e-9 || p[1] > 1 - 1e-9);
  }
  // The mass is that of the sheet before it was stretched.
  double share = prestretch * prestretch, tension = stretch / (1 - poisson) * (prestretch - 1) / prestretch,
         sag = 0;
  soft_test_settle_under_gravity(&t, (double[]){0, 0, -pressure * share}, 1000);
  for (size_t i = 0; i < t.n_points; ++i) sag = fmax(sag, -soft_test_at(&t, i)[2]);
  soft_test_free(&t);
  return sag * tension / pressure;
}

// A disc of n rings of triangles with radius 1.
static void make_disc(SoftTest *t, int n) {
  size_t most = (size_t)(3 * n * (n + 1) + 1);
  soft_test_start(t, most, 3 * (size_t)(6 * n * n));
  soft_test_point(t, 0, 0, 0);
  for (int ring = 1; ring <= n; ++ring)
    for (int k = 0; k < 6 * ring; ++k) {
      double angle = 2 * FLO_PI * k / (6 * ring), r = (double)ring / n;
      soft_test_point(t, r * cos(angle), r * sin(angle), 0);
    }
  for (int ring = 1; ring <= n; ++ring) {
    uint32_t inner = ring == 1 ? 0 : (uint32_t)(3 * (ring - 1) * (ring - 2) + 1),
             outer = (uint32_t)(3 * ring * (ring - 1) + 1);
    uint32_t n_inner = ring == 1 ? 1 : 6 * (uint32_t)(ring - 1), n_outer = 6 * (uint32_t)ring;
    for (uint32_t side = 0; side < 6; ++side)
      for (uint32_t k = 0; k < (uint32_t)ring; ++k) {
        uint32_t o = side * (uint32_t)ring + k, i = side * (uint32_t)(ring - 1) + k;
        uint32_t a = outer + o, b = outer + (o + 1) % n_outer;
        soft_test_triangle(t, a, b, inner + i % n_inner);
        if (k + 1 < (uint32_t)ring) soft_test_triangle(t, b, inner + (i + 1) % n_inner, inner + i % n_inner);
      }
  }
}

// Hencky's disc, flat and without tension at first.
static double sag_disc(int n, double poisson) {
  SoftTest t;
  const double stretch = 1000, pressure = 1;
  make_disc(&t, n);
  soft_test_make_cloth(&t, &(FloClothDef){.areal_density = 1, .stretch = stretch, .poisson = poisson});
  for (size_t i = 0; i < t.n_points; ++i) flo_soft_fix(t.soft, i, vec_length(t.points + 3 * i) > 1 - 1e-9);
  soft_test_settle_under_gravity(&t, (double[]){0, 0, -pressure}, 1);
  double sag = -soft_test_at(&t, 0)[2];
  soft_test_free(&t);
  return sag / cbrt(pressure / stretch);
}

static void test_membranes(void **state) {
  (void)state;
  const char *membrane = "analytic_membrane_sag_and_inflation.csv";
  reference_need(membrane);
  double square = reference_number(membrane, "square a x a", 2);
  for (int mesh = 0; mesh < 3; ++mesh) {
    print_message("stretched square, mesh %d ", mesh);
    check_pair("sag", sag_membrane(16, (Diagonals)mesh), sag_membrane(24, (Diagonals)mesh), square);
  }
  static const char *const discs[] = {
      "circle of radius R; initially flat and unstressed; clamped edge; nu=0 ",
      "circle of radius R; initially flat and unstressed; clamped edge; nu=0.3 ",
      "circle of radius R; initially flat and unstressed; clamped edge; nu=0.5 "};
  static const double ratios[] = {0, 0.3, 0.5};
  for (size_t k = 0; k < FLO_COUNT_OF(discs); ++k) {
    print_message("Hencky's disc, Poisson %g ", ratios[k]);
    check_pair("sag", sag_disc(14, ratios[k]), sag_disc(20, ratios[k]),
               reference_number(membrane, discs[k], 2));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_strand_under_weight),
      cmocka_unit_test(test_strip_under_weight),
      cmocka_unit_test(test_thickness),
      cmocka_unit_test(test_tip_load),
      cmocka_unit_test(test_clamped_plate),
      cmocka_unit_test(test_roof),
      cmocka_unit_test(test_catenary),
      cmocka_unit_test(test_membranes),
  };
  return cmocka_run_group_tests_name("soft sheets", tests, NULL, NULL);
}
