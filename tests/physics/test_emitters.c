// An emitter that fills a channel from wall to wall: nothing bursts where its water meets the walls, and none
// is lost. Channels are one tank, or boxes that touch each other in their edges.
#include "dry.h"

#define SPEED 0.7

typedef struct Channel {
  const char *method;
  double spacing, height; // of the emitter's lowest edge above the floor, in spacings
  bool is_tank;
} Channel;

static const double length = 1.2, width = 0.3;

static void add_walls(FloWorld *world, bool is_tank) {
  const double thick = 0.08, high = 0.5;
  if (is_tank) {
    FloShape tank = {.kind = FLO_SHAPE_TANK, .size = {length, width, high}, .up = 2};
    add_solid(world, FLO_BODY_STATIC, tank, pose_at(length / 2, width / 2, high / 2), 0);
    return;
  }
  const FloShape floor = box_shape(length, width, thick), wall = box_shape(length, thick, 2 * high);
  add_solid(world, FLO_BODY_STATIC, floor, pose_at(length / 2, width / 2, -thick / 2), 0);
  add_solid(world, FLO_BODY_STATIC, wall, pose_at(length / 2, -thick / 2, 0), 0);
  add_solid(world, FLO_BODY_STATIC, wall, pose_at(length / 2, width + thick / 2, 0), 0);
}

static void check_channel(const Channel *channel) {
  const Setting setting = {channel->method, 3, channel->spacing, 0};
  FloWorld *world = heavy_world(&setting);
  FloEmitterDef emitter = flo_default_emitter_def();
  FloError error;
  add_walls(world, channel->is_tank);
  emitter.material = add_water(world, 1000, 1e-6), emitter.speed = SPEED;
  emitter.size[0] = width, emitter.size[1] = 0.1;
  emitter.pose = pose_at(0.1, width / 2, 0.05 + channel->height * channel->spacing);
  must(flo_world_add_emitter(world, &emitter, NULL, &error), &error);
  bool is_done = advance_case(world, 0.4);
  const FloMeasurements m = flo_world_measure(world);
  flo_world_destroy(world);
  // The fastest water has fallen from the top of the jet.
  const double fall = sqrt(2 * GRAVITY * (0.1 + channel->height * channel->spacing)) + SPEED;
  judge(is_done && m.max_speed < 1.2 * fall && m.penetrations == 0,
        "%s, %s, emitter %g spacings above the floor: at most %.2f m/s, a fall gives %.2f; %g inside walls",
        setting_text(&setting), channel->is_tank ? "tank" : "boxes", channel->height, m.max_speed, fall,
        (double)m.penetrations);
}

static void emitters_fill_channels(void **state) {
  static const char *const implicit[] = {"monolithic", "constraint", "elastic"};
  static const double spacings[] = {0.025, 0.0125}, heights[] = {0, 1, 3};
  (void)state;
  for (int k = 0; k < 36; ++k) {
    const Channel channel = {implicit[k % 3], spacings[k / 3 % 2], heights[k / 6 % 3], k / 18};
    if (is_full() || channel.spacing > 0.02 || (channel.height == 1 && !channel.is_tank))
      check_channel(&channel);
  }
  end_cases();
}

int main(void) {
  const struct CMUnitTest tests[] = {CASES(emitters_fill_channels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
