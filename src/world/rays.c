// Where bodies are: rays, the closest point, and what a ball touches. All of them walk by the signed distance
// of bodies, which never is more than the true distance to their surface.
#include "base/vecmath.h"
#include "flotsam/query.h"
#include "world/world.h"

// A walk ends when the surface is this near, in spacings.
#define TOUCH 1e-6
// A walk along a surface takes many short steps. After so many it gives up and passes by.
#define MOST_STEPS 512

static bool is_asked(const FloBody *body, uint32_t mask) {
  return !flo_body_is_removed(body) && (body->filter.category & mask);
}

// The distance of a body from x, or a lower bound of it if the body is far.
static double room_to(const FloWorld *world, const FloBody *body, const double x[3]) {
  double between[3];
  flo_domain_between(&world->domain, body->state.pose.position, x, between);
  const double far = vec_length(between) - body->reach - world->def.spacing;
  return far > body->reach ? far : flo_world_distance(world, body, x);
}

// A step that never lengthens by its own rounding.
static bool walk(const FloWorld *world, const FloBody *body, const double origin[3], const double way[3],
                 double farthest, double *share) {
  const double length = vec_length(way), touch = TOUCH * world->def.spacing;
  double x[3], gone = 0;
  for (int step = 0; step < MOST_STEPS; ++step) {
    vec_add_scaled(origin, way, length > 0 ? gone / length : 0, x);
    const double room = room_to(world, body, x);
    if (room <= touch) return *share = length > 0 ? gone / length : 0, true;
    gone += room;
    if (!(gone <= farthest * length)) return false;
  }
  return false;
}

FloStatus flo_world_cast_ray(const FloWorld *world, const double origin[3], const double way[3],
                             uint32_t mask, FloRayHit *hit, FloError *error) {
  FLO_TRY(flo_world_check_vector(world, origin, "origin", error));
  FLO_TRY(flo_world_check_vector(world, way, "way", error));
  FLO_NEED(hit, error);
  *hit = (FloRayHit){.share = 1};
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    double share;
    if (!is_asked(body, mask) || !walk(world, body, origin, way, hit->share, &share)) continue;
    if (hit->is_hit && share >= hit->share) continue; // of two at the same place the first one counts
    hit->is_hit = true, hit->share = share, hit->body = flo_world_body_id(world, k);
  }
  if (!hit->is_hit) return FLO_OK;
  vec_add_scaled(origin, way, hit->share, hit->point);
  flo_world_normal(world, &flo_bodies(world)[hit->body.index], hit->point, hit->normal);
  return FLO_OK;
}

// Steps along the normal by the distance end on the surface, since the distance may be a lower bound.
static void find_surface(const FloWorld *world, const FloBody *body, const double x[3],
                         FloNearestPoint *closest) {
  vec_copy(x, closest->point);
  for (int step = 0; step < 8; ++step) {
    const double away = flo_world_distance(world, body, closest->point);
    if (fabs(away) <= TOUCH * world->def.spacing) break;
    flo_world_normal(world, body, closest->point, closest->normal);
    vec_add_scaled(closest->point, closest->normal, -away, closest->point);
  }
  flo_world_normal(world, body, x, closest->normal);
}

FloStatus flo_world_closest_point(const FloWorld *world, const double point[3], double farthest,
                                  uint32_t mask, FloNearestPoint *closest, FloError *error) {
  FLO_TRY(flo_world_check_vector(world, point, "point", error));
  FLO_NEED(closest, error);
  if (!(farthest >= 0))
    return flo_fail(error, FLO_BAD_INPUT, "farthest: must be 0 or more, got %g", farthest);
  *closest = (FloNearestPoint){.distance = farthest};
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (!is_asked(body, mask) || room_to(world, body, point) > closest->distance) continue;
    const double away = flo_world_distance(world, body, point);
    if (closest->is_found ? away >= closest->distance : away > closest->distance) continue;
    closest->is_found = true, closest->distance = away, closest->body = flo_world_body_id(world, k);
  }
  if (closest->is_found)
    find_surface(world, &flo_bodies(world)[closest->body.index], point, closest);
  else
    closest->distance = 0;
  return FLO_OK;
}

FloStatus flo_world_overlap_ball(const FloWorld *world, const double centre[3], double radius, uint32_t mask,
                                 FloBodyId *ids, size_t capacity, size_t *n, FloError *error) {
  FLO_TRY(flo_world_check_vector(world, centre, "centre", error));
  FLO_NEED(n, error);
  if (!(radius >= 0) || !isfinite(radius))
    return flo_fail(error, FLO_BAD_INPUT, "radius: must be 0 or more and finite, got %g", radius);
  *n = 0;
  for (size_t k = 0; k < world->bodies.count; ++k) {
    const FloBody *body = &flo_bodies(world)[k];
    if (!is_asked(body, mask) || room_to(world, body, centre) > radius) continue;
    if (flo_world_distance(world, body, centre) > radius) continue;
    if (ids && *n < capacity) ids[*n] = flo_world_body_id(world, k);
    ++*n;
  }
  return FLO_OK;
}
