// What the surface of a fluid consists of near a particle: other particles, and samples of wetted solids; and
// how solids are pulled back. Shared by surface_links.c (2D) and surface_facets.c (3D).
#ifndef FLO_COUPLING_FORCES_SURFACE_NEAR_H
#define FLO_COUPLING_FORCES_SURFACE_NEAR_H

#include "coupling/forces/body_rows.h"

enum { FLO_MOST_NEAR = 512 };

// A particle or sample that is near another one.
typedef struct FloNear {
  int32_t fixed[3];
  double aside[3]; // in units of fixed point; see surface_near.c
  FloSet set;
  size_t index;
} FloNear;

// A particle of the fluid, and all fluid and wetted samples that it sees: see REACH in surface_near.c.
typedef struct FloAround {
  const FloWorld *world;
  double scale[3],
      reach2;   // metres per unit of fixed point; square of the distance at which it sees others [m^2]
  double alpha; // radius of the disc or ball that rolls over the fluid [m]
  bool wets_all;
  FloNear self, near[FLO_MOST_NEAR];
  size_t count;
  bool is_crowded; // there were more
} FloAround;

void flo_around_init(FloAround *around, const FloWorld *world);
void flo_around_look(FloAround *around, size_t i, bool has_samples);
// From a to b [m]. The untied offset is between places that are moved aside a little.
void flo_around_offset(const FloAround *around, const FloNear *a, const FloNear *b, double d[3]);
void flo_around_untied_offset(const FloAround *around, const FloNear *a, const FloNear *b, double d[3]);
bool flo_around_is_near(const FloAround *around, const FloNear *a, const FloNear *b);
// The error for a particle with too many neighbours.
FloStatus flo_around_crowded(FloError *error);

// Contact angle of a fluid material at a body [rad]: the body's, or else the fluid's, or else 180 degrees.
double flo_contact_angle(const FloMaterial *fluid, const FloBody *body);
// Whether a fluid or a body has a contact angle.
bool flo_surface_wets(const FloWorld *world);
static inline const FloBody *flo_body_at(const FloWorld *world, FloSet set, size_t sample) {
  return &flo_bodies(world)[world->sets[set].body[sample]];
}

// Pulls of the fluid on solids where its surface ends at them.
typedef struct FloSolidPulls {
  bool has_contacts; // in this step
  float *wall_force; // quadruples per wall sample [N]
  FloBodyRows *bodies;
  FloBuffer buffer;
} FloSolidPulls;

// Clears the pulls on walls. Those on bodies are added to `bodies`, if they are used.
FloStatus flo_solid_pulls_begin(FloSolidPulls *pulls, FloWorld *world, FloBodyRows *bodies, FloError *error);
// The solid at a sample receives the opposite of `pull`, at x.
void flo_solid_pulls_add(FloSolidPulls *pulls, const FloWorld *world, FloSet set, size_t sample,
                         const double x[3], const double pull[3]);
// Adds the forces on walls, for blocks [begin, end) of wall samples.
void flo_solid_pulls_add_walls(const FloSolidPulls *pulls, const FloWorld *world, float *force, size_t begin,
                               size_t end);
void flo_solid_pulls_free(FloSolidPulls *pulls, FloMemory *memory);

#endif
