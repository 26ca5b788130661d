// Forces of soft bodies against differences of energies, matrices against differences of forces.
#include "support/random.h"
#include "support/soft_bodies.h"

static const FloClothDef fabric = {
    .areal_density = 0.3, .thickness = 1e-3, .poisson = 0.3, .stretch = 500, .bend = 0.02};

static void shake(SoftTest *t, double size, uint64_t seed) {
  Random random = {seed};
  for (size_t i = 0; i < 3 * t->n_points; ++i)
    if (t->soft->dim == 3 || i % 3 < 2)
      flo_soft_positions(t->soft)[i] += random_between(&random, -size, size);
}

typedef struct Probe {
  double *gradient, *other, *size;
  double rate;
} Probe;

static FloSoftPlace place_of(const SoftTest *t, const Probe *probe) {
  return (FloSoftPlace){t->soft->x, probe->rate};
}

static double energy_of(const SoftTest *t, const Probe *probe) {
  FloSoftPlace place = place_of(t, probe);
  double energy = 0;
  for (size_t g = 0; g < t->soft->groups.count; ++g)
    energy += flo_soft_group_energy(flo_soft_group(t->soft, g), &place, 1);
  return energy;
}

static void push(const SoftTest *t, const Probe *probe, double *gradient, bool with_matrix, bool is_exact) {
  FloSoftPlace place = place_of(t, probe);
  memset(gradient, 0, 3 * t->n_points * sizeof *gradient);
  memset(probe->size, 0, t->n_points * sizeof *probe->size);
  if (with_matrix) flo_block_matrix_clear(&t->soft->matrix);
  FloSoftSink sink = {gradient, probe->size, with_matrix ? t->soft->matrix.blocks : NULL, is_exact, NULL};
  for (size_t g = 0; g < t->soft->groups.count; ++g)
    flo_soft_group_push(flo_soft_group(t->soft, g), &place, &sink, 1);
}

static Probe start_probe(const SoftTest *t, double rate) {
  Probe probe = {.rate = rate};
  size_t n = 3 * t->n_points;
  probe.gradient = calloc(n, sizeof(double));
  probe.other = calloc(n, sizeof(double)), probe.size = calloc(n, sizeof(double));
  for (size_t g = 0; g < t->soft->groups.count; ++g)
    flo_soft_group_remember(flo_soft_group(t->soft, g), &(FloSoftPlace){t->soft->x, 0}, 1);
  return probe;
}

static void end_probe(Probe *probe) { free(probe->gradient), free(probe->other), free(probe->size); }

static double largest(const double *a, size_t n) {
  double most = 0;
  for (size_t i = 0; i < n; ++i) most = fmax(most, fabs(a[i]));
  return most;
}

static void check_forces(SoftTest *t, const Probe *probe, double step) {
  push(t, probe, probe->gradient, false, true);
  double size = largest(probe->gradient, 3 * t->n_points);
  for (size_t i = 0; i < 3 * t->n_points; ++i) {
    if (t->soft->dim == 2 && i % 3 == 2) continue;
    double kept = t->soft->x[i];
    t->soft->x[i] = kept + step;
    double up = energy_of(t, probe);
    t->soft->x[i] = kept - step;
    double down = energy_of(t, probe);
    t->soft->x[i] = kept;
    assert_close(probe->gradient[i], (up - down) / (2 * step), 1e-6 * size);
  }
}

static void check_column(SoftTest *t, const Probe *probe, size_t j, double step, double tolerance) {
  double kept = t->soft->x[j];
  t->soft->x[j] = kept + step;
  push(t, probe, probe->gradient, false, true);
  t->soft->x[j] = kept - step;
  push(t, probe, probe->other, false, true);
  t->soft->x[j] = kept;
  const FloBlockMatrix *m = &t->soft->matrix;
  for (size_t i = 0; i < t->n_points; ++i)
    for (size_t k = m->begin[i]; k < m->begin[i + 1]; ++k) {
      if (m->columns[k] != j / 3) continue;
      for (size_t e = 0; e < 3; ++e)
        assert_close(m->blocks[9 * k + 3 * e + j % 3],
                     (probe->gradient[3 * i + e] - probe->other[3 * i + e]) / (2 * step), tolerance);
    }
}

// share: of the largest entry.
static void check_matrix(SoftTest *t, const Probe *probe, double step, double share) {
  push(t, probe, probe->gradient, true, true);
  double size = largest(t->soft->matrix.blocks, 9 * t->soft->matrix.begin[t->n_points]);
  for (size_t j = 0; j < 3 * t->n_points; ++j)
    if (t->soft->dim == 3 || j % 3 < 2) check_column(t, probe, j, step, share * size);
}

// x^T K x >= 0 for each element if the matrix is not the exact one: the sum must be so for random x.
static void check_projected(SoftTest *t, const Probe *probe, uint64_t seed) {
  Random random = {seed};
  double *x = calloc(3 * t->n_points, sizeof *x), *y = calloc(3 * t->n_points, sizeof *y);
  push(t, probe, probe->gradient, true, false);
  for (int trial = 0; trial < 50; ++trial) {
    double sum = 0, size = 0;
    for (size_t i = 0; i < 3 * t->n_points; ++i) x[i] = random_between(&random, -1, 1);
    flo_block_matrix_apply(&t->soft->matrix, x, y, 1);
    for (size_t i = 0; i < 3 * t->n_points; ++i) sum += x[i] * y[i], size += fabs(x[i] * y[i]);
    assert_true(sum >= -1e-12 * size);
  }
  free(x), free(y);
}

// Forces and torques of elements on a body that is free vanish.
static void check_balance(SoftTest *t, const Probe *probe) {
  double force[3] = {0}, torque[3] = {0}, size = 0, reach = 0;
  push(t, probe, probe->gradient, false, true);
  for (size_t i = 0; i < t->n_points; ++i) {
    double turn[3];
    vec_add(force, probe->gradient + 3 * i, force);
    vec_cross(t->soft->x + 3 * i, probe->gradient + 3 * i, turn);
    vec_add(torque, turn, torque);
    size += probe->size[i], reach = fmax(reach, vec_length(t->soft->x + 3 * i));
  }
  assert_true(vec_length(force) <= 1e-13 * size);
  assert_true(vec_length(torque) <= 1e-13 * size * reach);
}

static void check_all(SoftTest *t, double size, double matrix_share) {
  for (int damped = 0; damped < 2; ++damped) {
    Probe probe = start_probe(t, damped ? 50 : 0);
    shake(t, size, 7 + (uint64_t)damped);
    check_forces(t, &probe, 1e-6 * size);
    check_matrix(t, &probe, 1e-5 * size, matrix_share);
    check_projected(t, &probe, 3);
    check_balance(t, &probe);
    end_probe(&probe);
  }
}

static void test_membrane(void **state) {
  (void)state;
  FloClothDef cloth = fabric;
  for (int variant = 0; variant < 4; ++variant) {
    cloth.bend = 0, cloth.damping = 0.01;
    cloth.shear = variant == 1 ? 20 : 0;
    cloth.max_stretch = variant == 2 ? 0.3 : 0;
    cloth.prestretch[0] = variant >= 2 ? 1.2 : 0, cloth.prestretch[1] = variant == 3 ? 1.5 : 0;
    SoftTest t;
    soft_test_grid(&t, 3, 2, DIAGONALS_ALTERNATE);
    soft_test_make_cloth(&t, &cloth);
    check_all(&t, 0.03, 1e-6);
    soft_test_free(&t);
  }
}

static void test_bending(void **state) {
  (void)state;
  FloClothDef cloth = fabric;
  cloth.stretch = 1e-6, cloth.damping = 0.02;
  for (int diagonals = 0; diagonals < 3; ++diagonals) {
    SoftTest t;
    soft_test_grid(&t, 3, 3, (Diagonals)diagonals);
    soft_test_make_cloth(&t, &cloth);
    flo_soft_refix(t.soft);
    check_all(&t, 1e-4, 2e-3); // near the state at rest, where the matrix is complete
    Probe probe = start_probe(&t, 30);
    shake(&t, 0.1, 5); // large angles: forces only
    check_forces(&t, &probe, 1e-7);
    check_balance(&t, &probe);
    end_probe(&probe);
    soft_test_free(&t);
  }
}

static void test_strand(void **state) {
  (void)state;
  FloClothDef cloth = fabric;
  cloth.damping = 0.01, cloth.max_stretch = 0.4;
  SoftTest t;
  soft_test_line(&t, 7);
  soft_test_make_strand(&t, &cloth);
  flo_soft_refix(t.soft);
  check_all(&t, 2e-4, 1e-3);
  Probe probe = start_probe(&t, 30);
  shake(&t, 0.04, 5);
  check_forces(&t, &probe, 1e-7);
  end_probe(&probe);
  soft_test_free(&t);
}

static void test_solid(void **state) {
  (void)state;
  static const double ratios[] = {0, 0.3, 0.49};
  for (size_t k = 0; k < FLO_COUNT_OF(ratios); ++k)
    for (int dim = 2; dim <= 3; ++dim) {
      FloElasticDef rubber = {.young = 1e4, .poisson = ratios[k], .damping = 0.01};
      SoftTest t;
      if (dim == 2)
        soft_test_grid(&t, 3, 2, DIAGONALS_SAME);
      else
        soft_test_bricks(&t, 2, 2, 1);
      soft_test_make_solid(&t, dim, 1000, &rubber);
      check_all(&t, 0.1, 1e-6);
      check_all(&t, 0.5, 1e-6); // elements inside out
      soft_test_free(&t);
    }
}

// Rigid motion costs no energy, whatever the shape at rest, and friction does not feel it.
static void test_rigid_motion(void **state) {
  (void)state;
  double turn[4];
  quat_from_axis_angle((double[]){1, 2, -0.5}, 2.2, turn);
  FloClothDef cloth = fabric;
  cloth.damping = 0.1;
  for (int solid = 0; solid < 2; ++solid) {
    SoftTest t;
    if (solid) {
      soft_test_bricks(&t, 2, 1, 2);
      soft_test_make_solid(&t, 3, 1000, &(FloElasticDef){.young = 1e6, .poisson = 0.45, .damping = 0.1});
    } else {
      soft_test_grid(&t, 4, 3, DIAGONALS_ALTERNATE);
      Random random = {5};
      for (size_t i = 0; i < t.n_points; ++i) t.points[3 * i + 2] += random_between(&random, -0.1, 0.1);
      soft_test_make_cloth(&t, &cloth);
    }
    Probe probe = start_probe(&t, 100);
    for (size_t i = 0; i < t.n_points; ++i) {
      quat_rotate(turn, t.soft->x + 3 * i, t.soft->x + 3 * i);
      t.soft->x[3 * i + 1] += 3;
    }
    flo_soft_refix(t.soft);
    push(&t, &probe, probe.gradient, false, true);
    assert_true(energy_of(&t, &probe) < 1e-16 * (solid ? 1e6 : 500));
    assert_true(largest(probe.gradient, 3 * t.n_points) < 1e-9 * (solid ? 1e6 : 500));
    end_probe(&probe);
    soft_test_free(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_membrane), cmocka_unit_test(test_bending),      cmocka_unit_test(test_strand),
      cmocka_unit_test(test_solid),    cmocka_unit_test(test_rigid_motion),
  };
  return cmocka_run_group_tests_name("soft elements", tests, NULL, NULL);
}
