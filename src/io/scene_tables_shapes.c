// Tables of shapes, of rotations, and of the ways to place many instances of one entry.
#include "io/scene_words.h"

// ---- Shapes and rotations ----

static const FloSceneKey heightfield_keys[] = {
    {"size", PAIR, POSITIVE, "m", .help = "extent along x and y", .is_required = true},
    {"cells", PAIR, FROM(1, 1000), NULL, .help = "how many pieces along x and y", .fallback = "[64, 64]"},
    {"height", TEXT, ANY, "m", .help = "an expression in x and y, counted from the middle",
     .is_required = true},
    {"depth", NUMBER, POSITIVE, "m", .help = "how far the block reaches below its lowest point",
     .is_required = true},
};

static const FloSceneTable heightfield_table = {"a heightfield", TABLE(heightfield_keys)};

static const FloSceneKey outline_keys[] = {
    {"points", POINTS, COORDINATE, "m",
     .help = "its corners one after the other, in either sense; sides must not cross", .is_required = true},
    {"depth", NUMBER, POSITIVE, "m",
     .help = "3D only, and needed there: how far it reaches along z, half to either side"},
};

static const FloSceneTable outline_table = {"an outline", TABLE(outline_keys)};

static const FloSceneKey shape_keys[] = {
    {"box", NUMBER | VECTOR, POSITIVE, "m", .help = "edge lengths, or one edge of a cube (a square in 2D)"},
    {"sphere", NUMBER, POSITIVE, "m", .help = "radius of a sphere (a disc in 2D)"},
    {"cylinder", PAIR, POSITIVE, "m",
     .help = "radius and length of a cylinder along the shape's z axis; like all that follow but outline "
             "and tank, 3D only"},
    {"capsule", PAIR, POSITIVE, "m", .help = "radius, and distance of the centres of the caps along z"},
    {"cone", TRIPLE, FROM(0, 1e6), "m",
     .help = "radius at the bottom, at the top (0: a point), length along z"},
    {"torus", PAIR, POSITIVE, "m", .help = "radius of the ring and of its tube; around z"},
    {"tube", TRIPLE, POSITIVE, "m", .help = "radius outside and inside, length along z; open at both ends"},
    {"plane", PAIR, POSITIVE, "m", .help = "extent along x and y of a slab whose top is at its origin"},
    {"ramp", TRIPLE, POSITIVE, "m", .help = "length, width and height of a prism that rises along x"},
    {"wedge", TRIPLE, POSITIVE, "m", .help = "edge lengths of a roof with its ridge along y"},
    {"link", TRIPLE, POSITIVE, "m", .help = "outer length and width of a chain link, radius of its wire"},
    {"card", TRIPLE, POSITIVE, "m", .help = "width, height and thickness of a card with round corners"},
    {"letters", TEXT, ANY, NULL, .help = "capital letters and digits to stand up as solids"},
    {"heightfield", OBJECT, ANY, NULL, .help = "a block with a landscape on top",
     .table = &heightfield_table},
    {"outline", OBJECT, ANY, NULL, .help = "a polygon; in 3D a prism along z with that cross-section",
     .table = &outline_table},
    {"duck", NUMBER, POSITIVE, "m", .help = "length of a bath duck; up is z, it looks along x"},
    {"rabbit", NUMBER, POSITIVE, "m", .help = "height of a sitting rabbit"},
    {"armadillo", NUMBER, POSITIVE, "m", .help = "height of a standing armadillo"},
    {"mesh", TEXT, ANY, NULL,
     .help =
         "file of triangles (OBJ, STL, PLY), found from the scene's folder; its origin becomes the shape's"},
    {"tank", NUMBER | VECTOR, POSITIVE, "m",
     .help = "inner edge lengths of a container that is open at the top; boundaries only"},
    {"closed", BOOLEAN, ANY, NULL, .help = "gives a tank a lid"},
    {"rounding", NUMBER, POSITIVE, "m", .help = "radius of a box's edges (3D), or of a card's corners"},
    {"thickness", NUMBER, POSITIVE, "m", .help = "of a plane; without it, four spacings"},
    {"height", NUMBER, POSITIVE, "m", .help = "of letters; without it, 1"},
    {"depth", NUMBER, POSITIVE, "m", .help = "of letters; without it, a quarter of their height"},
    {"stroke", NUMBER, POSITIVE, "m",
     .help = "width of letters' strokes; without it, a sixth of their height"},
    {"hollow", BOOLEAN, ANY, NULL, .help = "letters of which only a skin is solid"},
    {"scale", NUMBER, POSITIVE, NULL, .help = "multiplies a mesh's coordinates; 0.001 for millimetres"},
};

const FloSceneTable flo_scene_shape_table = {
    "a shape", TABLE(shape_keys),
    .exactly_one = {"box",     "sphere", "cylinder", "capsule",   "cone", "torus",   "tube",
                    "plane",   "ramp",   "wedge",    "link",      "card", "letters", "heightfield",
                    "outline", "duck",   "rabbit",   "armadillo", "mesh", "tank"}};

static const FloSceneKey rotation_keys[] = {
    {"axis", TRIPLE, WITHIN(MAX_LENGTH), NULL, .help = "axis to turn about; need not have length one",
     .fallback = "[0, 0, 1]"},
    {"angle", NUMBER, WITHIN(1e9), "degrees", .help = "how far, counter-clockwise seen against the axis",
     .is_required = true},
};

const FloSceneTable flo_scene_rotation_table = {"a rotation", TABLE(rotation_keys)};

// ---- Many of a kind ----

static const char *const grid_origins[] = {"centre", "corner", NULL};

static const FloSceneKey grid_keys[] = {
    {"count", COUNTS, FROM(1, MAX_INSTANCES), NULL, .help = "how many along x, y and z", .is_required = true},
    {"step", VECTOR, COORDINATE, "m", .help = "from one to the next along x, y and z",
     .fallback = "[0, 0, 0]"},
    {"from", TEXT, ANY, NULL, .help = "what the entry's place is: the grid's centre or its first instance",
     .fallback = "\"centre\"", .choices = grid_origins},
};

const FloSceneTable flo_scene_grid_table = {"a grid", TABLE(grid_keys)};

static const FloSceneKey stack_keys[] = {
    {"columns", INTEGER, FROM(1, MAX_INSTANCES), NULL,
     .help = "how many side by side along x (y if x is up), centred on the entry's place", .fallback = "1"},
    {"rows", INTEGER, FROM(1, MAX_INSTANCES), NULL, .help = "how many on top of each other",
     .is_required = true},
    {"step", PAIR, COORDINATE, "m",
     .help = "from column to column and from row to row; without it, they touch"},
};

const FloSceneTable flo_scene_stack_table = {"a stack", TABLE(stack_keys)};

static const FloSceneKey circle_keys[] = {
    {"count", INTEGER, FROM(1, MAX_INSTANCES), NULL, .help = "how many", .is_required = true},
    {"radius", NUMBER, FROM(0, MAX_LENGTH), "m", .help = "of the circle around the entry's place",
     .is_required = true},
    {"axis", TRIPLE, COORDINATE, NULL, .help = "what the circle goes round; without it, up (in 2D z)"},
    {"facing", BOOLEAN, ANY, NULL,
     .help = "turns each with the circle: the side that looks outwards at the first does so at all",
     .fallback = "false"},
};

const FloSceneTable flo_scene_circle_table = {"a circle", TABLE(circle_keys)};

static const FloSceneKey scatter_keys[] = {
    {"count", INTEGER, FROM(1, MAX_INSTANCES), NULL, .help = "how many", .is_required = true},
    {"within", VECTOR, FROM(0, MAX_LENGTH), "m", .help = "edge lengths of a box centred on the entry's place",
     .is_required = true},
    {"seed", INTEGER, FROM(0, 1e9), NULL, .help = "another number gives other places", .fallback = "1"},
    {"apart", NUMBER, FROM(0, MAX_LENGTH), "m", .help = "least distance between two centres",
     .fallback = "0"},
    {"turned", BOOLEAN, ANY, NULL, .help = "turns each at random", .fallback = "false"},
};

const FloSceneTable flo_scene_scatter_table = {"a scatter", TABLE(scatter_keys)};
