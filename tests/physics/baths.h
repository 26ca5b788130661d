// Basins of water with a body that floats or is held.
#ifndef FLO_TEST_BATHS_H
#define FLO_TEST_BATHS_H

#include "physics.h"

#include "base/vecmath.h"

#define SPACING 0.02
#define GRAVITY 9.81
#define DENSITY 1000.0

typedef enum Form { SPHERE, CUBE, FLAT_BOX } Form;

static const char *const form_names[] = {"sphere", "cube", "flat box"};

// A flat box is half as high as it is wide.
typedef struct Buoy {
  const char *method;
  Form form;
  int across;     // in spacings
  double density; // [kg/m^3]
} Buoy;

typedef struct Bath {
  FloWorld *world;
  FloBodyId body;
  Form form;
  double width, across; // of basin and body [m]
} Bath;

// ---- The body ----

static inline double height_of(Form form, double across) { return form == FLAT_BOX ? across / 2 : across; }

// Volume of the part of the body below a level that is `h` above its lowest point.
static inline double volume_below(Form form, double across, double h) {
  double radius = across / 2, low = fmin(fmax(h, 0), height_of(form, across));
  return form == SPHERE ? TEST_PI * low * low * (3 * radius - low) / 3 : across * across * low;
}

// How deep a share of the body reaches.
static inline double draught_of(Form form, double across, double share) {
  double low = 0, high = height_of(form, across), whole = volume_below(form, across, high);
  for (int k = 0; k < 60; ++k) {
    double middle = (low + high) / 2;
    *(volume_below(form, across, middle) > share * whole ? &high : &low) = middle;
  }
  return low;
}

static inline FloShape shape_of(Form form, double across) {
  FloShape shape = {.kind = form == SPHERE ? FLO_SHAPE_SPHERE : FLO_SHAPE_BOX};
  if (form == SPHERE)
    shape.radius = across / 2;
  else
    vec_set(shape.size, across, across, height_of(form, across));
  return shape;
}

// ---- The basin ----

// A basin that repeats along x and y, twelve spacings wider than the body. Heights are in metres.
static inline Bath make_bath(const Buoy *buoy, double depth, double height, double release) {
  FloWorldDef def = flo_default_world_def();
  FloError error;
  Bath bath = {.form = buoy->form, .width = (buoy->across + 12) * SPACING, .across = buoy->across * SPACING};
  def.method = buoy->method, def.spacing = SPACING, def.settle = 0.3, def.threads = 1;
  vec_set(def.gravity, 0, 0, -GRAVITY);
  for (int axis = 0; axis < 2; ++axis) def.periodic[axis] = true, def.domain_high[axis] = bath.width;
  bath.world = make_world(&def);
  FloBodyDef floor = flo_default_body_def(), body = floor;
  floor.shape = (FloShape){.kind = FLO_SHAPE_BOX, .size = {bath.width, bath.width, 4 * SPACING}};
  floor.pose = pose_at(bath.width / 2, bath.width / 2, -2 * SPACING);
  must(flo_world_add_body(bath.world, &floor, NULL, &error), &error);
  body.kind = FLO_BODY_DYNAMIC, body.density = buoy->density, body.release = release;
  body.shape = shape_of(buoy->form, bath.across);
  body.pose = pose_at(bath.width / 2, bath.width / 2, height);
  must(flo_world_add_body(bath.world, &body, &bath.body, &error), &error);
  add_block(bath.world, add_water(bath.world, DENSITY, 1e-6), 0, bath.width, bath.width, depth);
  return bath;
}

// The share of an upright body that is below the level at which it and the water fill the basin.
static inline double submerged_share(const Bath *bath) {
  double volume = (double)flo_world_count(bath->world, FLO_SET_FLUID) * pow(SPACING, 3);
  double tall = height_of(bath->form, bath->across), area = bath->width * bath->width;
  double lowest = state_of(bath->world, bath->body).pose.position[2] - tall / 2;
  double low = 0, high = 2 * volume / area;
  for (int k = 0; k < 60; ++k) {
    double level = (low + high) / 2;
    bool is_full = area * level - volume_below(bath->form, bath->across, level - lowest) > volume;
    *(is_full ? &high : &low) = level;
  }
  return volume_below(bath->form, bath->across, low - lowest) / volume_below(bath->form, bath->across, tall);
}

// ---- Bodies that float, are held, or hover ----

// Starts a body as deep as it should float. The mean from 2 to 2.8 s.
static inline double floating_share(const Buoy *buoy) {
  double across = buoy->across * SPACING, tall = height_of(buoy->form, across),
         depth = fmax(tall + 8 * SPACING, 16 * SPACING), share = buoy->density / DENSITY, sum = 0;
  Bath bath = make_bath(buoy, depth, depth - draught_of(buoy->form, across, share) + tall / 2, 0);
  int n = 0;
  advance(bath.world, 2);
  for (double time = 2; time < 2.8; time += 0.02, ++n) {
    advance(bath.world, time);
    sum += submerged_share(&bath);
  }
  print_message("%s: %s, %d spacings across, of %g kg/m3: %.4f of it is under water (off by %+.2f %%)\n",
                buoy->method, form_names[buoy->form], buoy->across, buoy->density, sum / n,
                100 * (sum / n / share - 1));
  assert_int_equal(flo_world_measure(bath.world).penetrations, 0);
  flo_world_destroy(bath.world);
  return sum / n;
}

// The mean force over the last second, of the weight of the water that the body displaces.
static inline double held_lift(const Buoy *buoy) {
  double tall = height_of(buoy->form, buoy->across * SPACING), depth = tall + 12 * SPACING;
  Bath bath = make_bath(buoy, depth, depth / 2, 1e9);
  advance(bath.world, 0.5);
  flo_world_restart_averages(bath.world);
  advance(bath.world, 1.5);
  double weight = DENSITY * GRAVITY * volume_below(buoy->form, bath.across, tall);
  double lift = state_of(bath.world, bath.body).mean_force[2] / weight;
  print_message("%s: held %s, %d spacings across: lift %.4f of the displaced weight\n", buoy->method,
                form_names[buoy->form], buoy->across, lift);
  flo_world_destroy(bath.world);
  return lift;
}

// The farthest that a body under water gets from where it is released, in spacings.
static inline double hovering_drift(const Buoy *buoy, double duration) {
  double depth = height_of(buoy->form, buoy->across * SPACING) + 12 * SPACING, farthest = 0;
  Bath bath = make_bath(buoy, depth, depth / 2, 0);
  advance(bath.world, 0);
  double start = state_of(bath.world, bath.body).pose.position[2], now = start;
  for (double time = 0.1; time <= duration; time += 0.1) {
    advance(bath.world, time);
    now = state_of(bath.world, bath.body).pose.position[2];
    farthest = fmax(farthest, fabs(now - start) / SPACING);
  }
  print_message(
      "%s: %s, %d spacings across, of %g kg/m3: at most %.3f spacings away in %g s, %+.3f in the end\n",
      buoy->method, form_names[buoy->form], buoy->across, buoy->density, farthest, duration,
      (now - start) / SPACING);
  flo_world_destroy(bath.world);
  return farthest;
}

#endif
