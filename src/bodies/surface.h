// What the surface of a body does to others: friction with other bodies, restitution, slip of fluid.
#ifndef FLO_BODIES_SURFACE_H
#define FLO_BODIES_SURFACE_H

#include "bodies/body.h"
#include "bodies/material.h"

// Takes over friction, slip, restitution and contact angle of a definition, or else of its material (or
// NULL).
FloStatus flo_body_set_surface(FloBody *body, const FloBodyDef *def, const FloMaterial *material,
                               FloError *error);
// Takes over rolling friction and the changes of friction.
FloStatus flo_body_set_friction(FloBody *body, const FloBodyDef *def, FloMemory *memory, FloError *error);
void flo_body_free_surface(FloBody *body, FloMemory *memory);

// Coefficient of dry friction between two bodies.
double flo_body_friction(const FloBody *a, const FloBody *b, double time);
// Torque against rolling on each other per normal force [m]: the larger value of the two.
double flo_body_rolling_friction(const FloBody *a, const FloBody *b);

// Share of their approach speed with which two bodies part: the larger value of the two.
double flo_body_restitution(const FloBody *a, const FloBody *b);

// Two points of bodies that meet in a step, along the normal.
typedef struct FloImpact {
  double restitution;
  double approach; // speed at which they approach at the start of the step [m/s]
  double pull;     // acceleration towards each other by other forces [m/s²]
  double gap;      // distance at the start of the step, negative if they overlap [m]
} FloImpact;

// The speed at which they part, from where they are at the start of the step.
double flo_body_rebound(const FloImpact *impact, double dt);
// Bodies that approach each other more slowly do not bounce; they come to rest [m/s].
double flo_body_least_impact(const double gravity[3], double spacing, double dt);

// Share of an overlap of bodies that may vanish in a step.
#define FLO_OVERLAP_RATE 0.2
// The speed at which two bodies that overlap by `depth` may part [m/s].
double flo_body_parting_speed(const double gravity[3], double spacing, double depth);

#endif
