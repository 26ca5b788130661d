// The point of contact of one sample with another body.
//
// A sample of a face looks for the nearest point of the other body, its foot. A sample next to an edge or a
// corner of its own body looks from there. What counts is what the other body has at the foot:
//
// - A flat or smooth place. The normal is that of the other body.
// - An edge or a corner, under a face of the own body. The normal is that of the face.
// - An edge that crosses the own edge. The normal is perpendicular to both edges.
// - Two edges side by side, or two corners. There is a contact only if each body is behind the other, seen
//   along the line between them. Otherwise the bodies slide past each other, like a box over the seam of two
//   flush floors: the nearest corner of the next floor is ahead of the box, not in its way.
#include "state/state.h"

// A sample that is as deep as this in another body, in spacings, shows that the bodies overlap deeply.
#define DEEP 0.25
// The gap at an edge and the gap of its face, continued to the edge, may differ by this, in spacings. If they
// differ more, the other body ends before the edge.
#define SAME_GAP 0.1
// Gaps that differ by this, in spacings, show that the other body is curved.
#define FLAT_GAP 0.001
// Surfaces touch within this distance of a sample, in spacings, or another sample is nearer.
#define CELL 0.75
// Normals are compared at this distance beside the foot, half as deep below the surface, in spacings. There
// the nearest face of an edge is not the one that the edge hides.
#define PROBE 0.2
// Cosine of the angle between normals that are the same.
#define EXACT 0.9999
// Where edges cross, normals are compared this far beside the own edge, in spacings.
#define BESIDE 0.25
// Cosine of the largest angle between the normals of one smooth face.
#define SAME_FACE 0.9
// A body is behind the point of contact if it is this deep, in spacings, a tenth of a spacing farther on.
#define BEHIND       0.1
#define DEPTH_BEHIND 0.015

// Where the surfaces of two bodies are, seen from a place in the first.
typedef struct Meeting {
  double x[3];
  double distance;  // to the second
  double depth;     // below the surface of the first
  double normal[3]; // out of the second
} Meeting;

double flo_world_sharp_surface(const FloWorld *world, const FloBody *body, const double x[3],
                               double normal[3]) {
  if (body->kind->distance == flo_posed_distance)
    return flo_posed_sharp_surface(body, &world->domain, x, normal);
  flo_world_normal(world, body, x, normal);
  return flo_world_distance(world, body, x);
}

static double distance_to(const FloWorld *world, const FloBody *body, const double x[3]) {
  double normal[3];
  return flo_world_sharp_surface(world, body, x, normal);
}

static bool meet_at(const FloWorld *world, const FloSeeker *seeker, const double x[3], Meeting *meeting) {
  vec_copy(x, meeting->x);
  meeting->distance = flo_world_sharp_surface(world, seeker->other, x, meeting->normal);
  meeting->depth = fmax(-distance_to(world, seeker->own, x), 0);
  return vec_dot(meeting->normal, meeting->normal) > 0.5;
}

static void find_foot(const Meeting *meeting, double foot[3]) {
  vec_add_scaled(meeting->x, meeting->normal, -meeting->distance, foot);
}

// ---- What is at the foot ----

// Whether the normals of a body differ on both sides of a place.
static bool differs_along(const FloWorld *world, const FloBody *body, const double place[3],
                          const double way[3]) {
  double a[3], b[3], of_a[3], of_b[3], length = PROBE * world->def.spacing / vec_length(way);
  vec_add_scaled(place, way, length, a);
  vec_add_scaled(place, way, -length, b);
  flo_world_sharp_surface(world, body, a, of_a);
  flo_world_sharp_surface(world, body, b, of_b);
  return vec_dot(of_a, of_b) < SAME_FACE;
}

// Whether a body has an edge or a corner at the foot. Outside, normals vary about an edge as about a round
// place; so they are compared below the surface.
static bool is_sharp(const FloWorld *world, const FloBody *body, const double foot[3],
                     const double normal[3]) {
  int least = 0;
  double place[3], axis[3] = {0}, along[3], across[3];
  vec_add_scaled(foot, normal, -PROBE / 2 * world->def.spacing, place);
  for (int k = 1; k < 3; ++k)
    if (fabs(normal[k]) < fabs(normal[least])) least = k;
  axis[world->def.dim == 3 ? least : 2] = 1;
  vec_cross(normal, axis, along);
  if (differs_along(world, body, place, along)) return true;
  vec_cross(normal, along, across);
  return world->def.dim == 3 && differs_along(world, body, place, across);
}

// Whether a body is behind a place at its surface, in this direction.
static bool is_behind(const FloWorld *world, const FloBody *body, const double place[3], const double way[3],
                      double depth) {
  const double s = world->def.spacing;
  double there[3];
  vec_add_scaled(place, way, BEHIND * s, there);
  return distance_to(world, body, there) < -depth * s;
}

// Whether each body is behind the point, seen from the other one along the normal.
static bool are_opposed(const FloWorld *world, const FloSeeker *seeker, const FloContactPoint *point) {
  double foot[3], back[3];
  vec_add_scaled(point->x, point->normal, -point->gap, foot);
  vec_scale(point->normal, -1, back);
  return is_behind(world, seeker->own, point->x, point->normal, DEPTH_BEHIND) &&
         is_behind(world, seeker->other, foot, back, DEPTH_BEHIND);
}

// ---- Samples of faces ----

// Goes to the place where smooth surfaces touch, if that is near. The first step is short, so that it does
// not pass over the end of a rounded edge.
static bool go_to_touch(const FloWorld *world, const FloSeeker *seeker, Meeting *meeting) {
  enum { ROUNDS = 4 };
  const double s = world->def.spacing;
  double x[3], way[3], all[3] = {0}, step = s / 8;
  Meeting there;
  vec_copy(meeting->x, x);
  for (int k = 0; k < ROUNDS && flo_world_way_to_touch(world, seeker->own, seeker->other, x, step, way);
       ++k) {
    vec_add(x, way, x);
    vec_add(all, way, all);
    step = fmin(step, fmax(vec_length(way) / 2, 1e-4 * s));
  }
  double length = vec_length(all);
  if (length == 0 || length > CELL * s || !meet_at(world, seeker, x, &there)) return false;
  *meeting = there;
  return true;
}

// An edge or a corner of the other body under a face: the normal is that of the face. `flat`: cosine of the
// largest angle between normals of the face.
static bool is_under_face(const FloWorld *world, const FloSeeker *seeker, const Meeting *meeting, double flat,
                          FloContactPoint *point) {
  double of_own[3], of_foot[3], foot[3];
  find_foot(meeting, foot);
  flo_world_sharp_surface(world, seeker->own, meeting->x, of_own);
  double gap = flo_world_sharp_surface(world, seeker->own, foot, of_foot);
  bool is_faced = vec_dot(of_own, meeting->normal) < -EXACT && vec_dot(of_foot, meeting->normal) < -EXACT;
  if (is_faced || vec_dot(of_foot, of_own) < flat || !is_sharp(world, seeker->other, foot, meeting->normal))
    return false;
  vec_copy(foot, point->x);
  vec_scale(of_foot, -1, point->normal);
  point->gap = gap;
  return true;
}

static void take_nearest(const Meeting *meeting, FloContactPoint *point) {
  vec_copy(meeting->normal, point->normal);
  vec_add_scaled(meeting->x, meeting->normal, -meeting->depth, point->x);
  point->gap = meeting->distance - meeting->depth;
}

static bool seek_for_face(const FloWorld *world, const FloSeeker *seeker, Meeting *meeting,
                          FloContactPoint *point) {
  point->is_deep = meeting->distance < -DEEP * world->def.spacing;
  if (!point->is_deep && is_under_face(world, seeker, meeting, EXACT, point)) return true;
  point->is_rolling = go_to_touch(world, seeker, meeting);
  point->is_deep = meeting->distance < -DEEP * world->def.spacing;
  if (!point->is_rolling && !point->is_deep && is_under_face(world, seeker, meeting, SAME_FACE, point))
    return true;
  take_nearest(meeting, point);
  return true;
}

// ---- Samples of edges and corners ----

// The edge or corner is the point, with the normal of the other body there. Beside an edge or a corner of the
// other body there is no contact yet: a small step aside decides on which side the bodies pass.
static bool take_tip(const FloWorld *world, const FloSeeker *seeker, FloContactPoint *point) {
  Meeting meeting;
  double foot[3], back[3];
  vec_add(seeker->x, seeker->tip, point->x);
  if (!meet_at(world, seeker, point->x, &meeting)) return false;
  vec_copy(meeting.normal, point->normal);
  point->gap = meeting.distance;
  find_foot(&meeting, foot);
  vec_scale(meeting.normal, -1, back);
  return !is_sharp(world, seeker->other, foot, meeting.normal) ||
         (point->gap <= 0 && is_behind(world, seeker->other, foot, back, DEPTH_BEHIND));
}

// A smooth place of the other body. If that is flat, the normal seen from the sample is used: the other body
// may end at this very edge.
static bool meet_smooth(const FloWorld *world, const FloSeeker *seeker, const Meeting *meeting,
                        FloContactPoint *point) {
  const double s = world->def.spacing, reach = -vec_dot(seeker->tip, meeting->normal);
  double tip[3];
  if (!(reach > 0.5 * meeting->depth)) return false;
  vec_add(seeker->x, seeker->tip, tip);
  double gap = distance_to(world, seeker->other, tip), change = fabs(gap - meeting->distance + reach);
  if (change > SAME_GAP * s) return false;
  if (change > FLAT_GAP * s && take_tip(world, seeker, point)) return true;
  vec_copy(tip, point->x);
  vec_copy(meeting->normal, point->normal);
  point->gap = gap;
  return true;
}

// Walks along the own edge to the place where the other body is nearest. False if there is none, as between
// parallel edges, or if another sample is nearer to it.
static bool walk_along_edge(const FloWorld *world, const FloSeeker *seeker, Meeting *meeting) {
  enum { ROUNDS = 6 };
  const double s = world->def.spacing, least_curvature = 0.1 / s;
  double slope = vec_dot(meeting->normal, seeker->edge), place = 0, step = slope > 0 ? -s / 8 : s / 8;
  for (int k = 0; k < ROUNDS; ++k) {
    double x[3], before = slope;
    vec_add_scaled(meeting->x, seeker->edge, step, x);
    if (!meet_at(world, seeker, x, meeting)) return false;
    slope = vec_dot(meeting->normal, seeker->edge);
    place += step;
    double curvature = (slope - before) / step;
    if (!(curvature > least_curvature)) return false;
    step = -slope / curvature;
    if (fabs(place + step) > CELL * s) return false;
    if (fabs(slope) < 1e-3) return true;
  }
  return false;
}

// Walks along a line straight above the own edge, or beside it. True if the normal is still the same.
static bool walk_beside(const FloWorld *world, const FloSeeker *seeker, const Meeting *start, double sideways,
                        Meeting *meeting) {
  double x[3], across[3], reach = -vec_dot(seeker->tip, start->normal);
  vec_cross(start->normal, seeker->edge, across);
  vec_add(start->x, seeker->tip, x);
  vec_add_scaled(x, start->normal, reach, x);
  vec_add_scaled(x, across, sideways * world->def.spacing, x);
  return meet_at(world, seeker, x, meeting) && walk_along_edge(world, seeker, meeting) &&
         vec_dot(meeting->normal, start->normal) > EXACT;
}

// An edge that crosses the own one. The normal is the same wherever the walk begins; about a corner it is
// not.
static bool cross_edges(const FloWorld *world, const FloSeeker *seeker, const Meeting *start,
                        FloContactPoint *point) {
  Meeting first = *start, beside, above;
  if (vec_dot(seeker->edge, seeker->edge) < 0.5 || !walk_along_edge(world, seeker, &first)) return false;
  double reach = -vec_dot(seeker->tip, first.normal);
  if (!(reach > 0)) return false;
  if (!walk_beside(world, seeker, &first, BESIDE, &beside) ||
      !walk_beside(world, seeker, &first, -BESIDE, &beside) || !walk_beside(world, seeker, &first, 0, &above))
    return false;
  vec_copy(above.normal, point->normal);
  vec_add_scaled(above.x, above.normal, -reach, point->x);
  point->gap = above.distance - reach;
  return are_opposed(world, seeker, point);
}

static bool seek_for_edge(const FloWorld *world, const FloSeeker *seeker, const Meeting *meeting,
                          FloContactPoint *point) {
  double foot[3];
  point->is_deep = meeting->distance < -DEEP * world->def.spacing;
  find_foot(meeting, foot);
  if (!point->is_deep && is_sharp(world, seeker->other, foot, meeting->normal))
    return cross_edges(world, seeker, meeting, point) || take_tip(world, seeker, point);
  if (!point->is_deep && meet_smooth(world, seeker, meeting, point)) return true;
  take_nearest(meeting, point);
  return true;
}

bool flo_world_seek_contact(const FloWorld *world, const FloSeeker *seeker, FloContactPoint *point) {
  Meeting meeting;
  if (!(flo_world_distance(world, seeker->other, seeker->x) < seeker->margin + 1.5 * world->def.spacing))
    return false;
  if (!meet_at(world, seeker, seeker->x, &meeting)) return false;
  bool is_found = seeker->has_tip ? seek_for_edge(world, seeker, &meeting, point)
                                  : seek_for_face(world, seeker, &meeting, point);
  return is_found && point->gap < seeker->margin;
}
