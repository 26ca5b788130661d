#include "bodies/surface.h"

#include <string.h>

// ---- Making ----

static double first_given(double own, double of_material, double usual) {
  if (own >= 0) return own;
  return of_material >= 0 ? of_material : usual;
}

FloStatus flo_body_set_surface(FloBody *body, const FloBodyDef *def, const FloMaterial *material,
                               FloError *error) {
  FLO_TRY(flo_slip_check(def->slip, def->restitution, error));
  body->friction = first_given(def->friction, material ? material->friction : -1, -1);
  body->slip = first_given(def->slip, material ? material->slip : -1, 1);
  body->contact_angle = first_given(def->contact_angle, material ? material->contact_angle : -1, -1);
  body->restitution = first_given(def->restitution, material ? material->restitution : -1, 0);
  return FLO_OK;
}

static FloStatus check_friction(const FloBodyDef *def, FloError *error) {
  if (!isfinite(def->friction))
    return flo_fail(error, FLO_BAD_INPUT, "friction: must be finite, got %g", def->friction);
  if (!(def->rolling_friction >= 0) || isinf(def->rolling_friction))
    return flo_fail(error, FLO_BAD_INPUT, "rolling_friction: must be >= 0 and finite, got %g",
                    def->rolling_friction);
  if (def->n_friction_changes && !def->friction_changes)
    return flo_fail(error, FLO_BAD_INPUT, "friction_changes: is NULL, but there should be %zu",
                    def->n_friction_changes);
  for (size_t k = 0; k < def->n_friction_changes; ++k) {
    const FloFrictionChange *change = &def->friction_changes[k];
    if (!(change->friction >= 0) || !(change->within >= 0) || !isfinite(change->friction + change->within))
      return flo_fail(error, FLO_BAD_INPUT, "friction_changes: number %zu goes to %g within %g s", k,
                      change->friction, change->within);
    if (k > 0 && !(change->time >= change[-1].time + change[-1].within))
      return flo_fail(error, FLO_BAD_INPUT,
                      "friction_changes: number %zu begins before the one before it ends", k);
  }
  return FLO_OK;
}

FloStatus flo_body_set_friction(FloBody *body, const FloBodyDef *def, FloMemory *memory, FloError *error) {
  size_t size = def->n_friction_changes * sizeof(FloFrictionChange);
  FLO_TRY(check_friction(def, error));
  body->rolling_friction = def->rolling_friction;
  body->is_sealed = def->sealed;
  if (size == 0) return FLO_OK;
  if (!(body->friction_changes = flo_memory_allocate(memory, size)))
    return flo_fail(error, FLO_NO_MEMORY, "out of memory");
  memcpy(body->friction_changes, def->friction_changes, size);
  body->n_friction_changes = def->n_friction_changes;
  return FLO_OK;
}

void flo_body_free_surface(FloBody *body, FloMemory *memory) {
  flo_memory_release(memory, body->friction_changes, body->n_friction_changes * sizeof(FloFrictionChange));
}

// ---- Between two bodies ----

// Friction of two bodies that both have no coefficient. Also the start value of a change of friction for such
// a body.
#define USUAL_FRICTION 0.5

static double friction_of(const FloBody *body, double time) {
  double now = body->friction;
  for (size_t k = 0; k < body->n_friction_changes && body->friction_changes[k].time <= time; ++k) {
    const FloFrictionChange *change = &body->friction_changes[k];
    double from = now < 0 ? USUAL_FRICTION : now;
    bool is_over = time >= change->time + change->within;
    now = is_over ? change->friction
                  : from + (change->friction - from) * (time - change->time) / change->within;
  }
  return now;
}

double flo_body_friction(const FloBody *a, const FloBody *b, double time) {
  double of_a = friction_of(a, time), of_b = friction_of(b, time);
  if (of_a < 0 && of_b < 0) return USUAL_FRICTION;
  if (of_a < 0) return of_b;
  return of_b < 0 ? of_a : fmin(of_a, of_b);
}

// Limits the speed at which an overlap vanishes, so that it takes several steps and is no sudden push. That
// speed remains when the overlap has gone. It adds up along a stack, and the top would hop. So the speed is
// proportional to the depth of shallow overlaps. Without gravity a weak gravity is assumed.
double flo_body_parting_speed(const double gravity[3], double spacing, double depth) {
  return 0.5 * sqrt(fmax(vec_length(gravity), 1) * spacing) * fmin(depth, spacing) / spacing;
}

double flo_body_rolling_friction(const FloBody *a, const FloBody *b) {
  return fmax(a->rolling_friction, b->rolling_friction);
}

double flo_body_restitution(const FloBody *a, const FloBody *b) {
  return fmax(a->restitution, b->restitution);
}

// A step turns bodies round where they are at its start, before they have met. On the way that is left they
// would gain speed by the pull, lose a share of it in the impact, and climb back. So after the impact their
// energy is the share e^2 of their energy before, both counted from where they meet:
//   u^2/2 + a (gap + u dt) - a dt u/2 = e^2 (v^2/2 + a gap + a dt v/2)
// The terms with dt make this energy constant in flight, where velocities change before positions do.
double flo_body_rebound(const FloImpact *impact, double dt) {
  double share = impact->restitution * impact->restitution, v = impact->approach, a = impact->pull;
  double square = share * v * (v + a * dt) - 2 * (1 - share) * a * impact->gap, half = a * dt / 2;
  return square > 0 ? fmin(sqrt(half * half + square) - half, v) : 0;
}

// In a step a body at rest gains g dt, and contacts take it back up to their tolerance.
double flo_body_least_impact(const double gravity[3], double spacing, double dt) {
  return 4 * fmax(vec_length(gravity) * dt, 1e-5 * spacing / dt);
}
