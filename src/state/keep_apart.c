// Keeps soft bodies on their side of bodies that keep their shape, when both have moved.
//
// Contacts prevent overlaps as far as their solution goes. In a violent step that may fail, and a node that
// is past the middle of a thin plate would be pushed out on its other side. So after a step the way of every
// point of contact is checked, as the other body sees it. A point that has entered that body, or has passed
// through it, is put back to the side where it was. The bodies lose their approach there, as in a collision
// without rebound. So momentum is conserved and no kinetic energy is produced.
#include "base/pose.h"
#include "state/state.h"

// A point may end this deep in another body, in spacings: contacts push it out in the next steps.
#define DEEPEST 0.1
// Places at which a way is checked are at most this far apart, in spacings.
#define STRIDE 0.25

// Where a point was at the start of the step, and its normal, in the frame of the other body.
typedef struct Place {
  double x[3], normal[3];
} Place;

typedef struct Meeting {
  FloWorld *world;
  FloBody *body, *other;
  const FloContactPoint *point;
  const Place *start;
  double end[3];                // where it is, in the same frame
  double x[3], v[3], normal[3]; // at the end of the step, in the world
} Meeting;

// Tips have normals of their own, and pins hold by themselves. Soft bodies that meet each other are kept from
// crossing in another way (crossings.c).
static bool is_watched(const FloContactPoint *point) {
  return point->hold.count > 0 && !point->is_of_other && !point->is_glued && point->other_hold.count == 0;
}

FloStatus flo_world_note_places(FloWorld *world, FloError *error) {
  FloContacts *contacts = &world->body_contacts;
  const size_t n = contacts->points.count;
  FLO_TRY(flo_buffer_reserve(&world->memory, &contacts->places, (n + n / 2) * sizeof(Place) + 1, 0, error));
  for (size_t k = 0; k < n; ++k) {
    const FloContactPoint *point = &flo_contact_points(contacts)[k];
    const FloPose *pose = &flo_bodies(world)[point->other].state.pose;
    Place *place = (Place *)contacts->places.data + k;
    double image[3];
    if (!is_watched(point)) continue;
    flo_world_nearest_image(world, pose->position, point->x, image);
    pose_to_local(pose, image, place->x);
    quat_rotate_back(pose->rotation, point->normal, place->normal);
  }
  return FLO_OK;
}

// ---- Where the point is at the end ----

// Led bodies have not moved yet.
static FloPose pose_at_end(const FloBody *body, double dt) {
  FloPose pose = body->state.pose;
  if (!flo_body_is_led(body)) return pose;
  vec_add_scaled(pose.position, body->lead.velocity, dt, pose.position);
  if (body->lead.per_dt > 0) quat_multiply(body->lead.turn, body->state.pose.rotation, pose.rotation);
  return pose;
}

static void find_end(Meeting *meeting, double dt) {
  const FloSoftBody *own = flo_soft_body(meeting->body);
  const FloSoftHold *hold = &meeting->point->hold;
  const FloPose pose = pose_at_end(meeting->other, dt);
  double x[3] = {0};
  vec_set(meeting->v, 0, 0, 0);
  for (int k = 0; k < hold->count; ++k) {
    vec_add_scaled(x, own->x + 3 * hold->nodes[k], hold->shares[k], x);
    vec_add_scaled(meeting->v, own->v + 3 * hold->nodes[k], hold->shares[k], meeting->v);
  }
  flo_world_nearest_image(meeting->world, pose.position, x, meeting->x);
  pose_to_local(&pose, meeting->x, meeting->end);
  quat_rotate(pose.rotation, meeting->start->normal, meeting->normal);
}

// Distance of the other body from a place on the way; share: 0 at its start, 1 at its end.
static double distance_at(const Meeting *meeting, double share) {
  double way[3], x[3];
  vec_sub(meeting->end, meeting->start->x, way);
  vec_add_scaled(meeting->start->x, way, share, x);
  pose_to_world(&meeting->other->state.pose, x, x);
  return flo_world_distance(meeting->world, meeting->other, x);
}

static bool has_entered(const Meeting *meeting) {
  const double s = meeting->world->def.spacing, thick = flo_soft_body(meeting->body)->half_thickness;
  double way[3];
  vec_sub(meeting->end, meeting->start->x, way);
  const int n = (int)ceil(vec_length(way) / (STRIDE * s)) + 1;
  const double least = fmin(distance_at(meeting, 0), thick) - DEEPEST * s;
  for (int k = 1; k <= n; ++k)
    if (distance_at(meeting, (double)k / n) < least) return true;
  return false;
}

// How far it is behind the tangent plane of the place where it was [m].
static double lack_of(const Meeting *meeting) {
  double way[3];
  vec_sub(meeting->end, meeting->start->x, way);
  return -(meeting->point->gap + vec_dot(way, meeting->start->normal));
}

// ---- Putting back ----

// The point of a body that keeps its shape.
static FloGrip grip_other(const Meeting *meeting) {
  FloGrip grip = {.body = meeting->other, .count = 1, .parts = {{.node = meeting->other->nodes, .share = 1}}};
  vec_sub(meeting->x, meeting->other->nodes->position, grip.parts[0].arm);
  return grip;
}

static FloGrip grip_own(const Meeting *meeting) {
  const FloSoftHold *hold = &meeting->point->hold;
  FloGrip grip = {.body = meeting->body, .count = hold->count};
  for (int k = 0; k < hold->count; ++k)
    grip.parts[k] = (FloGripPart){
        .node = &meeting->body->nodes[hold->nodes[k]], .number = hold->nodes[k], .share = hold->shares[k]};
  return grip;
}

static void velocity_of_other(const Meeting *meeting, double v[3]) {
  double arm[3];
  vec_sub(meeting->x, meeting->other->state.pose.position, arm);
  vec_cross(meeting->other->state.angular_velocity, arm, v);
  vec_add(v, meeting->other->state.velocity, v);
}

static void take_approach(const Meeting *meeting, const FloGrip *own) {
  double v[3], impulse[3], response = flo_grip_response(own, meeting->normal);
  const bool is_pushed = flo_body_is_pushed(meeting->other);
  velocity_of_other(meeting, v);
  vec_sub(meeting->v, v, v);
  const double approach = -vec_dot(v, meeting->normal);
  if (!(approach > 0)) return;
  const FloGrip other = is_pushed ? grip_other(meeting) : (FloGrip){0};
  if (is_pushed) response += flo_grip_response(&other, meeting->normal);
  vec_scale(meeting->normal, approach / response, impulse);
  flo_soft_body_strike(own, impulse);
  vec_scale(impulse, -1, impulse);
  if (is_pushed) flo_grip_push(&other, impulse);
}

// Nodes that are pinned stay where they are.
static bool put_back(const Meeting *meeting, double lack) {
  const FloGrip own = grip_own(meeting);
  double sum = 0, way[3];
  for (int k = 0; k < own.count; ++k)
    if (own.parts[k].node->inverse_mass[0] > 0) sum += own.parts[k].share * own.parts[k].share;
  if (!(sum > 0)) return false;
  for (int k = 0; k < own.count; ++k) {
    vec_scale(meeting->normal, lack * own.parts[k].share / sum, way);
    if (own.parts[k].node->inverse_mass[0] > 0) flo_soft_body_shift(meeting->body, own.parts[k].number, way);
  }
  take_approach(meeting, &own);
  return true;
}

static bool check_point(FloWorld *world, size_t k, double dt) {
  const FloContactPoint *point = &flo_contact_points(&world->body_contacts)[k];
  if (!is_watched(point)) return false;
  Meeting meeting = {.world = world,
                     .body = &flo_bodies(world)[point->body],
                     .other = &flo_bodies(world)[point->other],
                     .point = point,
                     .start = (const Place *)world->body_contacts.places.data + k};
  find_end(&meeting, dt);
  const double lack = lack_of(&meeting);
  return lack > DEEPEST * world->def.spacing && has_entered(&meeting) && put_back(&meeting, lack);
}

size_t flo_world_keep_apart(FloWorld *world, double dt) {
  size_t n = 0;
  for (size_t k = 0; world->method->touches_soft && k < world->body_contacts.points.count; ++k)
    n += check_point(world, k, dt);
  for (size_t k = 0; n > 0 && k < world->bodies.count; ++k) {
    FloBody *body = &flo_bodies(world)[k];
    if (!flo_body_is_pushed(body)) continue;
    if (flo_body_is_soft(body)) flo_soft_body_correct(body);
    flo_world_place_samples(world, body);
  }
  return n;
}
