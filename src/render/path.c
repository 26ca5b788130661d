#include "render/path.h"

#include "render/optics.h"
#include "render/soft_solids.h"

static const float brightest = 4; // limit of one sample: brighter ones would remain as dots after averaging
enum { MAX_CROSSINGS = 12 };

// The state of a path.
typedef struct Path {
  const FloPathScene *scene;
  FloDice *dice;
} Path;

// A part of a path, and how much it contributes to the picture.
typedef struct Leg {
  FloRay ray;
  bool is_inside;   // water
  V3 tint;          // of that water
  int depth;        // boundaries and mirrors so far
  float weight;     // its share of the pixel
  bool has_no_lamp; // the lamp was added already, where the path left a shining surface
} Leg;

static FloPathLight follow(Path *path, const Leg *leg);

// ---- The page ----

static V3 page_at(const FloPathScene *s, V3 point) {
  float x, y, depth;
  if (!s->lens) return s->light.ground_radiance;
  flo_lens_project(s->lens, point, &x, &y, &depth);
  float share = depth > 0 ? flo_clamp01(y / (float)s->lens->height) : 0;
  return v3_mix(s->page_top, s->page_bottom, share);
}

// ---- Light through water, straight on ----

static V3 tint_at(const FloPathScene *s, const FloHit *hit) {
  return hit->kind == FLO_HIT_PARTICLE ? s->water->drop_tints[hit->index]
                                       : flo_water_tint(s->water, hit->index, hit->u, hit->v);
}

// Dims `share` on the way through water, and adds the light that the water itself scatters.
static void cross_water(const FloPathScene *s, V3 tint, float distance, V3 *share, V3 *glow) {
  V3 left = flo_beer(flo_absorption_of(tint, s->water->reach), distance);
  V3 gone = v3_sub(v3(1, 1, 1), left);
  *glow = v3_add(*glow, v3_mul(*share, v3_mul(v3_scale(tint, s->scatter), gone)));
  *share = v3_mul(*share, left);
}

static V3 straight_share(const FloPathScene *s, const FloRay *ray, V3 *glow) {
  V3 share = {1, 1, 1}, tint = {0, 0, 0};
  float begin = 0, start = 0;
  bool is_inside = false;
  *glow = v3(0, 0, 0);
  if (s->is_painted) return share;
  for (int k = 0; k < MAX_CROSSINGS; k++) {
    FloHit hit = flo_tracer_look_along(s->clear, ray, start);
    if (hit.kind == FLO_HIT_NOTHING) break;
    tint = tint_at(s, &hit);
    is_inside = v3_dot(hit.face, ray->direction) < 0;
    if (!is_inside) cross_water(s, tint, hit.distance - begin, &share, glow);
    share = v3_scale(share, 1 - flo_fresnel(v3_dot(hit.normal, ray->direction), FLO_WATER_INDEX));
    begin = hit.distance, start = hit.distance + s->skin;
  }
  if (is_inside && isfinite(ray->end)) cross_water(s, tint, ray->end - begin, &share, glow);
  return share;
}

static bool is_blocked(const FloPathScene *s, const FloRay *ray) {
  return flo_tracer_is_blocked(s->opaque, ray) || (s->is_painted && flo_tracer_is_blocked(s->clear, ray));
}

// ---- Surfaces ----

typedef struct Surface {
  V3 point,
      normal; // the point lies a little off the surface; the normal points towards the origin of the ray
  V3 colour;
  float shine, alpha;
  bool is_metal;
} Surface;

// The normal on the viewer's side. If the smoothed normal points away from the viewer, the normal of the face
// is used.
static V3 turned_normal(const FloHit *hit, V3 direction) {
  V3 face = v3_normalize(hit->face);
  float side = v3_dot(face, direction) > 0 ? -1 : 1;
  V3 normal = v3_scale(hit->normal, v3_dot(hit->normal, face) < 0 ? -side : side);
  return v3_dot(normal, direction) < -0.01f ? normal : v3_scale(face, side);
}

static Surface surface_of(const FloPathScene *s, const FloRay *ray, const FloHit *hit, bool is_clear) {
  Surface surface = {.normal = turned_normal(hit, ray->direction), .shine = 0.03f, .alpha = 0.3f};
  V3 point = v3_mad(ray->origin, ray->direction, hit->distance);
  surface.point = v3_mad(point, surface.normal, s->skin);
  if (is_clear) {
    surface.colour = tint_at(s, hit);
  } else if (hit->kind == FLO_HIT_PARTICLE) {
    surface.colour = s->ball_colours[s->cloud->tones[hit->index]];
  } else {
    const FloStuff *stuff = &s->stuffs[s->solids->owners[hit->index]];
    surface.colour =
        v3_scale(flo_stuff_colour(stuff, point), flo_solids_shade(s->solids, hit->index, hit->u, hit->v));
    surface.shine = stuff->shine, surface.alpha = stuff->alpha;
    surface.is_metal = stuff->kind == FLO_STUFF_METAL;
  }
  return surface;
}

// ---- Light on matt surfaces ----

typedef struct Gathered {
  V3 sky;            // light of the sky, weighted by the cosine
  V3 lamp;           // light of the lamp on a surface that faces it
  V3 lamp_direction; // the sampled one
} Gathered;

static Gathered gather(Path *path, V3 point, V3 normal, int bounce);

static V3 light_on(const Gathered *g, V3 normal) {
  return v3_mad(g->sky, g->lamp, flo_maxf(0, v3_dot(normal, g->lamp_direction)));
}

// Light from beyond the last bounce: half of open daylight.
static V3 last_light(const FloPathScene *s) { return v3_scale(flo_daylight_on_ground(&s->light), 0.5f); }

// Share of open daylight on the ground. It is one far out, where shadows have no end.
static V3 ground_share(Path *path, V3 point, int bounce) {
  const FloPathScene *s = path->scene;
  float distance = v3_length(v3_sub(point, s->ground_centre)) / flo_maxf(1e-6f, s->ground_extent);
  float fade = 1 - flo_smooth_step(1.3f, 2.6f, distance);
  if (fade <= 0) return v3(1, 1, 1);
  Gathered g = gather(path, v3_mad(point, s->light.up, s->skin), s->light.up, bounce);
  V3 light = light_on(&g, s->light.up), open = flo_daylight_on_ground(&s->light);
  V3 share = v3(light.x / flo_maxf(1e-6f, open.x), light.y / flo_maxf(1e-6f, open.y),
                light.z / flo_maxf(1e-6f, open.z));
  return v3_mix(v3(1, 1, 1), share, fade);
}

static V3 matt_light(Path *path, const FloRay *ray, const FloHit *hit, bool is_clear, int bounce) {
  Surface surface = surface_of(path->scene, ray, hit, is_clear);
  if (bounce > path->scene->bounces) return v3_mul(surface.colour, last_light(path->scene));
  Gathered g = gather(path, surface.point, surface.normal, bounce);
  return v3_mul(surface.colour, light_on(&g, surface.normal));
}

// The light that a matt surface receives along a ray.
static V3 sky_light(Path *path, FloRay *ray, int bounce) {
  const FloPathScene *s = path->scene;
  FloHit hit = flo_tracer_look_along(s->opaque, ray, 0), clear = {.distance = INFINITY};
  if (s->is_painted) clear = flo_tracer_look_along(s->clear, ray, 0);
  bool is_clear = clear.distance < hit.distance;
  if (is_clear) hit = clear;
  float ground = flo_daylight_ground_distance(&s->light, ray->origin, ray->direction);
  ray->end = flo_minf(ground, hit.distance);
  V3 seen = s->light.ground_radiance, glow;
  if (hit.distance < ground)
    seen = matt_light(path, ray, &hit, is_clear, bounce + 1);
  else if (!isfinite(ground))
    seen = flo_daylight_sky(&s->light, ray->direction);
  else if (bounce < s->bounces)
    seen = v3_mul(seen, ground_share(path, v3_mad(ray->origin, ray->direction, ground), bounce + 1));
  V3 share = straight_share(s, ray, &glow);
  return v3_add(v3_mul(seen, share), glow);
}

static Gathered gather(Path *path, V3 point, V3 normal, int bounce) {
  const FloPathScene *s = path->scene;
  Gathered g = {.lamp = {0, 0, 0}};
  float pair[2];
  V3 glow;
  flo_dice_roll(path->dice, pair);
  FloRay ray = {point, flo_cosine_direction(normal, pair), INFINITY};
  g.sky = sky_light(path, &ray, bounce);
  flo_dice_roll(path->dice, pair);
  g.lamp_direction = flo_daylight_towards_lamp(&s->light, pair);
  ray = (FloRay){point, g.lamp_direction, INFINITY};
  if (v3_dot(normal, ray.direction) <= 0 || s->light.lamp_strength.x <= 0 || is_blocked(s, &ray)) return g;
  g.lamp = v3_mul(s->light.lamp_strength, straight_share(s, &ray, &glow));
  return g;
}

// ---- Shining surfaces ----

// Schlick's curve between the reflectance towards the viewer and full reflection at the rim. A rough surface
// has a weaker rim.
static V3 shine_of(const Surface *surface, float cosine) {
  float rim = 1 - cosine, rim2 = rim * rim;
  V3 base = surface->is_metal ? surface->colour : v3(surface->shine, surface->shine, surface->shine);
  float room = (1 - surface->alpha) * rim2 * rim2 * rim;
  return v3_mad(base, v3_sub(v3(1, 1, 1), base), room);
}

// The normal of a microfacet (Trowbridge, Reitz): the square of its tangent is alpha^2 u / (1 - u).
static V3 facet_normal(const Surface *surface, const float pair[2]) {
  V3 s, t;
  v3_frame(surface->normal, &s, &t);
  float tangent = surface->alpha * sqrtf(pair[0] / flo_maxf(1e-3f, 1 - pair[0])),
        angle = 6.2831853f * pair[1];
  V3 off = v3_mad(v3_scale(s, tangent * cosf(angle)), t, tangent * sinf(angle));
  return v3_normalize(v3_add(surface->normal, off));
}

// What a shining surface mirrors, without the lamp. If it contributes little, or the surface is so rough that
// it mirrors half the sky, the light that it receives is used instead.
static V3 mirrored(Path *path, const Leg *leg, const Surface *surface, const Gathered *g, float shine) {
  const FloPathScene *s = path->scene;
  float weight = leg->weight * shine, pair[2];
  if (surface->alpha > 0.35f || weight < s->least_weight || leg->depth >= s->depth) return g->sky;
  flo_dice_roll(path->dice, pair);
  V3 direction = flo_mirror(leg->ray.direction, facet_normal(surface, pair));
  if (v3_dot(direction, surface->normal) <= 0) return g->sky;
  Leg next = {
      {surface->point, direction, INFINITY}, .depth = leg->depth + 1, .weight = weight, .has_no_lamp = true};
  next.is_inside = leg->is_inside, next.tint = leg->tint;
  return follow(path, &next).colour;
}

static V3 lamp_shine(const Leg *leg, const Surface *surface, const Gathered *g) {
  V3 view = v3_scale(leg->ray.direction, -1), middle = v3_normalize(v3_add(view, g->lamp_direction));
  float facets = flo_microfacets(v3_dot(surface->normal, g->lamp_direction), v3_dot(surface->normal, view),
                                 v3_dot(surface->normal, middle), surface->alpha);
  return v3_scale(g->lamp, 3.14159265f * facets); // the lamp's strength is without the factor pi
}

static FloPathLight surface_light(Path *path, const Leg *leg, const Surface *surface, float distance) {
  Gathered g = gather(path, surface->point, surface->normal, 0);
  V3 shine = shine_of(surface, flo_clamp01(-v3_dot(surface->normal, leg->ray.direction)));
  V3 mirror = mirrored(path, leg, surface, &g, flo_maxf(shine.x, flo_maxf(shine.y, shine.z)));
  FloPathLight light = {.albedo = surface->colour, .normal = surface->normal, .depth = distance};
  light.colour = v3_mul(shine, v3_add(mirror, lamp_shine(leg, surface, &g)));
  if (surface->is_metal) return light;
  V3 matt = v3_mul(v3_sub(v3(1, 1, 1), shine), v3_mul(surface->colour, light_on(&g, surface->normal)));
  light.colour = v3_add(light.colour, matt);
  return light;
}

static FloPathLight ground_light(Path *path, const Leg *leg, float distance) {
  const FloPathScene *s = path->scene;
  V3 point = v3_mad(leg->ray.origin, leg->ray.direction, distance), page = page_at(s, point);
  V3 colour = v3_mul(page, ground_share(path, point, 0));
  return (FloPathLight){colour, page, s->light.up, distance};
}

static FloPathLight sky_seen(const FloPathScene *s, const Leg *leg) {
  V3 direction = leg->ray.direction, colour = flo_daylight_sky(&s->light, direction);
  if (leg->depth == 0 && s->lens) colour = page_at(s, v3_add(leg->ray.origin, direction));
  V3 lamp = flo_daylight_lamp(&s->light, direction);
  if (leg->depth > 0 && !leg->has_no_lamp) colour = v3_add(colour, lamp);
  return (FloPathLight){colour, colour, {0, 0, 0}, INFINITY};
}

// ---- The boundary of water ----

typedef struct Boundary {
  V3 point, normal; // the normal is on the side the ray comes from
  V3 tint;
  bool is_entry;
  float reflected; // share of the light
} Boundary;

static Boundary boundary_of(const FloPathScene *s, const Leg *leg, const FloHit *hit) {
  Boundary b = {.is_entry = v3_dot(hit->face, leg->ray.direction) < 0, .tint = tint_at(s, hit)};
  b.point = v3_mad(leg->ray.origin, leg->ray.direction, hit->distance);
  b.normal = turned_normal(hit, leg->ray.direction);
  b.reflected =
      flo_fresnel(v3_dot(b.normal, leg->ray.direction), b.is_entry ? FLO_WATER_INDEX : 1 / FLO_WATER_INDEX);
  return b;
}

static Leg reflected_leg(const FloPathScene *s, const Leg *leg, const Boundary *b, float weight) {
  V3 direction = flo_mirror(leg->ray.direction, b->normal);
  Leg next = *leg;
  next.ray = (FloRay){v3_mad(b->point, b->normal, s->skin), direction, INFINITY};
  next.depth++, next.weight = weight;
  next.is_inside = !b->is_entry, next.tint = b->tint;
  return next;
}

// Must be called only if not all light is reflected.
static Leg refracted_leg(const FloPathScene *s, const Leg *leg, const Boundary *b, float weight) {
  Leg next = *leg;
  V3 direction = leg->ray.direction;
  flo_refract(leg->ray.direction, b->normal, b->is_entry ? FLO_WATER_INDEX : 1 / FLO_WATER_INDEX, &direction);
  next.ray = (FloRay){v3_mad(b->point, b->normal, -s->skin), direction, INFINITY};
  next.depth++, next.weight = weight;
  next.is_inside = b->is_entry, next.tint = b->tint;
  return next;
}

// The light where a path ends at a boundary. In air it is the sky. In water the path would have found a way
// out to light, so it is not the water's own colour, which appears only after a long way. Paths between the
// sides of a drop end long before that and would be black dots.
static V3 end_of_path(const FloPathScene *s, const Leg *leg) {
  return leg->is_inside ? last_light(s) : flo_daylight_sky(&s->light, leg->ray.direction);
}

static FloPathLight next_light(Path *path, const Leg *next) {
  if (next->depth <= path->scene->depth && next->weight >= path->scene->least_weight)
    return follow(path, next);
  V3 colour = end_of_path(path->scene, next);
  return (FloPathLight){colour, colour, {0, 0, 0}, INFINITY};
}

static FloPathLight boundary_light(Path *path, const Leg *leg, const FloHit *hit) {
  const FloPathScene *s = path->scene;
  Boundary b = boundary_of(s, leg, hit);
  const float share = b.reflected, weight = leg->weight;
  FloPathLight light = {.normal = b.normal, .depth = hit->distance};
  // Follows both ways if they contribute much; otherwise one at random, with the same mean.
  if (leg->depth < 2 && share < 1) {
    Leg back = reflected_leg(s, leg, &b, weight * share),
        on = refracted_leg(s, leg, &b, weight * (1 - share));
    FloPathLight reflected = next_light(path, &back), passed = next_light(path, &on);
    light.colour = v3_mix(passed.colour, reflected.colour, share);
    light.albedo = v3_mix(passed.albedo, reflected.albedo, share);
    return light;
  }
  float pair[2];
  flo_dice_roll(path->dice, pair);
  Leg next = pair[0] < share ? reflected_leg(s, leg, &b, weight) : refracted_leg(s, leg, &b, weight);
  FloPathLight taken = next_light(path, &next);
  light.colour = taken.colour, light.albedo = taken.albedo;
  return light;
}

// ---- The path ----

// Dims light that came here through water.
static void dim(const FloPathScene *s, V3 tint, float distance, FloPathLight *light) {
  V3 share = {1, 1, 1}, glow = {0, 0, 0};
  cross_water(s, tint, distance, &share, &glow);
  light->colour = v3_add(v3_mul(light->colour, share), glow);
  light->albedo = v3_add(v3_mul(light->albedo, share), glow);
}

static FloPathLight follow(Path *path, const Leg *leg) {
  const FloPathScene *s = path->scene;
  const FloHit opaque = flo_tracer_look_along(s->opaque, &leg->ray, 0);
  const float ground = flo_daylight_ground_distance(&s->light, leg->ray.origin, leg->ray.direction);
  const float solid = flo_minf(ground, opaque.distance), slack = leg->is_inside ? s->gap : 0;
  // Water behind a solid is not visible, so the search ends there.
  const FloRay seen = {leg->ray.origin, leg->ray.direction, flo_minf(solid, leg->ray.end)};
  const FloHit clear = flo_tracer_look_along(s->clear, &seen, 0);
  const bool is_boundary = clear.distance + slack < solid;
  FloPathLight light;
  if (is_boundary && (s->is_painted || (s->paints_spray && clear.kind == FLO_HIT_PARTICLE))) {
    Surface surface = surface_of(s, &leg->ray, &clear, true);
    return surface_light(path, leg, &surface, clear.distance);
  }
  if (is_boundary) {
    light = boundary_light(path, leg, &clear);
  } else if (!isfinite(solid)) {
    light = sky_seen(s, leg);
  } else if (ground < opaque.distance) {
    light = ground_light(path, leg, ground);
  } else {
    Surface surface = surface_of(s, &leg->ray, &opaque, false);
    light = surface_light(path, leg, &surface, opaque.distance);
  }
  // A ray that meets the boundary from inside was in water from its beginning.
  const bool is_leaving = is_boundary && v3_dot(clear.face, leg->ray.direction) > 0;
  if (is_leaving)
    dim(s, tint_at(s, &clear), clear.distance, &light);
  else if (leg->is_inside && !is_boundary && isfinite(solid))
    dim(s, leg->tint, solid, &light);
  return light;
}

void flo_path_place_eye(FloPathScene *scene, V3 eye) {
  const FloRay upwards = {eye, scene->light.up, INFINITY};
  const FloHit hit = flo_tracer_look_along(scene->clear, &upwards, 0);
  scene->is_eye_inside = isfinite(hit.distance) && v3_dot(hit.face, upwards.direction) > 0;
  if (scene->is_eye_inside) scene->eye_tint = tint_at(scene, &hit);
}

FloPathLight flo_path_light(const FloPathScene *scene, const FloRay *ray, FloDice *dice) {
  Path path = {scene, dice};
  Leg leg = {.ray = *ray, .weight = 1, .is_inside = scene->is_eye_inside, .tint = scene->eye_tint};
  FloPathLight light = follow(&path, &leg);
  V3 limit = v3(brightest, brightest, brightest), none = v3(0, 0, 0);
  // NaN must not pass, because one bad normal would blacken its neighbourhood when the picture is smoothed.
  bool is_finite = isfinite(light.colour.x + light.colour.y + light.colour.z);
  light.colour = is_finite ? v3_max(none, v3_min(limit, light.colour)) : none;
  return light;
}
