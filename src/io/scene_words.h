// Macros for the tables of the scene format (scene_tables*.c); private to them.
#ifndef FLO_IO_SCENE_WORDS_H
#define FLO_IO_SCENE_WORDS_H

#include "base/core.h"
#include "io/scene.h"
#include "io/scene_tables.h"

#include <math.h>

// Limits. A larger value is an error or has a wrong unit, and would overflow later. At the largest coordinate
// doubles still have ten digits after the point.
#define MAX_LENGTH       FLO_SCENE_MAX_LENGTH
#define MAX_SPEED        1e5 // [m/s]
#define MAX_ACCELERATION 1e6 // [m/s²]
#define MAX_VISCOSITY    1e4 // [m²/s]
#define MAX_TENSION      1e6 // [N/m]
#define MAX_TIME         1e6 // [s]
#define MAX_RATE         1e6 // [rad/s] or [Hz]
#define MAX_INSTANCES    1e5

// clang-format off
#define ANY          {-INFINITY, INFINITY, false, false}
#define POSITIVE     {0, MAX_LENGTH, true, false}
#define FROM(a, b)   {a, b, false, false}
#define ABOVE(a, b)  {a, b, true, false}
#define WITHIN(a)    {-(a), a, false, false}
#define COORDINATE   WITHIN(MAX_LENGTH)
#define VISCOSITY    FROM(0, MAX_VISCOSITY)
#define TABLE(array) .keys = array, .n_keys = FLO_COUNT_OF(array)
// clang-format on

// Short names, so that a row of a table fits on one line.
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
  COUNTS = FLO_SCENE_COUNTS,
  POINTS = FLO_SCENE_POINTS,
  CORNERS = FLO_SCENE_CORNERS,
  COLOUR = FLO_SCENE_COLOUR,
};

// The keys of a body's mass, if its shape does not give it.
#define MASS_KEYS                                                                                            \
  {"mass", NUMBER, ABOVE(0, 1e15), "kg", .help = "mass, in place of that of its shape and material"},        \
      {"centre_of_mass", VECTOR, COORDINATE, "m",                                                            \
       .help = "with mass and inertia: centre of mass in the frame of the shape; without it, the shape's "   \
               "centre"},                                                                                    \
      {"inertia", TRIPLE, ABOVE(0, 1e18), "kg m²",                                                           \
       .help = "with mass: moments of inertia xx, yy, zz about the centre of mass, in the frame of the "     \
               "shape; without it, those of the shape, scaled to the mass"},                                 \
  {                                                                                                          \
    "inertia_products", TRIPLE, WITHIN(1e18), "kg m²",                                                       \
        .help = "with inertia: the elements xy, yz, zx of the inertia matrix; without it, 0"                 \
  }

// Tables of objects that several others contain (scene_tables_shapes.c).
extern const FloSceneTable flo_scene_shape_table, flo_scene_rotation_table;
extern const FloSceneTable flo_scene_grid_table, flo_scene_stack_table, flo_scene_circle_table,
    flo_scene_scatter_table;
// Joints, and changes by events (scene_tables_joints.c).
extern const FloSceneTable flo_scene_change_table;
// Cloth, elastic bodies and their pins (scene_tables_soft.c).
extern const FloSceneTable flo_scene_cloth_table, flo_scene_elastic_table, flo_scene_pin_table;
extern const char *const flo_scene_pin_words[]; // short for a pin of that place
// What is reported and shown (scene_tables_output.c).
extern const FloSceneTable flo_scene_probe_table, flo_scene_expect_table, flo_scene_camera_table;

#endif
