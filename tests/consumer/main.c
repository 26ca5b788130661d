#include <flotsam/flotsam.h>
#include <stdio.h>

static FloStatus simulate(FloWorld *world, FloError *error) {
  FloMaterialDef water = flo_default_material_def();
  FloFluidDef block = flo_default_fluid_def();
  FloStatus status = flo_world_add_material(world, &water, &block.material, error);

  FloBodyDef tank = flo_default_body_def(); // before the fluid, which is left out where a solid stands
  tank.shape = (FloShape){.kind = FLO_SHAPE_TANK, .size = {1.0, 0.2, 0.6}, .up = 2};
  tank.pose.position[2] = 0.3; // its centre; the floor is at z = 0
  FloBodyId id;
  if (!status) status = flo_world_add_body(world, &tank, &id, error);

  block.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {0.3, 0.2, 0.4}};
  block.pose.position[0] = -0.35, block.pose.position[2] = 0.2;
  size_t n_added;
  if (!status) status = flo_world_add_fluid(world, &block, &n_added, error);

  for (int frame = 1; !status && frame <= 10; frame++) {
    status = flo_world_advance(world, 0.02 * frame, NULL, error);
    FloMeasurements m = flo_world_measure(world);
    printf("%.2f s  %zu particles  fastest %.2f m/s\n", m.time, m.fluid_particles, m.max_speed);
  }
  return status;
}

int main(void) {
  FloError error;
  FloWorldDef def = flo_default_world_def();
  FloWorld *world;
  FloStatus status = flo_world_create(&def, &world, &error);
  if (!status) status = simulate(world, &error);
  if (status) fprintf(stderr, "%s\n", error.text);
  flo_world_destroy(world);
  return status ? 1 : 0;
}
