// Cloth and elastic bodies: what they are made of, and what holds them.
#include <stdio.h>
#include <string.h>

#include "base/core.h"
#include "geometry/shapes.h"
#include "io/scene_steps.h"

// ---- Keys that do not fit ----

// Keys that describe rigid bodies only. Switches and numbers that have a default are refused when they differ
// from it.
static FloStatus refuse_rigid_keys(FloSceneContext *context, const json_t *object) {
  static const char *const rigid[] = {"mass",      "centre_of_mass", "inertia",         "inertia_products",
                                      "thickness", "lock",           "lock_rotation",   "inset",
                                      "sealed",    "relax",          "rolling_friction"};
  const char *what = json_object_get(object, "cloth") ? "a cloth" : "an elastic body";
  for (size_t k = 0; k < FLO_COUNT_OF(rigid); k++) {
    const json_t *value = json_object_get(object, rigid[k]);
    if (!value || json_is_false(value)) continue;
    if (!strcmp(rigid[k], "rolling_friction") && json_number_value(value) == 0) continue;
    return flo_scene_fail(context, "'%s' works with rigid bodies only, and this is %s; leave it out",
                          rigid[k], what);
  }
  return FLO_OK;
}

static FloStatus refuse_soft_keys(FloSceneContext *context, const json_t *object, const FloShape *shape) {
  if (json_object_get(object, "pin"))
    return flo_scene_fail(context, "'pin' works with cloth and elastic bodies only; hold a rigid body with a "
                                   "joint, 'lock' or 'release'");
  const char *look = flo_json_text(object, "look");
  if (look && !strcmp(look, "checked"))
    return flo_scene_fail(context,
                          "the look 'checked' works with cloth and elastic bodies only; use another");
  if (flo_shape_is_thin(shape))
    return flo_scene_fail(context,
                          "this shape is only a surface, so the body must be a cloth; add 'cloth', or "
                          "use another shape");
  return FLO_OK;
}

// ---- What it is made of ----

static FloStatus read_resampling(FloSceneContext *context, const json_t *object, FloSceneBody *body) {
  const char *word = flo_json_text(object, "resampling");
  int k = 0;
  while (word && flo_scene_resamplings[k] && strcmp(word, flo_scene_resamplings[k]) != 0) ++k;
  body->def.resampling = (FloResampling)k;
  body->def.dry_samples = json_is_true(json_object_get(object, "dry_samples"));
  if (k != FLO_RESAMPLE_BY_SUBDIVISION || context->dim == 3) return FLO_OK;
  flo_scene_enter(context, "resampling");
  return flo_scene_fail(context, "'seven-point' needs triangles, and a two-dimensional surface has none; use "
                                 "another rule");
}

static FloStatus read_cloth(FloSceneContext *context, const json_t *object, FloSceneBody *body) {
  FloClothDef *cloth = &body->def.cloth;
  const json_t *prestretch = json_object_get(object, "prestretch");
  size_t mark = flo_scene_enter(context, "cloth");
  *cloth = (FloClothDef){.areal_density = flo_json_number(object, "areal_density"),
                         .thickness = flo_json_number(object, "thickness"),
                         .young = flo_json_number(object, "young"),
                         .poisson = flo_json_number(object, "poisson"),
                         .stretch = flo_json_number(object, "stretch"),
                         .shear = flo_json_number(object, "shear"),
                         .bend = flo_json_number(object, "bend"),
                         .damping = flo_json_number(object, "damping"),
                         .max_stretch = flo_json_number(object, "max_stretch")};
  for (size_t k = 0; k < 2; k++)
    cloth->prestretch[k] =
        json_number_value(json_is_array(prestretch) ? json_array_get(prestretch, k) : prestretch);
  body->def.kind = FLO_BODY_CLOTH;
  FLO_TRY(read_resampling(context, object, body));
  if (cloth->young > 0 && cloth->thickness == 0)
    return flo_scene_fail(context, "'young' needs 'thickness', because thick sheets are stiffer; give it, or "
                                   "replace 'young' by 'stretch' and 'bend'");
  if (cloth->areal_density == 0 && (cloth->thickness == 0 || body->material == FLO_NO_MATERIAL))
    return flo_scene_fail(context, "needs 'areal_density', its mass per area; or give 'thickness' here and "
                                   "'material' to the body");
  flo_scene_leave(context, mark);
  return FLO_OK;
}

// Its corners may be given in any order.
static void read_corners(const json_t *corners, int dim, double low[3], double high[3]) {
  for (size_t axis = 0; axis < (size_t)dim; axis++) {
    const double a = json_number_value(json_array_get(json_array_get(corners, 0), axis)),
                 b = json_number_value(json_array_get(json_array_get(corners, 1), axis));
    low[axis] = a < b ? a : b;
    high[axis] = a < b ? b : a;
  }
}

static FloStatus read_form(FloSceneContext *context, const json_t *object, FloElasticDef *elastic) {
  const char *word = flo_json_text(object, "as");
  const json_t *list = json_object_get(object, "rigid");
  int k = 0;
  while (word && flo_scene_elastic_forms[k] && strcmp(word, flo_scene_elastic_forms[k]) != 0) ++k;
  elastic->form = (FloElasticForm)k;
  if (json_array_size(list) == 0) return FLO_OK;
  const size_t mark = flo_scene_enter(context, "rigid");
  if (k == FLO_ELASTIC_ELEMENTS)
    return flo_scene_fail(context, "only a body of particles can have rigid parts; add '\"as\": "
                                   "\"particles\"', or pin the body to a rigid one");
  FloRegion *regions = flo_scene_allocate(json_array_size(list), sizeof *regions);
  if (!regions) return flo_scene_no_memory(context);
  elastic->rigid = regions;
  for (FloSceneEntries at = flo_scene_entries(context, list); flo_scene_next(context, &at);) {
    FloRegion *region = &regions[elastic->n_rigid++];
    read_corners(json_object_get(at.entry, "box"), context->dim, region->low, region->high);
  }
  flo_scene_leave(context, mark);
  return FLO_OK;
}

static FloStatus read_elastic(FloSceneContext *context, const json_t *object, FloSceneBody *body) {
  size_t mark = flo_scene_enter(context, "elastic");
  body->def.elastic = (FloElasticDef){.young = flo_json_number(object, "young"),
                                      .poisson = flo_json_number(object, "poisson"),
                                      .damping = flo_json_number(object, "damping"),
                                      .cell = flo_json_number(object, "cell")};
  body->def.density = flo_json_number(object, "density");
  body->def.kind = FLO_BODY_ELASTIC;
  FLO_TRY(read_form(context, object, &body->def.elastic));
  FLO_TRY(read_resampling(context, object, body));
  if (body->def.density == 0 && body->material == FLO_NO_MATERIAL)
    return flo_scene_fail(context, "needs 'density', or a 'material' of the body that has one");
  flo_scene_leave(context, mark);
  if (!flo_shape_is_thin(&body->def.shape)) return FLO_OK;
  return flo_scene_fail(context, "this shape is only a surface and cannot be filled with an elastic solid; "
                                 "replace 'elastic' by 'cloth', or use another shape");
}

// ---- Pins ----

static FloStatus find_target(FloSceneContext *context, const json_t *object, const FloSceneBody *body,
                             const FloScene *scene, FloScenePin *pin) {
  const char *name = flo_json_text(object, "to");
  if (!name) return FLO_OK;
  const json_t *index = json_object_get(context->body_names, name);
  size_t mark = flo_scene_enter(context, "to");
  pin->has_to = true;
  pin->to = (size_t)json_integer_value(index);
  if (!strcmp(name, body->name)) return flo_scene_fail(context, "a body cannot be pinned to itself");
  if (!index)
    return flo_scene_no_name(context, "the boundaries and the bodies before this one", name,
                             context->body_names, "; a body that others are pinned to comes before them");
  if (flo_scene_is_soft(&scene->bodies[pin->to]))
    return flo_scene_fail(context,
                          "'%s' changes its shape; name a rigid body or a boundary, or leave 'to' out", name);
  flo_scene_leave(context, mark);
  return FLO_OK;
}

static FloStatus read_place(FloSceneContext *context, const json_t *object, const FloSceneBody *body,
                            FloPinDef *def) {
  const json_t *box = json_object_get(object, "box"), *point = json_object_get(object, "point");
  const char *word = json_object_get(object, "corners") ? "corners" : "border";
  def->place = FLO_PIN_BOX;
  if (box) return read_corners(box, context->dim, def->low, def->high), FLO_OK;
  flo_json_vector(object, "point", def->low);
  flo_json_vector(object, "point", def->high);
  def->place = FLO_PIN_NEAREST;
  if (point) return FLO_OK;
  def->place = !strcmp(word, "corners") ? FLO_PIN_CORNERS : FLO_PIN_BORDER;
  if (!json_is_true(json_object_get(object, word)))
    return flo_scene_fail(context, "'%s' must be true; name another place, or remove the pin", word);
  if (body->def.kind != FLO_BODY_CLOTH)
    return flo_scene_fail(context, "only a cloth has %s; pin a solid by 'box' or 'point'", word);
  if (def->place == FLO_PIN_CORNERS && body->def.shape.kind != FLO_SHAPE_SHEET)
    return flo_scene_fail(context, "only a sheet has corners; pin this shape by 'border', 'box' or 'point'");
  return FLO_OK;
}

static FloStatus read_pin(FloSceneContext *context, const json_t *object, const FloSceneBody *body,
                          const FloScene *scene, FloPinDef *def, FloScenePin *pin) {
  const char *name = flo_json_text(object, "name");
  FLO_TRY(read_place(context, object, body, def));
  if (!name && def->place == FLO_PIN_CORNERS) name = "corners";
  if (!name && def->place == FLO_PIN_BORDER) name = "border";
  snprintf(pin->name, sizeof pin->name, "%s", name ? name : "");
  def->release = flo_json_number(object, "until");
  def->break_load = flo_json_number(object, "break_load");
  def->clamps = json_is_true(json_object_get(object, "clamp"));
  if (def->clamps && body->def.kind != FLO_BODY_CLOTH)
    return flo_scene_fail(context, "'clamp' works with cloth only; pin more vertices of a solid with 'box'");
  return find_target(context, object, body, scene, pin);
}

static FloStatus read_pins(FloSceneContext *context, const json_t *list, FloSceneBody *body,
                           const FloScene *scene) {
  const size_t n = json_array_size(list), outer = flo_scene_enter(context, "pin");
  FloPinDef *defs = flo_scene_allocate(n, sizeof *defs);
  // The body owns them from now on, so that they are released after an error, too.
  body->def.pins = defs;
  body->pins = flo_scene_allocate(n, sizeof *body->pins);
  if (!defs || !body->pins) return flo_scene_no_memory(context);
  body->def.n_pins = n;
  for (FloSceneEntries at = flo_scene_entries(context, list); flo_scene_next(context, &at);)
    FLO_TRY(read_pin(context, at.entry, body, scene, &defs[at.index], &body->pins[at.index]));
  flo_scene_leave(context, outer);
  return FLO_OK;
}

// ---- Events ----

FloStatus flo_scene_unpin(FloSceneContext *context, const FloSceneEvent *event, FloSceneBody *body) {
  FloPinDef *defs = (FloPinDef *)body->def.pins;
  bool has_found = false;
  for (size_t k = 0; k < body->def.n_pins; k++) {
    if (event->pins[0] && strcmp(event->pins, body->pins[k].name) != 0) continue;
    has_found = true;
    if (defs[k].release == 0 || event->time < defs[k].release) defs[k].release = event->time;
  }
  if (!has_found)
    return flo_scene_fail_event(context, event,
                                "the body has no such pin; name 'corners', 'border' or the 'name' of one of "
                                "its pins, or true for all");
  if (event->time > 0) return FLO_OK;
  return flo_scene_fail_event(context, event,
                              "a pin that is released at the start holds nothing; remove the "
                              "pin and this event");
}

// ---- All of it ----

bool flo_scene_asks_for_soft(const json_t *object) {
  return json_object_get(object, "cloth") || json_object_get(object, "elastic");
}

FloStatus flo_scene_read_soft(FloSceneContext *context, json_t *object, FloSceneBody *body,
                              const FloScene *scene) {
  const json_t *cloth = json_object_get(object, "cloth"), *elastic = json_object_get(object, "elastic");
  if (cloth && elastic)
    return flo_scene_fail(context, "a body is either 'cloth' or 'elastic', not both; remove one of them");
  if (!cloth && body->def.shape.cell > 0)
    return flo_scene_fail(context, "'cell' of a shape works with cloth only; leave it out%s",
                          elastic ? ", or move it into 'elastic'" : "");
  if (!cloth && !elastic) return refuse_soft_keys(context, object, &body->def.shape);
  FLO_TRY(refuse_rigid_keys(context, object));
  FLO_TRY(cloth ? read_cloth(context, cloth, body) : read_elastic(context, elastic, body));
  return read_pins(context, json_object_get(object, "pin"), body, scene);
}
