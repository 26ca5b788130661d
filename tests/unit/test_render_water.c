// The look `water`: optics against their formulas, light that is neither made nor lost, noise and its
// smoothing, drops and surfaces, what bodies are made of, and pictures that no number of threads changes.
#include "render/denoise.h"
#include "render/optics.h"
#include "render/path.h"
#include "render/spray.h"
#include "support/check.h"
#include "support/random.h"

#include <unistd.h>

static FloError failure;

// ---- Optics ----

static void light_bends_as_snell_says(void **state) {
  (void)state;
  const V3 normal = v3(0, 0, 1);
  for (int degrees = 0; degrees < 90; degrees += 5) {
    double angle = degrees * FLO_PI / 180;
    V3 in = v3((float)sin(angle), 0, -(float)cos(angle)), out, back;
    assert_true(flo_refract(in, normal, FLO_WATER_INDEX, &out));
    assert_close(out.x, sin(angle) / 1.333, 1e-6);
    assert_close(v3_length(out), 1, 1e-6);
    assert_true(out.z < 0);
    // Light takes the same way back.
    assert_true(flo_refract(v3_scale(out, -1), v3(0, 0, -1), 1 / FLO_WATER_INDEX, &back));
    assert_close(back.x, -in.x, 2e-5);
  }
}

// From below the sky is a disc of 48.6 degrees to either side.
static void light_stays_in_beyond_the_critical_angle(void **state) {
  (void)state;
  const double critical = asin(1 / 1.333);
  V3 out;
  for (int side = -1; side <= 1; side += 2) {
    double angle = critical + side * 0.001;
    V3 in = v3((float)sin(angle), 0, (float)cos(angle));
    assert_int_equal(flo_refract(in, v3(0, 0, -1), 1 / FLO_WATER_INDEX, &out), side < 0);
    assert_int_equal(flo_fresnel((float)cos(angle), 1 / FLO_WATER_INDEX) == 1, side > 0);
  }
}

static void water_reflects_two_percent(void **state) {
  (void)state;
  const double straight = pow(0.333 / 2.333, 2), brewster = atan(1.333);
  assert_close(flo_fresnel(1, FLO_WATER_INDEX), straight, 1e-6); // 2.04 %
  assert_close(flo_fresnel(1, 1 / FLO_WATER_INDEX), straight, 1e-6);
  assert_close(flo_fresnel(0, FLO_WATER_INDEX), 1, 1e-6);
  // At Brewster's angle light of one polarisation is not reflected at all: half of the other is left.
  double inner = asin(sin(brewster) / 1.333), across = pow(sin(brewster - inner) / sin(brewster + inner), 2);
  assert_close(flo_fresnel((float)cos(brewster), FLO_WATER_INDEX), 0.5 * across, 1e-6);
  for (int k = 1; k < 90; k++) { // the same from both sides
    double angle = k * FLO_PI / 180, below = asin(sin(angle) / 1.333);
    assert_close(flo_fresnel((float)cos(angle), FLO_WATER_INDEX),
                 flo_fresnel((float)cos(below), 1 / FLO_WATER_INDEX), 2e-4);
  }
}

static void depth_absorbs_exponentially(void **state) {
  (void)state;
  V3 k = flo_absorption_of(v3(0.1f, 0.5f, 1), 0.4f);
  V3 once = flo_beer(k, 0.4f), thrice = flo_beer(k, 1.2f), none = flo_beer(k, 0);
  assert_close(once.x, 0.1, 1e-6);
  assert_close(once.y, 0.5, 1e-6);
  assert_close(once.z, 1, 0);
  assert_close(thrice.x, 0.001, 1e-7);
  assert_close(thrice.y, 0.125, 1e-6);
  assert_close(none.x + none.y + none.z, 3, 0);
  assert_true(isfinite(flo_absorption_of(v3(0, 0, 0), 1).x));
}

// What a white mirror of microfacets sends to one direction if it is lit from all.
static double facet_sum(double view, double alpha) {
  const int n = 600;
  double sum = 0;
  V3 to_eye = v3((float)sqrt(1 - view * view), 0, (float)view);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) { // even in solid angle
      double z = (i + 0.5) / n, turn = 2 * FLO_PI * (j + 0.5) / n, r = sqrt(1 - z * z);
      V3 light = v3((float)(r * cos(turn)), (float)(r * sin(turn)), (float)z);
      V3 middle = v3_normalize(v3_add(light, to_eye));
      sum += (double)flo_microfacets(light.z, to_eye.z, middle.z, (float)alpha);
    }
  return sum * 2 * FLO_PI / n / n;
}

// Never more than arrives; what is missing would bounce between facets. For a width of one, seen from above,
// the integral is 1 - ln 2.
static void microfacets_make_no_light(void **state) {
  (void)state;
  const double widths[] = {0.1, 0.3, 0.6};
  for (size_t a = 0; a < FLO_COUNT_OF(widths); a++)
    for (int view = 1; view <= 9; view += 4) {
      double sum = facet_sum(0.1 * view, widths[a]);
      assert_true(sum < 1.005 && sum > 1 - 0.8 * widths[a] - 0.06);
    }
  assert_close(facet_sum(1, 1), 1 - log(2), 1e-3);
}

static void lamp_is_as_strong_as_told(void **state) {
  (void)state;
  FloDaylight light = flo_daylight_create(v3(0, 0, 1), v3(0, 0, 1), false, 0);
  const int n = 200000;
  double lamp = 0;
  V3 sky = {0, 0, 0};
  for (int k = 0; k < n; k++) { // by rising square of the sine: weighted by the cosine
    double square = (k + 0.5) / n;
    V3 direction = v3((float)sqrt(square), 0, (float)sqrt(1 - square));
    lamp += (double)flo_daylight_lamp(&light, direction).x / n;
    sky = v3_mad(sky, flo_daylight_sky(&light, direction), 1.0f / (float)n);
  }
  assert_close(lamp, light.lamp_strength.x, 1e-3);
  assert_close(flo_daylight_on_ground(&light).x, sky.x + light.lamp_strength.x, 2e-3);
  for (int k = 0; k < 100; k++) {
    const float pair[2] = {(float)k / 100, (float)(k * 37 % 100) / 100};
    V3 towards = flo_daylight_towards_lamp(&light, pair);
    assert_true(v3_dot(towards, light.lamp) >= sqrtf(1 - light.lamp_radius * light.lamp_radius) - 1e-3f);
  }
}

// ---- Paths ----

// A scene by hand: a slab of water, or a ball.
typedef struct Model {
  FloWater water;
  FloSolids solids;
  FloCloud none;
  FloTracer *opaque, *clear;
  FloStuff stuffs[2];
  FloPathScene scene;
} Model;

static void add_slab(FloWater *water, float half, float thickness, V3 tint) {
  static const uint32_t triangles[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                            {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  FloSolids *s = &water->surface;
  s->n_vertices = 36, s->n_triangles = 12;
  s->vertices = calloc(38, sizeof *s->vertices), s->normals = calloc(38, sizeof *s->normals);
  s->triangles = calloc(13, sizeof *s->triangles), water->tints = calloc(38, sizeof *water->tints);
  for (uint32_t k = 0; k < 36; k++) {
    uint32_t corner = triangles[k / 3][k % 3];
    s->vertices[k] = v3(corner & 1 ? half : -half, corner & 2 ? half : -half, corner & 4 ? thickness : 0);
    s->triangles[k / 3][k % 3] = k, water->tints[k] = tint;
  }
  for (uint32_t k = 0; k < 36; k++) {
    const V3 *v = s->vertices + k / 3 * 3;
    s->normals[k] = v3_normalize(v3_cross(v3_sub(v[1], v[0]), v3_sub(v[2], v[0])));
  }
}

static FloSceneBody make_ball(double radius, double x) {
  FloSceneBody body = {.def.kind = FLO_BODY_STATIC};
  body.def.shape = (FloShape){.kind = FLO_SHAPE_SPHERE, .radius = radius, .up = 2};
  body.def.pose = (FloPose){{x, 0, 0}, {0, 0, 0, 1}};
  return body;
}

static void open_model(Model *m, const FloSceneBody *bodies, size_t n) {
  assert_ok(flo_solids_create(bodies, NULL, n, 3, 0.01f, NULL, &m->solids, &failure), &failure);
  assert_ok(flo_tracer_create(&m->none, &m->solids, 0, &m->opaque, &failure), &failure);
  assert_ok(flo_tracer_create(&m->water.drops, &m->water.surface, 0, &m->clear, &failure), &failure);
  m->scene = (FloPathScene){.opaque = m->opaque,
                            .clear = m->clear,
                            .solids = &m->solids,
                            .cloud = &m->none,
                            .stuffs = m->stuffs,
                            .water = &m->water,
                            .light = flo_daylight_even(1),
                            .skin = 1e-4f,
                            .bounces = 3,
                            .depth = 30};
}

static void close_model(Model *m) {
  flo_tracer_destroy(m->opaque);
  flo_tracer_destroy(m->clear);
  flo_solids_destroy(&m->solids);
  flo_water_destroy(&m->water);
}

static V3 mean_light(const Model *m, V3 origin, V3 direction, int n) {
  const FloRay ray = {origin, direction, INFINITY};
  V3 sum = {0, 0, 0};
  for (int k = 0; k < n; k++) {
    FloDice dice = flo_dice_of_pixel(3, 7, k);
    sum = v3_mad(sum, flo_path_light(&m->scene, &ray, &dice).colour, 1.0f / (float)n);
  }
  return sum;
}

// All the ways through a slab and back under a white sky: F + (1 - F)^2 T / (1 - F T), with Fresnel's share F
// and T left after one way through.
static void slab_absorbs_what_its_thickness_says(void **state) {
  (void)state;
  const float tint[3] = {0.2f, 0.6f, 0.95f}, thickness = 0.5f;
  Model m = {.water.reach = 0.7f, .water.spacing = 0.01f};
  add_slab(&m.water, 50, thickness, v3(tint[0], tint[1], tint[2]));
  open_model(&m, NULL, 0);
  for (int degrees = 0; degrees <= 75; degrees += 25) {
    double angle = degrees * FLO_PI / 180, inner = asin(sin(angle) / 1.333);
    double F = (double)flo_fresnel((float)cos(angle), FLO_WATER_INDEX);
    V3 seen = mean_light(&m, v3(0.1f, 0.2f, 3), v3((float)sin(angle), 0, -(float)cos(angle)), 4096);
    const float shown[3] = {seen.x, seen.y, seen.z};
    for (int channel = 0; channel < 3; channel++) {
      double T = pow((double)tint[channel], (double)thickness / 0.7 / cos(inner));
      assert_close(shown[channel], F + (1 - F) * (1 - F) * T / (1 - F * T), 2e-3);
    }
  }
  close_model(&m);
}

// What a slab absorbs it shows in its own colour instead, by the share that scatters.
static void deep_water_has_its_own_colour(void **state) {
  (void)state;
  Model m = {.water.reach = 0.01f, .water.spacing = 0.01f};
  add_slab(&m.water, 50, 2, v3(0.1f, 0.4f, 0.6f));
  open_model(&m, NULL, 0);
  m.scene.scatter = 0.5f;
  V3 seen = mean_light(&m, v3(0, 0.1f, 3), v3(0, 0, -1), 16);
  double F = (double)flo_fresnel(1, FLO_WATER_INDEX);
  assert_close(seen.x, F + (1 - F) * 0.05, 1e-3);
  assert_close(seen.z, F + (1 - F) * 0.3, 1e-3);
  close_model(&m);
}

// A white furnace: where light is one everywhere, a matt ball shows its colour, and a white one of any stuff
// cannot be told from its surroundings.
static void balls_vanish_in_a_white_furnace(void **state) {
  (void)state;
  const struct {
    FloStuff stuff;
    float shown;
  } cases[] = {
      {{.kind = FLO_STUFF_MATT, .colour = {0.6f, 0.6f, 0.6f}, .alpha = 1}, 0.6f},
      {{.kind = FLO_STUFF_MATT, .colour = {0.05f, 0.05f, 0.05f}, .alpha = 1}, 0.05f},
      {{.kind = FLO_STUFF_PLASTIC, .colour = {0.95f, 0.95f, 0.95f}, .shine = 0.04f, .alpha = 0.25f}, 0.952f},
      {{.kind = FLO_STUFF_METAL, .colour = {0.95f, 0.95f, 0.95f}, .shine = 1, .alpha = 0.2f}, 0.95f},
  };
  FloSceneBody ball = make_ball(1, 0);
  for (size_t k = 0; k < FLO_COUNT_OF(cases); k++) {
    Model m = {.stuffs = {cases[k].stuff}};
    open_model(&m, &ball, 1);
    for (int y = -8; y <= 8; y += 4) {
      V3 seen = mean_light(&m, v3(0.2f, 0.1f * (float)y, 5), v3(0, 0, -1), 64);
      assert_close(seen.y, cases[k].shown, abs(y) < 8 ? 0.004 : 0.03); // more shines at the rim
    }
    close_model(&m);
  }
}

// Two balls that touch give light back and forth, and never more than there is.
static void bounces_make_no_light(void **state) {
  (void)state;
  const FloSceneBody balls[2] = {make_ball(1, -1), make_ball(1, 1)};
  const FloStuff stuff = {.kind = FLO_STUFF_MATT, .colour = {0.8f, 0.8f, 0.8f}, .alpha = 1};
  float before = 1;
  for (int bounces = 0; bounces <= 4; bounces += 2) {
    Model m = {.stuffs = {stuff, stuff}};
    open_model(&m, balls, 2);
    m.scene.bounces = bounces;
    V3 seen = mean_light(&m, v3(0.15f, 0.05f, 5), v3(0, 0, -1), 1024);
    assert_true(seen.x < 0.8f && seen.x > 0.35f);
    if (bounces > 0) assert_close(seen.x, before, 0.08);
    before = seen.x;
    close_model(&m);
  }
}

// Water that stands on a floor wets it: no film of air mirrors the light on its way down.
static void water_lies_against_what_is_below(void **state) {
  (void)state;
  Model m = {.water.reach = 1, .water.spacing = 0.1f};
  add_slab(&m.water, 5, 0.3f, v3(1, 1, 1));
  open_model(&m, NULL, 0);
  m.scene.light.has_ground = true, m.scene.light.ground = -0.05f;
  m.scene.ground_extent = 1e-3f; // no shadows here
  for (int k = 0; k < 2; k++) {
    m.scene.gap = k == 0 ? 0.1f : 0;
    FloDice dice = flo_dice_of_pixel(0, 0, 0);
    const FloRay ray = {v3(0, 0, 2), v3_normalize(v3(0.2f, 0, -1)), INFINITY};
    m.scene.light.ground_radiance = v3(0, 0, 0);
    double F = (double)flo_fresnel(-ray.direction.z, FLO_WATER_INDEX);
    double seen = (double)flo_path_light(&m.scene, &ray, &dice).colour.x;
    if (k == 0)
      assert_close(seen, F, 1e-3); // the surface's reflection above a black floor
    else
      assert_true(seen > F + 0.01); // and that of the film
  }
  close_model(&m);
}

// An eye in water sees the floor through nothing but water, however near the water's own bottom is.
static void eye_may_be_in_water(void **state) {
  (void)state;
  Model m = {.water.reach = 0.5f, .water.spacing = 0.1f};
  add_slab(&m.water, 5, 1, v3(0.25f, 0.5f, 1));
  open_model(&m, NULL, 0);
  m.scene.light.has_ground = true, m.scene.light.ground = -0.05f;
  m.scene.light.ground_radiance = v3(1, 1, 1);
  m.scene.ground_extent = 1e-3f, m.scene.gap = 0.1f;
  flo_path_place_eye(&m.scene, v3(0, 0, 2));
  assert_false(m.scene.is_eye_inside);
  flo_path_place_eye(&m.scene, v3(0, 0, -1));
  assert_false(m.scene.is_eye_inside);
  flo_path_place_eye(&m.scene, v3(0, 0, 0.4f));
  assert_true(m.scene.is_eye_inside);
  V3 seen = mean_light(&m, v3(0, 0, 0.4f), v3(0, 0, -1), 16);
  assert_close(seen.x, pow(0.25, 0.45 / 0.5), 1e-3);
  assert_close(seen.y, pow(0.5, 0.45 / 0.5), 1e-3);
  assert_close(seen.z, 1, 1e-3);
  close_model(&m);
}

// ---- Random numbers ----

static void dice_are_even(void **state) {
  (void)state;
  enum { cells = 16 };
  int counts[cells][cells] = {{0}};
  for (int y = 0; y < 64; y++)
    for (int x = 0; x < 64; x++)
      for (int k = 0; k < 4; k++) {
        float pair[2];
        FloDice dice = flo_dice_of_pixel(x, y, k);
        flo_dice_roll(&dice, pair);
        flo_dice_roll(&dice, pair);
        assert_true(pair[0] >= 0 && pair[0] < 1 && pair[1] >= 0 && pair[1] < 1);
        counts[(int)(pair[0] * cells)][(int)(pair[1] * cells)]++;
      }
  for (int k = 0; k < cells * cells; k++) assert_in_range(counts[k / cells][k % cells], 40, 90); // 64 each
}

// ---- Smoothing ----

static void fill_film(FloFilm *film, int width, int height, float noise, Random *random) {
  assert_ok(flo_film_create(width, height, film, &failure), &failure);
  for (int k = 0; k < width * height; k++) {
    bool is_right = k % width >= width / 2;
    float value = (is_right ? 0.7f : 0.3f) + noise * (float)random_between(random, -1, 1);
    film->colours[k] = v3(value, value, value);
    film->albedos[k] = is_right ? v3(0.8f, 0.8f, 0.8f) : v3(0.4f, 0.4f, 0.4f);
    film->normals[k] = v3(0, 0, 1), film->depths[k] = 2;
    film->variances[k] = noise * noise / 3;
  }
}

static void smoothing_keeps_what_has_no_noise(void **state) {
  (void)state;
  Random random = {1};
  FloFilm film;
  fill_film(&film, 40, 30, 0, &random);
  for (int k = 0; k < 1200; k++) film.albedos[k] = v3(0.5f, 0.5f, 0.5f); // not even albedo tells
  assert_ok(flo_film_denoise(&film, 2, &failure), &failure);
  for (int k = 0; k < 1200; k++) assert_close(film.colours[k].x, k % 40 >= 20 ? 0.7 : 0.3, 1e-6);
  for (int k = 0; k < 1200; k++) film.colours[k] = v3(0.25f, 0.5f, 0.75f), film.variances[k] = 0.1f;
  assert_ok(flo_film_denoise(&film, 2, &failure), &failure);
  for (int k = 0; k < 1200; k++) assert_close(film.colours[k].z, 0.75, 1e-5);
  flo_film_destroy(&film);
}

static void smoothing_takes_noise_and_leaves_edges(void **state) {
  (void)state;
  Random random = {2};
  FloFilm film;
  fill_film(&film, 64, 64, 0.2f, &random);
  assert_ok(flo_film_denoise(&film, 0, &failure), &failure);
  double error = 0;
  for (int k = 0; k < 64 * 64; k++) {
    double off = (double)film.colours[k].x - (k % 64 >= 32 ? 0.7 : 0.3);
    error += off * off;
    assert_true(fabs(off) < 0.12); // also next to the edge: nothing came over from the other side
  }
  assert_true(sqrt(error / 4096) < 0.03); // it was 0.115
  flo_film_destroy(&film);
}

static void smoothing_works_on_any_size(void **state) {
  (void)state;
  const int sizes[][2] = {{1, 1}, {1, 50}, {50, 1}, {3, 2}};
  Random random = {3};
  for (size_t k = 0; k < FLO_COUNT_OF(sizes); k++) {
    FloFilm film;
    fill_film(&film, sizes[k][0], sizes[k][1], 0.1f, &random);
    film.depths[0] = INFINITY, film.normals[0] = v3(0, 0, 0);
    assert_ok(flo_film_denoise(&film, 3, &failure), &failure);
    for (int i = 0; i < sizes[k][0] * sizes[k][1]; i++)
      assert_true(film.colours[i].x > 0 && film.colours[i].x < 1);
    flo_film_destroy(&film);
  }
}

// ---- Spray and surface ----

static void spray_is_what_brute_force_finds(void **state) {
  (void)state;
  enum { n = 700 };
  double positions[3 * n];
  bool is_alone[n];
  Random random = {5};
  for (size_t k = 0; k < 3 * n; k++) positions[k] = random_between(&random, -1, 1);
  positions[0] = 1e9; // one far away
  for (size_t most = 0; most < 3; most++) {
    size_t n_alone = 0;
    assert_ok(flo_spray_mark(positions, n, 0.2, most, is_alone, &failure), &failure);
    for (size_t i = 0; i < n; i++) {
      size_t count = 0;
      for (size_t j = 0; j < n; j++) {
        double d = 0;
        for (size_t axis = 0; axis < 3; axis++)
          d += pow(positions[3 * i + axis] - positions[3 * j + axis], 2);
        count += j != i && d <= 0.04;
      }
      assert_int_equal(is_alone[i], count <= most);
      n_alone += is_alone[i];
    }
    assert_true(n_alone > 10 && n_alone < n);
  }
  assert_ok(flo_spray_mark(NULL, 0, 0.2, 1, NULL, &failure), &failure);
}

// A block of particles in the corner of a tank, drops over it, and a few that have left all bounds.
enum { block = 10, n_block = block * block * block, n_fluid = n_block + 20 };

typedef struct Pool {
  float positions[3 * n_fluid], values[n_fluid];
  uint16_t materials[n_fluid];
  FloSceneBody bodies[3];
  FloPictureInput input;
} Pool;

static void fill_pool(Pool *pool) {
  const float spacing = 0.05f;
  for (int k = 0; k < n_fluid; k++) {
    int i = k - n_block;
    float *p = pool->positions + 3 * k;
    p[0] = ((float)(k % block) + 0.5f) * spacing, p[1] = ((float)(k / block % block) + 0.5f) * spacing;
    p[2] = ((float)(k / block / block) + 0.5f) * spacing;
    if (i >= 0)
      p[0] = 0.1f + 0.04f * (float)i, p[1] = 0.1f + 0.1f * (float)(i % 4),
      p[2] = 0.7f + 0.2f * (float)(i % 2);
    pool->values[k] = p[2];
  }
  pool->positions[3 * n_fluid - 1] = NAN, pool->positions[3 * n_fluid - 4] = 1e30f;
  pool->bodies[0] = (FloSceneBody){.def.shape = {.kind = FLO_SHAPE_TANK, .size = {1, 0.5, 1}, .up = 2},
                                   .def.pose = {{0.5, 0.25, 0.5}, {0, 0, 0, 1}}};
  pool->bodies[1] = make_ball(0.12, 0.8), pool->bodies[2] = pool->bodies[1];
  pool->bodies[1].def.pose.position[1] = 0.2, pool->bodies[1].def.pose.position[2] = 0.12;
  pool->bodies[2].def.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {0.2, 0.2, 0.2}, .up = 2};
  pool->bodies[2].def.pose = (FloPose){{0.3, 0.25, 0.55}, {0, 0, 0, 1}};
  snprintf(pool->bodies[2].look, sizeof pool->bodies[2].look, "wood");
  pool->input = (FloPictureInput){.dim = 3,
                                  .up = 2,
                                  .n_particles = n_fluid,
                                  .positions = pool->positions,
                                  .values = pool->values,
                                  .radius = 0.5f * spacing,
                                  .materials = pool->materials,
                                  .bodies = pool->bodies,
                                  .n_bodies = 3,
                                  .value_label = "z [m]",
                                  .caption = "A pool"};
  pool->input.view.style.look = FLO_LOOK_WATER;
}

static double volume_of(const FloSolids *s) {
  double sum = 0;
  for (size_t k = 0; k < s->n_triangles; k++) {
    const uint32_t *t = s->triangles[k];
    sum += (double)v3_dot(s->vertices[t[0]], v3_cross(s->vertices[t[1]], s->vertices[t[2]])) / 6;
  }
  return sum;
}

static void pool_has_a_surface_and_drops(void **state) {
  (void)state;
  static Pool pool;
  fill_pool(&pool);
  FloWater water;
  FloCloud cloud;
  const FloBounds bounds = {{0, 0, 0}, {1, 0.5f, 1}};
  assert_ok(flo_cloud_create(&pool.input, &cloud, &failure), &failure);
  assert_ok(flo_water_create(&pool.input, &cloud, bounds, 0, 2, &water, &failure), &failure);
  assert_int_equal(water.drops.count, 18);
  assert_close(volume_of(&water.surface), 0.125, 0.008);
  for (size_t k = 0; k < water.surface.n_vertices; k++) {
    V3 v = water.surface.vertices[k];
    assert_true(v.x > -1e-4f && v.y > -1e-4f && v.z > -1e-4f && v.y < 0.5f + 1e-4f);
    assert_close(v3_length(water.surface.normals[k]), 1, 1e-3);
    const bool is_pane = v.y < 1e-5f && v.z > 0.1f && v.z < 0.4f && v.x > 0.01f && v.x < 0.45f;
    if (is_pane) assert_close(water.surface.normals[k].y, -1, 1e-3);
  }
  flo_water_destroy(&water);
  assert_fails(flo_water_create(&pool.input, &cloud, bounds, 1000, 2, &water, &failure), FLO_NO_MEMORY,
               &failure, "no memory to draw 1000 particles as water: surface: 1000 particles with cells of ");
  assert_non_null(strstr(failure.text, " GB of memory, and 1e-06 GB is the limit; particles by themselves, "
                                       "--look particles, need less"));
  flo_water_destroy(&water);
  for (int k = 0; k < n_fluid; k++) pool.materials[k] = UINT16_MAX; // samples of a body are no fluid
  assert_ok(flo_water_create(&pool.input, &cloud, bounds, 0, 2, &water, &failure), &failure);
  assert_int_equal(water.surface.n_triangles + water.drops.count, 0);
  flo_water_destroy(&water);
  flo_cloud_destroy(&cloud);
}

// Drops alone have the colours of the values; the surface has the water's tint everywhere.
static void spray_may_have_the_colours(void **state) {
  (void)state;
  static Pool pool;
  fill_pool(&pool);
  pool.input.view.style.shows_values = pool.input.view.style.only_spray = true;
  FloWater water;
  FloCloud cloud;
  const FloBounds bounds = {{0, 0, 0}, {1, 0.5f, 1}};
  assert_ok(flo_cloud_create(&pool.input, &cloud, &failure), &failure);
  assert_ok(flo_water_create(&pool.input, &cloud, bounds, 0, 2, &water, &failure), &failure);
  for (size_t k = 0; k < water.surface.n_vertices; k++)
    assert_close(v3_length(v3_sub(water.tints[k], water.tints[0])), 0, 1e-5);
  V3 low = {0}, high = {0};
  for (size_t k = 0; k < water.drops.count; k++) {
    assert_true(v3_length(v3_sub(water.drop_tints[k], water.tints[0])) > 0.01f);
    *(water.drops.spheres[k][2] < 0.8f ? &low : &high) = water.drop_tints[k];
  }
  assert_true(v3_length(v3_sub(low, high)) > 0.01f);
  flo_water_destroy(&water);
  flo_cloud_destroy(&cloud);
}

// ---- Stuff ----

static void weight_and_look_tell_the_stuff(void **state) {
  (void)state;
  const struct {
    const char *look;
    FloBodyKind kind;
    double own, density;
    FloStuffKind stuff;
  } cases[] = {
      {"", FLO_BODY_DYNAMIC, 0, 500, FLO_STUFF_WOOD},
      {"", FLO_BODY_DYNAMIC, 0, 1200, FLO_STUFF_PLASTIC},
      {"", FLO_BODY_DYNAMIC, 0, 7800, FLO_STUFF_METAL},
      {"", FLO_BODY_DYNAMIC, 7800, 500, FLO_STUFF_METAL},
      {"", FLO_BODY_DYNAMIC, 0, 0, FLO_STUFF_PLASTIC},
      {"", FLO_BODY_STATIC, 0, 7800, FLO_STUFF_MATT},
      {"red", FLO_BODY_DYNAMIC, 0, 7800, FLO_STUFF_PLASTIC},
      {"stone", FLO_BODY_STATIC, 0, 0, FLO_STUFF_STONE},
      {"oak", FLO_BODY_DYNAMIC, 0, 7800, FLO_STUFF_WOOD},
      {"steel", FLO_BODY_STATIC, 0, 0, FLO_STUFF_METAL},
  };
  for (size_t k = 0; k < FLO_COUNT_OF(cases); k++) {
    FloSceneBody body = make_ball(0.1, 0);
    FloSubstance substances[FLO_VIEW_MATERIALS] = {{0}, {.density = cases[k].density}};
    body.def.kind = cases[k].kind, body.def.density = cases[k].own, body.material = 1;
    snprintf(body.look, sizeof body.look, "%s", cases[k].look);
    FloStuff stuff = flo_stuff_of(&body, &body.def.pose, substances, v3(0.5f, 0.4f, 0.3f));
    assert_int_equal(stuff.kind, cases[k].stuff);
  }
}

// The pattern of a body goes with it, however it is turned, and stays a colour anywhere.
static void patterns_move_with_the_body(void **state) {
  (void)state;
  const double half = sqrt(0.5);
  FloSceneBody body = make_ball(0.5, 0);
  for (int k = 0; k < 2; k++) {
    snprintf(body.look, sizeof body.look, "%s", k ? "stone" : "wood");
    body.def.pose = (FloPose){{0, 0, 0}, {0, 0, 0, 1}};
    FloStuff still = flo_stuff_of(&body, &body.def.pose, NULL, v3(0.5f, 0.4f, 0.3f));
    body.def.pose = (FloPose){{3, 4, 5}, {0, 0, half, half}}; // x becomes y
    FloStuff moved = flo_stuff_of(&body, &body.def.pose, NULL, v3(0.5f, 0.4f, 0.3f));
    V3 a = flo_stuff_colour(&still, v3(0.3f, 0.1f, 0.2f)), b = flo_stuff_colour(&moved, v3(2.9f, 4.3f, 5.2f));
    assert_close(a.x, b.x, 1e-3);
    V3 far = flo_stuff_colour(&moved, v3(1e30f, -1e30f, 1e10f));
    assert_true(far.x >= 0 && far.x <= 1);
    bool is_varied = false;
    for (int i = 0; i < 50; i++)
      is_varied = is_varied || fabsf(flo_stuff_colour(&still, v3(0.02f * (float)i, 0.1f, 0)).x - a.x) > 0.02f;
    assert_true(is_varied);
  }
}

// ---- Pictures ----

static uint8_t *draw(const FloPictureInput *input, int width, int height, int threads) {
  FloPictureOptions options = {.width = width, .height = height, .samples = 1, .threads = threads};
  uint8_t *rgb = NULL;
  assert_ok(flo_render_picture(input, &options, &rgb, &failure), &failure);
  return rgb;
}

static void pixels_do_not_depend_on_threads(void **state) {
  (void)state;
  static Pool pool;
  fill_pool(&pool);
  for (int pass = 0; pass < 3; pass++) {
    pool.input.view.style.keeps_noise = pass == 1, pool.input.view.style.shows_values = pass == 2;
    uint8_t *one = draw(&pool.input, 150, 101, 1);
    for (int threads = 2; threads <= 3; threads++) {
      uint8_t *many = draw(&pool.input, 150, 101, threads);
      assert_memory_equal(one, many, 150 * 101 * 3);
      free(many);
    }
    free(one);
  }
}

static double difference(const uint8_t *a, const uint8_t *b, size_t n) {
  double sum = 0;
  for (size_t k = 0; k < n; k++) sum += abs(a[k] - b[k]);
  return sum / (double)n;
}

// A draft shows what the best picture shows; the smoothing brings it nearer.
static void smoothing_brings_a_draft_nearer_to_the_truth(void **state) {
  (void)state;
  static Pool pool;
  fill_pool(&pool);
  const size_t n = 128 * 96 * 3;
  FloStyle *style = &pool.input.view.style;
  style->quality = FLO_QUALITY_BEST, style->keeps_noise = true;
  uint8_t *truth = draw(&pool.input, 128, 96, 0);
  style->quality = FLO_QUALITY_DRAFT;
  uint8_t *noisy = draw(&pool.input, 128, 96, 0);
  style->keeps_noise = false;
  uint8_t *smooth = draw(&pool.input, 128, 96, 0);
  assert_true(difference(noisy, truth, n) < 8);
  assert_true(difference(smooth, truth, n) < 0.8 * difference(noisy, truth, n));
  free(truth);
  free(noisy);
  free(smooth);
}

static void water_is_blue_and_particles_are_not_drawn(void **state) {
  (void)state;
  static Pool pool;
  fill_pool(&pool);
  pool.input.camera = (FloCamera){true, {0.25, -2, 0.25}, {0.25, 0, 0.25}, 30};
  uint8_t *rgb = draw(&pool.input, 64, 64, 0);
  const uint8_t *middle = rgb + 3 * (32 * 64 + 32);
  assert_true(middle[2] > middle[0] + 40 && middle[1] > middle[0] && middle[2] > 90); // not black either
  free(rgb);
  // Honey is yellow: the tint of a substance counts.
  pool.input.view.substances[0] = (FloSubstance){.tint = {0.86f, 0.42f, 0.05f}};
  rgb = draw(&pool.input, 64, 64, 0);
  middle = rgb + 3 * (32 * 64 + 32);
  assert_true(middle[0] > middle[2] + 40);
  free(rgb);
}

static void nothing_to_draw_is_a_picture(void **state) {
  (void)state;
  FloPictureInput input = {.dim = 3, .up = 1, .view.style.look = FLO_LOOK_WATER};
  free(draw(&input, 64, 48, 0));
  free(draw(&input, 1, 1, 1));
  FloSceneBody ball = make_ball(0.5, 0);
  input.bodies = &ball, input.n_bodies = 1;
  free(draw(&input, 33, 17, 2));
  input.dim = 2; // the plane has no surface: particles, of which there are none
  free(draw(&input, 33, 17, 2));
}

static void names_are_found(void **state) {
  (void)state;
  FloLook look;
  FloQuality quality;
  for (int k = 0; k < FLO_LOOK_COUNT; k++)
    assert_true(flo_look_from_name(flo_look_name((FloLook)k), &look) && (int)look == k);
  for (int k = 0; k < FLO_QUALITY_COUNT; k++)
    assert_true(flo_quality_from_name(flo_quality_name((FloQuality)k), &quality) && (int)quality == k);
  assert_false(flo_look_from_name("Water", &look) || flo_look_from_name("", &look));
  assert_false(flo_quality_from_name("fine", &quality) || flo_quality_from_name("goo", &quality));
}

static void pictures_are_read_back(void **state) {
  (void)state;
  char path[64];
  uint8_t rgb[5 * 3 * 3], *back = NULL;
  for (size_t k = 0; k < sizeof rgb; k++) rgb[k] = (uint8_t)(k * 37);
  snprintf(path, sizeof path, "/tmp/test_render_water_%d.png", (int)getpid());
  assert_ok(flo_write_png(path, rgb, 5, 3, &failure), &failure);
  assert_ok(flo_read_png(path, 5, 3, &back, &failure), &failure);
  assert_memory_equal(rgb, back, sizeof rgb);
  free(back);
  assert_refused(flo_read_png(path, 3, 5, &back, &failure), &failure, "is not a picture of 3 x 5");
  FILE *file = fopen(path, "wb");
  fputs("no picture", file);
  fclose(file);
  assert_refused(flo_read_png(path, 5, 3, &back, &failure), &failure, "is not a picture");
  remove(path);
  assert_int_equal(flo_read_png(path, 5, 3, &back, &failure) == FLO_OK, false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(light_bends_as_snell_says),
      cmocka_unit_test(light_stays_in_beyond_the_critical_angle),
      cmocka_unit_test(water_reflects_two_percent),
      cmocka_unit_test(depth_absorbs_exponentially),
      cmocka_unit_test(microfacets_make_no_light),
      cmocka_unit_test(lamp_is_as_strong_as_told),
      cmocka_unit_test(slab_absorbs_what_its_thickness_says),
      cmocka_unit_test(deep_water_has_its_own_colour),
      cmocka_unit_test(balls_vanish_in_a_white_furnace),
      cmocka_unit_test(bounces_make_no_light),
      cmocka_unit_test(water_lies_against_what_is_below),
      cmocka_unit_test(eye_may_be_in_water),
      cmocka_unit_test(dice_are_even),
      cmocka_unit_test(smoothing_keeps_what_has_no_noise),
      cmocka_unit_test(smoothing_takes_noise_and_leaves_edges),
      cmocka_unit_test(smoothing_works_on_any_size),
      cmocka_unit_test(spray_is_what_brute_force_finds),
      cmocka_unit_test(pool_has_a_surface_and_drops),
      cmocka_unit_test(spray_may_have_the_colours),
      cmocka_unit_test(weight_and_look_tell_the_stuff),
      cmocka_unit_test(patterns_move_with_the_body),
      cmocka_unit_test(pixels_do_not_depend_on_threads),
      cmocka_unit_test(smoothing_brings_a_draft_nearer_to_the_truth),
      cmocka_unit_test(water_is_blue_and_particles_are_not_drawn),
      cmocka_unit_test(nothing_to_draw_is_a_picture),
      cmocka_unit_test(names_are_found),
      cmocka_unit_test(pictures_are_read_back),
  };
  return cmocka_run_group_tests_name("render_water", tests, NULL, NULL);
}
