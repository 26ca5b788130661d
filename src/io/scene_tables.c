#include "io/scene_tables.h"

#include "io/scene_words.h"

#include <string.h>

// ---- Defaults that are the library's business ----

static json_t *default_cfl(void) { return json_real(flo_default_world_def().cfl); }
static json_t *default_min_time_step(void) { return json_real(flo_default_world_def().min_time_step); }
static json_t *default_max_time_step(void) { return json_real(flo_default_world_def().max_time_step); }
static json_t *default_kernel(void) { return json_string(flo_kernel_name(flo_default_world_def().kernel)); }
static json_t *default_method(void) { return json_string(flo_default_world_def().method); }
static json_t *default_density(void) { return json_real(flo_default_material_def().density); }
static json_t *default_viscosity(void) { return json_real(flo_default_material_def().viscosity); }

static const char *const axes[] = {"x", "y", "z", NULL};
static const char *const overlap_choices[] = {"separate", "refuse", NULL};
static const char *const packings[] = {"cubic", "hexagonal", NULL};
// What src/render makes a picture of; colours and substances come last.
#define LOOKS                                                                                                \
  "samples", "outline", "glass", "hidden", "wood", "oak", "metal", "steel", "rubber", "concrete", "stone",   \
      "red", "orange", "yellow", "green", "white"
static const char *const looks[] = {LOOKS, NULL}, *const body_looks[] = {LOOKS, "checked", NULL};
static const char *const colourings[] = {"speed", "pressure", "density", "x", "y", "z", NULL};

// ---- Keys of several tables ----

// The keys that place a shape; the same for boundaries, fluids and sinks.
#define PLACE_KEYS                                                                                           \
  {"shape",                                                                                                  \
   OBJECT,                                                                                                   \
   ANY,                                                                                                      \
   NULL,                                                                                                     \
   .help = "its shape, such as { \"box\": [1, 2, 3] }",                                                      \
   .is_required = true,                                                                                      \
   .table = &flo_scene_shape_table,                                                                          \
   .frame = FLO_FRAME_PLACE},                                                                                \
      {"at", VECTOR, COORDINATE, "m",                                                                        \
       .help = "position of the shape's centre; without at, corner and base, the origin"},                   \
      {"corner", VECTOR, COORDINATE, "m",                                                                    \
       .help = "instead of at: position of the shape's lowest corner before it is rotated; of a tank, the "  \
               "lowest corner of its inner space, by default the origin"},                                   \
      {"base", VECTOR, COORDINATE, "m",                                                                      \
       .help = "instead of at: position of the middle of the shape's bottom before it is rotated"},          \
  {                                                                                                          \
    "rotate", OBJECT, ANY, NULL, .help = "rotates the shape about its centre",                               \
                                 .table = &flo_scene_rotation_table                                          \
  }
#define ONE_PLACE .at_most_one = {"at", "corner", "base"}

// The time interval in which something is active; without an end, for ever.
#define SPAN_KEYS                                                                                            \
  {"start", NUMBER, WITHIN(MAX_TIME), "s", .help = "time at which it begins", .fallback = "0"}, {            \
    "end", NUMBER, WITHIN(MAX_TIME), "s", .help = "time at which it ends; without it, never"                 \
  }

// A list whose entries have these keys is expanded: each entry is replaced by its instances.
#define INSTANCE_KEYS                                                                                        \
  {"grid",                                                                                                   \
   OBJECT,                                                                                                   \
   ANY,                                                                                                      \
   NULL,                                                                                                     \
   .help = "makes many copies in rows and columns",                                                          \
   .table = &flo_scene_grid_table},                                                                          \
      {"stack",                                                                                              \
       OBJECT,                                                                                               \
       ANY,                                                                                                  \
       NULL,                                                                                                 \
       .help = "makes many copies side by side and on top of each other",                                    \
       .table = &flo_scene_stack_table},                                                                     \
      {"circle",                                                                                             \
       OBJECT,                                                                                               \
       ANY,                                                                                                  \
       NULL,                                                                                                 \
       .help = "makes many copies in a circle",                                                              \
       .table = &flo_scene_circle_table},                                                                    \
  {                                                                                                          \
    "scatter", OBJECT, ANY, NULL, .help = "makes many copies at random places",                              \
                                  .table = &flo_scene_scatter_table                                          \
  }
#define ONE_INSTANCING .also_at_most_one = {"grid", "stack", "circle", "scatter"}

// ---- Materials ----

#define ROLLING_KEY                                                                                          \
  {                                                                                                          \
    "rolling_friction", NUMBER, FROM(0, 1e3), "m",                                                           \
        .help = "largest torque against rolling and spinning, per normal force; larger stops rolling "       \
                "sooner. In a contact the larger value of the two bodies is used",                           \
        .fallback = "0"                                                                                      \
  }

#define ANGLE_KEY(whose)                                                                                     \
  {                                                                                                          \
    "contact_angle", NUMBER, FROM(0, 180), "degrees",                                                        \
        .help = "angle between a fluid's surface and the solid, measured inside the fluid: small spreads, "  \
                "large beads; " whose                                                                        \
  }

#define SURFACE_KEYS(otherwise)                                                                              \
  {"slip", NUMBER, FROM(0, 1), NULL,                                                                         \
   .help =                                                                                                   \
       "slip of fluid along it, with `direct-forcing`, and with `unified` in collisions: 0 no slip, 1 free " \
       "slip; without it, " otherwise "1"},                                                                  \
  {                                                                                                          \
    "restitution", NUMBER, FROM(0, 1), NULL,                                                                 \
        .help = "share of their approach speed with which bodies bounce off it, with all methods "           \
                "that move bodies but `wcsph`, and fluid, with `direct-forcing` only: 0 does not bounce, "   \
                "1 loses nothing. Between two bodies the larger value is used; without it, " otherwise "0"   \
  }

static const FloSceneKey material_keys[] = {
    {"density", NUMBER, FROM(1e-6, 1e6), "kg/m³",
     .help = "density at rest; of bodies, the density of their solid", .library = default_density},
    {"viscosity", NUMBER, VISCOSITY, "m²/s",
     .help = "kinematic viscosity; larger flows more slowly (water: 1e-6, honey: 0.01)",
     .library = default_viscosity},
    {"wall_viscosity", NUMBER, VISCOSITY, "m²/s",
     .help = "kinematic viscosity between the fluid and solids; larger makes fluid stick to them more; "
             "without it, the same as viscosity"},
    {"friction", NUMBER, FROM(0, 1e3), NULL,
     .help = "coefficient of dry friction of bodies made of it; larger slides less. In a contact the smaller "
             "coefficient of the two bodies is used; if only one body has one, that one; if none has, 0.5"},
    {"surface_tension", NUMBER, FROM(0, MAX_TENSION), "N/m",
     .help = "surface tension of the fluid against air (water: 0.072); larger forms rounder drops",
     .fallback = "0"},
    {"adhesion", NUMBER, FROM(0, MAX_TENSION), "N/m",
     .help = "work to separate the fluid from a solid, per area: surface_tension * (1 + cos(contact angle)); "
             "larger wets solids better",
     .fallback = "0"},
    ANGLE_KEY("of a solid, for all fluids; of a fluid, for all solids that have none"),
    SURFACE_KEYS(""),
    {"colour", COLOUR, ANY, NULL,
     .help = "colour of the fluid in pictures; without it, that of water, or of what its name says (honey, "
             "oil, milk, ...)"},
};

static const FloSceneTable material_table = {"a material", TABLE(material_keys)};

static const FloSceneKey interface_keys[] = {
    {"one", TEXT, ANY, NULL, .help = "name of a material", .is_required = true},
    {"other", TEXT, ANY, NULL, .help = "name of another one", .is_required = true},
    {"surface_tension", NUMBER, FROM(0, MAX_TENSION), "N/m",
     .help = "surface tension between the two fluids (oil and water: 0.03); larger forms rounder drops and "
             "needs shorter steps",
     .is_required = true},
};

static const FloSceneTable interface_table = {"an interface", TABLE(interface_keys)};

// ---- Boundaries and their motions ----

static const FloSceneKey turning_keys[] = {
    {"axis", TRIPLE, COORDINATE, NULL, .help = "axis of the rotation; any length", .fallback = "[0, 0, 1]",
     .frame = FLO_FRAME_DIRECTION},
    {"rate", NUMBER, WITHIN(MAX_RATE), "rad/s",
     .help = "angular speed; positive is counter-clockwise when the axis points at the viewer",
     .is_required = true},
    {"centre", VECTOR, COORDINATE, "m",
     .help = "a point on the axis; without it, the position of the boundary", .frame = FLO_FRAME_POINT},
};

static const FloSceneTable turning_table = {"a rotating motion", TABLE(turning_keys)};

static const FloSceneKey oscillation_keys[] = {
    {"amplitude", VECTOR, COORDINATE, "m", .help = "largest displacement to either side", .is_required = true,
     .frame = FLO_FRAME_DIRECTION},
    {"frequency", NUMBER, ABOVE(0, MAX_RATE), "Hz", .help = "periods per second", .is_required = true},
    {"phase", NUMBER, WITHIN(1e9), "rad",
     .help = "phase at the start: displacement = amplitude * sin(2 pi frequency (t - start) + phase)",
     .fallback = "0"},
};

static const FloSceneTable oscillation_table = {"an oscillation", TABLE(oscillation_keys)};

static const FloSceneKey keyframe_keys[] = {
    {"time", NUMBER, WITHIN(MAX_TIME), "s", .help = "time of the keyframe; later than the one before",
     .is_required = true},
    {"at", VECTOR, COORDINATE, "m", .help = "position of the boundary's centre at this time",
     .is_required = true, .frame = FLO_FRAME_POINT},
    {"rotate", OBJECT, ANY, NULL, .help = "rotation of the boundary at this time",
     .table = &flo_scene_rotation_table, .frame = FLO_FRAME_TURN},
};

static const FloSceneTable keyframe_table = {"a keyframe", TABLE(keyframe_keys)};

static const FloSceneKey motion_keys[] = {
    {"translate", VECTOR, WITHIN(MAX_SPEED), "m/s", .help = "moves with this constant velocity",
     .frame = FLO_FRAME_DIRECTION},
    {"rotate", OBJECT, ANY, NULL, .help = "rotates at a constant rate", .table = &turning_table},
    {"oscillate", OBJECT, ANY, NULL, .help = "moves to and fro in a sine wave", .table = &oscillation_table},
    {"keyframes", LIST, ANY, NULL, .help = "passes through the given poses at the given times",
     .table = &keyframe_table},
    SPAN_KEYS,
};

static const FloSceneTable motion_table = {"a motion", TABLE(motion_keys),
                                           .exactly_one = {"translate", "rotate", "oscillate", "keyframes"}};

#define SAMPLING_KEY                                                                                         \
  {                                                                                                          \
    "sampling", NUMBER, FROM(FLO_FINEST_SAMPLING, FLO_COARSEST_SAMPLING), NULL,                              \
        .help = "distance between its samples, in spacings of the fluid: less than 1 is finer and slower, "  \
                "more is coarser",                                                                           \
        .fallback = "1"                                                                                      \
  }

static const FloSceneKey boundary_keys[] = {
    {"name", NAME, ANY, NULL, .help = "its name in probes and reports; without it, 'boundary' and a number"},
    PLACE_KEYS,
    {"look", TEXT | COLOUR, ANY, NULL,
     .help = "how pictures show it: as particles, by its edges (outline, glass), not at all, in the "
             "colour of a substance, or in a colour; without it, chosen automatically",
     .choices = looks},
    {"relax", BOOLEAN, ANY, NULL,
     .help = "true: samples on triangles are moved until they are evenly spaced, which takes time at the "
             "start. Boxes, spheres, cylinders, tanks and all 2D shapes have even samples without it",
     .fallback = "false"},
    {"inset", NUMBER, POSITIVE, "m",
     .help =
         "depth of the outermost samples below the surface, at most one spacing; without it, half a spacing"},
    SAMPLING_KEY,
    {"friction", NUMBER, FROM(0, 1e3), NULL,
     .help = "coefficient of dry friction against bodies; larger slides less; without it, only the body's "
             "coefficient is used"},
    ROLLING_KEY,
    ANGLE_KEY("without it, the fluid's"),
    SURFACE_KEYS(""),
    {"motions", LIST, ANY, NULL,
     .help = "prescribed motions, which are added up in this order; without any, the boundary does not move",
     .table = &motion_table},
    INSTANCE_KEYS,
};

static const FloSceneTable boundary_table = {"a boundary", TABLE(boundary_keys), ONE_PLACE, ONE_INSTANCING};

// ---- Bodies ----

static const FloSceneKey body_keys[] = {
    {"name", NAME, ANY, NULL, .help = "its name in probes and reports; without it, 'body' and a number"},
    {"material", TEXT | OBJECT, ANY, NULL,
     .help = "name of a material, or an object with the keys of a material; cloth and elastic bodies can do "
             "without",
     .table = &material_table},
    PLACE_KEYS,
    {"cloth", OBJECT, ANY, NULL, .help = "makes it a cloth or a thin shell, instead of a rigid body",
     .table = &flo_scene_cloth_table},
    {"elastic", OBJECT, ANY, NULL, .help = "makes it a solid that changes its shape and returns to it",
     .table = &flo_scene_elastic_table},
    {"pin", LIST, ANY, NULL,
     .help = "cloth and elastic bodies: vertices that are fixed to the world or to another body",
     .choices = flo_scene_pin_words, .table = &flo_scene_pin_table},
    {"thickness", NUMBER, POSITIVE, "m",
     .help = "makes the body a hollow shell with walls of this thickness, which sets its mass; without it, "
             "the body is solid"},
    MASS_KEYS,
    {"velocity", VECTOR, WITHIN(MAX_SPEED), "m/s",
     .help = "velocity of its centre of mass at the start, or at its release", .fallback = "[0, 0, 0]",
     .frame = FLO_FRAME_DIRECTION},
    {"angular_velocity", TRIPLE, WITHIN(MAX_RATE), "rad/s",
     .help = "angular velocity at the start, or at its release", .fallback = "[0, 0, 0]",
     .frame = FLO_FRAME_DIRECTION},
    {"friction", NUMBER, FROM(0, 1e3), NULL,
     .help = "coefficient of dry friction; larger slides less; without it, the material's"},
    ROLLING_KEY,
    ANGLE_KEY("without it, the material's, or the fluid's"),
    SURFACE_KEYS("the material's, or "),
    {"lock", TEXT, ANY, NULL, .help = "axes along which it cannot move, for example \"xy\"",
     .frame = FLO_FRAME_AXES},
    {"lock_rotation", TEXT, ANY, NULL, .help = "axes about which it cannot turn, for example \"xyz\"",
     .frame = FLO_FRAME_AXES},
    {"release", NUMBER, FROM(0, MAX_TIME), "s", .help = "until this time the body is held in place",
     .fallback = "0"},
    {"sealed", BOOLEAN, ANY, NULL,
     .help = "true: no water gets between it and what it rests on, so that it sticks to a floor like a plug; "
             "false: narrow gaps are wet, and light bodies leave the floor; not with `wcsph` and `unified`",
     .fallback = "false"},
    {"look", TEXT | COLOUR, ANY, NULL,
     .help =
         "how pictures show it, as for boundaries, or checked, if it changes its shape; without it, chosen "
         "automatically: cloth is checked",
     .choices = body_looks},
    {"relax", BOOLEAN, ANY, NULL,
     .help = "true: samples on triangles are moved until they are evenly spaced, as for boundaries",
     .fallback = "false"},
    {"inset", NUMBER, POSITIVE, "m",
     .help =
         "depth of the outermost samples below the surface, at most one spacing; without it, half a spacing"},
    SAMPLING_KEY,
    INSTANCE_KEYS,
};

static const FloSceneTable body_table = {"a body", TABLE(body_keys), ONE_PLACE, ONE_INSTANCING};

// ---- Fluids, emitters, sinks ----

#define FLUID_KEYS                                                                                           \
  {"material",                                                                                               \
   TEXT | OBJECT,                                                                                            \
   ANY,                                                                                                      \
   NULL,                                                                                                     \
   .help = "name of a material, or an object with the keys of a material",                                   \
   .is_required = true,                                                                                      \
   .table = &material_table},                                                                                \
      PLACE_KEYS,                                                                                            \
      {"packing",                                                                                            \
       TEXT,                                                                                                 \
       ANY,                                                                                                  \
       NULL,                                                                                                 \
       .help = "the lattice of its particles at the start: rows and columns (cubic), or densely packed "     \
               "spheres (hexagonal)",                                                                        \
       .fallback = "\"cubic\"",                                                                              \
       .choices = packings},                                                                                 \
      {"velocity",                                                                                           \
       FIELD,                                                                                                \
       WITHIN(MAX_SPEED),                                                                                    \
       "m/s",                                                                                                \
       .help = "velocity at the start; components may be expressions in x, y and z",                         \
       .frame = FLO_FRAME_DIRECTION},                                                                        \
  {                                                                                                          \
    "angular_velocity", TRIPLE, WITHIN(MAX_RATE), "rad/s",                                                   \
        .help = "angular velocity at the start, about the shape's centre", .frame = FLO_FRAME_DIRECTION      \
  }

static const FloSceneKey fluid_keys[] = {FLUID_KEYS, INSTANCE_KEYS};

static const FloSceneTable fluid_table = {"a fluid", TABLE(fluid_keys), ONE_PLACE, ONE_INSTANCING};

static const FloSceneKey emitter_keys[] = {
    {"name", NAME, ANY, NULL, .help = "its name in events; without it, 'emitter' and a number"},
    {"material", TEXT | OBJECT, ANY, NULL,
     .help = "name of a material, or an object with the keys of a material", .is_required = true,
     .table = &material_table},
    {"at", VECTOR, COORDINATE, "m", .help = "position of the middle of the opening", .is_required = true,
     .frame = FLO_FRAME_POINT},
    {"direction", VECTOR, COORDINATE, NULL, .help = "direction of the stream; any length",
     .is_required = true, .frame = FLO_FRAME_DIRECTION},
    {"size", NUMBER | PAIR, POSITIVE, "m", .help = "width and height of a rectangular opening (2D: width)"},
    {"diameter", NUMBER, POSITIVE, "m", .help = "instead of size: diameter of a round opening"},
    {"upright", TRIPLE, COORDINATE, NULL,
     .help = "direction of the height of a rectangular opening; its part along the stream is ignored; "
             "without it, up",
     .frame = FLO_FRAME_UPRIGHT},
    {"speed", NUMBER, ABOVE(0, MAX_SPEED), "m/s", .help = "speed of the fluid as it leaves the opening",
     .is_required = true},
    SPAN_KEYS,
    INSTANCE_KEYS,
};

static const FloSceneTable emitter_table = {"an emitter", TABLE(emitter_keys),
                                            .exactly_one = {"size", "diameter"}, ONE_INSTANCING};

static const FloSceneKey sink_keys[] = {
    {"name", NAME, ANY, NULL, .help = "its name in events; without it, 'sink' and a number"},
    PLACE_KEYS,
    SPAN_KEYS,
    INSTANCE_KEYS,
};

static const FloSceneTable sink_table = {"a sink", TABLE(sink_keys), ONE_PLACE, ONE_INSTANCING};

// ---- Groups ----

static const FloSceneKey place_keys[] = {
    {"group", TEXT, ANY, NULL, .help = "name of the group to place", .is_required = true},
    {"name", NAME, ANY, NULL, .help = "prefix for the names of its parts; without it, the group's name"},
    {"at", VECTOR, COORDINATE, "m", .help = "position of the group's origin", .fallback = "[0, 0, 0]"},
    {"rotate", OBJECT, ANY, NULL, .help = "rotates the group about its origin",
     .table = &flo_scene_rotation_table},
    INSTANCE_KEYS,
};

static const FloSceneTable place_table = {"a placed group", TABLE(place_keys), ONE_INSTANCING};

// What a scene and a group may hold. A list whose table has INSTANCE_KEYS is expanded automatically.
#define THING_LISTS(fallback_)                                                                               \
  {"boundaries",                                                                                             \
   LIST,                                                                                                     \
   ANY,                                                                                                      \
   NULL,                                                                                                     \
   .help = "walls: solids that do not move, or follow a prescribed motion",                                  \
   .fallback = fallback_,                                                                                    \
   .table = &boundary_table},                                                                                \
      {"bodies",                                                                                             \
       LIST,                                                                                                 \
       ANY,                                                                                                  \
       NULL,                                                                                                 \
       .help = "bodies that fluid, other bodies and gravity move: rigid bodies, cloth and elastic bodies",   \
       .fallback = fallback_,                                                                                \
       .table = &body_table},                                                                                \
      {"fluids",                                                                                             \
       LIST,                                                                                                 \
       ANY,                                                                                                  \
       NULL,                                                                                                 \
       .help = "blocks of fluid that exist from the start",                                                  \
       .fallback = fallback_,                                                                                \
       .table = &fluid_table},                                                                               \
      {"emitters",                                                                                           \
       LIST,                                                                                                 \
       ANY,                                                                                                  \
       NULL,                                                                                                 \
       .help = "openings from which fluid flows",                                                            \
       .fallback = fallback_,                                                                                \
       .table = &emitter_table},                                                                             \
      {"sinks",                                                                                              \
       LIST,                                                                                                 \
       ANY,                                                                                                  \
       NULL,                                                                                                 \
       .help = "regions in which fluid is removed",                                                          \
       .fallback = fallback_,                                                                                \
       .table = &sink_table},                                                                                \
  {                                                                                                          \
    "place", LIST, ANY, NULL, .help = "groups and their positions", .table = &place_table                    \
  }

static const FloSceneKey group_keys[] = {
    THING_LISTS(NULL),
    {"joints", LIST, ANY, NULL, .help = "joints of its bodies; names of its own parts mean these parts",
     .table = &flo_scene_joint_table}};

static const FloSceneTable group_table = {"a group", TABLE(group_keys)};

// ---- Fills ----

static const FloSceneKey fill_keys[] = {
    {"material", TEXT | OBJECT, ANY, NULL,
     .help = "name of a material, or an object with the keys of a material", .is_required = true,
     .table = &material_table},
    {"seed", VECTOR, COORDINATE, "m",
     .help = "a point in the vessel; fluid fills all free space that is connected to it, up to the level",
     .is_required = true},
    {"level", NUMBER, COORDINATE, "m", .help = "height of the fluid's surface", .is_required = true},
    {"velocity", VECTOR, WITHIN(MAX_SPEED), "m/s", .help = "velocity at the start"},
    {"packing", TEXT, ANY, NULL,
     .help = "the lattice of its particles at the start: rows and columns (cubic), or densely packed spheres "
             "(hexagonal)",
     .fallback = "\"cubic\"", .choices = packings},
};

static const FloSceneTable fill_table = {"a fill", TABLE(fill_keys)};

// ---- Particles from files ----

static const FloSceneKey particles_keys[] = {
    {"material", TEXT | OBJECT, ANY, NULL,
     .help = "name of a material, or an object with the keys of a material", .is_required = true,
     .table = &material_table},
    {"file", TEXT, ANY, NULL,
     .help = "CSV file with columns x, y, z and optionally vx, vy, vz (z and vz: 3D only); a relative path "
             "starts at the scene's folder. If the file has a column type, only rows of type fluid are read",
     .is_required = true},
    {"rows", TEXT, ANY, NULL,
     .help = "reads only rows with this word in the column material; without it, all rows"},
};

static const FloSceneTable particles_table = {"a file of particles", TABLE(particles_keys)};

// ---- Events ----

static const FloSceneKey added_fluid_keys[] = {FLUID_KEYS};

static const FloSceneTable added_fluid_table = {"a fluid of an event", TABLE(added_fluid_keys), ONE_PLACE};

static const FloSceneKey event_keys[] = {
    {"at", NUMBER, FROM(0, MAX_TIME), "s", .help = "time of the event", .is_required = true},
    {"emitter", TEXT, ANY, NULL, .help = "name of the emitter to start or stop"},
    {"sink", TEXT, ANY, NULL, .help = "name of the sink to start or stop"},
    {"boundary", TEXT, ANY, NULL, .help = "name of the boundary whose motions start or stop"},
    {"body", TEXT, ANY, NULL,
     .help =
         "name of a body or boundary to release or set; a '*' at the end matches all names that begin so"},
    {"joint", TEXT, ANY, NULL,
     .help = "name of a joint to release or set; a '*' at the end matches all names that begin so"},
    {"start", BOOLEAN, ANY, NULL, .help = "true: it starts; until its first start it is not active"},
    {"stop", BOOLEAN, ANY, NULL, .help = "true: it stops"},
    {"release", BOOLEAN, ANY, NULL,
     .help = "true: the body is released, and until then it is held in place; or the joint lets go"},
    {"unpin", TEXT | BOOLEAN, ANY, NULL,
     .help = "name of the pins of a cloth or elastic body to release (corners, border, or the name that they "
             "were given), or true: all its pins"},
    {"set", OBJECT, ANY, NULL, .help = "the values of the body or joint to change",
     .table = &flo_scene_change_table},
    {"add", OBJECT, ANY, NULL, .help = "fluid to add at this time", .table = &added_fluid_table},
};

static const FloSceneTable event_table = {
    "an event", TABLE(event_keys), .exactly_one = {"emitter", "sink", "boundary", "body", "joint", "add"},
    .also_exactly_one = {"start", "stop", "release", "unpin", "set", "add"}};

// ---- The scene ----

static const FloSceneKey periodic_keys[] = {
    {"low", VECTOR, COORDINATE, "m", .help = "lowest corner of the box that repeats", .is_required = true},
    {"high", VECTOR, COORDINATE, "m", .help = "highest corner of the box that repeats", .is_required = true},
    {"axes", TEXT, ANY, NULL, .help = "axes along which the box repeats, such as \"x\" or \"xy\"",
     .is_required = true},
};

static const FloSceneTable periodic_table = {"a periodic box", TABLE(periodic_keys)};

static const FloSceneKey method_keys[] = {
    {"name", TEXT, ANY, NULL, .help = "one of the methods that `flotsam info methods` lists",
     .library = default_method},
};

static const FloSceneTable method_table = {"a method", TABLE(method_keys), .has_parameters = true};

static const FloSceneKey scene_keys[] = {
    {"schema_version", INTEGER, FROM(1, 1), NULL, .help = "version of this format: 1", .is_required = true},
    {"title", TEXT, ANY, NULL, .help = "title of the scene in one line; without it, the file's name"},
    {"shows", TEXT, ANY, NULL, .help = "one sentence about what the scene shows", .fallback = "\"\""},
    {"include", SPECIAL, ANY, NULL,
     .help = "other files that hold keys of this scene: a path, or a list of paths, relative to this file"},
    {"dimension", INTEGER, FROM(2, 3), NULL, .help = "2 (the plane z = 0) or 3", .fallback = "3"},
    {"up", TEXT, ANY, NULL, .help = "axis that points up, against gravity; without it, z (in 2D y)",
     .choices = axes},
    {"constants", MAP, ANY, NULL, .help = "named numbers, for use in expressions", .fallback = "{}"},
    {"sizes", SPECIAL | MAP, ANY, NULL,
     .help = "named variants of the scene; each gives some constants other values"},
    {"spacing", NUMBER, POSITIVE, "m",
     .help = "distance between neighbouring particles at rest; smaller is more accurate and much slower",
     .is_required = true},
    {"duration", NUMBER, ABOVE(0, MAX_TIME), "s", .help = "simulated time of the run", .is_required = true},
    {"frames_per_second", NUMBER, ABOVE(0, 1e6), "1/s",
     .help = "number of frames written per simulated second", .fallback = "30"},
    {"gravity", NUMBER | VECTOR, WITHIN(MAX_ACCELERATION), "m/s²",
     .help = "strength of gravity (it points down), or a vector", .fallback = "9.81"},
    {"kernel", TEXT, ANY, NULL, .help = "smoothing kernel; `flotsam info kernels` lists them",
     .library = default_kernel},
    {"support",
     NUMBER,
     {1.2, 6, false, true},
     "spacings",
     .help = "kernel support radius; larger is smoother and slower; 0: the kernel's default",
     .fallback = "0"},
    {"time_step", NUMBER, FROM(0, MAX_TIME), "s",
     .help = "fixed time step; 0: the method chooses the longest stable step each time", .fallback = "0"},
    {"cfl", NUMBER, ABOVE(0, 2), "spacings",
     .help =
         "largest way by which fluid may approach its neighbours or solids in a step, and by which solids "
         "may move; larger is faster, smaller is more accurate and more stable; explicit methods count "
         "the whole motion of the fluid",
     .library = default_cfl},
    {"min_time_step", NUMBER, FROM(0, MAX_TIME), "s",
     .help = "shortest time step; a run that needs a shorter one has diverged and fails",
     .library = default_min_time_step},
    {"max_time_step", NUMBER, ABOVE(0, MAX_TIME), "s",
     .help = "longest time step; a smaller value limits the steps of calm scenes",
     .library = default_max_time_step},
    {"settle", NUMBER, FROM(0, MAX_TIME), "s",
     .help = "duration before time zero in which the fluid moves with damping until it is at rest; "
             "everything else waits",
     .fallback = "0"},
    {"overlaps", TEXT, ANY, NULL,
     .help = "what to do with bodies that overlap each other or a boundary at the start: push them apart "
             "gently, or refuse the scene",
     .fallback = "\"separate\"", .choices = overlap_choices},
    {"periodic", OBJECT, ANY, NULL,
     .help = "a box that repeats: particles that leave it on one side enter on the opposite side",
     .table = &periodic_table},
    {"max_particles", INTEGER, FROM(0, 2e8), NULL,
     .help = "number of fluid particles at which emitters stop; 0: no limit", .fallback = "0"},
    {"method", OBJECT, ANY, NULL,
     .help = "method that computes fluid and solids: its name and its parameters", .fallback = "{}",
     .table = &method_table},
    {"materials", MAP, ANY, NULL, .help = "materials of fluids and bodies, by name", .fallback = "{}",
     .table = &material_table},
    {"interfaces", LIST, ANY, NULL,
     .help = "surface tension between two fluids, in 2D and with `unified` only", .fallback = "[]",
     .table = &interface_table},
    {"groups", MAP, ANY, NULL, .help = "named collections of things, which are placed as a whole",
     .table = &group_table},
    THING_LISTS("[]"),
    {"joints", LIST, ANY, NULL, .help = "what holds bodies together, with motors and springs",
     .fallback = "[]", .table = &flo_scene_joint_table},
    {"fills", LIST, ANY, NULL, .help = "fluid that fills vessels from a point up to a level",
     .fallback = "[]", .table = &fill_table},
    {"particles", LIST, ANY, NULL, .help = "fluid particles from files", .fallback = "[]",
     .table = &particles_table},
    {"events", LIST, ANY, NULL, .help = "changes at given times", .fallback = "[]", .table = &event_table},
    {"probes", LIST, ANY, NULL, .help = "measurements over time", .fallback = "[]",
     .table = &flo_scene_probe_table},
    {"expect", LIST, ANY, NULL, .help = "conditions that the result must meet", .fallback = "[]",
     .table = &flo_scene_expect_table},
    {"camera", OBJECT, ANY, NULL, .help = "camera of pictures; without it, everything is in view",
     .table = &flo_scene_camera_table},
    {"colour_by", TEXT, ANY, NULL, .help = "field that the colours of particles show",
     .fallback = "\"speed\"", .choices = colourings},
    {"$schema", TEXT, ANY, NULL,
     .help = "path of this format's JSON Schema, for editors; flotsam does not read it"},
};

const FloSceneTable flo_scene_table = {"a scene", TABLE(scene_keys)};

const FloSceneKey *flo_scene_find_key(const FloSceneTable *table, const char *name) {
  for (size_t k = 0; k < table->n_keys; k++)
    if (!strcmp(table->keys[k].name, name)) return &table->keys[k];
  return NULL;
}
