// Tables of shapes, rotations, and ways to place many instances of one entry.
#include "io/scene_words.h"

// ---- Shapes and rotations ----

static const FloSceneKey heightfield_keys[] = {
    {"size", PAIR, POSITIVE, "m", .help = "size along x and y, centred on the origin", .is_required = true},
    {"cells", PAIR, FROM(1, 1000), NULL, .help = "number of cells along x and y; more is finer",
     .fallback = "[64, 64]"},
    {"height", TEXT, ANY, "m",
     .help = "height as an expression in x and y, which are measured from the middle", .is_required = true},
    {"depth", NUMBER, POSITIVE, "m", .help = "thickness of the block below its lowest point",
     .is_required = true},
};

static const FloSceneTable heightfield_table = {"a heightfield", TABLE(heightfield_keys)};

static const FloSceneKey outline_keys[] = {
    {"points", POINTS, COORDINATE, "m",
     .help = "its corners in order, clockwise or counter-clockwise; sides must not cross",
     .is_required = true},
    {"depth", NUMBER, POSITIVE, "m",
     .help = "length along z, half to either side; required in 3D, not allowed in 2D"},
};

static const FloSceneTable outline_table = {"an outline", TABLE(outline_keys)};

static const FloSceneKey shape_keys[] = {
    {"box", NUMBER | VECTOR, POSITIVE, "m", .help = "edge lengths, or one edge of a cube (a square in 2D)"},
    {"sphere", NUMBER, POSITIVE, "m", .help = "radius of a sphere (a disc in 2D)"},
    {"cylinder", PAIR, POSITIVE, "m",
     .help = "radius and length of a cylinder along the shape's z axis; 3D only, like all shapes below "
             "except outline and tank"},
    {"capsule", PAIR, POSITIVE, "m",
     .help = "radius of a capsule, and distance between the centres of its caps along z"},
    {"cone", TRIPLE, FROM(0, 1e6), "m",
     .help = "radius of a cone at the bottom, radius at the top (0: a point), length along z"},
    {"torus", PAIR, POSITIVE, "m", .help = "radius of a torus (the ring), radius of its tube; the axis is z"},
    {"tube", TRIPLE, POSITIVE, "m",
     .help = "outer and inner radius of a tube, length along z; open at both ends"},
    {"plane", PAIR, POSITIVE, "m", .help = "size along x and y of a slab; its top is at its origin"},
    {"ramp", TRIPLE, POSITIVE, "m", .help = "length, width and height of a prism that rises along x"},
    {"wedge", TRIPLE, POSITIVE, "m", .help = "edge lengths of a roof with its ridge along y"},
    {"link", TRIPLE, POSITIVE, "m", .help = "outer length and width of a chain link, radius of its wire"},
    {"card", TRIPLE, POSITIVE, "m", .help = "width, height and thickness of a card with round corners"},
    {"letters", TEXT, ANY, NULL, .help = "capital letters and digits as upright solids"},
    {"heightfield", OBJECT, ANY, NULL, .help = "a block with a landscape on top",
     .table = &heightfield_table},
    {"outline", OBJECT, ANY, NULL, .help = "a polygon; in 3D a prism along z with this cross-section",
     .table = &outline_table},
    {"duck", NUMBER, POSITIVE, "m",
     .help = "length of a bath duck; its up direction is z, its head points along x"},
    {"rabbit", NUMBER, POSITIVE, "m", .help = "height of a sitting rabbit"},
    {"armadillo", NUMBER, POSITIVE, "m", .help = "height of a standing armadillo"},
    {"mesh", TEXT, ANY, NULL,
     .help = "file of triangles (OBJ, STL, PLY); a relative path starts at the scene's folder. The origin of "
             "the file is the origin of the shape"},
    {"tank", NUMBER | VECTOR, POSITIVE, "m",
     .help = "inner edge lengths of a container that is open at the top; boundaries only"},
    {"sheet", NUMBER | PAIR, POSITIVE, "m",
     .help =
         "cloth only: size along x and y of a flat sheet, or one side of a square; in 2D, the length of a "
         "line along x"},
    {"disc", NUMBER, POSITIVE, "m", .help = "cloth only: radius of a flat disc in the x-y plane"},
    {"hose", PAIR, POSITIVE, "m",
     .help = "cloth only: radius of a hose without ends, and its length along z"},
    {"bag", PAIR, FROM(0, 1e6), "m",
     .help = "cloth only: radius of a bag, and length of its tube along z (0: none), above a round bottom"},
    {"cell", NUMBER, POSITIVE, "m",
     .help = "cloth only: length of its triangles' sides; without it, two spacings"},
    {"cells", INTEGER, FROM(1, 1e4), NULL,
     .help = "sheet only, instead of cell: number of cells along its longer side"},
    {"closed", BOOLEAN, ANY, NULL, .help = "tank: true adds a lid; bag: true adds a round top"},
    {"rounding", NUMBER, POSITIVE, "m",
     .help = "box (3D only): radius of its edges; card: radius of its corners"},
    {"thickness", NUMBER, POSITIVE, "m", .help = "plane only: its thickness; without it, four spacings"},
    {"height", NUMBER, POSITIVE, "m", .help = "letters only: their height; without it, 1"},
    {"depth", NUMBER, POSITIVE, "m",
     .help = "letters only: their depth; without it, a quarter of their height"},
    {"stroke", NUMBER, POSITIVE, "m",
     .help = "letters only: width of their strokes; without it, a sixth of their height"},
    {"hollow", BOOLEAN, ANY, NULL, .help = "letters only: true makes them hollow, with a solid skin"},
    {"scale", NUMBER, POSITIVE, NULL,
     .help = "mesh only: factor for its coordinates; 0.001 if the file is in millimetres"},
};

const FloSceneTable flo_scene_shape_table = {
    "a shape", TABLE(shape_keys),
    .exactly_one = {"box",     "sphere",      "cylinder", "capsule", "cone",   "torus",
                    "tube",    "plane",       "ramp",     "wedge",   "link",   "card",
                    "letters", "heightfield", "outline",  "duck",    "rabbit", "armadillo",
                    "mesh",    "tank",        "sheet",    "disc",    "hose",   "bag"},
    .at_most_one = {"cell", "cells"}};

static const FloSceneKey rotation_keys[] = {
    {"axis", TRIPLE, WITHIN(MAX_LENGTH), NULL, .help = "axis of the rotation; any length",
     .fallback = "[0, 0, 1]"},
    {"angle", NUMBER, WITHIN(1e9), "degrees",
     .help = "angle; counter-clockwise when the axis points at the viewer", .is_required = true},
};

const FloSceneTable flo_scene_rotation_table = {"a rotation", TABLE(rotation_keys)};

// ---- Many of a kind ----

static const char *const grid_origins[] = {"centre", "corner", NULL};

static const FloSceneKey grid_keys[] = {
    {"count", COUNTS, FROM(1, MAX_INSTANCES), NULL, .help = "number of copies along x, y and z",
     .is_required = true},
    {"step", VECTOR, COORDINATE, "m", .help = "distance from one to the next along x, y and z",
     .fallback = "[0, 0, 0]"},
    {"from", TEXT, ANY, NULL,
     .help = "whether the entry's position is the centre of the grid or its first instance",
     .fallback = "\"centre\"", .choices = grid_origins},
};

const FloSceneTable flo_scene_grid_table = {"a grid", TABLE(grid_keys)};

static const FloSceneKey stack_keys[] = {
    {"columns", INTEGER, FROM(1, MAX_INSTANCES), NULL,
     .help = "number side by side along x (y if x is up), centred on the entry's position", .fallback = "1"},
    {"rows", INTEGER, FROM(1, MAX_INSTANCES), NULL, .help = "number on top of each other",
     .is_required = true},
    {"step", PAIR, COORDINATE, "m",
     .help = "distance from column to column and from row to row; without it, the copies touch"},
};

const FloSceneTable flo_scene_stack_table = {"a stack", TABLE(stack_keys)};

static const FloSceneKey circle_keys[] = {
    {"count", INTEGER, FROM(1, MAX_INSTANCES), NULL, .help = "number of copies", .is_required = true},
    {"radius", NUMBER, FROM(0, MAX_LENGTH), "m", .help = "radius of the circle around the entry's position",
     .is_required = true},
    {"axis", TRIPLE, COORDINATE, NULL, .help = "axis of the circle; without it, up (in 2D z)"},
    {"facing", BOOLEAN, ANY, NULL,
     .help = "true: each instance is rotated with the circle, so that the same side of all points outwards",
     .fallback = "false"},
};

const FloSceneTable flo_scene_circle_table = {"a circle", TABLE(circle_keys)};

static const FloSceneKey scatter_keys[] = {
    {"count", INTEGER, FROM(1, MAX_INSTANCES), NULL, .help = "number of copies", .is_required = true},
    {"within", VECTOR, FROM(0, MAX_LENGTH), "m",
     .help = "edge lengths of the box for the copies, centred on the entry's position", .is_required = true},
    {"seed", INTEGER, FROM(0, 1e9), NULL,
     .help = "seed of the random numbers; another seed gives other positions", .fallback = "1"},
    {"apart", NUMBER, FROM(0, MAX_LENGTH), "m", .help = "smallest distance between two centres",
     .fallback = "0"},
    {"turned", BOOLEAN, ANY, NULL, .help = "true: rotates each instance at random", .fallback = "false"},
};

const FloSceneTable flo_scene_scatter_table = {"a scatter", TABLE(scatter_keys)};
