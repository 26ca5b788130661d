// Contacts between bodies: a row for each point at which they touch (state/contacts.h).
//
// In the paper a contact is a kernel sum over the samples of other bodies (kernel_contacts.c). Here its
// volume error is the gap between the surfaces in spacings, and a pressure p pushes with p V/s along the
// normal, so that both kinds of contacts have the same unknowns and the same units.
#include "base/parallel.h"
#include "coupling/monolithic/monolithic.h"

#include "coupling/forces/pins.h"

// ---- For both kinds of contacts ----

double flo_monolithic_gap(const FloWorld *world, const FloMonolithic *mono, double error, double steepness) {
  if (error >= 0) return error;
  double speed = world->params[FLO_MONO_SEPARATION];
  if (speed == 0)
    speed = flo_body_parting_speed(world->def.gravity, world->def.spacing,
                                   steepness > 0 ? -error / steepness : INFINITY);
  return -fmin(-FLO_OVERLAP_RATE * error, mono->dt * steepness * speed);
}

FloStatus flo_monolithic_give_touches(FloWorld *world, FloMonolithic *mono, FloError *error) {
  size_t before = mono->n_touches;
  for (size_t k = 0; k < mono->n_contacts; ++k) {
    mono->contacts[k].first = (uint32_t)mono->n_touches;
    mono->n_touches += mono->contacts[k].count;
  }
  FLO_TRY(flo_monolithic_reserve(world, mono, FLO_BUFFER_TOUCHES, mono->n_touches * sizeof(FloTouch),
                                 before * sizeof(FloTouch), error));
  mono->touches = mono->buffers[FLO_BUFFER_TOUCHES].data;
  return FLO_OK;
}

static void find_anchor(const FloWorld *world, const FloMonolithic *mono, const FloContactPoint *point,
                        FloContact *contact) {
  const double *anchor = point->is_glued ? point->away : point->kept + FLO_KEPT_ANCHOR;
  double drift[3];
  vec_scale(anchor, FLO_ANCHOR_RATE / mono->dt, drift);
  if (point->is_glued) flo_pin_drift(world, point, mono->dt, drift);
  for (int axis = 0; axis < 3; ++axis)
    contact->anchor[axis] = (float)anchor[axis], contact->bias[axis] = (float)drift[axis];
}

// ---- Points ----

// Number of a sample in the rigid set.
static size_t rigid_index(const FloWorld *world, uint32_t sample) {
  return sample - world->sets[FLO_SET_BOUNDARY].count;
}

static void fill_touches(const FloCarried *carriers, const double push[3], double sign, uint32_t row,
                         FloTouch *touches) {
  for (int k = 0; k < carriers->count; ++k) {
    FloTouch *t = &touches[k];
    const double share = sign * carriers->shares[k];
    double force[3];
    *t = (FloTouch){.row = row, .node = carriers->nodes[k], .weight = (float)share};
    vec_scale(push, share, force);
    flo_touch_add_wrench(t->j, force, carriers->arms[k]);
    for (int axis = 0; axis < 3; ++axis) t->arm[axis] = (float)(share * carriers->arms[k][axis]);
  }
}

// The motion of a wall at the point.
static void meet_wall(const FloWorld *world, const FloContactPoint *point, const FloCarried *own,
                      FloContact *contact) {
  const FloBody *wall = &flo_bodies(world)[point->other];
  double v[3];
  if (!flo_body_is_led(wall)) return;
  flo_wall_velocity(world, wall, point->x, own, v);
  for (int axis = 0; axis < 3; ++axis) {
    contact->wall[axis] = (float)v[axis];
    contact->wall_spin[axis] = (float)wall->state.angular_velocity[axis];
  }
  contact->wall_rate = (float)(-vec_dot(point->normal, v) * (double)contact->steepness);
}

static void rub(const FloWorld *world, const FloContactPoint *point, FloContact *contact) {
  const FloBody *body = &flo_bodies(world)[point->body], *other = &flo_bodies(world)[point->other];
  double push = (double)(contact->volume * contact->steepness);
  if (point->is_deep || point->is_glued) return;
  contact->cone = (float)(push * flo_body_friction(body, other, world->time));
  contact->restitution = (float)flo_body_restitution(body, other);
  if (point->hold.count > 0) return; // a node of a soft body does not roll
  contact->roll_limit = (float)(push * flo_body_rolling_friction(body, other));
}

static void meet_point(const FloWorld *world, const FloMonolithic *mono, size_t k) {
  const FloContactPoint *point = &flo_contact_points(&world->body_contacts)[k];
  FloContact *contact = &mono->contacts[k];
  FloTouch *touches = &mono->touches[contact->first];
  const FloCarried own = flo_contact_own_carried(world, point);
  uint32_t row = (uint32_t)(mono->n_pressures + k);
  double per_spacing = 1 / world->def.spacing, push[3];
  vec_scale(point->normal, (double)contact->volume * per_spacing, push);
  fill_touches(&own, push, 1, row, touches);
  contact->steepness = (float)per_spacing;
  if (flo_body_is_pushed(&flo_bodies(world)[point->other])) {
    const FloCarried other = flo_contact_other_carried(world, point);
    fill_touches(&other, push, -1, row, touches + own.count);
  } else {
    meet_wall(world, point, &own, contact);
  }
  for (int axis = 0; axis < 3; ++axis) contact->normal[axis] = (float)point->normal[axis];
  contact->gap =
      (float)(flo_monolithic_gap(world, mono, (point->gap + point->bend) * per_spacing, per_spacing) +
              mono->dt * (double)contact->wall_rate);
  rub(world, point, contact);
}

typedef struct Meetings {
  const FloWorld *world;
  const FloMonolithic *mono;
} Meetings;

static void meet_range(void *context, size_t begin, size_t end, int thread) {
  (void)thread;
  const Meetings *meetings = context;
  for (size_t k = begin; k < end; ++k) meet_point(meetings->world, meetings->mono, k);
}

static uint32_t count_carriers(const FloWorld *world, const FloContactPoint *point) {
  int count = flo_contact_own_carried(world, point).count;
  if (flo_body_is_pushed(&flo_bodies(world)[point->other]))
    count += flo_contact_other_carried(world, point).count;
  return (uint32_t)count;
}

// A contact of a soft body has the volume of a fluid particle.
static FloContact start_contact(const FloWorld *world, const FloMonolithic *mono,
                                const FloContactPoint *point) {
  FloContact contact = {.sample = FLO_NO_SAMPLE,
                        .body = point->body,
                        .volume = (float)mono->rest_volume,
                        .is_glued = point->is_glued};
  contact.count = count_carriers(world, point);
  if (point->body_sample == FLO_NO_SAMPLE) return contact;
  contact.sample = (uint32_t)rigid_index(world, point->body_sample);
  contact.volume = world->sets[FLO_SET_RIGID].volume[contact.sample];
  return contact;
}

static FloStatus list_contacts(FloWorld *world, FloMonolithic *mono, FloError *error) {
  size_t n = world->body_contacts.points.count;
  FLO_TRY(flo_monolithic_reserve(world, mono, FLO_BUFFER_CONTACTS, n * sizeof(FloContact), 0, error));
  mono->contacts = mono->buffers[FLO_BUFFER_CONTACTS].data;
  for (size_t k = 0; k < n; ++k)
    mono->contacts[k] = start_contact(world, mono, &flo_contact_points(&world->body_contacts)[k]);
  mono->n_contacts = n;
  return FLO_OK;
}

static FloStatus meet_points(FloWorld *world, FloMonolithic *mono, FloError *error) {
  Meetings meetings = {world, mono};
  FLO_TRY(flo_world_find_contacts(world, mono->dt, error));
  FLO_TRY(list_contacts(world, mono, error));
  FLO_TRY(flo_monolithic_give_touches(world, mono, error));
  flo_parallel_for(world->threads, mono->n_contacts, 256, meet_range, &meetings);
  return FLO_OK;
}

// The torque that a touch exerts in single precision, without that against rolling, and its force.
static void read_touch(const FloTouch *t, const FloContact *c, double force[3], double torque[3]) {
  const double friction[3] = {(double)c->friction[0], (double)c->friction[1], (double)c->friction[2]},
               arm[3] = {(double)t->arm[0], (double)t->arm[1], (double)t->arm[2]};
  vec_cross(arm, friction, torque);
  for (int axis = 0; axis < 3; ++axis) {
    force[axis] = (double)c->pressure * (double)t->j[axis] + (double)t->weight * friction[axis];
    torque[axis] += (double)c->pressure * (double)t->j[axis + 3];
  }
}

static void refine_touch(const FloWorld *world, const FloContactPoint *point, const FloContact *c,
                         const FloTouch *t, FloPartner *partner) {
  double x[3], arm[3], force[3], rounded[3], torque[3];
  flo_world_nearest_image(world, partner->node->position, point->x, x);
  vec_sub(x, partner->node->position, arm);
  read_touch(t, c, force, rounded);
  vec_cross(arm, force, torque);
  vec_add(partner->torque, torque, partner->torque);
  vec_sub(partner->torque, rounded, partner->torque);
}

// The shares of several nodes that hold a point are rounded. The first of them takes what is missing, so that
// both bodies feel the same force.
static void refine_shares(const FloWorld *world, const FloContactPoint *point, const FloContact *c,
                          FloMonolithic *mono) {
  double sum[3] = {0}, force[3], torque[3];
  if (point->hold.count < 2 && point->other_hold.count < 2) return;
  if (!flo_body_is_pushed(&flo_bodies(world)[point->other])) return;
  for (uint32_t n = c->first; n < c->first + c->count; ++n) {
    read_touch(&mono->touches[n], c, force, torque);
    vec_add(sum, force, sum);
  }
  FloPartner *first = &mono->partners[mono->touches[c->first].node];
  vec_sub(first->force, sum, first->force);
}

void flo_monolithic_refine_torques(const FloWorld *world, FloMonolithic *mono) {
  if ((int)world->params[FLO_MONO_CONTACTS] == FLO_CONTACTS_KERNEL) return;
  for (size_t k = 0; k < mono->n_contacts; ++k) {
    const FloContact *c = &mono->contacts[k];
    const FloContactPoint *point = &flo_contact_points(&world->body_contacts)[k];
    if (!(c->pressure > 0 || c->is_glued)) continue;
    for (uint32_t n = c->first; n < c->first + c->count; ++n)
      refine_touch(world, point, c, &mono->touches[n], &mono->partners[mono->touches[n].node]);
    refine_shares(world, point, c, mono);
  }
}

// The force of the last step's contact on the nodes of a soft body.
static void expect_contact(const FloWorld *world, FloMonolithic *mono, size_t k) {
  const FloContactPoint *point = &flo_contact_points(&world->body_contacts)[k];
  const FloContact *c = &mono->contacts[k];
  const uint32_t n_soft = (uint32_t)(point->hold.count + point->other_hold.count);
  for (uint32_t n = c->first; n < c->first + n_soft; ++n) {
    const FloTouch *t = &mono->touches[n];
    double *force = mono->partners[t->node].expected;
    for (int axis = 0; axis < 3; ++axis)
      force[axis] += (double)t->j[axis] * point->kept[FLO_KEPT_PRESSURE] +
                     (double)t->weight * point->kept[FLO_KEPT_FRICTION + axis];
  }
}

void flo_monolithic_expect_contacts(const FloWorld *world, FloMonolithic *mono) {
  for (size_t k = 0; k < mono->n_contacts; ++k) expect_contact(world, mono, k);
}

FloStatus flo_monolithic_meet_contacts(FloWorld *world, FloMonolithic *mono, FloError *error) {
  bool by_kernel = (int)world->params[FLO_MONO_CONTACTS] == FLO_CONTACTS_KERNEL;
  FLO_TRY(by_kernel ? flo_monolithic_meet_by_kernel(world, mono, error) : meet_points(world, mono, error));
  for (size_t k = 0; k < mono->n_contacts; ++k)
    find_anchor(world, mono, &flo_contact_points(&world->body_contacts)[k], &mono->contacts[k]);
  return FLO_OK;
}
