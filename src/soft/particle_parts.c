// Parts of an elastic solid of particles that are rigid; see particles.h.
#include "base/vecmath.h"
#include "soft/body.h"
#include "soft/particles.h"

#include <string.h>

// ---- Making ----

static bool is_in(const FloRegion *region, const double x[3]) {
  for (int axis = 0; axis < 3; ++axis)
    if (!(x[axis] >= region->low[axis] && x[axis] <= region->high[axis])) return false;
  return true;
}

// A particle belongs to the first region that holds it.
static bool belongs(const FloElasticDef *elastic, size_t region, const double x[3]) {
  for (size_t k = 0; k < region; ++k)
    if (is_in(&elastic->rigid[k], x)) return false;
  return is_in(&elastic->rigid[region], x);
}

FloStatus flo_soft_stiffen(FloSoft *soft, const FloElasticDef *elastic, FloError *error) {
  FloSoftParticles *p = soft->particles;
  if (elastic->n_rigid == 0) return FLO_OK;
  if (!p)
    return flo_fail(error, FLO_BAD_INPUT,
                    "elastic: only a body of particles can have rigid parts; make it one, or leave them out");
  FLO_TRY(flo_soft_array(soft, elastic->n_rigid + 1, sizeof *p->part_begin, &p->part_begin, error));
  FLO_TRY(flo_soft_array(soft, p->n, sizeof *p->part_items, &p->part_items, error));
  for (size_t region = 0; region < elastic->n_rigid; ++region) {
    size_t end = p->part_begin[region];
    for (size_t k = 0; k < p->n; ++k)
      if (belongs(elastic, region, soft->x + 3 * k)) p->part_items[end++] = (uint32_t)k;
    if (end == p->part_begin[region])
      return flo_fail(error, FLO_BAD_INPUT,
                      "elastic: rigid region %zu holds no particle of the body; make it larger, or move it",
                      region);
    p->part_begin[++p->n_parts] = end;
  }
  return FLO_OK;
}

// ---- Motion as one ----

// Mass, centre and inertia of a part at these places, and the motion that its impulses amount to.
typedef struct Part {
  double mass, centre[3], inertia[9];
  double velocity[3], spin[3];
  bool is_held; // some particle of it is; then it does not turn
} Part;

// Solves inertia * spin = turn. The inertia of a part that lies on one line, m L^2 across the line, is half
// of its trace; such a part has no angular momentum along the line.
static void find_spin(Part *part, const double turn[3]) {
  const double *m = part->inertia;
  double c[9];
  vec_cross(m + 3, m + 6, c), vec_cross(m + 6, m, c + 3), vec_cross(m, m + 3, c + 6);
  const double determinant = vec_dot(m, c), size = m[0] + m[4] + m[8];
  vec_scale(turn, size > 0 ? 2 / size : 0, part->spin);
  if (determinant > 1e-9 * size * size * size) {
    mat_apply(c, turn, part->spin);
    vec_scale(part->spin, 1 / determinant, part->spin);
  }
}

static void add_inertia(Part *part, const double arm[3], double mass) {
  const double square = vec_dot(arm, arm);
  for (int e = 0; e < 9; ++e)
    part->inertia[e] += mass * ((e % 4 == 0 ? square : 0) - arm[e / 3] * arm[e % 3]);
}

static void find_centre(const FloSoft *soft, size_t number, const double *x, Part *part) {
  const FloSoftParticles *p = soft->particles;
  *part = (Part){0};
  for (size_t k = p->part_begin[number]; k < p->part_begin[number + 1]; ++k) {
    const size_t i = p->part_items[k];
    part->mass += soft->mass[i];
    vec_add_scaled(part->centre, x + 3 * i, soft->mass[i], part->centre);
    part->is_held = part->is_held || soft->held[i] == 7;
  }
  vec_scale(part->centre, 1 / part->mass, part->centre);
}

// The velocity of the first particle that is held.
static void find_lead(const FloSoft *soft, size_t number, const double *v, Part *part) {
  const FloSoftParticles *p = soft->particles;
  size_t k = p->part_begin[number];
  while (soft->held[p->part_items[k]] != 7) ++k;
  vec_copy(v + 3 * (size_t)p->part_items[k], part->velocity);
}

// From the impulse of each particle, which is its velocity times its mass.
static void find_motion(const FloSoft *soft, size_t number, const double *x, const double *v, Part *part) {
  const FloSoftParticles *p = soft->particles;
  double turn[3] = {0};
  find_centre(soft, number, x, part);
  for (size_t k = p->part_begin[number]; k < p->part_begin[number + 1]; ++k) {
    const size_t i = p->part_items[k];
    double arm[3], orbit[3];
    vec_sub(x + 3 * i, part->centre, arm);
    vec_cross(arm, v + 3 * i, orbit);
    vec_add_scaled(turn, orbit, soft->mass[i], turn);
    vec_add_scaled(part->velocity, v + 3 * i, soft->mass[i] / part->mass, part->velocity);
    add_inertia(part, arm, soft->mass[i]);
  }
  if (part->is_held)
    find_lead(soft, number, v, part);
  else
    find_spin(part, turn);
}

static void set_motion(const FloSoft *soft, size_t number, const double *x, const Part *part, double *v) {
  const FloSoftParticles *p = soft->particles;
  for (size_t k = p->part_begin[number]; k < p->part_begin[number + 1]; ++k) {
    const size_t i = p->part_items[k];
    double arm[3], orbit[3];
    vec_sub(x + 3 * i, part->centre, arm);
    vec_cross(part->spin, arm, orbit);
    vec_add(part->velocity, orbit, v + 3 * i);
  }
}

void flo_particles_unite(const FloSoft *soft, const double *x, double *v) {
  for (size_t number = 0; number < soft->particles->n_parts; ++number) {
    Part part;
    find_motion(soft, number, x, v, &part);
    set_motion(soft, number, x, &part, v);
  }
}

// Turns a part about its centre. Its angular momentum stays, so its velocities turn, too.
static void turn_part(const FloSoft *soft, size_t number, double dt, double *x, double *v) {
  const FloSoftParticles *p = soft->particles;
  Part part;
  double q[4], turn[3];
  find_motion(soft, number, x, v, &part);
  mat_apply(part.inertia, part.spin, turn);
  const double angle = dt * vec_length(part.spin);
  for (size_t k = p->part_begin[number]; k < p->part_begin[number + 1]; ++k) {
    double *at = x + 3 * (size_t)p->part_items[k], arm[3];
    vec_sub(at, part.centre, arm);
    if (angle > 0) quat_from_axis_angle(part.spin, angle, q), quat_rotate(q, arm, arm);
    vec_add(part.centre, arm, at);
    vec_add_scaled(at, part.velocity, dt, at);
  }
  const Part before = part;
  find_centre(soft, number, x, &part);
  for (size_t k = p->part_begin[number]; k < p->part_begin[number + 1]; ++k) {
    double arm[3];
    vec_sub(x + 3 * (size_t)p->part_items[k], part.centre, arm);
    add_inertia(&part, arm, soft->mass[p->part_items[k]]);
  }
  vec_copy(before.velocity, part.velocity);
  if (!part.is_held) find_spin(&part, turn);
  set_motion(soft, number, x, &part, v);
}

void flo_particles_drift(const FloSoft *soft, double dt, double *x, double *v) {
  for (size_t k = 0; k < 3 * soft->n; ++k) soft->particles->drift[k] = x[k];
  for (size_t k = 0; k < 3 * soft->n; ++k) x[k] += dt * v[k];
  for (size_t number = 0; number < soft->particles->n_parts; ++number) {
    const FloSoftParticles *p = soft->particles;
    for (size_t k = p->part_begin[number]; k < p->part_begin[number + 1]; ++k)
      vec_copy(p->drift + 3 * (size_t)p->part_items[k], x + 3 * (size_t)p->part_items[k]);
    turn_part(soft, number, dt, x, v);
  }
}
