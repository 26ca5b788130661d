#include "io/scene_tables.h"

#include <math.h>

#include "base/core.h"

// clang-format off
#define ANY          {-INFINITY, INFINITY, false}
#define POSITIVE     {0, INFINITY, true}
#define NOT_NEGATIVE {0, INFINITY, false}
#define FROM(a, b)   {a, b, false}
#define ABOVE(a, b)  {a, b, true}
#define TABLE(array) .keys = array, .n_keys = FLO_COUNT_OF(array)
// clang-format on

// Short words, so that a row of a table is a line.
enum {
  NUMBER = FLO_SCENE_NUMBER,
  INTEGER = FLO_SCENE_INTEGER,
  BOOLEAN = FLO_SCENE_BOOLEAN,
  TEXT = FLO_SCENE_TEXT,
  NAME = FLO_SCENE_NAME,
  PAIR = FLO_SCENE_PAIR,
  VECTOR = FLO_SCENE_VECTOR,
  TRIPLE = FLO_SCENE_TRIPLE,
  FIELD = FLO_SCENE_FIELD,
  OBJECT = FLO_SCENE_OBJECT,
  LIST = FLO_SCENE_LIST,
  MAP = FLO_SCENE_MAP,
  SPECIAL = FLO_SCENE_SPECIAL,
};

// ---- Defaults that are the library's business ----

static json_t *default_cfl(void) { return json_real(flo_default_world_def().cfl); }
static json_t *default_min_time_step(void) { return json_real(flo_default_world_def().min_time_step); }
static json_t *default_max_time_step(void) { return json_real(flo_default_world_def().max_time_step); }
static json_t *default_kernel(void) { return json_string(flo_kernel_name(flo_default_world_def().kernel)); }
static json_t *default_method(void) { return json_string(flo_default_world_def().method); }
static json_t *default_density(void) { return json_real(flo_default_material_def().density); }
static json_t *default_viscosity(void) { return json_real(flo_default_material_def().viscosity); }

static const char *const axes[] = {"x", "y", "z", NULL};
static const char *const colourings[] = {"speed", "pressure", "density", NULL};

// ---- Shapes and where they stand ----

static const FloSceneKey shape_keys[] = {
    {"box", NUMBER | VECTOR, POSITIVE, "m", .help = "edge lengths, or one edge of a cube (a square in 2D)"},
    {"sphere", NUMBER, POSITIVE, "m", .help = "radius of a sphere (a disc in 2D)"},
    {"cylinder", PAIR, POSITIVE, "m",
     .help = "radius and length of a cylinder along the shape's z axis; 3D only"},
    {"tank", NUMBER | VECTOR, POSITIVE, "m",
     .help = "inner edge lengths of a container that is open at the top; boundaries only"},
    {"closed", BOOLEAN, ANY, NULL, .help = "gives a tank a lid"},
};

static const FloSceneTable shape_table = {"a shape", TABLE(shape_keys),
                                          .exactly_one = {"box", "sphere", "cylinder", "tank"}};

static const FloSceneKey rotation_keys[] = {
    {"axis", TRIPLE, ANY, NULL, .help = "axis to turn about; need not have length one",
     .fallback = "[0, 0, 1]"},
    {"angle", NUMBER, ANY, "degrees", .help = "how far, counter-clockwise seen against the axis",
     .is_required = true},
};

static const FloSceneTable rotation_table = {"a rotation", TABLE(rotation_keys)};

// The keys that place a shape, alike for boundaries, fluids and sinks.
#define PLACE_KEYS                                                                                           \
  {"shape", OBJECT, ANY, NULL, .help = "its figure", .is_required = true, .table = &shape_table},            \
      {"at", VECTOR, ANY, "m", .help = "where the centre is; the origin if no place is given"},              \
      {"corner", VECTOR, ANY, "m",                                                                           \
       .help = "instead: the lowest corner before turning (of a tank: of its inner space, and the origin "   \
               "by default)"},                                                                               \
      {"base", VECTOR, ANY, "m", .help = "instead: the middle of the bottom before turning"}, {              \
    "rotate", OBJECT, ANY, NULL, .help = "turns the shape about its centre", .table = &rotation_table        \
  }
#define ONE_PLACE .at_most_one = {"at", "corner", "base"}

// When something acts; nothing written for the end means for ever.
#define SPAN_KEYS                                                                                            \
  {"start", NUMBER, ANY, "s", .help = "when it begins", .fallback = "0"}, {                                  \
    "end", NUMBER, ANY, "s", .help = "when it ends; without it, never"                                       \
  }

// ---- Materials ----

static const FloSceneKey material_keys[] = {
    {"density", NUMBER, POSITIVE, "kg/m³", .help = "density at rest", .library = default_density},
    {"viscosity", NUMBER, NOT_NEGATIVE, "m²/s", .help = "kinematic viscosity", .library = default_viscosity},
    {"wall_viscosity", NUMBER, NOT_NEGATIVE, "m²/s",
     .help = "kinematic viscosity felt between the fluid and solids; without it, the same as viscosity"},
    {"look", NAME, ANY, NULL, .help = "how pictures show it"},
};

static const FloSceneTable material_table = {"a material", TABLE(material_keys)};

// ---- Boundaries and their motions ----

static const FloSceneKey turning_keys[] = {
    {"axis", TRIPLE, ANY, NULL, .help = "axis to turn about; need not have length one",
     .fallback = "[0, 0, 1]"},
    {"rate", NUMBER, ANY, "rad/s", .help = "how fast", .is_required = true},
    {"centre", VECTOR, ANY, "m", .help = "a point on the axis; without it, the body's place"},
};

static const FloSceneTable turning_table = {"a turning motion", TABLE(turning_keys)};

static const FloSceneKey oscillation_keys[] = {
    {"amplitude", VECTOR, ANY, "m", .help = "largest offset to either side", .is_required = true},
    {"frequency", NUMBER, POSITIVE, "Hz", .help = "periods in a second", .is_required = true},
    {"phase", NUMBER, ANY, "rad", .help = "where in the period it begins", .fallback = "0"},
};

static const FloSceneTable oscillation_table = {"an oscillation", TABLE(oscillation_keys)};

static const FloSceneKey keyframe_keys[] = {
    {"time", NUMBER, ANY, "s", .help = "when; later than the keyframe before", .is_required = true},
    {"at", VECTOR, ANY, "m", .help = "where the body's centre is then", .is_required = true},
    {"rotate", OBJECT, ANY, NULL, .help = "how the body is turned then", .table = &rotation_table},
};

static const FloSceneTable keyframe_table = {"a keyframe", TABLE(keyframe_keys)};

static const FloSceneKey motion_keys[] = {
    {"translate", VECTOR, ANY, "m/s", .help = "moves with this velocity"},
    {"rotate", OBJECT, ANY, NULL, .help = "turns steadily", .table = &turning_table},
    {"oscillate", OBJECT, ANY, NULL, .help = "moves to and fro as a sine", .table = &oscillation_table},
    {"keyframes", LIST, ANY, NULL, .help = "passes through poses at given times", .table = &keyframe_table},
    SPAN_KEYS,
};

static const FloSceneTable motion_table = {"a motion", TABLE(motion_keys),
                                           .exactly_one = {"translate", "rotate", "oscillate", "keyframes"}};

static const FloSceneKey boundary_keys[] = {
    {"name", NAME, ANY, NULL, .help = "what probes and reports call it; without it, 'boundary' and a number"},
    PLACE_KEYS,
    {"look", NAME, ANY, NULL, .help = "how pictures show it"},
    {"motions", LIST, ANY, NULL,
     .help = "prescribed motions, one on top of the other; without any it stands still",
     .table = &motion_table},
};

static const FloSceneTable boundary_table = {"a boundary", TABLE(boundary_keys), ONE_PLACE};

// ---- Fluids, emitters, sinks ----

static const FloSceneKey fluid_keys[] = {
    {"material", TEXT | OBJECT, ANY, NULL, .help = "name of a material, or one described on the spot",
     .is_required = true, .table = &material_table},
    PLACE_KEYS,
    {"velocity", FIELD, ANY, "m/s", .help = "at the start; components may be expressions in x, y and z"},
    {"angular_velocity", TRIPLE, ANY, "rad/s", .help = "at the start, about the shape's centre"},
};

static const FloSceneTable fluid_table = {"a fluid", TABLE(fluid_keys), ONE_PLACE};

static const FloSceneKey emitter_keys[] = {
    {"material", TEXT | OBJECT, ANY, NULL, .help = "name of a material, or one described on the spot",
     .is_required = true, .table = &material_table},
    {"at", VECTOR, ANY, "m", .help = "middle of the opening", .is_required = true},
    {"direction", VECTOR, ANY, NULL, .help = "where the stream goes; need not have length one",
     .is_required = true},
    {"size", NUMBER | PAIR, POSITIVE, "m", .help = "width and height of a rectangular opening (2D: width)"},
    {"diameter", NUMBER, POSITIVE, "m", .help = "instead: diameter of a round opening"},
    {"speed", NUMBER, POSITIVE, "m/s", .help = "of the fluid as it leaves the opening", .is_required = true},
    SPAN_KEYS,
};

static const FloSceneTable emitter_table = {"an emitter", TABLE(emitter_keys),
                                            .exactly_one = {"size", "diameter"}};

static const FloSceneKey sink_keys[] = {PLACE_KEYS, SPAN_KEYS};

static const FloSceneTable sink_table = {"a sink", TABLE(sink_keys), ONE_PLACE};

// ---- Probes, expectations, camera ----

static const FloSceneKey probe_keys[] = {
    {"name", NAME, ANY, NULL, .help = "heads its column in the series", .is_required = true},
    {"pressure", VECTOR, ANY, "m", .help = "the pressure at this point"},
    {"water_height", VECTOR, ANY, "m", .help = "the height of the surface above this point"},
    {"front", TEXT, ANY, NULL, .help = "how far the fluid has come along this axis", .choices = axes},
    {"force", TEXT, ANY, NULL, .help = "the force of the fluid on the boundary of this name"},
    {"torque", TEXT, ANY, NULL, .help = "the torque of the fluid on the boundary of this name"},
};

static const FloSceneTable probe_table = {
    "a probe", TABLE(probe_keys), .exactly_one = {"pressure", "water_height", "front", "force", "torque"}};

static const FloSceneKey expect_keys[] = {
    {"figure", NAME, ANY, NULL, .help = "a figure of the summary or the name of a probe",
     .is_required = true},
    {"min", NUMBER, ANY, NULL, .help = "least value that is right"},
    {"max", NUMBER, ANY, NULL, .help = "greatest value that is right"},
};

static const FloSceneTable expect_table = {"an expectation", TABLE(expect_keys),
                                           .at_least_one = {"min", "max"}};

static const FloSceneKey camera_keys[] = {
    {"from", TRIPLE, ANY, "m", .help = "where the camera stands", .is_required = true},
    {"look_at", TRIPLE, ANY, "m", .help = "the point in the middle of the picture", .is_required = true},
    {"field_of_view", NUMBER, FROM(1, 170), "degrees", .help = "from the bottom to the top of the picture",
     .fallback = "40"},
};

static const FloSceneTable camera_table = {"a camera", TABLE(camera_keys)};

// ---- The scene ----

static const FloSceneKey periodic_keys[] = {
    {"low", VECTOR, ANY, "m", .help = "lowest corner of the box that repeats", .is_required = true},
    {"high", VECTOR, ANY, "m", .help = "highest corner of the box that repeats", .is_required = true},
    {"axes", TEXT, ANY, NULL, .help = "axes along which it repeats, such as \"x\" or \"xy\"",
     .is_required = true},
};

static const FloSceneTable periodic_table = {"a periodic box", TABLE(periodic_keys)};

static const FloSceneKey method_keys[] = {
    {"name", TEXT, ANY, NULL, .help = "one of the methods that `flotsam info` lists",
     .library = default_method},
};

static const FloSceneTable method_table = {"a method", TABLE(method_keys), .has_parameters = true};

static const FloSceneKey scene_keys[] = {
    {"schema_version", INTEGER, FROM(1, 1), NULL, .help = "version of this format: 1", .is_required = true},
    {"title", TEXT, ANY, NULL, .help = "one line; without it, the file's name"},
    {"shows", TEXT, ANY, NULL, .help = "a sentence that says what to look for", .fallback = "\"\""},
    {"dimension", INTEGER, FROM(2, 3), NULL, .help = "2 (the plane z = 0) or 3", .fallback = "3"},
    {"up", TEXT, ANY, NULL, .help = "axis against gravity; without it, z (in 2D y)", .choices = axes},
    {"constants", MAP, ANY, NULL, .help = "names for numbers, to be used in expressions", .fallback = "{}"},
    {"sizes", SPECIAL, ANY, NULL,
     .help = "named variants of the scene, each a few constants with other values"},
    {"spacing", NUMBER, POSITIVE, "m", .help = "distance of neighbouring particles at rest",
     .is_required = true},
    {"duration", NUMBER, POSITIVE, "s", .help = "how long to simulate", .is_required = true},
    {"frames_per_second", NUMBER, POSITIVE, "1/s", .help = "how often to write output", .fallback = "30"},
    {"gravity", NUMBER | VECTOR, ANY, "m/s²", .help = "strength (downwards), or a vector",
     .fallback = "9.81"},
    {"kernel", TEXT, ANY, NULL, .help = "smoothing kernel", .library = default_kernel},
    {"support", NUMBER, FROM(0, 10), "spacings", .help = "kernel support radius; 0: the kernel's own",
     .fallback = "0"},
    {"time_step", NUMBER, NOT_NEGATIVE, "s", .help = "fixed time step; 0: chosen each step", .fallback = "0"},
    {"cfl", NUMBER, ABOVE(0, 10), "spacings", .help = "how far the fastest particle may travel in a step",
     .library = default_cfl},
    {"min_time_step", NUMBER, NOT_NEGATIVE, "s",
     .help = "needing a shorter one means that the run has failed", .library = default_min_time_step},
    {"max_time_step", NUMBER, POSITIVE, "s", .help = "longest time step", .library = default_max_time_step},
    {"periodic", OBJECT, ANY, NULL, .help = "a box that repeats", .table = &periodic_table},
    {"max_particles", INTEGER, FROM(0, 2e8), NULL, .help = "emitters stop at this many; 0: no limit",
     .fallback = "0"},
    {"method", OBJECT, ANY, NULL, .help = "how fluid and solids are computed: its name and its parameters",
     .fallback = "{}", .table = &method_table},
    {"materials", MAP, ANY, NULL, .help = "what fluids are made of", .fallback = "{}",
     .table = &material_table},
    {"boundaries", LIST, ANY, NULL, .help = "solids that stand still or follow a prescribed motion",
     .fallback = "[]", .table = &boundary_table},
    {"fluids", LIST, ANY, NULL, .help = "fluid there from the start", .fallback = "[]",
     .table = &fluid_table},
    {"emitters", LIST, ANY, NULL, .help = "openings from which fluid streams", .fallback = "[]",
     .table = &emitter_table},
    {"sinks", LIST, ANY, NULL, .help = "regions in which fluid vanishes", .fallback = "[]",
     .table = &sink_table},
    {"probes", LIST, ANY, NULL, .help = "what to measure over time", .fallback = "[]", .table = &probe_table},
    {"expect", LIST, ANY, NULL, .help = "what must be true of the result", .fallback = "[]",
     .table = &expect_table},
    {"camera", OBJECT, ANY, NULL, .help = "for pictures; without it, all is in view", .table = &camera_table},
    {"colour_by", TEXT, ANY, NULL, .help = "what the colours of particles show", .fallback = "\"speed\"",
     .choices = colourings},
};

const FloSceneTable flo_scene_table = {"a scene", TABLE(scene_keys)};
