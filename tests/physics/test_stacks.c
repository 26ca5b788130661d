// Stacks that start exactly touching and at rest: nothing moves, and the floor bears the whole weight.
#include "dry.h"

#define FRICTION 0.5
#define SPACING  0.02
enum { MAX_BODIES = 16 };

// ---- A pile of bodies on a floor ----

typedef struct Pile {
  Setting setting;
  FloWorld *world;
  FloBodyId floor, bodies[MAX_BODIES];
  FloPose start[MAX_BODIES];
  int count;
  double weight; // of all bodies [N], in the plane [N/m]
} Pile;

static Pile make_pile(const char *method, int dim, double dt) {
  Pile pile = {.setting = {method, dim, SPACING, dt}};
  pile.world = heavy_world(&pile.setting);
  pile.floor = add_floor(pile.world, &pile.setting, 1.2, 0.8, FRICTION);
  return pile;
}

// A box of the given edges in spacings, whose bottom is at height `bottom`. In the plane y is up and the
// second edge does not count.
static void pile_box(Pile *pile, const double edges[3], double x, double bottom, double density) {
  bool is_flat = pile->setting.dim == 2;
  double a = edges[0] * SPACING, b = edges[1] * SPACING, c = edges[2] * SPACING;
  double height = bottom * SPACING + c / 2;
  FloBodyDef def =
      solid_def(FLO_BODY_DYNAMIC, is_flat ? box_shape(a, c, 0) : box_shape(a, b, c),
                is_flat ? pose_at(x * SPACING, height, 0) : pose_at(x * SPACING, 0, height), FRICTION);
  def.density = density;
  pile->bodies[pile->count] = add_body(pile->world, def);
  pile->start[pile->count++] = def.pose;
  pile->weight += GRAVITY * density * a * c * (is_flat ? 1 : b);
}

// The farthest that any body has come, in spacings, and turned, in radians.
static void pile_moved(const Pile *pile, double *way, double *turn) {
  *way = *turn = 0;
  for (int k = 0; k < pile->count; ++k) {
    const FloBodyState state = state_of(pile->world, pile->bodies[k]);
    double between[4], turned[3];
    quat_between(pile->start[k].rotation, state.pose.rotation, between);
    quat_to_vector(between, turned);
    *way = larger(*way, distance(state.pose.position, pile->start[k].position) / SPACING);
    *turn = larger(*turn, vec_length(turned));
  }
}

// Weight on the floor over the last half second, as a share of what it should be.
static double borne(const Pile *pile) {
  return -state_of(pile->world, pile->floor).mean_force[pile->setting.dim - 1] / pile->weight;
}

// Judges the first second, and frees the world.
static void judge_pile(Pile *pile, const char *what) {
  double way[4] = {0}, turn = 0, most = 0;
  for (int k = 0; k < 4; ++k) {
    if (k == 2) flo_world_restart_averages(pile->world);
    if (!advance_case(pile->world, 0.25 * (k + 1))) break;
    pile_moved(pile, &way[k], &turn);
    most = larger(most, way[k]);
  }
  double share = borne(pile);
  judge(most < 0.1 && fabs(share - 1) < 0.005,
        "%s, %s: moves %.4f spacings in 1 s (%.4f in 0.25 s), turns %.1e rad, floor bears %.4f of the weight",
        setting_text(&pile->setting), what, most, way[0], turn, share);
  flo_world_destroy(pile->world);
}

// ---- Cases ----

static void check_tower(const char *method, int dim, double dt, int n_cubes, double edge) {
  char what[64];
  Pile pile = make_pile(method, dim, dt);
  for (int k = 0; k < n_cubes; ++k) pile_box(&pile, (const double[]){edge, edge, edge}, 0.3, k * edge, 1000);
  snprintf(what, sizeof what, "%d cubes of %g spacings", n_cubes, edge);
  judge_pile(&pile, what);
}

static void towers_stand(void **state) {
  static const double edges[] = {6, 8, 12}, steps[] = {0, 1e-3};
  static const int counts[] = {3, 8};
  (void)state;
  for (int k = 0; k < N_CONTACT_METHODS * 24; ++k) {
    int size = k % 3, count = k / 3 % 2, step = k / 6 % 2, dim = 2 + k / 12 % 2;
    bool is_cheap = dim == 2 && step == 1 ? size < 2 : count == 0 && size == 0 && dim == 2 + step;
    if (is_full() || is_cheap)
      check_tower(contact_methods[k / 24], dim, steps[step], counts[count], edges[size]);
  }
  end_cases();
}

// Rows of four, three, two bricks and one. Each brick lies on two.
static void check_pyramid(const char *method, int dim, double dt) {
  Pile pile = make_pile(method, dim, dt);
  for (int row = 0; row < 4; ++row)
    for (int k = 0; k < 4 - row; ++k)
      pile_box(&pile, (const double[]){12, 6, 6}, 13 * (k + 0.5 * row - 1.5), 6 * row, 1000);
  judge_pile(&pile, "pyramid of ten bricks");
}

static void pyramids_stand(void **state) {
  (void)state;
  for (int k = 0; k < 4 * N_CONTACT_METHODS; ++k)
    if (is_full() || k % 4 == 1) check_pyramid(contact_methods[k / 4], 2 + k / 2 % 2, k % 2 ? 1e-3 : 0);
  end_cases();
}

static const double block[] = {6, 6, 6}, plate[] = {24, 24, 3};

static void check_plates(const char *method, int dim, double dt) {
  Pile pile = make_pile(method, dim, dt);
  pile_box(&pile, block, 0.3, 0, 1000);
  pile_box(&pile, plate, -0.4, 6, 100);
  judge_pile(&pile, "large light plate on a small block");
  pile = make_pile(method, dim, dt);
  pile_box(&pile, plate, 0, 0, 1000);
  pile_box(&pile, block, 4.3, 3, 1000);
  judge_pile(&pile, "small block on a large plate");
  pile = make_pile(method, dim, dt);
  pile_box(&pile, block, 0, 0, 100);
  pile_box(&pile, block, 0.6, 6, 10000);
  judge_pile(&pile, "heavy block on a light one, 100:1");
}

static void plates_and_blocks_rest(void **state) {
  (void)state;
  for (int k = 0; k < 4 * N_CONTACT_METHODS; ++k)
    if (is_full() || k % 4 != 2) check_plates(contact_methods[k / 4], 2 + k / 2 % 2, k % 2 ? 1e-3 : 0);
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CASES(towers_stand),
      CASES(pyramids_stand),
      CASES(plates_and_blocks_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
