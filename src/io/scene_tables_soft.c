// Tables of cloth, elastic bodies and their pins.
#include "io/scene_steps.h"
#include "io/scene_words.h"

#define MAX_STIFFNESS 1e15

#define POISSON_KEY(most)                                                                                    \
  {                                                                                                          \
    "poisson", NUMBER, FROM(0, most), NULL,                                                                  \
        .help = "ratio of narrowing to stretching (rubber: almost 0.5, steel: 0.3)", .fallback = "0.3"       \
  }
#define DAMPING_KEY                                                                                          \
  {                                                                                                          \
    "damping", NUMBER, FROM(0, MAX_TIME), "s",                                                               \
        .help = "time in which internal friction takes energy from a change of shape; larger calms it "      \
                "sooner",                                                                                    \
        .fallback = "0"                                                                                      \
  }

const char *const flo_scene_resamplings[] = {"geometry", "density", "never", "seven-point", NULL};

#define RESAMPLING_KEY                                                                                       \
  {                                                                                                          \
    "resampling", TEXT, ANY, NULL,                                                                           \
        .help =                                                                                              \
            "when its samples, which fluid feels, come and go. geometry: where lengths of its edges "        \
            "and heights of its triangles ask for it; density: where the number of samples per area "        \
            "has become too small or too large; for comparison only: never: the first samples stay, "        \
            "too few for a stretched surface; seven-point: seven for each part of a triangle that is cut "   \
            "into four until its sides are short, not in 2D",                                                \
        .fallback = "\"geometry\"", .choices = flo_scene_resamplings                                         \
  }

#define DRY_SAMPLES_KEY                                                                                      \
  {                                                                                                          \
    "dry_samples", BOOLEAN, ANY, NULL,                                                                       \
        .help = "true: it has samples everywhere; false: only where fluid is near, which is faster. Fluid "  \
                "feels no difference",                                                                       \
        .fallback = "false"                                                                                  \
  }

static const FloSceneKey cloth_keys[] = {
    {"areal_density", NUMBER, ABOVE(0, 1e6), "kg/m²",
     .help = "mass per area; without it, the material's density times the thickness"},
    {"thickness", NUMBER, POSITIVE, "m",
     .help = "sheets touch each other at this distance; without it, a tenth of a spacing"},
    {"young", NUMBER, ABOVE(0, MAX_STIFFNESS), "Pa",
     .help = "Young's modulus; with the thickness it gives stretch and bend"},
    POISSON_KEY(0.5),
    {"stretch", NUMBER, ABOVE(0, MAX_STIFFNESS), "N/m",
     .help = "instead of young: tension for a stretch by the whole length, Young's modulus times thickness"},
    {"shear", NUMBER, ABOVE(0, MAX_STIFFNESS), "N/m",
     .help = "the same for shear; without it, stretch / (2 (1 + poisson))"},
    {"bend", NUMBER, FROM(0, MAX_STIFFNESS), "N m",
     .help = "resistance against bending; without it and without young, 0"},
    DAMPING_KEY,
    {"max_stretch", NUMBER, ABOVE(0, 100), NULL,
     .help = "it cannot be stretched by more than this share of its length; without it, no limit"},
    {"prestretch", NUMBER | PAIR, ABOVE(0, 100), NULL,
     .help = "at the start it is stretched by this factor, or by these along its x and y; without it, 1"},
    RESAMPLING_KEY,
    DRY_SAMPLES_KEY,
};

const FloSceneTable flo_scene_cloth_table = {
    "a cloth", TABLE(cloth_keys), .exactly_one = {"young", "stretch"}, .at_most_one = {"young", "bend"}};

const char *const flo_scene_elastic_forms[] = {"elements", "particles", "plain-particles", NULL};

static const FloSceneKey region_keys[] = {
    {"box", CORNERS, COORDINATE, "m",
     .help = "the box between these two corners, at the start and in the world", .frame = FLO_FRAME_BOX,
     .is_required = true},
};

static const FloSceneTable region_table = {"a region", TABLE(region_keys)};

static const FloSceneKey elastic_keys[] = {
    {"as", TEXT, ANY, NULL,
     .help =
         "what it is made of. elements: tetrahedra, in 2D triangles, with implicit steps; particles: SPH "
         "with explicit steps, best with method unified; for comparison only: plain-particles: SPH without "
         "corrections, as in Shao et al. 2014, too soft",
     .fallback = "\"elements\"", .choices = flo_scene_elastic_forms},

    {"density", NUMBER, FROM(1e-6, 1e6), "kg/m³", .help = "its density; without it, the material's"},
    {"young", NUMBER, ABOVE(0, MAX_STIFFNESS), "Pa", .help = "Young's modulus; larger is stiffer",
     .is_required = true},
    POISSON_KEY(0.49),
    DAMPING_KEY,
    {"cell", NUMBER, POSITIVE, "m",
     .help = "size of its elements; without it, two spacings, or less in a small body. Distance of its "
             "particles; without it, one spacing"},
    {"rigid", LIST, ANY, NULL, .help = "particles only: parts in these regions keep their shape",
     .table = &region_table},
    RESAMPLING_KEY,
    DRY_SAMPLES_KEY,
};

const FloSceneTable flo_scene_elastic_table = {"an elastic body", TABLE(elastic_keys)};

const char *const flo_scene_pin_words[] = {"corners", "border", NULL};

static const FloSceneKey pin_keys[] = {
    {"corners", BOOLEAN, ANY, NULL, .help = "true: the corners of a sheet"},
    {"border", BOOLEAN, ANY, NULL, .help = "true: all vertices on the border of a cloth"},
    {"box", CORNERS, COORDINATE, "m",
     .help = "all vertices in the box between these two corners, at the start and in the world",
     .frame = FLO_FRAME_BOX},
    {"point", VECTOR, COORDINATE, "m", .help = "the vertex nearest to this point at the start",
     .frame = FLO_FRAME_POINT},
    {"name", NAME, ANY, NULL, .help = "its name in events; without it, corners or border"},
    {"to", TEXT, ANY, NULL,
     .help = "name of the rigid body or boundary to which they are fixed; without it, the world"},
    {"until", NUMBER, ABOVE(0, MAX_TIME), "s", .help = "time at which they are released; without it, never"},
    {"break_load", NUMBER, ABOVE(0, MAX_STIFFNESS), "N",
     .help = "a vertex comes off above this force; without it, never"},
    {"clamp", BOOLEAN, ANY, NULL,
     .help = "cloth only: true holds the neighbours of these vertices, too, so that its edge cannot turn",
     .fallback = "false"},
};

const FloSceneTable flo_scene_pin_table = {"a pin", TABLE(pin_keys),
                                           .exactly_one = {"corners", "border", "box", "point"}};
