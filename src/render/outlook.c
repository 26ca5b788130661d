#include "render/outlook.h"

#include "base/pose.h"
#include "bodies/motion.h"
#include "geometry/shape_mesh.h"
#include "geometry/shapes.h"
#include "io/scene_steps.h"
#include "render/colour.h"
#include "render/solids.h"

#include <math.h>
#include <string.h>

enum { MOTION_SAMPLES = 65, FLIGHT_SAMPLES = 17, FIELD_SAMPLES = 5 };

// ---- Boxes ----

typedef struct Box {
  double low[3], high[3];
} Box;

static Box empty_box(void) {
  return (Box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

static bool is_empty(const Box *box) { return !(box->low[0] <= box->high[0]); }

static void add_point(Box *box, const double p[3]) {
  if (!vec_is_finite(p)) return;
  for (int axis = 0; axis < 3; axis++) {
    box->low[axis] = fmin(box->low[axis], p[axis]);
    box->high[axis] = fmax(box->high[axis], p[axis]);
  }
}

static void add_box(Box *box, const Box *other) {
  if (is_empty(other)) return;
  add_point(box, other->low);
  add_point(box, other->high);
}

static void corner_of(const Box *box, int k, double corner[3]) {
  for (int axis = 0; axis < 3; axis++) corner[axis] = k >> axis & 1 ? box->high[axis] : box->low[axis];
}

static void add_placed(Box *box, const Box *local, const FloPose *pose) {
  for (int k = 0; k < 8; k++) {
    double corner[3], placed[3];
    corner_of(local, k, corner);
    pose_to_world(pose, corner, placed);
    add_point(box, placed);
  }
}

static double diagonal(const Box *box) {
  double size[3];
  vec_sub(box->high, box->low, size);
  return vec_length(size);
}

// Cuts off what lies farther from `core` than `reach`.
static void limit_box(Box *box, const Box *core, double reach) {
  for (int axis = 0; axis < 3; axis++) {
    box->low[axis] = fmax(box->low[axis], core->low[axis] - reach);
    box->high[axis] = fmin(box->high[axis], core->high[axis] + reach);
  }
}

// The box around a shape, in its own frame.
static FloStatus find_local_box(const FloShape *shape, int dim, Box *box, FloError *error) {
  if (flo_shape_has_formula(shape)) {
    flo_shape_bounds(shape, dim, box->low, box->high);
    return FLO_OK;
  }
  FloMemory memory;
  FloMesh mesh;
  double extent =
      fmax(2 * (shape->radius + shape->radius2), fmax(shape->size[0], fmax(shape->size[1], shape->size[2])));
  flo_memory_init(&memory, NULL);
  flo_mesh_init(&mesh, &memory);
  FloStatus status = flo_shape_mesh(shape, extent / 12, 0, &mesh, error);
  if (status == FLO_OK) flo_mesh_bounds(&mesh, box->low, box->high);
  flo_mesh_free(&mesh);
  return status;
}

// ---- Contents of the scene ----

// A scene under inspection.
typedef struct Inspection {
  const FloScene *scene;
  const struct FloSceneParts *parts;
  Box bodies;    // as drawn, at the start
  Box fluid;     // when it starts or is added; also windows of emitters and levels of fills
  Box flights;   // ways of fluid that starts with a velocity, and of bodies that move
  double volume; // of the fluid [m³], 2D [m²]
  double speed;  // fastest so far [m/s]
  double top;    // highest place of water whose weight causes pressure below [m]
} Inspection;

static double gravity_of(const Inspection *in) { return vec_length(in->scene->world.gravity); }

static void note_speed(Inspection *in, double speed) {
  if (isfinite(speed)) in->speed = fmax(in->speed, speed);
}

static void inspect_motions(Inspection *in, const FloSceneBody *body, const Box *local) {
  const FloBodyDef *def = &body->def;
  for (int k = 0; k < MOTION_SAMPLES; k++) {
    FloBodyState state;
    flo_motion_evaluate(def->motions, def->n_motions, &def->pose,
                        in->scene->duration * k / (MOTION_SAMPLES - 1), &state);
    add_placed(&in->flights, local, &state.pose);
  }
  note_speed(in, flo_motion_max_speed(def->motions, def->n_motions, &def->pose, 0.5 * diagonal(local)));
}

// A cloth that is held hangs down, by half of its length at most unless it is stretched; the ground is not
// above that. Where there are boundaries, they are the ground.
static void inspect_cloth(Inspection *in, const FloSceneBody *body, const Box *local) {
  const FloScene *scene = in->scene;
  for (size_t k = 0; k < scene->n_bodies; k++)
    if (!flo_scene_is_body(&scene->bodies[k])) return;
  Box box = empty_box();
  add_placed(&box, local, &body->def.pose);
  box.low[scene->up] -= 0.5 * diagonal(local);
  add_box(&in->bodies, &box);
}

static FloStatus inspect_bodies(Inspection *in, FloError *error) {
  const FloScene *scene = in->scene;
  for (size_t k = 0; k < scene->n_bodies; k++) {
    const FloSceneBody *body = &scene->bodies[k];
    Box local;
    if (!strcmp(body->look, "hidden")) continue;
    FLO_TRY(find_local_box(&body->def.shape, scene->world.dim, &local, error));
    if (!strcmp(body->look, "samples")) add_placed(&in->bodies, &local, &body->def.pose);
    if (body->def.n_motions > 0) inspect_motions(in, body, &local);
    if (body->def.n_pins > 0) inspect_cloth(in, body, &local);
  }
  // The other bodies as they are drawn, with the floor plates and walls of tanks.
  FloSolids solids;
  FloRepeat repeat = flo_scene_repeat(scene);
  FloStatus status = flo_solids_create(scene->bodies, NULL, scene->n_bodies, scene->world.dim,
                                       (float)(0.5 * scene->world.spacing), &repeat, &solids, error);
  FloBounds b = solids.bounds;
  if (status == FLO_OK && !flo_bounds_is_empty(b))
    add_box(&in->bodies, &(Box){{(double)b.low.x, (double)b.low.y, (double)b.low.z},
                                {(double)b.high.x, (double)b.high.y, (double)b.high.z}});
  flo_solids_destroy(&solids);
  return status;
}

// The way of fluid that starts with a velocity, until it reaches the ground.
static void inspect_flight(Inspection *in, const Box *start, const double velocity[3], double ground) {
  const FloScene *scene = in->scene;
  const double *g = scene->world.gravity;
  for (int k = 1; k < FLIGHT_SAMPLES; k++) {
    double t = scene->duration * k / (FLIGHT_SAMPLES - 1);
    Box box = *start;
    for (int axis = 0; axis < 3; axis++) {
      double shift = velocity[axis] * t + 0.5 * g[axis] * t * t;
      box.low[axis] += shift, box.high[axis] += shift;
    }
    if (box.low[scene->up] < ground) return;
    add_box(&in->flights, &box);
  }
}

// The highest speed of a fluid's own velocity field, on a lattice in its box.
static double field_speed(const FloFluidDef *def, const Box *box, int dim) {
  double fastest = 0;
  if (!def->velocity_at) return 0;
  int n = FIELD_SAMPLES, layers = dim == 2 ? 1 : n;
  for (int k = 0; k < n * n * layers; k++) {
    const int index[3] = {k % n, k / n % n, k / (n * n)};
    double p[3], v[3];
    for (int axis = 0; axis < 3; axis++)
      p[axis] = box->low[axis] + (box->high[axis] - box->low[axis]) * (index[axis] + 0.5) / n;
    def->velocity_at(def->context, p, v);
    if (vec_is_finite(v)) fastest = fmax(fastest, vec_length(v));
  }
  return fastest;
}

static FloStatus inspect_fluid(Inspection *in, const FloSceneFluid *fluid, double ground, FloError *error) {
  const FloFluidDef *def = &fluid->def;
  const int dim = in->scene->world.dim;
  Box local, box = empty_box();
  FLO_TRY(find_local_box(&def->shape, dim, &local, error));
  add_placed(&box, &local, &def->pose);
  add_box(&in->fluid, &box);
  in->volume += flo_scene_shape_volume(&def->shape, dim);
  in->top = fmax(in->top, box.high[in->scene->up]);
  note_speed(in, vec_length(def->velocity) + field_speed(def, &box, dim) +
                     vec_length(def->angular_velocity) * 0.5 * diagonal(&local));
  inspect_flight(in, &box, def->velocity, ground);
  return FLO_OK;
}

static void inspect_particles(Inspection *in, const FloParticleFile *file) {
  for (size_t k = 0; k < file->count; k++) {
    const double *x = file->positions + 3 * k;
    const float *v = file->velocities + 3 * k;
    add_point(&in->fluid, x);
    in->top = fmax(in->top, x[in->scene->up]);
    note_speed(in, sqrt((double)(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])));
  }
  in->volume += (double)file->count * pow(in->scene->world.spacing, in->scene->world.dim);
}

// A jet ends on the ground or when its time is over. Falling makes it faster.
static void inspect_emitter(Inspection *in, const FloSceneEmitter *emitter, double ground) {
  const FloEmitterDef *def = &emitter->def;
  const double half = 0.5 * fmax(def->size[0], def->round ? 0 : def->size[1]);
  const double along[3] = {1, 0, 0};
  double velocity[3];
  Box window = empty_box();
  add_placed(&window, &(Box){{0, -half, -half}, {0, half, half}}, &def->pose);
  if (in->scene->world.dim == 2) window.low[2] = window.high[2] = 0;
  quat_rotate(def->pose.rotation, along, velocity);
  vec_scale(velocity, def->speed, velocity);
  add_box(&in->fluid, &window);
  inspect_flight(in, &window, velocity, ground);
  double fall = fmax(0, def->pose.position[in->scene->up] - ground);
  note_speed(in, sqrt(def->speed * def->speed + 2 * gravity_of(in) * fall));
}

static void inspect_fill(Inspection *in, const FloSceneFill *fill) {
  double surface[3];
  vec_copy(fill->def.seed, surface);
  surface[fill->def.up] = fill->def.level;
  add_point(&in->fluid, fill->def.seed);
  add_point(&in->fluid, surface);
  in->top = fmax(in->top, fill->def.level);
  note_speed(in, vec_length(fill->def.velocity));
}

static FloStatus inspect_fluids(Inspection *in, double ground, FloError *error) {
  const struct FloSceneParts *p = in->parts;
  for (size_t k = 0; k < p->n_fluids; k++) FLO_TRY(inspect_fluid(in, &p->fluids[k], ground, error));
  for (size_t k = 0; k < p->n_particle_files; k++) inspect_particles(in, &p->particles[k].file);
  for (size_t k = 0; k < p->n_added; k++) FLO_TRY(inspect_fluid(in, &p->added[k], ground, error));
  for (size_t k = 0; k < p->n_fills; k++) inspect_fill(in, &p->fills[k]);
  for (size_t k = 0; k < p->n_emitters; k++) inspect_emitter(in, &p->emitters[k], ground);
  return FLO_OK;
}

// ---- Predictions ----

static void set_view(const Inspection *in, FloPictureView *view) {
  const FloScene *scene = in->scene;
  const double r = 0.5 * scene->world.spacing;
  Box box = empty_box(), far = in->flights;
  add_box(&box, &in->bodies);
  add_box(&box, &in->fluid);
  if (is_empty(&box)) box = (Box){{0, 0, 0}, {1, 1, 1}};
  // Fluid that flies farther than the size of the scene is not shown; everything else would become too small.
  limit_box(&far, &box, diagonal(&box));
  add_box(&box, &far);
  for (int axis = 0; axis < 3; axis++) {
    view->low[axis] = box.low[axis] - r, view->high[axis] = box.high[axis] + r;
    if (!scene->world.periodic[axis]) continue;
    view->low[axis] = scene->world.domain_low[axis] - r,
    view->high[axis] = scene->world.domain_high[axis] + r;
  }
  // In the plane particles lie at z = 0, and the discs behind them somewhat lower.
  if (scene->world.dim == 2) view->low[2] = -6 * r, view->high[2] = r;
  view->is_set = true;
  // Without gravity and solids there is no ground to cast a shadow on.
  view->has_ground = !is_empty(&in->bodies) || gravity_of(in) > 0;
  view->ground = is_empty(&in->bodies) ? view->low[scene->up] : in->bodies.low[scene->up];
}

// Where fluid comes to rest: in the lowest tank, or on the ground below everything.
typedef struct Basin {
  double floor; // [m]
  double area;  // [m²], 2D [m]
} Basin;

static Basin find_basin(const Inspection *in, const FloPictureView *view) {
  const int up = in->scene->up;
  Basin ground = {view->ground, 1}, lowest = {INFINITY, 1};
  for (size_t k = 0; k < in->scene->n_bodies; k++) {
    const FloBodyDef *def = &in->scene->bodies[k].def;
    double floor = def->pose.position[up] - 0.5 * def->shape.size[up];
    if (def->shape.kind != FLO_SHAPE_TANK || !(floor < lowest.floor)) continue;
    lowest = (Basin){floor, 1};
    for (int axis = 0; axis < in->scene->world.dim; axis++)
      if (axis != up) lowest.area *= def->shape.size[axis];
  }
  for (int axis = 0; axis < in->scene->world.dim; axis++)
    if (axis != up) ground.area *= view->high[axis] - view->low[axis];
  return isfinite(lowest.floor) ? lowest : ground;
}

// How far the top of the fluid sinks when it spreads over the whole floor: 0 for fluid at rest, almost its
// height for a dam break.
static double expected_fall(const Inspection *in, const Basin *basin) {
  if (!(in->volume > 0 && basin->area > 0)) return 0;
  double height = in->top - basin->floor, spread = in->volume / basin->area;
  return fmax(0, 0.9 * height - spread); // a tenth less, because walls and paddles take room from the floor
}

static void set_scales(const Inspection *in, FloOutlook *out) {
  const FloPictureView *view = &out->view;
  const Basin basin = find_basin(in, view);
  const double g = gravity_of(in), size = view->high[in->scene->up] - view->low[in->scene->up];
  // Fluid that collapses spreads faster than it falls: the front of a dam break moves with up to 2 sqrt(g h)
  // (Ritter 1892).
  out->speed = fmax(in->speed, 2 * sqrt(g * expected_fall(in, &basin)));
  if (!(out->speed > 0)) out->speed = g > 0 ? 0.1 * sqrt(g * size) : 1;
  // Jets are expected to fill about half of a vessel.
  double top = in->parts->n_emitters > 0 ? fmax(in->top, view->ground + 0.5 * size) : in->top;
  double weight = g * (top - basin.floor), ram = 0.5 * out->speed * out->speed;
  out->pressure = out->density_high * (weight > 0 ? weight : ram);
}

static bool has_lid(const FloScene *scene) {
  for (size_t k = 0; k < scene->n_bodies; k++)
    if (scene->bodies[k].def.shape.kind == FLO_SHAPE_TANK && scene->bodies[k].def.shape.closed) return true;
  return false;
}

// Adds room for splashes: most of a splash stays near the height from which the fluid fell.
static void make_room_for_splash(const Inspection *in, FloPictureView *view) {
  const int up = in->scene->up;
  const Basin basin = find_basin(in, view);
  const double height = in->top - basin.floor;
  if (gravity_of(in) <= 0 || has_lid(in->scene) || in->scene->world.periodic[up]) return;
  if (expected_fall(in, &basin) > 0.2 * height)
    view->high[up] = fmax(view->high[up], basin.floor + 1.6 * height);
}

static void use_material(const struct FloSceneParts *parts, size_t k, FloOutlook *out, size_t *n_used) {
  double density = parts->materials[k].def.density;
  out->density_low = fmin(out->density_low, density), out->density_high = fmax(out->density_high, density);
  if (k >= FLO_OUTLOOK_MATERIALS || out->material_names[k]) return;
  out->material_names[k] = parts->materials[k].name;
  if (k >= out->n_materials) out->n_materials = k + 1;
  ++*n_used;
}

static void set_materials(const struct FloSceneParts *p, FloOutlook *out) {
  size_t n_used = 0;
  out->density_low = INFINITY, out->density_high = 0;
  for (size_t k = 0; k < p->n_fluids; k++) use_material(p, p->fluids[k].material, out, &n_used);
  for (size_t k = 0; k < p->n_added; k++) use_material(p, p->added[k].material, out, &n_used);
  for (size_t k = 0; k < p->n_fills; k++) use_material(p, p->fills[k].material, out, &n_used);
  for (size_t k = 0; k < p->n_emitters; k++) use_material(p, p->emitters[k].material, out, &n_used);
  if (n_used < 2) out->n_materials = n_used;
  if (!(out->density_low <= out->density_high)) out->density_low = out->density_high = 1000;
}

// ---- Looks ----

// Fluids of well-known colour, recognised by a part of their name. The colour is what remains of white light.
static const struct {
  const char *word;
  float tint[3];
} tints[] = {
    {"honey", {0.86f, 0.42f, 0.05f}}, {"syrup", {0.72f, 0.26f, 0.05f}}, {"oil", {0.90f, 0.68f, 0.16f}},
    {"milk", {0.96f, 0.94f, 0.90f}},  {"wine", {0.42f, 0.03f, 0.07f}},  {"lava", {0.98f, 0.26f, 0.03f}},
    {"mud", {0.34f, 0.22f, 0.12f}},   {"blood", {0.50f, 0.02f, 0.03f}},
};

static void set_tint(const FloSceneMaterial *described, size_t material, bool is_first, float tint[3]) {
  const char *name = described->name;
  if (described->has_colour) {
    const uint8_t *rgb = described->colour;
    const V3 own = flo_linear_from_rgb8((FloRgb8){rgb[0], rgb[1], rgb[2]});
    tint[0] = fmaxf(own.x, 0.002f), tint[1] = fmaxf(own.y, 0.002f), tint[2] = fmaxf(own.z, 0.002f);
    return;
  }
  for (size_t k = 0; k < FLO_COUNT_OF(tints); k++)
    if (strstr(name, tints[k].word)) {
      memcpy(tint, tints[k].tint, sizeof tints[k].tint);
      return;
    }
  if (is_first || strstr(name, "water")) return; // zeros: water's
  V3 colour = flo_material_colour(material, 0.5f);
  tint[0] = colour.x, tint[1] = colour.y, tint[2] = colour.z;
}

// Fluid in space is drawn as water; several fluids get different colours.
static void set_look(const FloScene *scene, FloOutlook *out) {
  const struct FloSceneParts *p = scene->parts;
  FloPictureView *view = &out->view;
  bool has_fluid = p->n_particle_files > 0, is_first = true;
  for (size_t k = 0; k < p->n_materials && k < FLO_VIEW_MATERIALS; k++) {
    view->substances[k].density = p->materials[k].def.density;
    if (!out->material_names[k]) continue;
    view->substances[k].is_coloured = p->materials[k].has_colour;
    set_tint(&p->materials[k], k, is_first, view->substances[k].tint);
    is_first = false, has_fluid = true;
  }
  view->style.look = scene->world.dim == 3 && has_fluid ? FLO_LOOK_WATER : FLO_LOOK_PARTICLES;
}

FloStatus flo_outlook_create(const FloScene *scene, FloOutlook *out, FloError *error) {
  *out = (FloOutlook){0};
  Inspection in = {.scene = scene, .parts = scene->parts, .top = -INFINITY};
  in.bodies = in.fluid = in.flights = empty_box();
  FLO_TRY(inspect_bodies(&in, error));
  double ground = is_empty(&in.bodies) ? -INFINITY : in.bodies.low[scene->up];
  FLO_TRY(inspect_fluids(&in, ground, error));
  set_view(&in, &out->view);
  make_room_for_splash(&in, &out->view);
  set_materials(scene->parts, out);
  set_look(scene, out);
  set_scales(&in, out);
  return FLO_OK;
}

// ---- Queries ----

void flo_outlook_range(const FloOutlook *out, const char *field, float *low, float *high) {
  const size_t axis = field[0] ? (size_t)(field[strlen(field) - 1] - 'x') : 3;
  *low = 0, *high = 1;
  if (!strcmp(field, "speed")) *high = (float)out->speed;
  if (!strcmp(field, "pressure")) *high = (float)out->pressure;
  // A weakly compressible fluid keeps its density within about one per cent.
  if (!strcmp(field, "density"))
    *low = (float)(0.98 * out->density_low), *high = (float)(1.02 * out->density_high);
  if (!strcmp(field, "density-error")) *low = -2, *high = 2;
  if (axis < 3 && strlen(field) == 1) *low = (float)out->view.low[axis], *high = (float)out->view.high[axis];
  if (axis < 3 && field[0] == 'v') *low = (float)-out->speed, *high = (float)out->speed;
  if (!(*low < *high)) *high = *low + 1;
}

FloRepeat flo_scene_repeat(const FloScene *scene) {
  FloRepeat repeat;
  memcpy(repeat.is_on, scene->world.periodic, sizeof repeat.is_on);
  memcpy(repeat.low, scene->world.domain_low, sizeof repeat.low);
  memcpy(repeat.high, scene->world.domain_high, sizeof repeat.high);
  return repeat;
}
