#include "io/advice.h"

#include "geometry/mesh.h"
#include "io/advice_parts.h"
#include "io/scene_steps.h"
#include "state/state.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

// At most this many notes of one kind are printed; further ones are counted.
enum { MAX_OF_A_KIND = 5 };

// ---- Saying ----

void flo_advice_tell(FloAdvice *advice, const char *format, ...) {
  char text[1024];
  advice->n_said++;
  if (++advice->n_of_kind > MAX_OF_A_KIND) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  advice->say(advice->context, text);
}

void flo_advice_end_kind(FloAdvice *advice, const char *what) {
  if (advice->n_of_kind > MAX_OF_A_KIND) {
    char text[128];
    snprintf(text, sizeof text, "... and %zu more %s", advice->n_of_kind - MAX_OF_A_KIND, what);
    advice->say(advice->context, text);
  }
  advice->n_of_kind = 0;
}

const char *flo_advice_name(const FloAdvice *advice, const char *list, size_t index) {
  const char *name = flo_json_text(json_array_get(json_object_get(advice->names, list), index), "name");
  return name ? name : "";
}

// ---- Meshes ----

// A mesh larger than this in metres, or this many times larger than everything else, was probably not drawn
// in metres.
#define LARGE       100
#define OUT_OF_SIZE 20
#define SMALL       1e-3

static double longest_edge(const double low[3], const double high[3]) {
  double longest = 0;
  for (int axis = 0; axis < 3; ++axis) longest = fmax(longest, high[axis] - low[axis]);
  return longest;
}

static double measure_fluid(const FloWorld *world) {
  const FloParticles *p = &world->sets[FLO_SET_FLUID];
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (size_t i = 0; i < p->count; ++i) {
    const double x[3] = {p->x[i], p->y[i], p->z[i]};
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = fmin(low[axis], x[axis]);
      high[axis] = fmax(high[axis], x[axis]);
    }
  }
  return p->count ? longest_edge(low, high) : 0;
}

// The size of the largest thing besides this mesh: another body, or the fluid.
static double measure_others(const FloAdvice *advice, const FloSceneAttachment *mesh) {
  double largest = measure_fluid(advice->world);
  for (size_t k = 0; k < advice->scene->n_bodies; ++k) {
    double low[3], high[3];
    if (advice->scene->bodies[k].def.shape.mesh == &mesh->triangles) continue;
    flo_solid_bounds(flo_bodies(advice->world)[k].solid, low, high);
    largest = fmax(largest, longest_edge(low, high));
  }
  return largest;
}

static void advise_on_unit(FloAdvice *advice, const FloSceneAttachment *mesh) {
  double low[3], high[3], others = measure_others(advice, mesh);
  flo_mesh_bounds(&mesh->mesh, low, high);
  double extent = longest_edge(low, high);
  if (extent > LARGE || (others > 0 && extent > OUT_OF_SIZE * others))
    flo_advice_tell(advice,
                    "%.300s: the mesh is %.4g m large, but everything else %.3g m; if the mesh was drawn in "
                    "millimetres, give it \"scale\": %g",
                    mesh->text, extent, others, 0.001 * mesh->scale);
  else if (extent < SMALL)
    flo_advice_tell(advice,
                    "%.300s: the mesh is %.3g m large, less than a millimetre; enlarge it with \"scale\", "
                    "1000 if it was drawn in kilometres",
                    mesh->text, extent);
}

void flo_advice_on_meshes(FloAdvice *advice) {
  for (const FloSceneAttachment *a = advice->scene->parts->attachments; a; a = a->next)
    if (a->problems[0]) flo_advice_tell(advice, "%.300s: %s", a->text, a->problems);
  flo_advice_end_kind(advice, "meshes");
  for (const FloSceneAttachment *a = advice->scene->parts->attachments; a; a = a->next)
    if (a->mesh.n_triangles) advise_on_unit(advice, a);
  flo_advice_end_kind(advice, "meshes");
}

// ---- All of it ----

size_t flo_advice_give(const FloScene *scene, FloWorld *world, FloAdviceFn say, void *context) {
  FloAdvice advice = {.scene = scene, .world = world, .say = say, .context = context};
  if (scene->resolved) advice.names = json_loads(scene->resolved, 0, NULL);
  flo_advice_on_meshes(&advice);
  flo_advice_on_sizes(&advice);
  flo_advice_on_grids(&advice);
  flo_advice_on_pairs(&advice);
  flo_advice_on_fluid(&advice);
  flo_advice_on_falls(&advice);
  flo_advice_on_streams(&advice);
  flo_advice_on_probes(&advice);
  flo_advice_on_joints(&advice);
  flo_advice_on_times(&advice);
  flo_advice_on_limits(&advice);
  flo_advice_on_method(&advice);
  flo_advice_on_materials(&advice);
  flo_advice_on_speeds(&advice);
  flo_advice_on_steps(&advice);
  json_decref(advice.names);
  return advice.n_said;
}
