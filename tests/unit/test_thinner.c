// Which candidates become samples: verdicts against sums over all pairs, the upper bound, marks around weak
// samples, and what happens without memory.
#include "base/vecmath.h"
#include "geometry/thinner.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"

// Of the kernel's shape over all samples: below the one a sample is weak, above the other full. That
// is 3.72/H^3 and 9.83/H^3, a little within the bounds of 3.6 and 10.
static const double weak_sum = 1.46, full_sum = 3.86;

typedef struct Fixture {
  CountingAllocator counter;
  FloMemory memory;
  FloThinner *thinner;
} Fixture;

static void fixture_init(Fixture *f, double size, double n_expected) {
  FloError error;
  *f = (Fixture){.counter = {.byte_limit = 1u << 30}};
  FloAllocator allocator = counting_allocator(&f->counter);
  flo_memory_init(&f->memory, &allocator);
  assert_ok(flo_thinner_create(&f->thinner, &f->memory, (double[3]){0}, (double[3]){size, size, size}, 1,
                               n_expected, &error),
            &error);
}

static void fixture_free(Fixture *f) {
  flo_thinner_destroy(f->thinner);
  assert_int_equal(f->counter.bytes, 0);
  assert_int_equal(f->counter.n_mismatches, 0);
}

static FloVerdict offer(const Fixture *f, const double p[3]) {
  FloVerdict verdict;
  FloError error;
  assert_ok(flo_thinner_offer(f->thinner, p, 7, &verdict, &error), &error);
  return verdict;
}

static void random_point(Random *random, double low, double high, double p[3]) {
  for (int axis = 0; axis < 3; ++axis) p[axis] = random_between(random, low, high);
}

// The cubic spline over q = r/H by its definition (Monaghan 1992), with w(0) = 1; spacings are 1, H is 2.
static double shape(double r) {
  double q = r / 2;
  if (q >= 1) return 0;
  return q < 0.5 ? 1 - 6 * q * q + 6 * q * q * q : 2 * (1 - q) * (1 - q) * (1 - q);
}

static double distance_to(const Fixture *f, size_t k, const double p[3]) {
  FloSurfacePoint sample = flo_thinner_sample(f->thinner, k);
  double d[3];
  vec_sub(sample.point, p, d);
  return vec_length(d);
}

static double largest_density(const Fixture *f) {
  double largest = 0;
  for (size_t k = 0; k < flo_thinner_count(f->thinner); ++k) {
    FloSurfacePoint sample = flo_thinner_sample(f->thinner, k);
    double sum = 0;
    for (size_t i = 0; i < flo_thinner_count(f->thinner); ++i) sum += shape(distance_to(f, i, sample.point));
    largest = fmax(largest, sum * 8 / FLO_PI);
  }
  return largest;
}

// ---- Verdicts ----

enum { MAX_KNOWN = 4000 };

typedef struct Known {
  double sums[MAX_KNOWN]; // of the shape over all samples, their own included
  int layers[MAX_KNOWN];
} Known;

typedef struct Margin {
  bool is_close; // to a limit, where rounding decides
} Margin;

static bool exceeds(double value, double limit, Margin *margin) {
  margin->is_close |= fabs(value - limit) < 1e-4;
  return value > limit;
}

// What the verdict must be, by sums over all samples.
static FloVerdict judge(const Fixture *f, const Known *known, const FloThinRule *rule, int layer,
                        const double p[3], Margin *margin) {
  double sum = 0, sum_in_layer = 0, nearest = INFINITY;
  bool is_full = false, is_help = false;
  for (size_t k = 0; k < flo_thinner_count(f->thinner); ++k) {
    double r = distance_to(f, k, p), w = shape(r);
    sum += w, sum_in_layer += known->layers[k] == layer ? w : 0;
    nearest = fmin(nearest, r);
    is_full |= w > 0 && exceeds(known->sums[k] + w, full_sum, margin);
    if (r < 1.1) is_help |= !exceeds(r, 1, margin) && !exceeds(known->sums[k], weak_sum, margin);
  }
  bool is_hopeless = !exceeds(nearest, fmin(rule->min_distance, rule->retry_distance), margin);
  bool is_near = !exceeds(nearest, rule->min_distance, margin);
  if (is_full || is_hopeless || exceeds(1 + sum, full_sum, margin)) return FLO_REFUSED;
  if (exceeds(sum_in_layer, rule->max_sum, margin) || (rule->must_help && !is_help)) return FLO_REFUSED;
  return is_near ? FLO_TOO_NEAR : FLO_ACCEPTED;
}

static void remember(const Fixture *f, Known *known, int layer, const double p[3]) {
  size_t n = flo_thinner_count(f->thinner) - 1;
  assert_true(n < MAX_KNOWN);
  known->sums[n] = 1, known->layers[n] = layer;
  for (size_t k = 0; k < n; ++k) {
    double w = shape(distance_to(f, k, p));
    known->sums[k] += w, known->sums[n] += w;
  }
}

// Candidates in a layer of the box, judged by four rules in turn, as a sampler uses them. The wide box has
// more cells than there are buckets.
static void compare_verdicts(double size, double n_expected, Random *random) {
  static const FloThinRule rules[] = {
      {0.97, 0.55, 1.4, false}, {0.55, 0.55, 1.5, false}, {0.5, 0.5, 1.7, true}, {0.1, 0.1, 2.8, true}};
  static Known known;
  size_t counts[3] = {0}, n_close = 0;
  Fixture f;
  fixture_init(&f, size, n_expected);
  for (int layer = 0; layer < 2; ++layer)
    for (size_t k = 0; k < FLO_COUNT_OF(rules); ++k) {
      flo_thinner_set_rule(f.thinner, layer, &rules[k]);
      for (int i = 0; i < 1500; ++i) {
        double p[3], corner = random_below(random, 2) ? 0 : size - 10;
        Margin margin = {false};
        random_point(random, corner, corner + 10, p);
        p[2] = corner + 5 + layer + 0.3 * (p[2] - corner - 5); // a thick sheet, so that neighbours abound
        FloVerdict expected = judge(&f, &known, &rules[k], layer, p, &margin), found = offer(&f, p);
        if (!margin.is_close) assert_int_equal(found, expected);
        n_close += margin.is_close;
        ++counts[found];
        if (found == FLO_ACCEPTED) remember(&f, &known, layer, p);
      }
    }
  print_message("%zu refused, %zu too near, %zu accepted, %zu too close to call\n", counts[0], counts[1],
                counts[2], n_close);
  assert_true(counts[0] > 500 && counts[1] > 100 && counts[2] > 200 && n_close < 200);
  assert_true(largest_density(&f) < 10);
  fixture_free(&f);
}

static void test_verdicts_agree_with_sums_over_all(void **state) {
  (void)state;
  Random random = {1};
  compare_verdicts(10, 500, &random);
  compare_verdicts(10, 1, &random);
  compare_verdicts(3000, 500, &random);
  compare_verdicts(1e6, 500, &random);
}

// Even a rule that allows everything does not lift a sample above the bound.
static void test_the_upper_bound_always_holds(void **state) {
  (void)state;
  Random random = {2};
  Fixture f;
  fixture_init(&f, 6, 500);
  flo_thinner_set_rule(f.thinner, 0, &(FloThinRule){0, 0, INFINITY, false});
  for (int k = 0; k < 20000; ++k) {
    double p[3];
    random_point(&random, 0, 6, p);
    offer(&f, p);
  }
  double density = largest_density(&f);
  print_message("%zu samples, density up to %.2f /H^3\n", flo_thinner_count(f.thinner), density);
  assert_true(density < 10 && density > 9.5);
  fixture_free(&f);
}

static void test_points_may_lie_outside_of_the_box(void **state) {
  (void)state;
  Random random = {3};
  Fixture f;
  fixture_init(&f, 2, 10);
  flo_thinner_set_rule(f.thinner, 0, &(FloThinRule){0.97, 0.97, INFINITY, false});
  for (int k = 0; k < 5000; ++k) {
    double p[3];
    random_point(&random, -4, 6, p);
    offer(&f, p);
  }
  assert_true(flo_thinner_count(f.thinner) > 100);
  for (size_t k = 0; k < flo_thinner_count(f.thinner); ++k)
    for (size_t i = 0; i < k; ++i)
      assert_true(distance_to(&f, i, flo_thinner_sample(f.thinner, k).point) > 0.9699);
  fixture_free(&f);
}

static void test_samples_are_what_was_offered(void **state) {
  (void)state;
  Fixture f;
  FloError error;
  FloVerdict verdict;
  fixture_init(&f, 10, 10);
  flo_thinner_set_rule(f.thinner, 0, &(FloThinRule){0.97, 0.55, 1.4, false});
  for (uint32_t round = 0; round < 2; ++round) {
    assert_int_equal(flo_thinner_count(f.thinner), 0);
    for (uint32_t k = 0; k < 5; ++k) {
      const double p[3] = {2 * k, 0.1 * round, 1.0 / 3};
      assert_ok(flo_thinner_offer(f.thinner, p, k + round, &verdict, &error), &error);
      assert_int_equal(verdict, FLO_ACCEPTED);
      FloSurfacePoint sample = flo_thinner_sample(f.thinner, k);
      assert_close_3(sample.point, p, 0);
      assert_int_equal(sample.triangle, k + round);
    }
    assert_int_equal(flo_thinner_count(f.thinner), 5);
    flo_thinner_clear(f.thinner);
  }
  fixture_free(&f);
}

// ---- Marks ----

// Samples far from each other are all weak. What is near them is marked; what is further away by more than
// the width of a part, one spacing, is not.
static void test_marks_lie_around_weak_samples(void **state) {
  (void)state;
  Random random = {4};
  for (double reach = 1; reach < 5; reach += 1.5) {
    Fixture f;
    fixture_init(&f, 40, 1e6);
    flo_thinner_set_rule(f.thinner, 0, &(FloThinRule){3, 3, INFINITY, false});
    for (int k = 0; k < 10; ++k) {
      double p[3];
      random_point(&random, 0, 40, p);
      offer(&f, p);
    }
    assert_int_equal(flo_thinner_mark_weak(f.thinner, reach), flo_thinner_count(f.thinner));
    for (int k = 0; k < 20000; ++k) {
      double p[3], other[3], low[3], high[3], nearest = INFINITY, farthest_axis = INFINITY;
      random_point(&random, 0, 40, p), random_point(&random, 0, 40, other);
      for (size_t i = 0; i < flo_thinner_count(f.thinner); ++i) {
        double d[3], along = 0;
        vec_sub(flo_thinner_sample(f.thinner, i).point, p, d);
        for (int axis = 0; axis < 3; ++axis) along = fmax(along, fabs(d[axis]));
        nearest = fmin(nearest, vec_length(d)), farthest_axis = fmin(farthest_axis, along);
      }
      if (nearest < reach) assert_true(flo_thinner_is_marked(f.thinner, p));
      if (farthest_axis > reach + 1) assert_false(flo_thinner_is_marked(f.thinner, p));
      for (int axis = 0; axis < 3; ++axis)
        low[axis] = fmin(p[axis], other[axis]), high[axis] = fmax(p[axis], other[axis]);
      if (flo_thinner_is_marked(f.thinner, p)) assert_true(flo_thinner_is_box_marked(f.thinner, low, high));
      assert_int_equal(flo_thinner_is_box_marked(f.thinner, p, p), flo_thinner_is_marked(f.thinner, p));
    }
    fixture_free(&f);
  }
}

// Marks go with the weakness of the sample they belong to, and not with that of another.
static void test_marks_go_when_company_comes(void **state) {
  (void)state;
  static const double alone[3] = {10, 10, 10}, other[3] = {13.2, 10, 10}, between[3] = {11.6, 10, 10};
  static const double beside[3] = {10, 10.55, 10}, beside_other[3] = {13.2, 10.55, 10};
  const FloThinRule rule = {0.5, 0.5, 1.7, false}, help = {0.5, 0.5, 1.7, true};
  Fixture f;
  fixture_init(&f, 20, 1e5);
  assert_false(flo_thinner_is_marked(f.thinner, alone));
  flo_thinner_set_rule(f.thinner, 0, &rule);
  assert_int_equal(offer(&f, alone), FLO_ACCEPTED);
  assert_int_equal(offer(&f, other), FLO_ACCEPTED);
  assert_int_equal(flo_thinner_mark_weak(f.thinner, 2), 2);
  assert_true(flo_thinner_is_marked(f.thinner, between));
  flo_thinner_set_rule(f.thinner, 0, &help);
  assert_int_equal(offer(&f, between), FLO_REFUSED); // too far away to help either
  assert_int_equal(offer(&f, beside), FLO_ACCEPTED);
  assert_true(flo_thinner_is_marked(f.thinner, between) && flo_thinner_is_marked(f.thinner, other));
  assert_false(flo_thinner_is_marked(f.thinner, (double[3]){8.5, 10, 10}));
  assert_int_equal(offer(&f, beside_other), FLO_ACCEPTED);
  assert_false(flo_thinner_is_marked(f.thinner, between) || flo_thinner_is_marked(f.thinner, other));
  assert_int_equal(flo_thinner_mark_weak(f.thinner, 2), 0);
  fixture_free(&f);
}

// A weak sample of another layer is left as it is.
static void test_marks_belong_to_the_layer_at_work(void **state) {
  (void)state;
  static const double first[3] = {3, 3, 3}, second[3] = {9, 3, 3};
  const FloThinRule rule = {0.97, 0.55, 1.4, false};
  Fixture f;
  fixture_init(&f, 12, 1e5);
  for (int layer = 0; layer < 2; ++layer) {
    flo_thinner_set_rule(f.thinner, layer, &rule);
    assert_int_equal(offer(&f, layer ? second : first), FLO_ACCEPTED);
    assert_int_equal(flo_thinner_mark_weak(f.thinner, 1), 1);
    assert_int_equal(flo_thinner_is_marked(f.thinner, first), layer == 0);
    assert_int_equal(flo_thinner_is_marked(f.thinner, second), layer == 1);
  }
  flo_thinner_clear(f.thinner);
  assert_false(flo_thinner_is_marked(f.thinner, second));
  fixture_free(&f);
}

// ---- Memory ----

static void test_a_thinner_without_memory_says_so(void **state) {
  (void)state;
  for (size_t fail_at = 1;; ++fail_at) {
    CountingAllocator counter = {.fail_at = fail_at};
    FloAllocator allocator = counting_allocator(&counter);
    FloMemory memory;
    FloThinner *thinner;
    FloError error;
    flo_memory_init(&memory, &allocator);
    FloStatus status =
        flo_thinner_create(&thinner, &memory, (double[3]){0}, (double[3]){9, 9, 9}, 1, 10, &error);
    flo_thinner_destroy(thinner);
    assert_int_equal(counter.bytes, 0);
    if (counter.n_calls < fail_at) {
      assert_int_equal(status, FLO_OK);
      assert_true(fail_at > 4);
      return;
    }
    assert_fails(status, FLO_NO_MEMORY, &error, "memory");
    assert_null(thinner);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_verdicts_agree_with_sums_over_all),
      cmocka_unit_test(test_the_upper_bound_always_holds),
      cmocka_unit_test(test_points_may_lie_outside_of_the_box),
      cmocka_unit_test(test_samples_are_what_was_offered),
      cmocka_unit_test(test_marks_lie_around_weak_samples),
      cmocka_unit_test(test_marks_go_when_company_comes),
      cmocka_unit_test(test_marks_belong_to_the_layer_at_work),
      cmocka_unit_test(test_a_thinner_without_memory_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
