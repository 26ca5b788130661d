#include "render/stuff.h"

#include "base/core.h"
#include "render/colour.h"
#include "render/dice.h"

#include <string.h>

static const double lightest_plastic = 800, heaviest_plastic = 2500; // [kg/m³]
static const FloRgb8 wood = {188, 138, 88}, metal = {196, 199, 204};

// ---- Choosing ----

static const struct {
  const char *word;
  FloStuffKind kind;
} words[] = {
    {"wood", FLO_STUFF_WOOD},      {"oak", FLO_STUFF_WOOD},    {"metal", FLO_STUFF_METAL},
    {"steel", FLO_STUFF_METAL},    {"rubber", FLO_STUFF_MATT}, {"stone", FLO_STUFF_STONE},
    {"concrete", FLO_STUFF_STONE},
};

static FloStuffKind kind_by_weight(const FloSceneBody *body, const FloSubstance *substances) {
  double density = body->def.density;
  if (body->def.kind == FLO_BODY_ELASTIC) return FLO_STUFF_PLASTIC;
  if (body->def.kind != FLO_BODY_DYNAMIC) return FLO_STUFF_MATT;
  if (!(density > 0) && body->material < FLO_VIEW_MATERIALS) density = substances[body->material].density;
  if (!(density > 0)) return FLO_STUFF_PLASTIC;
  return density < lightest_plastic   ? FLO_STUFF_WOOD
         : density > heaviest_plastic ? FLO_STUFF_METAL
                                      : FLO_STUFF_PLASTIC;
}

static void choose_kind(const FloSceneBody *body, const FloSubstance *substances, FloStuff *stuff) {
  for (size_t k = 0; k < FLO_COUNT_OF(words); k++)
    if (strstr(body->look, words[k].word)) {
      stuff->kind = words[k].kind;
      return;
    }
  const bool is_plain = body->look[0] && body->def.kind != FLO_BODY_CLOTH;
  stuff->kind = is_plain ? FLO_STUFF_PLASTIC : kind_by_weight(body, substances);
  if (body->look[0] || body->def.kind != FLO_BODY_DYNAMIC) return;
  if (stuff->kind == FLO_STUFF_WOOD) stuff->colour = flo_linear_from_rgb8(wood);
  if (stuff->kind == FLO_STUFF_METAL) stuff->colour = flo_linear_from_rgb8(metal);
}

static void set_shine(FloStuff *stuff) {
  static const struct {
    float shine, alpha;
  } shines[] = {[FLO_STUFF_PLASTIC] = {0.04f, 0.25f},
                [FLO_STUFF_MATT] = {0.01f, 0.6f},
                [FLO_STUFF_STONE] = {0.015f, 0.55f},
                [FLO_STUFF_WOOD] = {0.03f, 0.4f},
                [FLO_STUFF_METAL] = {1, 0.22f}};
  stuff->shine = shines[stuff->kind].shine, stuff->alpha = shines[stuff->kind].alpha;
}

static void set_size(const FloShape *shape, FloStuff *stuff) {
  double longest = 2 * shape->radius;
  stuff->grain = 2; // round shapes stand along z
  for (int axis = 0; axis < 3; axis++)
    if (shape->size[axis] > longest) {
      longest = shape->size[axis];
      stuff->grain = shape->radius > 0 ? 2 : axis;
    }
  stuff->size = longest > 0 ? (float)longest : 1;
}

static uint32_t hash_text(const char *text) {
  uint32_t h = 2166136261u;
  for (; *text; text++) h = (h ^ (unsigned char)*text) * 16777619u;
  return flo_scramble(h);
}

FloStuff flo_stuff_of(const FloSceneBody *body, const FloPose *pose, const FloSubstance *substances,
                      V3 colour) {
  const double *p = pose->position, *q = pose->rotation;
  FloStuff stuff = {.colour = colour, .seed = hash_text(body->name)};
  stuff.position = v3((float)p[0], (float)p[1], (float)p[2]);
  stuff.turn = v3((float)q[0], (float)q[1], (float)q[2]), stuff.turn_w = (float)q[3];
  choose_kind(body, substances, &stuff);
  set_shine(&stuff);
  set_size(&body->def.shape, &stuff);
  return stuff;
}

// ---- Patterns ----

static float node_value(int x, int y, int z, uint32_t seed) {
  uint32_t h =
      flo_scramble((uint32_t)x * 0x8da6b343u ^ (uint32_t)y * 0xd8163841u ^ (uint32_t)z * 0xcb1ab31fu ^ seed);
  return (float)(h >> 8) * 0x1p-24f;
}

static float mix(float a, float b, float t) { return a + (b - a) * t; }

// Smooth noise: random values 0..1 at the nodes of a lattice, interpolated in between.
static float value_noise(V3 p, uint32_t seed) {
  const float x = floorf(p.x), y = floorf(p.y), z = floorf(p.z);
  const float u = flo_smooth_step(0, 1, p.x - x), v = flo_smooth_step(0, 1, p.y - y),
              w = flo_smooth_step(0, 1, p.z - z);
  const int i = (int)x, j = (int)y, k = (int)z;
  float layers[2];
  for (int d = 0; d < 2; d++)
    layers[d] = mix(mix(node_value(i, j, k + d, seed), node_value(i + 1, j, k + d, seed), u),
                    mix(node_value(i, j + 1, k + d, seed), node_value(i + 1, j + 1, k + d, seed), u), v);
  return mix(layers[0], layers[1], w);
}

static V3 to_body(const FloStuff *stuff, V3 point) {
  V3 p = v3_sub(point, stuff->position), turn = v3_scale(stuff->turn, -1);
  V3 once = v3_mad(v3_cross(turn, p), p, stuff->turn_w);
  p = v3_scale(v3_mad(p, v3_cross(turn, once), 2), 1 / stuff->size);
  // Limits the place, so that a body far away does not leave the range of int.
  return v3_max(v3(-1e4f, -1e4f, -1e4f), v3_min(v3(1e4f, 1e4f, 1e4f), p));
}

// Rings about an axis beside the body, stretched along the grain, and fine fibres.
static V3 wood_colour(const FloStuff *stuff, V3 p) {
  const float along = v3_get(p, stuff->grain), a = v3_get(p, (stuff->grain + 1) % 3),
              b = v3_get(p, (stuff->grain + 2) % 3);
  const float x = a + 0.35f + 0.3f * (float)(stuff->seed & 255) / 255,
              y = b + 0.5f * (float)(stuff->seed >> 24) / 255;
  float wave = value_noise(v3(1.5f * along, 4 * a, 4 * b), stuff->seed);
  float ring = 16 * sqrtf(x * x + y * y) + 1.2f * wave;
  float dark = ring - floorf(ring);
  dark = flo_smooth_step(0.2f, 0.9f, dark) * (1 - flo_smooth_step(0.92f, 1, dark));
  float fibre = value_noise(v3(6 * along, 90 * a, 90 * b), stuff->seed + 1);
  return v3_mul(stuff->colour,
                v3_mix(v3(1.08f, 1.06f, 1.02f), v3(0.68f, 0.60f, 0.52f), 0.65f * dark + 0.2f * fibre));
}

static V3 stone_colour(const FloStuff *stuff, V3 p) {
  float coarse = value_noise(v3_scale(p, 5), stuff->seed),
        fine = value_noise(v3_scale(p, 38), stuff->seed + 1);
  return v3_scale(stuff->colour, 0.82f + 0.2f * coarse + 0.14f * fine);
}

V3 flo_stuff_colour(const FloStuff *stuff, V3 point) {
  V3 colour = stuff->colour;
  if (stuff->kind == FLO_STUFF_WOOD) colour = wood_colour(stuff, to_body(stuff, point));
  if (stuff->kind == FLO_STUFF_STONE) colour = stone_colour(stuff, to_body(stuff, point));
  return v3_min(colour, v3(0.95f, 0.95f, 0.95f));
}
