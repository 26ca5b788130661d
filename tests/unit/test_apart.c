// Distances and meetings of features against brute force, and cases with a known crossing.
#include "geometry/apart.h"
#include "support/check.h"
#include "support/random.h"

static const int kinds[3][2] = {{1, 2}, {1, 3}, {2, 2}};

static FloFeaturePair random_pair(Random *random, int kind, double size) {
  FloFeaturePair pair = {.n_first = kinds[kind][0], .n_second = kinds[kind][1]};
  for (int k = 0; k < pair.n_first + pair.n_second; ++k)
    for (int axis = 0; axis < 3; ++axis) pair.x[k][axis] = random_between(random, -size, size);
  return pair;
}

// Some corners fall together, or on one line.
static void degrade(Random *random, FloFeaturePair *pair) {
  const int last = pair->n_first + pair->n_second - 1;
  const double choice = random_between(random, 0, 6);
  if (choice < 1) vec_copy(pair->x[last - 1], pair->x[last]);
  if (choice > 1 && choice < 2) vec_add_scaled(pair->x[1], pair->x[2], 0.5, pair->x[last]);
  if (choice > 5) vec_sub(pair->x[last], pair->x[0], pair->x[1]);
}

static void point_of(const FloFeaturePair *pair, int first, int count, double u, double v, double out[3]) {
  const double weights[3] = {1 - u - v, u, v};
  vec_set(out, 0, 0, 0);
  for (int k = 0; k < count; ++k) vec_add_scaled(out, pair->x[first + k], count == 1 ? 1 : weights[k], out);
}

// The least distance of points on a grid over both features.
static double least_on_grid(const FloFeaturePair *pair, int n) {
  double least = INFINITY, a[3], b[3], way[3];
  for (int i = 0; i <= (pair->n_first == 1 ? 0 : n); ++i)
    for (int j = 0; j <= n; ++j)
      for (int k = 0; k <= (pair->n_second == 3 ? n - j : 0); ++k) {
        point_of(pair, 0, pair->n_first, (double)i / n, 0, a);
        point_of(pair, pair->n_first, pair->n_second, (double)j / n, (double)k / n, b);
        vec_sub(a, b, way);
        least = fmin(least, vec_length(way));
      }
  return least;
}

static void check_weights(const FloFeaturePair *pair, const FloApart *apart) {
  double sums[2] = {0}, way[3] = {0};
  for (int k = 0; k < pair->n_first + pair->n_second; ++k) {
    const bool is_first = k < pair->n_first;
    assert_true(apart->weights[k] >= 0 && apart->weights[k] <= 1);
    sums[is_first] += apart->weights[k];
    vec_add_scaled(way, pair->x[k], is_first ? apart->weights[k] : -apart->weights[k], way);
  }
  assert_close(sums[0], 1, 1e-12);
  assert_close(sums[1], 1, 1e-12);
  vec_sub(way, apart->way, way);
  assert_true(vec_length(way) < 1e-12);
  assert_close(vec_length(apart->way), apart->distance, 1e-12);
}

static void test_distance_is_least(void **state) {
  (void)state;
  Random random = {1};
  for (int n = 0; n < 600; ++n) {
    FloFeaturePair pair = random_pair(&random, n % 3, 1);
    FloApart apart;
    if (n % 4 == 0) degrade(&random, &pair);
    flo_pair_apart(&pair, &apart);
    const double least = least_on_grid(&pair, 40);
    check_weights(&pair, &apart);
    assert_true(apart.distance <= least + 1e-12);
    assert_true(apart.distance > least - 0.2); // a cell of the grid is at most that large
  }
}

// ---- Meetings ----

// Moves the second feature so that it meets the first one at this time, each somewhere inside.
static void let_cross(Random *random, double time, const FloFeaturePair *from, FloFeaturePair *to) {
  FloFeaturePair then;
  double a[3], b[3], way[3];
  const double u = random_between(random, 0.1, 0.4), v = random_between(random, 0.1, 0.4);
  flo_pair_between(from, to, time, &then);
  point_of(&then, 0, then.n_first, u, 0, a);
  point_of(&then, then.n_first, then.n_second, v, then.n_second == 3 ? u : 0, b);
  vec_sub(a, b, way);
  for (int k = from->n_first; k < from->n_first + from->n_second; ++k)
    vec_add_scaled(to->x[k], way, 1 / time, to->x[k]);
}

static void test_crossing_is_never_missed(void **state) {
  (void)state;
  Random random = {2};
  for (int n = 0; n < 3000; ++n) {
    const FloFeaturePair from = random_pair(&random, n % 3, 1);
    FloFeaturePair to = random_pair(&random, n % 3, n % 2 ? 1 : 10), then;
    const double time = random_between(&random, 0.05, 1), least = pow(10, random_between(&random, -4, -1));
    FloApart apart;
    let_cross(&random, time, &from, &to);
    flo_pair_apart(&from, &apart);
    const double limit = fmin(least, apart.distance / 2), found = flo_pair_meets(&from, &to, least);
    assert_true(found <= time);
    flo_pair_between(&from, &to, found, &then);
    flo_pair_apart(&then, &apart);
    assert_true(apart.distance <= 1.05 * limit + 1e-12);
    assert_true(apart.distance >= 0.999 * limit);
  }
}

// Where no meeting is reported there is none, and before a meeting the distance is above the limit.
static void test_limit_holds_before(void **state) {
  (void)state;
  Random random = {3};
  int n_free = 0;
  for (int n = 0; n < 600; ++n) {
    FloFeaturePair from = random_pair(&random, n % 3, 1), to = random_pair(&random, n % 3, 1), then;
    FloApart apart;
    if (n % 4 == 0) degrade(&random, &from);
    flo_pair_apart(&from, &apart);
    const double limit = fmin(0.05, apart.distance / 2), found = flo_pair_meets(&from, &to, 0.05);
    n_free += found == INFINITY;
    for (int k = 0; k <= 200; ++k) {
      flo_pair_between(&from, &to, fmin(found, 1) * k / 200, &then);
      flo_pair_apart(&then, &apart);
      assert_true(apart.distance >= limit * (1 - 1e-9));
    }
  }
  assert_true(n_free > 50 && n_free < 550);
}

// ---- What is hard ----

static void test_without_motion(void **state) {
  (void)state;
  Random random = {4};
  for (int n = 0; n < 30; ++n) {
    FloFeaturePair pair = random_pair(&random, n % 3, 1), moved;
    assert_true(flo_pair_meets(&pair, &pair, 0.1) == INFINITY);
    moved = pair;
    for (int k = 0; k < FLO_MOST_CORNERS; ++k) moved.x[k][0] += 1e3;
    assert_true(flo_pair_meets(&pair, &moved, 1e-3) == INFINITY);
  }
}

// Edges that slide along each other, nearly at the limit: this ends, early or without a meeting.
static void test_parallel_edges_slide(void **state) {
  (void)state;
  static const double heights[] = {1e-3, 1.001e-3, 1.06e-3, 0.01};
  for (size_t n = 0; n < 4; ++n) {
    FloFeaturePair from = {2, 2, {{0, 0, 0}, {1, 0, 0}, {0, heights[n], 0}, {1, heights[n], 0}}}, to = from;
    to.x[2][0] += 0.5, to.x[3][0] += 0.5;
    const double time = flo_pair_meets(&from, &to, 1e-3);
    assert_true(time == INFINITY || (time >= 0 && time <= 1));
    to.x[2][1] = to.x[3][1] = -heights[n];
    assert_true(flo_pair_meets(&from, &to, 1e-3) <= 0.5);
  }
}

static void test_features_at_one_place(void **state) {
  (void)state;
  FloFeaturePair pair = {.n_first = 1, .n_second = 3}, to = pair;
  FloApart apart;
  flo_pair_apart(&pair, &apart);
  assert_true(apart.distance == 0);
  assert_true(flo_pair_meets(&pair, &to, 0.1) == INFINITY);
  to.x[0][0] = 1;
  assert_true(flo_pair_meets(&pair, &to, 0.1) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_distance_is_least),    cmocka_unit_test(test_crossing_is_never_missed),
      cmocka_unit_test(test_limit_holds_before),   cmocka_unit_test(test_without_motion),
      cmocka_unit_test(test_parallel_edges_slide), cmocka_unit_test(test_features_at_one_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
