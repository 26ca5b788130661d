// A column of water, twice as high as wide, is let go: its front against the experiment of Martin & Moyce
// 1952.
#include "physics.h"

#define WIDTH 0.05715 // a = 2.25 inches

enum { MAX_SAMPLES = 400 };

// Martin & Moyce 1952, Phil. Trans. R. Soc. A 244, table 2 (n^2 = 2, a = 2.25 in): T = t sqrt(2g/a), Z = x/a.
static const double table[][2] = {{0.41, 1.11}, {0.84, 1.22}, {1.19, 1.44}, {1.43, 1.67}, {1.63, 1.89},
                                  {1.83, 2.11}, {1.98, 2.33}, {2.20, 2.56}, {2.32, 2.78}, {2.51, 3.00},
                                  {2.65, 3.22}, {2.83, 3.44}, {2.98, 3.67}, {3.11, 3.89}, {3.33, 4.11}};

enum { N_ROWS = sizeof table / sizeof table[0] };

typedef struct Front {
  double t[MAX_SAMPLES], z[MAX_SAMPLES]; // T = t sqrt(2g/a), Z = x/a
  size_t n;
} Front;

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// The bulk front: beyond it lies half a per cent of the fluid, plus half a spacing to the edge of the
// particles.
static double front_position(FloWorld *world, double spacing) {
  size_t n = flo_world_count(world, FLO_SET_FLUID);
  double *x = malloc(n * sizeof *x);
  memcpy(x, doubles(world, "x"), n * sizeof *x);
  qsort(x, n, sizeof *x, compare);
  double front = x[(size_t)((double)n * 0.995)] + spacing / 2;
  free(x);
  return front;
}

static void simulate_front(const char *method, int resolution, double until, Front *front) {
  FloWorldDef def = flo_default_world_def();
  def.method = method;
  def.dim = 2, def.spacing = WIDTH / resolution;
  def.gravity[1] = -9.81, def.gravity[2] = 0;
  FloWorld *world = make_world(&def);
  FloMaterialId water = add_water(world, 1000, 1e-6);
  add_tank(world, 8 * WIDTH, 4 * WIDTH, 0, 1);
  add_block(world, water, 0, WIDTH, 2 * WIDTH, 0);
  double unit = sqrt(WIDTH / (2 * 9.81));
  for (front->n = 0; (double)front->n * 0.05 <= until; ++front->n) {
    double t = (double)front->n * 0.05;
    advance(world, t * unit);
    front->t[front->n] = t;
    front->z[front->n] = front_position(world, def.spacing) / WIDTH;
  }
  flo_world_destroy(world);
}

static double interpolate(const double *x, const double *y, size_t n, double at) {
  size_t k = 1;
  while (k + 1 < n && x[k] < at) ++k;
  return y[k - 1] + (at - x[k - 1]) / (x[k] - x[k - 1]) * (y[k] - y[k - 1]);
}

// Root mean square of the relative difference, the clocks set to agree at Z = 1.44 because the gate's opening
// is unknown.
static double rms_error(const Front *front) {
  double rows_t[N_ROWS], rows_z[N_ROWS], sum = 0;
  size_t n = 0;
  for (size_t k = 0; k < N_ROWS; ++k) rows_t[k] = table[k][0], rows_z[k] = table[k][1];
  double shift = interpolate(front->z, front->t, front->n, 1.44) - interpolate(rows_z, rows_t, N_ROWS, 1.44);
  for (size_t k = 0; k < N_ROWS; ++k) {
    if (rows_t[k] < 0.8 || rows_t[k] > 3.3) continue;
    double z = interpolate(front->t, front->z, front->n, rows_t[k] + shift);
    sum += pow(z / rows_z[k] - 1, 2), ++n;
  }
  return sqrt(sum / (double)n);
}

// Root mean square of the relative difference between two runs.
static double distance(const Front *a, const Front *b) {
  double sum = 0;
  for (size_t k = 0; k < a->n; ++k) sum += pow(a->z[k] / b->z[k] - 1, 2);
  return sqrt(sum / (double)a->n);
}

static void check_front(const char *method) {
  static const int resolutions[] = {10, 20, 40};
  static Front fronts[3];
  double errors[3];
  for (int k = 0; k < 3; ++k) {
    simulate_front(method, resolutions[k], 3.8, &fronts[k]);
    errors[k] = rms_error(&fronts[k]);
    print_message("%s, a/s = %d: front differs by %.1f %% (rms) from the experiment\n", method,
                  resolutions[k], 100 * errors[k]);
  }
  double coarse = distance(&fronts[0], &fronts[2]), middle = distance(&fronts[1], &fronts[2]);
  print_message("from the finest run: %.1f %% and %.1f %%\n", 100 * coarse, 100 * middle);
  assert_true(errors[2] < 0.06);
  assert_true(errors[2] < errors[0]);
  assert_true(middle < coarse / 1.5);
}

static void front_follows_martin_and_moyce(void **unused) {
  (void)unused;
  check_front("wcsph");
}

// At its automatic step, with few particles across the column.
static void front_by_constraint_follows_them_too(void **unused) {
  (void)unused;
  static const int resolutions[] = {12, 20};
  static Front front;
  for (int k = 0; k < 2; ++k) {
    simulate_front("constraint", resolutions[k], 3.8, &front);
    const double error = rms_error(&front);
    print_message("constraint, a/s = %d: front differs by %.1f %% (rms)\n", resolutions[k], 100 * error);
    assert_true(error < 0.06);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(front_follows_martin_and_moyce),
                                     cmocka_unit_test(front_by_constraint_follows_them_too)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
