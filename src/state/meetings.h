// Features of the surfaces of soft bodies that are near each other, or may come near while they move: a
// vertex and a face, or two edges. A face is a triangle, in the plane a segment, and edges count in three
// dimensions only. A soft body may meet itself; features that share a node do not count.
#ifndef FLO_STATE_MEETINGS_H
#define FLO_STATE_MEETINGS_H

#include "bodies/soft_body.h"
#include "geometry/apart.h"
#include "geometry/mesh_topology.h"
#include "geometry/moving_tree.h"

// The surface of one soft body.
typedef struct FloSoftFeatures {
  uint32_t body;            // its number
  FloMeshTopology topology; // of its outermost nodes
  FloMovingTree faces, edges;
  FloBuffer is_used; // per node, bool: some face has it
} FloSoftFeatures;

typedef struct FloMeeting {
  uint32_t body, other;             // numbers of bodies, which may be the same
  uint32_t nodes[FLO_MOST_CORNERS]; // numbers in their bodies; those of `body` first
  uint8_t n_own, n_other;
} FloMeeting;

typedef struct FloMeetings {
  FloList features;      // FloSoftFeatures: of each soft body
  size_t n_bodies;       // of the world, when these were made
  FloList found;         // FloMeeting
  FloBuffer from, to;    // positions of all nodes at the start and end of their ways, three numbers each
  FloBuffer begins;      // see meetings.c
  FloList touching;      // see soft_touches.c
  FloList hits;          // see crossings.c
  FloBuffer zones, sums; // see impact_zones.c
  size_t n_stopped;      // crossings that were stopped in the last step; a pair counts in each round
  FloList pairs;         // uint64_t: keys of the pairs that were stopped, each once, in rising order
  size_t n_zones;        // groups that moved as one for that
  bool has_told;         // that pins were off for this was logged
} FloMeetings;

// Finds the features of all soft bodies if there are new ones, and makes room for ways.
FloStatus flo_world_prepare_meetings(FloWorld *world, FloError *error);
void flo_world_free_meetings(FloWorld *world);
// Lists the features that may be within `reach` of each other at some time on their ways: those whose boxes
// are. The order does not depend on threads.
FloStatus flo_world_find_meetings(FloWorld *world, double reach, FloError *error);
// The corners at the start of their ways (0), at their end (1), or as the bodies were made (-1).
typedef enum FloMoment { FLO_AS_MADE = -1, FLO_BEFORE_WAY, FLO_AFTER_WAY } FloMoment;
FloFeaturePair flo_meeting_at(const FloWorld *world, const FloMeeting *meeting, FloMoment moment);
// How far the surface of a soft body is from its outermost nodes, for contacts among soft bodies [m].
double flo_soft_skin(const FloWorld *world, uint32_t body);
// Twice the largest of these: no two surfaces touch at a larger distance.
double flo_world_largest_thickness(const FloWorld *world);
// The distance of two features at which their surfaces touch. Features of one body that were made nearer to
// each other than that touch at half of their first distance. 0: they were made at the same place, and never
// touch [m].
double flo_meeting_thickness(const FloWorld *world, const FloMeeting *meeting);

// Adds the points at which soft bodies touch each other and themselves to the contacts (soft_touches.c).
FloStatus flo_world_add_soft_touches(FloWorld *world, double dt, FloError *error);
// Keeps soft bodies from crossing each other and themselves in a step (crossings.c). `note` before they move,
// `stop` after it.
FloStatus flo_world_note_ways(FloWorld *world, FloError *error);
FloStatus flo_world_stop_crossings(FloWorld *world, double dt, FloError *error);

#endif
