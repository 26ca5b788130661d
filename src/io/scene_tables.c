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
static const char *const looks[] = {"samples", "outline", "glass",  "hidden",   "wood",  "oak",
                                    "metal",   "steel",   "rubber", "concrete", "stone", "red",
                                    "orange",  "yellow",  "green",  "white",    NULL};
static const char *const colourings[] = {"speed", "pressure", "density", "x", "y", "z", NULL};

// ---- Keys of several tables ----

// The keys that place a shape, alike for boundaries, fluids and sinks.
#define PLACE_KEYS                                                                                           \
  {"shape",                                                                                                  \
   OBJECT,                                                                                                   \
   ANY,                                                                                                      \
   NULL,                                                                                                     \
   .help = "its figure",                                                                                     \
   .is_required = true,                                                                                      \
   .table = &flo_scene_shape_table,                                                                          \
   .frame = FLO_FRAME_PLACE},                                                                                \
      {"at", VECTOR, COORDINATE, "m", .help = "where the centre is; the origin if no place is given"},       \
      {"corner", VECTOR, COORDINATE, "m",                                                                    \
       .help = "instead: the lowest corner before turning (of a tank: of its inner space, and the origin "   \
               "by default)"},                                                                               \
      {"base", VECTOR, COORDINATE, "m", .help = "instead: the middle of the bottom before turning"}, {       \
    "rotate", OBJECT, ANY, NULL, .help = "turns the shape about its centre",                                 \
                                 .table = &flo_scene_rotation_table                                          \
  }
#define ONE_PLACE .at_most_one = {"at", "corner", "base"}

// When something acts; nothing written for the end means for ever.
#define SPAN_KEYS                                                                                            \
  {"start", NUMBER, WITHIN(MAX_TIME), "s", .help = "when it begins", .fallback = "0"}, {                     \
    "end", NUMBER, WITHIN(MAX_TIME), "s", .help = "when it ends; without it, never"                          \
  }

// A list whose entries have these keys is expanded: each entry becomes as many as they say.
#define INSTANCE_KEYS                                                                                        \
  {"grid", OBJECT, ANY, NULL, .help = "many, in rows and columns", .table = &flo_scene_grid_table},          \
      {"stack",                                                                                              \
       OBJECT,                                                                                               \
       ANY,                                                                                                  \
       NULL,                                                                                                 \
       .help = "many, side by side and on top of each other",                                                \
       .table = &flo_scene_stack_table},                                                                     \
      {"circle", OBJECT, ANY, NULL, .help = "many, in a circle", .table = &flo_scene_circle_table}, {        \
    "scatter", OBJECT, ANY, NULL, .help = "many, at random", .table = &flo_scene_scatter_table               \
  }
#define ONE_INSTANCING .also_at_most_one = {"grid", "stack", "circle", "scatter"}

// ---- Materials ----

#define ROLLING_KEY                                                                                          \
  {                                                                                                          \
    "rolling_friction", NUMBER, FROM(0, 1e3), "m",                                                           \
        .help = "largest torque against rolling and spinning, per normal force; of two that touch, the "     \
                "larger counts",                                                                             \
        .fallback = "0"                                                                                      \
  }

#define SURFACE_KEYS(otherwise)                                                                              \
  {"slip", NUMBER, FROM(0, 1), NULL,                                                                         \
   .help =                                                                                                   \
       "how fluid moves along it with `direct-forcing`: 0 sticks, 1 glides; without it, " otherwise "1"},    \
  {                                                                                                          \
    "restitution", NUMBER, FROM(0, 1), NULL,                                                                 \
        .help = "share of its approach that fluid bounces back with, with `direct-forcing`; without "        \
                "it, " otherwise "0"                                                                         \
  }

static const FloSceneKey material_keys[] = {
    {"density", NUMBER, FROM(1e-6, 1e6), "kg/m³", .help = "density at rest", .library = default_density},
    {"viscosity", NUMBER, VISCOSITY, "m²/s", .help = "kinematic viscosity", .library = default_viscosity},
    {"wall_viscosity", NUMBER, VISCOSITY, "m²/s",
     .help = "kinematic viscosity felt between the fluid and solids; without it, the same as viscosity"},
    {"friction", NUMBER, FROM(0, 1e3), NULL,
     .help =
         "dry friction of bodies made of it; of two that touch, the smaller coefficient counts. Without it "
         "the other's does, and 0.5 where neither has one"},
    {"surface_tension", NUMBER, FROM(0, MAX_TENSION), "N/m",
     .help = "of the fluid against air (water: 0.072)", .fallback = "0"},
    {"adhesion", NUMBER, FROM(0, MAX_TENSION), "N/m",
     .help = "work that it takes to part the fluid from a square metre of solid: surface_tension times (1 + "
             "cos of the contact angle)",
     .fallback = "0"},
    SURFACE_KEYS(""),
};

static const FloSceneTable material_table = {"a material", TABLE(material_keys)};

// ---- Boundaries and their motions ----

static const FloSceneKey turning_keys[] = {
    {"axis", TRIPLE, COORDINATE, NULL, .help = "axis to turn about; need not have length one",
     .fallback = "[0, 0, 1]", .frame = FLO_FRAME_DIRECTION},
    {"rate", NUMBER, WITHIN(MAX_RATE), "rad/s", .help = "how fast", .is_required = true},
    {"centre", VECTOR, COORDINATE, "m", .help = "a point on the axis; without it, the body's place",
     .frame = FLO_FRAME_POINT},
};

static const FloSceneTable turning_table = {"a turning motion", TABLE(turning_keys)};

static const FloSceneKey oscillation_keys[] = {
    {"amplitude", VECTOR, COORDINATE, "m", .help = "largest offset to either side", .is_required = true,
     .frame = FLO_FRAME_DIRECTION},
    {"frequency", NUMBER, ABOVE(0, MAX_RATE), "Hz", .help = "periods in a second", .is_required = true},
    {"phase", NUMBER, WITHIN(1e9), "rad", .help = "where in the period it begins", .fallback = "0"},
};

static const FloSceneTable oscillation_table = {"an oscillation", TABLE(oscillation_keys)};

static const FloSceneKey keyframe_keys[] = {
    {"time", NUMBER, WITHIN(MAX_TIME), "s", .help = "when; later than the keyframe before",
     .is_required = true},
    {"at", VECTOR, COORDINATE, "m", .help = "where the body's centre is then", .is_required = true,
     .frame = FLO_FRAME_POINT},
    {"rotate", OBJECT, ANY, NULL, .help = "how the body is turned then", .table = &flo_scene_rotation_table,
     .frame = FLO_FRAME_TURN},
};

static const FloSceneTable keyframe_table = {"a keyframe", TABLE(keyframe_keys)};

static const FloSceneKey motion_keys[] = {
    {"translate", VECTOR, WITHIN(MAX_SPEED), "m/s", .help = "moves with this velocity",
     .frame = FLO_FRAME_DIRECTION},
    {"rotate", OBJECT, ANY, NULL, .help = "turns steadily", .table = &turning_table},
    {"oscillate", OBJECT, ANY, NULL, .help = "moves to and fro as a sine", .table = &oscillation_table},
    {"keyframes", LIST, ANY, NULL, .help = "passes through poses at given times", .table = &keyframe_table},
    SPAN_KEYS,
};

static const FloSceneTable motion_table = {"a motion", TABLE(motion_keys),
                                           .exactly_one = {"translate", "rotate", "oscillate", "keyframes"}};

#define SAMPLING_KEY                                                                                         \
  {                                                                                                          \
    "sampling", NUMBER, FROM(FLO_FINEST_SAMPLING, FLO_COARSEST_SAMPLING), NULL,                              \
        .help = "distance of its samples, in spacings of the fluid: less than 1 is finer, more is coarser",  \
        .fallback = "1"                                                                                      \
  }

static const FloSceneKey boundary_keys[] = {
    {"name", NAME, ANY, NULL, .help = "what probes and reports call it; without it, 'boundary' and a number"},
    PLACE_KEYS,
    {"look", TEXT, ANY, NULL,
     .help = "how pictures show it: as its particles, by its edges (outline, glass), not at all, or in the "
             "colour "
             "of a substance; without it, by what it is",
     .choices = looks},
    {"relax", BOOLEAN, ANY, NULL,
     .help =
         "lets samples on triangles push each other apart until they stand evenly; those of boxes, spheres, "
         "cylinders, tanks and in 2D are even already",
     .fallback = "false"},
    {"inset", NUMBER, POSITIVE, "m",
     .help = "depth of the outermost samples below the surface, up to a spacing; without it, half a spacing"},
    SAMPLING_KEY,
    {"friction", NUMBER, FROM(0, 1e3), NULL,
     .help = "dry friction against bodies; without it, theirs alone counts"},
    ROLLING_KEY,
    SURFACE_KEYS(""),
    {"motions", LIST, ANY, NULL,
     .help = "prescribed motions, one on top of the other; without any it stands still",
     .table = &motion_table},
    INSTANCE_KEYS,
};

static const FloSceneTable boundary_table = {"a boundary", TABLE(boundary_keys), ONE_PLACE, ONE_INSTANCING};

// ---- Bodies ----

static const FloSceneKey body_keys[] = {
    {"name", NAME, ANY, NULL, .help = "what probes and reports call it; without it, 'body' and a number"},
    {"material", TEXT | OBJECT, ANY, NULL, .help = "name of a material, or one described on the spot",
     .is_required = true, .table = &material_table},
    PLACE_KEYS,
    {"thickness", NUMBER, POSITIVE, "m",
     .help = "makes it a hollow shell that weighs as a sheet of this thickness; without it, it is solid"},
    {"velocity", VECTOR, WITHIN(MAX_SPEED), "m/s", .help = "of its centre of mass, at the start",
     .fallback = "[0, 0, 0]", .frame = FLO_FRAME_DIRECTION},
    {"angular_velocity", TRIPLE, WITHIN(MAX_RATE), "rad/s", .help = "at the start", .fallback = "[0, 0, 0]",
     .frame = FLO_FRAME_DIRECTION},
    {"friction", NUMBER, FROM(0, 1e3), NULL, .help = "dry friction; without it, the material's"},
    ROLLING_KEY,
    SURFACE_KEYS("the material's, or "),
    {"lock", TEXT, ANY, NULL, .help = "axes along which it does not move, for example \"xy\"",
     .frame = FLO_FRAME_AXES},
    {"lock_rotation", TEXT, ANY, NULL, .help = "axes about which it does not turn, for example \"xyz\"",
     .frame = FLO_FRAME_AXES},
    {"release", NUMBER, FROM(0, MAX_TIME), "s", .help = "until then it is held where it is", .fallback = "0"},
    {"look", TEXT, ANY, NULL,
     .help = "how pictures show it, as for boundaries; without it, as something of its own colour",
     .choices = looks},
    {"relax", BOOLEAN, ANY, NULL, .help = "as for boundaries", .fallback = "false"},
    {"inset", NUMBER, POSITIVE, "m", .help = "as for boundaries"},
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
   .help = "name of a material, or one described on the spot",                                               \
   .is_required = true,                                                                                      \
   .table = &material_table},                                                                                \
      PLACE_KEYS,                                                                                            \
      {"packing",                                                                                            \
       TEXT,                                                                                                 \
       ANY,                                                                                                  \
       NULL,                                                                                                 \
       .help = "the lattice its particles start on: rows and columns, or as densely packed spheres",         \
       .fallback = "\"cubic\"",                                                                              \
       .choices = packings},                                                                                 \
      {"velocity",                                                                                           \
       FIELD,                                                                                                \
       WITHIN(MAX_SPEED),                                                                                    \
       "m/s",                                                                                                \
       .help = "at the start; components may be expressions in x, y and z",                                  \
       .frame = FLO_FRAME_DIRECTION},                                                                        \
  {                                                                                                          \
    "angular_velocity", TRIPLE, WITHIN(MAX_RATE), "rad/s", .help = "at the start, about the shape's centre", \
                                                           .frame = FLO_FRAME_DIRECTION                      \
  }

static const FloSceneKey fluid_keys[] = {FLUID_KEYS, INSTANCE_KEYS};

static const FloSceneTable fluid_table = {"a fluid", TABLE(fluid_keys), ONE_PLACE, ONE_INSTANCING};

static const FloSceneKey emitter_keys[] = {
    {"name", NAME, ANY, NULL, .help = "what events call it; without it, 'emitter' and a number"},
    {"material", TEXT | OBJECT, ANY, NULL, .help = "name of a material, or one described on the spot",
     .is_required = true, .table = &material_table},
    {"at", VECTOR, COORDINATE, "m", .help = "middle of the opening", .is_required = true,
     .frame = FLO_FRAME_POINT},
    {"direction", VECTOR, COORDINATE, NULL, .help = "where the stream goes; need not have length one",
     .is_required = true, .frame = FLO_FRAME_DIRECTION},
    {"size", NUMBER | PAIR, POSITIVE, "m", .help = "width and height of a rectangular opening (2D: width)"},
    {"diameter", NUMBER, POSITIVE, "m", .help = "instead: diameter of a round opening"},
    {"upright", TRIPLE, COORDINATE, NULL,
     .help =
         "where the height of a rectangular opening points, as far as the direction allows; without it, up",
     .frame = FLO_FRAME_UPRIGHT},
    {"speed", NUMBER, ABOVE(0, MAX_SPEED), "m/s", .help = "of the fluid as it leaves the opening",
     .is_required = true},
    SPAN_KEYS,
    INSTANCE_KEYS,
};

static const FloSceneTable emitter_table = {"an emitter", TABLE(emitter_keys),
                                            .exactly_one = {"size", "diameter"}, ONE_INSTANCING};

static const FloSceneKey sink_keys[] = {
    {"name", NAME, ANY, NULL, .help = "what events call it; without it, 'sink' and a number"},
    PLACE_KEYS,
    SPAN_KEYS,
    INSTANCE_KEYS,
};

static const FloSceneTable sink_table = {"a sink", TABLE(sink_keys), ONE_PLACE, ONE_INSTANCING};

// ---- Groups ----

static const FloSceneKey place_keys[] = {
    {"group", TEXT, ANY, NULL, .help = "which of the groups", .is_required = true},
    {"name", NAME, ANY, NULL, .help = "what the names of its parts begin with; without it, the group's name"},
    {"at", VECTOR, COORDINATE, "m", .help = "where the group's origin comes to stand",
     .fallback = "[0, 0, 0]"},
    {"rotate", OBJECT, ANY, NULL, .help = "turns the group about its origin",
     .table = &flo_scene_rotation_table},
    INSTANCE_KEYS,
};

static const FloSceneTable place_table = {"a placed group", TABLE(place_keys), ONE_INSTANCING};

// What a scene and a group may hold. A list whose table has INSTANCE_KEYS is expanded without further ado.
#define THING_LISTS(fallback_)                                                                               \
  {"boundaries",                                                                                             \
   LIST,                                                                                                     \
   ANY,                                                                                                      \
   NULL,                                                                                                     \
   .help = "solids that stand still or follow a prescribed motion",                                          \
   .fallback = fallback_,                                                                                    \
   .table = &boundary_table},                                                                                \
      {"bodies",                                                                                             \
       LIST,                                                                                                 \
       ANY,                                                                                                  \
       NULL,                                                                                                 \
       .help = "solids that fluid, other bodies and gravity push around",                                    \
       .fallback = fallback_,                                                                                \
       .table = &body_table},                                                                                \
      {"fluids",                                                                                             \
       LIST,                                                                                                 \
       ANY,                                                                                                  \
       NULL,                                                                                                 \
       .help = "fluid there from the start",                                                                 \
       .fallback = fallback_,                                                                                \
       .table = &fluid_table},                                                                               \
      {"emitters",                                                                                           \
       LIST,                                                                                                 \
       ANY,                                                                                                  \
       NULL,                                                                                                 \
       .help = "openings from which fluid streams",                                                          \
       .fallback = fallback_,                                                                                \
       .table = &emitter_table},                                                                             \
      {"sinks",                                                                                              \
       LIST,                                                                                                 \
       ANY,                                                                                                  \
       NULL,                                                                                                 \
       .help = "regions in which fluid vanishes",                                                            \
       .fallback = fallback_,                                                                                \
       .table = &sink_table},                                                                                \
  {                                                                                                          \
    "place", LIST, ANY, NULL, .help = "groups, and where they stand", .table = &place_table                  \
  }

static const FloSceneKey group_keys[] = {THING_LISTS(NULL)};

static const FloSceneTable group_table = {"a group", TABLE(group_keys)};

// ---- Fills ----

static const FloSceneKey fill_keys[] = {
    {"material", TEXT | OBJECT, ANY, NULL, .help = "name of a material, or one described on the spot",
     .is_required = true, .table = &material_table},
    {"seed", VECTOR, COORDINATE, "m",
     .help = "a point in the vessel, from which fluid spreads through all that solids leave free",
     .is_required = true},
    {"level", NUMBER, COORDINATE, "m", .help = "height of the surface", .is_required = true},
    {"velocity", VECTOR, WITHIN(MAX_SPEED), "m/s", .help = "at the start"},
    {"packing", TEXT, ANY, NULL,
     .help = "the lattice its particles start on: rows and columns, or as densely packed spheres",
     .fallback = "\"cubic\"", .choices = packings},
};

static const FloSceneTable fill_table = {"a fill", TABLE(fill_keys)};

// ---- Particles from files ----

static const FloSceneKey particles_keys[] = {
    {"material", TEXT | OBJECT, ANY, NULL, .help = "name of a material, or one described on the spot",
     .is_required = true, .table = &material_table},
    {"file", TEXT, ANY, NULL,
     .help =
         "CSV with columns x, y, z and, if wanted, vx, vy, vz (z and vz: 3D only), found from the scene's "
         "folder; where there is a column type, only rows that say fluid are taken",
     .is_required = true},
    {"rows", TEXT, ANY, NULL, .help = "only rows that say this in the column material; without it, all"},
};

static const FloSceneTable particles_table = {"a file of particles", TABLE(particles_keys)};

// ---- Events ----

static const FloSceneKey added_fluid_keys[] = {FLUID_KEYS};

static const FloSceneTable added_fluid_table = {"a fluid of an event", TABLE(added_fluid_keys), ONE_PLACE};

static const FloSceneKey change_keys[] = {
    {"friction", NUMBER, FROM(0, 1e3), NULL, .help = "dry friction from then on", .is_required = true},
    {"within", NUMBER, FROM(0, MAX_TIME), "s", .help = "how long the change takes", .fallback = "0"},
};

static const FloSceneTable change_table = {"a change", TABLE(change_keys)};

static const FloSceneKey event_keys[] = {
    {"at", NUMBER, FROM(0, MAX_TIME), "s", .help = "when it happens", .is_required = true},
    {"emitter", TEXT, ANY, NULL, .help = "name of the emitter to start or stop"},
    {"sink", TEXT, ANY, NULL, .help = "name of the sink to start or stop"},
    {"boundary", TEXT, ANY, NULL, .help = "name of the boundary whose motions start or stop"},
    {"body", TEXT, ANY, NULL,
     .help = "name of a body or boundary that is released or set; with a '*' at its end, of all whose names "
             "begin so"},
    {"start", BOOLEAN, ANY, NULL, .help = "true: it starts; before its first start it waits"},
    {"stop", BOOLEAN, ANY, NULL, .help = "true: it stops"},
    {"release", BOOLEAN, ANY, NULL, .help = "true: the body is held where it is until then"},
    {"set", OBJECT, ANY, NULL, .help = "what becomes of the body", .table = &change_table},
    {"add", OBJECT, ANY, NULL, .help = "fluid that is there from then on", .table = &added_fluid_table},
};

static const FloSceneTable event_table = {"an event", TABLE(event_keys),
                                          .exactly_one = {"emitter", "sink", "boundary", "body", "add"},
                                          .also_exactly_one = {"start", "stop", "release", "set", "add"}};

// ---- Probes, expectations, camera ----

static const FloSceneKey probe_keys[] = {
    {"name", NAME, ANY, NULL, .help = "heads its column in the series", .is_required = true},
    {"pressure", VECTOR, COORDINATE, "m", .help = "the pressure at this point"},
    {"water_height", VECTOR, COORDINATE, "m", .help = "the height of the surface above this point"},
    {"front", TEXT, ANY, NULL, .help = "how far the fluid has come along this axis", .choices = axes},
    {"force", TEXT, ANY, NULL,
     .help = "the force on the boundary or body of this name, by fluid and other bodies"},
    {"torque", TEXT, ANY, NULL,
     .help = "the torque on the boundary or body of this name, by fluid and other bodies"},
};

static const FloSceneTable probe_table = {
    "a probe", TABLE(probe_keys), .exactly_one = {"pressure", "water_height", "front", "force", "torque"}};

static const FloSceneKey expect_keys[] = {
    {"measurement", NAME, ANY, NULL, .help = "a measurement of the summary or the name of a probe"},
    {"figure", NAME, ANY, NULL, .help = "the older name of `measurement`, for scenes that have it"},
    {"min", NUMBER, ANY, NULL, .help = "least value that is right"},
    {"max", NUMBER, ANY, NULL, .help = "greatest value that is right"},
    {"paper", TEXT, ANY, NULL,
     .help = "what the paper has, to be shown beside the value; without min and max nothing is judged"},
};

static const FloSceneTable expect_table = {"an expectation", TABLE(expect_keys),
                                           .exactly_one = {"measurement", "figure"},
                                           .at_least_one = {"min", "max", "paper"}};

static const FloSceneKey camera_keys[] = {
    {"from", TRIPLE, COORDINATE, "m", .help = "where the camera stands", .is_required = true},
    {"look_at", TRIPLE, COORDINATE, "m", .help = "the point in the middle of the picture",
     .is_required = true},
    {"field_of_view", NUMBER, FROM(1, 170), "degrees", .help = "from the bottom to the top of the picture",
     .fallback = "40"},
};

static const FloSceneTable camera_table = {"a camera", TABLE(camera_keys)};

// ---- The scene ----

static const FloSceneKey periodic_keys[] = {
    {"low", VECTOR, COORDINATE, "m", .help = "lowest corner of the box that repeats", .is_required = true},
    {"high", VECTOR, COORDINATE, "m", .help = "highest corner of the box that repeats", .is_required = true},
    {"axes", TEXT, ANY, NULL, .help = "axes along which it repeats, such as \"x\" or \"xy\"",
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
    {"title", TEXT, ANY, NULL, .help = "one line; without it, the file's name"},
    {"shows", TEXT, ANY, NULL, .help = "a sentence that says what to look for", .fallback = "\"\""},
    {"include", SPECIAL, ANY, NULL,
     .help = "files that hold keys of this scene, relative to this file: text or a list of texts"},
    {"dimension", INTEGER, FROM(2, 3), NULL, .help = "2 (the plane z = 0) or 3", .fallback = "3"},
    {"up", TEXT, ANY, NULL, .help = "axis against gravity; without it, z (in 2D y)", .choices = axes},
    {"constants", MAP, ANY, NULL, .help = "names for numbers, to be used in expressions", .fallback = "{}"},
    {"sizes", SPECIAL | MAP, ANY, NULL,
     .help = "named variants of the scene, each a few constants with other values"},
    {"spacing", NUMBER, POSITIVE, "m", .help = "distance of neighbouring particles at rest",
     .is_required = true},
    {"duration", NUMBER, ABOVE(0, MAX_TIME), "s", .help = "how long to simulate", .is_required = true},
    {"frames_per_second", NUMBER, ABOVE(0, 1e6), "1/s", .help = "how often to write output",
     .fallback = "30"},
    {"gravity", NUMBER | VECTOR, WITHIN(MAX_ACCELERATION), "m/s²",
     .help = "strength (downwards), or a vector", .fallback = "9.81"},
    {"kernel", TEXT, ANY, NULL, .help = "smoothing kernel", .library = default_kernel},
    {"support",
     NUMBER,
     {1.2, 6, false, true},
     "spacings",
     .help = "kernel support radius; 0: the kernel's own",
     .fallback = "0"},
    {"time_step", NUMBER, FROM(0, MAX_TIME), "s", .help = "fixed time step; 0: chosen each step",
     .fallback = "0"},
    {"cfl", NUMBER, ABOVE(0, 2), "spacings", .help = "how far the fastest particle may travel in a step",
     .library = default_cfl},
    {"min_time_step", NUMBER, FROM(0, MAX_TIME), "s",
     .help = "needing a shorter one means that the run has failed", .library = default_min_time_step},
    {"max_time_step", NUMBER, ABOVE(0, MAX_TIME), "s", .help = "longest time step",
     .library = default_max_time_step},
    {"settle", NUMBER, FROM(0, MAX_TIME), "s",
     .help = "before time zero the fluid comes to rest for this long, braked, while all else waits",
     .fallback = "0"},
    {"overlaps", TEXT, ANY, NULL,
     .help = "what to do with bodies that stand in each other or in a boundary at the start: push them apart "
             "gently, or refuse the scene",
     .fallback = "\"separate\"", .choices = overlap_choices},
    {"periodic", OBJECT, ANY, NULL, .help = "a box that repeats", .table = &periodic_table},
    {"max_particles", INTEGER, FROM(0, 2e8), NULL, .help = "emitters stop at this many; 0: no limit",
     .fallback = "0"},
    {"method", OBJECT, ANY, NULL, .help = "how fluid and solids are computed: its name and its parameters",
     .fallback = "{}", .table = &method_table},
    {"materials", MAP, ANY, NULL, .help = "what fluids are made of", .fallback = "{}",
     .table = &material_table},
    {"groups", MAP, ANY, NULL, .help = "things that belong together, to be placed as a whole",
     .table = &group_table},
    THING_LISTS("[]"),
    {"fills", LIST, ANY, NULL, .help = "vessels filled from a point up to a level", .fallback = "[]",
     .table = &fill_table},
    {"particles", LIST, ANY, NULL, .help = "fluid particles one by one, from files", .fallback = "[]",
     .table = &particles_table},
    {"events", LIST, ANY, NULL, .help = "what happens at given times", .fallback = "[]",
     .table = &event_table},
    {"probes", LIST, ANY, NULL, .help = "what to measure over time", .fallback = "[]", .table = &probe_table},
    {"expect", LIST, ANY, NULL, .help = "what must be true of the result", .fallback = "[]",
     .table = &expect_table},
    {"camera", OBJECT, ANY, NULL, .help = "for pictures; without it, all is in view", .table = &camera_table},
    {"colour_by", TEXT, ANY, NULL, .help = "what the colours of particles show", .fallback = "\"speed\"",
     .choices = colourings},
    {"$schema", TEXT, ANY, NULL, .help = "where this format's JSON Schema is, for editors; not read"},
};

const FloSceneTable flo_scene_table = {"a scene", TABLE(scene_keys)};

const FloSceneKey *flo_scene_find_key(const FloSceneTable *table, const char *name) {
  for (size_t k = 0; k < table->n_keys; k++)
    if (!strcmp(table->keys[k].name, name)) return &table->keys[k];
  return NULL;
}
