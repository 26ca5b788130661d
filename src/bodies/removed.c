// What stays of a body that was removed: an empty place, so that other bodies keep their numbers. It has no
// samples and no nodes, is at no distance from anything, and never moves.
#include "bodies/body.h"

static FloStatus removed_make(FloBody *body, const FloBodyDef *def, const FloBodyMaking *making,
                              FloError *error) {
  (void)body, (void)def, (void)making;
  return flo_fail(error, FLO_BAD_INPUT, "body: a removed body cannot be made");
}

static void removed_place(const FloBody *body, FloParticles *samples) { (void)body, (void)samples; }

static double removed_distance(const FloBody *body, const FloDomain *domain, const double x[3]) {
  (void)body, (void)domain, (void)x;
  return INFINITY;
}

static void removed_normal(const FloBody *body, const FloDomain *domain, const double x[3], double out[3]) {
  (void)body, (void)domain, (void)x;
  vec_set(out, 0, 0, 0);
}

static bool removed_probe(const FloBody *body, const FloDomain *domain, const FloPath *path, double reach,
                          double *distance, FloSurfaceHit *hit) {
  (void)body, (void)domain, (void)path, (void)reach, (void)hit;
  *distance = INFINITY;
  return false;
}

static bool removed_deflect(const FloBody *body, const FloDomain *domain, const double x[3],
                            const double v[3], double dt, double deepest, double push[3]) {
  (void)body, (void)domain, (void)x, (void)v, (void)dt, (void)deepest, (void)push;
  return false;
}

const FloKind flo_removed_kind = {.name = "removed",
                                  .set = FLO_SET_BOUNDARY,
                                  .make = removed_make,
                                  .place = removed_place,
                                  .distance = removed_distance,
                                  .normal = removed_normal,
                                  .probe = removed_probe,
                                  .deflect = removed_deflect};
