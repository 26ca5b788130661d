// The tree of moving elements against brute force.
#include "base/vecmath.h"
#include "geometry/moving_tree.h"
#include "support/check.h"
#include "support/random.h"

#include <string.h>

enum { MOST = 700, WIDTH = 3 };

typedef struct Soup {
  FloMemory memory;
  FloMovingTree tree;
  size_t n;
  uint32_t corners[MOST * WIDTH];
  double from[3 * MOST], to[3 * MOST];
} Soup;

// Elements of neighbouring vertices, some of them of one vertex only.
static void make_soup(Soup *soup, Random *random, size_t n) {
  FloError error;
  memset(soup, 0, sizeof *soup);
  flo_memory_init(&soup->memory, NULL);
  soup->n = n;
  for (size_t k = 0; k < 3 * MOST; ++k) soup->from[k] = random_between(random, -1, 1);
  for (size_t k = 0; k < WIDTH * n; ++k) soup->corners[k] = random_below(random, MOST);
  if (n > 3) soup->corners[3] = soup->corners[4] = soup->corners[5];
  assert_ok(flo_moving_tree_make(&soup->tree, &soup->memory, soup->from, soup->corners, n, WIDTH, &error),
            &error);
}

static void free_soup(Soup *soup) {
  flo_moving_tree_free(&soup->tree, &soup->memory);
  assert_int_equal(soup->memory.bytes, 0);
}

static void move_soup(Soup *soup, Random *random, double far, int threads) {
  for (size_t k = 0; k < 3 * MOST; ++k) {
    soup->from[k] += random_between(random, -0.1, 0.1);
    soup->to[k] = soup->from[k] + random_between(random, -far, far);
  }
  flo_moving_tree_refit(&soup->tree, soup->from, soup->to, threads);
}

typedef struct Visits {
  size_t count;
  uint32_t elements[MOST];
  int times[MOST];
} Visits;

static void note(void *context, uint32_t element) {
  Visits *visits = context;
  visits->elements[visits->count++] = element;
  visits->times[element]++;
}

static FloMovingBox box_of(const Soup *soup, size_t element) {
  FloMovingBox box = flo_empty_box;
  for (size_t c = 0; c < WIDTH; ++c) {
    const size_t vertex = soup->corners[WIDTH * element + c];
    flo_box_add(&box, soup->from + 3 * vertex);
    flo_box_add(&box, soup->to + 3 * vertex);
  }
  return box;
}

static FloMovingBox random_box(Random *random) {
  FloMovingBox box = flo_empty_box;
  const double size = random_between(random, 0, 0.5);
  const double x[3] = {random_between(random, -1, 1), random_between(random, -1, 1),
                       random_between(random, -1, 1)};
  flo_box_add(&box, x);
  flo_box_grow(&box, size);
  return box;
}

static void test_finds_all_once(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 2, 4, 5, 9, 100, MOST};
  static Soup soup;
  Random random = {1};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    make_soup(&soup, &random, sizes[s]);
    for (int n = 0; n < 20; ++n) {
      move_soup(&soup, &random, 0.2, 1 + n % 3);
      const FloMovingBox box = random_box(&random);
      Visits visits = {0};
      flo_moving_tree_visit(&soup.tree, &box, note, &visits);
      for (size_t k = 0; k < soup.n; ++k) {
        const FloMovingBox own = box_of(&soup, k);
        assert_int_equal(visits.times[k], flo_boxes_meet(&own, &box));
      }
    }
    free_soup(&soup);
  }
}

static void test_order_does_not_depend_on_threads(void **state) {
  (void)state;
  static Soup one, three;
  Random random = {2}, again = {2};
  make_soup(&one, &random, MOST);
  make_soup(&three, &again, MOST);
  move_soup(&one, &random, 0.2, 1);
  move_soup(&three, &again, 0.2, 3);
  for (int n = 0; n < 20; ++n) {
    const FloMovingBox box = random_box(&random);
    Visits a = {0}, b = {0};
    flo_moving_tree_visit(&one.tree, &box, note, &a);
    flo_moving_tree_visit(&three.tree, &box, note, &b);
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.elements, b.elements, a.count * sizeof *a.elements + 1);
  }
  free_soup(&one), free_soup(&three);
}

static void test_box_is_around_everything(void **state) {
  (void)state;
  static Soup soup;
  Random random = {3};
  make_soup(&soup, &random, 50);
  move_soup(&soup, &random, 5, 2);
  const FloMovingBox all = flo_moving_tree_box(&soup.tree);
  FloMovingBox expected = flo_empty_box;
  for (size_t k = 0; k < soup.n; ++k) {
    const FloMovingBox box = box_of(&soup, k);
    flo_box_add(&expected, box.low), flo_box_add(&expected, box.high);
  }
  assert_memory_equal(&all, &expected, sizeof all);
  free_soup(&soup);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_finds_all_once),
      cmocka_unit_test(test_order_does_not_depend_on_threads),
      cmocka_unit_test(test_box_is_around_everything),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
