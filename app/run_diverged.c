// When a run diverges, it writes a small scene that helps to find out why: the fluid around the particle that
// went wrong, in its state before the failed step.
//
// Steps are deterministic. So the world goes back to the checkpoint, repeats the same steps, and stops before
// the last one. Afterwards it does the last one too, and is in the same state as before.
#include "base/core.h"
#include "base/saved.h"
#include "base/vecmath.h"
#include "io/scene_steps.h"
#include "run.h"
#include "sph/kernel_form.h"
#include "state/state.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Forces on a particle depend on the pressures of its neighbours, and these on their neighbours: two support
// radii. A third one keeps the cut away from them.
#define SUPPORTS 3.0

enum {
  FEW_PARTICLES = 300, // smaller scenes would show little
  N_STEPS = 40,        // duration of the small scene
  STEPS_PER_FRAME = 8,
  MAX_FAILED = 2, // largest number of steps that belong to a failure
};

typedef struct Fluid {
  const double *x[3];
  const float *v[3];
  const uint16_t *material;
  const uint32_t *id;
  size_t count;
} Fluid;

typedef struct Reproduction {
  AppRun *run;
  const char *reason; // of the divergence
  uint32_t id;        // of the particle that went wrong
  size_t index;       // its index in memory
  double place[3];    // its position in the world
  double dt;          // of the step that failed
  double last_dt;     // of the one before
  double radius;      // of the fluid that is kept
  uint64_t n_failed;  // number of steps that belong to the failure, up to MAX_FAILED
  FloState *state;    // before these
  Fluid fluid;        // at the same time
  size_t n_kept, *n_of_material;
  bool does_fail; // the small scene, to test it
} Reproduction;

static FloStatus no_memory(FloError *error) {
  return flo_fail(error, FLO_NO_MEMORY, "no memory for the small scene around the particle");
}

// ---- The same steps again ----

static FloStatus interrupted(FloError *error) {
  return flo_fail(error, FLO_IO_FAILED, "interrupted while repeating the steps");
}

// A signal stops the repetition of many steps, but not the return to the last state.
static FloStatus replay_to(AppRun *run, double time) {
  for (; flo_world_time(run->world) < time && run->n_replayed > 0; run->n_replayed--) {
    if (run->n_replayed > MAX_FAILED && app_run_is_stopped()) return interrupted(&run->error);
    FLO_TRY(flo_world_step_until(run->world, time, NULL, &run->error));
  }
  return FLO_OK;
}

static FloStatus replay_steps(AppRun *run, uint64_t n, double time) {
  run->n_replayed = n;
  FLO_TRY(app_run_advance(run, time, replay_to));
  // Fluid that was just added may change values of the method; it updates them before the next step.
  flo_world_max_dt(run->world, NULL);
  return FLO_OK;
}

// If the next step would have to be too short, accelerations in the last step may be the cause. Then the last
// step belongs to the failure too.
static uint64_t count_failed(const Reproduction *r) {
  const FloWorldDef *def = &r->run->scene->world;
  return def->time_step == 0 && r->dt < def->min_time_step ? MAX_FAILED : 1;
}

// Goes from the checkpoint towards `time` and stops before the failed steps; `n_done` steps had succeeded.
static FloStatus replay(Reproduction *r, const FloCheckpoint *checkpoint, uint64_t n_done, double time) {
  AppRun *run = r->run;
  FLO_TRY(flo_world_restore(run->world, checkpoint->state, &run->error));
  uint64_t n_since = n_done - flo_world_measure(run->world).step;
  r->n_failed = count_failed(r) <= n_since + 1 ? count_failed(r) : 1;
  run->point.next_event = checkpoint->point.next_event;
  flo_run_folder_note(run->folder, "the last %" PRIu64 " steps are repeated, to find where it went wrong",
                      n_since + 1);
  return replay_steps(run, n_since + 1 - r->n_failed, time);
}

// ---- Which particles ----

static FloStatus view_field(const FloWorld *world, const char *name, const void **data, FloError *error) {
  FloView view;
  FLO_TRY(flo_world_view(world, FLO_SET_FLUID, name, &view, error));
  *data = view.data;
  return FLO_OK;
}

static FloStatus view_fluid(const FloWorld *world, Fluid *fluid, FloError *error) {
  const char *const names[] = {"x", "y", "z", "vx", "vy", "vz", "material", "id"};
  const void *data[FLO_COUNT_OF(names)];
  for (size_t k = 0; k < FLO_COUNT_OF(names); k++) FLO_TRY(view_field(world, names[k], &data[k], error));
  *fluid = (Fluid){{data[0], data[1], data[2]},
                   {data[3], data[4], data[5]},
                   data[6],
                   data[7],
                   flo_world_count(world, FLO_SET_FLUID)};
  return FLO_OK;
}

// In a periodic box, the distance to the nearest image.
static double distance(const FloWorldDef *def, const Fluid *fluid, size_t i, const double place[3]) {
  double d[3];
  for (int axis = 0; axis < 3; axis++) {
    double period = def->domain_high[axis] - def->domain_low[axis];
    d[axis] = fluid->x[axis][i] - place[axis];
    if (def->periodic[axis]) d[axis] -= period * round(d[axis] / period);
  }
  return vec_length(d);
}

static bool is_kept(const Reproduction *r, size_t i) {
  return distance(&r->run->scene->world, &r->fluid, i, r->place) <= r->radius;
}

// A particle that an emitter made in the failed step does not exist before it. The particle nearest to its
// position is used instead, if that is known.
static void find_place(Reproduction *r, const double place_now[3]) {
  const Fluid *fluid = &r->fluid;
  double nearest = INFINITY;
  r->index = 0;
  for (size_t i = 0; i < fluid->count && nearest > 0; i++) {
    double d = fluid->id[i] == r->id ? 0 : distance(&r->run->scene->world, fluid, i, place_now);
    if (d < nearest || d == 0) nearest = d, r->index = i;
  }
  for (int axis = 0; axis < 3; axis++) r->place[axis] = fluid->x[axis][r->index];
}

static size_t count_kept(Reproduction *r) {
  size_t n_materials = r->run->scene->parts->n_materials;
  memset(r->n_of_material, 0, (n_materials + 1) * sizeof *r->n_of_material);
  r->n_kept = 0;
  for (size_t i = 0; i < r->fluid.count; i++) {
    if (!is_kept(r, i)) continue;
    r->n_of_material[r->fluid.material[i]]++;
    r->n_kept++;
  }
  return r->n_kept;
}

static FloStatus choose_particles(Reproduction *r, const double place_now[3], FloError *error) {
  const FloWorldDef *def = &r->run->scene->world;
  double support = def->support > 0 ? def->support : flo_kernel_default_support(def->kernel);
  FLO_TRY(view_fluid(r->run->world, &r->fluid, error));
  if (r->fluid.count == 0) return flo_fail(error, FLO_DIVERGED, "there was no fluid before the failed step");
  if (!r->n_of_material)
    r->n_of_material = calloc(r->run->scene->parts->n_materials + 1, sizeof *r->n_of_material);
  if (!r->n_of_material) return no_memory(error);
  find_place(r, place_now);
  r->radius = SUPPORTS * support * def->spacing;
  while (count_kept(r) < flo_min_size(FEW_PARTICLES, r->fluid.count)) r->radius *= 1.25;
  return FLO_OK;
}

// ---- diverged.csv ----

// A material keeps its name, unless another one has the same name: a material defined inside a fluid is named
// after the fluid.
static void name_material(const struct FloSceneParts *parts, size_t k, char name[96]) {
  snprintf(name, 96, "%s", parts->materials[k].name);
  for (size_t other = 0; other < k; other++)
    if (!strcmp(parts->materials[other].name, parts->materials[k].name))
      snprintf(name, 96, "%.40s %zu", parts->materials[k].name, k);
}

static void print_particle(const Reproduction *r, size_t i, FILE *stream) {
  const FloScene *scene = r->run->scene;
  char name[96];
  for (int axis = 0; axis < scene->world.dim; axis++) fprintf(stream, "%.17g,", r->fluid.x[axis][i]);
  for (int axis = 0; axis < scene->world.dim; axis++) fprintf(stream, "%.9g,", (double)r->fluid.v[axis][i]);
  name_material(scene->parts, r->fluid.material[i], name);
  fprintf(stream, "%s\n", name);
}

static FloStatus write_particles(const Reproduction *r, FloError *error) {
  FloNewFile file;
  char path[FLO_PATH_SIZE];
  FLO_TRY(flo_path_join(r->run->folder->path, "diverged.csv", path, error));
  FLO_TRY(flo_new_file_begin(&file, path, error));
  fputs(r->run->scene->world.dim == 2 ? "x,y,vx,vy,material\n" : "x,y,z,vx,vy,vz,material\n", file.stream);
  // The particle comes first, so that its number is 0.
  print_particle(r, r->index, file.stream);
  for (size_t i = 0; i < r->fluid.count; i++)
    if (i != r->index && is_kept(r, i)) print_particle(r, i, file.stream);
  return flo_new_file_finish(&file, error);
}

// ---- diverged.json: each function changes one part of the scene; missing memory is noticed when it is run
// ----

static json_t *vector_json(const double v[3], int n) {
  json_t *list = json_array();
  for (int k = 0; k < n; k++) json_array_append_new(list, json_real(v[k]));
  return list;
}

static void set_texts(const Reproduction *r, json_t *root) {
  char title[512];
  snprintf(title, sizeof title, "%.400s, around particle %" PRIu32, r->run->scene->title, r->id);
  json_object_set_new(root, "title", json_string(title));
  json_object_set_new(root, "shows", json_string(r->reason));
}

// A fixed step may have been shortened to end at a frame. If the failure is that the next step would have to
// be too short, the usual length is that of the step before.
static void set_times(const Reproduction *r, json_t *root) {
  double usual = fmax(r->dt, r->last_dt);
  json_object_set_new(root, "settle", json_integer(0));
  json_object_set_new(root, "duration", json_real(N_STEPS * usual));
  json_object_set_new(root, "frames_per_second", json_real(fmin(1 / (STEPS_PER_FRAME * usual), 1e6)));
  if (r->run->scene->world.time_step > 0) json_object_set_new(root, "time_step", json_real(r->dt));
}

static json_t *material_json(const FloMaterialDef *def) {
  json_t *material = json_pack("{s:f, s:f}", "density", def->density, "viscosity", def->viscosity);
  if (def->wall_viscosity >= 0)
    json_object_set_new(material, "wall_viscosity", json_real(def->wall_viscosity));
  if (def->friction >= 0) json_object_set_new(material, "friction", json_real(def->friction));
  if (def->surface_tension > 0)
    json_object_set_new(material, "surface_tension", json_real(def->surface_tension));
  if (def->adhesion > 0) json_object_set_new(material, "adhesion", json_real(def->adhesion));
  if (def->slip >= 0) json_object_set_new(material, "slip", json_real(def->slip));
  if (def->contact_angle >= 0) json_object_set_new(material, "contact_angle", json_real(def->contact_angle));
  if (def->restitution >= 0) json_object_set_new(material, "restitution", json_real(def->restitution));
  return material;
}

// Keeps all materials, because the stiffest one limits the time step, even if its fluid is left out.
static void set_fluid(const Reproduction *r, json_t *root) {
  const struct FloSceneParts *parts = r->run->scene->parts;
  json_t *materials = json_object(), *particles = json_array();
  for (size_t k = 0; k < parts->n_materials; k++) {
    char name[96];
    name_material(parts, k, name);
    json_object_set_new(materials, name, material_json(&parts->materials[k].def));
    if (r->n_of_material[k] == 0) continue;
    json_t *entry = json_pack("{s:s, s:s}", "material", name, "file", "diverged.csv");
    if (r->n_of_material[k] < r->n_kept) json_object_set_new(entry, "rows", json_string(name));
    // The particle that went wrong must be the first in the scene.
    bool is_first = k == r->fluid.material[r->index];
    json_array_insert_new(particles, is_first ? 0 : json_array_size(particles), entry);
  }
  json_object_set_new(root, "materials", materials);
  json_object_set_new(root, "particles", particles);
}

static double largest_param(const char *method, const char *name) {
  size_t n;
  const FloParam *params = flo_method_params(method, &n);
  for (size_t k = 0; k < n; k++)
    if (!strcmp(params[k].name, name)) return params[k].high;
  return 0;
}

// Sets the speed of sound that the method chose for the whole scene; for less fluid it would choose a lower
// one. The method stores the highest expected speed, and the speed of sound is ten times that (see
// flo_sound_speed), even if it is above the permitted range of the parameter.
static void set_sound_speed(const Reproduction *r, json_t *root) {
  const char *name = r->run->scene->world.method;
  json_t *method = json_object_get(root, "method");
  const FloStateArray *saved = flo_state_find(r->state, "method/fluid.expected_speed");
  bool has_sound = largest_param(name, "sound_speed") > 0;
  if (!has_sound || flo_json_number(method, "sound_speed") > 0 || !saved || saved->count < 1) return;
  double expected = *(const double *)saved->buffer.data, chosen = expected > 0 ? 10 * expected : 1;
  if (chosen <= largest_param(name, "sound_speed"))
    json_object_set_new(method, "sound_speed", json_real(chosen));
}

static void set_pose(json_t *body, const FloPose *pose, int dim) {
  double sine = vec_length(pose->rotation), angle = 2 * atan2(sine, pose->rotation[3]) * 180 / FLO_PI,
         axis[3];
  json_object_del(body, "corner");
  json_object_del(body, "base");
  json_object_del(body, "rotate");
  json_object_set_new(body, "at", vector_json(pose->position, dim));
  if (sine == 0) return;
  vec_scale(pose->rotation, 1 / sine, axis);
  json_object_set_new(body, "rotate", json_pack("{s:o, s:f}", "axis", vector_json(axis, 3), "angle", angle));
}

// The rotation about its own position comes first, so that it does not rotate the translation.
static void set_motions(json_t *body, const FloBodyState *state, int dim) {
  double speed = vec_length(state->velocity), rate = vec_length(state->angular_velocity);
  json_t *motions = json_array();
  if (rate > 0)
    json_array_append_new(motions, json_pack("{s:{s:o, s:f, s:o}}", "rotate", "axis",
                                             vector_json(state->angular_velocity, 3), "rate", rate, "centre",
                                             vector_json(state->pose.position, dim)));
  if (speed > 0)
    json_array_append_new(motions, json_pack("{s:o}", "translate", vector_json(state->velocity, dim)));
  json_object_set_new(body, "motions", motions);
}

// A change that has begun continues from its current value. The scene ends before later changes begin.
static void add_friction_change(json_t *root, const FloBody *body, const FloFrictionChange *change,
                                double now) {
  double at = fmax(change->time - now, 0), end = change->time + change->within;
  json_t *events = json_object_get(root, "events");
  if (end <= now || at > flo_json_number(root, "duration")) return;
  if (!events) json_object_set_new(root, "events", events = json_array());
  json_array_append_new(events,
                        json_pack("{s:f, s:s, s:{s:f, s:f}}", "at", at, "body", body->name, "set", "friction",
                                  change->friction, "within", end - fmax(change->time, now)));
}

// The current friction, if changes have begun, and the changes to come.
static void set_friction(const FloWorld *world, const FloBody *body, json_t *entry, json_t *root) {
  double now = flo_world_time(world);
  if (body->n_friction_changes > 0 && body->friction_changes[0].time <= now)
    json_object_set_new(entry, "friction", json_real(flo_body_friction(body, body, world->time)));
  for (size_t k = 0; k < body->n_friction_changes; k++)
    add_friction_change(root, body, &body->friction_changes[k], now);
}

// A body that is still held keeps the velocities of the scene for its release.
static void set_velocities(const FloWorld *world, const FloBody *body, json_t *entry) {
  double left = body->release - flo_world_time(world);
  json_object_set_new(entry, "release", json_real(fmax(left, 0)));
  if (left > 0) return;
  // The scene's velocity is that of the centre of mass; the velocity of FloBodyState is that of the shape's
  // origin.
  json_object_set_new(entry, "velocity", vector_json(body->nodes->velocity, world->def.dim));
  json_object_set_new(entry, "angular_velocity", vector_json(body->state.angular_velocity, 3));
}

// Solids get their current poses and velocities, and the rest of their motions.
static FloStatus set_bodies(const Reproduction *r, json_t *root, FloError *error) {
  const FloScene *scene = r->run->scene;
  for (size_t k = 0; k < scene->n_bodies; k++) {
    const FloBody *now = &flo_bodies(r->run->world)[scene->bodies[k].id.index];
    bool is_dynamic = flo_scene_is_body(&scene->bodies[k]);
    json_t *list = json_object_get(root, is_dynamic ? "bodies" : "boundaries");
    json_t *body = json_array_get(list, scene->bodies[k].entry);
    FloBodyState state;
    set_friction(r->run->world, now, body, root);
    if (scene->bodies[k].def.kind == FLO_BODY_STATIC) continue;
    FLO_TRY(flo_world_body_state(r->run->world, scene->bodies[k].id, &state, error));
    set_pose(body, &state.pose, scene->world.dim);
    if (is_dynamic)
      set_velocities(r->run->world, now, body);
    else
      set_motions(body, &state, scene->world.dim);
  }
  return FLO_OK;
}

static FloStatus change_scene(const Reproduction *r, json_t *root, FloError *error) {
  static const char *const dropped[] = {"fluids", "fills", "emitters", "sinks", "events", "probes", "expect"};
  for (size_t k = 0; k < FLO_COUNT_OF(dropped); k++) json_object_del(root, dropped[k]);
  set_texts(r, root);
  set_times(r, root);
  set_fluid(r, root);
  set_sound_speed(r, root);
  return set_bodies(r, root, error);
}

static FloStatus write_scene(const Reproduction *r, FloError *error) {
  json_t *root = json_loads(r->run->scene->resolved, 0, NULL);
  if (!root) return no_memory(error);
  FloStatus status = change_scene(r, root, error);
  char *text = status == FLO_OK ? flo_scene_write(root) : NULL;
  json_decref(root);
  if (status == FLO_OK && !text) status = no_memory(error);
  if (status == FLO_OK) status = flo_run_folder_write(r->run->folder, "diverged.json", text, error);
  free(text);
  return status;
}

// ---- Whether the small scene fails too ----

static FloStatus step_scene(const FloScene *scene, FloWorld *world, FloError *error) {
  enum { MAX_STEPS = 10 * N_STEPS };
  for (int k = 0; k < MAX_STEPS; k++) {
    if (app_run_is_stopped()) return interrupted(error);
    FLO_TRY(flo_world_step_until(world, scene->duration, NULL, error));
  }
  return FLO_OK;
}

static FloStatus try_scene(Reproduction *r, FloError *error) {
  char path[FLO_PATH_SIZE];
  FloScene *scene;
  FloWorld *world = NULL;
  FLO_TRY(flo_path_join(r->run->folder->path, "diverged.json", path, error));
  FLO_TRY(flo_scene_load(path, &(FloSceneOptions){.threads = r->run->options->threads}, &scene, error));
  FloStatus status = flo_scene_build(scene, &world, error);
  if (status == FLO_OK) status = step_scene(scene, world, error);
  flo_world_destroy(world);
  flo_scene_destroy(scene);
  r->does_fail = status == FLO_DIVERGED;
  return r->does_fail ? FLO_OK : status;
}

// ---- All of it ----

static FloStatus write_reproduction(Reproduction *r, const double place_now[3], FloError *error) {
  r->last_dt = flo_world_measure(r->run->world).dt;
  FLO_TRY(choose_particles(r, place_now, error));
  FLO_TRY(flo_world_save(r->run->world, &r->state, error));
  FLO_TRY(write_particles(r, error));
  FLO_TRY(write_scene(r, error));
  FLO_TRY(try_scene(r, error));
  flo_run_folder_note(r->run->folder,
                      "diverged.json: %zu of %zu fluid particles, those within %g m of number %" PRIu32 "%s",
                      r->n_kept, r->fluid.count, r->radius, r->id,
                      r->does_fail ? "" : "; this small scene does not fail by itself");
  return FLO_OK;
}

// The small scene starts at the first of the failed steps. If it does not fail by itself, the next step is
// tried.
static FloStatus find_reproduction(Reproduction *r, const double place_now[3], double time) {
  AppRun *run = r->run;
  for (;; r->n_failed--) {
    bool has_fluid = flo_world_count(run->world, FLO_SET_FLUID) > 0;
    if (has_fluid || r->n_failed == 1) FLO_TRY(write_reproduction(r, place_now, &run->error));
    if (r->does_fail || r->n_failed == 1) return FLO_OK;
    FLO_TRY(replay_steps(run, 1, time));
  }
}

static FloStatus reproduce(Reproduction *r, FloCheckpoint *checkpoint, double time) {
  AppRun *run = r->run;
  char path[FLO_PATH_SIZE];
  double place_now[3];
  if (!flo_world_bad_particle(run->world, place_now, &r->id, &r->dt))
    return flo_fail(&run->error, FLO_DIVERGED, "there is no fluid");
  FLO_TRY(flo_writer_wait(run->writer, &run->error));
  FLO_TRY(flo_path_join(run->folder->path, "checkpoint.h5", path, &run->error));
  FLO_TRY(flo_checkpoint_read(path, checkpoint, &run->error));
  FLO_TRY(replay(r, checkpoint, flo_world_measure(run->world).step, time));
  r->state = checkpoint->state, checkpoint->state = NULL;
  FloStatus status = find_reproduction(r, place_now, time);
  // In any case the world returns to its last state.
  FloError found = run->error;
  if (replay_steps(run, r->n_failed, time) != FLO_DIVERGED)
    flo_run_folder_note(run->folder, "warning: the failed step did not fail when it was repeated");
  run->error = found;
  return status;
}

static void tell(const Reproduction *r, FloError *reason) {
  const char *folder = r->run->folder->path;
  char more[sizeof reason->text];
  size_t used = strlen(reason->text);
  int length =
      snprintf(more, sizeof more,
               "; a small scene around it%s is in %s/diverged.json, try: flotsam run '%s/diverged.json'",
               r->does_fail ? "" : " (which does not fail by itself)", folder, folder);
  // A cut path would be wrong, so it is left out.
  if (length > 0 && (size_t)length < sizeof reason->text - used)
    memcpy(reason->text + used, more, (size_t)length + 1);
}

// A cut text would be confusing, so it is left out.
static void remove_files(const AppRun *run) {
  static const char *const names[] = {"diverged.json", "diverged.csv"};
  char path[FLO_PATH_SIZE];
  for (size_t k = 0; k < FLO_COUNT_OF(names); k++)
    if (flo_path_join(run->folder->path, names[k], path, NULL) == FLO_OK) unlink(path);
}

void app_run_reproduce(AppRun *run, double time, FloError *reason) {
  FloCheckpoint checkpoint = {0};
  Reproduction r = {.run = run, .reason = reason->text};
  if (reproduce(&r, &checkpoint, time) == FLO_OK) {
    tell(&r, reason);
  } else {
    remove_files(run);
    flo_run_folder_note(run->folder, "no small scene around the particle that went wrong was written: %s",
                        run->error.text);
  }
  flo_checkpoint_free(&checkpoint);
  flo_state_destroy(r.state);
  free(r.n_of_material);
}
