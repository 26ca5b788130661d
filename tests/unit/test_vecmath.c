// Vectors, quaternions and poses.
#include "base/pose.h"
#include "base/vecmath.h"
#include "support/check.h"
#include "support/random.h"

static void random_vector(Random *random, double out[3]) {
  for (int axis = 0; axis < 3; ++axis) out[axis] = random_between(random, -2, 2);
}

static void random_rotation(Random *random, double out[4]) {
  for (int k = 0; k < 4; ++k) out[k] = random_between(random, -1, 1);
  quat_normalise(out);
}

static void test_sums_products_and_lengths(void **state) {
  (void)state;
  const double a[3] = {1, 2, 3}, b[3] = {-4, 5, 0.5};
  double out[3];
  vec_add(a, b, out);
  assert_close_3(out, ((double[3]){-3, 7, 3.5}), 0);
  vec_sub(a, b, out);
  assert_close_3(out, ((double[3]){5, -3, 2.5}), 0);
  vec_scale(a, -2, out);
  assert_close_3(out, ((double[3]){-2, -4, -6}), 0);
  vec_add_scaled(a, b, 2, out);
  assert_close_3(out, ((double[3]){-7, 12, 4}), 0);
  vec_cross(a, b, out);
  assert_close_3(out, ((double[3]){-14, -12.5, 13}), 0);
  assert_close(vec_dot(a, b), 7.5, 0);
  assert_close(vec_length((double[3]){2, 3, 6}), 7, 0);
}

static void test_the_output_may_be_the_input(void **state) {
  (void)state;
  const double a[3] = {1, 2, 3}, b[3] = {-4, 5, 0.5}, q[4] = {0.5, 0.5, 0.5, 0.5}, p[4] = {0, 0, 0.6, 0.8};
  double expected[3], out[3], product[4], in_place[4];
  vec_cross(a, b, expected);
  vec_copy(a, out);
  vec_cross(out, b, out);
  assert_close_3(out, expected, 0);
  quat_rotate(q, a, expected);
  vec_copy(a, out);
  quat_rotate(q, out, out);
  assert_close_3(out, expected, 0);
  quat_multiply(q, p, product);
  quat_copy(q, in_place);
  quat_multiply(in_place, p, in_place);
  assert_memory_equal(in_place, product, sizeof product);
  quat_copy(p, in_place);
  quat_multiply(q, in_place, in_place);
  assert_memory_equal(in_place, product, sizeof product);
}

static void test_finite_means_every_part(void **state) {
  (void)state;
  assert_true(vec_is_finite((double[3]){1e300, -1e300, 0}));
  for (int axis = 0; axis < 3; ++axis) {
    double v[3] = {0};
    v[axis] = NAN;
    assert_false(vec_is_finite(v));
    v[axis] = -INFINITY;
    assert_false(vec_is_finite(v));
  }
}

static void test_quarter_turns(void **state) {
  (void)state;
  const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int axis = 0; axis < 3; ++axis) {
    double q[4], out[3];
    quat_from_axis_angle(axes[axis], FLO_PI / 2, q);
    quat_rotate(q, axes[axis], out);
    assert_close_3(out, axes[axis], 1e-15);
    quat_rotate(q, axes[(axis + 1) % 3], out);
    assert_close_3(out, axes[(axis + 2) % 3], 1e-15);
  }
}

static void test_the_length_of_the_axis_does_not_matter(void **state) {
  (void)state;
  const double axis[3] = {1, -2, 0.5}, longer[3] = {100, -200, 50};
  double a[4], b[4];
  quat_from_axis_angle(axis, 0.7, a);
  quat_from_axis_angle(longer, 0.7, b);
  for (int k = 0; k < 4; ++k) assert_close(a[k], b[k], 1e-15);
  assert_close(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3], 1, 1e-15);
}

static void test_a_product_is_the_second_rotation_then_the_first(void **state) {
  (void)state;
  Random random = {1};
  for (int k = 0; k < 100; ++k) {
    double a[4], b[4], ab[4], v[3], one[3], both[3];
    random_rotation(&random, a);
    random_rotation(&random, b);
    random_vector(&random, v);
    quat_multiply(a, b, ab);
    quat_rotate(ab, v, both);
    quat_rotate(b, v, one);
    quat_rotate(a, one, one);
    assert_close_3(both, one, 1e-14);
  }
}

static void test_rotations_keep_lengths_angles_and_handedness(void **state) {
  (void)state;
  Random random = {2};
  for (int k = 0; k < 100; ++k) {
    double q[4], a[3], b[3], ra[3], rb[3], cross[3], turned[3];
    random_rotation(&random, q);
    random_vector(&random, a);
    random_vector(&random, b);
    quat_rotate(q, a, ra);
    quat_rotate(q, b, rb);
    assert_close(vec_length(ra), vec_length(a), 1e-14);
    assert_close(vec_dot(ra, rb), vec_dot(a, b), 1e-13);
    vec_cross(a, b, cross);
    quat_rotate(q, cross, turned);
    vec_cross(ra, rb, cross);
    assert_close_3(cross, turned, 1e-13);
  }
}

static void test_rotating_back_undoes_a_rotation(void **state) {
  (void)state;
  Random random = {3};
  for (int k = 0; k < 100; ++k) {
    double q[4], v[3], there[3], back[3];
    random_rotation(&random, q);
    random_vector(&random, v);
    quat_rotate(q, v, there);
    quat_rotate_back(q, there, back);
    assert_close_3(back, v, 1e-14);
  }
}

static void test_poses_lead_to_the_world_and_back(void **state) {
  (void)state;
  const double quarter[3] = {0, 0, 1};
  FloPose pose = {.position = {1, 2, 3}};
  double out[3];
  quat_from_axis_angle(quarter, FLO_PI / 2, pose.rotation);
  pose_to_world(&pose, (double[3]){1, 0, 0}, out);
  assert_close_3(out, ((double[3]){1, 3, 3}), 1e-15);
  pose_to_local(&pose, out, out);
  assert_close_3(out, ((double[3]){1, 0, 0}), 1e-15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sums_products_and_lengths),
      cmocka_unit_test(test_the_output_may_be_the_input),
      cmocka_unit_test(test_finite_means_every_part),
      cmocka_unit_test(test_quarter_turns),
      cmocka_unit_test(test_the_length_of_the_axis_does_not_matter),
      cmocka_unit_test(test_a_product_is_the_second_rotation_then_the_first),
      cmocka_unit_test(test_rotations_keep_lengths_angles_and_handedness),
      cmocka_unit_test(test_rotating_back_undoes_a_rotation),
      cmocka_unit_test(test_poses_lead_to_the_world_and_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
