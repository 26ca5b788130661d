// Contacts between bodies, as rows over the velocities of bodies: a normal row that only pushes, and a
// friction row of three components in Coulomb's cone. A row acts on the *changes* of velocities by the
// response. The mobility of a body includes the fluid that follows it.
#include "coupling/direct_forcing/direct_forcing.h"

#include <string.h>

// ---- Restitution ----

static void bounce(FloDirectForcing *forcing, FloBodyContact *c) {
  double dt = forcing->dt, now = -vec_dot(c->velocity, c->normal);
  if (c->gap >= dt * now) return;
  const FloImpact impact = {.restitution = c->restitution,
                            .approach = c->approach,
                            .pull = fmax((now - c->approach) / forcing->kick_dt, 0),
                            .gap = c->gap};
  c->least = fmax(c->least, flo_body_rebound(&impact, dt));
  forcing->has_impacts = true;
}

void flo_forcing_bounce(const FloWorld *world, FloDirectForcing *forcing) {
  double least = flo_body_least_impact(world->def.gravity, world->def.spacing, forcing->kick_dt);
  forcing->has_impacts = false;
  for (size_t k = 0; k < forcing->n_body_contacts; ++k) {
    FloBodyContact *c = &forcing->body_contacts[k];
    if (c->restitution > 0 && c->approach > least) bounce(forcing, c);
  }
}

// ---- Rows ----

static FloStatus add_blocks(FloRows *rows, const FloBodyContact *c, const double *of_body,
                            const double *of_other, FloError *error) {
  FLO_TRY(flo_rows_add_block(rows, c->body, of_body, error));
  return flo_rows_add_block(rows, c->other, of_other, error);
}

static FloStatus add_normal(FloRows *rows, FloBodyContact *c, FloError *error) {
  FloRowDef def = flo_default_row_def();
  double j[6], other[6];
  def.wanted[0] = c->least - vec_dot(c->velocity, c->normal), def.low = 0;
  flo_rows_point(c->normal, c->arm, 1, j);
  flo_rows_point(c->normal, c->other_arm, -1, other);
  c->row = (uint32_t)rows->n_rows;
  FLO_TRY(flo_rows_add(rows, &def, error));
  return add_blocks(rows, c, j, other, error);
}

static FloStatus add_friction(FloRows *rows, FloBodyContact *c, FloError *error) {
  FloRowDef def = flo_default_row_def();
  double j[18], other[18], sliding[3];
  c->drag_row = FLO_NO_ROW;
  if (!(c->friction > 0)) return FLO_OK;
  vec_add_scaled(c->velocity, c->normal, -vec_dot(c->velocity, c->normal), sliding);
  vec_scale(sliding, -1, def.wanted);
  def.width = 3, def.normal = c->row, def.friction = c->friction;
  flo_rows_slide(c->normal, c->arm, 1, j);
  flo_rows_slide(c->normal, c->other_arm, -1, other);
  c->drag_row = (uint32_t)rows->n_rows;
  FLO_TRY(flo_rows_add(rows, &def, error));
  return add_blocks(rows, c, j, other, error);
}

static void apply_mobility(const void *context, size_t body, const double wrench[6], double out[6]) {
  flo_forcing_apply(((const FloDirectForcing *)context)->partners[body].mobility, wrench, out);
}

// ---- What is kept from step to step ----

// Forces rather than impulses, since steps differ in length.
enum { KEPT_PRESS, KEPT_DRAG };

// Rows start from the forces of the last step. Without this, a heavy body on light ones would need more
// sweeps in every step than there are.
static void recall_rows(const FloWorld *world, FloDirectForcing *forcing) {
  const FloContactPoint *points = flo_contact_points(&world->body_contacts);
  FloRows *rows = &forcing->rows;
  for (size_t k = 0; k < forcing->n_body_contacts; ++k) {
    const FloBodyContact *c = &forcing->body_contacts[k];
    const double *kept = points[k].kept;
    forcing->lambda[rows->rows[c->row].component] = forcing->kick_dt * kept[KEPT_PRESS];
    if (c->drag_row != FLO_NO_ROW)
      vec_scale(kept + KEPT_DRAG, forcing->kick_dt, forcing->lambda + rows->rows[c->drag_row].component);
  }
  flo_rows_project(rows, world->threads, forcing->lambda);
  flo_rows_gather(rows, world->threads, forcing->changes, forcing->lambda, forcing->changes);
}

static void keep_row(const FloDirectForcing *forcing, const FloBodyContact *c, double kept[FLO_N_KEPT]) {
  const FloRow *rows = forcing->rows.rows;
  const double none[3] = {0},
               *drag = c->drag_row == FLO_NO_ROW ? none : forcing->lambda + rows[c->drag_row].component;
  kept[KEPT_PRESS] = forcing->lambda[rows[c->row].component] / forcing->kick_dt;
  vec_scale(drag, 1 / forcing->kick_dt, kept + KEPT_DRAG);
}

// ---- All rows ----

FloStatus flo_forcing_make_rows(FloWorld *world, FloDirectForcing *forcing, FloError *error) {
  FloRows *rows = &forcing->rows;
  FloBuffer *lambda = &forcing->buffers[FLO_FORCING_LAMBDA];
  if (forcing->n_body_contacts == 0) return FLO_OK;
  if (!rows->memory) flo_rows_init(rows, &world->memory);
  flo_rows_clear(rows);
  for (size_t k = 0; k < forcing->n_body_contacts; ++k) {
    FLO_TRY(add_normal(rows, &forcing->body_contacts[k], error));
    FLO_TRY(add_friction(rows, &forcing->body_contacts[k], error));
  }
  FLO_TRY(flo_rows_finish_with(rows, apply_mobility, forcing, world->bodies.count, world->threads, error));
  size_t size = rows->n_components * sizeof(double);
  if (size > lambda->capacity) FLO_TRY(flo_buffer_reserve(&world->memory, lambda, size + size / 2, 0, error));
  memset(lambda->data, 0, size);
  forcing->lambda = lambda->data;
  recall_rows(world, forcing);
  return FLO_OK;
}

void flo_forcing_take_rows(FloWorld *world, FloDirectForcing *forcing) {
  for (size_t k = 0; k < forcing->n_body_contacts; ++k) {
    FloBodyContact *c = &forcing->body_contacts[k];
    const FloRow *rows = forcing->rows.rows;
    double press = forcing->lambda[rows[c->row].component];
    c->is_pressed = press > 0;
    keep_row(forcing, c, flo_contact_points(&world->body_contacts)[k].kept);
    vec_scale(c->normal, press, c->impulse);
    if (c->drag_row != FLO_NO_ROW)
      vec_add(c->impulse, forcing->lambda + rows[c->drag_row].component, c->impulse);
    vec_copy(c->impulse, flo_contact_points(&world->body_contacts)[k].push);
  }
}
