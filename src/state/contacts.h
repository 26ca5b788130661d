// Where bodies touch each other, or nearly do: points on their true surfaces, with normals and gaps from
// signed distances. Methods that solve contacts between bodies share these points.
//
// Kernel sums know surfaces only as far as samples do: they round off edges and give a ball facets. Here each
// sample near another body stands for a point of its own surface: the edge or corner next to it (tips.c), the
// place where smooth surfaces touch, or else the nearest point of a face.
#ifndef FLO_STATE_CONTACTS_H
#define FLO_STATE_CONTACTS_H

#include "base/memory.h"
#include "bodies/soft_body.h"

#define FLO_NO_SAMPLE UINT32_MAX

// How many numbers a method can keep of a contact from one step to the next.
enum { FLO_N_KEPT = 7 };

typedef struct FloContactPoint {
  uint32_t body, other; // forces move `body`
  // A sample of each, near the point; see flo_world_find_sample. FLO_NO_SAMPLE if `body` is soft.
  uint32_t body_sample, other_sample;
  FloSoftHold hold;       // the nodes of a soft `body` that carry the point; of other bodies its count is 0
  FloSoftHold other_hold; // the same of a soft `other`, which may be the same body
  uint64_t key;           // by which it is found again in the next step
  bool is_of_other;       // the point is on the surface of `other`, otherwise on that of `body`
  bool is_rolling;  // smooth surfaces touch here; when they roll, the place stays and the material moves on
  bool is_deep;     // so deep in the other body that it shares one normal with the other deep points
  double x[3];      // at the start of the step [m]
  double normal[3]; // out of `other`
  double gap;       // distance between the surfaces, negative if they overlap [m]
  // A pin holds the point, along all axes, to a place of `other`; it has no normal.
  bool is_glued;
  uint32_t pin;   // number of that pin
  double away[3]; // where the point is, seen from that place [m]
  double bend;    // by which turning opens the gap in the step, besides its velocity [m]
  // What the method knew of this contact at the end of the last step; zeros if it is new. The method puts its
  // new numbers here. The first is zero if the contact does not press.
  double kept[FLO_N_KEPT];
  double push[3]; // impulse on `body` in the last step [N s]
} FloContactPoint;

// Two bodies that overlap deeply. The first leaves along `out`, the second in the opposite direction.
typedef struct FloDeepPair {
  uint32_t first, second;
  double out[3];
  double n_points; // number of points that are deep in the other body
} FloDeepPair;

typedef struct FloContacts {
  FloList points, before;  // FloContactPoint: of this step, and of the last one
  FloList candidates;      // samples and the bodies near them
  FloList deep_pairs;      // pairs of bodies that overlap deeply
  FloBuffer begins, table; // see contacts.c and contact_memory.c
  FloBuffer keys, values, scratch;
  FloBuffer near_faces, near_tips; // see soft_faces.h
  FloBuffer places;                // see keep_apart.c
} FloContacts;

// Finds all points whose gap may close within dt, at the positions of the last neighbour search, in an order
// that does not depend on threads. The step's neighbours must be known.
FloStatus flo_world_find_contacts(FloWorld *world, double dt, FloError *error);
void flo_world_free_contacts(FloWorld *world);
// For a method that has contacts of its own: the present points become those of the last step, and there is
// room for n new ones, which it fills.
FloStatus flo_world_start_contacts(FloWorld *world, size_t n, FloError *error);

// A sample that looks for its point of contact with another body; all vectors in the frame of the world.
typedef struct FloSeeker {
  const FloBody *own, *other;
  double x[3];   // of the sample
  bool has_tip;  // it stands for an edge or a corner of its body, see tips.c
  double tip[3]; // from it to that edge or corner
  // Direction of the edge; zero: a corner, or the world is flat.
  double edge[3];
  double margin; // largest gap of a contact [m]
} FloSeeker;

// Finds where the two bodies touch near the sample (contact_point.c). False: nowhere within the margin, or
// other samples stand for that place.
bool flo_world_seek_contact(const FloWorld *world, const FloSeeker *seeker, FloContactPoint *point);

// Adds the points at which soft bodies touch bodies that keep their shape (soft_contacts.c).
FloStatus flo_world_add_soft_contacts(FloWorld *world, double dt, FloError *error);
// Of one of them and another body: points between its nodes (soft_faces.c). `margin`: largest gap of a
// contact [m].
FloStatus flo_world_add_soft_faces(FloWorld *world, uint32_t body, uint32_t other, double dt, double margin,
                                   FloError *error);
// Notes where the points of soft bodies are; when bodies have moved, puts those back that have entered
// another body (keep_apart.c).
FloStatus flo_world_note_places(FloWorld *world, FloError *error);
size_t flo_world_keep_apart(FloWorld *world, double dt);
// Adds the force of a contact on the wall `other` to `forces` on wall samples, four numbers each. A contact
// of a soft body names no sample of the wall; the body as a whole then takes the force.
void flo_contact_push_wall(const FloWorld *world, const FloContactPoint *point, const double push[3],
                           float *forces);

// For finding points. Room for n points, of which the first `keep` stay as they are.
FloStatus flo_world_reserve_contacts(FloWorld *world, size_t n, size_t keep, FloError *error);
// Upper bound of the distance that any point of a body that keeps its shape moves in a step.
double flo_world_way_of(const FloWorld *world, const FloBody *body, double dt);
// How far the gap opens within a step because a point turns on a circle about the centre of the body of this
// number, not on a straight line. Without this an edge that rolls over a floor would be braked.
double flo_contact_bend(const FloWorld *world, const FloContactPoint *point, uint32_t number, double dt);
// Signed distance and normal of a body, also at sharp edges (contact_point.c).
double flo_world_sharp_surface(const FloWorld *world, const FloBody *body, const double x[3],
                               double normal[3]);

uint64_t flo_contact_key(const FloWorld *world, const FloContactPoint *point);
// Copies what was kept of the last step's contacts to the present ones (contact_memory.c).
FloStatus flo_world_recall_contacts(FloWorld *world, FloError *error);

// Bodies that overlap deeply (deep_pairs.c). First add all points that are deep in another body, with the
// nearest way out of it; then choose one way for each pair.
FloStatus flo_world_add_deep_point(FloWorld *world, uint32_t own, uint32_t other, const double out[3],
                                   FloError *error);
void flo_world_choose_ways_out(FloWorld *world);
// The direction in which `own` leaves; false: the bodies do not overlap deeply, or have no way out.
bool flo_world_way_out(const FloWorld *world, uint32_t own, uint32_t other, double out[3]);

static inline FloContactPoint *flo_contact_points(const FloContacts *contacts) {
  return FLO_LIST(contacts->points, FloContactPoint);
}

#endif
