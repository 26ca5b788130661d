// Parts of what keeps soft bodies from crossing each other; see crossings.c.
#ifndef FLO_STATE_CROSSINGS_H
#define FLO_STATE_CROSSINGS_H

#include "state/meetings.h"

// Two features that would come too near on their ways.
typedef struct FloCrossing {
  FloMeeting meeting;
  double time;                      // share of the way that they can go
  double thickness;                 // distance at which their surfaces touch [m]
  double weights[FLO_MOST_CORNERS]; // of the nearest points at this time
  double normal[3];                 // from the second feature to the first at this time
} FloCrossing;

static inline FloCrossing *flo_crossings(const FloMeetings *meetings) {
  return FLO_LIST(meetings->hits, FloCrossing);
}

// The number of the node of a meeting's corner among all nodes.
size_t flo_meeting_node(const FloWorld *world, const FloMeeting *meeting, int corner);

// Lists all crossings on the present ways. With `zones`, those within one zone do not count.
FloStatus flo_world_find_crossings(FloWorld *world, const uint32_t *zones, FloError *error);

// Counts the listed crossings, and keeps their pairs.
FloStatus flo_world_note_crossings(FloWorld *world, FloError *error);

// Lets groups of nodes move as one until there are no crossings (impact_zones.c). Those that are listed must
// be the crossings on the present ways.
FloStatus flo_world_move_zones(FloWorld *world, FloError *error);

#endif
