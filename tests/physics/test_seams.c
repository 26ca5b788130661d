// Bodies that slide over the seams of flush floors. Nothing there is in their way: a box without friction
// keeps its speed, its height and its heading, whatever its edges meet.
#include "dry.h"

typedef enum Ground { TILES, TRIANGLES, LOOSE_BLOCKS, N_GROUNDS } Ground;
static const char *const ground_names[] = {"tiles", "mesh tiles", "loose blocks"};

typedef struct Case {
  Setting setting;
  Ground ground;
  double speed;   // [m/s]
  double heading; // angle by which the slider is turned about the vertical [rad]
  double oblique; // angle by which the seams are turned [rad]
} Case;

enum { N_TILES = 7, EDGE = 6 }; // EDGE: of the slider, in spacings

// ---- Making ----

// Length that is no multiple of the spacing, so that the samples of every tile lie differently.
static double tile_length(const Case *c) { return 7.3 * c->setting.spacing; }

// A box as twelve triangles.
static FloShape mesh_of(const double size[3]) {
  static double vertices[8][3];
  static const uint32_t triangles[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                            {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  for (int k = 0; k < 8; ++k)
    for (int axis = 0; axis < 3; ++axis) vertices[k][axis] = ((k >> axis & 1) - 0.5) * size[axis];
  static const FloTriangles mesh = {
      .vertices = *vertices, .triangles = *triangles, .n_vertices = 8, .n_triangles = 12};
  return (FloShape){.kind = FLO_SHAPE_MESH, .mesh = &mesh};
}

// The top of each tile is at height 0. They follow each other along x.
static void add_tile(FloWorld *world, const Case *c, int k) {
  const double s = c->setting.spacing, wide = tile_length(c), thick = 4 * s;
  const double size[3] = {wide, c->setting.dim == 2 ? thick : 30 * s, c->setting.dim == 2 ? 0 : thick};
  double along = (k - 1) * wide;
  FloShape shape = c->ground == TRIANGLES ? mesh_of(size) : box_shape(size[0], size[1], size[2]);
  FloPose pose = pose_at(along * cos(c->oblique), along * sin(c->oblique), -thick / 2);
  if (c->setting.dim == 2) pose = pose_at(along, -thick / 2, 0);
  quat_from_axis_angle((const double[3]){0, 0, 1}, c->oblique, pose.rotation);
  FloBodyKind kind = c->ground == LOOSE_BLOCKS ? FLO_BODY_DYNAMIC : FLO_BODY_STATIC;
  FloBodyDef def = solid_def(kind, shape, pose, 0);
  if (c->ground == LOOSE_BLOCKS) def.density = 1e5;
  add_body(world, def);
}

static FloBodyId add_slider(FloWorld *world, const Case *c) {
  double edge = EDGE * c->setting.spacing;
  bool is_flat = c->setting.dim == 2;
  FloPose pose = is_flat ? pose_at(0, edge / 2, 0) : pose_at(0, 0, edge / 2);
  FloBodyDef def = solid_def(FLO_BODY_DYNAMIC, box_shape(edge, edge, is_flat ? 0 : edge), pose, 0);
  quat_from_axis_angle((const double[3]){0, 0, 1}, is_flat ? 0 : c->heading, def.pose.rotation);
  def.velocity[0] = c->speed;
  return add_body(world, def);
}

// ---- Cases ----

static double height_of(const Case *c, const FloBodyState *state) {
  return state->pose.position[c->setting.dim - 1] - EDGE * c->setting.spacing / 2;
}

static void check_slide(const Case *c) {
  const double s = c->setting.spacing, end = 3 * tile_length(c) / c->speed;
  double rise = 0, start[4];
  FloWorld *world = heavy_world(&c->setting);
  if (c->ground == LOOSE_BLOCKS) {
    FloShape base = c->setting.dim == 2 ? box_shape(80 * s, 4 * s, 0) : box_shape(80 * s, 40 * s, 4 * s);
    add_solid(world, FLO_BODY_STATIC, base,
              c->setting.dim == 2 ? pose_at(15 * s, -6 * s, 0) : pose_at(15 * s, 0, -6 * s), 0);
  }
  for (int k = 0; k < N_TILES; ++k) add_tile(world, c, k);
  FloBodyId slider = add_slider(world, c);
  FloBodyState state = state_of(world, slider);
  quat_copy(state.pose.rotation, start);
  for (int k = 1; k <= 60 && advance_case(world, k * end / 60); ++k) {
    state = state_of(world, slider);
    rise = larger(rise, fabs(height_of(c, &state)) / s);
  }
  flo_world_destroy(world);
  double turn = 0;
  for (int k = 0; k < 4; ++k) turn = larger(turn, 2 * fabs(state.pose.rotation[k] - start[k]));
  double loss = 1 - state.velocity[0] / c->speed;
  judge(fabs(loss) < (c->ground == TRIANGLES ? 2e-3 : 1e-4) && rise < 0.02 && turn < 1e-3,
        "%s, %s, %.3g m/s, turned by %2.0f, seams by %2.0f degrees: loses %+.1e of its speed, leaves its "
        "height by "
        "%.4f spacings, turns by %.1e",
        setting_text(&c->setting), ground_names[c->ground], c->speed, 180 / TEST_PI * c->heading,
        180 / TEST_PI * c->oblique, loss, rise, turn);
}

static void sliders_pass_seams(void **state) {
  static const double speeds[] = {0.3, 1, 3}, spacings[] = {0.02, 0.005};
  (void)state;
  for (int k = 0; k < N_CONTACT_METHODS * 2 * 3; ++k) {
    const Case c = {.setting = {contact_methods[k / 6], 2, spacings[k / 3 % 2], 0}, .speed = speeds[k % 3]};
    check_slide(&c);
  }
  end_cases();
}

static void corners_pass_seams(void **state) {
  static const double angles[][2] = {{0, 0}, {0.3, 0}, {TEST_PI / 4, 0}, {0, 0.4}, {0.5, 0.4}};
  (void)state;
  for (int k = 0; k < N_CONTACT_METHODS * 5; ++k)
    for (int ground = 0; ground < N_GROUNDS; ++ground) {
      const Case c = {
          {contact_methods[k / 5], 3, 0.02, 0}, (Ground)ground, 1, angles[k % 5][0], angles[k % 5][1]};
      if (is_full() || ground == TILES || k % 5 == 1) check_slide(&c);
    }
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {CASES(sliders_pass_seams), CASES(corners_pass_seams)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
