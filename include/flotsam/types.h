// Types of the Flotsam library: statuses, ids, and the definition structs that describe a world.
//
// Every definition struct has a function flo_default_..._def() in flotsam.h. Start from its result and change
// the members you need; a zeroed struct is not a valid definition. Units are SI throughout: metres, seconds,
// kilograms, pascal, radians.
#ifndef FLOTSAM_TYPES_H
#define FLOTSAM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define FLO_API __attribute__((visibility("default")))
#else
#define FLO_API
#endif

typedef struct FloWorld FloWorld;
typedef struct FloState FloState; // a saved copy of a world's state

// ---- Statuses and errors ----

typedef enum FloStatus {
  FLO_OK = 0,
  FLO_BAD_INPUT,   // a value, file or call is invalid; the text says which one and what to do
  FLO_NO_MEMORY,   // the allocator returned NULL
  FLO_IO_FAILED,   // a file could not be read or written
  FLO_DIVERGED,    // values became infinite, NaN or absurdly large; FloError names the first bad particle and
                   // field
  FLO_UNSUPPORTED, // the chosen method cannot do this
} FloStatus;

// Filled by a function that fails; a function that succeeds does not change it. Pass NULL if you do not need
// the text.
typedef struct FloError {
  FloStatus status;
  char text[1024];
} FloError;

// ---- What a host program may replace ----

// Memory: `allocate` returns `size` bytes aligned to 64 bytes, or NULL. `release` frees memory that
// `allocate` returned.
typedef struct FloAllocator {
  void *(*allocate)(void *context, size_t size);
  void (*release)(void *context, void *memory, size_t size);
  void *context;
} FloAllocator;

typedef enum FloLogLevel { FLO_LOG_DEBUG, FLO_LOG_INFO, FLO_LOG_WARNING } FloLogLevel;

// Receives the messages of the library. The library never prints by itself: without a log function, messages
// are dropped.
typedef struct FloLog {
  void (*write)(void *context, FloLogLevel level, const char *text);
  void *context;
} FloLog;

// ---- Enumerations ----

typedef enum FloKernel {
  FLO_KERNEL_CUBIC_SPLINE, // default; support 2 spacings
  FLO_KERNEL_WENDLAND_C2,
  FLO_KERNEL_WENDLAND_C4,
  FLO_KERNEL_QUINTIC,   // Morris 1997; support 3 spacings
  FLO_KERNEL_POLY6,     // Müller 2003
  FLO_KERNEL_SPIKY,     // Müller 2003
  FLO_KERNEL_VISCOSITY, // Müller 2003; infinite at distance zero, so not for densities
  FLO_KERNEL_COUNT
} FloKernel;

// Particles are stored in sets. All sets use the same field names, but each set has only the fields that make
// sense for it.
typedef enum FloSet {
  FLO_SET_FLUID,
  FLO_SET_BOUNDARY, // samples of walls: static and kinematic bodies
  FLO_SET_RIGID,    // samples of rigid bodies: dynamic bodies
  FLO_SET_SOFT,     // particles of soft bodies (cloth, elastic bodies); they have mass and material
  FLO_SET_COUNT
} FloSet;

typedef enum FloType { FLO_TYPE_F32, FLO_TYPE_F64, FLO_TYPE_U16, FLO_TYPE_U32 } FloType;

typedef enum FloBodyKind {
  FLO_BODY_STATIC,    // never moves
  FLO_BODY_KINEMATIC, // follows its prescribed motions; forces have no effect on it
  FLO_BODY_DYNAMIC,   // a rigid body: fluid, other bodies and gravity move it
  FLO_BODY_CLOTH,     // a thin sheet or shell that stretches and bends (in 2D: a line)
  FLO_BODY_ELASTIC,   // a solid that changes its shape and returns to it
} FloBodyKind;

// ---- Ids: may be copied and kept; the id of a removed object never becomes valid again ----

typedef struct FloMaterialId {
  uint16_t index, generation;
} FloMaterialId;
typedef struct FloBodyId {
  uint16_t index, generation;
} FloBodyId;
typedef struct FloEmitterId {
  uint16_t index, generation;
} FloEmitterId;
typedef struct FloSinkId {
  uint16_t index, generation;
} FloSinkId;
typedef struct FloJointId {
  uint16_t index, generation;
} FloJointId;

// ---- Shapes: each has its own coordinate frame and is centred on its origin ----

typedef enum FloShapeKind {
  FLO_SHAPE_BOX,      // size: edge lengths; radius: radius of rounded edges (3D only), 0: sharp edges
  FLO_SHAPE_SPHERE,   // radius (a disc in 2D)
  FLO_SHAPE_CYLINDER, // radius; size[0] its length along the shape's z axis
  FLO_SHAPE_TANK,     // size: *inner* edge lengths; solid outside, open at the top unless `closed`
  // The shapes below, except the outline, exist in three dimensions only.
  FLO_SHAPE_CAPSULE, // radius; size[0]: distance between the centres of its caps, along z
  FLO_SHAPE_CONE,    // radius at the bottom, radius2 at the top (0: a point); size[0]: length along z
  FLO_SHAPE_TORUS,   // radius of the ring; radius2: radius of its tube; the axis is z
  FLO_SHAPE_TUBE,    // radius outside, radius2 inside; size[0]: length along z; open at both ends
  FLO_SHAPE_PLANE,   // size[0], size[1]: extent; size[2]: thickness; its top is at z = 0
  FLO_SHAPE_RAMP,    // size: a prism that rises along x
  FLO_SHAPE_WEDGE,   // size: a roof with its ridge along y
  FLO_SHAPE_LINK,    // size[0], size[1]: outer length and width of a chain link; radius: radius of its wire
  FLO_SHAPE_CARD,    // size: width, height, thickness; radius: radius of its corners
  FLO_SHAPE_LETTERS, // text; size[0]: height, size[1]: depth, size[2]: width of the strokes; hollow or solid
  FLO_SHAPE_HEIGHTFIELD, // size[0], size[1]: extent; heights; size[2]: depth below the lowest height
  FLO_SHAPE_DUCK,        // size[0]: length; its up direction is z, its head points along x
  FLO_SHAPE_RABBIT,      // size[0]: height
  FLO_SHAPE_ARMADILLO,   // size[0]: height
  FLO_SHAPE_MESH,        // mesh: closed, or nearly so
  FLO_SHAPE_OUTLINE,     // points: a polygon in the x-y plane; size[0]: depth along z, 0 in two dimensions
  // Thin shapes: they have no inside and can only be cloth.
  FLO_SHAPE_SHEET, // size[0], size[1]: extent along x and y; in two dimensions a line of length size[0] along
                   // x
  FLO_SHAPE_DISC,  // radius; in the x-y plane
  FLO_SHAPE_HOSE,  // radius; size[0]: length along z; open at both ends
  FLO_SHAPE_BAG, // radius; size[0]: length of its tube along z, with the origin in its middle, 0: none. Below
                 // the tube is a round bottom, and above it a round top if it is `closed`
  FLO_SHAPE_COUNT
} FloShapeKind;

// Triangles run counter-clockwise seen from outside.
typedef struct FloTriangles {
  const double *vertices;    // three coordinates each [m]
  const uint32_t *triangles; // three vertex numbers each
  size_t n_vertices, n_triangles;
} FloTriangles;

typedef struct FloShape {
  FloShapeKind kind;
  double size[3];
  double radius, radius2;
  bool closed;              // tank: has a lid; bag: has a top
  double cell;              // of a cloth: length of its triangles' sides [m]; 0: chosen by the spacing
  bool hollow;              // letters only
  int up;                   // tank only: axis (0 x, 1 y, 2 z) along which it is open
  const char *text;         // letters only
  const double *heights;    // heightfield only: n_heights[0] x n_heights[1], x fastest [m]
  int n_heights[2];         // at least 2 x 2
  const FloTriangles *mesh; // mesh only
  const double *points;     // outline only: n_points pairs x, y, clockwise or counter-clockwise [m]
  size_t n_points;          // 3 to 10,000; sides must not cross or touch
} FloShape;

// How fluid particles are arranged at the start. Both lattices have one particle per volume spacing^dim.
typedef enum FloFluidPacking {
  FLO_FLUID_CUBIC,
  FLO_FLUID_HEXAGONAL, // close packed (in 2D the triangular lattice): 12 (6) neighbours at the same distance
} FloFluidPacking;

// ---- Definitions ----

typedef struct FloWorldDef {
  int dim;            // 2 (the plane z = 0) or 3
  double spacing;     // distance between neighbouring particles at rest [m]
  double gravity[3];  // [m/s²]
  const char *method; // name of the coupling method, e.g. "monolithic"
  FloKernel kernel;
  double support;   // kernel support radius in spacings; 0: the kernel's own default
  double time_step; // fixed time step [s]; 0: chosen each step from the method's limits
  double cfl; // share of a spacing that the fastest particle or wall may move in a step; larger is faster and
              // less accurate
  double min_time_step; // [s] if a step would have to be shorter than this, the run has diverged
  double max_time_step; // [s]
  double settle; // [s] simulated time starts at -settle. Until time 0 only the fluid moves, and its motion is
                 // damped, so that it is at rest when the scene begins
  bool periodic[3];                     // axes along which the domain repeats
  double domain_low[3], domain_high[3]; // [m] the repeating box; read on periodic axes only
  size_t max_particles;                 // emitters stop at this number; 0: only memory limits it
  int threads;                          // 0: as many as the machine has cores
  FloAllocator allocator;               // zeroed: the C library's allocator
  FloLog log;                           // zeroed: no messages
} FloWorldDef;

typedef struct FloMaterialDef {
  const char *name;      // copied
  double density;        // at rest [kg/m³]
  double viscosity;      // kinematic [m²/s]
  double wall_viscosity; // kinematic viscosity between this fluid and solids [m²/s]; < 0: same as `viscosity`
  double friction; // coefficient of dry friction of bodies made of this material; < 0: the other body's. In a
                   // contact the smaller coefficient of the two bodies is used, and 0.5 if neither has one
  double surface_tension; // of the fluid against air [N/m]; 0: no surface tension
  double adhesion; // work to separate the fluid from a solid, per area [J/m² = N/m]: surface tension * (1 +
                   // cos(contact angle)), by Young and Dupré; 0: no adhesion
  double contact_angle; // between the fluid's surface and a solid, inside the fluid, in degrees, 0 to 180; <
                        // 0: not given. Of a solid, for all fluids; of a fluid, for all solids
                        // that have none
  double slip; // of fluid along bodies made of it: 0 no slip, 1 free slip; < 0: 1. `direct-forcing` only
  double
      restitution; // share of their approach speed with which bodies made of it and other bodies part
                   // after an impact, 0 to 1; < 0: 0. Between two bodies the larger value is used.
                   // all methods that move bodies but `wcsph`; with `direct-forcing` fluid bounces off, too
} FloMaterialDef;

// A position and a unit quaternion (x, y, z, w) that places a shape in the world.
typedef struct FloPose {
  double position[3];
  double rotation[4];
} FloPose;

// A block of fluid: the lattice points inside a shape.
typedef struct FloFluidDef {
  FloMaterialId material;
  FloShape shape;
  FloPose pose;
  FloFluidPacking packing;
  double velocity[3];         // [m/s]
  double angular_velocity[3]; // [rad/s] about the shape's centre
  // Optional: velocity added at a point, for vortices and shear flows.
  void (*velocity_at)(void *context, const double position[3], double velocity[3]);
  void *context;
} FloFluidDef;

// Fluid in a vessel: fills the space free of solids that is connected to the seed, up to the level.
typedef struct FloFillDef {
  FloMaterialId material;
  double seed[3];     // [m]
  double level;       // height of the fluid's surface along axis `up` [m]
  int up;             // axis (0 x, 1 y, 2 z) along which the level is measured
  double velocity[3]; // [m/s]
  FloFluidPacking packing;
} FloFillDef;

typedef enum FloMotionKind {
  FLO_MOTION_TRANSLATE, // vector: velocity [m/s]
  FLO_MOTION_ROTATE,    // vector: axis; rate [rad/s]; about `centre`
  FLO_MOTION_OSCILLATE, // vector: amplitude [m]; offset = vector * sin(2 pi frequency (t - start) + phase)
  FLO_MOTION_KEYFRAMES, // poses at given times; in between, positions are interpolated linearly and rotations
                        // along the shortest arc
} FloMotionKind;

typedef struct FloKeyframe {
  double time; // [s] strictly rising
  FloPose pose;
} FloKeyframe;

// One prescribed motion. A body may have several; they are applied in order. A motion is active for start <=
// t < end; before and after, the body keeps the pose that the motion begins or ends with.
typedef struct FloMotionDef {
  FloMotionKind kind;
  double vector[3];
  double centre[3];             // world coordinates at the start, ROTATE only
  double rate;                  // [rad/s], ROTATE only
  double frequency;             // [Hz], OSCILLATE only
  double phase;                 // [rad], OSCILLATE only
  double start, end;            // [s]
  const FloKeyframe *keyframes; // copied, KEYFRAMES only
  size_t n_keyframes;
} FloMotionDef;

// From `time` on, a body's friction coefficient changes to `friction`; the change takes `within` seconds.
typedef struct FloFrictionChange {
  double time, friction, within;
} FloFrictionChange;

// Limits of FloBodyDef.sampling. Closer samples cost more without being more accurate. With samples farther
// apart the surface is rough to other bodies, and fluid leaks through it.
#define FLO_FINEST_SAMPLING   0.5
#define FLO_COARSEST_SAMPLING 1.2

// What a cloth or a thin shell is made of. In two dimensions everything is per metre of depth.
typedef struct FloClothDef {
  double areal_density; // [kg/m²]; 0: density times thickness
  double thickness;     // sheets touch each other at this distance [m]; 0: a tenth of a spacing
  double young;         // Young's modulus [Pa]; with it, stretch and bend follow from the thickness
  double poisson;       // ratio of narrowing to stretching, 0 to 0.5
  double stretch;       // tension for a stretch of one [N/m]: Young's modulus times thickness
  double shear;         // the same for shear [N/m]; 0: stretch / (2 (1 + poisson))
  double bend;          // resistance against bending [N m]: E t³ / (12 (1 - poisson²)) of an even sheet
  double damping;       // time in which internal friction takes energy from a change of shape [s]
  double max_stretch;   // it cannot be stretched by more than this share of its length; 0: no limit
  double prestretch[2]; // at the start it is stretched by these factors along its x and y; 0: 1
} FloClothDef;

// How an elastic body is computed.
typedef enum FloElasticForm {
  FLO_ELASTIC_ELEMENTS,       // tetrahedra, in the plane triangles; its step is implicit
  FLO_ELASTIC_PARTICLES,      // corotated SPH with an exact gradient; its step is explicit
  FLO_ELASTIC_PLAIN_PARTICLES // for comparison: corotated SPH as in Shao et al. 2014, without corrections
} FloElasticForm;

// A box in the world at the start.
typedef struct FloRegion {
  double low[3], high[3]; // [m]
} FloRegion;

// What an elastic body is made of; its density is that of the body or of its material.
typedef struct FloElasticDef {
  double young;   // Young's modulus [Pa]
  double poisson; // 0 to 0.49
  double damping; // as in FloClothDef [s]
  double cell;    // size of its elements [m]; 0: chosen by the spacing and by the size of the body. Of
                  // particles: their distance; 0: one spacing
  FloElasticForm form;
  const FloRegion *rigid; // of particles: those in each of these regions keep their distances; read when made
  size_t n_rigid;
} FloElasticDef;

// When the samples of a cloth or elastic body, which fluid feels, come and go as its surface is stretched.
typedef enum FloResampling {
  FLO_RESAMPLE_BY_GEOMETRY,    // by lengths of edges and heights of triangles; the default
  FLO_RESAMPLE_BY_DENSITY,     // where the number density of samples leaves its window
  FLO_RESAMPLE_NEVER,          // for comparison: the first samples stay, too few for a stretched surface
  FLO_RESAMPLE_BY_SUBDIVISION, // for comparison: the rule of Mueller et al. 2004, seven points in each part
                               // of a triangle that is cut in four until its sides are short; not in 2D
} FloResampling;

typedef enum FloPinPlace {
  FLO_PIN_BOX,     // vertices in the box from `low` to `high`, in the world at the start
  FLO_PIN_CORNERS, // of a sheet
  FLO_PIN_BORDER,  // vertices on edges of one triangle only
  FLO_PIN_NEAREST, // the vertex nearest to `low`
} FloPinPlace;

// Vertices of a cloth or elastic body that are fixed to the world or to another body.
typedef struct FloPinDef {
  FloPinPlace place;
  double low[3], high[3]; // [m]
  FloBodyId to;           // zeroed: the world
  double release;         // it holds until this time [s]; 0: for ever
  double break_load;      // it breaks above this force on one vertex [N]; 0: never
  bool clamps;            // neighbours of pinned vertices keep their direction, too: the edge cannot turn
} FloPinDef;

// Which bodies touch each other: two bodies do if each one's mask has a bit of the other one's category. All
// others pass through each other. Fluid touches every body.
typedef struct FloFilter {
  uint32_t category, mask; // default: 1, and all bits
} FloFilter;

// What happens to fluid that is where a new body will be.
typedef enum FloInFluid {
  FLO_IN_FLUID_STAYS,   // it stays inside the body, which it leaves with violence; the log warns of it
  FLO_IN_FLUID_REMOVED, // it is removed
  FLO_IN_FLUID_REFUSES, // the body is not added
} FloInFluid;

typedef struct FloBodyDef {
  const char *name; // copied; shown in reports
  FloBodyKind kind;
  FloShape shape;
  FloPose pose;
  FloMaterialId material;   // zeroed: none. Provides friction, and the density of DYNAMIC bodies
  double friction;          // coefficient of dry friction; < 0: the material's
  double slip, restitution; // see FloMaterialDef; < 0: the material's
  double contact_angle;     // of all fluids at it, in degrees; < 0: the material's, or else the fluid's
  double rolling_friction;  // largest torque against rolling and spinning, per normal force [N m/N = m];
                            // larger stops rolling sooner
  const FloFrictionChange *friction_changes; // copied; in order of rising time
  size_t n_friction_changes;
  const FloMotionDef *motions; // copied; KINEMATIC only
  size_t n_motions;
  bool averages_force; // not DYNAMIC: compute the force on the body in every step, for its mean. This costs
                       // time
  // DYNAMIC only:
  double density;     // [kg/m³]; 0: the material's
  double mass;        // [kg]; 0: what the shape and the density give
  double centre[3];   // of mass in the frame of the shape [m]; needs a mass and an inertia
  double inertia[6];  // about that centre, in the frame of the shape: xx, yy, zz, xy, yz, zx [kg m²]; zeros:
                      // that of the shape, scaled to the mass
  double thickness;   // wall thickness of a hollow shell, which sets its mass [m]; 0: the body is solid
  double velocity[3]; // velocity of its centre of mass when it is released [m/s]
  double angular_velocity[3];   // [rad/s]
  bool locks[3], turn_locks[3]; // axes along which it cannot move, and about which it cannot turn
  double release;               // [s] until this time the body is held in place
  bool sealed;     // no fluid gets between it and what it rests on: it sticks to a floor like a plug
  bool relax;      // move the samples on triangles until they are evenly spaced
  double inset;    // depth of the outermost samples below the surface [m], at most one spacing; 0: half of it
  double sampling; // distance between its samples in spacings of the fluid, FLO_FINEST_SAMPLING to
                   // FLO_COARSEST_SAMPLING; 0: 1. Walls use it too
  // CLOTH and ELASTIC only; velocity, angular_velocity and release act on them, too:
  FloClothDef cloth;
  FloElasticDef elastic;
  FloResampling resampling;
  bool dry_samples;      // samples also stand where no fluid is near; costs time, fluid feels no difference
  const FloPinDef *pins; // copied
  size_t n_pins;
  // For programs that drive a world:
  FloFilter filter;
  FloInFluid in_fluid;
  void *user_data; // the library does not read it
} FloBodyDef;

// An opening from which fluid flows: a rectangle (a segment in 2D) or a disc. The fluid flows along its own
// +x axis, which `pose` rotates.
typedef struct FloEmitterDef {
  FloMaterialId material;
  FloPose pose;
  double size[2];    // [m] width (shape's y) and height (shape's z, 3D only)
  bool round;        // a disc of diameter size[0] instead
  double speed;      // [m/s]
  double start, end; // [s]
} FloEmitterDef;

// An outflow region: fluid inside it is removed.
typedef struct FloSinkDef {
  FloShape shape;
  FloPose pose;
  double start, end; // [s]
} FloSinkDef;

// ---- Answers ----

// What a step did. A solver that did not converge is not an error: `residual` shows it.
typedef struct FloStepInfo {
  double time;    // [s] after the step
  double dt;      // [s]
  uint64_t step;  // number of steps done
  int iterations; // of the method's solver; 0 if it has none
  double residual;
  size_t crossings; // pairs of features of soft bodies that were stopped from crossing after the solver
} FloStepInfo;

// Called by the library after each step. It may change the world and ask it, but neither step nor destroy it.
// If it returns another status than FLO_OK, the call that did the step returns that status; the step counts.
typedef FloStatus (*FloStepFn)(void *context, FloWorld *world, const FloStepInfo *info, FloError *error);

// Residuals of several solvers for the same step, after each of their iterations, relative to the residual
// without any pressure.
typedef struct FloResiduals {
  uint64_t step; // number of steps done before that one
  size_t n_solvers, n_iterations;
  const char *const *names; // of solvers
  const double *values;     // [iteration * n_solvers + solver]; iteration 0 is the start
} FloResiduals;

// The measurements that every run reports; see docs/measurements.md.
typedef struct FloMeasurements {
  double time, dt;
  uint64_t step;
  int iterations;
  double residual;
  double density_error_mean, density_error_max; // mean and maximum of max(density/rest - 1, 0)
  size_t penetrations;                          // fluid particles more than half a spacing inside a solid
  size_t fluid_particles, boundary_particles, rigid_particles;
  size_t contacts;  // samples of rigid bodies that press on another body
  size_t put_back;  // points of soft bodies that the step put back, since they had entered another body
  size_t crossings; // pairs of features of soft bodies that were stopped from crossing in the last step
  double kinetic_energy, potential_energy; // [J] (per metre in 2D)
  double momentum[3];                      // [kg m/s]
  double angular_momentum[3];              // [kg m²/s] about the origin
  double max_speed;                        // [m/s]
  size_t emitted, removed;                 // fluid particles since the start
  size_t collisions, repulsions; // of fluid with samples since the start, by methods that count them
} FloMeasurements;

// The current state of a body. Force and torque are those that fluid and other bodies exert on it. Values of
// a single step are noisy, above all in short steps and hard impacts. The means are averages over all steps
// since flo_world_restart_averages. For static and kinematic bodies they need `averages_force`; without it,
// the means are the values of the last step.
typedef struct FloBodyState {
  FloPose pose;
  double velocity[3], angular_velocity[3];
  double force[3], torque[3]; // [N], [N m] about the body's position; of the last step
  double mean_force[3], mean_torque[3];
} FloBodyState;

// More about a body that changes its shape. The position in its FloBodyState is its centre of mass.
typedef struct FloSoftState {
  double kinetic_energy, elastic_energy; // [J] (per metre in 2D)
  size_t n_pins;                         // vertices that pins hold
  double pull[3];      // force of all pins to the world and to walls on it, in the last step [N]
  double largest_load; // of one of these pins [N]
  size_t n_samples;    // that fluid feels
} FloSoftState;

// A zero-copy view of one field: element i is `stride` bytes after element i-1. Valid until the next step,
// addition or removal.
typedef struct FloView {
  const void *data;
  size_t count, stride;
  FloType type;
  const char *unit, *meaning;
} FloView;

typedef enum FloParamType {
  FLO_PARAM_NUMBER,
  FLO_PARAM_COUNT,  // a whole number
  FLO_PARAM_SWITCH, // 0 or 1
  FLO_PARAM_CHOICE, // one of its words
} FloParamType;

// One parameter of a method. `flotsam info method` prints it and scenes may set it.
typedef struct FloParam {
  const char *name;
  double value, low, high; // default and permitted range
  const char *unit, *help;
  FloParamType type;
  const char *const *words; // of a choice: the words for the values 0, 1, ..., ended by NULL
} FloParam;

#endif
