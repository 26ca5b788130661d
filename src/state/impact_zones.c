// The last resort against crossings: nodes that would cross move as one group, a zone. It keeps the momentum
// and angular momentum of its nodes (Provot 1997: Collision and Self-Collision Handling in Cloth Model
// Dedicated to Design Garments).
//
// Each node of a zone goes the straight way v + w x r, with r from the zone's centre at the start. At each
// time the positions are 1 + t [w x] times those at the start, moved along. The determinant of this matrix is
// 1 + t^2 w^2, so it is never singular, and features that did not touch at the start never do. Zones that
// meet are joined, so this ends at the latest when all nodes are one zone.
#include "solve/dense.h"
#include "state/crossings.h"
#include "state/state.h"

#include <string.h>

// Sums over the nodes of a zone. A zone with nodes that nothing can push follows these alone.
typedef struct Zone {
  double mass, centre[3], way[3];
  double spin[3], inertia[9];
  size_t count;
  bool has_fixed;
} Zone;

typedef struct Zones {
  FloWorld *world;
  uint32_t *parents; // sets of nodes; see flo_mesh_find_set
  Zone *all;         // by the number of a set
  const double *from;
  double *to;
} Zones;

static bool is_fixed(const FloNode *node) {
  return node->inverse_mass[0] == 0 && node->inverse_mass[1] == 0 && node->inverse_mass[2] == 0;
}

// What a node weighs in the sums of its zone.
static double weight_of(const Zones *zones, size_t k) {
  const FloNode *node = flo_node_at(zones->world, k);
  if (is_fixed(node)) return 1;
  return zones->all[zones->parents[k]].has_fixed ? 0 : node->mass;
}

// ---- Which nodes move together ----

static void join_crossings(Zones *zones) {
  const FloMeetings *meetings = &zones->world->meetings;
  for (size_t k = 0; k < meetings->hits.count; ++k) {
    const FloMeeting *meeting = &flo_crossings(meetings)[k].meeting;
    const uint32_t first = (uint32_t)flo_meeting_node(zones->world, meeting, 0);
    for (int corner = 1; corner < meeting->n_own + meeting->n_other; ++corner)
      flo_mesh_join_sets(zones->parents, first, (uint32_t)flo_meeting_node(zones->world, meeting, corner));
  }
  for (uint32_t k = 0; k < zones->world->nodes.count; ++k)
    zones->parents[k] = flo_mesh_find_set(zones->parents, k);
}

static void count_nodes(Zones *zones) {
  const size_t n = zones->world->nodes.count;
  memset(zones->all, 0, n * sizeof *zones->all);
  for (size_t k = 0; k < n; ++k) {
    Zone *zone = &zones->all[zones->parents[k]];
    zone->count++;
    zone->has_fixed = zone->has_fixed || is_fixed(flo_node_at(zones->world, k));
  }
}

// ---- How they move ----

static void sum_centres(Zones *zones) {
  const size_t n = zones->world->nodes.count;
  for (size_t k = 0; k < n; ++k) {
    Zone *zone = &zones->all[zones->parents[k]];
    const double weight = weight_of(zones, k);
    double way[3];
    vec_sub(zones->to + 3 * k, zones->from + 3 * k, way);
    zone->mass += weight;
    vec_add_scaled(zone->centre, zones->from + 3 * k, weight, zone->centre);
    vec_add_scaled(zone->way, way, weight, zone->way);
  }
  for (size_t k = 0; k < n; ++k) {
    Zone *zone = &zones->all[k];
    if (zone->count == 0) continue;
    vec_scale(zone->centre, 1 / zone->mass, zone->centre);
    vec_scale(zone->way, 1 / zone->mass, zone->way);
  }
}

// The way of a node about the centre of its zone turns the zone.
static void sum_spins(Zones *zones) {
  for (size_t k = 0; k < zones->world->nodes.count; ++k) {
    Zone *zone = &zones->all[zones->parents[k]];
    const double weight = weight_of(zones, k);
    double arm[3], way[3], turn[3];
    vec_sub(zones->from + 3 * k, zone->centre, arm);
    vec_sub(zones->to + 3 * k, zones->from + 3 * k, way);
    vec_sub(way, zone->way, way);
    vec_cross(arm, way, turn);
    vec_add_scaled(zone->spin, turn, weight, zone->spin);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        zone->inertia[3 * i + j] += weight * ((i == j ? vec_dot(arm, arm) : 0) - arm[i] * arm[j]);
  }
}

// From the angular momentum to the angle of turning.
static void turn_zone(Zone *zone) {
  double factors[9];
  if (flo_dense_factorise_semidefinite(3, zone->inertia, factors))
    flo_dense_solve(3, factors, zone->spin, zone->spin);
  else
    vec_set(zone->spin, 0, 0, 0);
}

static void move_nodes(Zones *zones) {
  for (size_t k = 0; k < zones->world->nodes.count; ++k) {
    const Zone *zone = &zones->all[zones->parents[k]];
    double arm[3], turn[3];
    if (zone->count < 2) continue;
    vec_sub(zones->from + 3 * k, zone->centre, arm);
    vec_cross(zone->spin, arm, turn);
    vec_add(zone->way, turn, turn);
    vec_add(zones->from + 3 * k, turn, zones->to + 3 * k);
  }
}

static void move_zones(Zones *zones) {
  count_nodes(zones);
  sum_centres(zones);
  sum_spins(zones);
  for (size_t k = 0; k < zones->world->nodes.count; ++k)
    if (zones->all[k].count > 1) turn_zone(&zones->all[k]);
  move_nodes(zones);
}

// ---- Until nothing crosses ----

static FloStatus start_zones(FloWorld *world, Zones *zones, FloError *error) {
  FloMeetings *meetings = &world->meetings;
  const size_t n = world->nodes.count;
  FLO_TRY(flo_buffer_reserve(&world->memory, &meetings->zones, n * sizeof(uint32_t) + 1, 0, error));
  FLO_TRY(flo_buffer_reserve(&world->memory, &meetings->sums, n * sizeof(Zone) + 1, 0, error));
  *zones = (Zones){.world = world,
                   .parents = meetings->zones.data,
                   .all = meetings->sums.data,
                   .from = meetings->from.data,
                   .to = meetings->to.data};
  for (uint32_t k = 0; k < n; ++k) zones->parents[k] = k;
  return FLO_OK;
}

// Pins that lead to different places cannot move as one: some of them are off until the next step.
static bool is_off(const Zones *zones, size_t k) {
  const FloNode *node = flo_node_at(zones->world, k);
  double off[3];
  vec_sub(zones->to + 3 * k, node->position, off);
  return is_fixed(node) && vec_length(off) > 1e-6 * zones->world->def.spacing;
}

static void tell_pins(const Zones *zones) {
  FloWorld *world = zones->world;
  for (size_t k = 0; k < world->nodes.count && !world->meetings.has_told; ++k) {
    if (!is_off(zones, k)) continue;
    world->meetings.has_told = true;
    flo_world_log(world, FLO_LOG_WARNING,
                  "at %g s pins of '%s' lead its vertices through a soft body, so they were held back; move "
                  "the pins on another way",
                  world->time, flo_node_body(world, k)->name);
  }
}

FloStatus flo_world_move_zones(FloWorld *world, FloError *error) {
  FloMeetings *meetings = &world->meetings;
  Zones zones;
  if (meetings->hits.count == 0) return FLO_OK;
  FLO_TRY(start_zones(world, &zones, error));
  while (meetings->hits.count > 0) {
    FLO_TRY(flo_world_note_crossings(world, error));
    join_crossings(&zones);
    move_zones(&zones);
    FLO_TRY(flo_world_find_crossings(world, zones.parents, error));
  }
  for (size_t k = 0; k < world->nodes.count; ++k) meetings->n_zones += zones.all[k].count > 1;
  tell_pins(&zones);
  return FLO_OK;
}
