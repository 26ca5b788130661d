// The one list of particle fields. Allocation, sorting, removal, hashing, views and output expand it; no such
// code is written by hand. A coupling method may add fields of its own in the same form (FloField in
// particles.h).
//
//   X(name, C type, FloType, sets that have it, is state, unit, meaning)
//
// State is what a run must keep in order to continue; the hash covers it. All other fields are computed anew
// in each step.
#ifndef FLO_SPH_FIELDS_H
#define FLO_SPH_FIELDS_H

#define FLO_F (1u << FLO_SET_FLUID)
#define FLO_B (1u << FLO_SET_BOUNDARY)
#define FLO_R (1u << FLO_SET_RIGID)
#define FLO_E (1u << FLO_SET_SOFT)
#define FLO_S (FLO_B | FLO_R | FLO_E) // samples of solids

#define FLO_PARTICLE_FIELDS(X)                                                                               \
  X(x, double, FLO_TYPE_F64, FLO_F | FLO_S, true, "m", "position")                                           \
  X(y, double, FLO_TYPE_F64, FLO_F | FLO_S, true, "m", "position")                                           \
  X(z, double, FLO_TYPE_F64, FLO_F | FLO_S, true, "m", "position")                                           \
  X(vx, float, FLO_TYPE_F32, FLO_F | FLO_S, true, "m/s", "velocity")                                         \
  X(vy, float, FLO_TYPE_F32, FLO_F | FLO_S, true, "m/s", "velocity")                                         \
  X(vz, float, FLO_TYPE_F32, FLO_F | FLO_S, true, "m/s", "velocity")                                         \
  X(vx_low, float, FLO_TYPE_F32, FLO_F, true, "m/s", "what vx cannot hold: the velocity is vx + vx_low")     \
  X(vy_low, float, FLO_TYPE_F32, FLO_F, true, "m/s", "what vy cannot hold")                                  \
  X(vz_low, float, FLO_TYPE_F32, FLO_F, true, "m/s", "what vz cannot hold")                                  \
  X(ax, float, FLO_TYPE_F32, FLO_F, false, "m/s^2", "acceleration in the last step")                         \
  X(ay, float, FLO_TYPE_F32, FLO_F, false, "m/s^2", "acceleration in the last step")                         \
  X(az, float, FLO_TYPE_F32, FLO_F, false, "m/s^2", "acceleration in the last step")                         \
  X(mass, float, FLO_TYPE_F32, FLO_F | FLO_E, true, "kg", "mass")                                            \
  X(density, float, FLO_TYPE_F32, FLO_F, true, "kg/m^3", "density at the start of the last step")            \
  X(pressure, float, FLO_TYPE_F32, FLO_F, false, "Pa", "pressure at the start of the last step")             \
  X(id, uint32_t, FLO_TYPE_U32, FLO_F | FLO_S, true, "", "number that stays with the particle")              \
  X(material, uint16_t, FLO_TYPE_U16, FLO_F | FLO_E, true, "", "index of the material")                      \
  X(held, uint16_t, FLO_TYPE_U16, FLO_F, true, "", "0, or 1 + index of the emitter that still guides it")    \
  X(local_x, double, FLO_TYPE_F64, FLO_S, true, "m", "where the body holds it: a position in its frame")     \
  X(local_y, double, FLO_TYPE_F64, FLO_S, true, "m", "where the body holds it: a position in its frame")     \
  X(local_z, double, FLO_TYPE_F64, FLO_S, true, "m", "where the body holds it: a position in its frame")     \
  X(volume, float, FLO_TYPE_F32, FLO_S, true, "m^dim", "volume the sample stands for (Akinci 2012)")         \
  X(covered, float, FLO_TYPE_F32, FLO_S, true, "", "share of the kernel that never holds fluid")             \
  X(tip_x, float, FLO_TYPE_F32, FLO_B | FLO_R, true, "m", "from it to an edge of the body, in its frame")    \
  X(tip_y, float, FLO_TYPE_F32, FLO_B | FLO_R, true, "m", "from it to an edge of the body, in its frame")    \
  X(tip_z, float, FLO_TYPE_F32, FLO_B | FLO_R, true, "m", "from it to an edge of the body, in its frame")    \
  X(edge_x, float, FLO_TYPE_F32, FLO_B | FLO_R, true, "", "direction of that edge; 0 at a corner")           \
  X(edge_y, float, FLO_TYPE_F32, FLO_B | FLO_R, true, "", "direction of that edge; 0 at a corner")           \
  X(edge_z, float, FLO_TYPE_F32, FLO_B | FLO_R, true, "", "direction of that edge; 0 at a corner")           \
  X(body, uint32_t, FLO_TYPE_U32, FLO_S, true, "", "index of the body")                                      \
  X(added, float, FLO_TYPE_F32, FLO_R | FLO_E, true, "s", "when the sample was added; 0: at the start")      \
  X(fx, float, FLO_TYPE_F32, FLO_S, false, "N", "force by the fluid")                                        \
  X(fy, float, FLO_TYPE_F32, FLO_S, false, "N", "force by the fluid")                                        \
  X(fz, float, FLO_TYPE_F32, FLO_S, false, "N", "force by the fluid")

#endif
